/* The emulated card of a test program, in static names: a fresh one, with another order of its blocks, for each test that asks for it.
 * Included once, behind cmocka's header. */
#include "backend/backend.h"
#include "cuda_host.h"
#include "support/prng.h"

#include <stdlib.h>

extern const struct backend backend_cuda;
static const struct backend *const b = &backend_cuda;
static struct task t;
static struct prng rng;
static struct device *device;
static struct stream *stream;

#define OK(call)                                                        \
    do {                                                                \
        if ((call) != CUZK_OK) fail_msg("%s: %s", #call, t.error.text); \
    } while (0)

static int open_device(void **state)
{
    struct cuda_host_config c = cuda_host_default();
    const struct device_options o = { .memory_bytes = (uint64_t)400 << 20 };

    (void)state;
    c.seed = prng_below(&rng, 1 << 20);
    cuda_host_configure(&c);
    OK(b->open(&device, &t, &o));
    OK(b->stream_open(&stream, &t, device));
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    b->stream_close(stream);
    b->close(device);
    return 0;
}

static void *must_alloc(size_t bytes)
{
    void *const p = calloc(1, bytes != 0 ? bytes : 1);

    if (p == NULL) fail_msg("%zu bytes", bytes);
    return p;
}
