/* 32-bit arithmetic with a carry flag: PTX instructions on the device, the same operations emulated on the host.  And a copy to shared memory.
 *
 * The device keeps the flag in its condition-code register, so calls that belong to one chain must follow each other without
 * other arithmetic between them; `volatile` keeps their order.  The host emulation lets CI run the device's own field code. */
#ifndef CUZK_BACKEND_CUDA_CARRY_H
#define CUZK_BACKEND_CUDA_CARRY_H

#include "base/dialect.h"

#if defined(__CUDACC__)
#define NOT_UNROLLED _Pragma("unroll 1")
#else
#define NOT_UNROLLED
#endif

/* -1 as a number that ptxas cannot know.  Where it sees that a factor is a negated word, ptxas 13.0 splits every wide product with
 * that factor in two instructions (half again the multiplier's time); a real product by this hides the negation. */
#if defined(__CUDACC__)
static __constant__ uint32_t opaque_in_memory = 0xffffffffu;
#endif
#if defined(__CUDA_ARCH__)
#define opaque_minus_one opaque_in_memory
#else
#define opaque_minus_one 0xffffffffu
#endif

#if !defined(__CUDA_ARCH__)
static thread_local uint32_t carry_flag;
DEV_FN uint32_t carry_keep(uint64_t t)
{
    carry_flag = (uint32_t)(t >> 32);
    return (uint32_t)t;
}
DEV_FN uint32_t borrow_keep(uint64_t t)
{
    carry_flag = (uint32_t)(t >> 32) & 1;
    return (uint32_t)t;
}
DEV_FN uint32_t high_word(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
#define CARRY_2(name, ptx, host) \
    DEV_FN uint32_t name(uint32_t a, uint32_t b) { return host; }
#define CARRY_3(name, ptx, host) \
    DEV_FN uint32_t name(uint32_t a, uint32_t b, uint32_t c) { return host; }
#else
#define CARRY_2(name, ptx, host)                                                          \
    DEV_FN uint32_t name(uint32_t a, uint32_t b)                                          \
    {                                                                                     \
        uint32_t r;                                                                       \
        asm volatile(ptx " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                      \
        return r;                                                                         \
    }
#define CARRY_3(name, ptx, host)                                                          \
    DEV_FN uint32_t name(uint32_t a, uint32_t b, uint32_t c)                              \
    {                                                                                     \
        uint32_t r;                                                                       \
        asm volatile(ptx " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));          \
        return r;                                                                         \
    }
#endif

/* One line an instruction: name, PTX, what it means.  _cc leaves the flag, c_ takes it. */
CARRY_2(mul_lo, "mul.lo.u32", a * b)
CARRY_2(mul_hi, "mul.hi.u32", high_word(a, b))
CARRY_2(add_cc, "add.cc.u32", carry_keep((uint64_t)a + b))
CARRY_2(addc_cc, "addc.cc.u32", carry_keep((uint64_t)a + b + carry_flag))
CARRY_2(addc, "addc.u32", a + b + carry_flag)
CARRY_2(sub_cc, "sub.cc.u32", borrow_keep((uint64_t)a - b))
CARRY_2(subc_cc, "subc.cc.u32", borrow_keep((uint64_t)a - b - carry_flag))
CARRY_2(subc, "subc.u32", a - b - carry_flag)
CARRY_3(mad_lo_cc, "mad.lo.cc.u32", carry_keep((uint64_t)(a * b) + c))
CARRY_3(madc_lo_cc, "madc.lo.cc.u32", carry_keep((uint64_t)(a * b) + c + carry_flag))
CARRY_3(madc_hi_cc, "madc.hi.cc.u32", carry_keep((uint64_t)high_word(a, b) + c + carry_flag))
CARRY_3(madc_hi, "madc.hi.u32", high_word(a, b) + c + carry_flag)
#undef CARRY_2
#undef CARRY_3

#if defined(__CUDACC__) || defined(CUZK_CUDA_EMULATED)
#include <cuda_pipeline_primitives.h>

/* As __pipeline_memcpy_async of 16 bytes, but through the level 1 cache: for neighbouring vectors that one thread asks for one by one and
 * that share sectors of 32 bytes. */
static __device__ __forceinline__ void copy_async_cached(void *shared, const void *global)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(shared)), "l"(__cvta_generic_to_global(global)) : "memory");
#else
    __pipeline_memcpy_async(shared, global, 16);
#endif
}
#endif

#endif
