/* Files in: mapped or read.  Files out: whole or not at all. */
#include "base/mapfile.h"
#include "base/bytes.h"
#include "base/hostmem.h"
#include "base/mapguard.h"
#include "base/tempfile.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_START_BYTES  ((size_t)64 << 10)
#define WRITE_MOST_BYTES  ((size_t)1 << 30)  /* the kernel takes at most 2^31 - 4096 bytes a call */
#define DEVICE_MOST_BYTES ((size_t)64 << 20) /* nobody types more, and /dev/zero never ends */

const char *mapfile_advice(int why)
{
    switch (why) {
    case ENOENT:
    case ENOTDIR:
        return "look at the spelling of the path, and whether its folder is there";
    case EACCES:
    case EPERM:
        return "look at the permissions of the file and its folder";
    case EISDIR:
        return "name a file, not a folder";
    case ELOOP:
        return "name the file itself: its symbolic links lead in a circle";
    case ENOSPC:
    case EDQUOT:
        return "free space on that file system, or write to another";
    case EROFS:
        return "write to another file system: this one is read-only";
    case EFBIG:
        return "raise the limit on the size of files (ulimit -f)";
    default:
        return NULL;
    }
}

static cuzk_status fail_file(struct task *t, const char *verb, const char *path, int why)
{
    cuzk_status status = why == ENOENT || why == ENOTDIR ? CUZK_NOT_FOUND
                         : why == ENOMEM                 ? CUZK_NO_MEMORY
                                                         : CUZK_IO;
    FAIL(t, status, "%s could not be %s: %s", path, verb, strerror(why));
    task_fail_errno(t, why);
    task_fail_place(t, path, ERROR_NO_OFFSET, NULL, mapfile_advice(why));
    return status;
}

static cuzk_status fail_endless(struct task *t, const char *path, size_t most)
{
    FAIL(t, CUZK_TOO_LARGE, "%s goes on after %zu bytes, more than is read from what is not a plain file",
         path, most);
    task_fail_place(t, path, most, NULL, "save it in a file: files are mapped, not read");
    return CUZK_TOO_LARGE;
}

/* Reads to the end of fd, but not more than most bytes, into a private mapping, which grows by moving pages, so that no copy of
 * a secret stays behind.  Returns 0 or an errno, EFBIG: it goes on. */
static int read_all(struct mapfile *out, int fd, size_t most)
{
    size_t capacity = READ_START_BYTES, size = 0;
    uint8_t *p = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return errno;
    madvise(p, capacity, MADV_DONTDUMP); /* the advice stays with the mapping when it grows */
    for (;;) {
        if (size == capacity) {
            void *grown =
                capacity > SIZE_MAX / 2 ? MAP_FAILED : mremap(p, capacity, 2 * capacity, MREMAP_MAYMOVE);
            if (grown == MAP_FAILED) break;
            p = grown;
            capacity *= 2;
        }
        size_t room = capacity - size;
        ssize_t got = read(fd, p + size, room < WRITE_MOST_BYTES ? room : WRITE_MOST_BYTES);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        if (got == 0) {
            out->bytes = span_of(p, size);
            out->capacity = capacity;
            return 0;
        }
        size += (size_t)got;
        if (size > most) break;
    }
    int why = size > most ? EFBIG : size == capacity ? ENOMEM : errno;
    wipe(p, size);
    munmap(p, capacity);
    return why;
}

/* How much may be read into memory of what cannot be mapped. */
static size_t read_limit(const struct stat *st)
{
    uint64_t usable = hostmem_limit_bytes() / 2; /* the rest is for the work */
    if (S_ISCHR(st->st_mode)) return DEVICE_MOST_BYTES;
    return usable == 0 || usable > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)usable;
}

