/* The common dialect of C11, C++17 and CUDA C in which headers and *.inc.h bodies are written.
 *
 * Bodies use no designated initialisers, compound literals, restrict, VLAs or implicit conversions from void *, so that
 * one source compiles as C, C++ and device code. */
#ifndef CUZK_BASE_DIALECT_H
#define CUZK_BASE_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Built with a sanitizer (clang tells by __has_feature). */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZE_ADDRESS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZE_ADDRESS 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SANITIZE_THREAD 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZE_THREAD 1
#endif
#endif

/* DEV_FN inlines a field operation wherever it is used: right for speed, but each copy carries a sanitizer's checks, and
 * curve/bn254.c then takes minutes to compile instead of 4 s.  So sanitized builds leave inlining and unrolling to the compiler. */
#if defined(__CUDACC__)
#define DEV_FN     static __host__ __device__ __forceinline__
#define DEV_FN_BIG static __host__ __device__ __noinline__
#elif defined(SANITIZE_ADDRESS) || defined(SANITIZE_THREAD) || defined(CUZK_CUDA_EMULATED)
#define DEV_FN     static inline __attribute__((unused))
#define DEV_FN_BIG static __attribute__((noinline, unused))
#else
#define DEV_FN     static inline __attribute__((always_inline, unused))
#define DEV_FN_BIG static __attribute__((noinline, unused))
#endif

#if defined(__CUDACC__)
#define UNROLL _Pragma("unroll")
#elif defined(SANITIZE_ADDRESS) || defined(SANITIZE_THREAD) || defined(CUZK_CUDA_EMULATED)
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 16")
#else
#define UNROLL
#endif

#define MUST_CHECK                           __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))
#define ARRAY_COUNT(a)                       (sizeof(a) / sizeof((a)[0]))

#if defined(__cplusplus)
#define STATIC_ASSERT(cond, text) static_assert(cond, text)
#else
#define STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#endif

/* Token pasting after expansion: CAT(FE, _mul) -> bn254_fp_mul. */
#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)

#endif
