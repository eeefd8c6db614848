/* Thousands of proofs of a small key over three lanes: all the oracle's, no call that acts on the whole device once it is warm, and neither the
 * device's memory nor the host's grows.  On a card, or on the emulated one.
 *
 *     test_lanes_soak [PROOFS [CURVE [LOG2]]]     (20 bn254 4)      exit code 77: there is no card */
#include "support/cm.h"
#include "groth16/lane_trial.h"
#include "support/cuda_calls.h"
#include <cuda_runtime_api.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

enum { LANES = 3, ROUNDS = 10, WARM_ROUNDS = 3 };

static unsigned proofs = 20, log2_rows = 4;
static const struct curve *curve = &curve_bn254;
static const struct backend *cuda;
static struct device *device;
static struct lane_trial m;

static int open_all(void **state)
{
    (void)state;
    lane_trial_open(&m, curve, (1u << log2_rows) - 4);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    lane_trial_close(&m);
    cuda->close(device);
    return 0;
}

/* Pages that the process has for itself. */
static uint64_t resident_bytes(void)
{
    unsigned long long size, resident, shared;
    FILE *const f = fopen("/proc/self/statm", "r");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%llu %llu %llu", &size, &resident, &shared), 3);
    fclose(f);
    return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t device_used(void)
{
    size_t unused, all;

    assert_int_equal(cudaMemGetInfo(&unused, &all), cudaSuccess);
    return all - unused;
}

#if defined(SANITIZE_ADDRESS) /* it keeps what is freed */
#define HEAP_COUNTS false
#else
#define HEAP_COUNTS true
#endif

/* Lanes are opened and closed around each round: what they leave behind would be seen too. */
static void proofs_leave_nothing(void **state)
{
    struct lane_run r = { .options = { LANES, 0, 0 }, .threads = LANES, .proofs = 2 * LANES };
    uint64_t heap = 0, resident = 0, used = 0;
    unsigned right = 0;

    (void)state;
    lane_trial_run(&m, &r, cuda, device); /* the key is there now */
    cuda_calls_reset();
    for (unsigned i = 0; i < ROUNDS; i++) {
        r.proofs = proofs / ROUNDS;
        lane_trial_run(&m, &r, cuda, device);
        right += r.right;
        const uint64_t heap_now = mallinfo2().uordblks, resident_now = resident_bytes(),
                       used_now = device_used();
        printf("%u proofs: heap %llu bytes, own pages %.1f MiB, device %.1f MiB\n", right,
               (unsigned long long)heap_now, (double)resident_now / 1048576, (double)used_now / 1048576);
        if (i == WARM_ROUNDS) {
            heap = heap_now;
            resident = resident_now;
            used = used_now;
        }
        if (i <= WARM_ROUNDS) continue;
        assert_true(!HEAP_COUNTS || heap_now <= heap + 65536);
        assert_true(!HEAP_COUNTS || resident_now <= resident + (16u << 20));
        assert_true(used_now <= used);
    }
    assert_int_equal(right, proofs / ROUNDS * ROUNDS);
    assert_int_equal(cuda_calls_forbidden(), 0);
    printf("%u proofs over %u lanes, all equal to the oracle's, 0 forbidden calls\n", right, LANES);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(proofs_leave_nothing) };
    const struct device_options options = { .memory_bytes = (uint64_t)2 << 30 };
    struct task t;

    if (argc > 1) proofs = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2) curve = curve_by_name(argv[2]);
    if (argc > 3) log2_rows = (unsigned)strtoul(argv[3], NULL, 10);
    if (curve == NULL || proofs < ROUNDS || log2_rows < 3 || log2_rows > 20) {
        fprintf(stderr, "usage: test_lanes_soak [PROOFS [CURVE [LOG2]]]\n");
        return 2;
    }
    task_init(&t);
    cuda = backend_by_name("cuda");
    if (cuda == NULL || cuda->open(&device, &t, &options) != CUZK_OK) {
        printf("skipped: %s\n", cuda == NULL ? "this build has no CUDA" : t.error.text);
        return 77;
    }
    return cmocka_run_group_tests(tests, open_all, close_all);
}
