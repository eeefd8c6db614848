/* Reads proving keys in bellman's layout, and lays them out. */
#include "formats/filparams.h"
#include "base/bytes.h"
#include "formats/binfile.h"
#include "formats/fail_at.h"
#include <inttypes.h>
#include <stdio.h>

/* The vector that begins at *at: a count and its points. */
static cuzk_status read_vector(const struct filparams *p, struct task *t, struct span *out,
                               uint32_t *out_count, uint64_t *at, const struct group *g, const char *name)
{
    if (!span_holds(p->file, *at, 4))
        return FAIL_AT(t, p->path, *at, name, ADVICE_CUT, CUZK_MALFORMED,
                       "the file ends after %zu bytes, before the count of %s", p->file.size, name);
    uint32_t count = load_be32(p->file.data + *at);
    uint64_t bytes = count * (uint64_t)g->encoded_bytes(ENCODING_ZCASH);
    if (!span_holds(p->file, *at + 4, bytes))
        return FAIL_AT(t, p->path, *at, name, ADVICE_CUT, CUZK_MALFORMED,
                       "%s should have %" PRIu32 " points, %" PRIu64 " bytes, but only %" PRIu64
                       " are left in the file",
                       name, count, bytes, (uint64_t)p->file.size - *at - 4);
    *out = span_of(p->file.data + *at + 4, (size_t)bytes);
    *out_count = count;
    *at += 4 + bytes;
    return CUZK_OK;
}

static uint64_t count_offset(const struct filparams *p, struct span vector)
{
    return binfile_offset(p->file, vector.data) - 4;
}

/* What any key of this layout obeys, whatever the circuit. */
static cuzk_status check_counts(const struct filparams *p, struct task *t)
{
    const uint64_t inputs = p->vk.ic_count, variables = inputs + p->l_count;
    if (((uint64_t)p->h_count & ((uint64_t)p->h_count + 1)) != 0)
        return FAIL_AT(t, p->path, count_offset(p, p->h), "h", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "h has %" PRIu32 " points, which is not one less than a power of two", p->h_count);
    if (p->a_count < inputs || p->a_count > variables)
        return FAIL_AT(t, p->path, count_offset(p, p->a), "a", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "a has %" PRIu32 " points; with %" PRIu64 " inputs and %" PRIu64
                       " variables it needs at least the one, at "
                       "most the other",
                       p->a_count, inputs, variables);
    if (p->b_g1_count != p->b_g2_count)
        return FAIL_AT(t, p->path, count_offset(p, p->b_g2), "b_g2", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "b_g1 has %" PRIu32 " points, but b_g2 %" PRIu32, p->b_g1_count, p->b_g2_count);
    if (p->b_g1_count > variables)
        return FAIL_AT(t, p->path, count_offset(p, p->b_g1), "b_g1", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "b_g1 has %" PRIu32 " points, but there are only %" PRIu64 " variables", p->b_g1_count,
                       variables);
    return CUZK_OK;
}

cuzk_status filparams_parse(struct filparams *out, struct task *t, const char *path, struct span file)
{
    memset(out, 0, sizeof *out);
    out->path = path;
    out->file = file;
    TRY(filvk_parse_head(&out->vk, t, path, file));
    if (out->vk.encoding != ENCODING_ZCASH)
        return FAIL_AT(t, path, 0, NULL, "Use the .params file as it was published.", CUZK_UNSUPPORTED,
                       "this begins with compressed points, as verifying keys (.vk) may; proving keys have "
                       "uncompressed ones");
    const struct group *g1 = &out->vk.curve->g1, *g2 = &out->vk.curve->g2;
    uint64_t at = out->vk.bytes;
    TRY(read_vector(out, t, &out->h, &out->h_count, &at, g1, "h"));
    TRY(read_vector(out, t, &out->l, &out->l_count, &at, g1, "l"));
    TRY(read_vector(out, t, &out->a, &out->a_count, &at, g1, "a"));
    TRY(read_vector(out, t, &out->b_g1, &out->b_g1_count, &at, g1, "b_g1"));
    TRY(read_vector(out, t, &out->b_g2, &out->b_g2_count, &at, g2, "b_g2"));
    out->trailing_bytes = (uint64_t)file.size - at;
    return check_counts(out, t);
}

cuzk_status filparams_point(const struct filparams *p, struct task *t, struct g_aff *out,
                            const struct span *vector, enum group_id group, const char *section,
                            uint64_t index, bool subgroup)
{
    const struct group *g = p->vk.curve->group[group];
    const uint8_t *bytes = vector->data + index * g->encoded_bytes(ENCODING_ZCASH);
    enum point_check check = g->decode(out, bytes, ENCODING_ZCASH, subgroup);
    bool infinite = check == POINT_OK && g->aff_is_inf(out->w);
    if (check == POINT_OK && !infinite) return CUZK_OK;
    return FAIL_AT(t, p->path, binfile_offset(p->file, bytes), section,
                   "Do not use this key: it is damaged or forged.  Get it again and compare its digest.",
                   CUZK_KEY_INVALID, "point %" PRIu64 " of %s %s", index, section,
                   infinite ? "is the point at infinity" : point_check_text(check));
}

void filparams_layout_plan(struct filparams_layout *out, const struct filparams_shape *s)
{
    out->h = filvk_file_bytes(s->ic_count) + 4;
    out->l = out->h + 96 * (uint64_t)s->h_count + 4;
    out->a = out->l + 96 * (uint64_t)s->l_count + 4;
    out->b_g1 = out->a + 96 * (uint64_t)s->a_count + 4;
    out->b_g2 = out->b_g1 + 96 * (uint64_t)s->b_count + 4;
    out->file_bytes = out->b_g2 + 192 * (uint64_t)s->b_count;
}

void filparams_layout_write(uint8_t *file, const struct filparams_layout *layout,
                            const struct filparams_shape *s)
{
    store_be32(file + layout->h - 4, s->h_count);
    store_be32(file + layout->l - 4, s->l_count);
    store_be32(file + layout->a - 4, s->a_count);
    store_be32(file + layout->b_g1 - 4, s->b_count);
    store_be32(file + layout->b_g2 - 4, s->b_count);
}
