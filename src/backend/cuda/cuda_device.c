/* The CUDA backend: devices, the arena, streams, copies and errors.
 *
 * All device memory is one allocation made when the device is opened, all pinned memory one registered block.  After that nothing here
 * makes a call that acts on the whole device, MEM_LOCKED buffers apart: no allocation, no registration, no device-wide wait, no default
 * stream.
 * Pageable memory is copied through pinned stages. */
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/cuda_interlock.h"

#include "base/arena.h"
#if defined(CUZK_CUDA_EMULATED) && defined(SANITIZE_ADDRESS)
#include <sanitizer/asan_interface.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef CUZK_CUDA_TARGETS
#define CUZK_CUDA_TARGETS "as nvcc was told"
#endif

enum { MARGIN_BYTES = 1 << 30 }; /* left to the driver, which keeps the stacks of all resident threads there, and to other programs */

/* -- errors -- */

static bool context_is_lost(int code)
{
    switch (code) {
    case cudaErrorIllegalAddress: case cudaErrorLaunchFailure: case cudaErrorECCUncorrectable: case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction: case cudaErrorMisalignedAddress: case cudaErrorInvalidAddressSpace: case cudaErrorInvalidPc:
    case cudaErrorAssert: case cudaErrorLaunchTimeout: case cudaErrorNvlinkUncorrectable: case cudaErrorContextIsDestroyed:
    case cudaErrorCudartUnloading: return true;
    default: return false;
    }
}

cuzk_status cuda_fail(struct task *t, const char *file, int line, const char *call, int code)
{
    const char *text = cudaGetErrorString((cudaError_t)code), *name = cudaGetErrorName((cudaError_t)code);
    (void)cudaGetLastError(); /* so that the next check reports its own error */
    switch (code) {
    case cudaErrorMemoryAllocation:
        return task_fail(t, file, line, CUZK_NO_MEMORY, "the GPU has not enough memory now (%s in %s)", name, call);
    case cudaErrorInsufficientDriver:
        task_fail(t, file, line, CUZK_DEVICE_UNAVAILABLE, "there is no NVIDIA driver, or it is older than CUDA %d.%d needs", CUDART_VERSION / 1000,
                  CUDART_VERSION % 1000 / 10);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL, "install or update the NVIDIA driver; nvidia-smi shows its version");
        return CUZK_DEVICE_UNAVAILABLE;
    case cudaErrorNoDevice: return task_fail(t, file, line, CUZK_DEVICE_UNAVAILABLE, "there is no NVIDIA GPU that this process can see");
    case cudaErrorInvalidDevice: return task_fail(t, file, line, CUZK_DEVICE_UNAVAILABLE, "there is no such GPU (%s)", name);
    case cudaErrorNoKernelImageForDevice:
        return task_fail(t, file, line, CUZK_DEVICE_UNAVAILABLE, "this build has no code for the GPU's architecture");
    default:
        if (context_is_lost(code))
            return task_fail(t, file, line, CUZK_DEVICE_LOST, "the GPU's context is lost: %s (%s in %s)", text, name, call);
        return task_fail(t, file, line, CUZK_INTERNAL, "%s (%s in %s)", text, name, call);
    }
}

cuzk_status cuda_enter(struct task *t, const struct device *d)
{
    (void)cudaGetLastError(); /* a launch is checked by it: what a call left there whose failure did not matter is not the launch's */
    CU(t, cudaSetDevice((int)d->index));
    return CUZK_OK;
}

/* -- devices -- */

/* Kernels are loaded when the context is made: loading one at its first launch would stall every stream. */
static void load_eagerly(void) { setenv("CUDA_MODULE_LOADING", "EAGER", 0); }

static cuzk_status describe(struct task *t, unsigned index, struct device_info *out)
{
    struct cudaDeviceProp p;
    memset(out, 0, sizeof *out);
    CU(t, cudaGetDeviceProperties(&p, (int)index));
    snprintf(out->backend, sizeof out->backend, "cuda");
    out->index = index;
    snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, p.name);
    snprintf(out->variant, sizeof out->variant, "sm_%d%d", p.major, p.minor);
    out->memory_bytes = p.totalGlobalMem;
    out->unit_count = (unsigned)p.multiProcessorCount;
    return CUZK_OK;
}

