/* One list of cases for every backend: each operation against its definition.
 *
 * Points are known multiples of the generator, so that a sum is checked with one multiplication whatever its size; small sums are
 * checked against msm_naive as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backend_cases.h"

#include "msm/msm_naive.h"
#include "support/prng.h"
#include "support/shared_data.h"

struct fixture {
    const struct backend *b;
    enum mem_kind kind;
    struct device *d;
    struct stream *s;
    struct task t;
    bool slow;
};
static struct fixture f;
static struct prng rng;
static const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };

#define OK(call)                                                          \
    do {                                                                  \
        if ((call) != CUZK_OK) fail_msg("%s: %s", #call, f.t.error.text); \
    } while (0)

static void random_int(const struct curve *c, struct fr_int *out)
{
    do {
        prng_bytes(&rng, out, sizeof *out);
        out->w[3] &= UINT64_MAX >> 1;
    } while (!c->fr.int_is_canonical(out));
}

static void random_fr(const struct curve *c, struct fr *out)
{
    struct fr_int k;
    random_int(c, &k);
    c->fr.from_int(out, &k);
}

static struct buffer take(size_t bytes)
{
    struct buffer b;
    OK(f.b->buffer_take(&b, &f.t, f.d, f.kind, bytes, 0));
    return b;
}

static struct buffer take_with(const void *data, size_t bytes, size_t offset)
{
    struct buffer b = take(bytes + offset);
    OK(f.b->upload(f.s, &f.t, &b, offset, data, bytes));
    return b;
}

static void *allocate(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    assert_non_null(p);
    return p;
}

/* -- multi-scalar multiplication -- */

struct sum {
    const struct curve *c;
    enum group_id g;
    const struct group *group;
    size_t n;
    uint8_t *points; /* packed affine */
    struct fr *logs; /* discrete logarithms of the points */
    struct fr_int *scalars;
    uint32_t *gather;
};

/* n random points start, start + step, ... */
static void sum_init(struct sum *s, const struct curve *c, enum group_id g, size_t n)
{
    struct fr step;
    struct fr_int k;
    struct g_jac p, d, *all = allocate(n * sizeof *all);
    s->c = c;
    s->g = g;
    s->group = c->group[g];
    s->n = n;
    s->points = allocate(n * s->group->aff_bytes);
    s->logs = allocate(n * sizeof *s->logs);
    s->scalars = allocate(n * sizeof *s->scalars);
    s->gather = NULL;
    random_fr(c, &step);
    c->fr.to_int(&k, &step);
    s->group->jac_from_aff(&d, &s->group->generator);
    s->group->jac_mul(&d, &d, &k);
    p = d;
    for (size_t i = 0; i < n; i++) {
        if (i == 0)
            s->logs[0] = step;
        else
            c->fr.add(&s->logs[i], &s->logs[i - 1], &step);
        all[i] = p;
        s->group->jac_add(&p, &p, &d);
        random_int(c, &s->scalars[i]);
    }
    if (n) s->group->batch_to_aff(s->points, all, n);
    free(all);
}

static void sum_fini(struct sum *s)
{
    free(s->points);
    free(s->logs);
    free(s->scalars);
    free(s->gather);
}

static void sum_check(const struct sum *s, const char *what)
{
    const struct scalar_field *r = &s->c->fr;
    struct fr log, x;
    struct fr_int k;
    struct g_jac expected, got;
    r->from_u64(&log, 0);
    for (size_t i = 0; i < s->n; i++) {
        r->from_int(&x, &s->scalars[s->gather ? s->gather[i] : i]);
        r->mul(&x, &x, &s->logs[i]);
        r->add(&log, &log, &x);
    }
    r->to_int(&k, &log);
    s->group->jac_from_aff(&expected, &s->group->generator);
    s->group->jac_mul(&expected, &expected, &k);

    struct msm_plan plan;
    OK(f.b->msm_plan(&plan, &f.t, f.d, s->c, s->g, s->n));
    /* odd addresses, as in a mapped file; a GPU's memory is read in 16-byte words */
    const size_t shift = s->n % 3 * (f.kind == MEM_DEVICE ? 16 : 1);
    struct buffer points = take_with(s->points, s->n * s->group->aff_bytes, shift),
                  scalars = take_with(s->scalars, 32 * s->n, shift), workspace = take(plan.workspace_bytes);
    struct buffer gather = take_with(s->gather, s->gather ? s->n * sizeof *s->gather : 0, 0);
    OK(f.b->msm(f.s, &f.t, &plan, &got, &points, shift, &scalars, shift, s->gather ? &gather : NULL,
                &workspace));
    OK(f.b->stream_sync(f.s, &f.t));
    f.b->buffer_give(&gather);
    f.b->buffer_give(&points);
    f.b->buffer_give(&scalars);
    f.b->buffer_give(&workspace);
    if (!s->group->jac_eq(&got, &expected))
        fail_msg("%s %s, %zu points: %s", s->c->name, s->group->name, s->n, what);
    if (s->n <= 17) {
        msm_naive(s->group, &expected, s->points, (const uint8_t *)s->scalars, s->gather, s->n);
        if (!s->group->jac_eq(&got, &expected))
            fail_msg("%s %s, %zu points: %s, against msm_naive", s->c->name, s->group->name, s->n, what);
    }
}

static void set_small(struct fr_int *k, uint64_t v)
{
    memset(k, 0, sizeof *k);
    k->w[0] = v;
}

/* modulus - v */
static void set_minus(const struct curve *c, struct fr_int *k, uint64_t v)
{
    struct fr x;
    c->fr.from_u64(&x, v);
    c->fr.neg(&x, &x);
    c->fr.to_int(k, &x);
}

static void set_infinity(struct sum *s, size_t i)
{
    memset(s->points + i * s->group->aff_bytes, 0, s->group->aff_bytes);
    s->c->fr.from_u64(&s->logs[i], 0);
}

static void copy_point(struct sum *s, size_t to, size_t from, bool negate)
{
    memcpy(s->points + to * s->group->aff_bytes, s->points + from * s->group->aff_bytes, s->group->aff_bytes);
    s->logs[to] = s->logs[from];
    if (negate) {
        struct g_jac p;
        struct g_aff a;
        s->group->jac_from_aff(&p, s->points + from * s->group->aff_bytes);
        s->group->jac_neg(&p, &p);
        s->group->jac_to_aff(&a, &p);
        memcpy(s->points + to * s->group->aff_bytes, &a, s->group->aff_bytes);
        s->c->fr.neg(&s->logs[to], &s->logs[to]);
    }
}

static void for_each_sum(size_t n, void (*body)(struct sum *s))
{
    for (size_t c = 0; c < 2; c++)
        for (int g = 0; g < 2; g++) {
            struct sum s;
            sum_init(&s, curves[c], (enum group_id)g, n);
            body(&s);
            sum_fini(&s);
        }
}

static void body_random(struct sum *s) { sum_check(s, "random scalars"); }

static void msm_sizes(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 17, 255, 256, 257, 1000, 4095, 4096, 4097, 20000 };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) for_each_sum(sizes[i], body_random);
}

static void msm_large(void **state)
{
    (void)state;
    if (!f.slow) skip();
    for_each_sum(300000, body_random);
}

