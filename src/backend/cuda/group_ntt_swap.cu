/* Points into bit-reversed order, whatever the curve. */
#include "backend/cuda/group_ntt_kernels.h"
#include "backend/cuda/launch.h"

#define THREADS 256

/* One thread 16 bytes of a point: words of a point lie side by side. */
static __global__ void __launch_bounds__(THREADS) k_swap(uint4 *points, unsigned log2, unsigned words)
{
    const uint64_t id = (uint64_t)blockIdx.x * THREADS + threadIdx.x, i = id / words;
    if (i >> log2) return;
    const uint64_t j = log2 == 0 ? 0 : __brevll(i) >> (64 - log2), word = id % words;
    if (i >= j) return;
    const uint4 a = points[i * words + word], b = points[j * words + word];
    points[i * words + word] = b;
    points[j * words + word] = a;
}

extern "C" int group_ntt_swap(void *points, unsigned log2, unsigned point_bytes, void *stream)
{
    const unsigned words = point_bytes / 16;
    const uint64_t threads = ((uint64_t)1 << log2) * words;
    LAUNCH(k_swap, (unsigned)((threads + THREADS - 1) / THREADS), THREADS, 0, stream)((uint4 *)points, log2, words);
    return cudaGetLastError();
}
