/* How points are summed over the set bits of bitmaps, and how values are told apart first: parts, chunks, bytes. */
#include "msm/bit_plan.h"

#include "base/arena.h"

#define CHUNK_BYTES      ((size_t)768 << 10) /* of points: with half of the bits set, a tree's inputs and levels stay in a second-level cache */
#define KEEP_POINTS      32                  /* below this the inversion of a level costs as much as its additions */
#define PARTS_PER_THREAD 8
#define MIN_PART         1024 /* points */
#define AFFINE_SHARE     0.78 /* of an addition, at which the plans of CUDA count affine ones */

static size_t place(size_t *at, size_t bytes)
{
    const size_t here = *at;
    *at += arena_round(bytes);
    return here;
}

void bit_plan_cpu(struct bit_sum_plan *out, const struct curve *c, enum group_id g, uint64_t count, unsigned bitmap_count,
                  unsigned thread_count)
{
    struct bit_layout layout;
    out->curve = c;
    out->group = g;
    out->count = count;
    out->bitmap_count = bitmap_count;
    out->bitmap_bytes = bitmap_bytes(count);
    out->thread_count = thread_count ? thread_count : 1;
    const uint64_t most = (uint64_t)PARTS_PER_THREAD * out->thread_count, parts = count / MIN_PART + 1;
    out->part_count = (uint32_t)(out->thread_count == 1 ? 1 : parts < most ? parts : most);
    out->chunk_points = (uint32_t)(CHUNK_BYTES / c->group[g]->aff_bytes) & ~31u;
    out->keep_points = KEEP_POINTS;
    out->pattern_bits = out->bucket_log2 = 0;
    bit_layout(&layout, out);
    out->workspace_bytes = layout.total_bytes;
}

void bit_layout(struct bit_layout *out, const struct bit_sum_plan *p)
{
    const size_t aff_bytes = p->curve->group[p->group]->aff_bytes,
                 most = (size_t)p->chunk_points + p->keep_points; /* of a tree's inputs */
    size_t at = 0;
    out->parts = place(&at, sizeof(struct g_jac) * p->part_count * p->bitmap_count);
    size_t in = 0;
    out->batch_pairs = most / 2;
    out->kept = place(&in, aff_bytes * p->keep_points * p->bitmap_count);
    out->first = place(&in, aff_bytes * (most / 2 + 1));
    out->second = place(&in, aff_bytes * (most / 4 + 1));
    out->batch = place(&in, out->batch_pairs * (MSM_PAIR_BYTES + aff_bytes + 1));
    out->scratch_bytes = in;
    out->scratch = place(&at, out->scratch_bytes * p->thread_count);
    out->total_bytes = at;
}

void classify_plan_blocks(struct classify_plan *out, uint64_t count, uint64_t wide_max, uint32_t block_values)
{
    out->count = count;
    out->wide_max = wide_max;
    out->bitmap_bytes = bitmap_bytes(count);
    out->index_bytes = (size_t)wide_max * sizeof(uint32_t);
    out->values_bytes = (size_t)wide_max * 32;
    out->block_values = block_values;
    out->block_count = (uint32_t)((count + block_values - 1) / block_values);
    out->workspace_bytes = arena_round(sizeof(struct classify_counts) * out->block_count) + arena_round(out->bitmap_bytes);
}

/* What is left of a plan's additions when those of full-size scalars are taken out: its share of the buckets. */
static double rest_of(const struct msm_plan *p)
{
    const double counted = p->accumulation == MSM_AFFINE ? AFFINE_SHARE : 1;
    return p->additions - counted * (double)p->count * p->window_count;
}

bool split_pays(const struct msm_plan *whole, const struct msm_plan *wide, double value_cost, double call_cost)
{
    /* Either way a one is one addition, and a wide value one in each window: zero digits are dropped. */
    const double n = (double)whole->count, w = (double)wide->count;
    return rest_of(whole) + w * whole->window_count + value_cost * n > rest_of(wide) + w * (wide->window_count + 1) + value_cost / 4 * n + call_cost;
}
