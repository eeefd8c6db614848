/* What a batch takes of a device, and the largest that fits. */
#include "base/arena.h"
#include "base/hostmem.h"
#include "groth16/h_poly.h"
#include "groth16/prove_batch.h"
#include <string.h>

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t place(size_t *at, size_t bytes)
{
    const size_t here = *at;

    *at += arena_round(bytes);
    return here;
}

/* -- pieces ------------------------------------------------------------------------------------------------------------ */

static uint64_t kept_of(const struct batch_plan *p, enum groth16_query q)
{
    return p->keep.streams ? p->keep.count[q] : p->split->row[q].count;
}

/* The kept points of H are one piece; others are cut alike, so that each is kept or sent. */
unsigned batch_piece_count(const struct batch_plan *p, enum groth16_query q)
{
    const uint64_t count = p->split->row[q].count, kept = q == QUERY_H ? kept_of(p, q) : 0;

    return (kept != 0) + (unsigned)((count - kept + p->piece[q] - 1) / p->piece[q]);
}

struct key_piece batch_piece(const struct batch_plan *p, const struct batch_at *at)
{
    const enum groth16_query q = at->query;
    const uint64_t total = p->split->row[q].count, kept = kept_of(p, q);
    const bool kept_h = q == QUERY_H && kept != 0;
    struct key_piece piece = { .query = q, .first = 0, .count = kept, .kept = true };
    uint64_t index = at->index;

    if (kept_h && index == 0) return piece;
    if (q == QUERY_H) {
        index = at->partition % 2 == 0 ? index - kept_h : batch_piece_count(p, q) - 1 - index;
        piece.first = kept;
    }
    piece.first += index * p->piece[q];
    piece.count = total - piece.first < p->piece[q] ? total - piece.first : p->piece[q];
    piece.kept = piece.first + piece.count <= kept;
    return piece;
}

bool batch_next(const struct batch_plan *p, unsigned count, struct batch_at *at)
{
    const bool sweeps = (at->partition + 1) % p->sweep == 0 || at->partition + 1 == count;

    at->index++;
    while (at->index >= batch_piece_count(p, at->query)) {
        at->index = 0;
        if (at->query == QUERY_H && sweeps) {
            at->query = QUERY_A;
        } else if (at->query < QUERY_L) {
            at->query++;
        } else {
            at->query = QUERY_H;
            if (++at->partition == count) return false;
        }
    }
    return true;
}

static size_t point_bytes(const struct batch_plan *p, enum groth16_query q)
{
    return p->split->key->curve->group[p->split->rows[q].group]->aff_bytes;
}

/* What a batch of all partitions sends of each query: the sequence, with nothing in the places but their names. */
static void link_bytes_of(uint64_t of[QUERY_COUNT], const struct batch_plan *p)
{
    struct batch_at at = { 0, QUERY_H, 0 };
    struct feed_places places = { 0 };

    memset(of, 0, QUERY_COUNT * sizeof *of);
    if (!p->keep.streams) return;
    do {
        const struct key_piece piece = batch_piece(p, &at);
        if (piece.kept) continue;
        if (feed_find(&places, &piece) == FEED_PLACES) {
            places.of[feed_free(&places)] = piece;
            of[piece.query] += piece.count * point_bytes(p, piece.query);
        }
        places.last = feed_find(&places, &piece);
    } while (batch_next(p, p->partitions, &at));
}

/* -- the back's workspace ---------------------------------------------------------------------------------------------- */

static uint64_t longest_piece(const struct batch_plan *p, enum groth16_query q)
{
    return p->piece[q] < p->split->row[q].count ? p->piece[q] : p->split->row[q].count;
}

