/* Every kernel of the CUDA backend once, on as little as it takes, against the CPU backend or the definition: for compute-sanitizer, under
 * which a kernel takes a hundred times as long, and on the emulated device.
 *
 *     test_cuda_small [PATTERN...]     PATTERN: cases whose name matches
 *
 * Kernels that an operation launches only for many points (levels of the reduction, folded buckets, partitions that several blocks sort,
 * passes that are the contiguous ones of large transforms) are launched by themselves, with the same launchers.  On the emulated device,
 * which is an H200 by its counts, a run of all cases fails if a kernel of the sources was not launched: tools/list_kernels.py says which
 * there are. */
#include "support/cm.h"

#include "backend/cuda/bits_kernels.h"
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/interlock_kernels.h"
#include "backend/cuda/msm_whole_kernels.h"
#include "circuits/gadgets/evaluate.h"
#include "circuits/gadgets/gadgets.h"
#include "r1cs/image_program.h"
#include "support/prng.h"
#include "support/random_statement.h"
#include "support/small_image.h"
#if defined(CUZK_CUDA_EMULATED)
#include "cuda_host.h"
#endif

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum side_id { CPU, CARD, SIDES };
struct side {
    const struct backend *b;
    enum mem_kind kind;
    struct device *d;
    struct stream *s;
};
static struct side side[SIDES];
static struct task t;
static struct prng rng;
static const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };

