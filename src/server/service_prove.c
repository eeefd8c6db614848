/* SubmitProof, AwaitProof and Prove: a request becomes a job, its end an answer.
 *
 * A Prove is a submit that is told twice: of the acceptance, and of the end.  A client that goes away leaves the wait; whether that
 * cancels the job is the engine's option. */
#include "server/service.h"
#include "server/witness_folder.h"
#include "base/bytes.h"
#include "base/status.h"
#include "wire/submit_decode.h"
#include "cuzk/v1/proving.pb-c.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

STATIC_ASSERT((int)SUBMIT_REQUEST_ID_BYTES == (int)REQUEST_ID_BYTES &&
                  (int)SUBMIT_CIRCUIT_BYTES == (int)ENGINE_NAME_BYTES,
              "the wire's names are the engine's");

/* What an AwaitProof or a Prove waits for. */
struct wait {
    struct service *service;
    bool in_prove;
    pthread_mutex_t lock;
    char job_id[JOB_ID_BYTES];
    bool waiting, gone;
};

/* The kinds of Filecoin's proofs, and the names that their jobs and circuits have in the engine: "porep", "porep-32g". */
static const struct {
    const char *wire_name, *kind;
} filecoin[] = {
    [CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT] = { "POREP_SEAL_COMMIT", "porep" },
    [CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE] = { "SNAP_DEALS_UPDATE", "snap" },
    [CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION] = { "WINDOW_POST_PARTITION", "wpost" },
    [CUZK__V1__PROOF_KIND__WINNING_POST] = { "WINNING_POST", "winning" },
};

/* -- a request becomes a job --------------------------------------------------------------------------------------------- */

/* "32g" of 32 GiB; false: no sector has that size. */
static bool sector_name(char out[24], uint64_t bytes)
{
    if (bytes < 2048 || (bytes & (bytes - 1))) return false;
    static const char units[] = "kmgt";
    unsigned unit = 0;
    for (bytes >>= 10; bytes >= 1024 && unit < 3; bytes >>= 10) unit++;
    snprintf(out, 24, "%llu%c", (unsigned long long)bytes, units[unit]);
    return true;
}

/* The small fields in fixed places: docs/wire.md. */
static void put_parameters(uint8_t out[FILECOIN_PARAMETERS_BYTES], const struct submit *s)
{
    store_le64(out + FILECOIN_AT_REGISTERED_PROOF, s->registered_proof);
    store_le64(out + FILECOIN_AT_SECTOR, s->sector_number);
    store_le64(out + FILECOIN_AT_MINER, s->miner_id);
    store_le64(out + FILECOIN_AT_PARTITION, s->partition_index);
    memcpy(out + FILECOIN_AT_RANDOMNESS, s->randomness, 32);
    memcpy(out + FILECOIN_AT_COMM_R_OLD, s->comm_r_old, 32);
    memcpy(out + FILECOIN_AT_COMM_R_NEW, s->comm_r_new, 32);
    memcpy(out + FILECOIN_AT_COMM_D_NEW, s->comm_d_new, 32);
}

static cuzk_status fail_field(struct task *t, const char *field, const char *text)
{
    FAIL(t, CUZK_INVALID_ARGUMENT, "%s", text);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, field, NULL);
    return CUZK_INVALID_ARGUMENT;
}

static cuzk_status check_enums(struct task *t, const struct submit *s)
{
    if (!s->present) return fail_field(t, "submit", "the field submit is missing");
    if (s->proof_kind >= ARRAY_COUNT(filecoin))
        return FAIL(t, CUZK_INVALID_ARGUMENT, "there is no proof_kind %u", s->proof_kind);
    if (s->priority > JOB_CRITICAL)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "there is no priority %u", s->priority);
    if (s->durable > CUZK__V1__DURABLE__DURABLE_NO)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "there is no durable %u", s->durable);
    return CUZK_OK;
}

/* Takes the payload out of s. */
static cuzk_status make_circom(struct task *t, struct engine_request *r, struct submit *s,
                               const struct witness_folder *files)
{
    if (!s->circuit[0])
        return fail_field(t, "proof_kind", "the request names neither a proof_kind nor a circuit");
    if (s->vanilla_proof)
        return fail_field(t, "vanilla_proof", "a circom job has a witness, and no vanilla_proof");
    if (s->witness && s->witness_file[0])
        return fail_field(t, "witness_file", "a job has a witness or the name of its file, not both");
    if (s->witness_file[0])
        TRY(witness_folder_read(files, t, s->witness_file, &s->witness, &s->witness_bytes));
    if (!s->witness)
        return fail_field(t, "witness", "the field witness is missing: the bytes of a .wtns file");
    r->circuit = s->circuit;
    r->payload = s->witness;
    r->payload_bytes = (size_t)s->witness_bytes;
    s->witness = NULL;
    return CUZK_OK;
}

