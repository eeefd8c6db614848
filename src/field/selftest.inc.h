/* Self-test of the operations of a prime field that stand in for fe_mul_ref, fe_add_ref and fe_sub_ref.
 *
 * Takes  FE, FE_UPPER as prime.inc.h, which comes first, with its overrides bound */
#include "field/fe_names.h"

#define FE_WORDS CAT(FE_UPPER, _WORDS)
#define FE_EDGES (6 + 3 * FE_WORDS)

/* Elements at which carries and the last subtraction go wrong first: 0, 1, 2, p-1, p-2, (p-1)/2; per word: one bit at the bottom, one at
 * the top, all ones; those of the last two that are not below p get their top word cut. */
static void CAT(FE, _edges)(fe_t edge[FE_EDGES])
{
    const fe_t p = { CAT(FE_UPPER, _P_64) }, half = { CAT(FE_UPPER, _P_MINUS_1_HALF_64) };
    for (int i = 0; i < FE_EDGES; i++) fe_set_zero(&edge[i]);
    edge[1].l[0] = 1;
    edge[2].l[0] = 2;
    edge[3] = p;
    edge[3].l[0] -= 1;
    edge[4] = p;
    edge[4].l[0] -= 2; /* p is odd, and its low word is at least 1: 1 - 2 would borrow */
    if (p.l[0] < 2) edge[4] = half;
    edge[5] = half;
    for (int i = 0; i < FE_WORDS; i++) {
        fe_t *const e = &edge[6 + 3 * i];
        e[0].l[i] = 1;
        e[1].l[i] = (uint64_t)1 << 63;
        for (int j = 0; j <= i; j++) e[2].l[j] = UINT64_MAX;
        for (int k = 1; k < 3; k++)
            while (!fe_is_canonical(&e[k])) e[k].l[FE_WORDS - 1] >>= 1;
    }
}

static bool CAT(FE, _same_products)(const fe_t *a, const fe_t *b)
{
    fe_t fast, ref;
    fe_mul(&fast, a, b);
    fe_mul_ref(&ref, a, b);
    if (!fe_eq(&fast, &ref) || !fe_is_canonical(&fast)) return false;
    fe_sqr(&fast, a);
    fe_mul_ref(&ref, a, a);
    if (!fe_eq(&fast, &ref)) return false;
    fe_add(&fast, a, b);
    fe_add_ref(&ref, a, b);
    if (!fe_eq(&fast, &ref)) return false;
    fe_sub(&fast, a, b);
    fe_sub_ref(&ref, a, b);
    if (!fe_eq(&fast, &ref)) return false;
    fast = *b; /* aliased: r = b */
    fe_sub(&fast, a, &fast);
    if (!fe_eq(&fast, &ref)) return false;
    fast = *a; /* aliased: r = a */
    fe_mul(&fast, &fast, b);
    fe_mul_ref(&ref, a, b);
    return fe_eq(&fast, &ref);
}

/* xorshift64* */
static void CAT(FE, _selftest_random)(fe_t *r, uint64_t *state)
{
    for (int i = 0; i < FE_WORDS; i++) {
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        r->l[i] = *state * 0x2545f4914f6cdd1du;
    }
    while (!fe_is_canonical(r)) r->l[FE_WORDS - 1] >>= 1;
}

/* Every pair of edges, then pairs of pseudo-random elements (fixed seed). */
static bool CAT(FE, _selftest)(size_t pairs)
{
    fe_t edge[FE_EDGES], x, y;
    uint64_t state = 0x9e3779b97f4a7c15u;
    CAT(FE, _edges)(edge);
    for (int i = 0; i < FE_EDGES; i++)
        for (int j = 0; j < FE_EDGES; j++)
            if (!CAT(FE, _same_products)(&edge[i], &edge[j])) return false;
    for (size_t n = 0; n < pairs; n++) {
        CAT(FE, _selftest_random)(&x, &state);
        CAT(FE, _selftest_random)(&y, &state);
        if (!CAT(FE, _same_products)(&x, &y)) return false;
    }
    return true;
}

/* Products and squares of QUAD, the quadratic extension over this field, where it is given: every fourfold of a few edges, then of
 * pseudo-random elements. */
#ifdef QUAD
static bool CAT(QUAD, _same_products)(const CAT(QUAD, _t) *a, const CAT(QUAD, _t) *b)
{
    CAT(QUAD, _t) fast, ref;
    CAT(QUAD, _mul)(&fast, a, b);
    CAT(QUAD, _mul_ref)(&ref, a, b);
    if (!CAT(QUAD, _eq)(&fast, &ref)) return false;
    fast = *a; /* aliased: r = a, then r = b */
    CAT(QUAD, _mul)(&fast, &fast, b);
    if (!CAT(QUAD, _eq)(&fast, &ref)) return false;
    fast = *b;
    CAT(QUAD, _mul)(&fast, a, &fast);
    if (!CAT(QUAD, _eq)(&fast, &ref)) return false;
    CAT(QUAD, _sqr)(&fast, a);
    CAT(QUAD, _sqr_ref)(&ref, a);
    if (!CAT(QUAD, _eq)(&fast, &ref)) return false;
    fast = *a;
    CAT(QUAD, _sqr)(&fast, &fast);
    return CAT(QUAD, _eq)(&fast, &ref);
}

static bool CAT(QUAD, _selftest)(size_t pairs)
{
    static const int few[] = { 0, 1, 3, 4, FE_EDGES - 3, FE_EDGES - 2, FE_EDGES - 1 };
    enum { FEW = sizeof few / sizeof few[0] };
    fe_t edge[FE_EDGES];
    CAT(QUAD, _t) x, y;
    uint64_t state = 0xbf58476d1ce4e5b9u;
    CAT(FE, _edges)(edge);
    for (int i = 0; i < FEW * FEW; i++)
        for (int j = 0; j < FEW * FEW; j++) {
            x.c0 = edge[few[i % FEW]];
            x.c1 = edge[few[i / FEW]];
            y.c0 = edge[few[j % FEW]];
            y.c1 = edge[few[j / FEW]];
            if (!CAT(QUAD, _same_products)(&x, &y)) return false;
        }
    for (size_t n = 0; n < pairs; n++) {
        CAT(FE, _selftest_random)(&x.c0, &state);
        CAT(FE, _selftest_random)(&x.c1, &state);
        CAT(FE, _selftest_random)(&y.c0, &state);
        CAT(FE, _selftest_random)(&y.c1, &state);
        if (!CAT(QUAD, _same_products)(&x, &y)) return false;
    }
    return true;
}
#endif

#include "field/fe_unnames.h"
#undef FE_WORDS
#undef FE_EDGES
