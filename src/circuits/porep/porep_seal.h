/* Vanilla proofs for people without a sector: a small sector sealed natively, or the opened paths of a large one that never was.
 * Not a sealer for production: data are random, nothing is written to disk but the vanilla proofs. */
#ifndef CUZK_CIRCUITS_POREP_POREP_SEAL_H
#define CUZK_CIRCUITS_POREP_POREP_SEAL_H

#include "formats/c1.h"

struct porep_seal_request {
    const struct registered_proof *proof;
    uint64_t miner, sector, seed; /* everything else follows from these */
};

/** Seals a sector: random data, graph, labels, the three trees; then opens the challenges.
 * Out     c1, initialised here, to be ended with c1_fini
 * Errors  CUZK_UNSUPPORTED above 16 MiB (use the sparse form), CUZK_NO_MEMORY, CUZK_CANCELLED
 * Cost    2 KiB: 10 ms; 8 MiB: about 15 s on one core, 100 MB.  Trees use the task's pool. */
cuzk_status porep_seal(struct c1 *out, struct task *t, const struct porep_seal_request *r) MUST_CHECK;

/** The same for any size at the cost of the opened paths: periodic data, and columns that are random where a proof opens them and
 * zero elsewhere.  Every row of the circuit holds and all partitions agree, though no such sector exists.
 * Errors  CUZK_UNSUPPORTED for synthetic and non-interactive proofs, whose challenges depend on comm_r
 * Cost    32 GiB: about 3 s on one core, 15 MB. */
cuzk_status porep_seal_sparse(struct c1 *out, struct task *t, const struct porep_seal_request *r) MUST_CHECK;

#endif
