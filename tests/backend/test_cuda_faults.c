/* What goes wrong with a device, each provoked on the emulated one: no driver, an old one, no card, a card without code, too little
 * memory, a context that dies; and every call of a sequence of operations failing in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backend/backend.h"
#include "cuda_host.h"
#include "support/prng.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 24, LOG2 = 5, SIZE = 1 << LOG2 };
static const struct device_options options = { .memory_bytes = (uint64_t)160 << 20, .pinned_bytes = 1 << 20 };

static struct prng rng;
static uint8_t points[POINTS * 64];
static struct fr_int scalars[POINTS];
static struct g_jac expected_sum;
static struct domain domain;
static struct fr values[SIZE], expected_values[SIZE];


static void expect_open_with(struct device_options o, const struct cuda_host_config *c, unsigned index, cuzk_status status, const char *words)
{
    const struct backend *b = backend_by_name("cuda");
    struct device_info info[4];
    struct device *d = (struct device *)1;
    struct task t;
    size_t count;
    cuda_host_configure(c);
    task_init(&t);
    o.index = index;
    assert_int_equal(b->open(&d, &t, &o), status);
    assert_null(d);
    if (!strstr(t.error.text, words)) fail_msg("'%s' does not say '%s'", t.error.text, words);
    if (status == CUZK_NO_MEMORY) assert_non_null(strstr(t.error.advice, "nvidia-smi"));
    task_init(&t);
    assert_int_equal(b->probe(&t, info, ARRAY_COUNT(info), &count), CUZK_OK); /* never an error for "none" */
    assert_int_equal(count, c->driver_version < CUDART_VERSION ? 0 : c->device_count);
}

static void expect_open(const struct cuda_host_config *c, unsigned index, cuzk_status status, const char *words)
{
    expect_open_with(options, c, index, status, words);
}

static void no_usable_device(void **state)
{
    const struct device_options everything = { .pinned_bytes = 1 << 20 };
    struct cuda_host_config c = cuda_host_default();
    (void)state;
    c.driver_version = 0;
    expect_open(&c, 0, CUZK_DEVICE_UNAVAILABLE, "no NVIDIA driver, or it is older than CUDA 13.0");
    c.driver_version = 12040;
    expect_open(&c, 0, CUZK_DEVICE_UNAVAILABLE, "no NVIDIA driver, or it is older than CUDA 13.0");
    c = cuda_host_default();
    c.device_count = 0;
    expect_open(&c, 0, CUZK_DEVICE_UNAVAILABLE, "no NVIDIA GPU");
    c.device_count = 2;
    expect_open(&c, 2, CUZK_DEVICE_UNAVAILABLE, "no GPU 2; there are 2");
    c = cuda_host_default();
    c.major = 6;
    c.minor = 1;
    expect_open(&c, 0, CUZK_DEVICE_UNAVAILABLE, "no code for the GPU's architecture");
    c = cuda_host_default();
    c.shared_bytes = (size_t)48 << 10; /* less than any architecture that there is code for */
    expect_open(&c, 0, CUZK_UNSUPPORTED, "49152 bytes of shared memory");
    c = cuda_host_default();
    c.memory_bytes = (size_t)100 << 20;
    expect_open(&c, 0, CUZK_NO_MEMORY, "GPU memory were asked for"); /* later */
    expect_open_with(everything, &c, 0, CUZK_NO_MEMORY, "GPU 0 has only 104857600 of 104857600 bytes of memory free");
}

/* -- every call in turn -- */

