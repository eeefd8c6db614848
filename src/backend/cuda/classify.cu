/* Values told apart (zero, one, wide), points and bits gathered.
 *
 * classify: a block tells 4,096 values apart and counts them; one block turns the counts into places; then each block writes the indices
 * of its wide values, which the bitmap of them has kept, and the values follow.  Predicted on an H200 for 2^26 values: 0.7 ms, the time
 * in which 2 GiB are read, and 0.1 ms. */
#include "backend/cuda/bits_kernels.h"
#include "backend/cuda/launch.h"
#include "backend/cuda/block_scan.inc.cuh"

#define FULL    0xffffffffu
#define NONE    0xffffffffu
#define THREADS 256
#define WORDS   (CLASSIFY_BLOCK_VALUES / 32)
#define SCAN    1024

static __global__ void __launch_bounds__(THREADS) k_tell_apart(struct classify_run r)
{
    __shared__ uint32_t counts[2];
    const uint32_t lane = threadIdx.x & 31, first = blockIdx.x * WORDS;
    uint32_t ones = 0, wides = 0;
    if (threadIdx.x < 2) counts[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t w = first + threadIdx.x / 32; w < first + WORDS && w < r.words; w += THREADS / 32) {
        const uint32_t i = 32 * w + lane;
        bool one = false, wide = false;
        if (i < r.count) {
            const uint4 *const v = (const uint4 *)r.scalars + 2 * (size_t)(r.gather ? r.gather[i] : i);
            const uint4 a = __ldg(v), b = __ldg(v + 1);
            const uint32_t rest = a.y | a.z | a.w | b.x | b.y | b.z | b.w;
            one = a.x == 1 && rest == 0;
            wide = a.x > 1 || rest != 0;
        }
        const uint32_t one_word = __ballot_sync(FULL, one), wide_word = __ballot_sync(FULL, wide);
        if (lane != 0) continue;
        r.ones[w] = one_word;
        r.wide[w] = wide_word;
        ones += __popc(one_word);
        wides += __popc(wide_word);
    }
    if (lane == 0) {
        atomicAdd(&counts[0], ones);
        atomicAdd(&counts[1], wides);
    }
    __syncthreads();
    if (threadIdx.x < 2) r.blocks[2 * (size_t)blockIdx.x + threadIdx.x] = counts[threadIdx.x];
}

/* One block: the blocks' counts of wide values become the places of their first. */
static __global__ void __launch_bounds__(SCAN) k_places(struct classify_run r)
{
    __shared__ unsigned long long scratch[33];
    const uint32_t each = (r.block_count + SCAN - 1) / SCAN, first = min(threadIdx.x * each, r.block_count), end = min(first + each, r.block_count);
    unsigned long long ones = 0, wide = 0, all_ones, all_wide;
    for (uint32_t i = first; i < end; i++) {
        ones += r.blocks[2 * (size_t)i];
        wide += r.blocks[2 * (size_t)i + 1];
    }
    unsigned long long at = block_scan(wide, scratch, &all_wide);
    (void)block_scan(ones, scratch, &all_ones);
    for (uint32_t i = first; i < end; i++) {
        const uint64_t own = r.blocks[2 * (size_t)i + 1];
        r.blocks[2 * (size_t)i + 1] = at;
        at += own;
    }
    if (threadIdx.x == 0) {
        r.counts[0] = all_ones;
        r.counts[1] = all_wide;
    }
}

/* A thread a word of the block's. */
static __global__ void __launch_bounds__(WORDS) k_list_wide(struct classify_run r)
{
    __shared__ uint32_t scratch[33];
    const uint32_t w = blockIdx.x * WORDS + threadIdx.x;
    uint32_t word = w < r.words ? r.wide[w] : 0, total;
    uint64_t at = r.blocks[2 * (size_t)blockIdx.x + 1] + block_scan((uint32_t)__popc(word), scratch, &total);
    for (; word && at < r.wide_max; word &= word - 1, at++) r.index[at] = 32 * w + __ffs((int)word) - 1;
}

/* A thread half a value; what lies behind the last is filled up. */
static __global__ void __launch_bounds__(THREADS) k_wide_values(struct classify_run r)
{
    const uint32_t stride = gridDim.x * THREADS / 2, half = threadIdx.x & 1;
    const uint64_t wide = r.counts[1];
    for (uint32_t j = (blockIdx.x * THREADS + threadIdx.x) / 2; j < r.wide_max; j += stride) {
        uint4 v = make_uint4(0, 0, 0, 0);
        if (j < wide) {
            const uint32_t i = r.index[j];
            v = __ldg((const uint4 *)r.scalars + 2 * (size_t)(r.gather ? r.gather[i] : i) + half);
        } else if (half == 0) {
            r.index[j] = NONE;
        }
        ((uint4 *)r.values)[2 * (size_t)j + half] = v;
    }
}

