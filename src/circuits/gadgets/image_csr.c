/* An image as three matrices, for circuits that are small enough. */
#include "circuits/gadgets/expand.h"
#include "base/grow.h"

#include <stdlib.h>

struct side {
    struct csr *m;
    uint64_t at;
    size_t dictionary_capacity;
};

struct filler {
    struct side side[3];
    uint32_t inputs;
    uint32_t shared; /* dictionary entries that are the image's */
};

/* A coefficient that merging made: behind the image's dictionary, once each. */
static cuzk_status extra_coefficient(struct task *t, struct side *s, uint32_t shared, const bls12_381_fr_t *k,
                                     uint32_t *out)
{
    struct csr *m = s->m;
    for (*out = shared; *out < m->dictionary_count; ++*out)
        if (memcmp(&m->dictionary[*out], k, sizeof *k) == 0) return CUZK_OK;
    if (!grow(&m->dictionary, &s->dictionary_capacity, (size_t)m->dictionary_count + 1,
              sizeof *m->dictionary))
        return FAIL(t, CUZK_NO_MEMORY, "no memory for a circuit's coefficients");
    memcpy(&m->dictionary[m->dictionary_count++], k, sizeof *k);
    return CUZK_OK;
}

static cuzk_status fill_row(void *context, struct task *t, const struct expanded_row *row)
{
    struct filler *f = context;
    for (int i = 0; i < 3; i++) {
        struct side *s = &f->side[i];
        s->m->row_start[row->index] = s->at;
        for (uint32_t j = 0; j < row->count[i]; j++) {
            const struct row_term *p = &row->side[i][j];
            uint32_t k = p->coefficient;
            if (k >= f->shared) TRY(extra_coefficient(t, s, f->shared, expanded_coefficient(row, k), &k));
            s->m->column[s->at] = p->var & VAR_AUX ? f->inputs + (p->var & ~VAR_AUX) : p->var;
            s->m->coefficient[s->at++] = k;
        }
    }
    return CUZK_OK;
}

static cuzk_status open_side(struct task *t, struct side *s, const struct circuit_image *m,
                             const struct circuit_totals *totals, int i)
{
    struct csr *c = s->m;
    c->row_count = totals->rows;
    c->column_count = totals->inputs + totals->aux;
    c->entry_count = totals->entries[i];
    c->row_start = malloc((c->row_count + 1) * sizeof *c->row_start);
    c->column = malloc((c->entry_count + 1) * sizeof *c->column);
    c->coefficient = malloc((c->entry_count + 1) * sizeof *c->coefficient);
    c->dictionary = malloc(m->coefficient_count * sizeof *c->dictionary);
    if (c->row_start == NULL || c->column == NULL || c->coefficient == NULL || c->dictionary == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for the matrices of circuit %s", m->name);
    memcpy(c->dictionary, m->coefficients, m->coefficient_count * sizeof *c->dictionary);
    c->dictionary_count = m->coefficient_count;
    s->dictionary_capacity = m->coefficient_count;
    return CUZK_OK;
}

cuzk_status image_csr(const struct circuit_image *m, struct task *t, struct csr out[3])
{
    struct filler f = { .inputs = image_circuit(m)->input_count, .shared = m->coefficient_count };
    struct circuit_totals totals;
    cuzk_status status;
    memset(out, 0, 3 * sizeof *out);
    TRY(image_totals(m, t, &totals));
    for (int i = 0; i < 3; i++) {
        f.side[i].m = &out[i];
        TRY_GOTO(out, open_side(t, &f.side[i], m, &totals, i));
    }
    TRY_GOTO(out, image_expand(m, t, fill_row, &f));
    for (int i = 0; i < 3; i++) out[i].row_start[totals.rows] = f.side[i].at;
    return CUZK_OK;
out:
    for (int i = 0; i < 3; i++) csr_fini(&out[i]);
    return status;
}
