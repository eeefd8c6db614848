/* What the CUDA backend must never call once it is warm: everything that acts on the whole device.
 *
 * A deliberate violation of each kind proves that the counters (support/cuda_calls.c) count.  Then a thousand operations (on the
 * emulated device fewer) run on three streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backend/backend.h"
#include "support/cuda_calls.h"
#include "support/prng.h"

#include <cuda_runtime_api.h>
#include <stdio.h>

static const struct backend *b;
static struct device *device;
static struct task t;
static struct prng rng;

#define OK(call)                                                                                                        \
    do {                                                                                                                \
        if ((call) != CUZK_OK) fail_msg("%s: %s", #call, t.error.text);                                                 \
    } while (0)

/* One deliberate violation of each kind; is each counted? */
static void hooks_count(void **state)
{
    static uint8_t host[1 << 16] __attribute__((aligned(4096)));
    void *d = NULL, *from_pool = NULL, *h = NULL, *h2 = NULL;
    cudaStream_t s;
    cudaMemPool_t pool;
    (void)state;
    cuda_calls_reset();
    assert_int_equal(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
    assert_int_equal(cudaMalloc(&d, 4096), cudaSuccess);
    assert_int_equal(cudaMallocAsync(&from_pool, 4096, s), cudaSuccess);
    assert_int_equal(cudaMallocHost(&h, 4096), cudaSuccess);
    assert_int_equal(cudaHostAlloc(&h2, 4096, cudaHostAllocPortable), cudaSuccess);
    assert_int_equal(cudaHostRegister(host, sizeof host, cudaHostRegisterPortable), cudaSuccess);
    assert_int_equal(cudaHostUnregister(host), cudaSuccess);
    assert_int_equal(cudaMemcpy(d, h, 64, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemset(d, 1, 64), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(d, 1, 64, NULL), cudaSuccess);
    assert_int_equal(cuda_calls_of(CUDA_CALLS_DEFAULT_STREAM), 1);
    assert_int_equal(cudaMemcpyAsync(d, host, 64, cudaMemcpyHostToDevice, NULL), cudaSuccess);
    assert_int_equal(cuda_calls_of(CUDA_CALLS_DEFAULT_STREAM), 2);
    assert_int_equal(cudaFreeAsync(from_pool, s), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaMemPoolTrimTo(pool, 0), cudaSuccess);
    assert_int_equal(cudaFree(d), cudaSuccess);
    assert_int_equal(cudaFreeHost(h), cudaSuccess);
    assert_int_equal(cudaFreeHost(h2), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(s), cudaSuccess);
    for (unsigned i = 0; i < CUDA_CALLS; i++)
        if (cuda_calls_of(i) == 0) fail_msg("%s is not counted", cuda_calls_name(i));
}

#if defined(CUZK_CUDA_EMULATED)
enum { STREAMS = 3, POINTS = 30, LOG2 = 5, OPERATIONS = 150 }; /* all kinds on all streams ten times */
static const uint64_t arena_bytes = (uint64_t)500 << 20;
#else
enum { STREAMS = 3, POINTS = 5000, LOG2 = 13, OPERATIONS = 1000 };
static const uint64_t arena_bytes = (uint64_t)4 << 30;
#endif

struct lane {
    struct stream *s;
    struct buffer points, scalars, workspace, a, c, quotient_workspace;
    struct g_jac sum[2];
    struct fr_int *host;
};

static void random_scalars(struct fr_int *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        do {
            prng_bytes(&rng, &out[i], sizeof out[i]);
            out[i].w[3] >>= 1;
        } while (!curve_bls12_381.fr.int_is_canonical(&out[i]));
}

static void steady_state(void **state)
{
    const struct curve *c = &curve_bls12_381;
    struct lane lane[STREAMS];
    struct msm_plan msm;
    struct quotient_plan quotient;
    struct domain d;
    size_t free_before, free_after, total;
    (void)state;
    OK(domain_init(&d, &t, c, ROOT_BELLMAN, LOG2));
    OK(b->msm_plan(&msm, &t, device, c, GROUP_G1, POINTS));
    OK(b->quotient_plan(&quotient, &t, device, &d, QUOTIENT_MONOMIAL));
    for (int k = 0; k < STREAMS; k++) {
        struct lane *l = &lane[k];
        OK(b->stream_open(&l->s, &t, device));
        OK(b->buffer_take(&l->points, &t, device, MEM_DEVICE, POINTS * c->g1.aff_bytes, 0));
        OK(b->buffer_take(&l->scalars, &t, device, MEM_DEVICE, POINTS * 32, 0));
        OK(b->buffer_take(&l->workspace, &t, device, MEM_DEVICE, msm.workspace_bytes, 0));
        OK(b->buffer_take(&l->a, &t, device, MEM_DEVICE, quotient.vector_bytes, 0));
        OK(b->buffer_take(&l->c, &t, device, MEM_DEVICE, quotient.vector_bytes, 0));
        OK(b->buffer_take(&l->quotient_workspace, &t, device, MEM_DEVICE, quotient.workspace_bytes, 0));
        l->host = calloc((size_t)1 << LOG2, sizeof *l->host);
        assert_non_null(l->host);
        random_scalars(l->host, (size_t)1 << LOG2);
        OK(b->upload(l->s, &t, &l->scalars, 0, l->host, POINTS * 32));
        OK(b->upload(l->s, &t, &l->a, 0, l->host, 32u << LOG2));
        OK(b->upload(l->s, &t, &l->c, 0, l->host, 32u << LOG2));
    }
    for (unsigned i = 0; i < OPERATIONS; i++) {
        struct lane *l = &lane[i % STREAMS];
        if (i == 30) { /* every operation has run on every stream */
            assert_int_equal(cudaMemGetInfo(&free_before, &total), cudaSuccess);
            cuda_calls_reset();
        }
        switch (i / STREAMS % 5) {
        case 0: OK(b->fixed_base(l->s, &t, c, GROUP_G1, &l->points, 0, &c->g1.generator, &l->scalars, 0, POINTS)); break;
        case 1: OK(b->ntt(l->s, &t, &d, &l->a, i & 1, i & 2)); break;
        case 2: OK(b->quotient(l->s, &t, &quotient, &l->a, &l->a, &l->c, &l->quotient_workspace)); break;
        case 3:
            OK(b->msm(l->s, &t, &msm, &l->sum[i / STREAMS / 5 & 1], &l->points, 0, &l->scalars, 0, NULL, &l->workspace));
            OK(b->stream_sync(l->s, &t));
            if (i / STREAMS >= 8) assert_true(c->g1.jac_eq(&l->sum[0], &l->sum[1])); /* one input, one result */
            break;
        default: OK(b->download(l->s, &t, l->host, &l->scalars, 0, POINTS * 32)); break;
        }
    }
    for (int k = 0; k < STREAMS; k++) OK(b->stream_sync(lane[k].s, &t));
    assert_int_equal(cuda_calls_forbidden(), 0);
    assert_int_equal(cudaMemGetInfo(&free_after, &total), cudaSuccess);
    assert_int_equal(free_before, free_after);
    for (int k = 0; k < STREAMS; k++) {
        struct lane *l = &lane[k];
        b->stream_close(l->s);
        struct buffer *const all[] = { &l->points, &l->scalars, &l->workspace, &l->a, &l->c, &l->quotient_workspace };
        for (size_t i = 0; i < ARRAY_COUNT(all); i++) b->buffer_give(all[i]);
        free(l->host);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = { cmocka_unit_test(hooks_count), cmocka_unit_test(steady_state) };
    const struct device_options o = { .memory_bytes = arena_bytes };
    size_t count = 0;
    task_init(&t);
    b = backend_by_name("cuda");
    if (!b || b->probe(&t, NULL, 0, &count) != CUZK_OK || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    prng_init(&rng);
    if (b->open(&device, &t, &o) != CUZK_OK) {
        printf("%s\n", t.error.text);
        return 1;
    }
    const int failed = cmocka_run_group_tests(cases, NULL, NULL);
    b->close(device);
    return failed;
}
