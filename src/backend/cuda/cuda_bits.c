/* Sums over bitmaps, values told apart, points and bits gathered: plans, what is enqueued, and the results. */
#include "backend/cuda/cuda_device.h"

#include "backend/cuda/bits_kernels.h"

#include <string.h>

struct sweep_kernels {
    int (*sum)(void *jacobian, void *sums, const struct bits_sweep *s, uint32_t blocks, void *stream);
    uint32_t blocks; /* resident on an SM */
};

static const struct sweep_kernels *kernels_of(const struct curve *c, enum group_id g)
{
    static const struct sweep_kernels list[2][2] = {
        { { bits_bn254_g1_sum, BITS_BLOCKS_BN254_G1 }, { bits_bn254_g2_sum, BITS_BLOCKS_BN254_G2 } },
        { { bits_bls12_381_g1_sum, BITS_BLOCKS_BLS12_381_G1 }, { bits_bls12_381_g2_sum, BITS_BLOCKS_BLS12_381_G2 } },
    };
    return &list[c->id == CURVE_BLS12_381][g];
}

static size_t round_up(size_t n) { return (n + 255) & ~(size_t)255; }

/* The workspace: ones of each bitmap, the result, a sum a block. */
enum { ONES_BYTES = 256 };
static size_t result_bytes(const struct bit_sum_plan *p) { return p->bitmap_count * p->curve->group[p->group]->jac_bytes; }

/* One launch: as many blocks as are resident at once, or what few points need.  Smaller batches where full ones would leave warps idle. */
cuzk_status cuda_bit_sum_plan(struct bit_sum_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g, uint64_t count,
                              unsigned bitmap_count)
{
    const uint32_t warps = BITS_THREADS / 32, most = d->sm_count * kernels_of(c, g)->blocks;
    if (bitmap_count > BIT_SUM_MAX) return FAIL(t, CUZK_INVALID_ARGUMENT, "a sweep over %u bitmaps; at most %d", bitmap_count, BIT_SUM_MAX);
    if (count >= 1u << 30)
        return FAIL(t, CUZK_TOO_LARGE, "a sweep over %llu points; the CUDA backend takes fewer than 2^30", (unsigned long long)count);
    memset(out, 0, sizeof *out);
    out->curve = c;
    out->group = g;
    out->count = count;
    out->bitmap_count = bitmap_count;
    out->bitmap_bytes = bitmap_bytes(count);
    out->thread_count = 1;
    out->chunk_points = 1024;
    while (out->chunk_points > 64 && count / out->chunk_points * bitmap_count < 4 * (uint64_t)most * warps) out->chunk_points /= 2;
    const uint64_t batches = (count + out->chunk_points - 1) / out->chunk_points, wanted = (batches * bitmap_count + warps - 1) / warps;
    out->part_count = wanted < most ? (uint32_t)wanted : most;
    if (out->part_count < bitmap_count) out->part_count = bitmap_count;
    out->workspace_bytes = ONES_BYTES + round_up(result_bytes(out)) + (size_t)out->part_count * 2 * c->group[g]->aff_bytes;
    return CUZK_OK;
}

static cuzk_status bit_sum_finish(struct task *t, const struct device *d, const struct pending *p, const uint8_t *result)
{
    const struct bit_sum_plan *plan = &p->bits;
    const struct group *group = plan->curve->group[plan->group];
    (void)t;
    (void)d;
    for (unsigned k = 0; k < plan->bitmap_count; k++) {
        struct g_jac sum;
        memset(&sum, 0, sizeof sum);
        memcpy(&sum, result + k * group->jac_bytes, group->jac_bytes);
        if (group->jac_is_inf(&sum)) group->jac_set_inf(&sum);
        p->out[k] = sum;
    }
    return CUZK_OK;
}

