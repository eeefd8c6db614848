/* A prime field on the device: 32-bit limbs, Montgomery form with R = 2^(32 limbs), values kept below 2p between operations.
 *
 * Takes  FE        prefix, e.g. fp      FE_UPPER  prefix of the generated constants, e.g. BLS12_381_FP
 *
 * The same memory form as field/prime.inc.h once fe_canon has been applied.  Multiplication keeps one accumulator in two
 * columns, even and odd, so that every product of two words is one fused wide multiply-add on a carry chain (sppark's and
 * Yrrid's arrangement).  A reduction step either adds m p (ordinary) or folds the lowest word: t <- (t >> 32) + t0 (2^-32 mod p),
 * which saves the product for m; the last two steps are ordinary, which bounds the result.
 * Bounds, with every operand in [0, 2p] unless said otherwise:
 *   12 limbs   p < 2^381: a b up to 9 p^2 gives less than 2p.
 *   8 limbs, p < 2^254 (BN254): a b up to 4 p^2 gives less than 2p.
 *   8 limbs, p = r of BLS12-381 (2p < 2^256 but 4p > 2^256): the first factor must be canonical, the second may be any 256-bit
 *   number; the result is below 2p.  There p = 1 mod 2^32 and its second word is 2^32 - 1, so m is the negated low word and the
 *   first two columns of m p are additions: 112 wide products instead of 128.
 * Compiled as C++ (nvcc, or g++ with the emulated carry flag). */
#include "backend/cuda/carry.h"
#include "backend/cuda/fe_device_names.h"

#define FE_WORDS CAT(FE_UPPER, _WORDS)
#define NL       (2 * FE_WORDS)

typedef struct {
    uint32_t v[NL];
} fe_t;

/* 2p, and 2^-32 mod p = (1 + p (-1/p mod 2^32)) / 2^32, from the generated constants at compile time. */
struct CAT(FE, _constants) {
    uint32_t p[NL], p2[NL], fold[NL], one[NL];
    constexpr CAT(FE, _constants)() : p CAT(FE_UPPER, _P_32), p2(), fold(), one CAT(FE_UPPER, _R1_32)
    {
        uint64_t carry = 0;
        for (int i = 0; i < NL; i++) {
            carry += 2 * (uint64_t)p[i];
            p2[i] = (uint32_t)carry;
            carry >>= 32;
        }
        const uint32_t inv = (uint32_t)CAT(FE_UPPER, _INV);
        carry = ((uint64_t)p[0] * inv + 1) >> 32;
        for (int i = 1; i < NL; i++) {
            carry += (uint64_t)p[i] * inv;
            fold[i - 1] = (uint32_t)carry;
            carry >>= 32;
        }
        fold[NL - 1] = (uint32_t)carry;
    }
    constexpr bool low_is_one() const { return p[0] == 1 && p[1] == 0xffffffffu; }
    constexpr bool can_fold() const { return p[NL - 1] < 0x40000000u; } /* three operands of 2^32 p fit the accumulator */
};
#define FE_CONSTANTS constexpr CAT(FE, _constants) K

/* row = a[0, 2, ..] * b, n/2 independent products of two words */
DEV_FN void CAT(FE, _row_mul)(uint32_t *row, const uint32_t *a, uint32_t b, const int n)
{
    UNROLL for (int j = 0; j < n; j += 2) {
        row[j] = mul_lo(a[j], b);
        row[j + 1] = mul_hi(a[j], b);
    }
}

/* row = from + a[0, 2, ..] * b as one carry chain.  carry_in: the chain starts with the flag.  fresh: the top pair of `from` is
 * (0, top), and nothing can carry out of it. */
DEV_FN void CAT(FE, _row_mad)(uint32_t *row, const uint32_t *from, const uint32_t *a, uint32_t b, const int n, const bool carry_in,
                              const bool fresh, uint32_t top)
{
    UNROLL for (int j = 0; j < n; j += 2) {
        const bool last = fresh && j + 2 >= n;
        const uint32_t lo = last ? 0 : from[j], hi = last ? top : from[j + 1];
        row[j] = (j || carry_in) ? madc_lo_cc(a[j], b, lo) : mad_lo_cc(a[j], b, lo);
        row[j + 1] = last ? madc_hi(a[j], b, hi) : madc_hi_cc(a[j], b, hi);
    }
}

/* The accumulator: e[k] has weight 2^(32 k), o[k] weight 2^(32 (k + 1)); `low` is a word of weight 1 still to be added.  After a
 * reduction step the lowest word is gone: e and o change places, and the new o is read two words further on (shift). */
