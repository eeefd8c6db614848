/* Optimal ate pairings, products of them, and values in GT.  For verification; the proving path never includes this. */
#ifndef CUZK_PAIRING_PAIRING_H
#define CUZK_PAIRING_PAIRING_H

#include "curve/curve.h"

struct gt { uint64_t w[72]; }; /* an element of Fp12 in Montgomery form, tower order c0.c0.c0 ... c1.c2.c1; BN254 uses 48 words */

/** product of e(g1[i], g2[i]) after the final exponentiation; pairs with infinity on either side count as 1.
 * In  g1, g2  count affine points, on the curve and in the subgroup (not checked here).  Allocates nothing.
 * Cost  count Miller loops run in step (shared squarings), one final exponentiation. */
void pairing_product(const struct curve *c, struct gt *out, const struct g_aff *g1, const struct g_aff *g2, size_t count);
bool pairing_product_is_one(const struct curve *c, const struct g_aff *g1, const struct g_aff *g2, size_t count);

void gt_mul(const struct curve *c, struct gt *r, const struct gt *a, const struct gt *b);
void gt_pow(const struct curve *c, struct gt *r, const struct gt *a, const struct fr_int *e);
bool gt_eq(const struct curve *c, const struct gt *a, const struct gt *b);
/** The 12 coefficients as plain integers in snarkjs's order: [c0,c1] of [3] of [2]. */
void gt_to_plain(const struct curve *c, struct fp_int coefficients[12], const struct gt *a);

#endif