static cuzk_status cuda_probe(struct task *t, struct device_info *out, size_t max, size_t *count)
{
    int n = 0;
    load_eagerly();
    *count = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess) {
        (void)cudaGetLastError();
        return CUZK_OK;
    }
    for (int i = 0; i < n && (size_t)i < max; i++) TRY(describe(t, (unsigned)i, &out[i]));
    *count = (size_t)n;
    return CUZK_OK;
}

/* Where AddressSanitizer watches an emulated device, bytes of the arena that nobody has taken must not be touched. */
static void region_mark(const struct device *d, const struct block_list *l, uint64_t offset, uint64_t bytes, bool taken)
{
#if defined(CUZK_CUDA_EMULATED) && defined(SANITIZE_ADDRESS)
    if (l != &d->arena_list) return;
    if (taken) ASAN_UNPOISON_MEMORY_REGION(d->arena + offset, bytes);
    else ASAN_POISON_MEMORY_REGION(d->arena + offset, bytes);
#else
    (void)d;
    (void)l;
    (void)offset;
    (void)bytes;
    (void)taken;
#endif
}

static void cuda_close(struct device *d)
{
    if (!d) return;
    if (d->arena) region_mark(d, &d->arena_list, 0, d->arena_bytes, true);
    if (cudaSetDevice((int)d->index) == cudaSuccess) {
        if (d->zero) (void)cudaEventDestroy(d->zero);
        if (d->arena) (void)cudaFree(d->arena);
        if (d->pinned) (void)cudaHostUnregister(d->pinned);
    }
    if (d->pinned) munmap(d->pinned, d->pinned_bytes);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* mmap with huge pages, touched, then registered: 8 to 10 times faster than cudaHostAlloc. */
static cuzk_status host_pin(uint8_t **out, struct task *t, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return FAIL(t, CUZK_NO_MEMORY, "no %zu bytes of host memory to pin", bytes);
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    (void)madvise(p, bytes, MADV_DONTDUMP);
    memset(p, 0, bytes);
    const int code = (int)cudaHostRegister(p, bytes, cudaHostRegisterPortable);
    if (code != 0) {
        munmap(p, bytes);
        CU(t, code);
    }
    *out = p;
    return CUZK_OK;
}

static cuzk_status pinned_open(struct device *d, struct task *t, size_t bytes)
{
    TRY(host_pin(&d->pinned, t, bytes));
    d->pinned_bytes = bytes;
    return CUZK_OK;
}

static cuzk_status arena_memory(struct device *d, struct task *t, uint64_t wanted)
{
    size_t free_bytes = 0, total = 0;
    CU(t, cudaMemGetInfo(&free_bytes, &total));
    if (wanted == 0) {
        if (free_bytes <= (size_t)MARGIN_BYTES + (MARGIN_BYTES >> 1)) {
            FAIL(t, CUZK_NO_MEMORY, "GPU %u has only %zu of %zu bytes of memory free", d->index, free_bytes, total);
            task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL,
                            "nvidia-smi names the processes that hold it; one that was killed lets go of it when its last kernel has ended, which can "
                            "take seconds; --device-memory MIB leaves room for others");
            return CUZK_NO_MEMORY;
        }
        wanted = free_bytes - MARGIN_BYTES;
    }
    wanted &= ~(uint64_t)(BLOCK_ALIGN - 1);
    if (wanted > free_bytes) {
        FAIL(t, CUZK_NO_MEMORY, "%llu bytes of GPU memory were asked for, and %zu of %zu are free", (unsigned long long)wanted, free_bytes, total);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL, "nvidia-smi names the processes that hold the rest; --device-memory MIB asks for less");
        return CUZK_NO_MEMORY;
    }
    CU(t, cudaMalloc((void **)&d->arena, (size_t)wanted));
    d->arena_bytes = wanted;
    return CUZK_OK;
}

