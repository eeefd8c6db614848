/* Accumulation into buckets with a whole point of G2 in each thread.
 *
 * Takes  BE  prefix of the prime field, of 12 limbs, whose fe_device.inc.h and fe_wide.inc.h are there      MSM(name)  exported name
 *
 * Two lanes that share a point (fe_pair.inc.cuh) pay four products of prime field elements and two reductions for a product of Fp2, since each
 * has one coordinate to make.  One thread makes both with three products (Karatsuba) and two reductions: 720 wide products of words instead of
 * 864, and 6624 for a mixed addition, X, Y, ZZ, ZZZ += (x, y), instead of 7776; nothing is exchanged.  What does not fit its registers lies in
 * shared memory, which has time: the sum, and the addition's two longest-lived values, six elements of Fp2 a thread, 72 KiB a block.
 * Where a block is all that an SM has room for (99 KiB), and where there are too few sums to fill the SMs with threads, the pairs
 * are faster.
 *
 * Bounds, p the prime, R = 2^384 > 9.8 p; elements are in [0, 2p], so sums of two coordinates fit R, and a reduction of what is below k p R gives
 * less than (k + 1 + 2^-30) p:
 *   product  a1 b0 + a0 b1 <= 8 p^2 < 0.82 p R;  a0 b0 - a1 b1 + p R / 2 > 0 and < 0.91 p R.  Both reduce to less than 2p.
 *   sum of two products  < 1.63 p R, and with p R added to the difference < 1.82 p R: both reduce to less than 4p. */
#include "backend/cuda/launch.h"
#include "backend/cuda/msm_task.h"
#include "backend/cuda/msm_whole_kernels.h"
#include "backend/cuda/warp_max.h"
#include "field/be_names.h"

#define THREADS MSM_WHOLE_THREADS
static_assert(sizeof(be_t) == 48, "the bounds are those of 12 limbs");

struct ext {
    be_t c[2];
};

static __device__ __forceinline__ void ext_sub(struct ext *r, const struct ext *a, const struct ext *b)
{
    be_sub(&r->c[0], &a->c[0], &b->c[0]);
    be_sub(&r->c[1], &a->c[1], &b->c[1]);
}
static __device__ __forceinline__ void ext_neg(struct ext *r, const struct ext *a)
{
    be_neg(&r->c[0], &a->c[0]);
    be_neg(&r->c[1], &a->c[1]);
}
static __device__ __forceinline__ void ext_cneg(struct ext *r, const struct ext *a, bool flag)
{
    CAT(BE, _cneg)(&r->c[0], &a->c[0], flag);
    CAT(BE, _cneg)(&r->c[1], &a->c[1], flag);
}
static __device__ __forceinline__ bool ext_is_zero(const struct ext *a) { return be_is_zero(&a->c[0]) && be_is_zero(&a->c[1]); }
static __device__ __forceinline__ void ext_set_zero(struct ext *r)
{
    be_set_zero(&r->c[0]);
    be_set_zero(&r->c[1]);
}
static __device__ __forceinline__ void ext_set_one(struct ext *r)
{
    be_set_one(&r->c[0]);
    be_set_zero(&r->c[1]);
}

static __device__ __forceinline__ void ext_mul(struct ext *r, const struct ext *a, const struct ext *b)
{
    uint32_t t0[24], t1[24], sum[24]; /* no more than two carry chains at a time: ptxas has seven predicates for their flags */
    be_t sa, sb;
    CAT(BE, _add_plain)(&sa, &a->c[0], &a->c[1]);
    CAT(BE, _add_plain)(&sb, &b->c[0], &b->c[1]);
    be_mul_wide(t0, &a->c[0], &b->c[0]);
    be_mul_wide(t1, &a->c[1], &b->c[1]);
    be_add_wide(sum, t0, t1);
    be_sub_wide(t0, t0, t1);
    CAT(BE, _lift_half)(t0);
    CAT(BE, _redc_wide)(&r->c[0], t0);
    be_mul_wide(t1, &sa, &sb);
    be_sub_wide(t1, t1, sum);
    CAT(BE, _redc_wide)(&r->c[1], t1);
}

