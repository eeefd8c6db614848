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
#include "r1cs/program_words.h"

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
    size_t op_count, argument_count, word_op_count, function_count, group_count, strand_count, scope_count,
        import_count, item_count, round_count, job_count;
    uint32_t word_total;         /* registers of all scopes */
    uint32_t function_registers; /* of the word function that has most */
    bool arity[16];              /* that some Poseidon has */
};

/** Errors  CUZK_NO_MEMORY; CUZK_UNSUPPORTED: a program that writes a register twice, or reads one that it never wrote (none that the
 *         builder records).  Out: to be ended with image_program_fini.
 * Cost    32 GiB: 2 MB, 15 ms. */
cuzk_status image_program_create(struct image_program *out, struct task *t,
                                 const struct circuit_image *m) MUST_CHECK;
void image_program_fini(struct image_program *p); /* legal on a zeroed one */

/** What a word function computes, bits aside.  In registers  the arguments;  Out registers  the results, where first_result says. */
void word_function_run(const struct image_program *p, const struct word_function *f, uint32_t *registers);

#endif
