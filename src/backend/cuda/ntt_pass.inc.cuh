/* One pass of K levels of a transform on the device, for one scalar field.
 *
 * Takes  FE  prefix of the field      K  levels, 6 to 9      NTT(name)  exported name
 *
 * Inside a pass a thread holds eight points: radix-8 rounds in registers, exchanged through shared memory.  A block works on 1024
 * points, 2^K of each of 2^(10 - K) neighbouring columns: on an H200 2 % faster than 2048 at 2^24, 1 % at 2^27.  Within a pass the columns' own twiddles are common to all; between
 * passes one factor w^(frequency x position) an element is needed, taken from tables that fit the L2 cache; powers of a coset's
 * shift and 1/n are merged into these tables.
 * Elements are below 2p; all tables are canonical, as the field's first factor must be. */
#include "backend/cuda/ntt_element.inc.cuh"

#ifndef BLOCK_LOG2
#define BLOCK_LOG2 10
#endif
#define THREADS (1 << (BLOCK_LOG2 - 3))
#define RESIDENT (512 / THREADS) /* blocks a multiprocessor: 128 registers a thread */

/* 2^R points of x in natural order to their transform in bit-reversed order, R = 1..3, for 8 >> R groups. */
template <int R> static __device__ __forceinline__ void dif_round(fe_t *x, const struct ntt_element *w8)
{
    if (R == 3) {
        UNROLL for (int j = 0; j < 4; j++) {
            cross(&x[j], &x[j + 4]);
            if (j) fe_mul(&x[j + 4], param(&w8[j - 1]), &x[j + 4]);
        }
    }
    if (R >= 2) {
        UNROLL for (int j = 0; j < 8; j += 4) {
            cross(&x[j], &x[j + 2]);
            cross(&x[j + 1], &x[j + 3]);
            fe_mul(&x[j + 3], param(&w8[1]), &x[j + 3]);
        }
    }
    UNROLL for (int j = 0; j < 8; j += 2) cross(&x[j], &x[j + 1]);
}

/* The mirror: bit-reversed to natural order. */
template <int R> static __device__ __forceinline__ void dit_round(fe_t *x, const struct ntt_element *w8)
{
    UNROLL for (int j = 0; j < 8; j += 2) cross(&x[j], &x[j + 1]);
    if (R >= 2) {
        UNROLL for (int j = 0; j < 8; j += 4) {
            fe_mul(&x[j + 3], param(&w8[1]), &x[j + 3]);
            cross(&x[j], &x[j + 2]);
            cross(&x[j + 1], &x[j + 3]);
        }
    }
    if (R == 3) {
        UNROLL for (int j = 0; j < 4; j++) {
            if (j) fe_mul(&x[j + 4], param(&w8[j - 1]), &x[j + 4]);
            cross(&x[j], &x[j + 4]);
        }
    }
}

static __device__ __forceinline__ int rev3(int j) { return ((j & 1) << 2) | (j & 2) | (j >> 2); }

/* Where thread t of a column holds its point j in a round on the bits [s, s + 3); s = 0: neighbours. */
static __device__ __forceinline__ uint32_t place(uint32_t t, int j, uint32_t s)
{
    return (t >> s) << (s + 3) | (uint32_t)j << s | (t & ((1u << s) - 1));
}

/* Twiddles between the round on bits [s, s + 3) and those below. */
static __device__ __forceinline__ void round_twiddle(fe_t *x, const void *inner, uint32_t t, uint32_t s)
{
    const uint32_t below = (t & ((1u << s) - 1)) << (K - 3 - s);
    UNROLL for (int j = 1; j < 8; j++) {
        fe_t w;
        fe_read_const(&w, (const uint8_t *)inner + (uint32_t)rev3(j) * below * sizeof(fe_t));
        fe_mul(&x[j], &w, &x[j]);
    }
}

/* Shared memory: two arrays of 16-byte halves; slots are padded so that eight threads of one access phase meet eight banks.
 * Strided passes keep columns together (threads of neighbouring columns are neighbours), contiguous ones keep a column together. */
