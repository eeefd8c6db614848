/* Binding: the MSM's point kernels for G2 of bls12_381. */
#include "field/params_bls12_381.h"

#define FE       fp
#define FE_UPPER BLS12_381_FP
#include "backend/cuda/fe_device.inc.h"
#undef FE

#define FE      fp2
#define BE      fp
#define PAIR_NL 12
#include "backend/cuda/fe_pair.inc.cuh"

#define LANES 2
#define MSM_ACC_BLOCKS MSM_BLS12_381_G2_ACC_BLOCKS
#define MSM_REDUCE_BLOCKS 2
#define MSM_AFFINE_BLOCKS MSM_BLS12_381_G2_AFFINE_BLOCKS
#define MSM(name) msm_bls12_381_g2_##name
/* accumulate itself stands in msm_whole_bls12_381_g2.cu, which chooses between whole points a thread and these pairs of lanes. */
#define msm_bls12_381_g2_accumulate msm_bls12_381_g2_accumulate_pairs
#include "backend/cuda/msm_whole_kernels.h"
#include "backend/cuda/msm_curve.inc.cuh"

extern "C" int MSM(join)(void *buckets, void *piece_sums, const struct msm_sort *s, void *stream) { return join_pieces(buckets, piece_sums, s, stream); }
