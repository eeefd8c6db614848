/* grpc.health.v1.Health: whether cuzkd takes jobs.  Protocol: grpc/health/v1/health.proto. */
#include "server/health.h"
#include "server/service.h"
#include "grpc/health/v1/health.pb-c.h"
#include <string.h>

void health_init(struct health *h)
{
    memset(h, 0, sizeof *h);
    pthread_mutex_init(&h->lock, NULL);
    h->serving = true;
}

void health_fini(struct health *h) { pthread_mutex_destroy(&h->lock); }

/* false: no such service. */
static bool knows(const char *service) { return !service[0] || !strcmp(service, "cuzk.v1.ProvingEngine"); }

static size_t pack(uint8_t out[16], Grpc__Health__V1__HealthCheckResponse__ServingStatus status)
{
    Grpc__Health__V1__HealthCheckResponse r = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
    r.status = status;
    return grpc__health__v1__health_check_response__pack(&r, out);
}

static Grpc__Health__V1__HealthCheckResponse__ServingStatus status_of(bool serving)
{
    return serving ? GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING
                   : GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING;
}

void health_set(struct health *h, bool serving)
{
    uint8_t bytes[16];
    pthread_mutex_lock(&h->lock);
    const bool changed = h->serving != serving;
    h->serving = serving;
    const size_t size = pack(bytes, status_of(serving));
    for (size_t i = 0; changed && i < h->watcher_count; i++) rpc_send(h->watchers[i], span_of(bytes, size));
    pthread_mutex_unlock(&h->lock);
}

void health_end(struct health *h)
{
    pthread_mutex_lock(&h->lock);
    while (h->watcher_count > 0) {
        struct rpc_call *call = h->watchers[--h->watcher_count];
        rpc_finish_error(call, RPC_UNAVAILABLE, "cuzkd is stopping");
        rpc_release(call);
    }
    pthread_mutex_unlock(&h->lock);
}

void health_check(struct health *h, struct rpc_call *call)
{
    Grpc__Health__V1__HealthCheckRequest *q =
        (void *)service_read(call, &grpc__health__v1__health_check_request__descriptor);
    if (!q) return;
    if (knows(q->service)) {
        uint8_t bytes[16];
        pthread_mutex_lock(&h->lock);
        const bool serving = h->serving;
        pthread_mutex_unlock(&h->lock);
        rpc_finish(call, span_of(bytes, pack(bytes, status_of(serving))));
    } else {
        rpc_finish_error(call, RPC_NOT_FOUND, "cuzkd has the service cuzk.v1.ProvingEngine");
    }
    grpc__health__v1__health_check_request__free_unpacked(q, NULL);
}

void health_watch(struct health *h, struct rpc_call *call)
{
    Grpc__Health__V1__HealthCheckRequest *q =
        (void *)service_read(call, &grpc__health__v1__health_check_request__descriptor);
    if (!q) return;
    uint8_t bytes[16];
    size_t size = pack(bytes, GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN);
    pthread_mutex_lock(&h->lock);
    bool full = false;
    if (knows(q->service)) {
        size = pack(bytes, status_of(h->serving));
        full = h->watcher_count == HEALTH_WATCHERS_MOST;
        if (!full) {
            rpc_hold(call);
            h->watchers[h->watcher_count++] = call;
        }
    }
    if (!full) rpc_send(call, span_of(bytes, size));
    pthread_mutex_unlock(&h->lock);
    if (full) rpc_finish_error(call, RPC_RESOURCE_EXHAUSTED, "too many calls watch the health");
    grpc__health__v1__health_check_request__free_unpacked(q, NULL);
}

void health_leave(struct health *h, struct rpc_call *call)
{
    bool found = false;
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->watcher_count && !found; i++) {
        if (h->watchers[i] != call) continue;
        h->watchers[i] = h->watchers[--h->watcher_count];
        found = true;
    }
    pthread_mutex_unlock(&h->lock);
    if (found) rpc_release(call);
}
