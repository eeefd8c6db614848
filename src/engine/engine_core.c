/* The engine as a state machine: jobs, waiters and keys.  schedule.c has lanes, parts and memory. */
#include "engine/core_inside.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_TRIES       3
#define LOAD_BACK_OFF_NS (1000ull * 1000000)
#define DIRTY_RETRY_NS   (1000ull * 1000000)

/* -- acting ------------------------------------------------------------------------------------------------------------- */

void core_due(struct engine_core *c, uint64_t at_ns)
{
    if (at_ns < c->due_ns) c->due_ns = at_ns;
}

static void act(struct engine_core *c, const struct action *a) { c->act(c->act_context, a); }

void core_note(struct engine_core *c, enum log_level level, const struct job *j, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const struct action a = { .kind = ACT_NOTE, .level = level, .text = text, .job = (struct job *)(uintptr_t)j };
    act(c, &a);
}

void core_do_job(struct engine_core *c, enum action_kind kind, struct job *j)
{
    const struct action a = { .kind = kind, .job = j };
    act(c, &a);
}

void core_do_lane(struct engine_core *c, enum action_kind kind, uint32_t lane)
{
    const struct action a = { .kind = kind, .lane = lane };
    act(c, &a);
}

void core_do_key(struct engine_core *c, enum action_kind kind, struct stored_key *k)
{
    const struct action a = { .kind = kind, .key = k };
    act(c, &a);
}

static void tell(struct engine_core *c, struct waiter *w, const struct job_answer *answer)
{
    const struct action a = { .kind = ACT_TELL, .waiter = w, .answer = answer };
    act(c, &a);
}

/* An answer that is about no job at hand. */
static void tell_status(struct engine_core *c, struct waiter *w, const char *id, cuzk_status status, const char *text)
{
    struct job_answer answer = { .status = status, .error_text = text };

    snprintf(answer.job_id, sizeof answer.job_id, "%s", id);
    tell(c, w, &answer);
}

static void tell_key(struct engine_core *c, struct waiter *w, cuzk_status status, const char *text, const struct key_answer *more)
{
    struct key_answer answer = more != NULL ? *more : (struct key_answer){ .load_ms = 0 };
    const struct action a = { .kind = ACT_TELL_KEY, .waiter = w, .key_answer = &answer };

    answer.status = status;
    answer.error_text = text;
    act(c, &a);
}

/* -- tables ------------------------------------------------------------------------------------------------------------- */

static size_t bucket_of(const char *text)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a, 64 bits */

    for (; *text != '\0'; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
    return (size_t)(h % CORE_BUCKETS);
}

struct job *core_find(const struct engine_core *c, const char *id)
{
    struct job *j = c->by_id[bucket_of(id)];

    while (j != NULL && strcmp(j->id, id) != 0) j = j->next_by_id;
    return j;
}

/* A job that a request with this id and content may join: one that is not over, or is done. */
static struct job *find_same(const struct engine_core *c, const struct job *request)
{
    struct job *j = request->request_id[0] != '\0' ? c->by_request[bucket_of(request->request_id)] : NULL;

    for (; j != NULL; j = j->next_by_request) {
        const bool joinable = j->state < JOB_RECORDING || j->end == JOB_DONE;
        if (joinable && !j->suspended && strcmp(j->request_id, request->request_id) == 0 &&
            memcmp(j->digest, request->digest, sizeof j->digest) == 0)
            return j;
    }
    return NULL;
}

static void enter(struct engine_core *c, struct job *j)
{
    struct job **id = &c->by_id[bucket_of(j->id)], **request = &c->by_request[bucket_of(j->request_id)];

    j->next_by_id = *id;
    *id = j;
    j->next_by_request = *request;
    *request = j;
    j->older = c->newest;
    j->newer = NULL;
    if (c->newest != NULL) c->newest->newer = j;
    c->newest = j;
}

