/* The MSM's digits and their sort: from scalars to lists of points by bucket, buckets in order of load.
 *
 * A two-level counting sort.  Digits are cut once, with the histogram over partitions (2^low_bits neighbouring buckets of one
 * window).  Level 1 scatters entries to partitions; every partition's write front stays in the L2 cache.  Level 2 sorts inside a
 * partition, one block each; a partition too large for that (skewed scalars) is cut in chunks.  Then buckets are ordered by
 * falling load, and buckets with far more than the mean are cut in pieces, so that no thread gets more than a piece.
 * Zero digits are dropped.  Nothing depends on the curve but the scalar modulus. */
#include "backend/cuda/msm_kernels.h"
#include "backend/cuda/launch.h"
#include "backend/cuda/block_scan.inc.cuh"

#define FULL 0xffffffffu
#define NONE MSM_NO_DIGIT
#define SIGN 0x80000000u

/* Counts one for `bin` where valid, and returns the count before.  Warps whose lanes all ask for one bin, which skewed scalars
 * make common, cost one atomic. */
static __device__ __forceinline__ uint32_t count_one(uint32_t *bins, uint32_t bin, bool valid)
{
    const uint32_t active = __ballot_sync(FULL, valid);
    if (!active) return 0;
    const int leader = __ffs(active) - 1, lane = threadIdx.x & 31;
    const uint32_t leaders = __shfl_sync(FULL, bin, leader), same = __ballot_sync(FULL, valid && bin == leaders);
    uint32_t rank = 0;
    if (__popc(active) > 1 && same == active) {
        if (lane == leader) rank = atomicAdd(&bins[bin], __popc(active));
        rank = __shfl_sync(FULL, rank, leader) + __popc(active & ((1u << lane) - 1));
    } else if (valid) {
        rank = atomicAdd(&bins[bin], 1);
    }
    return rank;
}

/* First bucket of window w, counted from bucket 0 of window 0. */
static __device__ __forceinline__ uint32_t window_base(const struct msm_windows *w, uint32_t i)
{
    const uint32_t half = 1u << (w->width - 1);
    return i < w->narrow ? i * half : w->narrow * half + (i - w->narrow) * 2 * half;
}

/* The same counted from the group's first bucket. */
static __device__ __forceinline__ uint32_t window_first(const struct msm_group *g, uint32_t w)
{
    return g->shared ? 0 : window_base(&g->windows, w) - g->bucket_first;
}

/* s <- min(s, r - s) with its sign, plus the bias; then digit = raw - half a window. */
static __global__ void __launch_bounds__(512) k_recode(struct msm_group g, struct msm_recode c, struct msm_sort s, const uint4 *scalars,
                                                       const uint32_t *gather)
{
    SHARED_DYNAMIC(uint32_t, bins);
    for (uint32_t p = threadIdx.x; p < g.part_count; p += blockDim.x) bins[p] = 0;
    __syncthreads();
    const uint32_t stride = gridDim.x * blockDim.x, rounds = (g.count + stride - 1) / stride;
    for (uint32_t k = 0; k < rounds; k++) {
        const uint32_t i = k * stride + blockIdx.x * blockDim.x + threadIdx.x;
        const bool there = i < g.count;
        uint32_t v[8] = {0}, t[8];
        bool negative = false;
        if (there) {
            const size_t at = gather ? gather[i] : i;
            const uint4 lo = scalars[2 * at], hi = scalars[2 * at + 1];
            v[0] = lo.x; v[1] = lo.y; v[2] = lo.z; v[3] = lo.w;
            v[4] = hi.x; v[5] = hi.y; v[6] = hi.z; v[7] = hi.w;
        }
        uint64_t carry = 0;
        #pragma unroll
        for (int j = 0; j < 8; j++) { /* t = r - v */
            carry = (uint64_t)c.modulus[j] - v[j] - carry;
            t[j] = (uint32_t)carry;
            carry = (carry >> 32) & 1;
        }
        uint32_t zero = 0;
        #pragma unroll
        for (int j = 0; j < 8; j++) zero |= t[j];
        if (carry || zero == 0) atomicAdd(&s.counters[COUNTER_NOT_CANONICAL], 1); /* not below r */
        carry = 0;
        #pragma unroll
        for (int j = 0; j < 8; j++) carry = (((uint64_t)t[j] - v[j] - carry) >> 32) & 1; /* r - v < v */
        negative = carry != 0;
        carry = 0;
        #pragma unroll
        for (int j = 0; j < 8; j++) {
            carry += (uint64_t)(negative ? t[j] : v[j]) + c.bias[j];
            v[j] = (uint32_t)carry;
            carry >>= 32;
        }
        for (uint32_t w = 0; w < g.end; w++) {
            const uint32_t bits = g.windows.width + (w >= g.windows.narrow);
            if (w >= g.first) {
                const int32_t digit = (int32_t)(v[0] & ((1u << bits) - 1)) - (int32_t)(1u << (bits - 1));
                const uint32_t key = window_first(&g, w) + (uint32_t)(digit < 0 ? -digit : digit) - 1;
                const bool valid = there && digit != 0;
                if (valid) atomicAdd(&bins[key >> g.low_bits], 1);
                if (there)
                    s.digits[(size_t)(w - g.first) * g.count + i] = valid ? key | (negative != (digit < 0) ? SIGN : 0) : NONE;
            }
            #pragma unroll
            for (int j = 0; j < 7; j++) v[j] = __funnelshift_r(v[j], v[j + 1], bits);
            v[7] >>= bits;
        }
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < g.part_count; p += blockDim.x)
        if (bins[p]) atomicAdd(&s.part_start[p], bins[p]);
}

