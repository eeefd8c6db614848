/* Every operation of the toy fields F13, F19 and F361 on every input; compiled for 64-bit and for 32-bit limbs. */
#include "support/cm.h"

#include "field/toy_fields.h"

#include <string.h>

#define FE          toy_fr
#define FE_UPPER    TOY_FR
#define FE_HAS_ROOT 0
#include "exhaustive/exhaust_prime.inc.h"
#undef FE
#undef FE_UPPER
#undef FE_HAS_ROOT

#define FE          toy_fp
#define FE_UPPER    TOY_FP
#define FE_HAS_ROOT 1
#include "exhaustive/exhaust_prime.inc.h"
#undef FE
#undef FE_UPPER
#undef FE_HAS_ROOT

/* -- F361 = F19[u] / (u^2 + 1), as pairs of integers -- */

enum { Q = 19, N = Q * Q };

static toy_fp2_t of(unsigned n)
{
    toy_fp2_t r;
    toy_fp_from_u64(&r.c0, n % Q);
    toy_fp_from_u64(&r.c1, n / Q);
    return r;
}

static unsigned value(const toy_fp2_t *a) { return toy_fp_exhaust_value(&a->c0) + Q * toy_fp_exhaust_value(&a->c1); }

static unsigned product(unsigned a, unsigned b)
{
    const unsigned a0 = a % Q, a1 = a / Q, b0 = b % Q, b1 = b / Q;
    return (a0 * b0 + (Q - a1) * b1) % Q + Q * ((a0 * b1 + a1 * b0) % Q);
}

static void extension_pairs(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j < N; j++) {
            const toy_fp2_t a = of(i), b = of(j);
            toy_fp2_t r;
            toy_fp2_mul(&r, &a, &b);
            assert_int_equal(value(&r), product(i, j));
            r = a;
            toy_fp2_mul(&r, &r, &b);
            assert_int_equal(value(&r), product(i, j));
            r = b;
            toy_fp2_mul(&r, &a, &r);
            assert_int_equal(value(&r), product(i, j));
            toy_fp2_add(&r, &a, &b);
            assert_int_equal(value(&r), (i % Q + j % Q) % Q + Q * ((i / Q + j / Q) % Q));
            toy_fp2_sub(&r, &r, &b);
            assert_true(toy_fp2_eq(&r, &a));
            assert_int_equal(toy_fp2_eq(&a, &b), i == j);
            if (j < Q) {
                toy_fp2_mul_base(&r, &a, &b.c0);
                assert_int_equal(value(&r), product(i, j));
            }
        }
}

static void extension_singles(void **state)
{
    (void)state;
    bool square[N] = { false };
    for (unsigned i = 0; i < N; i++) square[product(i, i)] = true;
    for (unsigned i = 0; i < N; i++) {
        const toy_fp2_t a = of(i);
        toy_fp2_t r, s;
        toy_fp2_sqr(&r, &a);
        assert_int_equal(value(&r), product(i, i));
        r = a;
        toy_fp2_sqr(&r, &r);
        assert_int_equal(value(&r), product(i, i));
        toy_fp2_inv(&r, &a);
        assert_int_equal(product(value(&r), i), i != 0);
        toy_fp2_neg(&r, &a);
        toy_fp2_add(&r, &r, &a);
        assert_true(toy_fp2_is_zero(&r));
        toy_fp2_dbl(&r, &a);
        toy_fp2_halve(&r, &r);
        assert_int_equal(value(&r), i);
        assert_int_equal(toy_fp2_is_zero(&a), i == 0);
        assert_int_equal(toy_fp2_is_one(&a), i == 1);
        const uint64_t p = Q;
        toy_fp2_pow(&r, &a, &p, 1);
        toy_fp2_frob(&s, &a);
        assert_true(toy_fp2_eq(&r, &s));
        assert_int_equal(toy_fp2_is_square(&a), square[i]);
        assert_int_equal(toy_fp2_sqrt(&r, &a), square[i]);
        if (square[i]) assert_int_equal(product(value(&r), value(&r)), i);
        r = a;
        assert_int_equal(toy_fp2_sqrt(&r, &r), square[i]);
        if (square[i]) assert_int_equal(product(value(&r), value(&r)), i);
        toy_fp2_neg(&r, &a);
        if (i != 0) assert_true(toy_fp2_lex_larger(&a) != toy_fp2_lex_larger(&r));
        else assert_false(toy_fp2_lex_larger(&a));
        assert_int_equal(toy_fp2_lex_larger(&a), i / Q != 0 ? i / Q > Q / 2 : i % Q > Q / 2);
        uint8_t bytes[sizeof a];
        uint64_t plain[4];
        toy_fp2_store_be(bytes, &a);
        assert_int_equal(load_be64(bytes), i / Q);
        assert_int_equal(load_be64(bytes + 8), i % Q);
        assert_true(toy_fp2_load_be(&r, bytes) && toy_fp2_eq(&r, &a));
        store_be64(bytes, Q);
        assert_false(toy_fp2_load_be(&r, bytes));
        toy_fp2_to_plain(plain, 2, &a);
        assert_true(plain[0] == i % Q && plain[2] == i / Q && plain[1] == 0 && plain[3] == 0);
        assert_true(toy_fp2_from_plain(&r, plain, 2) && toy_fp2_eq(&r, &a));
        toy_fp2_store(bytes, &a);
        toy_fp2_load(&r, bytes);
        assert_true(toy_fp2_eq(&r, &a));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toy_fr_exhaust_pairs),   cmocka_unit_test(toy_fr_exhaust_singles), cmocka_unit_test(toy_fr_exhaust_conversions),
        cmocka_unit_test(toy_fr_exhaust_batches), cmocka_unit_test(toy_fp_exhaust_pairs),   cmocka_unit_test(toy_fp_exhaust_singles),
        cmocka_unit_test(toy_fp_exhaust_conversions), cmocka_unit_test(toy_fp_exhaust_batches),
        cmocka_unit_test(extension_pairs),        cmocka_unit_test(extension_singles),
    };
    return cmocka_run_group_tests_name("toy_field", tests, NULL, NULL);
}
