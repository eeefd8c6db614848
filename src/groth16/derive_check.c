/* Whether a derived key's points are what they should be, by random linear combinations.
 *
 * For fresh random e, u over the domain and w over the variables:
 *   Lc              sum e_j Lc_j = z sum over i of (coefficients of e from the coset)_i H_i                    bellman
 *   LD              sum u_j LD_j = z sum (coefficients of u)_i H_i                                            bellman
 *                   sum u_j LD_j = sum (values on the coset of what is u on the domain)_i H_i                 snarkjs
 *   Delta-IC, L'    sum over all of w_k (Delta-IC, L')_k = sum over the others of w_k L_k - sum (C w)_i LD_i
 * each side from the points as they are; C w is the circuit's own walk, not the matrix that the points were made with. */
#include "base/arena.h"
#include "base/rng.h"
#include "groth16/chunks.h"
#include "groth16/derive.h"
#include <string.h>

/* Points summed at once, at most.  On a CPU their workspace stays small beside the key; a card, which has held a transform's points, is asked
 * less often. */
#define CPU_PIECE    ((uint64_t)1 << 18)
#define DEVICE_PIECE ((uint64_t)1 << 22)
#define LEAST_PIECE  ((uint64_t)1 << 14)
#define VALUES_CHUNK 4096
#define DRAW_BLOCK   64
#define ROWS_CHUNK   4096

struct checking {
    const struct groth16_key *key;
    const struct derived_points *points;
    const struct backend *backend;
    struct device *device;
    struct stream *stream;
    struct arena arena;
    struct fr *values[2];    /* the larger of domain and variables */
    struct fr_int *integers; /* piece of them; of all variables where the key's own matrices are compared */
    struct fr *sides[3];     /* of the domain: A w, B w, C w; the first two only where they are compared */
    uint8_t *decoded;        /* piece of G1, where the key's points are encoded */
    uint64_t piece;
    struct buffer points_on, scalars_on; /* of a piece, where the backend does not read host memory */
};

/* A key whose matrices are its own is compared with the circuit that gave C; others are made from it, and from nowhere else. */
static bool compares(const struct groth16_key *key) { return key->constraints == NULL; }

/* -- sums ---------------------------------------------------------------------------------------------------------------- */

static cuzk_status sum_piece(struct task *t, const struct checking *c, struct g_jac *out,
                             const uint8_t *points, const struct fr_int *scalars, uint64_t count)
{
    const struct backend *be = c->backend;
    const size_t bytes = count * c->key->curve->g1.aff_bytes;
    struct buffer on = buffer_borrow(c->device, span_of(points, bytes)),
                  by = buffer_borrow(c->device, span_of(scalars, count * sizeof *scalars)), workspace = { 0 };
    struct msm_plan plan;
    cuzk_status status;

    TRY_GOTO(out, be->msm_plan(&plan, t, c->device, c->key->curve, GROUP_G1, count));
    TRY_GOTO(out, be->buffer_take(&workspace, t, c->device, MEM_DEVICE, plan.workspace_bytes, 0));
    if (!be->reads_host_memory) {
        on = buffer_piece(&c->points_on, 0, bytes);
        by = buffer_piece(&c->scalars_on, 0, count * sizeof *scalars);
        TRY_GOTO(out, be->upload(c->stream, t, &on, 0, points, bytes));
        TRY_GOTO(out, be->upload(c->stream, t, &by, 0, scalars, count * sizeof *scalars));
    }
    TRY_GOTO(out, be->msm(c->stream, t, &plan, out, &on, 0, &by, 0, NULL, &workspace));
    TRY_GOTO(out, be->stream_sync(c->stream, t));
out:
    if (status != CUZK_OK) backend_settle(be, c->stream);
    be->buffer_give(&workspace);
    return status;
}

struct converting {
    const struct checking *c;
    const struct fr *from;
};

static cuzk_status to_integers(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct converting *x = context;

    (void)t;
    for (uint64_t i = begin; i < end; i++) x->c->key->curve->fr.to_int(&x->c->integers[i], &x->from[i]);
    return CUZK_OK;
}

/* out = sum of values[i] x point i; points NULL: the key's own of query q. */
static cuzk_status sum(struct task *t, const struct checking *c, const char *what, struct g_jac *out,
                       const uint8_t *points, enum groth16_query q, const struct fr *values, uint64_t count)
{
    const struct group *g = &c->key->curve->g1;
    struct g_jac part;

    g->jac_set_inf(out);
    for (uint64_t first = 0; first < count; first += c->piece) {
        const uint64_t n = count - first < c->piece ? count - first : c->piece;
        const uint8_t *from = points != NULL ? points + first * g->aff_bytes : c->decoded;
        struct converting x = { c, values + first };
        task_progress(t, what, first, count);
        TRY(chunks_run(t, NULL, n, VALUES_CHUNK, to_integers, &x));
        if (points == NULL && c->key->encoded[q])
            TRY(groth16_key_points(t, c->key, q, first, n, c->decoded));
        else if (points == NULL)
            from = c->key->point[q].data + first * g->aff_bytes;
        TRY(sum_piece(t, c, &part, from, c->integers, n));
        g->jac_add(out, out, &part);
    }
    task_progress(t, what, count, count);
    return CUZK_OK;
}

