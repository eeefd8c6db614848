/* The parsers of .zkey, .wtns, .r1cs and .ptau: whole files, every truncation, and forty ways to be wrong. */
#include "support/cm.h"
#include "base/bytes.h"
#include "base/mapfile.h"
#include "formats/identify.h"
#include "formats/ptau.h"
#include "formats/r1cs_file.h"
#include "formats/wtns.h"
#include "formats/zkey.h"
#include "support/format_samples.h"
#include "support/temp_folder.h"
#include <fcntl.h>

#define PATH "sample.bin"

static struct prng rng;
static const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };

enum parser { ZKEY, WTNS, R1CS, PTAU };

/* Parses, and reads everything that the parser leaves for later. */
static cuzk_status parse(enum parser which, struct task *t, struct span file)
{
    struct zkey z;
    struct witness w;
    struct r1cs_file r;
    struct ptau p;
    task_init(t);
    switch (which) {
    case ZKEY:
        TRY(zkey_parse(&z, t, PATH, file));
        for (uint64_t i = 0; i < z.n_coefs; i++) {
            struct zkey_coef coef;
            TRY(zkey_coef_read(&z, t, &coef, i));
        }
        return CUZK_OK;
    case WTNS:
        return wtns_parse(&w, t, PATH, file);
    case R1CS: {
        struct r1cs_reader reader;
        struct r1cs_term term;
        bool end = false;
        TRY(r1cs_file_parse(&r, t, PATH, file));
        r1cs_reader_init(&reader, &r);
        while (!end) TRY(r1cs_reader_next(&reader, t, &term, &end));
        return CUZK_OK;
    }
    default:
        return ptau_parse(&p, t, PATH, file);
    }
}

/* Frees b.  The error must have this status, mention this text, and name the file. */
static void expect_error_at(enum parser which, struct blob b, cuzk_status status, const char *text,
                            uint64_t offset)
{
    struct task t;
    cuzk_status got = parse(which, &t, blob_span(&b));
    if (got != status || strstr(t.error.text, text) == NULL || (offset != 0 && t.error.offset != offset))
        fail_msg("wanted status %d, \"%s\" at %llu; got %d, \"%s\" at %llu", status, text,
                 (unsigned long long)offset, got, t.error.text, (unsigned long long)t.error.offset);
    assert_string_equal(t.error.path, PATH);
    blob_free(&b);
}

static void expect_error(enum parser which, struct blob b, cuzk_status status, const char *text)
{
    expect_error_at(which, b, status, text, 0);
}

static void expect_good(enum parser which, struct blob b)
{
    struct task t;
    if (parse(which, &t, blob_span(&b)) != CUZK_OK) fail_msg("%s", t.error.text);
    blob_free(&b);
}

static size_t section_at(const struct blob *b, uint32_t type)
{
    size_t offset, size;
    assert_true(sample_section(b, type, &offset, &size));
    return offset;
}

/* Copies of b with one change. */
static struct blob with_u32(const struct blob *b, size_t at, uint32_t value)
{
    struct blob c = blob_copy(b->data, b->size);
    store_le32(c.data + at, value);
    return c;
}

static struct blob with_bytes(const struct blob *b, size_t at, const void *data, size_t size)
{
    struct blob c = blob_copy(b->data, b->size);
    memcpy(c.data + at, data, size);
    return c;
}

static struct blob with_cut(const struct blob *b, uint32_t type, size_t keep)
{
    struct blob c = blob_copy(b->data, b->size);
    sample_section_cut(&c, type, keep);
    return c;
}

static struct blob with_section(const struct blob *b, uint32_t type, const void *data, size_t size)
{
    struct blob c = blob_copy(b->data, b->size);
    sample_section_append(&c, type, data, size);
    return c;
}

