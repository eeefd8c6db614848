/* How a multi-scalar multiplication will be done: the CPU's cost model and workspace.
 *
 * The sum over a window is: digits sorted by bucket, each bucket summed by a tree of affine additions (entries - buckets additions),
 * then the weighted sum of buckets through row and column sums (twice the buckets).  All of these share inversions, so they cost the
 * same; the running sums over the rows and columns are Jacobian and cost about 4.5 of them each. */
#include "msm/msm_plan.h"

#include "base/arena.h"
#include "msm/digits.h"

#define MAX_WINDOW        20
#define GROUP_ENTRY_BYTES ((uint64_t)128 << 20) /* sorted entries of a window group; at least one window */
#define MAX_GROUP         128                   /* windows; small ones may be many */
#define BLOCKS_PER_THREAD 2
#define MIN_BLOCK         4096 /* points: below this a task is not worth its start */
#define CHUNK_BYTES \
    ((size_t)384 << 10) /* points that one batch of a tree reads: half of a second-level cache */

unsigned msm_plan_window(const uint64_t at_least[257], unsigned bits, unsigned max_window, double *additions)
{
    unsigned best = 1;
    double best_cost = 0;
    for (unsigned c = 2; c <= max_window; c++) {
        const double buckets = (double)((uint64_t)1 << (c - 1)), side = (double)((uint64_t)1 << (c / 2));
        double cost = 1.5 * bits; /* doublings of the last step */
        for (unsigned w = 0; w < digits_windows(bits, c); w++) {
            const double entries = (double)at_least[c * w];
            if (entries == 0) continue;
            cost += entries + (entries < buckets ? entries : buckets) + 9 * side;
        }
        if (best == 1 || cost < best_cost) {
            best = c;
            best_cost = cost;
        }
    }
    if (additions) *additions = best_cost;
    return best;
}

void msm_plan_cpu(struct msm_plan *out, const struct curve *c, enum group_id g, uint64_t count,
                  unsigned thread_count)
{
    uint64_t at_least[257];
    out->curve = c;
    out->group = g;
    out->count = count;
    out->thread_count = thread_count ? thread_count : 1;
    out->accumulation = MSM_ANY;
    out->scalar_bits = c->fr.bits - 1;
    for (unsigned b = 0; b < 257; b++) at_least[b] = b <= out->scalar_bits ? count : 0;
    out->window_bits = msm_plan_window(at_least, out->scalar_bits, MAX_WINDOW, &out->additions);
    out->window_count = digits_windows(out->scalar_bits, out->window_bits);

    uint64_t group = count ? GROUP_ENTRY_BYTES / (4 * count) : 1;
    if (group < 2) group = 2;
    out->window_group = group < out->window_count ? (unsigned)group : out->window_count;

    const uint64_t most = (uint64_t)out->thread_count * BLOCKS_PER_THREAD;
    out->block_count = count / MIN_BLOCK + 1 < most ? count / MIN_BLOCK + 1 : most;
    if (out->thread_count == 1) out->block_count = 1;

    out->chunk_entries = (uint32_t)(CHUNK_BYTES / c->group[g]->aff_bytes);

    struct msm_layout layout;
    msm_layout(&layout, out);
    out->workspace_bytes = layout.total_bytes;
}

static size_t place(size_t *at, size_t bytes)
{
    const size_t here = *at;
    *at += arena_round(bytes);
    return here;
}

void msm_layout(struct msm_layout *out, const struct msm_plan *p)
{
    const size_t aff_bytes = p->curve->group[p->group]->aff_bytes, n = (size_t)p->count;
    const size_t buckets = (size_t)p->window_group << (p->window_bits - 1);
    size_t at = 0;
    out->wide = place(&at, 32 * n);
    out->narrow = place(&at, sizeof(int32_t) * n);
    out->index = place(&at, sizeof(uint32_t) * n);
    out->blocks = place(&at, sizeof(struct msm_block) * p->block_count);
    out->entries = place(&at, sizeof(uint32_t) * n * p->window_group);
    out->positions = place(&at, sizeof(uint32_t) * buckets * p->block_count);
    out->starts = place(&at, sizeof(uint32_t) * buckets);
    out->sums = place(&at, aff_bytes * buckets);
    out->max_windows = MAX_GROUP < 2 * p->window_group ? 2 * p->window_group : MAX_GROUP;
    out->heads = place(&at, (size_t)MSM_HEAD_BYTES * MSM_SEGMENTS_PER_THREAD * p->thread_count);
    out->bases = place(&at, sizeof(uint64_t) * (out->max_windows + 1));
    out->parts = place(&at, sizeof(struct g_jac) * 2 * out->max_windows);

    /* A tree's inner points (at most 1.125 times its entries) or the row and column sums of one window (half of its buckets). */
    const size_t tree = aff_bytes * ((size_t)p->chunk_entries + p->chunk_entries / 4 + 16),
                 fold = (aff_bytes << (p->window_bits - 1)) / 2;
    out->batch_pairs = p->chunk_entries / 2 + 1;
    out->batch = arena_round(tree > fold ? tree : fold);
    out->rows = out->batch + arena_round(out->batch_pairs * (MSM_PAIR_BYTES + aff_bytes + 1));
    out->scratch_bytes = out->rows + arena_round(out->batch_pairs * MSM_ROW_BYTES);
    out->scratch = place(&at, out->scratch_bytes * p->thread_count);
    out->total_bytes = at;
}
