/* Binding: sums over bitmaps in G1 of bls12_381. */
#include "field/params_bls12_381.h"

#define FE       fp
#define FE_UPPER BLS12_381_FP
#include "backend/cuda/fe_device.inc.h"

#define LANES            1
#define BITS_FOLD_BLOCKS 2
#define BITS(name)       bits_bls12_381_g1_##name
#include "backend/cuda/bits_curve.inc.cuh"
