/* Proving many partitions of one circuit image on a device, from statements. */
#include "groth16/prove_batch.h"
#include "base/bytes.h"
#include "groth16/chunks.h"
#include "groth16/h_poly.h"
#include "groth16/key_check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN_FLIGHT = 15 /* results of a stream between two syncs: the CUDA backend has places for 16 */ };

/* Sums of a piece on their way, and what they are added to when they have come. */
struct landing {
    struct g_jac sum[BATCH_MOST], *total;
    unsigned count;
    enum group_id group;
};

struct batch {
    struct batch_plan plan;
    struct stream *front, *back, *copies; /* copies: where points are sent */
    struct key_feed feed;
    struct buffer block, statements; /* while a batch is under way */
    struct batch_item *items;
    unsigned item_count, count;   /* partitions that were given; whose statements are right */
    unsigned item_of[BATCH_MOST]; /* which item each of these is */
    unsigned swept, flying;       /* of these, those whose sweep is enqueued; results in flight on back */
    bool begun, waited;
    bool contents_checked; /* of the key's files, for this batch: */
    struct error contents_error;
    struct batch_times *times; /* or NULL */
    uint64_t
        bad[BATCH_MOST]
           [2]; /* the first row that does not hold, and nothing: operands start on multiples of 16 bytes */
    struct landing landing[IN_FLIGHT];
    struct g_jac total[QUERY_COUNT][BATCH_MOST], sums[BATCH_MOST][QUERY_COUNT];
};

static const struct backend *backend_of(const struct batch *b) { return b->plan.split->backend; }

/* -- pieces of the block ----------------------------------------------------------------------------------------------- */

static struct image_values values_of(const struct batch *b, unsigned i)
{
    const struct batch_plan *p = &b->plan;
    const struct circuit_image *m = p->split->program.image;
    const size_t at = p->values_at + i * p->values_stride, inputs = image_inputs_bytes(m);
    const struct image_values v = {
        .bits = buffer_piece(&b->block, i * p->bits_stride, p->bits_stride),
        .inputs = buffer_piece(&b->block, at, inputs),
        .numbers = buffer_piece(&b->block, at + inputs, p->values_stride - inputs),
    };
    return v;
}

static struct buffer vector_a(const struct batch *b, unsigned i)
{
    return buffer_piece(&b->block, b->plan.a_at[i % b->plan.slots], b->plan.quotient.vector_bytes);
}

static struct buffer vector_b(const struct batch *b)
{
    return buffer_piece(&b->block, b->plan.b_at, b->plan.quotient.vector_bytes);
}

static struct buffer front_workspace(const struct batch *b)
{
    return buffer_piece(&b->block, b->plan.front_at, b->plan.front_bytes);
}

static struct buffer back_workspace(const struct batch *b)
{
    return buffer_piece(&b->block, b->plan.run_at, b->plan.run_bytes);
}

/* -- time -------------------------------------------------------------------------------------------------------------- */

/* A span's begin or end. */
static cuzk_status mark(struct batch *b, struct task *t, struct stream *s, struct batch_span *span, bool end)
{
    if (span == NULL || backend_of(b)->stream_mark == NULL) return CUZK_OK;
    return backend_of(b)->stream_mark(s, t, end ? &span->end_ns : &span->begin_ns);
}

static struct batch_span *stage_span(struct batch *b, unsigned i, enum batch_stage stage)
{
    return b->times != NULL ? &b->times->stage[i][stage] : NULL;
}

/* -- the front: from a statement to the scalars of H ------------------------------------------------------------------- */

static cuzk_status make_witness(struct batch *b, struct task *t, unsigned i)
{
    const struct key_split *k = b->plan.split;
    const struct buffer statement =
        buffer_piece(&b->statements, i * b->plan.statement_bytes, b->plan.statement_bytes);
    struct buffer workspace = front_workspace(b);
    struct image_values values = values_of(b, i);

    return k->backend->image_assign(b->front, t, &k->assign, &values, &k->program, &k->programs, &statement,
                                    &workspace);
}

