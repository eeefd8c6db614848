/* Derived keys: proofs in every form of a key against the oracle, byte for byte; a wrong point of each part is caught; files that are
 * short, damaged, foreign, stale or not one's own are named.
 *
 * Use: test_derived [BACKEND] [--slow].  Domains from 2 to 2^12 (2^13 to 2^16 with --slow). */
#include "support/cm.h"
#include "formats/derived_file.h"
#include "groth16/derive.h"
#include "groth16/key_check.h"
#include "groth16/key_derived.h"
#include "groth16/prove_blinded.h"
#include "groth16/prove_verified.h"
#include "groth16/setup.h"
#include "support/oracle.h"
#include "support/proving.h"
#include <sys/stat.h>

static struct proving proving;
static const struct backend *prover;
static struct device *device; /* of prover */
static bool slow;

struct sample {
    struct random_circuit circuit;
    struct trapdoor secrets;
    struct r1cs_file parsed;
    char r1cs[PATH_MAX], key[PATH_MAX], derived[PATH_MAX + 16];
};

static int open_proving(void **state)
{
    (void)state;
    const struct device_options options = { 0 };
    struct task t;

    proving_open(&proving, "cpu");
    setenv("XDG_CACHE_HOME", proving.folder.path, 1); /* the notes of these files */
    proving_task(&t, &proving);
    proving_must(&t, prover->open(&device, &t, &options), "the prover's device");
    return 0;
}

static int close_proving(void **state)
{
    (void)state;
    prover->close(device);
    proving_close(&proving);
    return 0;
}

static void sample_make(struct sample *s, const struct curve *c, enum root_convention layout, unsigned log2,
                        uint32_t publics, const char *name)
{
    const struct random_circuit_options o = { c, (1u << log2) - publics - 1, publics,
                                              layout == ROOT_SNARKJS };
    char file[64];

    random_circuit_make(&s->circuit, &proving.random, &o);
    proving_circuit(&s->parsed, &s->circuit);
    proving_secrets(&s->secrets, &proving, c, layout);
    groth16_key_unref(proving_key(&proving, &s->circuit, &s->secrets, name));
    snprintf(file, sizeof file, "%s.r1cs", name);
    temp_folder_path(s->r1cs, &proving.folder, file);
    snprintf(file, sizeof file, "%s.%s", name, layout == ROOT_BELLMAN ? "params" : "zkey");
    temp_folder_path(s->key, &proving.folder, file);
    snprintf(s->derived, sizeof s->derived, "%s" DERIVED_SUFFIX, s->key);
    unlink(s->derived);
}

static struct groth16_key *open_key(const struct sample *s)
{
    return proving_key_open(&proving, s->key, s->r1cs);
}

static void derive(const struct sample *s)
{
    struct groth16_key *key = open_key(s);
    struct task t;

    proving_task(&t, &proving);
    proving_must(&t, groth16_derive(&t, key, NULL, NULL, prover, device), "deriving");
    groth16_key_unref(key);
}

static void prove(struct groth16_proof *out, const struct groth16_key *key, const struct sample *s,
                  const struct groth16_blinding *blinding)
{
    struct groth16_timings timings = { 0 };
    struct groth16_verifier verifier;
    struct groth16_proof proof;
    struct groth16_plan plan;
    struct task t;

    proving_task(&t, &proving);
    proving_must(&t, groth16_prove_plan(&plan, &t, key, prover, device), "plan");
    proving_must(&t, groth16_prove_blinded(&t, out, key, &plan, &s->circuit.witness, blinding), "prover");
    groth16_verifier_init(&verifier, &key->vk);
    proving_must(&t, groth16_prove_verified(&t, &proof, key, &plan, &verifier, &s->circuit.witness, &timings),
                 "verified prover");
}

/* -- bytes --------------------------------------------------------------------------------------------------------------- */

static void same_bytes(const struct curve *c, enum root_convention layout, unsigned log2, uint32_t publics)
{
    static const enum groth16_h_mode original[] = { H_MONOMIAL_6, H_LAGRANGE_6 };
    struct groth16_proof expected, proof;
    struct groth16_blinding blinding;
    struct error refused;
    struct sample s;
    struct task t;

    sample_make(&s, c, layout, log2, publics, "bytes");
    proving_blinding(&blinding, &proving, c);
    proving_task(&t, &proving);
    proving_must(&t, oracle_prove(&t, &expected, &s.secrets, &s.parsed, &s.circuit.witness, &blinding),
                 "oracle");
    derive(&s);
    struct groth16_key *key = open_key(&s);
    assert_int_equal(key->domain.log2, log2);
    for (int mode = 0; mode < 2; mode++) {
        proving_must(
            &t, groth16_key_choose(key, &t, mode == 0 ? KEY_MODE_ORIGINAL : KEY_MODE_AUTO, NULL, &refused),
            "mode");
        assert_int_equal(refused.status, CUZK_OK);
        assert_int_equal(key->h_mode, mode == 0 ? original[layout == ROOT_SNARKJS] : H_LAGRANGE_4);
        prove(&proof, key, &s, &blinding);
        if (!oracle_equal(&proof, &expected))
            fail_msg("%s %s 2^%u publics %u, %s: the bytes are not the oracle's", c->name,
                     layout == ROOT_SNARKJS ? "zkey" : "bellman", log2, publics,
                     groth16_h_mode_name(key->h_mode));
        if (mode == 0 && prover->reads_host_memory) continue;
        if (mode == 0) { /* what a device holds is of the form that it was uploaded in */
            groth16_key_unref(key);
            key = open_key(&s);
        }
    }
    groth16_key_unref(key);
    random_circuit_fini(&s.circuit);
}

