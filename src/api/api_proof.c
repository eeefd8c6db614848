/* Proofs and public inputs: reading, writing. */
#include "api/api.h"
#include "formats/identify.h"
#include "formats/proof_codec.h"
#include "formats/snarkjs_json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- proofs: in -------------------------------------------------------------------------------------------------------- */

static void take_points(struct groth16_proof *out, const struct curve *c, const struct proof_points *p)
{
    out->curve = c;
    out->a = p->a;
    out->b = p->b;
    out->c = p->c;
}

/* A proof that names its curve, or else one whose points lie on a curve: no point lies on two of them. */
static cuzk_status read_json(struct task *t, struct groth16_proof *out, const char *path, struct span text)
{
    static const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };
    struct proof_points points;
    struct task attempt;

    for (size_t i = 0; i < ARRAY_COUNT(curves); i++) {
        task_init(&attempt);
        if (snarkjs_proof_read(&points, &attempt, path, text, curves[i]) == CUZK_OK) {
            take_points(out, curves[i], &points);
            return CUZK_OK;
        }
    }
    TRY(snarkjs_proof_read(&points, t, path, text, NULL)); /* says what is wrong with it */
    return FAIL(t, CUZK_MALFORMED, "the proof reads differently twice: it is being changed");
}

static cuzk_status read_raw(struct task *t, struct groth16_proof *out, const char *path, struct span bytes,
                            const struct curve *c)
{
    const size_t g1 = c->g1.encoded_bytes(ENCODING_BE), g2 = c->g2.encoded_bytes(ENCODING_BE);
    const struct {
        const char *name;
        const struct group *g;
        size_t offset;
        struct g_aff *point;
    } part[3] = {
        { "A", &c->g1, 0, &out->a },
        { "B", &c->g2, g1, &out->b },
        { "C", &c->g1, g1 + g2, &out->c },
    };

    out->curve = c;
    for (int i = 0; i < 3; i++) {
        const enum point_check check =
            part[i].g->decode(part[i].point, bytes.data + part[i].offset, ENCODING_BE, true);
        if (check == POINT_OK) continue;
        const cuzk_status status =
            FAIL(t, CUZK_MALFORMED, "point %s of the proof %s", part[i].name, point_check_text(check));
        task_fail_place(t, path, part[i].offset, part[i].name, NULL);
        return status;
    }
    return CUZK_OK;
}

static size_t raw_bytes(const struct curve *c)
{
    return 2 * c->g1.encoded_bytes(ENCODING_BE) + c->g2.encoded_bytes(ENCODING_BE);
}

static cuzk_status read_proof(struct task *t, struct groth16_proof *out, const char *path, struct span data)
{
    struct proof_points points;
    size_t at = 0;

    while (at < data.size &&
           (data.data[at] == ' ' || data.data[at] == '\n' || data.data[at] == '\r' || data.data[at] == '\t'))
        at++;
    const bool json = at < data.size && data.data[at] == '{';
    if (!json && data.size == raw_bytes(&curve_bn254)) return read_raw(t, out, path, data, &curve_bn254);
    if (!json && data.size == raw_bytes(&curve_bls12_381))
        return read_raw(t, out, path, data, &curve_bls12_381);
    if (!json && data.size == PROOF_BYTES) {
        TRY(proof_decode(&points, t, path, data, 1));
        take_points(out, &curve_bls12_381, &points);
        return CUZK_OK;
    }
    return read_json(t, out, path, data);
}

cuzk_status cuzk_proof_open(cuzk_proof **out, const char *path, cuzk_error *error)
{
    struct mapfile file = { 0 };
    struct api_call call;
    void *handle;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (path == NULL) return api_end(&call, api_refuse(&call, "path"), error);
    cuzk_status status = api_new(&call, &handle, sizeof(cuzk_proof));
    if (status != CUZK_OK) return api_end(&call, status, error);
    cuzk_proof *proof = handle;
    status = mapfile_open(&file, &call.task, path);
    if (status == CUZK_OK) status = read_proof(&call.task, &proof->proof, file.path, file.bytes);
    mapfile_close(&file);
    if (status == CUZK_OK)
        *out = proof;
    else
        cuzk_proof_close(proof);
    return api_end(&call, status, error);
}

