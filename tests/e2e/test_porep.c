/* A 2 KiB sector sealed, proved and verified: bytes against the oracle's for fixed (r, s), then through the public surface, and what the
 * prover does with a witness or parameters that are wrong.
 *
 * Use: test_porep [PATTERN].  Takes some minutes and 1.1 GB of disk.  The oracle knows the trapdoor and does field arithmetic over the circuit's rows, so it
 * checks set-up, evaluation through the image, quotient, sums and assembly at a domain of 2^22. */
#include "support/cm.h"
#include "api/api_filecoin.h"
#include "circuits/porep/porep_seal.h"
#include "cuzk/cuzk_bench.h"
#include "groth16/key_derived.h"
#include "groth16/prove_blinded.h"
#include "groth16/prove_verified.h"
#include "groth16/setup.h"
#include "support/image_backend.h"
#include "support/oracle.h"
#include "support/proving.h"

struct sealed {
    struct proving proving;
    struct porep_binding binding;
    struct trapdoor secrets;
    char folder[PATH_MAX], params[PATH_MAX], vk[PATH_MAX], derived[PATH_MAX];
    struct groth16_key *key;
    struct c1 c1;
    struct assignment assignment;
    bls12_381_fr_int *values;
    struct witness witness;
};
static struct sealed s;

static void make_parameters(void)
{
    const struct porep_shape *shape = porep_shape_by_name("2KiB");
    struct task t;

    proving_task(&t, &s.proving);
    proving_must(&t, porep_bind(&s.binding, &t, shape), "circuit");
    temp_folder_path(s.folder, &s.proving.folder, "params");
    proving_must(&t, params_folder_claim(&t, s.folder), "folder");
    proving_must(&t, params_path(s.params, &t, s.folder, shape, ".params"), "path");
    proving_must(&t, params_path(s.vk, &t, s.folder, shape, ".vk"), "path");
    proving_secrets(&s.secrets, &s.proving, &curve_bls12_381, ROOT_BELLMAN);
    proving_must(&t, params_path(s.derived, &t, s.folder, shape, ".params" DERIVED_SUFFIX), "path");
    const struct groth16_setup_paths paths = { .key = s.params, .vk = s.vk, .derived = s.derived };
    proving_must(&t,
                 groth16_setup_constraints(&t, &s.binding.constraints, &s.secrets, &paths, s.proving.backend,
                                           s.proving.device),
                 "set-up");
    proving_must(&t, groth16_key_open_circuit(&s.key, &t, s.params, &s.binding.constraints), "key");
}

static void seal(void)
{
    const struct porep_seal_request request = { registered_proof_by_number(5), 1000, 77,
                                                prng_u64(&s.proving.random) };
    struct task t;

    proving_task(&t, &s.proving);
    proving_must(&t, porep_seal(&s.c1, &t, &request), "seal");
    proving_must(&t, porep_check(&s.c1, &t), "check of the vanilla proofs");
    proving_must(&t, assignment_create(&s.assignment, &t, &s.binding.circuit.image), "assignment");
    proving_must(&t, porep_assign(&s.binding.circuit, &t, &s.assignment, &s.c1, 0), "witness");
    s.witness.curve = &curve_bls12_381;
    s.witness.count = s.key->variable_count;
    s.values = calloc(s.witness.count, sizeof *s.values);
    assert_non_null(s.values);
    porep_witness(&s.binding.circuit, &s.assignment, s.values);
    s.witness.values = span_of(s.values, s.witness.count * sizeof *s.values);
    s.witness.assignment = &s.assignment;
}

static int open_all(void **state)
{
    (void)state;
    proving_open(&s.proving, "cpu");
    make_parameters();
    seal();
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    free(s.values);
    assignment_fini(&s.assignment);
    c1_fini(&s.c1);
    groth16_key_unref(s.key);
    porep_unbind(&s.binding);
    proving_close(&s.proving);
    return 0;
}

/* -- the tests --------------------------------------------------------------------------------------------------------- */

