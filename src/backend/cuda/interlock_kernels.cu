/* A kernel that is bound by the multiplier for as long as it is told to, over data that it has to read: what stands for a
 * partition's transforms and sums in the interlock bench. */
#include "backend/cuda/interlock_kernels.h"
#include "backend/cuda/launch.h"

enum { THREADS = 256 };

static __global__ void k_mix(const uint4 *data, uint64_t words, uint32_t rounds, unsigned long long *sum)
{
    uint64_t total = 0;
    for (uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x; i < words; i += gridDim.x * (uint64_t)THREADS) {
        const uint4 v = data[i];
        uint64_t x = (uint64_t)v.y << 32 | v.x, y = (uint64_t)v.w << 32 | v.z;
        for (uint32_t k = 0; k < rounds; k++) {
            x = (uint64_t)(uint32_t)x * (uint32_t)(y >> 32) + (y ^ k);
            y = (uint64_t)(uint32_t)y * (uint32_t)(x >> 32) + x;
        }
        total += x + y;
    }
    atomicAdd(sum, (unsigned long long)total);
}

extern "C" int interlock_launch(const void *data, uint64_t words, uint32_t rounds, unsigned blocks, uint64_t *sum, void *stream)
{
    LAUNCH(k_mix, blocks, THREADS, 0, stream)((const uint4 *)data, words, rounds, (unsigned long long *)sum);
    return cudaGetLastError();
}
