/* Sums over bitmaps of the CUDA backend on the emulated device, by the definition: lists and patterns, in groups of bitmaps and chunks of
 * points that the planner does not choose for so few points; and the planner for devices and sizes at random. */
#include "support/cm.h"

#include "backend/cuda/cuda_device.h"
#include "emulated_card.inc.h"

#include <string.h>

enum { BEHIND = 4096 }; /* bytes behind the workspace, which nobody may write */

enum points { DISTINCT, FEW, EQUAL, INFINITIES, POINTS_KINDS };

static void make_points(const struct group *g, uint8_t *out, size_t n, enum points kind)
{
    struct g_jac *p = must_alloc(n * sizeof *p), base;
    g->jac_from_aff(&base, &g->generator);
    for (size_t i = 0; i < n; i++) {
        if (kind != EQUAL && i) g->jac_add(&p[i], &p[i - 1], &base);
        else p[i] = base;
        if (kind == FEW && i) p[i] = p[prng_below(&rng, i < 5 ? i : 5)];
        if (kind == FEW && prng_below(&rng, 2)) g->jac_neg(&p[i], &p[i]);
    }
    for (size_t i = 0; i < n && kind == INFINITIES; i++)
        if (prng_below(&rng, 3)) g->jac_set_inf(&p[i]);
    g->batch_to_aff(out, p, n);
    free(p);
}

/* What bitmaps hold: RANDOM with a density of each one's own; SAME the same random bits in all; ONE ones in one and nothing in the others. */
enum bits { RANDOM, SAME, ONES, ZEROS, ONE, RARE, BITS_KINDS };

static void make_bits(uint8_t *out, size_t bytes, size_t n, unsigned count, enum bits kind)
{
    const unsigned one = (unsigned)prng_below(&rng, count);
    for (unsigned k = 0; k < count; k++) {
        const unsigned of_256 = (unsigned)prng_below(&rng, 257);
        for (size_t i = 0; i < 8 * bytes; i++) {
            bool bit = i >= n; /* nobody may read these */
            if (i < n) {
                bit = kind == ONES || (kind == ONE && k == one);
                if (kind == RANDOM) bit = prng_below(&rng, 256) < of_256;
                if (kind == RARE) bit = prng_below(&rng, n) == 0;
                if (kind == SAME) bit = k == 0 ? prng_below(&rng, 2) != 0 : out[i / 8] >> (i % 8) & 1;
            }
            if (bit) out[k * bytes + i / 8] |= (uint8_t)(1u << (i % 8));
        }
    }
}

static struct buffer on_device(const void *from, size_t bytes)
{
    struct buffer x;
    OK(b->buffer_take(&x, &t, device, MEM_DEVICE, bytes, 0));
    if (from) OK(b->upload(stream, &t, &x, 0, from, bytes));
    return x;
}

/* One sweep against the definition. */
static void check(const struct curve *c, enum group_id id, size_t n, unsigned count, enum points points_kind, enum bits bits_kind,
                  const struct bit_sum_choice *choice)
{
    const struct group *g = c->group[id];
    struct bit_sum_plan plan;
    struct g_jac got[BIT_SUM_MAX], expected;
    cuda_bit_sum_plan_as(&plan, device, c, id, n, count, choice);
    uint8_t *const points = must_alloc(n * g->aff_bytes), *const bits = must_alloc(plan.bitmap_bytes * count), *const behind = must_alloc(BEHIND),
                  *const left = must_alloc(BEHIND);
    make_points(g, points, n, points_kind);
    make_bits(bits, plan.bitmap_bytes, n, count, bits_kind);
    prng_bytes(&rng, behind, BEHIND);
    struct buffer on = on_device(points, n * g->aff_bytes), bitmaps = on_device(bits, plan.bitmap_bytes * count),
                  ws = on_device(NULL, plan.workspace_bytes + BEHIND);
    OK(b->upload(stream, &t, &ws, plan.workspace_bytes, behind, BEHIND));
    memset(got, 0xee, sizeof got);
    OK(b->bit_sum(stream, &t, &plan, got, &on, 0, &bitmaps, 0, &ws));
    OK(b->download(stream, &t, left, &ws, plan.workspace_bytes, BEHIND));
    OK(b->stream_sync(stream, &t));
    assert_memory_equal(left, behind, BEHIND);
    for (unsigned k = 0; k < count; k++) {
        g->jac_set_inf(&expected);
        for (size_t i = 0; i < n; i++)
            if (bits[k * plan.bitmap_bytes + i / 8] >> (i % 8) & 1) g->jac_add_aff(&expected, &expected, points + i * g->aff_bytes);
        if (!g->jac_eq(&got[k], &expected))
            fail_msg("%s %s: bitmap %u of %u over %zu points of kind %d, bits of kind %d, patterns of %u, 2^%u buckets, chunks of %u", c->name,
                     g->name, k, count, n, points_kind, bits_kind, plan.pattern_bits, plan.bucket_log2, plan.chunk_points);
    }
    b->buffer_give(&on);
    b->buffer_give(&bitmaps);
    b->buffer_give(&ws);
    free(points);
    free(bits);
    free(behind);
    free(left);
}

