/* The CPU's tables of operations against one another: portable, mulx/adx and AVX-512; tabled and computed twiddles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backend/cpu/cpu_kernels.h"
#include "support/prng.h"

#include <stdlib.h>

enum { LOG2_MAX = 15, SIZE_MAX_ELEMENTS = 1 << LOG2_MAX };

static struct prng rng;
static struct fr in[2][SIZE_MAX_ELEMENTS], work[3][SIZE_MAX_ELEMENTS], expected[SIZE_MAX_ELEMENTS],
    table[SIZE_MAX_ELEMENTS];

struct set {
    const struct curve *curve;
    const struct cpu_kernels *kernels[3];
};

static const struct set sets[] = {
#if defined(__x86_64__)
    { &curve_bn254, { &cpu_bn254_portable, &cpu_bn254_adx, &cpu_bn254_ifma } },
    { &curve_bls12_381, { &cpu_bls12_381_portable, &cpu_bls12_381_adx, &cpu_bls12_381_ifma } },
#else
    { &curve_bn254, { &cpu_bn254_portable } },
    { &curve_bls12_381, { &cpu_bls12_381_portable } },
#endif
};

static void random_elements(const struct curve *c, struct fr *out, size_t n)
{
    for (size_t i = 0; i < n; i++) do {
            prng_bytes(&rng, &out[i], sizeof out[i]);
            out[i].w[3] &= UINT64_MAX >> 1;
        } while (!c->fr.int_is_canonical((const struct fr_int *)(const void *)&out[i]));
}

/* One transform or quotient by one table, levels above table_log2 computed; the result is left in work[0]. */
static void run(const struct cpu_kernels *k, const struct domain *d, unsigned table_log2, int what)
{
    struct task t;
    struct fr root;
    task_init(&t);
    const struct cpu_team team = { &t, NULL, 1 };
    const size_t bytes = (size_t)d->size * sizeof in[0][0];
    d->curve->fr.root(&root, d->convention, table_log2);
    assert_int_equal(k->ntt_table(&team, table, table_log2, &root), CUZK_OK);
    memcpy(work[0], in[0], bytes);
    memcpy(work[1], in[1], bytes);
    if (what < 4) {
        assert_int_equal(k->ntt(&team, d, table, table_log2, work[0], what & 1, what & 2), CUZK_OK);
    } else {
        const struct quotient_plan p = { .domain = *d,
                                         .mode =
                                             what == 4 ? QUOTIENT_ODD_COSET_LAGRANGE : QUOTIENT_MONOMIAL };
        assert_int_equal(
            k->quotient(&team, &p, table, table_log2, (uint8_t *)work[0], work[0], work[1], work[2]),
            CUZK_OK);
    }
}

static void tables_agree(void **state)
{
    static const unsigned sizes[] = { 5, 12, 13, 14, 15 };
    (void)state;
    for (size_t s = 0; s < ARRAY_COUNT(sets); s++)
        for (size_t l = 0; l < ARRAY_COUNT(sizes); l++)
            for (int what = 0; what < 6; what++) {
                struct task t;
                struct domain d;
                task_init(&t);
                assert_int_equal(
                    domain_init(&d, &t, sets[s].curve, l & 1 ? ROOT_BELLMAN : ROOT_SNARKJS, sizes[l]),
                    CUZK_OK);
                random_elements(sets[s].curve, in[0], (size_t)d.size);
                random_elements(sets[s].curve, in[1], (size_t)d.size);
                run(sets[s].kernels[0], &d, sizes[l], what);
                memcpy(expected, work[0], (size_t)d.size * sizeof *expected);
                for (size_t k = 0; k < ARRAY_COUNT(sets[s].kernels); k++) {
                    if (!sets[s].kernels[k] || !sets[s].kernels[k]->usable()) continue;
                    for (unsigned table_log2 = sizes[l] < NTT_BLOCK_LOG2 ? sizes[l] : NTT_BLOCK_LOG2;
                         table_log2 <= sizes[l]; table_log2++) {
                        run(sets[s].kernels[k], &d, table_log2, what);
                        assert_memory_equal(work[0], expected, (size_t)d.size * sizeof *expected);
                    }
                }
            }
}

/* Sums by every table, over points among which are infinity, equal ones and opposite ones, with scalars full, small and equal. */
static void sums_agree(void **state)
{
    enum { COUNT = 3000 };
    (void)state;
    for (size_t s = 0; s < ARRAY_COUNT(sets); s++)
        for (int group = 0; group < 2; group++)
            for (int what = 0; what < 3; what++) {
                const struct curve *c = sets[s].curve;
                const struct group *g = c->group[group];
                struct msm_plan plan;
                struct g_jac sum[2], walk;
                struct g_aff generator, one;
                struct task t;
                task_init(&t);
                const struct cpu_team team = { &t, NULL, 1 };
                msm_plan_cpu(&plan, c, (enum group_id)group, COUNT, 1);
                uint8_t *const points = malloc(COUNT * g->aff_bytes);
                void *const workspace = aligned_alloc(64, (plan.workspace_bytes + 63) / 64 * 64);
                assert_true(points && workspace);
                generator = g->generator;
                g->jac_from_aff(&walk, &generator);
                for (size_t i = 0; i < COUNT; i++) {
                    uint8_t *const p = points + i * g->aff_bytes;
                    const uint64_t dice = prng_u64(&rng) % 8;
                    g->jac_to_aff(&one, &walk);
                    memcpy(p, &one, g->aff_bytes);
                    if (dice == 0) memset(p, 0, g->aff_bytes);
                    if (dice > 2) g->jac_add_aff(&walk, &walk, &generator);
                    if (dice == 3) g->jac_neg(&walk, &walk);
                }
                random_elements(c, in[0], COUNT);
                for (size_t i = 0; i < COUNT && what; i++) {
                    if (what == 2) in[0][i] = in[0][0];
                    if (what == 1) memset(&in[0][i].w[1], 0, 24);
                    if (what == 1) in[0][i].w[0] %= 300;
                }
                const struct cpu_msm_args args = { &plan, points, (const uint8_t *)in[0], NULL, workspace };
                for (size_t k = 0; k < ARRAY_COUNT(sets[s].kernels); k++) {
                    if (!sets[s].kernels[k] || !sets[s].kernels[k]->usable()) continue;
                    assert_int_equal(sets[s].kernels[k]->msm[group](&team, &sum[k > 0], &args), CUZK_OK);
                    assert_true(k == 0 || g->jac_eq(&sum[0], &sum[1]));
                }
                assert_false(g->jac_is_inf(&sum[0]));
                free(points);
                free(workspace);
            }
}

int main(void)
{
    const struct CMUnitTest cases[] = { cmocka_unit_test(tables_agree), cmocka_unit_test(sums_agree) };
    prng_init(&rng);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