#define OK(call)                                                        \
    do {                                                                \
        if ((call) != CUZK_OK) fail_msg("%s: %s", #call, t.error.text); \
    } while (0)
#define LAUNCHED(call)                                                                     \
    do {                                                                                   \
        const int code_ = (call);                                                          \
        if (code_ != 0) fail_msg("%s: %s", #call, cudaGetErrorString((cudaError_t)code_)); \
    } while (0)

static void *allocate(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    assert_non_null(p);
    return p;
}

static struct buffer take(enum side_id x, size_t bytes)
{
    struct buffer b;
    OK(side[x].b->buffer_take(&b, &t, side[x].d, side[x].kind, bytes, 0));
    return b;
}

static struct buffer take_with(enum side_id x, const void *data, size_t bytes)
{
    struct buffer b = take(x, bytes);
    OK(side[x].b->upload(side[x].s, &t, &b, 0, data, bytes));
    return b;
}

static void give(enum side_id x, struct buffer *b) { side[x].b->buffer_give(b); }

static void fetch(enum side_id x, void *to, const struct buffer *from, size_t bytes)
{
    OK(side[x].b->download(side[x].s, &t, to, from, 0, bytes));
    OK(side[x].b->stream_sync(side[x].s, &t));
}

static cudaStream_t handle(void) { return side[CARD].s->handle; }

/* -- inputs ------------------------------------------------------------------------------------------------------------ */

static void random_int(const struct curve *c, struct fr_int *out)
{
    do {
        prng_bytes(&rng, out, sizeof *out);
        out->w[3] &= UINT64_MAX >> 1;
    } while (!c->fr.int_is_canonical(out));
}

static struct fr *random_elements(const struct curve *c, size_t n)
{
    struct fr *out = allocate(n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        struct fr_int k;
        random_int(c, &k);
        c->fr.from_int(&out[i], &k);
    }
    return out;
}

static struct fr_int *random_ints(const struct curve *c, size_t n)
{
    struct fr_int *out = allocate(n * sizeof *out);
    for (size_t i = 0; i < n; i++) random_int(c, &out[i]);
    return out;
}

/* A small integer or its negative. */
static struct fr_int small_int(const struct curve *c, int v)
{
    struct fr_int out = { { (uint64_t)abs(v), 0, 0, 0 } };
    struct fr x;
    if (v >= 0) return out;
    c->fr.from_int(&x, &out);
    c->fr.neg(&x, &x);
    c->fr.to_int(&out, &x);
    return out;
}

/* Multiples of the generator in a row from a random one on; some at infinity, some equal to the one before, some its negative. */
static uint8_t *random_points(const struct curve *c, enum group_id id, size_t n)
{
    const struct group *g = c->group[id];
    struct g_jac *p = allocate(n * sizeof *p), base;
    uint8_t *out = allocate(n * g->aff_bytes);
    struct fr_int k;
    random_int(c, &k);
    g->jac_from_aff(&base, &g->generator);
    g->jac_mul(&base, &base, &k);
    for (size_t i = 0; i < n; i++) {
        const uint64_t kind = prng_below(&rng, 20);
        if (i == 0)
            p[i] = base;
        else
            g->jac_add(&p[i], &p[i - 1], &base);
        if (i && kind == 0) p[i] = p[i - 1];
        if (i && kind == 1) g->jac_neg(&p[i], &p[i - 1]);
        if (kind == 2) g->jac_set_inf(&p[i]);
    }
    g->batch_to_aff(out, p, n);
    free(p);
    return out;
}

static void assert_points_equal(const struct group *g, const struct g_jac *got, const struct g_jac *expected,
                                const char *what)
{
    if (!g->jac_eq(got, expected)) fail_msg("%s: %s", g->name, what);
}

/* -- sorting ----------------------------------------------------------------------------------------------------------- */

/* One window of a sum, with the arrays of its sort: scalars are at most BUCKETS - 1 in absolute value. */
enum { WINDOW_BITS = 10, BUCKETS = 1 << (WINDOW_BITS - 1) };
struct window {
    struct msm_group g;
    struct msm_recode recode;
    struct msm_sort s;
    struct buffer all;
    size_t used;
};

static void *carve(struct window *w, size_t bytes)
{
    void *p = w->all.data + w->used;
    w->used += (bytes + 255) & ~(size_t)255;
    assert_true(w->used <= w->all.bytes);
    return p;
}

static void window_open(struct window *w, const struct curve *c, uint32_t count, uint32_t piece,
                        size_t more_bytes)
{
    memset(w, 0, sizeof *w);
    w->g = (struct msm_group){ .windows = { WINDOW_BITS, 1, 1 },
                               .end = 1,
                               .bucket_count = BUCKETS,
                               .low_bits = WINDOW_BITS - 1,
                               .part_count = 1,
                               .piece = piece,
                               .piece_max = 2 * count / piece + 1,
                               .count = count };
    memcpy(w->recode.modulus, c->fr.modulus.w, sizeof w->recode.modulus);
    w->recode.bias[0] = BUCKETS; /* half a window */
    w->s.chunk_max = count / MSM_CHUNK + count / MSM_BIG_PART + 1;
    w->all = take(CARD, (1 << 20) + 24 * (size_t)count + 40 * (size_t)w->g.piece_max + more_bytes);
    struct msm_sort *s = &w->s;
    s->counters = carve(w, COUNTER_COUNT * sizeof *s->counters);
    s->digits = carve(w, count * sizeof *s->digits);
    s->part_start = carve(w, 2 * sizeof *s->part_start);
    s->part_cursor = carve(w, sizeof *s->part_cursor);
    s->entry_point = carve(w, count * sizeof *s->entry_point);
    s->entry_low = carve(w, count * sizeof *s->entry_low);
    s->list = carve(w, count * sizeof *s->list);
    s->bucket_start = carve(w, (BUCKETS + 1) * sizeof *s->bucket_start);
    s->chunks = carve(w, s->chunk_max * sizeof *s->chunks);
    s->chunk_cursor = carve(w, BUCKETS * sizeof *s->chunk_cursor);
    s->load_cursor = carve(w, MSM_LOADS * sizeof *s->load_cursor);
    s->order = carve(w, (BUCKETS + w->g.piece_max) * sizeof *s->order);
    s->pieces = carve(w, w->g.piece_max * sizeof *s->pieces);
    s->heavy = carve(w, w->g.piece_max * sizeof *s->heavy);
}

static void window_sort(struct window *w, const struct curve *c, const int *digits)
{
    struct fr_int *scalars = allocate(w->g.count * sizeof *scalars);
    for (uint32_t i = 0; i < w->g.count; i++) scalars[i] = small_int(c, digits[i]);
    struct buffer on = take_with(CARD, scalars, w->g.count * sizeof *scalars);
    LAUNCHED(msm_launch_sort(&w->g, &w->recode, &w->s, on.data, NULL, side[CARD].d->sm_count, handle()));
    OK(side[CARD].b->stream_sync(side[CARD].s, &t));
    give(CARD, &on);
    free(scalars);
}

static void window_fetch(const struct window *w, void *to, const void *from, size_t bytes)
{
    const struct buffer b = buffer_piece(&w->all, (size_t)((const uint8_t *)from - w->all.data), bytes);
    fetch(CARD, to, &b, bytes);
}

/* The list has every point in the bucket of its digit, with its sign, and every bucket or piece of one is in the order once. */
static void window_check(const struct window *w, const int *digits)
{
    const uint32_t n = w->g.count;
    uint32_t *list = allocate(n * sizeof *list), *start = allocate((BUCKETS + 1) * sizeof *start),
             counters[COUNTER_COUNT], entries = 0;
    bool *seen = allocate(n);
    window_fetch(w, start, w->s.bucket_start, (BUCKETS + 1) * sizeof *start);
    window_fetch(w, counters, w->s.counters, sizeof counters);
    for (uint32_t i = 0; i < n; i++) entries += digits[i] != 0;
    assert_int_equal(counters[COUNTER_NOT_CANONICAL], 0);
    assert_int_equal(counters[COUNTER_ENTRIES], entries);
    window_fetch(w, list, w->s.list, entries * sizeof *list); /* the rest has not been written */
    assert_int_equal(start[BUCKETS], entries);
    for (uint32_t b = 0; b < BUCKETS; b++)
        for (uint32_t at = start[b]; at < start[b + 1]; at++) {
            const uint32_t i = list[at] & 0x7fffffffu;
            assert_true(i < n && !seen[i]);
            seen[i] = true;
            assert_int_equal(digits[i], list[at] >> 31 ? -(int)(b + 1) : (int)(b + 1));
        }
    const uint32_t tasks = counters[COUNTER_TASKS];
    uint32_t *order = allocate((tasks + 1) * sizeof *order), added = 0, cut = 0;
    struct msm_pair *pieces = allocate((counters[COUNTER_PIECES] + 1) * sizeof *pieces);
    assert_true(tasks <= BUCKETS + w->g.piece_max && counters[COUNTER_PIECES] <= w->g.piece_max);
    window_fetch(w, order, w->s.order, tasks * sizeof *order);
    window_fetch(w, pieces, w->s.pieces, counters[COUNTER_PIECES] * sizeof *pieces);
    for (uint32_t k = 0; k < tasks; k++) {
        const uint32_t which = order[k] & 0x7fffffffu;
        if (order[k] >> 31) {
            assert_true(which < counters[COUNTER_PIECES]);
            added += pieces[which].b;
            cut++;
        } else if (which < BUCKETS) {
            added += start[which + 1] - start[which];
        }
    }
    assert_int_equal(cut, counters[COUNTER_PIECES]);
    assert_int_equal(added, entries);
    free(list);
    free(start);
    free(seen);
    free(order);
    free(pieces);
}

/* A partition so large that several blocks sort it. */
static void sort(void **state)
{
    enum { COUNT = MSM_BIG_PART + 4321 };
    struct window w;
    int *digits = allocate(COUNT * sizeof *digits);
    (void)state;
    for (int i = 0; i < COUNT; i++)
        digits[i] = prng_below(&rng, 8) ? (int)prng_below(&rng, 2 * BUCKETS - 1) - (BUCKETS - 1) : 7;
    digits[COUNT - 1] = 3; /* fewer than 1 in MSM_BIG_PART are 0 */
    for (int i = 0; i < COUNT; i++)
        if (digits[i] == 0) digits[i] = i % 100 ? 5 : 0;
    window_open(&w, &curve_bn254, COUNT, 1024, 0);
    window_sort(&w, &curve_bn254, digits);
    window_check(&w, digits);
    give(CARD, &w.all);
    free(digits);
}

/* -- sums -------------------------------------------------------------------------------------------------------------- */

struct kernels {
    int (*accumulate)(void *buckets, void *piece_sums, const void *points, const struct msm_group *g,
                      const struct msm_sort *s, void *stream);
    int (*accumulate_affine)(void *buckets, void *piece_sums, const void *points, const struct msm_sort *s,
                             const struct msm_affine *a, void *stream);
    int (*accumulate_whole)(void *buckets, void *piece_sums, const void *points, const struct msm_group *g,
                            const struct msm_sort *s, void *stream); /* or NULL */
    int (*reduce)(void *jacobian, void *scratch, const void *buckets, const struct msm_windows *w,
                  const struct msm_reduction *r, void *stream);
    int (*fold)(void *items, const void *buckets, uint32_t first, uint32_t end, uint32_t log2, void *stream);
    int (*rows)(void *rows, uint32_t stride, const struct bits_items *i, uint32_t bitmap_count,
                uint32_t parts, void *stream);
    int (*join)(void *jacobian, const void *rows, uint32_t stride, uint32_t count, uint32_t bitmap_count,
                void *stream);
};
#define KERNELS(name, whole)                                                                 \
    {                                                                                        \
        msm_##name##_accumulate, msm_##name##_accumulate_affine, whole, msm_##name##_reduce, \
            bits_##name##_fold, bits_##name##_rows, bits_##name##_join                       \
    }
static const struct kernels kernels[2][2] = { { KERNELS(bn254_g1, NULL), KERNELS(bn254_g2, NULL) },
                                              { KERNELS(bls12_381_g1, NULL),
                                                KERNELS(bls12_381_g2, msm_bls12_381_g2_accumulate_whole) } };

static const struct kernels *kernels_of(const struct curve *c, enum group_id id)
{
    return &kernels[c->id == CURVE_BLS12_381][id];
}

static void msm_on(enum side_id x, const struct curve *c, enum group_id id, struct g_jac *out,
                   const uint8_t *points, const struct fr_int *scalars, size_t n, const uint32_t *gather)
{
    struct msm_plan plan;
    OK(side[x].b->msm_plan(&plan, &t, side[x].d, c, id, n));
    struct buffer p = take_with(x, points, n * c->group[id]->aff_bytes),
                  k = take_with(x, scalars, n * sizeof *scalars),
                  list = take_with(x, gather, gather ? n * sizeof *gather : 0),
                  ws = take(x, plan.workspace_bytes);
    OK(side[x].b->msm(side[x].s, &t, &plan, out, &p, 0, &k, 0, gather ? &list : NULL, &ws));
    OK(side[x].b->stream_sync(side[x].s, &t));
    give(x, &p);
    give(x, &k);
    give(x, &list);
    give(x, &ws);
}

/* 2^REDUCE_SEG_LOG2 buckets a segment, then one level of the reduction. */
enum {
    SEG_LOG2 = 1,
    SHIFT = SEG_LOG2 + MSM_REDUCE_EACH_LOG2,
    ITEM_LOG2 = WINDOW_BITS - 1 - SHIFT,
    JOBS = ITEM_LOG2 + 2,
    PARTS = 2
};

/* A window's sum from what the reduction left, as cuda_msm_finish does. */
static void window_finish(const struct group *g, struct g_jac *out, const uint8_t *terms)
{
    struct g_jac term[JOBS];
    memset(term, 0, sizeof term);
    for (unsigned job = 0; job < JOBS; job++) memcpy(&term[job], terms + job * g->jac_bytes, g->jac_bytes);
    g->jac_set_inf(out);
    for (unsigned bit = WINDOW_BITS; bit-- > 0;) {
        g->jac_dbl(out, out);
        if (bit >= SHIFT && bit < SHIFT + ITEM_LOG2 && !g->jac_is_inf(&term[2 + bit - SHIFT]))
            g->jac_add(out, out, &term[2 + bit - SHIFT]);
        for (unsigned plain = 0; plain < 2 && bit == 0; plain++)
            if (!g->jac_is_inf(&term[plain])) g->jac_add(out, out, &term[plain]);
    }
}

/* One window with a bucket of more than 32 pieces and one of a few, which are joined by different kernels; by both kinds of additions. */
static void window_sums(const struct curve *c, enum group_id id)
{
    enum { COUNT = 2600, PIECE = 64, FOLD_LOG2 = 3, FOLDED = BUCKETS >> FOLD_LOG2, AFFINE_STEPS = 3 };
    const struct group *g = c->group[id];
    const struct kernels *k = kernels_of(c, id);
    const size_t xyzz = 2 * g->aff_bytes;
    uint8_t *points = random_points(c, id, COUNT), terms[JOBS * sizeof(struct g_jac)];
    int *digits = allocate(COUNT * sizeof *digits);
    struct fr_int *scalars = allocate(COUNT * sizeof *scalars), *signs = allocate(COUNT * sizeof *signs);
    struct g_jac expected, all, got;
    struct window w;
    for (int i = 0; i < COUNT; i++) {
        digits[i] = i % 11 == 0           ? (int)prng_below(&rng, 2 * BUCKETS - 1) - (BUCKETS - 1)
                    : i % 13 == 0         ? -9
                    : prng_below(&rng, 2) ? 300
                                          : -300;
        scalars[i] = small_int(c, digits[i]);
        signs[i] = small_int(c, (digits[i] > 0) - (digits[i] < 0));
    }
    msm_on(CPU, c, id, &expected, points, scalars, COUNT, NULL);
    msm_on(CPU, c, id, &all, points, signs, COUNT, NULL);
    window_open(&w, c, COUNT, PIECE, (size_t)8 << 20);
    const uint32_t tasks = BUCKETS + w.g.piece_max;
    void *const buckets = carve(&w, BUCKETS * xyzz), *const piece_sums = carve(&w, w.g.piece_max * xyzz),
                *const items = carve(&w, FOLDED * xyzz), *const rows = carve(&w, PARTS * xyzz),
                *const scratch = carve(&w, (4 * (BUCKETS >> SEG_LOG2) + JOBS * (PARTS + 1)) * xyzz),
                *const jacobian = carve(&w, JOBS * g->jac_bytes);
    struct msm_affine a = { .threads = 8 * (id == GROUP_G2 ? 64 : 128), .inverters = 3, .steps = AFFINE_STEPS };
    a.tiles = carve(&w, (tasks + 31) / 32 * 32 * MSM_AFFINE_TASK_BYTES(g->aff_bytes));
    a.entry = carve(&w, tasks * sizeof *a.entry);
    a.range = carve(&w, tasks * sizeof *a.range);
    a.late = carve(&w, tasks * sizeof *a.late);
    for (int set = 0; set < 2; set++) {
        a.runs[set] = carve(&w, a.threads * (g->aff_bytes / 2));
        a.before[set] = carve(&w, a.threads * (g->aff_bytes / 2));
    }
    struct buffer on = take_with(CARD, points, COUNT * g->aff_bytes);
    static const char *const ways[] = { "a window by XYZZ additions", "a window by affine additions",
                                        "a window by XYZZ additions, a point a thread" };
    const bool whole = k->accumulate_whole && side[CARD].d->shared_bytes >= MSM_WHOLE_BYTES;
    for (int way = 0; way < (whole ? 3 : 2); way++) {
        const struct msm_windows set = w.g.windows;
        const struct msm_reduction r = { .seg_log2 = SEG_LOG2, .levels = 1, .jobs = JOBS, .parts = PARTS };
        window_sort(&w, c, digits);
        if (way == 1)
            LAUNCHED(k->accumulate_affine(buckets, piece_sums, on.data, &w.s, &a, handle()));
        else
            LAUNCHED((way ? k->accumulate_whole : k->accumulate)(buckets, piece_sums, on.data, &w.g, &w.s,
                                                                 handle()));
        LAUNCHED(k->reduce(jacobian, scratch, buckets, &set, &r, handle()));
        window_fetch(&w, terms, jacobian, JOBS * g->jac_bytes);
        window_finish(g, &got, terms);
        assert_points_equal(g, &got, &expected, ways[way]);
        uint32_t counters[COUNTER_COUNT];
        window_fetch(&w, counters, w.s.counters, sizeof counters);
        assert_true(counters[COUNTER_HEAVY] == 2); /* 32 pieces of one and a few of the other */
    }
    window_check(&w, digits);
    /* the same buckets, added up without their weights */
    const struct bits_items every = { items, FOLDED, BITS_NO_BIT };
    LAUNCHED(k->fold(items, buckets, 0, FOLDED, FOLD_LOG2, handle()));
    LAUNCHED(k->rows(rows, PARTS, &every, 1, PARTS, handle()));
    LAUNCHED(k->join(jacobian, rows, PARTS, PARTS, 1, handle()));
    memset(&got, 0, sizeof got);
    window_fetch(&w, &got, jacobian, g->jac_bytes);
    assert_points_equal(g, &got, &all, "folded buckets");
    give(CARD, &on);
    give(CARD, &w.all);
    free(points);
    free(digits);
    free(scalars);
    free(signs);
}

/* As the operation makes it; what it launches of a group's kernels the cases of windows do. */
static void msm_gather(void **state)
{
    enum { COUNT = 150 };
    const struct curve *c = &curve_bn254;
    uint8_t *points = random_points(c, GROUP_G1, COUNT);
    struct fr_int *scalars = random_ints(c, COUNT);
    uint32_t gather[COUNT];
    struct g_jac sum[SIDES];
    (void)state;
    for (unsigned i = 0; i < COUNT; i++) gather[i] = (uint32_t)prng_below(&rng, COUNT);
    for (int x = 0; x < SIDES; x++)
        msm_on((enum side_id)x, c, GROUP_G1, &sum[x], points, scalars, COUNT, gather);
    assert_points_equal(&c->g1, &sum[CARD], &sum[CPU], "gathered scalars");
    free(points);
    free(scalars);
}

/* Affine additions over a table of multiples, and multiples of one point. */
static void operation_sums(const struct curve *c, enum group_id id)
{
    enum { COUNT = 60, TABLE_COUNT = 90 };
    const struct group *g = c->group[id];
    uint8_t *points = random_points(c, id, TABLE_COUNT), *got = allocate(COUNT * g->aff_bytes),
            *expected = allocate(COUNT * g->aff_bytes);
    struct fr_int *scalars = random_ints(c, TABLE_COUNT);
    struct g_jac sum[SIDES];
    struct msm_plan plan;
    struct device *const d = side[CARD].d;
    d->msm_accumulation = MSM_AFFINE;
    OK(side[CARD].b->msm_table_plan(&plan, &t, d, c, id, TABLE_COUNT, (uint64_t)16 << 20));
    d->msm_accumulation = MSM_ANY;
    assert_true(plan.row_count > 1 && plan.accumulation == MSM_AFFINE);
    struct buffer on = take_with(CARD, points, TABLE_COUNT * g->aff_bytes),
                  table = take(CARD, plan.table_bytes),
                  k = take_with(CARD, scalars, TABLE_COUNT * sizeof *scalars),
                  ws = take(CARD, plan.workspace_bytes);
    OK(side[CARD].b->msm_table_make(side[CARD].s, &t, &plan, &table, &on, 0));
    OK(side[CARD].b->msm(side[CARD].s, &t, &plan, &sum[CARD], &table, 0, &k, 0, NULL, &ws));
    OK(side[CARD].b->stream_sync(side[CARD].s, &t));
    msm_on(CPU, c, id, &sum[CPU], points, scalars, TABLE_COUNT, NULL);
    assert_points_equal(g, &sum[CARD], &sum[CPU], "affine additions over a table");
    give(CARD, &on);
    give(CARD, &table);
    give(CARD, &k);
    give(CARD, &ws);

    scalars[1] = small_int(c, 0);
    scalars[2] = small_int(c, -1);
    for (int x = 0; x < SIDES; x++) {
        struct buffer out = take((enum side_id)x, COUNT * g->aff_bytes),
                      in = take_with((enum side_id)x, scalars, COUNT * sizeof *scalars);
        struct g_aff base;
        memset(&base, 0, sizeof base);
        memcpy(&base, points + COUNT * g->aff_bytes, g->aff_bytes);
        if (g->aff_is_inf(&base)) base = g->generator;
        OK(side[x].b->fixed_base(side[x].s, &t, c, id, &out, 0, &base, &in, 0, COUNT));
        fetch((enum side_id)x, x == CARD ? got : expected, &out, COUNT * g->aff_bytes);
        give((enum side_id)x, &out);
        give((enum side_id)x, &in);
    }
    assert_memory_equal(got, expected, COUNT * g->aff_bytes);
    free(points);
    free(got);
    free(expected);
    free(scalars);
}

#define SUMS(name, curve, group)                \
    static void window_##name(void **state)     \
    {                                           \
        (void)state;                            \
        window_sums(curve, group);              \
    }                                           \
    static void operations_##name(void **state) \
    {                                           \
        (void)state;                            \
        operation_sums(curve, group);           \
    }
SUMS(bn254_g1, &curve_bn254, GROUP_G1)
SUMS(bn254_g2, &curve_bn254, GROUP_G2)
SUMS(bls12_381_g1, &curve_bls12_381, GROUP_G1)
SUMS(bls12_381_g2, &curve_bls12_381, GROUP_G2)

/* -- sums over bitmaps, values told apart ------------------------------------------------------------------------------ */

static void bit_sums(const struct curve *c, enum group_id id)
{
    enum { COUNT = 700, BITMAPS = 4 };
    const struct group *g = c->group[id];
    /* a list for one bitmap; patterns of three bitmaps, then of the one left */
    static const struct bit_sum_choice choices[2] = { { 0, 0, 1 << 14 }, { 3, 9, 1 << 14 } };
    uint8_t *points = random_points(c, id, COUNT), bits[BITMAPS * ((COUNT + 127) / 128 * 16)];
    prng_bytes(&rng, bits, sizeof bits);
    for (int k = 0; k < 2; k++) {
        const unsigned count = k ? BITMAPS : 1;
        struct g_jac got[SIDES][BITMAPS];
        for (int x = 0; x < SIDES; x++) {
            struct bit_sum_plan plan;
            OK(side[x].b->bit_sum_plan(&plan, &t, side[x].d, c, id, COUNT, count));
            if (x == CARD) cuda_bit_sum_plan_as(&plan, side[x].d, c, id, COUNT, count, &choices[k]);
            assert_int_equal(plan.bitmap_bytes * BITMAPS, sizeof bits);
            struct buffer p = take_with((enum side_id)x, points, COUNT * g->aff_bytes),
                          b = take_with((enum side_id)x, bits, sizeof bits),
                          ws = take((enum side_id)x, plan.workspace_bytes);
            OK(side[x].b->bit_sum(side[x].s, &t, &plan, got[x], &p, 0, &b, 0, &ws));
            OK(side[x].b->stream_sync(side[x].s, &t));
            give((enum side_id)x, &p);
            give((enum side_id)x, &b);
            give((enum side_id)x, &ws);
        }
        for (unsigned i = 0; i < count; i++)
            assert_points_equal(g, &got[CARD][i], &got[CPU][i], k ? "patterns of bits" : "a list of points");
    }
    free(points);
}

static void bits_bn254(void **state)
{
    (void)state;
    bit_sums(&curve_bn254, GROUP_G1);
    bit_sums(&curve_bn254, GROUP_G2);
}
static void bits_bls12_381(void **state)
{
    (void)state;
    bit_sums(&curve_bls12_381, GROUP_G1);
    bit_sums(&curve_bls12_381, GROUP_G2);
}

static void witness_values(const struct curve *c, struct fr_int *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = small_int(c, (int)prng_below(&rng, 2));
        if (prng_below(&rng, 10) == 0) out[i] = small_int(c, (int)prng_below(&rng, 9) - 4);
        if (prng_below(&rng, 30) == 0) random_int(c, &out[i]);
    }
}

static void classify_values(void **state)
{
    enum { COUNT = 5000, WIDE_MAX = 1000 };
    struct fr_int *values = allocate(COUNT * sizeof *values);
    struct classify_plan plan[SIDES];
    struct classify_counts counts[SIDES];
    uint8_t *left[SIDES][3];
    (void)state;
    witness_values(&curve_bn254, values, COUNT);
    for (int x = 0; x < SIDES; x++) {
        const enum side_id on = (enum side_id)x;
        OK(side[x].b->classify_plan(&plan[x], &t, side[x].d, COUNT, WIDE_MAX));
        struct buffer in = take_with(on, values, COUNT * sizeof *values), cb = take(on, sizeof counts[x]),
                      ws = take(on, plan[x].workspace_bytes),
                      out[3] = { take(on, plan[x].bitmap_bytes), take(on, plan[x].index_bytes),
                                 take(on, plan[x].values_bytes) };
        OK(side[x].b->classify(side[x].s, &t, &plan[x], &cb, &out[0], &out[1], &out[2], &in, 0, NULL, &ws));
        fetch(on, &counts[x], &cb, sizeof counts[x]);
        for (int k = 0; k < 3; k++) {
            left[x][k] = allocate(out[k].bytes);
            fetch(on, left[x][k], &out[k], out[k].bytes);
            give(on, &out[k]);
        }
        give(on, &in);
        give(on, &cb);
        give(on, &ws);
    }
    assert_memory_equal(&counts[CARD], &counts[CPU], sizeof counts[CPU]);
    assert_memory_equal(left[CARD][0], left[CPU][0], plan[CPU].bitmap_bytes);
    assert_memory_equal(left[CARD][1], left[CPU][1], plan[CPU].index_bytes);
    assert_memory_equal(left[CARD][2], left[CPU][2], plan[CPU].values_bytes);
    for (int x = 0; x < SIDES; x++)
        for (int k = 0; k < 3; k++) free(left[x][k]);
    free(values);
}

static void gathered(void **state)
{
    enum { COUNT = 300, INDEX_COUNT = 500, BITMAPS = 3, FIRST = 17 };
    const size_t bytes = curve_bls12_381.g2.aff_bytes, bits_bytes = bitmap_bytes(COUNT),
                 out_bytes = bitmap_bytes(INDEX_COUNT);
    uint8_t *points = random_points(&curve_bls12_381, GROUP_G2, COUNT),
            *bits = allocate(BITMAPS * bits_bytes), *left[SIDES][2];
    uint32_t index[INDEX_COUNT];
    (void)state;
    prng_bytes(&rng, bits, BITMAPS * bits_bytes);
    for (unsigned j = 0; j < INDEX_COUNT; j++)
        index[j] = prng_below(&rng, 9) ? (uint32_t)prng_below(&rng, COUNT) : CLASSIFY_NONE;
    for (int x = 0; x < SIDES; x++) {
        const enum side_id on = (enum side_id)x;
        struct buffer p = take_with(on, points, COUNT * bytes), list = take_with(on, index, sizeof index),
                      b = take_with(on, bits, BITMAPS * bits_bytes),
                      out[2] = { take(on, INDEX_COUNT * bytes), take(on, BITMAPS * out_bytes) };
        OK(side[x].b->gather_points(side[x].s, &t, &curve_bls12_381, GROUP_G2, &out[0], &p, 0, COUNT, &list,
                                    INDEX_COUNT));
        OK(side[x].b->gather_bits(side[x].s, &t, &out[1], &b, 0, bits_bytes, BITMAPS, &list, INDEX_COUNT,
                                  FIRST));
        for (int k = 0; k < 2; k++) {
            left[x][k] = allocate(out[k].bytes);
            fetch(on, left[x][k], &out[k], out[k].bytes);
            give(on, &out[k]);
        }
        give(on, &p);
        give(on, &list);
        give(on, &b);
    }
    assert_memory_equal(left[CARD][0], left[CPU][0], INDEX_COUNT * bytes);
    assert_memory_equal(left[CARD][1], left[CPU][1], BITMAPS * out_bytes);
    for (int x = 0; x < SIDES; x++)
        for (int k = 0; k < 2; k++) free(left[x][k]);
    free(points);
    free(bits);
}

/* All of them together, with taking apart made to look cheap. */
static void split(void **state)
{
    enum { COUNT = 200, WIDE_MAX = 60, BATCH = 2 };
    const struct curve *c = &curve_bn254;
    uint8_t *points = random_points(c, GROUP_G1, COUNT);
    struct fr_int *values[BATCH];
    struct g_jac got[SIDES][BATCH];
    (void)state;
    for (int k = 0; k < BATCH; k++) {
        values[k] = allocate(COUNT * sizeof **values);
        witness_values(c, values[k], COUNT);
    }
    for (int x = 0; x < SIDES; x++) {
        const enum side_id on = (enum side_id)x;
        struct backend eager = *side[x].b;
        struct split_plan plan;
        eager.value_cost = 1;
        eager.call_cost = -1e18;
        OK(split_msm_plan(&plan, &t, &eager, side[x].d, c, GROUP_G1, COUNT, BATCH, WIDE_MAX));
        assert_true(plan.split);
        struct buffer p = take_with(on, points, COUNT * c->g1.aff_bytes), ws = take(on, plan.workspace_bytes),
                      k[BATCH];
        for (int i = 0; i < BATCH; i++) k[i] = take_with(on, values[i], COUNT * sizeof **values);
        OK(split_msm(side[x].s, &t, &eager, &plan, got[x], &p, 0, k, 0, NULL, &ws));
        give(on, &p);
        give(on, &ws);
        for (int i = 0; i < BATCH; i++) give(on, &k[i]);
    }
    for (int k = 0; k < BATCH; k++) {
        assert_points_equal(&c->g1, &got[CARD][k], &got[CPU][k], "values told apart");
        free(values[k]);
    }
    free(points);
}

/* -- transforms -------------------------------------------------------------------------------------------------------- */

static void ntt_on(enum side_id x, const struct domain *d, struct fr *data, bool inverse, bool coset)
{
    struct buffer b = take_with(x, data, d->size * sizeof *data);
    OK(side[x].b->ntt(side[x].s, &t, d, &b, inverse, coset));
    fetch(x, data, &b, d->size * sizeof *data);
    give(x, &b);
}

/* Sizes of one block and of two passes, whose first are of 6, 7, 8 and 9 levels; both directions, on the domain and on its coset. */
static void transforms(const struct curve *c)
{
    static const unsigned sizes[] = { 5, 12, 13, 14, 15 };
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        struct domain d;
        OK(domain_init(&d, &t, c, i % 2 ? ROOT_SNARKJS : ROOT_BELLMAN, sizes[i]));
        struct fr *data = random_elements(c, d.size), *expected = allocate(d.size * sizeof *expected);
        for (int kind = 0; kind < 4; kind++) {
            if (i && kind == (int)(i % 4)) continue; /* three of the four on the larger ones */
            memcpy(expected, data, d.size * sizeof *expected);
            ntt_on(CPU, &d, expected, kind & 1, kind & 2);
            ntt_on(CARD, &d, data, kind & 1, kind & 2);
            assert_memory_equal(data, expected, d.size * sizeof *expected);
        }
        free(data);
        free(expected);
    }
}

