/* Constraint evaluation on CUDA: one pass over the rows of a matrix in device memory, which is sent to the workspace first or is there. */
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/eval_kernels.h"

#include <string.h>

struct layout {
    size_t row_start, column, coefficient, dictionary, bytes;
};

static size_t place(size_t *at, uint64_t count, size_t size)
{
    const size_t here = *at;
    *at += ((size_t)count * size + 255) & ~(size_t)255;
    return here;
}

static struct layout layout_of(const struct csr *m)
{
    struct layout l;
    size_t at = 0;
    l.row_start = place(&at, m->row_count + 1, sizeof *m->row_start);
    l.column = place(&at, m->entry_count, sizeof *m->column);
    l.coefficient = place(&at, m->entry_count, sizeof *m->coefficient);
    l.dictionary = place(&at, m->dictionary_count, sizeof *m->dictionary);
    l.bytes = at;
    return l;
}

static size_t round_up(uint64_t bytes) { return ((size_t)bytes + 255) & ~(size_t)255; }
static size_t long_rows_bytes(const struct csr *m) { return round_up((m->row_count + 1) * sizeof(uint32_t)); }

size_t cuda_matrix_bytes(const struct csr *m) { return layout_of(m).bytes; }

cuzk_status cuda_eval_plan(struct eval_plan *out, struct task *t, const struct device *d, const struct csr *m, uint64_t out_count)
{
    (void)d;
    if (m->row_count > out_count)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a matrix of %llu rows for a domain of %llu points", (unsigned long long)m->row_count,
                    (unsigned long long)out_count);
    if (m->row_count >= UINT32_MAX) return FAIL(t, CUZK_TOO_LARGE, "a matrix of %llu rows", (unsigned long long)m->row_count);
    memset(out, 0, sizeof *out);
    out->row_count = m->row_count;
    out->out_count = out_count;
    out->column_count = m->column_count;
    out->resident_workspace_bytes = long_rows_bytes(m);
    out->workspace_bytes = layout_of(m).bytes + round_up(m->column_count * 32) + long_rows_bytes(m);
    return CUZK_OK;
}

cuzk_status cuda_matrix_upload(struct stream *s, struct task *t, struct buffer *matrix, const struct csr *m)
{
    const struct layout l = layout_of(m);
    uint8_t *to;
    TRY(cuda_range(t, s->device, matrix, "a matrix", 0, l.bytes, &to));
    TRY(cuda_upload(s, t, to + l.row_start, m->row_start, (m->row_count + 1) * sizeof *m->row_start));
    TRY(cuda_upload(s, t, to + l.column, m->column, m->entry_count * sizeof *m->column));
    TRY(cuda_upload(s, t, to + l.coefficient, m->coefficient, m->entry_count * sizeof *m->coefficient));
    return cuda_upload(s, t, to + l.dictionary, m->dictionary, m->dictionary_count * sizeof *m->dictionary);
}

cuzk_status cuda_eval_resident(struct stream *s, struct task *t, const struct eval_plan *p, const struct curve *c, struct buffer *out,
                               const struct csr *m, const struct buffer *matrix, const struct buffer *w, struct buffer *workspace)
{
    const struct layout l = layout_of(m);
    uint8_t *to, *from, *values, *ws;
    TRY(cuda_range(t, s->device, out, "the vector of an evaluation", 0, 32 * (size_t)p->out_count, &to));
    TRY(cuda_range(t, s->device, matrix, "the matrix of an evaluation", 0, l.bytes, &from));
    TRY(cuda_range(t, s->device, w, "the witness of an evaluation", 0, 32 * m->column_count, &values));
    TRY(cuda_range(t, s->device, workspace, "the workspace of an evaluation", 0, p->resident_workspace_bytes, &ws));
    TRY(cuda_enter(t, s->device));
    const struct eval_matrix rows = {
        .row_start = (const uint64_t *)(void *)(from + l.row_start), .column = (const uint32_t *)(void *)(from + l.column),
        .coefficient = (const uint32_t *)(void *)(from + l.coefficient), .dictionary = from + l.dictionary, .witness = values,
        .row_count = m->row_count, .out_count = p->out_count, .long_rows = (uint32_t *)(void *)ws,
    };
    if (c->id == CURVE_BLS12_381) CU(t, eval_bls12_381_rows(to, &rows, s->device->sm_count, s->handle));
    else CU(t, eval_bn254_rows(to, &rows, s->device->sm_count, s->handle));
    return CUZK_OK;
}

cuzk_status cuda_eval(struct stream *s, struct task *t, const struct eval_plan *p, struct buffer *out, const struct csr *m, const struct witness *w,
                      struct buffer *workspace)
{
    const size_t matrix_bytes = layout_of(m).bytes, values_bytes = round_up(m->column_count * 32), bytes = matrix_bytes + values_bytes;
    uint8_t *ws;
    TRY(cuda_range(t, s->device, workspace, "the workspace of an evaluation", 0, p->workspace_bytes, &ws));
    if (w->count < m->column_count || w->values.size / 32 < m->column_count || m->row_count != p->row_count)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a witness of %llu values for a matrix of %llu columns", (unsigned long long)w->count,
                    (unsigned long long)m->column_count);
    struct buffer matrix = buffer_piece(workspace, 0, matrix_bytes), values = buffer_piece(workspace, matrix_bytes, values_bytes),
                  rest = buffer_piece(workspace, bytes, workspace->bytes - bytes);
    TRY(cuda_matrix_upload(s, t, &matrix, m));
    TRY(cuda_upload(s, t, ws + matrix_bytes, w->values.data, m->column_count * 32));
    return cuda_eval_resident(s, t, p, w->curve, out, m, &matrix, &values, &rest);
}
