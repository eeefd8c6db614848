/* Proving: the pipeline from a witness to the three points of a proof.
 *
 *   1 witness      every value canonical, as many as the circuit has variables
 *   2 constraints  a = A w, b = B w                                              backend.eval, or the circuit itself
 *   3 quotient     a, b -> the scalars of the H query                            h_poly.c, backend.quotient
 *   4 sums         A, B1, B2, L over the witness, H over the quotient            msm_set.c, backend.msm
 *   5 assembly     fresh r, s; the three points                                  assemble.c; what can be, before: prove_ahead.c
 *
 * docs/maths.md has the formulas.  Nothing here depends on the curve, nor on where the work is done: prove_plan.c decides what it takes
 * and places what it reads; prove_lanes.c says when, where other proofs share the device. */
#include "groth16/prove.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "groth16/chunks.h"
#include "groth16/h_poly.h"
#include "groth16/key_device.h"
#include "groth16/prove_lanes.h"
#include "groth16/prove_inside.h"
#include <stdio.h>
#include <string.h>

#define WITNESS_CHUNK 16384 /* values that one thread checks at a time: 50 us */

/* -- 1 ----------------------------------------------------------------------------------------------------------------- */

static cuzk_status check_values(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    return witness_check_range(t, context, begin, end);
}

static cuzk_status check_witness(struct task *t, const struct groth16_key *key, const struct groth16_plan *p,
                                 const struct witness *w)
{
    if (key->outline) return FAIL(t, CUZK_INTERNAL, "a proof on a key that was opened for its counts only");
    if (w->curve != key->curve)
        return FAIL(t, CUZK_MISMATCH, "the witness is over %s, the key over %s", w->curve->name,
                    key->curve->name);
    if (w->count != key->variable_count)
        return FAIL(
            t, CUZK_MISMATCH,
            "the witness has %llu values, the key's circuit %llu variables; they are of different circuits",
            (unsigned long long)w->count, (unsigned long long)key->variable_count);
    if (p->on_image) return prove_image_check(t, key, w);
    struct witness values = *w;
    return chunks_run(t, NULL, w->count, WITNESS_CHUNK, check_values, &values);
}

/* -- 2 ----------------------------------------------------------------------------------------------------------------- */

static cuzk_status evaluate(struct task *t, const struct groth16_key *key, const struct groth16_plan *p,
                            struct stream *stream, const struct witness *w, const struct prove_operands *ops,
                            struct prove_workspace *ws)
{
    const struct constraints *c = key->constraints;

    if (p->on_image) return prove_image_evaluate(t, key, p, stream, w, ops, ws);
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
                             uint64_t count, struct stream *stream, const struct prove_operands *ops,
                             struct prove_workspace *ws, struct prove_ahead *ahead)
{
    const struct msm_row *row = &p->rows[q];
    const size_t point_bytes = key->curve->group[row->group]->aff_bytes;
    const struct buffer *const scalars = row->scalars == MSM_QUOTIENT ? &ws->a : &ops->witness;
    struct buffer points, gather = { 0 };

    if (ops->resident != NULL && !ops->resident->has_points) {
        points = ws->points;
        TRY(key_device_send_points(t, key, p->backend, stream, &points, q, first, count));
    } else if (ops->resident == NULL && key->encoded[q]) {
        TRY(groth16_key_points(t, key, q, first, count, ws->points.data));
        points = ws->points;
    } else if (p->msm[q].row_count > 1) {
        points = ops->points[q]; /* a table, for all of them at once */
    } else {
        points = buffer_piece(&ops->points[q], first * point_bytes, count * point_bytes);
    }
    if (row->gather != NULL)
        gather = buffer_piece(&ops->gather[q], first * sizeof *row->gather, count * sizeof *row->gather);
    const struct buffer *const list = row->gather != NULL ? &gather : NULL;
    const size_t scalars_offset = 32 * (row->gather != NULL ? 0 : row->first + first);
    const bool last = count != p->piece[q];
    if (prove_image_splits(p, q))
        return split_msm(stream, t, p->backend, last ? &p->split_last[q] : &p->split[q], out, &points, 0,
                         scalars, scalars_offset, list, &ws->sums);
    TRY(p->backend->msm(stream, t, last ? &p->last[q] : &p->msm[q], out, &points, 0, scalars, scalars_offset,
                        list, &ws->sums));
    prove_ahead_step(ahead, t);
    return p->backend->stream_sync(stream, t);
}

static cuzk_status sum_row(struct task *t, struct g_jac *out, const struct groth16_key *key,
                           const struct groth16_plan *p, enum groth16_query q, struct stream *stream,
                           const struct prove_operands *ops, struct prove_workspace *ws,
                           struct prove_ahead *ahead)
{
    const struct msm_row *row = &p->rows[q];
    const struct group *g = key->curve->group[row->group];
    struct g_jac part;
    cuzk_status status = CUZK_OK;

