/* The interlock bench on a GPU: the same synthetic partitions under four ways to share the device.
 *
 * This is the only file that calls cudaMalloc, cudaFree and cudaDeviceSynchronize while kernels run, on purpose: it shows what they cost. */
#include "backend/cuda/cuda_interlock.h"
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/interlock_kernels.h"
#include "base/clock.h"
#include "base/rng.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SOURCE_MOST = 256 << 20,    /* pinned bytes that all uploads read, again and again */
    WORKSPACE_BYTES = 64 << 20, /* that the transforms' kernels take from the pool */
    SPARE_BYTES = 160 << 20,    /* beside what a protocol allocates: the workspace, and what the runtime takes for itself */
    TRANSFORM_SLICES = 4,       /* launches a vector */
    SUM_SLICES = 16,
    VECTORS = 3,
};
#define TRANSFORM_SHARE 0.3 /* of a partition's kernels, in time: PROVER.md's predictions, v1 */

struct bench;

struct lane {
    struct bench *bench;
    struct task task;
    pthread_t thread;
    cudaStream_t up, compute; /* under the arena all lanes share one of each */
    cudaEvent_t uploaded;     /* the arena's: then of the result */
    uint64_t *device_sum, *host_sum;
    uint64_t memory_wait_ns, compute_wait_ns;
    unsigned no_memory, skipped;
    cuzk_status status;
};

struct bench {
    const struct interlock_options *options;
    enum interlock_protocol protocol;
    unsigned blocks;
    uint64_t vector_bytes;
    uint32_t transform_rounds, sum_rounds;
    uint64_t expected; /* of every partition */
    uint8_t *source;   /* pinned */
    size_t source_bytes, source_mapped;
    uint64_t *device_sums, *host_sums; /* one a lane; the host's pinned */
    cudaMemPool_t pool;
    cudaEvent_t base, *start, *end; /* of each partition */
    atomic_uint next;               /* partition */
    atomic_bool stop;
    pthread_mutex_t memory, compute;
    /* INTERLOCK_ARENA: places of one vector each; one is free again once its event has passed, which the device waits for, not the host. */
    uint8_t *arena;
    unsigned place_count, place_next; /* taken in a ring: the one that was given back first */
    cudaEvent_t *place_free;
    cudaStream_t arena_up, arena_compute;
    struct lane lane[INTERLOCK_LANES_MAX];
};

static cuzk_status upload_vector(struct bench *b, struct task *t, uint8_t *to, cudaStream_t stream)
{
    for (uint64_t done = 0; done < b->vector_bytes; done += b->source_bytes) {
        const uint64_t left = b->vector_bytes - done, part = left < b->source_bytes ? left : b->source_bytes;
        CU(t, cudaMemcpyAsync(to + done, b->source, part, cudaMemcpyHostToDevice, stream));
    }
    return CUZK_OK;
}

static cuzk_status sweep(const struct bench *b, struct task *t, const uint8_t *vector, uint32_t rounds,
                         unsigned slices, uint64_t *sum, cudaStream_t stream)
{
    const uint64_t words = b->vector_bytes / 16;
    for (unsigned i = 0; i < slices; i++) {
        const uint64_t from = words * i / slices, to = words * (i + 1) / slices;
        if (to > from) CU(t, interlock_launch(vector + 16 * from, to - from, rounds, b->blocks, sum, stream));
    }
    return CUZK_OK;
}

static cuzk_status transforms(const struct bench *b, struct task *t, uint8_t *const vector[VECTORS],
                              uint64_t *sum, cudaStream_t stream)
{
    for (int v = 0; v < VECTORS; v++)
        TRY(sweep(b, t, vector[v], b->transform_rounds, TRANSFORM_SLICES, sum, stream));
    return CUZK_OK;
}

static cuzk_status sums(const struct bench *b, struct task *t, const uint8_t *a, uint64_t *sum,
                        cudaStream_t stream)
{
    return sweep(b, t, a, b->sum_rounds, SUM_SLICES, sum, stream);
}

