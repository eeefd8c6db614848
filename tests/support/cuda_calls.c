/* Counts of the calls that the CUDA backend must never make once it is warm. */
#include "support/cuda_calls.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include <cuda_runtime_api.h>

/* X(symbol, parameters, arguments) */
#define FORBIDDEN(X)                                                                               \
    X(cudaMalloc, (void **p, size_t n), (p, n))                                                    \
    X(cudaFree, (void *p), (p))                                                                    \
    X(cudaMallocAsync, (void **p, size_t n, cudaStream_t s), (p, n, s))                            \
    X(cudaFreeAsync, (void *p, cudaStream_t s), (p, s))                                            \
    X(cudaHostAlloc, (void **p, size_t n, unsigned f), (p, n, f))                                  \
    X(cudaMallocHost, (void **p, size_t n), (p, n))                                                \
    X(cudaFreeHost, (void *p), (p))                                                                \
    X(cudaHostRegister, (void *p, size_t n, unsigned f), (p, n, f))                                \
    X(cudaHostUnregister, (void *p), (p))                                                          \
    X(cudaDeviceSynchronize, (void), ())                                                           \
    X(cudaMemPoolTrimTo, (cudaMemPool_t p, size_t n), (p, n))                                      \
    X(cudaMemcpy, (void *to, const void *from, size_t n, enum cudaMemcpyKind k), (to, from, n, k)) \
    X(cudaMemset, (void *to, int v, size_t n), (to, v, n))

#define COUNTER(symbol, parameters, arguments) COUNT_##symbol,
enum { FORBIDDEN(COUNTER) COUNT_DEFAULT_STREAM, COUNT_PAGEABLE, COUNTS };
_Static_assert((int)COUNT_DEFAULT_STREAM == (int)CUDA_CALLS_DEFAULT_STREAM && (int)COUNTS == (int)CUDA_CALLS,
               "the header's numbers");
static atomic_uint counts[COUNTS];
#define NAME(symbol, parameters, arguments) #symbol,
static const char *const names[] = { FORBIDDEN(NAME) "work on the default stream",
                                     "copies of pageable memory" };

#define WRAP(symbol, parameters, arguments) \
    cudaError_t __real_##symbol parameters; \
    cudaError_t __wrap_##symbol parameters; \
    cudaError_t __wrap_##symbol parameters  \
    {                                       \
        counts[COUNT_##symbol]++;           \
        return __real_##symbol arguments;   \
    }
FORBIDDEN(WRAP)

cudaError_t __real_cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind k,
                                   cudaStream_t s);
cudaError_t __wrap_cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind k,
                                   cudaStream_t s);
cudaError_t __wrap_cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind k,
                                   cudaStream_t s)
{
    struct cudaPointerAttributes a;
    const void *host = k == cudaMemcpyHostToDevice ? from : k == cudaMemcpyDeviceToHost ? to : NULL;
    if (s == NULL) counts[COUNT_DEFAULT_STREAM]++;
    if (host && (cudaPointerGetAttributes(&a, host) != cudaSuccess || a.type != cudaMemoryTypeHost))
        counts[COUNT_PAGEABLE]++;
    return __real_cudaMemcpyAsync(to, from, n, k, s);
}
cudaError_t __real_cudaMemsetAsync(void *to, int v, size_t n, cudaStream_t s);
cudaError_t __wrap_cudaMemsetAsync(void *to, int v, size_t n, cudaStream_t s);
cudaError_t __wrap_cudaMemsetAsync(void *to, int v, size_t n, cudaStream_t s)
{
    if (s == NULL) counts[COUNT_DEFAULT_STREAM]++;
    return __real_cudaMemsetAsync(to, v, n, s);
}

void cuda_calls_reset(void)
{
    for (unsigned i = 0; i < COUNTS; i++) counts[i] = 0;
}

unsigned cuda_calls_of(unsigned kind) { return counts[kind]; }
const char *cuda_calls_name(unsigned kind) { return names[kind]; }

unsigned cuda_calls_forbidden(void)
{
    unsigned all = 0;

    for (unsigned i = 0; i < COUNTS; i++) {
        if (counts[i] != 0) printf("%s: %u\n", names[i], counts[i]);
        all += counts[i];
    }
    return all;
}
