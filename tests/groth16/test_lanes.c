/* Several proofs at a time on one device, on the CPU and on the backend that stands for a device: the line's two rules, memory for one
 * proof, two or all, a proof that fails, one that is cancelled while it waits.  Also under ThreadSanitizer. */
#include "support/cm.h"
#include "backend/fault/blind_backend.h"
#include "backend/fault/fault_backend.h"
#include "groth16/lane_trial.h"
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#if defined(SANITIZE_ADDRESS)
size_t __sanitizer_get_current_allocated_bytes(void); /* GCC does not bring its header */
#endif

static struct lane_trial m;

static int open_all(void **state)
{
    (void)state;
    lane_trial_open(&m, &curve_bn254, 24);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    lane_trial_close(&m);
    return 0;
}

static uint64_t block_bytes(const struct backend *backend, struct device *device)
{
    struct groth16_plan plan;
    struct task t;

    proving_task(&t, &m.proving);
    proving_must(&t, groth16_prove_plan(&plan, &t, m.key, backend, device), "plan");
    return plan.block_bytes;
}

/* -- proofs ------------------------------------------------------------------------------------------------------------ */

static void same_bytes_over_any_lanes(const struct backend *backend)
{
    const struct device_options o = { .threads = 1 };
    struct device *device;
    struct task t;

    task_init(&t);
    proving_must(&t, backend->open(&device, &t, &o), "device");
    const uint64_t block = block_bytes(backend, device);
    for (unsigned lanes = 1; lanes <= 4; lanes++)
        for (unsigned computing = 0; computing <= lanes; computing += computing == 0 ? 1 : lanes)
            for (unsigned blocks = 0; blocks <= 2; blocks++) { /* 0: no limit */
                struct lane_run r = { .options = { lanes, computing, blocks * block },
                                      .threads = 5,
                                      .proofs = 12 };
                lane_trial_run(&m, &r, backend, device);
                assert_int_equal(r.right, r.proofs);
                assert_int_equal(r.report.proofs, r.proofs);
                assert_int_equal(r.report.failed + r.report.waiting, 0);
                assert_true(r.report.peak_bytes <= (blocks == 0 ? lanes : blocks) * block);
                assert_true(r.report.peak_bytes >= block);
                if (blocks == 0 || blocks >= lanes) assert_int_equal(r.report.skipped, 0);
            }
    lane_trial_key_again(&m);
    backend->close(device);
}

static void on_the_cpu(void **state)
{
    (void)state;
    same_bytes_over_any_lanes(backend_by_name("cpu"));
}

static void on_a_device(void **state)
{
    (void)state;
    same_bytes_over_any_lanes(&backend_blind);
    assert_int_equal(blind_bytes_taken(), 0);
}

static size_t heap_bytes(void)
{
#if defined(SANITIZE_ADDRESS)
    return __sanitizer_get_current_allocated_bytes();
#elif defined(SANITIZE_THREAD)
    return 0; /* its heap does not say */
#else
    return mallinfo2().uordblks;
#endif
}

static void memory_stays_over_two_hundred_proofs(void **state)
{
    const struct device_options o = { .threads = 1 };
    struct lane_run r = { .options = { 3, 2, 0 }, .threads = 3, .proofs = 20 };
    struct device *device;
    struct task t;

    (void)state;
    task_init(&t);
    proving_must(&t, backend_blind.open(&device, &t, &o), "device");
    lane_trial_run(&m, &r, &backend_blind, device);
    const size_t heap = heap_bytes();
    const uint64_t taken = blind_bytes_taken();
    for (unsigned i = 0; i < 10; i++) {
        lane_trial_run(&m, &r, &backend_blind, device);
        assert_int_equal(blind_bytes_taken(), taken);
    }
    assert_true(heap_bytes() <= heap + 4096);
    lane_trial_key_again(&m);
    assert_int_equal(blind_bytes_taken(), 0);
    backend_blind.close(device);
}