template <bool STRIDED> static __device__ __forceinline__ uint4 *slot(uint32_t m, uint32_t c)
{
    const uint32_t padded = m + (m >> 3);
    return shared_points() + (STRIDED ? (padded << (BLOCK_LOG2 - K)) + c : c * ((1u << K) + (1u << (K - 3))) + padded);
}
#define SLOTS        ((1u << BLOCK_LOG2) + (1u << (BLOCK_LOG2 - 3)))
#define SHARED_BYTES (SLOTS * sizeof(fe_t))
static_assert(SHARED_BYTES <= NTT_SHARED_BYTES, "ntt_kernels.h says how much shared memory a block takes at most");

template <bool STRIDED> static __device__ __forceinline__ void put(const fe_t *x, uint32_t t, uint32_t c, uint32_t s)
{
    __syncthreads();
    UNROLL for (int j = 0; j < 8; j++) fe_write(slot<STRIDED>(place(t, j, s), c), &x[j], SLOTS);
}
template <bool STRIDED> static __device__ __forceinline__ void get(fe_t *x, uint32_t t, uint32_t c, uint32_t s)
{
    UNROLL for (int j = 0; j < 8; j++) fe_read(&x[j], slot<STRIDED>(place(t, j, s), c), SLOTS);
}
template <bool STRIDED> static __device__ __forceinline__ void exchange(fe_t *x, uint32_t t, uint32_t c, uint32_t from, uint32_t to)
{
    put<STRIDED>(x, t, c, from);
    __syncthreads();
    get<STRIDED>(x, t, c, to);
}

#define PARTIAL (K % 3) /* levels of the round that is not of three levels, on the lowest bits */

/* From points at the top bits in natural order to frequencies at the lowest bits in bit-reversed order.  One copy of a round's code
 * runs for all rounds: a pass unrolled over its rounds is larger than the instruction cache and takes twice the time. */
template <bool STRIDED>
static __device__ __forceinline__ void column_dif(fe_t *x, uint32_t t, uint32_t c, const void *inner, const struct ntt_element *w8)
{
    uint32_t s = K - 3;
    NOT_UNROLLED
    for (;;) {
        dif_round<3>(x, w8);
        if (s == 0) break;
        round_twiddle(x, inner, t, s);
        const uint32_t next = s < 3 ? 0 : s - 3;
        exchange<STRIDED>(x, t, c, s, next);
        if (PARTIAL && s == PARTIAL) {
            dif_round<PARTIAL ? PARTIAL : 1>(x, w8);
            break;
        }
        s = next;
    }
}
/* From bit-reversed points at the lowest bits to natural order at the top. */
template <bool STRIDED>
static __device__ __forceinline__ void column_dit(fe_t *x, uint32_t t, uint32_t c, const void *inner, const struct ntt_element *w8)
{
    uint32_t s = 0;
    if (PARTIAL) {
        dit_round<PARTIAL ? PARTIAL : 1>(x, w8);
        exchange<STRIDED>(x, t, c, 0, PARTIAL);
        s = PARTIAL;
    }
    NOT_UNROLLED
    for (;;) {
        if (s) round_twiddle(x, inner, t, s);
        dit_round<3>(x, w8);
        if (s == K - 3) break;
        exchange<STRIDED>(x, t, c, s, s + 3);
        s += 3;
    }
}

static __device__ __forceinline__ uint32_t frequency(uint32_t m) { return __brev(m) >> (32 - K); }

/* Entry k, l of a table of rows of 2^row_log2. */
static __device__ __forceinline__ void table_entry(fe_t *w, const void *table, uint32_t k, uint32_t row_log2, uint32_t l)
{
    fe_read_const(w, (const uint8_t *)table + (((size_t)k << row_log2) + l) * sizeof(fe_t));
}

/* A thread's eight points of the lowest round, which are in registers, times the factors between passes, by way of the thread's own
 * places in shared memory, so that the code is a loop.  Their frequencies are k + i 2^(K-3), point rev3(i).  Where a factor is that of
 * two tables a point is multiplied twice: 16 products for eight points.  (Making the eight factors from the first and their quotient
 * takes 18 and makes each canonical.) */
