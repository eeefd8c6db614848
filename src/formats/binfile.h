/* The container of .r1cs, .wtns, .zkey and .ptau files: a magic, a version, and sections in any order.
 *
 * Views only: nothing is copied or allocated, every length is checked against the file, unknown sections are skipped. */
#ifndef CUZK_FORMATS_BINFILE_H
#define CUZK_FORMATS_BINFILE_H

#include "base/span.h"
#include "base/task.h"

#define BINFILE_TYPES 16 /* section types below this are remembered; the formats use 1..15 */

struct binfile {
    const char *path; /* for messages; borrowed */
    struct span file; /* borrowed */
    char kind[5];     /* "zkey" */
    uint32_t version;
    uint32_t section_count;
    struct span section[BINFILE_TYPES]; /* data NULL: absent */
};

/** Walks the section table.
 * In      path: for messages.  kind: the four letters that the file must start with.  most_version: the newest version understood.
 * Errors  CUZK_MALFORMED (another kind of file is named as what it is; truncated; a length beyond the end; a repeated section,
 *         with both offsets; bytes after the last section), CUZK_UNSUPPORTED (newer version).
 * Thread  any.  Cost  one step a section. */
cuzk_status binfile_parse(struct binfile *out, struct task *t, const char *path, struct span file,
                          const char *kind, uint32_t most_version) MUST_CHECK;

/** The section of that type; CUZK_MALFORMED names it if it is absent. */
cuzk_status binfile_section(const struct binfile *b, struct task *t, struct span *out, unsigned type,
                            const char *name) MUST_CHECK;

/** As binfile_section, for a section that must hold exactly count items of item_bytes (a product below 2^64). */
cuzk_status binfile_exact(const struct binfile *b, struct task *t, struct span *out, unsigned type,
                          const char *name, uint64_t count, uint64_t item_bytes) MUST_CHECK;

/** The byte offset in the file of something inside one of its spans. */
static inline uint64_t binfile_offset(struct span file, const uint8_t *p)
{
    return (uint64_t)(p - file.data);
}

#endif
