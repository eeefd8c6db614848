/* The values of all variables of a circuit, as a prover takes them. */
#ifndef CUZK_R1CS_WITNESS_H
#define CUZK_R1CS_WITNESS_H

#include "curve/curve.h"

/* The values of a circuit image's variables with bits as bits: the arrays of circuits/gadgets/assign.h in their orders.  Borrowed. */
struct witness_parts {
    const void *bits, *numbers, *inputs;
};

struct witness {
    const struct curve *curve;
    struct span
        values; /* count * 32 bytes: canonical little-endian integers at any alignment; value 0 is 1.  Borrowed, secret.  NULL: of an
                 * image's assignment alone, on a backend that evaluates images. */
    uint64_t count;
    const void *
        assignment; /* what a circuit that is a program made them from, for its own evaluation (groth16/constraints.h); or NULL */
};

/** Checks that every value is canonical (< r) and that value 0 is one.  CUZK_MALFORMED names the first that is not. */
cuzk_status witness_check(struct task *t, const struct witness *w) MUST_CHECK;
/** The same for values [begin, end) of a witness whose count its values have. */
cuzk_status witness_check_range(struct task *t, const struct witness *w, uint64_t begin,
                                uint64_t end) MUST_CHECK;

static inline void witness_get(const struct witness *w, struct fr_int *out, uint64_t i)
{
    __builtin_memcpy(out->w, w->values.data + 32 * i, 32);
}

#endif
