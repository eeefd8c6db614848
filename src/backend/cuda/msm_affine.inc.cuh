/* Accumulation into buckets by affine additions: 5 products and a square each, with one inversion for many.
 *
 * Included by msm_curve.inc.cuh, whose parameters and names it takes.  Called instead of k_accumulate where a launch has millions of
 * buckets to add in (msm_kernels.h, struct msm_affine).
 *
 * A task is a bucket or a piece of one, tasks lie in the order of their load.  Step j adds the j-th entry of every task that has one,
 * in two halves of the tasks, the sets.  A thread owns the tasks (2 i + set) threads + g: it runs over them backwards, turning its
 * inverted product into the inverse of each denominator x - X (Montgomery's trick), adds, and multiplies the denominators of step
 * j + 1 up as it goes; the direction alternates with the steps.  While one set adds, the first blocks of the same launch invert the
 * other set's products.  The end of a launch is the only barrier: no launch reads what another thread of it writes.
 *
 * What a round adds, sums and points, is copied to shared memory while the round before it ends.  Loaded where they were used, they held
 * warps up for a third of the time (ncu), and they swept the spilled registers out of the level 1 cache.
 *
 * The loops hold no rare case.  A task whose next addition is one (equal x: the points are equal or opposite; infinity as the first
 * point), and one that has entries left after the last step, stores its sum and goes to the list of late tasks, which complete XYZZ
 * additions finish: the list has room for all.  Points at infinity are passed over in place.
 *
 * Floor on an H200: (5 x 9.3 + 7.4) clocks of an SM an addition = 54, with six subtractions 57.4 (BLS12-381 G1); measured 80 with loads
 * where they were used, 62 now in a launch that adds to all buckets of 2^27 points: 4.2 G additions a second.  Bytes: 4 entry, 8 range, 32 list, 64 next x, 128 point,
 * 96 + 96 sum, 48 + 48 product: 520 an addition, 2.2 TB/s. */
#define AFFINE_VECTORS (sizeof(fe_t) / 16)
#define AFFINE_TILE    (3 * AFFINE_VECTORS * 32) /* uint4 that 32 lanes share: x, y, product of the denominators before */
#ifndef AFFINE_STAGES
#define AFFINE_STAGES  1                         /* rounds whose points and sums have a place in shared memory: 1 or 2 */
#endif
#define AFFINE_PASS    0x7fffffffu               /* entries: nothing to add in this step */
#define AFFINE_GONE    0xffffffffu               /*          nor in any later one */
static_assert(3 * COORD_BYTES == MSM_AFFINE_TASK_BYTES(AFF_BYTES), "what the planner counts");

/* Vectors of 16 bytes, `stride` of them apart: those of the lanes of a warp, or of a block's threads, are interleaved. */
static __device__ __forceinline__ void vectors_read(fe_t *r, const uint4 *from, const int stride)
{
    UNROLL for (int i = 0; i < (int)AFFINE_VECTORS; i++) {
        const uint4 t = from[i * stride];
        r->v[4 * i] = t.x;
        r->v[4 * i + 1] = t.y;
        r->v[4 * i + 2] = t.z;
        r->v[4 * i + 3] = t.w;
    }
}
static __device__ __forceinline__ void tile_read(fe_t *r, const uint4 *from) { vectors_read(r, from, 32); }
static __device__ __forceinline__ void tile_write(uint4 *to, const fe_t *a)
{
    UNROLL for (int i = 0; i < (int)AFFINE_VECTORS; i++) to[32 * i] = make_uint4(a->v[4 * i], a->v[4 * i + 1], a->v[4 * i + 2], a->v[4 * i + 3]);
}
static __device__ __forceinline__ uint4 *tile_at(void *tiles, uint32_t task, uint32_t tile_vectors)
{
    const size_t lane = (size_t)task * LANES + threadIdx.x % LANES;
    return (uint4 *)tiles + lane / 32 * tile_vectors + lane % 32;
}
static __device__ __forceinline__ uint4 *run_at(void *runs, uint32_t g) { return tile_at(runs, g, AFFINE_VECTORS * 32); }

