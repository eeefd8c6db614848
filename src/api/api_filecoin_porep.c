/* PoRep: statements, proving with verification, verifying. */
#include "api/api_filecoin.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "formats/proof_codec.h"
#include "groth16/prove_verified.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- statements -------------------------------------------------------------------------------------------------------- */

void cuzk_prover_id(unsigned char out[32], uint64_t miner) { porep_prover_id(out, miner); }

unsigned cuzk_porep_partitions(const char *proof_type)
{
    const struct registered_proof *r =
        proof_type != NULL ? registered_proof_by_name(proof_type, strlen(proof_type)) : NULL;

    return r != NULL ? registered_proof_partitions(r) : 0;
}

void cuzk_c1_statement(const cuzk_c1 *c1, uint64_t miner, uint64_t sector, cuzk_porep_statement *out)
{
    const cuzk_porep_statement empty = CUZK_POREP_STATEMENT_INIT;
    cuzk_porep_statement own = empty;
    const struct c1 *c = &c1->c1;

    own.proof_type = c->proof->name;
    porep_prover_id(own.prover_id, miner);
    own.sector = sector;
    memcpy(own.ticket, c->ticket, 32);
    memcpy(own.seed, c->seed, 32);
    memcpy(own.comm_r, c->comm_r, 32);
    memcpy(own.comm_d, c->comm_d, 32);
    api_copy_out(out, &own, sizeof own);
}

/* From what a verifier knows, and from nothing else. */
static cuzk_status derive(struct porep_public *out, struct task *t, const cuzk_porep_statement *s)
{
    const struct registered_proof *r =
        s->proof_type != NULL ? registered_proof_by_name(s->proof_type, strlen(s->proof_type)) : NULL;
    uint8_t porep_id[32], replica_id[32];

    if (r == NULL) {
        const cuzk_status status = FAIL(t, CUZK_INVALID_ARGUMENT, "there is no proof type '%s'",
                                        s->proof_type != NULL ? s->proof_type : "");
        task_fail_place(t, NULL, ERROR_NO_OFFSET, "proof_type",
                        "proof types are named like StackedDrg32GiBV1_1");
        return status;
    }
    registered_proof_porep_id(r, porep_id);
    if (s->porep_id != NULL) memcpy(porep_id, s->porep_id, 32);
    porep_replica_id(replica_id, s->prover_id, s->sector, s->ticket, s->comm_d, porep_id);
    porep_public_init(out, r, replica_id, s->comm_d, s->comm_r, s->seed);
    memcpy(out->porep_id, porep_id, 32);
    return CUZK_OK;
}

/* The inputs of a partition without the constant, as verifiers take them. */
static cuzk_status inputs_of(struct task *t, const struct porep_public *public, unsigned partition,
                             struct fr_int *out)
{
    bls12_381_fr_int inputs[4 + 18 * POREP_MAX_CHALLENGES];
    const size_t count = porep_input_count(public->shape);

    STATIC_ASSERT(sizeof inputs[0] == sizeof *out, "both are four words");
    TRY(porep_public_inputs(public, t, partition, inputs));
    memcpy(out, inputs + 1, (count - 1) * sizeof *out);
    return CUZK_OK;
}

cuzk_status cuzk_porep_publics(cuzk_publics **out, const cuzk_porep_statement *statement, unsigned partition,
                               cuzk_error *error)
{
    cuzk_porep_statement own = CUZK_POREP_STATEMENT_INIT;
    struct porep_public public;
    struct api_call call;
    void *handle;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (statement == NULL) return api_end(&call, api_refuse(&call, "statement"), error);
    api_copy_in(&own, sizeof own, statement);
    cuzk_status status = derive(&public, &call.task, &own);
    if (status == CUZK_OK && partition >= cuzk_porep_partitions(own.proof_type)) {
        status = FAIL(&call.task, CUZK_INVALID_ARGUMENT, "there is no partition %u: %s has %u, from 0",
                      partition, own.proof_type, cuzk_porep_partitions(own.proof_type));
        task_fail_place(&call.task, NULL, ERROR_NO_OFFSET, "partition", NULL);
    }
    if (status == CUZK_OK) status = api_new(&call, &handle, sizeof(cuzk_publics));
    if (status != CUZK_OK) return api_end(&call, status, error);
    cuzk_publics *p = handle;
    p->count = porep_input_count(public.shape) - 1;
    p->value = calloc(p->count, sizeof *p->value);
    status = p->value != NULL ? inputs_of(&call.task, &public, partition, p->value)
                              : FAIL(&call.task, CUZK_NO_MEMORY, "no memory for %llu public inputs",
                                     (unsigned long long)p->count);
    if (status == CUZK_OK)
        *out = p;
    else
        cuzk_publics_close(p);
    return api_end(&call, status, error);
}

