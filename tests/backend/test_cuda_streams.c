/* Several streams of one emulated device: copies on a stream of their own, each side waiting for the other by stream_wait; what is left
 * in pinned memory; several host threads.  Over the seeds of all orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backend/cuda/cuda_device.h"
#include "cuda_host.h"
#include "support/prng.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG2 = 6, SIZE = 1 << LOG2, CHUNKS = 6, SEEDS = 8, PINNED = 1 << 20 };

#define OK(call)                                                      \
    do {                                                              \
        if ((call) != CUZK_OK) fail_msg("%s: %s", #call, t.error.text); \
    } while (0)

static struct prng rng;
static struct domain domain;
static struct fr in[CHUNKS][SIZE], expected[CHUNKS][SIZE];
static const size_t bytes = sizeof in[0];

static void open_device(struct device **d, struct task *tp, uint64_t seed)
{
    struct task t;
    struct cuda_host_config c = cuda_host_default();
    c.seed = seed;
    c.guard_memory = true;
    cuda_host_configure(&c);
    const struct device_options o = { .memory_bytes = (uint64_t)400 << 20, .pinned_bytes = PINNED };
    task_init(tp);
    task_init(&t);
    OK(backend_by_name("cuda")->open(d, &t, &o));
}

/* Chunks go up, are transformed and come down through two buffers in turn, while the next one goes up.  Are all right? */
static bool pipeline(uint64_t seed, bool wait_for_upload, bool wait_for_use)
{
    const struct backend *b = backend_by_name("cuda");
    struct device *d;
    struct stream *work, *copies;
    struct task t;
    struct buffer on[2], host;
    bool right = true;
    open_device(&d, &t, seed);
    OK(b->stream_open(&work, &t, d));
    OK(b->copies_open(&copies, &t, d));
    for (int k = 0; k < 2; k++) OK(b->buffer_take(&on[k], &t, d, MEM_DEVICE, bytes, 0));
    OK(b->buffer_take(&host, &t, d, MEM_PINNED, 2 * CHUNKS * bytes, BUFFER_SECRET));
    memcpy(host.data, in, CHUNKS * bytes);
    for (int i = 0; i < CHUNKS; i++) {
        if (wait_for_use && i >= 2) OK(b->stream_wait(copies, &t, work));
        OK(b->upload(copies, &t, &on[i % 2], 0, host.data + (size_t)i * bytes, bytes));
        if (wait_for_upload) OK(b->stream_wait(work, &t, copies));
        OK(b->ntt(work, &t, &domain, &on[i % 2], false, false));
        OK(b->download(work, &t, host.data + (size_t)(CHUNKS + i) * bytes, &on[i % 2], 0, bytes));
    }
    OK(b->stream_sync(copies, &t));
    OK(b->stream_sync(work, &t));
    for (int i = 0; i < CHUNKS; i++) right &= memcmp(host.data + (size_t)(CHUNKS + i) * bytes, expected[i], bytes) == 0;
    uint8_t *const pinned = host.data;
    b->buffer_give(&host);
    for (size_t i = 0; i < 2 * CHUNKS * bytes; i++)
        if (pinned[i] != 0) fail_msg("a secret buffer is not wiped");
    for (int k = 0; k < 2; k++) b->buffer_give(&on[k]);
    b->stream_close(copies);
    b->stream_close(work);
    b->close(d);
    return right;
}

static void copies_beside_work(void **state)
{
    int without_upload = 0, without_use = 0;
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        if (!pipeline(seed, true, true)) fail_msg("seed %llu", (unsigned long long)seed);
        without_upload += pipeline(seed, false, true);
        without_use += pipeline(seed, true, false);
    }
    assert_in_range(without_upload, 0, SEEDS / 2);
    assert_in_range(without_use, 0, SEEDS - 1);
}

static void refusals(void **state)
{
    const struct backend *b = backend_by_name("cuda");
    struct device *d;
    struct stream *copies;
    struct task t;
    struct buffer on;
    (void)state;
    open_device(&d, &t, 1);
    OK(b->copies_open(&copies, &t, d));
    OK(b->buffer_take(&on, &t, d, MEM_DEVICE, bytes, 0));
    assert_int_equal(b->ntt(copies, &t, &domain, &on, false, false), CUZK_INVALID_ARGUMENT);
    task_init(&t);
    b->buffer_give(&on);
    b->stream_close(copies);
    b->close(d);
}

