/* Reads .ptau files. */
#include "formats/ptau.h"
#include "base/bytes.h"
#include "formats/binfile.h"
#include "formats/fail_at.h"
#include <inttypes.h>

static cuzk_status read_header(struct ptau *p, struct task *t, const struct binfile *b)
{
    struct span s;
    TRY(binfile_section(b, t, &s, 1, "header"));
    uint64_t at = binfile_offset(b->file, s.data);
    uint32_t n8q = s.size < 4 ? 0 : load_le32(s.data);
    if (s.size < 4 || s.size != 12 + (uint64_t)n8q)
        return FAIL_AT(t, p->path, at - 8, "header", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "the header section has %zu bytes, which does not fit a field of %" PRIu32 " bytes",
                       s.size, n8q);
    p->curve = curve_by_fp_modulus(span_of(s.data + 4, n8q));
    if (p->curve == NULL)
        return FAIL_AT(t, p->path, at + 4, "q", "Use powers of tau for bn128 or bls12381.", CUZK_UNSUPPORTED,
                       "the base field's prime is that of neither BN254 nor BLS12-381");
    uint32_t power = load_le32(s.data + 4 + n8q);
    if (power > p->curve->fr.two_adicity)
        return FAIL_AT(t, p->path, at + 4 + n8q, "power", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "a power of %" PRIu32 " is above the %u of %s", power, p->curve->fr.two_adicity,
                       p->curve->snarkjs_name);
    p->power = power;
    p->ceremony_power = load_le32(s.data + 8 + n8q);
    return CUZK_OK;
}

cuzk_status ptau_parse(struct ptau *out, struct task *t, const char *path, struct span file)
{
    struct binfile b;
    memset(out, 0, sizeof *out);
    out->path = path;
    out->file = file;
    TRY(binfile_parse(&b, t, path, file, "ptau", 1));
    TRY(read_header(out, t, &b));
    const uint64_t g1 = out->curve->g1.aff_bytes, g2 = out->curve->g2.aff_bytes;
    const uint64_t n = UINT64_C(1) << out->power;
    TRY(binfile_exact(&b, t, &out->tau_g1, 2, "tauG1", 2 * n - 1, g1));
    TRY(binfile_exact(&b, t, &out->tau_g2, 3, "tauG2", n, g2));
    TRY(binfile_exact(&b, t, &out->alpha_tau_g1, 4, "alphaTauG1", n, g1));
    TRY(binfile_exact(&b, t, &out->beta_tau_g1, 5, "betaTauG1", n, g1));
    TRY(binfile_exact(&b, t, &out->beta_g2, 6, "betaG2", 1, g2));
    out->contributions = b.section[7];

    out->prepared = b.section[12].data != NULL;
    if (!out->prepared) return CUZK_OK;
    TRY(binfile_exact(&b, t, &out->lagrange_tau_g1, 12, "tauG1 Lagrange", 4 * n - 1, g1));
    TRY(binfile_exact(&b, t, &out->lagrange_tau_g2, 13, "tauG2 Lagrange", 2 * n - 1, g2));
    TRY(binfile_exact(&b, t, &out->lagrange_alpha_tau_g1, 14, "alphaTauG1 Lagrange", 2 * n - 1, g1));
    TRY(binfile_exact(&b, t, &out->lagrange_beta_tau_g1, 15, "betaTauG1 Lagrange", 2 * n - 1, g1));
    return CUZK_OK;
}
