/* The interlock bench: what it costs to share one device between lanes, under four ways of sharing it.
 *
 * A backend that has it (backend.interlock) runs N lanes over synthetic partitions shaped like a PoRep's: three vectors a, b, c
 * are uploaded, the transforms' share of the kernels reads all three, the sums' share reads a alone.  Kernels and bytes are the
 * same under every protocol; only allocation and synchronisation differ.  Part of the contract: backend.h includes it. */
#ifndef CUZK_BACKEND_INTERLOCK_H
#define CUZK_BACKEND_INTERLOCK_H

#include "base/task.h"
#include <stdint.h>

enum interlock_protocol {
    /* A lane does everything, from allocating to freeing, under one lock. */
    INTERLOCK_ONE_LOCK,
    /* As published: trim the pool, allocate and upload under the memory lock; kernels, freeing, and allocation and upload of what did
     * not fit before, under the compute lock. */
    INTERLOCK_TWO_LOCKS,
    /* The same with a device synchronise at the head of the memory lock, as the published code ended up. */
    INTERLOCK_TWO_LOCKS_SYNC,
    /* This engine: one arena taken before the start, leases in the order of computing, dependencies by events, no lock across a wait. */
    INTERLOCK_ARENA,
    INTERLOCK_PROTOCOLS
};

struct interlock_options {
    unsigned device;     /* its index */
    unsigned lanes;      /* 1 .. INTERLOCK_LANES_MAX */
    unsigned partitions; /* of all lanes together, at least one a lane */
    uint64_t
        memory_bytes; /* device memory that a protocol may use; what the card has beyond is held as ballast.  0: all that is free */
    uint64_t partition_bytes; /* of a, b and c together */
    double compute_ms;        /* of one partition's kernels, alone on the device */
};
enum { INTERLOCK_LANES_MAX = 16 };

struct interlock_result {
    double seconds; /* from the first lane's start to the last result */
    double partitions_per_second;
    double
        idle_share; /* of the time from the first kernel's start to the last one's end: no partition computing */
    double memory_wait_ms;     /* a partition's mean wait for the memory lock, or for its lease */
    double compute_wait_ms;    /* a partition's mean wait for the compute lock */
    unsigned no_memory;        /* allocations that failed */
    unsigned skipped_prestage; /* partitions staged in their turn, since they did not fit before it */
};

/* One call into the CUDA runtime, made while another thread's kernel runs. */
struct interlock_call {
    const char *name;
    double alone_ms;  /* on an idle device */
    double beside_ms; /* while a kernel of kernel_ms runs */
    double kernel_ms;
    double launch_ms; /* the slowest launch of a third thread meanwhile */
    bool waits;       /* returned only when the kernel had ended */
    bool stalls;      /* held the third thread's launches up */
};

/** Runs the protocols that are set in `protocols` (bit 1 << protocol), calling `done` after each.
 * Every partition's result is compared with the one it must be: CUZK_INTERNAL if it differs.
 * Errors  CUZK_INVALID_ARGUMENT, CUZK_TOO_LARGE (a partition does not fit in memory_bytes: both are named), CUZK_NO_MEMORY (host), CUZK_DEVICE_LOST.
 * Cost    partitions x (upload + compute_ms) a protocol. */
typedef cuzk_status interlock_run(struct task *t, const struct interlock_options *o, unsigned protocols,
                                  void (*done)(void *context, enum interlock_protocol protocol,
                                               const struct interlock_result *result),
                                  void *context);
/** The table of calls: which wait for a running kernel, which hold up other threads' launches. */
typedef cuzk_status interlock_calls(struct task *t, unsigned device,
                                    void (*call)(void *context, const struct interlock_call *call),
                                    void *context);

#endif
