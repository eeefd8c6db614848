/* Runs a fuzz target over files and folders, whole and cut short, each input in a block of exactly its size: the corpus as a
 * test, any compiler. */
#include "fuzz.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

/* Inputs cut from each file: of no bytes, and evenly spaced up to the whole. */
enum { CUTS = 16 };

static void replay_cut(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (exact == NULL) {
        perror("replay");
        exit(1);
    }
    if (size > 0) memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static size_t replay_file(const char *path, size_t size)
{
    uint8_t *data = malloc(size > 0 ? size : 1);
    FILE *file = fopen(path, "rb");
    if (data == NULL || file == NULL || fread(data, 1, size, file) != size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    for (size_t k = 0; k < CUTS; k++) replay_cut(data, size / CUTS * k);
    replay_cut(data, size);
    free(data);
    return CUTS + 1;
}

static size_t replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        perror(path);
        exit(1);
    }
    if (!S_ISDIR(st.st_mode)) return replay_file(path, (size_t)st.st_size);
    DIR *folder = opendir(path);
    if (folder == NULL) {
        perror(path);
        exit(1);
    }
    size_t count = 0;
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        char inner[PATH_MAX];
        if (e->d_name[0] == '.') continue;
        if ((size_t)snprintf(inner, sizeof inner, "%s/%s", path, e->d_name) >= sizeof inner) exit(1);
        count += replay(inner);
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++) count += replay(argv[i]);
    printf("%zu inputs replayed\n", count);
    return count > 0 ? 0 : 1;
}
