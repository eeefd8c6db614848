/* Timing the operations of which proofs are made, each result checked against one that is known.
 *
 * Points are known multiples of the generator, so every sum is known as a single scalar: sum k_i (p_i G) = (sum k_i p_i) G. */
#include "api/api.h"
#include "base/clock.h"
#include "base/rng.h"
#include "cuzk/cuzk_bench.h"
#include <stdlib.h>
#include <string.h>

#define RUNS_MOST 1000

struct bench {
    const struct backend *backend;
    struct device *device;
    const struct curve *curve;
    struct stream *stream;
    struct buffer uniform, bits, multiples, points,
        workspace; /* scalars, scalars that are mostly bits, p_i, p_i G */
    uint64_t count;
    unsigned runs;
    double ms[RUNS_MOST];
    void (*row)(void *row_context, const cuzk_bench_row *row);
    void *row_context;
};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(struct bench *b, const char *operation)
{
    cuzk_bench_row row;
    qsort(b->ms, b->runs, sizeof b->ms[0], by_value);
    row.size = sizeof row;
    row.operation = operation;
    row.curve = b->curve->name;
    row.count = b->count;
    row.runs = b->runs;
    row.median_ms = (b->ms[(b->runs - 1) / 2] + b->ms[b->runs / 2]) / 2;
    row.least_ms = b->ms[0];
    row.most_ms = b->ms[b->runs - 1];
    b->row(b->row_context, &row);
}

static struct fr_int *scalars_of(const struct buffer *b) { return (struct fr_int *)(void *)b->data; }

/* Canonical scalars from the operating system; share of 256: how many of them stay full-size, the others become 0 or 1. */
static cuzk_status draw(struct bench *b, struct task *t, struct buffer *to, unsigned share)
{
    struct fr_int *k = scalars_of(to);
    TRY(rng_bytes(t, k, b->count * sizeof *k));
    for (uint64_t i = 0; i < b->count; i++) {
        struct fr x;
        const uint64_t dice = k[i].w[3] & 255, bit = k[i].w[2] & 1;
        if (dice >= share) {
            memset(&k[i], 0, sizeof k[i]);
            k[i].w[0] = bit;
        } else {
            b->curve->fr.from_int(&x, &k[i]);
            b->curve->fr.to_int(&k[i], &x);
        }
    }
    return CUZK_OK;
}

/* The known answer of a sum over the points. */
static void expected_sum(const struct bench *b, struct g_jac *out, const struct group *g,
                         const struct buffer *scalars)
{
    const struct scalar_field *f = &b->curve->fr;
    struct fr sum, k, p;
    struct fr_int plain;
    struct g_jac generator;
    f->from_u64(&sum, 0);
    for (uint64_t i = 0; i < b->count; i++) {
        f->from_int(&k, &scalars_of(scalars)[i]);
        f->from_int(&p, &scalars_of(&b->multiples)[i]);
        f->mul(&k, &k, &p);
        f->add(&sum, &sum, &k);
    }
    f->to_int(&plain, &sum);
    g->jac_from_aff(&generator, &g->generator);
    g->jac_mul(out, &generator, &plain);
}

static cuzk_status time_msm(struct bench *b, struct task *t, enum group_id group,
                            const struct buffer *scalars, const char *name)
{
    const struct group *g = b->curve->group[group];
    struct msm_plan plan;
    struct g_jac sum, expected;
    TRY(b->backend->msm_plan(&plan, t, b->device, b->curve, group, b->count));
    expected_sum(b, &expected, g, scalars);
    for (unsigned i = 0; i <= b->runs; i++) {
        memset(&sum, 0xa5, sizeof sum); /* poison: a result has to be written */
        TRY(task_poll(t));
        const uint64_t start = clock_now_ns();
        TRY(b->backend->msm(b->stream, t, &plan, &sum, &b->points, 0, scalars, 0, NULL, &b->workspace));
        TRY(b->backend->stream_sync(b->stream, t));
        if (i > 0) b->ms[i - 1] = clock_ms_since(start);
        if (!g->jac_eq(&sum, &expected)) return FAIL(t, CUZK_INTERNAL, "%s gave a wrong sum", name);
    }
    report(b, name);
    return CUZK_OK;
}

static cuzk_status time_group(struct bench *b, struct task *t, enum group_id group,
                              const char *const names[3])
{
    const struct group *g = b->curve->group[group];
    struct g_jac expected, got;
    for (unsigned i = 0; i <= b->runs; i++) {
        TRY(task_poll(t));
        const uint64_t start = clock_now_ns();
        TRY(b->backend->fixed_base(b->stream, t, b->curve, group, &b->points, 0, &g->generator, &b->multiples,
                                   0, b->count));
        TRY(b->backend->stream_sync(b->stream, t));
        if (i > 0) b->ms[i - 1] = clock_ms_since(start);
    }
    g->jac_from_aff(&got, &g->generator);
    g->jac_mul(&expected, &got, &scalars_of(&b->multiples)[b->count - 1]);
    g->jac_from_aff(&got, b->points.data + (b->count - 1) * g->aff_bytes);
    if (!g->jac_eq(&got, &expected)) return FAIL(t, CUZK_INTERNAL, "%s gave a wrong point", names[0]);
    report(b, names[0]);
    TRY(time_msm(b, t, group, &b->uniform, names[1]));
    return time_msm(b, t, group, &b->bits, names[2]);
}

