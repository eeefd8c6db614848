/* The scalars of a development key: by what each of its points is a multiple of a generator.
 *
 * For variable v and the Lagrange polynomials L_i of the domain, A_v(tau) = sum over rows of A's coefficient x L_row(tau), likewise
 * B and C; after the constraints come public_count + 1 rows that hold one input each, in A only.  Every point of the key is one of
 * these scalars, or a combination of three, times a generator: docs/maths.md, "Keys". */
#ifndef CUZK_GROTH16_SETUP_SCALARS_H
#define CUZK_GROTH16_SETUP_SCALARS_H

#include "base/arena.h"
#include "formats/trapdoor_file.h"
#include "groth16/constraints.h"
#include "poly/domain.h"

/* The vectors of points that a key and its derived form consist of. */
enum setup_query {
    SETUP_IC,        /* inputs, over gamma */
    SETUP_L,         /* the other variables, over delta */
    SETUP_A,         /* a variable each; bellman: only those that occur */
    SETUP_B,         /* likewise; of G1 and of G2 */
    SETUP_H,         /* bellman: powers of tau, one fewer than the domain; snarkjs: SETUP_H_COSET */
    SETUP_L_DERIVED, /* all variables, inputs first: C folded in */
    SETUP_H_COSET,   /* Lagrange values on the coset */
};

struct setup_scalars {
    const struct curve *curve;
    const struct constraints *circuit; /* borrowed */
    enum root_convention layout;
    struct domain domain;
    uint64_t variables, inputs, /* inputs with the constant */
        coefficients;           /* of A and B, those of the rows that bind the inputs included */
    uint32_t *dense[2];         /* bellman: the variables of A's and B's points, ascending; NULL: all */
    uint64_t dense_count[2];
    /* all secret: wiped by setup_scalars_fini */
    struct arena arena;
    struct fr *at_tau[3]; /* A_v, B_v, C_v, in the arena */
    struct fr tau, alpha, beta, gamma_inv, delta_inv;
    struct fr h_factor, coset_factor,
        fold_factor; /* of SETUP_H, SETUP_H_COSET and of C_v in SETUP_L_DERIVED */
};

/** Evaluates the circuit's polynomials at tau; the circuit must outlive out.
 * Out     out: to be ended with setup_scalars_fini, also after an error
 * Errors  CUZK_UNSUPPORTED (bellman's layout over BN254), CUZK_MISMATCH (secrets of another curve), CUZK_TOO_LARGE (more rows than a domain
 *         can have, or more memory than there is), CUZK_INVALID_ARGUMENT (tau lies in the domain), CUZK_NO_MEMORY
 * Cost    a walk over the circuit, its pieces (constraints.h) at the same time on t->pool, or a side on each of up to three threads: 0.8 us
 *         of CPU a variable for PoRep.  Memory: 96 bytes a variable, and until it returns 32 bytes an element of the domain and 2 bytes
 *         a variable; bellman: 4 bytes a point of A and of B.  32 GiB: 13.1 GB, 17.1 GB meanwhile. */
cuzk_status setup_scalars_init(struct setup_scalars *out, struct task *t, const struct constraints *circuit,
                               const struct trapdoor *secrets) MUST_CHECK;
void setup_scalars_fini(struct setup_scalars *s); /* legal on a zeroed one */
/** Wipes and gives back all that is secret; counts and the lists of dense variables stay.  No scalars can be made after that. */
void setup_scalars_forget(struct setup_scalars *s);

uint64_t setup_scalars_count(const struct setup_scalars *s, enum setup_query q);

/** Scalars [begin, begin + count) of a query, on t->pool.  Thread  any number.
 * Out out  canonical integers; secret
 * Cost     one to eight products a scalar. */
cuzk_status setup_scalars_make(const struct setup_scalars *s, struct task *t, struct fr_int *out,
                               enum setup_query q, uint64_t begin, uint64_t count) MUST_CHECK;

#endif
