/* cuzk prove --batch: many proofs from a list, several of them under way at once. */
#ifndef CUZK_CLI_BATCH_H
#define CUZK_CLI_BATCH_H

#include "cuzk/cuzk.h"

struct batch_options {
    const char *list_path;
    const char *r1cs_path; /* NULL: none */
    cuzk_encoding encoding;
    cuzk_key_mode key_mode;
    unsigned lanes;    /* proofs under way at once */
    double timeout_ms; /* of each proof; 0: none */
};

/** Proves all lines of the list, key by key.  A line that fails costs no other.  Returns the exit code: 0, or that of the first line
 * of the list that failed. */
int batch_run(const struct batch_options *o);

#endif
