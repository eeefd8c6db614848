/* Contexts: worker threads and the device that computes. */
#include "api/api.h"
#include <stdlib.h>

static cuzk_status create(struct api_call *call, cuzk_context *context, const cuzk_context_options *o)
{
    struct task *t = &call->task;
    const char *name = o->backend != NULL ? o->backend : "cpu";
    struct device_options device = { 0 };
    struct device_info info;

    context->backend = backend_by_name(name);
    if (context->backend == NULL) {
        const cuzk_status status = FAIL(t, CUZK_UNSUPPORTED, "this build has no backend '%s'", name);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, "backend", "'cpu' is always there");
        return status;
    }
    TRY(pool_create(&context->pool, t, o->threads));
    t->pool = context->pool; /* the device borrows these threads: every call comes with them */
    device.index = o->device_index;
    device.threads = pool_width(context->pool);
    TRY(context->backend->open(&context->device, t, &device));
    context->backend->info(context->device, &info);
    context->memory_bytes = o->memory_bytes != 0 ? o->memory_bytes : info.memory_bytes;
    return CUZK_OK;
}

cuzk_status cuzk_context_create(cuzk_context **out, const cuzk_context_options *options, cuzk_error *error)
{
    cuzk_context_options own = CUZK_CONTEXT_OPTIONS_INIT;
    cuzk_context *context = NULL;
    struct api_call call;
    void *handle;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    api_copy_in(&own, sizeof own, options);
    cuzk_status status = api_new(&call, &handle, sizeof *context);
    if (status != CUZK_OK) return api_end(&call, status, error);
    context = handle;
    status = create(&call, context, &own);
    if (status == CUZK_OK)
        *out = context;
    else
        cuzk_context_destroy(context);
    return api_end(&call, status, error);
}

void cuzk_context_destroy(cuzk_context *context)
{
    if (context == NULL) return;
    if (context->device != NULL) context->backend->close(context->device);
    pool_destroy(context->pool);
    free(context);
}

void cuzk_context_device(const cuzk_context *context, cuzk_device_info *out)
{
    cuzk_device_info own = CUZK_DEVICE_INFO_INIT;
    struct device_info info;

    if (context == NULL) return;
    context->backend->info(context->device, &info);
    api_text(own.backend, sizeof own.backend, info.backend);
    api_text(own.name, sizeof own.name, info.name);
    api_text(own.variant, sizeof own.variant, info.variant);
    own.threads = pool_width(context->pool);
    own.memory_bytes = info.memory_bytes;
    api_copy_out(out, &own, sizeof own);
}
