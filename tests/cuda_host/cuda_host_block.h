/* Runs the blocks of one kernel: the seam between the queues (cuda_host.cpp) and the fibers (cuda_host_block.cpp). */
#ifndef CUZK_TESTS_CUDA_HOST_BLOCK_H
#define CUZK_TESTS_CUDA_HOST_BLOCK_H

#include "cuda_runtime.h"

#include <string>

/* splitmix64 */
struct cuda_host_random {
    uint64_t state;
    uint64_t next()
    {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    unsigned below(unsigned n) { return (unsigned)((next() >> 32) * n >> 32); }
};

/** All blocks of a grid, one after another.  Returns "" or what went wrong, with the state of every thread that waited.  One caller at a time. */
std::string cuda_host_run_grid(const char *name, dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()> &thread, uint64_t seed);

/** A kernel runs in the calling thread now. */
bool cuda_host_in_kernel(void);

#endif
