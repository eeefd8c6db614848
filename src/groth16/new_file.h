/* A file of known size that is written in place, through a mapping, and appears under its name whole or not at all: for keys, which
 * can be larger than memory. */
#ifndef CUZK_GROTH16_NEW_FILE_H
#define CUZK_GROTH16_NEW_FILE_H

#include "base/task.h"

struct new_file {
    uint8_t *data; /* size bytes, zero at first; the kernel writes them back as it likes */
    uint64_t size;
    int fd;
    bool named; /* temporary is the file's name; else it has none yet, and goes with its process */
    char path[4096], temporary[4096];
};

/** Through a symbolic link the file behind it will be replaced.
 * In      mode  permissions of the new file before the umask, e.g. 0644
 * Errors  CUZK_IO, CUZK_NOT_FOUND (no such folder), CUZK_INVALID_ARGUMENT (a folder, pipe or device), all with the path. */
cuzk_status new_file_open(struct new_file *f, struct task *t, const char *path, uint64_t size,
                          unsigned mode) MUST_CHECK;
/** A range of the file is final: the kernel begins to write it, and the process lets go of its pages, so that what is resident stays small
 * however large the file is.  It may still be read, and even written. */
void new_file_written(const struct new_file *f, uint64_t offset, uint64_t bytes);
/** Syncs and renames, both durable; f is closed either way.  Errors  CUZK_IO. */
cuzk_status new_file_commit(struct new_file *f, struct task *t) MUST_CHECK;
/** Makes the name that a file has just got durable, as far as its file system can do that. */
void new_file_sync_folder(const char *path);
void new_file_discard(struct new_file *f); /* legal on a zeroed, committed or discarded one */

#endif
