/* The engine's opening and closing: what it is made of, and in which order it is taken down. */
#include "engine/engine.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "engine/engine_inside.h"
#include "engine/payload_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

STATIC_ASSERT((int)ENGINE_DEVICES_MOST == (int)BUDGET_DEVICES_MOST, "a line of the ledger for each device");

/* -- opening ------------------------------------------------------------------------------------------------------------ */

cuzk_status engine_bad_option(struct task *t, const char *name, const char *why)
{
    const cuzk_status status = FAIL(t, CUZK_INVALID_ARGUMENT, "%s %s", name, why);

    task_fail_place(t, NULL, ERROR_NO_OFFSET, name, NULL);
    return status;
}

static cuzk_status check_options(struct task *t, const struct engine_options *o)
{
    if (o->lane_count > 64) return engine_bad_option(t, "lane_count", "is above 64");
    if (o->device_count > ENGINE_DEVICES_MOST) return engine_bad_option(t, "device_count", "is above 16");
    if (o->lane_count != 0 && o->lane_count < o->device_count)
        return engine_bad_option(t, "lane_count", "leaves a device without a lane");
    if (o->pinned_bytes > SIZE_MAX / 2) return engine_bad_option(t, "pinned_bytes", "is too much");
    if (o->queue_most == 0) return engine_bad_option(t, "queue_most", "is 0: nothing could be accepted");
    if (o->attempts_most == 0 || o->attempts_most > 8)
        return engine_bad_option(t, "attempts_most", "is not 1 to 8");
    if (o->lane_strikes_most > LANE_STRIKES_KEPT)
        return engine_bad_option(t, "lane_strikes_most", "is above 16");
    for (size_t i = 0; i < o->circuit_count; i++) {
        const struct engine_circuit *c = &o->circuits[i];
        if (c->name == NULL || c->kind == NULL || c->key_path == NULL)
            return engine_bad_option(t, "circuits", "has one without name, kind or key");
        if (strlen(c->name) >= ENGINE_NAME_BYTES)
            return engine_bad_option(t, "circuits", "has a name of more than 63 bytes");
        for (size_t k = 0; k < i; k++)
            if (strcmp(o->circuits[k].name, c->name) == 0)
                return engine_bad_option(t, "circuits", "has one name twice");
    }
    return CUZK_OK;
}

static cuzk_status copy_circuits(struct engine *e, struct task *t, const struct engine_options *o)
{
    e->circuits = calloc(o->circuit_count + 1, sizeof *e->circuits);
    if (e->circuits == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a table of circuits");
    e->circuit_count = o->circuit_count;
    for (size_t i = 0; i < o->circuit_count; i++) {
        struct circuit *c = &e->circuits[i];
        c->kind = o->circuits[i].kind;
        c->preload = o->circuits[i].preload;
        c->key_mode = (enum groth16_key_mode)o->circuits[i].key_mode;
        c->optional = o->circuits[i].optional;
        c->name = strdup(o->circuits[i].name);
        c->key_path = strdup(o->circuits[i].key_path);
        c->r1cs_path = o->circuits[i].r1cs_path != NULL ? strdup(o->circuits[i].r1cs_path) : NULL;
        if (c->name == NULL || c->key_path == NULL ||
            (o->circuits[i].r1cs_path != NULL && c->r1cs_path == NULL))
            return FAIL(t, CUZK_NO_MEMORY, "no memory for a table of circuits");
    }
    return CUZK_OK;
}

/* Half of the patience that the core has with a lane which is to stop: it ends the process before the core gives up the lane. */
static uint64_t process_grace_ms(const struct engine_options *o)
{
    const uint64_t most = CORE_STOP_GRACE_MS / 2;

    return o->watchdog_ms != 0 && o->watchdog_ms / 2 < most ? o->watchdog_ms / 2 : most;
}

static cuzk_status open_process(struct engine *e, struct task *t, const struct engine_options *o,
                                const struct device_options *device)
{
    const struct device_process_options options = { .program = o->process_program,
                                                    .backend = e->backend->name,
                                                    .device = *device,
                                                    .threads = o->threads,
                                                    .lane_count = e->lane_count,
                                                    .circuit_count = o->circuit_count,
                                                    .grace_ms = process_grace_ms(o) };
    return device_process_open(&e->processes[e->device_count], t, &options);
}

static void device_info_of(const struct engine *e, size_t i, struct device_info *out)
{
    if (e->apart)
        device_process_info(e->processes[i], out);
    else
        e->backend->info(e->devices[i], out);
}

static cuzk_status open_devices(struct engine *e, struct task *t, const struct engine_options *o)
{
    const char *name = o->backend != NULL ? o->backend : "cpu";
    const size_t count = o->device_count != 0 ? o->device_count : 1;

    e->backend = backend_by_name(name);
    if (e->backend == NULL) {
        const cuzk_status status = FAIL(t, CUZK_DEVICE_UNAVAILABLE, "backend %s is not in this build", name);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, "backend", NULL);
        return status;
    }
    TRY(pool_create(&e->pool, t, o->threads));
    t->pool = e->pool;
    if (e->backend->reads_host_memory && (o->pinned_bytes != 0 || o->device_bytes != 0))
        return engine_bad_option(t, o->pinned_bytes != 0 ? "pinned_bytes" : "device_bytes",
                                 "is for devices with memory of their own");
    e->apart = o->process == ENGINE_PROCESS_ALWAYS ||
               (o->process == ENGINE_PROCESS_AUTO && !e->backend->reads_host_memory);
    for (; e->device_count < count; e->device_count++) {
        const struct device_options options = { .index = o->devices != NULL ? o->devices[e->device_count] : 0,
                                                .threads = o->threads,
                                                .memory_bytes = o->device_bytes,
                                                .pinned_bytes = (size_t)(o->pinned_bytes / count) };
        if (e->apart)
            TRY(open_process(e, t, o, &options));
        else
            TRY(e->backend->open(&e->devices[e->device_count], t, &options));
    }
    return CUZK_OK;
}

