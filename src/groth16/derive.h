/* Making a derived key: H in Lagrange form on the coset, C folded into L.  docs/maths.md, "The derived key".
 *
 * With T the transform from values on the domain to values on its coset (snarkjs), or to coefficients (bellman, times 1 / (shift^n - 1)):
 *   Lc   what the values of A B on the coset are multiplied with: bellman T^t of the coset's transform; snarkjs the key's own H
 *   LD   T^t H, what C's values on the domain would be multiplied with
 *   L'_k = L_k - sum C_ik LD_i for the variables that are no inputs;   Delta-IC_k = - sum C_ik LD_i for the inputs
 * so that sum (A B)_i Lc_i + sum w_k L'_k + sum w_k Delta-IC_k is the old sum of H and L for every witness that satisfies. */
#ifndef CUZK_GROTH16_DERIVE_H
#define CUZK_GROTH16_DERIVE_H

#include "base/clock.h"
#include "groth16/key.h"

#define DERIVE_CHECKPOINT_MS 60000 /* writing one takes a card's transforms some ten seconds at 2^27 points */
#define DERIVE_NO_CHECKPOINT UINT64_MAX

/* NULL where a pointer to it is taken: checkpoints after DERIVE_CHECKPOINT_MS, nobody is told. */
struct groth16_derive_options {
    uint64_t
        checkpoint_ms; /* work since the last checkpoint that is worth one; 0: after every pass; DERIVE_NO_CHECKPOINT */
    void (*stage)(void *context, const char *stage, double ms); /* NULL, or told when a stage has ended, */
    void (*note)(void *context, const char *text); /* and what becomes of checkpoints: a sentence */
    void *context;
};
static inline void derive_stage(const struct groth16_derive_options *o, const char *stage, uint64_t *since_ns)
{
    const uint64_t now_ns = clock_now_ns();
    if (o != NULL && o->stage != NULL) o->stage(o->context, stage, (double)(now_ns - *since_ns) * 1e-6);
    *since_ns = now_ns;
}

struct derive_work; /* groth16/derive_work.h */

/* Affine points, Montgomery, packed. */
struct derived_points {
    uint8_t *l;  /* a point a variable: Delta-IC, then L' */
    uint8_t *lc; /* domain.size points; NULL: snarkjs */
    uint8_t *ld; /* domain.size points; only needed while the others are made and checked */
};

/** Makes the points.
 * In      key      original (h_mode), with its circuit
 *         work     NULL, or where transforms go on from and where their checkpoints go
 * Cost    two transforms over the domain's points (bellman three products of points by scalars a point more) on the device; derive_fold. */
cuzk_status groth16_derive_points(struct derived_points *out, struct task *t, const struct groth16_key *key,
                                  struct derive_work *work, const struct groth16_derive_options *options,
                                  const struct backend *backend, struct device *device) MUST_CHECK;

/** Whether they are what they should be, by random linear combinations with fresh weights from the operating system; a wrong point passes with
 * probability 1 / r.
 * Errors  CUZK_KEY_INVALID names the part.
 * Cost    seven multi-scalar multiplications of the key's size (snarkjs: five), one walk over the circuit.  Memory: 3 x 32 bytes an element of the
 *         larger of domain and variables, with matrices of the key's own 6 x. */
cuzk_status groth16_derive_check(struct task *t, const struct groth16_key *key,
                                 const struct derived_points *p, const struct groth16_derive_options *options,
                                 const struct backend *backend, struct device *device) MUST_CHECK;

uint64_t groth16_derive_check_bytes(const struct groth16_key *key); /* memory that it takes meanwhile */

/** Both, and the file: whole or not at all, mode 0600.  A transform that was interrupted goes on from its last checkpoint, in path and
 * DERIVE_WORK_SUFFIX, on whatever backend; the file goes when the derived key is there.
 * In      path  NULL: the key's name and DERIVED_SUFFIX
 * Errors  CUZK_INVALID_ARGUMENT: the circuit is not at hand (a zkey or parameters without an .r1cs), or the key is derived already;
 *         CUZK_MISMATCH: the .r1cs has other rows than the key; CUZK_KEY_INVALID: the check failed; CUZK_IO, CUZK_NO_MEMORY, CUZK_TOO_LARGE.
 *         A checkpoint that cannot be written or used is a note, never an error. */
cuzk_status groth16_derive(struct task *t, const struct groth16_key *key, const char *path,
                           const struct groth16_derive_options *options, const struct backend *backend,
                           struct device *device) MUST_CHECK;

#endif
