/* The oracle of circuits that are images, for many large witnesses: what the sums of a proof must be, by field arithmetic alone.
 *
 * A key's scalars hold A_v(tau), B_v(tau) and C_v(tau) of each variable v, so the sums are dot products with the witness: no transform, no
 * multi-scalar multiplication, no point of the key, and for a bit an addition at most.  oracle.h takes them from the rows instead. */
#ifndef CUZK_TESTS_ORACLE_SUMS_H
#define CUZK_TESTS_ORACLE_SUMS_H

#include "circuits/gadgets/assign.h"
#include "groth16/setup_scalars.h"

struct oracle_sums {
    struct g_aff a, b1, b2;
    struct g_aff lh; /* L and H together: how they are cut depends on the form of the key */
};

/** In      s, secrets  of the same key;  w, map  of the circuit's image
 * Cost    20 ns a variable on t->pool, and four multiplications of a generator. */
cuzk_status oracle_sums(struct task *t, struct oracle_sums *out, const struct setup_scalars *s,
                        const struct trapdoor *secrets, const struct assignment *w,
                        const struct aux_map *map);

#endif
