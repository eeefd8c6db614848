/* What a batch takes of a device, and the largest that fits. */
#include "base/arena.h"
#include "groth16/h_poly.h"
#include "groth16/prove_batch.h"
#include <string.h>

/* Workspace for a sum's sort beyond which it gains nothing worth having: one group of windows more costs 0.1 % of the largest sum. */
#define SUM_BYTES_MOST ((uint64_t)12 << 30)

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t place(size_t *at, size_t bytes)
{
    const size_t here = *at;

    *at += arena_round(bytes);
    return here;
}

/* -- the back's workspace ---------------------------------------------------------------------------------------------- */

/* Bitmaps in the order of a query whose points are not in the order of the variables. */
static size_t gathered_bytes(const struct batch_plan *p)
{
    size_t most = 0;

    for (enum groth16_query q = 0; q < QUERY_H; q++)
        if (p->split->rows[q].gather != NULL)
            most = larger(most, p->sweep * bitmap_bytes(p->split->row[q].count));
    return most;
}

static cuzk_status plan_sum(struct msm_plan *out, struct task *t, const struct key_split *k, enum group_id g,
                            uint64_t count, uint64_t workspace_most)
{
    if (k->backend->msm_plan_within != NULL)
        return k->backend->msm_plan_within(out, t, k->device, k->key->curve, g, count, workspace_most);
    TRY(k->backend->msm_plan(out, t, k->device, k->key->curve, g, count));
    if (out->workspace_bytes <= workspace_most) return CUZK_OK;
    return FAIL(t, CUZK_TOO_LARGE, "a sum of %llu points takes %zu bytes", (unsigned long long)count,
                out->workspace_bytes);
}

/* The sweep's, whatever the number of bitmaps: the last sweep of a batch may have fewer. */
static cuzk_status sweep_bytes(size_t *most, struct task *t, const struct batch_plan *p, enum groth16_query q)
{
    const struct key_split *k = p->split;
    struct bit_sum_plan bits;

    for (unsigned n = 1; n <= p->sweep; n++) {
        TRY(k->backend->bit_sum_plan(&bits, t, k->device, k->key->curve, k->rows[q].group, k->row[q].count,
                                     n));
        *most = larger(*most, bits.workspace_bytes);
    }
    return CUZK_OK;
}

static cuzk_status plan_back(struct batch_plan *p, struct task *t, uint64_t room)
{
    const struct key_split *k = p->split;
    const size_t gathered = arena_round(gathered_bytes(p));
    const uint64_t left = room > gathered + ARENA_ALIGN ? room - gathered - ARENA_ALIGN : 0,
                   most = left < SUM_BYTES_MOST ? left : SUM_BYTES_MOST;

    TRY(plan_sum(&p->h, t, k, k->rows[QUERY_H].group, k->rows[QUERY_H].count, most));
    p->run_bytes = p->h.workspace_bytes;
    for (enum groth16_query q = 0; q < QUERY_H; q++) {
        TRY(plan_sum(&p->wide[q], t, k, k->rows[q].group, k->row[q].wide_count, most));
        p->run_bytes = larger(p->run_bytes, p->wide[q].workspace_bytes);
        TRY(sweep_bytes(&p->run_bytes, t, p, q));
    }
    p->back_bytes = gathered + arena_round(p->run_bytes);
    return CUZK_OK;
}

/* -- the block --------------------------------------------------------------------------------------------------------- */

static void plan_front(struct batch_plan *p)
{
    const struct key_split *k = p->split;
    const struct circuit_image *m = k->program.image;
    size_t at = 0;

    p->statement_bytes = (image_statement_bytes(m) + 63) & ~(size_t)63;
    p->bits_stride = (image_bits_bytes(m) + 15) & ~(size_t)15;
    p->values_stride = image_inputs_bytes(m) + image_numbers_bytes(m);
    place(&at, p->partitions * p->bits_stride);
    p->values_at = place(&at, p->partitions * p->values_stride);
    p->bad_at = place(&at, p->partitions * BATCH_BAD_BYTES);
    p->kept_bytes = at;
    p->vector_bytes = arena_round(p->quotient.vector_bytes);
    for (unsigned i = 0; i < p->slots; i++) p->a_at[i] = place(&at, p->quotient.vector_bytes);
    p->b_at = place(&at, p->quotient.vector_bytes);
    p->front_at = at;
    p->front_bytes = arena_round(larger(k->assign.workspace_bytes, p->quotient.workspace_bytes));
}