/* Of a device. */
static uint64_t streams_bytes(const struct engine *e, const struct device_info *info)
{
    return info->stream_bytes * ((e->lane_count + e->device_count - 1) / e->device_count + PLACE_IDLE_STREAMS);
}

/* Memory of devices that have their own: the smallest one's, less what streams hold: one for each lane of a device and those that keys
 * keep. */
static void plan_devices(const struct engine *e, struct bytes *total, struct bytes *fixed)
{
    uint64_t bytes = UINT64_MAX, streams = 0;

    if (e->backend->reads_host_memory) return;
    for (size_t i = 0; i < e->device_count; i++) {
        struct device_info info;
        device_info_of(e, i, &info);
        if (info.memory_bytes < bytes) bytes = info.memory_bytes;
        const uint64_t held = streams_bytes(e, &info);
        if (held > streams) streams = held;
    }
    for (size_t i = 0; i < e->device_count; i++) {
        total->of[BYTES_DEVICE + i] = bytes;
        fixed->of[BYTES_DEVICE + i] = streams < bytes ? streams : bytes;
    }
}

/* The budget's whole, and what of it is spoken for from the start. */
static void plan_budget(const struct engine *e, const struct engine_options *o, struct bytes *total,
                        struct bytes *fixed)
{
    uint64_t tables[JOB_TABLES_MOST] = { 0 };

    memset(total, 0, sizeof *total);
    memset(fixed, 0, sizeof *fixed);
    total->of[BYTES_HEAP] = o->heap_bytes != 0 ? o->heap_bytes : budget_default_heap(o->margin_bytes);
    total->of[BYTES_PINNED] = o->pinned_bytes;
    fixed->of[BYTES_PINNED] = o->pinned_bytes;
    fixed->of[BYTES_HEAP] = o->queue_most_bytes != 0 ? o->queue_most_bytes : total->of[BYTES_HEAP] / 4;
    fixed->of[BYTES_HEAP] += o->pinned_bytes;
    plan_devices(e, total, fixed);
    for (size_t i = 0; i < e->circuit_count; i++) {
        uint64_t *table = &tables[e->circuits[i].table_id % JOB_TABLES_MOST];
        if (*table < e->circuits[i].table_bytes) *table = e->circuits[i].table_bytes;
    }
    for (int i = 0; i < JOB_TABLES_MOST; i++) fixed->of[BYTES_HEAP] += tables[i] * (e->apart ? e->device_count : 1);
}

static void warn_of_large_circuits(const struct engine *e)
{
    struct budget available;
    struct bytes room, need;
    struct task t;

    budget_free(&e->core.budget, &room);
    budget_init(&available, &room);
    for (size_t i = 0; i < e->circuit_count; i++) {
        task_init(&t);
        core_job_bytes(&need, &e->circuits[i]);
        if (budget_fits(&t, &available, &need, e->circuits[i].name) != CUZK_OK)
            log_warn(NULL, "no job can run on circuit %s: %s", e->circuits[i].name, t.error.text);
    }
}

