/* Which calls of the CUDA runtime wait for a kernel of another thread, or hold up a third thread's launches, on this card and driver. */
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/cuda_interlock.h"
#include "backend/cuda/interlock_kernels.h"
#include "base/clock.h"
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KERNEL_MS  200.0 /* of the kernel beside which a call is made */
#define HOLD_UP_MS 10.0  /* a launch that took longer was held up; undisturbed ones take 0.01 */
#define SETTLE_US  5000  /* from the kernel's launch to the call */
#define POOL_BYTES ((size_t)1 << 30)
#define CALL_BYTES ((size_t)64 << 20)

enum call {
    CALL_MALLOC,
    CALL_FREE,
    CALL_MALLOC_ASYNC,
    CALL_FREE_ASYNC,
    CALL_POOL_TRIM,
    CALL_HOST_ALLOC,
    CALL_FREE_HOST,
    CALL_HOST_REGISTER,
    CALL_HOST_UNREGISTER,
    CALL_DEVICE_SYNCHRONIZE,
    CALL_MEM_GET_INFO,
    CALL_COPY_PINNED,
    CALL_COPY_PAGEABLE,
    CALL_MEMSET,
    CALL_STREAM_CREATE,
    CALL_STREAM_DESTROY,
    CALL_EVENT_CREATE,
    CALL_EVENT_DESTROY,
    CALL_COUNT
};

static const char *const call_names[CALL_COUNT] = {
    "cudaMalloc, 64 MiB",
    "cudaFree, 64 MiB",
    "cudaMallocAsync, 64 MiB",
    "cudaFreeAsync, 64 MiB",
    "cudaMemPoolTrimTo, 1 GiB idle",
    "cudaHostAlloc, 64 MiB",
    "cudaFreeHost, 64 MiB",
    "cudaHostRegister, 64 MiB",
    "cudaHostUnregister, 64 MiB",
    "cudaDeviceSynchronize",
    "cudaMemGetInfo",
    "cudaMemcpyAsync, pinned, 64 MiB",
    "cudaMemcpyAsync, pageable, 64 MiB",
    "cudaMemsetAsync, 64 MiB",
    "cudaStreamCreate",
    "cudaStreamDestroy",
    "cudaEventCreate",
    "cudaEventDestroy",
};

struct table {
    unsigned device;
    cudaStream_t busy, side, third;
    cudaEvent_t ended;
    cudaMemPool_t pool;
    uint8_t *data, *target; /* device */
    uint8_t *pinned, *pageable;
    uint64_t *sum;   /* device */
    uint32_t rounds; /* of one block for KERNEL_MS */
    atomic_bool stop;
    double launch_ms; /* the slowest launch of the third thread */
    int launch_error;
    /* what a call works on: made before it, or by it */
    void *memory, *host;
    cudaStream_t stream;
    cudaEvent_t event;
};

static int prepare(struct table *x, enum call c)
{
    int e = 0;
    switch (c) {
    case CALL_FREE:
        return cudaMalloc(&x->memory, CALL_BYTES);
    case CALL_FREE_ASYNC:
        return cudaMallocAsync(&x->memory, CALL_BYTES, x->side);
    case CALL_POOL_TRIM: /* the pool keeps what it was given back */
        if ((e = cudaMallocAsync(&x->memory, POOL_BYTES, x->side)) != 0) return e;
        if ((e = cudaFreeAsync(x->memory, x->side)) != 0) return e;
        x->memory = NULL;
        return cudaStreamSynchronize(x->side);
    case CALL_FREE_HOST:
        return cudaHostAlloc(&x->host, CALL_BYTES, cudaHostAllocDefault);
    case CALL_HOST_UNREGISTER:
        return cudaHostRegister(x->pageable, CALL_BYTES, cudaHostRegisterDefault);
    case CALL_STREAM_DESTROY:
        return cudaStreamCreateWithFlags(&x->stream, cudaStreamNonBlocking);
    case CALL_EVENT_DESTROY:
        return cudaEventCreate(&x->event);
    default:
        return 0;
    }
}

