/* Vanilla proofs: the three forms of a C1 output, generators, the witness, public inputs, and every kind of damage. */
#include "porep_trial.h"

#include "base/mapfile.h"
#include "formats/c1json.h"
#include "hash/sha256.h"
#include "row_check.h"
#include "support/prng.h"
#include "support/shared_data.h"

#include <stdlib.h>

#define VANILLA "data/filecoin/vanilla/"

static void read_c1(struct c1 *out, const char *name)
{
    char path[PATH_MAX];
    struct mapfile file;
    struct task t;
    shared_data_need(path, name);
    task_init(&t);
    must(&t, mapfile_open(&file, &t, path));
    must(&t, c1_read(out, &t, file.bytes, path));
    mapfile_close(&file);
}

/* -- witnesses -- */

static void witness_digest(struct proving *p, char text[65])
{
    const struct circuit_template *c = image_circuit(&p->circuit.image);
    const size_t count = (size_t)c->input_count + c->aux_count;
    bls12_381_fr_int *values = malloc(count * sizeof *values);
    uint8_t digest[32];
    assert_non_null(values);
    porep_witness(&p->circuit, &p->w, values);
    sha256_of(digest, values, count * sizeof *values);
    hex_of(text, digest);
    free(values);
}

/* By the definition: every row expanded, on every value; evaluate agrees. */
static void assert_rows(struct proving *p)
{
    const size_t rows = image_circuit(&p->circuit.image)->row_count;
    bls12_381_fr_t *a = malloc(rows * sizeof *a), *b = malloc(rows * sizeof *b);
    struct row_check c = { .w = &p->w, .map = &p->circuit.map, .a = a, .b = b };
    assert_non_null(a);
    assert_non_null(b);
    must(&p->t, image_evaluate(&p->circuit.image, &p->t, a, b, &p->w, &p->circuit.map));
    must(&p->t, row_check_run(&c, &p->t, &p->circuit.image));
    assert_int_equal(c.bad_row, ROW_CHECK_NONE);
    assert_int_equal(c.bad_value, ROW_CHECK_NONE);
    free(a);
    free(b);
}

/* SHA-256 over all values (inputs, then aux; 32 bytes each) as the executable model of the statement computes them from the same
 * C1 output: sectors of porep_trial.h, written as JSON. */
