/* Making a derived key: H in Lagrange form on the coset, C folded into L. */
#include "groth16/derive.h"
#include "base/arena.h"
#include "base/filenote.h"
#include "base/hostmem.h"
#include "groth16/chunks.h"
#include "groth16/key_derived.h"
#include "groth16/new_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLD_PIECE ((uint64_t)1 << 16) /* points of L decoded at once */
#define FOLD_CHUNK 64                  /* variables: they share an inversion */

struct derivation {
    const struct groth16_key *key;
    const struct backend *backend;
    struct device *device;
    struct stream *stream;
    struct constraints circuit;
    struct csr c; /* C transposed: a row a variable, the entries' columns are the circuit's rows */
};

/* -- the circuit ------------------------------------------------------------------------------------------------------- */

/* Where the rows of C are, or why not. */
static cuzk_status circuit_of(struct constraints *out, struct task *t, const struct groth16_key *key)
{
    cuzk_status status;

    if (key->h_mode == H_LAGRANGE_4)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "the key is opened in its derived form already");
    if (key->constraints != NULL) {
        *out = *key->constraints;
        return CUZK_OK;
    }
    if (key->r1cs.bytes.data != NULL) {
        constraints_of_r1cs(out, &key->circuit);
        return CUZK_OK;
    }
    status = FAIL(t, CUZK_INVALID_ARGUMENT,
                  "a proving key does not hold the circuit's matrix C, which its derived form needs");
    task_fail_place(
        t, key->file.path, ERROR_NO_OFFSET, NULL,
        "give the circuit's .r1cs (--r1cs FILE); without it the key proves with 6 transforms as it is");
    return status;
}

struct transposing {
    struct derivation *d;
    struct csr_builder *builder;
    bool placing;
};

static cuzk_status transpose_term(void *context, struct task *t, const struct constraint_term *term)
{
    struct transposing *x = context;

    if (term->side != R1CS_C || x->d->key->curve->fr.is_zero(&term->coefficient)) return CUZK_OK;
    if (x->placing)
        return csr_builder_place(x->builder, t, term->variable, (uint32_t)term->row, &term->coefficient);
    csr_builder_count(x->builder, term->variable);
    return CUZK_OK;
}

static cuzk_status transpose(struct task *t, struct derivation *d)
{
    struct transposing x = { .d = d };
    cuzk_status status;

    TRY_GOTO(out,
             csr_builder_create(&x.builder, t, d->key->curve, d->key->variable_count, d->key->domain.size));
    TRY_GOTO(out, d->circuit.walk(d->circuit.circuit, t, transpose_term, &x));
    TRY_GOTO(out, csr_builder_ready(x.builder, t));
    x.placing = true;
    TRY_GOTO(out, d->circuit.walk(d->circuit.circuit, t, transpose_term, &x));
    csr_builder_finish(x.builder, &d->c);
    return CUZK_OK;
out:
    csr_builder_destroy(x.builder);
    return status;
}

/* -- transforms ---------------------------------------------------------------------------------------------------------- */

/* A transform in place; points in host memory. */
static cuzk_status transform(struct task *t, const struct derivation *d, uint8_t *points, bool inverse,
                             const struct fr *scale, const struct fr *step)
{
    const struct backend *be = d->backend;
    const struct domain *domain = &d->key->domain;
    const size_t bytes = domain->size * d->key->curve->g1.aff_bytes;
    struct buffer on = buffer_borrow(d->device, span_of(points, bytes)), workspace = { 0 };
    struct group_ntt_plan plan;
    cuzk_status status;

    TRY_GOTO(out, be->group_ntt_plan(&plan, t, d->device, domain, inverse, scale, step));
    TRY_GOTO(out, be->buffer_take(&workspace, t, d->device, MEM_DEVICE, plan.workspace_bytes, 0));
    if (!be->reads_host_memory) {
        TRY_GOTO(out, be->buffer_take(&on, t, d->device, MEM_DEVICE, bytes, 0));
        TRY_GOTO(out, be->upload(d->stream, t, &on, 0, points, bytes));
    }
    for (unsigned pass = 0; pass < plan.pass_count; pass++) {
        task_progress(t, "transforms", pass, plan.pass_count);
        TRY_GOTO(out, be->group_ntt(d->stream, t, &plan, &on, pass, 1, &workspace));
        TRY_GOTO(out, be->stream_sync(d->stream, t));
        TRY_GOTO(out, task_poll(t));
    }
    if (!be->reads_host_memory) {
        TRY_GOTO(out, be->download(d->stream, t, points, &on, 0, bytes));
        TRY_GOTO(out, be->stream_sync(d->stream, t));
    }
out:
    if (status != CUZK_OK) backend_settle(be, d->stream);
    be->buffer_give(&on);
    be->buffer_give(&workspace);
    return status;
}

