/* A SubmitProofRequest, alone or inside a ProveRequest, read from the pieces of its message. */
#ifndef CUZK_WIRE_SUBMIT_DECODE_H
#define CUZK_WIRE_SUBMIT_DECODE_H

#include "wire/wire_read.h"

#define SUBMIT_REQUEST_ID_BYTES 256 /* with NUL */
#define SUBMIT_CIRCUIT_BYTES    64
#define SUBMIT_FILE_BYTES       1024
#define SUBMIT_HASH_BYTES       32

/* The fields of proto/cuzk/v1/proving.proto; what was absent is zero. */
struct submit {
    char request_id[SUBMIT_REQUEST_ID_BYTES], circuit[SUBMIT_CIRCUIT_BYTES], witness_file[SUBMIT_FILE_BYTES];
    uint32_t proof_kind, priority, partition_index, durable;
    uint64_t sector_size, registered_proof, sector_number, miner_id, deadline_ms;
    uint8_t randomness[SUBMIT_HASH_BYTES], comm_r_old[SUBMIT_HASH_BYTES], comm_r_new[SUBMIT_HASH_BYTES],
        comm_d_new[SUBMIT_HASH_BYTES];
    bool has_randomness, has_comm_r_old, has_comm_r_new, has_comm_d_new;
    uint8_t *vanilla_proof, *witness; /* from malloc; NULL: absent or empty */
    uint64_t vanilla_proof_bytes, witness_bytes;
    unsigned
        vanilla_proof_count; /* of vanilla_proofs: counted, not kept, since no kind of this build takes them */
    bool present;            /* ProveRequest.submit was there */
};

/** In      in_prove  the message is a ProveRequest
 * Errors  CUZK_MALFORMED; CUZK_INVALID_ARGUMENT: a value out of its bounds, with the field's name; CUZK_NO_MEMORY.  submit_free it in any case.
 * Cost    one copy of the payload.  Allocates no more than the message is long. */
cuzk_status submit_decode(struct task *t, struct submit *out, struct wire_reader *r,
                          bool in_prove) MUST_CHECK;
void submit_free(
    struct submit *s); /* wipes and frees the payloads that were not taken; legal on a zeroed one */

#endif
