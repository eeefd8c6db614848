/* Ending an image, its size, and what is derived from its arrays. */
#include "r1cs/image.h"
#include "base/grow.h"

uint32_t image_number_rank(const struct circuit_image *m, const struct circuit_template *c, uint32_t aux,
                           bool *found)
{
    const uint32_t *list = m->number_aux + c->numbers_begin;
    uint32_t low = 0, high = c->number_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (list[middle] < aux)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < c->number_count && list[low] == aux;
    return low;
}

void image_fini(struct circuit_image *m)
{
    free(m->templates);
    free(m->rows);
    free(m->steps);
    free(m->arguments);
    free(m->number_aux);
    free(m->coefficients);
    free(m->parts);
    memset(m, 0, sizeof *m);
}

uint64_t image_bytes(const struct circuit_image *m)
{
    return m->template_count * sizeof *m->templates + m->rows_size * sizeof *m->rows +
           m->steps_size * sizeof *m->steps + m->arguments_size * sizeof *m->arguments +
           m->number_aux_size * sizeof *m->number_aux + m->coefficient_count * sizeof *m->coefficients +
           m->part_count * sizeof *m->parts;
}

/* The next independent call at or after the given row entry and step; false: no more. */
static bool next_part(const struct circuit_image *m, uint64_t *row, uint64_t *step)
{
    const struct circuit_template *c = image_circuit(m);
    while (*row < c->rows_end && m->rows[*row] != (ROW_CALL | 1u << 8))
        *row += row_entry_words(m, m->rows + *row);
    while (*step < c->steps_end && !(m->steps[*step].code == STEP_CALL && m->steps[*step].count == 1))
        ++*step;
    return *row < c->rows_end && *step < c->steps_end;
}

cuzk_status image_derive(struct circuit_image *m, struct task *t)
{
    const struct circuit_template *c = image_circuit(m);
    uint64_t row = c->rows_begin, step = c->steps_begin;
    size_t capacity = 0;
    m->number_total = c->number_count;
    m->source_number_total = c->source_numbers;
    m->source_word_total = c->source_words;
    m->part_count = 0;
    for (; next_part(m, &row, &step); row += row_entry_words(m, m->rows + row), step++) {
        if (!grow(&m->parts, &capacity, m->part_count + 1, sizeof *m->parts))
            return FAIL(t, CUZK_NO_MEMORY, "no memory for the parts of circuit %s", m->name);
        struct circuit_part *p = &m->parts[m->part_count++];
        const struct circuit_template *callee = &m->templates[m->rows[row + 1]];
        p->template_id = m->rows[row + 1];
        if (m->steps[step].a != p->template_id ||
            m->arguments[m->steps[step].b + CALL_AUX] != m->rows[row + 2])
            return FAIL(t, CUZK_MALFORMED, "part %u of circuit %s has rows and steps of different templates",
                        m->part_count - 1, m->name);
        p->row_entry = row;
        p->step = step;
        p->first_aux = m->rows[row + 2];
        p->first_input = m->rows[row + 3];
        p->first_row = m->rows[row + 4];
        p->first_number = m->number_total;
        p->first_source_number = m->source_number_total;
        p->first_source_word = m->source_word_total;
        m->number_total += callee->number_count;
        m->source_number_total += callee->source_numbers;
        m->source_word_total += callee->source_words;
    }
    if (row < c->rows_end || step < c->steps_end)
        return FAIL(t, CUZK_MALFORMED, "circuit %s has parts without rows or without steps", m->name);
    return CUZK_OK;
}
