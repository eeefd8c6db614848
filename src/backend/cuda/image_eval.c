/* Circuit images on CUDA: the tables in device memory, and what is enqueued for an evaluation.
 *
 * The tables are made on the host once a circuit: the flat image (r1cs/image_flat.h), runs of rows for blocks of threads, and jobs for
 * warps, dear ones first. */
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/image_kernels.h"
#include "r1cs/image_flat.h"

#include <stdlib.h>
#include <string.h>

STATIC_ASSERT(sizeof(struct flat_instance) == 24 && sizeof(struct flat_row) == 8, "as the kernels read them");

enum { COST_OF_PRODUCT = 8 }; /* of a pair against a run: for the order of jobs alone */

/* The tables, in the order of plan->table. */
enum { ROWS, INSTANCES, DIRECTORY, RUNS, JOBS, IMPORTS, NUMBER_AUX, COEFFICIENTS, TABLES };
STATIC_ASSERT(TABLES == sizeof ((struct image_eval_plan *)0)->table / sizeof(size_t), "as many as a plan has room for");

/* The tables on the host. */
struct made {
    struct image_flat flat;
    struct image_run *runs;
    struct image_job *jobs;
    uint32_t run_count, job_count;
};

/* -- runs and jobs -- */

static bool over_numbers(const struct image_flat *f, const struct flat_row *r)
{
    switch (f->rows[r->entry] & 0xff) {
    case ROW_PICK: case ROW_SUMS: case ROW_GENERAL: case ROW_TRAIL: return true;
    default: return false;
    }
}

/* Whether one of count rows is over bits; others are left to the jobs. */
static bool any_bits(const struct image_flat *f, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!over_numbers(f, &f->directory[first + i])) return true;
    return false;
}

/* The runs of a template's instances, into out where there is one.  Returns their number. */
static uint64_t list_runs(const struct image_flat *f, uint32_t id, struct image_run *out)
{
    const struct flat_template *own = &f->templates[id];
    uint64_t count = 0;
    for (uint32_t s = 0; s < own->segment_count; s++) {
        const struct flat_segment *segment = &f->segments[own->first_segment + s];
        for (uint32_t at = 0; at < segment->count; at += IMAGE_RUN_ROWS) {
            const uint32_t left = segment->count - at, rows = left < IMAGE_RUN_ROWS ? left : IMAGE_RUN_ROWS;
            if (!any_bits(f, segment->first + at, rows)) continue;
            for (uint32_t k = 0; k < own->instance_count && out; k++) {
                const uint32_t instance = own->first_instance + k;
                const struct image_run run = { instance, segment->first + at, f->instances[instance].row + segment->row + at, rows };
                out[count + k] = run;
            }
            count += own->instance_count;
        }
    }
    return count;
}

/* The same for the jobs. */
static uint64_t list_jobs(const struct image_flat *f, uint32_t id, struct image_job *out)
{
    const struct flat_template *own = &f->templates[id];
    const uint32_t warps = (own->instance_count + IMAGE_WARP - 1) / IMAGE_WARP;
    uint64_t count = 0;
    for (uint32_t s = 0; s < own->segment_count; s++) {
        const struct flat_segment *segment = &f->segments[own->first_segment + s];
        for (uint32_t i = 0; i < segment->count; i++) {
            const struct flat_row *row = &f->directory[segment->first + i];
            if (!over_numbers(f, row)) continue;
            for (uint32_t k = 0; k < warps && out; k++) {
                const uint32_t first = k * IMAGE_WARP, left = own->instance_count - first;
                const struct image_job job = { row->entry, row->lane, segment->row + i, own->first_instance + first,
                                               left < IMAGE_WARP ? left : IMAGE_WARP };
                out[count + k] = job;
            }
            count += warps;
        }
    }
    return count;
}

static uint64_t cost_of(const uint32_t *p)
{
    switch (p[0] & 0xff) {
    case ROW_SUMS: return p[1] + (uint64_t)COST_OF_PRODUCT * p[2];
    case ROW_GENERAL: return COST_OF_PRODUCT * ((uint64_t)p[1] + p[2]);
    default: return COST_OF_PRODUCT;
    }
}

static int dearer(const void *x, const void *y, void *rows)
{
    const struct image_job *p = x, *q = y;
    const uint64_t a = cost_of((const uint32_t *)rows + p->entry), b = cost_of((const uint32_t *)rows + q->entry);
    if (a != b) return a < b ? 1 : -1;
    if (p->row != q->row) return p->row < q->row ? -1 : 1;
    return p->instance < q->instance ? -1 : p->instance > q->instance;
}

