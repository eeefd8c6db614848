/* The MSM's point kernels for one group of one curve: accumulation into buckets, reduction to one point a window, fixed base.
 *
 * Takes  FE, LANES (see xyzz.inc.cuh)   MSM(name)  exported name   MSM_ACC_BLOCKS  resident blocks of 128 threads that the
 * accumulation's registers are fitted to (measured) */
#include "backend/cuda/msm_kernels.h"
#include <cuda_runtime.h>
#include "backend/cuda/fe_device_names.h"
#include "backend/cuda/xyzz.inc.cuh"

#define THREADS 128
#define MSM_REDUCE_EACH_LOG2 3
#define MSM_REDUCE_EACH (1u << MSM_REDUCE_EACH_LOG2) /* segments joined by one task of a later level */
#define TASKS   (THREADS / LANES)  /* points that a block works on */
#define TASK    (threadIdx.x / LANES)

static __device__ __forceinline__ void point_fetch(fe_t *x, fe_t *y, const uint8_t *points, uint32_t entry)
{
    const uint8_t *p = points + (size_t)(entry & 0x7fffffffu) * AFF_BYTES;
    fe_read_const(x, p);
    fe_read_const(y, p + COORD_BYTES);
}

/* Entries [i, end) of `list` summed into *sum.  The next point is loaded into registers as soon as its predecessor is consumed.
 * With two lanes a point, a warp runs to its longest list and the finished ones keep their sum. */
static __device__ __forceinline__ void list_sum(struct xyzz *sum, const uint8_t *points, const uint32_t *list, uint32_t i, uint32_t end)
{
    struct xyzz s;
    fe_t x, y;
    bool empty = true;
    uint32_t rounds = end - i, next = 0;
    xyzz_set_inf(&s);
#if LANES == 2
    rounds = __reduce_max_sync(0xffffffffu, rounds);
#endif
    if (i < end) next = list[i];
    if (rounds) point_fetch(&x, &y, points, next);
#pragma unroll 1
    for (uint32_t k = 0; k < rounds; k++) {
        const uint32_t entry = next;
        const bool live = LANES == 1 || i < end;
        if (++i < end) next = list[i];
        fe_cneg(&y, &y, entry >> 31);
        const bool inf = fe_is_zero(&x) && fe_is_zero(&y); /* of this curve no point but infinity has x = y = 0 */
        if (ANY_LANE(empty || inf)) {
            /* no sum yet, or a point at infinity in the key */
            const bool take = empty && !inf && live;
            if (LANES == 1) {
                if (!inf) {
                    s.x = x;
                    s.y = y;
                    fe_set_one(&s.zz);
                    fe_set_one(&s.zzz);
                    empty = false;
                }
                point_fetch(&x, &y, points, next);
                continue;
            }
            fe_t one;
            fe_set_one(&one);
            fe_cmov(&s.x, &x, take);
            fe_cmov(&s.y, &y, take);
            fe_cmov(&s.zz, &one, take);
            fe_cmov(&s.zzz, &one, take);
            if (!ANY_LANE(live && !take && !inf)) {
                empty = empty && !take;
                point_fetch(&x, &y, points, next);
                continue;
            }
            /* some pairs add in this round: the others go along with a sum that is not kept */
            struct xyzz q;
            fe_cneg(&q.y, &y, false);
            q.x = x;
            q.zz = one;
            q.zzz = one;
            struct xyzz t = s;
            xyzz_add_far(&t, &q);
            xyzz_cmov(&s, &t, live && !take && !inf);
            empty = empty && !take;
            point_fetch(&x, &y, points, next);
            continue;
        }
        fe_t p, r, pp, q, d;
        fe_mul(&p, &x, &s.zz);
        fe_sub(&p, &p, &s.x);
        fe_mul(&r, &y, &s.zzz);
        fe_sub(&r, &r, &s.y);
        point_fetch(&x, &y, points, next);
        if (ANY_LANE(fe_is_zero(&p) && live)) {
            /* equal x: the same point or its negative */
            const bool equal = fe_is_zero(&p) && live, same = fe_is_zero(&r);
            if (LANES == 1) {
                if (same) {
                    point_fetch(&x, &y, points, entry);
                    fe_cneg(&y, &y, entry >> 31);
                    struct xyzz t;
                    fe_t tx = x, ty = y;
                    xyzz_dbl_affine_far(&t, &tx, &ty);
                    s = t;
                } else {
                    empty = true;
                    xyzz_set_inf(&s);
                }
                point_fetch(&x, &y, points, next);
                continue;
            }
            struct xyzz t = s, u;
            point_fetch(&u.x, &u.y, points, entry);
            fe_cneg(&u.y, &u.y, entry >> 31);
            fe_set_one(&u.zz);
            fe_set_one(&u.zzz);
            xyzz_add_far(&t, &u);
            xyzz_cmov(&s, &t, live);
            empty = empty || (equal && !same);
            continue;
        }
        if (LANES == 1) { /* 8 M + 2 S, the last two products with one reduction */
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
        } else {
            struct xyzz t;
            fe_sqr(&pp, &p);
            fe_mul(&t.zz, &s.zz, &pp);
            fe_mul(&q, &s.x, &pp);
            fe_mul(&pp, &pp, &p);
            fe_mul(&t.zzz, &s.zzz, &pp);
            fe_sqr(&d, &r);
            fe_sub(&d, &d, &pp);
            fe_sub(&d, &d, &q);
            fe_sub(&t.x, &d, &q);
            fe_sub(&d, &q, &t.x);
            fe_neg(&t.y, &s.y);
            fe_dot(&t.y, &r, &d, &t.y, &pp);
            if (live) s = t;
        }
    }
    *sum = s;
}

