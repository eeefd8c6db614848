/* Binding: powers of roots of unity for transforms over points of bn254. */
#include "curve/params_curve_bn254.h"
#include "field/params_bn254.h"

#define FE       fr
#define FE_UPPER BN254_FR
#include "backend/cuda/fe_device.inc.h"

#define GLV    BN254_G1_GLV
#define POWERS group_ntt_bn254_powers
#include "backend/cuda/group_ntt_powers.inc.cuh"
