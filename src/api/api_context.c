/* Contexts: worker threads and the device that computes. */
#include "api/api.h"
#include <stdlib.h>
#include <string.h>

static cuzk_status find_backend(const struct backend **out, struct task *t, const char *name)
{
    *out = backend_by_name(name);
    if (*out != NULL) return CUZK_OK;
    if (strcmp(name, "cuda") != 0) {
        FAIL(t, CUZK_INVALID_ARGUMENT, "there is no backend '%s'", name);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, "backend", "there are 'cpu' and 'cuda'");
        return CUZK_INVALID_ARGUMENT;
    }
    FAIL(t, CUZK_DEVICE_UNAVAILABLE, "this build has no backend 'cuda'");
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "backend", "build with -DCUZK_CUDA=ON, or use 'cpu'");
    return CUZK_DEVICE_UNAVAILABLE;
}

static cuzk_status create(struct api_call *call, cuzk_context *context, const cuzk_context_options *o)
{
    struct task *t = &call->task;
    const char *name = o->backend != NULL ? o->backend : "cpu";
    struct device_options device = { 0 };
    struct device_info info;

    if (o->lanes > LANES_MOST_AT_ONCE)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%u lanes; %d are the most", o->lanes, LANES_MOST_AT_ONCE);
    TRY(find_backend(&context->backend, t, name));
    context->lane_count = o->lanes == 0 && !context->backend->reads_host_memory ? LANES_DEFAULT : o->lanes;
    TRY(pool_create(&context->pool, t, o->threads));
    t->pool = context->pool; /* the device borrows these threads: every call comes with them */
    device.index = o->device_index;
    device.threads = pool_width(context->pool);
    if (!context->backend->reads_host_memory) {
        device.memory_bytes = o->memory_bytes;
        device.pinned_bytes = API_PINNED_BYTES;
    }
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
    (void)pthread_mutex_init(&context->lock, NULL);
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
    lanes_destroy(context->lanes);
    pthread_mutex_destroy(&context->lock);
    if (context->device != NULL) context->backend->close(context->device);
    pool_destroy(context->pool);
    free(context);
}

static void describe(cuzk_device_info *out, const struct device_info *info)
{
    api_text(out->backend, sizeof out->backend, info->backend);
    api_text(out->name, sizeof out->name, info->name);
    api_text(out->variant, sizeof out->variant, info->variant);
    out->threads = info->unit_count;
    out->memory_bytes = info->memory_bytes;
}

void cuzk_context_device(const cuzk_context *context, cuzk_device_info *out)
{
    cuzk_device_info own = CUZK_DEVICE_INFO_INIT;
    struct device_info info;

    if (context == NULL) return;
    context->backend->info(context->device, &info);
    describe(&own, &info);
    own.threads = pool_width(context->pool);
    api_copy_out(out, &own, sizeof own);
}

_Static_assert(CUZK_LANES_MOST == LANES_MOST_AT_ONCE, "what the header says");

cuzk_status api_lanes(struct lanes **out, struct task *t, cuzk_context *context)
{
    const struct lanes_options o = {
        .lanes = context->lane_count,
        .memory_bytes =
            context->backend->reads_host_memory ? context->memory_bytes : 0, /* else the arena is the limit */
    };
    cuzk_status status = CUZK_OK;

    *out = NULL;
    if (o.lanes == 0) return CUZK_OK;
    pthread_mutex_lock(&context->lock);
    if (context->lanes == NULL)
        status = lanes_create(&context->lanes, t, context->backend, context->device, &o);
    *out = context->lanes;
    pthread_mutex_unlock(&context->lock);
    return status;
}

void cuzk_context_lanes(cuzk_context *context, cuzk_lanes_info *out)
{
    cuzk_lanes_info own = CUZK_LANES_INFO_INIT;
    struct lanes_report report;

    if (context == NULL) return;
    pthread_mutex_lock(&context->lock);
    struct lanes *const lanes = context->lanes;
    pthread_mutex_unlock(&context->lock);
    if (lanes != NULL) {
        lanes_report(lanes, &report);
        own.lanes = context->lane_count;
        own.computing = lanes_computing(lanes);
        own.proofs = report.proofs;
        own.failed = report.failed;
        own.staged_late = report.skipped;
        own.peak_bytes = report.peak_bytes;
        own.stream_bytes = lanes_stream_bytes(lanes);
    }
    api_copy_out(out, &own, sizeof own);
}

const char *cuzk_backend_targets(const char *backend)
{
    const struct backend *b = backend != NULL ? backend_by_name(backend) : NULL;

    return b != NULL ? b->targets : NULL;
}

static cuzk_status devices(struct task *t, cuzk_device_info *out, size_t capacity, size_t *count,
                           const char *name)
{
    struct device_info info[64];
    const struct backend *backend;

    TRY(find_backend(&backend, t, name));
    TRY(backend->probe(t, info, ARRAY_COUNT(info), count));
    for (size_t i = 0; i < *count && i < capacity && i < ARRAY_COUNT(info); i++) {
        cuzk_device_info own = CUZK_DEVICE_INFO_INIT;
        cuzk_device_info *const to = (cuzk_device_info *)(void *)((char *)out + i * out->size);
        describe(&own, &info[i]);
        to->size = out->size;
        api_copy_out(to, &own, sizeof own);
    }
    return CUZK_OK;
}

cuzk_status cuzk_devices(cuzk_device_info *out, size_t capacity, size_t *count, const char *backend,
                         cuzk_error *error)
{
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (out == NULL && capacity > 0) return api_end(&call, api_refuse(&call, "out"), error);
    if (count == NULL) return api_end(&call, api_refuse(&call, "count"), error);
    if (backend == NULL) return api_end(&call, api_refuse(&call, "backend"), error);
    return api_end(&call, devices(&call.task, out, capacity, count, backend), error);
}
