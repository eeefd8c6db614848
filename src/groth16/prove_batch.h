/* Proving many partitions of one circuit image on a device, from statements: the story of prove.c without a witness on the host.
 *
 *   for each partition     statement -> witness (bits, numbers) -> a, b -> quotient -> sum H
 *   for all of a sweep     sums A, B1, B2, L: the bits of all partitions in one walk over the points, the numbers of each on their own
 *   on the host            fresh r and s, assembly, verification
 *
 * Everything but the last step is enqueued by prove_batch_begin, on two streams that wait for each other on the device alone: `front`
 * makes scalars, `back` sums.  With two slots a partition's sums run under the next one's transforms.  Of a witness the host sees nothing
 * but the sums; what goes to the device is the statement.  For two devices, a batch on each: partitions go round them in turn.
 *
 * Where the key's points do not fit beside a batch, sums run piece by piece over those that are kept and those that key_feed.h sends, and
 * the sums of pieces are added on the host: the points of a sweep are sent once a sweep, those of H once a partition. */
#ifndef CUZK_GROTH16_PROVE_BATCH_H
#define CUZK_GROTH16_PROVE_BATCH_H

#include "groth16/assemble.h"
#include "groth16/key_feed.h"
#include "groth16/verify.h"

enum {
    BATCH_MOST = BIT_SUM_MAX, /* partitions */
    BATCH_BAD_BYTES = 16,     /* from one partition's first bad row to the next */
    BATCH_PIECE_POINTS =
        128, /* pieces are multiples of so many points: their bits begin on a multiple of 16 bytes */
};

/* What a batch takes, and how it is cut; prove_batch_begin executes it as it stands.  One block holds, in this order,
 *     bits and values of all partitions | two places for points that are sent | scalars a of each slot | b, workspace of the front |
 *     workspace of the back
 * With one slot the last two lie over each other: b has done its work when a partition's sums begin. */
struct batch_plan {
    const struct key_split *split;
    unsigned partitions; /* at most, of a batch */
    unsigned sweep;      /* of them that share one */
    unsigned slots;      /* 1 or 2 */
    bool check_rows;     /* every row of every partition is checked as it is evaluated */
    struct key_keep keep;
    uint64_t piece[QUERY_COUNT]; /* points of a piece; the kept ones of H are one piece */
    struct quotient_plan quotient;
    struct msm_plan h_kept, h, h_last, wide[QUERY_H]; /* h: of a piece that is sent */
    size_t statement_bytes;                           /* pinned, of each partition */
    size_t bits_stride, values_stride;
    size_t values_at, bad_at, place_at[FEED_PLACES], a_at[2], b_at, front_at, back_at,
        run_at; /* run_at: behind bitmaps in a query's order */
    size_t front_bytes, run_bytes,
        sweep_bytes; /* sweep_bytes: of run_bytes, at least, for sums over bitmaps */
    size_t kept_bytes, place_bytes, vector_bytes, back_bytes, block_bytes;
    uint64_t total_bytes; /* key, what all batches share, and `lanes` of these with their streams */
    uint64_t link_bytes;  /* points that a batch of `partitions` sends */
    uint64_t host_bytes;  /* locked: points that are sent, and the statements of `lanes` batches */
};

struct batch_limits {
    unsigned partitions;   /* wanted in one batch, 1 .. BATCH_MOST; fewer are planned where they do not fit */
    unsigned sweep;        /* in one sweep; 0: all.  Half of them for the first proofs to be there sooner */
    unsigned lanes;        /* batches at the same time on the device; 0: one */
    uint64_t memory_bytes; /* as if the device had so much; 0: what it has */
    bool check_rows;
    bool sends;          /* points that do not fit may be kept on the host and sent */
    uint64_t host_bytes; /* of these and all else there; 0: what the process may use */
    uint64_t
        keep_most; /* for tests, of points that are sent if any are: bytes that stay on the device at most; 0: all that fit */
    uint64_t place_bytes; /* and of either place for them; 0: what is best */
};

