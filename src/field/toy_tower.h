/* Binding: the tower Fp6 = Fp2[v] / (v^3 - xi), Fp12 = Fp6[w] / (w^2 - v) of toy, xi = 1 + u. */
#ifndef CUZK_FIELD_TOY_TOWER_H
#define CUZK_FIELD_TOY_TOWER_H

#include "field/toy_fields.h"

/* a xi = (a0 - a1) + (a0 + a1) u */
DEV_FN void toy_fp2_mul_nr(toy_fp2_t *r, const toy_fp2_t *a)
{
    toy_fp_t t;
    toy_fp_sub(&t, &a->c0, &a->c1);
    toy_fp_add(&r->c1, &a->c0, &a->c1);
    r->c0 = t;
}

#define FE toy_fp6
#define BE toy_fp2
#include "field/cubic.inc.h"
#undef FE
#undef BE

DEV_FN void toy_fp6_mul_nr(toy_fp6_t *r, const toy_fp6_t *a) { toy_fp6_mul_v(r, a); }

#define FE toy_fp12
#define BE toy_fp6
#include "field/quad.inc.h"
#undef FE
#undef BE

#endif
