/* A file of known size that is written in place, through a mapping, and appears under its name whole or not at all: for keys, which
 * can be larger than memory. */
#ifndef CUZK_GROTH16_NEW_FILE_H
#define CUZK_GROTH16_NEW_FILE_H

#include "base/tempfile.h"

struct new_file {
    uint8_t *data; /* size bytes, zero at first; the kernel writes them back as it likes; NULL: not open */
    uint64_t size;
    struct tempfile file;
};
#define NEW_FILES_MOST 2

/** Through a symbolic link the file behind it will be replaced.
 * In      mode  permissions of the new file before the umask, e.g. 0644
 * Errors  CUZK_IO, CUZK_NOT_FOUND (no such folder), CUZK_INVALID_ARGUMENT (a folder, pipe or device), all with the path. */
cuzk_status new_file_open(struct new_file *f, struct task *t, const char *path, uint64_t size,
                          unsigned mode) MUST_CHECK;
/** A range of the file is final: the kernel begins to write it, and the process lets go of its pages, so that what is resident stays small
 * however large the file is.  It may still be read, and even written. */
void new_file_written(const struct new_file *f, uint64_t offset, uint64_t bytes);
/** Syncs up to NEW_FILES_MOST files and gives them their names, durably: all or none (tempfile_commit).  All are closed either way.
 * Errors  CUZK_IO. */
cuzk_status new_file_commit(struct task *t, struct new_file *const *files, size_t count) MUST_CHECK;
void new_file_discard(struct new_file *f); /* legal on a zeroed, committed or discarded one */

#endif