static void circuit_free(struct circuit *c)
{
    free(c->name);
    free(c->key_path);
    free(c->r1cs_path);
}

/* What the devices' processes take beside this one: the key once more each, and what a proof is made from. */
static void count_copies(const struct engine *e, struct circuit *c)
{
    c->key_bytes.of[BYTES_HEAP] += e->device_count * c->key_own_bytes;
    c->prove_bytes.of[BYTES_HEAP] += c->carry_bytes.of[BYTES_HEAP];
    c->batch.key_bytes.of[BYTES_HEAP] += e->device_count * c->key_own_bytes;
}

/* Every device has the key, and what its batches share: device 0's was measured. */
static void count_devices(const struct engine *e, struct circuit *c)
{
    for (size_t i = 1; i < e->device_count; i++) {
        c->key_bytes.of[BYTES_DEVICE + i] = c->key_bytes.of[BYTES_DEVICE];
        c->batch.key_bytes.of[BYTES_DEVICE + i] = c->batch.key_bytes.of[BYTES_DEVICE];
        c->batch.key_bytes.of[BYTES_HEAP] += c->batch.own_bytes;
    }
}

/* Circuits whose batches have no room within the budget, or are not wanted, prove part by part. */
static void choose_batches(struct engine *e, const struct bytes *total, const struct bytes *fixed, bool never)
{
    struct bytes room = *total;

    for (int k = 0; k < BYTES_KINDS; k++) room.of[k] -= fixed->of[k] < room.of[k] ? fixed->of[k] : room.of[k];
    for (size_t i = 0; i < e->circuit_count; i++) {
        struct circuit *c = &e->circuits[i];
        struct bytes batch = c->batch.key_bytes, single = c->batch.key_bytes, part = c->carry_bytes;
        if (c->batch.parts_most == 0) continue;
        bytes_add(&batch, &c->batch.run_bytes);
        bytes_add(&part, &c->prove_bytes);
        bytes_max(&part, &c->synthesis_bytes);
        bytes_add(&single, &part);
        const int lacking = bytes_lacking(&batch, &room);
        c->batch.beside &= bytes_lacking(&single, &room) < 0;
        if (lacking < 0 && !never) continue;
        c->batch.parts_most = 0;
        if (!never)
            log_warn(NULL, "parts on circuit %s are proved by themselves: together they take %llu bytes of %s; there are %llu", c->name,
                     (unsigned long long)batch.of[lacking], bytes_kind_name(lacking), (unsigned long long)room.of[lacking]);
    }
}

/* What every circuit takes.  Those that need not be there and cannot be used are dropped. */
static cuzk_status measure_circuits(struct engine *e, struct task *t, const struct place *place)
{
    size_t kept = 0;

    e->unserved = calloc(e->circuit_count + 1, sizeof *e->unserved); /* else nobody learns why */
    while (kept < e->circuit_count) {
        struct circuit *c = &e->circuits[kept];
        struct task own;
        task_init(&own);
        own.pool = t->pool;
        const cuzk_status status = e->apart ? device_process_measure(e->processes[0], &own, c, kept)
                                            : c->kind->measure(&own, c, place);
        if (status == CUZK_OK && e->apart) count_copies(e, c);
        if (status == CUZK_OK) count_devices(e, c);
        if (status == CUZK_OK) {
            kept++;
            continue;
        }
        if (!c->optional || c->preload) {
            t->error = own.error;
            return status;
        }
        log_warn(NULL, "circuit %s is not served: %s%s%s", c->name, own.error.path,
                 own.error.path[0] != '\0' ? ": " : "", own.error.text);
        if (e->unserved != NULL) { /* the name goes with it */
            e->unserved[e->unserved_count++] = (struct unserved){ c->name, own.error };
            c->name = NULL;
        }
        circuit_free(c);
        e->circuit_count--;
        memmove(c, c + 1, (e->circuit_count - kept) * sizeof *c);
        memset(&e->circuits[e->circuit_count], 0, sizeof *c);
    }
    return CUZK_OK;
}