template <bool STRIDED> static __device__ __forceinline__ void pass_twiddle(fe_t *x, const struct ntt_pass *p, uint32_t t, uint32_t c, uint32_t l)
{
    const uint32_t k = frequency(place(t, 0, 0)), low = l & ((1u << p->low_log2) - 1), high = l >> p->low_log2;
    fe_t w, u, v;
    put<STRIDED>(x, t, c, 0);
    table_entry(&w, p->low, k, p->low_log2, low);
    if (p->high) table_entry(&u, p->high, k, p->below - p->low_log2, high);
    NOT_UNROLLED
    for (uint32_t i = 0; i < 8; i++) {
        uint4 *mine = slot<STRIDED>(place(t, rev3(i), 0), c);
        const uint32_t next = k + ((i < 7 ? i + 1 : i) << (K - 3));
        fe_t after;
        fe_read(&v, mine, SLOTS);
        table_entry(&after, p->low, next, p->low_log2, low);
        fe_mul(&v, &w, &v);
        w = after;
        if (p->high) {
            table_entry(&after, p->high, next, p->below - p->low_log2, high);
            fe_mul(&v, &u, &v);
            u = after;
        }
        fe_write(mine, &v, SLOTS);
    }
    get<STRIDED>(x, t, c, 0);
}

#define COLUMN_SETUP                                                                                                    \
    const uint32_t c = STRIDED ? threadIdx.x & ((1u << (BLOCK_LOG2 - K)) - 1) : threadIdx.x >> (K - 3);                 \
    const uint32_t t = STRIDED ? threadIdx.x >> (BLOCK_LOG2 - K) : threadIdx.x & ((1u << (K - 3)) - 1);                 \
    fe_t x[8]

/* Strided pass.  Element (above, m, below): index = (above << levels | m) << below_bits | below. */
static __global__ void __launch_bounds__(THREADS, RESIDENT) k_dif_strided(uint8_t *data, const __grid_constant__ struct ntt_pass p)
{
    const bool STRIDED = true;
    COLUMN_SETUP;
    const uint32_t blocks_log2 = p.below - (BLOCK_LOG2 - K);
    const uint32_t l = ((blockIdx.x & ((1u << blocks_log2) - 1)) << (BLOCK_LOG2 - K)) + c;
    uint8_t *base = data + ((((size_t)(blockIdx.x >> blocks_log2) << K) << p.below) + l) * sizeof(fe_t);
    UNROLL for (int j = 0; j < 8; j++) fe_read(&x[j], base + ((size_t)place(t, j, K - 3) << p.below) * sizeof(fe_t), 1);
    column_dif<STRIDED>(x, t, c, p.inner, p.w8);
    pass_twiddle<STRIDED>(x, &p, t, c, l);
    UNROLL for (int j = 0; j < 8; j++) fe_write(base + ((size_t)place(t, j, 0) << p.below) * sizeof(fe_t), &x[j], 1);
}

static __global__ void __launch_bounds__(THREADS, RESIDENT) k_dit_strided(uint8_t *data, const __grid_constant__ struct ntt_pass p)
{
    const bool STRIDED = true;
    COLUMN_SETUP;
    const uint32_t blocks_log2 = p.below - (BLOCK_LOG2 - K);
    const uint32_t l = ((blockIdx.x & ((1u << blocks_log2) - 1)) << (BLOCK_LOG2 - K)) + c;
    const size_t first = (((size_t)(blockIdx.x >> blocks_log2) << K) << p.below) + l;
    uint8_t *base = data + first * sizeof(fe_t);
    UNROLL for (int j = 0; j < 8; j++) fe_read(&x[j], base + ((size_t)place(t, j, 0) << p.below) * sizeof(fe_t), 1);
    pass_twiddle<STRIDED>(x, &p, t, c, l);
    column_dit<STRIDED>(x, t, c, p.inner, p.w8);
    if (p.times) {
        put<STRIDED>(x, t, c, K - 3);
        NOT_UNROLLED
        for (uint32_t j = 0; j < 8; j++) {
            const size_t at = (first + ((size_t)place(t, j, K - 3) << p.below)) * sizeof(fe_t);
            fe_t v, y;
            fe_read(&y, (const uint8_t *)p.times + at, 1);
            fe_read(&v, slot<STRIDED>(place(t, j, K - 3), c), SLOTS);
            fe_mul(&v, &y, &v);
            if (p.minus) {
                fe_read(&y, (const uint8_t *)p.minus + at, 1);
                fe_sub(&v, &v, &y);
            }
            fe_canon_once(&v);
            fe_write(data + at, &v, 1);
        }
        return;
    }
    UNROLL for (int j = 0; j < 8; j++) {
        if (p.canonical) fe_canon_once(&x[j]);
        fe_write(base + ((size_t)place(t, j, K - 3) << p.below) * sizeof(fe_t), &x[j], 1);
    }
}

