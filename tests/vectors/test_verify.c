/* Verification of real Groth16 proofs, one by one and batched, and the refusal of everything that was altered. */
#include "support/cm.h"
#include "support/prng.h"
#include "support/shared_data.h"

#include "base/bytes.h"
#include "base/mapfile.h"
#include "formats/decimal.h"
#include "formats/filvk.h"
#include "formats/proof_codec.h"
#include "formats/snarkjs_json.h"
#include "groth16/verify.h"
#include "vectors/multiplier2_keys.h"
#include <jansson.h>

static struct prng prng;

/* A key with proofs of it. */
struct proof_case {
    char name[128];
    struct groth16_vk vk;
    struct groth16_verifier verifier;
    struct groth16_proof *proofs;
    struct fr_int *inputs; /* inputs_each a proof */
    size_t count, inputs_each;
};

static void case_key(struct proof_case *pc, const struct vk_points *vk)
{
    const struct groth16_vk_points points = {
        .alpha1 = &vk->alpha1,
        .beta2 = &vk->beta2,
        .gamma2 = &vk->gamma2,
        .delta2 = &vk->delta2,
        .ic = vk->ic,
        .ic_stride = sizeof *vk->ic,
        .ic_count = vk->ic_count,
    };
    struct task t;
    task_init(&t);
    if (groth16_vk_init(&t, &pc->vk, vk->curve, &points) != CUZK_OK ||
        groth16_vk_check(&t, &pc->vk) != CUZK_OK)
        fail_msg("%s: %s", pc->name, t.error.text);
    groth16_verifier_init(&pc->verifier, &pc->vk);
}

static void case_proofs(struct proof_case *pc, size_t count, size_t inputs_each)
{
    pc->count = count;
    pc->inputs_each = inputs_each;
    pc->proofs = calloc(count, sizeof *pc->proofs);
    pc->inputs = calloc(count * inputs_each + 1, sizeof *pc->inputs);
    assert_non_null(pc->proofs);
    assert_non_null(pc->inputs);
}

static void case_set_proof(struct proof_case *pc, size_t index, const struct proof_points *p)
{
    pc->proofs[index].curve = pc->vk.curve;
    pc->proofs[index].a = p->a;
    pc->proofs[index].b = p->b;
    pc->proofs[index].c = p->c;
}

static void case_fini(struct proof_case *pc)
{
    groth16_vk_fini(&pc->vk);
    free(pc->proofs);
    free(pc->inputs);
}

static void case_from_json(struct proof_case *pc, const char *name, struct span vk_text,
                           struct span proof_text, struct span public_text)
{
    struct vk_points vk;
    struct proof_points proof;
    struct public_values values;
    struct task t;

    memset(pc, 0, sizeof *pc);
    snprintf(pc->name, sizeof pc->name, "%s", name);
    task_init(&t);
    if (snarkjs_vk_read(&vk, &t, name, vk_text) != CUZK_OK ||
        snarkjs_proof_read(&proof, &t, name, proof_text, vk.curve) != CUZK_OK ||
        snarkjs_public_read(&values, &t, name, public_text, vk.curve) != CUZK_OK)
        fail_msg("%s: %s", name, t.error.text);
    case_key(pc, &vk);
    case_proofs(pc, 1, values.count);
    memcpy(pc->inputs, values.value, values.count * sizeof *values.value);
    case_set_proof(pc, 0, &proof);
    vk_points_fini(&vk);
    public_values_fini(&values);
}

/* In parts: with the inputs' part or without, and with that of A and B, of the proof or of another, or without. */
static cuzk_status verify_parts(const struct proof_case *pc, const struct groth16_proof *proof,
                                const struct fr_int *inputs, const struct groth16_proof *other,
                                bool with_inputs)
{
    struct groth16_ahead ahead;
    struct task t;

    task_init(&t);
    groth16_ahead_init(&ahead, &pc->verifier, inputs, pc->inputs_each);
    if (with_inputs) groth16_ahead_inputs(&ahead);
    groth16_ahead_pair_inputs(&ahead);
    if (other != NULL) {
        groth16_ahead_points(&ahead, &other->a, &other->b);
        groth16_ahead_ab(&ahead);
        groth16_ahead_check(&ahead);
    }
    return groth16_verify_rest(&t, &ahead, proof);
}

