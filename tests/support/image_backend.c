/* See image_backend.h. */
#include "support/image_backend.h"
#include "circuits/gadgets/assign.h"
#include "circuits/gadgets/evaluate.h"
#include "r1cs/image_program.h"
#include <stdlib.h>
#include <string.h>

enum { TABLES_BYTES = 256 };

static struct backend made;
static struct aux_map map;
static const struct circuit_image *mapped;

/* -- the plan, and the tables: the image itself ------------------------------------------------------------------------ */

static cuzk_status eval_plan(struct image_eval_plan *out, struct task *t, const struct device *d,
                             const struct circuit_image *m, uint64_t out_count)
{
    (void)d;
    memset(out, 0, sizeof *out);
    if (mapped != m) {
        image_backend_end();
        const cuzk_status status = aux_map_create(&map, t, m);
        if (status != CUZK_OK) return status;
        mapped = m;
    }
    out->row_count = image_circuit(m)->row_count;
    out->out_count = out_count;
    out->input_count = image_circuit(m)->input_count;
    out->aux_count = image_circuit(m)->aux_count;
    out->number_count = m->number_total;
    out->tables_bytes = TABLES_BYTES;
    return CUZK_OK;
}

static cuzk_status image_upload(struct stream *s, struct task *t, const struct image_eval_plan *p,
                                struct buffer *tables, const struct circuit_image *m)
{
    (void)p;
    return made.upload(s, t, tables, 0, &m, sizeof m);
}

/* -- evaluation -------------------------------------------------------------------------------------------------------- */

static cuzk_status image_eval(struct stream *s, struct task *t, const struct image_eval_plan *p,
                              struct buffer *a, struct buffer *b, const struct buffer *tables,
                              const struct image_values *w, struct buffer *first_bad)
{
    const struct assignment values = { .bits = (uint64_t *)(void *)w->bits.data,
                                       .numbers = (bls12_381_fr_int *)(void *)w->numbers.data,
                                       .inputs = (bls12_381_fr_int *)(void *)w->inputs.data };
    const size_t used = 32 * (size_t)p->row_count, bytes = 32 * (size_t)p->out_count;
    const struct circuit_image *m;
    uint64_t bad = UINT64_MAX;
    struct task quiet;

    (void)s;
    memcpy(&m, tables->data, sizeof m);
    if (first_bad != NULL) {
        task_init(&quiet);
        if (image_check(m, &quiet, &values, &map) == CUZK_UNSATISFIED)
            bad = strtoull(quiet.error.text + strlen("row "), NULL, 10);
        memcpy(first_bad->data, &bad, sizeof bad);
    }
    memset(a->data + used, 0, bytes - used);
    memset(b->data + used, 0, bytes - used);
    return image_evaluate(m, t, (bls12_381_fr_t *)(void *)a->data, (bls12_381_fr_t *)(void *)b->data, &values,
                          &map);
}

/* -- witnesses --------------------------------------------------------------------------------------------------------- */

static cuzk_status assign_plan(struct image_assign_plan *out, struct task *t, const struct device *d,
                               const struct image_program *p)
{
    (void)t;
    (void)d;
    out->program_bytes = TABLES_BYTES;
    out->statement_bytes = image_statement_bytes(p->image);
    out->workspace_bytes = TABLES_BYTES;
    return CUZK_OK;
}

static cuzk_status program_upload(struct stream *s, struct task *t, struct buffer *programs,
                                  const struct image_program *p)
{
    return made.upload(s, t, programs, 0, &p, sizeof p);
}

static cuzk_status assign(struct stream *s, struct task *t, const struct image_assign_plan *plan,
                          struct image_values *out, const struct image_program *p,
                          const struct buffer *programs, const struct buffer *statement,
                          struct buffer *workspace)
{
    const struct circuit_image *m = p->image;
    const struct circuit_template *c = image_circuit(m);
    const bls12_381_fr_int *numbers = (const bls12_381_fr_int *)(const void *)statement->data;
    const uint32_t *words = (const uint32_t *)(const void *)(statement->data + image_statement_words(m));
    const struct statement view = { numbers, numbers + c->source_numbers, words, words + c->source_words };
    struct assignment a;

    (void)s;
    (void)plan;
    (void)programs;
    memset(workspace->data, 0xa5, TABLES_BYTES);
    cuzk_status status = assignment_create(&a, t, m);
    if (status != CUZK_OK) return status;
    status = image_assign(m, t, &a, &view);
    memset(out->bits.data, 0, image_bits_bytes(m));
    memcpy(out->bits.data, a.bits, ((size_t)c->aux_count + 7) / 8);
    memcpy(out->numbers.data, a.numbers, image_numbers_bytes(m));
    memcpy(out->inputs.data, a.inputs, image_inputs_bytes(m));
    assignment_fini(&a);
    return status;
}

/* -- the backend ------------------------------------------------------------------------------------------------------- */

const struct backend *image_backend(const struct backend *base)
{
    made = *base;
    made.reads_host_memory = false; /* what it reads is to have been uploaded */
    made.image_eval_plan = eval_plan;
    made.image_upload = image_upload;
    made.image_eval = image_eval;
    made.image_assign_plan = assign_plan;
    made.image_program_upload = program_upload;
    made.image_assign = assign;
    return &made;
}

void image_backend_end(void)
{
    if (mapped != NULL) aux_map_fini(&map);
    mapped = NULL;
}
