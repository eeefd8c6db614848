/* Running a counted loop of the CPU backend: work slots, cancellation, progress. */
#ifndef CUZK_BACKEND_CPU_CPU_RUN_H
#define CUZK_BACKEND_CPU_CPU_RUN_H

#include "base/pool.h"
#include "base/task.h"

/* The threads of one operation.  Scratch memory is counted in slots when planned; a pool may be wider when run. */
struct cpu_team {
    struct task *task;
    struct pool *pool; /* NULL: the caller alone */
    unsigned slots;    /* bodies that run at the same time, at most */
};

typedef void cpu_body(void *context, size_t index, unsigned slot);

/** Calls body for index in [0, count) with slot < team->slots, no slot twice at the same time.  Once the task is cancelled or its
 * deadline has passed, the indices not yet begun are skipped and the status says so. */
cuzk_status cpu_run(const struct cpu_team *team, size_t count, cpu_body *body, void *context) MUST_CHECK;

#endif
