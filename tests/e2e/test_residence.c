/* A key in the memory of a device that does not read the host's: uploaded once, shared, given back with the key, refused in words
 * when it cannot fit.  On the blind backend, so it runs everywhere. */
#include "support/cm.h"
#include "backend/fault/blind_backend.h"
#include "groth16/key_device.h"
#include "groth16/prove_blinded.h"
#include "support/oracle.h"
#include "support/proving.h"
#include <pthread.h>
#include <string.h>

struct made {
    struct random_circuit circuit;
    struct trapdoor secrets;
    struct r1cs_file parsed;
    struct groth16_key *key;
    struct device *device;
};

static void make(struct made *m, uint64_t memory_bytes)
{
    const struct random_circuit_options o = { &curve_bls12_381, 200, 3, false };
    const struct device_options options = { .threads = 1, .memory_bytes = memory_bytes };
    struct task t;

    random_circuit_make(&m->circuit, &cpu_proving.random, &o);
    proving_circuit(&m->parsed, &m->circuit);
    proving_secrets(&m->secrets, &cpu_proving, o.curve, ROOT_BELLMAN);
    m->key = proving_key(&cpu_proving, &m->circuit, &m->secrets, "residence");
    task_init(&t);
    proving_must(&t, backend_blind.open(&m->device, &t, &options), "device");
}

static void unmake(struct made *m)
{
    groth16_key_unref(m->key);
    assert_int_equal(blind_bytes_taken(), 0); /* the key went, and with it all that it had on the device */
    backend_blind.close(m->device);
    random_circuit_fini(&m->circuit);
}

static void prove_once(const struct made *m)
{
    struct groth16_proof proof, expected;
    struct groth16_blinding blinding;
    struct groth16_plan plan;
    struct task t;

    task_init(&t);
    m->key->curve->fr.from_u64(&blinding.r, 7);
    m->key->curve->fr.from_u64(&blinding.s, 11);
    proving_must(&t, groth16_prove_plan(&plan, &t, m->key, &backend_blind, m->device), "plan");
    proving_must(&t, groth16_prove_blinded(&t, &proof, m->key, &plan, &m->circuit.witness, &blinding),
                 "proof");
    proving_must(&t, oracle_prove(&t, &expected, &m->secrets, &m->parsed, &m->circuit.witness, &blinding),
                 "oracle");
    if (!oracle_equal(&proof, &expected)) abort(); /* also called from other threads */
}

static void uploaded_once_and_given_back(void **state)
{
    struct groth16_plan plan;
    struct made m;
    struct task t;

    (void)state;
    make(&m, 0);
    task_init(&t);
    proving_must(&t, groth16_prove_plan(&plan, &t, m.key, &backend_blind, m.device), "plan");
    assert_int_equal(plan.key_bytes, key_device_bytes(m.key, &backend_blind, &plan.residence));
    assert_int_equal(blind_bytes_taken(), 0); /* a plan takes nothing */
    const uint64_t before = blind_bytes_uploaded();
    prove_once(&m);
    const uint64_t after_first = blind_bytes_uploaded();
    assert_int_equal(blind_bytes_taken(), plan.key_bytes); /* the proof's own block has been given back */
    prove_once(&m);
    assert_int_equal(blind_bytes_uploaded() - after_first, 32 * m.circuit.count); /* the witness alone */
    assert_true(after_first - before > 32 * m.circuit.count + plan.key_bytes / 2);
    assert_int_equal(blind_bytes_taken(), plan.key_bytes);
    unmake(&m);
}

static void *prove_in_thread(void *context)
{
    prove_once(context);
    return NULL;
}

static void many_first_proofs_upload_it_once(void **state)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    struct groth16_plan plan;
    struct made m;
    struct task t;

    (void)state;
    make(&m, 0);
    task_init(&t);
    proving_must(&t, groth16_prove_plan(&plan, &t, m.key, &backend_blind, m.device), "plan");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, prove_in_thread, &m), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    assert_int_equal(blind_bytes_taken(), plan.key_bytes);
    unmake(&m);
}

static void what_cannot_fit_is_refused_with_both_numbers(void **state)
{
    enum { LIMIT = 123456 };
    struct groth16_plan plan;
    char number[32];
    struct made m;
    struct task t;

    (void)state;
    make(&m, LIMIT);
    task_init(&t);
    assert_int_equal(groth16_prove_plan(&plan, &t, m.key, &backend_blind, m.device), CUZK_TOO_LARGE);
    snprintf(number, sizeof number, "takes %llu bytes",
             (unsigned long long)(plan.key_bytes + plan.block_bytes));
    assert_non_null(strstr(t.error.text, number));
    assert_non_null(strstr(t.error.text, "gives 123456"));
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uploaded_once_and_given_back),
        cmocka_unit_test(many_first_proofs_upload_it_once),
        cmocka_unit_test(what_cannot_fit_is_refused_with_both_numbers),
    };
    return cmocka_run_group_tests(tests, cpu_proving_open, cpu_proving_close);
}
