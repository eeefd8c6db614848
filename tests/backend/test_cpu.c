/* The CPU backend: every case, with the best instructions or in portable C, on a number of threads.
 *
 * Use: test_cpu [THREADS [portable | best [slow]]]; by default 2 threads, best. */
#include "backend_cases.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const struct device_options o = { .threads = argc > 1 ? (unsigned)atoi(argv[1]) : 2,
                                      .portable_only = argc > 2 && strcmp(argv[2], "portable") == 0 };
    return backend_cases_run("cpu", MEM_HEAP, &o, argc > 3 && strcmp(argv[3], "slow") == 0);
}
