/* Both curves against numbers that others computed: zkcrypto, EIP-196, EIP-2537, constantine, RFC 9380. */
#include "support/cm.h"
#include "support/shared_data.h"

#include "curve/curve.h"
#include "base/bytes.h"
#include "vectors/curve_known.h"

#include <jansson.h>
#include <string.h>

#define BLS "data/vectors/bls12-381-vectors/"
#define BN  "data/vectors/bn254-vectors/"

static unsigned hex_digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
}

/* Bytes of a text of hexadecimal digits; returns their count. */
static size_t from_hex(uint8_t *out, size_t max, const char *text)
{
    const size_t n = strlen(text) / 2;
    assert_true(n <= max);
    for (size_t i = 0; i < n; i++) out[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
    return n;
}

/* Little-endian words of "0x...", of any length up to 16 * words digits, up to a comma or the end. */
static void words_from_hex(uint64_t *w, size_t words, const char *text)
{
    const size_t digits = strcspn(text + 2, ",");
    memset(w, 0, 8 * words);
    assert_true(text[0] == '0' && text[1] == 'x' && digits <= 16 * words);
    for (size_t i = 0; i < digits; i++) w[i / 16] |= (uint64_t)hex_digit(text[2 + digits - 1 - i]) << (4 * (i % 16));
}

static json_t *load_json(const char *path)
{
    json_error_t e;
    json_t *j = json_load_file(path, 0, &e);
    if (!j) fail_msg("%s: line %d: %s", path, e.line, e.text);
    return j;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

static void assert_same_point(const struct group *g, const struct g_jac *jac, const struct g_aff *aff, const char *what)
{
    struct g_jac expected;
    g->jac_from_aff(&expected, aff);
    if (!g->jac_eq(jac, &expected)) fail_msg("%s: wrong point", what);
}

static void decode_ok(const struct group *g, struct g_aff *r, const uint8_t *bytes, enum point_encoding e, const char *what)
{
    const enum point_check c = g->decode(r, bytes, e, true);
    if (c != POINT_OK) fail_msg("%s: %s", what, point_check_text(c));
}

/* -- in the repository -- */

static void known_products(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(curve_known); i++) {
        const struct curve *c = curve_by_name(curve_known[i].curve);
        const struct group *g = strcmp(curve_known[i].group, "G1") == 0 ? &c->g1 : &c->g2;
        uint8_t bytes[192], scalar[32], encoded[192];
        struct fr_int k;
        struct g_aff p, q;
        struct g_jac j;
        assert_int_equal(from_hex(bytes, sizeof bytes, curve_known[i].point), g->aff_bytes);
        decode_ok(g, &p, bytes, ENCODING_BE, "point");
        from_hex(scalar, sizeof scalar, curve_known[i].scalar);
        words_from_be(k.w, scalar, 4);
        from_hex(bytes, sizeof bytes, curve_known[i].product);
        decode_ok(g, &q, bytes, ENCODING_BE, "product");
        g->jac_from_aff(&j, &p);
        g->jac_mul(&j, &j, &k);
        assert_same_point(g, &j, &q, curve_known[i].group);
        g->jac_to_aff(&p, &j);
        g->encode(encoded, &p, ENCODING_BE);
        assert_memory_equal(encoded, bytes, g->aff_bytes);
    }
}

static void known_compressed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(curve_known_compressed); i++) {
        const struct curve *c = &curve_bls12_381;
        const struct group *g = strcmp(curve_known_compressed[i].group, "G1") == 0 ? &c->g1 : &c->g2;
        uint8_t bytes[96], encoded[96];
        const struct fr_int k = { { curve_known_compressed[i].multiple } };
        struct g_aff p;
        struct g_jac j;
        const size_t n = from_hex(bytes, sizeof bytes, curve_known_compressed[i].bytes);
        assert_int_equal(n, g->encoded_bytes(ENCODING_ZCASH_COMPRESSED));
        decode_ok(g, &p, bytes, ENCODING_ZCASH_COMPRESSED, "multiple of the generator");
        g->jac_from_aff(&j, &g->generator);
        g->jac_mul(&j, &j, &k);
        assert_same_point(g, &j, &p, "multiple of the generator");
        g->encode(encoded, &p, ENCODING_ZCASH_COMPRESSED);
        assert_memory_equal(encoded, bytes, n);
    }
}

/* -- zkcrypto: i * generator for i < 1000 -- */