/* Bitmaps in the order of a query whose points are not in the order of the variables. */
static size_t gathered_bytes(const struct batch_plan *p)
{
    size_t most = 0;

    for (enum groth16_query q = 0; q < QUERY_H; q++)
        if (p->split->rows[q].gather != NULL)
            most = larger(most, p->sweep * bitmap_bytes(longest_piece(p, q)));
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

/* Of a query's sweep, whatever the number of bitmaps and of points: the last sweep of a batch and the last piece of a query may have fewer. */
static cuzk_status query_sweep_bytes(size_t *most, struct task *t, const struct batch_plan *p,
                                     enum groth16_query q)
{
    const struct key_split *k = p->split;
    const uint64_t longest = longest_piece(p, q), rest = k->row[q].count % p->piece[q],
                   least = rest != 0 ? rest : longest;
    struct bit_sum_plan bits;

    for (unsigned n = 1; n <= p->sweep; n++) {
        TRY(k->backend->bit_sum_plan(&bits, t, k->device, k->key->curve, k->rows[q].group, longest, n));
        *most = larger(*most, bits.workspace_bytes);
        TRY(k->backend->bit_sum_plan(&bits, t, k->device, k->key->curve, k->rows[q].group, least, n));
        *most = larger(*most, bits.workspace_bytes);
    }
    return CUZK_OK;
}

/* How points are cut is there: what sweeps take, once for all that is tried with this cut. */
static cuzk_status plan_sweeps(struct batch_plan *p, struct task *t)
{
    p->sweep_bytes = 0;
    for (enum groth16_query q = 0; q < QUERY_H; q++) TRY(query_sweep_bytes(&p->sweep_bytes, t, p, q));
    return CUZK_OK;
}

static cuzk_status plan_h(struct batch_plan *p, struct task *t, uint64_t workspace_most)
{
    const struct key_split *k = p->split;
    const uint64_t count = k->row[QUERY_H].count, kept = kept_of(p, QUERY_H), sent = count - kept;
    const enum group_id g = k->rows[QUERY_H].group;

    if (kept != 0) TRY(plan_sum(&p->h_kept, t, k, g, kept, workspace_most));
    if (sent >= p->piece[QUERY_H]) TRY(plan_sum(&p->h, t, k, g, p->piece[QUERY_H], workspace_most));
    if (sent % p->piece[QUERY_H] != 0)
        TRY(plan_sum(&p->h_last, t, k, g, sent % p->piece[QUERY_H], workspace_most));
    p->run_bytes = larger(p->run_bytes, larger(p->h_kept.workspace_bytes,
                                               larger(p->h.workspace_bytes, p->h_last.workspace_bytes)));
    return CUZK_OK;
}

/* In  room  for bitmaps and workspace */
static cuzk_status plan_back(struct batch_plan *p, struct task *t, uint64_t room)
{
    static const struct msm_plan none;
    const struct key_split *k = p->split;
    const size_t gathered = arena_round(gathered_bytes(p));
    const uint64_t most = room > gathered + ARENA_ALIGN ? room - gathered - ARENA_ALIGN : 0;

    p->run_bytes = p->sweep_bytes;
    p->h_kept = p->h = p->h_last = none;
    TRY(plan_h(p, t, most));
    for (enum groth16_query q = 0; q < QUERY_H; q++) {
        TRY(plan_sum(&p->wide[q], t, k, k->rows[q].group, k->row[q].wide_count, most));
        p->run_bytes = larger(p->run_bytes, p->wide[q].workspace_bytes);
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
    for (unsigned i = 0; i < FEED_PLACES; i++) p->place_at[i] = place(&at, p->place_bytes);
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
    uint64_t each, lanes, memory;
};

static void share_of(struct share *s, const struct key_split *k, const struct batch_limits *l)
{
    uint64_t memory;

    s->each = 2 * stream_bytes(k, &memory);
    s->lanes = l->lanes != 0 ? l->lanes : 1;
    s->memory = l->memory_bytes != 0 ? l->memory_bytes : memory;
}

/* With what is kept: what is on the device for all batches, and what all of it takes. */
static uint64_t fixed_bytes(const struct batch_plan *p) { return key_split_device_bytes(p->split, &p->keep); }

static uint64_t host_bytes_of(const struct batch_plan *p, const struct share *s)
{
    return key_split_host_bytes(p->split, &p->keep) + s->lanes * p->partitions * p->statement_bytes;
}

static uint64_t host_needed(const struct batch_plan *p, const struct share *s)
{
    return host_bytes_of(p, s) + p->split->key->heap_bytes;
}

static bool host_room(const struct batch_plan *p, const struct batch_limits *l, const struct share *s)
{
    return l->host_bytes == 0 || host_needed(p, s) <= l->host_bytes;
}

static uint64_t total_bytes(const struct batch_plan *p, const struct share *s)
{
    return fixed_bytes(p) + s->lanes * (s->each + p->block_bytes);
}

/* Bytes for a block of each lane. */
static uint64_t room_of(const struct batch_plan *p, const struct share *s)
{
    const uint64_t taken = fixed_bytes(p) + s->lanes * s->each;

    return s->memory > taken ? (s->memory - taken) / s->lanes : 0;
}

static void cut(struct batch_plan *p, const struct batch_limits *l, unsigned partitions, unsigned slots)
{
    p->partitions = partitions;
    p->slots = slots;
    p->sweep = l->sweep != 0 && l->sweep < partitions ? l->sweep : partitions;
}

/* Pieces of so many bytes: what fits in a place.  0: one piece each. */
static void cut_points(struct batch_plan *p, uint64_t place_bytes)
{
    p->place_bytes = place_bytes;
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) {
        const uint64_t count = p->split->row[q].count,
                       most = place_bytes != 0 ? place_bytes / point_bytes(p, q) : count;
        p->piece[q] = most < count ? most / BATCH_PIECE_POINTS * BATCH_PIECE_POINTS : count;
        if (p->piece[q] == 0) p->piece[q] = BATCH_PIECE_POINTS;
    }
}

static size_t before_back(const struct batch_plan *p)
{
    return p->slots == 1 ? p->b_at : p->front_at + p->front_bytes;
}

/* Where workspace of a cut's sums begins, about: behind bitmaps. */
static size_t before_run(const struct batch_plan *p)
{
    return before_back(p) + arena_round(gathered_bytes(p)) + 2 * ARENA_ALIGN;
}

/* What is kept and how points are cut is there.  In  room  for the block.  Errors  CUZK_TOO_LARGE: it does not fit. */
static cuzk_status plan_within(struct batch_plan *p, struct task *t, uint64_t room)
{
    plan_front(p);
    const size_t before = before_back(p);
    TRY(plan_back(p, t, room > before ? room - before : 0));
    plan_block(p);
    if (p->block_bytes <= room) return CUZK_OK;
    return FAIL(t, CUZK_TOO_LARGE, "a batch of %u takes %zu bytes", p->partitions, p->block_bytes);
}

/* -- time -------------------------------------------------------------------------------------------------------------- */

/* What plans are compared by: seconds of an H200, whose measured times these are (docs/performance.md, "32 GiB PoRep proofs"; other cards
 * are taken to have the same proportions), and of a link of the fifth generation. */
#define LINK_BYTES_S  50e9   /* 53 GB/s measured, in pieces of 1 GiB */
#define LINK_SHARE    0.1    /* of the link's time even where it hides under sums: a slower one hides less */
#define ADDITIONS_S   3.06e9 /* of sums whose backend foretells no time */
#define TRANSFORM_S   1.05e-11 /* of a point, a level and a transform */
#define SWEEP_PIECE_S 7e-4     /* a piece of a sweep: launches, the join of its sums */
#define ONE_SLOT_COST 1.005    /* 640 ms a partition for 637.6: nothing runs in the ends of a sum's kernels */
static const double bit_s[] = { 4.7e-10, 1.3e-9 }; /* a point of a sweep of ten bitmaps: of G1, of G2 */

static double sum_s(const struct msm_plan *p)
{
    return p->ns != 0 ? p->ns * 1e-9 : p->additions / ADDITIONS_S;
}

/* The sums H of a partition. */
static double sums_h_s(const struct batch_plan *p)
{
    const uint64_t sent = p->split->row[QUERY_H].count - kept_of(p, QUERY_H);

    return sum_s(&p->h_kept) + (double)(sent / p->piece[QUERY_H]) * sum_s(&p->h) + sum_s(&p->h_last);
}

static double quotient_s(const struct batch_plan *p)
{
    const struct groth16_key *k = p->split->key;

    return (k->h_mode == H_LAGRANGE_4 ? 4 : 6) * (double)k->domain.size * k->domain.log2 * TRANSFORM_S;
}

/* A query's part of all sweeps. */
static double sweep_s(const struct batch_plan *p, enum groth16_query q)
{
    const unsigned sweeps = (p->partitions + p->sweep - 1) / p->sweep;
    const double points = (double)p->split->row[q].count * bit_s[p->split->rows[q].group];

    return sweeps * (points + batch_piece_count(p, q) * SWEEP_PIECE_S) + p->partitions * sum_s(&p->wide[q]);
}

static double larger_s(double a, double b) { return a > b ? a : b; }

/* Points are sent under the sums of the same query: each query takes the longer of the two. */
static double cost_of(const struct batch_plan *p)
{
    uint64_t sent[QUERY_COUNT];
    double cost = p->partitions * (quotient_s(p) + sums_h_s(p));

    link_bytes_of(sent, p);
    if (p->slots == 1) cost *= ONE_SLOT_COST;
    cost = larger_s(cost, (double)sent[QUERY_H] / LINK_BYTES_S);
    for (enum groth16_query q = 0; q < QUERY_H; q++)
        cost += larger_s(sweep_s(p, q), (double)sent[q] / LINK_BYTES_S);
    return cost + LINK_SHARE * (double)p->link_bytes / LINK_BYTES_S;
}

/* -- all points on the device ------------------------------------------------------------------------------------------ */

/* Of one slot or two the better: a second vector may take the room in which a sum would sort more windows at once. */
static cuzk_status plan_resident(struct batch_plan *p, struct task *t, const struct batch_limits *l,
                                 const struct share *s, unsigned partitions)
{
    struct batch_plan tried = *p;
    cuzk_status status = CUZK_TOO_LARGE;

    memset(&tried.keep, 0, sizeof tried.keep);
    tried.link_bytes = 0;
    task_init(t);
    cut_points(&tried, 0);
    for (unsigned slots = partitions > 1 ? 2 : 1; slots > 0; slots--) { /* one partition has no next one */
        struct task quiet;
        cut(&tried, l, partitions, slots);
        task_init(&quiet);
        if (plan_sweeps(&tried, &quiet) != CUZK_OK ||
            plan_within(&tried, &quiet, room_of(&tried, s)) != CUZK_OK) {
            if (status != CUZK_OK) *t = quiet;
        } else if (status != CUZK_OK || cost_of(&tried) < cost_of(p)) {
            *p = tried;
            status = CUZK_OK;
        }
    }
    return status;
}

/* -- points that are sent ---------------------------------------------------------------------------------------------- */

/* The least place and workspace that are tried.  Of places far below the largest one no good comes where larger ones fit. */
#define PLACE_LEAST     ((uint64_t)BATCH_PIECE_POINTS * 256)
#define PLACES_TRIED    64
#define SUM_BYTES_LEAST ((uint64_t)64 << 10)
#define RUNS_WORSE      12
#define KEPT_ROUNDING   ((uint64_t)QUERY_COUNT * ARENA_ALIGN) /* of the kept points' places on the device */
#define NO_ROOM_S \
    1e6 /* a plan that wants more locked memory than there is: only where there is no other, for the message */

/* Bytes on the device go where they save most on the link: to H, which each partition needs, then to queries that a sweep needs once. */
static void keep_points(struct batch_plan *p, uint64_t bytes)
{
    static const enum groth16_query order[QUERY_COUNT] = { QUERY_H, QUERY_B2, QUERY_A, QUERY_B1, QUERY_L };

    for (int i = 0; i < QUERY_COUNT; i++) {
        const enum groth16_query q = order[i];
        const uint64_t count = p->split->row[q].count,
                       grain = q == QUERY_H ? BATCH_PIECE_POINTS : p->piece[q],
                       most = bytes / point_bytes(p, q);
        p->keep.count[q] = most < count ? most / grain * grain : count;
        bytes -= p->keep.count[q] * point_bytes(p, q);
    }
}

/* What a cut takes without points: places of place_bytes, workspace of run_bytes at least.  Out: *room for the block. */
static uint64_t cut_bytes(struct batch_plan *p, const struct share *s, uint64_t place_bytes,
                          uint64_t run_bytes, uint64_t *room)
{
    memset(&p->keep, 0, sizeof p->keep);
    p->keep.streams = true;
    cut_points(p, place_bytes);
    plan_front(p);
    *room = larger(p->front_at + p->front_bytes, before_run(p) + run_bytes);
    return fixed_bytes(p) + s->lanes * (s->each + *room) + KEPT_ROUNDING;
}

static void count_link(struct batch_plan *p)
{
    uint64_t of[QUERY_COUNT];

    link_bytes_of(of, p);
    p->link_bytes = 0;
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) p->link_bytes += of[q];
}

