/* Witnesses, proving, and making development keys. */
#include "api/api.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/hostmem.h"
#include "cuzk/cuzk_setup.h"
#include "formats/wtns.h"
#include "groth16/prove_verified.h"
#include "groth16/setup.h"
#include <stdlib.h>
#include <string.h>

/* -- witnesses --------------------------------------------------------------------------------------------------------- */

cuzk_status cuzk_witness_open(cuzk_witness **out, const char *path, cuzk_error *error)
{
    struct api_call call;
    void *handle;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (path == NULL) return api_end(&call, api_refuse(&call, "path"), error);
    cuzk_status status = api_new(&call, &handle, sizeof(cuzk_witness));
    if (status != CUZK_OK) return api_end(&call, status, error);
    cuzk_witness *w = handle;
    status = mapfile_open(&w->file, &call.task, path);
    if (status == CUZK_OK) status = wtns_parse(&w->witness, &call.task, w->file.path, w->file.bytes);
    if (status == CUZK_OK)
        *out = w;
    else
        cuzk_witness_close(w);
    return api_end(&call, status, error);
}

cuzk_status cuzk_witness_from_memory(cuzk_witness **out, const void *wtns, size_t bytes, cuzk_error *error)
{
    struct api_call call;
    void *handle;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (wtns == NULL) return api_end(&call, api_refuse(&call, "wtns"), error);
    cuzk_status status = api_new(&call, &handle, sizeof(cuzk_witness));
    if (status != CUZK_OK) return api_end(&call, status, error);
    cuzk_witness *w = handle;
    status = wtns_parse(&w->witness, &call.task, "the witness in memory", span_of(wtns, bytes));
    if (status == CUZK_OK)
        *out = w;
    else
        cuzk_witness_close(w);
    return api_end(&call, status, error);
}

cuzk_status cuzk_witness_from_values(cuzk_witness **out, const char *curve, const void *values,
                                     uint64_t count, cuzk_error *error)
{
    const struct curve *c = curve != NULL ? curve_by_name(curve) : NULL;
    struct api_call call;
    void *handle;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (c == NULL) return api_end(&call, api_refuse(&call, "curve"), error);
    if (values == NULL || count == 0 || count > SIZE_MAX / 32)
        return api_end(&call, api_refuse(&call, "values"), error);
    cuzk_status status = api_new(&call, &handle, sizeof(cuzk_witness));
    if (status != CUZK_OK) return api_end(&call, status, error);
    cuzk_witness *w = handle;
    w->witness.curve = c;
    w->witness.values = span_of(values, (size_t)count * 32);
    w->witness.count = count;
    status = witness_check(&call.task, &w->witness);
    if (status == CUZK_OK)
        *out = w;
    else
        cuzk_witness_close(w);
    return api_end(&call, status, error);
}

void cuzk_witness_close(cuzk_witness *witness)
{
    if (witness == NULL) return;
    mapfile_close(&witness->file);
    free(witness);
}

/* -- proving ----------------------------------------------------------------------------------------------------------- */

static cuzk_status make_publics(struct api_call *call, cuzk_publics **out, const struct witness *w,
                                uint64_t count)
{
    void *handle;

    TRY(api_new(call, &handle, sizeof(cuzk_publics)));
    cuzk_publics *p = handle;
    p->value = calloc(count + 1, sizeof *p->value);
    if (p->value == NULL) {
        free(p);
        return FAIL(&call->task, CUZK_NO_MEMORY, "no memory for %llu public inputs",
                    (unsigned long long)count);
    }
    p->count = count;
    for (uint64_t i = 0; i < count; i++) witness_get(w, &p->value[i], i + 1);
    *out = p;
    return CUZK_OK;
}

static cuzk_status fits(struct api_call *call, const cuzk_context *context, const struct groth16_key *key,
                        const struct groth16_plan *plan)
{
    if (context->memory_bytes == 0 || plan->block_bytes <= context->memory_bytes)
        return plan->backend->host_elements
                   ? hostmem_allows(&call->task, key->file.path, plan->block_bytes + key->heap_bytes,
                                    "a proof on this key, with what the key holds,")
                   : CUZK_OK;
    const cuzk_status status =
        FAIL(&call->task, CUZK_TOO_LARGE, "a proof on this key takes %zu bytes; the limit is %llu",
             plan->block_bytes, (unsigned long long)context->memory_bytes);
    task_fail_place(&call->task, NULL, ERROR_NO_OFFSET, "memory_bytes",
                    "raise the limit, or use a machine with more memory");
    return status;
}