static void leave_tables(struct engine_core *c, struct job *j)
{
    struct job **at = &c->by_id[bucket_of(j->id)];

    while (*at != j) at = &(*at)->next_by_id;
    *at = j->next_by_id;
    at = &c->by_request[bucket_of(j->request_id)];
    while (*at != j) at = &(*at)->next_by_request;
    *at = j->next_by_request;
    if (j->older != NULL) j->older->newer = j->newer;
    if (j->newer != NULL) j->newer->older = j->older;
    if (c->newest == j) c->newest = j->older;
}

static struct kind_view *kind_row(struct engine_core *c, const struct job *j)
{
    size_t i = 0;

    while (i < c->kind_count && strcmp(c->kinds[i].kind, j->kind_name) != 0) i++;
    if (i == c->kind_count && c->kind_count < CORE_KINDS) {
        memcpy(c->kinds[i].kind, j->kind_name, sizeof c->kinds[i].kind);
        c->kind_count++;
    }
    return &c->kinds[i < CORE_KINDS ? i : CORE_KINDS - 1];
}

static struct stored_key *find_key(struct engine_core *c, const char *circuit)
{
    for (size_t i = 0; i < c->store.count; i++)
        if (strcmp(c->store.keys[i].circuit->name, circuit) == 0) return &c->store.keys[i];
    return NULL;
}

/* -- the end of a job --------------------------------------------------------------------------------------------------- */

/* Tells those who wait for the job's end, or all of them. */
static void tell_waiters(struct engine_core *c, struct job *j, const struct job_answer *answer)
{
    while (j->waiters != NULL) {
        struct waiter *w = j->waiters;
        j->waiters = w->next;
        tell(c, w, answer);
    }
}

void core_settle(struct engine_core *c, struct job *j)
{
    if (j->state != JOB_ENDED || j->in_flight > 0 || j->settled) return;
    if (j->payload_counted) c->payload_used -= j->payload_bytes;
    j->payload_counted = false;
    job_release_inputs(j);
    j->settled = true;
    if (j->durable && !j->dirty) core_do_job(c, ACT_DROP_PAYLOAD, j);
}

static void record(struct engine_core *c, struct job *j, enum job_record what)
{
    j->record |= what;
    core_do_job(c, ACT_RECORD, j);
}

static void ended(struct engine_core *c, struct job *j, uint64_t now_ns)
{
    struct job_answer answer;

    job_move(j, JOB_ENDED);
    result_put(&c->shelf, j);
    core_due(c, now_ns + c->options.result_keep_ns);
    if (c->shelf.count > c->options.result_most) core_due(c, now_ns);
    result_answer(&answer, j, now_ns);
    tell_waiters(c, j, &answer);
    core_settle(c, j);
}

void core_finish(struct engine_core *c, struct job *j, enum job_end end, cuzk_status status, const struct error *error, uint64_t now_ns)
{
    if (core_job_over(j)) return;
    j->was_running = j->in_flight > 0;
    j->end = end;
    j->end_ns = now_ns;
    j->status = status;
    if (error != NULL)
        job_error(j, status, error);
    else if (status != CUZK_OK)
        snprintf(j->error_text, sizeof j->error_text, "%s", status_text(status));
    queue_drop(&c->queue, j);
    c->unfinished--;
    struct kind_view *kind = kind_row(c, j);
    if (end == JOB_DONE) {
        c->counters.done++;
        kind->done++;
    } else if (end == JOB_CANCELLED) {
        c->counters.cancelled++;
    } else {
        c->counters.failed++;
        kind->failed++;
        if (status == CUZK_DEADLINE) c->counters.expired++;
        core_note(c, LOG_WARN, j, "fails: %s: %s", status_name(status), j->error_text);
    }
    job_move(j, JOB_RECORDING);
    core_stop_parts(c, j, now_ns);
    if (j->durable)
        record(c, j, RECORD_END);
    else
        ended(c, j, now_ns);
}

void core_part_done(struct engine_core *c, struct job *j, unsigned part, uint64_t now_ns)
{
    struct task t;

    if (core_job_over(j)) return;
    if (j->parts_done < j->part_count) {
        j->parts[part].unrecorded = true;
        if (j->durable) record(c, j, RECORD_PARTS);
        return;
    }
    task_init(&t);
    const cuzk_status status = result_assemble(&t, j);
    core_finish(c, j, status == CUZK_OK ? JOB_DONE : JOB_FAILED, status, status == CUZK_OK ? NULL : &t.error, now_ns);
}

