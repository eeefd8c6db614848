// The runtime: memory, streams as queues that run when somebody waits for them, events, errors on demand.
//
// One lock is held in every call, and by whoever runs the queues; a caller that waits runs them itself.
#include "cuda_host.h"
#include "cuda_host_block.h"

#include "base/dialect.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace {

enum { DEVICES_MAX = 8, DEFAULT_SHARED_BYTES = 48 << 10, FILL_BYTES_MAX = 32 << 20 };

struct event_state {
    uint64_t recorded = 0, done = 0; // how often it was recorded, and up to which record the queues have come
    cudaStream_t by = nullptr;       // of the last record
    double at_ms = 0;
};
typedef std::shared_ptr<event_state> event;

struct operation {
    std::function<void()> run;
    event waits_for; // until this record of it, which is in the queue of `by`
    uint64_t record;
    cudaStream_t by;
};

struct range {
    size_t bytes;
    int device;
    bool host;    // registered or allocated
    bool owned;   // cudaHostAlloc
};

enum policy { AT_ONCE, LATE, ANY, ANY_TIME };

} // namespace

struct CUstream_st {
    int device;
    bool blocking, destroyed = false;
    std::deque<operation> queue;
};
struct CUevent_st {
    event state;
    bool timing;
};

namespace {

struct world {
    std::mutex lock;
    cuda_host_config config;
    cuda_host_random random;
    policy how;
    std::vector<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
    cudaStream_t default_stream[DEVICES_MAX];
    std::map<uintptr_t, range> device, host;
    std::map<const void *, int> dynamic_shared; // as cudaFuncSetAttribute allowed
    size_t device_bytes[DEVICES_MAX];
    int dead; // the code of the error that ended the context
    unsigned long calls, kernels, fail_call, fail_kernel;
    int fail_call_code, fail_kernel_code;
    std::string report;
    std::set<std::string> launched; // "source kernel", whatever the device
    bool configured;
    unsigned opened; // device memory is accessible
};
world &w = *new world(); // outlives every thread

thread_local int last_error, current_device;

bool ends_context(int e)
{
    switch (e) {
    case cudaErrorIllegalAddress: case cudaErrorLaunchFailure: case cudaErrorECCUncorrectable: case cudaErrorNvlinkUncorrectable: case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction: case cudaErrorMisalignedAddress: case cudaErrorInvalidAddressSpace: case cudaErrorInvalidPc: case cudaErrorAssert:
    case cudaErrorLaunchTimeout: case cudaErrorContextIsDestroyed: return true;
    default: return false;
    }
}

void memory_access(int protection)
{
    if (w.config.guard_memory)
        for (auto &[at, r] : w.device) mprotect((void *)at, r.bytes, protection);
}
// While one exists, device memory can be touched.
struct opened_memory {
    opened_memory()
    {
        if (w.opened++ == 0) memory_access(PROT_READ | PROT_WRITE);
    }
    ~opened_memory()
    {
        if (--w.opened == 0) memory_access(PROT_NONE);
    }
};

double now_ms(void)
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

// The range of m that holds [p, p + bytes), or null.
range *find(std::map<uintptr_t, range> &m, const void *p, size_t bytes)
{
    auto it = m.upper_bound((uintptr_t)p);
    if (it == m.begin()) return nullptr;
    --it;
    const uintptr_t offset = (uintptr_t)p - it->first;
    return offset <= it->second.bytes && bytes <= it->second.bytes - offset && (offset < it->second.bytes || bytes == 0) ? &it->second : nullptr;
}

void forget(void)
{
    for (auto s : w.streams) delete s;
    for (auto e : w.events) delete e;
    for (auto &[at, r] : w.device) munmap((void *)at, r.bytes);
    for (auto &[at, r] : w.host)
        if (r.owned) free((void *)at);
    w.streams.clear();
    w.events.clear();
    w.device.clear();
    w.host.clear();
    w.dynamic_shared.clear();
    memset(w.device_bytes, 0, sizeof w.device_bytes);
    w.dead = 0;
    for (int i = 0; i < DEVICES_MAX; i++) w.streams.push_back(w.default_stream[i] = new CUstream_st{ i, true, false, {} });
}

void configure(const cuda_host_config &c)
{
    w.config = c;
    w.random.state = c.seed;
    w.how = (policy)(c.seed % 4);
    w.calls = w.kernels = w.fail_call = w.fail_kernel = 0;
    w.report.clear();
    w.configured = true;
    forget();
}

// -- queues --

bool can_run(cudaStream_t s)
{
    if (s->queue.empty()) return false;
    const operation &o = s->queue.front();
    return !o.waits_for || o.waits_for->done >= o.record;
}

void run_front(cudaStream_t s)
{
    const operation o = std::move(s->queue.front());
    s->queue.pop_front();
    if (o.run && !w.dead) o.run();
    if (s->destroyed && s->queue.empty()) {
        for (size_t i = 0; i < w.streams.size(); i++)
            if (w.streams[i] == s) w.streams.erase(w.streams.begin() + (long)i);
        delete s;
    }
}

bool exists(cudaStream_t s)
{
    for (auto x : w.streams)
        if (x == s) return true;
    return false;
}

// One operation that `s` waits for: its own first, or what that waits for.
void run_for(cudaStream_t s)
{
    for (;;) {
        if (can_run(s)) return run_front(s);
        s = s->queue.front().by;
    }
}

// One operation, of any stream (towards: which must advance in the end).
void run_some(cudaStream_t towards)
{
    if (w.how != LATE) {
        cudaStream_t ready[64];
        unsigned n = 0;
        for (auto s : w.streams)
            if (n < 64 && can_run(s)) ready[n++] = s;
        if (n) return run_front(ready[w.random.below(n)]);
    }
    run_for(towards);
}

// Operations that `s` holds now, to their end.
void drain(cudaStream_t s)
{
    opened_memory open;
    while (exists(s) && !s->queue.empty()) run_some(s);
}
void drain_all(void)
{
    opened_memory open;
    for (bool any = true; any;) {
        any = false;
        for (auto s : w.streams)
            if (!s->queue.empty()) {
                run_some(s);
                any = true;
                break;
            }
    }
}

void push(cudaStream_t s, operation o)
{
    s->queue.push_back(std::move(o));
    if (w.how == AT_ONCE) drain(s);
    if (w.how == ANY_TIME && w.random.below(4) == 0) {
        opened_memory open;
        run_some(s);
    }
}

// The stream that a handle means; work on the default stream waits for the blocking streams and is waited for.
cudaStream_t stream_of(cudaStream_t s)
{
    if (s) return exists(s) && !s->destroyed ? s : nullptr;
    for (auto x : std::vector<cudaStream_t>(w.streams))
        if (exists(x) && x->blocking) drain(x);
    return w.default_stream[current_device];
}

// -- errors --

cudaError_t set(int e)
{
    if (e != cudaSuccess) last_error = e;
    return (cudaError_t)e;
}

int driver_state(void)
{
    if (w.config.driver_version < CUDART_VERSION) return cudaErrorInsufficientDriver;
    if (w.config.device_count == 0) return cudaErrorNoDevice;
    return cudaSuccess;
}

// At the start of every call: 0 if it may go on.
int enter(void)
{
    if (!w.configured) configure(cuda_host_default());
    w.calls++;
    if (cuda_host_in_kernel()) {
        fprintf(stderr, "cuda_host: a kernel calls the runtime\n");
        abort();
    }
    if (w.fail_call && --w.fail_call == 0) {
        if (ends_context(w.fail_call_code)) w.dead = w.fail_call_code;
        return w.fail_call_code;
    }
    const int e = driver_state();
    return e ? e : w.dead;
}

bool no_kernel_image(void) { return 10 * w.config.major + w.config.minor < 75; }

} // namespace