cuzk_status cuda_bit_sum(struct stream *s, struct task *t, const struct bit_sum_plan *p, struct g_jac *out, const struct buffer *points,
                         size_t points_offset, const struct buffer *bitmaps, size_t bitmaps_offset, struct buffer *workspace)
{
    const struct device *d = s->device;
    const struct group *group = p->curve->group[p->group];
    uint8_t *pts, *bits, *ws, *result;
    if (p->count == 0 || p->bitmap_count == 0) {
        for (unsigned k = 0; k < p->bitmap_count; k++) group->jac_set_inf(&out[k]);
        return CUZK_OK;
    }
    TRY(cuda_range(t, d, points, "the points of a sweep", points_offset, p->count * group->aff_bytes, &pts));
    TRY(cuda_range(t, d, bitmaps, "the bitmaps of a sweep", bitmaps_offset, p->bitmap_bytes * p->bitmap_count, &bits));
    TRY(cuda_range(t, d, workspace, "the workspace of a sweep", 0, p->workspace_bytes, &ws));
    TRY(cuda_result_slot(s, t, &result));
    TRY(task_poll(t)); /* from here on everything is enqueued: a caller may give the buffers back only after a sync */
    TRY(cuda_enter(t, d));
    uint32_t *const ones = (uint32_t *)(void *)ws;
    uint8_t *const jacobian = ws + ONES_BYTES, *const sums = jacobian + round_up(result_bytes(p));
    const struct bits_sweep sweep = {
        .points = pts,
        .bitmaps = (const uint32_t *)(const void *)bits,
        .ones = ones,
        .stride_words = (uint32_t)(p->bitmap_bytes / 4),
        .count = (uint32_t)p->count,
        .bitmap_count = p->bitmap_count,
        .batch_words = p->chunk_points / 32,
        .batches = (uint32_t)((p->count + p->chunk_points - 1) / p->chunk_points),
    };
    CU(t, bits_launch_count(ones, &sweep, d->sm_count, s->handle));
    CU(t, kernels_of(p->curve, p->group)->sum(jacobian, sums, &sweep, p->part_count, s->handle));
    CU(t, cudaMemcpyAsync(result, jacobian, result_bytes(p), cudaMemcpyDeviceToHost, s->handle));
    cuda_received(s, result_bytes(p));
    struct pending *const pending = &s->pending[s->pending_count++];
    pending->finish = bit_sum_finish;
    pending->bits = *p;
    pending->out = out;
    return CUZK_OK;
}

/* -- telling values apart -- */

cuzk_status cuda_classify_plan(struct classify_plan *out, struct task *t, const struct device *d, uint64_t count, uint64_t wide_max)
{
    (void)d;
    if (count >= 1u << 30 || wide_max >= 1u << 30)
        return FAIL(t, CUZK_TOO_LARGE, "%llu values to tell apart; the CUDA backend takes fewer than 2^30", (unsigned long long)(count > wide_max ? count : wide_max));
    classify_plan_blocks(out, count, wide_max, CLASSIFY_BLOCK_VALUES);
    return CUZK_OK;
}

cuzk_status cuda_classify(struct stream *s, struct task *t, const struct classify_plan *p, struct buffer *counts, struct buffer *bitmap,
                          struct buffer *index, struct buffer *values, const struct buffer *scalars, size_t scalars_offset, const struct buffer *gather,
                          struct buffer *workspace)
{
    const struct device *d = s->device;
    uint8_t *count_words, *ones, *list, *wide_values, *sc, *gather_list = NULL, *ws;
    TRY(cuda_range(t, d, counts, "the counts", 0, sizeof(struct classify_counts), &count_words));
    TRY(cuda_range(t, d, bitmap, "the bitmap of ones", 0, p->bitmap_bytes, &ones));
    TRY(cuda_range(t, d, index, "the list of wide values", 0, p->index_bytes, &list));
    TRY(cuda_range(t, d, values, "the wide values", 0, p->values_bytes, &wide_values));
    TRY(cuda_range(t, d, scalars, "the scalars", scalars_offset, gather ? 0 : 32 * p->count, &sc));
    if (gather) TRY(cuda_range(t, d, gather, "the gather list", 0, p->count * sizeof(uint32_t), &gather_list));
    TRY(cuda_range(t, d, workspace, "the workspace of telling values apart", 0, p->workspace_bytes, &ws));
    TRY(task_poll(t));
    TRY(cuda_enter(t, d));
    const struct classify_run run = {
        .scalars = sc,
        .gather = (const uint32_t *)(const void *)gather_list,
        .ones = (uint32_t *)(void *)ones,
        .wide = (uint32_t *)(void *)(ws + round_up(sizeof(struct classify_counts) * p->block_count)),
        .blocks = (uint64_t *)(void *)ws,
        .counts = (uint64_t *)(void *)count_words,
        .index = (uint32_t *)(void *)list,
        .values = wide_values,
        .count = (uint32_t)p->count,
        .words = (uint32_t)(p->bitmap_bytes / 4),
        .block_count = p->block_count,
        .wide_max = (uint32_t)p->wide_max,
    };
    CU(t, classify_launch(&run, d->sm_count, s->handle));
    return CUZK_OK;
}

