/* Rows of a constraint matrix times the witness, in neutral names.
 *
 * Takes  FE  prefix of the scalar field.
 * A coefficient is stored as v R, the witness as the plain w: their Montgomery product is the plain v w, so sums are kept plain (1 and
 * -1 cost an addition) and one product by R^2 a row makes the result Montgomery.  No converted copy of the witness is needed. */
#include "field/fe_names.h"

#define EVAL_ROWS 1024 /* of one task */

struct eval_run {
    const struct csr *m;
    const struct witness *w;
    fe_t *out;
    uint64_t out_count;
};

static void eval_rows(void *context, size_t index, unsigned slot)
{
    const struct eval_run *e = (const struct eval_run *)context;
    const struct csr *m = e->m;
    const uint64_t first = (uint64_t)index * EVAL_ROWS;
    const uint64_t last = e->out_count - first < EVAL_ROWS ? e->out_count : first + EVAL_ROWS;
    (void)slot;
    for (uint64_t row = first; row < last; row++) {
        fe_t sum, v;
        fe_set_zero(&sum);
        if (row < m->row_count) {
            for (uint64_t i = m->row_start[row]; i < m->row_start[row + 1]; i++) {
                const uint32_t k = m->coefficient[i];
                fe_load(&v, e->w->values.data + 32 * (uint64_t)m->column[i]);
                if (k == 0)
                    fe_add(&sum, &sum, &v);
                else if (k == 1)
                    fe_sub(&sum, &sum, &v);
                else {
                    fe_t coefficient;
                    fe_load(&coefficient, (const uint8_t *)m->dictionary[k].w);
                    fe_mul(&v, &v, &coefficient);
                    fe_add(&sum, &sum, &v);
                }
            }
            fe_int plain;
            memcpy(plain.l, sum.l, sizeof plain.l);
            fe_from_int(&sum, &plain);
        }
        e->out[row] = sum;
    }
}

static cuzk_status eval_matrix(const struct cpu_team *team, const struct csr *m, const struct witness *w,
                               struct fr *out, uint64_t out_count)
{
    struct eval_run e = { m, w, (fe_t *)(void *)out, out_count };
    return cpu_run(team, (size_t)((out_count + EVAL_ROWS - 1) / EVAL_ROWS), eval_rows, &e);
}

#include "field/fe_unnames.h"
#undef EVAL_ROWS