/* -- the tables -- */

static void made_fini(struct made *x)
{
    image_flat_fini(&x->flat);
    free(x->runs);
    free(x->jobs);
    memset(x, 0, sizeof *x);
}

static cuzk_status count_tables(struct made *x, struct task *t, const struct circuit_image *m)
{
    uint64_t runs = 0, jobs = 0;
    memset(x, 0, sizeof *x);
    TRY(image_flat_create(&x->flat, t, m));
    for (uint32_t id = 0; id < m->template_count; id++) {
        runs += list_runs(&x->flat, id, NULL);
        jobs += list_jobs(&x->flat, id, NULL);
    }
    if (runs > INT32_MAX || jobs > INT32_MAX) {
        made_fini(x);
        return FAIL(t, CUZK_TOO_LARGE, "circuit %s has %llu runs of rows and %llu groups of rows", m->name, (unsigned long long)runs,
                    (unsigned long long)jobs);
    }
    x->run_count = (uint32_t)runs;
    x->job_count = (uint32_t)jobs;
    return CUZK_OK;
}

static cuzk_status make_tables(struct made *x, struct task *t, const struct circuit_image *m)
{
    uint64_t runs = 0, jobs = 0;
    TRY(count_tables(x, t, m));
    x->runs = malloc((size_t)x->run_count * sizeof *x->runs + 1);
    x->jobs = malloc((size_t)x->job_count * sizeof *x->jobs + 1);
    if (!x->runs || !x->jobs) {
        made_fini(x);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for the tables of circuit %s", m->name);
    }
    for (uint32_t id = 0; id < m->template_count; id++) {
        runs += list_runs(&x->flat, id, x->runs + runs);
        jobs += list_jobs(&x->flat, id, x->jobs + jobs);
    }
    qsort_r(x->jobs, x->job_count, sizeof *x->jobs, dearer, x->flat.rows);
    return CUZK_OK;
}

/* Each table's data and bytes. */
static void tables_of(struct span out[TABLES], const struct made *x)
{
    const struct image_flat *f = &x->flat;
    const struct circuit_image *m = f->image;
    out[ROWS] = span_of(f->rows, (size_t)m->rows_size * sizeof *f->rows);
    out[INSTANCES] = span_of(f->instances, f->instance_count * sizeof *f->instances);
    out[DIRECTORY] = span_of(f->directory, f->row_count * sizeof *f->directory);
    out[RUNS] = span_of(x->runs, x->run_count * sizeof *x->runs);
    out[JOBS] = span_of(x->jobs, x->job_count * sizeof *x->jobs);
    out[IMPORTS] = span_of(f->imports, f->import_count * sizeof *f->imports);
    out[NUMBER_AUX] = span_of(f->number_aux, m->number_total * sizeof *f->number_aux);
    out[COEFFICIENTS] = span_of(m->coefficients, m->coefficient_count * sizeof *m->coefficients);
}

/* -- operations -- */

cuzk_status cuda_image_eval_plan(struct image_eval_plan *out, struct task *t, const struct device *d, const struct circuit_image *m,
                                 uint64_t out_count)
{
    const struct circuit_template *c = image_circuit(m);
    struct span table[TABLES];
    struct made x;
    (void)d;
    if (c->row_count > out_count)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a circuit of %lu rows for a domain of %llu points", (unsigned long)c->row_count,
                    (unsigned long long)out_count);
    memset(out, 0, sizeof *out);
    TRY(count_tables(&x, t, m));
    out->row_count = c->row_count;
    out->out_count = out_count;
    out->input_count = c->input_count;
    out->aux_count = c->aux_count;
    out->number_count = m->number_total;
    out->run_count = x.run_count;
    out->job_count = x.job_count;
    tables_of(table, &x);
    for (int i = 0; i < TABLES; i++) {
        out->table[i] = out->tables_bytes;
        out->tables_bytes += (table[i].size + 255) & ~(size_t)255;
    }
    made_fini(&x);
    return CUZK_OK;
}

