/* proof.json, public.json and verification_key.json as snarkjs writes them; rapidsnark's layout is read too.
 *
 * Writers give snarkjs's bytes: one-space indentation, decimal strings, its key order, no newline at the end.  Readers take any
 * white space and key order, numbers as decimal or 0x strings or as plain integers; a number >= p or >= r is refused by name. */
#ifndef CUZK_FORMATS_SNARKJS_JSON_H
#define CUZK_FORMATS_SNARKJS_JSON_H

#include "formats/groth16_points.h"

#define SNARKJS_JSON_MOST_BYTES (16u << 20) /* larger texts are refused unread (200,000 public signals fit) */

struct json_text {
    char *data;  /* not zero-terminated within size; owned: json_text_fini */
    size_t size; /* bytes */
};
void json_text_fini(struct json_text *text); /* legal on a zeroed one */

/** Errors  CUZK_NO_MEMORY.  Thread  any. */
cuzk_status snarkjs_proof_write(struct task *t, struct json_text *out, const struct curve *c,
                                const struct proof_points *proof) MUST_CHECK;
cuzk_status snarkjs_public_write(struct task *t, struct json_text *out, const struct fr_int *values,
                                 uint64_t count) MUST_CHECK;
/** vk_alphabeta_12 is computed (one pairing). */
cuzk_status snarkjs_vk_write(struct task *t, struct json_text *out, const struct vk_points *vk) MUST_CHECK;

/** In      path: for messages.  expected: the verifying key's curve; NULL: the curve must stand in the text.
 * Out      points on the curve and in the subgroup; infinity is accepted where written in snarkjs's way.
 * Errors  CUZK_MALFORMED with line and column or the name of the value, CUZK_UNSUPPORTED (protocol or curve), CUZK_TOO_LARGE.
 * Thread  any.  Cost  parsing plus a subgroup check a point. */
cuzk_status snarkjs_proof_read(struct proof_points *out, struct task *t, const char *path, struct span text,
                               const struct curve *expected) MUST_CHECK;
/** c: whose scalar field the values must lie in; NULL: any below 2^256 - 1, for a caller that checks later. */
cuzk_status snarkjs_public_read(struct public_values *out, struct task *t, const char *path, struct span text,
                                const struct curve *c) MUST_CHECK;
/** The curve is taken from the text (absent: bn128, as old snarkjs wrote).  nPublic must agree with IC; vk_alphabeta_12 is not used. */
cuzk_status snarkjs_vk_read(struct vk_points *out, struct task *t, const char *path,
                            struct span text) MUST_CHECK;

#endif
