/* One pass of K levels of a transform on the device, for one scalar field.
 *
 * Takes  FE  prefix of the field      K  levels, 6 to 9      NTT(name)  exported name
 *
 * Inside a pass a thread holds eight points: radix-8 rounds in registers, exchanged through shared memory.  A block works on 2048
 * points, 2^K of each of 2^(11 - K) neighbouring columns.  Within a pass the columns' own twiddles are common to all; between
 * passes one factor w^(frequency x position) an element is needed, taken from tables that fit the L2 cache; powers of a coset's
 * shift and 1/n are merged into these tables.
 * Elements are below 2p; all tables are canonical, as the field's first factor must be. */
#include "backend/cuda/ntt_element.inc.cuh"

#define BLOCK_LOG2 11

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

static __device__ __forceinline__ constexpr int rev3(int j) { return ((j & 1) << 2) | (j & 2) | (j >> 2); }

/* Where thread t of a column holds its point j: first round (top bits), second, last (neighbours). */
static __device__ __forceinline__ uint32_t at_top(uint32_t t, int j) { return ((uint32_t)j << (K - 3)) | t; }
static __device__ __forceinline__ uint32_t at_middle(uint32_t t, int j)
{
    return ((t >> (K - 6)) << (K - 3)) | ((uint32_t)j << (K - 6)) | (t & ((1u << (K - 6)) - 1));
}
static __device__ __forceinline__ uint32_t at_low(uint32_t t, int j) { return t << 3 | (uint32_t)j; }

/* Twiddles between rounds; t: position below the round's bits, of `bits` bits. */
static __device__ __forceinline__ void round_twiddle(fe_t *x, const void *inner, uint32_t t, int shift)
{
    UNROLL for (int j = 1; j < 8; j++) {
        fe_t w;
        fe_read_const(&w, (const uint8_t *)inner + (((uint32_t)rev3(j) * t) << shift) * sizeof(fe_t));
        fe_mul(&x[j], &w, &x[j]);
    }
}

/* Shared memory: two arrays of 16-byte halves; slots are padded so that eight threads of one access phase meet eight banks.
 * Strided passes keep columns together (threads of neighbouring columns are neighbours), contiguous ones keep a column together. */
template <bool STRIDED> static __device__ __forceinline__ uint32_t slot(uint32_t m, uint32_t c)
{
    const uint32_t padded = m + (m >> 3);
    return STRIDED ? (padded << (BLOCK_LOG2 - K)) + c : c * ((1u << K) + (1u << (K - 3))) + padded;
}
#define SLOTS      ((1u << BLOCK_LOG2) + (1u << (BLOCK_LOG2 - 3)))
#define SHARED_BYTES (SLOTS * sizeof(fe_t))

#define EXCHANGE(from, to)                                                                                              \
    do {                                                                                                                \
        __syncthreads();                                                                                                \
        UNROLL for (int j = 0; j < 8; j++) fe_write(shared_points + slot<STRIDED>(from(t, j), c), &x[j], SLOTS);   \
        __syncthreads();                                                                                                \
        UNROLL for (int j = 0; j < 8; j++) fe_read(&x[j], shared_points + slot<STRIDED>(to(t, j), c), SLOTS);      \
    } while (0)

/* From points at `top` in natural order to frequencies at `low` in bit-reversed order. */
template <bool STRIDED>
static __device__ __forceinline__ void column_dif(fe_t *x, uint32_t t, uint32_t c, const void *inner, const struct ntt_element *w8)
{
    dif_round<3>(x, w8);
    round_twiddle(x, inner, t, 0);
    EXCHANGE(at_top, at_middle);
    dif_round<3>(x, w8);
    if (K > 6) {
        round_twiddle(x, inner, t & ((1u << (K - 6)) - 1), 3);
        EXCHANGE(at_middle, at_low);
        dif_round<(K > 6 ? K - 6 : 1)>(x, w8);
    }
}
/* From bit-reversed points at `low` to natural order at `top`. */
template <bool STRIDED>
static __device__ __forceinline__ void column_dit(fe_t *x, uint32_t t, uint32_t c, const void *inner, const struct ntt_element *w8)
{
    if (K > 6) {
        dit_round<(K > 6 ? K - 6 : 1)>(x, w8);
        EXCHANGE(at_low, at_middle);
        round_twiddle(x, inner, t & ((1u << (K - 6)) - 1), 3);
    }
    dit_round<3>(x, w8);
    EXCHANGE(at_middle, at_top);
    round_twiddle(x, inner, t, 0);
    dit_round<3>(x, w8);
}

static __device__ __forceinline__ uint32_t frequency(uint32_t m) { return __brev(m) >> (32 - K); }

/* The factor between passes for frequency k, position l below. */
static __device__ __forceinline__ void pass_twiddle(fe_t *x, const struct ntt_pass *p, uint32_t k, uint32_t l)
{
    fe_t w;
    const uint32_t low = l & ((1u << p->low_log2) - 1);
    fe_read_const(&w, (const uint8_t *)p->low + (((size_t)k << p->low_log2) + low) * sizeof(fe_t));
    fe_mul(x, &w, x);
    if (p->high) {
        fe_read_const(&w, (const uint8_t *)p->high + (((size_t)k << (p->below - p->low_log2)) + (l >> p->low_log2)) * sizeof(fe_t));
        fe_mul(x, &w, x);
    }
}

