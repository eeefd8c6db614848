/* The optimal ate pairing, for Barreto-Naehrig curves and for Barreto-Lynn-Scott curves of embedding degree 12.
 *
 * Takes  PR          the curve's prefix, e.g. bn254: its tower (field/PR_tower.h) is included already
 *        PR_UPPER    prefix of the generated constants, e.g. BN254_PAIRING
 *        PR_BN       1: Barreto-Naehrig, loop over 6x + 2 and two Frobenius additions; 0: BLS12, loop over x
 *        PR_OPS      name of the struct pairing_ops that it defines
 *        PR_D_TWIST  1: the twist is y^2 = x^3 + b / xi and (x, y) lies under (x w^2, y w^3); 0: y^2 = x^3 + b xi, (x / w^2, y / w^3)
 *
 * Sources: loops, F. Vercauteren, "Optimal pairings", IEEE Trans. Inf. Theory 56 (2010), ePrint 2008/096; point steps and lines in
 * homogeneous coordinates, D. Aranha et al., "Faster explicit formulas for computing pairings over ordinary curves", EUROCRYPT 2011,
 * ePrint 2010/526, and C. Costello, T. Lange, M. Naehrig, PKC 2010, ePrint 2009/615; squaring after the easy part, R. Granger,
 * M. Scott, PKC 2010, ePrint 2009/565; hard parts, named where they stand.
 *
 * Lines are computed up to a factor in Fp2 and, on an M-twist, up to w^3; the easy part of the final exponentiation, a multiple of
 * p^4 - 1, sends both to 1.  Timing depends on the inputs: for verification only, which knows no secrets. */
#include "pairing/pairing_ops.h"
#include "pairing/pr_names.h"
#include <string.h>

#define PR_CONST(name) CAT(PR_UPPER, name)

struct pr_g1 {
    f1_t x, y;
}; /* affine, not infinity */
struct pr_g2 {
    f2_t x, y;
}; /* affine on the twist, not infinity */
struct pr_hom {
    f2_t x, y, z;
}; /* homogeneous on the twist: (x / z, y / z) */

/* A line through points of the twist, still to be evaluated: py yP + px xP + p0. */
struct pr_line {
    f2_t py, px, p0;
};

static const signed char pr_loop[PR_CONST(_LOOP_LENGTH)] = PR_CONST(_LOOP);
static const f2_t pr_twist_3b = PR_CONST(_TWIST_3B);
static const f2_t pr_frob1[5] = PR_CONST(_FROB1);
static const f1_t pr_frob2[5] = PR_CONST(_FROB2);

static void f12_mul(f12_t *r, const f12_t *a, const f12_t *b) { CAT(PR, _fp12_mul)(r, a, b); }
static void f12_sqr(f12_t *r, const f12_t *a) { CAT(PR, _fp12_sqr)(r, a); }

/* ---- Frobenius ---- */

/* r = a^p: conjugate every Fp2 coefficient of w^i and multiply by xi^(i (p-1)/6).  Order in memory: w^0 w^2 w^4, w^1 w^3 w^5. */
static void f12_frob1(f12_t *r, const f12_t *a)
{
    f2_conj(&r->c0.c0, &a->c0.c0);
    f2_conj(&r->c0.c1, &a->c0.c1);
    f2_conj(&r->c0.c2, &a->c0.c2);
    f2_conj(&r->c1.c0, &a->c1.c0);
    f2_conj(&r->c1.c1, &a->c1.c1);
    f2_conj(&r->c1.c2, &a->c1.c2);
    f2_mul(&r->c1.c0, &r->c1.c0, &pr_frob1[0]);
    f2_mul(&r->c0.c1, &r->c0.c1, &pr_frob1[1]);
    f2_mul(&r->c1.c1, &r->c1.c1, &pr_frob1[2]);
    f2_mul(&r->c0.c2, &r->c0.c2, &pr_frob1[3]);
    f2_mul(&r->c1.c2, &r->c1.c2, &pr_frob1[4]);
}

DEV_FN_BIG void f2_mul_f1(f2_t *r, const f2_t *a, const f1_t *k)
{
    f1_mul(&r->c0, &a->c0, k);
    f1_mul(&r->c1, &a->c1, k);
}