/* Blocks that let a thread do at least one of `tasks`, at most enough to fill the device some times over. */
static unsigned blocks_for(uint64_t tasks, unsigned sm_count)
{
    const uint64_t blocks = (tasks + THREADS - 1) / THREADS, most = 32ull * sm_count;
    return (unsigned)(blocks < most ? blocks : most);
}

extern "C" int classify_launch(const struct classify_run *r, unsigned sm_count, void *stream)
{
    int e = 0;
    if (r->block_count) {
        LAUNCH(k_tell_apart, r->block_count, THREADS, 0, stream)(*r);
        if ((e = cudaGetLastError()) != 0) return e;
    }
    LAUNCH(k_places, 1, SCAN, 0, stream)(*r);
    if ((e = cudaGetLastError()) != 0 || r->wide_max == 0) return e;
    if (r->block_count) {
        LAUNCH(k_list_wide, r->block_count, WORDS, 0, stream)(*r);
        if ((e = cudaGetLastError()) != 0) return e;
    }
    LAUNCH(k_wide_values, blocks_for(2 * (uint64_t)r->wide_max, sm_count), THREADS, 0, stream)(*r);
    return cudaGetLastError();
}

/* A thread 16 bytes of a point. */
static __global__ void __launch_bounds__(THREADS) k_gather_points(uint4 *out, const uint4 *points, uint32_t words, uint32_t count, const uint32_t *index,
                                                                  uint32_t index_count)
{
    const uint64_t all = (uint64_t)index_count * words, stride = (uint64_t)gridDim.x * THREADS;
    for (uint64_t k = (uint64_t)blockIdx.x * THREADS + threadIdx.x; k < all; k += stride) {
        const uint32_t j = (uint32_t)(k / words), i = index[j];
        out[k] = i < count ? __ldg(points + (size_t)i * words + (uint32_t)(k - (uint64_t)j * words)) : make_uint4(0, 0, 0, 0);
    }
}

extern "C" int gather_points_launch(void *out, const void *points, size_t point_bytes, uint32_t count, const uint32_t *index, uint32_t index_count,
                                    unsigned sm_count, void *stream)
{
    const uint32_t words = (uint32_t)(point_bytes / 16);
    if (index_count == 0) return 0;
    LAUNCH(k_gather_points, blocks_for((uint64_t)index_count * words, sm_count), THREADS, 0, stream)((uint4 *)out, (const uint4 *)points, words, count, index,
                                                                                                     index_count);
    return cudaGetLastError();
}

/* A warp a word of every bitmap, a lane a bit.  Lists ascend, so that neighbours read neighbouring words.  Predicted on an H200 for 10
 * bitmaps of 2^27 bits: 0.4 ms, 0.5 GB of list and 0.3 GB of bitmaps at 60 % of the memory's rate. */
static __global__ void __launch_bounds__(THREADS) k_gather_bits(struct bits_gather g)
{
    const uint32_t lane = threadIdx.x & 31, warps = gridDim.x * (THREADS / 32);
    for (uint32_t w = blockIdx.x * (THREADS / 32) + threadIdx.x / 32; w < g.words; w += warps) {
        const uint32_t j = 32 * w + lane, from = j < g.count ? __ldg(g.list + j) : 0, at = from - g.first;
        const bool there = j < g.count && from >= g.first && at / 32 < g.stride_words;
        for (uint32_t k = 0; k < g.bitmap_count; k++) {
            const uint32_t word = there ? __ldg(g.bits + (size_t)k * g.stride_words + at / 32) : 0, out = __ballot_sync(FULL, word >> (at & 31) & 1);
            if (lane == 0) g.out[(size_t)k * g.words + w] = out;
        }
    }
}

extern "C" int gather_bits_launch(const struct bits_gather *g, unsigned sm_count, void *stream)
{
    if (g->words == 0 || g->bitmap_count == 0) return 0;
    LAUNCH(k_gather_bits, blocks_for(32 * (uint64_t)g->words, sm_count), THREADS, 0, stream)(*g);
    return cudaGetLastError();
}