/* (a0 + a1)(a0 - a1), 2 a0 a1 */
static __device__ __forceinline__ void ext_sqr(struct ext *r, const struct ext *a)
{
    be_t sum, difference, twice;
    CAT(BE, _add_plain)(&sum, &a->c[0], &a->c[1]);
    be_sub(&difference, &a->c[0], &a->c[1]);
    CAT(BE, _add_plain)(&twice, &a->c[0], &a->c[0]);
    be_mul(&r->c[1], &twice, &a->c[1]);
    be_mul(&r->c[0], &sum, &difference);
}

/* -- a thread's numbers in shared memory -- */

enum slot { SLOT_X, SLOT_Y, SLOT_ZZ, SLOT_ZZZ, SLOT_P, SLOT_R, SLOTS }; /* the sum; then x ZZ - X, later its cube, and y ZZZ - Y */
#define HALF_VECTORS  ((uint32_t)(sizeof(be_t) / 16))
#define SLOT_VECTORS  (2 * HALF_VECTORS)
#define SUM_VECTORS   (4 * SLOT_VECTORS)
#define WHOLE_AFF     (2 * SLOT_VECTORS * 16)
#define WHOLE_XYZZ    (4 * SLOT_VECTORS * 16)
static_assert(MSM_WHOLE_BYTES == SLOTS * SLOT_VECTORS * 16 * THREADS, "what a block is launched with");

/* own: the thread's first vector; the vectors of a block's threads are interleaved. */
static __device__ __forceinline__ void half_read(be_t *r, const uint4 *own, uint32_t slot, uint32_t half)
{
    CAT(BE, _read)(r, own + (slot * SLOT_VECTORS + half * HALF_VECTORS) * THREADS, THREADS);
}
static __device__ __forceinline__ void slot_read(struct ext *r, const uint4 *own, uint32_t slot)
{
    half_read(&r->c[0], own, slot, 0);
    half_read(&r->c[1], own, slot, 1);
}
static __device__ __forceinline__ void slot_write(uint4 *own, uint32_t slot, const struct ext *a)
{
    CAT(BE, _write)(own + slot * SLOT_VECTORS * THREADS, &a->c[0], THREADS);
    CAT(BE, _write)(own + (slot * SLOT_VECTORS + HALF_VECTORS) * THREADS, &a->c[1], THREADS);
}
static __device__ __forceinline__ void coordinate_read(struct ext *r, const uint8_t *from)
{
    CAT(BE, _read_const)(&r->c[0], from);
    CAT(BE, _read_const)(&r->c[1], from + sizeof(be_t));
}
static __device__ __forceinline__ void sum_write(uint8_t *to, const uint4 *own)
{
    UNROLL for (uint32_t i = 0; i < SUM_VECTORS; i++) ((uint4 *)to)[i] = own[i * THREADS];
}

static __device__ __forceinline__ uint32_t bits_of(const struct ext *a)
{
    uint32_t w = 0;
    UNROLL for (int i = 0; i < (int)(sizeof(be_t) / 4); i++) w |= a->c[0].v[i] | a->c[1].v[i];
    return w;
}

/* The sum becomes a point, which may be infinity: x = y = 0. */
static __device__ __forceinline__ void sum_begin(uint4 *own, const uint8_t *point, bool negative)
{
    struct ext x, y, one;
    coordinate_read(&x, point);
    coordinate_read(&y, point + sizeof(struct ext));
    ext_set_one(&one);
    if ((bits_of(&x) | bits_of(&y)) == 0) ext_set_zero(&one);
    else ext_cneg(&y, &y, negative); /* 2p for 0, so only after the test */
    slot_write(own, SLOT_X, &x);
    slot_write(own, SLOT_Y, &y);
    slot_write(own, SLOT_ZZ, &one);
    slot_write(own, SLOT_ZZZ, &one);
}

