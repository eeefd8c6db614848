/* The CUDA backend's sums on the emulated device in the forms that the planner does not choose by itself: affine additions, tables of
 * multiples, both; and the planner for devices and sizes at random. */
#include "support/cm.h"

#include "backend/cuda/cuda_device.h"
#include "msm/msm_naive.h"
#include "emulated_card.inc.h"

#include <string.h>

enum points { DISTINCT, FEW, EQUAL, INFINITIES, POINTS_KINDS };
enum scalars { FULL, TINY, HALF_ONE_VALUE, SCALAR_KINDS };

static void make_points(const struct group *g, uint8_t *out, size_t n, enum points kind)
{
    struct g_jac *p = must_alloc(n * sizeof *p), base;
    g->jac_from_aff(&base, &g->generator);
    for (size_t i = 0; i < n; i++) {
        if (kind == DISTINCT && i) g->jac_add(&p[i], &p[i - 1], &base);
        else p[i] = base;
        if (kind == FEW) {
            const struct fr_int k = { { 1 + prng_below(&rng, 5), 0, 0, 0 } };
            g->jac_mul(&p[i], &base, &k);
            if (prng_below(&rng, 2)) g->jac_neg(&p[i], &p[i]);
        }
        if (kind == INFINITIES && prng_below(&rng, 3) == 0) g->jac_set_inf(&p[i]);
    }
    g->batch_to_aff(out, p, n);
    free(p);
}

static void make_scalars(const struct curve *c, struct fr_int *k, size_t n, enum scalars kind)
{
    for (size_t i = 0; i < n; i++) {
        do {
            for (int j = 0; j < 4; j++) k[i].w[j] = prng_u64(&rng);
            k[i].w[3] >>= 256 - c->fr.bits;
        } while (!c->fr.int_is_canonical(&k[i]));
        if (kind == TINY) k[i] = (struct fr_int){ { prng_below(&rng, 3), 0, 0, 0 } };
        if (kind == HALF_ONE_VALUE && prng_below(&rng, 2)) k[i] = k[0];
    }
}

static struct buffer on_device(const void *from, size_t bytes)
{
    struct buffer x;
    OK(b->buffer_take(&x, &t, device, MEM_DEVICE, bytes, 0));
    if (from) OK(b->upload(stream, &t, &x, 0, from, bytes));
    return x;
}

/* One sum against the definition. */
static void check(const struct curve *c, enum group_id id, size_t n, enum points points_kind, enum scalars scalars_kind,
                  enum msm_accumulation accumulation, bool table)
{
    const struct group *g = c->group[id];
    uint8_t *points = must_alloc(n * g->aff_bytes);
    struct fr_int *scalars = must_alloc(n * sizeof *scalars);
    struct msm_plan plan;
    struct g_jac got, expected;
    make_points(g, points, n, points_kind);
    make_scalars(c, scalars, n, scalars_kind);
    device->msm_accumulation = accumulation;
    if (table) OK(b->msm_table_plan(&plan, &t, device, c, id, n, (uint64_t)64 << 20));
    else OK(b->msm_plan(&plan, &t, device, c, id, n));
    if (table) assert_true(plan.row_count > 1);
    struct buffer on = on_device(points, n * g->aff_bytes), sc = on_device(scalars, n * 32), ws = on_device(NULL, plan.workspace_bytes);
    struct buffer rows = { 0 };
    if (table) {
        rows = on_device(NULL, plan.table_bytes);
        OK(b->msm_table_make(stream, &t, &plan, &rows, &on, 0));
    }
    OK(b->msm(stream, &t, &plan, &got, table ? &rows : &on, 0, &sc, 0, NULL, &ws));
    OK(b->stream_sync(stream, &t));
    msm_naive(g, &expected, points, (const uint8_t *)scalars, NULL, n);
    if (!g->jac_eq(&got, &expected) && !(g->jac_is_inf(&got) && g->jac_is_inf(&expected)))
        fail_msg("%s %s: %zu points of kind %d, scalars of kind %d, accumulation %d, %u rows", c->name, g->name, n, points_kind, scalars_kind,
                 accumulation, plan.row_count);
    device->msm_accumulation = MSM_ANY;
    b->buffer_give(&on);
    b->buffer_give(&sc);
    b->buffer_give(&ws);
    b->buffer_give(&rows);
    free(points);
    free(scalars);
}