/* -- verifying --------------------------------------------------------------------------------------------------------- */

/* All partitions' proofs against inputs that are derived here. */
static cuzk_status verify_all(struct task *t, const struct groth16_verifier *verifier,
                              const struct porep_public *public, unsigned partitions, struct span proofs)
{
    const size_t each = porep_input_count(public->shape) - 1;
    struct proof_points *points = calloc(partitions, sizeof *points);
    struct groth16_proof *proof = calloc(partitions, sizeof *proof);
    struct fr_int *inputs = calloc(partitions * each, sizeof *inputs);
    bool *bad = calloc(partitions, sizeof *bad);
    cuzk_status status = CUZK_OK;

    if (points == NULL || proof == NULL || inputs == NULL || bad == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory to verify %u partitions", partitions);
        goto out;
    }
    TRY_GOTO(out, proof_decode(points, t, NULL, proofs, partitions));
    for (unsigned k = 0; k < partitions; k++) {
        proof[k].curve = &curve_bls12_381;
        proof[k].a = points[k].a;
        proof[k].b = points[k].b;
        proof[k].c = points[k].c;
        TRY_GOTO(out, inputs_of(t, public, k, inputs + k * each));
    }
    status = groth16_verify_each(t, verifier, bad, proof, inputs, each, partitions, GROTH16_POINTS_CHECKED);
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

cuzk_status cuzk_porep_verify(const cuzk_vk *vk, const cuzk_porep_statement *statement, const void *proofs,
                              size_t bytes, cuzk_error *error)
{
    cuzk_porep_statement own = CUZK_POREP_STATEMENT_INIT;
    struct porep_public public;
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (vk == NULL) return api_end(&call, api_refuse(&call, "vk"), error);
    if (statement == NULL) return api_end(&call, api_refuse(&call, "statement"), error);
    if (proofs == NULL) return api_end(&call, api_refuse(&call, "proofs"), error);
    api_copy_in(&own, sizeof own, statement);
    cuzk_status status = derive(&public, &call.task, &own);
    if (status == CUZK_OK &&
        (vk->vk.curve != &curve_bls12_381 || vk->vk.ic_count != porep_input_count(public.shape))) {
        status = FAIL(
            &call.task, CUZK_MISMATCH,
            "the verifying key is for %zu public inputs over %s; PoRep of %s sectors has %zu over bls12_381",
            vk->vk.ic_count - 1, vk->vk.curve->name, public.shape->name, porep_input_count(public.shape) - 1);
    }
    if (status == CUZK_OK)
        status = verify_all(&call.task, &vk->verifier, &public, cuzk_porep_partitions(own.proof_type),
                            span_of(proofs, bytes));
    return api_end(&call, status, error);
}

/* -- proving ----------------------------------------------------------------------------------------------------------- */

size_t cuzk_porep_proof_bytes(const cuzk_c1 *c1) { return (size_t)c1->c1.partitions * PROOF_BYTES; }

void porep_witness_room(struct porep_witness_room *out, const struct circuit_image *image, unsigned width)
{
    const struct circuit_template *whole = image_circuit(image);
    const size_t bits = ((size_t)whole->aux_count + 63) / 64 * 8,
                 numbers = (size_t)image->number_total * sizeof(bls12_381_fr_int),
                 registers = (size_t)width * whole->depth_words * sizeof(uint32_t);

    out->values_bytes = 32 * ((size_t)whole->input_count + whole->aux_count);
    out->total_bytes = out->values_bytes + bits + numbers + registers + 32 * (size_t)whole->input_count;
}

struct proving {
    struct task *task;
    const cuzk_context *context;
    const cuzk_porep_key *key;
    const cuzk_c1 *handle;
    const struct c1 *c1; /* in it */
    const cuzk_porep_request *request;
    struct porep_public public;
    struct groth16_plan plan;
    struct assignment assignment;
    struct arena memory; /* of the values */
    bls12_381_fr_int *values;
};

static void report(const struct proving *p, unsigned partition, const char *stage, double ms)
{
    if (p->request->stage != NULL) p->request->stage(p->request->stage_context, partition, stage, ms);
}

static void report_proof(const struct proving *p, unsigned partition, const struct groth16_timings *tm)
{
    static const char *const sums[QUERY_COUNT] = { "msm_a", "msm_b1", "msm_b2", "msm_l", "msm_h" };

    report(p, partition, "constraints", tm->eval_ms);
    report(p, partition, "quotient", tm->quotient_ms);
    for (int q = 0; q < QUERY_COUNT; q++) report(p, partition, sums[q], tm->msm_ms[q]);
    report(p, partition, "assemble", tm->assemble_ms);
    report(p, partition, "verify", tm->verify_ms);
}

/* The witness's inputs are what a verifier will derive; if not, proving would be in vain. */
static cuzk_status check_inputs(const struct proving *p, unsigned partition)
{
    struct fr_int derived[3 + 18 * POREP_MAX_CHALLENGES];
    const size_t count = porep_input_count(p->public.shape) - 1;

    TRY(inputs_of(p->task, &p->public, partition, derived));
    for (size_t i = 0; i < count; i++)
        if (memcmp(&derived[i], &p->values[i + 1], sizeof derived[i]) != 0) {
            const cuzk_status status =
                FAIL(p->task, CUZK_MISMATCH,
                     "partition %u: public input %zu of the vanilla proofs is not the one that the "
                     "sector's public data give",
                     partition, i);
            task_fail_place(p->task, p->c1->path[0] != '\0' ? p->c1->path : NULL, ERROR_NO_OFFSET,
                            "public input",
                            "miner, sector and seed must be those with which Commit Phase 1 ran");
            return status;
        }
    return CUZK_OK;
}

static cuzk_status prove_partition(struct proving *p, unsigned partition, uint8_t out[PROOF_BYTES])
{
    const struct porep_circuit *circuit = &p->key->binding.circuit;
    struct groth16_timings timings = { 0 };
    struct groth16_proof proof;
    struct witness w;
    const uint64_t start_ns = clock_now_ns();

    TRY(porep_assign(circuit, p->task, &p->assignment, p->c1, partition));
    porep_witness(circuit, &p->assignment, p->values);
    TRY(check_inputs(p, partition));
    report(p, partition, "witness", clock_ms_since(start_ns));
    w.curve = &curve_bls12_381;
    w.count = p->key->key->variable_count;
    w.values = span_of(p->values, 32 * w.count);
    w.assignment = &p->assignment;
    const cuzk_status status =
        groth16_prove_verified(p->task, &proof, p->key->key, &p->plan, &p->key->verifier, &w, &timings);
    if (status != CUZK_OK) {
        char partition_text[32];
        snprintf(partition_text, sizeof partition_text, "partition %u", partition);
        task_fail_place(p->task, p->c1->path[0] != '\0' ? p->c1->path : NULL, ERROR_NO_OFFSET, partition_text,
                        NULL);
        return status;
    }
    report_proof(p, partition, &timings);
    const struct proof_points points = { proof.a, proof.b, proof.c };
    proof_encode(out, &points);
    return CUZK_OK;
}

static cuzk_status prepare(struct proving *p)
{
    const struct porep_circuit *circuit = &p->key->binding.circuit;
    struct porep_witness_room room;
    cuzk_porep_statement statement = CUZK_POREP_STATEMENT_INIT;
    uint64_t clock = clock_now_ns();
    void *values;

    if (p->c1->shape != circuit->shape) {
        const cuzk_status status =
            FAIL(p->task, CUZK_MISMATCH, "the vanilla proofs are of a %s sector, the parameters for %s",
                 p->c1->shape->name, circuit->shape->name);
        task_fail_place(p->task, p->c1->path[0] != '\0' ? p->c1->path : NULL, ERROR_NO_OFFSET,
                        "registered_proof", NULL);
        return status;
    }
    TRY(groth16_prove_plan(&p->plan, p->task, p->key->key, p->context->backend, p->context->device));
    porep_witness_room(&room, &circuit->image, pool_width(p->context->pool));
    const size_t all = p->key->shared_bytes + p->plan.block_bytes + room.total_bytes;
    if (p->context->memory_bytes != 0 && all > p->context->memory_bytes) {
        const cuzk_status status =
            FAIL(p->task, CUZK_TOO_LARGE, "the proof takes %zu bytes of memory; the limit is %llu", all,
                 (unsigned long long)p->context->memory_bytes);
        task_fail_place(p->task, NULL, ERROR_NO_OFFSET, "memory_bytes",
                        "raise the limit, or use a machine with more memory");
        return status;
    }
    TRY(porep_check_identity(p->c1, p->task, p->request->miner, p->request->sector));
    TRY(porep_check(p->c1, p->task));
    cuzk_c1_statement(p->handle, p->request->miner, p->request->sector, &statement);
    TRY(derive(&p->public, p->task, &statement));
    report(p, 0, "check", clock_ms_since(clock));
    TRY(assignment_create(&p->assignment, p->task, &circuit->image));
    TRY(arena_open(&p->memory, p->task, arena_round(room.values_bytes), ARENA_SECRET));
    TRY(arena_take(&p->memory, p->task, &values, room.values_bytes));
    p->values = values;
    return CUZK_OK;
}

static cuzk_status prove(struct proving *p, uint8_t *out)
{
    const unsigned partitions = p->c1->partitions;
    const size_t bytes = (size_t)partitions * PROOF_BYTES;
    uint8_t *made = malloc(bytes); /* handed out when all of them have been verified */
    cuzk_status status = CUZK_OK;

    if (made == NULL) return FAIL(p->task, CUZK_NO_MEMORY, "no memory for %zu bytes", bytes);
    TRY_GOTO(out, prepare(p));
    for (unsigned k = 0; k < partitions; k++) {
        task_progress(p->task, "partitions", k, partitions);
        TRY_GOTO(out, prove_partition(p, k, made + (size_t)k * PROOF_BYTES));
    }
    const uint64_t start_ns = clock_now_ns();
    TRY_GOTO(out, verify_all(p->task, &p->key->verifier, &p->public, partitions, span_of(made, bytes)));
    report(p, partitions, "verify_all", clock_ms_since(start_ns));
    memcpy(out, made, bytes);
out:
    free(made);
    return status;
}

cuzk_status cuzk_porep_prove(void *proofs, size_t capacity, cuzk_context *context, const cuzk_porep_key *key,
                             const cuzk_c1 *c1, const cuzk_porep_request *request, const cuzk_watch *watch,
                             cuzk_error *error)
{
    cuzk_porep_request own = CUZK_POREP_REQUEST_INIT;
    struct proving p = { 0 };
    struct api_call call;

    api_begin(&call, context, watch);
    if (context == NULL) return api_end(&call, api_refuse(&call, "context"), error);
    if (key == NULL) return api_end(&call, api_refuse(&call, "key"), error);
    if (c1 == NULL) return api_end(&call, api_refuse(&call, "c1"), error);
    if (request == NULL) return api_end(&call, api_refuse(&call, "request"), error);
    if (proofs == NULL || capacity < cuzk_porep_proof_bytes(c1))
        return api_end(&call, api_refuse(&call, "proofs"), error);
    api_copy_in(&own, sizeof own, request);
    p.task = &call.task;
    p.context = context;
    p.key = key;
    p.handle = c1;
    p.c1 = &c1->c1;
    p.request = &own;
    const cuzk_status status = prove(&p, proofs);
    assignment_fini(&p.assignment);
    arena_close(&p.memory);
    return api_end(&call, status, error);
}
