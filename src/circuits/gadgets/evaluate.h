/* A.w and B.w of a circuit image from a witness whose bits are bits, and the check that every row holds. */
#ifndef CUZK_CIRCUITS_GADGETS_EVALUATE_H
#define CUZK_CIRCUITS_GADGETS_EVALUATE_H

#include "circuits/gadgets/assign.h"

/** a[i] = <A_i, w>, b[i] = <B_i, w> for every row, trailing rows included; Montgomery form.  Parts run in parallel on the task's pool.
 * In      a, b  row_count elements each (image_circuit(m)->row_count); what lies behind is left alone
 * Errors  CUZK_CANCELLED, CUZK_NO_MEMORY
 * Cost    64 bytes written a row. */
cuzk_status image_evaluate(const struct circuit_image *m, struct task *t, bls12_381_fr_t *a,
                           bls12_381_fr_t *b, const struct assignment *w,
                           const struct aux_map *map) MUST_CHECK;

/** The same without output: CUZK_UNSATISFIED names the first row of the lowest part that does not hold. */
cuzk_status image_check(const struct circuit_image *m, struct task *t, const struct assignment *w,
                        const struct aux_map *map) MUST_CHECK;

#endif
