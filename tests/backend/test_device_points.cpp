// The device's point kernels for G1 of BN254 on the emulated device: bucket sums and the reduction, with points that are small multiples of
// one point, so that equal and opposite points meet all the time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// base/task.h speaks C11's atomics, which C++17 does not; the curves need only its name.
#define CUZK_BASE_TASK_H
#include "base/dialect.h"
#include "cuzk/status.h"
struct task;
extern "C" {
#include <cmocka.h>
#include "curve/curve.h"
#include "support/prng.h"
}
#include "backend/cuda/launch.h"
#include "cuda_host.h"

#include <vector>

#include "field/params_bn254.h"
#define FE       fp
#define FE_UPPER BN254_FP
#include "backend/cuda/fe_device.inc.h"
#define LANES 1
#define MSM_ACC_BLOCKS 4
#define MSM_REDUCE_BLOCKS 3
#define MSM_AFFINE_BLOCKS 4
#define MSM(name) under_test_##name
#include "backend/cuda/msm_curve.inc.cuh"

static struct prng rng;

/* body() in every thread of a grid.  It may use host memory: this device has no other. */
template <class F> static __global__ void k_run(F body) { body(); }
template <class F> static void on_device(dim3 grid, unsigned threads, F body)
{
    cudaStream_t s;
    assert_int_equal(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
    LAUNCH(k_run<F>, grid, threads, 0, s)(body);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(s), cudaSuccess);
}
template <class F> static void in_one_thread(F body) { on_device(1, 1, body); }

static const struct group *const group = &curve_bn254.g1;

/* |k| times the generator, opposite if k < 0 */
static void multiple(struct g_jac *r, int64_t k)
{
    struct fr_int e = { { (uint64_t)(k < 0 ? -k : k), 0, 0, 0 } };
    struct g_jac g;
    group->jac_from_aff(&g, &group->generator);
    group->jac_mul(r, &g, &e);
    if (k < 0) group->jac_neg(r, r);
}

static bool is_multiple(const struct xyzz *p, int64_t k)
{
    struct g_jac got, expected;
    uint8_t jac[3 * sizeof(fp_t)], in[XYZZ_BYTES];
    xyzz_write(in, p);
    memset(&got, 0, sizeof got);
    in_one_thread([&] { k_to_jacobian(jac, in, 1); });
    memcpy(&got, jac, sizeof jac);
    multiple(&expected, k);
    return group->jac_is_inf(&got) ? group->jac_is_inf(&expected) : group->jac_eq(&got, &expected);
}

enum { POINTS = 16 };
static uint8_t points[POINTS * AFF_BYTES]; /* i times the generator; 0: infinity */

static void points_make(void)
{
    for (int i = 0; i < POINTS; i++) {
        struct g_jac p;
        struct g_aff a;
        multiple(&p, i);
        memset(&a, 0, sizeof a);
        if (i) group->jac_to_aff(&a, &p);
        memcpy(points + i * AFF_BYTES, &a, AFF_BYTES);
    }
}

static void bucket_sums(void **state)
{
    (void)state;
    for (int k = 0; k < 3000; k++) {
        uint32_t list[24];
        const uint32_t n = (uint32_t)prng_below(&rng, 24), spread = 1 + (uint32_t)prng_below(&rng, POINTS);
        int64_t sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t p = (uint32_t)prng_below(&rng, spread), sign = (uint32_t)prng_below(&rng, 2);
            list[i] = p | sign << 31;
            sum += sign ? -(int64_t)p : p;
        }
        uint8_t out[XYZZ_BYTES];
        struct xyzz s;
        memset(out, 0xee, sizeof out);
        in_one_thread([&] { list_sum(out, points, list, 0, n, false); });
        xyzz_read(&s, out);
        if (!is_multiple(&s, sum)) fail_msg("a bucket of %u entries", n);
    }
}

static int64_t random_xyzz(struct xyzz *p, unsigned spread)
{
    const int64_t k = (int64_t)prng_below(&rng, 2 * spread + 1) - spread;
    const uint32_t entry = (uint32_t)(k < 0 ? -k : k) | (k < 0 ? 1u << 31 : 0);
    uint8_t out[XYZZ_BYTES];
    /* over a detour, so that ZZ is not 1 */
    const uint32_t list[3] = { entry, 7, 7 | 1u << 31 };
    in_one_thread([&] { list_sum(out, points, list, 0, 3, false); });
    xyzz_read(p, out);
    return k;
}

static void additions(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct xyzz a, b;
        const int64_t k = random_xyzz(&a, 3), m = random_xyzz(&b, 3);
        in_one_thread([&] { xyzz_add_far(&a, &b); });
        assert_true(is_multiple(&a, k + m));
        in_one_thread([&] { xyzz_dbl_far(&a); });
        assert_true(is_multiple(&a, 2 * (k + m)));
    }
}

static void reduction(void **state)
{
    (void)state;
    for (int round = 0; round < 6; round++) {
        /* windows of 7 and 8 bits: 64 and 128 buckets; segments of 2^seg */
        const struct msm_windows w = { 7, 1 + (uint32_t)prng_below(&rng, 2), 3 };
        const uint32_t seg = (uint32_t)prng_below(&rng, 3), wide = w.count - w.narrow, log2 = 6 - seg;
        const uint32_t buckets = (w.narrow + 2 * wide) * 64, segments = buckets >> seg;
        std::vector<uint8_t> in(buckets * XYZZ_BYTES), plain(segments * XYZZ_BYTES), weighted(segments * XYZZ_BYTES);
        std::vector<int64_t> k(buckets);
        for (uint32_t i = 0; i < buckets; i++) {
            struct xyzz p;
            k[i] = random_xyzz(&p, 2);
            xyzz_write(&in[i * XYZZ_BYTES], &p);
        }
        on_device((segments + TASKS - 1) / TASKS, THREADS, [&] { k_reduce_buckets(plain.data(), weighted.data(), in.data(), segments, seg); });
        const uint32_t jobs = w.narrow * (log2 + 2) + wide * (log2 + 3), parts = 1u << prng_below(&rng, 3);
        std::vector<uint8_t> part(jobs * parts * XYZZ_BYTES), sums(jobs * XYZZ_BYTES);
        on_device(dim3(parts, jobs), SUM_THREADS, [&] { k_sum_bits(part.data(), plain.data(), weighted.data(), log2, w); });
        on_device(jobs, SUM_THREADS, [&] { k_sum_parts(sums.data(), part.data(), parts); });
        uint32_t job = 0, first = 0;
        for (uint32_t v = 0; v < w.count; v++) {
            const uint32_t items = log2 + (v >= w.narrow), all = 1u << (items + seg);
            for (uint32_t j = 0; j < items + 2; j++) {
                int64_t expected = 0;
                for (uint32_t i = 0; i < all; i++) {
                    const uint32_t segment = i >> seg;
                    if (j < 2) expected += (segment >> (items - 1)) == j ? k[first + i] * ((int64_t)(i & ((1u << seg) - 1)) + 1) : 0;
                    else expected += segment >> (j - 2) & 1 ? k[first + i] : 0;
                }
                struct xyzz p;
                xyzz_read(&p, &sums[(job + j) * XYZZ_BYTES]);
                if (!is_multiple(&p, expected)) fail_msg("window %u, job %u of %u", v, j, items + 2);
            }
            job += items + 2;
            first += all;
        }
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = { cmocka_unit_test(bucket_sums), cmocka_unit_test(additions), cmocka_unit_test(reduction) };
    prng_init(&rng);
    points_make();
    return cmocka_run_group_tests(cases, NULL, NULL);
}
