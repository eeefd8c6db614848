/* Launchers of the MSM's kernels: what cuda_msm.c enqueues.  Every launcher returns the launch's error code (0: none). */
#ifndef CUZK_BACKEND_CUDA_MSM_KERNELS_H
#define CUZK_BACKEND_CUDA_MSM_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* The windows of one MSM.  Window w covers width bits of the recoded scalar (w < narrow) or width + 1; its buckets are the digits'
 * absolute values 1..2^(width - 1).  Buckets of all windows are numbered in a row, narrow windows first. */
struct msm_windows {
    uint32_t width, narrow, count;
};

/* How buckets become points: running sums over segments of 2^seg_log2 buckets, then `levels` times over 2^3 segments, then sums by
 * bits of the index, cut in `parts`. */
enum { MSM_REDUCE_EACH_LOG2 = 3 };
struct msm_reduction {
    uint32_t seg_log2, levels, jobs, parts;
};

/* What one sort works on: windows [first, end), buckets numbered from bucket_first. */
struct msm_group {
    struct msm_windows windows;
    uint32_t first, end;
    uint32_t shared;        /* 1: all windows have the same buckets, and window w takes its points from row w of a table, `count` each */
    uint32_t bucket_first, bucket_count;
    uint32_t low_bits;      /* a partition holds 2^low_bits neighbouring buckets */
    uint32_t part_count;
    uint32_t piece;         /* a bucket with more entries is cut in pieces of this many */
    uint32_t piece_max;     /* room for pieces */
    uint32_t count;         /* scalars */
};

/* Scalars' constants: the modulus, and sum over windows of half a window, which makes all raw digits non-negative. */
struct msm_recode {
    uint32_t modulus[8], bias[8];
};

enum { COUNTER_CHUNKS, COUNTER_HEAVY, COUNTER_PIECES, COUNTER_TASKS, COUNTER_ENTRIES, COUNTER_NOT_CANONICAL, COUNTER_LATE, COUNTER_COUNT = 64 };

#define MSM_NO_DIGIT 0x7fffffffu /* among the digits: of a scalar that has no bucket in this window */

enum {
    MSM_PARTS_MAX = 48 << 10,       /* their counters fill the shared memory of one block */
    MSM_LOADS = 4096,               /* loads told apart when buckets are ordered */
    MSM_BIG_PART = 1 << 18,         /* a partition above this is sorted by several blocks */
    MSM_CHUNK = 1 << 15,            /* entries that one block takes of such a partition */
    MSM_LOW_MAX = 10,               /* of low_bits */
    MSM_BINS_MAX = 1 << 12,         /* partitions of one window */
};

struct msm_pair {
    uint32_t a, b;
};
struct msm_heavy {
    uint32_t bucket, first, count, unused;
};

/* Device arrays of one group; sizes in elements. */
struct msm_sort {
    uint32_t *counters;             /* COUNTER_COUNT */
    uint32_t *digits;               /* (end - first) * count */
    uint32_t *part_start;           /* part_count + 1 */
    uint32_t *part_cursor;          /* part_count */
    uint32_t *entry_point;              /* (end - first) * count: point index | sign << 31, by partition */
    uint16_t *entry_low;                /* (end - first) * count: bucket inside the partition */
    uint32_t *list;                 /* (end - first) * count: point index | sign << 31, by bucket */
    uint32_t *bucket_start;         /* bucket_count + 1 */
    struct msm_pair *chunks;            /* chunk_max: {partition, first entry} */
    uint32_t chunk_max;
    uint32_t *chunk_cursor;         /* bucket_count: where the pieces of big partitions are written */
    uint32_t *load_cursor;          /* MSM_LOADS */
    uint32_t *order;                /* bucket_count + piece_max: bucket, or piece | 1 << 31, by falling load */
    struct msm_pair *pieces;            /* piece_max: {first entry, entries} */
    struct msm_heavy *heavy;             /* piece_max: buckets that were cut, and their pieces */
};

