/* Proving: the pipeline from a witness to the three points of a proof. */
#ifndef CUZK_GROTH16_PROVE_H
#define CUZK_GROTH16_PROVE_H

#include "groth16/assemble.h"
#include "groth16/key_device.h"
#include "groth16/msm_set.h"

struct groth16_ahead;
struct lanes;

/* What one proof on a key takes on a device; groth16_prove executes it as it stands.  One block holds, in this order,
 *     a | b and workspace of steps 2 and 3      later      h scalars | decoded points and workspace of the sums (over b)
 * and before these the witness, where the backend does not read host memory; the key is then resident beside the block. */
struct groth16_plan {
    const struct backend *backend;
    struct device *device;
    struct lanes *lanes;            /* NULL: the proof waits for no other */
    bool on_image;                  /* the device evaluates the circuit's image: prove_image.c */
    struct key_residence residence; /* where the backend does not read host memory */
    uint64_t tables_bytes;          /* that the key's tables of multiples may take at most */
    struct eval_plan eval_a, eval_b;
    struct quotient_plan quotient;
    struct msm_row rows[QUERY_COUNT];
    /* A sum runs over pieces of so many points: all of them, unless the key's points must be decoded or sent first. */
    uint64_t piece[QUERY_COUNT];
    struct msm_plan msm[QUERY_COUNT], last[QUERY_COUNT]; /* of a piece, of the last one */
    struct split_plan split[QUERY_COUNT],
        split_last[QUERY_COUNT]; /* instead, of sums over an image's witness */
    size_t vector_bytes;         /* of a, of b */
    size_t points_bytes;         /* of a piece's points */
    size_t values_workspace_bytes, sums_workspace_bytes;
    size_t witness_bytes; /* of the witness in the block */
    size_t block_bytes;   /* all of it */
    const struct buffer
        *block; /* of at least block_bytes, to work in; its owner wipes it.  NULL: the proof takes one */
    uint64_t key_bytes; /* of device memory, taken by the key's first proof there for all others */
};

/** Errors  CUZK_INVALID_ARGUMENT: a key that cannot prove (bellman parameters without a circuit); CUZK_UNSUPPORTED: a circuit that is a
 *         program, on a backend that does not take its values; CUZK_TOO_LARGE: more than the device's memory, both numbers named. */
cuzk_status groth16_prove_plan(struct groth16_plan *out, struct task *t, const struct groth16_key *key,
                               const struct backend *backend, struct device *device) MUST_CHECK;

/** The same for a proof that goes through lanes (of that device; NULL: none): it waits where other proofs hold what it needs. */
cuzk_status groth16_prove_plan_on(struct groth16_plan *out, struct task *t, const struct groth16_key *key,
                                  const struct backend *backend, struct device *device,
                                  struct lanes *lanes) MUST_CHECK;

/* Where the time went. */
struct groth16_timings {
    double witness_ms; /* checked and staged, what it waited for others included */
    double eval_ms, quotient_ms, msm_ms[QUERY_COUNT], assemble_ms, verify_ms;
    /* What the host does of the assembly and the verification while it waits for a sum is in that sum's time. */
    double wait_ms;    /* of witness_ms: for memory, and for its turn to compute */
    bool staged_late;  /* in its turn, not before it: there was no room */
    double alloc_ms;   /* of witness_ms: until it had its memory */
    double release_ms; /* after the last sum: memory wiped and given back */
    unsigned lane;     /* the stream that computed it */
};

/** One line of what operators look for, with the known fields: "prestage_setup=ok domain=65536 alloc_ms=0.0 ...".
 * Returns  out */
enum { TIMING_LINE_BYTES = 320 };
const char *groth16_timing_line(char out[TIMING_LINE_BYTES], const struct groth16_timings *t,
                                uint64_t domain_size);

/** Proves with fresh r and s.  The proof is not verified here: groth16_prove_verified does both.
 * In      w  the values of all variables
 * Errors  CUZK_MISMATCH (curve or number of values), CUZK_MALFORMED (a value), CUZK_NO_MEMORY, CUZK_CANCELLED, CUZK_DEADLINE.
 * Thread  any; calls on one key and device may run at the same time.
 * Cost    plan->block_bytes of the device's memory, taken once and wiped (with lanes: when it is there); the key's first proof on a device that does not read host
 *         memory takes plan->key_bytes too, which stay with the key. */
cuzk_status groth16_prove(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                          const struct groth16_plan *plan, const struct witness *w,
                          struct groth16_timings *timings) MUST_CHECK;

/** The same; the parts of its verification that can be done before the last sum are done while the device works: groth16_verify_rest gives
 * the verdict.
 * In-out  verification  for a verifier of key->vk and the witness's public inputs, just begun */
cuzk_status groth16_prove_ahead(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                                const struct groth16_plan *plan, const struct witness *w,
                                struct groth16_timings *timings,
                                struct groth16_ahead *verification) MUST_CHECK;

/** Steps 1 to 4: the five sums, before blinding. */
cuzk_status groth16_prove_sums(struct task *t, struct g_jac sums[QUERY_COUNT], const struct groth16_key *key,
                               const struct groth16_plan *plan, const struct witness *w,
                               struct groth16_timings *timings) MUST_CHECK;

#endif
