/* What a test may choose about the emulated device, what it may break, and what it may ask.
 *
 * HOW TO WRITE DEVICE CODE THAT RUNS HERE.  The sources of src/backend/cuda are compiled as they are, .cu by the C++ compiler, against
 * the headers of this folder, with CUZK_CUDA_EMULATED defined:
 *   - launch through LAUNCH, name dynamic shared memory through SHARED_DYNAMIC (backend/cuda/launch.h);
 *   - kernels and device functions are static (also templates), __shared__ arrays have no initialiser;
 *   - warp intrinsics take full or explicit masks; inline PTX stands in backend/cuda/carry.h alone, beside its meaning in C;
 *   - asynchronous copies to shared memory through <cuda_pipeline_primitives.h>;
 *   - no cooperative launch, no waiting of one block for another, no mutable __device__ variable.
 *
 * WHAT IT SHOWS.  One thread of a block is a fiber; it runs until it waits at a barrier or for its warp, or comes to an atomic.  Who
 * runs next, the order of blocks, and what shared memory holds when a block starts are drawn from the seed: a missing barrier, a use
 * of uninitialised shared memory or a dependence on the order of blocks gives a wrong result for most seeds.  Streams are queues that
 * run when somebody waits, in an order drawn from the seed; a copy from pinned memory reads it when the queue comes to it: a stage
 * that is written too early or an event that is missing gives a wrong result.  Threads that wait for each other for ever are reported
 * on stderr and end the context (cudaErrorLaunchTimeout).  AddressSanitizer sees what kernels read and write beyond dynamic shared
 * memory, the device's allocations and their own variables; with guard_memory the host faults where it touches device memory.
 * WHAT IT DOES NOT.  Speed; uninitialised static __shared__ arrays of template kernels under GCC, which ignores the section of such
 * variables (its bug 41091; clang does not); races of two accesses between two barriers that every order of whole threads survives; more than one
 * block at a time; what nvcc does with the code. */
#ifndef CUZK_TESTS_CUDA_HOST_H
#define CUZK_TESTS_CUDA_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_host_config {
    uint64_t seed;          /* of all orders.  The queues' policy is seed % 4: at once, as late as possible, any, any and any time */
    int device_count;
    int sm_count;
    int major, minor;       /* architecture; below 7.5 there are no kernels for it */
    size_t shared_bytes;    /* shared memory that a block may ask for: 227, 163, 99 or 64 KiB on the cards that exist */
    size_t memory_bytes;
    int driver_version;     /* as CUDART_VERSION; 0: no driver; older than CUDART_VERSION: an old one */
    bool guard_memory;      /* the host's touching device memory is a fault (costs a system call each time queues run) */
};

/** What an H200 has, but 4 SMs and 4 GiB; seed from the environment variable CUZK_SEED, else 1. */
struct cuda_host_config cuda_host_default(void);

/** A fresh device; forgets all streams, events, memory and errors of the one before.  No other thread may be in a call. */
void cuda_host_configure(const struct cuda_host_config *c);

/** The n-th call from now (1: the next) fails with this code; a code that ends the context ends it.  Calls are those of the runtime
 * and launches, without cudaGetLastError and its like.  0: none. */
void cuda_host_fail_call(unsigned long n, int code);
/** The n-th kernel that runs from now on ends the context with this code, told by whichever call comes next. */
void cuda_host_fail_kernel(unsigned long n, int code);
/** Calls and kernels since cuda_host_configure. */
unsigned long cuda_host_call_count(void), cuda_host_kernel_count(void);

/** Has this kernel run without fault since the program began?  source: its file without folder and .cu; kernel: as LAUNCH names it,
 * without blanks: "k_scatter<8>". */
bool cuda_host_launched(const char *source, const char *kernel);

/** Bytes of device memory, registered ranges, streams and events that exist now. */
struct cuda_host_usage {
    size_t device_bytes, registered, streams, events;
};
struct cuda_host_usage cuda_host_used(void);

/** Text of the last report of a kernel that went wrong, "" if there was none since cuda_host_configure. */
const char *cuda_host_report(void);

#ifdef __cplusplus
}
#endif

#endif
