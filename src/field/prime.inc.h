/* A prime field in Montgomery form: the portable definition of every operation.
 *
 * Takes  FE        prefix, e.g. bn254_fp      FE_UPPER  prefix of the generated constants, e.g. BN254_FP
 *        FE_MUL_OVERRIDE  if defined, fe_mul and fe_sqr come from elsewhere (assembly, PTX), declared before this file
 *        FE_ADD_OVERRIDE, FE_SUB_OVERRIDE  likewise fe_add with fe_dbl, and fe_sub with fe_neg
 * Leaves no macro behind but these.
 *
 * fe_t holds x * R mod p, R = 2^(64 * words), always reduced to [0, p).  fe_int holds a plain integer.  The two are different
 * types, so that they cannot be confused.  All operations are total, allocate nothing and may alias out with in.  Timing depends
 * on values only where a name ends in _inv, _pow, _sqrt, _is_*, _eq or _lex_larger.
 * Multiplication: CIOS with the carry-free shortcut for moduli whose top bit is clear (Botrel, El Housni, "EdMSM", 2022, alg. 2). */
#include "field/limb.h"
#include "field/fe_names.h"
#include "base/bytes.h"

#define FE_WORDS    CAT(FE_UPPER, _WORDS)
#define FE_BITS     CAT(FE_UPPER, _BITS)
#define FE_LIMBS    (FE_WORDS * LIMBS_PER_WORD)
#define FE_LIMBC(n) CAT(CAT(FE_UPPER, n), LIMB_BITS)

typedef struct {
    uint64_t l[FE_WORDS];
} fe_t; /* Montgomery form, < p */
typedef struct {
    uint64_t l[FE_WORDS];
} fe_int; /* plain integer, little-endian words */
typedef union {
    uint64_t w[FE_WORDS];
    limb_t v[FE_LIMBS];
} fe_u; /* the same bytes as limbs of the target */

DEV_FN void fe_set_zero(fe_t *r)
{
    UNROLL for (int i = 0; i < FE_WORDS; i++) r->l[i] = 0;
}

DEV_FN void fe_set_one(fe_t *r)
{
    const uint64_t one[FE_WORDS] = CAT(FE_UPPER, _R1_64);
    UNROLL for (int i = 0; i < FE_WORDS; i++) r->l[i] = one[i];
}

DEV_FN bool fe_is_zero(const fe_t *a)
{
    uint64_t x = 0;
    UNROLL for (int i = 0; i < FE_WORDS; i++) x |= a->l[i];
    return x == 0;
}

DEV_FN bool fe_eq(const fe_t *a, const fe_t *b)
{
    uint64_t x = 0;
    UNROLL for (int i = 0; i < FE_WORDS; i++) x |= a->l[i] ^ b->l[i];
    return x == 0;
}

DEV_FN bool fe_is_one(const fe_t *a)
{
    fe_t one;
    fe_set_one(&one);
    return fe_eq(a, &one);
}

/* r = flag ? a : r */
DEV_FN void fe_cmov(fe_t *r, const fe_t *a, bool flag)
{
    const uint64_t mask = (uint64_t)0 - (uint64_t)flag;
    UNROLL for (int i = 0; i < FE_WORDS; i++) r->l[i] ^= mask & (r->l[i] ^ a->l[i]);
}

/* t (one limb wider than p in t_top) minus p if that is not negative. */
DEV_FN void CAT(FE, _reduce_once)(fe_t *r, const limb_t *t, limb_t t_top)
{
    const limb_t p[FE_LIMBS] = FE_LIMBC(_P_);
    fe_u d;
    limb_t borrow = 0;
    UNROLL for (int i = 0; i < FE_LIMBS; i++) d.v[i] = limb_sbb(t[i], p[i], &borrow);
    const limb_t keep = (limb_t)0 - (limb_t)(borrow & (limb_t)(t_top == 0)); /* all ones: t < p */
    UNROLL for (int i = 0; i < FE_LIMBS; i++) d.v[i] ^= keep & (d.v[i] ^ t[i]);
    UNROLL for (int i = 0; i < FE_WORDS; i++) r->l[i] = d.w[i];
}

