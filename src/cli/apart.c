/* Whether outputs are apart from inputs and from each other. */
#include "cli/apart.h"
#include "cli/cli.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IDENTITY_BYTES = PATH_MAX + 64, NAMES_MOST = 12 };

/* What a path stands for: two that are one file have the same text.  false: something that is not replaced (a pipe, a device), or nothing that
 * could be made; opening it will say why. */
static bool identify(char out[IDENTITY_BYTES], const char *path)
{
    const char *const slash = strrchr(path, '/');
    char folder[PATH_MAX];
    struct stat s;

    if (cli_is_stdout(path)) {
        snprintf(out, IDENTITY_BYTES, "standard output");
        return true;
    }
    if (stat(path, &s) == 0) {
        snprintf(out, IDENTITY_BYTES, "%llx:%llx", (unsigned long long)s.st_dev,
                 (unsigned long long)s.st_ino);
        return S_ISREG(s.st_mode);
    }
    const size_t n = slash == NULL ? 0 : (size_t)(slash - path);
    if (n >= sizeof folder) return false;
    memcpy(folder, path, n);
    folder[n] = '\0';
    if (stat(slash == NULL ? "." : n == 0 ? "/" : folder, &s) != 0) return false;
    snprintf(out, IDENTITY_BYTES, "%llx:%llx/%s", (unsigned long long)s.st_dev, (unsigned long long)s.st_ino,
             slash == NULL ? path : slash + 1);
    return true;
}

static int by_identity(const void *a, const void *b)
{
    const struct apart_name *const x = a, *const y = b;
    const int order = strcmp(x->identity, y->identity);

    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static cuzk_status fail_one(struct task *t, const char *list, const struct apart_name *a,
                            const struct apart_name *b)
{
    cuzk_status status;

    if (list != NULL && a->line == 0)
        status = FAIL(t, CUZK_INVALID_ARGUMENT, "line %u of the list would overwrite %s: '%s'", b->line,
                      a->path == list ? "the list itself" : "an input of all lines", b->path);
    else if (list != NULL)
        status = FAIL(t, CUZK_INVALID_ARGUMENT, "lines %u and %u of the list both name '%s', where %s writes",
                      a->line, b->line, b->path, a->output && b->output ? "each" : "one of them");
    else if (a->output && b->output)
        status =
            FAIL(t, CUZK_INVALID_ARGUMENT,
                 "the outputs '%s' and '%s' are one file: one would overwrite the other", a->path, b->path);
    else
        status = FAIL(t, CUZK_INVALID_ARGUMENT, "the output '%s' would overwrite the input '%s'",
                      a->output ? a->path : b->path, a->output ? b->path : a->path);
    task_fail_place(t, list, ERROR_NO_OFFSET, NULL, "give every output a name of its own");
    return status;
}

cuzk_status apart_check(struct task *t, const char *list, struct apart_name *names, size_t count)
{
    char identity[IDENTITY_BYTES];
    cuzk_status status = CUZK_OK;
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (names[i].path == NULL || !identify(identity, names[i].path)) continue;
        names[n] = names[i];
        names[n].identity = strdup(identity);
        if (names[n++].identity != NULL) continue;
        n--;
        status = FAIL(t, CUZK_NO_MEMORY, "no memory for the names of %zu files", count);
        goto out;
    }
    qsort(names, n, sizeof *names, by_identity);
    for (size_t i = 1; i < n && status == CUZK_OK; i++)
        if (strcmp(names[i - 1].identity, names[i].identity) == 0 && (names[i - 1].output || names[i].output))
            status = fail_one(t, list, &names[i - 1], &names[i]);
out:
    for (size_t i = 0; i < n; i++) free(names[i].identity);
    return status;
}

cuzk_status cli_files_apart(struct task *t, const char *const *outputs, size_t output_count,
                            const char *const *inputs, size_t input_count)
{
    struct apart_name names[NAMES_MOST];
    size_t n = 0;

    for (size_t i = 0; i < output_count && n < NAMES_MOST; i++)
        names[n++] = (struct apart_name){ outputs[i], true, 0, NULL };
    for (size_t i = 0; i < input_count && n < NAMES_MOST; i++) {
        const bool is_stdin = inputs[i] != NULL && strcmp(inputs[i], "-") == 0;
        names[n++] = (struct apart_name){ is_stdin ? NULL : inputs[i], false, 0, NULL };
    }
    return apart_check(t, NULL, names, n);
}

const char *cli_derived_beside(char *out, const char *key)
{
    return key != NULL && (size_t)snprintf(out, PATH_MAX, "%s.derived", key) < PATH_MAX ? out : NULL;
}
