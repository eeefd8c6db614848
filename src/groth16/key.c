/* A proving key in memory: opening, sharing, and naming the row that a witness does not satisfy. */
#include "groth16/key.h"
#include "base/bytes.h"
#include "base/hostmem.h"
#include "formats/identify.h"
#include "groth16/chunks.h"
#include "groth16/key_device.h"
#include "groth16/key_secret.h"
#include <stdlib.h>
#include <string.h>

#define DECODE_CHUNK 1024 /* points: about a millisecond */

/* -- what both layouts share ------------------------------------------------------------------------------------------- */

static unsigned log2_of(uint64_t power)
{
    unsigned log2 = 0;
    while ((1ull << log2) < power) log2++;
    return log2;
}

static cuzk_status mismatch(struct task *t, const struct groth16_key *key, const char *what, uint64_t in_key,
                            uint64_t in_circuit)
{
    const bool native = key->constraints != NULL;
    const cuzk_status status =
        FAIL(t, CUZK_MISMATCH, "the key has %llu %s, the circuit %llu: %s is not the circuit of this key",
             (unsigned long long)in_key, what, (unsigned long long)in_circuit,
             native ? key->constraints->name : key->r1cs.path);
    task_fail_place(
        t, key->file.path, ERROR_NO_OFFSET, what,
        native ? "fetch the parameters again, or look whether another circuit's stand under this name"
               : "give the .r1cs file from which this key was made");
    return status;
}

/* Whether the key's counts are those of the circuit. */
static cuzk_status fits(struct task *t, const struct groth16_key *key, const struct constraints *c)
{
    if (c->curve != key->curve) {
        const cuzk_status status = FAIL(t, CUZK_MISMATCH, "the circuit is over %s, the key over %s",
                                        c->curve->name, key->curve->name);
        task_fail_place(t, c->name, ERROR_NO_OFFSET, "curve", NULL);
        return status;
    }
    if (c->input_count != key->public_count + 1)
        return mismatch(t, key, "public inputs", key->public_count, c->input_count - 1);
    if (c->variable_count != key->variable_count)
        return mismatch(t, key, "variables", key->variable_count, c->variable_count);
    if (constraints_domain_log2(c) != key->domain.log2)
        return mismatch(t, key, "rows in its domain", key->domain.size, c->row_count + c->input_count);
    return CUZK_OK;
}

static cuzk_status open_circuit(struct task *t, struct groth16_key *key, const char *r1cs_path)
{
    TRY(mapfile_open(&key->r1cs, t, r1cs_path));
    TRY(r1cs_file_parse(&key->circuit, t, key->r1cs.path, key->r1cs.bytes));
    struct constraints c;
    constraints_of_r1cs(&c, &key->circuit);
    return fits(t, key, &c);
}

/* -- snarkjs ----------------------------------------------------------------------------------------------------------- */

/* Whether two matrices of rows with entries together, and beside them other bytes, fit into memory.  A sparse file of zeros can ask
 * for 2^28 rows and hold nothing. */
static cuzk_status matrices_fit(struct task *t, const struct groth16_key *key, uint64_t rows,
                                uint64_t entries, uint64_t other_bytes)
{
    return hostmem_allows(t, key->file.path,
                          2 * rows * 2 * sizeof(uint64_t) + entries * 2 * sizeof(uint32_t) + other_bytes,
                          "opening this key");
}

/* What has been built becomes the key's, or is given back after a failure.  Returns  status */
static cuzk_status matrices_end(struct groth16_key *key, struct csr_builder *const builder[2], cuzk_status status)
{
    if (status == CUZK_OK) {
        csr_builder_finish(builder[0], &key->a);
        csr_builder_finish(builder[1], &key->b);
    } else {
        csr_builder_destroy(builder[0]);
        csr_builder_destroy(builder[1]);
    }
    return status;
}

/* Coefficient records in any order, of both matrices, into two CSRs. */
static cuzk_status matrices_from_zkey(struct task *t, struct groth16_key *key)
{
    const struct zkey *z = &key->zkey;
    struct csr_builder *builder[2] = { NULL, NULL };
    struct zkey_coef coef;
    uint64_t rows = 0;
    cuzk_status status = CUZK_OK;

    TRY(matrices_fit(t, key, z->domain_size, z->n_coefs, 0));
    for (int m = 0; m < 2; m++)
        TRY_GOTO(out, csr_builder_create(&builder[m], t, z->curve, z->domain_size, z->n_vars));
    for (uint64_t i = 0; i < z->n_coefs; i++) {
        TRY_GOTO(out, zkey_coef_read(z, t, &coef, i));
        csr_builder_count(builder[coef.matrix], coef.row);
        if (coef.row >= rows) rows = (uint64_t)coef.row + 1;
    }
    for (int m = 0; m < 2; m++) TRY_GOTO(out, csr_builder_ready(builder[m], t));
    for (uint64_t i = 0; i < z->n_coefs; i++) {
        TRY_GOTO(out, zkey_coef_read(z, t, &coef, i));
        TRY_GOTO(out, csr_builder_place(builder[coef.matrix], t, coef.row, coef.wire, &coef.value));
    }
    key->row_count = rows;
out:
    return matrices_end(key, builder, status);
}