static int make(struct table *x, enum call c)
{
    size_t free_bytes, all;
    switch (c) {
    case CALL_MALLOC:
        return cudaMalloc(&x->memory, CALL_BYTES);
    case CALL_FREE:
        return cudaFree(x->memory);
    case CALL_MALLOC_ASYNC:
        return cudaMallocAsync(&x->memory, CALL_BYTES, x->side);
    case CALL_FREE_ASYNC:
        return cudaFreeAsync(x->memory, x->side);
    case CALL_POOL_TRIM:
        return cudaMemPoolTrimTo(x->pool, 0);
    case CALL_HOST_ALLOC:
        return cudaHostAlloc(&x->host, CALL_BYTES, cudaHostAllocDefault);
    case CALL_FREE_HOST:
        return cudaFreeHost(x->host);
    case CALL_HOST_REGISTER:
        return cudaHostRegister(x->pageable, CALL_BYTES, cudaHostRegisterDefault);
    case CALL_HOST_UNREGISTER:
        return cudaHostUnregister(x->pageable);
    case CALL_DEVICE_SYNCHRONIZE:
        return cudaDeviceSynchronize();
    case CALL_MEM_GET_INFO:
        return cudaMemGetInfo(&free_bytes, &all);
    case CALL_COPY_PINNED:
        return cudaMemcpyAsync(x->target, x->pinned, CALL_BYTES, cudaMemcpyHostToDevice, x->side);
    case CALL_COPY_PAGEABLE:
        return cudaMemcpyAsync(x->target, x->pageable, CALL_BYTES, cudaMemcpyHostToDevice, x->side);
    case CALL_MEMSET:
        return cudaMemsetAsync(x->target, 0, CALL_BYTES, x->side);
    case CALL_STREAM_CREATE:
        return cudaStreamCreateWithFlags(&x->stream, cudaStreamNonBlocking);
    case CALL_STREAM_DESTROY:
        return cudaStreamDestroy(x->stream);
    case CALL_EVENT_CREATE:
        return cudaEventCreate(&x->event);
    default:
        return cudaEventDestroy(x->event);
    }
}

/* Takes back what make left. */
static int tidy(struct table *x, enum call c)
{
    switch (c) {
    case CALL_MALLOC:
        return cudaFree(x->memory);
    case CALL_MALLOC_ASYNC:
        return cudaFreeAsync(x->memory, x->side);
    case CALL_HOST_ALLOC:
        return cudaFreeHost(x->host);
    case CALL_HOST_REGISTER:
        return cudaHostUnregister(x->pageable);
    case CALL_STREAM_CREATE:
        return cudaStreamDestroy(x->stream);
    case CALL_EVENT_CREATE:
        return cudaEventDestroy(x->event);
    default:
        return 0;
    }
}

static void *third_thread(void *argument)
{
    struct table *x = argument;
    int e = cudaSetDevice((int)x->device);
    while (e == 0 && !atomic_load(&x->stop)) {
        const uint64_t since = clock_now_ns();
        e = interlock_launch(x->data, 32, 1, 1, x->sum + 1, x->third);
        const double ms = clock_ms_since(since);
        if (ms > x->launch_ms) x->launch_ms = ms;
        if (e == 0) e = cudaStreamSynchronize(x->third);
        usleep(200);
    }
    x->launch_error = e;
    return NULL;
}

static cuzk_status timed(struct table *x, struct task *t, enum call c, double *ms)
{
    const uint64_t since = clock_now_ns();
    const int e = make(x, c);
    *ms = clock_ms_since(since);
    return e == 0 ? CUZK_OK : cuda_fail(t, __FILE__, __LINE__, call_names[c], e);
}

/* The call beside a running kernel; also how long the kernel ran. */
static cuzk_status beside(struct table *x, struct task *t, enum call c, struct interlock_call *out)
{
    CU(t, interlock_launch(x->data, 32, x->rounds, 1, x->sum, x->busy));
    CU(t, cudaEventRecord(x->ended, x->busy));
    usleep(SETTLE_US);
    TRY(timed(x, t, c, &out->beside_ms));
    const int e = cudaEventQuery(x->ended);
    if (e != 0 && e != cudaErrorNotReady) return cuda_fail(t, __FILE__, __LINE__, "cudaEventQuery", e);
    (void)cudaGetLastError();
    out->waits = e == 0;
    return CUZK_OK;
}

static cuzk_status examine(struct table *x, struct task *t, enum call c, struct interlock_call *out)
{
    pthread_t third;
    memset(out, 0, sizeof *out);
    out->name = call_names[c];
    out->kernel_ms = KERNEL_MS;
    CU(t, prepare(x, c));
    TRY(timed(x, t, c, &out->alone_ms));
    CU(t, tidy(x, c));
    CU(t, cudaDeviceSynchronize());
    CU(t, prepare(x, c));
    x->launch_ms = 0;
    atomic_store(&x->stop, false);
    if (pthread_create(&third, NULL, third_thread, x) != 0)
        return FAIL(t, CUZK_NO_MEMORY, "no thread for the launches beside");
    const cuzk_status status = beside(x, t, c, out);
    (void)cudaStreamSynchronize(x->busy);
    atomic_store(&x->stop, true);
    pthread_join(third, NULL);
    TRY(status);
    CU(t, x->launch_error);
    CU(t, tidy(x, c));
    CU(t, cudaDeviceSynchronize());
    out->launch_ms = x->launch_ms;
    out->stalls = x->launch_ms >= HOLD_UP_MS;
    return CUZK_OK;
}