static cuzk_status make_filecoin(struct task *t, struct engine_request *r, struct submit *s,
                                 uint8_t parameters[FILECOIN_PARAMETERS_BYTES])
{
    const char *kind = filecoin[s->proof_kind].kind, *wire_name = filecoin[s->proof_kind].wire_name;
    if (!job_kind_by_name(kind))
        return FAIL(t, CUZK_UNSUPPORTED, "this build of cuzkd cannot prove %s", wire_name);
    if (s->circuit[0] || s->witness || s->witness_file[0])
        return FAIL(t, CUZK_INVALID_ARGUMENT,
                    "circuit, witness and witness_file belong to circom jobs, not to %s", wire_name);
    if (!s->vanilla_proof) return fail_field(t, "vanilla_proof", "the field vanilla_proof is missing");
    if (s->vanilla_proof_count != 0)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a job of kind %s takes vanilla_proof, not vanilla_proofs",
                    wire_name);
    char size[24];
    if (!sector_name(size, s->sector_size))
        return FAIL(t, CUZK_INVALID_ARGUMENT, "sector_size %llu is not the size of a sector",
                    (unsigned long long)s->sector_size);
    snprintf(s->circuit, sizeof s->circuit, "%s-%s", kind, size);
    put_parameters(parameters, s);
    r->circuit = s->circuit;
    r->parameters = span_of(parameters, FILECOIN_PARAMETERS_BYTES);
    r->payload = s->vanilla_proof;
    r->payload_bytes = (size_t)s->vanilla_proof_bytes;
    s->vanilla_proof = NULL;
    return CUZK_OK;
}

static void told_ended(void *context, const struct job_answer *a);

static bool next_piece(void *context, struct span *piece) { return rpc_message_next(context, piece); }

/* Thread  a worker's. */
static void submit(struct rpc_call *call, struct service *service, bool in_prove, job_told *told)
{
    struct task t;
    struct submit s = { 0 };
    struct wire_reader reader;
    struct engine_request r = { 0 };
    uint8_t parameters[FILECOIN_PARAMETERS_BYTES];
    task_init(&t);
    if (service_is_draining(service)) {
        rpc_finish_error(call, RPC_UNAVAILABLE, "cuzkd is draining and takes no new jobs");
        return;
    }
    wire_reader_init(&reader, next_piece, call, rpc_message_bytes(call));
    cuzk_status status = submit_decode(&t, &s, &reader, in_prove);
    rpc_message_drop(call);
    if (status == CUZK_OK) status = check_enums(&t, &s);
    if (status == CUZK_OK)
        status = s.proof_kind ? make_filecoin(&t, &r, &s, parameters)
                              : make_circom(&t, &r, &s, service_files(service));
    if (status == CUZK_OK) {
        r.request_id = s.request_id;
        r.priority = (enum job_priority)s.priority;
        r.deadline_ms = s.deadline_ms ? s.deadline_ms : in_prove ? rpc_deadline_ms(call) : 0;
        r.durable = s.durable == CUZK__V1__DURABLE__DURABLE_YES  ? 1
                    : s.durable == CUZK__V1__DURABLE__DURABLE_NO ? -1
                                                                 : 0;
        if (in_prove) r.ended = told_ended;
        struct engine *e = service_enter(service, call);
        if (e) {
            rpc_hold(call);
            status = engine_submit(e, &t, &r, told, call);
            if (status != CUZK_OK) rpc_release(call);
            service_leave(service);
        } else {
            wipe(r.payload, r.payload_bytes);
            free(r.payload);
        }
    }
    if (status != CUZK_OK) service_fail_task(call, &t);
    submit_free(&s);
}

static void told_submitted(void *context, const struct job_answer *a)
{
    struct rpc_call *call = context;
    if (a->status == CUZK_OK) {
        Cuzk__V1__SubmitProofResponse answer = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
        answer.job_id = service_text(a->job_id);
        answer.queue_position = a->queue_position;
        answer.joined = a->joined;
        service_answer(call, &answer.base);
    } else {
        service_fail(call, a->status, a->error_text);
    }
    rpc_release(call);
}

void service_submit(struct rpc_call *call, void *context) { submit(call, context, false, told_submitted); }

/* -- an end becomes an answer -------------------------------------------------------------------------------------------- */

static uint64_t ms(double value) { return value > 0 ? (uint64_t)(value + 0.5) : 0; }