static cuzk_status open_zkey(struct task *t, struct groth16_key *key, const char *r1cs_path)
{
    struct zkey *z = &key->zkey;

    TRY(zkey_parse(z, t, key->file.path, key->file.bytes));
    key->curve = z->curve;
    key->variable_count = z->n_vars;
    key->public_count = z->n_public;
    TRY(domain_init(&key->domain, t, z->curve, ROOT_SNARKJS, z->domain_log2));

    const struct groth16_vk_points points = {
        .alpha1 = &z->alpha1,
        .beta1 = &z->beta1,
        .beta2 = &z->beta2,
        .gamma2 = &z->gamma2,
        .delta1 = &z->delta1,
        .delta2 = &z->delta2,
        .ic = z->ic.data,
        .ic_stride = z->curve->g1.aff_bytes,
        .ic_count = (size_t)z->n_public + 1,
    };
    TRY(groth16_vk_init(t, &key->vk, z->curve, &points));
    if (r1cs_path != NULL) TRY(open_circuit(t, key, r1cs_path));
    TRY(matrices_from_zkey(t, key));

    const struct span section[QUERY_COUNT] = { z->a, z->b1, z->b2, z->c, z->h };
    const uint64_t count[QUERY_COUNT] = { z->n_vars, z->n_vars, z->n_vars,
                                          (uint64_t)z->n_vars - z->n_public - 1, z->domain_size };
    memcpy(key->point, section, sizeof section);
    memcpy(key->point_count, count, sizeof count);
    key->can_prove = true;
    return CUZK_OK;
}

/* -- bellman ----------------------------------------------------------------------------------------------------------- */

/* The rows of A and B from the circuit, and after them one row an input, input = input x 0, which keeps the inputs' A
 * polynomials independent.  Marks the variables that occur. */
static cuzk_status matrices_from_r1cs(struct task *t, struct groth16_key *key, bool *in_a, bool *in_b)
{
    const struct scalar_field *f = &key->curve->fr;
    const uint64_t inputs = key->public_count + 1;
    struct csr_builder *builder[2] = { NULL, NULL };
    struct r1cs_reader reader;
    struct r1cs_term term;
    struct fr value, one;
    bool end;
    cuzk_status status = CUZK_OK;

    f->from_u64(&one, 1);
    key->row_count = key->circuit.n_constraints + inputs;
    for (int m = 0; m < 2; m++)
        TRY_GOTO(out, csr_builder_create(&builder[m], t, key->curve, key->row_count, key->variable_count));
    for (int placing = 0; placing < 2; placing++) {
        r1cs_reader_init(&reader, &key->circuit);
        for (;;) {
            TRY_GOTO(out, r1cs_reader_next(&reader, t, &term, &end));
            if (end) break;
            f->from_int(&value, &term.value);
            if (term.side == R1CS_C || f->is_zero(&value)) continue;
            struct csr_builder *b = builder[term.side == R1CS_A ? 0 : 1];
            if (placing) {
                TRY_GOTO(out, csr_builder_place(b, t, term.constraint, term.wire, &value));
            } else {
                csr_builder_count(b, term.constraint);
                (term.side == R1CS_A ? in_a : in_b)[term.wire] = true;
            }
        }
        for (uint64_t i = 0; i < inputs; i++) {
            if (placing)
                TRY_GOTO(out,
                         csr_builder_place(builder[0], t, key->circuit.n_constraints + i, (uint32_t)i, &one));
            else
                csr_builder_count(builder[0], key->circuit.n_constraints + i);
            in_a[i] = true;
        }
        if (!placing)
            for (int m = 0; m < 2; m++) TRY_GOTO(out, csr_builder_ready(builder[m], t));
    }
out:
    return matrices_end(key, builder, status);
}

