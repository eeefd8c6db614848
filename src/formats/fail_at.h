/* FAIL and task_fail_place in one: every error of a parser names file, offset and field. */
#ifndef CUZK_FORMATS_FAIL_AT_H
#define CUZK_FORMATS_FAIL_AT_H

#include "base/task.h"

/* Value: the status.  path may be NULL, offset ERROR_NO_OFFSET, field and advice NULL. */
#define FAIL_AT(t, path, offset, field, advice, status, ...) \
    (FAIL((t), (status), __VA_ARGS__), task_fail_place((t), (path), (offset), (field), (advice)), (status))

#define ADVICE_CUT \
    "The file is cut short or damaged: copy or make it again, and compare its size with the original."
#define ADVICE_DAMAGED "The file is damaged, or was made by a faulty tool: copy or make it again."

#endif
