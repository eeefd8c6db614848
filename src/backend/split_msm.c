/* Sums over one key's points for several witnesses that are mostly 0 and 1, made of a backend's operations.
 *
 *   classify       of each witness: a bitmap of its ones, a list of its wide values
 *   gather_points  the points of these
 *   msm            of them, one witness after another in the same bytes
 *   bit_sum        all bitmaps in one sweep over the points
 * Lists have the plan's length, filled up with zeros and infinity, so that the host need not know their counts before the end. */
#include "backend/backend.h"

#include "base/arena.h"
#include "base/bytes.h"

#include <string.h>

enum { IN_FLIGHT = 8 /* sums enqueued before they are waited for: a stream has places for some more results */ };

static size_t place(size_t *at, size_t bytes)
{
    const size_t here = *at;
    *at += arena_round(bytes);
    return here;
}

cuzk_status split_msm_plan(struct split_plan *out, struct task *t, const struct backend *b, const struct device *d, const struct curve *c,
                           enum group_id g, uint64_t count, unsigned batch, uint64_t wide_max)
{
    struct msm_plan whole;
    size_t at = 0;
    if (batch == 0 || batch > BIT_SUM_MAX)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "sums for %u witnesses at once; at most %d can share a sweep", batch, BIT_SUM_MAX);
    memset(out, 0, sizeof *out);
    if (wide_max > count) wide_max = count;
    out->curve = c;
    out->group = g;
    out->count = count;
    out->batch = batch;
    TRY(b->msm_plan(&out->msm, t, d, c, g, wide_max));
    if (wide_max < count) {
        struct task other; /* that the plain sum does not fit is no error */
        task_init(&other);
        other.pool = t->pool;
        out->split = b->msm_plan(&whole, &other, d, c, g, count) != CUZK_OK || split_pays(&whole, &out->msm, b->value_cost, b->call_cost);
        if (!out->split) out->msm = whole;
    }
    if (!out->split) {
        out->workspace_bytes = out->msm.workspace_bytes;
        return CUZK_OK;
    }
    TRY(b->classify_plan(&out->classify, t, d, count, wide_max));
    TRY(b->bit_sum_plan(&out->bits, t, d, c, g, count, batch));
    out->counts_at = place(&at, sizeof(struct classify_counts) * batch);
    out->bitmaps_at = place(&at, out->bits.bitmap_bytes * batch);
    out->index_at = place(&at, out->classify.index_bytes);
    out->values_at = place(&at, out->classify.values_bytes);
    out->points_at = place(&at, (size_t)wide_max * c->group[g]->aff_bytes);
    out->run_at = at;
    size_t run = out->msm.workspace_bytes > out->bits.workspace_bytes ? out->msm.workspace_bytes : out->bits.workspace_bytes;
    if (out->classify.workspace_bytes > run) run = out->classify.workspace_bytes;
    out->workspace_bytes = at + run;
    return CUZK_OK;
}

/* One witness: its bitmap, and the sum over its wide values. */
static cuzk_status split_one(struct stream *s, struct task *t, const struct backend *b, const struct split_plan *p, unsigned k, struct g_jac *out,
                             const struct buffer *points, size_t points_offset, const struct buffer *scalars, size_t scalars_offset,
                             const struct buffer *gather, const struct buffer *workspace)
{
    const size_t point_bytes = p->curve->group[p->group]->aff_bytes;
    struct buffer counts = buffer_piece(workspace, p->counts_at + k * sizeof(struct classify_counts), sizeof(struct classify_counts)),
                  bitmap = buffer_piece(workspace, p->bitmaps_at + k * p->bits.bitmap_bytes, p->bits.bitmap_bytes),
                  index = buffer_piece(workspace, p->index_at, p->classify.index_bytes),
                  values = buffer_piece(workspace, p->values_at, p->classify.values_bytes),
                  wide = buffer_piece(workspace, p->points_at, (size_t)p->classify.wide_max * point_bytes),
                  run = buffer_piece(workspace, p->run_at, p->workspace_bytes - p->run_at);
    TRY(b->classify(s, t, &p->classify, &counts, &bitmap, &index, &values, scalars, scalars_offset, gather, &run));
    TRY(b->gather_points(s, t, p->curve, p->group, &wide, points, points_offset, p->count, &index, p->classify.wide_max));
    return b->msm(s, t, &p->msm, out, &wide, 0, &values, 0, NULL, &run);
}

static cuzk_status split_all(struct stream *s, struct task *t, const struct backend *b, const struct split_plan *p, struct g_jac *ones,
                             struct g_jac *wide, const struct buffer *points, size_t points_offset, const struct buffer *scalars,
                             size_t scalars_offset, const struct buffer *gather, const struct buffer *workspace)
{
    struct classify_counts counts[BIT_SUM_MAX];
    const struct buffer bitmaps = buffer_piece(workspace, p->bitmaps_at, p->bits.bitmap_bytes * p->batch);
    struct buffer run = buffer_piece(workspace, p->run_at, p->workspace_bytes - p->run_at);
    for (unsigned k = 0; k < p->batch; k++) {
        if (k != 0 && k % IN_FLIGHT == 0) TRY(b->stream_sync(s, t));
        TRY(split_one(s, t, b, p, k, &wide[k], points, points_offset, &scalars[k], scalars_offset, gather, workspace));
    }
    TRY(b->bit_sum(s, t, &p->bits, ones, points, points_offset, &bitmaps, 0, &run));
    TRY(b->download(s, t, counts, workspace, p->counts_at, p->batch * sizeof *counts));
    TRY(b->stream_sync(s, t));
    for (unsigned k = 0; k < p->batch; k++)
        if (counts[k].wide > p->classify.wide_max)
            return FAIL(t, CUZK_TOO_LARGE, "%llu values of a witness are neither 0 nor 1; the plan has room for %llu",
                        (unsigned long long)counts[k].wide, (unsigned long long)p->classify.wide_max);
    return CUZK_OK;
}

cuzk_status split_msm(struct stream *s, struct task *t, const struct backend *b, const struct split_plan *p, struct g_jac *out,
                      const struct buffer *points, size_t points_offset, const struct buffer *scalars, size_t scalars_offset,
                      const struct buffer *gather, struct buffer *workspace)
{
    const struct group *g = p->curve->group[p->group];
    struct g_jac ones[BIT_SUM_MAX], wide[BIT_SUM_MAX];
    cuzk_status status = CUZK_OK;
    if (!p->split) {
        for (unsigned k = 0; k < p->batch; k++) {
            if (k != 0 && k % IN_FLIGHT == 0) TRY(b->stream_sync(s, t));
            TRY(b->msm(s, t, &p->msm, &out[k], points, points_offset, &scalars[k], scalars_offset, gather, workspace));
        }
        return b->stream_sync(s, t);
    }
    if (workspace->bytes < p->workspace_bytes)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a split sum of %zu bytes in a workspace of %zu", p->workspace_bytes, workspace->bytes);
    status = split_all(s, t, b, p, ones, wide, points, points_offset, scalars, scalars_offset, gather, workspace);
    if (status == CUZK_OK)
        for (unsigned k = 0; k < p->batch; k++) g->jac_add(&out[k], &ones[k], &wide[k]);
    else
        (void)b->stream_sync(s, t); /* what is under way writes to places of this call */
    wipe(ones, sizeof ones);
    wipe(wide, sizeof wide);
    return status;
}
