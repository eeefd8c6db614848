/* Pairings of bn254 and bls12_381: laws on random points, published vectors, and snarkjs's e(alpha, beta) of real keys. */
#include "support/cm.h"
#include "support/prng.h"
#include "support/shared_data.h"

#include "base/bytes.h"
#include "base/mapfile.h"
#include "formats/decimal.h"
#include "formats/snarkjs_json.h"
#include "pairing/pairing.h"
#include "vectors/multiplier2_keys.h"
#include <jansson.h>

static const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };
static struct prng prng;

static void random_scalar(const struct curve *c, struct fr_int *k)
{
    uint8_t wide[64];
    struct fr x;
    prng_bytes(&prng, wide, sizeof wide);
    c->fr.from_wide(&x, wide);
    c->fr.to_int(k, &x);
}

static void multiple(const struct group *g, struct g_aff *r, const struct g_aff *p, const struct fr_int *k)
{
    struct g_jac j;
    memset(r, 0, sizeof *r);
    g->jac_from_aff(&j, p);
    g->jac_mul(&j, &j, k);
    g->jac_to_aff(r, &j);
}

/* e(aG1, bG2) = e(G1, G2)^(ab) = e(abG1, G2); order r, not 1. */
static void pairing_is_bilinear(void **state)
{
    (void)state;
    for (size_t n = 0; n < ARRAY_COUNT(curves); n++) {
        const struct curve *c = curves[n];
        struct gt base, e, power;

        pairing_product(c, &base, &c->g1.generator, &c->g2.generator, 1);
        gt_pow(c, &power, &base, &c->fr.modulus);
        pairing_product(c, &e, &c->g1.generator, &c->g2.generator, 0);
        assert_true(gt_eq(c, &power, &e));
        assert_false(gt_eq(c, &base, &e));
        for (int round = 0; round < 8; round++) {
            struct fr_int a, b, ab;
            struct fr x, y;
            struct g_aff p, q;
            random_scalar(c, &a);
            random_scalar(c, &b);
            c->fr.from_int(&x, &a);
            c->fr.from_int(&y, &b);
            c->fr.mul(&x, &x, &y);
            c->fr.to_int(&ab, &x);

            multiple(&c->g1, &p, &c->g1.generator, &a);
            multiple(&c->g2, &q, &c->g2.generator, &b);
            pairing_product(c, &e, &p, &q, 1);
            gt_pow(c, &power, &base, &ab);
            assert_true(gt_eq(c, &e, &power));
            multiple(&c->g1, &p, &c->g1.generator, &ab);
            pairing_product(c, &power, &p, &c->g2.generator, 1);
            assert_true(gt_eq(c, &e, &power));
        }
    }
}

/* Points of both groups, random multiples of the generators. */
static void random_pair(const struct curve *c, struct g_aff *p, struct g_aff *q)
{
    struct fr_int k;

    random_scalar(c, &k);
    multiple(&c->g1, p, &c->g1.generator, &k);
    random_scalar(c, &k);
    multiple(&c->g2, q, &c->g2.generator, &k);
}

/* Products of many pairs, across the number that share squarings, with infinity on either side, against single pairings. */
static void products_are_products_of_pairings(void **state)
{
    enum { MOST = 35 };
    (void)state;
    for (size_t n = 0; n < ARRAY_COUNT(curves); n++) {
        const struct curve *c = curves[n];
        struct g_aff p[MOST], q[MOST];
        struct gt expected, product, e;

        pairing_product(c, &expected, p, q, 0);
        for (size_t i = 0; i < MOST; i++) {
            random_pair(c, &p[i], &q[i]);
            if (i % 11 == 3) memset(&p[i], 0, sizeof p[i]);
            if (i % 13 == 7) memset(&q[i], 0, sizeof q[i]);
            pairing_product(c, &e, &p[i], &q[i], 1);
            gt_mul(c, &expected, &expected, &e);
            if (i % 5 != 0 && i != 15 && i != 16 && i + 1 != MOST) continue;
            pairing_product(c, &product, p, q, i + 1);
            assert_true(gt_eq(c, &product, &expected));
        }
    }
}

