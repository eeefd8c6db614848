/* Products of a prime field on the device that wait for their reduction: numbers of twice the field's words.
 *
 * Takes  FE, FE_UPPER  as fe_device.inc.h, which is included before
 * A sum or difference of products is reduced once.  R = 2^(32 limbs); any number below k p R, k real, reduces to less than (k + 1 + 2^-30) p. */
#include "backend/cuda/fe_device_names.h"

/* 1: a product of 12 words by three of 6 (Karatsuba), 108 products of words instead of 144 for about a hundred more additions, which other units of an SM
 * make.  Whether that is faster has not been measured. */
#ifndef FE_WIDE_HALVES
#define FE_WIDE_HALVES 0
#endif

#define NL (2 * CAT(FE_UPPER, _WORDS))
#define HALF (NL / 2)
#define FE_CONSTANTS constexpr CAT(FE, _constants) K

/* a + b, not reduced: the caller knows that it fits. */
DEV_FN void CAT(FE, _add_plain)(fe_t *r, const fe_t *a, const fe_t *b)
{
    r->v[0] = add_cc(a->v[0], b->v[0]);
    UNROLL for (int i = 1; i < NL - 1; i++) r->v[i] = addc_cc(a->v[i], b->v[i]);
    r->v[NL - 1] = addc(a->v[NL - 1], b->v[NL - 1]);
}

/* r = 2p */
DEV_FN void CAT(FE, _twice_p)(fe_t *r)
{
    FE_CONSTANTS;
    UNROLL for (int i = 0; i < NL; i++) r->v[i] = K.p2[i];
}

/* r = a + b and a - b, modulo R^2 */
DEV_FN void CAT(FE, _add_wide)(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
    r[0] = add_cc(a[0], b[0]);
    UNROLL for (int i = 1; i < 2 * NL - 1; i++) r[i] = addc_cc(a[i], b[i]);
    r[2 * NL - 1] = addc(a[2 * NL - 1], b[2 * NL - 1]);
}
DEV_FN void CAT(FE, _sub_wide)(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
    r[0] = sub_cc(a[0], b[0]);
    UNROLL for (int i = 1; i < 2 * NL - 1; i++) r[i] = subc_cc(a[i], b[i]);
    r[2 * NL - 1] = subc(a[2 * NL - 1], b[2 * NL - 1]);
}

#if FE_WIDE_HALVES

/* t = a b of half as many words each */
DEV_FN void CAT(FE, _mul_half)(uint32_t *t, const uint32_t *a, const uint32_t *b)
{
    uint32_t x[HALF + 2], y[HALF + 2], low = 0, *e = x, *o = y;
    UNROLL for (int k = 0; k < HALF; k++) {
        if (k == 0) {
            CAT(FE, _row_mul)(o, a + 1, b[0], HALF);
            CAT(FE, _row_mul)(e, a, b[0], HALF);
        } else {
            e[0] = add_cc(e[0], low);
            CAT(FE, _row_mad)(o, o + 2, a + 1, b[k], HALF, true, true, 0);
            CAT(FE, _row_mad)(e, e, a, b[k], HALF, false, false, 0);
            o[HALF - 1] = addc(o[HALF - 1], 0);
        }
        t[k] = e[0];
        low = e[1];
        uint32_t *swap = e;
        e = o;
        o = swap;
    }
    t[HALF] = add_cc(e[0], low);
    UNROLL for (int i = 1; i < HALF - 1; i++) t[HALF + i] = addc_cc(e[i], o[i + 1]);
    t[2 * HALF - 1] = addc(e[HALF - 1], 0);
}

/* r = the sum of a's halves; returns all ones for a carry, else 0. */
DEV_FN uint32_t CAT(FE, _add_halves)(uint32_t *r, const fe_t *a)
{
    r[0] = add_cc(a->v[0], a->v[HALF]);
    UNROLL for (int i = 1; i < HALF; i++) r[i] = addc_cc(a->v[i], a->v[HALF + i]);
    return 0u - addc(0, 0);
}

/* t = a b by three products of halves (Karatsuba) */
DEV_FN void CAT(FE, _mul_wide)(uint32_t *t, const fe_t *a, const fe_t *b)
{
    uint32_t sa[HALF], sb[HALF], mid[NL + 1];
    const uint32_t ma = CAT(FE, _add_halves)(sa, a), mb = CAT(FE, _add_halves)(sb, b);
    CAT(FE, _mul_half)(mid, sa, sb);
    mid[HALF] = add_cc(mid[HALF], sb[0] & ma);
    UNROLL for (int i = 1; i < HALF; i++) mid[HALF + i] = addc_cc(mid[HALF + i], sb[i] & ma);
    mid[NL] = addc(ma & mb & 1, 0);
    mid[HALF] = add_cc(mid[HALF], sa[0] & mb);
    UNROLL for (int i = 1; i < HALF; i++) mid[HALF + i] = addc_cc(mid[HALF + i], sa[i] & mb);
    mid[NL] = addc(mid[NL], 0);
    CAT(FE, _mul_half)(t, a->v, b->v);
    mid[0] = sub_cc(mid[0], t[0]);
    UNROLL for (int i = 1; i < NL; i++) mid[i] = subc_cc(mid[i], t[i]);
    mid[NL] = subc(mid[NL], 0);
    CAT(FE, _mul_half)(t + NL, a->v + HALF, b->v + HALF);
    mid[0] = sub_cc(mid[0], t[NL]);
    UNROLL for (int i = 1; i < NL; i++) mid[i] = subc_cc(mid[i], t[NL + i]);
    mid[NL] = subc(mid[NL], 0);
    t[HALF] = add_cc(t[HALF], mid[0]);
    UNROLL for (int i = 1; i <= NL; i++) t[HALF + i] = addc_cc(t[HALF + i], mid[i]);
    UNROLL for (int i = HALF + NL + 1; i < 2 * NL - 1; i++) t[i] = addc_cc(t[i], 0);
    t[2 * NL - 1] = addc(t[2 * NL - 1], 0);
}

