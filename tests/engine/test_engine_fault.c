/* A device that fails, and one that computes wrongly: right proofs all the same, and counters that agree.  Devices with memory of their
 * own: each is a line of the budget.
 *
 *     test_engine_fault [JOBS]     (100) */
#include "support/cm.h"
#include "backend/fault/blind_backend.h"
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

/* -- devices with memory of their own ----------------------------------------------------------------------------------- */

struct seen {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool told;
    struct bytes_view devices[2], pinned, heap;
    size_t device_count;
    unsigned lanes_on[2];
    uint64_t evictions;
};

static void see(void *context, const struct engine_view *v)
{
    struct seen *s = context;

    pthread_mutex_lock(&s->lock);
    memcpy(s->devices, v->devices, sizeof s->devices);
    s->device_count = v->device_count;
    s->pinned = v->pinned;
    s->heap = v->heap;
    s->evictions = v->counters.evictions;
    s->lanes_on[0] = s->lanes_on[1] = 0;
    for (size_t i = 0; i < v->lane_count; i++) s->lanes_on[v->lanes[i].device_index]++;
    s->told = true;
    pthread_cond_signal(&s->cond);
    pthread_mutex_unlock(&s->lock);
}

static void look(struct engine *e, struct seen *s)
{
    *s = (struct seen){ .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
    engine_look(e, see, s);
    pthread_mutex_lock(&s->lock);
    while (!s->told) pthread_cond_wait(&s->cond, &s->lock);
    pthread_mutex_unlock(&s->lock);
    assert_int_equal(s->device_count, 2);
    for (int i = 0; i < 2; i++) assert_true(s->devices[i].used <= s->devices[i].total);
    assert_true(blind_bytes_taken() <= s->devices[0].total + s->devices[1].total);
}

/* Two devices in whose memory two keys have room, but not three: every proof is right, the ledger holds, what the devices have taken is
 * what the ledger says, and evicted keys give it back. */
static void memory_of_devices_is_a_line_of_the_budget(void **state)
{
    enum { N = 60 };
    static const unsigned devices[] = { 0, 0 };
    struct engine_options o = ENGINE_DEFAULTS;
    struct engine *e = NULL;
    char id[N][JOB_ID_BYTES];
    struct key_answer answer;
    struct job_answer a;
    struct seen s;
    struct task t;
    (void)state;

    o.circuits = keys.circuit;
    o.circuit_count = KEYS;
    o.backend = "blind";
    o.devices = devices;
    o.device_count = 2;
    o.lane_count = 4;
    o.threads = 2;
    o.heap_bytes = 256u << 20;
    o.pinned_bytes = 1u << 20;
    o.evict_idle_ms = 0;
    /* what the keys and one proof take there, as the engine sees it when there is room for everything */
    uint64_t key_bytes[KEYS], all = 0;
    o.device_bytes = 64u << 20;
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_OK);
    look(e, &s);
    const uint64_t fixed = s.devices[0].used;
    for (int k = 0; k < KEYS; k++) {
        look(e, &s);
        const uint64_t before = s.devices[1].used;
        engine_preload_wait(e, keys.key[k].name, &answer);
        assert_int_equal(answer.status, CUZK_OK);
        look(e, &s);
        key_bytes[k] = s.devices[1].used - before;
        assert_true(key_bytes[k] > 0);
        all += key_bytes[k];
    }
    assert_int_equal(s.lanes_on[0], 2);
    assert_int_equal(s.lanes_on[1], 2);
    assert_int_equal(s.pinned.used, 1u << 20);
    assert_true(s.heap.used >= 1u << 20);
    struct engine_request one = { .request_id = "", .circuit = keys.key[0].name };
    one.payload = test_wtns(&keys.key[0], false, &one.payload_bytes);
    task_init(&t);
    assert_int_equal(engine_submit_wait(e, &t, &one, &a), CUZK_OK);
    memcpy(id[0], a.job_id, JOB_ID_BYTES);
    job_answer_free(&a);
    engine_await_wait(e, id[0], 0, &a);
    test_must_be_right(&keys.key[0], &a);
    job_answer_free(&a);
    look(e, &s);
    const uint64_t proof = (s.devices[0].peak > s.devices[1].peak ? s.devices[0].peak : s.devices[1].peak) - fixed - all;
    assert_true(proof > 0);
    engine_close(e, 1000);
    assert_int_equal(blind_bytes_taken(), 0);

    o.device_bytes = fixed + all - key_bytes[0] / 2 + proof; /* not for all keys at once */
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_OK);
    for (int i = 0; i < N; i++) {
        struct engine_request r = { .request_id = "", .circuit = keys.key[i / 4 % KEYS].name };
        r.payload = test_wtns(&keys.key[i / 4 % KEYS], false, &r.payload_bytes);
        task_init(&t);
        assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_OK);
        if (a.status != CUZK_OK) fprintf(stderr, "%s\n", a.error_text);
        assert_int_equal(a.status, CUZK_OK);
        memcpy(id[i], a.job_id, JOB_ID_BYTES);
        job_answer_free(&a);
    }
    for (int i = 0; i < N; i++) {
        engine_await_wait(e, id[i], 0, &a);
        test_must_be_right(&keys.key[i / 4 % KEYS], &a);
        job_answer_free(&a);
        look(e, &s);
    }
    for (int k = 0; k < KEYS; k++) {
        engine_evict_wait(e, keys.key[k].name, &answer);
        assert_int_equal(answer.status, CUZK_OK);
    }
    look(e, &s);
    assert_int_equal(s.devices[0].used, fixed);
    assert_int_equal(blind_bytes_taken(), 0);
    assert_true(s.devices[0].peak > fixed && s.devices[1].peak > fixed);
    assert_true(s.evictions >= KEYS);
    printf("two devices of %llu bytes, keys of %llu, a proof of %llu: %d right proofs, %llu evictions, peaks %llu and %llu\n",
           (unsigned long long)s.devices[0].total, (unsigned long long)all, (unsigned long long)proof, N,
           (unsigned long long)s.evictions, (unsigned long long)s.devices[0].peak,
           (unsigned long long)s.devices[1].peak);
    engine_close(e, 1000);

    o.device_bytes = fixed + key_bytes[0] + proof / 2; /* the plan itself does not fit: said at the start, with both numbers */
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_TOO_LARGE);
    assert_non_null(strstr(t.error.text, "bytes of device memory"));
    o.device_bytes = 0;
    o.backend = "cpu"; /* has no memory of its own */
    o.device_count = 1;
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_INVALID_ARGUMENT);
    assert_string_equal(t.error.field, "pinned_bytes");
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
        cmocka_unit_test(memory_of_devices_is_a_line_of_the_budget),
    };
    if (argc > 1) jobs = (unsigned)strtoul(argv[1], NULL, 0);
    return cmocka_run_group_tests(tests, open_keys, close_keys);
}
