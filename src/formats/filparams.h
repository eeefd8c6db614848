/* Proving keys in bellman's layout (.params of Filecoin and Zcash): the verifying key and five vectors of points as views. */
#ifndef CUZK_FORMATS_FILPARAMS_H
#define CUZK_FORMATS_FILPARAMS_H

#include "formats/filvk.h"

struct filparams {
    const char *path; /* for messages; borrowed, like the spans */
    struct span file;
    struct filvk vk; /* vk.ic_count = public inputs + 1 */
    /* Uncompressed points in ENCODING_ZCASH, tightly packed, not checked here (filparams_point). */
    struct span h, l, a, b_g1, b_g2; /* b_g2: G2, the others G1 */
    uint32_t h_count, l_count, a_count, b_g1_count, b_g2_count;
    uint64_t trailing_bytes; /* after b_g2: ceremony transcripts; not read */
};

/** Errors  CUZK_MALFORMED with file, offset and field: truncated, a count beyond the file, counts that contradict each other (b_g1 and b_g2
 *         differ, a shorter than ic, more points than variables, h not 2^k - 1); as filvk_parse_head.
 * Thread  any.  Cost  six subgroup checks. */
cuzk_status filparams_parse(struct filparams *out, struct task *t, const char *path,
                            struct span file) MUST_CHECK;

/** Decodes point index of one of p's vectors (section names it in messages) and checks it: canonical, flags, on the curve, not
 * infinity, and in the subgroup if asked.  index must be below the vector's count.
 * Errors  CUZK_KEY_INVALID with section, index and offset.  Thread  any. */
cuzk_status filparams_point(const struct filparams *p, struct task *t, struct g_aff *out,
                            const struct span *vector, enum group_id group, const char *section,
                            uint64_t index, bool subgroup) MUST_CHECK;

/* The places of everything in a .params file that is to be written: byte offsets of the first point of each vector. */
struct filparams_shape {
    uint64_t ic_count;
    uint32_t h_count, l_count, a_count, b_count;
};
struct filparams_layout {
    uint64_t h, l, a, b_g1, b_g2, file_bytes;
};
void filparams_layout_plan(struct filparams_layout *out, const struct filparams_shape *s);
/** Writes the five counts; the key's head is filvk_write's, points are written in ENCODING_ZCASH. */
void filparams_layout_write(uint8_t *file, const struct filparams_layout *layout,
                            const struct filparams_shape *s);

#endif
