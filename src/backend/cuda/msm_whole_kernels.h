/* Accumulation with a whole point of G2 in each thread (msm_whole.inc.cuh): when it takes the place of pairs of lanes, and what it takes from them. */
#ifndef CUZK_BACKEND_CUDA_MSM_WHOLE_KERNELS_H
#define CUZK_BACKEND_CUDA_MSM_WHOLE_KERNELS_H

#include "backend/cuda/msm_kernels.h"

#include <stddef.h>
#include <stdint.h>

enum {
    MSM_WHOLE_THREADS = 128,        /* of a block, a point each */
    MSM_WHOLE_BLOCKS = 3,           /* resident blocks on an SM that the registers are fitted to */
    MSM_WHOLE_BYTES = 6 * 96 * MSM_WHOLE_THREADS, /* shared memory of a block */
    MSM_WHOLE_SUMS = 256,           /* of an SM at least, else pairs of lanes end sooner (predicted) */
};

/** Blocks that an SM holds whose blocks may have shared_bytes; 0: fewer than two, so that pairs of lanes are faster. */
static inline uint32_t msm_whole_blocks(size_t shared_bytes)
{
    const uint32_t fit = (uint32_t)((shared_bytes + 1024) / (MSM_WHOLE_BYTES + 1024)); /* CUDA takes 1 KiB a block of an SM's memory */
    return fit < 2 ? 0 : fit < (uint32_t)MSM_WHOLE_BLOCKS ? fit : (uint32_t)MSM_WHOLE_BLOCKS;
}

#ifdef __cplusplus
extern "C" {
#endif
/** What msm_bls12_381_g2_accumulate chooses between; whole points take blocks of MSM_WHOLE_BYTES. */
int msm_bls12_381_g2_accumulate_whole(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream);
int msm_bls12_381_g2_accumulate_pairs(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream);
/** The end of an accumulation: the pieces of buckets that were cut. */
int msm_bls12_381_g2_join(void *buckets, void *piece_sums, const struct msm_sort *s, void *stream);
#ifdef __cplusplus
}
#endif

#endif
