/* The interlock bench's kernel. */
#ifndef CUZK_BACKEND_CUDA_INTERLOCK_KERNELS_H
#define CUZK_BACKEND_CUDA_INTERLOCK_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/** *sum += a value of `words` 16-byte words of data, each put through `rounds` wide multiplications; the value does not depend on the
 * number of blocks.  Returns the launch's error code. */
int interlock_launch(const void *data, uint64_t words, uint32_t rounds, unsigned blocks, uint64_t *sum, void *stream);
#ifdef __cplusplus
}
#endif

#endif
