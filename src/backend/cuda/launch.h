/* How kernels are launched and how they name dynamic shared memory: the two things that CUDA has a syntax of its own for.
 *
 *     LAUNCH(k_example, grid, THREADS, shared_bytes, stream)(arguments...);
 *     LAUNCH((k_template<8>), dim3(x, y), THREADS, 0, stream)(arguments...);
 *
 *     static __global__ void k_example(...)
 *     {
 *         SHARED_DYNAMIC(uint32_t, bins);     // bins[0, shared_bytes / 4)
 *
 * With CUZK_CUDA_EMULATED the same sources are compiled by a C++ compiler against tests/cuda_host, which runs them without a GPU. */
#ifndef CUZK_BACKEND_CUDA_LAUNCH_H
#define CUZK_BACKEND_CUDA_LAUNCH_H

#include <cuda_runtime.h>

#if defined(CUZK_CUDA_EMULATED)
#define LAUNCH(kernel, grid, block, shared_bytes, stream) cuda_host_launcher(#kernel, kernel, grid, block, shared_bytes, stream)
#define SHARED_DYNAMIC(type, name) type *const name = (type *)cuda_host_dynamic_shared()
#else
#define LAUNCH(kernel, grid, block, shared_bytes, stream) kernel<<<(grid), (block), (shared_bytes), (cudaStream_t)(stream)>>>
#define SHARED_DYNAMIC(type, name) extern __shared__ type name[]
#endif

#endif
