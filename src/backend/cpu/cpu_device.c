/* The CPU backend: devices, buffers and the entry of every operation.
 *
 * A device borrows the task's worker threads where the task has some, else it owns a pool.  Twiddle tables are made when a domain
 * larger than all before it is first used, and stay until the device closes: 32 bytes a point up to 32 MiB (poly/ntt_plan.h), so less
 * than 64 MiB a curve and root convention.  These and fixed_base's tables are the only memory that operations take. */
#include "backend/cpu/cpu_device.h"

#include "backend/cpu/cpu_classify.h"
#include "backend/cpu/cpu_kernels.h"
#include "base/arena.h"
#include "base/hostmem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CURVES = 2, CONVENTIONS = 2, CLASSIFY_BLOCK = 1 << 14 /* values: 512 KiB */ };

/* Fastest first; the portable ones are always usable. */
static const struct cpu_kernels *const kernel_list[CURVES][3] = {
#if defined(__x86_64__)
    { &cpu_bn254_ifma, &cpu_bn254_adx, &cpu_bn254_portable },
    { &cpu_bls12_381_ifma, &cpu_bls12_381_adx, &cpu_bls12_381_portable },
#else
    { &cpu_bn254_portable },
    { &cpu_bls12_381_portable },
#endif
};

struct device {
    struct pool *pool; /* NULL: opened with a task that had worker threads */
    unsigned threads;  /* of pool */
    uint64_t memory_bytes;
    const struct cpu_kernels *kernels[CURVES];
    pthread_mutex_t tables_lock;
    struct arena tables[CURVES][CONVENTIONS][NTT_TABLE_LOG2 + 1];
};

struct stream {
    struct device *device;
};

static size_t curve_index(const struct curve *c) { return c->id == CURVE_BLS12_381; }

static struct cpu_team team_of(const struct device *d, struct task *t)
{
    struct cpu_team team;
    team.task = t;
    team.pool = t->pool ? t->pool : d->pool;
    team.slots = pool_width(team.pool);
    return team;
}

/* -- devices -- */

static void cpu_name(char *out, size_t size)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[256];
    snprintf(out, size, "CPU");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        colon[strcspn(colon, "\n")] = 0;
        snprintf(out, size, "%s", colon + 2);
        break;
    }
    if (f) fclose(f);
}

static const struct cpu_kernels *kernels_pick(size_t curve, bool portable_only)
{
    for (size_t i = 0; i < ARRAY_COUNT(kernel_list[curve]) && kernel_list[curve][i]; i++) {
        const struct cpu_kernels *k = kernel_list[curve][i];
        const bool last = i + 1 == ARRAY_COUNT(kernel_list[curve]) || !kernel_list[curve][i + 1];
        if (last || (!portable_only && k->usable())) return k;
    }
    return kernel_list[curve][0];
}

static void info_fill(struct device_info *out, const struct cpu_kernels *k, unsigned threads)
{
    memset(out, 0, sizeof *out);
    snprintf(out->backend, sizeof out->backend, "cpu");
    cpu_name(out->name, sizeof out->name);
    snprintf(out->variant, sizeof out->variant, "%s", k->variant);
    out->memory_bytes = hostmem_limit_bytes();
    out->unit_count = threads;
}

static cuzk_status cpu_probe(struct task *t, struct device_info *out, size_t max, size_t *count)
{
    struct pool *pool = t->pool;
    if (max > 0) {
        if (!pool) TRY(pool_create(&pool, t, 0)); /* the pool knows affinity and quota */
        info_fill(&out[0], kernels_pick(0, false), pool_width(pool));
        if (pool != t->pool) pool_destroy(pool);
    }
    *count = 1;
    return CUZK_OK;
}

static void cpu_close(struct device *d)
{
    if (!d) return;
    for (size_t c = 0; c < CURVES; c++)
        for (size_t v = 0; v < CONVENTIONS; v++)
            for (size_t l = 0; l <= NTT_TABLE_LOG2; l++) arena_close(&d->tables[c][v][l]);
    pool_destroy(d->pool);
    pthread_mutex_destroy(&d->tables_lock);
    free(d);
}

