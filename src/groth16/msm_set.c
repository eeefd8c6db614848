/* The five multi-scalar multiplications of a proof as rows of a table. */
#include "groth16/msm_set.h"

static struct msm_row row(const struct groth16_key *key, enum groth16_query q, const char *name,
                          enum group_id group, enum msm_scalars scalars, uint64_t first,
                          const uint32_t *gather)
{
    struct msm_row r;
    r.name = name;
    r.group = group;
    r.points = key->point[q];
    r.count = key->point_count[q];
    r.scalars = scalars;
    r.first = first;
    r.gather = gather;
    return r;
}

/* The variable of L's first point: in a derived key the inputs have points too. */
static uint64_t first_of_l(const struct groth16_key *key)
{
    return key->h_mode == H_LAGRANGE_4 ? 0 : key->public_count + 1;
}

void msm_set_snarkjs(struct msm_row rows[QUERY_COUNT], const struct groth16_key *key)
{
    rows[QUERY_A] = row(key, QUERY_A, "A", GROUP_G1, MSM_WITNESS, 0, NULL);
    rows[QUERY_B1] = row(key, QUERY_B1, "B1", GROUP_G1, MSM_WITNESS, 0, NULL);
    rows[QUERY_B2] = row(key, QUERY_B2, "B2", GROUP_G2, MSM_WITNESS, 0, NULL);
    rows[QUERY_L] = row(key, QUERY_L, "L", GROUP_G1, MSM_WITNESS, first_of_l(key), NULL);
    rows[QUERY_H] = row(key, QUERY_H, "H", GROUP_G1, MSM_QUOTIENT, 0, NULL);
}

void msm_set_bellman(struct msm_row rows[QUERY_COUNT], const struct groth16_key *key)
{
    rows[QUERY_A] = row(key, QUERY_A, "A", GROUP_G1, MSM_WITNESS, 0, key->density_a);
    rows[QUERY_B1] = row(key, QUERY_B1, "B1", GROUP_G1, MSM_WITNESS, 0, key->density_b);
    rows[QUERY_B2] = row(key, QUERY_B2, "B2", GROUP_G2, MSM_WITNESS, 0, key->density_b);
    rows[QUERY_L] = row(key, QUERY_L, "L", GROUP_G1, MSM_WITNESS, first_of_l(key), NULL);
    rows[QUERY_H] = row(key, QUERY_H, "H", GROUP_G1, MSM_QUOTIENT, 0, NULL);
}

void msm_set_rows(struct msm_row rows[QUERY_COUNT], const struct groth16_key *key)
{
    if (key->layout == GROTH16_ZKEY)
        msm_set_snarkjs(rows, key);
    else
        msm_set_bellman(rows, key);
}
