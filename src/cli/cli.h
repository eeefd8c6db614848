/* What all commands of the command line share: common options, the way errors and results are printed, Ctrl-C. */
#ifndef CUZK_CLI_CLI_H
#define CUZK_CLI_CLI_H

#include "cli/apart.h"
#include "cli/args.h"
#include "cuzk/cuzk.h"
#include <jansson.h>

/* Set by the common options before a command runs. */
struct cli {
    bool json;            /* one JSON object on standard output instead of text */
    bool quiet;           /* no progress, no warnings */
    uint64_t threads;     /* 0: one a usable CPU */
    const char *backend;  /* NULL: cpu, or cuda where a device is named */
    const char *key_mode; /* of --key-mode; NULL: not given */
    const char *device_text; /* of --device; NULL: not given */
    uint64_t device;      /* what that says, or was chosen: a card; CLI_NO_DEVICE: none */
    uint64_t device_mib;  /* of --device-memory; 0: not given */
    bool device_chosen;   /* --device auto has had its answer */
    unsigned lanes;       /* of the context; 0: as it has by itself */
};
extern struct cli cli;
#define CLI_NO_DEVICE UINT64_MAX
#define CLI_LANES     3 /* proofs under way at once where nobody says */

/* Rows that every command adds to its own options. */
#define CLI_COMMON_OPTIONS                                                                                   \
    { "--threads", OPTION_COUNT, &cli.threads, 1, 1024, "N", "worker threads (default: one a usable CPU)" }, \
        { "--json", OPTION_FLAG, &cli.json, 0, 0, NULL, "print one JSON object on standard output" },        \
    {                                                                                                        \
        "--quiet", OPTION_FLAG, &cli.quiet, 0, 0, NULL, "no progress and no warnings on standard error"      \
    }

/* Rows of the commands that can prove on a card. */
#define CLI_DEVICE_OPTIONS                                                                       \
    { "--backend",                                                                               \
      OPTION_TEXT,                                                                               \
      &cli.backend,                                                                              \
      0,                                                                                         \
      0,                                                                                         \
      "B",                                                                                       \
      "cpu or cuda; never another than the one named" },                                         \
    { "--device",                                                                                \
      OPTION_TEXT,                                                                               \
      &cli.device_text,                                                                          \
      0,                                                                                         \
      0,                                                                                         \
      "D",                                                                                       \
      "cpu, a card's number N of 'cuzk devices', or auto: by the size, where a key says it" },   \
    {                                                                                            \
        "--device-memory", OPTION_COUNT, &cli.device_mib, 256, 1 << 24, "MIB",                   \
            "MiB of the card to take (default: all that is free but one GiB)"                    \
    }

/* Row of the commands that prove, whose key may lie there in its derived form. */
#define CLI_KEY_MODE_OPTION                                                           \
    {                                                                                 \
        "--key-mode", OPTION_TEXT, &cli.key_mode, 0, 0, "M",                          \
            "auto (default): KEY.derived if it is there and sound; original; derived" \
    }
/** What --key-mode says. */
cuzk_status cli_key_mode(struct task *t, cuzk_key_mode *out) MUST_CHECK;

/** Prints the error (text to standard error, and an object to standard output with --json); returns its exit code. */
int cli_fail(const cuzk_error *error);
int cli_fail_line(const cuzk_error *error, unsigned line); /* the same, of a line of a list (0: of none) */
int cli_fail_task(const struct task *t); /* the same for argument errors */
cuzk_status cli_error_of(cuzk_error *out, const struct task *t); /* its error; returns the status */
/** What a command begins with: t is made, help printed if it is wanted, or the arguments read by the tables.
 * Returns  -1: go on; else the command is over, with this exit code */
int cli_begin(struct task *t, int argc, char **argv, const char *command, const char *help,
              const struct option_row *options, size_t option_count, const struct operand_row *operands,
              size_t operand_count);

/** Prints a result object with --json and drops it. */
void cli_print_json(json_t *object);
json_t *cli_json_text(
    const char
        *text); /* a string; in one that is not UTF-8 (a path may be anything) '?' for what is not ASCII */

/** Whether it goes to standard output, where nothing else may then go. */
bool cli_is_stdout(const char *path);

/** The last thing: code, or that of an input or output error if what was printed did not arrive. */
int cli_finish(int exit_code);