cuzk_status cuzk_proof_from_memory(cuzk_proof **out, const void *data, size_t bytes, cuzk_error *error)
{
    struct api_call call;
    void *handle;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (data == NULL) return api_end(&call, api_refuse(&call, "data"), error);
    cuzk_status status = api_new(&call, &handle, sizeof(cuzk_proof));
    if (status != CUZK_OK) return api_end(&call, status, error);
    cuzk_proof *proof = handle;
    status = read_proof(&call.task, &proof->proof, "the proof in memory", span_of(data, bytes));
    if (status == CUZK_OK)
        *out = proof;
    else
        cuzk_proof_close(proof);
    return api_end(&call, status, error);
}

/* -- proofs: out ------------------------------------------------------------------------------------------------------- */

static size_t encode_json(const struct curve *c, const struct proof_points *p, void *buffer, size_t capacity)
{
    struct json_text text = { 0 };
    struct task t;

    task_init(&t);
    if (snarkjs_proof_write(&t, &text, c, p) != CUZK_OK) return 0;
    const size_t bytes = api_put(buffer, capacity, text.data, text.size, true);
    json_text_fini(&text);
    return bytes;
}

static size_t encode_raw(const struct curve *c, const struct proof_points *p, void *buffer, size_t capacity)
{
    const size_t g1 = c->g1.encoded_bytes(ENCODING_BE), g2 = c->g2.encoded_bytes(ENCODING_BE);
    uint8_t bytes[2 * 96 + 192];

    c->g1.encode(bytes, &p->a, ENCODING_BE);
    c->g2.encode(bytes + g1, &p->b, ENCODING_BE);
    c->g1.encode(bytes + g1 + g2, &p->c, ENCODING_BE);
    return api_put(buffer, capacity, bytes, 2 * g1 + g2, false);
}

size_t cuzk_proof_encode(const cuzk_proof *proof, cuzk_encoding encoding, void *buffer, size_t capacity)
{
    if (proof == NULL) return 0;
    const struct curve *c = proof->proof.curve;
    const struct proof_points points = { proof->proof.a, proof->proof.b, proof->proof.c };
    uint8_t compressed[PROOF_BYTES];

    switch (encoding) {
    case CUZK_JSON:
        return encode_json(c, &points, buffer, capacity);
    case CUZK_RAW:
        return encode_raw(c, &points, buffer, capacity);
    case CUZK_COMPRESSED:
        if (c->id != CURVE_BLS12_381) return 0;
        proof_encode(compressed, &points);
        return api_put(buffer, capacity, compressed, sizeof compressed, false);
    case CUZK_BELLMAN:
        break; /* of verifying keys only */
    }
    return 0;
}

static size_t proof_encoder(const void *handle, cuzk_encoding encoding, void *buffer, size_t capacity)
{
    return cuzk_proof_encode(handle, encoding, buffer, capacity);
}

cuzk_status cuzk_proof_save(const cuzk_proof *proof, const char *path, cuzk_encoding encoding,
                            cuzk_error *error)
{
    return api_save(&(struct api_output){ proof_encoder, proof, encoding, path }, 1, error);
}

const char *cuzk_proof_curve(const cuzk_proof *proof)
{
    return proof != NULL ? proof->proof.curve->name : NULL;
}

void cuzk_proof_timings(const cuzk_proof *proof, cuzk_timings *out)
{
    if (proof == NULL) return;
    api_copy_out(out, &proof->timings, sizeof proof->timings);
}
const char *cuzk_proof_timing_line(const cuzk_proof *proof, char *out, size_t bytes)
{
    if (out != NULL && bytes != 0) snprintf(out, bytes, "%s", proof != NULL ? proof->timing_line : "");
    return out;
}

void cuzk_proof_close(cuzk_proof *proof) { free(proof); }

/* -- public inputs ----------------------------------------------------------------------------------------------------- */