static cuzk_status device_fill(struct device *d, struct task *t, const struct device_options *o)
{
    struct device_info info;
    int n = 0;
    load_eagerly();
    CU(t, cudaGetDeviceCount(&n));
    if (o->index >= (unsigned)n) return FAIL(t, CUZK_DEVICE_UNAVAILABLE, "there is no GPU %u; there are %d", o->index, n);
    TRY(describe(t, o->index, &info));
    memcpy(d->name, info.name, sizeof d->name);
    memcpy(d->variant, info.variant, sizeof d->variant);
    d->sm_count = info.unit_count;
    int shared = 0;
    CU(t, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)o->index));
    d->shared_bytes = (size_t)shared;
    if (d->shared_bytes < NTT_SHARED_BYTES)
        return FAIL(t, CUZK_UNSUPPORTED, "a block on GPU %u may have %zu bytes of shared memory, and transforms take %d: its generation is not supported",
                    o->index, d->shared_bytes, NTT_SHARED_BYTES);
    TRY(cuda_enter(t, d));
    TRY(cuda_msm_prepare(t));
    TRY(cuda_ntt_prepare(t));
    TRY(pinned_open(d, t, o->pinned_bytes + CUDA_STREAMS_MAX * (size_t)(CUDA_STAGE_SLOTS * CUDA_STAGE_BYTES + CUDA_RESULT_SLOTS * CUDA_RESULT_BYTES)));
    TRY(arena_memory(d, t, o->memory_bytes));
    block_list_init(&d->arena_list, "GPU memory", d->arena_bytes);
    region_mark(d, &d->arena_list, 0, d->arena_bytes, false);
    block_list_init(&d->pinned_list, "pinned memory", d->pinned_bytes);
    return CUZK_OK;
}

static cuzk_status cuda_open(struct device **out, struct task *t, const struct device_options *o)
{
    struct device *d = calloc(1, sizeof *d);
    *out = NULL;
    if (!d) return FAIL(t, CUZK_NO_MEMORY, "no memory for a device");
    d->index = o->index;
    if (pthread_mutex_init(&d->lock, NULL) != 0) {
        free(d);
        return FAIL(t, CUZK_NO_MEMORY, "no mutex for a device");
    }
    const cuzk_status status = device_fill(d, t, o);
    if (status != CUZK_OK) {
        cuda_close(d);
        return status;
    }
    *out = d;
    return CUZK_OK;
}

static void cuda_info(const struct device *d, struct device_info *out)
{
    memset(out, 0, sizeof *out);
    snprintf(out->backend, sizeof out->backend, "cuda");
    out->index = d->index;
    memcpy(out->name, d->name, sizeof out->name);
    memcpy(out->variant, d->variant, sizeof out->variant);
    out->memory_bytes = d->arena_bytes;
    out->stream_bytes = CUDA_SCRATCH_BYTES;
    out->peak_bytes = d->peak_bytes;
    out->sent_bytes = atomic_load(&d->sent);
    out->received_bytes = atomic_load(&d->received);
    out->unit_count = d->sm_count;
}

/* -- buffers -- */

struct locked_block {
    uint8_t *data;
    size_t bytes;
    struct locked_block *next;
};

static cuzk_status locked_take(uint8_t **out, struct task *t, struct device *d, size_t bytes)
{
    struct locked_block *const l = malloc(sizeof *l);
    if (!l) return FAIL(t, CUZK_NO_MEMORY, "no memory for a buffer of %zu bytes", bytes);
    l->bytes = bytes ? bytes : 1;
    cuzk_status status = cuda_enter(t, d);
    if (status == CUZK_OK) status = host_pin(&l->data, t, l->bytes);
    if (status != CUZK_OK) {
        free(l);
        return status;
    }
    pthread_mutex_lock(&d->lock);
    l->next = d->locked;
    d->locked = l;
    pthread_mutex_unlock(&d->lock);
    *out = l->data;
    return CUZK_OK;
}

static void locked_give(struct device *d, const uint8_t *data)
{
    pthread_mutex_lock(&d->lock);
    struct locked_block **at = &d->locked, *l;
    while ((*at)->data != data) at = &(*at)->next;
    l = *at;
    *at = l->next;
    pthread_mutex_unlock(&d->lock);
    if (cudaSetDevice((int)d->index) == cudaSuccess) (void)cudaHostUnregister(l->data);
    munmap(l->data, l->bytes);
    free(l);
}

static bool is_locked(struct device *d, const uint8_t *p)
{
    pthread_mutex_lock(&d->lock);
    const struct locked_block *l = d->locked;
    while (l && !(p >= l->data && p < l->data + l->bytes)) l = l->next;
    pthread_mutex_unlock(&d->lock);
    return l != NULL;
}

