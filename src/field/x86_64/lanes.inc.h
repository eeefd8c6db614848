/* Eight elements of a prime field side by side, in limbs of 52 bits, with AVX-512 IFMA.
 *
 * Takes  FE, FE_UPPER as prime.inc.h, which comes first
 * Leaves FE_x8 and functions on it (lanes_names.h); ifma/avx512f must be enabled for the translation unit.
 *
 * Products divide by R' = 2^(52 limbs), not by fe_t's R = 2^(64 words): R' = R 4^LANES_SHIFT.  Who multiplies accounts for it.  R' is more
 * than 64 p, so nothing is reduced between products: with a b <= 32 p^2 the result is below 1.5 p.  Limbs of operands are in
 * [0, 2^52); "loose" marks values with signed or longer limbs, which x8_carry mends.
 * Gueron, Krasnov, "Accelerating big integer arithmetic using Intel IFMA extensions", ARITH 2016. */
#include "field/fe_names.h"
#include "field/x86_64/lanes_names.h"

#define FE_WORDS CAT(FE_UPPER, _WORDS)
#define X8_LIMBS ((CAT(FE_UPPER, _BITS) + 6 + 51) / 52)

typedef struct {
    lanes_u l[X8_LIMBS];
} x8_t;

enum { CAT(FE, _x8_shift_bits) = (52 * X8_LIMBS - 64 * FE_WORDS) / 2 };

/* Limb i of p. */
DEV_FN uint64_t CAT(FE, _x8_p)(int i)
{
    const uint64_t p[FE_WORDS + 1] = CAT(FE_UPPER, _P_INV_64);
    const int word = 52 * i / 64, shift = 52 * i % 64;
    uint64_t v = p[word] >> shift;
    if (shift > 12 && word + 1 < FE_WORDS) v |= p[word + 1 < FE_WORDS ? word + 1 : word] << (64 - shift);
    return v & LANES_MASK;
}

/* Loose to proper limbs; the value is not negative. */
DEV_FN void x8_carry(x8_t *r)
{
    UNROLL for (int i = 0; i + 1 < X8_LIMBS; i++)
    {
        r->l[i + 1] += (lanes_u)((lanes_i)r->l[i] >> 52);
        r->l[i] &= LANES_MASK;
    }
}

/* From address[lane] + offset, any alignment. */
DEV_FN void x8_load(x8_t *r, lanes_u address, size_t offset)
{
    lanes_u w[FE_WORDS];
    UNROLL for (int i = 0; i < FE_WORDS; i++) w[i] = lanes_gather(address + (offset + 8 * (size_t)i));
    UNROLL for (int i = 0; i < X8_LIMBS; i++)
    {
        const int word = 52 * i / 64, shift = 52 * i % 64;
        r->l[i] = w[word] >> shift;
        if (shift > 12 && word + 1 < FE_WORDS) r->l[i] |= w[word + 1 < FE_WORDS ? word + 1 : word] << (64 - shift);
        r->l[i] &= LANES_MASK;
    }
}

/* In: a reduced. */
DEV_FN void x8_store(lanes_u address, size_t offset, const x8_t *a)
{
    UNROLL for (int i = 0; i < FE_WORDS; i++)
    {
        const int low = 64 * i / 52, shift = 64 * i % 52;
        lanes_u w = a->l[low] >> shift;
        UNROLL for (int j = 1; j < 3; j++)
            if (low + j < X8_LIMBS && 52 * j - shift < 64) w |= a->l[low + j < X8_LIMBS ? low + j : low] << (52 * j - shift);
        lanes_scatter(address + (offset + 8 * (size_t)i), w);
    }
}

/* r = a - b + k p, loose */
DEV_FN void x8_sub_loose(x8_t *r, const x8_t *a, const x8_t *b, uint64_t k)
{
    UNROLL for (int i = 0; i < X8_LIMBS; i++) r->l[i] = a->l[i] + k * CAT(FE, _x8_p)(i) - b->l[i];
}

/* r = a - b + k p */
DEV_FN void x8_sub(x8_t *r, const x8_t *a, const x8_t *b, uint64_t k)
{
    x8_sub_loose(r, a, b, k);
    x8_carry(r);
}