static cuzk_status check_sum(struct lane *l, unsigned partition)
{
    if (*l->host_sum == l->bench->expected) return CUZK_OK;
    return FAIL(&l->task, CUZK_INTERNAL, "partition %u gave %016llx instead of %016llx", partition,
                (unsigned long long)*l->host_sum, (unsigned long long)l->bench->expected);
}

/* -- with locks -------------------------------------------------------------------------------------------------------- */

static void lock(pthread_mutex_t *m, uint64_t *waited_ns)
{
    const uint64_t since = clock_now_ns();
    pthread_mutex_lock(m);
    *waited_ns += clock_now_ns() - since;
}

/* A vector of its own and one block of two, as the published code takes them; false: the device has not that much now. */
static cuzk_status allocate(struct lane *l, uint8_t *vector[VECTORS], bool *taken)
{
    struct bench *b = l->bench;
    void *a = NULL, *bc = NULL;
    size_t free_bytes, all;
    CU(&l->task, cudaMemGetInfo(&free_bytes, &all));
    int e = free_bytes < VECTORS * b->vector_bytes + WORKSPACE_BYTES ? cudaErrorMemoryAllocation
                                                                     : cudaMalloc(&a, b->vector_bytes);
    if (e == cudaSuccess && (e = cudaMalloc(&bc, 2 * b->vector_bytes)) != cudaSuccess) (void)cudaFree(a);
    *taken = e == cudaSuccess;
    if (e == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        l->no_memory++;
        return CUZK_OK;
    }
    CU(&l->task, e);
    vector[0] = a;
    vector[1] = bc;
    vector[2] = vector[1] + b->vector_bytes;
    return CUZK_OK;
}

static cuzk_status upload_all(struct lane *l, uint8_t *const vector[VECTORS])
{
    for (int v = 0; v < VECTORS; v++) TRY(upload_vector(l->bench, &l->task, vector[v], l->up));
    CU(&l->task, cudaEventRecord(l->uploaded, l->up));
    return CUZK_OK;
}

/* Under the memory lock (or the only one). */
static cuzk_status prestage(struct lane *l, uint8_t *vector[VECTORS], bool *staged)
{
    struct bench *b = l->bench;
    struct task *t = &l->task;
    size_t free_bytes, all;
    *staged = false;
    if (b->protocol == INTERLOCK_TWO_LOCKS_SYNC) CU(t, cudaDeviceSynchronize());
    CU(t, cudaMemPoolTrimTo(b->pool, 0));
    CU(t, cudaMemGetInfo(&free_bytes, &all));
    if (free_bytes >= VECTORS * b->vector_bytes + WORKSPACE_BYTES) TRY(allocate(l, vector, staged));
    return *staged ? upload_all(l, vector) : CUZK_OK;
}

/* With the workspace that the published code takes from the pool for them. */
static cuzk_status transforms_in_pool(struct lane *l, uint8_t *const vector[VECTORS])
{
    void *workspace;
    CU(&l->task, cudaMallocAsync(&workspace, WORKSPACE_BYTES, l->compute));
    const cuzk_status status = transforms(l->bench, &l->task, vector, l->device_sum, l->compute);
    const int e = cudaFreeAsync(workspace, l->compute);
    TRY(status);
    CU(&l->task, e);
    return CUZK_OK;
}

