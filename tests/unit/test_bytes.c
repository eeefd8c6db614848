/* Byte order at every alignment, spans at their borders, and the tests' own generator. */
#include "support/cm.h"
#include "base/bytes.h"
#include "base/span.h"
#include "support/prng.h"

static struct prng prng;

static void known_bytes(void **state)
{
    (void)state;
    static const uint8_t p[8] = { 1, 2, 3, 4, 5, 6, 7, 0xf8 };
    assert_true(load_le32(p) == 0x04030201);
    assert_true(load_be32(p) == 0x01020304);
    assert_true(load_le64(p) == 0xf807060504030201);
    assert_true(load_be64(p) == 0x01020304050607f8);
}

static void stores_undo_loads_at_any_alignment(void **state)
{
    (void)state;
    uint8_t buffer[24], copy[24];
    for (size_t at = 0; at < 8; at++) {
        prng_bytes(&prng, buffer, sizeof buffer);
        memcpy(copy, buffer, sizeof copy);
        store_le64(buffer + at, load_le64(copy + at));
        store_be64(buffer + at, load_be64(copy + at));
        store_le32(buffer + at, load_le32(copy + at));
        store_be32(buffer + at, load_be32(copy + at));
        assert_memory_equal(buffer, copy, sizeof copy);
        uint64_t words[2];
        uint8_t out[16];
        words_from_be(words, copy + at, 2);
        assert_true(words[1] == load_be64(copy + at));
        words_to_be(out, words, 2);
        assert_memory_equal(out, copy + at, 16);
        words_from_le(words, copy + at, 2);
        assert_true(words[0] == load_le64(copy + at));
        words_to_le(out, words, 2);
        assert_memory_equal(out, copy + at, 16);
    }
}

static void a_wiped_buffer_is_zero(void **state)
{
    (void)state;
    uint8_t buffer[33], zero[33] = { 0 };
    prng_bytes(&prng, buffer, sizeof buffer);
    wipe(buffer, sizeof buffer);
    assert_memory_equal(buffer, zero, sizeof zero);
}

static void a_span_knows_its_borders(void **state)
{
    (void)state;
    uint8_t bytes[10];
    struct span s = span_of(bytes, sizeof bytes);
    assert_true(span_holds(s, 0, 10));
    assert_true(span_holds(s, 10, 0));
    assert_true(span_holds(s, 9, 1));
    assert_false(span_holds(s, 11, 0));
    assert_false(span_holds(s, 9, 2));
    assert_false(span_holds(s, 1, UINT64_MAX));
    assert_false(span_holds(s, UINT64_MAX, 2));
    assert_false(span_holds(s, UINT64_MAX, UINT64_MAX));
}

/* First outputs for state 1, 2, 3, 4, as published with the generator's Rust and C ports. */
static void the_generator_is_xoshiro256starstar(void **state)
{
    (void)state;
    struct prng p = { { 1, 2, 3, 4 } };
    static const uint64_t expected[] = { 11520, 0, 1509978240, 1215971899390074240 };
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) assert_true(prng_u64(&p) == expected[i]);
}

static void below_stays_below_and_reaches_all(void **state)
{
    (void)state;
    unsigned seen[7] = { 0 };
    for (int i = 0; i < 7000; i++) seen[prng_below(&prng, 7)]++;
    for (int i = 0; i < 7; i++) assert_in_range(seen[i], 700, 1300);
    assert_int_equal(prng_below(&prng, 1), 0);
}

int main(void)
{
    prng_init(&prng);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bytes),
        cmocka_unit_test(stores_undo_loads_at_any_alignment),
        cmocka_unit_test(a_wiped_buffer_is_zero),
        cmocka_unit_test(a_span_knows_its_borders),
        cmocka_unit_test(the_generator_is_xoshiro256starstar),
        cmocka_unit_test(below_stays_below_and_reaches_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
