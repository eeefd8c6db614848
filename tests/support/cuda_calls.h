/* Counts of the calls that the CUDA backend must never make once it is warm: everything that acts on the whole device.
 *
 * The runtime is linked statically, so the linker replaces each symbol by a counting one: cuda_count_calls() of
 * tests/backend/CMakeLists.txt. */
#ifndef CUZK_TESTS_CUDA_CALLS_H
#define CUZK_TESTS_CUDA_CALLS_H

enum { CUDA_CALLS_DEFAULT_STREAM = 13, CUDA_CALLS_PAGEABLE, CUDA_CALLS };

void cuda_calls_reset(void);
unsigned cuda_calls_of(unsigned kind);      /* since then; kind < CUDA_CALLS */
const char *cuda_calls_name(unsigned kind); /* "cudaMalloc" */
/** Of all kinds; what was called is printed. */
unsigned cuda_calls_forbidden(void);

#endif
