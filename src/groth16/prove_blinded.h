/* Proving with given r and s, so that bytes can be compared.  Compiled into the tests only: libcuzk does not have it. */
#ifndef CUZK_GROTH16_PROVE_BLINDED_H
#define CUZK_GROTH16_PROVE_BLINDED_H

#include "groth16/prove.h"

/** As groth16_prove, with blinding instead of fresh randomness. */
cuzk_status groth16_prove_blinded(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                                  const struct groth16_plan *plan, const struct witness *w,
                                  const struct groth16_blinding *blinding) MUST_CHECK;

#endif
