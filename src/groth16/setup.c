/* Development keys: a key for a circuit from toxic waste that this process knows.  Not for production.
 *
 * For variable v and the Lagrange polynomials L_i of the domain, A_v(tau) = sum over rows of A's coefficient x L_row(tau), likewise
 * B and C; after the constraints come public_count + 1 rows that hold one input each, in A only.  Every point of the key is one of
 * these scalars, or a combination of three, times a generator: docs/maths.md, "Keys". */
#include "groth16/setup.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/hostmem.h"
#include "formats/snarkjs_json.h"
#include "formats/zkey_layout.h"
#include "groth16/chunks.h"
#include "groth16/new_file.h"
#include "hash/sha256.h"
#include <stdlib.h>
#include <string.h>

/* Points multiplied at once, at most.  Large enough that the tables of fixed_base are cheap beside the sums (18 additions a point
 * instead of 22 at 2^15), and 75 MB of workspace on BLS12-381. */
#define MOST_POINTS  ((uint64_t)1 << 18)
#define ENCODE_CHUNK 4096 /* points: about a millisecond */

struct setup {
    const struct curve *curve;
    const struct constraints *circuit;
    enum root_convention layout;
    const struct backend *backend;
    struct device *device;
    struct stream *stream;
    struct domain domain;
    uint64_t variables, inputs,
        coefficients;   /* inputs with the constant; coefficients of A and B, binding rows included */
    uint32_t *dense[2]; /* bellman: variables of A's and B's points */
    uint64_t dense_count[2];
    struct new_file file, derived;
    uint8_t *target; /* of the two the one that is being filled, and how points stand in it */
    enum point_encoding encoding;
    struct vk_points vk;
    struct g_aff beta1, delta1;
    /* all secret, in the arena */
    struct arena arena;
    struct fr tau, alpha, beta, delta, gamma_inv, delta_inv;
    struct fr *at_tau[3];    /* A_v, B_v, C_v */
    uint64_t chunk;          /* points multiplied at once */
    struct fr *scalars;      /* chunk */
    struct fr *scratch;      /* chunk */
    struct fr_int *integers; /* chunk */
    uint8_t *points;         /* chunk of G2 */
};

cuzk_status groth16_setup_draw(struct task *t, struct trapdoor *out, const struct curve *c,
                               enum root_convention layout)
{
    struct fr_int *const secret[] = { &out->tau, &out->alpha, &out->beta, &out->gamma, &out->delta };
    struct fr drawn;
    cuzk_status status = CUZK_OK;

    out->curve = c;
    out->layout = layout;
    for (size_t i = 0; i < ARRAY_COUNT(secret); i++) {
        TRY_GOTO(out, curve_random_scalar(c, t, &drawn));
        c->fr.to_int(secret[i], &drawn);
    }
    if (layout == ROOT_SNARKJS) {
        c->fr.from_u64(&drawn, 1);
        c->fr.to_int(&out->gamma, &drawn);
    }
out:
    wipe(&drawn, sizeof drawn);
    if (status != CUZK_OK) wipe(out, sizeof *out);
    return status;
}

/* -- the polynomials at tau -------------------------------------------------------------------------------------------- */

struct evaluation {
    struct setup *setup;
    const struct fr *lagrange;
    bool *occurs[2];
    struct fr value; /* secret: here so that it is wiped once, not once a term */
};

static cuzk_status evaluate_term(void *context, struct task *t, const struct constraint_term *term)
{
    struct evaluation *e = context;
    struct setup *s = e->setup;
    const struct scalar_field *f = &s->curve->fr;

    (void)t;
    if (term->side != R1CS_C) s->coefficients++;
    if (f->is_zero(&term->coefficient)) return CUZK_OK;
    if (term->side != R1CS_C) e->occurs[term->side][term->variable] = true;
    f->mul(&e->value, &term->coefficient, &e->lagrange[term->row]);
    f->add(&s->at_tau[term->side][term->variable], &s->at_tau[term->side][term->variable], &e->value);
    return CUZK_OK;
}