/* Under the compute lock (or the only one). */
static cuzk_status run_kernels(struct lane *l, unsigned partition, uint8_t *vector[VECTORS])
{
    struct bench *b = l->bench;
    struct task *t = &l->task;
    CU(t, cudaStreamWaitEvent(l->compute, l->uploaded, 0));
    CU(t, cudaMemsetAsync(l->device_sum, 0, sizeof *l->device_sum, l->compute));
    CU(t, cudaEventRecord(b->start[partition], l->compute));
    TRY(transforms_in_pool(l, vector));
    CU(t, cudaStreamSynchronize(l->compute));
    CU(t, cudaFree(vector[1]));
    vector[1] = NULL;
    TRY(sums(b, t, vector[0], l->device_sum, l->compute));
    CU(t, cudaEventRecord(b->end[partition], l->compute));
    CU(t,
       cudaMemcpyAsync(l->host_sum, l->device_sum, sizeof *l->host_sum, cudaMemcpyDeviceToHost, l->compute));
    CU(t, cudaStreamSynchronize(l->compute));
    CU(t, cudaFree(vector[0]));
    vector[0] = NULL;
    return check_sum(l, partition);
}

/* In its turn, where it was not staged before.  `held` is locked on entry and on return. */
static cuzk_status stage_now(struct lane *l, uint8_t *vector[VECTORS], pthread_mutex_t *held,
                             uint64_t *waited_ns)
{
    for (bool taken = false;;) {
        TRY(allocate(l, vector, &taken));
        if (taken) return upload_all(l, vector);
        if (atomic_load(&l->bench->stop)) return FAIL(&l->task, CUZK_CANCELLED, "another lane failed");
        /* Other lanes hold memory and wait for this lock: the published code answered with a failed proof. */
        pthread_mutex_unlock(held);
        usleep(1000);
        lock(held, waited_ns);
    }
}

static cuzk_status partition_locked(struct lane *l, unsigned partition)
{
    struct bench *b = l->bench;
    pthread_mutex_t *held = &b->memory;
    uint64_t *waited_ns = &l->memory_wait_ns;
    uint8_t *vector[VECTORS] = { NULL };
    bool staged;
    lock(held, waited_ns);
    cuzk_status status = prestage(l, vector, &staged);
    if (b->protocol != INTERLOCK_ONE_LOCK) {
        pthread_mutex_unlock(held);
        held = &b->compute;
        waited_ns = &l->compute_wait_ns;
        lock(held, waited_ns);
    }
    if (status == CUZK_OK && !staged) {
        l->skipped++;
        status = stage_now(l, vector, held, waited_ns);
    }
    if (status == CUZK_OK) status = run_kernels(l, partition, vector);
    (void)cudaFree(vector[0]); /* what a failure has left */
    (void)cudaFree(vector[1]);
    pthread_mutex_unlock(held);
    return status;
}

/* -- with the arena ---------------------------------------------------------------------------------------------------- */

/* A place for one vector.  The copies wait on the device until its last reader has passed. */
static cuzk_status place_take(struct bench *b, struct task *t, uint8_t **out, unsigned *index)
{
    *index = b->place_next;
    b->place_next = (b->place_next + 1) % b->place_count;
    CU(t, cudaStreamWaitEvent(b->arena_up, b->place_free[*index], 0));
    *out = b->arena + *index * b->vector_bytes;
    return CUZK_OK;
}

/* A partition's whole work, enqueued without waiting.  Places go round in a ring: a is taken last, since it is given back last, and
 * b and c of the next partition are those that come free first. */
static cuzk_status enqueue(struct lane *l, unsigned partition)
{
    struct bench *b = l->bench;
    struct task *t = &l->task;
    uint8_t *vector[VECTORS];
    unsigned place[VECTORS];
    for (int v = VECTORS; v-- > 0;) {
        TRY(place_take(b, t, &vector[v], &place[v]));
        TRY(upload_vector(b, t, vector[v], b->arena_up));
    }
    CU(t, cudaEventRecord(l->uploaded, b->arena_up));
    CU(t, cudaStreamWaitEvent(b->arena_compute, l->uploaded, 0));
    CU(t, cudaMemsetAsync(l->device_sum, 0, sizeof *l->device_sum, b->arena_compute));
    CU(t, cudaEventRecord(b->start[partition], b->arena_compute));
    TRY(transforms(b, t, vector, l->device_sum, b->arena_compute));
    for (int v = 1; v < VECTORS; v++) CU(t, cudaEventRecord(b->place_free[place[v]], b->arena_compute));
    TRY(sums(b, t, vector[0], l->device_sum, b->arena_compute));
    CU(t, cudaEventRecord(b->place_free[place[0]], b->arena_compute));
    CU(t, cudaEventRecord(b->end[partition], b->arena_compute));
    CU(t, cudaMemcpyAsync(l->host_sum, l->device_sum, sizeof *l->host_sum, cudaMemcpyDeviceToHost,
                          b->arena_compute));
    CU(t, cudaEventRecord(l->uploaded, b->arena_compute)); /* from here on: the result is there */
    return CUZK_OK;
}

