/* Identities in a real prime field on edge values and random ones: what the exhaustive tests of the toy cannot reach.
 *
 * Takes  FE, FE_UPPER as prime.inc.h */
#include "field/fe_names.h"

#define NAME(n) CAT(FE, _case_##n)
#define WORDS   CAT(FE_UPPER, _WORDS)

/* A random element; every fourth with some words all zeros or all ones, where carries run. */
static fe_t NAME(random)(struct prng *rng)
{
    fe_t r;
    do {
        const uint64_t shape = prng_u64(rng);
        for (int i = 0; i < WORDS; i++) {
            r.l[i] = prng_u64(rng);
            if (shape % 4 == 0 && (shape >> (8 + i)) & 1) r.l[i] = (shape >> (20 + i)) & 1 ? UINT64_MAX : 0;
        }
        r.l[WORDS - 1] &= UINT64_MAX >> (64 * WORDS - CAT(FE_UPPER, _BITS));
    } while (!fe_is_canonical(&r));
    return r;
}

static void NAME(identities)(void **state)
{
    struct prng *rng = *state;
    const uint64_t p_minus_2[WORDS] = CAT(FE_UPPER, _P_MINUS_2_64);
    for (int n = 0; n < 3000; n++) {
        const fe_t a = NAME(random)(rng), b = NAME(random)(rng), c = NAME(random)(rng);
        fe_t s, t, u;
        fe_int x;
        fe_mul(&s, &a, &b); /* (a b) c = a (b c), a b = b a */
        fe_mul(&t, &b, &a);
        assert_true(fe_eq(&s, &t));
        fe_mul(&s, &s, &c);
        fe_mul(&t, &b, &c);
        fe_mul(&t, &t, &a);
        assert_true(fe_eq(&s, &t) && fe_is_canonical(&s));
        fe_add(&s, &a, &b); /* (a + b) c = a c + b c */
        assert_true(fe_is_canonical(&s));
        fe_mul(&s, &s, &c);
        fe_mul(&t, &a, &c);
        fe_mul(&u, &b, &c);
        fe_add(&t, &t, &u);
        assert_true(fe_eq(&s, &t));
        fe_sub(&s, &a, &b); /* (a - b) + b = a */
        assert_true(fe_is_canonical(&s));
        fe_add(&s, &s, &b);
        assert_true(fe_eq(&s, &a));
        fe_sqr(&s, &a);
        fe_mul(&t, &a, &a);
        assert_true(fe_eq(&s, &t));
        fe_halve(&s, &a);
        assert_true(fe_is_canonical(&s));
        fe_dbl(&s, &s);
        assert_true(fe_eq(&s, &a));
        fe_to_int(&x, &a);
        assert_true(fe_int_is_canonical(&x));
        fe_from_int(&s, &x);
        assert_true(fe_eq(&s, &a));
        fe_inv(&s, &a);
        assert_true(fe_is_canonical(&s));
        fe_mul(&t, &s, &a);
        assert_true(fe_is_zero(&a) || fe_is_one(&t));
        if (n % 50 == 0) { /* Fermat's inverse is the same */
            fe_pow(&t, &a, p_minus_2, WORDS);
            assert_true(fe_eq(&s, &t));
        }
    }
}

/* Inverses of what the division steps find hard: powers of two, p - 2^k, all-ones runs. */
static void NAME(hard_inverses)(void **state)
{
    (void)state;
    const fe_t p = { CAT(FE_UPPER, _P_64) };
    for (int k = 0; k < CAT(FE_UPPER, _BITS) - 1; k++)
        for (int form = 0; form < 4; form++) {
            fe_t a, one, i;
            fe_set_zero(&a);
            a.l[k / 64] = (uint64_t)1 << (k % 64);
            fe_set_zero(&one);
            one.l[0] = 1;
            if (form == 1) fe_neg(&a, &a);
            if (form == 2) fe_sub(&a, &a, &one);
            if (form == 3) fe_add(&a, &a, &one);
            assert_false(fe_eq(&a, &p));
            fe_inv(&i, &a);
            assert_true(fe_is_canonical(&i));
            fe_mul(&i, &i, &a);
            assert_true(fe_is_zero(&a) || fe_is_one(&i));
        }
}

static void NAME(canonical)(void **state)
{
    (void)state;
    fe_t p = { CAT(FE_UPPER, _P_64) }, r;
    fe_int p_int = { CAT(FE_UPPER, _P_64) };
    uint8_t bytes[sizeof p];
    assert_false(fe_is_canonical(&p));
    assert_false(fe_int_is_canonical(&p_int));
    words_to_be(bytes, p.l, WORDS);
    assert_false(fe_load_be(&r, bytes));
    assert_true(fe_is_zero(&r));
    p.l[0]--;
    assert_true(fe_is_canonical(&p));
    words_to_be(bytes, p.l, WORDS);
    assert_true(fe_load_be(&r, bytes));
    fe_set_one(&p);
    fe_neg(&p, &p);
    assert_true(fe_eq(&r, &p)); /* p - 1 = -1 */
    memset(bytes, 0xff, sizeof bytes);
    assert_false(fe_load_be(&r, bytes));
}

#include "field/fe_unnames.h"
#undef NAME
#undef WORDS
