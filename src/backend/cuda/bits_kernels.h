/* Launchers of the kernels for sums over bitmaps and for telling values apart.  Every launcher returns the launch's error code (0: none). */
#ifndef CUZK_BACKEND_CUDA_BITS_KERNELS_H
#define CUZK_BACKEND_CUDA_BITS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* One sweep.  A warp takes the points of batch_words words of a bitmap at once. */
struct bits_sweep {
    const void *points;
    const uint32_t *bitmaps;
    const uint32_t *ones;       /* of each bitmap */
    uint32_t stride_words;      /* from one bitmap to the next */
    uint32_t count, bitmap_count;
    uint32_t batch_words, batches;
};

enum {
    BITS_THREADS = 128,
    /* Resident blocks that a sweep's registers are fitted to: those of the accumulation into buckets, whose additions these are. */
    BITS_BLOCKS_BN254_G1 = 4,
    BITS_BLOCKS_BN254_G2 = 3,
    BITS_BLOCKS_BLS12_381_G1 = 3,
    BITS_BLOCKS_BLS12_381_G2 = 2,
    CLASSIFY_BLOCK_VALUES = 4096,
};

/* What telling `count` values apart reads and writes. */
struct classify_run {
    const void *scalars;
    const uint32_t *gather;     /* or NULL */
    uint32_t *ones, *wide;      /* bitmaps of `words` words; wide's is workspace */
    uint64_t *blocks;           /* {ones, wide} of each block of CLASSIFY_BLOCK_VALUES; then where its wide ones begin */
    uint64_t *counts;           /* {ones, wide} of all */
    uint32_t *index;
    void *values;
    uint32_t count, words, block_count, wide_max;
};

#ifdef __cplusplus
extern "C" {
#endif
int classify_launch(const struct classify_run *r, unsigned sm_count, void *stream);
/* out[j] = points[index[j]], zeros where index[j] >= count */
int gather_points_launch(void *out, const void *points, size_t point_bytes, uint32_t count, const uint32_t *index, uint32_t index_count,
                         unsigned sm_count, void *stream);
/* Bits put into the order of a list. */
struct bits_gather {
    uint32_t *out;              /* bitmaps of `words` words in a row */
    const uint32_t *bits, *list;
    uint32_t stride_words;      /* from one bitmap of bits to the next */
    uint32_t count, words, bitmap_count, first;
};
int gather_bits_launch(const struct bits_gather *g, unsigned sm_count, void *stream);
/* s->ones, which is written here. */
int bits_launch_count(uint32_t *ones, const struct bits_sweep *s, unsigned sm_count, void *stream);
/* jacobian: s->bitmap_count canonical points in a row.  sums: `blocks` points in XYZZ coordinates, at least a block a bitmap. */
int bits_bn254_g1_sum(void *jacobian, void *sums, const struct bits_sweep *s, uint32_t blocks, void *stream);
int bits_bn254_g2_sum(void *jacobian, void *sums, const struct bits_sweep *s, uint32_t blocks, void *stream);
int bits_bls12_381_g1_sum(void *jacobian, void *sums, const struct bits_sweep *s, uint32_t blocks, void *stream);
int bits_bls12_381_g2_sum(void *jacobian, void *sums, const struct bits_sweep *s, uint32_t blocks, void *stream);
#ifdef __cplusplus
}
#endif

#endif
