/* Finds the optional folder of third-party data: $CUZK_SHARED, else shared/ beside the source folder.
 *
 * A test that needs a file from it says what it skips and passes over; include after cmocka.h. */
#ifndef CUZK_TESTS_SHARED_DATA_H
#define CUZK_TESTS_SHARED_DATA_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Writes the path of name (e.g. "data/vectors/x.json") inside the folder; 1 if it can be read, else 0. */
static inline int shared_data_find(char out[PATH_MAX], const char *name)
{
    const char *folder = getenv("CUZK_SHARED");
    int length;
    if (folder != NULL && *folder != '\0')
        length = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    else
        length = snprintf(out, PATH_MAX, "%s/../shared/%s", CUZK_SOURCE_DIR, name);
    return length > 0 && length < PATH_MAX && access(out, R_OK) == 0;
}

/* Inside a cmocka test: finds name or skips the test. */
#define shared_data_need(out, name)                                         \
    do {                                                                    \
        if (!shared_data_find((out), (name))) {                             \
            printf("skipped: %s is not there (set CUZK_SHARED)\n", (name)); \
            fflush(stdout);                                                 \
            skip();                                                         \
        }                                                                   \
    } while (0)

#endif
