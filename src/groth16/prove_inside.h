/* Between the pipeline (prove.c) and what it takes (prove_plan.c). */
#ifndef CUZK_GROTH16_PROVE_INSIDE_H
#define CUZK_GROTH16_PROVE_INSIDE_H

#include "groth16/prove.h"

struct key_device;
struct prove_lane;

/* The pieces of the block that a plan describes. */
struct prove_workspace {
    struct buffer witness, a, b, values, points, sums;
};

/* What the operations read. */
struct prove_operands {
    const struct key_device *resident;                               /* NULL: everything is on the host */
    struct buffer points[QUERY_COUNT], gather[QUERY_COUNT], witness; /* gather[q].data NULL: none */
};

/** Memory on the device, the key in it (its first proof uploads it) and the witness on its way there: before the proof's turn where there
 * is room, else as soon as there is. */
cuzk_status prove_stage(struct prove_operands *ops, struct prove_workspace *ws, struct task *t,
                        struct prove_lane *lane, const struct groth16_key *key, const struct groth16_plan *p,
                        const struct witness *w) MUST_CHECK;

/* -- prove_ahead.c: what the host does of a proof and its verification while the device works -- */

struct prove_ahead {
    struct assembly assembly;
    struct groth16_proof *proof;
    struct groth16_ahead *verification; /* NULL: it is verified elsewhere */
    const struct g_jac *sums;
    unsigned sums_there; /* bit q: sums[q] is */
    unsigned steps_done;
};

void prove_ahead_start(struct prove_ahead *out, struct groth16_proof *proof, const struct groth16_key *key,
                       const struct groth16_blinding *blinding, struct groth16_ahead *verification,
                       const struct g_jac sums[QUERY_COUNT]);
/** For a wait for the device: does steps whose operands are there side by side on the task's pool: a millisecond.
 * ahead may be NULL. */
void prove_ahead_step(struct prove_ahead *ahead, struct task *t);
void prove_ahead_sum(struct prove_ahead *ahead, enum groth16_query q); /* sums[q] is there; NULL is legal */
/** All steps that are left: the proof is whole, and of its verification the last point's part is left.  All sums are there. */
void prove_ahead_end(struct prove_ahead *ahead, struct task *t);
void prove_ahead_wipe(struct prove_ahead *ahead);

/* -- prove_image.c: circuits that are images, evaluated on the device -- */

bool prove_image_possible(const struct groth16_key *key, const struct backend *backend);
/** Sets plan->on_image and residence.image, and makes room for the witness as it is sent. */
cuzk_status prove_image_plan(struct groth16_plan *plan, struct task *t,
                             const struct groth16_key *key) MUST_CHECK;
/** Whether a sum is over values most of which are bits.  It is then split: the plans of it. */
bool prove_image_splits(const struct groth16_plan *plan, enum groth16_query q);
cuzk_status prove_image_plan_sum(struct split_plan *out, struct task *t, const struct groth16_plan *plan,
                                 const struct groth16_key *key, enum groth16_query q,
                                 uint64_t count) MUST_CHECK;
/** That numbers and inputs are canonical and the constant is 1. */
cuzk_status prove_image_check(struct task *t, const struct groth16_key *key,
                              const struct witness *w) MUST_CHECK;
/** Bits, numbers and inputs to the device, and a, b and the scalars of all variables from them. */
cuzk_status prove_image_evaluate(struct task *t, const struct groth16_key *key, const struct groth16_plan *p,
                                 struct stream *stream, const struct witness *w,
                                 const struct prove_operands *ops, struct prove_workspace *ws) MUST_CHECK;

#endif
