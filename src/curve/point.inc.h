/* Points of y^2 = x^3 + b in affine, Jacobian and XYZZ coordinates, complete: P + P, P - P and infinity give the right answer.
 *
 * Takes  FE        prefix of the coordinate field, with fe_batch.inc.h
 *        PT        prefix of the group, e.g. bn254_g1      PT_UPPER  prefix of its constants, e.g. BN254_G1
 *        PT_FN     optional: how larger functions are declared; not inlined if absent
 *
 * Affine (x, y); infinity is (0, 0), which is on no curve used here (b != 0).  Jacobian (X, Y, Z) = (X/Z^2, Y/Z^3); infinity has Z = 0.
 * XYZZ (X, Y, ZZ, ZZZ) = (X/ZZ, Y/ZZZ), ZZ^3 = ZZZ^2; infinity has ZZ = 0.  Outputs may alias inputs.  Timing depends on values.
 * Formulas by their names in the Explicit-Formulas Database (hyperelliptic.org/EFD), short Weierstrass curves with a = 0. */
#include "field/fe_names.h"
#include "curve/pt_names.h"

#ifndef PT_FN
#define PT_FN DEV_FN_BIG
#endif

typedef struct { fe_t x, y; } pt_aff;
typedef struct { fe_t x, y, z; } pt_jac;
typedef struct { fe_t x, y, zz, zzz; } pt_xyzz;

/* -- affine -- */

DEV_FN void pt_aff_set_inf(pt_aff *r) { fe_set_zero(&r->x); fe_set_zero(&r->y); }
DEV_FN bool pt_aff_is_inf(const pt_aff *p) { return fe_is_zero(&p->x) && fe_is_zero(&p->y); }
DEV_FN bool pt_aff_eq(const pt_aff *p, const pt_aff *q) { return fe_eq(&p->x, &q->x) && fe_eq(&p->y, &q->y); }
DEV_FN void pt_aff_neg(pt_aff *r, const pt_aff *p) { r->x = p->x; fe_neg(&r->y, &p->y); }
DEV_FN bool pt_aff_is_canonical(const pt_aff *p) { return fe_is_canonical(&p->x) && fe_is_canonical(&p->y); }

DEV_FN void pt_aff_generator(pt_aff *r)
{
    const pt_aff g = CAT(PT_UPPER, _GENERATOR);
    *r = g;
}

/* r = x^3 + b */
DEV_FN void CAT(PT, _curve_rhs)(fe_t *r, const fe_t *x)
{
    const fe_t b = CAT(PT_UPPER, _B);
    fe_t t;
    fe_sqr(&t, x);
    fe_mul(&t, &t, x);
    fe_add(r, &t, &b);
}

/* Infinity counts as on the curve. */
PT_FN bool pt_aff_on_curve(const pt_aff *p)
{
    fe_t l, r;
    if (pt_aff_is_inf(p)) return true;
    fe_sqr(&l, &p->y);
    CAT(PT, _curve_rhs)(&r, &p->x);
    return fe_eq(&l, &r);
}

/* -- Jacobian -- */

DEV_FN void pt_jac_set_inf(pt_jac *r) { fe_set_one(&r->x); fe_set_one(&r->y); fe_set_zero(&r->z); }
DEV_FN bool pt_jac_is_inf(const pt_jac *p) { return fe_is_zero(&p->z); }
DEV_FN void pt_jac_neg(pt_jac *r, const pt_jac *p) { r->x = p->x; fe_neg(&r->y, &p->y); r->z = p->z; }

DEV_FN void pt_jac_from_aff(pt_jac *r, const pt_aff *p)
{
    if (pt_aff_is_inf(p)) {
        pt_jac_set_inf(r);
        return;
    }
    r->x = p->x;
    r->y = p->y;
    fe_set_one(&r->z);
}

/* One inversion. */
PT_FN void pt_jac_to_aff(pt_aff *r, const pt_jac *p)
{
    fe_t i, ii;
    if (pt_jac_is_inf(p)) {
        pt_aff_set_inf(r);
        return;
    }
    fe_inv(&i, &p->z);
    fe_sqr(&ii, &i);
    fe_mul(&r->x, &p->x, &ii);
    fe_mul(&ii, &ii, &i);
    fe_mul(&r->y, &p->y, &ii);
}

