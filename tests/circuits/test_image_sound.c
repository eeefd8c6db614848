/* Circuit images that are well formed and yet no interpreter could run: refused when they are loaded, by name. */
#include "circuits/gadgets/gadgets.h"
#include "support/cm.h"

#include <stdio.h>
#include <stdlib.h>

static struct task t;

static void ok(cuzk_status status)
{
    if (status != CUZK_OK) fail_msg("%s", t.error.text);
}

/* Template k does nothing but call template k - 1, `calls` times. */
static void tower(struct circuit_image *m, unsigned height, unsigned calls)
{
    struct builder *b;
    struct word in, inner;
    uint32_t id[128];
    ok(builder_create(&b, &t, "tower"));
    word_index(b, &in, 32);
    assert_true(height <= ARRAY_COUNT(id));
    for (unsigned k = 0; k < height; k++) {
        struct template_key key = { .words = &in, .word_count = 1 };
        snprintf(key.name, sizeof key.name, "level-%u", k);
        assert_true(template_begin(b, &id[k], &key, &inner, NULL));
        for (unsigned i = 0; i < calls && k > 0; i++)
            template_call(b, id[k - 1], &inner, NULL, NULL, NULL, false);
        id[k] = template_end(b, NULL, 0);
    }
    template_call(b, id[height - 1], &in, NULL, NULL, NULL, false);
    words_input(b, &in, (const uint8_t[1]){ 32 }, 1);
    ok(builder_finish(b, m));
}

/* Saves and loads it; why: NULL, or what the refusal must say. */
static void assert_loads(const struct circuit_image *m, const char *why)
{
    struct circuit_image back;
    uint8_t *file;
    size_t bytes;
    ok(image_save(m, &t, &file, &bytes));
    const cuzk_status status = image_load(&back, &t, span_of(file, bytes));
    free(file);
    if (why == NULL) {
        ok(status);
        image_fini(&back);
        return;
    }
    assert_int_equal(status, CUZK_MALFORMED);
    if (strstr(t.error.text, why) == NULL) fail_msg("%s", t.error.text);
    task_init(&t);
}

static void test_calls_without_end(void **state)
{
    struct circuit_image m;
    (void)state;
    tower(&m, 16, 2);
    assert_loads(&m, NULL);
    image_fini(&m);
    tower(&m, 50, 2);
    assert_loads(&m, "calls without end");
    image_fini(&m);
}

static void test_nesting(void **state)
{
    struct circuit_image m;
    (void)state;
    tower(&m, 60, 1);
    assert_loads(&m, NULL);
    image_fini(&m);
    tower(&m, 100, 1);
    assert_loads(&m, "calls inside calls");
    image_fini(&m);
}

/* Their sum is beyond 32 bits: not to wrap around into a small array. */
static void test_registers(void **state)
{
    struct circuit_image m;
    (void)state;
    tower(&m, 60, 1);
    for (uint32_t i = 0; i < m.template_count; i++) m.templates[i].word_count = (1u << 24) - 1;
    assert_loads(&m, "more registers");
    image_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_without_end),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_registers),
    };
    task_init(&t);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
