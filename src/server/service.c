/* The methods of cuzkd: their table, and the way to the engine. */
#include "server/service.h"
#include "server/witness_folder.h"
#include "base/status.h"
#include "server/reflection.h"
#include "wire/message_texts.h"
#include "cuzk/v1/proving.pb-c.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_REQUEST_BYTES 65536 /* of any request but a job */

struct service {
    struct engine *engine;
    pthread_rwlock_t lock; /* read: the engine is being called; write: it is being taken away */
    bool detached;
    atomic_bool draining;
    struct health health;
    struct witness_folder files;
};

cuzk_status service_create(struct service **out, struct task *t, struct engine *engine)
{
    struct service *s = calloc(1, sizeof *s);
    if (!s) return FAIL(t, CUZK_NO_MEMORY, "no memory for the service");
    s->engine = engine;
    pthread_rwlock_init(&s->lock, NULL);
    atomic_init(&s->draining, false);
    health_init(&s->health);
    witness_folder_init(&s->files);
    *out = s;
    return CUZK_OK;
}

void service_destroy(struct service *s)
{
    if (!s) return;
    health_fini(&s->health);
    witness_folder_close(&s->files);
    pthread_rwlock_destroy(&s->lock);
    free(s);
}

cuzk_status service_take_files(struct service *s, struct task *t, const char *folder, uint64_t most_bytes)
{
    return witness_folder_open(&s->files, t, folder, most_bytes);
}

const struct witness_folder *service_files(const struct service *s) { return &s->files; }

void service_drain(struct service *s)
{
    atomic_store(&s->draining, true);
    health_set(&s->health, false);
}

void service_detach(struct service *s)
{
    service_drain(s);
    pthread_rwlock_wrlock(&s->lock);
    s->detached = true;
    pthread_rwlock_unlock(&s->lock);
    health_end(&s->health);
}

struct engine *service_enter(struct service *s, struct rpc_call *call)
{
    pthread_rwlock_rdlock(&s->lock);
    if (!s->detached) return s->engine;
    pthread_rwlock_unlock(&s->lock);
    rpc_finish_error(call, RPC_UNAVAILABLE, "cuzkd is stopping");
    return NULL;
}

void service_leave(struct service *s) { pthread_rwlock_unlock(&s->lock); }
bool service_is_draining(struct service *s) { return atomic_load(&s->draining); }
struct health *service_health(struct service *s) { return &s->health; }

/* -- messages ------------------------------------------------------------------------------------------------------------ */

char *service_text(const char *text) { return (char *)(uintptr_t)text; }

ProtobufCMessage *service_read(struct rpc_call *call, const ProtobufCMessageDescriptor *descriptor)
{
    const uint64_t bytes = rpc_message_bytes(call);
    if (bytes > SMALL_REQUEST_BYTES) {
        rpc_finish_error(call, RPC_INVALID_ARGUMENT, "the request has more than 64 KiB");
        return NULL;
    }
    uint8_t buffer[SMALL_REQUEST_BYTES];
    size_t size = 0;
    struct span piece;
    while (rpc_message_next(call, &piece)) {
        memcpy(buffer + size, piece.data, piece.size);
        size += piece.size;
    }
    struct task t;
    task_init(&t);
    if (message_check_texts(&t, descriptor, span_of(buffer, size)) != CUZK_OK) {
        service_fail_task(call, &t);
        return NULL;
    }
    ProtobufCMessage *m = protobuf_c_message_unpack(descriptor, NULL, size, buffer);
    if (!m) rpc_finish_error(call, RPC_INVALID_ARGUMENT, "the request is not a message of this method");
    return m;
}

void service_answer(struct rpc_call *call, const ProtobufCMessage *answer)
{
    const size_t size = protobuf_c_message_get_packed_size(answer);
    uint8_t *bytes = malloc(size + 1);
    if (!bytes) {
        service_fail(call, CUZK_NO_MEMORY, "no memory for the answer");
        return;
    }
    protobuf_c_message_pack(answer, bytes);
    rpc_finish(call, span_of(bytes, size));
    free(bytes);
}

void service_fail(struct rpc_call *call, cuzk_status status, const char *text)
{
    rpc_finish_error(call, status_grpc_code(status), text[0] ? text : status_text(status));
}

/* text (field, byte n); advice */
void service_fail_task(struct rpc_call *call, const struct task *t)
{
    const struct error *e = &t->error;
    char text[2 * ERROR_TEXT_BYTES + 160], place[128] = "";
    const bool names = e->field[0] && !strstr(e->text, e->field), counts = e->offset != ERROR_NO_OFFSET;
    if (names && counts)
        snprintf(place, sizeof place, " (%s, byte %llu)", e->field, (unsigned long long)e->offset);
    else if (names)
        snprintf(place, sizeof place, " (%s)", e->field);
    else if (counts)
        snprintf(place, sizeof place, " (byte %llu)", (unsigned long long)e->offset);
    snprintf(text, sizeof text, "%s%s%s%s", e->text, place, e->advice[0] ? "; " : "", e->advice);
    service_fail(call, e->status, text);
}

