/* Binding: tables, small transforms and pointwise steps over the scalar field of bn254. */
#include "field/params_bn254.h"

#define FE       fr
#define FE_UPPER BN254_FR
#include "backend/cuda/fe_device.inc.h"

#define NTT(name) ntt_bn254_##name
#include "backend/cuda/ntt_misc.inc.cuh"
