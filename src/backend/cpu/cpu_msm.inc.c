/* Multi-scalar multiplication, in neutral names.
 *
 * Takes  FE  prefix of the coordinate field      AFF  prefix of cpu_affine.inc.c's and of this file's names
 * Points are read in place; sums are affine throughout, so that each addition is about six products.
 *
 *   survey     bit lengths of the scalars, point blocks in parallel; chooses the window size
 *   split      zero scalars and points at infinity are dropped; scalars below 2^(c-1) ("narrow": ones, bits, small constants) become one
 *              digit, the others ("wide") are recoded
 *   for each group of windows, from the top:
 *     count, place   counting sort of the digits by bucket, windows x blocks in parallel
 *     trees          the sorted entries are cut into equal segments, whatever bucket they fall in; a segment is summed in chunks, each
 *                    bucket by a tree of pairs.  A bucket cut by a border leaves its first part in the segment's head.
 *     fold           sum d S_d through row and column sums of the buckets
 * A bucket that holds half of the points, equal points, or pairs that cancel cost no more than any others. */
#include "field/fe_names.h"
#include "backend/cpu/cpu_group_names.h"

typedef struct {
    fe_t x, y;
} run_point;

/* The part of a segment's first bucket that began before it. */
struct run_head {
    uint64_t bucket;
    bool used;
    run_point sum;
};
STATIC_ASSERT(sizeof(struct run_head) <= MSM_HEAD_BYTES, "the plan counts heads of this size");

struct run_state {
    const struct cpu_msm_args *args;
    const struct group *group;
    struct msm_layout layout;
    unsigned threads;
    uint64_t modulus[4];
    struct msm_block *blocks;
    uint64_t block_count;
    uint64_t *wide; /* 4 words each */
    int32_t *narrow;
    uint32_t *index;
    uint32_t *entries; /* point << 1 | negative */
    uint32_t *positions, *starts;
    uint8_t *sums; /* affine points; all bytes zero: infinity */
    /* the window size of this run, and the group of windows being summed */
    unsigned window_bits, window_count, first_window, group_count;
    uint64_t offset[4];
    uint64_t buckets; /* of a window */
    uint64_t *base;   /* [group_count + 1]: where each window's entries start */
    size_t segment_count;
    struct run_head *heads;
    struct g_jac *parts; /* [2 group_count]: rows, columns */
};

static inline uint8_t *run_scratch(const struct run_state *s, unsigned slot)
{
    return s->args->workspace + s->layout.scratch + (size_t)slot * s->layout.scratch_bytes;
}

/* The batch in a slot's scratch. */
static aff_batch run_batch(const struct run_state *s, unsigned slot)
{
    aff_batch b;
    b.capacity = s->layout.batch_pairs;
    b.pairs = (struct affine_pair *)(void *)(run_scratch(s, slot) + s->layout.batch);
    b.denominator = (fe_t *)(void *)(b.pairs + b.capacity);
    b.before = b.denominator + b.capacity;
    b.kind = (uint8_t *)(b.before + b.capacity);
    b.count = 0;
    return b;
}

static inline const uint8_t *run_scalar(const struct run_state *s, uint64_t i)
{
    return s->args->scalars + 32 * (s->args->gather ? (uint64_t)s->args->gather[i] : i);
}

/* Whether point i is infinity; almost always told by the first word. */
static inline bool run_absent(const struct run_state *s, uint64_t i)
{
    fe_t x, y;
    const uint8_t *p = s->args->points + i * sizeof(run_point);
    uint64_t word;
    memcpy(&word, p, sizeof word);
    if (word != 0) return false;
    fe_load(&x, p);
    fe_load(&y, p + sizeof x);
    return fe_is_zero(&x) && fe_is_zero(&y);
}

/* -- survey and split -- */