/* Any call that fails, anywhere in a proof, costs that proof alone. */
static void a_fault_costs_its_own_proof(void **state)
{
    enum { STEP = 13 };
    const struct device_options o = { .threads = 1 };
    struct device *device;
    uint64_t calls = 1;
    struct task t;

    (void)state;
    task_init(&t);
    proving_must(&t, backend_blind.open(&device, &t, &o), "device");
    const uint64_t block = block_bytes(&backend_blind, device);
    for (uint64_t n = 0; n < calls; n += STEP) {
        struct lane_run r = {
            .options = { 3, 1 + n % 3, 2 * block }, .threads = 3, .proofs = 6, .may_fail = true
        };
        fault_arm(n + 12, CUZK_INTERNAL); /* after the lanes' own streams */
        lane_trial_run(&m, &r, &backend_blind, device);
        calls = fault_disarm();
        assert_int_equal(r.right + r.failed, r.proofs);
        assert_true(r.failed <= 1);
        assert_int_equal(r.report.waiting, 0);
        if (n % (8 * STEP) == 0) lane_trial_key_again(&m); /* uploads fail too */
    }
    lane_trial_key_again(&m);
    assert_int_equal(blind_bytes_taken(), 0);
    backend_blind.close(device);
}

static void what_is_larger_than_all_is_refused_with_both_numbers(void **state)
{
    struct lanes_options o = { .lanes = 2 };
    const struct backend *const cpu = m.proving.backend;
    char number[32];
    struct lanes *lanes;
    struct prove_lane lane;
    struct task t;

    (void)state;
    task_init(&t);
    o.memory_bytes = block_bytes(cpu, m.proving.device) - 1;
    proving_must(&t, lanes_create(&lanes, &t, cpu, m.proving.device, &o), "lanes");
    proving_must(&t, prove_lane_enter(&lane, &t, lanes, cpu, m.proving.device, NULL), "entry");
    const cuzk_status status = prove_lane_block(&lane, &t, o.memory_bytes + 1);
    assert_int_equal(status, CUZK_TOO_LARGE);
    snprintf(number, sizeof number, "takes %llu bytes", (unsigned long long)o.memory_bytes + 1);
    assert_non_null(strstr(t.error.text, number));
    snprintf(number, sizeof number, "take %llu", (unsigned long long)o.memory_bytes);
    assert_non_null(strstr(t.error.text, number));
    (void)prove_lane_leave(&lane, &t, status);
    lanes_destroy(lanes);
    task_init(&t);
    assert_int_equal(lanes_create(&lanes, &t, cpu, m.proving.device, &(struct lanes_options){ 0 }),
                     CUZK_INVALID_ARGUMENT);
    task_init(&t);
    assert_int_equal(lanes_create(&lanes, &t, cpu, m.proving.device, &(struct lanes_options){ 2, 3, 0 }),
                     CUZK_INVALID_ARGUMENT);
}

/* -- the line, with nothing to prove ----------------------------------------------------------------------------------- */

enum { LINE_THREADS = 8, LINE_ROUNDS = 60, LINE_LIMIT = 1000 };

/* Neither atomic nor locked: if two proofs took memory at once, or two computed where one may, ThreadSanitizer would tell, and the
 * order would be wrong. */
struct line {
    struct lanes *lanes;
    unsigned order[LINE_THREADS * LINE_ROUNDS], taken, computed;
};

struct line_thread {
    struct line *line;
    unsigned number;
    size_t bytes;
    uint64_t seed;
    cuzk_status status;
    atomic_uint attempts; /* to take memory */
};

static cuzk_status take_bytes(void *context, struct task *t, struct prove_lane *lane)
{
    struct line_thread *const a = context;

    const cuzk_status status = prove_lane_block(lane, t, a->bytes);
    atomic_fetch_add(&a->attempts, 1);
    TRY(status);
    a->line->order[a->line->taken++] = a->number;
    return CUZK_OK;
}

