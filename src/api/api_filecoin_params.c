/* Parameter folders and the keys in them, on the public surface. */
#include "api/api_filecoin.h"
#include "groth16/derive.h"
#include "groth16/prove.h"
#include <stdlib.h>

const char *cuzk_filecoin_parameter_folder(void) { return params_folder_default(); }

/* -- keys -------------------------------------------------------------------------------------------------------------- */

static cuzk_status plan_memory(struct task *t, cuzk_porep_key *key, const cuzk_context *context)
{
    const struct porep_binding *binding = &key->key.binding;
    struct groth16_plan plan;
    struct porep_room room;

    TRY(groth16_prove_plan(&plan, t, key->key.key, context->backend, context->device));
    porep_proof_room(&room, &binding->circuit.image, pool_width(context->pool));
    if (plan.on_image) room.values_bytes = 0; /* the card makes them */
    key->proof_bytes = plan.block_bytes + room.assignment_bytes + room.values_bytes;
    const uint64_t all = key->key.shared_bytes + key->proof_bytes;
    if (!context->backend->reads_host_memory || context->memory_bytes == 0 || all <= context->memory_bytes)
        return CUZK_OK;
    const cuzk_status status = FAIL(
        t, CUZK_TOO_LARGE,
        "a proof of a %s sector takes %llu bytes of memory on this machine; the limit is %llu",
        binding->circuit.shape->name, (unsigned long long)all, (unsigned long long)context->memory_bytes);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "memory_bytes",
                    "raise the limit, or use a machine with more memory");
    return status;
}

cuzk_status api_porep_key_new(cuzk_porep_key **out, const struct porep_shape **shape, struct api_call *call,
                              uint64_t sector_bytes)
{
    void *handle;

    TRY(porep_shape_need(shape, &call->task, sector_bytes));
    TRY(api_new(call, &handle, sizeof(cuzk_porep_key)));
    *out = handle;
    return CUZK_OK;
}

cuzk_status cuzk_porep_key_open(cuzk_porep_key **out, cuzk_context *context, uint64_t sector_bytes,
                                const cuzk_porep_key_options *options, const cuzk_watch *watch,
                                cuzk_error *error)
{
    cuzk_porep_key_options own = CUZK_POREP_KEY_OPTIONS_INIT;
    const struct porep_shape *shape;
    struct api_call call;
    cuzk_porep_key *key;

    api_begin(&call, context, watch);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (context == NULL) return api_end(&call, api_refuse(&call, "context"), error);
    api_copy_in(&own, sizeof own, options);
    if ((unsigned)own.mode > CUZK_KEY_DERIVED) return api_end(&call, api_refuse(&call, "mode"), error);
    cuzk_status status = api_porep_key_new(&key, &shape, &call, sector_bytes);
    if (status != CUZK_OK) return api_end(&call, status, error);
    status = porep_key_open(&key->key, &call.task, shape, own.folder, (enum groth16_key_mode)own.mode,
                            context->memory_bytes);
    if (status == CUZK_OK) status = plan_memory(&call.task, key, context);
    if (status == CUZK_OK)
        *out = key;
    else
        cuzk_porep_key_close(key);
    return api_end(&call, status, error);
}

void cuzk_porep_key_close(cuzk_porep_key *key)
{
    if (key == NULL) return;
    porep_key_close(&key->key);
    free(key);
}

void cuzk_porep_key_describe(const cuzk_porep_key *key, cuzk_porep_key_info *out)
{
    cuzk_porep_key_info own = CUZK_POREP_KEY_INFO_INIT;
    const struct groth16_key *g = key->key.key;

    own.params_path = g->file.path;
    own.file_bytes = g->file.bytes.size;
    own.shared_bytes = key->key.shared_bytes;
    own.proof_bytes = key->proof_bytes;
    own.domain_size = g->domain.size;
    own.variables = g->variable_count;
    own.development = key->key.development;
    own.checked = key->key.checked;
    own.mode = groth16_h_mode_name(g->h_mode);
    own.derived_refused = key->key.derived_refused.status != CUZK_OK ? key->key.derived_refused.text : NULL;
    api_copy_out(out, &own, sizeof own);
}

cuzk_status cuzk_porep_key_derive(cuzk_context *context, const cuzk_porep_key *key, const char *path,
                                  const cuzk_derive_options *options, const cuzk_watch *watch,
                                  cuzk_error *error)
{
    struct groth16_derive_options own;
    struct api_call call;

    api_begin(&call, context, watch);
    if (context == NULL) return api_end(&call, api_refuse(&call, "context"), error);
    if (key == NULL) return api_end(&call, api_refuse(&call, "key"), error);
    api_derive_options(&own, options);
    return api_end(&call,
                   groth16_derive(&call.task, key->key.key, path, &own, context->backend, context->device),
                   error);
}

cuzk_status cuzk_porep_vk_open(cuzk_vk **out, uint64_t sector_bytes, const char *folder, cuzk_error *error)
{
    char found[PATH_MAX];
    const struct porep_shape *shape;
    struct api_call call;
    void *handle;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    cuzk_status status = porep_shape_need(&shape, &call.task, sector_bytes);
    if (status == CUZK_OK) status = params_folder_find(found, &call.task, folder);
    if (status == CUZK_OK) status = api_new(&call, &handle, sizeof(cuzk_vk));
    if (status != CUZK_OK) return api_end(&call, status, error);
    cuzk_vk *vk = handle;
    status = params_vk_open(&vk->vk, &call.task, found, shape);
    if (status == CUZK_OK) {
        groth16_verifier_init(&vk->verifier, &vk->vk);
        *out = vk;
    } else {
        free(vk);
    }
    return api_end(&call, status, error);
}