static void body_constant(struct sum *s)
{
    static const uint64_t values[] = { 0, 1, 2, 3, 255, 65535, 65536 };
    for (size_t v = 0; v < ARRAY_COUNT(values); v++) {
        for (size_t i = 0; i < s->n; i++) set_small(&s->scalars[i], values[v]);
        sum_check(s, "all scalars small and equal");
    }
    for (uint64_t v = 1; v < 4; v++) {
        for (size_t i = 0; i < s->n; i++) set_minus(s->c, &s->scalars[i], v);
        sum_check(s, "all scalars r - 1, r - 2, r - 3");
    }
    for (size_t i = 1; i < s->n; i++) s->scalars[i] = s->scalars[0];
    random_int(s->c, &s->scalars[0]);
    for (size_t i = 1; i < s->n; i++) s->scalars[i] = s->scalars[0];
    sum_check(s, "all scalars equal");
    for (unsigned b = 0; b < s->c->fr.bits; b++) { /* each power of two, and its neighbours */
        struct fr_int k;
        set_small(&k, 0);
        k.w[b / 64] = (uint64_t)1 << (b % 64);
        for (int d = -1; d <= 1; d++) {
            struct fr x, y;
            s->c->fr.from_int(&x, &k);
            s->c->fr.from_u64(&y, 1);
            if (d < 0) s->c->fr.sub(&x, &x, &y);
            if (d > 0) s->c->fr.add(&x, &x, &y);
            s->c->fr.to_int(&s->scalars[(3 * b + (unsigned)(d + 1)) % s->n], &x);
        }
    }
    sum_check(s, "powers of two");
}

static void msm_constant_scalars(void **state)
{
    (void)state;
    for_each_sum(9, body_constant);
    for_each_sum(770, body_constant);
}

static void body_bits(struct sum *s)
{
    for (unsigned bits = 1; bits <= 64; bits += bits < 20 ? 1 : 11) {
        for (size_t i = 0; i < s->n; i++) set_small(&s->scalars[i], prng_u64(&rng) >> (64 - bits));
        sum_check(s, "small scalars");
    }
    for (size_t i = 0; i < s->n; i++)
        if (i % 50 == 0)
            random_int(s->c, &s->scalars[i]);
        else
            set_small(&s->scalars[i], prng_u64(&rng) & 1);
    sum_check(s, "mostly bits");
    for (size_t i = 0; i < s->n; i++)
        if (prng_u64(&rng) & 1)
            set_minus(s->c, &s->scalars[i], prng_u64(&rng) & 15);
        else
            set_small(&s->scalars[i], prng_u64(&rng) & 15);
    sum_check(s, "small scalars of both signs");
}

static void msm_small_scalars(void **state)
{
    (void)state;
    for_each_sum(513, body_bits);
}

static void body_points(struct sum *s)
{
    const size_t n = s->n;
    for (size_t i = 1; i < n; i++) copy_point(s, i, 0, false);
    sum_check(s, "all points equal");
    for (size_t i = 0; i < n; i++) set_small(&s->scalars[i], 5);
    sum_check(s, "all points and scalars equal");
    for (size_t i = 1; i < n; i += 2) copy_point(s, i, 0, true);
    sum_check(s, "P and -P in one bucket");
    for (size_t i = 0; i < n; i++)
        if (prng_u64(&rng) & 1) set_infinity(s, i);
    sum_check(s, "P, -P and infinity in one bucket");
    for (size_t i = 0; i < n; i++) random_int(s->c, &s->scalars[i]);
    sum_check(s, "P, -P and infinity");
    for (size_t i = 0; i < n; i++) set_infinity(s, i);
    sum_check(s, "infinity everywhere");
}

static void msm_special_points(void **state)
{
    (void)state;
    for_each_sum(2, body_points);
    for_each_sum(700, body_points);
    for_each_sum(9001, body_points);
}

static void body_bucket(struct sum *s)
{
    for (size_t i = 0; i < s->n; i += 2) s->scalars[i] = s->scalars[0];
    sum_check(s, "one bucket holds half of the points");
    for (size_t i = 0; i < s->n; i++) s->scalars[i].w[0] = s->scalars[0].w[0];
    sum_check(s, "equal low words");
}

static void msm_skewed(void **state)
{
    (void)state;
    for_each_sum(3000, body_bucket);
    for_each_sum(12345, body_bucket);
}

static void body_gather(struct sum *s)
{
    s->gather = allocate(s->n * sizeof *s->gather);
    for (size_t i = 0; i < s->n; i++) s->gather[i] = (uint32_t)prng_below(&rng, s->n);
    sum_check(s, "gathered scalars");
}

static void msm_gather(void **state)
{
    (void)state;
    for_each_sum(1, body_gather);
    for_each_sum(1500, body_gather);
}

static void msm_scalar_too_large(void **state)
{
    struct sum s;
    struct msm_plan plan;
    struct g_jac out;
    (void)state;
    sum_init(&s, &curve_bn254, GROUP_G1, 5);
    s.scalars[3] = s.c->fr.modulus;
    OK(f.b->msm_plan(&plan, &f.t, f.d, s.c, s.g, s.n));
    struct buffer points = take_with(s.points, s.n * s.group->aff_bytes, 0),
                  scalars = take_with(s.scalars, 32 * s.n, 0), workspace = take(plan.workspace_bytes);
    cuzk_status status = f.b->msm(f.s, &f.t, &plan, &out, &points, 0, &scalars, 0, NULL, &workspace);
    if (status == CUZK_OK) status = f.b->stream_sync(f.s, &f.t); /* a GPU tells afterwards */
    assert_int_equal(status, CUZK_INVALID_ARGUMENT);
    task_init(&f.t);
    f.b->buffer_give(&points);
    f.b->buffer_give(&scalars);
    f.b->buffer_give(&workspace);
    sum_fini(&s);
}

static void *read_file(const char *path, size_t bytes)
{
    void *p = allocate(bytes);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(p, 1, bytes, file), bytes);
    fclose(file);
    return p;
}

/* A commitment of EIP-4844: 4096 points of the trusted set-up in Lagrange form times the field elements of a blob. */
static void msm_kzg(void **state)
{
    enum { N = 4096 };
    static const char folder[] = "data/vectors/bls12-381-vectors/kzg4844/";
    char path[3][PATH_MAX], name[256];
    static const char *const files[3] = { "g1_lagrange_brp_4096.compressed.bin",
                                          "blob_to_kzg_commitment_a87a4e636e0f58fb.scalars_be.bin",
                                          "blob_to_kzg_commitment_a87a4e636e0f58fb.expected.bin" };
    const struct group *g = &curve_bls12_381.g1;
    (void)state;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", folder, files[i]);
        shared_data_need(path[i], name);
    }
    uint8_t *compressed = read_file(path[0], 48 * N), *scalars_be = read_file(path[1], 32 * N),
            *expected = read_file(path[2], 48), got[48];
    uint8_t *points = allocate(N * g->aff_bytes), *scalars = allocate(32 * N);
    for (size_t i = 0; i < N; i++) {
        struct g_aff p;
        assert_int_equal(g->decode(&p, compressed + 48 * i, ENCODING_ZCASH_COMPRESSED, false), POINT_OK);
        memcpy(points + i * g->aff_bytes, &p, g->aff_bytes);
        for (size_t k = 0; k < 32; k++) scalars[32 * i + k] = scalars_be[32 * i + 31 - k];
    }
    struct msm_plan plan;
    struct g_jac sum;
    struct g_aff affine;
    OK(f.b->msm_plan(&plan, &f.t, f.d, &curve_bls12_381, GROUP_G1, N));
    struct buffer pb = take_with(points, N * g->aff_bytes, 0), sb = take_with(scalars, 32 * N, 0),
                  ws = take(plan.workspace_bytes);
    OK(f.b->msm(f.s, &f.t, &plan, &sum, &pb, 0, &sb, 0, NULL, &ws));
    OK(f.b->stream_sync(f.s, &f.t));
    g->jac_to_aff(&affine, &sum);
    g->encode(got, &affine, ENCODING_ZCASH_COMPRESSED);
    assert_memory_equal(got, expected, 48);
    f.b->buffer_give(&pb);
    f.b->buffer_give(&sb);
    f.b->buffer_give(&ws);
    free(compressed);
    free(scalars_be);
    free(expected);
    free(points);
    free(scalars);
}

/* -- transforms -- */

static const enum root_convention conventions[] = { ROOT_SNARKJS, ROOT_BELLMAN };

