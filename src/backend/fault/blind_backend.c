/* The CPU backend as if its memory were a GPU's. */
#include "backend/fault/blind_backend.h"

#include "backend/fault/fault_backend.h"
#include "base/arena.h"

#include <string.h>

/* Added to a real address: no processor in use has memory there. */
#define VEIL ((uintptr_t)1 << 62)

static atomic_uint_least64_t taken, uploaded;

uint64_t blind_bytes_taken(void) { return atomic_load(&taken); }
uint64_t blind_bytes_uploaded(void) { return atomic_load(&uploaded); }

static uint8_t *veiled(const uint8_t *p) { return (uint8_t *)((uintptr_t)p + VEIL); }
static uint8_t *unveiled(const uint8_t *p) { return (uint8_t *)((uintptr_t)p - VEIL); }

/* The same buffer where the CPU can reach it. */
static struct buffer bare(const struct buffer *b)
{
    struct buffer out = *b;
    if (b->kind == MEM_DEVICE && b->data) out.data = unveiled(b->data);
    return out;
}

static cuzk_status operand(struct task *t, struct buffer *out, const struct buffer *b, const char *what)
{
    *out = bare(b);
    if (b->kind != MEM_DEVICE)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%s is not in this device's memory", what);
    return CUZK_OK;
}

static cuzk_status blind_probe(struct task *t, struct device_info *out, size_t max, size_t *count)
{
    return backend_fault.probe(t, out, max, count);
}

static cuzk_status blind_open(struct device **out, struct task *t, const struct device_options *o)
{
    return backend_fault.open(out, t, o);
}

static void blind_close(struct device *d) { backend_fault.close(d); }
static void blind_info(const struct device *d, struct device_info *out) { backend_fault.info(d, out); }

static cuzk_status blind_buffer_take(struct buffer *out, struct task *t, struct device *d, enum mem_kind kind,
                                     size_t bytes, unsigned flags)
{
    TRY(backend_fault.buffer_take(out, t, d, kind, bytes, flags));
    if (kind == MEM_DEVICE) {
        atomic_fetch_add(&taken, bytes);
        out->data = veiled(out->data);
    }
    return CUZK_OK;
}

static void blind_buffer_give(struct buffer *b)
{
    struct buffer real = bare(b);
    if (b->kind == MEM_DEVICE && b->data && !(b->flags & BUFFER_BORROWED)) atomic_fetch_sub(&taken, b->bytes);
    backend_fault.buffer_give(&real);
    memset(b, 0, sizeof *b);
}

static cuzk_status blind_stream_open(struct stream **out, struct task *t, struct device *d)
{
    return backend_fault.stream_open(out, t, d);
}

static void blind_stream_close(struct stream *s) { backend_fault.stream_close(s); }
static cuzk_status blind_stream_wait(struct stream *s, struct task *t, struct stream *other) { return backend_fault.stream_wait(s, t, other); }

static cuzk_status blind_stream_sync(struct stream *s, struct task *t)
{
    return backend_fault.stream_sync(s, t);
}

static cuzk_status blind_upload(struct stream *s, struct task *t, struct buffer *to, size_t to_offset,
                                const void *from, size_t bytes)
{
    struct buffer real = bare(to);
    if (to->kind == MEM_DEVICE) atomic_fetch_add(&uploaded, bytes);
    return backend_fault.upload(s, t, &real, to_offset, from, bytes);
}

static cuzk_status blind_download(struct stream *s, struct task *t, void *to, const struct buffer *from,
                                  size_t from_offset, size_t bytes)
{
    const struct buffer real = bare(from);
    return backend_fault.download(s, t, to, &real, from_offset, bytes);
}

/* -- plans: the CPU's -- */

static cuzk_status blind_msm_plan(struct msm_plan *out, struct task *t, const struct device *d,
                                  const struct curve *c, enum group_id g, uint64_t count)
{
    return backend_fault.msm_plan(out, t, d, c, g, count);
}

static cuzk_status blind_quotient_plan(struct quotient_plan *out, struct task *t, const struct device *d,
                                       const struct domain *domain, enum quotient_mode mode)
{
    return backend_fault.quotient_plan(out, t, d, domain, mode);
}

