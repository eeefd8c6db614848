/* Verifying keys in bellman's layout (.vk of Filecoin and Zcash, and the head of .params): BLS12-381, big-endian points. */
#ifndef CUZK_FORMATS_FILVK_H
#define CUZK_FORMATS_FILVK_H

#include "formats/groth16_points.h"

struct filvk {
    const char *path; /* for messages; borrowed, like the spans */
    struct span file;
    const struct curve *curve; /* curve_bls12_381 */
    enum point_encoding
        encoding; /* ENCODING_ZCASH, or ENCODING_ZCASH_COMPRESSED: from the flag bits of the first point */
    struct g_aff alpha1, beta1, beta2, gamma2, delta1,
        delta2;        /* on the curve, in the subgroup, not infinity */
    uint32_t ic_count; /* public inputs + 1, at least 1 */
    struct span ic;    /* ic_count encoded G1 points, not checked here: filvk_ic, filvk_points */
    uint64_t bytes;    /* length of the key from the start of the file */
};

/** Reads a whole .vk file: bytes after the ic points are refused.
 * Errors  CUZK_MALFORMED with file, offset and field (truncated, empty, an HTML page, another kind of file); CUZK_KEY_INVALID:
 *         a point that is not one of the group.
 * Thread  any.  Cost  six subgroup checks. */
cuzk_status filvk_parse(struct filvk *out, struct task *t, const char *path, struct span file) MUST_CHECK;
/** Reads a key that stands at the start of a longer file (.params). */
cuzk_status filvk_parse_head(struct filvk *out, struct task *t, const char *path,
                             struct span file) MUST_CHECK;

/** Point index < ic_count, decoded and checked (subgroup included; infinity is refused).
 * Errors  CUZK_KEY_INVALID. */
cuzk_status filvk_ic(const struct filvk *vk, struct task *t, struct g_aff *out, uint32_t index) MUST_CHECK;
/** All of it in the form that verifiers take. */
cuzk_status filvk_points(struct vk_points *out, struct task *t, const struct filvk *vk) MUST_CHECK;

/** Bytes of an uncompressed key with that many ic points, and the key itself (beta1 and delta1 are not part of vk_points). */
static inline size_t filvk_file_bytes(uint64_t ic_count) { return 868 + 96 * ic_count; }
void filvk_write(uint8_t *out, const struct vk_points *vk, const struct g_aff *beta1,
                 const struct g_aff *delta1);

#endif