static void all_sizes(const struct curve *c, enum root_convention layout)
{
    /* with the operands elsewhere the CPU's operations are the same: of that size is no matter */
    const unsigned last = slow ? 16 : strcmp(prover->name, "blind") == 0 ? 8 : 12;

    if (!slow) same_bytes(c, layout, 1, 0);
    for (unsigned log2 = slow ? 13 : 4; log2 <= last; log2++)
        same_bytes(c, layout, log2, (uint32_t)prng_below(&proving.random, 8));
}

static void bn254_zkey(void **state)
{
    (void)state;
    all_sizes(&curve_bn254, ROOT_SNARKJS);
}

static void bls12_381_zkey(void **state)
{
    (void)state;
    all_sizes(&curve_bls12_381, ROOT_SNARKJS);
}

static void bls12_381_bellman(void **state)
{
    (void)state;
    all_sizes(&curve_bls12_381, ROOT_BELLMAN);
}

/* -- the self-check ------------------------------------------------------------------------------------------------------ */

/* One point of a part is another one: the check finds it, whichever it is. */
static void wrong_points(enum root_convention layout, const struct curve *c)
{
    static const char *const names[] = { "h", "LD", "l or delta-ic", "l or delta-ic" };
    struct derived_points p = { NULL, NULL, NULL };
    struct sample s;
    struct task t;

    sample_make(&s, c, layout, 5, 3, "wrong");
    struct groth16_key *key = open_key(&s);
    const size_t point = c->g1.aff_bytes, n = key->domain.size;
    p.l = calloc(key->variable_count, point);
    p.ld = calloc(n, point);
    if (layout == ROOT_BELLMAN) p.lc = calloc(n, point);
    proving_task(&t, &proving);
    proving_must(&t, groth16_derive_points(&p, &t, key, NULL, NULL, prover, device), "points");
    proving_must(&t, groth16_derive_check(&t, key, &p, NULL, prover, device), "right points");
    uint8_t *const parts[] = { p.lc, p.ld, p.l, p.l + 4 * point }; /* Lc, LD, Delta-IC, L' */
    const size_t counts[] = { n, n, 4, key->variable_count - 4 };
    for (size_t part = 0; part < ARRAY_COUNT(parts); part++) {
        if (parts[part] == NULL) continue;
        uint8_t *const at = parts[part] + prng_below(&proving.random, counts[part]) * point;
        uint8_t kept[sizeof(struct g_aff)];
        struct g_jac sum;
        struct g_aff other;
        memcpy(kept, at, point);
        c->g1.jac_from_aff(&sum, at);
        c->g1.jac_add_aff(&sum, &sum, &c->g1.generator);
        c->g1.jac_to_aff(&other, &sum);
        memcpy(at, &other, point);
        assert_int_equal(groth16_derive_check(&t, key, &p, NULL, prover, device), CUZK_KEY_INVALID);
        assert_string_equal(t.error.field, names[part]);
        memcpy(at, kept, point);
        proving_task(&t, &proving);
    }
    proving_must(&t, groth16_derive_check(&t, key, &p, NULL, prover, device), "right points again");
    free(p.l);
    free(p.ld);
    free(p.lc);
    groth16_key_unref(key);
    random_circuit_fini(&s.circuit);
}

static void wrong_points_are_caught(void **state)
{
    (void)state;
    wrong_points(ROOT_BELLMAN, &curve_bls12_381);
    wrong_points(ROOT_SNARKJS, &curve_bls12_381);
    wrong_points(ROOT_SNARKJS, &curve_bn254);
}