/* One block: counts of partitions become their starts; partitions too big for one block are listed in chunks. */
static __global__ void __launch_bounds__(1024) k_part_scan(struct msm_group g, struct msm_sort s)
{
    __shared__ uint32_t scratch[33];
    uint32_t base = 0, total;
    for (uint32_t first = 0; first < g.part_count; first += blockDim.x) {
        const uint32_t p = first + threadIdx.x, n = p < g.part_count ? s.part_start[p] : 0;
        const uint32_t start = base + block_scan(n, scratch, &total);
        if (p < g.part_count) {
            s.part_start[p] = start;
            s.part_cursor[p] = start;
            if (n > MSM_BIG_PART) {
                const uint32_t chunks = (n + MSM_CHUNK - 1) / MSM_CHUNK, at = atomicAdd(&s.counters[COUNTER_CHUNKS], chunks);
                for (uint32_t k = 0; k < chunks; k++) s.chunks[at + k] = {p, start + k * MSM_CHUNK};
                for (uint32_t b = 0; b < 1u << g.low_bits; b++) s.bucket_start[((size_t)p << g.low_bits) + b] = 0;
            }
        }
        base += total;
    }
    if (threadIdx.x == 0) {
        s.part_start[g.part_count] = base;
        s.counters[COUNTER_ENTRIES] = base;
        s.bucket_start[g.bucket_count] = base;
    }
}

/* Counts in bins[0, n) become their exclusive prefix sums; returns the sum of all.  n is at most PER * blockDim.x. */
template <int PER> static __device__ __forceinline__ uint32_t scan_bins(uint32_t *bins, uint32_t n, uint32_t *scratch)
{
    uint32_t count[PER], mine = 0, total;
    #pragma unroll
    for (int k = 0; k < PER; k++) {
        const uint32_t b = threadIdx.x * PER + k;
        count[k] = b < n ? bins[b] : 0;
        mine += count[k];
    }
    uint32_t before = block_scan(mine, scratch, &total);
    #pragma unroll
    for (int k = 0; k < PER; k++) {
        const uint32_t b = threadIdx.x * PER + k;
        if (b < n) bins[b] = before;
        before += count[k];
    }
    __syncthreads();
    return total;
}

/* Level 1: one block takes a tile of one window's digits, orders it in shared memory and writes it in runs: what bounds a scatter is
 * the number of memory sectors touched. */
