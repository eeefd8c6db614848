/* Filling the view. */
#include "engine/engine_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000u

static void name_copy(char out[ENGINE_NAME_BYTES], const char *name)
{
    snprintf(out, ENGINE_NAME_BYTES, "%s", name);
}

static struct bytes_view account(const struct budget *b, int kind)
{
    const struct bytes_view v = { b->total.of[kind], b->used.of[kind], b->peak.of[kind] };

    return v;
}

static void view_lane(struct lane_view *out, const struct lane *l, const struct lane_thread *thread,
                      uint64_t now_ns)
{
    out->state = l->state;
    snprintf(out->device, sizeof out->device, "%s", thread->device_name);
    out->device_index = l->device;
    out->strikes = lane_strikes(l, now_ns);
    if (l->job == NULL) return;
    memcpy(out->job_id, l->job->id, sizeof out->job_id);
    name_copy(out->kind, l->job->kind_name);
    out->part = l->part;
    out->busy_ms = (now_ns - l->start_ns) / MS;
}

static void view_key(struct key_view *out, const struct stored_key *k, uint64_t now_ns)
{
    name_copy(out->circuit, k->circuit->name);
    name_copy(out->kind, k->circuit->kind->name);
    out->state = k->state;
    out->references = k->references;
    const struct bytes *b = k->state == KEY_COLD ? key_store_wants(k) : &k->bytes;
    for (int i = 0; i < BYTES_KINDS; i++) out->bytes += b->of[i];
    if (k->state == KEY_RESIDENT && k->references == 0) out->idle_ms = (now_ns - k->idle_since_ns) / MS;
}

static void view_job(struct job_view *out, struct part_view *parts, const struct job *j, uint64_t now_ns)
{
    memcpy(out->job_id, j->id, sizeof out->job_id);
    name_copy(out->circuit, j->circuit->name);
    name_copy(out->kind, j->kind_name);
    out->priority = j->priority;
    out->age_ms = (now_ns - j->submit_ns) / MS;
    out->started = j->state == JOB_STARTED;
    out->part_count = j->part_count;
    out->parts_done = j->parts_done;
    out->parts = parts;
    for (unsigned i = 0; i < j->part_count; i++) {
        parts[i].state = j->parts[i].state;
        parts[i].synthesis_ms = j->parts[i].synthesis_ns / MS;
        parts[i].prove_ms = j->parts[i].prove_ns / MS;
    }
}

/* Jobs not finished, oldest first. */
static size_t view_jobs(struct job_view *out, struct part_view *parts, const struct engine_core *c,
                        uint64_t now_ns)
{
    size_t count = 0;
    const struct job *j = c->newest;

    while (j != NULL && j->older != NULL) j = j->older;
    for (; j != NULL; j = j->newer) {
        if (j->state != JOB_QUEUED && j->state != JOB_STARTED) continue;
        view_job(&out[count++], parts, j, now_ns);
        parts += j->part_count;
    }
    return count;
}

static void view_kinds(struct kind_view *kinds, size_t count, const struct job_view *jobs, size_t job_count)
{
    for (size_t k = 0; k < count; k++) {
        kinds[k].pending = kinds[k].running = 0;
        for (size_t i = 0; i < job_count; i++) {
            if (strcmp(jobs[i].kind, kinds[k].kind) != 0) continue;
            if (jobs[i].started)
                kinds[k].running++;
            else
                kinds[k].pending++;
        }
    }
}

/* The kinds that have ended jobs, and those that have a circuit. */
static size_t list_kinds(struct kind_view *out, const struct engine_core *c)
{
    size_t count = c->kind_count;

    memcpy(out, c->kinds, count * sizeof *out);
    for (size_t i = 0; i < c->store.count; i++) {
        const char *name = c->store.keys[i].circuit->kind->name;
        size_t k = 0;
        while (k < count && strcmp(out[k].kind, name) != 0) k++;
        if (k < count || count == 2 * CORE_KINDS) continue;
        memset(&out[count], 0, sizeof out[count]);
        name_copy(out[count++].kind, name);
    }
    return count;
}

void engine_view_tell(const struct engine_core *c, const struct lane_thread *threads, view_told *told,
                      void *context, uint64_t now_ns)
{
    size_t jobs = 0, parts = 0;
    struct kind_view kinds[2 * CORE_KINDS];
    struct engine_view v = { .uptime_ms = (now_ns - c->start_ns) / MS };

    for (const struct job *j = c->newest; j != NULL; j = j->older) {
        if (j->state != JOB_QUEUED && j->state != JOB_STARTED) continue;
        jobs++;
        parts += j->part_count;
    }
    struct lane_view *lane = calloc(c->lanes.count + 1u, sizeof *lane);
    struct key_view *key = calloc(c->store.count + 1, sizeof *key);
    struct job_view *job = calloc(jobs + 1, sizeof *job);
    struct part_view *part = calloc(parts + 1, sizeof *part);
    if (lane != NULL && key != NULL && job != NULL && part != NULL) {
        for (uint32_t i = 0; i < c->lanes.count; i++)
            view_lane(&lane[i], &c->lanes.lanes[i], &threads[i], now_ns);
        for (size_t i = 0; i < c->store.count; i++) view_key(&key[i], &c->store.keys[i], now_ns);
        v.lane_count = c->lanes.count;
        v.key_count = c->store.count;
        v.job_count = view_jobs(job, part, c, now_ns);
    }
    v.kind_count = list_kinds(kinds, c);
    view_kinds(kinds, v.kind_count, job, v.job_count);
    v.lanes = lane;
    v.keys = key;
    v.jobs = job;
    v.kinds = kinds;
    v.heap = account(&c->budget, BYTES_HEAP);
    v.pinned = account(&c->budget, BYTES_PINNED);
    v.device_count = c->options.device_count;
    for (size_t i = 0; i < v.device_count; i++) v.devices[i] = account(&c->budget, BYTES_DEVICE + (int)i);
    v.payloads = (struct bytes_view){ c->options.payload_bytes, c->payload_used, c->payload_peak };
    v.counters = c->counters;
    v.journal_broken = c->journal_broken;
    told(context, &v);
    free(lane);
    free(key);
    free(job);
    free(part);
}
