/* A circuit image evaluated on the device: a = A w, b = B w in Montgomery form, from bits and numbers.  BLS12-381.
 *
 * Two kernels share the rows.  Rows over bits (98 of 100 in PoRep) have values in [-2, 2]: a thread takes a row, and a warp writes the
 * 32 values of each side as contiguous blocks of 512 bytes, the element looked up in shared memory.  Rows over field elements: a warp
 * takes one row in 32 instances of its template, so that its lanes do the same whatever the row.
 * Predicted for a 32 GiB partition (130 M rows, 8.3 GB written) on an H200: 2.4 ms and 0.4 ms; bound by memory. */
#include "field/params_bls12_381.h"

#define FE       fr
#define FE_UPPER BLS12_381_FR
#include "backend/cuda/fe_device.inc.h"

#include "backend/cuda/image_kernels.h"
#include "backend/cuda/launch.h"
#include "r1cs/image_words.h"

#include "backend/cuda/fe_device_names.h"

#define THREADS 256
#define WARPS   4 /* of a block of k_numbers */
#define ALL     0xffffffffu

#define DEVICE static __device__ __forceinline__

/* -- Booleans -- */

DEVICE uint32_t bit_at(const uint32_t *bits, uint32_t aux) { return __ldg(bits + (aux >> 5)) >> (aux & 31) & 1; }

/* A number in a Boolean's place counts as 0: the bitmap has a 0 there. */
DEVICE uint32_t place_bit(const uint32_t *bits, uint32_t place)
{
    const uint32_t kind = place & PLACE_KIND;
    if (kind == PLACE_BIT) return bit_at(bits, place & PLACE_INDEX);
    return kind != PLACE_NUMBER;
}

/* The value of reference ref + lane. */
DEVICE uint32_t lane_of(const struct image_tables *m, const uint32_t *bits, const struct flat_instance *at, uint32_t ref, uint32_t lane)
{
    const uint32_t i = (ref & REF_INDEX) + lane, kind = ref & REF_KIND;
    uint32_t v = 1;
    if (kind == REF_LOCAL) v = bit_at(bits, at->aux + i);
    else if (kind == REF_IMPORT) v = place_bit(bits, __ldg(m->imports + at->import + i));
    return v ^ ((ref & REF_NOT) != 0);
}

/* -- rows over bits -- */

#define NO_CODE 0xffu

/* Both sides of a row over bits, 2 added to each: a | b << 3; NO_CODE for a row over field elements.  holds: as the row says. */
DEVICE uint32_t bit_row(const struct image_tables *m, const uint32_t *bits, const struct flat_instance *at, struct flat_row place,
                        const bool check, bool *holds)
{
    const uint32_t *p = m->rows + place.entry;
    const uint32_t row_class = __ldg(p) & 0xff;
    int a = 0, b = 0, c = 0;
    if (row_class == ROW_BITS) {
        b = (int)bit_at(bits, at->aux + (__ldg(p + 1) & REF_INDEX) + place.lane);
        a = 1 - b;
    } else if (row_class == ROW_XOR || row_class == ROW_AND) {
        const bool is_xor = row_class == ROW_XOR;
        a = (int)lane_of(m, bits, at, __ldg(p + 1), place.lane);
        b = (int)lane_of(m, bits, at, __ldg(p + 2), place.lane);
        if (check) c = (int)lane_of(m, bits, at, __ldg(p + 3), place.lane);
        if (is_xor) {
            c = a + b - c;
            a *= 2;
        }
    } else if (row_class == ROW_CH) {
        const int y = (int)lane_of(m, bits, at, __ldg(p + 2), place.lane), z = (int)lane_of(m, bits, at, __ldg(p + 3), place.lane);
        b = (int)lane_of(m, bits, at, __ldg(p + 1), place.lane);
        a = y - z;
        if (check) c = (int)lane_of(m, bits, at, __ldg(p + 4), place.lane) - z;
    } else if (row_class == ROW_MAJ) {
        const uint32_t second = __ldg(p + 2), third = __ldg(p + 3), j = place.lane >> 1;
        const bool swap = (second & REF_NOT) && !(third & REF_NOT);
        const int y = (int)lane_of(m, bits, at, second, j), z = (int)lane_of(m, bits, at, third, j);
        if (place.lane & 1) {
            const int both = (int)lane_of(m, bits, at, __ldg(p + 4), place.lane);
            a = 2 * both - y - z;
            b = (int)lane_of(m, bits, at, __ldg(p + 1), j);
            if (check) c = both - (int)lane_of(m, bits, at, __ldg(p + 4), place.lane - 1);
        } else {
            a = swap ? z : y;
            b = swap ? y : z;
            if (check) c = (int)lane_of(m, bits, at, __ldg(p + 4), place.lane + 1);
        }
    } else {
        return NO_CODE;
    }
    *holds = a * b == c;
    return (uint32_t)(a + 2) | (uint32_t)(b + 2) << 3;
}

