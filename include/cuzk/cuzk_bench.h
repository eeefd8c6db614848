/* Timing single operations on this machine's devices: what a proof is made of. */
#ifndef CUZK_CUZK_BENCH_H
#define CUZK_CUZK_BENCH_H

#include "cuzk/cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuzk_bench_row {
    size_t size;
    const char *operation; /* "msm g1, uniform scalars" */
    const char *curve;
    uint64_t count; /* points, elements */
    unsigned runs;  /* counted runs, after one that is not */
    double median_ms, least_ms, most_ms;
} cuzk_bench_row;

/** Times every operation of a proof at 2^log2 random elements and calls row for each as it is measured.
 * In      curve  "bn254" or "bls12_381";  log2  1 .. 26;  runs  1 .. 1000
 * Errors  CUZK_INVALID_ARGUMENT, CUZK_NO_MEMORY, CUZK_CANCELLED.  Every result is checked against one that is known
 *         (points are known multiples of the generator): CUZK_INTERNAL if it differs. */
CUZK_CHECKED cuzk_status cuzk_bench_operations(cuzk_context *context, const char *curve, unsigned log2,
                                               unsigned runs,
                                               void (*row)(void *row_context, const cuzk_bench_row *row),
                                               void *row_context, const cuzk_watch *watch, cuzk_error *error);

#ifdef __cplusplus
}
#endif
#endif