DEV_FN void CAT(FE, _acc_mul)(uint32_t *e, uint32_t *o, uint32_t low, const uint32_t *a, uint32_t b, const bool first, const bool shift,
                              const bool fresh)
{
    if (first) {
        CAT(FE, _row_mul)(o, a + 1, b, NL);
        CAT(FE, _row_mul)(e, a, b, NL);
        return;
    }
    if (shift) {
        e[0] = add_cc(e[0], low);
        CAT(FE, _row_mad)(o, o + 2, a + 1, b, NL, true, fresh, 0);
    } else {
        CAT(FE, _row_mad)(o, o, a + 1, b, NL, false, false, 0);
    }
    CAT(FE, _row_mad)(e, e, a, b, NL, false, false, 0);
    o[NL - 1] = addc(o[NL - 1], 0);
}

/* Adds m p, which clears e[0]. */
DEV_FN void CAT(FE, _acc_redc)(uint32_t *e, uint32_t *o)
{
    FE_CONSTANTS;
    if (K.low_is_one()) {
        const uint32_t t0 = e[0];
        const uint32_t m = t0 * opaque_minus_one;
        (void)sub_cc(0, t0);
        const uint32_t hi = subc(m, 0); /* m (2^32 - 1) = (m - [m > 0]) 2^32 + t0 */
        o[0] = add_cc(o[0], t0);
        o[1] = addc_cc(o[1], hi);
        CAT(FE, _row_mad)(o + 2, o + 2, K.p + 3, m, NL - 2, true, false, 0);
        e[0] = add_cc(t0, m);
        e[1] = addc_cc(e[1], 0);
        CAT(FE, _row_mad)(e + 2, e + 2, K.p + 2, m, NL - 2, true, false, 0);
    } else {
        const uint32_t m = e[0] * (uint32_t)CAT(FE_UPPER, _INV);
        CAT(FE, _row_mad)(o, o, K.p + 1, m, NL, false, false, 0);
        CAT(FE, _row_mad)(e, e, K.p, m, NL, false, false, 0);
    }
    o[NL - 1] = addc(o[NL - 1], 0);
}

/* Drops e[0] and adds e[0] (2^-32 mod p) one word higher. */
DEV_FN void CAT(FE, _acc_fold)(uint32_t *e, uint32_t *o)
{
    FE_CONSTANTS;
    const uint32_t v = e[0];
    CAT(FE, _row_mad)(o, o, K.fold, v, NL, false, false, 0);
    const uint32_t top = addc(0, 0);
    CAT(FE, _row_mad)(e + 2, e + 2, K.fold + 1, v, NL, false, true, top);
}

DEV_FN void CAT(FE, _acc_end)(fe_t *r, const uint32_t *e, const uint32_t *o, uint32_t low)
{
    r->v[0] = add_cc(e[0], low);
    UNROLL for (int i = 1; i < NL - 1; i++) r->v[i] = addc_cc(e[i], o[i + 1]);
    r->v[NL - 1] = addc(e[NL - 1], 0);
}

/* r = a b */
DEV_FN void fe_mul(fe_t *r, const fe_t *a, const fe_t *b)
{
    FE_CONSTANTS;
    uint32_t x[NL + 2], y[NL + 2], low = 0, *e = x, *o = y;
    UNROLL for (int k = 0; k < NL; k++) {
        const bool fold = K.can_fold() && k < NL - 2;
        /* the pair above the shifted odd column is zero after an ordinary step; a fold writes it */
        CAT(FE, _acc_mul)(e, o, low, a->v, b->v[k], k == 0, true, K.can_fold() ? k > NL - 2 : true);
        if (fold) CAT(FE, _acc_fold)(e, o);
        else CAT(FE, _acc_redc)(e, o);
        low = e[1];
        uint32_t *t = e;
        e = o;
        o = t;
    }
    CAT(FE, _acc_end)(r, e, o, low);
}

/* r = a - b mod 2p */
DEV_FN void fe_sub(fe_t *r, const fe_t *a, const fe_t *b)
{
    FE_CONSTANTS;
    r->v[0] = sub_cc(a->v[0], b->v[0]);
    UNROLL for (int i = 1; i < NL; i++) r->v[i] = subc_cc(a->v[i], b->v[i]);
    const uint32_t mask = subc(0, 0);
    r->v[0] = add_cc(r->v[0], K.p2[0] & mask);
    UNROLL for (int i = 1; i < NL - 1; i++) r->v[i] = addc_cc(r->v[i], K.p2[i] & mask);
    r->v[NL - 1] = addc(r->v[NL - 1], K.p2[NL - 1] & mask);
}