static cuzk_status cpu_open(struct device **out, struct task *t, const struct device_options *o)
{
    *out = NULL;
    if (o->index != 0)
        return FAIL(t, CUZK_DEVICE_UNAVAILABLE, "there is no CPU device %u; there is one, number 0",
                    o->index);
    struct device *d = calloc(1, sizeof *d);
    if (!d) return FAIL(t, CUZK_NO_MEMORY, "no memory for a device");
    if (pthread_mutex_init(&d->tables_lock, NULL) != 0) {
        free(d);
        return FAIL(t, CUZK_NO_MEMORY, "no mutex for a device");
    }
    for (size_t c = 0; c < CURVES; c++) d->kernels[c] = kernels_pick(c, o->portable_only);
    d->memory_bytes = o->memory_bytes ? o->memory_bytes : hostmem_limit_bytes();
    if (!t->pool) {
        const cuzk_status status = pool_create(&d->pool, t, o->threads);
        if (status != CUZK_OK) {
            cpu_close(d);
            return status;
        }
    }
    d->threads = pool_width(t->pool ? t->pool : d->pool);
    *out = d;
    return CUZK_OK;
}

static void cpu_info(const struct device *d, struct device_info *out)
{
    info_fill(out, d->kernels[0], d->threads);
    out->memory_bytes = d->memory_bytes;
}

/* -- buffers and streams -- */

/* A buffer's block begins with the arena that describes it; the data follow at ARENA_ALIGN. */
STATIC_ASSERT(sizeof(struct arena) <= ARENA_ALIGN, "an arena's record fits before the data");

static cuzk_status cpu_buffer_take(struct buffer *out, struct task *t, struct device *d, enum mem_kind kind,
                                   size_t bytes, unsigned flags)
{
    struct arena a;
    void *block;
    memset(out, 0, sizeof *out);
    if (bytes > SIZE_MAX / 2) return FAIL(t, CUZK_TOO_LARGE, "a buffer of %zu bytes", bytes);
    TRY(arena_open(&a, t, arena_round(ARENA_ALIGN + bytes) + ARENA_ALIGN,
                   flags & BUFFER_SECRET ? ARENA_SECRET : ARENA_PLAIN));
    const cuzk_status status = arena_take(&a, t, &block, ARENA_ALIGN + bytes);
    if (status != CUZK_OK) {
        arena_close(&a);
        return status;
    }
    memcpy(block, &a, sizeof a);
    out->device = d;
    out->kind = kind;
    out->data = (uint8_t *)block + ARENA_ALIGN;
    out->bytes = bytes;
    out->flags = flags & ~(unsigned)BUFFER_BORROWED;
    return CUZK_OK;
}

static void cpu_buffer_give(struct buffer *b)
{
    if (b->data && !(b->flags & BUFFER_BORROWED)) {
        struct arena a;
        memcpy(&a, b->data - ARENA_ALIGN, sizeof a);
        arena_close(&a);
    }
    memset(b, 0, sizeof *b);
}

static cuzk_status cpu_stream_open(struct stream **out, struct task *t, struct device *d)
{
    *out = malloc(sizeof **out);
    if (!*out) return FAIL(t, CUZK_NO_MEMORY, "no memory for a stream");
    (*out)->device = d;
    return CUZK_OK;
}

static void cpu_stream_close(struct stream *s) { free(s); }

/* Whatever was enqueued has ended. */
static cuzk_status cpu_stream_wait(struct stream *s, struct task *t, struct stream *other)
{
    (void)s;
    (void)other;
    return task_poll(t);
}

static cuzk_status cpu_stream_sync(struct stream *s, struct task *t)
{
    (void)s;
    return task_poll(t);
}

/* bytes at offset of a buffer, or an error that names the operand. */
static cuzk_status range_check(struct task *t, const struct buffer *b, const char *what, size_t offset,
                               size_t bytes, size_t alignment)
{
    if (offset > b->bytes || bytes > b->bytes - offset)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%s: %zu bytes at offset %zu of a buffer of %zu bytes", what,
                    bytes, offset, b->bytes);
    if (((uintptr_t)b->data + offset) % alignment != 0)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%s does not start on a multiple of %zu bytes", what,
                    alignment);
    return CUZK_OK;
}

static cuzk_status cpu_upload(struct stream *s, struct task *t, struct buffer *to, size_t to_offset,
                              const void *from, size_t bytes)
{
    (void)s;
    TRY(range_check(t, to, "upload", to_offset, bytes, 1));
    if (bytes) memcpy(to->data + to_offset, from, bytes);
    return CUZK_OK;
}