static cuzk_status evaluate(struct batch *b, struct task *t, unsigned i, bool check)
{
    const struct key_split *k = b->plan.split;
    const struct image_values values = values_of(b, i);
    struct buffer va = vector_a(b, i), vb = vector_b(b),
                  bad = buffer_piece(&b->block, b->plan.bad_at + i * BATCH_BAD_BYTES, BATCH_BAD_BYTES);

    return k->backend->image_eval(b->front, t, &k->residence.image, &va, &vb, &k->resident->tables, &values,
                                  check ? &bad : NULL);
}

static cuzk_status evaluate_once(struct batch *b, struct task *t, unsigned i)
{
    return evaluate(b, t, i, b->plan.check_rows);
}

static cuzk_status divide(struct batch *b, struct task *t, unsigned i)
{
    const struct key_split *k = b->plan.split;
    struct buffer va = vector_a(b, i), vb = vector_b(b), workspace = front_workspace(b);

    return h_poly(t, &b->plan.quotient, k->key, k->backend, b->front, &va, &va, &vb, &workspace);
}

static cuzk_status enqueue_front(struct batch *b, struct task *t, unsigned i)
{
    static cuzk_status (*const steps[])(struct batch *, struct task *, unsigned) = { make_witness,
                                                                                     evaluate_once, divide };

    for (enum batch_stage s = BATCH_WITNESS; s <= BATCH_QUOTIENT; s++) {
        struct batch_span *const span = stage_span(b, i, s);
        TRY(mark(b, t, b->front, span, false));
        TRY(steps[s](b, t, i));
        TRY(mark(b, t, b->front, span, true));
    }
    return CUZK_OK;
}

/* -- the back: sums ---------------------------------------------------------------------------------------------------- */

/* What has come is added up.  Nothing may be in flight on back. */
static void land(struct batch *b)
{
    for (unsigned i = 0; i < b->flying; i++) {
        const struct landing *l = &b->landing[i];
        const struct group *group = b->plan.split->key->curve->group[l->group];
        for (unsigned k = 0; k < l->count; k++) group->jac_add(&l->total[k], &l->total[k], &l->sum[k]);
    }
    b->flying = 0;
}

/* Room for sums of a query, of `count` partitions from first on. */
static cuzk_status fly(struct batch *b, struct task *t, struct g_jac **out, enum groth16_query q,
                       unsigned first, unsigned count)
{
    if (b->flying == IN_FLIGHT) {
        TRY(backend_of(b)->stream_sync(b->back, t));
        land(b);
    }
    struct landing *l = &b->landing[b->flying++];
    l->total = &b->total[q][first];
    l->count = count;
    l->group = b->plan.split->rows[q].group;
    for (unsigned k = 0; k < count; k++) b->plan.split->key->curve->group[l->group]->jac_set_inf(&l->sum[k]);
    *out = l->sum;
    return CUZK_OK;
}

/* The next piece that is not on the device is on its way while this one is summed. */
static cuzk_status send_ahead(struct batch *b, struct task *t, const struct batch_at *at)
{
    struct batch_at next = *at;

    if (!b->plan.keep.streams) return CUZK_OK;
    while (batch_next(&b->plan, b->item_count, &next)) {
        const struct key_piece piece = batch_piece(&b->plan, &next);
        if (!piece.kept) return key_feed_ahead(&b->feed, t, &piece);
    }
    return CUZK_OK;
}

static const struct msm_plan *plan_of_h(const struct batch *b, const struct key_piece *piece)
{
    return piece->kept                              ? &b->plan.h_kept
           : piece->count == b->plan.piece[QUERY_H] ? &b->plan.h
                                                    : &b->plan.h_last;
}

static cuzk_status sum_h_piece(struct batch *b, struct task *t, const struct batch_at *at)
{
    const struct key_piece piece = batch_piece(&b->plan, at);
    struct buffer scalars = vector_a(b, at->partition), workspace = back_workspace(b), points;
    struct g_jac *sum;
    size_t offset;

    TRY(fly(b, t, &sum, QUERY_H, at->partition, 1));
    TRY(key_feed_use(&b->feed, t, b->back, &piece, &points, &offset));
    TRY(backend_of(b)->msm(b->back, t, plan_of_h(b, &piece), sum, &points, offset, &scalars, 32 * piece.first,
                           NULL, &workspace));
    return send_ahead(b, t, at);
}

