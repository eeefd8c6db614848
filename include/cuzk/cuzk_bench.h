/* Timing on this machine's devices: the single operations that a proof is made of, what sharing a GPU costs, and whole PoRep proofs. */
#ifndef CUZK_CUZK_BENCH_H
#define CUZK_CUZK_BENCH_H

#include "cuzk/cuzk_filecoin.h"

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

/* -- whole PoRep proofs on GPUs: from vanilla proofs to verified bytes, the witness made there --------------------------- */

/* How a key for a bench was made. */
typedef struct cuzk_porep_dev_key {
    size_t size;
    double circuit_s;         /* the circuit recorded */
    double scalars_s;         /* by what each point is a multiple of a generator: on the host, all threads */
    uint64_t host_bytes;      /* that the scalars keep until the points are made */
    uint64_t host_peak_bytes; /* resident, of the process so far; 0: unknown */
} cuzk_porep_dev_key;
#define CUZK_POREP_DEV_KEY_INIT                          \
    {                                                    \
        sizeof(cuzk_porep_dev_key), 0, 0, 0, 0           \
    }

/** Makes an INSECURE development key for a sector size from a fresh secret, without files: cuzk_bench_porep makes its points straight in the
 * devices' memory, and drops the secret when they are there; from then on the key proves on these devices only.  Verification is under the
 * same secret's verifying key.  Proofs under it are worth nothing to anybody else.
 * In      derived  1: in the derived form (four transforms), 0: in the original one (six)
 * Out     made     NULL, or how long it took
 * Errors  CUZK_UNSUPPORTED (the context's backend makes no witnesses), CUZK_INVALID_ARGUMENT (no such sector size), CUZK_TOO_LARGE,
 *         CUZK_NO_MEMORY, CUZK_CANCELLED, CUZK_DEADLINE
 * Cost    0.8 us of CPU a variable, on all threads; 32 GiB: 100 s of CPU, 13.1 GB of host memory until the points are made, 17.1 GB while it runs
 *         (computed from runs at smaller sizes). */
CUZK_CHECKED cuzk_status cuzk_porep_key_make_dev(cuzk_porep_key **out, cuzk_context *context, uint64_t sector_bytes,
                                                 int derived, cuzk_porep_dev_key *made, const cuzk_watch *watch,
                                                 cuzk_error *error);

typedef struct cuzk_porep_bench_options {
    size_t size;
    unsigned proofs;       /* each of another statement than the one before; at least 1 */
    unsigned partitions;   /* of each proof; 0: all that its type has */
    unsigned lanes;        /* batches at the same time on a device, 1 .. 4 */
    unsigned devices;      /* the context's and those behind it; partitions go round them in turn */
    unsigned sweep;        /* partitions that share a walk over the points; 0: all of a batch */
    int check_rows;        /* every row of every partition is checked too */
    uint64_t memory_bytes; /* plan as if a device had so much; 0: what it has */
    /* NULL, or told by the first device's thread when proof number `proof`, from 0, has ended there: how long it took.  The one that is made
     * alone comes last. */
    void (*proof)(void *proof_context, unsigned proof, double seconds);
    void *proof_context;
} cuzk_porep_bench_options;
#define CUZK_POREP_BENCH_OPTIONS_INIT                                  \
    {                                                                  \
        sizeof(cuzk_porep_bench_options), 2, 0, 1, 1, 0, 0, 0, NULL, NULL \
    }

/* How a batch is cut, and what it takes of a device. */
typedef struct cuzk_porep_bench_plan {
    size_t size;
    unsigned partitions, sweep, slots, lanes; /* slots: vectors of scalars in turn; with two, partitions overlap */
    uint64_t key_bytes;     /* the key, the points of numbers and the circuit: shared */
    uint64_t kept_bytes;    /* of a lane: bits and numbers of its partitions, until their sweep, */
    uint64_t vector_bytes;  /* each of slots + 1 vectors, */
    uint64_t front_bytes;   /* workspace of witness and quotient, */
    uint64_t back_bytes;    /* workspace of the sums: over the last vector and the front's, with one slot, */
    uint64_t block_bytes;   /* and all of it */
    uint64_t pinned_bytes;  /* of a lane, on the host */
    uint64_t total_bytes;   /* of the device */
    /* Where not all points of the key fit: */
    uint64_t place_bytes;   /* each of two places of a lane through which points are sent under the sums; 0: all points are there */
    uint64_t sent_bytes;    /* points that a batch sends, */
    uint64_t locked_bytes;  /* and where they are kept, with the statements: locked host memory */
    double kept_share[5];   /* of the points of A, B1, B2, L, H, those that stay on the device */
} cuzk_porep_bench_plan;
#define CUZK_POREP_BENCH_PLAN_INIT                                               \
    {                                                                            \
        sizeof(cuzk_porep_bench_plan), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, { 0 }                                                             \
    }

