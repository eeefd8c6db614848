/* Whether a derived key's points are what they should be, by random linear combinations.
 *
 * For fresh random e, u over the domain and w over the variables:
 *   Lc              sum e_j Lc_j = z sum over i of (coefficients of e from the coset)_i H_i                    bellman
 *   LD              sum u_j LD_j = z sum (coefficients of u)_i H_i                                            bellman
 *                   sum u_j LD_j = sum (values on the coset of what is u on the domain)_i H_i                 snarkjs
 *   Delta-IC, L'    sum over all of w_k (Delta-IC, L')_k = sum over the others of w_k L_k - sum (C w)_i LD_i
 * each side from the points as they are; C w is the circuit's own walk, not the matrix that the points were made with. */
#include "base/arena.h"
#include "base/rng.h"
#include "groth16/derive.h"
#include <string.h>

#define SUM_PIECE  ((uint64_t)1 << 18) /* points summed at once: their workspace stays small beside the key */
#define DRAW_CHUNK 256

struct checking {
    const struct groth16_key *key;
    const struct derived_points *points;
    const struct backend *backend;
    struct device *device;
    struct stream *stream;
    struct arena arena;
    struct fr *values[2];    /* the larger of domain and variables */
    struct fr_int *integers; /* as many */
    struct fr *sides[3];     /* of the domain: A w, B w, C w */
    uint8_t *decoded;        /* SUM_PIECE of G1 */
};

/* -- sums ---------------------------------------------------------------------------------------------------------------- */

static cuzk_status piece(struct task *t, const struct checking *c, struct g_jac *out, const uint8_t *points,
                         const struct fr_int *scalars, uint64_t count)
{
    const struct backend *be = c->backend;
    const size_t bytes = count * c->key->curve->g1.aff_bytes;
    struct buffer on = buffer_borrow(c->device, span_of(points, bytes)),
                  by = buffer_borrow(c->device, span_of(scalars, count * sizeof *scalars)), workspace = { 0 };
    struct msm_plan plan;
    cuzk_status status;

    TRY_GOTO(out, be->msm_plan(&plan, t, c->device, c->key->curve, GROUP_G1, count));
    TRY_GOTO(out, be->buffer_take(&workspace, t, c->device, MEM_DEVICE, plan.workspace_bytes, 0));
    if (!be->reads_host_memory) {
        TRY_GOTO(out, be->buffer_take(&on, t, c->device, MEM_DEVICE, bytes, 0));
        TRY_GOTO(out, be->buffer_take(&by, t, c->device, MEM_DEVICE, count * sizeof *scalars, 0));
        TRY_GOTO(out, be->upload(c->stream, t, &on, 0, points, bytes));
        TRY_GOTO(out, be->upload(c->stream, t, &by, 0, scalars, count * sizeof *scalars));
    }
    TRY_GOTO(out, be->msm(c->stream, t, &plan, out, &on, 0, &by, 0, NULL, &workspace));
    TRY_GOTO(out, be->stream_sync(c->stream, t));
out:
    if (status != CUZK_OK) backend_settle(be, c->stream);
    be->buffer_give(&workspace);
    be->buffer_give(&by);
    be->buffer_give(&on);
    return status;
}

/* out = sum of values[i] x point i; points NULL: the key's own of query q. */
static cuzk_status sum(struct task *t, const struct checking *c, struct g_jac *out, const uint8_t *points,
                       enum groth16_query q, const struct fr *values, uint64_t count)
{
    const struct group *g = &c->key->curve->g1;
    struct g_jac part;

    g->jac_set_inf(out);
    for (uint64_t first = 0; first < count; first += SUM_PIECE) {
        const uint64_t n = count - first < SUM_PIECE ? count - first : SUM_PIECE;
        const uint8_t *from = points != NULL ? points + first * g->aff_bytes : c->decoded;
        for (uint64_t i = 0; i < n; i++) c->key->curve->fr.to_int(&c->integers[i], &values[first + i]);
        if (points == NULL && c->key->encoded[q])
            TRY(groth16_key_points(t, c->key, q, first, n, c->decoded));
        else if (points == NULL)
            from = c->key->point[q].data + first * g->aff_bytes;
        TRY(piece(t, c, &part, from, c->integers, n));
        g->jac_add(out, out, &part);
    }
    return CUZK_OK;
}

/* -- random values ------------------------------------------------------------------------------------------------------- */