static void zkcrypto_file(const struct group *g, enum point_encoding e, const char *name)
{
    char path[PATH_MAX];
    uint8_t bytes[192], encoded[192];
    struct g_jac sum;
    shared_data_need(path, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    g->jac_set_inf(&sum);
    for (unsigned i = 0; i < 1000; i++) {
        struct g_aff p;
        assert_int_equal(fread(bytes, 1, g->encoded_bytes(e), f), g->encoded_bytes(e));
        decode_ok(g, &p, bytes, e, name);
        assert_same_point(g, &sum, &p, name);
        g->encode(encoded, &p, e);
        assert_memory_equal(encoded, bytes, g->encoded_bytes(e));
        g->jac_add_aff(&sum, &sum, &g->generator);
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

static void zkcrypto_g1(void **state)
{
    (void)state;
    zkcrypto_file(&curve_bls12_381.g1, ENCODING_ZCASH, BLS "g1_uncompressed_valid_test_vectors.dat");
    zkcrypto_file(&curve_bls12_381.g1, ENCODING_ZCASH_COMPRESSED, BLS "g1_compressed_valid_test_vectors.dat");
}

static void zkcrypto_g2(void **state)
{
    (void)state;
    zkcrypto_file(&curve_bls12_381.g2, ENCODING_ZCASH, BLS "g2_uncompressed_valid_test_vectors.dat");
    zkcrypto_file(&curve_bls12_381.g2, ENCODING_ZCASH_COMPRESSED, BLS "g2_compressed_valid_test_vectors.dat");
}

/* -- constantine: scalar products -- */

static void coordinate_from_json(struct fp_int *out, const json_t *j, bool extension)
{
    words_from_hex(out[0].w, 6, extension ? text_of(j, "c0") : json_string_value(j));
    if (extension) words_from_hex(out[1].w, 6, text_of(j, "c1"));
}

static void point_from_json(const struct group *g, struct g_aff *r, const json_t *j)
{
    const bool extension = g->id == GROUP_G2;
    struct fp_int xy[4], back[4];
    coordinate_from_json(&xy[0], json_object_get(j, "x"), extension);
    coordinate_from_json(&xy[extension ? 2 : 1], json_object_get(j, "y"), extension);
    const enum point_check c = g->from_plain(r, xy, true);
    if (c != POINT_OK) fail_msg("%s", point_check_text(c));
    g->to_plain(back, r);
    assert_memory_equal(back, xy, (extension ? 4 : 2) * sizeof xy[0]);
}

static void scalar_mul_file(const struct group *g, const char *name)
{
    char path[PATH_MAX];
    shared_data_need(path, name);
    json_t *j = load_json(path), *v;
    size_t i;
    json_array_foreach(json_object_get(j, "vectors"), i, v) {
        struct g_aff p, q;
        struct g_jac r;
        struct fr_int k;
        point_from_json(g, &p, json_object_get(v, "P"));
        point_from_json(g, &q, json_object_get(v, "Q"));
        words_from_hex(k.w, 4, text_of(v, "scalar"));
        g->jac_from_aff(&r, &p);
        g->jac_mul(&r, &r, &k);
        assert_same_point(g, &r, &q, name);
    }
    assert_true(i > 10);
    json_decref(j);
}

static void scalar_mul(void **state)
{
    (void)state;
    static const char *const bits[2][4] = { { "32", "64", "128", "254" }, { "32", "64", "128", "255" } };
    for (int c = 0; c < 2; c++)
        for (int g = 0; g < 2; g++)
            for (int b = 0; b < 4; b++) {
                const struct curve *curve = c == 0 ? &curve_bn254 : &curve_bls12_381;
                char name[256];
                snprintf(name, sizeof name, "%sscalar_mul/tv_%s_scalar_mul_G%d_%sbit.json", c == 0 ? BN : BLS,
                         c == 0 ? "BN254_Snarks" : "BLS12_381", g + 1, bits[c][b]);
                scalar_mul_file(curve->group[g], name);
            }
}

/* -- EIP-196 -- */

static void eip196(void **state)
{
    (void)state;
    const struct group *g = &curve_bn254.g1;
    for (int product = 0; product < 2; product++) {
        char path[PATH_MAX];
        json_t *v;
        size_t i;
        shared_data_need(path, product ? BN "eip196-197/bn256ScalarMul.json" : BN "eip196-197/bn256Add.json");
        json_t *j = load_json(path);
        json_array_foreach(j, i, v) {
            uint8_t input[256] = { 0 }, expected[64], result[64]; /* short inputs are filled up with zeros */
            struct g_aff p, q;
            struct g_jac r;
            from_hex(input, sizeof input, text_of(v, "Input"));
            from_hex(expected, sizeof expected, text_of(v, "Expected"));
            decode_ok(g, &p, input, ENCODING_BE, text_of(v, "Name"));
            g->jac_from_aff(&r, &p);
            if (product) {
                struct fr_int k;
                words_from_be(k.w, input + 64, 4);
                g->jac_mul(&r, &r, &k);
            } else {
                decode_ok(g, &q, input + 64, ENCODING_BE, text_of(v, "Name"));
                g->jac_add_aff(&r, &r, &q);
            }
            g->jac_to_aff(&p, &r);
            g->encode(result, &p, ENCODING_BE);
            assert_memory_equal(result, expected, 64);
        }
        assert_true(i > 10);
        json_decref(j);
    }
}

/* -- EIP-2537 -- */

/* Its coordinates have 16 zero bytes in front, and G2 has c0 before c1. */
static enum point_check decode_eip2537(const struct group *g, struct g_aff *r, const uint8_t *in, bool subgroup)
{
    const size_t fields = g->id == GROUP_G2 ? 4 : 2;
    uint8_t be[192];
    for (size_t i = 0; i < fields; i++) {
        const size_t to = fields == 4 ? i ^ 1 : i;
        for (size_t k = 0; k < 16; k++)
            if (in[64 * i + k] != 0) return POINT_NOT_CANONICAL;
        memcpy(be + 48 * to, in + 64 * i + 16, 48);
    }
    return g->decode(r, be, ENCODING_BE, subgroup);
}

static size_t eip2537_bytes(const struct group *g) { return g->id == GROUP_G2 ? 256 : 128; }

enum eip2537_kind { EIP_ADD, EIP_MUL /* and multiexp: a sum of products */ };

static void eip2537_file(const struct group *g, enum eip2537_kind kind, const char *name)
{
    static uint8_t input[1 << 17];
    char path[PATH_MAX];
    json_t *v;
    size_t i, run = 0;
    const size_t point = eip2537_bytes(g), stride = kind == EIP_ADD ? point : point + 32;
    shared_data_need(path, name);
    json_t *j = load_json(path);
    json_array_foreach(j, i, v) {
        uint8_t expected_bytes[256];
        struct g_aff p, expected;
        struct g_jac sum, r;
        if (*text_of(v, "Expected") == '\0') continue; /* a must-fail case in a mixed file */
        const size_t n = from_hex(input, sizeof input, text_of(v, "Input"));
        assert_int_equal(from_hex(expected_bytes, sizeof expected_bytes, text_of(v, "Expected")), point);
        assert_int_equal(decode_eip2537(g, &expected, expected_bytes, false), POINT_OK);
        assert_int_equal(n % stride, 0);
        g->jac_set_inf(&sum);
        for (size_t at = 0; at < n; at += stride) {
            struct fr_int k;
            assert_int_equal(decode_eip2537(g, &p, input + at, kind == EIP_MUL), POINT_OK);
            g->jac_from_aff(&r, &p);
            if (kind == EIP_MUL) {
                words_from_be(k.w, input + at + point, 4);
                g->jac_mul(&r, &r, &k);
            }
            g->jac_add(&sum, &sum, &r);
        }
        assert_same_point(g, &sum, &expected, text_of(v, "Name"));
        run++;
    }
    assert_true(run >= 5);
    json_decref(j);
}

static void eip2537(void **state)
{
    (void)state;
    const struct group *g1 = &curve_bls12_381.g1, *g2 = &curve_bls12_381.g2;
    eip2537_file(g1, EIP_ADD, BLS "eip2537/add_G1_bls.json");
    eip2537_file(g2, EIP_ADD, BLS "eip2537/add_G2_bls.json");
    eip2537_file(g1, EIP_ADD, BLS "eip2537/blsG1AddNimbus.json");
    eip2537_file(g1, EIP_MUL, BLS "eip2537/mul_G1_bls.json");
    eip2537_file(g2, EIP_MUL, BLS "eip2537/mul_G2_bls.json");
    eip2537_file(g1, EIP_MUL, BLS "eip2537/multiexp_G1_bls.json");
    eip2537_file(g2, EIP_MUL, BLS "eip2537/multiexp_G2_bls.json");
}

/* Which defect an error text speaks of; POINT_OK: of the call's framing, which is not ours. */
static enum point_check defect_of(const char *error)
{
    if (strstr(error, "top bytes") || strstr(error, "fp.Element") || strstr(error, "less than modulus")) return POINT_NOT_CANONICAL;
    if (strstr(error, "not on curve")) return POINT_NOT_ON_CURVE;
    if (strstr(error, "subgroup")) return POINT_NOT_IN_SUBGROUP;
    assert_non_null(strstr(error, "length"));
    return POINT_OK;
}

/* layout: a letter a group of the points of one element, 's' a scalar of 32 bytes. */
static void eip2537_must_fail(const char *layout, bool subgroup, const char *name, size_t at_least)
{
    static uint8_t input[1 << 17];
    char path[PATH_MAX];
    json_t *v;
    size_t i, run = 0;
    shared_data_need(path, name);
    json_t *j = load_json(path);
    json_array_foreach(j, i, v) {
        const char *error = text_of(v, "ExpectedError");
        if (*error == '\0' || defect_of(error) == POINT_OK) continue;
        const size_t n = from_hex(input, sizeof input, text_of(v, "Input"));
        enum point_check first = POINT_OK;
        for (size_t at = 0, k = 0; at < n && first == POINT_OK; k++) {
            const char part = layout[k % strlen(layout)];
            struct g_aff p;
            if (part == 's') {
                at += 32;
                continue;
            }
            const struct group *g = part == '1' ? &curve_bls12_381.g1 : &curve_bls12_381.g2;
            assert_true(at + eip2537_bytes(g) <= n);
            first = decode_eip2537(g, &p, input + at, subgroup);
            if (first != POINT_OK) assert_true(g->aff_is_inf(&p) || first == POINT_NOT_CANONICAL);
            at += eip2537_bytes(g);
        }
        if (first != defect_of(error)) fail_msg("%s: %s, but the vector says: %s", text_of(v, "Name"), point_check_text(first), error);
        run++;
    }
    if (run < at_least) fail_msg("%s: only %zu cases", name, run);
    json_decref(j);
}

static void eip2537_failures(void **state)
{
    (void)state;
    eip2537_must_fail("1", false, BLS "eip2537/fail-add_G1_bls.json", 3);
    eip2537_must_fail("2", false, BLS "eip2537/fail-add_G2_bls.json", 3);
    eip2537_must_fail("1", false, BLS "eip2537/blsG1AddNimbus.json", 3);
    eip2537_must_fail("1s", true, BLS "eip2537/fail-mul_G1_bls.json", 4);
    eip2537_must_fail("2s", true, BLS "eip2537/fail-mul_G2_bls.json", 4);
    eip2537_must_fail("1s", true, BLS "eip2537/fail-multiexp_G1_bls.json", 4);
    eip2537_must_fail("2s", true, BLS "eip2537/fail-multiexp_G2_bls.json", 4);
    eip2537_must_fail("12", true, BLS "eip2537/fail-pairing_check_bls.json", 19);
}

/* -- RFC 9380: hashes to the curve, and the points before the cofactor is cleared -- */

static enum point_check rfc9380_point(const struct group *g, const json_t *p, bool subgroup)
{
    const bool extension = g->id == GROUP_G2;
    struct fp_int xy[4];
    struct g_aff r;
    for (int k = 0; k < 2; k++) {
        const char *text = text_of(p, k ? "y" : "x"); /* c0, a comma, c1 */
        words_from_hex(xy[extension ? 2 * k : k].w, 6, text);
        if (extension) words_from_hex(xy[2 * k + 1].w, 6, strchr(text, ',') + 1);
    }
    return g->from_plain(&r, xy, subgroup);
}

static void rfc9380(void **state)
{
    (void)state;
    for (int n = 0; n < 2; n++) {
        const struct group *g = curve_bls12_381.group[n];
        char path[PATH_MAX];
        json_t *v;
        size_t i;
        shared_data_need(path, n ? BLS "BLS12381G2_XMD_SHA-256_SSWU_RO_.json" : BLS "BLS12381G1_XMD_SHA-256_SSWU_RO_.json");
        json_t *j = load_json(path);
        json_array_foreach(json_object_get(j, "vectors"), i, v) {
            assert_int_equal(rfc9380_point(g, json_object_get(v, "P"), true), POINT_OK);
            assert_int_equal(rfc9380_point(g, json_object_get(v, "Q0"), false), POINT_OK);
            assert_int_equal(rfc9380_point(g, json_object_get(v, "Q0"), true), POINT_NOT_IN_SUBGROUP);
            assert_int_equal(rfc9380_point(g, json_object_get(v, "Q1"), true), POINT_NOT_IN_SUBGROUP);
        }
        assert_true(i >= 5);
        json_decref(j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_products),  cmocka_unit_test(known_compressed), cmocka_unit_test(zkcrypto_g1),
        cmocka_unit_test(zkcrypto_g2),     cmocka_unit_test(scalar_mul),       cmocka_unit_test(eip196),
        cmocka_unit_test(eip2537),         cmocka_unit_test(eip2537_failures), cmocka_unit_test(rfc9380),
    };
    return cmocka_run_group_tests_name("curve_vectors", tests, NULL, NULL);
}