/* A transform and its inverse, timed apart; together they have to give back what went in. */
static cuzk_status time_ntt(struct bench *b, struct task *t, unsigned log2)
{
    struct domain domain;
    struct buffer data = b->workspace;
    double back_ms[RUNS_MOST];
    TRY(domain_init(&domain, t, b->curve, ROOT_SNARKJS, log2));
    data.bytes = b->count * sizeof(struct fr);
    for (unsigned i = 0; i <= b->runs; i++) {
        memcpy(data.data, b->uniform.data, data.bytes); /* below r: valid as Montgomery words too */
        TRY(task_poll(t));
        uint64_t start = clock_now_ns();
        TRY(b->backend->ntt(b->stream, t, &domain, &data, false, true));
        TRY(b->backend->stream_sync(b->stream, t));
        if (i > 0) b->ms[i - 1] = clock_ms_since(start);
        start = clock_now_ns();
        TRY(b->backend->ntt(b->stream, t, &domain, &data, true, true));
        TRY(b->backend->stream_sync(b->stream, t));
        if (i > 0) back_ms[i - 1] = clock_ms_since(start);
        if (memcmp(data.data, b->uniform.data, data.bytes))
            return FAIL(t, CUZK_INTERNAL, "a transform and its inverse do not cancel");
    }
    report(b, "coset ntt");
    memcpy(b->ms, back_ms, sizeof b->ms);
    report(b, "coset inverse ntt");
    return CUZK_OK;
}

static cuzk_status run(struct bench *b, struct task *t, unsigned log2)
{
    static const char *const g1[3] = { "fixed base g1", "msm g1, uniform scalars", "msm g1, 15/16 bits" };
    static const char *const g2[3] = { "fixed base g2", "msm g2, uniform scalars", "msm g2, 15/16 bits" };
    size_t workspace = b->count * sizeof(struct fr);
    for (int g = 0; g < 2; g++) {
        struct msm_plan plan;
        TRY(b->backend->msm_plan(&plan, t, b->device, b->curve, (enum group_id)g, b->count));
        if (plan.workspace_bytes > workspace) workspace = plan.workspace_bytes;
    }
    const size_t scalars = b->count * sizeof(struct fr_int);
    TRY(b->backend->stream_open(&b->stream, t, b->device));
    TRY(b->backend->buffer_take(&b->uniform, t, b->device, MEM_HEAP, scalars, 0));
    TRY(b->backend->buffer_take(&b->bits, t, b->device, MEM_HEAP, scalars, 0));
    TRY(b->backend->buffer_take(&b->multiples, t, b->device, MEM_HEAP, scalars, 0));
    TRY(b->backend->buffer_take(&b->points, t, b->device, MEM_HEAP, b->count * b->curve->g2.aff_bytes, 0));
    TRY(b->backend->buffer_take(&b->workspace, t, b->device, MEM_HEAP, workspace, 0));
    TRY(draw(b, t, &b->uniform, 256));
    TRY(draw(b, t, &b->bits, 16));
    TRY(draw(b, t, &b->multiples, 256));
    TRY(time_ntt(b, t, log2));
    TRY(time_group(b, t, GROUP_G1, g1));
    return time_group(b, t, GROUP_G2, g2);
}

cuzk_status cuzk_bench_operations(cuzk_context *context, const char *curve, unsigned log2, unsigned runs,
                                  void (*row)(void *row_context, const cuzk_bench_row *row),
                                  void *row_context, const cuzk_watch *watch, cuzk_error *error)
{
    struct api_call call;
    struct bench *b = NULL;
    void *block;
    api_begin(&call, context, watch);
    if (!context || !curve || !row)
        return api_end(&call, api_refuse(&call, !context ? "context" : !curve ? "curve" : "row"), error);
    if (log2 < 1 || log2 > 26 || runs < 1 || runs > RUNS_MOST)
        return api_end(
            &call,
            FAIL(&call.task, CUZK_INVALID_ARGUMENT, "log2 has to be in 1..26 and runs in 1..%d", RUNS_MOST),
            error);
    const struct curve *c = curve_by_name(curve);
    if (!c)
        return api_end(
            &call,
            FAIL(&call.task, CUZK_INVALID_ARGUMENT, "there is no curve '%s': bn254 or bls12_381", curve),
            error);
    if (!context->backend->reads_host_memory)
        return api_end(
            &call,
            FAIL(&call.task, CUZK_UNSUPPORTED,
                 "single operations are timed on cpu; on %s bench/device.sh times them, and here proofs "
                 "on a key are timed",
                 context->backend->name),
            error);
    cuzk_status status = api_new(&call, &block, sizeof *b);
    if (status != CUZK_OK) return api_end(&call, status, error);
    b = block;
    b->backend = context->backend;
    b->device = context->device;
    b->curve = c;
    b->count = (uint64_t)1 << log2;
    b->runs = runs;
    b->row = row;
    b->row_context = row_context;
    status = run(b, &call.task, log2);
    b->backend->buffer_give(&b->workspace);
    b->backend->buffer_give(&b->points);
    b->backend->buffer_give(&b->multiples);
    b->backend->buffer_give(&b->bits);
    b->backend->buffer_give(&b->uniform);
    if (b->stream) b->backend->stream_close(b->stream);
    free(b);
    return api_end(&call, status, error);
}
