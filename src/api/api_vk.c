/* Verifying keys and verification. */
#include "api/api.h"
#include "formats/filvk.h"
#include "formats/identify.h"
#include "formats/snarkjs_json.h"
#include <stdlib.h>
#include <string.h>

/* -- verifying keys ---------------------------------------------------------------------------------------------------- */

static cuzk_status from_points(struct task *t, struct groth16_vk *out, const struct vk_points *p,
                               const struct g_aff *beta1, const struct g_aff *delta1)
{
    const struct groth16_vk_points points = {
        .alpha1 = &p->alpha1,
        .beta2 = &p->beta2,
        .gamma2 = &p->gamma2,
        .delta2 = &p->delta2,
        .beta1 = beta1,
        .delta1 = delta1,
        .ic = p->ic,
        .ic_stride = sizeof *p->ic,
        .ic_count = p->ic_count,
    };

    TRY(groth16_vk_init(t, out, p->curve, &points));
    return groth16_vk_check(t, out);
}

static cuzk_status read_vk(struct task *t, struct groth16_vk *out, const char *path, struct span data)
{
    const enum file_kind kind = identify(data);
    struct vk_points points = { 0 };
    struct filvk filvk;
    cuzk_status status;

    if (kind == FILE_FIL_VK || kind == FILE_FIL_VK_COMPRESSED) {
        TRY_GOTO(out, filvk_parse(&filvk, t, path, data));
        TRY_GOTO(out, filvk_points(&points, t, &filvk));
        TRY_GOTO(out, from_points(t, out, &points, &filvk.beta1, &filvk.delta1));
    } else {
        TRY_GOTO(out, snarkjs_vk_read(&points, t, path, data)); /* says what it is if it is something else */
        TRY_GOTO(out, from_points(t, out, &points, NULL, NULL));
    }
out:
    if (status != CUZK_OK) task_fail_place(t, path, ERROR_NO_OFFSET, NULL, NULL);
    vk_points_fini(&points);
    return status;
}

static cuzk_status open_vk(struct api_call *call, cuzk_vk **out, const char *path, struct span data)
{
    void *handle;

    TRY(api_new(call, &handle, sizeof(cuzk_vk)));
    cuzk_vk *vk = handle;
    const cuzk_status status = read_vk(&call->task, &vk->vk, path, data);
    if (status != CUZK_OK) {
        cuzk_vk_close(vk);
        return status;
    }
    groth16_verifier_init(&vk->verifier, &vk->vk);
    *out = vk;
    return CUZK_OK;
}

cuzk_status cuzk_vk_open(cuzk_vk **out, const char *path, cuzk_error *error)
{
    struct mapfile file = { 0 };
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (path == NULL) return api_end(&call, api_refuse(&call, "path"), error);
    cuzk_status status = mapfile_open(&file, &call.task, path);
    if (status == CUZK_OK) status = open_vk(&call, out, file.path, file.bytes);
    mapfile_close(&file);
    return api_end(&call, status, error);
}

cuzk_status cuzk_vk_from_memory(cuzk_vk **out, const void *data, size_t bytes, cuzk_error *error)
{
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (data == NULL) return api_end(&call, api_refuse(&call, "data"), error);
    return api_end(&call, open_vk(&call, out, "the verifying key in memory", span_of(data, bytes)), error);
}

cuzk_status cuzk_vk_from_key(cuzk_vk **out, const cuzk_key *key, cuzk_error *error)
{
    struct api_call call;
    void *handle;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (key == NULL) return api_end(&call, api_refuse(&call, "key"), error);
    cuzk_status status = api_new(&call, &handle, sizeof(cuzk_vk));
    if (status != CUZK_OK) return api_end(&call, status, error);
    cuzk_vk *vk = handle;
    const struct groth16_vk *of = &key->key->vk; /* checked when the key was opened */
    const struct groth16_vk_points points = {
        .alpha1 = &of->alpha1,
        .beta1 = &of->beta1,
        .beta2 = &of->beta2,
        .gamma2 = &of->gamma2,
        .delta1 = &of->delta1,
        .delta2 = &of->delta2,
        .ic = of->ic,
        .ic_stride = sizeof *of->ic,
        .ic_count = of->ic_count,
    };
    status = groth16_vk_init(&call.task, &vk->vk, of->curve, &points);
    if (status != CUZK_OK) {
        cuzk_vk_close(vk);
        return api_end(&call, status, error);
    }
    groth16_verifier_init(&vk->verifier, &vk->vk);
    *out = vk;
    return api_end(&call, CUZK_OK, error);
}

static size_t encode_vk_json(const struct vk_points *points, void *buffer, size_t capacity)
{
    struct json_text text = { 0 };
    struct task t;

    task_init(&t);
    if (snarkjs_vk_write(&t, &text, points) != CUZK_OK) return 0;
    const size_t bytes = api_put(buffer, capacity, text.data, text.size, true);
    json_text_fini(&text);
    return bytes;
}

static size_t encode_vk_bellman(const struct groth16_vk *vk, const struct vk_points *points, void *buffer,
                                size_t capacity)
{
    const size_t bytes = filvk_file_bytes(vk->ic_count);

    if (vk->curve->id != CURVE_BLS12_381 || !vk->has_beta1 || !vk->has_delta1) return 0;
    uint8_t *whole = malloc(bytes);
    if (whole == NULL) return 0;
    filvk_write(whole, points, &vk->beta1, &vk->delta1);
    api_put(buffer, capacity, whole, bytes, false);
    free(whole);
    return bytes;
}

