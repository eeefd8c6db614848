/* Eight 64-bit lanes: the vector type and the four instructions that C has no operator for.
 *
 * Only for CPUs where field_cpu_has_ifma() is true, in translation units compiled for avx512f and avx512ifma. */
#ifndef CUZK_FIELD_X86_64_LANES_H
#define CUZK_FIELD_X86_64_LANES_H

#include "base/dialect.h"

#include <immintrin.h>

typedef uint64_t lanes_u __attribute__((vector_size(64), may_alias));
typedef int64_t lanes_i __attribute__((vector_size(64), may_alias));

#define LANES      8
#define LANES_MASK (((uint64_t)1 << 52) - 1)

/* t + low or high 52 bits of the product of the low 52 bits of a and b */
DEV_FN lanes_u lanes_low(lanes_u t, lanes_u a, lanes_u b)
{
    return (lanes_u)_mm512_madd52lo_epu64((__m512i)t, (__m512i)a, (__m512i)b);
}

DEV_FN lanes_u lanes_high(lanes_u t, lanes_u a, lanes_u b)
{
    return (lanes_u)_mm512_madd52hi_epu64((__m512i)t, (__m512i)a, (__m512i)b);
}

DEV_FN lanes_u lanes_gather(lanes_u address) { return (lanes_u)_mm512_i64gather_epi64((__m512i)address, NULL, 1); }
DEV_FN void lanes_scatter(lanes_u address, lanes_u v) { _mm512_i64scatter_epi64(NULL, (__m512i)address, (__m512i)v, 1); }

#endif