#define CALL                                            \
    const std::lock_guard<std::mutex> hold(w.lock);     \
    if (const int entered = enter()) return set(entered)

extern "C" {

// -- control --

struct cuda_host_config cuda_host_default(void)
{
    const char *seed = getenv("CUZK_SEED");
    return { seed ? strtoull(seed, nullptr, 0) : 1, 1, 4, 9, 0, 227 << 10, (size_t)4 << 30, CUDART_VERSION, false };
}

void cuda_host_configure(const struct cuda_host_config *c)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    configure(*c);
    last_error = cudaSuccess;
    current_device = 0;
}

void cuda_host_fail_call(unsigned long n, int code)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    w.fail_call = n;
    w.fail_call_code = code;
}
void cuda_host_fail_kernel(unsigned long n, int code)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    w.fail_kernel = n;
    w.fail_kernel_code = code;
}
unsigned long cuda_host_call_count(void)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    return w.calls;
}
unsigned long cuda_host_kernel_count(void)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    return w.kernels;
}
struct cuda_host_usage cuda_host_used(void)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    struct cuda_host_usage u = { 0, w.host.size(), 0, w.events.size() };
    for (int i = 0; i < DEVICES_MAX; i++) u.device_bytes += w.device_bytes[i];
    for (auto s : w.streams) u.streams += !s->destroyed;
    u.streams -= w.configured ? DEVICES_MAX : 0;
    return u;
}
bool cuda_host_launched(const char *source, const char *kernel)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    return w.launched.count(std::string(source) + " " + kernel) != 0;
}
const char *cuda_host_report(void)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    return w.report.c_str();
}

