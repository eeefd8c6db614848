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

/* The points of a proof as far as they are known.  Secret, the proof's own points apart: assembly_wipe. */
struct assembly {
    const struct groth16_key *key; /* borrowed */
    struct fr_int r, s, minus_rs;
    struct g_jac a, b1, b2, c, s_a, r_b1;
};

/** The same in steps, for who has something to do while sums are on their way.  After assembly_start those of a line follow each other,
 * the lines in any order or at the same time; assembly_c is the last.
 *     assembly_blind_a   a = alpha1 + r delta1       assembly_a    A = a + sum A,       s A
 *     assembly_blind_b1  b1 = beta1 + s delta1       assembly_b1   B1 = b1 + sum B1,    r B1
 *     assembly_blind_b2  b2 = beta2 + s delta2       assembly_b2   B = b2 + sum B2
 *     assembly_blind_c   c = - r s delta1            assembly_c    C = c + s A + r B1 + sum L + sum H
 * Cost  a scalar multiplication each, assembly_b2 and assembly_c none; a point of the proof takes an inversion. */
void assembly_start(struct assembly *out, const struct groth16_key *key,
                    const struct groth16_blinding *blinding);
void assembly_blind_a(struct assembly *a);
void assembly_blind_b1(struct assembly *a);
void assembly_blind_b2(struct assembly *a);
void assembly_blind_c(struct assembly *a);
void assembly_a(struct assembly *a, struct groth16_proof *out, const struct g_jac *sum_a);
void assembly_b1(struct assembly *a, const struct g_jac *sum_b1);
void assembly_b2(struct assembly *a, struct groth16_proof *out, const struct g_jac *sum_b2);
void assembly_c(struct assembly *a, struct groth16_proof *out, const struct g_jac *sum_l,
                const struct g_jac *sum_h);
void assembly_wipe(struct assembly *a);

/** A  = alpha1 + sum A  + r delta1
 *  B  = beta2  + sum B2 + s delta2        (B1 likewise in G1)
 *  C  = sum L + sum H + s A + r B1 - r s delta1
 * Cost  all steps: six scalar multiplications, three inversions.  Leaves no copy of r and s. */
void assemble(struct groth16_proof *out, const struct groth16_key *key, const struct g_jac sums[QUERY_COUNT],
              const struct groth16_blinding *blinding);

#endif