static cuzk_status verify_one(const struct proof_case *pc, const struct groth16_proof *proof,
                              const struct fr_int *inputs, struct task *t)
{
    task_init(t);
    const cuzk_status status =
        groth16_verify(t, &pc->verifier, proof, inputs, pc->inputs_each, GROTH16_POINTS_UNCHECKED);
    assert_int_equal(verify_parts(pc, proof, inputs, proof, true), status);
    assert_int_equal(verify_parts(pc, proof, inputs, &pc->proofs[0], true), status);
    assert_int_equal(verify_parts(pc, proof, inputs, proof, false), status);
    assert_int_equal(verify_parts(pc, proof, inputs, NULL, true), status);
    task_init(t);
    return groth16_verify(t, &pc->verifier, proof, inputs, pc->inputs_each, GROTH16_POINTS_UNCHECKED);
}

static void neighbour(const struct curve *c, struct fr_int *x)
{
    struct fr a, one;
    c->fr.from_int(&a, x);
    c->fr.from_u64(&one, 1);
    c->fr.add(&a, &a, &one);
    c->fr.to_int(x, &a);
}

/* Valid as it is; invalid with any input changed, any point negated, doubled or exchanged; the names of what is refused unseen. */
static void check_case(const struct proof_case *pc)
{
    const struct curve *c = pc->vk.curve;
    struct fr_int *inputs = calloc(pc->inputs_each + 1, sizeof *inputs);
    struct task t;

    assert_non_null(inputs);
    for (size_t n = 0; n < pc->count; n++) {
        const struct fr_int *given = pc->inputs + n * pc->inputs_each;
        struct groth16_proof bad;
        struct g_jac p;

        if (verify_one(pc, &pc->proofs[n], given, &t) != CUZK_OK)
            fail_msg("%s, proof %zu: %s", pc->name, n, t.error.text);
        for (size_t i = 0; i < pc->inputs_each; i++) {
            memcpy(inputs, given, pc->inputs_each * sizeof *inputs);
            neighbour(c, &inputs[i]);
            assert_int_equal(verify_one(pc, &pc->proofs[n], inputs, &t), CUZK_PROOF_INVALID);
            if (n > 0) break; /* every input of the first proof, one of the others */
        }
        for (size_t i = 0; i < pc->inputs_each;
             i++) { /* x + r, where 256 bits hold it, is another name of x and is refused */
            unsigned __int128 carry = 0;
            memcpy(inputs, given, pc->inputs_each * sizeof *inputs);
            for (int w = 0; w < 4; w++) {
                carry += (unsigned __int128)inputs[i].w[w] + c->fr.modulus.w[w];
                inputs[i].w[w] = (uint64_t)carry;
                carry >>= 64;
            }
            assert_int_equal(carry, 0);
            char name[64];
            snprintf(name, sizeof name, "input %zu is not below", i);
            assert_int_equal(verify_one(pc, &pc->proofs[n], inputs, &t), CUZK_INVALID_ARGUMENT);
            assert_non_null(strstr(t.error.text, name));
        }

        bad = pc->proofs[n];
        c->g1.jac_from_aff(&p, &bad.a);
        c->g1.jac_neg(&p, &p);
        c->g1.jac_to_aff(&bad.a, &p);
        assert_int_equal(verify_one(pc, &bad, given, &t), CUZK_PROOF_INVALID);
        bad = pc->proofs[n];
        c->g2.jac_from_aff(&p, &bad.b);
        c->g2.jac_dbl(&p, &p);
        c->g2.jac_to_aff(&bad.b, &p);
        assert_int_equal(verify_one(pc, &bad, given, &t), CUZK_PROOF_INVALID);
        bad = pc->proofs[n];
        bad.a = pc->proofs[n].c;
        bad.c = pc->proofs[n].a;
        assert_int_equal(verify_one(pc, &bad, given, &t), CUZK_PROOF_INVALID);
        bad = pc->proofs[n];
        memset(&bad.c, 0, sizeof bad.c);
        assert_int_equal(verify_one(pc, &bad, given, &t), CUZK_PROOF_INVALID);

        bad =
            pc->proofs[n]; /* points off the curve are found, and named, unless the caller vouches for them */
        bad.c.w[0] ^= 1;
        assert_int_equal(verify_one(pc, &bad, given, &t), CUZK_PROOF_INVALID);
        assert_string_equal(t.error.field, "C");
        bad = pc->proofs[n];
        bad.b.w[2] ^= 4;
        assert_int_equal(verify_one(pc, &bad, given, &t), CUZK_PROOF_INVALID);
        assert_string_equal(t.error.field, "B");
        bad = pc->proofs[n];
        bad.curve = c == &curve_bn254 ? &curve_bls12_381 : &curve_bn254;
        assert_int_equal(verify_one(pc, &bad, given, &t), CUZK_MISMATCH);
    }

    task_init(&t);
    assert_int_equal(groth16_verify(&t, &pc->verifier, &pc->proofs[0], pc->inputs, pc->inputs_each + 1,
                                    GROTH16_POINTS_CHECKED),
                     CUZK_INVALID_ARGUMENT);
    task_init(&t);
    assert_int_equal(groth16_verify(&t, &pc->verifier, &pc->proofs[0], pc->inputs, pc->inputs_each - 1,
                                    GROTH16_POINTS_CHECKED),
                     CUZK_INVALID_ARGUMENT);
    task_init(&t);
    assert_int_equal(groth16_verify(&t, &pc->verifier, &pc->proofs[0], pc->inputs, pc->inputs_each,
                                    GROTH16_POINTS_CHECKED),
                     CUZK_OK);
    free(inputs);
}

