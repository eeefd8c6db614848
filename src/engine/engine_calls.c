/* The engine's calls, on the caller's thread: what a request is, and the way into the mailbox. */
#include "base/bytes.h"
#include "base/clock.h"
#include "base/rng.h"
#include "engine/engine_inside.h"
#include "engine/payload_file.h"
#include "hash/sha256.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- submitting --------------------------------------------------------------------------------------------------------- */

static void drop_payload(const struct engine_request *r)
{
    if (r->payload != NULL) wipe(r->payload, r->payload_bytes);
    free(r->payload);
}

static cuzk_status fill_id(struct task *t, char out[JOB_ID_BYTES])
{
    uint8_t random[(JOB_ID_BYTES - 1) / 2];

    TRY(rng_bytes(t, random, sizeof random));
    for (size_t i = 0; i < sizeof random; i++) snprintf(out + 2 * i, 3, "%02x", random[i]);
    return CUZK_OK;
}

static void hash_text(struct sha256 *h, const void *data, size_t bytes)
{
    const uint64_t length = bytes;

    sha256_update(h, &length, sizeof length);
    if (bytes > 0) sha256_update(h, data, bytes);
}

/* What the request is: its kind, circuit, parameters and payload, each with its length.  A request that can neither be joined nor come
 * back from the disk needs none. */
static void fill_digests(struct job *j, const struct engine_request *r)
{
    struct sha256 h;

    if (j->request_id[0] == '\0' && !j->durable) return;

    sha256_of(j->payload_digest, r->payload, r->payload_bytes);
    sha256_init(&h);
    hash_text(&h, j->kind_name, strlen(j->kind_name));
    hash_text(&h, r->circuit, strlen(r->circuit));
    hash_text(&h, r->parameters.data, r->parameters.size);
    hash_text(&h, j->payload_digest, sizeof j->payload_digest);
    sha256_final(&h, j->digest);
}

static void fill_times(struct job *j, const struct engine *e, const struct engine_request *r)
{
    const uint64_t now_ns = clock_now_ns(), unix_ms = journal_unix_ms();
    const uint64_t ttl_ms = r->ttl_ms != 0 ? r->ttl_ms : e->job_ttl_ms;

    j->accepted_unix_ms = unix_ms;
    j->part_ns = r->part_ms * MS;
    if (r->deadline_ms != 0) {
        j->has_deadline = true;
        j->deadline_ns = now_ns + r->deadline_ms * MS;
        j->deadline_unix_ms = unix_ms + r->deadline_ms;
    }
    if (ttl_ms != 0) {
        j->expire_ns = now_ns + ttl_ms * MS;
        j->expire_unix_ms = unix_ms + ttl_ms;
    }
}

static cuzk_status find_circuit(struct circuit **out, struct task *t, const struct engine *e, const char *name)
{
    for (size_t i = 0; i < e->circuit_count; i++) {
        *out = &e->circuits[i];
        if (strcmp((*out)->name, name) == 0) return CUZK_OK;
    }
    *out = NULL;
    const cuzk_status status = FAIL(t, CUZK_NOT_FOUND, "no circuit %.63s is configured", name);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "circuit",
                    "configure it, or put its parameters into the parameter cache, and start again");
    return status;
}

cuzk_status engine_could_run(const struct engine *e, struct task *t, const char *circuit, size_t payload_bytes)
{
    struct circuit *c;

    for (size_t i = 0; i < e->unserved_count; i++)
        if (strcmp(e->unserved[i].name, circuit) == 0) {
            t->error = e->unserved[i].why;
            return t->error.status;
        }
    TRY(find_circuit(&c, t, e, circuit));
    return core_could_ever_run(&e->core, t, c, payload_bytes, false);
}

