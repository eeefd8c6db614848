/* Several proofs at a time on one arena of the emulated device: one to four lanes, memory for one block, two or all, no call that acts
 * on the whole device once it is warm, memory that stays, and calls of the runtime that fail. */
#include "support/cm.h"
#include "cuda_host.h"
#include "groth16/lane_trial.h"
#include "support/cuda_calls.h"
#include <malloc.h>
#include <string.h>
#if defined(SANITIZE_ADDRESS)
size_t __sanitizer_get_current_allocated_bytes(void); /* GCC does not bring its header */
#endif

enum { GRANULE = 256, STREAM_BYTES = 96 << 20, FAULTS = 3 };

static unsigned warm_proofs = 6;

static struct lane_trial m;
static const struct backend *cuda;

static int open_all(void **state)
{
    (void)state;
    lane_trial_open(&m, &curve_bn254, 12);
    cuda = backend_by_name("cuda");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    lane_trial_close(&m);
    return 0;
}

/* A new emulated device, with the cards' queues in an order of that seed. */
static struct device *open_device(uint64_t seed, uint64_t memory_bytes)
{
    struct cuda_host_config c = cuda_host_default();
    const struct device_options o = { .memory_bytes = memory_bytes };
    struct device *device;
    struct task t;

    c.seed = seed;
    cuda_host_configure(&c);
    task_init(&t);
    proving_must(&t, cuda->open(&device, &t, &o), "device");
    return device;
}

static void close_device(struct device *device)
{
    lane_trial_key_again(&m);
    cuda->close(device);
}

static uint64_t granules(uint64_t bytes) { return (bytes + GRANULE - 1) / GRANULE * GRANULE; }

static bool has_tables(const struct groth16_plan *plan)
{
    unsigned tables = 0;

    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) tables += plan->msm[q].row_count > 1;
    assert_true(tables == 0 || tables == QUERY_COUNT);
    return tables > 0;
}

static struct groth16_plan plan_in(uint64_t memory_bytes)
{
    struct device *const device = open_device(1, memory_bytes);
    struct groth16_plan plan;
    struct task t;

    task_init(&t);
    proving_must(&t, groth16_prove_plan(&plan, &t, m.key, cuda, device), "plan");
    assert_true(plan.residence.points);
    close_device(device);
    return plan;
}

static uint64_t arena_for(const struct groth16_plan *plan, unsigned computing, unsigned blocks)
{
    return (uint64_t)computing * STREAM_BYTES + granules(plan->key_bytes) +
           blocks * granules(plan->block_bytes);
}

/* What a proof takes where all fits, tables of multiples too; and where they would leave no room for three proofs. */
static struct groth16_plan plan_with_tables(void)
{
    const struct groth16_plan plan = plan_in((uint64_t)1 << 30);

    assert_true(has_tables(&plan));
    return plan;
}

static struct groth16_plan plan_without_tables(void)
{
    const struct groth16_plan with = plan_with_tables(), plan = plan_in(arena_for(&with, 1, 1));

    assert_false(has_tables(&plan));
    assert_true(plan.key_bytes < with.key_bytes);
    return plan;
}

static void same_bytes_in_any_arena(void **state)
{
    static const struct {
        unsigned lanes, computing, blocks;
    } cases[] = { { 1, 1, 1 }, { 2, 1, 1 }, { 3, 1, 2 }, { 4, 2, 4 } };
    const struct groth16_plan plan = plan_without_tables();

    (void)state;
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
        const unsigned lanes = cases[i].lanes, computing = cases[i].computing, blocks = cases[i].blocks;
        struct device *const device =
            open_device(prng_u64(&m.proving.random), arena_for(&plan, computing, blocks));
        struct lane_run r = { .options = { lanes, computing, 0 }, .threads = lanes, .proofs = lanes + 1 };
        lane_trial_run(&m, &r, cuda, device);
        assert_int_equal(r.right, r.proofs);
        assert_true(r.report.peak_bytes <= blocks * plan.block_bytes);
        if (blocks == lanes) assert_int_equal(r.report.skipped, 0);
        if (blocks == 1 && lanes > 1) /* whoever came while another proof held the block */
            assert_true(r.report.skipped > 0 && r.report.skipped < r.proofs);
        close_device(device);
    }
}

