/* GetStatus and GetMetrics: the engine's view as a message and as Prometheus text. */
#include "server/service.h"
#include "cuzk/v1/proving.pb-c.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* -- GetStatus ----------------------------------------------------------------------------------------------------------- */

/* The repeated fields: arrays of messages and of pointers to them. */
struct lists {
    Cuzk__V1__GPUStatus *lanes, **lane_at;
    Cuzk__V1__SRSStatus *keys, **key_at;
    Cuzk__V1__QueueStatus *queues, **queue_at;
    Cuzk__V1__JobStatus *jobs, **job_at;
};

static void *array(size_t count, size_t bytes) { return calloc(count + 1, bytes); }

static void lists_free(struct lists *l)
{
    free(l->lanes);
    free(l->lane_at);
    free(l->keys);
    free(l->key_at);
    free(l->queues);
    free(l->queue_at);
    free(l->jobs);
    free(l->job_at);
}

static bool lists_make(struct lists *l, const struct engine_view *v)
{
    l->lanes = array(v->lane_count, sizeof *l->lanes);
    l->lane_at = array(v->lane_count, sizeof *l->lane_at);
    l->keys = array(v->key_count, sizeof *l->keys);
    l->key_at = array(v->key_count, sizeof *l->key_at);
    l->queues = array(v->kind_count, sizeof *l->queues);
    l->queue_at = array(v->kind_count, sizeof *l->queue_at);
    l->jobs = array(v->job_count, sizeof *l->jobs);
    l->job_at = array(v->job_count, sizeof *l->job_at);
    return l->lanes && l->lane_at && l->keys && l->key_at && l->queues && l->queue_at && l->jobs && l->job_at;
}

static void put_lanes(struct lists *l, const struct engine_view *v)
{
    for (size_t i = 0; i < v->lane_count; i++) {
        const struct lane_view *from = &v->lanes[i];
        Cuzk__V1__GPUStatus *to = l->lane_at[i] = &l->lanes[i];
        cuzk__v1__gpustatus__init(to);
        to->ordinal = (uint32_t)i;
        to->name = service_text(from->device);
        to->state = service_text(lane_state_name(from->state));
        to->vram_total_bytes = v->devices[from->device_index].total;
        to->vram_free_bytes = v->devices[from->device_index].total - v->devices[from->device_index].used;
        if (from->state != LANE_BUSY && from->state != LANE_STUCK) continue;
        to->current_job_id = service_text(from->job_id);
        to->current_proof_kind = service_text(from->kind);
        to->busy_ms = from->busy_ms;
    }
}

static Cuzk__V1__SRSStatus__Tier tier_of(enum key_state state)
{
    if (state == KEY_RESIDENT) return CUZK__V1__SRSSTATUS__TIER__HOT;
    return state == KEY_COLD ? CUZK__V1__SRSSTATUS__TIER__COLD : CUZK__V1__SRSSTATUS__TIER__WARM;
}

static void put_keys(struct lists *l, const struct engine_view *v)
{
    for (size_t i = 0; i < v->key_count; i++) {
        const struct key_view *from = &v->keys[i];
        Cuzk__V1__SRSStatus *to = l->key_at[i] = &l->keys[i];
        cuzk__v1__srsstatus__init(to);
        to->circuit_id = service_text(from->circuit);
        to->tier = tier_of(from->state);
        to->size_bytes = from->state == KEY_COLD ? 0 : from->bytes;
        to->ref_count = from->references;
    }
}

static void put_queues(struct lists *l, const struct engine_view *v)
{
    for (size_t i = 0; i < v->kind_count; i++) {
        Cuzk__V1__QueueStatus *to = l->queue_at[i] = &l->queues[i];
        cuzk__v1__queue_status__init(to);
        to->proof_kind = service_text(v->kinds[i].kind);
        to->pending = v->kinds[i].pending;
        to->in_progress = v->kinds[i].running;
    }
}

static void put_jobs(struct lists *l, const struct engine_view *v)
{
    for (size_t i = 0; i < v->job_count; i++) {
        const struct job_view *from = &v->jobs[i];
        Cuzk__V1__JobStatus *to = l->job_at[i] = &l->jobs[i];
        cuzk__v1__job_status__init(to);
        to->job_id = service_text(from->job_id);
        to->circuit_id = service_text(from->circuit);
        to->proof_kind = service_text(from->kind);
        to->priority = (Cuzk__V1__Priority)from->priority;
        to->age_ms = from->age_ms;
        to->started = from->started;
        to->total_partitions = from->part_count;
        to->partitions_done = from->parts_done;
    }
}

struct look {
    struct rpc_call *call;
    struct service *service;
};

