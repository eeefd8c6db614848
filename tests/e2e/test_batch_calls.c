/* Batches one after another on one device, under a key made there from a secret: from the second on no call that acts on the whole device,
 * no device memory beyond the first's, every sum the oracle's.  What test_porep_calls does with sectors on a card, small, on the emulated one. */
#include "support/cm.h"
#include "cuda_host.h"
#include "groth16/key_secret.h"
#include "groth16/prove_batch.h"
#include "support/cuda_calls.h"
#include "support/oracle_sums.h"
#include "support/proving.h"
#include "support/random_statement.h"
#include "support/small_image.h"

enum { BATCHES = 2 };

struct made {
    struct proving proving;
    struct small_image small;
    struct trapdoor secrets;
    const struct backend *backend;
    struct device *device;
    struct groth16_key *key;
    struct key_split *split;
    struct groth16_verifier verifier;
    struct batch_plan plan;
    struct batch *batch;
};
static struct made m;

static int open_all(void **state)
{
    const struct device_options o = { .memory_bytes = (uint64_t)1 << 30, .pinned_bytes = 1 << 20 };
    const struct key_keep all = { .streams = false };
    const struct batch_limits limits = { .partitions = 1, .check_rows = true };
    struct stream *stream;
    struct task t;

    (void)state;
    proving_open(&m.proving, "cpu");
    small_image_open(&m.small, &m.proving.random);
    proving_secrets(&m.secrets, &m.proving, &curve_bls12_381, ROOT_BELLMAN);
    proving_task(&t, &m.proving);
    m.backend = backend_by_name("cuda");
    proving_must(&t, m.backend->open(&m.device, &t, &o), "device");
    proving_must(
        &t, groth16_key_from_secret(&m.key, &t, &m.small.constraints, &m.secrets, true, m.backend, m.device),
        "key");
    groth16_verifier_init(&m.verifier, &m.key->vk);
    proving_must(&t, key_split_create(&m.split, &t, m.key, m.backend, m.device), "key on the device");
    proving_must(&t, prove_batch_plan(&m.plan, &t, m.split, &limits), "plan");
    proving_must(&t, m.backend->stream_open(&stream, &t, m.device), "stream");
    proving_must(&t, key_split_load(m.split, &t, stream, &all), "points");
    m.backend->stream_close(stream);
    proving_must(&t, prove_batch_open(&m.batch, &t, &m.plan), "batch");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    prove_batch_close(m.batch);
    key_split_destroy(m.split);
    groth16_key_unref(m.key);
    m.backend->close(m.device);
    small_image_close(&m.small);
    proving_close(&m.proving);
    return 0;
}

static void assert_sums(const struct oracle_sums *expected)
{
    const struct g_jac *const sums = prove_batch_sums(m.batch, 0);
    const struct group *g1 = &curve_bls12_381.g1, *g2 = &curve_bls12_381.g2;
    struct g_jac lh;
    struct g_aff got;

    assert_non_null(sums);
    g1->jac_to_aff(&got, &sums[QUERY_A]);
    assert_memory_equal(&got, &expected->a, g1->aff_bytes);
    g1->jac_to_aff(&got, &sums[QUERY_B1]);
    assert_memory_equal(&got, &expected->b1, g1->aff_bytes);
    g2->jac_to_aff(&got, &sums[QUERY_B2]);
    assert_memory_equal(&got, &expected->b2, g2->aff_bytes);
    g1->jac_add(&lh, &sums[QUERY_L], &sums[QUERY_H]);
    g1->jac_to_aff(&got, &lh);
    assert_memory_equal(&got, &expected->lh, g1->aff_bytes);
}

static void prove_one(void)
{
    struct random_statement statement;
    struct oracle_sums expected;
    struct batch_item item = { .state = random_statement_write, .context = &statement };
    struct task t;

    task_init(&t); /* the assignment's scratch is for one thread */
    random_statement_make(&statement, &m.small.image, &m.proving.random);
    const struct statement view = random_statement_view(&statement);
    proving_must(&t, image_assign(&m.small.image, &t, &m.small.assignment, &view), "witness");
    item.inputs = (const struct fr_int *)(const void *)(m.small.assignment.inputs + 1);
    proving_must(&t, prove_batch_begin(m.batch, &t, &item, 1, NULL), "batch begun");
    proving_must(
        &t,
        oracle_sums(&t, &expected, groth16_key_scalars(m.key), &m.secrets, &m.small.assignment, &m.small.map),
        "oracle");
    proving_must(&t, prove_batch_wait(m.batch, &t), "sums");
    assert_sums(&expected);
    proving_must(&t, prove_batch_end(m.batch, &t, &m.verifier), "batch ended");
    if (item.error.status != CUZK_OK) fail_msg("%s", item.error.text);
    random_statement_fini(&statement);
}

static void batches_leave_the_device_as_it_is(void **state)
{
    struct device_info first, last;

    (void)state;
    prove_one();
    m.backend->info(m.device, &first);
    cuda_calls_reset();
    for (int i = 1; i < BATCHES; i++) prove_one();
    m.backend->info(m.device, &last);
    assert_int_equal(cuda_calls_forbidden(), 0);
    assert_int_equal(last.peak_bytes, first.peak_bytes);
    assert_true(last.sent_bytes > first.sent_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(batches_leave_the_device_as_it_is) };
    const struct cuda_host_config c = cuda_host_default();

    cuda_host_configure(&c);
    return cmocka_run_group_tests(tests, open_all, close_all);
}
