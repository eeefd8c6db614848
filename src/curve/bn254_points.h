/* Binding: the groups G1 and G2 of bn254, with their subgroup tests. */
#ifndef CUZK_CURVE_BN254_POINTS_H
#define CUZK_CURVE_BN254_POINTS_H

#include "curve/params_curve_bn254.h"
#include "field/bn254_fields.h"

#define FE       bn254_fp
#define PT       bn254_g1
#define PT_UPPER BN254_G1
#include "curve/point.inc.h"
#undef FE
#undef PT
#undef PT_UPPER

#define FE       bn254_fp2
#define PT       bn254_g2
#define PT_UPPER BN254_G2
#include "curve/point.inc.h"
#undef FE
#undef PT
#undef PT_UPPER

/* psi = untwist, Frobenius, twist: (conj(x) PSI_X, conj(y) PSI_Y); it keeps the curve and multiplies G2 by p. */
DEV_FN void bn254_g2_psi(bn254_g2_jac *r, const bn254_g2_jac *p)
{
    const bn254_fp2_t cx = BN254_G2_PSI_X, cy = BN254_G2_PSI_Y;
    bn254_fp2_conj(&r->x, &p->x);
    bn254_fp2_mul(&r->x, &r->x, &cx);
    bn254_fp2_conj(&r->y, &p->y);
    bn254_fp2_mul(&r->y, &r->y, &cy);
    bn254_fp2_conj(&r->z, &p->z);
}

/* In: a point on the curve.  The group's order is r, so there is nothing to test. */
DEV_FN bool bn254_g1_in_subgroup(const bn254_g1_aff *p) { (void)p; return true; }

/* In: a point on the curve.  [x+1]P + psi([x]P) + psi^2([x]P) = psi^3([2x]P) (Dai, Lin, Zhao, Zhou, ePrint 2022/348); that nothing
 * outside of the subgroup passes is checked where the constants are made, tools/gen_curve_params.py. */
DEV_FN_BIG bool bn254_g2_in_subgroup(const bn254_g2_aff *p)
{
    bn254_g2_jac a, b, l, r;
    if (bn254_g2_aff_is_inf(p)) return true;
    bn254_g2_jac_from_aff(&a, p);
    bn254_g2_jac_mul_u64(&b, &a, BN254_X_ABS); /* x is positive */
    bn254_g2_jac_add_aff(&l, &b, p);
    bn254_g2_psi(&a, &b);
    bn254_g2_jac_add(&l, &l, &a);
    bn254_g2_psi(&a, &a);
    bn254_g2_jac_add(&l, &l, &a);
    bn254_g2_psi(&a, &a);
    bn254_g2_jac_dbl(&r, &a);
    return bn254_g2_jac_eq(&l, &r);
}

#endif
