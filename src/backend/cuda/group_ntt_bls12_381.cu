/* Binding: butterflies over points of G1 of bls12_381. */
#include "curve/params_curve_bls12_381.h"
#include "field/params_bls12_381.h"

#define FE       fp
#define FE_UPPER BLS12_381_FP
#include "backend/cuda/fe_device.inc.h"

#define BETA             BLS12_381_G1_BETA
#define GROUP_NTT_BLOCKS 2
#define GROUP_NTT(name)  group_ntt_bls12_381_##name
#include "backend/cuda/group_ntt_points.inc.cuh"