static void run_ntt(const struct domain *d, struct fr *data, bool inverse, bool coset)
{
    const size_t bytes = (size_t)d->size * sizeof *data;
    struct buffer b = take_with(data, bytes, 0);
    OK(f.b->ntt(f.s, &f.t, d, &b, inverse, coset));
    OK(f.b->download(f.s, &f.t, data, &b, 0, bytes));
    OK(f.b->stream_sync(f.s, &f.t));
    f.b->buffer_give(&b);
}

static void ntt_definition(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++)
        for (size_t v = 0; v < 2; v++)
            for (unsigned log2 = 0; log2 <= 8; log2++)
                for (int coset = 0; coset < 2; coset++) {
                    struct domain d;
                    struct fr in[256], expected[256], got[256];
                    OK(domain_init(&d, &f.t, curves[c], conventions[v], log2));
                    for (size_t i = 0; i < d.size; i++) random_fr(curves[c], &in[i]);
                    memcpy(got, in, d.size * sizeof *in);
                    domain_dft_naive(&d, expected, in, coset);
                    run_ntt(&d, got, false, coset);
                    assert_memory_equal(got, expected, d.size * sizeof *got);
                    run_ntt(&d, got, true, coset);
                    assert_memory_equal(got, in, d.size * sizeof *got);
                }
}

static void horner(const struct curve *c, struct fr *out, const struct fr *coefficients, size_t n,
                   const struct fr *x)
{
    c->fr.from_u64(out, 0);
    for (size_t i = n; i-- > 0;) {
        c->fr.mul(out, out, x);
        c->fr.add(out, out, &coefficients[i]);
    }
}

/* Values against the polynomial at a few points of the domain, and back. */
static void ntt_one(const struct curve *c, enum root_convention v, unsigned log2, bool coset)
{
    struct domain d;
    OK(domain_init(&d, &f.t, c, v, log2));
    struct fr *in = allocate(d.size * sizeof *in), *got = allocate(d.size * sizeof *got);
    for (size_t i = 0; i < d.size; i++) random_fr(c, &in[i]);
    memcpy(got, in, d.size * sizeof *in);
    run_ntt(&d, got, false, coset);
    for (int k = 0; k < 4; k++) {
        const uint64_t i = k == 0 ? 0 : k == 1 ? d.size - 1 : prng_below(&rng, d.size);
        struct fr x, y;
        c->fr.pow(&x, &d.omega, i);
        if (coset) c->fr.mul(&x, &x, &d.shift);
        horner(c, &y, in, d.size, &x);
        assert_memory_equal(&got[i], &y, sizeof y);
    }
    run_ntt(&d, got, true, coset);
    assert_memory_equal(got, in, d.size * sizeof *got);
    free(in);
    free(got);
}

static void ntt_random_points(void **state)
{
    (void)state;
    for (unsigned log2 = 9; log2 <= 16; log2++)
        ntt_one(curves[log2 % 2], conventions[log2 / 2 % 2], log2, log2 & 1);
    ntt_one(&curve_bn254, ROOT_SNARKJS, 14, true);
    ntt_one(&curve_bls12_381, ROOT_BELLMAN, 13, true);
}

static void ntt_large(void **state)
{
    (void)state;
    if (!f.slow) skip();
    for (unsigned log2 = 20; log2 <= 22; log2++) ntt_one(curves[log2 % 2], conventions[log2 % 2], log2, true);
}

static void domain_limits(void **state)
{
    struct domain d;
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        OK(domain_init(&d, &f.t, curves[c], ROOT_SNARKJS, 28));
        assert_int_equal(domain_init(&d, &f.t, curves[c], ROOT_SNARKJS, 29), CUZK_TOO_LARGE);
        task_init(&f.t);
    }
    struct fr expected; /* at the two-adicity the shift is 25, below it the root twice as fine */
    OK(domain_init(&d, &f.t, &curve_bn254, ROOT_SNARKJS, 28));
    curve_bn254.fr.from_u64(&expected, 25);
    assert_memory_equal(&d.shift, &expected, sizeof expected);
    OK(domain_init(&d, &f.t, &curve_bls12_381, ROOT_SNARKJS, 28));
    curve_bls12_381.fr.mul(&expected, &d.shift, &d.shift);
    assert_memory_equal(&d.omega, &expected, sizeof expected);
    OK(domain_init(&d, &f.t, &curve_bls12_381, ROOT_BELLMAN, 5));
    curve_bls12_381.fr.from_u64(&expected, 7);
    assert_memory_equal(&d.shift, &expected, sizeof expected);
}

/* L_i(tau) weighs the values of a polynomial to its value at tau. */
static void lagrange(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        struct domain d;
        struct fr coefficients[32], values[32], weights[32], tau, sum, x, expected;
        const struct scalar_field *r = &curves[c]->fr;
        OK(domain_init(&d, &f.t, curves[c], ROOT_SNARKJS, 5));
        for (int i = 0; i < 32; i++) random_fr(curves[c], &coefficients[i]);
        random_fr(curves[c], &tau);
        domain_dft_naive(&d, values, coefficients, false);
        OK(domain_lagrange(&d, &f.t, weights, &tau));
        r->from_u64(&sum, 0);
        for (int i = 0; i < 32; i++) {
            r->mul(&x, &weights[i], &values[i]);
            r->add(&sum, &sum, &x);
        }
        horner(curves[c], &expected, coefficients, 32, &tau);
        assert_memory_equal(&sum, &expected, sizeof sum);
        assert_int_equal(domain_lagrange(&d, &f.t, weights, &d.omega), CUZK_INVALID_ARGUMENT);
        task_init(&f.t);
    }
}

/* -- quotient -- */

/* By the definition: interpolate a, b, c = a o b; evaluate on the coset; subtract c and divide where the mode does. */
static void quotient_naive(const struct domain *d, enum quotient_mode mode, struct fr_int *out,
                           const struct fr *a, const struct fr *b)
{
    const struct scalar_field *r = &d->curve->fr;
    const size_t n = d->size;
    struct domain inverse = *d;
    inverse.omega = d->omega_inv; /* the naive transform with the inverse root, then 1/n */
    struct fr *c = allocate(n * sizeof *c), *t = allocate(3 * n * sizeof *t),
              *u = allocate(3 * n * sizeof *u);
    for (size_t i = 0; i < n; i++) r->mul(&c[i], &a[i], &b[i]);
    const struct fr *in[3] = { a, b, c };
    for (int k = 0; k < 3; k++) {
        domain_dft_naive(&inverse, t + k * n, in[k], false);
        for (size_t i = 0; i < n; i++) r->mul(&t[k * n + i], &t[k * n + i], &d->size_inv);
        domain_dft_naive(d, u + k * n, t + k * n, true);
    }
    for (size_t i = 0; i < n; i++) {
        r->mul(&c[i], &u[i], &u[n + i]);
        if (mode != QUOTIENT_COSET_PRODUCT) r->sub(&c[i], &c[i], &u[2 * n + i]);
    }
    if (mode == QUOTIENT_MONOMIAL) {
        for (size_t i = 0; i < n; i++) r->mul(&c[i], &c[i], &d->z_coset_inv);
        domain_dft_naive(&inverse, t, c, false);
        struct fr power = d->size_inv;
        for (size_t i = 0; i < n; i++) {
            r->mul(&c[i], &t[i], &power);
            r->mul(&power, &power, &d->shift_inv);
        }
    }
    for (size_t i = 0; i < n; i++) r->to_int(&out[i], &c[i]);
    free(c);
    free(t);
    free(u);
}

