/* The whole engine: threads, real CPU lanes, real small keys of both curves and layouts, files.
 *
 *     test_engine [JOBS]     JOBS of the mixed load (200) */
#include "support/cm.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine_keys.h"
#include <pthread.h>

static struct test_keys keys;
static unsigned load_jobs = 200;

static struct engine *open_engine(const struct engine_options *o)
{
    struct engine *e = NULL;
    struct task t;

    task_init(&t);
    if (engine_open(&e, &t, o) != CUZK_OK) {
        fprintf(stderr, "%s\n", t.error.text);
        fail();
    }
    return e;
}

static struct engine_options options(void)
{
    struct engine_options o = ENGINE_DEFAULTS;

    o.circuits = keys.circuit;
    o.circuit_count = KEYS;
    o.lane_count = 2;
    o.threads = 2;
    o.heap_bytes = 512u << 20;
    o.evict_idle_ms = 0;
    return o;
}

static struct engine_request request(const char *id, int key, bool wrong)
{
    struct engine_request r = { .request_id = id, .circuit = keys.key[key].name };

    r.payload = test_wtns(&keys.key[key], wrong, &r.payload_bytes);
    return r;
}

/* Submits and waits for the end. */
static void prove(struct engine *e, const struct engine_request *r, struct job_answer *out)
{
    struct job_answer accepted;
    struct task t;

    task_init(&t);
    if (engine_submit_wait(e, &t, r, &accepted) != CUZK_OK || accepted.status != CUZK_OK) {
        fprintf(stderr, "%s %s\n", t.error.text, accepted.error_text);
        abort();
    }
    engine_await_wait(e, accepted.job_id, 0, out);
    job_answer_free(&accepted);
}

static void look_counters(void *context, const struct engine_view *v)
{
    *(struct engine_counters *)context = v->counters;
}

struct looking {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool done;
    struct engine_counters c;
    struct bytes_view heap;
    unsigned busy;
};
static void look_told(void *context, const struct engine_view *v)
{
    struct looking *l = context;
    pthread_mutex_lock(&l->lock);
    look_counters(&l->c, v);
    l->heap = v->heap;
    for (size_t i = 0; i < v->lane_count; i++) l->busy += v->lanes[i].state == LANE_BUSY;
    l->done = true;
    pthread_cond_signal(&l->cond);
    pthread_mutex_unlock(&l->lock);
}

static struct looking look(struct engine *e)
{
    struct looking l = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
    engine_look(e, look_told, &l);
    pthread_mutex_lock(&l.lock);
    while (!l.done) pthread_cond_wait(&l.cond, &l.lock);
    pthread_mutex_unlock(&l.lock);
    return l;
}

static void each_key_proves(void **state)
{
    struct engine_options o = options();
    struct engine *e = open_engine(&o);
    (void)state;

    for (int k = 0; k < KEYS; k++) {
        struct engine_request r = request("", k, false);
        struct job_answer a;
        prove(e, &r, &a);
        test_must_be_right(&keys.key[k], &a);
        assert_true(a.timings.total_ms >= a.timings.prove_ms);
        job_answer_free(&a);
    }
    engine_close(e, 1000);
}

static void bad_requests(void **state)
{
    struct engine_options o = options();
    struct engine *e = open_engine(&o);
    struct job_answer a;
    struct task t;
    (void)state;

    struct engine_request r = request("", 0, false);
    r.circuit = "nothing-of-this-name";
    task_init(&t);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_NOT_FOUND);
    assert_non_null(strstr(t.error.text, "nothing-of-this-name"));
    r = request("", 0, false);
    r.circuit = keys.key[1].name; /* a witness over another curve */
    task_init(&t);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_MISMATCH);
    r = request("", 1, false);
    r.circuit = keys.key[2].name; /* of another circuit */
    task_init(&t);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_MISMATCH);
    r = request("", 0, false);
    r.payload_bytes--; /* cut */
    task_init(&t);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_MALFORMED);
    r = request("", 0, false);
    r.durable = 1; /* there is no data folder */
    task_init(&t);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_INVALID_ARGUMENT);
    r = request("", 0, false);
    r.parameters = span_of("x", 1);
    task_init(&t);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_INVALID_ARGUMENT);
    engine_await_wait(e, "no such job", 0, &a);
    assert_int_equal(a.status, CUZK_NOT_FOUND);
    job_answer_free(&a);
    engine_cancel_wait(e, "0123456789abcdef0123456789abcdef0123456789abcdef", &a);
    assert_int_equal(a.status, CUZK_NOT_FOUND);
    job_answer_free(&a);
    engine_close(e, 1000);
}