/* Some choice for so many bitmaps and points. */
static struct bit_sum_choice any_choice(size_t n, unsigned count, bool patterns)
{
    struct bit_sum_choice choice = { 0, 0, (uint32_t)(n + 127) / 128 * 128 };
    if (patterns) {
        choice.pattern_bits = 1 + (unsigned)prng_below(&rng, count);
        if (choice.pattern_bits > 10) choice.pattern_bits = 10; /* 2^16 buckets take the emulation seconds */
        choice.bucket_log2 = choice.pattern_bits + (unsigned)prng_below(&rng, 4);
    }
    if (n > 128 && prng_below(&rng, 2)) choice.chunk_points = 128 * (uint32_t)(1 + prng_below(&rng, n / 128));
    return choice;
}

static void sweep_kinds(const struct curve *c, enum group_id id, size_t n_most, bool patterns)
{
    static const unsigned counts[] = { 1, 2, 3, 7, 10, BIT_SUM_MAX };
    for (unsigned i = 0; i < ARRAY_COUNT(counts); i++) {
        const size_t n = 1 + prng_below(&rng, n_most);
        const struct bit_sum_choice choice = any_choice(n, counts[i], patterns);
        check(c, id, n, counts[i], (enum points)(i % POINTS_KINDS), (enum bits)prng_below(&rng, BITS_KINDS), &choice);
    }
}

static void lists(void **state)
{
    (void)state;
    for (int kind = 0; kind < BITS_KINDS; kind++) {
        const struct bit_sum_choice choice = any_choice(2000, 3, false);
        check(&curve_bn254, GROUP_G1, 2000 + prng_below(&rng, 40), 3, (enum points)prng_below(&rng, POINTS_KINDS), (enum bits)kind, &choice);
    }
    sweep_kinds(&curve_bn254, GROUP_G1, 900, false);
    sweep_kinds(&curve_bls12_381, GROUP_G1, 500, false);
    sweep_kinds(&curve_bls12_381, GROUP_G2, 300, false);
}

static void patterns(void **state)
{
    (void)state;
    for (int kind = 0; kind < BITS_KINDS; kind++) {
        const struct bit_sum_choice choice = any_choice(2000, 3, true);
        check(&curve_bn254, GROUP_G1, 2000 + prng_below(&rng, 40), 3, (enum points)prng_below(&rng, POINTS_KINDS), (enum bits)kind, &choice);
    }
    sweep_kinds(&curve_bn254, GROUP_G1, 900, true);
    sweep_kinds(&curve_bls12_381, GROUP_G1, 500, true);
    sweep_kinds(&curve_bls12_381, GROUP_G2, 300, true);
    sweep_kinds(&curve_bn254, GROUP_G2, 300, true);
}

/* Every pattern of all bitmaps there are, buckets folded, one bucket with nearly everything, which is cut in pieces. */
static void many_buckets(void **state)
{
    const struct bit_sum_choice all = { 7, 13, 8192 }, pieces = { 2, 7, 4096 };
    (void)state;
    check(&curve_bn254, GROUP_G1, 6000, 7, DISTINCT, RANDOM, &all);
    check(&curve_bn254, GROUP_G1, 4095, 2, DISTINCT, ONES, &pieces);
    check(&curve_bls12_381, GROUP_G2, 1500, 2, FEW, SAME, &pieces);
}

/* Any device, any size: a plan holds what it must and keeps within its share of the memory. */
static void plans(void **state)
{
    unsigned with_patterns = 0;
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct device d;
        const struct curve *c = prng_below(&rng, 2) ? &curve_bn254 : &curve_bls12_381;
        const enum group_id id = prng_below(&rng, 2) ? GROUP_G1 : GROUP_G2;
        const unsigned count = 1 + (unsigned)prng_below(&rng, BIT_SUM_MAX);
        const uint64_t n = 1 + prng_below(&rng, (uint64_t)1 << (1 + prng_below(&rng, 29)));
        struct bit_sum_plan p;
        static const size_t shared[4] = { 64 << 10, 99 << 10, 163 << 10, 227 << 10 };
        memset(&d, 0, sizeof d);
        d.sm_count = (unsigned)(1 + prng_below(&rng, 200));
        d.arena_bytes = (uint64_t)1 << (30 + prng_below(&rng, 8));
        d.shared_bytes = shared[prng_below(&rng, ARRAY_COUNT(shared))];
        OK(cuda_bit_sum_plan(&p, &t, &d, c, id, n, count));
        assert_true(p.workspace_bytes <= d.arena_bytes / 16);
        assert_true(p.chunk_points % 128 == 0 && p.chunk_points > 0);
        const uint64_t chunks = (n + p.chunk_points - 1) / p.chunk_points;
        assert_true(p.part_count >= chunks && p.part_count % chunks == 0);
        if (p.pattern_bits == 0) continue;
        with_patterns++;
        assert_true(p.pattern_bits <= count && p.pattern_bits <= p.bucket_log2 && p.bucket_log2 <= 20);
    }
    assert_true(with_patterns > 20);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(plans),
        cmocka_unit_test_setup_teardown(lists, open_device, close_device),
        cmocka_unit_test_setup_teardown(patterns, open_device, close_device),
        cmocka_unit_test_setup_teardown(many_buckets, open_device, close_device),
    };
    task_init(&t);
    prng_init(&rng);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