/* A sum and a transform on a fresh or given device; *right: whether what came out is right. */
static cuzk_status operations(struct device *d, struct task *t, bool *right)
{
    const struct backend *b = backend_by_name("cuda");
    struct stream *s = NULL;
    struct buffer pts = { 0 }, sc = { 0 }, ws = { 0 }, on = { 0 };
    struct msm_plan plan;
    struct g_jac sum;
    struct fr got[SIZE];
    memset(&sum, 0, sizeof sum);
    memset(got, 0, sizeof got);
    *right = false;
    cuzk_status status = b->stream_open(&s, t, d);
#define STEP(call) \
    if (status == CUZK_OK) status = call
    STEP(b->msm_plan(&plan, t, d, &curve_bn254, GROUP_G1, POINTS));
    STEP(b->buffer_take(&pts, t, d, MEM_DEVICE, sizeof points, 0));
    STEP(b->buffer_take(&sc, t, d, MEM_DEVICE, sizeof scalars, BUFFER_SECRET));
    STEP(b->buffer_take(&ws, t, d, MEM_DEVICE, plan.workspace_bytes, 0));
    STEP(b->buffer_take(&on, t, d, MEM_DEVICE, sizeof values, BUFFER_SECRET));
    STEP(b->upload(s, t, &pts, 0, points, sizeof points));
    STEP(b->upload(s, t, &sc, 0, scalars, sizeof scalars));
    STEP(b->upload(s, t, &on, 0, values, sizeof values));
    STEP(b->msm(s, t, &plan, &sum, &pts, 0, &sc, 0, NULL, &ws));
    STEP(b->ntt(s, t, &domain, &on, false, false));
    STEP(b->download(s, t, got, &on, 0, sizeof got));
    STEP(b->stream_sync(s, t));
#undef STEP
    *right = status == CUZK_OK && curve_bn254.g1.jac_eq(&sum, &expected_sum) && memcmp(got, expected_values, sizeof got) == 0;
    b->stream_close(s);
    struct buffer *const all[] = { &pts, &sc, &ws, &on };
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) b->buffer_give(all[i]);
    return status;
}

static struct device *fresh_device(struct task *t)
{
    struct cuda_host_config c = cuda_host_default();
    struct device *d;
    cuda_host_configure(&c);
    task_init(t);
    if (backend_by_name("cuda")->open(&d, t, &options) != CUZK_OK) fail_msg("%s", t->error.text);
    return d;
}

static void open_fails_at_each_call(void **state)
{
    static const int codes[] = { cudaErrorMemoryAllocation, cudaErrorInvalidValue, cudaErrorLaunchFailure };
    const struct backend *b = backend_by_name("cuda");
    struct cuda_host_config c = cuda_host_default();
    struct device *d;
    struct task t;
    (void)state;
    d = fresh_device(&t);
    const unsigned long calls = cuda_host_call_count();
    b->close(d);
    for (unsigned long n = 1; n <= calls; n += n < calls - 8 ? 5 : 1) /* the many in the middle prepare one kernel each */
        for (size_t k = 0; k < ARRAY_COUNT(codes); k++) {
            cuda_host_configure(&c);
            task_init(&t);
            cuda_host_fail_call(n, codes[k]);
            const cuzk_status status = b->open(&d, &t, &options);
            assert_int_equal(status, k == 0 ? CUZK_NO_MEMORY : k == 1 ? CUZK_INTERNAL : CUZK_DEVICE_LOST);
            assert_null(d);
            const struct cuda_host_usage u = cuda_host_used();
            if (k < 2 && (u.device_bytes || u.registered || u.streams || u.events)) fail_msg("call %lu: something is left", n);
        }
}

static void operations_fail_at_each_call(void **state)
{
    const struct backend *b = backend_by_name("cuda");
    struct task t;
    bool right;
    (void)state;
    struct device *d = fresh_device(&t);
    unsigned long calls = cuda_host_call_count();
    assert_int_equal(operations(d, &t, &right), CUZK_OK);
    assert_true(right);
    calls = cuda_host_call_count() - calls;
    /* an error that leaves the context alive: the same device is used again */
    unsigned failed = 0;
    for (unsigned long n = 1; n <= calls; n++) {
        const struct cuda_host_usage before = cuda_host_used();
        task_init(&t);
        cuda_host_fail_call(n, cudaErrorMemoryAllocation);
        const cuzk_status status = operations(d, &t, &right);
        cuda_host_fail_call(0, 0);
        failed += status != CUZK_OK;
        if (status == CUZK_OK ? !right : status != CUZK_NO_MEMORY) fail_msg("call %lu: status %d, %s", n, (int)status, t.error.text);
        const struct cuda_host_usage after = cuda_host_used();
        assert_int_equal(after.registered, before.registered);
        assert_int_equal(after.device_bytes, before.device_bytes);
        /* what could not be destroyed is left, and nobody can be told */
        if (status != CUZK_OK && (after.streams != before.streams || after.events != before.events)) fail_msg("call %lu: a stream or an event is left", n);
        task_init(&t);
        if (n % 5 == 0 && (operations(d, &t, &right) != CUZK_OK || !right)) fail_msg("after call %lu: %s", n, t.error.text);
    }
    printf("%lu calls, %u of them told by a status\n", calls, failed);
    assert_in_range(failed, calls * 2 / 3, calls); /* not those of closing a stream and wiping a buffer */
    b->close(d);
    const struct cuda_host_usage u = cuda_host_used();
    assert_int_equal(u.device_bytes + u.registered, 0);
}

