/* Reads .zkey files of Groth16. */
#include "formats/zkey.h"
#include "base/bytes.h"
#include "formats/binfile.h"
#include "formats/fail_at.h"
#include "formats/identify.h"
#include <inttypes.h>
#include <stdio.h>

#define FR_BYTES     32
#define ADVICE_CURVE "Use a key for bn128 or bls12381."

enum protocol { PROTOCOL_GROTH16 = 1, PROTOCOL_PLONK = 2, PROTOCOL_FFLONK = 10 };

static cuzk_status check_protocol(const struct binfile *b, struct task *t)
{
    struct span s;
    TRY(binfile_exact(b, t, &s, 1, "protocol", 1, 4));
    uint32_t protocol = load_le32(s.data);
    if (protocol == PROTOCOL_GROTH16) return CUZK_OK;
    char number[24];
    snprintf(number, sizeof number, "protocol %" PRIu32, protocol);
    return FAIL_AT(t, b->path, binfile_offset(b->file, s.data), "protocol",
                   "cuzk proves Groth16 only: make a key with a Groth16 set-up.", CUZK_UNSUPPORTED,
                   "this is a proving key for %s, not for Groth16",
                   protocol == PROTOCOL_PLONK    ? "PLONK"
                   : protocol == PROTOCOL_FFLONK ? "FFLONK"
                                                 : number);
}

/* A cursor over the header section; want() is the only way forward. */
struct cursor {
    const struct binfile *b;
    struct span s;
    uint64_t at;
};

static cuzk_status want(struct cursor *c, struct task *t, const uint8_t **out, uint64_t bytes,
                        const char *field)
{
    if (!span_holds(c->s, c->at, bytes))
        return FAIL_AT(t, c->b->path, binfile_offset(c->b->file, c->s.data) + c->at, field, ADVICE_DAMAGED,
                       CUZK_MALFORMED, "the header section ends after %zu bytes, inside or before %s",
                       c->s.size, field);
    *out = c->s.data + c->at;
    c->at += bytes;
    return CUZK_OK;
}

static uint64_t offset_of(const struct cursor *c, const uint8_t *p) { return binfile_offset(c->b->file, p); }

static cuzk_status read_curve(struct cursor *c, struct task *t, const struct curve **out)
{
    const char *path = c->b->path;
    const uint8_t *p;
    TRY(want(c, t, &p, 4, "n8q"));
    uint32_t n8q = load_le32(p);
    if (n8q != curve_bn254.fp_bytes && n8q != curve_bls12_381.fp_bytes)
        return FAIL_AT(t, path, offset_of(c, p), "n8q", ADVICE_CURVE, CUZK_UNSUPPORTED,
                       "a base field of %" PRIu32
                       " bytes belongs to no supported curve (BN254: %u, BLS12-381: %u)",
                       n8q, curve_bn254.fp_bytes, curve_bls12_381.fp_bytes);
    TRY(want(c, t, &p, n8q, "q"));
    const struct curve *curve = curve_by_fp_modulus(span_of(p, n8q));
    if (curve == NULL)
        return FAIL_AT(t, path, offset_of(c, p), "q", ADVICE_CURVE, CUZK_UNSUPPORTED,
                       "the base field's prime is that of neither BN254 nor BLS12-381");
    TRY(want(c, t, &p, 4, "n8r"));
    uint32_t n8r = load_le32(p);
    if (n8r != FR_BYTES)
        return FAIL_AT(t, path, offset_of(c, p), "n8r", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "scalars of %" PRIu32 " bytes, but those of %s have %d", n8r, curve->snarkjs_name,
                       FR_BYTES);
    TRY(want(c, t, &p, FR_BYTES, "r"));
    if (curve_by_fr_modulus(span_of(p, FR_BYTES)) != curve)
        return FAIL_AT(t, path, offset_of(c, p), "r", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "the scalar field's prime is not that of %s, the curve that q names",
                       curve->snarkjs_name);
    *out = curve;
    return CUZK_OK;
}