static cuzk_status cpu_download(struct stream *s, struct task *t, void *to, const struct buffer *from,
                                size_t from_offset, size_t bytes)
{
    (void)s;
    TRY(range_check(t, from, "download", from_offset, bytes, 1));
    if (bytes) memcpy(to, from->data + from_offset, bytes);
    return CUZK_OK;
}

/* -- plans -- */

static cuzk_status cpu_msm_plan(struct msm_plan *out, struct task *t, const struct device *d,
                                const struct curve *c, enum group_id g, uint64_t count)
{
    if (count > MSM_MAX_COUNT)
        return FAIL(t, CUZK_TOO_LARGE,
                    "a multi-scalar multiplication of %llu points; the CPU backend takes 2^30",
                    (unsigned long long)count);
    msm_plan_cpu(out, c, g, count, t->pool ? pool_width(t->pool) : d->threads);
    return CUZK_OK;
}

static cuzk_status cpu_bit_sum_plan(struct bit_sum_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g,
                                    uint64_t count, unsigned bitmap_count)
{
    if (bitmap_count > BIT_SUM_MAX) return FAIL(t, CUZK_INVALID_ARGUMENT, "a sweep over %u bitmaps; at most %d", bitmap_count, BIT_SUM_MAX);
    if (count > MSM_MAX_COUNT)
        return FAIL(t, CUZK_TOO_LARGE, "a sweep over %llu points; the CPU backend takes 2^30", (unsigned long long)count);
    bit_plan_cpu(out, c, g, count, bitmap_count, t->pool ? pool_width(t->pool) : d->threads);
    return CUZK_OK;
}

static cuzk_status cpu_classify_plan(struct classify_plan *out, struct task *t, const struct device *d, uint64_t count, uint64_t wide_max)
{
    (void)d;
    if (count > MSM_MAX_COUNT)
        return FAIL(t, CUZK_TOO_LARGE, "%llu values to tell apart; the CPU backend takes 2^30", (unsigned long long)count);
    classify_plan_blocks(out, count, wide_max, CLASSIFY_BLOCK);
    return CUZK_OK;
}

static cuzk_status cpu_quotient_plan(struct quotient_plan *out, struct task *t, const struct device *d,
                                     const struct domain *domain, enum quotient_mode mode)
{
    (void)t;
    (void)d;
    out->domain = *domain;
    out->mode = mode;
    out->vector_bytes = 32 * (size_t)domain->size;
    out->workspace_bytes = mode == QUOTIENT_COSET_PRODUCT ? 0 : out->vector_bytes; /* c = a o b */
    return CUZK_OK;
}

static cuzk_status cpu_eval_plan(struct eval_plan *out, struct task *t, const struct device *d,
                                 const struct csr *m, uint64_t out_count)
{
    (void)d;
    if (m->row_count > out_count)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a matrix of %llu rows for a domain of %llu points",
                    (unsigned long long)m->row_count, (unsigned long long)out_count);
    memset(out, 0, sizeof *out);
    out->row_count = m->row_count;
    out->out_count = out_count;
    out->column_count = m->column_count;
    out->workspace_bytes = 0; /* the witness is read in place */
    return CUZK_OK;
}

static cuzk_status cpu_group_ntt_plan(struct group_ntt_plan *out, struct task *t, const struct device *d,
                                      const struct domain *domain, bool inverse, const struct fr *scale,
                                      const struct fr *step)
{
    (void)t;
    (void)d;
    group_ntt_plan_fill(out, domain, inverse, scale, step);
    return CUZK_OK;
}

/* -- operations -- */