/* By one copy of a product's code (xyzz.inc.cuh) where that is long: inlined the loop of G2 of BLS12-381 has 12,500 instructions, and 2^24 points
 * took 226 ms instead of 204; that of G1 needs 153 registers instead of 128. */
static __device__ __forceinline__ void affine_mul(fe_t *r, const fe_t *a, const fe_t *b)
{
    if (sizeof(fe_t) == 48) fe_mul_far(r, a, b);
    else fe_mul(r, a, b);
}
static __device__ __forceinline__ void affine_sqr(fe_t *r, const fe_t *a)
{
    if (sizeof(fe_t) == 48) fe_sqr_far(r, a);
    else fe_sqr(r, a);
}

/* Tasks with an entry number `step`: they come first. */
static __device__ __forceinline__ uint32_t tasks_at(const struct msm_sort *s, uint32_t step) { return s->load_cursor[step + 1]; }

/* The blocks that invert: every product of one set's threads that take part in `step`. */
static __device__ __forceinline__ void affine_invert(const struct msm_sort *s, const struct msm_affine *a, uint32_t set, uint32_t step)
{
    const uint32_t tasks = tasks_at(s, step), before = set * a->threads, all = a->inverters * TASKS, q = blockIdx.x * TASKS + TASK;
    const uint32_t count = tasks < before ? 0 : min(tasks - before, a->threads), rounds = (count + all - 1) / all;
    if (rounds == 0) return;
    void *const runs = a->runs[set], *const products = a->before[set];
    fe_t p, x, x_ahead, b_ahead, t;
    fe_set_one(&p);
    tile_read(&x_ahead, run_at(runs, q < count ? q : 0));
    NOT_UNROLLED
    for (uint32_t k = 0; k < rounds; k++) {
        const uint32_t g = k * all + q;
        const bool there = g < count;
        x = x_ahead; /* the next one is on its way meanwhile */
        tile_read(&x_ahead, run_at(runs, k + 1 < rounds && g + all < count ? g + all : 0));
        if (there) tile_write(run_at(products, g), &p);
        affine_mul(&t, &p, &x);
        fe_cmov(&p, &t, there);
    }
    fe_inv(&p, &p);
    const uint32_t top = (rounds - 1) * all + q;
    tile_read(&x_ahead, run_at(runs, top < count ? top : 0));
    tile_read(&b_ahead, run_at(products, top < count ? top : 0));
    NOT_UNROLLED
    for (uint32_t k = rounds; k-- > 0;) {
        const uint32_t g = k * all + q;
        const bool there = g < count;
        x = x_ahead;
        affine_mul(&t, &b_ahead, &p);
        tile_read(&x_ahead, run_at(runs, k ? g - all : 0));
        tile_read(&b_ahead, run_at(products, k ? g - all : 0));
        if (there) tile_write(run_at(runs, g), &t);
        affine_mul(&t, &p, &x);
        fe_cmov(&p, &t, there);
    }
}

/* -- what a thread does in a step -- */

/* Its rounds, one a task. */
struct walk {
    uint32_t first, own, tasks, rounds, stride; /* first: task of the warp's first lane; own: the thread's, in the round of the lowest tasks */
    bool down;
};
static __device__ __forceinline__ bool walk_of(struct walk *w, const struct msm_affine *a, uint32_t set, uint32_t g, uint32_t tasks, bool down)
{
    w->own = set * a->threads + g;
    w->first = w->own - threadIdx.x % 32 / LANES;
    w->tasks = tasks;
    w->stride = 2 * a->threads;
    w->down = down;
    if (tasks <= w->first) return false;
    w->rounds = (tasks - 1 - w->first) / w->stride + 1;
    return true;
}
static __device__ __forceinline__ uint32_t walk_task(const struct walk *w, uint32_t k, bool *there)
{
    const uint32_t own = w->own + (w->down ? w->rounds - 1 - k : k) * w->stride;
    *there = own < w->tasks;
    return *there ? own : w->first; /* lanes that share a warp stay together */
}

