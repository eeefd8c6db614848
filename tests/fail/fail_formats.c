/* The allocations of the parsers and writers of small files fail one after another. */
#include "support/cm.h"
#include "support/alloc_fail.h"
#include "formats/filvk.h"
#include "formats/snarkjs_json.h"
#include "support/format_samples.h"

static struct prng rng;

typedef cuzk_status operation(struct task *t, const void *input);

/* Fails allocation 0, 1, ... until the operation passes untouched; it must have failed at least once before. */
static void sweep(operation *run, const void *input)
{
    for (size_t n = 0; n < 1000; n++) {
        struct task t;
        task_init(&t);
        alloc_fail_arm(n);
        cuzk_status status = run(&t, input);
        if (!alloc_fail_disarm()) {
            assert_int_equal(status, CUZK_OK);
            assert_true(n > 0);
            return;
        }
        assert_int_equal(status, CUZK_NO_MEMORY);
        assert_true(t.error.text[0] != '\0');
    }
    fail_msg("a thousand allocations and no end");
}

static cuzk_status write_and_read_vk(struct task *t, const void *input)
{
    struct json_text text;
    struct vk_points back;
    TRY(snarkjs_vk_write(t, &text, (const struct vk_points *)input));
    cuzk_status status = snarkjs_vk_read(&back, t, "vk", span_of(text.data, text.size));
    json_text_fini(&text);
    if (status == CUZK_OK) vk_points_fini(&back);
    return status;
}

static void test_vk_json(void **state)
{
    (void)state;
    struct vk_points vk;
    sample_vk(&vk, &rng, &curve_bn254, 3);
    sweep(write_and_read_vk, &vk);
    vk_points_fini(&vk);
}

static cuzk_status read_public(struct task *t, const void *input)
{
    struct public_values values;
    const char *text = (const char *)input;
    TRY(snarkjs_public_read(&values, t, "public", span_of(text, strlen(text)), &curve_bn254));
    public_values_fini(&values);
    return CUZK_OK;
}

static void test_public_json(void **state)
{
    (void)state;
    sweep(read_public,
          "[\"1\", 123456789012345678901234567890]"); /* the long integer takes a copy of the text */
}

static cuzk_status read_filvk(struct task *t, const void *input)
{
    struct filvk vk;
    struct vk_points points;
    TRY(filvk_parse(&vk, t, "vk", blob_span((const struct blob *)input)));
    TRY(filvk_points(&points, t, &vk));
    vk_points_fini(&points);
    return CUZK_OK;
}

static void test_filvk(void **state)
{
    (void)state;
    struct blob b = sample_filvk(&rng, 2, false);
    sweep(read_filvk, &b);
    blob_free(&b);
}

int main(void)
{
    prng_init(&rng);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vk_json),
        cmocka_unit_test(test_public_json),
        cmocka_unit_test(test_filvk),
    };
    return cmocka_run_group_tests_name("formats: allocation failures", tests, NULL, NULL);
}
