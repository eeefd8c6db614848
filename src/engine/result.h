/* What became of jobs: the shelf of ended jobs, and the answers made of them. */
#ifndef CUZK_ENGINE_RESULT_H
#define CUZK_ENGINE_RESULT_H

#include "engine/job.h"

/* Ended jobs in the order of their ends. */
struct result_shelf {
    struct job *oldest, *newest;
    size_t count;
};

void result_put(struct result_shelf *s, struct job *j);
/** The oldest one if it is to be forgotten: more than most are kept, or it ended keep_ns ago.  Taken off the shelf.  NULL: none. */
struct job *result_forget(struct result_shelf *s, size_t most, uint64_t keep_ns, uint64_t now_ns);

/** Parts all done: joins them into j->result.  Errors  the kind's. */
cuzk_status result_assemble(struct task *t, struct job *j) MUST_CHECK;
/** An answer about j as it is now; it points into j. */
void result_answer(struct job_answer *out, const struct job *j, uint64_t now_ns);

#endif
