/* Launchers of the kernels that make a circuit image's witness.  Every launcher returns the launch's error code (0: none). */
#ifndef CUZK_BACKEND_CUDA_ASSIGN_KERNELS_H
#define CUZK_BACKEND_CUDA_ASSIGN_KERNELS_H

#include "r1cs/program_words.h"

/* Where the constants of one arity stand, in elements of the table of all. */
struct assign_poseidon {
    uint32_t width, partial_rounds;
    uint32_t keys, mds, pre, sparse; /* see hash/poseidon.h */
};

enum { ASSIGN_ARITIES = 16, ASSIGN_POSEIDON_WIDTH = 12 };

/* An image_program in device memory. */
struct assign_tables {
    const struct program_op *ops;
    const uint32_t *arguments;
    const struct word_op *word_ops;
    const struct word_function *functions;
    const struct program_group *groups;
    const struct program_strand *strands;
    const struct program_scope *scopes;
    const uint32_t *imports;
    const struct program_item *items;
    const struct program_job *jobs;
    const struct assign_poseidon *poseidons; /* ASSIGN_ARITIES of them */
    const void *constants;                   /* of Poseidon, Montgomery form */
};

/* What the kernels read and write. */
struct assign_view {
    uint32_t *bits;
    void *numbers, *inputs; /* canonical integers of 32 bytes */
    uint32_t *words;        /* the registers of all scopes */
    const void *source_numbers;
    const uint32_t *source_words;
    uint32_t *flags; /* ASSIGN_* */
};
enum { ASSIGN_BAD_NUMBER = 1, ASSIGN_BAD_INDEX = 2, ASSIGN_NOT_NATIVE = 4 };

#ifdef __cplusplus
extern "C" {
#endif
/** The strands of items [first, first + count). */
int assign_strands(const struct assign_tables *m, const struct assign_view *v, uint32_t first, uint32_t count, int wide,
                   unsigned function_registers, void *stream);
/** The bits of job_count calls of native functions. */
int assign_call_bits(const struct assign_tables *m, const struct assign_view *v, uint32_t job_count, unsigned function_registers,
                     void *stream);
#ifdef __cplusplus
}
#endif

#endif
