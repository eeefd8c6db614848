/* "24576,16384,stream": sizes of a device's memory in MiB, for programs that try several.  0: all that there is; stream: so little that a
 * key's points do not stay there, but are sent for each proof. */
#ifndef CUZK_TESTS_ARENA_LIST_H
#define CUZK_TESTS_ARENA_LIST_H

#include "base/status.h"
#include "groth16/prove.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENAS_MOST = 8 };
#define ARENA_STREAM UINT64_MAX

struct arena_list {
    uint64_t bytes[ARENAS_MOST]; /* 0: all that there is */
    unsigned count;
};

static inline bool arena_list_read(struct arena_list *out, const char *text)
{
    static const char stream[] = "stream";

    for (out->count = 0; out->count < ARENAS_MOST; text++) {
        const bool streams = strncmp(text, stream, strlen(stream)) == 0;
        char *end = (char *)(uintptr_t)text + strlen(stream);
        out->bytes[out->count++] = streams ? ARENA_STREAM : strtoull(text, &end, 10) << 20;
        if (end == text || (*end != '\0' && *end != ',')) return false;
        if (*end == '\0') return true;
        text = end;
    }
    return false;
}

/** The options before the operands of such a program: --backend NAME, --device-memory LIST.
 * Returns  the index of the first operand, or 0: something else stands there */
static inline int trial_options_read(const char **backend, struct arena_list *arenas, int argc, char **argv)
{
    int first = 1;

    for (; argc > first + 1 && strncmp(argv[first], "--", 2) == 0; first += 2) {
        if (strcmp(argv[first], "--backend") == 0)
            *backend = argv[first + 1];
        else if (strcmp(argv[first], "--device-memory") != 0 || !arena_list_read(arenas, argv[first + 1]))
            return 0;
    }
    return first;
}

/** Says what went wrong.  Returns  its exit code then */
static inline int trial_explain(const char *program, const struct task *t)
{
    fprintf(stderr, "%s: %s: %s (%s)\n", program, status_name(t->error.status), t->error.text, t->error.path);
    return 2;
}

/** ", arena of 256 MiB", or nothing. */
static inline void arena_list_print(uint64_t bytes)
{
    if (bytes != 0) printf(", arena of %llu MiB", (unsigned long long)(bytes >> 20));
}

/** What ARENA_STREAM is for a key: the most of a few sizes at which its points do not stay on the device.
 * Out     *out  ARENA_STREAM: at every size at which a proof fits they do */
static inline cuzk_status arena_that_streams(uint64_t *out, struct task *t, const struct groth16_key *key,
                                             const struct backend *backend)
{
    struct groth16_plan plan;
    struct device *device;

    for (*out = 2 * key->file.bytes.size + ((uint64_t)256 << 20);; *out -= *out / 16) {
        const struct device_options options = { .memory_bytes = *out };
        TRY(backend->open(&device, t, &options));
        const cuzk_status status = groth16_prove_plan(&plan, t, key, backend, device);
        backend->close(device);
        if (status == CUZK_TOO_LARGE) {
            memset(&t->error, 0, sizeof t->error);
            *out = ARENA_STREAM;
            return CUZK_OK;
        }
        if (status != CUZK_OK || !plan.residence.points) return status;
    }
}

#endif