static void affine_g1(void **state)
{
    (void)state;
    for (int p = 0; p < POINTS_KINDS; p++)
        for (int s = 0; s < SCALAR_KINDS; s++) check(&curve_bn254, GROUP_G1, 200 + prng_below(&rng, 500), (enum points)p, (enum scalars)s, MSM_AFFINE, false);
    check(&curve_bls12_381, GROUP_G1, 700, DISTINCT, FULL, MSM_AFFINE, false);
    check(&curve_bn254, GROUP_G1, 1, DISTINCT, FULL, MSM_AFFINE, false);
}

static void affine_g2(void **state)
{
    (void)state;
    for (int p = 0; p < POINTS_KINDS; p++) check(&curve_bls12_381, GROUP_G2, 60 + prng_below(&rng, 60), (enum points)p, FULL, MSM_AFFINE, false);
    check(&curve_bn254, GROUP_G2, 150, FEW, HALF_ONE_VALUE, MSM_AFFINE, false);
}

static void tables(void **state)
{
    (void)state;
    for (int p = 0; p < POINTS_KINDS; p++) check(&curve_bn254, GROUP_G1, 500 + prng_below(&rng, 200), (enum points)p, (enum scalars)(p % SCALAR_KINDS), MSM_XYZZ, true);
    check(&curve_bls12_381, GROUP_G1, 600, INFINITIES, FULL, MSM_AFFINE, true);
    check(&curve_bn254, GROUP_G2, 500, FEW, FULL, MSM_XYZZ, true);
}

/* Any device, any size: a plan holds what it must and fits, and more memory never costs time. */
static void plans(void **state)
{
    (void)state;
    unsigned planned = 0;
    for (int i = 0; i < 400; i++) {
        struct device d;
        const struct curve *c = prng_below(&rng, 2) ? &curve_bn254 : &curve_bls12_381;
        const enum group_id id = prng_below(&rng, 2) ? GROUP_G1 : GROUP_G2;
        static const size_t shared[4] = { 64 << 10, 99 << 10, 163 << 10, 227 << 10 };
        memset(&d, 0, sizeof d);
        d.sm_count = (unsigned)(1 + prng_below(&rng, 200));
        d.shared_bytes = shared[prng_below(&rng, ARRAY_COUNT(shared))];
        d.arena_bytes = prng_below(&rng, (uint64_t)1 << (26 + prng_below(&rng, 13)));
        d.msm_accumulation = (enum msm_accumulation)prng_below(&rng, 3);
        const uint64_t n = 1 + prng_below(&rng, (uint64_t)1 << (1 + prng_below(&rng, 29))), operands = n * (c->group[id]->aff_bytes + 32);
        const uint64_t room = prng_below(&rng, d.arena_bytes + 1);
        struct msm_plan p, more, with;
        const cuzk_status status = cuda_msm_plan(&p, &t, &d, c, id, n);
        if (status != CUZK_OK) {
            assert_int_equal(status, CUZK_TOO_LARGE);
            task_init(&t);
            continue;
        }
        planned++;
        assert_true(p.workspace_bytes + operands <= d.arena_bytes);
        assert_true(p.window_count * p.window_bits <= c->fr.bits && p.window_count * (p.window_bits + 1) > c->fr.bits);
        assert_true(p.block_count >= 1 && p.block_count <= p.window_count);
        assert_true(p.row_count < 2 && p.table_bytes == 0);
        OK(cuda_msm_table_plan(&with, &t, &d, c, id, n, room));
        if (with.row_count > 1) {
            assert_true(with.table_bytes == with.row_count * n * c->group[id]->aff_bytes && with.table_bytes <= room);
            assert_true(with.table_bytes + 32 * n + with.workspace_bytes <= d.arena_bytes);
            assert_true(with.row_count == with.window_count && (uint64_t)with.row_count * n < 1u << 30);
        }
        d.arena_bytes *= 2;
        OK(cuda_msm_plan(&more, &t, &d, c, id, n));
        assert_true(more.ns <= p.ns * 1.0001);
    }
    assert_true(planned > 100);
}

/* An H200 as the planner sees it. */
static struct device h200(void)
{
    struct device d;
    memset(&d, 0, sizeof d);
    d.sm_count = 132;
    d.shared_bytes = 227 << 10;
    d.arena_bytes = (uint64_t)139 << 30;
    return d;
}

