/* Pairings by curve: the dispatch behind pairing.h. */
#include "pairing/pairing_ops.h"

static const struct pairing_ops *ops_of(const struct curve *c)
{
    return c->id == CURVE_BN254 ? &pairing_ops_bn254 : &pairing_ops_bls12_381;
}

void pairing_product(const struct curve *c, struct gt *out, const struct g_aff *g1, const struct g_aff *g2,
                     size_t count)
{
    ops_of(c)->product(out, g1, g2, count);
}

bool pairing_product_is_one(const struct curve *c, const struct g_aff *g1, const struct g_aff *g2,
                            size_t count)
{
    struct gt product;
    ops_of(c)->product(&product, g1, g2, count);
    return ops_of(c)->is_one(&product);
}

void pairing_prepare(const struct curve *c, struct pairing_lines *out, const struct g_aff *g2)
{
    ops_of(c)->prepare(out, g2);
}

void pairing_miller(const struct curve *c, struct gt *out, const struct g_aff *g1, const struct g_aff *g2,
                    const struct pairing_lines *const *lines, size_t count)
{
    ops_of(c)->miller(out, g1, g2, lines, count);
}

void pairing_finish(const struct curve *c, struct gt *out, const struct gt *miller)
{
    ops_of(c)->finish(out, miller);
}

void gt_mul(const struct curve *c, struct gt *r, const struct gt *a, const struct gt *b)
{
    ops_of(c)->gt_mul(r, a, b);
}
void gt_pow(const struct curve *c, struct gt *r, const struct gt *a, const struct fr_int *e)
{
    ops_of(c)->gt_pow(r, a, e);
}
bool gt_eq(const struct curve *c, const struct gt *a, const struct gt *b) { return ops_of(c)->gt_eq(a, b); }

void gt_to_plain(const struct curve *c, struct fp_int coefficients[12], const struct gt *a)
{
    ops_of(c)->gt_to_plain(coefficients, a);
}
