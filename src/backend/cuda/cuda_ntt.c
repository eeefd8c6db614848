/* Transforms and quotients on CUDA: how a transform is cut in passes, its tables, and what is enqueued.
 *
 * A transform of 2^n points, n >= 12, runs in passes of 6 to 9 levels; smaller ones in one block.  Tables are in Montgomery form, so
 * that a product with an entry keeps an element's form; a table divided by R turns Montgomery form into plain integers. */
#include "backend/cuda/cuda_device.h"

#include <limits.h>
#include <string.h>

enum { TABLE_LOG2 = 18 }; /* entries of a table between passes, 8 MiB: what is larger is two, so that they stay in the L2 cache */

struct pass_kernels {
    int (*prepare)(void);
    int (*dif)(void *data, const struct ntt_pass *p, void *stream);
    int (*dit)(void *data, const struct ntt_pass *p, void *stream);
    int (*fused)(void *data, const struct ntt_pass *p, void *stream);
};
struct field_kernels {
    struct pass_kernels pass[NTT_PASS_MAX - NTT_PASS_MIN + 1];
    int (*prepare)(void);
    int (*table)(const struct ntt_table *t, const struct ntt_root *root, const struct ntt_root *gamma, void *stream);
    int (*small)(void *data, const struct ntt_pass *p, bool dit, void *stream);
    int (*reverse)(void *data, uint32_t size_log2, void *stream);
    int (*product)(void *out, const void *a, const void *b, uint64_t count, void *stream);
    int (*subtract_reversed)(void *out, const void *a, const void *b, uint32_t size_log2, void *stream);
};