static uint64_t keep_most(const struct batch_limits *l, uint64_t bytes)
{
    return l->keep_most != 0 && l->keep_most < bytes ? l->keep_most : bytes;
}

static uint64_t keep_bytes(const struct batch_plan *p)
{
    uint64_t bytes = 0;

    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) bytes += p->keep.count[q] * point_bytes(p, q);
    return bytes;
}

/* Sums have taken less than there was for them, or pieces less than there was for points: as many more as fit beside what is taken. */
static void keep_more(struct batch_plan *p, const struct batch_limits *l, const struct share *s)
{
    const uint64_t taken = total_bytes(p, s) + KEPT_ROUNDING;
    struct batch_plan more = *p;
    struct task quiet;

    if (taken >= s->memory) return;
    task_init(&quiet);
    keep_points(&more, keep_most(l, keep_bytes(p) + s->memory - taken));
    if (plan_within(&more, &quiet, room_of(&more, s)) != CUZK_OK) return;
    count_link(&more);
    if (cost_of(&more) < cost_of(p)) *p = more;
}

/* With the rest for points. */
static cuzk_status plan_cut(struct batch_plan *p, struct task *t, const struct batch_limits *l,
                            const struct share *s, uint64_t place_bytes, uint64_t run_bytes)
{
    uint64_t room;
    const uint64_t left = s->memory - cut_bytes(p, s, place_bytes, run_bytes, &room);

    keep_points(p, keep_most(l, left));
    cuzk_status status = plan_within(p, t, room);
    if (status != CUZK_OK &&
        p->keep.count[QUERY_H] != 0) { /* the sum over what is kept may want more than one over a piece */
        task_init(t);
        keep_points(p, 0);
        status = plan_within(p, t, room);
    }
    if (status != CUZK_OK) return status;
    count_link(p);
    keep_more(p, l, s);
    return CUZK_OK;
}

