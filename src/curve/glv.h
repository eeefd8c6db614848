/* Scalars split in two of half the length: k = k1 + lambda k2, for points with a cheap phi(P) = lambda P.
 *
 * Gallant, Lambert, Vanstone, "Faster point multiplication on elliptic curves with efficient endomorphisms", CRYPTO 2001.  The constants,
 * and that both halves stay below 2^127, are tools/gen_curve_params.py's. */
#ifndef CUZK_CURVE_GLV_H
#define CUZK_CURVE_GLV_H

#include "base/dialect.h"

#define GLV_WINDOWS 32 /* of four bits */

/* c_i = (k scale[i] + 2^319) >> 320; (k1, k2) = (k, 0) + c_1 row[0] + c_2 row[1], modulo 2^192. */
struct glv_lattice {
    uint64_t scale[2][4], row[2][2][3];
};

/* Both halves as they are multiplied with: |half| + sum of 7 16^w, so that digit w is nibble w minus 7. */
struct glv_scalar {
    uint64_t half[2][2];
    bool negative[2];
};

/* Digit w of a half: -7 .. 8. */
DEV_FN int glv_digit(const struct glv_scalar *s, int half, int w)
{
    return (int)(s->half[half][w / 16] >> (4 * (w % 16)) & 15) - 7;
}

/* out (words of 32 bits, out_count of them) += a b, cut off above */
DEV_FN_BIG void glv_multiply(uint32_t *out, int out_count, const uint64_t *a, int a_words, const uint64_t *b,
                             int b_words)
{
    for (int i = 0; i < 2 * a_words; i++) {
        const uint64_t x = (uint32_t)(a[i / 2] >> (32 * (i % 2)));
        uint64_t carry = 0;
        for (int j = 0; i + j < out_count; j++) {
            const uint64_t y = j < 2 * b_words ? (uint32_t)(b[j / 2] >> (32 * (j % 2))) : 0;
            carry += x * y + out[i + j];
            out[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
}

/* In: k below the group's order, four words. */
DEV_FN_BIG void glv_split(struct glv_scalar *r, const struct glv_lattice *l, const uint64_t *k)
{
    uint32_t product[2][16], half[2][6];
    uint64_t c[2][3];
    for (int i = 0; i < 2; i++) {
        for (int w = 0; w < 16; w++) product[i][w] = w == 9 ? (uint32_t)1 << 31 : 0;
        glv_multiply(product[i], 16, k, 4, l->scale[i], 4);
        for (int w = 0; w < 3; w++) c[i][w] = product[i][10 + 2 * w] | (uint64_t)product[i][11 + 2 * w] << 32;
    }
    for (int h = 0; h < 2; h++) {
        for (int w = 0; w < 6; w++) half[h][w] = h == 0 ? (uint32_t)(k[w / 2] >> (32 * (w % 2))) : 0;
        for (int i = 0; i < 2; i++) glv_multiply(half[h], 6, c[i], 3, l->row[i][h], 3);
        r->negative[h] = half[h][5] >> 31;
        uint64_t carry = r->negative[h];
        for (int w = 0; w < 4; w++) { /* |half|, and the sevens */
            carry += r->negative[h] ? (uint32_t)~half[h][w] : half[h][w];
            half[h][w] = (uint32_t)carry;
            carry >>= 32;
        }
        carry = 0;
        for (int w = 0; w < 4; w++) {
            carry += (uint64_t)half[h][w] + 0x77777777u;
            half[h][w] = (uint32_t)carry;
            carry >>= 32;
        }
        for (int w = 0; w < 2; w++) r->half[h][w] = half[h][2 * w] | (uint64_t)half[h][2 * w + 1] << 32;
    }
}

#endif
