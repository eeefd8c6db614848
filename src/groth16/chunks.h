/* A parallel loop over many items that can fail: progress, cancellation, and the first error by position. */
#ifndef CUZK_GROTH16_CHUNKS_H
#define CUZK_GROTH16_CHUNKS_H

#include "base/task.h"

/** Handles items [begin, end); t is the body's own, for errors only. */
typedef cuzk_status chunk_body(struct task *t, void *context, uint64_t begin, uint64_t end);

/** Runs body over [0, count) in pieces of at most chunk items, on t->pool.  After a failure pieces that lie after it may be skipped;
 * of several failures the one at the lowest position is recorded in t.
 * In  what  for task_progress; NULL: none.  Thread  the task's. */
cuzk_status chunks_run(struct task *t, const char *what, uint64_t count, uint64_t chunk, chunk_body *body,
                       void *context) MUST_CHECK;

#endif