static cuzk_status list_take(struct device *d, struct task *t, struct block_list *l, uint64_t *offset, uint64_t bytes)
{
    pthread_mutex_lock(&d->lock);
    const cuzk_status status = block_take(l, t, offset, bytes);
    if (status == CUZK_OK) region_mark(d, l, *offset, bytes, true);
    const uint64_t used = l == &d->arena_list ? block_list_used(l) : 0;
    if (used > d->peak_bytes) d->peak_bytes = used;
    pthread_mutex_unlock(&d->lock);
    return status;
}

static void list_give(struct device *d, struct block_list *l, uint64_t offset)
{
    pthread_mutex_lock(&d->lock);
    const uint64_t bytes = block_give(l, offset);
    region_mark(d, l, offset, bytes, false);
    pthread_mutex_unlock(&d->lock);
}

static cuzk_status cuda_buffer_take(struct buffer *out, struct task *t, struct device *d, enum mem_kind kind, size_t bytes, unsigned flags)
{
    uint64_t offset;
    memset(out, 0, sizeof *out);
    if (kind == MEM_HEAP) {
        out->data = malloc(bytes ? bytes : 1);
        if (!out->data) return FAIL(t, CUZK_NO_MEMORY, "no memory for a buffer of %zu bytes", bytes);
    } else if (kind == MEM_PINNED) {
        TRY(list_take(d, t, &d->pinned_list, &offset, bytes));
        out->data = d->pinned + offset;
    } else if (kind == MEM_LOCKED) {
        TRY(locked_take(&out->data, t, d, bytes));
    } else {
        TRY(list_take(d, t, &d->arena_list, &offset, bytes));
        out->data = d->arena + offset;
    }
    out->device = d;
    out->kind = kind;
    out->bytes = bytes;
    out->flags = flags & ~(unsigned)BUFFER_BORROWED;
    return CUZK_OK;
}

/* A secret buffer is wiped before its bytes can be taken again: on the device by a copy of zeros in a stream of its own that is
 * waited for. */
static void wipe_device(struct buffer *b)
{
    cudaStream_t s;
    if (cudaSetDevice((int)b->device->index) != cudaSuccess || cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) != cudaSuccess) return;
    (void)cudaMemsetAsync(b->data, 0, b->bytes, s);
    (void)cudaStreamSynchronize(s);
    (void)cudaStreamDestroy(s);
}

static void cuda_buffer_give(struct buffer *b)
{
    if (b->data && !(b->flags & BUFFER_BORROWED)) {
        if (b->flags & BUFFER_SECRET) {
            if (b->kind == MEM_DEVICE) wipe_device(b);
            else explicit_bzero(b->data, b->bytes);
        }
        if (b->kind == MEM_HEAP) free(b->data);
        else if (b->kind == MEM_LOCKED) locked_give(b->device, b->data);
        else if (b->kind == MEM_PINNED) list_give(b->device, &b->device->pinned_list, (uint64_t)(b->data - b->device->pinned));
        else list_give(b->device, &b->device->arena_list, (uint64_t)(b->data - b->device->arena));
    }
    memset(b, 0, sizeof *b);
}

cuzk_status cuda_range(struct task *t, const struct device *d, const struct buffer *b, const char *what, size_t offset, size_t bytes, uint8_t **out)
{
    if (b->kind != MEM_DEVICE || b->device != d) return FAIL(t, CUZK_INVALID_ARGUMENT, "%s is not in this GPU's memory", what);
    if (offset > b->bytes || bytes > b->bytes - offset)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%s: %zu bytes at offset %zu of a buffer of %zu bytes", what, bytes, offset, b->bytes);
    if (((uintptr_t)b->data + offset) % 16 != 0)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%s does not start on a multiple of 16 bytes", what);
    *out = b->data + offset;
    return CUZK_OK;
}

/* -- streams -- */

static uint8_t *result_at(struct stream *s, unsigned i)
{
    return s->pinned + CUDA_STAGE_SLOTS * CUDA_STAGE_BYTES + i * (size_t)CUDA_RESULT_BYTES;
}

/* What went through a stream's pinned memory may be a witness, and what came back are sums over it.  Nothing may be in flight. */
static void stages_wipe(struct stream *s)
{
    for (unsigned i = 0; i < CUDA_STAGE_SLOTS; i++) {
        explicit_bzero(s->pinned + i * (size_t)CUDA_STAGE_BYTES, s->stage_used[i]);
        s->stage_used[i] = 0;
    }
    for (unsigned i = 0; i < s->pending_count; i++) explicit_bzero(result_at(s, i), CUDA_RESULT_BYTES);
}

