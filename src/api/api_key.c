/* Proving keys. */
#include "api/api.h"
#include "groth16/derive.h"
#include "groth16/key_check.h"
#include "groth16/key_derived.h"
#include "groth16/predict.h"
#include "groth16/prove.h"
#include <stdlib.h>
#include <string.h>

STATIC_ASSERT((int)CUZK_KEY_AUTO == KEY_MODE_AUTO && (int)CUZK_KEY_ORIGINAL == KEY_MODE_ORIGINAL &&
                  (int)CUZK_KEY_DERIVED == KEY_MODE_DERIVED,
              "the public modes are the inner ones");

cuzk_status cuzk_key_open(cuzk_key **out, cuzk_context *context, const char *path,
                          const cuzk_key_options *options, cuzk_error *error)
{
    cuzk_key_options own = CUZK_KEY_OPTIONS_INIT;
    struct api_call call;
    void *handle;

    api_begin(&call, context, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (context == NULL) return api_end(&call, api_refuse(&call, "context"), error);
    if (path == NULL) return api_end(&call, api_refuse(&call, "path"), error);
    api_copy_in(&own, sizeof own, options);
    if ((unsigned)own.mode > CUZK_KEY_DERIVED) return api_end(&call, api_refuse(&call, "mode"), error);
    cuzk_status status = api_new(&call, &handle, sizeof(cuzk_key));
    if (status != CUZK_OK) return api_end(&call, status, error);
    cuzk_key *key = handle;
    status = groth16_key_open(&key->key, &call.task, path, own.r1cs_path);
    if (status == CUZK_OK)
        status = groth16_key_choose(key->key, &call.task, (enum groth16_key_mode)own.mode, own.derived_path,
                                    &key->derived_refused);
    if (status != CUZK_OK) {
        groth16_key_unref(key->key);
        free(key);
        return api_end(&call, status, error);
    }
    groth16_verifier_init(&key->verifier, &key->key->vk);
    atomic_init(&key->checked, groth16_key_is_known(key->key));
    *out = key;
    return api_end(&call, status, error);
}

void cuzk_key_close(cuzk_key *key)
{
    if (key == NULL) return;
    groth16_key_unref(key->key);
    free(key);
}

void cuzk_key_describe(const cuzk_key *key, cuzk_key_info *out)
{
    cuzk_key_info own = CUZK_KEY_INFO_INIT;

    if (key == NULL) return;
    const struct groth16_key *k = key->key;
    own.layout = k->layout == GROTH16_ZKEY ? "zkey" : "bellman";
    own.curve = k->curve->name;
    own.variables = k->variable_count;
    own.publics = k->public_count;
    own.domain_size = k->domain.size;
    own.constraints = k->row_count > k->public_count + 1 ? k->row_count - k->public_count - 1 : 0;
    own.entries = k->a.entry_count + k->b.entry_count;
    own.points_a = k->point_count[QUERY_A];
    own.points_b = k->point_count[QUERY_B1];
    own.points_l = k->point_count[QUERY_L];
    own.points_h = k->point_count[QUERY_H];
    own.points_ic = k->vk.ic_count;
    own.file_bytes = k->file.bytes.size;
    own.heap_bytes = k->heap_bytes;
    own.checked = atomic_load(&key->checked);
    own.mode = groth16_h_mode_name(k->h_mode);
    own.derived_refused = key->derived_refused.status != CUZK_OK ? key->derived_refused.text : NULL;
    api_copy_out(out, &own, sizeof own);
}

void api_derive_options(struct groth16_derive_options *out, const cuzk_derive_options *options)
{
    cuzk_derive_options own = CUZK_DERIVE_OPTIONS_INIT;

    api_copy_in(&own, sizeof own, options);
    out->checkpoint_ms = own.checkpoint_seconds < 0 || own.checkpoint_seconds > INT64_MAX / 1000
                             ? DERIVE_NO_CHECKPOINT
                             : 1000 * (uint64_t)own.checkpoint_seconds;
    out->stage = own.stage;
    out->note = own.note;
    out->context = own.context;
}

cuzk_status cuzk_key_derive(cuzk_context *context, const cuzk_key *key, const char *path,
                            const cuzk_derive_options *options, const cuzk_watch *watch, cuzk_error *error)
{
    struct groth16_derive_options own;
    struct api_call call;

    api_begin(&call, context, watch);
    if (context == NULL) return api_end(&call, api_refuse(&call, "context"), error);
    if (key == NULL) return api_end(&call, api_refuse(&call, "key"), error);
    api_derive_options(&own, options);
    return api_end(&call, groth16_derive(&call.task, key->key, path, &own, context->backend, context->device),
                   error);
}

cuzk_status cuzk_key_check(cuzk_context *context, cuzk_key *key, const cuzk_check_options *options,
                           const cuzk_watch *watch, cuzk_error *error)
{
    cuzk_check_options own = CUZK_CHECK_OPTIONS_INIT;
    struct api_call call;

    api_begin(&call, context, watch);
    if (context == NULL) return api_end(&call, api_refuse(&call, "context"), error);
    if (key == NULL) return api_end(&call, api_refuse(&call, "key"), error);
    api_copy_in(&own, sizeof own, options);
    const cuzk_status status = groth16_key_check(&call.task, key->key, own.vk != NULL ? &own.vk->vk : NULL,
                                                 context->backend, context->device);
    if (status == CUZK_OK) {
        atomic_store(&key->checked, true);
        if (own.remember) groth16_key_remember(key->key);
    }
    return api_end(&call, status, error);
}

cuzk_status cuzk_key_plan(cuzk_plan *out, cuzk_context *context, const cuzk_key *key, cuzk_error *error)
{
    cuzk_plan own = CUZK_PLAN_INIT;
    struct groth16_plan plan;
    struct api_call call;

    api_begin(&call, context, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (context == NULL) return api_end(&call, api_refuse(&call, "context"), error);
    if (key == NULL) return api_end(&call, api_refuse(&call, "key"), error);
    const cuzk_status status =
        groth16_prove_plan(&plan, &call.task, key->key, context->backend, context->device);
    if (status != CUZK_OK) return api_end(&call, status, error);
    own.file_bytes = key->key->file.bytes.size;
    own.key_bytes = key->key->heap_bytes;
    own.proof_bytes = plan.block_bytes;
    own.a_bytes = own.b_bytes = plan.vector_bytes;
    own.witness_bytes = 32 * key->key->variable_count;
    own.workspace_bytes = plan.block_bytes - 2 * plan.vector_bytes - plan.witness_bytes;
    own.resident_bytes = plan.key_bytes;
    api_copy_out(out, &own, sizeof own);
    return api_end(&call, status, error);
}

cuzk_status cuzk_key_predict(cuzk_prediction *out, const cuzk_key *key, const cuzk_device_info *device,
                             cuzk_error *error)
{
    cuzk_device_info own = CUZK_DEVICE_INFO_INIT;
    cuzk_prediction prediction = CUZK_PREDICTION_INIT;
    struct groth16_prediction p;
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (key == NULL) return api_end(&call, api_refuse(&call, "key"), error);
    if (device == NULL) return api_end(&call, api_refuse(&call, "device"), error);
    api_copy_in(&own, sizeof own, device);
    groth16_predict(&p, key->key, strcmp(own.backend, "cpu") != 0, own.threads);
    prediction.open_ms = p.open_ms;
    prediction.key_ms = p.key_ms;
    prediction.proof_ms = p.proof_ms;
    prediction.steady_ms = p.steady_ms;
    api_copy_out(out, &prediction, sizeof prediction);
    return api_end(&call, CUZK_OK, error);
}
