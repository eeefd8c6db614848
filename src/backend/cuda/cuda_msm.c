/* The MSM on CUDA: its plan, what is enqueued, and the last step on the host.
 *
 * Scalars are replaced by min(s, r - s) with a sign, one bit less, and cut in signed windows of two widths that differ by one, so
 * that all windows are equally full.  Windows are sorted in groups, as many at once as the workspace allows; the buckets of all
 * windows stay until the reduction.  The host adds up one point a window. */
#include "backend/cuda/cuda_device.h"

#include "backend/cuda/msm_kernels.h"
#include "backend/cuda/msm_whole_kernels.h"

#include <string.h>

enum {
    WINDOW_MIN = 5, WINDOW_MAX = 22, /* narrow width; with 4 bits the biased scalar could exceed its windows */
    LOW_BITS = 9,
    SEGMENT_MAX_LOG2 = 6,            /* buckets that one thread (pair of lanes) of the reduction's first level adds up */
    ITEMS_MAX_LOG2 = 11,             /* of a narrow window, for the sums by bits */
    ITEMS_SHARED_LOG2 = 15,          /* the same where there is only one set of buckets */
    PARTS_MAX_LOG2 = 5,              /* that the items of one job are cut in */
    LATE_TASKS = 1 << 19,            /* buckets that are left to XYZZ additions when so few have entries left */
};

/* What sums of a group take, for the plan.  From an H200's kernel times (ncu gpu__time_duration: BLS12-381; fitted to whole sums:
 * BN254).  Other cards are taken to have the same proportions.
 * An addition outside accumulation waits for itself: a full SM takes as long for one addition of each of its threads as a single block. */
struct group_speed {
    double mixed_ns;        /* a mixed addition of accumulation, of one SM that has enough of them; */
    double whole_ns;        /* the same where an SM has the shared memory for a whole point a thread; 0: it is never used */
    double mixed_wait_ns;   /* from one to the next in one bucket */
    double affine_ns;       /* an affine addition of accumulation, likewise */
    double step_ns;         /* what a launch of affine additions takes beside them */
    double invert_ns;       /* and at least, for the inversions of the other half of the buckets; additions beside these slow them down */
    double wait_ns;         /* one addition after another in the reduction */
    uint32_t reduce_tasks;  /* points that an SM adds at once in k_reduce_buckets and k_reduce_next */
    uint32_t sum_blocks;    /* of k_sum_bits on an SM */
    double host_add_ns, host_dbl_ns;
};
#define GROUP_NS  1e5 /* the launches of a group */
#define SORT_NS   2.8 /* of one SM: a digit to its place */
/* Mixed additions that a bucket costs at least in the reduction: rounds alone make sums of few full windows look better than they are. */
#define LEAST_A_BUCKET 4.2
#define SUM_WAITS 1.3 /* an addition of k_sum_bits and k_sum_parts, in additions of k_reduce_buckets */

struct group_kernels {
    int (*accumulate)(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream);
    int (*accumulate_affine)(void *buckets, void *piece_sums, const void *points, const struct msm_sort *s, const struct msm_affine *a, void *stream);
    int (*reduce)(void *jacobian, void *scratch, const void *buckets, const struct msm_windows *w, const struct msm_reduction *r, void *stream);
    int (*fixed_base)(void *points, const void *table, const void *scalars, uint64_t count, void *stream);
    int (*double_row)(void *to, const void *from, uint64_t count, uint32_t doublings, void *stream);
    struct group_speed speed;
    unsigned affine_blocks; /* an SM holds at once */
    uint64_t affine_from;   /* points from which the planner may choose affine additions */
};

/* Affine additions are thought of from these counts of points on, by group, the least at which they were measured to win on an H200
 * (bench_device, groups affine381, affine381g2, affinebn, xyzz381g2): BLS12-381 G1 2^24 74 ms against 85 (2^22 25 and 25), G2 2^24 192
 * against 241, BN254 G1 2^26 137 against 146; NEVER where it was not measured.  From there on shape_ns says which additions take less
 * time: the affine ones where the workspace sorts several windows at once, the XYZZ ones where it sorts one after another (BLS12-381 G1 2^27
 * in 12 groups: 732 ms against 619). */