static void run_survey(void *context, size_t index, unsigned slot)
{
    const struct run_state *s = (const struct run_state *)context;
    struct msm_block *b = &s->blocks[index];
    const uint64_t n = s->args->plan->count;
    (void)slot;
    memset(b, 0, sizeof *b);
    b->first = n / s->block_count * index + n % s->block_count * index / s->block_count;
    b->last = n / s->block_count * (index + 1) + n % s->block_count * (index + 1) / s->block_count;
    for (uint64_t i = b->first; i < b->last; i++) {
        uint64_t k[4];
        memcpy(k, run_scalar(s, i), sizeof k);
        if ((k[0] | k[1] | k[2] | k[3]) == 0 || run_absent(s, i)) continue;
        if (!digits_is_below(k, s->modulus)) {
            b->invalid = true;
            return;
        }
        (void)digits_fold(k, s->modulus);
        b->bits[digits_bit_length(k)]++;
    }
}

static void run_split(void *context, size_t index, unsigned slot)
{
    const struct run_state *s = (const struct run_state *)context;
    struct msm_block *b = &s->blocks[index];
    uint64_t narrow = b->first, wide = b->last;
    (void)slot;
    for (uint64_t i = b->first; i < b->last; i++) {
        uint64_t k[4];
        memcpy(k, run_scalar(s, i), sizeof k);
        if ((k[0] | k[1] | k[2] | k[3]) == 0 || run_absent(s, i)) continue;
        const bool negative = digits_fold(k, s->modulus);
        if ((k[1] | k[2] | k[3]) == 0 && k[0] >> (s->window_bits - 1) == 0) {
            s->narrow[narrow] = negative ? -(int32_t)k[0] : (int32_t)k[0];
            s->index[narrow++] = (uint32_t)i;
        } else {
            s->index[--wide] = (uint32_t)i;
            digits_recode(&s->wide[4 * wide], k, s->offset, negative);
        }
    }
    b->narrow_count = narrow - b->first;
    b->wide_count = b->last - wide;
}

/* -- counting sort; task index: window of the group x block -- */

static void run_count(void *context, size_t index, unsigned slot)
{
    const struct run_state *s = (const struct run_state *)context;
    const unsigned w = s->first_window + (unsigned)(index / s->block_count);
    const struct msm_block *b = &s->blocks[index % s->block_count];
    uint32_t *const count = s->positions + index * s->buckets;
    (void)slot;
    memset(count, 0, s->buckets * sizeof *count);
    if (w == 0)
        for (uint64_t i = b->first; i < b->first + b->narrow_count; i++)
            count[(s->narrow[i] < 0 ? -s->narrow[i] : s->narrow[i]) - 1]++;
    for (uint64_t i = b->last - b->wide_count; i < b->last; i++) {
        const int32_t d = digits_get(&s->wide[4 * i], s->window_bits, w, s->window_count);
        if (d != 0) count[(d < 0 ? -d : d) - 1]++;
    }
}

/* Counts to positions; task index: window of the group. */
static void run_sum_counts(void *context, size_t index, unsigned slot)
{
    struct run_state *s = (struct run_state *)context;
    uint32_t *const start = s->starts + index * s->buckets;
    uint64_t at = 0;
    (void)slot;
    for (uint64_t d = 0; d < s->buckets; d++) {
        start[d] = (uint32_t)at;
        for (uint64_t k = 0; k < s->block_count; k++) {
            uint32_t *p = &s->positions[(index * s->block_count + k) * s->buckets + d];
            const uint32_t count = *p;
            *p = (uint32_t)at;
            at += count;
        }
    }
    s->base[index + 1] = at;
    memset(s->sums + index * s->buckets * sizeof(run_point), 0, s->buckets * sizeof(run_point));
}

