/* The MSM's point kernels for one group of one curve: accumulation into buckets, reduction to one point a window, fixed base.
 *
 * Takes  FE, LANES (see xyzz.inc.cuh)   MSM(name)  exported name   MSM_ACC_BLOCKS, MSM_REDUCE_BLOCKS, MSM_AFFINE_BLOCKS  resident
 * blocks of 128 threads that the kernels' registers are fitted to (the first two measured) */
#include "backend/cuda/msm_kernels.h"
#include "backend/cuda/launch.h"
#include "backend/cuda/msm_task.h"
#include "backend/cuda/fe_device_names.h"
#include "backend/cuda/xyzz.inc.cuh"
#if LANES == 2
#include "backend/cuda/warp_max.h"
#endif

#define THREADS 128
#define MSM_REDUCE_EACH (1u << MSM_REDUCE_EACH_LOG2)
#define TASKS   (THREADS / LANES)  /* points that a block works on */
#define TASK    (threadIdx.x / LANES)

static __device__ __forceinline__ void point_fetch(fe_t *x, fe_t *y, const uint8_t *points, uint32_t entry)
{
    const uint8_t *p = points + (size_t)(entry & 0x7fffffffu) * AFF_BYTES;
    fe_read_const(x, p);
    fe_read_const(y, p + COORD_BYTES);
}

/* x = y = 0 stands for infinity: no point of these curves has both zero. */
static __device__ __forceinline__ bool point_is_inf(const fe_t *x, const fe_t *y)
{
    uint32_t w = x->v[0] | y->v[0];
#if LANES == 1
    if (w) return false;
#endif
    UNROLL for (int i = 1; i < (int)(sizeof(fe_t) / 4); i++) w |= x->v[i] | y->v[i];
#if LANES == 2
    w |= __shfl_xor_sync(0xffffffffu, w, 1);
#endif
    return w == 0;
}

/* s += (x, y), when the sum or the point is infinity or the x are equal. */
static __device__ __forceinline__ void rare_add(struct xyzz *s, const fe_t *x, const fe_t *y, bool inf)
{
    struct xyzz t = *s, q;
    q.x = *x;
    q.y = *y;
    fe_set_one(&q.zz);
    fe_set_one(&q.zzz);
    if (inf) xyzz_set_inf(&q);
    xyzz_add_rare(&t, &q, LANES == 2); /* lanes that have a point each come here one by one */
    *s = t;
}

/* Entries [i, end) of `list` summed, 8 M + 2 S each, the last two products with one reduction.  The next point is loaded into
 * registers as soon as its predecessor is consumed.  An infinite sum has X = 0, so that it shows as equal x.  resume: onto what is
 * at `to` already.
 * With two lanes a point a warp runs to its longest list; a pair whose list has ended stores its sum and goes on with numbers that
 * nobody reads. */