static void test_witness_of_model(void **state)
{
    static const struct {
        unsigned registered;
        const char *digest;
    } known[] = {
        { 0, "13d5c4f5388c413f39ad013496b227e14cc61182ae0c9f7f89a84d2392653bfe" },
        { 5, "6117511896f1e52077f989cf6266f640dd26dc513d935a81772c985c1f650731" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        struct proving p;
        struct c1 c1;
        char text[65];
        proving_open(&p, porep_shape_by_name("2KiB"));
        sealed(&c1, &p.t, known[i].registered);
        assert_partition(&p, &c1, 0);
        witness_digest(&p, text);
        assert_string_equal(text, known[i].digest);
        if (i == 0) assert_rows(&p);
        c1_fini(&c1);
        proving_close(&p);
    }
}

/* A real C1 output (8 MiB, miner 1006, sector 1498): plain JSON, Curio's wrapper and bincode are the same, every check passes, the
 * witness is the model's. */
static void test_real(void **state)
{
    struct c1 json, wrapper, bincode;
    struct proving p;
    char text[65];
    (void)state;
    read_c1(&json, VANILLA "c1-8MiB.json");
    read_c1(&wrapper, VANILLA "c1-8MiB.curio-wrapper.json");
    read_c1(&bincode, VANILLA "c2-input-8MiB.bincode");
    assert_same_proofs(&json, &wrapper);
    assert_same_proofs(&json, &bincode);
    assert_false(json.has_sector);
    assert_true(wrapper.has_sector && bincode.has_sector && bincode.has_prover);
    assert_int_equal(wrapper.sector_number, 1498);
    assert_int_equal(bincode.sector_number, 1498);
    proving_open(&p, json.shape);
    must(&p.t, porep_check(&json, &p.t));
    must(&p.t, porep_check_identity(&json, &p.t, 1006, 1498));
    uint8_t prover[32];
    porep_prover_id(prover, 1006);
    assert_memory_equal(prover, bincode.prover_id, 32);
    assert_partition(&p, &json, 0);
    witness_digest(&p, text);
    assert_string_equal(text, "e953bee10f075ad7b3c002bd824ff2df998a5acadc8e0b9361f81530c38de6ee");
    struct task t;
    task_init(&t);
    assert_int_equal(porep_check_identity(&json, &t, 1007, 1498), CUZK_MISMATCH);
    task_init(&t);
    assert_int_equal(porep_check_identity(&json, &t, 1006, 1499), CUZK_MISMATCH);
    proving_close(&p);
    c1_fini(&json);
    c1_fini(&wrapper);
    c1_fini(&bincode);
}

/* Its public inputs as listed beside it, in decimal. */
static void test_real_inputs(void **state)
{
    bls12_381_fr_int inputs[40];
    struct porep_public public;
    struct mapfile file;
    struct c1 c1;
    struct task t;
    char path[PATH_MAX];
    (void)state;
    read_c1(&c1, VANILLA "c1-8MiB.json");
    shared_data_need(path, VANILLA "c2-input-8MiB.meta.json");
    task_init(&t);
    must(&t, mapfile_open(&file, &t, path));
    porep_public_of(&public, &c1);
    must(&t, porep_public_inputs(&public, &t, 0, inputs));
    const char *at = memmem(file.bytes.data, file.bytes.size, "expected_public_inputs_dec", 26);
    const char *end = (const char *)file.bytes.data + file.bytes.size;
    assert_non_null(at);
    at += 27;
    for (unsigned i = 1; i < 40; i++) {
        bls12_381_fr_t v, ten;
        bls12_381_fr_int plain;
        bls12_381_fr_set_zero(&v);
        bls12_381_fr_from_u64(&ten, 10);
        while (at < end && (*at < '0' || *at > '9')) at++;
        assert_true(at < end);
        for (; at < end && *at >= '0' && *at <= '9'; at++) {
            bls12_381_fr_t digit;
            bls12_381_fr_from_u64(&digit, (uint64_t)(*at - '0'));
            bls12_381_fr_mul(&v, &v, &ten);
            bls12_381_fr_add(&v, &v, &digit);
        }
        bls12_381_fr_to_int(&plain, &v);
        assert_memory_equal(&plain, &inputs[i], sizeof plain);
    }
    mapfile_close(&file);
    c1_fini(&c1);
}

/* Every API version: sealed, written, read again, checked, satisfied, inputs derived. */
static void test_generated(void **state)
{
    static const unsigned numbers[] = { 0, 5, 10, 15 };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        struct proving p;
        struct c1 c1, again;
        uint8_t *text[2];
        size_t bytes[2];
        proving_open(&p, porep_shape_by_name("2KiB"));
        sealed(&c1, &p.t, numbers[i]);
        must(&p.t, porep_check(&c1, &p.t));
        must(&p.t, porep_check_identity(&c1, &p.t, 1000, 1));
        assert_partition(&p, &c1, 0);
        if (c1.partitions > 1) assert_partition(&p, &c1, c1.partitions - 1);
        for (int wrapped = 0; wrapped < 2; wrapped++) {
            must(&p.t, c1json_write(&c1, &p.t, wrapped != 0, &text[wrapped], &bytes[wrapped]));
            must(&p.t, c1_read(&again, &p.t, span_of(text[wrapped], bytes[wrapped]), NULL));
            assert_same_proofs(&c1, &again);
            assert_int_equal(again.has_sector, wrapped);
            c1_fini(&again);
            free(text[wrapped]);
        }
        c1_fini(&c1);
        proving_close(&p);
    }
}

/* Small shapes with sub and top trees, sparse and whole. */
static void test_shapes(void **state)
{
    static const struct {
        const char *like;
        bool sparse;
    } cases[] = { { "2KiB", true }, { "8MiB", true }, { "512MiB", true } };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct porep_shape *shape = porep_shape_by_name(cases[i].like);
        struct proving p;
        struct c1 c1;
        struct porep_seal_request r = { .miner = 99, .sector = 12345678901u, .seed = i };
        for (unsigned n = 5; n < 10; n++)
            if (registered_proof_by_number(n)->shape == shape) r.proof = registered_proof_by_number(n);
        proving_open(&p, shape);
        must(&p.t, porep_seal_sparse(&c1, &p.t, &r));
        must(&p.t, porep_check(&c1, &p.t));
        must(&p.t, porep_check_identity(&c1, &p.t, 99, 12345678901u));
        assert_partition(&p, &c1, 0);
        c1_fini(&c1);
        proving_close(&p);
    }
}

/* SHA-256 over the public inputs of the last partition of every registered proof as the statement's model derives them, from
 * replica_id, comm_d, comm_r and seed being SHA-256 of these words, the first three trimmed. */
