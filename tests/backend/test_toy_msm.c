/* The CPU's multi-scalar multiplication bound to the toy curve of 13 points: all points, all scalars, all small plans.
 *
 * Compiled twice, with limbs of 64 and of 32 bits.  Batches are made as small as they can be, so that every border case of the sorted
 * lists, chunks and segments occurs with every pair of points: P + P, P - P, infinity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "curve/toy_points.h"
#include "support/prng.h"

#include "backend/cpu/cpu_kernels.h"
#include "base/arena.h"
#include "msm/digits.h"

#define FE  toy_fp
#define AFF toy_cpu
#include "backend/cpu/cpu_affine.inc.c"
#include "backend/cpu/cpu_msm.inc.c"
#undef FE
#undef AFF

enum { ORDER = 13 };

/* -- the toy group as struct group: what the body calls -- */

static toy_g1_jac in(const struct g_jac *p)
{
    toy_g1_jac a;
    memcpy(&a, p, sizeof a);
    return a;
}
static void out(struct g_jac *r, const toy_g1_jac *p) { memcpy(r, p, sizeof *p); }
static toy_g1_aff in_aff(const void *p)
{
    toy_g1_aff a;
    memcpy(&a, p, sizeof a);
    return a;
}
static void jac_set_inf(struct g_jac *r)
{
    toy_g1_jac a;
    toy_g1_jac_set_inf(&a);
    out(r, &a);
}
static void jac_from_aff(struct g_jac *r, const void *p)
{
    const toy_g1_aff a = in_aff(p);
    toy_g1_jac b;
    toy_g1_jac_from_aff(&b, &a);
    out(r, &b);
}
static void jac_to_aff(struct g_aff *r, const struct g_jac *p)
{
    const toy_g1_jac a = in(p);
    toy_g1_aff b;
    toy_g1_jac_to_aff(&b, &a);
    memcpy(r, &b, sizeof b);
}
static void jac_dbl(struct g_jac *r, const struct g_jac *p)
{
    toy_g1_jac a = in(p);
    toy_g1_jac_dbl(&a, &a);
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
    const toy_g1_aff b = in_aff(q);
    toy_g1_jac_add_aff(&a, &a, &b);
    out(r, &a);
}

static struct curve toy;
static toy_g1_aff multiples[ORDER]; /* k times the generator */
static struct prng rng;

/* The scalar modulus may be any multiple of the group's order: large ones give many windows. */
static void toy_init(const uint64_t modulus[4])
{
    memset(&toy, 0, sizeof toy);
    toy.g1.aff_bytes = sizeof(toy_g1_aff);
    toy.g1.jac_set_inf = jac_set_inf;
    toy.g1.jac_from_aff = jac_from_aff;
    toy.g1.jac_to_aff = jac_to_aff;
    toy.g1.jac_dbl = jac_dbl;
    toy.g1.jac_add = jac_add;
    toy.g1.jac_add_aff = jac_add_aff;
    toy.group[GROUP_G1] = &toy.g1;
    memcpy(toy.fr.modulus.w, modulus, sizeof toy.fr.modulus.w);
    toy.fr.bits = digits_bit_length(modulus);
    toy_g1_aff g;
    toy_g1_jac sum;
    toy_g1_aff_generator(&g);
    toy_g1_jac_set_inf(&sum);
    for (int k = 0; k < ORDER; k++) {
        toy_g1_jac_to_aff(&multiples[k], &sum);
        toy_g1_jac_add_aff(&sum, &sum, &g);
    }
    assert_true(toy_g1_jac_is_inf(&sum));
}

static unsigned mod_order(const uint64_t k[4])
{
    unsigned r = 0;
    for (int i = 255; i >= 0; i--) r = (2 * r + (unsigned)((k[i / 64] >> (i % 64)) & 1)) % ORDER;
    return r;
}

struct shape {
    unsigned window_bits, window_group, blocks, threads, chunk;
};

static uint8_t workspace[1 << 21] __attribute__((aligned(64)));

static void check(const struct cpu_team *team, const struct shape *shape, const unsigned *logs,
                  const uint64_t (*scalars)[4], unsigned n)
{
    toy_g1_aff points[64];
    struct msm_plan plan;
    struct msm_layout layout;
    struct g_jac got;
    unsigned expected = 0;
    for (unsigned i = 0; i < n; i++) {
        points[i] = multiples[logs[i]];
        expected = (expected + logs[i] * mod_order(scalars[i])) % ORDER;
    }
    msm_plan_cpu(&plan, &toy, GROUP_G1, n, shape->threads);
    plan.window_bits = shape->window_bits;
    plan.window_count = digits_windows(plan.scalar_bits, plan.window_bits);
    plan.window_group = shape->window_group;
    plan.block_count = shape->blocks;
    plan.chunk_entries = shape->chunk;
    msm_layout(&layout, &plan);
    assert_true(layout.total_bytes <= sizeof workspace);
    const struct cpu_msm_args args = { &plan, (const uint8_t *)points, (const uint8_t *)scalars, NULL,
                                       workspace };
    assert_int_equal(toy_cpu_msm_run(team, &got, &args), CUZK_OK);
    toy_g1_jac jac = in(&got);
    toy_g1_aff affine;
    toy_g1_jac_to_aff(&affine, &jac);
    if (!toy_g1_aff_eq(&affine, &multiples[expected])) {
        for (unsigned i = 0; i < n; i++) print_message("%u * %u G, ", mod_order(scalars[i]), logs[i]);
        fail_msg("window %u, group %u, blocks %u, threads %u, chunk %u", shape->window_bits,
                 shape->window_group, shape->blocks, shape->threads, shape->chunk);
    }
}