/* r = a^(p^2) */
static void f12_frob2(f12_t *r, const f12_t *a)
{
    r->c0.c0 = a->c0.c0;
    f2_mul_f1(&r->c1.c0, &a->c1.c0, &pr_frob2[0]);
    f2_mul_f1(&r->c0.c1, &a->c0.c1, &pr_frob2[1]);
    f2_mul_f1(&r->c1.c1, &a->c1.c1, &pr_frob2[2]);
    f2_mul_f1(&r->c0.c2, &a->c0.c2, &pr_frob2[3]);
    f2_mul_f1(&r->c1.c2, &a->c1.c2, &pr_frob2[4]);
}

/* ---- the Miller loop ---- */

/* t = 2 t and the tangent at the old t, scaled by -2 y z^2: 11 products and squarings. */
static void pr_double_step(struct pr_hom *t, struct pr_line *l)
{
    f2_t a, b, c, e, f, g, h, j, s;
    f2_mul(&a, &t->x, &t->y);
    f2_halve(&a, &a);
    f2_sqr(&b, &t->y);
    f2_sqr(&c, &t->z);
    f2_mul(&e, &c, &pr_twist_3b); /* 3 b' z^2 */
    f2_dbl(&f, &e);
    f2_add(&f, &f, &e);
    f2_add(&g, &b, &f);
    f2_halve(&g, &g);
    f2_add(&h, &t->y, &t->z);
    f2_sqr(&h, &h);
    f2_sub(&h, &h, &b);
    f2_sub(&h, &h, &c); /* 2 y z */
    f2_sqr(&j, &t->x);

    f2_neg(&l->py, &h);
    f2_dbl(&l->px, &j);
    f2_add(&l->px, &l->px, &j); /* 3 x^2 */
    f2_sub(&l->p0, &e, &b);

    f2_sub(&s, &b, &f);
    f2_mul(&t->x, &a, &s);
    f2_sqr(&g, &g);
    f2_sqr(&e, &e);
    f2_sub(&g, &g, &e);
    f2_dbl(&e, &e);
    f2_sub(&t->y, &g, &e); /* g^2 - 3 e^2 */
    f2_mul(&t->z, &b, &h);
}

/* t = t + q and the line through both, for t != +-q: 13 products and squarings. */
static void pr_add_step(struct pr_hom *t, struct pr_line *l, const struct pr_g2 *q)
{
    f2_t theta, lambda, c, d, e, g, h, s;
    f2_mul(&theta, &q->y, &t->z);
    f2_sub(&theta, &t->y, &theta);
    f2_mul(&lambda, &q->x, &t->z);
    f2_sub(&lambda, &t->x, &lambda); /* slope theta / lambda */

    l->py = lambda;
    f2_neg(&l->px, &theta);
    f2_mul(&l->p0, &theta, &q->x);
    f2_mul(&s, &lambda, &q->y);
    f2_sub(&l->p0, &l->p0, &s);

    f2_sqr(&c, &theta);
    f2_sqr(&d, &lambda);
    f2_mul(&e, &lambda, &d);
    f2_mul(&c, &t->z, &c);
    f2_mul(&g, &t->x, &d);
    f2_add(&h, &e, &c);
    f2_sub(&h, &h, &g);
    f2_sub(&h, &h, &g);
    f2_mul(&t->x, &lambda, &h);
    f2_sub(&g, &g, &h);
    f2_mul(&g, &theta, &g);
    f2_mul(&s, &e, &t->y);
    f2_sub(&t->y, &g, &s);
    f2_mul(&t->z, &t->z, &e);
}

/* f = f * line at p: 13 products in Fp2 beside the evaluation.
 * D-twist: py yP + (px xP) w + p0 w^3.  M-twist, times w^3: p0 + (px xP) w^2 + (py yP) w^3. */
static void pr_line_mul(f12_t *f, const struct pr_line *l, const struct pr_g1 *p)
{
    f2_t y, x, s;
    f6_t t0, t1, t2;
    f2_mul_f1(&y, &l->py, &p->y);
    f2_mul_f1(&x, &l->px, &p->x);
#if PR_D_TWIST
    f6_mul_base(&t0, &f->c0, &y);
    f6_mul_01(&t1, &f->c1, &x, &l->p0);
    f6_add(&t2, &f->c0, &f->c1);
    f2_add(&s, &y, &x);
    f6_add(&f->c1, &t0, &t1);
    f6_mul_01(&f->c0, &t2, &s, &l->p0);
#else
    f6_mul_01(&t0, &f->c0, &l->p0, &x);
    f6_mul_1(&t1, &f->c1, &y);
    f6_add(&t2, &f->c0, &f->c1);
    f2_add(&s, &x, &y);
    f6_add(&f->c1, &t0, &t1);
    f6_mul_01(&f->c0, &t2, &l->p0, &s);
#endif
    f6_sub(&f->c1, &f->c0, &f->c1);
    f6_mul_v(&t1, &t1);
    f6_add(&f->c0, &t0, &t1);
}

