/* An engine for the daemon's tests that proves nothing: what a job does is written in its payload, so that every answer and every
 * order of events can be had at once and on purpose.  It keeps the contract of engine.h: answers come on its own thread.
 *
 * Payload   "refuse" (validation fails)   "large" (larger than the budget)   "fail" (ends FAILED)   "sleep MS"   "hang"
 *           anything else ends DONE at once; the proof tells the payload's size and digest, the text what the engine was given */
#include "base/clock.h"
#include "engine/engine.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct job_kind {
    const char *name;
};
const struct job_kind kind_circom = { "circom" }, kind_porep = { "porep" };

const char *engine_parameter_folder(void) { return "/nonexistent"; }
cuzk_status engine_find_circuits(struct engine_circuit out[ENGINE_FOUND_MOST], size_t *count, struct task *t,
                                 const char *folder)
{
    (void)out;
    *count = 0;
    return FAIL(t, CUZK_NOT_FOUND, "the fake engine has no parameters in %s", folder);
}

const struct job_kind *job_kind_by_name(const char *name)
{
    if (!strcmp(name, kind_circom.name)) return &kind_circom;
    return strcmp(name, kind_porep.name) ? NULL : &kind_porep;
}

struct fake_job {
    struct fake_job *next;
    char id[JOB_ID_BYTES], request_id[REQUEST_ID_BYTES], kind[ENGINE_NAME_BYTES], circuit[ENGINE_NAME_BYTES];
    uint64_t digest, payload_bytes, end_ns; /* end_ns: when it ends by itself; UINT64_MAX: never */
    enum job_end end, will_end;
    enum job_priority priority;
    char proof[128], text[512];
};

enum event_kind {
    EVENT_SUBMIT,
    EVENT_AWAIT,
    EVENT_LEAVE,
    EVENT_CANCEL,
    EVENT_PRELOAD,
    EVENT_EVICT,
    EVENT_LOOK,
    EVENT_CLOSE
};
struct event {
    struct event *next;
    enum event_kind kind;
    struct fake_job *job;
    bool large;
    char name[ENGINE_NAME_BYTES];
    uint64_t until_ns; /* EVENT_AWAIT: UINT64_MAX: for ever */
    job_told *told;
    key_told *key;
    view_told *view;
    void *context;
    job_told *ended; /* EVENT_SUBMIT */
};

struct engine {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct event *first, **last;

    /* the thread's own */
    struct fake_job *jobs;
    struct event *waiters;
    unsigned queue_most, job_number;
    bool cancel_when_alone, closing;
    uint64_t start_ns;
    char names[8][ENGINE_NAME_BYTES];
    const struct job_kind *kinds[8];
    bool loaded[8];
    size_t circuit_count;
    struct engine_counters counters;
};