static void run_place(void *context, size_t index, unsigned slot)
{
    const struct run_state *s = (const struct run_state *)context;
    const unsigned w = s->first_window + (unsigned)(index / s->block_count);
    const struct msm_block *b = &s->blocks[index % s->block_count];
    uint32_t *const position = s->positions + index * s->buckets, *const entries =
                                                                      s->entries +
                                                                      s->base[index / s->block_count];
    (void)slot;
    if (w == 0)
        for (uint64_t i = b->first; i < b->first + b->narrow_count; i++) {
            const int32_t d = s->narrow[i];
            entries[position[(d < 0 ? -d : d) - 1]++] = s->index[i] << 1 | (uint32_t)(d < 0);
        }
    for (uint64_t i = b->last - b->wide_count; i < b->last; i++) {
        const int32_t d = digits_get(&s->wide[4 * i], s->window_bits, w, s->window_count);
        if (d != 0) entries[position[(d < 0 ? -d : d) - 1]++] = s->index[i] << 1 | (uint32_t)(d < 0);
    }
}

/* -- trees -- */

/* Where the entries of a bucket of the group start; bucket may be one past the last. */
static inline uint64_t run_bucket_start(const struct run_state *s, uint64_t bucket)
{
    const uint64_t window = bucket >> (s->window_bits - 1);
    return s->base[window] + (window < s->group_count ? s->starts[bucket] : 0);
}