/* After stream_sync, nothing of what went up or came down is in the stream's pinned memory. */
static void stages_are_wiped(void **state)
{
    const struct backend *b = backend_by_name("cuda");
    struct device *d;
    struct stream *s;
    struct task t;
    struct buffer on, probe;
    static struct fr back[SIZE];
    (void)state;
    open_device(&d, &t, 2);
    OK(b->buffer_take(&probe, &t, d, MEM_PINNED, 4096, 0)); /* at the start of the pinned memory; the stream's follows */
    OK(b->stream_open(&s, &t, d));
    OK(b->buffer_take(&on, &t, d, MEM_DEVICE, bytes, BUFFER_SECRET));
    OK(b->upload(s, &t, &on, 0, in[0], bytes));
    const uint8_t *const stage = probe.data + 4096;
    assert_memory_equal(stage, in[0], bytes);
    OK(b->stream_sync(s, &t));
    for (size_t i = 0; i < bytes; i++) assert_int_equal(stage[i], 0);
    OK(b->download(s, &t, back, &on, 0, bytes));
    assert_memory_equal(back, in[0], bytes);
    OK(b->stream_sync(s, &t));
    for (size_t i = 0; i < CUDA_STAGE_SLOTS * CUDA_STAGE_BYTES; i++)
        if (stage[i] != 0) fail_msg("byte %zu of a stage is not wiped", i);
    b->buffer_give(&on);
    b->buffer_give(&probe);
    b->stream_close(s);
    b->close(d);
}

struct worker {
    struct device *d;
    bool right;
};
static void *work(void *context)
{
    struct worker *w = context;
    const struct backend *b = backend_by_name("cuda");
    struct stream *s = NULL;
    struct buffer on;
    struct task t;
    struct fr got[SIZE];
    task_init(&t);
    w->right = b->stream_open(&s, &t, w->d) == CUZK_OK && b->buffer_take(&on, &t, w->d, MEM_DEVICE, bytes, BUFFER_SECRET) == CUZK_OK;
    for (int i = 0; i < 2 * CHUNKS && w->right; i++)
        w->right = b->upload(s, &t, &on, 0, in[i % CHUNKS], bytes) == CUZK_OK && b->ntt(s, &t, &domain, &on, false, false) == CUZK_OK &&
                   b->download(s, &t, got, &on, 0, bytes) == CUZK_OK && b->stream_sync(s, &t) == CUZK_OK && memcmp(got, expected[i % CHUNKS], bytes) == 0;
    b->buffer_give(&on);
    b->stream_close(s);
    return NULL;
}
static void host_threads(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct device *d;
        struct task t;
        pthread_t threads[3];
        struct worker workers[3];
        open_device(&d, &t, seed);
        for (int k = 0; k < 3; k++) {
            workers[k].d = d;
            assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
        }
        for (int k = 0; k < 3; k++) pthread_join(threads[k], NULL);
        for (int k = 0; k < 3; k++) assert_true(workers[k].right);
        backend_by_name("cuda")->close(d);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = { cmocka_unit_test(copies_beside_work), cmocka_unit_test(refusals), cmocka_unit_test(stages_are_wiped),
                                        cmocka_unit_test(host_threads) };
    struct task t;
    task_init(&t);
    prng_init(&rng);
    if (domain_init(&domain, &t, &curve_bn254, ROOT_BELLMAN, LOG2) != CUZK_OK) return 1;
    for (int i = 0; i < CHUNKS; i++) {
        for (int k = 0; k < SIZE; k++) {
            struct fr_int x;
            do {
                prng_bytes(&rng, &x, sizeof x);
                x.w[3] >>= 2;
            } while (!curve_bn254.fr.int_is_canonical(&x));
            curve_bn254.fr.from_int(&in[i][k], &x);
        }
        domain_dft_naive(&domain, expected[i], in[i], false);
    }
    return cmocka_run_group_tests(cases, NULL, NULL);
}