/* A table that serves levels up to *log2 of d, made if there is none yet. */
static cuzk_status table_of(struct device *dev, const struct cpu_team *team, const struct domain *d,
                            const struct fr **out, unsigned *log2)
{
    struct ntt_plan plan;
    struct fr root;
    void *data;
    cuzk_status status = CUZK_OK;
    ntt_plan(&plan, d->log2);
    *log2 = plan.table_log2;
    const size_t curve = curve_index(d->curve);
    struct arena *const tables = dev->tables[curve][d->convention == ROOT_BELLMAN];
    pthread_mutex_lock(&dev->tables_lock);
    for (unsigned l = plan.table_log2; l <= NTT_TABLE_LOG2; l++)
        if (tables[l].base) {
            *out = (const struct fr *)(const void *)tables[l].base;
            goto out;
        }
    struct arena made = { 0 };
    TRY_GOTO(out, arena_open(&made, team->task, arena_round(plan.table_bytes) + ARENA_ALIGN, ARENA_PLAIN));
    status = arena_take(&made, team->task, &data, plan.table_bytes);
    d->curve->fr.root(&root, d->convention, plan.table_log2);
    if (status == CUZK_OK) status = dev->kernels[curve]->ntt_table(team, data, plan.table_log2, &root);
    if (status != CUZK_OK) {
        arena_close(&made);
        goto out;
    }
    tables[plan.table_log2] = made;
    *out = data;
out:
    pthread_mutex_unlock(&dev->tables_lock);
    return status;
}

static cuzk_status cpu_eval(struct stream *s, struct task *t, const struct eval_plan *p, struct buffer *out,
                            const struct csr *m, const struct witness *w, struct buffer *workspace)
{
    const struct cpu_team team = team_of(s->device, t);
    (void)workspace;
    TRY(range_check(t, out, "the vector of an evaluation", 0, 32 * (size_t)p->out_count, 8));
    if (w->count < m->column_count || w->values.size / 32 < m->column_count || m->row_count != p->row_count)
        return FAIL(t, CUZK_MISMATCH, "the witness has %llu values, the matrix %llu columns",
                    (unsigned long long)w->count, (unsigned long long)m->column_count);
    return s->device->kernels[curve_index(w->curve)]->eval(&team, m, w, (struct fr *)(void *)out->data,
                                                           p->out_count);
}

static cuzk_status cpu_quotient(struct stream *s, struct task *t, const struct quotient_plan *p,
                                struct buffer *scalars, struct buffer *a, struct buffer *b,
                                struct buffer *workspace)
{
    const struct cpu_team team = team_of(s->device, t);
    const struct fr *table;
    unsigned table_log2;
    TRY(range_check(t, a, "vector a of a quotient", 0, p->vector_bytes, 8));
    TRY(range_check(t, b, "vector b of a quotient", 0, p->vector_bytes, 8));
    TRY(range_check(t, workspace, "the workspace of a quotient", 0, p->workspace_bytes, 8));
    TRY(range_check(t, scalars, "the scalars of a quotient", 0, p->vector_bytes, 1));
    TRY(table_of(s->device, &team, &p->domain, &table, &table_log2));
    return s->device->kernels[curve_index(p->domain.curve)]->quotient(
        &team, p, table, table_log2, scalars->data, (struct fr *)(void *)a->data,
        (struct fr *)(void *)b->data, (struct fr *)(void *)workspace->data);
}

static cuzk_status cpu_ntt(struct stream *s, struct task *t, const struct domain *d, struct buffer *data,
                           bool inverse, bool coset)
{
    const struct cpu_team team = team_of(s->device, t);
    const struct fr *table;
    unsigned table_log2;
    TRY(range_check(t, data, "the vector of a transform", 0, 32 * (size_t)d->size, 8));
    TRY(table_of(s->device, &team, d, &table, &table_log2));
    return s->device->kernels[curve_index(d->curve)]->ntt(&team, d, table, table_log2,
                                                          (struct fr *)(void *)data->data, inverse, coset);
}

static cuzk_status cpu_msm(struct stream *s, struct task *t, const struct msm_plan *p, struct g_jac *out,
                           const struct buffer *points, size_t points_offset, const struct buffer *scalars,
                           size_t scalars_offset, const struct buffer *gather, struct buffer *workspace)
{
    struct cpu_team team = team_of(s->device, t);
    struct cpu_msm_args args;
    TRY(range_check(t, points, "the points", points_offset,
                    (size_t)p->count * p->curve->group[p->group]->aff_bytes, 1));
    TRY(range_check(t, scalars, "the scalars", scalars_offset, gather ? 0 : 32 * (size_t)p->count, 1));
    if (gather)
        TRY(range_check(t, gather, "the gather list", 0, sizeof(uint32_t) * (size_t)p->count,
                        sizeof(uint32_t)));
    TRY(range_check(t, workspace, "the workspace of a multi-scalar multiplication", 0, p->workspace_bytes,
                    8));
    if (team.slots > p->thread_count) team.slots = p->thread_count; /* scratch was counted for these */
    args.plan = p;
    args.points = points->data + points_offset;
    args.scalars = scalars->data + scalars_offset;
    args.gather = gather ? (const uint32_t *)(const void *)gather->data : NULL;
    args.workspace = workspace->data;
    return s->device->kernels[curve_index(p->curve)]->msm[p->group](&team, out, &args);
}