static cuzk_status partition_arena(struct lane *l, unsigned partition)
{
    struct bench *b = l->bench;
    lock(&b->memory, &l->memory_wait_ns);
    const cuzk_status status = enqueue(l, partition);
    pthread_mutex_unlock(&b->memory);
    TRY(status);
    CU(&l->task, cudaEventSynchronize(l->uploaded));
    return check_sum(l, partition);
}

/* -- lanes ------------------------------------------------------------------------------------------------------------- */

static void *lane_run(void *argument)
{
    struct lane *l = argument;
    struct bench *b = l->bench;
    const int e = cudaSetDevice((int)b->options->device);
    l->status = e == cudaSuccess ? CUZK_OK : cuda_fail(&l->task, __FILE__, __LINE__, "cudaSetDevice", e);
    while (l->status == CUZK_OK && !atomic_load(&b->stop)) {
        const unsigned partition = atomic_fetch_add(&b->next, 1);
        if (partition >= b->options->partitions) break;
        l->status =
            b->protocol == INTERLOCK_ARENA ? partition_arena(l, partition) : partition_locked(l, partition);
    }
    if (l->status != CUZK_OK) atomic_store(&b->stop, true);
    return NULL;
}

static int by_start(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Of the time between the first start and the last end. */
static cuzk_status idle_share(const struct bench *b, struct task *t, double *out)
{
    const unsigned n = b->options->partitions;
    double(*span)[2] = malloc(n * sizeof *span);
    cuzk_status status = CUZK_OK;
    if (span == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for %u times", n);
    for (unsigned i = 0; i < n && status == CUZK_OK; i++) {
        float start = 0, end = 0;
        int e = cudaEventElapsedTime(&start, b->base, b->start[i]);
        if (e == cudaSuccess) e = cudaEventElapsedTime(&end, b->base, b->end[i]);
        if (e != cudaSuccess) status = cuda_fail(t, __FILE__, __LINE__, "cudaEventElapsedTime", e);
        span[i][0] = start;
        span[i][1] = end;
    }
    if (status == CUZK_OK) {
        qsort(span, n, sizeof *span, by_start);
        double idle = 0, until = span[0][1];
        for (unsigned i = 1; i < n; i++) {
            if (span[i][0] > until) idle += span[i][0] - until;
            if (span[i][1] > until) until = span[i][1];
        }
        *out = until > span[0][0] ? idle / (until - span[0][0]) : 0;
    }
    free(span);
    return status;
}

static cuzk_status run_lanes(struct bench *b, struct task *t, struct interlock_result *out)
{
    const struct interlock_options *o = b->options;
    unsigned started = 0;
    cuzk_status status = CUZK_OK;
    memset(out, 0, sizeof *out);
    atomic_store(&b->next, 0);
    b->place_next = 0;
    for (unsigned i = 0; i < o->lanes; i++) {
        struct lane *l = &b->lane[i];
        task_init(&l->task);
        l->memory_wait_ns = l->compute_wait_ns = 0;
        l->no_memory = l->skipped = 0;
        l->status = CUZK_OK;
    }
    CU(t, cudaEventRecord(b->base, b->arena_compute));
    CU(t, cudaEventSynchronize(b->base));
    const uint64_t since = clock_now_ns();
    for (; started < o->lanes; started++)
        if (pthread_create(&b->lane[started].thread, NULL, lane_run, &b->lane[started]) != 0) {
            atomic_store(&b->stop, true);
            status = FAIL(t, CUZK_NO_MEMORY, "no thread for lane %u", started);
            break;
        }
    for (unsigned i = 0; i < started; i++) {
        struct lane *l = &b->lane[i];
        pthread_join(l->thread, NULL);
        out->memory_wait_ms += (double)l->memory_wait_ns / 1e6 / o->partitions;
        out->compute_wait_ms += (double)l->compute_wait_ns / 1e6 / o->partitions;
        out->no_memory += l->no_memory;
        out->skipped_prestage += l->skipped;
        if (status == CUZK_OK && l->status != CUZK_OK && l->status != CUZK_CANCELLED) {
            status = l->status;
            t->error = l->task.error;
        }
    }
    out->seconds = (double)(clock_now_ns() - since) / 1e9;
    out->partitions_per_second = o->partitions / out->seconds;
    return status == CUZK_OK ? idle_share(b, t, &out->idle_share) : status;
}

/* -- set-up ------------------------------------------------------------------------------------------------------------ */

static cuzk_status source_open(struct bench *b, struct task *t)
{
    b->source_bytes = b->vector_bytes < SOURCE_MOST ? b->vector_bytes : SOURCE_MOST;
    b->source_mapped = b->source_bytes + INTERLOCK_LANES_MAX * sizeof *b->host_sums;
    void *p = mmap(NULL, b->source_mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return FAIL(t, CUZK_NO_MEMORY, "no %zu bytes of host memory", b->source_mapped);
    b->source = p;
    TRY(rng_bytes(t, b->source, b->source_bytes));
    b->host_sums = (uint64_t *)(void *)(b->source + b->source_bytes);
    CU(t, cudaHostRegister(b->source, b->source_mapped, cudaHostRegisterDefault));
    return CUZK_OK;
}

static cuzk_status events_open(struct bench *b, struct task *t)
{
    const unsigned n = b->options->partitions;
    b->start = calloc(n, sizeof *b->start);
    b->end = calloc(n, sizeof *b->end);
    b->place_free = calloc(b->place_count, sizeof *b->place_free);
    if (b->start == NULL || b->end == NULL || b->place_free == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for %u events", 2 * n);
    CU(t, cudaEventCreate(&b->base));
    for (unsigned i = 0; i < n; i++) {
        CU(t, cudaEventCreate(&b->start[i]));
        CU(t, cudaEventCreate(&b->end[i]));
    }
    for (unsigned i = 0; i < b->place_count; i++)
        CU(t, cudaEventCreateWithFlags(&b->place_free[i], cudaEventDisableTiming));
    CU(t, cudaStreamCreateWithFlags(&b->arena_up, cudaStreamNonBlocking));
    CU(t, cudaStreamCreateWithFlags(&b->arena_compute, cudaStreamNonBlocking));
    CU(t, cudaMalloc((void **)&b->device_sums, INTERLOCK_LANES_MAX * sizeof *b->device_sums));
    for (unsigned i = 0; i < b->options->lanes; i++) {
        struct lane *l = &b->lane[i];
        l->bench = b;
        l->device_sum = b->device_sums + i;
        l->host_sum = b->host_sums + i;
        CU(t, cudaStreamCreateWithFlags(&l->up, cudaStreamNonBlocking));
        CU(t, cudaStreamCreateWithFlags(&l->compute, cudaStreamNonBlocking));
        CU(t, cudaEventCreateWithFlags(&l->uploaded, cudaEventDisableTiming));
    }
    return CUZK_OK;
}

/* One partition alone, with the arena's kernels: its time and, the first time, its value. */
static cuzk_status alone_ms(struct bench *b, struct task *t, double *transforms_ms, double *sums_ms)
{
    struct lane *l = &b->lane[0];
    uint8_t *vector[VECTORS];
    float ms[2];
    cudaEvent_t mark = b->start[0], middle = b->base, end = b->end[0];
    for (int v = 0; v < VECTORS; v++) {
        vector[v] = b->arena + (unsigned)v * b->vector_bytes;
        TRY(upload_vector(b, t, vector[v], b->arena_compute));
    }
    CU(t, cudaMemsetAsync(l->device_sum, 0, sizeof *l->device_sum, b->arena_compute));
    CU(t, cudaEventRecord(mark, b->arena_compute));
    TRY(transforms(b, t, vector, l->device_sum, b->arena_compute));
    CU(t, cudaEventRecord(middle, b->arena_compute));
    TRY(sums(b, t, vector[0], l->device_sum, b->arena_compute));
    CU(t, cudaEventRecord(end, b->arena_compute));
    CU(t, cudaMemcpyAsync(l->host_sum, l->device_sum, sizeof *l->host_sum, cudaMemcpyDeviceToHost,
                          b->arena_compute));
    CU(t, cudaStreamSynchronize(b->arena_compute));
    CU(t, cudaEventElapsedTime(&ms[0], mark, middle));
    CU(t, cudaEventElapsedTime(&ms[1], middle, end));
    *transforms_ms = ms[0];
    *sums_ms = ms[1];
    b->expected = *l->host_sum;
    return CUZK_OK;
}

/* Rounds for a time that grows with them: from the times at 16 and at 256. */
static uint32_t rounds_for(double wanted_ms, double at16_ms, double at256_ms)
{
    const double each = (at256_ms - at16_ms) / 240,
                 rounds = each > 0 ? 16 + (wanted_ms - at16_ms) / each : 16;
    return rounds < 1 ? 1 : rounds > 1e6 ? 1000000 : (uint32_t)rounds;
}

static cuzk_status calibrate(struct bench *b, struct task *t)
{
    double few[2], many[2];
    b->transform_rounds = b->sum_rounds = 16;
    TRY(alone_ms(b, t, &few[0], &few[1])); /* the first run loads the kernel */
    TRY(alone_ms(b, t, &few[0], &few[1]));
    b->transform_rounds = b->sum_rounds = 256;
    TRY(alone_ms(b, t, &many[0], &many[1]));
    b->transform_rounds = rounds_for(b->options->compute_ms * TRANSFORM_SHARE, few[0], many[0]);
    b->sum_rounds = rounds_for(b->options->compute_ms * (1 - TRANSFORM_SHARE), few[1], many[1]);
    return alone_ms(b, t, &few[0], &few[1]);
}

static cuzk_status check_options(struct task *t, const struct interlock_options *o)
{
    if (o->lanes < 1 || o->lanes > INTERLOCK_LANES_MAX)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%u lanes; it has to be 1 to %d", o->lanes,
                    INTERLOCK_LANES_MAX);
    if (o->partitions < o->lanes || o->partitions > 10000)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%u partitions; it has to be one a lane (%u) to 10000",
                    o->partitions, o->lanes);
    if (o->partition_bytes < 1 << 16)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a partition of %llu bytes; 65536 is the least",
                    (unsigned long long)o->partition_bytes);
    return CUZK_OK;
}

static cuzk_status open_bench(struct bench *b, struct task *t, void **ballast)
{
    const struct interlock_options *o = b->options;
    size_t free_bytes, all;
    int sm_count;
    CU(t, cudaSetDevice((int)o->device));
    CU(t, cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, (int)o->device));
    CU(t, cudaDeviceGetDefaultMemPool(&b->pool, (int)o->device));
    b->blocks = (unsigned)sm_count * 8;
    b->vector_bytes = o->partition_bytes / VECTORS & ~(uint64_t)4095;
    TRY(source_open(b, t));
    CU(t, cudaMemGetInfo(&free_bytes, &all));
    const uint64_t usable = free_bytes > SPARE_BYTES ? free_bytes - SPARE_BYTES : 0;
    const uint64_t memory = o->memory_bytes != 0 && o->memory_bytes < usable ? o->memory_bytes : usable;
    if (memory < VECTORS * b->vector_bytes)
        return FAIL(t, CUZK_TOO_LARGE,
                    "a partition takes %llu bytes of device memory, the bench may use %llu of GPU %u",
                    (unsigned long long)(VECTORS * b->vector_bytes), (unsigned long long)memory, o->device);
    b->place_count = (unsigned)(memory / b->vector_bytes);
    const unsigned useful = VECTORS * o->partitions;
    if (b->place_count > useful) b->place_count = useful;
    TRY(events_open(b, t));
    /* What a card of memory_bytes would not have. */
    if (usable > memory) CU(t, cudaMalloc(ballast, usable - memory));
    return CUZK_OK;
}