static void test_zkey_good(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        for (uint32_t n_public = 0; n_public < SAMPLE_DOMAIN; n_public++) {
            const struct curve *c = curves[k];
            struct blob b = sample_zkey(&rng, c, n_public);
            struct task t;
            struct zkey z;
            task_init(&t);
            if (zkey_parse(&z, &t, PATH, blob_span(&b)) != CUZK_OK) fail_msg("%s", t.error.text);
            assert_ptr_equal(z.curve, c);
            assert_int_equal(z.n_vars, SAMPLE_VARS);
            assert_int_equal(z.n_public, n_public);
            assert_int_equal(z.domain_size, SAMPLE_DOMAIN);
            assert_int_equal(z.domain_log2, 2);
            assert_int_equal(z.n_coefs, SAMPLE_COEFS);
            assert_int_equal(z.ic.size, (n_public + 1) * c->g1.aff_bytes);
            assert_int_equal(z.c.size, (SAMPLE_VARS - n_public - 1) * c->g1.aff_bytes);
            assert_non_null(z.contributions.data);
            /* The points of the header are those of the file, in its order. */
            size_t at = section_at(&b, 2) + 4 + c->fp_bytes + 4 + 32 + 12;
            assert_memory_equal(z.alpha1.w, b.data + at, c->g1.aff_bytes);
            assert_memory_equal(z.delta2.w, b.data + at + 3 * c->g1.aff_bytes + 2 * c->g2.aff_bytes,
                                c->g2.aff_bytes);
            blob_free(&b);
        }
    }
}

/* The value in the file is v R^2; out comes v R, which to_int turns into v. */
static void test_zkey_coefficient_form(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        const struct curve *c = curves[k];
        struct blob b = sample_zkey(&rng, c, 1);
        struct fr v, stored;
        struct fr_int number = { { prng_u64(&rng), prng_u64(&rng) } }, got;
        /* from_int(x) has the words x R mod r: applied twice it gives the words of v R^2. */
        c->fr.from_int(&v, &number);
        memcpy(number.w, v.w, sizeof number.w);
        c->fr.from_int(&stored, &number);
        words_to_le(b.data + section_at(&b, 4) + 4 + 12, stored.w, 4);
        struct task t;
        struct zkey z;
        struct zkey_coef coef;
        task_init(&t);
        assert_int_equal(zkey_parse(&z, &t, PATH, blob_span(&b)), CUZK_OK);
        assert_int_equal(zkey_coef_read(&z, &t, &coef, 0), CUZK_OK);
        c->fr.to_int(&got, &coef.value);
        c->fr.to_int(&number, &v);
        assert_memory_equal(got.w, number.w, sizeof got.w);
        blob_free(&b);
    }
}

static void test_zkey_tolerates(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        struct blob b = sample_zkey(&rng, curves[k], 1);
        for (int backwards = 0; backwards < 2; backwards++) {
            struct blob c = blob_copy(b.data, b.size);
            sample_sections_reorder(&c, backwards);
            expect_good(ZKEY, c);
        }
        expect_good(ZKEY, with_section(&b, 11, "anything", 8));
        expect_good(ZKEY, with_section(&b, 0xfffffff0, "", 0));
        /* Without section 10: give it a type that nobody knows. */
        expect_good(ZKEY, with_u32(&b, section_at(&b, 10) - 12, 77));
        blob_free(&b);
    }
}