DEV_FN void fe_add_ref(fe_t *r, const fe_t *a, const fe_t *b)
{
    fe_u x, y;
    limb_t carry = 0, t[FE_LIMBS];
    UNROLL for (int i = 0; i < FE_WORDS; i++) { x.w[i] = a->l[i]; y.w[i] = b->l[i]; }
    UNROLL for (int i = 0; i < FE_LIMBS; i++) t[i] = limb_adc(x.v[i], y.v[i], &carry);
    CAT(FE, _reduce_once)(r, t, carry);
}

DEV_FN void fe_sub_ref(fe_t *r, const fe_t *a, const fe_t *b)
{
    const limb_t p[FE_LIMBS] = FE_LIMBC(_P_);
    fe_u x, y;
    limb_t borrow = 0, carry = 0;
    UNROLL for (int i = 0; i < FE_WORDS; i++) { x.w[i] = a->l[i]; y.w[i] = b->l[i]; }
    UNROLL for (int i = 0; i < FE_LIMBS; i++) x.v[i] = limb_sbb(x.v[i], y.v[i], &borrow);
    const limb_t mask = (limb_t)0 - borrow;
    UNROLL for (int i = 0; i < FE_LIMBS; i++) x.v[i] = limb_adc(x.v[i], p[i] & mask, &carry);
    UNROLL for (int i = 0; i < FE_WORDS; i++) r->l[i] = x.w[i];
}

#ifndef FE_ADD_OVERRIDE
DEV_FN void fe_add(fe_t *r, const fe_t *a, const fe_t *b) { fe_add_ref(r, a, b); }
#else
DEV_FN void fe_add(fe_t *r, const fe_t *a, const fe_t *b) { FE_ADD_OVERRIDE(r->l, a->l, b->l); }
#endif
#ifndef FE_SUB_OVERRIDE
DEV_FN void fe_sub(fe_t *r, const fe_t *a, const fe_t *b) { fe_sub_ref(r, a, b); }
#else
DEV_FN void fe_sub(fe_t *r, const fe_t *a, const fe_t *b) { FE_SUB_OVERRIDE(r->l, a->l, b->l); }
#endif

DEV_FN void fe_dbl(fe_t *r, const fe_t *a) { fe_add(r, a, a); }

DEV_FN void fe_neg(fe_t *r, const fe_t *a)
{
    fe_t zero;
    fe_set_zero(&zero);
    fe_sub(r, &zero, a);
}

/* r = a / 2 */
DEV_FN void fe_halve(fe_t *r, const fe_t *a)
{
    const limb_t p[FE_LIMBS] = FE_LIMBC(_P_);
    fe_u x;
    limb_t carry = 0;
    UNROLL for (int i = 0; i < FE_WORDS; i++) x.w[i] = a->l[i];
    const limb_t mask = (limb_t)0 - (x.v[0] & 1);
    UNROLL for (int i = 0; i < FE_LIMBS; i++) x.v[i] = limb_adc(x.v[i], p[i] & mask, &carry);
    UNROLL for (int i = 0; i < FE_LIMBS; i++)
        x.v[i] = (x.v[i] >> 1) | ((i + 1 < FE_LIMBS ? x.v[i + 1 < FE_LIMBS ? i + 1 : i] : carry) << (LIMB_BITS - 1));
    UNROLL for (int i = 0; i < FE_WORDS; i++) r->l[i] = x.w[i];
}

/* The partner of every faster multiplication: self-test and tests compare with it.  Six words would inline hundreds of instructions
 * a product, so on the host they are a call. */
#if defined(__CUDA_ARCH__) || FE_WORDS <= 4
#define FE_REF_FN DEV_FN
#else
#define FE_REF_FN DEV_FN_BIG
#endif
FE_REF_FN void fe_mul_ref(fe_t *r, const fe_t *a, const fe_t *b)
{
    const limb_t p[FE_LIMBS] = FE_LIMBC(_P_);
    const limb_t inv = (limb_t)CAT(FE_UPPER, _INV);
    fe_u x, y;
    limb_t t[FE_LIMBS];
    UNROLL for (int i = 0; i < FE_WORDS; i++) { x.w[i] = a->l[i]; y.w[i] = b->l[i]; }
    UNROLL for (int i = 0; i < FE_LIMBS; i++) t[i] = 0;
    UNROLL for (int i = 0; i < FE_LIMBS; i++) {
        limb_t hi = 0, carry = 0;
        const limb_t t0 = limb_mac(t[0], x.v[0], y.v[i], &hi);
        const limb_t m = t0 * inv;
        (void)limb_mac(t0, m, p[0], &carry);
        UNROLL for (int j = 1; j < FE_LIMBS; j++) {
            const limb_t s = limb_mac(t[j], x.v[j], y.v[i], &hi);
            t[j - 1] = limb_mac(s, m, p[j], &carry);
        }
        t[FE_LIMBS - 1] = hi + carry;
    }
    CAT(FE, _reduce_once)(r, t, 0);
}

