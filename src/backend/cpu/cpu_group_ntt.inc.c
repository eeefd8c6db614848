/* The transform over points of G1.
 *
 * Takes  CPU_FR, CPU_FP as cpu_kernels.inc.c      CPU_G1, CPU_G1_UPPER  prefixes of the group, whose point.inc.h and glv.inc.h come first
 * Radix-2 decimation in time over affine points: pass 0 multiplies by the powers asked for and brings the points into bit-reversed
 * order, pass s joins blocks of 2^(s-1).  A butterfly is one product by a root (glv.inc.h) and two additions; the points of a piece
 * share one inversion to become affine again, so the data between any two passes is all there is to keep. */
#define FE CPU_FR
#include "field/fe_names.h"
#define PT CPU_G1
#include "curve/pt_names.h"

#define GROUP_NTT_PIECE 32 /* butterflies: 64 points share an inversion */

struct group_ntt_run {
    const struct group_ntt_plan *plan;
    uint8_t *points;
    struct glv_lattice lattice;
    fe_t root, scale, step; /* of the pass: a root of order 2^pass; of pass 0 */
    unsigned pass;
};

static void group_ntt_of_fr(fe_t *r, const struct fr *a) { memcpy(r->l, a->w, sizeof r->l); }

static void group_ntt_split(struct glv_scalar *r, const struct group_ntt_run *g, const fe_t *k)
{
    fe_int plain;
    uint64_t words[4];
    fe_to_int(&plain, k);
    memcpy(words, plain.l, sizeof words);
    glv_split(r, &g->lattice, words);
}

/* Points of a piece times scale * step^i. */
static void group_ntt_scale(void *context, size_t index, unsigned slot)
{
    const struct group_ntt_run *g = (const struct group_ntt_run *)context;
    const uint64_t size = g->plan->domain.size, first = (uint64_t)index * 2 * GROUP_NTT_PIECE,
                   left = size - first, count = left < 2 * GROUP_NTT_PIECE ? left : 2 * GROUP_NTT_PIECE;
    pt_jac product[2 * GROUP_NTT_PIECE];
    pt_aff p[2 * GROUP_NTT_PIECE];
    struct glv_scalar k;
    fe_t w;
    (void)slot;
    memset(product, 0, sizeof product);
    memcpy(p, g->points + first * sizeof *p, count * sizeof *p);
    fe_pow_u64(&w, &g->step, first);
    fe_mul(&w, &w, &g->scale);
    for (uint64_t i = 0; i < count; i++) {
        group_ntt_split(&k, g, &w);
        CAT(PT, _glv_mul)(&product[i], &p[i], &k);
        fe_mul(&w, &w, &g->step);
    }
    pt_jac_batch_to_aff(p, product, count);
    memcpy(g->points + first * sizeof *p, p, count * sizeof *p);
}

static void group_ntt_swap(void *context, size_t index, unsigned slot)
{
    const struct group_ntt_run *g = (const struct group_ntt_run *)context;
    const uint64_t size = g->plan->domain.size, first = (uint64_t)index * 1024,
                   last = size - first < 1024 ? size : first + 1024;
    pt_aff t;
    (void)slot;
    for (uint64_t i = first; i < last; i++) {
        const uint64_t j = bit_reverse(i, g->plan->domain.log2);
        if (i >= j) continue;
        memcpy(&t, g->points + i * sizeof t, sizeof t);
        memcpy(g->points + i * sizeof t, g->points + j * sizeof t, sizeof t);
        memcpy(g->points + j * sizeof t, &t, sizeof t);
    }
}

/* Butterflies [32 index, 32 index + 32) of a pass: number b joins place j = b mod half of its block. */
static void group_ntt_join(void *context, size_t index, unsigned slot)
{
    const struct group_ntt_run *g = (const struct group_ntt_run *)context;
    const uint64_t half = (uint64_t)1 << (g->pass - 1), all = g->plan->domain.size / 2,
                   first = (uint64_t)index * GROUP_NTT_PIECE,
                   count = all - first < GROUP_NTT_PIECE ? all - first : GROUP_NTT_PIECE;
    pt_jac out[2 * GROUP_NTT_PIECE];
    pt_aff p[2 * GROUP_NTT_PIECE];
    struct glv_scalar k;
    fe_t w;
    (void)slot;
    memset(out, 0, sizeof out);
    fe_pow_u64(&w, &g->root, first % half);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t j = (first + i) % half, at = (first + i - j) * 2 + j;
        if (j == 0) fe_set_one(&w);
        memcpy(&p[2 * i], g->points + at * sizeof *p, sizeof *p);
        memcpy(&p[2 * i + 1], g->points + (at + half) * sizeof *p, sizeof *p);
        if (j != 0) group_ntt_split(&k, g, &w);
        CAT(PT, _glv_butterfly)(&out[2 * i], &out[2 * i + 1], &p[2 * i], &p[2 * i + 1], j == 0 ? NULL : &k);
        fe_mul(&w, &w, &g->root);
    }
    pt_jac_batch_to_aff(p, out, 2 * count);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t j = (first + i) % half, at = (first + i - j) * 2 + j;
        memcpy(g->points + at * sizeof *p, &p[2 * i], sizeof *p);
        memcpy(g->points + (at + half) * sizeof *p, &p[2 * i + 1], sizeof *p);
    }
}

static cuzk_status group_ntt_run(const struct cpu_team *team, const struct group_ntt_plan *plan,
                                 uint8_t *points, unsigned first_pass, unsigned pass_count)
{
    const struct domain *d = &plan->domain;
    const struct glv_lattice lattice = CAT(CPU_G1_UPPER, _GLV);
    struct group_ntt_run g;

    g.plan = plan;
    g.points = points;
    g.lattice = lattice;
    for (g.pass = first_pass; g.pass < first_pass + pass_count; g.pass++) {
        if (g.pass == 0) {
            group_ntt_of_fr(&g.scale, &plan->scale);
            group_ntt_of_fr(&g.step, &plan->step);
            if (plan->scales)
                TRY(cpu_run(team, (size_t)((d->size + 2 * GROUP_NTT_PIECE - 1) / (2 * GROUP_NTT_PIECE)),
                            group_ntt_scale, &g));
            TRY(cpu_run(team, (size_t)((d->size + 1023) / 1024), group_ntt_swap, &g));
            continue;
        }
        group_ntt_of_fr(&g.root, plan->inverse ? &d->omega_inv : &d->omega);
        for (unsigned i = d->log2; i > g.pass; i--) fe_sqr(&g.root, &g.root);
        TRY(cpu_run(team, (size_t)((d->size / 2 + GROUP_NTT_PIECE - 1) / GROUP_NTT_PIECE), group_ntt_join,
                    &g));
    }
    return CUZK_OK;
}

#include "field/fe_unnames.h"
#include "curve/pt_unnames.h"
#undef FE
#undef PT
#undef GROUP_NTT_PIECE