static void cuda_stream_close(struct stream *s)
{
    if (!s) return;
    if (cudaSetDevice((int)s->device->index) == cudaSuccess) {
        if (s->handle) {
            (void)cudaStreamSynchronize(s->handle);
            (void)cudaStreamDestroy(s->handle);
        }
        for (unsigned i = 0; i < CUDA_STAGE_SLOTS; i++)
            if (s->stage_free[i]) (void)cudaEventDestroy(s->stage_free[i]);
        if (s->reached) (void)cudaEventDestroy(s->reached);
        for (unsigned i = 0; i < CUDA_MARKS; i++)
            if (s->mark[i]) (void)cudaEventDestroy(s->mark[i]);
    }
    if (s->pinned) stages_wipe(s);
    if (s->scratch) list_give(s->device, &s->device->arena_list, s->scratch_offset);
    if (s->pinned) list_give(s->device, &s->device->pinned_list, s->pinned_offset);
    free(s);
}

static cuzk_status stream_fill(struct stream *s, struct task *t, bool computes)
{
    struct device *d = s->device;
    TRY(cuda_enter(t, d));
    if (computes) {
        TRY(list_take(d, t, &d->arena_list, &s->scratch_offset, CUDA_SCRATCH_BYTES));
        s->scratch = d->arena + s->scratch_offset;
    }
    TRY(list_take(d, t, &d->pinned_list, &s->pinned_offset, CUDA_STAGE_SLOTS * CUDA_STAGE_BYTES + CUDA_RESULT_SLOTS * CUDA_RESULT_BYTES));
    s->pinned = d->pinned + s->pinned_offset;
    CU(t, cudaStreamCreateWithFlags(&s->handle, cudaStreamNonBlocking));
    for (unsigned i = 0; i < CUDA_STAGE_SLOTS; i++) CU(t, cudaEventCreateWithFlags(&s->stage_free[i], cudaEventDisableTiming | cudaEventBlockingSync));
    CU(t, cudaEventCreateWithFlags(&s->reached, cudaEventDisableTiming));
    return CUZK_OK;
}

static cuzk_status stream_make(struct stream **out, struct task *t, struct device *d, bool computes)
{
    struct stream *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s) return FAIL(t, CUZK_NO_MEMORY, "no memory for a stream");
    s->device = d;
    const cuzk_status status = stream_fill(s, t, computes);
    if (status != CUZK_OK) {
        cuda_stream_close(s);
        return status;
    }
    *out = s;
    return CUZK_OK;
}

static cuzk_status cuda_stream_open(struct stream **out, struct task *t, struct device *d) { return stream_make(out, t, d, true); }
static cuzk_status cuda_copies_open(struct stream **out, struct task *t, struct device *d) { return stream_make(out, t, d, false); }

static cuzk_status cuda_stream_wait(struct stream *s, struct task *t, struct stream *other)
{
    if (s->device != other->device) return FAIL(t, CUZK_INVALID_ARGUMENT, "a stream of GPU %u cannot wait for one of GPU %u", s->device->index, other->device->index);
    TRY(cuda_enter(t, s->device));
    CU(t, cudaEventRecord(other->reached, other->handle));
    CU(t, cudaStreamWaitEvent(s->handle, other->reached, 0));
    return CUZK_OK;
}

static cuzk_status zero_make(struct stream *s, struct task *t)
{
    struct device *d = s->device;
    cudaEvent_t zero = NULL;
    if (d->zero) return CUZK_OK;
    CU(t, cudaEventCreate(&zero));
    const int code = (int)cudaEventRecord(zero, s->handle);
    if (code != 0) {
        (void)cudaEventDestroy(zero);
        CU(t, code);
    }
    d->zero = zero;
    return CUZK_OK;
}

