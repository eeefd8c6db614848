/* Binding: the MSM's point kernels for G2 of bls12_381. */
#include "field/params_bls12_381.h"

#define FE       fp
#define FE_UPPER BLS12_381_FP
#include "backend/cuda/fe_device.inc.h"
#undef FE

#define FE      fp2
#define BE      fp
#define PAIR_NL 12
#include "backend/cuda/fe_pair.inc.cuh"

#define LANES 2
#define MSM_ACC_BLOCKS MSM_BLS12_381_G2_ACC_BLOCKS
#define MSM_REDUCE_BLOCKS 2
#define MSM_AFFINE_BLOCKS MSM_BLS12_381_G2_AFFINE_BLOCKS
#define MSM(name) msm_bls12_381_g2_##name
#include "backend/cuda/msm_curve.inc.cuh"
