/* The core's jobs: the tables, how a job comes in, what the journal answers, and how it ends. */
#include "engine/core_inside.h"
#include <stdio.h>
#include <string.h>

#define DIRTY_RETRY_NS (1000ull * 1000000) /* how soon the journal is tried again */

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

void core_drop(struct engine_core *c, struct job *j)
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

/* -- the end of a job --------------------------------------------------------------------------------------------------- */

/* Tells those who wait for the job's end, or all of them. */
void core_tell_waiters(struct engine_core *c, struct job *j, const struct job_answer *answer)
{
    while (j->waiters != NULL) {
        struct waiter *w = j->waiters;
        j->waiters = w->next;
        core_tell(c, w, answer);
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

void core_record(struct engine_core *c, struct job *j, enum job_record what)
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
    core_tell_waiters(c, j, &answer);
    core_settle(c, j);
}

void core_finish(struct engine_core *c, struct job *j, enum job_end end, cuzk_status status,
                 const struct error *error, uint64_t now_ns)
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
        if (j->has_deadline && now_ns > j->deadline_ns) {
            c->counters.late++;
            core_note(c, LOG_WARN, j, "is done %llu ms after its deadline",
                      (unsigned long long)((now_ns - j->deadline_ns) / 1000000));
        }
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
        core_record(c, j, RECORD_END);
    else
        ended(c, j, now_ns);
}

void core_part_done(struct engine_core *c, struct job *j, unsigned part, uint64_t now_ns)
{
    struct task t;

    if (core_job_over(j)) return;
    if (j->parts_done < j->part_count) {
        j->parts[part].unrecorded = true;
        if (j->durable) core_record(c, j, RECORD_PARTS);
        return;
    }
    task_init(&t);
    const cuzk_status status = result_assemble(&t, j);
    core_finish(c, j, status == CUZK_OK ? JOB_DONE : JOB_FAILED, status, status == CUZK_OK ? NULL : &t.error,
                now_ns);
}

void core_fail_unfinished(struct engine_core *c, const struct circuit *only, cuzk_status status,
                          const struct error *error, uint64_t now_ns)
{
    struct job *older;

    for (struct job *j = c->newest; j != NULL; j = older) {
        older = j->older;
        if (j->state != JOB_QUEUED && j->state != JOB_STARTED) continue;
        if (only == NULL || j->circuit == only) core_finish(c, j, JOB_FAILED, status, error, now_ns);
    }
}