/* -- additions that the formulas do not cover -- */

enum rare { NOT_RARE, RARE_KEEP, RARE_BEGIN, RARE_DOUBLE, RARE_CANCEL };

static __device__ __noinline__ void ext_mul_far(struct ext *r, const struct ext *a, const struct ext *b) { ext_mul(r, a, b); }

/* Puts right what the formulas made of a sum: `before` is the sum as it was.  Every lane of the warp must call, converged. */
static __device__ __noinline__ void rare_mend(uint4 *own, const uint4 *before, const uint8_t *point, bool negative, enum rare what)
{
    struct ext x, y, u, v, w, s, m;
    coordinate_read(&x, point);
    coordinate_read(&y, point + sizeof x);
    ext_cneg(&y, &y, negative);
    if (__any_sync(0xffffffffu, what == RARE_DOUBLE)) { /* the sum is the same point: twice the affine one */
        ext_neg(&u, &y);
        ext_sub(&u, &y, &u);
        ext_mul_far(&v, &u, &u);
        ext_mul_far(&w, &u, &v);
        ext_mul_far(&s, &x, &v);
        ext_mul_far(&m, &x, &x);
        ext_neg(&u, &m);
        ext_sub(&u, &m, &u);
        ext_neg(&m, &m);
        ext_sub(&m, &u, &m);
        ext_mul_far(&u, &m, &m);
        ext_sub(&u, &u, &s);
        ext_sub(&u, &u, &s);
        ext_sub(&s, &s, &u);
        ext_mul_far(&m, &m, &s);
        ext_mul_far(&s, &w, &y);
        ext_sub(&m, &m, &s);
        if (what == RARE_DOUBLE) {
            slot_write(own, SLOT_X, &u);
            slot_write(own, SLOT_Y, &m);
            slot_write(own, SLOT_ZZ, &v);
            slot_write(own, SLOT_ZZZ, &w);
        }
        __syncwarp();
    }
    if (what == RARE_KEEP) {
        NOT_UNROLLED
        for (uint32_t i = 0; i < SUM_VECTORS; i++) own[i * THREADS] = before[i];
    } else if (what == RARE_BEGIN) {
        sum_begin(own, point, negative);
    } else if (what == RARE_CANCEL) {
        NOT_UNROLLED
        for (uint32_t i = 0; i < SUM_VECTORS; i++) own[i * THREADS] = make_uint4(0, 0, 0, 0);
    }
    __syncwarp();
}

/* -- the addition -- */

/* Where each of the six products of the loop takes a factor from and leaves its result: four bits each. */
#define PRODUCT_SLOTS (SLOT_P | SLOT_R << 4 | SLOT_ZZ << 8 | SLOT_X << 12 | SLOT_P << 16 | SLOT_ZZZ << 20)

