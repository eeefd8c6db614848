/* What the arrays of an image_program hold.  Plain integers, for C and for kernels. */
#ifndef CUZK_R1CS_PROGRAM_WORDS_H
#define CUZK_R1CS_PROGRAM_WORDS_H

#include "r1cs/image_words.h"

/* A step (see image_words.h) whose operands are those of its scope.  The differences:
 *
 *   ADD, PACK, POSEIDON, PACK_INPUT   arguments at a: in program->arguments
 *   SOURCE, INDEX                     a: which of the scope's statement
 *   CALL                              word function b, arguments at a: its registers; results go to dst ..
 *   IMPORT                            word dst = the scope's import a */
struct program_op {
    struct step s;
    uint32_t aux;    /* of the scope: where its bits begin */
    uint32_t number; /* of the scope: the first that it computes */
};
enum { PROGRAM_IMPORT = STEP_CODE_COUNT };

/* An operation of a word function; registers are few, since those whose value is not needed any more are used again. */
struct word_op {
    uint16_t in[8]; /* a, b, c; or the summands */
    uint16_t dst;
    uint8_t code, count; /* STEP_*; bits emitted */
    uint8_t rotate_a, rotate_b, summands, nor;
    uint32_t low, high; /* CONST: the word; ADD: the constant; others: low = negate */
    uint64_t mask;
};

struct word_function {
    uint32_t template_id;
    uint32_t first_op, op_count;
    uint32_t register_count, argument_count; /* the arguments are in the first registers */
    uint32_t first_result, result_count;     /* in program->arguments: registers */
    uint32_t call;                           /* the first call of it, in image->arguments */
    uint32_t native;                         /* enum word_native */
};
enum word_native {
    WORD_NATIVE_NONE,
    WORD_NATIVE_SHA256 /* arguments: state, block; results: the new state */
};

/* Operations that do not depend on each other; a long one is alone. */
struct program_group {
    uint32_t first_op, op_count;
};
/* Groups in order. */
struct program_strand {
    uint32_t first_group, group_count;
    uint32_t wave; /* 0: the prologue */
    uint32_t cost; /* to begin with the longest */
};
struct program_scope {
    uint32_t aux, input, number, source_number, source_word; /* its first of each in the circuit */
    uint32_t word;                                           /* its first register */
    uint32_t import_words, import_numbers;                   /* in program->imports: places in the whole */
};
struct program_item {
    uint32_t strand, scope;
};
struct program_round {
    uint32_t first_item, item_count;
    uint32_t wide; /* there are prologues among them */
};
/* A call whose bits are made later.  Every JOB_LANES of them are of one function. */
struct program_job {
    uint32_t op, scope; /* op UINT32_MAX: none, to fill up */
};
enum { JOB_LANES = 32 };

#endif
