/* Several proofs at a time on one device: who holds its memory, and who computes.
 *
 * Proofs stand in one line, in the order in which they came.
 *   memory   A proof takes all that it needs there, or nothing, and only when all before it have theirs.  So those that hold memory are
 *            the first of the line: nobody waits for memory that is held by a proof behind it.
 *   compute  The first `computing` of the line compute.  So what holds memory computes next, and gives it back.
 * A proof that holds memory before its turn is staged meanwhile, on a stream for copies, while others compute; one for which there is no
 * room yet takes memory as soon as there is some, in its turn at the latest.  No call here acts on the whole device: lanes depend on
 * each other by these two rules and by what streams wait for.  The line's lock is never held while the device works. */
#ifndef CUZK_GROTH16_PROVE_LANES_H
#define CUZK_GROTH16_PROVE_LANES_H

#include "backend/backend.h"

struct groth16_key;
struct lanes;

enum {
    LANES_DEFAULT = 3,
    LANES_MOST_AT_ONCE = 12,
    LANES_STREAMS_MOST = 14 /* of the 16 that a device has */
};

struct lanes_options {
    unsigned
        lanes; /* proofs that are staged or computed at a time: 1 ... LANES_MOST_AT_ONCE; others wait before they begin */
    unsigned
        computing; /* of these, how many compute at a time; 0: all, as long as their streams are no more than a device has and take
                         * an eighth of its memory at most */
    uint64_t memory_bytes; /* of all proofs together, beside keys; 0: what the device gives */
};

/** Takes `computing` streams of the device, for good: their memory is no proof's.
 * In  device  must outlive the lanes;  all its proofs go through them */
cuzk_status lanes_create(struct lanes **out, struct task *t, const struct backend *backend,
                         struct device *device, const struct lanes_options *o) MUST_CHECK;
void lanes_destroy(struct lanes *l); /* NULL is legal; no proof may be in the line */

/** What they take of the device's memory. */
uint64_t lanes_stream_bytes(const struct lanes *l);
unsigned lanes_computing(const struct lanes *l);
unsigned lanes_count(const struct lanes *l);

struct lanes_report {
    uint64_t proofs, failed;
    uint64_t skipped;    /* of the proofs: not staged before their turn, since there was no room */
    uint64_t peak_bytes; /* of the proofs' memory */
    unsigned waiting;    /* in the line now */
};
void lanes_report(struct lanes *l, struct lanes_report *out); /* Thread  any */

/* A proof's place in the line.  Others than prove_lanes.c only read it. */
struct prove_lane {
    struct lanes *lanes; /* NULL: a proof that shares its device with nobody it has to wait for */
    const struct backend *backend;
    struct device *device;
    const struct groth16_key *key;
    struct stream *copies, *compute; /* NULL: not yet */
    struct buffer block;
    size_t leased_bytes; /* of it */
    bool has_memory, skipped;
    double wait_ms;    /* for memory and for its turn */
    double alloc_ms;   /* of the lease, what it waited for memory included */
    double release_ms; /* of what prove_lane_leave gives back */
    unsigned copies_slot, compute_slot;
    struct prove_lane *next; /* behind it */
};

/* What task_progress says of a proof that waits in the line, some fifty times a second: 0 of those before it. */
#define LANES_WAITING "waiting for others"

/** Joins the line; waits until it is among the first `lanes`.  prove_lane_leave follows in any case.
 * In      key  of the proof, or NULL where lanes is not: the next proof on it gets the same stream to compute, which has its tables
 * Errors  CUZK_CANCELLED, CUZK_DEADLINE: of every function here that waits. */
cuzk_status prove_lane_enter(struct prove_lane *out, struct task *t, struct lanes *lanes,
                             const struct backend *backend, struct device *device,
                             const struct groth16_key *key) MUST_CHECK;

/** Takes a proof's memory: CUZK_NO_MEMORY with nothing held means not now.  Everybody behind waits; may call prove_lane_turn. */
typedef cuzk_status prove_lane_taker(void *context, struct task *t, struct prove_lane *lane);

/** Waits until all before it have memory, then calls take, again whenever some was given back, until it succeeds.
 * Errors  those of take; its CUZK_NO_MEMORY when nobody before it holds anything that could be waited for. */
cuzk_status prove_lane_lease(struct prove_lane *lane, struct task *t, prove_lane_taker *take,
                             void *context) MUST_CHECK;
/** For a taker: lane->block, secret, wiped when the lane is left.
 * Errors  CUZK_TOO_LARGE: more than options.memory_bytes, both numbers named; CUZK_NO_MEMORY */
cuzk_status prove_lane_block(struct prove_lane *lane, struct task *t, size_t bytes) MUST_CHECK;

/** Waits until it is among the first `computing`.  lane->compute is there then, and does what follows after all that lane->copies holds. */
cuzk_status prove_lane_turn(struct prove_lane *lane, struct task *t) MUST_CHECK;

/** Gives all back and leaves the line, from wherever it is.
 * In       status  of the proof: nothing is under way on lane->compute if CUZK_OK
 * Returns  status, or if that is CUZK_OK what has become of the copies */
cuzk_status prove_lane_leave(struct prove_lane *lane, struct task *t, cuzk_status status);

#endif