static cuzk_status open_core(struct engine *e, struct task *t, const struct engine_options *o)
{
    struct place place = { .backend = e->backend, .device = e->devices[0] };
    struct device_info info;
    struct bytes total, fixed;

    device_info_of(e, 0, &info);
    place.spoken_for = streams_bytes(e, &info);
    TRY(measure_circuits(e, t, &place));
    plan_budget(e, o, &total, &fixed);
    choose_batches(e, &total, &fixed, o->batches_never);
    struct core_options options = {
        .queue_most = o->queue_most,
        .result_most = o->result_most,
        .attempts_most = o->attempts_most,
        .result_keep_ns = o->result_keep_ms * MS,
        .ageing_ns = o->ageing_ms * MS,
        .group_window_ns = o->group_window_ms * MS,
        .evict_idle_ns = o->evict_idle_ms * MS,
        .watchdog_ns = o->watchdog_ms * MS,
        .cancel_when_alone = o->cancel_when_alone,
        .strikes_most = o->lane_strikes_most,
        .keep_most_bytes = e->apart ? 0 : LANE_KEEP_MOST_BYTES,
        .device_count = (unsigned)e->device_count,
        .take_turns = e->apart,
        .copies_inputs = e->apart,
    };
    options.payload_bytes = o->queue_most_bytes != 0 ? o->queue_most_bytes : total.of[BYTES_HEAP] / 4;
    e->job_ttl_ms = o->job_ttl_ms;
    TRY(core_init(&e->core, t, &options, e->circuits, e->circuit_count, e->lane_count, &total, &fixed,
                  engine_act, e, clock_now_ns()));
    warn_of_large_circuits(e);
    return CUZK_OK;
}

