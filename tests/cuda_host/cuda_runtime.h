/* CUDA's dialect of C++ as far as cuzk's kernels use it, for a C++ compiler: see cuda_host.h. */
#ifndef CUZK_TESTS_CUDA_HOST_CUDA_RUNTIME_H
#define CUZK_TESTS_CUDA_HOST_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
#include <string.h>

/* before __noinline__ is a macro: the library has a use of its own for the word */
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#define __device__        __attribute__((unused))
#define __global__        __attribute__((unused))
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__   inline
#define __noinline__      __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
/* One section, so that all of it can be overwritten before a block starts; blocks run one after another. */
#define __shared__ static __attribute__((section("cuda_host_shared")))

/* -- vector types -- */

#define CUDA_HOST_VECTORS(type, name, align2, align4)                                                                   \
    struct name##1 { type x; };                                                                                         \
    struct alignas(align2) name##2 { type x, y; };                                                                      \
    struct name##3 { type x, y, z; };                                                                                   \
    struct alignas(align4) name##4 { type x, y, z, w; };                                                                \
    static inline name##2 make_##name##2(type x, type y) { return { x, y }; }                                           \
    static inline name##3 make_##name##3(type x, type y, type z) { return { x, y, z }; }                                \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return { x, y, z, w }; }
CUDA_HOST_VECTORS(signed char, char, 2, 4)
CUDA_HOST_VECTORS(unsigned char, uchar, 2, 4)
CUDA_HOST_VECTORS(short, short, 4, 8)
CUDA_HOST_VECTORS(unsigned short, ushort, 4, 8)
CUDA_HOST_VECTORS(int, int, 8, 16)
CUDA_HOST_VECTORS(unsigned, uint, 8, 16)
CUDA_HOST_VECTORS(long long, longlong, 16, 16)
CUDA_HOST_VECTORS(unsigned long long, ulonglong, 16, 16)
#undef CUDA_HOST_VECTORS

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* -- the running thread -- */

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
static const int warpSize = 32;

enum cuda_host_warp_op {
    CUDA_HOST_SYNC, CUDA_HOST_SHUFFLE, CUDA_HOST_BALLOT, CUDA_HOST_MATCH_ANY, CUDA_HOST_MATCH_ALL,
    CUDA_HOST_ADD, CUDA_HOST_MIN, CUDA_HOST_MAX, CUDA_HOST_MIN_SIGNED, CUDA_HOST_MAX_SIGNED, CUDA_HOST_AND, CUDA_HOST_OR, CUDA_HOST_XOR,
};
/* Waits for the lanes of mask to come to the same call (line is part of it), and gives this lane's result.  from: the lane to read. */
uint64_t cuda_host_warp(enum cuda_host_warp_op op, int line, uint32_t mask, uint64_t value, unsigned from);
/* Waits for the block; how many of its threads gave true, and whether any did not. */
unsigned cuda_host_block(int line, bool value);
unsigned cuda_host_lane(void);
void cuda_host_atomic(void);            /* another thread may run first */
void *cuda_host_dynamic_shared(void);
[[noreturn]] void cuda_host_trap(const char *what);

/* -- launches -- */

bool cuda_host_launch(const char *source, const char *name, const void *kernel, dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream, std::function<void()> thread,
                      const void *const *pointers, size_t pointer_count);

template <class T> struct cuda_host_same { typedef T type; };
template <class... P> struct cuda_host_launch_of {
    const char *source, *name;
    void (*kernel)(P...);
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    void operator()(typename cuda_host_same<P>::type... arguments) const
    {
        const void *pointers[sizeof...(P) + 1] = {};
        size_t n = 0;
        auto note = [&](auto a) {
            if constexpr (std::is_pointer_v<decltype(a)>) pointers[n++] = (const void *)a;
            else (void)a;
        };
        (note(arguments), ...);
        std::tuple<P...> kept(arguments...); /* as they are now */
        void (*const k)(P...) = kernel;
        cuda_host_launch(source, name, (const void *)kernel, grid, block, shared_bytes, stream, [k, kept] { std::apply(k, kept); }, pointers, n);
    }
};
template <class... P>
static inline cuda_host_launch_of<P...> cuda_host_launcher(const char *source, const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
                                                          size_t shared_bytes, const void *stream)
{
    return { source, name, kernel, grid, block, shared_bytes, (cudaStream_t)(uintptr_t)stream };
}
/* Which source's kernel it is: kernels of neutral names exist once for each curve and group. */
#define cuda_host_launcher(...) cuda_host_launcher(__BASE_FILE__, __VA_ARGS__)

template <class T> static inline cudaError_t cudaFuncSetAttribute(T *kernel, enum cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class T> static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *kernel, int threads, size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared_bytes);
}
template <class T> static inline cudaError_t cudaMalloc(T **p, size_t bytes) { return cudaMalloc((void **)(void *)p, bytes); }

