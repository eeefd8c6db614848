/* The quotient: from the constraints' values a = A w and b = B w to the scalars of the H query, in the three forms that H has. */
#ifndef CUZK_GROTH16_H_POLY_H
#define CUZK_GROTH16_H_POLY_H

#include "groth16/key.h"

/** How it will be done for a key: the domain, the form, the bytes. */
cuzk_status h_poly_plan(struct quotient_plan *out, struct task *t, const struct groth16_key *key,
                        const struct backend *backend, const struct device *device) MUST_CHECK;

/** The scalars of key's H points.
 *   H_MONOMIAL_6  the coefficients of (A B - C) / (x^n - 1); the last one is zero and has no point.
 *   H_LAGRANGE_6  the values of A B - C on the odd coset; the points absorb the division by the vanishing polynomial.
 *   H_LAGRANGE_4  the values of A B on the coset; the points of L have absorbed C as well.
 * a and b are destroyed; scalars (domain.size canonical integers) may be a itself. */
cuzk_status h_poly(struct task *t, const struct quotient_plan *plan, const struct groth16_key *key,
                   const struct backend *backend, struct stream *stream, struct buffer *scalars,
                   struct buffer *a, struct buffer *b, struct buffer *workspace) MUST_CHECK;

#endif
