/* The quotient: from the constraints' values a = A w and b = B w to the scalars of the H query, in the two conventions. */
#ifndef CUZK_GROTH16_H_POLY_H
#define CUZK_GROTH16_H_POLY_H

#include "groth16/key.h"

/** How it will be done for a key: the domain, the convention, the bytes. */
cuzk_status h_poly_plan(struct quotient_plan *out, struct task *t, const struct groth16_key *key,
                        const struct backend *backend, const struct device *device) MUST_CHECK;

/* Both: a and b are destroyed; scalars (domain.size canonical integers) may be a itself. */

/** snarkjs: the values of A B - C on the odd coset.  The key's H points are the odd Lagrange points of the domain of twice the size,
 * so they absorb the division by the vanishing polynomial. */
cuzk_status h_poly_snarkjs(struct task *t, const struct quotient_plan *plan, const struct backend *backend,
                           struct stream *stream, struct buffer *scalars, struct buffer *a, struct buffer *b,
                           struct buffer *workspace) MUST_CHECK;
/** bellman: the coefficients of (A B - C) / (x^n - 1); the last one is zero and has no point. */
cuzk_status h_poly_bellman(struct task *t, const struct quotient_plan *plan, const struct backend *backend,
                           struct stream *stream, struct buffer *scalars, struct buffer *a, struct buffer *b,
                           struct buffer *workspace) MUST_CHECK;

#endif
