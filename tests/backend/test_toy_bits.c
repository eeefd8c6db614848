/* The CPU's sums over bitmaps bound to the toy curve of 13 points: all points under all bitmaps, and every shape of chunks and parts.
 *
 * Compiled twice, with limbs of 64 and of 32 bits.  Trees end at as few as one point, so that every pair of points, P + P, P - P and
 * infinity among them, meets on every level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "curve/toy_points.h"
#include "support/prng.h"

#include "backend/cpu/cpu_kernels.h"
#include "base/arena.h"

#define FE  toy_fp
#define AFF toy_cpu
#include "backend/cpu/cpu_affine.inc.c"
#include "backend/cpu/cpu_bits.inc.c"
#undef FE
#undef AFF

enum { ORDER = 13, MOST = 300 };

/* -- the toy group as struct group: what the body calls -- */

static toy_g1_jac in(const struct g_jac *p)
{
    toy_g1_jac a;
    memcpy(&a, p, sizeof a);
    return a;
}
static void out(struct g_jac *r, const toy_g1_jac *p) { memcpy(r, p, sizeof *p); }
static void jac_set_inf(struct g_jac *r)
{
    toy_g1_jac a;
    toy_g1_jac_set_inf(&a);
    out(r, &a);
}
static void jac_add(struct g_jac *r, const struct g_jac *p, const struct g_jac *q)
{
    toy_g1_jac a = in(p);
    const toy_g1_jac b = in(q);
    toy_g1_jac_add(&a, &a, &b);
    out(r, &a);
}
static void jac_add_aff(struct g_jac *r, const struct g_jac *p, const void *q)
{
    toy_g1_jac a = in(p);
    toy_g1_aff b;
    memcpy(&b, q, sizeof b);
    toy_g1_jac_add_aff(&a, &a, &b);
    out(r, &a);
}

static struct curve toy;
static toy_g1_aff multiples[ORDER]; /* k times the generator */
static struct prng rng;

static void toy_init(void)
{
    toy_g1_aff g;
    toy_g1_jac sum;
    toy.g1.aff_bytes = sizeof(toy_g1_aff);
    toy.g1.jac_set_inf = jac_set_inf;
    toy.g1.jac_add = jac_add;
    toy.g1.jac_add_aff = jac_add_aff;
    toy.group[GROUP_G1] = &toy.g1;
    toy_g1_aff_generator(&g);
    toy_g1_jac_set_inf(&sum);
    for (int k = 0; k < ORDER; k++) {
        toy_g1_jac_to_aff(&multiples[k], &sum);
        toy_g1_jac_add_aff(&sum, &sum, &g);
    }
    assert_true(toy_g1_jac_is_inf(&sum));
}

struct shape {
    unsigned chunk, keep, parts, threads;
};

static uint8_t workspace[1 << 20] __attribute__((aligned(64)));

/* bitmaps: bitmap_bytes(n) apart */
static void check(const struct cpu_team *team, const struct shape *shape, const unsigned *logs, const uint32_t *bitmaps, unsigned n, unsigned count)
{
    toy_g1_aff points[MOST];
    struct bit_sum_plan plan;
    struct bit_layout layout;
    struct g_jac got[BIT_SUM_MAX];
    for (unsigned i = 0; i < n; i++) points[i] = multiples[logs[i]];
    bit_plan_cpu(&plan, &toy, GROUP_G1, n, count, shape->threads);
    plan.chunk_points = shape->chunk;
    plan.keep_points = shape->keep;
    plan.part_count = shape->parts;
    bit_layout(&layout, &plan);
    assert_true(layout.total_bytes <= sizeof workspace);
    const struct cpu_bits_args args = { &plan, (const uint8_t *)points, (const uint8_t *)bitmaps, workspace };
    assert_int_equal(toy_cpu_bits_all(team, got, &args), CUZK_OK);
    for (unsigned k = 0; k < count; k++) {
        const uint32_t *const bitmap = bitmaps + k * plan.bitmap_bytes / 4;
        unsigned expected = 0;
        toy_g1_aff affine;
        const toy_g1_jac jac = in(&got[k]);
        for (unsigned i = 0; i < n; i++)
            if (bitmap[i / 32] >> (i % 32) & 1) expected = (expected + logs[i]) % ORDER;
        toy_g1_jac_to_aff(&affine, &jac);
        if (!toy_g1_aff_eq(&affine, &multiples[expected]))
            fail_msg("%u points, bitmap %u of %u, chunks of %u, %u kept, %u parts", n, k, count, shape->chunk, shape->keep, shape->parts);
    }
}

