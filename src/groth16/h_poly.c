/* The quotient: from the constraints' values a = A w and b = B w to the scalars of the H query, in the three forms that H has. */
#include "groth16/h_poly.h"

static enum quotient_mode mode_of(const struct groth16_key *key)
{
    static const enum quotient_mode modes[] = {
        [H_MONOMIAL_6] = QUOTIENT_MONOMIAL,
        [H_LAGRANGE_6] = QUOTIENT_ODD_COSET_LAGRANGE,
        [H_LAGRANGE_4] = QUOTIENT_COSET_PRODUCT,
    };
    return modes[key->h_mode];
}

cuzk_status h_poly_plan(struct quotient_plan *out, struct task *t, const struct groth16_key *key,
                        const struct backend *backend, const struct device *device)
{
    return backend->quotient_plan(out, t, device, &key->domain, mode_of(key));
}

cuzk_status h_poly(struct task *t, const struct quotient_plan *plan, const struct groth16_key *key,
                   const struct backend *backend, struct stream *stream, struct buffer *scalars,
                   struct buffer *a, struct buffer *b, struct buffer *workspace)
{
    if (plan->mode != mode_of(key))
        return FAIL(t, CUZK_INTERNAL, "the quotient was planned for another form of the key");
    return backend->quotient(stream, t, plan, scalars, a, b, workspace);
}