static void finish_wait(struct rpc_call *call, const struct job_answer *a,
                        Cuzk__V1__AwaitProofResponse__Status status, bool in_prove)
{
    Cuzk__V1__AwaitProofResponse r = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    r.job_id = service_text(a->job_id);
    r.status = status;
    r.error_message = service_text(a->error_text ? a->error_text : "");
    r.queue_wait_ms = ms(a->timings.queue_ms);
    r.srs_load_ms = ms(a->timings.key_ms);
    r.synthesis_ms = ms(a->timings.synthesis_ms);
    r.gpu_compute_ms = ms(a->timings.prove_ms);
    r.total_ms = ms(a->timings.total_ms);
    r.attempts = a->attempts;
    if (status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED)
        r.error_code = service_text(status_name(a->status));
    char *text = NULL;
    if (status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED) {
        r.proof.data = (uint8_t *)(uintptr_t)a->proof.data;
        r.proof.len = a->proof.size;
        text = a->text.size ? strndup((const char *)a->text.data, a->text.size) : NULL;
        if (text) r.result_json = text;
    }
    if (in_prove) {
        Cuzk__V1__ProveResponse p = CUZK__V1__PROVE_RESPONSE__INIT;
        p.result = &r;
        service_answer(call, &p.base);
    } else {
        service_answer(call, &r.base);
    }
    free(text);
}

static void told_ended(void *context, const struct job_answer *a)
{
    struct rpc_call *call = context;
    struct wait *w = rpc_state(call);
    pthread_mutex_lock(&w->lock);
    w->waiting = false;
    pthread_mutex_unlock(&w->lock);
    switch (a->end) {
    case JOB_DONE:
        finish_wait(call, a, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED, w->in_prove);
        break;
    case JOB_FAILED:
        finish_wait(call, a, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED, w->in_prove);
        break;
    case JOB_CANCELLED:
        finish_wait(call, a, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED, w->in_prove);
        break;
    case JOB_UNFINISHED:
        if (a->status == CUZK_DEADLINE)
            finish_wait(call, a, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT, w->in_prove);
        else
            service_fail(call, a->status, a->error_text ? a->error_text : "");
        break;
    }
    rpc_release(call);
}

/* The call's client is gone.  Leaving when the end has been told already does nothing. */
static void leave(struct rpc_call *call, struct wait *w)
{
    struct engine *e = service_enter(w->service, call);
    if (!e) return;
    engine_leave(e, w->job_id, told_ended, call);
    service_leave(w->service);
}

static void free_wait(void *state)
{
    struct wait *w = state;
    pthread_mutex_destroy(&w->lock);
    free(w);
}

/* NULL: no memory, and the call has been finished. */
static struct wait *make_wait(struct rpc_call *call, struct service *service, bool in_prove)
{
    struct wait *w = calloc(1, sizeof *w);
    if (!w) {
        service_fail(call, CUZK_NO_MEMORY, "no memory for a call");
        return NULL;
    }
    w->service = service;
    w->in_prove = in_prove;
    pthread_mutex_init(&w->lock, NULL);
    rpc_set_state(call, w, free_wait);
    return w;
}

/* Waits for the end of w->job_id; takes over a hold on the call, which is released at its end. */
static void begin_wait(struct rpc_call *call, struct wait *w, uint64_t timeout_ms)
{
    struct engine *e = service_enter(w->service, call);
    if (!e) {
        rpc_release(call);
        return;
    }
    rpc_hold(call); /* the end may be told before engine_await returns */
    pthread_mutex_lock(&w->lock);
    w->waiting = true;
    pthread_mutex_unlock(&w->lock);
    engine_await(e, w->job_id, timeout_ms, told_ended, call);
    service_leave(w->service);
    rpc_release(call);
}

/* A Prove's job is accepted: told_ended comes next, from this very thread. */
static void told_accepted(void *context, const struct job_answer *a)
{
    struct rpc_call *call = context;
    struct wait *w = rpc_state(call);
    if (a->status != CUZK_OK) {
        service_fail(call, a->status, a->error_text);
        rpc_release(call);
        return;
    }
    pthread_mutex_lock(&w->lock);
    memcpy(w->job_id, a->job_id, sizeof w->job_id);
    w->waiting = true;
    const bool gone = w->gone;
    pthread_mutex_unlock(&w->lock);
    if (gone) leave(call, w);
}

void service_prove(struct rpc_call *call, void *context)
{
    if (make_wait(call, context, true)) submit(call, context, true, told_accepted);
}

void service_await(struct rpc_call *call, void *context)
{
    struct wait *w = make_wait(call, context, false);
    if (!w) return;
    Cuzk__V1__AwaitProofRequest *q = (void *)service_read(call, &cuzk__v1__await_proof_request__descriptor);
    if (!q) return;
    if (strlen(q->job_id) >= sizeof w->job_id) {
        service_fail(call, CUZK_NOT_FOUND, "there is no job with this id");
    } else {
        memcpy(w->job_id, q->job_id, strlen(q->job_id) + 1);
        rpc_hold(call);
        begin_wait(call, w, q->timeout_ms);
    }
    cuzk__v1__await_proof_request__free_unpacked(q, NULL);
}

/* The same client's call, so after request: who waits is known by now, or told_accepted sees that it is gone. */
void service_await_gone(struct rpc_call *call, void *context)
{
    struct wait *w = rpc_state(call);
    (void)context;
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->gone = true;
    const bool waiting = w->waiting;
    pthread_mutex_unlock(&w->lock);
    if (waiting) leave(call, w);
}
