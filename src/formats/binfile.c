/* Walks the section table of .r1cs, .wtns, .zkey and .ptau files. */
#include "formats/binfile.h"
#include "base/bytes.h"
#include "formats/fail_at.h"
#include "formats/identify.h"
#include <inttypes.h>
#include <stdio.h>

#define HEAD_BYTES 12 /* of the file, and of a section */

static enum file_kind kind_wanted(const char *kind)
{
    switch (kind[0]) {
    case 'r':
        return FILE_R1CS;
    case 'w':
        return FILE_WTNS;
    case 'z':
        return FILE_ZKEY_GROTH16;
    default:
        return FILE_PTAU;
    }
}

static cuzk_status parse_head(struct binfile *out, struct task *t, uint32_t most_version)
{
    struct span file = out->file;
    if (file.size < 4 || memcmp(file.data, out->kind, 4) != 0) {
        char reason[64];
        snprintf(reason, sizeof reason, "it does not start with the letters \"%s\"", out->kind);
        return identify_fail(t, out->path, file, kind_wanted(out->kind), reason);
    }
    if (file.size < HEAD_BYTES)
        return FAIL_AT(t, out->path, file.size, "header", ADVICE_CUT, CUZK_MALFORMED,
                       "the file ends after %zu bytes, inside its header of %d", file.size, HEAD_BYTES);
    out->version = load_le32(file.data + 4);
    out->section_count = load_le32(file.data + 8);
    if (out->version < 1 || out->version > most_version)
        return FAIL_AT(t, out->path, 4, "version", "Make the file with a tool that writes the version named.",
                       CUZK_UNSUPPORTED,
                       "version %" PRIu32 " of the %s format is not known (newest known: %" PRIu32 ")",
                       out->version, out->kind, most_version);
    return CUZK_OK;
}

cuzk_status binfile_parse(struct binfile *out, struct task *t, const char *path, struct span file,
                          const char *kind, uint32_t most_version)
{
    memset(out, 0, sizeof *out);
    out->path = path;
    out->file = file;
    memcpy(out->kind, kind, 4);
    TRY(parse_head(out, t, most_version));

    uint64_t at = HEAD_BYTES;
    for (uint32_t i = 0; i < out->section_count; i++) {
        if (!span_holds(file, at, HEAD_BYTES))
            return FAIL_AT(t, path, at, "section table", ADVICE_CUT, CUZK_MALFORMED,
                           "the file ends where section %" PRIu32 " of %" PRIu32 " should begin", i + 1,
                           out->section_count);
        uint32_t type = load_le32(file.data + at);
        uint64_t size = load_le64(file.data + at + 4);
        uint64_t data = at + HEAD_BYTES;
        if (!span_holds(file, data, size))
            return FAIL_AT(t, path, at + 4, "section length", ADVICE_CUT, CUZK_MALFORMED,
                           "section %" PRIu32 " should be %" PRIu64 " bytes long, but only %" PRIu64
                           " are left in the file",
                           type, size, (uint64_t)file.size - data);
        if (type < BINFILE_TYPES) {
            if (out->section[type].data != NULL)
                return FAIL_AT(t, path, at, "section type", ADVICE_DAMAGED, CUZK_MALFORMED,
                               "section %" PRIu32 " occurs twice, with contents at bytes %" PRIu64
                               " and %" PRIu64 "; which of them counts is not defined",
                               type, binfile_offset(file, out->section[type].data), data);
            out->section[type] = span_of(file.data + data, (size_t)size);
        }
        at = data + size;
    }
    if (at != file.size)
        return FAIL_AT(t, path, at, "section table", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "%" PRIu64 " bytes follow the last of %" PRIu32 " sections", (uint64_t)file.size - at,
                       out->section_count);
    return CUZK_OK;
}

cuzk_status binfile_section(const struct binfile *b, struct task *t, struct span *out, unsigned type,
                            const char *name)
{
    if (b->section[type].data == NULL)
        return FAIL_AT(t, b->path, ERROR_NO_OFFSET, name, ADVICE_DAMAGED, CUZK_MALFORMED,
                       "section %u (%s) is missing from the %s file", type, name, b->kind);
    *out = b->section[type];
    return CUZK_OK;
}

cuzk_status binfile_exact(const struct binfile *b, struct task *t, struct span *out, unsigned type,
                          const char *name, uint64_t count, uint64_t item_bytes)
{
    TRY(binfile_section(b, t, out, type, name));
    if (out->size != count * item_bytes)
        return FAIL_AT(
            t, b->path, binfile_offset(b->file, out->data) - 8, name, ADVICE_DAMAGED, CUZK_MALFORMED,
            "section %u (%s) has %zu bytes, but the header asks for %" PRIu64 " (%" PRIu64 " x %" PRIu64 ")",
            type, name, out->size, count * item_bytes, count, item_bytes);
    return CUZK_OK;
}
