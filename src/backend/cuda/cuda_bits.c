/* Sums over bitmaps, values told apart, points and bits gathered: plans, what is enqueued, and the results.
 *
 * A sum over several bitmaps adds each point once: into the bucket of its pattern of bits, of which up to BIT_SUM_MAX bitmaps make one
 * together; the sum of a bitmap is that of all buckets whose pattern has its bit (the "four Russians").  The lowest bits of the point's
 * index go beside the pattern, so that there are many buckets of about the same load however the patterns are distributed; buckets with
 * much more than the mean are cut in pieces.  Sorting, cutting and adding are the MSM's.  For one bitmap, and where points are too few
 * for so many buckets, a list of each bitmap's points is cut in runs of equal length, and these are what is added.  Points are taken
 * in chunks that bound the workspace.  What is cheapest follows from the model below. */
#include "backend/cuda/cuda_device.h"

#include "backend/cuda/bits_kernels.h"
#include "backend/cuda/msm_whole_kernels.h"

#include <string.h>

struct sweep_kernels {
    int (*accumulate)(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream);
    int (*fold)(void *items, const void *buckets, uint32_t first, uint32_t end, uint32_t log2, void *stream);
    int (*rows)(void *rows, uint32_t stride, const struct bits_items *i, uint32_t bitmap_count, uint32_t parts, void *stream);
    int (*join)(void *jacobian, const void *rows, uint32_t stride, uint32_t count, uint32_t bitmap_count, void *stream);
    uint32_t blocks;     /* of an accumulation that an SM holds, */
    bool whole;          /* but where it has the shared memory for a whole point a thread */
    double additions_us; /* of an accumulation on an H200, measured in the MSM: an SM's share is 1 / 132 */
};

