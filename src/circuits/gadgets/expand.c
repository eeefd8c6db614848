/* Expansion of templates into rows: references are resolved against the instance, terms sorted and merged. */
#include "circuits/gadgets/expand.h"
#include "base/grow.h"
#include "r1cs/instance.h"

#define FE bls12_381_fr
#include "field/fe_names.h"

struct terms {
    struct row_term *data;
    size_t count, capacity;
};

struct expander {
    const struct circuit_image *image;
    struct task *task;
    row_sink *sink;
    void *context;
    struct expanded_row row;
    struct terms side[3], spare;
    fe_t *extra; /* coefficients that merging made */
    size_t extra_count, extra_capacity;
    bool skip_parts;
    cuzk_status status;
};

static cuzk_status no_memory(struct expander *e)
{
    return e->status = FAIL(e->task, CUZK_NO_MEMORY, "no memory to expand circuit %s", e->image->name);
}

static void put(struct expander *e, int side, uint32_t var, uint32_t coefficient)
{
    struct terms *s = &e->side[side];
    if (!grow(&s->data, &s->capacity, s->count + 1, sizeof *s->data)) {
        (void)no_memory(e);
        return;
    }
    s->data[s->count].var = var;
    s->data[s->count++].coefficient = coefficient;
}

/* +1 or -1 times a Boolean. */
static void put_bit(struct expander *e, int side, const struct instance *at, uint32_t ref, bool minus)
{
    const uint32_t plus_one = minus ? COEFFICIENT_MINUS_ONE : COEFFICIENT_ONE;
    const uint32_t minus_one = minus ? COEFFICIENT_ONE : COEFFICIENT_MINUS_ONE;
    if (ref & REF_NOT) {
        put(e, side, 0, plus_one);
        put(e, side, instance_var(at, ref), minus_one);
    } else {
        put(e, side, instance_var(at, ref), plus_one);
    }
}

/* -- sorting and merging -- */

static void sort_small(struct row_term *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct row_term v = x[i];
        size_t j = i;
        for (; j > 0 && x[j - 1].var > v.var; j--) x[j] = x[j - 1];
        x[j] = v;
    }
}

/* Radix sort by var, 11 bits a pass; the result is in x. */
static void sort_large(struct row_term *x, struct row_term *spare, size_t n)
{
    struct row_term *from = x, *to = spare;
    for (unsigned shift = 0; shift < 33; shift += 11) {
        uint32_t at[2048] = { 0 }, sum = 0;
        for (size_t i = 0; i < n; i++) at[from[i].var >> shift & 2047]++;
        for (unsigned d = 0; d < 2048; d++) {
            const uint32_t here = at[d];
            at[d] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) to[at[from[i].var >> shift & 2047]++] = from[i];
        struct row_term *swap = from;
        from = to;
        to = swap;
    }
    memcpy(x, from, n * sizeof *x); /* an odd number of passes */
}

static bool ascending(const struct row_term *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (x[i - 1].var >= x[i].var) return false;
    return true;
}

static const fe_t *coefficient(const struct expander *e, uint32_t id)
{
    const uint32_t known = e->image->coefficient_count;
    return id < known ? &e->image->coefficients[id] : &e->extra[id - known];
}

/* Adds up the coefficients of x[0..n), all of one variable; false: they cancel. */
static bool merge_run(struct expander *e, struct row_term *out, const struct row_term *x, size_t n)
{
    fe_t sum = *coefficient(e, x[0].coefficient);
    *out = x[0];
    if (n == 1) return !fe_is_zero(&sum);
    for (size_t i = 1; i < n; i++) fe_add(&sum, &sum, coefficient(e, x[i].coefficient));
    if (fe_is_zero(&sum)) return false;
    if (!grow(&e->extra, &e->extra_capacity, e->extra_count + 1, sizeof *e->extra))
        return no_memory(e), false;
    e->extra[e->extra_count] = sum;
    out->coefficient = e->image->coefficient_count + (uint32_t)e->extra_count++;
    return true;
}

