/* Constraint evaluation on the device for one scalar field: out = M w, in Montgomery form.
 *
 * Takes  FE, FE_UPPER  the field      EVAL(name)  exported name
 * Coefficients are in Montgomery form and the witness is plain, so that a row's sum is plain; one product by R^2 turns it at the
 * end.  One thread a row, a block for each long one. */
#include "backend/cuda/eval_kernels.h"
#include "backend/cuda/launch.h"
#include "backend/cuda/fe_device_names.h"

#define THREADS 128

static __device__ __forceinline__ void add_entry(fe_t *sum, const struct eval_matrix *m, uint64_t e)
{
    fe_t w, k;
    const uint32_t coefficient = m->coefficient[e];
    fe_read_const(&w, (const uint8_t *)m->witness + (size_t)m->column[e] * sizeof(fe_t));
    if (coefficient == 0) {
        fe_add(sum, sum, &w);
    } else if (coefficient == 1) {
        fe_sub(sum, sum, &w);
    } else {
        fe_read_const(&k, (const uint8_t *)m->dictionary + (size_t)coefficient * sizeof(fe_t));
        fe_mul(&w, &k, &w);
        fe_add(sum, sum, &w);
    }
}

static __device__ __forceinline__ void write_row(uint8_t *out, uint64_t row, fe_t *sum)
{
    const uint32_t r2[8] = CAT(FE_UPPER, _R2_32);
    fe_t k;
    UNROLL for (int i = 0; i < 8; i++) k.v[i] = r2[i];
    fe_mul(sum, &k, sum);
    fe_canon(sum);
    fe_write(out + row * sizeof(fe_t), sum, 1);
}

static __global__ void __launch_bounds__(THREADS) k_rows(uint8_t *out, struct eval_matrix m)
{
    const uint64_t row = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (row >= m.out_count) return;
    fe_t sum;
    fe_set_zero(&sum);
    if (row < m.row_count) {
        const uint64_t start = m.row_start[row], end = m.row_start[row + 1];
        if (end - start > EVAL_LONG) {
            m.long_rows[1 + atomicAdd(&m.long_rows[0], 1)] = (uint32_t)row;
            return;
        }
        for (uint64_t e = start; e < end; e++) add_entry(&sum, &m, e);
    }
    write_row(out, row, &sum);
}

static __global__ void __launch_bounds__(THREADS) k_long_rows(uint8_t *out, struct eval_matrix m)
{
    __shared__ fe_t part[THREADS];
    for (uint32_t i = blockIdx.x; i < m.long_rows[0]; i += gridDim.x) {
        const uint64_t row = m.long_rows[1 + i];
        fe_t sum;
        fe_set_zero(&sum);
        for (uint64_t e = m.row_start[row] + threadIdx.x; e < m.row_start[row + 1]; e += THREADS) add_entry(&sum, &m, e);
        for (uint32_t half = THREADS / 2; half; half /= 2) {
            part[threadIdx.x] = sum;
            __syncthreads();
            if (threadIdx.x < half) fe_add(&sum, &sum, &part[threadIdx.x + half]);
            __syncthreads();
        }
        if (threadIdx.x == 0) write_row(out, row, &sum);
    }
}

extern "C" int EVAL(rows)(void *out, const struct eval_matrix *m, unsigned sm_count, void *stream)
{
    int e = cudaMemsetAsync(m->long_rows, 0, sizeof(uint32_t), (cudaStream_t)stream);
    if (e) return e;
    LAUNCH(k_rows, (unsigned)((m->out_count + THREADS - 1) / THREADS), THREADS, 0, stream)((uint8_t *)out, *m);
    if ((e = cudaGetLastError()) != 0) return e;
    LAUNCH(k_long_rows, sm_count * 4, THREADS, 0, stream)((uint8_t *)out, *m);
    return cudaGetLastError();
}
