/* The backend that does not read host memory: every case, and the refusal of operands that are there. */
#include "backend_cases.h"

#include "backend/fault/blind_backend.h"
#include "support/cm.h"

#include <string.h>

static void host_operands_are_refused(void **state)
{
    const struct backend *b = &backend_blind;
    const struct device_options o = { .threads = 1 };
    const uint8_t bytes[256] = { 0 };
    struct buffer taken = { 0 };
    struct device *d = NULL;
    struct stream *s = NULL;
    struct msm_plan plan;
    struct g_jac out;
    struct task t;
    (void)state;
    task_init(&t);
    assert_int_equal(b->open(&d, &t, &o), CUZK_OK);
    assert_int_equal(b->stream_open(&s, &t, d), CUZK_OK);
    assert_int_equal(b->msm_plan(&plan, &t, d, &curve_bn254, GROUP_G1, 2), CUZK_OK);
    assert_int_equal(b->buffer_take(&taken, &t, d, MEM_DEVICE, sizeof bytes + plan.workspace_bytes, 0),
                     CUZK_OK);
    assert_true(blind_bytes_taken() >= sizeof bytes);
    const struct buffer host = buffer_borrow(d, span_of(bytes, sizeof bytes));
    const struct buffer *operand[][3] = { { &host, &taken, NULL },
                                          { &taken, &host, NULL },
                                          { &taken, &taken, &host } };
    for (size_t i = 0; i < ARRAY_COUNT(operand); i++) {
        task_init(&t);
        assert_int_equal(
            b->msm(s, &t, &plan, &out, operand[i][0], 0, operand[i][1], 0, operand[i][2], &taken),
            CUZK_INVALID_ARGUMENT);
        assert_non_null(strstr(t.error.text, "is not in this device's memory"));
    }
    b->buffer_give(&taken);
    assert_int_equal(blind_bytes_taken(), 0);
    b->stream_close(s);
    b->close(d);
}

int main(void)
{
    const struct CMUnitTest cases[] = { cmocka_unit_test(host_operands_are_refused) };
    const struct device_options o = { .threads = 2 };
    const int failed = backend_cases_run("blind", MEM_DEVICE, &o, false);
    return failed + cmocka_run_group_tests(cases, NULL, NULL);
}