static cuzk_status batch(const struct proof_case *pc, struct task *t)
{
    task_init(t);
    return groth16_verify_batch(t, &pc->verifier, pc->proofs, pc->inputs, pc->inputs_each, pc->count,
                                GROTH16_POINTS_UNCHECKED);
}

static cuzk_status each(const struct proof_case *pc, bool *bad, struct task *t)
{
    task_init(t);
    return groth16_verify_each(t, &pc->verifier, bad, pc->proofs, pc->inputs, pc->inputs_each, pc->count,
                               GROTH16_POINTS_UNCHECKED);
}

/* The proofs of pc as one batch, repeated to copies of each: holds; with some spoiled in different ways exactly those are named. */
static void check_batch(const struct proof_case *pc, size_t copies)
{
    struct proof_case many = *pc;
    const size_t per = pc->inputs_each;
    struct task t;

    case_proofs(&many, pc->count * copies, per);
    for (size_t i = 0; i < many.count; i++) {
        many.proofs[i] = pc->proofs[i % pc->count];
        memcpy(many.inputs + i * per, pc->inputs + i % pc->count * per, per * sizeof *pc->inputs);
    }
    bool *bad = calloc(many.count, sizeof *bad), *spoiled = calloc(many.count, sizeof *spoiled);
    assert_non_null(bad);
    assert_non_null(spoiled);

    if (batch(&many, &t) != CUZK_OK) fail_msg("%s: %s", pc->name, t.error.text);
    assert_int_equal(each(&many, bad, &t), CUZK_OK);
    for (size_t i = 0; i < many.count; i++) assert_false(bad[i]);
    for (int round = 0; round < 3; round++) { /* each round spoils one more */
        size_t victim = (size_t)prng_below(&prng, many.count);
        while (spoiled[victim] && round < (int)many.count) victim = (victim + 1) % many.count;
        spoiled[victim] = true;
        if (round == 0) {
            neighbour(pc->vk.curve, &many.inputs[victim * per]);
            assert_int_equal(batch(&many, &t), CUZK_PROOF_INVALID);
        } else if (round == 1) { /* two errors that cancel in an unweighted sum: C + G and C - G */
            const struct group *g = &pc->vk.curve->g1;
            size_t other = (victim + 1) % many.count;
            struct g_jac p, minus;
            if (spoiled[other]) other = (other + 1) % many.count;
            g->jac_from_aff(&p, &many.proofs[victim].c);
            g->jac_add_aff(&p, &p, &g->generator);
            g->jac_to_aff(&many.proofs[victim].c, &p);
            g->jac_from_aff(&minus, &g->generator);
            g->jac_neg(&minus, &minus);
            g->jac_add_aff(&p, &minus, &many.proofs[other].c);
            g->jac_to_aff(&many.proofs[other].c, &p);
            spoiled[other] = true;
            assert_int_equal(batch(&many, &t), CUZK_PROOF_INVALID);
        } else {
            many.proofs[victim].a.w[1] ^= 2; /* off the curve */
            assert_int_equal(batch(&many, &t), CUZK_PROOF_INVALID);
            assert_string_equal(t.error.field, "A");
        }
        assert_int_equal(each(&many, bad, &t), CUZK_PROOF_INVALID);
        for (size_t i = 0; i < many.count; i++)
            if (bad[i] != spoiled[i])
                fail_msg("%s: proof %zu of %zu found %s", pc->name, i, many.count, bad[i] ? "bad" : "good");
    }
    free(bad);
    free(spoiled);
    free(many.proofs);
    free(many.inputs);
}

