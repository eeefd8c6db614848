/* Encodes and decodes proofs of 192 bytes. */
#include "formats/proof_codec.h"
#include "formats/fail_at.h"
#include <inttypes.h>
#include <stdio.h>

#define B_AT 48
#define C_AT 144

void proof_encode(uint8_t out[PROOF_BYTES], const struct proof_points *proof)
{
    const struct curve *c = &curve_bls12_381;
    c->g1.encode(out, &proof->a, ENCODING_ZCASH_COMPRESSED);
    c->g2.encode(out + B_AT, &proof->b, ENCODING_ZCASH_COMPRESSED);
    c->g1.encode(out + C_AT, &proof->c, ENCODING_ZCASH_COMPRESSED);
}

static cuzk_status read_point(struct g_aff *out, struct task *t, const char *path, struct span bytes,
                              uint64_t at, const struct group *g, size_t index, const char *name)
{
    enum point_check check = g->decode(out, bytes.data + at, ENCODING_ZCASH_COMPRESSED, true);
    bool infinite = check == POINT_OK && g->aff_is_inf(out->w);
    if (check == POINT_OK && !infinite) return CUZK_OK;
    char field[48];
    snprintf(field, sizeof field, "%s of proof %zu", name, index);
    return FAIL_AT(t, path, at, field, "The proof is damaged or was not made by a correct prover.",
                   CUZK_MALFORMED, "%s %s", field,
                   infinite ? "is the point at infinity" : point_check_text(check));
}

cuzk_status proof_decode(struct proof_points *out, struct task *t, const char *path, struct span bytes,
                         size_t count)
{
    const struct curve *c = &curve_bls12_381;
    if (bytes.size % PROOF_BYTES != 0 || bytes.size / PROOF_BYTES != count)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, "length",
                       "Compare with the number of partitions of the proof type.", CUZK_MALFORMED,
                       "%zu bytes are not %zu proofs of %d bytes", bytes.size, count, PROOF_BYTES);
    for (size_t i = 0; i < count; i++) {
        uint64_t at = PROOF_BYTES * (uint64_t)i;
        TRY(read_point(&out[i].a, t, path, bytes, at, &c->g1, i, "A"));
        TRY(read_point(&out[i].b, t, path, bytes, at + B_AT, &c->g2, i, "B"));
        TRY(read_point(&out[i].c, t, path, bytes, at + C_AT, &c->g1, i, "C"));
    }
    return CUZK_OK;
}
