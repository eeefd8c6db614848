/* Jobs of kind "circom": the payload is a .wtns file, the circuit a .zkey (or bellman parameters and the circuit's .r1cs); one part.
 *
 * The proof is checked as the bytes that leave: encoded, decoded, verified. */
#include "base/log.h"
#include "engine/engine.h"
#include "engine/job_kind.h"
#include "formats/snarkjs_json.h"
#include "formats/wtns.h"
#include "groth16/key_check.h"
#include "groth16/prove.h"
#include "groth16/verify.h"
#include <stdlib.h>
#include <string.h>

struct circom_key {
    struct groth16_key *key;
    struct groth16_verifier verifier;
};

/* -- keys --------------------------------------------------------------------------------------------------------------- */

/* The heap, and the file's pages where the points are used in place: a proof touches them all. */
static uint64_t key_bytes(const struct groth16_key *key)
{
    return key->heap_bytes + (key->decoded[QUERY_A] == NULL ? key->file.bytes.size : 0) +
           key->derived_file.bytes.size;
}

static cuzk_status circom_measure(struct task *t, struct circuit *c, const struct place *place)
{
    struct groth16_key *key = NULL;
    struct groth16_plan plan;

    TRY(groth16_key_open(&key, t, c->key_path, c->r1cs_path));
    struct error refused;
    cuzk_status status = groth16_key_choose(key, t, c->key_mode, NULL, &refused);
    if (status == CUZK_OK) kind_chosen(c, t, key, &refused);
    if (status == CUZK_OK) status = groth16_prove_plan_on(&plan, t, key, place->backend, place->device, place->lanes);
    if (status == CUZK_OK) {
        c->key_bytes.of[BYTES_HEAP] = key_bytes(key);
        c->key_own_bytes = key->heap_bytes;
        kind_add_plan(c, &plan);
        kind_table(c, key);
        c->note = key->variable_count;
    }
    groth16_key_unref(key);
    return status;
}

static cuzk_status circom_load(struct task *t, void **out, struct bytes *bytes, const struct circuit *c)
{
    struct circom_key *k = calloc(1, sizeof *k);

    if (k == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a key");
    struct error refused;
    cuzk_status status = groth16_key_open(&k->key, t, c->key_path, c->r1cs_path);
    if (status == CUZK_OK) status = groth16_key_choose(k->key, t, c->key_mode, NULL, &refused);
    if (status != CUZK_OK) {
        groth16_key_unref(k->key);
        free(k);
        return status;
    }
    groth16_verifier_init(&k->verifier, &k->key->vk);
    memset(bytes, 0, sizeof *bytes);
    bytes->of[BYTES_HEAP] = key_bytes(k->key);
    *out = k;
    return CUZK_OK;
}

static void circom_unload(void *key)
{
    struct circom_key *k = key;

    groth16_key_unref(k->key);
    free(k);
}

/* -- jobs --------------------------------------------------------------------------------------------------------------- */

static cuzk_status circom_validate(struct task *t, unsigned *part_count, const struct circuit *c,
                                   struct span parameters, struct span payload)
{
    struct witness w;

    if (parameters.size != 0)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a circom job has no parameters; %zu bytes are given",
                    parameters.size);
    TRY(wtns_parse(&w, t, "the witness", payload));
    if ((unsigned)w.curve->id - 1 != c->table_id / 2)
        return FAIL(t, CUZK_MISMATCH, "the witness is over %s, which is not the curve of circuit %s",
                    w.curve->name, c->name);
    if (w.count != c->note)
        return FAIL(
            t, CUZK_MISMATCH,
            "the witness has %llu values, circuit %s has %llu variables; they are of different circuits",
            (unsigned long long)w.count, c->name, (unsigned long long)c->note);
    *part_count = 1;
    return CUZK_OK;
}

/* The points as CUZK_RAW writes them: big-endian A, B, C. */
static size_t raw_bytes(const struct curve *c)
{
    return 2 * c->g1.encoded_bytes(ENCODING_BE) + c->g2.encoded_bytes(ENCODING_BE);
}

static void raw_write(uint8_t *out, const struct groth16_proof *p)
{
    const size_t g1 = p->curve->g1.encoded_bytes(ENCODING_BE), g2 = p->curve->g2.encoded_bytes(ENCODING_BE);

    p->curve->g1.encode(out, &p->a, ENCODING_BE);
    p->curve->g2.encode(out + g1, &p->b, ENCODING_BE);
    p->curve->g1.encode(out + g1 + g2, &p->c, ENCODING_BE);
}

static bool raw_read(struct groth16_proof *out, const struct curve *c, const struct part_output *o)
{
    const size_t g1 = c->g1.encoded_bytes(ENCODING_BE), g2 = c->g2.encoded_bytes(ENCODING_BE);

    out->curve = c;
    return o->proof_bytes == raw_bytes(c) && c->g1.decode(&out->a, o->proof, ENCODING_BE, true) == POINT_OK &&
           c->g2.decode(&out->b, o->proof + g1, ENCODING_BE, true) == POINT_OK &&
           c->g1.decode(&out->c, o->proof + g1 + g2, ENCODING_BE, true) == POINT_OK;
}

/* Values 1 ... n of the witness. */
static cuzk_status public_inputs(struct task *t, struct fr_int **out, const struct groth16_key *key,
                                 const struct witness *w)
{
    *out = calloc(key->public_count + 1, sizeof **out);
    if (*out == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for %llu public inputs",
                    (unsigned long long)key->public_count);
    for (uint64_t i = 0; i < key->public_count; i++) witness_get(w, &(*out)[i], i + 1);
    return CUZK_OK;
}

