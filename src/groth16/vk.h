/* A Groth16 verifying key: what a verifier knows of a circuit.
 *
 * Made by the set-up and by whoever read a key file; files themselves are the business of formats/, which hands over points. */
#ifndef CUZK_GROTH16_VK_H
#define CUZK_GROTH16_VK_H

#include "curve/curve.h"

struct groth16_vk {
    const struct curve *curve;
    struct g_aff alpha1; /* G1 */
    struct g_aff beta1;  /* G1; only if has_beta1 (a prover's key needs it, verification does not) */
    struct g_aff delta1; /* G1; only if has_delta1 */
    struct g_aff beta2, gamma2, delta2; /* G2 */
    bool has_beta1, has_delta1;
    size_t ic_count;  /* 1 + number of public inputs; at least 1 */
    struct g_aff *ic; /* G1, ic_count of them, owned; ic[0] belongs to the constant one */
};

/* Where the points of a verifying key lie: each aff_bytes of the curve, affine Montgomery words, at any alignment. */
struct groth16_vk_points {
    const void *alpha1, *beta2, *gamma2, *delta2;
    const void *beta1, *delta1; /* NULL: the source does not carry it */
    const void
        *ic; /* ic_count points, ic_stride bytes apart: sizeof(struct g_aff), or aff_bytes when packed */
    size_t ic_stride, ic_count;
};

/** Copies points into a key.
 * Out  out: to be given back with groth16_vk_fini; zeroed on failure.
 * Errors  CUZK_KEY_INVALID if ic_count is 0; CUZK_NO_MEMORY.  The points are not checked: see groth16_vk_check. */
cuzk_status groth16_vk_init(struct task *t, struct groth16_vk *out, const struct curve *curve,
                            const struct groth16_vk_points *points) MUST_CHECK;
void groth16_vk_fini(struct groth16_vk *vk); /* legal on a zeroed key and after groth16_vk_fini */

/** Checks a key that came from outside: every point canonical, on the curve and in the subgroup; alpha1, beta2, gamma2 and delta2
 * not infinity (with one of them at infinity proofs could be made without a witness); where beta1 and delta1 are both present, the
 * same beta and delta in G1 and in G2.
 * Errors  CUZK_KEY_INVALID names the point as field.  Cost  one subgroup check a point, a product of two pairings. */
cuzk_status groth16_vk_check(struct task *t, const struct groth16_vk *vk) MUST_CHECK;

/** Number of public inputs. */
static inline size_t groth16_vk_input_count(const struct groth16_vk *vk) { return vk->ic_count - 1; }

#endif
