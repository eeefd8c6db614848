/* The quotient: from the constraints' values a = A w and b = B w to the scalars of the H query, in the two conventions. */
#include "groth16/h_poly.h"

cuzk_status h_poly_plan(struct quotient_plan *out, struct task *t, const struct groth16_key *key,
                        const struct backend *backend, const struct device *device)
{
    const enum quotient_mode mode =
        key->layout == GROTH16_ZKEY ? QUOTIENT_ODD_COSET_LAGRANGE : QUOTIENT_MONOMIAL;

    return backend->quotient_plan(out, t, device, &key->domain, mode);
}

static cuzk_status run(struct task *t, enum quotient_mode mode, const struct quotient_plan *plan,
                       const struct backend *backend, struct stream *stream, struct buffer *scalars,
                       struct buffer *a, struct buffer *b, struct buffer *workspace)
{
    if (plan->mode != mode)
        return FAIL(t, CUZK_INTERNAL, "the quotient was planned in one convention and called in the other");
    return backend->quotient(stream, t, plan, scalars, a, b, workspace);
}

cuzk_status h_poly_snarkjs(struct task *t, const struct quotient_plan *plan, const struct backend *backend,
                           struct stream *stream, struct buffer *scalars, struct buffer *a, struct buffer *b,
                           struct buffer *workspace)
{
    return run(t, QUOTIENT_ODD_COSET_LAGRANGE, plan, backend, stream, scalars, a, b, workspace);
}

cuzk_status h_poly_bellman(struct task *t, const struct quotient_plan *plan, const struct backend *backend,
                           struct stream *stream, struct buffer *scalars, struct buffer *a, struct buffer *b,
                           struct buffer *workspace)
{
    return run(t, QUOTIENT_MONOMIAL, plan, backend, stream, scalars, a, b, workspace);
}
