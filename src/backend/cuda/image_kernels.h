/* What the kernels that evaluate a circuit image read; see r1cs/image_flat.h. */
#ifndef CUZK_BACKEND_CUDA_IMAGE_KERNELS_H
#define CUZK_BACKEND_CUDA_IMAGE_KERNELS_H

#include <stdint.h>

/* Rows of one instance that stand behind each other, for one block of threads. */
struct image_run {
    uint32_t instance;
    uint32_t directory; /* of its first row */
    uint32_t row;       /* the same in the circuit */
    uint32_t count;     /* at most IMAGE_RUN_ROWS */
};

/* One row of field elements in up to 32 instances of one template, for one warp. */
struct image_job {
    uint32_t entry, lane; /* as the directory has it */
    uint32_t row;         /* from the instance's first */
    uint32_t instance, count;
};

struct image_tables {
    const uint32_t *rows;
    const struct flat_instance *instances;
    const struct flat_row *directory;
    const struct image_run *runs;
    const struct image_job *jobs;
    const uint32_t *imports, *number_aux;
    const void *coefficients; /* Montgomery form; entry 0 is 1, entry 1 is -1 */
    uint32_t run_count, job_count, input_count, aux_count, number_count;
};

struct image_view {
    const uint32_t *bits;
    const void *numbers, *inputs;
};

enum { IMAGE_RUN_ROWS = 2048, IMAGE_WARP = 32 };

#ifdef __cplusplus
extern "C" {
#endif
/* first_bad NULL: rows are not checked. */
int image_eval_bits(void *a, void *b, const struct image_tables *m, const struct image_view *w, uint64_t *first_bad, void *stream);
int image_eval_numbers(void *a, void *b, const struct image_tables *m, const struct image_view *w, uint64_t *first_bad, void *stream);
/* The values of variables [0, input_count + aux_count) as canonical integers of 32 bytes. */
int image_expand_values(void *out, const struct image_tables *m, const struct image_view *w, void *stream);
#ifdef __cplusplus
}
#endif

#endif
