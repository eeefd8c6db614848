/* Keys and proofs in bellman's layout (.vk, .params, 192-byte proofs), and the identification of files. */
#include "support/cm.h"
#include "base/bytes.h"
#include "formats/filparams.h"
#include "formats/identify.h"
#include "formats/proof_codec.h"
#include "formats/snarkjs_json.h"
#include "support/format_samples.h"

#define PATH "sample.params"

static struct prng rng;
static const struct curve *const c = &curve_bls12_381;

/* x of a point on the curve but not in the subgroup: (0, 2) on y^2 = x^3 + 4 has order 3. */
static const uint8_t outside_subgroup[48] = { 0x80 };

static void expect_vk_error(struct blob b, cuzk_status status, const char *words, uint64_t offset)
{
    struct filvk vk;
    struct task t;
    struct vk_points points;
    task_init(&t);
    cuzk_status got = filvk_parse(&vk, &t, PATH, blob_span(&b));
    if (got == CUZK_OK) got = filvk_points(&points, &t, &vk);
    if (got != status || strstr(t.error.text, words) == NULL || t.error.offset != offset)
        fail_msg("wanted %d, \"%s\" at %llu; got %d, \"%s\" at %llu", status, words,
                 (unsigned long long)offset, got, t.error.text, (unsigned long long)t.error.offset);
    assert_string_equal(t.error.path, PATH);
    blob_free(&b);
}

static struct blob changed(const struct blob *b, size_t at, const void *data, size_t size)
{
    struct blob out = blob_copy(b->data, b->size);
    memcpy(out.data + at, data, size);
    return out;
}

static void test_vk(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        for (uint32_t ic_count = 1; ic_count < 4; ic_count++) {
            struct blob b = sample_filvk(&rng, ic_count, compressed);
            struct filvk vk;
            struct vk_points points;
            struct task t;
            task_init(&t);
            if (filvk_parse(&vk, &t, PATH, blob_span(&b)) != CUZK_OK) fail_msg("%s", t.error.text);
            assert_int_equal(vk.encoding, compressed ? ENCODING_ZCASH_COMPRESSED : ENCODING_ZCASH);
            assert_int_equal(vk.ic_count, ic_count);
            assert_int_equal(vk.bytes, b.size);
            assert_int_equal(filvk_points(&points, &t, &vk), CUZK_OK);
            assert_int_equal(points.ic_count, ic_count);
            if (!compressed) { /* written again: the same bytes */
                struct blob again = blob_copy(b.data, b.size);
                memset(again.data, 0x5a, again.size);
                filvk_write(again.data, &points, &vk.beta1, &vk.delta1);
                assert_memory_equal(again.data, b.data, b.size);
                blob_free(&again);
            }
            vk_points_fini(&points);
            blob_free(&b);
        }
    }
}

