/* Makes small well-formed files of every format. */
#include "support/format_samples.h"
#include "base/bytes.h"
#include "formats/filparams.h"
#include "formats/proof_codec.h"
#include "formats/zkey_layout.h"

static void *take(size_t bytes)
{
    void *p = malloc(bytes > 0 ? bytes : 1);
    if (p == NULL) abort();
    return p;
}

struct blob blob_copy(const void *data, size_t size)
{
    struct blob b = { .data = take(size), .size = size };
    if (size > 0) memcpy(b.data, data, size);
    return b;
}

void blob_free(struct blob *b)
{
    free(b->data);
    memset(b, 0, sizeof *b);
}

void sample_point(struct g_aff *out, struct prng *rng, const struct group *g)
{
    struct fr_int k = { { prng_u64(rng) | 1 } };
    struct g_jac p;
    g->jac_from_aff(&p, &g->generator);
    g->jac_mul(&p, &p, &k);
    memset(out, 0, sizeof *out);
    g->jac_to_aff(out, &p);
}

void sample_proof(struct proof_points *out, struct prng *rng, const struct curve *c)
{
    sample_point(&out->a, rng, &c->g1);
    sample_point(&out->b, rng, &c->g2);
    sample_point(&out->c, rng, &c->g1);
}

void sample_vk(struct vk_points *out, struct prng *rng, const struct curve *c, uint64_t ic_count)
{
    memset(out, 0, sizeof *out);
    out->curve = c;
    sample_point(&out->alpha1, rng, &c->g1);
    sample_point(&out->beta2, rng, &c->g2);
    sample_point(&out->gamma2, rng, &c->g2);
    sample_point(&out->delta2, rng, &c->g2);
    out->ic = take(ic_count * sizeof *out->ic);
    out->ic_count = ic_count;
    for (uint64_t i = 0; i < ic_count; i++) sample_point(&out->ic[i], rng, &c->g1);
}

static void random_scalar(struct fr_int *out, struct prng *rng, const struct curve *c)
{
    uint8_t wide[64];
    struct fr s;
    prng_bytes(rng, wide, sizeof wide);
    c->fr.from_wide(&s, wide);
    c->fr.to_int(out, &s);
}

static uint8_t *put_points(uint8_t *p, struct prng *rng, const struct group *g, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, p += g->aff_bytes) {
        struct g_aff point;
        sample_point(&point, rng, g);
        memcpy(p, point.w, g->aff_bytes);
    }
    return p;
}

struct blob sample_zkey(struct prng *rng, const struct curve *c, uint32_t n_public)
{
    const struct zkey_shape shape = { c, SAMPLE_VARS, n_public, SAMPLE_DOMAIN, SAMPLE_COEFS };
    struct zkey_layout at;
    zkey_layout_plan(&at, &shape);
    struct blob b = { .data = take(at.file_bytes), .size = at.file_bytes };
    memset(b.data, 0, b.size);
    zkey_layout_write(b.data, &at, &shape);
    uint8_t *p = put_points(b.data + at.header_points, rng, &c->g1, 2); /* alpha1, beta1 */
    p = put_points(p, rng, &c->g2, 2);                                  /* beta2, gamma2 */
    p = put_points(p, rng, &c->g1, 1);                                  /* delta1 */
    put_points(p, rng, &c->g2, 1);                                      /* delta2 */
    put_points(b.data + at.ic, rng, &c->g1, n_public + 1);
    put_points(b.data + at.a, rng, &c->g1, SAMPLE_VARS);
    put_points(b.data + at.b1, rng, &c->g1, SAMPLE_VARS);
    put_points(b.data + at.b2, rng, &c->g2, SAMPLE_VARS);
    put_points(b.data + at.c, rng, &c->g1, SAMPLE_VARS - n_public - 1);
    put_points(b.data + at.h, rng, &c->g1, SAMPLE_DOMAIN);
    for (unsigned i = 0; i < SAMPLE_COEFS; i++) {
        struct zkey_coef coef = { .matrix = i & 1,
                                  .row = i / 2,
                                  .wire = (uint32_t)prng_below(rng, SAMPLE_VARS) };
        struct fr_int v;
        random_scalar(&v, rng, c);
        c->fr.from_int(&coef.value, &v);
        zkey_coef_write(b.data + at.coefs + ZKEY_COEF_BYTES * i, c, &coef);
    }
    prng_bytes(rng, b.data + at.circuit_hash, 64);
    return b;
}

static struct blob begin_file(const char *magic, uint32_t version)
{
    struct blob b = { .data = take(12), .size = 12 };
    memcpy(b.data, magic, 4);
    store_le32(b.data + 4, version);
    store_le32(b.data + 8, 0);
    return b;
}

