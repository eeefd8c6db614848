/* Payload files. */
#include "engine/payload_file.h"
#include "base/bytes.h"
#include "base/log.h"
#include "base/mapfile.h"
#include "hash/sha256.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static cuzk_status path_of(struct task *t, char out[PATH_MAX], const char *folder, const struct job *job)
{
    char hex[2 * JOB_DIGEST_BYTES + 1];

    for (int i = 0; i < JOB_DIGEST_BYTES; i++) snprintf(hex + 2 * i, 3, "%02x", job->payload_digest[i]);
    const int length = snprintf(out, PATH_MAX, "%s/payloads/%s.%s", folder, hex, job->id);
    if (length > 0 && length < PATH_MAX) return CUZK_OK;
    return FAIL(t, CUZK_INVALID_ARGUMENT, "the name of the data folder is too long");
}

cuzk_status payload_file_write(struct task *t, const char *folder, const struct job *job)
{
    char path[PATH_MAX];

    TRY(path_of(t, path, folder, job));
    const cuzk_status status = mapfile_write(t, path, job->payload, job->payload_bytes, 0600);
    if (status == CUZK_OK || status == CUZK_NO_MEMORY) return status;
    /* Whatever it was, it is the daemon's disk: the client may try again, and the folder's name is for the log. */
    log_line(t, LOG_ERROR, "%s: %s", path, t->error.text);
    memset(&t->error, 0, sizeof t->error);
    return FAIL(t, CUZK_IO, "the daemon's disk does not take the job's input");
}

cuzk_status payload_file_check(struct task *t, const char *folder, const struct job *job)
{
    char path[PATH_MAX];
    struct stat st;

    TRY(path_of(t, path, folder, job));
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == job->payload_bytes)
        return CUZK_OK;
    FAIL(t, CUZK_IO, "the input of job %s is no longer on the disk as it was written", job->id);
    task_fail_place(t, path, ERROR_NO_OFFSET, NULL,
                    "find out what deletes or changes files of the data folder");
    return CUZK_IO;
}

cuzk_status payload_file_read(struct task *t, uint8_t **data, const char *folder, const struct job *job)
{
    struct mapfile file = { 0 };
    uint8_t digest[SHA256_BYTES];
    char path[PATH_MAX];
    cuzk_status status;

    TRY(path_of(t, path, folder, job));
    TRY(mapfile_open(&file, t, path));
    sha256_of(digest, file.bytes.data, file.bytes.size);
    if (file.bytes.size != job->payload_bytes || memcmp(digest, job->payload_digest, sizeof digest) != 0) {
        status = FAIL(t, CUZK_MALFORMED, "the payload of job %s has changed on the disk", job->id);
        task_fail_place(t, path, ERROR_NO_OFFSET, NULL, "send the job again; look at the disk");
        goto out;
    }
    *data = malloc(file.bytes.size + 1);
    if (*data == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory for a payload of %zu bytes", file.bytes.size);
        goto out;
    }
    if (file.bytes.size > 0) memcpy(*data, file.bytes.data, file.bytes.size);
    status = CUZK_OK;
out:
    mapfile_close(&file);
    return status;
}

void payload_file_remove(const char *folder, const struct job *job)
{
    char path[PATH_MAX];
    struct task t;

    task_init(&t);
    if (path_of(&t, path, folder, job) == CUZK_OK) unlink(path);
}

static cuzk_status cannot_move(struct task *t, const char *path, int why)
{
    FAIL(t, CUZK_IO, "an input of a job that the journal does not know cannot be set aside: %s", strerror(why));
    task_fail_place(t, path, ERROR_NO_OFFSET, NULL, "move it out of the data folder, or name another folder with [jobs] data");
    task_fail_errno(t, why);
    return CUZK_IO;
}

cuzk_status payload_file_set_aside(struct task *t, const char *folder, unsigned *moved)
{
    char from[PATH_MAX + 512], to[PATH_MAX + 512], path[PATH_MAX];
    cuzk_status status = CUZK_OK;
    struct dirent *entry;

    *moved = 0;
    snprintf(path, sizeof path, "%s/payloads", folder);
    DIR *d = opendir(path);
    if (d == NULL) return CUZK_OK;
    while (status == CUZK_OK && (entry = readdir(d)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        snprintf(from, sizeof from, "%s/payloads/%s", folder, entry->d_name);
        snprintf(to, sizeof to, "%s/payloads.unknown", folder);
        if (mkdir(to, 0700) != 0 && errno != EEXIST) status = cannot_move(t, to, errno);
        snprintf(to, sizeof to, "%s/payloads.unknown/%s", folder, entry->d_name);
        if (status == CUZK_OK && rename(from, to) != 0) status = cannot_move(t, from, errno);
        *moved += status == CUZK_OK;
    }
    closedir(d);
    return status;
}

void payload_file_sweep(const char *folder, bool (*keep)(void *context, const char *job_id), void *context)
{
    char path[PATH_MAX + 256];
    struct dirent *entry;

    snprintf(path, sizeof path, "%s/payloads", folder);
    DIR *d = opendir(path);
    if (d == NULL) return;
    while ((entry = readdir(d)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');
        if (entry->d_name[0] == '.' || (dot != NULL && keep(context, dot + 1))) continue;
        if (unlinkat(dirfd(d), entry->d_name, 0) != 0) continue; /* tried again at the next start */
    }
    closedir(d);
}
