/* grpc.health.v1.Health: whether cuzkd takes jobs. */
#ifndef CUZK_SERVER_HEALTH_H
#define CUZK_SERVER_HEALTH_H

#include "wire/rpc.h"
#include <pthread.h>

#define HEALTH_WATCHERS_MOST 256

struct health {
    pthread_mutex_t lock;
    bool serving;
    struct rpc_call *watchers[HEALTH_WATCHERS_MOST]; /* held */
    size_t watcher_count;
};

void health_init(struct health *h);
void health_fini(struct health *h); /* no watcher may be left */
/** Tells all watchers. */
void health_set(struct health *h, bool serving);
void health_end(struct health *h); /* ends the calls of all watchers */
void health_check(struct health *h, struct rpc_call *call);
void health_watch(struct health *h, struct rpc_call *call);
void health_leave(struct health *h, struct rpc_call *call); /* legal for a call that does not watch */

#endif