struct blob sample_wtns(struct prng *rng, const struct curve *c, uint32_t count)
{
    struct blob b = begin_file("wtns", 2);
    uint8_t head[40];
    store_le32(head, 32);
    words_to_le(head + 4, c->fr.modulus.w, 4);
    store_le32(head + 36, count);
    sample_section_append(&b, 1, head, sizeof head);
    uint8_t *values = take(32 * (size_t)count);
    for (uint32_t i = 0; i < count; i++) {
        struct fr_int v = { { 1 } };
        if (i > 0) random_scalar(&v, rng, c);
        words_to_le(values + 32 * (size_t)i, v.w, 4);
    }
    sample_section_append(&b, 2, values, 32 * (size_t)count);
    free(values);
    return b;
}

struct blob sample_r1cs(struct prng *rng, const struct curve *c)
{
    static const uint32_t terms[9] = { 2, 1, 1, 0, 0, 3, 1, 2, 1 };
    struct blob b = begin_file("r1cs", 1);
    uint8_t body[9 * 4 + SAMPLE_R1CS_TERMS * 36], *p = body;
    for (unsigned side = 0; side < 9; side++) {
        store_le32(p, terms[side]);
        p += 4;
        for (uint32_t k = 0; k < terms[side]; k++, p += 36) {
            struct fr_int v;
            random_scalar(&v, rng, c);
            store_le32(p, (5 * side + 2 * k) % 6);
            words_to_le(p + 4, v.w, 4);
        }
    }
    sample_section_append(&b, 2, body, (size_t)(p - body));
    uint8_t head[64];
    store_le32(head, 32);
    words_to_le(head + 4, c->fr.modulus.w, 4);
    store_le32(head + 36, 6); /* wires */
    store_le32(head + 40, 1); /* outputs */
    store_le32(head + 44, 1); /* public inputs */
    store_le32(head + 48, 2); /* private inputs */
    store_le64(head + 52, 6); /* labels */
    store_le32(head + 60, 3); /* constraints */
    sample_section_append(&b, 1, head, sizeof head);
    uint8_t labels[6 * 8];
    for (unsigned i = 0; i < 6; i++) store_le64(labels + 8 * i, i);
    sample_section_append(&b, 3, labels, sizeof labels);
    return b;
}

static void append_points(struct blob *b, uint32_t type, struct prng *rng, const struct group *g,
                          uint64_t count)
{
    uint8_t *p = take(count * g->aff_bytes);
    put_points(p, rng, g, count);
    sample_section_append(b, type, p, count * g->aff_bytes);
    free(p);
}

struct blob sample_ptau(struct prng *rng, const struct curve *c, unsigned power, bool prepared)
{
    struct blob b = begin_file("ptau", 1);
    const uint64_t n = UINT64_C(1) << power;
    uint8_t head[12 + 48];
    store_le32(head, c->fp_bytes);
    words_to_le(head + 4, c->fp_modulus.w, c->fp_bytes / 8);
    store_le32(head + 4 + c->fp_bytes, power);
    store_le32(head + 8 + c->fp_bytes, power);
    sample_section_append(&b, 1, head, 12 + c->fp_bytes);
    append_points(&b, 2, rng, &c->g1, 2 * n - 1);
    append_points(&b, 3, rng, &c->g2, n);
    append_points(&b, 4, rng, &c->g1, n);
    append_points(&b, 5, rng, &c->g1, n);
    append_points(&b, 6, rng, &c->g2, 1);
    sample_section_append(&b, 7, "\0\0\0\0", 4);
    if (prepared) {
        append_points(&b, 12, rng, &c->g1, 4 * n - 1);
        append_points(&b, 13, rng, &c->g2, 2 * n - 1);
        append_points(&b, 14, rng, &c->g1, 2 * n - 1);
        append_points(&b, 15, rng, &c->g1, 2 * n - 1);
    }
    return b;
}

static uint8_t *put_encoded(uint8_t *p, struct prng *rng, const struct group *g, enum point_encoding e,
                            uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, p += g->encoded_bytes(e)) {
        struct g_aff point;
        sample_point(&point, rng, g);
        g->encode(p, &point, e);
    }
    return p;
}

