/* The system's random bytes: filled to the last byte, never the same twice. */
#include "support/cm.h"
#include "base/rng.h"
#include <string.h>

static void lengths_are_filled_exactly(void **state)
{
    (void)state;
    static uint8_t a[100002], b[100002];
    size_t sizes[] = { 1, 32, 255, 256, 257, 100000 }; /* getrandom may give less than asked above 256 */
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        struct task t;
        task_init(&t);
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        assert_int_equal(rng_bytes(&t, a, sizes[i]), CUZK_OK);
        assert_int_equal(rng_bytes(&t, b, sizes[i]), CUZK_OK);
        assert_int_equal(a[sizes[i]] | b[sizes[i]], 0);
        if (sizes[i] >= 32) {
            uint8_t zero[32] = { 0 };
            assert_memory_not_equal(a, b, sizes[i]);
            assert_memory_not_equal(a + sizes[i] - 32, zero, 32);
        }
    }
}

static void no_bytes_is_fine(void **state)
{
    (void)state;
    struct task t;
    task_init(&t);
    assert_int_equal(rng_bytes(&t, NULL, 0), CUZK_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_filled_exactly),
        cmocka_unit_test(no_bytes_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
