/* A cubic extension F[v] / (v^3 - nr), nr the non-residue that be_mul_nr multiplies by.
 *
 * Takes  FE  prefix of the extension, e.g. bn254_fp6      BE  prefix of the base field, e.g. bn254_fp2
 * Multiplication: Karatsuba, six base products; squaring: Chung and Hasan's SQR2, two products and three squarings (both as in
 * Devegili et al., ePrint 2006/471, section 4).  Base operations are called, not inlined: a tower holds thousands, which
 * inlined fit neither the instruction cache nor a sanitizer's patience. */
#include "field/fe_names.h"
#include "field/be_names.h"

#define fe_mul_v    CAT(FE, _mul_v)
#define fe_mul_base CAT(FE, _mul_base)
#define fe_mul_01   CAT(FE, _mul_01)
#define fe_mul_1    CAT(FE, _mul_1)

typedef struct {
    be_t c0, c1, c2; /* c0 + c1 v + c2 v^2 */
} fe_t;

DEV_FN_BIG void CAT(BE, _add_far)(be_t *r, const be_t *a, const be_t *b) { be_add(r, a, b); }
DEV_FN_BIG void CAT(BE, _sub_far)(be_t *r, const be_t *a, const be_t *b) { be_sub(r, a, b); }
DEV_FN_BIG void CAT(BE, _dbl_far)(be_t *r, const be_t *a) { be_dbl(r, a); }
DEV_FN_BIG void CAT(BE, _neg_far)(be_t *r, const be_t *a) { be_neg(r, a); }
DEV_FN_BIG void CAT(BE, _mul_far)(be_t *r, const be_t *a, const be_t *b) { be_mul(r, a, b); }
DEV_FN_BIG void CAT(BE, _sqr_far)(be_t *r, const be_t *a) { be_sqr(r, a); }
DEV_FN_BIG void CAT(BE, _mul_nr_far)(be_t *r, const be_t *a) { be_mul_nr(r, a); }

/* from here to the end of this file */
#undef be_add
#undef be_sub
#undef be_dbl
#undef be_neg
#undef be_mul
#undef be_sqr
#undef be_mul_nr
#define be_add    CAT(BE, _add_far)
#define be_sub    CAT(BE, _sub_far)
#define be_dbl    CAT(BE, _dbl_far)
#define be_neg    CAT(BE, _neg_far)
#define be_mul    CAT(BE, _mul_far)
#define be_sqr    CAT(BE, _sqr_far)
#define be_mul_nr CAT(BE, _mul_nr_far)

DEV_FN void fe_set_zero(fe_t *r)
{
    be_set_zero(&r->c0);
    be_set_zero(&r->c1);
    be_set_zero(&r->c2);
}

DEV_FN void fe_set_one(fe_t *r)
{
    be_set_one(&r->c0);
    be_set_zero(&r->c1);
    be_set_zero(&r->c2);
}

DEV_FN bool fe_is_zero(const fe_t *a)
{
    return be_is_zero(&a->c0) && be_is_zero(&a->c1) && be_is_zero(&a->c2);
}
DEV_FN bool fe_is_one(const fe_t *a) { return be_is_one(&a->c0) && be_is_zero(&a->c1) && be_is_zero(&a->c2); }

DEV_FN bool fe_eq(const fe_t *a, const fe_t *b)
{
    return be_eq(&a->c0, &b->c0) && be_eq(&a->c1, &b->c1) && be_eq(&a->c2, &b->c2);
}

DEV_FN void fe_cmov(fe_t *r, const fe_t *a, bool flag)
{
    be_cmov(&r->c0, &a->c0, flag);
    be_cmov(&r->c1, &a->c1, flag);
    be_cmov(&r->c2, &a->c2, flag);
}

DEV_FN void fe_neg(fe_t *r, const fe_t *a)
{
    be_neg(&r->c0, &a->c0);
    be_neg(&r->c1, &a->c1);
    be_neg(&r->c2, &a->c2);
}

DEV_FN void fe_halve(fe_t *r, const fe_t *a)
{
    be_halve(&r->c0, &a->c0);
    be_halve(&r->c1, &a->c1);
    be_halve(&r->c2, &a->c2);
}

DEV_FN_BIG void fe_add(fe_t *r, const fe_t *a, const fe_t *b)
{
    be_add(&r->c0, &a->c0, &b->c0);
    be_add(&r->c1, &a->c1, &b->c1);
    be_add(&r->c2, &a->c2, &b->c2);
}

DEV_FN void fe_dbl(fe_t *r, const fe_t *a) { fe_add(r, a, a); }

DEV_FN_BIG void fe_sub(fe_t *r, const fe_t *a, const fe_t *b)
{
    be_sub(&r->c0, &a->c0, &b->c0);
    be_sub(&r->c1, &a->c1, &b->c1);
    be_sub(&r->c2, &a->c2, &b->c2);
}

/* r = a v */
DEV_FN void fe_mul_v(fe_t *r, const fe_t *a)
{
    be_t t;
    be_mul_nr(&t, &a->c2);
    r->c2 = a->c1;
    r->c1 = a->c0;
    r->c0 = t;
}