void core_fail_unfinished(struct engine_core *c, const struct circuit *only, cuzk_status status, const struct error *error, uint64_t now_ns)
{
    struct job *older;

    for (struct job *j = c->newest; j != NULL; j = older) {
        older = j->older;
        if (j->state != JOB_QUEUED && j->state != JOB_STARTED) continue;
        if (only == NULL || j->circuit == only) core_finish(c, j, JOB_FAILED, status, error, now_ns);
    }
}

static void forget(struct engine_core *c, struct job *j)
{
    leave_tables(c, j);
    j->forgotten = true;
    if (j->recorded)
        record(c, j, RECORD_FORGET);
    else
        core_do_job(c, ACT_DESTROY, j);
}

/* -- submit ------------------------------------------------------------------------------------------------------------- */

void core_job_bytes(struct bytes *out, const struct circuit *circuit)
{
    struct bytes prove = circuit->carry_bytes;

    *out = circuit->key_bytes;
    bytes_add(&prove, &circuit->prove_bytes);
    bytes_max(&prove, &circuit->synthesis_bytes);
    bytes_add(out, &prove);
}

/* Whether the job could run at all, everything else being idle. */
static cuzk_status could_ever_run(struct engine_core *c, struct task *t, const struct job *j)
{
    struct budget available;
    struct bytes total, need;
    char who[ENGINE_NAME_BYTES + 32];

    for (int k = 0; k < BYTES_KINDS; k++) total.of[k] = c->budget.total.of[k] - c->fixed.of[k];
    budget_init(&available, &total);
    core_job_bytes(&need, j->circuit);
    if (j->durable) need.of[BYTES_HEAP] += j->payload_bytes; /* after a restart it is read for each run */
    snprintf(who, sizeof who, "a job on circuit %s", j->circuit->name);
    TRY(budget_fits(t, &available, &need, who));
    if (j->payload_bytes <= c->options.payload_bytes) return CUZK_OK;
    return FAIL(t, CUZK_TOO_LARGE, "the payload is %zu bytes; all queued payloads together may take %llu", j->payload_bytes,
                (unsigned long long)c->options.payload_bytes);
}

static cuzk_status room_in_queue(struct engine_core *c, struct task *t, const struct job *j)
{
    if (c->unfinished >= c->options.queue_most)
        return FAIL(t, CUZK_QUEUE_FULL, "%u jobs are waiting or running; the queue takes %u", c->unfinished, c->options.queue_most);
    if (j->payload_bytes > c->options.payload_bytes - c->payload_used)
        return FAIL(t, CUZK_QUEUE_FULL, "the waiting payloads take %llu of %llu bytes; this one has %zu",
                    (unsigned long long)c->payload_used, (unsigned long long)c->options.payload_bytes, j->payload_bytes);
    return CUZK_OK;
}

static cuzk_status may_enter(struct engine_core *c, struct task *t, const struct job *j)
{
    if (c->draining) return FAIL(t, CUZK_DEVICE_UNAVAILABLE, "the engine is closing");
    if (!lane_book_any_open(&c->lanes))
        return FAIL(t, CUZK_DEVICE_UNAVAILABLE, "every lane is closed: each failed too often within an hour");
    TRY(could_ever_run(c, t, j));
    return room_in_queue(c, t, j);
}

static void refuse(struct engine_core *c, struct job *j, struct waiter *w, const struct task *t)
{
    if (t->error.status == CUZK_QUEUE_FULL)
        c->counters.refused_full++;
    else if (t->error.status == CUZK_TOO_LARGE)
        c->counters.refused_large++;
    else
        c->counters.refused_other++;
    job_error(j, t->error.status, &t->error);
    tell_status(c, w, j->id, j->status, j->error_text);
    core_do_job(c, ACT_DESTROY, j);
}