/* The same point, whatever the representatives. */
PT_FN bool pt_jac_eq(const pt_jac *p, const pt_jac *q)
{
    fe_t zp, zq, a, b;
    if (pt_jac_is_inf(p) || pt_jac_is_inf(q)) return pt_jac_is_inf(p) && pt_jac_is_inf(q);
    fe_sqr(&zp, &p->z);
    fe_sqr(&zq, &q->z);
    fe_mul(&a, &p->x, &zq);
    fe_mul(&b, &q->x, &zp);
    if (!fe_eq(&a, &b)) return false;
    fe_mul(&zp, &zp, &p->z);
    fe_mul(&zq, &zq, &q->z);
    fe_mul(&a, &p->y, &zq);
    fe_mul(&b, &q->y, &zp);
    return fe_eq(&a, &b);
}

/* dbl-2009-l: 2M + 5S.  Doubling infinity gives Z = 0 by itself; so does y = 0. */
PT_FN void pt_jac_dbl(pt_jac *r, const pt_jac *p)
{
    fe_t a, b, c, d, e, f;
    fe_sqr(&a, &p->x);
    fe_sqr(&b, &p->y);
    fe_sqr(&c, &b);
    fe_add(&d, &p->x, &b);
    fe_sqr(&d, &d);
    fe_sub(&d, &d, &a);
    fe_sub(&d, &d, &c);
    fe_dbl(&d, &d); /* 4 x y^2 */
    fe_dbl(&e, &a);
    fe_add(&e, &e, &a); /* 3 x^2 */
    fe_sqr(&f, &e);
    fe_mul(&r->z, &p->y, &p->z);
    fe_dbl(&r->z, &r->z);
    fe_sub(&f, &f, &d);
    fe_sub(&r->x, &f, &d);
    fe_sub(&d, &d, &r->x);
    fe_mul(&d, &d, &e);
    fe_dbl(&c, &c);
    fe_dbl(&c, &c);
    fe_dbl(&c, &c);
    fe_sub(&r->y, &d, &c);
}

/* add-2007-bl: 11M + 5S */
PT_FN void pt_jac_add(pt_jac *r, const pt_jac *p, const pt_jac *q)
{
    fe_t z1z1, z2z2, u1, u2, s1, s2, h, i, j, w, v;
    if (pt_jac_is_inf(p)) {
        *r = *q;
        return;
    }
    if (pt_jac_is_inf(q)) {
        *r = *p;
        return;
    }
    fe_sqr(&z1z1, &p->z);
    fe_sqr(&z2z2, &q->z);
    fe_mul(&u1, &p->x, &z2z2);
    fe_mul(&u2, &q->x, &z1z1);
    fe_mul(&s1, &p->y, &q->z);
    fe_mul(&s1, &s1, &z2z2);
    fe_mul(&s2, &q->y, &p->z);
    fe_mul(&s2, &s2, &z1z1);
    fe_sub(&h, &u2, &u1);
    fe_sub(&w, &s2, &s1);
    if (fe_is_zero(&h)) { /* same x: the same point or its negative */
        if (fe_is_zero(&w)) pt_jac_dbl(r, p);
        else pt_jac_set_inf(r);
        return;
    }
    fe_dbl(&w, &w);
    fe_dbl(&i, &h);
    fe_sqr(&i, &i);
    fe_mul(&j, &h, &i);
    fe_mul(&v, &u1, &i);
    fe_add(&u1, &p->z, &q->z);
    fe_sqr(&u1, &u1);
    fe_sub(&u1, &u1, &z1z1);
    fe_sub(&u1, &u1, &z2z2);
    fe_mul(&r->z, &u1, &h);
    fe_sqr(&u2, &w);
    fe_sub(&u2, &u2, &j);
    fe_sub(&u2, &u2, &v);
    fe_sub(&r->x, &u2, &v);
    fe_sub(&v, &v, &r->x);
    fe_mul(&v, &v, &w);
    fe_mul(&s1, &s1, &j);
    fe_dbl(&s1, &s1);
    fe_sub(&r->y, &v, &s1);
}

