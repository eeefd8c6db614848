/* Random circuits with a witness that satisfies them, as the bytes of a .r1cs file and plain values. */
#ifndef CUZK_TESTS_RANDOM_CIRCUIT_H
#define CUZK_TESTS_RANDOM_CIRCUIT_H

#include "curve/curve.h"
#include "r1cs/witness.h"
#include "support/prng.h"

struct random_circuit_options {
    const struct curve *curve;
    uint32_t constraints;
    uint32_t publics;
    bool unused_wires; /* some wires occur in no constraint (bellman's layout cannot have them) */
};

struct random_circuit {
    uint8_t *r1cs;
    size_t r1cs_bytes;
    uint8_t *values; /* 32 bytes each */
    uint64_t count;
    struct witness witness;
};

/** Rows of four kinds, mixed: a bit, a product of two combinations, a linear relation (A and B empty), nothing at all.  Values are
 * bits, small numbers and full-size ones; some wires are absent from A, from B, from both.  Aborts when memory is short. */
void random_circuit_make(struct random_circuit *out, struct prng *random,
                         const struct random_circuit_options *o);
void random_circuit_fini(struct random_circuit *c);

#endif