static cuzk_status sum_h(struct batch *b, struct task *t, unsigned i)
{
    struct batch_span *const span = stage_span(b, i, BATCH_SUM_H);
    struct batch_at at = { i, QUERY_H, 0 };

    TRY(mark(b, t, b->back, span, false));
    for (; at.index < batch_piece_count(&b->plan, QUERY_H); at.index++) TRY(sum_h_piece(b, t, &at));
    return mark(b, t, b->back, span, true);
}

/* Whether a query's bitmaps are there from the one before it: B2 is of the same variables as B1, and in one piece both have all of them. */
static bool has_bitmaps(const struct batch *b, enum groth16_query q)
{
    return q == QUERY_B2 && batch_piece_count(&b->plan, QUERY_B1) == 1 &&
           batch_piece_count(&b->plan, QUERY_B2) == 1;
}

/* The bits of a piece's variables, of `count` partitions from first on.  Out: where they lie, and how far from each other. */
static cuzk_status gather_bits(struct batch *b, struct task *t, const struct key_piece *piece, unsigned first,
                               unsigned count, struct buffer *bitmaps, size_t *offset, size_t *stride)
{
    const struct key_split *k = b->plan.split;
    const enum groth16_query q = piece->query;
    const size_t each = bitmap_bytes(piece->count);
    const uint32_t inputs = image_circuit(k->program.image)->input_count;

    *bitmaps = b->block;
    *offset = first * b->plan.bits_stride + piece->first / 8;
    *stride = b->plan.bits_stride;
    if (k->rows[q].gather == NULL) return CUZK_OK;
    const struct buffer bits =
                            buffer_piece(&b->block, first * b->plan.bits_stride, count * b->plan.bits_stride),
                        list = buffer_piece(&k->resident->gather[q], piece->first * sizeof(uint32_t),
                                            piece->count * sizeof(uint32_t));
    *bitmaps = buffer_piece(&b->block, b->plan.back_at, count * each);
    *offset = 0;
    *stride = each;
    if (has_bitmaps(b, q)) return CUZK_OK;
    return k->backend->gather_bits(b->back, t, bitmaps, &bits, 0, b->plan.bits_stride, count, &list,
                                   piece->count, inputs);
}

/* A piece of a query's sweep: at->partition is the last of those that it serves. */
static cuzk_status sweep_piece(struct batch *b, struct task *t, const struct batch_at *at)
{
    const struct key_split *k = b->plan.split;
    const struct key_piece piece = batch_piece(&b->plan, at);
    const unsigned first = b->swept, count = at->partition + 1 - first;
    const enum group_id g = k->rows[at->query].group;
    struct buffer workspace = back_workspace(b), bitmaps, points;
    size_t stride, bits_offset, offset;
    struct bit_sum_plan plan;
    struct g_jac *sums;

    TRY(fly(b, t, &sums, at->query, first, count));
    TRY(gather_bits(b, t, &piece, first, count, &bitmaps, &bits_offset, &stride));
    TRY(k->backend->bit_sum_plan(&plan, t, k->device, k->key->curve, g, piece.count, count));
    plan.bitmap_bytes = stride;
    TRY(key_feed_use(&b->feed, t, b->back, &piece, &points, &offset));
    TRY(k->backend->bit_sum(b->back, t, &plan, sums, &points, offset, &bitmaps, bits_offset, &workspace));
    return send_ahead(b, t, at);
}

static cuzk_status sum_numbers(struct batch *b, struct task *t, enum groth16_query q, unsigned i)
{
    const struct key_split *k = b->plan.split;
    const struct buffer values =
        buffer_piece(&b->block, b->plan.values_at + i * b->plan.values_stride, b->plan.values_stride);
    struct buffer workspace = back_workspace(b);
    struct g_jac *sum;

    TRY(fly(b, t, &sum, q, i, 1));
    return k->backend->msm(b->back, t, &b->plan.wide[q], sum, &k->row[q].points, 0, &values, 0,
                           &k->row[q].numbers, &workspace);
}

