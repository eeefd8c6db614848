/* Derived proving keys (.derived): header, parts and digests. */
#include "formats/derived_file.h"
#include "base/bytes.h"
#include "formats/fail_at.h"
#include "formats/identify.h"

#define MAGIC       "cuzk-drv"
#define MAGIC_BYTES 8
#define MOST_LOG2   32
#define ADVICE_MAKE "Make it again: cuzk key derive."

/* Offsets in the header. */
enum {
    AT_VERSION = 8,
    AT_CURVE = 12,
    AT_CONVENTION = 16,
    AT_LOG2 = 20,
    AT_VARIABLES = 24,
    AT_INPUTS = 32,
    AT_KEY_BYTES = 40,
    AT_KEY_DIGEST = 48,
    AT_PART_DIGEST = AT_KEY_DIGEST + SHA256_BYTES,
    AT_HEADER_DIGEST = AT_PART_DIGEST + DERIVED_PARTS * SHA256_BYTES,
    HEADER_USED = AT_HEADER_DIGEST + SHA256_BYTES,
};
STATIC_ASSERT(HEADER_USED <= DERIVED_HEADER_BYTES, "the header fits its page");

const char *derived_part_name(enum derived_part part)
{
    static const char *const names[DERIVED_PARTS] = { "delta-ic", "l", "h" };
    return names[part];
}

void derived_layout_plan(struct derived_layout *out, const struct derived_shape *s)
{
    const uint64_t point = s->curve->g1.aff_bytes;

    out->count[DERIVED_IC] = s->input_count;
    out->count[DERIVED_L] = s->variable_count - s->input_count;
    out->count[DERIVED_H] = s->convention == ROOT_BELLMAN ? (uint64_t)1 << s->domain_log2 : 0;
    out->offset[DERIVED_IC] = DERIVED_HEADER_BYTES;
    out->offset[DERIVED_L] = out->offset[DERIVED_IC] + out->count[DERIVED_IC] * point;
    out->offset[DERIVED_H] = out->offset[DERIVED_L] + out->count[DERIVED_L] * point;
    out->file_bytes = out->offset[DERIVED_H] + out->count[DERIVED_H] * point;
}

static cuzk_status read_shape(struct derived_shape *s, struct task *t, const char *path, const uint8_t *head)
{
    const uint32_t version = load_le32(head + AT_VERSION), convention = load_le32(head + AT_CONVENTION);

    if (version != DERIVED_VERSION)
        return FAIL_AT(t, path, AT_VERSION, "version", ADVICE_MAKE, CUZK_UNSUPPORTED,
                       "a derived key of version %u; this cuzk reads version %d", version, DERIVED_VERSION);
    s->curve = curve_by_id((enum curve_id)load_le32(head + AT_CURVE));
    if (s->curve == NULL)
        return FAIL_AT(t, path, AT_CURVE, "curve", ADVICE_MAKE, CUZK_MALFORMED, "there is no curve %u",
                       load_le32(head + AT_CURVE));
    if (convention != ROOT_SNARKJS && convention != ROOT_BELLMAN)
        return FAIL_AT(t, path, AT_CONVENTION, "convention", ADVICE_MAKE, CUZK_MALFORMED,
                       "roots of unity come from 5 or 7, not %u", convention);
    s->convention = (enum root_convention)convention;
    s->domain_log2 = load_le32(head + AT_LOG2);
    s->variable_count = load_le64(head + AT_VARIABLES);
    s->input_count = load_le64(head + AT_INPUTS);
    if (s->domain_log2 > MOST_LOG2)
        return FAIL_AT(t, path, AT_LOG2, "domain", ADVICE_MAKE, CUZK_MALFORMED, "a domain of 2^%u points",
                       s->domain_log2);
    if (s->variable_count > UINT32_MAX || s->input_count == 0 || s->input_count > s->variable_count)
        return FAIL_AT(t, path, AT_VARIABLES, "counts", ADVICE_MAKE, CUZK_MALFORMED,
                       "%llu variables with %llu inputs among them", (unsigned long long)s->variable_count,
                       (unsigned long long)s->input_count);
    return CUZK_OK;
}

