/* Binding: powers of roots of unity for transforms over points of bls12_381. */
#include "curve/params_curve_bls12_381.h"
#include "field/params_bls12_381.h"

#define FE       fr
#define FE_UPPER BLS12_381_FR
#include "backend/cuda/fe_device.inc.h"

#define GLV    BLS12_381_G1_GLV
#define POWERS group_ntt_bls12_381_powers
#include "backend/cuda/group_ntt_powers.inc.cuh"