/* One query, of partitions [first, end): its pieces, and between them the sums over numbers, under which the next piece is sent. */
static cuzk_status sweep_query(struct batch *b, struct task *t, enum groth16_query q, unsigned first,
                               unsigned end)
{
    const unsigned pieces = batch_piece_count(&b->plan, q), count = end - first;
    struct batch_at at = { end - 1, q, 0 };
    unsigned done = 0;

    for (; at.index < pieces; at.index++) {
        TRY(sweep_piece(b, t, &at));
        for (; done * (uint64_t)pieces < (uint64_t)count * (at.index + 1); done++)
            TRY(sum_numbers(b, t, q, first + done));
    }
    for (; done < count; done++) TRY(sum_numbers(b, t, q, first + done)); /* a query without points of bits */
    return CUZK_OK;
}

/* Every query over the witness, of the partitions whose sums H are enqueued and that no sweep has served. */
static cuzk_status sweep(struct batch *b, struct task *t, unsigned end)
{
    const unsigned first = b->swept;
    struct batch_span *const spans = b->times != NULL ? b->times->sweep[b->times->sweeps++] : NULL;

    for (enum groth16_query q = 0; q < QUERY_H; q++) {
        struct batch_span *const span = spans != NULL ? &spans[q] : NULL;
        TRY(task_poll(t));
        TRY(mark(b, t, b->back, span, false));
        TRY(sweep_query(b, t, q, first, end));
        TRY(mark(b, t, b->back, span, true));
    }
    b->swept = end;
    return CUZK_OK;
}

/* -- both -------------------------------------------------------------------------------------------------------------- */

/* What the back does for partition i.  The front may have i's slot again when its sum H has been made, and need not wait for a sweep;
 * unless these share their bytes. */
static cuzk_status enqueue_back(struct batch *b, struct task *t, unsigned i, bool last)
{
    const struct backend *be = backend_of(b);
    const bool sweeps = last || i + 1 - b->swept == b->plan.sweep;

    TRY(sum_h(b, t, i));
    if (b->plan.slots > 1) TRY(be->stream_wait(b->front, t, b->back));
    if (sweeps) TRY(sweep(b, t, i + 1));
    return b->plan.slots > 1 ? CUZK_OK : be->stream_wait(b->front, t, b->back);
}

/* Partition i, whose statement is there; with two slots the sums of the one before it. */
static cuzk_status enqueue(struct batch *b, struct task *t, unsigned i)
{
    const unsigned behind = b->plan.slots - 1; /* partitions that back is behind */

    if (behind != 0 && i > 0) TRY(backend_of(b)->stream_wait(b->back, t, b->front));
    TRY(enqueue_front(b, t, i));
    if (behind == 0) TRY(backend_of(b)->stream_wait(b->back, t, b->front));
    if (behind == 0) return enqueue_back(b, t, i, false);
    return i > 0 ? enqueue_back(b, t, i - 1, false) : CUZK_OK;
}

static cuzk_status enqueue_rest(struct batch *b, struct task *t)
{
    if (b->plan.slots > 1) {
        TRY(backend_of(b)->stream_wait(b->back, t, b->front));
        return enqueue_back(b, t, b->count - 1, true);
    }
    return b->swept < b->count ? sweep(b, t, b->count) : CUZK_OK;
}

/* -- statements -------------------------------------------------------------------------------------------------------- */

/* A task for one partition's own errors. */
static void item_task(struct task *out, const struct task *t)
{
    *out = *t;
    memset(&out->error, 0, sizeof out->error);
    out->later_error_dropped = false;
}

static void item_failed(struct batch_item *item, struct task *own)
{
    char name[32];

    snprintf(name, sizeof name, "partition %u", item->number);
    task_fail_place(own, NULL, ERROR_NO_OFFSET, name, NULL);
    item->error = own->error;
    memset(&item->proof, 0, sizeof item->proof);
}

/* Whether the whole batch ends with this error of a partition's. */
static bool ends_all(cuzk_status status)
{
    return status == CUZK_CANCELLED || status == CUZK_DEADLINE || status == CUZK_DEVICE_LOST;
}

