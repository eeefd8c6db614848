/* The oracle: the three points of a proof from the key's trapdoor, by field arithmetic alone.
 *
 * With tau, alpha, beta, gamma, delta known, every point of a key is a known multiple of a generator, and so are A, B and C.  The
 * oracle computes the three multiples by dot products over the circuit and then does three scalar multiplications.  It uses no
 * transform, no multi-scalar multiplication and no key, so it checks all of them. */
#ifndef CUZK_TESTS_ORACLE_H
#define CUZK_TESTS_ORACLE_H

#include "formats/r1cs_file.h"
#include "formats/trapdoor_file.h"
#include "groth16/assemble.h"
#include "groth16/constraints.h"
#include "groth16/proof.h"
#include "r1cs/witness.h"

/** In  w  of as many values as the circuit has wires. */
cuzk_status oracle_prove(struct task *t, struct groth16_proof *out, const struct trapdoor *secrets,
                         const struct r1cs_file *circuit, const struct witness *w,
                         const struct groth16_blinding *blinding) MUST_CHECK;

/** The same for any circuit. */
cuzk_status oracle_prove_constraints(struct task *t, struct groth16_proof *out,
                                     const struct trapdoor *secrets, const struct constraints *circuit,
                                     const struct witness *w,
                                     const struct groth16_blinding *blinding) MUST_CHECK;

/** Byte equality of all three points. */
bool oracle_equal(const struct groth16_proof *p, const struct groth16_proof *q);

#endif