static void told_status(void *context, const struct engine_view *v)
{
    struct look *look = context;
    struct lists l = { 0 };
    if (lists_make(&l, v)) {
        Cuzk__V1__GetStatusResponse r = CUZK__V1__GET_STATUS_RESPONSE__INIT;
        put_lanes(&l, v);
        put_keys(&l, v);
        put_queues(&l, v);
        put_jobs(&l, v);
        r.gpus = l.lane_at;
        r.n_gpus = v->lane_count;
        r.loaded_srs = l.key_at;
        r.n_loaded_srs = v->key_count;
        r.queues = l.queue_at;
        r.n_queues = v->kind_count;
        r.jobs = l.job_at;
        r.n_jobs = v->job_count;
        r.total_proofs_completed = v->counters.done;
        r.total_proofs_failed = v->counters.failed;
        r.uptime_seconds = v->uptime_ms / 1000;
        r.pinned_memory_bytes = v->pinned.used;
        r.pinned_memory_limit_bytes = v->pinned.total;
        r.memory_bytes = v->heap.used;
        r.memory_limit_bytes = v->heap.total;
        r.draining = service_is_draining(look->service);
        service_answer(look->call, &r.base);
    } else {
        service_fail(look->call, CUZK_NO_MEMORY, "no memory for the answer");
    }
    lists_free(&l);
    rpc_release(look->call);
    free(look);
}

static void ask(struct rpc_call *call, struct service *service, view_told *told)
{
    struct look *look = malloc(sizeof *look);
    if (!look) {
        service_fail(call, CUZK_NO_MEMORY, "no memory for a call");
        return;
    }
    look->call = call;
    look->service = service;
    struct engine *e = service_enter(service, call);
    if (!e) {
        free(look);
        return;
    }
    rpc_hold(call);
    engine_look(e, told, look);
    service_leave(service);
}

void service_status(struct rpc_call *call, void *context)
{
    ProtobufCMessage *q = service_read(call, &cuzk__v1__get_status_request__descriptor);
    if (!q) return;
    protobuf_c_message_free_unpacked(q, NULL);
    ask(call, context, told_status);
}

/* -- GetMetrics ---------------------------------------------------------------------------------------------------------- */

