/* What a proof takes and where its operands lie: the plan, the block that it describes, and key and witness where the device reads them.
 *
 * Where the work is done matters only here: a backend that reads host memory works on the mapped key and the witness in place, any other
 * on copies of both in device memory. */
#include "base/arena.h"
#include "groth16/h_poly.h"
#include "groth16/key_device.h"
#include "groth16/prove_lanes.h"
#include "groth16/prove_inside.h"
#include <string.h>

#define PIECE_BYTES \
    ((size_t)96 << 20) /* of points that are decoded at once: docs/decisions/0002-points-in-the-file.md */
#define SENT_BYTES \
    ((size_t)1 << 30) /* of points that are sent to a device at once: long sums are cheaper a point */

#define TABLES_SHARE 4 /* of a device's memory that the tables of one key may take: one in so many */

/* -- the plan ---------------------------------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Whether a sum finds all its points where it reads them. */
static bool points_in_place(const struct groth16_plan *p, const struct groth16_key *key, enum groth16_query q)
{
    return p->backend->reads_host_memory ? !key->encoded[q] : p->residence.points;
}

/* How query q is cut into pieces, evenly, so that the last is about as long as the others. */
static uint64_t piece_of(const struct groth16_plan *p, const struct groth16_key *key, enum groth16_query q)
{
    const struct msm_row *row = &p->rows[q];
    const size_t piece_bytes = p->backend->reads_host_memory ? PIECE_BYTES : SENT_BYTES;
    const uint64_t most = piece_bytes / key->curve->group[row->group]->aff_bytes,
                   pieces = (row->count + most - 1) / most;

    return points_in_place(p, key, q) || pieces == 0 ? row->count : (row->count + pieces - 1) / pieces;
}

/* A sum of all points of a query, by a table of multiples where one pays and there is room for it: docs/performance.md. */
static cuzk_status plan_resident_sum(struct groth16_plan *out, struct task *t, const struct groth16_key *key,
                                     enum groth16_query q, uint64_t *tables_left)
{
    const struct msm_row *const row = &out->rows[q];
    struct msm_plan *const table = &out->residence.table[q];

    memset(table, 0, sizeof *table);
    if (*tables_left == 0 || row->count == 0)
        return out->backend->msm_plan(&out->msm[q], t, out->device, key->curve, row->group, row->count);
    TRY(out->backend->msm_table_plan(&out->msm[q], t, out->device, key->curve, row->group, row->count,
                                     *tables_left));
    if (out->msm[q].row_count < 2) return CUZK_OK;
    *table = out->msm[q];
    *tables_left -= table->table_bytes;
    return CUZK_OK;
}

static cuzk_status plan_sums(struct groth16_plan *out, struct task *t, const struct groth16_key *key)
{
    uint64_t tables_left = out->residence.points ? out->tables_bytes : 0;

    out->sums_workspace_bytes = out->points_bytes = 0;
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) {
        const struct msm_row *row = &out->rows[q];
        const uint64_t piece = piece_of(out, key, q),
                       last = piece == 0 ? 0 : row->count - (row->count - 1) / piece * piece;
        out->piece[q] = piece;
        if (prove_image_splits(out, q)) {
            TRY(prove_image_plan_sum(&out->split[q], t, out, key, q, piece));
            TRY(prove_image_plan_sum(&out->split_last[q], t, out, key, q, last));
        } else if (piece == row->count) {
            TRY(plan_resident_sum(out, t, key, q, &tables_left));
            out->last[q] = out->msm[q];
        } else {
            TRY(out->backend->msm_plan(&out->msm[q], t, out->device, key->curve, row->group, piece));
            TRY(out->backend->msm_plan(&out->last[q], t, out->device, key->curve, row->group, last));
        }
        const size_t workspaces[] = { out->msm[q].workspace_bytes, out->last[q].workspace_bytes,
                                      out->split[q].workspace_bytes, out->split_last[q].workspace_bytes };
        for (size_t i = 0; i < ARRAY_COUNT(workspaces); i++) /* of these two are 0 */
            out->sums_workspace_bytes = larger(out->sums_workspace_bytes, arena_round(workspaces[i]));
        if (!points_in_place(out, key, q))
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
    } else if (prove_image_possible(key, out->backend)) {
        TRY(prove_image_plan(out, t, key));
    } else if (!out->backend->host_elements) {
        return FAIL(t, CUZK_UNSUPPORTED, "the %s backend does not evaluate circuit %s yet; cpu does",
                    out->backend->name, key->constraints->name);
    }
    out->vector_bytes = arena_round(out->quotient.vector_bytes);
    out->values_workspace_bytes = arena_round(out->values_workspace_bytes);
    return CUZK_OK;
}

/* What a proof and its key take in all. */
static uint64_t needed_bytes(const struct groth16_plan *p, struct device_info *info)
{
    p->backend->info(p->device, info);
    return p->key_bytes + p->block_bytes +
           (p->lanes != NULL ? lanes_stream_bytes(p->lanes) : info->stream_bytes);
}

/* Tables make a proof short, but not so that proofs which could run side by side no longer can. */
static bool tables_leave_room(const struct groth16_plan *p)
{
    const unsigned proofs = p->lanes != NULL ? lanes_count(p->lanes) : LANES_DEFAULT;
    struct device_info info;

    return needed_bytes(p, &info) + (proofs - 1) * (uint64_t)p->block_bytes <= info.memory_bytes;
}