DEV_FN_BIG void fe_mul(fe_t *r, const fe_t *a, const fe_t *b)
{
    be_t v0, v1, v2, s, t, x0, x1;
    be_mul(&v0, &a->c0, &b->c0);
    be_mul(&v1, &a->c1, &b->c1);
    be_mul(&v2, &a->c2, &b->c2);

    be_add(&s, &a->c1, &a->c2);
    be_add(&t, &b->c1, &b->c2);
    be_mul(&x0, &s, &t);
    be_sub(&x0, &x0, &v1);
    be_sub(&x0, &x0, &v2);
    be_mul_nr(&x0, &x0);
    be_add(&x0, &x0, &v0); /* a0 b0 + nr (a1 b2 + a2 b1) */

    be_add(&s, &a->c0, &a->c1);
    be_add(&t, &b->c0, &b->c1);
    be_mul(&x1, &s, &t);
    be_sub(&x1, &x1, &v0);
    be_sub(&x1, &x1, &v1);

    be_add(&s, &a->c0, &a->c2);
    be_add(&t, &b->c0, &b->c2);
    be_mul(&s, &s, &t);
    be_sub(&s, &s, &v0);
    be_sub(&s, &s, &v2);
    be_add(&r->c2, &s, &v1); /* a0 b2 + a1 b1 + a2 b0 */

    be_mul_nr(&t, &v2);
    be_add(&r->c1, &x1, &t); /* a0 b1 + a1 b0 + nr a2 b2 */
    r->c0 = x0;
}

DEV_FN_BIG void fe_sqr(fe_t *r, const fe_t *a)
{
    be_t s0, s1, s2, s3, s4, t;
    be_sqr(&s0, &a->c0);
    be_mul(&s1, &a->c0, &a->c1);
    be_dbl(&s1, &s1);
    be_sub(&s2, &a->c0, &a->c1);
    be_add(&s2, &s2, &a->c2);
    be_sqr(&s2, &s2);
    be_mul(&s3, &a->c1, &a->c2);
    be_dbl(&s3, &s3);
    be_sqr(&s4, &a->c2);

    be_mul_nr(&t, &s3);
    be_add(&r->c0, &s0, &t); /* a0^2 + nr 2 a1 a2 */
    be_mul_nr(&t, &s4);
    be_add(&r->c1, &s1, &t); /* 2 a0 a1 + nr a2^2 */
    be_add(&t, &s1, &s2);
    be_add(&t, &t, &s3);
    be_sub(&t, &t, &s0);
    be_sub(&r->c2, &t, &s4); /* 2 a0 a2 + a1^2 */
}

/* r = a k, k in the base field */
DEV_FN void fe_mul_base(fe_t *r, const fe_t *a, const be_t *k)
{
    be_mul(&r->c0, &a->c0, k);
    be_mul(&r->c1, &a->c1, k);
    be_mul(&r->c2, &a->c2, k);
}

/* r = a (b0 + b1 v), five products.  r is not a. */
DEV_FN_BIG void fe_mul_01(fe_t *r, const fe_t *a, const be_t *b0, const be_t *b1)
{
    be_t v0, v1, s, t;
    be_mul(&v0, &a->c0, b0);
    be_mul(&v1, &a->c1, b1);
    be_add(&s, &a->c0, &a->c1);
    be_add(&t, b0, b1);
    be_mul(&s, &s, &t);
    be_sub(&s, &s, &v0);
    be_sub(&r->c1, &s, &v1);
    be_mul(&s, &a->c2, b1);
    be_mul_nr(&s, &s);
    be_add(&r->c0, &s, &v0);
    be_mul(&s, &a->c2, b0);
    be_add(&r->c2, &s, &v1);
}

/* r = a b1 v.  r is not a. */
DEV_FN void fe_mul_1(fe_t *r, const fe_t *a, const be_t *b1)
{
    be_mul(&r->c1, &a->c0, b1);
    be_mul(&r->c2, &a->c1, b1);
    be_mul(&r->c0, &a->c2, b1);
    be_mul_nr(&r->c0, &r->c0);
}

/* 1 / a by the adjoint over the norm; 0 gives 0. */
DEV_FN_BIG void fe_inv(fe_t *r, const fe_t *a)
{
    be_t t0, t1, t2, n, s;
    be_sqr(&t0, &a->c0);
    be_mul(&s, &a->c1, &a->c2);
    be_mul_nr(&s, &s);
    be_sub(&t0, &t0, &s); /* a0^2 - nr a1 a2 */
    be_sqr(&t1, &a->c2);
    be_mul_nr(&t1, &t1);
    be_mul(&s, &a->c0, &a->c1);
    be_sub(&t1, &t1, &s); /* nr a2^2 - a0 a1 */
    be_sqr(&t2, &a->c1);
    be_mul(&s, &a->c0, &a->c2);
    be_sub(&t2, &t2, &s); /* a1^2 - a0 a2 */

    be_mul(&n, &a->c1, &t2);
    be_mul(&s, &a->c2, &t1);
    be_add(&n, &n, &s);
    be_mul_nr(&n, &n);
    be_mul(&s, &a->c0, &t0);
    be_add(&n, &n, &s);
    be_inv(&n, &n);

    be_mul(&r->c0, &t0, &n);
    be_mul(&r->c1, &t1, &n);
    be_mul(&r->c2, &t2, &n);
}

#undef fe_mul_v
#undef fe_mul_base
#undef fe_mul_01
#undef fe_mul_1
#include "field/fe_unnames.h"
#include "field/be_unnames.h"