#define KERNELS(name, upper, whole, rate) \
    { msm_##name##_accumulate, bits_##name##_fold, bits_##name##_rows, bits_##name##_join, MSM_##upper##_ACC_BLOCKS, whole, rate }
static const struct sweep_kernels *kernels_of(const struct curve *c, enum group_id g)
{
    static const struct sweep_kernels list[2][2] = {
        { KERNELS(bn254_g1, BN254_G1, false, 6800), KERNELS(bn254_g2, BN254_G2, false, 1900) },
        { KERNELS(bls12_381_g1, BLS12_381_G1, false, 2960), KERNELS(bls12_381_g2, BLS12_381_G2, true, 1000) },
    };
    return &list[c->id == CURVE_BLS12_381][g];
}

static size_t round_up(size_t n) { return (n + 255) & ~(size_t)255; }

/* -- sums over bitmaps: plan -- */

enum {
    BUCKETS_MAX_LOG2 = 20,
    LOW_BITS = 9,              /* buckets of a partition of the sort, where there are enough */
    FOLD_MAX_LOG2 = 6,
    FOLD_THREADS_A_SM = 256,   /* the fold stops where it would leave fewer items than this */
    PARTS_MAX = 64,            /* blocks that sum a bitmap's items, */
    PARTS_A_SM = 2,            /* or so many on an SM that all of a sweep have; */
    PART_ROUNDS = 4,           /* a task of theirs adds as many at least */
    RUN_POINTS = 16,           /* of a list's run, where there are not enough to fill the device; */
    RUN_POINTS_MORE = 64,      /* where there are enough to fill it up to */
    WAVES_MAX = 4,             /* times, since another stream's kernels may hold a part of it; */
    WHOLE_WAVES_MAX = 2,       /* with a whole point a thread there are three times as many sums at once, which have to be added in the end */
    CHUNK_MIN = 1 << 14,       /* points */
};
/* What one sweep may take of a device: 1.5 GiB, a 32nd of its memory. */
#define WORKSPACE_MOST  ((uint64_t)3 << 29)
#define WORKSPACE_SHARE 32

/* One pass: some of the bitmaps over one chunk.  Where its arrays lie. */
struct pass {
    uint32_t count, bitmaps, low_bits, fold_log2;
    uint32_t tasks;             /* of a list */
    struct bits_items items;
    struct msm_group group;
    struct msm_sort sort;
    struct bits_lists lists;
    uint8_t *buckets, *piece_sums, *folded;
    size_t bytes;
};

static uint32_t lanes_of(const struct bit_sum_plan *p) { return p->group == GROUP_G2 ? 2 : 1; }
static size_t xyzz_bytes(const struct bit_sum_plan *p) { return 2 * p->curve->group[p->group]->aff_bytes; }

/* Blocks of an accumulation with a whole point a thread that an SM holds; 0: pairs of lanes, or points of G1. */
static uint32_t whole_blocks(const struct bit_sum_plan *p, const struct device *d)
{
    return kernels_of(p->curve, p->group)->whole ? msm_whole_blocks(d->shared_bytes) : 0;
}

/* Sums that an accumulation works on at once. */
static uint32_t resident(const struct bit_sum_plan *p, const struct device *d)
{
    if (whole_blocks(p, d)) return d->sm_count * whole_blocks(p, d) * MSM_WHOLE_THREADS;
    return d->sm_count * kernels_of(p->curve, p->group)->blocks * BITS_THREADS / lanes_of(p);
}

#define CARVE_BYTES(field, bytes)              \
    field = base ? (void *)(base + at) : NULL; \
    at += round_up(bytes)
#define CARVE(field, elements) CARVE_BYTES(field, (size_t)(elements) * sizeof *field)

/* What the sort alone needs lies where the buckets come to lie, and its digits where the list does. */
static void pass_patterns(struct pass *a, const struct bit_sum_plan *p, const struct device *d, uint8_t *base)
{
    const uint32_t log2 = p->bucket_log2, buckets = 1u << log2, count = a->count;
    struct msm_group *const g = &a->group;
    struct msm_sort *const s = &a->sort;
    size_t at = 0;
    a->low_bits = log2 - a->bitmaps;
    while (a->fold_log2 < FOLD_MAX_LOG2 && a->fold_log2 < a->low_bits && buckets >> (a->fold_log2 + 1) >= d->sm_count * FOLD_THREADS_A_SM) a->fold_log2++;
    g->windows = (struct msm_windows){ log2 + 1, 1, 1 };
    g->end = g->shared = 1;
    g->bucket_count = buckets;
    g->low_bits = log2 < LOW_BITS ? log2 : LOW_BITS;
    g->part_count = buckets >> g->low_bits;
    g->count = count;
    const uint64_t wanted = 4 * ((uint64_t)count >> log2);
    g->piece = (uint32_t)(wanted < 64 ? 64 : wanted > MSM_LOADS - 2 ? MSM_LOADS - 2 : wanted);
    g->piece_max = (uint32_t)(2 * (uint64_t)count / g->piece + 1);
    s->chunk_max = (uint32_t)(count / MSM_CHUNK + count / MSM_BIG_PART + 1);
    CARVE(s->counters, COUNTER_COUNT);
    CARVE(s->list, count);
    s->digits = s->list;
    CARVE(s->bucket_start, buckets + 1);
    CARVE(s->order, (size_t)buckets + g->piece_max);
    CARVE(s->pieces, g->piece_max);
    CARVE(s->heavy, g->piece_max);
    const size_t both = at;
    CARVE(s->load_cursor, MSM_LOADS);
    CARVE(s->part_start, g->part_count + 1);
    CARVE(s->part_cursor, g->part_count);
    CARVE(s->entry_point, count);
    CARVE(s->entry_low, count);
    CARVE(s->chunks, s->chunk_max);
    CARVE(s->chunk_cursor, buckets);
    const size_t sort_end = at;
    at = both;
    CARVE_BYTES(a->buckets, buckets * xyzz_bytes(p));
    CARVE_BYTES(a->piece_sums, g->piece_max * xyzz_bytes(p));
    a->folded = a->buckets;
    if (a->fold_log2) {
        CARVE_BYTES(a->folded, (buckets >> a->fold_log2) * xyzz_bytes(p));
    }
    a->bytes = at > sort_end ? at : sort_end;
    a->items = (struct bits_items){ a->folded, buckets >> a->fold_log2 >> 1, a->low_bits - a->fold_log2 };
}

static void pass_lists(struct pass *a, const struct bit_sum_plan *p, const struct device *d, uint8_t *base)
{
    const uint32_t count = a->count, most = resident(p, d), wanted = (count / RUN_POINTS + 31) / 32 * 32;
    struct bits_lists *const l = &a->lists;
    size_t at = 0;
    const uint32_t waves_max = whole_blocks(p, d) ? WHOLE_WAVES_MAX : WAVES_MAX, waves = count / RUN_POINTS_MORE / most;
    a->tasks = wanted < 32 ? 32 : wanted < most ? wanted : (waves < 1 ? 1 : waves < waves_max ? waves : waves_max) * most;
    l->words = (count + 31) / 32;
    l->block_count = (l->words + BITS_LIST_WORDS - 1) / BITS_LIST_WORDS;
    l->tasks = a->tasks;
    l->room = (count + a->tasks - 1) / a->tasks * a->tasks;
    a->group.count = count;
    a->group.piece_max = a->bitmaps * a->tasks;
    CARVE(a->sort.counters, COUNTER_COUNT);
    CARVE(l->kept, (size_t)a->bitmaps * l->words);
    CARVE(l->ones, (size_t)a->bitmaps * l->block_count);
    CARVE(l->all_ones, a->bitmaps);
    CARVE(a->sort.list, (size_t)a->bitmaps * l->room);
    CARVE(a->sort.pieces, a->group.piece_max);
    CARVE(a->sort.order, a->group.piece_max);
    CARVE_BYTES(a->piece_sums, a->group.piece_max * xyzz_bytes(p));
    a->bytes = at;
    a->items = (struct bits_items){ a->piece_sums, a->tasks, BITS_NO_BIT };
}

/* In  base  of its arrays; NULL: only counts and bytes */
static void pass_of(struct pass *a, const struct bit_sum_plan *p, const struct device *d, uint32_t count, uint32_t bitmaps, uint8_t *base)
{
    memset(a, 0, sizeof *a);
    a->count = count;
    a->bitmaps = bitmaps;
    if (p->pattern_bits) pass_patterns(a, p, d, base);
    else pass_lists(a, p, d, base);
}
#undef CARVE
#undef CARVE_BYTES

static uint32_t chunk_count(const struct bit_sum_plan *p) { return (uint32_t)((p->count + p->chunk_points - 1) / p->chunk_points); }
static uint32_t bitmaps_of(const struct bit_sum_plan *p, uint32_t first)
{
    const uint32_t left = p->bitmap_count - first;
    return p->pattern_bits && p->pattern_bits < left ? p->pattern_bits : left;
}

/* The workspace: the result, the rows that make it up, what a pass takes. */
static size_t result_bytes(const struct bit_sum_plan *p) { return p->bitmap_count * p->curve->group[p->group]->jac_bytes; }
static size_t rows_bytes(const struct bit_sum_plan *p) { return (size_t)p->bitmap_count * p->part_count * xyzz_bytes(p); }

void cuda_bit_sum_plan_as(struct bit_sum_plan *out, const struct device *d, const struct curve *c, enum group_id g, uint64_t count, unsigned bitmap_count,
                          const struct bit_sum_choice *choice)
{
    memset(out, 0, sizeof *out);
    out->curve = c;
    out->group = g;
    out->count = count;
    out->bitmap_count = bitmap_count;
    out->bitmap_bytes = bitmap_bytes(count);
    out->thread_count = 1;
    out->chunk_points = choice->chunk_points;
    out->pattern_bits = choice->pattern_bits;
    out->bucket_log2 = choice->bucket_log2;
    if (count == 0 || bitmap_count == 0) return;
    /* the last chunk and the last bitmaps may be fewer, which need not mean fewer bytes */
    const uint32_t chunks = chunk_count(out), sizes[2] = { (uint32_t)(count - (uint64_t)(chunks - 1) * out->chunk_points), chunks > 1 ? out->chunk_points : (uint32_t)count },
                   last = out->pattern_bits ? (bitmap_count - 1) / out->pattern_bits * out->pattern_bits : 0;
    size_t most = 0;
    for (unsigned k = 0; k < 4; k++) {
        struct pass pass;
        pass_of(&pass, out, d, sizes[k / 2], bitmaps_of(out, k % 2 ? 0 : last), NULL);
        if (pass.bytes > most) most = pass.bytes;
        if (k < 3) continue;
        const uint32_t wanted = pass.items.count / (BITS_THREADS / lanes_of(out) * PART_ROUNDS), fill = PARTS_A_SM * d->sm_count / (pass.bitmaps * chunks),
                       parts_max = fill > PARTS_MAX ? fill : PARTS_MAX;
        out->part_count = chunks * (wanted < 1 ? 1 : wanted < parts_max ? wanted : parts_max);
    }
    out->workspace_bytes = round_up(result_bytes(out)) + round_up(rows_bytes(out)) + most;
}

/* The model, for an H200; in microseconds. */
#define ADDITION_WAIT 3.0     /* one addition after another while most of the device waits */
#define LAUNCH_WAIT   4.0     /* from one kernel to the next */
#define SUM_COST      1.93    /* an addition of sums, in those of the accumulation: 1.45 as many products, at three quarters of the speed */
#define READ_POINT    14e-6   /* a point tested for infinity, bits read */
#define SORT_POINT    24e-6   /* a point cut into a digit and sorted */
#define LIST_POINT    6e-6    /* a point put into a list */
#define PATTERN_LAUNCHES 18
#define LIST_LAUNCHES    9

static double larger(double a, double b) { return a > b ? a : b; }

static double pass_cost(const struct pass *a, const struct bit_sum_plan *p, const struct device *d)
{
    const double rate = kernels_of(p->curve, p->group)->additions_us * d->sm_count / 132, points = a->count, tasks = resident(p, d);
    const double rows = SUM_COST * a->bitmaps * a->items.count / rate + ADDITION_WAIT * (2 * PART_ROUNDS + 16);
    if (p->pattern_bits) {
        const double buckets = a->group.bucket_count - (1u << a->low_bits), additions = points * (1 - 1.0 / (1u << a->bitmaps)), load = additions / buckets;
        const double fold = a->fold_log2 ? larger(SUM_COST * buckets / rate, ADDITION_WAIT * (1u << a->fold_log2)) : 0;
        /* the last tasks end one after another within the time that one takes */
        return larger((additions + tasks / 2 * load) / rate, ADDITION_WAIT * load) + points * (READ_POINT + SORT_POINT) + fold + rows +
               PATTERN_LAUNCHES * LAUNCH_WAIT;
    }
    const double additions = points * a->bitmaps / 2, load = additions / a->group.piece_max;
    return larger(additions / rate, ADDITION_WAIT * load) + points * READ_POINT + additions * LIST_POINT + rows + LIST_LAUNCHES * LAUNCH_WAIT;
}

static double sweep_cost(const struct bit_sum_plan *p, const struct device *d)
{
    struct pass pass;
    double cost = 0;
    for (uint32_t first = 0; first < p->bitmap_count; first += pass.bitmaps) {
        pass_of(&pass, p, d, p->chunk_points, bitmaps_of(p, first), NULL);
        cost += pass_cost(&pass, p, d);
    }
    return cost * chunk_count(p);
}

/* The fewest chunks with which a choice keeps within `most`, of equal size.  Returns whether it does. */
static bool plan_chunks(struct bit_sum_plan *out, const struct device *d, const struct curve *c, enum group_id g, uint64_t count, unsigned bitmap_count,
                        struct bit_sum_choice *choice, uint64_t most)
{
    for (uint64_t chunks = 1;; chunks += 1 + chunks / 8) {
        choice->chunk_points = (uint32_t)((count + chunks * 128 - 1) / (chunks * 128) * 128);
        cuda_bit_sum_plan_as(out, d, c, g, count, bitmap_count, choice);
        if (out->workspace_bytes <= most) return true;
        if (choice->chunk_points <= CHUNK_MIN) return false;
    }
}

cuzk_status cuda_bit_sum_plan(struct bit_sum_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g, uint64_t count,
                              unsigned bitmap_count)
{
    const uint64_t share = d->arena_bytes / WORKSPACE_SHARE, most = share < WORKSPACE_MOST ? share : WORKSPACE_MOST;
    struct bit_sum_choice choice = { 0, 0, 0 };
    struct bit_sum_plan plan;
    if (bitmap_count > BIT_SUM_MAX) return FAIL(t, CUZK_INVALID_ARGUMENT, "a sweep over %u bitmaps; at most %d", bitmap_count, BIT_SUM_MAX);
    if (count >= 1u << 30)
        return FAIL(t, CUZK_TOO_LARGE, "a sweep over %llu points; the CUDA backend takes fewer than 2^30", (unsigned long long)count);
    (void)!plan_chunks(out, d, c, g, count, bitmap_count, &choice, most); /* lists of the smallest chunks there always are */
    if (count == 0 || bitmap_count < 2) return CUZK_OK;
    double best = sweep_cost(out, d);
    for (unsigned groups = 1; groups < bitmap_count; groups++) {
        choice.pattern_bits = (bitmap_count + groups - 1) / groups;
        for (choice.bucket_log2 = choice.pattern_bits; choice.bucket_log2 <= BUCKETS_MAX_LOG2; choice.bucket_log2++) {
            if (!plan_chunks(&plan, d, c, g, count, bitmap_count, &choice, most)) continue;
            const double cost = sweep_cost(&plan, d);
            if (cost >= best) continue;
            best = cost;
            *out = plan;
        }
    }
    return CUZK_OK;
}

/* -- run -- */

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

/* Leaves `parts` rows of each bitmap of the pass, from `rows` on. */
static cuzk_status pass_run(struct stream *s, struct task *t, const struct bit_sum_plan *p, struct pass *a, const struct bits_pass *b, uint8_t *rows,
                            uint32_t parts)
{
    const struct device *d = s->device;
    const struct sweep_kernels *k = kernels_of(p->curve, p->group);
    if (p->pattern_bits) {
        CU(t, msm_launch_clear(&a->group, &a->sort, s->handle));
        CU(t, bits_launch_patterns(b, a->low_bits, &a->group, &a->sort, d->sm_count, s->handle));
        CU(t, msm_launch_order(&a->group, &a->sort, d->sm_count, s->handle));
    } else {
        CU(t, bits_launch_lists(b, &a->lists, &a->sort, s->handle));
    }
    CU(t, k->accumulate(a->buckets, a->piece_sums, b->points, &a->group, &a->sort, s->handle));
    if (a->fold_log2) /* all but the buckets of the pattern without a bit */
        CU(t, k->fold(a->folded, a->buckets, 1u << (a->low_bits - a->fold_log2), a->group.bucket_count >> a->fold_log2, a->fold_log2, s->handle));
    CU(t, k->rows(rows, p->part_count, &a->items, a->bitmaps, parts, s->handle));
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
    uint8_t *const jacobian = ws, *const rows = jacobian + round_up(result_bytes(p)), *const rest = rows + round_up(rows_bytes(p));
    const uint32_t chunks = chunk_count(p), parts = p->part_count / chunks;
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        const uint64_t first = (uint64_t)chunk * p->chunk_points, left = p->count - first;
        struct pass pass;
        for (uint32_t k = 0; k < p->bitmap_count; k += pass.bitmaps) {
            pass_of(&pass, p, d, left < p->chunk_points ? (uint32_t)left : p->chunk_points, bitmaps_of(p, k), rest);
            const struct bits_pass b = {
                .points = pts + first * group->aff_bytes,
                .bitmaps = (const uint32_t *)(const void *)(bits + k * p->bitmap_bytes + first / 8),
                .point_bytes = (uint32_t)group->aff_bytes,
                .stride_words = (uint32_t)(p->bitmap_bytes / 4),
                .count = pass.count,
                .bitmap_count = pass.bitmaps,
            };
            TRY(pass_run(s, t, p, &pass, &b, rows + ((size_t)k * p->part_count + chunk * parts) * xyzz_bytes(p), parts));
        }
    }
    CU(t, kernels_of(p->curve, p->group)->join(jacobian, rows, p->part_count, p->part_count, p->bitmap_count, s->handle));
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