static void counts_are_the_published_ones(void **state)
{
    (void)state;
    assert_int_equal(s.key->point_count[QUERY_H], 4194303);
    assert_int_equal(s.key->point_count[QUERY_L], 2685673);
    assert_int_equal(s.key->point_count[QUERY_A], 2674948);
    assert_int_equal(s.key->point_count[QUERY_B1], 685522);
    assert_int_equal(s.key->point_count[QUERY_B2], 685522);
    assert_int_equal(s.key->vk.ic_count, 40);
    assert_int_equal(s.key->file.bytes.size, 1114707768);
}

static void bytes_are_the_oracles(void **state)
{
    struct groth16_proof proof, expected;
    struct groth16_blinding blinding;
    struct groth16_plan plan;
    struct task t;

    (void)state;
    proving_task(&t, &s.proving);
    proving_blinding(&blinding, &s.proving, &curve_bls12_381);
    proving_must(&t, groth16_prove_plan(&plan, &t, s.key, s.proving.backend, s.proving.device), "plan");
    assert_true(plan.piece[QUERY_H] < s.key->point_count[QUERY_H]); /* the sums do run in pieces */
    proving_must(&t, groth16_prove_blinded(&t, &proof, s.key, &plan, &s.witness, &blinding), "prover");
    proving_must(
        &t,
        oracle_prove_constraints(&t, &expected, &s.secrets, &s.binding.constraints, &s.witness, &blinding),
        "oracle");
    assert_true(oracle_equal(&proof, &expected));

    /* and so are those of the key's derived form */
    struct groth16_key *key;
    proving_must(&t, groth16_key_open_circuit(&key, &t, s.params, &s.binding.constraints), "key");
    proving_must(&t, groth16_key_use_derived(key, &t, NULL), "derived form");
    assert_int_equal(key->h_mode, H_LAGRANGE_4);
    proving_must(&t, groth16_prove_plan(&plan, &t, key, s.proving.backend, s.proving.device), "plan");
    proving_must(&t, groth16_prove_blinded(&t, &proof, key, &plan, &s.witness, &blinding), "prover, derived form");
    assert_true(oracle_equal(&proof, &expected));
    groth16_key_unref(key);
}

/* A witness that breaks one row gives an error that names it, and no proof. */
static void a_wrong_witness_is_found(void **state)
{
    const uint32_t aux = 1000000; /* a bit somewhere in the middle of a SHA-256 */
    const uint64_t value = s.binding.constraints.input_count + aux;
    struct groth16_timings timings = { 0 };
    struct groth16_verifier verifier;
    struct groth16_proof proof;
    struct groth16_plan plan;
    struct task t;

    (void)state;
    assert_int_equal(aux_map_find(&s.binding.circuit.map, aux), AUX_IS_BIT);
    proving_task(&t, &s.proving);
    proving_must(&t, groth16_prove_plan(&plan, &t, s.key, s.proving.backend, s.proving.device), "plan");
    groth16_verifier_init(&verifier, &s.key->vk);
    s.assignment.bits[aux / 64] ^= 1ull << aux % 64;
    s.values[value].l[0] ^= 1;
    assert_int_equal(groth16_prove_verified(&t, &proof, s.key, &plan, &verifier, &s.witness, &timings),
                     CUZK_UNSATISFIED);
    assert_non_null(strstr(t.error.text, "row"));
    s.assignment.bits[aux / 64] ^= 1ull << aux % 64;
    s.values[value].l[0] ^= 1;
}

