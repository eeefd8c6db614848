/* The recorder's core: templates, rows, steps, coefficients. */
#include "circuits/gadgets/builder_inside.h"

#include <stdio.h>

#define FE bls12_381_fr
#include "field/fe_names.h"

void builder_fail(struct builder *b, const char *why)
{
    if (b->status == CUZK_OK) b->status = FAIL(b->task, CUZK_INTERNAL, "circuit %s: %s", b->name, why);
}

cuzk_status builder_status(const struct builder *b) { return b->status; }

static void no_memory(struct builder *b)
{
    if (b->status == CUZK_OK)
        b->status = FAIL(b->task, CUZK_NO_MEMORY, "no memory while recording circuit %s", b->name);
}

bool builder_room(struct builder *b, void *data, size_t *capacity, size_t need, size_t element_bytes)
{
    if (b->status != CUZK_OK) return false;
    if (grow(data, capacity, need, element_bytes)) return true;
    no_memory(b);
    return false;
}

static bool append(struct builder *b, struct words32 *v, const uint32_t *data, size_t count)
{
    if (!builder_room(b, &v->data, &v->capacity, v->count + count, sizeof *v->data)) return false;
    if (count != 0) memcpy(v->data + v->count, data, count * sizeof *data);
    v->count += count;
    return true;
}

/* -- coefficients: a dictionary by open addressing -- */

static size_t coefficient_hash(const fe_t *k)
{
    return (size_t)((k->l[0] ^ k->l[2] << 1) * 0x9e3779b97f4a7c15u >> 20);
}

static bool coefficient_room(struct builder *b)
{
    if (2 * (b->coefficient_count + 1) <= b->table_size) return true;
    const size_t size = b->table_size == 0 ? 4096 : 2 * b->table_size;
    uint32_t *table = malloc(size * sizeof *table);
    if (table == NULL) {
        no_memory(b);
        return false;
    }
    memset(table, 0xff, size * sizeof *table);
    for (uint32_t i = 0; i < b->coefficient_count; i++) {
        size_t at = coefficient_hash(&b->coefficients[i]) % size;
        while (table[at] != UINT32_MAX) at = (at + 1) % size;
        table[at] = i;
    }
    free(b->table);
    b->table = table;
    b->table_size = size;
    return true;
}

uint32_t builder_coefficient(struct builder *b, const fe_t *k)
{
    if (!coefficient_room(b)) return 0;
    size_t at = coefficient_hash(k) % b->table_size;
    for (; b->table[at] != UINT32_MAX; at = (at + 1) % b->table_size)
        if (fe_eq(&b->coefficients[b->table[at]], k)) return b->table[at];
    if (!builder_room(b, &b->coefficients, &b->coefficient_capacity, b->coefficient_count + 1,
                      sizeof *b->coefficients))
        return 0;
    b->coefficients[b->coefficient_count] = *k;
    b->table[at] = b->coefficient_count;
    return b->coefficient_count++;
}

/* -- life -- */

/* The caller has made sure that there is room. */
static struct frame *frame_push(struct builder *b, const char *name)
{
    struct frame *f = &b->frames[b->depth++];
    memset(f, 0, sizeof *f);
    f->last_entry = SIZE_MAX;
    snprintf(f->name, sizeof f->name, "%s", name);
    return f;
}

