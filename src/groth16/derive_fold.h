/* C into L: what the coefficients of the circuit's matrix C take from each point of L. */
#ifndef CUZK_GROTH16_DERIVE_FOLD_H
#define CUZK_GROTH16_DERIVE_FOLD_H

#include "groth16/derive.h"

/** l_k -= sum over rows i of C_ik LD_i, for every variable.
 * In      ld  domain.size affine points, Montgomery, packed
 * In-out  l   a point a variable
 * Cost    two walks over the circuit, its pieces (constraints.h) on t->pool; an addition a coefficient; a doubling and a share of an inversion for each that
 *         is neither 1 nor -1, where a row's are powers of two.  Memory: 8 bytes a variable, 4 a coefficient, a point for each that is neither. */
cuzk_status derive_fold(struct task *t, const struct groth16_key *key, const struct constraints *circuit,
                        const uint8_t *ld, uint8_t *l,
                        const struct groth16_derive_options *options) MUST_CHECK;

/** Walks a circuit on t->pool, by pieces where it has them, else in one.
 * In  body  walks a piece: derive_walk_piece, with a sink of its own;  what  for task_progress */
typedef cuzk_status derive_walk_body(void *context, struct task *t, const struct constraints *circuit,
                                     uint32_t piece);
cuzk_status derive_walk(struct task *t, const char *what, const struct constraints *circuit,
                        derive_walk_body *body, void *context) MUST_CHECK;
static inline uint32_t derive_pieces(const struct constraints *circuit)
{
    return circuit->walk_piece != NULL ? circuit->piece_count : 1;
}
/** One piece's walk; own of the only piece: everything. */
cuzk_status derive_walk_piece(struct task *t, const struct constraints *circuit, uint32_t piece,
                              struct constraint_own *own, constraint_sink *sink,
                              void *sink_context) MUST_CHECK;

#endif