/* -- barriers and warps; the default argument is the line of the call -- */

#define CUDA_HOST_HERE int line = __builtin_LINE()
static inline void __syncthreads(CUDA_HOST_HERE) { cuda_host_block(line, true); }
static inline int __syncthreads_count(int p, CUDA_HOST_HERE) { return (int)cuda_host_block(line, p != 0); }
static inline int __syncthreads_or(int p, CUDA_HOST_HERE) { return cuda_host_block(line, p != 0) != 0; }
static inline int __syncthreads_and(int p, CUDA_HOST_HERE) { return cuda_host_block(line, p == 0) == 0; }
static inline void __syncwarp(unsigned mask = 0xffffffffu, CUDA_HOST_HERE) { cuda_host_warp(CUDA_HOST_SYNC, line, mask, 0, 0); }
static inline unsigned __activemask(void) { return 1u << cuda_host_lane(); } /* nobody is promised company */
static inline unsigned __ballot_sync(unsigned mask, int p, CUDA_HOST_HERE) { return (unsigned)cuda_host_warp(CUDA_HOST_BALLOT, line, mask, p != 0, 0); }
static inline int __any_sync(unsigned mask, int p, CUDA_HOST_HERE) { return cuda_host_warp(CUDA_HOST_BALLOT, line, mask, p != 0, 0) != 0; }
static inline int __all_sync(unsigned mask, int p, CUDA_HOST_HERE) { return cuda_host_warp(CUDA_HOST_BALLOT, line, mask, p == 0, 0) == 0; }

template <class T> static inline T cuda_host_shuffle(unsigned mask, T v, unsigned from, int line)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");
    uint64_t word = 0;
    memcpy(&word, &v, sizeof v);
    word = cuda_host_warp(CUDA_HOST_SHUFFLE, line, mask, word, from);
    memcpy(&v, &word, sizeof v);
    return v;
}
template <class T> static inline T __shfl_sync(unsigned mask, T v, int from, int width = 32, CUDA_HOST_HERE)
{
    const unsigned lane = cuda_host_lane(), w = (unsigned)width;
    return cuda_host_shuffle(mask, v, (lane & ~(w - 1)) + ((unsigned)from & (w - 1)), line);
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T v, unsigned d, int width = 32, CUDA_HOST_HERE)
{
    const unsigned lane = cuda_host_lane(), w = (unsigned)width;
    return cuda_host_shuffle(mask, v, (lane & (w - 1)) < d ? lane : lane - d, line);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T v, unsigned d, int width = 32, CUDA_HOST_HERE)
{
    const unsigned lane = cuda_host_lane(), w = (unsigned)width;
    return cuda_host_shuffle(mask, v, (lane & (w - 1)) + d >= w ? lane : lane + d, line);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T v, int x, int width = 32, CUDA_HOST_HERE)
{
    const unsigned lane = cuda_host_lane(), w = (unsigned)width, to = lane ^ (unsigned)x;
    return cuda_host_shuffle(mask, v, (to & ~(w - 1)) > (lane & ~(w - 1)) ? lane : to, line);
}
template <class T> static inline unsigned __match_any_sync(unsigned mask, T v, CUDA_HOST_HERE)
{
    uint64_t word = 0;
    memcpy(&word, &v, sizeof v);
    return (unsigned)cuda_host_warp(CUDA_HOST_MATCH_ANY, line, mask, word, 0);
}
template <class T> static inline unsigned __match_all_sync(unsigned mask, T v, int *all, CUDA_HOST_HERE)
{
    uint64_t word = 0;
    memcpy(&word, &v, sizeof v);
    const unsigned r = (unsigned)cuda_host_warp(CUDA_HOST_MATCH_ALL, line, mask, word, 0);
    *all = r != 0;
    return r;
}
static inline unsigned __reduce_add_sync(unsigned mask, unsigned v, CUDA_HOST_HERE) { return (unsigned)cuda_host_warp(CUDA_HOST_ADD, line, mask, v, 0); }
static inline unsigned __reduce_min_sync(unsigned mask, unsigned v, CUDA_HOST_HERE) { return (unsigned)cuda_host_warp(CUDA_HOST_MIN, line, mask, v, 0); }
static inline unsigned __reduce_max_sync(unsigned mask, unsigned v, CUDA_HOST_HERE) { return (unsigned)cuda_host_warp(CUDA_HOST_MAX, line, mask, v, 0); }
static inline unsigned __reduce_and_sync(unsigned mask, unsigned v, CUDA_HOST_HERE) { return (unsigned)cuda_host_warp(CUDA_HOST_AND, line, mask, v, 0); }
static inline unsigned __reduce_or_sync(unsigned mask, unsigned v, CUDA_HOST_HERE) { return (unsigned)cuda_host_warp(CUDA_HOST_OR, line, mask, v, 0); }
static inline unsigned __reduce_xor_sync(unsigned mask, unsigned v, CUDA_HOST_HERE) { return (unsigned)cuda_host_warp(CUDA_HOST_XOR, line, mask, v, 0); }
static inline int __reduce_add_sync(unsigned mask, int v, CUDA_HOST_HERE) { return (int)cuda_host_warp(CUDA_HOST_ADD, line, mask, (unsigned)v, 0); }
static inline int __reduce_min_sync(unsigned mask, int v, CUDA_HOST_HERE) { return (int)cuda_host_warp(CUDA_HOST_MIN_SIGNED, line, mask, (unsigned)v, 0); }
static inline int __reduce_max_sync(unsigned mask, int v, CUDA_HOST_HERE) { return (int)cuda_host_warp(CUDA_HOST_MAX_SIGNED, line, mask, (unsigned)v, 0); }
#undef CUDA_HOST_HERE

