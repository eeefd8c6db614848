/* What a verifier knows: ids, challenges and public inputs of a PoRep, derived from the sector's public data alone. */
#ifndef CUZK_CIRCUITS_POREP_POREP_INPUTS_H
#define CUZK_CIRCUITS_POREP_POREP_INPUTS_H

#include "base/task.h"
#include "circuits/porep/porep_graph.h"
#include "field/bls12_381_fields.h"

/** A miner's actor id as the 32 bytes that the proofs know: unsigned LEB128, zeros behind. */
void porep_prover_id(uint8_t out[32], uint64_t miner);
void porep_replica_id(uint8_t out[32], const uint8_t prover_id[32], uint64_t sector, const uint8_t ticket[32],
                      const uint8_t comm_d[32], const uint8_t porep_id[32]);

/* The public data of a sealed sector. */
struct porep_public {
    const struct porep_shape *shape;
    enum porep_feature feature;
    bool legacy_graph;
    uint8_t porep_id[32], replica_id[32], comm_d[32], comm_r[32], seed[32];
};
/** From a registered proof and the parts of it that are the caller's. */
void porep_public_init(struct porep_public *p, const struct registered_proof *r, const uint8_t replica_id[32],
                       const uint8_t comm_d[32], const uint8_t comm_r[32], const uint8_t seed[32]);

/** The nodes that partition k must open: shape->challenges of them. */
void porep_challenges(const struct porep_public *p, unsigned partition, uint64_t *out);

static inline size_t porep_input_count(const struct porep_shape *s) { return 4 + 18 * (size_t)s->challenges; }
/** The public inputs of partition k, the constant 1 included.
 * Errors  CUZK_MALFORMED if replica_id, comm_d or comm_r is not below the field's modulus. */
cuzk_status porep_public_inputs(const struct porep_public *p, struct task *t, unsigned partition,
                                bls12_381_fr_int *out) MUST_CHECK;

#endif