static void test_vk_bad(void **state)
{
    (void)state;
    uint8_t bytes[192] = { 0 };
    struct blob b = sample_filvk(&rng, 2, false), s = sample_filvk(&rng, 2, true);
    expect_vk_error(blob_copy("", 0), CUZK_MALFORMED, "this is an empty file", 0);
    expect_vk_error(blob_copy("<html>no such file</html>", 25), CUZK_MALFORMED, "this is an HTML or XML page",
                    0);
    expect_vk_error(blob_copy("wtns", 4), CUZK_MALFORMED, "this is a witness file", 0);
    struct blob proof = sample_proof_bytes(&rng, 2);
    expect_vk_error(proof, CUZK_MALFORMED, "this is a proof of 192 bytes", 0);

    store_be32(bytes, 0);
    expect_vk_error(changed(&b, 864, bytes, 4), CUZK_MALFORMED, "no ic point", 864);
    expect_vk_error(changed(&s, 432, bytes, 4), CUZK_MALFORMED, "no ic point", 432);
    store_be32(bytes, 3);
    expect_vk_error(changed(&b, 864, bytes, 4), CUZK_MALFORMED, "3 ic points need 288 bytes, but only 192",
                    864);
    store_be32(bytes, UINT32_MAX);
    expect_vk_error(changed(&b, 864, bytes, 4), CUZK_MALFORMED,
                    "4294967295 ic points need 412316860320 bytes", 864);
    store_be32(bytes, 1);
    expect_vk_error(changed(&b, 864, bytes, 4), CUZK_MALFORMED, "96 bytes follow the verifying key", 964);
    /* Points: each flag wrong, infinity, off the curve, out of the subgroup, not reduced. */
    memset(bytes, 0, sizeof bytes);
    expect_vk_error(changed(&b, 0, bytes, 96), CUZK_KEY_INVALID, "alpha_g1 is not on the curve", 0);
    bytes[0] = 0x40;
    expect_vk_error(changed(&b, 384, bytes, 192), CUZK_KEY_INVALID, "gamma_g2 is the point at infinity", 384);
    expect_vk_error(changed(&b, 868 + 96, bytes, 96), CUZK_KEY_INVALID, "ic[1] is the point at infinity",
                    868 + 96);
    bytes[0] = 0x60;
    expect_vk_error(changed(&b, 576, bytes, 96), CUZK_KEY_INVALID, "delta_g1", 576);
    bytes[0] = 0xc0;
    expect_vk_error(changed(&s, 48, bytes, 48), CUZK_KEY_INVALID, "beta_g1 is the point at infinity", 48);
    expect_vk_error(changed(&s, 48, outside_subgroup, 48), CUZK_KEY_INVALID, "beta_g1 is not in the", 48);
    memset(bytes, 0xff, sizeof bytes);
    bytes[0] = 0x1f;
    expect_vk_error(changed(&b, 96, bytes, 48), CUZK_KEY_INVALID, "beta_g1", 96);
    bytes[0] = b.data[192] | 0x80; /* a compressed point among uncompressed ones */
    expect_vk_error(changed(&b, 192, bytes, 1), CUZK_KEY_INVALID, "beta_g2", 192);
    blob_free(&b);
    blob_free(&s);
}

/* (0, 2) again, uncompressed: on the curve, of order 3. */
static void test_subgroup(void **state)
{
    (void)state;
    struct blob b = sample_filparams(&rng, 0);
    struct filparams p;
    struct g_aff point;
    struct task t;
    task_init(&t);
    assert_int_equal(filparams_parse(&p, &t, PATH, blob_span(&b)), CUZK_OK);
    uint8_t *second = b.data + (p.h.data - b.data) + 96;
    memset(second, 0, 96);
    second[95] = 2;
    assert_int_equal(filparams_point(&p, &t, &point, &p.h, GROUP_G1, "h", 1, false), CUZK_OK);
    assert_int_equal(filparams_point(&p, &t, &point, &p.h, GROUP_G1, "h", 1, true), CUZK_KEY_INVALID);
    assert_int_equal(t.error.offset, (uint64_t)(second - b.data));
    assert_non_null(strstr(t.error.text, "point 1 of h"));
    memset(second, 0, 96);
    second[0] = 0x40;
    task_init(&t);
    assert_int_equal(filparams_point(&p, &t, &point, &p.h, GROUP_G1, "h", 1, false), CUZK_KEY_INVALID);
    assert_string_equal(t.error.text, "point 1 of h is the point at infinity");
    task_init(&t);
    for (uint32_t i = 0; i < p.b_g2_count; i++)
        assert_int_equal(filparams_point(&p, &t, &point, &p.b_g2, GROUP_G2, "b_g2", i, true), CUZK_OK);
    blob_free(&b);
}

static void test_params(void **state)
{
    (void)state;
    for (size_t trailing = 0; trailing < 40; trailing += 13) {
        struct blob b = sample_filparams(&rng, trailing);
        struct filparams p;
        struct task t;
        task_init(&t);
        if (filparams_parse(&p, &t, PATH, blob_span(&b)) != CUZK_OK) fail_msg("%s", t.error.text);
        assert_int_equal(p.vk.ic_count, 2);
        assert_int_equal(p.h_count, 3);
        assert_int_equal(p.l_count, 3);
        assert_int_equal(p.a_count, 4);
        assert_int_equal(p.b_g1_count, 2);
        assert_int_equal(p.b_g2_count, 2);
        assert_int_equal(p.b_g2.size, 2 * 192);
        assert_int_equal(p.trailing_bytes, trailing);
        assert_ptr_equal(p.b_g2.data + p.b_g2.size + trailing, b.data + b.size);
        blob_free(&b);
    }
}