static void close_bench(struct bench *b, void *ballast)
{
    for (unsigned i = 0; i < b->options->lanes; i++) {
        struct lane *l = &b->lane[i];
        if (l->up) (void)cudaStreamDestroy(l->up);
        if (l->compute) (void)cudaStreamDestroy(l->compute);
        if (l->uploaded) (void)cudaEventDestroy(l->uploaded);
    }
    for (unsigned i = 0; i < b->options->partitions; i++) {
        if (b->start && b->start[i]) (void)cudaEventDestroy(b->start[i]);
        if (b->end && b->end[i]) (void)cudaEventDestroy(b->end[i]);
    }
    for (unsigned i = 0; b->place_free && i < b->place_count; i++)
        if (b->place_free[i]) (void)cudaEventDestroy(b->place_free[i]);
    if (b->base) (void)cudaEventDestroy(b->base);
    if (b->arena_up) (void)cudaStreamDestroy(b->arena_up);
    if (b->arena_compute) (void)cudaStreamDestroy(b->arena_compute);
    free(b->start);
    free(b->end);
    free(b->place_free);
    (void)cudaFree(b->arena);
    (void)cudaFree(b->device_sums);
    (void)cudaFree(ballast);
    if (b->source) {
        (void)cudaHostUnregister(b->source);
        munmap(b->source, b->source_mapped);
    }
    pthread_mutex_destroy(&b->memory);
    pthread_mutex_destroy(&b->compute);
    free(b);
}

