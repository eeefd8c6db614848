/* Binding: passes of 7 levels over the scalar field of bls12_381. */
#include "field/params_bls12_381.h"

#define FE       fr
#define FE_UPPER BLS12_381_FR
#include "backend/cuda/fe_device.inc.h"

#define K         7
#define NTT(name) ntt_bls12_381_pass7_##name
#include "backend/cuda/ntt_pass.inc.cuh"
