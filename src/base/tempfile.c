/* A file in the making. */
#include "base/tempfile.h"
#include "base/rng.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LISTED_MOST = 64
}; /* far more than are ever in the making at once; those beyond are not found by a signal */

enum { SLOT_FREE, SLOT_FILLING, SLOT_LISTED, SLOT_REMOVING };

/* Copies: a signal must not read what its owner may have given up meanwhile. */
static struct {
    atomic_int state;
    char name[PATH_MAX];
} slots[LISTED_MOST];

static bool move_slot(int i, int from, int to)
{
    return atomic_compare_exchange_strong(&slots[i].state, &from, to);
}

void tempfile_remove_all(void)
{
    for (int i = 0; i < LISTED_MOST; i++) {
        if (!move_slot(i, SLOT_LISTED, SLOT_REMOVING)) continue;
        (void)unlink(slots[i].name);
        atomic_store(&slots[i].state, SLOT_LISTED);
    }
}

static int list(const char *name)
{
    for (int i = 0; i < LISTED_MOST; i++) {
        if (!move_slot(i, SLOT_FREE, SLOT_FILLING)) continue;
        snprintf(slots[i].name, sizeof slots[i].name, "%s", name);
        atomic_store(&slots[i].state, SLOT_LISTED);
        return i;
    }
    return -1;
}

/* Afterwards no signal removes what has the name, also none that another thread is handling. */
static void unlist(struct tempfile *f)
{
    if (f->listed < 0) return;
    while (!move_slot(f->listed, SLOT_LISTED, SLOT_FREE)) continue;
    f->listed = -1;
}

/* -- names ------------------------------------------------------------------------------------------------------------- */

static int link_unnamed(int fd, const char *name)
{
    char open_file[64];

    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, open_file, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* The folder that a file is in. */
static void folder_of(char folder[PATH_MAX], const char *path)
{
    snprintf(folder, PATH_MAX, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        snprintf(folder, PATH_MAX, ".");
    else
        slash[slash == folder] = '\0'; /* the root keeps its slash */
}

void tempfile_sync_folder(const char *path)
{
    char folder[PATH_MAX];

    folder_of(folder, path);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)!fsync(fd); /* some file systems cannot */
    close(fd);
}

static int open_unnamed(const char *folder, unsigned mode)
{
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, (mode_t)mode);
}

/* A file without a name until it is whole: where the process is killed, or the power goes, nothing of tens of gigabytes stays.  A descriptor, or
 * -1 where the file system, or a machine without /proc, cannot give it a name later, as is tried with another one first. */
static int open_without_name(const struct tempfile *f, unsigned mode)
{
    char where[PATH_MAX];

    folder_of(where, f->path);
    const int trial = open_unnamed(where, mode);
    if (trial < 0) return -1;
    const bool can = link_unnamed(trial, f->temporary) == 0 && unlink(f->temporary) == 0;
    close(trial);
    return can ? open_unnamed(where, mode) : -1;
}

int tempfile_open(struct tempfile *f, struct task *t, const char *path, unsigned mode)
{
    struct stat st;
    uint64_t random;

    memset(f, 0, sizeof *f);
    f->listed = -1;
    if (rng_bytes(t, &random, sizeof random) != CUZK_OK) return EIO;
    f->existed = stat(path, &st) == 0;
    if ((!f->existed || realpath(path, f->path) == NULL) &&
        (size_t)snprintf(f->path, sizeof f->path, "%s", path) >= sizeof f->path)
        return ENAMETOOLONG;
    if ((size_t)snprintf(f->temporary, sizeof f->temporary, "%s.%016llx.part", f->path,
                         (unsigned long long)random) >= sizeof f->temporary)
        return ENAMETOOLONG;
    f->listed = list(f->temporary); /* before there is one: a signal may come between */
    f->fd = open_without_name(f, mode);
    f->named = f->fd < 0;
    if (f->named) f->fd = open(f->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
    f->open = f->fd >= 0;
    if (f->open) return 0;
    const int why = errno;
    unlist(f);
    return why;
}

void tempfile_discard(struct tempfile *f)
{
    if (!f->open) return;
    close(f->fd);
    if (f->named) unlink(f->temporary);
    unlist(f);
    f->open = false;
}

/* -- all or none --------------------------------------------------------------------------------------------------------- */

/* What had the name before lies under the other one then, so that it can have it back. */
static int take_name(struct tempfile *f, bool keep_old)
{
    if (!f->named && link_unnamed(f->fd, f->temporary) != 0) return errno;
    f->named = true;
    if (keep_old) unlist(f); /* a signal must not remove the old file; the new one may stay in its place */
    f->swapped = keep_old && renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0;
    return f->swapped || rename(f->temporary, f->path) == 0 ? 0 : errno;
}

static void give_name_back(struct tempfile *f)
{
    if (f->swapped)
        (void)renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_EXCHANGE);
    else if (!f->existed)
        (void)unlink(f->path);
}

int tempfile_commit(struct tempfile *const *files, size_t count, size_t *at)
{
    int why = 0;

    for (*at = 0; *at < count; ++*at)
        if (fsync(files[*at]->fd) != 0) {
            why = errno;
            goto out;
        }
    for (*at = 0; *at < count; ++*at) {
        why = take_name(files[*at], files[*at]->existed && *at + 1 < count);
        if (why == 0) continue;
        for (size_t i = *at; i-- > 0;) give_name_back(files[i]);
        goto out;
    }
    for (size_t i = 0; i < count; i++) tempfile_sync_folder(files[i]->path);
out:
    for (size_t i = 0; i < count; i++) tempfile_discard(files[i]); /* an old file's other name goes too */
    return why;
}