static cuzk_status check_request(struct engine *e, struct task *t, const struct engine_request *r,
                                 struct circuit **circuit)
{
    *circuit = NULL;
    if (r->circuit == NULL) return engine_bad_option(t, "circuit", "is missing");
    if (r->request_id != NULL && strlen(r->request_id) >= REQUEST_ID_BYTES)
        return engine_bad_option(t, "request_id", "has more than 255 bytes");
    if (r->priority > JOB_CRITICAL) return engine_bad_option(t, "priority", "is none of the four");
    if (r->parameters.size > ENGINE_PARAMETERS_MOST)
        return engine_bad_option(t, "parameters", "have more than 4096 bytes");
    if (r->payload == NULL) return engine_bad_option(t, "payload", "is missing");
    if (r->durable == 1 && e->journal == NULL)
        return engine_bad_option(t, "durable", "is asked for, and there is no data folder");
    if (r->deadline_ms > UINT64_MAX / MS / 4) return engine_bad_option(t, "deadline_ms", "is too far away");
    if (r->ttl_ms > UINT64_MAX / MS / 4) return engine_bad_option(t, "ttl_ms", "is too far away");
    if (r->part_ms > UINT64_MAX / MS / 4) return engine_bad_option(t, "part_ms", "is too far away");
    if (r->part_ms != 0 && r->durable != -1)
        return engine_bad_option(t, "part_ms", "is for jobs that are never written to disk");
    return find_circuit(circuit, t, e, r->circuit);
}

static struct client_message *message_new(told_any *told, void *context)
{
    struct client_message *m = calloc(1, sizeof *m);

    if (m == NULL) return NULL;
    m->envelope.owned = true;
    m->waiter = calloc(1, sizeof *m->waiter);
    if (m->waiter == NULL) {
        free(m);
        return NULL;
    }
    m->waiter->told = told;
    m->waiter->context = context;
    m->envelope.event.waiter = m->waiter;
    return m;
}

/* There is no place, and the request, which has no id, cannot join another: told here, at once, whatever the engine's thread is doing. */
static bool refuse_early(struct engine *e, const struct engine_request *r, job_told *told, void *context)
{
    const unsigned most = e->core.options.queue_most; /* which never changes */
    char text[96];

    if ((r->request_id != NULL && r->request_id[0] != '\0') || !atomic_load(&e->queue_full)) return false;
    snprintf(text, sizeof text, "%u jobs are waiting or running; the queue takes %u", most, most);
    const struct job_answer answer = { .status = CUZK_QUEUE_FULL, .error_text = text };
    atomic_fetch_add(&e->refused_early, 1);
    drop_payload(r);
    told(context, &answer);
    return true;
}

cuzk_status engine_submit(struct engine *e, struct task *t, const struct engine_request *r, job_told *told,
                          void *context)
{
    struct client_message *m = message_new((told_any *)told, context);
    struct circuit *c;
    struct job *j = NULL;
    unsigned parts = 0;
    cuzk_status status = CUZK_OK;

    if (m != NULL && r->ended != NULL) m->waiter->ended = calloc(1, sizeof *m->waiter->ended);
    if (m == NULL || (r->ended != NULL && m->waiter->ended == NULL))
        TRY_GOTO(out, FAIL(t, CUZK_NO_MEMORY, "no memory for a request"));
    if (r->ended != NULL) {
        m->waiter->ended->told = (told_any *)r->ended;
        m->waiter->ended->context = context;
    }
    TRY_GOTO(out, check_request(e, t, r, &c));
    if (refuse_early(e, r, told, context)) {
        free(m->waiter->ended);
        free(m->waiter);
        free(m);
        return CUZK_OK;
    }
    TRY_GOTO(out, c->kind->validate(t, &parts, c, r->parameters, span_of(r->payload, r->payload_bytes)));
    if (parts == 0 || parts > JOB_PARTS_MOST)
        TRY_GOTO(out, FAIL(t, CUZK_UNSUPPORTED, "a job of %u parts", parts));
    TRY_GOTO(out, job_create(&j, t, c, parts, r->parameters));
    j->circuit_index = (unsigned)(c - e->circuits);
    j->priority = r->priority != 0 ? r->priority : JOB_NORMAL;
    j->durable = e->journal != NULL && (r->durable == 1 || (r->durable == 0 && c->kind->durable));
    snprintf(j->request_id, sizeof j->request_id, "%s", r->request_id != NULL ? r->request_id : "");
    TRY_GOTO(out, fill_id(t, j->id));
    fill_digests(j, r);
    fill_times(j, e, r);
    j->payload = r->payload;
    j->payload_bytes = r->payload_bytes;
    j->unwritten = j->durable && atomic_load(&e->full);
    if (j->durable && !j->unwritten) status = payload_file_write(t, journal_folder(e->journal), j);
    if (status != CUZK_OK) {
        j->payload = NULL; /* dropped below */
        goto out;
    }
    m->envelope.event.kind = EVENT_SUBMIT;
    m->envelope.event.job = j;
    mailbox_send(&e->mailbox, &m->envelope.link);
    return CUZK_OK;
out:
    job_destroy(j);
    if (m != NULL && m->waiter != NULL) free(m->waiter->ended);
    if (m != NULL) free(m->waiter);
    free(m);
    drop_payload(r);
    return status;
}