// -- errors, devices --

const char *cudaGetErrorName(cudaError_t e)
{
    switch (e) {
#define NAME(name, value, text) case value: return #name;
        CUDA_HOST_ERRORS(NAME)
#undef NAME
    }
    return "unrecognized error code";
}
const char *cudaGetErrorString(cudaError_t e)
{
    switch (e) {
#define TEXT(name, value, text) case value: return text;
        CUDA_HOST_ERRORS(TEXT)
#undef TEXT
    }
    return "unrecognized error code";
}
cudaError_t cudaGetLastError(void)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    const int e = w.dead ? w.dead : last_error;
    last_error = cudaSuccess;
    return (cudaError_t)e;
}
cudaError_t cudaPeekAtLastError(void)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    return (cudaError_t)(w.dead ? w.dead : last_error);
}
cudaError_t cudaDriverGetVersion(int *version)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    if (!w.configured) configure(cuda_host_default());
    *version = w.config.driver_version;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count)
{
    CALL;
    *count = w.config.device_count;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device)
{
    CALL;
    *device = current_device;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device)
{
    CALL;
    if (device < 0 || device >= w.config.device_count) return set(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
cudaError_t cudaSetDeviceFlags(unsigned)
{
    CALL;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
    CALL;
    if (device < 0 || device >= w.config.device_count) return set(cudaErrorInvalidDevice);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "emulated GPU");
    out->totalGlobalMem = w.config.memory_bytes;
    out->sharedMemPerBlock = DEFAULT_SHARED_BYTES;
    out->sharedMemPerBlockOptin = w.config.shared_bytes;
    out->sharedMemPerMultiprocessor = w.config.shared_bytes + 1024;
    out->regsPerBlock = 65536;
    out->warpSize = 32;
    out->maxThreadsPerBlock = 1024;
    out->maxThreadsPerMultiProcessor = 2048;
    out->major = w.config.major;
    out->minor = w.config.minor;
    out->multiProcessorCount = w.config.sm_count;
    out->l2CacheSize = 50 << 20;
    out->pciBusID = device + 1;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    CALL;
    if (device < 0 || device >= w.config.device_count) return set(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = DEFAULT_SHARED_BYTES; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMultiProcessorCount: *value = w.config.sm_count; break;
    case cudaDevAttrL2CacheSize: *value = 50 << 20; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = w.config.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = w.config.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)w.config.shared_bytes + 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)w.config.shared_bytes; break;
    default: *value = 1000000; // clocks and widths
    }
    return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    CALL;
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *out, int size, int device)
{
    CALL;
    snprintf(out, (size_t)size, "0000:%02x:00.0", device + 1);
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void)
{
    CALL;
    drain_all();
    return set(w.dead);
}
cudaError_t cudaDeviceReset(void)
{
    CALL;
    drain_all();
    forget();
    return cudaSuccess;
}

