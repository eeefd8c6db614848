/* A proving key in memory: the constraints, the five queries as points, and what a proof needs beside them.
 *
 * A key comes from a .zkey (points used in place, in the mapped file), from bellman's .params and the circuit's .r1cs (points decoded
 * once), or from bellman's .params and a circuit that is a program (points stay in the mapped file, and each proof decodes them piece
 * by piece: such keys are large).  After that it is immutable and reference counted; any number of proofs may run on it at once. */
#ifndef CUZK_GROTH16_KEY_H
#define CUZK_GROTH16_KEY_H

#include "backend/backend.h"
#include "base/mapfile.h"
#include "formats/derived_file.h"
#include "formats/filparams.h"
#include "formats/r1cs_file.h"
#include "formats/zkey.h"
#include "groth16/constraints.h"
#include "groth16/vk.h"

enum groth16_layout { GROTH16_ZKEY, GROTH16_BELLMAN };

/* The five sums of a proof.  docs/maths.md, "The five sums". */
enum groth16_query { QUERY_A, QUERY_B1, QUERY_B2, QUERY_L, QUERY_H, QUERY_COUNT };

/* What the H points of a key are, and so how the scalars for them are made: docs/maths.md, "Three forms of H". */
enum groth16_h_mode {
    H_MONOMIAL_6, /* bellman: tau^i Z(tau) / delta; coefficients of (A B - C) / Z, by six transforms */
    H_LAGRANGE_6, /* snarkjs: Lagrange polynomials of the odd coset; values of A B - C there, by six transforms */
    H_LAGRANGE_4, /* derived: the same on the convention's coset with C folded into L; values of A B there, by four */
};

struct groth16_key {
    atomic_uint references;
    const struct curve *curve;
    enum groth16_layout layout;
    enum groth16_h_mode h_mode;
    struct domain domain;
    uint64_t variable_count; /* the constant included */
    uint64_t public_count;   /* without the constant */
    uint64_t row_count;      /* constraints and the public_count + 1 rows that bind the inputs */
    bool can_prove;          /* false: bellman parameters without their circuit; good for checking only */
    bool outline;            /* no proof can be made, though can_prove: the density lists are not there */
    struct csr a, b; /* row_count rows; C is never needed: C w = A w o B w for a witness that satisfies */
    const struct constraints *constraints; /* NULL, or instead of a and b; borrowed */

    struct groth16_vk vk;           /* beta1 and delta1 included */
    struct span point[QUERY_COUNT]; /* affine, Montgomery, packed; bellman: NULL unless can_prove */
    bool encoded[QUERY_COUNT]; /* point views the file's own encoding instead: groth16_key_points decodes */
    uint64_t point_count[QUERY_COUNT];
    uint32_t *density_a,
        *density_b; /* bellman: the variable of each point of A and of B; NULL: variable i has point i */

    struct mapfile file, r1cs; /* r1cs.bytes.data NULL: not given */
    struct zkey zkey;          /* views of file, of the layout that it has */
    struct filparams params;
    struct r1cs_file circuit;    /* if r1cs was given */
    struct mapfile derived_file; /* if proofs use a derived key: groth16/key_derived.h */
    struct derived_file derived;
    uint8_t *decoded[QUERY_COUNT]; /* bellman: what point[] views */
    uint64_t heap_bytes;
    struct key_devices *devices; /* where it is resident: groth16/key_device.h */
    struct key_secret *secret;   /* NULL, or instead of the files: groth16/key_secret.h */
};

/** Opens key_path, whose contents tell the layout; r1cs_path may be NULL.
 * Out     a key with one reference.
 * Errors  those of the formats; CUZK_MISMATCH if r1cs is not this key's circuit (both counts are named); CUZK_KEY_INVALID for a point
 *         of the verifying key.
 * Thread  any.  Cost  reads the coefficients twice; bellman: decodes every point, on t->pool. */
cuzk_status groth16_key_open(struct groth16_key **out, struct task *t, const char *key_path,
                             const char *r1cs_path) MUST_CHECK;
/** The same for .params and a circuit that is a program.
 * In      circuit  with evaluate and check; it and what it stands on must outlive the key
 * Errors  as above; CUZK_MISMATCH names the count in which the file is not this circuit's
 * Cost    one walk over the circuit, its pieces on t->pool; 1 byte a variable while it runs, 4 bytes a point of A and of B for good. */
cuzk_status groth16_key_open_circuit(struct groth16_key **out, struct task *t, const char *params_path,
                                     const struct constraints *circuit) MUST_CHECK;
/** The same without the walk: counts, heap_bytes and groth16_prove_plan are those of the whole key, but no proof can be made with it.
 * Cost    the head of the file. */
cuzk_status groth16_key_outline(struct groth16_key **out, struct task *t, const char *params_path,
                                const struct constraints *circuit) MUST_CHECK;

/** Decodes points [first, first + count) of a query of an encoded key into out, packed as in point[], on t->pool.
 * Errors  CUZK_KEY_INVALID with query, index and offset: infinity, not canonical, or not on the curve.
 * Cost    0.3 us a point and core for G1 (BLS12-381). */
cuzk_status groth16_key_points(struct task *t, const struct groth16_key *key, enum groth16_query q,
                               uint64_t first, uint64_t count, uint8_t *out) MUST_CHECK;

struct groth16_key *groth16_key_ref(struct groth16_key *key);
void groth16_key_unref(struct groth16_key *key); /* NULL is legal; the last one frees */

/** The row of the circuit that w does not satisfy, by its index and the names of what stands there.
 * In      key  opened with its r1cs
 * Out     *row the first such row, or row_count if all hold (then the witness is right and the key is not)
 * Cost    one pass over the r1cs file on this thread. */
cuzk_status groth16_key_first_unsatisfied(struct task *t, const struct groth16_key *key, uint64_t *row,
                                          const struct witness *w) MUST_CHECK;

#endif
