/* A file of known size that is written in place, through a mapping, and appears under its name whole or not at all. */
#include "groth16/new_file.h"
#include "base/mapfile.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static cuzk_status fail_with(struct task *t, const char *path, const char *what, int why)
{
    const cuzk_status status = FAIL(t, why == ENOENT || why == ENOTDIR ? CUZK_NOT_FOUND : CUZK_IO,
                                    "%s could not be %s: %s", path, what, strerror(why));
    task_fail_place(t, path, ERROR_NO_OFFSET, NULL, mapfile_advice(why));
    return status;
}

/* What is not a plain file would be lost by renaming over it, and cannot be mapped. */
static cuzk_status check_plain(struct task *t, const char *path)
{
    const bool is_stdout = strcmp(path, "-") == 0;
    struct stat st;

    if (!is_stdout && (stat(path, &st) != 0 || S_ISREG(st.st_mode))) return CUZK_OK;
    const cuzk_status status =
        FAIL(t, CUZK_INVALID_ARGUMENT, "%s is not a plain file, and a key is written through a mapping",
             is_stdout ? "standard output" : path);
    task_fail_place(t, path, ERROR_NO_OFFSET, NULL, "give the name of a file");
    return status;
}

cuzk_status new_file_open(struct new_file *f, struct task *t, const char *path, uint64_t size, unsigned mode)
{
    memset(f, 0, sizeof *f);
    TRY(check_plain(t, path));
    int why = tempfile_open(&f->file, t, path, mode);
    if (why != 0) return fail_with(t, path, "made", why);
    /* Space is reserved, so that a full disk is an error here and not a signal in the middle of the mapping. */
    cuzk_status status = CUZK_OK;
    while ((why = posix_fallocate(f->file.fd, 0, (off_t)size)) == EINTR && status == CUZK_OK)
        status = task_poll(t);
    if (status == CUZK_OK && why != 0) status = fail_with(t, path, "given its size", why);
    if (status != CUZK_OK) {
        new_file_discard(f);
        return status;
    }
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, f->file.fd, 0);
    if (data == MAP_FAILED) {
        status = fail_with(t, path, "mapped", errno);
        new_file_discard(f);
        return status;
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
    (void)sync_file_range(f->file.fd, (off_t)begin, (off_t)(end - begin), SYNC_FILE_RANGE_WRITE);
    (void)madvise(f->data + begin, end - begin, MADV_DONTNEED);
}

void new_file_discard(struct new_file *f)
{
    if (f->data != NULL) munmap(f->data, f->size);
    f->data = NULL;
    tempfile_discard(&f->file);
}

cuzk_status new_file_commit(struct task *t, struct new_file *const *files, size_t count)
{
    struct tempfile *parts[NEW_FILES_MOST] = { NULL };
    cuzk_status status = CUZK_OK;
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        parts[i] = &files[i]->file;
        if (status == CUZK_OK && msync(files[i]->data, files[i]->size, MS_SYNC) != 0)
            status = fail_with(t, files[i]->file.path, "written", errno);
    }
    const int why = status == CUZK_OK ? tempfile_commit(parts, count, &at) : 0;
    if (why != 0) status = fail_with(t, files[at]->file.path, "written", why);
    for (size_t i = 0; i < count; i++) new_file_discard(files[i]);
    return status;
}
