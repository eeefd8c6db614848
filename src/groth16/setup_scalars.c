/* The scalars of a development key. */
#include "groth16/setup_scalars.h"
#include "base/bytes.h"
#include "base/hostmem.h"
#include "base/pool.h"
#include "groth16/chunks.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCALARS_CHUNK = 4096, /* below a millisecond of products */
    SCALARS_BLOCK = 256,  /* made at once, on the stack; an inversion each where denominators are inverted */
};

/* -- the polynomials at tau -------------------------------------------------------------------------------------------- */

/* How the circuit is walked: by pieces, a side in each of three walks, or all in one. */
enum walks { WALK_PIECES, WALK_SIDES, WALK_ONE };

struct evaluation {
    struct setup_scalars *scalars;
    struct task *task; /* whose cancel flag and deadline count */
    const struct fr *lagrange;
    bool *occurs[2];
    enum walks walks;
    pthread_mutex_t lock; /* of variables that occur in several pieces, and of coefficients */
    uint64_t coefficients[3];
};

struct walk {
    struct evaluation *evaluation;
    unsigned sides; /* those that are of interest, bit by bit */
    struct constraint_own own;
    uint64_t coefficients[3];
    bool has_constant[3];
    /* Secret: here so that they are wiped once, not once a term. */
    struct fr one, minus_one, value, constants[3]; /* constants: of variable 0, which is everywhere */
};

static void add_scaled(struct walk *w, struct fr *sum, const struct fr *coefficient, const struct fr *at)
{
    const struct scalar_field *f = &w->evaluation->scalars->curve->fr;

    if (f->eq(coefficient, &w->one)) {
        f->add(sum, sum, at);
    } else if (f->eq(coefficient, &w->minus_one)) {
        f->sub(sum, sum, at);
    } else {
        f->mul(&w->value, coefficient, at);
        f->add(sum, sum, &w->value);
    }
}

static cuzk_status evaluate_term(void *context, struct task *t, const struct constraint_term *term)
{
    struct walk *w = context;
    struct evaluation *e = w->evaluation;
    const struct fr *const at = &e->lagrange[term->row];
    struct fr *const sum = &e->scalars->at_tau[term->side][term->variable];
    const bool shared = e->walks == WALK_PIECES && !constraint_owns(&w->own, term->variable);

    (void)t;
    if ((w->sides >> term->side & 1) == 0) return CUZK_OK;
    w->coefficients[term->side]++;
    if (e->scalars->curve->fr.is_zero(&term->coefficient)) return CUZK_OK;
    if (term->variable == 0) {
        w->has_constant[term->side] = true;
        add_scaled(w, &w->constants[term->side], &term->coefficient, at);
        return CUZK_OK;
    }
    if (shared) pthread_mutex_lock(&e->lock);
    if (term->side != R1CS_C) e->occurs[term->side][term->variable] = true;
    add_scaled(w, sum, &term->coefficient, at);
    if (shared) pthread_mutex_unlock(&e->lock);
    return CUZK_OK;
}

/* What a walk has of the constant and of counts. */
static void add_walk(struct evaluation *e, const struct walk *w)
{
    const struct scalar_field *f = &e->scalars->curve->fr;

    pthread_mutex_lock(&e->lock);
    for (int side = 0; side < 3; side++) {
        struct fr *const sum = &e->scalars->at_tau[side][0];
        f->add(sum, sum, &w->constants[side]);
        e->coefficients[side] += w->coefficients[side];
        if (side != R1CS_C && w->has_constant[side]) e->occurs[side][0] = true;
    }
    pthread_mutex_unlock(&e->lock);
}

static cuzk_status evaluate_walk(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    struct evaluation *e = context;
    const struct constraints *circuit = e->scalars->circuit;
    struct walk w = { .evaluation = e, .sides = e->walks == WALK_SIDES ? 1u << begin : 7 };
    struct task own;

    (void)end;
    task_init(&own);
    own.cancel = e->task->cancel;
    own.deadline_ns = e->task->deadline_ns;
    e->scalars->curve->fr.from_u64(&w.one, 1);
    e->scalars->curve->fr.neg(&w.minus_one, &w.one);
    const cuzk_status status =
        e->walks == WALK_PIECES
            ? circuit->walk_piece(circuit->circuit, &own, (uint32_t)begin, &w.own, evaluate_term, &w)
            : circuit->walk(circuit->circuit, &own, evaluate_term, &w);
    t->error = own.error;
    add_walk(e, &w);
    wipe(&w, sizeof w);
    return status;
}