static void test_zkey_bad(void **state)
{
    (void)state;
    struct blob b = sample_zkey(&rng, &curve_bn254, 1);
    const size_t header = section_at(&b, 2), sizes = header + 72, points = header + 84;
    const size_t coefs = section_at(&b, 4), a = section_at(&b, 5);
    uint8_t off_curve[64] = { 5 }, ones[32];
    off_curve[32] = 7;
    memset(ones, 0xff, sizeof ones);

    expect_error(ZKEY, blob_copy("", 0), CUZK_MALFORMED, "an empty file");
    expect_error(ZKEY, with_bytes(&b, 0, "zkex", 4), CUZK_MALFORMED,
                 "does not start with the letters \"zkey\"");
    expect_error_at(ZKEY, with_u32(&b, 4, 99), CUZK_UNSUPPORTED, "version 99", 4);
    expect_error_at(ZKEY, with_u32(&b, 4, 0), CUZK_UNSUPPORTED, "version 0", 4);
    expect_error_at(ZKEY, with_u32(&b, 8, 0xffffffff), CUZK_MALFORMED,
                    "section 11 of 4294967295 should begin", b.size);
    expect_error(ZKEY, with_u32(&b, 8, 9), CUZK_MALFORMED, "bytes follow the last of 9 sections");
    uint8_t huge[8];
    store_le64(huge, UINT64_MAX - 11);
    expect_error_at(ZKEY, with_bytes(&b, 16, huge, 8), CUZK_MALFORMED, "18446744073709551604 bytes long", 16);
    expect_error(ZKEY, with_u32(&b, coefs - 12, 44), CUZK_MALFORMED, "section 4 (coefficients) is missing");
    expect_error(ZKEY, with_u32(&b, section_at(&b, 9) - 12, 44), CUZK_MALFORMED, "section 9 (H) is missing");
    expect_error(ZKEY, with_section(&b, 5, b.data + a, SAMPLE_VARS * 64), CUZK_MALFORMED,
                 "section 5 occurs twice");
    expect_error(ZKEY, with_u32(&b, section_at(&b, 1), 2), CUZK_UNSUPPORTED, "PLONK");
    expect_error(ZKEY, with_u32(&b, section_at(&b, 1), 10), CUZK_UNSUPPORTED, "FFLONK");
    expect_error(ZKEY, with_u32(&b, section_at(&b, 1), 3), CUZK_UNSUPPORTED, "protocol 3");
    expect_error(ZKEY, with_cut(&b, 1, 3), CUZK_MALFORMED, "section 1 (protocol) has 3 bytes");
    /* Another curve. */
    expect_error_at(ZKEY, with_u32(&b, header, 40), CUZK_UNSUPPORTED, "40 bytes", header);
    expect_error(ZKEY, with_u32(&b, header, 48), CUZK_UNSUPPORTED, "neither BN254 nor BLS12-381");
    expect_error_at(ZKEY, with_u32(&b, header + 4, 0), CUZK_UNSUPPORTED, "neither BN254 nor BLS12-381",
                    header + 4);
    expect_error_at(ZKEY, with_u32(&b, header + 36, 64), CUZK_MALFORMED, "scalars of 64 bytes", header + 36);
    expect_error_at(ZKEY, with_u32(&b, header + 40, 1), CUZK_MALFORMED, "not that of bn128", header + 40);
    /* Sizes. */
    expect_error(ZKEY, with_u32(&b, sizes, SAMPLE_VARS + 1), CUZK_MALFORMED, "the header asks for");
    expect_error(ZKEY, with_u32(&b, sizes, 0xffffffff), CUZK_MALFORMED, "the header asks for");
    expect_error(ZKEY, with_u32(&b, sizes, 0), CUZK_MALFORMED, "do not fit");
    expect_error_at(ZKEY, with_u32(&b, sizes + 4, SAMPLE_VARS + 5), CUZK_MALFORMED, "do not fit", sizes + 4);
    expect_error(ZKEY, with_u32(&b, sizes + 4, SAMPLE_VARS), CUZK_MALFORMED, "do not fit");
    expect_error(ZKEY, with_u32(&b, sizes + 4, 2), CUZK_MALFORMED, "section 3 (IC)");
    expect_error(ZKEY, with_u32(&b, sizes + 4, 4), CUZK_MALFORMED, "has no room");
    expect_error_at(ZKEY, with_u32(&b, sizes + 8, 1000), CUZK_MALFORMED, "1000 is not a power of two",
                    sizes + 8);
    expect_error(ZKEY, with_u32(&b, sizes + 8, 0), CUZK_MALFORMED, "not a power of two");
    expect_error(ZKEY, with_u32(&b, sizes + 8, 1u << 30), CUZK_MALFORMED, "2^30 does not exist");
    expect_error(ZKEY, with_u32(&b, sizes + 8, 2 * SAMPLE_DOMAIN), CUZK_MALFORMED, "section 9 (H)");
    /* Points of the header. */
    expect_error_at(ZKEY, with_bytes(&b, points, off_curve, 64), CUZK_KEY_INVALID, "alpha1", points);
    expect_error_at(ZKEY, with_bytes(&b, points + 64, ones, 32), CUZK_KEY_INVALID, "beta1", points + 64);
    uint8_t zeros[128] = { 0 };
    expect_error_at(ZKEY, with_bytes(&b, points + 256, zeros, 128), CUZK_KEY_INVALID,
                    "gamma2 is the point at infinity", points + 256);
    expect_error(ZKEY, with_cut(&b, 2, 600), CUZK_MALFORMED, "header section ends after 600 bytes");
    /* Coefficients. */
    expect_error_at(ZKEY, with_u32(&b, coefs + 4, 7), CUZK_MALFORMED, "matrix 7", coefs + 4);
    expect_error_at(ZKEY, with_u32(&b, coefs + 8, 0x7fffffff), CUZK_MALFORMED, "row 2147483647", coefs + 8);
    expect_error_at(ZKEY, with_u32(&b, coefs + 12, 0x7fffffff), CUZK_MALFORMED, "variable 2147483647",
                    coefs + 12);
    expect_error_at(ZKEY, with_bytes(&b, coefs + 16, ones, 32), CUZK_MALFORMED, "not smaller than",
                    coefs + 16);
    expect_error_at(ZKEY, with_u32(&b, coefs, 0x7fffffff), CUZK_MALFORMED,
                    "announces 2147483647 coefficients, but its length holds 6", coefs);
    expect_error(ZKEY, with_cut(&b, 4, 4 + 44 * SAMPLE_COEFS - 20), CUZK_MALFORMED,
                 "not 4 and a multiple of 44");
    expect_error(ZKEY, with_cut(&b, 4, 3), CUZK_MALFORMED, "not 4 and a multiple of 44");
    /* Short sections. */
    for (uint32_t type = 3; type <= 9; type++)
        if (type != 4)
            expect_error(ZKEY, with_cut(&b, type, 64), CUZK_MALFORMED,
                         "has 64 bytes, but the header asks for");
    blob_free(&b);
}

