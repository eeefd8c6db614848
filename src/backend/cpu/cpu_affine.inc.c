/* Many independent affine additions that share one inversion, in neutral names.
 *
 * Takes  FE  prefix of the coordinate field      AFF  prefix of what it leaves
 *        CPU_LANES  if defined, aff_add_pairs is cpu_affine_lanes.inc.c's
 * Leaves aff_batch, aff_push, aff_copy, aff_add_scalar and aff_add_pairs (cpu_group_names.h).
 * Montgomery's trick: 3 products for a denominator's inverse, 2 and a square for the addition.  Doublings, P + (-P) and infinity
 * are told apart in the first sweep; they are as fast as the rest, so no input is slow. */
#include "field/fe_names.h"
#include "backend/cpu/cpu_group_names.h"

#define AFF_CHAINS 4 /* independent running products, so that the multiplier is not waited for */

/* Room for the additions of one batch. */
typedef struct {
    struct affine_pair *pairs;
    fe_t *denominator, *before;
    uint8_t *kind;
    size_t count, capacity;
} aff_batch;

static inline void aff_push(aff_batch *b, const void *p, bool negate_p, const void *q, bool negate_q,
                            void *out)
{
    struct affine_pair *pair = &b->pairs[b->count++];
    pair->p = (const uint8_t *)p;
    pair->q = (const uint8_t *)q;
    pair->out = (uint8_t *)out;
    pair->negate_p = negate_p;
    pair->negate_q = negate_q;
}

/* out = +-p */
static inline void aff_copy(uint8_t *out, const uint8_t *p, bool negate)
{
    fe_t x, y;
    fe_load(&x, p);
    fe_load(&y, p + sizeof x);
    if (negate) fe_neg(&y, &y);
    fe_store(out, &x);
    fe_store(out + sizeof x, &y);
}

/* One of x1, x2, x2 - x1 is zero.  Sets the denominator where the kind has one. */
static __attribute__((noinline)) uint8_t aff_special(const struct affine_pair *pair, fe_t *denominator)
{
    fe_t x1, y1, x2, y2;
    fe_load(&x1, pair->p);
    fe_load(&y1, pair->p + sizeof x1);
    fe_load(&x2, pair->q);
    fe_load(&y2, pair->q + sizeof x2);
    if (fe_is_zero(&x1) && fe_is_zero(&y1)) return AFFINE_TAKE_Q;
    if (fe_is_zero(&x2) && fe_is_zero(&y2)) return AFFINE_TAKE_P;
    if (!fe_eq(&x1, &x2)) return AFFINE_ADD;
    if (pair->negate_p) fe_neg(&y1, &y1);
    if (pair->negate_q) fe_neg(&y2, &y2);
    if (!fe_eq(&y1, &y2) || fe_is_zero(&y1)) return AFFINE_INFINITY;
    fe_dbl(denominator, &y1);
    return AFFINE_DOUBLE;
}

/* Runs and empties the batch. */
static __attribute__((noinline)) void aff_add_scalar(aff_batch *b)
{
    const size_t count = b->count;
    fe_t chain[AFF_CHAINS], x1, y1, x2, y2, t, slope;
    b->count = 0;
    if (count == 0) return;
    for (int i = 0; i < AFF_CHAINS; i++) fe_set_one(&chain[i]);

    for (size_t i = 0; i < count; i++) {
        const struct affine_pair *pair = &b->pairs[i];
        if (i + 12 < count) {
            __builtin_prefetch(pair[12].p);
            __builtin_prefetch(pair[12].p + 2 * sizeof(fe_t) - 1);
            __builtin_prefetch(pair[12].q);
            __builtin_prefetch(pair[12].q + 2 * sizeof(fe_t) - 1);
        }
        fe_load(&x1, pair->p);
        fe_load(&x2, pair->q);
        fe_sub(&t, &x2, &x1);
        b->kind[i] = AFFINE_ADD;
        if (__builtin_expect(fe_is_zero(&x1) || fe_is_zero(&x2) || fe_is_zero(&t), 0)) {
            b->kind[i] = aff_special(pair, &t);
            if (b->kind[i] > AFFINE_DOUBLE) continue;
        }
        fe_t *c = &chain[i % AFF_CHAINS];
        b->denominator[i] = t;
        b->before[i] = *c;
        fe_mul(c, c, &t);
    }

    fe_t upto[AFF_CHAINS]; /* products of the chains' ends, to split one inverse into four */
    upto[0] = chain[0];
    for (int i = 1; i < AFF_CHAINS; i++) fe_mul(&upto[i], &upto[i - 1], &chain[i]);
    fe_inv(&t, &upto[AFF_CHAINS - 1]);
    for (int i = AFF_CHAINS - 1; i > 0; i--) {
        const fe_t end = chain[i];
        fe_mul(&chain[i], &t, &upto[i - 1]);
        fe_mul(&t, &t, &end);
    }
    chain[0] = t;

    for (size_t i = count; i-- > 0;) {
        const struct affine_pair *pair = &b->pairs[i];
        const uint8_t kind = b->kind[i];
        if (__builtin_expect(kind > AFFINE_DOUBLE, 0)) {
            if (kind == AFFINE_TAKE_P)
                aff_copy(pair->out, pair->p, pair->negate_p);
            else if (kind == AFFINE_TAKE_Q)
                aff_copy(pair->out, pair->q, pair->negate_q);
            else
                memset(pair->out, 0, 2 * sizeof(fe_t));
            continue;
        }
        fe_t *c = &chain[i % AFF_CHAINS];
        fe_mul(&slope, c, &b->before[i]); /* 1 / denominator */
        fe_mul(c, c, &b->denominator[i]);
        fe_load(&x1, pair->p);
        fe_load(&y1, pair->p + sizeof x1);
        fe_load(&x2, pair->q);
        if (pair->negate_p) fe_neg(&y1, &y1);
        if (__builtin_expect(kind == AFFINE_ADD, 1)) {
            fe_load(&y2, pair->q + sizeof x2);
            if (pair->negate_q) fe_neg(&y2, &y2);
            fe_sub(&t, &y2, &y1);
        } else { /* 3 x^2 */
            fe_t s;
            fe_sqr(&s, &x1);
            fe_dbl(&t, &s);
            fe_add(&t, &t, &s);
        }
        fe_mul(&slope, &slope, &t);
        fe_sqr(&t, &slope);
        fe_sub(&t, &t, &x1);
        fe_sub(&t, &t, &x2);
        fe_sub(&x1, &x1, &t);
        fe_mul(&x1, &x1, &slope);
        fe_sub(&x1, &x1, &y1);
        fe_store(pair->out, &t);
        fe_store(pair->out + sizeof t, &x1);
    }
}

#ifndef CPU_LANES
static inline void aff_add_pairs(aff_batch *b) { aff_add_scalar(b); }
#endif

#include "field/fe_unnames.h"
#include "backend/cpu/cpu_group_unnames.h"
#undef AFF_CHAINS
