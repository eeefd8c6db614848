/* A flipped bit anywhere in a key or a witness: it fails by name, or the proof is no longer the oracle's.
 *
 * What has no weight in a proof is left out: values that are zero and their points, and the list of contributions, which no prover
 * reads.  The bits are drawn anew in each run, some in every part of every file. */
#include "support/cm.h"
#include "base/bytes.h"
#include "formats/zkey.h"
#include "groth16/key_check.h"
#include "groth16/prove_blinded.h"
#include "support/oracle.h"
#include "support/proving.h"

#define SAMPLES 4 /* of each part */

struct subject {
    struct random_circuit circuit;
    struct r1cs_file parsed;
    struct trapdoor secrets;
    struct groth16_blinding blinding;
    struct groth16_key *key;
    struct groth16_proof expected;
    char key_path[PATH_MAX], damaged_path[PATH_MAX], r1cs_path[PATH_MAX];
};

static void subject_open(struct subject *s, const struct curve *c, enum root_convention layout)
{
    const struct random_circuit_options o = { c, 90, 3, false };
    struct task t;

    random_circuit_make(&s->circuit, &cpu_proving.random, &o);
    proving_circuit(&s->parsed, &s->circuit);
    proving_secrets(&s->secrets, &cpu_proving, c, layout);
    proving_blinding(&s->blinding, &cpu_proving, c);
    s->key = proving_key(&cpu_proving, &s->circuit, &s->secrets, "damage");
    proving_task(&t, &cpu_proving);
    proving_must(&t,
                 oracle_prove(&t, &s->expected, &s->secrets, &s->parsed, &s->circuit.witness, &s->blinding),
                 "oracle");
    temp_folder_path(s->key_path, &cpu_proving.folder, layout == ROOT_BELLMAN ? "damage.params" : "damage.zkey");
    temp_folder_path(s->damaged_path, &cpu_proving.folder, "flipped");
    temp_folder_path(s->r1cs_path, &cpu_proving.folder, "damage.r1cs");
}

static void subject_close(struct subject *s)
{
    groth16_key_unref(s->key);
    random_circuit_fini(&s->circuit);
}

static bool proves_as_expected(const struct subject *s, const struct groth16_key *key,
                               const struct witness *w, struct task *t)
{
    struct groth16_proof proof;
    struct groth16_plan plan;

    if (groth16_prove_plan(&plan, t, key, cpu_proving.backend, cpu_proving.device) != CUZK_OK) return false;
    if (groth16_prove_blinded(t, &proof, key, &plan, w, &s->blinding) != CUZK_OK) return false;
    return oracle_equal(&proof, &s->expected);
}

/* Flips one bit at offset of the key's file. */
static void flip_in_key(const struct subject *s, uint64_t offset, const char *part)
{
    const bool bellman = s->secrets.layout == ROOT_BELLMAN;
    struct groth16_key *key = NULL;
    struct mapfile file;
    struct task t;

    proving_task(&t, &cpu_proving);
    proving_must(&t, mapfile_open(&file, &t, s->key_path), "key");
    assert_true(offset < file.bytes.size);
    uint8_t *copy = malloc(file.bytes.size);
    assert_non_null(copy);
    memcpy(copy, file.bytes.data, file.bytes.size);
    const unsigned bit = (unsigned)prng_below(&cpu_proving.random, 8);
    copy[offset] ^= (uint8_t)(1u << bit);
    proving_must(&t, mapfile_write(&t, s->damaged_path, copy, file.bytes.size, 0600), "flipped key");
    free(copy);
    mapfile_close(&file);

    if (groth16_key_open(&key, &t, s->damaged_path, bellman ? s->r1cs_path : NULL) == CUZK_OK) {
        if (proves_as_expected(s, key, &s->circuit.witness, &t))
            fail_msg("bit %u of byte %llu (%s) makes no difference", bit, (unsigned long long)offset, part);
        groth16_key_unref(key);
    }
    if (t.error.status != CUZK_OK && (t.error.text[0] == '\0' || strcmp(t.error.path, s->damaged_path) != 0))
        fail_msg("bit %u of byte %llu (%s): the error does not name the file: %s", bit,
                 (unsigned long long)offset, part, t.error.text);
}

static bool has_weight(const struct subject *s, uint64_t wire)
{
    struct fr_int v;
    witness_get(&s->circuit.witness, &v, wire);
    return (v.w[0] | v.w[1] | v.w[2] | v.w[3]) != 0;
}

