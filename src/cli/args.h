/* Command-line arguments from tables: one table drives parsing, bounds, --help and the error texts. */
#ifndef CUZK_CLI_ARGS_H
#define CUZK_CLI_ARGS_H

#include "base/task.h"

enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_COUNT };

struct option_row {
    const char *name;       /* "--threads" */
    enum option_kind kind;
    void *value;            /* bool *, const char **, uint64_t * */
    uint64_t least, most;   /* bounds of OPTION_COUNT */
    const char *argument;   /* "N", shown in the help; NULL for flags */
    const char *help;
};

struct operand_row {
    const char *name;       /* "KEY" */
    const char **value;
    bool optional;          /* may be left out; then *value stays as it was */
    const char *help;
};

struct command {
    const char *name;       /* "prove" */
    const char *summary;    /* one line for the list of commands */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */
};

/** Splits argv[1..] by the tables (operands may stand between options; "--" ends options; --name=value is accepted).
 * Errors  CUZK_INVALID_ARGUMENT names the word and the nearest known option. */
cuzk_status args_parse(struct task *t, int argc, char **argv, const struct option_row *options, size_t option_count,
                       const struct operand_row *operands, size_t operand_count) MUST_CHECK;

/** Whether the last args_parse met the option, by its whole name. */
bool args_given(const char *option);
/** Refuses the first of some options that was given although it has no effect.
 * In      options  up to a NULL;  when  "without --batch";  advice  "add --batch LIST": to leave the option out is added
 * Errors  CUZK_INVALID_ARGUMENT */
cuzk_status args_refuse(struct task *t, const char *const *options, const char *when, const char *advice) MUST_CHECK;

/** Whether --help or -h is among the arguments. */
bool args_want_help(int argc, char **argv);

/** Prints usage, the teaching paragraph, operands and options to standard output. */
void args_print_help(const char *command, const char *text, const struct option_row *options, size_t option_count,
                     const struct operand_row *operands, size_t operand_count);

/** Index of the candidate nearest to word by edit distance, or -1 if none is near. */
int args_nearest(const char *word, const char *const *candidates, size_t count);

#endif