static void quotient_one(const struct curve *c, enum root_convention v, unsigned log2,
                         enum quotient_mode mode, bool in_place)
{
    struct domain d;
    struct quotient_plan plan;
    OK(domain_init(&d, &f.t, c, v, log2));
    OK(f.b->quotient_plan(&plan, &f.t, f.d, &d, mode));
    const size_t n = d.size;
    struct fr *a = allocate(n * sizeof *a), *b = allocate(n * sizeof *b);
    struct fr_int *expected = allocate(n * sizeof *expected), *got = allocate(n * sizeof *got);
    for (size_t i = 0; i < n; i++) {
        random_fr(c, &a[i]);
        random_fr(c, &b[i]);
    }
    struct buffer ab = take_with(a, n * 32, 0), bb = take_with(b, n * 32, 0), ws = take(plan.workspace_bytes),
                  out = take(32 * n);
    assert_int_equal(plan.vector_bytes, 32 * n);
    OK(f.b->quotient(f.s, &f.t, &plan, in_place ? &ab : &out, &ab, &bb, &ws));
    OK(f.b->download(f.s, &f.t, got, in_place ? &ab : &out, 0, 32 * n));
    OK(f.b->stream_sync(f.s, &f.t));
    quotient_naive(&d, mode, expected, a, b);
    assert_memory_equal(got, expected, 32 * n);
    if (mode == QUOTIENT_MONOMIAL && n > 1)
        assert_true((got[n - 1].w[0] | got[n - 1].w[1] | got[n - 1].w[2] | got[n - 1].w[3]) == 0);
    f.b->buffer_give(&ab);
    f.b->buffer_give(&bb);
    f.b->buffer_give(&ws);
    f.b->buffer_give(&out);
    free(a);
    free(b);
    free(expected);
    free(got);
}

static void quotient_definition(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++)
        for (size_t v = 0; v < 2; v++)
            for (unsigned log2 = 0; log2 <= 9; log2++)
                for (int mode = QUOTIENT_ODD_COSET_LAGRANGE; mode <= QUOTIENT_COSET_PRODUCT; mode++)
                    quotient_one(curves[c], conventions[v], log2, (enum quotient_mode)mode, log2 & 1);
}

/* A B - C = H Z at a random point, through transforms that were checked above. */
static void quotient_identity(void **state)
{
    (void)state;
    for (unsigned log2 = 12; log2 <= (f.slow ? 21u : 15u); log2++) {
        const struct curve *c = curves[log2 % 2];
        const struct scalar_field *r = &c->fr;
        struct domain d;
        struct quotient_plan plan;
        OK(domain_init(&d, &f.t, c, ROOT_BELLMAN, log2));
        OK(f.b->quotient_plan(&plan, &f.t, f.d, &d, QUOTIENT_MONOMIAL));
        const size_t n = d.size;
        struct fr *p[3], x, z, v[3], h;
        for (int k = 0; k < 3; k++) p[k] = allocate(n * 32);
        for (size_t i = 0; i < n; i++) {
            random_fr(c, &p[0][i]);
            random_fr(c, &p[1][i]);
            r->mul(&p[2][i], &p[0][i], &p[1][i]);
        }
        struct buffer a = take_with(p[0], n * 32, 0), b = take_with(p[1], n * 32, 0),
                      ws = take(plan.workspace_bytes);
        OK(f.b->quotient(f.s, &f.t, &plan, &a, &a, &b, &ws));
        struct fr *coefficients = allocate(n * 32);
        OK(f.b->download(f.s, &f.t, coefficients, &a, 0, n * 32));
        OK(f.b->stream_sync(f.s, &f.t));
        for (size_t i = 0; i < n; i++) {
            struct fr_int plain;
            memcpy(&plain, &coefficients[i], 32);
            r->from_int(&coefficients[i], &plain);
        }
        random_fr(c, &x);
        horner(c, &h, coefficients, n, &x);
        for (int k = 0; k < 3; k++) {
            run_ntt(&d, p[k], true, false);
            horner(c, &v[k], p[k], n, &x);
        }
        r->pow(&z, &x, n);
        struct fr one;
        r->from_u64(&one, 1);
        r->sub(&z, &z, &one);
        r->mul(&h, &h, &z);
        r->mul(&v[0], &v[0], &v[1]);
        r->sub(&v[0], &v[0], &v[2]);
        assert_memory_equal(&h, &v[0], 32);
        f.b->buffer_give(&a);
        f.b->buffer_give(&b);
        f.b->buffer_give(&ws);
        free(coefficients);
        for (int k = 0; k < 3; k++) free(p[k]);
    }
}

/* -- constraint evaluation -- */

/* The same evaluation from operands in device memory, over the result of the first. */
static void eval_again_resident(const struct eval_plan *plan, const struct curve *c, struct buffer *out,
                                const struct csr *m, const struct fr_int *values)
{
    struct fr *nothing = allocate(out->bytes);
    struct buffer matrix = take(f.b->matrix_bytes(m)),
                  w = take_with(values, m->column_count * sizeof *values, 0),
                  workspace = take(plan->resident_workspace_bytes);
    OK(f.b->stream_sync(f.s, &f.t));
    OK(f.b->upload(f.s, &f.t, out, 0, nothing, out->bytes));
    OK(f.b->matrix_upload(f.s, &f.t, &matrix, m));
    OK(f.b->eval_resident(f.s, &f.t, plan, c, out, m, &matrix, &w, &workspace));
    OK(f.b->stream_sync(f.s, &f.t));
    f.b->buffer_give(&matrix);
    f.b->buffer_give(&w);
    f.b->buffer_give(&workspace);
    free(nothing);
}

static void eval_rows_against_definition(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const struct curve *c = curves[k];
        enum { ROWS = 3001, COLUMNS = 777, ENTRIES = 9000, OUT = 4096 };
        struct csr_builder *builder;
        struct csr m;
        struct eval_plan plan;
        struct fr_int *values = allocate(COLUMNS * sizeof *values);
        uint32_t *row = allocate(ENTRIES * sizeof *row), *column = allocate(ENTRIES * sizeof *column);
        struct fr *coefficient = allocate(ENTRIES * sizeof *coefficient), one;
        c->fr.from_u64(&one, 1);
        for (size_t i = 0; i < COLUMNS; i++)
            if (i % 3)
                random_int(c, &values[i]);
            else
                set_small(&values[i], i == 0 ? 1 : prng_u64(&rng) & 1);
        for (size_t i = 0; i < ENTRIES; i++) {
            row[i] = (uint32_t)(i % 5 == 0 ? 7 : prng_below(&rng, ROWS)); /* row 7 is long */
            column[i] = (uint32_t)prng_below(&rng, COLUMNS);
            switch (prng_u64(&rng) % 4) {
            case 0:
                coefficient[i] = one;
                break;
            case 1:
                c->fr.neg(&coefficient[i], &one);
                break;
            case 2:
                c->fr.from_u64(&coefficient[i], prng_u64(&rng) & 7);
                break;
            default:
                random_fr(c, &coefficient[i]);
                break;
            }
        }
        OK(csr_builder_create(&builder, &f.t, c, ROWS, COLUMNS));
        for (size_t i = 0; i < ENTRIES; i++) csr_builder_count(builder, row[i]);
        OK(csr_builder_ready(builder, &f.t));
        for (size_t i = 0; i < ENTRIES; i++)
            OK(csr_builder_place(builder, &f.t, row[i], column[i], &coefficient[i]));
        assert_int_equal(csr_builder_place(builder, &f.t, row[0], COLUMNS, &one), CUZK_MALFORMED);
        task_init(&f.t);
        assert_int_equal(csr_builder_place(builder, &f.t, row[0], 0, &one), CUZK_INTERNAL);
        task_init(&f.t);
        csr_builder_finish(builder, &m);
        assert_int_equal(m.entry_count, ENTRIES);

        const struct witness w = { .curve = c,
                                   .values = span_of(values, COLUMNS * sizeof *values),
                                   .count = COLUMNS };
        OK(witness_check(&f.t, &w));
        OK(f.b->eval_plan(&plan, &f.t, f.d, &m, OUT));
        struct buffer out = take(32 * OUT), ws = take(plan.workspace_bytes);
        struct fr *got = allocate(OUT * sizeof *got);
        OK(f.b->eval(f.s, &f.t, &plan, &out, &m, &w, &ws));
        if (!f.b->reads_host_memory) eval_again_resident(&plan, c, &out, &m, values);
        OK(f.b->download(f.s, &f.t, got, &out, 0, 32 * OUT));
        OK(f.b->stream_sync(f.s, &f.t));
        for (size_t i = 0; i < OUT; i++) {
            struct fr expected, sum;
            c->fr.from_u64(&expected, 0);
            if (i < ROWS) { /* once from the matrix, once from the entries */
                c->fr.from_u64(&sum, 0);
                csr_row_dot(&m, c, i, &w, &expected);
                if (i % 100 == 7)
                    for (size_t e = 0; e < ENTRIES; e++)
                        if (row[e] == i) {
                            struct fr v;
                            c->fr.from_int(&v, &values[column[e]]);
                            c->fr.mul(&v, &v, &coefficient[e]);
                            c->fr.add(&sum, &sum, &v);
                        }
                if (i % 100 == 7) assert_memory_equal(&sum, &expected, sizeof sum);
            }
            assert_memory_equal(&got[i], &expected, sizeof expected);
        }
        set_small(&values[0], 2);
        assert_int_equal(witness_check(&f.t, &w), CUZK_MALFORMED);
        task_init(&f.t);
        set_small(&values[0], 1);
        values[5] = c->fr.modulus;
        assert_int_equal(witness_check(&f.t, &w), CUZK_MALFORMED);
        task_init(&f.t);
        assert_int_equal(f.b->eval_plan(&plan, &f.t, f.d, &m, ROWS - 1), CUZK_INVALID_ARGUMENT);
        task_init(&f.t);
        f.b->buffer_give(&out);
        f.b->buffer_give(&ws);
        csr_fini(&m);
        free(got);
        free(values);
        free(row);
        free(column);
        free(coefficient);
    }
}