static cuzk_status draw(struct task *t, const struct checking *c, struct fr *out, uint64_t count)
{
    uint8_t bytes[DRAW_CHUNK][64];

    for (uint64_t i = 0; i < count; i++) {
        if (i % DRAW_CHUNK == 0) TRY(rng_bytes(t, bytes, sizeof bytes));
        c->key->curve->fr.from_wide(&out[i], bytes[i % DRAW_CHUNK]);
    }
    return CUZK_OK;
}

static cuzk_status ntt(struct task *t, const struct checking *c, struct fr *values, bool inverse, bool coset)
{
    const struct backend *be = c->backend;
    const size_t bytes = c->key->domain.size * sizeof *values;
    struct buffer data = buffer_borrow(c->device, span_of(values, bytes));
    cuzk_status status;

    if (!be->reads_host_memory) {
        TRY(be->buffer_take(&data, t, c->device, MEM_DEVICE, bytes, 0));
        TRY_GOTO(out, be->upload(c->stream, t, &data, 0, values, bytes));
    }
    TRY_GOTO(out, be->ntt(c->stream, t, &c->key->domain, &data, inverse, coset));
    if (!be->reads_host_memory) TRY_GOTO(out, be->download(c->stream, t, values, &data, 0, bytes));
    TRY_GOTO(out, be->stream_sync(c->stream, t));
out:
    if (status != CUZK_OK) backend_settle(be, c->stream);
    be->buffer_give(&data);
    return status;
}

/* -- the three ----------------------------------------------------------------------------------------------------------- */

static cuzk_status compare(struct task *t, const struct checking *c, const struct g_jac *left,
                           const struct g_jac *right, const char *part)
{
    if (c->key->curve->g1.jac_eq(left, right)) return CUZK_OK;
    const cuzk_status status =
        FAIL(t, CUZK_KEY_INVALID,
             "the derived key's %s is wrong: a random combination of its points does not agree with the key",
             part);
    task_fail_place(t, c->key->file.path, ERROR_NO_OFFSET, part,
                    "make it again; if it happens again, check the machine's memory and report it");
    return status;
}

/* sum e Lc, or sum u LD, against the key's H. */
static cuzk_status check_lagrange(struct task *t, const struct checking *c, const uint8_t *points,
                                  bool on_coset, const char *part)
{
    const struct groth16_key *key = c->key;
    const struct domain *d = &key->domain;
    struct g_jac left, right;
    struct fr_int z;

    TRY(draw(t, c, c->values[0], d->size));
    memcpy(c->values[1], c->values[0], d->size * sizeof(struct fr));
    TRY(sum(t, c, &left, points, QUERY_H, c->values[0], d->size));
    TRY(ntt(t, c, c->values[1], true, on_coset));
    if (key->layout == GROTH16_ZKEY) TRY(ntt(t, c, c->values[1], false, true));
    TRY(sum(t, c, &right, NULL, QUERY_H, c->values[1], key->point_count[QUERY_H]));
    if (key->layout == GROTH16_BELLMAN) {
        key->curve->fr.to_int(&z, &d->z_coset_inv);
        key->curve->g1.jac_mul(&right, &right, &z);
    }
    return compare(t, c, &left, &right, part);
}

struct rows {
    const struct checking *c;
    const struct fr *w;
};

static cuzk_status add_term(void *context, struct task *t, const struct constraint_term *term)
{
    const struct rows *r = context;
    const struct scalar_field *f = &r->c->key->curve->fr;
    struct fr *const sum = &r->c->sides[term->side][term->row];
    struct fr product;

    (void)t;
    f->mul(&product, &term->coefficient, &r->w[term->variable]);
    f->add(sum, sum, &product);
    return CUZK_OK;
}