#define SCATTER_THREADS 1024
template <int EACH> static __global__ void __launch_bounds__(SCATTER_THREADS) k_scatter(struct msm_group g, struct msm_sort s)
{
    SHARED_DYNAMIC(uint32_t, shared_words);
    const uint32_t tile = SCATTER_THREADS * EACH;
    uint32_t *digit = shared_words, *offset = digit + tile, *to = offset + MSM_BINS_MAX;
    uint16_t *by_bin = (uint16_t *)(to + MSM_BINS_MAX);
    __shared__ uint32_t scratch[33];
    const uint32_t w = g.first + blockIdx.y, narrow_bins = 1u << (g.windows.width - 1 - g.low_bits);
    const uint32_t bin_count = w < g.windows.narrow ? narrow_bins : 2 * narrow_bins;
    const uint32_t bin_first = window_first(&g, w) >> g.low_bits, row = g.shared ? w * g.count : 0;
    const uint32_t *digits = s.digits + (size_t)blockIdx.y * g.count;
    const uint32_t first = blockIdx.x * tile;
    uint32_t rank[EACH / 2];
    for (uint32_t b = threadIdx.x; b < bin_count; b += SCATTER_THREADS) offset[b] = 0;
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint32_t i = k * SCATTER_THREADS + threadIdx.x, d = first + i < g.count ? digits[first + i] : NONE;
        digit[i] = d;
        const uint32_t r = d != NONE ? atomicAdd(&offset[((d & ~SIGN) >> g.low_bits) - bin_first], 1) : 0;
        rank[k / 2] = k & 1 ? rank[k / 2] | r << 16 : r;
    }
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < bin_count; b += SCATTER_THREADS)
        if (offset[b]) to[b] = atomicAdd(&s.part_cursor[bin_first + b], offset[b]);
    __syncthreads();
    const uint32_t total = scan_bins<MSM_BINS_MAX / SCATTER_THREADS>(offset, bin_count, scratch);
    #pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint32_t i = k * SCATTER_THREADS + threadIdx.x, d = digit[i];
        if (d != NONE) by_bin[offset[((d & ~SIGN) >> g.low_bits) - bin_first] + (rank[k / 2] >> 16 * (k & 1) & 0xffff)] = (uint16_t)i;
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < total; p += SCATTER_THREADS) {
        const uint32_t i = by_bin[p], d = digit[i], key = d & ~SIGN, b = (key >> g.low_bits) - bin_first, at = to[b] + p - offset[b];
        s.entry_point[at] = (row + first + i) | (d & SIGN);
        s.entry_low[at] = (uint16_t)(key & ((1u << g.low_bits) - 1));
    }
}
static size_t scatter_shared(int each) { return SCATTER_THREADS * each * 6ull + MSM_BINS_MAX * 8ull; }

/* Level 2: one block sorts one partition by bucket, in chunks that are ordered in shared memory. */
#define SORT_THREADS 512
#define SORT_EACH    16
static __global__ void __launch_bounds__(SORT_THREADS, 2) k_sort_part(struct msm_group g, struct msm_sort s)
{
    __shared__ uint32_t bins[1 << MSM_LOW_MAX], to[1 << MSM_LOW_MAX], scratch[33];
    SHARED_DYNAMIC(uint32_t, shared_words);
    uint32_t *staged = shared_words;
    uint16_t *staged_low = (uint16_t *)(staged + SORT_THREADS * SORT_EACH);
    const uint32_t p = blockIdx.x, start = s.part_start[p], end = s.part_start[p + 1], bin_count = 1u << g.low_bits;
    if (end - start > MSM_BIG_PART) return;
    for (uint32_t b = threadIdx.x; b < bin_count; b += SORT_THREADS) bins[b] = 0;
    __syncthreads();
    #pragma unroll 8
    for (uint32_t i = start + threadIdx.x; i < end; i += SORT_THREADS) atomicAdd(&bins[s.entry_low[i]], 1);
    __syncthreads();
    scan_bins<(1 << MSM_LOW_MAX) / SORT_THREADS>(bins, bin_count, scratch);
    for (uint32_t b = threadIdx.x; b < bin_count; b += SORT_THREADS) {
        to[b] = start + bins[b];
        s.bucket_start[((size_t)p << g.low_bits) + b] = to[b];
    }
    for (uint32_t first = start; first < end; first += SORT_THREADS * SORT_EACH) {
        uint32_t point[SORT_EACH], where[SORT_EACH]; /* where: rank << 16 | low */
        __syncthreads();
        for (uint32_t b = threadIdx.x; b < bin_count; b += SORT_THREADS) bins[b] = 0;
        #pragma unroll
        for (int k = 0; k < SORT_EACH; k++) {
            const uint32_t i = first + k * SORT_THREADS + threadIdx.x;
            point[k] = i < end ? s.entry_point[i] : 0;
            where[k] = i < end ? s.entry_low[i] : NONE;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < SORT_EACH; k++)
            if (where[k] != NONE) where[k] |= atomicAdd(&bins[where[k]], 1) << 16;
        __syncthreads();
        uint32_t count[(1 << MSM_LOW_MAX) / SORT_THREADS];
        #pragma unroll
        for (int k = 0; k < (1 << MSM_LOW_MAX) / SORT_THREADS; k++) {
            const uint32_t b = threadIdx.x * ((1 << MSM_LOW_MAX) / SORT_THREADS) + k;
            count[k] = b < bin_count ? bins[b] : 0;
        }
        const uint32_t total = scan_bins<(1 << MSM_LOW_MAX) / SORT_THREADS>(bins, bin_count, scratch);
        #pragma unroll
        for (int k = 0; k < SORT_EACH; k++)
            if (where[k] != NONE) {
                const uint32_t low = where[k] & 0xffff, at = bins[low] + (where[k] >> 16);
                staged[at] = point[k];
                staged_low[at] = (uint16_t)low;
            }
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < total; i += SORT_THREADS) {
            const uint32_t low = staged_low[i];
            s.list[to[low] + i - bins[low]] = staged[i];
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < (1 << MSM_LOW_MAX) / SORT_THREADS; k++) {
            const uint32_t b = threadIdx.x * ((1 << MSM_LOW_MAX) / SORT_THREADS) + k;
            if (b < bin_count) to[b] += count[k];
        }
    }
}
static const size_t sort_shared = SORT_THREADS * SORT_EACH * 6;