static void report_timings(cuzk_timings *out, const struct groth16_timings *t, double total_ms)
{
    const cuzk_timings empty = CUZK_TIMINGS_INIT;

    *out = empty;
    out->witness_ms = t->witness_ms;
    out->eval_ms = t->eval_ms;
    out->quotient_ms = t->quotient_ms;
    for (int q = 0; q < QUERY_COUNT; q++) out->msm_ms[q] = t->msm_ms[q];
    out->assemble_ms = t->assemble_ms;
    out->verify_ms = t->verify_ms;
    out->total_ms = total_ms;
    out->wait_ms = t->wait_ms;
    out->staged_late = t->staged_late;
    out->alloc_ms = t->alloc_ms;
    out->release_ms = t->release_ms;
    out->lane = t->lane;
}

static cuzk_status prove(struct api_call *call, cuzk_proof *proof, cuzk_publics **publics,
                         cuzk_context *context, const cuzk_key *key, const struct witness *w)
{
    struct groth16_timings timings = { 0 };
    struct groth16_plan plan;
    struct lanes *lanes;
    const uint64_t start_ns = clock_now_ns();

    TRY(api_lanes(&lanes, &call->task, context));
    TRY(groth16_prove_plan_on(&plan, &call->task, key->key, context->backend, context->device, lanes));
    TRY(fits(call, context, key->key, &plan));
    TRY(groth16_prove_verified(&call->task, &proof->proof, key->key, &plan, &key->verifier, w, &timings));
    if (publics != NULL) TRY(make_publics(call, publics, w, key->key->public_count));
    report_timings(&proof->timings, &timings, clock_ms_since(start_ns));
    proof->timings.domain_size = key->key->domain.size;
    groth16_timing_line(proof->timing_line, &timings, key->key->domain.size);
    return CUZK_OK;
}

cuzk_status cuzk_prove(cuzk_proof **out, cuzk_publics **publics, cuzk_context *context, const cuzk_key *key,
                       const cuzk_witness *witness, const cuzk_watch *watch, cuzk_error *error)
{
    struct api_call call;
    void *handle;

    api_begin(&call, context, watch);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (context == NULL) return api_end(&call, api_refuse(&call, "context"), error);
    if (key == NULL) return api_end(&call, api_refuse(&call, "key"), error);
    if (witness == NULL) return api_end(&call, api_refuse(&call, "witness"), error);
    cuzk_status status = api_new(&call, &handle, sizeof(cuzk_proof));
    if (status != CUZK_OK) return api_end(&call, status, error);
    status = prove(&call, handle, publics, context, key, &witness->witness);
    if (status == CUZK_OK)
        *out = handle;
    else
        cuzk_proof_close(handle);
    return api_end(&call, status, error);
}

/* -- development keys -------------------------------------------------------------------------------------------------- */

static cuzk_status setup(struct api_call *call, const cuzk_context *context, const char *r1cs_path,
                         const char *key_path, const cuzk_setup_options *o)
{
    const enum root_convention layout = o->layout == CUZK_LAYOUT_BELLMAN ? ROOT_BELLMAN : ROOT_SNARKJS;
    struct task *t = &call->task;
    struct mapfile file = { 0 };
    struct trapdoor secrets;
    struct r1cs_file circuit;
    cuzk_status status;

    TRY_GOTO(out, mapfile_open(&file, t, r1cs_path));
    TRY_GOTO(out, r1cs_file_parse(&circuit, t, file.path, file.bytes));
    TRY_GOTO(out, groth16_setup_draw(t, &secrets, circuit.curve, layout));
    const struct groth16_setup_paths paths = { key_path, o->vk_path, o->derived_path };
    TRY_GOTO(out, groth16_setup_write(t, &circuit, &secrets, &paths, context->backend, context->device));
    if (o->trapdoor_path != NULL) TRY_GOTO(out, trapdoor_file_write(t, o->trapdoor_path, &secrets));
out:
    wipe(&secrets, sizeof secrets);
    mapfile_close(&file);
    return status;
}

cuzk_status cuzk_setup_dev(cuzk_context *context, const char *r1cs_path, const char *key_path,
                           const cuzk_setup_options *options, const cuzk_watch *watch, cuzk_error *error)
{
    cuzk_setup_options own = CUZK_SETUP_OPTIONS_INIT;
    struct api_call call;

    api_begin(&call, context, watch);
    if (context == NULL) return api_end(&call, api_refuse(&call, "context"), error);
    if (r1cs_path == NULL) return api_end(&call, api_refuse(&call, "r1cs_path"), error);
    if (key_path == NULL) return api_end(&call, api_refuse(&call, "key_path"), error);
    api_copy_in(&own, sizeof own, options);
    if (own.layout != CUZK_LAYOUT_ZKEY && own.layout != CUZK_LAYOUT_BELLMAN)
        return api_end(&call, api_refuse(&call, "layout"), error);
    return api_end(&call, setup(&call, context, r1cs_path, key_path, &own), error);
}
