/* The status table: every row reachable, values stable, strange values answered. */
#include "support/cm.h"
#include "base/dialect.h"
#include "base/status.h"
#include <string.h>

static const cuzk_status all[] = {
#define X(name, value, retry, exit_code, grpc, text) CUZK_##name,
#include "cuzk/status.def"
#undef X
};

static void values_are_dense_and_names_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        assert_int_equal(all[i], i);
        assert_true(strlen(status_text(all[i])) > 0);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(status_name(all[i]), status_name(all[j]));
            assert_string_not_equal(status_text(all[i]), status_text(all[j]));
        }
    }
}

static void only_ok_exits_with_zero(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        assert_int_equal(status_exit_code(all[i]) == 0, all[i] == CUZK_OK);
        assert_int_equal(status_grpc_code(all[i]) == 0, all[i] == CUZK_OK);
        assert_in_range(status_grpc_code(all[i]), 0, 16);
        assert_in_range(status_exit_code(all[i]), 0, 8);
    }
}

/* Scripts and clients depend on these. */
static void published_codes_do_not_move(void **state)
{
    (void)state;
    assert_int_equal(status_exit_code(CUZK_PROOF_INVALID), 1);
    assert_int_equal(status_exit_code(CUZK_INVALID_ARGUMENT), 2);
    assert_int_equal(status_exit_code(CUZK_MALFORMED), 3);
    assert_int_equal(status_exit_code(CUZK_IO), 4);
    assert_int_equal(status_exit_code(CUZK_NO_MEMORY), 5);
    assert_int_equal(status_exit_code(CUZK_DEVICE_LOST), 6);
    assert_int_equal(status_exit_code(CUZK_INTERNAL), 7);
    assert_int_equal(status_exit_code(CUZK_CANCELLED), 8);
    assert_int_equal(status_grpc_code(CUZK_QUEUE_FULL), 8);
    assert_string_equal(status_name(CUZK_KEY_INVALID), "KEY_INVALID");
    assert_string_equal(status_text(CUZK_MALFORMED), "malformed input");
    assert_int_equal(status_retry_class(CUZK_NO_MEMORY), RETRY_LATER);
    assert_int_equal(status_retry_class(CUZK_TOO_LARGE), RETRY_NEVER);
    assert_int_equal(status_retry_class(CUZK_DEVICE_LOST), RETRY_ELSEWHERE);
    assert_int_equal(status_retry_class(CUZK_INTERNAL), RETRY_BUG);
}

static void a_value_outside_the_table_is_internal(void **state)
{
    (void)state;
    int outside[] = { -1, (int)ARRAY_COUNT(all), 1000 };
    for (size_t i = 0; i < ARRAY_COUNT(outside); i++) {
        cuzk_status s;
        memcpy(&s, &outside[i], sizeof s); /* as a caller with a newer header would hand it over */
        assert_string_equal(status_name(s), "INTERNAL");
        assert_int_equal(status_exit_code(s), status_exit_code(CUZK_INTERNAL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_dense_and_names_unique),
        cmocka_unit_test(only_ok_exits_with_zero),
        cmocka_unit_test(published_codes_do_not_move),
        cmocka_unit_test(a_value_outside_the_table_is_internal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
