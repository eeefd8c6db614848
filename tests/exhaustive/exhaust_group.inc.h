/* Every pair of points of a small group through every operation of point.inc.h and encode.inc.h, against the affine group law.
 *
 * Takes  FE, PT, PT_UPPER as point.inc.h, with PT_HAS_ZCASH and encode.inc.h      GROUP_POINTS  points of the whole curve
 *        COORDINATES  elements of FE, and coordinate(n), 0 <= n < COORDINATES, that gives each once; coordinate_index is its inverse */
#include "field/fe_names.h"
#include "curve/pt_names.h"

#define NAME(n) CAT(PT, _exhaust_##n)

static pt_aff NAME(point)[GROUP_POINTS]; /* [0]: infinity */
static uint16_t NAME(sum)[GROUP_POINTS][GROUP_POINTS];
static uint16_t NAME(negative)[GROUP_POINTS];
static uint16_t NAME(index_of)[COORDINATES][COORDINATES]; /* 0: no point, but for infinity */

static unsigned NAME(index)(const pt_aff *p)
{
    const unsigned i = NAME(index_of)[coordinate_index(&p->x)][coordinate_index(&p->y)];
    if (i == 0 && !pt_aff_is_inf(p)) fail_msg("not a point of the curve");
    return i;
}

/* The chord and tangent law as in textbooks. */
static pt_aff NAME(law)(const pt_aff *p, const pt_aff *q)
{
    pt_aff r;
    fe_t slope, t;
    if (pt_aff_is_inf(p)) return *q;
    if (pt_aff_is_inf(q)) return *p;
    fe_add(&t, &p->y, &q->y);
    if (fe_eq(&p->x, &q->x) && fe_is_zero(&t)) {
        pt_aff_set_inf(&r);
        return r;
    }
    if (fe_eq(&p->x, &q->x)) {
        fe_inv(&t, &t);
        fe_sqr(&slope, &p->x);
        fe_mul(&t, &t, &slope);
        fe_dbl(&slope, &t);
        fe_add(&slope, &slope, &t);
    } else {
        fe_sub(&t, &q->x, &p->x);
        fe_inv(&t, &t);
        fe_sub(&slope, &q->y, &p->y);
        fe_mul(&slope, &slope, &t);
    }
    fe_sqr(&r.x, &slope);
    fe_sub(&r.x, &r.x, &p->x);
    fe_sub(&r.x, &r.x, &q->x);
    fe_sub(&t, &p->x, &r.x);
    fe_mul(&r.y, &slope, &t);
    fe_sub(&r.y, &r.y, &p->y);
    return r;
}

static int NAME(setup)(void **state)
{
    (void)state;
    unsigned count = 1;
    pt_aff_set_inf(&NAME(point)[0]);
    for (unsigned i = 0; i < COORDINATES; i++)
        for (unsigned j = 0; j < COORDINATES; j++) {
            pt_aff p;
            p.x = coordinate(i);
            p.y = coordinate(j);
            if (pt_aff_is_inf(&p) || !pt_aff_on_curve(&p)) continue;
            if (count == GROUP_POINTS) return -1;
            NAME(index_of)[i][j] = (uint16_t)count;
            NAME(point)[count++] = p;
        }
    if (count != GROUP_POINTS) return -1;
    for (unsigned i = 0; i < GROUP_POINTS; i++)
        for (unsigned j = 0; j < GROUP_POINTS; j++) {
            const pt_aff s = NAME(law)(&NAME(point)[i], &NAME(point)[j]);
            NAME(sum)[i][j] = (uint16_t)NAME(index)(&s);
            if (NAME(sum)[i][j] == 0) NAME(negative)[i] = (uint16_t)j;
        }
    return 0;
}

/* The representative of point i with Z = z != 0; infinity gets nonsense X and Y. */
static pt_jac NAME(jac)(unsigned i, const fe_t *z)
{
    const pt_aff *p = &NAME(point)[i];
    pt_jac r;
    fe_t zz;
    if (i == 0) {
        r.x = *z;
        fe_dbl(&r.y, z);
        fe_set_zero(&r.z);
        return r;
    }
    fe_sqr(&zz, z);
    fe_mul(&r.x, &p->x, &zz);
    fe_mul(&zz, &zz, z);
    fe_mul(&r.y, &p->y, &zz);
    r.z = *z;
    return r;
}