#define COLUMN_SETUP                                                                                                    \
    const uint32_t c = STRIDED ? threadIdx.x & ((1u << (BLOCK_LOG2 - K)) - 1) : threadIdx.x >> (K - 3);                 \
    const uint32_t t = STRIDED ? threadIdx.x >> (BLOCK_LOG2 - K) : threadIdx.x & ((1u << (K - 3)) - 1);                 \
    fe_t x[8]

/* Strided pass.  Element (above, m, below): index = (above << levels | m) << below_bits | below. */
static __global__ void __launch_bounds__(THREADS, 2) k_dif_strided(uint8_t *data, const __grid_constant__ struct ntt_pass p)
{
    const bool STRIDED = true;
    COLUMN_SETUP;
    const uint32_t blocks_log2 = p.below - (BLOCK_LOG2 - K);
    const uint32_t l = ((blockIdx.x & ((1u << blocks_log2) - 1)) << (BLOCK_LOG2 - K)) + c;
    uint8_t *base = data + ((((size_t)(blockIdx.x >> blocks_log2) << K) << p.below) + l) * sizeof(fe_t);
    UNROLL for (int j = 0; j < 8; j++) fe_read(&x[j], base + ((size_t)at_top(t, j) << p.below) * sizeof(fe_t), 1);
    column_dif<STRIDED>(x, t, c, p.inner, p.w8);
    UNROLL for (int j = 0; j < 8; j++) {
        const uint32_t m = at_low(t, j);
        pass_twiddle(&x[j], &p, frequency(m), l);
        fe_write(base + ((size_t)m << p.below) * sizeof(fe_t), &x[j], 1);
    }
}

static __global__ void __launch_bounds__(THREADS, 2) k_dit_strided(uint8_t *data, const __grid_constant__ struct ntt_pass p)
{
    const bool STRIDED = true;
    COLUMN_SETUP;
    const uint32_t blocks_log2 = p.below - (BLOCK_LOG2 - K);
    const uint32_t l = ((blockIdx.x & ((1u << blocks_log2) - 1)) << (BLOCK_LOG2 - K)) + c;
    const size_t first = (((size_t)(blockIdx.x >> blocks_log2) << K) << p.below) + l;
    uint8_t *base = data + first * sizeof(fe_t);
    UNROLL for (int j = 0; j < 8; j++) {
        const uint32_t m = at_low(t, j);
        fe_read(&x[j], base + ((size_t)m << p.below) * sizeof(fe_t), 1);
        pass_twiddle(&x[j], &p, frequency(m), l);
    }
    column_dit<STRIDED>(x, t, c, p.inner, p.w8);
    UNROLL for (int j = 0; j < 8; j++) {
        const size_t offset = ((size_t)at_top(t, j) << p.below) * sizeof(fe_t);
        if (p.times) {
            fe_t y;
            fe_read(&y, (const uint8_t *)p.times + first * sizeof(fe_t) + offset, 1);
            fe_mul(&x[j], &y, &x[j]);
            if (p.minus) {
                fe_read(&y, (const uint8_t *)p.minus + first * sizeof(fe_t) + offset, 1);
                fe_sub(&x[j], &x[j], &y);
            }
        }
        if (p.canonical) fe_canon(&x[j]);
        fe_write(base + offset, &x[j], 1);
    }
}

/* Contiguous pass, the last of a DIF, the first of a DIT, or both in one with a factor between them. */
template <bool DIF, bool DIT> static __global__ void __launch_bounds__(THREADS, 2) k_contiguous(uint8_t *data, const __grid_constant__ struct ntt_pass p)
{
    const bool STRIDED = false;
    COLUMN_SETUP;
    uint8_t *base = data + (((size_t)blockIdx.x << BLOCK_LOG2) + ((size_t)c << K)) * sizeof(fe_t);
    UNROLL for (int j = 0; j < 8; j++) fe_read(&x[j], base + (size_t)at_top(t, j) * sizeof(fe_t), 1);
    if (DIF) column_dif<STRIDED>(x, t, c, p.inner, p.w8);
    else EXCHANGE(at_top, at_low);
    if (p.scale) {
        UNROLL for (int j = 0; j < 8; j++) {
            fe_t w;
            fe_read_const(&w, (const uint8_t *)p.scale + (size_t)at_low(t, j) * sizeof(fe_t));
            fe_mul(&x[j], &w, &x[j]);
        }
    }
    if (DIT) column_dit<STRIDED>(x, t, c, DIF ? p.inner_back : p.inner, DIF ? p.w8_back : p.w8);
    else EXCHANGE(at_low, at_top);
    UNROLL for (int j = 0; j < 8; j++) {
        if (p.canonical) fe_canon(&x[j]);
        fe_write(base + (size_t)at_top(t, j) * sizeof(fe_t), &x[j], 1);
    }
}

#define PASS_LAUNCH(kernel)                                                                                             \
    kernel<<<1u << (p->size_log2 - BLOCK_LOG2), THREADS, SHARED_BYTES, (cudaStream_t)stream>>>((uint8_t *)data, *p);    \
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