static cuzk_status read_sizes(struct zkey *z, struct cursor *c, struct task *t)
{
    const uint8_t *p;
    TRY(want(c, t, &p, 12, "nVars, nPublic, domainSize"));
    z->n_vars = load_le32(p);
    z->n_public = load_le32(p + 4);
    uint32_t domain = load_le32(p + 8);
    if (z->n_public >= z->n_vars)
        return FAIL_AT(t, z->path, offset_of(c, p + 4), "nPublic", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "%" PRIu32 " public signals do not fit beside the constant into %" PRIu32 " variables",
                       z->n_public, z->n_vars);
    if (domain == 0 || (domain & (domain - 1)) != 0)
        return FAIL_AT(t, z->path, offset_of(c, p + 8), "domainSize", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "the domain size %" PRIu32 " is not a power of two", domain);
    z->domain_size = domain;
    z->domain_log2 = (unsigned)__builtin_ctz(domain);
    if (z->domain_log2 > z->curve->fr.two_adicity)
        return FAIL_AT(t, z->path, offset_of(c, p + 8), "domainSize", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "a domain of 2^%u does not exist in the scalar field of %s (at most 2^%u)",
                       z->domain_log2, z->curve->snarkjs_name, z->curve->fr.two_adicity);
    if (domain <= z->n_public)
        return FAIL_AT(t, z->path, offset_of(c, p + 8), "domainSize", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "a domain of %" PRIu32 " has no room for the rows of %" PRIu32
                       " public signals and the constant",
                       domain, z->n_public);
    return CUZK_OK;
}

static cuzk_status read_point(struct g_aff *out, const struct zkey *z, struct cursor *c, struct task *t,
                              const struct group *g, const char *name)
{
    const uint8_t *p;
    TRY(want(c, t, &p, g->aff_bytes, name));
    TRY(zkey_point_verdict(z, t, name, p, 0, g->aff_check(p, true)));
    if (g->aff_is_inf(p))
        return FAIL_AT(t, z->path, offset_of(c, p), name,
                       "Do not use this key: whoever made it could forge proofs.", CUZK_KEY_INVALID,
                       "%s is the point at infinity", name);
    memset(out, 0, sizeof *out);
    memcpy(out->w, p, g->aff_bytes);
    return CUZK_OK;
}

static cuzk_status read_header(struct zkey *z, struct task *t, const struct binfile *b)
{
    struct cursor c = { .b = b };
    TRY(binfile_section(b, t, &c.s, 2, "header"));
    TRY(read_curve(&c, t, &z->curve));
    TRY(read_sizes(z, &c, t));
    const struct group *g1 = &z->curve->g1, *g2 = &z->curve->g2;
    TRY(read_point(&z->alpha1, z, &c, t, g1, "alpha1"));
    TRY(read_point(&z->beta1, z, &c, t, g1, "beta1"));
    TRY(read_point(&z->beta2, z, &c, t, g2, "beta2"));
    TRY(read_point(&z->gamma2, z, &c, t, g2, "gamma2"));
    TRY(read_point(&z->delta1, z, &c, t, g1, "delta1"));
    TRY(read_point(&z->delta2, z, &c, t, g2, "delta2"));
    if (c.at != c.s.size)
        return FAIL_AT(t, z->path, binfile_offset(b->file, c.s.data) - 8, "header", ADVICE_DAMAGED,
                       CUZK_MALFORMED, "the header section has %zu bytes instead of %" PRIu64, c.s.size,
                       c.at);
    return CUZK_OK;
}

static cuzk_status read_coefs(struct zkey *z, struct task *t, const struct binfile *b)
{
    struct span s;
    TRY(binfile_section(b, t, &s, 4, "coefficients"));
    uint64_t at = binfile_offset(b->file, s.data);
    if (s.size < 4 || (s.size - 4) % ZKEY_COEF_BYTES != 0)
        return FAIL_AT(t, z->path, at - 8, "coefficients", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "section 4 (coefficients) has %zu bytes, which is not 4 and a multiple of %d", s.size,
                       ZKEY_COEF_BYTES);
    uint32_t stated = load_le32(s.data);
    z->coefs = span_of(s.data + 4, s.size - 4);
    z->n_coefs = (s.size - 4) / ZKEY_COEF_BYTES;
    if (stated != z->n_coefs)
        return FAIL_AT(t, z->path, at, "nCoefs", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "section 4 announces %" PRIu32 " coefficients, but its length holds %" PRIu64, stated,
                       z->n_coefs);
    return CUZK_OK;
}

