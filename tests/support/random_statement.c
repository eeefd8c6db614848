/* See random_statement.h. */
#include "support/random_statement.h"

#include "backend/backend.h"
#include <stdlib.h>
#include <string.h>

/* The widths of the words that a template and what it calls read, behind those that are there.  Parts are left out. */
static void list_widths(struct random_statement *s, uint32_t template_id, uint32_t *count)
{
    const struct circuit_image *m = s->image;
    for (uint64_t i = m->templates[template_id].steps_begin; i < m->templates[template_id].steps_end; i++) {
        const struct step *step = &m->steps[i];
        if (step->code == STEP_INDEX) s->widths[(*count)++] = (uint8_t)step->count;
        if (step->code == STEP_CALL && step->count == 0) list_widths(s, step->a, count);
    }
}

void random_statement_make(struct random_statement *s, const struct circuit_image *m, struct prng *random)
{
    uint32_t count = 0;
    s->image = m;
    s->numbers = calloc(m->source_number_total + (size_t)1, sizeof *s->numbers);
    s->words = calloc(m->source_word_total + (size_t)1, sizeof *s->words);
    s->widths = calloc(m->source_word_total + (size_t)1, 1);
    if (s->numbers == NULL || s->words == NULL || s->widths == NULL) abort();
    for (uint32_t i = 0; i < m->source_number_total; i++) do {
            prng_bytes(random, &s->numbers[i], sizeof s->numbers[i]);
            s->numbers[i].l[3] >>= 1;
        } while (!bls12_381_fr_int_is_canonical(&s->numbers[i]));
    list_widths(s, m->template_count - 1, &count);
    for (uint32_t i = 0; i < m->part_count; i++) list_widths(s, m->parts[i].template_id, &count);
    if (count != m->source_word_total) abort();
    for (uint32_t i = 0; i < count; i++) s->words[i] = (uint32_t)prng_u64(random) >> (32 - s->widths[i]);
}

void random_statement_fini(struct random_statement *s)
{
    free(s->numbers);
    free(s->words);
    free(s->widths);
}

struct statement random_statement_view(const struct random_statement *s)
{
    const struct circuit_template *c = image_circuit(s->image);
    const struct statement v = { .own_numbers = s->numbers,
                                 .own_words = s->words,
                                 .part_numbers = s->numbers + c->source_numbers,
                                 .part_words = s->words + c->source_words };
    return v;
}

cuzk_status random_statement_write(const void *context, struct task *t, unsigned number, uint8_t *out)
{
    const struct random_statement *s = context;
    const size_t words = image_statement_words(s->image);

    (void)t;
    (void)number;
    memcpy(out, s->numbers, words);
    memcpy(out + words, s->words, 4 * (size_t)s->image->source_word_total);
    return CUZK_OK;
}