/* Every choice of up to three points under every bitmap, and four and five of the hostile ones. */
static void exhaustive(void **state)
{
    static const struct shape shapes[] = { { 32, 1, 1, 1 }, { 32, 2, 1, 1 }, { 32, 32, 1, 1 } };
    static const unsigned few[] = { 0, 1, 12, 2 };
    struct task t;
    (void)state;
    task_init(&t);
    const struct cpu_team team = { &t, NULL, 1 };
    for (size_t s = 0; s < ARRAY_COUNT(shapes); s++)
        for (unsigned n = 1; n <= 5; n++) {
            const unsigned kinds = n <= 3 ? ORDER : ARRAY_COUNT(few);
            unsigned all = 1;
            for (unsigned i = 0; i < n; i++) all *= kinds;
            for (unsigned x = 0; x < all; x++) {
                unsigned logs[5];
                for (unsigned i = 0, y = x; i < n; i++, y /= kinds) logs[i] = n <= 3 ? y % kinds : few[y % kinds];
                for (unsigned first = 0; first < 1u << n; first += 8) { /* eight bitmaps a sweep */
                    uint32_t bitmaps[8 * 4] = { 0 };
                    const unsigned count = 1u << n < 8 ? 1u << n : 8;
                    for (unsigned k = 0; k < count; k++) bitmaps[4 * k] = (first + k) | ~0u << n; /* what lies behind is ignored */
                    check(&team, &shapes[s], logs, bitmaps, n, count);
                }
            }
        }
}

static void shapes_at_random(void **state)
{
    struct task t;
    struct pool *pool;
    (void)state;
    task_init(&t);
    assert_int_equal(pool_create(&pool, &t, 3), CUZK_OK);
    for (int round = 0; round < 4000; round++) {
        const struct shape shape = { 32 + 32 * (unsigned)prng_below(&rng, 4), 1 + (unsigned)prng_below(&rng, 40), 1 + (unsigned)prng_below(&rng, 5),
                                     1 + (unsigned)prng_below(&rng, 3) };
        const struct cpu_team team = { &t, pool, shape.threads };
        const unsigned n = (unsigned)prng_below(&rng, MOST + 1), few = 1 + (unsigned)prng_below(&rng, ORDER),
                       count = 1 + (unsigned)prng_below(&rng, BIT_SUM_MAX), density = (unsigned)prng_below(&rng, 257);
        unsigned logs[MOST];
        uint32_t bitmaps[BIT_SUM_MAX * 12];
        prng_bytes(&rng, bitmaps, sizeof bitmaps);
        for (unsigned i = 0; i < n; i++) logs[i] = (unsigned)prng_below(&rng, few) * (1 + 11 * (unsigned)(prng_u64(&rng) & 1)) % ORDER; /* P or -P */
        for (unsigned i = 0; i < 32 * ARRAY_COUNT(bitmaps); i++)
            if (prng_below(&rng, 256) >= density) bitmaps[i / 32] &= ~((uint32_t)1 << (i % 32));
        check(&team, &shape, logs, bitmaps, n, count);
    }
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = { cmocka_unit_test(exhaustive), cmocka_unit_test(shapes_at_random) };
    prng_init(&rng);
    toy_init();
    return cmocka_run_group_tests(cases, NULL, NULL);
}