static void post(struct engine *e, const struct event *event)
{
    struct event *copy = malloc(sizeof *copy);
    *copy = *event;
    copy->next = NULL;
    pthread_mutex_lock(&e->lock);
    *e->last = copy;
    e->last = &copy->next;
    pthread_cond_signal(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static struct fake_job *find(struct engine *e, const char *id)
{
    struct fake_job *j = e->jobs;
    while (j && strcmp(j->id, id)) j = j->next;
    return j;
}

static void answer(const struct event *w, const struct fake_job *j, cuzk_status status, const char *text,
                   bool was_running)
{
    struct job_answer a = { .status = status, .error_text = text, .was_running = was_running, .attempts = 1 };
    a.timings.total_ms = 12.4;
    a.timings.prove_ms = 7.6;
    if (j) {
        memcpy(a.job_id, j->id, sizeof a.job_id);
        a.end = j->end;
        if (j->end == JOB_DONE) {
            a.proof = span_of(j->proof, strlen(j->proof));
            a.text = span_of(j->text, strlen(j->text));
        }
    }
    w->told(w->context, &a);
}

static void answer_ended(const struct event *w, const struct fake_job *j)
{
    if (j->end == JOB_FAILED)
        answer(w, j, CUZK_UNSATISFIED, "constraint 7 is not satisfied", false);
    else
        answer(w, j, CUZK_OK, "", false);
}

static bool has_waiter(const struct engine *e, const char *id)
{
    const struct event *w = e->waiters;
    while (w && strcmp(w->name, id)) w = w->next;
    return w != NULL;
}

static void end_job(struct engine *e, struct fake_job *j, enum job_end end)
{
    j->end = end;
    e->counters.done += end == JOB_DONE;
    e->counters.failed += end == JOB_FAILED;
    e->counters.cancelled += end == JOB_CANCELLED;
    for (struct event **at = &e->waiters; *at;) {
        struct event *w = *at;
        if (strcmp(w->name, j->id)) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        answer_ended(w, j);
        free(w);
    }
}

/* The submit's second half: a wait for the job's end. */
static void wait_for_end(struct engine *e, const struct event *v, const struct fake_job *j)
{
    struct event w = { .kind = EVENT_AWAIT, .told = v->ended, .context = v->context, .until_ns = UINT64_MAX };
    if (!v->ended) return;
    memcpy(w.name, j->id, sizeof j->id);
    if (j->end != JOB_UNFINISHED) {
        answer_ended(&w, j);
        return;
    }
    struct event *copy = malloc(sizeof *copy);
    *copy = w;
    copy->next = e->waiters;
    e->waiters = copy;
}

static void on_submit(struct engine *e, struct event *v)
{
    unsigned unfinished = 0;
    struct fake_job *j = v->job;
    for (struct fake_job *other = e->jobs; other; other = other->next) {
        unfinished += other->end == JOB_UNFINISHED;
        if (!j->request_id[0] || strcmp(other->request_id, j->request_id) || other->digest != j->digest)
            continue;
        struct job_answer a = { .status = CUZK_OK, .error_text = "", .joined = true };
        memcpy(a.job_id, other->id, sizeof a.job_id);
        v->told(v->context, &a);
        wait_for_end(e, v, other);
        free(j);
        return;
    }
    const bool full = unfinished >= e->queue_most;
    if (v->large || full || e->closing) {
        struct fake_job refused = { .id = "" };
        char text[128];
        snprintf(text, sizeof text, "the queue is full: %u jobs of %u", unfinished, e->queue_most);
        if (v->large)
            answer(v, &refused, CUZK_TOO_LARGE, "the job needs 900 bytes, and the whole budget is 800",
                   false);
        else
            answer(v, &refused, full ? CUZK_QUEUE_FULL : CUZK_DEVICE_UNAVAILABLE,
                   full ? text : "the engine is closing", false);
        free(j);
        return;
    }
    snprintf(j->id, sizeof j->id, "%032x", ++e->job_number);
    j->next = e->jobs;
    e->jobs = j;
    e->counters.accepted++;
    struct job_answer a = { .status = CUZK_OK, .error_text = "", .queue_position = unfinished };
    memcpy(a.job_id, j->id, sizeof a.job_id);
    v->told(v->context, &a);
    wait_for_end(e, v, j);
}

static void on_leave(struct engine *e, const struct event *v)
{
    struct fake_job *j = find(e, v->name);
    for (struct event **at = &e->waiters; *at; at = &(*at)->next) {
        struct event *w = *at;
        if (w->told != v->told || w->context != v->context) continue;
        *at = w->next;
        answer(w, j, CUZK_CANCELLED, "the waiter has left", false);
        free(w);
        if (j && e->cancel_when_alone && !has_waiter(e, v->name) && j->end == JOB_UNFINISHED)
            end_job(e, j, JOB_CANCELLED);
        return;
    }
}

static void on_key(struct engine *e, const struct event *v)
{
    struct key_answer a = { .status = CUZK_NOT_FOUND, .error_text = "there is no such circuit" };
    for (size_t i = 0; i < e->circuit_count; i++) {
        if (strcmp(e->names[i], v->name)) continue;
        a = (struct key_answer){ .status = CUZK_OK, .error_text = "", .was_loaded = e->loaded[i] };
        if (v->kind == EVENT_PRELOAD)
            a.load_ms = e->loaded[i] ? 0 : 17;
        else
            a.freed_bytes = e->loaded[i] ? 4096 : 0;
        e->loaded[i] = v->kind == EVENT_PRELOAD;
    }
    v->key(v->context, &a);
}

static void on_look(struct engine *e, const struct event *v)
{
    struct lane_view lane = { .state = LANE_IDLE, .device = "fake 0" };
    struct key_view keys[8];
    struct kind_view kind = { .kind = "circom", .done = e->counters.done, .failed = e->counters.failed };
    static struct job_view jobs[1024];
    struct engine_view view = { .lanes = &lane,
                                .lane_count = 1,
                                .keys = keys,
                                .key_count = e->circuit_count,
                                .kinds = &kind,
                                .kind_count = 1,
                                .jobs = jobs,
                                .counters = e->counters };
    view.uptime_ms = (clock_now_ns() - e->start_ns) / 1000000;
    view.heap = (struct bytes_view){ .total = 800, .used = 80, .peak = 90 };
    memset(keys, 0, sizeof keys);
    for (size_t i = 0; i < e->circuit_count; i++) {
        snprintf(keys[i].circuit, sizeof keys[i].circuit, "%s", e->names[i]);
        keys[i].state = e->loaded[i] ? KEY_RESIDENT : KEY_COLD;
        keys[i].bytes = 4096;
    }
    for (const struct fake_job *j = e->jobs; j && view.job_count < ARRAY_COUNT(jobs); j = j->next) {
        if (j->end != JOB_UNFINISHED) continue;
        struct job_view *to = &jobs[view.job_count++];
        memset(to, 0, sizeof *to);
        memcpy(to->job_id, j->id, sizeof to->job_id);
        memcpy(to->circuit, j->circuit, sizeof to->circuit);
        memcpy(to->kind, j->kind, sizeof to->kind);
        to->priority = j->priority;
        to->part_count = 1;
        kind.pending++;
        lane.state = LANE_BUSY;
        memcpy(lane.job_id, j->id, sizeof lane.job_id);
    }
    v->view(v->context, &view);
}

static void take(struct engine *e, struct event *v)
{
    struct fake_job *j = v->told ? find(e, v->name) : NULL;
    switch (v->kind) {
    case EVENT_SUBMIT:
        on_submit(e, v);
        break;
    case EVENT_AWAIT:
        if (!j)
            answer(v, NULL, CUZK_NOT_FOUND, "there is no such job", false);
        else if (j->end != JOB_UNFINISHED)
            answer_ended(v, j);
        else {
            v->next = e->waiters;
            e->waiters = v;
            return;
        }
        break;
    case EVENT_LEAVE:
        on_leave(e, v);
        break;
    case EVENT_CANCEL:
        if (j) {
            const bool running = j->end == JOB_UNFINISHED;
            if (running) end_job(e, j, JOB_CANCELLED);
            answer(v, j, CUZK_OK, "", running);
        } else {
            answer(v, NULL, CUZK_NOT_FOUND, "there is no such job", false);
        }
        break;
    case EVENT_PRELOAD:
    case EVENT_EVICT:
        on_key(e, v);
        break;
    case EVENT_LOOK:
        on_look(e, v);
        break;
    case EVENT_CLOSE:
        e->closing = true;
        break;
    }
    free(v);
}

/* Jobs and waits whose time has come.  Returns when to look again. */
static uint64_t pass_time(struct engine *e)
{
    const uint64_t now = clock_now_ns();
    uint64_t next = UINT64_MAX;
    for (struct fake_job *j = e->jobs; j; j = j->next) {
        if (j->end != JOB_UNFINISHED) continue;
        if (j->end_ns <= now)
            end_job(e, j, j->will_end);
        else if (j->end_ns < next)
            next = j->end_ns;
    }
    for (struct event **at = &e->waiters; *at;) {
        struct event *w = *at;
        if (w->until_ns <= now) {
            *at = w->next;
            answer(w, find(e, w->name), CUZK_DEADLINE, "not finished yet", false);
            free(w);
            continue;
        }
        if (w->until_ns < next) next = w->until_ns;
        at = &w->next;
    }
    return next;
}

static void *engine_thread(void *context)
{
    struct engine *e = context;
    while (!e->closing) {
        const uint64_t next = pass_time(e);
        struct timespec until = { .tv_sec = (time_t)(next / 1000000000),
                                  .tv_nsec = (long)(next % 1000000000) };
        pthread_mutex_lock(&e->lock);
        if (!e->first && next == UINT64_MAX)
            pthread_cond_wait(&e->changed, &e->lock);
        else if (!e->first)
            pthread_cond_timedwait(&e->changed, &e->lock, &until);
        struct event *v = e->first;
        if (v) {
            e->first = v->next;
            if (!e->first) e->last = &e->first;
        }
        pthread_mutex_unlock(&e->lock);
        if (v) take(e, v);
    }
    for (struct fake_job *j = e->jobs; j; j = j->next)
        if (j->end == JOB_UNFINISHED) end_job(e, j, JOB_CANCELLED);
    while (e->first) { /* what came while it was closing */
        struct event *v = e->first;
        e->first = v->next;
        take(e, v);
    }
    return NULL;
}

cuzk_status engine_open(struct engine **out, struct task *t, const struct engine_options *o)
{
    struct engine *e = calloc(1, sizeof *e);
    pthread_condattr_t monotonic;
    if (o->circuit_count > ARRAY_COUNT(e->names))
        return FAIL(t, CUZK_INVALID_ARGUMENT, "the fake engine takes 8 circuits");
    e->last = &e->first;
    e->queue_most = o->queue_most;
    e->cancel_when_alone = o->cancel_when_alone;
    e->start_ns = clock_now_ns();
    e->circuit_count = o->circuit_count;
    for (size_t i = 0; i < o->circuit_count; i++) {
        snprintf(e->names[i], sizeof e->names[i], "%s", o->circuits[i].name);
        e->kinds[i] = o->circuits[i].kind;
        e->loaded[i] = o->circuits[i].preload;
    }
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&e->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_create(&e->thread, NULL, engine_thread, e);
    *out = e;
    return CUZK_OK;
}

void engine_close(struct engine *e, uint64_t timeout_ms)
{
    (void)timeout_ms;
    if (!e) return;
    post(e, &(struct event){ .kind = EVENT_CLOSE });
    pthread_join(e->thread, NULL);
    while (e->jobs) {
        struct fake_job *j = e->jobs;
        e->jobs = j->next;
        free(j);
    }
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

static uint64_t digest_of(const uint8_t *bytes, size_t count)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < count; i++) h = (h ^ bytes[i]) * 1099511628211u;
    return h;
}

static bool begins(const struct engine_request *r, const char *word)
{
    return r->payload_bytes >= strlen(word) && !memcmp(r->payload, word, strlen(word));
}

static struct fake_job *make_job(const struct engine_request *r)
{
    struct fake_job *j = calloc(1, sizeof *j);
    char number[16] = "";
    snprintf(j->request_id, sizeof j->request_id, "%s", r->request_id);
    snprintf(j->circuit, sizeof j->circuit, "%s", r->circuit);
    snprintf(j->kind, sizeof j->kind, "%s", r->parameters.size ? "porep" : "circom");
    j->priority = r->priority ? r->priority : JOB_NORMAL;
    j->payload_bytes = r->payload_bytes;
    j->digest = digest_of(r->payload, r->payload_bytes);
    j->will_end = begins(r, "fail") ? JOB_FAILED : JOB_DONE;
    if (begins(r, "hang")) j->end_ns = UINT64_MAX;
    if (begins(r, "sleep ")) {
        memcpy(number, r->payload + 6, r->payload_bytes - 6 < 15 ? r->payload_bytes - 6 : 15);
        j->end_ns = clock_now_ns() + strtoull(number, NULL, 10) * 1000000;
    }
    snprintf(j->proof, sizeof j->proof, "%" PRIu64 " bytes, digest %016" PRIx64, j->payload_bytes, j->digest);
    int n = snprintf(j->text, sizeof j->text,
                     "{\"proof\":\"%s\",\"publicSignals\":[\"%u\",\"%" PRIu64 "\",\"%d\"],\"parameters\":\"",
                     j->circuit, (unsigned)r->priority, r->deadline_ms, r->durable);
    for (size_t i = 0; i < r->parameters.size && n + 3 < (int)sizeof j->text; i++)
        n += snprintf(j->text + n, sizeof j->text - (size_t)n, "%02x", r->parameters.data[i]);
    strcat(j->text, "\"}");
    return j;
}

cuzk_status engine_submit(struct engine *e, struct task *t, const struct engine_request *r, job_told *told,
                          void *context)
{
    struct event v = { .kind = EVENT_SUBMIT, .told = told, .context = context, .ended = r->ended };
    size_t i = 0;
    while (i < e->circuit_count && strcmp(e->names[i], r->circuit)) i++;
    cuzk_status status = CUZK_OK;
    if (i == e->circuit_count) {
        status = FAIL(t, CUZK_NOT_FOUND, "there is no circuit '%s'", r->circuit);
    } else if (begins(r, "refuse")) {
        status = FAIL(t, CUZK_MALFORMED, "the witness is not a .wtns file");
    } else {
        v.job = make_job(r);
        v.large = begins(r, "large");
        post(e, &v);
    }
    free(r->payload);
    return status;
}

static void post_named(struct engine *e, struct event *v, const char *name)
{
    snprintf(v->name, sizeof v->name, "%s", name);
    post(e, v);
}

void engine_await(struct engine *e, const char *job_id, uint64_t timeout_ms, job_told *told, void *context)
{
    struct event v = { .kind = EVENT_AWAIT, .told = told, .context = context };
    v.until_ns = timeout_ms ? clock_now_ns() + timeout_ms * 1000000 : UINT64_MAX;
    post_named(e, &v, job_id);
}

void engine_leave(struct engine *e, const char *job_id, job_told *told, void *context)
{
    post_named(e, &(struct event){ .kind = EVENT_LEAVE, .told = told, .context = context }, job_id);
}

void engine_cancel(struct engine *e, const char *job_id, job_told *told, void *context)
{
    post_named(e, &(struct event){ .kind = EVENT_CANCEL, .told = told, .context = context }, job_id);
}

void engine_preload(struct engine *e, const char *circuit, key_told *told, void *context)
{
    post_named(e, &(struct event){ .kind = EVENT_PRELOAD, .key = told, .context = context }, circuit);
}

void engine_evict(struct engine *e, const char *circuit, key_told *told, void *context)
{
    post_named(e, &(struct event){ .kind = EVENT_EVICT, .key = told, .context = context }, circuit);
}

void engine_look(struct engine *e, view_told *told, void *context)
{
    post(e, &(struct event){ .kind = EVENT_LOOK, .view = told, .context = context });
}

const char *lane_state_name(enum lane_state s) { return s == LANE_BUSY ? "busy" : "idle"; }

int engine_device_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return -1; /* it has no devices */
}
