/* Making a derived key: H in Lagrange form on the coset, C folded into L.  docs/maths.md, "The derived key".
 *
 * With T the transform from values on the domain to values on its coset (snarkjs), or to coefficients (bellman, times 1 / (shift^n - 1)):
 *   Lc   what the values of A B on the coset are multiplied with: bellman T^t of the coset's transform; snarkjs the key's own H
 *   LD   T^t H, what C's values on the domain would be multiplied with
 *   L'_k = L_k - sum C_ik LD_i for the variables that are no inputs;   Delta-IC_k = - sum C_ik LD_i for the inputs
 * so that sum (A B)_i Lc_i + sum w_k L'_k + sum w_k Delta-IC_k is the old sum of H and L for every witness that satisfies. */
#ifndef CUZK_GROTH16_DERIVE_H
#define CUZK_GROTH16_DERIVE_H

#include "groth16/key.h"

/* Affine points, Montgomery, packed. */
struct derived_points {
    uint8_t *l;  /* a point a variable: Delta-IC, then L' */
    uint8_t *lc; /* domain.size points; NULL: snarkjs */
    uint8_t *ld; /* domain.size points; only needed while the others are made and checked */
};

/** Makes the points.
 * In      key      original (h_mode), with its circuit
 * Cost    two transforms over the domain's points (bellman three products of points by scalars a point more) on the device; one addition, or
 *         one product by a scalar, for each coefficient of C on t->pool; 12 bytes a coefficient. */
cuzk_status groth16_derive_points(struct derived_points *out, struct task *t, const struct groth16_key *key,
                                  const struct backend *backend, struct device *device) MUST_CHECK;

/** Whether they are what they should be, by random linear combinations with fresh weights from the operating system; a wrong point passes with
 * probability 1 / r.
 * Errors  CUZK_KEY_INVALID names the part.
 * Cost    seven multi-scalar multiplications of the key's size. */
cuzk_status groth16_derive_check(struct task *t, const struct groth16_key *key,
                                 const struct derived_points *p, const struct backend *backend,
                                 struct device *device) MUST_CHECK;

/** Both, and the file: whole or not at all, mode 0600.
 * In      path  NULL: the key's name and DERIVED_SUFFIX
 * Errors  CUZK_INVALID_ARGUMENT: the circuit is not at hand (a zkey or parameters without an .r1cs), or the key is derived already;
 *         CUZK_MISMATCH: the .r1cs has other rows than the key; CUZK_KEY_INVALID: the check failed; CUZK_IO, CUZK_NO_MEMORY. */
cuzk_status groth16_derive(struct task *t, const struct groth16_key *key, const char *path,
                           const struct backend *backend, struct device *device) MUST_CHECK;

#endif