/* t = a b + c d */
DEV_FN void CAT(FE, _dot_wide)(uint32_t *t, const fe_t *a, const fe_t *b, const fe_t *c, const fe_t *d)
{
    uint32_t u[2 * NL];
    CAT(FE, _mul_wide)(u, a, b);
    CAT(FE, _mul_wide)(t, c, d);
    CAT(FE, _add_wide)(t, t, u);
}

#else

/* t = a b */
DEV_FN void CAT(FE, _mul_wide)(uint32_t *t, const fe_t *a, const fe_t *b)
{
    uint32_t x[NL + 2], y[NL + 2], low = 0, *e = x, *o = y;
    fe_t high;
    UNROLL for (int k = 0; k < NL; k++) {
        CAT(FE, _acc_mul)(e, o, low, a->v, b->v[k], k == 0, true, true);
        t[k] = e[0];
        low = e[1];
        uint32_t *swap = e;
        e = o;
        o = swap;
    }
    CAT(FE, _acc_end)(&high, e, o, low);
    UNROLL for (int i = 0; i < NL; i++) t[NL + i] = high.v[i];
}

/* t = a b + c d, of factors a and c whose sum is below R */
DEV_FN void CAT(FE, _dot_wide)(uint32_t *t, const fe_t *a, const fe_t *b, const fe_t *c, const fe_t *d)
{
    uint32_t x[NL + 2], y[NL + 2], low = 0, *e = x, *o = y;
    fe_t high;
    UNROLL for (int k = 0; k < NL; k++) {
        CAT(FE, _acc_mul)(e, o, low, a->v, b->v[k], k == 0, true, true);
        CAT(FE, _acc_mul)(e, o, 0, c->v, d->v[k], false, false, false);
        t[k] = e[0];
        low = e[1];
        uint32_t *swap = e;
        e = o;
        o = swap;
    }
    CAT(FE, _acc_end)(&high, e, o, low);
    UNROLL for (int i = 0; i < NL; i++) t[NL + i] = high.v[i];
}

#endif

/* t += p R / 2, modulo R^2 */
DEV_FN void CAT(FE, _lift_half)(uint32_t *t)
{
    FE_CONSTANTS;
    t[NL - 1] = add_cc(t[NL - 1], K.p[0] << 31);
    UNROLL for (int i = 0; i < NL - 1; i++) t[NL + i] = addc_cc(t[NL + i], K.p[i] >> 1 | K.p[i + 1] << 31);
    t[2 * NL - 1] = addc(t[2 * NL - 1], K.p[NL - 1] >> 1);
}

/* t += p R, modulo R^2 */
DEV_FN void CAT(FE, _lift)(uint32_t *t)
{
    FE_CONSTANTS;
    t[NL] = add_cc(t[NL], K.p[0]);
    UNROLL for (int i = 1; i < NL - 1; i++) t[NL + i] = addc_cc(t[NL + i], K.p[i]);
    t[2 * NL - 1] = addc(t[2 * NL - 1], K.p[NL - 1]);
}

/* r = t / R: the low half is reduced as in fe_mul, all steps but the last two by folding, and the high half is added.  t is lost. */
DEV_FN void CAT(FE, _redc_wide)(fe_t *r, const uint32_t *t)
{
    FE_CONSTANTS;
    static_assert(K.can_fold(), "sums of folds fit the accumulator");
    uint32_t x[NL + 2], y[NL + 2], low = 0, *e = x, *o = y;
    UNROLL for (int i = 0; i < NL; i++) e[i] = t[i];
    UNROLL for (int k = 0; k < NL; k++) {
        if (k < NL - 2) {
            uint32_t v = e[0], top = 0;
            if (k == 0) {
                CAT(FE, _row_mul)(o, K.fold, v, NL);
            } else {
                v = add_cc(v, low);
                CAT(FE, _row_mad)(o, o + 2, K.fold, v, NL, true, false, 0);
                top = addc(0, 0);
            }
            CAT(FE, _row_mad)(e + 2, e + 2, K.fold + 1, v, NL, false, true, top);
        } else {
            e[0] = add_cc(e[0], low);
            const uint32_t m = e[0] * (uint32_t)CAT(FE_UPPER, _INV);
            CAT(FE, _row_mad)(o, o + 2, K.p + 1, m, NL, true, k > NL - 2, 0);
            CAT(FE, _row_mad)(e, e, K.p, m, NL, false, false, 0);
            o[NL - 1] = addc(o[NL - 1], 0);
        }
        low = e[1];
        uint32_t *swap = e;
        e = o;
        o = swap;
    }
    CAT(FE, _acc_end)(r, e, o, low);
    r->v[0] = add_cc(r->v[0], t[NL]);
    UNROLL for (int i = 1; i < NL - 1; i++) r->v[i] = addc_cc(r->v[i], t[NL + i]);
    r->v[NL - 1] = addc(r->v[NL - 1], t[2 * NL - 1]);
}

#include "backend/cuda/fe_device_unnames.h"
#undef FE_CONSTANTS
#undef HALF
#undef NL