/* Miller loops apart and together, with lines and without, multiplied in any grouping: one product of pairings. */
static void parts_are_products(void **state)
{
    enum { MOST = 19 };
    static struct pairing_lines prepared[MOST];
    (void)state;
    for (size_t n = 0; n < ARRAY_COUNT(curves); n++) {
        const struct curve *c = curves[n];
        const struct pairing_lines *lines[MOST];
        struct g_aff p[MOST], q[MOST];
        struct gt expected, whole, apart, e;

        for (size_t i = 0; i < MOST; i++) {
            random_pair(c, &p[i], &q[i]);
            if (i == 5) memset(&p[i], 0, sizeof p[i]);
            if (i == 8) memset(&q[i], 0, sizeof q[i]);
            pairing_prepare(c, &prepared[i], &q[i]);
            lines[i] = i % 3 != 0 || i == 18 ? &prepared[i] : NULL;
        }
        for (size_t count = 0; count <= MOST; count += count < 3 ? 1 : 8) {
            pairing_product(c, &expected, p, q, count);
            pairing_miller(c, &whole, p, q, lines, count);
            pairing_finish(c, &whole, &whole);
            assert_true(gt_eq(c, &whole, &expected));
            pairing_miller(c, &apart, p, q, NULL, 0);
            for (size_t i = 0; i < count; i++) {
                pairing_miller(c, &e, &p[i], &q[i], &lines[i], 1);
                gt_mul(c, &apart, &apart, &e);
            }
            pairing_finish(c, &apart, &apart);
            assert_true(gt_eq(c, &apart, &expected));
        }
        pairing_miller(c, &whole, &p[1], &q[2], &lines[1],
                       1); /* where there are lines, they are what counts */
        pairing_finish(c, &whole, &whole);
        pairing_product(c, &expected, &p[1], &q[1], 1);
        assert_true(gt_eq(c, &whole, &expected));
    }
}

/* ---- vectors ---- */

