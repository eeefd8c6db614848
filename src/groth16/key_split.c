/* Which points of a key belong to numbers of an image's witness; these and the image's programs on a device. */
#include "groth16/key_split.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

/* -- which variables are numbers --------------------------------------------------------------------------------------- */

/* A variable that is no bit, and its place among the witness's values: inputs, then numbers. */
struct wide {
    uint32_t variable, value;
};

struct wide_list {
    struct wide *of; /* by variable */
    uint64_t count;
    uint64_t *marks; /* a bit a variable */
};

static void wide_list_fini(struct wide_list *l)
{
    free(l->of);
    free(l->marks);
}

static int by_variable(const void *a, const void *b)
{
    const uint32_t x = ((const struct wide *)a)->variable, y = ((const struct wide *)b)->variable;

    return (x > y) - (x < y);
}

static void add(struct wide_list *l, uint32_t variable, uint32_t value)
{
    const struct wide w = { variable, value };

    l->of[l->count++] = w;
    l->marks[variable / 64] |= (uint64_t)1 << variable % 64;
}

static void add_numbers(struct wide_list *l, const struct circuit_image *m, const struct circuit_template *c,
                        uint32_t first_aux, uint32_t first_number)
{
    const uint32_t inputs = image_circuit(m)->input_count;

    for (uint32_t i = 0; i < c->number_count; i++)
        add(l, inputs + first_aux + m->number_aux[c->numbers_begin + i], inputs + first_number + i);
}

static cuzk_status wide_list_make(struct wide_list *l, struct task *t, const struct circuit_image *m)
{
    const struct circuit_template *whole = image_circuit(m);
    const uint64_t variables = (uint64_t)whole->input_count + whole->aux_count;

    memset(l, 0, sizeof *l);
    l->of = malloc(((size_t)whole->input_count + m->number_total + 1) * sizeof *l->of);
    l->marks = calloc(variables / 64 + 1, sizeof *l->marks);
    if (l->of == NULL || l->marks == NULL) {
        wide_list_fini(l);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for the variables of circuit %s", m->name);
    }
    for (uint32_t i = 0; i < whole->input_count; i++) add(l, i, i);
    add_numbers(l, m, whole, 0, 0);
    for (uint32_t i = 0; i < m->part_count; i++)
        add_numbers(l, m, &m->templates[m->parts[i].template_id], m->parts[i].first_aux,
                    m->parts[i].first_number);
    qsort(l->of, l->count, sizeof *l->of, by_variable);
    return CUZK_OK;
}

static bool is_wide(const struct wide_list *l, uint32_t variable)
{
    return l->marks[variable / 64] >> variable % 64 & 1;
}

static uint32_t value_of(const struct wide_list *l, uint32_t variable)
{
    const struct wide key = { variable, 0 }, *const found =
                                                 bsearch(&key, l->of, l->count, sizeof key, by_variable);

    return found->value;
}

/* -- which points are theirs ------------------------------------------------------------------------------------------- */

static uint32_t variable_at(const struct msm_row *row, uint64_t i)
{
    return row->gather != NULL ? row->gather[i] : (uint32_t)(row->first + i);
}

/* The row's points of wide variables, into index and value where these are. */
static uint64_t list_points(const struct msm_row *row, const struct wide_list *l, uint32_t *index,
                            uint32_t *value)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < row->count; i++) {
        const uint32_t variable = variable_at(row, i);
        if (!is_wide(l, variable)) continue;
        if (index != NULL) {
            index[count] = (uint32_t)i;
            value[count] = value_of(l, variable);
        }
        count++;
    }
    return count;
}