/* -- multiples of one point -- */

static void fixed_base_multiples(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 300, 2500 };
    (void)state;
    for (size_t k = 0; k < 8 * ARRAY_COUNT(sizes) / 2; k++) {
        const struct curve *c = curves[k & 1];
        const enum group_id id = (enum group_id)(k / 2 & 1);
        const struct group *g = c->group[id];
        const size_t n = sizes[k / 4];
        struct fr_int *scalars = allocate(n * sizeof *scalars), base_log;
        uint8_t *got = allocate(n * g->aff_bytes);
        struct g_jac p;
        struct g_aff base;
        random_int(c, &base_log);
        g->jac_from_aff(&p, &g->generator);
        g->jac_mul(&p, &p, &base_log);
        g->jac_to_aff(&base, &p);
        for (size_t i = 0; i < n; i++) {
            random_int(c, &scalars[i]);
            if (i % 7 < 3) set_small(&scalars[i], i % 7);
            if (i % 7 == 3) set_minus(c, &scalars[i], 1 + i % 5);
            if (i % 7 == 4) set_small(&scalars[i], prng_u64(&rng));
        }
        const size_t at = f.kind == MEM_DEVICE ? 16 : 5, scalars_at = f.kind == MEM_DEVICE ? 32 : 3;
        struct buffer points = take(n * g->aff_bytes + at), s = take_with(scalars, 32 * n, scalars_at);
        OK(f.b->fixed_base(f.s, &f.t, c, id, &points, at, &base, &s, scalars_at, n));
        OK(f.b->download(f.s, &f.t, got, &points, at, n * g->aff_bytes));
        OK(f.b->stream_sync(f.s, &f.t));
        for (size_t i = 0; i<n; i += n> 400 ? 13 : 1) {
            struct g_aff expected;
            g->jac_from_aff(&p, &base);
            g->jac_mul(&p, &p, &scalars[i]);
            g->jac_to_aff(&expected, &p);
            assert_memory_equal(got + i * g->aff_bytes, &expected, g->aff_bytes);
        }
        f.b->buffer_give(&points);
        f.b->buffer_give(&s);
        free(scalars);
        free(got);
    }
}

/* -- sums over bitmaps -- */

struct bits {
    const struct sum *s;
    unsigned count; /* bitmaps */
    size_t bytes;   /* from one to the next */
    uint8_t *data;
};

static void bits_init(struct bits *b, const struct sum *s, unsigned count)
{
    b->s = s;
    b->count = count;
    b->bytes = bitmap_bytes(s->n);
    b->data = allocate(b->bytes * count);
}

static bool bit_get(const struct bits *b, unsigned k, size_t i) { return b->data[k * b->bytes + i / 8] >> (i % 8) & 1; }
static void bit_set(struct bits *b, unsigned k, size_t i) { b->data[k * b->bytes + i / 8] |= (uint8_t)(1u << (i % 8)); }

/* Sets what lies behind the last point, which nobody may read. */
static void bits_soil(struct bits *b)
{
    for (unsigned k = 0; k < b->count; k++)
        for (size_t i = b->s->n; i < 8 * b->bytes; i++) bit_set(b, k, i);
}

static void bits_check(const struct bits *b, const char *what)
{
    const struct sum *s = b->s;
    const struct scalar_field *r = &s->c->fr;
    struct bit_sum_plan plan;
    struct g_jac got[BIT_SUM_MAX], expected;
    OK(f.b->bit_sum_plan(&plan, &f.t, f.d, s->c, s->g, s->n, b->count));
    assert_int_equal(plan.bitmap_bytes, b->bytes);
    const size_t shift = s->n % 3 * (f.kind == MEM_DEVICE ? 16 : 1), bits_shift = s->n % 2 * 16;
    struct buffer points = take_with(s->points, s->n * s->group->aff_bytes, shift), bitmaps = take_with(b->data, b->bytes * b->count, bits_shift),
                  workspace = take(plan.workspace_bytes);
    memset(got, 0xee, sizeof got);
    OK(f.b->bit_sum(f.s, &f.t, &plan, got, &points, shift, &bitmaps, bits_shift, &workspace));
    OK(f.b->stream_sync(f.s, &f.t));
    f.b->buffer_give(&points);
    f.b->buffer_give(&bitmaps);
    f.b->buffer_give(&workspace);
    for (unsigned k = 0; k < b->count; k++) {
        struct fr log;
        struct fr_int e;
        r->from_u64(&log, 0);
        for (size_t i = 0; i < s->n; i++)
            if (bit_get(b, k, i)) r->add(&log, &log, &s->logs[i]);
        r->to_int(&e, &log);
        s->group->jac_from_aff(&expected, &s->group->generator);
        s->group->jac_mul(&expected, &expected, &e);
        if (!s->group->jac_eq(&got[k], &expected))
            fail_msg("%s %s, %zu points, bitmap %u of %u: %s", s->c->name, s->group->name, s->n, k, b->count, what);
        if (s->n > 40) continue;
        s->group->jac_set_inf(&expected); /* by the definition too */
        for (size_t i = 0; i < s->n; i++)
            if (bit_get(b, k, i)) s->group->jac_add_aff(&expected, &expected, s->points + i * s->group->aff_bytes);
        assert_true(s->group->jac_eq(&got[k], &expected));
    }
}

static void bits_random(struct bits *b, unsigned k, unsigned of_256)
{
    for (size_t i = 0; i < b->s->n; i++)
        if (prng_below(&rng, 256) < of_256) bit_set(b, k, i);
}

/* A bitmap of each kind together, and one of them alone. */
static void body_bitmaps(struct sum *s)
{
    enum { KINDS = 9 };
    struct bits all;
    bits_init(&all, s, KINDS);
    bits_random(&all, 0, 128);
    bits_random(&all, 2, 256);
    bits_random(&all, 3, 3);
    bits_random(&all, 4, 250);
    if (s->n) bit_set(&all, 5, s->n - 1);
    if (s->n) bit_set(&all, 6, 0);
    for (size_t i = 0; i < s->n; i++) { /* 7: the same as 0; 8: its complement; 1: empty */
        if (bit_get(&all, 0, i)) bit_set(&all, 7, i);
        else bit_set(&all, 8, i);
    }
    bits_soil(&all);
    bits_check(&all, "nine kinds");
    const struct bits one = { s, 1, all.bytes, all.data + s->n % KINDS * all.bytes };
    bits_check(&one, "one bitmap");
    free(all.data);
}