/* r = a + b */
DEV_FN void x8_add(x8_t *r, const x8_t *a, const x8_t *b)
{
    UNROLL for (int i = 0; i < X8_LIMBS; i++) r->l[i] = a->l[i] + b->l[i];
    x8_carry(r);
}

/* a = -a where mask is all ones, loose */
DEV_FN void x8_negate_where(x8_t *a, lanes_u mask)
{
    UNROLL for (int i = 0; i < X8_LIMBS; i++) a->l[i] = (a->l[i] ^ mask) - mask;
}

/* r = a 2^x8_shift_bits, proper limbs */
DEV_FN void x8_shift(x8_t *r, const x8_t *a)
{
    const int n = CAT(FE, _x8_shift_bits);
    for (int i = X8_LIMBS - 1; i >= 0; i--)
        r->l[i] = ((a->l[i] << n) & LANES_MASK) | (i > 0 ? a->l[i > 0 ? i - 1 : 0] >> (52 - n) : (lanes_u){ 0 });
}

/* [0, 4p) to [0, p) */
DEV_FN void x8_reduce(x8_t *r)
{
    UNROLL for (int k = 2; k > 0; k--)
    {
        x8_t d;
        UNROLL for (int i = 0; i < X8_LIMBS; i++) d.l[i] = r->l[i] - (uint64_t)k * CAT(FE, _x8_p)(i);
        x8_carry(&d);
        const lanes_u keep = (lanes_u)((lanes_i)d.l[X8_LIMBS - 1] >> 63);
        UNROLL for (int i = 0; i < X8_LIMBS; i++) d.l[i] ^= keep & (d.l[i] ^ r->l[i]);
        *r = d;
    }
}

/* t += low (or high) halves of a b */
DEV_FN void CAT(FE, _x8_row_low)(lanes_u *t, const x8_t *a, lanes_u b)
{
    UNROLL for (int j = 0; j < X8_LIMBS; j++) t[j] = lanes_low(t[j], a->l[j], b);
}

DEV_FN void CAT(FE, _x8_row_high)(lanes_u *t, const x8_t *a, lanes_u b)
{
    UNROLL for (int j = 0; j < X8_LIMBS; j++) t[j] = lanes_high(t[j], a->l[j], b);
}

/* r = (a b + c d) / R', the second product only if pair. */
DEV_FN void CAT(FE, _x8_dot)(x8_t *r, const x8_t *a, const x8_t *b, const x8_t *c, const x8_t *d, bool pair)
{
    const uint64_t words[FE_WORDS + 1] = CAT(FE_UPPER, _P_INV_64);
    const lanes_u inv = (lanes_u){ 0 } + (words[FE_WORDS] & LANES_MASK);
    x8_t p, t;
    UNROLL for (int j = 0; j < X8_LIMBS; j++)
    {
        p.l[j] = (lanes_u){ 0 } + CAT(FE, _x8_p)(j);
        t.l[j] = (lanes_u){ 0 };
    }
    UNROLL for (int i = 0; i < X8_LIMBS; i++)
    {
        CAT(FE, _x8_row_low)(t.l, a, b->l[i]);
        if (pair) CAT(FE, _x8_row_low)(t.l, c, d->l[i]);
        const lanes_u m = lanes_low((lanes_u){ 0 }, t.l[0], inv);
        CAT(FE, _x8_row_low)(t.l, &p, m);
        t.l[1] += t.l[0] >> 52; /* the lower 52 bits are zero now */
        UNROLL for (int j = 0; j + 1 < X8_LIMBS; j++) t.l[j] = t.l[j + 1];
        t.l[X8_LIMBS - 1] = (lanes_u){ 0 };
        CAT(FE, _x8_row_high)(t.l, a, b->l[i]);
        if (pair) CAT(FE, _x8_row_high)(t.l, c, d->l[i]);
        CAT(FE, _x8_row_high)(t.l, &p, m);
    }
    x8_carry(&t);
    *r = t;
}

DEV_FN_BIG void x8_mul(x8_t *r, const x8_t *a, const x8_t *b) { CAT(FE, _x8_dot)(r, a, b, a, b, false); }
DEV_FN void x8_sqr(x8_t *r, const x8_t *a) { x8_mul(r, a, a); }

#include "field/fe_unnames.h"
#include "field/x86_64/lanes_unnames.h"
#undef FE_WORDS
#undef X8_LIMBS
