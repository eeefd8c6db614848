/* The CUDA backend: every case on the GPU, with the whole memory and with an arena of 12 GiB.
 *
 *     test_cuda [slow] [PATTERN]    PATTERN: cases whose name matches, in the small arena only (for compute-sanitizer) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backend_cases.h"
#if !defined(CUZK_OPERATIONS_ONLY) /* what stands above the backends, and the libraries that it takes, may be left out */
#include "assign_cases.h"
#include "image_cases.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const bool slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    const char *pattern = argc > 1 + slow ? argv[1 + slow] : NULL;
    const struct backend *b = backend_by_name("cuda");
    struct task t;
    size_t count = 0;
    task_init(&t);
    if (!b || b->probe(&t, NULL, 0, &count) != CUZK_OK || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    int failed = 0;
    static const uint64_t arenas[] = { 0, (uint64_t)12 << 30 };
    if (pattern) cmocka_set_test_filter(pattern);
    for (size_t i = pattern ? 1 : 0; i < ARRAY_COUNT(arenas); i++) {
        const struct device_options o = { .memory_bytes = arenas[i], .pinned_bytes = (size_t)16 << 20 };
        failed += backend_cases_run("cuda", MEM_DEVICE, &o, slow);
#if !defined(CUZK_OPERATIONS_ONLY)
        failed += image_cases_run(b, &o, slow);
        failed += assign_cases_run(b, &o, slow);
#endif
    }
    return failed;
}