/* Tells the waiters of a submit. */
static void tell_accepted(struct engine_core *c, struct job *j, uint64_t now_ns)
{
    struct waiter **at = &j->waiters;

    while (*at != NULL) {
        struct waiter *w = *at;
        struct job_answer answer;
        if (!w->of_submit) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        result_answer(&answer, j, now_ns);
        answer.status = CUZK_OK;
        answer.joined = w->joined;
        answer.queue_position = core_job_over(j) ? 0 : queue_position(&c->queue, j);
        tell(c, w, &answer);
    }
}

static void accepted(struct engine_core *c, struct job *j, uint64_t now_ns)
{
    job_move(j, JOB_QUEUED);
    if (j->expire_ns != 0) core_due(c, j->expire_ns);
    if (!queue_put(&c->queue, j)) {
        const struct error e = { .status = CUZK_NO_MEMORY, .text = "no memory to queue the job" };
        core_finish(c, j, JOB_FAILED, CUZK_NO_MEMORY, &e, now_ns);
    }
    queue_order(&c->queue, now_ns);
    c->counters.accepted++;
    tell_accepted(c, j, now_ns);
}

static void submit(struct engine_core *c, struct job *j, struct waiter *w, uint64_t now_ns)
{
    struct job *same = find_same(c, j);
    struct task t;

    w->of_submit = true;
    if (same != NULL) {
        w->joined = true;
        c->counters.joined++;
        w->next = same->waiters;
        same->waiters = w;
        if (same->state != JOB_ACCEPTING) tell_accepted(c, same, now_ns);
        core_do_job(c, ACT_DESTROY, j);
        return;
    }
    task_init(&t);
    if (may_enter(c, &t, j) != CUZK_OK) {
        refuse(c, j, w, &t);
        return;
    }
    j->sequence = c->next_sequence++;
    j->submit_ns = now_ns;
    j->waiters = w;
    w->next = NULL;
    enter(c, j);
    c->unfinished++;
    c->payload_used += j->payload_bytes;
    if (c->payload_used > c->payload_peak) c->payload_peak = c->payload_used;
    j->payload_counted = true;
    if (j->durable)
        record(c, j, RECORD_ACCEPT);
    else
        accepted(c, j, now_ns);
}

/* The journal could not take a new job: it is refused. */
static void acceptance_failed(struct engine_core *c, struct job *j, const struct error *why)
{
    struct job_answer answer = { .status = CUZK_IO };
    struct error e = { .text = "the journal cannot be written" };

    if (why != NULL) e = *why;
    job_error(j, CUZK_IO, &e);
    memcpy(answer.job_id, j->id, sizeof answer.job_id);
    answer.error_text = j->error_text;
    c->counters.refused_other++;
    c->unfinished--;
    c->payload_used -= j->payload_bytes;
    leave_tables(c, j);
    tell_waiters(c, j, &answer);
    core_do_job(c, ACT_DESTROY, j);
}

static void resume(struct engine_core *c, struct job *j, uint64_t now_ns)
{
    struct task t;

    j->sequence = c->next_sequence++;
    j->submit_ns = j->submit_ns == 0 ? now_ns : j->submit_ns;
    j->recorded = true;
    enter(c, j);
    if (j->end != JOB_UNFINISHED) {
        job_move(j, JOB_RECORDING);
        j->settled = true;
        ended(c, j, now_ns);
        return;
    }
    c->unfinished++;
    c->counters.resumed++;
    accepted(c, j, now_ns);
    c->counters.accepted--; /* that was then */
    task_init(&t);
    if (could_ever_run(c, &t, j) != CUZK_OK) core_finish(c, j, JOB_FAILED, t.error.status, &t.error, now_ns); /* the budget has shrunk */
    if (j->parts_done == j->part_count) core_part_done(c, j, 0, now_ns);
}