static void quotients(const struct curve *c)
{
    static const unsigned sizes[] = { 5, 12 };
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
        for (int mode = QUOTIENT_ODD_COSET_LAGRANGE; mode <= QUOTIENT_COSET_PRODUCT; mode++) {
            struct domain d;
            OK(domain_init(&d, &t, c, ROOT_BELLMAN, sizes[i]));
            const size_t bytes = d.size * sizeof(struct fr);
            struct fr *a = random_elements(c, d.size), *b = random_elements(c, d.size), *left[SIDES];
            for (int x = 0; x < SIDES; x++) {
                const enum side_id on = (enum side_id)x;
                struct quotient_plan plan;
                OK(side[x].b->quotient_plan(&plan, &t, side[x].d, &d, (enum quotient_mode)mode));
                struct buffer ab = take_with(on, a, bytes), bb = take_with(on, b, bytes),
                              ws = take(on, plan.workspace_bytes);
                OK(side[x].b->quotient(side[x].s, &t, &plan, &ab, &ab, &bb, &ws));
                left[x] = allocate(bytes);
                fetch(on, left[x], &ab, bytes);
                give(on, &ab);
                give(on, &bb);
                give(on, &ws);
            }
            assert_memory_equal(left[CARD], left[CPU], bytes);
            free(a);
            free(b);
            free(left[CPU]);
            free(left[CARD]);
        }
}