/* The key's H points, decoded; bellman has none for the last coefficient, which is always zero. */
static cuzk_status copy_h(struct task *t, const struct groth16_key *key, uint8_t *out)
{
    const size_t point = key->curve->g1.aff_bytes;
    const uint64_t count = key->point_count[QUERY_H];

    memset(out + count * point, 0, (key->domain.size - count) * point);
    if (key->encoded[QUERY_H]) return groth16_key_points(t, key, QUERY_H, 0, count, out);
    memcpy(out, key->point[QUERY_H].data, count * point);
    return CUZK_OK;
}

/* snarkjs: T = coset's transform after the inverse one, so LD = (inverse transform)(shift^i / n x transform of H). */
static cuzk_status lagrange_snarkjs(struct task *t, const struct derivation *d,
                                    const struct derived_points *p)
{
    const struct domain *domain = &d->key->domain;

    TRY(copy_h(t, d->key, p->ld));
    TRY(transform(t, d, p->ld, false, NULL, NULL));
    return transform(t, d, p->ld, true, &domain->size_inv, &domain->shift);
}

/* bellman: Lc_j = z / n sum (shift omega^j)^-i H_i and LD_j = z / n sum omega^-ij H_i, z = 1 / (shift^n - 1). */
static cuzk_status lagrange_bellman(struct task *t, const struct derivation *d,
                                    const struct derived_points *p)
{
    const struct domain *domain = &d->key->domain;
    const struct scalar_field *f = &d->key->curve->fr;
    struct fr scale, one;

    f->from_u64(&one, 1);
    f->mul(&scale, &domain->z_coset_inv, &domain->size_inv);
    TRY(copy_h(t, d->key, p->ld));
    memcpy(p->lc, p->ld, domain->size * d->key->curve->g1.aff_bytes);
    TRY(transform(t, d, p->ld, true, &scale, &one));
    return transform(t, d, p->lc, true, &scale, &domain->shift_inv);
}

/* -- C into L ------------------------------------------------------------------------------------------------------------ */

struct fold {
    const struct derivation *d;
    const uint8_t *ld;
    uint64_t first; /* variable */
    uint8_t *out;   /* of variable first: L on entry, infinity for the inputs; L' on return */
};

/* sum += c p for a coefficient of the dictionary, by which most are 1, -1 or a short power of two or its negative. */
static void add_multiple(struct g_jac sums[2], const struct derivation *d, uint32_t coefficient,
                         const uint8_t *p)
{
    const struct curve *c = d->key->curve;
    struct fr negative;
    struct fr_int k, minus;
    struct g_jac term;

    if (coefficient < 2) {
        c->g1.jac_add_aff(&sums[coefficient], &sums[coefficient], p);
        return;
    }
    c->fr.to_int(&k, &d->c.dictionary[coefficient]);
    c->fr.neg(&negative, &d->c.dictionary[coefficient]);
    c->fr.to_int(&minus, &negative);
    const bool negated = (minus.w[1] | minus.w[2] | minus.w[3]) == 0;
    if (negated) k = minus;
    if ((k.w[1] | k.w[2] | k.w[3]) == 0) {
        c->g1.jac_set_inf(&term);
        for (int bit = 63 - __builtin_clzll(k.w[0]); bit >= 0; bit--) {
            c->g1.jac_dbl(&term, &term);
            if (k.w[0] >> bit & 1) c->g1.jac_add_aff(&term, &term, p);
        }
    } else {
        c->g1.jac_from_aff(&term, p);
        c->g1.jac_mul(&term, &term, &k);
    }
    c->g1.jac_add(&sums[negated], &sums[negated], &term);
}

static cuzk_status fold_variables(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct fold *f = context;
    const struct csr *m = &f->d->c;
    const struct group *g = &f->d->key->curve->g1;
    struct g_jac folded[FOLD_CHUNK], sums[2]; /* of 1 and of -1 */

    (void)t;
    for (uint64_t v = begin; v < end; v++) {
        const uint64_t row = f->first + v;
        g->jac_set_inf(&sums[0]);
        g->jac_from_aff(&sums[1], f->out + v * g->aff_bytes);
        for (uint64_t e = m->row_start[row]; e < m->row_start[row + 1]; e++)
            add_multiple(sums, f->d, m->coefficient[e], f->ld + m->column[e] * g->aff_bytes);
        g->jac_neg(&sums[0], &sums[0]);
        g->jac_add(&folded[v - begin], &sums[0], &sums[1]);
    }
    g->batch_to_aff(f->out + begin * g->aff_bytes, folded, end - begin);
    return CUZK_OK;
}