static size_t hex_bytes(uint8_t *out, size_t most, const char *hex)
{
    const size_t digits = strlen(hex);
    assert_true(digits % 2 == 0 && digits / 2 <= most);
    for (size_t i = 0; i < digits / 2; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
    return digits / 2;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (root == NULL) fail_msg("%s: %s", path, error.text);
    return root;
}

enum { MOST_PAIRS = 16, EIP197_PAIR_BYTES = 192, EIP2537_PAIR_BYTES = 384 };

static void eip197_vectors(void **state)
{
    char path[PATH_MAX];
    json_t *root, *test;
    size_t i, ones = 0;

    (void)state;
    shared_data_need(path, "data/vectors/bn254-vectors/eip196-197/bn256Pairing.json");
    root = load(path);
    assert_true(json_array_size(root) > 0);
    json_array_foreach(root, i, test)
    {
        uint8_t input[MOST_PAIRS * EIP197_PAIR_BYTES];
        const size_t bytes = hex_bytes(input, sizeof input, text_of(test, "Input"));
        const char *expected = text_of(test, "Expected");
        struct g_aff p[MOST_PAIRS], q[MOST_PAIRS];

        assert_int_equal(bytes % EIP197_PAIR_BYTES, 0);
        for (size_t pair = 0; pair < bytes / EIP197_PAIR_BYTES; pair++) {
            const uint8_t *at = input + pair * EIP197_PAIR_BYTES;
            assert_int_equal(curve_bn254.g1.decode(&p[pair], at, ENCODING_BE, true), POINT_OK);
            assert_int_equal(curve_bn254.g2.decode(&q[pair], at + 64, ENCODING_BE, true), POINT_OK);
        }
        const bool one = expected[strlen(expected) - 1] == '1';
        if (pairing_product_is_one(&curve_bn254, p, q, bytes / EIP197_PAIR_BYTES) != one)
            fail_msg("vector %s", text_of(test, "Name"));
        ones += one;
    }
    assert_true(ones > 0 && ones < json_array_size(root));
    printf("%zu vectors of EIP-197\n", json_array_size(root));
    json_decref(root);
}

/* A coordinate of EIP-2537: 64 bytes big-endian, the first 16 of them zero. */
static bool eip2537_coordinate(struct fp_int *out, const uint8_t *at)
{
    memset(out, 0, sizeof *out);
    words_from_be(out->w, at + 16, 6);
    for (int i = 0; i < 16; i++)
        if (at[i] != 0) return false;
    return true;
}

/* Whether input is accepted; *one: the product is 1. */
static bool eip2537_check(const uint8_t *input, size_t bytes, bool *one)
{
    const struct curve *c = &curve_bls12_381;
    struct g_aff p[MOST_PAIRS], q[MOST_PAIRS];

    if (bytes == 0 || bytes % EIP2537_PAIR_BYTES != 0) return false;
    for (size_t pair = 0; pair < bytes / EIP2537_PAIR_BYTES; pair++) {
        struct fp_int coordinates[6];
        for (int i = 0; i < 6; i++)
            if (!eip2537_coordinate(&coordinates[i], input + pair * EIP2537_PAIR_BYTES + 64 * i))
                return false;
        if (c->g1.from_plain(&p[pair], coordinates, true) != POINT_OK) return false;
        if (c->g2.from_plain(&q[pair], coordinates + 2, true) != POINT_OK) return false;
    }
    *one = pairing_product_is_one(c, p, q, bytes / EIP2537_PAIR_BYTES);
    return true;
}

static void eip2537_vectors(void **state)
{
    static const char *const names[] = { "pairing_check_bls.json", "fail-pairing_check_bls.json" };
    (void)state;
    for (size_t n = 0; n < ARRAY_COUNT(names); n++) {
        char name[128], path[PATH_MAX];
        json_t *root, *test;
        size_t i;

        snprintf(name, sizeof name, "data/vectors/bls12-381-vectors/eip2537/%s", names[n]);
        shared_data_need(path, name);
        root = load(path);
        assert_true(json_array_size(root) > 0);
        json_array_foreach(root, i, test)
        {
            uint8_t input[MOST_PAIRS * EIP2537_PAIR_BYTES];
            const size_t bytes = hex_bytes(input, sizeof input, text_of(test, "Input"));
            bool one = false;
            const bool accepted = eip2537_check(input, bytes, &one);
            if (n == 1) {
                if (accepted) fail_msg("accepted %s", text_of(test, "Name"));
                continue;
            }
            const char *expected = text_of(test, "Expected");
            if (!accepted || one != (expected[strlen(expected) - 1] == '1'))
                fail_msg("vector %s", text_of(test, "Name"));
        }
        printf("%zu vectors of EIP-2537 (%s)\n", json_array_size(root), names[n]);
        json_decref(root);
    }
}

/* ---- snarkjs's vk_alphabeta_12: [c0, c1] of [3] of [2], decimal ---- */

static void check_alphabeta(const char *name, const char *text, size_t size)
{
    struct task t;
    struct vk_points vk;
    struct gt e;
    struct fp_int c[12];
    json_error_t error;
    json_t *root = json_loadb(text, size, 0, &error), *expected = json_object_get(root, "vk_alphabeta_12");

    task_init(&t);
    if (snarkjs_vk_read(&vk, &t, name, span_of(text, size)) != CUZK_OK)
        fail_msg("%s: %s", name, t.error.text);
    pairing_product(vk.curve, &e, &vk.alpha1, &vk.beta2, 1);
    gt_to_plain(vk.curve, c, &e);
    for (size_t i = 0; i < 12; i++) {
        char digits[DECIMAL_MOST_DIGITS + 1];
        const json_t *triple = json_array_get(expected, i / 6), *pair = json_array_get(triple, i / 2 % 3);
        digits[decimal_write(digits, c[i].w, 6)] = '\0';
        assert_string_equal(digits, json_string_value(json_array_get(pair, i % 2)));
    }
    vk_points_fini(&vk);
    json_decref(root);
}

static void alphabeta_of_embedded_keys(void **state)
{
    (void)state;
    check_alphabeta("multiplier2 bn254", multiplier2_bn254_vk, strlen(multiplier2_bn254_vk));
    check_alphabeta("multiplier2 bls12_381", multiplier2_bls12_381_vk, strlen(multiplier2_bls12_381_vk));
}

static void alphabeta_of_shipped_keys(void **state)
{
    static const char *const names[] = {
        "taceo-bn254-poseidon/verification_key.json", "taceo-bls12_381-poseidon/verification_key.json",
        "rapidsnark-testdata/verification_key.json",  "circom_runtime/verification_key.json",
        "go-rapidsnark-authv2/verification_key.json", "waku-rln/verification_key.json",
        "taceo-poseidon2_16/verification_key.json",   "semaphore-v4/semaphore-10.json",
    };
    size_t checked = 0;
    (void)state;
    for (size_t n = 0; n < ARRAY_COUNT(names); n++) {
        char name[128], path[PATH_MAX];
        struct mapfile file;
        struct task t;

        snprintf(name, sizeof name, "data/circom/%s", names[n]);
        shared_data_need(path, name);
        task_init(&t);
        assert_int_equal(mapfile_open(&file, &t, path), CUZK_OK);
        check_alphabeta(name, (const char *)file.bytes.data, file.bytes.size);
        mapfile_close(&file);
        checked++;
    }
    printf("%zu keys\n", checked);
}

static int start(void **state)
{
    (void)state;
    prng_init(&prng);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairing_is_bilinear),
        cmocka_unit_test(products_are_products_of_pairings),
        cmocka_unit_test(parts_are_products),
        cmocka_unit_test(alphabeta_of_embedded_keys),
        cmocka_unit_test(eip197_vectors),
        cmocka_unit_test(eip2537_vectors),
        cmocka_unit_test(alphabeta_of_shipped_keys),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