/* The matrix as it lies in a buffer. */
struct layout {
    size_t row_start, column, coefficient, dictionary, bytes;
};

static size_t place(size_t *at, uint64_t count, size_t size)
{
    const size_t here = *at;
    *at += arena_round((size_t)count * size);
    return here;
}

static struct layout layout_of(const struct csr *m)
{
    struct layout l;
    l.bytes = 0;
    l.row_start = place(&l.bytes, m->row_count + 1, sizeof *m->row_start);
    l.column = place(&l.bytes, m->entry_count, sizeof *m->column);
    l.coefficient = place(&l.bytes, m->entry_count, sizeof *m->coefficient);
    l.dictionary = place(&l.bytes, m->dictionary_count, sizeof *m->dictionary);
    return l;
}

static size_t blind_matrix_bytes(const struct csr *m) { return layout_of(m).bytes; }

/* Beside the CPU's own workspace, as on a GPU, the matrix and the witness of an eval that brings them. */
static cuzk_status blind_eval_plan(struct eval_plan *out, struct task *t, const struct device *d,
                                   const struct csr *m, uint64_t out_count)
{
    TRY(backend_fault.eval_plan(out, t, d, m, out_count));
    out->resident_workspace_bytes = out->workspace_bytes;
    out->workspace_bytes += layout_of(m).bytes + arena_round(32 * m->column_count);
    return CUZK_OK;
}

/* -- operations -- */

static cuzk_status blind_matrix_upload(struct stream *s, struct task *t, struct buffer *matrix,
                                       const struct csr *m)
{
    const struct layout l = layout_of(m);
    TRY(blind_upload(s, t, matrix, l.row_start, m->row_start, (m->row_count + 1) * sizeof *m->row_start));
    TRY(blind_upload(s, t, matrix, l.column, m->column, m->entry_count * sizeof *m->column));
    TRY(blind_upload(s, t, matrix, l.coefficient, m->coefficient, m->entry_count * sizeof *m->coefficient));
    return blind_upload(s, t, matrix, l.dictionary, m->dictionary,
                        m->dictionary_count * sizeof *m->dictionary);
}

static cuzk_status blind_eval_resident(struct stream *s, struct task *t, const struct eval_plan *p,
                                       const struct curve *c, struct buffer *out, const struct csr *m,
                                       const struct buffer *matrix, const struct buffer *w,
                                       struct buffer *workspace)
{
    const struct layout l = layout_of(m);
    struct buffer to, from, values, scratch;
    TRY(operand(t, &to, out, "the vector of an evaluation"));
    TRY(operand(t, &from, matrix, "the matrix of an evaluation"));
    TRY(operand(t, &values, w, "the witness of an evaluation"));
    TRY(operand(t, &scratch, workspace, "the workspace of an evaluation"));
    if (from.bytes < l.bytes || values.bytes < 32 * m->column_count)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a matrix of %zu bytes in %zu, %llu values in %zu bytes",
                    l.bytes, from.bytes, (unsigned long long)m->column_count, values.bytes);
    struct csr here = *m;
    here.row_start = (uint64_t *)(void *)(from.data + l.row_start);
    here.column = (uint32_t *)(void *)(from.data + l.column);
    here.coefficient = (uint32_t *)(void *)(from.data + l.coefficient);
    here.dictionary = (struct fr *)(void *)(from.data + l.dictionary);
    const struct witness witness = { .curve = c,
                                     .values = span_of(values.data, 32 * m->column_count),
                                     .count = m->column_count };
    return backend_fault.eval(s, t, p, &to, &here, &witness, &scratch);
}

static cuzk_status blind_eval(struct stream *s, struct task *t, const struct eval_plan *p, struct buffer *out,
                              const struct csr *m, const struct witness *w, struct buffer *workspace)
{
    const size_t matrix_bytes = layout_of(m).bytes, values_bytes = arena_round(32 * m->column_count),
                 bytes = matrix_bytes + values_bytes;
    if (workspace->bytes < p->workspace_bytes || w->values.size / 32 < m->column_count)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "an evaluation in %zu bytes with %zu bytes of values",
                    workspace->bytes, w->values.size);
    struct buffer matrix = buffer_piece(workspace, 0, matrix_bytes),
                  values = buffer_piece(workspace, matrix_bytes, values_bytes),
                  rest = buffer_piece(workspace, bytes, workspace->bytes - bytes);
    TRY(blind_matrix_upload(s, t, &matrix, m));
    TRY(blind_upload(s, t, &values, 0, w->values.data, 32 * m->column_count));
    return blind_eval_resident(s, t, p, w->curve, out, m, &matrix, &values, &rest);
}

