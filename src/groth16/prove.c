/* Proving: the pipeline from a witness to the three points of a proof.
 *
 *   1 witness      every value canonical, as many as the circuit has variables
 *   2 constraints  a = A w, b = B w                                              backend.eval, or the circuit itself
 *   3 quotient     a, b -> the scalars of the H query                            h_poly.c, backend.quotient
 *   4 sums         A, B1, B2, L over the witness, H over the quotient            msm_set.c, backend.msm
 *   5 assembly     fresh r, s; the three points                                  assemble.c
 *
 * docs/maths.md has the formulas.  Nothing here depends on the curve or on where the work is done. */
#include "groth16/prove.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "groth16/h_poly.h"
#include <string.h>

#define PIECE_BYTES \
    ((size_t)96 << 20) /* of points that are decoded at once: docs/decisions/0002-points-in-the-file.md */

/* The pieces of the block that a plan describes. */
struct workspace {
    struct buffer block, a, b, values, points, sums;
};

static struct buffer piece(const struct buffer *block, size_t offset, size_t bytes)
{
    struct buffer b = *block;
    b.data = block->data + offset;
    b.bytes = bytes;
    b.flags |= BUFFER_BORROWED;
    return b;
}

static cuzk_status workspace_take(struct workspace *ws, struct task *t, const struct groth16_plan *p)
{
    const size_t v = p->vector_bytes;

    TRY(p->backend->buffer_take(&ws->block, t, p->device, MEM_DEVICE, p->block_bytes, BUFFER_SECRET));
    ws->a = piece(&ws->block, 0, v);
    ws->b = piece(&ws->block, v, v);
    ws->values = piece(&ws->block, 2 * v, p->values_workspace_bytes);
    ws->points = piece(&ws->block, v, p->points_bytes);
    ws->sums = piece(&ws->block, v + p->points_bytes, p->sums_workspace_bytes);
    return CUZK_OK;
}

/* -- 1 ----------------------------------------------------------------------------------------------------------------- */

static cuzk_status check_witness(struct task *t, const struct groth16_key *key, const struct witness *w)
{
    if (w->curve != key->curve)
        return FAIL(t, CUZK_MISMATCH, "the witness is over %s, the key over %s", w->curve->name,
                    key->curve->name);
    if (w->count != key->variable_count)
        return FAIL(
            t, CUZK_MISMATCH,
            "the witness has %llu values, the key's circuit %llu variables; they are of different circuits",
            (unsigned long long)w->count, (unsigned long long)key->variable_count);
    return witness_check(t, w);
}

/* -- 2 ----------------------------------------------------------------------------------------------------------------- */

static cuzk_status evaluate(struct task *t, const struct groth16_key *key, const struct groth16_plan *p,
                            struct stream *stream, const struct witness *w, struct workspace *ws)
{
    const struct constraints *c = key->constraints;

    if (c == NULL) {
        TRY(p->backend->eval(stream, t, &p->eval_a, &ws->a, &key->a, w, &ws->values));
        TRY(p->backend->eval(stream, t, &p->eval_b, &ws->b, &key->b, w, &ws->values));
        return p->backend->stream_sync(stream, t);
    }
    const size_t used = key->row_count * sizeof(struct fr),
                 rest = key->domain.size * sizeof(struct fr) - used;
    memset(ws->a.data + used, 0, rest);
    memset(ws->b.data + used, 0, rest);
    return c->evaluate(c->circuit, t, (struct fr *)(void *)ws->a.data, (struct fr *)(void *)ws->b.data, w);
}

/* -- 4 ----------------------------------------------------------------------------------------------------------------- */

/* Points [first, first + count) of a row times their scalars. */
static cuzk_status sum_piece(struct task *t, struct g_jac *out, const struct groth16_key *key,
                             const struct groth16_plan *p, enum groth16_query q, uint64_t first,
                             uint64_t count, struct stream *stream, const struct witness *w,
                             struct workspace *ws)
{
    const struct msm_row *row = &p->rows[q];
    const size_t point_bytes = key->curve->group[row->group]->aff_bytes;
    const struct buffer scalars = row->scalars == MSM_QUOTIENT ? ws->a : buffer_borrow(p->device, w->values);
    const uint32_t *const gather = row->gather != NULL ? row->gather + first : NULL;
    struct buffer points;

