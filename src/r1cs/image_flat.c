/* Laying out a circuit image: instances by template, references resolved as far as a template alone resolves them. */
#include "r1cs/image_flat.h"

#include <stdlib.h>

#define MOST_INSTANCES (1u << 28)

/* The walk over the entries of a template's rows. */
#define EACH_ENTRY(i, m, c) \
    (uint64_t i = (c)->rows_begin; i < (c)->rows_end; i += row_entry_words((m), (m)->rows + i))

static bool is_call(const uint32_t *p) { return (p[0] & 0xff) == ROW_CALL; }
static uint32_t entry_rows(const uint32_t *p) { return ((p[0] & 0xff) == ROW_MAJ ? 2 : 1) * (p[0] >> 8); }

/* The part that an aux of the circuit belongs to, or NULL. */
static const struct circuit_part *part_of(const struct circuit_image *m, uint32_t aux)
{
    uint32_t low = 0, high = m->part_count; /* the first part behind the aux */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->parts[middle].first_aux <= aux)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return NULL;
    const struct circuit_part *p = &m->parts[low - 1];
    return aux - p->first_aux < m->templates[p->template_id].aux_count ? p : NULL;
}

static uint32_t flat_ref(const struct circuit_image *m, const struct circuit_template *c, uint32_t ref)
{
    const struct circuit_part *part;
    uint32_t aux = ref & REF_INDEX, first = 0, rank;
    bool found;
    if ((ref & REF_KIND) != REF_LOCAL) return ref & ~REF_NOT;
    if (c == image_circuit(m) && (part = part_of(m, aux)) != NULL) {
        aux -= part->first_aux;
        first = part->first_number;
        c = &m->templates[part->template_id];
    }
    rank = image_number_rank(m, c, aux, &found);
    return found ? REF_LOCAL | FLAT_NUMBER | (first + rank) : ref & ~REF_NOT;
}

static void flatten_refs(struct image_flat *f, const struct circuit_template *c, uint64_t at, uint64_t count,
                         unsigned stride)
{
    for (; count > 0; count--, at += stride) f->rows[at] = flat_ref(f->image, c, f->image->rows[at]);
}

/* Rows, directory and segments of one template. */
static void flatten_template(struct image_flat *f, uint32_t id)
{
    const struct circuit_image *m = f->image;
    const struct circuit_template *c = &m->templates[id];
    struct flat_template *own = &f->templates[id];
    uint32_t row = 0;
    bool open = false;
    own->first_row = f->row_count;
    own->first_segment = f->segment_count;
    for
        EACH_ENTRY(i, m, c)
        {
            const uint32_t *p = m->rows + i;
            switch (p[0] & 0xff) {
            case ROW_CALL:
                flatten_refs(f, c, i + 5, m->templates[p[1]].import_count, 1);
                row += m->templates[p[1]].row_count;
                open = false;
                continue;
            case ROW_PICK:
                flatten_refs(f, c, i + 2, 3, 1);
                break;
            case ROW_SUMS:
                flatten_refs(f, c, i + 4 + 2 * (uint64_t)p[1], p[2], 2);
                break;
            case ROW_GENERAL:
                flatten_refs(f, c, i + 4, (uint64_t)p[1] + p[2] + p[3], 2);
                break;
            default:
                break;
            }
            const uint32_t rows = entry_rows(p);
            if (rows == 0) continue;
            if (!open)
                f->segments[f->segment_count++] = (struct flat_segment){ .first = f->row_count, .row = row };
            open = true;
            f->segments[f->segment_count - 1].count += rows;
            for (uint32_t lane = 0; lane < rows; lane++)
                f->directory[f->row_count++] = (struct flat_row){ .entry = (uint32_t)i, .lane = lane };
            row += rows;
        }
    own->row_count = f->row_count - own->first_row;
    own->segment_count = f->segment_count - own->first_segment;
}

/* A callee's import, given as the caller names it, as a place of the circuit. */
static uint32_t place_of(const struct image_flat *f, const struct flat_instance *at, uint32_t ref)
{
    const uint32_t i = ref & REF_INDEX;
    switch (ref & REF_KIND) {
    case REF_LOCAL:
        return ref & FLAT_NUMBER ? PLACE_NUMBER | (at->number + i) : PLACE_BIT | (at->aux + i);
    case REF_IMPORT:
        return f->imports[at->import + i];
    case REF_INPUT:
        return PLACE_INPUT | (at->input + i);
    default:
        return PLACE_ONE;
    }
}

/* The instances that the instances of one template call.  next: where each template's next instance and its imports go. */
static void instantiate(struct image_flat *f, uint32_t id, uint32_t *next, uint32_t *next_import)
{
    const struct circuit_image *m = f->image;
    const struct circuit_template *c = &m->templates[id];
    const struct flat_template *own = &f->templates[id];
    uint32_t part = 0;
    bool found;
    for
        EACH_ENTRY(i, m, c)
        {
            const uint32_t *p = f->rows + i;
            if (!is_call(p)) continue;
            const uint32_t imports = m->templates[p[1]].import_count, rank = image_number_rank(m, c, p[2], &found);
            const bool independent = p[0] >> 8 != 0;
            for (uint32_t k = 0; k < own->instance_count; k++) {
                const struct flat_instance *at = &f->instances[own->first_instance + k];
                struct flat_instance *inside = &f->instances[next[p[1]]++];
                inside->aux = at->aux + p[2];
                inside->input = at->input + p[3];
                inside->row = at->row + p[4];
                inside->number = independent ? m->parts[part].first_number : at->number + rank;
                inside->template_id = p[1];
                inside->import = *next_import;
                *next_import += imports;
                for (uint32_t j = 0; j < imports; j++)
                    f->imports[inside->import + j] = place_of(f, at, p[5 + j]);
            }
            part += independent;
        }
}

