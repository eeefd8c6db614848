/* A request's error record, its cancel flag and its deadline. */
#include "base/task.h"
#include "base/clock.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void task_init(struct task *t)
{
    memset(t, 0, sizeof *t);
    t->error.offset = ERROR_NO_OFFSET;
}

cuzk_status task_fail(struct task *t, const char *source_file, int source_line, cuzk_status status,
                      const char *format, ...)
{
    if (t->error.status != CUZK_OK) {
        t->later_error_dropped = true;
        return status;
    }
    t->error.status = status;
    t->error.source_file = source_file;
    t->error.source_line = source_line;
    va_list args;
    va_start(args, format);
    vsnprintf(t->error.text, sizeof t->error.text, format, args);
    va_end(args);
    return status;
}

static void fill_if_empty(char *field, size_t bytes, const char *text)
{
    if (text != NULL && field[0] == '\0') snprintf(field, bytes, "%s", text);
}

void task_fail_place(struct task *t, const char *path, uint64_t offset, const char *field, const char *advice)
{
    if (t->error.status == CUZK_OK || t->later_error_dropped) return;
    fill_if_empty(t->error.path, sizeof t->error.path, path);
    fill_if_empty(t->error.field, sizeof t->error.field, field);
    fill_if_empty(t->error.advice, sizeof t->error.advice, advice);
    if (t->error.offset == ERROR_NO_OFFSET) t->error.offset = offset;
}

void task_fail_errno(struct task *t, int sys_errno)
{
    if (t->error.status == CUZK_OK || t->later_error_dropped) return;
    if (t->error.sys_errno == 0) t->error.sys_errno = sys_errno;
}

cuzk_status task_poll(struct task *t)
{
    if (t->cancel != NULL && atomic_load_explicit(t->cancel, memory_order_relaxed))
        return FAIL(t, CUZK_CANCELLED, "the request was cancelled");
    if (t->deadline_ns != 0 && clock_now_ns() >= t->deadline_ns)
        return FAIL(t, CUZK_DEADLINE, "the request's deadline has passed");
    return CUZK_OK;
}

void task_progress(struct task *t, const char *what, uint64_t done, uint64_t total)
{
    if (t->progress != NULL) t->progress(t->progress_context, what, done, total);
}
