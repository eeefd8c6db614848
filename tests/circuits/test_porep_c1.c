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

static void assert_same_proofs(const struct c1 *x, const struct c1 *y)
{
    const size_t n = (size_t)x->partitions * x->shape->challenges;
    assert_ptr_equal(x->proof, y->proof);
    assert_int_equal(x->partitions, y->partitions);
    assert_memory_equal(x->numbers, y->numbers, n * porep_challenge_numbers(x->shape) * sizeof *x->numbers);
    assert_memory_equal(x->words, y->words, n * porep_challenge_words(x->shape) * sizeof *x->words);
    for (size_t i = 0; i < n; i++) {
        assert_memory_equal(x->extra[i].root, y->extra[i].root, sizeof x->extra[i].root);
        assert_memory_equal(x->extra[i].leaf, y->extra[i].leaf, sizeof x->extra[i].leaf);
        assert_memory_equal(x->extra[i].column, y->extra[i].column, sizeof x->extra[i].column);
        assert_memory_equal(x->extra[i].column_index, y->extra[i].column_index,
                            sizeof x->extra[i].column_index);
        assert_memory_equal(x->extra[i].label_parents, y->extra[i].label_parents,
                            sizeof x->extra[i].label_parents);
    }
    assert_memory_equal(x->comm_r, y->comm_r, 32);
    assert_memory_equal(x->comm_d, y->comm_d, 32);
    assert_memory_equal(x->replica_id, y->replica_id, 32);
    assert_memory_equal(x->seed, y->seed, 32);
    assert_memory_equal(x->ticket, y->ticket, 32);
}

/* -- witnesses -- */

struct proving {
    struct task t;
    struct porep_circuit circuit;
    struct assignment w;
};

static void proving_open(struct proving *p, const struct porep_shape *shape)
{
    task_init(&p->t);
    must(&p->t, porep_circuit_open(&p->circuit, &p->t, shape, NULL));
    must(&p->t, assignment_create(&p->w, &p->t, &p->circuit.image));
}

static void proving_close(struct proving *p)
{
    assignment_fini(&p->w);
    porep_circuit_close(&p->circuit);
}

/* The witness holds and its inputs are those that a verifier derives. */
static void assert_partition(struct proving *p, const struct c1 *c1, unsigned partition)
{
    bls12_381_fr_int inputs[4 + 18 * POREP_MAX_CHALLENGES];
    struct porep_public public;
    must(&p->t, porep_assign(&p->circuit, &p->t, &p->w, c1, partition));
    must(&p->t, image_check(&p->circuit.image, &p->t, &p->w, &p->circuit.map));
    porep_public_of(&public, c1);
    must(&p->t, porep_public_inputs(&public, &p->t, partition, inputs));
    assert_memory_equal(inputs, p->w.inputs, porep_input_count(c1->shape) * sizeof *inputs);
}

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

/* -- damage -- */

/* One field of a good C1 output altered: porep_check names it, or the witness does not satisfy the circuit. */
static void test_faults(void **state)
{
    struct c1 c1;
    struct task t;
    (void)state;
    task_init(&t);
    sealed(&c1, &t, 5);
    const unsigned numbers = porep_challenge_numbers(c1.shape), words = porep_challenge_words(c1.shape);
    for (unsigned challenge = 0; challenge < 2; challenge++) {
        char where[32];
        snprintf(where, sizeof where, "partition 0, challenge %u", challenge);
        for (unsigned i = 0; i < numbers; i++) {
            bls12_381_fr_int *v = c1_numbers(&c1, 0, challenge) + i;
            v->l[0] ^= 1;
            task_init(&t);
            assert_int_equal(porep_check(&c1, &t), CUZK_MISMATCH);
            assert_non_null(strstr(t.error.text, where));
            v->l[0] ^= 1;
        }
        for (unsigned i = 0; i < words; i++) {
            uint32_t *v = c1_words(&c1, 0, challenge) + i;
            *v ^= 1;
            task_init(&t);
            assert_int_equal(porep_check(&c1, &t), CUZK_MISMATCH);
            assert_non_null(strstr(t.error.text, where));
            *v ^= 1;
        }
        uint8_t *extra = (uint8_t *)c1_extra_of(&c1, 0, challenge);
        struct c1_extra *x = c1_extra_of(&c1, 0, challenge);
        struct {
            void *data;
            size_t bytes;
        } fields[] = { { x->root, sizeof x->root },
                       { x->column, 2 * 32 },
                       { x->label_layer, 3 * 4 },
                       { x->label_node, 3 * 8 } };
        assert_non_null(extra);
        for (size_t f = 0; f < ARRAY_COUNT(fields); f++)
            for (size_t i = 0; i < fields[f].bytes; i += 4) {
                uint8_t *p = (uint8_t *)fields[f].data + i;
                *p ^= 1;
                task_init(&t);
                assert_int_equal(porep_check(&c1, &t), CUZK_MISMATCH);
                *p ^= 1;
            }
    }
    uint8_t *const head[] = { c1.comm_r, c1.comm_d, c1.replica_id, c1.seed };
    for (size_t i = 0; i < ARRAY_COUNT(head); i++) {
        head[i][0] ^= 1;
        task_init(&t);
        assert_int_equal(porep_check(&c1, &t), CUZK_MISMATCH);
        head[i][0] ^= 1;
        uint8_t saved[32];
        memcpy(saved, head[i], 32);
        memset(head[i], 0, 32);
        task_init(&t);
        assert_int_equal(porep_check(&c1, &t), CUZK_MALFORMED);
        memset(head[i], 0xff, 32);
        task_init(&t);
        assert_int_not_equal(porep_check(&c1, &t), CUZK_OK);
        memcpy(head[i], saved, 32);
    }
    task_init(&t);
    must(&t, porep_check(&c1, &t));
    c1_fini(&c1);
}