typedef int pass_launcher(void *data, const struct ntt_pass *p, void *stream);
#define PASS(name, levels)                                                                                  \
    {                                                                                                       \
        ntt_##name##_pass##levels##_dif, ntt_##name##_pass##levels##_dit, ntt_##name##_pass##levels##_fused \
    }
#define PASSES(name)                                               \
    {                                                              \
        PASS(name, 6), PASS(name, 7), PASS(name, 8), PASS(name, 9) \
    }
static pass_launcher *const passes[2][NTT_PASS_MAX - NTT_PASS_MIN + 1][3] = { PASSES(bn254),
                                                                              PASSES(bls12_381) };

static size_t reversed(size_t i, unsigned log2)
{
    size_t out = 0;
    for (unsigned b = 0; b < log2; b++) out |= (i >> b & 1) << (log2 - 1 - b);
    return out;
}

static struct buffer powers_of(const struct curve *c, const struct fr *root, unsigned log2)
{
    struct fr power[1 << NTT_PASS_MAX];
    c->fr.from_u64(&power[0], 1);
    for (size_t i = 1; i < (size_t)1 << log2; i++) c->fr.mul(&power[i], &power[i - 1], root);
    return take_with(CARD, power, sizeof *power << log2);
}

static void eighth_roots(const struct curve *c, struct ntt_element *out, const struct fr *root, unsigned log2)
{
    struct fr w8, p;
    c->fr.pow(&w8, root, (uint64_t)1 << (log2 - 3));
    p = w8;
    for (int i = 0; i < 3; i++) {
        memcpy(&out[i], &p, sizeof out[i]);
        c->fr.mul(&p, &p, &w8);
    }
}