/* -- atomics: threads run one at a time -- */

#define CUDA_HOST_ATOMIC(name, value)                                                                                   \
    template <class T> static inline T name(T *p, typename cuda_host_same<T>::type v)                                   \
    {                                                                                                                   \
        cuda_host_atomic();                                                                                             \
        const T old = *p;                                                                                               \
        *p = (T)(value);                                                                                                \
        return old;                                                                                                     \
    }                                                                                                                   \
    template <class T> static inline T name##_block(T *p, typename cuda_host_same<T>::type v) { return name(p, v); }
CUDA_HOST_ATOMIC(atomicAdd, old + v)
CUDA_HOST_ATOMIC(atomicSub, old - v)
CUDA_HOST_ATOMIC(atomicExch, v)
CUDA_HOST_ATOMIC(atomicMin, v < old ? v : old)
CUDA_HOST_ATOMIC(atomicMax, v > old ? v : old)
CUDA_HOST_ATOMIC(atomicAnd, old & v)
CUDA_HOST_ATOMIC(atomicOr, old | v)
CUDA_HOST_ATOMIC(atomicXor, old ^ v)
CUDA_HOST_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
CUDA_HOST_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
#undef CUDA_HOST_ATOMIC
template <class T> static inline T atomicCAS(T *p, typename cuda_host_same<T>::type expected, typename cuda_host_same<T>::type v)
{
    cuda_host_atomic();
    const T old = *p;
    if (old == expected) *p = v;
    return old;
}

static inline void __threadfence(void) {}
static inline void __threadfence_block(void) {}
static inline void __threadfence_system(void) {}
static inline void __nanosleep(unsigned) { cuda_host_atomic(); }
#define __trap() cuda_host_trap("__trap")

/* -- memory and bits -- */

#define CUDA_HOST_LOAD(name) \
    template <class T> static inline T name(const T *p) { return *p; }
CUDA_HOST_LOAD(__ldg) CUDA_HOST_LOAD(__ldca) CUDA_HOST_LOAD(__ldcg) CUDA_HOST_LOAD(__ldcs) CUDA_HOST_LOAD(__ldlu) CUDA_HOST_LOAD(__ldcv)
#undef CUDA_HOST_LOAD
#define CUDA_HOST_STORE(name) \
    template <class T> static inline void name(T *p, typename cuda_host_same<T>::type v) { *p = v; }
CUDA_HOST_STORE(__stwb) CUDA_HOST_STORE(__stcg) CUDA_HOST_STORE(__stcs) CUDA_HOST_STORE(__stwt)
#undef CUDA_HOST_STORE

static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned __brev(unsigned v)
{
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}
static inline unsigned long long __brevll(unsigned long long v)
{
    return (unsigned long long)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32));
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { return (unsigned)(((uint64_t)hi << 32 | lo) << (n & 31) >> 32); }
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { return (unsigned)(((uint64_t)hi << 32 | lo) >> (n & 31)); }
static inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) { return n < 32 ? __funnelshift_l(lo, hi, n) : lo; }
static inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) { return n < 32 ? __funnelshift_r(lo, hi, n) : hi; }
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
    const uint64_t all = (uint64_t)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned nibble = s >> 4 * i & 15;
        unsigned byte = (unsigned)(all >> 8 * (nibble & 7)) & 0xff;
        if (nibble & 8) byte = byte & 0x80 ? 0xff : 0; /* its sign */
        r |= byte << 8 * i;
    }
    return r;
}
template <class A, class B> static inline std::common_type_t<A, B> min(A a, B b)
{
    typedef std::common_type_t<A, B> C;
    return (C)b < (C)a ? (C)b : (C)a;
}
template <class A, class B> static inline std::common_type_t<A, B> max(A a, B b)
{
    typedef std::common_type_t<A, B> C;
    return (C)a < (C)b ? (C)b : (C)a;
}
#endif

#endif
