/* The pairing's bodies on the toy curve (p = 19, r = 13): every pair of points, compiled for the target's word size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "curve/toy_points.h"
#include "field/toy_tower.h"
#include "pairing/params_pairing_toy.h"

#define PR         toy
#define PR_UPPER   TOY_PAIRING
#define PR_BN      1
#define PR_D_TWIST 1
#define PR_OPS     pairing_ops_toy
extern const struct pairing_ops pairing_ops_toy;
#include "pairing/pairing.inc.c"

enum { R = 13 };

static struct g_aff g1[R], g2[R]; /* multiples of the generators; [0] is infinity */
static struct gt power[R];        /* e(G1, G2)^i */

static int make_points(void **state)
{
    toy_g1_aff p;
    toy_g2_aff q;
    toy_g1_jac pj;
    toy_g2_jac qj;

    (void)state;
    toy_g1_jac_set_inf(&pj);
    toy_g2_jac_set_inf(&qj);
    for (int i = 0; i < R; i++) {
        toy_g1_jac_to_aff(&p, &pj);
        toy_g2_jac_to_aff(&q, &qj);
        memcpy(g1[i].w, &p, sizeof p);
        memcpy(g2[i].w, &q, sizeof q);
        toy_g1_aff_generator(&p);
        toy_g2_aff_generator(&q);
        toy_g1_jac_add_aff(&pj, &pj, &p);
        toy_g2_jac_add_aff(&qj, &qj, &q);
    }
    if (!toy_g1_jac_is_inf(&pj) || !toy_g2_jac_is_inf(&qj)) return -1; /* both generators have order 13 */

    pairing_ops_toy.product(&power[0], g1, g2, 0);
    pairing_ops_toy.product(&power[1], &g1[1], &g2[1], 1);
    for (int i = 2; i < R; i++) pairing_ops_toy.gt_mul(&power[i], &power[i - 1], &power[1]);
    return 0;
}

static void pairing_has_order_13(void **state)
{
    struct gt last;
    (void)state;
    assert_true(pairing_ops_toy.is_one(&power[0]));
    for (int i = 0; i < R; i++)
        for (int j = 0; j < R; j++) assert_int_equal(pairing_ops_toy.gt_eq(&power[i], &power[j]), i == j);
    pairing_ops_toy.gt_mul(&last, &power[R - 1], &power[1]);
    assert_true(pairing_ops_toy.is_one(&last));
}

static void pairing_is_bilinear(void **state)
{
    (void)state;
    for (int a = 0; a < R; a++)
        for (int b = 0; b < R; b++) {
            struct gt e;
            pairing_ops_toy.product(&e, &g1[a], &g2[b], 1);
            assert_true(pairing_ops_toy.gt_eq(&e, &power[a * b % R]));
        }
}

static void powers_are_repeated_products(void **state)
{
    (void)state;
    for (int i = 0; i < R; i++)
        for (uint64_t e = 0; e < 3 * R; e++) {
            const struct fr_int exponent = { { e, 0, 0, 0 } };
            struct gt x;
            pairing_ops_toy.gt_pow(&x, &power[i], &exponent);
            assert_true(pairing_ops_toy.gt_eq(&x, &power[i * e % R]));
        }
}

/* Every number of pairs around the round size, infinity among them at every place. */
static void products_are_products(void **state)
{
    struct g_aff p[40], q[40];
    (void)state;
    for (size_t count = 0; count <= ARRAY_COUNT(p); count++) {
        struct gt e;
        size_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            const size_t a = (3 * i + count) % R, b = (5 * i + 1) % R;
            p[i] = g1[a];
            q[i] = g2[b];
            sum += a * b;
        }
        pairing_ops_toy.product(&e, p, q, count);
        assert_true(pairing_ops_toy.gt_eq(&e, &power[sum % R]));
    }
}

/* Frobenius maps, cyclotomic squaring and the sparse products against the plain definitions. */
static void shortcuts_agree_with_definitions(void **state)
{
    const uint64_t p[] = { 19 };
    (void)state;
    for (uint64_t seed = 1; seed < 2000; seed++) {
        toy_fp12_t a, b, x, y;
        toy_fp2_t *c = &a.c0.c0;
        for (int i = 0; i < 6; i++) {
            toy_fp_from_u64(&c[i].c0, seed * (uint64_t)(17 * i + 3) + (uint64_t)i);
            toy_fp_from_u64(&c[i].c1, seed * seed * (uint64_t)(5 * i + 1) + seed);
        }
        toy_fp12_pow(&x, &a, p, 1);
        f12_frob1(&y, &a);
        assert_true(toy_fp12_eq(&x, &y));
        toy_fp12_pow(&x, &x, p, 1);
        f12_frob2(&y, &a);
        assert_true(toy_fp12_eq(&x, &y));

        toy_fp12_sqr(&x, &a);
        toy_fp12_mul(&y, &a, &a);
        assert_true(toy_fp12_eq(&x, &y));

        toy_fp12_inv(&b, &a);
        toy_fp12_mul(&x, &a, &b);
        assert_true(toy_fp12_is_zero(&a) || toy_fp12_is_one(&x));
        toy_fp12_conj(&x, &a);
        toy_fp12_mul(&x, &x, &b);
        f12_frob2(&y, &x);
        toy_fp12_mul(&x, &x, &y); /* after the easy part */
        f12_cyclotomic_sqr(&y, &x);
        toy_fp12_sqr(&x, &x);
        assert_true(toy_fp12_eq(&x, &y));

        const struct pr_line line = { c[1], c[3], c[4] };
        const struct pr_g1 at = { c[0].c0, c[2].c1 };
        toy_fp12_t full;
        toy_fp6_set_zero(&full.c0);
        toy_fp6_set_zero(&full.c1);
        f2_mul_f1(&full.c0.c0, &line.py, &at.y);
        f2_mul_f1(&full.c1.c0, &line.px, &at.x);
        full.c1.c1 = line.p0;
        toy_fp12_mul(&x, &a, &full);
        y = a;
        pr_line_mul(&y, &line, &at);
        assert_true(toy_fp12_eq(&x, &y));
    }
}

static void coefficients_are_plain(void **state)
{
    struct fp_int c[12];
    (void)state;
    pairing_ops_toy.gt_to_plain(c, &power[0]);
    for (int i = 0; i < 12; i++) assert_int_equal(c[i].w[0], i == 0);
    pairing_ops_toy.gt_to_plain(c, &power[1]);
    for (int i = 0; i < 12; i++) assert_true(c[i].w[0] < 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairing_has_order_13),
        cmocka_unit_test(pairing_is_bilinear),
        cmocka_unit_test(powers_are_repeated_products),
        cmocka_unit_test(products_are_products),
        cmocka_unit_test(shortcuts_agree_with_definitions),
        cmocka_unit_test(coefficients_are_plain),
    };
    return cmocka_run_group_tests(tests, make_points, NULL);
}