/* Rounds of one block for KERNEL_MS. */
static cuzk_status calibrate(struct table *x, struct task *t)
{
    cudaEvent_t start;
    float ms = 0;
    CU(t, cudaEventCreate(&start));
    int e = 0;
    for (int i = 0; i < 2 && e == 0; i++) { /* the first loads the kernel */
        if ((e = cudaEventRecord(start, x->busy)) != 0) break;
        if ((e = interlock_launch(x->data, 32, 1 << 16, 1, x->sum, x->busy)) != 0) break;
        if ((e = cudaEventRecord(x->ended, x->busy)) != 0) break;
        if ((e = cudaStreamSynchronize(x->busy)) != 0) break;
        e = cudaEventElapsedTime(&ms, start, x->ended);
    }
    (void)cudaEventDestroy(start);
    CU(t, e);
    const double rounds = ms > 0 ? KERNEL_MS / ms * (1 << 16) : 1 << 16;
    x->rounds = rounds > 1e9 ? 1000000000 : (uint32_t)rounds;
    return CUZK_OK;
}

static cuzk_status open_table(struct table *x, struct task *t)
{
    uint64_t keep = 2 * POOL_BYTES;
    CU(t, cudaSetDevice((int)x->device));
    CU(t, cudaStreamCreateWithFlags(&x->busy, cudaStreamNonBlocking));
    CU(t, cudaStreamCreateWithFlags(&x->side, cudaStreamNonBlocking));
    CU(t, cudaStreamCreateWithFlags(&x->third, cudaStreamNonBlocking));
    CU(t, cudaEventCreate(&x->ended));
    CU(t, cudaDeviceGetDefaultMemPool(&x->pool, (int)x->device));
    CU(t, cudaMemPoolSetAttribute(x->pool, cudaMemPoolAttrReleaseThreshold, &keep));
    CU(t, cudaMalloc((void **)&x->target, CALL_BYTES));
    CU(t, cudaMalloc((void **)&x->data, 4096));
    CU(t, cudaMalloc((void **)&x->sum, 2 * sizeof *x->sum));
    CU(t, cudaMemset(x->data, 0x5a, 4096));
    CU(t, cudaMemset(x->sum, 0, 2 * sizeof *x->sum));
    CU(t, cudaHostAlloc((void **)&x->pinned, CALL_BYTES, cudaHostAllocDefault));
    void *p = mmap(NULL, CALL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return FAIL(t, CUZK_NO_MEMORY, "no %zu bytes of host memory", CALL_BYTES);
    x->pageable = p;
    memset(x->pageable, 0x5a, CALL_BYTES);
    return calibrate(x, t);
}

static void close_table(struct table *x)
{
    uint64_t keep = 0;
    if (x->pool) (void)cudaMemPoolSetAttribute(x->pool, cudaMemPoolAttrReleaseThreshold, &keep);
    if (x->pageable) munmap(x->pageable, CALL_BYTES);
    (void)cudaFreeHost(x->pinned);
    (void)cudaFree(x->sum);
    (void)cudaFree(x->data);
    (void)cudaFree(x->target);
    if (x->ended) (void)cudaEventDestroy(x->ended);
    if (x->third) (void)cudaStreamDestroy(x->third);
    if (x->side) (void)cudaStreamDestroy(x->side);
    if (x->busy) (void)cudaStreamDestroy(x->busy);
}

cuzk_status cuda_interlock_calls(struct task *t, unsigned device,
                                 void (*call)(void *context, const struct interlock_call *call),
                                 void *context)
{
    struct table x;
    memset(&x, 0, sizeof x);
    x.device = device;
    cuzk_status status = open_table(&x, t);
    for (int c = 0; c < CALL_COUNT && status == CUZK_OK; c++) {
        struct interlock_call row;
        status = task_poll(t);
        if (status == CUZK_OK) status = examine(&x, t, (enum call)c, &row);
        if (status == CUZK_OK) call(context, &row);
    }
    close_table(&x);
    return status;
}