/* An .r1cs with the counts of the key's and other rows. */
static void another_circuit_is_refused(void **state)
{
    struct sample s, other;
    struct groth16_key *key;
    struct task t;

    (void)state;
    sample_make(&s, &curve_bn254, ROOT_SNARKJS, 4, 2, "own");
    do {
        sample_make(&other, &curve_bn254, ROOT_SNARKJS, 4, 2, "other");
        if (other.parsed.n_wires == s.parsed.n_wires) break;
        random_circuit_fini(&other.circuit);
    } while (true);
    proving_task(&t, &proving);
    proving_must(&t, groth16_key_open(&key, &t, s.key, other.r1cs), "the key with the other circuit");
    assert_int_equal(groth16_derive(&t, key, NULL, NULL, prover, device), CUZK_MISMATCH);
    assert_int_not_equal(access(s.derived, F_OK), 0);
    groth16_key_unref(key);
    proving_task(&t, &proving);
    proving_must(&t, groth16_key_open(&key, &t, s.key, NULL), "the key without a circuit");
    assert_int_equal(groth16_derive(&t, key, NULL, NULL, prover, device), CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(t.error.advice, "--r1cs"));
    groth16_key_unref(key);
    random_circuit_fini(&s.circuit);
    random_circuit_fini(&other.circuit);
}

/* -- from the secrets ---------------------------------------------------------------------------------------------------- */

/* Set-up writes the derived form from the secrets: for snarkjs's keys the very bytes that transforms make; for bellman's, points that serve
 * as well (what stands for the coefficient that is always zero is free), and proofs of the same bytes. */
