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
 * The loops hold no rare case.  A task whose next addition is one (equal x: the points are equal or opposite; infinity as the first
 * point), and one that has entries left after the last step, stores its sum and goes to the list of late tasks, which complete XYZZ
 * additions finish: the list has room for all.  Points at infinity are passed over in place.
 *
 * Floor on an H200: (5 x 9.3 + 7.4) clocks of an SM an addition = 54, with six subtractions 57.4 (BLS12-381 G1); predicted 66, which
 * is 3.9 G additions a second.  Bytes: 4 entry, 8 range, 32 list, 64 next x, 128 point, 96 + 96 sum, 48 + 48 product: 520 an addition,
 * 2.0 TB/s. */
#define AFFINE_VECTORS (sizeof(fe_t) / 16)
#define AFFINE_TILE    (3 * AFFINE_VECTORS * 32) /* uint4 that 32 lanes share: x, y, product of the denominators before */
#define AFFINE_PASS    0x7fffffffu               /* entries: nothing to add in this step */
#define AFFINE_GONE    0xffffffffu               /*          nor in any later one */
static_assert(3 * COORD_BYTES == MSM_AFFINE_TASK_BYTES(AFF_BYTES), "what the planner counts");

/* A vector of 16 bytes is interleaved over the lanes of a warp. */
static __device__ __forceinline__ void tile_read(fe_t *r, const uint4 *from)
{
    UNROLL for (int i = 0; i < (int)AFFINE_VECTORS; i++) {
        const uint4 t = from[32 * i];
        r->v[4 * i] = t.x;
        r->v[4 * i + 1] = t.y;
        r->v[4 * i + 2] = t.z;
        r->v[4 * i + 3] = t.w;
    }
}
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

/* Where a task's sum goes, and its entries. */
static __device__ __forceinline__ uint8_t *task_of(struct msm_pair *range, uint8_t *buckets, uint8_t *piece_sums, const struct msm_sort *s, uint32_t t)
{
    const uint32_t id = s->order[t], i = id & 0x7fffffffu;
    if (id >> 31) {
        const struct msm_pair piece = s->pieces[i];
        range->a = piece.a;
        range->b = piece.a + piece.b;
        return piece_sums + (size_t)i * XYZZ_BYTES;
    }
    range->a = s->bucket_start[i];
    range->b = s->bucket_start[i + 1];
    return buckets + (size_t)i * XYZZ_BYTES;
}

/* Tasks with an entry number `step`: they come first. */
static __device__ __forceinline__ uint32_t tasks_at(const struct msm_sort *s, uint32_t step) { return s->load_cursor[step + 1]; }

/* The blocks that invert: every product of one set's threads that take part in `step`. */
static __device__ __forceinline__ void affine_invert(const struct msm_sort *s, const struct msm_affine *a, uint32_t set, uint32_t step)
{
    const uint32_t tasks = tasks_at(s, step), before = set * a->threads, all = MSM_AFFINE_INVERTERS * TASKS, q = blockIdx.x * TASKS + TASK;
    const uint32_t count = tasks < before ? 0 : min(tasks - before, a->threads), rounds = (count + all - 1) / all;
    fe_t p, x, t;
    if (rounds == 0) return;
    fe_set_one(&p);
    NOT_UNROLLED
    for (uint32_t k = 0; k < rounds; k++) {
        const uint32_t g = k * all + q;
        const bool there = g < count;
        tile_read(&x, run_at(a->runs[set], there ? g : 0));
        if (there) tile_write(run_at(a->before[set], g), &p);
        fe_mul(&t, &p, &x);
        fe_cmov(&p, &t, there);
    }
    fe_inv(&p, &p);
    NOT_UNROLLED
    for (uint32_t k = rounds; k-- > 0;) {
        const uint32_t g = k * all + q;
        const bool there = g < count;
        tile_read(&x, run_at(a->before[set], there ? g : 0));
        fe_mul(&t, &x, &p);
        tile_read(&x, run_at(a->runs[set], there ? g : 0));
        if (there) tile_write(run_at(a->runs[set], g), &t);
        fe_mul(&t, &p, &x);
        fe_cmov(&p, &t, there);
    }
}