    if (key->encoded) {
        TRY(groth16_key_points(t, key, q, first, count, ws->points.data));
        points = ws->points;
    } else {
        points =
            buffer_borrow(p->device, span_of(row->points.data + first * point_bytes, count * point_bytes));
    }
    TRY(p->backend->msm(stream, t, count == p->piece[q] ? &p->msm[q] : &p->last[q], out, &points, 0, &scalars,
                        32 * (gather != NULL ? 0 : row->first + first), gather, &ws->sums));
    return p->backend->stream_sync(stream, t);
}

static cuzk_status sum_row(struct task *t, struct g_jac *out, const struct groth16_key *key,
                           const struct groth16_plan *p, enum groth16_query q, struct stream *stream,
                           const struct witness *w, struct workspace *ws)
{
    const struct msm_row *row = &p->rows[q];
    const struct group *g = key->curve->group[row->group];
    struct g_jac part;
    cuzk_status status = CUZK_OK;

    g->jac_set_inf(out);
    for (uint64_t first = 0; first < row->count; first += p->piece[q]) {
        const uint64_t left = row->count - first, count = left < p->piece[q] ? left : p->piece[q];
        TRY_GOTO(out, sum_piece(t, &part, key, p, q, first, count, stream, w, ws));
        g->jac_add(out, out, &part);
    }
out:
    wipe(&part, sizeof part);
    return status;
}

/* -- the pipeline ------------------------------------------------------------------------------------------------------ */

static double lap(uint64_t *since_ns)
{
    const double ms = clock_ms_since(*since_ns);
    *since_ns = clock_now_ns();
    return ms;
}

cuzk_status groth16_prove_sums(struct task *t, struct g_jac sums[QUERY_COUNT], const struct groth16_key *key,
                               const struct groth16_plan *plan, const struct witness *w,
                               struct groth16_timings *timings)
{
    const struct backend *be = plan->backend;
    struct stream *stream = NULL;
    struct workspace ws;
    cuzk_status status;
    uint64_t clock = clock_now_ns();

    memset(&ws, 0, sizeof ws);
    TRY_GOTO(out, check_witness(t, key, w));
    TRY_GOTO(out, workspace_take(&ws, t, plan));
    TRY_GOTO(out, be->stream_open(&stream, t, plan->device));
    timings->witness_ms = lap(&clock);

    TRY_GOTO(out, evaluate(t, key, plan, stream, w, &ws));
    timings->eval_ms = lap(&clock);

    if (key->layout == GROTH16_ZKEY)
        TRY_GOTO(out, h_poly_snarkjs(t, &plan->quotient, be, stream, &ws.a, &ws.a, &ws.b, &ws.values));
    else
        TRY_GOTO(out, h_poly_bellman(t, &plan->quotient, be, stream, &ws.a, &ws.a, &ws.b, &ws.values));
    TRY_GOTO(out, be->stream_sync(stream, t));
    timings->quotient_ms = lap(&clock);

    for (int q = 0; q < QUERY_COUNT; q++) {
        TRY_GOTO(out, task_poll(t));
        task_progress(t, "sums", (uint64_t)q, QUERY_COUNT);
        TRY_GOTO(out, sum_row(t, &sums[q], key, plan, q, stream, w, &ws));
        timings->msm_ms[q] = lap(&clock);
    }
    task_progress(t, "sums", QUERY_COUNT, QUERY_COUNT);
out:
    if (stream != NULL) be->stream_close(stream);
    be->buffer_give(&ws.block);
    return status;
}

cuzk_status groth16_prove(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                          const struct groth16_plan *plan, const struct witness *w,
                          struct groth16_timings *timings)
{
    struct g_jac sums[QUERY_COUNT];
    struct groth16_blinding blinding;
    cuzk_status status;