    g->jac_set_inf(out);
    for (uint64_t first = 0; first < row->count; first += p->piece[q]) {
        const uint64_t left = row->count - first, count = left < p->piece[q] ? left : p->piece[q];
        TRY_GOTO(out, sum_piece(t, &part, key, p, q, first, count, stream, ops, ws, ahead));
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

/* The witness has arrived: what it went through is wiped while the device works, not after the last sum. */
static cuzk_status end_copies(struct task *t, const struct prove_lane *lane)
{
    return lane->copies != lane->compute ? lane->backend->stream_sync(lane->copies, t) : CUZK_OK;
}

static cuzk_status prove_sums(struct task *t, struct g_jac sums[QUERY_COUNT], const struct groth16_key *key,
                              const struct groth16_plan *plan, const struct witness *w,
                              struct groth16_timings *timings, struct prove_ahead *ahead)
{
    const struct backend *be = plan->backend;
    struct prove_operands ops;
    struct prove_workspace ws;
    struct prove_lane lane;
    cuzk_status status;
    uint64_t clock = clock_now_ns();

    TRY(check_witness(t, key, plan, w));
    TRY_GOTO(out, prove_lane_enter(&lane, t, plan->lanes, be, plan->device, key));
    TRY_GOTO(out, prove_stage(&ops, &ws, t, &lane, key, plan, w));
    TRY_GOTO(out, prove_lane_turn(&lane, t));
    timings->wait_ms = lane.wait_ms;
    timings->staged_late = lane.skipped;
    timings->alloc_ms = lane.alloc_ms;
    timings->lane = lane.compute_slot;
    timings->witness_ms = lap(&clock);

    TRY_GOTO(out, evaluate(t, key, plan, lane.compute, w, &ops, &ws));
    timings->eval_ms = lap(&clock);

    TRY_GOTO(out, h_poly(t, &plan->quotient, key, be, lane.compute, &ws.a, &ws.a, &ws.b, &ws.values));
    TRY_GOTO(out, end_copies(t, &lane));
    prove_ahead_step(ahead, t);
    TRY_GOTO(out, be->stream_sync(lane.compute, t));
    timings->quotient_ms = lap(&clock);

    for (int q = 0; q < QUERY_COUNT; q++) {
        TRY_GOTO(out, task_poll(t));
        task_progress(t, "sums", (uint64_t)q, QUERY_COUNT);
        TRY_GOTO(out, sum_row(t, &sums[q], key, plan, q, lane.compute, &ops, &ws, ahead));
        prove_ahead_sum(ahead, q);
        timings->msm_ms[q] = lap(&clock);
    }
    task_progress(t, "sums", QUERY_COUNT, QUERY_COUNT);
out:
    status = prove_lane_leave(&lane, t, status);
    timings->release_ms = lane.release_ms;
    return status;
}

cuzk_status groth16_prove_sums(struct task *t, struct g_jac sums[QUERY_COUNT], const struct groth16_key *key,
                               const struct groth16_plan *plan, const struct witness *w,
                               struct groth16_timings *timings)
{
    return prove_sums(t, sums, key, plan, w, timings, NULL);
}

const char *groth16_timing_line(char out[TIMING_LINE_BYTES], const struct groth16_timings *m,
                                uint64_t domain_size)
{
    const double tail_ms = m->msm_ms[QUERY_A] + m->msm_ms[QUERY_B1] + m->msm_ms[QUERY_L],
                 h_ms = m->quotient_ms + m->msm_ms[QUERY_H];

    snprintf(out, TIMING_LINE_BYTES,
             "prestage_setup=%s domain=%llu alloc_ms=%.2f upload_ms=%.2f gpu_tid=%u prep_msm_ms=%.2f "
             "ntt_msm_h_ms=%.2f tail_msm_ms=%.2f b_g2_msm_ms=%.2f gpu_total_ms=%.2f async_dealloc_ms=%.2f",
             m->staged_late ? "skip_vram" : "ok", (unsigned long long)domain_size, m->alloc_ms,
             m->witness_ms - m->wait_ms, m->lane, m->eval_ms, h_ms, tail_ms, m->msm_ms[QUERY_B2],
             m->eval_ms + h_ms + tail_ms + m->msm_ms[QUERY_B2], m->release_ms);
    return out;
}

cuzk_status groth16_prove_ahead(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                                const struct groth16_plan *plan, const struct witness *w,
                                struct groth16_timings *timings, struct groth16_ahead *verification)
{
    struct g_jac sums[QUERY_COUNT];
    struct groth16_blinding blinding;
    struct groth16_proof proof;
    struct prove_ahead ahead;
    cuzk_status status;

    memset(&proof, 0, sizeof proof); /* points are compared as a whole, of the smaller curve too */
    TRY_GOTO(out, assemble_draw(t, &blinding, key->curve));
    prove_ahead_start(&ahead, &proof, key, &blinding, verification, sums);
    TRY_GOTO(out, prove_sums(t, sums, key, plan, w, timings, &ahead));
    uint64_t clock = clock_now_ns();
    prove_ahead_end(&ahead, t);
    *out = proof;
    timings->assemble_ms = lap(&clock);
out:
    prove_ahead_wipe(&ahead);
    wipe(&blinding, sizeof blinding);
    wipe(sums, sizeof sums);
    return status;
}

cuzk_status groth16_prove(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                          const struct groth16_plan *plan, const struct witness *w,
                          struct groth16_timings *timings)
{
    return groth16_prove_ahead(t, out, key, plan, w, timings, NULL);
}
