/* The parsers on real files that others made (optional third-party data): counts known from their descriptions, and texts that
 * must come out again byte for byte. */
#include "support/cm.h"
#include "base/mapfile.h"
#include "formats/filparams.h"
#include "formats/identify.h"
#include "formats/proof_codec.h"
#include "formats/r1cs_file.h"
#include "formats/snarkjs_json.h"
#include "formats/wtns.h"
#include "formats/zkey.h"
#include "support/shared_data.h"
#include <string.h>

/* Opens data/NAME, or skips the test. */
static void open_file(struct mapfile *file, const char *name)
{
    char path[PATH_MAX];
    struct task t;
    shared_data_need(path, name);
    task_init(&t);
    if (mapfile_open(file, &t, path) != CUZK_OK) fail_msg("%s", t.error.text);
}

static void check(const struct task *t, cuzk_status status)
{
    if (status != CUZK_OK) fail_msg("%s, field %s: %s", t->error.path, t->error.field, t->error.text);
}

#define CIRCOM "data/circom/"

static void test_zkeys(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const struct curve *c;
        uint32_t n_vars, n_public, domain;
    } keys[] = {
        { CIRCOM "taceo-bn254-multiplier2/circuit.zkey", &curve_bn254, 4, 1, 4 },
        { CIRCOM "taceo-bls12_381-multiplier2/circuit.zkey", &curve_bls12_381, 4, 1, 4 },
        { CIRCOM "taceo-bn254-poseidon/circuit.zkey", &curve_bn254, 0, 1, 256 },
        { CIRCOM "taceo-bls12_381-poseidon/circuit.zkey", &curve_bls12_381, 0, 1, 256 },
        { CIRCOM "rapidsnark-testdata/circuit_final.zkey", &curve_bn254, 1003, 1, 1024 },
        { CIRCOM "circom_runtime/circuit.zkey", &curve_bn254, 0, 0, 1024 },
        { CIRCOM "semaphore-v4/semaphore-10.zkey", &curve_bn254, 0, 4, 0 },
        { CIRCOM "waku-rln/rln_final.zkey", &curve_bn254, 5579, 0, 8192 },
        { CIRCOM "taceo-poseidon2_16/poseidon2_16.zkey", &curve_bn254, 0, 0, 0 },
    };
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        struct mapfile file;
        struct zkey z;
        struct zkey_coef coef;
        struct task t;
        open_file(&file, keys[i].name);
        task_init(&t);
        check(&t, zkey_parse(&z, &t, keys[i].name, file.bytes));
        assert_ptr_equal(z.curve, keys[i].c);
        if (keys[i].n_vars != 0) assert_int_equal(z.n_vars, keys[i].n_vars);
        if (keys[i].n_public != 0) assert_int_equal(z.n_public, keys[i].n_public);
        if (keys[i].domain != 0) assert_int_equal(z.domain_size, keys[i].domain);
        for (uint64_t k = 0; k < z.n_coefs; k++) check(&t, zkey_coef_read(&z, &t, &coef, k));
        assert_int_equal(identify(file.bytes), FILE_ZKEY_GROTH16);
        mapfile_close(&file);
    }
}

static void test_plonk(void **state)
{
    (void)state;
    struct mapfile file;
    struct zkey z;
    struct task t;
    open_file(&file, CIRCOM "snarkjs-circuit2/circuit.zkey");
    task_init(&t);
    assert_int_equal(zkey_parse(&z, &t, "circuit.zkey", file.bytes), CUZK_UNSUPPORTED);
    assert_non_null(strstr(t.error.text, "PLONK"));
    assert_int_equal(identify(file.bytes), FILE_ZKEY_PLONK);
    mapfile_close(&file);
}