static pt_xyzz NAME(xyzz)(unsigned i, const fe_t *z)
{
    const pt_jac j = NAME(jac)(i, z);
    pt_xyzz r;
    r.x = j.x;
    r.y = j.y;
    fe_sqr(&r.zz, &j.z);
    fe_mul(&r.zzz, &r.zz, &j.z);
    return r;
}

static unsigned NAME(jac_index)(const pt_jac *p)
{
    pt_aff a;
    pt_jac_to_aff(&a, p);
    return NAME(index)(&a);
}

static unsigned NAME(xyzz_index)(const pt_xyzz *p)
{
    pt_jac j;
    fe_t cube, square;
    fe_sqr(&cube, &p->zz);
    fe_mul(&cube, &cube, &p->zz);
    fe_sqr(&square, &p->zzz);
    assert_true(fe_eq(&cube, &square));
    pt_xyzz_to_jac(&j, p);
    return NAME(jac_index)(&j);
}

static void NAME(pairs)(void **state)
{
    (void)state;
    unsigned turn = 0; /* representatives change from pair to pair */
    for (unsigned i = 0; i < GROUP_POINTS; i++)
        for (unsigned j = 0; j < GROUP_POINTS; j++) {
            const fe_t z1 = coordinate(1 + turn % (COORDINATES - 1)), z2 = coordinate(1 + turn * 7 % (COORDINATES - 1));
            const unsigned expected = NAME(sum)[i][j];
            const pt_aff *q = &NAME(point)[j];
            const pt_jac a = NAME(jac)(i, &z1), b = NAME(jac)(j, &z2);
            const pt_xyzz c = NAME(xyzz)(i, &z1), d = NAME(xyzz)(j, &z2);
            pt_jac r;
            pt_xyzz s;
            turn++;
            pt_jac_add(&r, &a, &b);
            assert_int_equal(NAME(jac_index)(&r), expected);
            r = a;
            pt_jac_add(&r, &r, &b);
            assert_int_equal(NAME(jac_index)(&r), expected);
            r = b;
            pt_jac_add(&r, &a, &r);
            assert_int_equal(NAME(jac_index)(&r), expected);
            pt_jac_add_aff(&r, &a, q);
            assert_int_equal(NAME(jac_index)(&r), expected);
            r = a;
            pt_jac_add_aff(&r, &r, q);
            assert_int_equal(NAME(jac_index)(&r), expected);
            assert_int_equal(pt_jac_eq(&a, &b), i == j);
            pt_xyzz_add(&s, &c, &d);
            assert_int_equal(NAME(xyzz_index)(&s), expected);
            s = c;
            pt_xyzz_add(&s, &s, &d);
            assert_int_equal(NAME(xyzz_index)(&s), expected);
            s = d;
            pt_xyzz_add(&s, &c, &s);
            assert_int_equal(NAME(xyzz_index)(&s), expected);
            pt_xyzz_add_aff(&s, &c, q);
            assert_int_equal(NAME(xyzz_index)(&s), expected);
            s = c;
            pt_xyzz_add_aff(&s, &s, q);
            assert_int_equal(NAME(xyzz_index)(&s), expected);
            pt_xyzz_sub_aff(&s, &c, q);
            assert_int_equal(NAME(xyzz_index)(&s), NAME(sum)[i][NAME(negative)[j]]);
        }
    /* Every representative of one point, with itself, its negative, another and infinity. */
    for (unsigned n = 1; n < COORDINATES; n++)
        for (unsigned m = 1; m < COORDINATES; m += 1 + COORDINATES / 40) {
            const fe_t z1 = coordinate(n), z2 = coordinate(m);
            const unsigned other[4] = { 1, NAME(negative)[1], 2, 0 };
            for (int k = 0; k < 4; k++) {
                const pt_jac a = NAME(jac)(1, &z1), b = NAME(jac)(other[k], &z2);
                pt_jac r;
                pt_jac_add(&r, &a, &b);
                assert_int_equal(NAME(jac_index)(&r), NAME(sum)[1][other[k]]);
                assert_int_equal(pt_jac_eq(&a, &b), k == 0);
            }
        }
}

