/* Files of one folder by name: openat2 keeps a name inside it, whatever links and dots the name has. */
#include "server/witness_folder.h"
#include "base/bytes.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIELD "witness_file"

void witness_folder_init(struct witness_folder *f)
{
    f->fd = -1;
    f->most_bytes = 0;
}

/* O_NONBLOCK: a pipe of that name must not hold the caller up. */
static int open_inside(int folder, const char *name)
{
    const struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                                  .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
    return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

cuzk_status witness_folder_open(struct witness_folder *f, struct task *t, const char *path,
                                uint64_t most_bytes)
{
    const int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        const int e = errno;
        const cuzk_status status =
            FAIL(t, e == ENOENT ? CUZK_NOT_FOUND : CUZK_IO, "the folder of witnesses cannot be opened");
        task_fail_place(t, path, ERROR_NO_OFFSET, "[jobs] witness_folder", NULL);
        task_fail_errno(t, e);
        return status;
    }
    const int probe = open_inside(fd, ".");
    if (probe < 0 && errno == ENOSYS) {
        close(fd);
        return FAIL(t, CUZK_UNSUPPORTED, "[jobs] witness_folder needs Linux 5.6 or later");
    }
    if (probe >= 0) close(probe);
    f->fd = fd;
    f->most_bytes = most_bytes;
    return CUZK_OK;
}

void witness_folder_close(struct witness_folder *f)
{
    if (f->fd >= 0) close(f->fd);
    witness_folder_init(f);
}

static cuzk_status fail_file(struct task *t, cuzk_status status, const char *name, const char *what,
                             int sys_errno)
{
    FAIL(t, status, FIELD " '%s' %s", name, what);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, FIELD, NULL);
    if (sys_errno != 0) task_fail_errno(t, sys_errno);
    return status;
}

static cuzk_status fail_open(struct task *t, const char *name, int e)
{
    switch (e) {
    case ENOENT:
    case ENOTDIR:
        return fail_file(t, CUZK_NOT_FOUND, name, "is not in the daemon's witness_folder", 0);
    case ENAMETOOLONG:
        return fail_file(t, CUZK_INVALID_ARGUMENT, name, "has a part longer than a file's name may be", 0);
    case EXDEV:
        return fail_file(t, CUZK_INVALID_ARGUMENT, name, "leads out of the daemon's witness_folder", 0);
    case ELOOP:
        return fail_file(t, CUZK_INVALID_ARGUMENT, name, "is or goes through a symbolic link", 0);
    default:
        return fail_file(t, CUZK_IO, name, "cannot be opened", e);
    }
}

static cuzk_status read_all(struct task *t, int fd, const char *name, uint8_t *data, uint64_t bytes)
{
    uint8_t behind;
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t n = read(fd, data + done, (size_t)(bytes - done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_file(t, CUZK_IO, name, "cannot be read", errno);
        if (n == 0) return fail_file(t, CUZK_MALFORMED, name, "was cut while it was read", 0);
        done += (uint64_t)n;
    }
    return read(fd, &behind, 1) == 0 ? CUZK_OK
                                     : fail_file(t, CUZK_MALFORMED, name, "grew while it was read", 0);
}

static cuzk_status take(const struct witness_folder *f, struct task *t, int fd, const char *name,
                        uint8_t **data, uint64_t *bytes)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return fail_file(t, CUZK_IO, name, "cannot be read", errno);
    if (!S_ISREG(st.st_mode)) return fail_file(t, CUZK_INVALID_ARGUMENT, name, "is not a regular file", 0);
    const uint64_t size = (uint64_t)st.st_size;
    if (size == 0) return fail_file(t, CUZK_MALFORMED, name, "is empty", 0);
    if (size > f->most_bytes) {
        FAIL(t, CUZK_TOO_LARGE, FIELD " '%s' has %llu bytes; [limits] message allows %llu", name,
             (unsigned long long)size, (unsigned long long)f->most_bytes);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, FIELD, NULL);
        return CUZK_TOO_LARGE;
    }
    uint8_t *out = malloc((size_t)size);
    if (out == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for a witness of %llu bytes", (unsigned long long)size);
    const cuzk_status status = read_all(t, fd, name, out, size);
    if (status != CUZK_OK) {
        wipe(out, (size_t)size);
        free(out);
        return status;
    }
    *data = out;
    *bytes = size;
    return CUZK_OK;
}

cuzk_status witness_folder_read(const struct witness_folder *f, struct task *t, const char *name,
                                uint8_t **data, uint64_t *bytes)
{
    if (f->fd < 0)
        return fail_file(t, CUZK_INVALID_ARGUMENT, name,
                         "names a file, but this daemon takes none: [jobs] witness_folder is not set", 0);
    const int fd = open_inside(f->fd, name);
    if (fd < 0) return fail_open(t, name, errno);
    const cuzk_status status = take(f, t, fd, name, data, bytes);
    close(fd);
    return status;
}