static __device__ __forceinline__ bool entry_adds(uint32_t entry) { return (entry & 0x7fffffffu) != AFFINE_PASS; }
static __device__ __forceinline__ const uint8_t *entry_point(const uint8_t *points, uint32_t entry)
{
    return points + (size_t)(entry & 0x7fffffffu) * AFF_BYTES;
}

/* The denominator d = x_next - X of a task's next addition joins the product of those before.  ahead: the task has an entry `next` that
 * the next step adds; maybe_inf: its point has x = 0.  Returns what the next step finds. */
static __device__ __forceinline__ uint32_t denominator_take(fe_t *run, uint4 *tile, const fe_t *d, const uint8_t *points, uint32_t next,
                                                             bool ahead, bool maybe_inf)
{
    fe_t product;
    const bool equal = fe_is_zero(d);
    bool inf = false;
    if (ANY_LANE(ahead && maybe_inf)) {
        fe_t x, y;
        point_fetch(&x, &y, points, ahead ? next : 0);
        inf = point_is_inf(&x, &y);
    }
    const bool adds = ahead && !equal && !inf;
    if (adds) tile_write(tile + 2 * 32 * AFFINE_VECTORS, run);
    affine_mul(&product, run, d);
    fe_cmov(run, &product, adds);
    return !ahead ? AFFINE_GONE : inf ? AFFINE_PASS : equal ? AFFINE_GONE : next;
}
static __device__ __forceinline__ bool no_bits(const fe_t *a)
{
    uint32_t w = 0;
    UNROLL for (int i = 0; i < (int)(sizeof(fe_t) / 4); i++) w |= a->v[i];
    return w == 0;
}

/* A task's entries from number `at` of the list are left for the end. */
static __device__ __forceinline__ void task_late(const struct msm_sort *s, const struct msm_affine *a, uint32_t t, uint32_t at)
{
    const struct msm_pair rest = { t, at };
    a->late[atomicAdd(&s->counters[COUNTER_LATE], 1)] = rest;
}
/* Its sum so far goes where sums are looked for. */
static __device__ __forceinline__ void task_sum(uint8_t *buckets, uint8_t *piece_sums, const struct msm_sort *s, uint32_t t, const uint4 *tile)
{
    struct xyzz sum;
    struct msm_pair unused;
    tile_read(&sum.x, tile);
    tile_read(&sum.y, tile + 32 * AFFINE_VECTORS);
    fe_set_one(&sum.zz);
    fe_set_one(&sum.zzz);
    xyzz_write(msm_task(&unused, buckets, piece_sums, s, t, XYZZ_BYTES), &sum);
}

/* Step 0 of one set: sums begin with their first entry, nothing is added yet. */
static __device__ __forceinline__ void affine_begin(uint8_t *buckets, uint8_t *piece_sums, const uint8_t *points, const struct msm_sort *s,
                                                    const struct msm_affine *a, uint32_t set)
{
    const uint32_t g = (blockIdx.x - a->inverters) * TASKS + TASK;
    const bool leads = TASK * LANES == threadIdx.x;
    struct walk w;
    fe_t run;
    if (!walk_of(&w, a, set, g, s->counters[COUNTER_TASKS], false)) return;
    fe_set_one(&run);
    NOT_UNROLLED
    for (uint32_t k = 0; k < w.rounds; k++) {
        bool there, maybe_inf = false;
        const uint32_t t = walk_task(&w, k, &there);
        uint4 *const tile = tile_at(a->tiles, t, AFFINE_TILE);
        struct msm_pair range;
        fe_t x, y;
        uint8_t *const to = msm_task(&range, buckets, piece_sums, s, t, XYZZ_BYTES);
        const bool some = there && range.a < range.b;
        const uint32_t entry = some ? s->list[range.a] : 0;
        point_fetch(&x, &y, points, entry);
        const bool inf = point_is_inf(&x, &y), live = some && !inf, more = live && range.a + 1 < range.b;
        fe_cneg(&y, &y, entry >> 31);
        if (there) {
            if (leads) a->range[t] = range;
            tile_write(tile, &x);
            tile_write(tile + 32 * AFFINE_VECTORS, &y);
            if (!live) {
                struct xyzz none;
                xyzz_set_inf(&none);
                xyzz_write(to, &none);
            }
        }
        const uint32_t next = more ? s->list[range.a + 1] : 0;
        uint32_t then = AFFINE_GONE;
        if (ANY_LANE(more)) {
            fe_read_const(&y, entry_point(points, next));
            maybe_inf = no_bits(&y);
            fe_sub(&x, &y, &x);
            then = denominator_take(&run, tile, &x, points, next, more, maybe_inf);
        }
        if (some && leads) {
            a->entry[t] = then;
            if (!live) task_late(s, a, t, range.a); /* begins with infinity */
            else if (more && then == AFFINE_GONE) task_late(s, a, t, range.a + 1);
        }
        if (live && then == AFFINE_GONE) task_sum(buckets, piece_sums, s, t, tile);
        __syncwarp(); /* lanes that were in rare branches are back */
    }
    tile_write(run_at(a->runs[set], g), &run);
}

