/* Command-line arguments from tables. */
#include "cli/args.h"
#include "base/nearest.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int args_nearest(const char *word, const char *const *candidates, size_t count)
{
    return nearest_word(word, candidates, count);
}

bool args_want_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--")) return false;
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return true;
    }
    return false;
}

static const struct option_row *find_option(const struct option_row *options, size_t count, const char *word,
                                            size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(options[i].name) == bytes && !memcmp(options[i].name, word, bytes)) return &options[i];
    return NULL;
}

static cuzk_status unknown_option(struct task *t, const char *word, const struct option_row *options,
                                  size_t count)
{
    const char *names[64];
    for (size_t i = 0; i < count && i < ARRAY_COUNT(names); i++) names[i] = options[i].name;
    const int nearest = args_nearest(word, names, count < ARRAY_COUNT(names) ? count : ARRAY_COUNT(names));
    FAIL(t, CUZK_INVALID_ARGUMENT, "unknown option %s", word);
    if (nearest >= 0) {
        char advice[96];
        snprintf(advice, sizeof advice, "did you mean %s?", names[nearest]);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL, advice);
    } else {
        task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL, "--help lists the options");
    }
    return t->error.status;
}

static cuzk_status parse_count(struct task *t, const struct option_row *o, const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long v = strtoull(text, &end, 10);
    if (errno || text[0] < '0' || text[0] > '9' || *end || v < o->least || v > o->most)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%s takes a whole number from %llu to %llu, not '%s'", o->name,
                    (unsigned long long)o->least, (unsigned long long)o->most, text);
    *(uint64_t *)o->value = v;
    return CUZK_OK;
}

enum { GIVEN_MOST = 64 };
static const char *given[GIVEN_MOST]; /* of the last args_parse: one a process */
static size_t given_count;

bool args_given(const char *option)
{
    for (size_t i = 0; i < given_count; i++)
        if (strcmp(given[i], option) == 0) return true;
    return false;
}

cuzk_status args_refuse(struct task *t, const char *const *options, const char *when, const char *advice)
{
    for (; *options != NULL; options++) {
        if (!args_given(*options)) continue;
        char text[160];
        FAIL(t, CUZK_INVALID_ARGUMENT, "%s has no effect %s", *options, when);
        snprintf(text, sizeof text, "%s, or leave %s out", advice, *options);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, *options, text);
        return CUZK_INVALID_ARGUMENT;
    }
    return CUZK_OK;
}

cuzk_status args_parse(struct task *t, int argc, char **argv, const struct option_row *options,
                       size_t option_count, const struct operand_row *operands, size_t operand_count)
{
    size_t operands_seen = 0;
    bool options_over = false;
    given_count = 0;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!options_over && !strcmp(word, "--")) {
            options_over = true;
            continue;
        }
        if (options_over || word[0] != '-' || word[1] == 0) {
            if (operands_seen == operand_count)
                return FAIL(t, CUZK_INVALID_ARGUMENT, "unexpected argument '%s': %s takes at most %zu", word,
                            argv[0], operand_count);
            *operands[operands_seen++].value = word;
            continue;
        }
        const char *equals = strchr(word, '=');
        const size_t bytes = equals ? (size_t)(equals - word) : strlen(word);
        const struct option_row *o = find_option(options, option_count, word, bytes);
        if (!o) return unknown_option(t, word, options, option_count);
        if (given_count < GIVEN_MOST && !args_given(o->name)) given[given_count++] = o->name;
        if (o->kind == OPTION_FLAG) {
            if (equals) return FAIL(t, CUZK_INVALID_ARGUMENT, "%s takes no value", o->name);
            *(bool *)o->value = true;
            continue;
        }
        const char *text = equals ? equals + 1 : (i + 1 < argc ? argv[++i] : NULL);
        if (!text) return FAIL(t, CUZK_INVALID_ARGUMENT, "%s needs a value (%s)", o->name, o->argument);
        if (o->kind == OPTION_TEXT) {
            *(const char **)o->value = text;
        } else {
            TRY(parse_count(t, o, text));
        }
    }
    if (operands_seen < operand_count && !operands[operands_seen].optional) {
        FAIL(t, CUZK_INVALID_ARGUMENT, "%s is missing: %s", operands[operands_seen].name,
             operands[operands_seen].help);
        char advice[96];
        snprintf(advice, sizeof advice, "cuzk %s --help shows the whole form", argv[0]);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL, advice);
        return t->error.status;
    }
    return CUZK_OK;
}

void args_print_help(const char *command, const char *text, const struct option_row *options,
                     size_t option_count, const struct operand_row *operands, size_t operand_count)
{
    printf("usage: cuzk %s%s", command, option_count ? " [options]" : "");
    for (size_t i = 0; i < operand_count; i++)
        printf(operands[i].optional ? " [%s]" : " %s", operands[i].name);
    printf("\n\n%s\n", text);
    if (operand_count) printf("\narguments\n");
    for (size_t i = 0; i < operand_count; i++) printf("  %-22s %s\n", operands[i].name, operands[i].help);
    if (option_count) printf("\noptions\n");
    for (size_t i = 0; i < option_count; i++) {
        char left[48];
        snprintf(left, sizeof left, "%s%s%s", options[i].name, options[i].argument ? " " : "",
                 options[i].argument ? options[i].argument : "");
        printf("  %-22s %s\n", left, options[i].help);
    }
}
