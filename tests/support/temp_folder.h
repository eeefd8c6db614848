/* A folder for a test's files below $TMPDIR, removed with all that is in it. */
#ifndef CUZK_TESTS_TEMP_FOLDER_H
#define CUZK_TESTS_TEMP_FOLDER_H

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct temp_folder {
    char path[PATH_MAX];
};

static inline void temp_folder_create(struct temp_folder *f)
{
    const char *base = getenv("TMPDIR");
    snprintf(f->path, sizeof f->path, "%s/cuzk-test-XXXXXX", base != NULL && *base != '\0' ? base : "/tmp");
    if (mkdtemp(f->path) == NULL) {
        perror(f->path);
        abort();
    }
}

static inline int temp_folder_remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void temp_folder_remove(struct temp_folder *f)
{
    nftw(f->path, temp_folder_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The path of name inside the folder. */
static inline void temp_folder_path(char out[PATH_MAX], const struct temp_folder *f, const char *name)
{
    int length = snprintf(out, PATH_MAX, "%s/%s", f->path, name);
    if (length < 0 || length >= PATH_MAX) abort();
}

/* Writes a small text file, making the folders above it. */
static inline void temp_folder_write(const struct temp_folder *f, const char *name, const char *text)
{
    char path[PATH_MAX];
    temp_folder_path(path, f, name);
    for (char *p = path + 1; *p != '\0'; p++) {
        if (*p != '/') continue;
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        abort();
    }
}

#endif