cuzk_status cuda_gather_points(struct stream *s, struct task *t, const struct curve *c, enum group_id g, struct buffer *out, const struct buffer *points,
                               size_t points_offset, uint64_t count, const struct buffer *index, uint64_t index_count)
{
    const struct device *d = s->device;
    const size_t bytes = c->group[g]->aff_bytes;
    uint8_t *to, *from, *list;
    if (count >= 1u << 30 || index_count >= 1u << 30)
        return FAIL(t, CUZK_TOO_LARGE, "%llu of %llu points to gather; the CUDA backend takes fewer than 2^30", (unsigned long long)index_count, (unsigned long long)count);
    TRY(cuda_range(t, d, out, "the gathered points", 0, index_count * bytes, &to));
    TRY(cuda_range(t, d, points, "the points", points_offset, count * bytes, &from));
    TRY(cuda_range(t, d, index, "the list of points", 0, index_count * sizeof(uint32_t), &list));
    TRY(cuda_enter(t, d));
    CU(t, gather_points_launch(to, from, bytes, (uint32_t)count, (const uint32_t *)(const void *)list, (uint32_t)index_count, d->sm_count, s->handle));
    return CUZK_OK;
}

cuzk_status cuda_gather_bits(struct stream *s, struct task *t, struct buffer *out, const struct buffer *bits, size_t bits_offset, size_t bits_stride,
                             unsigned bitmap_count, const struct buffer *list, uint64_t count, uint32_t first)
{
    const struct device *d = s->device;
    uint8_t *to, *from, *index;
    if (bitmap_count > BIT_SUM_MAX) return FAIL(t, CUZK_INVALID_ARGUMENT, "%u bitmaps to gather from; at most %d", bitmap_count, BIT_SUM_MAX);
    if (count >= 1u << 30)
        return FAIL(t, CUZK_TOO_LARGE, "%llu bits to gather; the CUDA backend takes fewer than 2^30", (unsigned long long)count);
    TRY(cuda_range(t, d, out, "the gathered bitmaps", 0, bitmap_bytes(count) * bitmap_count, &to));
    TRY(cuda_range(t, d, bits, "the bitmaps", bits_offset, bits_stride * bitmap_count, &from));
    TRY(cuda_range(t, d, list, "the list of bits", 0, (size_t)count * sizeof(uint32_t), &index));
    TRY(task_poll(t));
    TRY(cuda_enter(t, d));
    const struct bits_gather g = {
        .out = (uint32_t *)(void *)to,
        .bits = (const uint32_t *)(const void *)from,
        .list = (const uint32_t *)(const void *)index,
        .stride_words = (uint32_t)(bits_stride / 4),
        .count = (uint32_t)count,
        .words = (uint32_t)(bitmap_bytes(count) / 4),
        .bitmap_count = bitmap_count,
        .first = first,
    };
    CU(t, gather_bits_launch(&g, d->sm_count, s->handle));
    return CUZK_OK;
}
