/* proof.json, public.json, verification_key.json and trapdoor files: written, read back, and wrong in every place. */
#include "support/cm.h"
#include "base/mapfile.h"
#include "formats/decimal.h"
#include "formats/snarkjs_json.h"
#include "formats/trapdoor_file.h"
#include "support/format_samples.h"
#include "support/temp_folder.h"

#define PATH "sample.json"

static struct prng rng;
static const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };

static struct span text_span(const char *text) { return span_of(text, strlen(text)); }

/* A copy of text with the first `from` replaced by `to`; zero-terminated, to be freed. */
static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (at == NULL) fail_msg("\"%s\" is not in the text", from);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(out);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static char *terminated(struct json_text *text)
{
    char *out = malloc(text->size + 1);
    assert_non_null(out);
    memcpy(out, text->data, text->size);
    out[text->size] = '\0';
    json_text_fini(text);
    return out;
}

static void test_decimal(void **state)
{
    (void)state;
    static const struct {
        uint64_t w[6];
        const char *text;
    } known[] = {
        { { 0 }, "0" },
        { { 9 }, "9" },
        { { UINT64_C(10000000000000000000) }, "10000000000000000000" },
        { { UINT64_C(9999999999999999999) }, "9999999999999999999" },
        { { 0, 1 }, "18446744073709551616" },
        { { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX },
          "115792089237316195423570985008687907853269984665640564039457584007913129639935" },
        { { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX },
          "39402006196394479212279040100143613805079739270465446667948293404245721771497210611414266254884915"
          "640806627990306815" },
    };
    char out[DECIMAL_MOST_DIGITS];
    uint64_t back[6];
    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        size_t n = decimal_write(out, known[i].w, 6);
        assert_int_equal(n, strlen(known[i].text));
        assert_memory_equal(out, known[i].text, n);
        assert_int_equal(decimal_read(back, 6, known[i].text, n), DECIMAL_OK);
        assert_memory_equal(back, known[i].w, sizeof back);
    }
    for (int i = 0; i < 3000; i++) {
        size_t words = 1 + prng_below(&rng, 6);
        uint64_t w[6] = { 0 };
        prng_bytes(&rng, w, 8 * words);
        if (i & 1) w[words - 1] >>= prng_below(&rng, 64);
        size_t n = decimal_write(out, w, words);
        assert_true(n == 1 || out[0] != '0');
        assert_int_equal(decimal_read(back, words, out, n), DECIMAL_OK);
        assert_memory_equal(back, w, 8 * words);
        /* The same number in hexadecimal, through the C library. */
        char hex[2 + 96 + 1] = "0x";
        for (size_t k = 0; k < words; k++)
            sprintf(hex + 2 + 16 * k, "%016llx", (unsigned long long)w[words - 1 - k]);
        assert_int_equal(decimal_read(back, words, hex, strlen(hex)), DECIMAL_OK);
        assert_memory_equal(back, w, 8 * words);
    }
    assert_int_equal(decimal_read(back, 1, "18446744073709551615", 20), DECIMAL_OK);
    assert_int_equal(decimal_read(back, 1, "18446744073709551616", 20), DECIMAL_TOO_LARGE);
    assert_int_equal(decimal_read(back, 1, "00000000000000000000000000000007", 32), DECIMAL_OK);
    assert_int_equal(back[0], 7);
    static const char *const wrong[] = { "", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x", "0xg", "12a", "x1" };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
        assert_int_equal(decimal_read(back, 6, wrong[i], strlen(wrong[i])), DECIMAL_NOT_A_NUMBER);
}

static char *proof_text(const struct curve *c, const struct proof_points *proof)
{
    struct task t;
    struct json_text text;
    task_init(&t);
    assert_int_equal(snarkjs_proof_write(&t, &text, c, proof), CUZK_OK);
    return terminated(&text);
}

/* One line, keys sorted, no curve: as the C++ prover writes. */
static char *on_one_line(const char *text)
{
    char *out = malloc(strlen(text) + 1), *w = out;
    assert_non_null(out);
    for (const char *p = text; *p != '\0'; p++)
        if (*p != ' ' && *p != '\n') *w++ = *p;
    *w = '\0';
    return out;
}

