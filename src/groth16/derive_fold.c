/* C into L: what the coefficients of the circuit's matrix C take from each point of L.
 *
 * The matrix is turned first: for each variable, the points that it takes, in one list.  Nearly all coefficients are 1 or -1, and then
 * the point is the row's.  Of the others nearly all are powers of two, and a row that has one has many (a number is its bits): such
 * multiples are made row by row, where each is one doubling of the one before, and become points of the list themselves. */
#include "groth16/derive_fold.h"
#include "base/arena.h"
#include "base/hostmem.h"
#include "groth16/chunks.h"
#include <stdlib.h>
#include <string.h>

#define FOLD_CHUNK  256 /* variables, or multiples: they share an inversion */
#define ZERO_CHUNK  ((uint64_t)1 << 16)
#define POLL_TERMS  ((uint64_t)1 << 20)
#define POWERS      256                 /* 2^0 ... 2^255 times a point */
#define SPARSE_BITS 32                  /* so many additions are cheaper than a product */
#define MOST_POINTS ((uint64_t)1 << 31) /* a term is an index and a sign in 32 bits */
#define NO_ROW      UINT32_MAX

struct fold {
    const struct groth16_key *key;
    const struct constraints *circuit;
    const uint8_t *ld;
    uint8_t *l;
    struct arena lists, points;
    uint64_t *
        start; /* variable_count + 1: while counting the number of a variable's terms, then where they begin */
    uint32_t *term;           /* 2 x point + (1: taken negative); points from domain.size on are multiples */
    uint8_t *multiple;        /* before they are made each place holds its struct recipe */
    uint64_t *first_multiple; /* of each piece; piece_count + 1 */
    uint64_t term_count;
    struct fr one, minus_one;
    bool placing;
};

/* What a multiple is made of. */
struct recipe {
    struct fr coefficient;
    uint32_t row;
};

/* -- C by variables ------------------------------------------------------------------------------------------------------ */

struct walk {
    struct fold *fold;
    struct constraint_own own;
    uint64_t multiple, multiple_end; /* next of this piece, and where its own end */
    uint64_t until_poll;
};

static cuzk_status refuse_change(struct task *t, const struct fold *f)
{
    const cuzk_status status =
        FAIL(t, CUZK_INTERNAL, "the circuit has other coefficients than when they were counted");
    task_fail_place(t, f->circuit->name, ERROR_NO_OFFSET, NULL, "do not change the file while it is in use");
    return status;
}

static cuzk_status count_term(struct walk *w, uint64_t *terms, bool multiple)
{
    if (constraint_owns(&w->own, (uint64_t)(terms - w->fold->start)))
        ++*terms;
    else
        __atomic_fetch_add(terms, 1, __ATOMIC_RELAXED);
    w->multiple += multiple;
    return CUZK_OK;
}

static cuzk_status place_term(struct walk *w, struct task *t, uint64_t *terms,
                              const struct constraint_term *term, bool multiple, bool negative)
{
    const struct fold *f = w->fold;
    const uint64_t at =
        constraint_owns(&w->own, term->variable) ? --*terms : __atomic_sub_fetch(terms, 1, __ATOMIC_RELAXED);
    uint64_t point = term->row;

    if (at >= f->term_count) return refuse_change(t, f);
    if (multiple) {
        const struct recipe recipe = { term->coefficient, (uint32_t)term->row };
        if (w->multiple == w->multiple_end) return refuse_change(t, f);
        memcpy(f->multiple + w->multiple * f->key->curve->g1.aff_bytes, &recipe, sizeof recipe);
        point = f->key->domain.size + w->multiple++;
    }
    f->term[at] = (uint32_t)(point << 1 | negative);
    return CUZK_OK;
}

static cuzk_status take_term(void *context, struct task *t, const struct constraint_term *term)
{
    struct walk *w = context;
    struct fold *f = w->fold;
    const struct scalar_field *fr = &f->key->curve->fr;

    if (--w->until_poll == 0) {
        w->until_poll = POLL_TERMS;
        TRY(task_poll(t));
    }
    if (term->side != R1CS_C || fr->is_zero(&term->coefficient)) return CUZK_OK;
    const bool negative = fr->eq(&term->coefficient, &f->minus_one),
               multiple = !negative && !fr->eq(&term->coefficient, &f->one);
    uint64_t *const terms = &f->start[term->variable];
    return f->placing ? place_term(w, t, terms, term, multiple, negative) : count_term(w, terms, multiple);
}

