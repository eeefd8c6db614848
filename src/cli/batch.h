/* cuzk prove --batch: many proofs from a list, several of them under way at once. */
#ifndef CUZK_CLI_BATCH_H
#define CUZK_CLI_BATCH_H

#include "cuzk/cuzk.h"
#include <stdbool.h>
#include <stdint.h>

/* Whether the device is driven by a process of its own: a card is, where this build has an engine; always; never. */
enum batch_process { BATCH_PROCESS_AUTO, BATCH_PROCESS_ALWAYS, BATCH_PROCESS_NEVER };

struct batch_options {
    const char *list_path;
    const char *r1cs_path; /* NULL: none */
    cuzk_encoding encoding;
    cuzk_key_mode key_mode;
    unsigned lanes;    /* proofs under way at once */
    double timeout_ms; /* of each proof; 0: none */
    enum batch_process process;
    uint64_t watchdog_ms; /* in a process of its own: what computes longer is stuck */
    bool timing;          /* a CUZK_TIMING line for each proof, on standard error */
};
#define BATCH_WATCHDOG_MS 120000 /* a card's largest keys are sent and proved in seconds */

/** Proves all lines of the list, key by key.  A line that fails costs no other.  Returns the exit code: 0, or that of the first line
 * of the list that failed. */
int batch_run(const struct batch_options *o);

#endif