static void expect_json(const char *text, size_t bytes, cuzk_status status, const char *part)
{
    struct c1 c1;
    struct task t;
    task_init(&t);
    assert_int_equal(c1_read(&c1, &t, span_of(text, bytes), "made-up.json"), status);
    if (status != CUZK_OK && strstr(t.error.text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", t.error.text, part);
    c1_fini(&c1);
}

/* Replaces the nth occurrence of a text in a good JSON. */
static char *edited(const char *text, size_t bytes, const char *from, const char *to, unsigned nth,
                    size_t *out_bytes)
{
    const char *at = text;
    for (unsigned i = 0; i <= nth; i++) {
        at = memmem(at + (i != 0), bytes - (size_t)(at + (i != 0) - text), from, strlen(from));
        assert_non_null(at);
    }
    char *out = malloc(bytes + strlen(to) + 1);
    assert_non_null(out);
    const size_t before = (size_t)(at - text), skip = before + strlen(from);
    memcpy(out, text, before);
    memcpy(out + before, to, strlen(to));
    memcpy(out + before + strlen(to), text + skip, bytes - skip);
    *out_bytes = bytes - strlen(from) + strlen(to);
    return out;
}

static void test_json_damage(void **state)
{
    static const struct {
        const char *from, *to;
        unsigned nth;
        cuzk_status status;
        const char *part;
    } edits[] = {
        { "\"comm_r\":", "\"comm_x\":", 0, CUZK_MALFORMED, "\"comm_r\" is missing" },
        { "\"comm_d\":", "\"comm_r\":", 0, CUZK_MALFORMED, "twice" },
        { "\"registered_proof\":\"StackedDrg2KiBV1_1\"", "\"registered_proof\":\"StackedDrg2KiBV9\"", 0,
          CUZK_MALFORMED, "registered_proof" },
        { "\"registered_proof\":\"StackedDrg2KiBV1_1\"", "\"registered_proof\":\"StackedDrg8MiBV1_1\"", 0,
          CUZK_MISMATCH, "2KiB" },
        { "\"registered_proof\":\"StackedDrg2KiBV1_1\"", "\"registered_proof\":7", 0, CUZK_MALFORMED,
          "number where none belongs" },
        { "\"StackedDrg2KiBV1\":", "\"StackedDrg2MiBV1\":", 0, CUZK_MALFORMED, "sector size" },
        { "\"StackedDrg2KiBV1\":", "\"StackedDrg32GiBV1\":", 0, CUZK_MALFORMED, "elements" },
        { "\"index\":", "\"index\":9", 5, CUZK_MALFORMED, "arity" },
        { "\"index\":", "\"index\":-", 5, CUZK_MALFORMED, "wrong kind" },
        { "\"index\":", "\"index\":1.", 5, CUZK_MALFORMED, "unsigned integers" },
        { "\"index\":", "\"index\":99999999999999999999", 5, CUZK_MALFORMED, "64 bits" },
        { "\"node\":", "\"node\":null,\"x\":", 0, CUZK_MALFORMED, "wrong kind" },
        { "\"root\":[", "\"root\":[256,", 0, CUZK_MALFORMED, "0 to 255" },
        { "\"root\":[", "\"root\":[1,", 0, CUZK_MALFORMED, "0 to 255" },
        { "\"root\":[", "\"root\":[[", 0, CUZK_MALFORMED, "0 to 255" },
        { "\"leaf\":[", "\"leaf\":{", 0, CUZK_MALFORMED, "wrong kind" },
        { "\"Single\":", "\"Sub\":", 1, CUZK_MALFORMED, "kind" },
        { "\"path\":{\"path\":", "\"sub_proof\":{\"path\":", 1, CUZK_MALFORMED, "kind" },
        { "\"labeling_proofs\":[", "\"labeling_proofs\":[{},", 0, CUZK_MALFORMED, "missing" },
        { "\"drg_parents\":[", "\"drg_parents\":[],\"zzz\":[", 0, CUZK_MALFORMED, "parents" },
        { "\"hashes\":[", "\"hashes\":[],\"zzz\":[", 0, CUZK_MALFORMED, "hashes" },
    };
    struct c1 c1;
    struct task t;
    uint8_t *json;
    size_t bytes;
    (void)state;
    task_init(&t);
    sealed(&c1, &t, 5);
    must(&t, c1json_write(&c1, &t, false, &json, &bytes));
    for (size_t i = 0; i < ARRAY_COUNT(edits); i++) {
        size_t size;
        char *text = edited((const char *)json, bytes, edits[i].from, edits[i].to, edits[i].nth, &size);
        expect_json(text, size, edits[i].status, edits[i].part);
        free(text);
    }
    /* liberal: white space, unknown members of any shape, another order */
    size_t size, more;
    char *text = edited((const char *)json, bytes, "{\"registered_proof\":\"StackedDrg2KiBV1_1\",",
                        "{ \t\r\n", 0, &size);
    char *last = edited(text, size, ",\"comm_r\":",
                        ",\"extra\":{\"a\":[1,-2.5e3,true,{\"b\":null}],\"c\":\"x\\u0041\\\"}\"} , "
                        "\"registered_proof\" : \"StackedDrg2KiBV1_1\",\"comm_r\":",
                        0, &more);
    expect_json(last, more, CUZK_OK, "");
    free(text);
    free(last);
    /* a hash >= r */
    struct c1_place p = { .merkle = C1_MERKLE_PARENT + 3, .level = 1, .sibling = 4, .challenge = 1 };
    memset(c1_sibling(&c1, &p), 0xff, 32);
    free(json);
    must(&t, c1json_write(&c1, &t, true, &json, &bytes));
    expect_json((const char *)json, bytes, CUZK_MALFORMED,
                "partition 0, challenge 1, drg parent 3, path level 1, hash 4");
    free(json);
    c1_fini(&c1);
}

/* Any cut of any form is named, and no damage of bytes is taken for a good proof unless it changes nothing. */
static void test_cut_and_turned(void **state)
{
    struct c1 c1, back;
    struct task t;
    struct prng r;
    (void)state;
    prng_init(&r);
    task_init(&t);
    sealed(&c1, &t, 5);
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        uint8_t *json;
        size_t bytes;
        must(&t, c1json_write(&c1, &t, wrapped != 0, &json, &bytes));
        for (unsigned i = 0; i < 300; i++) {
            const size_t cut = (size_t)prng_below(&r, bytes), at = (size_t)prng_below(&r, bytes);
            task_init(&t);
            assert_int_not_equal(c1_read(&back, &t, span_of(json, cut), NULL), CUZK_OK);
            assert_true(t.error.text[0] != '\0');
            const uint8_t saved = json[at];
            json[at] = (uint8_t)prng_u64(&r);
            task_init(&t);
            if (c1_read(&back, &t, span_of(json, bytes), NULL) == CUZK_OK) {
                task_init(&t);
                if (porep_check(&back, &t) ==
                    CUZK_OK) { /* a leaf or ticket byte that no check covers, or the same byte again */
                    struct proving p;
                    proving_open(&p, back.shape);
                    assert_partition(&p, &back, 0);
                    proving_close(&p);
                }
                c1_fini(&back);
            }
            json[at] = saved;
        }
        free(json);
    }
    c1_fini(&c1);
}

/* Pieces of every size give the same. */
static void test_pieces(void **state)
{
    struct c1 c1, back;
    struct task t;
    struct prng r;
    (void)state;
    prng_init(&r);
    task_init(&t);
    sealed(&c1, &t, 0);
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        uint8_t *json;
        size_t bytes;
        must(&t, c1json_write(&c1, &t, wrapped != 0, &json, &bytes));
        for (unsigned limit = 1; limit < 100; limit += limit < 10 ? 1 : 30) {
            struct c1json *j;
            c1_init(&back);
            must(&t, c1json_create(&j, &t, &back));
            for (size_t at = 0; at < bytes;) {
                size_t n = 1 + (size_t)prng_below(&r, limit);
                if (n > bytes - at) n = bytes - at;
                must(&t, c1json_push(j, &t, json + at, n));
                at += n;
            }
            must(&t, c1json_finish(j, &t));
            c1json_destroy(j);
            assert_same_proofs(&c1, &back);
            c1_fini(&back);
        }
        free(json);
    }
    c1_fini(&c1);
}

static void test_bincode_cut(void **state)
{
    char path[PATH_MAX];
    struct mapfile file;
    struct c1 c1;
    struct task t;
    struct prng r;
    (void)state;
    shared_data_need(path, VANILLA "c2-input-8MiB.bincode");
    prng_init(&r);
    task_init(&t);
    must(&t, mapfile_open(&file, &t, path));
    for (unsigned i = 0; i < 2000; i++) {
        task_init(&t);
        assert_int_not_equal(
            c1_read(&c1, &t, span_of(file.bytes.data, (size_t)prng_below(&r, file.bytes.size)), NULL),
            CUZK_OK);
    }
    mapfile_close(&file);
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
        cmocka_unit_test(test_faults),           cmocka_unit_test(test_json_damage),
        cmocka_unit_test(test_cut_and_turned),   cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_bincode_cut),
    };
    const struct CMUnitTest slow_tests[] = { cmocka_unit_test(test_32gib) };
    return getenv("CUZK_SLOW") != NULL ? cmocka_run_group_tests(slow_tests, NULL, NULL)
                                       : cmocka_run_group_tests(fast_tests, NULL, NULL);
}