/* The statement of an item into the place of partition b->count.  *right: it is one. */
static cuzk_status take_statement(struct batch *b, struct task *t, struct batch_item *item, bool *right)
{
    uint8_t *const to = b->statements.data + b->count * b->plan.statement_bytes;
    struct task own;

    item_task(&own, t);
    cuzk_status status = item->state(item->context, &own, item->number, to);
    if (status == CUZK_OK) status = key_split_check(b->plan.split, &own, to);
    *right = status == CUZK_OK;
    if (status == CUZK_OK) return CUZK_OK;
    if (ends_all(status)) {
        t->error = own.error;
        return status;
    }
    item_failed(item, &own);
    return CUZK_OK;
}

static cuzk_status enqueue_all(struct batch *b, struct task *t)
{
    bool right;

    for (unsigned k = 0; k < b->item_count; k++) {
        TRY(task_poll(t));
        task_progress(t, "partitions", k, b->item_count);
        TRY(take_statement(b, t, &b->items[k], &right));
        if (!right) continue;
        b->item_of[b->count] = k;
        TRY(enqueue(b, t, b->count));
        b->count++;
    }
    return b->count != 0 ? enqueue_rest(b, t) : CUZK_OK;
}

/* -- beginning and ending ---------------------------------------------------------------------------------------------- */

cuzk_status prove_batch_open(struct batch **out, struct task *t, const struct batch_plan *plan)
{
    struct batch *b = calloc(1, sizeof *b);
    cuzk_status status;

    *out = NULL;
    if (b == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a batch");
    b->plan = *plan;
    TRY_GOTO(out, backend_of(b)->stream_open(&b->front, t, plan->split->device));
    TRY_GOTO(out, backend_of(b)->stream_open(&b->back, t, plan->split->device));
    if (plan->keep.streams) TRY_GOTO(out, backend_of(b)->copies_open(&b->copies, t, plan->split->device));
    *out = b;
out:
    if (status != CUZK_OK) prove_batch_close(b);
    return status;
}

/* Nothing is under way after this, and nothing of the witnesses is left. */
static void finish(struct batch *b)
{
    const struct backend *be = backend_of(b);

    if (!b->begun) return;
    backend_settle(be, b->front);
    backend_settle(be, b->back);
    if (b->copies != NULL) backend_settle(be, b->copies);
    be->buffer_give(&b->block);
    be->buffer_give(&b->statements);
    wipe(b->landing, sizeof b->landing);
    wipe(b->total, sizeof b->total);
    wipe(b->sums, sizeof b->sums);
    b->items = NULL;
    b->times = NULL;
    b->item_count = b->count = b->swept = b->flying = 0;
    b->begun = b->waited = false;
}

void prove_batch_close(struct batch *b)
{
    if (b == NULL) return;
    finish(b);
    if (b->front != NULL) backend_of(b)->stream_close(b->front);
    if (b->back != NULL) backend_of(b)->stream_close(b->back);
    if (b->copies != NULL) backend_of(b)->stream_close(b->copies);
    free(b);
}

static void set_infinity(struct batch *b)
{
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++)
        for (unsigned i = 0; i < BATCH_MOST; i++)
            b->plan.split->key->curve->group[b->plan.split->rows[q].group]->jac_set_inf(&b->total[q][i]);
}

/* The first piece is sent under the first partition's transforms. */
static cuzk_status begin_feed(struct batch *b, struct task *t)
{
    const struct batch_plan *p = &b->plan;
    const struct batch_at none = { 0, QUERY_H, 0 };
    struct buffer places[FEED_PLACES];

    for (unsigned i = 0; i < FEED_PLACES; i++)
        places[i] = buffer_piece(&b->block, p->place_at[i], p->place_bytes);
    key_feed_begin(&b->feed, p->split, b->copies, places);
    const struct key_piece first = batch_piece(p, &none);
    return first.kept ? send_ahead(b, t, &none) : key_feed_ahead(&b->feed, t, &first);
}

cuzk_status prove_batch_begin(struct batch *b, struct task *t, struct batch_item *items, unsigned count,
                              struct batch_times *times)
{
    const struct batch_plan *p = &b->plan;
    const struct backend *be = backend_of(b);
    cuzk_status status;

