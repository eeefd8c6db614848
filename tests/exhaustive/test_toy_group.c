/* Both groups of the toy curve (13 points of G1, 325 of the twist): every pair, every operation; for 64-bit and for 32-bit limbs. */
#include "support/cm.h"

#include "curve/curve.h"
#include "curve/toy_points.h"

static toy_fp_t base_coordinate(unsigned n)
{
    toy_fp_t r;
    toy_fp_from_u64(&r, n);
    return r;
}

static toy_fp2_t extension_coordinate(unsigned n)
{
    toy_fp2_t r;
    r.c0 = base_coordinate(n % 19);
    r.c1 = base_coordinate(n / 19);
    return r;
}

static unsigned base_index(const toy_fp_t *a)
{
    toy_fp_int x;
    toy_fp_to_int(&x, a);
    return (unsigned)x.l[0];
}

static unsigned extension_index(const toy_fp2_t *a) { return base_index(&a->c0) + 19 * base_index(&a->c1); }

#define FE           toy_fp
#define PT           toy_g1
#define PT_UPPER     TOY_G1
#define PT_HAS_ZCASH 1
#define GROUP_POINTS 13
#define COORDINATES  19u
#define coordinate   base_coordinate
#define coordinate_index base_index
#include "curve/encode.inc.h"
#include "exhaustive/exhaust_group.inc.h"
#undef FE
#undef PT
#undef PT_UPPER
#undef GROUP_POINTS
#undef COORDINATES
#undef coordinate
#undef coordinate_index

#define FE           toy_fp2
#define PT           toy_g2
#define PT_UPPER     TOY_G2
#define GROUP_POINTS 325
#define COORDINATES  361u
#define coordinate   extension_coordinate
#define coordinate_index extension_index
#include "curve/encode.inc.h"
#include "exhaustive/exhaust_group.inc.h"

#undef FE
#undef PT
#undef PT_UPPER
#define FE       toy_fp
#define PT       toy_g1
#define PT_UPPER TOY_G1
#include "curve/glv.inc.h"
#undef FE
#undef PT
#undef PT_UPPER

/* Every point times every scalar by the endomorphism, and every butterfly. */
static void endomorphism(void **state)
{
    const struct glv_lattice lattice = TOY_G1_GLV;
    toy_g1_aff generator, point[13];
    toy_g1_jac sum, expected, difference, term;
    struct glv_scalar split;

    (void)state;
    toy_g1_aff_generator(&generator);
    for (uint64_t i = 0; i < 13; i++) {
        toy_g1_jac_from_aff(&sum, &generator);
        toy_g1_jac_mul_u64(&sum, &sum, i);
        toy_g1_jac_to_aff(&point[i], &sum);
    }
    for (uint64_t k = 0; k < 13; k++) {
        const uint64_t words[4] = { k, 0, 0, 0 };
        glv_split(&split, &lattice, words);
        for (uint64_t i = 0; i < 13; i++) {
            toy_g1_glv_mul(&sum, &point[i], &split);
            toy_g1_jac_from_aff(&expected, &point[i * k % 13]);
            assert_true(toy_g1_jac_eq(&sum, &expected));
            for (uint64_t u = 0; u < 13; u++) {
                toy_g1_glv_butterfly(&sum, &difference, &point[u], &point[i], k == 1 ? NULL : &split);
                toy_g1_jac_from_aff(&term, &point[(u + i * k) % 13]);
                assert_true(toy_g1_jac_eq(&sum, &term));
                toy_g1_jac_from_aff(&term, &point[(u + 13 * 13 - i * k) % 13]);
                assert_true(toy_g1_jac_eq(&difference, &term));
            }
        }
    }
}

/* psi maps the twist to itself, respects addition, and multiplies the subgroup by p. */
static void psi(void **state)
{
    (void)state;
    const uint64_t p = 19;
    for (unsigned i = 0; i < 325; i++) {
        toy_g2_jac a, r, s;
        toy_g2_aff image;
        toy_g2_jac_from_aff(&a, &toy_g2_exhaust_point[i]);
        toy_g2_psi(&r, &a);
        toy_g2_jac_to_aff(&image, &r);
        assert_true(toy_g2_aff_on_curve(&image));
        if (toy_g2_in_subgroup(&toy_g2_exhaust_point[i])) {
            toy_g2_jac_mul(&s, &a, &p, 1);
            assert_true(toy_g2_jac_eq(&r, &s));
        }
        const unsigned j = i * 7 % 325;
        toy_g2_jac b;
        toy_g2_jac_from_aff(&b, &toy_g2_exhaust_point[j]);
        toy_g2_psi(&b, &b);
        toy_g2_jac_add(&r, &r, &b);
        toy_g2_jac_from_aff(&s, &toy_g2_exhaust_point[toy_g2_exhaust_sum[i][j]]);
        toy_g2_psi(&s, &s);
        assert_true(toy_g2_jac_eq(&r, &s));
    }
}

static int setup(void **state) { return toy_g1_exhaust_setup(state) || toy_g2_exhaust_setup(state); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toy_g1_exhaust_pairs),   cmocka_unit_test(toy_g1_exhaust_singles),   cmocka_unit_test(toy_g1_exhaust_scalars),
        cmocka_unit_test(toy_g1_exhaust_batches), cmocka_unit_test(toy_g1_exhaust_encodings), cmocka_unit_test(toy_g2_exhaust_pairs),
        cmocka_unit_test(toy_g2_exhaust_singles), cmocka_unit_test(toy_g2_exhaust_scalars),   cmocka_unit_test(toy_g2_exhaust_batches),
        cmocka_unit_test(toy_g2_exhaust_encodings), cmocka_unit_test(endomorphism), cmocka_unit_test(psi),
    };
    return cmocka_run_group_tests_name("toy_group", tests, setup, NULL);
}
