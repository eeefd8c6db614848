/* groth16_prove for programs that are linked with --wrap=groth16_prove: theirs, and the real one. */
#ifndef CUZK_TESTS_WRAPPED_PROVE_H
#define CUZK_TESTS_WRAPPED_PROVE_H

#include "groth16/prove.h"

cuzk_status __real_groth16_prove(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                                 const struct groth16_plan *plan, const struct witness *w,
                                 struct groth16_timings *timings);
cuzk_status __wrap_groth16_prove(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                                 const struct groth16_plan *plan, const struct witness *w,
                                 struct groth16_timings *timings);

#endif
