/* Between the pipeline (prove.c) and what it takes (prove_plan.c). */
#ifndef CUZK_GROTH16_PROVE_INSIDE_H
#define CUZK_GROTH16_PROVE_INSIDE_H

#include "groth16/prove.h"

struct key_device;

/* The pieces of the block that a plan describes. */
struct prove_workspace {
    struct buffer block, witness, a, b, values, points, sums;
};

/* What the operations read. */
struct prove_operands {
    const struct key_device *resident;                               /* NULL: everything is on the host */
    struct buffer points[QUERY_COUNT], gather[QUERY_COUNT], witness; /* gather[q].data NULL: none */
};

cuzk_status prove_workspace_take(struct prove_workspace *ws, struct task *t,
                                 const struct groth16_plan *p) MUST_CHECK;

/** Key and witness where the device reads them: the key's first proof on a device uploads it. */
cuzk_status prove_operands_take(struct prove_operands *out, struct task *t, const struct groth16_key *key,
                                const struct groth16_plan *p, struct stream *stream, const struct witness *w,
                                struct prove_workspace *ws) MUST_CHECK;

#endif