static void what_cannot_fit_is_refused_with_both_numbers(void **state)
{
    const struct groth16_plan roomy = plan_without_tables();
    const uint64_t arena = arena_for(&roomy, 2, 0); /* no room for a block, whatever of the key is left out */
    struct device *const device = open_device(1, arena);
    const struct lanes_options o = { 2, 2, 0 };
    struct groth16_plan plan;
    struct lanes *lanes;
    char number[64];
    struct task t;

    (void)state;
    task_init(&t);
    proving_must(&t, lanes_create(&lanes, &t, cuda, device, &o), "lanes");
    assert_int_equal(lanes_stream_bytes(lanes), 2 * STREAM_BYTES);
    assert_int_equal(groth16_prove_plan_on(&plan, &t, m.key, cuda, device, lanes), CUZK_TOO_LARGE);
    snprintf(number, sizeof number, "takes %llu bytes",
             (unsigned long long)(plan.key_bytes + plan.block_bytes + 2 * STREAM_BYTES));
    assert_non_null(strstr(t.error.text, number));
    snprintf(number, sizeof number, "gives %llu", (unsigned long long)arena);
    assert_non_null(strstr(t.error.text, number));
    lanes_destroy(lanes);
    close_device(device);
}

static size_t heap_bytes(void)
{
#if defined(SANITIZE_ADDRESS)
    return __sanitizer_get_current_allocated_bytes();
#else
    return mallinfo2().uordblks;
#endif
}

/* Lanes are opened and closed around each: what they leave behind would be seen too. */
static void warm_proofs_call_nothing_forbidden_and_leave_nothing(void **state)
{
    const struct groth16_plan plan = plan_with_tables();
    struct device *const device = open_device(6, arena_for(&plan, 2, 3));
    struct lane_run r = { .options = { 3, 2, 0 }, .threads = 3, .proofs = 4 };

    (void)state;
    lane_trial_run(&m, &r, cuda, device); /* the key is there now */
    const struct cuda_host_usage before = cuda_host_used();
    size_t heap = 0;
    cuda_calls_reset();
    for (unsigned i = 0; i < 3; i++) {
        r.proofs = warm_proofs / 3;
        lane_trial_run(&m, &r, cuda, device);
        if (i == 0) heap = heap_bytes();
    }
    assert_int_equal(cuda_calls_forbidden(), 0);
    assert_true(heap_bytes() <= heap + 4096);
    const struct cuda_host_usage after = cuda_host_used();
    assert_int_equal(after.device_bytes, before.device_bytes);
    assert_int_equal(after.registered, before.registered);
    assert_int_equal(after.streams, before.streams);
    assert_int_equal(after.events, before.events);
    close_device(device);
}

/* The n-th call of the runtime fails, for n over a whole run: one proof at most is lost, none is wrong, and the same arena, which has
 * room for no block more, proves again. */
static void a_failing_call_costs_one_proof(void **state)
{
    const struct groth16_plan plan = plan_without_tables();
    struct device *const device = open_device(5, arena_for(&plan, 2, 2));
    struct lane_run r = { .options = { 3, 2, 0 }, .threads = 3, .proofs = 3 };
    unsigned failed = 0;

    (void)state;
    lane_trial_run(&m, &r, cuda, device);
    const unsigned long before = cuda_host_call_count();
    lane_trial_run(&m, &r, cuda, device);
    const unsigned long calls = cuda_host_call_count() - before, opening = 40; /* the lanes' own streams */
    for (unsigned i = 0; i < FAULTS; i++) {
        r.may_fail = true;
        cuda_host_fail_call(opening + 1 + (unsigned long)prng_below(&m.proving.random, calls - opening), 1);
        lane_trial_run(&m, &r, cuda, device);
        cuda_host_fail_call(0, 0);
        assert_int_equal(r.right + r.failed, r.proofs);
        assert_true(r.failed <= 1);
        failed += r.failed;
    }
    assert_true(failed > 0);
    r.may_fail = false;
    lane_trial_run(&m, &r, cuda, device);
    assert_int_equal(r.right, r.proofs);
    close_device(device);
}

/* test_lanes_device [PROOFS]: so many warm ones, and nothing else. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_in_any_arena),
        cmocka_unit_test(what_cannot_fit_is_refused_with_both_numbers),
        cmocka_unit_test(warm_proofs_call_nothing_forbidden_and_leave_nothing),
        cmocka_unit_test(a_failing_call_costs_one_proof),
    };
    const struct CMUnitTest *const warm = &tests[2];

    if (argc > 1) {
        warm_proofs = (unsigned)strtoul(argv[1], NULL, 10);
        const struct CMUnitTest alone[] = { *warm };
        return cmocka_run_group_tests(alone, open_all, close_all);
    }
    return cmocka_run_group_tests(tests, open_all, close_all);
}
