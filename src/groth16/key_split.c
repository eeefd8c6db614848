/* Which points of a key belong to numbers of an image's witness; these and the image's programs on a device. */
#include "groth16/key_split.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

#define PICKED_AT_ONCE ((uint64_t)1 << 16) /* points: 12 MB of heap at most */

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

/* Of a key without lists: at most. */
static void outline_rows(struct key_split *k)
{
    const struct circuit_image *m = k->program.image;
    const uint64_t inputs = image_circuit(m)->input_count, wide = inputs + m->number_total;

    for (enum groth16_query q = 0; q < QUERY_H; q++) {
        const struct msm_row *row = &k->rows[q];
        struct split_row *out = &k->row[q];
        out->skip = row->gather == NULL && row->first < inputs ? inputs - row->first : 0;
        if (out->skip > row->count) out->skip = row->count;
        out->count = row->count - out->skip;
        out->wide_count = wide < row->count ? wide : row->count;
    }
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
    size_t points[QUERY_COUNT], numbers[QUERY_COUNT], kept[QUERY_COUNT], index, programs, bytes;
};

static size_t place(size_t *at, size_t bytes)
{
    const size_t here = *at;

    *at += arena_round(bytes);
    return here;
}

static size_t point_bytes(const struct key_split *k, enum groth16_query q)
{
    return k->key->curve->group[k->rows[q].group]->aff_bytes;
}

/* Points on the device that this holds itself, the skipped ones included. */
static uint64_t kept_points(const struct key_split *k, const struct key_keep *keep, enum groth16_query q)
{
    return keep->streams ? k->row[q].skip + keep->count[q] : 0;
}

static uint64_t host_points(const struct key_split *k, const struct key_keep *keep, enum groth16_query q)
{
    return keep->streams ? k->row[q].count - keep->count[q] : 0;
}

static void layout_of(struct layout *l, const struct key_split *k, const struct key_keep *keep)
{
    uint64_t most = 0;

    memset(l, 0, sizeof *l);
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) {
        const struct split_row *row = &k->row[q];
        l->points[q] = place(&l->bytes, row->wide_count * point_bytes(k, q));
        l->numbers[q] = place(&l->bytes, row->wide_count * sizeof *row->value);
        l->kept[q] = place(&l->bytes, kept_points(k, keep, q) * point_bytes(k, q));
        if (row->wide_count > most) most = row->wide_count;
    }
    l->index = place(&l->bytes, most * sizeof(uint32_t));
    l->programs = place(&l->bytes, k->assign.program_bytes);
}

static struct key_residence residence_of(const struct key_split *k, const struct key_keep *keep)
{
    struct key_residence r = k->residence;

    r.points = !keep->streams;
    return r;
}

uint64_t key_split_device_bytes(const struct key_split *k, const struct key_keep *keep)
{
    const struct key_residence residence = residence_of(k, keep);
    struct layout l;

    layout_of(&l, k, keep);
    return key_device_bytes(k->key, k->backend, &residence) + arena_round(l.bytes);
}

uint64_t key_split_host_bytes(const struct key_split *k, const struct key_keep *keep)
{
    uint64_t bytes = 0;

    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) bytes += host_points(k, keep, q) * point_bytes(k, q);
    return bytes;
}

/* Points [first, first + count) of a query into host memory. */
static cuzk_status read_points(const struct key_split *k, struct task *t, uint8_t *to, enum groth16_query q,
                               uint64_t first, uint64_t count)
{
    const size_t each = point_bytes(k, q);

    if (count == 0) return CUZK_OK;
    if (k->key->encoded[q]) return groth16_key_points(t, k->key, q, first, count, to);
    memcpy(to, k->key->point[q].data + first * each, count * each);
    return CUZK_OK;
}

static cuzk_status load_host(struct key_split *k, struct task *t)
{
    uint8_t *at;

    TRY(k->backend->buffer_take(&k->host, t, k->device, MEM_LOCKED, key_split_host_bytes(k, &k->keep), 0));
    at = k->host.data;
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) {
        const uint64_t count = host_points(k, &k->keep, q);
        TRY(task_poll(t));
        task_progress(t, "points that are sent", (uint64_t)q, QUERY_COUNT);
        TRY(read_points(k, t, at, q, kept_points(k, &k->keep, q), count));
        k->row[q].host = at;
        at += count * point_bytes(k, q);
    }
    return CUZK_OK;
}

static cuzk_status load_kept(struct key_split *k, struct task *t, struct stream *stream,
                             const struct layout *l, enum groth16_query q)
{
    struct split_row *row = &k->row[q];
    const uint64_t count = kept_points(k, &k->keep, q);

    if (!k->keep.streams) {
        row->kept = k->resident->points[q];
        row->kept_count = row->count;
        return CUZK_OK;
    }
    row->kept = buffer_piece(&k->block, l->kept[q], count * point_bytes(k, q));
    row->kept_count = k->keep.count[q];
    if (count == 0) return CUZK_OK;
    return key_device_send_points(t, k->key, k->backend, stream, &row->kept, q, 0, count);
}

/* The points of numbers [begin, wide_count) from host memory. */
static cuzk_status pick_from_host(struct key_split *k, struct task *t, struct stream *stream,
                                  enum groth16_query q, uint64_t begin)
{
    struct split_row *row = &k->row[q];
    const size_t each = point_bytes(k, q);
    const uint64_t first = kept_points(k, &k->keep, q), left = row->wide_count - begin,
                   slice = left < PICKED_AT_ONCE ? left : PICKED_AT_ONCE;
    uint8_t *const picked = malloc(slice * each + 1);
    cuzk_status status = CUZK_OK;