static cuzk_status evaluate_terms(struct task *t, struct setup_scalars *s, const struct fr *lagrange,
                                  bool *occurs[2])
{
    const struct scalar_field *f = &s->curve->fr;
    struct evaluation e = {
        .scalars = s, .task = t, .lagrange = lagrange, .occurs = { occurs[0], occurs[1] }
    };
    uint64_t count = 1;

    if (pthread_mutex_init(&e.lock, NULL) != 0) return FAIL(t, CUZK_NO_MEMORY, "no mutex for a set-up");
    e.walks = WALK_ONE;
    if (s->circuit->walk_piece != NULL) {
        e.walks = WALK_PIECES;
        count = s->circuit->piece_count;
    } else if (pool_width(t->pool) >= 3) {
        e.walks = WALK_SIDES;
        count = 3;
    }
    const cuzk_status status = chunks_run(t, "circuit", count, 1, evaluate_walk, &e);
    pthread_mutex_destroy(&e.lock);
    if (status != CUZK_OK) return status;
    s->coefficients = s->inputs + e.coefficients[R1CS_A] + e.coefficients[R1CS_B];
    for (uint64_t i = 0; i < s->inputs; i++) {
        f->add(&s->at_tau[R1CS_A][i], &s->at_tau[R1CS_A][i], &lagrange[s->circuit->row_count + i]);
        occurs[R1CS_A][i] = true;
    }
    return CUZK_OK;
}

static cuzk_status list_dense(struct task *t, struct setup_scalars *s, int side, const bool *occurs)
{
    uint64_t count = 0;

    for (uint64_t v = 0; v < s->variables; v++) count += occurs[v];
    s->dense[side] = malloc(count * sizeof(uint32_t) + 1);
    if (s->dense[side] == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for the density of %llu variables",
                    (unsigned long long)s->variables);
    s->dense_count[side] = count;
    count = 0;
    for (uint64_t v = 0; v < s->variables; v++)
        if (occurs[v]) s->dense[side][count++] = (uint32_t)v;
    return CUZK_OK;
}

struct lagrange {
    const struct setup_scalars *scalars;
    struct fr *out;
};

static cuzk_status lagrange_part(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct lagrange *l = context;

    (void)t;
    domain_lagrange_part(&l->scalars->domain, l->out + begin, &l->scalars->tau, begin, end - begin);
    return CUZK_OK;
}

static cuzk_status evaluate_at_tau(struct task *t, struct setup_scalars *s)
{
    const size_t bytes = arena_round(s->domain.size * sizeof(struct fr));
    bool *occurs[2] = { calloc(s->variables, 1), calloc(s->variables, 1) };
    struct arena arena = { 0 };
    struct lagrange lagrange = { .scalars = s };
    cuzk_status status = CUZK_OK;
    void *p;

    if (occurs[0] == NULL || occurs[1] == NULL) {
        status =
            FAIL(t, CUZK_NO_MEMORY, "no memory to mark %llu variables", (unsigned long long)s->variables);
        goto out;
    }
    TRY_GOTO(out, arena_open(&arena, t, bytes, ARENA_SECRET));
    TRY_GOTO(out, arena_take(&arena, t, &p, s->domain.size * sizeof(struct fr)));
    lagrange.out = p;
    TRY_GOTO(out, chunks_run(t, "Lagrange values", s->domain.size, SCALARS_CHUNK, lagrange_part, &lagrange));
    TRY_GOTO(out, evaluate_terms(t, s, lagrange.out, occurs));
    arena_close(&arena);
    for (int side = 0; side < 2 && s->layout == ROOT_BELLMAN; side++)
        TRY_GOTO(out, list_dense(t, s, side, occurs[side]));
out:
    arena_close(&arena);
    free(occurs[0]);
    free(occurs[1]);
    return status;
}

/* -- what all scalars share -------------------------------------------------------------------------------------------- */

/* With Z(tau) = tau^n - 1 and the same on the coset, tau^n - shift^n:
 *   H_i = tau^i Z(tau) / delta;
 *   on the coset H_i = Z(tau) / (delta Z(x_i)) x (the Lagrange polynomial of x_i over the coset)(tau), x_i = shift omega^i, where Z is the
 *   same everywhere, and the polynomial is x_i (x^n - shift^n) / (n shift^n (x - x_i));
 *   C_v is folded in by -z Z(tau) / delta, z = 1 / Z(x_i). */
