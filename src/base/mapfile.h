/* A file as a span: memory-mapped when it is a regular file, read into memory when it is a pipe. */
#ifndef CUZK_BASE_MAPFILE_H
#define CUZK_BASE_MAPFILE_H

#include "base/span.h"
#include "base/task.h"

struct mapfile {
    struct span bytes;
    bool mapped;
    uint64_t mtime_ns, inode, device; /* identity, for remembering what was checked */
    char path[ERROR_PATH_BYTES];
};

/** Opens path for reading; "-" is standard input.  CUZK_NOT_FOUND, CUZK_IO (a directory, permission, ...) name path and reason.
 * An empty file gives an empty span. */
cuzk_status mapfile_open(struct mapfile *out, struct task *t, const char *path) MUST_CHECK;
void mapfile_close(struct mapfile *f); /* legal on a zeroed or closed one */

/** Writes bytes to path whole or not at all: to a temporary file beside it, synced, then renamed. mode e.g. 0644. "-": standard
 * output. */
cuzk_status mapfile_write(struct task *t, const char *path, const void *data, size_t bytes, unsigned mode) MUST_CHECK;

#endif
