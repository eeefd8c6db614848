/* Witnesses that clients on the daemon's machine name instead of sending: files of one folder, and nothing outside it. */
#ifndef CUZK_SERVER_WITNESS_FOLDER_H
#define CUZK_SERVER_WITNESS_FOLDER_H

#include "base/task.h"

struct witness_folder {
    int fd; /* -1: none is configured */
    uint64_t most_bytes;
};

void witness_folder_init(struct witness_folder *f);
/** In      most_bytes  the largest file that is taken
 * Errors  CUZK_NOT_FOUND, CUZK_IO: the folder cannot be opened; CUZK_UNSUPPORTED: this kernel cannot keep a name inside a folder (openat2) */
cuzk_status witness_folder_open(struct witness_folder *f, struct task *t, const char *path,
                                uint64_t most_bytes) MUST_CHECK;
void witness_folder_close(struct witness_folder *f); /* legal after init alone */

/** A regular file's bytes, as they are now.
 * In      name  relative; neither its way nor the file itself is a symbolic link
 * Out     *data  from malloc, secret
 * Errors  CUZK_INVALID_ARGUMENT (no folder is configured, a name that leads out of it or through a link, a file that is none),
 *         CUZK_NOT_FOUND, CUZK_TOO_LARGE (both numbers), CUZK_MALFORMED (empty, or changed while it was read), CUZK_IO, CUZK_NO_MEMORY
 * Thread  any */
cuzk_status witness_folder_read(const struct witness_folder *f, struct task *t, const char *name,
                                uint8_t **data, uint64_t *bytes) MUST_CHECK;

#endif