/* Of places of so many bytes the best cut into *best, if it is better than that: from workspace of all that is left on, less and less,
 * until less has gained nothing RUNS_WORSE times.  Errors  t's task was told to stop; that nothing fits is none. */
static cuzk_status try_places(struct batch_plan *best, double *least, struct task *t, struct batch_plan *p,
                              const struct batch_limits *l, const struct share *s, uint64_t place_bytes)
{
    double own_least = -1;
    unsigned worse = 0;
    struct task quiet;
    uint64_t room;
    const uint64_t taken = cut_bytes(p, s, place_bytes, 0, &room);

    task_init(&quiet);
    if (taken > s->memory || plan_sweeps(p, &quiet) != CUZK_OK) return CUZK_OK;
    const uint64_t left = room - before_run(p) + (s->memory - taken) / s->lanes;
    for (uint64_t run = left; worse < RUNS_WORSE; run -= run / 8) {
        TRY(task_poll(t));
        task_init(&quiet);
        if (plan_cut(p, &quiet, l, s, place_bytes, run) != CUZK_OK) break; /* nor with less */
        const double cost = cost_of(p) + (host_room(p, l, s) ? 0 : NO_ROOM_S);
        if (own_least < 0 || cost < own_least) {
            own_least = cost;
            worse = 0;
        } else if (own_least < NO_ROOM_S) { /* else less leaves more points on the device, until the host has room for the rest */
            worse++;
        }
        if (*least < 0 || cost < *least) {
            *best = *p;
            *least = cost;
        }
        if (run < SUM_BYTES_LEAST) break;
    }
    return CUZK_OK;
}