/* A witness that satisfies nothing: with the .r1cs at hand the row is named and no lane is doubted; without, three attempts, and
 * the lanes pass their tests and go on. */
static void wrong_witness(void **state)
{
    struct engine_options o = options();
    struct engine *e = open_engine(&o);
    struct job_answer a;
    (void)state;

    struct engine_request r = request("", 2, true);
    prove(e, &r, &a);
    assert_int_equal(a.end, JOB_FAILED);
    assert_int_equal(a.status, CUZK_UNSATISFIED);
    assert_non_null(strstr(a.error_text, "constraint 0 "));
    assert_int_equal(a.proof.size, 0);
    assert_int_equal(a.attempts, 1);
    job_answer_free(&a);
    for (int i = 0; i < 5; i++) { /* a client who does it again and again closes no lane */
        r = request("", 0, true);
        prove(e, &r, &a);
        assert_int_equal(a.end, JOB_FAILED);
        assert_int_equal(a.status, CUZK_UNSATISFIED);
        assert_int_equal(a.attempts, 3);
        assert_int_equal(a.proof.size, 0);
        job_answer_free(&a);
    }
    r = request("", 0, false);
    prove(e, &r, &a);
    test_must_be_right(&keys.key[0], &a);
    job_answer_free(&a);
    const struct looking l = look(e);
    assert_int_equal(l.c.verify_failures, 15);
    assert_int_equal(l.c.quarantines, 15);
    assert_int_equal(l.c.lanes_closed, 0);
    assert_int_equal(l.c.failed, 6);
    engine_close(e, 1000);
}

static void same_request_twice(void **state)
{
    struct engine_options o = options();
    struct engine *e = open_engine(&o);
    struct job_answer a, b, c;
    struct task t;
    (void)state;

    struct engine_request r = request("porep-1000-1", 0, false), again = request("porep-1000-1", 0, false),
                          other = request("porep-1000-1", 1, false);
    task_init(&t);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_OK);
    assert_int_equal(engine_submit_wait(e, &t, &again, &b), CUZK_OK);
    assert_int_equal(engine_submit_wait(e, &t, &other, &c), CUZK_OK);
    assert_string_equal(a.job_id, b.job_id);
    assert_true(b.joined);
    assert_string_not_equal(a.job_id, c.job_id);
    assert_int_equal(strlen(a.job_id), 32);
    job_answer_free(&a);
    job_answer_free(&b);
    engine_await_wait(e, b.job_id, 0, &a);
    test_must_be_right(&keys.key[0], &a);
    job_answer_free(&a);
    engine_await_wait(e, c.job_id, 0, &a);
    test_must_be_right(&keys.key[1], &a);
    job_answer_free(&a);
    job_answer_free(&c);
    assert_int_equal(look(e).c.done, 2);
    engine_close(e, 1000);
}

static void queue_is_full_at_once(void **state)
{
    struct engine_options o = options();
    unsigned accepted = 0, full = 0;
    double worst_ms = 0;
    (void)state;

    o.queue_most = 10;
    o.lane_count = 1;
    struct engine *e = open_engine(&o);
    char id[100][JOB_ID_BYTES];
    for (int i = 0; i < 100; i++) {
        struct engine_request r = request("", 2, false);
        struct job_answer a;
        struct task t;
        task_init(&t);
        const uint64_t start_ns = clock_now_ns();
        assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_OK);
        const double ms = clock_ms_since(start_ns);
        if (a.status == CUZK_OK) memcpy(id[accepted++], a.job_id, JOB_ID_BYTES);
        if (a.status == CUZK_QUEUE_FULL) {
            full++;
            if (ms > worst_ms) worst_ms = ms;
        }
        job_answer_free(&a);
    }
    printf("%u accepted, %u refused, each refusal within %.2f ms\n", accepted, full, worst_ms);
    assert_int_equal(accepted + full, 100);
    assert_int_equal(look(e).c.refused_full, full); /* those that the engine's thread has not seen included */
    assert_true(accepted >= 10 && accepted < 100); /* some may have been done meanwhile */
    for (unsigned i = 0; i < accepted; i++) {
        struct job_answer a;
        engine_await_wait(e, id[i], 0, &a);
        test_must_be_right(&keys.key[2], &a);
        job_answer_free(&a);
    }
    engine_close(e, 1000);
}

