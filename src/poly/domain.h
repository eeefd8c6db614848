/* Evaluation domains: the subgroup of order 2^log2 of a scalar field, from a named root, and its cosets. */
#ifndef CUZK_POLY_DOMAIN_H
#define CUZK_POLY_DOMAIN_H

#include "curve/curve.h"

#define DOMAIN_MAX_LOG2 28

struct domain {
    const struct curve *curve;
    enum root_convention convention;
    unsigned log2;             /* size = 2^log2 */
    uint64_t size;
    struct fr omega, omega_inv; /* generator of the domain and its inverse */
    struct fr size_inv;
    /* The coset on which the quotient is evaluated.  snarkjs: omega of the domain twice as large (its odd half), or 25 = 5^2 when
     * log2 equals the field's two-adicity; bellman: 7. */
    struct fr shift, shift_inv;
    struct fr z_coset_inv;     /* 1 / (shift^size - 1) */
};

/** Errors  CUZK_TOO_LARGE if log2 exceeds the field's two-adicity or DOMAIN_MAX_LOG2. */
cuzk_status domain_init(struct domain *d, struct task *t, const struct curve *c, enum root_convention convention, unsigned log2) MUST_CHECK;

/** Values of all Lagrange polynomials of the domain at tau: out[i] = L_i(tau).  out holds size elements.
 * Errors  CUZK_INVALID_ARGUMENT if tau lies in the domain. */
cuzk_status domain_lagrange(const struct domain *d, struct task *t, struct fr *out, const struct fr *tau) MUST_CHECK;

/** out[i] = L_(begin + i)(tau) for i < count; tau does not lie in the domain.  Thread  any number. */
void domain_lagrange_part(const struct domain *d, struct fr *out, const struct fr *tau, uint64_t begin,
                          uint64_t count);

/** The definition of the transform, O(n^2), for tests: out[i] = sum_j in[j] * (shift omega^i)^j. */
void domain_dft_naive(const struct domain *d, struct fr *out, const struct fr *in, bool coset);

#endif