static cuzk_status evaluate_terms(struct task *t, struct setup *s, const struct fr *lagrange, bool *occurs[2])
{
    const struct scalar_field *f = &s->curve->fr;
    struct evaluation e = { .setup = s, .lagrange = lagrange, .occurs = { occurs[0], occurs[1] } };

    s->coefficients = s->inputs;
    const cuzk_status status = s->circuit->walk(s->circuit->circuit, t, evaluate_term, &e);
    wipe(&e.value, sizeof e.value);
    if (status != CUZK_OK) return status;
    for (uint64_t i = 0; i < s->inputs; i++) {
        f->add(&s->at_tau[R1CS_A][i], &s->at_tau[R1CS_A][i], &lagrange[s->circuit->row_count + i]);
        occurs[R1CS_A][i] = true;
    }
    return CUZK_OK;
}

static cuzk_status list_dense(struct task *t, struct setup *s, int side, const bool *occurs)
{
    uint64_t count = 0;

    s->dense[side] = malloc(s->variables * sizeof(uint32_t));
    if (s->dense[side] == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for the density of %llu variables",
                    (unsigned long long)s->variables);
    for (uint64_t v = 0; v < s->variables; v++)
        if (occurs[v]) s->dense[side][count++] = (uint32_t)v;
    s->dense_count[side] = count;
    return CUZK_OK;
}

static cuzk_status evaluate_at_tau(struct task *t, struct setup *s)
{
    const size_t mark = arena_mark(&s->arena);
    bool *occurs[2] = { calloc(s->variables, 1), calloc(s->variables, 1) };
    void *lagrange;
    cuzk_status status = CUZK_OK;

    if (occurs[0] == NULL || occurs[1] == NULL) {
        status =
            FAIL(t, CUZK_NO_MEMORY, "no memory to mark %llu variables", (unsigned long long)s->variables);
        goto out;
    }
    TRY_GOTO(out, arena_take(&s->arena, t, &lagrange, s->domain.size * sizeof(struct fr)));
    TRY_GOTO(out, domain_lagrange(&s->domain, t, lagrange, &s->tau));
    TRY_GOTO(out, evaluate_terms(t, s, lagrange, occurs));
    for (int side = 0; side < 2 && s->layout == ROOT_BELLMAN; side++)
        TRY_GOTO(out, list_dense(t, s, side, occurs[side]));
out:
    arena_reset(&s->arena, mark);
    free(occurs[0]);
    free(occurs[1]);
    return status;
}

/* -- the scalars of each query: out[i] for i in [begin, begin + count) ------------------------------------------------- */

typedef void scalar_source(struct setup *s, struct fr *out, uint64_t begin, uint64_t count);

static void scalars_a(struct setup *s, struct fr *out, uint64_t begin, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = s->at_tau[R1CS_A][s->dense[0] != NULL ? s->dense[0][begin + i] : begin + i];
}

static void scalars_b(struct setup *s, struct fr *out, uint64_t begin, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = s->at_tau[R1CS_B][s->dense[1] != NULL ? s->dense[1][begin + i] : begin + i];
}

/* (beta A_v + alpha B_v + C_v) x by */
static void combine(struct setup *s, struct fr *out, uint64_t first, uint64_t count, const struct fr *by)
{
    const struct scalar_field *f = &s->curve->fr;
    struct fr term;

    for (uint64_t i = 0; i < count; i++) {
        f->mul(&out[i], &s->at_tau[R1CS_A][first + i], &s->beta);
        f->mul(&term, &s->at_tau[R1CS_B][first + i], &s->alpha);
        f->add(&out[i], &out[i], &term);
        f->add(&out[i], &out[i], &s->at_tau[R1CS_C][first + i]);
        f->mul(&out[i], &out[i], by);
    }
    wipe(&term, sizeof term);
}

static void scalars_ic(struct setup *s, struct fr *out, uint64_t begin, uint64_t count)
{
    combine(s, out, begin, count, &s->gamma_inv);
}

static void scalars_l(struct setup *s, struct fr *out, uint64_t begin, uint64_t count)
{
    combine(s, out, s->inputs + begin, count, &s->delta_inv);
}