static void the_public_surface_proves_and_verifies(void **state)
{
    cuzk_context_options context_options = CUZK_CONTEXT_OPTIONS_INIT;
    cuzk_porep_key_options key_options = CUZK_POREP_KEY_OPTIONS_INIT;
    cuzk_porep_request request = CUZK_POREP_REQUEST_INIT;
    cuzk_porep_statement statement = CUZK_POREP_STATEMENT_INIT;
    cuzk_porep_key_info info = CUZK_POREP_KEY_INFO_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL, *small = NULL;
    cuzk_porep_key *key = NULL;
    unsigned char proof[192];
    cuzk_vk *vk = NULL;
    struct cuzk_c1 c1 = { s.c1 };

    (void)state;
    key_options.folder = s.folder;
    assert_int_equal(cuzk_context_create(&context, NULL, &error), CUZK_OK);
    assert_int_equal(cuzk_porep_key_open(&key, context, 2048, &key_options, NULL, &error), CUZK_OK);
    cuzk_porep_key_describe(key, &info);
    assert_true(info.development);

    /* one byte less than it takes is refused at once, and the number is said */
    context_options.memory_bytes = info.shared_bytes + info.proof_bytes - 1;
    assert_int_equal(cuzk_context_create(&small, &context_options, &error), CUZK_OK);
    request.miner = 1000;
    request.sector = 77;
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)(info.shared_bytes + info.proof_bytes));
    assert_int_equal(cuzk_porep_prove(proof, sizeof proof, small, key, &c1, &request, NULL, &error),
                     CUZK_TOO_LARGE);
    assert_non_null(strstr(error.text, number));
    cuzk_context_destroy(small);

    memset(proof, 0x5a, sizeof proof);
    request.miner = 1001;
    assert_int_equal(cuzk_porep_prove(proof, sizeof proof, context, key, &c1, &request, NULL, &error),
                     CUZK_MISMATCH);
    for (size_t i = 0; i < sizeof proof; i++) assert_int_equal(proof[i], 0x5a);
    request.miner = 1000;
    assert_int_equal(cuzk_porep_prove(proof, 191, context, key, &c1, &request, NULL, &error),
                     CUZK_INVALID_ARGUMENT);
    assert_int_equal(cuzk_porep_prove(proof, sizeof proof, context, key, &c1, &request, NULL, &error),
                     CUZK_OK);

    assert_int_equal(cuzk_porep_vk_open(&vk, 2048, s.folder, &error), CUZK_OK);
    cuzk_c1_statement(&c1, 1000, 77, &statement);
    assert_int_equal(cuzk_porep_verify(vk, &statement, proof, sizeof proof, &error), CUZK_OK);
    statement.comm_r[0] ^= 1;
    assert_int_equal(cuzk_porep_verify(vk, &statement, proof, sizeof proof, &error), CUZK_PROOF_INVALID);
    cuzk_vk_close(vk);
    cuzk_porep_key_close(key);
    cuzk_context_destroy(context);
}

/* A key from a secret, in both forms: every proof verifies under its verifying key, and the secret is gone when the points are there. */
static void bench_without_files(cuzk_context *context)
{
    cuzk_porep_bench_options options = CUZK_POREP_BENCH_OPTIONS_INIT;
    cuzk_error error = CUZK_ERROR_INIT;

    options.proofs = 2;
    options.check_rows = 1;
    for (int derived = 0; derived < 2; derived++) {
        cuzk_porep_dev_key made = CUZK_POREP_DEV_KEY_INIT;
        cuzk_porep_bench result = CUZK_POREP_BENCH_INIT;
        cuzk_porep_key *key = NULL;
        options.lanes = derived ? 2 : 1;
        if (cuzk_porep_key_make_dev(&key, context, 2048, derived, &made, NULL, &error) != CUZK_OK)
            fail_msg("%s", error.text);
        assert_true(made.scalars_s > 0 && made.circuit_s > 0);
        assert_true(key->key.development);
        const uint64_t kept = key->key.key->heap_bytes;
        assert_true(kept > 96 * key->key.key->variable_count);
        if (cuzk_bench_porep(&result, context, key, &options, NULL, NULL, NULL, &error) != CUZK_OK)
            fail_msg("%s", error.text);
        assert_int_equal(result.proofs, 2);
        assert_true(result.steady_s > 0);
        /* Proofs that overlap: what each costs is a share of all the time, which no proof of them outlasted. */
        if (derived) assert_true(2 * result.steady_s > 0.999 * result.first_s);
        for (int q = 0; q < 5; q++) assert_true(result.points_s[q] > 0);
        assert_true(key->key.key->heap_bytes < kept / 4);
        cuzk_porep_key_close(key);
    }
}