/* ---- snarkjs ---- */

static struct span span_of_text(const char *text) { return span_of(text, strlen(text)); }

static void embedded_proofs(void **state)
{
    struct proof_case bn254, bls12_381;
    (void)state;
    case_from_json(&bn254, "multiplier2 bn254", span_of_text(multiplier2_bn254_vk),
                   span_of_text(multiplier2_bn254_proof), span_of_text(multiplier2_bn254_public));
    case_from_json(&bls12_381, "multiplier2 bls12_381", span_of_text(multiplier2_bls12_381_vk),
                   span_of_text(multiplier2_bls12_381_proof), span_of_text(multiplier2_bls12_381_public));
    check_case(&bn254);
    check_case(&bls12_381);
    check_batch(&bn254, 5);
    check_batch(&bls12_381, 19);
    case_fini(&bn254);
    case_fini(&bls12_381);
}

static void empty_batches_hold(void **state)
{
    struct proof_case pc;
    struct task t;
    (void)state;
    case_from_json(&pc, "multiplier2 bn254", span_of_text(multiplier2_bn254_vk),
                   span_of_text(multiplier2_bn254_proof), span_of_text(multiplier2_bn254_public));
    pc.count = 0;
    assert_int_equal(batch(&pc, &t), CUZK_OK);
    assert_int_equal(each(&pc, NULL, &t), CUZK_OK);
    case_fini(&pc);
}

