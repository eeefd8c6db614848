/* Points to and from bytes and plain coordinates, in every encoding of enum point_encoding.
 *
 * Takes  FE, PT, PT_UPPER as point.inc.h, which comes first      PT_HAS_ZCASH  1 if p leaves three bits of byte 0 free, else 0
 * Every decoder checks canonical form, flags and the curve equation, and the subgroup if asked. */
#include "field/fe_names.h"
#include "curve/pt_names.h"

#define FE_BYTES sizeof(fe_t) /* of one coordinate in every encoding */

static enum point_check CAT(PT, _check)(const pt_aff *p, bool subgroup)
{
    if (!pt_aff_on_curve(p)) return POINT_NOT_ON_CURVE;
    if (subgroup && !pt_in_subgroup(p)) return POINT_NOT_IN_SUBGROUP;
    return POINT_OK;
}

static enum point_check CAT(PT, _decode_mont)(pt_aff *r, const uint8_t *bytes, bool subgroup)
{
    fe_load(&r->x, bytes);
    fe_load(&r->y, bytes + FE_BYTES);
    return pt_aff_is_canonical(r) ? CAT(PT, _check)(r, subgroup) : POINT_NOT_CANONICAL;
}

static enum point_check CAT(PT, _decode_be)(pt_aff *r, const uint8_t *bytes, bool subgroup)
{
    if (!fe_load_be(&r->x, bytes) || !fe_load_be(&r->y, bytes + FE_BYTES)) return POINT_NOT_CANONICAL;
    return CAT(PT, _check)(r, subgroup);
}

#if PT_HAS_ZCASH
enum {
    CAT(PT, _flag_compressed) = 0x80,
    CAT(PT, _flag_infinity) = 0x40,
    CAT(PT, _flag_larger_y) = 0x20,
};

static bool CAT(PT, _all_zero)(const uint8_t *bytes, size_t count)
{
    uint8_t any = 0;
    for (size_t i = 0; i < count; i++) any |= bytes[i];
    return any == 0;
}

static enum point_check CAT(PT, _decode_zcash)(pt_aff *r, const uint8_t *bytes, bool subgroup)
{
    const unsigned flags = bytes[0] & 0xe0u;
    uint8_t plain[2 * FE_BYTES];
    if (flags & ~(unsigned)CAT(PT, _flag_infinity)) return POINT_BAD_FLAGS;
    memcpy(plain, bytes, sizeof plain);
    plain[0] &= 0x1f;
    const bool zero = CAT(PT, _all_zero)(plain, sizeof plain);
    if (flags != 0) {
        pt_aff_set_inf(r);
        return zero ? POINT_OK : POINT_BAD_FLAGS;
    }
    if (zero) return POINT_NOT_ON_CURVE; /* (0, 0) without the flag is not infinity here */
    return CAT(PT, _decode_be)(r, plain, subgroup);
}

static enum point_check CAT(PT, _decode_compressed)(pt_aff *r, const uint8_t *bytes, bool subgroup)
{
    const unsigned flags = bytes[0] & 0xe0u;
    uint8_t plain[FE_BYTES];
    fe_t t;
    if (!(flags & CAT(PT, _flag_compressed))) return POINT_BAD_FLAGS;
    memcpy(plain, bytes, sizeof plain);
    plain[0] &= 0x1f;
    if (flags & CAT(PT, _flag_infinity)) {
        pt_aff_set_inf(r);
        return !(flags & CAT(PT, _flag_larger_y)) && CAT(PT, _all_zero)(plain, sizeof plain) ? POINT_OK : POINT_BAD_FLAGS;
    }
    if (!fe_load_be(&r->x, plain)) return POINT_NOT_CANONICAL;
    CAT(PT, _curve_rhs)(&t, &r->x);
    if (!fe_sqrt(&r->y, &t)) return POINT_NOT_ON_CURVE;
    if (fe_lex_larger(&r->y) != ((flags & CAT(PT, _flag_larger_y)) != 0)) fe_neg(&r->y, &r->y);
    return subgroup && !pt_in_subgroup(r) ? POINT_NOT_IN_SUBGROUP : POINT_OK;
}
#endif

static size_t CAT(PT, _encoded_bytes)(enum point_encoding e)
{
    switch (e) {
    case ENCODING_MONT_LE:
    case ENCODING_BE: return 2 * FE_BYTES;
    case ENCODING_ZCASH: return PT_HAS_ZCASH ? 2 * FE_BYTES : 0;
    case ENCODING_ZCASH_COMPRESSED: return PT_HAS_ZCASH ? FE_BYTES : 0;
    }
    return 0;
}

/* On any failure r is infinity, so that an ignored result cannot carry a bad point further. */
static enum point_check CAT(PT, _decode)(pt_aff *r, const uint8_t *bytes, enum point_encoding e, bool subgroup)
{
    enum point_check c = POINT_BAD_FLAGS;
    switch (e) {
    case ENCODING_MONT_LE: c = CAT(PT, _decode_mont)(r, bytes, subgroup); break;
    case ENCODING_BE: c = CAT(PT, _decode_be)(r, bytes, subgroup); break;
#if PT_HAS_ZCASH
    case ENCODING_ZCASH: c = CAT(PT, _decode_zcash)(r, bytes, subgroup); break;
    case ENCODING_ZCASH_COMPRESSED: c = CAT(PT, _decode_compressed)(r, bytes, subgroup); break;
#else
    case ENCODING_ZCASH:
    case ENCODING_ZCASH_COMPRESSED: break;
#endif
    }
    if (c != POINT_OK) pt_aff_set_inf(r);
    return c;
}

static void CAT(PT, _encode)(uint8_t *bytes, const pt_aff *p, enum point_encoding e)
{
    switch (e) {
    case ENCODING_MONT_LE:
        fe_store(bytes, &p->x);
        fe_store(bytes + FE_BYTES, &p->y);
        break;
    case ENCODING_BE:
        fe_store_be(bytes, &p->x);
        fe_store_be(bytes + FE_BYTES, &p->y);
        break;
    case ENCODING_ZCASH:
#if PT_HAS_ZCASH
        fe_store_be(bytes, &p->x);
        fe_store_be(bytes + FE_BYTES, &p->y);
        if (pt_aff_is_inf(p)) bytes[0] |= CAT(PT, _flag_infinity);
#endif
        break;
    case ENCODING_ZCASH_COMPRESSED:
#if PT_HAS_ZCASH
        fe_store_be(bytes, &p->x);
        bytes[0] |= CAT(PT, _flag_compressed);
        if (pt_aff_is_inf(p)) bytes[0] |= CAT(PT, _flag_infinity);
        else if (fe_lex_larger(&p->y)) bytes[0] |= CAT(PT, _flag_larger_y);
#endif
        break;
    }
}

#include "field/fe_unnames.h"
#include "curve/pt_unnames.h"
#undef FE_BYTES
