/* Launchers of the kernels for sums over bitmaps and for telling values apart.  Every launcher returns the launch's error code (0: none). */
#ifndef CUZK_BACKEND_CUDA_BITS_KERNELS_H
#define CUZK_BACKEND_CUDA_BITS_KERNELS_H

#include "backend/cuda/msm_kernels.h"

#include <stddef.h>
#include <stdint.h>

/* Some bitmaps over some points: what one pass of a sweep takes. */
struct bits_pass {
    const void *points;
    const uint32_t *bitmaps;
    uint32_t point_bytes, stride_words; /* from one bitmap to the next */
    uint32_t count, bitmap_count;
};

/* A list of points for each bitmap, cut in `tasks` runs of equal length. */
struct bits_lists {
    uint32_t *kept;         /* bitmaps of `words` words: the bits of finite points */
    uint32_t *ones;         /* [bitmap][block]: ones of each BITS_LIST_WORDS words; then of all before them */
    uint32_t *all_ones;     /* a bitmap each */
    uint32_t words, block_count, tasks;
    uint32_t room;          /* entries from one bitmap's list to the next: a multiple of tasks, at least the points */
};

/* What is summed for each bitmap: `count` items from bitmap * count on (bit BITS_NO_BIT), or those of 2 count items whose index has bit
 * `bit` + bitmap. */
struct bits_items {
    const void *items;
    uint32_t count, bit;
};
#define BITS_NO_BIT 0xffffffffu

enum {
    BITS_THREADS = 128,
    BITS_LIST_WORDS = 256,
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
/** The digits of a sort and its partitions' counts (s->part_start, zero before): of point i its pattern, bit k of which is bit i of bitmap k,
 * above the low_bits lowest bits of i.  Points without a bit, or at infinity, have none. */
int bits_launch_patterns(const struct bits_pass *b, uint32_t low_bits, const struct msm_group *g, const struct msm_sort *s, unsigned sm_count, void *stream);
/** The lists of all bitmaps, and of s: list, pieces, order, counters.  Task i of bitmap k is piece k * tasks + i. */
int bits_launch_lists(const struct bits_pass *b, const struct bits_lists *l, const struct msm_sort *s, void *stream);
/* Per curve and group; points in XYZZ coordinates but for join's.
 * fold  items[i] = the sum of the 2^log2 buckets from i 2^log2 on, for first <= i < end
 * rows  rows[k * stride + part], part < parts: a part of bitmap k's items each
 * join  jacobian[k] = the sum of rows[k * stride] to rows[k * stride + count - 1], canonical */
int bits_bn254_g1_fold(void *items, const void *buckets, uint32_t first, uint32_t end, uint32_t log2, void *stream);
int bits_bn254_g1_rows(void *rows, uint32_t stride, const struct bits_items *i, uint32_t bitmap_count, uint32_t parts, void *stream);
int bits_bn254_g1_join(void *jacobian, const void *rows, uint32_t stride, uint32_t count, uint32_t bitmap_count, void *stream);
int bits_bn254_g2_fold(void *items, const void *buckets, uint32_t first, uint32_t end, uint32_t log2, void *stream);
int bits_bn254_g2_rows(void *rows, uint32_t stride, const struct bits_items *i, uint32_t bitmap_count, uint32_t parts, void *stream);
int bits_bn254_g2_join(void *jacobian, const void *rows, uint32_t stride, uint32_t count, uint32_t bitmap_count, void *stream);
int bits_bls12_381_g1_fold(void *items, const void *buckets, uint32_t first, uint32_t end, uint32_t log2, void *stream);
int bits_bls12_381_g1_rows(void *rows, uint32_t stride, const struct bits_items *i, uint32_t bitmap_count, uint32_t parts, void *stream);
int bits_bls12_381_g1_join(void *jacobian, const void *rows, uint32_t stride, uint32_t count, uint32_t bitmap_count, void *stream);
int bits_bls12_381_g2_fold(void *items, const void *buckets, uint32_t first, uint32_t end, uint32_t log2, void *stream);
int bits_bls12_381_g2_rows(void *rows, uint32_t stride, const struct bits_items *i, uint32_t bitmap_count, uint32_t parts, void *stream);
int bits_bls12_381_g2_join(void *jacobian, const void *rows, uint32_t stride, uint32_t count, uint32_t bitmap_count, void *stream);
#ifdef __cplusplus
}
#endif

#endif