/* The bucket that holds entry at. */
static uint64_t run_bucket_of(const struct run_state *s, uint64_t at)
{
    uint64_t low = 0, high = s->group_count * s->buckets; /* start(low) <= at < start(high) */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (run_bucket_start(s, middle) <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Points of one bucket that still stand side by side in the scratch. */
struct run_row {
    uint8_t *out;
    uint32_t first, count;
};
STATIC_ASSERT(sizeof(struct run_row) <= MSM_ROW_BYTES, "the plan counts rows of this size");

static inline const uint8_t *run_entry_point(const struct run_state *s, uint32_t entry)
{
    return s->args->points + (uint64_t)(entry >> 1) * sizeof(run_point);
}

/* The first level of a bucket's tree: the entries, and what an earlier chunk left of the bucket (carry, or NULL). */
static void run_first_level(const struct run_state *s, aff_batch *batch, run_point *inner,
                            size_t *inner_count, struct run_row *rows, size_t *row_count,
                            const uint32_t *entries, uint64_t count, const run_point *carry, uint8_t *out)
{
    const uint64_t total = count + (carry != NULL);
    uint64_t i = 0;
    if (total == 1) {
        aff_copy(out, run_entry_point(s, entries[0]), entries[0] & 1);
        return;
    }
    run_point *to = inner + *inner_count;
    if (total > 2) {
        rows[*row_count].out = out;
        rows[*row_count].first = (uint32_t)*inner_count;
        rows[*row_count].count = (uint32_t)((total + 1) / 2);
        (*row_count)++;
        *inner_count += (total + 1) / 2;
    }
    if (carry != NULL) {
        aff_push(batch, carry, false, run_entry_point(s, entries[0]), entries[0] & 1,
                 total == 2 ? (void *)out : (void *)to++);
        i = 1;
    }
    for (; i + 1 < count; i += 2)
        aff_push(batch, run_entry_point(s, entries[i]), entries[i] & 1, run_entry_point(s, entries[i + 1]),
                 entries[i + 1] & 1, total == 2 ? (void *)out : (void *)to++);
    if (i < count) aff_copy((uint8_t *)to, run_entry_point(s, entries[i]), entries[i] & 1);
}

/* All further levels. */
static void run_other_levels(aff_batch *batch, run_point *inner, size_t inner_count, struct run_row *rows,
                             size_t row_count)
{
    while (row_count > 0) {
        size_t kept = 0;
        for (size_t r = 0; r < row_count; r++) {
            const struct run_row row = rows[r];
            const run_point *from = inner + row.first;
            if (row.count == 2) {
                aff_push(batch, &from[0], false, &from[1], false, row.out);
                continue;
            }
            const uint32_t half = row.count / 2;
            for (uint32_t i = 0; i < half; i++)
                aff_push(batch, &from[2 * i], false, &from[2 * i + 1], false, &inner[inner_count + i]);
            if (row.count & 1) inner[inner_count + half] = from[row.count - 1];
            rows[kept].out = row.out;
            rows[kept].first = (uint32_t)inner_count;
            rows[kept].count = half + (row.count & 1);
            inner_count += rows[kept++].count;
        }
        aff_add_pairs(batch);
        row_count = kept;
    }
}

/* Sums the entries of one segment by bucket. */
static void run_segment(void *context, size_t index, unsigned slot)
{
    const struct run_state *s = (const struct run_state *)context;
    const uint64_t total = s->base[s->group_count];
    const uint64_t first = total * index / s->segment_count, last = total * (index + 1) / s->segment_count;
    aff_batch batch = run_batch(s, slot);
    run_point *const inner = (run_point *)(void *)run_scratch(s, slot);
    run_point
        carry[2]; /* what is left of a bucket at a chunk's end: one is read while the other is written */
    unsigned next = 0;
    struct run_row *const rows = (struct run_row *)(void *)(run_scratch(s, slot) + s->layout.rows);
    struct run_head *const head = &s->heads[index];
    bool carried = false;
    head->used = false;
    if (first == last) return;

    uint64_t bucket = run_bucket_of(s, first), at = first;
    head->bucket = bucket;
    const bool begun = run_bucket_start(s, bucket) < first; /* by an earlier segment */
    while (at < last) {
        const uint64_t most = s->args->plan->chunk_entries - 1; /* and what was carried */
        const uint64_t chunk_end = last - at < most ? last : at + most;
        size_t inner_count = 0, row_count = 0;
        while (at < chunk_end) {
            const uint64_t bucket_end = run_bucket_start(s, bucket + 1);
            if (bucket_end <= at) {
                bucket++;
                continue;
            }
            const uint64_t end = bucket_end < chunk_end ? bucket_end : chunk_end;
            uint8_t *out = s->sums + bucket * sizeof(run_point);
            const bool done = end == bucket_end || end == last;
            if (!done) {
                out = (uint8_t *)&carry[next];
            } else if (begun && bucket == head->bucket) {
                out = (uint8_t *)&head->sum;
                head->used = true;
            }
            run_first_level(s, &batch, inner, &inner_count, rows, &row_count, s->entries + at, end - at,
                            carried ? &carry[next ^ 1] : NULL, out);
            carried = !done;
            at = end;
        }
        aff_add_pairs(&batch);
        run_other_levels(&batch, inner, inner_count, rows, row_count);
        next ^= 1;
    }
}

/* Adds the heads of the segments to their buckets. */
static void run_join_heads(struct run_state *s)
{
    const struct group *g = s->group;
    for (size_t i = 0; i < s->segment_count;) {
        if (!s->heads[i].used) {
            i++;
            continue;
        }
        const uint64_t bucket = s->heads[i].bucket;
        struct g_jac sum;
        struct g_aff whole;
        g->jac_from_aff(&sum, s->sums + bucket * sizeof(run_point));
        for (; i < s->segment_count && s->heads[i].used && s->heads[i].bucket == bucket; i++)
            g->jac_add_aff(&sum, &sum, &s->heads[i].sum);
        g->jac_to_aff(&whole, &sum);
        memcpy(s->sums + bucket * sizeof(run_point), &whole, sizeof(run_point));
    }
}

/* -- fold -- */

static inline void run_fold_push(aff_batch *batch, const run_point *p, const run_point *q, run_point *out)
{
    aff_push(batch, p, false, q, false, out);
    if (batch->count == batch->capacity) aff_add_pairs(batch);
}

/* Halves each of count vectors of length points, stride apart, until one point is left of each: vector v ends in out + v * out_stride.
 * in is read only; element i of vector v is in[v * stride + i * step]. */
static void run_fold_vectors(aff_batch *batch, run_point *out, const run_point *in, uint64_t count,
                             uint64_t stride, uint64_t length, uint64_t step, uint64_t out_stride,
                             uint64_t out_step)
{
    uint64_t half = length / 2;
    for (uint64_t i = 0; i < half; i++)
        for (uint64_t v = 0; v < count; v++)
            run_fold_push(batch, &in[v * stride + i * step], &in[v * stride + (i + half) * step],
                          &out[v * out_stride + i * out_step]);
    aff_add_pairs(batch);
    while (half > 1) {
        half /= 2;
        for (uint64_t i = 0; i < half; i++)
            for (uint64_t v = 0; v < count; v++)
                run_fold_push(batch, &out[v * out_stride + i * out_step],
                              &out[v * out_stride + (i + half) * out_step],
                              &out[v * out_stride + i * out_step]);
        aff_add_pairs(batch);
    }
}

/* With bucket d - 1 = row * columns + column:  sum d S_d = columns sum row R_row + sum R_row + sum column C_column.
 * Task index: window of the group, its rows or its columns. */
static void run_fold(void *context, size_t index, unsigned slot)
{
    const struct run_state *s = (const struct run_state *)context;
    const struct group *g = s->group;
    const size_t window = index / 2;
    const bool by_row = index % 2 == 0;
    struct g_jac *const part = &s->parts[index], run;
    const unsigned column_bits = (s->window_bits - 1) / 2;
    const uint64_t columns = (uint64_t)1 << column_bits, rows = s->buckets >> column_bits;
    const run_point *const sums = (const run_point *)(const void *)s->sums + window * s->buckets;
    run_point *const scratch = (run_point *)(void *)run_scratch(s, slot);
    aff_batch batch = run_batch(s, slot);

    g->jac_set_inf(part);
    if (s->base[window] == s->base[window + 1]) return;
    g->jac_set_inf(&run);
    if (by_row) {
        const run_point *row_sums = sums;
        uint64_t stride = 1;
        if (columns > 1) {
            stride = columns / 2;
            run_fold_vectors(&batch, scratch, sums, rows, columns, columns, 1, stride, 1);
            row_sums = scratch;
        }
        for (uint64_t r = rows - 1; r > 0; r--) {
            g->jac_add_aff(&run, &run, &row_sums[r * stride]);
            g->jac_add(part, part, &run);
        }
        g->jac_add_aff(&run, &run, &row_sums[0]);
        for (unsigned i = 0; i < column_bits; i++) g->jac_dbl(part, part);
        g->jac_add(part, part, &run);
    } else if (columns > 1) {
        const run_point *column_sums = sums;
        if (rows > 1) {
            run_fold_vectors(&batch, scratch, sums, columns, 1, rows, columns, 1, columns);
            column_sums = scratch;
        }
        for (uint64_t c = columns - 1; c > 0; c--) {
            g->jac_add_aff(&run, &run, &column_sums[c]);
            g->jac_add(part, part, &run);
        }
    }
}

/* -- all of it -- */

/* Windows [first, first + count) into parts. */
static cuzk_status run_window_group(const struct cpu_team *team, struct run_state *s, unsigned first,
                                    unsigned count)
{
    s->first_window = first;
    s->group_count = count;
    const size_t tasks = (size_t)count * (size_t)s->block_count;
    TRY(cpu_run(team, tasks, run_count, s));
    TRY(cpu_run(team, count, run_sum_counts, s));
    s->base[0] = 0;
    for (unsigned w = 0; w < count; w++) s->base[w + 1] += s->base[w];
    TRY(cpu_run(team, tasks, run_place, s));

    const uint64_t total = s->base[count], chunks = total / s->args->plan->chunk_entries + 1;
    const uint64_t most = (uint64_t)MSM_SEGMENTS_PER_THREAD * s->threads;
    s->segment_count = (size_t)(s->threads == 1 ? 1 : chunks < most ? chunks : most);
    TRY(cpu_run(team, s->segment_count, run_segment, s));
    run_join_heads(s);
    return cpu_run(team, 2 * (size_t)count, run_fold, s);
}

static cuzk_status run_all(const struct cpu_team *team, struct g_jac *out, const struct cpu_msm_args *args)
{
    const struct msm_plan *p = args->plan;
    const struct group *g = p->curve->group[p->group];
    struct run_state s;
    g->jac_set_inf(out);
    if (p->count == 0) return CUZK_OK;

    s.args = args;
    s.group = g;
    s.threads = p->thread_count;
    msm_layout(&s.layout, p);
    memcpy(s.modulus, p->curve->fr.modulus.w, sizeof s.modulus);
    uint8_t *const ws = args->workspace;
    s.wide = (uint64_t *)(void *)(ws + s.layout.wide);
    s.narrow = (int32_t *)(void *)(ws + s.layout.narrow);
    s.index = (uint32_t *)(void *)(ws + s.layout.index);
    s.blocks = (struct msm_block *)(void *)(ws + s.layout.blocks);
    s.entries = (uint32_t *)(void *)(ws + s.layout.entries);
    s.positions = (uint32_t *)(void *)(ws + s.layout.positions);
    s.starts = (uint32_t *)(void *)(ws + s.layout.starts);
    s.sums = ws + s.layout.sums;
    s.heads = (struct run_head *)(void *)(ws + s.layout.heads);
    s.base = (uint64_t *)(void *)(ws + s.layout.bases);
    s.parts = (struct g_jac *)(void *)(ws + s.layout.parts);
    s.block_count = p->block_count;
    TRY(cpu_run(team, (size_t)s.block_count, run_survey, &s));

    uint64_t at_least[257] = { 0 };
    unsigned bits = 0;
    for (uint64_t k = 0; k < s.block_count; k++) {
        if (s.blocks[k].invalid)
            return FAIL(team->task, CUZK_INVALID_ARGUMENT,
                        "a scalar of a multi-scalar multiplication is not below the group's order");
        for (unsigned b = 1; b < 257; b++) at_least[b] += s.blocks[k].bits[b];
    }
    for (unsigned b = 256; b-- > 0;) at_least[b] += at_least[b + 1];
    while (bits < 256 && at_least[bits + 1] != 0) bits++;
    if (bits == 0) return CUZK_OK;

    s.window_bits = msm_plan_window(at_least, bits, p->window_bits, NULL);
    s.window_count = digits_windows(bits, s.window_bits);
    s.buckets = (uint64_t)1 << (s.window_bits - 1);
    digits_offset(s.offset, s.window_bits, s.window_count);
    TRY(cpu_run(team, (size_t)s.block_count, run_split, &s));

    /* Groups of windows from the top, as many as the plan's bytes hold: all but window 0 have the wide scalars only. */
    const uint64_t entry_capacity = p->count * p->window_group,
                   bucket_capacity = (uint64_t)p->window_group << (p->window_bits - 1);
    const uint64_t wide = at_least[s.window_bits];
    unsigned left = wide ? s.window_count : 1, done = 0;
    const unsigned all = left;
    while (left > 0) {
        uint64_t count = bucket_capacity >> (s.window_bits - 1);
        if (wide != 0 && count > entry_capacity / wide) count = entry_capacity / wide;
        if (count > s.layout.max_windows) count = s.layout.max_windows;
        if (count >= left) {
            count = left;
            if (count > 1 && at_least[1] + (count - 1) * wide > entry_capacity)
                count--; /* window 0 in a group of its own */
        }
        TRY(run_window_group(team, &s, left - (unsigned)count, (unsigned)count));
        for (unsigned w = (unsigned)count; w-- > 0;) {
            for (unsigned i = 0; i < s.window_bits; i++) g->jac_dbl(out, out);
            g->jac_add(out, out, &s.parts[2 * w]);
            g->jac_add(out, out, &s.parts[2 * w + 1]);
        }
        left -= (unsigned)count;
        done += (unsigned)count;
        task_progress(team->task, "msm", done, all);
    }
    return CUZK_OK;
}

#include "field/fe_unnames.h"
#include "backend/cpu/cpu_group_unnames.h"