static void *stand_in_line(void *argument)
{
    struct line_thread *const a = argument;
    struct prove_lane lane;
    struct task t;

    for (unsigned i = 0; i < LINE_ROUNDS; i++) {
        task_init(&t);
        a->seed = a->seed * 6364136223846793005u + 1442695040888963407u;
        a->bytes = 1 + (size_t)(a->seed >> 33) % LINE_LIMIT;
        cuzk_status status =
            prove_lane_enter(&lane, &t, a->line->lanes, m.proving.backend, m.proving.device, NULL);
        if (status == CUZK_OK) status = prove_lane_lease(&lane, &t, take_bytes, a);
        if (status == CUZK_OK) status = prove_lane_turn(&lane, &t);
        if (status == CUZK_OK && a->line->order[a->line->computed++] != a->number) abort();
        (void)prove_lane_leave(&lane, &t, status);
        if (status != CUZK_OK) a->status = status;
    }
    return NULL;
}

static void who_has_memory_computes_next(void **state)
{
    const struct lanes_options o = { .lanes = 4, .computing = 1, .memory_bytes = LINE_LIMIT };
    struct line_thread a[LINE_THREADS];
    pthread_t thread[LINE_THREADS];
    struct lanes_report report;
    struct line line = { 0 };
    struct task t;

    (void)state;
    task_init(&t);
    proving_must(&t, lanes_create(&line.lanes, &t, m.proving.backend, m.proving.device, &o), "lanes");
    for (unsigned i = 0; i < LINE_THREADS; i++) {
        a[i] = (struct line_thread){ &line, i, 0, prng_u64(&m.proving.random), CUZK_OK, 0 };
        assert_int_equal(pthread_create(&thread[i], NULL, stand_in_line, &a[i]), 0);
    }
    for (unsigned i = 0; i < LINE_THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(a[i].status, CUZK_OK);
    }
    assert_int_equal(line.computed, LINE_THREADS * LINE_ROUNDS);
    lanes_report(line.lanes, &report);
    assert_int_equal(report.proofs, LINE_THREADS * LINE_ROUNDS);
    assert_true(report.peak_bytes <= LINE_LIMIT && report.waiting == 0);
    lanes_destroy(line.lanes);
}

struct waiter {
    struct line_thread a;
    atomic_bool cancel;
    cuzk_status status;
    bool skipped;
};

static void *wait_for_memory(void *argument)
{
    struct waiter *const w = argument;
    struct prove_lane lane;
    struct task t;

    task_init(&t);
    t.cancel = &w->cancel;
    w->status = prove_lane_enter(&lane, &t, w->a.line->lanes, m.proving.backend, m.proving.device, NULL);
    if (w->status == CUZK_OK) w->status = prove_lane_lease(&lane, &t, take_bytes, &w->a);
    if (w->status == CUZK_OK) w->status = prove_lane_turn(&lane, &t);
    w->skipped = lane.skipped;
    (void)prove_lane_leave(&lane, &t, w->status);
    return NULL;
}

static void wait_for_line(struct lanes *lanes, unsigned waiting)
{
    struct lanes_report report;

    do {
        usleep(1000);
        lanes_report(lanes, &report);
    } while (report.waiting != waiting);
}

