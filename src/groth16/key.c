/* A proving key in memory: opening, sharing, and naming the row that a witness does not satisfy. */
#include "groth16/key.h"
#include "base/bytes.h"
#include "formats/identify.h"
#include "groth16/chunks.h"
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

static cuzk_status mismatch(struct task *t, const struct groth16_key *key, const char *what, uint64_t in_key, uint64_t in_r1cs)
{
    const cuzk_status status = FAIL(t, CUZK_MISMATCH, "the key has %llu %s, the circuit %llu: %s is not the circuit of this key",
                                    (unsigned long long)in_key, what, (unsigned long long)in_r1cs, key->r1cs.path);
    task_fail_place(t, key->file.path, ERROR_NO_OFFSET, what, "give the .r1cs file from which this key was made");
    return status;
}

static cuzk_status open_circuit(struct task *t, struct groth16_key *key, const char *r1cs_path)
{
    TRY(mapfile_open(&key->r1cs, t, r1cs_path));
    TRY(r1cs_file_parse(&key->circuit, t, key->r1cs.path, key->r1cs.bytes));
    if (key->circuit.curve != key->curve) {
        const cuzk_status status = FAIL(t, CUZK_MISMATCH, "the circuit is over %s, the key over %s", key->circuit.curve->name,
                                        key->curve->name);
        task_fail_place(t, key->r1cs.path, ERROR_NO_OFFSET, "curve", NULL);
        return status;
    }
    if (key->circuit.n_public != key->public_count) return mismatch(t, key, "public inputs", key->public_count, key->circuit.n_public);
    if (key->circuit.n_wires != key->variable_count) return mismatch(t, key, "variables", key->variable_count, key->circuit.n_wires);
    const uint64_t rows = (uint64_t)key->circuit.n_constraints + key->public_count + 1;
    if (1ull << log2_of(rows) != key->domain.size) return mismatch(t, key, "rows in its domain", key->domain.size, rows);
    return CUZK_OK;
}

/* -- snarkjs ----------------------------------------------------------------------------------------------------------- */

/* Coefficient records in any order, of both matrices, into two CSRs. */
static cuzk_status matrices_from_zkey(struct task *t, struct groth16_key *key)
{
    const struct zkey *z = &key->zkey;
    struct csr_builder *builder[2] = { NULL, NULL };
    struct zkey_coef coef;
    uint64_t rows = 0;
    cuzk_status status = CUZK_OK;

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
    csr_builder_finish(builder[0], &key->a);
    csr_builder_finish(builder[1], &key->b);
    return CUZK_OK;
out:
    csr_builder_destroy(builder[0]);
    csr_builder_destroy(builder[1]);
    return status;
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
        .alpha1 = &z->alpha1, .beta1 = &z->beta1, .beta2 = &z->beta2, .gamma2 = &z->gamma2, .delta1 = &z->delta1,
        .delta2 = &z->delta2, .ic = z->ic.data, .ic_stride = z->curve->g1.aff_bytes, .ic_count = (size_t)z->n_public + 1,
    };
    TRY(groth16_vk_init(t, &key->vk, z->curve, &points));
    if (r1cs_path != NULL) TRY(open_circuit(t, key, r1cs_path));
    TRY(matrices_from_zkey(t, key));

    const struct span section[QUERY_COUNT] = { z->a, z->b1, z->b2, z->c, z->h };
    const uint64_t count[QUERY_COUNT] = { z->n_vars, z->n_vars, z->n_vars, (uint64_t)z->n_vars - z->n_public - 1, z->domain_size };
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
                TRY_GOTO(out, csr_builder_place(builder[0], t, key->circuit.n_constraints + i, (uint32_t)i, &one));
            else
                csr_builder_count(builder[0], key->circuit.n_constraints + i);
            in_a[i] = true;
        }
        if (!placing)
            for (int m = 0; m < 2; m++) TRY_GOTO(out, csr_builder_ready(builder[m], t));
    }
    csr_builder_finish(builder[0], &key->a);
    csr_builder_finish(builder[1], &key->b);
    return CUZK_OK;
out:
    csr_builder_destroy(builder[0]);
    csr_builder_destroy(builder[1]);
    return status;
}

