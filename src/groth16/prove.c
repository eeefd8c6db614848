/* Proving: the pipeline from a witness to the three points of a proof.
 *
 *   1 witness      every value canonical, as many as the circuit has variables
 *   2 constraints  a = A w, b = B w                                              backend.eval, or the circuit itself
 *   3 quotient     a, b -> the scalars of the H query                            h_poly.c, backend.quotient
 *   4 sums         A, B1, B2, L over the witness, H over the quotient            msm_set.c, backend.msm
 *   5 assembly     fresh r, s; the three points                                  assemble.c
 *
 * docs/maths.md has the formulas.  Nothing here depends on the curve; where the work is done matters only to operands_take: a backend
 * that reads host memory works on the mapped key and the witness in place, any other on copies of both in device memory. */
#include "groth16/prove.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "groth16/chunks.h"
#include "groth16/h_poly.h"
#include "groth16/key_device.h"
#include <string.h>

#define PIECE_BYTES \
    ((size_t)96 << 20) /* of points that are decoded at once: docs/decisions/0002-points-in-the-file.md */

#define WITNESS_CHUNK 16384 /* values that one thread checks at a time: 50 us */

/* The pieces of the block that a plan describes. */
struct workspace {
    struct buffer block, witness, a, b, values, points, sums;
};

/* What the operations read. */
struct operands {
    const struct key_device *resident;                               /* NULL: everything is on the host */
    struct buffer points[QUERY_COUNT], gather[QUERY_COUNT], witness; /* gather[q].data NULL: none */
};

static cuzk_status workspace_take(struct workspace *ws, struct task *t, const struct groth16_plan *p)
{
    const size_t a = p->witness_bytes, b = a + p->vector_bytes, values = b + p->vector_bytes;

    TRY(p->backend->buffer_take(&ws->block, t, p->device, MEM_DEVICE, p->block_bytes, BUFFER_SECRET));
    ws->witness = buffer_piece(&ws->block, 0, p->witness_bytes);
    ws->a = buffer_piece(&ws->block, a, p->vector_bytes);
    ws->b = buffer_piece(&ws->block, b, p->vector_bytes);
    ws->values = buffer_piece(&ws->block, values, p->values_workspace_bytes);
    ws->points = buffer_piece(&ws->block, b, p->points_bytes);
    ws->sums = buffer_piece(&ws->block, b + p->points_bytes, p->sums_workspace_bytes);
    return CUZK_OK;
}

/* Key and witness where the device reads them: the key's first proof on a device uploads it. */
static cuzk_status operands_take(struct operands *out, struct task *t, const struct groth16_key *key,
                                 const struct groth16_plan *p, struct stream *stream, const struct witness *w,
                                 struct workspace *ws)
{
    memset(out, 0, sizeof *out);
    if (p->backend->reads_host_memory) {
        for (int q = 0; q < QUERY_COUNT; q++) {
            const struct msm_row *row = &p->rows[q];
            out->points[q] = buffer_borrow(p->device, row->points);
            if (row->gather == NULL) continue;
            out->gather[q] = buffer_borrow(p->device, span_of(row->gather, row->count * sizeof *row->gather));
        }
        out->witness = buffer_borrow(p->device, w->values);
        return CUZK_OK;
    }
    TRY(key_device_take(&out->resident, t, key, p->backend, p->device, stream));
    memcpy(out->points, out->resident->points, sizeof out->points);
    memcpy(out->gather, out->resident->gather, sizeof out->gather);
    out->witness = ws->witness;
    return p->backend->upload(stream, t, &ws->witness, 0, w->values.data, 32 * w->count);
}

/* -- 1 ----------------------------------------------------------------------------------------------------------------- */

static cuzk_status check_values(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    return witness_check_range(t, context, begin, end);
}

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
    struct witness values = *w;
    return chunks_run(t, NULL, w->count, WITNESS_CHUNK, check_values, &values);
}

/* -- 2 ----------------------------------------------------------------------------------------------------------------- */

static cuzk_status evaluate(struct task *t, const struct groth16_key *key, const struct groth16_plan *p,
                            struct stream *stream, const struct witness *w, const struct operands *ops,
                            struct workspace *ws)
{
    const struct constraints *c = key->constraints;

    if (ops->resident != NULL) {
        const struct buffer *const m = ops->resident->matrix;
        TRY(p->backend->eval_resident(stream, t, &p->eval_a, key->curve, &ws->a, &key->a, &m[0],
                                      &ops->witness, &ws->values));
        TRY(p->backend->eval_resident(stream, t, &p->eval_b, key->curve, &ws->b, &key->b, &m[1],
                                      &ops->witness, &ws->values));
        return p->backend->stream_sync(stream, t);
    }
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
                             uint64_t count, struct stream *stream, const struct operands *ops,
                             struct workspace *ws)
{
    const struct msm_row *row = &p->rows[q];
    const size_t point_bytes = key->curve->group[row->group]->aff_bytes;
    const struct buffer *const scalars = row->scalars == MSM_QUOTIENT ? &ws->a : &ops->witness;
    struct buffer points, gather = { 0 };