#define PASS(name, levels) { ntt_##name##_pass##levels##_prepare, ntt_##name##_pass##levels##_dif, ntt_##name##_pass##levels##_dit, ntt_##name##_pass##levels##_fused }
#define FIELD(name)                                                                                                     \
    { { PASS(name, 6), PASS(name, 7), PASS(name, 8), PASS(name, 9) }, ntt_##name##_prepare, ntt_##name##_table, ntt_##name##_small, \
      ntt_##name##_reverse, ntt_##name##_product, ntt_##name##_subtract_reversed }
static const struct field_kernels fields[2] = { FIELD(bn254), FIELD(bls12_381) };

static const struct field_kernels *kernels_of(const struct curve *c) { return &fields[c->id == CURVE_BLS12_381]; }

cuzk_status cuda_ntt_prepare(struct task *t)
{
    for (size_t f = 0; f < ARRAY_COUNT(fields); f++) {
        CU(t, fields[f].prepare());
        for (size_t k = 0; k < ARRAY_COUNT(fields[f].pass); k++) CU(t, fields[f].pass[k].prepare());
    }
    return CUZK_OK;
}

/* -- passes -- */

/* Levels of each pass, from the top bits of the index down; below[i]: bits under pass i. */
struct split {
    unsigned count, levels[NTT_PASSES_MAX], below[NTT_PASSES_MAX], above[NTT_PASSES_MAX];
};

/* Products that a pass takes for eight points: a round of three levels 5, of two 2, of one none, and 7 between two rounds. */
static unsigned products_of(unsigned levels)
{
    const unsigned rounds = (levels + 2) / 3;
    return levels / 3 * 5 + (levels % 3 == 2 ? 2 : 0) + 7 * (rounds - 1);
}

/* The fewest passes, and of those the levels that take the fewest products, the largest first: 9 + 9 + 6 for 2^24 (75 for eight points; 78
 * with 8 + 8 + 8), 8 + 6 + 6 for 2^20 (60; 65 with 7 + 7 + 6). */
static struct split split_of(unsigned log2)
{
    struct split s;
    memset(&s, 0, sizeof s);
    if (log2 <= NTT_SMALL_LOG2) return s;
    s.count = (log2 + NTT_PASS_MAX - 1) / NTT_PASS_MAX;
    /* n[i] passes of NTT_PASS_MIN + i levels, i = 0..3; n[2] and n[3] are tried, the others follow */
    unsigned n[4] = { 0 }, least = UINT_MAX;
    const unsigned extra = log2 - NTT_PASS_MIN * s.count;
    for (unsigned nines = 0; nines <= s.count; nines++)
        for (unsigned eights = 0; eights + nines <= s.count; eights++) {
            const unsigned have = 3 * nines + 2 * eights, sevens = extra - have;
            if (have > extra || sevens + eights + nines > s.count) continue;
            const unsigned sixes = s.count - sevens - eights - nines;
            const unsigned all = nines * products_of(9) + eights * products_of(8) + sevens * products_of(7) + sixes * products_of(6);
            if (all >= least) continue;
            least = all;
            n[0] = sixes, n[1] = sevens, n[2] = eights, n[3] = nines;
        }
    unsigned above = 0;
    for (unsigned i = 0, size = 3; i < s.count; i++) {
        while (!n[size]) size--;
        n[size]--;
        s.levels[i] = NTT_PASS_MIN + size;
        s.above[i] = above;
        above += s.levels[i];
        s.below[i] = log2 - above;
    }
    return s;
}

static struct ntt_element element(const struct fr *x)
{
    struct ntt_element e;
    memcpy(&e, x, sizeof e);
    return e;
}

static struct ntt_root root_table(const struct curve *c, const struct fr *x)
{
    struct ntt_root r;
    struct fr p = *x;
    for (size_t i = 0; i < ARRAY_COUNT(r.pow2); i++) {
        r.pow2[i] = element(&p);
        c->fr.mul(&p, &p, &p);
    }
    return r;
}

static struct fr small_fr(const struct curve *c, uint64_t v)
{
    struct fr x;
    c->fr.from_u64(&x, v);
    return x;
}

struct builder {
    struct stream *s;
    const struct curve *curve;
    uint8_t *at, *end;      /* free scratch */
};

static cuzk_status table(struct builder *b, struct task *t, const void **out, const struct ntt_table *spec, const struct ntt_root *root, const struct ntt_root *gamma)
{
    struct ntt_table full = *spec;
    const size_t bytes = sizeof(struct ntt_element) << (spec->rows_log2 + spec->columns_log2);
    if ((size_t)(b->end - b->at) < bytes) return FAIL(t, CUZK_INTERNAL, "the tables of a transform do not fit in the stream's scratch memory");
    full.out = b->at;
    *out = b->at;
    b->at += (bytes + 255) & ~(size_t)255;
    CU(t, kernels_of(b->curve)->table(&full, root, gamma, b->s->handle));
    return CUZK_OK;
}

/* The tables of a transform with root w.  The tables between passes carry the parts of gamma^j (j the coefficient's index; gamma NULL:
 * 1) that they can, and sigma; with `scaled`, the contiguous pass gets the rest of gamma^j and scale_sigma. */
static cuzk_status direction(struct builder *b, struct task *t, struct ntt_direction *d, unsigned log2, const struct fr *w, const struct fr *gamma,
                             const struct fr *sigma, const struct fr *scale_sigma, bool scaled)
{
    const struct curve *c = b->curve;
    const struct fr one = small_fr(c, 1);
    const struct ntt_root root = root_table(c, w), shift = root_table(c, gamma ? gamma : &one);
    const struct split s = split_of(log2);
    struct fr r_factor = { { 1 } }; /* the words of 1 / R */
    memset(d, 0, sizeof *d);
    c->fr.mul(&r_factor, &r_factor, scale_sigma);

    const bool small = log2 <= NTT_SMALL_LOG2;
    const unsigned last_levels = small ? log2 : s.levels[s.count - 1], last_above = small ? 0 : s.above[s.count - 1];
    for (unsigned i = 0; i < (small ? 1 : s.count); i++) {
        const unsigned k = small ? log2 : s.levels[i];
        const void **inner = small ? &d->inner[0] : &d->inner[k];
        if (*inner) continue;
        /* powers of the root of order 2^k: gamma's part of a table of one column */
        const struct ntt_table inner_spec = { .rows_log2 = k, .gamma_step = (uint64_t)1 << (log2 - k), .sigma = element(&one) };
        TRY(table(b, t, inner, &inner_spec, &root, &root));
    }
    if (!small) {
        struct fr w8;
        c->fr.pow(&w8, w, (uint64_t)1 << (log2 - 3));
        struct fr p = w8;
        for (int i = 0; i < 3; i++) {
            d->w8[i] = element(&p);
            c->fr.mul(&p, &p, &w8);
        }
        for (unsigned i = 0; i + 1 < s.count; i++) {
            const unsigned k = s.levels[i];
            const unsigned half = (s.below[i] + 1) / 2, fits = TABLE_LOG2 - k;
            d->low_log2[i] = s.below[i] <= fits ? s.below[i] : half > fits ? half : fits;
            const struct ntt_table low = { .rows_log2 = k, .columns_log2 = d->low_log2[i], .step = (uint64_t)1 << s.above[i],
                                           .gamma_step = (uint64_t)1 << s.above[i], .sigma = element(i == 0 ? sigma : &one) };
            TRY(table(b, t, &d->low[i], &low, &root, &shift));
            if (d->low_log2[i] == s.below[i]) continue;
            const struct ntt_table high = { .rows_log2 = k, .columns_log2 = s.below[i] - d->low_log2[i],
                                            .step = (uint64_t)1 << (s.above[i] + d->low_log2[i]), .sigma = element(&one) };
            TRY(table(b, t, &d->high[i], &high, &root, &shift));
        }
    }
    if (!scaled) return CUZK_OK;
    struct fr plain = *scale_sigma;
    if (small) { /* no table between passes carries sigma */
        c->fr.mul(&plain, &plain, sigma);
        c->fr.mul(&r_factor, &r_factor, sigma);
    }
    struct ntt_table scale = { .rows_log2 = last_levels, .gamma_step = (uint64_t)1 << last_above, .reverse_rows = true, .sigma = element(&plain) };
    TRY(table(b, t, &d->scale, &scale, &root, &shift));
    scale.sigma = element(&r_factor);
    return table(b, t, &d->scale_plain, &scale, &root, &shift);
}

static struct ntt_pass pass_of(const struct ntt_direction *d, const struct split *s, unsigned log2, unsigned i)
{
    struct ntt_pass p;
    memset(&p, 0, sizeof p);
    p.size_log2 = log2;
    p.levels = s->levels[i];
    p.below = s->below[i];
    p.inner = d->inner[p.levels];
    memcpy(p.w8, d->w8, sizeof p.w8);
    p.low = d->low[i];
    p.high = d->high[i];
    p.low_log2 = d->low_log2[i];
    return p;
}

static const struct pass_kernels *levels_of(const struct curve *c, const struct ntt_pass *p) { return &kernels_of(c)->pass[p->levels - NTT_PASS_MIN]; }

/* What the last pass of a DIT does besides: see struct ntt_pass. */
struct finish {
    const void *times, *minus;
};

/* Natural to bit-reversed order; scale: factors of the contiguous pass or NULL. */
static cuzk_status run_dif(struct stream *s, struct task *t, const struct curve *c, unsigned log2, uint8_t *data, const struct ntt_direction *d,
                           const void *scale, bool canonical)
{
    const struct split sp = split_of(log2);
    if (log2 <= NTT_SMALL_LOG2) {
        const struct ntt_pass p = { .size_log2 = log2, .inner = d->inner[0], .scale = scale, .canonical = canonical };
        CU(t, kernels_of(c)->small(data, &p, false, s->handle));
        return CUZK_OK;
    }
    for (unsigned i = 0; i < sp.count; i++) {
        struct ntt_pass p = pass_of(d, &sp, log2, i);
        if (i + 1 == sp.count) {
            p.scale = scale;
            p.canonical = canonical;
        }
        CU(t, levels_of(c, &p)->dif(data, &p, s->handle));
    }
    return CUZK_OK;
}

/* Bit-reversed to natural order, canonical. */
static cuzk_status run_dit(struct stream *s, struct task *t, const struct curve *c, unsigned log2, uint8_t *data, const struct ntt_direction *d,
                           const void *scale, bool skip_contiguous, struct finish finish)
{
    const struct split sp = split_of(log2);
    if (log2 <= NTT_SMALL_LOG2) {
        const struct ntt_pass p = { .size_log2 = log2, .inner = d->inner[0], .scale = scale, .canonical = true, .times = finish.times, .minus = finish.minus };
        CU(t, kernels_of(c)->small(data, &p, true, s->handle));
        return CUZK_OK;
    }
    for (unsigned i = sp.count - skip_contiguous; i-- > 0;) {
        struct ntt_pass p = pass_of(d, &sp, log2, i);
        if (i + 1 == sp.count) p.scale = scale;
        if (i == 0) {
            p.canonical = true;
            p.times = finish.times;
            p.minus = finish.minus;
        }
        CU(t, levels_of(c, &p)->dit(data, &p, s->handle));
    }
    return CUZK_OK;
}

/* From values on the domain to values on its coset: inverse, the coset's factors and forward, the contiguous passes joined. */
static cuzk_status run_to_coset(struct stream *s, struct task *t, const struct curve *c, unsigned log2, uint8_t *data, const struct ntt_direction *inverse,
                                const struct ntt_direction *forward, const void *scale, struct finish finish)
{
    const struct split sp = split_of(log2);
    if (log2 <= NTT_SMALL_LOG2) {
        TRY(run_dif(s, t, c, log2, data, inverse, scale, false));
        return run_dit(s, t, c, log2, data, forward, NULL, false, finish);
    }
    for (unsigned i = 0; i + 1 < sp.count; i++) {
        const struct ntt_pass p = pass_of(inverse, &sp, log2, i);
        CU(t, levels_of(c, &p)->dif(data, &p, s->handle));
    }
    struct ntt_pass p = pass_of(inverse, &sp, log2, sp.count - 1);
    p.inner_back = forward->inner[p.levels];
    memcpy(p.w8_back, forward->w8, sizeof p.w8_back);
    p.scale = scale;
    CU(t, levels_of(c, &p)->fused(data, &p, s->handle));
    return run_dit(s, t, c, log2, data, forward, NULL, true, finish);
}

/* -- tables of a stream -- */

enum tables_kind { TABLES_FORWARD, TABLES_FORWARD_COSET, TABLES_INVERSE, TABLES_INVERSE_COSET, TABLES_QUOTIENT };
enum { TO_COEFFICIENTS, TO_COSET, FROM_COSET };

static bool tables_ready(const struct stream *s, const struct domain *d, enum tables_kind kind)
{
    const struct domain *have = &s->tables_of;
    return have->curve == d->curve && have->log2 == d->log2 && s->tables_kind == kind && memcmp(&have->omega, &d->omega, sizeof d->omega) == 0 &&
           memcmp(&have->shift, &d->shift, sizeof d->shift) == 0;
}

static cuzk_status tables_make(struct stream *s, struct task *t, const struct domain *d, enum tables_kind kind)
{
    if (tables_ready(s, d, kind)) return CUZK_OK;
    if (!s->scratch) return FAIL(t, CUZK_INVALID_ARGUMENT, "a transform on a stream that only copies");
    struct builder b = { s, d->curve, s->scratch, s->scratch + CUDA_SCRATCH_BYTES };
    const struct fr one = small_fr(d->curve, 1);
    s->tables_of.curve = s->multiples_of.curve = NULL;
    switch (kind) {
    case TABLES_FORWARD: TRY(direction(&b, t, &s->tables[0], d->log2, &d->omega, NULL, &one, &one, false)); break;
    case TABLES_FORWARD_COSET: TRY(direction(&b, t, &s->tables[0], d->log2, &d->omega, &d->shift, &one, &one, true)); break;
    case TABLES_INVERSE: TRY(direction(&b, t, &s->tables[0], d->log2, &d->omega_inv, NULL, &d->size_inv, &one, true)); break;
    case TABLES_INVERSE_COSET: TRY(direction(&b, t, &s->tables[0], d->log2, &d->omega_inv, &d->shift_inv, &d->size_inv, &one, true)); break;
    case TABLES_QUOTIENT: {
        /* the scale of TO_COEFFICIENTS and FROM_COSET carries 1 / (shift^n - 1); that of TO_COSET follows a transform without scale */
        TRY(direction(&b, t, &s->tables[TO_COEFFICIENTS], d->log2, &d->omega_inv, NULL, &d->size_inv, &d->z_coset_inv, true));
        const struct fr *sigma = d->log2 <= NTT_SMALL_LOG2 ? &d->size_inv : &one;
        TRY(direction(&b, t, &s->tables[TO_COSET], d->log2, &d->omega, &d->shift, sigma, &one, true));
        TRY(direction(&b, t, &s->tables[FROM_COSET], d->log2, &d->omega_inv, &d->shift_inv, &d->size_inv, &d->z_coset_inv, true));
        break;
    }
    }
    s->tables_of = *d;
    s->tables_kind = kind;
    return CUZK_OK;
}

/* -- operations -- */

cuzk_status cuda_ntt(struct stream *s, struct task *t, const struct domain *d, struct buffer *data, bool inverse, bool coset)
{
    uint8_t *v;
    const struct finish none = { NULL, NULL };
    TRY(cuda_range(t, s->device, data, "the vector of a transform", 0, 32 * (size_t)d->size, &v));
    TRY(cuda_enter(t, s->device));
    TRY(tables_make(s, t, d, inverse ? (coset ? TABLES_INVERSE_COSET : TABLES_INVERSE) : (coset ? TABLES_FORWARD_COSET : TABLES_FORWARD)));
    const struct ntt_direction *tables = &s->tables[0];
    if (inverse) {
        /* without a coset, 1/n is in the tables between passes where there are any */
        const bool scale = coset || d->log2 <= NTT_SMALL_LOG2;
        TRY(run_dif(s, t, d->curve, d->log2, v, tables, scale ? tables->scale : NULL, true));
        CU(t, kernels_of(d->curve)->reverse(v, d->log2, s->handle));
        return CUZK_OK;
    }
    CU(t, kernels_of(d->curve)->reverse(v, d->log2, s->handle));
    return run_dit(s, t, d->curve, d->log2, v, tables, coset ? tables->scale : NULL, false, none);
}

cuzk_status cuda_ntt_unordered(struct stream *s, struct task *t, const struct domain *d, struct buffer *data)
{
    uint8_t *v;
    TRY(cuda_range(t, s->device, data, "the vector of a transform", 0, 32 * (size_t)d->size, &v));
    TRY(cuda_enter(t, s->device));
    TRY(tables_make(s, t, d, TABLES_FORWARD));
    return run_dif(s, t, d->curve, d->log2, v, &s->tables[0], NULL, true);
}

cuzk_status cuda_quotient_plan(struct quotient_plan *out, struct task *t, const struct device *d, const struct domain *domain, enum quotient_mode mode)
{
    (void)t;
    (void)d;
    out->domain = *domain;
    out->mode = mode;
    out->vector_bytes = 32 * (size_t)domain->size;
    out->workspace_bytes = mode == QUOTIENT_COSET_PRODUCT ? 0 : out->vector_bytes; /* c = a o b */
    return CUZK_OK;
}

cuzk_status cuda_quotient(struct stream *s, struct task *t, const struct quotient_plan *p, struct buffer *scalars, struct buffer *a,
                          struct buffer *b, struct buffer *workspace)
{
    const struct domain *d = &p->domain;
    const struct curve *c = d->curve;
    const struct field_kernels *k = kernels_of(c);
    const size_t bytes = 32 * (size_t)d->size;
    uint8_t *va, *vb, *vc = NULL, *out;
    TRY(cuda_range(t, s->device, a, "the vector a of a quotient", 0, bytes, &va));
    TRY(cuda_range(t, s->device, b, "the vector b of a quotient", 0, bytes, &vb));
    TRY(cuda_range(t, s->device, scalars, "the scalars of a quotient", 0, bytes, &out));
    if (p->workspace_bytes) TRY(cuda_range(t, s->device, workspace, "the workspace of a quotient", 0, p->workspace_bytes, &vc));
    TRY(task_poll(t));
    TRY(cuda_enter(t, s->device));
    TRY(tables_make(s, t, d, TABLES_QUOTIENT));
    const struct ntt_direction *inv = &s->tables[TO_COEFFICIENTS], *fwd = &s->tables[TO_COSET], *back = &s->tables[FROM_COSET];
    const struct finish plain = { NULL, NULL };

    /* b and c leave Montgomery form on their way; then a b is plain */
    if (vc) CU(t, k->product(vc, va, vb, d->size, s->handle));
    TRY(run_to_coset(s, t, c, d->log2, vb, inv, fwd, fwd->scale_plain, plain));
    uint8_t *result = va;
    switch (p->mode) {
    case QUOTIENT_COSET_PRODUCT: {
        const struct finish times = { vb, NULL };
        TRY(run_to_coset(s, t, c, d->log2, va, inv, fwd, fwd->scale, times));
        break;
    }
    case QUOTIENT_ODD_COSET_LAGRANGE: {
        TRY(run_to_coset(s, t, c, d->log2, vc, inv, fwd, fwd->scale_plain, plain));
        const struct finish times_minus = { vb, vc };
        TRY(run_to_coset(s, t, c, d->log2, va, inv, fwd, fwd->scale, times_minus));
        break;
    }
    case QUOTIENT_MONOMIAL: {
        const struct finish times = { vb, NULL };
        TRY(run_to_coset(s, t, c, d->log2, va, inv, fwd, fwd->scale, times));
        TRY(run_dif(s, t, c, d->log2, va, back, back->scale, false));
        TRY(run_dif(s, t, c, d->log2, vc, inv, inv->scale_plain, false));
        CU(t, k->subtract_reversed(vb, va, vc, d->log2, s->handle));
        result = vb;
        break;
    }
    }
    if (result != out) CU(t, cudaMemcpyAsync(out, result, bytes, cudaMemcpyDeviceToDevice, s->handle));
    return CUZK_OK;
}