/* Points of the large sections are checked by the key check; the error that it gives through zkey_point_verdict. */
static void test_zkey_point_verdict(void **state)
{
    (void)state;
    struct blob b = sample_zkey(&rng, &curve_bn254, 1);
    struct zkey z;
    struct task t;
    uint8_t *second = b.data + section_at(&b, 5) + 64;
    memset(second, 0xff, 32);
    task_init(&t);
    assert_int_equal(zkey_parse(&z, &t, PATH, blob_span(&b)), CUZK_OK);
    const struct group *g = &z.curve->g1;
    assert_int_equal(zkey_point_verdict(&z, &t, "A", z.a.data, 0, g->aff_check(z.a.data, true)), CUZK_OK);
    assert_int_equal(zkey_point_verdict(&z, &t, "A", z.a.data + 64, 1, g->aff_check(z.a.data + 64, true)),
                     CUZK_KEY_INVALID);
    assert_int_equal(t.error.offset, (uint64_t)(second - b.data));
    assert_non_null(strstr(t.error.text, "point 1 of A"));
    blob_free(&b);
}

static void test_wtns_good(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        struct blob b = sample_wtns(&rng, curves[k], 7);
        struct witness w;
        struct task t;
        task_init(&t);
        assert_int_equal(wtns_parse(&w, &t, PATH, blob_span(&b)), CUZK_OK);
        assert_ptr_equal(w.curve, curves[k]);
        assert_int_equal(w.count, 7);
        assert_ptr_equal(w.values.data, b.data + 76);
        expect_good(WTNS, with_section(&b, 3, "more", 4));
        expect_good(WTNS, with_u32(&b, 4, 1));
        sample_sections_reorder(&b, true);
        expect_good(WTNS, b);
    }
}

/* circom's other primes, in decimal as its documentation has them. */
static struct blob with_prime(const struct blob *b, size_t at, size_t which)
{
    static const char *const primes[] = {
        "8444461749428370424248824938781546531375899335154063827935233455917409239041",
        "21888242871839275222246405745257275088696311157297823662689037894645226208583",
        "28948022309329048855892746252171976963363056481941560715954676764349967630337",
        "28948022309329048855892746252171976963363056481941647379679742748393362948097",
        "115792089210356248762697446949407573530086143415290314195533631308867097853951",
    };
    struct blob out = blob_copy(b->data, b->size);
    memset(out.data + at, 0, 32);
    for (const char *digit = primes[which]; *digit != '\0'; digit++) {
        unsigned carry = (unsigned)(*digit - '0');
        for (size_t i = 0; i < 32; i++) {
            carry += 10u * out.data[at + i];
            out.data[at + i] = (uint8_t)carry;
            carry >>= 8;
        }
    }
    return out;
}