    if (key->encoded) {
        TRY(groth16_key_points(t, key, q, first, count, ws->points.data));
        points = ws->points;
    } else {
        points = buffer_piece(&ops->points[q], first * point_bytes, count * point_bytes);
    }
    if (row->gather != NULL)
        gather = buffer_piece(&ops->gather[q], first * sizeof *row->gather, count * sizeof *row->gather);
    TRY(p->backend->msm(stream, t, count == p->piece[q] ? &p->msm[q] : &p->last[q], out, &points, 0, scalars,
                        32 * (row->gather != NULL ? 0 : row->first + first),
                        row->gather != NULL ? &gather : NULL, &ws->sums));
    return p->backend->stream_sync(stream, t);
}

static cuzk_status sum_row(struct task *t, struct g_jac *out, const struct groth16_key *key,
                           const struct groth16_plan *p, enum groth16_query q, struct stream *stream,
                           const struct operands *ops, struct workspace *ws)
{
    const struct msm_row *row = &p->rows[q];
    const struct group *g = key->curve->group[row->group];
    struct g_jac part;
    cuzk_status status = CUZK_OK;

    g->jac_set_inf(out);
    for (uint64_t first = 0; first < row->count; first += p->piece[q]) {
        const uint64_t left = row->count - first, count = left < p->piece[q] ? left : p->piece[q];
        TRY_GOTO(out, sum_piece(t, &part, key, p, q, first, count, stream, ops, ws));
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
    struct operands ops;
    struct workspace ws;
    cuzk_status status;
    uint64_t clock = clock_now_ns();

    memset(&ws, 0, sizeof ws);
    TRY_GOTO(out, check_witness(t, key, w));
    TRY_GOTO(out, workspace_take(&ws, t, plan));
    TRY_GOTO(out, key_device_stream_take(&stream, t, key, be, plan->device));
    TRY_GOTO(out, operands_take(&ops, t, key, plan, stream, w, &ws));
    timings->witness_ms = lap(&clock);

    TRY_GOTO(out, evaluate(t, key, plan, stream, w, &ops, &ws));
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
        TRY_GOTO(out, sum_row(t, &sums[q], key, plan, q, stream, &ops, &ws));
        timings->msm_ms[q] = lap(&clock);
    }
    task_progress(t, "sums", QUERY_COUNT, QUERY_COUNT);
out:
    if (stream != NULL && status == CUZK_OK)
        key_device_stream_give(key, be, plan->device, stream);
    else if (stream != NULL)
        be->stream_close(stream); /* waits for what is under way in the block */
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
        const size_t eval_bytes =
            out->backend->reads_host_memory
                ? larger(out->eval_a.workspace_bytes, out->eval_b.workspace_bytes)
                : larger(out->eval_a.resident_workspace_bytes, out->eval_b.resident_workspace_bytes);
        out->values_workspace_bytes = larger(out->values_workspace_bytes, eval_bytes);
    } else if (!out->backend->host_elements) {
        return FAIL(t, CUZK_UNSUPPORTED, "the %s backend does not evaluate circuit %s yet; cpu does",
                    out->backend->name, key->constraints->name);
    }
    out->vector_bytes = arena_round(out->quotient.vector_bytes);
    out->values_workspace_bytes = arena_round(out->values_workspace_bytes);
    return CUZK_OK;
}

/* Whether one proof and its key fit into the device at all.  Host memory is the caller's to weigh. */
static cuzk_status fits(struct task *t, const struct groth16_key *key, const struct groth16_plan *p)
{
    struct device_info info;

    if (p->backend->reads_host_memory) return CUZK_OK;
    p->backend->info(p->device, &info);
    const uint64_t needed = p->key_bytes + p->block_bytes + info.stream_bytes;
    if (needed <= info.memory_bytes) return CUZK_OK;
    const cuzk_status status =
        FAIL(t, CUZK_TOO_LARGE,
             "a proof on this key takes %llu bytes of device memory (%llu of them for the key); %s device %u "
             "gives %llu",
             (unsigned long long)needed, (unsigned long long)p->key_bytes, p->backend->name, info.index,
             (unsigned long long)info.memory_bytes);
    task_fail_place(t, key->file.path, ERROR_NO_OFFSET, NULL,
                    "use a device with more memory, or the cpu backend");
    return status;
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
    if (!backend->reads_host_memory) {
        out->key_bytes = key_device_bytes(key, backend);
        out->witness_bytes = arena_round(32 * key->variable_count);
    }
    out->block_bytes = out->witness_bytes + out->vector_bytes +
                       larger(out->vector_bytes + out->values_workspace_bytes,
                              out->points_bytes + out->sums_workspace_bytes);
    return fits(t, key, out);
}
