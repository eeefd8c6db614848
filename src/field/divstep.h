/* Inversion modulo an odd prime by division steps, variable time; the width is a constant of the caller.
 *
 * Bernstein, Yang, "Fast constant-time gcd computation and modular inversion", TCHES 2019 (ePrint 2019/266), in batches of 62 steps
 * with trailing zeros skipped at once (idea: libsecp256k1, doc/safegcd_implementation.md).  Numbers are signed: limbs of 62 bits in
 * int64, only the top one may be negative.  Invariants between batches: d * a = f and e * a = g (mod p), with -2p < d, e < p. */
#ifndef CUZK_FIELD_DIVSTEP_H
#define CUZK_FIELD_DIVSTEP_H

#include "base/dialect.h"

__extension__ typedef __int128 divstep_wide;

#define DIVSTEP_LIMBS_MAX 7 /* 434 bits */
#define DIVSTEP_MASK      (UINT64_MAX >> 2)

struct divstep_matrix { int64_t u, v, q, r; }; /* 2^62 times the transition of 62 steps */

/* r = value of words plain 64-bit words as limbs of 62 bits. */
DEV_FN void divstep_split(int64_t *r, const uint64_t *w, int words, int limbs)
{
    UNROLL for (int i = 0; i < limbs; i++) {
        const int bit = 62 * i, at = bit / 64, shift = bit % 64;
        uint64_t x = at < words ? w[at] >> shift : 0;
        if (shift > 2 && at + 1 < words) x |= w[at + 1] << (64 - shift);
        r[i] = (int64_t)(x & DIVSTEP_MASK);
    }
}

/* The inverse of divstep_split for limbs in [0, 2^62). */
DEV_FN void divstep_join(uint64_t *w, const int64_t *a, int words, int limbs)
{
    UNROLL for (int i = 0; i < words; i++) {
        const int bit = 64 * i, at = bit / 62, shift = bit % 62;
        uint64_t x = at < limbs ? (uint64_t)a[at] >> shift : 0;
        if (at + 1 < limbs) x |= (uint64_t)a[at + 1] << (62 - shift);
        if (shift > 60 && at + 2 < limbs) x |= (uint64_t)a[at + 2] << (124 - shift);
        w[i] = x;
    }
}

/* 62 division steps on the low words of f (odd) and g.  Returns the new eta = -delta. */
DEV_FN int64_t divstep_batch(int64_t eta, uint64_t f, uint64_t g, struct divstep_matrix *m)
{
    uint64_t u = 1, v = 0, q = 0, r = 1;
    int left = 62;
    for (;;) {
        const int zeros = __builtin_ctzll(g | (UINT64_MAX << left)); /* at most left */
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0) break;
        if (eta < 0) { /* g takes f's place */
            uint64_t t;
            eta = -eta;
            t = f; f = g; g = (uint64_t)0 - t;
            t = u; u = q; q = (uint64_t)0 - t;
            t = v; v = r; r = (uint64_t)0 - t;
        }
        /* Add the multiple of f that clears as many low bits of g as steps are sure not to swap, six at most:
         * f (f^2 - 2) = -1/f modulo 2^6 for odd f. */
        const int limit = eta + 1 < left ? (int)eta + 1 : left;
        const uint64_t mask = limit < 6 ? ((uint64_t)1 << limit) - 1 : 63;
        const uint64_t w = (g * f * (f * f - 2)) & mask;
        g += f * w;
        q += u * w;
        r += v * w;
    }
    m->u = (int64_t)u;
    m->v = (int64_t)v;
    m->q = (int64_t)q;
    m->r = (int64_t)r;
    return eta;
}

/* (d, e) = matrix (d, e) / 2^62 modulo p. */
DEV_FN void divstep_update_de(int64_t *d, int64_t *e, const struct divstep_matrix *m, const int64_t *p, uint64_t p_inv62, int limbs)
{
    const int64_t d_sign = d[limbs - 1] >> 63, e_sign = e[limbs - 1] >> 63;
    int64_t md = (m->u & d_sign) + (m->v & e_sign), me = (m->q & d_sign) + (m->r & e_sign); /* p times these keeps the range */
    divstep_wide cd = (divstep_wide)m->u * d[0] + (divstep_wide)m->v * e[0];
    divstep_wide ce = (divstep_wide)m->q * d[0] + (divstep_wide)m->r * e[0];
    md -= (int64_t)((p_inv62 * (uint64_t)cd + (uint64_t)md) & DIVSTEP_MASK); /* the low limb becomes zero */
    me -= (int64_t)((p_inv62 * (uint64_t)ce + (uint64_t)me) & DIVSTEP_MASK);
    cd = (cd + (divstep_wide)p[0] * md) >> 62;
    ce = (ce + (divstep_wide)p[0] * me) >> 62;
    UNROLL for (int i = 1; i < limbs; i++) {
        cd += (divstep_wide)m->u * d[i] + (divstep_wide)m->v * e[i] + (divstep_wide)p[i] * md;
        ce += (divstep_wide)m->q * d[i] + (divstep_wide)m->r * e[i] + (divstep_wide)p[i] * me;
        d[i - 1] = (int64_t)((uint64_t)cd & DIVSTEP_MASK);
        e[i - 1] = (int64_t)((uint64_t)ce & DIVSTEP_MASK);
        cd >>= 62;
        ce >>= 62;
    }
    d[limbs - 1] = (int64_t)cd;
    e[limbs - 1] = (int64_t)ce;
}

