/* The erased form of bls12_381: struct curve over its concrete fields and groups. */
#include "curve/curve.h"
#include "curve/erased.h"
#include "curve/bls12_381_points.h"

#define FE       bls12_381_fr
#define FE_UPPER BLS12_381_FR
#include "curve/erased_scalar.inc.h"
#undef FE
#undef FE_UPPER

#define FE            bls12_381_fp
#define PT            bls12_381_g1
#define PT_UPPER      BLS12_381_G1
#define PT_HAS_ZCASH  1
#define PT_BASE_BYTES sizeof(bls12_381_fp_t)
#include "curve/encode.inc.h"
#include "curve/erased_group.inc.h"
#undef FE
#undef PT
#undef PT_UPPER
#undef PT_HAS_ZCASH
#undef PT_BASE_BYTES

#define FE            bls12_381_fp2
#define PT            bls12_381_g2
#define PT_UPPER      BLS12_381_G2
#define PT_HAS_ZCASH  1
#define PT_BASE_BYTES sizeof(bls12_381_fp_t)
#include "curve/encode.inc.h"
#include "curve/erased_group.inc.h"
#undef FE
#undef PT
#undef PT_UPPER
#undef PT_HAS_ZCASH
#undef PT_BASE_BYTES

const struct curve curve_bls12_381 = {
    .id = CURVE_BLS12_381,
    .name = "bls12_381",
    .snarkjs_name = "bls12381",
    .fp_bytes = sizeof(bls12_381_fp_t),
    .fp_modulus = { BLS12_381_FP_P_64 },
    .fr = { .bits = BLS12_381_FR_BITS, .two_adicity = BLS12_381_FR_TWO_ADICITY, .modulus = { BLS12_381_FR_P_64 },
            SCALAR_OPERATIONS(bls12_381_fr) },
    .g1 = { .id = GROUP_G1, .name = "G1", .aff_bytes = sizeof(bls12_381_g1_aff), .jac_bytes = sizeof(bls12_381_g1_jac),
            .generator = { BLS12_381_G1_GENERATOR_WORDS }, GROUP_OPERATIONS(bls12_381_g1) },
    .g2 = { .id = GROUP_G2, .name = "G2", .aff_bytes = sizeof(bls12_381_g2_aff), .jac_bytes = sizeof(bls12_381_g2_jac),
            .generator = { BLS12_381_G2_GENERATOR_WORDS }, GROUP_OPERATIONS(bls12_381_g2) },
    .group = { &curve_bls12_381.g1, &curve_bls12_381.g2 },
};