static void hostile_keys_are_refused(void **state)
{
    struct proof_case pc;
    struct g_aff *const points[] = { &pc.vk.alpha1, &pc.vk.beta2, &pc.vk.gamma2, &pc.vk.delta2 };
    static const char *const names[] = { "alpha1", "beta2", "gamma2", "delta2" };
    struct task t;

    (void)state;
    case_from_json(&pc, "multiplier2 bls12_381", span_of_text(multiplier2_bls12_381_vk),
                   span_of_text(multiplier2_bls12_381_proof), span_of_text(multiplier2_bls12_381_public));
    for (size_t i = 0; i < ARRAY_COUNT(points); i++) {
        const struct g_aff good = *points[i];
        memset(points[i], 0, sizeof *points[i]);
        task_init(&t);
        assert_int_equal(groth16_vk_check(&t, &pc.vk), CUZK_KEY_INVALID);
        assert_string_equal(t.error.field, names[i]);
        *points[i] = good;
        points[i]->w[0] ^= 1;
        task_init(&t);
        assert_int_equal(groth16_vk_check(&t, &pc.vk), CUZK_KEY_INVALID);
        assert_string_equal(t.error.field, names[i]);
        *points[i] = good;
    }
    const struct g_aff good = pc.vk.ic[1];
    pc.vk.ic[1].w[3] ^= 8;
    task_init(&t);
    assert_int_equal(groth16_vk_check(&t, &pc.vk), CUZK_KEY_INVALID);
    assert_string_equal(t.error.field, "ic[1]");
    pc.vk.ic[1] = good;

    /* the two sides of beta and delta: k G1 with k G2 is accepted, k G1 with another multiple of G2 is not */
    struct fr_int k = { { 0x123456789abcdefu, 77, 0, 0 } }, m = { { 99, 0, 5, 0 } };
    const struct curve *c = pc.vk.curve;
    struct g_jac p;
    c->g1.jac_from_aff(&p, &c->g1.generator);
    c->g1.jac_mul(&p, &p, &k);
    c->g1.jac_to_aff(&pc.vk.beta1, &p);
    c->g1.jac_from_aff(&p, &c->g1.generator);
    c->g1.jac_mul(&p, &p, &m);
    c->g1.jac_to_aff(&pc.vk.delta1, &p);
    c->g2.jac_from_aff(&p, &c->g2.generator);
    c->g2.jac_mul(&p, &p, &k);
    c->g2.jac_to_aff(&pc.vk.beta2, &p);
    c->g2.jac_from_aff(&p, &c->g2.generator);
    c->g2.jac_mul(&p, &p, &m);
    c->g2.jac_to_aff(&pc.vk.delta2, &p);
    pc.vk.has_beta1 = pc.vk.has_delta1 = true;
    task_init(&t);
    assert_int_equal(groth16_vk_check(&t, &pc.vk), CUZK_OK);
    pc.vk.beta1 = c->g1.generator;
    assert_int_equal(groth16_vk_check(&t, &pc.vk), CUZK_KEY_INVALID);
    case_fini(&pc);
}

static void shipped_circom_proofs(void **state)
{
    static const char *const sets[][3] = {
        { "taceo-bn254-multiplier2/verification_key.json", "taceo-bn254-multiplier2/proof.json",
          "taceo-bn254-multiplier2/public.json" },
        { "taceo-bn254-poseidon/verification_key.json", "taceo-bn254-poseidon/proof.json",
          "taceo-bn254-poseidon/public.json" },
        { "taceo-bls12_381-multiplier2/verification_key.json", "taceo-bls12_381-multiplier2/proof.json",
          "taceo-bls12_381-multiplier2/public.json" },
        { "taceo-bls12_381-poseidon/verification_key.json", "taceo-bls12_381-poseidon/proof.json",
          "taceo-bls12_381-poseidon/public.json" },
        { "semaphore-v4/semaphore-10.json", "semaphore-v4/semaphore-10.proof.json",
          "semaphore-v4/semaphore-10.public.json" },
        { "waku-rln/verification_key.json", "waku-rln/rln.proof.json", "waku-rln/rln.public.json" },
    };
    (void)state;
    for (size_t n = 0; n < ARRAY_COUNT(sets); n++) {
        struct mapfile files[3];
        struct proof_case pc;
        struct task t;

        task_init(&t);
        for (int i = 0; i < 3; i++) {
            char name[128], path[PATH_MAX];
            snprintf(name, sizeof name, "data/circom/%s", sets[n][i]);
            shared_data_need(path, name);
            assert_int_equal(mapfile_open(&files[i], &t, path), CUZK_OK);
        }
        case_from_json(&pc, sets[n][1], files[0].bytes, files[1].bytes, files[2].bytes);
        check_case(&pc);
        printf("%s: %zu public inputs\n", pc.name, pc.inputs_each);
        case_fini(&pc);
        for (int i = 0; i < 3; i++) mapfile_close(&files[i]);
    }
}

