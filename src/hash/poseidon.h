/* Filecoin's Poseidon over the scalar field of BLS12-381: x^5, 8 full rounds, arities 2, 4, 8 and 11. */
#ifndef CUZK_HASH_POSEIDON_H
#define CUZK_HASH_POSEIDON_H

#include "base/dialect.h"
#include "field/bls12_381_fields.h"

#define POSEIDON_FULL_ROUNDS 8
#define POSEIDON_MAX_WIDTH   12 /* arity 11 and the tag */

struct poseidon_constants {
    unsigned arity, width, partial_rounds;
    const bls12_381_fr_t *keys; /* 8 width + partial_rounds, in order of use */
    const bls12_381_fr_t *mds;  /* width x width, by rows */
    const bls12_381_fr_t *pre;  /* the mix before the partial rounds */
    const bls12_381_fr_t
        *sparse;          /* a partial round: width of the first column's row, then width - 1 of the rest */
    unsigned trace_count; /* variables that the circuit allocates, the result included */
};

/** The constants of an arity; NULL: none.  Thread: any. */
const struct poseidon_constants *poseidon_constants(unsigned arity);

/** The domain tag of a Merkle node or column: 2^arity - 1. */
static inline uint64_t poseidon_tag(unsigned arity) { return ((uint64_t)1 << arity) - 1; }

/** out = H(in[0..arity-1]), Montgomery form.  Cost: about 2000 multiplications for arity 8. */
void poseidon_hash(const struct poseidon_constants *p, bls12_381_fr_t *out, const bls12_381_fr_t *in,
                   uint64_t tag);

/** The same with every intermediate value that the circuit allocates, in its order; canonical integers.  The last is the result.
 * In  in  arity canonical integers (or any 256-bit ones)   Out  trace  trace_count values */
void poseidon_trace(const struct poseidon_constants *p, bls12_381_fr_int *trace, const bls12_381_fr_int *in,
                    uint64_t tag);

/** Canonical in, canonical out, tag 2^arity - 1: a Merkle node. */
void poseidon_node(const struct poseidon_constants *p, bls12_381_fr_int *out, const bls12_381_fr_int *in);

#endif