cuzk_status derived_file_parse(struct derived_file *out, struct task *t, const char *path, struct span file)
{
    uint8_t digest[SHA256_BYTES];

    if (file.size < MAGIC_BYTES || memcmp(file.data, MAGIC, MAGIC_BYTES) != 0)
        return identify_fail(t, path, file, FILE_DERIVED, "does not start with \"" MAGIC "\"");
    if (file.size < DERIVED_HEADER_BYTES)
        return FAIL_AT(t, path, file.size, "header", ADVICE_MAKE, CUZK_MALFORMED,
                       "the file ends inside its header, after %zu of %d bytes", file.size,
                       DERIVED_HEADER_BYTES);
    TRY(read_shape(&out->shape, t, path, file.data));
    sha256_of(digest, file.data, AT_HEADER_DIGEST);
    if (memcmp(digest, file.data + AT_HEADER_DIGEST, sizeof digest) != 0)
        return FAIL_AT(t, path, AT_HEADER_DIGEST, "header", ADVICE_MAKE, CUZK_MALFORMED,
                       "the header's digest does not fit: it was changed or damaged");
    for (size_t i = HEADER_USED; i < DERIVED_HEADER_BYTES; i++)
        if (file.data[i] != 0)
            return FAIL_AT(t, path, i, "header", ADVICE_MAKE, CUZK_MALFORMED,
                           "the unused end of the header is not zero");
    derived_layout_plan(&out->layout, &out->shape);
    if (file.size != out->layout.file_bytes)
        return FAIL_AT(t, path, file.size < out->layout.file_bytes ? file.size : out->layout.file_bytes, NULL,
                       ADVICE_MAKE, CUZK_MALFORMED, "the file has %zu bytes; its header speaks of %llu",
                       file.size, (unsigned long long)out->layout.file_bytes);
    out->key_bytes = load_le64(file.data + AT_KEY_BYTES);
    memcpy(out->key_digest, file.data + AT_KEY_DIGEST, SHA256_BYTES);
    memcpy(out->part_digest, file.data + AT_PART_DIGEST, sizeof out->part_digest);
    for (int p = 0; p < DERIVED_PARTS; p++)
        out->part[p] =
            span_of(file.data + out->layout.offset[p], out->layout.count[p] * out->shape.curve->g1.aff_bytes);
    return CUZK_OK;
}

cuzk_status derived_file_check(struct task *t, const char *path, const struct derived_file *d)
{
    uint8_t digest[SHA256_BYTES];

    for (enum derived_part p = 0; p < DERIVED_PARTS; p++) {
        TRY(task_poll(t));
        sha256_of(digest, d->part[p].data, d->part[p].size);
        if (memcmp(digest, d->part_digest[p], sizeof digest) != 0)
            return FAIL_AT(t, path, d->layout.offset[p], derived_part_name(p), ADVICE_MAKE, CUZK_MALFORMED,
                           "the derived key is damaged: the digest of its part %s does not fit", derived_part_name(p));
    }
    return CUZK_OK;
}

void derived_file_head(uint8_t *file, const struct derived_shape *s,
                       const uint8_t part_digest[DERIVED_PARTS][SHA256_BYTES],
                       const uint8_t key_digest[SHA256_BYTES], uint64_t key_bytes)
{
    memset(file, 0, DERIVED_HEADER_BYTES);
    memcpy(file, MAGIC, MAGIC_BYTES);
    store_le32(file + AT_VERSION, DERIVED_VERSION);
    store_le32(file + AT_CURVE, (uint32_t)s->curve->id);
    store_le32(file + AT_CONVENTION, (uint32_t)s->convention);
    store_le32(file + AT_LOG2, s->domain_log2);
    store_le64(file + AT_VARIABLES, s->variable_count);
    store_le64(file + AT_INPUTS, s->input_count);
    store_le64(file + AT_KEY_BYTES, key_bytes);
    memcpy(file + AT_KEY_DIGEST, key_digest, SHA256_BYTES);
    memcpy(file + AT_PART_DIGEST, part_digest, DERIVED_PARTS * SHA256_BYTES);
    sha256_of(file + AT_HEADER_DIGEST, file, AT_HEADER_DIGEST);
}

void derived_file_finish(uint8_t *file, const struct derived_shape *s, const uint8_t key_digest[SHA256_BYTES],
                         uint64_t key_bytes)
{
    uint8_t parts[DERIVED_PARTS][SHA256_BYTES];
    struct derived_layout layout;

    derived_layout_plan(&layout, s);
    for (int p = 0; p < DERIVED_PARTS; p++)
        sha256_of(parts[p], file + layout.offset[p], layout.count[p] * s->curve->g1.aff_bytes);
    derived_file_head(file, s, (const uint8_t(*)[SHA256_BYTES])parts, key_digest, key_bytes);
}