/* One thread (or pair of lanes) a bucket or piece, in the order of load. */
static __global__ void __launch_bounds__(THREADS, MSM_ACC_BLOCKS) k_accumulate(uint8_t *buckets, uint8_t *piece_sums, const uint8_t *points,
                                                                               struct msm_sort s)
{
    const uint32_t t = blockIdx.x * TASKS + TASK, tasks = s.counters[COUNTER_TASKS];
    if (blockIdx.x * TASKS >= tasks) return;
    uint32_t start = 0, end = 0;
    uint8_t *to = NULL;
    if (t < tasks) {
        const uint32_t id = s.order[t];
        if (id >> 31) {
            const struct msm_pair piece = s.pieces[id & 0x7fffffffu];
            start = piece.a;
            end = start + piece.b;
            to = piece_sums + (size_t)(id & 0x7fffffffu) * XYZZ_BYTES;
        } else {
            start = s.bucket_start[id];
            end = s.bucket_start[id + 1];
            to = buckets + (size_t)id * XYZZ_BYTES;
        }
    }
    struct xyzz sum;
    list_sum(&sum, points, s.list, start, end);
    if (to) xyzz_write(to, &sum);
}

/* One block a heavy bucket: the sum of its pieces. */
static __global__ void __launch_bounds__(THREADS) k_join_pieces(uint8_t *buckets, uint8_t *piece_sums, struct msm_sort s)
{
    for (uint32_t h = blockIdx.x; h < s.counters[COUNTER_HEAVY]; h += gridDim.x) {
        const struct msm_heavy v = s.heavy[h];
        uint8_t *first = piece_sums + (size_t)v.first * XYZZ_BYTES;
        struct xyzz sum, p;
        /* every task sums its stride, then pairs of tasks halve until one is left */
        xyzz_set_inf(&sum);
        const uint32_t rounds = (v.count + TASKS - 1) / TASKS;
#pragma unroll 1
        for (uint32_t k = 0; k < rounds; k++) {
            const uint32_t i = k * TASKS + TASK;
            xyzz_set_inf(&p);
            if (i < v.count) xyzz_read(&p, first + (size_t)i * XYZZ_BYTES);
            xyzz_add_far(&sum, &p);
        }
        if (TASK < v.count) xyzz_write(first + (size_t)TASK * XYZZ_BYTES, &sum);
        __syncthreads();
#pragma unroll 1
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
    struct xyzz r, u, p;
    b -= XYZZ_BYTES;
    xyzz_read(&r, b);
    u = r;
#pragma unroll 1
    for (uint32_t i = (1u << seg_log2) - 1; i; i--) {
        b -= XYZZ_BYTES;
        xyzz_read(&p, b);
        xyzz_add(&r, &p);
        xyzz_add(&u, &r);
    }
    if (!there) return;
    xyzz_write(plain + (size_t)g * XYZZ_BYTES, &r);
    xyzz_write(weighted + (size_t)g * XYZZ_BYTES, &u);
}

/* Next levels.  A segment joins `each` neighbours i of the level before (the last one of a window maybe fewer), whose plain sums
 * weigh i 2^shift more: plain = sum r_i, weighted = sum u_i + 2^shift sum i r_i. */
static __global__ void __launch_bounds__(THREADS) k_reduce_next(uint8_t *plain_out, uint8_t *weighted_out, const uint8_t *plain, const uint8_t *weighted,
                                                                uint32_t narrow_items, struct msm_windows w, uint32_t each, uint32_t shift)
{
    const uint32_t narrow_segs = (narrow_items + each - 1) / each, wide_segs = (2 * narrow_items + each - 1) / each;
    const uint32_t narrow_all = w.narrow * narrow_segs, all = narrow_all + (w.count - w.narrow) * wide_segs;
    uint32_t g = blockIdx.x * TASKS + TASK;
    const bool there = g < all;
    if (!there) g = all - 1;
    size_t item;
    uint32_t k, items;
    if (g < narrow_all) {
        k = g % narrow_segs;
        item = (size_t)(g / narrow_segs) * narrow_items;
        items = narrow_items;
    } else {
        const uint32_t h = g - narrow_all;
        k = h % wide_segs;
        item = (size_t)w.narrow * narrow_items + (size_t)(h / wide_segs) * 2 * narrow_items;
        items = 2 * narrow_items;
    }
    item += (size_t)k * each;
    const uint32_t n = min(each, items - k * each);
    struct xyzz r, v, u, p;
    xyzz_set_inf(&r);
    xyzz_set_inf(&v);
    xyzz_set_inf(&u);
#pragma unroll 1
    for (uint32_t i = each; i-- > 0;) {
        xyzz_set_inf(&p);
        if (i < n) xyzz_read(&p, plain + (item + i) * XYZZ_BYTES);
        xyzz_add_far(&r, &p);
        if (i) xyzz_add_far(&v, &r);
        xyzz_set_inf(&p);
        if (i < n) xyzz_read(&p, weighted + (item + i) * XYZZ_BYTES);
        xyzz_add_far(&u, &p);
    }
#pragma unroll 1
    for (uint32_t i = 0; i < shift; i++) xyzz_dbl_far(&v);
    xyzz_add_far(&u, &v);
    if (!there) return;
    xyzz_write(plain_out + (size_t)g * XYZZ_BYTES, &r);
    xyzz_write(weighted_out + (size_t)g * XYZZ_BYTES, &u);
}

/* XYZZ to canonical Jacobian (X ZZ^2, Y ZZZ^2, ZZZ), which needs no inversion. */
static __global__ void __launch_bounds__(THREADS) k_to_jacobian(uint8_t *out, const uint8_t *in, uint32_t count)
{
    uint32_t g = blockIdx.x * TASKS + TASK;
    const bool there = g < count;
    if (!there) g = count - 1;
    struct xyzz p;
    xyzz_read(&p, in + (size_t)g * XYZZ_BYTES);
    fe_sqr(&p.zz, &p.zz);
    fe_mul(&p.x, &p.x, &p.zz);
    fe_sqr(&p.zz, &p.zzz);
    fe_mul(&p.y, &p.y, &p.zz);
    fe_canon(&p.x);
    fe_canon(&p.y);
    fe_canon(&p.zzz);
    if (!there) return;
    uint8_t *o = out + (size_t)g * 3 * COORD_BYTES;
    fe_write(o, &p.x, 1);
    fe_write(o + COORD_BYTES, &p.y, 1);
    fe_write(o + 2 * COORD_BYTES, &p.zzz, 1);
}

/* points[i] = scalars[i] * base by a table of 2^8 - 1 multiples for each of the 32 bytes of a scalar; FIXED_EACH points share one
 * inversion. */
#define FIXED_EACH 8
static __global__ void __launch_bounds__(THREADS) k_fixed_base(uint8_t *points, const uint8_t *table, const uint8_t *scalars, uint32_t count)
{
    const uint32_t first = (blockIdx.x * TASKS + TASK) * FIXED_EACH;
    struct xyzz sum[FIXED_EACH];
    fe_t before[FIXED_EACH], run, inv, t;
    fe_set_one(&run);
#pragma unroll 1
    for (int k = 0; k < FIXED_EACH; k++) {
        const uint8_t *s = scalars + (size_t)min(first + k, count - 1) * 32;
        struct xyzz a, q;
        xyzz_set_inf(&a);
        fe_set_one(&q.zz);
        fe_set_one(&q.zzz);
#pragma unroll 1
        for (int j = 0; j < 32; j++) {
            const uint8_t digit = s[j];
            if (ANY_LANE(digit != 0)) {
                const uint8_t *e = table + (size_t)(j * 255 + (digit ? digit - 1 : 0)) * AFF_BYTES;
                fe_read_const(&q.x, e);
                fe_read_const(&q.y, e + COORD_BYTES);
                if (LANES == 1) {
                    xyzz_add_far(&a, &q);
                } else {
                    struct xyzz b = a;
                    xyzz_add_far(&b, &q);
                    xyzz_cmov(&a, &b, digit != 0);
                }
            }
        }
        sum[k] = a;
        before[k] = run;
        /* infinity takes part with 1 */
        fe_t z = a.zzz, one;
        fe_set_one(&one);
        fe_cmov(&z, &one, fe_is_zero(&a.zz));
        fe_mul(&run, &run, &z);
    }
    fe_inv(&inv, &run);
#pragma unroll 1
    for (int k = FIXED_EACH - 1; k >= 0; k--) {
        struct xyzz a = sum[k];
        const bool inf = fe_is_zero(&a.zz);
        fe_t one, i3, i2;
        fe_set_one(&one);
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
        fe_t zero;
        fe_set_zero(&zero);
        fe_cmov(&a.x, &zero, inf);
        fe_cmov(&a.y, &zero, inf);
        if (first + k < count) {
            uint8_t *o = points + (size_t)(first + k) * AFF_BYTES;
            fe_write(o, &a.x, 1);
            fe_write(o + COORD_BYTES, &a.y, 1);
        }
    }
}

static unsigned blocks_for(uint64_t tasks) { return (unsigned)((tasks + TASKS - 1) / TASKS); }

extern "C" int MSM(accumulate)(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream)
{
    k_accumulate<<<blocks_for((uint64_t)g->bucket_count + g->piece_max), THREADS, 0, (cudaStream_t)stream>>>((uint8_t *)buckets, (uint8_t *)piece_sums,
                                                                                                         (const uint8_t *)points, *s);
    const int e = cudaGetLastError();
    if (e) return e;
    k_join_pieces<<<1024, THREADS, 0, (cudaStream_t)stream>>>((uint8_t *)buckets, (uint8_t *)piece_sums, *s);
    return cudaGetLastError();
}

/* scratch: 4 points for each segment of the first level. */
extern "C" int MSM(reduce)(void *jacobian, void *scratch, const void *buckets, const struct msm_windows *w, uint32_t seg_log2, void *stream)
{
    const cudaStream_t st = (cudaStream_t)stream;
    uint32_t items = 1u << (w->width - 1 - seg_log2), shift = seg_log2, segments = items * (2 * w->count - w->narrow);
    const size_t half = (size_t)segments * XYZZ_BYTES;
    uint8_t *plain = (uint8_t *)scratch, *weighted = plain + half, *plain_next = weighted + half, *weighted_next = plain_next + half;
    int e;
    k_reduce_buckets<<<blocks_for(segments), THREADS, 0, st>>>(plain, weighted, (const uint8_t *)buckets, segments, seg_log2);
    if ((e = cudaGetLastError()) != 0) return e;
    /* until every window is one point; the wide windows' last step may join twice as many */
    const bool uneven = w->narrow != w->count;
    while (items > 1 || uneven) {
        const uint32_t widest = uneven ? 2 * items : items, each = widest <= MSM_REDUCE_EACH ? widest : MSM_REDUCE_EACH;
        const uint32_t narrow_segs = (items + each - 1) / each, wide_segs = (2 * items + each - 1) / each;
        k_reduce_next<<<blocks_for((uint64_t)w->narrow * narrow_segs + (uint64_t)(w->count - w->narrow) * wide_segs), THREADS, 0, st>>>(
            plain_next, weighted_next, plain, weighted, items, *w, each, shift);
        if ((e = cudaGetLastError()) != 0) return e;
        uint8_t *t = plain;
        plain = plain_next;
        plain_next = t;
        t = weighted;
        weighted = weighted_next;
        weighted_next = t;
        if (widest <= each) break;
        items = narrow_segs;
        shift += MSM_REDUCE_EACH_LOG2;
    }
    k_to_jacobian<<<blocks_for(w->count), THREADS, 0, st>>>((uint8_t *)jacobian, weighted, w->count);
    return cudaGetLastError();
}

extern "C" int MSM(fixed_base)(void *points, const void *table, const void *scalars, uint64_t count, void *stream)
{
    k_fixed_base<<<blocks_for((count + FIXED_EACH - 1) / FIXED_EACH), THREADS, 0, (cudaStream_t)stream>>>((uint8_t *)points, (const uint8_t *)table,
                                                                                                     (const uint8_t *)scalars, (uint32_t)count);
    return cudaGetLastError();
}
