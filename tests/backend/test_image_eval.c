/* Circuit images on the emulated device.
 *
 * Use: test_image_eval [SEED | slow] */
#include "cuda_host.h"
#include "image_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const bool slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    struct cuda_host_config c = cuda_host_default();
    if (argc > 1 && !slow) c.seed = strtoull(argv[1], NULL, 0);
    c.guard_memory = true;
    printf("seed %llu\n", (unsigned long long)c.seed);
    cuda_host_configure(&c);
    const struct device_options o = { .memory_bytes = slow ? (uint64_t)2 << 30 : (uint64_t)400 << 20 };
    return image_cases_run(backend_by_name("cuda"), &o, slow);
}