/* The same for partitions cut in chunks, in three steps: count, scan, place. */
static __device__ __forceinline__ void chunk_count(uint32_t *bins, const struct msm_group *g, const struct msm_sort *s, uint32_t start, uint32_t end)
{
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < 1u << g->low_bits; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (uint32_t i = start; i < end; i += blockDim.x) {
        const bool there = i + threadIdx.x < end;
        count_one(bins, there ? s->entry_low[i + threadIdx.x] : 0, there);
    }
    __syncthreads();
}
static __global__ void __launch_bounds__(512) k_chunk_count(struct msm_group g, struct msm_sort s)
{
    __shared__ uint32_t bins[1 << MSM_LOW_MAX];
    for (uint32_t c = blockIdx.x; c < s.counters[COUNTER_CHUNKS]; c += gridDim.x) {
        const uint32_t p = s.chunks[c].a, start = s.chunks[c].b;
        chunk_count(bins, &g, &s, start, min(start + MSM_CHUNK, s.part_start[p + 1]));
        for (uint32_t b = threadIdx.x; b < 1u << g.low_bits; b += blockDim.x)
            if (bins[b]) atomicAdd(&s.bucket_start[((size_t)p << g.low_bits) + b], bins[b]);
    }
}
static __global__ void __launch_bounds__(512) k_chunk_scan(struct msm_group g, struct msm_sort s)
{
    __shared__ uint32_t bins[1 << MSM_LOW_MAX], scratch[33];
    for (uint32_t c = blockIdx.x; c < s.counters[COUNTER_CHUNKS]; c += gridDim.x) {
        const uint32_t p = s.chunks[c].a;
        if (s.chunks[c].b != s.part_start[p]) continue; /* the first chunk scans for its partition */
        uint32_t *starts = s.bucket_start + ((size_t)p << g.low_bits), *cursors = s.chunk_cursor + ((size_t)p << g.low_bits);
        __syncthreads();
        for (uint32_t b = threadIdx.x; b < 1u << g.low_bits; b += blockDim.x) bins[b] = starts[b];
        __syncthreads();
        scan_bins<(1 << MSM_LOW_MAX) / 512>(bins, 1u << g.low_bits, scratch);
        for (uint32_t b = threadIdx.x; b < 1u << g.low_bits; b += blockDim.x) starts[b] = cursors[b] = s.part_start[p] + bins[b];
    }
}
static __global__ void __launch_bounds__(512) k_chunk_place(struct msm_group g, struct msm_sort s)
{
    __shared__ uint32_t bins[1 << MSM_LOW_MAX];
    for (uint32_t c = blockIdx.x; c < s.counters[COUNTER_CHUNKS]; c += gridDim.x) {
        const uint32_t p = s.chunks[c].a, start = s.chunks[c].b, end = min(start + MSM_CHUNK, s.part_start[p + 1]);
        chunk_count(bins, &g, &s, start, end);
        for (uint32_t b = threadIdx.x; b < 1u << g.low_bits; b += blockDim.x)
            if (bins[b]) bins[b] = atomicAdd(&s.chunk_cursor[((size_t)p << g.low_bits) + b], bins[b]);
        __syncthreads();
        for (uint32_t i = start; i < end; i += blockDim.x) {
            const bool there = i + threadIdx.x < end;
            const uint32_t at = count_one(bins, there ? s.entry_low[i + threadIdx.x] : 0, there);
            if (there) s.list[at] = s.entry_point[i + threadIdx.x];
        }
    }
}