/* -- random values ------------------------------------------------------------------------------------------------------- */

struct drawing {
    const struct curve *curve;
    struct fr *out, *copy; /* copy NULL: one is enough */
};

static cuzk_status draw_part(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct drawing *d = context;
    uint8_t bytes[DRAW_BLOCK][64];

    for (uint64_t i = begin; i < end; i += DRAW_BLOCK) {
        const uint64_t n = end - i < DRAW_BLOCK ? end - i : DRAW_BLOCK;
        TRY(rng_bytes(t, bytes, n * sizeof bytes[0]));
        for (uint64_t j = 0; j < n; j++) d->curve->fr.from_wide(&d->out[i + j], bytes[j]);
        if (d->copy != NULL) memcpy(d->copy + i, d->out + i, n * sizeof *d->out);
    }
    return CUZK_OK;
}

static cuzk_status draw(struct task *t, const struct checking *c, struct fr *out, struct fr *copy,
                        uint64_t count)
{
    struct drawing d = { c->key->curve, out, copy };

    return chunks_run(t, "weights", count, VALUES_CHUNK, draw_part, &d);
}

static cuzk_status ntt(struct task *t, const struct checking *c, struct fr *values, bool inverse, bool coset)
{
    const struct backend *be = c->backend;
    const size_t bytes = c->key->domain.size * sizeof *values;
    struct buffer data = buffer_borrow(c->device, span_of(values, bytes));
    cuzk_status status;

    if (!be->reads_host_memory) {
        TRY(be->buffer_take(&data, t, c->device, MEM_DEVICE, bytes, 0));
        TRY_GOTO(out, be->upload(c->stream, t, &data, 0, values, bytes));
    }
    TRY_GOTO(out, be->ntt(c->stream, t, &c->key->domain, &data, inverse, coset));
    if (!be->reads_host_memory) TRY_GOTO(out, be->download(c->stream, t, values, &data, 0, bytes));
    TRY_GOTO(out, be->stream_sync(c->stream, t));
out:
    if (status != CUZK_OK) backend_settle(be, c->stream);
    be->buffer_give(&data);
    return status;
}

/* -- the three ----------------------------------------------------------------------------------------------------------- */

static cuzk_status compare(struct task *t, const struct checking *c, const struct g_jac *left,
                           const struct g_jac *right, const char *part)
{
    if (c->key->curve->g1.jac_eq(left, right)) return CUZK_OK;
    const cuzk_status status =
        FAIL(t, CUZK_KEY_INVALID,
             "the derived key's %s is wrong: a random combination of its points does not agree with the key",
             part);
    task_fail_place(t, c->key->file.path, ERROR_NO_OFFSET, part,
                    "make it again; if it happens again, check the machine's memory and report it");
    return status;
}

/* sum e Lc, or sum u LD, against the key's H. */
static cuzk_status check_lagrange(struct task *t, const struct checking *c, const uint8_t *points,
                                  bool on_coset, const char *part, const char *what)
{
    const struct groth16_key *key = c->key;
    const struct domain *d = &key->domain;
    struct g_jac left, right;
    struct fr_int z;

    TRY(draw(t, c, c->values[0], c->values[1], d->size));
    TRY(sum(t, c, what, &left, points, QUERY_H, c->values[0], d->size));
    TRY(ntt(t, c, c->values[1], true, on_coset));
    if (key->layout == GROTH16_ZKEY) TRY(ntt(t, c, c->values[1], false, true));
    TRY(sum(t, c, what, &right, NULL, QUERY_H, c->values[1], key->point_count[QUERY_H]));
    if (key->layout == GROTH16_BELLMAN) {
        key->curve->fr.to_int(&z, &d->z_coset_inv);
        key->curve->g1.jac_mul(&right, &right, &z);
    }
    return compare(t, c, &left, &right, part);
}

struct rows {
    const struct checking *c;
    const struct fr *w;
    struct fr one, minus_one;
};

