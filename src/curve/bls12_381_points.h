/* Binding: the groups G1 and G2 of bls12_381, with their subgroup tests. */
#ifndef CUZK_CURVE_BLS12_381_POINTS_H
#define CUZK_CURVE_BLS12_381_POINTS_H

#include "curve/params_curve_bls12_381.h"
#include "field/bls12_381_fields.h"

#define FE       bls12_381_fp
#define PT       bls12_381_g1
#define PT_UPPER BLS12_381_G1
#include "curve/point.inc.h"
#undef FE
#undef PT
#undef PT_UPPER

#define FE       bls12_381_fp2
#define PT       bls12_381_g2
#define PT_UPPER BLS12_381_G2
#include "curve/point.inc.h"
#undef FE
#undef PT
#undef PT_UPPER

/* psi = untwist, Frobenius, twist: (conj(x) PSI_X, conj(y) PSI_Y); it keeps the curve and multiplies G2 by p. */
DEV_FN void bls12_381_g2_psi(bls12_381_g2_jac *r, const bls12_381_g2_jac *p)
{
    const bls12_381_fp2_t cx = BLS12_381_G2_PSI_X, cy = BLS12_381_G2_PSI_Y;
    bls12_381_fp2_conj(&r->x, &p->x);
    bls12_381_fp2_mul(&r->x, &r->x, &cx);
    bls12_381_fp2_conj(&r->y, &p->y);
    bls12_381_fp2_mul(&r->y, &r->y, &cy);
    bls12_381_fp2_conj(&r->z, &p->z);
}

/* In: a point on the curve.  phi(P) = [-x^2]P (Scott, ePrint 2021/1130), phi(x, y) = (BETA x, y). */
DEV_FN_BIG bool bls12_381_g1_in_subgroup(const bls12_381_g1_aff *p)
{
    const bls12_381_fp_t beta = BLS12_381_G1_BETA;
    bls12_381_g1_jac a;
    bls12_381_g1_aff phi = *p;
    bls12_381_g1_jac_from_aff(&a, p);
    bls12_381_g1_jac_mul_u64(&a, &a, BLS12_381_X_ABS);
    bls12_381_g1_jac_mul_u64(&a, &a, BLS12_381_X_ABS);
    bls12_381_fp_mul(&phi.x, &phi.x, &beta);
    bls12_381_g1_jac_add_aff(&a, &a, &phi); /* x^2 P + phi(P) */
    return bls12_381_g1_jac_is_inf(&a);
}

/* In: a point on the curve.  psi(P) = [x]P (Scott, ePrint 2021/1130). */
DEV_FN_BIG bool bls12_381_g2_in_subgroup(const bls12_381_g2_aff *p)
{
    bls12_381_g2_jac a, b;
    bls12_381_g2_jac_from_aff(&a, p);
    bls12_381_g2_psi(&b, &a);
    bls12_381_g2_jac_mul_u64(&a, &a, BLS12_381_X_ABS);
    bls12_381_g2_jac_neg(&a, &a); /* x is negative */
    return bls12_381_g2_jac_eq(&a, &b);
}

#endif
