/* The last step of proving: from the five sums and the blinding scalars to the three points. */
#include "groth16/assemble.h"
#include "base/bytes.h"

cuzk_status assemble_draw(struct task *t, struct groth16_blinding *out, const struct curve *c)
{
    TRY(curve_random_scalar(c, t, &out->r));
    return curve_random_scalar(c, t, &out->s);
}

/* sum += k * p, p affine. */
static void add_multiple(const struct group *g, struct g_jac *sum, const struct g_aff *p,
                         const struct fr_int *k)
{
    struct g_jac term;

    g->jac_from_aff(&term, p);
    g->jac_mul(&term, &term, k);
    g->jac_add(sum, sum, &term);
    wipe(&term, sizeof term);
}

void assemble(struct groth16_proof *out, const struct groth16_key *key, const struct g_jac sums[QUERY_COUNT],
              const struct groth16_blinding *blinding)
{
    const struct curve *c = key->curve;
    const struct groth16_vk *vk = &key->vk;
    struct {
        struct fr rs;
        struct fr_int r, s, minus_rs;
    } secret;
    struct g_jac a, b1, b2, sum, term;

    c->fr.mul(&secret.rs, &blinding->r, &blinding->s);
    c->fr.neg(&secret.rs, &secret.rs);
    c->fr.to_int(&secret.r, &blinding->r);
    c->fr.to_int(&secret.s, &blinding->s);
    c->fr.to_int(&secret.minus_rs, &secret.rs);

    c->g1.jac_add_aff(&a, &sums[QUERY_A], &vk->alpha1);
    add_multiple(&c->g1, &a, &vk->delta1, &secret.r);
    c->g1.jac_add_aff(&b1, &sums[QUERY_B1], &vk->beta1);
    add_multiple(&c->g1, &b1, &vk->delta1, &secret.s);
    c->g2.jac_add_aff(&b2, &sums[QUERY_B2], &vk->beta2);
    add_multiple(&c->g2, &b2, &vk->delta2, &secret.s);

    c->g1.jac_add(&sum, &sums[QUERY_L], &sums[QUERY_H]);
    c->g1.jac_mul(&term, &a, &secret.s);
    c->g1.jac_add(&sum, &sum, &term);
    c->g1.jac_mul(&term, &b1, &secret.r);
    c->g1.jac_add(&sum, &sum, &term);
    add_multiple(&c->g1, &sum, &vk->delta1, &secret.minus_rs);

    out->curve = c;
    c->g1.jac_to_aff(&out->a, &a);
    c->g2.jac_to_aff(&out->b, &b2);
    c->g1.jac_to_aff(&out->c, &sum);
    wipe(&secret, sizeof secret);
    wipe(&b1, sizeof b1); /* B1 and the terms of C are not part of the proof and would help to open it */
    wipe(&term, sizeof term);
}
