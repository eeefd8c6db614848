/* The lines of a batch through an engine whose device has a process of its own: where a kernel traps or never ends, or the process is
 * killed, another one is started, keys are loaded there again, and the unfinished proofs are made again with fresh randomness. */
#ifndef CUZK_CLI_BATCH_ENGINE_H
#define CUZK_CLI_BATCH_ENGINE_H

#include "base/task.h"
#include "cli/batch.h"

struct batch_engine;

struct batch_engine_key {
    const char *path;
    char name[64]; /* of its circuit, made by batch_engine_open */
};

struct batch_made {
    cuzk_proof *proof;
    cuzk_publics *publics;
    double prove_ms;
};

struct batch_engine_counts {
    uint64_t restarts; /* of the process */
    uint64_t retries;  /* of proofs */
};

/** Whether this build has an engine. */
bool batch_engine_possible(void);
/** First thing in main: the exit code if this is the process of a device, which is this program started again; else -1. */
int batch_engine_device_main(int argc, char **argv);
/** Starts the process and measures every key there.
 * In      keys  until batch_engine_close
 * Errors  CUZK_UNSUPPORTED: this build has no engine; those of engine_open */
cuzk_status batch_engine_open(struct batch_engine **out, struct task *t, const struct batch_options *o,
                              struct batch_engine_key *keys, size_t key_count) MUST_CHECK;
/** Whether a proof on the key from a witness of so many bytes could be made there at all.
 * Errors  CUZK_TOO_LARGE: not in the memory that there is, both numbers named; CUZK_NOT_FOUND: the device does not take the key */
cuzk_status batch_engine_could_prove(const struct batch_engine *e, struct task *t,
                                     const struct batch_engine_key *key, uint64_t witness_bytes) MUST_CHECK;
/** Proves and verifies; as many threads as there are lanes may call it, and some more that read and write files meanwhile.
 * Out     made  to be closed by the caller, also on failure */
cuzk_status batch_engine_prove(struct batch_engine *e, struct batch_made *made,
                               const struct batch_engine_key *key, const char *witness_path,
                               const cuzk_watch *watch, cuzk_error *error) MUST_CHECK;
/** Gives a key's memory back. */
void batch_engine_drop(struct batch_engine *e, const struct batch_engine_key *key);
void batch_engine_close(struct batch_engine *e, struct batch_engine_counts *out); /* NULL is legal: zeros */

#endif
