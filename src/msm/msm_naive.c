/* The definition of a multi-scalar multiplication: the tests' oracle. */
#include "msm/msm_naive.h"

#include <string.h>

void msm_naive(const struct group *g, struct g_jac *out, const uint8_t *points, const uint8_t *scalars,
               const uint32_t *gather, uint64_t count)
{
    g->jac_set_inf(out);
    for (uint64_t i = 0; i < count; i++) {
        struct fr_int k;
        struct g_jac p;
        memcpy(k.w, scalars + 32 * (gather ? gather[i] : i), 32);
        g->jac_from_aff(&p, points + g->aff_bytes * i);
        g->jac_mul(&p, &p, &k);
        g->jac_add(out, out, &p);
    }
}
