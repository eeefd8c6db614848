/* A file as a span: memory-mapped when it is a regular file, read into memory when it is a pipe. */
#ifndef CUZK_BASE_MAPFILE_H
#define CUZK_BASE_MAPFILE_H

#include "base/span.h"
#include "base/task.h"

struct mapfile {
    struct span bytes;
    bool mapped;     /* a view of the file: it must not change while in use (mapfile_check, mapguard.h) */
    unsigned guard;  /* mapguard.h */
    size_t capacity; /* bytes of the mapping behind the span */
    uint64_t mtime_ns, inode, device; /* identity, for remembering what was checked */
    char path[ERROR_PATH_BYTES];
};

/** Opens path for reading; "-" is standard input.  CUZK_NOT_FOUND, CUZK_IO (a directory, permission, ...) name path and reason.
 * An empty file gives an empty span.  What cannot be mapped is read, up to half of the memory that the process may use, and 64 MiB
 * from a device: CUZK_TOO_LARGE. */
cuzk_status mapfile_open(struct mapfile *out, struct task *t, const char *path) MUST_CHECK;
void mapfile_close(struct mapfile *f); /* legal on a zeroed or closed one */

/** Whether the file is still what was opened: neither cut short nor written to since.  One that another file of its name has replaced is:
 * the old one stays mapped.  For explaining what went wrong, and before anything is made of it once more.
 * Errors  CUZK_IO with the path and advice.  Thread  any. */
cuzk_status mapfile_check(struct task *t, const struct mapfile *f) MUST_CHECK;

/** Writes bytes to path whole or not at all: to a temporary file beside it, synced, then renamed.
 *
 * In      path  "-", /dev/stdout and /dev/fd/N name open descriptors; they, and a path that is a pipe or a device, are written
 *               directly.  A symbolic link keeps pointing to its file, whose contents are replaced.
 *         mode  permissions of a new file before the umask, e.g. 0644
 * Errors  CUZK_NOT_FOUND (no such folder), CUZK_IO; the old file is then untouched and nothing is left beside it. */
cuzk_status mapfile_write(struct task *t, const char *path, const void *data, size_t bytes,
                          unsigned mode) MUST_CHECK;

struct mapfile_output {
    const char *path;
    const void *data;
    size_t bytes;
    unsigned mode;
};
#define MAPFILE_OUTPUTS_MOST 4

/** The same for up to MAPFILE_OUTPUTS_MOST outputs: all of them or none.  Files get their names when everything is on the disk and what goes to
 * descriptors, pipes and devices has been written. */
cuzk_status mapfile_write_together(struct task *t, const struct mapfile_output *outputs, size_t count) MUST_CHECK;

/** Whether mapfile_write could begin now: said before long work, not after it.  Writes nothing.
 * Errors  as mapfile_write's, of a folder that is missing, not a folder, or not writable, and of a path that is a folder. */
cuzk_status mapfile_check_writable(struct task *t, const char *path) MUST_CHECK;

/** What to do about a file for which a call failed with an errno; NULL: nothing is known. */
const char *mapfile_advice(int why);

#endif
