/* Enough of CUDA's dialect to run kernels whose threads meet only at __syncthreads on the host, one thread each: the device's own
 * point code under the host's debugger and sanitizers. */
#ifndef CUZK_TESTS_CUDA_ON_HOST_H
#define CUZK_TESTS_CUDA_ON_HOST_H

#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <algorithm>
#include <thread>
#include <vector>

#define CUZK_CUDA_EMULATED 1
#define __device__
#define __global__ __attribute__((unused))
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __shared__ static

struct uint4 {
    uint32_t x, y, z, w;
};
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return { x, y, z, w }; }
struct host_dim {
    unsigned x, y;
};
static thread_local host_dim threadIdx, blockIdx;
static host_dim gridDim, blockDim;
static pthread_barrier_t host_barrier;
static inline void __syncthreads(void) { pthread_barrier_wait(&host_barrier); }
static inline bool __any_sync(unsigned, bool condition) { return condition; } /* the rare paths are complete for each lane */
template <class T> static inline T __ldg(const T *p) { return *p; }
using std::min;

/* kernel(args...) on a grid, block after block, the block's threads at once. */
template <class F> static void host_launch(unsigned grid_x, unsigned grid_y, unsigned threads, F kernel)
{
    gridDim = { grid_x, grid_y };
    blockDim = { threads, 1 };
    for (unsigned y = 0; y < grid_y; y++)
        for (unsigned x = 0; x < grid_x; x++) {
            std::vector<std::thread> all;
            pthread_barrier_init(&host_barrier, nullptr, threads);
            for (unsigned t = 0; t < threads; t++)
                all.emplace_back([=] {
                    threadIdx = { t, 0 };
                    blockIdx = { x, y };
                    kernel();
                });
            for (auto &one : all) one.join();
            pthread_barrier_destroy(&host_barrier);
        }
}

#endif