/* madd-2007-bl: 7M + 4S */
PT_FN void pt_jac_add_aff(pt_jac *r, const pt_jac *p, const pt_aff *q)
{
    fe_t z1z1, u2, s2, h, hh, i, j, w, v;
    if (pt_aff_is_inf(q)) {
        *r = *p;
        return;
    }
    if (pt_jac_is_inf(p)) {
        pt_jac_from_aff(r, q);
        return;
    }
    fe_sqr(&z1z1, &p->z);
    fe_mul(&u2, &q->x, &z1z1);
    fe_mul(&s2, &q->y, &p->z);
    fe_mul(&s2, &s2, &z1z1);
    fe_sub(&h, &u2, &p->x);
    fe_sub(&w, &s2, &p->y);
    if (fe_is_zero(&h)) {
        if (fe_is_zero(&w)) pt_jac_dbl(r, p);
        else pt_jac_set_inf(r);
        return;
    }
    fe_dbl(&w, &w);
    fe_sqr(&hh, &h);
    fe_dbl(&i, &hh);
    fe_dbl(&i, &i);
    fe_mul(&j, &h, &i);
    fe_mul(&v, &p->x, &i);
    fe_add(&u2, &p->z, &h);
    fe_sqr(&u2, &u2);
    fe_sub(&u2, &u2, &z1z1);
    fe_sub(&r->z, &u2, &hh);
    fe_mul(&s2, &p->y, &j);
    fe_sqr(&u2, &w);
    fe_sub(&u2, &u2, &j);
    fe_sub(&u2, &u2, &v);
    fe_sub(&r->x, &u2, &v);
    fe_sub(&v, &v, &r->x);
    fe_mul(&v, &v, &w);
    fe_dbl(&s2, &s2);
    fe_sub(&r->y, &v, &s2);
}

/* r = k p by doubling and adding: for multipliers with few bits set, such as a curve's parameter. */
PT_FN void pt_jac_mul_u64(pt_jac *r, const pt_jac *p, uint64_t k)
{
    const pt_jac base = *p;
    pt_jac acc;
    pt_jac_set_inf(&acc);
    for (int i = 63; i >= 0; i--) {
        pt_jac_dbl(&acc, &acc);
        if ((k >> i) & 1) pt_jac_add(&acc, &acc, &base);
    }
    *r = acc;
}

/* r = k p, k in words little-endian words.  Signed windows (wNAF) of width 5: about 64 words doublings and 11 words additions. */
PT_FN void pt_jac_mul(pt_jac *r, const pt_jac *p, const uint64_t *k, int words)
{
    pt_jac table[8], acc, t; /* odd multiples 1 .. 15 */
    pt_jac_dbl(&t, p);
    table[0] = *p;
    for (int i = 1; i < 8; i++) pt_jac_add(&table[i], &table[i - 1], &t);
    /* Recoding runs upwards and the sum downwards, so digits are stored, one byte a bit.  A digit, odd and in [-15, 15], starts where
     * the bit differs from the carry out of the digit below and spans five bits. */
    int8_t digit[64 * 8 + 1];
    const int bits = 64 * (words < 8 ? words : 8);
    unsigned carry = 0;
    for (int i = 0; i <= bits; i++) digit[i] = 0;
    for (int i = 0; i < bits;) {
        const unsigned bit = (unsigned)(k[i / 64] >> (i % 64)) & 1;
        if (bit == carry) {
            i++;
            continue;
        }
        const int width = bits - i < 5 ? bits - i : 5;
        unsigned window = carry;
        for (int j = 0; j < width; j++) window += ((unsigned)(k[(i + j) / 64] >> ((i + j) % 64)) & 1) << j;
        carry = window >> 4; /* a window of 16 or more becomes negative; a shorter one at the top cannot reach 16 */
        digit[i] = (int8_t)((int)window - (int)(carry << 5));
        i += width;
    }
    digit[bits] = (int8_t)carry;
    pt_jac_set_inf(&acc);
    for (int i = bits; i >= 0; i--) {
        pt_jac_dbl(&acc, &acc);
        if (digit[i] > 0) pt_jac_add(&acc, &acc, &table[digit[i] / 2]);
        if (digit[i] < 0) {
            pt_jac_neg(&t, &table[-digit[i] / 2]);
            pt_jac_add(&acc, &acc, &t);
        }
    }
    *r = acc;
}