/* -- the other calls ---------------------------------------------------------------------------------------------------- */

static void tell_no_memory(const char *job_id, job_told *told, void *context)
{
    struct job_answer answer = { .status = CUZK_NO_MEMORY, .error_text = "no memory for a request" };

    snprintf(answer.job_id, sizeof answer.job_id, "%.32s", job_id);
    told(context, &answer);
}

static void send_job_event(struct engine *e, enum event_kind kind, const char *job_id, uint64_t timeout_ms,
                           job_told *told, void *context)
{
    struct client_message *m = message_new((told_any *)told, context);

    if (m == NULL) {
        tell_no_memory(job_id, told, context);
        return;
    }
    snprintf(m->text, sizeof m->text, "%.*s", JOB_ID_BYTES,
             job_id); /* one more than an id has: a longer one matches none */
    m->envelope.event.kind = kind;
    m->envelope.event.id = m->text;
    if (timeout_ms != 0 && timeout_ms < UINT64_MAX / MS / 4)
        m->waiter->deadline_ns = clock_now_ns() + timeout_ms * MS;
    mailbox_send(&e->mailbox, &m->envelope.link);
}

void engine_await(struct engine *e, const char *job_id, uint64_t timeout_ms, job_told *told, void *context)
{
    send_job_event(e, EVENT_AWAIT, job_id, timeout_ms, told, context);
}

void engine_cancel(struct engine *e, const char *job_id, job_told *told, void *context)
{
    send_job_event(e, EVENT_CANCEL, job_id, 0, told, context);
}

void engine_leave(struct engine *e, const char *job_id, job_told *told, void *context)
{
    struct client_message *m = calloc(1, sizeof *m);

    if (m == NULL) return; /* it stays until its job ends */
    m->envelope.owned = true;
    snprintf(m->text, sizeof m->text, "%.*s", JOB_ID_BYTES, job_id);
    m->envelope.event.kind = EVENT_LEAVE;
    m->envelope.event.id = m->text;
    m->envelope.event.told = (told_any *)told;
    m->envelope.event.context = context;
    mailbox_send(&e->mailbox, &m->envelope.link);
}

static void send_key_event(struct engine *e, enum event_kind kind, const char *circuit, key_told *told,
                           void *context)
{
    struct client_message *m = message_new((told_any *)told, context);
    const struct key_answer no_memory = { .status = CUZK_NO_MEMORY, .error_text = "no memory for a request" };

    if (m == NULL) {
        told(context, &no_memory);
        return;
    }
    snprintf(m->text, sizeof m->text, "%s", circuit);
    m->envelope.event.kind = kind;
    m->envelope.event.circuit = m->text;
    mailbox_send(&e->mailbox, &m->envelope.link);
}

void engine_preload(struct engine *e, const char *circuit, key_told *told, void *context)
{
    send_key_event(e, EVENT_PRELOAD, circuit, told, context);
}

void engine_evict(struct engine *e, const char *circuit, key_told *told, void *context)
{
    send_key_event(e, EVENT_EVICT, circuit, told, context);
}

void engine_look(struct engine *e, view_told *told, void *context)
{
    struct client_message *m = calloc(1, sizeof *m);
    const struct engine_view nothing = { .uptime_ms = 0 };

    if (m == NULL) {
        told(context, &nothing);
        return;
    }
    m->envelope.owned = true;
    m->envelope.kind = ENVELOPE_LOOK;
    m->look = told;
    m->look_context = context;
    mailbox_send(&e->mailbox, &m->envelope.link);
}
