/* Many proofs at once: 16 threads over keys of both curves and both layouts, one context, keys opened and closed meanwhile. */
#include "support/cm.h"
#include "cuzk/cuzk.h"
#include "cuzk/cuzk_setup.h"
#include "support/proving.h"
#include <pthread.h>

#define THREADS 16
#define ROUNDS  3
#define KEYS    3
#define PUBLICS 2

static cuzk_context *context;

struct shared_key {
    struct random_circuit circuit;
    char r1cs_path[PATH_MAX], key_path[PATH_MAX];
    cuzk_key *key;
    cuzk_vk *vk;
    const char *curve;
};
static struct shared_key keys[KEYS];

static void must(cuzk_status status, const cuzk_error *error, const char *what)
{
    if (status == CUZK_OK) return;
    fprintf(stderr, "%s: %s: %s (%s)\n", what, cuzk_status_name(status), error->text, error->path);
    abort();
}

static void make_key(struct shared_key *k, const struct curve *c, cuzk_layout layout, const char *name)
{
    const struct random_circuit_options o = { c, 60 + (uint32_t)prng_below(&cpu_proving.random, 60), PUBLICS,
                                              layout == CUZK_LAYOUT_ZKEY };
    cuzk_setup_options setup = CUZK_SETUP_OPTIONS_INIT;
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    char file[64];
    struct task t;

    random_circuit_make(&k->circuit, &cpu_proving.random, &o);
    snprintf(file, sizeof file, "%s.r1cs", name);
    temp_folder_path(k->r1cs_path, &cpu_proving.folder, file);
    snprintf(file, sizeof file, "%s.key", name);
    temp_folder_path(k->key_path, &cpu_proving.folder, file);
    task_init(&t);
    proving_must(&t, mapfile_write(&t, k->r1cs_path, k->circuit.r1cs, k->circuit.r1cs_bytes, 0600),
                 "circuit");
    setup.layout = layout;
    options.r1cs_path = k->r1cs_path;
    must(cuzk_setup_dev(context, k->r1cs_path, k->key_path, &setup, NULL, &error), &error, "set-up");
    must(cuzk_key_open(&k->key, context, k->key_path, &options, &error), &error, "key");
    must(cuzk_vk_from_key(&k->vk, k->key, &error), &error, "verifying key");
    k->curve = c->name;
}

/* cmocka's assertions belong to the main thread: here every failure aborts. */
static void *prover(void *argument)
{
    const size_t number = (size_t)(uintptr_t)argument;
    cuzk_error error = CUZK_ERROR_INIT;

    for (size_t round = 0; round < ROUNDS; round++) {
        struct shared_key *k = &keys[(number + round) % KEYS];
        cuzk_witness *witness = NULL;
        cuzk_publics *publics = NULL;
        cuzk_proof *proof = NULL;
        cuzk_key *own = NULL;
        cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;

        options.r1cs_path = k->r1cs_path;
        must(cuzk_witness_from_values(&witness, k->curve, k->circuit.values, k->circuit.count, &error),
             &error, "witness");
        if (number % 4 == 0)
            must(cuzk_key_open(&own, context, k->key_path, &options, &error), &error, "a key of its own");
        must(cuzk_prove(&proof, &publics, context, own != NULL ? own : k->key, witness, NULL, &error), &error,
             "proof");
        must(cuzk_verify(k->vk, publics, proof, &error), &error, "verification");
        if (number % 4 == 1) { /* a wrong witness beside the right ones disturbs nobody */
            uint8_t *wrong = malloc((size_t)k->circuit.count * 32);
            cuzk_witness *bad = NULL;
            cuzk_proof *none = NULL;
            if (wrong == NULL) abort();
            memcpy(wrong, k->circuit.values, (size_t)k->circuit.count * 32);
            wrong[32 * (PUBLICS + 2)] ^= 1; /* the y of row 0, x x = y */
            must(cuzk_witness_from_values(&bad, k->curve, wrong, k->circuit.count, &error), &error,
                 "wrong witness");
            const cuzk_status status = cuzk_prove(&none, NULL, context, k->key, bad, NULL, &error);
            if (none != NULL || status != CUZK_UNSATISFIED || strstr(error.text, "constraint 0 ") == NULL) {
                fprintf(stderr, "a wrong witness: %s: %s\n", cuzk_status_name(status), error.text);
                abort();
            }
            cuzk_witness_close(bad);
            free(wrong);
        }
        cuzk_key_close(own);
        cuzk_proof_close(proof);
        cuzk_publics_close(publics);
        cuzk_witness_close(witness);
    }
    return NULL;
}

static void sixteen_threads(void **state)
{
    pthread_t thread[THREADS];
    cuzk_context_options options = CUZK_CONTEXT_OPTIONS_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    (void)state;

    options.threads = 4;
    must(cuzk_context_create(&context, &options, &error), &error, "context");
    make_key(&keys[0], &curve_bn254, CUZK_LAYOUT_ZKEY, "bn254-zkey");
    make_key(&keys[1], &curve_bls12_381, CUZK_LAYOUT_ZKEY, "bls-zkey");
    make_key(&keys[2], &curve_bls12_381, CUZK_LAYOUT_BELLMAN, "bls-params");
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, prover, (void *)(uintptr_t)i), 0);
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (size_t i = 0; i < KEYS; i++) {
        cuzk_vk_close(keys[i].vk);
        cuzk_key_close(keys[i].key);
        random_circuit_fini(&keys[i].circuit);
    }
    cuzk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sixteen_threads) };
    return cmocka_run_group_tests(tests, cpu_proving_open, cpu_proving_close);
}