/* Sums as an H200 did them (docs/performance.md, "single operations"): planned as they were then, and their times foretold. */
static void measured(void **state)
{
    (void)state;
    static const struct {
        const struct curve *curve;
        enum group_id group;
        enum msm_accumulation accumulation;
        uint64_t count;
        unsigned windows;
        double ms;
    } sums[] = {
        { &curve_bls12_381, GROUP_G1, MSM_XYZZ, 1 << 20, 16, 7.37 },     { &curve_bls12_381, GROUP_G1, MSM_XYZZ, 1700000, 15, 11.1 },
        { &curve_bls12_381, GROUP_G1, MSM_XYZZ, 1 << 22, 14, 24.6 },     { &curve_bls12_381, GROUP_G1, MSM_AFFINE, 1 << 24, 13, 74.2 },
        { &curve_bls12_381, GROUP_G1, MSM_AFFINE, 1 << 26, 12, 236 },    { &curve_bls12_381, GROUP_G1, MSM_AFFINE, 1 << 27, 12, 458 },
        { &curve_bls12_381, GROUP_G2, MSM_XYZZ, 1200000, 16, 22.9 },     { &curve_bls12_381, GROUP_G2, MSM_AFFINE, 1 << 24, 13, 192 },
        { &curve_bn254, GROUP_G1, MSM_XYZZ, 1 << 20, 16, 3.92 },         { &curve_bn254, GROUP_G1, MSM_XYZZ, 1 << 24, 13, 40.6 },
        { &curve_bn254, GROUP_G1, MSM_AFFINE, 1 << 26, 12, 137 },        { &curve_bn254, GROUP_G2, MSM_XYZZ, 1 << 22, 14, 36.0 },
    };
    const struct device d = h200();
    for (size_t i = 0; i < ARRAY_COUNT(sums); i++) {
        struct msm_plan p;
        OK(cuda_msm_plan(&p, &t, &d, sums[i].curve, sums[i].group, sums[i].count));
        assert_int_equal(p.accumulation, sums[i].accumulation);
        assert_int_equal(p.window_count, sums[i].windows);
        assert_int_equal(p.block_count, 1);
        assert_true(p.ns > 0.85e6 * sums[i].ms && p.ns < 1.1e6 * sums[i].ms);
    }
}

/* Less workspace never makes a sum faster; of the additions that may be chosen the plan has those of least time: affine ones where there
 * is room for all windows at once, XYZZ ones where windows go one by one. */
static void accumulations(void **state)
{
    (void)state;
    struct device d = h200();
    struct msm_plan best = { .ns = 0 }, of[MSM_AFFINE + 1];
    unsigned flips = 0;
    for (uint64_t limit = (uint64_t)45 << 30; limit > (uint64_t)2 << 30; limit -= limit / 16) {
        const struct msm_plan before = best;
        for (enum msm_accumulation a = MSM_ANY; a <= MSM_AFFINE; a++) {
            d.msm_accumulation = a;
            OK(cuda_msm_plan_within(&of[a], &t, &d, &curve_bls12_381, GROUP_G1, 1 << 27, limit));
            assert_true(of[a].workspace_bytes <= limit);
        }
        best = of[MSM_ANY];
        assert_int_equal(of[MSM_XYZZ].accumulation, MSM_XYZZ);
        assert_int_equal(of[MSM_AFFINE].accumulation, MSM_AFFINE);
        assert_true(best.ns == of[best.accumulation].ns && best.ns <= of[MSM_XYZZ].ns && best.ns <= of[MSM_AFFINE].ns);
        assert_true(before.ns == 0 || best.ns >= before.ns);
        flips += before.ns != 0 && best.accumulation != before.accumulation;
        if (limit >= (uint64_t)30 << 30) assert_int_equal(best.accumulation, MSM_AFFINE);
        if (limit <= (uint64_t)5600 << 20) assert_int_equal(best.accumulation, MSM_XYZZ);
    }
    assert_int_equal(flips, 1);
    /* 12 groups of affine additions, each a window: 732 ms measured */
    d.msm_accumulation = MSM_AFFINE;
    OK(cuda_msm_plan_within(&best, &t, &d, &curve_bls12_381, GROUP_G1, 1 << 27, (uint64_t)5200 << 20));
    assert_int_equal(best.block_count, 12);
    assert_true(best.ns > 0.9 * 732e6 && best.ns < 1.1 * 732e6);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(plans), cmocka_unit_test(measured), cmocka_unit_test(accumulations), cmocka_unit_test_setup_teardown(affine_g1, open_device, close_device),
        cmocka_unit_test_setup_teardown(affine_g2, open_device, close_device), cmocka_unit_test_setup_teardown(tables, open_device, close_device),
    };
    task_init(&t);
    prng_init(&rng);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