static void bit_sum_sizes(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 31, 32, 33, 64, 127, 128, 129, 1025, 3000 };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) for_each_sum(sizes[i], body_bitmaps);
}

/* More than one chunk, part and batch everywhere. */
static void body_large_bitmaps(struct sum *s)
{
    struct bits b;
    bits_init(&b, s, 4);
    bits_random(&b, 0, 128);
    bits_random(&b, 1, 8);
    bits_random(&b, 2, 240);
    for (size_t i = s->n / 3; i < s->n / 2; i++) bit_set(&b, 3, i);
    bits_soil(&b);
    bits_check(&b, "a large sweep");
    free(b.data);
}

static void bit_sum_large(void **state)
{
    struct sum s;
    (void)state;
    for_each_sum(f.slow ? 300007 : 9011, body_large_bitmaps);
    if (!f.slow) return;
    sum_init(&s, &curve_bls12_381, GROUP_G1, 1000003);
    body_large_bitmaps(&s);
    sum_fini(&s);
}

static void body_bit_points(struct sum *s)
{
    struct bits b;
    bits_init(&b, s, BIT_SUM_MAX);
    for (unsigned k = 0; k < BIT_SUM_MAX; k++) bits_random(&b, k, k == 1 ? 256 : 17 * (k + 1) - 16);
    for (size_t i = 1; i < s->n; i++) copy_point(s, i, 0, false);
    bits_check(&b, "all points equal");
    for (size_t i = 1; i < s->n; i += 2) copy_point(s, i, 0, true);
    bits_check(&b, "P and -P side by side");
    for (size_t i = 0; i < s->n; i++)
        if (prng_u64(&rng) & 1) set_infinity(s, i);
    bits_check(&b, "P, -P and infinity");
    for (size_t i = 0; i < s->n; i++)
        if (i % 64 != 7) set_infinity(s, i);
    bits_check(&b, "infinity but for a few");
    for (size_t i = 0; i < s->n; i++) set_infinity(s, i);
    bits_check(&b, "infinity everywhere");
    free(b.data);
}

static void bit_sum_special_points(void **state)
{
    (void)state;
    for_each_sum(2, body_bit_points);
    for_each_sum(70, body_bit_points);
    for_each_sum(3001, body_bit_points);
}

static void bit_sum_too_many(void **state)
{
    struct bit_sum_plan plan;
    (void)state;
    assert_int_equal(f.b->bit_sum_plan(&plan, &f.t, f.d, &curve_bn254, GROUP_G1, 100, BIT_SUM_MAX + 1), CUZK_INVALID_ARGUMENT);
    task_init(&f.t);
}

/* -- telling values apart -- */

/* Mostly 0 and 1; what else is drawn from all sizes, with values that only look like 0 or 1. */
static void random_witness(const struct curve *c, struct fr_int *out, size_t n, unsigned wide_of_256)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t kind = prng_below(&rng, 256);
        set_small(&out[i], prng_u64(&rng) & 1);
        if (kind >= wide_of_256) continue;
        switch (kind % 5) {
        case 0:
            random_int(c, &out[i]);
            break;
        case 1:
            out[i].w[kind % 3 + 1] = 1 + prng_u64(&rng) % 1000;
            break;
        case 2:
            set_minus(c, &out[i], 1 + (prng_u64(&rng) & 1));
            break;
        default:
            set_small(&out[i], 2 + prng_below(&rng, 300));
            break;
        }
    }
}

static bool is_small(const struct fr_int *k, uint64_t v) { return k->w[0] == v && (k->w[1] | k->w[2] | k->w[3]) == 0; }

static void classify_one(size_t n, unsigned wide_of_256, size_t wide_max, bool gathered)
{
    const struct curve *c = &curve_bn254;
    const size_t pool_count = gathered ? n / 2 + 1 : n;
    struct classify_plan plan;
    struct classify_counts counts, expected = { 0, 0 };
    OK(f.b->classify_plan(&plan, &f.t, f.d, n, wide_max));
    struct fr_int *values = allocate(pool_count * sizeof *values), *got_values = allocate(wide_max * sizeof *values);
    uint32_t *gather = allocate(n * sizeof *gather), *index = allocate(wide_max * sizeof *index);
    uint8_t *bitmap = allocate(plan.bitmap_bytes);
    random_witness(c, values, pool_count, wide_of_256);
    for (size_t i = 0; i < n; i++) gather[i] = gathered ? (uint32_t)prng_below(&rng, pool_count) : (uint32_t)i;
    const size_t shift = f.kind == MEM_DEVICE ? 16 : n % 8;
    struct buffer sc = take_with(values, 32 * pool_count, shift), gb = take_with(gather, n * sizeof *gather, 0), cb = take(sizeof counts),
                  bb = take(plan.bitmap_bytes), ib = take(plan.index_bytes), vb = take(plan.values_bytes), ws = take(plan.workspace_bytes);
    OK(f.b->classify(f.s, &f.t, &plan, &cb, &bb, &ib, &vb, &sc, shift, gathered ? &gb : NULL, &ws));
    OK(f.b->download(f.s, &f.t, &counts, &cb, 0, sizeof counts));
    OK(f.b->download(f.s, &f.t, bitmap, &bb, 0, plan.bitmap_bytes));
    OK(f.b->download(f.s, &f.t, index, &ib, 0, plan.index_bytes));
    OK(f.b->download(f.s, &f.t, got_values, &vb, 0, plan.values_bytes));
    OK(f.b->stream_sync(f.s, &f.t));
    for (size_t i = 0; i < 8 * plan.bitmap_bytes; i++) {
        const struct fr_int *const v = i < n ? &values[gather[i]] : NULL;
        const bool one = v && is_small(v, 1), wide = v && !one && !is_small(v, 0);
        assert_int_equal(bitmap[i / 8] >> (i % 8) & 1, one);
        expected.ones += one;
        if (!wide) continue;
        if (expected.wide < wide_max) {
            assert_int_equal(index[expected.wide], i);
            assert_memory_equal(&got_values[expected.wide], v, sizeof *v);
        }
        expected.wide++;
    }
    assert_int_equal(counts.ones, expected.ones);
    assert_int_equal(counts.wide, expected.wide);
    for (size_t j = expected.wide; j < wide_max; j++) {
        assert_int_equal(index[j], CLASSIFY_NONE);
        assert_true(is_small(&got_values[j], 0));
    }
    f.b->buffer_give(&sc);
    f.b->buffer_give(&gb);
    f.b->buffer_give(&cb);
    f.b->buffer_give(&bb);
    f.b->buffer_give(&ib);
    f.b->buffer_give(&vb);
    f.b->buffer_give(&ws);
    free(values);
    free(got_values);
    free(gather);
    free(index);
    free(bitmap);
}

static void classify_values(void **state)
{
    static const size_t sizes[] = { 0, 1, 31, 32, 33, 127, 129, 1000, 4095, 4097, 16384, 16385, 50021 };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        classify_one(sizes[i], 10, sizes[i], false);
        classify_one(sizes[i], 40, sizes[i], true);
        classify_one(sizes[i], 128, sizes[i] / 9, i & 1); /* more than there is room for */
        classify_one(sizes[i], 256, sizes[i], false);
        classify_one(sizes[i], 0, 0, false);
        classify_one(sizes[i], 0, 7, true);
    }
    if (f.slow) classify_one(3000017, 5, 100000, true);
}

