/* Binding: sums over bitmaps in G1 of bn254. */
#include "field/params_bn254.h"

#define FE       fp
#define FE_UPPER BN254_FP
#include "backend/cuda/fe_device.inc.h"

#define LANES            1
#define BITS_FOLD_BLOCKS 3
#define BITS(name)       bits_bn254_g1_##name
#include "backend/cuda/bits_curve.inc.cuh"
