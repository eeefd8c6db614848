/* The public library on real keys and on wrong arguments: cuzk.h alone, as a program that links libcuzk sees it. */
#include "support/cm.h"
#include "cuzk/cuzk.h"
#include "cuzk/cuzk_setup.h"
#include "support/proving.h"
#include "support/shared_data.h"
#include <math.h>

static struct proving proving; /* for its random circuits and its folder */
static cuzk_context *context;

static void must(cuzk_status status, const cuzk_error *error, const char *what)
{
    if (status != CUZK_OK)
        fail_msg("%s: %s: %s (%s)", what, cuzk_status_name(status), error->text, error->path);
}

static void expect(cuzk_status found, cuzk_status wanted, const cuzk_error *error, const char *says)
{
    if (found != wanted)
        fail_msg("%s, not %s: %s", cuzk_status_name(found), cuzk_status_name(wanted), error->text);
    assert_int_equal(error->status, wanted);
    if (strstr(error->text, says) == NULL) fail_msg("'%s' is not in: %s", says, error->text);
}

static int open_all(void **state)
{
    cuzk_error error = CUZK_ERROR_INIT;
    (void)state;
    proving_open(&proving, "cpu");
    setenv("XDG_CACHE_HOME", proving.folder.path, 1);
    return cuzk_context_create(&context, NULL, &error) == CUZK_OK ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    cuzk_context_destroy(context);
    proving_close(&proving);
    return 0;
}

/* -- real keys --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *folder, *key, *witness, *vk, *r1cs;
} pairs[] = {
    { "circom_runtime", "circuit.zkey", "witness.wtns", "verification_key.json", "circuit.r1cs" },
    { "rapidsnark-testdata", "circuit_final.zkey", "witness.wtns", "verification_key.json", NULL },
    { "semaphore-v4", "semaphore-10.zkey", "semaphore-10.wtns", "semaphore-10.json", NULL },
    { "taceo-bls12_381-multiplier2", "circuit.zkey", "witness.wtns", "verification_key.json",
      "circuit.r1cs" },
    { "taceo-bls12_381-poseidon", "circuit.zkey", "witness.wtns", "verification_key.json", "circuit.r1cs" },
    { "taceo-bn254-multiplier2", "circuit.zkey", "witness.wtns", "verification_key.json", "circuit.r1cs" },
    { "taceo-bn254-poseidon", "circuit.zkey", "witness.wtns", "verification_key.json", "circuit.r1cs" },
    { "waku-rln", "rln_final.zkey", "rln.wtns", "verification_key.json", NULL },
};

static bool find(char path[PATH_MAX], const char *folder, const char *file)
{
    char name[256];
    snprintf(name, sizeof name, "data/circom/%s/%s", folder, file);
    return shared_data_find(path, name);
}

static void real_pair(size_t i)
{
    char key_path[PATH_MAX], witness_path[PATH_MAX], vk_path[PATH_MAX], r1cs_path[PATH_MAX], saved[PATH_MAX];
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
    cuzk_check_options check = CUZK_CHECK_OPTIONS_INIT;
    cuzk_key_info info = CUZK_KEY_INFO_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_witness *witness;
    cuzk_publics *publics, *publics_again;
    cuzk_proof *proof, *proof_again;
    cuzk_key *key;
    cuzk_vk *vk;

    if (!find(key_path, pairs[i].folder, pairs[i].key) ||
        !find(witness_path, pairs[i].folder, pairs[i].witness) ||
        !find(vk_path, pairs[i].folder, pairs[i].vk)) {
        printf("skipped: %s is not there\n", pairs[i].folder);
        return;
    }
    if (pairs[i].r1cs != NULL && find(r1cs_path, pairs[i].folder, pairs[i].r1cs))
        options.r1cs_path = r1cs_path;
    must(cuzk_key_open(&key, context, key_path, &options, &error), &error, key_path);
    must(cuzk_witness_open(&witness, witness_path, &error), &error, witness_path);
    must(cuzk_vk_open(&vk, vk_path, &error), &error, vk_path);
    must(cuzk_prove(&proof, &publics, context, key, witness, NULL, &error), &error, pairs[i].folder);
    must(cuzk_verify(vk, publics, proof, &error), &error, pairs[i].folder);

    /* What is written is read back and still verifies. */
    temp_folder_path(saved, &proving.folder, "proof.json");
    must(cuzk_proof_save(proof, saved, CUZK_JSON, &error), &error, saved);
    must(cuzk_proof_open(&proof_again, saved, &error), &error, saved);
    temp_folder_path(saved, &proving.folder, "public.json");
    must(cuzk_publics_save(publics, saved, &error), &error, saved);
    must(cuzk_publics_open(&publics_again, saved, &error), &error, saved);
    must(cuzk_verify(vk, publics_again, proof_again, &error), &error, "read back");
    cuzk_proof_close(proof_again);
    unsigned char bytes[512];
    for (int encoding = CUZK_COMPRESSED; encoding <= CUZK_RAW; encoding++) {
        const size_t size = cuzk_proof_encode(proof, (cuzk_encoding)encoding, bytes, sizeof bytes);
        if (size == 0) {
            assert_int_equal(encoding, CUZK_COMPRESSED);
            assert_string_equal(cuzk_proof_curve(proof), "bn254");
            continue;
        }
        must(cuzk_proof_from_memory(&proof_again, bytes, size, &error), &error, "bytes");
        must(cuzk_verify(vk, publics_again, proof_again, &error), &error, "from bytes");
        cuzk_proof_close(proof_again);
    }

    /* The key passes its check against the published verifying key, and that is remembered. */
    cuzk_key_describe(key, &info);
    assert_int_equal(info.checked, 0);
    check.vk = vk;
    must(cuzk_key_check(context, key, &check, NULL, &error), &error, "check");
    cuzk_key_close(key);
    must(cuzk_key_open(&key, context, key_path, NULL, &error), &error, key_path);
    cuzk_key_describe(key, &info);
    assert_int_equal(info.checked, 1);

    cuzk_publics_close(publics);
    cuzk_publics_close(publics_again);
    cuzk_proof_close(proof);
    cuzk_vk_close(vk);
    cuzk_witness_close(witness);
    cuzk_key_close(key);
}