static void body_gather_points(struct sum *s)
{
    const size_t bytes = s->group->aff_bytes, most = 777, shift = f.kind == MEM_DEVICE ? 16 : 3;
    uint32_t *index = allocate(most * sizeof *index);
    uint8_t *got = allocate(most * bytes), *nothing = allocate(bytes);
    for (size_t j = 0; j < most; j++)
        index[j] = j % 10 == 3 ? (j & 1 ? CLASSIFY_NONE : (uint32_t)s->n) : s->n ? (uint32_t)prng_below(&rng, s->n) : CLASSIFY_NONE;
    struct buffer points = take_with(s->points, s->n * bytes, shift), ib = take_with(index, most * sizeof *index, 0), out = take(most * bytes);
    OK(f.b->gather_points(f.s, &f.t, s->c, s->g, &out, &points, shift, s->n, &ib, most));
    OK(f.b->download(f.s, &f.t, got, &out, 0, most * bytes));
    OK(f.b->stream_sync(f.s, &f.t));
    for (size_t j = 0; j < most; j++)
        assert_memory_equal(got + j * bytes, index[j] < s->n ? s->points + index[j] * bytes : nothing, bytes);
    f.b->buffer_give(&points);
    f.b->buffer_give(&ib);
    f.b->buffer_give(&out);
    free(index);
    free(got);
    free(nothing);
}

static void gathered_points(void **state)
{
    (void)state;
    for_each_sum(0, body_gather_points);
    for_each_sum(300, body_gather_points);
}

static void gather_bits_one(size_t count, unsigned bitmaps, uint32_t first, size_t space)
{
    const size_t bit_count = count * 5 / 4 + 40, stride = bitmap_bytes(bit_count) + space, out_bytes = bitmap_bytes(count);
    uint8_t *bits = allocate(stride * bitmaps), *got = allocate(out_bytes * bitmaps);
    uint32_t *list = allocate(count * sizeof *list);
    prng_bytes(&rng, bits, stride * bitmaps);
    for (size_t j = 0; j < count; j++) list[j] = (uint32_t)prng_below(&rng, bit_count + first);
    if (count > 2) list[1] = first + (uint32_t)(8 * stride); /* beyond the bitmap */
    struct buffer from = take_with(bits, stride * bitmaps, 16), lb = take_with(list, count * sizeof *list, 0), out = take(out_bytes * bitmaps);
    OK(f.b->gather_bits(f.s, &f.t, &out, &from, 16, stride, bitmaps, &lb, count, first));
    OK(f.b->download(f.s, &f.t, got, &out, 0, out_bytes * bitmaps));
    OK(f.b->stream_sync(f.s, &f.t));
    for (unsigned k = 0; k < bitmaps; k++)
        for (size_t j = 0; j < 8 * out_bytes; j++) {
            const size_t at = j < count && list[j] >= first ? list[j] - first : 8 * stride;
            const unsigned expected = at < 8 * stride ? bits[k * stride + at / 8] >> (at % 8) & 1 : 0;
            if ((got[k * out_bytes + j / 8] >> (j % 8) & 1) != expected) fail_msg("bit %zu of bitmap %u of %zu bits", j, k, count);
        }
    f.b->buffer_give(&from);
    f.b->buffer_give(&lb);
    f.b->buffer_give(&out);
    free(bits);
    free(got);
    free(list);
}

static void gathered_bits(void **state)
{
    static const size_t sizes[] = { 0, 1, 31, 33, 128, 129, 1000, 9001 };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        gather_bits_one(sizes[i], 1, 0, 0);
        gather_bits_one(sizes[i], 1 + (unsigned)prng_below(&rng, BIT_SUM_MAX), (uint32_t)prng_below(&rng, 70), 16);
    }
    if (f.slow) gather_bits_one(1 << 20, BIT_SUM_MAX, 5, 0);
}

/* -- sums taken apart -- */

static void split_check(const struct sum *s, const struct backend *b, unsigned batch, unsigned wide_of_256, uint64_t wide_max, bool gathered,
                        cuzk_status status)
{
    const struct scalar_field *r = &s->c->fr;
    const size_t pool_count = gathered ? s->n + 5 : s->n;
    struct split_plan plan;
    struct buffer scalars[BIT_SUM_MAX];
    struct fr_int *values[BIT_SUM_MAX];
    struct g_jac got[BIT_SUM_MAX];
    uint32_t *gather = allocate(s->n * sizeof *gather);
    OK(split_msm_plan(&plan, &f.t, b, f.d, s->c, s->g, s->n, batch, wide_max));
    if (b != f.b) assert_int_equal(plan.split, wide_max < s->n);
    for (size_t i = 0; i < s->n; i++) gather[i] = gathered ? (uint32_t)prng_below(&rng, pool_count) : (uint32_t)i;
    struct buffer points = take_with(s->points, s->n * s->group->aff_bytes, 0), gb = take_with(gather, s->n * sizeof *gather, 0),
                  workspace = take(plan.workspace_bytes);
    for (unsigned k = 0; k < batch; k++) {
        values[k] = allocate(pool_count * sizeof **values);
        random_witness(s->c, values[k], pool_count, wide_of_256);
        scalars[k] = take_with(values[k], 32 * pool_count, 32);
    }
    const cuzk_status result = split_msm(f.s, &f.t, b, &plan, got, &points, 0, scalars, 32, gathered ? &gb : NULL, &workspace);
    if (result != status) fail_msg("%s, %zu points, %u witnesses: %s", s->group->name, s->n, batch, f.t.error.text);
    if (status != CUZK_OK) task_init(&f.t);
    for (unsigned k = 0; k < batch; k++) {
        struct fr log, x;
        struct fr_int e;
        struct g_jac expected;
        r->from_u64(&log, 0);
        for (size_t i = 0; i < s->n; i++) {
            r->from_int(&x, &values[k][gather[i]]);
            r->mul(&x, &x, &s->logs[i]);
            r->add(&log, &log, &x);
        }
        r->to_int(&e, &log);
        s->group->jac_from_aff(&expected, &s->group->generator);
        s->group->jac_mul(&expected, &expected, &e);
        if (status == CUZK_OK && !s->group->jac_eq(&got[k], &expected))
            fail_msg("%s %s, %zu points, witness %u of %u", s->c->name, s->group->name, s->n, k, batch);
        f.b->buffer_give(&scalars[k]);
        free(values[k]);
    }
    f.b->buffer_give(&points);
    f.b->buffer_give(&gb);
    f.b->buffer_give(&workspace);
    free(gather);
}

/* To which taking apart costs nothing. */
static struct backend eager_backend(void)
{
    struct backend b = *f.b;
    b.value_cost = 1;
    b.call_cost = -1e18;
    return b;
}

static void body_split(struct sum *s)
{
    const struct backend eager = eager_backend();
    for (size_t i = 0; i < s->n; i += 5) set_infinity(s, i);
    split_check(s, &eager, 1, 13, s->n - 1, false, CUZK_OK);
    split_check(s, &eager, 1, 128, s->n - 1, true, CUZK_OK);
    split_check(s, &eager, 3, 0, 0, false, CUZK_OK); /* nothing but bits, and no room for more */
    split_check(s, f.b, 1, 26, s->n / 5, false, CUZK_OK);
}

/* Sums for many witnesses at once, and refusals. */
static void body_split_batch(struct sum *s)
{
    const struct backend eager = eager_backend();
    struct split_plan plan;
    split_check(s, &eager, 9, 20, s->n - 1, false, CUZK_OK);
    split_check(s, &eager, BIT_SUM_MAX, 20, s->n - 1, true, CUZK_OK);
    split_check(s, &eager, 2, 26, s->n, true, CUZK_OK); /* room for all: plain sums */
    split_check(s, &eager, 2, 250, s->n / 8, false, CUZK_TOO_LARGE);
    assert_int_equal(split_msm_plan(&plan, &f.t, f.b, f.d, s->c, s->g, s->n, 0, 1), CUZK_INVALID_ARGUMENT);
    task_init(&f.t);
    assert_int_equal(split_msm_plan(&plan, &f.t, f.b, f.d, s->c, s->g, s->n, BIT_SUM_MAX + 1, 1), CUZK_INVALID_ARGUMENT);
    task_init(&f.t);
}

