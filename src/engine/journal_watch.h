/* Whether the journal's files are still those that were opened.
 *
 * SQLite goes on writing into a file that has been deleted, replaced or moved away, without an error; what it writes there is lost
 * with the process.  Nothing may be called durable that went into such a file. */
#ifndef CUZK_ENGINE_JOURNAL_WATCH_H
#define CUZK_ENGINE_JOURNAL_WATCH_H

#include "base/task.h"

enum { WATCH_FOLDER, WATCH_PAYLOADS, WATCH_DATABASE, WATCH_LOG, WATCH_COUNT };

struct journal_watch {
    const char *folder; /* borrowed */
    struct {
        uint64_t device, inode, bytes; /* bytes: of a file, when it was last looked at */
    } files[WATCH_COUNT];
};

/** The journal of that folder has just been opened.  CUZK_IO: a file is missing already. */
cuzk_status journal_watch_begin(struct journal_watch *w, struct task *t, const char *folder) MUST_CHECK;

/** Errors  CUZK_IO with the path: it is gone, is another one, or has become shorter (nothing of ours shortens it).
 * Cost  four stat(2). */
cuzk_status journal_watch_check(struct journal_watch *w, struct task *t) MUST_CHECK;

#endif
