/* How a multi-scalar multiplication will be done: windows, batches, bytes.  Pure: the same arguments give the same plan. */
#ifndef CUZK_MSM_MSM_PLAN_H
#define CUZK_MSM_MSM_PLAN_H

#include "curve/curve.h"

struct msm_plan {
    const struct curve *curve;
    enum group_id group;
    uint64_t count;            /* points */
    unsigned scalar_bits;      /* of the recoded scalars */
    unsigned window_bits;      /* signed digits in [-2^(c-1), 2^(c-1)] */
    unsigned window_count;
    uint64_t block_count;      /* point blocks that run as tasks of their own */
    unsigned thread_count;
    size_t workspace_bytes;    /* heap (CPU) or device bytes of one run */
    double additions;          /* cost model: point additions */
};

/** The CPU's plan for count points on thread_count threads. */
void msm_plan_cpu(struct msm_plan *out, const struct curve *c, enum group_id g, uint64_t count, unsigned thread_count);

#endif