    if (count == 0 || count > p->partitions)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%u partitions; the batch was planned for %u", count,
                    p->partitions);
    if (b->begun || p->split->resident == NULL)
        return FAIL(t, CUZK_INTERNAL,
                    b->begun ? "a batch within a batch" : "a batch on a key that is not on the device");
    if (!key_keep_equal(&p->keep, &p->split->keep))
        return FAIL(t, CUZK_INTERNAL, "a batch that was planned for a key loaded in another way");
    for (unsigned k = 0; k < count; k++) {
        memset(&items[k].error, 0, sizeof items[k].error);
        items[k].wrong = false;
    }
    b->begun = true;
    b->items = items;
    b->item_count = count;
    b->times = times;
    if (times != NULL) memset(times, 0, sizeof *times);
    TRY_GOTO(out, be->buffer_take(&b->block, t, p->split->device, MEM_DEVICE, p->block_bytes, BUFFER_SECRET));
    TRY_GOTO(out, be->buffer_take(&b->statements, t, p->split->device, MEM_PINNED, count * p->statement_bytes,
                                  BUFFER_SECRET));
    set_infinity(b);
    TRY_GOTO(out, begin_feed(b, t));
    TRY_GOTO(out, enqueue_all(b, t));
out:
    if (status != CUZK_OK) finish(b);
    return status;
}

/* -- waiting ----------------------------------------------------------------------------------------------------------- */

static void join_sums(struct batch *b, unsigned i)
{
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) b->sums[i][q] = b->total[q][i];
}

cuzk_status prove_batch_wait(struct batch *b, struct task *t)
{
    const struct backend *be = backend_of(b);
    cuzk_status status;

    if (!b->begun) return FAIL(t, CUZK_INTERNAL, "there is no batch to wait for");
    if (b->waited) return CUZK_OK;
    if (b->plan.check_rows && b->count != 0)
        TRY_GOTO(out,
                 be->download(b->front, t, b->bad, &b->block, b->plan.bad_at, b->count * sizeof *b->bad));
    TRY_GOTO(out, be->stream_sync(b->front, t));
    TRY_GOTO(out, be->stream_sync(b->back, t));
    b->waited = true;
    land(b);
    for (unsigned i = 0; i < b->count; i++) join_sums(b, i);
out:
    if (status != CUZK_OK) finish(b);
    return status;
}

const struct g_jac *prove_batch_sums(const struct batch *b, unsigned index)
{
    for (unsigned i = 0; b->waited && i < b->count; i++)
        if (b->item_of[i] == index) return b->sums[i];
    return NULL;
}

/* -- proofs ------------------------------------------------------------------------------------------------------------ */