/* -- what the rounds to come need, on its way to shared memory -- */

enum { FETCH_X, FETCH_Y, FETCH_NEXT_X, FETCH_SUM_X, FETCH_SUM_Y, FETCH_BEFORE, FETCH_FIELDS };
#define FETCH_VECTORS       (FETCH_FIELDS * (unsigned)AFFINE_VECTORS * THREADS)
#define AFFINE_SHARED_BYTES (AFFINE_STAGES * FETCH_VECTORS * 16 + THREADS * (unsigned)(2 * 2 * sizeof(uint32_t) + sizeof(struct msm_pair)))
/* In hundredths of the 228 KiB of an SM of compute capability 9.0: what the resident blocks take and no more, the rest is level 1 cache. */
#define AFFINE_CARVEOUT ((int)((MSM_AFFINE_BLOCKS * (AFFINE_SHARED_BYTES + 1024) * 100 + (228 << 10) - 1) / (228 << 10)))
struct fetched {
    uint4 *fields;          /* of AFFINE_STAGES rounds */
    struct msm_pair *range; /* of one round */
    uint32_t *entry, *next; /* of two.  next: what the next step will add, AFFINE_PASS if this is the last step, AFFINE_GONE at the task's end */
};
static __device__ __forceinline__ uint4 *field_at(const struct fetched *f, uint32_t k, int field)
{
    return f->fields + k % AFFINE_STAGES * FETCH_VECTORS + field * (int)AFFINE_VECTORS * THREADS + threadIdx.x;
}
static __device__ __forceinline__ void field_read(fe_t *r, const struct fetched *f, uint32_t k, int field) { vectors_read(r, field_at(f, k, field), THREADS); }
static __device__ __forceinline__ void field_fetch(const struct fetched *f, uint32_t k, int field, const uint4 *tile)
{
    UNROLL for (int i = 0; i < (int)AFFINE_VECTORS; i++) __pipeline_memcpy_async(field_at(f, k, field) + i * THREADS, tile + 32 * i, 16);
}
static __device__ __forceinline__ void coordinate_fetch(const struct fetched *f, uint32_t k, int field, const uint8_t *from)
{
    const uint4 *const half = (const uint4 *)(from + threadIdx.x % LANES * sizeof(fe_t));
    UNROLL for (int i = 0; i < (int)AFFINE_VECTORS; i++) copy_async_cached(field_at(f, k, field) + i * THREADS, half + i);
}

/* Three rounds advance by one: k + 3 gets its range, from which the addresses of k + 2's entries follow, from which those of k + 1's
 * points.  All that was under way has been waited for, and round k has read its entries (and, with one stage, its fields). */
