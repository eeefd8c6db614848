// The emulation of CUDA itself: right kernels give their result for every seed, and each kind of mistake shows.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" {
#include <cmocka.h>
}

#include "cuda_host.h"
#include "cuda_pipeline_primitives.h"
#include "backend/cuda/launch.h"

#include <thread>

enum { N = 256, SEEDS = 24 };

#define OK(call) assert_int_equal(call, cudaSuccess)

static void configure(uint64_t seed)
{
    struct cuda_host_config c = cuda_host_default();
    c.seed = seed;
    c.memory_bytes = 16 << 20;
    c.guard_memory = true;
    cuda_host_configure(&c);
}

struct fixture {
    cudaStream_t stream;
    uint32_t *device, *pinned;
    fixture(uint64_t seed)
    {
        configure(seed);
        OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        OK(cudaMalloc(&device, 4 * N * sizeof *device));
        OK(cudaMallocHost((void **)&pinned, 4 * N * sizeof *pinned));
        for (uint32_t i = 0; i < 4 * N; i++) pinned[i] = i * i + 7;
    }
    void fetch(size_t n)
    {
        OK(cudaMemcpyAsync(pinned, device, n * sizeof *pinned, cudaMemcpyDeviceToHost, stream));
        OK(cudaStreamSynchronize(stream));
    }
};

// For how many seeds it is right.
static int right_seeds(bool (*one)(uint64_t seed))
{
    int right = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) right += one(seed);
    return right;
}

// -- what must work --