/* Pairs that share one squaring a step; more are done in several rounds.  13 KiB of stack. */
#define PR_ROUND 16

#define PR_LINES \
    (PR_CONST(_LOOP_LENGTH) + PR_CONST(_LOOP_WEIGHT) + (PR_BN ? 2 : 0)) /* of one point of the twist */
STATIC_ASSERT(PR_LINES * sizeof(struct pr_line) <= sizeof((struct pairing_lines *)0)->w,
              "room for all lines");

/* A pair on its way through the loop: its lines are computed, or those of a fixed q are read one after the other. */
struct pr_pair {
    struct pr_g1 p;
    struct pr_g2 q, q_neg;
    struct pr_hom t;
    const uint8_t *lines; /* NULL: computed from q */
};

static void pr_pair_start(struct pr_pair *a)
{
    a->t.x = a->q.x;
    a->t.y = a->q.y;
    f2_set_one(&a->t.z);
    a->q_neg.x = a->q.x;
    f2_neg(&a->q_neg.y, &a->q.y);
}

static bool pr_line_read(struct pr_pair *a, struct pr_line *l)
{
    if (a->lines == NULL) return false;
    memcpy(l, a->lines, sizeof *l);
    a->lines += sizeof *l;
    return true;
}

static void pr_tangent(struct pr_pair *a, struct pr_line *l)
{
    if (!pr_line_read(a, l)) pr_double_step(&a->t, l);
}

/* digit: of the loop, not 0 */
static void pr_chord(struct pr_pair *a, struct pr_line *l, int digit)
{
    if (!pr_line_read(a, l)) pr_add_step(&a->t, l, digit > 0 ? &a->q : &a->q_neg);
}

#if PR_BN
/* + pi(q) */
static void pr_chord_frob1(struct pr_pair *a, struct pr_line *l)
{
    struct pr_g2 pi;
    if (pr_line_read(a, l)) return;
    f2_conj(&pi.x, &a->q.x);
    f2_conj(&pi.y, &a->q.y);
    f2_mul(&pi.x, &pi.x, &pr_frob1[1]);
    f2_mul(&pi.y, &pi.y, &pr_frob1[2]);
    pr_add_step(&a->t, l, &pi);
}

/* - pi^2(q) */
static void pr_chord_frob2(struct pr_pair *a, struct pr_line *l)
{
    struct pr_g2 pi;
    if (pr_line_read(a, l)) return;
    f2_mul_f1(&pi.x, &a->q.x, &pr_frob2[1]);
    f2_mul_f1(&pi.y, &a->q.y, &pr_frob2[2]);
    f2_neg(&pi.y, &pi.y);
    pr_add_step(&a->t, l, &pi);
}
#endif

/* f = product of the Miller functions of count pairs, none of them infinity, all at their start. */
static void pr_miller(f12_t *f, struct pr_pair *pair, size_t count)
{
    struct pr_line l;

    f12_set_one(f);
    for (size_t step = 0; step < PR_CONST(_LOOP_LENGTH); step++) {
        if (step > 0) f12_sqr(f, f);
        for (size_t i = 0; i < count; i++) {
            pr_tangent(&pair[i], &l);
            pr_line_mul(f, &l, &pair[i].p);
            if (pr_loop[step] == 0) continue;
            pr_chord(&pair[i], &l, pr_loop[step]);
            pr_line_mul(f, &l, &pair[i].p);
        }
    }
#if PR_CONST(_LOOP_IS_NEGATIVE)
    /* f_{-n} = 1 / f_n up to a vertical line; 1 / f and conj(f) agree after the easy part */
    f12_conj(f, f);
    for (size_t i = 0; i < count; i++) f2_neg(&pair[i].t.y, &pair[i].t.y);
#endif
#if PR_BN
    for (size_t i = 0; i < count; i++) {
        pr_chord_frob1(&pair[i], &l);
        pr_line_mul(f, &l, &pair[i].p);
        pr_chord_frob2(&pair[i], &l);
        pr_line_mul(f, &l, &pair[i].p);
    }
#endif
}