/* -2 .. 2 */
DEVICE void small_element(fe_t *r, uint32_t code)
{
    fe_t one;
    fe_set_one(&one);
    fe_set_zero(r);
    for (uint32_t i = 2; i < code; i++) fe_add(r, r, &one);
    for (uint32_t i = code; i < 2; i++) fe_sub(r, r, &one);
    fe_canon(r);
}

template <bool CHECK>
static __global__ void __launch_bounds__(THREADS) k_bits(uint4 *a, uint4 *b, const __grid_constant__ struct image_tables m, const uint32_t *bits,
                                                         unsigned long long *first_bad)
{
    __shared__ uint4 small[5][2];
    const struct image_run run = m.runs[blockIdx.x];
    const struct flat_instance at = m.instances[run.instance];
    const uint32_t lane = threadIdx.x % IMAGE_WARP;
    if (threadIdx.x < 5) {
        fe_t v;
        small_element(&v, threadIdx.x);
        fe_write(small[threadIdx.x], &v, 1);
    }
    __syncthreads();
    for (uint32_t base = threadIdx.x - lane; base < run.count; base += THREADS) {
        uint32_t code = NO_CODE;
        if (base + lane < run.count) {
            bool holds = true;
            code = bit_row(&m, bits, &at, m.directory[run.directory + base + lane], CHECK, &holds);
            if (CHECK && !holds) atomicMin(first_bad, (unsigned long long)run.row + base + lane);
        }
        UNROLL for (uint32_t half = 0; half < 2; half++) {
            const uint32_t of = __shfl_sync(ALL, code, half * 16 + lane / 2);
            const size_t to = 2 * ((size_t)run.row + base) + half * 32 + lane;
            if (of == NO_CODE) continue;
            a[to] = small[of & 7][lane & 1];
            b[to] = small[of >> 3][lane & 1];
        }
    }
}

/* -- rows over field elements -- */

DEVICE uint32_t place_of(const struct image_tables *m, const struct flat_instance *at, uint32_t ref)
{
    const uint32_t i = ref & REF_INDEX;
    switch (ref & REF_KIND) {
    case REF_LOCAL: return ref & FLAT_NUMBER ? PLACE_NUMBER | (at->number + i) : PLACE_BIT | (at->aux + i);
    case REF_IMPORT: return __ldg(m->imports + at->import + i);
    case REF_INPUT: return PLACE_INPUT | (at->input + i);
    default: return PLACE_ONE;
    }
}

DEVICE void read_number(fe_t *r, const struct image_view *w, uint32_t place)
{
    const uint8_t *const from = (const uint8_t *)((place & PLACE_KIND) == PLACE_NUMBER ? w->numbers : w->inputs);
    fe_read_const(r, from + (size_t)(place & PLACE_INDEX) * sizeof(fe_t));
}

/* A value as a plain integer. */
DEVICE void value_of(fe_t *r, const struct image_tables *m, const struct image_view *w, const struct flat_instance *at, uint32_t ref)
{
    const uint32_t place = place_of(m, at, ref), kind = place & PLACE_KIND;
    if (kind == PLACE_NUMBER || kind == PLACE_INPUT) {
        read_number(r, w, place);
        return;
    }
    fe_set_zero(r);
    r->v[0] = place_bit(w->bits, place);
}

/* Any integer below 2^256 to Montgomery form, below 2p. */
DEVICE void to_montgomery(fe_t *r, const fe_t *x)
{
    const uint32_t r2[8] = CAT(FE_UPPER, _R2_32);
    fe_t k;
    UNROLL for (int i = 0; i < 8; i++) k.v[i] = r2[i];
    fe_mul(r, &k, x);
}

/* A sum of pairs in Montgomery form.  Coefficients are in that form: that of a set bit is added as it stands, and its product with a
 * number is a plain integer; these are summed apart and turned at the end.  One copy a kernel. */
static __device__ __noinline__ void dot(fe_t *r, const struct image_tables *m, const struct image_view *w, const struct flat_instance *at,
                                        const uint32_t *pair, uint32_t count)
{
    fe_t plain;
    fe_set_zero(r);
    fe_set_zero(&plain);
    NOT_UNROLLED
    for (; count > 0; count--, pair += 2) {
        const uint32_t place = place_of(m, at, __ldg(pair)), kind = place & PLACE_KIND, coefficient = __ldg(pair + 1);
        const uint8_t *const from = (const uint8_t *)m->coefficients + (size_t)coefficient * sizeof(fe_t);
        fe_t k, v;
        if (kind == PLACE_NUMBER || kind == PLACE_INPUT) {
            read_number(&v, w, place);
            if (coefficient == 0) {
                fe_add(&plain, &plain, &v);
            } else if (coefficient == 1) {
                fe_sub(&plain, &plain, &v);
            } else {
                fe_read_const(&k, from);
                fe_mul(&v, &k, &v);
                fe_add(&plain, &plain, &v);
            }
        } else if (place_bit(w->bits, place)) {
            fe_read_const(&k, from);
            fe_add(r, r, &k);
        }
    }
    to_montgomery(&plain, &plain);
    fe_add(r, r, &plain);
}

