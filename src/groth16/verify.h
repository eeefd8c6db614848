/* Whether Groth16 proofs are valid: one, or many of one key at once. */
#ifndef CUZK_GROTH16_VERIFY_H
#define CUZK_GROTH16_VERIFY_H

#include "groth16/proof.h"
#include "groth16/vk.h"
#include "pairing/pairing.h"

/* A key made ready: what every verification under it shares.  Immutable; any number of threads may use it. */
struct groth16_verifier {
    const struct groth16_vk *vk; /* borrowed */
    struct g_aff gamma2_neg, delta2_neg;
    struct pairing_lines gamma_lines, delta_lines; /* of these two */
    struct gt alpha_beta;                          /* e(alpha1, beta2) */
};

enum groth16_trust {
    GROTH16_POINTS_UNCHECKED =
        0, /* verify checks that the proof's points are on the curve and in the subgroup */
    GROTH16_POINTS_CHECKED = 1, /* the caller has just decoded them with that check */
};

/** Cost  one pairing.  vk must have been checked (groth16_vk_check) or come from a trusted source, and must outlive the verifier. */
void groth16_verifier_init(struct groth16_verifier *v, const struct groth16_vk *vk);

/** Checks e(A, B) = e(alpha, beta) e(acc, gamma) e(C, delta), acc = ic[0] + sum input[i] ic[i + 1].
 * In  inputs  input_count plain integers; each must be below r, since input + r would be a second name of the same statement.
 * Errors  CUZK_PROOF_INVALID: the equation does not hold, or a point of the proof is not on the curve or not in the subgroup (field
 *         names it).  CUZK_INVALID_ARGUMENT: an input is not below r (its index is named), or the number of inputs is not the key's.
 *         CUZK_MISMATCH: the proof is of another curve.
 * Cost  three Miller loops in step, one final exponentiation, input_count scalar multiplications in G1.  Thread  any. */
cuzk_status groth16_verify(struct task *t, const struct groth16_verifier *v,
                           const struct groth16_proof *proof, const struct fr_int *inputs, size_t input_count,
                           enum groth16_trust trust) MUST_CHECK;

/* The verification of one proof in parts, for a prover that waits for sums meanwhile.  What could not be done ahead, and what was done
 * for other points than those of the proof, groth16_verify_rest does itself: it says what groth16_verify says. */
struct groth16_ahead {
    const struct groth16_verifier *v; /* borrowed, as inputs */
    const struct fr_int *inputs;
    size_t input_count;
    bool has_acc, has_inputs, has_checked, has_ab;
    struct g_aff acc, a, b;
    struct gt inputs_value, ab_value; /* Miller loops of (acc, -gamma) and (A, B) */
};

void groth16_ahead_init(struct groth16_ahead *out, const struct groth16_verifier *v,
                        const struct fr_int *inputs, size_t input_count);
/** The part that the inputs have: their sum, then a Miller loop with it. */
void groth16_ahead_inputs(struct groth16_ahead *ahead);
void groth16_ahead_pair_inputs(struct groth16_ahead *ahead);
/** The part that A and B have: they are noted, then checked and paired.  These two and the inputs' part may be done at the same time. */
void groth16_ahead_points(struct groth16_ahead *ahead, const struct g_aff *a, const struct g_aff *b);
void groth16_ahead_check(struct groth16_ahead *ahead);
void groth16_ahead_ab(struct groth16_ahead *ahead);
/** The verdict on the proof, for the inputs that were named, its points unchecked.
 * Cost  with both parts done half a Miller loop and the final exponentiation; else as groth16_verify.  Errors  as groth16_verify. */
cuzk_status groth16_verify_rest(struct task *t, const struct groth16_ahead *ahead,
                                const struct groth16_proof *proof) MUST_CHECK;

/** Checks count proofs of one key at once: the product of their equations, each raised to its own random 128-bit weight from the
 * operating system, so that a batch with a bad proof passes with probability at most 2^-128.
 * In  inputs  count * inputs_each plain integers, proof after proof.  count 0: holds.
 * Errors  as groth16_verify; CUZK_PROOF_INVALID without a name means that some proof is bad: groth16_verify_each finds it.
 *         CUZK_IO if there is no randomness.
 * Cost  count + 3 Miller loops, one final exponentiation, 2 count short and inputs_each + 2 full scalar multiplications. */
cuzk_status groth16_verify_batch(struct task *t, const struct groth16_verifier *v,
                                 const struct groth16_proof *proofs, const struct fr_int *inputs,
                                 size_t inputs_each, size_t count, enum groth16_trust trust) MUST_CHECK;

/** As groth16_verify_batch, but says which proofs are bad, halving the batch until they stand alone.
 * Out  bad: count flags, set for every proof that does not verify, be it the equation, a point or an input.
 * Errors  CUZK_PROOF_INVALID if any is set, naming the first and how many.  Others as groth16_verify_batch: bad is then undefined.
 * Cost  one batch if all hold; else about 2 log2(count) smaller batches a bad proof. */
cuzk_status groth16_verify_each(struct task *t, const struct groth16_verifier *v, bool *bad,
                                const struct groth16_proof *proofs, const struct fr_int *inputs,
                                size_t inputs_each, size_t count, enum groth16_trust trust) MUST_CHECK;

#endif
