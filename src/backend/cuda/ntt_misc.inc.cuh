/* Transforms on the device but for the passes: tables, small sizes, permutation, pointwise steps.
 *
 * Takes  FE  prefix of the field      NTT(name)  exported name */
#include "backend/cuda/ntt_element.inc.cuh"

#define THREADS 256

/* A whole transform of up to 2^11 points in one block, level by level.  p->inner: (root of order 2^size)^i.  p->scale by position of
 * the bit-reversed order, after a DIF or before a DIT. */
static __global__ void __launch_bounds__(THREADS) k_small(uint8_t *data, const __grid_constant__ struct ntt_pass p, bool dit)
{
    fe_t *s = (fe_t *)shared_points();
    const uint32_t n = 1u << p.size_log2;
    for (uint32_t i = threadIdx.x; i < n; i += THREADS) {
        fe_t v;
        fe_read(&v, data + (size_t)i * sizeof(fe_t), 1);
        if (dit && p.scale) {
            fe_t w;
            fe_read_const(&w, (const uint8_t *)p.scale + (size_t)i * sizeof(fe_t));
            fe_mul(&v, &w, &v);
        }
        s[i] = v;
    }
    for (uint32_t level = 0; level < p.size_log2; level++) {
        const uint32_t log = dit ? level : p.size_log2 - 1 - level, half = 1u << log; /* distance */
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < n / 2; i += THREADS) {
            const uint32_t low = i & (half - 1), a = ((i >> log) << (log + 1)) + low, b = a + half;
            fe_t w, u = s[a], v = s[b];
            fe_read_const(&w, (const uint8_t *)p.inner + ((size_t)low << (p.size_log2 - 1 - log)) * sizeof(fe_t));
            if (dit) fe_mul(&v, &w, &v);
            cross(&u, &v);
            if (!dit) fe_mul(&v, &w, &v);
            s[a] = u;
            s[b] = v;
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n; i += THREADS) {
        fe_t v = s[i], w;
        if (!dit && p.scale) {
            fe_read_const(&w, (const uint8_t *)p.scale + (size_t)i * sizeof(fe_t));
            fe_mul(&v, &w, &v);
        }
        if (p.times) {
            fe_read(&w, (const uint8_t *)p.times + (size_t)i * sizeof(fe_t), 1);
            fe_mul(&v, &w, &v);
            if (p.minus) {
                fe_read(&w, (const uint8_t *)p.minus + (size_t)i * sizeof(fe_t), 1);
                fe_sub(&v, &v, &w);
            }
        }
        if (p.canonical) fe_canon(&v);
        fe_write(data + (size_t)i * sizeof(fe_t), &v, 1);
    }
}

/* r = root^e by the table of its squarings */
static __device__ __forceinline__ void root_pow(fe_t *r, const struct ntt_root *root, uint64_t e)
{
    for (int i = 0; e; i++, e >>= 1)
        if (e & 1) {
            fe_mul(r, param(&root->pow2[i]), r);
            fe_canon(r);
        }
}

#define TABLE_EACH 8
static __global__ void __launch_bounds__(THREADS) k_table(struct ntt_table d, const __grid_constant__ struct ntt_root root, const __grid_constant__ struct ntt_root gamma)
{
    const uint64_t first = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) * TABLE_EACH, all = 1ull << (d.rows_log2 + d.columns_log2);
    for (uint64_t i = first; i < first + TABLE_EACH && i < all;) {
        uint32_t row = (uint32_t)(i >> d.columns_log2), l = (uint32_t)(i & ((1u << d.columns_log2) - 1));
        const uint32_t k = d.reverse_rows && d.rows_log2 ? __brev(row) >> (32 - d.rows_log2) : row;
        fe_t w = *param(&d.sigma), step;
        root_pow(&w, &root, d.step * k * l);
        root_pow(&w, &gamma, d.gamma_step * k);
        fe_set_one(&step);
        root_pow(&step, &root, d.step * k);
        do {
            fe_canon(&w);
            fe_write((uint8_t *)d.out + i * sizeof(fe_t), &w, 1);
            fe_mul(&w, &step, &w);
            i++;
        } while (i < first + TABLE_EACH && i < all && (i & ((1u << d.columns_log2) - 1)));
    }
}