/* Half of the largest query: with one that fits in a place nothing would be sent under sums. */
static uint64_t largest_place(const struct batch_plan *p)
{
    uint64_t most = PLACE_LEAST, place = PLACE_LEAST;

    for (enum groth16_query q = 0; q < QUERY_COUNT; q++)
        if (p->split->row[q].count * point_bytes(p, q) / 2 > most)
            most = p->split->row[q].count * point_bytes(p, q) / 2;
    while (place * 2 <= most) place *= 2;
    return place;
}

/* Out  *found  whether any such plan fits */
static cuzk_status plan_sending(struct batch_plan *p, bool *found, struct task *t,
                                const struct batch_limits *l, const struct share *s, unsigned partitions)
{
    const uint64_t most = l->place_bytes != 0 ? l->place_bytes : largest_place(p),
                   end = l->place_bytes != 0 ? l->place_bytes : PLACE_LEAST;
    struct batch_plan tried = *p;
    double least = -1;

    for (unsigned slots = partitions > 1 ? 2 : 1; slots > 0; slots--) {
        cut(&tried, l, partitions, slots);
        for (uint64_t place = most; place >= end && (least < 0 || place >= most / PLACES_TRIED); place /= 2)
            TRY(try_places(p, &least, t, &tried, l, s, place));
    }
    *found = least >= 0;
    return CUZK_OK;
}