static void test_params_bad(void **state)
{
    (void)state;
    struct blob b = sample_filparams(&rng, 5);
    struct filparams p;
    struct task t;
    task_init(&t);
    assert_int_equal(filparams_parse(&p, &t, PATH, blob_span(&b)), CUZK_OK);
    const struct {
        const struct span *vector;
        uint32_t count;
        const char *words;
    } lies[] = {
        { &p.h, UINT32_MAX, "h should have 4294967295 points, 412316860320 bytes" },
        { &p.h, 2, "which is not one less than a power of two" }, /* and all that follows is shifted */
        { &p.l, UINT32_MAX, "l should have 4294967295 points" },
        { &p.a, UINT32_MAX, "a should have 4294967295 points" },
        { &p.b_g1, UINT32_MAX, "b_g1 should have 4294967295 points" },
        { &p.b_g2, UINT32_MAX, "b_g2 should have 4294967295 points, 824633720640 bytes" },
        { &p.b_g2, 1, "b_g1 has 2 points, but b_g2 1" },
    };
    for (size_t i = 0; i < ARRAY_COUNT(lies); i++) {
        struct blob wrong = blob_copy(b.data, b.size);
        struct filparams q;
        size_t at = (size_t)(lies[i].vector->data - b.data) - 4;
        store_be32(wrong.data + at, lies[i].count);
        task_init(&t);
        assert_int_equal(filparams_parse(&q, &t, PATH, blob_span(&wrong)), CUZK_MALFORMED);
        if (i != 1 && (strstr(t.error.text, lies[i].words) == NULL || t.error.offset != at))
            fail_msg("\"%s\" at %llu", t.error.text, (unsigned long long)t.error.offset);
        blob_free(&wrong);
    }
    /* Vectors that are whole, but contradict each other: laid out anew with other counts. */
    static const struct {
        struct filparams_shape shape;
        const char *words;
    } shapes[] = {
        { { 2, 4, 3, 4, 2 }, "h has 4 points" },
        { { 2, 3, 3, 1, 2 }, "a has 1 points" },
        { { 2, 3, 3, 6, 2 }, "a has 6 points" },
        { { 2, 3, 3, 4, 6 }, "b_g1 has 6 points" },
    };
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++) {
        struct filparams_layout at;
        struct filparams q;
        filparams_layout_plan(&at, &shapes[i].shape);
        uint8_t *file = calloc(1, at.file_bytes);
        assert_non_null(file);
        memcpy(file, b.data, filvk_file_bytes(2));
        filparams_layout_write(file, &at, &shapes[i].shape);
        task_init(&t);
        assert_int_equal(filparams_parse(&q, &t, PATH, span_of(file, at.file_bytes)), CUZK_MALFORMED);
        assert_non_null(strstr(t.error.text, shapes[i].words));
        free(file);
    }
    struct blob s = sample_filvk(&rng, 2, true);
    task_init(&t);
    assert_int_equal(filparams_parse(&p, &t, PATH, blob_span(&s)), CUZK_UNSUPPORTED);
    blob_free(&s);
    blob_free(&b);
}

/* Every prefix is refused by name, and none is read beyond its end (the buffers are exact). */
static void test_truncations(void **state)
{
    (void)state;
    struct blob files[] = { sample_filvk(&rng, 2, false), sample_filvk(&rng, 2, true),
                            sample_filparams(&rng, 0) };
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        for (size_t size = 0; size < files[i].size; size++) {
            struct blob cut = blob_copy(files[i].data, size);
            struct filvk vk;
            struct filparams p;
            struct task t;
            task_init(&t);
            cuzk_status got = i == 2 ? filparams_parse(&p, &t, PATH, blob_span(&cut))
                                     : filvk_parse(&vk, &t, PATH, blob_span(&cut));
            if (got != CUZK_MALFORMED)
                fail_msg("file %zu cut to %zu: %d, \"%s\"", i, size, got, t.error.text);
            assert_string_equal(t.error.path, PATH);
            assert_true(t.error.text[0] != '\0' && t.error.advice[0] != '\0');
            blob_free(&cut);
        }
        blob_free(&files[i]);
    }
}

