/* Keys for tests of the engine. */
#include "engine_keys.h"
#include "formats/snarkjs_json.h"
#include "base/bytes.h"

void test_keys_open(struct test_keys *k, uint32_t constraints)
{
    static const char *const names[KEYS] = { "bn254-zkey", "bls-zkey", "bls-params" };

    memset(k, 0, sizeof *k);
    proving_open(&k->proving, "cpu");
    for (int i = 0; i < KEYS; i++) {
        struct test_key *key = &k->key[i];
        const struct curve *c = i == 0 ? &curve_bn254 : &curve_bls12_381;
        const struct random_circuit_options o = { c, constraints + 7 * (uint32_t)i, 2, i != 2 };
        struct trapdoor secrets;
        char file[64];

        snprintf(key->name, sizeof key->name, "%s", names[i]);
        random_circuit_make(&key->circuit, &k->proving.random, &o);
        while (i > 0 && key->circuit.count == k->key[i - 1].circuit.count) { /* one's witness must not pass for another's */
            random_circuit_fini(&key->circuit);
            random_circuit_make(&key->circuit, &k->proving.random, &o);
        }
        proving_secrets(&secrets, &k->proving, c, i == 2 ? ROOT_BELLMAN : ROOT_SNARKJS);
        key->key = proving_key(&k->proving, &key->circuit, &secrets, key->name);
        groth16_verifier_init(&key->verifier, &key->key->vk);
        snprintf(file, sizeof file, "%s.%s", key->name, i == 2 ? "params" : "zkey");
        temp_folder_path(key->key_path, &k->proving.folder, file);
        snprintf(file, sizeof file, "%s.r1cs", key->name);
        temp_folder_path(key->r1cs_path, &k->proving.folder, file);
        k->circuit[i] = (struct engine_circuit){ .name = key->name,
                                                 .kind = &kind_circom,
                                                 .key_path = key->key_path,
                                                 .r1cs_path = i == 2 ? key->r1cs_path : NULL };
    }
}

void test_keys_close(struct test_keys *k)
{
    for (int i = 0; i < KEYS; i++) {
        groth16_key_unref(k->key[i].key);
        random_circuit_fini(&k->key[i].circuit);
    }
    proving_close(&k->proving);
}

/* "wtns", version 2, section 1: field size, modulus, count; section 2: the values.  (Format: docs/formats.) */
uint8_t *test_wtns(const struct test_key *key, bool wrong, size_t *bytes)
{
    const struct random_circuit *c = &key->circuit;
    const size_t values = (size_t)c->count * 32;
    uint8_t *f = malloc(76 + values);

    if (f == NULL) abort();
    memcpy(f, "wtns", 4);
    store_le32(f + 4, 2);
    store_le32(f + 8, 2);
    store_le32(f + 12, 1);
    store_le64(f + 16, 40);
    store_le32(f + 24, 32);
    words_to_le(f + 28, c->witness.curve->fr.modulus.w, 4);
    store_le32(f + 60, (uint32_t)c->count);
    store_le32(f + 64, 2);
    store_le64(f + 68, values);
    memcpy(f + 76, c->values, values);
    if (wrong) f[76 + 32 * 4] ^= 1; /* the y of row 0, x x = y, after two public values */
    *bytes = 76 + values;
    return f;
}

/* Whether a text is that of this proof and these inputs. */
static bool text_is(struct span text, const struct groth16_proof *proof, const struct fr_int *inputs)
{
    const struct proof_points points = { proof->a, proof->b, proof->c };
    struct json_text p = { 0 }, s = { 0 };
    struct task t;
    char *expected = NULL;

    task_init(&t);
    if (snarkjs_proof_write(&t, &p, proof->curve, &points) != CUZK_OK || snarkjs_public_write(&t, &s, inputs, 2) != CUZK_OK)
        abort();
    const int bytes = asprintf(&expected, "{\"proof\":%.*s,\"publicSignals\":%.*s}", (int)p.size, p.data, (int)s.size, s.data);
    if (bytes < 0) abort();
    const bool same = text.size == (size_t)bytes && memcmp(text.data, expected, text.size) == 0;
    free(expected);
    json_text_fini(&p);
    json_text_fini(&s);
    return same;
}

void test_must_be_right(const struct test_key *key, const struct job_answer *a)
{
    const struct curve *c = key->key->curve;
    const size_t g1 = c->g1.encoded_bytes(ENCODING_BE), g2 = c->g2.encoded_bytes(ENCODING_BE);
    struct groth16_proof p = { .curve = c };
    struct fr_int inputs[2];
    struct task t;

    task_init(&t);
    for (uint64_t i = 0; i < 2; i++) witness_get(&key->circuit.witness, &inputs[i], i + 1);
    if (a->end == JOB_DONE && a->proof.size == 2 * g1 + g2 &&
        c->g1.decode(&p.a, a->proof.data, ENCODING_BE, true) == POINT_OK &&
        c->g2.decode(&p.b, a->proof.data + g1, ENCODING_BE, true) == POINT_OK &&
        c->g1.decode(&p.c, a->proof.data + g1 + g2, ENCODING_BE, true) == POINT_OK &&
        groth16_verify(&t, &key->verifier, &p, inputs, 2, GROTH16_POINTS_CHECKED) == CUZK_OK &&
        text_is(a->text, &p, inputs))
        return;
    fprintf(stderr, "job %s on %s: end %d, status %d, %zu bytes, %s\n", a->job_id, key->name, a->end,
            a->status, a->proof.size, a->error_text != NULL ? a->error_text : "");
    abort();
}