#ifndef FE_MUL_OVERRIDE
DEV_FN void fe_mul(fe_t *r, const fe_t *a, const fe_t *b) { fe_mul_ref(r, a, b); }
DEV_FN void fe_sqr(fe_t *r, const fe_t *a) { fe_mul_ref(r, a, a); }
#else
DEV_FN void fe_mul(fe_t *r, const fe_t *a, const fe_t *b) { FE_MUL_OVERRIDE(r->l, a->l, b->l); }
DEV_FN void fe_sqr(fe_t *r, const fe_t *a) { FE_MUL_OVERRIDE(r->l, a->l, a->l); }
#endif

/* a < p, as integers */
DEV_FN bool fe_int_is_canonical(const fe_int *a)
{
    const uint64_t p[FE_WORDS] = CAT(FE_UPPER, _P_64);
    for (int i = FE_WORDS - 1; i >= 0; i--)
        if (a->l[i] != p[i]) return a->l[i] < p[i];
    return false;
}

DEV_FN int fe_int_cmp(const fe_int *a, const fe_int *b)
{
    for (int i = FE_WORDS - 1; i >= 0; i--)
        if (a->l[i] != b->l[i]) return a->l[i] < b->l[i] ? -1 : 1;
    return 0;
}

/* In: any a < 2^(64 words).  Out: its class mod p. */
DEV_FN void fe_from_int(fe_t *r, const fe_int *a)
{
    const uint64_t r2[FE_WORDS] = CAT(FE_UPPER, _R2_64);
    fe_t x, y;
    UNROLL for (int i = 0; i < FE_WORDS; i++) { x.l[i] = r2[i]; y.l[i] = a->l[i]; }
    fe_mul_ref(r, &x, &y); /* x < p, so the product is below 2p before the last subtraction even if a >= p */
}

DEV_FN void fe_to_int(fe_int *r, const fe_t *a)
{
    fe_t one;
    fe_set_zero(&one);
    one.l[0] = 1;
    fe_mul_ref(&one, a, &one);
    UNROLL for (int i = 0; i < FE_WORDS; i++) r->l[i] = one.l[i];
}

DEV_FN void fe_from_u64(fe_t *r, uint64_t v)
{
    fe_int x;
    UNROLL for (int i = 0; i < FE_WORDS; i++) x.l[i] = 0;
    x.l[0] = v;
    fe_from_int(r, &x);
}

/* Montgomery words in memory at any alignment, little-endian: the form of zkey points. */
DEV_FN void fe_load(fe_t *r, const uint8_t *bytes) { memcpy(r->l, bytes, sizeof r->l); }
DEV_FN void fe_store(uint8_t *bytes, const fe_t *a) { memcpy(bytes, a->l, sizeof a->l); }
DEV_FN void fe_load_int(fe_int *r, const uint8_t *bytes) { memcpy(r->l, bytes, sizeof r->l); }
DEV_FN void fe_store_int(uint8_t *bytes, const fe_int *a) { memcpy(bytes, a->l, sizeof a->l); }

/* Whether the words are below p: for Montgomery words that come from outside. */
DEV_FN bool fe_is_canonical(const fe_t *a)
{
    fe_int x;
    UNROLL for (int i = 0; i < FE_WORDS; i++) x.l[i] = a->l[i];
    return fe_int_is_canonical(&x);
}

/* Plain big-endian bytes, sizeof(fe_t) of them.  False (and r = 0) if the integer is not below p. */
HOST_FN bool fe_load_be(fe_t *r, const uint8_t *bytes)
{
    fe_int x;
    words_from_be(x.l, bytes, FE_WORDS);
    if (!fe_int_is_canonical(&x)) {
        fe_set_zero(r);
        return false;
    }
    fe_from_int(r, &x);
    return true;
}

HOST_FN void fe_store_be(uint8_t *bytes, const fe_t *a)
{
    fe_int x;
    fe_to_int(&x, a);
    words_to_be(bytes, x.l, FE_WORDS);
}