static void test_witnesses(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const struct curve *c;
        uint64_t count;
    } files[] = {
        { CIRCOM "taceo-bn254-multiplier2/witness.wtns", &curve_bn254, 4 },
        { CIRCOM "taceo-bls12_381-multiplier2/witness.wtns", &curve_bls12_381, 4 },
        { CIRCOM "rapidsnark-testdata/witness.wtns", &curve_bn254, 1003 },
        { CIRCOM "circom_runtime/witness.wtns", &curve_bn254, 1004 },
        { CIRCOM "go-rapidsnark-authv2/witness.wtns", &curve_bn254, 23854 },
        { CIRCOM "waku-rln/rln.wtns", &curve_bn254, 5579 },
    };
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        struct mapfile file;
        struct witness w;
        struct task t;
        open_file(&file, files[i].name);
        task_init(&t);
        check(&t, wtns_parse(&w, &t, files[i].name, file.bytes));
        assert_ptr_equal(w.curve, files[i].c);
        assert_int_equal(w.count, files[i].count);
        mapfile_close(&file);
    }
}

/* Every A and B term of the constraints is a coefficient of the key, in the same order; then the rows of the public signals. */
static void compare_r1cs(const char *folder)
{
    char name[256];
    struct mapfile key_file, r1cs_file;
    struct zkey z;
    struct r1cs_file r;
    struct r1cs_reader reader;
    struct r1cs_term term;
    struct task t;
    bool end = false;
    uint64_t k = 0, terms = 0;
    snprintf(name, sizeof name, "%s/circuit.zkey", folder);
    open_file(&key_file, name);
    snprintf(name, sizeof name, "%s/circuit.r1cs", folder);
    open_file(&r1cs_file, name);
    task_init(&t);
    check(&t, zkey_parse(&z, &t, name, key_file.bytes));
    check(&t, r1cs_file_parse(&r, &t, name, r1cs_file.bytes));
    assert_ptr_equal(r.curve, z.curve);
    assert_int_equal(r.n_wires, z.n_vars);
    assert_int_equal(r.n_public, z.n_public);
    r1cs_reader_init(&reader, &r);
    for (;;) {
        struct zkey_coef coef;
        struct fr_int value;
        check(&t, r1cs_reader_next(&reader, &t, &term, &end));
        if (end) break;
        terms++;
        if (term.side == R1CS_C) continue;
        check(&t, zkey_coef_read(&z, &t, &coef, k++));
        z.curve->fr.to_int(&value, &coef.value);
        assert_int_equal(coef.row, term.constraint);
        assert_int_equal(coef.matrix, term.side);
        assert_int_equal(coef.wire, term.wire);
        assert_memory_equal(value.w, term.value.w, sizeof value.w);
    }
    for (uint32_t s = 0; s <= z.n_public; s++) {
        struct zkey_coef coef;
        struct fr_int value;
        static const struct fr_int one = { { 1 } };
        check(&t, zkey_coef_read(&z, &t, &coef, k++));
        z.curve->fr.to_int(&value, &coef.value);
        assert_int_equal(coef.row, r.n_constraints + s);
        assert_int_equal(coef.wire, s);
        assert_memory_equal(value.w, one.w, sizeof one.w);
    }
    assert_int_equal(k, z.n_coefs);
    printf("%s: %u constraints, %llu terms\n", folder, r.n_constraints, (unsigned long long)terms);
    mapfile_close(&key_file);
    mapfile_close(&r1cs_file);
}

static void test_r1cs_against_keys(void **state)
{
    (void)state;
    compare_r1cs(CIRCOM "taceo-bn254-multiplier2");
    compare_r1cs(CIRCOM "taceo-bls12_381-multiplier2");
    compare_r1cs(CIRCOM "taceo-bn254-poseidon");
    compare_r1cs(CIRCOM "taceo-bls12_381-poseidon");
    compare_r1cs(CIRCOM "circom_runtime");
}