/* The list of marked variables, in order; there must be as many as the key has points. */
static cuzk_status density_list(struct task *t, struct groth16_key *key, uint32_t **out, const bool *marked,
                                uint64_t points, const char *what)
{
    uint64_t count = 0;

    for (uint64_t v = 0; v < key->variable_count; v++) count += marked[v];
    if (count != points) return mismatch(t, key, what, points, count);
    *out = malloc(count * sizeof **out + 1);
    if (*out == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for a density list of %llu variables",
                    (unsigned long long)count);
    count = 0;
    for (uint64_t v = 0; v < key->variable_count; v++)
        if (marked[v]) (*out)[count++] = (uint32_t)v;
    key->heap_bytes += count * sizeof **out;
    return CUZK_OK;
}

struct marks {
    bool *in_a, *in_b;
};

static cuzk_status mark_term(void *context, struct task *t, const struct constraint_term *term)
{
    static const struct fr zero;
    const struct marks *m = context;

    (void)t;
    if (term->side == R1CS_C || memcmp(&term->coefficient, &zero, sizeof zero) == 0) return CUZK_OK;
    /* pieces share some variables: the inputs, and what one makes for another */
    __atomic_store_n(&(term->side == R1CS_A ? m->in_a : m->in_b)[term->variable], true, __ATOMIC_RELAXED);
    return CUZK_OK;
}

static cuzk_status mark_piece(void *context, struct task *t, const struct constraints *circuit,
                              uint32_t piece)
{
    struct constraint_own own;

    return constraints_walk_piece(t, circuit, piece, &own, mark_term, context);
}

/* The variables that occur in a circuit that is a program, its rows being nowhere else. */
static cuzk_status mark_circuit(struct task *t, struct groth16_key *key, bool *in_a, bool *in_b)
{
    struct marks m = { in_a, in_b };

    for (uint64_t i = 0; i < key->constraints->input_count; i++) in_a[i] = true; /* the rows that bind them */
    key->row_count = key->constraints->row_count + key->constraints->input_count;
    return constraints_walk(t, "circuit", key->constraints, mark_piece, &m);
}

static cuzk_status constraints_from_circuit(struct task *t, struct groth16_key *key)
{
    bool *in_a = calloc(key->variable_count, 1), *in_b = calloc(key->variable_count, 1);
    cuzk_status status = CUZK_OK;

    if (in_a == NULL || in_b == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory to mark %llu variables",
                      (unsigned long long)key->variable_count);
        goto out;
    }
    status =
        key->constraints != NULL ? mark_circuit(t, key, in_a, in_b) : matrices_from_r1cs(t, key, in_a, in_b);
    if (status != CUZK_OK) goto out;
    TRY_GOTO(out, density_list(t, key, &key->density_a, in_a, key->params.a_count, "points of A"));
    TRY_GOTO(out, density_list(t, key, &key->density_b, in_b, key->params.b_g1_count, "points of B"));
out:
    free(in_a);
    free(in_b);
    return status;
}

