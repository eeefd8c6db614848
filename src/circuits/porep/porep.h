/* PoRep Commit Phase 2 up to the prover's door: the circuit of a sector size, a partition's witness from its vanilla proofs, public
 * inputs, and the checks that name what is wrong with a C1 output before anything is proved. */
#ifndef CUZK_CIRCUITS_POREP_POREP_H
#define CUZK_CIRCUITS_POREP_POREP_H

#include "circuits/gadgets/assign.h"
#include "circuits/gadgets/evaluate.h"
#include "circuits/gadgets/expand.h"
#include "circuits/porep/porep_inputs.h"
#include "formats/c1.h"

/* -- the circuit -- */

/* Immutable once open; any number of threads may use it. */
struct porep_circuit {
    const struct porep_shape *shape;
    struct circuit_image image;
    struct aux_map map;
};
/** Cost: 0.1 s.  image_path: NULL, or a file that image_save wrote, checked to be this shape's. */
cuzk_status porep_circuit_open(struct porep_circuit *out, struct task *t, const struct porep_shape *shape,
                               const char *image_path) MUST_CHECK;
void porep_circuit_close(struct porep_circuit *c); /* legal on a zeroed one */

/** The matrices A, B, C (columns: inputs, then aux), trailing rows included: bellman's rows, for sizes up to 512 MiB. */
static inline cuzk_status porep_circuit_csr(const struct porep_circuit *c, struct task *t, struct csr out[3])
{
    return image_csr(&c->image, t, out);
}

/* -- a partition -- */

/** The witness of partition k into a (assignment_create with c->image).
 * Errors  CUZK_MISMATCH (another sector size), CUZK_INVALID_ARGUMENT (no such partition), CUZK_MALFORMED
 * Cost    32 GiB: 0.3 s on one core. */
cuzk_status porep_assign(const struct porep_circuit *c, struct task *t, struct assignment *a,
                         const struct c1 *c1, unsigned partition) MUST_CHECK;

/** What the witness of partition k is made from, for a backend's image_assign: image_statement_bytes (backend.h) of it.
 * Errors  as porep_assign's first two */
cuzk_status porep_statement(const struct porep_circuit *c, struct task *t, uint8_t *out, const struct c1 *c1,
                            unsigned partition) MUST_CHECK;

/** The same as a prover of matrices takes it: canonical integers, inputs then aux.  out: inputs + aux values of 32 bytes. */
void porep_witness(const struct porep_circuit *c, const struct assignment *a, bls12_381_fr_int *out);

/* -- a C1 output -- */

/** What a verifier would derive from it, the replica id taken from the file. */
void porep_public_of(struct porep_public *out, const struct c1 *c1);

/** Checks everything that does not need a proof: commitments, challenges against seed and replica id, parents against the graph,
 * labels against their parents, columns, every path against its root, roots against each other and against comm_r and comm_d.
 * Errors  CUZK_MALFORMED or CUZK_MISMATCH; the text names partition, challenge and field
 * Cost    about that of the witness; parallel over challenges on the task's pool. */
cuzk_status porep_check(const struct c1 *c1, struct task *t) MUST_CHECK;
/** The same for one partition, and the fields that all share. */
cuzk_status porep_check_partition(const struct c1 *c1, struct task *t, unsigned partition) MUST_CHECK;

/** That the replica id in the file, and what a wrapper around it says, are those of this miner and sector.  CUZK_MISMATCH says which
 * to look at. */
cuzk_status porep_check_identity(const struct c1 *c1, struct task *t, uint64_t miner,
                                 uint64_t sector) MUST_CHECK;

/* -- parameter files -- */

#define POREP_PARAMETER_NAME_BYTES 192
/** The name, without .params or .vk, of the parameter files of a sector size: v28-stacked-proof-of-replication-merkletree-... */
void porep_parameter_name(const struct porep_shape *shape, char out[POREP_PARAMETER_NAME_BYTES]);

#endif
