/* Partitions of one PoRep job in batches (filecoin/porep_prover.h): what a circuit takes for them, and where a key keeps what they share. */
#ifndef CUZK_ENGINE_POREP_BATCH_H
#define CUZK_ENGINE_POREP_BATCH_H

#include "engine/job_kind.h"
#include "filecoin/porep_prover.h"
#include <pthread.h>

/* A key's places for batches, one a device, each from the first batch there on until the key is closed or a batch fails there. */
struct porep_batches {
    pthread_mutex_t lock; /* of `busy` and of taking a row */
    struct porep_batch_place {
        struct device *device; /* NULL: nobody's yet */
        bool busy, open;
        struct porep_prover prover;
    } places[BUDGET_DEVICES_MOST];
};

/** Fills c->batch from an outline of the key and the plan of one proof: no batches where none fits.
 * In  c  its bytes for single proofs are there */
void porep_batch_measure(struct circuit *c, struct task *t, const struct porep_key *outline,
                         const struct groth16_plan *single, const struct place *place);

void porep_batches_init(struct porep_batches *b);
void porep_batches_close(struct porep_batches *b); /* before the key and the device */

/** Proves partitions of c1, each verified against public.
 * Out     out[i].proof of parts[i], where it was proved; the log says why another one was not
 * Errors  of all: those of porep_prover; CUZK_MALFORMED, CUZK_MISMATCH: what is wrong with the vanilla proofs of one */
cuzk_status porep_batches_prove(struct porep_batches *b, struct task *t, struct part_output *out,
                                const struct porep_key *key, const struct circuit_batch *how,
                                const struct c1 *c1, const struct porep_public *public, const unsigned *parts,
                                unsigned count, const struct place *place) MUST_CHECK;

#endif
