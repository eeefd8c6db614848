/* Poseidon as a circuit: the permutation's schedule (hash/poseidon_walk.inc.h) bound to linear combinations. */
#include "circuits/gadgets/builder_inside.h"
#include "circuits/gadgets/gadgets.h"
#include "hash/poseidon.h"

#include <stdio.h>

#define FE bls12_381_fr
#include "field/fe_names.h"

struct row_run {
    struct builder *b;
    const struct number *in;
    struct number result; /* the last one allocated */
};

/* A state element: a sum over variables, alive from pw_tag or pw_first to pw_output. */
typedef struct lc element;

static void lc_of(struct builder *b, struct lc *out, uint32_t ref, const fe_t *constant)
{
    out->count = 0;
    lc_add(b, out, ref, &b->power[0]);
    if (constant != NULL) lc_add(b, out, REF_ONE, constant);
}

/* y = (x + key)^5 + post in three rows; e becomes y. */
static void fifth_power(struct row_run *c, element *e, uint32_t x, const fe_t *key, const fe_t *post)
{
    struct builder *b = c->b;
    struct lc l = { 0 }, r = { 0 }, o = { 0 };
    fe_t minus;
    const uint32_t square = builder_number(b).ref;
    lc_of(b, &l, x, key);
    lc_of(b, &r, x, key);
    lc_of(b, &o, square, NULL);
    builder_row(b, &l, &r, &o);
    const uint32_t fourth = builder_number(b).ref;
    lc_of(b, &l, square, NULL);
    lc_of(b, &r, square, NULL);
    lc_of(b, &o, fourth, NULL);
    builder_row(b, &l, &r, &o);
    c->result = builder_number(b);
    lc_of(b, &l, x, key);
    lc_of(b, &r, fourth, NULL);
    if (post != NULL) fe_neg(&minus, post);
    lc_of(b, &o, c->result.ref, post != NULL ? &minus : NULL);
    builder_row(b, &l, &r, &o);
    lc_of(b, e, c->result.ref, NULL);
    lc_fini(&l);
    lc_fini(&r);
    lc_fini(&o);
}

/* A variable that equals the element. */
static uint32_t variable_of(struct row_run *c, const element *e)
{
    struct builder *b = c->b;
    struct lc sum = { 0 }, one = { 0 }, o = { 0 };
    c->result = builder_number(b);
    for (size_t i = 0; i < e->count; i++) lc_add(b, &sum, e->terms[i].ref, &e->terms[i].k);
    lc_of(b, &one, REF_ONE, NULL);
    lc_of(b, &o, c->result.ref, NULL);
    builder_row(b, &sum, &one, &o);
    lc_fini(&sum);
    lc_fini(&one);
    lc_fini(&o);
    return c->result.ref;
}

static void pw_tag(struct row_run *c, element *e, const fe_t *tag)
{
    memset(e, 0, sizeof *e);
    lc_add(c->b, e, REF_ONE, tag);
}

static void pw_first(struct row_run *c, element *e, unsigned i, const fe_t *key, const fe_t *post)
{
    memset(e, 0, sizeof *e);
    fifth_power(c, e, c->in[i].ref, key, post);
}

static void pw_sbox(struct row_run *c, element *e, const fe_t *post)
{
    fifth_power(c, e, variable_of(c, e), NULL, post);
}

static void add_scaled(struct builder *b, element *to, const element *from, const fe_t *k)
{
    for (size_t i = 0; i < from->count; i++) {
        fe_t scaled;
        fe_mul(&scaled, &from->terms[i].k, k);
        lc_add(b, to, from->terms[i].ref, &scaled);
    }
}

static void pw_mix(struct row_run *c, element *e, const fe_t *matrix, unsigned width)
{
    element mixed[POSEIDON_MAX_WIDTH];
    for (unsigned j = 0; j < width; j++) {
        memset(&mixed[j], 0, sizeof mixed[j]);
        for (unsigned i = 0; i < width; i++) add_scaled(c->b, &mixed[j], &e[i], &matrix[i * width + j]);
        lc_merge(&mixed[j]);
    }
    for (unsigned j = 0; j < width; j++) {
        lc_fini(&e[j]);
        e[j] = mixed[j];
    }
}

static void pw_sparse(struct row_run *c, element *e, const fe_t *row, const fe_t *column, unsigned width)
{
    element first = { 0 };
    for (unsigned j = 0; j < width; j++) add_scaled(c->b, &first, &e[j], &row[j]);
    lc_merge(&first);
    for (unsigned j = 1; j < width; j++) {
        add_scaled(c->b, &e[j], &e[0], &column[j - 1]);
        lc_merge(&e[j]);
    }
    lc_fini(&e[0]);
    e[0] = first;
}

static void pw_output(struct row_run *c, element *e, unsigned width)
{
    (void)variable_of(c, &e[1]);
    for (unsigned i = 0; i < width; i++) lc_fini(&e[i]);
}

#define PW_NAME    permute
#define PW_CONTEXT struct row_run
#define PW_ELEMENT element
#include "hash/poseidon_walk.inc.h"

struct number gadget_poseidon(struct builder *b, const struct number *in, unsigned arity)
{
    const struct poseidon_constants *p = poseidon_constants(arity);
    struct number imports[POSEIDON_MAX_WIDTH], result = { 0, 0 };
    struct template_key key = { .number_count = arity };
    uint32_t id;
    if (p == NULL) {
        builder_fail(b, "Poseidon has no such arity");
        return result;
    }
    snprintf(key.name, sizeof key.name, "poseidon-%u", arity);
    if (template_begin(b, &id, &key, NULL, imports)) {
        struct row_run c = { .b = b, .in = imports };
        uint32_t slots[POSEIDON_MAX_WIDTH];
        const struct step s = { .code = STEP_POSEIDON, .count = arity };
        for (unsigned i = 0; i < arity; i++) slots[i] = imports[i].slot;
        permute(&c, p, poseidon_tag(arity));
        builder_step(b, &s, slots, arity);
        id = template_end(b, NULL, 0);
    }
    template_call(b, id, NULL, in, NULL, &result, false);
    return result;
}
