/* The largest of a whole warp's values: one instruction since sm_80, five exchanges before. */
#ifndef CUZK_BACKEND_CUDA_WARP_MAX_H
#define CUZK_BACKEND_CUDA_WARP_MAX_H

#include <stdint.h>

static __device__ __forceinline__ uint32_t warp_max(uint32_t value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (int distance = 16; distance; distance /= 2)
        value = max(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
#else
    return __reduce_max_sync(0xffffffffu, value);
#endif
}

#endif