static cuzk_status start_lanes(struct engine *e, struct task *t, const struct engine_options *o)
{
    struct device_info info;

    e->lanes = calloc(e->lane_count, sizeof *e->lanes);
    if (e->lanes == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for %u lanes", e->lane_count);
    for (uint32_t i = 0; i < e->lane_count; i++) {
        struct lane_thread *l = &e->lanes[i];
        const unsigned device = e->core.lanes.lanes[i].device;
        device_info_of(e, device, &info);
        l->index = i;
        l->engine = &e->mailbox;
        l->place = (struct place){ .backend = e->backend, .device = e->devices[device] };
        l->process = e->processes[device];
        l->channel = i;
        l->pool = e->pool;
        l->data_folder = o->data_folder != NULL ? journal_folder(e->journal) : NULL;
        snprintf(l->device_name, sizeof l->device_name, "%s-%u: %.64s", info.backend, info.index, info.name);
        TRY(lane_thread_start(l, t));
    }
    return loader_start(&e->loader, t, &e->mailbox, e->pool, e->circuit_count, e->device_count,
                        e->apart ? e->processes : NULL);
}

static cuzk_status resume(void *context, struct task *t, struct job *job)
{
    struct engine *e = context;
    const struct event event = { .kind = EVENT_RESUME, .job = job };

    (void)t;
    core_step(&e->core, &event, clock_now_ns());
    return CUZK_OK;
}

static void nobody_asked(void *context, const struct key_answer *answer)
{
    (void)context;
    if (answer->status != CUZK_OK) log_warn(NULL, "preload: %s", answer->error_text);
}

static cuzk_status preload_at_start(struct engine *e, struct task *t)
{
    for (size_t i = 0; i < e->circuit_count; i++) {
        struct event event = { .kind = EVENT_PRELOAD, .circuit = e->circuits[i].name };
        if (!e->circuits[i].preload) continue;
        event.waiter = calloc(1, sizeof *event.waiter);
        if (event.waiter == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to preload a key");
        event.waiter->told = (told_any *)nobody_asked;
        core_step(&e->core, &event, clock_now_ns());
    }
    return CUZK_OK;
}

static cuzk_status start_thread(struct engine *e, struct task *t)
{
    const int why = thread_start(&e->thread, "cuzk-engine", engine_main, e);

    if (why != 0) return FAIL(t, CUZK_NO_MEMORY, "a thread cannot be started: %s", strerror(why));
    e->thread_runs = true;
    return CUZK_OK;
}

cuzk_status engine_open(struct engine **out, struct task *t, const struct engine_options *o)
{
    struct pool *callers_pool = t->pool;
    struct engine *e;
    cuzk_status status;

    TRY(check_options(t, o));
    e = calloc(1, sizeof *e);
    if (e == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for an engine");
    e->lane_count = o->lane_count != 0 ? o->lane_count : o->device_count != 0 ? (uint32_t)o->device_count : 1;
    e->mailbox.event_fd = -1;
    TRY_GOTO(out, mailbox_init(&e->mailbox, t));
    TRY_GOTO(out, copy_circuits(e, t, o));
    TRY_GOTO(out, open_devices(e, t, o));
    if (o->data_folder != NULL) TRY_GOTO(out, journal_open(&e->journal, t, o->data_folder));
    TRY_GOTO(out, open_core(e, t, o));
    TRY_GOTO(out, start_lanes(e, t, o));
    if (e->journal != NULL)
        TRY_GOTO(out, journal_load(e->journal, t, e->circuits, e->circuit_count, clock_now_ns(), resume, e));
    TRY_GOTO(out, preload_at_start(e, t));
    TRY_GOTO(out, start_thread(e, t));
    *out = e;
out:
    t->pool = callers_pool;
    if (status != CUZK_OK) engine_close(e, 0);
    return status;
}

/* -- closing ------------------------------------------------------------------------------------------------------------ */

static void free_circuits(struct engine *e)
{
    for (size_t i = 0; i < e->circuit_count && e->circuits != NULL; i++) circuit_free(&e->circuits[i]);
    free(e->circuits);
    for (size_t i = 0; i < e->unserved_count; i++) free(e->unserved[i].name);
    free(e->unserved);
}

static void tell_key_waiters(struct waiter *w)
{
    const struct key_answer answer = { .status = CUZK_CANCELLED, .error_text = "the engine is closing" };

    while (w != NULL) {
        struct waiter *next = w->next;
        ((key_told *)w->told)(w->context, &answer);
        free(w);
        w = next;
    }
}

/* Keys that are resident, after the loader has gone. */
static void unload_keys(struct engine *e)
{
    for (size_t i = 0; e->core.store.keys != NULL && i < e->core.store.count; i++) {
        struct stored_key *k = &e->core.store.keys[i];
        if (k->state == KEY_RESIDENT) k->circuit->kind->unload(k->key);
        tell_key_waiters(k->preloads);
        tell_key_waiters(k->evicts);
    }
}

/* Whether a thread is at work that would use what is freed; says so. */
static bool still_at_work(const struct engine *e)
{
    for (uint32_t i = 0; i < e->core.lanes.count; i++) {
        const struct lane *l = &e->core.lanes.lanes[i];
        if (l->state != LANE_STUCK && l->state != LANE_BUSY && l->state != LANE_TESTING && !l->giving) continue;
        log_line(NULL, LOG_ERROR, "lane %u does not stop: the engine is left as it is", i);
        return true;
    }
    for (size_t i = 0; i < e->core.store.count; i++) {
        const struct stored_key *k = &e->core.store.keys[i];
        if (k->state != KEY_LOADING && k->state != KEY_EVICTING) continue;
        log_line(NULL, LOG_ERROR, "key %s is still %s: the engine is left as it is", k->circuit->name,
                 key_state_name(k->state));
        return true;
    }
    return false;
}

void engine_close(struct engine *e, uint64_t timeout_ms)
{
    if (e == NULL) return;
    e->close.kind = ENVELOPE_CLOSE;
    e->close_timeout_ns = timeout_ms < UINT64_MAX / MS / 2 ? timeout_ms * MS : UINT64_MAX / 4;
    if (!e->thread_runs && e->core.act != NULL &&
        e->lanes != NULL) { /* opening has failed half way: run to the end here */
        engine_begin_close(e);
        engine_main(e);
    }
    if (e->thread_runs) {
        mailbox_send(&e->mailbox, &e->close.link);
        pthread_join(e->thread, NULL);
    }
    if (e->core.act != NULL && still_at_work(e)) return;
    for (uint32_t i = 0; e->lanes != NULL && i < e->lane_count; i++) lane_thread_join(&e->lanes[i]);
    loader_join(&e->loader);
    engine_flush(e);
    unload_keys(e);
    if (e->core.act != NULL) core_fini(&e->core);
    journal_close(e->journal);
    for (size_t i = 0; i < ARRAY_COUNT(e->processes); i++) device_process_close(e->processes[i]);
    for (size_t i = 0; !e->apart && i < e->device_count; i++) e->backend->close(e->devices[i]);
    pool_destroy(e->pool);
    mailbox_fini(&e->mailbox);
    free_circuits(e);
    free(e->lanes);
    free(e);
}