static uint64_t mtime_ns(const struct stat *st)
{
    return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

/* Returns 0 or an errno; EFBIG: there is more than *most bytes. */
static int take_contents(struct mapfile *out, int fd, const char *name, size_t *most)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return errno;
    *most = read_limit(&st);
    if (S_ISDIR(st.st_mode)) return EISDIR;
    out->mtime_ns = mtime_ns(&st);
    out->inode = st.st_ino;
    out->device = st.st_dev;
    /* Files of /proc say that they are regular and of size 0; standard input may have been read from already. */
    bool mappable =
        S_ISREG(st.st_mode) && st.st_size > 0 && (fd != STDIN_FILENO || lseek(fd, 0, SEEK_CUR) == 0);
    if (!mappable) return read_all(out, fd, *most);
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) return errno == ENODEV ? read_all(out, fd, *most) : errno;
    out->bytes = span_of(p, (size_t)st.st_size);
    out->capacity = (size_t)st.st_size;
    out->mapped = true;
    out->guard = mapguard_add(p, (size_t)st.st_size, name);
    return 0;
}

cuzk_status mapfile_open(struct mapfile *out, struct task *t, const char *path)
{
    memset(out, 0, sizeof *out);
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_file(t, "opened", name, errno);
    size_t most = 0;
    int why = take_contents(out, fd, name, &most);
    if (!is_stdin) close(fd);
    if (why != 0) {
        memset(out, 0, sizeof *out);
        if (why == EFBIG) return fail_endless(t, name, most);
        return fail_file(t, "read", name, why);
    }
    snprintf(out->path, sizeof out->path, "%s", name);
    return CUZK_OK;
}

void mapfile_close(struct mapfile *f)
{
    if (f->capacity > 0) {
        void *p = (void *)(uintptr_t)f->bytes.data;
        mapguard_remove(f->guard);
        if (!f->mapped) wipe(p, f->bytes.size);
        munmap(p, f->capacity);
    }
    memset(f, 0, sizeof *f);
}

cuzk_status mapfile_check(struct task *t, const struct mapfile *f)
{
    struct stat st;
    if (!f->mapped) return CUZK_OK;
    const bool same_file = stat(f->path, &st) == 0 && st.st_ino == f->inode && st.st_dev == f->device;
    const bool cut = mapguard_hit(f->guard) || (same_file && (uint64_t)st.st_size < f->bytes.size);
    if (!cut && (!same_file || (mtime_ns(&st) == f->mtime_ns && (uint64_t)st.st_size == f->bytes.size)))
        return CUZK_OK;
    const cuzk_status status =
        FAIL(t, CUZK_IO, "%s was %s while it was in use", f->path, cut ? "cut short" : "written to");
    task_fail_place(
        t, f->path, ERROR_NO_OFFSET, NULL,
        "put the right file there; to replace one in use, write the new one beside it and rename it");
    return status;
}

/* Returns 0 or an errno. */
static int write_all(int fd, const uint8_t *p, size_t bytes)
{
    while (bytes > 0) {
        ssize_t done = write(fd, p, bytes < WRITE_MOST_BYTES ? bytes : WRITE_MOST_BYTES);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        p += done;
        bytes -= (size_t)done;
    }
    return 0;
}

/* The open descriptor that path is another name of, or -1.  Renaming over such a name would replace the link, not the file. */
static int named_descriptor(const char *path)
{
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < ARRAY_COUNT(folders); i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0) continue;
        char *end;
        long fd = strtol(path + length, &end, 10);
        if (end != path + length && *end == '\0' && fd >= 0 && fd <= INT_MAX) return (int)fd;
    }
    return -1;
}

/* An output that is renamed into its place, or else is written directly. */
struct writing {
    const struct mapfile_output *output;
    bool direct;
    int fd; /* of what is written directly, open until the others have their names; -1: none, or one of the program's own */
    struct tempfile file;
};

static cuzk_status prepare(struct writing *w, struct task *t)
{
    const struct mapfile_output *const o = w->output;
    struct stat st;

    w->direct = named_descriptor(o->path) >= 0 || (stat(o->path, &st) == 0 && !S_ISREG(st.st_mode));
    if (w->direct) return CUZK_OK;
    int why = tempfile_open(&w->file, t, o->path, o->mode);
    if (why == 0) why = write_all(w->file.fd, o->data, o->bytes);
    return why == 0 ? CUZK_OK : fail_file(t, "written", o->path, why);
}

