/* The erased curves: identities with random points, subgroup tests against their definition, encodings, scalars, look-ups. */
#include "support/cm.h"
#include "support/prng.h"

#include "base/bytes.h"
#include "curve/bls12_381_points.h"
#include "curve/bn254_points.h"
#include "curve/curve.h"

static const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };

static struct fr_int random_scalar(struct prng *rng)
{
    struct fr_int k;
    prng_bytes(rng, &k, sizeof k);
    return k;
}

static void random_point(const struct group *g, struct prng *rng, struct g_jac *r)
{
    const struct fr_int k = random_scalar(rng);
    g->jac_from_aff(r, &g->generator);
    g->jac_mul(r, r, &k);
}

static void identities(void **state)
{
    struct prng *rng = *state;
    for (unsigned c = 0; c < 2; c++)
        for (unsigned i = 0; i < 2; i++) {
            const struct curve *cv = curves[c];
            const struct group *g = cv->group[i];
            for (int n = 0; n < 12; n++) {
                struct g_jac p, q, s, t, u;
                struct g_aff a;
                random_point(g, rng, &p);
                random_point(g, rng, &q);
                g->jac_add(&s, &p, &q);
                g->jac_add(&t, &q, &p);
                assert_true(g->jac_eq(&s, &t));
                g->jac_to_aff(&a, &q);
                assert_int_equal(g->aff_check(&a, true), POINT_OK);
                g->jac_add_aff(&t, &p, &a);
                assert_true(g->jac_eq(&s, &t));
                g->jac_neg(&t, &q);
                g->jac_add(&s, &s, &t); /* p + q - q */
                assert_true(g->jac_eq(&s, &p));
                g->jac_neg(&t, &p);
                g->jac_add(&s, &s, &t);
                assert_true(g->jac_is_inf(&s));
                g->jac_add(&s, &p, &p);
                g->jac_dbl(&t, &p);
                assert_true(g->jac_eq(&s, &t));
                /* (k + l) p = k p + l p and (k l) p = k (l p), scalars in the field; r p = 0, (r - 1) p = -p */
                struct fr k, l, m;
                struct fr_int ki = random_scalar(rng), li = random_scalar(rng), mi;
                cv->fr.from_int(&k, &ki);
                cv->fr.from_int(&l, &li);
                cv->fr.add(&m, &k, &l);
                cv->fr.to_int(&mi, &m);
                g->jac_mul(&s, &p, &ki);
                g->jac_mul(&t, &p, &li);
                g->jac_add(&u, &s, &t);
                g->jac_mul(&s, &p, &mi);
                assert_true(g->jac_eq(&s, &u));
                cv->fr.mul(&m, &k, &l);
                cv->fr.to_int(&mi, &m);
                g->jac_mul(&s, &p, &mi);
                g->jac_mul(&t, &t, &ki);
                assert_true(g->jac_eq(&s, &t));
                g->jac_mul(&s, &p, &cv->fr.modulus);
                assert_true(g->jac_is_inf(&s));
                mi = cv->fr.modulus;
                mi.w[0]--;
                g->jac_mul(&s, &p, &mi);
                g->jac_add(&s, &s, &p);
                assert_true(g->jac_is_inf(&s));
            }
        }
}

static void batches(void **state)
{
    struct prng *rng = *state;
    static struct g_jac in[150];
    static uint8_t out[150 * sizeof(struct g_aff)];
    for (unsigned c = 0; c < 2; c++)
        for (unsigned i = 0; i < 2; i++) {
            const struct group *g = curves[c]->group[i];
            random_point(g, rng, &in[0]);
            for (int n = 1; n < 150; n++) g->jac_dbl(&in[n], &in[n - 1]);
            g->jac_set_inf(&in[0]);
            g->jac_set_inf(&in[77]);
            g->jac_set_inf(&in[149]);
            g->batch_to_aff(out + 1, in, 149); /* at an odd address, one less than there are */
            for (int n = 0; n < 149; n++) {
                struct g_aff a;
                g->jac_to_aff(&a, &in[n]);
                assert_memory_equal(out + 1 + (size_t)n * g->aff_bytes, &a, g->aff_bytes);
                assert_int_equal(g->aff_is_inf(out + 1 + (size_t)n * g->aff_bytes), n == 0 || n == 77);
            }
        }
}