/* The list of marked variables, in order; there must be as many as the key has points. */
static cuzk_status density_list(struct task *t, struct groth16_key *key, uint32_t **out, const bool *marked, uint64_t points,
                                const char *what)
{
    uint64_t count = 0;

    for (uint64_t v = 0; v < key->variable_count; v++) count += marked[v];
    if (count != points) return mismatch(t, key, what, points, count);
    *out = malloc(count * sizeof **out + 1);
    if (*out == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a density list of %llu variables", (unsigned long long)count);
    count = 0;
    for (uint64_t v = 0; v < key->variable_count; v++)
        if (marked[v]) (*out)[count++] = (uint32_t)v;
    key->heap_bytes += count * sizeof **out;
    return CUZK_OK;
}

static cuzk_status constraints_from_circuit(struct task *t, struct groth16_key *key)
{
    bool *in_a = calloc(key->variable_count, 1), *in_b = calloc(key->variable_count, 1);
    cuzk_status status = CUZK_OK;

    if (in_a == NULL || in_b == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory to mark %llu variables", (unsigned long long)key->variable_count);
        goto out;
    }
    TRY_GOTO(out, matrices_from_r1cs(t, key, in_a, in_b));
    TRY_GOTO(out, density_list(t, key, &key->density_a, in_a, key->params.a_count, "points of A"));
    TRY_GOTO(out, density_list(t, key, &key->density_b, in_b, key->params.b_g1_count, "points of B"));
out:
    free(in_a);
    free(in_b);
    return status;
}

struct decoding {
    const struct filparams *params;
    const struct span *vector;
    const struct group *group;
    const char *name;
    uint8_t *out;
};

static cuzk_status decode_points(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct decoding *d = context;
    struct g_aff point;

    for (uint64_t i = begin; i < end; i++) {
        TRY(filparams_point(d->params, t, &point, d->vector, d->group->id, d->name, i, false));
        memcpy(d->out + i * d->group->aff_bytes, &point, d->group->aff_bytes);
    }
    return CUZK_OK;
}

static cuzk_status decode_query(struct task *t, struct groth16_key *key, enum groth16_query q, const struct span *vector,
                                enum group_id group, const char *name)
{
    const struct group *g = key->curve->group[group];
    const uint64_t bytes = key->point_count[q] * g->aff_bytes;

    key->decoded[q] = malloc(bytes + 1);
    if (key->decoded[q] == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for the %llu points of %s (%llu bytes)", (unsigned long long)key->point_count[q],
                    name, (unsigned long long)bytes);
    key->heap_bytes += bytes;
    key->point[q] = span_of(key->decoded[q], bytes);
    struct decoding d = { &key->params, vector, g, name, key->decoded[q] };
    return chunks_run(t, name, key->point_count[q], DECODE_CHUNK, decode_points, &d);
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
        const cuzk_status status = FAIL(t, CUZK_MALFORMED, "the h query has %llu points; one fewer than a power of two is due",
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
        .alpha1 = &read.alpha1, .beta1 = &p->vk.beta1, .beta2 = &read.beta2, .gamma2 = &read.gamma2, .delta1 = &p->vk.delta1,
        .delta2 = &read.delta2, .ic = read.ic, .ic_stride = sizeof *read.ic, .ic_count = read.ic_count,
    };
    const cuzk_status status = groth16_vk_init(t, &key->vk, key->curve, &points);
    vk_points_fini(&read);
    if (status != CUZK_OK || r1cs_path == NULL) return status;

    TRY(open_circuit(t, key, r1cs_path));
    TRY(constraints_from_circuit(t, key));
    TRY(decode_query(t, key, QUERY_A, &p->a, GROUP_G1, "a"));
    TRY(decode_query(t, key, QUERY_B1, &p->b_g1, GROUP_G1, "b_g1"));
    TRY(decode_query(t, key, QUERY_B2, &p->b_g2, GROUP_G2, "b_g2"));
    TRY(decode_query(t, key, QUERY_L, &p->l, GROUP_G1, "l"));
    TRY(decode_query(t, key, QUERY_H, &p->h, GROUP_G1, "h"));
    key->can_prove = true;
    return CUZK_OK;
}

/* -- life -------------------------------------------------------------------------------------------------------------- */

cuzk_status groth16_key_open(struct groth16_key **out, struct task *t, const char *key_path, const char *r1cs_path)
{
    struct groth16_key *key = calloc(1, sizeof *key);
    cuzk_status status;

    if (key == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a key");
    atomic_init(&key->references, 1);
    TRY_GOTO(failed, mapfile_open(&key->file, t, key_path));
    if (identify(key->file.bytes) == FILE_FIL_PARAMS) {
        key->layout = GROTH16_BELLMAN;
        TRY_GOTO(failed, open_params(t, key, r1cs_path));
    } else {
        key->layout = GROTH16_ZKEY; /* zkey_parse says what it is if it is something else */
        TRY_GOTO(failed, open_zkey(t, key, r1cs_path));
    }
    TRY_GOTO(failed, groth16_vk_check(t, &key->vk));
    key->heap_bytes += csr_bytes(&key->a) + csr_bytes(&key->b) + key->vk.ic_count * sizeof(struct g_aff);
    *out = key;
    return CUZK_OK;
failed:
    task_fail_place(t, key_path, ERROR_NO_OFFSET, NULL, NULL);
    groth16_key_unref(key);
    return status;
}

struct groth16_key *groth16_key_ref(struct groth16_key *key)
{
    atomic_fetch_add_explicit(&key->references, 1, memory_order_relaxed);
    return key;
}

void groth16_key_unref(struct groth16_key *key)
{
    if (key == NULL || atomic_fetch_sub_explicit(&key->references, 1, memory_order_acq_rel) != 1) return;
    csr_fini(&key->a);
    csr_fini(&key->b);
    free(key->density_a);
    free(key->density_b);
    for (int q = 0; q < QUERY_COUNT; q++) free(key->decoded[q]);
    groth16_vk_fini(&key->vk);
    mapfile_close(&key->r1cs);
    mapfile_close(&key->file);
    free(key);
}

/* -- which row --------------------------------------------------------------------------------------------------------- */

cuzk_status groth16_key_first_unsatisfied(struct task *t, const struct groth16_key *key, uint64_t *row, const struct witness *w)
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