static void journaled(struct engine_core *c, const struct event *e, uint64_t now_ns)
{
    struct job *j = e->job;
    const bool ok = e->status == CUZK_OK;

    if (!ok) {
        c->counters.journal_failures++;
        if (!c->journal_broken)
            core_note(c, LOG_ERROR, j, "the journal cannot be written; durable jobs are refused until it can: %s",
                      e->error != NULL ? e->error->text : "");
    }
    c->journal_broken = !ok;
    if (e->records & RECORD_FORGET) {
        core_do_job(c, ACT_DESTROY, j);
        return;
    }
    if (e->records & RECORD_ACCEPT) {
        if (!ok) {
            acceptance_failed(c, j, e->error);
            return;
        }
        j->recorded = true;
        accepted(c, j, now_ns);
    }
    if ((e->records & RECORD_PARTS) && !ok) core_note(c, LOG_WARN, j, "a finished part is not in the journal");
    if (e->records & RECORD_END) {
        const bool was_dirty = j->dirty;
        j->dirty = !ok;
        if (!ok) core_due(c, now_ns + DIRTY_RETRY_NS);
        if (j->state == JOB_RECORDING) ended(c, j, now_ns);
        else if (was_dirty && ok && j->settled) core_do_job(c, ACT_DROP_PAYLOAD, j);
    }
}

/* -- waiters ------------------------------------------------------------------------------------------------------------ */

static void await(struct engine_core *c, const char *id, struct waiter *w, uint64_t now_ns)
{
    struct job *j = core_find(c, id);
    struct job_answer answer;

    if (j == NULL) {
        tell_status(c, w, id, CUZK_NOT_FOUND, "no such job, or its result is no longer kept");
        return;
    }
    if (j->state == JOB_ENDED) {
        result_answer(&answer, j, now_ns);
        tell(c, w, &answer);
        return;
    }
    if (j->suspended) {
        tell_status(c, w, id, CUZK_CANCELLED, "the engine is closing; the job is kept and goes on at the next start");
        return;
    }
    w->next = j->waiters;
    j->waiters = w;
    j->had_waiter = true;
    if (w->deadline_ns != 0) core_due(c, w->deadline_ns);
}

static bool anybody_waits(const struct job *j)
{
    for (const struct waiter *w = j->waiters; w != NULL; w = w->next)
        if (!w->of_submit) return true;
    return false;
}

static void leave(struct engine_core *c, const struct event *e, uint64_t now_ns)
{
    struct job *j = core_find(c, e->id);
    struct waiter **at = j != NULL ? &j->waiters : NULL;

    while (at != NULL && *at != NULL && ((*at)->told != e->told || (*at)->context != e->context)) at = &(*at)->next;
    if (at == NULL || *at == NULL) return;
    struct waiter *w = *at;
    *at = w->next;
    tell_status(c, w, e->id, CUZK_CANCELLED, "the waiter has left");
    if (c->options.cancel_when_alone && j->state != JOB_ACCEPTING && !anybody_waits(j))
        core_finish(c, j, JOB_CANCELLED, CUZK_CANCELLED, NULL, now_ns);
}

static void cancel(struct engine_core *c, const char *id, struct waiter *w, uint64_t now_ns)
{
    struct job *j = core_find(c, id);

    if (j != NULL && j->state == JOB_ACCEPTING) {
        j->cancel_asked = true;
    } else if (j != NULL && !core_job_over(j)) {
        w->next = j->waiters;
        j->waiters = w;
        core_finish(c, j, JOB_CANCELLED, CUZK_CANCELLED, NULL, now_ns);
        return;
    }
    await(c, id, w, now_ns);
}

/* Waiters whose time is up. */
static void expire_waiters(struct engine_core *c, struct job *j, uint64_t now_ns)
{
    struct waiter **at = &j->waiters;

    while (*at != NULL) {
        struct waiter *w = *at;
        if (w->deadline_ns == 0 || w->deadline_ns > now_ns) {
            if (w->deadline_ns != 0) core_due(c, w->deadline_ns);
            at = &w->next;
            continue;
        }
        *at = w->next;
        tell_status(c, w, j->id, CUZK_DEADLINE, "the job has not ended in the time that the waiter gave it");
    }
}

/* -- keys --------------------------------------------------------------------------------------------------------------- */

static void tell_key_list(struct engine_core *c, struct waiter **list, cuzk_status status, const char *text, const struct key_answer *more)
{
    while (*list != NULL) {
        struct waiter *w = *list;
        *list = w->next;
        tell_key(c, w, status, text, more);
    }
}

