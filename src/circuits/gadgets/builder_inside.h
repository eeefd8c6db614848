/* The recorder's state, shared by builder.c (templates, rows), boolean_ops.c (bits, words) and number_ops.c. */
#ifndef CUZK_CIRCUITS_GADGETS_BUILDER_INSIDE_H
#define CUZK_CIRCUITS_GADGETS_BUILDER_INSIDE_H

#include "circuits/gadgets/builder.h"
#include "base/grow.h"

#define BUILDER_DEPTH 8

/* A template being recorded. */
struct frame {
    char name[24];
    struct words32 rows, arguments, numbers; /* numbers: aux offset of each number, calls included */
    struct step *steps;
    size_t step_count, step_capacity;
    size_t last_entry; /* of rows, if it may be continued; else SIZE_MAX */
    uint32_t aux_count, input_count, row_count, word_count, word_imports, import_count;
    uint32_t number_slots;    /* numbers that steps compute; must agree with the allocations */
    uint32_t emitted;         /* bits that steps emit; likewise */
    uint32_t independent_aux; /* of independent calls, which account for themselves */
    uint32_t source_numbers, source_words, depth_words, depth_imports;
    uint8_t *pattern; /* which lanes of its arguments are constants */
    size_t pattern_size;
};

struct known_template {
    char name[24];
    uint8_t *pattern;
    size_t pattern_size;
    struct word *outs;
    size_t out_count;
    uint32_t id;
};

struct builder {
    struct task *task;
    cuzk_status status;
    char name[32];
    struct frame frames[BUILDER_DEPTH];
    unsigned depth;
    struct known_template *known;
    size_t known_count, known_capacity;
    struct circuit_image image;
    size_t rows_capacity, steps_capacity, arguments_capacity, numbers_capacity;
    bls12_381_fr_t *coefficients;
    uint32_t coefficient_count;
    size_t coefficient_capacity;
    uint32_t *table; /* open addressing into coefficients */
    size_t table_size;
    bls12_381_fr_t power[256]; /* of two */
};

static inline struct frame *builder_frame(struct builder *b) { return &b->frames[b->depth - 1]; }

bool builder_room(struct builder *b, void *data, size_t *capacity, size_t need, size_t element_bytes);
uint32_t builder_coefficient(struct builder *b, const bls12_381_fr_t *k);
void builder_row_words(struct builder *b, const uint32_t *words, size_t count, uint32_t rows);
/** A row of a class whose references grow: continues the last entry or begins one.  rows: that an entry's step stands for. */
void builder_row_run(struct builder *b, uint32_t class, const uint32_t *refs, size_t count, uint32_t rows);
void lc_merge(struct lc *lc); /* sorts, adds up equal variables, drops zeros */

void builder_new_bits(struct builder *b, uint32_t *refs,
                      unsigned count); /* variables with their booleanity rows; the caller records the step */

/** The register of a word, given one if it is a constant. */
uint32_t word_register(struct builder *b, struct word *w);

/** Where in a step the offset of its arguments stands; NULL: it has none. */
static inline uint32_t *step_arguments(struct step *s)
{
    switch (s->code) {
    case STEP_ADD:
    case STEP_PACK:
    case STEP_POSEIDON:
    case STEP_PACK_INPUT:
        return &s->a;
    case STEP_CALL:
        return &s->b;
    default:
        return NULL;
    }
}

#endif