#define NEVER UINT64_MAX
#define KERNELS(name, upper, from, ...) \
    { msm_##name##_accumulate, msm_##name##_accumulate_affine, msm_##name##_reduce, msm_##name##_fixed_base, msm_##name##_double_row,         \
      { __VA_ARGS__ }, MSM_##upper##_AFFINE_BLOCKS, from }
static const struct group_kernels *kernels_of(const struct curve *c, enum group_id g)
{
    static const struct group_kernels list[2][2] = {
        { KERNELS(bn254_g1, BN254_G1, 1u << 26, 19.8, 0, 7e3, 16.8, 55e3, 120e3, 12e3, 384, 14, 450, 250),
          KERNELS(bn254_g2, BN254_G2, NEVER, 70.2, 0, 15e3, 47, 50e3, 180e3, 20e3, 192, 6, 1100, 600) }, /* its affine figures: in proportion */
        { KERNELS(bls12_381_g1, BLS12_381_G1, 1u << 24, 45.4, 0, 15e3, 31.2, 80e3, 167e3, 17.6e3, 256, 10, 900, 500),
          KERNELS(bls12_381_g2, BLS12_381_G2, 1u << 24, 147.3, 134.6, 28e3, 98, 50e3, 250e3, 28.5e3, 128, 4, 3300, 1700) },
    };
    return &list[c->id == CURVE_BLS12_381][g];
}

/* -- plan -- */

/* Everything that follows from count, window count and group count. */
struct shape {
    struct msm_windows windows; /* of the digits */
    struct msm_windows sets;    /* of the buckets: the same, or one as wide as the widest where a table makes all windows equal */
    bool shared;                /* a table is there */
    uint32_t scalar_bits;       /* sum of the widths */
    uint32_t per_group;         /* windows sorted together */
    uint64_t bucket_count;      /* of all windows */
    uint32_t part_max;          /* partitions of a group at most */
    bool affine;                /* accumulation by affine additions */
    uint32_t affine_threads, affine_inverters;
    struct msm_reduction reduction;
    uint32_t item_log2;         /* items of a narrow window after the reduction's levels: 2^item_log2 */
    double reduction_ns;
    size_t aff_bytes, xyzz_bytes, bucket_bytes, reduce_bytes, group_bytes;
};

static uint64_t root(uint64_t n)
{
    uint64_t r = 0;
    while ((r + 1) * (r + 1) <= n) r++;
    return r;
}

/* Steps of affine additions for `tasks` buckets whose loads have this mean and this variance: until fewer than LATE_TASKS go on.  With so
 * few a step takes its two inversions' 0.12 to 0.25 ms each whatever it adds (0.3 when this number was measured, on an H200), and XYZZ additions
 * finish them sooner. */
static uint64_t steps_of(uint64_t mean, uint64_t tasks)
{
    static const uint16_t beyond[] = { 500, 401, 309, 227, 159, 106, 67, 40, 23, 12, 6 }; /* of 1000 normal values, i / 4 deviations above the mean */
    uint64_t i = 0;
    while (i + 1 < ARRAY_COUNT(beyond) && tasks * beyond[i] > (uint64_t)LATE_TASKS * 1000) i++;
    return mean + (i * root(mean) + 2) / 4;
}

static struct msm_group group_of(const struct shape *s, uint64_t count, uint32_t first)
{
    struct msm_group g;
    const uint32_t w = s->windows.width, half = 1u << (w - 1), end = first + s->per_group < s->windows.count ? first + s->per_group : s->windows.count;
    uint32_t base[2];
    for (int k = 0; k < 2; k++) {
        const uint32_t i = k ? end : first;
        base[k] = i < s->windows.narrow ? i * half : s->windows.narrow * half + (i - s->windows.narrow) * 2 * half;
    }
    g.windows = s->windows;
    g.first = first;
    g.end = end;
    g.shared = s->shared;
    g.bucket_first = s->shared ? 0 : base[0];
    g.bucket_count = s->shared ? (uint32_t)s->bucket_count : base[1] - base[0];
    g.low_bits = w - 1 < LOW_BITS ? w - 1 : w - 1 > LOW_BITS + 11 ? w - 1 - 11 : LOW_BITS; /* at most 2^11 partitions, 2^12 of a wide window */
    g.part_count = g.bucket_count >> g.low_bits;
    g.count = (uint32_t)count;
    /* a piece: eight times the mean load of a narrow bucket, and few enough that every load has a place in the order.  Affine additions
     * go in step through all tasks, so there it is a load that no bucket of random scalars reaches. */
    const uint64_t entries = count * (end - first), mean = s->shared ? entries / g.bucket_count : count >> (w - 1), wanted = s->affine ? mean + 8 * root(mean) : 8 * mean;
    const uint64_t piece = wanted < 64 ? 64 : wanted > MSM_LOADS - 2 ? MSM_LOADS - 2 : wanted;
    g.piece = (uint32_t)piece;
    g.piece_max = (uint32_t)(2 * entries / piece + 1);
    return g;
}

/* Steps of affine additions of one group: by the load of its narrowest windows, whose buckets are the fullest. */
static uint32_t affine_steps(const struct shape *s, const struct msm_group *g)
{
    const uint32_t last = g->end < s->windows.narrow ? g->end : s->windows.narrow, narrow = last > g->first ? last - g->first : 0;
    const uint32_t index_bits = s->windows.width - (narrow != 0);
    const uint64_t mean = s->shared ? (uint64_t)g->count * s->windows.count / s->bucket_count : g->count >> index_bits;
    const uint64_t steps = steps_of(mean, s->shared ? s->bucket_count : (uint64_t)(narrow ? narrow : g->end - g->first) << index_bits);
    return (uint32_t)(steps < 1 ? 1 : steps > MSM_LOADS - 3 ? MSM_LOADS - 3 : steps);
}

/* Carves the arrays of one group out of base (NULL: only counts).  Returns the bytes.  What accumulation by affine additions needs lies
 * over what only the sort needs. */
static size_t group_carve(struct msm_sort *s, struct msm_affine *a, const struct shape *shape, const struct msm_group *g, uint8_t *base)
{
    const uint64_t entries = (uint64_t)g->count * (g->end - g->first), tasks = (uint64_t)g->bucket_count + g->piece_max;
    const size_t run_bytes = shape->affine_threads * (shape->aff_bytes / 2);
    size_t at = 0;
    s->chunk_max = (uint32_t)(entries / MSM_CHUNK + entries / MSM_BIG_PART + 1);
#define CARVE_BYTES(field, bytes)                  \
    field = base ? (void *)(base + at) : NULL;     \
    at += ((size_t)(bytes) + 255) & ~(size_t)255
#define CARVE(field, elements) CARVE_BYTES(s->field, (size_t)(elements) * sizeof *s->field)
    CARVE(counters, COUNTER_COUNT);
    CARVE(list, entries);
    CARVE(bucket_start, g->bucket_count + 1);
    CARVE(load_cursor, MSM_LOADS);
    CARVE(order, tasks);
    CARVE(pieces, g->piece_max);
    CARVE(heavy, g->piece_max);
    const size_t both = at;
    CARVE(digits, entries);
    CARVE(part_start, g->part_count + 1);
    CARVE(part_cursor, g->part_count);
    CARVE(entry_point, entries);
    CARVE(entry_low, entries);
    CARVE(chunks, s->chunk_max);
    CARVE(chunk_cursor, g->bucket_count);
    if (!shape->affine) return at;
    const size_t sort_end = at;
    at = both;
    CARVE_BYTES(a->tiles, (tasks + 31) / 32 * 32 * MSM_AFFINE_TASK_BYTES(shape->aff_bytes));
    CARVE_BYTES(a->entry, tasks * sizeof *a->entry);
    CARVE_BYTES(a->range, tasks * sizeof *a->range);
    CARVE_BYTES(a->late, tasks * sizeof *a->late);
    for (int set = 0; set < 2; set++) {
        CARVE_BYTES(a->runs[set], run_bytes);
        CARVE_BYTES(a->before[set], run_bytes);
    }
#undef CARVE
#undef CARVE_BYTES
    a->threads = shape->affine_threads;
    a->inverters = shape->affine_inverters;
    a->steps = affine_steps(shape, g);
    return at > sort_end ? at : sort_end;
}

static size_t round_up(size_t n) { return (n + 255) & ~(size_t)255; }

static uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/* The reduction that begins with segments of 2^seg_log2 buckets.  Returns the time it takes on the device, and with the host's
 * additions, in ns: rounds of the additions that an SM does at once.  For 508 k buckets of G2 of BLS12-381 segments of 8 take 4 x 14
 * additions and 4 x 12 of k_sum_bits (2.15 and 2.4 ms measured), segments of 32 take 62 and 12 (2.4 and 0.6 ms predicted). */
static double reduction_of(struct shape *s, const struct device *d, const struct group_speed *v, uint32_t seg_log2)
{
    struct msm_reduction *r = &s->reduction;
    const uint64_t tasks = (uint64_t)d->sm_count * v->reduce_tasks;
    const uint32_t sets = s->sets.count, narrow = s->sets.narrow, set_width = s->sets.width;
    uint64_t segments = s->bucket_count >> seg_log2;
    uint32_t shift = seg_log2;
    double waits = (double)(ceil_div(segments, tasks) * 2 * ((1u << seg_log2) - 1));
    r->seg_log2 = seg_log2;
    r->levels = 0;
    s->item_log2 = set_width - 1 - seg_log2;
    while (s->item_log2 > (s->shared ? ITEMS_SHARED_LOG2 : ITEMS_MAX_LOG2)) {
        s->item_log2 -= MSM_REDUCE_EACH_LOG2;
        segments >>= MSM_REDUCE_EACH_LOG2;
        waits += (double)ceil_div(segments, tasks) * (3 * (1 << MSM_REDUCE_EACH_LOG2) + shift);
        shift += MSM_REDUCE_EACH_LOG2;
        r->levels++;
    }
    r->jobs = narrow * (s->item_log2 + 2) + (sets - narrow) * (s->item_log2 + 3);
    const uint32_t parts_log2 = s->item_log2 > 8 ? s->item_log2 - 8 : 0; /* four rounds of 32 items */
    r->parts = 1u << (parts_log2 < PARTS_MAX_LOG2 ? parts_log2 : PARTS_MAX_LOG2);
    const uint64_t items = (1ull << s->item_log2) >> (narrow == sets), rounds = ceil_div(ceil_div(items, r->parts), 32);
    const uint64_t turns = ceil_div((uint64_t)r->jobs * r->parts, (uint64_t)d->sm_count * v->sum_blocks);
    waits += SUM_WAITS * (double)(turns * (rounds + 4) + parts_log2);
    return v->wait_ns * waits + v->host_add_ns * r->jobs;
}

static double larger(double a, double b) { return a > b ? a : b; }

static double mixed_ns_of(const struct group_speed *v, const struct device *d)
{
    return v->whole_ns != 0 && msm_whole_blocks(d->shared_bytes) != 0 ? v->whole_ns : v->mixed_ns;
}

/* One group's additions in XYZZ coordinates: at full speed, or as long as the fullest bucket or piece takes and part of the rest.
 * Between groups its wait shows: 2^27 points of G1 of BLS12-381 in 12 groups took 619 ms, 597 in two. */
static double xyzz_ns(const struct shape *s, const struct device *d, const struct group_speed *v, const struct msm_group *g, double additions)
{
    const double load = s->shared ? (double)g->count * s->windows.count / (double)s->bucket_count : (double)(g->count >> (s->windows.width - 1));
    const double fullest = load + 3 * (double)root((uint64_t)load), waiting = (fullest < g->piece ? fullest : g->piece) * v->mixed_wait_ns;
    const double mixed = additions * mixed_ns_of(v, d) / d->sm_count;
    return larger(mixed, waiting + 0.3 * mixed) + (g->first ? waiting : 0);
}

/* And affine: two launches a step.  What a launch inverts does not shrink with what it adds, so steps through few buckets take as long as
 * their inversions: 12 groups of one window each at 2^27 points of G1 of BLS12-381 took 732 ms, 6 groups 552, one group of all windows 458. */
static double affine_ns(const struct shape *s, const struct device *d, const struct group_speed *v, const struct msm_group *g, double additions)
{
    const double launches = 2 * affine_steps(s, g), each = additions * v->affine_ns / d->sm_count / launches;
    return launches * larger(each + v->step_ns, each * 0.6 + v->invert_ns);
}

/* Time of a sum in ns, but for what all take: accumulation, a group after another; sorting; the reduction; doublings on the host.  Within a
 * tenth of most measured sums of 2^18 to 2^27 points, and a third of those of 2^14. */
static double shape_ns(const struct shape *s, const struct device *d, const struct group_speed *v, uint64_t count)
{
    double ns = (double)count * s->windows.count * SORT_NS / d->sm_count + s->reduction_ns + (s->shared ? s->sets.width : s->scalar_bits) * v->host_dbl_ns;
    for (uint32_t first = 0; first < s->windows.count; first += s->per_group) {
        const struct msm_group g = group_of(s, count, first);
        const double additions = larger((double)count * (g.end - g.first) - g.bucket_count, 0);
        ns += GROUP_NS + (s->affine ? affine_ns : xyzz_ns)(s, d, v, &g, additions);
    }
    return ns;
}

static void shape_of(struct shape *s, const struct device *d, const struct curve *c, enum group_id g, uint64_t count, uint32_t windows, uint32_t groups,
                     enum msm_accumulation accumulation, bool shared)
{
    memset(s, 0, sizeof *s);
    s->scalar_bits = c->fr.bits; /* |s| <= r / 2 < 2^(bits - 1), and a bit for the digits' signs */
    s->windows.count = windows;
    s->windows.width = s->scalar_bits / windows;
    s->windows.narrow = windows * (s->windows.width + 1) - s->scalar_bits;
    s->per_group = (windows + groups - 1) / groups;
    s->shared = shared;
    s->sets = s->windows;
    if (shared) s->sets = (struct msm_windows){ s->windows.width + (s->windows.narrow < windows), 1, 1 };
    const uint32_t sets = s->sets.count, narrow = s->sets.narrow, set_width = s->sets.width;
    s->bucket_count = ((uint64_t)narrow + 2 * (sets - narrow)) << (set_width - 1);
    s->aff_bytes = c->group[g]->aff_bytes;
    s->xyzz_bytes = 2 * s->aff_bytes;
    if (accumulation == MSM_AFFINE) {
        s->affine = true;
        const uint32_t blocks = MSM_AFFINE_WAVES * d->sm_count * kernels_of(c, g)->affine_blocks;
        s->affine_inverters = blocks / MSM_AFFINE_INVERT_SHARE + 1;
        s->affine_threads = (blocks - s->affine_inverters) * (g == GROUP_G2 ? 64 : 128);
    }
    const struct group_speed *speed = &kernels_of(c, g)->speed;
    uint32_t seg_log2 = 0;
    for (uint32_t k = 0; k <= SEGMENT_MAX_LOG2 && k + 1 < set_width; k++) {
        const double ns = reduction_of(s, d, speed, k);
        if (k && ns >= s->reduction_ns) continue;
        s->reduction_ns = ns;
        seg_log2 = k;
    }
    const struct msm_reduction *r = &s->reduction;
    (void)reduction_of(s, d, speed, seg_log2);
    const double least = LEAST_A_BUCKET * (double)s->bucket_count * mixed_ns_of(speed, d) / d->sm_count;
    if (s->reduction_ns < least) s->reduction_ns = least;
    s->bucket_bytes = round_up(s->bucket_count * s->xyzz_bytes);
    s->reduce_bytes = round_up((4 * (s->bucket_count >> r->seg_log2) + (uint64_t)r->jobs * (r->parts + 1)) * s->xyzz_bytes) + round_up(r->jobs * c->group[g]->jac_bytes);
    for (uint32_t first = 0; first < windows; first += s->per_group) {
        struct msm_sort arrays;
        struct msm_affine affine;
        const struct msm_group group = group_of(s, count, first);
        const size_t bytes = group_carve(&arrays, &affine, s, &group, NULL) + round_up(group.piece_max * s->xyzz_bytes);
        if (bytes > s->group_bytes) s->group_bytes = bytes;
        if (group.part_count > s->part_max) s->part_max = group.part_count;
    }
}

/* Buckets, then sorting and reducing, which do not overlap and so share their bytes. */
static size_t shape_bytes(const struct shape *s)
{
    return s->bucket_bytes + (s->group_bytes > s->reduce_bytes ? s->group_bytes : s->reduce_bytes);
}

static void plan_take(struct msm_plan *out, const struct shape *s, uint32_t groups, double ns)
{
    out->accumulation = s->affine ? MSM_AFFINE : MSM_XYZZ;
    out->window_count = s->windows.count;
    out->window_bits = s->windows.width;
    out->block_count = groups;
    out->row_count = s->shared ? s->windows.count : 1;
    out->workspace_bytes = shape_bytes(s);
    out->additions = (double)out->count * s->windows.count + 2 * (double)s->bucket_count;
    out->ns = ns;
}

static cuzk_status plan_start(struct msm_plan *out, struct task *t, const struct curve *c, enum group_id g, uint64_t count)
{
    if (count >= 1u << 30) return FAIL(t, CUZK_TOO_LARGE, "an MSM of %llu points; the CUDA backend takes fewer than 2^30", (unsigned long long)count);
    memset(out, 0, sizeof *out);
    out->curve = c;
    out->group = g;
    out->count = count;
    out->scalar_bits = c->fr.bits;
    out->thread_count = 1;
    return CUZK_OK;
}

/* May a sum be planned with these additions? */
static bool allowed(const struct device *d, const struct curve *c, enum group_id g, uint64_t count, enum msm_accumulation a)
{
    if (d->msm_accumulation != MSM_ANY) return a == d->msm_accumulation;
    return a == MSM_XYZZ || count >= kernels_of(c, g)->affine_from;
}

/* Are there shared memory for the counters of its partitions and room for it? */
static bool fits(const struct shape *s, const struct device *d, uint64_t limit)
{
    return s->part_max <= MSM_PARTS_MAX && 4 * s->part_max <= d->shared_bytes && shape_bytes(s) <= limit;
}

/* What a number of windows takes at least, so that most need no shape. */
struct least {
    double ns;            /* sorting and additions at full speed, whatever the groups; a billionth less, since shape_ns adds up in another order */
    uint64_t bytes;       /* buckets */
    uint64_t group_bytes; /* for each window of a group: what sorting keeps of its entries */
};

static struct least least_of(const struct device *d, const struct msm_plan *p, enum msm_accumulation a, uint32_t windows)
{
    const struct group_speed *const v = &kernels_of(p->curve, p->group)->speed;
    const struct msm_sort *const arrays = NULL; /* for its fields' sizes */
    const uint32_t width = p->scalar_bits / windows;
    const uint64_t entries = p->count * windows, buckets = (uint64_t)(windows + p->scalar_bits % windows) << (width - 1);
    const double additions = larger((double)entries - (double)buckets, 0) * (a == MSM_AFFINE ? v->affine_ns : mixed_ns_of(v, d));
    const struct least least = { ((double)entries * SORT_NS + additions) / d->sm_count * (1 - 1e-9), buckets * 2 * p->curve->group[p->group]->aff_bytes,
                                 p->count * (sizeof *arrays->list + sizeof *arrays->digits + sizeof *arrays->entry_point + sizeof *arrays->entry_low) };
    return least;
}

/* The best of these additions without a table in at most `limit` bytes, if it is better than what is there (ns 0: nothing is). */
static void plan_windows(struct msm_plan *out, const struct device *d, enum msm_accumulation a, uint64_t limit)
{
    const struct curve *c = out->curve;
    for (uint32_t windows = (c->fr.bits + WINDOW_MAX - 1) / WINDOW_MAX; c->fr.bits / windows >= WINDOW_MIN; windows++) {
        const struct least least = least_of(d, out, a, windows);
        if (out->ns != 0 && least.ns >= out->ns) continue;
        for (uint32_t groups = 1; groups <= windows; groups++) {
            struct shape s;
            if (groups > 1 && ceil_div(windows, groups) == ceil_div(windows, groups - 1)) continue; /* as many windows in each */
            if (least.bytes + ceil_div(windows, groups) * least.group_bytes > limit) continue;
            shape_of(&s, d, c, out->group, out->count, windows, groups, a, false);
            if (!fits(&s, d, limit)) continue;
            const double ns = shape_ns(&s, d, &kernels_of(c, out->group)->speed, out->count);
            if (out->ns == 0 || ns < out->ns) plan_take(out, &s, groups, ns);
            break; /* more groups cost more */
        }
    }
}

cuzk_status cuda_msm_plan_within(struct msm_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g,
                                 uint64_t count, uint64_t limit)
{
    TRY(plan_start(out, t, c, g, count));
    for (enum msm_accumulation a = MSM_XYZZ; a <= MSM_AFFINE; a++)
        if (allowed(d, c, g, count, a)) plan_windows(out, d, a, limit);
    if (out->ns == 0)
        return FAIL(t, CUZK_TOO_LARGE, "an MSM of %llu points of %s %s does not fit in %llu bytes of GPU memory", (unsigned long long)count, c->name,
                    c->group[g]->name, (unsigned long long)limit);
    return CUZK_OK;
}

cuzk_status cuda_msm_plan(struct msm_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g, uint64_t count)
{
    const uint64_t operands = count * (c->group[g]->aff_bytes + 32);
    return cuda_msm_plan_within(out, t, d, c, g, count, d->arena_bytes > operands ? d->arena_bytes - operands : 0);
}

/* -- tables of multiples -- */

static void plan_table(struct msm_plan *out, const struct device *d, enum msm_accumulation a, uint64_t table_bytes)
{
    const struct curve *c = out->curve;
    const uint64_t count = out->count;
    const size_t row_bytes = count * c->group[out->group]->aff_bytes;
    for (uint32_t windows = (c->fr.bits + WINDOW_MAX - 1) / WINDOW_MAX; count && c->fr.bits / windows >= WINDOW_MIN; windows++) {
        struct shape s;
        if (count * windows >= 1u << 30 || windows * row_bytes > table_bytes || windows * row_bytes + 32 * count > d->arena_bytes) break;
        shape_of(&s, d, c, out->group, count, windows, 1, a, true);
        if (!fits(&s, d, d->arena_bytes - windows * row_bytes - 32 * count)) continue;
        const double ns = shape_ns(&s, d, &kernels_of(c, out->group)->speed, count);
        if (ns < out->ns) {
            plan_take(out, &s, 1, ns);
            out->table_bytes = windows * row_bytes;
        }
    }
}

cuzk_status cuda_msm_table_plan(struct msm_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g, uint64_t count,
                                uint64_t table_bytes)
{
    TRY(cuda_msm_plan(out, t, d, c, g, count));
    for (enum msm_accumulation a = MSM_XYZZ; a <= MSM_AFFINE; a++)
        if (allowed(d, c, g, count, a)) plan_table(out, d, a, table_bytes);
    return CUZK_OK;
}

cuzk_status cuda_msm_table_make(struct stream *s, struct task *t, const struct msm_plan *p, struct buffer *table, const struct buffer *points, size_t points_offset)
{
    const struct device *d = s->device;
    const size_t row_bytes = p->count * p->curve->group[p->group]->aff_bytes;
    struct shape shape;
    uint8_t *to, *from;
    if (p->row_count < 2) return FAIL(t, CUZK_INVALID_ARGUMENT, "a table of multiples for a plan that has none");
    TRY(cuda_range(t, d, table, "a table of multiples", 0, p->table_bytes, &to));
    TRY(cuda_range(t, d, points, "the points of a table of multiples", points_offset, row_bytes, &from));
    TRY(task_poll(t));
    TRY(cuda_enter(t, d));
    shape_of(&shape, d, p->curve, p->group, p->count, p->window_count, 1, p->accumulation, true);
    if (to != from) CU(t, cudaMemcpyAsync(to, from, row_bytes, cudaMemcpyDeviceToDevice, s->handle));
    for (uint32_t row = 1; row < p->row_count; row++)
        CU(t, kernels_of(p->curve, p->group)->double_row(to + row * row_bytes, to + (row - 1) * row_bytes, p->count,
                                                         shape.windows.width + (row - 1 >= shape.windows.narrow), s->handle));
    return CUZK_OK;
}

/* -- run -- */

static void add_bit(uint32_t *words, unsigned bit)
{
    uint64_t carry = 1ull << (bit % 32);
    for (unsigned i = bit / 32; i < 8; i++) {
        carry += words[i];
        words[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static struct msm_recode recode_of(const struct curve *c, const struct msm_windows *w)
{
    struct msm_recode r;
    unsigned at = 0;
    memset(&r, 0, sizeof r);
    memcpy(r.modulus, c->fr.modulus.w, sizeof r.modulus);
    for (uint32_t i = 0; i < w->count; i++) {
        const unsigned bits = w->width + (i >= w->narrow);
        add_bit(r.bias, at + bits - 1);
        at += bits;
    }
    return r;
}

cuzk_status cuda_msm(struct stream *s, struct task *t, const struct msm_plan *p, struct g_jac *out, const struct buffer *points,
                     size_t points_offset, const struct buffer *scalars, size_t scalars_offset, const struct buffer *gather, struct buffer *workspace)
{
    const struct device *d = s->device;
    const struct group *group = p->curve->group[p->group];
    const struct group_kernels *k = kernels_of(p->curve, p->group);
    struct shape shape;
    uint8_t *pts, *sc, *list = NULL, *ws, *result;
    if (p->count == 0) {
        group->jac_set_inf(out);
        return CUZK_OK;
    }
    TRY(cuda_range(t, d, points, p->row_count > 1 ? "the table of an MSM" : "the points of an MSM", points_offset,
                   p->row_count * p->count * group->aff_bytes, &pts));
    TRY(cuda_range(t, d, scalars, "the scalars of an MSM", scalars_offset, p->count * 32, &sc));
    if (gather) TRY(cuda_range(t, d, gather, "the gather list of an MSM", 0, p->count * sizeof(uint32_t), &list));
    TRY(cuda_range(t, d, workspace, "the workspace of an MSM", 0, p->workspace_bytes, &ws));
    TRY(cuda_result_slot(s, t, &result));
    TRY(task_poll(t)); /* from here on everything is enqueued: a caller may give the buffers back only after a sync */
    TRY(cuda_enter(t, d));

    shape_of(&shape, d, p->curve, p->group, p->count, p->window_count, (uint32_t)p->block_count, p->accumulation, p->row_count > 1);
    const struct msm_recode recode = recode_of(p->curve, &shape.windows);
    uint8_t *const shared = ws + shape.bucket_bytes;
    const size_t result_bytes = shape.reduction.jobs * group->jac_bytes;
    for (uint32_t first = 0; first < p->window_count; first += shape.per_group) {
        struct msm_sort sort;
        struct msm_affine affine;
        const struct msm_group g = group_of(&shape, p->count, first);
        uint8_t *const buckets = ws + g.bucket_first * shape.xyzz_bytes, *const piece_sums = shared + group_carve(&sort, &affine, &shape, &g, shared);
        CU(t, msm_launch_sort(&g, &recode, &sort, sc, (const uint32_t *)(const void *)list, d->sm_count, s->handle));
        if (shape.affine) CU(t, k->accumulate_affine(buckets, piece_sums, pts, &sort, &affine, s->handle));
        else CU(t, k->accumulate(buckets, piece_sums, pts, &g, &sort, s->handle));
        if (first == 0) CU(t, cudaMemcpyAsync(result + CUDA_RESULT_BYTES - COUNTER_COUNT * 4, sort.counters, COUNTER_COUNT * 4, cudaMemcpyDeviceToHost, s->handle));
    }
    uint8_t *const jacobian = shared, *const scratch = shared + round_up(result_bytes);
    CU(t, k->reduce(jacobian, scratch, ws, &shape.sets, &shape.reduction, s->handle));
    CU(t, cudaMemcpyAsync(result, jacobian, result_bytes, cudaMemcpyDeviceToHost, s->handle));
    cuda_received(s, result_bytes + COUNTER_COUNT * 4);
    s->pending[s->pending_count].finish = cuda_msm_finish;
    s->pending[s->pending_count].plan = *p;
    s->pending[s->pending_count].out = out;
    s->pending_count++;
    return CUZK_OK;
}

static void add_term(const struct group *group, struct g_jac *sum, const uint8_t *result, size_t job)
{
    struct g_jac term;
    memset(&term, 0, sizeof term);
    memcpy(&term, result + job * group->jac_bytes, group->jac_bytes);
    if (!group->jac_is_inf(&term)) group->jac_add(sum, sum, &term);
}

cuzk_status cuda_msm_finish(struct task *t, const struct device *d, const struct pending *p, const uint8_t *result)
{
    const struct curve *c = p->plan.curve;
    const struct group *group = c->group[p->plan.group];
    uint32_t counters[COUNTER_COUNT];
    memcpy(counters, result + CUDA_RESULT_BYTES - sizeof counters, sizeof counters);
    if (counters[COUNTER_NOT_CANONICAL] != 0)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%u scalars of an MSM are not below the group's order", counters[COUNTER_NOT_CANONICAL]);
    struct shape shape;
    shape_of(&shape, d, c, p->plan.group, p->plan.count, p->plan.window_count, (uint32_t)p->plan.block_count, p->plan.accumulation,
             p->plan.row_count > 1);
    const unsigned shift = shape.reduction.seg_log2 + MSM_REDUCE_EACH_LOG2 * shape.reduction.levels;
    struct g_jac sum;
    group->jac_set_inf(&sum);
    /* from the top bit of the scalars down: double, then add the terms that weigh 2^bit */
    size_t job = shape.reduction.jobs;
    for (unsigned w = shape.sets.count; w-- > 0;) {
        const unsigned wide = w >= shape.sets.narrow, width = shape.sets.width + wide, items = shape.item_log2 + wide;
        job -= items + 2;
        for (unsigned bit = width; bit-- > 0;) {
            group->jac_dbl(&sum, &sum);
            if (bit >= shift && bit < shift + items) add_term(group, &sum, result, job + 2 + bit - shift);
            if (bit != 0) continue;
            add_term(group, &sum, result, job);
            add_term(group, &sum, result, job + 1);
        }
    }
    *p->out = sum;
    return CUZK_OK;
}

/* -- fixed base -- */

enum { TABLE_ROWS = 32, TABLE_ROW = 255, CHUNK_POINTS = 1 << 22 };

/* The stream's scratch holds the multiples of base: some 10 ms of this thread for G1 (30 for G2), unless they are there already. */
static cuzk_status multiples_make(struct stream *s, struct task *t, const struct curve *c, enum group_id g, const struct g_aff *base)
{
    const struct group *group = c->group[g];
    static struct g_jac row[TABLE_ROW];
    static uint8_t row_aff[TABLE_ROW * sizeof(struct g_aff)];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    cuzk_status status = CUZK_OK;
    struct g_jac power;
    if (s->multiples_of.curve == c && s->multiples_of.group == g && memcmp(&s->multiples_of.base, base, group->aff_bytes) == 0) return CUZK_OK;
    s->tables_of.curve = s->multiples_of.curve = NULL;
    group->jac_from_aff(&power, base);
    pthread_mutex_lock(&lock);
    for (unsigned j = 0; j < TABLE_ROWS && status == CUZK_OK; j++) {
        row[0] = power;
        for (unsigned i = 1; i < TABLE_ROW; i++) group->jac_add(&row[i], &row[i - 1], &power);
        group->batch_to_aff(row_aff, row, TABLE_ROW);
        group->jac_add(&power, &row[TABLE_ROW - 1], &power);
        status = cuda_upload(s, t, s->scratch + j * TABLE_ROW * group->aff_bytes, row_aff, TABLE_ROW * group->aff_bytes);
    }
    pthread_mutex_unlock(&lock);
    if (status != CUZK_OK) return status;
    s->multiples_of.curve = c;
    s->multiples_of.group = g;
    memcpy(&s->multiples_of.base, base, group->aff_bytes);
    return CUZK_OK;
}

cuzk_status cuda_fixed_base(struct stream *s, struct task *t, const struct curve *c, enum group_id g, struct buffer *points, size_t points_offset,
                            const struct g_aff *base, const struct buffer *scalars, size_t scalars_offset, uint64_t count)
{
    const struct group *group = c->group[g];
    uint8_t *pts, *sc;
    if (count == 0) return CUZK_OK;
    TRY(cuda_range(t, s->device, points, "the points of fixed_base", points_offset, count * group->aff_bytes, &pts));
    TRY(cuda_range(t, s->device, scalars, "the scalars of fixed_base", scalars_offset, count * 32, &sc));
    TRY(cuda_enter(t, s->device));
    if (!s->scratch) return FAIL(t, CUZK_INVALID_ARGUMENT, "multiples of a point on a stream that only copies");
    TRY(multiples_make(s, t, c, g, base));
    for (uint64_t done = 0; done < count; done += CHUNK_POINTS) {
        const uint64_t part = count - done < CHUNK_POINTS ? count - done : CHUNK_POINTS;
        CU(t, kernels_of(c, g)->fixed_base(pts + done * group->aff_bytes, s->scratch, sc + done * 32, part, s->handle));
        TRY(task_poll(t));
    }
    return CUZK_OK;
}

cuzk_status cuda_msm_prepare(struct task *t)
{
    CU(t, msm_prepare_sort());
    return CUZK_OK;
}
