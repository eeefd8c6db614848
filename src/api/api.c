/* The frame of every public call: arguments in, task made, error out. */
#include "api/api.h"
#include "base/clock.h"
#include "base/status.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_TIMEOUT_MS 1e12 /* 31 years: nanoseconds stay far below 2^64 */

/* -- structures with a size -------------------------------------------------------------------------------------------- */

static size_t size_of(const void *structure)
{
    size_t size;
    memcpy(&size, structure, sizeof size);
    return size;
}

void api_copy_in(void *own, size_t own_size, const void *callers)
{
    if (callers == NULL) return;
    const size_t size = size_of(callers) < own_size ? size_of(callers) : own_size;
    if (size > sizeof size)
        memcpy((char *)own + sizeof size, (const char *)callers + sizeof size, size - sizeof size);
}

void api_copy_out(void *callers, const void *own, size_t own_size)
{
    if (callers == NULL) return;
    const size_t size = size_of(callers) < own_size ? size_of(callers) : own_size;
    if (size > sizeof size)
        memcpy((char *)callers + sizeof size, (const char *)own + sizeof size, size - sizeof size);
}

void api_text(char *out, size_t capacity, const char *text)
{
    snprintf(out, capacity, "%s", text != NULL ? text : "");
}

/* -- begin and end ----------------------------------------------------------------------------------------------------- */

void api_begin(struct api_call *call, const cuzk_context *context, const cuzk_watch *watch)
{
    const cuzk_watch none = CUZK_WATCH_INIT;

    call->watch = none;
    api_copy_in(&call->watch, sizeof call->watch, watch);
    task_init(&call->task);
    if (context != NULL) call->task.pool = context->pool;
    /* One byte that is 0 or 1 and written atomically is what an atomic_bool is on every platform that this builds for. */
    STATIC_ASSERT(sizeof(atomic_bool) == 1, "the public cancel flag is one byte");
    call->task.cancel = (const atomic_bool *)(const void *)call->watch.cancel;
    if (call->watch.timeout_ms > 0 &&
        call->watch.timeout_ms < LONGEST_TIMEOUT_MS) /* beyond, or not a number: none */
        call->task.deadline_ns = clock_now_ns() + (uint64_t)(call->watch.timeout_ms * 1e6);
    call->task.progress = call->watch.progress;
    call->task.progress_context = call->watch.progress_context;
}

cuzk_status api_end(struct api_call *call, cuzk_status status, cuzk_error *error)
{
    const struct error *e = &call->task.error;
    cuzk_error own = CUZK_ERROR_INIT;

    if (error == NULL) return status;
    own.status = status;
    if (status != CUZK_OK) {
        api_text(own.text, sizeof own.text, e->text[0] != '\0' ? e->text : status_text(status));
        api_text(own.advice, sizeof own.advice, e->advice);
        api_text(own.path, sizeof own.path, e->path);
        api_text(own.field, sizeof own.field, e->field);
        own.offset = e->offset;
        own.sys_errno = e->sys_errno;
    }
    api_copy_out(error, &own, sizeof own);
    return status;
}

cuzk_status api_refuse(struct api_call *call, const char *argument)
{
    const cuzk_status status =
        FAIL(&call->task, CUZK_INVALID_ARGUMENT, "the argument %s cannot be used as given", argument);
    task_fail_place(&call->task, NULL, ERROR_NO_OFFSET, argument, "see its description in cuzk.h");
    return status;
}

cuzk_status api_new(struct api_call *call, void **out, size_t bytes)
{
    *out = calloc(1, bytes);
    return *out != NULL ? CUZK_OK
                        : FAIL(&call->task, CUZK_NO_MEMORY, "no memory for a handle of %zu bytes", bytes);
}

/* -- encoders ---------------------------------------------------------------------------------------------------------- */

size_t api_put(void *buffer, size_t capacity, const void *data, size_t bytes, bool text)
{
    if (buffer == NULL || capacity == 0) return bytes;
    const size_t room = text ? capacity - 1 : capacity, n = bytes < room ? bytes : room;
    memcpy(buffer, data, n);
    if (text) ((char *)buffer)[n] = '\0';
    return bytes;
}

static cuzk_status encode_one(struct api_call *call, struct mapfile_output *out, const struct api_output *from)
{
    if (from->handle == NULL) return api_refuse(call, "handle");
    if (from->path == NULL) return api_refuse(call, "path");
    const size_t bytes = from->encode(from->handle, from->encoding, NULL, 0);
    if (bytes == 0) {
        const cuzk_status status =
            FAIL(&call->task, CUZK_UNSUPPORTED, "there is no such encoding for this curve or object");
        task_fail_place(&call->task, from->path, ERROR_NO_OFFSET, NULL, "JSON suits every curve");
        return status;
    }
    char *const data = malloc(bytes + 1);
    if (data == NULL) return FAIL(&call->task, CUZK_NO_MEMORY, "no memory for %zu bytes", bytes);
    from->encode(from->handle, from->encoding, data, bytes + 1);
    *out = (struct mapfile_output){ from->path, data, bytes, 0644 };
    return CUZK_OK;
}

cuzk_status api_save(const struct api_output *outputs, size_t count, cuzk_error *error)
{
    struct mapfile_output files[MAPFILE_OUTPUTS_MOST];
    cuzk_status status = CUZK_OK;
    struct api_call call;
    size_t n = 0;

    api_begin(&call, NULL, NULL);
    while (n < count && status == CUZK_OK) {
        status = encode_one(&call, &files[n], &outputs[n]);
        n += status == CUZK_OK;
    }
    if (status == CUZK_OK) status = mapfile_write_together(&call.task, files, n);
    while (n-- > 0) free((void *)(uintptr_t)files[n].data);
    return api_end(&call, status, error);
}

/* -- names ------------------------------------------------------------------------------------------------------------- */

const char *cuzk_status_name(cuzk_status status) { return status_name(status); }
const char *cuzk_status_text(cuzk_status status) { return status_text(status); }
int cuzk_status_exit_code(cuzk_status status) { return status_exit_code(status); }
const char *cuzk_version(void) { return CUZK_VERSION; }
