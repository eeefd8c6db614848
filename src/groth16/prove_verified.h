/* Proving as everybody but the tests calls it: no proof leaves unverified. */
#ifndef CUZK_GROTH16_PROVE_VERIFIED_H
#define CUZK_GROTH16_PROVE_VERIFIED_H

#include "groth16/prove.h"
#include "groth16/verify.h"

/** Proves and verifies.
 * In      verifier  of key->vk
 * Errors  as groth16_prove; CUZK_UNSATISFIED if the proof does not verify: with the first row that the witness breaks where the
 *         circuit is at hand, else saying that the witness does not fit or the key is damaged.  CUZK_KEY_INVALID if the witness
 *         satisfies the circuit and the proof still does not verify.  out is wiped on failure. */
cuzk_status groth16_prove_verified(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                                   const struct groth16_plan *plan, const struct groth16_verifier *verifier,
                                   const struct witness *w, struct groth16_timings *timings) MUST_CHECK;

#endif