static __device__ __forceinline__ void fetch_ahead(const struct fetched *f, const struct msm_sort *s, const struct msm_affine *a, const struct walk *w, uint32_t k,
                                                   uint32_t step, const uint8_t *points)
{
    bool there;
    if (k + 1 < w->rounds) {
        const uint32_t entry = f->entry[(k + 1) % 2 * THREADS + threadIdx.x], next = f->next[(k + 1) % 2 * THREADS + threadIdx.x];
        const uint4 *const tile = tile_at(a->tiles, walk_task(w, k + 1, &there), AFFINE_TILE);
        if (entry_adds(entry)) {
            field_fetch(f, k + 1, FETCH_BEFORE, tile + 2 * 32 * AFFINE_VECTORS);
            coordinate_fetch(f, k + 1, FETCH_X, entry_point(points, entry));
            field_fetch(f, k + 1, FETCH_SUM_X, tile);
            coordinate_fetch(f, k + 1, FETCH_Y, entry_point(points, entry) + COORD_BYTES);
            field_fetch(f, k + 1, FETCH_SUM_Y, tile + 32 * AFFINE_VECTORS);
        } else if (entry != AFFINE_GONE) {
            field_fetch(f, k + 1, FETCH_SUM_X, tile);
        }
        if (entry != AFFINE_GONE && entry_adds(next)) coordinate_fetch(f, k + 1, FETCH_NEXT_X, entry_point(points, next));
    }
    if (k + 2 < w->rounds) {
        const uint32_t t = walk_task(w, k + 2, &there), slot = k % 2 * THREADS + threadIdx.x;
        const struct msm_pair range = f->range[threadIdx.x];
        const uint32_t at = range.a + step + 1;
        if (there) __pipeline_memcpy_async(&f->entry[slot], &a->entry[t], sizeof *f->entry);
        else f->entry[slot] = AFFINE_GONE;
        if (at < range.b && step < a->steps) __pipeline_memcpy_async(&f->next[slot], &s->list[at], sizeof *f->next);
        else f->next[slot] = at < range.b ? AFFINE_PASS : AFFINE_GONE;
    }
    if (k + 3 < w->rounds) __pipeline_memcpy_async(&f->range[threadIdx.x], &a->range[walk_task(w, k + 3, &there)], sizeof *f->range);
    __pipeline_commit();
    __syncwarp();
}

