/* Allocation failures in the proving of PoRep's kind: a circuit image, its key split for a device, plan, load, two partitions, with all points on
 * the device and with points that are sent.  Each is told, by the batch or by the partition that it hit; nothing is held, and the same batch
 * is proved afterwards. */
#include "support/cm.h"
#include "groth16/prove_batch.h"
#include "groth16/setup.h"
#include "support/alloc_fail.h"
#include "support/image_backend.h"
#include "support/proving.h"
#include "support/random_statement.h"
#include "support/small_image.h"

enum { PARTITIONS = 2, INPUTS_MOST = 64 };

static struct proving proving;
static struct small_image small;
static struct groth16_key *key;
static struct groth16_verifier verifier;
static struct random_statement statement;
static struct fr_int inputs[INPUTS_MOST];
static const struct backend *backend;
static struct device *device;

static int open_all(void **state)
{
    char params[PATH_MAX];
    struct trapdoor secrets;
    struct task t;

    (void)state;
    proving_open(&proving, "cpu");
    small_image_open(&small, &proving.random);
    proving_task(&t, &proving);
    temp_folder_path(params, &proving.folder, "small.params");
    proving_secrets(&secrets, &proving, &curve_bls12_381, ROOT_BELLMAN);
    proving_must(&t,
                 groth16_setup_constraints(&t, &small.constraints, &secrets,
                                           &(struct groth16_setup_paths){ .key = params }, proving.backend,
                                           proving.device),
                 "set-up");
    proving_must(&t, groth16_key_open_circuit(&key, &t, params, &small.constraints), "key");
    groth16_verifier_init(&verifier, &key->vk);
    random_statement_make(&statement, &small.image, &proving.random);
    const struct statement view = random_statement_view(&statement);
    task_init(&t);
    proving_must(&t, image_assign(&small.image, &t, &small.assignment, &view), "witness");
    assert_true(key->public_count <= INPUTS_MOST);
    memcpy(inputs, small.assignment.inputs + 1, key->public_count * sizeof *inputs);
    backend = image_backend(proving.backend);
    const struct device_options o = { .threads = 1, .memory_bytes = (uint64_t)1 << 30 };
    proving_must(&t, backend->open(&device, &t, &o), "device");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    groth16_key_unref(key);
    backend->close(device);
    image_backend_end();
    random_statement_fini(&statement);
    small_image_close(&small);
    proving_close(&proving);
    return 0;
}

/* All of it; what it has on the device goes with the key's split and, for what the key itself has there, before the next. */
static cuzk_status prove_all(struct task *t, const struct batch_limits *limits, bool *proved)
{
    struct batch_item items[PARTITIONS] = { 0 };
    struct key_split *split = NULL;
    struct stream *stream = NULL;
    struct batch *batch = NULL;
    struct batch_plan plan;
    cuzk_status status;

    for (unsigned k = 0; k < PARTITIONS; k++)
        items[k] = (struct batch_item){
            .number = k, .state = random_statement_write, .context = &statement, .inputs = inputs
        };
    TRY_GOTO(out, key_split_create(&split, t, key, backend, device));
    TRY_GOTO(out, prove_batch_plan(&plan, t, split, limits));
    TRY_GOTO(out, backend->stream_open(&stream, t, device));
    TRY_GOTO(out, key_split_load(split, t, stream, &plan.keep));
    TRY_GOTO(out, prove_batch_open(&batch, t, &plan));
    TRY_GOTO(out, prove_batch_begin(batch, t, items, PARTITIONS, NULL));
    TRY_GOTO(out, prove_batch_end(batch, t, &verifier));
out:
    prove_batch_close(batch);
    backend->stream_close(stream);
    key_split_destroy(split);
    key_device_drop(key, backend, device);
    *proved = status == CUZK_OK;
    for (unsigned k = 0; k < PARTITIONS && status == CUZK_OK; k++) {
        if (items[k].error.status == CUZK_OK) continue;
        assert_int_equal(items[k].error.status, CUZK_NO_MEMORY);
        *proved = false;
    }
    return status;
}

/* Fails allocation 0, then ever larger steps at random. */
static void sweep(const struct batch_limits *limits)
{
    unsigned failures = 0;
    struct task t;
    bool proved;

    for (size_t n = 0;; n += 1 + prng_below(&proving.random, n / 2 + 1)) {
        task_init(&t);
        alloc_fail_arm(n);
        const cuzk_status status = prove_all(&t, limits, &proved);
        if (!alloc_fail_disarm()) {
            assert_true(proved);
            printf("%u failures told\n", failures);
            assert_true(failures > 5);
            return;
        }
        if (status != CUZK_OK && status != CUZK_NO_MEMORY)
            fail_msg("allocation %zu: %d, %s", n, (int)status, t.error.text);
        failures += !proved;
    }
}

static void with_all_points_on_the_device(void **state)
{
    const struct batch_limits l = { .partitions = PARTITIONS, .check_rows = true };

    (void)state;
    sweep(&l);
}

/* As if the device had memory for a batch but not for the points. */
static void with_points_that_are_sent(void **state)
{
    const struct key_keep none = { .streams = true };
    struct batch_limits l = { .partitions = PARTITIONS };
    struct batch_plan plan;
    struct key_split *split;
    struct task t;

    (void)state;
    task_init(&t);
    proving_must(&t, key_split_create(&split, &t, key, backend, device), "key");
    proving_must(&t, prove_batch_plan(&plan, &t, split, &l), "plan");
    l.sends = true;
    l.keep_most = 1;
    l.place_bytes = (uint64_t)BATCH_PIECE_POINTS * 192 * 7;
    l.memory_bytes = plan.total_bytes -
                     (key_split_device_bytes(split, &plan.keep) - key_split_device_bytes(split, &none)) / 4;
    key_split_destroy(split);
    sweep(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_all_points_on_the_device),
        cmocka_unit_test(with_points_that_are_sent),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