static void put_metric(FILE *f, const char *name, const char *type, const char *help, double value)
{
    fprintf(f, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", name, help, name, type, name, value);
}

/* Devices with memory of their own. */
static void put_devices(FILE *f, const struct engine_view *v)
{
    static const char *const names[] = { "cuzk_device_memory_bytes", "cuzk_device_memory_limit_bytes" },
                      *const help[] = { "of a device's memory, taken", "a device's memory" };
    for (size_t k = 0; k < ARRAY_COUNT(names) && v->device_count && v->devices[0].total; k++) {
        fprintf(f, "# HELP %s %s\n# TYPE %s gauge\n", names[k], help[k], names[k]);
        for (size_t i = 0; i < v->device_count; i++)
            fprintf(f, "%s{device=\"%zu\"} %" PRIu64 "\n", names[k], i,
                    k == 0 ? v->devices[i].used : v->devices[i].total);
    }
}

static void put_kinds(FILE *f, const struct engine_view *v)
{
    fputs("# HELP cuzk_proofs_completed proofs made, by kind\n# TYPE cuzk_proofs_completed counter\n", f);
    for (size_t i = 0; i < v->kind_count; i++)
        fprintf(f, "cuzk_proofs_completed{proof_kind=\"%s\"} %" PRIu64 "\n", v->kinds[i].kind,
                v->kinds[i].done);
    fputs("# HELP cuzk_proofs_failed jobs that ended without a proof, by kind\n# TYPE cuzk_proofs_failed "
          "counter\n",
          f);
    for (size_t i = 0; i < v->kind_count; i++)
        fprintf(f, "cuzk_proofs_failed{proof_kind=\"%s\"} %" PRIu64 "\n", v->kinds[i].kind,
                v->kinds[i].failed);
}

static void put_metrics(FILE *f, const struct engine_view *v)
{
    const struct engine_counters *c = &v->counters;
    double pending = 0, running = 0, open = 0;
    for (size_t i = 0; i < v->kind_count; i++) {
        pending += v->kinds[i].pending;
        running += v->kinds[i].running;
    }
    for (size_t i = 0; i < v->lane_count; i++) open += v->lanes[i].state != LANE_CLOSED;
    const struct {
        const char *name, *type, *help;
        double value;
    } rows[] = {
        { "cuzk_proofs_completed_total", "counter", "proofs made", (double)c->done },
        { "cuzk_proofs_failed_total", "counter", "jobs that ended without a proof", (double)c->failed },
        { "cuzk_uptime_seconds", "gauge", "since the daemon started", (double)v->uptime_ms / 1000 },
        { "cuzk_queue_depth", "gauge", "jobs that wait", pending },
        { "cuzk_running_jobs", "gauge", "jobs that run", running },
        { "cuzk_gpu_workers", "gauge", "lanes that are not closed", open },
        { "cuzk_jobs_accepted_total", "counter", "jobs accepted", (double)c->accepted },
        { "cuzk_jobs_joined_total", "counter", "requests that joined an earlier job", (double)c->joined },
        { "cuzk_jobs_cancelled_total", "counter", "jobs cancelled", (double)c->cancelled },
        { "cuzk_jobs_expired_total", "counter", "jobs that outlived their time", (double)c->expired },
        { "cuzk_jobs_late_total", "counter", "proofs made after the deadline of their jobs", (double)c->late },
        { "cuzk_jobs_refused_full_total", "counter", "requests refused because the queue was full",
          (double)c->refused_full },
        { "cuzk_jobs_refused_large_total", "counter", "requests refused as larger than the budget",
          (double)c->refused_large },
        { "cuzk_jobs_refused_other_total", "counter", "requests refused for another cause",
          (double)c->refused_other },
        { "cuzk_attempts_total", "counter", "runs of parts", (double)c->attempts },
        { "cuzk_retries_total", "counter", "parts run again", (double)c->retries },
        { "cuzk_verify_failures_total", "counter", "proofs that did not verify and were not sent",
          (double)c->verify_failures },
        { "cuzk_lane_failures_total", "counter", "devices lost while a part ran", (double)c->lane_failures },
        { "cuzk_watchdog_stops_total", "counter", "parts stopped because they ran too long",
          (double)c->watchdog_stops },
        { "cuzk_quarantines_total", "counter", "lanes taken out for a self-test", (double)c->quarantines },
        { "cuzk_device_restarts_total", "counter", "processes of devices that were started again",
          (double)c->device_restarts },
        { "cuzk_lanes_closed_total", "counter", "lanes closed for good", (double)c->lanes_closed },
        { "cuzk_key_loads_total", "counter", "keys loaded", (double)c->key_loads },
        { "cuzk_key_load_failures_total", "counter", "keys that could not be loaded",
          (double)c->key_load_failures },
        { "cuzk_key_evictions_total", "counter", "keys evicted", (double)c->evictions },
        { "cuzk_journal_failures_total", "counter", "writes of the journal that failed",
          (double)c->journal_failures },
        { "cuzk_jobs_resumed_total", "counter", "jobs taken over from before the start", (double)c->resumed },
        { "cuzk_journal_broken", "gauge", "1: durable jobs are refused", v->journal_broken },
        { "cuzk_memory_bytes", "gauge", "of the budget, taken", (double)v->heap.used },
        { "cuzk_memory_peak_bytes", "gauge", "of the budget, taken at most", (double)v->heap.peak },
        { "cuzk_memory_limit_bytes", "gauge", "the budget", (double)v->heap.total },
        { "cuzk_payload_bytes", "gauge", "inputs of jobs in memory", (double)v->payloads.used },
        { "cuzk_payload_limit_bytes", "gauge", "inputs of jobs in memory at most",
          (double)v->payloads.total },
        { "cuzk_pinned_bytes", "gauge", "pinned memory taken", (double)v->pinned.used },
        { "cuzk_pinned_limit_bytes", "gauge", "pinned memory at most", (double)v->pinned.total },
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        put_metric(f, rows[i].name, rows[i].type, rows[i].help, rows[i].value);
    put_devices(f, v);
    put_kinds(f, v);
    fprintf(f,
            "# HELP cuzk_proof_duration_seconds time that lanes spent on proving, all parts of finished jobs "
            "and attempts\n"
            "# TYPE cuzk_proof_duration_seconds summary\n"
            "cuzk_proof_duration_seconds_sum %.17g\ncuzk_proof_duration_seconds_count %" PRIu64 "\n",
            c->prove_ms / 1000, c->done);
}

static void told_metrics(void *context, const struct engine_view *v)
{
    struct look *look = context;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    bool ok = f != NULL;
    if (f) {
        put_metrics(f, v);
        ok = !ferror(f);
        ok = !fclose(f) && ok;
    }
    if (ok) {
        Cuzk__V1__GetMetricsResponse r = CUZK__V1__GET_METRICS_RESPONSE__INIT;
        r.prometheus_text = text;
        service_answer(look->call, &r.base);
    } else {
        service_fail(look->call, CUZK_NO_MEMORY, "no memory for the answer");
    }
    free(text);
    rpc_release(look->call);
    free(look);
}

void service_metrics(struct rpc_call *call, void *context)
{
    ProtobufCMessage *q = service_read(call, &cuzk__v1__get_metrics_request__descriptor);
    if (!q) return;
    protobuf_c_message_free_unpacked(q, NULL);
    ask(call, context, told_metrics);
}
