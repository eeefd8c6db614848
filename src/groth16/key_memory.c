/* The memory of keys that have passed their check: one small file a key in the user's cache folder. */
#include "groth16/key_check.h"
#include "hash/sha256.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTE_BYTES 512

/* Where the note of key lies.  False: no home, or the key is not a file that stays. */
static bool note_path(char *out, size_t bytes, const struct groth16_key *key, bool make_folders)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char folder[2048];
    int n;

    if (!key->file.mapped) return false;
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
    n = snprintf(out, bytes, "%s/checked-%llx-%llx", folder, (unsigned long long)key->file.device,
                 (unsigned long long)key->file.inode);
    return n > 0 && (size_t)n < bytes;
}

/* The first line of a note: what must still be so for it to count. */
static void identity_line(char out[NOTE_BYTES], const struct groth16_key *key)
{
    snprintf(out, NOTE_BYTES, "cuzk checked 1 size %zu mtime_ns %llu\n", key->file.bytes.size,
             (unsigned long long)key->file.mtime_ns);
}

void groth16_key_remember(const struct groth16_key *key)
{
    char path[4096], note[NOTE_BYTES];
    uint8_t digest[SHA256_BYTES];
    struct task quiet;

    if (!note_path(path, sizeof path, key, true)) return;
    sha256_of(digest, key->file.bytes.data, key->file.bytes.size);
    identity_line(note, key);
    size_t n = strlen(note);
    n += (size_t)snprintf(note + n, sizeof note - n, "sha256 ");
    for (int i = 0; i < SHA256_BYTES; i++)
        n += (size_t)snprintf(note + n, sizeof note - n, "%02x", digest[i]);
    n += (size_t)snprintf(note + n, sizeof note - n, "\n");
    task_init(&quiet);
    if (mapfile_write(&quiet, path, note, n, 0600) != CUZK_OK)
        return; /* not remembered: the check runs again next time */
}

bool groth16_key_is_known(const struct groth16_key *key)
{
    char path[4096], wanted[NOTE_BYTES], found[NOTE_BYTES];
    struct stat st;

    if (!note_path(path, sizeof path, key, false)) return false;
    FILE *f = fopen(path, "re");
    if (f == NULL) return false;
    /* Somebody else's note, or one that others may write, says nothing. */
    const bool ours = fstat(fileno(f), &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 022) == 0;
    const bool read = ours && fgets(found, sizeof found, f) != NULL;
    fclose(f);
    identity_line(wanted, key);
    return read && strcmp(found, wanted) == 0;
}
