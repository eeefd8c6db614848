/* In place of batch_engine.c where the engine is not built (it needs SQLite): batches are proved in this process. */
#include "cli/batch_engine.h"
#include <string.h>

bool batch_engine_possible(void) { return false; }

int batch_engine_device_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return -1;
}

cuzk_status batch_engine_open(struct batch_engine **out, struct task *t, const struct batch_options *o,
                              struct batch_engine_key *keys, size_t key_count)
{
    (void)out;
    (void)o;
    (void)keys;
    (void)key_count;
    const cuzk_status status =
        FAIL(t, CUZK_UNSUPPORTED, "this build has no engine for a process of the device's own");
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "--process",
                    "build with libsqlite3-dev, or leave --process out");
    return status;
}

cuzk_status batch_engine_could_prove(const struct batch_engine *e, struct task *t,
                                     const struct batch_engine_key *key, uint64_t witness_bytes)
{
    (void)e;
    (void)t;
    (void)key;
    (void)witness_bytes;
    return CUZK_INTERNAL; /* none was opened */
}

cuzk_status batch_engine_prove(struct batch_engine *e, struct batch_made *made,
                               const struct batch_engine_key *key, const char *witness_path,
                               const cuzk_watch *watch, cuzk_error *error)
{
    (void)e;
    (void)made;
    (void)key;
    (void)witness_path;
    (void)watch;
    return error->status = CUZK_INTERNAL; /* none was opened */
}

void batch_engine_drop(struct batch_engine *e, const struct batch_engine_key *key)
{
    (void)e;
    (void)key;
}

void batch_engine_close(struct batch_engine *e, struct batch_engine_counts *out)
{
    (void)e;
    memset(out, 0, sizeof *out);
}