/* sum += v 2^shift; the sum stays below 2^256. */
DEVICE void add_shifted(fe_t *sum, uint64_t v, uint32_t shift)
{
    const uint32_t word = shift >> 5, by = shift & 31;
    const uint32_t low = (uint32_t)v, high = (uint32_t)(v >> 32);
    const uint32_t part[3] = { low << by, by ? low >> (32 - by) | high << by : high, by ? high >> (32 - by) : 0 };
    uint32_t carry = 0;
    UNROLL for (uint32_t i = 0; i < 8; i++) {
        const uint32_t at = i - word; /* wraps below the first */
        const uint64_t t = (uint64_t)sum->v[i] + (at < 3 ? part[at < 3 ? at : 0] : 0) + carry;
        sum->v[i] = (uint32_t)t;
        carry = (uint32_t)(t >> 32);
    }
}

/* Up to 64 values of references ref, ref + stride, ..., one a bit. */
DEVICE uint64_t lanes_of(const struct image_tables *m, const uint32_t *bits, const struct flat_instance *at, uint32_t ref, uint32_t count,
                         uint32_t stride)
{
    uint64_t v = 0;
    if ((ref & REF_KIND) == REF_LOCAL && stride == 1) {
        const uint32_t aux = at->aux + (ref & REF_INDEX), by = aux & 31;
        const uint32_t *const word = bits + (aux >> 5);
        v = ((uint64_t)__ldg(word) | (uint64_t)__ldg(word + 1) << 32) >> by;
        if (by + count > 64) v |= (uint64_t)__ldg(word + 2) << (64 - by);
        return count < 64 ? v & (((uint64_t)1 << count) - 1) : v;
    }
    for (uint32_t i = 0; i < count; i++) v |= (uint64_t)lane_of(m, bits, at, ref, i * stride) << i;
    return v;
}

/* The sum of runs, a plain integer: each run ends below 2^254. */
static __device__ __noinline__ void runs_sum(fe_t *sum, const struct image_tables *m, const uint32_t *bits, const struct flat_instance *at,
                                             const uint32_t *run, uint32_t count)
{
    fe_set_zero(sum);
    NOT_UNROLLED
    for (; count > 0; count--, run += 2) {
        const uint32_t shape = __ldg(run + 1);
        add_shifted(sum, lanes_of(m, bits, at, __ldg(run), RUN_COUNT(shape), RUN_STRIDE(shape)), RUN_SHIFT(shape));
    }
}

/* Sides of a row in Montgomery form, in [0, 2p]; c only where it is asked for. */
template <bool CHECK>
DEVICE void number_row(fe_t *a, fe_t *b, fe_t *c, const struct image_tables *m, const struct image_view *w, const struct flat_instance *at,
                       const struct image_job *job)
{
    const uint32_t *p = m->rows + job->entry;
    switch (__ldg(p) & 0xff) {
    case ROW_PICK: {
        fe_t x, y;
        value_of(&x, m, w, at, __ldg(p + 2));
        value_of(&y, m, w, at, __ldg(p + 3));
        fe_sub(a, &y, &x);
        to_montgomery(a, a);
        fe_set_zero(b);
        if (lane_of(m, w->bits, at, __ldg(p + 1), 0)) fe_set_one(b);
        if (CHECK) {
            value_of(&x, m, w, at, __ldg(p + 4));
            fe_sub(c, &y, &x);
            to_montgomery(c, c);
        }
        return;
    }
    case ROW_SUMS: {
        const uint32_t *const pairs = p + 4 + 2 * (size_t)__ldg(p + 1);
        fe_t sum;
        runs_sum(&sum, m, w->bits, at, p + 4, __ldg(p + 1));
        to_montgomery(a, &sum);
        if (__ldg(p + 2)) {
            dot(b, m, w, at, pairs, __ldg(p + 2));
            fe_add(a, a, b);
        }
        fe_set_one(b);
        if (CHECK) {
            runs_sum(&sum, m, w->bits, at, pairs + 2 * (size_t)__ldg(p + 2), __ldg(p + 3));
            to_montgomery(c, &sum);
        }
        return;
    }
    case ROW_GENERAL: {
        const uint32_t *pairs = p + 4;
        dot(a, m, w, at, pairs, __ldg(p + 1));
        pairs += 2 * (size_t)__ldg(p + 1);
        dot(b, m, w, at, pairs, __ldg(p + 2));
        if (CHECK) dot(c, m, w, at, pairs + 2 * (size_t)__ldg(p + 2), __ldg(p + 3));
        return;
    }
    default: { /* ROW_TRAIL */
        read_number(a, w, PLACE_INPUT | (at->input + __ldg(p + 1) + job->lane));
        to_montgomery(a, a);
        fe_set_zero(b);
        if (CHECK) fe_set_zero(c);
    }
    }
}