static const uint64_t order[4] = { ORDER, 0, 0, 0 };

/* Every assignment of points and scalars to up to two terms, and of fewer points to three. */
static void exhaustive(void **state)
{
    static const struct shape shapes[] = { { 2, 2, 1, 1, 2 }, { 3, 1, 1, 1, 3 }, { 4, 1, 2, 3, 2 } };
    static const unsigned few[] = { 0, 1, 2, 11, 12 };
    struct task t;
    (void)state;
    task_init(&t);
    toy_init(order);
    for (size_t s = 0; s < ARRAY_COUNT(shapes); s++) {
        const struct cpu_team team = { &t, NULL, shapes[s].threads };
        uint64_t k[3][4] = { { 0 } };
        unsigned logs[3];
        for (unsigned a = 0; a < ORDER * ORDER; a++) {
            logs[0] = a / ORDER;
            k[0][0] = a % ORDER;
            check(&team, &shapes[s], logs, (const uint64_t(*)[4])k, 1);
            for (unsigned b = 0; b < ORDER * ORDER; b++) {
                logs[1] = b / ORDER;
                k[1][0] = b % ORDER;
                check(&team, &shapes[s], logs, (const uint64_t(*)[4])k, 2);
            }
        }
        for (unsigned p = 0; p < 125; p++)
            for (unsigned x = 0; x < ORDER * ORDER * ORDER; x += s == 0 ? 1 : 7) {
                for (unsigned i = 0, q = p, y = x; i < 3; i++, q /= 5, y /= ORDER) {
                    logs[i] = few[q % 5];
                    k[i][0] = y % ORDER;
                }
                check(&team, &shapes[s], logs, (const uint64_t(*)[4])k, 3);
            }
    }
}

/* Random sums of up to 64 terms through every shape, with scalars of up to 254 bits. */
static void shapes_at_random(void **state)
{
    struct task t;
    struct pool *pool;
    (void)state;
    task_init(&t);
    assert_int_equal(pool_create(&pool, &t, 3), CUZK_OK);
    for (int round = 0; round < 6000; round++) {
        uint64_t modulus[4] = { 0 };
        if (round % 2) { /* a random multiple of the order */
            uint64_t carry = 0;
            const unsigned words = 1 + (unsigned)prng_below(&rng, 4);
            for (unsigned i = 0; i < words; i++) {
                const uint64_t x = prng_u64(&rng) >> (i == 3 ? 5 : 4);
                modulus[i] = x * ORDER + carry;
                carry = (uint64_t)(((unsigned __int128)x * ORDER + carry) >> 64);
            }
            if (words < 4) modulus[words] = carry;
        } else {
            modulus[0] = ORDER;
        }
        if (modulus[3] >> 63 || (modulus[0] | modulus[1] | modulus[2] | modulus[3]) == 0) continue;
        toy_init(modulus);
        const struct shape shape = { 2 + (unsigned)prng_below(&rng, 6), 1 + (unsigned)prng_below(&rng, 4),
                                     1 + (unsigned)prng_below(&rng, 4), 1 + (unsigned)prng_below(&rng, 3),
                                     2 + (unsigned)prng_below(&rng, 9) };
        const struct cpu_team team = { &t, pool, shape.threads };
        unsigned logs[64];
        uint64_t k[64][4];
        const unsigned n = (unsigned)prng_below(&rng, 65), few = 1 + (unsigned)prng_below(&rng, ORDER);
        for (unsigned i = 0; i < n; i++) {
            logs[i] = (unsigned)prng_below(&rng, few);
            do {
                prng_bytes(&rng, k[i], sizeof k[i]);
                for (unsigned w = 3; w > 0 && modulus[w] == 0; w--) k[i][w] = 0;
                if (prng_below(&rng, 3) == 0) k[i][1] = k[i][2] = k[i][3] = 0, k[i][0] &= 7;
                if (toy.fr.bits < 64) k[i][0] %= modulus[0];
            } while (!digits_is_below(k[i], modulus));
        }
        check(&team, &shape, logs, (const uint64_t(*)[4])k, n);
    }
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = { cmocka_unit_test(exhaustive), cmocka_unit_test(shapes_at_random) };
    prng_init(&rng);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
