/* The block of memory that a lane keeps from one proof to the next: the same one, wiped in between, and gone when it is told to give it. */
#include "support/cm.h"
#include "base/clock.h"
#include "engine/lane_thread.h"
#include <stdlib.h>

#define BLOCK_BYTES 300000 /* of the circuit; no multiple of a page */

/* What the fake proof saw of its block; read once the lane has answered. */
static struct seen {
    const uint8_t *data;
    size_t bytes;
    bool clean;
} seen;
static bool fails; /* the next proof */

static cuzk_status fake_prove(struct task *t, struct part_output *out, const struct part_input *in, void *carry, const struct place *place,
                              const struct bytes *granted)
{
    (void)carry;
    (void)granted;
    memset(&seen, 0, sizeof seen);
    if (place->block != NULL) {
        seen = (struct seen){ place->block->data, place->block->bytes, true };
        for (size_t i = 0; i < seen.bytes; i++) seen.clean &= seen.data[i] == 0;
        memset(place->block->data, 0xa5, in->circuit->block_bytes);
    }
    if (fails) return FAIL(t, CUZK_IO, "as it was told");
    out->proof = calloc(1, 1);
    return CUZK_OK;
}

static cuzk_status fake_verify(struct task *t, struct part_output *out, const struct part_input *in, void *carry)
{
    (void)t;
    (void)out;
    (void)in;
    (void)carry;
    return CUZK_OK;
}

static const struct job_kind fake = { .name = "fake", .prove = fake_prove, .verify = fake_verify };
static struct circuit circuit = { .name = (char *)(uintptr_t) "fake", .kind = &fake };
static struct mailbox answers;
static struct lane_thread lane;
static struct device *device;
static struct job *job;

static const struct event *answer(void)
{
    struct envelope *m = (struct envelope *)(void *)mailbox_take(&answers, -1);

    return &m->event;
}

/* One proof on a circuit that takes block_bytes, after which the lane is to have keeps bytes. */
static struct seen run(uint64_t block_bytes, uint64_t keeps)
{
    const struct lane what = { .job = job, .held.of[BYTES_HEAP] = 1 << 20, .keeps = keeps };

    circuit.block_bytes = block_bytes;
    lane_thread_run(&lane, &what, NULL);
    const struct event *e = answer();
    assert_int_equal(e->kind, EVENT_PART_ENDED);
    assert_int_equal(e->outcome, fails ? PART_FAILED : PART_RAN);
    struct part_output output = e->output;
    part_output_free(&output);
    return seen;
}

static int open_lane(void **state)
{
    const struct device_options o = { .threads = 1 };
    struct task t;
    (void)state;

    task_init(&t);
    assert_int_equal(backend_by_name("cpu")->open(&device, &t, &o), CUZK_OK);
    assert_int_equal(mailbox_init(&answers, &t), CUZK_OK);
    assert_int_equal(job_create(&job, &t, &circuit, 1, span_of(NULL, 0)), CUZK_OK);
    job->payload = calloc(1, 1);
    job->payload_bytes = 1;
    memset(&lane, 0, sizeof lane);
    lane.engine = &answers;
    lane.place = (struct place){ .backend = backend_by_name("cpu"), .device = device };
    assert_int_equal(lane_thread_start(&lane, &t), CUZK_OK);
    fails = false;
    return 0;
}

static int close_lane(void **state)
{
    (void)state;
    lane_thread_join(&lane);
    job_destroy(job);
    mailbox_fini(&answers);
    backend_by_name("cpu")->close(device);
    return 0;
}

static void stays_and_is_clean(void **state)
{
    (void)state;
    const struct seen first = run(BLOCK_BYTES, BLOCK_BYTES), second = run(BLOCK_BYTES, BLOCK_BYTES);
    assert_int_equal(first.bytes, BLOCK_BYTES);
    assert_true(first.clean);
    assert_ptr_equal(second.data, first.data);
    assert_true(second.clean); /* though the first one left 0xa5 in it */
    fails = true;
    run(BLOCK_BYTES, BLOCK_BYTES);
    fails = false;
    const struct seen after_failure = run(BLOCK_BYTES, BLOCK_BYTES);
    assert_ptr_equal(after_failure.data, first.data);
    assert_true(after_failure.clean);
    const struct seen smaller = run(BLOCK_BYTES / 2, BLOCK_BYTES);
    assert_ptr_equal(smaller.data, first.data);
    assert_int_equal(smaller.bytes, BLOCK_BYTES);
    assert_true(smaller.clean);
    assert_true(run(BLOCK_BYTES, BLOCK_BYTES).clean);
}

static void grows_and_goes(void **state)
{
    (void)state;
    assert_int_equal(run(BLOCK_BYTES, BLOCK_BYTES).bytes, BLOCK_BYTES);
    const struct seen larger = run(2 * BLOCK_BYTES, 2 * BLOCK_BYTES);
    assert_int_equal(larger.bytes, 2 * BLOCK_BYTES);
    assert_true(larger.clean);
    assert_null(run(4 * BLOCK_BYTES, 0).data); /* too large to be kept: the proof takes its own */
    assert_null(lane.block.data);
    assert_int_equal(run(BLOCK_BYTES, BLOCK_BYTES).bytes, BLOCK_BYTES);
    lane_thread_give(&lane);
    const struct event *e = answer();
    assert_int_equal(e->kind, EVENT_LANE_GAVE);
    assert_null(lane.block.data);
    assert_true(run(BLOCK_BYTES, BLOCK_BYTES).clean);
}

/* A payload that cannot be read ends a run before it comes to its block: no more stays than the engine says. */
static void goes_without_a_payload(void **state)
{
    uint8_t *const payload = job->payload;
    (void)state;

    assert_int_equal(run(BLOCK_BYTES, BLOCK_BYTES).bytes, BLOCK_BYTES);
    job->payload = NULL;
    lane.data_folder = "/nonexistent";
    fails = true;
    run(4 * BLOCK_BYTES, 0);
    assert_null(lane.block.data);
    job->payload = payload;
    fails = false;
    assert_true(run(BLOCK_BYTES, BLOCK_BYTES).clean);
    assert_int_equal(lane.block.bytes, BLOCK_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stays_and_is_clean, open_lane, close_lane),
        cmocka_unit_test_setup_teardown(grows_and_goes, open_lane, close_lane),
        cmocka_unit_test_setup_teardown(goes_without_a_payload, open_lane, close_lane),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
