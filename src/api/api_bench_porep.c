/* The PoRep bench: statements made up, proved on one or more devices, a thread and some lanes on each, everything verified. */
#include "api/api_filecoin.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/hostmem.h"
#include "base/thread.h"
#include "circuits/porep/porep_seal.h"
#include "cuzk/cuzk_bench.h"
#include "filecoin/porep_prover.h"
#include "groth16/key_secret.h"
#include "groth16/setup.h"
#include <stdlib.h>
#include <string.h>

enum { LANES_MOST = 4, DEVICES_MOST = 8, SOURCES = 2, SPANS_A_BATCH = BATCH_MOST * (BATCH_STAGES + QUERY_H) };

/* Vanilla proofs, and what a verifier derives from their header. */
struct source {
    struct c1 c1;
    struct porep_public public;
};

struct bench;

/* A device, its lanes, and what its thread makes. */
struct place {
    struct bench *bench;
    struct task task;
    unsigned index;
    struct device *device;
    bool owned; /* else the context's */
    struct porep_prover lanes[LANES_MOST];
    unsigned batches;            /* of a proof: its share of partitions may be more than one takes */
    uint64_t *begin_ns, *end_ns; /* of each proof, on the host's clock */
    struct batch_times *times;   /* of each batch */
    cuzk_status status;
    pthread_t thread;
};

struct bench {
    cuzk_context *context;
    const struct porep_key *key;
    cuzk_porep_bench_options options;
    unsigned partitions;
    struct source sources[SOURCES];
    uint8_t *proofs;     /* of each proof, and of the one that is made alone, all partitions */
    unsigned first, end; /* proofs that are made now */
    uint64_t host_bytes[2], device_bytes[2];
    struct place places[DEVICES_MOST];
    atomic_bool stop; /* a place has failed */
};

static cuzk_status check_backend(struct task *t, const cuzk_context *context)
{
    if (porep_prover_possible(context->backend)) return CUZK_OK;
    const cuzk_status status =
        FAIL(t, CUZK_DEVICE_UNAVAILABLE, "the %s backend makes no witnesses; cuda does", context->backend->name);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "backend", "name a card: --device 0");
    return status;
}

/* -- a key without files ----------------------------------------------------------------------------------------------- */

static cuzk_status make_key(struct porep_key *key, struct task *t, const cuzk_context *context,
                            const struct porep_shape *shape, bool derived, cuzk_porep_dev_key *made)
{
    struct trapdoor secrets;
    uint64_t clock = clock_now_ns();

    TRY(porep_bind(&key->binding, t, shape));
    made->circuit_s = clock_ms_since(clock) * 1e-3;
    TRY(groth16_setup_draw(t, &secrets, &curve_bls12_381, ROOT_BELLMAN));
    clock = clock_now_ns();
    const cuzk_status status =
        porep_key_from_secret(key, t, &secrets, derived, context->backend, context->device);
    wipe(&secrets, sizeof secrets);
    made->scalars_s = clock_ms_since(clock) * 1e-3;
    made->host_bytes = key->shared_bytes;
    made->host_peak_bytes = hostmem_peak_rss_bytes();
    return status;
}

cuzk_status cuzk_porep_key_make_dev(cuzk_porep_key **out, cuzk_context *context, uint64_t sector_bytes,
                                    int derived, cuzk_porep_dev_key *made, const cuzk_watch *watch,
                                    cuzk_error *error)
{
    cuzk_porep_dev_key own = CUZK_POREP_DEV_KEY_INIT;
    const struct porep_shape *shape;
    struct api_call call;
    cuzk_porep_key *key;

    api_begin(&call, context, watch);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (context == NULL) return api_end(&call, api_refuse(&call, "context"), error);
    cuzk_status status = check_backend(&call.task, context);
    if (status == CUZK_OK) status = api_porep_key_new(&key, &shape, &call, sector_bytes);
    if (status != CUZK_OK) return api_end(&call, status, error);
    status = make_key(&key->key, &call.task, context, shape, derived != 0, &own);
    if (status == CUZK_OK) {
        api_copy_out(made, &own, sizeof own);
        *out = key;
    } else {
        cuzk_porep_key_close(key);
    }
    return api_end(&call, status, error);
}

/* -- what is proved ---------------------------------------------------------------------------------------------------- */

