/* Launchers of the kernels of transforms over points.  Every launcher returns the launch's error code (0: none). */
#ifndef CUZK_BACKEND_CUDA_GROUP_NTT_KERNELS_H
#define CUZK_BACKEND_CUDA_GROUP_NTT_KERNELS_H

#include <stdint.h>

/* Scalars first root^(i0 + i) for i < count, split for glv.inc.h's ladder. */
struct group_ntt_powers {
    void *out;           /* struct glv_scalar each */
    const void *squares; /* root^(2^k), k < square_count: canonical, Montgomery */
    const void *first;   /* the same form; NULL: 1 */
    uint64_t i0, count;
    unsigned square_count;
};

/* Butterflies: pair (i, i + half) of each block of 2 half, for the places [j0, j0 + j_count) of all blocks.  j_count divides half. */
struct group_ntt_pass {
    void *points;
    const void *scalars; /* of the places; NULL: all 1 */
    uint64_t half, j0, j_count, pairs;
};

#define GROUP_NTT_SCALAR_BYTES 40

#ifdef __cplusplus
extern "C" {
#endif
int group_ntt_bls12_381_powers(const struct group_ntt_powers *p, void *stream);
int group_ntt_bn254_powers(const struct group_ntt_powers *p, void *stream);
int group_ntt_bls12_381_join(const struct group_ntt_pass *p, void *stream);
int group_ntt_bn254_join(const struct group_ntt_pass *p, void *stream);
/** points[i] *= scalars[i], i < count */
int group_ntt_bls12_381_scale(void *points, const void *scalars, uint64_t count, void *stream);
int group_ntt_bn254_scale(void *points, const void *scalars, uint64_t count, void *stream);
/** Points of point_bytes into bit-reversed order. */
int group_ntt_swap(void *points, unsigned log2, unsigned point_bytes, void *stream);
#ifdef __cplusplus
}
#endif

#endif
