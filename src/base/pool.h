/* A fixed set of worker threads that does one thing: run a counted loop in parallel.
 *
 * Any number of threads may call pool_run at once; calls share the workers, each caller works on its own loop while it waits, so
 * a pool cannot deadlock and a pool of NULL is simply the caller.  Bodies must not call pool_run on the same pool. */
#ifndef CUZK_BASE_POOL_H
#define CUZK_BASE_POOL_H

#include "base/dialect.h"
#include "base/task.h"

/** Body of a loop.  index runs over [0, count); worker < pool_width(pool) is unique among bodies of this loop that run at the same
 * time, so it can select scratch memory. */
typedef void pool_body(void *context, size_t index, unsigned worker);

/** Threads, the caller included (so width 1 starts none).  width 0: one a usable CPU (affinity and cgroup quota respected). */
cuzk_status pool_create(struct pool **out, struct task *t, unsigned width) MUST_CHECK;
void pool_destroy(struct pool *pool);         /* NULL is legal; no loop may be running */
unsigned pool_width(const struct pool *pool); /* NULL: 1 */
void pool_run(struct pool *pool, size_t count, pool_body *body, void *context);

#endif