// Sum of squares over the block: warps by shuffles, then shared memory.
static __global__ void k_sum(uint32_t *out, const uint32_t *in)
{
    __shared__ uint32_t of_warp[N / 32];
    SHARED_DYNAMIC(uint32_t, copy);
    __pipeline_memcpy_async(&copy[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    uint32_t v = copy[threadIdx.x];
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        v = 0;
        for (int i = 0; i < N / 32; i++) v += of_warp[i];
        out[blockIdx.x] = v;
    }
}
static bool sum_is_right(uint64_t seed)
{
    fixture f(seed);
    uint32_t expected = 0;
    for (uint32_t i = 0; i < N; i++) expected += f.pinned[i];
    OK(cudaMemcpyAsync(f.device, f.pinned, N * 4, cudaMemcpyHostToDevice, f.stream));
    LAUNCH(k_sum, 3, N, N * 4, f.stream)(f.device + N, f.device);
    OK(cudaGetLastError());
    OK(cudaMemcpyAsync(f.pinned, f.device + N, 12, cudaMemcpyDeviceToHost, f.stream));
    OK(cudaStreamSynchronize(f.stream));
    return f.pinned[0] == expected && f.pinned[1] == expected && f.pinned[2] == expected;
}

static __global__ void k_warp(uint32_t *out)
{
    const uint32_t t = threadIdx.x, lane = t & 31;
    uint32_t ok = __ballot_sync(0xffffffffu, lane % 3 == 0) == 0x49249249u;
    ok &= __any_sync(0xffffffffu, lane == 5) && !__any_sync(0xffffffffu, lane == 77);
    ok &= __all_sync(0xffffffffu, lane < 32) && !__all_sync(0xffffffffu, lane < 31);
    ok &= __shfl_sync(0xffffffffu, t, 9) == (t & ~31u) + 9;
    ok &= __shfl_up_sync(0xffffffffu, t, 2, 8) == (lane % 8 < 2 ? t : t - 2);
    ok &= __shfl_xor_sync(0xffffffffu, (uint64_t)t << 33, 1) == (uint64_t)(t ^ 1) << 33;
    ok &= __match_any_sync(0xffffffffu, lane / 16) == (lane < 16 ? 0xffffu : 0xffff0000u);
    ok &= __reduce_add_sync(0xffffffffu, lane) == 496 && __reduce_max_sync(0xffffffffu, lane) == 31 && __reduce_min_sync(0xffffffffu, -(int)lane) == -31;
    if (lane & 1) ok &= __shfl_sync(0xaaaaaaaau, t, 3) == (t & ~31u) + 3; // half of a warp
    else ok &= __reduce_or_sync(0x55555555u, lane) == 30;
    __syncwarp();
    int all = 1;
    ok &= __match_all_sync(0xffffffffu, lane, &all) == 0 && all == 0;
    ok &= __syncthreads_count(lane == 0) == (int)blockDim.x / 32;
    ok &= __syncthreads_or(t == 7) != 0;
    ok &= __syncthreads_and(t != 7) == 0;
    ok &= __clz(1) == 31 && __popc(0xf0f0u) == 8 && __brev(1) == 0x80000000u && __ffs(8) == 4 && __byte_perm(0x33221100u, 0x77665544u, 0x7421u) == 0x77442211u;
    ok &= __funnelshift_r(0x80000000u, 1, 31) == 3 && __funnelshift_l(0x80000000u, 1, 1) == 3 && __umulhi(0x80000000u, 6) == 3;
    if (t & 1) return; // lanes that have ended are not waited for
    ok &= __shfl_sync(0xffffffffu, t, 4) == (t & ~31u) + 4;
    out[t / 2] = ok;
}
static bool warp_is_right(uint64_t seed)
{
    fixture f(seed);
    LAUNCH(k_warp, 1, N, 0, f.stream)(f.device);
    f.fetch(N / 2);
    for (int i = 0; i < N / 2; i++)
        if (f.pinned[i] != 1) return false;
    return true;
}

static __global__ void k_count(uint32_t *out) { atomicAdd(&out[threadIdx.x % 8], 1); }
static bool count_is_right(uint64_t seed)
{
    fixture f(seed);
    OK(cudaMemsetAsync(f.device, 0, 32, f.stream));
    LAUNCH(k_count, dim3(2, 3), N, 0, f.stream)(f.device);
    f.fetch(8);
    for (int i = 0; i < 8; i++)
        if (f.pinned[i] != 6 * N / 8) return false;
    return true;
}

static void right_kernels(void **)
{
    assert_int_equal(right_seeds(sum_is_right), SEEDS);
    assert_int_equal(right_seeds(warp_is_right), SEEDS);
    assert_int_equal(right_seeds(count_is_right), SEEDS);
}

// -- mistakes in a kernel --

static __global__ void k_neighbour(uint32_t *out, bool barrier)
{
    __shared__ uint32_t s[N];
    s[threadIdx.x] = threadIdx.x;
    if (barrier) __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x + 1) % N];
}
template <bool BARRIER> static bool neighbour_is_right(uint64_t seed)
{
    fixture f(seed);
    LAUNCH(k_neighbour, 1, N, 0, f.stream)(f.device, BARRIER);
    f.fetch(N);
    for (uint32_t i = 0; i < N; i++)
        if (f.pinned[i] != (i + 1) % N) return false;
    return true;
}
static __global__ void k_add_unguarded(uint32_t *out)
{
    __shared__ uint32_t s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    const uint32_t v = s;
    __syncwarp();
    s = v + 1;
    __syncthreads();
    if (threadIdx.x == 0) *out = s;
}
static bool add_is_right(uint64_t seed)
{
    fixture f(seed);
    LAUNCH(k_add_unguarded, 1, N, 0, f.stream)(f.device);
    f.fetch(1);
    return f.pinned[0] == N;
}
static __global__ void k_uninitialised(uint32_t *out, bool dynamic)
{
    __shared__ uint32_t s[N];
    SHARED_DYNAMIC(uint32_t, d);
    if (threadIdx.x % 2) s[threadIdx.x] = d[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = dynamic ? d[threadIdx.x] : s[threadIdx.x];
}
template <bool DYNAMIC> static bool uninitialised_is_zero(uint64_t seed)
{
    fixture f(seed);
    LAUNCH(k_uninitialised, 1, N, N * 4, f.stream)(f.device, DYNAMIC);
    f.fetch(N);
    for (uint32_t i = 0; i < N; i += 2)
        if (f.pinned[i] != 0) return false;
    return true;
}
static __global__ void k_block_order(uint32_t *p)
{
    if (threadIdx.x == 0) p[blockIdx.x] = blockIdx.x ? p[blockIdx.x - 1] + 1 : 0;
}
static bool block_order_is_right(uint64_t seed)
{
    fixture f(seed);
    LAUNCH(k_block_order, 16, 32, 0, f.stream)(f.device);
    f.fetch(16);
    return f.pinned[15] == 15;
}

static void wrong_kernels(void **)
{
    assert_int_equal(right_seeds(neighbour_is_right<true>), SEEDS);
    assert_int_equal(right_seeds(neighbour_is_right<false>), 0);
    assert_int_equal(right_seeds(add_is_right), 0);
    assert_int_equal(right_seeds(uninitialised_is_zero<false>), 0);
    assert_int_equal(right_seeds(uninitialised_is_zero<true>), 0);
    assert_in_range(right_seeds(block_order_is_right), 0, SEEDS / 4);
}

static __global__ void k_half_waits(uint32_t *out)
{
    if (threadIdx.x < N / 2) __syncthreads();
    out[threadIdx.x] = 1;
}
static __global__ void k_lanes_part(uint32_t *out)
{
    uint32_t v = threadIdx.x;
    if (threadIdx.x & 1) v = __shfl_xor_sync(0xffffffffu, v, 1);
    else v = __ballot_sync(0xffffffffu, v);
    out[threadIdx.x] = v;
}
static __global__ void k_warp_part(uint32_t *out)
{
    if (threadIdx.x & 1) __syncthreads();
    else __syncwarp();
    out[threadIdx.x] = 1;
}
static __global__ void k_far(uint32_t *out) { out[threadIdx.x] = 1; }

static void ends_with(void (*launch)(fixture *), int code, const char *words)
{
    for (uint64_t seed = 0; seed < 8; seed++) {
        fixture f(seed);
        launch(&f);
        assert_int_equal(cudaStreamSynchronize(f.stream), code);
        assert_int_equal(cudaMemsetAsync(f.device, 0, 4, f.stream), code); // from now on
        assert_int_equal(cudaGetLastError(), code);
        if (!strstr(cuda_host_report(), words)) fail_msg("'%s' does not say '%s'", cuda_host_report(), words);
        assert_true(sum_is_right(seed)); // a fresh device has forgotten it
    }
}
static void reports(void **)
{
    ends_with([](fixture *f) { LAUNCH(k_half_waits, 1, N, 0, f->stream)(f->device); }, cudaErrorLaunchTimeout, "for ever");
    ends_with([](fixture *f) { LAUNCH(k_lanes_part, 1, N, 0, f->stream)(f->device); }, cudaErrorLaunchTimeout, "different calls");
    ends_with([](fixture *f) { LAUNCH(k_warp_part, 1, N, 0, f->stream)(f->device); }, cudaErrorLaunchTimeout, "for ever");
    ends_with([](fixture *f) { uint32_t on_host[N]; LAUNCH(k_far, 1, N, 0, f->stream)(on_host); }, cudaErrorIllegalAddress, "pointer argument 1");
}

static void launch_limits(void **)
{
    fixture f(1);
    LAUNCH(k_far, 0, N, 0, f.stream)(f.device);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    LAUNCH(k_far, 1, 1025, 0, f.stream)(f.device);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    LAUNCH(k_far, 1, N, 49153, f.stream)(f.device);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(k_far, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    LAUNCH(k_far, 1, N, 100000, f.stream)(f.device);
    OK(cudaGetLastError());
    assert_int_equal(cudaFuncSetAttribute(k_far, cudaFuncAttributeMaxDynamicSharedMemorySize, (227 << 10) + 1), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpyAsync(f.device + 4 * N, f.pinned, 1 << 16, cudaMemcpyHostToDevice, f.stream), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpyAsync(f.pinned, f.device, 64, cudaMemcpyHostToDevice, f.stream), cudaErrorInvalidValue);
    void *p;
    assert_int_equal(cudaMalloc(&p, 17 << 20), cudaErrorMemoryAllocation);
    assert_int_equal(cudaHostRegister(f.pinned + 8, 64, 0), cudaErrorHostMemoryAlreadyRegistered);
}

// -- mistakes with streams --

template <bool WAIT> static bool stage_is_right(uint64_t seed)
{
    fixture f(seed);
    cudaEvent_t copied;
    OK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
    f.pinned[0] = 5;
    OK(cudaMemcpyAsync(f.device, f.pinned, 4, cudaMemcpyHostToDevice, f.stream));
    OK(cudaEventRecord(copied, f.stream));
    if (WAIT) OK(cudaEventSynchronize(copied));
    f.pinned[0] = 6;
    OK(cudaMemcpyAsync(f.device + 1, f.pinned, 4, cudaMemcpyHostToDevice, f.stream));
    OK(cudaStreamSynchronize(f.stream));
    f.fetch(2);
    return f.pinned[0] == 5 && f.pinned[1] == 6;
}
template <bool EVENT> static bool two_streams_are_right(uint64_t seed)
{
    fixture f(seed);
    cudaStream_t other;
    cudaEvent_t written;
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
    OK(cudaMemsetAsync(f.device, 1, 4, f.stream));
    OK(cudaStreamSynchronize(f.stream));
    OK(cudaMemsetAsync(f.device, 2, 4, other));
    OK(cudaEventRecord(written, other));
    if (EVENT) OK(cudaStreamWaitEvent(f.stream, written, 0));
    f.fetch(1);
    return f.pinned[0] == 0x02020202u;
}
static void streams(void **)
{
    assert_int_equal(right_seeds(stage_is_right<true>), SEEDS);
    assert_in_range(right_seeds(stage_is_right<false>), 1, SEEDS * 2 / 3);
    assert_int_equal(right_seeds(two_streams_are_right<true>), SEEDS);
    assert_in_range(right_seeds(two_streams_are_right<false>), 1, SEEDS * 2 / 3);
}

static void host_threads(void **)
{
    configure(3);
    bool right[3] = {};
    std::thread threads[3];
    for (int k = 0; k < 3; k++)
        threads[k] = std::thread([k, &right] {
            cudaStream_t s;
            uint32_t *d, *h;
            if (cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) || cudaMalloc(&d, 8 * N) || cudaMallocHost((void **)&h, 4 * N)) return;
            bool all = true;
            for (uint32_t round = 0; round < 20; round++) {
                uint32_t expected = 0;
                for (uint32_t i = 0; i < N; i++) expected += h[i] = i * round + (uint32_t)k;
                (void)cudaMemcpyAsync(d, h, 4 * N, cudaMemcpyHostToDevice, s);
                LAUNCH(k_sum, 1, N, N * 4, s)(d + N, d);
                (void)cudaMemcpyAsync(h, d + N, 4, cudaMemcpyDeviceToHost, s);
                all &= cudaStreamSynchronize(s) == cudaSuccess && h[0] == expected;
            }
            right[k] = all;
        });
    for (auto &t : threads) t.join();
    for (int k = 0; k < 3; k++) assert_true(right[k]);
}

// -- faults on demand --

static void faults(void **)
{
    fixture f(5);
    cuda_host_fail_call(2, cudaErrorMemoryAllocation);
    OK(cudaMemsetAsync(f.device, 0, 4, f.stream));
    assert_int_equal(cudaMemsetAsync(f.device, 0, 4, f.stream), cudaErrorMemoryAllocation);
    OK(cudaMemsetAsync(f.device, 0, 4, f.stream));
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    OK(cudaGetLastError());
    cuda_host_fail_kernel(1, cudaErrorECCUncorrectable);
    LAUNCH(k_far, 1, N, 0, f.stream)(f.device);
    assert_int_equal(cudaStreamSynchronize(f.stream), cudaErrorECCUncorrectable);
    assert_int_equal(cudaFree(f.device), cudaErrorECCUncorrectable);

    struct cuda_host_config c = cuda_host_default();
    int n;
    c.driver_version = 0;
    cuda_host_configure(&c);
    assert_int_equal(cudaGetDeviceCount(&n), cudaErrorInsufficientDriver);
    c = cuda_host_default();
    c.device_count = 0;
    cuda_host_configure(&c);
    assert_int_equal(cudaGetDeviceCount(&n), cudaErrorNoDevice);
}

static void guarded_memory(void **)
{
    fixture f(1);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr)) _exit(0);
        f.device[0] = 1;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(right_kernels), cmocka_unit_test(wrong_kernels), cmocka_unit_test(reports), cmocka_unit_test(launch_limits),
        cmocka_unit_test(streams), cmocka_unit_test(host_threads), cmocka_unit_test(faults), cmocka_unit_test(guarded_memory),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