/* Whether the witness's inputs are those that the verifier has. */
static cuzk_status compare_inputs(struct batch *b, struct task *t, unsigned i)
{
    const struct key_split *k = b->plan.split;
    const struct batch_item *item = &b->items[b->item_of[i]];
    const struct image_values values = values_of(b, i);
    const size_t bytes = values.inputs.bytes;
    struct fr_int *own = malloc(bytes);
    cuzk_status status;

    if (own == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for public inputs");
    TRY_GOTO(out, k->backend->download(b->front, t, own, &values.inputs, 0, bytes));
    TRY_GOTO(out, k->backend->stream_sync(b->front, t));
    for (uint64_t n = 0; n < k->key->public_count; n++)
        if (memcmp(&own[n + 1], &item->inputs[n], sizeof *own) != 0) {
            status =
                FAIL(t, CUZK_MISMATCH,
                     "public input %llu of the statement is not the one that the proof is verified against",
                     (unsigned long long)n);
            break;
        }
out:
    free(own);
    return status;
}

/* The rows of a partition: from its evaluation if they were checked there, or evaluated again. */
static cuzk_status check_rows(struct batch *b, struct task *t, unsigned i)
{
    const struct key_split *k = b->plan.split;

    if (!b->plan.check_rows) {
        TRY(evaluate(b, t, i, true));
        TRY(k->backend->download(b->front, t, b->bad[i], &b->block, b->plan.bad_at + i * BATCH_BAD_BYTES,
                                 sizeof *b->bad));
        TRY(k->backend->stream_sync(b->front, t));
    }
    if (b->bad[i][0] == UINT64_MAX) return CUZK_OK;
    return FAIL(t, CUZK_UNSATISFIED, "row %llu of circuit %s does not hold", (unsigned long long)b->bad[i][0],
                k->program.image->name);
}

/* What was remembered of the key holds, or not: looked at once a batch, since the whole file is read for it. */
static cuzk_status check_contents(struct batch *b, struct task *t)
{
    if (!b->contents_checked) {
        const cuzk_status status = groth16_key_check_contents(t, b->plan.split->key);
        if (ends_all(status)) return status;
        b->contents_checked = true;
        b->contents_error = t->error;
    }
    t->error = b->contents_error;
    return t->error.status;
}

static cuzk_status explain(struct batch *b, struct task *t, unsigned i)
{
    TRY(groth16_key_check_files(t, b->plan.split->key));
    TRY(compare_inputs(b, t, i));
    TRY(check_rows(b, t, i));
    TRY(check_contents(b, t));
    b->items[b->item_of[i]].wrong = true;
    const cuzk_status status = FAIL(t, CUZK_KEY_INVALID,
                                    "the witness satisfies every constraint of %s, yet the proof does not "
                                    "verify: the key is damaged or of "
                                    "another circuit",
                                    b->plan.split->program.image->name);
    task_fail_place(t, b->plan.split->key->file.path, ERROR_NO_OFFSET, NULL,
                    "check the key, or fetch it again");
    return status;
}

struct proving {
    struct batch *batch;
    const struct groth16_verifier *verifier;
    cuzk_status verdict[BATCH_MOST];
};

/* Each partition's r and s are its own and are used once. */
static cuzk_status prove_some(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    struct proving *p = context;
    const struct groth16_key *key = p->batch->plan.split->key;

    for (uint64_t i = begin; i < end; i++) {
        struct batch_item *item = &p->batch->items[p->batch->item_of[i]];
        struct groth16_blinding blinding;
        struct task quiet; /* the verifier's words say less than explain's */
        const cuzk_status status = assemble_draw(t, &blinding, key->curve);
        if (status == CUZK_OK) assemble(&item->proof, key, p->batch->sums[i], &blinding);
        wipe(&blinding, sizeof blinding);
        if (status != CUZK_OK) return status;
        task_init(&quiet);
        p->verdict[i] = groth16_verify(&quiet, p->verifier, &item->proof, item->inputs, key->public_count,
                                       GROTH16_POINTS_UNCHECKED);
    }
    return CUZK_OK;
}

static cuzk_status judge(struct batch *b, struct task *t, unsigned i, cuzk_status verdict)
{
    struct batch_item *item = &b->items[b->item_of[i]];
    struct task own;

    if (verdict == CUZK_OK) return CUZK_OK;
    item_task(&own, t);
    const cuzk_status status =
        verdict == CUZK_PROOF_INVALID
            ? explain(b, &own, i)
            : FAIL(&own, verdict, "the proof could not be verified: a public input is no number");
    if (ends_all(status)) {
        t->error = own.error;
        return status;
    }
    item_failed(item, &own);
    return CUZK_OK;
}

cuzk_status prove_batch_end(struct batch *b, struct task *t, const struct groth16_verifier *verifier)
{
    struct proving p = { .batch = b, .verifier = verifier };
    struct batch_item *const items = b->items;
    const unsigned count = b->item_count;
    cuzk_status status;

    b->contents_checked = false;
    TRY_GOTO(out, prove_batch_wait(b, t));
    TRY_GOTO(out, chunks_run(t, NULL, b->count, 1, prove_some, &p));
    for (unsigned i = 0; i < b->count; i++) TRY_GOTO(out, judge(b, t, i, p.verdict[i]));
out:
    for (unsigned k = 0; status != CUZK_OK && k < count; k++)
        memset(&items[k].proof, 0, sizeof items[k].proof);
    finish(b);
    return status;
}