static cuzk_status cpu_bit_sum(struct stream *s, struct task *t, const struct bit_sum_plan *p, struct g_jac *out, const struct buffer *points,
                               size_t points_offset, const struct buffer *bitmaps, size_t bitmaps_offset, struct buffer *workspace)
{
    struct cpu_team team = team_of(s->device, t);
    struct cpu_bits_args args;
    TRY(range_check(t, points, "the points", points_offset, (size_t)p->count * p->curve->group[p->group]->aff_bytes, 1));
    TRY(range_check(t, bitmaps, "the bitmaps", bitmaps_offset, p->bitmap_bytes * p->bitmap_count, 4));
    TRY(range_check(t, workspace, "the workspace of a sweep", 0, p->workspace_bytes, 8));
    if (team.slots > p->thread_count) team.slots = p->thread_count; /* scratch was counted for these */
    args.plan = p;
    args.points = points->data + points_offset;
    args.bitmaps = bitmaps->data + bitmaps_offset;
    args.workspace = workspace->data;
    return s->device->kernels[curve_index(p->curve)]->bit_sum[p->group](&team, out, &args);
}

static cuzk_status cpu_classify(struct stream *s, struct task *t, const struct classify_plan *p, struct buffer *counts, struct buffer *bitmap,
                                struct buffer *index, struct buffer *values, const struct buffer *scalars, size_t scalars_offset,
                                const struct buffer *gather, struct buffer *workspace)
{
    const struct cpu_team team = team_of(s->device, t);
    struct cpu_classify_args args;
    TRY(range_check(t, counts, "the counts", 0, sizeof *args.counts, 8));
    TRY(range_check(t, bitmap, "the bitmap of ones", 0, p->bitmap_bytes, 4));
    TRY(range_check(t, index, "the list of wide values", 0, p->index_bytes, 4));
    TRY(range_check(t, values, "the wide values", 0, p->values_bytes, 1));
    TRY(range_check(t, scalars, "the scalars", scalars_offset, gather ? 0 : 32 * (size_t)p->count, 1));
    if (gather) TRY(range_check(t, gather, "the gather list", 0, sizeof(uint32_t) * (size_t)p->count, sizeof(uint32_t)));
    TRY(range_check(t, workspace, "the workspace of telling values apart", 0, p->workspace_bytes, 8));
    args.plan = p;
    args.counts = (struct classify_counts *)(void *)counts->data;
    args.bitmap = (uint32_t *)(void *)bitmap->data;
    args.index = (uint32_t *)(void *)index->data;
    args.values = values->data;
    args.scalars = scalars->data + scalars_offset;
    args.gather = gather ? (const uint32_t *)(const void *)gather->data : NULL;
    args.workspace = workspace->data;
    return cpu_classify_run(&team, &args);
}

static cuzk_status cpu_gather_points(struct stream *s, struct task *t, const struct curve *c, enum group_id g, struct buffer *out,
                                     const struct buffer *points, size_t points_offset, uint64_t count, const struct buffer *index,
                                     uint64_t index_count)
{
    const struct cpu_team team = team_of(s->device, t);
    struct cpu_gather_args args;
    args.point_bytes = c->group[g]->aff_bytes;
    TRY(range_check(t, out, "the gathered points", 0, (size_t)index_count * args.point_bytes, 1));
    TRY(range_check(t, points, "the points", points_offset, (size_t)count * args.point_bytes, 1));
    TRY(range_check(t, index, "the list of points", 0, (size_t)index_count * sizeof *args.index, 4));
    args.out = out->data;
    args.points = points->data + points_offset;
    args.index = (const uint32_t *)(const void *)index->data;
    args.count = count;
    args.index_count = index_count;
    return cpu_gather_run(&team, &args);
}

