// Accumulation with a whole point of G2 in each thread, on the emulated device: its products against the portable field, at the ends of their
// ranges too, and its sums with points that are small multiples of one point, so that equal and opposite points meet all the time.
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
#include "field/bls12_381_fields.h"

#include "backend/cuda/launch.h"
#include "cuda_host.h"

#include <vector>

#include "backend/cuda/msm_whole_kernels.h"

static unsigned long pairs_asked;
extern "C" {
static int under_test_accumulate_pairs(void *, void *, const void *, const struct msm_group *, const struct msm_sort *, void *)
{
    pairs_asked++;
    return 0;
}
static int under_test_join(void *buckets, void *piece_sums, const struct msm_sort *s, void *stream)
{
    return msm_bls12_381_g2_join(buckets, piece_sums, s, stream);
}
int under_test_accumulate_whole(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream);
int under_test_accumulate(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream);
}

#include "field/params_bls12_381.h"
#define FE       fp
#define FE_UPPER BLS12_381_FP
#include "backend/cuda/fe_device.inc.h"
#include "backend/cuda/fe_wide.inc.h"
#define BE        fp
#define MSM(name) under_test_##name
#include "backend/cuda/msm_whole.inc.cuh"

static struct prng rng;
static const struct group *const group = &curve_bls12_381.g2;

// -- products --

static const fp_t modulus = { BLS12_381_FP_P_32 };

/* In [0, 2p]: half of the time one of the numbers at the ends. */
static void random_half(fp_t *a)
{
    fp_t p2;
    fp_twice_p(&p2);
    fp_set_zero(a);
    switch (prng_below(&rng, 12)) {
    case 0: return;
    case 1: a->v[0] = 1; return;
    case 2: *a = modulus; return;
    case 3: fp_sub(a, &modulus, &p2); fp_neg(a, a); return; /* p again, over the operations */
    case 4: *a = p2; return;
    case 5: *a = p2; a->v[0]--; return;
    default: break;
    }
    for (int i = 0; i < 12; i++) a->v[i] = (uint32_t)prng_u64(&rng);
    a->v[11] &= 0x1fffffff;
    fp_sub(a, a, &p2);
    fp_canon(a);
    if (prng_below(&rng, 2)) fp_sub(a, a, &modulus);
}
static void random_ext(struct ext *a)
{
    random_half(&a->c[0]);
    random_half(&a->c[1]);
}

static bls12_381_fp2_t ext_value(const struct ext *a)
{
    bls12_381_fp2_t v;
    struct ext c = *a;
    fp_canon(&c.c[0]);
    fp_canon(&c.c[1]);
    static_assert(sizeof v == sizeof c, "the same form in memory");
    memcpy(&v, &c, sizeof v);
    return v;
}

static bool in_range(const struct ext *a)
{
    fp_t p2;
    fp_twice_p(&p2);
    for (int half = 0; half < 2; half++)
        for (int i = 11; i >= 0; i--) {
            if (a->c[half].v[i] > p2.v[i]) return false;
            if (a->c[half].v[i] < p2.v[i]) break;
        }
    return true;
}

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

static void check(const struct ext *got, const bls12_381_fp2_t *expected, const char *what)
{
    const bls12_381_fp2_t value = ext_value(got);
    if (!in_range(got)) fail_msg("a %s beyond 2p", what);
    if (memcmp(&value, expected, sizeof value) != 0) fail_msg("a wrong %s", what);
}

static void products(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct ext a, b, r;
        bls12_381_fp2_t expected;
        random_ext(&a);
        random_ext(&b);
        const bls12_381_fp2_t va = ext_value(&a), vb = ext_value(&b);
        ext_mul(&r, &a, &b);
        bls12_381_fp2_mul(&expected, &va, &vb);
        check(&r, &expected, "product");
        ext_sqr(&r, &a);
        bls12_381_fp2_sqr(&expected, &va);
        check(&r, &expected, "square");
    }
}

