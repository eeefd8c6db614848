/* Kernels that go wrong, for trap_program.c. */
#include "backend/cuda/launch.h"

static __device__ volatile int trap_flag;

static __global__ void k_trap(void) { __trap(); }

static __global__ void k_never_ends(void)
{
    while (trap_flag == 0) continue;
}

/* The context is lost when this returns. */
extern "C" void trap_kernel(void)
{
    LAUNCH(k_trap, 1, 1, 0, 0)();
    (void)cudaDeviceSynchronize();
}

/* Every thread that the card can hold at a time, for ever: whatever is launched later never begins. */
extern "C" void trap_fill_card(void)
{
    enum { THREADS = 1024 };
    int device = 0, units = 1, threads = THREADS;

    (void)cudaGetDevice(&device);
    (void)cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    (void)cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
    LAUNCH(k_never_ends, units * (threads / THREADS), THREADS, 0, 0)();
}
