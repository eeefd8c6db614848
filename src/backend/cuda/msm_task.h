/* What a number in the order of load stands for: a bucket, or a piece of one that was cut. */
#ifndef CUZK_BACKEND_CUDA_MSM_TASK_H
#define CUZK_BACKEND_CUDA_MSM_TASK_H

#include "backend/cuda/msm_kernels.h"

/* Out: range  its entries of the list, first and end.   Returns where its sum goes, xyzz_bytes. */
static __device__ __forceinline__ uint8_t *msm_task(struct msm_pair *range, uint8_t *buckets, uint8_t *piece_sums, const struct msm_sort *s, uint32_t t,
                                                    size_t xyzz_bytes)
{
    const uint32_t id = s->order[t], i = id & 0x7fffffffu;
    if (id >> 31) {
        const struct msm_pair piece = s->pieces[i];
        range->a = piece.a;
        range->b = piece.a + piece.b;
        return piece_sums + (size_t)i * xyzz_bytes;
    }
    range->a = s->bucket_start[i];
    range->b = s->bucket_start[i + 1];
    return buckets + (size_t)i * xyzz_bytes;
}

#endif