static void split_sums(void **state)
{
    struct sum s;
    (void)state;
    for_each_sum(90, body_split);
    sum_init(&s, &curve_bls12_381, GROUP_G1, 3000);
    body_split(&s);
    sum_fini(&s);
    sum_init(&s, &curve_bn254, GROUP_G1, 60);
    body_split_batch(&s);
    sum_fini(&s);
}

/* -- cancelling -- */

static void cancelled(void **state)
{
    struct sum s;
    struct msm_plan plan;
    struct g_jac out;
    atomic_bool cancel;
    (void)state;
    atomic_init(&cancel, true);
    sum_init(&s, &curve_bn254, GROUP_G1, 5000);
    OK(f.b->msm_plan(&plan, &f.t, f.d, s.c, s.g, s.n));
    struct buffer points = take_with(s.points, s.n * s.group->aff_bytes, 0),
                  scalars = take_with(s.scalars, 32 * s.n, 0), workspace = take(plan.workspace_bytes);
    f.t.cancel = &cancel;
    assert_int_equal(f.b->msm(f.s, &f.t, &plan, &out, &points, 0, &scalars, 0, NULL, &workspace),
                     CUZK_CANCELLED);
    task_init(&f.t);
    f.b->buffer_give(&points);
    f.b->buffer_give(&scalars);
    f.b->buffer_give(&workspace);
    sum_fini(&s);
}

/* -- transforms over points -- */

/* Points with known logarithms: the transform over scalars, by its definition, says what must come out. */
static void group_ntt_one(const struct curve *c, enum root_convention v, unsigned log2, bool inverse, bool scales, unsigned split)
{
    struct domain d, by;
    struct group_ntt_plan plan;
    struct fr scale, step, power;
    OK(domain_init(&d, &f.t, c, v, log2));
    const size_t n = d.size, bytes = n * c->g1.aff_bytes;
    struct fr *logs = allocate(n * sizeof *logs), *out = allocate(n * sizeof *out);
    struct fr_int *integers = allocate(n * sizeof *integers);
    uint8_t *points = allocate(bytes), *expected = allocate(bytes);
    random_fr(c, &scale);
    random_fr(c, &step);
    for (size_t i = 0; i < n; i++) {
        if (prng_u64(&rng) % 8 == 0)
            c->fr.from_u64(&logs[i], prng_u64(&rng) % 2); /* infinity, the generator */
        else if (i > 0 && prng_u64(&rng) % 8 == 0)
            logs[i] = logs[i - 1];
        else
            random_fr(c, &logs[i]);
        c->fr.to_int(&integers[i], &logs[i]);
    }
    struct buffer scalars = take_with(integers, 32 * n, 0), on = take(bytes);
    OK(f.b->fixed_base(f.s, &f.t, c, GROUP_G1, &on, 0, &c->g1.generator, &scalars, 0, n));
    OK(f.b->group_ntt_plan(&plan, &f.t, f.d, &d, inverse, scales ? &scale : NULL, scales ? &step : NULL));
    assert_true(split <= plan.pass_count);
    struct buffer workspace = take(plan.workspace_bytes);
    OK(f.b->group_ntt(f.s, &f.t, &plan, &on, 0, split, &workspace));
    OK(f.b->group_ntt(f.s, &f.t, &plan, &on, split, plan.pass_count - split, &workspace));
    OK(f.b->download(f.s, &f.t, points, &on, 0, bytes));
    OK(f.b->stream_sync(f.s, &f.t));

    by = d;
    if (inverse) by.omega = d.omega_inv;
    power = scale;
    for (size_t i = 0; scales && i < n; i++) {
        c->fr.mul(&logs[i], &logs[i], &power);
        c->fr.mul(&power, &power, &step);
    }
    domain_dft_naive(&by, out, logs, false);
    for (size_t i = 0; i < n; i++) c->fr.to_int(&integers[i], &out[i]);
    OK(f.b->upload(f.s, &f.t, &scalars, 0, integers, 32 * n));
    OK(f.b->fixed_base(f.s, &f.t, c, GROUP_G1, &on, 0, &c->g1.generator, &scalars, 0, n));
    OK(f.b->download(f.s, &f.t, expected, &on, 0, bytes));
    OK(f.b->stream_sync(f.s, &f.t));
    assert_memory_equal(points, expected, bytes);
    f.b->buffer_give(&workspace);
    f.b->buffer_give(&on);
    f.b->buffer_give(&scalars);
    free(logs);
    free(out);
    free(integers);
    free(points);
    free(expected);
}

static void group_ntt_definition(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++)
        for (unsigned log2 = 0; log2 <= (f.slow ? 10u : 7u); log2++)
            group_ntt_one(curves[c], conventions[(log2 + c) % 2], log2, log2 % 3 != 1, log2 % 4 != 2,
                          (unsigned)(prng_u64(&rng) % (log2 + 2)));
}

static void group_ntt_passes(void **state)
{
    struct domain d;
    struct group_ntt_plan plan;
    (void)state;
    OK(domain_init(&d, &f.t, &curve_bn254, ROOT_SNARKJS, 3));
    OK(f.b->group_ntt_plan(&plan, &f.t, f.d, &d, true, NULL, NULL));
    struct buffer on = take(8 * curve_bn254.g1.aff_bytes), workspace = take(plan.workspace_bytes);
    assert_int_equal(f.b->group_ntt(f.s, &f.t, &plan, &on, 0, plan.pass_count + 1, &workspace), CUZK_INVALID_ARGUMENT);
    task_init(&f.t);
    on.bytes--;
    assert_int_equal(f.b->group_ntt(f.s, &f.t, &plan, &on, 0, 1, &workspace), CUZK_INVALID_ARGUMENT);
    task_init(&f.t);
    on.bytes++;
    f.b->buffer_give(&on);
    f.b->buffer_give(&workspace);
}

int backend_cases_run(const char *backend, enum mem_kind kind, const struct device_options *options,
                      bool slow)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(domain_limits),
        cmocka_unit_test(lagrange),
        cmocka_unit_test(ntt_definition),
        cmocka_unit_test(ntt_random_points),
        cmocka_unit_test(ntt_large),
        cmocka_unit_test(quotient_definition),
        cmocka_unit_test(quotient_identity),
        cmocka_unit_test(eval_rows_against_definition),
        cmocka_unit_test(msm_sizes),
        cmocka_unit_test(msm_constant_scalars),
        cmocka_unit_test(msm_small_scalars),
        cmocka_unit_test(msm_special_points),
        cmocka_unit_test(msm_skewed),
        cmocka_unit_test(msm_gather),
        cmocka_unit_test(msm_scalar_too_large),
        cmocka_unit_test(msm_large),
        cmocka_unit_test(msm_kzg),
        cmocka_unit_test(fixed_base_multiples),
        cmocka_unit_test(group_ntt_definition),
        cmocka_unit_test(group_ntt_passes),
        cmocka_unit_test(bit_sum_sizes),
        cmocka_unit_test(bit_sum_special_points),
        cmocka_unit_test(bit_sum_large),
        cmocka_unit_test(bit_sum_too_many),
        cmocka_unit_test(classify_values),
        cmocka_unit_test(gathered_points),
        cmocka_unit_test(gathered_bits),
        cmocka_unit_test(split_sums),
        cmocka_unit_test(cancelled),
    };
    struct device_info info;
    task_init(&f.t);
    f.b = backend_by_name(backend);
    f.kind = kind;
    f.slow = slow;
    if (!f.b || f.b->open(&f.d, &f.t, options) != CUZK_OK || f.b->stream_open(&f.s, &f.t, f.d) != CUZK_OK) {
        printf("%s: cannot be opened: %s\n", backend, f.t.error.text);
        return 1;
    }
    f.b->info(f.d, &info);
    printf("%s: %s, %s, %u units\n", info.backend, info.name, info.variant, info.unit_count);
    prng_init(&rng);
    const int failed = cmocka_run_group_tests_name(info.variant, cases, NULL, NULL);
    f.b->stream_close(f.s);
    f.b->close(f.d);
    return failed;
}
