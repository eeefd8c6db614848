/* Binding: accumulation into buckets of G2 of bls12_381, a whole point in each thread. */
#include "field/params_bls12_381.h"

#define FE       fp
#define FE_UPPER BLS12_381_FP
#include "backend/cuda/fe_device.inc.h"
#include "backend/cuda/fe_wide.inc.h"

#define BE        fp
#define MSM(name) msm_bls12_381_g2_##name
#include "backend/cuda/msm_whole.inc.cuh"
