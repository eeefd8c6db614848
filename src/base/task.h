/* What follows a request down the stack: its error, cancel flag, deadline, log tag, worker threads and progress hook.
 *
 * A task belongs to one thread at a time.  Functions that can fail take it first, record the detail in it and return the
 * status; the first error wins, so cleaning up never hides the cause. */
#ifndef CUZK_BASE_TASK_H
#define CUZK_BASE_TASK_H

#include "base/dialect.h"
#include "cuzk/status.h"
#include <stdatomic.h>

struct pool;

#define ERROR_TEXT_BYTES 512
#define ERROR_PATH_BYTES 256
#define ERROR_NO_OFFSET  UINT64_MAX

struct error {
    cuzk_status status;            /* CUZK_OK: none */
    char text[ERROR_TEXT_BYTES];   /* what happened and why, one sentence */
    char advice[ERROR_TEXT_BYTES]; /* what to do; empty if there is nothing to say */
    char path[ERROR_PATH_BYTES];   /* the file, or empty */
    char field[64];                /* the field inside it, or empty */
    uint64_t offset;               /* byte offset in the file, or ERROR_NO_OFFSET */
    int sys_errno;                 /* errno, or 0 */
    const char *source_file;       /* where first seen, for logs */
    int source_line;
};

struct task {
    struct error error;
    bool
        later_error_dropped; /* a second error was not recorded, so what is said of it must not be recorded either */
    const atomic_bool *cancel; /* NULL: cannot be cancelled */
    uint64_t deadline_ns;      /* on clock_now_ns(); 0: none */
    const char *tag;           /* prefix of log lines; NULL: none */
    struct pool *pool;         /* worker threads; NULL: this thread does all */
    void (*progress)(void *context, const char *what, uint64_t done,
                     uint64_t total); /* NULL: nobody watches */
    void *progress_context;
};

/** An empty task: no error, no cancel flag, no deadline, all work on the calling thread. */
void task_init(struct task *t);

/** Records an error unless one is there already.  Returns status.  Use through FAIL. */
cuzk_status task_fail(struct task *t, const char *source_file, int source_line, cuzk_status status,
                      const char *format, ...) PRINTF_LIKE(5, 6);

/** Where in the input the error just recorded lies.  Call right after FAIL, with values that name the place: path (NULL: unknown),
 * offset (ERROR_NO_OFFSET: unknown), field (NULL: none), advice (NULL: none).  Fills only what is still unnamed, so a parser can
 * give the offset and its caller the path; has no effect if the FAIL before it was not the first error. */
void task_fail_place(struct task *t, const char *path, uint64_t offset, const char *field,
                     const char *advice);

/** The errno behind the error just recorded; same rule as task_fail_place. */
void task_fail_errno(struct task *t, int sys_errno);

/** CUZK_CANCELLED or CUZK_DEADLINE (recorded) if the task should stop, else CUZK_OK.  Cheap; call at chunk borders. */
cuzk_status task_poll(struct task *t) MUST_CHECK;

void task_progress(struct task *t, const char *what, uint64_t done, uint64_t total);

#define FAIL(t, status, ...) task_fail((t), __FILE__, __LINE__, (status), __VA_ARGS__)

/* Return, or jump to label, with the first status that is not CUZK_OK.  TRY_GOTO needs a local `cuzk_status status`. */
#define TRY(call)                                       \
    do {                                                \
        cuzk_status try_status_ = (call);               \
        if (try_status_ != CUZK_OK) return try_status_; \
    } while (0)
#define TRY_GOTO(label, call)              \
    do {                                   \
        status = (call);                   \
        if (status != CUZK_OK) goto label; \
    } while (0)

#endif