/* With as little memory as a proof can be made in: next to nothing of the key stays on the device. */
static void points_are_sent(cuzk_context *context, const cuzk_porep_key *key, uint64_t memory_bytes)
{
    cuzk_porep_bench_options options = CUZK_POREP_BENCH_OPTIONS_INIT;
    cuzk_porep_bench_plan plan = CUZK_POREP_BENCH_PLAN_INIT;
    cuzk_porep_bench result = CUZK_POREP_BENCH_INIT;
    cuzk_error error = CUZK_ERROR_INIT;

    options.proofs = 2;
    options.memory_bytes = memory_bytes;
    while (cuzk_bench_porep_plan(&plan, context, key, &options, &error) == CUZK_OK)
        options.memory_bytes = plan.total_bytes - plan.total_bytes / 50;
    assert_int_equal(error.status, CUZK_TOO_LARGE);
    options.memory_bytes = plan.total_bytes;
    assert_true(plan.total_bytes < memory_bytes && plan.place_bytes > 0 && plan.sent_bytes > 0);
    for (int q = 0; q < 5; q++) assert_true(plan.kept_share[q] < 0.25);
    if (cuzk_bench_porep(&result, context, key, &options, NULL, NULL, NULL, &error) != CUZK_OK)
        fail_msg("%s", error.text);
    assert_int_equal(result.proofs, 2);
    printf("%.1f MB of memory instead of %.1f, %.1f MB sent a proof\n", (double)plan.total_bytes * 1e-6,
           (double)memory_bytes * 1e-6, (double)plan.sent_bytes * 1e-6);
}

/* Whether a proof was made in a batch, and whether in turn: by the stages that each alone tells. */
struct stages {
    bool batch, in_turn;
};

static void see_stage(void *context, unsigned partition, const char *stage, double ms)
{
    struct stages *seen = context;

    assert_true(partition <= 1 && ms >= 0);
    if (strcmp(stage, "device") == 0) seen->batch = true;
    if (strcmp(stage, "assemble") == 0) seen->in_turn = true;
}

/* Statements in, proofs out, on a device that makes witnesses itself: here the CPU in its place. */
static void a_device_makes_the_witness(void **state)
{
    struct cuzk_context context = { .backend = image_backend(s.proving.backend),
                                    .device = s.proving.device,
                                    .pool = s.proving.pool };
    cuzk_porep_key_options key_options = CUZK_POREP_KEY_OPTIONS_INIT;
    cuzk_porep_request request = CUZK_POREP_REQUEST_INIT;
    cuzk_porep_statement statement = CUZK_POREP_STATEMENT_INIT;
    cuzk_porep_bench_options options = CUZK_POREP_BENCH_OPTIONS_INIT;
    cuzk_porep_bench_plan plan = CUZK_POREP_BENCH_PLAN_INIT;
    cuzk_porep_bench result = CUZK_POREP_BENCH_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    struct cuzk_c1 c1 = { s.c1 };
    unsigned char proof[192];
    cuzk_porep_key *key = NULL;
    cuzk_vk *vk = NULL;

    (void)state;
    key_options.folder = s.folder;
    request.miner = 1000;
    request.sector = 77;
    assert_int_equal(cuzk_porep_key_open(&key, &context, 2048, &key_options, NULL, &error), CUZK_OK);
    if (cuzk_porep_prove(proof, sizeof proof, &context, key, &c1, &request, NULL, &error) != CUZK_OK)
        fail_msg("%s", error.text);
    assert_int_equal(cuzk_porep_vk_open(&vk, 2048, s.folder, &error), CUZK_OK);
    cuzk_c1_statement(&c1, 1000, 77, &statement);
    assert_int_equal(cuzk_porep_verify(vk, &statement, proof, sizeof proof, &error), CUZK_OK);

    /* a sibling that is another one: the path is named, and no byte leaves */
    bls12_381_fr_int *const number = &c1.c1.numbers[5];
    number->l[0] ^= 1;
    memset(proof, 0x5a, sizeof proof);
    assert_int_not_equal(cuzk_porep_prove(proof, sizeof proof, &context, key, &c1, &request, NULL, &error), CUZK_OK);
    assert_non_null(strstr(error.text, "challenge"));
    for (size_t i = 0; i < sizeof proof; i++) assert_int_equal(proof[i], 0x5a);
    number->l[0] ^= 1;

    options.proofs = 1;
    options.check_rows = 1;
    assert_int_equal(cuzk_bench_porep_plan(&plan, &context, key, &options, &error), CUZK_OK);
    assert_int_equal(plan.partitions, 1);
    if (cuzk_bench_porep(&result, &context, key, &options, NULL, NULL, NULL, &error) != CUZK_OK)
        fail_msg("%s", error.text);
    assert_int_equal(result.proofs, 1);
    assert_true(result.first_s > 0);
    bench_without_files(&context);
    points_are_sent(&context, key, plan.total_bytes);
    options.memory_bytes = 1 << 20;
    assert_int_equal(cuzk_bench_porep(&result, &context, key, &options, NULL, NULL, NULL, &error), CUZK_TOO_LARGE);
    context.backend = s.proving.backend;
    assert_int_equal(cuzk_bench_porep(&result, &context, key, &options, NULL, NULL, NULL, &error), CUZK_DEVICE_UNAVAILABLE);
    cuzk_porep_key *refused = NULL;
    assert_int_equal(cuzk_porep_key_make_dev(&refused, &context, 2048, 1, NULL, NULL, &error), CUZK_DEVICE_UNAVAILABLE);
    assert_null(refused);
    cuzk_vk_close(vk);
    cuzk_porep_key_close(key);
    image_backend_end();
}