cuzk_status builder_create(struct builder **out, struct task *t, const char *name)
{
    struct builder *b = calloc(1, sizeof *b);
    *out = NULL;
    if (b == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to record circuit %s", name);
    b->task = t;
    b->status = CUZK_OK;
    snprintf(b->name, sizeof b->name, "%s", name);
    fe_t k;
    fe_set_one(&k);
    for (int i = 0; i < 256; i++) {
        b->power[i] = k;
        fe_dbl(&k, &k);
    }
    fe_neg(&k, &b->power[0]);
    (void)builder_coefficient(b, &b->power[0]);
    (void)builder_coefficient(b, &k);
    for (int i = 1; i < COEFFICIENT_BITS; i++) (void)builder_coefficient(b, &b->power[i]);
    frame_push(b, name);
    b->frames[0].input_count = 1; /* the constant 1 */
    *out = b;
    return CUZK_OK;
}

static void frame_fini(struct frame *f)
{
    free(f->rows.data);
    free(f->steps);
    free(f->arguments.data);
    free(f->numbers.data);
    free(f->pattern);
    memset(f, 0, sizeof *f);
}

static void builder_destroy(struct builder *b)
{
    for (unsigned i = 0; i < BUILDER_DEPTH; i++) frame_fini(&b->frames[i]);
    for (size_t i = 0; i < b->known_count; i++) {
        free(b->known[i].pattern);
        free(b->known[i].outs);
    }
    free(b->known);
    free(b->table);
    free(b->coefficients);
    image_fini(&b->image);
    free(b);
}

/* Moves the innermost frame into the image as a template. */
static uint32_t frame_pop(struct builder *b)
{
    struct circuit_image *m = &b->image;
    struct frame *f = builder_frame(b);
    const uint32_t id = m->template_count;
    size_t template_capacity = id;

    if (f->number_slots != f->numbers.count ||
        f->emitted + f->numbers.count + f->independent_aux != f->aux_count)
        builder_fail(b, "a gadget's steps do not compute the variables that it allocates");
    if (builder_room(b, &m->templates, &template_capacity, id + 1, sizeof *m->templates) &&
        builder_room(b, &m->rows, &b->rows_capacity, m->rows_size + f->rows.count, sizeof *m->rows) &&
        builder_room(b, &m->steps, &b->steps_capacity, m->steps_size + f->step_count, sizeof *m->steps) &&
        builder_room(b, &m->arguments, &b->arguments_capacity, m->arguments_size + f->arguments.count,
                     sizeof *m->arguments) &&
        builder_room(b, &m->number_aux, &b->numbers_capacity, m->number_aux_size + f->numbers.count,
                     sizeof *m->number_aux)) {
        struct circuit_template *p = &m->templates[id];
        memset(p, 0, sizeof *p);
        memcpy(p->name, f->name, sizeof p->name);
        p->aux_count = f->aux_count;
        p->input_count = f->input_count;
        p->row_count = f->row_count;
        p->number_count = (uint32_t)f->numbers.count;
        p->import_count = f->import_count;
        p->word_count = f->word_count;
        p->source_numbers = f->source_numbers;
        p->source_words = f->source_words;
        p->word_imports = f->word_imports;
        p->depth_words = f->word_count + f->depth_words;
        p->depth_imports = f->import_count + f->depth_imports;
        p->rows_begin = m->rows_size;
        p->rows_end = m->rows_size + f->rows.count;
        p->steps_begin = m->steps_size;
        p->steps_end = m->steps_size + f->step_count;
        p->numbers_begin = m->number_aux_size;
        for (size_t i = 0; i < f->step_count; i++) { /* arguments move to the image's array */
            uint32_t *at = step_arguments(&f->steps[i]);
            if (at != NULL) *at += (uint32_t)m->arguments_size;
        }
        if (f->rows.count) memcpy(m->rows + m->rows_size, f->rows.data, f->rows.count * sizeof *m->rows);
        if (f->step_count) memcpy(m->steps + m->steps_size, f->steps, f->step_count * sizeof *m->steps);
        if (f->arguments.count)
            memcpy(m->arguments + m->arguments_size, f->arguments.data,
                   f->arguments.count * sizeof *m->arguments);
        if (f->numbers.count)
            memcpy(m->number_aux + m->number_aux_size, f->numbers.data,
                   f->numbers.count * sizeof *m->number_aux);
        m->rows_size += f->rows.count;
        m->steps_size += f->step_count;
        m->arguments_size += f->arguments.count;
        m->number_aux_size += f->numbers.count;
        m->template_count++;
    }
    frame_fini(f);
    if (b->depth > 1) b->depth--;
    return id;
}

cuzk_status builder_finish(struct builder *b, struct circuit_image *out)
{
    memset(out, 0, sizeof *out);
    if (b->depth != 1) builder_fail(b, "a template was not ended");
    struct frame *f = builder_frame(b);
    const uint32_t trail[2] = { ROW_TRAIL | f->input_count << 8, 0 };
    builder_row_words(b, trail, 2, f->input_count);
    frame_pop(b);
    cuzk_status status = b->status;
    if (status == CUZK_OK) {
        *out = b->image;
        memset(&b->image, 0, sizeof b->image);
        memcpy(out->name, b->name, sizeof out->name);
        out->coefficients = b->coefficients;
        out->coefficient_count = b->coefficient_count;
        b->coefficients = NULL;
        status = image_derive(out, b->task);
        if (status != CUZK_OK) image_fini(out);
    }
    builder_destroy(b);
    return status;
}

/* -- rows and steps -- */

void builder_row_words(struct builder *b, const uint32_t *words, size_t count, uint32_t rows)
{
    struct frame *f = builder_frame(b);
    f->last_entry = SIZE_MAX;
    if (append(b, &f->rows, words, count)) f->row_count += rows;
}

void builder_row_run(struct builder *b, uint32_t class, const uint32_t *refs, size_t count, uint32_t rows)
{
    struct frame *f = builder_frame(b);
    uint32_t *last = f->last_entry != SIZE_MAX ? f->rows.data + f->last_entry : NULL;
    const uint32_t grown = last != NULL ? last[0] >> 8 : 0, head = class | 1u << 8;
    bool same = last != NULL && (last[0] & 0xff) == class;
    for (size_t i = 0; i < count && same; i++)
        same = refs[i] == last[1 + i] + grown * (rows == 2 && i + 1 == count ? 2 : 1);
    if (same) {
        last[0] += 1u << 8;
        f->row_count += rows;
        return;
    }
    const size_t entry = f->rows.count;
    builder_row_words(b, &head, 1, rows);
    builder_row_words(b, refs, count, 0);
    if (b->status == CUZK_OK) f->last_entry = entry;
}

void builder_step(struct builder *b, const struct step *s, const uint32_t *arguments, size_t count)
{
    struct frame *f = builder_frame(b);
    if (!builder_room(b, &f->steps, &f->step_capacity, f->step_count + 1, sizeof *f->steps)) return;
    struct step *p = &f->steps[f->step_count];
    *p = *s;
    uint32_t *at = step_arguments(p);
    if (at != NULL) *at = (uint32_t)f->arguments.count;
    if (append(b, &f->arguments, arguments, count)) f->step_count++;
}

void lc_add(struct builder *b, struct lc *lc, uint32_t ref, const fe_t *k)
{
    if (!builder_room(b, &lc->terms, &lc->capacity, lc->count + 2, sizeof *lc->terms)) return;
    struct term *p = &lc->terms[lc->count];
    const bool negated = (ref & REF_NOT) != 0, constant = (ref & REF_KIND) == REF_ONE;
    if (negated || constant) { /* not v = 1 - v */
        if (constant && negated) return;
        p->ref = REF_ONE;
        p->k = *k;
        p++;
        lc->count++;
    }
    if (constant) return;
    p->ref = ref & ~REF_NOT;
    p->k = *k;
    if (negated) fe_neg(&p->k, k);
    lc->count++;
}

void lc_fini(struct lc *lc)
{
    free(lc->terms);
    memset(lc, 0, sizeof *lc);
}

/* ONE first, then inputs, imports and locals: close to ascending order in the whole circuit. */
static uint32_t term_order(uint32_t ref)
{
    static const uint32_t rank[4] = { 3, 2, 1, 0 };
    return rank[ref >> 30] << 30 | (ref & REF_INDEX);
}

static int compare_terms(const void *x, const void *y)
{
    const uint32_t a = term_order(((const struct term *)x)->ref),
                   c = term_order(((const struct term *)y)->ref);
    return a < c ? -1 : a > c;
}

void lc_merge(struct lc *lc)
{
    size_t n = 0;
    if (lc->count > 1) qsort(lc->terms, lc->count, sizeof *lc->terms, compare_terms);
    for (size_t i = 0; i < lc->count;) {
        struct term sum = lc->terms[i++];
        while (i < lc->count && lc->terms[i].ref == sum.ref) {
            fe_add(&sum.k, &sum.k, &lc->terms[i].k);
            i++;
        }
        if (!fe_is_zero(&sum.k)) lc->terms[n++] = sum;
    }
    lc->count = n;
}

void builder_row(struct builder *b, struct lc *x, struct lc *y, struct lc *z)
{
    struct lc *side[3] = { x, y, z };
    uint32_t head[4] = { ROW_GENERAL | 1u << 8, 0, 0, 0 };
    for (int i = 0; i < 3; i++) {
        lc_merge(side[i]);
        head[1 + i] = (uint32_t)side[i]->count;
    }
    builder_row_words(b, head, 4, 1);
    for (int i = 0; i < 3; i++) {
        for (size_t j = 0; j < side[i]->count; j++) {
            const uint32_t pair[2] = { side[i]->terms[j].ref, builder_coefficient(b, &side[i]->terms[j].k) };
            builder_row_words(b, pair, 2, 0);
        }
        side[i]->count = 0;
    }
}

/* -- templates -- */

static uint32_t pattern_lane(uint32_t ref)
{
    return (ref & REF_KIND) == REF_ONE ? (ref == REF_TRUE ? 1 : 0) : 2;
}

static bool same_template(const struct known_template *k, const struct frame *f)
{
    return strcmp(k->name, f->name) == 0 && k->pattern_size == f->pattern_size &&
           (k->pattern_size == 0 || memcmp(k->pattern, f->pattern, k->pattern_size) == 0);
}

bool template_begin(struct builder *b, uint32_t *id, const struct template_key *key, struct word *words,
                    struct number *numbers)
{
    *id = 0;
    if (b->depth == BUILDER_DEPTH) builder_fail(b, "templates are nested too deeply");
    if (b->status != CUZK_OK) return false;
    struct frame *f = frame_push(b, key->name);
    f->pattern_size = 32 * key->word_count + 1;
    f->pattern = malloc(f->pattern_size);
    if (f->pattern == NULL) {
        no_memory(b);
        b->depth--;
        return false;
    }
    f->pattern[0] = (uint8_t)key->number_count;
    for (size_t w = 0; w < key->word_count; w++)
        for (unsigned i = 0; i < 32; i++)
            f->pattern[1 + 32 * w + i] = (uint8_t)pattern_lane(key->words[w].lane[i]);
    for (size_t i = 0; i < b->known_count; i++) {
        if (!same_template(&b->known[i], f)) continue;
        *id = b->known[i].id;
        frame_fini(f);
        b->depth--;
        return false;
    }
    for (size_t w = 0; w < key->word_count; w++) {
        bool constant = true;
        for (unsigned i = 0; i < 32; i++) {
            const uint32_t ref = key->words[w].lane[i];
            words[w].lane[i] = pattern_lane(ref) == 2 ? REF_IMPORT | (uint32_t)(32 * w + i) : ref;
            constant = constant && pattern_lane(ref) != 2;
        }
        words[w].reg = constant ? WORD_CONSTANT : (uint32_t)w;
    }
    for (size_t i = 0; i < key->number_count; i++) {
        numbers[i].ref = REF_IMPORT | (uint32_t)(32 * key->word_count + i);
        numbers[i].slot = NUMBER_IMPORT | (uint32_t)i;
    }
    f->word_imports = f->word_count = (uint32_t)key->word_count;
    f->import_count = (uint32_t)(32 * key->word_count + key->number_count);
    return true;
}

uint32_t template_end(struct builder *b, const struct word *outs, size_t out_count)
{
    struct frame *f = builder_frame(b);
    struct word *copy = NULL;
    if (b->status != CUZK_OK) return 0;
    if (out_count != 0) {
        copy = malloc(out_count * sizeof *copy);
        if (copy == NULL) {
            no_memory(b);
            return 0;
        }
        memcpy(copy, outs, out_count * sizeof *copy);
        for (size_t i = 0; i < out_count; i++) (void)word_register(b, &copy[i]);
    }
    if (!builder_room(b, &b->known, &b->known_capacity, b->known_count + 1, sizeof *b->known)) {
        free(copy);
        return 0;
    }
    struct known_template *k = &b->known[b->known_count++];
    memcpy(k->name, f->name, sizeof k->name);
    k->pattern = f->pattern;
    k->pattern_size = f->pattern_size;
    f->pattern = NULL;
    k->outs = copy;
    k->out_count = out_count;
    k->id = frame_pop(b);
    return k->id;
}

static const struct known_template *find_known(const struct builder *b, uint32_t id)
{
    for (size_t i = 0; i < b->known_count; i++)
        if (b->known[i].id == id) return &b->known[i];
    return NULL;
}

static uint32_t import_ref(struct builder *b, uint32_t ref)
{
    if ((ref & REF_NOT) && (ref & REF_KIND) != REF_ONE)
        builder_fail(b, "a negated Boolean crosses a template's border");
    return ref & ~REF_NOT;
}

/* Accounts for the callee's variables in the caller. */
static void account(struct builder *b, const struct circuit_template *p, bool independent)
{
    struct frame *f = builder_frame(b);
    const uint32_t *aux = b->image.number_aux;
    if (independent && b->depth != 1) builder_fail(b, "only the circuit itself may make independent calls");
    if (!independent) {
        if (!builder_room(b, &f->numbers.data, &f->numbers.capacity, f->numbers.count + p->number_count,
                          sizeof *aux))
            return;
        for (uint32_t i = 0; i < p->number_count; i++)
            f->numbers.data[f->numbers.count + i] = f->aux_count + aux[p->numbers_begin + i];
        f->numbers.count += p->number_count;
        f->number_slots += p->number_count;
        f->source_numbers += p->source_numbers;
        f->source_words += p->source_words;
        f->emitted += p->aux_count - p->number_count;
    } else {
        f->independent_aux += p->aux_count;
    }
    f->aux_count += p->aux_count;
    f->input_count += p->input_count;
    if (p->depth_words > f->depth_words) f->depth_words = p->depth_words;
    if (p->depth_imports > f->depth_imports) f->depth_imports = p->depth_imports;
}

void template_call(struct builder *b, uint32_t id, const struct word *words, const struct number *numbers,
                   struct word *outs, struct number *last, bool independent)
{
    struct words32 row = { 0 }, arguments = { 0 };
    struct frame *f = builder_frame(b);
    if (b->status != CUZK_OK) return;
    const struct circuit_template *p = &b->image.templates[id];
    const struct known_template *k = find_known(b, id);
    const uint32_t number_imports = p->import_count - 32 * p->word_imports, first_aux = f->aux_count;
    const uint32_t head[5] = { ROW_CALL | (uint32_t)independent << 8, id, f->aux_count, f->input_count,
                               f->row_count };
    const uint32_t base[CALL_WORDS] = { (uint32_t)k->out_count, f->aux_count, f->input_count };

    append(b, &row, head, 5);
    append(b, &arguments, base, CALL_WORDS);
    for (uint32_t w = 0; w < p->word_imports; w++) {
        struct word arg = words[w];
        const uint32_t reg = word_register(b, &arg);
        append(b, &arguments, &reg, 1);
        for (unsigned i = 0; i < 32; i++) {
            const uint32_t ref = import_ref(b, arg.lane[i]);
            append(b, &row, &ref, 1);
        }
    }
    for (uint32_t i = 0; i < number_imports; i++) {
        append(b, &arguments, &numbers[i].slot, 1);
        append(b, &row, &numbers[i].ref, 1);
    }
    struct step s = { .code = STEP_CALL, .count = independent, .dst = f->word_count, .a = id };
    for (size_t i = 0; i < k->out_count; i++) {
        append(b, &arguments, &k->outs[i].reg, 1);
        outs[i] = k->outs[i];
        outs[i].reg = f->word_count++;
        for (unsigned j = 0; j < 32; j++)
            if ((outs[i].lane[j] & REF_KIND) == REF_LOCAL)
                outs[i].lane[j] += first_aux;
            else if ((outs[i].lane[j] & REF_KIND) == REF_IMPORT)
                builder_fail(b, "a template's result is one of its arguments");
    }
    builder_row_words(b, row.data, row.count, p->row_count);
    builder_step(b, &s, arguments.data, arguments.count);
    account(b, p, independent);
    if (last != NULL) {
        last->slot = f->number_slots - 1;
        last->ref = REF_LOCAL | f->numbers.data[f->numbers.count - 1];
    }
    free(row.data);
    free(arguments.data);
}