/* Contiguous pass, the last of a DIF, the first of a DIT, or both in one with a factor between them. */
template <bool DIF, bool DIT> static __global__ void __launch_bounds__(THREADS, RESIDENT) k_contiguous(uint8_t *data, const __grid_constant__ struct ntt_pass p)
{
    const bool STRIDED = false;
    COLUMN_SETUP;
    uint8_t *base = data + (((size_t)blockIdx.x << BLOCK_LOG2) + ((size_t)c << K)) * sizeof(fe_t);
    UNROLL for (int j = 0; j < 8; j++) fe_read(&x[j], base + (size_t)place(t, j, K - 3) * sizeof(fe_t), 1);
    if (DIF) column_dif<STRIDED>(x, t, c, p.inner, p.w8);
    else exchange<STRIDED>(x, t, c, K - 3, 0);
    if (p.scale) {
        put<STRIDED>(x, t, c, 0);
        NOT_UNROLLED
        for (uint32_t j = 0; j < 8; j++) {
            uint4 *mine = slot<STRIDED>(place(t, j, 0), c);
            fe_t v, w;
            table_entry(&w, p.scale, 0, 0, place(t, j, 0));
            fe_read(&v, mine, SLOTS);
            fe_mul(&v, &w, &v);
            fe_write(mine, &v, SLOTS);
        }
        get<STRIDED>(x, t, c, 0);
    }
    if (DIT) column_dit<STRIDED>(x, t, c, DIF ? p.inner_back : p.inner, DIF ? p.w8_back : p.w8);
    else exchange<STRIDED>(x, t, c, 0, K - 3);
    UNROLL for (int j = 0; j < 8; j++) {
        if (p.canonical) fe_canon_once(&x[j]);
        fe_write(base + (size_t)place(t, j, K - 3) * sizeof(fe_t), &x[j], 1);
    }
}

#define PASS_LAUNCH(kernel)                                                                                             \
    LAUNCH(kernel, 1u << (p->size_log2 - BLOCK_LOG2), THREADS, SHARED_BYTES, stream)((uint8_t *)data, *p);    \
    return (int)cudaGetLastError()

extern "C" int NTT(dif)(void *data, const struct ntt_pass *p, void *stream)
{
    if (p->below) { PASS_LAUNCH(k_dif_strided); }
    PASS_LAUNCH((k_contiguous<true, false>));
}
extern "C" int NTT(dit)(void *data, const struct ntt_pass *p, void *stream)
{
    if (p->below) { PASS_LAUNCH(k_dit_strided); }
    PASS_LAUNCH((k_contiguous<false, true>));
}
extern "C" int NTT(fused)(void *data, const struct ntt_pass *p, void *stream)
{
    PASS_LAUNCH((k_contiguous<true, true>));
}
/* Once a device: more shared memory than the default. */
extern "C" int NTT(prepare)(void)
{
    const void *const kernels[] = { (const void *)k_dif_strided, (const void *)k_dit_strided, (const void *)k_contiguous<true, false>,
                                    (const void *)k_contiguous<false, true>, (const void *)k_contiguous<true, true> };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const int e = cudaFuncSetAttribute(kernels[i], cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
        if (e) return e;
    }
    return 0;
}