void core_refuse_preload(struct engine_core *c, struct stored_key *k)
{
    tell_key_list(c, &k->preloads, CUZK_NO_MEMORY, "there is no room for the key beside those in use", NULL);
}

static void preload(struct engine_core *c, const char *circuit, struct waiter *w)
{
    struct stored_key *k = find_key(c, circuit);
    const struct key_answer loaded = { .was_loaded = true };

    if (k == NULL) {
        tell_key(c, w, CUZK_NOT_FOUND, "no such circuit is configured", NULL);
    } else if (k->state == KEY_RESIDENT) {
        tell_key(c, w, CUZK_OK, "", &loaded);
    } else {
        w->next = k->preloads;
        k->preloads = w;
    }
}

static void evict_asked(struct engine_core *c, const char *circuit, struct waiter *w)
{
    struct stored_key *k = find_key(c, circuit);

    if (k == NULL) {
        tell_key(c, w, CUZK_NOT_FOUND, "no such circuit is configured", NULL);
    } else if (k->state == KEY_COLD) {
        tell_key(c, w, CUZK_OK, "", NULL);
    } else if (k->state == KEY_LOADING || k->references > 0) {
        tell_key(c, w, CUZK_QUEUE_FULL, "the key is in use", NULL);
    } else {
        w->next = k->evicts;
        k->evicts = w;
        if (k->state == KEY_EVICTING) return;
        key_store_begin_evict(&c->store, k);
        c->counters.evictions++;
        core_do_key(c, ACT_FREE_KEY, k);
    }
}

static void key_loaded(struct engine_core *c, const struct event *e, uint64_t now_ns)
{
    struct stored_key *k = e->key;

    if (e->status == CUZK_OK) {
        struct key_answer answer = { .was_loaded = false };
        key_store_loaded(k, &c->budget, e->loaded, &e->bytes, now_ns);
        answer.load_ms = k->load_ms;
        core_note(c, LOG_INFO, NULL, "key %s is loaded: %llu bytes in %llu ms", k->circuit->name,
                  (unsigned long long)k->bytes.of[BYTES_HEAP], (unsigned long long)k->load_ms);
        tell_key_list(c, &k->preloads, CUZK_OK, "", &answer);
        return;
    }
    c->counters.key_load_failures++;
    key_store_load_failed(k, &c->budget, now_ns + (LOAD_BACK_OFF_NS << k->failures));
    core_note(c, LOG_ERROR, NULL, "key %s cannot be loaded: %s", k->circuit->name, e->error->text);
    if (status_retry_class(e->status) == RETRY_LATER && k->failures < LOAD_TRIES) {
        core_due(c, k->retry_ns);
        return;
    }
    k->failures = 0;
    k->retry_ns = 0; /* a later job tries again */
    tell_key_list(c, &k->preloads, e->status, e->error->text, NULL);
    core_fail_unfinished(c, k->circuit, e->status, e->error, now_ns);
}

static void key_freed(struct engine_core *c, struct stored_key *k)
{
    const struct key_answer answer = { .was_loaded = true, .freed_bytes = k->bytes.of[BYTES_HEAP] };

    key_store_evicted(&c->store, k, &c->budget);
    tell_key_list(c, &k->evicts, CUZK_OK, "", &answer);
}

/* -- time --------------------------------------------------------------------------------------------------------------- */

static void tick(struct engine_core *c, uint64_t now_ns)
{
    struct job *older, *j;

    c->due_ns = UINT64_MAX;
    core_watch_lanes(c, now_ns);
    for (j = c->newest; j != NULL; j = older) {
        older = j->older;
        if (j->waiters != NULL) expire_waiters(c, j, now_ns);
        if (j->dirty && (j->record & RECORD_END) == 0) record(c, j, RECORD_END);
        if (j->expire_ns == 0 || j->state == JOB_ACCEPTING || core_job_over(j)) continue;
        if (j->expire_ns <= now_ns) {
            const struct error e = { .status = CUZK_DEADLINE, .text = "the job was not done in the time given to it" };
            core_finish(c, j, JOB_FAILED, CUZK_DEADLINE, &e, now_ns);
        } else {
            core_due(c, j->expire_ns);
        }
    }
    while (c->shelf.oldest != NULL && !c->shelf.oldest->dirty && c->shelf.oldest->settled &&
           (j = result_forget(&c->shelf, c->options.result_most, c->options.result_keep_ns, now_ns)) != NULL)
        forget(c, j);
    if (c->shelf.oldest != NULL) {
        const uint64_t keep_until = c->shelf.oldest->end_ns + c->options.result_keep_ns;
        core_due(c, keep_until > now_ns ? keep_until : now_ns + DIRTY_RETRY_NS);
    }
    for (size_t i = 0; i < c->store.count; i++)
        if (c->store.keys[i].state == KEY_COLD && c->store.keys[i].retry_ns > now_ns) core_due(c, c->store.keys[i].retry_ns);
}