/* Y = R D - Y PPP with one reduction a coordinate.  Halves are read anew for each product: all of them are more than the registers hold. */
static __device__ __forceinline__ void y_finish(uint4 *own, struct ext *d)
{
    uint32_t w0[24], w1[24], sum[24];
    be_t r, y, ppp, other, p2;
    half_read(&r, own, SLOT_R, 0);
    half_read(&ppp, own, SLOT_P, 0);
    half_read(&y, own, SLOT_Y, 0);
    be_neg(&y, &y);
    CAT(BE, _dot_wide)(w0, &r, &d->c[0], &y, &ppp);
    __syncwarp(); /* the compiler keeps no numbers of before */
    half_read(&r, own, SLOT_R, 1);
    half_read(&ppp, own, SLOT_P, 1);
    half_read(&y, own, SLOT_Y, 1);
    be_neg(&y, &y);
    CAT(BE, _dot_wide)(w1, &r, &d->c[1], &y, &ppp);
    CAT(BE, _add_plain)(&d->c[1], &d->c[0], &d->c[1]);
    be_add_wide(sum, w0, w1);
    be_sub_wide(w0, w0, w1);
    CAT(BE, _lift)(w0);
    CAT(BE, _redc_wide)(&d->c[0], w0);
    __syncwarp();
    half_read(&r, own, SLOT_R, 0);
    half_read(&other, own, SLOT_R, 1);
    CAT(BE, _add_plain)(&r, &r, &other);
    half_read(&ppp, own, SLOT_P, 0);
    half_read(&other, own, SLOT_P, 1);
    CAT(BE, _add_plain)(&ppp, &ppp, &other);
    half_read(&y, own, SLOT_Y, 0);
    be_neg(&y, &y);
    half_read(&other, own, SLOT_Y, 1);
    be_neg(&other, &other);
    CAT(BE, _add_plain)(&y, &y, &other);
    CAT(BE, _dot_wide)(w1, &r, &d->c[1], &y, &ppp);
    be_sub_wide(w1, w1, sum);
    CAT(BE, _redc_wide)(&d->c[1], w1);
    CAT(BE, _twice_p)(&p2);
    be_sub(&d->c[0], &d->c[0], &p2);
    be_sub(&d->c[1], &d->c[1], &p2);
    slot_write(own, SLOT_Y, d);
}

/* The sum += the point, or minus it; not `live`: numbers that nobody reads.  Every lane of the warp must call, converged; rare cases, decided by
 * warps, are mended after the formulas. */
static __device__ __forceinline__ void sum_add(uint4 *own, const uint8_t *point, bool negative, bool live)
{
    uint4 before[SUM_VECTORS];
    enum rare what = NOT_RARE;
    bool equal = false, any_rare = false;
    uint32_t point_bits = 0;
    struct ext a, b, t;
    NOT_UNROLLED
    for (uint32_t k = 0; k < 6; k++) {
        const uint32_t slot = PRODUCT_SLOTS >> 4 * k & 15;
        if (k < 2) { /* P = x ZZ - X, R = y ZZZ - Y */
            coordinate_read(&a, point + k * sizeof a);
            point_bits |= bits_of(&a);
            ext_cneg(&a, &a, k == 1 && negative);
            slot_read(&b, own, SLOT_ZZ + k);
        } else { /* ZZ PP, X PP, P PP; ZZZ PPP */
            if (k == 2) {
                slot_read(&a, own, SLOT_P);
                ext_sqr(&b, &a);
                any_rare = __any_sync(0xffffffffu, live && (equal || point_bits == 0));
                if (any_rare) {
                    slot_read(&a, own, SLOT_ZZ);
                    slot_read(&t, own, SLOT_R);
                    if (live) what = point_bits == 0 ? RARE_KEEP : ext_is_zero(&a) ? RARE_BEGIN : !equal ? NOT_RARE : ext_is_zero(&t) ? RARE_DOUBLE : RARE_CANCEL;
                    NOT_UNROLLED
                    for (uint32_t i = 0; i < SUM_VECTORS; i++) before[i] = own[i * THREADS];
                }
            }
            if (k == 5) slot_read(&b, own, SLOT_P);
            slot_read(&a, own, slot);
        }
        ext_mul(&a, &a, &b);
        if (k < 2) {
            slot_read(&t, own, SLOT_X + k);
            ext_sub(&a, &a, &t);
            if (k == 0) equal = ext_is_zero(&a); /* also where the sum is infinity: X = 0 */
        }
        slot_write(own, slot, &a);
    }
    /* X = R^2 - PPP - 2 Q, with Q = X PP;  D = Q - X */
    struct ext d;
    slot_read(&t, own, SLOT_R);
    ext_sqr(&d, &t);
    slot_read(&t, own, SLOT_P);
    ext_sub(&d, &d, &t);
    slot_read(&t, own, SLOT_X);
    ext_sub(&d, &d, &t);
    ext_sub(&d, &d, &t);
    slot_write(own, SLOT_X, &d);
    ext_sub(&d, &t, &d);
    y_finish(own, &d);
    if (any_rare) rare_mend(own, before, point, negative, what);
}