/* R D - Y PPP */
static void sums_of_products(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct ext r, d, y, ppp;
        bls12_381_fp2_t expected, other;
        std::vector<uint4> memory(SLOTS * SLOT_VECTORS * THREADS);
        random_ext(&r);
        random_ext(&d);
        random_ext(&y);
        random_ext(&ppp);
        const bls12_381_fp2_t vr = ext_value(&r), vd = ext_value(&d), vy = ext_value(&y), vp = ext_value(&ppp);
        slot_write(memory.data(), SLOT_R, &r);
        slot_write(memory.data(), SLOT_Y, &y);
        slot_write(memory.data(), SLOT_P, &ppp);
        on_device(1, 1, [&] { y_finish(memory.data(), &d); });
        slot_read(&r, memory.data(), SLOT_Y);
        bls12_381_fp2_mul(&expected, &vr, &vd);
        bls12_381_fp2_mul(&other, &vy, &vp);
        bls12_381_fp2_sub(&expected, &expected, &other);
        check(&r, &expected, "sum of two products");
    }
}

// -- sums --

/* |k| times the generator, opposite if k < 0 */
static void multiple(struct g_jac *r, int64_t k)
{
    struct fr_int e = { { (uint64_t)(k < 0 ? -k : k), 0, 0, 0 } };
    struct g_jac g;
    group->jac_from_aff(&g, &group->generator);
    group->jac_mul(r, &g, &e);
    if (k < 0) group->jac_neg(r, r);
}

static bool is_multiple(const uint8_t *xyzz, int64_t k)
{
    struct ext c[4];
    bls12_381_fp2_t v[4];
    struct g_jac got, expected;
    memcpy(c, xyzz, sizeof c);
    for (int i = 0; i < 4; i++) v[i] = ext_value(&c[i]);
    /* X ZZ^2, Y ZZZ^2, ZZZ */
    bls12_381_fp2_sqr(&v[2], &v[2]);
    bls12_381_fp2_mul(&v[0], &v[0], &v[2]);
    bls12_381_fp2_sqr(&v[2], &v[3]);
    bls12_381_fp2_mul(&v[1], &v[1], &v[2]);
    memset(&got, 0, sizeof got);
    memcpy(&got, v, 2 * sizeof *v);
    memcpy((uint8_t *)&got + 2 * sizeof *v, &v[3], sizeof *v);
    multiple(&expected, k);
    return group->jac_is_inf(&got) ? group->jac_is_inf(&expected) : group->jac_eq(&got, &expected);
}

enum { POINTS = 12, BUCKETS = 300, PIECE = 7, LOAD = 16 };
static uint8_t points[POINTS * WHOLE_AFF]; /* i times the generator; 0: infinity */

static void points_make(void)
{
    for (int i = 0; i < POINTS; i++) {
        struct g_jac p;
        struct g_aff a;
        multiple(&p, i);
        memset(&a, 0, sizeof a);
        if (i) group->jac_to_aff(&a, &p);
        memcpy(points + i * WHOLE_AFF, &a, WHOLE_AFF);
    }
}

/* Launches take no other pointers than those to the device's memory. */
static uint8_t *device_bytes(size_t bytes)
{
    void *p;
    assert_int_equal(cudaMalloc(&p, bytes), cudaSuccess);
    memset(p, 0xee, bytes);
    return (uint8_t *)p;
}

