/* What is computed over all rows of an image: totals, the digest, matrices. */
#include "circuits/gadgets/expand.h"
#include "hash/sha256.h"

#include <stdlib.h>

#define FE bls12_381_fr
#include "field/fe_names.h"

struct counter {
    struct circuit_totals *totals;
    uint64_t *in_a, *in_b; /* a bit for each aux */
    uint8_t *b_inputs;
};

static void counter_fini(struct counter *c)
{
    free(c->in_a);
    free(c->in_b);
    free(c->b_inputs);
}

static cuzk_status counter_init(struct counter *c, struct task *t, const struct circuit_image *m,
                                struct circuit_totals *totals)
{
    const struct circuit_template *p = image_circuit(m);
    const size_t words = (size_t)p->aux_count / 64 + 1;
    memset(totals, 0, sizeof *totals);
    totals->inputs = p->input_count;
    totals->aux = p->aux_count;
    c->totals = totals;
    c->in_a = calloc(words, sizeof *c->in_a);
    c->in_b = calloc(words, sizeof *c->in_b);
    c->b_inputs = calloc(p->input_count, 1);
    if (c->in_a != NULL && c->in_b != NULL && c->b_inputs != NULL) return CUZK_OK;
    counter_fini(c);
    return FAIL(t, CUZK_NO_MEMORY, "no memory to count circuit %s", m->name);
}

/* Marks a variable; 1 if it is new. */
static inline unsigned mark(uint64_t *bits, uint32_t var)
{
    const uint32_t i = var & ~VAR_AUX;
    const uint64_t bit = (uint64_t)1 << i % 64, fresh = ~bits[i / 64] & bit;
    bits[i / 64] |= bit;
    return fresh != 0;
}

static void count_row(struct counter *c, const struct expanded_row *row)
{
    struct circuit_totals *s = c->totals;
    s->rows++;
    for (int i = 0; i < 3; i++) s->entries[i] += row->count[i];
    for (uint32_t i = 0; i < row->count[0]; i++)
        if (row->side[0][i].var & VAR_AUX) s->a_aux += mark(c->in_a, row->side[0][i].var);
    for (uint32_t i = 0; i < row->count[1]; i++) {
        const uint32_t var = row->side[1][i].var;
        if (var & VAR_AUX) {
            s->b_aux += mark(c->in_b, var);
        } else if (!c->b_inputs[var]) {
            c->b_inputs[var] = 1;
            s->b_inputs++;
        }
    }
}

static cuzk_status count_sink(void *context, struct task *t, const struct expanded_row *row)
{
    (void)t;
    count_row(context, row);
    return CUZK_OK;
}

cuzk_status image_totals(const struct circuit_image *m, struct task *t, struct circuit_totals *out)
{
    struct counter c;
    TRY(counter_init(&c, t, m, out));
    const cuzk_status status = image_expand(m, t, count_sink, &c);
    counter_fini(&c);
    return status;
}

#define HASH_CHUNK 65536

struct hasher {
    struct counter counter;
    struct sha256 sha;
    const fe_int *canonical; /* of the dictionary */
    uint8_t *buffer;
    size_t used;
};

static inline void feed(struct hasher *h, const void *data, size_t bytes)
{
    if (h->used + bytes > HASH_CHUNK) {
        sha256_update(&h->sha, h->buffer, h->used);
        h->used = 0;
    }
    memcpy(h->buffer + h->used, data, bytes);
    h->used += bytes;
}

static cuzk_status hash_sink(void *context, struct task *t, const struct expanded_row *row)
{
    struct hasher *h = context;
    uint8_t term[36];
    (void)t;
    if (h->counter.totals != NULL) count_row(&h->counter, row);
    for (int side = 0; side < 3; side++) {
        store_le32(term, row->count[side]);
        feed(h, term, 4);
        for (uint32_t i = 0; i < row->count[side]; i++) {
            const struct row_term *p = &row->side[side][i];
            fe_int k;
            if (p->coefficient < row->coefficient_count)
                k = h->canonical[p->coefficient];
            else
                fe_to_int(&k, expanded_coefficient(row, p->coefficient));
            store_le32(term, p->var);
            words_to_le(term + 4, k.l, 4);
            feed(h, term, sizeof term);
        }
    }
    return CUZK_OK;
}

cuzk_status image_digest(const struct circuit_image *m, struct task *t, uint8_t out[32],
                         struct circuit_totals *totals)
{
    struct hasher h = { .used = 0 };
    fe_int *canonical = malloc((m->coefficient_count + 1) * sizeof *canonical);
    cuzk_status status;
    h.buffer = malloc(HASH_CHUNK);
    if (canonical == NULL || h.buffer == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory to hash circuit %s", m->name);
        goto out;
    }
    for (uint32_t i = 0; i < m->coefficient_count; i++) fe_to_int(&canonical[i], &m->coefficients[i]);
    h.canonical = canonical;
    if (totals != NULL) TRY_GOTO(out, counter_init(&h.counter, t, m, totals));
    sha256_init(&h.sha);
    status = image_expand(m, t, hash_sink, &h);
    sha256_update(&h.sha, h.buffer, h.used);
    sha256_final(&h.sha, out);
    if (totals != NULL) counter_fini(&h.counter);
out:
    free(h.buffer);
    free(canonical);
    return status;
}