/* Points of a query, wire_of(i) = gather[i] or first + i; every: all have weight. */
static void flip_points(const struct subject *s, uint64_t at, uint64_t count, size_t point_bytes,
                        const uint32_t *gather, uint64_t first, bool every, const char *part)
{
    for (int k = 0; k < SAMPLES;) {
        const uint64_t i = prng_below(&cpu_proving.random, count);
        if (!every && !has_weight(s, gather != NULL ? gather[i] : first + i)) continue;
        flip_in_key(s, at + i * point_bytes + prng_below(&cpu_proving.random, point_bytes), part);
        k++;
    }
}

static void zkey_of(const struct curve *c)
{
    struct subject s;
    subject_open(&s, c, ROOT_SNARKJS);
    const struct zkey *z = &s.key->zkey;
    const uint8_t *base = z->file.data;
    const size_t g1 = c->g1.aff_bytes, g2 = c->g2.aff_bytes;
    const uint64_t n = z->n_vars, header_points = (uint64_t)(4 * g1 - g1 + 3 * g2);
    size_t header = 0;

    while (memcmp(base + header, c->fr.modulus.w, 32) != 0)
        header++; /* r, then the counts, then the points */
    header += 32;
    for (int k = 0; k < 12; k++) flip_in_key(&s, header + (uint64_t)k, "counts");
    for (int k = 0; k < 3 * SAMPLES; k++)
        flip_in_key(&s, header + 12 + prng_below(&cpu_proving.random, header_points), "header points");
    for (int k = 0; k < 3 * SAMPLES; k++)
        flip_in_key(&s, prng_below(&cpu_proving.random, header), "container and header");
    flip_points(&s, (uint64_t)(z->ic.data - base), (uint64_t)z->n_public + 1, g1, NULL, 0, true, "IC");
    flip_points(&s, (uint64_t)(z->a.data - base), n, g1, NULL, 0, false, "A");
    flip_points(&s, (uint64_t)(z->b1.data - base), n, g1, NULL, 0, false, "B1");
    flip_points(&s, (uint64_t)(z->b2.data - base), n, g2, NULL, 0, false, "B2");
    flip_points(&s, (uint64_t)(z->c.data - base), n - z->n_public - 1, g1, NULL, (uint64_t)z->n_public + 1,
                false, "C");
    flip_points(&s, (uint64_t)(z->h.data - base), z->domain_size, g1, NULL, 0, true, "H");
    for (int k = 0; k < 3 * SAMPLES;) {
        const uint64_t i = prng_below(&cpu_proving.random, z->n_coefs),
                       at = (uint64_t)(z->coefs.data - base) + i * ZKEY_COEF_BYTES;
        const uint64_t inside = prng_below(&cpu_proving.random, ZKEY_COEF_BYTES);
        if (!has_weight(&s, load_le32(base + at + 8))) continue;
        flip_in_key(&s, at + inside, "coefficients");
        k++;
    }
    subject_close(&s);
}

static void zkey_bn254(void **state)
{
    (void)state;
    zkey_of(&curve_bn254);
}

static void zkey_bls12_381(void **state)
{
    (void)state;
    zkey_of(&curve_bls12_381);
}

static void params(void **state)
{
    struct subject s;
    (void)state;
    subject_open(&s, &curve_bls12_381, ROOT_BELLMAN);
    const struct filparams *p = &s.key->params;
    const struct groth16_key *k = s.key;
    const uint8_t *base = p->file.data;

    /* gamma2 and IC are not part of a proof, but their encoding is checked. */
    for (int i = 0; i < 3 * SAMPLES; i++) flip_in_key(&s, prng_below(&cpu_proving.random, 768), "verifying key");
    for (int i = 0; i < 4; i++) flip_in_key(&s, 768 + (uint64_t)i, "count of IC");
    flip_points(&s, 772, p->vk.ic_count, 96, NULL, 0, true, "IC");
    flip_points(&s, (uint64_t)(p->h.data - base), p->h_count, 96, NULL, 0, true, "h");
    flip_points(&s, (uint64_t)(p->l.data - base), p->l_count, 96, NULL, k->public_count + 1, false, "l");
    flip_points(&s, (uint64_t)(p->a.data - base), p->a_count, 96, k->density_a, 0, false, "a");
    flip_points(&s, (uint64_t)(p->b_g1.data - base), p->b_g1_count, 96, k->density_b, 0, false, "b_g1");
    flip_points(&s, (uint64_t)(p->b_g2.data - base), p->b_g2_count, 192, k->density_b, 0, false, "b_g2");
    const struct span vectors[] = { p->h, p->l, p->a, p->b_g1, p->b_g2 };
    for (size_t v = 0; v < ARRAY_COUNT(vectors); v++)
        flip_in_key(&s, (uint64_t)(vectors[v].data - base) - 1, "a count");
    subject_close(&s);
}