/* One thread a bucket or piece, in the order of load.  A warp runs to its longest list. */
static __global__ void __launch_bounds__(THREADS, MSM_WHOLE_BLOCKS) k_accumulate_whole(uint8_t *buckets, uint8_t *piece_sums, const uint8_t *points,
                                                                                       struct msm_sort s)
{
    SHARED_DYNAMIC(uint4, memory);
    const uint32_t t = blockIdx.x * THREADS + threadIdx.x, tasks = s.counters[COUNTER_TASKS];
    if (blockIdx.x * THREADS >= tasks) return;
    uint4 *const own = memory + threadIdx.x;
    struct msm_pair range = { 0, 0 };
    uint32_t entry = 0;
    uint8_t *to = NULL;
    if (t < tasks) to = msm_task(&range, buckets, piece_sums, &s, t, WHOLE_XYZZ);
    uint32_t i = range.a;
    const uint32_t end = range.b;
    const uint32_t rounds = warp_max(end - i);
    if (i < end) entry = s.list[i];
    sum_begin(own, points + (size_t)(entry & 0x7fffffffu) * WHOLE_AFF, entry >> 31);
    if (i == end && to) {
        UNROLL for (uint32_t k = 0; k < SUM_VECTORS; k++) ((uint4 *)to)[k] = make_uint4(0, 0, 0, 0);
    }
    if (i < end && ++i == end) sum_write(to, own);
    if (i < end) entry = s.list[i];
    NOT_UNROLLED
    for (uint32_t k = 1; k < rounds; k++) {
        const bool live = i < end;
        const uint32_t now = entry;
        if (live && ++i < end) entry = s.list[i]; /* the next one, long before its point is needed */
        sum_add(own, points + (size_t)(now & 0x7fffffffu) * WHOLE_AFF, now >> 31, live);
        if (live && i == end) sum_write(to, own);
    }
}

extern "C" int MSM(accumulate_whole)(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream)
{
    const uint64_t tasks = (uint64_t)g->bucket_count + g->piece_max;
    int e;
    if ((e = cudaFuncSetAttribute(k_accumulate_whole, cudaFuncAttributeMaxDynamicSharedMemorySize, MSM_WHOLE_BYTES)) != 0) return e;
    if ((e = cudaFuncSetAttribute(k_accumulate_whole, cudaFuncAttributePreferredSharedMemoryCarveout, 100)) != 0) return e;
    LAUNCH(k_accumulate_whole, (unsigned)((tasks + THREADS - 1) / THREADS), THREADS, MSM_WHOLE_BYTES, stream)((uint8_t *)buckets, (uint8_t *)piece_sums,
                                                                                                            (const uint8_t *)points, *s);
    if ((e = cudaGetLastError()) != 0) return e;
    return MSM(join)(buckets, piece_sums, s, stream);
}

extern "C" int MSM(accumulate)(void *buckets, void *piece_sums, const void *points, const struct msm_group *g, const struct msm_sort *s, void *stream)
{
    const uint64_t sums = g->bucket_count ? g->bucket_count : g->piece_max; /* few buckets are cut */
    int device, shared_bytes, sm_count, e;
    if ((e = cudaGetDevice(&device)) != 0) return e;
    if ((e = cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)) != 0) return e;
    if ((e = cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device)) != 0) return e;
    const bool whole = msm_whole_blocks((size_t)shared_bytes) != 0 && sums >= (uint64_t)sm_count * MSM_WHOLE_SUMS;
    return (whole ? MSM(accumulate_whole) : MSM(accumulate_pairs))(buckets, piece_sums, points, g, s, stream);
}