// -- memory --

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    CALL;
    *total = w.config.memory_bytes;
    *free_bytes = w.config.memory_bytes - w.device_bytes[current_device];
    return cudaSuccess;
}
static cudaError_t device_allocate(void **p, size_t bytes)
{
    *p = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (bytes > w.config.memory_bytes - w.device_bytes[current_device]) return set(cudaErrorMemoryAllocation);
    const size_t size = (bytes + 4095) & ~(size_t)4095;
    void *at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return set(cudaErrorMemoryAllocation);
    madvise(at, size, MADV_HUGEPAGE);
    memset(at, 1 + (int)w.random.below(255), size < (size_t)FILL_BYTES_MAX ? size : (size_t)FILL_BYTES_MAX); // nobody promises zeros
    w.device[(uintptr_t)at] = { size, current_device, false, false };
    w.device_bytes[current_device] += size;
    if (w.opened == 0 && w.config.guard_memory) mprotect(at, size, PROT_NONE);
    *p = at;
    return cudaSuccess;
}
static cudaError_t device_release(void *p)
{
    auto it = w.device.find((uintptr_t)p);
    if (it == w.device.end()) return set(cudaErrorInvalidValue);
    w.device_bytes[it->second.device] -= it->second.bytes;
    munmap(p, it->second.bytes);
    w.device.erase(it);
    return cudaSuccess;
}
cudaError_t cudaMalloc(void **p, size_t bytes)
{
    CALL;
    return device_allocate(p, bytes);
}
cudaError_t cudaFree(void *p)
{
    CALL;
    if (!p) return cudaSuccess;
    drain_all();
    if (w.dead) return set(w.dead);
    return device_release(p);
}
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t s)
{
    CALL;
    if (!stream_of(s)) return set(cudaErrorInvalidResourceHandle);
    return device_allocate(p, bytes);
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t s)
{
    CALL;
    cudaStream_t to = stream_of(s);
    if (!to) return set(cudaErrorInvalidResourceHandle);
    push(to, { [p] { (void)device_release(p); }, nullptr, 0, nullptr });
    return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
    CALL;
    *pool = (cudaMemPool_t)&w.config;
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t)
{
    CALL;
    return set(pool == (cudaMemPool_t)&w.config ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr, void *value)
{
    CALL;
    return set(pool == (cudaMemPool_t)&w.config && value ? cudaSuccess : cudaErrorInvalidValue);
}
static cudaError_t host_allocate(void **p, size_t bytes)
{
    *p = nullptr;
    if (posix_memalign(p, 4096, bytes ? bytes : 1) != 0) return set(cudaErrorMemoryAllocation);
    w.host[(uintptr_t)*p] = { bytes, current_device, true, true };
    return cudaSuccess;
}
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned)
{
    CALL;
    return host_allocate(p, bytes);
}
cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    CALL;
    return host_allocate(p, bytes);
}
cudaError_t cudaFreeHost(void *p)
{
    CALL;
    auto it = w.host.find((uintptr_t)p);
    if (it == w.host.end() || !it->second.owned) return set(cudaErrorInvalidValue);
    drain_all();
    w.host.erase(it);
    free(p);
    return cudaSuccess;
}
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned)
{
    CALL;
    if (!p || bytes == 0) return set(cudaErrorInvalidValue);
    auto it = w.host.lower_bound((uintptr_t)p);
    if (find(w.host, p, 1) || (it != w.host.end() && it->first < (uintptr_t)p + bytes)) return set(cudaErrorHostMemoryAlreadyRegistered);
    w.host[(uintptr_t)p] = { bytes, current_device, true, false };
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void *p)
{
    CALL;
    auto it = w.host.find((uintptr_t)p);
    if (it == w.host.end() || it->second.owned) return set(cudaErrorHostMemoryNotRegistered);
    drain_all();
    w.host.erase(it);
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
    CALL;
    memset(out, 0, sizeof *out);
    out->device = current_device;
    if (const range *r = find(w.device, p, 1)) {
        out->type = cudaMemoryTypeDevice;
        out->device = r->device;
        out->devicePointer = (void *)(uintptr_t)p;
    } else if (find(w.host, p, 1)) {
        out->type = cudaMemoryTypeHost;
        out->devicePointer = out->hostPointer = (void *)(uintptr_t)p;
    }
    return cudaSuccess;
}

// -- copies --

// What a copy's address is, and whether the kind of copy allows it.
static bool fits(const void *p, size_t bytes, bool must_be_device, bool must_be_host)
{
    if (find(w.device, p, bytes)) return !must_be_host;
    return !must_be_device && !find(w.device, p, 1);
}

