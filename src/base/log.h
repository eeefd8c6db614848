/* Log lines to standard error: one event a line, text or JSON.  Never pass a witness, r, s or a payload. */
#ifndef CUZK_BASE_LOG_H
#define CUZK_BASE_LOG_H

#include "base/dialect.h"

struct task;
enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

void log_setup(enum log_level most, enum log_format format); /* once, before other threads start */
void log_settings(enum log_level *most, enum log_format *format);    /* what log_setup was told */
bool log_enabled(enum log_level level);
/** t gives the tag; NULL: none.  Thread: any; a line is written with one write(2). */
void log_line(const struct task *t, enum log_level level, const char *format, ...) PRINTF_LIKE(3, 4);

#define log_warn(t, ...) log_line((t), LOG_WARN, __VA_ARGS__)
#define log_info(t, ...) log_line((t), LOG_INFO, __VA_ARGS__)
#define log_debug(t, ...)                                                  \
    do {                                                                   \
        if (log_enabled(LOG_DEBUG)) log_line((t), LOG_DEBUG, __VA_ARGS__); \
    } while (0)

#endif