/* Accumulation by affine additions (msm_affine.inc.cuh).  A task is a bucket or a piece: bucket_count + piece_max of them at most. */
struct msm_affine {
    void *tiles;                    /* MSM_AFFINE_TASK_BYTES a task, rounded up to warps: sums and products of denominators */
    uint32_t *entry;                /* a task each: what the next step adds */
    struct msm_pair *range;         /* a task each: first entry, end */
    struct msm_pair *late;          /* a task each: {task, first entry left} of those that XYZZ additions finish */
    void *runs[2], *before[2];      /* of a set: a coordinate for each thread */
    uint32_t threads;               /* that add (pairs of lanes in G2): a multiple of a block's */
    uint32_t inverters;             /* blocks that invert, beside those that add */
    uint32_t steps;                 /* entries of a task that affine additions take, but for the first: 1 to MSM_LOADS - 3 */
};
enum {
    MSM_BLS12_381_G1_ACC_BLOCKS = 3, /* resident blocks of 128 threads that the accumulation's registers are fitted to (measured) */
    MSM_BLS12_381_G2_ACC_BLOCKS = 2,
    MSM_BN254_G1_ACC_BLOCKS = 4,
    MSM_BN254_G2_ACC_BLOCKS = 3,
    /* Resident blocks of 128 threads on an SM that affine additions are fitted to.  With products by one copy of their code 4 fit G1 of
     * BLS12-381 without spills, where 3 of inlined ones did: 2^27 points 486 -> 472 ms; in G2 4 spill and lose, and in BN254 inlined is faster. */
    MSM_BLS12_381_G1_AFFINE_BLOCKS = 4,
    MSM_BLS12_381_G2_AFFINE_BLOCKS = 3,
    MSM_BN254_G1_AFFINE_BLOCKS = 4,
    MSM_BN254_G2_AFFINE_BLOCKS = 4,
    /* Blocks of a launch of affine additions, in those that are resident: warps of an SM end one after another, so that others must come (2^27
     * points of G1 473 -> 458 ms, 2^24 of G2 202 -> 192, BN254 G1 2^26 138 -> 137; 4 are no better). */
    MSM_AFFINE_WAVES = 3,
    MSM_AFFINE_INVERT_SHARE = 32, /* of its blocks one in so many inverts: with 48 launches of few additions wait, with 16 the additions have less room */
};
#define MSM_AFFINE_TASK_BYTES(aff_bytes) (3 * ((aff_bytes) / 2))

#ifdef __cplusplus
extern "C" {
#endif
/** Once a device, before the first launch. */
int msm_prepare_sort(void);
int msm_launch_sort(const struct msm_group *g, const struct msm_recode *r, const struct msm_sort *s, const void *scalars,
                    const uint32_t *gather, unsigned sm_count, void *stream);
/** The two halves of it around the digits, where these are cut by somebody else: counters set to zero; then, from s->digits and the counts
 * of each partition in s->part_start, all the rest. */
int msm_launch_clear(const struct msm_group *g, const struct msm_sort *s, void *stream);
int msm_launch_order(const struct msm_group *g, const struct msm_sort *s, unsigned sm_count, void *stream);
/* Per curve and group.  accumulate, accumulate_affine: buckets of one group, of which none need be initialised.  reduce: all windows' buckets to
 * r->jobs Jacobian points, canonical, in a row: for a window of 2^n items two plain terms, then the terms of bits 0..n-1 of the items'
 * index; scratch: 4 XYZZ points for each segment of 2^seg_log2 buckets, and 2 for each job and part.
 * double_row: to[i] = 2^doublings from[i], count affine points.
 * fixed_base: table holds 32 x 255 affine points, entry (j, d - 1) = d 2^(8 j) base. */
int msm_bls12_381_g1_accumulate(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream);
int msm_bls12_381_g1_accumulate_affine(void *buckets, void *piece_sums, const void *points, const struct msm_sort *s, const struct msm_affine *a, void *stream);
int msm_bls12_381_g1_reduce(void *jacobian, void *scratch, const void *buckets, const struct msm_windows *w, const struct msm_reduction *r, void *stream);
int msm_bls12_381_g1_fixed_base(void *points, const void *table, const void *scalars, uint64_t count, void *stream);
int msm_bls12_381_g1_double_row(void *to, const void *from, uint64_t count, uint32_t doublings, void *stream);
int msm_bls12_381_g2_accumulate(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream);
int msm_bls12_381_g2_accumulate_affine(void *buckets, void *piece_sums, const void *points, const struct msm_sort *s, const struct msm_affine *a, void *stream);
int msm_bls12_381_g2_reduce(void *jacobian, void *scratch, const void *buckets, const struct msm_windows *w, const struct msm_reduction *r, void *stream);
int msm_bls12_381_g2_fixed_base(void *points, const void *table, const void *scalars, uint64_t count, void *stream);
int msm_bls12_381_g2_double_row(void *to, const void *from, uint64_t count, uint32_t doublings, void *stream);
int msm_bn254_g1_accumulate(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream);
int msm_bn254_g1_accumulate_affine(void *buckets, void *piece_sums, const void *points, const struct msm_sort *s, const struct msm_affine *a, void *stream);
int msm_bn254_g1_reduce(void *jacobian, void *scratch, const void *buckets, const struct msm_windows *w, const struct msm_reduction *r, void *stream);
int msm_bn254_g1_fixed_base(void *points, const void *table, const void *scalars, uint64_t count, void *stream);
int msm_bn254_g1_double_row(void *to, const void *from, uint64_t count, uint32_t doublings, void *stream);
int msm_bn254_g2_accumulate(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream);
int msm_bn254_g2_accumulate_affine(void *buckets, void *piece_sums, const void *points, const struct msm_sort *s, const struct msm_affine *a, void *stream);
int msm_bn254_g2_reduce(void *jacobian, void *scratch, const void *buckets, const struct msm_windows *w, const struct msm_reduction *r, void *stream);
int msm_bn254_g2_fixed_base(void *points, const void *table, const void *scalars, uint64_t count, void *stream);
int msm_bn254_g2_double_row(void *to, const void *from, uint64_t count, uint32_t doublings, void *stream);
#ifdef __cplusplus
}
#endif

#endif
