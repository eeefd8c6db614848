/* The five multi-scalar multiplications of a proof as rows of a table. */
#ifndef CUZK_GROTH16_MSM_SET_H
#define CUZK_GROTH16_MSM_SET_H

#include "groth16/key.h"

enum msm_scalars { MSM_WITNESS, MSM_QUOTIENT };

struct msm_row {
    const char *name; /* "A" */
    enum group_id group;
    struct span points;
    uint64_t count;
    enum msm_scalars scalars;
    uint64_t first;         /* the scalar of point 0, where gather is NULL */
    const uint32_t *gather; /* NULL, or the scalar of each point */
};

/** The five rows of a key by its layout's convention, in the order of enum groth16_query.
 *   snarkjs   A, B1, B2 have a point a variable (many are infinity), H a point an element of the odd coset.
 *   derived   L has a point for each input too, H a point an element of the coset.
 *   bellman   A and B have points only for variables that occur (density), H a point a coefficient, one fewer than the domain. */
void msm_set_snarkjs(struct msm_row rows[QUERY_COUNT], const struct groth16_key *key);
void msm_set_bellman(struct msm_row rows[QUERY_COUNT], const struct groth16_key *key);
void msm_set_rows(struct msm_row rows[QUERY_COUNT], const struct groth16_key *key); /* one of the two */

#endif