static void real_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(pairs); i++) real_pair(i);
}

static void foreign_files(void **state)
{
    char key_path[PATH_MAX], other[PATH_MAX];
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_witness *witness = NULL;
    cuzk_proof *proof = NULL;
    cuzk_key *key = NULL;
    (void)state;

    if (!find(key_path, "taceo-bn254-poseidon", "circuit.zkey") ||
        !find(other, "snarkjs-circuit2", "circuit.zkey")) {
        printf("skipped: real keys are not there\n");
        skip();
    }
    expect(cuzk_key_open(&key, context, other, NULL, &error), CUZK_UNSUPPORTED, &error, "PLONK");
    must(cuzk_key_open(&key, context, key_path, NULL, &error), &error, key_path);
    assert_true(find(other, "taceo-bn254-multiplier2", "witness.wtns"));
    must(cuzk_witness_open(&witness, other, &error), &error, other);
    expect(cuzk_prove(&proof, NULL, context, key, witness, NULL, &error), CUZK_MISMATCH, &error, "values");
    cuzk_witness_close(witness);
    assert_true(find(other, "taceo-bls12_381-poseidon", "witness.wtns"));
    must(cuzk_witness_open(&witness, other, &error), &error, other);
    expect(cuzk_prove(&proof, NULL, context, key, witness, NULL, &error), CUZK_MISMATCH, &error, "bls12_381");
    cuzk_witness_close(witness);
    assert_null(proof);
    cuzk_key_close(key);
}

/* -- made here --------------------------------------------------------------------------------------------------------- */

struct made {
    struct random_circuit circuit;
    char r1cs_path[PATH_MAX], key_path[PATH_MAX], vk_path[PATH_MAX], trapdoor_path[PATH_MAX];
};

