/* A file in the making: under its name whole or not at all, and nothing of it stays where the program fails, is stopped by a signal or,
 * where the file system can do that, is killed. */
#ifndef CUZK_BASE_TEMPFILE_H
#define CUZK_BASE_TEMPFILE_H

#include "base/task.h"
#include <limits.h>

struct tempfile {
    bool open;
    int fd;       /* for reading and writing */
    bool named;   /* temporary is the file's name; else it has none yet, and goes with its process */
    bool swapped; /* within tempfile_commit: temporary is what stood under the name before */
    bool existed; /* there was one of its name when it was opened */
    int listed;   /* where a signal finds it; -1: nowhere */
    char path[PATH_MAX], temporary[PATH_MAX];
};

/** Begins a file beside path; through a symbolic link, beside the file behind it, which will be replaced.
 * In      path  what is there, if anything, is a plain file;  mode  permissions before the umask, e.g. 0644
 * Returns 0 or an errno; there is nothing to discard then. */
int tempfile_open(struct tempfile *f, struct task *t, const char *path, unsigned mode) MUST_CHECK;
/** Syncs all, then gives all their names, durably: all of them or, as far as the file system can exchange names, none.  All are closed
 * either way.
 * Out     *at  the one at fault
 * Returns 0 or an errno. */
int tempfile_commit(struct tempfile *const *files, size_t count, size_t *at) MUST_CHECK;
void tempfile_discard(struct tempfile *f); /* legal on a zeroed, committed or discarded one */

/** Makes the name that a file has just got durable, as far as its file system can do that. */
void tempfile_sync_folder(const char *path);
/** Removes all that have a name.  For a signal handler that ends the process: async-signal-safe. */
void tempfile_remove_all(void);

#endif