template <bool CHECK>
static __global__ void __launch_bounds__(WARPS * IMAGE_WARP) k_numbers(uint8_t *a, uint8_t *b, const __grid_constant__ struct image_tables m,
                                                                      const __grid_constant__ struct image_view w, unsigned long long *first_bad)
{
    const uint32_t index = blockIdx.x * WARPS + threadIdx.x / IMAGE_WARP, lane = threadIdx.x % IMAGE_WARP;
    if (index >= m.job_count) return;
    const struct image_job job = m.jobs[index];
    if (lane >= job.count) return;
    const struct flat_instance at = m.instances[job.instance + lane];
    const size_t row = (size_t)at.row + job.row;
    fe_t left, right, product;
    number_row<CHECK>(&left, &right, &product, &m, &w, &at, &job);
    fe_canon(&left);
    fe_canon(&right);
    fe_write(a + row * sizeof(fe_t), &left, 1);
    fe_write(b + row * sizeof(fe_t), &right, 1);
    if (!CHECK) return;
    fe_mul(&left, &left, &right);
    fe_sub(&left, &left, &product);
    if (!fe_is_zero(&left)) atomicMin(first_bad, (unsigned long long)row);
}

/* -- the witness as scalars -- */

/* Inputs, then a bit for every aux; numbers follow.  A thread writes half of a scalar. */
static __global__ void __launch_bounds__(THREADS) k_expand_bits(uint4 *out, const __grid_constant__ struct image_tables m,
                                                                const __grid_constant__ struct image_view w)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t variable = (uint32_t)(i / 2);
    if (variable >= m.input_count + m.aux_count) return;
    if (variable < m.input_count) {
        out[i] = __ldg((const uint4 *)w.inputs + i);
        return;
    }
    out[i] = make_uint4(i & 1 ? 0 : bit_at(w.bits, variable - m.input_count), 0, 0, 0);
}

static __global__ void __launch_bounds__(THREADS) k_expand_numbers(uint4 *out, const __grid_constant__ struct image_tables m,
                                                                   const __grid_constant__ struct image_view w)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i / 2 >= m.number_count) return;
    out[2 * ((size_t)m.input_count + __ldg(m.number_aux + i / 2)) + (i & 1)] = __ldg((const uint4 *)w.numbers + i);
}

/* -- launchers -- */

extern "C" int image_eval_bits(void *a, void *b, const struct image_tables *m, const struct image_view *w, uint64_t *first_bad, void *stream)
{
    unsigned long long *const bad = (unsigned long long *)first_bad;
    if (m->run_count == 0) return 0;
    if (bad) LAUNCH((k_bits<true>), m->run_count, THREADS, 0, stream)((uint4 *)a, (uint4 *)b, *m, w->bits, bad);
    else LAUNCH((k_bits<false>), m->run_count, THREADS, 0, stream)((uint4 *)a, (uint4 *)b, *m, w->bits, bad);
    return cudaGetLastError();
}

extern "C" int image_eval_numbers(void *a, void *b, const struct image_tables *m, const struct image_view *w, uint64_t *first_bad, void *stream)
{
    const unsigned blocks = (m->job_count + WARPS - 1) / WARPS;
    unsigned long long *const bad = (unsigned long long *)first_bad;
    if (blocks == 0) return 0;
    if (bad) LAUNCH((k_numbers<true>), blocks, WARPS * IMAGE_WARP, 0, stream)((uint8_t *)a, (uint8_t *)b, *m, *w, bad);
    else LAUNCH((k_numbers<false>), blocks, WARPS * IMAGE_WARP, 0, stream)((uint8_t *)a, (uint8_t *)b, *m, *w, bad);
    return cudaGetLastError();
}

extern "C" int image_expand_values(void *out, const struct image_tables *m, const struct image_view *w, void *stream)
{
    const uint64_t variables = (uint64_t)m->input_count + m->aux_count, numbers = m->number_count;
    LAUNCH(k_expand_bits, (unsigned)((2 * variables + THREADS - 1) / THREADS), THREADS, 0, stream)((uint4 *)out, *m, *w);
    const int e = cudaGetLastError();
    if (e != 0 || numbers == 0) return e;
    LAUNCH(k_expand_numbers, (unsigned)((2 * numbers + THREADS - 1) / THREADS), THREADS, 0, stream)((uint4 *)out, *m, *w);
    return cudaGetLastError();
}
