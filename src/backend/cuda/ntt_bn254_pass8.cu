/* Binding: passes of 8 levels over the scalar field of bn254. */
#include "field/params_bn254.h"

#define FE       fr
#define FE_UPPER BN254_FR
#include "backend/cuda/fe_device.inc.h"

#define K         8
#define NTT(name) ntt_bn254_pass8_##name
#include "backend/cuda/ntt_pass.inc.cuh"