/* Buckets of random loads in a random order, those of more than PIECE entries cut. */
static void bucket_sums(void **state)
{
    (void)state;
    struct cuda_host_config c = cuda_host_default();
    c.seed = prng_u64(&rng);
    c.sm_count = 1;
    cuda_host_configure(&c);
    for (int round = 0; round < 4; round++) {
        const uint32_t buckets = BUCKETS - (uint32_t)prng_below(&rng, 40), spread = 1 + (uint32_t)prng_below(&rng, POINTS), load = 1 + (uint32_t)prng_below(&rng, LOAD);
        std::vector<uint32_t> list, start(1, 0), order;
        std::vector<struct msm_pair> pieces;
        std::vector<struct msm_heavy> heavy;
        std::vector<int64_t> sum(buckets, 0);
        for (uint32_t b = 0; b < buckets; b++) {
            const uint32_t n = (uint32_t)prng_below(&rng, load + 1);
            for (uint32_t i = 0; i < n; i++) {
                const uint32_t p = (uint32_t)prng_below(&rng, spread), sign = (uint32_t)prng_below(&rng, 2);
                list.push_back(p | sign << 31);
                sum[b] += sign ? -(int64_t)p : p;
            }
            if (n > PIECE) {
                const struct msm_heavy h = { b, (uint32_t)pieces.size(), (n + PIECE - 1) / PIECE, 0 };
                heavy.push_back(h);
                for (uint32_t i = 0; i < n; i += PIECE) {
                    const struct msm_pair piece = { start[b] + i, n - i < (uint32_t)PIECE ? n - i : (uint32_t)PIECE };
                    order.push_back((uint32_t)pieces.size() | 1u << 31);
                    pieces.push_back(piece);
                }
            } else {
                order.push_back(b);
            }
            start.push_back((uint32_t)list.size());
        }
        for (size_t i = order.size(); i > 1; i--) {
            const size_t j = prng_below(&rng, i);
            const uint32_t t = order[j];
            order[j] = order[i - 1];
            order[i - 1] = t;
        }
        uint32_t counters[COUNTER_COUNT] = { 0 };
        counters[COUNTER_TASKS] = (uint32_t)order.size();
        counters[COUNTER_HEAVY] = (uint32_t)heavy.size();
        struct msm_sort s;
        struct msm_group g;
        memset(&s, 0, sizeof s);
        memset(&g, 0, sizeof g);
        s.counters = counters;
        s.list = list.data();
        s.bucket_start = start.data();
        s.order = order.data();
        s.pieces = pieces.data();
        s.heavy = heavy.data();
        g.bucket_count = buckets;
        g.piece_max = (uint32_t)pieces.size();
        uint8_t *const out = device_bytes(buckets * WHOLE_XYZZ), *const piece_sums = device_bytes((pieces.size() + 1) * WHOLE_XYZZ),
                      *const on_card = device_bytes(sizeof points);
        memcpy(on_card, points, sizeof points);
        cudaStream_t stream;
        const unsigned long asked = pairs_asked;
        assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        assert_int_equal(under_test_accumulate(out, piece_sums, on_card, &g, &s, stream), 0);
        assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
        assert_int_equal(pairs_asked, asked);
        for (uint32_t b = 0; b < buckets; b++)
            if (!is_multiple(&out[b * WHOLE_XYZZ], sum[b])) fail_msg("bucket %u of %u entries", b, start[b + 1] - start[b]);
        /* too few sums: pairs of lanes */
        g.bucket_count = MSM_WHOLE_SUMS - 1;
        assert_int_equal(under_test_accumulate(out, piece_sums, on_card, &g, &s, stream), 0);
        assert_int_equal(pairs_asked, asked + 1);
        assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
        assert_int_equal(cudaFree(out), cudaSuccess);
        assert_int_equal(cudaFree(piece_sums), cudaSuccess);
        assert_int_equal(cudaFree(on_card), cudaSuccess);
    }
    /* and where an SM has room for one block alone */
    assert_int_equal(msm_whole_blocks(227 << 10), 3);
    assert_int_equal(msm_whole_blocks(163 << 10), 2);
    assert_int_equal(msm_whole_blocks(99 << 10), 0);
}

int main(void)
{
    const struct CMUnitTest cases[] = { cmocka_unit_test(products), cmocka_unit_test(sums_of_products), cmocka_unit_test(bucket_sums) };
    prng_init(&rng);
    points_make();
    return cmocka_run_group_tests(cases, NULL, NULL);
}
