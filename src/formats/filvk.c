/* Reads and writes verifying keys in bellman's layout. */
#include "formats/filvk.h"
#include "base/bytes.h"
#include "formats/binfile.h"
#include "formats/fail_at.h"
#include "formats/identify.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ADVICE_BAD_POINT "Do not use this key: it is damaged or forged.  Get it again and compare its digest."

static cuzk_status read_point(const struct filvk *vk, struct task *t, struct g_aff *out,
                              const struct group *g, uint64_t at, const char *name)
{
    size_t bytes = g->encoded_bytes(vk->encoding);
    if (!span_holds(vk->file, at, bytes))
        return FAIL_AT(t, vk->path, at, name, ADVICE_CUT, CUZK_MALFORMED,
                       "the file ends after %zu bytes, inside or before %s", vk->file.size, name);
    enum point_check check = g->decode(out, vk->file.data + at, vk->encoding, true);
    if (check != POINT_OK)
        return FAIL_AT(t, vk->path, at, name, ADVICE_BAD_POINT, CUZK_KEY_INVALID, "%s %s", name,
                       point_check_text(check));
    if (g->aff_is_inf(out->w))
        return FAIL_AT(t, vk->path, at, name, ADVICE_BAD_POINT, CUZK_KEY_INVALID,
                       "%s is the point at infinity", name);
    return CUZK_OK;
}

cuzk_status filvk_parse_head(struct filvk *out, struct task *t, const char *path, struct span file)
{
    memset(out, 0, sizeof *out);
    enum file_kind kind = identify(file);
    if (kind != FILE_UNKNOWN && kind != FILE_FIL_VK && kind != FILE_FIL_VK_COMPRESSED &&
        kind != FILE_FIL_PARAMS)
        return identify_fail(t, path, file, FILE_FIL_VK, "it is of another kind");
    out->path = path;
    out->file = file;
    out->curve = &curve_bls12_381;
    out->encoding = file.data[0] & 0x80 ? ENCODING_ZCASH_COMPRESSED : ENCODING_ZCASH;

    const struct {
        struct g_aff *point;
        const struct group *group;
        const char *name;
    } points[] = {
        { &out->alpha1, &out->curve->g1, "alpha_g1" }, { &out->beta1, &out->curve->g1, "beta_g1" },
        { &out->beta2, &out->curve->g2, "beta_g2" },   { &out->gamma2, &out->curve->g2, "gamma_g2" },
        { &out->delta1, &out->curve->g1, "delta_g1" }, { &out->delta2, &out->curve->g2, "delta_g2" },
    };
    uint64_t at = 0;
    for (size_t i = 0; i < ARRAY_COUNT(points); i++) {
        TRY(read_point(out, t, points[i].point, points[i].group, at, points[i].name));
        at += points[i].group->encoded_bytes(out->encoding);
    }
    if (!span_holds(file, at, 4))
        return FAIL_AT(t, path, at, "ic count", ADVICE_CUT, CUZK_MALFORMED,
                       "the file ends after %zu bytes, before the count of ic", file.size);
    out->ic_count = load_be32(file.data + at);
    uint64_t ic_bytes = out->ic_count * (uint64_t)out->curve->g1.encoded_bytes(out->encoding);
    if (out->ic_count == 0)
        return FAIL_AT(t, path, at, "ic count", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "the key has no ic point; there is always one");
    if (!span_holds(file, at + 4, ic_bytes))
        return FAIL_AT(t, path, at, "ic count", ADVICE_CUT, CUZK_MALFORMED,
                       "%" PRIu32 " ic points need %" PRIu64 " bytes, but only %" PRIu64
                       " are left in the file",
                       out->ic_count, ic_bytes, (uint64_t)file.size - at - 4);
    out->ic = span_of(file.data + at + 4, (size_t)ic_bytes);
    out->bytes = at + 4 + ic_bytes;
    return CUZK_OK;
}

cuzk_status filvk_parse(struct filvk *out, struct task *t, const char *path, struct span file)
{
    TRY(filvk_parse_head(out, t, path, file));
    if (out->bytes != file.size)
        return FAIL_AT(t, path, out->bytes, NULL,
                       "Perhaps this is a proving key (.params): its verifying key is the .vk beside it.",
                       CUZK_MALFORMED,
                       "%" PRIu64 " bytes follow the verifying key, which ends after %" PRIu64,
                       (uint64_t)file.size - out->bytes, out->bytes);
    return CUZK_OK;
}

cuzk_status filvk_ic(const struct filvk *vk, struct task *t, struct g_aff *out, uint32_t index)
{
    const struct group *g = &vk->curve->g1;
    char name[32];
    snprintf(name, sizeof name, "ic[%" PRIu32 "]", index);
    return read_point(
        vk, t, out, g,
        binfile_offset(vk->file, vk->ic.data) + index * (uint64_t)g->encoded_bytes(vk->encoding), name);
}

cuzk_status filvk_points(struct vk_points *out, struct task *t, const struct filvk *vk)
{
    cuzk_status status = CUZK_OK;
    memset(out, 0, sizeof *out);
    out->curve = vk->curve;
    out->alpha1 = vk->alpha1;
    out->beta2 = vk->beta2;
    out->gamma2 = vk->gamma2;
    out->delta2 = vk->delta2;
    out->ic = calloc(vk->ic_count, sizeof *out->ic);
    if (out->ic == NULL)
        return FAIL_AT(t, vk->path, ERROR_NO_OFFSET, NULL, NULL, CUZK_NO_MEMORY,
                       "no memory for %" PRIu32 " points", vk->ic_count);
    out->ic_count = vk->ic_count;
    for (uint32_t i = 0; i < vk->ic_count; i++) TRY_GOTO(out, filvk_ic(vk, t, &out->ic[i], i));
out:
    if (status != CUZK_OK) vk_points_fini(out);
    return status;
}

void filvk_write(uint8_t *out, const struct vk_points *vk, const struct g_aff *beta1,
                 const struct g_aff *delta1)
{
    const struct group *g1 = &vk->curve->g1, *g2 = &vk->curve->g2;
    g1->encode(out, &vk->alpha1, ENCODING_ZCASH);
    g1->encode(out + 96, beta1, ENCODING_ZCASH);
    g2->encode(out + 192, &vk->beta2, ENCODING_ZCASH);
    g2->encode(out + 384, &vk->gamma2, ENCODING_ZCASH);
    g1->encode(out + 576, delta1, ENCODING_ZCASH);
    g2->encode(out + 672, &vk->delta2, ENCODING_ZCASH);
    store_be32(out + 864, (uint32_t)vk->ic_count);
    for (uint64_t i = 0; i < vk->ic_count; i++) g1->encode(out + 868 + 96 * i, &vk->ic[i], ENCODING_ZCASH);
}
