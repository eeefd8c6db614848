/* Binding: the groups G1 and G2 of toy, with their subgroup tests. */
#ifndef CUZK_CURVE_TOY_POINTS_H
#define CUZK_CURVE_TOY_POINTS_H

#include "curve/params_curve_toy.h"
#include "field/toy_fields.h"

#define FE       toy_fp
#define PT       toy_g1
#define PT_UPPER TOY_G1
#include "curve/point.inc.h"
#undef FE
#undef PT
#undef PT_UPPER

#define FE       toy_fp2
#define PT       toy_g2
#define PT_UPPER TOY_G2
#include "curve/point.inc.h"
#undef FE
#undef PT
#undef PT_UPPER

/* psi = untwist, Frobenius, twist: (conj(x) PSI_X, conj(y) PSI_Y); it keeps the curve and multiplies G2 by p. */
DEV_FN void toy_g2_psi(toy_g2_jac *r, const toy_g2_jac *p)
{
    const toy_fp2_t cx = TOY_G2_PSI_X, cy = TOY_G2_PSI_Y;
    toy_fp2_conj(&r->x, &p->x);
    toy_fp2_mul(&r->x, &r->x, &cx);
    toy_fp2_conj(&r->y, &p->y);
    toy_fp2_mul(&r->y, &r->y, &cy);
    toy_fp2_conj(&r->z, &p->z);
}

/* The group has 13 points in all. */
DEV_FN bool toy_g1_in_subgroup(const toy_g1_aff *p) { (void)p; return true; }

DEV_FN bool toy_g2_in_subgroup(const toy_g2_aff *p)
{
    const uint64_t r[] = TOY_FR_P_64;
    return toy_g2_killed_by_order(p, r, 1);
}

#endif
