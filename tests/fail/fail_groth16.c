/* Every allocation, and every call of the device, fails once while a key is opened and derived, and a proof made: the library says so, hands out
 * nothing, holds nothing, and works the next time. */
#include "support/cm.h"
#include "backend/fault/blind_backend.h"
#include "backend/fault/fault_backend.h"
#include "cuzk/cuzk.h"
#include "cuzk/cuzk_setup.h"
#include "support/alloc_fail.h"
#include "support/proving.h"


struct made {
    const struct curve *curve;
    cuzk_layout layout;
    struct random_circuit circuit;
    char r1cs_path[PATH_MAX], key_path[PATH_MAX];
};

static cuzk_status setup(const struct made *m, cuzk_context *context, cuzk_error *error)
{
    cuzk_setup_options options = CUZK_SETUP_OPTIONS_INIT;

    options.layout = m->layout;
    return cuzk_setup_dev(context, m->r1cs_path, m->key_path, &options, NULL, error);
}

static cuzk_status open_and_prove(const struct made *m, cuzk_context *context, cuzk_error *error)
{
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
    cuzk_witness *witness = NULL;
    cuzk_publics *publics = NULL;
    cuzk_proof *proof = NULL;
    cuzk_key *key = NULL;

    options.r1cs_path = m->r1cs_path;
    cuzk_status status = cuzk_key_open(&key, context, m->key_path, &options, error);
    if (status == CUZK_OK)
        status =
            cuzk_witness_from_values(&witness, m->curve->name, m->circuit.values, m->circuit.count, error);
    if (status == CUZK_OK) status = cuzk_prove(&proof, &publics, context, key, witness, NULL, error);
    assert_int_equal(proof != NULL, status == CUZK_OK);
    assert_int_equal(publics != NULL, status == CUZK_OK);
    cuzk_publics_close(publics);
    cuzk_proof_close(proof);
    cuzk_witness_close(witness);
    cuzk_key_close(key);
    return status;
}

/* From the start every time, with a checkpoint after every pass, of which one that cannot be written is no error. */
static cuzk_status derive(const struct made *m, cuzk_context *context, cuzk_error *error)
{
    cuzk_derive_options options = CUZK_DERIVE_OPTIONS_INIT;
    cuzk_key_options how = CUZK_KEY_OPTIONS_INIT;
    cuzk_key *key = NULL;
    char derived[PATH_MAX + 16], work[PATH_MAX + 32];

    snprintf(derived, sizeof derived, "%s.2", m->key_path); /* not where the next proof would find it */
    snprintf(work, sizeof work, "%s.work", derived);
    unlink(derived);
    unlink(work);
    how.r1cs_path = m->r1cs_path;
    how.mode = CUZK_KEY_ORIGINAL;
    options.checkpoint_seconds = 0;
    cuzk_status status = cuzk_key_open(&key, context, m->key_path, &how, error);
    if (status == CUZK_OK) status = cuzk_key_derive(context, key, derived, &options, NULL, error);
    assert_int_equal(access(derived, F_OK) == 0, status == CUZK_OK);
    if (status == CUZK_OK) assert_int_not_equal(access(work, F_OK), 0);
    cuzk_key_close(key);
    return status;
}

static cuzk_context *context_of(const char *backend)
{
    cuzk_context_options options = CUZK_CONTEXT_OPTIONS_INIT;
    cuzk_context *context = NULL;
    cuzk_error error = CUZK_ERROR_INIT;

    options.threads = 1; /* so that the n-th call is the same call every time */
    options.backend = backend;
    if (cuzk_context_create(&context, &options, &error) != CUZK_OK) fail_msg("%s", error.text);
    return context;
}

typedef cuzk_status operation(const struct made *m, cuzk_context *context, cuzk_error *error);

static void sweep_allocations(operation *run, const struct made *m, cuzk_context *context)
{
    for (size_t n = 0; n < 10000; n++) {
        cuzk_error error = CUZK_ERROR_INIT;
        alloc_fail_arm(n);
        const cuzk_status status = run(m, context, &error);
        if (!alloc_fail_disarm()) {
            assert_int_equal(status, CUZK_OK);
            assert_true(n > 3);
            return;
        }
        if (status == CUZK_OK) continue; /* a helper that can do without */
        if (status != CUZK_NO_MEMORY && status != CUZK_IO)
            fail_msg("allocation %zu fails: %s: %s", n, cuzk_status_name(status), error.text);
        assert_true(error.text[0] != '\0');
    }
    fail_msg("ten thousand allocations and no end");
}

static void sweep_device(operation *run, const struct made *m, cuzk_context *context)
{
    for (uint64_t n = 0; n < 10000; n++) {
        cuzk_error error = CUZK_ERROR_INIT;
        fault_arm(n, CUZK_DEVICE_LOST);
        const cuzk_status status = run(m, context, &error);
        if (fault_disarm() <= n) {
            assert_int_equal(status, CUZK_OK);
            assert_true(n > 3);
            return;
        }
        if (status != CUZK_DEVICE_LOST)
            fail_msg("call %llu fails: %s", (unsigned long long)n, cuzk_status_name(status));
    }
    fail_msg("ten thousand calls and no end");
}

static void both(const struct curve *c, cuzk_layout layout, const char *name)
{
    const struct random_circuit_options o = { c, 30, 2, false };
    cuzk_context *cpu = context_of("cpu"), *fault = context_of("fault"), *blind = context_of("blind");
    struct made m = { .curve = c, .layout = layout };
    char file[64];
    struct task t;

    random_circuit_make(&m.circuit, &cpu_proving.random, &o);
    snprintf(file, sizeof file, "%s.r1cs", name);
    temp_folder_path(m.r1cs_path, &cpu_proving.folder, file);
    snprintf(file, sizeof file, "%s.key", name);
    temp_folder_path(m.key_path, &cpu_proving.folder, file);
    task_init(&t);
    proving_must(&t, mapfile_write(&t, m.r1cs_path, m.circuit.r1cs, m.circuit.r1cs_bytes, 0600), "circuit");
    sweep_allocations(setup, &m, cpu);
    sweep_allocations(open_and_prove, &m, cpu);
    sweep_allocations(derive, &m, cpu);
    sweep_device(setup, &m, fault);
    sweep_device(open_and_prove, &m, fault);
    sweep_allocations(open_and_prove, &m, blind);
    sweep_device(open_and_prove, &m, blind);
    assert_int_equal(blind_bytes_taken(), 0);
    cuzk_context_destroy(blind);
    cuzk_context_destroy(fault);
    cuzk_context_destroy(cpu);
    random_circuit_fini(&m.circuit);
}

static void zkey(void **state)
{
    (void)state;
    both(&curve_bn254, CUZK_LAYOUT_ZKEY, "zkey");
}

static void params(void **state)
{
    (void)state;
    both(&curve_bls12_381, CUZK_LAYOUT_BELLMAN, "params");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(zkey), cmocka_unit_test(params) };
    return cmocka_run_group_tests(tests, cpu_proving_open, cpu_proving_close);
}
