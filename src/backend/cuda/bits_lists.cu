/* Bitmaps turned into lists of points that the MSM's accumulation adds up: digits of patterns for its sort, or a list for each bitmap.
 *
 * A warp takes a word of all bitmaps at once, a lane a point, and reads the points' first bytes: those at infinity, of which keys of
 * snarkjs have many, get no place in a list.  Predicted on an H200 for 2^26 points of G1 of BLS12-381: 0.9 ms, most of it the memory's
 * time for a sector of every point; lists of half of them 0.2 ms more. */
#include "backend/cuda/bits_kernels.h"
#include "backend/cuda/launch.h"
#include "backend/cuda/block_scan.inc.cuh"

#define FULL    0xffffffffu
#define THREADS 256
#define WARPS   (THREADS / 32)
#define SCAN    1024

static __device__ __forceinline__ bool is_finite(const struct bits_pass *b, uint32_t i)
{
    const uint4 *const p = (const uint4 *)((const uint8_t *)b->points + (size_t)i * b->point_bytes);
    const uint4 head = __ldg(p);
    uint32_t any = head.x | head.y | head.z | head.w;
    for (uint32_t k = 1; any == 0 && k < b->point_bytes / 16; k++) {
        const uint4 v = __ldg(p + k);
        any = v.x | v.y | v.z | v.w;
    }
    return any != 0;
}

/* -- patterns -- */

#define PATTERN_THREADS 512
static __global__ void __launch_bounds__(PATTERN_THREADS) k_patterns(struct bits_pass b, uint32_t low_bits, struct msm_group g, struct msm_sort s)
{
    SHARED_DYNAMIC(uint32_t, bins);
    const uint32_t lane = threadIdx.x & 31, words = (b.count + 31) / 32, warps = gridDim.x * (PATTERN_THREADS / 32);
    for (uint32_t p = threadIdx.x; p < g.part_count; p += PATTERN_THREADS) bins[p] = 0;
    __syncthreads();
    for (uint32_t w = blockIdx.x * (PATTERN_THREADS / 32) + threadIdx.x / 32; w < words; w += warps) {
        const uint32_t i = 32 * w + lane;
        uint32_t pattern = 0;
        #pragma unroll 4
        for (uint32_t k = 0; k < b.bitmap_count; k++) pattern |= (__ldg(b.bitmaps + (size_t)k * b.stride_words + w) >> lane & 1) << k;
        if (i >= b.count) continue;
        if (pattern && !is_finite(&b, i)) pattern = 0;
        const uint32_t key = pattern << low_bits | (i & ((1u << low_bits) - 1));
        if (pattern) atomicAdd(&bins[key >> g.low_bits], 1);
        s.digits[i] = pattern ? key : MSM_NO_DIGIT;
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < g.part_count; p += PATTERN_THREADS)
        if (bins[p]) atomicAdd(&s.part_start[p], bins[p]);
}

extern "C" int bits_launch_patterns(const struct bits_pass *b, uint32_t low_bits, const struct msm_group *g, const struct msm_sort *s, unsigned sm_count,
                                    void *stream)
{
    const unsigned blocks = (b->count + PATTERN_THREADS - 1) / PATTERN_THREADS, most = 4 * sm_count;
    LAUNCH(k_patterns, blocks < most ? blocks : most, PATTERN_THREADS, g->part_count * 4, stream)(*b, low_bits, *g, *s);
    return cudaGetLastError();
}

/* -- lists -- */

/* A block BITS_LIST_WORDS words of every bitmap: bits of points at infinity taken out, ones counted. */
static __global__ void __launch_bounds__(THREADS) k_list_bits(struct bits_pass b, struct bits_lists l)
{
    __shared__ uint32_t ones[32];
    const uint32_t lane = threadIdx.x & 31, first = blockIdx.x * BITS_LIST_WORDS, end = min(first + BITS_LIST_WORDS, l.words);
    const bool mine = lane < b.bitmap_count;
    uint32_t count = 0;
    if (threadIdx.x < 32) ones[lane] = 0;
    __syncthreads();
    for (uint32_t w = first + threadIdx.x / 32; w < end; w += WARPS) {
        const uint32_t i = 32 * w + lane, word = mine ? __ldg(b.bitmaps + (size_t)lane * b.stride_words + w) : 0;
        uint32_t any = word;
        #pragma unroll
        for (int d = 16; d; d >>= 1) any |= __shfl_xor_sync(FULL, any, d);
        const bool keep = i < b.count && (any >> lane & 1) && is_finite(&b, i);
        const uint32_t kept = word & __ballot_sync(FULL, keep);
        if (mine) l.kept[(size_t)lane * l.words + w] = kept;
        count += __popc(kept);
    }
    if (mine) atomicAdd(&ones[lane], count);
    __syncthreads();
    if (threadIdx.x < b.bitmap_count) l.ones[(size_t)threadIdx.x * l.block_count + blockIdx.x] = ones[threadIdx.x];
}

