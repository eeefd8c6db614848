/* Lays out .zkey files. */
#include "formats/zkey_layout.h"
#include "base/bytes.h"

#define HEAD_BYTES 12 /* of the file, and of a section */
#define FR_BYTES   32

static uint64_t header_bytes(const struct curve *c)
{
    return 4 + c->fp_bytes + 4 + FR_BYTES + 12 + 3 * (uint64_t)c->g1.aff_bytes +
           3 * (uint64_t)c->g2.aff_bytes;
}

#define SECTIONS 10
static const unsigned section_order[SECTIONS] = { 1, 2, 4, 3, 9, 8, 5, 6, 7, 10 };

static uint64_t section_bytes(const struct zkey_shape *s, unsigned type)
{
    const uint64_t g1 = s->curve->g1.aff_bytes, g2 = s->curve->g2.aff_bytes;
    switch (type) {
    case 1:
        return 4;
    case 2:
        return header_bytes(s->curve);
    case 3:
        return ((uint64_t)s->n_public + 1) * g1;
    case 4:
        return 4 + s->n_coefs * ZKEY_COEF_BYTES;
    case 5:
    case 6:
        return s->n_vars * g1;
    case 7:
        return s->n_vars * g2;
    case 8:
        return ((uint64_t)s->n_vars - s->n_public - 1) * g1;
    case 9:
        return s->domain_size * g1;
    default:
        return 64 + 4; /* 10: circuit hash, no contributions */
    }
}

/* Offsets of the contents by type, and of the end of the file in [0]. */
static void place(uint64_t content[SECTIONS + 1], const struct zkey_shape *s)
{
    uint64_t at = HEAD_BYTES;
    for (unsigned i = 0; i < SECTIONS; i++) {
        content[section_order[i]] = at + HEAD_BYTES;
        at += HEAD_BYTES + section_bytes(s, section_order[i]);
    }
    content[0] = at;
}

void zkey_layout_plan(struct zkey_layout *out, const struct zkey_shape *s)
{
    uint64_t content[SECTIONS + 1];
    place(content, s);
    out->header_points = content[2] + 4 + s->curve->fp_bytes + 4 + FR_BYTES + 12;
    out->ic = content[3];
    out->coefs = content[4] + 4;
    out->a = content[5];
    out->b1 = content[6];
    out->b2 = content[7];
    out->c = content[8];
    out->h = content[9];
    out->circuit_hash = content[10];
    out->file_bytes = content[0];
}

void zkey_layout_write(uint8_t *file, const struct zkey_layout *layout, const struct zkey_shape *s)
{
    const struct curve *c = s->curve;
    uint64_t content[SECTIONS + 1];
    place(content, s);
    memcpy(file, "zkey", 4);
    store_le32(file + 4, 1);
    store_le32(file + 8, SECTIONS);
    for (unsigned type = 1; type <= SECTIONS; type++) {
        store_le32(file + content[type] - 12, type);
        store_le64(file + content[type] - 8, section_bytes(s, type));
    }
    store_le32(file + content[1], 1);

    uint8_t *p = file + content[2];
    store_le32(p, c->fp_bytes);
    words_to_le(p + 4, c->fp_modulus.w, c->fp_bytes / 8);
    p += 4 + c->fp_bytes;
    store_le32(p, FR_BYTES);
    words_to_le(p + 4, c->fr.modulus.w, FR_BYTES / 8);
    p += 4 + FR_BYTES;
    store_le32(p, s->n_vars);
    store_le32(p + 4, s->n_public);
    store_le32(p + 8, (uint32_t)s->domain_size);

    store_le32(file + layout->coefs - 4, (uint32_t)s->n_coefs);
    store_le32(file + layout->circuit_hash + 64, 0);
}

void zkey_coef_write(uint8_t out[ZKEY_COEF_BYTES], const struct curve *c, const struct zkey_coef *coef)
{
    store_le32(out, coef->matrix);
    store_le32(out + 4, coef->row);
    store_le32(out + 8, coef->wire);
    struct fr_int once; /* v R as an integer; from_int multiplies it by R once more */
    struct fr twice;
    memcpy(once.w, coef->value.w, sizeof once.w);
    c->fr.from_int(&twice, &once);
    words_to_le(out + 12, twice.w, 4);
}
