/* PoRep partitions on a device that makes witnesses itself: batches of prove_batch.h from vanilla proofs. */
#ifndef CUZK_FILECOIN_POREP_PROVER_H
#define CUZK_FILECOIN_POREP_PROVER_H

#include "filecoin/porep_key.h"
#include "filecoin/porep_proof.h"
#include "formats/proof_codec.h"
#include "groth16/prove_batch.h"

static inline bool porep_prover_possible(const struct backend *b) { return b->image_assign != NULL; }

/* A key on a device, and one place there for a batch at a time.  Others may share the key (porep_prover_beside). */
struct porep_prover {
    const struct porep_key *key; /* borrowed */
    struct key_split *split;
    struct batch_plan plan;
    struct batch *batch;
    struct fr_int *inputs; /* of the batch under way: input_count of each partition */
    size_t input_count;
    struct batch_item items[BATCH_MOST];
    unsigned count;
    bool beside; /* the key is another's to end */
};

/* Which partitions of vanilla proofs: first, first + stride, ...; count of them. */
struct porep_share {
    unsigned first, stride, count;
};
/** Those of place `which` of `places` that partitions go round in turn. */
static inline struct porep_share porep_share_of(unsigned partitions, unsigned which, unsigned places)
{
    const struct porep_share s = { which, places,
                                   which < partitions ? (partitions - which + places - 1) / places : 0 };

    return s;
}

/** Plans, and brings the key to the device.
 * Out     zeroed before; to be ended with porep_prover_close, also on failure, before key and device
 * Errors  those of key_split_create, prove_batch_plan and key_split_load
 * Cost    the upload of the key and of what its proofs share, once for a key and device. */
cuzk_status porep_prover_open(struct porep_prover *out, struct task *t, const struct porep_key *key,
                              const struct backend *backend, struct device *device,
                              const struct batch_limits *limits) MUST_CHECK;
/** Another place for batches on the same device, by the same plan, which was made for so many lanes.  It is closed first. */
cuzk_status porep_prover_beside(struct porep_prover *out, struct task *t,
                                const struct porep_prover *first) MUST_CHECK;
void porep_prover_close(struct porep_prover *p); /* legal on a zeroed one */

/** Enqueues partitions of c1: at most plan.partitions.  They are proved for the inputs that public gives.
 * In      c1, times  until porep_prover_end
 * Errors  of all of them: CUZK_MISMATCH (another sector size), CUZK_MALFORMED (a commitment); those of prove_batch_begin */
cuzk_status porep_prover_begin(struct porep_prover *p, struct task *t, const struct c1 *c1,
                               const struct porep_public *public, const struct porep_share *share,
                               struct batch_times *times) MUST_CHECK;
/** The same of partitions that are named, in any order. */
cuzk_status porep_prover_begin_these(struct porep_prover *p, struct task *t, const struct c1 *c1,
                                     const struct porep_public *public, const unsigned *partitions,
                                     unsigned count, struct batch_times *times) MUST_CHECK;
/** Waits, verifies, and encodes.
 * Out     proofs  of partition number n at PROOF_BYTES * n, of those that were begun
 * Errors  of a partition: the first one's that failed; its number is in the task's field and the others' proofs are there.  Of all: those
 *         of prove_batch_end */
cuzk_status porep_prover_end(struct porep_prover *p, struct task *t, uint8_t *proofs) MUST_CHECK;

#endif
