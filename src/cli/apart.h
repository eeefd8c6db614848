/* Whether the files that a command writes are apart from those that it reads, and from each other: each output is replaced whole, so that
 * a slip of the hand would cost a key. */
#ifndef CUZK_CLI_APART_H
#define CUZK_CLI_APART_H

#include "base/task.h"

struct apart_name {
    const char *path; /* NULL: none */
    bool output;
    unsigned line;  /* of a list, which is line 0 itself */
    char *identity; /* apart_check's own */
};

/** Files are told by what they are, not by how they are spelled: links of either kind, "..", and other names of standard output count.
 * In      list  NULL, or the list to which the lines belong
 * Errors  CUZK_INVALID_ARGUMENT names two that are one; CUZK_NO_MEMORY */
cuzk_status apart_check(struct task *t, const char *list, struct apart_name *names, size_t count) MUST_CHECK;
/** The same for one command: "-" among the inputs is standard input. */
cuzk_status cli_files_apart(struct task *t, const char *const *outputs, size_t output_count,
                            const char *const *inputs, size_t input_count) MUST_CHECK;

/** Where the derived form of a key lies: an input of every command that opens the key.
 * Out     out  PATH_MAX bytes; returns it, or NULL if the name would be too long or key is NULL */
const char *cli_derived_beside(char *out, const char *key);

#endif
