/* The definition of a multi-scalar multiplication: the tests' oracle. */
#ifndef CUZK_MSM_MSM_NAIVE_H
#define CUZK_MSM_MSM_NAIVE_H

#include "curve/curve.h"

/** out = sum scalars[i] * points[i], one double-and-add a point.  points: packed affine, scalars: 32-byte integers, both at any
 * alignment; gather NULL or indices of scalars. */
void msm_naive(const struct group *g, struct g_jac *out, const uint8_t *points, const uint8_t *scalars,
               const uint32_t *gather, uint64_t count);

#endif