static void normalise(struct expander *e, struct terms *s)
{
    size_t n = 0;
    if (ascending(s->data, s->count)) return; /* the dictionary holds no zero */
    if (s->count <= 48)
        sort_small(s->data, s->count);
    else if (grow(&e->spare.data, &e->spare.capacity, s->count, sizeof *s->data))
        sort_large(s->data, e->spare.data, s->count);
    else
        (void)no_memory(e);
    for (size_t i = 0, j; i < s->count; i = j) {
        for (j = i + 1; j < s->count && s->data[j].var == s->data[i].var; j++) continue;
        if (merge_run(e, &s->data[n], &s->data[i], j - i)) n++;
    }
    s->count = n;
}

static void emit(struct expander *e)
{
    if (e->status != CUZK_OK) return;
    for (int i = 0; i < 3; i++) {
        normalise(e, &e->side[i]);
        e->row.side[i] = e->side[i].data;
        e->row.count[i] = (uint32_t)e->side[i].count;
    }
    e->row.extra = e->extra;
    if (e->status == CUZK_OK) e->status = e->sink(e->context, e->task, &e->row);
    for (int i = 0; i < 3; i++) e->side[i].count = 0;
    e->extra_count = 0;
    e->row.index++;
}

/* -- one entry of a stream -- */

static void expand_bits(struct expander *e, const struct instance *at, const uint32_t *p)
{
    const uint32_t first = instance_var(at, p[1]);
    for (uint32_t i = 0; i < p[0] >> 8; i++) {
        put(e, 0, 0, COEFFICIENT_ONE);
        put(e, 0, first + i, COEFFICIENT_MINUS_ONE);
        put(e, 1, first + i, COEFFICIENT_ONE);
        emit(e);
    }
}

static void expand_xor(struct expander *e, const struct instance *at, const uint32_t *p)
{
    for (uint32_t i = 0; i < p[0] >> 8; i++) {
        put(e, 0, instance_var(at, p[1] + i), COEFFICIENT_TWO);
        put_bit(e, 1, at, p[2] + i, false);
        put_bit(e, 2, at, p[1] + i, false);
        put_bit(e, 2, at, p[2] + i, false);
        put_bit(e, 2, at, p[3] + i, true);
        emit(e);
    }
}

static void expand_and(struct expander *e, const struct instance *at, const uint32_t *p)
{
    for (uint32_t i = 0; i < p[0] >> 8; i++) {
        for (int side = 0; side < 3; side++) put_bit(e, side, at, p[1 + side] + i, false);
        emit(e);
    }
}

static void expand_ch(struct expander *e, const struct instance *at, const uint32_t *p)
{
    for (uint32_t i = 0; i < p[0] >> 8; i++) {
        put_bit(e, 0, at, p[2] + i, false);
        put_bit(e, 0, at, p[3] + i, true);
        put_bit(e, 1, at, p[1] + i, false);
        put_bit(e, 2, at, p[4] + i, false);
        put_bit(e, 2, at, p[3] + i, true);
        emit(e);
    }
}

static void expand_maj(struct expander *e, const struct instance *at, const uint32_t *p)
{
    for (uint32_t i = 0; i < p[0] >> 8; i++) {
        const uint32_t a = p[1] + i, b = p[2] + i, c = p[3] + i, r = p[4] + 2 * i, t = r + 1;
        const bool swap = (b & REF_NOT) && !(c & REF_NOT);
        put_bit(e, 0, at, swap ? c : b, false);
        put_bit(e, 1, at, swap ? b : c, false);
        put_bit(e, 2, at, t, false);
        emit(e);
        put(e, 0, instance_var(at, t), COEFFICIENT_TWO);
        put_bit(e, 0, at, b, true);
        put_bit(e, 0, at, c, true);
        put_bit(e, 1, at, a, false);
        put_bit(e, 2, at, t, false);
        put_bit(e, 2, at, r, true);
        emit(e);
    }
}

static void put_runs(struct expander *e, int side, const struct instance *at, const uint32_t *run,
                     uint32_t count)
{
    for (; count > 0; count--, run += 2)
        for (uint32_t i = 0; i < RUN_COUNT(run[1]); i++)
            put(e, side, instance_var(at, run[0] + i * RUN_STRIDE(run[1])),
                coefficient_power(RUN_SHIFT(run[1]) + i));
}

static void put_pairs(struct expander *e, int side, const struct instance *at, const uint32_t *pair,
                      uint32_t count)
{
    for (; count > 0; count--, pair += 2) put(e, side, instance_var(at, pair[0]), pair[1]);
}

