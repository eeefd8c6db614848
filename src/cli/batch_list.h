/* A list of proofs to make, one a line: KEY WITNESS PROOF [PUBLIC].
 *
 * Fields stand apart by blanks or tabs; a name that contains some stands between double quotes.  Empty lines, and lines that begin
 * with '#', say nothing. */
#ifndef CUZK_CLI_BATCH_LIST_H
#define CUZK_CLI_BATCH_LIST_H

#include "base/task.h"

struct batch_line {
    unsigned number; /* in the file, from 1 */
    const char *key, *witness, *proof;
    const char *publics; /* NULL: not wanted */
};

struct batch_list {
    char *text; /* the names lie in it */
    struct batch_line *line;
    size_t count, capacity;
};

/** Reads a list ("-": standard input) whole, before anything is proved.
 * Errors  CUZK_MALFORMED: a line that is none, with its number; CUZK_INVALID_ARGUMENT: an output that is another line's, or an input
 *         of any; those of mapfile_open. */
cuzk_status batch_list_read(struct batch_list *out, struct task *t, const char *path,
                            const char *r1cs) MUST_CHECK;
void batch_list_free(struct batch_list *l); /* legal on a zeroed one */

#endif