static void encodings(void **state)
{
    struct prng *rng = *state;
    for (unsigned c = 0; c < 2; c++)
        for (unsigned i = 0; i < 2; i++)
            for (int e = ENCODING_MONT_LE; e <= ENCODING_ZCASH_COMPRESSED; e++) {
                const struct group *g = curves[c]->group[i];
                const enum point_encoding enc = (enum point_encoding)e;
                const bool zcash = enc == ENCODING_ZCASH || enc == ENCODING_ZCASH_COMPRESSED;
                uint8_t bytes[192] = { 0 };
                struct g_aff a, b;
                if (zcash && c == 0) {
                    assert_int_equal(g->encoded_bytes(enc), 0);
                    assert_int_equal(g->decode(&a, bytes, enc, false), POINT_BAD_FLAGS);
                    continue;
                }
                assert_int_equal(g->encoded_bytes(enc), enc == ENCODING_ZCASH_COMPRESSED ? g->aff_bytes / 2 : g->aff_bytes);
                for (int n = 0; n < 20; n++) {
                    struct g_jac p;
                    random_point(g, rng, &p);
                    if (n == 0) g->jac_set_inf(&p);
                    g->jac_to_aff(&a, &p);
                    g->encode(bytes, &a, enc);
                    assert_int_equal(g->decode(&b, bytes, enc, true), POINT_OK);
                    assert_memory_equal(&a, &b, sizeof a);
                    struct fp_int xy[4];
                    g->to_plain(xy, &a);
                    assert_int_equal(g->from_plain(&b, xy, true), POINT_OK);
                    assert_memory_equal(&a, &b, sizeof a);
                    if (n == 0) continue;
                    xy[0].w[0] ^= 1;
                    assert_int_equal(g->from_plain(&b, xy, false), POINT_NOT_ON_CURVE);
                    assert_true(g->aff_is_inf(&b));
                    xy[i == 0 ? 1 : 3] = curves[c]->fp_modulus;
                    assert_int_equal(g->from_plain(&b, xy, false), POINT_NOT_CANONICAL);
                }
                if (!zcash) {
                    memset(bytes, 0xff, sizeof bytes);
                    assert_int_equal(g->decode(&b, bytes, enc, false), POINT_NOT_CANONICAL);
                    if (enc == ENCODING_MONT_LE) assert_int_equal(g->aff_check(bytes, false), POINT_NOT_CANONICAL);
                }
            }
}

#define FE           bn254_fp
#define PT           bn254_g1
#define PT_ORDER     BN254_FR_P_64
#define PT_BASE      bn254_fp_t
#define PT_WHOLE     1
#include "unit/subgroup_cases.inc.h"
#undef FE
#undef PT
#undef PT_ORDER
#undef PT_BASE
#undef PT_WHOLE
#define FE           bn254_fp2
#define PT           bn254_g2
#define PT_ORDER     BN254_FR_P_64
#define PT_BASE      bn254_fp_t
#define PT_WHOLE     0
#include "unit/subgroup_cases.inc.h"
#undef FE
#undef PT
#undef PT_ORDER
#undef PT_BASE
#undef PT_WHOLE
#define FE           bls12_381_fp
#define PT           bls12_381_g1
#define PT_ORDER     BLS12_381_FR_P_64
#define PT_BASE      bls12_381_fp_t
#define PT_WHOLE     0
#include "unit/subgroup_cases.inc.h"
#undef FE
#undef PT
#undef PT_ORDER
#undef PT_BASE
#undef PT_WHOLE
#define FE           bls12_381_fp2
#define PT           bls12_381_g2
#define PT_ORDER     BLS12_381_FR_P_64
#define PT_BASE      bls12_381_fp_t
#define PT_WHOLE     0
#include "unit/subgroup_cases.inc.h"
#undef FE
#undef PT
#undef PT_ORDER
#undef PT_BASE
#undef PT_WHOLE

