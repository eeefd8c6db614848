/* Every input of a prime field of at most a few dozen elements, against integer arithmetic.
 *
 * Takes  FE, FE_UPPER as prime.inc.h      FE_HAS_ROOT  1 if prime_root.inc.h is bound */
#include "field/fe_names.h"

#define NAME(n) CAT(FE, _exhaust_##n)

static const uint64_t NAME(modulus)[CAT(FE_UPPER, _WORDS)] = CAT(FE_UPPER, _P_64);
#define P ((unsigned)NAME(modulus)[0])

static fe_t NAME(of)(unsigned v)
{
    fe_t r;
    fe_from_u64(&r, v);
    return r;
}

static unsigned NAME(value)(const fe_t *a)
{
    fe_int x;
    assert_true(fe_is_canonical(a));
    fe_to_int(&x, a);
    assert_true(x.l[0] < P);
    return (unsigned)x.l[0];
}

static unsigned NAME(power)(unsigned a, unsigned e)
{
    unsigned r = 1;
    while (e-- > 0) r = r * a % P;
    return r;
}

static void NAME(pairs)(void **state)
{
    (void)state;
    for (unsigned i = 0; i < P; i++)
        for (unsigned j = 0; j < P; j++) {
            const fe_t a = NAME(of)(i), b = NAME(of)(j);
            fe_t r;
            fe_add(&r, &a, &b);
            assert_int_equal(NAME(value)(&r), (i + j) % P);
            fe_sub(&r, &a, &b);
            assert_int_equal(NAME(value)(&r), (i + P - j) % P);
            fe_mul(&r, &a, &b);
            assert_int_equal(NAME(value)(&r), i * j % P);
            fe_mul_ref(&r, &a, &b);
            assert_int_equal(NAME(value)(&r), i * j % P);
            assert_int_equal(fe_eq(&a, &b), i == j);
            r = a; /* aliases */
            fe_mul(&r, &r, &b);
            fe_sub(&r, &r, &b);
            fe_add(&r, &b, &r);
            assert_int_equal(NAME(value)(&r), i * j % P);
            for (int flag = 0; flag < 2; flag++) {
                r = a;
                fe_cmov(&r, &b, flag);
                assert_int_equal(NAME(value)(&r), flag ? j : i);
            }
            fe_int x = { { i } }, y = { { j } };
            assert_int_equal(fe_int_cmp(&x, &y), (i > j) - (i < j));
        }
}

static void NAME(singles)(void **state)
{
    (void)state;
    for (unsigned i = 0; i < P; i++) {
        const fe_t a = NAME(of)(i);
        fe_t r;
        assert_int_equal(NAME(value)(&a), i);
        assert_int_equal(fe_is_zero(&a), i == 0);
        assert_int_equal(fe_is_one(&a), i == 1);
        fe_neg(&r, &a);
        assert_int_equal(NAME(value)(&r), (P - i) % P);
        fe_dbl(&r, &a);
        assert_int_equal(NAME(value)(&r), 2 * i % P);
        fe_halve(&r, &a);
        assert_int_equal(2 * NAME(value)(&r) % P, i);
        fe_sqr(&r, &a);
        assert_int_equal(NAME(value)(&r), i * i % P);
        fe_inv(&r, &a);
        assert_int_equal(i * NAME(value)(&r) % P, i != 0);
        r = a;
        fe_inv(&r, &r);
        assert_int_equal(i * NAME(value)(&r) % P, i != 0);
        for (uint64_t e = 0; e < 70; e++) {
            fe_pow(&r, &a, &e, 1);
            assert_int_equal(NAME(value)(&r), NAME(power)(i, (unsigned)e));
        }
        bool square = false;
        for (unsigned j = 0; j < P; j++) square |= j * j % P == i;
        assert_int_equal(fe_is_square(&a), square);
#if FE_HAS_ROOT
        assert_int_equal(fe_sqrt(&r, &a), square);
        if (square) {
            const unsigned root = NAME(value)(&r);
            assert_int_equal(root * root % P, i);
        }
        assert_int_equal(fe_lex_larger(&a), i > (P - 1) / 2);
#endif
    }
}

/* Every integer of 12 bits, the largest ones, and both forms of bytes. */
static void NAME(conversions)(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 8192; n++) {
        const uint64_t v = n < 4096 ? n : UINT64_MAX - (n - 4096);
        const unsigned expected = (unsigned)(v % P);
        const fe_int x = { { v } };
        uint8_t bytes[sizeof(fe_t)], back[sizeof(fe_t)];
        uint64_t plain[3] = { v, 0, 0 }, plain_back[3];
        fe_t r;
        fe_from_int(&r, &x);
        assert_int_equal(NAME(value)(&r), expected);
        fe_from_u64(&r, v);
        assert_int_equal(NAME(value)(&r), expected);
        assert_int_equal(fe_int_is_canonical(&x), v < P);
        fe_load_int((fe_int *)&r, (const uint8_t *)&v); /* the same words taken as Montgomery form */
        assert_int_equal(fe_is_canonical(&r), v < P);
        store_be64(bytes, v);
        assert_int_equal(fe_load_be(&r, bytes), v < P);
        assert_int_equal(NAME(value)(&r), v < P ? expected : 0);
        fe_store_be(back, &r);
        assert_int_equal(memcmp(back, bytes, sizeof back) == 0, v < P);
        assert_int_equal(fe_from_plain(&r, plain, 3), v < P);
        fe_to_plain(plain_back, 3, &r);
        assert_int_equal(memcmp(plain_back, plain, sizeof plain) == 0, v < P);
        plain[2] = 1;
        assert_false(fe_from_plain(&r, plain, 3));
        for (uint64_t high = 0; high < 3; high++) { /* low + high 2^64 */
            const uint64_t w[2] = { v, high == 2 ? UINT64_MAX : high };
            const unsigned r64 = (unsigned)(UINT64_MAX % P + 1) % P;
            fe_from_wide(&r, w);
            assert_int_equal(NAME(value)(&r), (expected + (unsigned)(w[1] % P) * r64) % P);
        }
    }
}

/* Around the chunk's size, with zeros in every place. */
static void NAME(batches)(void **state)
{
    (void)state;
    static fe_t a[600], b[600];
    for (size_t count = 0; count <= 600; count += count < 20 ? 1 : 97) {
        for (unsigned step = 0; step < P; step++) { /* step 0: all the same; start 0 of it: all zero */
            for (size_t i = 0; i < count; i++) a[i] = b[i] = NAME(of)((unsigned)(step * i + count) % P);
            fe_batch_inv(a, count);
            for (size_t i = 0; i < count; i++) {
                fe_t t;
                fe_inv(&t, &b[i]);
                assert_true(fe_eq(&a[i], &t));
            }
        }
    }
    const fe_t first = NAME(of)(3), base = NAME(of)(2);
    CAT(FE, _powers)(a, &first, &base, 600);
    for (unsigned i = 0; i < 600; i++) assert_int_equal(NAME(value)(&a[i]), 3 * NAME(power)(2, i) % P);
}

#include "field/fe_unnames.h"
#undef NAME
#undef P