static void plan_block(struct batch_plan *p)
{
    const size_t front_end = p->front_at + p->front_bytes;

    p->back_at = p->slots == 1 ? p->b_at : front_end;
    p->run_at = p->back_at + arena_round(gathered_bytes(p));
    p->block_bytes = larger(front_end, p->back_at + p->back_bytes);
}

static uint64_t stream_bytes(const struct key_split *k, uint64_t *memory_bytes)
{
    struct device_info info;

    k->backend->info(k->device, &info);
    *memory_bytes = info.memory_bytes;
    return info.stream_bytes;
}

/* Bytes of the device that batches do not get, and what each has. */
struct share {
    uint64_t fixed, each, lanes, memory;
};

static void share_of(struct share *s, const struct key_split *k, const struct batch_limits *l)
{
    uint64_t memory;

    s->fixed = k->key_bytes + arena_round(k->bytes);
    s->each = 2 * stream_bytes(k, &memory);
    s->lanes = l->lanes != 0 ? l->lanes : 1;
    s->memory = l->memory_bytes != 0 ? l->memory_bytes : memory;
}

/* Bytes for a block of each lane. */
static uint64_t room_of(const struct share *s)
{
    const uint64_t taken = s->fixed + s->lanes * s->each;

    return s->memory > taken ? (s->memory - taken) / s->lanes : 0;
}

/* In  room  for the block.  Errors  CUZK_TOO_LARGE: it does not fit. */
static cuzk_status plan_within(struct batch_plan *p, struct task *t, unsigned partitions, unsigned slots,
                               const struct batch_limits *l, uint64_t room)
{
    p->partitions = partitions;
    p->slots = slots;
    p->sweep = l->sweep != 0 && l->sweep < partitions ? l->sweep : partitions;
    plan_front(p);
    const size_t before = slots == 1 ? p->b_at : p->front_at + p->front_bytes;
    TRY(plan_back(p, t, room > before ? room - before : 0));
    plan_block(p);
    if (p->block_bytes <= room) return CUZK_OK;
    return FAIL(t, CUZK_TOO_LARGE, "a batch of %u takes %zu bytes", partitions, p->block_bytes);
}

/* What the smallest takes, about: sums take less where they get less, to a point that only trying finds. */
static cuzk_status too_large(struct task *t, struct batch_plan *p, const struct batch_limits *l,
                             const struct share *s)
{
    const struct key_split *k = p->split;
    struct device_info info;
    struct task quiet;

    for (uint64_t room = (uint64_t)1 << 20; room != 0; room *= 2) {
        task_init(&quiet);
        if (plan_within(p, &quiet, 1, 1, l, p->b_at + room) == CUZK_OK) break;
    }
    k->backend->info(k->device, &info);
    const uint64_t needed = s->fixed + s->lanes * (s->each + p->block_bytes);
    const cuzk_status status = FAIL(t, CUZK_TOO_LARGE,
                                    "a batch on this key takes %llu bytes of device memory at least (%llu of "
                                    "them for the key and its points "
                                    "of numbers); %s device %u gives %llu",
                                    (unsigned long long)needed, (unsigned long long)s->fixed,
                                    k->backend->name, info.index, (unsigned long long)s->memory);
    task_fail_place(t, k->key->file.path, ERROR_NO_OFFSET, NULL, "use a device with more memory");
    return status;
}

cuzk_status prove_batch_plan(struct batch_plan *out, struct task *t, const struct key_split *split,
                             const struct batch_limits *limits)
{
    struct share s;
    struct task quiet; /* that a larger one does not fit is no error */

    if (limits->partitions == 0 || limits->partitions > BATCH_MOST)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a batch of %u partitions; there may be 1 to %d",
                    limits->partitions, BATCH_MOST);
    memset(out, 0, sizeof *out);
    out->split = split;
    out->check_rows = limits->check_rows;
    TRY(h_poly_plan(&out->quotient, t, split->key, split->backend, split->device));
    share_of(&s, split, limits);
    for (unsigned k = limits->partitions; k > 0; k /= 2)
        for (unsigned slots = 2; slots > 0; slots--) {
            if (k == 1 && slots == 2) continue; /* there is no next one */
            task_init(&quiet);
            if (plan_within(out, &quiet, k, slots, limits, room_of(&s)) != CUZK_OK) continue;
            out->total_bytes = s.fixed + s.lanes * (s.each + out->block_bytes);
            return CUZK_OK;
        }
    return too_large(t, out, limits, &s);
}