static cuzk_status read_publics(struct api_call *call, cuzk_publics **out, const char *path, struct span text)
{
    struct public_values values = { 0 };
    void *handle;

    TRY(snarkjs_public_read(&values, &call->task, path, text, NULL));
    const cuzk_status status = api_new(call, &handle, sizeof(cuzk_publics));
    if (status != CUZK_OK) {
        public_values_fini(&values);
        return status;
    }
    cuzk_publics *p = handle;
    p->value = values.value;
    p->count = values.count;
    *out = p;
    return CUZK_OK;
}

cuzk_status cuzk_publics_open(cuzk_publics **out, const char *path, cuzk_error *error)
{
    struct mapfile file = { 0 };
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (path == NULL) return api_end(&call, api_refuse(&call, "path"), error);
    cuzk_status status = mapfile_open(&file, &call.task, path);
    if (status == CUZK_OK) status = read_publics(&call, out, file.path, file.bytes);
    mapfile_close(&file);
    return api_end(&call, status, error);
}

cuzk_status cuzk_publics_from_memory(cuzk_publics **out, const void *json, size_t bytes, cuzk_error *error)
{
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (json == NULL) return api_end(&call, api_refuse(&call, "json"), error);
    return api_end(&call, read_publics(&call, out, "the public inputs in memory", span_of(json, bytes)),
                   error);
}

cuzk_status cuzk_publics_from_values(cuzk_publics **out, const void *values, uint64_t count,
                                     cuzk_error *error)
{
    struct api_call call;
    void *handle;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if ((values == NULL && count > 0) || count > SIZE_MAX / 32 - 1)
        return api_end(&call, api_refuse(&call, "values"), error);
    cuzk_status status = api_new(&call, &handle, sizeof(cuzk_publics));
    if (status != CUZK_OK) return api_end(&call, status, error);
    cuzk_publics *p = handle;
    p->value = calloc(count + 1, sizeof *p->value);
    if (p->value == NULL) {
        free(p);
        return api_end(
            &call, FAIL(&call.task, CUZK_NO_MEMORY, "no memory for %llu values", (unsigned long long)count),
            error);
    }
    if (count > 0) memcpy(p->value, values, (size_t)count * 32);
    p->count = count;
    *out = p;
    return api_end(&call, CUZK_OK, error);
}

uint64_t cuzk_publics_count(const cuzk_publics *publics) { return publics != NULL ? publics->count : 0; }

const unsigned char *cuzk_publics_value(const cuzk_publics *publics, uint64_t i)
{
    return i < cuzk_publics_count(publics) ? (const unsigned char *)publics->value[i].w : NULL;
}

size_t cuzk_publics_encode(const cuzk_publics *publics, void *buffer, size_t capacity)
{
    struct json_text text = { 0 };
    struct task t;

    if (publics == NULL) return 0;
    task_init(&t);
    if (snarkjs_public_write(&t, &text, publics->value, publics->count) != CUZK_OK) return 0;
    const size_t bytes = api_put(buffer, capacity, text.data, text.size, true);
    json_text_fini(&text);
    return bytes;
}

static size_t publics_encoder(const void *handle, cuzk_encoding encoding, void *buffer, size_t capacity)
{
    (void)encoding;
    return cuzk_publics_encode(handle, buffer, capacity);
}

cuzk_status cuzk_publics_save(const cuzk_publics *publics, const char *path, cuzk_error *error)
{
    return api_save(&(struct api_output){ publics_encoder, publics, CUZK_JSON, path }, 1, error);
}

cuzk_status cuzk_proof_save_both(const cuzk_proof *proof, const char *path, cuzk_encoding encoding,
                                 const cuzk_publics *publics, const char *publics_path, cuzk_error *error)
{
    const struct api_output outputs[] = { { publics_encoder, publics, CUZK_JSON, publics_path },
                                          { proof_encoder, proof, encoding, path } };

    return api_save(outputs, ARRAY_COUNT(outputs), error);
}

void cuzk_publics_close(cuzk_publics *publics)
{
    if (publics == NULL) return;
    free(publics->value);
    free(publics);
}