/* r = 2p - a: in (0, 2p] */
DEV_FN void fe_neg(fe_t *r, const fe_t *a)
{
    FE_CONSTANTS;
    r->v[0] = sub_cc(K.p2[0], a->v[0]);
    UNROLL for (int i = 1; i < NL - 1; i++) r->v[i] = subc_cc(K.p2[i], a->v[i]);
    r->v[NL - 1] = subc(K.p2[NL - 1], a->v[NL - 1]);
}

/* r = a + b mod 2p */
DEV_FN void fe_add(fe_t *r, const fe_t *a, const fe_t *b)
{
    fe_t t;
    fe_neg(&t, b);
    fe_sub(r, a, &t);
}

DEV_FN void fe_dbl(fe_t *r, const fe_t *a) { fe_add(r, a, a); }

DEV_FN void fe_select(fe_t *r, const fe_t *yes, const fe_t *no, bool flag)
{
    UNROLL for (int i = 0; i < NL; i++) r->v[i] = flag ? yes->v[i] : no->v[i];
}
DEV_FN void fe_cmov(fe_t *r, const fe_t *a, bool flag) { fe_select(r, a, r, flag); }

DEV_FN void fe_cneg(fe_t *r, const fe_t *a, bool flag)
{
    fe_t t;
    fe_neg(&t, a);
    fe_select(r, &t, a, flag);
}

/* r = a b + c d with one reduction.  Only where 4p < R. */
DEV_FN void fe_dot(fe_t *r, const fe_t *a, const fe_t *b, const fe_t *c, const fe_t *d)
{
    uint32_t x[NL + 2], y[NL + 2], low = 0, *e = x, *o = y;
    UNROLL for (int k = 0; k < NL; k++) {
        CAT(FE, _acc_mul)(e, o, low, a->v, b->v[k], k == 0, true, true);
        CAT(FE, _acc_mul)(e, o, 0, c->v, d->v[k], false, false, false);
        CAT(FE, _acc_redc)(e, o);
        low = e[1];
        uint32_t *t = e;
        e = o;
        o = t;
    }
    CAT(FE, _acc_end)(r, e, o, low);
    if (NL == 8) { /* up to 2.6 p on BN254, 1.9 p on BLS12-381 */
        FE_CONSTANTS;
        fe_t p2;
        UNROLL for (int i = 0; i < NL; i++) p2.v[i] = K.p2[i];
        fe_sub(r, r, &p2);
    }
}

/* r = a b + c d + e f + g h with one reduction.  Only for 12 limbs of 381 bits: (8 + 1) p 2^32 fits the accumulator. */
DEV_FN void fe_dot4(fe_t *r, const fe_t *a, const fe_t *b, const fe_t *c, const fe_t *d, const fe_t *e4, const fe_t *f, const fe_t *g, const fe_t *h)
{
    FE_CONSTANTS;
    uint32_t x[NL + 2], y[NL + 2], low = 0, *e = x, *o = y;
    UNROLL for (int k = 0; k < NL; k++) {
        CAT(FE, _acc_mul)(e, o, low, a->v, b->v[k], k == 0, true, true);
        CAT(FE, _acc_mul)(e, o, 0, c->v, d->v[k], false, false, false);
        CAT(FE, _acc_mul)(e, o, 0, e4->v, f->v[k], false, false, false);
        CAT(FE, _acc_mul)(e, o, 0, g->v, h->v[k], false, false, false);
        CAT(FE, _acc_redc)(e, o);
        low = e[1];
        uint32_t *t = e;
        e = o;
        o = t;
    }
    CAT(FE, _acc_end)(r, e, o, low);
    fe_t p2; /* below 2.7 p */
    UNROLL for (int i = 0; i < NL; i++) p2.v[i] = K.p2[i];
    fe_sub(r, r, &p2);
}