/* A device without room for the key is sent its points, and the proof is made in a batch all the same. */
static void a_device_with_little_memory_proves(void **state)
{
    struct cuzk_context context = { .backend = image_backend(s.proving.backend),
                                    .device = s.proving.device,
                                    .pool = s.proving.pool };
    cuzk_porep_key_options key_options = CUZK_POREP_KEY_OPTIONS_INIT;
    cuzk_porep_request request = CUZK_POREP_REQUEST_INIT;
    cuzk_porep_statement statement = CUZK_POREP_STATEMENT_INIT;
    cuzk_porep_bench_options options = CUZK_POREP_BENCH_OPTIONS_INIT;
    cuzk_porep_bench_plan plan = CUZK_POREP_BENCH_PLAN_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    struct cuzk_c1 c1 = { s.c1 };
    struct stages seen = { false, false };
    unsigned char proof[192];
    cuzk_porep_key *key = NULL;
    cuzk_vk *vk = NULL;

    (void)state;
    key_options.folder = s.folder;
    request.miner = 1000;
    request.sector = 77;
    request.stage = see_stage;
    request.stage_context = &seen;
    assert_int_equal(cuzk_porep_key_open(&key, &context, 2048, &key_options, NULL, &error), CUZK_OK);
    assert_int_equal(cuzk_porep_vk_open(&vk, 2048, s.folder, &error), CUZK_OK);
    cuzk_c1_statement(&c1, 1000, 77, &statement);
    assert_int_equal(cuzk_bench_porep_plan(&plan, &context, key, &options, &error), CUZK_OK);
    assert_true(plan.sent_bytes == 0);
    options.memory_bytes = plan.total_bytes - plan.total_bytes / 20;
    assert_int_equal(cuzk_bench_porep_plan(&plan, &context, key, &options, &error), CUZK_OK);
    assert_true(plan.sent_bytes > 0);
    context.memory_bytes = options.memory_bytes;
    if (cuzk_porep_prove(proof, sizeof proof, &context, key, &c1, &request, NULL, &error) != CUZK_OK)
        fail_msg("%s", error.text);
    assert_true(seen.batch && !seen.in_turn);
    assert_int_equal(cuzk_porep_verify(vk, &statement, proof, sizeof proof, &error), CUZK_OK);
    cuzk_vk_close(vk);
    cuzk_porep_key_close(key);
    image_backend_end();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_the_published_ones),
        cmocka_unit_test(bytes_are_the_oracles),
        cmocka_unit_test(a_wrong_witness_is_found),
        cmocka_unit_test(the_public_surface_proves_and_verifies),
        cmocka_unit_test(a_device_makes_the_witness),
        cmocka_unit_test(a_device_with_little_memory_proves),
    };

    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, open_all, close_all);
}
