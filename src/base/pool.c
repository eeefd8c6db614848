/* Worker threads that run counted loops.
 *
 * Running loops stand in one list.  A free worker joins the loop with the fewest workers, takes indices from its counter until
 * none is left, and leaves.  The caller does the same as worker 0, takes its loop off the list and waits for those inside.  So a
 * loop always has a thread that works on it, whatever the others do: no deadlock, and none even if every worker is busy. */
#include "base/pool.h"
#include "base/cgroup.h"
#include "base/thread.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POOL_WIDTH_MAX 4096

struct loop {
    struct loop *next_loop; /* guarded by pool->lock */
    unsigned workers;       /* inside now, the caller not counted; guarded by pool->lock */
    size_t count;
    pool_body *body;
    void *context;
    atomic_size_t next_index; /* may run past count by one a thread */
};

struct worker {
    struct pool *pool;
    pthread_t thread;
    unsigned id; /* 1 .. width-1 */
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, left; /* a loop was added or stopping was set; the last worker left a loop */
    struct loop *loops;
    bool stopping;
    unsigned width, started;
    struct worker workers[];
};

static void loop_work(struct loop *loop, unsigned worker)
{
    for (;;) {
        size_t index = atomic_fetch_add_explicit(&loop->next_index, 1, memory_order_relaxed);
        if (index >= loop->count) return;
        loop->body(loop->context, index, worker);
    }
}

/* A loop with indices left, fewest workers first; NULL: none.  The lock is held. */
static struct loop *pick_loop(struct pool *pool)
{
    struct loop *best = NULL;
    for (struct loop *loop = pool->loops; loop != NULL; loop = loop->next_loop) {
        if (atomic_load_explicit(&loop->next_index, memory_order_relaxed) >= loop->count) continue;
        if (best == NULL || loop->workers < best->workers) best = loop;
    }
    return best;
}

static void *worker_main(void *argument)
{
    struct worker *self = argument;
    struct pool *pool = self->pool;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct loop *loop = pick_loop(pool);
        if (loop == NULL) {
            if (pool->stopping) break;
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        loop->workers++;
        pthread_mutex_unlock(&pool->lock);
        loop_work(loop, self->id);
        pthread_mutex_lock(&pool->lock);
        if (--loop->workers == 0) pthread_cond_broadcast(&pool->left);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

void pool_run(struct pool *pool, size_t count, pool_body *body, void *context)
{
    if (pool == NULL || pool->width == 1 || count <= 1) {
        for (size_t i = 0; i < count; i++) body(context, i, 0);
        return;
    }
    struct loop loop = { .count = count, .body = body, .context = context };
    pthread_mutex_lock(&pool->lock);
    loop.next_loop = pool->loops;
    pool->loops = &loop;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);

    loop_work(&loop, 0);

    pthread_mutex_lock(&pool->lock);
    struct loop **link = &pool->loops;
    while (*link != &loop) link = &(*link)->next_loop;
    *link = loop.next_loop;
    while (loop.workers > 0) pthread_cond_wait(&pool->left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

unsigned pool_width(const struct pool *pool) { return pool == NULL ? 1 : pool->width; }

static unsigned usable_cpus(void)
{
    unsigned count = 0;
    /* The mask must be as large as the kernel's, which on large machines is more than a cpu_set_t. */
    for (size_t cpus = CPU_SETSIZE; cpus <= CPU_SETSIZE * 64 && count == 0; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (set == NULL) break;
        if (sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set) == 0)
            count = (unsigned)CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set);
        CPU_FREE(set);
    }
    if (count == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        count = online > 0 ? (unsigned)online : 1;
    }
    struct cgroup_limits limits;
    cgroup_read(&limits, "");
    if (limits.cpu_thousandths != CGROUP_NO_LIMIT) {
        uint64_t quota = (limits.cpu_thousandths + 999) / 1000;
        if (quota == 0) quota = 1;
        if (quota < count) count = (unsigned)quota;
    }
    return count;
}

static void stop_workers(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
}

cuzk_status pool_create(struct pool **out, struct task *t, unsigned width)
{
    *out = NULL;
    if (width == 0) width = usable_cpus();
    if (width > POOL_WIDTH_MAX)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%u threads are more than the %d that a pool may have", width,
                    POOL_WIDTH_MAX);
    struct pool *pool = calloc(1, sizeof *pool + (width - 1) * sizeof pool->workers[0]);
    if (pool == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a pool of %u threads", width);
    pool->width = width;
    pthread_mutex_init(&pool->lock, NULL); /* with default attributes these cannot fail on Linux */
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->left, NULL);

    int why = 0;
    while (why == 0 && pool->started + 1 < width) {
        struct worker *w = &pool->workers[pool->started];
        w->pool = pool;
        w->id = pool->started + 1;
        why = thread_start(&w->thread, "cuzk-pool", worker_main, w);
        if (why == 0) pool->started++;
    }
    if (why != 0) {
        FAIL(t, CUZK_NO_MEMORY, "thread %u of %u could not be started: %s", pool->started + 2, width,
             strerror(why));
        task_fail_errno(t, why);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL,
                        "ask for fewer threads, or raise the limit on processes (ulimit -u)");
        pool_destroy(pool);
        return CUZK_NO_MEMORY;
    }
    *out = pool;
    return CUZK_OK;
}

void pool_destroy(struct pool *pool)
{
    if (pool == NULL) return;
    stop_workers(pool);
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
