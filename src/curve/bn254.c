/* The erased form of bn254: struct curve over its concrete fields and groups. */
#include "curve/curve.h"
#include "curve/erased.h"
#include "curve/bn254_points.h"

#define FE       bn254_fr
#define FE_UPPER BN254_FR
#include "curve/erased_scalar.inc.h"
#undef FE
#undef FE_UPPER

#define FE            bn254_fp
#define PT            bn254_g1
#define PT_UPPER      BN254_G1
#define PT_HAS_ZCASH  0
#define PT_BASE_BYTES sizeof(bn254_fp_t)
#include "curve/encode.inc.h"
#include "curve/erased_group.inc.h"
#undef FE
#undef PT
#undef PT_UPPER
#undef PT_HAS_ZCASH
#undef PT_BASE_BYTES

#define FE            bn254_fp2
#define PT            bn254_g2
#define PT_UPPER      BN254_G2
#define PT_HAS_ZCASH  0
#define PT_BASE_BYTES sizeof(bn254_fp_t)
#include "curve/encode.inc.h"
#include "curve/erased_group.inc.h"
#undef FE
#undef PT
#undef PT_UPPER
#undef PT_HAS_ZCASH
#undef PT_BASE_BYTES

const struct curve curve_bn254 = {
    .id = CURVE_BN254,
    .name = "bn254",
    .snarkjs_name = "bn128",
    .fp_bytes = sizeof(bn254_fp_t),
    .fp_modulus = { BN254_FP_P_64 },
    .fr = { .bits = BN254_FR_BITS, .two_adicity = BN254_FR_TWO_ADICITY, .modulus = { BN254_FR_P_64 },
            SCALAR_OPERATIONS(bn254_fr) },
    .g1 = { .id = GROUP_G1, .name = "G1", .aff_bytes = sizeof(bn254_g1_aff), .jac_bytes = sizeof(bn254_g1_jac),
            .generator = { BN254_G1_GENERATOR_WORDS }, GROUP_OPERATIONS(bn254_g1) },
    .g2 = { .id = GROUP_G2, .name = "G2", .aff_bytes = sizeof(bn254_g2_aff), .jac_bytes = sizeof(bn254_g2_jac),
            .generator = { BN254_G2_GENERATOR_WORDS }, GROUP_OPERATIONS(bn254_g2) },
    .group = { &curve_bn254.g1, &curve_bn254.g2 },
};