/* {"proof":...,"publicSignals":...}, both as snarkjs writes them. */
static cuzk_status write_text(struct task *t, struct part_output *out, const struct groth16_proof *proof,
                              const struct fr_int *inputs, uint64_t count)
{
    static const char head[] = "{\"proof\":", middle[] = ",\"publicSignals\":", tail[] = "}";
    const struct proof_points points = { proof->a, proof->b, proof->c };
    struct json_text p = { 0 }, s = { 0 };
    cuzk_status status;

    TRY_GOTO(out, snarkjs_proof_write(t, &p, proof->curve, &points));
    TRY_GOTO(out, snarkjs_public_write(t, &s, inputs, count));
    out->text_bytes = strlen(head) + p.size + strlen(middle) + s.size + strlen(tail);
    out->text = malloc(out->text_bytes);
    if (out->text == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory for a proof's text of %zu bytes", out->text_bytes);
        goto out;
    }
    char *at = mempcpy(out->text, head, strlen(head));
    at = mempcpy(at, p.data, p.size);
    at = mempcpy(at, middle, strlen(middle));
    at = mempcpy(at, s.data, s.size);
    memcpy(at, tail, strlen(tail));
out:
    json_text_fini(&p);
    json_text_fini(&s);
    return status;
}

/* The text is written when the proof is known to be right. */
static cuzk_status circom_prove(struct task *t, struct part_output *out, const struct part_input *in,
                                void *carry, const struct place *place, const struct bytes *granted)
{
    const struct groth16_key *key = ((struct circom_key *)in->key)->key;
    struct groth16_timings timings = { 0 };
    struct groth16_proof proof;
    struct groth16_plan plan;
    char line[TIMING_LINE_BYTES];
    struct witness w;

    (void)carry;
    TRY(wtns_view(&w, t, "the witness", in->payload)); /* groth16_prove checks the values */
    TRY(groth16_prove_plan_on(&plan, t, key, place->backend, place->device, place->lanes));
    TRY(kind_check_grant(t, &plan, 0, granted));
    plan.block = place->block;
    TRY(groth16_prove(t, &proof, key, &plan, &w, &timings));
    if (place->lanes != NULL)
        log_info(t, "CUZK_TIMING: %s", groth16_timing_line(line, &timings, key->domain.size));
    out->proof_bytes = raw_bytes(key->curve);
    out->proof = malloc(out->proof_bytes);
    if (out->proof == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a proof");
    raw_write(out->proof, &proof);
    return CUZK_OK;
}

/* Verifies the proof with this process's own inputs, and writes both as text. */
static cuzk_status circom_verify(struct task *t, struct part_output *out, const struct part_input *in,
                                 void *carry)
{
    const struct circom_key *k = in->key;
    struct fr_int *inputs = NULL;
    struct groth16_proof proof;
    struct witness w;
    struct task quiet;
    cuzk_status status = CUZK_OK;
    uint64_t row;

    (void)carry;
    TRY(wtns_view(&w, t, "the witness", in->payload));
    TRY(public_inputs(t, &inputs, k->key, &w));
    task_init(&quiet);
    const bool right = raw_read(&proof, k->key->curve, out) &&
                       groth16_verify(&quiet, &k->verifier, &proof, inputs, k->key->public_count,
                                      GROTH16_POINTS_CHECKED) == CUZK_OK;
    if (right) status = write_text(t, out, &proof, inputs, k->key->public_count);
    free(inputs);
    if (right) return status;
    if (k->key->r1cs.bytes.data != NULL) {
        TRY(groth16_key_first_unsatisfied(t, k->key, &row, &w));
        if (row < k->key->row_count)
            return FAIL(t, CUZK_UNSATISFIED, "the witness does not satisfy constraint %llu of circuit %s",
                        (unsigned long long)row, in->circuit->name);
    }
    TRY(groth16_key_check_contents(t, k->key));
    return FAIL(t, CUZK_PROOF_INVALID, "the proof does not verify");
}

static cuzk_status circom_assemble(struct task *t, struct part_output *out, const struct circuit *c,
                                   const struct part_output *parts, unsigned part_count)
{
    (void)c;
    (void)part_count; /* one */
    *out = parts[0];
    out->proof = malloc(parts[0].proof_bytes);
    out->text = malloc(parts[0].text_bytes);
    if (out->proof == NULL || out->text == NULL) {
        part_output_free(out);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for a result");
    }
    memcpy(out->proof, parts[0].proof, parts[0].proof_bytes);
    memcpy(out->text, parts[0].text, parts[0].text_bytes);
    return CUZK_OK;
}

static cuzk_status circom_key_intact(struct task *t, const void *key)
{
    return groth16_key_check_files(t, ((const struct circom_key *)key)->key);
}

static uint64_t circom_key_mark(const void *key)
{
    return kind_key_mark(((const struct circom_key *)key)->key);
}

const struct job_kind kind_circom = {
    .name = "circom",
    .durable = false, /* a payload is a witness: it goes to disk only if the request says so */
    .has_synthesis = false,
    .in_lanes = true,
    .measure = circom_measure,
    .load = circom_load,
    .unload = circom_unload,
    .validate = circom_validate,
    .prove = circom_prove,
    .verify = circom_verify,
    .key_intact = circom_key_intact,
    .key_mark = circom_key_mark,
    .assemble = circom_assemble,
};
