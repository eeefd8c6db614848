/* A Groth16 proof: three points of one curve. */
#ifndef CUZK_GROTH16_PROOF_H
#define CUZK_GROTH16_PROOF_H

#include "curve/curve.h"

struct groth16_proof {
    const struct curve *curve;
    struct g_aff a; /* G1 */
    struct g_aff b; /* G2 */
    struct g_aff c; /* G1 */
};

#endif
