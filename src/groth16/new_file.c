/* A file of known size that is written in place, through a mapping, and appears under its name whole or not at all. */
#include "groth16/new_file.h"
#include "base/rng.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static cuzk_status fail_with(struct task *t, const char *path, const char *what, int why)
{
    const cuzk_status status = FAIL(t, why == ENOENT || why == ENOTDIR ? CUZK_NOT_FOUND : CUZK_IO,
                                    "%s could not be %s: %s", path, what, strerror(why));
    task_fail_place(t, path, ERROR_NO_OFFSET, NULL, why == ENOSPC ? "free space on that file system" : NULL);
    return status;
}

/* The file that will be replaced: through a symbolic link the one behind it.  What is not a plain file would be lost by renaming
 * over it, and cannot be mapped. */
static cuzk_status find_target(struct new_file *f, struct task *t, const char *path)
{
    char target[PATH_MAX];
    struct stat st;

    const bool exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) {
        const cuzk_status status = FAIL(
            t, CUZK_INVALID_ARGUMENT, "%s is not a plain file, and a key is written through a mapping", path);
        task_fail_place(t, path, ERROR_NO_OFFSET, NULL, "give the name of a file");
        return status;
    }
    if (!exists || realpath(path, target) == NULL) {
        if ((size_t)snprintf(target, sizeof target, "%s", path) >= sizeof target)
            return fail_with(t, path, "made", ENAMETOOLONG);
    }
    if ((size_t)snprintf(f->path, sizeof f->path, "%s", target) >= sizeof f->path)
        return fail_with(t, path, "made", ENAMETOOLONG);
    return CUZK_OK;
}

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

void new_file_sync_folder(const char *path)
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
static int open_without_name(const struct new_file *f, unsigned mode)
{
    char where[PATH_MAX];

    folder_of(where, f->path);
    const int trial = open_unnamed(where, mode);
    if (trial < 0) return -1;
    const bool can = link_unnamed(trial, f->temporary) == 0 && unlink(f->temporary) == 0;
    close(trial);
    return can ? open_unnamed(where, mode) : -1;
}

cuzk_status new_file_open(struct new_file *f, struct task *t, const char *path, uint64_t size, unsigned mode)
{
    uint64_t random;

    memset(f, 0, sizeof *f);
    f->fd = -1;
    TRY(rng_bytes(t, &random, sizeof random));
    TRY(find_target(f, t, path));
    if ((size_t)snprintf(f->temporary, sizeof f->temporary, "%s.%016llx.part", f->path,
                         (unsigned long long)random) >= sizeof f->temporary) {
        f->temporary[0] = '\0';
        return fail_with(t, path, "made", ENAMETOOLONG);
    }
    f->fd = open_without_name(f, mode);
    f->named = f->fd < 0;
    if (f->named) f->fd = open(f->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
    if (f->fd < 0) {
        const int why = errno;
        f->temporary[0] = '\0'; /* not ours to remove */
        return fail_with(t, path, "made", why);
    }
    /* Space is reserved, so that a full disk is an error here and not a signal in the middle of the mapping. */
    cuzk_status status = CUZK_OK;
    int why;
    while ((why = posix_fallocate(f->fd, 0, (off_t)size)) == EINTR && status == CUZK_OK)
        status = task_poll(t);
    if (status != CUZK_OK) {
        new_file_discard(f);
        return status;
    }
    if (why != 0) {
        new_file_discard(f);
        return fail_with(t, path, "given its size", why);
    }
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
    if (data == MAP_FAILED) {
        const int map_errno = errno;
        new_file_discard(f);
        return fail_with(t, path, "mapped", map_errno);
    }
    f->data = data;
    f->size = size;
    return CUZK_OK;
}

void new_file_written(const struct new_file *f, uint64_t offset, uint64_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = (offset + page - 1) / page * page,
                   end = (offset + bytes) / page * page;

    if (begin >= end) return;
    /* Neither is needed for what the file holds: errors show in new_file_commit. */
    (void)sync_file_range(f->fd, (off_t)begin, (off_t)(end - begin), SYNC_FILE_RANGE_WRITE);
    (void)madvise(f->data + begin, end - begin, MADV_DONTNEED);
}

void new_file_discard(struct new_file *f)
{
    if (f->data != NULL) munmap(f->data, f->size);
    if (f->temporary[0] != '\0') {
        close(f->fd);
        if (f->named) unlink(f->temporary);
    }
    memset(f, 0, sizeof *f);
}

cuzk_status new_file_commit(struct new_file *f, struct task *t)
{
    int why = 0;

    if (msync(f->data, f->size, MS_SYNC) != 0 || fsync(f->fd) != 0) why = errno;
    if (why == 0 && !f->named && link_unnamed(f->fd, f->temporary) != 0) why = errno;
    if (why == 0) f->named = true;
    if (why == 0 && rename(f->temporary, f->path) != 0) why = errno;
    if (why != 0) {
        const cuzk_status status = fail_with(t, f->path, "written", why);
        new_file_discard(f);
        return status;
    }
    new_file_sync_folder(f->path);
    munmap(f->data, f->size);
    close(f->fd);
    memset(f, 0, sizeof *f);
    return CUZK_OK;
}