/* ---- bellman: Zcash and Filecoin ---- */

static json_t *load_json(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (root == NULL) fail_msg("%s: %s", path, error.text);
    return root;
}

static void read_inputs(struct fr_int *out, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        assert_non_null(text);
        assert_int_equal(decimal_read(out[i].w, 4, text, strlen(text)), DECIMAL_OK);
    }
}

static void read_filvk(struct proof_case *pc, const char *path)
{
    struct mapfile file;
    struct filvk vk;
    struct vk_points points;
    struct task t;

    task_init(&t);
    if (mapfile_open(&file, &t, path) != CUZK_OK || filvk_parse(&vk, &t, path, file.bytes) != CUZK_OK ||
        filvk_points(&points, &t, &vk) != CUZK_OK)
        fail_msg("%s: %s", path, t.error.text);
    case_key(pc, &points);
    pc->vk.beta1 = vk.beta1; /* what a bellman key has beyond snarkjs's; checked with the rest */
    pc->vk.delta1 = vk.delta1;
    pc->vk.has_beta1 = pc->vk.has_delta1 = true;
    assert_int_equal(groth16_vk_check(&t, &pc->vk), CUZK_OK);
    vk_points_fini(&points);
    mapfile_close(&file);
}

/* Whether the proof with byte `at` altered in `mask` is accepted; both decoding and verification may refuse it. */
static bool accepted_when_flipped(const struct proof_case *pc, const uint8_t *bytes, size_t at, uint8_t mask)
{
    uint8_t flipped[PROOF_BYTES];
    struct proof_points points;
    struct groth16_proof proof;
    struct task t;

    memcpy(flipped, bytes, sizeof flipped);
    flipped[at] ^= mask;
    task_init(&t);
    if (proof_decode(&points, &t, NULL, span_of(flipped, sizeof flipped), 1) != CUZK_OK) return false;
    proof.curve = pc->vk.curve;
    proof.a = points.a;
    proof.b = points.b;
    proof.c = points.c;
    return groth16_verify(&t, &pc->verifier, &proof, pc->inputs, pc->inputs_each, GROTH16_POINTS_CHECKED) ==
           CUZK_OK;
}

/* Every byte of the first proof, one random alteration each. */
static void check_flips(const struct proof_case *pc, const uint8_t *bytes)
{
    for (size_t at = 0; at < PROOF_BYTES; at++) {
        const uint8_t mask = (uint8_t)(1 + prng_below(&prng, 255));
        if (accepted_when_flipped(pc, bytes, at, mask))
            fail_msg("%s: accepted with byte %zu ^ %u", pc->name, at, mask);
    }
    assert_true(accepted_when_flipped(pc, bytes, 0, 0));
}

