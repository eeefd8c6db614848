/* How a multi-scalar multiplication will be done: windows, batches, bytes.  Pure: the same arguments give the same plan. */
#ifndef CUZK_MSM_MSM_PLAN_H
#define CUZK_MSM_MSM_PLAN_H

#include "curve/curve.h"

#define MSM_MAX_COUNT ((uint64_t)1 << 30) /* points: an index and a sign share 32 bits */

/* How entries are added into buckets on CUDA; the CPU's additions are affine always. */
enum msm_accumulation { MSM_ANY, MSM_XYZZ, MSM_AFFINE };

struct msm_plan {
    const struct curve *curve;
    enum group_id group;
    uint64_t count;       /* points */
    unsigned scalar_bits; /* of the recoded scalars: min(k, r - k) has one bit less than r */
    unsigned window_bits; /* signed digits in [-2^(c-1), 2^(c-1)] */
    unsigned window_count;
    unsigned window_group;  /* CPU: windows that are sorted and summed together */
    uint64_t block_count;   /* point blocks that run as tasks of their own */
    uint32_t chunk_entries; /* CPU: points that one batch of additions reads, at least 2 */
    unsigned thread_count;
    enum msm_accumulation accumulation; /* CUDA */
    unsigned row_count;     /* CUDA, 2 or more: points are a table of as many multiples of each, which msm_table_make has made */
    size_t table_bytes;     /* of that table */
    size_t workspace_bytes; /* heap (CPU) or device bytes of one run */
    double additions;       /* cost model: point additions */
    double ns;              /* CUDA, cost model: time on the device, with the host's last additions */
};

/** The CPU's plan for count <= MSM_MAX_COUNT points on thread_count threads, for scalars of full size.  A run may take smaller windows
 * within the same bytes when it finds that most scalars are small. */
void msm_plan_cpu(struct msm_plan *out, const struct curve *c, enum group_id g, uint64_t count,
                  unsigned thread_count);

/** The window size with the fewest additions, and their number (additions may be NULL).
 * In  at_least    at_least[b]: scalars of b bits or more, 0 <= b <= 256 (at_least[0]: all that are not dropped)
 *     bits        of the largest scalar;  max_window  upper bound of the answer */
unsigned msm_plan_window(const uint64_t at_least[257], unsigned bits, unsigned max_window, double *additions);

/* -- the CPU's workspace, in the order in which it lies -- */
struct msm_layout {
    size_t wide;   /* recoded scalars with more than one digit, 32 bytes each */
    size_t narrow; /* digits of the others, int32 each */
    size_t
        index; /* u32 each: point of a narrow scalar (from the block's front) or of a wide one (from its back) */
    size_t blocks;    /* struct msm_block, one a block */
    size_t entries;   /* u32 each: points of all digits of the window group, sorted by bucket */
    size_t positions; /* u32 each: [window][block][bucket] */
    size_t starts;    /* u32 each: [window][bucket], relative to the window */
    size_t sums;      /* affine points: [window][bucket] */
    size_t heads;     /* MSM_HEAD_BYTES each, MSM_SEGMENTS_PER_THREAD a thread */
    size_t bases;     /* u64 each, max_windows + 1 */
    size_t parts;     /* struct g_jac, two a window */
    size_t scratch;   /* scratch_bytes a thread: inner points from 0, then the two below */
    size_t batch;     /* inside a scratch: pairs, denominators, prefixes, kinds of batch_pairs additions */
    size_t rows;      /* inside a scratch: MSM_ROW_BYTES each, batch_pairs of them */
    size_t scratch_bytes, batch_pairs, total_bytes;
    unsigned max_windows; /* of a group */
};
#define MSM_SEGMENTS_PER_THREAD 8 /* the grain of balancing */
#define MSM_HEAD_BYTES          256
#define MSM_ROW_BYTES           16
#define MSM_PAIR_BYTES          32 /* of struct affine_pair */
void msm_layout(struct msm_layout *out, const struct msm_plan *p);

/* What the first pass learns of a block of points. */
struct msm_block {
    uint64_t first, last; /* points */
    uint64_t narrow_count, wide_count;
    bool invalid;       /* a scalar is not below the modulus */
    uint64_t bits[257]; /* finite points by the bit length of their scalar; [0] stays zero */
};

#endif