/* The contiguous passes alone: a block of 1024 points is a transform for each run of 2^levels, whose results a table scales. */
static void contiguous_pass(const struct curve *c, unsigned levels, unsigned kind)
{
    enum { DIF, DIT, FUSED, BLOCK_LOG2 = 10, BLOCK = 1 << BLOCK_LOG2 };
    const size_t n = (size_t)1 << levels;
    struct domain d;
    OK(domain_init(&d, &t, c, ROOT_SNARKJS, levels));
    struct fr *data = random_elements(c, BLOCK), *expected = allocate(BLOCK * sizeof *expected),
              *scale = random_elements(c, n), of_n;
    c->fr.from_u64(&of_n, n);
    for (size_t run = 0; run < BLOCK; run += n) {
        struct fr x[1 << NTT_PASS_MAX], *out = expected + run;
        memcpy(x, data + run, n * sizeof *x);
        if (kind != DIT) { /* to bit-reversed order, then scaled */
            ntt_on(CPU, &d, x, false, false);
            for (size_t i = 0; i < n; i++) c->fr.mul(&out[i], &x[reversed(i, levels)], &scale[i]);
            memcpy(x, out, n * sizeof *x);
        } else {
            for (size_t i = 0; i < n; i++) c->fr.mul(&x[i], &x[i], &scale[i]);
        }
        if (kind == DIF) continue;
        for (size_t i = 0; i < n; i++) out[i] = x[reversed(i, levels)];
        ntt_on(CPU, &d, out, kind == FUSED, false); /* back by the inverse root, without the division */
        for (size_t i = 0; i < n && kind == FUSED; i++) c->fr.mul(&out[i], &out[i], &of_n);
    }
    struct buffer on = take_with(CARD, data, BLOCK * sizeof *data), inner = powers_of(c, &d.omega, levels),
                  inner_back = powers_of(c, &d.omega_inv, levels),
                  factors = take_with(CARD, scale, n * sizeof *scale);
    struct ntt_pass p = { .size_log2 = BLOCK_LOG2,
                          .levels = levels,
                          .inner = inner.data,
                          .inner_back = inner_back.data,
                          .scale = factors.data,
                          .canonical = true };
    eighth_roots(c, p.w8, &d.omega, levels);
    eighth_roots(c, p.w8_back, &d.omega_inv, levels);
    LAUNCHED(passes[c->id == CURVE_BLS12_381][levels - NTT_PASS_MIN][kind](on.data, &p, handle()));
    fetch(CARD, data, &on, BLOCK * sizeof *data);
    if (memcmp(data, expected, BLOCK * sizeof *data) != 0)
        fail_msg("%s: contiguous pass of %u levels, kind %u", c->name, levels, kind);
    give(CARD, &on);
    give(CARD, &inner);
    give(CARD, &inner_back);
    give(CARD, &factors);
    free(data);
    free(expected);
    free(scale);
}