/* Every value of the witness, one random bit each. */
static void witness_of(const struct curve *c, enum root_convention layout)
{
    struct subject s;
    struct task t;

    subject_open(&s, c, layout);
    proving_task(&t, &cpu_proving);
    assert_true(proves_as_expected(&s, s.key, &s.circuit.witness, &t));
    for (uint64_t i = 0; i < s.circuit.count; i++) {
        const uint64_t byte = 32 * i + prng_below(&cpu_proving.random, 32);
        const uint8_t bit = (uint8_t)(1u << prng_below(&cpu_proving.random, 8));
        proving_task(&t, &cpu_proving);
        s.circuit.values[byte] ^= bit;
        if (proves_as_expected(&s, s.key, &s.circuit.witness, &t))
            fail_msg("value %llu of the witness makes no difference", (unsigned long long)i);
        s.circuit.values[byte] ^= bit;
    }
    subject_close(&s);
}

static void witnesses(void **state)
{
    (void)state;
    witness_of(&curve_bn254, ROOT_SNARKJS);
    witness_of(&curve_bls12_381, ROOT_BELLMAN);
}

/* Points that prove without being noticed are found by the check: off the curve, out of the subgroup, B1 unlike B2. */
static void check_finds_wrong_points(void **state)
{
    struct subject s;
    struct task t;
    (void)state;
    subject_open(&s, &curve_bn254, ROOT_SNARKJS);
    proving_task(&t, &cpu_proving);
    proving_must(&t, groth16_key_check(&t, s.key, NULL, cpu_proving.backend, cpu_proving.device), "a sound key");

    const struct zkey *z = &s.key->zkey;
    const struct {
        struct span section;
        size_t point_bytes;
        const char *name;
    } section[] = {
        { z->a, 64, "A" }, { z->b1, 64, "B1" }, { z->b2, 128, "B2" }, { z->c, 64, "C" }, { z->h, 64, "H" },
    };
    for (size_t i = 0; i < ARRAY_COUNT(section); i++) {
        for (int swap = 0; swap < 2; swap++) { /* a flipped bit; two sound points of B exchanged */
            struct groth16_key *key;
            struct mapfile file;
            const size_t bytes = section[i].point_bytes,
                         at = (size_t)(section[i].section.data - z->file.data);
            const bool of_b = section[i].name[0] == 'B';
            if (swap && !of_b) continue;
            proving_task(&t, &cpu_proving);
            proving_must(&t, mapfile_open(&file, &t, s.key_path), "key");
            uint8_t *copy = malloc(file.bytes.size);
            assert_non_null(copy);
            memcpy(copy, file.bytes.data, file.bytes.size);
            if (swap) {
                size_t j = 1, k;
                const size_t count = section[i].section.size / bytes;
                while (j < count && memcmp(copy + at, copy + at + j * bytes, bytes) == 0) j++;
                assert_true(j < count);
                for (k = 0; k < bytes; k++) {
                    const uint8_t x = copy[at + k];
                    copy[at + k] = copy[at + j * bytes + k];
                    copy[at + j * bytes + k] = x;
                }
            } else {
                copy[at + prng_below(&cpu_proving.random, section[i].section.size)] ^= 1;
            }
            proving_must(&t, mapfile_write(&t, s.damaged_path, copy, file.bytes.size, 0600), "changed key");
            free(copy);
            mapfile_close(&file);
            proving_must(&t, groth16_key_open(&key, &t, s.damaged_path, NULL), "the changed key opens");
            assert_int_equal(groth16_key_check(&t, key, NULL, cpu_proving.backend, cpu_proving.device),
                             CUZK_KEY_INVALID);
            assert_int_equal(t.error.status, CUZK_KEY_INVALID);
            assert_string_equal(t.error.path, s.damaged_path);
            assert_non_null(strstr(t.error.field[0] != '\0' ? t.error.field : t.error.text,
                                   swap ? "B" : section[i].name));
            groth16_key_unref(key);
        }
    }
    subject_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zkey_bn254), cmocka_unit_test(zkey_bls12_381),           cmocka_unit_test(params),
        cmocka_unit_test(witnesses),  cmocka_unit_test(check_finds_wrong_points),
    };
    return cmocka_run_group_tests(tests, cpu_proving_open, cpu_proving_close);
}