/* r = t / R, of a square or of sums of products: the low half is reduced, all steps but the last two by folding, and the high half is added. */
DEV_FN void CAT(FE, _redc_wide)(fe_t *r, const uint32_t *t)
{
    FE_CONSTANTS;
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

/* r = a^2: products of different words once and doubled, then the squares. */
DEV_FN void fe_sqr(fe_t *r, const fe_t *a)
{
    uint32_t w[2 * NL], q[2 * NL];
    UNROLL for (int i = 0; i < NL - 1; i++) {
        /* two chains of products a[i] a[j], j > i: one ends at j = NL - 1, one at NL - 2; even sums i + j go to w, odd to q */
        const int jt = NL - 1 - ((NL - 2 - i) & ~1), js = NL - 2 - ((NL - 3 - i) & ~1), nt = NL - jt, ns = NL - 1 - js;
        uint32_t *t = ((i + jt) & 1) ? q + i + jt - 1 : w + i + jt;
        if (i == 0 || nt <= 2) CAT(FE, _row_mul)(t, a->v + jt, a->v[i], nt);
        else CAT(FE, _row_mad)(t, t, a->v + jt, a->v[i], nt, false, true, 0);
        if (i == NL - 2) break;
        uint32_t *s = ((i + js) & 1) ? q + i + js - 1 : w + i + js;
        if (i == 0) {
            CAT(FE, _row_mul)(s, a->v + js, a->v[0], ns);
        } else {
            CAT(FE, _row_mad)(s, s, a->v + js, a->v[i], ns, false, false, 0);
            t[((nt - 1) & ~1) + 1] = addc(t[((nt - 1) & ~1) + 1], 0);
        }
    }
    w[1] = q[0];
    w[2] = add_cc(w[2], q[1]);
    UNROLL for (int k = 3; k < 2 * NL - 2; k++) w[k] = addc_cc(w[k], q[k - 1]);
    w[2 * NL - 2] = addc(q[2 * NL - 3], 0);
    w[1] = add_cc(w[1], w[1]);
    UNROLL for (int k = 2; k < 2 * NL - 1; k++) w[k] = addc_cc(w[k], w[k]);
    w[2 * NL - 1] = addc(0, 0);
    w[0] = mad_lo_cc(a->v[0], a->v[0], 0);
    w[1] = madc_hi_cc(a->v[0], a->v[0], w[1]);
    UNROLL for (int i = 1; i < NL; i++) {
        w[2 * i] = madc_lo_cc(a->v[i], a->v[i], w[2 * i]);
        w[2 * i + 1] = madc_hi_cc(a->v[i], a->v[i], w[2 * i + 1]);
    }
    CAT(FE, _redc_wide)(r, w);
}

/* a = 0 mod p, for a in [0, 2p]; the low word decides almost always */
DEV_FN bool fe_is_zero(const fe_t *a)
{
    FE_CONSTANTS;
    if (a->v[0] != 0 && a->v[0] != K.p[0] && a->v[0] != K.p2[0]) return false;
    uint32_t x = 0, y = 0, z = 0;
    UNROLL for (int i = 0; i < NL; i++) {
        x |= a->v[i];
        y |= a->v[i] ^ K.p[i];
        z |= a->v[i] ^ K.p2[i];
    }
    return !x || !y || !z;
}

DEV_FN void fe_set_zero(fe_t *r)
{
    UNROLL for (int i = 0; i < NL; i++) r->v[i] = 0;
}
DEV_FN void fe_set_one(fe_t *r)
{
    FE_CONSTANTS;
    UNROLL for (int i = 0; i < NL; i++) r->v[i] = K.one[i];
}

/* a in [0, 2p) becomes canonical */
DEV_FN void fe_canon_once(fe_t *a)
{
    FE_CONSTANTS;
    fe_t t;
    t.v[0] = sub_cc(a->v[0], K.p[0]);
    UNROLL for (int i = 1; i < NL; i++) t.v[i] = subc_cc(a->v[i], K.p[i]);
    const uint32_t below = subc(0, 0);
    fe_select(a, a, &t, below != 0);
}

/* a in [0, 2p] becomes canonical */
DEV_FN void fe_canon(fe_t *a)
{
    fe_canon_once(a);
    fe_canon_once(a);
}

#include "backend/cuda/fe_inverse.inc.h"

#if defined(__CUDACC__) || defined(CUZK_CUDA_EMULATED)
/* 16-byte words of memory, `stride` of them apart; the address must be 16-byte aligned. */
static __device__ __forceinline__ void fe_read(fe_t *r, const void *from, const int stride)
{
    UNROLL for (int i = 0; i < NL / 4; i++) {
        const uint4 t = ((const uint4 *)from)[i * stride];
        r->v[4 * i] = t.x;
        r->v[4 * i + 1] = t.y;
        r->v[4 * i + 2] = t.z;
        r->v[4 * i + 3] = t.w;
    }
}
static __device__ __forceinline__ void fe_read_const(fe_t *r, const void *from)
{
    UNROLL for (int i = 0; i < NL / 4; i++) {
        const uint4 t = __ldg((const uint4 *)from + i);
        r->v[4 * i] = t.x;
        r->v[4 * i + 1] = t.y;
        r->v[4 * i + 2] = t.z;
        r->v[4 * i + 3] = t.w;
    }
}
static __device__ __forceinline__ void fe_write(void *to, const fe_t *a, const int stride)
{
    UNROLL for (int i = 0; i < NL / 4; i++)
        ((uint4 *)to)[i * stride] = make_uint4(a->v[4 * i], a->v[4 * i + 1], a->v[4 * i + 2], a->v[4 * i + 3]);
}
#endif

#include "backend/cuda/fe_device_unnames.h"
#undef FE_WORDS
#undef FE_CONSTANTS
#undef NL
