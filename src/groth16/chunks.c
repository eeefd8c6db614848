/* A parallel loop over many items that can fail: progress, cancellation, and the first error by position. */
#include "groth16/chunks.h"
#include "base/pool.h"
#include <pthread.h>

#define CHUNKS_BETWEEN_POLLS 64 /* a worker's share between two looks at the cancel flag */

struct chunks {
    chunk_body *body;
    void *context;
    uint64_t count, chunk, first;
    pthread_mutex_t lock;
    uint64_t failed_at; /* chunk index, UINT64_MAX: none */
    struct error error;
};

static void run_one(void *context, size_t index, unsigned worker)
{
    struct chunks *c = context;
    const uint64_t at = c->first + index, begin = at * c->chunk;
    const uint64_t end = c->count - begin < c->chunk ? c->count : begin + c->chunk;
    struct task own;

    (void)worker;
    pthread_mutex_lock(&c->lock);
    const bool moot = c->failed_at < at;
    pthread_mutex_unlock(&c->lock);
    if (moot) return;
    task_init(&own);
    if (c->body(&own, c->context, begin, end) == CUZK_OK) return;
    pthread_mutex_lock(&c->lock);
    if (at < c->failed_at) {
        c->failed_at = at;
        c->error = own.error;
    }
    pthread_mutex_unlock(&c->lock);
}

cuzk_status chunks_run(struct task *t, const char *what, uint64_t count, uint64_t chunk, chunk_body *body,
                       void *context)
{
    const uint64_t chunk_count = (count + chunk - 1) / chunk;
    const uint64_t step = (uint64_t)CHUNKS_BETWEEN_POLLS * pool_width(t->pool);
    struct chunks c = {
        .body = body, .context = context, .count = count, .chunk = chunk, .failed_at = UINT64_MAX
    };
    cuzk_status status = CUZK_OK;

    pthread_mutex_init(&c.lock, NULL);
    for (c.first = 0; c.first < chunk_count && status == CUZK_OK; c.first += step) {
        const uint64_t left = chunk_count - c.first;
        if (what != NULL) task_progress(t, what, c.first * chunk, count);
        pool_run(t->pool, (size_t)(left < step ? left : step), run_one, &c);
        status = c.failed_at == UINT64_MAX ? task_poll(t) : c.error.status;
    }
    if (status == CUZK_OK && what != NULL) task_progress(t, what, count, count);
    if (c.failed_at != UINT64_MAX && t->error.status == CUZK_OK) t->error = c.error;
    pthread_mutex_destroy(&c.lock);
    return status;
}