    if (picked == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for points of query %s", k->rows[q].name);
    for (uint64_t done = begin; done < row->wide_count; done += slice) {
        const uint64_t here = row->wide_count - done < slice ? row->wide_count - done : slice;
        for (uint64_t i = 0; i < here; i++)
            memcpy(picked + i * each, row->host + (row->index[done + i] - first) * each, each);
        TRY_GOTO(out, k->backend->upload(stream, t, &row->points, done * each, picked,
                                         here * each)); /* has read it on return */
    }
out:
    free(picked);
    return status;
}

static cuzk_status load_wide(struct key_split *k, struct task *t, struct stream *stream,
                             const struct layout *l, enum groth16_query q)
{
    struct split_row *row = &k->row[q];
    struct buffer index = buffer_piece(&k->block, l->index, row->wide_count * sizeof *row->index);
    const uint64_t on_device = row->skip + row->kept_count;
    uint64_t here = 0; /* of the points, those that are on the device */

    row->points = buffer_piece(&k->block, l->points[q], row->wide_count * point_bytes(k, q));
    row->numbers = buffer_piece(&k->block, l->numbers[q], row->wide_count * sizeof *row->value);
    TRY(k->backend->upload(stream, t, &index, 0, row->index, index.bytes));
    TRY(k->backend->upload(stream, t, &row->numbers, 0, row->value, row->numbers.bytes));
    while (here < row->wide_count && row->index[here] < on_device) here++;
    if (here != 0)
        TRY(k->backend->gather_points(stream, t, k->key->curve, k->rows[q].group, &row->points, &row->kept, 0,
                                      on_device, &index, here));
    return here < row->wide_count ? pick_from_host(k, t, stream, q, here) : CUZK_OK;
}

static void free_lists(struct key_split *k)
{
    for (enum groth16_query q = 0; q < QUERY_H; q++) {
        free(k->row[q].index);
        free(k->row[q].value);
        k->row[q].index = k->row[q].value = NULL;
    }
}

cuzk_status key_split_load(struct key_split *k, struct task *t, struct stream *stream,
                           const struct key_keep *keep)
{
    struct layout l;
    cuzk_status status;

    k->keep = *keep;
    k->residence = residence_of(k, keep);
    layout_of(&l, k, keep);
    TRY(key_device_take(&k->resident, t, k->key, k->backend, k->device, stream, &k->residence));
    TRY_GOTO(out, k->backend->buffer_take(&k->block, t, k->device, MEM_DEVICE, l.bytes, 0));
    k->programs = buffer_piece(&k->block, l.programs, k->assign.program_bytes);
    TRY_GOTO(out, k->backend->image_program_upload(stream, t, &k->programs, &k->program));
    if (keep->streams) TRY_GOTO(out, load_host(k, t));
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) {
        TRY_GOTO(out, load_kept(k, t, stream, &l, q));
        if (q != QUERY_H) TRY_GOTO(out, load_wide(k, t, stream, &l, q));
    }
    TRY_GOTO(out, k->backend->stream_sync(stream, t));
    free_lists(k);
out:
    if (status == CUZK_OK) return CUZK_OK;
    backend_settle(k->backend, stream);
    k->backend->buffer_give(&k->block);
    k->backend->buffer_give(&k->host);
    k->resident = NULL;
    return status;
}

/* -- the whole --------------------------------------------------------------------------------------------------------- */

static cuzk_status fill(struct key_split *k, struct task *t)
{
    const struct circuit_image *m = k->key->constraints->image;

    msm_set_rows(k->rows, k->key);
    k->row[QUERY_H].count = k->rows[QUERY_H].count;
    TRY(k->backend->image_eval_plan(&k->residence.image, t, k->device, m, k->key->domain.size));
    TRY(image_program_create(&k->program, t, m));
    TRY(k->backend->image_assign_plan(&k->assign, t, k->device, &k->program));
    TRY(list_widths(k, t));
    if (!k->key->outline) return split_rows(k, t);
    outline_rows(k);
    return CUZK_OK;
}

static cuzk_status create(struct key_split **out, struct task *t, const struct groth16_key *key,
                          const struct backend *backend, struct device *device)
{
    struct key_split *k;

    *out = NULL;
    if (key->constraints == NULL || key->constraints->image == NULL || backend->image_assign == NULL)
        return FAIL(t, CUZK_UNSUPPORTED, "the %s backend makes no witnesses of this key's circuit",
                    backend->name);
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

cuzk_status key_split_create(struct key_split **out, struct task *t, const struct groth16_key *key,
                             const struct backend *backend, struct device *device)
{
    *out = NULL;
    if (key->outline) return FAIL(t, CUZK_INTERNAL, "a proof on a key that was opened for its counts only");
    return create(out, t, key, backend, device);
}

cuzk_status key_split_outline(struct key_split **out, struct task *t, const struct groth16_key *key,
                              const struct backend *backend, struct device *device)
{
    *out = NULL;
    if (!key->outline) return FAIL(t, CUZK_INTERNAL, "a whole key has its lists");
    return create(out, t, key, backend, device);
}

void key_split_destroy(struct key_split *k)
{
    if (k == NULL) return;
    free_lists(k);
    k->backend->buffer_give(&k->block);
    k->backend->buffer_give(&k->host);
    image_program_fini(&k->program);
    free(k->widths);
    free(k);
}