static void test_proof_round_trip(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        const struct curve *c = curves[k];
        for (int infinite = 0; infinite < 8; infinite++) {
            struct proof_points proof, back;
            struct task t;
            sample_proof(&proof, &rng, c);
            if (infinite & 1) memset(&proof.a, 0, sizeof proof.a);
            if (infinite & 2) memset(&proof.b, 0, sizeof proof.b);
            if (infinite & 4) memset(&proof.c, 0, sizeof proof.c);
            char *text = proof_text(c, &proof);
            task_init(&t);
            if (snarkjs_proof_read(&back, &t, PATH, text_span(text), NULL) != CUZK_OK)
                fail_msg("%s", t.error.text);
            assert_memory_equal(&back, &proof, sizeof back);
            char *line = on_one_line(text);
            assert_int_equal(snarkjs_proof_read(&back, &t, PATH, text_span(line), c), CUZK_OK);
            assert_memory_equal(&back, &proof, sizeof back);
            char *again = proof_text(c, &back);
            assert_string_equal(again, text);
            free(again);
            free(line);
            free(text);
        }
    }
}

/* The layout in every byte: the generators on BN254, and infinity. */
static void test_proof_bytes(void **state)
{
    (void)state;
    struct proof_points proof = { .a = curve_bn254.g1.generator, .b = curve_bn254.g2.generator };
    char *text = proof_text(&curve_bn254, &proof);
    assert_string_equal(
        text,
        "{\n \"pi_a\": [\n  \"1\",\n  \"2\",\n  \"1\"\n ],\n \"pi_b\": [\n  [\n"
        "   \"10857046999023057135944570762232829481370756359578518086990519993285655852781\",\n"
        "   \"11559732032986387107991004021392285783925812861821192530917403151452391805634\"\n  ],\n  [\n"
        "   \"8495653923123431417604973247489272438418190587263600148770280649306958101930\",\n"
        "   \"4082367875863433681332203403145435568316851327593401208105741076214120093531\"\n  ],\n  [\n"
        "   \"1\",\n   \"0\"\n  ]\n ],\n \"pi_c\": [\n  \"0\",\n  \"1\",\n  \"0\"\n ],\n"
        " \"protocol\": \"groth16\",\n \"curve\": \"bn128\"\n}");
    free(text);
}

static void expect_proof(const char *text, const struct curve *expected, cuzk_status status,
                         const char *words)
{
    struct proof_points proof;
    struct task t;
    task_init(&t);
    cuzk_status got = snarkjs_proof_read(&proof, &t, PATH, text_span(text), expected);
    if (got != status || (status != CUZK_OK && strstr(t.error.text, words) == NULL))
        fail_msg("wanted %d, \"%s\"; got %d, \"%s\"", status, words, got, t.error.text);
    if (status != CUZK_OK) assert_string_equal(t.error.path, PATH);
}

static void expect_proof_change(const char *text, const char *from, const char *to, cuzk_status status,
                                const char *words)
{
    char *changed = replaced(text, from, to);
    expect_proof(changed, NULL, status, words);
    free(changed);
}