static void expect_same(const char *name, struct json_text *text, struct span original)
{
    while (original.size > 0 && original.data[original.size - 1] == '\n')
        original.size--; /* some were committed with one */
    if (text->size != original.size || memcmp(text->data, original.data, text->size) != 0) {
        fprintf(stderr, "%s came out otherwise:\n%.*s\n", name, (int)text->size, text->data);
        fail();
    }
    json_text_fini(text);
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *vk, *proof, *publics;
        bool vk_indented_otherwise, proof_indented_otherwise;
    } sets[] = {
        { CIRCOM "taceo-bn254-multiplier2/verification_key.json", CIRCOM "taceo-bn254-multiplier2/proof.json",
          CIRCOM "taceo-bn254-multiplier2/public.json", false, true },
        { CIRCOM "taceo-bls12_381-multiplier2/verification_key.json",
          CIRCOM "taceo-bls12_381-multiplier2/proof.json", CIRCOM "taceo-bls12_381-multiplier2/public.json",
          false, false },
        { CIRCOM "taceo-bn254-poseidon/verification_key.json", CIRCOM "taceo-bn254-poseidon/proof.json",
          CIRCOM "taceo-bn254-poseidon/public.json", false, false },
        { CIRCOM "taceo-bls12_381-poseidon/verification_key.json",
          CIRCOM "taceo-bls12_381-poseidon/proof.json", CIRCOM "taceo-bls12_381-poseidon/public.json", false,
          false },
        { CIRCOM "semaphore-v4/semaphore-10.json", CIRCOM "semaphore-v4/semaphore-10.proof.json",
          CIRCOM "semaphore-v4/semaphore-10.public.json", true, false },
        { CIRCOM "waku-rln/verification_key.json", CIRCOM "waku-rln/rln.proof.json",
          CIRCOM "waku-rln/rln.public.json", false, false },
    };
    for (size_t i = 0; i < ARRAY_COUNT(sets); i++) {
        struct mapfile file;
        struct vk_points vk;
        struct proof_points proof;
        struct public_values publics;
        struct json_text text;
        struct task t;
        task_init(&t);
        open_file(&file, sets[i].vk);
        check(&t, snarkjs_vk_read(&vk, &t, sets[i].vk, file.bytes));
        check(&t, snarkjs_vk_write(&t, &text, &vk));
        if (sets[i].vk_indented_otherwise)
            json_text_fini(&text);
        else
            expect_same(sets[i].vk, &text, file.bytes); /* vk_alphabeta_12 was computed anew */
        mapfile_close(&file);

        open_file(&file, sets[i].proof);
        check(&t, snarkjs_proof_read(&proof, &t, sets[i].proof, file.bytes, vk.curve));
        check(&t, snarkjs_proof_write(&t, &text, vk.curve, &proof));
        if (sets[i].proof_indented_otherwise)
            json_text_fini(&text);
        else
            expect_same(sets[i].proof, &text, file.bytes);
        mapfile_close(&file);

        open_file(&file, sets[i].publics);
        check(&t, snarkjs_public_read(&publics, &t, sets[i].publics, file.bytes, vk.curve));
        assert_int_equal(publics.count + 1, vk.ic_count);
        check(&t, snarkjs_public_write(&t, &text, publics.value, publics.count));
        expect_same(sets[i].publics, &text, file.bytes);
        mapfile_close(&file);
        public_values_fini(&publics);
        vk_points_fini(&vk);
    }
}

/* A key's verification key as exported beside it carries the same points. */
static void test_key_and_vk(void **state)
{
    (void)state;
    struct mapfile key_file, vk_file;
    struct zkey z;
    struct vk_points vk;
    struct task t;
    task_init(&t);
    open_file(&key_file, CIRCOM "rapidsnark-testdata/circuit_final.zkey");
    open_file(&vk_file, CIRCOM "rapidsnark-testdata/verification_key.json");
    check(&t, zkey_parse(&z, &t, "zkey", key_file.bytes));
    check(&t, snarkjs_vk_read(&vk, &t, "vk", vk_file.bytes));
    assert_memory_equal(&vk.alpha1, &z.alpha1, sizeof vk.alpha1);
    assert_memory_equal(&vk.beta2, &z.beta2, sizeof vk.beta2);
    assert_memory_equal(&vk.gamma2, &z.gamma2, sizeof vk.gamma2);
    assert_memory_equal(&vk.delta2, &z.delta2, sizeof vk.delta2);
    for (uint64_t i = 0; i < vk.ic_count; i++) assert_memory_equal(vk.ic[i].w, z.ic.data + 64 * i, 64);
    vk_points_fini(&vk);
    mapfile_close(&key_file);
    mapfile_close(&vk_file);
}