static void expect_proof_error(const uint8_t *bytes, const char *words, uint64_t offset)
{
    struct proof_points proofs[2];
    struct task t;
    task_init(&t);
    assert_int_equal(proof_decode(proofs, &t, PATH, span_of(bytes, 2 * PROOF_BYTES), 2), CUZK_MALFORMED);
    if (strstr(t.error.text, words) == NULL || t.error.offset != offset)
        fail_msg("\"%s\" at %llu", t.error.text, (unsigned long long)t.error.offset);
}

static void test_proof_codec(void **state)
{
    (void)state;
    struct blob b = sample_proof_bytes(&rng, 2);
    struct proof_points proofs[2];
    uint8_t again[PROOF_BYTES];
    struct task t;
    task_init(&t);
    assert_int_equal(proof_decode(proofs, &t, NULL, blob_span(&b), 2), CUZK_OK);
    for (size_t i = 0; i < 2; i++) {
        proof_encode(again, &proofs[i]);
        assert_memory_equal(again, b.data + PROOF_BYTES * i, PROOF_BYTES);
    }
    for (size_t size = 0; size <= b.size; size++) {
        struct blob cut = blob_copy(b.data, size);
        task_init(&t);
        assert_int_equal(proof_decode(proofs, &t, PATH, blob_span(&cut), 2),
                         size == b.size ? CUZK_OK : CUZK_MALFORMED);
        blob_free(&cut);
    }
    assert_int_equal(proof_decode(proofs, &t, PATH, blob_span(&b), 1), CUZK_MALFORMED);

    static const struct {
        size_t at;
        size_t bytes;
        const char *name;
    } points[] = {
        { 0, 48, "A of proof 0" },   { 48, 96, "B of proof 0" },  { 144, 48, "C of proof 0" },
        { 192, 48, "A of proof 1" }, { 240, 96, "B of proof 1" }, { 336, 48, "C of proof 1" },
    };
    for (size_t i = 0; i < ARRAY_COUNT(points); i++) {
        struct blob wrong = blob_copy(b.data, b.size);
        uint8_t *p = wrong.data + points[i].at;
        char words[80];
        memset(p, 0, points[i].bytes);
        p[0] = 0xc0;
        snprintf(words, sizeof words, "%s is the point at infinity", points[i].name);
        expect_proof_error(wrong.data, words, points[i].at);
        p[0] = 0xe0; /* infinity with a sign */
        expect_proof_error(wrong.data, points[i].name, points[i].at);
        p[0] = 0x00; /* not compressed */
        expect_proof_error(wrong.data, points[i].name, points[i].at);
        memset(p, 0xff, points[i].bytes); /* x >= p */
        p[0] = 0x9f;
        expect_proof_error(wrong.data, points[i].name, points[i].at);
        if (points[i].bytes == 48) {
            memcpy(p, outside_subgroup, 48);
            snprintf(words, sizeof words, "%s is not in the", points[i].name);
            expect_proof_error(wrong.data, words, points[i].at);
        }
        blob_free(&wrong);
    }
    blob_free(&b);
}

static void expect_kind(struct blob b, enum file_kind kind)
{
    if (identify(blob_span(&b)) != kind)
        fail_msg("%s taken for %s", file_kind_text(kind), file_kind_text(identify(blob_span(&b))));
    blob_free(&b);
}

static struct blob text(const char *s) { return blob_copy(s, strlen(s)); }