static cuzk_status fold(struct task *t, const struct derivation *d, const struct derived_points *p)
{
    const struct groth16_key *key = d->key;
    const size_t point = key->curve->g1.aff_bytes;
    const uint64_t inputs = key->public_count + 1;

    memset(p->l, 0, inputs * point);
    if (key->encoded[QUERY_L])
        TRY(groth16_key_points(t, key, QUERY_L, 0, key->variable_count - inputs, p->l + inputs * point));
    else
        memcpy(p->l + inputs * point, key->point[QUERY_L].data, (key->variable_count - inputs) * point);
    for (uint64_t first = 0; first < key->variable_count; first += FOLD_PIECE) {
        const uint64_t left = key->variable_count - first, count = left < FOLD_PIECE ? left : FOLD_PIECE;
        struct fold f = { d, p->ld, first, p->l + first * point };
        task_progress(t, "C into L", first, key->variable_count);
        TRY(chunks_run(t, NULL, count, FOLD_CHUNK, fold_variables, &f));
    }
    task_progress(t, "C into L", key->variable_count, key->variable_count);
    return CUZK_OK;
}

/* -- all of it ----------------------------------------------------------------------------------------------------------- */

cuzk_status groth16_derive_points(struct derived_points *out, struct task *t, const struct groth16_key *key,
                                  const struct backend *backend, struct device *device)
{
    struct derivation d = { .key = key, .backend = backend, .device = device };
    cuzk_status status;

    TRY(circuit_of(&d.circuit, t, key));
    TRY_GOTO(out, transpose(t, &d));
    TRY_GOTO(out, backend->stream_open(&d.stream, t, device));
    if (key->layout == GROTH16_ZKEY)
        TRY_GOTO(out, lagrange_snarkjs(t, &d, out));
    else
        TRY_GOTO(out, lagrange_bellman(t, &d, out));
    TRY_GOTO(out, fold(t, &d, out));
out:
    if (d.stream != NULL) backend->stream_close(d.stream);
    csr_fini(&d.c);
    return status;
}

/* The points were made here and have passed: the next to open the file need not look at each again. */
static void remember(const char *path)
{
    char note[DERIVED_NOTE_BYTES];
    struct mapfile file = { 0 };
    struct derived_file d;
    struct task quiet;

    task_init(&quiet);
    if (mapfile_open(&file, &quiet, path) != CUZK_OK) return;
    if (derived_file_parse(&d, &quiet, path, file.bytes) == CUZK_OK) {
        derived_note(note, &d);
        filenote_write(&file, "derived", note);
    }
    mapfile_close(&file);
}

cuzk_status groth16_derive(struct task *t, const struct groth16_key *key, const char *path,
                           const struct backend *backend, struct device *device)
{
    const struct derived_shape shape = { key->curve, key->domain.convention, key->domain.log2,
                                         key->variable_count, key->public_count + 1 };
    char beside[ERROR_PATH_BYTES + sizeof DERIVED_SUFFIX];
    uint8_t digest[SHA256_BYTES];
    struct constraints circuit;
    struct derived_layout at;
    struct new_file file = { 0 };
    struct arena memory = { 0 };
    const size_t ld_bytes = key->domain.size * key->curve->g1.aff_bytes;
    void *ld;
    cuzk_status status;

    TRY(circuit_of(&circuit, t, key));
    if (path == NULL) {
        snprintf(beside, sizeof beside, "%s" DERIVED_SUFFIX, key->file.path);
        path = beside;
    }
    derived_layout_plan(&at, &shape);
    TRY(hostmem_allows(t, key->file.path, arena_round(ld_bytes) + 8 * key->variable_count,
                       "deriving this key"));
    TRY_GOTO(out, arena_open(&memory, t, arena_round(ld_bytes), ARENA_PLAIN));
    TRY_GOTO(out, arena_take(&memory, t, &ld, ld_bytes));
    TRY_GOTO(out, new_file_open(&file, t, path, at.file_bytes, 0600));
    struct derived_points points = { file.data + at.offset[DERIVED_IC], NULL, ld };
    if (at.count[DERIVED_H] != 0) points.lc = file.data + at.offset[DERIVED_H];
    TRY_GOTO(out, groth16_derive_points(&points, t, key, backend, device));
    TRY_GOTO(out, groth16_derive_check(t, key, &points, backend, device));
    groth16_key_sha256(key, digest);
    derived_file_finish(file.data, &shape, digest, key->file.bytes.size);
    TRY_GOTO(out, new_file_commit(&file, t));
    remember(path);
out:
    new_file_discard(&file);
    arena_close(&memory);
    return status;
}