static void contiguous_passes(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++)
        for (unsigned levels = NTT_PASS_MIN; levels <= NTT_PASS_MAX; levels++)
            for (unsigned kind = 0; kind < 3; kind++) contiguous_pass(curves[c], levels, kind);
}

static void ntt_bn254(void **state)
{
    (void)state;
    transforms(&curve_bn254);
}
static void ntt_bls12_381(void **state)
{
    (void)state;
    transforms(&curve_bls12_381);
}
static void quotient_bn254(void **state)
{
    (void)state;
    quotients(&curve_bn254);
}
static void quotient_bls12_381(void **state)
{
    (void)state;
    quotients(&curve_bls12_381);
}

static void group_ntt(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const struct curve *c = curves[k];
        struct domain d;
        OK(domain_init(&d, &t, c, ROOT_SNARKJS, 5));
        const size_t bytes = d.size * c->g1.aff_bytes;
        uint8_t *points = random_points(c, GROUP_G1, d.size), *left[SIDES];
        struct fr *factors = random_elements(c, 2);
        for (int x = 0; x < SIDES; x++) {
            const enum side_id on = (enum side_id)x;
            struct group_ntt_plan plan;
            OK(side[x].b->group_ntt_plan(&plan, &t, side[x].d, &d, true, &factors[0], &factors[1]));
            struct buffer p = take_with(on, points, bytes), ws = take(on, plan.workspace_bytes);
            OK(side[x].b->group_ntt(side[x].s, &t, &plan, &p, 0, plan.pass_count, &ws));
            left[x] = allocate(bytes);
            fetch(on, left[x], &p, bytes);
            give(on, &p);
            give(on, &ws);
        }
        assert_memory_equal(left[CARD], left[CPU], bytes);
        free(points);
        free(factors);
        free(left[CPU]);
        free(left[CARD]);
    }
}

