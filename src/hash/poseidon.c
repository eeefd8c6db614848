/* Poseidon's permutation on values: the hash, and the trace that a circuit's witness consists of. */
#include "hash/poseidon.h"
#include "hash/poseidon_constants.h"

#define POSEIDON_ROW(n, partial)                                                                 \
    {                                                                                            \
        n, n + 1, partial, poseidon_##n##_keys, poseidon_##n##_mds, poseidon_##n##_pre,          \
            poseidon_##n##_sparse, 3 * (8 * (n + 1) + partial - 1) + (8 * (n + 1) + partial - n) \
    }

static const struct poseidon_constants table[] = { POSEIDON_ROW(2, 55), POSEIDON_ROW(4, 56),
                                                   POSEIDON_ROW(8, 57), POSEIDON_ROW(11, 57) };

const struct poseidon_constants *poseidon_constants(unsigned arity)
{
    for (size_t i = 0; i < ARRAY_COUNT(table); i++)
        if (table[i].arity == arity) return &table[i];
    return NULL;
}

#define FE bls12_381_fr
#include "field/fe_names.h"

struct hash_run {
    const fe_t *in;
    fe_t *out;
    fe_int *trace; /* where the next value goes; NULL: only the hash is wanted */
};

static inline void record(struct hash_run *c, const fe_t *v)
{
    if (c->trace != NULL) fe_to_int(c->trace++, v);
}

static inline void pw_tag(struct hash_run *c, fe_t *e, const fe_t *tag)
{
    (void)c;
    *e = *tag;
}

static inline void fifth_power(struct hash_run *c, fe_t *e, const fe_t *post)
{
    fe_t square, fourth;
    fe_sqr(&square, e);
    record(c, &square);
    fe_sqr(&fourth, &square);
    record(c, &fourth);
    fe_mul(e, &fourth, e);
    if (post != NULL) fe_add(e, e, post);
    record(c, e);
}

static inline void pw_first(struct hash_run *c, fe_t *e, unsigned i, const fe_t *key, const fe_t *post)
{
    fe_add(e, &c->in[i], key);
    fifth_power(c, e, post);
}

static inline void pw_sbox(struct hash_run *c, fe_t *e, const fe_t *post)
{
    record(c, e);
    fifth_power(c, e, post);
}

/* acc += x * y, 512 bits into 576. */
static inline void multiply_add(uint64_t acc[9], const fe_t *x, const fe_t *y)
{
    uint64_t product[8] = { 0 };
    unsigned __int128 c;
    UNROLL for (int i = 0; i < 4; i++)
    {
        c = 0;
        UNROLL for (int j = 0; j < 4; j++)
        {
            c += (unsigned __int128)x->l[i] * y->l[j] + product[i + j];
            product[i + j] = (uint64_t)c;
            c >>= 64;
        }
        product[i + 4] = (uint64_t)c;
    }
    c = 0;
    UNROLL for (int i = 0; i < 8; i++)
    {
        c += (unsigned __int128)acc[i] + product[i];
        acc[i] = (uint64_t)c;
        c >>= 64;
    }
    acc[8] += (uint64_t)c;
}

/* v -= k * p unless that is negative; 320 bits. */
static inline void subtract_multiple(uint64_t v[5], uint64_t k)
{
    const uint64_t p[4] = BLS12_381_FR_P_64;
    uint64_t d[5], borrow = 0;
    unsigned __int128 multiple = 0;
    UNROLL for (int i = 0; i < 5; i++)
    {
        multiple += i < 4 ? (unsigned __int128)p[i < 4 ? i : 0] * k : 0;
        const unsigned __int128 difference = (unsigned __int128)v[i] - (uint64_t)multiple - borrow;
        d[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
        multiple >>= 64;
    }
    const uint64_t keep = 0 - borrow; /* all ones: v was smaller */
    UNROLL for (int i = 0; i < 5; i++) v[i] = (v[i] & keep) | (d[i] & ~keep);
}

/* A sum of at most POSEIDON_MAX_WIDTH products, reduced once: 12 p^2 / R + p < 8 p, so three subtractions end it. */
static void sum_reduce(fe_t *r, uint64_t acc[9])
{
    const uint64_t p[4] = BLS12_381_FR_P_64;
    UNROLL for (int i = 0; i < 4; i++)
    {
        const uint64_t m = acc[i] * BLS12_381_FR_INV;
        unsigned __int128 c = 0;
        UNROLL for (int j = 0; j < 4; j++)
        {
            c += (unsigned __int128)m * p[j] + acc[i + j];
            acc[i + j] = (uint64_t)c;
            c >>= 64;
        }
        UNROLL for (int j = i + 4; j < 9; j++)
        {
            c += acc[j];
            acc[j] = (uint64_t)c;
            c >>= 64;
        }
    }
    for (uint64_t k = 4; k > 0; k /= 2) subtract_multiple(acc + 4, k);
    memcpy(r, acc + 4, sizeof *r);
}

static void pw_mix(struct hash_run *c, fe_t *e, const fe_t *matrix, unsigned width)
{
    fe_t mixed[POSEIDON_MAX_WIDTH];
    (void)c;
    for (unsigned j = 0; j < width; j++) {
        uint64_t acc[9] = { 0 };
        for (unsigned i = 0; i < width; i++) multiply_add(acc, &e[i], &matrix[i * width + j]);
        sum_reduce(&mixed[j], acc);
    }
    memcpy(e, mixed, width * sizeof *e);
}

static void pw_sparse(struct hash_run *c, fe_t *e, const fe_t *row, const fe_t *column, unsigned width)
{
    uint64_t acc[9] = { 0 };
    (void)c;
    multiply_add(acc, &e[0], &row[0]);
    for (unsigned j = 1; j < width; j++) {
        fe_t product;
        multiply_add(acc, &e[j], &row[j]);
        fe_mul(&product, &e[0], &column[j - 1]);
        fe_add(&e[j], &e[j], &product);
    }
    sum_reduce(&e[0], acc);
}

static inline void pw_output(struct hash_run *c, const fe_t *e, unsigned width)
{
    (void)width;
    record(c, &e[1]);
    *c->out = e[1];
}

#define PW_NAME    permute
#define PW_CONTEXT struct hash_run
#define PW_ELEMENT fe_t
#include "hash/poseidon_walk.inc.h"

void poseidon_hash(const struct poseidon_constants *p, fe_t *out, const fe_t *in, uint64_t tag)
{
    struct hash_run c = { in, out, NULL };
    permute(&c, p, tag);
}

void poseidon_trace(const struct poseidon_constants *p, fe_int *trace, const fe_int *in, uint64_t tag)
{
    fe_t inputs[POSEIDON_MAX_WIDTH], out;
    for (unsigned i = 0; i < p->arity; i++) fe_from_int(&inputs[i], &in[i]);
    struct hash_run c = { inputs, &out, trace };
    permute(&c, p, tag);
}

void poseidon_node(const struct poseidon_constants *p, fe_int *out, const fe_int *in)
{
    fe_t inputs[POSEIDON_MAX_WIDTH], result;
    for (unsigned i = 0; i < p->arity; i++) fe_from_int(&inputs[i], &in[i]);
    poseidon_hash(p, &result, inputs, poseidon_tag(p->arity));
    fe_to_int(out, &result);
}
