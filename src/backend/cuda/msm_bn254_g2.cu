/* Binding: the MSM's point kernels for G2 of bn254. */
#include "field/params_bn254.h"

#define FE       fp
#define FE_UPPER BN254_FP
#include "backend/cuda/fe_device.inc.h"
#undef FE

#define FE      fp2
#define BE      fp
#define PAIR_NL 8
#include "backend/cuda/fe_pair.inc.cuh"

#define LANES 2
#define MSM_ACC_BLOCKS MSM_BN254_G2_ACC_BLOCKS
#define MSM_REDUCE_BLOCKS 3
#define MSM_AFFINE_BLOCKS MSM_BN254_G2_AFFINE_BLOCKS
#define MSM(name) msm_bn254_g2_##name
#include "backend/cuda/msm_curve.inc.cuh"