/* Whether one proof and its key fit into the device at all.  Host memory is the caller's to weigh. */
static cuzk_status fits(struct task *t, const struct groth16_key *key, const struct groth16_plan *p)
{
    struct device_info info;

    if (p->backend->reads_host_memory) return CUZK_OK;
    const uint64_t needed = needed_bytes(p, &info);
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

/* Sums, the key's share and the block, with the key's points resident or not as out->residence says. */
static cuzk_status plan_memory(struct groth16_plan *out, struct task *t, const struct groth16_key *key)
{
    TRY(plan_sums(out, t, key));
    if (!out->backend->reads_host_memory) {
        out->key_bytes = key_device_bytes(key, out->backend, &out->residence);
        out->witness_bytes = arena_round(32 * key->variable_count);
    }
    out->block_bytes = out->witness_bytes + out->vector_bytes +
                       larger(out->vector_bytes + out->values_workspace_bytes,
                              out->points_bytes + out->sums_workspace_bytes);
    return CUZK_OK;
}

cuzk_status groth16_prove_plan(struct groth16_plan *out, struct task *t, const struct groth16_key *key,
                               const struct backend *backend, struct device *device)
{
    return groth16_prove_plan_on(out, t, key, backend, device, NULL);
}

cuzk_status groth16_prove_plan_on(struct groth16_plan *out, struct task *t, const struct groth16_key *key,
                                  const struct backend *backend, struct device *device, struct lanes *lanes)
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
    out->lanes = lanes;
    msm_set_rows(out->rows, key);
    TRY(plan_values(out, t, key));
    out->residence.points = !backend->reads_host_memory;
    struct device_info info;
    backend->info(device, &info);
    out->tables_bytes = backend->msm_table_plan != NULL ? info.memory_bytes / TABLES_SHARE : 0;
    TRY(plan_memory(out, t, key));
    if (out->tables_bytes != 0 && !tables_leave_room(out)) {
        out->tables_bytes = 0;
        TRY(plan_memory(out, t, key));
    }
    if (out->residence.points && needed_bytes(out, &info) > info.memory_bytes) {
        out->residence.points = false;
        TRY(plan_memory(out, t, key));
    }
    return fits(t, key, out);
}

/* -- the block and the operands ---------------------------------------------------------------------------------------- */

static void cut_block(struct prove_workspace *ws, const struct buffer *block, const struct groth16_plan *p)
{
    const size_t a = p->witness_bytes, b = a + p->vector_bytes, values = b + p->vector_bytes;

    ws->witness = buffer_piece(block, 0, p->witness_bytes);
    ws->a = buffer_piece(block, a, p->vector_bytes);
    ws->b = buffer_piece(block, b, p->vector_bytes);
    ws->values = buffer_piece(block, values, p->values_workspace_bytes);
    ws->points = buffer_piece(block, b, p->points_bytes);
    ws->sums = buffer_piece(block, b + p->points_bytes, p->sums_workspace_bytes);
}

/* On the host all is read where it lies. */
static void borrow_operands(struct prove_operands *out, const struct groth16_plan *p, const struct witness *w)
{
    for (int q = 0; q < QUERY_COUNT; q++) {
        const struct msm_row *row = &p->rows[q];
        out->points[q] = buffer_borrow(p->device, row->points);
        if (row->gather == NULL) continue;
        out->gather[q] = buffer_borrow(p->device, span_of(row->gather, row->count * sizeof *row->gather));
    }
    out->witness = buffer_borrow(p->device, w->values);
}

struct staging {
    const struct groth16_key *key;
    const struct groth16_plan *plan;
    const struct key_device *resident;
};

/* A prove_lane_taker.  The key's first proof computes where it uploads, so it does that in its turn; all others wait for it. */
static cuzk_status take_memory(void *context, struct task *t, struct prove_lane *lane)
{
    struct staging *const s = context;
    const struct groth16_plan *const p = s->plan;

    if (!p->backend->reads_host_memory) {
        if (!key_device_is_there(s->key, p->backend, p->device, &p->residence)) TRY(prove_lane_turn(lane, t));
        TRY(key_device_take(&s->resident, t, s->key, p->backend, p->device, lane->compute, &p->residence));
    }
    if (p->block == NULL) return prove_lane_block(lane, t, p->block_bytes);
    if (p->block->bytes < p->block_bytes)
        return FAIL(t, CUZK_INTERNAL, "a block of %zu bytes for a proof that takes %zu", p->block->bytes,
                    p->block_bytes);
    lane->block = buffer_piece(p->block, 0, p->block_bytes);
    return CUZK_OK;
}

cuzk_status prove_stage(struct prove_operands *ops, struct prove_workspace *ws, struct task *t,
                        struct prove_lane *lane, const struct groth16_key *key, const struct groth16_plan *p,
                        const struct witness *w)
{
    struct staging s = { key, p, NULL };

    memset(ops, 0, sizeof *ops);
    TRY(prove_lane_lease(lane, t, take_memory, &s));
    cut_block(ws, &lane->block, p);
    if (p->backend->reads_host_memory) {
        borrow_operands(ops, p, w);
        return CUZK_OK;
    }
    ops->resident = s.resident;
    memcpy(ops->points, s.resident->points, sizeof ops->points);
    memcpy(ops->gather, s.resident->gather, sizeof ops->gather);
    ops->witness = ws->witness;
    if (p->on_image) return CUZK_OK; /* the values are made there */
    return p->backend->upload(lane->copies, t, &ws->witness, 0, w->values.data, 32 * w->count);
}
