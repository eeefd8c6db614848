/* Proofs as bytes: 192 a proof, A, B, C compressed, one after another (Filecoin, Zcash; BLS12-381). */
#ifndef CUZK_FORMATS_PROOF_CODEC_H
#define CUZK_FORMATS_PROOF_CODEC_H

#include "formats/groth16_points.h"

#define PROOF_BYTES 192 /* A 48, B 96, C 48 */

void proof_encode(uint8_t out[PROOF_BYTES], const struct proof_points *proof);

/** Decodes all proofs of bytes into out.
 * In      path: for messages (NULL: none).  count: how many are expected; bytes.size must be count * PROOF_BYTES.
 * Out     points on the curve, in the subgroup, not infinity.
 * Errors  CUZK_MALFORMED names the partition, the point (A, B, C), its offset and what is wrong.  Thread  any. */
cuzk_status proof_decode(struct proof_points *out, struct task *t, const char *path, struct span bytes,
                         size_t count) MUST_CHECK;

#endif
