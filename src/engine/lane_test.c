/* The self-test of a lane. */
#include "engine/lane_test.h"
#include "base/rng.h"
#include <string.h>

#define POINTS   64
#define NTT_LOG2 6
#define NTT_SIZE (1u << NTT_LOG2)

static cuzk_status draw(struct task *t, struct fr *out, const struct curve *c)
{
    uint8_t wide[64];

    TRY(rng_bytes(t, wide, sizeof wide));
    c->fr.from_wide(out, wide);
    return CUZK_OK;
}

/* Points k_i G and scalars s_i: the sum has to be (sum k_i s_i) G. */
static cuzk_status msm_case(struct task *t, uint8_t *points, struct fr_int *scalars, struct g_jac *expected,
                            const struct curve *c, const struct group *g)
{
    struct fr sum, k, s, product;
    struct g_jac generator, multiple;
    struct g_aff affine;
    struct fr_int plain;

    c->fr.from_u64(&sum, 0);
    g->jac_from_aff(&generator, &g->generator);
    for (int i = 0; i < POINTS; i++) {
        TRY(draw(t, &k, c));
        TRY(draw(t, &s, c));
        c->fr.mul(&product, &k, &s);
        c->fr.add(&sum, &sum, &product);
        c->fr.to_int(&scalars[i], &s);
        c->fr.to_int(&plain, &k);
        g->jac_mul(&multiple, &generator, &plain);
        g->jac_to_aff(&affine, &multiple);
        memcpy(points + (size_t)i * g->aff_bytes, &affine, g->aff_bytes);
    }
    c->fr.to_int(&plain, &sum);
    g->jac_mul(expected, &generator, &plain);
    return CUZK_OK;
}

static cuzk_status msm_test(struct task *t, const struct place *p, struct stream *stream,
                            const struct curve *c, const struct group *g)
{
    uint8_t points[POINTS * sizeof(struct g_aff)];
    struct fr_int scalars[POINTS];
    struct buffer b_points = { 0 }, b_scalars = { 0 }, workspace = { 0 };
    struct g_jac expected, got;
    struct msm_plan plan;
    cuzk_status status;

    TRY_GOTO(out, msm_case(t, points, scalars, &expected, c, g));
    TRY_GOTO(out, p->backend->msm_plan(&plan, t, p->device, c, g->id, POINTS));
    TRY_GOTO(out, p->backend->buffer_take(&b_points, t, p->device, MEM_DEVICE, POINTS * g->aff_bytes, 0));
    TRY_GOTO(out, p->backend->buffer_take(&b_scalars, t, p->device, MEM_DEVICE, sizeof scalars, 0));
    TRY_GOTO(out, p->backend->buffer_take(&workspace, t, p->device, MEM_DEVICE, plan.workspace_bytes, 0));
    TRY_GOTO(out, p->backend->upload(stream, t, &b_points, 0, points, POINTS * g->aff_bytes));
    TRY_GOTO(out, p->backend->upload(stream, t, &b_scalars, 0, scalars, sizeof scalars));
    TRY_GOTO(out, p->backend->msm(stream, t, &plan, &got, &b_points, 0, &b_scalars, 0, NULL, &workspace));
    TRY_GOTO(out, p->backend->stream_sync(stream, t));
    if (!g->jac_eq(&got, &expected))
        status = FAIL(t, CUZK_DEVICE_LOST, "self-test: a sum in %s of %s is wrong", g->name, c->name);
out:
    if (status != CUZK_OK) backend_settle(p->backend, stream);
    p->backend->buffer_give(&workspace);
    p->backend->buffer_give(&b_scalars);
    p->backend->buffer_give(&b_points);
    return status;
}

static cuzk_status ntt_test(struct task *t, const struct place *p, struct stream *stream,
                            const struct curve *c, enum root_convention r)
{
    struct fr in[NTT_SIZE], got[NTT_SIZE], expected[NTT_SIZE];
    struct buffer data = { 0 };
    struct domain d;
    cuzk_status status;

    TRY_GOTO(out, domain_init(&d, t, c, r, NTT_LOG2));
    for (unsigned i = 0; i < NTT_SIZE; i++) TRY_GOTO(out, draw(t, &in[i], c));
    domain_dft_naive(&d, expected, in, true);
    TRY_GOTO(out, p->backend->buffer_take(&data, t, p->device, MEM_DEVICE, sizeof in, 0));
    TRY_GOTO(out, p->backend->upload(stream, t, &data, 0, in, sizeof in));
    TRY_GOTO(out, p->backend->ntt(stream, t, &d, &data, false, true));
    TRY_GOTO(out, p->backend->download(stream, t, got, &data, 0, sizeof got));
    TRY_GOTO(out, p->backend->stream_sync(stream, t));
    if (memcmp(got, expected, sizeof got) != 0)
        status = FAIL(t, CUZK_DEVICE_LOST, "self-test: a transform over %s is wrong", c->name);
out:
    if (status != CUZK_OK) backend_settle(p->backend, stream);
    p->backend->buffer_give(&data);
    return status;
}

cuzk_status lane_test(struct task *t, const struct place *place)
{
    static const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };
    struct stream *stream = NULL;
    cuzk_status status;

    TRY(place->backend->stream_open(&stream, t, place->device));
    for (size_t i = 0; i < ARRAY_COUNT(curves); i++) {
        TRY_GOTO(out, msm_test(t, place, stream, curves[i], &curves[i]->g1));
        TRY_GOTO(out, msm_test(t, place, stream, curves[i], &curves[i]->g2));
        TRY_GOTO(out, ntt_test(t, place, stream, curves[i], ROOT_SNARKJS));
    }
    TRY_GOTO(out, ntt_test(t, place, stream, &curve_bls12_381, ROOT_BELLMAN));
out:
    place->backend->stream_close(stream);
    return status;
}
