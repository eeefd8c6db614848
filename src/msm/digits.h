/* Recoding of scalars into signed digits.
 *
 * A scalar k is replaced by min(k, r - k) and a sign.  Signed digits of c bits need a carry from window to window; adding the constant
 * sum 2^(c-1) 2^(c w) over all windows but the top one makes each digit readable by itself: digit w of k is the unsigned window w of
 * the sum, minus 2^(c-1).  The top digit is unsigned. */
#ifndef CUZK_MSM_DIGITS_H
#define CUZK_MSM_DIGITS_H

#include "base/dialect.h"

#define DIGITS_SIGN ((uint64_t)1 << 63) /* in word 3: the scalar was negated */

/* Windows that scalars of at most bits bits need. */
DEV_FN unsigned digits_windows(unsigned bits, unsigned c) { return bits / c + 1; }

/* r = a - b, four words; returns the borrow. */
DEV_FN uint64_t digits_sub(uint64_t *r, const uint64_t *a, const uint64_t *b)
{
    uint64_t borrow = 0;
    UNROLL for (int i = 0; i < 4; i++)
    {
        const uint64_t d = a[i] - b[i], out = d - borrow;
        borrow = (uint64_t)(a[i] < b[i]) | (uint64_t)(d < borrow);
        r[i] = out;
    }
    return borrow;
}

/* k = min(k, modulus - k) for k < modulus; returns whether it was negated. */
DEV_FN bool digits_fold(uint64_t *k, const uint64_t *modulus)
{
    uint64_t other[4], t[4];
    (void)digits_sub(other, modulus, k);
    if (!digits_sub(t, other, k)) return false; /* modulus - k >= k */
    UNROLL for (int i = 0; i < 4; i++) k[i] = other[i];
    return true;
}

DEV_FN bool digits_is_below(const uint64_t *k, const uint64_t *modulus)
{
    uint64_t t[4];
    return digits_sub(t, k, modulus) != 0;
}

DEV_FN unsigned digits_bit_length(const uint64_t *k)
{
    for (int i = 3; i >= 0; i--)
        if (k[i] != 0) return (unsigned)(64 * i + 64 - __builtin_clzll(k[i]));
    return 0;
}

/* The constant to add, for windows windows of c bits; c (windows - 1) <= 254. */
DEV_FN void digits_offset(uint64_t *offset, unsigned c, unsigned windows)
{
    for (int i = 0; i < 4; i++) offset[i] = 0;
    for (unsigned w = 0; w + 1 < windows; w++) {
        const unsigned bit = c * w + c - 1;
        offset[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
}

/* out = k + offset with the sign in DIGITS_SIGN; k < 2^254. */
DEV_FN void digits_recode(uint64_t *out, const uint64_t *k, const uint64_t *offset, bool negative)
{
    uint64_t carry = 0;
    UNROLL for (int i = 0; i < 4; i++)
    {
        const uint64_t s = k[i] + offset[i], t = s + carry;
        carry = (uint64_t)(s < k[i]) | (uint64_t)(t < s);
        out[i] = t;
    }
    if (negative) out[3] |= DIGITS_SIGN;
}

/* Digit w of a recoded scalar, its sign applied: in [-2^(c-1), 2^(c-1)]. */
DEV_FN int32_t digits_get(const uint64_t *recoded, unsigned c, unsigned w, unsigned windows)
{
    const unsigned bit = c * w, at = bit / 64, shift = bit % 64;
    const uint64_t top = recoded[3] & ~DIGITS_SIGN;
    uint64_t v = (at == 3 ? top : recoded[at]) >> shift;
    if (shift + c > 64 && at < 3) v |= (at == 2 ? top : recoded[at + 1]) << (64 - shift);
    int32_t d = (int32_t)(v & (((uint64_t)1 << c) - 1));
    if (w + 1 < windows) d -= (int32_t)1 << (c - 1);
    return recoded[3] & DIGITS_SIGN ? -d : d;
}

#endif
