/* Error record, cancel flag, deadline and progress of a task. */
#include "support/cm.h"
#include "base/clock.h"
#include "base/task.h"
#include <errno.h>
#include <string.h>

static void a_new_task_has_nothing(void **state)
{
    (void)state;
    struct task t;
    memset(&t, 0xa5, sizeof t);
    task_init(&t);
    assert_int_equal(t.error.status, CUZK_OK);
    assert_true(t.error.offset == ERROR_NO_OFFSET);
    assert_null(t.pool);
    assert_int_equal(task_poll(&t), CUZK_OK);
    task_fail_place(&t, "a", 1, "b", "c"); /* without an error there is no place */
    task_fail_errno(&t, EIO);
    assert_string_equal(t.error.path, "");
    assert_int_equal(t.error.sys_errno, 0);
    task_progress(&t, "nobody watches", 1, 2);
}

static void the_first_error_wins(void **state)
{
    (void)state;
    struct task t;
    task_init(&t);
    assert_int_equal(FAIL(&t, CUZK_MALFORMED, "magic %d", 42), CUZK_MALFORMED);
    int line = __LINE__ - 1;
    assert_int_equal(FAIL(&t, CUZK_IO, "second"), CUZK_IO);
    assert_int_equal(t.error.status, CUZK_MALFORMED);
    assert_string_equal(t.error.text, "magic 42");
    assert_int_equal(t.error.source_line, line);
    assert_non_null(strstr(t.error.source_file, "test_task.c"));
}

static void the_place_is_filled_by_several_layers(void **state)
{
    (void)state;
    struct task t;
    task_init(&t);
    (void)FAIL(&t, CUZK_MALFORMED, "section too short");
    task_fail_place(&t, NULL, 12, "nVars", NULL);
    task_fail_place(&t, "a.zkey", 99, "other", "make it again");
    assert_string_equal(t.error.path, "a.zkey");
    assert_string_equal(t.error.field, "nVars");
    assert_string_equal(t.error.advice, "make it again");
    assert_true(t.error.offset == 12);
}

static void a_dropped_error_leaves_no_place(void **state)
{
    (void)state;
    struct task t;
    task_init(&t);
    (void)FAIL(&t, CUZK_MALFORMED, "first");
    (void)FAIL(&t, CUZK_IO, "while cleaning up");
    task_fail_place(&t, "other.tmp", 7, "x", "y");
    task_fail_errno(&t, EIO);
    assert_string_equal(t.error.path, "");
    assert_string_equal(t.error.advice, "");
    assert_true(t.error.offset == ERROR_NO_OFFSET);
    assert_int_equal(t.error.sys_errno, 0);
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    char text[4 * ERROR_TEXT_BYTES];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    struct task t;
    task_init(&t);
    (void)FAIL(&t, CUZK_IO, "%s", text);
    task_fail_place(&t, text, 0, text, text);
    assert_int_equal(strlen(t.error.text), ERROR_TEXT_BYTES - 1);
    assert_int_equal(strlen(t.error.path), ERROR_PATH_BYTES - 1);
    assert_int_equal(strlen(t.error.field), sizeof t.error.field - 1);
    assert_int_equal(strlen(t.error.advice), ERROR_TEXT_BYTES - 1);
}

static void poll_sees_cancel_and_deadline(void **state)
{
    (void)state;
    struct task t;
    task_init(&t);
    atomic_bool cancel = false;
    t.cancel = &cancel;
    t.deadline_ns = clock_now_ns() + 3600u * (uint64_t)1000000000;
    assert_int_equal(task_poll(&t), CUZK_OK);
    atomic_store(&cancel, true);
    assert_int_equal(task_poll(&t), CUZK_CANCELLED);
    assert_int_equal(t.error.status, CUZK_CANCELLED);

    task_init(&t);
    t.deadline_ns = clock_now_ns();
    assert_int_equal(task_poll(&t), CUZK_DEADLINE);
}

struct seen {
    const char *what;
    uint64_t done, total;
};

static void note(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct seen *s = context;
    s->what = what;
    s->done = done;
    s->total = total;
}

static void progress_reaches_the_watcher(void **state)
{
    (void)state;
    struct seen seen = { 0 };
    struct task t;
    task_init(&t);
    t.progress = note;
    t.progress_context = &seen;
    task_progress(&t, "msm", 3, 5);
    assert_string_equal(seen.what, "msm");
    assert_int_equal(seen.done, 3);
    assert_int_equal(seen.total, 5);
}

static cuzk_status try_twice(struct task *t, int *reached)
{
    TRY(CUZK_OK);
    *reached = 1;
    TRY(FAIL(t, CUZK_TOO_LARGE, "no"));
    *reached = 2;
    return CUZK_OK;
}

static cuzk_status try_goto(struct task *t, int *reached)
{
    cuzk_status status;
    TRY_GOTO(out, CUZK_OK);
    *reached = 1;
    TRY_GOTO(out, FAIL(t, CUZK_QUEUE_FULL, "no"));
    *reached = 2;
out:
    return status;
}

static void try_leaves_at_the_first_failure(void **state)
{
    (void)state;
    struct task t;
    int reached = 0;
    task_init(&t);
    assert_int_equal(try_twice(&t, &reached), CUZK_TOO_LARGE);
    assert_int_equal(reached, 1);
    reached = 0;
    assert_int_equal(try_goto(&t, &reached), CUZK_QUEUE_FULL);
    assert_int_equal(reached, 1);
}

static void the_clock_goes_forward(void **state)
{
    (void)state;
    uint64_t a = clock_now_ns();
    for (int i = 0; i < 1000; i++) {
        uint64_t b = clock_now_ns();
        assert_true(b >= a);
        a = b;
    }
    assert_true(clock_ms_since(a) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_task_has_nothing),
        cmocka_unit_test(the_first_error_wins),
        cmocka_unit_test(the_place_is_filled_by_several_layers),
        cmocka_unit_test(a_dropped_error_leaves_no_place),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(poll_sees_cancel_and_deadline),
        cmocka_unit_test(progress_reaches_the_watcher),
        cmocka_unit_test(try_leaves_at_the_first_failure),
        cmocka_unit_test(the_clock_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
