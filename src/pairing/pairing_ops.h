/* What a curve's pairing offers once the curve is forgotten; called through pairing.h only. */
#ifndef CUZK_PAIRING_PAIRING_OPS_H
#define CUZK_PAIRING_PAIRING_OPS_H

#include "pairing/pairing.h"

/* As the functions of pairing.h without their curve. */
struct pairing_ops {
    void (*product)(struct gt *out, const struct g_aff *g1, const struct g_aff *g2, size_t count);
    void (*prepare)(struct pairing_lines *out, const struct g_aff *g2);
    void (*miller)(struct gt *out, const struct g_aff *g1, const struct g_aff *g2,
                   const struct pairing_lines *const *lines, size_t count);
    void (*finish)(struct gt *out, const struct gt *miller);
    bool (*is_one)(const struct gt *a);
    void (*gt_mul)(struct gt *r, const struct gt *a, const struct gt *b);
    void (*gt_pow)(struct gt *r, const struct gt *a, const struct fr_int *e);
    bool (*gt_eq)(const struct gt *a, const struct gt *b);
    void (*gt_to_plain)(struct fp_int coefficients[12], const struct gt *a);
};

extern const struct pairing_ops pairing_ops_bn254, pairing_ops_bls12_381;

#endif