/* A row's terms are all in one piece of the circuit. */
static cuzk_status add_term(void *context, struct task *t, const struct constraint_term *term)
{
    const struct rows *r = context;
    const struct scalar_field *f = &r->c->key->curve->fr;
    struct fr *const side = r->c->sides[term->side], product;

    (void)t;
    if (side == NULL) return CUZK_OK;
    if (f->eq(&term->coefficient, &r->one)) {
        f->add(&side[term->row], &side[term->row], &r->w[term->variable]);
    } else if (f->eq(&term->coefficient, &r->minus_one)) {
        f->sub(&side[term->row], &side[term->row], &r->w[term->variable]);
    } else {
        f->mul(&product, &term->coefficient, &r->w[term->variable]);
        f->add(&side[term->row], &side[term->row], &product);
    }
    return CUZK_OK;
}

static cuzk_status add_piece(void *context, struct task *t, const struct constraints *circuit, uint32_t piece)
{
    struct constraint_own own;

    return constraints_walk_piece(t, circuit, piece, &own, add_term, context);
}

static cuzk_status zero_sides(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct checking *c = context;

    (void)t;
    for (int side = 0; side < 3; side++)
        if (c->sides[side] != NULL) memset(c->sides[side] + begin, 0, (end - begin) * sizeof(struct fr));
    return CUZK_OK;
}

struct comparing {
    const struct checking *c;
    const struct constraints *circuit;
    struct witness random;
};

static cuzk_status compare_rows(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct comparing *x = context;
    const struct groth16_key *key = x->c->key;
    struct fr value;

    for (uint64_t row = begin; row < end; row++)
        for (int side = 0; side < 2; side++) {
            const struct csr *m = side == 0 ? &key->a : &key->b;
            memset(&value, 0, sizeof value);
            if (row < m->row_count) csr_row_dot(m, key->curve, row, &x->random, &value);
            if (key->curve->fr.eq(&value, &x->c->sides[side][row])) continue;
            const cuzk_status status =
                FAIL(t, CUZK_MISMATCH,
                     "row %llu of matrix %s is not the same in %s and in the key: it is of another circuit",
                     (unsigned long long)row, side == 0 ? "A" : "B", x->circuit->name);
            task_fail_place(t, key->file.path, ERROR_NO_OFFSET, NULL,
                            "give the .r1cs file from which this key was made");
            return status;
        }
    return CUZK_OK;
}

/* A zkey's A and B must be those of the .r1cs that gave C: A w and B w by both. */
static cuzk_status check_same_rows(struct task *t, const struct checking *c,
                                   const struct constraints *circuit, const struct fr *w)
{
    struct converting x = { c, w };
    struct comparing rows = { c,
                              circuit,
                              { .curve = c->key->curve,
                                .values = span_of(c->integers, c->key->variable_count * sizeof *c->integers),
                                .count = c->key->variable_count } };

    if (!compares(c->key)) return CUZK_OK;
    TRY(chunks_run(t, NULL, c->key->variable_count, VALUES_CHUNK, to_integers, &x));
    return chunks_run(t, "rows of A and B", circuit->row_count, ROWS_CHUNK, compare_rows, &rows);
}

static cuzk_status check_l(struct task *t, struct checking *c, const struct constraints *circuit)
{
    static const char what[] = "self-check 3 of 3 (L)";
    const struct groth16_key *key = c->key;
    const struct group *g = &key->curve->g1;
    const uint64_t inputs = key->public_count + 1;
    struct fr *const w = c->values[0];
    struct rows rows = { .c = c, .w = w };
    struct g_jac left, right, part;

    key->curve->fr.from_u64(&rows.one, 1);
    key->curve->fr.neg(&rows.minus_one, &rows.one);
    TRY(draw(t, c, w, NULL, key->variable_count));
    TRY(chunks_run(t, NULL, key->domain.size, VALUES_CHUNK, zero_sides, c));
    TRY(constraints_walk(t, "C w", circuit, add_piece, &rows));
    TRY(check_same_rows(t, c, circuit, w));
    TRY(sum(t, c, what, &left, c->points->l, QUERY_L, w, key->variable_count));
    TRY(sum(t, c, what, &right, NULL, QUERY_L, w + inputs, key->variable_count - inputs));
    TRY(sum(t, c, what, &part, c->points->ld, QUERY_H, c->sides[R1CS_C], key->domain.size));
    g->jac_neg(&part, &part);
    g->jac_add(&right, &right, &part);
    return compare(t, c, &left, &right, "l or delta-ic");
}

/* -- all of it ----------------------------------------------------------------------------------------------------------- */

struct sizes {
    size_t vector, side, integers, decoded;
};

static void sizes_of(struct sizes *out, const struct groth16_key *key, uint64_t piece)
{
    const uint64_t most = key->variable_count > key->domain.size ? key->variable_count : key->domain.size;

    if (piece > most) piece = most;
    out->vector = most * sizeof(struct fr);
    out->side = key->domain.size * sizeof(struct fr);
    out->integers = (compares(key) ? most : piece) * sizeof(struct fr_int);
    out->decoded = key->encoded[QUERY_H] ? piece * key->curve->g1.aff_bytes : 0;
}