/* The first proof type of this size whose challenges do not depend on comm_r. */
static const struct registered_proof *proof_of(const struct porep_shape *shape)
{
    for (unsigned i = 0; i < REGISTERED_PROOF_COUNT; i++) {
        const struct registered_proof *r = registered_proof_by_number(i);
        if (r != NULL && r->shape == shape && r->feature == POREP_INTERACTIVE && !r->legacy_graph) return r;
    }
    return NULL;
}

static cuzk_status make_sources(struct bench *b, struct task *t)
{
    const struct porep_shape *shape = b->key->binding.circuit.shape;
    struct porep_seal_request request = { proof_of(shape), 1000, 1, 0 };
    struct porep_statement statement;

    if (request.proof == NULL)
        return FAIL(t, CUZK_UNSUPPORTED, "there is no interactive proof type of %s sectors", shape->name);
    b->partitions = registered_proof_partitions(request.proof);
    if (b->options.partitions > b->partitions)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%u partitions of a proof that has %u", b->options.partitions,
                    b->partitions);
    if (b->options.partitions != 0) b->partitions = b->options.partitions;
    for (unsigned i = 0; i < SOURCES; i++) {
        request.sector = request.seed = i + 1;
        TRY(porep_seal_sparse(&b->sources[i].c1, t, &request));
        porep_proof_statement(&statement, &b->sources[i].c1, request.miner, request.sector);
        porep_proof_derive(&b->sources[i].public, &statement);
    }
    return CUZK_OK;
}

/* -- a device ---------------------------------------------------------------------------------------------------------- */

static struct batch_limits limits_of(const cuzk_porep_bench_options *o, unsigned partitions)
{
    const unsigned share = (partitions + o->devices - 1) / o->devices;
    const struct batch_limits l = { .partitions = share < BATCH_MOST ? share : BATCH_MOST,
                                    .sweep = o->sweep,
                                    .lanes = o->lanes,
                                    .memory_bytes = o->memory_bytes,
                                    .check_rows = o->check_rows != 0,
                                    .sends = true };

    return l;
}

static cuzk_status open_device(struct place *p, struct task *t)
{
    const struct backend *be = p->bench->context->backend;
    struct device_options o = { 0 };
    struct device_info info;

    p->device = p->bench->context->device;
    if (p->index == 0) return CUZK_OK;
    be->info(p->device, &info);
    o.index = info.index + p->index;
    o.memory_bytes = info.memory_bytes;
    o.pinned_bytes = API_PINNED_BYTES;
    TRY(be->open(&p->device, t, &o));
    p->owned = true;
    return CUZK_OK;
}

static cuzk_status open_place(struct place *p, struct task *t)
{
    const struct bench *b = p->bench;
    const struct batch_limits limits = limits_of(&b->options, b->partitions);
    const struct porep_share share = porep_share_of(b->partitions, p->index, b->options.devices);

    TRY(open_device(p, t));
    TRY(porep_prover_open(&p->lanes[0], t, b->key, b->context->backend, p->device, &limits));
    for (unsigned i = 1; i < b->options.lanes; i++) TRY(porep_prover_beside(&p->lanes[i], t, &p->lanes[0]));
    p->batches = (share.count + p->lanes[0].plan.partitions - 1) / p->lanes[0].plan.partitions;
    const size_t proofs = (size_t)b->options.proofs + 1;
    p->begin_ns = calloc(proofs, sizeof *p->begin_ns);
    p->end_ns = calloc(proofs, sizeof *p->end_ns);
    p->times = calloc(proofs * p->batches + 1, sizeof *p->times);
    if (p->begin_ns != NULL && p->end_ns != NULL && p->times != NULL) return CUZK_OK;
    return FAIL(t, CUZK_NO_MEMORY, "no memory for the times of %u proofs", b->options.proofs);
}

static void close_place(struct place *p)
{
    for (unsigned i = LANES_MOST; i-- > 0;) porep_prover_close(&p->lanes[i]);
    free(p->begin_ns);
    free(p->end_ns);
    free(p->times);
}

/* Batch n of the place: of proof n / batches. */
static cuzk_status begin_batch(struct place *p, unsigned n)
{
    const struct bench *b = p->bench;
    const unsigned proof = n / p->batches, at = n % p->batches * p->lanes[0].plan.partitions;
    const struct source *s = &b->sources[proof % SOURCES];
    struct porep_share share = porep_share_of(b->partitions, p->index, b->options.devices);

    share.first += at * share.stride;
    share.count -= at;
    if (share.count > p->lanes[0].plan.partitions) share.count = p->lanes[0].plan.partitions;
    if (at == 0) p->begin_ns[proof] = clock_now_ns();
    return porep_prover_begin(&p->lanes[n % b->options.lanes], &p->task, &s->c1, &s->public, &share,
                              &p->times[n]);
}