/* -- closing ------------------------------------------------------------------------------------------------------------ */

/* Lets go of jobs at the end: durable ones are left to the journal, others end. */
static void let_go(struct engine_core *c, bool started_too, uint64_t now_ns)
{
    struct job *older;

    for (struct job *j = c->newest; j != NULL; j = older) {
        older = j->older;
        if (core_job_over(j) || j->state == JOB_ACCEPTING || (j->state == JOB_STARTED && !started_too)) continue;
        if (!j->durable) {
            core_finish(c, j, JOB_CANCELLED, CUZK_CANCELLED, NULL, now_ns);
            continue;
        }
        struct job_answer answer = { .status = CUZK_CANCELLED };
        answer.error_text = "the engine is closing; the job is kept and goes on at the next start";
        memcpy(answer.job_id, j->id, sizeof answer.job_id);
        j->suspended = true;
        queue_drop(&c->queue, j);
        core_stop_parts(c, j, now_ns);
        tell_waiters(c, j, &answer);
    }
}

/* -- the step ----------------------------------------------------------------------------------------------------------- */

void core_step(struct engine_core *c, const struct event *e, uint64_t now_ns)
{
    switch (e->kind) {
    case EVENT_SUBMIT: submit(c, e->job, e->waiter, now_ns); break;
    case EVENT_RESUME: resume(c, e->job, now_ns); break;
    case EVENT_JOURNALED:
        journaled(c, e, now_ns);
        if ((e->records & RECORD_ACCEPT) && e->status == CUZK_OK && e->job->cancel_asked)
            core_finish(c, e->job, JOB_CANCELLED, CUZK_CANCELLED, NULL, now_ns);
        break;
    case EVENT_AWAIT: await(c, e->id, e->waiter, now_ns); break;
    case EVENT_LEAVE: leave(c, e, now_ns); break;
    case EVENT_CANCEL: cancel(c, e->id, e->waiter, now_ns); break;
    case EVENT_PRELOAD: preload(c, e->circuit, e->waiter); break;
    case EVENT_EVICT: evict_asked(c, e->circuit, e->waiter); break;
    case EVENT_PART_ENDED: core_part_ended(c, e, now_ns); break;
    case EVENT_LANE_TESTED: core_lane_tested(c, e, now_ns); break;
    case EVENT_KEY_LOADED: key_loaded(c, e, now_ns); break;
    case EVENT_KEY_FREED: key_freed(c, e->key); break;
    case EVENT_TICK: break;
    case EVENT_HALT: c->halted = true; /* fall through */
    case EVENT_DRAIN: c->draining = true; break;
    }
    if (c->due_ns <= now_ns) tick(c, now_ns);
    if (c->draining) let_go(c, c->halted, now_ns);
    core_schedule(c, now_ns);
}

uint64_t core_due_ns(const struct engine_core *c) { return c->due_ns; }

bool core_quiet(const struct engine_core *c)
{
    for (uint32_t i = 0; i < c->lanes.count; i++)
        if (c->lanes.lanes[i].state == LANE_BUSY || c->lanes.lanes[i].state == LANE_TESTING) return false;
    for (size_t i = 0; i < c->store.count; i++)
        if (c->store.keys[i].state == KEY_LOADING || c->store.keys[i].state == KEY_EVICTING) return false;
    for (const struct job *j = c->newest; j != NULL; j = j->older)
        if (j->record != RECORD_NOTHING) return false;
    return true;
}

