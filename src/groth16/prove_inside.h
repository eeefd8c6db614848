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