static __global__ void __launch_bounds__(THREADS) k_reverse(uint8_t *data, uint32_t size_log2)
{
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >> size_log2 || size_log2 == 0) return;
    const uint64_t j = __brev((uint32_t)i) >> (32 - size_log2);
    if (j <= i) return;
    fe_t a, b;
    fe_read(&a, data + i * sizeof(fe_t), 1);
    fe_read(&b, data + j * sizeof(fe_t), 1);
    fe_write(data + i * sizeof(fe_t), &b, 1);
    fe_write(data + j * sizeof(fe_t), &a, 1);
}

/* out = a b / R, below 2p; a any, made canonical here */
static __global__ void __launch_bounds__(THREADS) k_product(uint8_t *out, const uint8_t *a, const uint8_t *b, uint64_t count)
{
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    fe_t x, y;
    fe_read(&x, a + i * sizeof(fe_t), 1);
    fe_read(&y, b + i * sizeof(fe_t), 1);
    fe_canon(&x);
    fe_mul(&x, &x, &y);
    fe_write(out + i * sizeof(fe_t), &x, 1);
}

/* out[i] = a[rev i] - b[rev i], canonical */
static __global__ void __launch_bounds__(THREADS) k_subtract_reversed(uint8_t *out, const uint8_t *a, const uint8_t *b, uint32_t size_log2)
{
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >> size_log2) return;
    const uint64_t j = size_log2 ? __brev((uint32_t)i) >> (32 - size_log2) : 0;
    fe_t x, y;
    fe_read(&x, a + j * sizeof(fe_t), 1);
    fe_read(&y, b + j * sizeof(fe_t), 1);
    fe_sub(&x, &x, &y);
    fe_canon(&x);
    fe_write(out + i * sizeof(fe_t), &x, 1);
}

extern "C" int NTT(small)(void *data, const struct ntt_pass *p, bool dit, void *stream)
{
    LAUNCH(k_small, 1, THREADS, (1u << NTT_SMALL_LOG2) * sizeof(fe_t), stream)((uint8_t *)data, *p, dit);
    return cudaGetLastError();
}
static unsigned blocks_for(uint64_t n) { return (unsigned)((n + THREADS - 1) / THREADS); }
extern "C" int NTT(table)(const struct ntt_table *t, const struct ntt_root *root, const struct ntt_root *gamma, void *stream)
{
    LAUNCH(k_table, blocks_for(((1ull << (t->rows_log2 + t->columns_log2)) + TABLE_EACH - 1) / TABLE_EACH), THREADS, 0, stream)(*t, *root, *gamma);
    return cudaGetLastError();
}
extern "C" int NTT(reverse)(void *data, uint32_t size_log2, void *stream)
{
    LAUNCH(k_reverse, blocks_for(1ull << size_log2), THREADS, 0, stream)((uint8_t *)data, size_log2);
    return cudaGetLastError();
}
extern "C" int NTT(product)(void *out, const void *a, const void *b, uint64_t count, void *stream)
{
    LAUNCH(k_product, blocks_for(count), THREADS, 0, stream)((uint8_t *)out, (const uint8_t *)a, (const uint8_t *)b, count);
    return cudaGetLastError();
}
extern "C" int NTT(subtract_reversed)(void *out, const void *a, const void *b, uint32_t size_log2, void *stream)
{
    LAUNCH(k_subtract_reversed, blocks_for(1ull << size_log2), THREADS, 0, stream)((uint8_t *)out, (const uint8_t *)a, (const uint8_t *)b, size_log2);
    return cudaGetLastError();
}
extern "C" int NTT(prepare)(void)
{
    return cudaFuncSetAttribute(k_small, cudaFuncAttributeMaxDynamicSharedMemorySize, (1u << NTT_SMALL_LOG2) * sizeof(fe_t));
}
