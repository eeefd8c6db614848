/* Binding: the tower Fp6 = Fp2[v] / (v^3 - xi), Fp12 = Fp6[w] / (w^2 - v) of bls12_381, xi = 1 + u. */
#ifndef CUZK_FIELD_BLS12_381_TOWER_H
#define CUZK_FIELD_BLS12_381_TOWER_H

#include "field/bls12_381_fields.h"

/* a xi = (a0 - a1) + (a0 + a1) u */
DEV_FN void bls12_381_fp2_mul_nr(bls12_381_fp2_t *r, const bls12_381_fp2_t *a)
{
    bls12_381_fp_t t;
    bls12_381_fp_sub(&t, &a->c0, &a->c1);
    bls12_381_fp_add(&r->c1, &a->c0, &a->c1);
    r->c0 = t;
}

#define FE bls12_381_fp6
#define BE bls12_381_fp2
#include "field/cubic.inc.h"
#undef FE
#undef BE

DEV_FN void bls12_381_fp6_mul_nr(bls12_381_fp6_t *r, const bls12_381_fp6_t *a) { bls12_381_fp6_mul_v(r, a); }

#define FE bls12_381_fp12
#define BE bls12_381_fp6
#include "field/quad.inc.h"
#undef FE
#undef BE

#endif