/* The smallest prime has a header of its own length; the first 8 bytes of BLS12-381's are the same. */
static void test_goldilocks(void **state)
{
    static const uint8_t file[] =
        "wtns\2\0\0\0\2\0\0\0\1\0\0\0\x10\0\0\0\0\0\0\0\x08\0\0\0\1\0\0\0\xff\xff\xff\xff\1\0\0\0"
        "\2\0\0\0\x08\0\0\0\0\0\0\0\1\0\0\0\0\0\0";
    (void)state;
    expect_error_at(WTNS, blob_copy(file, sizeof file), CUZK_UNSUPPORTED, "that of goldilocks", 28);
    struct blob b = sample_wtns(&rng, &curve_bls12_381, 7);
    expect_error_at(WTNS, with_u32(&b, 24, 8), CUZK_MALFORMED, "numbers of 8 bytes", 24);
    blob_free(&b);
}

static void test_wtns_bad(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        const struct curve *c = curves[k];
        struct blob b = sample_wtns(&rng, c, 7);
        uint8_t ones[32], plus_r[32];
        memset(ones, 0xff, sizeof ones);
        expect_error(WTNS, blob_copy("", 0), CUZK_MALFORMED, "an empty file");
        expect_error_at(WTNS, with_u32(&b, 4, 3), CUZK_UNSUPPORTED, "version 3", 4);
        expect_error_at(WTNS, with_u32(&b, 24, 64), CUZK_MALFORMED, "numbers of 64 bytes", 24);
        expect_error_at(WTNS, with_u32(&b, 28, 3), CUZK_MALFORMED, "neither BN254 nor BLS12-381", 28);
        expect_error_at(WTNS, with_prime(&b, 28, 0), CUZK_UNSUPPORTED, "that of bls12377", 28);
        expect_error_at(WTNS, with_prime(&b, 28, 1), CUZK_UNSUPPORTED, "that of grumpkin", 28);
        expect_error_at(WTNS, with_prime(&b, 28, 2), CUZK_UNSUPPORTED, "that of pallas", 28);
        expect_error_at(WTNS, with_prime(&b, 28, 3), CUZK_UNSUPPORTED, "that of vesta", 28);
        expect_error_at(WTNS, with_prime(&b, 28, 4), CUZK_UNSUPPORTED, "that of secq256r1", 28);
        expect_error(WTNS, with_u32(&b, 60, 6), CUZK_MALFORMED,
                     "section 2 (values) has 224 bytes, but the header asks for 192");
        expect_error_at(WTNS, with_u32(&b, 60, 0), CUZK_MALFORMED, "no values", 60);
        expect_error(WTNS, with_cut(&b, 2, 96), CUZK_MALFORMED, "section 2 (values) has 96 bytes");
        expect_error(WTNS, with_cut(&b, 1, 39), CUZK_MALFORMED, "39 bytes instead of 40");
        expect_error(WTNS, with_cut(&b, 1, 3), CUZK_MALFORMED, "3 bytes");
        expect_error(WTNS, with_u32(&b, 76 - 12, 9), CUZK_MALFORMED, "section 2 (values) is missing");
        expect_error_at(WTNS, with_u32(&b, 76, 2), CUZK_MALFORMED, "value 0", 76);
        expect_error_at(WTNS, with_bytes(&b, 76 + 32 * 6, ones, 32), CUZK_MALFORMED, "value 6", 76 + 32 * 6);

        /* v + r, for a v small enough that the sum fits. */
        struct fr_int v = { { 12345 } };
        unsigned __int128 carry = 0;
        for (int i = 0; i < 4; i++) {
            carry += (unsigned __int128)v.w[i] + c->fr.modulus.w[i];
            v.w[i] = (uint64_t)carry;
            carry >>= 64;
        }
        words_to_le(plus_r, v.w, 4);
        expect_error_at(WTNS, with_bytes(&b, 76 + 32 * 1, plus_r, 32), CUZK_MALFORMED, "value 1",
                        76 + 32 * 1);
        words_to_le(plus_r, c->fr.modulus.w, 4);
        expect_error_at(WTNS, with_bytes(&b, 76 + 32 * 5, plus_r, 32), CUZK_MALFORMED, "value 5",
                        76 + 32 * 5);
        plus_r[0]--; /* r - 1, the largest value there is */
        expect_good(WTNS, with_bytes(&b, 76 + 32 * 5, plus_r, 32));
        blob_free(&b);
    }
}