/* One step of one set.  FIRST: the sums begin with entry 0, nothing is added yet. */
template <bool FIRST>
static __device__ __forceinline__ void affine_step(uint8_t *buckets, uint8_t *piece_sums, const uint8_t *points, const struct msm_sort *s,
                                                   const struct msm_affine *a, uint32_t set, uint32_t step)
{
    const uint32_t g = (blockIdx.x - MSM_AFFINE_INVERTERS) * TASKS + TASK, in_warp = threadIdx.x % 32 / LANES;
    const uint32_t tasks = FIRST ? s->counters[COUNTER_TASKS] : tasks_at(s, step), first = set * a->threads + g - in_warp; /* of the warp */
    const bool last = step == a->steps;
    if (tasks <= first) return;
    const uint32_t rounds = (tasks - 1 - first) / (2 * a->threads) + 1;
    fe_t run, inv;
    fe_set_one(&run);
    if (!FIRST) tile_read(&inv, run_at(a->runs[set], g));
    NOT_UNROLLED
    for (uint32_t k = 0; k < rounds; k++) {
        const uint32_t i = step & 1 ? rounds - 1 - k : k, own = first + in_warp + i * 2 * a->threads;
        const bool there = own < tasks;
        const uint32_t t = there ? own : first; /* lanes that share a warp stay together */
        uint4 *const tile = tile_at(a->tiles, t, AFFINE_TILE);
        struct msm_pair range;
        fe_t x, x_next;
        uint32_t entry = AFFINE_PASS;
        bool live, late = false;
        if (FIRST) {
            fe_t y;
            uint8_t *const to = task_of(&range, buckets, piece_sums, s, t);
            live = there && range.a < range.b;
            const uint32_t e = live ? s->list[range.a] : 0;
            point_fetch(&x, &y, points, e);
            const bool inf = point_is_inf(&x, &y);
            late = live && inf;
            fe_cneg(&y, &y, e >> 31);
            if (there) {
                if (TASK * LANES == threadIdx.x) a->range[t] = range;
                tile_write(tile, &x);
                tile_write(tile + 32 * AFFINE_VECTORS, &y);
                if (!live || late) {
                    struct xyzz none;
                    xyzz_set_inf(&none);
                    xyzz_write(to, &none);
                }
            }
        } else {
            entry = there ? a->entry[t] : AFFINE_GONE;
            range = a->range[t];
            live = entry != AFFINE_GONE;
        }
        /* the next entry's x is on its way while this one is added */
        const uint32_t at = range.a + step + (FIRST && late ? 0 : 1);
        const bool more = live && at < range.b, ahead = more && !last && !late;
        const uint32_t next = ahead ? s->list[at] : 0;
        const uint8_t *const next_point = points + (size_t)(next & 0x7fffffffu) * AFF_BYTES;
        if (ANY_LANE(ahead)) fe_read_const(&x_next, next_point);
        if (!FIRST) {
            const bool adds = (entry & 0x7fffffffu) != AFFINE_PASS;
            if (ANY_LANE(adds)) {
                fe_t y, ax, ay, d, l;
                point_fetch(&x, &y, points, adds ? entry : 0);
                tile_read(&d, tile + 2 * 32 * AFFINE_VECTORS);
                tile_read(&ax, tile);
                fe_mul(&d, &d, &inv); /* 1 / (x - X) */
                fe_sub(&l, &x, &ax);
                fe_mul(&l, &inv, &l);
                fe_cmov(&inv, &l, adds);
                tile_read(&ay, tile + 32 * AFFINE_VECTORS);
                fe_cneg(&y, &y, entry >> 31);
                fe_sub(&y, &y, &ay);
                fe_mul(&l, &y, &d);
                fe_sqr(&d, &l);
                fe_sub(&d, &d, &x);
                fe_sub(&d, &d, &ax);
                x = ax;
                fe_cmov(&x, &d, adds);
                fe_sub(&ax, &ax, &d);
                fe_mul(&l, &l, &ax);
                fe_sub(&l, &l, &ay);
                if (adds) {
                    tile_write(tile, &d);
                    tile_write(tile + 32 * AFFINE_VECTORS, &l);
                }
            } else {
                tile_read(&x, tile);
            }
        }
        uint32_t then = AFFINE_GONE; /* what the next step finds */
        if (ANY_LANE(ahead)) {
            fe_sub(&x, &x_next, &x);
            bool equal = fe_is_zero(&x), inf = false;
            uint32_t w = 0;
            UNROLL for (int j = 0; j < (int)(sizeof(fe_t) / 4); j++) w |= x_next.v[j];
            if (ANY_LANE(ahead && w == 0)) { /* infinity, or a point with x = 0 */
                fe_t y;
                fe_read_const(&y, next_point + COORD_BYTES);
                inf = point_is_inf(&x_next, &y);
            }
            const bool adds = ahead && !equal && !inf;
            if (adds) tile_write(tile + 2 * 32 * AFFINE_VECTORS, &run);
            fe_mul(&x, &run, &x);
            fe_cmov(&run, &x, adds);
            if (ahead) then = inf ? AFFINE_PASS : equal ? AFFINE_GONE : next;
        }
        if (live && TASK * LANES == threadIdx.x) {
            if (more) {
                a->entry[t] = then;
                if (then == AFFINE_GONE) {
                    const struct msm_pair rest = { t, at };
                    a->late[atomicAdd(&s->counters[COUNTER_LATE], 1)] = rest;
                }
            } else {
                a->entry[t] = AFFINE_GONE;
            }
        }
        if (live && then == AFFINE_GONE && !late) { /* the sum so far */
            struct xyzz sum;
            struct msm_pair unused;
            tile_read(&sum.x, tile);
            tile_read(&sum.y, tile + 32 * AFFINE_VECTORS);
            fe_set_one(&sum.zz);
            fe_set_one(&sum.zzz);
            xyzz_write(task_of(&unused, buckets, piece_sums, s, t), &sum);
        }
        __syncwarp(); /* lanes that were in rare branches are back */
    }
    tile_write(run_at(a->runs[set], g), &run);
}

template <bool FIRST>
static __global__ void __launch_bounds__(THREADS, MSM_AFFINE_BLOCKS) k_affine(uint8_t *buckets, uint8_t *piece_sums, const uint8_t *points, struct msm_sort s,
                                                               struct msm_affine a, uint32_t set, uint32_t step, uint32_t invert_step)
{
    if (blockIdx.x >= MSM_AFFINE_INVERTERS) affine_step<FIRST>(buckets, piece_sums, points, &s, &a, set, step);
    else if (invert_step) affine_invert(&s, &a, 1 - set, invert_step);
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
            to = task_of(&range, buckets, piece_sums, &s, late.a);
            at = late.b;
        }
        list_sum(to, points, s.list, at, range.b, true);
    }
}