static cuzk_status walk_piece(void *context, struct task *t, const struct constraints *circuit,
                              uint32_t piece)
{
    struct fold *f = context;
    struct walk w = { .fold = f, .until_poll = POLL_TERMS };

    if (f->placing) {
        w.multiple = f->first_multiple[piece];
        w.multiple_end = f->first_multiple[piece + 1];
    }
    TRY(constraints_walk_piece(t, circuit, piece, &w.own, take_term, &w));
    if (!f->placing)
        f->first_multiple[piece + 1] = w.multiple;
    else if (w.multiple != w.multiple_end)
        return refuse_change(t, f);
    return CUZK_OK;
}

static cuzk_status zero_part(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct fold *f = context;

    (void)t;
    memset(f->start + begin, 0, (end - begin) * sizeof *f->start);
    return CUZK_OK;
}

/* Sums of the counts: each variable's end, from which placing counts down. */
static cuzk_status add_up(struct task *t, struct fold *f)
{
    const uint64_t variables = f->key->variable_count;
    const uint32_t pieces = constraints_pieces(f->circuit);

    for (uint64_t v = 0; v < variables; v++) {
        f->term_count += f->start[v];
        f->start[v] = f->term_count;
    }
    f->start[variables] = f->term_count;
    for (uint32_t i = 0; i < pieces; i++) f->first_multiple[i + 1] += f->first_multiple[i];
    if (f->key->domain.size + f->first_multiple[pieces] > MOST_POINTS)
        return FAIL(t, CUZK_TOO_LARGE,
                    "%llu rows, and %llu coefficients of C that are neither 1 nor -1: more than 2^31",
                    (unsigned long long)f->key->domain.size, (unsigned long long)f->first_multiple[pieces]);
    return CUZK_OK;
}