static void test_sapling(void **state)
{
    (void)state;
    struct mapfile file, vk_file;
    struct filparams p;
    struct filvk vk;
    struct g_aff point;
    struct task t;
    task_init(&t);
    open_file(&file, "data/zcash-sapling/sapling-output.params");
    open_file(&vk_file, "data/zcash-sapling/sapling-output.vk");
    check(&t, filparams_parse(&p, &t, "sapling-output.params", file.bytes));
    assert_int_equal(p.vk.ic_count, 6);
    assert_int_equal(p.h_count, 8191);
    assert_int_equal(p.l_count, 7821);
    assert_int_equal(p.a_count, 6298);
    assert_int_equal(p.b_g1_count, 4850);
    assert_int_equal(p.b_g2_count, 4850);
    assert_int_equal(p.trailing_bytes, 52836);
    for (uint64_t i = 0; i < p.h_count; i += 500)
        check(&t, filparams_point(&p, &t, &point, &p.h, GROUP_G1, "h", i, true));
    for (uint64_t i = 0; i < p.b_g2_count; i += 500)
        check(&t, filparams_point(&p, &t, &point, &p.b_g2, GROUP_G2, "b_g2", i, true));
    check(&t, filvk_parse(&vk, &t, "sapling-output.vk", vk_file.bytes));
    assert_memory_equal(&vk.delta2, &p.vk.delta2, sizeof vk.delta2);
    assert_int_equal(identify(file.bytes), FILE_FIL_PARAMS);
    assert_int_equal(identify(vk_file.bytes), FILE_FIL_VK);
    mapfile_close(&file);
    mapfile_close(&vk_file);
}

#define VK2K "data/filecoin/vk-proof-2k/"

static void test_filecoin_vks(void **state)
{
    (void)state;
    static const struct {
        const char *vk, *proof;
        uint32_t ic_count;
        enum file_kind kind;
    } files[] = {
        { VK2K "porep-2KiB-polka-119b80e4.vk", VK2K "porep-2KiB-polka-119b80e4.proof", 40, FILE_FIL_VK },
        { VK2K "porep-2KiB-polka-4933402e.vk", VK2K "porep-2KiB-polka-4933402e.proof", 40,
          FILE_FIL_VK_COMPRESSED },
        { VK2K "post-2KiB-polka-ce0aa7ff.vk", VK2K "post-2KiB-polka-ce0aa7ff.proof", 23,
          FILE_FIL_VK_COMPRESSED },
    };
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        struct mapfile file;
        struct filvk vk;
        struct vk_points points;
        struct proof_points proof;
        uint8_t again[PROOF_BYTES];
        struct task t;
        task_init(&t);
        open_file(&file, files[i].vk);
        assert_int_equal(identify(file.bytes), files[i].kind);
        check(&t, filvk_parse(&vk, &t, files[i].vk, file.bytes));
        assert_int_equal(vk.ic_count, files[i].ic_count);
        check(&t, filvk_points(&points, &t, &vk));
        vk_points_fini(&points);
        mapfile_close(&file);

        open_file(&file, files[i].proof);
        assert_int_equal(identify(file.bytes), FILE_PROOF_BYTES);
        check(&t, proof_decode(&proof, &t, files[i].proof, file.bytes, 1));
        proof_encode(again, &proof);
        assert_memory_equal(again, file.bytes.data, PROOF_BYTES);
        mapfile_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zkeys),     cmocka_unit_test(test_plonk),
        cmocka_unit_test(test_witnesses), cmocka_unit_test(test_r1cs_against_keys),
        cmocka_unit_test(test_texts),     cmocka_unit_test(test_key_and_vk),
        cmocka_unit_test(test_sapling),   cmocka_unit_test(test_filecoin_vks),
    };
    return cmocka_run_group_tests_name("formats: real files", tests, NULL, NULL);
}