static uint8_t *pr_line_write(uint8_t *at, const struct pr_line *l)
{
    memcpy(at, l, sizeof *l);
    return at + sizeof *l;
}

/* The lines of a pair at its start, in the order in which pr_miller asks for them. */
static void pr_lines_write(uint8_t *at, struct pr_pair *a)
{
    struct pr_line l;

    for (size_t step = 0; step < PR_CONST(_LOOP_LENGTH); step++) {
        pr_tangent(a, &l);
        at = pr_line_write(at, &l);
        if (pr_loop[step] == 0) continue;
        pr_chord(a, &l, pr_loop[step]);
        at = pr_line_write(at, &l);
    }
#if PR_CONST(_LOOP_IS_NEGATIVE)
    f2_neg(&a->t.y, &a->t.y);
#endif
#if PR_BN
    pr_chord_frob1(a, &l);
    at = pr_line_write(at, &l);
    pr_chord_frob2(a, &l);
    pr_line_write(at, &l);
#endif
}

/* ---- the final exponentiation ---- */

/* (r0 + r1 y) = (a + b y)^2 in Fp4 = Fp2[y] / (y^2 - xi) */
static void f4_sqr(f2_t *r0, f2_t *r1, const f2_t *a, const f2_t *b)
{
    f2_t aa, bb, s;
    f2_sqr(&aa, a);
    f2_sqr(&bb, b);
    f2_add(&s, a, b);
    f2_sqr(&s, &s);
    f2_sub(&s, &s, &aa);
    f2_sub(r1, &s, &bb);
    f2_mul_xi(&bb, &bb);
    f2_add(r0, &aa, &bb);
}

/* r = 3 t - 2 a */
static void f2_3t_minus_2a(f2_t *r, const f2_t *t, const f2_t *a)
{
    f2_t d;
    f2_sub(&d, t, a);
    f2_dbl(&d, &d);
    f2_add(r, &d, t);
}

/* r = 3 t + 2 a */
static void f2_3t_plus_2a(f2_t *r, const f2_t *t, const f2_t *a)
{
    f2_t d;
    f2_add(&d, t, a);
    f2_dbl(&d, &d);
    f2_add(r, &d, t);
}

/* r = a^2 for a of order dividing p^4 - p^2 + 1 (Granger, Scott, section 3.2): nine squarings in Fp2 instead of twelve products. */
static void f12_cyclotomic_sqr(f12_t *r, const f12_t *a)
{
    f2_t s0, s1, t0, t1, u0, u1;
    f4_sqr(&s0, &s1, &a->c0.c0, &a->c1.c1);
    f4_sqr(&t0, &t1, &a->c1.c0, &a->c0.c2);
    f4_sqr(&u0, &u1, &a->c0.c1, &a->c1.c2);
    f2_mul_xi(&u1, &u1);
    f2_3t_minus_2a(&r->c0.c0, &s0, &a->c0.c0);
    f2_3t_plus_2a(&r->c1.c1, &s1, &a->c1.c1);
    f2_3t_minus_2a(&r->c0.c1, &t0, &a->c0.c1);
    f2_3t_plus_2a(&r->c1.c2, &t1, &a->c1.c2);
    f2_3t_plus_2a(&r->c1.c0, &u1, &a->c1.c0);
    f2_3t_minus_2a(&r->c0.c2, &u0, &a->c0.c2);
}

/* r = a^x, x the curve's parameter, sign included; a as for f12_cyclotomic_sqr. */
static void f12_pow_x(f12_t *r, const f12_t *a)
{
    uint64_t x = PR_CONST(_X_ABS);
    f12_t acc;
#if PR_BN
    /* x is dense, and 1 / a is conj(a): signed windows of width 4 over a, a^3, a^5, a^7 */
    signed char digit[64];
    int length = 0;
    f12_t odd[4], t;

    for (; x != 0; x >>= 1) {
        int d = x & 1 ? (int)(x & 15) : 0;
        if (d > 8) d -= 16;
        x -= (uint64_t)(int64_t)d;
        digit[length++] = (signed char)d;
    }
    odd[0] = *a;
    f12_cyclotomic_sqr(&t, a);
    for (int i = 1; i < 4; i++) f12_mul(&odd[i], &odd[i - 1], &t);
    acc = odd[digit[length - 1] / 2]; /* the leading one is positive */
    for (int i = length - 2; i >= 0; i--) {
        f12_cyclotomic_sqr(&acc, &acc);
        if (digit[i] > 0) f12_mul(&acc, &acc, &odd[digit[i] / 2]);
        if (digit[i] < 0) {
            f12_conj(&t, &odd[-digit[i] / 2]);
            f12_mul(&acc, &acc, &t);
        }
    }
#else
    acc = *a;
    for (int i = 62 - __builtin_clzll(x); i >= 0; i--) {
        f12_cyclotomic_sqr(&acc, &acc);
        if (x >> i & 1) f12_mul(&acc, &acc, a);
    }
#endif
#if PR_CONST(_X_IS_NEGATIVE)
    f12_conj(&acc, &acc);
#endif
    *r = acc;
}

