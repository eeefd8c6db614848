/* Asynchronous copies from device to shared memory: made when they are waited for, not before. */
#ifndef CUZK_TESTS_CUDA_HOST_CUDA_PIPELINE_PRIMITIVES_H
#define CUZK_TESTS_CUDA_HOST_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"

void cuda_host_copy_async(void *to, const void *from, size_t bytes, size_t zeros);
void cuda_host_copy_commit(void);
void cuda_host_copy_wait(unsigned batches_left);

static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0) { cuda_host_copy_async(to, from, bytes, zeros); }
static inline void __pipeline_commit(void) { cuda_host_copy_commit(); }
static inline void __pipeline_wait_prior(size_t batches_left) { cuda_host_copy_wait((unsigned)batches_left); }

#endif