void cli_warn(const char *format, ...) PRINTF_LIKE(1, 2); /* standard error, unless --quiet */

/** Ctrl-C, SIGTERM and SIGHUP end the process, and files in the making go with it.  Once, at the start. */
void cli_handle_signals(void);
/** A flag that the first of these signals sets instead, from now on. */
const atomic_bool *cli_cancelled(void);
/** A watch that Ctrl-C, SIGTERM and SIGHUP cancel and that shows progress on a terminal. */
cuzk_watch cli_watch(void);

/** The context with --threads, --backend and --device; cli_fail has been called if it returns false. */
bool cli_context(cuzk_context **out, int *exit_code);
/** The same once the device is read; nothing is said of an error. */
cuzk_status cli_context_try(cuzk_context **out, cuzk_error *error) MUST_CHECK;
/** One on the CPU, whatever they say: keys opened with it prove in any other. */
bool cli_context_on_cpu(cuzk_context **out, int *exit_code);

/* -- which device (device_choice.c) -- */
/** Reads --device.
 * Errors  CUZK_INVALID_ARGUMENT: no such word, or --backend says something else */
cuzk_status cli_read_device(struct task *t) MUST_CHECK;
bool cli_device_is_named(void); /* by --backend or --device */
/** Whether a choice is to be made: no device is named, and there is a card.  With --device auto what there is is said. */
bool cli_may_choose_device(void);
/** Chooses between the first card and the CPU by what so many proofs on the key will take, and says which and why. */
void cli_choose_device(const cuzk_key *key, size_t proofs, unsigned lanes);
/** Whether the chosen card takes a proof on the key, in *out, which is its context then; else what is in the way is said, and the CPU is chosen. */
bool cli_card_takes(cuzk_context **out, const cuzk_key *key);

/* A key, and the context in which it is to prove. */
struct cli_key {
    cuzk_context *context, *on_cpu; /* on_cpu: with which it was opened, before there was a choice; or NULL */
    cuzk_key *key;
};
/** Opens both; chooses the device for so many proofs if that may be.  cli_fail has been called if it returns false. */
bool cli_key_open(struct cli_key *out, const char *path, const cuzk_key_options *options, size_t proofs,
                  unsigned lanes, int *exit_code);
/** Whether proofs on the key have the encoding: said before the work.  Errors  CUZK_UNSUPPORTED */
cuzk_status cli_check_encoding(struct task *t, const cuzk_key *key, cuzk_encoding encoding) MUST_CHECK;
/** What there is to say of a key before proofs on it: that its points were not checked, that its derived form is not used. */
void cli_warn_of_key(const cuzk_key *key, const char *path);
/** Is what failed the derived form of a key (its file is named, as KEY.derived)? */
bool cli_error_of_derived(const cuzk_error *why);
/** After a proof on a key failed for the reason why: whether its derived form, which had been found sound before and was taken for that, is
 * damaged, so that the key opened anew will do without it.  It is said then. */
bool cli_derived_is_lost(cuzk_context *context, const char *path, const cuzk_key_options *options,
                         const cuzk_error *why);
void cli_key_close(struct cli_key *k); /* legal on a zeroed one */

const char *cli_backend(void); /* "cpu", "cuda" */
bool cli_on_card(void);
/** What cuzk_key_predict says of the device of --backend and --device, or of the one that was chosen; zeros if it cannot be found. */
void cli_predict(cuzk_prediction *out, const cuzk_key *key);
/** A line CUZK_TIMING on standard error. */
void cli_print_timing(const cuzk_proof *proof);

/* "3.2 MiB" in a static ring of buffers. */
const char *cli_bytes(uint64_t bytes);

/** Runs the command that argv[1] names, or shows what there is. */
int cli_subcommand(const char *group, const char *text, const struct command *commands, size_t count,
                   int argc, char **argv);

int cmd_prove(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_devices(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_bench_prove(int argc, char **argv);
int cmd_interlock(int argc, char **argv);
int cmd_bench_porep(int argc, char **argv);
int cmd_setup(int argc, char **argv);
int cmd_vkey(int argc, char **argv);
int cmd_key(int argc, char **argv);
int cmd_porep(int argc, char **argv);
int cmd_circuit(int argc, char **argv);
int cmd_gen(int argc, char **argv);
int cmd_remote(int argc, char **argv);

#endif
