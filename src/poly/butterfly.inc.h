/* Butterflies of one and of two levels of a transform, in neutral names.
 *
 * Takes  FE  prefix of the scalar field.
 * Two levels at a time halve the passes over memory; the products are the same (a prime field has no free fourth root of one).
 * a0..a3 stand a quarter of the longer sub-transform apart. */
#include "field/fe_names.h"

/* Decimation in frequency: (a, b) -> (a + b, (a - b) w). */
DEV_FN void CAT(FE, _dif2)(fe_t *a, fe_t *b, const fe_t *w)
{
    fe_t d;
    fe_sub(&d, a, b);
    fe_add(a, a, b);
    fe_mul(b, &d, w);
}

/* The same with the factor -w. */
DEV_FN void CAT(FE, _dif2_neg)(fe_t *a, fe_t *b, const fe_t *w)
{
    fe_t d;
    fe_sub(&d, b, a);
    fe_add(a, a, b);
    fe_mul(b, &d, w);
}

DEV_FN void CAT(FE, _dif2_one)(fe_t *a, fe_t *b)
{
    const fe_t x = *a;
    fe_add(a, &x, b);
    fe_sub(b, &x, b);
}

/* Decimation in time: (a, b) -> (a + w b, a - w b). */
DEV_FN void CAT(FE, _dit2)(fe_t *a, fe_t *b, const fe_t *w)
{
    fe_t t;
    const fe_t x = *a;
    fe_mul(&t, b, w);
    fe_add(a, &x, &t);
    fe_sub(b, &x, &t);
}

/* w1 for (a0, a2), w1q for (a1, a3), then w2 for both pairs of the shorter level. */
DEV_FN void CAT(FE, _dif4)(fe_t *a0, fe_t *a1, fe_t *a2, fe_t *a3, const fe_t *w1, const fe_t *w1q,
                           const fe_t *w2)
{
    CAT(FE, _dif2)(a0, a2, w1);
    CAT(FE, _dif2)(a1, a3, w1q);
    CAT(FE, _dif2)(a0, a1, w2);
    CAT(FE, _dif2)(a2, a3, w2);
}

/* The factors are those given times -1: the inverse transform reads the forward table from its end, w^-j = -w^(L/2-j). */
DEV_FN void CAT(FE, _dif4_neg)(fe_t *a0, fe_t *a1, fe_t *a2, fe_t *a3, const fe_t *w1, const fe_t *w1q,
                               const fe_t *w2)
{
    CAT(FE, _dif2_neg)(a0, a2, w1);
    CAT(FE, _dif2_neg)(a1, a3, w1q);
    CAT(FE, _dif2_neg)(a0, a1, w2);
    CAT(FE, _dif2_neg)(a2, a3, w2);
}

DEV_FN void CAT(FE, _dit4)(fe_t *a0, fe_t *a1, fe_t *a2, fe_t *a3, const fe_t *w1, const fe_t *w1q,
                           const fe_t *w2)
{
    CAT(FE, _dit2)(a0, a1, w2);
    CAT(FE, _dit2)(a2, a3, w2);
    CAT(FE, _dit2)(a0, a2, w1);
    CAT(FE, _dit2)(a1, a3, w1q);
}

#include "field/fe_unnames.h"