static void test_proof_bad(void **state)
{
    (void)state;
    struct proof_points proof = { .a = curve_bn254.g1.generator,
                                  .b = curve_bn254.g2.generator,
                                  .c = curve_bn254.g1.generator };
    char *good = proof_text(&curve_bn254, &proof), *line = on_one_line(good);
    const char *const q = "21888242871839275222246405745257275088696311157297823662689037894645226208583";
    char number[128];

    /* Other spellings of the same proof. */
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[1,2,1]", CUZK_OK, "");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[\"0x1\",\"0x02\",\"0X1\"]", CUZK_OK, "");
    expect_proof_change(
        line, "\"10857046999023057135944570762232829481370756359578518086990519993285655852781\"",
        "10857046999023057135944570762232829481370756359578518086990519993285655852781", CUZK_OK, "");
    expect_proof_change(line, "\"protocol\":\"groth16\",", "", CUZK_OK, "");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[\"0\",\"0\",\"0\"]", CUZK_OK, "");
    struct proof_points back;
    struct task t;
    task_init(&t);
    struct blob padded = blob_copy(line, strlen(line) + 1); /* with its zero byte */
    assert_int_equal(snarkjs_proof_read(&back, &t, PATH, blob_span(&padded), NULL), CUZK_OK);
    blob_free(&padded);

    expect_proof_change(line, "\"protocol\":\"groth16\"", "\"protocol\":\"plonk\"", CUZK_UNSUPPORTED,
                        "plonk");
    expect_proof_change(line, "\"protocol\":\"groth16\"", "\"protocol\":7", CUZK_UNSUPPORTED, "not a string");
    expect_proof_change(line, "\"bn128\"", "\"bw6\"", CUZK_UNSUPPORTED, "bw6");
    expect_proof_change(line, ",\"curve\":\"bn128\"", "", CUZK_MALFORMED, "does not name its curve");
    expect_proof(line, &curve_bls12_381, CUZK_MISMATCH, "bn128");
    expect_proof_change(line, "\"pi_c\"", "\"pi_d\"", CUZK_MALFORMED, "pi_c is missing");
    expect_proof_change(line, "\"pi_c\"", "\"pi_a\"", CUZK_MALFORMED, "not valid JSON");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[\"1\",\"2\"]", CUZK_MALFORMED,
                        "pi_a is not an array [x, y");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "\"1\"", CUZK_MALFORMED, "pi_a is not an array");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[\"1\",\"2\",\"2\"]", CUZK_MALFORMED,
                        "pi_a is not affine");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[\"1\",\"3\",\"1\"]", CUZK_MALFORMED,
                        "pi_a is not on the curve");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[\"0\",\"0\",\"1\"]", CUZK_MALFORMED,
                        "pi_a is not on the curve");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[\"1\",\"1\",\"0\"]", CUZK_MALFORMED, "z = 0");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[-1,2,1]", CUZK_MALFORMED,
                        "pi_a[0] is not a non-negative integer");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[1.0,2,1]", CUZK_MALFORMED,
                        "pi_a[0] is not a non-negative integer");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[\"1\",\"2 \",\"1\"]", CUZK_MALFORMED,
                        "pi_a[1] is not a non-negative");
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", "[null,2,1]", CUZK_MALFORMED,
                        "pi_a[0] is not a non-negative integer");
    snprintf(number, sizeof number, "[\"%s\",\"2\",\"1\"]", q);
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", number, CUZK_MALFORMED,
                        "pi_a[0] is not smaller than the base field's prime q");
    snprintf(number, sizeof number, "[%s,2,1]", q);
    expect_proof_change(line, "[\"1\",\"2\",\"1\"]", number, CUZK_MALFORMED, "pi_a[0] is not smaller");
    expect_proof_change(line, "[\"1\",\"0\"]", "[\"1\"]", CUZK_MALFORMED, "pi_b is not an array [[x0");
    expect_proof_change(line, "[\"1\",\"0\"]", "\"1\"", CUZK_MALFORMED, "pi_b is not an array [[x0");
    expect_proof_change(line, "[\"1\",\"0\"]", "[\"1\",\"1\"]", CUZK_MALFORMED, "pi_b is not affine");
    expect_proof_change(line, "8495653923123431417604973247489272438418190587263600148770280649306958101930",
                        "5", CUZK_MALFORMED, "pi_b is not on the curve");

    /* Not JSON, or other JSON. */
    expect_proof("", NULL, CUZK_MALFORMED, "an empty file");
    expect_proof("   ", NULL, CUZK_MALFORMED, "this is not a proof");
    expect_proof("{", NULL, CUZK_MALFORMED, "not valid JSON");
    expect_proof("{}", NULL, CUZK_MALFORMED, "does not name its curve");
    expect_proof("[\"1\"]", NULL, CUZK_MALFORMED, "this is a list of public signals");
    expect_proof("{\"vk_alpha_1\": 1}", NULL, CUZK_MALFORMED, "this is a verification key");
    expect_proof("<html>", NULL, CUZK_MALFORMED, "an HTML or XML page");
    expect_proof("wtns\1\0\0\0", NULL, CUZK_MALFORMED, "this is a witness file");
    expect_proof("{\"pi_a\":[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]}", NULL, CUZK_MALFORMED, "nested");
    char *big = malloc((1u << 20) + 2);
    assert_non_null(big);
    memset(big, ' ', (1u << 20) + 1);
    big[0] = '{';
    big[(1u << 20) + 1] = '\0';
    expect_proof(big, NULL, CUZK_TOO_LARGE, "at most 1048576");
    free(big);

    /* The place of a mistake. */
    char *broken = replaced(good, "],\n \"pi_c\"", "]\n \"pi_c\"");
    task_init(&t);
    assert_int_equal(snarkjs_proof_read(&back, &t, PATH, text_span(broken), NULL), CUZK_MALFORMED);
    assert_non_null(strstr(t.error.field, "line 21, column "));
    free(broken);
    free(good);
    free(line);
}

