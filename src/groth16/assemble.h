/* The last step of proving: from the five sums and the blinding scalars to the three points. */
#ifndef CUZK_GROTH16_ASSEMBLE_H
#define CUZK_GROTH16_ASSEMBLE_H

#include "groth16/key.h"
#include "groth16/proof.h"

/* What hides the witness in a proof: uniform in [1, r), new for every attempt, wiped after it. */
struct groth16_blinding {
    struct fr r, s;
};

/** Draws both from the operating system. */
cuzk_status assemble_draw(struct task *t, struct groth16_blinding *out, const struct curve *c) MUST_CHECK;

/** A  = alpha1 + sum A  + r delta1
 *  B  = beta2  + sum B2 + s delta2        (B1 likewise in G1)
 *  C  = sum L + sum H + s A + r B1 - r s delta1
 * Cost  eight scalar multiplications, two inversions.  Allocates nothing; leaves no copy of r and s. */
void assemble(struct groth16_proof *out, const struct groth16_key *key, const struct g_jac sums[QUERY_COUNT],
              const struct groth16_blinding *blinding);

#endif