/* Z(tau) = tau^n - 1, and tau^n - shift^n, which vanishes on the coset. */
static void vanishing(struct setup *s, struct fr *on_domain, struct fr *on_coset)
{
    const struct scalar_field *f = &s->curve->fr;
    struct fr power, one;

    f->from_u64(&one, 1);
    f->pow(&power, &s->tau, s->domain.size);
    f->sub(on_domain, &power, &one);
    f->pow(&one, &s->domain.shift, s->domain.size);
    f->sub(on_coset, &power, &one);
    wipe(&power, sizeof power);
}

/* The derived form: -z Z(tau) C_v / delta for the inputs, (beta A_v + alpha B_v + C_v - z Z(tau) C_v) / delta for the others. */
static void scalars_derived_l(struct setup *s, struct fr *out, uint64_t begin, uint64_t count)
{
    const struct scalar_field *f = &s->curve->fr;
    const uint64_t inputs = begin < s->inputs ? s->inputs - begin < count ? s->inputs - begin : count : 0;
    struct fr factor, coset, term;

    vanishing(s, &factor, &coset);
    f->mul(&factor, &factor, &s->domain.z_coset_inv);
    f->mul(&factor, &factor, &s->delta_inv);
    for (uint64_t i = 0; i < inputs; i++) f->from_u64(&out[i], 0);
    combine(s, out + inputs, begin + inputs, count - inputs, &s->delta_inv);
    for (uint64_t i = 0; i < count; i++) {
        f->mul(&term, &s->at_tau[R1CS_C][begin + i], &factor);
        f->sub(&out[i], &out[i], &term);
    }
    wipe(&factor, sizeof factor);
    wipe(&coset, sizeof coset);
    wipe(&term, sizeof term);
}

/* H_i = Z(tau) / (delta Z(x_i)) x (the Lagrange polynomial of x_i over the coset)(tau), x_i = shift omega^i.  Z is the same everywhere on
 * the coset, and the Lagrange polynomial is x_i (x^n - shift^n) / (n shift^n (x - x_i)). */
static void scalars_h_lagrange(struct setup *s, struct fr *out, uint64_t begin, uint64_t count)
{
    const struct scalar_field *f = &s->curve->fr;
    struct fr factor, coset, x, shift_power;

    vanishing(s, &factor, &coset);
    f->mul(&factor, &factor, &coset);
    f->mul(&factor, &factor, &s->domain.z_coset_inv);
    f->mul(&factor, &factor, &s->delta_inv);
    f->mul(&factor, &factor, &s->domain.size_inv);
    f->pow(&shift_power, &s->domain.shift_inv, s->domain.size);
    f->mul(&factor, &factor, &shift_power);

    f->pow(&x, &s->domain.omega, begin);
    f->mul(&x, &x, &s->domain.shift);
    for (uint64_t i = 0; i < count; i++) {
        f->mul(&out[i], &factor, &x);
        f->sub(&s->scratch[i], &s->tau, &x);
        f->mul(&x, &x, &s->domain.omega);
    }
    f->batch_inv(s->scratch, count);
    for (uint64_t i = 0; i < count; i++) f->mul(&out[i], &out[i], &s->scratch[i]);
    wipe(&factor, sizeof factor);
    wipe(&coset, sizeof coset);
}

/* H_i = tau^i Z(tau) / delta */
static void scalars_h_bellman(struct setup *s, struct fr *out, uint64_t begin, uint64_t count)
{
    const struct scalar_field *f = &s->curve->fr;
    struct fr factor, coset;

    vanishing(s, &factor, &coset);
    f->mul(&factor, &factor, &s->delta_inv);
    f->pow(&coset, &s->tau, begin);
    f->mul(&factor, &factor, &coset);
    for (uint64_t i = 0; i < count; i++) {
        out[i] = factor;
        f->mul(&factor, &factor, &s->tau);
    }
    wipe(&factor, sizeof factor);
    wipe(&coset, sizeof coset);
}

