/* Products of a prime field on the device that wait for their reduction: numbers of twice the field's words.
 *
 * Takes  FE, FE_UPPER  as fe_device.inc.h, which is included before
 * A sum or difference of products is reduced once, by fe_device.inc.h's redc_wide.  R = 2^(32 limbs); any number below k p R, k real, reduces to less than (k + 1 + 2^-30) p. */
#include "backend/cuda/fe_device_names.h"

#define NL (2 * CAT(FE_UPPER, _WORDS))
#define FE_CONSTANTS constexpr CAT(FE, _constants) K
static_assert(CAT(FE, _constants)().can_fold(), "the bounds of reduced sums are those of a field with two bits to spare");

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

#include "backend/cuda/fe_device_unnames.h"
#undef FE_CONSTANTS
#undef NL
