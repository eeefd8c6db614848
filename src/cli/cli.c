/* What all commands share. */
#include "cli/cli.h"
#include "base/tempfile.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct cli cli = { .device = CLI_NO_DEVICE };

static atomic_bool cancelled; /* written by the signal handler */
static atomic_bool watched;   /* there is somebody who looks at it */
static atomic_llong first_ms; /* when the signal that cancelled came */

enum { SAME_REQUEST_MS = 500 };

/* line 0: of no list. */
static void print_error(cuzk_status status, const char *text, const char *advice, const char *path,
                        const char *field, uint64_t offset, unsigned line)
{
    fputs("cuzk: error: ", stderr);
    if (line != 0) fprintf(stderr, "line %u: ", line);
    fprintf(stderr, "%s\n", text[0] ? text : cuzk_status_text(status));
    if (path[0] || field[0] || offset != ERROR_NO_OFFSET) {
        fputs("  where: ", stderr);
        if (path[0]) fputs(path, stderr);
        if (offset != ERROR_NO_OFFSET)
            fprintf(stderr, "%sbyte %llu", path[0] ? ", " : "", (unsigned long long)offset);
        if (field[0]) fprintf(stderr, "%sfield %s", path[0] || offset != ERROR_NO_OFFSET ? ", " : "", field);
        fputc('\n', stderr);
    }
    if (advice[0]) fprintf(stderr, "  what to do: %s\n", advice);
    if (!cli.json) return;
    json_t *o = json_pack("{s:s, s:o, s:i}", "status", cuzk_status_name(status), "error", cli_json_text(text),
                          "exit_code", cuzk_status_exit_code(status));
    if (line != 0) json_object_set_new(o, "line", json_integer(line));
    if (advice[0]) json_object_set_new(o, "advice", cli_json_text(advice));
    if (path[0]) json_object_set_new(o, "path", cli_json_text(path));
    if (field[0]) json_object_set_new(o, "field", cli_json_text(field));
    if (offset != ERROR_NO_OFFSET) json_object_set_new(o, "offset", json_integer((json_int_t)offset));
    cli_print_json(o);
}

int cli_fail(const cuzk_error *e)
{
    return cli_fail_line(e, 0);
}

int cli_fail_line(const cuzk_error *e, unsigned line)
{
    print_error(e->status, e->text, e->advice, e->path, e->field, e->offset, line);
    return cuzk_status_exit_code(e->status);
}

int cli_fail_task(const struct task *t)
{
    const struct error *e = &t->error;
    print_error(e->status, e->text, e->advice, e->path, e->field, e->offset, 0);
    return cuzk_status_exit_code(e->status);
}

cuzk_status cli_error_of(cuzk_error *out, const struct task *t)
{
    out->status = t->error.status;
    out->offset = t->error.offset;
    snprintf(out->text, sizeof out->text, "%s", t->error.text);
    snprintf(out->advice, sizeof out->advice, "%s", t->error.advice);
    snprintf(out->path, sizeof out->path, "%s", t->error.path);
    snprintf(out->field, sizeof out->field, "%s", t->error.field);
    return out->status;
}

int cli_begin(struct task *t, int argc, char **argv, const char *command, const char *help,
              const struct option_row *options, size_t option_count, const struct operand_row *operands,
              size_t operand_count)
{
    task_init(t);
    if (args_want_help(argc, argv)) {
        args_print_help(command, help, options, option_count, operands, operand_count);
        return 0;
    }
    if (args_parse(t, argc, argv, options, option_count, operands, operand_count) != CUZK_OK) return cli_fail_task(t);
    return -1;
}

void cli_print_json(json_t *object)
{
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputc('\n', stdout);
    json_decref(object);
}

json_t *cli_json_text(const char *text)
{
    json_t *string = json_string(text);
    if (string != NULL) return string;
    char *copy = strdup(text);
    for (char *p = copy; p != NULL && *p != '\0'; p++)
        if ((unsigned char)*p >= 0x80) *p = '?';
    string = copy != NULL ? json_string(copy) : NULL;
    free(copy);
    return string;
}

/* -- files ------------------------------------------------------------------------------------------------------------- */

bool cli_is_stdout(const char *path) { return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0; }

int cli_finish(int exit_code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return exit_code;
    fprintf(stderr, "cuzk: error: standard output could not be written: %s\n", strerror(errno));
    return exit_code != 0 ? exit_code : cuzk_status_exit_code(CUZK_IO);
}

cuzk_status cli_key_mode(struct task *t, cuzk_key_mode *out)
{
    static const char *const words[] = { "auto", "original", "derived" };

    *out = CUZK_KEY_AUTO;
    for (unsigned i = 0; cli.key_mode != NULL && i < ARRAY_COUNT(words); i++)
        if (strcmp(words[i], cli.key_mode) == 0) {
            *out = (cuzk_key_mode)i;
            return CUZK_OK;
        }
    return cli.key_mode == NULL ? CUZK_OK
                                : FAIL(t, CUZK_INVALID_ARGUMENT,
                                       "--key-mode takes auto, original or derived, not '%s'", cli.key_mode);
}