static void unhex(uint8_t *out, size_t bytes, const char *hex)
{
    assert_non_null(hex);
    assert_int_equal(strlen(hex), 2 * bytes);
    for (size_t i = 0; i < bytes; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
}

static void zcash_output_proofs(void **state)
{
    enum { INPUTS = 5 };
    char path[PATH_MAX];
    struct proof_case pc = { .name = "sapling-output" };
    uint8_t first[PROOF_BYTES], bytes[PROOF_BYTES];
    json_t *root, *entry;
    size_t i;

    (void)state;
    shared_data_need(path, "data/zcash-sapling/sapling-output.vk");
    read_filvk(&pc, path);
    shared_data_need(path, "data/zcash-sapling/output-proofs.json");
    root = load_json(path);
    case_proofs(&pc, json_array_size(root), INPUTS);
    assert_true(pc.count >= 20);
    json_array_foreach(root, i, entry)
    {
        struct proof_points points;
        struct task t;
        unhex(bytes, sizeof bytes, json_string_value(json_object_get(entry, "proof_hex")));
        if (i == 0) memcpy(first, bytes, sizeof first);
        task_init(&t);
        if (proof_decode(&points, &t, NULL, span_of(bytes, sizeof bytes), 1) != CUZK_OK)
            fail_msg("%zu: %s", i, t.error.text);
        case_set_proof(&pc, i, &points);
        assert_int_equal(json_array_size(json_object_get(entry, "public_inputs_dec")), INPUTS);
        read_inputs(pc.inputs + i * INPUTS, json_object_get(entry, "public_inputs_dec"));
    }
    check_case(&pc);
    check_batch(&pc, 1);
    check_flips(&pc, first);
    printf("%zu proofs of the Zcash chain\n", pc.count);
    json_decref(root);
    case_fini(&pc);
}

static void filecoin_proofs(void **state)
{
    static const char *const names[] = { "porep-2KiB-polka-119b80e4", "porep-2KiB-polka-4933402e",
                                         "post-2KiB-polka-ce0aa7ff" };
    struct proof_case pc[ARRAY_COUNT(names)];

    (void)state;
    memset(pc, 0, sizeof pc);
    for (size_t n = 0; n < ARRAY_COUNT(names); n++) {
        char name[128], path[PATH_MAX];
        struct proof_points points;
        struct mapfile file;
        struct task t;
        json_t *root;

        snprintf(pc[n].name, sizeof pc[n].name, "%s", names[n]);
        snprintf(name, sizeof name, "data/filecoin/vk-proof-2k/%s.vk", names[n]);
        shared_data_need(path, name);
        read_filvk(&pc[n], path);
        snprintf(name, sizeof name, "data/filecoin/vk-proof-2k/%s.json", names[n]);
        shared_data_need(path, name);
        root = load_json(path);
        const json_t *inputs = json_object_get(root, "public_inputs_dec");
        case_proofs(&pc[n], 1, json_array_size(inputs));
        read_inputs(pc[n].inputs, inputs);
        json_decref(root);

        snprintf(name, sizeof name, "data/filecoin/vk-proof-2k/%s.proof", names[n]);
        shared_data_need(path, name);
        task_init(&t);
        assert_int_equal(mapfile_open(&file, &t, path), CUZK_OK);
        if (proof_decode(&points, &t, path, file.bytes, 1) != CUZK_OK) fail_msg("%s", t.error.text);
        case_set_proof(&pc[n], 0, &points);
        check_case(&pc[n]);
        check_flips(&pc[n], file.bytes.data);
        check_batch(&pc[n], 4);
        printf("%s: %zu public inputs\n", pc[n].name, pc[n].inputs_each);
        mapfile_close(&file);
    }
    /* two proofs of the same shape under each other's key */
    struct task t;
    assert_int_equal(pc[0].inputs_each, pc[1].inputs_each);
    assert_int_equal(verify_one(&pc[0], &pc[1].proofs[0], pc[1].inputs, &t), CUZK_PROOF_INVALID);
    assert_int_equal(verify_one(&pc[1], &pc[0].proofs[0], pc[0].inputs, &t), CUZK_PROOF_INVALID);
    for (size_t n = 0; n < ARRAY_COUNT(names); n++) case_fini(&pc[n]);
}

static int start(void **state)
{
    (void)state;
    prng_init(&prng);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embedded_proofs),          cmocka_unit_test(empty_batches_hold),
        cmocka_unit_test(hostile_keys_are_refused), cmocka_unit_test(shipped_circom_proofs),
        cmocka_unit_test(zcash_output_proofs),      cmocka_unit_test(filecoin_proofs),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