static void test_r1cs_twice(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        struct blob b = sample_r1cs(&rng, curves[k]);
        struct r1cs_file f;
        struct task t;
        task_init(&t);
        assert_int_equal(r1cs_file_parse(&f, &t, PATH, blob_span(&b)), CUZK_OK);
        assert_ptr_equal(f.curve, curves[k]);
        assert_int_equal(f.n_wires, 6);
        assert_int_equal(f.n_public, 2);
        assert_int_equal(f.n_private_inputs, 2);
        assert_int_equal(f.n_constraints, 3);
        assert_int_equal(f.n_labels, 6);
        for (int pass = 0; pass < 2; pass++) {
            static const unsigned places[SAMPLE_R1CS_TERMS] = { 0, 0, 1, 2, 5, 5, 5, 6, 7, 7, 8 };
            struct r1cs_reader reader;
            struct r1cs_term term;
            bool end;
            r1cs_reader_init(&reader, &f);
            for (unsigned i = 0; i < SAMPLE_R1CS_TERMS; i++) {
                assert_int_equal(r1cs_reader_next(&reader, &t, &term, &end), CUZK_OK);
                assert_false(end);
                assert_int_equal(3 * term.constraint + term.side, places[i]);
            }
            for (int again = 0; again < 3; again++) {
                assert_int_equal(r1cs_reader_next(&reader, &t, &term, &end), CUZK_OK);
                assert_true(end);
            }
        }
        blob_free(&b);
    }
}

static void test_r1cs_bad(void **state)
{
    (void)state;
    struct blob b = sample_r1cs(&rng, &curve_bls12_381);
    const size_t h = section_at(&b, 1), c = section_at(&b, 2);
    uint8_t ones[32];
    memset(ones, 0xff, sizeof ones);
    expect_good(R1CS, blob_copy(b.data, b.size));
    expect_error_at(R1CS, with_u32(&b, 4, 2), CUZK_UNSUPPORTED, "version 2", 4);
    expect_error_at(R1CS, with_u32(&b, h, 8), CUZK_MALFORMED, "8 bytes", h);
    expect_error_at(R1CS, with_u32(&b, h + 4, 8), CUZK_MALFORMED, "neither BN254 nor BLS12-381", h + 4);
    expect_error_at(R1CS, with_prime(&b, h + 4, 2), CUZK_UNSUPPORTED, "that of pallas", h + 4);
    expect_error(R1CS, with_cut(&b, 1, 63), CUZK_MALFORMED, "63 bytes instead of 64");
    expect_error(R1CS, with_cut(&b, 1, 1), CUZK_MALFORMED, "1 bytes");
    expect_error_at(R1CS, with_u32(&b, h + 36, 2), CUZK_MALFORMED, "2 wires cannot hold", h + 36);
    expect_error(R1CS, with_u32(&b, h + 40, 0xffffffff), CUZK_MALFORMED,
                 "6 wires cannot hold the constant and 4294967296");
    expect_error_at(R1CS, with_u32(&b, h + 60, 0xffffffff), CUZK_MALFORMED,
                    "4294967295 constraints cannot stand", h + 60);
    expect_error(R1CS, with_u32(&b, h + 60, 2), CUZK_MALFORMED, "bytes follow the last of 2 constraints");
    expect_error(R1CS, with_u32(&b, h + 60, 4), CUZK_MALFORMED, "ends inside constraint 3 of 4");
    expect_error_at(R1CS, with_u32(&b, c, 0xffffffff), CUZK_MALFORMED,
                    "A of constraint 0 should have 4294967295 terms", c);
    expect_error_at(R1CS, with_u32(&b, c + 4, 6), CUZK_MALFORMED, "names wire 6, but there are only 6",
                    c + 4);
    expect_error_at(R1CS, with_bytes(&b, c + 8, ones, 32), CUZK_MALFORMED,
                    "not smaller than the field's prime", c + 8);
    expect_error(R1CS, with_u32(&b, c - 12, 4), CUZK_MALFORMED, "section 2 (constraints) is missing");
    /* A circuit without constraints. */
    struct blob empty = with_u32(&b, h + 60, 0);
    sample_section_cut(&empty, 2, 0);
    expect_good(R1CS, empty);
    blob_free(&b);
}