/* -- points into the file ---------------------------------------------------------------------------------------------- */

static cuzk_status refuse_infinity(struct task *t, struct setup *s, const char *query, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (!s->curve->fr.is_zero(&s->scalars[i])) continue;
        const cuzk_status status =
            FAIL(t, CUZK_UNSUPPORTED,
                 "a variable of the circuit occurs in no constraint; bellman's layout has no place "
                 "for its point");
        task_fail_place(t, s->circuit->name, ERROR_NO_OFFSET, query,
                        "remove the unused signal, or make a .zkey");
        return status;
    }
    return CUZK_OK;
}

struct encoding {
    const struct group *group;
    const uint8_t *points;
    uint8_t *out;
    enum point_encoding encoding;
    size_t encoded_bytes;
};

static cuzk_status encode_points(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct encoding *e = context;
    struct g_aff point;

    (void)t;
    for (uint64_t i = begin; i < end; i++) {
        memcpy(&point, e->points + i * e->group->aff_bytes, e->group->aff_bytes);
        e->group->encode(e->out + i * e->encoded_bytes, &point, e->encoding);
    }
    return CUZK_OK;
}

static cuzk_status write_points(struct task *t, struct setup *s, const char *query, const struct group *g,
                                uint64_t offset, uint64_t count, scalar_source *source)
{
    struct buffer scalars = buffer_borrow(s->device, span_of(s->integers, s->chunk * sizeof *s->integers));
    struct buffer points = buffer_borrow(s->device, span_of(s->points, s->chunk * g->aff_bytes));
    struct encoding e = { g, s->points, s->target + offset, s->encoding, g->encoded_bytes(s->encoding) };

    for (uint64_t begin = 0; begin < count; begin += s->chunk) {
        const uint64_t n = count - begin < s->chunk ? count - begin : s->chunk;
        task_progress(t, query, begin, count);
        TRY(task_poll(t));
        source(s, s->scalars, begin, n);
        if (s->encoding == ENCODING_ZCASH) TRY(refuse_infinity(t, s, query, n));
        for (uint64_t i = 0; i < n; i++) s->curve->fr.to_int(&s->integers[i], &s->scalars[i]);
        TRY(s->backend->fixed_base(s->stream, t, s->curve, g->id, &points, 0, &g->generator, &scalars, 0, n));
        TRY(s->backend->stream_sync(s->stream, t));
        TRY(chunks_run(t, NULL, n, ENCODE_CHUNK, encode_points, &e));
        e.out += n * e.encoded_bytes;
    }
    task_progress(t, query, count, count);
    return CUZK_OK;
}

static void multiple_of_generator(const struct group *g, struct g_aff *out, const struct fr_int *k)
{
    struct g_jac p;

    g->jac_from_aff(&p, &g->generator);
    g->jac_mul(&p, &p, k);
    g->jac_to_aff(out, &p);
}