static void from_secrets(const struct curve *c, enum root_convention layout)
{
    struct groth16_proof expected, proof;
    struct groth16_blinding blinding;
    struct error refused;
    size_t sizes[2];
    uint8_t *bytes[2];
    struct sample s;
    struct task t;

    sample_make(&s, c, layout, 6, 4, "secrets");
    const struct groth16_setup_paths paths = { .key = s.key, .derived = s.derived };
    proving_task(&t, &proving);
    proving_must(&t, groth16_setup_write(&t, &s.parsed, &s.secrets, &paths, proving.backend, proving.device),
                 "set-up");
    proving_blinding(&blinding, &proving, c);
    proving_must(&t, oracle_prove(&t, &expected, &s.secrets, &s.parsed, &s.circuit.witness, &blinding),
                 "oracle");
    struct groth16_key *key = open_key(&s);
    proving_must(&t, groth16_key_choose(key, &t, KEY_MODE_DERIVED, NULL, &refused), "the derived form");
    prove(&proof, key, &s, &blinding);
    assert_true(oracle_equal(&proof, &expected));
    groth16_key_unref(key);
    bytes[0] = proving_read_file(s.derived, &sizes[0]);
    derive(&s);
    bytes[1] = proving_read_file(s.derived, &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    if (layout == ROOT_SNARKJS) assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
    random_circuit_fini(&s.circuit);
}

static void set_up_writes_the_derived_form(void **state)
{
    (void)state;
    from_secrets(&curve_bn254, ROOT_SNARKJS);
    from_secrets(&curve_bls12_381, ROOT_SNARKJS);
    from_secrets(&curve_bls12_381, ROOT_BELLMAN);
}

/* -- files --------------------------------------------------------------------------------------------------------------- */

/* The key with its derived file: what using it says. */
static void refused_with(const struct sample *s, cuzk_status wanted, const char *field)
{
    struct groth16_key *key = open_key(s);
    const enum groth16_h_mode before = key->h_mode;
    struct error refused;
    struct task t;

    proving_task(&t, &proving);
    assert_int_equal(groth16_key_choose(key, &t, KEY_MODE_DERIVED, NULL, &refused), wanted);
    if (field != NULL) assert_string_equal(t.error.field, field);
    assert_int_equal(key->h_mode, before);
    proving_task(&t, &proving);
    proving_must(&t, groth16_key_choose(key, &t, KEY_MODE_AUTO, NULL, &refused),
                 "going on with the original");
    assert_int_equal(refused.status, wanted == CUZK_NOT_FOUND ? CUZK_OK : wanted);
    assert_int_equal(key->h_mode, before);
    groth16_key_unref(key);
}

static void rewrite(const struct sample *s, const uint8_t *bytes, size_t size)
{
    struct task t;

    proving_task(&t, &proving);
    unlink(s->derived);
    proving_must(&t, mapfile_write(&t, s->derived, bytes, size, 0600), "rewriting");
}

static void bad_files_are_named(void **state)
{
    struct derived_layout at;
    struct derived_file d;
    struct sample s, other;
    struct stat st;
    size_t size;
    struct task t;

    (void)state;
    sample_make(&s, &curve_bls12_381, ROOT_BELLMAN, 5, 2, "files");
    refused_with(&s, CUZK_NOT_FOUND, NULL);
    derive(&s);
    assert_int_equal(stat(s.derived, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    uint8_t *const good = proving_read_file(s.derived, &size), *const bad = malloc(size + 1);
    assert_non_null(bad);
    proving_task(&t, &proving);
    proving_must(&t, derived_file_parse(&d, &t, s.derived, span_of(good, size)), "the header");
    at = d.layout;

    const struct {
        size_t byte;
        cuzk_status status;
        const char *field;
    } changes[] = {
        { 0, CUZK_MALFORMED, NULL },
        { 8, CUZK_UNSUPPORTED, "version" },
        { 12, CUZK_MALFORMED, "curve" },
        { 16, CUZK_MALFORMED, "convention" },
        { 20, CUZK_MALFORMED, "domain" },
        { 24, CUZK_MALFORMED, "header" },
        { 60, CUZK_MALFORMED, "header" },
        { 4000, CUZK_MALFORMED, "header" },
        { at.offset[DERIVED_IC] + 1, CUZK_MALFORMED, "delta-ic" },
        { at.offset[DERIVED_L] + 100, CUZK_MALFORMED, "l" },
        { size - 1, CUZK_MALFORMED, "h" },
    };
    for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
        memcpy(bad, good, size);
        bad[changes[i].byte] ^= 0x40;
        rewrite(&s, bad, size);
        refused_with(&s, changes[i].status, changes[i].field);
    }
    for (int i = 0; i < 20; i++) {
        rewrite(&s, good, prng_below(&proving.random, size));
        refused_with(&s, CUZK_MALFORMED, NULL);
    }
    memcpy(bad, good, size);
    bad[size] = 0;
    rewrite(&s, bad, size + 1);
    refused_with(&s, CUZK_MALFORMED, NULL);

    /* digests that fit, points that do not lie on the curve */
    bad[at.offset[DERIVED_H] + 7] ^= 1;
    derived_file_finish(bad, &d.shape, d.key_digest, d.key_bytes);
    rewrite(&s, bad, size);
    refused_with(&s, CUZK_KEY_INVALID, "h");

    rewrite(&s, good, size);
    assert_int_equal(chmod(s.derived, 0620), 0);
    refused_with(&s, CUZK_INVALID_ARGUMENT, NULL);

    /* of another key: by its counts, then by its digest */
    sample_make(&other, &curve_bls12_381, ROOT_BELLMAN, 6, 2, "foreign");
    derive(&other);
    size_t other_size;
    uint8_t *const foreign = proving_read_file(other.derived, &other_size);
    rewrite(&s, foreign, other_size);
    refused_with(&s, CUZK_MISMATCH, "domain");
    free(foreign);
    random_circuit_fini(&other.circuit);
    proving_secrets(&s.secrets, &proving, &curve_bls12_381, ROOT_BELLMAN);
    rewrite(&s, good, size);
    groth16_key_unref(proving_key(&proving, &s.circuit, &s.secrets, "files")); /* the same circuit anew */
    refused_with(&s, CUZK_MISMATCH, "digest of the original");

    free(good);
    free(bad);
    random_circuit_fini(&s.circuit);
}

/* A key that has passed its check is known with the derived file that was checked with it, and not with another. */
static void checks_are_remembered(void **state)
{
    struct error refused;
    struct sample s;
    struct task t;
    size_t size;

    (void)state;
    sample_make(&s, &curve_bn254, ROOT_SNARKJS, 4, 1, "known");
    derive(&s);
    struct groth16_key *key = open_key(&s);
    proving_task(&t, &proving);
    proving_must(&t, groth16_key_choose(key, &t, KEY_MODE_DERIVED, NULL, &refused), "derived");
    assert_false(groth16_key_is_known(key));
    proving_must(&t, groth16_key_check(&t, key, NULL, proving.backend, proving.device), "check");
    groth16_key_remember(key);
    assert_true(groth16_key_is_known(key));
    groth16_key_unref(key);

    uint8_t *const bytes = proving_read_file(s.derived, &size);
    rewrite(&s, bytes, size);
    key = open_key(&s);
    assert_true(groth16_key_is_known(key));
    proving_must(&t, groth16_key_choose(key, &t, KEY_MODE_DERIVED, NULL, &refused),
                 "the same bytes in another file");
    assert_false(groth16_key_is_known(key));
    groth16_key_unref(key);
    free(bytes);
    random_circuit_fini(&s.circuit);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bn254_zkey),
        cmocka_unit_test(bls12_381_zkey),
        cmocka_unit_test(bls12_381_bellman),
        cmocka_unit_test(wrong_points_are_caught),
        cmocka_unit_test(another_circuit_is_refused),
        cmocka_unit_test(set_up_writes_the_derived_form),
        cmocka_unit_test(bad_files_are_named),
        cmocka_unit_test(checks_are_remembered),
    };

    prover = proving_backend(argc, argv, &slow);
    if (prover == NULL) return 77;
    return cmocka_run_group_tests(tests, open_proving, close_proving);
}
