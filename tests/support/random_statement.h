/* A statement at random for a circuit image: numbers below the modulus, indices as wide as the programs read them. */
#ifndef CUZK_TESTS_RANDOM_STATEMENT_H
#define CUZK_TESTS_RANDOM_STATEMENT_H

#include "circuits/gadgets/assign.h"
#include "support/prng.h"

struct random_statement {
    const struct circuit_image *image;
    bls12_381_fr_int *numbers; /* the circuit's own, then each part's; likewise words */
    uint32_t *words;
    uint8_t *widths; /* of words, in bits */
};

/** Aborts without memory. */
void random_statement_make(struct random_statement *s, const struct circuit_image *m, struct prng *random);
void random_statement_fini(struct random_statement *s);
struct statement random_statement_view(const struct random_statement *s);
/** As the state of a batch_item (groth16/prove_batch.h): writes the statement that is its context. */
cuzk_status random_statement_write(const void *context, struct task *t, unsigned number, uint8_t *out);

#endif