static cuzk_status blind_quotient(struct stream *s, struct task *t, const struct quotient_plan *p,
                                  struct buffer *scalars, struct buffer *a, struct buffer *b,
                                  struct buffer *workspace)
{
    struct buffer real[4];
    TRY(operand(t, &real[0], scalars, "the scalars of a quotient"));
    TRY(operand(t, &real[1], a, "vector a of a quotient"));
    TRY(operand(t, &real[2], b, "vector b of a quotient"));
    TRY(operand(t, &real[3], workspace, "the workspace of a quotient"));
    return backend_fault.quotient(s, t, p, &real[0], &real[1], &real[2], &real[3]);
}

static cuzk_status blind_ntt(struct stream *s, struct task *t, const struct domain *d, struct buffer *data,
                             bool inverse, bool coset)
{
    struct buffer real;
    TRY(operand(t, &real, data, "the vector of a transform"));
    return backend_fault.ntt(s, t, d, &real, inverse, coset);
}

static cuzk_status blind_msm(struct stream *s, struct task *t, const struct msm_plan *p, struct g_jac *out,
                             const struct buffer *points, size_t points_offset, const struct buffer *scalars,
                             size_t scalars_offset, const struct buffer *gather, struct buffer *workspace)
{
    struct buffer real[4];
    TRY(operand(t, &real[0], points, "the points of a sum"));
    TRY(operand(t, &real[1], scalars, "the scalars of a sum"));
    if (gather) TRY(operand(t, &real[2], gather, "the gather list of a sum"));
    TRY(operand(t, &real[3], workspace, "the workspace of a sum"));
    return backend_fault.msm(s, t, p, out, &real[0], points_offset, &real[1], scalars_offset,
                             gather ? &real[2] : NULL, &real[3]);
}

static cuzk_status blind_bit_sum_plan(struct bit_sum_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g,
                                      uint64_t count, unsigned bitmap_count)
{
    return backend_fault.bit_sum_plan(out, t, d, c, g, count, bitmap_count);
}

static cuzk_status blind_classify_plan(struct classify_plan *out, struct task *t, const struct device *d, uint64_t count, uint64_t wide_max)
{
    return backend_fault.classify_plan(out, t, d, count, wide_max);
}

static cuzk_status blind_bit_sum(struct stream *s, struct task *t, const struct bit_sum_plan *p, struct g_jac *out, const struct buffer *points,
                                 size_t points_offset, const struct buffer *bitmaps, size_t bitmaps_offset, struct buffer *workspace)
{
    struct buffer real[3];
    TRY(operand(t, &real[0], points, "the points of a sweep"));
    TRY(operand(t, &real[1], bitmaps, "the bitmaps of a sweep"));
    TRY(operand(t, &real[2], workspace, "the workspace of a sweep"));
    return backend_fault.bit_sum(s, t, p, out, &real[0], points_offset, &real[1], bitmaps_offset, &real[2]);
}

static cuzk_status blind_classify(struct stream *s, struct task *t, const struct classify_plan *p, struct buffer *counts, struct buffer *bitmap,
                                  struct buffer *index, struct buffer *values, const struct buffer *scalars, size_t scalars_offset,
                                  const struct buffer *gather, struct buffer *workspace)
{
    struct buffer real[7];
    TRY(operand(t, &real[0], counts, "the counts"));
    TRY(operand(t, &real[1], bitmap, "the bitmap of ones"));
    TRY(operand(t, &real[2], index, "the list of wide values"));
    TRY(operand(t, &real[3], values, "the wide values"));
    TRY(operand(t, &real[4], scalars, "the scalars"));
    if (gather) TRY(operand(t, &real[5], gather, "the gather list"));
    TRY(operand(t, &real[6], workspace, "the workspace of telling values apart"));
    return backend_fault.classify(s, t, p, &real[0], &real[1], &real[2], &real[3], &real[4], scalars_offset, gather ? &real[5] : NULL, &real[6]);
}

