/* A Groth16 proof and verifying key as plain points: what the readers and writers of all formats exchange. */
#ifndef CUZK_FORMATS_GROTH16_POINTS_H
#define CUZK_FORMATS_GROTH16_POINTS_H

#include "curve/curve.h"

struct proof_points {
    struct g_aff a; /* G1 */
    struct g_aff b; /* G2 */
    struct g_aff c; /* G1 */
};

struct vk_points {
    const struct curve *curve;
    struct g_aff alpha1, beta2, gamma2, delta2;
    struct g_aff *ic;  /* ic_count G1 points, owned: vk_points_fini */
    uint64_t ic_count; /* public inputs + 1 */
};
void vk_points_fini(struct vk_points *vk); /* legal on a zeroed one */

struct public_values {
    struct fr_int *value; /* canonical; owned: public_values_fini.  NULL if there are none */
    uint64_t count;
};
void public_values_fini(struct public_values *p); /* legal on a zeroed one */

#endif
