/* A device that fails, and one that computes wrongly: right proofs all the same, and counters that agree.
 *
 *     test_engine_fault [JOBS]     (100) */
#include "support/cm.h"
#include "backend/fault/fault_backend.h"
#include "base/log.h"
#include "engine_keys.h"
#include <pthread.h>

static struct test_keys keys;
static unsigned jobs = 100;

struct counting {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    unsigned ended;
    struct engine_counters c;
};

static void ended(void *context, const struct job_answer *a)
{
    struct counting *n = context;

    if (a->end != JOB_UNFINISHED) test_must_be_right(&keys.key[0], a);
    pthread_mutex_lock(&n->lock);
    n->ended++;
    pthread_cond_signal(&n->cond);
    pthread_mutex_unlock(&n->lock);
}

static void looked(void *context, const struct engine_view *v)
{
    struct counting *n = context;

    pthread_mutex_lock(&n->lock);
    n->c = v->counters;
    n->ended++;
    pthread_cond_signal(&n->cond);
    pthread_mutex_unlock(&n->lock);
}

static void wait_for(struct counting *n, unsigned count)
{
    pthread_mutex_lock(&n->lock);
    while (n->ended < count) pthread_cond_wait(&n->cond, &n->lock);
    n->ended = 0;
    pthread_mutex_unlock(&n->lock);
}

static void run(uint64_t fail_every, cuzk_status status, uint64_t wrong_every)
{
    struct counting n = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
    struct engine_options o = ENGINE_DEFAULTS;
    struct engine *e = NULL;
    struct task t;

    o.circuits = keys.circuit;
    o.circuit_count = 1;
    o.backend = "fault";
    o.lane_count = 2;
    o.threads = 2;
    o.heap_bytes = 256u << 20;
    o.queue_most = jobs;
    o.lane_strikes_most =
        0; /* so many faults within an hour close every lane otherwise: that is the next test */
    o.attempts_most = 8;
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_OK);
    fault_arm(UINT64_MAX, status);
    fault_every(fail_every, status, wrong_every);
    for (unsigned i = 0; i < jobs; i++) {
        struct engine_request r = { .request_id = "", .circuit = keys.key[0].name };
        struct job_answer a;
        r.payload = test_wtns(&keys.key[0], false, &r.payload_bytes);
        task_init(&t);
        assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_OK);
        assert_int_equal(a.status, CUZK_OK);
        engine_await(e, a.job_id, 0, ended, &n);
        job_answer_free(&a);
    }
    wait_for(&n, jobs);
    fault_disarm();
    engine_look(e, looked, &n);
    wait_for(&n, 1);
    engine_close(e, 1000);
    printf("%u jobs: %llu attempts, %llu retries, %llu failures of a lane, %llu wrong proofs, %llu "
           "quarantines\n",
           jobs, (unsigned long long)n.c.attempts, (unsigned long long)n.c.retries,
           (unsigned long long)n.c.lane_failures, (unsigned long long)n.c.verify_failures,
           (unsigned long long)n.c.quarantines);
    assert_int_equal(n.c.done, jobs);
    assert_int_equal(n.c.failed, 0);
    assert_int_equal(n.c.attempts, jobs + n.c.retries);
    assert_true(n.c.retries > 0);
    if (wrong_every == 0) assert_int_equal(n.c.verify_failures, 0);
    if (wrong_every != 0) assert_int_equal(n.c.verify_failures, n.c.retries);
}

/* About 26 calls of the backend make a proof. */
static void a_call_in_fifty_proofs_fails(void **state)
{
    (void)state;
    run(26 * 50, CUZK_DEVICE_LOST, 0);
}

static void memory_is_short_now_and_then(void **state)
{
    (void)state;
    run(26 * 20, CUZK_NO_MEMORY, 0);
}

/* Five sums make a proof. */
static void a_sum_in_fifty_proofs_is_wrong(void **state)
{
    (void)state;
    run(0, CUZK_OK, 5 * 50 + 1);
}

/* A lane that is always wrong is closed; then work is refused, not lost in silence. */
static void a_broken_lane_is_closed(void **state)
{
    struct engine_options o = ENGINE_DEFAULTS;
    struct engine *e = NULL;
    struct job_answer a;
    struct task t;
    (void)state;

    o.circuits = keys.circuit;
    o.circuit_count = 1;
    o.backend = "fault";
    o.threads = 1;
    o.heap_bytes = 256u << 20;
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_OK);
    fault_arm(UINT64_MAX, CUZK_DEVICE_LOST);
    fault_every(20, CUZK_DEVICE_LOST, 0); /* every proof, and every self-test */
    struct engine_request r = { .request_id = "", .circuit = keys.key[0].name };
    r.payload = test_wtns(&keys.key[0], false, &r.payload_bytes);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_OK);
    assert_int_equal(a.status, CUZK_OK);
    char id[JOB_ID_BYTES];
    memcpy(id, a.job_id, sizeof id);
    job_answer_free(&a);
    engine_await_wait(e, id, 0, &a);
    assert_int_equal(a.end, JOB_FAILED);
    assert_int_equal(a.status, CUZK_DEVICE_UNAVAILABLE);
    job_answer_free(&a);
    r.payload = test_wtns(&keys.key[0], false, &r.payload_bytes);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_OK);
    assert_int_equal(a.status, CUZK_DEVICE_UNAVAILABLE);
    job_answer_free(&a);
    fault_disarm();
    engine_close(e, 0);
}

static int open_keys(void **state)
{
    (void)state;
    log_setup(LOG_ERROR, LOG_TEXT);
    test_keys_open(&keys, 60);
    return 0;
}

static int close_keys(void **state)
{
    (void)state;
    test_keys_close(&keys);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_in_fifty_proofs_fails),
        cmocka_unit_test(memory_is_short_now_and_then),
        cmocka_unit_test(a_sum_in_fifty_proofs_is_wrong),
        cmocka_unit_test(a_broken_lane_is_closed),
    };
    if (argc > 1) jobs = (unsigned)strtoul(argv[1], NULL, 0);
    return cmocka_run_group_tests(tests, open_keys, close_keys);
}
