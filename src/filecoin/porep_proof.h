/* A PoRep's statement and its proofs: what a verifier derives, what a partition's witness takes, whether bytes are proofs. */
#ifndef CUZK_FILECOIN_POREP_PROOF_H
#define CUZK_FILECOIN_POREP_PROOF_H

#include "circuits/porep/porep.h"
#include "groth16/verify.h"

/* What a verifier is told, and nothing else. */
struct porep_statement {
    const struct registered_proof *proof;
    const uint8_t *porep_id; /* NULL: that of the proof type */
    uint8_t prover_id[32], ticket[32], seed[32], comm_r[32], comm_d[32];
    uint64_t sector;
};

/** The statement of vanilla proofs for a miner and a sector; nothing is checked. */
void porep_proof_statement(struct porep_statement *out, const struct c1 *c1, uint64_t miner, uint64_t sector);
/** The replica id from prover, sector, ticket and comm_d; the challenges' seed; the commitments. */
void porep_proof_derive(struct porep_public *out, const struct porep_statement *s);
/** The public inputs of a partition without the constant, as verifiers take them: porep_input_count(public->shape) - 1 of them.
 * Errors  CUZK_MALFORMED: a commitment that is no field element. */
cuzk_status porep_proof_inputs(struct task *t, const struct porep_public *public, unsigned partition,
                               struct fr_int *out) MUST_CHECK;
#define POREP_INPUTS_MOST (3 + 18 * POREP_MAX_CHALLENGES)

/** Whether the inputs of a partition's witness (values: the constant first) are those that public gives; if not, proving would be in vain.
 * In      path  of the vanilla proofs, for messages; may be empty
 * Errors  CUZK_MISMATCH names partition and input. */
cuzk_status porep_proof_check_inputs(struct task *t, const struct porep_public *public, unsigned partition,
                                     const bls12_381_fr_int *values, const char *path) MUST_CHECK;

/** Whether bytes are proofs of partitions first, first + 1, ... (count of them), against inputs that are derived here.
 * Errors  CUZK_MALFORMED, CUZK_PROOF_INVALID. */
cuzk_status porep_proof_verify(struct task *t, const struct groth16_verifier *verifier,
                               const struct porep_public *public, unsigned first, unsigned count,
                               struct span proofs) MUST_CHECK;

/* Heap that a partition's witness takes: as the circuit makes it (assignment), and as the sums read it (values). */
struct porep_room {
    size_t assignment_bytes, values_bytes;
};
/** In  width  of the pool that makes it */
void porep_proof_room(struct porep_room *out, const struct circuit_image *image, unsigned width);

#endif