/* What constraints_from_circuit would leave, of the lists themselves nothing but that there are some: plans count their bytes. */
static cuzk_status outline(struct task *t, struct groth16_key *key)
{
    key->row_count = key->constraints->row_count + key->constraints->input_count;
    key->heap_bytes += ((uint64_t)key->params.a_count + key->params.b_g1_count) * sizeof *key->density_a;
    key->density_a = calloc(1, sizeof *key->density_a);
    key->density_b = calloc(1, sizeof *key->density_b);
    if (key->density_a == NULL || key->density_b == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a key");
    return CUZK_OK;
}

struct decoding {
    const struct filparams *params;
    const struct span *vector;
    const struct group *group;
    const char *name;
    uint64_t first;
    uint8_t *out;
};

static cuzk_status decode_points(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct decoding *d = context;
    struct g_aff point;

    for (uint64_t i = begin; i < end; i++) {
        TRY(filparams_point(d->params, t, &point, d->vector, d->group->id, d->name, d->first + i, false));
        memcpy(d->out + i * d->group->aff_bytes, &point, d->group->aff_bytes);
    }
    return CUZK_OK;
}

/* The five queries in the file, by enum groth16_query. */
struct query_source {
    const struct span *vector;
    enum group_id group;
    const char *name;
};

static struct query_source query_source(const struct groth16_key *key, enum groth16_query q)
{
    const struct filparams *p = &key->params;
    const struct query_source all[QUERY_COUNT] = {
        [QUERY_A] = { &p->a, GROUP_G1, "a" },        [QUERY_B1] = { &p->b_g1, GROUP_G1, "b_g1" },
        [QUERY_B2] = { &p->b_g2, GROUP_G2, "b_g2" }, [QUERY_L] = { &p->l, GROUP_G1, "l" },
        [QUERY_H] = { &p->h, GROUP_G1, "h" },
    };
    return all[q];
}

cuzk_status groth16_key_points(struct task *t, const struct groth16_key *key, enum groth16_query q,
                               uint64_t first, uint64_t count, uint8_t *out)
{
    if (key->secret != NULL) return key_secret_points(t, key, q, first, count, out);
    const struct query_source from = query_source(key, q);
    struct decoding d = { &key->params, from.vector, key->curve->group[from.group], from.name, first, out };

    return chunks_run(t, NULL, count, DECODE_CHUNK, decode_points, &d);
}

static cuzk_status decode_query(struct task *t, struct groth16_key *key, enum groth16_query q)
{
    const struct query_source from = query_source(key, q);
    const uint64_t bytes = key->point_count[q] * key->curve->group[from.group]->aff_bytes;

    key->decoded[q] = malloc(bytes + 1);
    if (key->decoded[q] == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for the %llu points of %s (%llu bytes)",
                    (unsigned long long)key->point_count[q], from.name, (unsigned long long)bytes);
    key->heap_bytes += bytes;
    key->point[q] = span_of(key->decoded[q], bytes);
    task_progress(t, from.name, (uint64_t)q, QUERY_COUNT);
    return groth16_key_points(t, key, q, 0, key->point_count[q], key->decoded[q]);
}

static cuzk_status open_params(struct task *t, struct groth16_key *key, const char *r1cs_path)
{
    struct filparams *p = &key->params;

    TRY(filparams_parse(p, t, key->file.path, key->file.bytes));
    key->curve = p->vk.curve;
    key->public_count = p->vk.ic_count - 1;
    key->variable_count = (uint64_t)p->vk.ic_count + p->l_count;
    const uint64_t domain_size = (uint64_t)p->h_count + 1;
    if ((domain_size & (domain_size - 1)) != 0) {
        const cuzk_status status =
            FAIL(t, CUZK_MALFORMED, "the h query has %llu points; one fewer than a power of two is due",
                 (unsigned long long)p->h_count);
        task_fail_place(t, key->file.path, ERROR_NO_OFFSET, "h", NULL);
        return status;
    }
    TRY(domain_init(&key->domain, t, key->curve, ROOT_BELLMAN, log2_of(domain_size)));
    const uint64_t count[QUERY_COUNT] = { p->a_count, p->b_g1_count, p->b_g2_count, p->l_count, p->h_count };
    memcpy(key->point_count, count, sizeof count);

    struct vk_points read = { 0 };
    TRY(filvk_points(&read, t, &p->vk));
    const struct groth16_vk_points points = {
        .alpha1 = &read.alpha1,
        .beta1 = &p->vk.beta1,
        .beta2 = &read.beta2,
        .gamma2 = &read.gamma2,
        .delta1 = &p->vk.delta1,
        .delta2 = &read.delta2,
        .ic = read.ic,
        .ic_stride = sizeof *read.ic,
        .ic_count = read.ic_count,
    };
    const cuzk_status status = groth16_vk_init(t, &key->vk, key->curve, &points);
    vk_points_fini(&read);
    if (status != CUZK_OK) return status;
    if (key->constraints != NULL) {
        TRY(fits(t, key, key->constraints));
        if (key->outline)
            TRY(outline(t, key));
        else
            TRY(constraints_from_circuit(t, key));
        for (enum groth16_query q = 0; q < QUERY_COUNT; q++) {
            key->point[q] = *query_source(key, q).vector;
            key->encoded[q] = true;
        }
    } else if (r1cs_path != NULL) {
        uint64_t point_bytes = 0;
        TRY(open_circuit(t, key, r1cs_path));
        for (enum groth16_query q = 0; q < QUERY_COUNT; q++)
            point_bytes += count[q] * key->curve->group[query_source(key, q).group]->aff_bytes;
        TRY(matrices_fit(t, key, key->circuit.n_constraints + key->public_count + 1,
                         key->circuit.constraints.size / 36, /* a term's bytes in the file */
                         point_bytes +
                             key->variable_count * (2 + 2 * sizeof(uint32_t)))); /* marks and density lists */
        TRY(constraints_from_circuit(t, key));
        for (enum groth16_query q = 0; q < QUERY_COUNT; q++) TRY(decode_query(t, key, q));
    } else {
        return CUZK_OK;
    }
    key->can_prove = true;
    return CUZK_OK;
}

/* -- life -------------------------------------------------------------------------------------------------------------- */

static cuzk_status open_file(struct task *t, struct groth16_key *key, const char *path, const char *r1cs_path)
{
    TRY(mapfile_open(&key->file, t, path));
    /* zkey_parse and filparams_parse say what it is if it is something else */
    key->layout = key->constraints != NULL || identify(key->file.bytes) == FILE_FIL_PARAMS ? GROTH16_BELLMAN
                                                                                           : GROTH16_ZKEY;
    key->h_mode = key->layout == GROTH16_BELLMAN ? H_MONOMIAL_6 : H_LAGRANGE_6;
    if (key->layout == GROTH16_BELLMAN)
        TRY(open_params(t, key, r1cs_path));
    else
        TRY(open_zkey(t, key, r1cs_path));
    TRY(groth16_vk_check(t, &key->vk));
    key->heap_bytes += csr_bytes(&key->a) + csr_bytes(&key->b) + key->vk.ic_count * sizeof(struct g_aff);
    return CUZK_OK;
}

static cuzk_status open_key(struct groth16_key **out, struct task *t, const char *path, const char *r1cs_path,
                            const struct constraints *circuit, bool outline_only)
{
    struct groth16_key *key = calloc(1, sizeof *key);

    if (key == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a key");
    atomic_init(&key->references, 1);
    key->constraints = circuit;
    key->outline = outline_only;
    cuzk_status status = key_devices_create(&key->devices, t);
    if (status == CUZK_OK) status = open_file(t, key, path, r1cs_path);
    if (status != CUZK_OK) {
        task_fail_place(t, path, ERROR_NO_OFFSET, NULL, NULL);
        groth16_key_unref(key);
        return status;
    }
    *out = key;
    return CUZK_OK;
}

cuzk_status groth16_key_open(struct groth16_key **out, struct task *t, const char *key_path,
                             const char *r1cs_path)
{
    return open_key(out, t, key_path, r1cs_path, NULL, false);
}

cuzk_status groth16_key_open_circuit(struct groth16_key **out, struct task *t, const char *params_path,
                                     const struct constraints *circuit)
{
    return open_key(out, t, params_path, NULL, circuit, false);
}

cuzk_status groth16_key_outline(struct groth16_key **out, struct task *t, const char *params_path,
                                const struct constraints *circuit)
{
    return open_key(out, t, params_path, NULL, circuit, true);
}

struct groth16_key *groth16_key_ref(struct groth16_key *key)
{
    atomic_fetch_add_explicit(&key->references, 1, memory_order_relaxed);
    return key;
}

void groth16_key_unref(struct groth16_key *key)
{
    if (key == NULL || atomic_fetch_sub_explicit(&key->references, 1, memory_order_acq_rel) != 1) return;
    key_devices_destroy(key->devices);
    key_secret_close(key);
    csr_fini(&key->a);
    csr_fini(&key->b);
    free(key->density_a);
    free(key->density_b);
    for (int q = 0; q < QUERY_COUNT; q++) free(key->decoded[q]);
    groth16_vk_fini(&key->vk);
    mapfile_close(&key->derived_file);
    mapfile_close(&key->r1cs);
    mapfile_close(&key->file);
    free(key);
}

/* -- which row --------------------------------------------------------------------------------------------------------- */

cuzk_status groth16_key_first_unsatisfied(struct task *t, const struct groth16_key *key, uint64_t *row,
                                          const struct witness *w)
{
    const struct scalar_field *f = &key->curve->fr;
    struct r1cs_reader reader;
    struct r1cs_term term;
    struct fr side[3], value, coefficient;
    struct fr_int integer;
    uint64_t at = 0;
    bool end = false;
    cuzk_status status = CUZK_OK;

    *row = key->row_count;
    memset(side, 0, sizeof side);
    r1cs_reader_init(&reader, &key->circuit);
    while (!end) {
        TRY_GOTO(out, r1cs_reader_next(&reader, t, &term, &end));
        if (end || term.constraint != at) { /* the row before is complete */
            f->mul(&value, &side[R1CS_A], &side[R1CS_B]);
            if (!f->eq(&value, &side[R1CS_C])) {
                *row = at;
                break;
            }
            memset(side, 0, sizeof side);
            at = term.constraint;
        }
        if (end) break;
        witness_get(w, &integer, term.wire);
        f->from_int(&value, &integer);
        f->from_int(&coefficient, &term.value);
        f->mul(&value, &value, &coefficient);
        f->add(&side[term.side], &side[term.side], &value);
    }
out:
    wipe(side, sizeof side);
    wipe(&value, sizeof value);
    wipe(&integer, sizeof integer);
    return status;
}