    TRY_GOTO(out, groth16_prove_sums(t, sums, key, plan, w, timings));
    uint64_t clock = clock_now_ns();
    TRY_GOTO(out, assemble_draw(t, &blinding, key->curve));
    assemble(out, key, sums, &blinding);
    timings->assemble_ms = lap(&clock);
out:
    wipe(&blinding, sizeof blinding);
    wipe(sums, sizeof sums);
    return status;
}

/* -- the plan ---------------------------------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* How query q is cut into pieces, evenly, so that the last is about as long as the others. */
static uint64_t piece_of(const struct groth16_key *key, const struct msm_row *row)
{
    const uint64_t most = PIECE_BYTES / key->curve->group[row->group]->aff_bytes,
                   pieces = (row->count + most - 1) / most;

    return !key->encoded || pieces == 0 ? row->count : (row->count + pieces - 1) / pieces;
}

static cuzk_status plan_sums(struct groth16_plan *out, struct task *t, const struct groth16_key *key)
{
    for (int q = 0; q < QUERY_COUNT; q++) {
        const struct msm_row *row = &out->rows[q];
        const uint64_t piece = piece_of(key, row),
                       last = piece == 0 ? 0 : row->count - (row->count - 1) / piece * piece;
        out->piece[q] = piece;
        TRY(out->backend->msm_plan(&out->msm[q], t, out->device, key->curve, row->group, piece));
        TRY(out->backend->msm_plan(&out->last[q], t, out->device, key->curve, row->group, last));
        out->sums_workspace_bytes =
            larger(out->sums_workspace_bytes, arena_round(out->msm[q].workspace_bytes));
        out->sums_workspace_bytes =
            larger(out->sums_workspace_bytes, arena_round(out->last[q].workspace_bytes));
        if (key->encoded)
            out->points_bytes =
                larger(out->points_bytes, arena_round(piece * key->curve->group[row->group]->aff_bytes));
    }
    return CUZK_OK;
}

static cuzk_status plan_values(struct groth16_plan *out, struct task *t, const struct groth16_key *key)
{
    TRY(h_poly_plan(&out->quotient, t, key, out->backend, out->device));
    out->values_workspace_bytes = out->quotient.workspace_bytes;
    if (key->constraints == NULL) {
        TRY(out->backend->eval_plan(&out->eval_a, t, out->device, &key->a, key->domain.size));
        TRY(out->backend->eval_plan(&out->eval_b, t, out->device, &key->b, key->domain.size));
        out->values_workspace_bytes = larger(
            out->values_workspace_bytes, larger(out->eval_a.workspace_bytes, out->eval_b.workspace_bytes));
    } else if (!out->backend->host_elements) {
        return FAIL(t, CUZK_UNSUPPORTED, "the %s backend does not evaluate circuit %s yet; cpu does",
                    out->backend->name, key->constraints->name);
    }
    out->vector_bytes = arena_round(out->quotient.vector_bytes);
    out->values_workspace_bytes = arena_round(out->values_workspace_bytes);
    return CUZK_OK;
}

cuzk_status groth16_prove_plan(struct groth16_plan *out, struct task *t, const struct groth16_key *key,
                               const struct backend *backend, struct device *device)
{
    if (!key->can_prove) {
        const cuzk_status status =
            FAIL(t, CUZK_INVALID_ARGUMENT, "bellman parameters do not hold the circuit's constraints");
        task_fail_place(t, key->file.path, ERROR_NO_OFFSET, NULL,
                        "give the circuit's .r1cs file beside the parameters (--r1cs FILE, or r1cs_path)");
        return status;
    }
    memset(out, 0, sizeof *out);
    out->backend = backend;
    out->device = device;
    msm_set_rows(out->rows, key);
    TRY(plan_values(out, t, key));
    TRY(plan_sums(out, t, key));
    out->block_bytes = out->vector_bytes + larger(out->vector_bytes + out->values_workspace_bytes,
                                                  out->points_bytes + out->sums_workspace_bytes);
    return CUZK_OK;
}