/* Tightly packed affine points; infinity stays infinity.  One inversion every 64 points, no allocation. */
PT_FN void pt_jac_batch_to_aff(pt_aff *r, const pt_jac *p, size_t count)
{
    fe_t z[64], zz;
    for (size_t start = 0; start < count; start += 64) {
        const size_t n = count - start < 64 ? count - start : 64;
        for (size_t i = 0; i < n; i++) z[i] = p[start + i].z;
        CAT(FE, _batch_inv)(z, n);
        for (size_t i = 0; i < n; i++) { /* an inverse of zero is zero, and so are both coordinates then */
            fe_sqr(&zz, &z[i]);
            fe_mul(&r[start + i].x, &p[start + i].x, &zz);
            fe_mul(&zz, &zz, &z[i]);
            fe_mul(&r[start + i].y, &p[start + i].y, &zz);
        }
    }
}

/* The definition of membership in the subgroup of order r, which faster tests are compared with. */
PT_FN bool pt_killed_by_order(const pt_aff *p, const uint64_t *order, int words)
{
    pt_jac t;
    pt_jac_from_aff(&t, p);
    pt_jac_mul(&t, &t, order, words);
    return pt_jac_is_inf(&t);
}

/* -- XYZZ -- */

DEV_FN void pt_xyzz_set_inf(pt_xyzz *r)
{
    fe_set_zero(&r->x);
    fe_set_zero(&r->y);
    fe_set_zero(&r->zz);
    fe_set_zero(&r->zzz);
}
DEV_FN bool pt_xyzz_is_inf(const pt_xyzz *p) { return fe_is_zero(&p->zz); }

DEV_FN void pt_xyzz_from_aff(pt_xyzz *r, const pt_aff *p)
{
    if (pt_aff_is_inf(p)) {
        pt_xyzz_set_inf(r);
        return;
    }
    r->x = p->x;
    r->y = p->y;
    fe_set_one(&r->zz);
    fe_set_one(&r->zzz);
}

/* mdbl-2008-s-1: twice an affine point that is not infinity, 4M + 3S */
PT_FN void pt_xyzz_dbl_aff(pt_xyzz *r, const pt_aff *p)
{
    fe_t u, v, w, s, m, x3;
    fe_dbl(&u, &p->y);
    fe_sqr(&v, &u);
    fe_mul(&w, &u, &v);
    fe_mul(&s, &p->x, &v);
    fe_sqr(&x3, &p->x);
    fe_dbl(&m, &x3);
    fe_add(&m, &m, &x3);
    fe_sqr(&x3, &m);
    fe_sub(&x3, &x3, &s);
    fe_sub(&x3, &x3, &s);
    fe_sub(&s, &s, &x3);
    fe_mul(&s, &s, &m);
    fe_mul(&m, &w, &p->y);
    r->x = x3;
    fe_sub(&r->y, &s, &m);
    r->zz = v;
    r->zzz = w;
}

/* dbl-2008-s-1: 6M + 3S */
PT_FN void pt_xyzz_dbl(pt_xyzz *r, const pt_xyzz *p)
{
    fe_t u, v, w, s, m, x3;
    fe_dbl(&u, &p->y);
    fe_sqr(&v, &u);
    fe_mul(&w, &u, &v);
    fe_mul(&s, &p->x, &v);
    fe_sqr(&x3, &p->x);
    fe_dbl(&m, &x3);
    fe_add(&m, &m, &x3);
    fe_sqr(&x3, &m);
    fe_sub(&x3, &x3, &s);
    fe_sub(&x3, &x3, &s);
    fe_sub(&s, &s, &x3);
    fe_mul(&s, &s, &m);
    fe_mul(&m, &w, &p->y);
    r->x = x3;
    fe_sub(&r->y, &s, &m);
    fe_mul(&r->zz, &v, &p->zz);
    fe_mul(&r->zzz, &w, &p->zzz);
}