static cuzk_status make_factors(struct setup_scalars *s, struct task *t)
{
    const struct scalar_field *f = &s->curve->fr;
    const struct domain *d = &s->domain;
    struct fr power, shift_power, one, coset;
    cuzk_status status = CUZK_OK;

    f->from_u64(&one, 1);
    f->pow(&power, &s->tau, d->size);
    f->pow(&shift_power, &d->shift, d->size);
    f->sub(&coset, &power, &shift_power);
    f->sub(&power, &power, &one);
    if (f->is_zero(&power) || f->is_zero(&coset))
        status =
            FAIL(t, CUZK_INVALID_ARGUMENT,
                 "the secret point lies in the evaluation domain of 2^%u points, or in its coset", d->log2);
    f->mul(&s->h_factor, &power, &s->delta_inv);
    f->mul(&s->fold_factor, &s->h_factor, &d->z_coset_inv);
    f->mul(&s->coset_factor, &s->fold_factor, &coset);
    f->mul(&s->coset_factor, &s->coset_factor, &d->size_inv);
    f->inv(&shift_power, &shift_power);
    f->mul(&s->coset_factor, &s->coset_factor, &shift_power);
    wipe(&power, sizeof power);
    wipe(&coset, sizeof coset);
    return status;
}

static cuzk_status zero_part(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct setup_scalars *s = context;

    (void)t;
    for (int side = 0; side < 3; side++)
        memset(s->at_tau[side] + begin, 0, (end - begin) * sizeof(struct fr));
    return CUZK_OK;
}

static cuzk_status take_memory(struct setup_scalars *s, struct task *t)
{
    const size_t vector = s->variables * sizeof(struct fr);
    void *p;

    const uint64_t meanwhile = s->domain.size * sizeof(struct fr) + s->variables * 2 * (1 + sizeof(uint32_t));
    TRY(hostmem_allows(t, s->circuit->name, 3 * arena_round(vector) + meanwhile, "setting up this circuit"));
    TRY(arena_open(&s->arena, t, 3 * arena_round(vector), ARENA_SECRET));
    for (int side = 0; side < 3; side++) {
        TRY(arena_take(&s->arena, t, &p, vector));
        s->at_tau[side] = p;
    }
    /* on all threads: the kernel makes the pages now */
    return chunks_run(t, NULL, s->variables, (uint64_t)1 << 16, zero_part, s);
}

cuzk_status setup_scalars_init(struct setup_scalars *out, struct task *t, const struct constraints *circuit,
                               const struct trapdoor *secrets)
{
    const struct scalar_field *f = &circuit->curve->fr;

    memset(out, 0, sizeof *out);
    out->curve = circuit->curve;
    out->circuit = circuit;
    out->layout = secrets->layout;
    out->variables = circuit->variable_count;
    out->inputs = circuit->input_count;
    if (out->layout == ROOT_BELLMAN && out->curve->id != CURVE_BLS12_381)
        return FAIL(t, CUZK_UNSUPPORTED,
                    "bellman's layout is defined for bls12_381 only; the circuit is over %s",
                    out->curve->name);
    if (secrets->curve != out->curve)
        return FAIL(t, CUZK_MISMATCH, "the secrets are over %s, the circuit over %s", secrets->curve->name,
                    out->curve->name);
    TRY(domain_init(&out->domain, t, out->curve, out->layout, constraints_domain_log2(circuit)));
    f->from_int(&out->tau, &secrets->tau);
    f->from_int(&out->alpha, &secrets->alpha);
    f->from_int(&out->beta, &secrets->beta);
    f->from_int(&out->delta_inv, &secrets->delta);
    f->inv(&out->delta_inv, &out->delta_inv);
    f->from_int(&out->gamma_inv, &secrets->gamma);
    f->inv(&out->gamma_inv, &out->gamma_inv);
    TRY(make_factors(out, t));
    TRY(take_memory(out, t));
    return evaluate_at_tau(t, out);
}

void setup_scalars_fini(struct setup_scalars *s)
{
    arena_close(&s->arena);
    free(s->dense[0]);
    free(s->dense[1]);
    wipe(s, sizeof *s);
}

void setup_scalars_forget(struct setup_scalars *s)
{
    struct fr *const secrets[] = { &s->tau,       &s->alpha,    &s->beta,         &s->gamma_inv,
                                   &s->delta_inv, &s->h_factor, &s->coset_factor, &s->fold_factor };

    arena_close(&s->arena);
    for (int side = 0; side < 3; side++) s->at_tau[side] = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(secrets); i++) wipe(secrets[i], sizeof *secrets[i]);
}

uint64_t setup_scalars_count(const struct setup_scalars *s, enum setup_query q)
{
    const bool bellman = s->layout == ROOT_BELLMAN;

    switch (q) {
    case SETUP_IC:
        return s->inputs;
    case SETUP_L:
        return s->variables - s->inputs;
    case SETUP_A:
        return bellman ? s->dense_count[0] : s->variables;
    case SETUP_B:
        return bellman ? s->dense_count[1] : s->variables;
    case SETUP_H:
        return s->domain.size - bellman;
    case SETUP_L_DERIVED:
        return s->variables;
    case SETUP_H_COSET:
        return s->domain.size;
    }
    return 0;
}