static void too_large_is_refused(void **state)
{
    struct engine_options o = options();
    struct job_answer a;
    struct task t;
    (void)state;

    o.heap_bytes = 3u << 20; /* tables and payloads fit, a job does not */
    o.queue_most_bytes = 1u << 20;
    struct engine *e = open_engine(&o);
    struct engine_request r = request("", 2, false);
    task_init(&t);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_OK);
    assert_int_equal(a.status, CUZK_TOO_LARGE);
    assert_non_null(strstr(a.error_text, "bytes of heap; the whole budget is"));
    printf("%s\n", a.error_text);
    job_answer_free(&a);
    engine_close(e, 0);
}

static void keys_by_name(void **state)
{
    struct engine_options o = options();
    struct engine *e = open_engine(&o);
    struct key_answer k;
    (void)state;

    engine_preload_wait(e, keys.key[1].name, &k);
    assert_int_equal(k.status, CUZK_OK);
    assert_false(k.was_loaded);
    engine_preload_wait(e, keys.key[1].name, &k);
    assert_true(k.was_loaded);
    engine_evict_wait(e, keys.key[1].name, &k);
    assert_int_equal(k.status, CUZK_OK);
    assert_true(k.was_loaded);
    assert_true(k.freed_bytes > 0);
    engine_evict_wait(e, keys.key[1].name, &k);
    assert_false(k.was_loaded);
    engine_preload_wait(e, "nothing", &k);
    assert_int_equal(k.status, CUZK_NOT_FOUND);
    engine_close(e, 0);
}

/* Room for little more than the largest job: three circuits in turn, slower, never above the budget, and the keys are loaded far
 * less often than there are jobs. */
static void small_budget(void **state)
{
    struct engine_options o = options();
    enum { N = 30 };
    char id[N][JOB_ID_BYTES];
    struct engine *e = NULL;
    struct job_answer a;
    struct task t;
    (void)state;

    o.queue_most_bytes = 1u << 20;
    o.heap_bytes = 1;
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_TOO_LARGE); /* not even the payloads' account */
    o.heap_bytes = 64u << 20;
    e = open_engine(&o);
    o.heap_bytes = look(e).heap.used; /* nothing is loaded: the fixed part */
    engine_close(e, 0);
    for (cuzk_status status = CUZK_TOO_LARGE; status == CUZK_TOO_LARGE;
         o.heap_bytes += 64 << 10) { /* up to where all fit */
        e = open_engine(&o);
        status = CUZK_OK;
        for (int k = 0; k < KEYS; k++) {
            struct engine_request r = request("", k, false);
            assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_OK);
            if (a.status != CUZK_OK) status = a.status;
            job_answer_free(&a);
        }
        engine_close(e, 0);
    }
    e = open_engine(&o);
    for (int i = 0; i < N; i++) {
        struct engine_request r = request("", i % KEYS, false);
        task_init(&t);
        assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_OK);
        assert_int_equal(a.status, CUZK_OK);
        memcpy(id[i], a.job_id, JOB_ID_BYTES);
        job_answer_free(&a);
    }
    for (int i = 0; i < N; i++) {
        engine_await_wait(e, id[i], 0, &a);
        test_must_be_right(&keys.key[i % KEYS], &a);
        job_answer_free(&a);
    }
    const struct looking l = look(e);
    printf("budget %llu, peak %llu; %llu loads, %llu evictions for %d jobs\n",
           (unsigned long long)l.heap.total, (unsigned long long)l.heap.peak,
           (unsigned long long)l.c.key_loads, (unsigned long long)l.c.evictions, N);
    assert_true(l.heap.peak <= l.heap.total);
    assert_true(l.c.evictions > 0);
    assert_true(l.c.key_loads < N / 2);
    engine_close(e, 0);
}