/* What is held after it: the last of several has the last word. */
static void proof_ended(struct bench *b, const struct place *p, unsigned proof)
{
    const unsigned which = proof == 0 ? 0 : 1;
    struct device_info info;

    b->context->backend->info(p->device, &info);
    b->host_bytes[which] = hostmem_rss_bytes();
    b->device_bytes[which] = info.peak_bytes;
    if (b->options.proof == NULL) return;
    b->options.proof(b->options.proof_context, proof, (double)(p->end_ns[proof] - p->begin_ns[proof]) * 1e-9);
}

static cuzk_status end_batch(struct place *p, unsigned n)
{
    struct bench *b = p->bench;
    const unsigned proof = n / p->batches;

    TRY(porep_prover_end(&p->lanes[n % b->options.lanes], &p->task,
                         b->proofs + (size_t)proof * b->partitions * PROOF_BYTES));
    p->end_ns[proof] = clock_now_ns();
    if (p->index == 0 && n % p->batches == p->batches - 1) proof_ended(b, p, proof);
    return CUZK_OK;
}

static cuzk_status prove_some(struct place *p)
{
    const unsigned lanes = p->bench->options.lanes, first = p->bench->first * p->batches,
                   end = p->bench->end * p->batches;

    for (unsigned n = first; n < end + lanes; n++) {
        if (atomic_load(&p->bench->stop)) return CUZK_OK;
        if (n >= first + lanes && n - lanes < end) TRY(end_batch(p, n - lanes));
        if (n < end) TRY(begin_batch(p, n));
    }
    return CUZK_OK;
}

static void *run_place(void *context)
{
    struct place *p = context;

    p->status = prove_some(p);
    if (p->status != CUZK_OK) atomic_store(&p->bench->stop, true);
    return NULL;
}

/* Proofs first up to end, over the lanes of all places. */
static cuzk_status run_places(struct bench *b, struct task *t, unsigned first, unsigned end)
{
    unsigned started = 0;
    cuzk_status status = CUZK_OK;

    b->first = first;
    b->end = end;
    for (; started < b->options.devices; started++) {
        struct place *p = &b->places[started];
        p->task = *t;
        if (b->options.devices > 1) p->task.pool = NULL; /* verification is each thread's own */
        if (started > 0) p->task.progress = NULL;
        if (thread_start(&p->thread, "bench", run_place, p) == 0) continue;
        status = FAIL(t, CUZK_NO_MEMORY, "no thread for device %u", started);
        atomic_store(&b->stop, true);
        break;
    }
    for (unsigned i = 0; i < started; i++) {
        pthread_join(b->places[i].thread, NULL);
        if (status != CUZK_OK || b->places[i].status == CUZK_OK) continue;
        status = b->places[i].status;
        t->error = b->places[i].task.error;
    }
    return status;
}

static cuzk_status verify_all(struct bench *b, struct task *t)
{
    const size_t each = (size_t)b->partitions * PROOF_BYTES;

    for (unsigned i = 0; i <= b->options.proofs; i++)
        TRY(porep_proof_verify(t, &b->key->verifier, &b->sources[i % SOURCES].public, 0, b->partitions,
                               span_of(b->proofs + i * each, each)));
    return CUZK_OK;
}

/* -- what is told ------------------------------------------------------------------------------------------------------ */

static int by_begin(const void *a, const void *b)
{
    const uint64_t x = ((const struct batch_span *)a)->begin_ns, y = ((const struct batch_span *)b)->begin_ns;

    return (x > y) - (x < y);
}

/* All stretches of a batch. */
static size_t list_spans(struct batch_span *out, const struct batch_times *t)
{
    size_t count = 0;

    for (unsigned i = 0; i < BATCH_MOST; i++)
        for (int s = 0; s < BATCH_STAGES; s++) out[count++] = t->stage[i][s];
    for (unsigned i = 0; i < t->sweeps; i++)
        for (int q = 0; q < QUERY_H; q++) out[count++] = t->sweep[i][q];
    return count;
}

