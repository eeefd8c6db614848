/* .ptau files (powers of tau): header and sections as views. */
#ifndef CUZK_FORMATS_PTAU_H
#define CUZK_FORMATS_PTAU_H

#include "curve/curve.h"

struct ptau {
    const char *path; /* for messages; borrowed, like the spans */
    struct span file;
    const struct curve *curve;
    unsigned power, ceremony_power;
    /* Points in ENCODING_MONT_LE, tightly packed, not checked here. */
    struct span tau_g1;       /* 2^(power+1) - 1 */
    struct span tau_g2;       /* 2^power */
    struct span alpha_tau_g1; /* 2^power */
    struct span beta_tau_g1;  /* 2^power */
    struct span beta_g2;      /* 1 */
    struct span contributions;
    bool prepared;               /* sections 12..15 are there; level k starts 2^k - 1 points into each */
    struct span lagrange_tau_g1; /* levels 0..power+1 */
    struct span lagrange_tau_g2; /* levels 0..power */
    struct span lagrange_alpha_tau_g1; /* levels 0..power */
    struct span lagrange_beta_tau_g1;  /* levels 0..power */
};

/** Errors  CUZK_MALFORMED with file, offset and field; CUZK_UNSUPPORTED for other curves.  Thread  any.  Cost  constant. */
cuzk_status ptau_parse(struct ptau *out, struct task *t, const char *path, struct span file) MUST_CHECK;

#endif
