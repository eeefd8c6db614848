/* Proving with given r and s, so that bytes can be compared.  Compiled into the tests only. */
#include "groth16/prove_blinded.h"

cuzk_status groth16_prove_blinded(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                                  const struct groth16_plan *plan, const struct witness *w,
                                  const struct groth16_blinding *blinding)
{
    struct groth16_timings timings = { 0 };
    struct g_jac sums[QUERY_COUNT];

    TRY(groth16_prove_sums(t, sums, key, plan, w, &timings));
    assemble(out, key, sums, blinding);
    return CUZK_OK;
}