/** The plan of most partitions that fits.  Of a key that is loaded, what was kept then is what can be planned with.  Where all points fit
 * they are there; slots, workspaces, and what is sent where they do not, are those for which transforms, sums and link take least time.
 * Errors  CUZK_TOO_LARGE: not even one partition fits; both numbers are named.  CUZK_CANCELLED, CUZK_DEADLINE.
 * Cost    at once where all points fit; else a search: 0.1 s for 2^27 points */
cuzk_status prove_batch_plan(struct batch_plan *out, struct task *t, const struct key_split *split,
                             const struct batch_limits *limits) MUST_CHECK;

/* Where the sums of a batch are: pieces in the order in which they are added up. */
struct batch_at {
    unsigned partition;
    enum groth16_query query; /* H of this partition, or a query of the sweep that follows it */
    unsigned index;           /* which piece */
};
unsigned batch_piece_count(const struct batch_plan *p, enum groth16_query q);
/** In  at->index below batch_piece_count; of H every second partition takes what is sent in the opposite order, and finds two pieces still
 *      there */
struct key_piece batch_piece(const struct batch_plan *p, const struct batch_at *at);
/** The next one of a batch of `count` partitions; false: there is none. */
bool batch_next(const struct batch_plan *p, unsigned count, struct batch_at *at);

/* A stretch of the device's time, on its own clock; both 0 where the backend keeps no time. */
struct batch_span {
    uint64_t begin_ns, end_ns;
};
enum batch_stage { BATCH_WITNESS, BATCH_CONSTRAINTS, BATCH_QUOTIENT, BATCH_SUM_H, BATCH_STAGES };
struct batch_times {
    struct batch_span stage[BATCH_MOST][BATCH_STAGES];
    struct batch_span sweep[BATCH_MOST][QUERY_H]; /* of sweep i, the queries over the witness */
    unsigned sweeps;
};

/* One partition. */
struct batch_item {
    unsigned number; /* for messages */
    /* Writes the statement: image_statement_bytes of it. */
    cuzk_status (*state)(const void *context, struct task *t, unsigned number, uint8_t *out);
    const void *context;
    const struct fr_int *inputs; /* public_count of them, as the verifier will have them */
    struct groth16_proof proof;  /* out: zeroed unless error.status is CUZK_OK */
    struct error error;          /* out: what was wrong with this partition alone */
    bool wrong;                  /* out: statement, rows and key are right, and yet the proof does not verify */
};

/* A place where batches are proved, one at a time. */
struct batch;

/** Takes two streams of the device; split must have been loaded, and outlives the batch. */
cuzk_status prove_batch_open(struct batch **out, struct task *t, const struct batch_plan *plan) MUST_CHECK;
void prove_batch_close(struct batch *b); /* NULL is legal; what is under way is waited for and thrown away */

/** Enqueues count <= plan->partitions partitions.  A statement that is wrong costs its own partition only.
 * In      items   stay the batch's until prove_batch_end
 *         times   NULL, or filled by prove_batch_wait
 * Errors  of the batch as a whole: those of the backend, CUZK_NO_MEMORY (the block), CUZK_CANCELLED.  Nothing is held then.
 * Thread  one at a time.  Cost  block_bytes of device memory and statement_bytes a partition of pinned memory until the end; wiped then. */
cuzk_status prove_batch_begin(struct batch *b, struct task *t, struct batch_item *items, unsigned count,
                              struct batch_times *times) MUST_CHECK;
/** Waits for the sums.  Errors as above; the batch has then ended. */
cuzk_status prove_batch_wait(struct batch *b, struct task *t) MUST_CHECK;
/** The sums of the item at this index, or NULL if it has none; after prove_batch_wait and before prove_batch_end. */
const struct g_jac *prove_batch_sums(const struct batch *b, unsigned index);
/** Waits, draws r and s for each partition, assembles and verifies each proof on t->pool.
 * Out     items[i].proof, items[i].error: CUZK_MISMATCH names the input that is another one, CUZK_UNSATISFIED the row that does not hold,
 *         CUZK_KEY_INVALID: all hold, and yet the proof does not verify
 * Errors  of the batch as a whole.  It has ended either way. */
cuzk_status prove_batch_end(struct batch *b, struct task *t,
                            const struct groth16_verifier *verifier) MUST_CHECK;

#endif