/** What the host has is not asked: locked_bytes says what it needs.
 * Errors  CUZK_TOO_LARGE: not even one partition fits; both numbers are named. */
CUZK_CHECKED cuzk_status cuzk_bench_porep_plan(cuzk_porep_bench_plan *out, cuzk_context *context,
                                               const cuzk_porep_key *key,
                                               const cuzk_porep_bench_options *options, cuzk_error *error);

/* One stretch of the first device's time, of the last proof. */
typedef struct cuzk_porep_bench_span {
    size_t size;
    const char *stage;  /* "witness", "constraints", "quotient", "sum H"; "sums A", "sums B1", "sums B2", "sums L" of a sweep */
    unsigned partition; /* or sweep */
    int is_sweep;
    double begin_ms, end_ms; /* from the proof's first */
} cuzk_porep_bench_span;

typedef struct cuzk_porep_bench {
    size_t size;
    unsigned proofs, partitions;
    double load_s;                             /* key and circuit to the devices, once */
    double first_s;                            /* from the statement to verified bytes */
    double steady_s;                           /* one lane: mean distance of the other proofs' ends; several: all the time over the proofs' number; 0: one proof */
    double idle_share;                         /* of the first device's time from its first kernel to its last; -1: it keeps no time */
    uint64_t sent_bytes, received_bytes;       /* of a proof, all devices together */
    uint64_t device_peak_bytes, host_peak_bytes; /* the latter resident, pinned memory included; 0: unknown */
    /* Of a development key without files, on the first device: */
    double points_s[5];                        /* its points, A, B1, B2, L, H; 0: they were there, or the key has files */
    double points_host_s;                      /* of all that, scalars on the host and their upload, beside which the device multiplies */
    double single_s;                           /* one more proof, alone on warm devices: from the statement to verified bytes */
    double gap_ms;                             /* the longest stretch between two kernels, as idle_share */
    uint64_t load_host_peak_bytes;             /* resident, until the key was there: host_peak_bytes is since then where the kernel can tell */
    uint64_t group_peak_bytes;                 /* of the process's control group, since that began; 0: unknown */
    uint64_t pinned_bytes;                     /* taken for good, of all devices; whether it counts as resident is the driver's affair */
    uint64_t host_bytes[2], device_bytes[2];   /* after the first proof and after the last: resident, and the most of a device that was taken */
    uint64_t domain_size, points[5];           /* of the key's A, B1, B2, L and H */
    unsigned transforms;                       /* of the quotient */
} cuzk_porep_bench;
#define CUZK_POREP_BENCH_INIT                                                                                   \
    {                                                                                                           \
        sizeof(cuzk_porep_bench), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, 0, 0, 0, 0, 0, 0, { 0 }, { 0 }, 0, { 0 }, 0 \
    }

/** Makes vanilla proofs (two sectors that never were, in turn), proves them over and over, then one more alone, and verifies every proof's bytes against
 * inputs derived from the vanilla proofs' header.
 * In      key   of the sector size;  context  whose backend makes witnesses itself
 * Out     span  called for each stretch when all is over
 * Errors  CUZK_UNSUPPORTED (the backend, or a proof type without sparse sectors), CUZK_TOO_LARGE, those of cuzk_porep_prove */
CUZK_CHECKED cuzk_status cuzk_bench_porep(cuzk_porep_bench *out, cuzk_context *context, const cuzk_porep_key *key,
                                          const cuzk_porep_bench_options *options,
                                          void (*span)(void *span_context, const cuzk_porep_bench_span *span),
                                          void *span_context, const cuzk_watch *watch, cuzk_error *error);

#ifdef __cplusplus
}
#endif
#endif
