/* The jobs that are not finished, in the order in which they deserve the next lane. */
#ifndef CUZK_ENGINE_QUEUE_H
#define CUZK_ENGINE_QUEUE_H

#include "engine/job.h"

struct queue {
    struct job **jobs; /* ordered by the last queue_order */
    size_t count, capacity;
    uint64_t ageing_ns; /* 0: none */
};

cuzk_status queue_init(struct queue *q, struct task *t, size_t capacity, uint64_t ageing_ns) MUST_CHECK;
void queue_fini(struct queue *q);
bool queue_put(struct queue *q, struct job *j); /* false: no memory */
void queue_drop(struct queue *q, const struct job *j);

/** The class that a job counts in: its priority and one more for every ageing time waited, CRITICAL at most. */
enum job_priority queue_class(const struct queue *q, const struct job *j, uint64_t now_ns);
/** The deadline it is ordered by: its own, or four ageing times after it came, so that no stream of deadlines passes it for ever. */
uint64_t queue_deadline(const struct queue *q, const struct job *j);

/** Sorts: class, then deadline, then arrival.  Cost: linear when little has changed. */
void queue_order(struct queue *q, uint64_t now_ns);
/** Jobs before j in the order, of the last queue_order. */
unsigned queue_position(const struct queue *q, const struct job *j);

/** Grouping by circuit, after queue_order: of the jobs of the first one's class that came at most window_ns after it, those whose
 * circuit is ready (resident[circuit_index]) go first, in order, unless the first one has a deadline of its own or is ready itself.
 * Cost: linear. */
void queue_group(struct queue *q, const bool *resident, uint64_t window_ns, uint64_t now_ns);

#endif