static void NAME(singles)(void **state)
{
    (void)state;
    for (unsigned i = 0; i < GROUP_POINTS; i++) {
        const unsigned twice = NAME(sum)[i][i];
        pt_jac r;
        pt_xyzz s;
        pt_aff n;
        pt_aff_neg(&n, &NAME(point)[i]);
        assert_int_equal(NAME(index)(&n), NAME(negative)[i]);
        assert_int_equal(pt_aff_is_inf(&NAME(point)[i]), i == 0);
        if (i != 0) {
            pt_xyzz_dbl_aff(&s, &NAME(point)[i]);
            assert_int_equal(NAME(xyzz_index)(&s), twice);
        }
        pt_jac_from_aff(&r, &NAME(point)[i]);
        assert_int_equal(NAME(jac_index)(&r), i);
        pt_xyzz_from_aff(&s, &NAME(point)[i]);
        assert_int_equal(NAME(xyzz_index)(&s), i);
        for (unsigned m = 1; m < COORDINATES; m++) {
            const fe_t z = coordinate(m);
            const pt_jac a = NAME(jac)(i, &z);
            const pt_xyzz c = NAME(xyzz)(i, &z);
            assert_int_equal(pt_jac_is_inf(&a), i == 0);
            pt_jac_dbl(&r, &a);
            assert_int_equal(NAME(jac_index)(&r), twice);
            r = a;
            pt_jac_dbl(&r, &r);
            assert_int_equal(NAME(jac_index)(&r), twice);
            pt_jac_neg(&r, &a);
            assert_int_equal(NAME(jac_index)(&r), NAME(negative)[i]);
            pt_xyzz_dbl(&s, &c);
            assert_int_equal(NAME(xyzz_index)(&s), twice);
            s = c;
            pt_xyzz_dbl(&s, &s);
            assert_int_equal(NAME(xyzz_index)(&s), twice);
        }
    }
    /* Pairs of coordinates that are no points. */
    unsigned on_curve = 0;
    for (unsigned i = 0; i < COORDINATES; i++)
        for (unsigned j = 0; j < COORDINATES; j++) {
            pt_aff p;
            p.x = coordinate(i);
            p.y = coordinate(j);
            on_curve += pt_aff_on_curve(&p);
        }
    assert_int_equal(on_curve, GROUP_POINTS);
}

static void NAME(scalars)(void **state)
{
    (void)state;
    const uint64_t order[1] = { 13 };
    for (unsigned i = 0; i < GROUP_POINTS; i++) {
        const fe_t z = coordinate(1 + i % (COORDINATES - 1));
        const pt_jac a = NAME(jac)(i, &z);
        unsigned multiple = 0;
        pt_jac r;
        for (uint64_t k = 0; k < 360; k++) { /* past the exponent of the group; every scalar for some points, some for every point */
            const uint64_t wide[2] = { k, 0 };
            if (k == 13) {
                assert_int_equal(pt_killed_by_order(&NAME(point)[i], order, 1), multiple == 0);
                assert_int_equal(pt_in_subgroup(&NAME(point)[i]), multiple == 0);
            }
            if (i >= 20 && k % 29 != i % 29) {
                multiple = NAME(sum)[multiple][i];
                continue;
            }
            pt_jac_mul(&r, &a, &k, 1);
            assert_int_equal(NAME(jac_index)(&r), multiple);
            if (k % 16 == 0) {
                pt_jac_mul(&r, &a, wide, 2);
                assert_int_equal(NAME(jac_index)(&r), multiple);
            }
            pt_jac_mul_u64(&r, &a, k);
            assert_int_equal(NAME(jac_index)(&r), multiple);
            multiple = NAME(sum)[multiple][i];
        }
        /* The carry out of the top: (2^64 - 1 - n) P = 2^64 P - (n + 1) P. */
        unsigned power = i;
        for (int bit = 0; bit < 64; bit++) power = NAME(sum)[power][power];
        multiple = power;
        for (uint64_t n = 0; n < (i < 20 ? 40u : 3u); n++) {
            const uint64_t k = UINT64_MAX - n;
            multiple = NAME(sum)[multiple][NAME(negative)[i]];
            pt_jac_mul(&r, &a, &k, 1);
            assert_int_equal(NAME(jac_index)(&r), multiple);
            pt_jac_mul_u64(&r, &a, k);
            assert_int_equal(NAME(jac_index)(&r), multiple);
        }
    }
    pt_aff g;
    pt_aff_generator(&g);
    assert_true(pt_in_subgroup(&g) && !pt_aff_is_inf(&g));
}

