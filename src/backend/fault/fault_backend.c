/* The CPU backend with a call that fails. */
#include "backend/fault/fault_backend.h"

#include "backend/cpu/cpu_device.h"

#include <string.h>

static atomic_uint_least64_t calls;
static atomic_uint_least64_t fails_at = UINT64_MAX;
static atomic_uint_least64_t fails_every, sums, wrong_every;
static atomic_int fails_with;

void fault_arm(uint64_t n, cuzk_status status)
{
    atomic_store(&fails_with, (int)status);
    atomic_store(&calls, 0);
    atomic_store(&fails_at, n);
}

void fault_every(uint64_t n, cuzk_status status, uint64_t wrong_n)
{
    atomic_store(&fails_with, (int)status);
    atomic_store(&fails_every, n);
    atomic_store(&wrong_every, wrong_n);
}

uint64_t fault_disarm(void)
{
    fault_every(0, CUZK_OK, 0);
    atomic_store(&fails_at, UINT64_MAX);
    return atomic_load(&calls);
}

/* Counts a call; fails if it is the one. */
static cuzk_status count(struct task *t, const char *call)
{
    const uint64_t n = atomic_fetch_add(&calls, 1), every = atomic_load(&fails_every);
    if (n != atomic_load(&fails_at) && (every == 0 || (n + 1) % every != 0)) return CUZK_OK;
    return FAIL(t, (cuzk_status)atomic_load(&fails_with), "fault injected at backend call %llu, %s",
                (unsigned long long)n, call);
}

static cuzk_status fault_probe(struct task *t, struct device_info *out, size_t max, size_t *device_count)
{
    TRY(count(t, "probe"));
    return backend_cpu.probe(t, out, max, device_count);
}

static cuzk_status fault_open(struct device **out, struct task *t, const struct device_options *o)
{
    *out = NULL;
    TRY(count(t, "open"));
    return backend_cpu.open(out, t, o);
}

static cuzk_status fault_buffer_take(struct buffer *out, struct task *t, struct device *d, enum mem_kind kind,
                                     size_t bytes, unsigned flags)
{
    memset(out, 0, sizeof *out);
    TRY(count(t, "buffer_take"));
    return backend_cpu.buffer_take(out, t, d, kind, bytes, flags);
}

static cuzk_status fault_stream_open(struct stream **out, struct task *t, struct device *d)
{
    *out = NULL;
    TRY(count(t, "stream_open"));
    return backend_cpu.stream_open(out, t, d);
}

static cuzk_status fault_stream_wait(struct stream *s, struct task *t, struct stream *other)
{
    TRY(count(t, "stream_wait"));
    return backend_cpu.stream_wait(s, t, other);
}

static cuzk_status fault_stream_sync(struct stream *s, struct task *t)
{
    TRY(count(t, "stream_sync"));
    return backend_cpu.stream_sync(s, t);
}

static cuzk_status fault_upload(struct stream *s, struct task *t, struct buffer *to, size_t to_offset,
                                const void *from, size_t bytes)
{
    TRY(count(t, "upload"));
    return backend_cpu.upload(s, t, to, to_offset, from, bytes);
}

static cuzk_status fault_download(struct stream *s, struct task *t, void *to, const struct buffer *from,
                                  size_t from_offset, size_t bytes)
{
    TRY(count(t, "download"));
    return backend_cpu.download(s, t, to, from, from_offset, bytes);
}

static cuzk_status fault_msm_plan(struct msm_plan *out, struct task *t, const struct device *d,
                                  const struct curve *c, enum group_id g, uint64_t point_count)
{
    TRY(count(t, "msm_plan"));
    return backend_cpu.msm_plan(out, t, d, c, g, point_count);
}

static cuzk_status fault_quotient_plan(struct quotient_plan *out, struct task *t, const struct device *d,
                                       const struct domain *domain, enum quotient_mode mode)
{
    TRY(count(t, "quotient_plan"));
    return backend_cpu.quotient_plan(out, t, d, domain, mode);
}

static cuzk_status fault_eval_plan(struct eval_plan *out, struct task *t, const struct device *d,
                                   const struct csr *m, uint64_t out_count)
{
    TRY(count(t, "eval_plan"));
    return backend_cpu.eval_plan(out, t, d, m, out_count);
}

static cuzk_status fault_bit_sum_plan(struct bit_sum_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g,
                                      uint64_t point_count, unsigned bitmap_count)
{
    TRY(count(t, "bit_sum_plan"));
    return backend_cpu.bit_sum_plan(out, t, d, c, g, point_count, bitmap_count);
}

static cuzk_status fault_classify_plan(struct classify_plan *out, struct task *t, const struct device *d, uint64_t value_count, uint64_t wide_max)
{
    TRY(count(t, "classify_plan"));
    return backend_cpu.classify_plan(out, t, d, value_count, wide_max);
}

static cuzk_status fault_bit_sum(struct stream *s, struct task *t, const struct bit_sum_plan *p, struct g_jac *out, const struct buffer *points,
                                 size_t points_offset, const struct buffer *bitmaps, size_t bitmaps_offset, struct buffer *workspace)
{
    TRY(count(t, "bit_sum"));
    return backend_cpu.bit_sum(s, t, p, out, points, points_offset, bitmaps, bitmaps_offset, workspace);
}

static cuzk_status fault_classify(struct stream *s, struct task *t, const struct classify_plan *p, struct buffer *counts, struct buffer *bitmap,
                                  struct buffer *index, struct buffer *values, const struct buffer *scalars, size_t scalars_offset,
                                  const struct buffer *gather, struct buffer *workspace)
{
    TRY(count(t, "classify"));
    return backend_cpu.classify(s, t, p, counts, bitmap, index, values, scalars, scalars_offset, gather, workspace);
}