static void test_ptau(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        const struct curve *c = curves[k];
        for (unsigned power = 0; power < 3; power++) {
            for (int prepared = 0; prepared < 2; prepared++) {
                struct blob b = sample_ptau(&rng, c, power, prepared);
                struct ptau p;
                struct task t;
                task_init(&t);
                if (ptau_parse(&p, &t, PATH, blob_span(&b)) != CUZK_OK) fail_msg("%s", t.error.text);
                assert_ptr_equal(p.curve, c);
                assert_int_equal(p.power, power);
                assert_int_equal(p.prepared, prepared);
                assert_int_equal(p.tau_g1.size, (2 * (1u << power) - 1) * c->g1.aff_bytes);
                blob_free(&b);
            }
        }
        struct blob b = sample_ptau(&rng, c, 2, true);
        const size_t h = section_at(&b, 1);
        expect_error_at(PTAU, with_u32(&b, h + 4 + c->fp_bytes, 40), CUZK_MALFORMED, "a power of 40",
                        h + 4 + c->fp_bytes);
        expect_error(PTAU, with_u32(&b, h + 4 + c->fp_bytes, 3), CUZK_MALFORMED, "section 2 (tauG1)");
        expect_error(PTAU, with_u32(&b, h, 0xffffffff), CUZK_MALFORMED, "does not fit a field of 4294967295");
        expect_error(PTAU, with_u32(&b, h + 4, 0), CUZK_UNSUPPORTED, "neither BN254 nor BLS12-381");
        expect_error(PTAU, with_cut(&b, 13, 100), CUZK_MALFORMED, "section 13");
        expect_error(PTAU, with_u32(&b, section_at(&b, 14) - 12, 99), CUZK_MALFORMED, "section 14");
        expect_error(PTAU, with_cut(&b, 1, 2), CUZK_MALFORMED, "2 bytes");
        blob_free(&b);
    }
}

/* No prefix of a file is a file, and none is read beyond its end (the buffers are exact). */
static void test_truncations(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_COUNT(curves); k++) {
        struct {
            enum parser which;
            struct blob b;
        } files[] = {
            { ZKEY, sample_zkey(&rng, curves[k], 1) },
            { WTNS, sample_wtns(&rng, curves[k], 4) },
            { R1CS, sample_r1cs(&rng, curves[k]) },
            { PTAU, sample_ptau(&rng, curves[k], 1, true) },
        };
        for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
            for (size_t size = 0; size < files[i].b.size; size++) {
                struct blob cut = blob_copy(files[i].b.data, size);
                struct task t;
                assert_int_equal(parse(files[i].which, &t, blob_span(&cut)), CUZK_MALFORMED);
                assert_string_equal(t.error.path, PATH);
                assert_true(t.error.text[0] != '\0' && t.error.advice[0] != '\0');
                blob_free(&cut);
            }
            blob_free(&files[i].b);
        }
    }
}

/* Any single section cut anywhere: lengths agree with the file, but not with the header. */
static void test_short_sections(void **state)
{
    (void)state;
    struct blob z = sample_zkey(&rng, &curve_bls12_381, 0);
    for (uint32_t type = 1; type <= 9; type++) {
        size_t offset, size;
        assert_true(sample_section(&z, type, &offset, &size));
        for (size_t keep = 0; keep < size; keep++) {
            struct blob cut = with_cut(&z, type, keep);
            struct task t;
            if (parse(ZKEY, &t, blob_span(&cut)) == CUZK_OK)
                fail_msg("section %u cut to %zu of %zu was taken", type, keep, size);
            blob_free(&cut);
            if (type > 2 && keep == 200) keep = size - 50; /* the middle brings nothing new */
        }
    }
    blob_free(&z);
}

static void test_swapped(void **state)
{
    (void)state;
    struct task t;
    struct blob z = sample_zkey(&rng, &curve_bn254, 1), w = sample_wtns(&rng, &curve_bn254, 4);
    assert_int_equal(parse(ZKEY, &t, blob_span(&w)), CUZK_MALFORMED);
    assert_string_equal(t.error.text,
                        "this is a witness file (.wtns), where a Groth16 proving key (.zkey) is needed");
    assert_non_null(strstr(t.error.advice, "wrong order"));
    assert_int_equal(parse(WTNS, &t, blob_span(&z)), CUZK_MALFORMED);
    assert_string_equal(t.error.text,
                        "this is a Groth16 proving key (.zkey), where a witness file (.wtns) is needed");
    const char html[] = "<!DOCTYPE html>\n<html><body>504 Gateway Time-out</body></html>";
    expect_error(ZKEY, blob_copy(html, sizeof html - 1), CUZK_MALFORMED, "an HTML or XML page");
    const char text[] = "ipfs resolve -r /ipfs/x: no link named \"y\"\n";
    expect_error(R1CS, blob_copy(text, sizeof text - 1), CUZK_MALFORMED, "this is a short text");
    blob_free(&z);
    blob_free(&w);
}