static void make(struct made *m, const struct curve *c, cuzk_layout layout, uint32_t publics)
{
    const struct random_circuit_options o = { c, 40, publics, false };
    cuzk_setup_options setup = CUZK_SETUP_OPTIONS_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    struct task t;

    random_circuit_make(&m->circuit, &proving.random, &o);
    temp_folder_path(m->r1cs_path, &proving.folder, "made.r1cs");
    temp_folder_path(m->key_path, &proving.folder, layout == CUZK_LAYOUT_ZKEY ? "made.zkey" : "made.params");
    temp_folder_path(m->vk_path, &proving.folder, "made.vk");
    temp_folder_path(m->trapdoor_path, &proving.folder, "made.trapdoor");
    task_init(&t);
    proving_must(&t, mapfile_write(&t, m->r1cs_path, m->circuit.r1cs, m->circuit.r1cs_bytes, 0600),
                 "circuit");
    setup.layout = layout;
    setup.vk_path = m->vk_path;
    setup.trapdoor_path = m->trapdoor_path;
    must(cuzk_setup_dev(context, m->r1cs_path, m->key_path, &setup, NULL, &error), &error, "set-up");
}

static void development_keys(void **state)
{
    static const struct {
        const struct curve *c;
        cuzk_layout layout;
        uint32_t publics;
    } cases[] = {
        { &curve_bn254, CUZK_LAYOUT_ZKEY, 0 },
        { &curve_bls12_381, CUZK_LAYOUT_ZKEY, 3 },
        { &curve_bls12_381, CUZK_LAYOUT_BELLMAN, 0 },
        { &curve_bls12_381, CUZK_LAYOUT_BELLMAN, 4 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
        cuzk_check_options check = CUZK_CHECK_OPTIONS_INIT;
        cuzk_error error = CUZK_ERROR_INIT;
        cuzk_plan plan = CUZK_PLAN_INIT;
        cuzk_witness *witness;
        cuzk_publics *publics;
        cuzk_proof *proof;
        struct made m;
        struct stat st;
        cuzk_key *key;
        cuzk_vk *vk;

        make(&m, cases[i].c, cases[i].layout, cases[i].publics);
        assert_int_equal(stat(m.trapdoor_path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        options.r1cs_path = m.r1cs_path;
        must(cuzk_key_open(&key, context, m.key_path, &options, &error), &error, "key");
        must(cuzk_vk_open(&vk, m.vk_path, &error), &error, "verifying key");
        check.vk = vk;
        check.remember = 0;
        must(cuzk_key_check(context, key, &check, NULL, &error), &error, "check");
        must(cuzk_key_plan(&plan, context, key, &error), &error, "plan");
        assert_true(plan.proof_bytes >= plan.a_bytes + plan.b_bytes && plan.a_bytes > 0);
        must(cuzk_witness_from_values(&witness, cases[i].c->name, m.circuit.values, m.circuit.count, &error),
             &error, "witness");
        must(cuzk_prove(&proof, &publics, context, key, witness, NULL, &error), &error, "proof");
        assert_int_equal(cuzk_publics_count(publics), cases[i].publics);
        must(cuzk_verify(vk, publics, proof, &error), &error, "verification");

        /* Two proofs in a batch; then one whose inputs are another's. */
        const cuzk_proof *proofs[2] = { proof, proof };
        const cuzk_publics *inputs[2] = { publics, publics };
        size_t first_bad = 99;
        must(cuzk_verify_batch(vk, inputs, proofs, 2, &first_bad, &error), &error, "batch");
        assert_int_equal(first_bad, 2);
        if (cases[i].publics > 0) {
            cuzk_publics *wrong;
            unsigned char values[4 * 32];
            for (uint32_t k = 0; k < cases[i].publics; k++)
                memcpy(values + 32 * k, cuzk_publics_value(publics, k), 32);
            values[0] ^= 1;
            must(cuzk_publics_from_values(&wrong, values, cases[i].publics, &error), &error, "wrong inputs");
            expect(cuzk_verify(vk, wrong, proof, &error), CUZK_PROOF_INVALID, &error, "");
            inputs[1] = wrong;
            expect(cuzk_verify_batch(vk, inputs, proofs, 2, &first_bad, &error), CUZK_PROOF_INVALID, &error,
                   "");
            assert_int_equal(first_bad, 1);
            cuzk_publics_close(wrong);
        }
        cuzk_publics_close(publics);
        cuzk_proof_close(proof);
        cuzk_witness_close(witness);
        cuzk_vk_close(vk);
        cuzk_key_close(key);
        random_circuit_fini(&m.circuit);
    }
}

static void stop_at_once(void *flag, const char *what, uint64_t done, uint64_t total)
{
    (void)what;
    (void)done;
    (void)total;
    __atomic_store_n((unsigned char *)flag, 1, __ATOMIC_RELAXED);
}

static void refusals(void **state)
{
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
    cuzk_context_options small = CUZK_CONTEXT_OPTIONS_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_watch watch = CUZK_WATCH_INIT;
    cuzk_context *little = NULL;
    cuzk_witness *witness = NULL;
    cuzk_proof *proof = NULL;
    cuzk_key *key = NULL;
    unsigned char cancel = 0;
    struct made m;
    (void)state;

    make(&m, &curve_bls12_381, CUZK_LAYOUT_BELLMAN, 1);
    must(cuzk_witness_from_values(&witness, "bls12_381", m.circuit.values, m.circuit.count, &error), &error,
         "witness");

    /* bellman parameters alone: open, not enough to prove */
    must(cuzk_key_open(&key, context, m.key_path, NULL, &error), &error, "key");
    expect(cuzk_prove(&proof, NULL, context, key, witness, NULL, &error), CUZK_INVALID_ARGUMENT, &error,
           "constraints");
    cuzk_key_close(key);

    options.r1cs_path = m.r1cs_path;
    must(cuzk_key_open(&key, context, m.key_path, &options, &error), &error, "key");

    /* a limit on memory: both numbers are said */
    small.memory_bytes = 1000;
    must(cuzk_context_create(&little, &small, &error), &error, "context");
    expect(cuzk_prove(&proof, NULL, little, key, witness, NULL, &error), CUZK_TOO_LARGE, &error, "1000");
    cuzk_context_destroy(little);

    /* cancelled from outside, and out of time */
    watch.cancel = &cancel;
    watch.progress = stop_at_once;
    watch.progress_context = &cancel;
    expect(cuzk_prove(&proof, NULL, context, key, witness, &watch, &error), CUZK_CANCELLED, &error, "");
    watch.cancel = NULL;
    watch.progress = NULL;
    watch.timeout_ms = 1e-6;
    expect(cuzk_prove(&proof, NULL, context, key, witness, &watch, &error), CUZK_DEADLINE, &error, "");
    cuzk_witness_close(witness);

    /* a value that is not below r, and a witness that breaks row 0 (wires 0 one, 1 public, 2 x, 3 y: x x = y) */
    unsigned char *values = m.circuit.values, saved[32];
    memcpy(saved, values + 32 * 3, 32);
    memset(values + 32 * 3, 0xff, 32);
    expect(cuzk_witness_from_values(&witness, "bls12_381", values, m.circuit.count, &error), CUZK_MALFORMED,
           &error, "3");
    memcpy(values + 32 * 3, saved, 32);
    values[32 * 3] ^= 1;
    must(cuzk_witness_from_values(&witness, "bls12_381", values, m.circuit.count, &error), &error, "witness");
    expect(cuzk_prove(&proof, NULL, context, key, witness, NULL, &error), CUZK_UNSATISFIED, &error,
           "constraint 0 of");
    cuzk_witness_close(witness);

    /* nothing given */
    expect(cuzk_prove(&proof, NULL, context, NULL, NULL, NULL, &error), CUZK_INVALID_ARGUMENT, &error, "key");
    expect(cuzk_key_open(&key, context, "/nowhere/at.all", NULL, &error), CUZK_NOT_FOUND, &error,
           "/nowhere/at.all");
    assert_null(proof);
    cuzk_key_close(key);
    random_circuit_fini(&m.circuit);
}

/* NULL in the place of everything that is needed, one argument at a time: a status or nothing, never a crash. */
static void nothing_given(void **state)
{
    cuzk_device_info device = CUZK_DEVICE_INFO_INIT;
    cuzk_check_options check = CUZK_CHECK_OPTIONS_INIT;
    cuzk_key_info info = CUZK_KEY_INFO_INIT;
    cuzk_timings timings = CUZK_TIMINGS_INIT;
    cuzk_plan plan = CUZK_PLAN_INIT;
    cuzk_file_info file = { .size = sizeof file };
    cuzk_context *none = NULL;
    cuzk_witness *witness = NULL;
    cuzk_publics *publics = NULL, *values = NULL;
    cuzk_proof *proof = NULL;
    cuzk_vk *vk = NULL;
    cuzk_key *key = NULL;
    const unsigned char one[32] = { 1 };
    struct made m;
    (void)state;

#define REFUSED(call) assert_int_equal((call), CUZK_INVALID_ARGUMENT)
    make(&m, &curve_bn254, CUZK_LAYOUT_ZKEY, 1);
    assert_int_equal(cuzk_key_open(&key, context, m.key_path, NULL, NULL), CUZK_OK);
    assert_int_equal(cuzk_vk_open(&vk, m.vk_path, NULL), CUZK_OK);
    assert_int_equal(cuzk_witness_from_values(&witness, "bn254", m.circuit.values, m.circuit.count, NULL),
                     CUZK_OK);
    assert_int_equal(cuzk_prove(&proof, &publics, context, key, witness, NULL, NULL), CUZK_OK);

    REFUSED(cuzk_context_create(NULL, NULL, NULL));
    cuzk_context_device(NULL, &device);
    cuzk_context_device(context, NULL);
    REFUSED(cuzk_key_open(NULL, context, m.key_path, NULL, NULL));
    REFUSED(cuzk_key_open(&key, NULL, m.key_path, NULL, NULL));
    REFUSED(cuzk_key_open(&key, context, NULL, NULL, NULL));
    cuzk_key_describe(NULL, &info);
    cuzk_key_describe(key, NULL);
    assert_null(info.curve);
    REFUSED(cuzk_key_check(NULL, key, &check, NULL, NULL));
    REFUSED(cuzk_key_check(context, NULL, NULL, NULL, NULL));
    REFUSED(cuzk_key_plan(NULL, context, key, NULL));
    REFUSED(cuzk_key_plan(&plan, NULL, key, NULL));
    REFUSED(cuzk_key_plan(&plan, context, NULL, NULL));
    REFUSED(cuzk_witness_open(NULL, "w", NULL));
    REFUSED(cuzk_witness_open(&witness, NULL, NULL));
    REFUSED(cuzk_witness_from_memory(NULL, one, 32, NULL));
    REFUSED(cuzk_witness_from_memory(&witness, NULL, 32, NULL));
    REFUSED(cuzk_witness_from_values(NULL, "bn254", one, 1, NULL));
    REFUSED(cuzk_witness_from_values(&witness, NULL, one, 1, NULL));
    REFUSED(cuzk_witness_from_values(&witness, "no curve", one, 1, NULL));
    REFUSED(cuzk_witness_from_values(&witness, "bn254", NULL, 1, NULL));
    REFUSED(cuzk_witness_from_values(&witness, "bn254", one, 0, NULL));
    REFUSED(cuzk_witness_from_values(&witness, "bn254", one, UINT64_MAX, NULL));
    REFUSED(cuzk_prove(NULL, NULL, context, key, witness, NULL, NULL));
    REFUSED(cuzk_prove(&proof, NULL, NULL, key, witness, NULL, NULL));
    REFUSED(cuzk_prove(&proof, NULL, context, NULL, witness, NULL, NULL));
    REFUSED(cuzk_prove(&proof, NULL, context, key, NULL, NULL, NULL));
    cuzk_proof_timings(NULL, &timings);
    cuzk_proof_timings(proof, NULL);
    char line[CUZK_TIMING_LINE_BYTES];
    assert_string_equal(cuzk_proof_timing_line(NULL, line, sizeof line), "");
    assert_null(cuzk_proof_timing_line(proof, NULL, 1));
    assert_ptr_equal(cuzk_proof_timing_line(proof, line, sizeof line), line);
    assert_non_null(strstr(line, " gpu_total_ms="));
    assert_true(strlen(line) + 1 < sizeof line);
    assert_int_equal(strlen(cuzk_proof_timing_line(proof, line, 9)), 8);
    REFUSED(cuzk_proof_open(NULL, "p", NULL));
    REFUSED(cuzk_proof_open(&proof, NULL, NULL));
    REFUSED(cuzk_proof_from_memory(NULL, one, 32, NULL));
    REFUSED(cuzk_proof_from_memory(&proof, NULL, 32, NULL));
    assert_int_equal(cuzk_proof_encode(NULL, CUZK_JSON, NULL, 0), 0);
    assert_true(cuzk_proof_encode(proof, CUZK_JSON, NULL, 100) > 100);
    REFUSED(cuzk_proof_save(NULL, "p", CUZK_JSON, NULL));
    REFUSED(cuzk_proof_save(proof, NULL, CUZK_JSON, NULL));
    assert_null(cuzk_proof_curve(NULL));
    REFUSED(cuzk_publics_open(NULL, "p", NULL));
    REFUSED(cuzk_publics_open(&values, NULL, NULL));
    REFUSED(cuzk_publics_from_memory(NULL, "[]", 2, NULL));
    REFUSED(cuzk_publics_from_memory(&values, NULL, 2, NULL));
    REFUSED(cuzk_publics_from_values(NULL, one, 1, NULL));
    REFUSED(cuzk_publics_from_values(&values, NULL, 1, NULL));
    REFUSED(cuzk_publics_from_values(&values, one, UINT64_MAX, NULL));
    assert_int_equal(cuzk_publics_count(NULL), 0);
    assert_null(cuzk_publics_value(NULL, 0));
    assert_null(cuzk_publics_value(publics, 1));
    assert_int_equal(cuzk_publics_encode(NULL, NULL, 0), 0);
    REFUSED(cuzk_publics_save(NULL, "p", NULL));
    REFUSED(cuzk_publics_save(publics, NULL, NULL));
    REFUSED(cuzk_vk_open(NULL, "v", NULL));
    REFUSED(cuzk_vk_open(&vk, NULL, NULL));
    REFUSED(cuzk_vk_from_memory(NULL, one, 32, NULL));
    REFUSED(cuzk_vk_from_memory(&vk, NULL, 32, NULL));
    REFUSED(cuzk_vk_from_key(NULL, key, NULL));
    REFUSED(cuzk_vk_from_key(&vk, NULL, NULL));
    assert_int_equal(cuzk_vk_encode(NULL, CUZK_JSON, NULL, 0), 0);
    REFUSED(cuzk_vk_save(NULL, "v", CUZK_JSON, NULL));
    REFUSED(cuzk_vk_save(vk, NULL, CUZK_JSON, NULL));
    assert_null(cuzk_vk_curve(NULL));
    assert_int_equal(cuzk_vk_publics(NULL), 0);
    REFUSED(cuzk_verify(NULL, publics, proof, NULL));
    REFUSED(cuzk_verify(vk, NULL, proof, NULL));
    REFUSED(cuzk_verify(vk, publics, NULL, NULL));
    REFUSED(cuzk_verify_batch(NULL, NULL, NULL, 0, NULL, NULL));
    REFUSED(cuzk_verify_batch(vk, NULL, NULL, 1, NULL, NULL));
    const cuzk_publics *no_publics[1] = { NULL }, *some_publics[1] = { publics };
    const cuzk_proof *no_proofs[1] = { NULL }, *some_proofs[1] = { proof };
    REFUSED(cuzk_verify_batch(vk, no_publics, some_proofs, 1, NULL, NULL));
    REFUSED(cuzk_verify_batch(vk, some_publics, no_proofs, 1, NULL, NULL));
    assert_int_equal(cuzk_verify_batch(vk, some_publics, some_proofs, 1, NULL, NULL), CUZK_OK);
    assert_int_equal(cuzk_verify_batch(vk, NULL, NULL, 0, NULL, NULL), CUZK_OK);
    REFUSED(cuzk_inspect(NULL, "f", NULL));
    REFUSED(cuzk_inspect(&file, NULL, NULL));
    REFUSED(cuzk_setup_dev(NULL, m.r1cs_path, m.key_path, NULL, NULL, NULL));
    REFUSED(cuzk_setup_dev(context, NULL, m.key_path, NULL, NULL, NULL));
    REFUSED(cuzk_setup_dev(context, m.r1cs_path, NULL, NULL, NULL, NULL));
#undef REFUSED
    assert_null(none);
    assert_null(values);
    assert_int_equal(cuzk_verify(vk, publics, proof, NULL), CUZK_OK); /* nothing above touched a result */
    cuzk_publics_close(publics);
    cuzk_proof_close(proof);
    cuzk_witness_close(witness);
    cuzk_vk_close(vk);
    cuzk_key_close(key);
    cuzk_context_destroy(NULL);
    cuzk_key_close(NULL);
    cuzk_vk_close(NULL);
    cuzk_witness_close(NULL);
    cuzk_proof_close(NULL);
    cuzk_publics_close(NULL);
    random_circuit_fini(&m.circuit);
}

/* Times out of every range. */
static void strange_timeouts(void **state)
{
    static const double none[] = { -1, 0, 1e12, 1e300, INFINITY, NAN };
    cuzk_watch watch = CUZK_WATCH_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_witness *witness = NULL;
    cuzk_key *key = NULL;
    struct made m;
    (void)state;

    make(&m, &curve_bn254, CUZK_LAYOUT_ZKEY, 1);
    must(cuzk_key_open(&key, context, m.key_path, NULL, &error), &error, "key");
    must(cuzk_witness_from_values(&witness, "bn254", m.circuit.values, m.circuit.count, &error), &error,
         "witness");
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        cuzk_proof *proof = NULL;
        watch.timeout_ms = none[i];
        must(cuzk_prove(&proof, NULL, context, key, witness, &watch, &error), &error, "proof");
        cuzk_proof_close(proof);
    }
    cuzk_witness_close(witness);
    cuzk_key_close(key);
    random_circuit_fini(&m.circuit);
}

/* A caller built against an older header gives a smaller structure: nothing beyond its size is touched. */
static void older_callers(void **state)
{
    union {
        cuzk_error whole;
        unsigned char bytes[sizeof(cuzk_error)];
    } error;
    cuzk_key *key = NULL;
    (void)state;

    memset(&error, 0xa5, sizeof error);
    error.whole.size = offsetof(cuzk_error, advice);
    assert_int_equal(cuzk_key_open(&key, context, "/nowhere/at.all", NULL, &error.whole), CUZK_NOT_FOUND);
    assert_int_equal(error.whole.status, CUZK_NOT_FOUND);
    for (size_t i = offsetof(cuzk_error, advice); i < sizeof error; i++)
        assert_int_equal(error.bytes[i], 0xa5);
    assert_int_equal(cuzk_key_open(&key, context, "/nowhere/at.all", NULL, NULL), CUZK_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_keys),        cmocka_unit_test(foreign_files),
        cmocka_unit_test(development_keys), cmocka_unit_test(refusals),
        cmocka_unit_test(older_callers),    cmocka_unit_test(nothing_given),
        cmocka_unit_test(strange_timeouts),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
