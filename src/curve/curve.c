/* The curves by identity, by modulus and by name, and what is the same for all of them. */
#include "curve/curve.h"
#include "base/bytes.h"
#include "base/rng.h"

#include <strings.h>

static const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };

const char *point_check_text(enum point_check c)
{
    switch (c) {
    case POINT_OK: return "is a valid point";
    case POINT_NOT_CANONICAL: return "has a coordinate that is not below the base field's modulus";
    case POINT_BAD_FLAGS: return "has flag bits that contradict its encoding";
    case POINT_NOT_ON_CURVE: return "is not on the curve";
    case POINT_NOT_IN_SUBGROUP: return "is not in the subgroup of prime order";
    }
    return "has an unknown defect";
}

const struct curve *curve_by_id(enum curve_id id)
{
    for (size_t i = 0; i < ARRAY_COUNT(curves); i++)
        if (curves[i]->id == id) return curves[i];
    return NULL;
}

/* Whether the little-endian bytes and words are the same integer; either may be longer by zeros. */
static bool equals_le(struct span bytes, const uint64_t *w, size_t count)
{
    const size_t most = bytes.size > 8 * count ? bytes.size : 8 * count;
    for (size_t i = 0; i < most; i++) {
        const uint8_t a = i < bytes.size ? bytes.data[i] : 0;
        const uint8_t b = i < 8 * count ? (uint8_t)(w[i / 8] >> (8 * (i % 8))) : 0;
        if (a != b) return false;
    }
    return true;
}

const struct curve *curve_by_fr_modulus(struct span le_bytes)
{
    for (size_t i = 0; i < ARRAY_COUNT(curves); i++)
        if (equals_le(le_bytes, curves[i]->fr.modulus.w, ARRAY_COUNT(curves[i]->fr.modulus.w))) return curves[i];
    return NULL;
}

const struct curve *curve_by_fp_modulus(struct span le_bytes)
{
    for (size_t i = 0; i < ARRAY_COUNT(curves); i++)
        if (equals_le(le_bytes, curves[i]->fp_modulus.w, ARRAY_COUNT(curves[i]->fp_modulus.w))) return curves[i];
    return NULL;
}

const struct curve *curve_by_name(const char *name)
{
    static const struct { const char *name; const struct curve *curve; } names[] = {
        { "bn254", &curve_bn254 },         { "bn128", &curve_bn254 },        { "altbn128", &curve_bn254 },
        { "alt_bn128", &curve_bn254 },     { "bls12_381", &curve_bls12_381 }, { "bls12381", &curve_bls12_381 },
        { "bls12-381", &curve_bls12_381 },
    };
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strcasecmp(name, names[i].name) == 0) return names[i].curve;
    return NULL;
}

cuzk_status curve_random_scalar(const struct curve *c, struct task *t, struct fr *out)
{
    uint8_t bytes[64];
    do {
        TRY(rng_bytes(t, bytes, sizeof bytes));
        c->fr.from_wide(out, bytes);
    } while (c->fr.is_zero(out)); /* never twice in the life of the universe, unless the system's randomness is broken */
    wipe(bytes, sizeof bytes);
    return CUZK_OK;
}