/* -- the whole --------------------------------------------------------------------------------------------------------- */

static cuzk_status check_host(struct batch_plan *p, struct task *t, const struct batch_limits *l,
                              const struct share *s)
{
    p->host_bytes = host_bytes_of(p, s);
    p->total_bytes = total_bytes(p, s);
    if (!p->keep.streams || host_room(p, l, s)) return CUZK_OK;
    const cuzk_status status =
        FAIL(t, CUZK_TOO_LARGE,
             "points that do not fit on the device take %llu bytes of host memory with "
             "all else there; it gives %llu",
             (unsigned long long)host_needed(p, s), (unsigned long long)l->host_bytes);
    task_fail_place(t, p->split->key->file.path, ERROR_NO_OFFSET, NULL,
                    "use a device with more memory, or more host memory");
    return status;
}

/* What the smallest takes, about: sums take less where they get less, to a point that only trying finds. */
static uint64_t least_bytes(struct batch_plan *p, const struct batch_limits *l, const struct share *s)
{
    struct task quiet;

    cut(p, l, 1, 1);
    memset(&p->keep, 0, sizeof p->keep);
    cut_points(p, 0);
    if (l->sends) {
        p->keep.streams = true;
        cut_points(p, l->place_bytes != 0 ? l->place_bytes : PLACE_LEAST);
    }
    plan_front(p);
    for (uint64_t room = SUM_BYTES_LEAST; room != 0; room *= 2) {
        task_init(&quiet);
        if (plan_sweeps(p, &quiet) == CUZK_OK && plan_within(p, &quiet, before_back(p) + room) == CUZK_OK)
            break;
    }
    return total_bytes(p, s);
}

static cuzk_status too_large(struct task *t, struct batch_plan *p, const struct batch_limits *l,
                             const struct share *s)
{
    const struct key_split *k = p->split;
    const uint64_t needed = least_bytes(p, l, s);
    struct device_info info;

    k->backend->info(k->device, &info);
    const cuzk_status status =
        FAIL(t, CUZK_TOO_LARGE,
             "a batch on this key takes %llu bytes of device memory at least (%llu of them for %s "
             "of numbers); %s device %u gives %llu",
             (unsigned long long)needed, (unsigned long long)fixed_bytes(p),
             p->keep.streams ? "the circuit and the points" : "the key and its points", k->backend->name,
             info.index, (unsigned long long)s->memory);
    task_fail_place(t, k->key->file.path, ERROR_NO_OFFSET, NULL, "use a device with more memory");
    return status;
}

cuzk_status prove_batch_plan(struct batch_plan *out, struct task *t, const struct key_split *split,
                             const struct batch_limits *limits)
{
    struct batch_limits own = *limits;
    struct share s;
    struct task quiet; /* that a larger one does not fit is no error */

    if (limits->partitions == 0 || limits->partitions > BATCH_MOST)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a batch of %u partitions; there may be 1 to %d",
                    limits->partitions, BATCH_MOST);
    if (split->resident != NULL && split->keep.streams)
        return FAIL(t, CUZK_INTERNAL, "a second plan for a key that was loaded for another");
    memset(out, 0, sizeof *out);
    out->split = split;
    out->check_rows = limits->check_rows;
    TRY(h_poly_plan(&out->quotient, t, split->key, split->backend, split->device));
    share_of(&s, split, limits);
    if (own.host_bytes == 0) own.host_bytes = hostmem_limit_bytes();
    for (unsigned k = limits->partitions; k > 0; k /= 2) {
        if (plan_resident(out, &quiet, &own, &s, k) == CUZK_OK) return check_host(out, t, &own, &s);
        bool sends = limits->sends && split->resident == NULL;
        if (sends) TRY(plan_sending(out, &sends, t, &own, &s, k));
        if (sends && (k == 1 || host_room(out, &own, &s))) /* fewer partitions leave more points on the device */
            return check_host(out, t, &own, &s);
    }
    return too_large(t, out, &own, &s);
}
