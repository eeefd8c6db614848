/* The CPU backend: every case, portable and with the best instructions, on one and on several threads. */
#include "backend_cases.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const bool slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    static const struct { unsigned threads; bool portable; } runs[] = { { 1, true }, { 2, false }, { 3, true }, { 16, false } };
    int failed = 0;
    for (size_t i = 0; i < (slow ? 1 : ARRAY_COUNT(runs)); i++) {
        const struct device_options o = { .threads = slow ? 0 : runs[i].threads, .portable_only = !slow && runs[i].portable };
        failed += backend_cases_run("cpu", MEM_HEAP, &o, slow);
    }
    return failed;
}
