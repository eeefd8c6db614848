/* Binding: sums over bitmaps in G2 of bls12_381. */
#include "field/params_bls12_381.h"

#define FE       fp
#define FE_UPPER BLS12_381_FP
#include "backend/cuda/fe_device.inc.h"
#undef FE

#define FE      fp2
#define BE      fp
#define PAIR_NL 12
#include "backend/cuda/fe_pair.inc.cuh"

#define LANES            2
#define BITS_FOLD_BLOCKS 2
#define BITS(name)       bits_bls12_381_g2_##name
#include "backend/cuda/bits_curve.inc.cuh"