void cli_warn(const char *format, ...)
{
    if (cli.quiet) return;
    va_list args;
    va_start(args, format);
    fputs("cuzk: warning: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static long long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A command that watches cancels its work and says so; the second signal, and the first where nobody watches, ends the process at once.  One
 * request may come twice, to the process and to its group, as from timeout(1).  No half-written file stays either way. */
static void on_signal(int number)
{
    if (atomic_load(&watched)) {
        long long none = 0;
        const long long now = now_ms();
        const bool first = atomic_compare_exchange_strong(&first_ms, &none, now);
        atomic_store(&cancelled, true);
        if (first || now - none < SAME_REQUEST_MS) return;
    }
    tempfile_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

static void handle(int number)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigfillset(&action.sa_mask); /* one at a time in a thread */
    sigaction(number, &action, NULL);
}

void cli_handle_signals(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN) continue; /* nohup's wish */
        handle(numbers[i]);
    }
}

static void show_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    static unsigned shown = 101; /* percent on the screen; one thread reports at a time */
    const unsigned percent = total ? (unsigned)(100.0 * (double)done / (double)total) : 0;
    if (done < total && percent == shown) return;
    shown = percent;
    fprintf(stderr, "\r\033[K%s: %u %%", what, percent);
    if (done >= total) fputs("\r\033[K", stderr);
    fflush(stderr);
}

const atomic_bool *cli_cancelled(void)
{
    atomic_store(&watched, true);
    return &cancelled;
}

cuzk_watch cli_watch(void)
{
    cuzk_watch watch = CUZK_WATCH_INIT;

    watch.cancel = (const unsigned char *)(const void *)cli_cancelled();
    if (!cli.quiet && isatty(STDERR_FILENO)) watch.progress = show_progress;
    return watch;
}

static bool open_context(cuzk_context **out, const cuzk_context_options *options, int *exit_code)
{
    cuzk_error error = CUZK_ERROR_INIT;

    if (cuzk_context_create(out, options, &error) == CUZK_OK) return true;
    *exit_code = cli_fail(&error);
    return false;
}

static void context_options(cuzk_context_options *o)
{
    o->threads = (unsigned)cli.threads;
    o->backend = cli_backend();
    if (cli.device != CLI_NO_DEVICE) o->device_index = (unsigned)cli.device;
    /* One proof at a time takes a card's memory for one: a stream to compute holds some. */
    o->lanes = cli.lanes == 0 && cli_on_card() ? 1 : cli.lanes;
    if (cli_on_card()) o->memory_bytes = cli.device_mib << 20;
}

bool cli_context(cuzk_context **out, int *exit_code)
{
    cuzk_context_options options = CUZK_CONTEXT_OPTIONS_INIT;
    struct task t;

    task_init(&t);
    if (cli_read_device(&t) == CUZK_OK && cli.device_text != NULL && strcmp(cli.device_text, "auto") == 0 &&
        !cli.device_chosen)
        FAIL(&t, CUZK_INVALID_ARGUMENT, "this command has nothing to choose a device by: name one with --device");
    if (t.error.status != CUZK_OK) {
        *exit_code = cli_fail_task(&t);
        return false;
    }
    context_options(&options);
    return open_context(out, &options, exit_code);
}

cuzk_status cli_context_try(cuzk_context **out, cuzk_error *error)
{
    cuzk_context_options options = CUZK_CONTEXT_OPTIONS_INIT;

    context_options(&options);
    return cuzk_context_create(out, &options, error);
}

bool cli_context_on_cpu(cuzk_context **out, int *exit_code)
{
    cuzk_context_options options = CUZK_CONTEXT_OPTIONS_INIT;

    options.threads = (unsigned)cli.threads;
    return open_context(out, &options, exit_code);
}

int cli_subcommand(const char *group, const char *text, const struct command *commands, size_t count,
                   int argc, char **argv)
{
    const char *names[8];
    struct task t;

    for (size_t i = 0; i < count && argc > 1; i++) {
        if (strcmp(argv[1], commands[i].name) != 0) continue;
        static char name[64]; /* in messages the command has both words */
        snprintf(name, sizeof name, "%s %s", group, commands[i].name);
        argv[1] = name;
        return commands[i].run(argc - 1, argv + 1);
    }
    const bool help = args_want_help(argc, argv);
    if (help || argc < 2) {
        printf("usage: cuzk %s COMMAND [arguments]      cuzk %s COMMAND --help teaches one "
               "command\n\n%s\n\ncommands\n",
               group, group, text);
        for (size_t i = 0; i < count; i++) printf("  %-10s %s\n", commands[i].name, commands[i].summary);
        return help ? 0 : cuzk_status_exit_code(CUZK_INVALID_ARGUMENT);
    }
    task_init(&t);
    for (size_t i = 0; i < count && i < ARRAY_COUNT(names); i++) names[i] = commands[i].name;
    const int nearest = args_nearest(argv[1], names, count);
    FAIL(&t, CUZK_INVALID_ARGUMENT, "there is no command '%s %s'", group, argv[1]);
    char advice[96];
    if (nearest >= 0)
        snprintf(advice, sizeof advice, "did you mean '%s %s'?", group, names[nearest]);
    else
        snprintf(advice, sizeof advice, "cuzk %s --help lists the commands", group);
    task_fail_place(&t, NULL, ERROR_NO_OFFSET, NULL, advice);
    return cli_fail_task(&t);
}

const char *cli_bytes(uint64_t bytes)
{
    static char ring[8][24];
    static unsigned next;
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
    char *out = ring[next++ % ARRAY_COUNT(ring)];
    double v = (double)bytes;
    unsigned u = 0;
    while (v >= 1024 && u + 1 < ARRAY_COUNT(units)) {
        v /= 1024;
        u++;
    }
    snprintf(out, sizeof ring[0], u ? "%.1f %s" : "%.0f %s", v, units[u]);
    return out;
}