/* -- small methods: cancel, preload, evict ------------------------------------------------------------------------------- */

static void told_cancelled(void *context, const struct job_answer *a)
{
    struct rpc_call *call = context;
    if (a->status == CUZK_OK || a->end != JOB_UNFINISHED) {
        Cuzk__V1__CancelProofResponse answer = CUZK__V1__CANCEL_PROOF_RESPONSE__INIT;
        answer.was_running = a->end == JOB_CANCELLED && a->was_running;
        answer.ended = a->end == JOB_DONE     ? CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED
                       : a->end == JOB_FAILED ? CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED
                                              : CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__UNKNOWN;
        service_answer(call, &answer.base);
    } else {
        service_fail(call, a->status, a->error_text);
    }
    rpc_release(call);
}

static void cancel(struct rpc_call *call, void *context)
{
    Cuzk__V1__CancelProofRequest *q = (void *)service_read(call, &cuzk__v1__cancel_proof_request__descriptor);
    if (!q) return;
    struct engine *e = service_enter(context, call);
    if (e) {
        rpc_hold(call);
        engine_cancel(e, q->job_id, told_cancelled, call);
        service_leave(context);
    }
    cuzk__v1__cancel_proof_request__free_unpacked(q, NULL);
}

static void told_preloaded(void *context, const struct key_answer *a)
{
    struct rpc_call *call = context;
    if (a->status == CUZK_OK) {
        Cuzk__V1__PreloadSrsResponse answer = CUZK__V1__PRELOAD_SRS_RESPONSE__INIT;
        answer.already_loaded = a->was_loaded;
        answer.load_time_ms = a->load_ms;
        service_answer(call, &answer.base);
    } else {
        service_fail(call, a->status, a->error_text);
    }
    rpc_release(call);
}

static void preload(struct rpc_call *call, void *context)
{
    Cuzk__V1__PreloadSrsRequest *q = (void *)service_read(call, &cuzk__v1__preload_srs_request__descriptor);
    if (!q) return;
    struct engine *e = service_enter(context, call);
    if (e) {
        rpc_hold(call);
        engine_preload(e, q->circuit_id, told_preloaded, call);
        service_leave(context);
    }
    cuzk__v1__preload_srs_request__free_unpacked(q, NULL);
}

static void told_evicted(void *context, const struct key_answer *a)
{
    struct rpc_call *call = context;
    if (a->status == CUZK_OK) {
        Cuzk__V1__EvictSrsResponse answer = CUZK__V1__EVICT_SRS_RESPONSE__INIT;
        answer.was_loaded = a->was_loaded;
        answer.freed_bytes = a->freed_bytes;
        service_answer(call, &answer.base);
    } else {
        service_fail(call, a->status, a->error_text);
    }
    rpc_release(call);
}

static void evict(struct rpc_call *call, void *context)
{
    Cuzk__V1__EvictSrsRequest *q = (void *)service_read(call, &cuzk__v1__evict_srs_request__descriptor);
    if (!q) return;
    struct engine *e = service_enter(context, call);
    if (e) {
        rpc_hold(call);
        engine_evict(e, q->circuit_id, told_evicted, call);
        service_leave(context);
    }
    cuzk__v1__evict_srs_request__free_unpacked(q, NULL);
}

/* -- the table ----------------------------------------------------------------------------------------------------------- */

static void check(struct rpc_call *call, void *context) { health_check(service_health(context), call); }
static void watch(struct rpc_call *call, void *context) { health_watch(service_health(context), call); }
static void watch_gone(struct rpc_call *call, void *context) { health_leave(service_health(context), call); }

#define ENGINE "/cuzk.v1.ProvingEngine/"
const struct rpc_method service_methods[] = {
    { .path = ENGINE "SubmitProof", .heavy = true, .request = service_submit },
    { .path = ENGINE "AwaitProof", .request = service_await, .gone = service_await_gone },
    { .path = ENGINE "Prove", .heavy = true, .request = service_prove, .gone = service_await_gone },
    { .path = ENGINE "CancelProof", .request = cancel },
    { .path = ENGINE "GetStatus", .request = service_status },
    { .path = ENGINE "GetMetrics", .request = service_metrics },
    { .path = ENGINE "PreloadSRS", .request = preload },
    { .path = ENGINE "EvictSRS", .request = evict },
    { .path = "/grpc.health.v1.Health/Check", .request = check },
    { .path = "/grpc.health.v1.Health/Watch",
      .stream = true,
      .stays = true,
      .request = watch,
      .gone = watch_gone },
    { .path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      .stream = true,
      .request = reflection_request },
    { .path = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      .stream = true,
      .request = reflection_request },
};
const size_t service_method_count = ARRAY_COUNT(service_methods);