/* f = f^((p^12 - 1) / r), times a factor prime to r: 2x (6x^2 + 3x + 1) for BN, 3 for BLS12.  f is not 0. */
static void pr_final_exp(f12_t *f)
{
    f12_t t, m;

    /* easy part: (p^6 - 1) (p^2 + 1); from here on 1 / f is conj(f) */
    f12_inv(&t, f);
    f12_conj(f, f);
    f12_mul(f, f, &t);
    f12_frob2(&t, f);
    f12_mul(f, f, &t);
    m = *f;

#if PR_BN
    /* L. Fuentes-Castaneda, E. Knapp, F. Rodriguez-Henriquez, "Faster hashing to G2", SAC 2011, section 5:
     * l0 + l1 p + l2 p^2 + (l1 - 1) p^3, l2 = 12x^3 + 6x^2 + 6x, l1 = l2 - 2x, l0 = l2 + 6x^2 + 1 */
    f12_t x2, x6, xx6, xxx12, l1, l2;
    f12_pow_x(&x2, &m);
    f12_cyclotomic_sqr(&x2, &x2);
    f12_cyclotomic_sqr(&x6, &x2);
    f12_mul(&x6, &x6, &x2);
    f12_pow_x(&xx6, &x6);
    f12_cyclotomic_sqr(&xxx12, &xx6);
    f12_pow_x(&xxx12, &xxx12);
    f12_mul(&l2, &xxx12, &xx6);
    f12_mul(&l2, &l2, &x6);
    f12_conj(&t, &x2);
    f12_mul(&l1, &l2, &t);
    f12_mul(f, &l2, &xx6);
    f12_mul(f, f, &m);
    f12_frob1(&t, &l1);
    f12_mul(f, f, &t);
    f12_frob2(&t, &l2);
    f12_mul(f, f, &t);
    f12_conj(&t, &m);
    f12_mul(&t, &l1, &t);
    f12_frob2(&t, &t);
    f12_frob1(&t, &t);
    f12_mul(f, f, &t);
#else
    /* D. Hayashida, K. Hayasaka, T. Teruya, "Efficient final exponentiation via cyclotomic structure for pairings over families of
     * elliptic curves", ePrint 2020/875, section 5: (x - 1)^2 (x + p) (x^2 + p^2 - 1) + 3 */
    f12_t a, b;
    f12_pow_x(&a, &m);
    f12_conj(&t, &m);
    f12_mul(&a, &a, &t); /* m^(x-1) */
    f12_pow_x(&b, &a);
    f12_conj(&t, &a);
    f12_mul(&a, &b, &t); /* m^((x-1)^2) */
    f12_pow_x(&b, &a);
    f12_frob1(&t, &a);
    f12_mul(&a, &b, &t); /* (...)^(x+p) */
    f12_pow_x(&b, &a);
    f12_pow_x(&b, &b);
    f12_frob2(&t, &a);
    f12_mul(&b, &b, &t);
    f12_conj(&t, &a);
    f12_mul(&b, &b, &t); /* (...)^(x^2+p^2-1) */
    f12_cyclotomic_sqr(&t, &m);
    f12_mul(&t, &t, &m);
    f12_mul(f, &b, &t);
#endif
}

/* ---- the curve forgotten: pairing/pairing_ops.h ---- */

static void pr_gt_load(f12_t *r, const struct gt *a) { memcpy(r, a->w, sizeof *r); }

static void pr_gt_store(struct gt *r, const f12_t *a)
{
    memset(r->w, 0, sizeof r->w);
    memcpy(r->w, a, sizeof *a);
}

