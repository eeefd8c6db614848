/* One point times one scalar by the endomorphism, and the step of a transform over points, in neutral names.
 *
 * Takes  FE, PT, PT_UPPER as point.inc.h, which comes first: a group with PT_UPPER_BETA and PT_UPPER_GLV      PT_FN as there
 * Leaves PT_glv_mul, PT_glv_butterfly.
 *
 * Windows of four bits of both halves over one ladder: 128 doublings (7 products each) and 60 mixed additions (11) of a table of
 * P .. 8P that costs 110 products and no inversion: the multiples are brought to one common Z, and the ladder runs on the isomorphic
 * curve on which they are affine (a = 0, so no formula knows b); the sum's Z takes the common one back in.  About 1,700 products.
 * After libsecp256k1's table with a global Z (Bitcoin Core developers). */
#include "field/fe_names.h"
#include "curve/glv.h"
#include "curve/pt_names.h"

#ifndef PT_FN
#define PT_FN DEV_FN_BIG
#endif

#define GLV_ENTRIES 8

/* table[i] = (i + 1) p in units of the common *z.
 * In: p neither infinity nor of an order of 8 or less. */
PT_FN void CAT(PT, _glv_table)(pt_aff *table, fe_t *z, const pt_aff *p)
{
    fe_t ratio[GLV_ENTRIES], h, hh, w, v, zz, zzz;
    pt_jac sum;
    pt_jac_from_aff(&sum, p);
    table[0] = *p;
    pt_jac_dbl(&sum, &sum); /* its z is 2 y */
    ratio[1] = sum.z;
    table[1].x = sum.x;
    table[1].y = sum.y;
    for (int i = 2; i < GLV_ENTRIES; i++) { /* madd: z grows by h */
        fe_sqr(&zz, &sum.z);
        fe_mul(&h, &p->x, &zz);
        fe_sub(&h, &h, &sum.x);
        fe_mul(&w, &p->y, &sum.z);
        fe_mul(&w, &w, &zz);
        fe_sub(&w, &w, &sum.y);
        ratio[i] = h;
        fe_mul(&sum.z, &sum.z, &h);
        fe_sqr(&hh, &h);
        fe_mul(&v, &sum.x, &hh);
        fe_mul(&hh, &hh, &h);
        fe_sqr(&sum.x, &w);
        fe_sub(&sum.x, &sum.x, &hh);
        fe_sub(&sum.x, &sum.x, &v);
        fe_sub(&sum.x, &sum.x, &v);
        fe_sub(&v, &v, &sum.x);
        fe_mul(&v, &v, &w);
        fe_mul(&hh, &hh, &sum.y);
        fe_sub(&sum.y, &v, &hh);
        table[i].x = sum.x;
        table[i].y = sum.y;
    }
    *z = sum.z;
    h = ratio[GLV_ENTRIES - 1];
    for (int i = GLV_ENTRIES - 2; i >= 0; i--) {
        fe_sqr(&zz, &h);
        fe_mul(&zzz, &zz, &h);
        fe_mul(&table[i].x, &table[i].x, &zz);
        fe_mul(&table[i].y, &table[i].y, &zzz);
        if (i > 0) fe_mul(&h, &h, &ratio[i]);
    }
}

/* r = k p for p of the group of prime order. */
PT_FN void CAT(PT, _glv_mul)(pt_jac *r, const pt_aff *p, const struct glv_scalar *k)
{
    const fe_t beta = CAT(PT_UPPER, _BETA);
    pt_aff table[GLV_ENTRIES], entry;
    fe_t z;
    pt_jac_set_inf(r);
    if (pt_aff_is_inf(p)) return;
    CAT(PT, _glv_table)(table, &z, p);
    for (int w = GLV_WINDOWS - 1; w >= 0; w--) {
        for (int i = 0; i < 4; i++) pt_jac_dbl(r, r);
        for (int half = 0; half < 2; half++) {
            const int digit = glv_digit(k, half, w);
            if (digit == 0) continue;
            entry = table[(digit < 0 ? -digit : digit) - 1];
            if (half == 1) fe_mul(&entry.x, &entry.x, &beta);
            if ((digit < 0) != k->negative[half]) fe_neg(&entry.y, &entry.y);
            pt_jac_add_aff(r, r, &entry);
        }
    }
    fe_mul(&r->z, &r->z, &z);
}

/* sum = u + w v, difference = u - w v; w NULL: 1. */
PT_FN void CAT(PT, _glv_butterfly)(pt_jac *sum, pt_jac *difference, const pt_aff *u, const pt_aff *v,
                                   const struct glv_scalar *w)
{
    pt_jac product;
    if (w == NULL)
        pt_jac_from_aff(&product, v);
    else
        CAT(PT, _glv_mul)(&product, v, w);
    pt_jac_add_aff(sum, &product, u);
    pt_jac_neg(&product, &product);
    pt_jac_add_aff(difference, &product, u);
}

#include "field/fe_unnames.h"
#include "curve/pt_unnames.h"
#undef GLV_ENTRIES