struct blob sample_filvk(struct prng *rng, uint32_t ic_count, bool compressed)
{
    const struct curve *c = &curve_bls12_381;
    if (!compressed) {
        struct vk_points vk;
        struct g_aff beta1, delta1;
        sample_vk(&vk, rng, c, ic_count);
        sample_point(&beta1, rng, &c->g1);
        sample_point(&delta1, rng, &c->g1);
        struct blob b = { .data = take(filvk_file_bytes(ic_count)), .size = filvk_file_bytes(ic_count) };
        filvk_write(b.data, &vk, &beta1, &delta1);
        vk_points_fini(&vk);
        return b;
    }
    struct blob b = { .data = take(436 + 48 * (size_t)ic_count), .size = 436 + 48 * (size_t)ic_count };
    uint8_t *p = put_encoded(b.data, rng, &c->g1, ENCODING_ZCASH_COMPRESSED, 2);
    p = put_encoded(p, rng, &c->g2, ENCODING_ZCASH_COMPRESSED, 2);
    p = put_encoded(p, rng, &c->g1, ENCODING_ZCASH_COMPRESSED, 1);
    p = put_encoded(p, rng, &c->g2, ENCODING_ZCASH_COMPRESSED, 1);
    store_be32(p, ic_count);
    put_encoded(p + 4, rng, &c->g1, ENCODING_ZCASH_COMPRESSED, ic_count);
    return b;
}

struct blob sample_filparams(struct prng *rng, size_t trailing)
{
    const struct curve *c = &curve_bls12_381;
    const struct filparams_shape shape = {
        .ic_count = 2, .h_count = 3, .l_count = 3, .a_count = 4, .b_count = 2
    };
    struct filparams_layout at;
    filparams_layout_plan(&at, &shape);
    struct blob vk = sample_filvk(rng, 2, false);
    struct blob b = { .data = take(at.file_bytes + trailing), .size = at.file_bytes + trailing };
    memcpy(b.data, vk.data, vk.size);
    blob_free(&vk);
    filparams_layout_write(b.data, &at, &shape);
    put_encoded(b.data + at.h, rng, &c->g1, ENCODING_ZCASH, shape.h_count);
    put_encoded(b.data + at.l, rng, &c->g1, ENCODING_ZCASH, shape.l_count);
    put_encoded(b.data + at.a, rng, &c->g1, ENCODING_ZCASH, shape.a_count);
    put_encoded(b.data + at.b_g1, rng, &c->g1, ENCODING_ZCASH, shape.b_count);
    put_encoded(b.data + at.b_g2, rng, &c->g2, ENCODING_ZCASH, shape.b_count);
    prng_bytes(rng, b.data + at.file_bytes, trailing);
    return b;
}

struct blob sample_proof_bytes(struct prng *rng, size_t count)
{
    struct blob b = { .data = take(PROOF_BYTES * count), .size = PROOF_BYTES * count };
    for (size_t i = 0; i < count; i++) {
        struct proof_points proof;
        sample_proof(&proof, rng, &curve_bls12_381);
        proof_encode(b.data + PROOF_BYTES * i, &proof);
    }
    return b;
}

bool sample_section(const struct blob *b, uint32_t type, size_t *out_offset, size_t *out_size)
{
    for (size_t at = 12; at < b->size;) {
        size_t size = (size_t)load_le64(b->data + at + 4);
        if (load_le32(b->data + at) == type) {
            *out_offset = at + 12;
            *out_size = size;
            return true;
        }
        at += 12 + size;
    }
    return false;
}

void sample_section_append(struct blob *b, uint32_t type, const void *data, size_t size)
{
    uint8_t *grown = take(b->size + 12 + size);
    memcpy(grown, b->data, b->size);
    store_le32(grown + b->size, type);
    store_le64(grown + b->size + 4, size);
    if (size > 0) memcpy(grown + b->size + 12, data, size);
    store_le32(grown + 8, load_le32(grown + 8) + 1);
    free(b->data);
    b->data = grown;
    b->size += 12 + size;
}

void sample_section_set(struct blob *b, uint32_t type, const void *data, size_t size)
{
    size_t offset, old;
    if (!sample_section(b, type, &offset, &old)) abort();
    uint8_t *changed = take(b->size - old + size);
    memcpy(changed, b->data, offset);
    if (size > 0) memcpy(changed + offset, data, size);
    memcpy(changed + offset + size, b->data + offset + old, b->size - offset - old);
    store_le64(changed + offset - 8, size);
    free(b->data);
    b->data = changed;
    b->size = b->size - old + size;
}

void sample_section_cut(struct blob *b, uint32_t type, size_t keep)
{
    size_t offset, old;
    if (!sample_section(b, type, &offset, &old) || keep > old) abort();
    struct blob kept = blob_copy(b->data + offset, keep);
    sample_section_set(b, type, kept.data, kept.size);
    blob_free(&kept);
}

void sample_sections_reorder(struct blob *b, bool backwards)
{
    struct blob out = begin_file("xxxx", 0);
    memcpy(out.data, b->data, 8);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t type = backwards ? 63 - i : i;
        size_t offset, size;
        if (sample_section(b, type, &offset, &size))
            sample_section_append(&out, type, b->data + offset, size);
    }
    blob_free(b);
    *b = out;
}
