/* PoRep: statements, proving with verification, verifying. */
#include "api/api_filecoin.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "filecoin/porep_prover.h"
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
    struct porep_statement s;

    porep_proof_statement(&s, &c1->c1, miner, sector);
    own.proof_type = s.proof->name;
    memcpy(own.prover_id, s.prover_id, 32);
    own.sector = s.sector;
    memcpy(own.ticket, s.ticket, 32);
    memcpy(own.seed, s.seed, 32);
    memcpy(own.comm_r, s.comm_r, 32);
    memcpy(own.comm_d, s.comm_d, 32);
    api_copy_out(out, &own, sizeof own);
}

/* From what a verifier knows, and from nothing else. */
static cuzk_status derive(struct porep_public *out, struct task *t, const cuzk_porep_statement *given)
{
    struct porep_statement s = { .porep_id = given->porep_id, .sector = given->sector };

    s.proof = given->proof_type != NULL
                  ? registered_proof_by_name(given->proof_type, strlen(given->proof_type))
                  : NULL;
    if (s.proof == NULL) {
        const cuzk_status status = FAIL(t, CUZK_INVALID_ARGUMENT, "there is no proof type '%s'",
                                        given->proof_type != NULL ? given->proof_type : "");
        task_fail_place(t, NULL, ERROR_NO_OFFSET, "proof_type",
                        "proof types are named like StackedDrg32GiBV1_1");
        return status;
    }
    memcpy(s.prover_id, given->prover_id, 32);
    memcpy(s.ticket, given->ticket, 32);
    memcpy(s.seed, given->seed, 32);
    memcpy(s.comm_r, given->comm_r, 32);
    memcpy(s.comm_d, given->comm_d, 32);
    porep_proof_derive(out, &s);
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
    status = p->value != NULL ? porep_proof_inputs(&call.task, &public, partition, p->value)
                              : FAIL(&call.task, CUZK_NO_MEMORY, "no memory for %llu public inputs",
                                     (unsigned long long)p->count);
    if (status == CUZK_OK)
        *out = p;
    else
        cuzk_publics_close(p);
    return api_end(&call, status, error);
}

/* -- verifying --------------------------------------------------------------------------------------------------------- */

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
        status = porep_proof_verify(&call.task, &vk->verifier, &public, 0,
                                    cuzk_porep_partitions(own.proof_type), span_of(proofs, bytes));
    return api_end(&call, status, error);
}

/* -- proving ----------------------------------------------------------------------------------------------------------- */

size_t cuzk_porep_proof_bytes(const cuzk_c1 *c1) { return (size_t)c1->c1.partitions * PROOF_BYTES; }