cuzk_status cuda_image_upload(struct stream *s, struct task *t, const struct image_eval_plan *p, struct buffer *tables,
                              const struct circuit_image *m)
{
    struct span table[TABLES];
    struct made x;
    uint8_t *to;
    TRY(cuda_range(t, s->device, tables, "the tables of a circuit", 0, p->tables_bytes, &to));
    TRY(cuda_enter(t, s->device));
    TRY(make_tables(&x, t, m));
    tables_of(table, &x);
    cuzk_status status = CUZK_OK;
    for (int i = 0; i < TABLES && status == CUZK_OK; i++) status = cuda_upload(s, t, to + p->table[i], table[i].data, table[i].size);
    made_fini(&x);
    return status;
}

/* The tables and a witness as kernels read them. */
static cuzk_status operands(struct stream *s, struct task *t, const struct image_eval_plan *p, const struct buffer *tables,
                            const struct image_values *w, struct image_tables *m, struct image_view *view)
{
    uint8_t *from, *bits, *numbers, *inputs;
    TRY(cuda_range(t, s->device, tables, "the tables of a circuit", 0, p->tables_bytes, &from));
    TRY(cuda_range(t, s->device, &w->bits, "the bits of a witness", 0, ((size_t)p->aux_count / 32 + 2) * 4, &bits));
    TRY(cuda_range(t, s->device, &w->numbers, "the numbers of a witness", 0, 32 * (size_t)p->number_count, &numbers));
    TRY(cuda_range(t, s->device, &w->inputs, "the inputs of a witness", 0, 32 * (size_t)p->input_count, &inputs));
    TRY(task_poll(t));
    TRY(cuda_enter(t, s->device));
    m->rows = (const uint32_t *)(void *)(from + p->table[ROWS]);
    m->instances = (const struct flat_instance *)(void *)(from + p->table[INSTANCES]);
    m->directory = (const struct flat_row *)(void *)(from + p->table[DIRECTORY]);
    m->runs = (const struct image_run *)(void *)(from + p->table[RUNS]);
    m->jobs = (const struct image_job *)(void *)(from + p->table[JOBS]);
    m->imports = (const uint32_t *)(void *)(from + p->table[IMPORTS]);
    m->number_aux = (const uint32_t *)(void *)(from + p->table[NUMBER_AUX]);
    m->coefficients = from + p->table[COEFFICIENTS];
    m->run_count = p->run_count;
    m->job_count = p->job_count;
    m->input_count = p->input_count;
    m->aux_count = p->aux_count;
    m->number_count = p->number_count;
    view->bits = (const uint32_t *)(void *)bits;
    view->numbers = numbers;
    view->inputs = inputs;
    return CUZK_OK;
}

cuzk_status cuda_image_eval(struct stream *s, struct task *t, const struct image_eval_plan *p, struct buffer *a, struct buffer *b,
                            const struct buffer *tables, const struct image_values *w, struct buffer *first_bad)
{
    const size_t bytes = 32 * (size_t)p->out_count, used = 32 * (size_t)p->row_count;
    struct image_tables m;
    struct image_view view;
    uint8_t *va, *vb, *bad = NULL;
    TRY(cuda_range(t, s->device, a, "the vector a of an evaluation", 0, bytes, &va));
    TRY(cuda_range(t, s->device, b, "the vector b of an evaluation", 0, bytes, &vb));
    if (first_bad) TRY(cuda_range(t, s->device, first_bad, "the first bad row of an evaluation", 0, sizeof(uint64_t), &bad));
    TRY(operands(s, t, p, tables, w, &m, &view));
    if (bad) CU(t, cudaMemsetAsync(bad, 0xff, sizeof(uint64_t), s->handle));
    if (used < bytes) {
        CU(t, cudaMemsetAsync(va + used, 0, bytes - used, s->handle));
        CU(t, cudaMemsetAsync(vb + used, 0, bytes - used, s->handle));
    }
    CU(t, image_eval_bits(va, vb, &m, &view, (uint64_t *)(void *)bad, s->handle));
    CU(t, image_eval_numbers(va, vb, &m, &view, (uint64_t *)(void *)bad, s->handle));
    return CUZK_OK;
}

cuzk_status cuda_image_scalars(struct stream *s, struct task *t, const struct image_eval_plan *p, struct buffer *scalars,
                               const struct buffer *tables, const struct image_values *w)
{
    struct image_tables m;
    struct image_view view;
    uint8_t *out;
    TRY(cuda_range(t, s->device, scalars, "the scalars of a witness", 0, 32 * ((size_t)p->input_count + p->aux_count), &out));
    TRY(operands(s, t, p, tables, w, &m, &view));
    CU(t, image_expand_values(out, &m, &view, s->handle));
    return CUZK_OK;
}
