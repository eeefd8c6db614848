/* The order of the jobs. */
#include "engine/queue.h"
#include <stdlib.h>
#include <string.h>

cuzk_status queue_init(struct queue *q, struct task *t, size_t capacity, uint64_t ageing_ns)
{
    memset(q, 0, sizeof *q);
    q->jobs = calloc(capacity + 1, sizeof *q->jobs);
    if (q->jobs == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a queue of %zu jobs", capacity);
    q->capacity = capacity;
    q->ageing_ns = ageing_ns;
    return CUZK_OK;
}

void queue_fini(struct queue *q)
{
    free(q->jobs);
    q->jobs = NULL;
}

bool queue_put(struct queue *q, struct job *j)
{
    if (q->count == q->capacity) { /* more jobs in the journal than the queue may take */
        struct job **more = realloc(q->jobs, (2 * q->capacity + 16) * sizeof *more);
        if (more == NULL) return false;
        q->jobs = more;
        q->capacity = 2 * q->capacity + 15;
    }
    q->jobs[q->count++] = j;
    return true;
}

void queue_drop(struct queue *q, const struct job *j)
{
    size_t i = 0;

    while (i < q->count && q->jobs[i] != j) i++;
    if (i == q->count) return;
    memmove(&q->jobs[i], &q->jobs[i + 1], (q->count - i - 1) * sizeof q->jobs[0]);
    q->count--;
}

enum job_priority queue_class(const struct queue *q, const struct job *j, uint64_t now_ns)
{
    const uint64_t steps =
        q->ageing_ns == 0 || now_ns < j->submit_ns ? 0 : (now_ns - j->submit_ns) / q->ageing_ns;
    const uint64_t class = (uint64_t)j->priority + steps;

    return class > JOB_CRITICAL ? JOB_CRITICAL : (enum job_priority) class;
}

uint64_t queue_deadline(const struct queue *q, const struct job *j)
{
    if (j->has_deadline) return j->deadline_ns;
    return q->ageing_ns == 0 ? UINT64_MAX : j->submit_ns + 4 * q->ageing_ns;
}

static bool before(const struct queue *q, const struct job *a, const struct job *b, uint64_t now_ns)
{
    const enum job_priority class_a = queue_class(q, a, now_ns), class_b = queue_class(q, b, now_ns);
    const uint64_t deadline_a = queue_deadline(q, a), deadline_b = queue_deadline(q, b);

    if (class_a != class_b) return class_a > class_b;
    if (deadline_a != deadline_b) return deadline_a < deadline_b;
    return a->sequence < b->sequence;
}

void queue_order(struct queue *q, uint64_t now_ns)
{
    for (size_t i = 1; i < q->count;
         i++) { /* insertion: the order hardly changes from one pass to the next */
        struct job *j = q->jobs[i];
        size_t at = i;
        while (at > 0 && before(q, j, q->jobs[at - 1], now_ns)) {
            q->jobs[at] = q->jobs[at - 1];
            at--;
        }
        q->jobs[at] = j;
    }
}

unsigned queue_position(const struct queue *q, const struct job *j)
{
    size_t i = 0;

    while (i < q->count && q->jobs[i] != j) i++;
    return (unsigned)i;
}

void queue_group(struct queue *q, const bool *resident, uint64_t window_ns, uint64_t now_ns)
{
    size_t put = 0;

    if (q->count == 0 || q->jobs[0]->has_deadline || resident[q->jobs[0]->circuit_index]) return;
    const struct job *first = q->jobs[0];
    const enum job_priority class = queue_class(q, first, now_ns);
    for (size_t i = 1; i < q->count; i++) {
        struct job *j = q->jobs[i];
        if (queue_class(q, j, now_ns) != class) break;
        if (!resident[j->circuit_index] || j->submit_ns > first->submit_ns + window_ns) continue;
        memmove(&q->jobs[put + 1], &q->jobs[put], (i - put) * sizeof q->jobs[0]);
        q->jobs[put++] = j;
    }
}
