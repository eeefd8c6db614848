/* Binding: butterflies over points of G1 of bn254. */
#include "curve/params_curve_bn254.h"
#include "field/params_bn254.h"

#define FE       fp
#define FE_UPPER BN254_FP
#include "backend/cuda/fe_device.inc.h"

#define BETA             BN254_G1_BETA
#define GROUP_NTT_BLOCKS 3
#define GROUP_NTT(name)  group_ntt_bn254_##name
#include "backend/cuda/group_ntt_points.inc.cuh"
