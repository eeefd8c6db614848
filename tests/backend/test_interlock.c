/* The interlock bench on the emulated device: every protocol computes the right values, gives back what it took, and survives whichever
 * call fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backend/backend.h"
#include "cuda_host.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

enum { LANES = 3, PARTITIONS = 7, PARTITION_BYTES = 3 << 15 };

struct seen {
    unsigned count;
    struct interlock_result result[INTERLOCK_PROTOCOLS];
};

static void done(void *context, enum interlock_protocol protocol, const struct interlock_result *result)
{
    struct seen *seen = context;
    assert_int_equal(protocol, seen->count);
    seen->result[seen->count++] = *result;
}

static void configure(uint64_t seed, size_t memory_bytes)
{
    struct cuda_host_config c = cuda_host_default();
    c.seed = seed;
    c.memory_bytes = memory_bytes;
    cuda_host_configure(&c);
}

static void assert_nothing_left(void)
{
    const struct cuda_host_usage u = cuda_host_used();
    assert_int_equal(u.device_bytes, 0);
    assert_int_equal(u.registered, 0);
    assert_int_equal(u.streams, 0);
    assert_int_equal(u.events, 0);
}

/* The failing call may have been the one that gives a thing back; nothing else may be left. */
static void assert_one_left_at_most(void)
{
    const struct cuda_host_usage u = cuda_host_used();
    assert_true((u.device_bytes > 0) + u.registered + u.streams + u.events <= 1);
}

static const struct interlock_options small = { 0, LANES, PARTITIONS, 0, PARTITION_BYTES, 0.0 };

/* Every partition's value is compared inside; here that all protocols came to their end, on cards on which one partition fits, some, all. */
static void test_protocols(void **state)
{
    (void)state;
    static const uint64_t memory[] = { PARTITION_BYTES, PARTITION_BYTES / 3 * 4, 2 * PARTITION_BYTES, 0 };
    const struct backend *be = backend_by_name("cuda");
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct seen seen = { 0 };
        struct interlock_options o = small;
        struct task t;
        task_init(&t);
        o.memory_bytes = memory[seed % ARRAY_COUNT(memory)];
        configure(seed, (size_t)512 << 20);
        if (be->interlock(&t, &o, (1u << INTERLOCK_PROTOCOLS) - 1, done, &seen) != CUZK_OK) fail_msg("seed %llu: %s", (unsigned long long)seed, t.error.text);
        assert_int_equal(seen.count, INTERLOCK_PROTOCOLS);
        for (unsigned p = 0; p < seen.count; p++) {
            const struct interlock_result *r = &seen.result[p];
            assert_true(r->seconds > 0 && r->partitions_per_second > 0);
            assert_true(r->idle_share >= 0 && r->idle_share <= 1);
            if (p == INTERLOCK_ARENA) assert_int_equal(r->no_memory + r->skipped_prestage, 0);
        }
        assert_nothing_left();
    }
}

static void test_refusals(void **state)
{
    (void)state;
    const struct backend *be = backend_by_name("cuda");
    struct interlock_options o = small;
    struct seen seen = { 0 };
    struct task t;
    configure(1, (size_t)512 << 20);
    task_init(&t);
    o.memory_bytes = PARTITION_BYTES / 2;
    assert_int_equal(be->interlock(&t, &o, 1, done, &seen), CUZK_TOO_LARGE);
    assert_non_null(strstr(t.error.text, "98304"));
    assert_non_null(strstr(t.error.text, "49152"));
    assert_nothing_left();
    task_init(&t);
    o = small;
    o.lanes = 0;
    assert_int_equal(be->interlock(&t, &o, 1, done, &seen), CUZK_INVALID_ARGUMENT);
    task_init(&t);
    o = small;
    o.partitions = LANES - 1;
    assert_int_equal(be->interlock(&t, &o, 1, done, &seen), CUZK_INVALID_ARGUMENT);
}

/* The n-th call fails: an error, or, where memory ran out for a lane, a partition staged later; never a hang, a leak or a wrong value. */
static void sweep_calls(int code)
{
    const struct backend *be = backend_by_name("cuda");
    unsigned refused = 0, n = 1;
    for (;; n += 1 + n / 8) {
        struct seen seen = { 0 };
        struct task t;
        task_init(&t);
        configure(n, (size_t)512 << 20);
        cuda_host_fail_call(n, code);
        const cuzk_status status = be->interlock(&t, &small, (1u << INTERLOCK_PROTOCOLS) - 1, done, &seen);
        const unsigned long calls = cuda_host_call_count();
        cuda_host_fail_call(0, 0);
        if (status != CUZK_OK) {
            refused++;
            assert_string_not_equal(t.error.text, "");
            assert_true(status != CUZK_INTERNAL || strstr(t.error.text, "instead of") == NULL);
        }
        if (code == cudaErrorMemoryAllocation) assert_one_left_at_most();
        if (calls < n) break;
    }
    printf("failures up to call %u: %u runs refused\n", n, refused);
    assert_true(refused > 10);
}
static void test_no_memory(void **state)
{
    (void)state;
    sweep_calls(cudaErrorMemoryAllocation);
}
static void test_lost(void **state)
{
    (void)state;
    sweep_calls(cudaErrorIllegalAddress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protocols),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
