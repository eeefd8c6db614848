/* The last step of proving: from the five sums and the blinding scalars to the three points. */
#include "groth16/assemble.h"
#include "base/bytes.h"

cuzk_status assemble_draw(struct task *t, struct groth16_blinding *out, const struct curve *c)
{
    TRY(curve_random_scalar(c, t, &out->r));
    return curve_random_scalar(c, t, &out->s);
}

void assembly_start(struct assembly *out, const struct groth16_key *key,
                    const struct groth16_blinding *blinding)
{
    const struct scalar_field *f = &key->curve->fr;
    struct fr rs;

    out->key = key;
    f->mul(&rs, &blinding->r, &blinding->s);
    f->neg(&rs, &rs);
    f->to_int(&out->r, &blinding->r);
    f->to_int(&out->s, &blinding->s);
    f->to_int(&out->minus_rs, &rs);
    wipe(&rs, sizeof rs);
}

/* out = base + k p, both points affine */
static void blind(const struct group *g, struct g_jac *out, const struct g_aff *base, const struct g_aff *p,
                  const struct fr_int *k)
{
    g->jac_from_aff(out, p);
    g->jac_mul(out, out, k);
    g->jac_add_aff(out, out, base);
}

void assembly_blind_a(struct assembly *a)
{
    blind(&a->key->curve->g1, &a->a, &a->key->vk.alpha1, &a->key->vk.delta1, &a->r);
}

void assembly_blind_b1(struct assembly *a)
{
    blind(&a->key->curve->g1, &a->b1, &a->key->vk.beta1, &a->key->vk.delta1, &a->s);
}

void assembly_blind_b2(struct assembly *a)
{
    blind(&a->key->curve->g2, &a->b2, &a->key->vk.beta2, &a->key->vk.delta2, &a->s);
}

void assembly_blind_c(struct assembly *a)
{
    const struct group *g = &a->key->curve->g1;

    g->jac_from_aff(&a->c, &a->key->vk.delta1);
    g->jac_mul(&a->c, &a->c, &a->minus_rs);
}

void assembly_a(struct assembly *a, struct groth16_proof *out, const struct g_jac *sum_a)
{
    const struct group *g = &a->key->curve->g1;

    g->jac_add(&a->a, &a->a, sum_a);
    g->jac_to_aff(&out->a, &a->a);
    g->jac_mul(&a->s_a, &a->a, &a->s);
}

void assembly_b1(struct assembly *a, const struct g_jac *sum_b1)
{
    const struct group *g = &a->key->curve->g1;

    g->jac_add(&a->b1, &a->b1, sum_b1);
    g->jac_mul(&a->r_b1, &a->b1, &a->r);
}

void assembly_b2(struct assembly *a, struct groth16_proof *out, const struct g_jac *sum_b2)
{
    const struct group *g = &a->key->curve->g2;

    g->jac_add(&a->b2, &a->b2, sum_b2);
    g->jac_to_aff(&out->b, &a->b2);
}

void assembly_c(struct assembly *a, struct groth16_proof *out, const struct g_jac *sum_l,
                const struct g_jac *sum_h)
{
    const struct group *g = &a->key->curve->g1;

    g->jac_add(&a->c, &a->c, &a->s_a);
    g->jac_add(&a->c, &a->c, &a->r_b1);
    g->jac_add(&a->c, &a->c, sum_l);
    g->jac_add(&a->c, &a->c, sum_h);
    out->curve = a->key->curve;
    g->jac_to_aff(&out->c, &a->c);
}

void assembly_wipe(struct assembly *a) { wipe(a, sizeof *a); }

void assemble(struct groth16_proof *out, const struct groth16_key *key, const struct g_jac sums[QUERY_COUNT],
              const struct groth16_blinding *blinding)
{
    struct assembly a;

    assembly_start(&a, key, blinding);
    assembly_blind_a(&a);
    assembly_blind_b1(&a);
    assembly_blind_b2(&a);
    assembly_blind_c(&a);
    assembly_a(&a, out, &sums[QUERY_A]);
    assembly_b1(&a, &sums[QUERY_B1]);
    assembly_b2(&a, out, &sums[QUERY_B2]);
    assembly_c(&a, out, &sums[QUERY_L], &sums[QUERY_H]);
    assembly_wipe(&a);
}