static cudaError_t copy_enqueue(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s)
{
    if (bytes == 0) return cudaSuccess;
    if (!fits(to, bytes, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) ||
        !fits(from, bytes, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost))
        return set(cudaErrorInvalidValue);
    const bool from_pageable = !find(w.device, from, bytes) && !find(w.host, from, bytes), to_pageable = !find(w.device, to, bytes) && !find(w.host, to, bytes);
    if (from_pageable) { // read before the call returns
        auto kept = std::make_shared<std::vector<uint8_t>>((const uint8_t *)from, (const uint8_t *)from + bytes);
        push(s, { [to, kept] { memcpy(to, kept->data(), kept->size()); }, nullptr, 0, nullptr });
    } else {
        push(s, { [to, from, bytes] { memmove(to, from, bytes); }, nullptr, 0, nullptr });
    }
    if (to_pageable) drain(s); // written before the call returns
    return set(w.dead);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s)
{
    CALL;
    cudaStream_t on = stream_of(s);
    return on ? copy_enqueue(to, from, bytes, kind, on) : set(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    CALL;
    cudaStream_t on = stream_of(nullptr);
    const cudaError_t e = copy_enqueue(to, from, bytes, kind, on);
    if (e == cudaSuccess) drain(on);
    return e != cudaSuccess ? e : set(w.dead);
}
static cudaError_t fill_enqueue(void *to, int value, size_t bytes, cudaStream_t s)
{
    if (bytes == 0) return cudaSuccess;
    if (!find(w.device, to, bytes) && !find(w.host, to, bytes)) return set(cudaErrorInvalidValue);
    push(s, { [to, value, bytes] { memset(to, value, bytes); }, nullptr, 0, nullptr });
    return set(w.dead);
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t s)
{
    CALL;
    cudaStream_t on = stream_of(s);
    return on ? fill_enqueue(to, value, bytes, on) : set(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    CALL;
    cudaStream_t on = stream_of(nullptr);
    const cudaError_t e = fill_enqueue(to, value, bytes, on);
    if (e == cudaSuccess) drain(on);
    return e != cudaSuccess ? e : set(w.dead);
}

// -- streams and events --

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
    CALL;
    *s = new CUstream_st{ current_device, !(flags & cudaStreamNonBlocking), false, {} };
    w.streams.push_back(*s);
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *s) { return cudaStreamCreateWithFlags(s, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int) { return cudaStreamCreateWithFlags(s, flags); }
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    CALL;
    if (!s || !exists(s) || s->destroyed) return set(cudaErrorInvalidResourceHandle);
    s->destroyed = true; // what it holds still runs
    if (s->queue.empty()) {
        s->queue.push_back({});
        run_front(s);
    }
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    CALL;
    cudaStream_t on = stream_of(s);
    if (!on) return set(cudaErrorInvalidResourceHandle);
    drain(on);
    return set(w.dead);
}
cudaError_t cudaStreamQuery(cudaStream_t s)
{
    CALL;
    cudaStream_t on = stream_of(s);
    if (!on) return set(cudaErrorInvalidResourceHandle);
    if (!on->queue.empty()) {
        opened_memory open;
        run_some(on);
        if (w.dead) return set(w.dead);
        return cudaErrorNotReady;
    }
    return set(w.dead);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
    CALL;
    *e = new CUevent_st{ std::make_shared<event_state>(), !(flags & cudaEventDisableTiming) };
    w.events.insert(*e);
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *e) { return cudaEventCreateWithFlags(e, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    CALL;
    if (!w.events.erase(e)) return set(cudaErrorInvalidResourceHandle);
    delete e;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    CALL;
    cudaStream_t on = stream_of(s);
    if (!on || !w.events.count(e)) return set(cudaErrorInvalidResourceHandle);
    event state = e->state;
    const uint64_t record = ++state->recorded;
    state->by = on;
    push(on, { [state, record] {
        if (record > state->done) state->done = record;
        state->at_ms = now_ms();
    }, nullptr, 0, nullptr });
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned)
{
    CALL;
    cudaStream_t on = stream_of(s);
    if (!on || !w.events.count(e)) return set(cudaErrorInvalidResourceHandle);
    if (e->state->done < e->state->recorded) push(on, { nullptr, e->state, e->state->recorded, e->state->by });
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e)
{
    CALL;
    if (!w.events.count(e)) return set(cudaErrorInvalidResourceHandle);
    if (e->state->done < e->state->recorded && !w.dead) {
        opened_memory open;
        run_some(e->state->by);
        if (!w.dead) return cudaErrorNotReady;
    }
    return set(w.dead);
}
cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    CALL;
    if (!w.events.count(e)) return set(cudaErrorInvalidResourceHandle);
    opened_memory open;
    const uint64_t record = e->state->recorded;
    while (e->state->done < record && !w.dead) run_some(e->state->by);
    return set(w.dead);
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    CALL;
    if (!w.events.count(from) || !w.events.count(to) || !from->timing || !to->timing) return set(cudaErrorInvalidResourceHandle);
    if (from->state->recorded == 0 || to->state->recorded == 0) return set(cudaErrorInvalidResourceHandle);
    if (from->state->done < from->state->recorded || to->state->done < to->state->recorded) return cudaErrorNotReady;
    *ms = (float)(to->state->at_ms - from->state->at_ms);
    return cudaSuccess;
}

// -- kernels --

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value)
{
    CALL;
    if (no_kernel_image()) return set(cudaErrorNoKernelImageForDevice);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || (size_t)value > w.config.shared_bytes) return set(cudaErrorInvalidValue);
    w.dynamic_shared[kernel] = value;
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int threads, size_t shared_bytes)
{
    CALL;
    const size_t by_threads = 2048 / (size_t)threads, by_shared = (w.config.shared_bytes + 1024) / (shared_bytes + 1024);
    *blocks = (int)(by_threads < by_shared ? by_threads : by_shared);
    return cudaSuccess;
}

} // extern "C"

