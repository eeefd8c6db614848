/* Binding: the MSM's point kernels for G1 of bn254. */
#include "field/params_bn254.h"

#define FE       fp
#define FE_UPPER BN254_FP
#include "backend/cuda/fe_device.inc.h"

#define LANES 1
#define MSM_ACC_BLOCKS MSM_BN254_G1_ACC_BLOCKS
#define MSM_REDUCE_BLOCKS 3
#define MSM_AFFINE_BLOCKS MSM_BN254_G1_AFFINE_BLOCKS
#define MSM(name) msm_bn254_g1_##name
#include "backend/cuda/msm_curve.inc.cuh"