static size_t bytes_of(const struct groth16_key *key, const struct sizes *s)
{
    return 2 * arena_round(s->vector) + (compares(key) ? 3 : 1) * arena_round(s->side) +
           arena_round(s->integers) + arena_round(s->decoded);
}

uint64_t groth16_derive_check_bytes(const struct groth16_key *key)
{
    struct sizes s;

    sizes_of(&s, key, DEVICE_PIECE);
    return bytes_of(key, &s);
}

static cuzk_status take_memory(struct task *t, struct checking *c)
{
    struct sizes s;
    void *p;

    sizes_of(&s, c->key, c->piece);
    TRY(arena_open(&c->arena, t, bytes_of(c->key, &s), ARENA_PLAIN));
    for (int i = 0; i < 2; i++) {
        TRY(arena_take(&c->arena, t, &p, s.vector));
        c->values[i] = p;
    }
    TRY(arena_take(&c->arena, t, &p, s.integers));
    c->integers = p;
    for (int i = 0; i < 3; i++) {
        if (i != R1CS_C && !compares(c->key)) continue;
        TRY(arena_take(&c->arena, t, &p, s.side));
        c->sides[i] = p;
    }
    TRY(arena_take(&c->arena, t, &p, s.decoded));
    c->decoded = p;
    return CUZK_OK;
}

static void give_device(struct checking *c)
{
    c->backend->buffer_give(&c->points_on);
    c->backend->buffer_give(&c->scalars_on);
}

/* Room on the device for a piece, its sum's workspace and a transform of the weights included. */
static cuzk_status take_piece(struct task *t, struct checking *c)
{
    const struct backend *be = c->backend;
    const uint64_t bytes = c->piece * c->key->curve->g1.aff_bytes,
                   weights = c->key->domain.size * sizeof(struct fr);
    struct buffer other = { 0 };
    struct msm_plan plan;
    cuzk_status status;

    TRY(be->msm_plan(&plan, t, c->device, c->key->curve, GROUP_G1, c->piece));
    TRY_GOTO(out, be->buffer_take(&c->points_on, t, c->device, MEM_DEVICE, bytes, 0));
    TRY_GOTO(out,
             be->buffer_take(&c->scalars_on, t, c->device, MEM_DEVICE, c->piece * sizeof(struct fr_int), 0));
    TRY_GOTO(out, be->buffer_take(&other, t, c->device, MEM_DEVICE,
                                  plan.workspace_bytes > weights ? plan.workspace_bytes : weights, 0));
out:
    be->buffer_give(&other);
    if (status != CUZK_OK) give_device(c);
    return status;
}

static cuzk_status choose_piece(struct task *t, struct checking *c)
{
    const struct groth16_key *key = c->key;
    const uint64_t most = key->variable_count > key->domain.size ? key->variable_count : key->domain.size,
                   limit = c->backend->reads_host_memory ? CPU_PIECE : DEVICE_PIECE;

    c->piece = most < limit ? most : limit;
    if (c->backend->reads_host_memory) return CUZK_OK;
    for (;; c->piece /= 2) {
        struct task quiet = *t;
        const cuzk_status status = take_piece(&quiet, c);
        if ((status == CUZK_NO_MEMORY || status == CUZK_TOO_LARGE) && c->piece > LEAST_PIECE) continue;
        t->error = quiet.error;
        return status;
    }
}

cuzk_status groth16_derive_check(struct task *t, const struct groth16_key *key,
                                 const struct derived_points *points,
                                 const struct groth16_derive_options *options, const struct backend *backend,
                                 struct device *device)
{
    struct checking c = { .key = key, .points = points, .backend = backend, .device = device };
    uint64_t since = clock_now_ns();
    struct constraints circuit;
    cuzk_status status;

    if (key->constraints != NULL)
        circuit = *key->constraints;
    else
        constraints_of_r1cs(&circuit, &key->circuit);
    TRY_GOTO(out, choose_piece(t, &c));
    TRY_GOTO(out, take_memory(t, &c));
    TRY_GOTO(out, backend->stream_open(&c.stream, t, device));
    if (points->lc != NULL) {
        TRY_GOTO(out, check_lagrange(t, &c, points->lc, true, "h", "self-check 1 of 3 (Lc)"));
        derive_stage(options, "self-check 1 of 3 (Lc)", &since);
    }
    TRY_GOTO(out, check_lagrange(t, &c, points->ld, false, "LD", "self-check 2 of 3 (LD)"));
    derive_stage(options, "self-check 2 of 3 (LD)", &since);
    TRY_GOTO(out, check_l(t, &c, &circuit));
    derive_stage(options, "self-check 3 of 3 (L)", &since);
out:
    give_device(&c);
    if (c.stream != NULL) backend->stream_close(c.stream);
    arena_close(&c.arena);
    return status;
}
