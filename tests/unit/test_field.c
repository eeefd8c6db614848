/* The real fields: identities on edge and random values, in 64-bit limbs, 32-bit limbs and with mulx/adx (three programs). */
#include "support/cm.h"
#include "support/prng.h"

#include "field/bls12_381_fields.h"
#include "field/bn254_fields.h"
#include "field/field_cpu.h"

#define FE       bn254_fr
#define FE_UPPER BN254_FR
#include "unit/field_cases.inc.h"
#undef FE
#undef FE_UPPER
#define FE       bn254_fp
#define FE_UPPER BN254_FP
#include "unit/field_cases.inc.h"
#undef FE
#undef FE_UPPER
#define FE       bls12_381_fr
#define FE_UPPER BLS12_381_FR
#include "unit/field_cases.inc.h"
#undef FE
#undef FE_UPPER
#define FE       bls12_381_fp
#define FE_UPPER BLS12_381_FP
#include "unit/field_cases.inc.h"
#undef FE
#undef FE_UPPER

static void roots(void **state)
{
    struct prng *rng = *state;
    int squares = 0;
    for (int n = 0; n < 60; n++) {
        bls12_381_fp2_t a, s, t;
        a.c0 = bls12_381_fp_case_random(rng);
        a.c1 = bls12_381_fp_case_random(rng);
        if (n % 8 == 1) bls12_381_fp_set_zero(&a.c1);
        if (n % 8 == 2) bls12_381_fp_set_zero(&a.c0);
        const bool square = bls12_381_fp2_sqrt(&s, &a);
        squares += square;
        assert_int_equal(square, bls12_381_fp2_is_square(&a));
        if (square) {
            bls12_381_fp2_sqr(&t, &s);
            assert_true(bls12_381_fp2_eq(&t, &a));
        }
        bls12_381_fp2_sqr(&t, &a);
        assert_true(bls12_381_fp2_sqrt(&s, &t)); /* a or -a */
        bls12_381_fp2_sqr(&s, &s);
        assert_true(bls12_381_fp2_eq(&s, &t));

        bn254_fp_t b = bn254_fp_case_random(rng), c, d;
        bn254_fp_sqr(&c, &b);
        assert_true(bn254_fp_sqrt(&d, &c));
        bn254_fp_neg(&c, &b);
        assert_true(bn254_fp_eq(&d, &b) || bn254_fp_eq(&d, &c));
        assert_true(bn254_fp_is_zero(&b) || bn254_fp_lex_larger(&b) != bn254_fp_lex_larger(&c));
    }
    assert_in_range(squares, 10, 55);
}

#if defined(CUZK_FIELD_ADX)
/* 10^6 random pairs in all: words equal to the portable product's. */
static void adx_is_portable(void **state)
{
    struct prng *rng = *state;
    for (int n = 0; n < 250000; n++) {
        const bn254_fr_t a = bn254_fr_case_random(rng), b = bn254_fr_case_random(rng);
        const bn254_fp_t c = bn254_fp_case_random(rng), d = bn254_fp_case_random(rng);
        const bls12_381_fr_t e = bls12_381_fr_case_random(rng), f = bls12_381_fr_case_random(rng);
        const bls12_381_fp_t g = bls12_381_fp_case_random(rng), h = bls12_381_fp_case_random(rng);
        bn254_fr_t ab[2];
        bn254_fp_t cd[2];
        bls12_381_fr_t ef[2];
        bls12_381_fp_t gh[2];
        bn254_fr_mul(&ab[0], &a, &b);
        bn254_fr_mul_ref(&ab[1], &a, &b);
        bn254_fp_mul(&cd[0], &c, &d);
        bn254_fp_mul_ref(&cd[1], &c, &d);
        bls12_381_fr_mul(&ef[0], &e, &f);
        bls12_381_fr_mul_ref(&ef[1], &e, &f);
        bls12_381_fp_mul(&gh[0], &g, &h);
        bls12_381_fp_mul_ref(&gh[1], &g, &h);
        assert_true(bn254_fr_eq(&ab[0], &ab[1]) && bn254_fp_eq(&cd[0], &cd[1]) && bls12_381_fr_eq(&ef[0], &ef[1]) &&
                    bls12_381_fp_eq(&gh[0], &gh[1]));
    }
    assert_true(field_selftest_adx());
}
#endif

int main(void)
{
    struct prng rng;
    prng_init(&rng);
#define CASE(f) cmocka_unit_test_prestate(f, &rng)
    const struct CMUnitTest tests[] = {
        CASE(bn254_fr_case_identities),        CASE(bn254_fp_case_identities),        CASE(bls12_381_fr_case_identities),
        CASE(bls12_381_fp_case_identities),    CASE(bn254_fr_case_hard_inverses),     CASE(bn254_fp_case_hard_inverses),
        CASE(bls12_381_fr_case_hard_inverses), CASE(bls12_381_fp_case_hard_inverses), CASE(bn254_fr_case_canonical),
        CASE(bn254_fp_case_canonical),         CASE(bls12_381_fr_case_canonical),     CASE(bls12_381_fp_case_canonical),
        CASE(roots),
#if defined(CUZK_FIELD_ADX)
        CASE(adx_is_portable),
#endif
    };
#if defined(CUZK_FIELD_ADX)
    if (!field_cpu_has_adx()) {
        printf("skipped: this CPU has no mulx/adx\n");
        return 0;
    }
#endif
    return cmocka_run_group_tests_name("field", tests, NULL, NULL);
}