/* Sections beyond 4 GiB: a file of holes with 2^26 + 1 variables, whose sections 5 to 8 are of 4 and 8 GiB. */
static void test_beyond_4_gib(void **state)
{
    (void)state;
    const struct curve *c = &curve_bn254;
    const uint32_t n_vars = (1u << 26) + 1;
    struct blob small = sample_zkey(&rng, c, 1);
    const size_t kept =
        section_at(&small, 8) - 12; /* what stands before section 8 stays as it is: 1, 2, 4, 3, 9 */
    const uint64_t g1 = c->g1.aff_bytes, g2 = c->g2.aff_bytes;
    const struct {
        uint32_t type;
        uint64_t bytes;
    } big[] = {
        { 8, (n_vars - 2) * g1 },
        { 5, n_vars * g1 },
        { 6, n_vars * g1 },
        { 7, n_vars * g2 },
    };
    struct temp_folder folder;
    char path[PATH_MAX];
    temp_folder_create(&folder);
    temp_folder_path(path, &folder, "big.zkey");
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    store_le32(small.data + section_at(&small, 2) + 72, n_vars);
    store_le32(small.data + 8, 9);
    assert_int_equal(pwrite(fd, small.data, kept, 0), (ssize_t)kept);
    uint64_t at = kept, a_at = 0, b2_at = 0;
    for (size_t i = 0; i < ARRAY_COUNT(big); i++) {
        uint8_t head[12];
        store_le32(head, big[i].type);
        store_le64(head + 4, big[i].bytes);
        assert_int_equal(pwrite(fd, head, sizeof head, (off_t)at), sizeof head);
        if (big[i].type == 5) a_at = at + 12;
        if (big[i].type == 7) b2_at = at + 12;
        at += 12 + big[i].bytes;
    }
    /* The last point of B2 gets a mark that must be found through the view. */
    assert_int_equal(ftruncate(fd, (off_t)at), 0);
    assert_int_equal(pwrite(fd, "the last", 8, (off_t)(at - 8)), 8);
    close(fd);

    struct task t;
    struct mapfile file;
    struct zkey z;
    task_init(&t);
    if (mapfile_open(&file, &t, path) != CUZK_OK) fail_msg("%s", t.error.text);
    if (zkey_parse(&z, &t, path, file.bytes) != CUZK_OK) fail_msg("%s", t.error.text);
    assert_int_equal(z.n_vars, n_vars);
    assert_ptr_equal(z.a.data, file.bytes.data + a_at);
    assert_ptr_equal(z.b2.data, file.bytes.data + b2_at);
    assert_true(z.b2.size > UINT32_MAX && z.a.size > UINT32_MAX);
    assert_memory_equal(z.b2.data + z.b2.size - 8, "the last", 8);
    mapfile_close(&file);
    temp_folder_remove(&folder);
    blob_free(&small);
}

int main(void)
{
    prng_init(&rng);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zkey_good),
        cmocka_unit_test(test_zkey_coefficient_form),
        cmocka_unit_test(test_zkey_tolerates),
        cmocka_unit_test(test_zkey_bad),
        cmocka_unit_test(test_zkey_point_verdict),
        cmocka_unit_test(test_wtns_good),
        cmocka_unit_test(test_wtns_bad),
        cmocka_unit_test(test_goldilocks),
        cmocka_unit_test(test_r1cs_twice),
        cmocka_unit_test(test_r1cs_bad),
        cmocka_unit_test(test_ptau),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_short_sections),
        cmocka_unit_test(test_swapped),
        cmocka_unit_test(test_beyond_4_gib),
    };
    return cmocka_run_group_tests_name("formats: binary", tests, NULL, NULL);
}