static cuzk_status cuda_stream_mark(struct stream *s, struct task *t, uint64_t *ns)
{
    if (s->mark_count == CUDA_MARKS)
        return FAIL(t, CUZK_QUEUE_FULL, "%u marks are in flight on one stream; synchronise it first", s->mark_count);
    TRY(cuda_enter(t, s->device));
    pthread_mutex_lock(&s->device->lock);
    const cuzk_status status = zero_make(s, t);
    pthread_mutex_unlock(&s->device->lock);
    if (status != CUZK_OK) return status;
    if (!s->mark[s->mark_count]) CU(t, cudaEventCreate(&s->mark[s->mark_count]));
    CU(t, cudaEventRecord(s->mark[s->mark_count], s->handle));
    s->mark_ns[s->mark_count++] = ns;
    return CUZK_OK;
}

/* All of the stream's marks have been reached. */
static cuzk_status marks_read(struct stream *s, struct task *t)
{
    const unsigned count = s->mark_count;
    s->mark_count = 0;
    if (count == 0) return CUZK_OK;
    CU(t, cudaEventSynchronize(s->device->zero)); /* it may be another stream's */
    for (unsigned i = 0; i < count; i++) {
        float ms;
        CU(t, cudaEventElapsedTime(&ms, s->device->zero, s->mark[i]));
        *s->mark_ns[i] = (uint64_t)((double)ms * 1e6);
    }
    return CUZK_OK;
}

cuzk_status cuda_result_slot(struct stream *s, struct task *t, uint8_t **out)
{
    if (s->pending_count == CUDA_RESULT_SLOTS)
        return FAIL(t, CUZK_QUEUE_FULL, "%u results are in flight on one stream; synchronise it first", s->pending_count);
    *out = result_at(s, s->pending_count);
    return CUZK_OK;
}

static cuzk_status cuda_stream_sync(struct stream *s, struct task *t)
{
    TRY(cuda_enter(t, s->device));
    CU(t, cudaStreamSynchronize(s->handle));
    cuzk_status status = CUZK_OK;
    for (unsigned i = 0; i < s->pending_count; i++) {
        const cuzk_status one = s->pending[i].finish(t, s->device, &s->pending[i], result_at(s, i));
        if (status == CUZK_OK) status = one;
    }
    stages_wipe(s);
    s->pending_count = 0;
    const cuzk_status marked = marks_read(s, t);
    if (status == CUZK_OK) status = marked;
    return status != CUZK_OK ? status : task_poll(t);
}

/* -- copies -- */

static bool is_pinned(struct device *d, const void *p)
{
    const uint8_t *const at = p;
    return (at >= d->pinned && at < d->pinned + d->pinned_bytes) || is_locked(d, at);
}

cuzk_status cuda_upload(struct stream *s, struct task *t, uint8_t *to, const void *from, size_t bytes)
{
    TRY(cuda_enter(t, s->device));
    atomic_fetch_add(&s->device->sent, bytes);
    if (is_pinned(s->device, from)) {
        CU(t, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s->handle));
        return CUZK_OK;
    }
    for (size_t done = 0; done < bytes;) {
        const size_t part = bytes - done < CUDA_STAGE_BYTES ? bytes - done : CUDA_STAGE_BYTES;
        const unsigned slot = s->stage_next++ % CUDA_STAGE_SLOTS;
        uint8_t *stage = s->pinned + slot * (size_t)CUDA_STAGE_BYTES;
        CU(t, cudaEventSynchronize(s->stage_free[slot]));
        memcpy(stage, (const uint8_t *)from + done, part);
        if (part > s->stage_used[slot]) s->stage_used[slot] = part;
        CU(t, cudaMemcpyAsync(to + done, stage, part, cudaMemcpyHostToDevice, s->handle));
        CU(t, cudaEventRecord(s->stage_free[slot], s->handle));
        done += part;
    }
    return CUZK_OK;
}

static cuzk_status bounds(struct task *t, const struct buffer *b, const char *what, size_t offset, size_t bytes)
{
    if (offset > b->bytes || bytes > b->bytes - offset)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%s: %zu bytes at offset %zu of a buffer of %zu bytes", what, bytes, offset, b->bytes);
    return CUZK_OK;
}

static cuzk_status upload(struct stream *s, struct task *t, struct buffer *to, size_t to_offset, const void *from, size_t bytes)
{
    TRY(bounds(t, to, "upload", to_offset, bytes));
    if (bytes == 0) return CUZK_OK;
    if (to->kind == MEM_DEVICE) return cuda_upload(s, t, to->data + to_offset, from, bytes);
    memcpy(to->data + to_offset, from, bytes);
    return CUZK_OK;
}

