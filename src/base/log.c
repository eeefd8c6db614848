/* Formats a log line in a buffer on the stack and writes it at once. */
#include "base/log.h"
#include "base/task.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 2048
#define TEXT_BYTES 1536
#define TAG_MOST   256              /* bytes of a line that may be written when the tag ends */
#define TEXT_MOST  (LINE_BYTES - 8) /* the same for the text: room for the end of the line */

static enum log_level log_most = LOG_INFO;
static enum log_format log_style = LOG_TEXT;
static const char *const level_names[] = { "error", "warn", "info", "debug" };

struct line {
    char bytes[LINE_BYTES];
    size_t size;
};

/* Fixed parts of a line; with TAG_MOST and TEXT_MOST kept they always fit. */
static void put_string(struct line *l, const char *text)
{
    size_t bytes = strlen(text);
    memcpy(l->bytes + l->size, text, bytes);
    l->size += bytes;
}

/* Text from outside: nothing in it may end the line or the JSON string, or drive a terminal.  Stops before most bytes are
 * exceeded. */
static void put_escaped(struct line *l, const char *text, size_t most)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s != '\0') {
        size_t n = utf8_length(s, SIZE_MAX);
        bool strange = n == 0 || *s < 0x20 || *s == 0x7f;
        bool escaped = log_style == LOG_JSON && (*s == '"' || *s == '\\');
        if (strange) n = 1;
        if (l->size + n + escaped > most) return;
        if (escaped) l->bytes[l->size++] = '\\';
        memcpy(l->bytes + l->size, strange ? "?" : (const char *)s, n);
        l->size += n;
        s += n;
    }
}

void log_setup(enum log_level most, enum log_format format)
{
    log_most = most;
    log_style = format;
}

void log_settings(enum log_level *most, enum log_format *format)
{
    *most = log_most;
    *format = log_style;
}

bool log_enabled(enum log_level level) { return level <= log_most; }

void log_line(const struct task *t, enum log_level level, const char *format, ...)
{
    if (!log_enabled(level)) return;
    int kept_errno = errno;
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);

    struct timespec now;
    struct tm utc;
    char stamp[64];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(stamp + n, sizeof stamp - n, ".%03ldZ", now.tv_nsec / 1000000);

    const char *tag = t != NULL ? t->tag : NULL;
    bool json = log_style == LOG_JSON;
    struct line l = { .size = 0 };
    put_string(&l, json ? "{\"time\":\"" : "");
    put_string(&l, stamp);
    put_string(&l, json ? "\",\"level\":\"" : " ");
    put_string(&l, level_names[level]);
    if (tag != NULL) {
        put_string(&l, json ? "\",\"tag\":\"" : " ");
        put_escaped(&l, tag, TAG_MOST);
    }
    put_string(&l, json ? "\",\"text\":\"" : tag != NULL ? ": " : " ");
    put_escaped(&l, text, TEXT_MOST);
    put_string(&l, json ? "\"}" : "");
    l.bytes[l.size++] = '\n';
    ssize_t written = write(STDERR_FILENO, l.bytes, l.size);
    (void)written; /* nobody is left to tell */
    errno = kept_errno;
}