static void test_identify(void **state)
{
    (void)state;
    struct task t;
    struct json_text json;
    struct vk_points vk;
    struct proof_points proof;
    task_init(&t);
    expect_kind(text(""), FILE_EMPTY);
    expect_kind(sample_zkey(&rng, c, 1), FILE_ZKEY_GROTH16);
    expect_kind(sample_wtns(&rng, c, 1), FILE_WTNS);
    expect_kind(sample_r1cs(&rng, c), FILE_R1CS);
    expect_kind(sample_ptau(&rng, c, 1, false), FILE_PTAU);
    expect_kind(sample_filvk(&rng, 3, false), FILE_FIL_VK);
    expect_kind(sample_filvk(&rng, 3, true), FILE_FIL_VK_COMPRESSED);
    expect_kind(sample_filparams(&rng, 0), FILE_FIL_PARAMS);
    expect_kind(sample_filparams(&rng, 100), FILE_FIL_PARAMS);
    static const char *const texts[] = { "\n[", "\r{", "\t<a" }; /* as a coordinate may begin */
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct blob b = sample_filparams(&rng, 0);
        memcpy(b.data, texts[i], strlen(texts[i]));
        expect_kind(b, FILE_FIL_PARAMS);
    }
    expect_kind(sample_proof_bytes(&rng, 1), FILE_PROOF_BYTES);
    expect_kind(sample_proof_bytes(&rng, 10), FILE_PROOF_BYTES);
    static const struct {
        uint32_t protocol;
        enum file_kind kind;
    } protocols[] = {
        { 2, FILE_ZKEY_PLONK },
        { 10, FILE_ZKEY_FFLONK },
        { 7, FILE_ZKEY_OTHER },
    };
    for (size_t i = 0; i < ARRAY_COUNT(protocols); i++) {
        struct blob b = sample_zkey(&rng, c, 1);
        store_le32(b.data + 24, protocols[i].protocol);
        expect_kind(b, protocols[i].kind);
    }
    expect_kind(text("zkey\1"), FILE_ZKEY_OTHER);
    expect_kind(blob_copy("\0asm\1\0\0\0", 8), FILE_WASM);

    sample_vk(&vk, &rng, c, 2);
    assert_int_equal(snarkjs_vk_write(&t, &json, &vk), CUZK_OK);
    expect_kind(blob_copy(json.data, json.size), FILE_VK_JSON);
    json_text_fini(&json);
    vk_points_fini(&vk);
    sample_proof(&proof, &rng, c);
    assert_int_equal(snarkjs_proof_write(&t, &json, c, &proof), CUZK_OK);
    expect_kind(blob_copy(json.data, json.size), FILE_PROOF_JSON);
    json_text_fini(&json);
    expect_kind(text("[\n \"1\"\n]"), FILE_PUBLIC_JSON);
    expect_kind(text(" \n{\"cuzk_trapdoor\": 1}"), FILE_TRAPDOOR_JSON);
    expect_kind(text("{\"in\": [1, 2]}"), FILE_JSON);
    expect_kind(text("<!doctype html><title>404</title>"), FILE_HTML);
    expect_kind(text("\n<?xml version=\"1.0\"?><Error/>"), FILE_HTML);
    expect_kind(text("404: Not Found"), FILE_TEXT);
    expect_kind(text("\n \n"), FILE_UNKNOWN);
    expect_kind(text("\x01\x02\x03"), FILE_UNKNOWN);
    expect_kind(text("caf\xc3\xa9"), FILE_UNKNOWN);
    for (int kind = 0; kind < FILE_KIND_COUNT; kind++)
        assert_true(strlen(file_kind_text((enum file_kind)kind)) > 5);

    /* Random bytes are nothing. */
    for (int i = 0; i < 500; i++) {
        uint8_t bytes[2000];
        prng_bytes(&rng, bytes, sizeof bytes);
        bytes[0] |= 0xc0;
        bytes[96] |= 0x1f;
        expect_kind(blob_copy(bytes, prng_below(&rng, 1920) + 10), FILE_UNKNOWN);
    }
}

int main(void)
{
    prng_init(&rng);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vk),          cmocka_unit_test(test_vk_bad),
        cmocka_unit_test(test_subgroup),    cmocka_unit_test(test_params),
        cmocka_unit_test(test_params_bad),  cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_proof_codec), cmocka_unit_test(test_identify),
    };
    return cmocka_run_group_tests_name("formats: bellman's layout", tests, NULL, NULL);
}
