/* A walk through fields and groups of all curves whose words end in one digest; the text is C11, C++17 and CUDA. */
#include "curve/bls12_381_points.h"
#include "curve/bn254_points.h"
#include "curve/toy_points.h"

static uint64_t dialect_mix(uint64_t h, const void *data, size_t bytes)
{
    const uint8_t *p = (const uint8_t *)data;
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static uint64_t dialect_digest(void)
{
    const uint64_t k[4] = { 0x0123456789abcdefu, 0xfedcba9876543210u, 0x0f1e2d3c4b5a6978u, 0x1122334455667788u };
    uint64_t h = 0xcbf29ce484222325u;
    bn254_g2_aff a;
    bn254_g2_jac b;
    bls12_381_g2_aff c;
    bls12_381_g2_jac d;
    toy_g1_aff e;
    toy_g1_jac f;
    bls12_381_fr_t r;
    bn254_g2_aff_generator(&a);
    bn254_g2_jac_from_aff(&b, &a);
    bn254_g2_jac_mul(&b, &b, k, 4);
    bn254_g2_jac_to_aff(&a, &b);
    h = dialect_mix(h, &a, sizeof a);
    bls12_381_g2_aff_generator(&c);
    bls12_381_g2_jac_from_aff(&d, &c);
    bls12_381_g2_jac_mul(&d, &d, k, 4);
    bls12_381_g2_jac_to_aff(&c, &d);
    h = dialect_mix(h, &c, sizeof c);
    toy_g1_aff_generator(&e);
    toy_g1_jac_from_aff(&f, &e);
    toy_g1_jac_mul(&f, &f, k, 1);
    toy_g1_jac_to_aff(&e, &f);
    h = dialect_mix(h, &e, sizeof e);
    bls12_381_fr_from_u64(&r, 17);
    bls12_381_fr_inv(&r, &r);
    return bn254_g2_in_subgroup(&a) && bls12_381_g2_in_subgroup(&c) ? dialect_mix(h, &r, sizeof r) : 0;
}