static cuzk_status write_directly(struct writing *w, struct task *t)
{
    const struct mapfile_output *const o = w->output;
    const int named = named_descriptor(o->path);
    int why;

    if (named >= 0) {
        why = write_all(named, o->data, o->bytes);
        return why == 0 ? CUZK_OK
                        : fail_file(t, "written", named == STDOUT_FILENO ? "standard output" : o->path, why);
    }
    w->fd = open(o->path, O_WRONLY | O_CLOEXEC); /* a pipe, a device; a folder is refused here */
    if (w->fd < 0) return fail_file(t, "opened for writing", o->path, errno);
    why = write_all(w->fd, o->data, o->bytes);
    return why == 0 ? CUZK_OK : fail_file(t, "written", o->path, why);
}

/* Whoever reads a pipe learns of its end when all outputs are there. */
static cuzk_status close_direct(struct writing *w, struct task *t, cuzk_status status)
{
    const int fd = w->fd;

    w->fd = -1;
    if (fd < 0 || close(fd) == 0 || status != CUZK_OK) return status;
    return fail_file(t, "written", w->output->path, errno);
}

static cuzk_status commit(struct task *t, struct writing *w, size_t count)
{
    struct tempfile *files[MAPFILE_OUTPUTS_MOST];
    const char *paths[MAPFILE_OUTPUTS_MOST];
    size_t n = 0, at;

    for (size_t i = 0; i < count; i++) {
        if (w[i].direct) continue;
        paths[n] = w[i].output->path;
        files[n++] = &w[i].file;
    }
    const int why = tempfile_commit(files, n, &at);
    return why == 0 ? CUZK_OK : fail_file(t, "written", paths[at], why);
}

cuzk_status mapfile_write_together(struct task *t, const struct mapfile_output *outputs, size_t count)
{
    struct writing w[MAPFILE_OUTPUTS_MOST];
    cuzk_status status = CUZK_OK;

    for (size_t i = 0; i < count; i++) {
        w[i].output = &outputs[i];
        w[i].fd = -1;
        w[i].file.open = false;
    }
    for (size_t i = 0; i < count; i++) TRY_GOTO(out, prepare(&w[i], t));
    for (size_t i = 0; i < count; i++)
        if (w[i].direct) TRY_GOTO(out, write_directly(&w[i], t));
    status = commit(t, w, count);
out:
    for (size_t i = 0; i < count; i++) {
        tempfile_discard(&w[i].file);
        status = close_direct(&w[i], t, status);
    }
    return status;
}

cuzk_status mapfile_write(struct task *t, const char *path, const void *data, size_t bytes, unsigned mode)
{
    const struct mapfile_output o = { path, data, bytes, mode };

    return mapfile_write_together(t, &o, 1);
}

cuzk_status mapfile_check_writable(struct task *t, const char *path)
{
    struct stat st;
    char folder[PATH_MAX];

    if (named_descriptor(path) >= 0) return CUZK_OK;
    if (path[0] == '\0') return fail_file(t, "written", path, ENOENT);
    const bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) return fail_file(t, "written", path, EISDIR);
    if (exists && !S_ISREG(st.st_mode))
        return access(path, W_OK) == 0 ? CUZK_OK : fail_file(t, "written", path, errno);
    if (!exists || realpath(path, folder) == NULL) {
        if ((size_t)snprintf(folder, sizeof folder, "%s", path) >= sizeof folder)
            return fail_file(t, "written", path, ENAMETOOLONG);
    }
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        snprintf(folder, sizeof folder, ".");
    else
        slash[slash == folder] = '\0'; /* the root keeps its slash */
    if (stat(folder, &st) != 0) return fail_file(t, "written", path, errno);
    if (!S_ISDIR(st.st_mode)) return fail_file(t, "written", path, ENOTDIR);
    return access(folder, W_OK | X_OK) == 0 ? CUZK_OK : fail_file(t, "written", path, errno);
}