/* Histogram of loads; buckets above `piece` are registered and their pieces reserved. */
static __global__ void __launch_bounds__(512) k_load_count(struct msm_group g, struct msm_sort s)
{
    __shared__ uint32_t bins[MSM_LOADS];
    for (uint32_t b = threadIdx.x; b < MSM_LOADS; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    const uint32_t stride = gridDim.x * blockDim.x, rounds = (g.bucket_count + stride - 1) / stride;
    for (uint32_t k = 0; k < rounds; k++) {
        const uint32_t b = k * stride + blockIdx.x * blockDim.x + threadIdx.x;
        const bool there = b < g.bucket_count;
        const uint32_t load = there ? s.bucket_start[b + 1] - s.bucket_start[b] : 0;
        count_one(bins, min(load, MSM_LOADS - 1), there && load <= g.piece);
        if (there && load > g.piece) {
            const uint32_t pieces = (load + g.piece - 1) / g.piece;
            const uint32_t h = atomicAdd(&s.counters[COUNTER_HEAVY], 1), at = atomicAdd(&s.counters[COUNTER_PIECES], pieces);
            s.heavy[h] = {b, at, pieces, 0};
        }
    }
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < MSM_LOADS; b += blockDim.x)
        if (bins[b]) atomicAdd(&s.load_cursor[b], bins[b]);
}

/* One block: where each load's buckets begin in `order`; pieces come first. */
static __global__ void __launch_bounds__(1024) k_load_scan(struct msm_group g, struct msm_sort s)
{
    __shared__ uint32_t scratch[33];
    uint32_t base = s.counters[COUNTER_PIECES], total;
    for (uint32_t first = 0; first < MSM_LOADS; first += blockDim.x) {
        const uint32_t b = MSM_LOADS - 1 - (first + threadIdx.x);
        const uint32_t n = s.load_cursor[b], start = base + block_scan(n, scratch, &total);
        s.load_cursor[b] = start;
        base += total;
    }
    if (threadIdx.x == 0) s.counters[COUNTER_TASKS] = base;
}

static __global__ void __launch_bounds__(512) k_load_place(struct msm_group g, struct msm_sort s)
{
    __shared__ uint32_t bins[MSM_LOADS];
    const uint32_t each = 16, tile = blockDim.x * each, first = blockIdx.x * tile + threadIdx.x;
    for (uint32_t b = threadIdx.x; b < MSM_LOADS; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    uint32_t load[each], rank[each];
    #pragma unroll
    for (int k = 0; k < 16; k++) {
        const uint32_t b = first + k * blockDim.x;
        load[k] = b < g.bucket_count ? s.bucket_start[b + 1] - s.bucket_start[b] : ~0u;
        if (load[k] > g.piece) load[k] = ~0u;
        else load[k] = min(load[k], MSM_LOADS - 1);
        rank[k] = count_one(bins, load[k], load[k] != ~0u);
    }
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < MSM_LOADS; b += blockDim.x)
        if (bins[b]) bins[b] = atomicAdd(&s.load_cursor[b], bins[b]);
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < 16; k++)
        if (load[k] != ~0u) s.order[bins[load[k]] + rank[k]] = first + k * blockDim.x;
}

/* Pieces of heavy buckets, first in the order. */
static __global__ void __launch_bounds__(256) k_cut_heavy(struct msm_group g, struct msm_sort s)
{
    for (uint32_t h = blockIdx.x; h < s.counters[COUNTER_HEAVY]; h += gridDim.x) {
        const struct msm_heavy v = s.heavy[h];
        const uint32_t start = s.bucket_start[v.bucket], end = s.bucket_start[v.bucket + 1];
        for (uint32_t k = threadIdx.x; k < v.count; k += blockDim.x) {
            const uint32_t at = start + k * g.piece;
            s.pieces[v.first + k] = {at, min(g.piece, end - at)};
            s.order[v.first + k] = SIGN | (v.first + k);
        }
    }
}

static int scatter_each; /* digits a thread takes in level 1 */

#define LAUNCHED if ((e = cudaGetLastError()) != 0) return e

