/* C into L: what the coefficients of the circuit's matrix C take from each point of L. */
#ifndef CUZK_GROTH16_DERIVE_FOLD_H
#define CUZK_GROTH16_DERIVE_FOLD_H

#include "groth16/derive.h"

/** l_k -= sum over rows i of C_ik LD_i, for every variable.
 * In      ld  domain.size affine points, Montgomery, packed
 * In-out  l   a point a variable
 * Cost    two walks over the circuit, its pieces (constraints.h) on t->pool; an addition a coefficient; a doubling and a share of an inversion for each that
 *         is neither 1 nor -1, where a row's are powers of two.  Memory: 8 bytes a variable, 4 a coefficient, a point for each that is neither. */
cuzk_status derive_fold(struct task *t, const struct groth16_key *key, const struct constraints *circuit,
                        const uint8_t *ld, uint8_t *l,
                        const struct groth16_derive_options *options) MUST_CHECK;

#endif
