/* Square roots, signs, powers and coordinates on the wire of Fp[u] / (u^2 + 1), p = 3 (mod 4).
 *
 * Takes  FE, BE as quad.inc.h, which comes first; BE has prime_root.inc.h. */
#include "field/fe_names.h"
#include "field/be_names.h"

/* a is a square in the extension iff its norm is one in the base field. */
DEV_FN_BIG bool fe_is_square(const fe_t *a)
{
    be_t n, t;
    be_sqr(&n, &a->c0);
    be_sqr(&t, &a->c1);
    be_add(&n, &n, &t);
    return be_is_square(&n);
}

/* r = a square root of a; false (and r undefined) if a has none.  Complex method: with a root n of the norm, one of (a0 +- n) / 2 is
 * the square of the root's first coordinate (Adj, Rodriguez-Henriquez, ePrint 2012/685, alg. 8). */
DEV_FN_BIG bool fe_sqrt(fe_t *r, const fe_t *a)
{
    const fe_t x = *a;
    be_t n, t, delta;
    if (be_is_zero(&x.c1)) {
        if (be_sqrt(&t, &x.c0)) {
            r->c0 = t;
            be_set_zero(&r->c1);
        } else { /* then -a0 is a square, since -1 is none */
            be_neg(&n, &x.c0);
            (void)be_sqrt(&t, &n);
            be_set_zero(&r->c0);
            r->c1 = t;
        }
        return true;
    }
    be_sqr(&n, &x.c0);
    be_sqr(&t, &x.c1);
    be_add(&t, &n, &t);
    if (!be_sqrt(&n, &t)) return false;
    be_add(&delta, &x.c0, &n);
    be_halve(&delta, &delta);
    if (!be_sqrt(&t, &delta)) {
        be_sub(&delta, &x.c0, &n);
        be_halve(&delta, &delta);
        (void)be_sqrt(&t, &delta); /* the product of both candidates is -(a1/2)^2, so one is a square; neither is zero */
    }
    r->c0 = t;
    be_dbl(&t, &t);
    be_inv(&t, &t);
    be_mul(&r->c1, &x.c1, &t);
    return true;
}

/* Zcash's order of a and -a: c1 decides, c0 if c1 is zero. */
DEV_FN bool fe_lex_larger(const fe_t *a) { return be_is_zero(&a->c1) ? be_lex_larger(&a->c0) : be_lex_larger(&a->c1); }

/* The Frobenius map a -> a^p is conjugation. */
DEV_FN void fe_frob(fe_t *r, const fe_t *a) { fe_conj(r, a); }

/* r = s a, s in the base field */
DEV_FN void CAT(FE, _mul_base)(fe_t *r, const fe_t *a, const be_t *s)
{
    const be_t k = *s;
    be_mul(&r->c0, &a->c0, &k);
    be_mul(&r->c1, &a->c1, &k);
}

/* Memory has c0 first, big-endian text c1 first. */
DEV_FN void fe_load(fe_t *r, const uint8_t *bytes) { be_load(&r->c0, bytes); be_load(&r->c1, bytes + sizeof(be_t)); }
DEV_FN void fe_store(uint8_t *bytes, const fe_t *a) { be_store(bytes, &a->c0); be_store(bytes + sizeof(be_t), &a->c1); }
DEV_FN bool fe_is_canonical(const fe_t *a) { return be_is_canonical(&a->c0) && be_is_canonical(&a->c1); }

HOST_FN bool fe_load_be(fe_t *r, const uint8_t *bytes)
{
    const bool ok1 = be_load_be(&r->c1, bytes), ok0 = be_load_be(&r->c0, bytes + sizeof(be_t));
    return ok1 && ok0;
}

HOST_FN void fe_store_be(uint8_t *bytes, const fe_t *a)
{
    be_store_be(bytes, &a->c1);
    be_store_be(bytes + sizeof(be_t), &a->c0);
}

DEV_FN bool fe_from_plain(fe_t *r, const uint64_t *w, int words)
{
    const bool ok0 = be_from_plain(&r->c0, w, words), ok1 = be_from_plain(&r->c1, w + words, words);
    return ok0 && ok1;
}

DEV_FN void fe_to_plain(uint64_t *w, int words, const fe_t *a)
{
    be_to_plain(w, words, &a->c0);
    be_to_plain(w + words, words, &a->c1);
}

#include "field/fe_unnames.h"
#include "field/be_unnames.h"
