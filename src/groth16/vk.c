/* Making and checking verifying keys. */
#include "groth16/vk.h"
#include "pairing/pairing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cuzk_status groth16_vk_init(struct task *t, struct groth16_vk *out, const struct curve *curve,
                            const struct groth16_vk_points *points)
{
    const size_t g1_bytes = curve->g1.aff_bytes, g2_bytes = curve->g2.aff_bytes;

    memset(out, 0, sizeof *out);
    if (points->ic_count == 0)
        return FAIL(t, CUZK_KEY_INVALID,
                    "the verifying key has no IC points; even a circuit without public inputs has one");
    struct g_aff *ic = calloc(points->ic_count, sizeof *ic);
    if (ic == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for the %zu IC points of a verifying key",
                    points->ic_count);
    for (size_t i = 0; i < points->ic_count; i++)
        memcpy(&ic[i], (const uint8_t *)points->ic + i * points->ic_stride, g1_bytes);

    out->curve = curve;
    out->ic = ic;
    out->ic_count = points->ic_count;
    memcpy(&out->alpha1, points->alpha1, g1_bytes);
    memcpy(&out->beta2, points->beta2, g2_bytes);
    memcpy(&out->gamma2, points->gamma2, g2_bytes);
    memcpy(&out->delta2, points->delta2, g2_bytes);
    out->has_beta1 = points->beta1 != NULL;
    if (out->has_beta1) memcpy(&out->beta1, points->beta1, g1_bytes);
    out->has_delta1 = points->delta1 != NULL;
    if (out->has_delta1) memcpy(&out->delta1, points->delta1, g1_bytes);
    return CUZK_OK;
}

void groth16_vk_fini(struct groth16_vk *vk)
{
    free(vk->ic);
    memset(vk, 0, sizeof *vk);
}

static cuzk_status check_point(struct task *t, const struct group *g, const struct g_aff *p, const char *name,
                               bool may_be_inf)
{
    const enum point_check found = g->aff_check(p, true);
    cuzk_status status;

    if (found != POINT_OK)
        status = FAIL(t, CUZK_KEY_INVALID, "%s of the verifying key %s", name, point_check_text(found));
    else if (!may_be_inf && g->aff_is_inf(p))
        status = FAIL(t, CUZK_KEY_INVALID, "%s of the verifying key is the point at infinity", name);
    else
        return CUZK_OK;
    task_fail_place(t, NULL, ERROR_NO_OFFSET, name, NULL);
    return status;
}

/* e(beta1, delta2) = e(delta1, beta2): both sides hold the same beta and the same delta, whatever the generators were. */
static cuzk_status check_sides_agree(struct task *t, const struct groth16_vk *vk)
{
    const struct group *g = &vk->curve->g1;
    struct g_aff g1[2] = { vk->beta1, vk->delta1 };
    const struct g_aff g2[2] = { vk->delta2, vk->beta2 };
    struct g_jac neg;

    g->jac_from_aff(&neg, &vk->beta1);
    g->jac_neg(&neg, &neg);
    g->jac_to_aff(&g1[0], &neg);
    if (pairing_product_is_one(vk->curve, g1, g2, 2)) return CUZK_OK;
    return FAIL(t, CUZK_KEY_INVALID,
                "beta and delta of the verifying key are not the same multiples in G1 and in G2");
}

cuzk_status groth16_vk_check(struct task *t, const struct groth16_vk *vk)
{
    const struct group *g1 = &vk->curve->g1, *g2 = &vk->curve->g2;

    TRY(check_point(t, g1, &vk->alpha1, "alpha1", false));
    TRY(check_point(t, g2, &vk->beta2, "beta2", false));
    TRY(check_point(t, g2, &vk->gamma2, "gamma2", false));
    TRY(check_point(t, g2, &vk->delta2, "delta2", false));
    if (vk->has_beta1) TRY(check_point(t, g1, &vk->beta1, "beta1", false));
    if (vk->has_delta1) TRY(check_point(t, g1, &vk->delta1, "delta1", false));
    for (size_t i = 0; i < vk->ic_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "ic[%zu]", i);
        TRY(check_point(t, g1, &vk->ic[i], name, true)); /* an unused public input has infinity */
    }
    if (vk->has_beta1 && vk->has_delta1) TRY(check_sides_agree(t, vk));
    return CUZK_OK;
}