/* (f, g) = matrix (f, g) / 2^62, exactly, on the limbs still in use. */
DEV_FN void divstep_update_fg(int64_t *f, int64_t *g, const struct divstep_matrix *m, int used)
{
    divstep_wide cf = ((divstep_wide)m->u * f[0] + (divstep_wide)m->v * g[0]) >> 62;
    divstep_wide cg = ((divstep_wide)m->q * f[0] + (divstep_wide)m->r * g[0]) >> 62;
    for (int i = 1; i < used; i++) {
        cf += (divstep_wide)m->u * f[i] + (divstep_wide)m->v * g[i];
        cg += (divstep_wide)m->q * f[i] + (divstep_wide)m->r * g[i];
        f[i - 1] = (int64_t)((uint64_t)cf & DIVSTEP_MASK);
        g[i - 1] = (int64_t)((uint64_t)cg & DIVSTEP_MASK);
        cf >>= 62;
        cg >>= 62;
    }
    f[used - 1] = (int64_t)cf;
    g[used - 1] = (int64_t)cg;
}

/* d = d + p if add is set, else d; limbs made proper again. */
DEV_FN void divstep_add_p(int64_t *d, const int64_t *p, bool add, int limbs)
{
    const int64_t mask = -(int64_t)add;
    int64_t carry = 0;
    UNROLL for (int i = 0; i < limbs; i++) {
        const int64_t s = d[i] + (p[i] & mask) + carry;
        carry = i + 1 < limbs ? s >> 62 : 0;
        d[i] = i + 1 < limbs ? (int64_t)((uint64_t)s & DIVSTEP_MASK) : s;
    }
}

/* r = 1/a modulo p as plain integers; 0 gives 0.
 * In  a < p, p an odd prime below 2^(62 limbs - 2), neg_p_inv = -1/p mod 2^64. */
DEV_FN void divstep_inverse(uint64_t *out, const uint64_t *a, const uint64_t *p, uint64_t neg_p_inv, int words, int limbs)
{
    int64_t d[DIVSTEP_LIMBS_MAX], e[DIVSTEP_LIMBS_MAX], f[DIVSTEP_LIMBS_MAX], g[DIVSTEP_LIMBS_MAX], m[DIVSTEP_LIMBS_MAX];
    const uint64_t p_inv62 = ((uint64_t)0 - neg_p_inv) & DIVSTEP_MASK;
    int64_t eta = -1;
    int used = limbs;
    divstep_split(m, p, words, limbs);
    divstep_split(g, a, words, limbs);
    UNROLL for (int i = 0; i < limbs; i++) {
        d[i] = 0;
        e[i] = i == 0;
        f[i] = m[i];
    }
    for (;;) {
        int64_t g_bits = 0;
        for (int i = 0; i < used; i++) g_bits |= g[i];
        if (g_bits == 0) break;
        struct divstep_matrix t;
        eta = divstep_batch(eta, (uint64_t)f[0], (uint64_t)g[0], &t);
        divstep_update_de(d, e, &t, m, p_inv62, limbs);
        divstep_update_fg(f, g, &t, used);
        /* Drop the top limb of f and g while both are only a sign there. */
        while (used > 1 && (f[used - 1] == 0 || f[used - 1] == -1) && (g[used - 1] == 0 || g[used - 1] == -1)) {
            f[used - 2] |= (int64_t)((uint64_t)f[used - 1] << 62);
            g[used - 2] |= (int64_t)((uint64_t)g[used - 1] << 62);
            used--;
        }
    }
    /* f = +-1 (or p when a = 0, and then d = 0): d sign(f) modulo p is the inverse. */
    divstep_add_p(d, m, d[limbs - 1] < 0, limbs);
    if (f[used - 1] < 0) {
        UNROLL for (int i = 0; i < limbs; i++) d[i] = -d[i];
        divstep_add_p(d, m, false, limbs);
    }
    divstep_add_p(d, m, d[limbs - 1] < 0, limbs);
    divstep_join(out, d, words, limbs);
}

#endif