static __device__ __forceinline__ void list_sum(uint8_t *to, const uint8_t *points, const uint32_t *list, uint32_t i, const uint32_t end,
                                                const bool resume)
{
    struct xyzz s;
    fe_t x, y;
    uint32_t next = 0;
    xyzz_set_inf(&s);
    if (resume && to) xyzz_read(&s, to);
    if (i < end) next = list[i];
    else if (to && !resume) xyzz_write(to, &s);
    uint32_t rounds = end - i;
#if LANES == 2
    rounds = warp_max(rounds);
#endif
    if (rounds == 0) return;
    if (!resume) {
        point_fetch(&x, &y, points, next);
        const bool first_inf = point_is_inf(&x, &y);
        fe_cneg(&y, &y, next >> 31); /* 2p for 0, so only after the test */
        if (!first_inf) {
            s.x = x;
            s.y = y;
            fe_set_one(&s.zz);
            fe_set_one(&s.zzz);
        }
        if (i < end) {
            if (++i < end) next = list[i];
            else xyzz_write(to, &s);
        }
    }
    point_fetch(&x, &y, points, next);
#if LANES == 2
    NOT_UNROLLED
    for (uint32_t k = resume ? 0 : 1; k < rounds; k++) {
        const bool live = i < end;
#else
    NOT_UNROLLED
    while (i < end) {
        const bool live = true;
#endif
        const uint32_t entry = next;
        if (live && ++i < end) next = list[i];
        fe_t p, r, pp, q, d;
        const bool inf = point_is_inf(&x, &y);
        fe_mul(&p, &x, &s.zz);
        fe_sub(&p, &p, &s.x);
        fe_cneg(&y, &y, entry >> 31);
        fe_mul(&r, &y, &s.zzz);
        fe_sub(&r, &r, &s.y);
        point_fetch(&x, &y, points, next);
        const bool equal = fe_is_zero(&p);
        if (ANY_LANE(live && (inf || equal))) {
            fe_t x0, y0;
            point_fetch(&x0, &y0, points, entry);
            fe_cneg(&y0, &y0, entry >> 31);
            rare_add(&s, &x0, &y0, inf);
        } else {
            fe_sqr(&pp, &p);
            fe_mul(&s.zz, &s.zz, &pp);
            fe_mul(&q, &s.x, &pp);
            fe_mul(&pp, &pp, &p);
            fe_mul(&s.zzz, &s.zzz, &pp);
            fe_sqr(&d, &r);
            fe_sub(&d, &d, &pp);
            fe_sub(&d, &d, &q);
            fe_sub(&s.x, &d, &q);
            fe_sub(&d, &q, &s.x);
            fe_neg(&s.y, &s.y);
            fe_dot(&s.y, &r, &d, &s.y, &pp);
        }
        if (LANES == 2 && live && i == end) xyzz_write(to, &s);
    }
#if LANES == 1
    xyzz_write(to, &s);
#endif
}

/* One thread (or pair of lanes) a bucket or piece, in the order of load. */
static __global__ void __launch_bounds__(THREADS, MSM_ACC_BLOCKS) k_accumulate(uint8_t *buckets, uint8_t *piece_sums, const uint8_t *points,
                                                                               struct msm_sort s)
{
    const uint32_t t = blockIdx.x * TASKS + TASK, tasks = s.counters[COUNTER_TASKS];
    if (blockIdx.x * TASKS >= tasks) return;
    struct msm_pair range = { 0, 0 };
    uint8_t *to = NULL;
    if (t < tasks) to = msm_task(&range, buckets, piece_sums, &s, t, XYZZ_BYTES);
    list_sum(to, points, s.list, range.a, range.b, false);
}

#include "backend/cuda/msm_affine.inc.cuh"

/* Heavy buckets of few pieces, a task each: of skewed patterns of bits there are hundreds of thousands. */
#define FEW_PIECES 32
static __global__ void __launch_bounds__(THREADS) k_join_few(uint8_t *buckets, const uint8_t *piece_sums, struct msm_sort s)
{
    const uint32_t count = s.counters[COUNTER_HEAVY];
    NOT_UNROLLED
    for (uint32_t at = blockIdx.x * TASKS; at < count; at += gridDim.x * TASKS) {
        struct msm_heavy v = {0, 0, 0, 0};
        struct xyzz sum, p;
        if (at + TASK < count) v = s.heavy[at + TASK];
        const uint32_t pieces = v.count <= FEW_PIECES ? v.count : 0;
        xyzz_set_inf(&sum);
        NOT_UNROLLED
        for (uint32_t k = 0; WARP_ANY(k < pieces); k++) {
            xyzz_set_inf(&p);
            if (k < pieces) xyzz_read(&p, piece_sums + ((size_t)v.first + k) * XYZZ_BYTES);
            xyzz_add_far(&sum, &p);
        }
        if (pieces) xyzz_write(buckets + (size_t)v.bucket * XYZZ_BYTES, &sum);
    }
}

/* One block a heavy bucket of more: the sum of its pieces. */
static __global__ void __launch_bounds__(THREADS) k_join_pieces(uint8_t *buckets, uint8_t *piece_sums, struct msm_sort s)
{
    for (uint32_t h = blockIdx.x; h < s.counters[COUNTER_HEAVY]; h += gridDim.x) {
        const struct msm_heavy v = s.heavy[h];
        if (v.count <= FEW_PIECES) continue;
        uint8_t *first = piece_sums + (size_t)v.first * XYZZ_BYTES;
        struct xyzz sum, p;
        /* every task sums its stride, then pairs of tasks halve until one is left */
        xyzz_set_inf(&sum);
        const uint32_t rounds = (v.count + TASKS - 1) / TASKS;
    NOT_UNROLLED
        for (uint32_t k = 0; k < rounds; k++) {
            const uint32_t i = k * TASKS + TASK;
            xyzz_set_inf(&p);
            if (i < v.count) xyzz_read(&p, first + (size_t)i * XYZZ_BYTES);
            xyzz_add_far(&sum, &p);
        }
        if (TASK < v.count) xyzz_write(first + (size_t)TASK * XYZZ_BYTES, &sum);
        __syncthreads();
    NOT_UNROLLED
        for (uint32_t half = TASKS / 2; half; half /= 2) {
            xyzz_set_inf(&p);
            if (TASK < half && TASK + half < v.count) xyzz_read(&p, first + (size_t)(TASK + half) * XYZZ_BYTES);
            xyzz_add_far(&sum, &p);
            if (TASK < half && TASK < v.count) xyzz_write(first + (size_t)TASK * XYZZ_BYTES, &sum);
            __syncthreads();
        }
        if (TASK == 0) xyzz_write(buckets + (size_t)v.bucket * XYZZ_BYTES, &sum);
    }
}

/* Reduction, first level.  Segments of 2^seg_log2 buckets: plain = sum b_i, weighted = sum (i + 1) b_i. */
static __global__ void __launch_bounds__(THREADS, MSM_REDUCE_BLOCKS) k_reduce_buckets(uint8_t *plain, uint8_t *weighted, const uint8_t *buckets,
                                                                                      uint32_t segments, uint32_t seg_log2)
{
    uint32_t g = blockIdx.x * TASKS + TASK;
    const bool there = g < segments;
    if (!there) g = segments - 1;
    const uint8_t *b = buckets + (((size_t)g + 1) << seg_log2) * XYZZ_BYTES;
    /* r += b_i and u += r in turn by one copy of the addition's code: two are larger than the instruction cache.  sum is what is added
     * to, other the one that waits. */
    struct xyzz sum, other, p, t;
    b -= XYZZ_BYTES;
    xyzz_read(&sum, b);
    other = sum;
    if (seg_log2) xyzz_read(&p, b - XYZZ_BYTES);
    NOT_UNROLLED
    for (uint32_t k = 0; k < 2 * ((1u << seg_log2) - 1); k++) {
        xyzz_add(&sum, &p);
        t = sum;
        sum = other;
        other = t;
        if (k & 1) {
            if (k + 1 < 2 * ((1u << seg_log2) - 1)) xyzz_read(&p, b - XYZZ_BYTES);
        } else {
            p = t;
            b -= XYZZ_BYTES;
        }
    }
    const struct xyzz r = sum, u = other;
    if (!there) return;
    xyzz_write(plain + (size_t)g * XYZZ_BYTES, &r);
    xyzz_write(weighted + (size_t)g * XYZZ_BYTES, &u);
}

/* Next level.  A segment joins 2^3 neighbours i of the level before, whose plain sums weigh i 2^shift more:
 * plain = sum r_i, weighted = sum u_i + 2^shift sum i r_i. */
static __global__ void __launch_bounds__(THREADS) k_reduce_next(uint8_t *plain_out, uint8_t *weighted_out, const uint8_t *plain, const uint8_t *weighted,
                                                                uint32_t narrow_log2, struct msm_windows w, uint32_t shift)
{
    const uint32_t all = ((w.narrow + 2 * (w.count - w.narrow)) << narrow_log2) / MSM_REDUCE_EACH;
    uint32_t g = blockIdx.x * TASKS + TASK;
    const bool there = g < all;
    if (!there) g = all - 1;
    const size_t item = (size_t)g * MSM_REDUCE_EACH;
    struct xyzz r, v, u, p;
    xyzz_set_inf(&r);
    xyzz_set_inf(&v);
    xyzz_set_inf(&u);
    NOT_UNROLLED
    for (uint32_t i = MSM_REDUCE_EACH; i-- > 0;) {
        xyzz_read(&p, plain + (item + i) * XYZZ_BYTES);
        xyzz_add_far(&r, &p);
        if (i) xyzz_add_far(&v, &r);
        xyzz_read(&p, weighted + (item + i) * XYZZ_BYTES);
        xyzz_add_far(&u, &p);
    }
    NOT_UNROLLED
    for (uint32_t i = 0; i < shift; i++) xyzz_dbl_far(&v);
    xyzz_add_far(&u, &v);
    if (!there) return;
    xyzz_write(plain_out + (size_t)g * XYZZ_BYTES, &r);
    xyzz_write(weighted_out + (size_t)g * XYZZ_BYTES, &u);
}

/* The last step: sum i r_i = sum over bits b of 2^b (sum of the r_i whose index has bit b), so that only plain sums remain, which
 * the host weighs by doubling.  A window of 2^n items has n + 2 jobs of 2^(n-1) items each: the two halves of its weighted sums, then
 * its plain sums by bit.  Block (part, job) sums its part of a job. */
#define SUM_TASKS   32
#define SUM_THREADS (SUM_TASKS * LANES)
/* Item i of a job, infinity beyond its end. */
static __device__ __forceinline__ void job_item(struct xyzz *p, const uint8_t *plain, const uint8_t *weighted, uint32_t job, uint32_t all, uint32_t i,
                                                uint32_t end)
{
    xyzz_set_inf(p);
    if (i >= end) return;
    if (job < 2) {
        xyzz_read(p, weighted + ((size_t)job * all + i) * XYZZ_BYTES);
    } else {
        const uint32_t b = job - 2;
        xyzz_read(p, plain + (size_t)(((i >> b) << (b + 1)) | 1u << b | (i & ((1u << b) - 1))) * XYZZ_BYTES);
    }
}
/* Adds to each task's sum the block's items [q, end) of a job, SUM_TASKS at a time, then the sums of every `width` neighbouring tasks (a
 * power of two) to each other by a butterfly: all of them have it in the end.  One addition in the loop for both, inlined: its points
 * stay in registers, and there is one copy of its code. */
static __device__ __forceinline__ void block_sum(uint8_t *to, struct xyzz *sum, const uint8_t *plain, const uint8_t *weighted, uint32_t job,
                                                 uint32_t all, uint32_t q, uint32_t end, uint32_t width)
{
    __shared__ uint4 points[SUM_TASKS * XYZZ_BYTES / 16];
    NOT_UNROLLED
    for (;;) {
        struct xyzz p;
        if (q < end) {
            job_item(&p, plain, weighted, job, all, q + TASK, end);
            q += SUM_TASKS;
        } else {
            width /= 2;
            if (width == 0) break;
            __syncthreads();
            xyzz_write((uint8_t *)points + TASK * XYZZ_BYTES, sum);
            __syncthreads();
            xyzz_read(&p, (const uint8_t *)points + (TASK ^ width) * XYZZ_BYTES);
        }
        xyzz_add(sum, &p);
    }
    if (TASK == 0) xyzz_write(to, sum);
}
static __global__ void __launch_bounds__(SUM_THREADS) k_sum_bits(uint8_t *out, const uint8_t *plain, const uint8_t *weighted, uint32_t narrow_log2,
                                                                 struct msm_windows w)
{
    uint32_t job = blockIdx.y, log2 = narrow_log2;
    size_t item;
    const uint32_t narrow_jobs = w.narrow * (log2 + 2);
    if (job < narrow_jobs) {
        item = (size_t)(job / (log2 + 2)) << log2;
        job %= log2 + 2;
    } else {
        job -= narrow_jobs;
        log2++;
        item = ((size_t)w.narrow << narrow_log2) + ((size_t)(job / (log2 + 2)) << log2);
        job %= log2 + 2;
    }
    const uint32_t all = 1u << (log2 - 1), first = (uint32_t)((uint64_t)all * blockIdx.x / gridDim.x), end = (uint32_t)((uint64_t)all * (blockIdx.x + 1) / gridDim.x);
    struct xyzz sum;
    plain += item * XYZZ_BYTES;
    weighted += item * XYZZ_BYTES;
    job_item(&sum, plain, weighted, job, all, first + TASK, end);
    block_sum(out + ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * XYZZ_BYTES, &sum, plain, weighted, job, all, first + SUM_TASKS, end, SUM_TASKS);
}
/* The parts of each job joined: a power of two of them, at most SUM_TASKS. */
static __global__ void __launch_bounds__(SUM_THREADS) k_sum_parts(uint8_t *out, const uint8_t *parts, uint32_t count)
{
    struct xyzz sum;
    xyzz_read(&sum, parts + ((size_t)blockIdx.x * count + (TASK & (count - 1))) * XYZZ_BYTES);
    block_sum(out + (size_t)blockIdx.x * XYZZ_BYTES, &sum, NULL, NULL, 0, 0, 0, 0, count);
}

/* XYZZ to canonical Jacobian (X ZZ^2, Y ZZZ^2, ZZZ), which needs no inversion. */
static __global__ void __launch_bounds__(THREADS) k_to_jacobian(uint8_t *out, const uint8_t *in, uint32_t count)
{
    uint32_t g = blockIdx.x * TASKS + TASK;
    const bool there = g < count;
    if (!there) g = count - 1;
    struct xyzz p;
    xyzz_read(&p, in + (size_t)g * XYZZ_BYTES);
    xyzz_to_jacobian(&p);
    if (!there) return;
    uint8_t *o = out + (size_t)g * 3 * COORD_BYTES;
    fe_write(o, &p.x, 1);
    fe_write(o + COORD_BYTES, &p.y, 1);
    fe_write(o + 2 * COORD_BYTES, &p.zzz, 1);
}

/* XYZZ to affine, EACH points of a thread with one inversion: points first, first + 1, .. below count. */
#define EACH 4
static __device__ __forceinline__ void affine_write(uint8_t *points, struct xyzz *sum, uint32_t first, uint32_t count)
{
    fe_t before[EACH], run, inv, one, zero;
    fe_set_one(&one);
    fe_set_zero(&zero);
    run = one;
    NOT_UNROLLED
    for (int k = 0; k < EACH; k++) {
        fe_t z = sum[k].zzz;
        before[k] = run;
        fe_cmov(&z, &one, fe_is_zero(&sum[k].zz)); /* infinity takes part with 1 */
        fe_mul(&run, &run, &z);
    }
    fe_inv(&inv, &run);
    NOT_UNROLLED
    for (int k = EACH - 1; k >= 0; k--) {
        struct xyzz a = sum[k];
        const bool inf = fe_is_zero(&a.zz);
        fe_t t, i3, i2;
        fe_mul(&i3, &inv, &before[k]); /* 1 / ZZZ */
        t = a.zzz;
        fe_cmov(&t, &one, inf);
        fe_mul(&inv, &inv, &t);
        fe_mul(&i2, &i3, &a.zz);
        fe_sqr(&i2, &i2); /* (ZZ / ZZZ)^2 = 1 / ZZ */
        fe_mul(&a.x, &a.x, &i2);
        fe_mul(&a.y, &a.y, &i3);
        fe_canon(&a.x);
        fe_canon(&a.y);
        fe_cmov(&a.x, &zero, inf);
        fe_cmov(&a.y, &zero, inf);
        if (first + k < count) {
            uint8_t *o = points + (size_t)(first + k) * AFF_BYTES;
            fe_write(o, &a.x, 1);
            fe_write(o + COORD_BYTES, &a.y, 1);
        }
    }
}

/* points[i] = scalars[i] * base by a table of 2^8 - 1 multiples for each of the 32 bytes of a scalar. */
static __global__ void __launch_bounds__(THREADS) k_fixed_base(uint8_t *points, const uint8_t *table, const uint8_t *scalars, uint32_t count)
{
    const uint32_t first = (blockIdx.x * TASKS + TASK) * EACH;
    struct xyzz sum[EACH];
    NOT_UNROLLED
    for (int k = 0; k < EACH; k++) {
        const uint8_t *s = scalars + (size_t)min(first + k, count - 1) * 32;
        struct xyzz a, q;
        xyzz_set_inf(&a);
        fe_set_one(&q.zz);
        fe_set_one(&q.zzz);
    NOT_UNROLLED
        for (int j = 0; j < 32; j++) {
            const uint8_t digit = s[j];
            if (WARP_ANY(digit != 0)) {
                const uint8_t *e = table + (size_t)(j * 255 + (digit ? digit - 1 : 0)) * AFF_BYTES;
                fe_read_const(&q.x, e);
                fe_read_const(&q.y, e + COORD_BYTES);
                struct xyzz b = a;
                xyzz_add_far(&b, &q);
                xyzz_cmov(&a, &b, digit != 0);
            }
        }
        sum[k] = a;
    }
    affine_write(points, sum, first, count);
}

/* A row of a table of multiples from the row before. */
static __global__ void __launch_bounds__(THREADS) k_double_row(uint8_t *to, const uint8_t *from, uint32_t count, uint32_t doublings)
{
    const uint32_t first = (blockIdx.x * TASKS + TASK) * EACH;
    struct xyzz sum[EACH];
    NOT_UNROLLED
    for (int k = 0; k < EACH; k++) {
        struct xyzz a;
        point_fetch(&a.x, &a.y, from, min(first + k, count - 1));
        fe_set_one(&a.zz);
        fe_set_one(&a.zzz);
        if (point_is_inf(&a.x, &a.y)) xyzz_set_inf(&a);
        NOT_UNROLLED
        for (uint32_t i = 0; i < doublings; i++) xyzz_dbl_far(&a);
        sum[k] = a;
    }
    affine_write(to, sum, first, count);
}

static unsigned blocks_for(uint64_t tasks) { return (unsigned)((tasks + TASKS - 1) / TASKS); }

static int join_pieces(void *buckets, void *piece_sums, const struct msm_sort *s, void *stream)
{
    LAUNCH(k_join_few, 1024, THREADS, 0, stream)((uint8_t *)buckets, (const uint8_t *)piece_sums, *s);
    const int e = cudaGetLastError();
    if (e != 0) return e;
    LAUNCH(k_join_pieces, 1024, THREADS, 0, stream)((uint8_t *)buckets, (uint8_t *)piece_sums, *s);
    return cudaGetLastError();
}

extern "C" int MSM(accumulate)(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream)
{
    LAUNCH(k_accumulate, blocks_for((uint64_t)g->bucket_count + g->piece_max), THREADS, 0, stream)((uint8_t *)buckets, (uint8_t *)piece_sums,
                                                                                                 (const uint8_t *)points, *s);
    const int e = cudaGetLastError();
    return e ? e : join_pieces(buckets, piece_sums, s, stream);
}

extern "C" int MSM(accumulate_affine)(void *buckets, void *piece_sums, const void *points, const struct msm_sort *s, const struct msm_affine *a, void *stream)
{
    uint8_t *const b = (uint8_t *)buckets, *const pieces = (uint8_t *)piece_sums;
    const uint8_t *const pts = (const uint8_t *)points;
    const unsigned grid = a->inverters + blocks_for(a->threads);
    int e;
    if ((e = cudaFuncSetAttribute(k_affine<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, AFFINE_SHARED_BYTES)) != 0) return e;
    if ((e = cudaFuncSetAttribute(k_affine<false>, cudaFuncAttributePreferredSharedMemoryCarveout, AFFINE_CARVEOUT)) != 0) return e;
    for (uint32_t step = 0; step <= a->steps; step++)
        for (uint32_t set = 0; set < 2; set++) {
            const uint32_t invert = set == 0 ? step : step < a->steps ? step + 1 : 0;
            if (step == 0) LAUNCH((k_affine<true>), grid, THREADS, 0, stream)(b, pieces, pts, *s, *a, set, step, invert);
            else LAUNCH((k_affine<false>), grid, THREADS, AFFINE_SHARED_BYTES, stream)(b, pieces, pts, *s, *a, set, step, invert);
            if ((e = cudaGetLastError()) != 0) return e;
        }
    LAUNCH(k_affine_late, grid, THREADS, 0, stream)(b, pieces, pts, *s, *a);
    if ((e = cudaGetLastError()) != 0) return e;
    return join_pieces(buckets, piece_sums, s, stream);
}

/* See msm_kernels.h. */
extern "C" int MSM(reduce)(void *jacobian, void *scratch, const void *buckets, const struct msm_windows *w, const struct msm_reduction *r, void *stream)
{
    const cudaStream_t st = (cudaStream_t)stream;
    const uint32_t wide = w->count - w->narrow;
    uint32_t log2 = w->width - 1 - r->seg_log2, shift = r->seg_log2;
    const uint32_t segments = (w->narrow + 2 * wide) << log2;
    const size_t half = (size_t)segments * XYZZ_BYTES;
    uint8_t *plain = (uint8_t *)scratch, *weighted = plain + half, *plain_next = weighted + half, *weighted_next = plain_next + half;
    int e;
    LAUNCH(k_reduce_buckets, blocks_for(segments), THREADS, 0, st)(plain, weighted, (const uint8_t *)buckets, segments, r->seg_log2);
    if ((e = cudaGetLastError()) != 0) return e;
    for (uint32_t level = 0; level < r->levels; level++) {
        log2 -= MSM_REDUCE_EACH_LOG2;
        LAUNCH(k_reduce_next, blocks_for((uint64_t)(w->narrow + 2 * wide) << log2), THREADS, 0, st)(plain_next, weighted_next, plain, weighted,
                                                                                           log2 + MSM_REDUCE_EACH_LOG2, *w, shift);
        if ((e = cudaGetLastError()) != 0) return e;
        shift += MSM_REDUCE_EACH_LOG2;
        uint8_t *t = plain;
        plain = plain_next;
        plain_next = t;
        t = weighted;
        weighted = weighted_next;
        weighted_next = t;
    }
    uint8_t *parts = plain_next; /* sums follow the parts */
    uint8_t *sums = parts + (size_t)r->jobs * r->parts * XYZZ_BYTES;
    LAUNCH(k_sum_bits, dim3(r->parts, r->jobs), SUM_THREADS, 0, st)(parts, plain, weighted, log2, *w);
    if ((e = cudaGetLastError()) != 0) return e;
    LAUNCH(k_sum_parts, r->jobs, SUM_THREADS, 0, st)(sums, parts, r->parts);
    if ((e = cudaGetLastError()) != 0) return e;
    LAUNCH(k_to_jacobian, blocks_for(r->jobs), THREADS, 0, st)((uint8_t *)jacobian, sums, r->jobs);
    return cudaGetLastError();
}

extern "C" int MSM(fixed_base)(void *points, const void *table, const void *scalars, uint64_t count, void *stream)
{
    LAUNCH(k_fixed_base, blocks_for((count + EACH - 1) / EACH), THREADS, 0, stream)((uint8_t *)points, (const uint8_t *)table,
                                                                                                     (const uint8_t *)scalars, (uint32_t)count);
    return cudaGetLastError();
}

extern "C" int MSM(double_row)(void *to, const void *from, uint64_t count, uint32_t doublings, void *stream)
{
    LAUNCH(k_double_row, blocks_for((count + EACH - 1) / EACH), THREADS, 0, stream)((uint8_t *)to, (const uint8_t *)from, (uint32_t)count, doublings);
    return cudaGetLastError();
}
