/* Optimal ate pairings, products of them, and values in GT.  For verification; the proving path never includes this. */
#ifndef CUZK_PAIRING_PAIRING_H
#define CUZK_PAIRING_PAIRING_H

#include "curve/curve.h"

/* An element of Fp12 = Fp6[w] / (w^2 - v), Fp6 = Fp2[v] / (v^3 - xi), Montgomery form, c0.c0.c0 ... c1.c2.c1; BN254 uses 48 words. */
struct gt {
    uint64_t w[72];
};

/** Product of e(g1[i], g2[i]) after the final exponentiation; pairs with infinity on either side count as 1.
 * In    g1, g2  count affine points, on the curve and in the subgroup (not checked here).
 * Out   e is the optimal ate pairing to a fixed power prime to r, the one of snarkjs and of most libraries: 2x (6x^2 + 3x + 1) on
 *       BN254, 3 on BLS12-381.
 * Thread  any; allocates nothing, 16 KiB of stack.
 * Cost  count Miller loops, 16 of them sharing squarings, and one final exponentiation; about 1.0 + 0.3 (count - 1) ms on BN254 and
 *       1.5 + 0.4 (count - 1) ms on BLS12-381 (bench_pairing, one core of a 2020s server).  Time depends on the points: nothing secret. */
void pairing_product(const struct curve *c, struct gt *out, const struct g_aff *g1, const struct g_aff *g2,
                     size_t count);
bool pairing_product_is_one(const struct curve *c, const struct g_aff *g1, const struct g_aff *g2,
                            size_t count);

/* The lines of a Miller loop over one point of G2, for points that are paired again and again.  20 KiB, whatever the curve. */
enum { PAIRING_LINES_WORDS = 69 * 36 };
struct pairing_lines {
    uint64_t w[PAIRING_LINES_WORDS];
};
void pairing_prepare(const struct curve *c, struct pairing_lines *out, const struct g_aff *g2);

/** A pairing in parts: the product of Miller loops, and what makes it the product of pairings; pairing_product does both.  A product
 * of Miller loops times another (gt_mul) is that of all their pairs; nothing else is to be done with it before pairing_finish.
 * In    lines  count pointers, each NULL or what pairing_prepare made of g2[i]; NULL: none
 * Cost  of a pair with lines two thirds of one without. */
void pairing_miller(const struct curve *c, struct gt *out, const struct g_aff *g1, const struct g_aff *g2,
                    const struct pairing_lines *const *lines, size_t count);
void pairing_finish(const struct curve *c, struct gt *out, const struct gt *miller);

/* Elements of GT, that is, products and powers of pairings; r may be a or b. */
void gt_mul(const struct curve *c, struct gt *r, const struct gt *a, const struct gt *b);
void gt_pow(const struct curve *c, struct gt *r, const struct gt *a, const struct fr_int *e);
bool gt_eq(const struct curve *c, const struct gt *a, const struct gt *b);
/** The 12 coefficients as plain integers in snarkjs's order: [c0,c1] of [3] of [2]. */
void gt_to_plain(const struct curve *c, struct fp_int coefficients[12], const struct gt *a);

#endif