static void cancel_and_deadlines(void **state)
{
    struct engine_options o = options();
    struct job_answer first, second, a;
    struct task t;
    (void)state;

    o.lane_count = 1;
    struct engine *e = open_engine(&o);
    struct engine_request r = request("", 2, false), q = request("", 2, false), late = request("", 2, false);
    task_init(&t);
    late.ttl_ms = 1;
    assert_int_equal(engine_submit_wait(e, &t, &r, &first), CUZK_OK);
    assert_int_equal(engine_submit_wait(e, &t, &q, &second), CUZK_OK);
    engine_cancel_wait(e, second.job_id, &a);
    assert_true(a.end == JOB_CANCELLED || a.end == JOB_DONE); /* it may have been quick */
    job_answer_free(&a);
    engine_await_wait(e, first.job_id, 0, &a);
    test_must_be_right(&keys.key[2], &a);
    job_answer_free(&a);
    job_answer_free(&first);
    job_answer_free(&second);
    assert_int_equal(engine_submit_wait(e, &t, &late, &first), CUZK_OK);
    engine_await_wait(e, first.job_id, 0, &a);
    assert_int_equal(a.end, JOB_FAILED);
    assert_int_equal(a.status, CUZK_DEADLINE);
    job_answer_free(&a);
    job_answer_free(&first);
    engine_close(e, 0);
}

/* -- a mixed load from many threads -------------------------------------------------------------------------------------- */

struct client {
    struct engine *e;
    unsigned number, jobs;
    pthread_t thread;
};

static void *client_main(void *context)
{
    struct client *c = context;

    for (unsigned i = 0; i < c->jobs; i++) {
        const int key = (int)((c->number + i) % KEYS);
        char id[64];
        snprintf(id, sizeof id, "client-%u-%u", c->number, i / 2); /* every second one may join */
        struct engine_request r = request(id, key, false);
        struct job_answer a;
        r.priority = 1 + (c->number + i) % 4;
        prove(c->e, &r, &a);
        test_must_be_right(&keys.key[key], &a);
        job_answer_free(&a);
    }
    return NULL;
}

static void mixed_load(void **state)
{
    struct engine_options o = options();
    struct client clients[8];
    (void)state;

    struct engine *e = open_engine(&o);
    const uint64_t start_ns = clock_now_ns();
    for (unsigned i = 0; i < ARRAY_COUNT(clients); i++) {
        clients[i] =
            (struct client){ .e = e, .number = i, .jobs = load_jobs / (unsigned)ARRAY_COUNT(clients) };
        assert_int_equal(pthread_create(&clients[i].thread, NULL, client_main, &clients[i]), 0);
    }
    for (unsigned i = 0; i < ARRAY_COUNT(clients); i++) pthread_join(clients[i].thread, NULL);
    const struct looking l = look(e);
    printf("%llu proofs from 8 clients in %.1f s\n", (unsigned long long)l.c.done,
           clock_ms_since(start_ns) / 1000);
    assert_int_equal(l.c.failed, 0);
    assert_int_equal(l.c.done, l.c.accepted);
    engine_close(e, 1000);
}

static int open_keys(void **state)
{
    (void)state;
    log_setup(LOG_ERROR, LOG_TEXT);
    test_keys_open(&keys, 200);
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
        cmocka_unit_test(each_key_proves),       cmocka_unit_test(bad_requests),
        cmocka_unit_test(wrong_witness),         cmocka_unit_test(same_request_twice),
        cmocka_unit_test(queue_is_full_at_once), cmocka_unit_test(too_large_is_refused),
        cmocka_unit_test(keys_by_name),          cmocka_unit_test(small_budget),
        cmocka_unit_test(cancel_and_deadlines),  cmocka_unit_test(mixed_load),
    };
    if (argc > 1) load_jobs = (unsigned)strtoul(argv[1], NULL, 0);
    return cmocka_run_group_tests(tests, open_keys, close_keys);
}
