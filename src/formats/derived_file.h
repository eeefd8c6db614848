/* Derived proving keys (.derived): what a four-transform proof reads instead of a key's L and H.  docs/formats/derived-key.md.
 *
 * A cache that cuzk makes from a proving key and its circuit, never a key by itself: the header names the original by its SHA-256, and
 * every part carries its own. */
#ifndef CUZK_FORMATS_DERIVED_FILE_H
#define CUZK_FORMATS_DERIVED_FILE_H

#include "base/span.h"
#include "curve/curve.h"
#include "hash/sha256.h"

#define DERIVED_VERSION      1
#define DERIVED_HEADER_BYTES 4096

/* In the file in this order.  IC and L lie side by side: one point a variable. */
enum derived_part { DERIVED_IC, DERIVED_L, DERIVED_H, DERIVED_PARTS };

struct derived_shape {
    const struct curve *curve;
    enum root_convention convention;
    unsigned domain_log2;
    uint64_t variable_count, input_count; /* the constant included in both */
};

struct derived_layout {
    uint64_t offset[DERIVED_PARTS], count[DERIVED_PARTS]; /* bytes; points */
    uint64_t file_bytes;
};

struct derived_file {
    struct derived_shape shape;
    struct derived_layout layout;
    uint64_t key_bytes; /* of the original */
    uint8_t key_digest[SHA256_BYTES], part_digest[DERIVED_PARTS][SHA256_BYTES];
    struct span part[DERIVED_PARTS]; /* views: affine points, Montgomery, packed */
};

const char *derived_part_name(enum derived_part part); /* "delta-ic", "l", "h" */

/** Points of H: the domain's for bellman's convention; none for snarkjs's, whose keys have H in this form themselves. */
void derived_layout_plan(struct derived_layout *out, const struct derived_shape *shape);

/** Views the parts of a file.  The header and its digest are checked; the parts' digests are derived_file_check's.
 * Errors  CUZK_MALFORMED: not such a file, cut, longer than its header says, damaged; CUZK_UNSUPPORTED: another version.
 * Thread  any.  Cost  constant. */
cuzk_status derived_file_parse(struct derived_file *out, struct task *t, const char *path,
                               struct span file) MUST_CHECK;
/** The digest of each part.
 * Errors  CUZK_MALFORMED names the part.  Cost  one pass over the file. */
cuzk_status derived_file_check(struct task *t, const char *path, const struct derived_file *d) MUST_CHECK;
/** Writes the header into file.
 * In  part_digest  of each part;  key_digest, key_bytes  of the original */
void derived_file_head(uint8_t *file, const struct derived_shape *shape,
                       const uint8_t part_digest[DERIVED_PARTS][SHA256_BYTES],
                       const uint8_t key_digest[SHA256_BYTES], uint64_t key_bytes);
/** The same for a file whose parts stand where the layout says: their digests are taken here. */
void derived_file_finish(uint8_t *file, const struct derived_shape *shape,
                         const uint8_t key_digest[SHA256_BYTES], uint64_t key_bytes);

#endif
