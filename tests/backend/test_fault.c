/* The fault backend: the armed call and no other fails, with the status asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backend/fault/fault_backend.h"

/* Opens, transforms and closes; returns the status.  Frees all it took, wherever it fails. */
static cuzk_status work(struct task *t)
{
    const struct backend *b = backend_by_name("fault");
    const struct device_options o = { .threads = 1 };
    struct device *d = NULL;
    struct stream *s = NULL;
    struct buffer x = { 0 };
    struct domain domain;
    uint8_t values[256] = { 0 }, back[256];
    cuzk_status status;
    for (size_t i = 0; i < sizeof values; i++) values[i] = (uint8_t)(i % 31 == 0 ? i : 0);
    TRY_GOTO(out, domain_init(&domain, t, &curve_bn254, ROOT_SNARKJS, 3));
    TRY_GOTO(out, b->open(&d, t, &o));
    TRY_GOTO(out, b->stream_open(&s, t, d));
    TRY_GOTO(out, b->buffer_take(&x, t, d, MEM_HEAP, sizeof values, 0));
    TRY_GOTO(out, b->upload(s, t, &x, 0, values, sizeof values));
    TRY_GOTO(out, b->ntt(s, t, &domain, &x, false, false));
    TRY_GOTO(out, b->ntt(s, t, &domain, &x, true, false));
    TRY_GOTO(out, b->download(s, t, back, &x, 0, sizeof back));
    TRY_GOTO(out, b->stream_sync(s, t));
    assert_memory_equal(values, back, sizeof back);
out:
    b->buffer_give(&x);
    b->stream_close(s);
    b->close(d);
    return status;
}

static void sweep(void **state)
{
    uint64_t n = 0, calls;
    (void)state;
    for (;; n++) {
        struct task t;
        task_init(&t);
        fault_arm(n, CUZK_DEVICE_LOST);
        const cuzk_status status = work(&t);
        calls = fault_disarm();
        if (calls <= n) {
            assert_int_equal(status, CUZK_OK);
            break;
        }
        assert_int_equal(status, CUZK_DEVICE_LOST);
        assert_int_equal(t.error.status, CUZK_DEVICE_LOST);
        assert_int_equal(calls, n + 1); /* nothing is tried after a failure */
    }
    assert_int_equal(n, 8);
}

int main(void)
{
    const struct CMUnitTest cases[] = { cmocka_unit_test(sweep) };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
