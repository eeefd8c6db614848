/* Binding: sums over bitmaps in G2 of bn254. */
#include "field/params_bn254.h"

#define FE       fp
#define FE_UPPER BN254_FP
#include "backend/cuda/fe_device.inc.h"
#undef FE

#define FE      fp2
#define BE      fp
#define PAIR_NL 8
#include "backend/cuda/fe_pair.inc.cuh"

#define LANES            2
#define BITS_FOLD_BLOCKS 3
#define BITS(name)       bits_bn254_g2_##name
#include "backend/cuda/bits_curve.inc.cuh"
