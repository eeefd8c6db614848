/* A PoRep's statement and its proofs. */
#include "filecoin/porep_proof.h"
#include "formats/proof_codec.h"
#include <stdlib.h>
#include <string.h>

/* -- the statement ----------------------------------------------------------------------------------------------------- */

void porep_proof_statement(struct porep_statement *out, const struct c1 *c1, uint64_t miner, uint64_t sector)
{
    out->proof = c1->proof;
    out->porep_id = NULL;
    porep_prover_id(out->prover_id, miner);
    out->sector = sector;
    memcpy(out->ticket, c1->ticket, 32);
    memcpy(out->seed, c1->seed, 32);
    memcpy(out->comm_r, c1->comm_r, 32);
    memcpy(out->comm_d, c1->comm_d, 32);
}

void porep_proof_derive(struct porep_public *out, const struct porep_statement *s)
{
    uint8_t porep_id[32], replica_id[32];

    registered_proof_porep_id(s->proof, porep_id);
    if (s->porep_id != NULL) memcpy(porep_id, s->porep_id, 32);
    porep_replica_id(replica_id, s->prover_id, s->sector, s->ticket, s->comm_d, porep_id);
    porep_public_init(out, s->proof, replica_id, s->comm_d, s->comm_r, s->seed);
    memcpy(out->porep_id, porep_id, 32);
}

cuzk_status porep_proof_inputs(struct task *t, const struct porep_public *public, unsigned partition,
                               struct fr_int *out)
{
    bls12_381_fr_int inputs[1 + POREP_INPUTS_MOST];
    const size_t count = porep_input_count(public->shape);

    STATIC_ASSERT(sizeof inputs[0] == sizeof *out, "both are four words");
    TRY(porep_public_inputs(public, t, partition, inputs));
    memcpy(out, inputs + 1, (count - 1) * sizeof *out);
    return CUZK_OK;
}

cuzk_status porep_proof_check_inputs(struct task *t, const struct porep_public *public, unsigned partition,
                                     const bls12_381_fr_int *values, const char *path)
{
    struct fr_int derived[POREP_INPUTS_MOST];
    const size_t count = porep_input_count(public->shape) - 1;

    TRY(porep_proof_inputs(t, public, partition, derived));
    for (size_t i = 0; i < count; i++)
        if (memcmp(&derived[i], &values[i + 1], sizeof derived[i]) != 0) {
            const cuzk_status status =
                FAIL(t, CUZK_MISMATCH,
                     "partition %u: public input %zu of the vanilla proofs is not the one that the "
                     "sector's public data give",
                     partition, i);
            task_fail_place(t, path[0] != '\0' ? path : NULL, ERROR_NO_OFFSET, "public input",
                            "miner, sector and seed must be those with which Commit Phase 1 ran");
            return status;
        }
    return CUZK_OK;
}

/* -- verifying --------------------------------------------------------------------------------------------------------- */

cuzk_status porep_proof_verify(struct task *t, const struct groth16_verifier *verifier,
                               const struct porep_public *public, unsigned first, unsigned count,
                               struct span proofs)
{
    const size_t each = porep_input_count(public->shape) - 1;
    struct proof_points *points = calloc(count, sizeof *points);
    struct groth16_proof *proof = calloc(count, sizeof *proof);
    struct fr_int *inputs = calloc(count * each, sizeof *inputs);
    bool *bad = calloc(count, sizeof *bad);
    cuzk_status status = CUZK_OK;

    if (points == NULL || proof == NULL || inputs == NULL || bad == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory to verify %u partitions", count);
        goto out;
    }
    TRY_GOTO(out, proof_decode(points, t, NULL, proofs, count));
    for (unsigned k = 0; k < count; k++) {
        proof[k].curve = &curve_bls12_381;
        proof[k].a = points[k].a;
        proof[k].b = points[k].b;
        proof[k].c = points[k].c;
        TRY_GOTO(out, porep_proof_inputs(t, public, first + k, inputs + k * each));
    }
    status = groth16_verify_each(t, verifier, bad, proof, inputs, each, count, GROTH16_POINTS_CHECKED);
    if (status == CUZK_PROOF_INVALID)
        task_fail_place(
            t, NULL, ERROR_NO_OFFSET, NULL,
            "the proof is of another statement (miner, sector, ticket, seed, comm_r, comm_d, proof type), of "
            "other parameters, or damaged");
out:
    free(bad);
    free(inputs);
    free(proof);
    free(points);
    return status;
}

/* -- memory ------------------------------------------------------------------------------------------------------------ */

void porep_proof_room(struct porep_room *out, const struct circuit_image *image, unsigned width)
{
    const struct circuit_template *whole = image_circuit(image);

    out->values_bytes = 32 * ((size_t)whole->input_count + whole->aux_count);
    out->assignment_bytes = assignment_bytes(image, width);
}