static void expand_sums(struct expander *e, const struct instance *at, const uint32_t *p)
{
    put_runs(e, 0, at, p + 4, p[1]);
    put_pairs(e, 0, at, p + 4 + 2 * (size_t)p[1], p[2]);
    put(e, 1, 0, COEFFICIENT_ONE);
    put_runs(e, 2, at, p + 4 + 2 * ((size_t)p[1] + p[2]), p[3]);
    emit(e);
}

static void expand_pick(struct expander *e, const struct instance *at, const uint32_t *p)
{
    put_bit(e, 0, at, p[3], false);
    put_bit(e, 0, at, p[2], true);
    put_bit(e, 1, at, p[1], false);
    put_bit(e, 2, at, p[3], false);
    put_bit(e, 2, at, p[4], true);
    emit(e);
}

static void expand_general(struct expander *e, const struct instance *at, const uint32_t *p)
{
    const uint32_t *pair = p + 4;
    for (int side = 0; side < 3; side++) {
        put_pairs(e, side, at, pair, p[1 + side]);
        pair += 2 * (size_t)p[1 + side];
    }
    emit(e);
}

static void expand_trail(struct expander *e, const struct instance *at, const uint32_t *p)
{
    for (uint32_t i = 0; i < p[0] >> 8; i++) {
        put(e, 0, at->input + p[1] + i, COEFFICIENT_ONE);
        emit(e);
    }
}

static void expand_template(struct expander *e, const struct circuit_template *c, const struct instance *at)
{
    const struct circuit_image *m = e->image;
    for (uint64_t i = c->rows_begin; i < c->rows_end && e->status == CUZK_OK;
         i += row_entry_words(m, m->rows + i)) {
        const uint32_t *p = m->rows + i;
        switch (p[0] & 0xff) {
        case ROW_BITS:
            expand_bits(e, at, p);
            break;
        case ROW_XOR:
            expand_xor(e, at, p);
            break;
        case ROW_AND:
            expand_and(e, at, p);
            break;
        case ROW_CH:
            expand_ch(e, at, p);
            break;
        case ROW_MAJ:
            expand_maj(e, at, p);
            break;
        case ROW_PICK:
            expand_pick(e, at, p);
            break;
        case ROW_SUMS:
            expand_sums(e, at, p);
            break;
        case ROW_GENERAL:
            expand_general(e, at, p);
            break;
        case ROW_TRAIL:
            expand_trail(e, at, p);
            break;
        default: {
            struct instance inside;
            const struct circuit_template *callee = &m->templates[p[1]];
            if (e->skip_parts && p[0] >> 8 != 0) {
                e->row.index += callee->row_count;
                break;
            }
            e->status = task_poll(e->task);
            instance_enter(&inside, at, callee, p);
            expand_template(e, callee, &inside);
        }
        }
    }
}

/* part NULL: the circuit. */
static cuzk_status expand(struct expander *e, const struct circuit_part *part)
{
    const struct circuit_image *m = e->image;
    const struct circuit_template *c = image_circuit(m);
    struct instance whole = { 0, 0, NULL, NULL }, inside;
    uint32_t *imports = malloc((c->depth_imports + 1) * sizeof *imports);

    if (imports == NULL) return FAIL(e->task, CUZK_NO_MEMORY, "no memory to expand circuit %s", m->name);
    whole.room = imports;
    e->row.coefficients = m->coefficients;
    e->row.coefficient_count = m->coefficient_count;
    if (part != NULL) {
        e->row.index = part->first_row;
        instance_enter(&inside, &whole, &m->templates[part->template_id], m->rows + part->row_entry);
        expand_template(e, &m->templates[part->template_id], &inside);
    } else {
        expand_template(e, c, &whole);
    }
    for (int i = 0; i < 3; i++) free(e->side[i].data);
    free(e->spare.data);
    free(e->extra);
    free(imports);
    return e->status;
}

cuzk_status image_expand(const struct circuit_image *m, struct task *t, row_sink *sink, void *context)
{
    struct expander e = { .image = m, .task = t, .sink = sink, .context = context };

    return expand(&e, NULL);
}

cuzk_status image_expand_part(const struct circuit_image *m, struct task *t, uint32_t index, row_sink *sink,
                              void *context)
{
    struct expander e = { .image = m, .task = t, .sink = sink, .context = context, .skip_parts = true };

    return expand(&e, index == 0 ? NULL : &m->parts[index - 1]);
}