/* No prefix is accepted, and none is read beyond its end. */
static void test_proof_truncations(void **state)
{
    (void)state;
    struct proof_points proof = { .a = curve_bn254.g1.generator,
                                  .b = curve_bn254.g2.generator,
                                  .c = curve_bn254.g1.generator };
    char *good = proof_text(&curve_bn254, &proof);
    for (size_t size = 0; size < strlen(good); size++) {
        struct blob cut = blob_copy(good, size);
        struct proof_points back;
        struct task t;
        task_init(&t);
        assert_int_equal(snarkjs_proof_read(&back, &t, PATH, blob_span(&cut), &curve_bn254), CUZK_MALFORMED);
        assert_true(t.error.text[0] != '\0' && t.error.advice[0] != '\0');
        blob_free(&cut);
    }
    free(good);
}

static void test_public(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        const struct curve *c = curves[k];
        struct fr_int values[3] = { { { 0 } },
                                    { { prng_u64(&rng), prng_u64(&rng), prng_u64(&rng) } },
                                    c->fr.modulus };
        values[2].w[0]--;
        struct public_values back;
        struct json_text text;
        struct task t;
        for (uint64_t count = 0; count <= 3; count++) {
            task_init(&t);
            assert_int_equal(snarkjs_public_write(&t, &text, values, count), CUZK_OK);
            assert_int_equal(snarkjs_public_read(&back, &t, PATH, span_of(text.data, text.size), c), CUZK_OK);
            assert_int_equal(back.count, count);
            if (count > 0) assert_memory_equal(back.value, values, count * sizeof values[0]);
            public_values_fini(&back);
            if (count == 0) assert_memory_equal(text.data, "[\n]", 3);
            json_text_fini(&text);
        }
        values[2].w[0]++; /* r itself */
        assert_int_equal(snarkjs_public_write(&t, &text, values, 3), CUZK_OK);
        assert_int_equal(snarkjs_public_read(&back, &t, PATH, span_of(text.data, text.size), c),
                         CUZK_MALFORMED);
        assert_string_equal(t.error.text, "public signal 2 is not smaller than the scalar field's prime r");
        assert_null(back.value);
        json_text_fini(&text);
    }
    struct public_values back;
    struct task t;
    static const char *const good[] = { "[]", "[\n]", "[\"5\", 7, \"0xb\"]",
                                        " [ 123456789012345678901234567890 ] " };
    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        task_init(&t);
        assert_int_equal(snarkjs_public_read(&back, &t, PATH, text_span(good[i]), &curve_bn254), CUZK_OK);
        public_values_fini(&back);
    }
    static const char *const bad[] = { "[",
                                       "{}",
                                       "[{}]",
                                       "[[]]",
                                       "[true]",
                                       "[-5]",
                                       "[1e5]",
                                       "[\"\"]",
                                       "[5]]",
                                       "[5,]",
                                       "[05]",
                                       "[\"5\\u0000\"]",
                                       "[\"\\u00005\"]",
                                       "[-123456789012345678901234567890]",
                                       "[012345678901234567890123456789]",
                                       "[1234567890123456789012.5]" };
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        task_init(&t);
        if (snarkjs_public_read(&back, &t, PATH, text_span(bad[i]), &curve_bn254) != CUZK_MALFORMED)
            fail_msg("%s", bad[i]);
    }
}