static cuzk_status download(struct stream *s, struct task *t, void *to, const struct buffer *from, size_t from_offset, size_t bytes)
{
    TRY(bounds(t, from, "download", from_offset, bytes));
    if (bytes == 0) return CUZK_OK;
    if (from->kind != MEM_DEVICE) {
        memcpy(to, from->data + from_offset, bytes);
        return CUZK_OK;
    }
    TRY(cuda_enter(t, s->device));
    cuda_received(s, bytes);
    if (is_pinned(s->device, to)) {
        CU(t, cudaMemcpyAsync(to, from->data + from_offset, bytes, cudaMemcpyDeviceToHost, s->handle));
        return CUZK_OK;
    }
    /* two stages: one fills while the other is copied out */
    size_t sent = 0, done = 0;
    unsigned first = s->stage_next, filled = 0;
    size_t part[CUDA_STAGE_SLOTS];
    while (done < bytes) {
        while (sent < bytes && filled < CUDA_STAGE_SLOTS) {
            const unsigned slot = s->stage_next++ % CUDA_STAGE_SLOTS;
            part[slot] = bytes - sent < CUDA_STAGE_BYTES ? bytes - sent : CUDA_STAGE_BYTES;
            CU(t, cudaMemcpyAsync(s->pinned + slot * (size_t)CUDA_STAGE_BYTES, from->data + from_offset + sent, part[slot], cudaMemcpyDeviceToHost, s->handle));
            CU(t, cudaEventRecord(s->stage_free[slot], s->handle));
            if (part[slot] > s->stage_used[slot]) s->stage_used[slot] = part[slot];
            sent += part[slot];
            filled++;
        }
        const unsigned slot = first++ % CUDA_STAGE_SLOTS;
        CU(t, cudaEventSynchronize(s->stage_free[slot]));
        memcpy((uint8_t *)to + done, s->pinned + slot * (size_t)CUDA_STAGE_BYTES, part[slot]);
        done += part[slot];
        filled--;
    }
    return CUZK_OK;
}

const struct backend backend_cuda = {
    .name = "cuda",
    .targets = CUZK_CUDA_TARGETS,
    .value_cost = 0.11,  /* 130 bytes of scalars and digits and their share of two sorts: 2.4 ms of the 22 ms that 2^26 additions take */
    .call_cost = 300000, /* about twenty launches: 100 us */
    .probe = cuda_probe,
    .open = cuda_open,
    .close = cuda_close,
    .info = cuda_info,
    .buffer_take = cuda_buffer_take,
    .buffer_give = cuda_buffer_give,
    .stream_open = cuda_stream_open,
    .stream_close = cuda_stream_close,
    .copies_open = cuda_copies_open,
    .stream_wait = cuda_stream_wait,
    .stream_sync = cuda_stream_sync,
    .stream_mark = cuda_stream_mark,
    .upload = upload,
    .download = download,
    .msm_plan = cuda_msm_plan,
    .msm_plan_within = cuda_msm_plan_within,
    .quotient_plan = cuda_quotient_plan,
    .eval_plan = cuda_eval_plan,
    .group_ntt_plan = cuda_group_ntt_plan,
    .bit_sum_plan = cuda_bit_sum_plan,
    .classify_plan = cuda_classify_plan,
    .eval = cuda_eval,
    .matrix_bytes = cuda_matrix_bytes,
    .matrix_upload = cuda_matrix_upload,
    .eval_resident = cuda_eval_resident,
    .image_eval_plan = cuda_image_eval_plan,
    .image_upload = cuda_image_upload,
    .image_eval = cuda_image_eval,
    .image_scalars = cuda_image_scalars,
    .ntt = cuda_ntt,
    .image_assign_plan = cuda_image_assign_plan,
    .image_program_upload = cuda_image_program_upload,
    .image_assign = cuda_image_assign,
    .quotient = cuda_quotient,
    .msm = cuda_msm,
    .msm_table_plan = cuda_msm_table_plan,
    .msm_table_make = cuda_msm_table_make,
    .fixed_base = cuda_fixed_base,
    .group_ntt = cuda_group_ntt,
    .interlock = cuda_interlock,
    .interlock_calls = cuda_interlock_calls,
    .bit_sum = cuda_bit_sum,
    .classify = cuda_classify,
    .gather_points = cuda_gather_points,
    .gather_bits = cuda_gather_bits,
};