static void context_dies_at_each_kernel(void **state)
{
    const struct backend *b = backend_by_name("cuda");
    struct task t;
    bool right;
    (void)state;
    struct device *d = fresh_device(&t);
    unsigned long kernels = cuda_host_kernel_count();
    assert_int_equal(operations(d, &t, &right), CUZK_OK);
    kernels = cuda_host_kernel_count() - kernels;
    b->close(d);
    for (unsigned long n = 1; n <= kernels; n += 3) {
        d = fresh_device(&t);
        cuda_host_fail_kernel(n, n % 2 ? cudaErrorIllegalAddress : cudaErrorECCUncorrectable);
        assert_int_equal(operations(d, &t, &right), CUZK_DEVICE_LOST);
        if (!strstr(t.error.text, "context is lost")) fail_msg("'%s'", t.error.text);
        for (int again = 0; again < 2; again++) { /* and from then on */
            task_init(&t);
            assert_int_equal(operations(d, &t, &right), CUZK_DEVICE_LOST);
        }
        b->close(d);
    }
    printf("%lu kernels\n", kernels);
}

static void plan_larger_than_the_arena(void **state)
{
    const struct backend *b = backend_by_name("cuda");
    struct msm_plan plan;
    struct buffer buffer;
    struct task t;
    (void)state;
    struct device *d = fresh_device(&t);
    assert_int_equal(b->msm_plan(&plan, &t, d, &curve_bn254, GROUP_G1, 100000000), CUZK_TOO_LARGE);
    task_init(&t);
    assert_int_equal(b->buffer_take(&buffer, &t, d, MEM_DEVICE, (size_t)1 << 30, 0), CUZK_TOO_LARGE); /* never fits */
    task_init(&t);
    struct buffer first;
    assert_int_equal(b->buffer_take(&first, &t, d, MEM_DEVICE, (size_t)100 << 20, 0), CUZK_OK);
    assert_int_equal(b->buffer_take(&buffer, &t, d, MEM_DEVICE, (size_t)100 << 20, 0), CUZK_NO_MEMORY); /* later */
    b->buffer_give(&first);
    b->close(d);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(no_usable_device), cmocka_unit_test(open_fails_at_each_call), cmocka_unit_test(operations_fail_at_each_call),
        cmocka_unit_test(context_dies_at_each_kernel), cmocka_unit_test(plan_larger_than_the_arena),
    };
    const struct group *g = &curve_bn254.g1;
    struct g_jac p, term;
    struct task t;
    task_init(&t);
    prng_init(&rng);
    g->jac_from_aff(&p, &g->generator);
    g->jac_set_inf(&expected_sum);
    for (int i = 0; i < POINTS; i++) {
        struct g_aff a;
        g->jac_dbl(&p, &p);
        g->jac_to_aff(&a, &p);
        memcpy(points + (size_t)i * 64, &a, 64);
        prng_bytes(&rng, &scalars[i], sizeof scalars[i]);
        scalars[i].w[3] >>= 4;
        g->jac_mul(&term, &p, &scalars[i]);
        g->jac_add(&expected_sum, &expected_sum, &term);
    }
    if (domain_init(&domain, &t, &curve_bn254, ROOT_BELLMAN, LOG2) != CUZK_OK) return 1;
    for (int k = 0; k < SIZE; k++) curve_bn254.fr.from_u64(&values[k], prng_u64(&rng));
    domain_dft_naive(&domain, expected_values, values, false);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
