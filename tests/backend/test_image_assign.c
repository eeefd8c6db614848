/* Witnesses made on the emulated device: every case of assign_cases.c, for one seed of all orders.
 *
 * Use: test_image_assign [SEED [slow | PATTERN]] */
#include "support/cm.h"

#include "assign_cases.h"
#include "cuda_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct cuda_host_config c = cuda_host_default();
    const struct device_options o = { .memory_bytes = (uint64_t)400 << 20, .pinned_bytes = 16 << 20 };
    const bool slow = argc > 2 && strcmp(argv[2], "slow") == 0;
    if (argc > 1) c.seed = strtoull(argv[1], NULL, 0);
    if (argc > 2 && !slow) cmocka_set_test_filter(argv[2]);
    c.guard_memory = c.seed % 2 == 1;
    printf("seed %llu\n", (unsigned long long)c.seed);
    cuda_host_configure(&c);
    assign_cases_fail_call = cuda_host_fail_call;
    return assign_cases_run(backend_by_name("cuda"), &o, slow);
}