namespace {

// "msm_sort k_scatter<8>" of ".../msm_sort.cu" and "(k_scatter<8>)".
std::string plain_name(const std::string &source, const std::string &name)
{
    const size_t slash = source.rfind('/'), from = slash == std::string::npos ? 0 : slash + 1;
    std::string out = source.substr(from, source.find('.', from) - from) + " ";
    for (const char c : name)
        if (!strchr("() ", c)) out += c;
    return out;
}

} // namespace

bool cuda_host_launch(const char *source, const char *name, const void *kernel, dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream, std::function<void()> thread,
                      const void *const *pointers, size_t pointer_count)
{
    const std::lock_guard<std::mutex> hold(w.lock);
    if (const int e = enter()) return set(e), false;
    if (no_kernel_image()) return set(cudaErrorNoKernelImageForDevice), false;
    cudaStream_t on = stream_of(stream);
    if (!on) return set(cudaErrorInvalidResourceHandle), false;
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (threads == 0 || threads > 1024 || block.z > 64 || (uint64_t)grid.x * grid.y * grid.z == 0 || grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535)
        return set(cudaErrorInvalidConfiguration), false;
    const auto allowed = w.dynamic_shared.find(kernel);
    if (shared_bytes > (allowed == w.dynamic_shared.end() ? (size_t)DEFAULT_SHARED_BYTES : (size_t)allowed->second)) return set(cudaErrorInvalidValue), false;
    std::vector<const void *> places(pointers, pointers + pointer_count);
    push(on, { [=] {
        std::string wrong;
        w.kernels++;
        if (w.fail_kernel && --w.fail_kernel == 0) {
            w.dead = w.fail_kernel_code;
            return;
        }
        for (size_t i = 0; i < places.size(); i++)
            if (places[i] && !find(w.device, places[i], 0) && !find(w.host, places[i], 0)) {
                w.report = std::string(name) + ": pointer argument " + std::to_string(i + 1) + " is neither in device nor in pinned memory";
                w.dead = cudaErrorIllegalAddress;
            }
        if (!w.dead) {
            wrong = cuda_host_run_grid(name, grid, block, shared_bytes, thread, w.random.next());
            if (wrong.empty()) {
                w.launched.insert(plain_name(source, name));
                return;
            }
            w.report = wrong;
            w.dead = cudaErrorLaunchTimeout;
        }
        fprintf(stderr, "cuda_host: %s\n", w.report.c_str());
    }, nullptr, 0, nullptr });
    return true;
}