extern "C" int msm_launch_clear(const struct msm_group *g, const struct msm_sort *s, void *stream)
{
    const cudaStream_t st = (cudaStream_t)stream;
    int e;
    if ((e = cudaMemsetAsync(s->counters, 0, COUNTER_COUNT * 4, st)) != 0) return e;
    if ((e = cudaMemsetAsync(s->part_start, 0, (g->part_count + 1) * 4ull, st)) != 0) return e;
    return cudaMemsetAsync(s->load_cursor, 0, MSM_LOADS * 4, st);
}

extern "C" int msm_launch_sort(const struct msm_group *g, const struct msm_recode *r, const struct msm_sort *s, const void *scalars,
                               const uint32_t *gather, unsigned sm_count, void *stream)
{
    int e = msm_launch_clear(g, s, stream);
    if (e) return e;
    const unsigned recode_blocks = (g->count + 511) / 512 < sm_count * 2 ? (g->count + 511) / 512 : sm_count * 2;
    LAUNCH(k_recode, recode_blocks, 512, g->part_count * 4, stream)(*g, *r, *s, (const uint4 *)scalars, gather);
    LAUNCHED;
    return msm_launch_order(g, s, sm_count, stream);
}

extern "C" int msm_launch_order(const struct msm_group *g, const struct msm_sort *s, unsigned sm_count, void *stream)
{
    const cudaStream_t st = (cudaStream_t)stream;
    const unsigned windows = g->end - g->first, blocks = sm_count * 4;
    int e;
    LAUNCH(k_part_scan, 1, 1024, 0, st)(*g, *s);
    LAUNCHED;
    if (scatter_each == 32) LAUNCH((k_scatter<32>), dim3((g->count + 32767) / 32768, windows), SCATTER_THREADS, scatter_shared(32), st)(*g, *s);
    else if (scatter_each == 8) LAUNCH((k_scatter<8>), dim3((g->count + 8191) / 8192, windows), SCATTER_THREADS, scatter_shared(8), st)(*g, *s);
    else LAUNCH((k_scatter<4>), dim3((g->count + 4095) / 4096, windows), SCATTER_THREADS, scatter_shared(4), st)(*g, *s);
    LAUNCHED;
    LAUNCH(k_sort_part, g->part_count, SORT_THREADS, sort_shared, st)(*g, *s);
    LAUNCHED;
    if (g->count > MSM_BIG_PART) {
        LAUNCH(k_chunk_count, blocks, 512, 0, st)(*g, *s);
        LAUNCHED;
        LAUNCH(k_chunk_scan, blocks, 512, 0, st)(*g, *s);
        LAUNCHED;
        LAUNCH(k_chunk_place, blocks, 512, 0, st)(*g, *s);
        LAUNCHED;
    }
    LAUNCH(k_load_count, blocks, 512, 0, st)(*g, *s);
    LAUNCHED;
    LAUNCH(k_load_scan, 1, 1024, 0, st)(*g, *s);
    LAUNCHED;
    LAUNCH(k_load_place, (g->bucket_count + 8191) / 8192, 512, 0, st)(*g, *s);
    LAUNCHED;
    LAUNCH(k_cut_heavy, blocks, 256, 0, st)(*g, *s);
    LAUNCHED;
    return 0;
}

/* Tiles as large as the card's shared memory allows. */
extern "C" int msm_prepare_sort(void)
{
    int e, device, most;
    if ((e = cudaGetDevice(&device)) != 0) return e;
    if ((e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)) != 0) return e;
    scatter_each = (size_t)most >= scatter_shared(32) + 1024 ? 32 : (size_t)most >= scatter_shared(8) + 1024 ? 8 : 4;
    const int parts = most < MSM_PARTS_MAX * 4 ? most : MSM_PARTS_MAX * 4;
    if ((e = cudaFuncSetAttribute(k_recode, cudaFuncAttributeMaxDynamicSharedMemorySize, parts)) != 0) return e;
    if (scatter_each == 32) e = cudaFuncSetAttribute(k_scatter<32>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)scatter_shared(32));
    else if (scatter_each == 8) e = cudaFuncSetAttribute(k_scatter<8>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)scatter_shared(8));
    else e = cudaFuncSetAttribute(k_scatter<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)scatter_shared(4));
    if (e) return e;
    return cudaFuncSetAttribute(k_sort_part, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sort_shared);
}