/* add-2008-s: 12M + 2S */
PT_FN void pt_xyzz_add(pt_xyzz *r, const pt_xyzz *p, const pt_xyzz *q)
{
    fe_t u1, u2, s1, s2, pp, ppp, qq;
    if (pt_xyzz_is_inf(q)) {
        *r = *p;
        return;
    }
    if (pt_xyzz_is_inf(p)) {
        *r = *q;
        return;
    }
    fe_mul(&u1, &p->x, &q->zz);
    fe_mul(&u2, &q->x, &p->zz);
    fe_mul(&s1, &p->y, &q->zzz);
    fe_mul(&s2, &q->y, &p->zzz);
    fe_sub(&u2, &u2, &u1);
    fe_sub(&s2, &s2, &s1);
    if (fe_is_zero(&u2)) {
        if (fe_is_zero(&s2)) pt_xyzz_dbl(r, p);
        else pt_xyzz_set_inf(r);
        return;
    }
    fe_sqr(&pp, &u2);
    fe_mul(&ppp, &pp, &u2);
    fe_mul(&qq, &u1, &pp);
    fe_mul(&u1, &p->zz, &q->zz);
    fe_mul(&r->zz, &u1, &pp);
    fe_mul(&u1, &p->zzz, &q->zzz);
    fe_mul(&r->zzz, &u1, &ppp);
    fe_sqr(&u1, &s2);
    fe_sub(&u1, &u1, &ppp);
    fe_sub(&u1, &u1, &qq);
    fe_sub(&r->x, &u1, &qq);
    fe_sub(&qq, &qq, &r->x);
    fe_mul(&qq, &qq, &s2);
    fe_mul(&s1, &s1, &ppp);
    fe_sub(&r->y, &qq, &s1);
}

/* madd-2008-s: 8M + 2S */
PT_FN void pt_xyzz_add_aff(pt_xyzz *r, const pt_xyzz *p, const pt_aff *q)
{
    fe_t u2, s2, pp, ppp, qq;
    if (pt_aff_is_inf(q)) {
        *r = *p;
        return;
    }
    if (pt_xyzz_is_inf(p)) {
        pt_xyzz_from_aff(r, q);
        return;
    }
    fe_mul(&u2, &q->x, &p->zz);
    fe_mul(&s2, &q->y, &p->zzz);
    fe_sub(&u2, &u2, &p->x);
    fe_sub(&s2, &s2, &p->y);
    if (fe_is_zero(&u2)) {
        if (fe_is_zero(&s2)) pt_xyzz_dbl_aff(r, q);
        else pt_xyzz_set_inf(r);
        return;
    }
    fe_sqr(&pp, &u2);
    fe_mul(&ppp, &pp, &u2);
    fe_mul(&qq, &p->x, &pp);
    fe_mul(&r->zz, &p->zz, &pp);
    fe_mul(&r->zzz, &p->zzz, &ppp);
    fe_mul(&u2, &p->y, &ppp);
    fe_sqr(&pp, &s2);
    fe_sub(&pp, &pp, &ppp);
    fe_sub(&pp, &pp, &qq);
    fe_sub(&r->x, &pp, &qq);
    fe_sub(&qq, &qq, &r->x);
    fe_mul(&qq, &qq, &s2);
    fe_sub(&r->y, &qq, &u2);
}

DEV_FN void pt_xyzz_sub_aff(pt_xyzz *r, const pt_xyzz *p, const pt_aff *q)
{
    pt_aff t;
    pt_aff_neg(&t, q);
    pt_xyzz_add_aff(r, p, &t);
}

/* With Z = ZZ: X' = X ZZ and Y' = Y ZZZ, since X ZZ / ZZ^2 = X / ZZ and Y ZZZ / ZZ^3 = Y / ZZZ. */
DEV_FN void pt_xyzz_to_jac(pt_jac *r, const pt_xyzz *p)
{
    if (pt_xyzz_is_inf(p)) {
        pt_jac_set_inf(r);
        return;
    }
    fe_mul(&r->x, &p->x, &p->zz);
    fe_mul(&r->y, &p->y, &p->zzz);
    r->z = p->zz;
}

#include "field/fe_unnames.h"
#include "curve/pt_unnames.h"