static cuzk_status turn(struct task *t, struct fold *f)
{
    const size_t start_bytes = (f->key->variable_count + 1) * sizeof *f->start;
    const uint32_t pieces = constraints_pieces(f->circuit);
    void *p;

    f->first_multiple = calloc((size_t)pieces + 1, sizeof *f->first_multiple);
    if (f->first_multiple == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to count %u pieces", pieces);
    TRY(arena_open(&f->lists, t, arena_round(start_bytes), ARENA_PLAIN));
    TRY(arena_take(&f->lists, t, &p, start_bytes));
    f->start = p;
    TRY(chunks_run(t, NULL, f->key->variable_count + 1, ZERO_CHUNK, zero_part, f));
    TRY(constraints_walk(t, "counting C", f->circuit, walk_piece, f));
    TRY(add_up(t, f));

    const size_t term_bytes = f->term_count * sizeof *f->term + sizeof *f->term,
                 multiple_bytes = (f->first_multiple[pieces] + 1) * f->key->curve->g1.aff_bytes,
                 more = arena_round(term_bytes) + arena_round(multiple_bytes);
    TRY(hostmem_allows(t, f->circuit->name,
                       f->key->domain.size * f->key->curve->g1.aff_bytes + start_bytes + more,
                       "putting this circuit's C into L"));
    TRY(arena_open(&f->points, t, more, ARENA_PLAIN));
    TRY(arena_take(&f->points, t, &p, term_bytes));
    f->term = p;
    TRY(arena_take(&f->points, t, &p, multiple_bytes));
    f->multiple = p;
    f->placing = true;
    return constraints_walk(t, "turning C", f->circuit, walk_piece, f);
}

/* -- multiples ----------------------------------------------------------------------------------------------------------- */

struct powers {
    struct g_jac of[POWERS]; /* 2^k times the point of row */
    unsigned count;
    uint32_t row;
};

static unsigned bit_count(const struct fr_int *k)
{
    unsigned bits = 0;

    for (int i = 0; i < 4; i++) bits += (unsigned)__builtin_popcountll(k->w[i]);
    return bits;
}

/* out = k times the point of p's row, by as few doublings as its powers so far leave. */
static void multiply(const struct group *g, struct g_jac *out, struct powers *p, const struct fr_int *k)
{
    if (bit_count(k) > SPARSE_BITS) {
        g->jac_mul(out, &p->of[0], k);
        return;
    }
    g->jac_set_inf(out);
    for (unsigned word = 0; word < 4; word++)
        for (uint64_t left = k->w[word]; left != 0; left &= left - 1) {
            const unsigned bit = 64 * word + (unsigned)__builtin_ctzll(left);
            for (; p->count <= bit; p->count++) g->jac_dbl(&p->of[p->count], &p->of[p->count - 1]);
            g->jac_add(out, out, &p->of[bit]);
        }
}

static cuzk_status make_multiples(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct fold *f = context;
    const struct scalar_field *fr = &f->key->curve->fr;
    const struct group *g = &f->key->curve->g1;
    struct g_jac made[FOLD_CHUNK];
    struct powers powers;
    struct recipe recipe;
    struct fr negative;
    struct fr_int k, minus;

    (void)t;
    powers.row = NO_ROW;
    for (uint64_t i = begin; i < end; i++) {
        memcpy(&recipe, f->multiple + i * g->aff_bytes, sizeof recipe);
        if (recipe.row != powers.row) {
            g->jac_from_aff(&powers.of[0], f->ld + recipe.row * g->aff_bytes);
            powers.count = 1;
            powers.row = recipe.row;
        }
        fr->to_int(&k, &recipe.coefficient);
        fr->neg(&negative, &recipe.coefficient);
        fr->to_int(&minus, &negative);
        const bool negated = bit_count(&minus) < bit_count(&k);
        multiply(g, &made[i - begin], &powers, negated ? &minus : &k);
        if (negated) g->jac_neg(&made[i - begin], &made[i - begin]);
    }
    g->batch_to_aff(f->multiple + begin * g->aff_bytes, made, end - begin);
    return CUZK_OK;
}

/* -- sums ---------------------------------------------------------------------------------------------------------------- */

static cuzk_status fold_variables(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct fold *f = context;
    const struct group *g = &f->key->curve->g1;
    const uint64_t rows = f->key->domain.size;
    struct g_jac folded[FOLD_CHUNK];

    (void)t;
    for (uint64_t v = begin; v < end; v++) {
        /* The sum, or its negative, as the next term wants it: to turn it is cheaper than a second sum. */
        struct g_jac *const sum = &folded[v - begin];
        bool turned = false;
        g->jac_from_aff(sum, f->l + v * g->aff_bytes);
        for (uint64_t e = f->start[v]; e < f->start[v + 1]; e++) {
            const uint64_t point = f->term[e] >> 1;
            const bool added = (f->term[e] & 1) != 0; /* L loses what the coefficient is of */
            if (turned == added) {
                g->jac_neg(sum, sum);
                turned = !turned;
            }
            g->jac_add_aff(sum, sum,
                           point < rows ? f->ld + point * g->aff_bytes
                                        : f->multiple + (point - rows) * g->aff_bytes);
        }
        if (turned) g->jac_neg(sum, sum);
    }
    g->batch_to_aff(f->l + begin * g->aff_bytes, folded, end - begin);
    return CUZK_OK;
}

cuzk_status derive_fold(struct task *t, const struct groth16_key *key, const struct constraints *circuit,
                        const uint8_t *ld, uint8_t *l, const struct groth16_derive_options *options)
{
    const struct scalar_field *fr = &key->curve->fr;
    struct fold f = { .key = key, .circuit = circuit, .ld = ld, .l = l };
    uint64_t since = clock_now_ns();
    cuzk_status status;

    STATIC_ASSERT(sizeof(struct recipe) <= 64, "a recipe stands where its point will: 64 bytes at least");
    fr->from_u64(&f.one, 1);
    fr->neg(&f.minus_one, &f.one);
    TRY_GOTO(out, turn(t, &f));
    derive_stage(options, "rows of C", &since);
    TRY_GOTO(out, chunks_run(t, "multiples of LD", f.first_multiple[constraints_pieces(circuit)], FOLD_CHUNK,
                             make_multiples, &f));
    derive_stage(options, "multiples of LD", &since);
    TRY_GOTO(out, chunks_run(t, "C into L", key->variable_count, FOLD_CHUNK, fold_variables, &f));
    derive_stage(options, "C into L", &since);
out:
    free(f.first_multiple);
    arena_close(&f.points);
    arena_close(&f.lists);
    return status;
}
