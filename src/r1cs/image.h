/* A circuit as data: recorded templates and the instances of them that make up the whole, instead of three matrices.
 *
 * A template is what a gadget did once: a stream of rows over relative variables, and a program that computes the values of the
 * variables that it allocates.  circuits/gadgets records both with the same calls (builder.h).  A template may call others, so an
 * image is a tree; its last template is the circuit.  Three interpreters run over it there: expand.h (rows, one by one, as the
 * definition has them), assign.h (the witness) and evaluate.h (A.w and B.w).  Everything is an array of plain integers, so that a
 * backend can run it too. */
#ifndef CUZK_R1CS_IMAGE_H
#define CUZK_R1CS_IMAGE_H

#include "base/span.h"
#include "base/task.h"
#include "field/bls12_381_fields.h"
#include "r1cs/image_words.h"

/* An independent call of the circuit: a range of rows and variables that can be worked on alone. */
struct circuit_part {
    uint32_t template_id;
    uint64_t row_entry; /* of its ROW_CALL in image->rows */
    uint64_t step;      /* of its STEP_CALL in image->steps */
    uint32_t first_aux, first_input, first_row, first_number, first_source_number, first_source_word;
};

struct circuit_template {
    char name[24];
    uint32_t aux_count, input_count, row_count; /* calls included */
    uint32_t number_count; /* aux that are field elements rather than bits; independent calls excluded */
    uint32_t import_count; /* variables bound by the caller */
    uint32_t word_count;   /* registers */
    uint32_t source_numbers, source_words; /* what it reads of the statement; independent calls excluded */
    uint32_t word_imports;                 /* registers that the caller fills */
    uint32_t depth_words;                  /* registers of the deepest chain of calls, its own included */
    uint32_t depth_imports;                /* imports likewise */
    uint64_t rows_begin, rows_end;         /* in image->rows */
    uint64_t steps_begin, steps_end;       /* in image->steps */
    uint64_t numbers_begin;                /* in image->number_aux: which of its aux are numbers, ascending */
};

struct circuit_image {
    char name[32]; /* "porep-32GiB" */
    struct circuit_template *templates;
    uint32_t template_count; /* the last one is the circuit */
    uint32_t *rows;
    uint64_t rows_size;
    struct step *steps;
    uint64_t steps_size;
    uint32_t *arguments; /* of steps */
    uint64_t arguments_size;
    uint32_t *number_aux;
    uint64_t number_aux_size;
    bls12_381_fr_t *coefficients; /* dictionary, Montgomery form: 1, -1, then 2, 4, ... 2^253, then others */
    uint32_t coefficient_count;
    /* Derived from the above when an image is built or loaded. */
    struct circuit_part *parts;
    uint32_t part_count;
    uint32_t number_total, source_number_total, source_word_total; /* parts included */
};
enum { COEFFICIENT_ONE = 0, COEFFICIENT_MINUS_ONE = 1, COEFFICIENT_TWO = 2, COEFFICIENT_BITS = 254 };
static inline uint32_t coefficient_power(unsigned shift)
{
    return shift == 0 ? COEFFICIENT_ONE : shift + 1;
} /* of 2^shift */

static inline const struct circuit_template *image_circuit(const struct circuit_image *m)
{
    return &m->templates[m->template_count - 1];
}

/** How many of a template's own numbers stand before an aux of it; *found: whether this aux is one.  A binary search. */
uint32_t image_number_rank(const struct circuit_image *m, const struct circuit_template *c, uint32_t aux,
                           bool *found);

void image_fini(struct circuit_image *m); /* legal on a zeroed one */
uint64_t image_bytes(const struct circuit_image *m);

/** Fills what is derived.  The arrays must be sound: image_load checks them first.  CUZK_NO_MEMORY, CUZK_MALFORMED. */
cuzk_status image_derive(struct circuit_image *m, struct task *t) MUST_CHECK;

/** Everything in one block of bytes with version and SHA-256, and back.  out is malloc'ed.
 * Errors of load  CUZK_MALFORMED (short, wrong magic, digest or any index out of range, with the offset), CUZK_UNSUPPORTED (another
 * version): no image that loads can make an interpreter leave its arrays. */
cuzk_status image_save(const struct circuit_image *m, struct task *t, uint8_t **out,
                       size_t *bytes) MUST_CHECK;
cuzk_status image_load(struct circuit_image *out, struct task *t, struct span file) MUST_CHECK;

/* How many stream words one entry takes; used by every walk over a row stream. */
static inline uint64_t row_entry_words(const struct circuit_image *m, const uint32_t *entry)
{
    static const uint8_t fixed[ROW_CLASS_COUNT] = { 2, 4, 4, 5, 5, 5, 4, 4, 5, 2 };
    const uint32_t class = entry[0] & 0xff;
    uint64_t words = fixed[class];
    if (class == ROW_SUMS || class == ROW_GENERAL) words += 2 * ((uint64_t)entry[1] + entry[2] + entry[3]);
    if (class == ROW_CALL) words += m->templates[entry[1]].import_count;
    return words;
}

#endif