/* One proof holds all memory; the next in line is cancelled, the one behind it gets the memory, late, and is not disturbed. */
static void a_cancelled_proof_leaves_the_line(void **state)
{
    const struct lanes_options o = { .lanes = 3, .computing = 1, .memory_bytes = LINE_LIMIT };
    struct line line = { 0 };
    struct line_thread first = { &line, 0, LINE_LIMIT, 0, CUZK_OK, 0 };
    struct waiter w[2] = { { .a = { &line, 1, 700, 0, CUZK_OK, 0 } },
                           { .a = { &line, 2, 700, 0, CUZK_OK, 0 } } };
    pthread_t thread[2];
    struct lanes_report report;
    struct prove_lane lane;
    struct task t;

    (void)state;
    task_init(&t);
    proving_must(&t, lanes_create(&line.lanes, &t, m.proving.backend, m.proving.device, &o), "lanes");
    proving_must(&t, prove_lane_enter(&lane, &t, line.lanes, m.proving.backend, m.proving.device, NULL),
                 "entry");
    proving_must(&t, prove_lane_lease(&lane, &t, take_bytes, &first), "memory");
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, wait_for_memory, &w[i]), 0);
        wait_for_line(line.lanes, 2 + i);
    }
    atomic_store(&w[0].cancel, true);
    pthread_join(thread[0], NULL);
    assert_int_equal(w[0].status, CUZK_CANCELLED);
    lanes_report(line.lanes, &report);
    assert_int_equal(report.waiting, 2);
    while (atomic_load(&w[1].a.attempts) == 0) usleep(1000); /* there is no room for it yet */
    proving_must(&t, prove_lane_turn(&lane, &t), "turn");
    (void)prove_lane_leave(&lane, &t, CUZK_OK);
    pthread_join(thread[1], NULL);
    assert_int_equal(w[1].status, CUZK_OK);
    assert_true(w[1].skipped); /* there was no room before its turn */
    lanes_report(line.lanes, &report);
    assert_int_equal(report.proofs, 2);
    assert_int_equal(report.failed, 1);
    assert_int_equal(report.skipped, 1);
    lanes_destroy(line.lanes);
}

/* A backend whose waits for a stream look at the line, as others do meanwhile. */
static struct looking {
    struct backend backend;
    const struct backend *real;
    struct lanes *lanes; /* NULL: nobody looks */
    struct stream *waited;
    unsigned looks, closed_unwaited;
} looking;

static cuzk_status looking_sync(struct stream *s, struct task *t)
{
    struct lanes_report report;

    if (looking.lanes != NULL) {
        lanes_report(looking.lanes, &report); /* waits for ever under the line's lock */
        looking.looks++;
    }
    looking.waited = s;
    return looking.real->stream_sync(s, t);
}

static void looking_close(struct stream *s)
{
    looking.closed_unwaited += looking.lanes != NULL && looking.waited != s;
    looking.real->stream_close(s);
}

/* The device is waited for, after a failure too, while the line is free for others. */
static void a_failed_proof_does_not_hold_the_line(void **state)
{
    const struct lanes_options o = { .lanes = 2, .computing = 1, .memory_bytes = LINE_LIMIT };
    struct line line = { 0 };
    struct line_thread first = { &line, 0, LINE_LIMIT, 0, CUZK_OK, 0 };
    struct prove_lane lane;
    struct task t;

    (void)state;
    looking = (struct looking){ .backend = *m.proving.backend, .real = m.proving.backend };
    looking.backend.stream_sync = looking_sync;
    looking.backend.stream_close = looking_close;
    task_init(&t);
    proving_must(&t, lanes_create(&line.lanes, &t, &looking.backend, m.proving.device, &o), "lanes");
    proving_must(&t, prove_lane_enter(&lane, &t, line.lanes, &looking.backend, m.proving.device, NULL), "entry");
    proving_must(&t, prove_lane_lease(&lane, &t, take_bytes, &first), "memory");
    proving_must(&t, prove_lane_turn(&lane, &t), "turn");
    looking.lanes = line.lanes;
    assert_int_equal(prove_lane_leave(&lane, &t, CUZK_INTERNAL), CUZK_INTERNAL);
    looking.lanes = NULL;
    assert_int_equal(looking.looks, 2); /* the copies, and what computes */
    assert_int_equal(looking.closed_unwaited, 0);
    lanes_destroy(line.lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_cpu),
        cmocka_unit_test(on_a_device),
        cmocka_unit_test(memory_stays_over_two_hundred_proofs),
        cmocka_unit_test(a_fault_costs_its_own_proof),
        cmocka_unit_test(what_is_larger_than_all_is_refused_with_both_numbers),
        cmocka_unit_test(who_has_memory_computes_next),
        cmocka_unit_test(a_cancelled_proof_leaves_the_line),
        cmocka_unit_test(a_failed_proof_does_not_hold_the_line),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
