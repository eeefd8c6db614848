/* The places of everything in a .zkey file that is to be written: for set-up, which fills points in where they belong. */
#ifndef CUZK_FORMATS_ZKEY_LAYOUT_H
#define CUZK_FORMATS_ZKEY_LAYOUT_H

#include "formats/zkey.h"

struct zkey_shape {
    const struct curve *curve;
    uint32_t n_vars, n_public;
    uint64_t domain_size; /* a power of two below 2^32 */
    uint64_t n_coefs;     /* below 2^32 */
};

/* Byte offsets in the file of the first element of each section's content. */
struct zkey_layout {
    uint64_t header_points;              /* alpha1, beta1, beta2, gamma2, delta1, delta2, packed */
    uint64_t ic, coefs, a, b1, b2, c, h; /* as in struct zkey; coefs: the first record */
    uint64_t circuit_hash;               /* the 64 bytes that begin section 10 */
    uint64_t file_bytes;
};

/** Section order 1, 2, 4, 3, 9, 8, 5, 6, 7, 10, as snarkjs's set-up writes.  Thread  any. */
void zkey_layout_plan(struct zkey_layout *out, const struct zkey_shape *s);
/** Writes all that is not points, coefficients or the circuit hash into file (layout->file_bytes bytes; section heads, header
 * values, an empty contribution list).  Other bytes are left as they are. */
void zkey_layout_write(uint8_t *file, const struct zkey_layout *layout, const struct zkey_shape *s);
/** One coefficient record as it stands in the file (the value is stored times R^2). */
void zkey_coef_write(uint8_t out[ZKEY_COEF_BYTES], const struct curve *c, const struct zkey_coef *coef);

#endif