/* A zkey's A and B must be those of the .r1cs that gave C: A w and B w by both. */
static cuzk_status check_same_rows(struct task *t, const struct checking *c,
                                   const struct constraints *circuit, const struct fr *w)
{
    const struct groth16_key *key = c->key;
    const struct scalar_field *f = &key->curve->fr;
    const struct witness random = { .curve = key->curve,
                                    .values = span_of(c->integers, key->variable_count * sizeof *c->integers),
                                    .count = key->variable_count };
    struct fr value;

    if (key->constraints != NULL) return CUZK_OK; /* made from it, and nowhere else */
    for (uint64_t i = 0; i < key->variable_count; i++) f->to_int(&c->integers[i], &w[i]);
    for (uint64_t row = 0; row < circuit->row_count; row++)
        for (int side = 0; side < 2; side++) {
            const struct csr *m = side == 0 ? &key->a : &key->b;
            memset(&value, 0, sizeof value);
            if (row < m->row_count) csr_row_dot(m, key->curve, row, &random, &value);
            if (f->eq(&value, &c->sides[side][row])) continue;
            const cuzk_status status =
                FAIL(t, CUZK_MISMATCH,
                     "row %llu of matrix %s is not the same in %s and in the key: it is of another circuit",
                     (unsigned long long)row, side == 0 ? "A" : "B", circuit->name);
            task_fail_place(t, key->file.path, ERROR_NO_OFFSET, NULL,
                            "give the .r1cs file from which this key was made");
            return status;
        }
    return CUZK_OK;
}

static cuzk_status check_l(struct task *t, const struct checking *c, const struct constraints *circuit)
{
    const struct groth16_key *key = c->key;
    const struct group *g = &key->curve->g1;
    const uint64_t inputs = key->public_count + 1;
    struct fr *const w = c->values[0];
    struct rows rows = { c, w };
    struct g_jac left, right, part;

    TRY(draw(t, c, w, key->variable_count));
    for (int side = 0; side < 3; side++) memset(c->sides[side], 0, key->domain.size * sizeof(struct fr));
    TRY(circuit->walk(circuit->circuit, t, add_term, &rows));
    TRY(check_same_rows(t, c, circuit, w));
    TRY(sum(t, c, &left, c->points->l, QUERY_L, w, key->variable_count));
    TRY(sum(t, c, &right, NULL, QUERY_L, w + inputs, key->variable_count - inputs));
    TRY(sum(t, c, &part, c->points->ld, QUERY_H, c->sides[R1CS_C], key->domain.size));
    g->jac_neg(&part, &part);
    g->jac_add(&right, &right, &part);
    return compare(t, c, &left, &right, "l or delta-ic");
}

/* -- all of it ----------------------------------------------------------------------------------------------------------- */

static cuzk_status take_memory(struct task *t, struct checking *c)
{
    const struct groth16_key *key = c->key;
    const uint64_t most = key->variable_count > key->domain.size ? key->variable_count : key->domain.size;
    const size_t vector = most * sizeof(struct fr), side = key->domain.size * sizeof(struct fr),
                 decoded = (most < SUM_PIECE ? most : SUM_PIECE) * key->curve->g1.aff_bytes;
    void *p;

    TRY(arena_open(&c->arena, t, 3 * arena_round(vector) + 3 * arena_round(side) + arena_round(decoded),
                   ARENA_PLAIN));
    for (int i = 0; i < 2; i++) {
        TRY(arena_take(&c->arena, t, &p, vector));
        c->values[i] = p;
    }
    TRY(arena_take(&c->arena, t, &p, vector));
    c->integers = p;
    for (int i = 0; i < 3; i++) {
        TRY(arena_take(&c->arena, t, &p, side));
        c->sides[i] = p;
    }
    TRY(arena_take(&c->arena, t, &p, decoded));
    c->decoded = p;
    return CUZK_OK;
}

cuzk_status groth16_derive_check(struct task *t, const struct groth16_key *key,
                                 const struct derived_points *points, const struct backend *backend,
                                 struct device *device)
{
    struct checking c = { .key = key, .points = points, .backend = backend, .device = device };
    struct constraints circuit;
    cuzk_status status;

    if (key->constraints != NULL)
        circuit = *key->constraints;
    else
        constraints_of_r1cs(&circuit, &key->circuit);
    TRY_GOTO(out, take_memory(t, &c));
    TRY_GOTO(out, backend->stream_open(&c.stream, t, device));
    task_progress(t, "self-check", 0, 3);
    if (points->lc != NULL) TRY_GOTO(out, check_lagrange(t, &c, points->lc, true, "h"));
    task_progress(t, "self-check", 1, 3);
    TRY_GOTO(out, check_lagrange(t, &c, points->ld, false, "LD"));
    task_progress(t, "self-check", 2, 3);
    TRY_GOTO(out, check_l(t, &c, &circuit));
    task_progress(t, "self-check", 3, 3);
out:
    if (c.stream != NULL) backend->stream_close(c.stream);
    arena_close(&c.arena);
    return status;
}
