/* Timing on this machine's devices: the single operations that a proof is made of, and what sharing a GPU costs. */
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

#define CUZK_BENCH_CIRCUIT_LOG2_MOST 24

/** Writes a circuit that fills a domain of 2^log2 rows (each a square of a full-size value), and a witness of it: to make a development
 * key from and to time proofs.
 * In      curve  "bn254" or "bls12_381";  log2  3 .. CUZK_BENCH_CIRCUIT_LOG2_MOST */
CUZK_CHECKED cuzk_status cuzk_bench_circuit(const char *curve, unsigned log2, const char *r1cs_path,
                                            const char *wtns_path, cuzk_error *error);

/* -- the interlock bench: what it costs to share one GPU between lanes ------------------------------------------------- */

typedef struct cuzk_interlock_options {
    size_t size;
    unsigned device;          /* of the cuda backend */
    unsigned lanes;           /* 1 .. 16 */
    unsigned partitions;      /* of all lanes together; at least one a lane */
    uint64_t memory_bytes;    /* of the device that may be used, as if the card had no more; 0: all that is free */
    uint64_t partition_bytes; /* uploaded for each partition */
    double compute_ms;        /* of a partition's kernels, alone on the device */
} cuzk_interlock_options;
#define CUZK_INTERLOCK_OPTIONS_INIT { sizeof(cuzk_interlock_options), 0, 3, 12, 0, (uint64_t)12 << 30, 400.0 }

typedef struct cuzk_interlock_row {
    size_t size;
    const char *protocol; /* "one lock", "two locks", "two locks, device synchronise", "arena and events" */
    double seconds, partitions_per_second;
    double idle_share; /* of the device's time, from the first kernel to the last: no partition computing */
    double memory_wait_ms, compute_wait_ms; /* a partition's mean wait for either lock */
    unsigned no_memory;                     /* allocations that failed */
    unsigned skipped_prestage;              /* partitions staged in their turn, since they did not fit before it */
} cuzk_interlock_row;

/** Runs synthetic partitions (three vectors uploaded; kernels over all three, then over the first) over the lanes, under each
 * protocol in turn with the same kernels and bytes.  Every partition's result is checked.
 * Errors  CUZK_UNSUPPORTED (no CUDA in this build), CUZK_DEVICE_UNAVAILABLE, CUZK_TOO_LARGE (both numbers named), CUZK_CANCELLED. */
CUZK_CHECKED cuzk_status cuzk_bench_interlock(const cuzk_interlock_options *options,
                                              void (*row)(void *row_context, const cuzk_interlock_row *row),
                                              void *row_context, const cuzk_watch *watch, cuzk_error *error);

typedef struct cuzk_call_row {
    size_t size;
    const char *call;     /* "cudaFree, 64 MiB" */
    double alone_ms;      /* on an idle device */
    double beside_ms;     /* while another thread's kernel runs for kernel_ms */
    double kernel_ms;
    double launch_ms;     /* the slowest launch of a third thread meanwhile */
    unsigned char waits;  /* it returned only when the kernel had ended */
    unsigned char stalls; /* it held the third thread's launches up */
} cuzk_call_row;

/** Which calls of the CUDA runtime wait for a running kernel, or stall other threads' launches, on this card and driver. */
CUZK_CHECKED cuzk_status cuzk_bench_calls(unsigned device,
                                          void (*row)(void *row_context, const cuzk_call_row *row),
                                          void *row_context, const cuzk_watch *watch, cuzk_error *error);

#ifdef __cplusplus
}
#endif
#endif