/* -- a block of each query ---------------------------------------------------------------------------------------------- */

static void of_variables(const struct setup_scalars *s, struct fr *out, int side, uint64_t begin,
                         uint64_t count)
{
    const uint32_t *dense = s->dense[side];

    for (uint64_t i = 0; i < count; i++)
        out[i] = s->at_tau[side][dense != NULL ? dense[begin + i] : begin + i];
}

/* (beta A_v + alpha B_v + C_v) x by */
static void combine(const struct setup_scalars *s, struct fr *out, uint64_t first, uint64_t count,
                    const struct fr *by)
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

/* -z Z(tau) C_v / delta for the inputs, (beta A_v + alpha B_v + C_v - z Z(tau) C_v) / delta for the others. */
static void fold(const struct setup_scalars *s, struct fr *out, uint64_t begin, uint64_t count)
{
    const struct scalar_field *f = &s->curve->fr;
    const uint64_t inputs = begin < s->inputs ? s->inputs - begin < count ? s->inputs - begin : count : 0;
    struct fr term;

    for (uint64_t i = 0; i < inputs; i++) f->from_u64(&out[i], 0);
    combine(s, out + inputs, begin + inputs, count - inputs, &s->delta_inv);
    for (uint64_t i = 0; i < count; i++) {
        f->mul(&term, &s->at_tau[R1CS_C][begin + i], &s->fold_factor);
        f->sub(&out[i], &out[i], &term);
    }
    wipe(&term, sizeof term);
}

static void on_coset(const struct setup_scalars *s, struct fr *out, uint64_t begin, uint64_t count)
{
    const struct scalar_field *f = &s->curve->fr;
    struct fr x[SCALARS_BLOCK];

    f->pow(&x[0], &s->domain.omega, begin);
    f->mul(&x[0], &x[0], &s->domain.shift);
    for (uint64_t i = 1; i < count; i++) f->mul(&x[i], &x[i - 1], &s->domain.omega);
    for (uint64_t i = 0; i < count; i++) f->sub(&out[i], &s->tau, &x[i]);
    f->batch_inv(out, count);
    for (uint64_t i = 0; i < count; i++) {
        f->mul(&out[i], &out[i], &x[i]);
        f->mul(&out[i], &out[i], &s->coset_factor);
    }
}

static void powers(const struct setup_scalars *s, struct fr *out, uint64_t begin, uint64_t count)
{
    const struct scalar_field *f = &s->curve->fr;

    f->pow(&out[0], &s->tau, begin);
    f->mul(&out[0], &out[0], &s->h_factor);
    for (uint64_t i = 1; i < count; i++) f->mul(&out[i], &out[i - 1], &s->tau);
}

/* count from 1 to SCALARS_BLOCK */
static void fill(const struct setup_scalars *s, struct fr *out, enum setup_query q, uint64_t begin,
                 uint64_t count)
{
    switch (q) {
    case SETUP_IC:
        combine(s, out, begin, count, &s->gamma_inv);
        break;
    case SETUP_L:
        combine(s, out, s->inputs + begin, count, &s->delta_inv);
        break;
    case SETUP_A:
        of_variables(s, out, 0, begin, count);
        break;
    case SETUP_B:
        of_variables(s, out, 1, begin, count);
        break;
    case SETUP_L_DERIVED:
        fold(s, out, begin, count);
        break;
    case SETUP_H:
        if (s->layout == ROOT_BELLMAN) {
            powers(s, out, begin, count);
            break;
        } /* else */
        /* fallthrough */
    case SETUP_H_COSET:
        on_coset(s, out, begin, count);
        break;
    }
}

struct making {
    const struct setup_scalars *scalars;
    enum setup_query query;
    uint64_t begin;
    struct fr_int *out;
};

static cuzk_status make_part(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct making *m = context;
    struct fr block[SCALARS_BLOCK];

    (void)t;
    for (uint64_t at = begin; at < end; at += SCALARS_BLOCK) {
        const uint64_t n = end - at < SCALARS_BLOCK ? end - at : SCALARS_BLOCK;
        fill(m->scalars, block, m->query, m->begin + at, n);
        for (uint64_t i = 0; i < n; i++) m->scalars->curve->fr.to_int(&m->out[at + i], &block[i]);
    }
    wipe(block, sizeof block);
    return CUZK_OK;
}

cuzk_status setup_scalars_make(const struct setup_scalars *s, struct task *t, struct fr_int *out,
                               enum setup_query q, uint64_t begin, uint64_t count)
{
    struct making m = { s, q, begin, out };

    return chunks_run(t, NULL, count, SCALARS_CHUNK, make_part, &m);
}