static void NAME(batches)(void **state)
{
    (void)state;
    static pt_jac in[200];
    static pt_aff out[200];
    for (unsigned count = 0; count <= 200; count += count < 6 ? 1 : 29)
        for (unsigned start = 0; start < 26; start++) {
            for (unsigned i = 0; i < count; i++) {
                const fe_t z = coordinate(1 + (i + start) % (COORDINATES - 1));
                in[i] = NAME(jac)((start + i * start) % GROUP_POINTS, &z); /* start 0: all infinity */
            }
            pt_jac_batch_to_aff(out, in, count);
            for (unsigned i = 0; i < count; i++) assert_int_equal(NAME(index)(&out[i]), (start + i * start) % GROUP_POINTS);
        }
}

static void NAME(encodings)(void **state)
{
    (void)state;
    static const enum point_encoding all[] = { ENCODING_MONT_LE, ENCODING_BE, ENCODING_ZCASH, ENCODING_ZCASH_COMPRESSED };
    for (unsigned e = 0; e < ARRAY_COUNT(all); e++) {
        const size_t n = CAT(PT, _encoded_bytes)(all[e]);
        assert_int_equal(n, all[e] == ENCODING_ZCASH_COMPRESSED ? sizeof(fe_t) : 2 * sizeof(fe_t));
        for (unsigned i = 0; i < GROUP_POINTS; i++) {
            const pt_aff *p = &NAME(point)[i];
            uint8_t bytes[sizeof(pt_aff)], bad[sizeof(pt_aff)];
            pt_aff r;
            CAT(PT, _encode)(bytes, p, all[e]);
            assert_int_equal(CAT(PT, _decode)(&r, bytes, all[e], false), POINT_OK);
            assert_int_equal(NAME(index)(&r), i);
            assert_int_equal(CAT(PT, _decode)(&r, bytes, all[e], true), pt_in_subgroup(p) ? POINT_OK : POINT_NOT_IN_SUBGROUP);
            /* Every other value of every byte (of the first 13 points; some of the others): refused, or another point that encodes to
             * just these bytes. */
            for (size_t at = 0; at < n; at++)
                for (unsigned v = i < 13 ? 0 : i % 41; v < 256; v += i < 13 ? 1 : 41) {
                    memcpy(bad, bytes, n);
                    if (bad[at] == v) continue;
                    bad[at] = (uint8_t)v;
                    if (CAT(PT, _decode)(&r, bad, all[e], false) == POINT_OK) {
                        uint8_t again[sizeof(pt_aff)];
                        assert_true(NAME(index)(&r) != i);
                        CAT(PT, _encode)(again, &r, all[e]);
                        assert_memory_equal(again, bad, n);
                    } else {
                        assert_true(pt_aff_is_inf(&r));
                    }
                }
        }
    }
#if PT_HAS_ZCASH
    /* The flags: compressed, infinity, sign, in every combination before a real point and before zeros. */
    for (unsigned flags = 0; flags < 8; flags++)
        for (int zero = 0; zero < 2; zero++) {
            uint8_t bytes[sizeof(pt_aff)];
            pt_aff r;
            CAT(PT, _encode)(bytes, &NAME(point)[zero ? 0 : 1], ENCODING_BE);
            bytes[0] |= (uint8_t)(flags << 5);
            enum point_check c = CAT(PT, _decode)(&r, bytes, ENCODING_ZCASH, false);
            if (flags == 0) assert_int_equal(c, zero ? POINT_NOT_ON_CURVE : POINT_OK);
            else assert_int_equal(c, flags == 2 && zero ? POINT_OK : POINT_BAD_FLAGS);
            c = CAT(PT, _decode)(&r, bytes, ENCODING_ZCASH_COMPRESSED, false);
            if (flags < 4 || flags == 7) assert_int_equal(c, POINT_BAD_FLAGS);
            if (flags == 6) assert_int_equal(c, zero ? POINT_OK : POINT_BAD_FLAGS);
            if ((flags == 4 || flags == 5) && !zero) {
                assert_int_equal(c, POINT_OK);
                assert_int_equal(fe_lex_larger(&r.y), flags == 5);
            }
        }
#endif
}

#include "field/fe_unnames.h"
#include "curve/pt_unnames.h"
#undef NAME