static cuzk_status split_row_make(struct split_row *out, struct task *t, const struct groth16_key *key,
                                  const struct msm_row *row, const struct wide_list *l)
{
    const uint32_t inputs = image_circuit(key->constraints->image)->input_count;

    if (row->gather == NULL && row->first > inputs)
        return FAIL(t, CUZK_INTERNAL, "query %s begins at variable %llu", row->name,
                    (unsigned long long)row->first);
    out->skip = row->gather == NULL ? inputs - row->first : 0;
    if (out->skip > row->count) out->skip = row->count;
    out->count = row->count - out->skip;
    out->wide_count = list_points(row, l, NULL, NULL);
    out->index = malloc((out->wide_count + 1) * sizeof *out->index);
    out->value = malloc((out->wide_count + 1) * sizeof *out->value);
    if (out->index == NULL || out->value == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for the points of query %s", row->name);
    list_points(row, l, out->index, out->value);
    return CUZK_OK;
}

static cuzk_status split_rows(struct key_split *k, struct task *t)
{
    struct wide_list l;
    cuzk_status status;

    TRY(wide_list_make(&l, t, k->key->constraints->image));
    for (enum groth16_query q = 0; q < QUERY_H; q++) {
        TRY_GOTO(out, task_poll(t));
        TRY_GOTO(out, split_row_make(&k->row[q], t, k->key, &k->rows[q], &l));
    }
out:
    wide_list_fini(&l);
    return status;
}

/* -- the statement ----------------------------------------------------------------------------------------------------- */

static void note_widths(struct key_split *k, const struct program_scope *scope,
                        const struct program_strand *strand)
{
    const struct image_program *p = &k->program;

    for (uint32_t g = strand->first_group; g < strand->first_group + strand->group_count; g++)
        for (uint32_t i = 0; i < p->groups[g].op_count; i++) {
            const struct step *s = &p->ops[p->groups[g].first_op + i].s;
            if (s->code == STEP_INDEX) k->widths[scope->source_word + s->a] = (uint8_t)s->count;
        }
}

static cuzk_status list_widths(struct key_split *k, struct task *t)
{
    const struct image_program *p = &k->program;

    k->widths = malloc((size_t)p->image->source_word_total + 1);
    if (k->widths == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for circuit %s", p->image->name);
    memset(k->widths, 32, (size_t)p->image->source_word_total + 1);
    for (size_t i = 0; i < p->item_count; i++)
        note_widths(k, &p->scopes[p->items[i].scope], &p->strands[p->items[i].strand]);
    return CUZK_OK;
}

cuzk_status key_split_check(const struct key_split *k, struct task *t, const uint8_t *statement)
{
    const struct circuit_image *m = k->program.image;
    const uint8_t *const words = statement + image_statement_words(m);
    struct fr_int number;
    uint32_t word;

    for (uint32_t i = 0; i < m->source_number_total; i++) {
        memcpy(&number, statement + 32 * (size_t)i, sizeof number);
        if (!k->key->curve->fr.int_is_canonical(&number))
            return FAIL(t, CUZK_MALFORMED, "number %u of the statement is not below the field's modulus", i);
    }
    for (uint32_t i = 0; i < m->source_word_total; i++) {
        memcpy(&word, words + 4 * (size_t)i, sizeof word);
        if (k->widths[i] < 32 && word >> k->widths[i] != 0)
            return FAIL(t, CUZK_MALFORMED, "word %u of the statement is %u and takes more than %u bits", i,
                        word, k->widths[i]);
    }
    return CUZK_OK;
}

/* -- the device -------------------------------------------------------------------------------------------------------- */

struct layout {
    size_t points[QUERY_COUNT], numbers[QUERY_COUNT], index, programs, bytes;
};

static size_t place(size_t *at, size_t bytes)
{
    const size_t here = *at;

    *at += arena_round(bytes);
    return here;
}

static void layout_of(struct layout *l, const struct key_split *k)
{
    uint64_t most = 0;

    memset(l, 0, sizeof *l);
    for (enum groth16_query q = 0; q < QUERY_H; q++) {
        const struct split_row *row = &k->row[q];
        l->points[q] = place(&l->bytes, row->wide_count * k->key->curve->group[k->rows[q].group]->aff_bytes);
        l->numbers[q] = place(&l->bytes, row->wide_count * sizeof *row->value);
        if (row->wide_count > most) most = row->wide_count;
    }
    l->index = place(&l->bytes, most * sizeof(uint32_t));
    l->programs = place(&l->bytes, k->assign.program_bytes);
}

static cuzk_status load_row(struct key_split *k, struct task *t, struct stream *stream,
                            const struct layout *l, enum groth16_query q)
{
    struct split_row *row = &k->row[q];
    const struct msm_row *whole = &k->rows[q];
    const size_t each = k->key->curve->group[whole->group]->aff_bytes;
    struct buffer index = buffer_piece(&k->block, l->index, row->wide_count * sizeof *row->index);

    row->points = buffer_piece(&k->block, l->points[q], row->wide_count * each);
    row->numbers = buffer_piece(&k->block, l->numbers[q], row->wide_count * sizeof *row->value);
    TRY(k->backend->upload(stream, t, &index, 0, row->index, index.bytes));
    TRY(k->backend->upload(stream, t, &row->numbers, 0, row->value, row->numbers.bytes));
    return k->backend->gather_points(stream, t, k->key->curve, whole->group, &row->points,
                                     &k->resident->points[q], 0, whole->count, &index, row->wide_count);
}

static void free_lists(struct key_split *k)
{
    for (enum groth16_query q = 0; q < QUERY_H; q++) {
        free(k->row[q].index);
        free(k->row[q].value);
        k->row[q].index = k->row[q].value = NULL;
    }
}

cuzk_status key_split_load(struct key_split *k, struct task *t, struct stream *stream)
{
    struct layout l;
    cuzk_status status;

    layout_of(&l, k);
    TRY(key_device_take(&k->resident, t, k->key, k->backend, k->device, stream, &k->residence));
    TRY_GOTO(out, k->backend->buffer_take(&k->block, t, k->device, MEM_DEVICE, l.bytes, 0));
    k->programs = buffer_piece(&k->block, l.programs, k->assign.program_bytes);
    TRY_GOTO(out, k->backend->image_program_upload(stream, t, &k->programs, &k->program));
    for (enum groth16_query q = 0; q < QUERY_H; q++) TRY_GOTO(out, load_row(k, t, stream, &l, q));
    TRY_GOTO(out, k->backend->stream_sync(stream, t));
    free_lists(k);
out:
    if (status == CUZK_OK) return CUZK_OK;
    backend_settle(k->backend, stream);
    k->backend->buffer_give(&k->block);
    k->resident = NULL;
    return status;
}

/* -- the whole --------------------------------------------------------------------------------------------------------- */

static cuzk_status fill(struct key_split *k, struct task *t)
{
    const struct circuit_image *m = k->key->constraints->image;
    struct layout l;

    msm_set_rows(k->rows, k->key);
    k->residence.points = true;
    TRY(k->backend->image_eval_plan(&k->residence.image, t, k->device, m, k->key->domain.size));
    TRY(image_program_create(&k->program, t, m));
    TRY(k->backend->image_assign_plan(&k->assign, t, k->device, &k->program));
    TRY(list_widths(k, t));
    TRY(split_rows(k, t));
    layout_of(&l, k);
    k->bytes = l.bytes;
    k->key_bytes = key_device_bytes(k->key, k->backend, &k->residence);
    return CUZK_OK;
}

cuzk_status key_split_create(struct key_split **out, struct task *t, const struct groth16_key *key,
                             const struct backend *backend, struct device *device)
{
    struct key_split *k;

    *out = NULL;
    if (key->constraints == NULL || key->constraints->image == NULL || backend->image_assign == NULL)
        return FAIL(t, CUZK_UNSUPPORTED, "the %s backend makes no witnesses of this key's circuit",
                    backend->name);
    if (key->outline) return FAIL(t, CUZK_INTERNAL, "a proof on a key that was opened for its counts only");
    k = calloc(1, sizeof *k);
    if (k == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a key on a device");
    k->key = key;
    k->backend = backend;
    k->device = device;
    const cuzk_status status = fill(k, t);
    if (status == CUZK_OK)
        *out = k;
    else
        key_split_destroy(k);
    return status;
}

void key_split_destroy(struct key_split *k)
{
    if (k == NULL) return;
    free_lists(k);
    k->backend->buffer_give(&k->block);
    image_program_fini(&k->program);
    free(k->widths);
    free(k);
}