/* -- circuits ---------------------------------------------------------------------------------------------------------- */

/* Rows of a few entries and one of many, which a block of its own sums. */
static void eval(void **state)
{
    enum { ROWS = 250, COLUMNS = 200, ENTRIES = 2400, OUT = 256, LONG_ROW = 7 };
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const struct curve *c = curves[k];
        struct fr_int *values = random_ints(c, COLUMNS);
        struct fr *coefficients = random_elements(c, ENTRIES), *left[SIDES];
        uint32_t row[ENTRIES];
        struct csr_builder *builder;
        struct csr m;
        values[0] = small_int(c, 1);
        OK(csr_builder_create(&builder, &t, c, ROWS, COLUMNS));
        for (size_t i = 0; i < ENTRIES; i++) {
            row[i] = i % 3 ? LONG_ROW : (uint32_t)prng_below(&rng, ROWS);
            if (i % 4 < 2) c->fr.from_u64(&coefficients[i], 1);
            if (i % 4 == 1) c->fr.neg(&coefficients[i], &coefficients[i]);
            csr_builder_count(builder, row[i]);
        }
        OK(csr_builder_ready(builder, &t));
        for (size_t i = 0; i < ENTRIES; i++)
            OK(csr_builder_place(builder, &t, row[i], (uint32_t)prng_below(&rng, COLUMNS), &coefficients[i]));
        csr_builder_finish(builder, &m);
        const struct witness w = { .curve = c,
                                   .values = span_of(values, COLUMNS * sizeof *values),
                                   .count = COLUMNS };
        for (int x = 0; x < SIDES; x++) {
            const enum side_id on = (enum side_id)x;
            struct eval_plan plan;
            OK(side[x].b->eval_plan(&plan, &t, side[x].d, &m, OUT));
            struct buffer out = take(on, OUT * sizeof(struct fr)), ws = take(on, plan.workspace_bytes);
            OK(side[x].b->eval(side[x].s, &t, &plan, &out, &m, &w, &ws));
            left[x] = allocate(out.bytes);
            fetch(on, left[x], &out, out.bytes);
            give(on, &out);
            give(on, &ws);
        }
        assert_memory_equal(left[CARD], left[CPU], OUT * sizeof(struct fr));
        csr_fini(&m);
        free(values);
        free(coefficients);
        free(left[CPU]);
        free(left[CARD]);
    }
}

static struct image_values values_take(const struct circuit_image *m)
{
    const struct image_values v = { .bits = take(CARD, image_bits_bytes(m)),
                                    .numbers = take(CARD, image_numbers_bytes(m)),
                                    .inputs = take(CARD, image_inputs_bytes(m)) };
    return v;
}

static void values_give(struct image_values *v)
{
    give(CARD, &v->bits);
    give(CARD, &v->numbers);
    give(CARD, &v->inputs);
}

/* A circuit image: its rows, checked and not, and its witness as sums take it. */
static void image_eval(void **state)
{
    const struct side *x = &side[CARD];
    struct small_image s;
    struct image_eval_plan plan;
    (void)state;
    small_image_open(&s, &rng);
    const struct circuit_image *m = &s.image;
    OK(x->b->image_eval_plan(&plan, &t, x->d, m, SMALL_IMAGE_ROWS_MAX));
    const size_t bytes = SMALL_IMAGE_ROWS_MAX * sizeof(struct fr),
                 count = (size_t)plan.input_count + plan.aux_count;
    struct buffer tables = take(CARD, plan.tables_bytes), a = take(CARD, bytes), b = take(CARD, bytes),
                  bad = take(CARD, sizeof(uint64_t)), scalars = take(CARD, count * sizeof(struct fr_int));
    struct image_values v = values_take(m);
    bls12_381_fr_t *expected = allocate(2 * bytes);
    bls12_381_fr_int *expected_scalars = allocate(count * sizeof *expected_scalars);
    uint8_t *got = allocate(bytes > scalars.bytes ? bytes : scalars.bytes);
    OK(image_evaluate(m, &t, expected, expected + SMALL_IMAGE_ROWS_MAX, &s.assignment, &s.map));
    assignment_values(&s.assignment, &s.map, expected_scalars);
    OK(x->b->image_upload(x->s, &t, &plan, &tables, m));
    OK(x->b->upload(x->s, &t, &v.bits, 0, s.assignment.bits, v.bits.bytes));
    OK(x->b->upload(x->s, &t, &v.numbers, 0, s.assignment.numbers, v.numbers.bytes));
    OK(x->b->upload(x->s, &t, &v.inputs, 0, s.assignment.inputs, v.inputs.bytes));
    for (int check = 0; check < 2; check++) {
        uint64_t bad_row = 0;
        OK(x->b->image_eval(x->s, &t, &plan, &a, &b, &tables, &v, check ? &bad : NULL));
        fetch(CARD, got, &a, bytes);
        assert_memory_equal(got, expected, bytes);
        fetch(CARD, got, &b, bytes);
        assert_memory_equal(got, expected + SMALL_IMAGE_ROWS_MAX, bytes);
        if (!check) continue;
        fetch(CARD, &bad_row, &bad, sizeof bad_row);
        assert_true(bad_row == UINT64_MAX);
    }
    OK(x->b->image_scalars(x->s, &t, &plan, &scalars, &tables, &v));
    fetch(CARD, got, &scalars, scalars.bytes);
    assert_memory_equal(got, expected_scalars, scalars.bytes);
    struct buffer *const all[] = { &tables, &a, &b, &bad, &scalars };
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) give(CARD, all[i]);
    values_give(&v);
    free(expected);
    free(expected_scalars);
    free(got);
    small_image_close(&s);
}

/* The witness of a circuit with a hash of each kind. */
static void image_assigned(void **state)
{
    const struct side *x = &side[CARD];
    struct builder *builder;
    struct circuit_image m;
    struct word message[8], digest[8];
    struct random_statement s;
    struct image_program program;
    struct image_assign_plan plan;
    struct assignment expected;
    (void)state;
    OK(builder_create(&builder, &t, "hashes"));
    for (unsigned i = 0; i < 8; i++) word_index(builder, &message[i], 32);
    gadget_sha256(builder, digest, message, 8);
    const struct number pair[2] = { gadget_pack_digest(builder, digest), number_source(builder) };
    number_input(builder, gadget_poseidon(builder, pair, 2));
    OK(builder_finish(builder, &m));
    random_statement_make(&s, &m, &rng);
    const struct statement statement = random_statement_view(&s);
    OK(assignment_create(&expected, &t, &m));
    OK(image_assign(&m, &t, &expected, &statement));
    OK(image_program_create(&program, &t, &m));
    assert_true(program.job_count != 0); /* word functions, whose bits a kernel of its own writes */
    OK(x->b->image_assign_plan(&plan, &t, x->d, &program));
    struct buffer programs = take(CARD, plan.program_bytes), ws = take(CARD, plan.workspace_bytes),
                  in = take(CARD, plan.statement_bytes);
    struct image_values v = values_take(&m);
    uint8_t *got = allocate(v.bits.bytes + v.numbers.bytes + v.inputs.bytes);
    OK(x->b->image_program_upload(x->s, &t, &programs, &program));
    OK(x->b->upload(x->s, &t, &in, 0, s.numbers, image_statement_words(&m)));
    OK(x->b->upload(x->s, &t, &in, image_statement_words(&m), s.words, 4 * (size_t)m.source_word_total));
    OK(x->b->image_assign(x->s, &t, &plan, &v, &program, &programs, &in, &ws));
    OK(x->b->stream_sync(x->s, &t));
    fetch(CARD, got, &v.bits, v.bits.bytes);
    assert_memory_equal(got, expected.bits, v.bits.bytes);
    fetch(CARD, got, &v.numbers, v.numbers.bytes);
    assert_memory_equal(got, expected.numbers, v.numbers.bytes);
    fetch(CARD, got, &v.inputs, v.inputs.bytes);
    assert_memory_equal(got, expected.inputs, v.inputs.bytes);
    give(CARD, &programs);
    give(CARD, &ws);
    give(CARD, &in);
    values_give(&v);
    free(got);
    assignment_fini(&expected);
    image_program_fini(&program);
    random_statement_fini(&s);
    image_fini(&m);
}

