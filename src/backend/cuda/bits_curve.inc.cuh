/* Sums of points over the set bits of bitmaps, for one group of one curve.
 *
 * Takes  FE, LANES (see xyzz.inc.cuh)   BITS(name)  exported name   BITS_BLOCKS  resident blocks of BITS_THREADS threads
 * One launch fills the device once.  Its blocks are shared out among the bitmaps by their ones; the blocks of a bitmap stride over its
 * batches of up to 1,024 points together, so that at any time all bitmaps read about the same points, which come from memory once and
 * from the second-level cache after that.  A warp turns the set bits of a batch into a queue of points in shared memory and takes from
 * it one point a lane (or pair of lanes), so no lane waits for another's bit; what does not fill a round waits for the next batch.
 * Each lane adds into an XYZZ sum in registers, with the next point on its way meanwhile; lanes, warps and blocks are joined at the end.
 * The order of additions depends on the input alone.
 *
 * Predicted on an H200 from the measured accumulation into buckets (MSM of BLS12-381: 3.06 G additions a second in G1, 0.95 G in G2), with
 * 3 % for queues, first and last rounds: 2^26 points of G1, half of them set, 11.4 ms; 2^24 of G2, 9.2 ms; any number of bitmaps in
 * proportion to their ones. */
#include "backend/cuda/bits_kernels.h"
#include "backend/cuda/launch.h"
#include "backend/cuda/fe_device_names.h"
#include "backend/cuda/xyzz.inc.cuh"

#define FULL       0xffffffffu
#define NONE       0xffffffffu
#define WARPS      (BITS_THREADS / 32)
#define TASKS      (BITS_THREADS / LANES)   /* sums of a block */
#define TASK       (threadIdx.x / LANES)
#define WARP_TASKS (32 / LANES)
#define QUEUE      (32 * 32 + WARP_TASKS)   /* a batch, and what was left before it */
#define TESTED     4                        /* points that a lane tests for infinity at once */
#define ROOM_BYTES (TASKS * XYZZ_BYTES > WARPS * QUEUE * 4 ? TASKS * XYZZ_BYTES : WARPS * QUEUE * 4)

/* The first block of bitmap k: in proportion to what the bitmaps before it take, ones and, at a hundredth of a round each, batches. */
static __device__ __forceinline__ uint32_t first_block(const struct bits_sweep *s, uint32_t k, uint32_t blocks)
{
    uint64_t before = 0, all = 0;
    for (uint32_t j = 0; j < s->bitmap_count; j++) {
        const uint64_t weight = (uint64_t)s->ones[j] + 8 * (uint64_t)s->batches;
        if (j < k) before += weight;
        all += weight;
    }
    return k == s->bitmap_count ? blocks : k + (uint32_t)((blocks - s->bitmap_count) * before / all);
}

static __device__ __forceinline__ bool stored_is_inf(const uint8_t *p)
{
    uint32_t any = 0;
    NOT_UNROLLED
    for (int i = 0; i < (int)(AFF_BYTES / 16); i++) {
        const uint4 v = __ldg((const uint4 *)p + i);
        any |= v.x | v.y | v.z | v.w;
    }
    return any == 0;
}

/* Puts the finite points of a batch behind `queued` others.  Returns how many there are then.  Testing a point's first words brings
 * it into the second-level cache; keys of snarkjs have many at infinity, which would else be rounds of their own. */
static __device__ __forceinline__ uint32_t queue_fill(uint32_t *queue, uint32_t queued, const struct bits_sweep *s, const uint32_t *bitmap,
                                                      uint32_t batch)
{
    const uint32_t lane = threadIdx.x & 31, first = 32 * (batch * s->batch_words + lane);
    const uint8_t *const points = (const uint8_t *)s->points;
    uint32_t word = 0;
    if (lane < s->batch_words && first < s->count) {
        word = __ldg(bitmap + first / 32);
        if (s->count - first < 32) word &= (1u << (s->count - first)) - 1;
    }
    const uint32_t ones = __popc(word);
    uint32_t at = ones;
    UNROLL for (int d = 1; d < 32; d <<= 1) {
        const uint32_t before = __shfl_up_sync(FULL, at, d);
        if (lane >= (uint32_t)d) at += before;
    }
    const uint32_t total = __shfl_sync(FULL, at, 31);
    at += queued - ones;
    while (word) {
        queue[at++] = first + __ffs((int)word) - 1;
        word &= word - 1;
    }
    __syncwarp();
    uint32_t kept = queued;
    NOT_UNROLLED
    for (uint32_t i = 0; i < total; i += 32 * TESTED) {
        uint32_t point[TESTED];
        uint4 head[TESTED];
        UNROLL for (int k = 0; k < TESTED; k++) {
            const uint32_t j = i + 32 * k + lane;
            point[k] = j < total ? queue[queued + j] : NONE;
            head[k] = __ldg((const uint4 *)(points + (size_t)(point[k] == NONE ? 0 : point[k]) * AFF_BYTES));
        }
        __syncwarp();
        UNROLL for (int k = 0; k < TESTED; k++) {
            bool keep = point[k] != NONE;
            if (keep && (head[k].x | head[k].y | head[k].z | head[k].w) == 0) keep = !stored_is_inf(points + (size_t)point[k] * AFF_BYTES);
            const uint32_t keeping = __ballot_sync(FULL, keep);
            if (keep) queue[kept + __popc(keeping & ((1u << lane) - 1))] = point[k];
            kept += __popc(keeping);
        }
    }
    __syncwarp();
    return kept;
}

/* A warp's way through its batches. */
struct bits_walk {
    uint32_t *queue;
    const uint32_t *bitmap;
    uint32_t head, queued, batch, step;
};