static void test_inputs_of_model(void **state)
{
    static const char *const digests[REGISTERED_PROOF_COUNT] = {
        "7ab3c82d4972ee86b137d0ad7fa84079858e3c389004ffb6826d100f454db030",
        "d8f4a24a9e9ae91a2ff0a4651c4959fae861b51031562215440b56a22bd00048",
        "2f34cee29a74a0eda6474770f08a42ce9bd1661cd79626f924eb45de17987893",
        "a1b91900f0cc2f4a92c497682ac8997d4c731b55baa253a567e61e1d3953135d",
        "fe89d312658415c2513b2fd11a7ba6f4be808aeb6370cc097cb694ae8da939b6",
        "4a055aa5ca480aeee9348bc58e041a2d470a6d4fce49a456cf3a9235216bca4c",
        "93e95e8a205657a818757fd5a2707166cedb9c135958ccbdb14c8440accac5a4",
        "11389972989d741b6d1f7e1921c6fbae88f39877fa38953c381e728c0a983b9f",
        "6226b53a6a124d2809edfa733a37068359ceac27f9af4efef3ee8bbd336fd636",
        "8c7ab8f67688ccf9745f360d63d2755f0e88e8b176a7e77997f9f56ecfc0ca5c",
        "c22a5a8afc21e475a3bb6177cba4e011261b6f5f0f04dbca42730187f563d92b",
        "71282f4fdae71a172ae5c0766dcd026f28e7a1e63675004b49e20d55301fd596",
        "080aba694c3271ba0d583504debc56b1c45872976aae413fb56bb5eb8e3209ae",
        "d28a2c0fe6291a0614c658e5e23735bc23da5d836a2ea61c08ef261d873b8cf7",
        "2e745dbe5e01528436f82a3d045fcf7b85f87b6c7c4043d4ab08287315f7132a",
        "f0abe6c7d0d01b3be0283fb76848092f024f6dfa6d8d885155eb6c0b41f46489",
        "400c1edd852abe393a49d7e77ee982530796e057f575c88353e48d468c3efd28",
        "1fba08883f7a7d428b8c1a1628e5d0dd0815406e5a87e4699b26c437ae11293a",
        "972d5ffa3a7fc1bd3075764fb7caa2b491cf62d3151b2a72196d381fa096ca96",
        "b05ae7b0ed230a62cb494a2f6e80322ef0dd34b27f97b70d17b2b4d1d299e6fa",
    };
    static const char *const words[4] = { "replica id", "comm_d", "comm_r", "seed" };
    uint8_t values[4][32];
    (void)state;
    for (int i = 0; i < 4; i++) {
        sha256_of(values[i], words[i], strlen(words[i]));
        if (i < 3) sha256_trim(values[i]);
    }
    for (unsigned n = 0; n < REGISTERED_PROOF_COUNT; n++) {
        const struct registered_proof *r = registered_proof_by_number(n);
        bls12_381_fr_int inputs[4 + 18 * POREP_MAX_CHALLENGES];
        struct porep_public public;
        struct task t;
        uint8_t digest[32];
        char text[65];
        task_init(&t);
        assert_ptr_equal(registered_proof_by_name(r->name, strlen(r->name)), r);
        porep_public_init(&public, r, values[0], values[1], values[2], values[3]);
        must(&t, porep_public_inputs(&public, &t, registered_proof_partitions(r) - 1, inputs));
        sha256_of(digest, inputs, porep_input_count(r->shape) * sizeof *inputs);
        hex_of(text, digest);
        assert_string_equal(text, digests[n]);
    }
}

/* 32 GiB, sparse: all ten partitions, and one of them by the definition, row by row. */
static void test_32gib(void **state)
{
    const struct porep_seal_request r = {
        .proof = registered_proof_by_number(8), .miner = 1000, .sector = 1, .seed = 7
    };
    struct proving p;
    struct c1 c1;
    (void)state;
    proving_open(&p, r.proof->shape);
    must(&p.t, porep_seal_sparse(&c1, &p.t, &r));
    must(&p.t, porep_check(&c1, &p.t));
    for (unsigned k = 0; k < c1.partitions; k++) assert_partition(&p, &c1, k);
    struct row_check check = { .w = &p.w, .map = &p.circuit.map };
    must(&p.t, row_check_run(&check, &p.t, &p.circuit.image));
    assert_int_equal(check.bad_row, ROW_CHECK_NONE);
    c1_fini(&c1);
    proving_close(&p);
}

int main(void)
{
    const struct CMUnitTest fast_tests[] = {
        cmocka_unit_test(test_witness_of_model), cmocka_unit_test(test_real),
        cmocka_unit_test(test_real_inputs),      cmocka_unit_test(test_generated),
        cmocka_unit_test(test_shapes),           cmocka_unit_test(test_inputs_of_model),
    };
    const struct CMUnitTest slow_tests[] = { cmocka_unit_test(test_32gib) };
    return getenv("CUZK_SLOW") != NULL ? cmocka_run_group_tests(slow_tests, NULL, NULL)
                                       : cmocka_run_group_tests(fast_tests, NULL, NULL);
}
