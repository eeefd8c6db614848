/* A quadratic extension F[u] / (u^2 - nr), nr the non-residue that be_mul_nr multiplies by.
 *
 * Takes  FE  prefix of the extension, e.g. bn254_fp2      BE  prefix of the base field, e.g. bn254_fp
 *        FE_QUAD_FN  optional: how products are declared; the default inlines on the device only, where calls spill registers
 *        FE_QUAD_DOT  optional, only for nr = -1 and a modulus with two free top bits: dot(r, a, b), words, with
 *                     r = a[0] b[0] + a[1] b[1] for pairs of base elements <= p; and fe_mul of the base takes factors below 2p
 * Multiplication: Karatsuba, three base products; squaring: complex method, two (Devegili et al., ePrint 2006/471).  With
 * FE_QUAD_DOT four products that share two reductions, as many multiplications of words, but without Karatsuba's sums (Longa, ePrint
 * 2022/367). */
#include "field/fe_names.h"
#include "field/be_names.h"

#ifndef FE_QUAD_FN
#if defined(__CUDA_ARCH__)
#define FE_QUAD_FN DEV_FN
#else
#define FE_QUAD_FN DEV_FN_BIG
#endif
#endif

typedef struct {
    be_t c0, c1; /* c0 + c1 u */
} fe_t;

DEV_FN void fe_set_zero(fe_t *r) { be_set_zero(&r->c0); be_set_zero(&r->c1); }
DEV_FN void fe_set_one(fe_t *r) { be_set_one(&r->c0); be_set_zero(&r->c1); }
DEV_FN bool fe_is_zero(const fe_t *a) { return be_is_zero(&a->c0) && be_is_zero(&a->c1); }
DEV_FN bool fe_is_one(const fe_t *a) { return be_is_one(&a->c0) && be_is_zero(&a->c1); }
DEV_FN bool fe_eq(const fe_t *a, const fe_t *b) { return be_eq(&a->c0, &b->c0) && be_eq(&a->c1, &b->c1); }
DEV_FN void fe_cmov(fe_t *r, const fe_t *a, bool flag) { be_cmov(&r->c0, &a->c0, flag); be_cmov(&r->c1, &a->c1, flag); }
DEV_FN void fe_neg(fe_t *r, const fe_t *a) { be_neg(&r->c0, &a->c0); be_neg(&r->c1, &a->c1); }
DEV_FN void fe_dbl(fe_t *r, const fe_t *a) { be_dbl(&r->c0, &a->c0); be_dbl(&r->c1, &a->c1); }
DEV_FN void fe_halve(fe_t *r, const fe_t *a) { be_halve(&r->c0, &a->c0); be_halve(&r->c1, &a->c1); }
DEV_FN void fe_conj(fe_t *r, const fe_t *a) { r->c0 = a->c0; be_neg(&r->c1, &a->c1); }
DEV_FN void fe_add(fe_t *r, const fe_t *a, const fe_t *b) { be_add(&r->c0, &a->c0, &b->c0); be_add(&r->c1, &a->c1, &b->c1); }
DEV_FN void fe_sub(fe_t *r, const fe_t *a, const fe_t *b) { be_sub(&r->c0, &a->c0, &b->c0); be_sub(&r->c1, &a->c1, &b->c1); }

FE_QUAD_FN void fe_mul_ref(fe_t *r, const fe_t *a, const fe_t *b)
{
    be_t v0, v1, s, t;
    be_add(&s, &a->c0, &a->c1);
    be_add(&t, &b->c0, &b->c1);
    be_mul(&v0, &a->c0, &b->c0);
    be_mul(&v1, &a->c1, &b->c1);
    be_mul(&s, &s, &t);
    be_sub(&s, &s, &v0);
    be_sub(&r->c1, &s, &v1); /* a0 b1 + a1 b0 */
    be_mul_nr(&v1, &v1);
    be_add(&r->c0, &v0, &v1); /* a0 b0 + nr a1 b1 */
}

FE_QUAD_FN void fe_sqr_ref(fe_t *r, const fe_t *a)
{
    be_t v, s, t;
    be_mul(&v, &a->c0, &a->c1);
    be_add(&s, &a->c0, &a->c1);
    be_mul_nr(&t, &a->c1);
    be_add(&t, &t, &a->c0);
    be_mul(&s, &s, &t); /* (a0 + a1)(a0 + nr a1) = a0^2 + nr a1^2 + v + nr v */
    be_sub(&s, &s, &v);
    be_mul_nr(&t, &v);
    be_sub(&r->c0, &s, &t);
    be_dbl(&r->c1, &v);
}

#ifndef FE_QUAD_DOT
DEV_FN void fe_mul(fe_t *r, const fe_t *a, const fe_t *b) { fe_mul_ref(r, a, b); }
DEV_FN void fe_sqr(fe_t *r, const fe_t *a) { fe_sqr_ref(r, a); }
#else
/* r = a + b < 2p, not reduced */
DEV_FN void CAT(FE, _lazy_add)(be_t *r, const be_t *a, const be_t *b)
{
    limb_t carry = 0;
    UNROLL for (size_t i = 0; i < ARRAY_COUNT(r->l); i++) r->l[i] = limb_adc(a->l[i], b->l[i], &carry);
}

FE_QUAD_FN void fe_mul(fe_t *r, const fe_t *a, const fe_t *b)
{
    fe_t x, y;
    x.c0 = a->c0;
    be_neg(&x.c1, &a->c1);
    y.c0 = b->c1;
    y.c1 = b->c0;
    FE_QUAD_DOT(x.c0.l, (const uint64_t *)(const void *)&x, (const uint64_t *)(const void *)b); /* a0 b0 - a1 b1 */
    FE_QUAD_DOT(r->c1.l, (const uint64_t *)(const void *)a, (const uint64_t *)(const void *)&y);
    r->c0 = x.c0;
}

/* (a0 + a1)(a0 - a1), 2 a0 a1 */
FE_QUAD_FN void fe_sqr(fe_t *r, const fe_t *a)
{
    be_t s, d, e;
    CAT(FE, _lazy_add)(&s, &a->c0, &a->c1);
    CAT(FE, _lazy_add)(&e, &a->c0, &a->c0);
    be_sub(&d, &a->c0, &a->c1);
    be_mul(&r->c1, &e, &a->c1);
    be_mul(&r->c0, &s, &d);
}
#endif

/* 1 / a = conj(a) / (a0^2 - nr a1^2); 0 gives 0. */
DEV_FN_BIG void fe_inv(fe_t *r, const fe_t *a)
{
    be_t n, t;
    be_sqr(&n, &a->c0);
    be_sqr(&t, &a->c1);
    be_mul_nr(&t, &t);
    be_sub(&n, &n, &t);
    be_inv(&n, &n);
    be_mul(&r->c0, &a->c0, &n);
    be_mul(&t, &a->c1, &n);
    be_neg(&r->c1, &t);
}

DEV_FN_BIG void fe_pow(fe_t *r, const fe_t *a, const uint64_t *e, int e_words)
{
    fe_t acc, base = *a;
    bool started = false;
    fe_set_one(&acc);
    for (int i = 64 * e_words - 1; i >= 0; i--) {
        if (started) fe_sqr(&acc, &acc);
        if ((e[i / 64] >> (i % 64)) & 1) {
            fe_mul(&acc, &acc, &base);
            started = true;
        }
    }
    *r = acc;
}

#include "field/fe_unnames.h"
#include "field/be_unnames.h"