void core_forget(struct engine_core *c, struct job *j)
{
    core_drop(c, j);
    j->forgotten = true;
    if (j->recorded)
        core_record(c, j, RECORD_FORGET);
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

cuzk_status core_could_ever_run(const struct engine_core *c, struct task *t, const struct circuit *circuit,
                                size_t payload_bytes, bool durable)
{
    struct budget available;
    struct bytes total, need;
    char who[ENGINE_NAME_BYTES + 32];

    for (int k = 0; k < BYTES_KINDS; k++) total.of[k] = c->budget.total.of[k] - c->fixed.of[k];
    budget_init(&available, &total);
    core_job_bytes(&need, circuit);
    if (durable) need.of[BYTES_HEAP] += payload_bytes; /* after a restart it is read for each run */
    if (c->options.copies_inputs && !circuit->kind->has_synthesis) need.of[BYTES_HEAP] += payload_bytes;
    snprintf(who, sizeof who, "a job on circuit %s", circuit->name);
    TRY(budget_fits(t, &available, &need, who));
    if (payload_bytes <= c->options.payload_bytes) return CUZK_OK;
    return FAIL(t, CUZK_TOO_LARGE, "the payload is %zu bytes; all queued payloads together may take %llu",
                payload_bytes, (unsigned long long)c->options.payload_bytes);
}

static cuzk_status could_ever_run(const struct engine_core *c, struct task *t, const struct job *j)
{
    return core_could_ever_run(c, t, j->circuit, j->payload_bytes, j->durable);
}

bool core_queue_full(const struct engine_core *c) { return c->unfinished >= c->options.queue_most; }

bool core_full(const struct engine_core *c)
{
    return core_queue_full(c) || c->payload_used >= c->options.payload_bytes;
}

static cuzk_status room_in_queue(struct engine_core *c, struct task *t, const struct job *j)
{
    if (c->unfinished >= c->options.queue_most)
        return FAIL(t, CUZK_QUEUE_FULL, "%u jobs are waiting or running; the queue takes %u", c->unfinished,
                    c->options.queue_most);
    if (j->payload_bytes > c->options.payload_bytes - c->payload_used)
        return FAIL(t, CUZK_QUEUE_FULL, "the waiting payloads take %llu of %llu bytes; this one has %zu",
                    (unsigned long long)c->payload_used, (unsigned long long)c->options.payload_bytes,
                    j->payload_bytes);
    return CUZK_OK;
}

static cuzk_status may_enter(struct engine_core *c, struct task *t, const struct job *j)
{
    if (c->draining) return FAIL(t, CUZK_DEVICE_UNAVAILABLE, "the engine is closing");
    if (!lane_book_any_open(&c->lanes))
        return FAIL(t, CUZK_DEVICE_UNAVAILABLE, "every lane is closed: each failed too often within an hour");
    TRY(could_ever_run(c, t, j));
    TRY(room_in_queue(c, t, j));
    return j->unwritten ? FAIL(t, CUZK_QUEUE_FULL, "the queue was full when the request came") : CUZK_OK;
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
    core_tell_status(c, w, j->id, j->status, j->error_text);
    core_do_job(c, ACT_DESTROY, j);
}

/* Tells the waiters of a submit. */
static void tell_accepted(struct engine_core *c, struct job *j, uint64_t now_ns)
{
    struct waiter **at = &j->waiters;

    while (*at != NULL) {
        struct waiter *w = *at, *ended = w->ended;
        struct job_answer answer;
        if (!w->of_submit) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        w->ended = NULL;
        result_answer(&answer, j, now_ns);
        answer.status = CUZK_OK;
        answer.joined = w->joined;
        answer.queue_position = core_job_over(j) ? 0 : queue_position(&c->queue, j);
        core_tell(c, w, &answer);
        if (ended == NULL) continue;
        if (j->state == JOB_ENDED) {
            result_answer(&answer, j, now_ns);
            core_tell(c, ended, &answer);
        } else {
            ended->next = *at;
            *at = ended;
            at = &ended->next;
        }
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

void core_submit(struct engine_core *c, struct job *j, struct waiter *w, uint64_t now_ns)
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
        core_record(c, j, RECORD_ACCEPT);
    else
        accepted(c, j, now_ns);
}

/* The journal could not take a new job, or its input has gone: it is refused. */
static void acceptance_failed(struct engine_core *c, struct job *j, const struct event *told)
{
    const struct error *const why = told->error;
    struct job_answer answer = { .status = CUZK_IO };
    struct error e = { .text = "" };

    /* Paths and what to do are for the daemon's log; a client may try again, or ask for a job that is not durable. */
    if (told->input_lost)
        snprintf(e.text, sizeof e.text, "the job's input has gone from the daemon's disk before the job was accepted");
    else
        snprintf(e.text, sizeof e.text, "the daemon's journal takes no durable job now: %.400s",
                 why != NULL ? why->text : "it cannot be written");
    job_error(j, CUZK_IO, &e);
    memcpy(answer.job_id, j->id, sizeof answer.job_id);
    answer.error_text = j->error_text;
    c->counters.refused_other++;
    c->unfinished--;
    c->payload_used -= j->payload_bytes;
    core_drop(c, j);
    core_tell_waiters(c, j, &answer);
    core_do_job(c, ACT_DESTROY, j);
}

void core_resume(struct engine_core *c, struct job *j, uint64_t now_ns)
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
    if (could_ever_run(c, &t, j) != CUZK_OK)
        core_finish(c, j, JOB_FAILED, t.error.status, &t.error, now_ns); /* the budget has shrunk */
    if (j->parts_done == j->part_count) core_part_done(c, j, 0, now_ns);
}

void core_journal_state(struct engine_core *c, const struct job *j, bool ok, const struct error *why)
{
    if (!ok && !c->journal_broken)
        core_note(c, LOG_ERROR, j,
                  "the journal cannot be written; durable jobs are refused until it can: %s%s%s%s%s",
                  why != NULL ? why->path : "", why != NULL && why->path[0] != '\0' ? ": " : "",
                  why != NULL ? why->text : "", why != NULL && why->advice[0] != '\0' ? "; " : "",
                  why != NULL ? why->advice : "");
    if (ok && c->journal_broken) core_note(c, LOG_INFO, NULL, "the journal can be written again");
    c->journal_broken = !ok;
}

void core_journaled(struct engine_core *c, const struct event *e, uint64_t now_ns)
{
    struct job *j = e->job;
    const bool ok = e->status == CUZK_OK;

    if (e->input_lost) {
        core_note(c, LOG_ERROR, j, "is refused: %s: %s; %s", e->error->path, e->error->text, e->error->advice);
    } else {
        if (!ok) c->counters.journal_failures++;
        core_journal_state(c, j, ok, e->error);
    }
    if (e->records & RECORD_FORGET) {
        core_do_job(c, ACT_DESTROY, j);
        return;
    }
    if (e->records & RECORD_ACCEPT) {
        if (!ok) {
            acceptance_failed(c, j, e);
            return;
        }
        j->recorded = true;
        accepted(c, j, now_ns);
    }
    if ((e->records & RECORD_PARTS) && !ok)
        core_note(c, LOG_WARN, j, "a finished part is not in the journal");
    if (e->records & RECORD_END) {
        const bool was_dirty = j->dirty;
        j->dirty = !ok;
        if (!ok) core_due(c, now_ns + DIRTY_RETRY_NS);
        if (j->state == JOB_RECORDING)
            ended(c, j, now_ns);
        else if (was_dirty && ok && j->settled)
            core_do_job(c, ACT_DROP_PAYLOAD, j);
    }
}
