/* .zkey files of Groth16 (snarkjs, version 1): header points checked, the large sections as views. */
#ifndef CUZK_FORMATS_ZKEY_H
#define CUZK_FORMATS_ZKEY_H

#include "curve/curve.h"

#define ZKEY_COEF_BYTES 44 /* u32 matrix, row, wire; 32 bytes value */

struct zkey {
    const char *path; /* for messages; borrowed, like the spans */
    struct span file;
    const struct curve *curve;
    uint32_t n_vars;      /* the constant included */
    uint32_t n_public;    /* the constant not included; 0 is legal; < n_vars */
    uint64_t domain_size; /* = 2^domain_log2 */
    unsigned domain_log2;
    struct g_aff alpha1, beta1, beta2, gamma2, delta1,
        delta2; /* on the curve, in the subgroup, not infinity */
    /* Points in ENCODING_MONT_LE, tightly packed, not checked here. */
    struct span ic;    /* n_public + 1, G1 */
    struct span a;     /* n_vars, G1 */
    struct span b1;    /* n_vars, G1 */
    struct span b2;    /* n_vars, G2 */
    struct span c;     /* n_vars - n_public - 1, G1: wire n_public + 1 + i */
    struct span h;     /* domain_size, G1 */
    struct span coefs; /* n_coefs records of ZKEY_COEF_BYTES */
    uint64_t n_coefs;
    struct span contributions; /* section 10; data NULL: absent */
};

struct zkey_coef {
    unsigned matrix; /* 0: A, 1: B */
    uint32_t row;    /* < domain_size */
    uint32_t wire;   /* < n_vars */
    struct fr value; /* Montgomery form, ready for csr_builder_place */
};

/** Reads the header, checks its points and demands every section at its exact length.  Sections 3 to 9 are not read.
 * Errors  CUZK_MALFORMED with file, offset and field; CUZK_UNSUPPORTED for PLONK and FFLONK keys and other curves;
 *         CUZK_KEY_INVALID for a header point that is not a point of the group.  Thread  any.  Cost  six point checks. */
cuzk_status zkey_parse(struct zkey *out, struct task *t, const char *path, struct span file) MUST_CHECK;

/** Coefficient record index < n_coefs, checked: matrix 0 or 1, row, wire, value canonical.  Any order, any thread. */
cuzk_status zkey_coef_read(const struct zkey *z, struct task *t, struct zkey_coef *out,
                           uint64_t index) MUST_CHECK;

/** Turns the verdict on a point of a section into an error (CUZK_KEY_INVALID) that names section, index and offset; CUZK_OK for
 * POINT_OK.  For whoever checks the points of a key. */
cuzk_status zkey_point_verdict(const struct zkey *z, struct task *t, const char *section,
                               const uint8_t *point, uint64_t index, enum point_check check) MUST_CHECK;

#endif
