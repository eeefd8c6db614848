/* The oracle: the three points of a proof from the key's trapdoor, by field arithmetic alone. */
#include "support/oracle.h"
#include "poly/domain.h"
#include <stdlib.h>
#include <string.h>

/* A(tau), B(tau) and the part of beta A + alpha B + C that belongs to the public inputs. */
struct sums {
    struct fr a, b, publics;
};

struct dots {
    struct sums *out;
    const struct fr *lagrange, *alpha, *beta;
    const struct constraints *circuit;
    const struct witness *w;
};

static cuzk_status add_term(void *context, struct task *t, const struct constraint_term *term)
{
    const struct dots *d = context;
    const struct scalar_field *f = &d->circuit->curve->fr;
    struct fr_int integer;
    struct fr value;

    (void)t;
    witness_get(d->w, &integer, term->variable);
    f->from_int(&value, &integer);
    f->mul(&value, &value, &term->coefficient);
    f->mul(&value, &value, &d->lagrange[term->row]);
    if (term->side == R1CS_A) f->add(&d->out->a, &d->out->a, &value);
    if (term->side == R1CS_B) f->add(&d->out->b, &d->out->b, &value);
    if (term->variable >= d->circuit->input_count) return CUZK_OK;
    if (term->side == R1CS_A) f->mul(&value, &value, d->beta);
    if (term->side == R1CS_B) f->mul(&value, &value, d->alpha);
    f->add(&d->out->publics, &d->out->publics, &value);
    return CUZK_OK;
}

static cuzk_status dot_products(struct task *t, struct sums *out, const struct fr *lagrange,
                                const struct constraints *circuit, const struct witness *w,
                                const struct fr *alpha, const struct fr *beta)
{
    const struct scalar_field *f = &circuit->curve->fr;
    struct dots dots = { out, lagrange, alpha, beta, circuit, w };
    struct fr_int integer;
    struct fr value;

    memset(out, 0, sizeof *out);
    TRY(circuit->walk(circuit->circuit, t, add_term, &dots));
    for (uint64_t i = 0; i < circuit->input_count;
         i++) { /* the rows that bind the inputs: input i in A, nothing in B and C */
        witness_get(w, &integer, i);
        f->from_int(&value, &integer);
        f->mul(&value, &value, &lagrange[circuit->row_count + i]);
        f->add(&out->a, &out->a, &value);
        f->mul(&value, &value, beta);
        f->add(&out->publics, &out->publics, &value);
    }
    return CUZK_OK;
}

static void point(struct g_aff *out, const struct curve *c, const struct group *g, const struct fr *multiple)
{
    struct fr_int k;
    struct g_jac p;

    c->fr.to_int(&k, multiple);
    g->jac_from_aff(&p, &g->generator);
    g->jac_mul(&p, &p, &k);
    g->jac_to_aff(out, &p);
}

static void three_points(struct groth16_proof *out, const struct curve *c, const struct sums *sums,
                         const struct fr *alpha, const struct fr *beta, const struct fr *delta,
                         const struct groth16_blinding *blinding)
{
    const struct scalar_field *f = &c->fr;
    struct fr a, b, total, x;

    /* A = alpha + A(tau) + r delta, B = beta + B(tau) + s delta */
    f->mul(&a, &blinding->r, delta);
    f->add(&a, &a, &sums->a);
    f->add(&a, &a, alpha);
    f->mul(&b, &blinding->s, delta);
    f->add(&b, &b, &sums->b);
    f->add(&b, &b, beta);

    /* C = (A(tau) B(tau) + beta A(tau) + alpha B(tau) - publics) / delta + s A + r B - r s delta */
    f->mul(&total, &sums->a, &sums->b);
    f->mul(&x, beta, &sums->a);
    f->add(&total, &total, &x);
    f->mul(&x, alpha, &sums->b);
    f->add(&total, &total, &x);
    f->sub(&total, &total, &sums->publics);
    f->inv(&x, delta);
    f->mul(&total, &total, &x);
    f->mul(&x, &blinding->s, &a);
    f->add(&total, &total, &x);
    f->mul(&x, &blinding->r, &b);
    f->add(&total, &total, &x);
    f->mul(&x, &blinding->r, &blinding->s);
    f->mul(&x, &x, delta);
    f->sub(&total, &total, &x);

    memset(out, 0, sizeof *out);
    out->curve = c;
    point(&out->a, c, &c->g1, &a);
    point(&out->b, c, &c->g2, &b);
    point(&out->c, c, &c->g1, &total);
}

cuzk_status oracle_prove(struct task *t, struct groth16_proof *out, const struct trapdoor *secrets,
                         const struct r1cs_file *circuit, const struct witness *w,
                         const struct groth16_blinding *blinding)
{
    struct constraints constraints;

    constraints_of_r1cs(&constraints, circuit);
    return oracle_prove_constraints(t, out, secrets, &constraints, w, blinding);
}

cuzk_status oracle_prove_constraints(struct task *t, struct groth16_proof *out,
                                     const struct trapdoor *secrets, const struct constraints *circuit,
                                     const struct witness *w, const struct groth16_blinding *blinding)
{
    const struct curve *c = circuit->curve;
    struct fr tau, alpha, beta, delta;
    struct domain domain;
    struct sums sums;
    cuzk_status status;

    if (w->curve != c || w->count != circuit->variable_count || secrets->curve != c)
        return FAIL(t, CUZK_MISMATCH, "trapdoor, circuit and witness do not belong together");
    TRY(domain_init(&domain, t, c, secrets->layout, constraints_domain_log2(circuit)));
    c->fr.from_int(&tau, &secrets->tau);
    c->fr.from_int(&alpha, &secrets->alpha);
    c->fr.from_int(&beta, &secrets->beta);
    c->fr.from_int(&delta, &secrets->delta);
    struct fr *lagrange = calloc(domain.size, sizeof *lagrange);
    if (lagrange == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for %llu Lagrange values", (unsigned long long)domain.size);
    TRY_GOTO(out, domain_lagrange(&domain, t, lagrange, &tau));
    TRY_GOTO(out, dot_products(t, &sums, lagrange, circuit, w, &alpha, &beta));
    three_points(out, c, &sums, &alpha, &beta, &delta, blinding);
out:
    free(lagrange);
    return status;
}

bool oracle_equal(const struct groth16_proof *p, const struct groth16_proof *q)
{
    const size_t g1 = p->curve->g1.aff_bytes, g2 = p->curve->g2.aff_bytes;

    return p->curve == q->curve && memcmp(&p->a, &q->a, g1) == 0 && memcmp(&p->b, &q->b, g2) == 0 &&
           memcmp(&p->c, &q->c, g1) == 0;
}