size_t cuzk_vk_encode(const cuzk_vk *vk, cuzk_encoding encoding, void *buffer, size_t capacity)
{
    if (vk == NULL) return 0;
    const struct groth16_vk *k = &vk->vk;
    const struct vk_points points = {
        k->curve, k->alpha1, k->beta2, k->gamma2, k->delta2, k->ic, k->ic_count
    };

    if (encoding == CUZK_JSON) return encode_vk_json(&points, buffer, capacity);
    if (encoding == CUZK_BELLMAN) return encode_vk_bellman(k, &points, buffer, capacity);
    return 0;
}

static size_t vk_encoder(const void *handle, cuzk_encoding encoding, void *buffer, size_t capacity)
{
    return cuzk_vk_encode(handle, encoding, buffer, capacity);
}

cuzk_status cuzk_vk_save(const cuzk_vk *vk, const char *path, cuzk_encoding encoding, cuzk_error *error)
{
    return api_save(&(struct api_output){ vk_encoder, vk, encoding, path }, 1, error);
}

const char *cuzk_vk_curve(const cuzk_vk *vk) { return vk != NULL ? vk->vk.curve->name : NULL; }
uint64_t cuzk_vk_publics(const cuzk_vk *vk) { return vk != NULL ? groth16_vk_input_count(&vk->vk) : 0; }

void cuzk_vk_close(cuzk_vk *vk)
{
    if (vk == NULL) return;
    groth16_vk_fini(&vk->vk);
    free(vk);
}

/* -- verification ------------------------------------------------------------------------------------------------------ */

/* What the verifier calls a wrong argument or a wrong curve is, for whoever asks about a proof, a proof that is not valid. */
static cuzk_status verdict(struct task *t, cuzk_status status)
{
    if (status != CUZK_INVALID_ARGUMENT && status != CUZK_MISMATCH) return status;
    t->error.status = CUZK_PROOF_INVALID;
    return CUZK_PROOF_INVALID;
}

cuzk_status cuzk_verify(const cuzk_vk *vk, const cuzk_publics *publics, const cuzk_proof *proof,
                        cuzk_error *error)
{
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (vk == NULL) return api_end(&call, api_refuse(&call, "vk"), error);
    if (publics == NULL) return api_end(&call, api_refuse(&call, "publics"), error);
    if (proof == NULL) return api_end(&call, api_refuse(&call, "proof"), error);
    const cuzk_status status =
        groth16_verify(&call.task, &vk->verifier, &proof->proof, publics->value, publics->count,
                       GROTH16_POINTS_CHECKED); /* every way to a cuzk_proof checks them */
    return api_end(&call, verdict(&call.task, status), error);
}

static cuzk_status verify_batch(struct task *t, const cuzk_vk *vk, const cuzk_publics *const *publics,
                                const cuzk_proof *const *proofs, size_t count, size_t *first_bad)
{
    const size_t each = groth16_vk_input_count(&vk->vk);
    struct groth16_proof *proof = calloc(count, sizeof *proof);
    struct fr_int *inputs = calloc(count * each + 1, sizeof *inputs);
    bool *bad = calloc(count, sizeof *bad);
    cuzk_status status = CUZK_OK;

    if (proof == NULL || inputs == NULL || bad == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory for a batch of %zu proofs", count);
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        if (publics[i]->count != each || proofs[i]->proof.curve != vk->vk.curve) {
            *first_bad = i;
            status = FAIL(t, CUZK_PROOF_INVALID,
                          "proof %zu of the batch has %llu public inputs over %s; the key has %zu over %s", i,
                          (unsigned long long)publics[i]->count, proofs[i]->proof.curve->name, each,
                          vk->vk.curve->name);
            goto out;
        }
        proof[i] = proofs[i]->proof;
        if (each > 0) memcpy(&inputs[i * each], publics[i]->value, each * sizeof *inputs);
    }
    status = groth16_verify_each(t, &vk->verifier, bad, proof, inputs, each, count, GROTH16_POINTS_CHECKED);
    if (status == CUZK_PROOF_INVALID)
        for (*first_bad = 0; *first_bad < count && !bad[*first_bad];) ++*first_bad;
out:
    free(bad);
    free(inputs);
    free(proof);
    return status;
}

cuzk_status cuzk_verify_batch(const cuzk_vk *vk, const cuzk_publics *const *publics,
                              const cuzk_proof *const *proofs, size_t count, size_t *first_bad,
                              cuzk_error *error)
{
    size_t found = count;
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (vk == NULL) return api_end(&call, api_refuse(&call, "vk"), error);
    for (size_t i = 0; i < count; i++)
        if (publics == NULL || proofs == NULL || publics[i] == NULL || proofs[i] == NULL)
            return api_end(&call,
                           api_refuse(&call, publics == NULL || publics[i] == NULL ? "publics" : "proofs"),
                           error);
    const cuzk_status status =
        count == 0 ? CUZK_OK : verify_batch(&call.task, vk, publics, proofs, count, &found);
    if (first_bad != NULL) *first_bad = found;
    return api_end(&call, status, error);
}