/* The share of the time from the first stretch to the last in which there is none, and the longest such time. */
static double idle_share(const struct place *p, unsigned batches, double *gap_ms)
{
    struct batch_span *spans = calloc((size_t)batches * SPANS_A_BATCH + 1, sizeof *spans);
    uint64_t busy = 0, end = 0, first = 0, gap = 0;
    size_t count = 0;

    *gap_ms = 0;
    if (spans == NULL) return -1;
    for (unsigned n = 0; n < batches; n++) count += list_spans(spans + count, &p->times[n]);
    qsort(spans, count, sizeof *spans, by_begin);
    for (size_t i = 0; i < count; i++) {
        if (spans[i].end_ns == 0) continue; /* of partitions that there are not */
        if (first == 0) first = end = spans[i].begin_ns;
        if (spans[i].begin_ns > end && spans[i].begin_ns - end > gap) gap = spans[i].begin_ns - end;
        if (spans[i].end_ns <= end) continue;
        busy += spans[i].end_ns - (spans[i].begin_ns > end ? spans[i].begin_ns : end);
        end = spans[i].end_ns;
    }
    free(spans);
    *gap_ms = (double)gap * 1e-6;
    return end > first ? 1 - (double)busy / (double)(end - first) : -1;
}

static void tell_span(void (*span)(void *, const cuzk_porep_bench_span *), void *context, const char *stage,
                      unsigned number, bool sweep, const struct batch_span *s, uint64_t zero)
{
    const cuzk_porep_bench_span out = { sizeof out,
                                        stage,
                                        number,
                                        sweep,
                                        (double)(s->begin_ns - zero) * 1e-6,
                                        (double)(s->end_ns - zero) * 1e-6 };

    if (s->end_ns != 0) span(context, &out);
}

static void tell_spans(const struct batch_times *t, void (*span)(void *, const cuzk_porep_bench_span *),
                       void *context)
{
    static const char *const stages[BATCH_STAGES] = { "witness", "constraints", "quotient", "sum H" };
    static const char *const sweeps[QUERY_H] = { "sums A", "sums B1", "sums B2", "sums L" };
    const uint64_t zero = t->stage[0][BATCH_WITNESS].begin_ns;

    for (unsigned i = 0; i < BATCH_MOST; i++)
        for (int s = 0; s < BATCH_STAGES; s++)
            tell_span(span, context, stages[s], i, false, &t->stage[i][s], zero);
    for (unsigned i = 0; i < t->sweeps; i++)
        for (int q = 0; q < QUERY_H; q++) tell_span(span, context, sweeps[q], i, true, &t->sweep[i][q], zero);
}

/* When a proof was begun first, and when its last partition had been verified. */
static uint64_t begun_ns(const struct bench *b, unsigned proof)
{
    uint64_t first = UINT64_MAX;

    for (unsigned i = 0; i < b->options.devices; i++)
        if (b->places[i].batches != 0 && b->places[i].begin_ns[proof] < first)
            first = b->places[i].begin_ns[proof];
    return first;
}

static uint64_t ended_ns(const struct bench *b, unsigned proof)
{
    uint64_t last = 0;

    for (unsigned i = 0; i < b->options.devices; i++)
        if (b->places[i].batches != 0 && b->places[i].end_ns[proof] > last) last = b->places[i].end_ns[proof];
    return last;
}

/* Seconds a proof costs where one follows another: the distance of two ends; where lanes take proofs at the same time, of which no end tells
 * what the proof took alone, the whole time over their number. */
static double steady_s(const struct bench *b, unsigned proofs)
{
    uint64_t begun = UINT64_MAX, ended = 0;

    if (proofs < 2) return 0;
    if (b->options.lanes == 1)
        return (double)(ended_ns(b, proofs - 1) - ended_ns(b, 0)) * 1e-9 / (proofs - 1);
    for (unsigned i = 0; i < proofs; i++) {
        if (begun_ns(b, i) < begun) begun = begun_ns(b, i);
        if (ended_ns(b, i) > ended) ended = ended_ns(b, i);
    }
    return (double)(ended - begun) * 1e-9 / proofs;
}

static void copied(const struct bench *b, uint64_t *sent, uint64_t *received, uint64_t *peak)
{
    struct device_info info;

    *sent = *received = *peak = 0;
    for (unsigned i = 0; i < b->options.devices; i++) {
        b->context->backend->info(b->places[i].device, &info);
        *sent += info.sent_bytes;
        *received += info.received_bytes;
        if (info.peak_bytes > *peak) *peak = info.peak_bytes;
    }
}

