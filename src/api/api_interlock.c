/* The interlock bench, from the backend that has it. */
#include "api/api.h"
#include "cuzk/cuzk_bench.h"

static cuzk_status find(const struct backend **out, struct task *t)
{
    *out = backend_by_name("cuda");
    if (*out != NULL && (*out)->interlock != NULL) return CUZK_OK;
    const cuzk_status status =
        FAIL(t, CUZK_DEVICE_UNAVAILABLE, "the interlock bench is of GPUs, and this build has no CUDA");
    task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL, "build with -DCUZK_CUDA=ON");
    return status;
}

static cuzk_status exists(struct task *t, const struct backend *backend, unsigned device)
{
    struct device_info info[64];
    size_t count;
    TRY(backend->probe(t, info, ARRAY_COUNT(info), &count));
    if (device < count) return CUZK_OK;
    return FAIL(t, CUZK_DEVICE_UNAVAILABLE,
                count == 0 ? "there is no GPU, or no driver for it" : "there is no GPU %u; %zu can be seen",
                device, count);
}

struct rows {
    void (*interlock)(void *row_context, const cuzk_interlock_row *row);
    void (*call)(void *row_context, const cuzk_call_row *row);
    void *context;
};

static void interlock_row(void *context, enum interlock_protocol protocol, const struct interlock_result *r)
{
    static const char *const names[INTERLOCK_PROTOCOLS] = { "one lock", "two locks",
                                                            "two locks, device synchronise",
                                                            "arena and events" };
    const struct rows *rows = context;
    const cuzk_interlock_row row = {
        sizeof row,        names[protocol],    r->seconds,   r->partitions_per_second, r->idle_share,
        r->memory_wait_ms, r->compute_wait_ms, r->no_memory, r->skipped_prestage
    };
    rows->interlock(rows->context, &row);
}

static void call_row(void *context, const struct interlock_call *c)
{
    const struct rows *rows = context;
    const cuzk_call_row row = { sizeof row,   c->name,      c->alone_ms, c->beside_ms,
                                c->kernel_ms, c->launch_ms, c->waits,    c->stalls };
    rows->call(rows->context, &row);
}

static cuzk_status interlock(struct task *t, const cuzk_interlock_options *o, struct rows *rows)
{
    const struct backend *backend;
    const struct interlock_options options = { o->device,       o->lanes,           o->partitions,
                                               o->memory_bytes, o->partition_bytes, o->compute_ms };
    TRY(find(&backend, t));
    TRY(exists(t, backend, o->device));
    return backend->interlock(t, &options, (1u << INTERLOCK_PROTOCOLS) - 1, interlock_row, rows);
}

cuzk_status cuzk_bench_interlock(const cuzk_interlock_options *options,
                                 void (*row)(void *row_context, const cuzk_interlock_row *row),
                                 void *row_context, const cuzk_watch *watch, cuzk_error *error)
{
    struct api_call call;
    struct rows rows = { row, NULL, row_context };
    cuzk_interlock_options own = CUZK_INTERLOCK_OPTIONS_INIT;
    api_begin(&call, NULL, watch);
    if (row == NULL) return api_end(&call, api_refuse(&call, "row"), error);
    api_copy_in(&own, sizeof own, options);
    return api_end(&call, interlock(&call.task, &own, &rows), error);
}

static cuzk_status calls(struct task *t, unsigned device, struct rows *rows)
{
    const struct backend *backend;
    TRY(find(&backend, t));
    TRY(exists(t, backend, device));
    return backend->interlock_calls(t, device, call_row, rows);
}

cuzk_status cuzk_bench_calls(unsigned device, void (*row)(void *row_context, const cuzk_call_row *row),
                             void *row_context, const cuzk_watch *watch, cuzk_error *error)
{
    struct api_call call;
    struct rows rows = { NULL, row, row_context };
    api_begin(&call, NULL, watch);
    if (row == NULL) return api_end(&call, api_refuse(&call, "row"), error);
    return api_end(&call, calls(&call.task, device, &rows), error);
}