bool core_drained(const struct engine_core *c)
{
    for (const struct job *j = c->newest; j != NULL; j = j->older)
        if (j->state == JOB_ACCEPTING || j->state == JOB_RECORDING || (j->state == JOB_STARTED && !j->suspended)) return false;
    return true;
}

/* -- life --------------------------------------------------------------------------------------------------------------- */

cuzk_status core_init(struct engine_core *c, struct task *t, const struct core_options *o, struct circuit *circuits, size_t circuit_count,
                      uint32_t lane_count, const struct bytes *total, const struct bytes *fixed, core_act *on_act, void *act_context,
                      uint64_t now_ns)
{
    memset(c, 0, sizeof *c);
    c->options = *o;
    c->act = on_act;
    c->act_context = act_context;
    c->start_ns = now_ns;
    c->due_ns = UINT64_MAX;
    c->fixed = *fixed;
    budget_init(&c->budget, total);
    if (!budget_take(&c->budget, fixed))
        return FAIL(t, CUZK_TOO_LARGE, "payloads and devices' tables take %llu bytes of heap; the whole budget is %llu",
                    (unsigned long long)fixed->of[BYTES_HEAP], (unsigned long long)total->of[BYTES_HEAP]);
    TRY(key_store_init(&c->store, t, circuits, circuit_count));
    TRY(lane_book_init(&c->lanes, t, lane_count, o->strikes_most));
    TRY(queue_init(&c->queue, t, o->queue_most, o->ageing_ns));
    c->carried_parts = calloc(circuit_count + 1, sizeof *c->carried_parts);
    c->resident = calloc(circuit_count + 1, sizeof *c->resident);
    if (c->carried_parts == NULL || c->resident == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a table of circuits");
    return CUZK_OK;
}

void core_fini(struct engine_core *c)
{
    while (c->newest != NULL) {
        struct job *j = c->newest;
        leave_tables(c, j);
        job_destroy(j);
    }
    free(c->carried_parts);
    free(c->resident);
    key_store_fini(&c->store);
    lane_book_fini(&c->lanes);
    queue_fini(&c->queue);
}

/* -- the audit ---------------------------------------------------------------------------------------------------------- */

static void must(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "cuzk: the engine's books do not agree: %s\n", what);
    abort();
}

void core_audit(const struct engine_core *c)
{
    struct bytes sum = c->fixed;
    uint64_t payloads = 0;
    unsigned unfinished = 0, references = 0, expected = 0;

    bytes_add(&sum, &c->carried);
    for (size_t i = 0; i < c->store.count; i++) {
        bytes_add(&sum, &c->store.keys[i].bytes);
        references += c->store.keys[i].references;
    }
    for (uint32_t i = 0; i < c->lanes.count; i++) {
        const struct lane *l = &c->lanes.lanes[i];
        if (l->state != LANE_BUSY && l->state != LANE_STUCK) continue;
        bytes_add(&sum, &l->held);
        expected++;
        /* a run of synthesis holds its carry's bytes in `held`, and they count as carried too */
        if (l->state == LANE_BUSY && l->synthesis)
            for (int k = 0; k < BYTES_KINDS; k++) sum.of[k] -= l->job->circuit->carry_bytes.of[k];
    }
    for (const struct job *j = c->newest; j != NULL; j = j->older) {
        unfinished += j->state < JOB_RECORDING;
        if (j->payload_counted) payloads += j->payload_bytes;
        for (unsigned p = 0; p < j->part_count; p++) expected += j->parts[p].state == PART_READY && j->parts[p].carry != NULL;
    }
    must(memcmp(&sum, &c->budget.used, sizeof sum) == 0, "the ledger is not the sum of what is held");
    must(bytes_lacking(&c->budget.used, &c->budget.total) < 0, "more is taken than there is");
    must(bytes_lacking(&c->budget.peak, &c->budget.total) < 0, "more was taken than there is");
    must(payloads == c->payload_used && payloads <= c->options.payload_bytes, "the payloads' account");
    must(unfinished == c->unfinished, "the count of unfinished jobs");
    must(references == expected, "the keys' references");
}