/* Entries of each task of a bitmap. */
static __device__ __forceinline__ uint32_t run_of(const struct bits_lists *l, uint32_t k) { return (l->all_ones[k] + l->tasks - 1) / l->tasks; }

/* A block a bitmap: the blocks' counts become the places of their first. */
static __global__ void __launch_bounds__(SCAN) k_list_scan(struct bits_lists l)
{
    __shared__ uint32_t scratch[33];
    uint32_t *const ones = l.ones + (size_t)blockIdx.x * l.block_count;
    const uint32_t each = (l.block_count + SCAN - 1) / SCAN, first = min(threadIdx.x * each, l.block_count), end = min(first + each, l.block_count);
    uint32_t mine = 0, all;
    for (uint32_t i = first; i < end; i++) mine += ones[i];
    uint32_t at = block_scan(mine, scratch, &all);
    for (uint32_t i = first; i < end; i++) {
        const uint32_t own = ones[i];
        ones[i] = at;
        at += own;
    }
    if (threadIdx.x == 0) l.all_ones[blockIdx.x] = all;
}

/* Row blockIdx.y of blocks: that bitmap.  Neighbouring tasks take neighbouring points: entry 32 j + i of the first 32 runs is entry j of
 * task i, and so on with the next 32 runs. */
static __global__ void __launch_bounds__(BITS_LIST_WORDS) k_list_place(struct bits_lists l, struct msm_sort s)
{
    __shared__ uint32_t scratch[33], before[BITS_LIST_WORDS];
    const uint32_t lane = threadIdx.x & 31, k = blockIdx.y, first = blockIdx.x * BITS_LIST_WORDS, run = run_of(&l, k);
    const uint32_t *const kept = l.kept + (size_t)k * l.words;
    uint32_t *const list = s.list + (size_t)k * l.room;
    uint32_t total;
    const uint32_t own = first + threadIdx.x < l.words ? kept[first + threadIdx.x] : 0;
    before[threadIdx.x] = l.ones[(size_t)k * l.block_count + blockIdx.x] + block_scan((uint32_t)__popc(own), scratch, &total);
    __syncthreads();
    for (uint32_t j = threadIdx.x / 32; j < BITS_LIST_WORDS && first + j < l.words; j += BITS_LIST_WORDS / 32) {
        const uint32_t word = kept[first + j], rank = before[j] + __popc(word & ((1u << lane) - 1)), row = rank / 32;
        if (word >> lane & 1) list[row / run * run * 32 + rank % 32 * run + row % run] = 32 * (first + j) + lane;
    }
}

/* The same rows: the tasks. */
static __global__ void __launch_bounds__(THREADS) k_list_tasks(struct bits_lists l, struct msm_sort s)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x, k = blockIdx.y, run = run_of(&l, k), all = l.all_ones[k];
    if (i >= l.tasks) return;
    const uint32_t before = i / 32 * run * 32 + i % 32; /* the rank of its first entry */
    const uint32_t left = before < all ? (all - before + 31) / 32 : 0, t = k * l.tasks + i;
    s.pieces[t] = {k * l.room + i * run, min(left, run)};
    s.order[t] = 0x80000000u | t;
    if (t == 0) s.counters[COUNTER_TASKS] = gridDim.y * l.tasks;
}

extern "C" int bits_launch_lists(const struct bits_pass *b, const struct bits_lists *l, const struct msm_sort *s, void *stream)
{
    int e = cudaMemsetAsync(s->counters, 0, COUNTER_COUNT * 4, (cudaStream_t)stream);
    if (e) return e;
    LAUNCH(k_list_bits, l->block_count, THREADS, 0, stream)(*b, *l);
    if ((e = cudaGetLastError()) != 0) return e;
    LAUNCH(k_list_scan, b->bitmap_count, SCAN, 0, stream)(*l);
    if ((e = cudaGetLastError()) != 0) return e;
    LAUNCH(k_list_place, dim3(l->block_count, b->bitmap_count), BITS_LIST_WORDS, 0, stream)(*l, *s);
    if ((e = cudaGetLastError()) != 0) return e;
    LAUNCH(k_list_tasks, dim3((l->tasks + THREADS - 1) / THREADS, b->bitmap_count), THREADS, 0, stream)(*l, *s);
    return cudaGetLastError();
}
