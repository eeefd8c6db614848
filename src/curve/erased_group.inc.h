/* The operations of struct group over one concrete group: opaque words in, concrete points inside.
 *
 * Takes  FE, PT, PT_UPPER, PT_HAS_ZCASH as encode.inc.h, which comes first      PT_BASE_BYTES  bytes of a base field element
 * Words are copied in and out, so callers' alignment and types do not matter; a copy is a few percent of any operation. */
#include "field/fe_names.h"
#include "curve/pt_names.h"

#define OP(name) CAT(PT, _op_##name)

STATIC_ASSERT(sizeof(pt_aff) <= sizeof(struct g_aff) && sizeof(pt_jac) <= sizeof(struct g_jac), "erased points are large enough");

static inline pt_aff OP(aff_in)(const void *p)
{
    pt_aff a;
    memcpy(&a, p, sizeof a);
    return a;
}
static inline void OP(aff_out)(struct g_aff *r, const pt_aff *p)
{
    memset(r, 0, sizeof *r);
    memcpy(r, p, sizeof *p);
}
static inline pt_jac OP(jac_in)(const struct g_jac *p)
{
    pt_jac a;
    memcpy(&a, p, sizeof a);
    return a;
}
static inline void OP(jac_out)(struct g_jac *r, const pt_jac *p) { memcpy(r, p, sizeof *p); }

static bool OP(aff_is_inf)(const void *p)
{
    const pt_aff a = OP(aff_in)(p);
    return pt_aff_is_inf(&a);
}

static enum point_check OP(aff_check)(const void *p, bool subgroup)
{
    const pt_aff a = OP(aff_in)(p);
    return pt_aff_is_canonical(&a) ? CAT(PT, _check)(&a, subgroup) : POINT_NOT_CANONICAL;
}

static void OP(jac_set_inf)(struct g_jac *r)
{
    pt_jac a;
    memset(r, 0, sizeof *r);
    pt_jac_set_inf(&a);
    OP(jac_out)(r, &a);
}

static bool OP(jac_is_inf)(const struct g_jac *p)
{
    const pt_jac a = OP(jac_in)(p);
    return pt_jac_is_inf(&a);
}

static bool OP(jac_eq)(const struct g_jac *p, const struct g_jac *q)
{
    const pt_jac a = OP(jac_in)(p), b = OP(jac_in)(q);
    return pt_jac_eq(&a, &b);
}

static void OP(jac_from_aff)(struct g_jac *r, const void *p)
{
    const pt_aff a = OP(aff_in)(p);
    pt_jac b;
    pt_jac_from_aff(&b, &a);
    memset(r, 0, sizeof *r);
    OP(jac_out)(r, &b);
}

static void OP(jac_to_aff)(struct g_aff *r, const struct g_jac *p)
{
    const pt_jac a = OP(jac_in)(p);
    pt_aff b;
    pt_jac_to_aff(&b, &a);
    OP(aff_out)(r, &b);
}

static void OP(jac_neg)(struct g_jac *r, const struct g_jac *p)
{
    pt_jac a = OP(jac_in)(p);
    pt_jac_neg(&a, &a);
    OP(jac_out)(r, &a);
}

static void OP(jac_dbl)(struct g_jac *r, const struct g_jac *p)
{
    pt_jac a = OP(jac_in)(p);
    pt_jac_dbl(&a, &a);
    OP(jac_out)(r, &a);
}

static void OP(jac_add)(struct g_jac *r, const struct g_jac *p, const struct g_jac *q)
{
    pt_jac a = OP(jac_in)(p);
    const pt_jac b = OP(jac_in)(q);
    pt_jac_add(&a, &a, &b);
    OP(jac_out)(r, &a);
}

static void OP(jac_add_aff)(struct g_jac *r, const struct g_jac *p, const void *q)
{
    pt_jac a = OP(jac_in)(p);
    const pt_aff b = OP(aff_in)(q);
    pt_jac_add_aff(&a, &a, &b);
    OP(jac_out)(r, &a);
}

static void OP(jac_mul)(struct g_jac *r, const struct g_jac *p, const struct fr_int *k)
{
    pt_jac a = OP(jac_in)(p);
    pt_jac_mul(&a, &a, k->w, 4);
    OP(jac_out)(r, &a);
}

static void OP(batch_to_aff)(void *out, const struct g_jac *in, size_t count)
{
    uint8_t *to = (uint8_t *)out;
    pt_jac jac[64];
    pt_aff aff[64];
    for (size_t start = 0; start < count; start += 64) {
        const size_t n = count - start < 64 ? count - start : 64;
        for (size_t i = 0; i < n; i++) jac[i] = OP(jac_in)(&in[start + i]);
        pt_jac_batch_to_aff(aff, jac, n);
        memcpy(to + start * sizeof(pt_aff), aff, n * sizeof(pt_aff));
    }
}

static enum point_check OP(decode)(struct g_aff *r, const uint8_t *bytes, enum point_encoding e, bool subgroup)
{
    pt_aff a;
    const enum point_check c = CAT(PT, _decode)(&a, bytes, e, subgroup);
    OP(aff_out)(r, &a);
    return c;
}

static void OP(encode)(uint8_t *bytes, const struct g_aff *p, enum point_encoding e)
{
    const pt_aff a = OP(aff_in)(p);
    CAT(PT, _encode)(bytes, &a, e);
}

static enum point_check OP(from_plain)(struct g_aff *r, const struct fp_int *coordinates, bool subgroup)
{
    const int words = (int)ARRAY_COUNT(coordinates->w);
    const size_t degree = sizeof(fe_t) / PT_BASE_BYTES;
    pt_aff a;
    const bool ok = fe_from_plain(&a.x, coordinates[0].w, words) && fe_from_plain(&a.y, coordinates[degree].w, words);
    const enum point_check c = ok ? CAT(PT, _check)(&a, subgroup) : POINT_NOT_CANONICAL;
    if (c != POINT_OK) pt_aff_set_inf(&a);
    OP(aff_out)(r, &a);
    return c;
}

static void OP(to_plain)(struct fp_int *coordinates, const struct g_aff *p)
{
    const int words = (int)ARRAY_COUNT(coordinates->w);
    const size_t degree = sizeof(fe_t) / PT_BASE_BYTES;
    const pt_aff a = OP(aff_in)(p);
    fe_to_plain(coordinates[0].w, words, &a.x);
    fe_to_plain(coordinates[degree].w, words, &a.y);
}

#include "field/fe_unnames.h"
#include "curve/pt_unnames.h"
#undef OP