static char *vk_text(const struct vk_points *vk)
{
    struct task t;
    struct json_text text;
    task_init(&t);
    assert_int_equal(snarkjs_vk_write(&t, &text, vk), CUZK_OK);
    return terminated(&text);
}

static void test_vk_round_trip(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        for (uint64_t ic_count = 1; ic_count < 4; ic_count++) {
            struct vk_points vk, back;
            struct task t;
            sample_vk(&vk, &rng, curves[k], ic_count);
            char *text = vk_text(&vk);
            task_init(&t);
            if (snarkjs_vk_read(&back, &t, PATH, text_span(text)) != CUZK_OK) fail_msg("%s", t.error.text);
            assert_ptr_equal(back.curve, vk.curve);
            assert_memory_equal(&back.alpha1, &vk.alpha1, sizeof vk.alpha1);
            assert_memory_equal(&back.beta2, &vk.beta2, sizeof vk.beta2);
            assert_memory_equal(&back.gamma2, &vk.gamma2, sizeof vk.gamma2);
            assert_memory_equal(&back.delta2, &vk.delta2, sizeof vk.delta2);
            assert_int_equal(back.ic_count, ic_count);
            assert_memory_equal(back.ic, vk.ic, ic_count * sizeof *vk.ic);
            char *again = vk_text(&back);
            assert_string_equal(again, text);
            free(again);
            free(text);
            vk_points_fini(&vk);
            vk_points_fini(&back);
        }
    }
}

static void expect_vk_change(const char *text, const char *from, const char *to, cuzk_status status,
                             const char *words)
{
    struct vk_points vk;
    struct task t;
    char *changed = replaced(text, from, to);
    task_init(&t);
    cuzk_status got = snarkjs_vk_read(&vk, &t, PATH, text_span(changed));
    if (got != status || (status != CUZK_OK && strstr(t.error.text, words) == NULL))
        fail_msg("wanted %d, \"%s\"; got %d, \"%s\"", status, words, got, t.error.text);
    if (status != CUZK_OK) assert_null(vk.ic);
    vk_points_fini(&vk);
    free(changed);
}

static void test_vk_bad(void **state)
{
    (void)state;
    struct vk_points vk;
    sample_vk(&vk, &rng, &curve_bn254, 2);
    vk.alpha1 = curve_bn254.g1.generator;
    vk.gamma2 = curve_bn254.g2.generator;
    char *text = vk_text(&vk), *line = on_one_line(text);
    expect_vk_change(line, "\"curve\":\"bn128\",", "", CUZK_OK, "");
    expect_vk_change(line, "\"nPublic\":1", "\"nPublic\":\"1\"", CUZK_OK, "");
    expect_vk_change(line, "\"curve\":\"bn128\"", "\"curve\":\"bls12381\"", CUZK_MALFORMED,
                     "is not on the curve");
    expect_vk_change(line, "\"curve\":\"bn128\"", "\"curve\":\"secp256k1\"", CUZK_UNSUPPORTED, "secp256k1");
    expect_vk_change(line, "\"nPublic\":1", "\"nPublic\":2", CUZK_MALFORMED,
                     "nPublic is 2, but IC has 2 points instead of 3");
    expect_vk_change(line, "\"nPublic\":1,", "", CUZK_MALFORMED, "nPublic is missing");
    expect_vk_change(line, "\"nPublic\":1", "\"nPublic\":18446744073709551615", CUZK_MALFORMED,
                     "nPublic is not smaller");
    expect_vk_change(line, "\"IC\"", "\"ic\"", CUZK_MALFORMED, "IC is not an array");
    expect_vk_change(line, "\"IC\":[", "\"IC\":[],\"x\":[", CUZK_MALFORMED, "IC is not an array");
    expect_vk_change(line, "\"IC\":[", "\"IC\":[7,", CUZK_MALFORMED, "nPublic is 1, but IC has 3");
    expect_vk_change(line, "[\"1\",\"2\",\"1\"]", "[\"0\",\"1\",\"0\"]", CUZK_KEY_INVALID,
                     "vk_alpha_1 is the point at infinity");
    expect_vk_change(line, "\"vk_delta_2\"", "\"delta\"", CUZK_MALFORMED, "vk_delta_2 is missing");
    expect_vk_change(line, "\"groth16\"", "\"fflonk\"", CUZK_UNSUPPORTED, "fflonk");
    expect_vk_change(line, "10857046999023057135944570762232829481370756359578518086990519993285655852781",
                     "1", CUZK_MALFORMED, "vk_gamma_2 is not on the curve");
    free(text);
    free(line);
    vk_points_fini(&vk);
}