/* The points are on the devices: what they were made from, a multiple of what proofs take of the host, is no longer needed. */
static void leave_secret(const struct bench *b, cuzk_porep_bench *out)
{
    struct key_secret_times times;

    groth16_key_secret_times(b->key->key, &times);
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) out->points_s[q] = times.points_ms[q] * 1e-3;
    out->points_host_s = times.host_ms * 1e-3;
    groth16_key_forget_secret(b->key->key);
    out->load_host_peak_bytes = hostmem_peak_rss_bytes();
    (void)hostmem_peak_reset();
}

static void tell_key(const struct bench *b, cuzk_porep_bench *out)
{
    const struct groth16_key *key = b->key->key;

    out->domain_size = key->domain.size;
    out->transforms = key->h_mode == H_LAGRANGE_4 ? 4 : 6;
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) out->points[q] = key->point_count[q];
}

/* -- the whole --------------------------------------------------------------------------------------------------------- */

static cuzk_status bench(struct bench *b, struct task *t, cuzk_porep_bench *out)
{
    const unsigned proofs = b->options.proofs;
    uint64_t sent, received, clock, peak;

    TRY(make_sources(b, t));
    b->proofs = calloc(((size_t)proofs + 1) * b->partitions, PROOF_BYTES);
    if (b->proofs == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for %u proofs", proofs);
    clock = clock_now_ns();
    for (unsigned i = 0; i < b->options.devices; i++) TRY(open_place(&b->places[i], t));
    out->load_s = clock_ms_since(clock) * 1e-3;
    leave_secret(b, out);
    copied(b, &sent, &received, &peak);
    TRY(run_places(b, t, 0, proofs));
    copied(b, &out->sent_bytes, &out->received_bytes, &out->device_peak_bytes);
    out->sent_bytes = (out->sent_bytes - sent) / proofs;
    out->received_bytes = (out->received_bytes - received) / proofs;
    TRY(run_places(b, t, proofs, proofs + 1));
    out->single_s = (double)(ended_ns(b, proofs) - begun_ns(b, proofs)) * 1e-9;
    out->host_peak_bytes = hostmem_peak_rss_bytes();
    out->group_peak_bytes = hostmem_group_peak_bytes();
    out->pinned_bytes = b->options.devices * API_PINNED_BYTES;
    memcpy(out->host_bytes, b->host_bytes, sizeof b->host_bytes);
    memcpy(out->device_bytes, b->device_bytes, sizeof b->device_bytes);
    tell_key(b, out);
    out->proofs = proofs;
    out->partitions = b->partitions;
    out->first_s = (double)(ended_ns(b, 0) - begun_ns(b, 0)) * 1e-9;
    out->steady_s = steady_s(b, proofs);
    out->idle_share = idle_share(&b->places[0], proofs * b->places[0].batches, &out->gap_ms);
    return verify_all(b, t);
}

static cuzk_status check_options(struct task *t, const cuzk_context *context,
                                 const cuzk_porep_bench_options *o)
{
    TRY(check_backend(t, context));
    if (o->proofs < 1 || o->lanes < 1 || o->lanes > LANES_MOST || o->devices < 1 || o->devices > DEVICES_MOST)
        return FAIL(t, CUZK_INVALID_ARGUMENT,
                    "%u proofs over %u lanes of %u devices; at least 1, 1..%d and 1..%d", o->proofs, o->lanes,
                    o->devices, LANES_MOST, DEVICES_MOST);
    return CUZK_OK;
}

static void end_all(struct bench *b)
{
    for (unsigned i = 0; i < DEVICES_MOST; i++) close_place(&b->places[i]);
    for (unsigned i = 0; i < SOURCES; i++) c1_fini(&b->sources[i].c1);
    free(b->proofs);
}

/* The key stays on the context's device, and is not to outlive the others. */
static void close_devices(struct bench *b)
{
    for (unsigned i = 0; i < DEVICES_MOST; i++) {
        if (!b->places[i].owned) continue;
        key_device_drop(b->key->key, b->context->backend, b->places[i].device);
        b->context->backend->close(b->places[i].device);
    }
}

/* What a bench needs; the first that is missing is refused. */
static bool all_given(struct api_call *call, const void *out, const cuzk_context *context, const cuzk_porep_key *key)
{
    if (out != NULL && context != NULL && key != NULL) return true;
    api_refuse(call, out == NULL ? "out" : context == NULL ? "context" : "key");
    return false;
}

cuzk_status cuzk_bench_porep(cuzk_porep_bench *out, cuzk_context *context, const cuzk_porep_key *key,
                             const cuzk_porep_bench_options *options,
                             void (*span)(void *span_context, const cuzk_porep_bench_span *span),
                             void *span_context, const cuzk_watch *watch, cuzk_error *error)
{
    const cuzk_porep_bench_options defaults = CUZK_POREP_BENCH_OPTIONS_INIT;
    cuzk_porep_bench own = CUZK_POREP_BENCH_INIT;
    struct api_call call;
    void *handle;

    api_begin(&call, context, watch);
    if (!all_given(&call, out, context, key)) return api_end(&call, CUZK_INVALID_ARGUMENT, error);
    cuzk_status status = api_new(&call, &handle, sizeof(struct bench));
    if (status != CUZK_OK) return api_end(&call, status, error);
    struct bench *b = handle;
    b->context = context;
    b->key = &key->key;
    b->options = defaults;
    api_copy_in(&b->options, sizeof b->options, options);
    for (unsigned i = 0; i < DEVICES_MOST; i++) b->places[i] = (struct place){ .bench = b, .index = i };
    status = check_options(&call.task, context, &b->options);
    if (status == CUZK_OK) status = bench(b, &call.task, &own);
    if (status == CUZK_OK) {
        api_copy_out(out, &own, sizeof own);
        if (span != NULL && b->places[0].batches != 0)
            tell_spans(&b->places[0].times[(b->options.proofs - 1) * b->places[0].batches], span,
                       span_context);
    }
    end_all(b);
    close_devices(b);
    free(b);
    return api_end(&call, status, error);
}

static void tell_sent(cuzk_porep_bench_plan *out, const struct batch_plan *p)
{
    out->place_bytes = p->place_bytes;
    out->sent_bytes = p->link_bytes;
    out->locked_bytes = p->host_bytes;
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++)
        out->kept_share[q] = p->keep.streams ? (double)p->keep.count[q] / (double)p->split->row[q].count : 1;
}