/* The interlock bench's kernel, by its definition. */
static void mix(void **state)
{
    enum { WORDS = 700, ROUNDS = 9, BLOCKS = 2 };
    uint32_t data[WORDS][4];
    uint64_t expected = 5, got = 5;
    (void)state;
    prng_bytes(&rng, data, sizeof data);
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t x = (uint64_t)data[i][1] << 32 | data[i][0], y = (uint64_t)data[i][3] << 32 | data[i][2];
        for (uint32_t k = 0; k < ROUNDS; k++) {
            x = (x & 0xffffffffu) * (y >> 32) + (y ^ k);
            y = (y & 0xffffffffu) * (x >> 32) + x;
        }
        expected += x + y;
    }
    struct buffer on = take_with(CARD, data, sizeof data), sum = take_with(CARD, &got, sizeof got);
    LAUNCHED(interlock_launch(on.data, WORDS, ROUNDS, BLOCKS, (uint64_t *)(void *)sum.data, handle()));
    fetch(CARD, &got, &sum, sizeof got);
    assert_int_equal(got, expected);
    give(CARD, &on);
    give(CARD, &sum);
}

/* -- the run ----------------------------------------------------------------------------------------------------------- */

static int side_open(struct side *x, const char *backend, enum mem_kind kind)
{
    const struct device_options o = { .memory_bytes = kind == MEM_DEVICE ? (uint64_t)400 << 20 : 0,
                                      .pinned_bytes = kind == MEM_DEVICE ? 1 << 20 : 0 };
    x->b = backend_by_name(backend);
    x->kind = kind;
    if (x->b->open(&x->d, &t, &o) == CUZK_OK && x->b->stream_open(&x->s, &t, x->d) == CUZK_OK) return 0;
    printf("%s: cannot be opened: %s\n", backend, t.error.text);
    return 1;
}

static void side_close(struct side *x)
{
    x->b->stream_close(x->s);
    x->b->close(x->d);
}

#if defined(CUZK_CUDA_EMULATED)
static void emulate(size_t shared_kib)
{
    struct cuda_host_config c = cuda_host_default();
    c.seed = prng_below(&rng, 1 << 20);
    c.sm_count = 132; /* plans, and with them launches, are those of an H200 */
    c.shared_bytes = shared_kib << 10;
    cuda_host_configure(&c);
}

/* What goes by a card's shared memory, on the two kinds of cards that have less; and then: was every kernel launched? */
static int rest(void)
{
    static const struct {
        const char *source, *kernel;
    } all[] = {
#include "kernel_list.h"
    };
    static const size_t shared_kib[] = { 163, 99, 64 };
    const struct CMUnitTest by_memory[] = {
        cmocka_unit_test(sort),
        cmocka_unit_test(window_bls12_381_g1),
        cmocka_unit_test(window_bls12_381_g2),
        cmocka_unit_test(ntt_bls12_381),
        cmocka_unit_test(quotient_bn254),
    };
    int failed = 0;
    for (size_t i = 0; i < ARRAY_COUNT(shared_kib); i++) {
        side_close(&side[CARD]);
        emulate(shared_kib[i]);
        if (side_open(&side[CARD], "cuda", MEM_DEVICE) != 0) exit(1);
        failed += cmocka_run_group_tests_name("less shared memory", by_memory, NULL, NULL);
    }
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        if (cuda_host_launched(all[i].source, all[i].kernel)) continue;
        printf("not launched: %s of %s\n", all[i].kernel, all[i].source);
        failed++;
    }
    printf("%zu kernels, %d not launched or wrong\n", ARRAY_COUNT(all), failed);
    return failed;
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(sort),
        cmocka_unit_test(window_bn254_g1),
        cmocka_unit_test(window_bn254_g2),
        cmocka_unit_test(window_bls12_381_g1),
        cmocka_unit_test(window_bls12_381_g2),
        cmocka_unit_test(msm_gather),
        cmocka_unit_test(operations_bn254_g1),
        cmocka_unit_test(operations_bn254_g2),
        cmocka_unit_test(operations_bls12_381_g1),
        cmocka_unit_test(operations_bls12_381_g2),
        cmocka_unit_test(bits_bn254),
        cmocka_unit_test(bits_bls12_381),
        cmocka_unit_test(classify_values),
        cmocka_unit_test(gathered),
        cmocka_unit_test(split),
        cmocka_unit_test(ntt_bn254),
        cmocka_unit_test(ntt_bls12_381),
        cmocka_unit_test(contiguous_passes),
        cmocka_unit_test(quotient_bn254),
        cmocka_unit_test(quotient_bls12_381),
        cmocka_unit_test(group_ntt),
        cmocka_unit_test(eval),
        cmocka_unit_test(image_eval),
        cmocka_unit_test(image_assigned),
        cmocka_unit_test(mix),
    };
    const struct backend *b = backend_by_name("cuda");
    size_t count = 0;
    task_init(&t);
    prng_init(&rng);
#if defined(CUZK_CUDA_EMULATED)
    emulate(227);
#endif
    if (!b || b->probe(&t, NULL, 0, &count) != CUZK_OK || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    struct CMUnitTest chosen[ARRAY_COUNT(cases)];
    size_t chosen_count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        bool matches = argc < 2;
        for (int k = 1; k < argc; k++) matches |= fnmatch(argv[k], cases[i].name, 0) == 0;
        if (matches) chosen[chosen_count++] = cases[i];
    }
    if (chosen_count == 0) {
        printf("no case has such a name\n");
        return 2;
    }
    if (side_open(&side[CPU], "cpu", MEM_HEAP) != 0 || side_open(&side[CARD], "cuda", MEM_DEVICE) != 0)
        return 1;
    int failed = _cmocka_run_group_tests("every kernel", chosen, chosen_count, NULL, NULL);
#if defined(CUZK_CUDA_EMULATED)
    if (argc < 2) failed += rest();
#endif
    side_close(&side[CARD]);
    side_close(&side[CPU]);
    return failed;
}