struct proving {
    struct task *task;
    const cuzk_context *context;
    const struct porep_key *key;
    const struct c1 *c1;
    const cuzk_porep_request *request;
    struct porep_public public;
    struct groth16_plan plan;
    struct assignment assignment;
    struct arena memory;      /* of the values */
    bls12_381_fr_int *values; /* NULL where the device makes them */
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

static cuzk_status prove_partition(struct proving *p, unsigned partition, uint8_t out[PROOF_BYTES])
{
    const struct porep_circuit *circuit = &p->key->binding.circuit;
    struct groth16_timings timings = { 0 };
    struct groth16_proof proof;
    struct witness w;
    const uint64_t start_ns = clock_now_ns();

    TRY(porep_assign(circuit, p->task, &p->assignment, p->c1, partition));
    TRY(porep_proof_check_inputs(p->task, &p->public, partition, p->assignment.inputs, p->c1->path));
    if (!p->plan.on_image) porep_witness(circuit, &p->assignment, p->values);
    report(p, partition, "witness", clock_ms_since(start_ns));
    w.curve = &curve_bls12_381;
    w.count = p->key->key->variable_count;
    w.values = span_of(p->values, p->plan.on_image ? 0 : 32 * w.count);
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

/* That vanilla proofs and key fit, and what a verifier would derive. */
static cuzk_status derive_public(struct proving *p)
{
    const struct porep_circuit *circuit = &p->key->binding.circuit;
    struct porep_statement statement;

    if (p->c1->shape != circuit->shape) {
        const cuzk_status status =
            FAIL(p->task, CUZK_MISMATCH, "the vanilla proofs are of a %s sector, the parameters for %s",
                 p->c1->shape->name, circuit->shape->name);
        task_fail_place(p->task, p->c1->path[0] != '\0' ? p->c1->path : NULL, ERROR_NO_OFFSET,
                        "registered_proof", NULL);
        return status;
    }
    TRY(porep_check_identity(p->c1, p->task, p->request->miner, p->request->sector));
    porep_proof_statement(&statement, p->c1, p->request->miner, p->request->sector);
    porep_proof_derive(&p->public, &statement);
    return CUZK_OK;
}

static cuzk_status prepare(struct proving *p)
{
    const struct porep_circuit *circuit = &p->key->binding.circuit;
    struct porep_room room;
    uint64_t clock = clock_now_ns();
    void *values;

    TRY(groth16_prove_plan(&p->plan, p->task, p->key->key, p->context->backend, p->context->device));
    porep_proof_room(&room, &circuit->image, pool_width(p->context->pool));
    if (p->plan.on_image) room.values_bytes = 0;
    const size_t all = p->key->shared_bytes + p->plan.block_bytes + room.assignment_bytes + room.values_bytes;
    /* a card's memory has been weighed by the plan */
    if (p->context->backend->reads_host_memory && p->context->memory_bytes != 0 &&
        all > p->context->memory_bytes) {
        const cuzk_status status =
            FAIL(p->task, CUZK_TOO_LARGE, "the proof takes %zu bytes of memory; the limit is %llu", all,
                 (unsigned long long)p->context->memory_bytes);
        task_fail_place(p->task, NULL, ERROR_NO_OFFSET, "memory_bytes",
                        "raise the limit, or use a machine with more memory");
        return status;
    }
    TRY(porep_check(p->c1, p->task));
    report(p, 0, "check", clock_ms_since(clock));
    TRY(assignment_create(&p->assignment, p->task, &circuit->image));
    if (p->plan.on_image) return CUZK_OK;
    TRY(arena_open(&p->memory, p->task, arena_round(room.values_bytes), ARENA_SECRET));
    TRY(arena_take(&p->memory, p->task, &values, room.values_bytes));
    p->values = values;
    return CUZK_OK;
}

/* One after another, each with a witness made here. */
static cuzk_status prove_in_turn(struct proving *p, uint8_t *out)
{
    TRY(prepare(p));
    for (unsigned k = 0; k < p->c1->partitions; k++) {
        task_progress(p->task, "partitions", k, p->c1->partitions);
        TRY(prove_partition(p, k, out + (size_t)k * PROOF_BYTES));
    }
    return CUZK_OK;
}

/* -- partitions together, where the device makes witnesses ------------------------------------------------------------- */

static void report_span(const struct proving *p, unsigned partition, const char *stage,
                        const struct batch_span *s)
{
    if (s->end_ns != 0) report(p, partition, stage, (double)(s->end_ns - s->begin_ns) * 1e-6);
}

/* Sums that serve several partitions are told of the first. */
static void report_batch(const struct proving *p, const struct batch_plan *plan,
                         const struct porep_share *share, const struct batch_times *times)
{
    static const char *const stages[BATCH_STAGES] = { "witness", "constraints", "quotient", "msm_h" };
    static const char *const sums[QUERY_H] = { "msm_a", "msm_b1", "msm_b2", "msm_l" };

    for (unsigned k = 0; k < share->count; k++)
        for (int s = 0; s < BATCH_STAGES; s++)
            report_span(p, share->first + k, stages[s], &times->stage[k][s]);
    for (unsigned i = 0; i < times->sweeps; i++)
        for (int q = 0; q < QUERY_H; q++)
            report_span(p, share->first + i * plan->sweep, sums[q], &times->sweep[i][q]);
}

static cuzk_status prove_batches(struct proving *p, struct porep_prover *prover, uint8_t *out)
{
    struct batch_times *times = calloc(1, sizeof *times);
    cuzk_status status = CUZK_OK;

    if (times == NULL) return FAIL(p->task, CUZK_NO_MEMORY, "no memory for a batch");
    for (unsigned k = 0; k < p->c1->partitions; k += prover->plan.partitions) {
        const unsigned left = p->c1->partitions - k;
        const struct porep_share share = { k, 1,
                                           left < prover->plan.partitions ? left : prover->plan.partitions };
        task_progress(p->task, "partitions", k, p->c1->partitions);
        TRY_GOTO(out, porep_prover_begin(prover, p->task, p->c1, &p->public, &share, times));
        TRY_GOTO(out, porep_prover_end(prover, p->task, out));
        report_batch(p, &prover->plan, &share, times);
    }
out:
    free(times);
    return status;
}

/* What is wrong with the vanilla proofs says more than the row that it breaks. */
static cuzk_status explain(struct proving *p, cuzk_status status)
{
    struct task own;

    if (status != CUZK_UNSATISFIED && status != CUZK_MALFORMED && status != CUZK_MISMATCH) return status;
    task_init(&own);
    own.pool = p->task->pool;
    own.cancel = p->task->cancel;
    if (porep_check(p->c1, &own) == CUZK_OK) return status;
    p->task->error = own.error;
    return own.error.status;
}

/* All partitions in one batch, or as many as fit; points that the device has no room for are sent from the host. */
static struct batch_limits limits_of(const struct proving *p)
{
    const unsigned partitions = p->c1->partitions;
    struct device_info info;

    p->context->backend->info(p->context->device, &info);
    const uint64_t most = p->context->memory_bytes;
    const struct batch_limits limits = { .partitions = partitions < BATCH_MOST ? partitions : BATCH_MOST,
                                         .memory_bytes =
                                             most != 0 && most < info.memory_bytes ? most : info.memory_bytes,
                                         .sends = true };
    return limits;
}

/* *fits: false where the device has no room for a batch, or the host none for the points that it would send; then out holds nothing that
 * counts.  The plan says so at first; it knows neither other keys on the device nor the streams of lanes, so what they take is seen only
 * when memory is asked for. */
static cuzk_status prove_on_device(struct proving *p, uint8_t *out, bool *fits)
{
    const struct batch_limits limits = limits_of(p);
    struct porep_prover *prover = calloc(1, sizeof *prover);
    const uint64_t clock = clock_now_ns();
    const struct error before = p->task->error;
    struct task plan;

    if (prover == NULL) return FAIL(p->task, CUZK_NO_MEMORY, "no memory for a batch");
    plan = *p->task;
    cuzk_status status =
        porep_prover_open(prover, &plan, p->key, p->context->backend, p->context->device, &limits);
    *fits = status != CUZK_TOO_LARGE && status != CUZK_NO_MEMORY;
    if (status != CUZK_OK && *fits) p->task->error = plan.error;
    if (status == CUZK_OK) {
        report(p, 0, "device", clock_ms_since(clock));
        status = prove_batches(p, prover, out);
        if (status == CUZK_NO_MEMORY) {
            *fits = false;
            p->task->error = before;
        } else if (status != CUZK_OK) {
            status = explain(p, status);
            task_fail_place(p->task, p->c1->path[0] != '\0' ? p->c1->path : NULL, ERROR_NO_OFFSET, NULL,
                            NULL);
        }
    }
    porep_prover_close(prover);
    free(prover);
    return *fits ? status : CUZK_OK;
}

static cuzk_status prove(struct proving *p, uint8_t *out)
{
    const unsigned partitions = p->c1->partitions;
    const size_t bytes = (size_t)partitions * PROOF_BYTES;
    uint8_t *made = malloc(bytes); /* handed out when all of them have been verified */
    bool together = false;
    cuzk_status status = CUZK_OK;

    if (made == NULL) return FAIL(p->task, CUZK_NO_MEMORY, "no memory for %zu bytes", bytes);
    TRY_GOTO(out, derive_public(p));
    if (porep_prover_possible(p->context->backend)) TRY_GOTO(out, prove_on_device(p, made, &together));
    if (!together) TRY_GOTO(out, prove_in_turn(p, made));
    const uint64_t start_ns = clock_now_ns();
    TRY_GOTO(out,
             porep_proof_verify(p->task, &p->key->verifier, &p->public, 0, partitions, span_of(made, bytes)));
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
    p.key = &key->key;
    p.c1 = &c1->c1;
    p.request = &own;
    const cuzk_status status = prove(&p, proofs);
    assignment_fini(&p.assignment);
    arena_close(&p.memory);
    return api_end(&call, status, error);
}
