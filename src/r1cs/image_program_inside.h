/* What the makers of an image_program share: image_program.c (operations), word_function.c, program_order.c
 * and program_rounds.c. */
#ifndef CUZK_R1CS_IMAGE_PROGRAM_INSIDE_H
#define CUZK_R1CS_IMAGE_PROGRAM_INSIDE_H

#include "base/grow.h"
#include "r1cs/image_program.h"

#define WRITER_NONE UINT32_MAX

/* A register of a scope: the one that has its value, and the operation that computes it. */
struct scope_word {
    uint32_t reg, writer;
};

/* The program of one template as the scopes that run it share it. */
struct program_body {
    uint32_t template_id;
    uint32_t first_op, op_count; /* in program->ops */
    struct scope_word *words;
    size_t word_count, word_capacity;
    uint32_t *number_writer; /* of each number */
    size_t number_count, number_capacity;
    uint32_t *trial; /* a value of each register */
    uint32_t *wave;  /* of each operation, as they stood before they were put in order */
    uint32_t first_strand, strand_count, wave_count;
};

struct program_maker {
    struct image_program *out;
    struct task *task;
    const struct circuit_image *image;
    size_t op_capacity, argument_capacity, word_op_capacity, function_capacity, group_capacity,
        strand_capacity, scope_capacity, import_capacity, item_capacity, round_capacity, job_capacity;
};

/* Room for `more` elements of an array of the program behind its count. */
#define MAKER_ROOM(mk, name, more)                                                                  \
    maker_room((mk), &(mk)->out->name##s, &(mk)->name##_capacity, (mk)->out->name##_count + (more), \
               sizeof *(mk)->out->name##s)
cuzk_status maker_room(struct program_maker *mk, void *data, size_t *capacity, size_t need,
                       size_t element_bytes) MUST_CHECK;

static inline bool program_op_is_long(const struct program_op *op)
{
    return op->s.code == STEP_POSEIDON || op->s.code == STEP_CALL;
}

/** Whether a template is nothing but words. */
bool word_function_is(const struct circuit_image *m, const struct circuit_template *c);
/** The function that a call means, made if it is a new one. */
cuzk_status word_function_of(struct program_maker *mk, const struct step *call, uint32_t *out) MUST_CHECK;
/** Takes the marks from functions that disagree with their native ones on a call that the body makes, with random values for what the
 * statement says.  In  own, part  what gives the body its arguments; NULL for the circuit itself */
cuzk_status word_functions_try(struct program_maker *mk, struct program_body *b,
                               const struct program_body *own, const struct circuit_part *part) MUST_CHECK;

/** Strands, groups and waves of a body, whose operations it puts in their order. */
cuzk_status program_order(struct program_maker *mk, struct program_body *b) MUST_CHECK;

/** Rounds, items and jobs of all scopes.
 * In  body_of, after  of each scope: which body; for parts, the wave of the circuit's own strands that they wait for */
cuzk_status program_rounds(struct program_maker *mk, const struct program_body *bodies,
                           const uint32_t *body_of, const uint32_t *after) MUST_CHECK;

#endif