/* out = product of the Miller functions; lines NULL: none is given */
static void pr_miller_product(f12_t *out, const struct g_aff *g1, const struct g_aff *g2,
                              const struct pairing_lines *const *lines, size_t count)
{
    struct pr_pair pair[PR_ROUND];
    f12_t part;
    size_t used = 0;

    f12_set_one(out);
    for (size_t i = 0; i <= count; i++) {
        if (used == PR_ROUND || (i == count && used > 0)) {
            pr_miller(&part, pair, used);
            f12_mul(out, out, &part);
            used = 0;
        }
        if (i == count) break;
        struct pr_pair *const a = &pair[used];
        const struct pairing_lines *const given = lines != NULL ? lines[i] : NULL;
        memcpy(&a->p, g1[i].w, sizeof a->p);
        memcpy(&a->q, g2[i].w, sizeof a->q);
        const bool inf1 = f1_is_zero(&a->p.x) && f1_is_zero(&a->p.y);
        const bool inf2 = f2_is_zero(&a->q.x) && f2_is_zero(&a->q.y);
        if (inf1 || inf2) continue;
        a->lines = given != NULL ? (const uint8_t *)given->w : NULL;
        pr_pair_start(a);
        used++;
    }
}

static void pr_product(struct gt *out, const struct g_aff *g1, const struct g_aff *g2, size_t count)
{
    f12_t f;

    pr_miller_product(&f, g1, g2, NULL, count);
    pr_final_exp(&f);
    pr_gt_store(out, &f);
}

static void pr_miller_of(struct gt *out, const struct g_aff *g1, const struct g_aff *g2,
                         const struct pairing_lines *const *lines, size_t count)
{
    f12_t f;

    pr_miller_product(&f, g1, g2, lines, count);
    pr_gt_store(out, &f);
}

static void pr_finish(struct gt *out, const struct gt *miller)
{
    f12_t f;

    pr_gt_load(&f, miller);
    pr_final_exp(&f);
    pr_gt_store(out, &f);
}

static void pr_prepare(struct pairing_lines *out, const struct g_aff *g2)
{
    struct pr_pair a;

    memset(out, 0, sizeof *out);
    memcpy(&a.q, g2->w, sizeof a.q);
    if (f2_is_zero(&a.q.x) && f2_is_zero(&a.q.y)) return; /* nobody asks for its lines */
    a.lines = NULL;
    pr_pair_start(&a);
    pr_lines_write((uint8_t *)out->w, &a);
}

static bool pr_is_one(const struct gt *a)
{
    f12_t x;
    pr_gt_load(&x, a);
    return f12_is_one(&x);
}

static void pr_gt_mul(struct gt *r, const struct gt *a, const struct gt *b)
{
    f12_t x, y;
    pr_gt_load(&x, a);
    pr_gt_load(&y, b);
    f12_mul(&x, &x, &y);
    pr_gt_store(r, &x);
}

/* a in GT: its order r divides p^4 - p^2 + 1, so squarings are cyclotomic. */
static void pr_gt_pow(struct gt *r, const struct gt *a, const struct fr_int *e)
{
    f12_t x, acc;
    pr_gt_load(&x, a);
    f12_set_one(&acc);
    for (int i = 255; i >= 0; i--) {
        f12_cyclotomic_sqr(&acc, &acc);
        if (e->w[i / 64] >> (i % 64) & 1) f12_mul(&acc, &acc, &x);
    }
    pr_gt_store(r, &acc);
}

static bool pr_gt_eq(const struct gt *a, const struct gt *b)
{
    f12_t x, y;
    pr_gt_load(&x, a);
    pr_gt_load(&y, b);
    return f12_eq(&x, &y);
}

static void pr_gt_to_plain(struct fp_int coefficients[12], const struct gt *a)
{
    for (size_t i = 0; i < 12; i++) {
        f1_t x;
        f1_int plain;
        memcpy(&x, &a->w[i * (sizeof x / sizeof a->w[0])], sizeof x);
        f1_to_int(&plain, &x);
        memset(&coefficients[i], 0, sizeof coefficients[i]);
        memcpy(coefficients[i].w, plain.l, sizeof plain.l);
    }
}

const struct pairing_ops PR_OPS = {
    .product = pr_product,
    .prepare = pr_prepare,
    .miller = pr_miller_of,
    .finish = pr_finish,
    .is_one = pr_is_one,
    .gt_mul = pr_gt_mul,
    .gt_pow = pr_gt_pow,
    .gt_eq = pr_gt_eq,
    .gt_to_plain = pr_gt_to_plain,
};
