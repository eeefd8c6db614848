/* Sums over bitmaps, for one group of one curve: from the sums that the MSM's accumulation leaves to a point for each bitmap.
 *
 * Takes  FE, LANES (see xyzz.inc.cuh)   BITS(name)  exported name   BITS_FOLD_BLOCKS  resident blocks of BITS_THREADS threads that the
 * fold's registers are fitted to: those of the MSM's reduction, whose additions these are
 * The order of additions depends on the input alone. */
#include "backend/cuda/bits_kernels.h"
#include "backend/cuda/launch.h"
#include "backend/cuda/fe_device_names.h"
#include "backend/cuda/xyzz.inc.cuh"

#define TASKS (BITS_THREADS / LANES) /* sums of a block */
#define TASK  (threadIdx.x / LANES)

/* A task an item. */
static __global__ void __launch_bounds__(BITS_THREADS, BITS_FOLD_BLOCKS) k_fold(uint8_t *items, const uint8_t *buckets, uint32_t first, uint32_t end,
                                                                                uint32_t log2)
{
    uint32_t i = first + blockIdx.x * TASKS + TASK;
    const bool there = i < end;
    if (!there) i = end - 1;
    const uint8_t *b = buckets + ((size_t)i << log2) * XYZZ_BYTES;
    struct xyzz sum, p;
    xyzz_read(&sum, b);
    NOT_UNROLLED
    for (uint32_t k = 1; k < 1u << log2; k++) {
        b += XYZZ_BYTES;
        xyzz_read(&p, b);
        xyzz_add(&sum, &p);
    }
    if (there) xyzz_write(items + (size_t)i * XYZZ_BYTES, &sum);
}

/* The sum of all tasks of the block, by a butterfly: all of them have it in the end. */
static __device__ __forceinline__ void block_sum(struct xyzz *sum)
{
    __shared__ uint4 room[TASKS * XYZZ_BYTES / 16];
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

/* Block (part, bitmap). */
static __global__ void __launch_bounds__(BITS_THREADS) k_rows(uint8_t *rows, uint32_t stride, struct bits_items s)
{
    const uint32_t k = blockIdx.y, first = (uint32_t)((uint64_t)s.count * blockIdx.x / gridDim.x),
                   end = (uint32_t)((uint64_t)s.count * (blockIdx.x + 1) / gridDim.x);
    const uint8_t *const items = (const uint8_t *)s.items;
    struct xyzz sum, p;
    xyzz_set_inf(&sum);
    NOT_UNROLLED
    for (uint32_t j = first; j < end; j += TASKS) {
        const uint32_t i = j + TASK, bit = s.bit + k;
        const size_t at = s.bit == BITS_NO_BIT ? (size_t)k * s.count + i : ((size_t)(i >> bit) << (bit + 1)) | 1u << bit | (i & ((1u << bit) - 1));
        xyzz_set_inf(&p);
        if (i < end) xyzz_read(&p, items + at * XYZZ_BYTES);
        xyzz_add_far(&sum, &p);
    }
    block_sum(&sum);
    if (TASK == 0) xyzz_write(rows + ((size_t)k * stride + blockIdx.x) * XYZZ_BYTES, &sum);
}

/* A block a bitmap. */
static __global__ void __launch_bounds__(BITS_THREADS) k_join(uint8_t *jacobian, const uint8_t *rows, uint32_t stride, uint32_t count)
{
    struct xyzz sum, p;
    xyzz_set_inf(&sum);
    rows += (size_t)blockIdx.x * stride * XYZZ_BYTES;
    NOT_UNROLLED
    for (uint32_t i = 0; i < count; i += TASKS) {
        xyzz_set_inf(&p);
        if (i + TASK < count) xyzz_read(&p, rows + (size_t)(i + TASK) * XYZZ_BYTES);
        xyzz_add_far(&sum, &p);
    }
    block_sum(&sum);
    xyzz_to_jacobian(&sum);
    if (TASK != 0) return;
    uint8_t *const to = jacobian + (size_t)blockIdx.x * 3 * COORD_BYTES;
    fe_write(to, &sum.x, 1);
    fe_write(to + COORD_BYTES, &sum.y, 1);
    fe_write(to + 2 * COORD_BYTES, &sum.zzz, 1);
}

/* See bits_kernels.h. */
extern "C" int BITS(fold)(void *items, const void *buckets, uint32_t first, uint32_t end, uint32_t log2, void *stream)
{
    LAUNCH(k_fold, (end - first + TASKS - 1) / TASKS, BITS_THREADS, 0, stream)((uint8_t *)items, (const uint8_t *)buckets, first, end, log2);
    return cudaGetLastError();
}

extern "C" int BITS(rows)(void *rows, uint32_t stride, const struct bits_items *i, uint32_t bitmap_count, uint32_t parts, void *stream)
{
    LAUNCH(k_rows, dim3(parts, bitmap_count), BITS_THREADS, 0, stream)((uint8_t *)rows, stride, *i);
    return cudaGetLastError();
}

extern "C" int BITS(join)(void *jacobian, const void *rows, uint32_t stride, uint32_t count, uint32_t bitmap_count, void *stream)
{
    LAUNCH(k_join, bitmap_count, BITS_THREADS, 0, stream)((uint8_t *)jacobian, (const uint8_t *)rows, stride, count);
    return cudaGetLastError();
}
