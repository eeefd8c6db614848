/* Small notes about files, kept in the user's cache folder. */
#include "base/filenote.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTE_BYTES 512

/* Where the note of a file lies.  False: no home, or not a file that stays. */
static bool note_path(char *out, size_t bytes, const struct mapfile *f, const char *kind, bool make_folders)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char folder[2048];
    int n;

    if (!f->mapped) return false;
    if (cache != NULL && cache[0] == '/')
        n = snprintf(folder, sizeof folder, "%s", cache);
    else if (home != NULL && home[0] == '/')
        n = snprintf(folder, sizeof folder, "%s/.cache", home);
    else
        return false;
    if (n < 0 || (size_t)n >= sizeof folder - 8) return false;
    if (make_folders) mkdir(folder, 0700); /* failures show when the note is written */
    memcpy(folder + n, "/cuzk", 6);
    if (make_folders) mkdir(folder, 0700);
    n = snprintf(out, bytes, "%s/%s-%llx-%llx", folder, kind, (unsigned long long)f->device,
                 (unsigned long long)f->inode);
    return n > 0 && (size_t)n < bytes;
}

/* The first line of a note: what must still be so for it to count. */
static void identity_line(char out[NOTE_BYTES], const struct mapfile *f, const char *kind)
{
    snprintf(out, NOTE_BYTES, "cuzk %s 1 size %zu mtime_ns %llu\n", kind, f->bytes.size,
             (unsigned long long)f->mtime_ns);
}

void filenote_write(const struct mapfile *f, const char *kind, const char *text)
{
    char path[4096], note[NOTE_BYTES];
    struct task quiet;

    if (!note_path(path, sizeof path, f, kind, true)) return;
    identity_line(note, f, kind);
    const size_t n = strlen(note), room = sizeof note - n;
    const int more = snprintf(note + n, room, "%s\n", text);
    if (more < 0 || (size_t)more >= room) return;
    task_init(&quiet);
    if (mapfile_write(&quiet, path, note, n + (size_t)more, 0600) != CUZK_OK)
        return; /* not remembered: checked again next time */
}

bool filenote_holds(const struct mapfile *f, const char *kind, const char *text)
{
    char path[4096], wanted[NOTE_BYTES], found[NOTE_BYTES];
    struct stat st;

    if (!note_path(path, sizeof path, f, kind, false)) return false;
    FILE *note = fopen(path, "re");
    if (note == NULL) return false;
    bool holds = fstat(fileno(note), &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 022) == 0;
    identity_line(wanted, f, kind);
    holds = holds && fgets(found, sizeof found, note) != NULL && strcmp(found, wanted) == 0;
    if (holds && text != NULL) {
        holds = fgets(found, sizeof found, note) != NULL;
        if (holds) found[strcspn(found, "\n")] = '\0';
        holds = holds && strcmp(found, text) == 0;
    }
    fclose(note);
    return holds;
}

void filenote_forget(const struct mapfile *f, const char *kind)
{
    char path[4096];

    if (note_path(path, sizeof path, f, kind, false)) (void)unlink(path); /* none is as good */
}
