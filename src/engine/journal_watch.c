/* The journal's files by device, inode and length. */
#include "engine/journal_watch.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[WATCH_COUNT] = { [WATCH_FOLDER] = "",
                                                [WATCH_PAYLOADS] = "/payloads",
                                                [WATCH_DATABASE] = "/journal.sqlite",
                                                [WATCH_LOG] = "/journal.sqlite-wal" };

static cuzk_status fail_file(struct task *t, const char *path, const char *what)
{
    FAIL(t, CUZK_IO, "a file of the journal %s while cuzkd uses it: what it wrote there now would be lost",
         what);
    task_fail_place(
        t, path, ERROR_NO_OFFSET, NULL,
        "put back what was moved; else end cuzkd with SIGTERM, which waits for the jobs it has, and start it "
        "again: it makes a new journal.  Jobs that a crash would interrupt before that must be sent again");
    return CUZK_IO;
}

static cuzk_status look(const struct journal_watch *w, struct task *t, int file, struct stat *st)
{
    char path[PATH_MAX + 32], what[64 + 128];

    snprintf(path, sizeof path, "%s%s", w->folder, names[file]);
    if (stat(path, st) == 0) return CUZK_OK;
    const int why = errno;
    if (why == ENOENT || why == ENOTDIR) return fail_file(t, path, "has been deleted or moved away");
    snprintf(what, sizeof what, "cannot be looked at any more (%.128s)", strerror(why));
    const cuzk_status status = fail_file(t, path, what);
    task_fail_errno(t, why);
    return status;
}

cuzk_status journal_watch_begin(struct journal_watch *w, struct task *t, const char *folder)
{
    struct stat st;

    w->folder = folder;
    for (int i = 0; i < WATCH_COUNT; i++) {
        TRY(look(w, t, i, &st));
        w->files[i].device = st.st_dev;
        w->files[i].inode = st.st_ino;
        w->files[i].bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    }
    return CUZK_OK;
}

cuzk_status journal_watch_check(struct journal_watch *w, struct task *t)
{
    struct stat st;

    for (int i = 0; i < WATCH_COUNT; i++) {
        char path[PATH_MAX + 32];
        TRY(look(w, t, i, &st));
        snprintf(path, sizeof path, "%s%s", w->folder, names[i]);
        if (st.st_dev != w->files[i].device || st.st_ino != w->files[i].inode)
            return fail_file(t, path, "has been replaced by another");
        if (!S_ISREG(st.st_mode)) continue;
        if ((uint64_t)st.st_size < w->files[i].bytes) return fail_file(t, path, "has been cut short");
        w->files[i].bytes = (uint64_t)st.st_size;
    }
    return CUZK_OK;
}