cuzk_status cuzk_bench_porep_plan(cuzk_porep_bench_plan *out, cuzk_context *context,
                                  const cuzk_porep_key *key, const cuzk_porep_bench_options *options,
                                  cuzk_error *error)
{
    cuzk_porep_bench_options o = CUZK_POREP_BENCH_OPTIONS_INIT;
    cuzk_porep_bench_plan own = CUZK_POREP_BENCH_PLAN_INIT;
    struct key_split *split = NULL;
    struct batch_limits limits = { 0 };
    struct batch_plan plan;
    struct api_call call;

    api_begin(&call, context, NULL);
    if (!all_given(&call, out, context, key)) return api_end(&call, CUZK_INVALID_ARGUMENT, error);
    api_copy_in(&o, sizeof o, options);
    if (o.partitions == 0) o.partitions = key->key.binding.circuit.shape->partitions;
    cuzk_status status = check_options(&call.task, context, &o);
    if (status == CUZK_OK) limits = limits_of(&o, o.partitions);
    limits.host_bytes = UINT64_MAX;
    if (status == CUZK_OK)
        status = key_split_create(&split, &call.task, key->key.key, context->backend, context->device);
    if (status == CUZK_OK) status = prove_batch_plan(&plan, &call.task, split, &limits);
    if (status == CUZK_OK) {
        own.partitions = plan.partitions;
        own.sweep = plan.sweep;
        own.slots = plan.slots;
        own.lanes = o.lanes;
        own.key_bytes = key_split_device_bytes(split, &plan.keep);
        own.kept_bytes = plan.kept_bytes;
        own.vector_bytes = plan.vector_bytes;
        own.front_bytes = plan.front_bytes;
        own.back_bytes = plan.back_bytes;
        own.block_bytes = plan.block_bytes;
        own.pinned_bytes = plan.partitions * plan.statement_bytes;
        own.total_bytes = plan.total_bytes;
        tell_sent(&own, &plan);
        api_copy_out(out, &own, sizeof own);
    }
    key_split_destroy(split);
    return api_end(&call, status, error);
}
