/* The witness programs of a circuit image, laid out for a machine with many processors.
 *
 * Calls are gone: what a called template does stands where the call stood, over registers and numbers of the whole scope (the circuit
 * itself, or one of its parts).  Only two kinds of operation remain that take long, a Poseidon and a call of a word function (a template
 * of nothing but words: a SHA-256 compression).  Chains of them with their small change are strands, which run side by side: what depends
 * on no long operation is a scope's prologue, the rest are strands in waves, each of which depends on earlier waves only.
 *
 * A word function that computes what the processor can do faster natively is marked; its chain is then run natively, and the bits that
 * its steps emit are made later, all calls at once, by running its operations.  These end in the same results or the mark was wrong, which
 * is checked in every run.
 *
 * Everything is plain integers, so that a device can have it as it stands. */
#ifndef CUZK_R1CS_IMAGE_PROGRAM_H
#define CUZK_R1CS_IMAGE_PROGRAM_H

#include "r1cs/image.h"

/* A step (see image.h) whose operands are those of its scope.  The differences:
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
enum word_native { WORD_NATIVE_NONE, WORD_NATIVE_SHA256 /* arguments: state, block; results: the new state */ };

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

struct image_program {
    const struct circuit_image *image; /* borrowed */
    struct program_op *ops;
    uint32_t *arguments;
    struct word_op *word_ops;
    struct word_function *functions;
    struct program_group *groups;
    struct program_strand *strands;
    struct program_scope *scopes; /* the circuit, then its parts */
    uint32_t *imports;
    struct program_item *items;
    struct program_round *rounds;
    struct program_job *jobs;
    size_t op_count, argument_count, word_op_count, function_count, group_count, strand_count, scope_count, import_count, item_count,
        round_count, job_count;
    uint32_t word_total;         /* registers of all scopes */
    uint32_t function_registers; /* of the word function that has most */
    bool arity[16];              /* that some Poseidon has */
};

/** Errors  CUZK_NO_MEMORY; CUZK_UNSUPPORTED: a program that writes a register twice, or reads one that it never wrote (none that the
 *         builder records).  Out: to be ended with image_program_fini.
 * Cost    32 GiB: 2 MB, 15 ms. */
cuzk_status image_program_create(struct image_program *out, struct task *t, const struct circuit_image *m) MUST_CHECK;
void image_program_fini(struct image_program *p); /* legal on a zeroed one */

/** What a word function computes, bits aside.  In registers  the arguments;  Out registers  the results, where first_result says. */
void word_function_run(const struct image_program *p, const struct word_function *f, uint32_t *registers);

#endif