cuzk_status zkey_parse(struct zkey *out, struct task *t, const char *path, struct span file)
{
    struct binfile b;
    memset(out, 0, sizeof *out);
    out->path = path;
    out->file = file;
    TRY(binfile_parse(&b, t, path, file, "zkey", 1));
    TRY(check_protocol(&b, t));
    TRY(read_header(out, t, &b));
    TRY(read_coefs(out, t, &b));
    const size_t g1 = out->curve->g1.aff_bytes, g2 = out->curve->g2.aff_bytes;
    TRY(binfile_exact(&b, t, &out->ic, 3, "IC", (uint64_t)out->n_public + 1, g1));
    TRY(binfile_exact(&b, t, &out->a, 5, "A", out->n_vars, g1));
    TRY(binfile_exact(&b, t, &out->b1, 6, "B1", out->n_vars, g1));
    TRY(binfile_exact(&b, t, &out->b2, 7, "B2", out->n_vars, g2));
    TRY(binfile_exact(&b, t, &out->c, 8, "C", (uint64_t)out->n_vars - out->n_public - 1, g1));
    TRY(binfile_exact(&b, t, &out->h, 9, "H", out->domain_size, g1));
    out->contributions = b.section[10];
    return CUZK_OK;
}

cuzk_status zkey_coef_read(const struct zkey *z, struct task *t, struct zkey_coef *out, uint64_t index)
{
    const uint8_t *p = z->coefs.data + ZKEY_COEF_BYTES * index;
    uint32_t matrix = load_le32(p);
    out->matrix = matrix;
    out->row = load_le32(p + 4);
    out->wire = load_le32(p + 8);
    if (matrix > 1)
        return FAIL_AT(t, z->path, binfile_offset(z->file, p), "matrix", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "coefficient %" PRIu64 " belongs to matrix %" PRIu32
                       "; there are only 0 (A) and 1 (B)",
                       index, matrix);
    if (out->row >= z->domain_size)
        return FAIL_AT(
            t, z->path, binfile_offset(z->file, p + 4), "constraint", ADVICE_DAMAGED, CUZK_MALFORMED,
            "coefficient %" PRIu64 " stands in row %" PRIu32 ", but the domain has %" PRIu64 " rows", index,
            out->row, z->domain_size);
    if (out->wire >= z->n_vars)
        return FAIL_AT(t, z->path, binfile_offset(z->file, p + 8), "signal", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "coefficient %" PRIu64 " names variable %" PRIu32 ", but there are only %" PRIu32,
                       index, out->wire, z->n_vars);
    struct fr_int stored;
    words_from_le(stored.w, p + 12, 4);
    if (!z->curve->fr.int_is_canonical(&stored))
        return FAIL_AT(t, z->path, binfile_offset(z->file, p + 12), "value", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "the value of coefficient %" PRIu64 " is not smaller than the scalar field's prime",
                       index);
    /* Stored is v R^2; read as an element in Montgomery form it stands for v R, which is v's own Montgomery form. */
    struct fr twice;
    struct fr_int once;
    memcpy(twice.w, stored.w, sizeof twice.w);
    z->curve->fr.to_int(&once, &twice);
    memcpy(out->value.w, once.w, sizeof once.w);
    return CUZK_OK;
}

cuzk_status zkey_point_verdict(const struct zkey *z, struct task *t, const char *section,
                               const uint8_t *point, uint64_t index, enum point_check check)
{
    if (check == POINT_OK) return CUZK_OK;
    return FAIL_AT(t, z->path, binfile_offset(z->file, point), section,
                   "Do not use this key: it is damaged or forged.  Get it again and compare its digest.",
                   CUZK_KEY_INVALID, "point %" PRIu64 " of %s %s", index, section, point_check_text(check));
}