/* Plain integers in a wider array: words of them, the ones beyond the field's must be zero.  False (and r = 0) if not below p.
 * An extension takes its coefficients one after the other, each in so many words. */
DEV_FN bool fe_from_plain(fe_t *r, const uint64_t *w, int words)
{
    fe_int x;
    uint64_t beyond = 0;
    for (int i = 0; i < FE_WORDS; i++) x.l[i] = w[i];
    for (int i = FE_WORDS; i < words; i++) beyond |= w[i];
    if (beyond != 0 || !fe_int_is_canonical(&x)) {
        fe_set_zero(r);
        return false;
    }
    fe_from_int(r, &x);
    return true;
}

DEV_FN void fe_to_plain(uint64_t *w, int words, const fe_t *a)
{
    fe_int x;
    fe_to_int(&x, a);
    for (int i = 0; i < words; i++) w[i] = i < FE_WORDS ? x.l[i] : 0;
}

/* An integer of twice the field's width, reduced: low + high * R. */
DEV_FN void fe_from_wide(fe_t *r, const uint64_t *w)
{
    const uint64_t r2[FE_WORDS] = CAT(FE_UPPER, _R2_64);
    fe_int half;
    fe_t low, high, shift;
    UNROLL for (int i = 0; i < FE_WORDS; i++) half.l[i] = w[i];
    fe_from_int(&low, &half);
    UNROLL for (int i = 0; i < FE_WORDS; i++) { half.l[i] = w[FE_WORDS + i]; shift.l[i] = r2[i]; }
    fe_from_int(&high, &half);
    fe_mul_ref(&high, &high, &shift); /* shift is R in Montgomery form */
    fe_add(r, &low, &high);
}

/* r = a^e, e in words little-endian.  Variable time in e; windows of four bits. */
DEV_FN_BIG void fe_pow(fe_t *r, const fe_t *a, const uint64_t *e, int e_words)
{
    fe_t acc, table[15]; /* table[i] = a^(i + 1) */
    bool started = false;
    table[0] = *a;
    for (int i = 1; i < 15; i++) fe_mul(&table[i], &table[i - 1], a);
    fe_set_one(&acc);
    for (int i = 64 * e_words - 4; i >= 0; i -= 4) {
        const unsigned digit = (unsigned)(e[i / 64] >> (i % 64)) & 15;
        if (started)
            for (int j = 0; j < 4; j++) fe_sqr(&acc, &acc);
        if (digit != 0) {
            fe_mul(&acc, &acc, &table[digit - 1]);
            started = true;
        }
    }
    *r = acc;
}

#if defined(__CUDA_ARCH__)
/* r = 1 / a; 0 gives 0.  Fermat: a^(p-2), which keeps a warp together. */
DEV_FN_BIG void fe_inv(fe_t *r, const fe_t *a)
{
    const uint64_t e[FE_WORDS] = CAT(FE_UPPER, _P_MINUS_2_64);
    fe_pow(r, a, e, FE_WORDS);
}
#else
#include "field/divstep.h"

/* r = 1 / a; 0 gives 0.  Variable time: division steps (divstep.h), then one product with R^3 to be in Montgomery form again. */
DEV_FN_BIG void fe_inv(fe_t *r, const fe_t *a)
{
    const uint64_t p[FE_WORDS] = CAT(FE_UPPER, _P_64), r3[FE_WORDS] = CAT(FE_UPPER, _R3_64);
    fe_t x, y;
    divstep_inverse(x.l, a->l, p, CAT(FE_UPPER, _INV), FE_WORDS, FE_BITS / 62 + 1);
    UNROLL for (int i = 0; i < FE_WORDS; i++) y.l[i] = r3[i];
    fe_mul_ref(r, &x, &y);
}
#endif

/* Whether a is a square (0 is). */
DEV_FN_BIG bool fe_is_square(const fe_t *a)
{
    const uint64_t e[FE_WORDS] = CAT(FE_UPPER, _P_MINUS_1_HALF_64);
    fe_t t;
    fe_pow(&t, a, e, FE_WORDS);
    return fe_is_zero(&t) || fe_is_one(&t);
}

#include "field/fe_unnames.h"
#undef FE_WORDS
#undef FE_REF_FN
#undef FE_BITS
#undef FE_LIMBS
#undef FE_LIMBC
