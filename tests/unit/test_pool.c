/* Loops on worker threads: every index once, worker numbers unique, many callers at a time. */
#include "support/cm.h"
#include "base/pool.h"
#include "support/prng.h"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define WIDTH_MAX 8
#define COUNT_MAX 5000
#define CALLERS   6

static struct prng prng;

struct counted {
    atomic_uchar seen[COUNT_MAX];
    atomic_bool busy[WIDTH_MAX];
    atomic_uint clashes; /* two bodies at a time with one worker number, or a number out of range */
    unsigned width;
    size_t count;
};

static void count_body(void *context, size_t index, unsigned worker)
{
    struct counted *c = context;
    if (worker >= c->width || atomic_exchange(&c->busy[worker], true)) {
        atomic_fetch_add(&c->clashes, 1);
        return;
    }
    if (index < c->count) atomic_fetch_add(&c->seen[index], 1);
    if (index % 64 == 0) sched_yield();
    atomic_store(&c->busy[worker], false);
}

static void run_and_check(struct pool *pool, size_t count)
{
    static _Thread_local struct counted c;
    memset(&c, 0, sizeof c);
    c.width = pool_width(pool);
    c.count = count;
    pool_run(pool, count, count_body, &c);
    if (atomic_load(&c.clashes) != 0)
        abort(); /* not an assert: cmocka's jump must not leave another thread */
    for (size_t i = 0; i < count; i++) {
        if (atomic_load(&c.seen[i]) != 1) abort();
    }
}

static void every_index_once_at_every_width(void **state)
{
    (void)state;
    for (unsigned width = 1; width <= WIDTH_MAX; width++) {
        struct task t;
        struct pool *pool;
        task_init(&t);
        assert_int_equal(pool_create(&pool, &t, width), CUZK_OK);
        assert_int_equal(pool_width(pool), width);
        size_t counts[] = { 0, 1, 2, width, 1 + prng_below(&prng, COUNT_MAX), COUNT_MAX };
        for (size_t i = 0; i < ARRAY_COUNT(counts); i++) run_and_check(pool, counts[i]);
        pool_destroy(pool);
    }
}

static void no_pool_is_the_caller(void **state)
{
    (void)state;
    assert_int_equal(pool_width(NULL), 1);
    run_and_check(NULL, 100);
    pool_destroy(NULL);
}

static void *caller_main(void *argument)
{
    struct prng own;
    prng_seed(&own, (uint64_t)pthread_self());
    for (int i = 0; i < 60; i++) run_and_check(argument, prng_below(&own, 300));
    return NULL;
}

static void many_callers_share_the_workers(void **state)
{
    (void)state;
    struct task t;
    struct pool *pool;
    task_init(&t);
    assert_int_equal(pool_create(&pool, &t, 4), CUZK_OK);
    pthread_t callers[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, caller_main, pool), 0);
    for (int i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
    pool_destroy(pool);
}

struct gate {
    atomic_uint inside;
    atomic_bool met;
};

/* Waits until two bodies are inside; that needs two threads. */
static void meet_body(void *context, size_t index, unsigned worker)
{
    (void)index;
    (void)worker;
    struct gate *g = context;
    if (atomic_fetch_add(&g->inside, 1) + 1 == 2) atomic_store(&g->met, true);
    for (int i = 0; i < 20000 && !atomic_load(&g->met); i++) usleep(500);
}

static void work_runs_in_parallel(void **state)
{
    (void)state;
    struct task t;
    struct pool *pool;
    struct gate gate = { 0 };
    task_init(&t);
    assert_int_equal(pool_create(&pool, &t, 2), CUZK_OK);
    pool_run(pool, 2, meet_body, &gate);
    assert_true(atomic_load(&gate.met));
    pool_destroy(pool);
}

static void what_a_body_wrote_is_seen_after_the_loop(void **state)
{
    (void)state;
    struct task t;
    struct pool *pool;
    task_init(&t);
    assert_int_equal(pool_create(&pool, &t, 4), CUZK_OK);
    for (int round = 0; round < 200; round++)
        run_and_check(pool, 5); /* start and end of a loop are the racy parts */
    pool_destroy(pool);
}

static void width_zero_is_at_least_one_and_respects_affinity(void **state)
{
    (void)state;
    struct task t;
    struct pool *pool;
    task_init(&t);
    assert_int_equal(pool_create(&pool, &t, 0), CUZK_OK);
    unsigned width = pool_width(pool);
    pool_destroy(pool);
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_in_range(width, 1, CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(pool_create(&pool, &t, 0), CUZK_OK);
    assert_int_equal(pool_width(pool), 1);
    pool_destroy(pool);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void a_senseless_width_is_refused(void **state)
{
    (void)state;
    struct task t;
    struct pool *pool;
    task_init(&t);
    assert_int_equal(pool_create(&pool, &t, 1000000), CUZK_INVALID_ARGUMENT);
    assert_null(pool);
}

int main(void)
{
    prng_init(&prng);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_once_at_every_width),
        cmocka_unit_test(no_pool_is_the_caller),
        cmocka_unit_test(many_callers_share_the_workers),
        cmocka_unit_test(work_runs_in_parallel),
        cmocka_unit_test(what_a_body_wrote_is_seen_after_the_loop),
        cmocka_unit_test(width_zero_is_at_least_one_and_respects_affinity),
        cmocka_unit_test(a_senseless_width_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
