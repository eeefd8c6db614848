/* The CUDA backend on the emulated device: every case of backend_cases.c, for one seed of all orders and one amount of shared memory.
 *
 * Use: test_cuda_host [SEED [SHARED_KIB [small | slow | PATTERN]]]; small: cases that take seconds only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backend_cases.h"
#include "cuda_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct cuda_host_config c = cuda_host_default();
    static const char *const few[] = { "ntt_definition", "eval_rows*", "msm_gather", "msm_scalar_too_large", "classify_values", "group_ntt_definition" };
    const bool slow = argc > 3 && strcmp(argv[3], "slow") == 0, small = argc > 3 && strcmp(argv[3], "small") == 0;
    if (argc > 1) c.seed = strtoull(argv[1], NULL, 0);
    if (argc > 2) c.shared_bytes = (size_t)atoi(argv[2]) << 10;
    if (argc > 3 && !slow && !small) cmocka_set_test_filter(argv[3]);
    c.guard_memory = c.seed % 2 == 1;
    printf("seed %llu, %zu bytes of shared memory\n", (unsigned long long)c.seed, c.shared_bytes);
    cuda_host_configure(&c);
    const struct device_options o = { .memory_bytes = slow ? (uint64_t)2 << 30 : (uint64_t)400 << 20 };
    int failed = 0;
    for (size_t i = 0; i < (small ? ARRAY_COUNT(few) : 1); i++) {
        if (small) cmocka_set_test_filter(few[i]);
        failed += backend_cases_run("cuda", MEM_DEVICE, &o, slow);
    }
    const struct cuda_host_usage u = cuda_host_used();
    if (u.device_bytes || u.registered || u.streams || u.events) {
        printf("left behind: %zu bytes of device memory, %zu registered ranges, %zu streams, %zu events\n", u.device_bytes, u.registered, u.streams, u.events);
        return failed + 1;
    }
    printf("%lu kernels, %lu calls\n", cuda_host_kernel_count(), cuda_host_call_count());
    return failed;
}