/* How much there is of everything. */
static cuzk_status count_all(struct image_flat *f, struct task *t)
{
    const struct circuit_image *m = f->image;
    uint64_t instances = 0, imports = 0, rows = 0, segments = 0;
    f->templates[m->template_count - 1].instance_count = 1;
    for (uint32_t id = m->template_count; id-- > 0;) {
        const struct circuit_template *c = &m->templates[id];
        struct flat_template *own = &f->templates[id];
        own->first_instance = (uint32_t)instances;
        instances += own->instance_count;
        imports += (uint64_t)own->instance_count * c->import_count;
        if (own->instance_count == 0) continue;
        segments++;
        for
            EACH_ENTRY(i, m, c)
            {
                const uint32_t *p = m->rows + i;
                if (!is_call(p)) {
                    rows += entry_rows(p);
                    continue;
                }
                const uint64_t called = (uint64_t)f->templates[p[1]].instance_count + own->instance_count;
                if (called > MOST_INSTANCES)
                    return FAIL(t, CUZK_TOO_LARGE, "circuit %s calls more than %u times", m->name,
                                MOST_INSTANCES);
                f->templates[p[1]].instance_count = (uint32_t)called;
                segments++;
            }
    }
    if (instances > MOST_INSTANCES || imports > UINT32_MAX || rows > UINT32_MAX || segments > UINT32_MAX ||
        m->rows_size > UINT32_MAX)
        return FAIL(t, CUZK_TOO_LARGE, "circuit %s has %llu instances and %llu imports", m->name,
                    (unsigned long long)instances, (unsigned long long)imports);
    f->instance_count = (uint32_t)instances;
    f->import_count = (uint32_t)imports;
    f->row_count = (uint32_t)rows;
    f->segment_count = (uint32_t)segments;
    return CUZK_OK;
}

static void list_numbers(struct image_flat *f)
{
    const struct circuit_image *m = f->image;
    const struct circuit_template *c = image_circuit(m);
    uint32_t *to = f->number_aux;
    for (uint32_t i = 0; i < c->number_count; i++) *to++ = m->number_aux[c->numbers_begin + i];
    for (uint32_t k = 0; k < m->part_count; k++) {
        const struct circuit_template *part = &m->templates[m->parts[k].template_id];
        for (uint32_t i = 0; i < part->number_count; i++)
            *to++ = m->parts[k].first_aux + m->number_aux[part->numbers_begin + i];
    }
}

static cuzk_status create(struct image_flat *f, struct task *t, uint32_t *next)
{
    const struct circuit_image *m = f->image;
    uint32_t next_import = 0;
    TRY(count_all(f, t));
    f->rows = malloc((size_t)m->rows_size * sizeof *f->rows + 1);
    f->instances = calloc(f->instance_count, sizeof *f->instances);
    f->directory = malloc((size_t)f->row_count * sizeof *f->directory + 1);
    f->segments = malloc((size_t)f->segment_count * sizeof *f->segments + 1);
    f->imports = malloc((size_t)f->import_count * sizeof *f->imports + 1);
    f->number_aux = malloc((size_t)m->number_total * sizeof *f->number_aux + 1);
    if (f->rows == NULL || f->instances == NULL || f->directory == NULL || f->segments == NULL ||
        f->imports == NULL || f->number_aux == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory to lay out circuit %s", m->name);
    if (m->rows_size > 0) memcpy(f->rows, m->rows, (size_t)m->rows_size * sizeof *f->rows);
    f->row_count = f->segment_count =
        0; /* counted again while they are filled: segments were an upper bound */
    for (uint32_t id = 0; id < m->template_count; id++) {
        next[id] = f->templates[id].first_instance;
        if (f->templates[id].instance_count != 0) flatten_template(f, id);
    }
    f->instances[next[m->template_count - 1]++].template_id = m->template_count - 1;
    for (uint32_t id = m->template_count; id-- > 0;) instantiate(f, id, next, &next_import);
    list_numbers(f);
    return CUZK_OK;
}

cuzk_status image_flat_create(struct image_flat *out, struct task *t, const struct circuit_image *m)
{
    uint32_t *next = calloc(m->template_count, sizeof *next);
    memset(out, 0, sizeof *out);
    out->image = m;
    out->templates = calloc(m->template_count, sizeof *out->templates);
    const cuzk_status status = next != NULL && out->templates != NULL
                                   ? create(out, t, next)
                                   : FAIL(t, CUZK_NO_MEMORY, "no memory to lay out circuit %s", m->name);
    free(next);
    if (status != CUZK_OK) image_flat_fini(out);
    return status;
}

void image_flat_fini(struct image_flat *f)
{
    free(f->rows);
    free(f->templates);
    free(f->instances);
    free(f->directory);
    free(f->segments);
    free(f->imports);
    free(f->number_aux);
    memset(f, 0, sizeof *f);
}