static void test_trapdoor(void **state)
{
    (void)state;
    struct temp_folder folder;
    char path[PATH_MAX];
    temp_folder_create(&folder);
    temp_folder_path(path, &folder, "trapdoor.json");
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        struct trapdoor out, back;
        struct mapfile file;
        struct stat st;
        struct task t;
        memset(&out, 0, sizeof out);
        out.curve = curves[k];
        out.layout = k == 0 ? ROOT_SNARKJS : ROOT_BELLMAN;
        struct fr_int *values[] = { &out.tau, &out.alpha, &out.beta, &out.gamma, &out.delta };
        for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
            values[i]->w[0] = prng_u64(&rng) | 1;
            values[i]->w[3] = prng_u64(&rng) >> 4;
        }
        task_init(&t);
        if (trapdoor_file_write(&t, path, &out) != CUZK_OK) fail_msg("%s", t.error.text);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        assert_int_equal(mapfile_open(&file, &t, path), CUZK_OK);
        assert_non_null(memmem(file.bytes.data, file.bytes.size, "FORGE", 5));
        if (trapdoor_file_read(&back, &t, path, file.bytes) != CUZK_OK) fail_msg("%s", t.error.text);
        assert_memory_equal(&back, &out, sizeof out);

        struct blob text = blob_copy(file.bytes.data, file.bytes.size);
        char *whole = malloc(text.size + 1);
        assert_non_null(whole);
        memcpy(whole, text.data, text.size);
        whole[text.size] = '\0';
        static const struct {
            const char *from, *to, *words;
        } changes[] = {
            { "\"cuzk_trapdoor\": 1", "\"cuzk_trapdoor\": 2", "not a trapdoor file of version 1" },
            { "\"tau\": \"", "\"tau\": \"9999999999999999999999999999999999999999999999",
              "tau is not smaller than" },
            { "\"gamma\"", "\"gamut\"", "gamma is missing" },
            { "\"alpha\": \"", "\"alpha\": \"0\", \"spare\": \"", "alpha is zero" },
            { "\"layout\": \"", "\"layout\": \"x", "the layout is missing" },
            { "\"curve\": \"", "\"curve\": \"x", "the curve is missing" },
        };
        for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
            char *changed = replaced(whole, changes[i].from, changes[i].to);
            task_init(&t);
            assert_int_equal(trapdoor_file_read(&back, &t, PATH, text_span(changed)), CUZK_MALFORMED);
            if (strstr(t.error.text, changes[i].words) == NULL)
                fail_msg("\"%s\" not in \"%s\"", changes[i].words, t.error.text);
            static const struct trapdoor none;
            assert_memory_equal(&back, &none, sizeof back);
            free(changed);
        }
        for (size_t size = 0; size + 2 < text.size; size++) { /* the last two bytes are "}\n" */
            struct blob cut = blob_copy(text.data, size);
            task_init(&t);
            assert_int_equal(trapdoor_file_read(&back, &t, PATH, blob_span(&cut)), CUZK_MALFORMED);
            blob_free(&cut);
        }
        free(whole);
        blob_free(&text);
        mapfile_close(&file);
    }
    temp_folder_remove(&folder);
}

int main(void)
{
    prng_init(&rng);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decimal),           cmocka_unit_test(test_proof_round_trip),
        cmocka_unit_test(test_proof_bytes),       cmocka_unit_test(test_proof_bad),
        cmocka_unit_test(test_proof_truncations), cmocka_unit_test(test_public),
        cmocka_unit_test(test_vk_round_trip),     cmocka_unit_test(test_vk_bad),
        cmocka_unit_test(test_trapdoor),
    };
    return cmocka_run_group_tests_name("formats: JSON", tests, NULL, NULL);
}