static cuzk_status make_vk(struct task *t, struct setup *s, const struct trapdoor *secrets)
{
    const struct curve *c = s->curve;
    struct fr scalar;
    struct fr_int integer;

    s->vk.curve = c;
    s->vk.ic_count = s->inputs;
    s->vk.ic = calloc(s->inputs, sizeof *s->vk.ic);
    if (s->vk.ic == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for %llu points", (unsigned long long)s->inputs);
    multiple_of_generator(&c->g1, &s->vk.alpha1, &secrets->alpha);
    multiple_of_generator(&c->g1, &s->beta1, &secrets->beta);
    multiple_of_generator(&c->g2, &s->vk.beta2, &secrets->beta);
    multiple_of_generator(&c->g2, &s->vk.gamma2, &secrets->gamma);
    multiple_of_generator(&c->g1, &s->delta1, &secrets->delta);
    multiple_of_generator(&c->g2, &s->vk.delta2, &secrets->delta);
    for (uint64_t i = 0; i < s->inputs; i++) {
        scalars_ic(s, &scalar, i, 1);
        c->fr.to_int(&integer, &scalar);
        multiple_of_generator(&c->g1, &s->vk.ic[i], &integer);
    }
    wipe(&scalar, sizeof scalar);
    wipe(&integer, sizeof integer);
    return CUZK_OK;
}

/* -- the two files ----------------------------------------------------------------------------------------------------- */

struct coefficients {
    const struct curve *curve;
    uint8_t *out;
};

static cuzk_status write_coefficient(void *context, struct task *t, const struct constraint_term *term)
{
    struct coefficients *c = context;
    const struct zkey_coef coef = {
        .matrix = term->side, .row = (uint32_t)term->row, .wire = term->variable, .value = term->coefficient
    };

    (void)t;
    if (term->side == R1CS_C) return CUZK_OK;
    zkey_coef_write(c->out, c->curve, &coef);
    c->out += ZKEY_COEF_BYTES;
    return CUZK_OK;
}

static cuzk_status write_coefficients(struct task *t, struct setup *s, uint8_t *out)
{
    struct coefficients c = { s->curve, out };
    struct constraint_term binding = { .side = R1CS_A };

    TRY(s->circuit->walk(s->circuit->circuit, t, write_coefficient, &c));
    s->curve->fr.from_u64(&binding.coefficient, 1);
    for (uint64_t i = 0; i < s->inputs; i++) {
        binding.row = s->circuit->row_count + i;
        binding.variable = (uint32_t)i;
        TRY(write_coefficient(&c, t, &binding));
    }
    return CUZK_OK;
}

static uint8_t *put_point(uint8_t *at, const struct group *g, const struct g_aff *p)
{
    g->encode(at, p, ENCODING_MONT_LE);
    return at + g->aff_bytes;
}

static cuzk_status write_zkey(struct task *t, struct setup *s, const char *key_path)
{
    const struct group *g1 = &s->curve->g1, *g2 = &s->curve->g2;
    const struct zkey_shape shape = { s->curve, (uint32_t)s->variables, (uint32_t)s->inputs - 1,
                                      s->domain.size, s->coefficients };
    struct zkey_layout at;

    if (s->coefficients > UINT32_MAX)
        return FAIL(t, CUZK_TOO_LARGE, "%llu coefficients; a .zkey holds at most 2^32 - 1",
                    (unsigned long long)s->coefficients);
    zkey_layout_plan(&at, &shape);
    TRY(new_file_open(&s->file, t, key_path, at.file_bytes, 0644));
    s->target = s->file.data;
    s->encoding = ENCODING_MONT_LE;
    zkey_layout_write(s->file.data, &at, &shape);
    uint8_t *head = s->file.data + at.header_points;
    head = put_point(head, g1, &s->vk.alpha1);
    head = put_point(head, g1, &s->beta1);
    head = put_point(head, g2, &s->vk.beta2);
    head = put_point(head, g2, &s->vk.gamma2);
    head = put_point(head, g1, &s->delta1);
    put_point(head, g2, &s->vk.delta2);
    /* The circuit hash stays zero: it binds a ceremony's transcript, and this key has none. */
    TRY(write_coefficients(t, s, s->file.data + at.coefs));
    TRY(write_points(t, s, "IC", g1, at.ic, s->inputs, scalars_ic));
    TRY(write_points(t, s, "H", g1, at.h, s->domain.size, scalars_h_lagrange));
    TRY(write_points(t, s, "C", g1, at.c, s->variables - s->inputs, scalars_l));
    TRY(write_points(t, s, "A", g1, at.a, s->variables, scalars_a));
    TRY(write_points(t, s, "B1", g1, at.b1, s->variables, scalars_b));
    return write_points(t, s, "B2", g2, at.b2, s->variables, scalars_b);
}

static cuzk_status write_params(struct task *t, struct setup *s, const char *key_path)
{
    const struct group *g1 = &s->curve->g1, *g2 = &s->curve->g2;
    const struct filparams_shape shape = { s->inputs, (uint32_t)(s->domain.size - 1),
                                           (uint32_t)(s->variables - s->inputs), (uint32_t)s->dense_count[0],
                                           (uint32_t)s->dense_count[1] };
    struct filparams_layout at;

    filparams_layout_plan(&at, &shape);
    TRY(new_file_open(&s->file, t, key_path, at.file_bytes, 0644));
    s->target = s->file.data;
    s->encoding = ENCODING_ZCASH;
    filparams_layout_write(s->file.data, &at, &shape);
    filvk_write(s->file.data, &s->vk, &s->beta1, &s->delta1);
    TRY(write_points(t, s, "h", g1, at.h, shape.h_count, scalars_h_bellman));
    TRY(write_points(t, s, "l", g1, at.l, shape.l_count, scalars_l));
    TRY(write_points(t, s, "a", g1, at.a, shape.a_count, scalars_a));
    TRY(write_points(t, s, "b_g1", g1, at.b_g1, shape.b_count, scalars_b));
    return write_points(t, s, "b_g2", g2, at.b_g2, shape.b_count, scalars_b);
}

/* The derived form of the key that has just been written: what groth16_derive makes from a key, here from its secrets.  (For bellman's H other
 * points that serve as well: what stands for the coefficient that is always zero is free.) */
static cuzk_status write_derived(struct task *t, struct setup *s, const char *path)
{
    const struct derived_shape shape = { s->curve, s->layout, s->domain.log2, s->variables, s->inputs };
    const struct group *g1 = &s->curve->g1;
    uint8_t digest[SHA256_BYTES];
    struct derived_layout at;

    derived_layout_plan(&at, &shape);
    TRY(new_file_open(&s->derived, t, path, at.file_bytes, 0600));
    s->target = s->derived.data;
    s->encoding = ENCODING_MONT_LE;
    TRY(write_points(t, s, "derived L", g1, at.offset[DERIVED_IC], s->variables, scalars_derived_l));
    TRY(write_points(t, s, "derived H", g1, at.offset[DERIVED_H], at.count[DERIVED_H], scalars_h_lagrange));
    sha256_of(digest, s->file.data, s->file.size);
    derived_file_finish(s->derived.data, &shape, digest, s->file.size);
    return CUZK_OK;
}

static cuzk_status write_vk(struct task *t, const struct setup *s, const char *vk_path)
{
    struct json_text text = { 0 };
    cuzk_status status;

    if (s->layout == ROOT_SNARKJS) {
        TRY(snarkjs_vk_write(t, &text, &s->vk));
        status = mapfile_write(t, vk_path, text.data, text.size, 0644);
        json_text_fini(&text);
        return status;
    }
    uint8_t *bytes = malloc(filvk_file_bytes(s->vk.ic_count));
    if (bytes == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for the verifying key");
    filvk_write(bytes, &s->vk, &s->beta1, &s->delta1);
    status = mapfile_write(t, vk_path, bytes, filvk_file_bytes(s->vk.ic_count), 0644);
    free(bytes);
    return status;
}

/* -- the whole --------------------------------------------------------------------------------------------------------- */

static cuzk_status take_memory(struct task *t, struct setup *s)
{
    const size_t vector = s->variables * sizeof(struct fr);
    void *p;

    s->chunk = s->variables > s->domain.size ? s->variables : s->domain.size;
    if (s->chunk > MOST_POINTS) s->chunk = MOST_POINTS;
    const size_t g2_bytes = s->chunk * s->curve->g2.aff_bytes;
    const size_t arena_bytes = 3 * arena_round(vector) + 3 * arena_round(s->chunk * sizeof(struct fr)) +
                               arena_round(g2_bytes) + arena_round(s->domain.size * sizeof(struct fr));
    /* Besides: two marks a variable, and for bellman two lists of those that are marked. */
    TRY(hostmem_allows(t, s->circuit->name, arena_bytes + s->variables * (2 + 2 * sizeof(uint32_t)),
                       "setting up this circuit"));
    TRY(arena_open(&s->arena, t, arena_bytes, ARENA_SECRET));
    for (int side = 0; side < 3; side++) {
        TRY(arena_take(&s->arena, t, &p, vector));
        memset(p, 0, vector);
        s->at_tau[side] = p;
    }
    TRY(arena_take(&s->arena, t, &p, s->chunk * sizeof(struct fr)));
    s->scalars = p;
    TRY(arena_take(&s->arena, t, &p, s->chunk * sizeof(struct fr)));
    s->scratch = p;
    TRY(arena_take(&s->arena, t, &p, s->chunk * sizeof(struct fr_int)));
    s->integers = p;
    TRY(arena_take(&s->arena, t, &p, g2_bytes));
    s->points = p;
    return CUZK_OK;
}

static cuzk_status prepare(struct task *t, struct setup *s, const struct trapdoor *secrets)
{
    const struct scalar_field *f = &s->curve->fr;
    if (s->layout == ROOT_BELLMAN && s->curve->id != CURVE_BLS12_381)
        return FAIL(t, CUZK_UNSUPPORTED,
                    "bellman's layout is defined for bls12_381 only; the circuit is over %s", s->curve->name);
    if (secrets->curve != s->curve)
        return FAIL(t, CUZK_MISMATCH, "the secrets are over %s, the circuit over %s", secrets->curve->name,
                    s->curve->name);
    TRY(domain_init(&s->domain, t, s->curve, s->layout, constraints_domain_log2(s->circuit)));
    s->variables = s->circuit->variable_count;
    s->inputs = s->circuit->input_count;
    f->from_int(&s->tau, &secrets->tau);
    f->from_int(&s->alpha, &secrets->alpha);
    f->from_int(&s->beta, &secrets->beta);
    f->from_int(&s->delta, &secrets->delta);
    f->inv(&s->delta_inv, &s->delta);
    f->from_int(&s->gamma_inv, &secrets->gamma);
    f->inv(&s->gamma_inv, &s->gamma_inv);
    return CUZK_OK;
}

cuzk_status groth16_setup_write(struct task *t, const struct r1cs_file *circuit,
                                const struct trapdoor *secrets, const struct groth16_setup_paths *paths,
                                const struct backend *backend, struct device *device)
{
    struct constraints constraints;

    constraints_of_r1cs(&constraints, circuit);
    return groth16_setup_constraints(t, &constraints, secrets, paths, backend, device);
}

cuzk_status groth16_setup_constraints(struct task *t, const struct constraints *circuit,
                                      const struct trapdoor *secrets, const struct groth16_setup_paths *paths,
                                      const struct backend *backend, struct device *device)
{
    struct setup s;
    cuzk_status status;

    if (!backend->reads_host_memory)
        return FAIL(t, CUZK_UNSUPPORTED, "the %s backend does not make keys; cpu does", backend->name);
    memset(&s, 0, sizeof s);
    s.curve = circuit->curve;
    s.circuit = circuit;
    s.layout = secrets->layout;
    s.backend = backend;
    s.device = device;
    TRY_GOTO(out, prepare(t, &s, secrets));
    TRY_GOTO(out, take_memory(t, &s));
    TRY_GOTO(out, backend->stream_open(&s.stream, t, device));
    TRY_GOTO(out, evaluate_at_tau(t, &s));
    TRY_GOTO(out, make_vk(t, &s, secrets));
    if (s.layout == ROOT_SNARKJS)
        TRY_GOTO(out, write_zkey(t, &s, paths->key));
    else
        TRY_GOTO(out, write_params(t, &s, paths->key));
    if (paths->derived != NULL) TRY_GOTO(out, write_derived(t, &s, paths->derived));
    /* The key goes last: where it stands, its verifying key and its derived form stand too. */
    if (paths->vk != NULL) TRY_GOTO(out, write_vk(t, &s, paths->vk));
    if (paths->derived != NULL) TRY_GOTO(out, new_file_commit(&s.derived, t));
    TRY_GOTO(out, new_file_commit(&s.file, t));
out:
    new_file_discard(&s.derived);
    new_file_discard(&s.file);
    if (s.stream != NULL) backend->stream_close(s.stream);
    arena_close(&s.arena);
    free(s.dense[0]);
    free(s.dense[1]);
    vk_points_fini(&s.vk);
    wipe(&s, sizeof s);
    return status;
}