/* One step of one set. */
static __device__ __forceinline__ void affine_step(uint8_t *buckets, uint8_t *piece_sums, const uint8_t *points, const struct msm_sort *s,
                                                   const struct msm_affine *a, uint32_t set, uint32_t step)
{
    SHARED_DYNAMIC(uint4, memory);
    struct fetched f;
    f.fields = memory;
    f.range = (struct msm_pair *)(memory + AFFINE_STAGES * FETCH_VECTORS);
    f.entry = (uint32_t *)(f.range + THREADS);
    f.next = f.entry + 2 * THREADS;
    const uint32_t g = (blockIdx.x - a->inverters) * TASKS + TASK;
    struct walk w;
    fe_t run, inv;
    if (!walk_of(&w, a, set, g, tasks_at(s, step), step & 1)) return;
    NOT_UNROLLED
    for (uint32_t k = 0u - 3; k != 0; k++) { /* rounds before the first */
        fetch_ahead(&f, s, a, &w, k, step, points);
        if (k + 1) __pipeline_wait_prior(0);
    }
    fe_set_one(&run);
    tile_read(&inv, run_at(a->runs[set], g));
    NOT_UNROLLED
    for (uint32_t k = 0; k < w.rounds; k++) {
        bool there, maybe_inf = false;
        const uint32_t t = walk_task(&w, k, &there);
        uint4 *const tile = tile_at(a->tiles, t, AFFINE_TILE);
        __pipeline_wait_prior(0);
        const uint32_t entry = f.entry[k % 2 * THREADS + threadIdx.x], next = f.next[k % 2 * THREADS + threadIdx.x];
        const bool live = entry != AFFINE_GONE, adds = entry_adds(entry), more = live && next != AFFINE_GONE, ahead = more && next != AFFINE_PASS;
        fe_t x;
        if (AFFINE_STAGES == 2) fetch_ahead(&f, s, a, &w, k, step, points);
        if (ANY_LANE(adds)) {
            fe_t y, d, l, sum;
            field_read(&d, &f, k, FETCH_BEFORE);
            affine_mul(&d, &d, &inv); /* 1 / (x - X) */
            field_read(&x, &f, k, FETCH_X);
            field_read(&sum, &f, k, FETCH_SUM_X);
            fe_sub(&l, &x, &sum);
            affine_mul(&l, &inv, &l);
            fe_cmov(&inv, &l, adds);
            field_read(&y, &f, k, FETCH_Y);
            fe_cneg(&y, &y, entry >> 31);
            field_read(&sum, &f, k, FETCH_SUM_Y);
            fe_sub(&y, &y, &sum);
            affine_mul(&l, &y, &d);
            affine_sqr(&d, &l);
            field_read(&x, &f, k, FETCH_X);
            fe_sub(&d, &d, &x);
            field_read(&x, &f, k, FETCH_SUM_X);
            fe_sub(&d, &d, &x);
            fe_sub(&y, &x, &d);
            fe_cmov(&x, &d, adds);
            affine_mul(&l, &l, &y);
            field_read(&sum, &f, k, FETCH_SUM_Y);
            fe_sub(&l, &l, &sum);
            if (adds) {
                tile_write(tile, &d);
                tile_write(tile + 32 * AFFINE_VECTORS, &l);
            }
        } else {
            field_read(&x, &f, k, FETCH_SUM_X);
        }
        if (ANY_LANE(ahead)) {
            fe_t x_next;
            field_read(&x_next, &f, k, FETCH_NEXT_X);
            maybe_inf = no_bits(&x_next);
            fe_sub(&x, &x_next, &x);
        }
        if (AFFINE_STAGES == 1) fetch_ahead(&f, s, a, &w, k, step, points);
        uint32_t then = AFFINE_GONE; /* what the next step finds */
        if (ANY_LANE(ahead)) then = denominator_take(&run, tile, &x, points, next, ahead, maybe_inf);
        if (live && TASK * LANES == threadIdx.x) {
            a->entry[t] = then;
            if (more && then == AFFINE_GONE) task_late(s, a, t, a->range[t].a + step + 1);
        }
        if (live && then == AFFINE_GONE) task_sum(buckets, piece_sums, s, t, tile);
        __syncwarp(); /* lanes that were in rare branches are back */
    }
    tile_write(run_at(a->runs[set], g), &run);
}

template <bool FIRST>
static __global__ void __launch_bounds__(THREADS, MSM_AFFINE_BLOCKS) k_affine(uint8_t *buckets, uint8_t *piece_sums, const uint8_t *points,
                                                                               const __grid_constant__ struct msm_sort s,
                                                                               const __grid_constant__ struct msm_affine a, uint32_t set, uint32_t step,
                                                                               uint32_t invert_step)
{
    if (blockIdx.x < a.inverters) {
        if (invert_step) affine_invert(&s, &a, 1 - set, invert_step);
    } else if (FIRST) {
        affine_begin(buckets, piece_sums, points, &s, &a, set);
    } else {
        affine_step(buckets, piece_sums, points, &s, &a, set, step);
    }
}

/* What the steps left. */
static __global__ void __launch_bounds__(THREADS, MSM_ACC_BLOCKS) k_affine_late(uint8_t *buckets, uint8_t *piece_sums, const uint8_t *points,
                                                                                struct msm_sort s, struct msm_affine a)
{
    const uint32_t count = s.counters[COUNTER_LATE];
    NOT_UNROLLED
    for (uint32_t first = blockIdx.x * TASKS; first < count; first += gridDim.x * TASKS) {
        struct msm_pair range = { 0, 0 };
        uint8_t *to = NULL;
        uint32_t at = 0;
        if (first + TASK < count) {
            const struct msm_pair late = a.late[first + TASK];
            to = msm_task(&range, buckets, piece_sums, &s, late.a, XYZZ_BYTES);
            at = late.b;
        }
        list_sum(to, points, s.list, at, range.b, true);
    }
}