static cuzk_status fault_gather_points(struct stream *s, struct task *t, const struct curve *c, enum group_id g, struct buffer *out,
                                       const struct buffer *points, size_t points_offset, uint64_t point_count, const struct buffer *index,
                                       uint64_t index_count)
{
    TRY(count(t, "gather_points"));
    return backend_cpu.gather_points(s, t, c, g, out, points, points_offset, point_count, index, index_count);
}

static cuzk_status fault_gather_bits(struct stream *s, struct task *t, struct buffer *out, const struct buffer *bits, size_t bits_offset,
                                     size_t bits_stride, unsigned bitmap_count, const struct buffer *list, uint64_t bit_count, uint32_t first)
{
    TRY(count(t, "gather_bits"));
    return backend_cpu.gather_bits(s, t, out, bits, bits_offset, bits_stride, bitmap_count, list, bit_count, first);
}

static cuzk_status fault_eval(struct stream *s, struct task *t, const struct eval_plan *p, struct buffer *out,
                              const struct csr *m, const struct witness *w, struct buffer *workspace)
{
    TRY(count(t, "eval"));
    return backend_cpu.eval(s, t, p, out, m, w, workspace);
}

static cuzk_status fault_quotient(struct stream *s, struct task *t, const struct quotient_plan *p,
                                  struct buffer *scalars, struct buffer *a, struct buffer *b,
                                  struct buffer *workspace)
{
    TRY(count(t, "quotient"));
    return backend_cpu.quotient(s, t, p, scalars, a, b, workspace);
}

static cuzk_status fault_ntt(struct stream *s, struct task *t, const struct domain *d, struct buffer *data,
                             bool inverse, bool coset)
{
    TRY(count(t, "ntt"));
    return backend_cpu.ntt(s, t, d, data, inverse, coset);
}

static cuzk_status fault_msm(struct stream *s, struct task *t, const struct msm_plan *p, struct g_jac *out,
                             const struct buffer *points, size_t points_offset, const struct buffer *scalars,
                             size_t scalars_offset, const struct buffer *gather, struct buffer *workspace)
{
    const struct group *g = p->curve->group[p->group];
    const uint64_t every = atomic_load(&wrong_every);

    TRY(count(t, "msm"));
    TRY(backend_cpu.msm(s, t, p, out, points, points_offset, scalars, scalars_offset, gather, workspace));
    if (every != 0 && (atomic_fetch_add(&sums, 1) + 1) % every == 0) g->jac_add_aff(out, out, &g->generator);
    return CUZK_OK;
}

static cuzk_status fault_fixed_base(struct stream *s, struct task *t, const struct curve *c, enum group_id g,
                                    struct buffer *points, size_t points_offset, const struct g_aff *base,
                                    const struct buffer *scalars, size_t scalars_offset, uint64_t point_count)
{
    TRY(count(t, "fixed_base"));
    return backend_cpu.fixed_base(s, t, c, g, points, points_offset, base, scalars, scalars_offset,
                                  point_count);
}

static cuzk_status fault_group_ntt_plan(struct group_ntt_plan *out, struct task *t, const struct device *d,
                                        const struct domain *domain, bool inverse, const struct fr *scale,
                                        const struct fr *step)
{
    TRY(count(t, "group_ntt_plan"));
    return backend_cpu.group_ntt_plan(out, t, d, domain, inverse, scale, step);
}

static cuzk_status fault_group_ntt(struct stream *s, struct task *t, const struct group_ntt_plan *p,
                                   struct buffer *points, unsigned first_pass, unsigned pass_count,
                                   struct buffer *workspace)
{
    TRY(count(t, "group_ntt"));
    return backend_cpu.group_ntt(s, t, p, points, first_pass, pass_count, workspace);
}

static void fault_close(struct device *d) { backend_cpu.close(d); }
static void fault_info(const struct device *d, struct device_info *out) { backend_cpu.info(d, out); }
static void fault_buffer_give(struct buffer *b) { backend_cpu.buffer_give(b); }
static void fault_stream_close(struct stream *s) { backend_cpu.stream_close(s); }

const struct backend backend_fault = {
    .name = "fault",
    .targets = "as cpu",
    .host_elements = true,
    .reads_host_memory = true,
    .close = fault_close,
    .info = fault_info,
    .buffer_give = fault_buffer_give,
    .stream_close = fault_stream_close,
    .probe = fault_probe,
    .open = fault_open,
    .buffer_take = fault_buffer_take,
    .stream_open = fault_stream_open,
    .copies_open = fault_stream_open,
    .stream_wait = fault_stream_wait,
    .stream_sync = fault_stream_sync,
    .upload = fault_upload,
    .download = fault_download,
    .msm_plan = fault_msm_plan,
    .quotient_plan = fault_quotient_plan,
    .eval_plan = fault_eval_plan,
    .bit_sum_plan = fault_bit_sum_plan,
    .classify_plan = fault_classify_plan,
    .group_ntt_plan = fault_group_ntt_plan,
    .eval = fault_eval,
    .quotient = fault_quotient,
    .ntt = fault_ntt,
    .msm = fault_msm,
    .fixed_base = fault_fixed_base,
    .bit_sum = fault_bit_sum,
    .classify = fault_classify,
    .gather_points = fault_gather_points,
    .gather_bits = fault_gather_bits,
    .group_ntt = fault_group_ntt,
};
