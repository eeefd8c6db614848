/* Transforms over points on CUDA: the powers of the root for a piece of a pass, then its butterflies. */
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/group_ntt_kernels.h"

#include <string.h>

#define PIECE    ((uint64_t)1 << 20) /* powers at once: 40 MiB of workspace, and 8,192 blocks of butterflies */
#define MOST_LOG2 32

struct layout {
    size_t squares, first, scalars, bytes;
};

static size_t round_up(size_t bytes) { return (bytes + 255) & ~(size_t)255; }

static struct layout layout_of(const struct group_ntt_plan *p)
{
    struct layout l;
    const uint64_t most = p->scales ? p->domain.size : p->domain.size / 2;
    l.squares = 0;
    l.first = MOST_LOG2 * sizeof(struct fr);
    l.scalars = round_up(l.first + sizeof(struct fr));
    l.bytes = l.scalars + round_up((size_t)(most < PIECE ? most : PIECE) * GROUP_NTT_SCALAR_BYTES);
    return l;
}

cuzk_status cuda_group_ntt_plan(struct group_ntt_plan *out, struct task *t, const struct device *d, const struct domain *domain, bool inverse,
                                const struct fr *scale, const struct fr *step)
{
    (void)t;
    (void)d;
    group_ntt_plan_fill(out, domain, inverse, scale, step);
    out->workspace_bytes = layout_of(out).bytes;
    return CUZK_OK;
}

struct run {
    const struct group_ntt_plan *plan;
    uint8_t *points, *workspace;
    struct layout layout;
    bool bls;
};

/* Sends root^(2^k) and first; NULL: 1. */
static cuzk_status send_root(struct stream *s, struct task *t, const struct run *r, const struct fr *root, const struct fr *first)
{
    const struct scalar_field *f = &r->plan->domain.curve->fr;
    struct fr squares[MOST_LOG2 + 1];
    squares[0] = *root;
    for (int k = 1; k < MOST_LOG2; k++) f->mul(&squares[k], &squares[k - 1], &squares[k - 1]);
    if (first) squares[MOST_LOG2] = *first;
    else f->from_u64(&squares[MOST_LOG2], 1);
    return cuda_upload(s, t, r->workspace, squares, sizeof squares);
}

static cuzk_status powers(struct stream *s, struct task *t, const struct run *r, uint64_t i0, uint64_t count)
{
    const struct group_ntt_powers p = { .out = r->workspace + r->layout.scalars, .squares = r->workspace + r->layout.squares,
                                        .first = r->workspace + r->layout.first, .i0 = i0, .count = count, .square_count = MOST_LOG2 };
    CU(t, r->bls ? group_ntt_bls12_381_powers(&p, s->handle) : group_ntt_bn254_powers(&p, s->handle));
    return CUZK_OK;
}

static cuzk_status scale(struct stream *s, struct task *t, const struct run *r)
{
    const struct group_ntt_plan *p = r->plan;
    const size_t point = p->domain.curve->g1.aff_bytes;
    void *const scalars = r->workspace + r->layout.scalars;
    TRY(send_root(s, t, r, &p->step, &p->scale));
    for (uint64_t i = 0; i < p->domain.size; i += PIECE) {
        const uint64_t left = p->domain.size - i, count = left < PIECE ? left : PIECE;
        uint8_t *const at = r->points + i * point;
        TRY(powers(s, t, r, i, count));
        CU(t, r->bls ? group_ntt_bls12_381_scale(at, scalars, count, s->handle) : group_ntt_bn254_scale(at, scalars, count, s->handle));
    }
    return CUZK_OK;
}

static cuzk_status join(struct stream *s, struct task *t, const struct run *r, unsigned pass)
{
    const struct domain *d = &r->plan->domain;
    const uint64_t half = (uint64_t)1 << (pass - 1), count = half < PIECE ? half : PIECE;
    struct fr root = r->plan->inverse ? d->omega_inv : d->omega;
    for (unsigned i = d->log2; i > pass; i--) d->curve->fr.mul(&root, &root, &root);
    TRY(send_root(s, t, r, &root, NULL));
    for (uint64_t j = 0; j < half; j += count) {
        const struct group_ntt_pass p = { .points = r->points, .scalars = half == 1 ? NULL : r->workspace + r->layout.scalars,
                                          .half = half, .j0 = j, .j_count = count, .pairs = d->size / 2 / half * count };
        if (half > 1) TRY(powers(s, t, r, j, count));
        CU(t, r->bls ? group_ntt_bls12_381_join(&p, s->handle) : group_ntt_bn254_join(&p, s->handle));
    }
    return CUZK_OK;
}

cuzk_status cuda_group_ntt(struct stream *s, struct task *t, const struct group_ntt_plan *p, struct buffer *points, unsigned first_pass,
                           unsigned pass_count, struct buffer *workspace)
{
    const struct curve *c = p->domain.curve;
    struct run r = { .plan = p, .layout = layout_of(p), .bls = c->id == CURVE_BLS12_381 };
    TRY(cuda_range(t, s->device, points, "the points of a transform", 0, (size_t)p->domain.size * c->g1.aff_bytes, &r.points));
    TRY(cuda_range(t, s->device, workspace, "the workspace of a transform", 0, p->workspace_bytes, &r.workspace));
    if (first_pass > p->pass_count || pass_count > p->pass_count - first_pass)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "passes %u to %u of a transform of %u", first_pass, first_pass + pass_count, p->pass_count);
    TRY(cuda_enter(t, s->device));
    for (unsigned pass = first_pass; pass < first_pass + pass_count; pass++) {
        if (pass > 0) {
            TRY(join(s, t, &r, pass));
            continue;
        }
        if (p->scales) TRY(scale(s, t, &r));
        CU(t, group_ntt_swap(r.points, p->domain.log2, (unsigned)c->g1.aff_bytes, s->handle));
    }
    return CUZK_OK;
}