static void scalars(void **state)
{
    struct prng *rng = *state;
    for (unsigned c = 0; c < 2; c++) {
        const struct scalar_field *f = &curves[c]->fr;
        static const enum root_convention conventions[] = { ROOT_SNARKJS, ROOT_BELLMAN };
        struct fr one, minus_one, r, s, t, many[300];
        f->from_u64(&one, 1);
        f->neg(&minus_one, &one);
        for (unsigned k = 0; k < 2; k++) {
            f->root(&r, conventions[k], 0);
            assert_true(f->eq(&r, &one));
            for (unsigned log2 = 1; log2 <= f->two_adicity; log2++) { /* each is a square root of the one before */
                f->root(&s, conventions[k], log2);
                f->mul(&t, &s, &s);
                assert_true(f->eq(&t, &r));
                r = s;
            }
            f->root(&r, conventions[k], 1);
            assert_true(f->eq(&r, &minus_one));
            f->coset_shift(&r, conventions[k]);
            f->from_u64(&s, conventions[k]);
            assert_true(f->eq(&r, &s));
        }
        assert_false(f->int_is_canonical(&f->modulus));
        for (int n = 0; n < 300; n++) {
            const struct fr_int k = random_scalar(rng);
            f->from_int(&many[n], &k);
            if (n % 7 == 0) f->from_u64(&many[n], 0);
            struct fr_int back;
            f->to_int(&back, &many[n]);
            assert_true(f->int_is_canonical(&back));
            f->pow(&r, &many[n], 5);
            f->mul(&s, &many[n], &many[n]);
            f->mul(&s, &s, &s);
            f->mul(&s, &s, &many[n]);
            assert_true(f->eq(&r, &s));
            f->sub(&r, &many[n], &one);
            f->add(&r, &r, &one);
            assert_true(f->eq(&r, &many[n]));
        }
        struct fr copy[300];
        memcpy(copy, many, sizeof copy);
        f->batch_inv(many, 300);
        for (int n = 0; n < 300; n++) {
            f->inv(&r, &copy[n]);
            assert_true(f->eq(&r, &many[n]));
        }
        /* low + high 2^256, by 2^256 = (2^64)^4 */
        uint8_t wide[64];
        prng_bytes(rng, wide, sizeof wide);
        f->from_wide(&r, wide);
        struct fr shift, two64;
        struct fr_int part = { { 0, 1, 0, 0 } };
        f->from_int(&two64, &part);
        f->from_u64(&s, 0);
        for (int w = 7; w >= 0; w--) {
            f->mul(&s, &s, &two64);
            f->from_u64(&shift, load_le64(wide + 8 * w));
            f->add(&s, &s, &shift);
        }
        assert_true(f->eq(&r, &s));
        struct task task;
        task_init(&task);
        assert_int_equal(curve_random_scalar(curves[c], &task, &r), CUZK_OK);
        assert_int_equal(curve_random_scalar(curves[c], &task, &s), CUZK_OK);
        assert_false(f->is_zero(&r) || f->eq(&r, &s));
    }
}

static void look_ups(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 2; c++) {
        const struct curve *cv = curves[c];
        assert_ptr_equal(curve_by_id(cv->id), cv);
        assert_ptr_equal(curve_by_name(cv->name), cv);
        assert_ptr_equal(curve_by_name(cv->snarkjs_name), cv);
        assert_ptr_equal(curve_by_fr_modulus(span_of(cv->fr.modulus.w, 32)), cv);
        assert_ptr_equal(curve_by_fp_modulus(span_of(cv->fp_modulus.w, cv->fp_bytes)), cv);
        assert_null(curve_by_fr_modulus(span_of(cv->fr.modulus.w, 31)));
        assert_null(curve_by_fr_modulus(span_of(cv->fp_modulus.w, cv->fp_bytes)));
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(cv->group[i]->id, i);
            assert_int_equal(cv->group[i]->aff_bytes, 2 * cv->fp_bytes * (i + 1));
            assert_int_equal(cv->group[i]->jac_bytes, 3 * cv->fp_bytes * (i + 1));
            assert_int_equal(cv->group[i]->aff_check(&cv->group[i]->generator, true), POINT_OK);
        }
    }
    assert_ptr_equal(curve_by_name("BLS12-381"), &curve_bls12_381);
    assert_ptr_equal(curve_by_name("Alt_bn128"), &curve_bn254);
    assert_null(curve_by_name("bls12-377"));
    assert_null(curve_by_name(""));
    assert_null(curve_by_fr_modulus(span_of(NULL, 0)));
    assert_null(curve_by_id((enum curve_id)0));
    assert_string_equal(point_check_text(POINT_NOT_ON_CURVE), "is not on the curve");
}

int main(void)
{
    struct prng rng;
    prng_init(&rng);
#define CASE(f) cmocka_unit_test_prestate(f, &rng)
    const struct CMUnitTest tests[] = {
        CASE(identities), CASE(batches), CASE(encodings), CASE(bn254_g1_subgroup), CASE(bn254_g2_subgroup), CASE(bls12_381_g1_subgroup),
        CASE(bls12_381_g2_subgroup), CASE(scalars), CASE(look_ups),
    };
    return cmocka_run_group_tests_name("curve", tests, NULL, NULL);
}