static cuzk_status arena_take(struct bench *b, struct task *t)
{
    CU(t, cudaMalloc((void **)&b->arena, b->place_count * b->vector_bytes));
    return CUZK_OK;
}

static void arena_give(struct bench *b)
{
    (void)cudaFree(b->arena);
    b->arena = NULL;
}

cuzk_status cuda_interlock(struct task *t, const struct interlock_options *o, unsigned protocols,
                           void (*done)(void *context, enum interlock_protocol protocol,
                                        const struct interlock_result *result),
                           void *context)
{
    void *ballast = NULL;
    TRY(check_options(t, o));
    struct bench *b = calloc(1, sizeof *b);
    if (b == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for the bench");
    b->options = o;
    pthread_mutex_init(&b->memory, NULL);
    pthread_mutex_init(&b->compute, NULL);
    cuzk_status status = open_bench(b, t, &ballast);
    if (status == CUZK_OK) status = arena_take(b, t);
    if (status == CUZK_OK) status = calibrate(b, t);
    for (unsigned p = 0; p < INTERLOCK_PROTOCOLS && status == CUZK_OK; p++) {
        struct interlock_result result;
        if (!(protocols >> p & 1)) continue;
        b->protocol = (enum interlock_protocol)p;
        if (p != INTERLOCK_ARENA)
            arena_give(b);
        else if (b->arena == NULL)
            status = arena_take(b, t);
        if (status == CUZK_OK) status = task_poll(t);
        if (status == CUZK_OK) status = run_lanes(b, t, &result);
        if (status == CUZK_OK) done(context, b->protocol, &result);
    }
    close_bench(b, ballast);
    return status;
}