/* The next point of each task, NONE for those that get none.  Returns how many tasks got one. */
static __device__ __forceinline__ uint32_t walk_next(uint32_t *point, struct bits_walk *w, const struct bits_sweep *s)
{
    const uint32_t lane = threadIdx.x & 31;
    while (w->queued < WARP_TASKS && w->batch < s->batches) {
        const uint32_t left = lane < w->queued ? w->queue[w->head + lane] : NONE;
        __syncwarp();
        if (lane < w->queued) w->queue[lane] = left;
        w->head = 0;
        __syncwarp();
        w->queued = queue_fill(w->queue, w->queued, s, w->bitmap, w->batch);
        w->batch += w->step;
    }
    const uint32_t taken = min(w->queued, (uint32_t)WARP_TASKS);
    *point = lane / LANES < taken ? w->queue[w->head + lane / LANES] : NONE;
    w->head += taken;
    w->queued -= taken;
    return taken;
}

static __device__ __forceinline__ void point_fetch(fe_t *x, fe_t *y, const struct bits_sweep *s, uint32_t point)
{
    const uint8_t *const p = (const uint8_t *)s->points + (size_t)(point == NONE ? 0 : point) * AFF_BYTES;
    fe_read_const(x, p);
    fe_read_const(y, p + COORD_BYTES);
}

/* The sum of all tasks of the block, by a butterfly: all of them have it in the end. */
static __device__ __forceinline__ void block_sum(struct xyzz *sum, uint4 *room)
{
    struct xyzz p;
    NOT_UNROLLED
    for (uint32_t half = TASKS / 2; half; half /= 2) {
        __syncthreads();
        xyzz_write((uint8_t *)room + TASK * XYZZ_BYTES, sum);
        __syncthreads();
        xyzz_read(&p, (const uint8_t *)room + (TASK ^ half) * XYZZ_BYTES);
        xyzz_add_far(sum, &p);
    }
}

static __global__ void __launch_bounds__(BITS_THREADS, BITS_BLOCKS) k_bit_sum(uint8_t *sums, struct bits_sweep s)
{
    __shared__ uint4 room[ROOM_BYTES / 16];
    const uint32_t warp = threadIdx.x / 32;
    uint32_t k = 0, first = 0, end = first_block(&s, 1, gridDim.x);
    while (end <= blockIdx.x) {
        first = end;
        k++;
        end = first_block(&s, k + 1, gridDim.x);
    }
    struct bits_walk w;
    w.queue = (uint32_t *)room + warp * QUEUE;
    w.bitmap = s.bitmaps + (size_t)k * s.stride_words;
    w.head = w.queued = 0;
    w.batch = (blockIdx.x - first) * WARPS + warp;
    w.step = (end - first) * WARPS;

    struct xyzz sum;
    fe_t x, y;
    uint32_t point;
    uint32_t taken = s.ones[k] ? walk_next(&point, &w, &s) : 0;
    xyzz_set_inf(&sum);
    if (taken) point_fetch(&x, &y, &s, point);
    NOT_UNROLLED
    while (taken) {
        uint32_t next;
        fe_t p, r;
        taken = walk_next(&next, &w, &s);
        const bool equal = xyzz_mixed_start(&p, &r, &sum, &x, &y); /* also where the sum is infinite */
        point_fetch(&x, &y, &s, next);
        if (WARP_ANY(equal || point == NONE)) {
            struct xyzz q, t = sum;
            point_fetch(&q.x, &q.y, &s, point);
            fe_set_one(&q.zz);
            fe_set_one(&q.zzz);
            if (point == NONE) xyzz_set_inf(&q);
            xyzz_add_rare(&t, &q);
            sum = t;
        } else {
            xyzz_mixed_finish(&sum, &p, &r);
        }
        point = next;
    }
    block_sum(&sum, room);
    if (TASK == 0) xyzz_write(sums + (size_t)blockIdx.x * XYZZ_BYTES, &sum);
}

/* One block a bitmap: the sums of its blocks, to Jacobian coordinates. */
static __global__ void __launch_bounds__(BITS_THREADS) k_bit_join(uint8_t *jacobian, const uint8_t *sums, struct bits_sweep s, uint32_t blocks)
{
    __shared__ uint4 room[TASKS * XYZZ_BYTES / 16];
    const uint32_t first = first_block(&s, blockIdx.x, blocks), end = first_block(&s, blockIdx.x + 1, blocks);
    struct xyzz sum, p;
    xyzz_set_inf(&sum);
    NOT_UNROLLED
    for (uint32_t i = first; i < end; i += TASKS) {
        xyzz_set_inf(&p);
        if (i + TASK < end) xyzz_read(&p, sums + (size_t)(i + TASK) * XYZZ_BYTES);
        xyzz_add_far(&sum, &p);
    }
    block_sum(&sum, room);
    xyzz_to_jacobian(&sum);
    if (TASK != 0) return;
    uint8_t *const to = jacobian + (size_t)blockIdx.x * 3 * COORD_BYTES;
    fe_write(to, &sum.x, 1);
    fe_write(to + COORD_BYTES, &sum.y, 1);
    fe_write(to + 2 * COORD_BYTES, &sum.zzz, 1);
}

/* See bits_kernels.h. */
extern "C" int BITS(sum)(void *jacobian, void *sums, const struct bits_sweep *s, uint32_t blocks, void *stream)
{
    LAUNCH(k_bit_sum, blocks, BITS_THREADS, 0, stream)((uint8_t *)sums, *s);
    const int e = cudaGetLastError();
    if (e) return e;
    LAUNCH(k_bit_join, s->bitmap_count, BITS_THREADS, 0, stream)((uint8_t *)jacobian, (const uint8_t *)sums, *s, blocks);
    return cudaGetLastError();
}
