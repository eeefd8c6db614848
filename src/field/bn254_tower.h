/* Binding: the tower Fp6 = Fp2[v] / (v^3 - xi), Fp12 = Fp6[w] / (w^2 - v) of bn254, xi = 9 + u. */
#ifndef CUZK_FIELD_BN254_TOWER_H
#define CUZK_FIELD_BN254_TOWER_H

#include "field/bn254_fields.h"

/* a xi = (9 a0 - a1) + (9 a1 + a0) u */
DEV_FN void bn254_fp2_mul_nr(bn254_fp2_t *r, const bn254_fp2_t *a)
{
    bn254_fp2_t t;
    bn254_fp2_dbl(&t, a);
    bn254_fp2_dbl(&t, &t);
    bn254_fp2_dbl(&t, &t);
    bn254_fp2_add(&t, &t, a);
    const bn254_fp_t a0 = a->c0;
    bn254_fp_sub(&r->c0, &t.c0, &a->c1);
    bn254_fp_add(&r->c1, &t.c1, &a0);
}

#define FE bn254_fp6
#define BE bn254_fp2
#include "field/cubic.inc.h"
#undef FE
#undef BE

DEV_FN void bn254_fp6_mul_nr(bn254_fp6_t *r, const bn254_fp6_t *a) { bn254_fp6_mul_v(r, a); }

#define FE bn254_fp12
#define BE bn254_fp6
#include "field/quad.inc.h"
#undef FE
#undef BE

#endif
