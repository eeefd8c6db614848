/* How points are summed over the set bits of bitmaps, and how values are told apart first: parts, chunks, bytes.  Pure. */
#ifndef CUZK_MSM_BIT_PLAN_H
#define CUZK_MSM_BIT_PLAN_H

#include "msm/msm_plan.h"

enum { BIT_SUM_MAX = 16 }; /* bitmaps of one sweep over the points */

/** Bytes of a bitmap of count bits: bit i is bit i % 32 of 32-bit word i / 32, and the next bitmap starts on a multiple of 16. */
static inline size_t bitmap_bytes(uint64_t count) { return (size_t)((count + 127) / 128 * 16); }

struct bit_sum_plan {
    const struct curve *curve;
    enum group_id group;
    uint64_t count; /* points */
    unsigned bitmap_count;
    size_t bitmap_bytes;   /* from one bitmap to the next; the caller may space them more widely, by a multiple of 16 */
    uint32_t part_count;   /* sums of a bitmap that are joined at the end: ranges of points (CPU), blocks for each chunk (CUDA) */
    uint32_t chunk_points; /* CPU: walked by all bitmaps while the cache holds them; CUDA: sorted at once; a multiple of 32 */
    unsigned pattern_bits; /* CUDA: bitmaps taken together, each point being added once, where its pattern of bits says; 0: a list each */
    unsigned bucket_log2;  /* CUDA: how many places there are for that */
    uint32_t keep_points;  /* CPU: where a chunk's tree of additions ends; these join the next chunk's */
    unsigned thread_count;
    size_t workspace_bytes;
};

void bit_plan_cpu(struct bit_sum_plan *out, const struct curve *c, enum group_id g, uint64_t count, unsigned bitmap_count,
                  unsigned thread_count);

/* The CPU's workspace, in the order in which it lies. */
struct bit_layout {
    size_t parts;   /* struct g_jac: [part][bitmap] */
    size_t scratch; /* scratch_bytes a thread: the following, from 0 */
    size_t kept;    /* affine points: [bitmap][keep_points] */
    size_t first;   /* affine points that a tree's first, third, ... level leaves */
    size_t second;  /* the others' */
    size_t batch;   /* pairs, denominators, prefixes, kinds of batch_pairs additions */
    size_t scratch_bytes, batch_pairs, total_bytes;
};
void bit_layout(struct bit_layout *out, const struct bit_sum_plan *p);

/* Values told apart: which are one, and which are neither 0 nor 1 ("wide"). */
struct classify_plan {
    uint64_t count;    /* values */
    uint64_t wide_max; /* room for wide ones */
    size_t bitmap_bytes, index_bytes, values_bytes;
    uint32_t block_count; /* ranges of block_values values that are counted on their own */
    uint32_t block_values;
    size_t workspace_bytes;
};
#define CLASSIFY_NONE UINT32_MAX /* no value: what an index list holds behind its last */

/* What classify leaves in memory. */
struct classify_counts {
    uint64_t ones, wide; /* wide may be above the plan's wide_max: then the list has the first wide_max of them */
};

/** The plan of both backends: blocks of block_values values (a multiple of 128), two words each in the workspace, and a second bitmap. */
void classify_plan_blocks(struct classify_plan *out, uint64_t count, uint64_t wide_max, uint32_t block_values);

/** Whether a sum whose scalars are mostly 0 and 1 is cheaper with these taken out: by point additions, of which `whole` and `wide` tell the
 * rest.
 * In  whole  the plan of the plain sum over all points      wide   the plan of the sum over the wide ones alone
 *     value_cost  a value's share of reading, cutting into digits and sorting, in additions      call_cost  of taking apart, in additions */
bool split_pays(const struct msm_plan *whole, const struct msm_plan *wide, double value_cost, double call_cost);

#endif
