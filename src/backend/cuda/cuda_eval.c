/* Constraint evaluation on CUDA: the matrix and the witness are sent to the workspace, then one pass over the rows. */
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/eval_kernels.h"

#include <string.h>

struct layout {
    size_t row_start, column, coefficient, dictionary, witness, long_rows, bytes;
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
    l.witness = place(&at, m->column_count, 32);
    l.long_rows = place(&at, m->row_count + 1, sizeof(uint32_t));
    l.bytes = at;
    return l;
}

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
    out->workspace_bytes = layout_of(m).bytes;
    return CUZK_OK;
}

cuzk_status cuda_eval(struct stream *s, struct task *t, const struct eval_plan *p, struct buffer *out, const struct csr *m, const struct witness *w,
                      struct buffer *workspace)
{
    const struct layout l = layout_of(m);
    uint8_t *to, *ws;
    TRY(cuda_range(t, s->device, out, "the vector of an evaluation", 0, 32 * (size_t)p->out_count, &to));
    TRY(cuda_range(t, s->device, workspace, "the workspace of an evaluation", 0, l.bytes, &ws));
    if (w->count < m->column_count || w->values.size / 32 < m->column_count || m->row_count != p->row_count)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a witness of %llu values for a matrix of %llu columns", (unsigned long long)w->count,
                    (unsigned long long)m->column_count);
    TRY(cuda_upload(s, t, ws + l.row_start, m->row_start, (m->row_count + 1) * sizeof *m->row_start));
    TRY(cuda_upload(s, t, ws + l.column, m->column, m->entry_count * sizeof *m->column));
    TRY(cuda_upload(s, t, ws + l.coefficient, m->coefficient, m->entry_count * sizeof *m->coefficient));
    TRY(cuda_upload(s, t, ws + l.dictionary, m->dictionary, m->dictionary_count * sizeof *m->dictionary));
    TRY(cuda_upload(s, t, ws + l.witness, w->values.data, m->column_count * 32));
    const struct eval_matrix matrix = {
        .row_start = (const uint64_t *)(void *)(ws + l.row_start), .column = (const uint32_t *)(void *)(ws + l.column),
        .coefficient = (const uint32_t *)(void *)(ws + l.coefficient), .dictionary = ws + l.dictionary, .witness = ws + l.witness,
        .row_count = m->row_count, .out_count = p->out_count, .long_rows = (uint32_t *)(void *)(ws + l.long_rows),
    };
    if (w->curve->id == CURVE_BLS12_381) CU(t, eval_bls12_381_rows(to, &matrix, s->device->sm_count, s->handle));
    else CU(t, eval_bn254_rows(to, &matrix, s->device->sm_count, s->handle));
    return CUZK_OK;
}
