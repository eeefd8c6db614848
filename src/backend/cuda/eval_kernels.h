/* Launchers of the constraint evaluation's kernels.  Every launcher returns the launch's error code (0: none). */
#ifndef CUZK_BACKEND_CUDA_EVAL_KERNELS_H
#define CUZK_BACKEND_CUDA_EVAL_KERNELS_H

#include <stdint.h>

/* A matrix and a witness on the device; see r1cs/csr.h. */
struct eval_matrix {
    const uint64_t *row_start;
    const uint32_t *column, *coefficient;
    const void *dictionary;     /* Montgomery form; entry 0 is 1, entry 1 is -1 */
    const void *witness;        /* canonical integers */
    uint64_t row_count, out_count;
    uint32_t *long_rows;        /* row_count + 1 words: their number, then the rows */
};

enum { EVAL_LONG = 64 };        /* a row with more entries gets a block of its own */

#ifdef __cplusplus
extern "C" {
#endif
int eval_bls12_381_rows(void *out, const struct eval_matrix *m, unsigned sm_count, void *stream);
int eval_bn254_rows(void *out, const struct eval_matrix *m, unsigned sm_count, void *stream);
#ifdef __cplusplus
}
#endif

#endif