static cuzk_status cpu_gather_bits(struct stream *s, struct task *t, struct buffer *out, const struct buffer *bits, size_t bits_offset,
                                   size_t bits_stride, unsigned bitmap_count, const struct buffer *list, uint64_t count, uint32_t first)
{
    const struct cpu_team team = team_of(s->device, t);
    struct cpu_gather_bits_args args;
    TRY(range_check(t, out, "the gathered bitmaps", 0, bitmap_bytes(count) * bitmap_count, 4));
    TRY(range_check(t, bits, "the bitmaps", bits_offset, bits_stride * bitmap_count, 4));
    TRY(range_check(t, list, "the list of bits", 0, (size_t)count * sizeof *args.list, 4));
    args.out = (uint32_t *)(void *)out->data;
    args.bits = (const uint32_t *)(const void *)(bits->data + bits_offset);
    args.list = (const uint32_t *)(const void *)list->data;
    args.stride_words = bits_stride / 4;
    args.bitmap_count = bitmap_count;
    args.count = count;
    args.first = first;
    return cpu_gather_bits_run(&team, &args);
}

static cuzk_status cpu_fixed_base(struct stream *s, struct task *t, const struct curve *c, enum group_id g,
                                  struct buffer *points, size_t points_offset, const struct g_aff *base,
                                  const struct buffer *scalars, size_t scalars_offset, uint64_t count)
{
    const struct cpu_team team = team_of(s->device, t);
    struct cpu_fixed_base_args args;
    TRY(range_check(t, points, "the points", points_offset, (size_t)count * c->group[g]->aff_bytes, 1));
    TRY(range_check(t, scalars, "the scalars", scalars_offset, 32 * (size_t)count, 1));
    args.curve = c;
    args.group = c->group[g];
    args.points = points->data + points_offset;
    args.base = base;
    args.scalars = scalars->data + scalars_offset;
    args.count = count;
    return s->device->kernels[curve_index(c)]->fixed_base[g](&team, &args);
}

static cuzk_status cpu_group_ntt(struct stream *s, struct task *t, const struct group_ntt_plan *p,
                                 struct buffer *points, unsigned first_pass, unsigned pass_count,
                                 struct buffer *workspace)
{
    const struct cpu_team team = team_of(s->device, t);
    const struct curve *c = p->domain.curve;
    (void)workspace;
    TRY(range_check(t, points, "the points of a transform", 0, (size_t)p->domain.size * c->g1.aff_bytes, 1));
    if (first_pass > p->pass_count || pass_count > p->pass_count - first_pass)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "passes %u to %u of a transform of %u", first_pass,
                    first_pass + pass_count, p->pass_count);
    return s->device->kernels[curve_index(c)]->group_ntt(&team, p, points->data, first_pass, pass_count);
}

const struct backend backend_cpu = {
    .name = "cpu",
#if defined(__x86_64__)
    .targets = "avx512-ifma, mulx/adx, portable",
#else
    .targets = "portable",
#endif
    .host_elements = true,
    .reads_host_memory = true,
    .value_cost = 0.2, /* measured: see docs/performance.md */
    .call_cost = 2000,
    .probe = cpu_probe,
    .open = cpu_open,
    .close = cpu_close,
    .info = cpu_info,
    .buffer_take = cpu_buffer_take,
    .buffer_give = cpu_buffer_give,
    .stream_open = cpu_stream_open,
    .stream_close = cpu_stream_close,
    .copies_open = cpu_stream_open,
    .stream_wait = cpu_stream_wait,
    .stream_sync = cpu_stream_sync,
    .upload = cpu_upload,
    .download = cpu_download,
    .msm_plan = cpu_msm_plan,
    .quotient_plan = cpu_quotient_plan,
    .eval_plan = cpu_eval_plan,
    .bit_sum_plan = cpu_bit_sum_plan,
    .classify_plan = cpu_classify_plan,
    .group_ntt_plan = cpu_group_ntt_plan,
    .eval = cpu_eval,
    .quotient = cpu_quotient,
    .ntt = cpu_ntt,
    .msm = cpu_msm,
    .fixed_base = cpu_fixed_base,
    .bit_sum = cpu_bit_sum,
    .classify = cpu_classify,
    .gather_points = cpu_gather_points,
    .gather_bits = cpu_gather_bits,
    .group_ntt = cpu_group_ntt,
};