static cuzk_status blind_gather_points(struct stream *s, struct task *t, const struct curve *c, enum group_id g, struct buffer *out,
                                       const struct buffer *points, size_t points_offset, uint64_t count, const struct buffer *index,
                                       uint64_t index_count)
{
    struct buffer real[3];
    TRY(operand(t, &real[0], out, "the gathered points"));
    TRY(operand(t, &real[1], points, "the points"));
    TRY(operand(t, &real[2], index, "the list of points"));
    return backend_fault.gather_points(s, t, c, g, &real[0], &real[1], points_offset, count, &real[2], index_count);
}

static cuzk_status blind_gather_bits(struct stream *s, struct task *t, struct buffer *out, const struct buffer *bits, size_t bits_offset,
                                     size_t bits_stride, unsigned bitmap_count, const struct buffer *list, uint64_t count, uint32_t first)
{
    struct buffer real[3];
    TRY(operand(t, &real[0], out, "the gathered bitmaps"));
    TRY(operand(t, &real[1], bits, "the bitmaps"));
    TRY(operand(t, &real[2], list, "the list of bits"));
    return backend_fault.gather_bits(s, t, &real[0], &real[1], bits_offset, bits_stride, bitmap_count, &real[2], count, first);
}

static cuzk_status blind_fixed_base(struct stream *s, struct task *t, const struct curve *c, enum group_id g,
                                    struct buffer *points, size_t points_offset, const struct g_aff *base,
                                    const struct buffer *scalars, size_t scalars_offset, uint64_t count)
{
    struct buffer real[2];
    TRY(operand(t, &real[0], points, "the points"));
    TRY(operand(t, &real[1], scalars, "the scalars"));
    return backend_fault.fixed_base(s, t, c, g, &real[0], points_offset, base, &real[1], scalars_offset,
                                    count);
}

static cuzk_status blind_group_ntt_plan(struct group_ntt_plan *out, struct task *t, const struct device *d,
                                        const struct domain *domain, bool inverse, const struct fr *scale,
                                        const struct fr *step)
{
    return backend_fault.group_ntt_plan(out, t, d, domain, inverse, scale, step);
}

static cuzk_status blind_group_ntt(struct stream *s, struct task *t, const struct group_ntt_plan *p,
                                   struct buffer *points, unsigned first_pass, unsigned pass_count,
                                   struct buffer *workspace)
{
    struct buffer real[2];
    TRY(operand(t, &real[0], points, "the points of a transform"));
    TRY(operand(t, &real[1], workspace, "the workspace of a transform"));
    return backend_fault.group_ntt(s, t, p, &real[0], first_pass, pass_count, &real[1]);
}

const struct backend backend_blind = {
    .name = "blind",
    .targets = "as cpu",
    .probe = blind_probe,
    .open = blind_open,
    .close = blind_close,
    .info = blind_info,
    .buffer_take = blind_buffer_take,
    .buffer_give = blind_buffer_give,
    .stream_open = blind_stream_open,
    .stream_close = blind_stream_close,
    .copies_open = blind_stream_open,
    .stream_wait = blind_stream_wait,
    .stream_sync = blind_stream_sync,
    .upload = blind_upload,
    .download = blind_download,
    .msm_plan = blind_msm_plan,
    .quotient_plan = blind_quotient_plan,
    .eval_plan = blind_eval_plan,
    .bit_sum_plan = blind_bit_sum_plan,
    .classify_plan = blind_classify_plan,
    .group_ntt_plan = blind_group_ntt_plan,
    .eval = blind_eval,
    .matrix_bytes = blind_matrix_bytes,
    .matrix_upload = blind_matrix_upload,
    .eval_resident = blind_eval_resident,
    .quotient = blind_quotient,
    .ntt = blind_ntt,
    .msm = blind_msm,
    .fixed_base = blind_fixed_base,
    .bit_sum = blind_bit_sum,
    .classify = blind_classify,
    .gather_points = blind_gather_points,
    .gather_bits = blind_gather_bits,
    .group_ntt = blind_group_ntt,
};
