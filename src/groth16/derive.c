/* Making a derived key: H in Lagrange form on the coset, C folded into L. */
#include "groth16/derive.h"
#include "base/arena.h"
#include "base/filenote.h"
#include "base/hostmem.h"
#include "groth16/chunks.h"
#include "groth16/derive_fold.h"
#include "groth16/derive_work.h"
#include "groth16/key_derived.h"
#include "groth16/new_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct derivation {
    const struct groth16_key *key;
    const struct backend *backend;
    struct device *device;
    struct stream *stream;
    struct derive_work *work; /* NULL: no checkpoints */
    const struct groth16_derive_options *options;
    struct constraints circuit;
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

/* -- transforms ---------------------------------------------------------------------------------------------------------- */

/* One of the transforms that a vector of points goes through. */
struct transform {
    const char *name;
    uint32_t vector;        /* of points */
    uint32_t passes_before; /* of the vector's transforms before this one */
    bool inverse;
    const struct fr *scale, *step;
};

static uint32_t passes_done(const struct derivation *d, uint32_t vector)
{
    return d->work != NULL ? d->work->vector[vector].passes : 0;
}

static cuzk_status keep(struct task *t, const struct derivation *d, const struct transform *x,
                        unsigned passes, bool ends, uint8_t *points, const struct buffer *on)
{
    const struct backend *be = d->backend;

    if (d->work == NULL || !derive_work_due(d->work, ends)) return CUZK_OK;
    if (!be->reads_host_memory) {
        TRY(be->download(d->stream, t, points, on, 0, on->bytes));
        TRY(be->stream_sync(d->stream, t));
    }
    return derive_work_save(d->work, t, x->vector, x->passes_before + passes, points);
}

/* Passes from first on, in place; points in host memory. */
static cuzk_status run_passes(struct task *t, const struct derivation *d, const struct transform *x,
                              const struct group_ntt_plan *plan, unsigned first, uint8_t *points)
{
    const struct backend *be = d->backend;
    const size_t bytes = d->key->domain.size * d->key->curve->g1.aff_bytes;
    struct buffer on = buffer_borrow(d->device, span_of(points, bytes)), workspace = { 0 };
    cuzk_status status;

    TRY_GOTO(out, be->buffer_take(&workspace, t, d->device, MEM_DEVICE, plan->workspace_bytes, 0));
    if (!be->reads_host_memory) {
        TRY_GOTO(out, be->buffer_take(&on, t, d->device, MEM_DEVICE, bytes, 0));
        TRY_GOTO(out, be->upload(d->stream, t, &on, 0, points, bytes));
    }
    for (unsigned pass = first; pass < plan->pass_count; pass++) {
        task_progress(t, x->name, pass, plan->pass_count);
        TRY_GOTO(out, be->group_ntt(d->stream, t, plan, &on, pass, 1, &workspace));
        TRY_GOTO(out, be->stream_sync(d->stream, t));
        TRY_GOTO(out, keep(t, d, x, pass + 1, pass + 1 == plan->pass_count, points, &on));
        TRY_GOTO(out, task_poll(t));
    }
    task_progress(t, x->name, plan->pass_count, plan->pass_count);
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

/* What is left of a transform. */
static cuzk_status transform(struct task *t, const struct derivation *d, const struct transform *x,
                             uint8_t *points)
{
    const uint32_t done = passes_done(d, x->vector);
    struct group_ntt_plan plan;
    const uint64_t kept = d->work != NULL ? d->work->kept_ns : 0;
    uint64_t since = clock_now_ns();

    TRY(d->backend->group_ntt_plan(&plan, t, d->device, &d->key->domain, x->inverse, x->scale, x->step));
    if (done >= x->passes_before + plan.pass_count) return CUZK_OK;
    TRY(run_passes(t, d, x, &plan, done > x->passes_before ? done - x->passes_before : 0, points));
    if (d->work != NULL) since += d->work->kept_ns - kept; /* told already */
    derive_stage(d->options, x->name, &since);
    return CUZK_OK;
}

/* A vector as its last checkpoint has it, or else the key's H points, decoded; bellman has none for the last coefficient, which is always zero. */
static cuzk_status begin_vector(struct task *t, const struct derivation *d, uint32_t vector, uint8_t *out)
{
    const struct groth16_key *key = d->key;
    const size_t point = key->curve->g1.aff_bytes;
    const uint64_t count = key->point_count[QUERY_H];
    uint64_t since = clock_now_ns();

    if (d->work != NULL) TRY(derive_work_load(d->work, t, vector, out));
    if (passes_done(d, vector) != 0) {
        derive_stage(d->options, "reading a checkpoint", &since);
        return CUZK_OK;
    }
    task_progress(t, "points of H", 0, 1);
    memset(out + count * point, 0, (key->domain.size - count) * point);
    if (key->encoded[QUERY_H])
        TRY(groth16_key_points(t, key, QUERY_H, 0, count, out));
    else
        memcpy(out, key->point[QUERY_H].data, count * point);
    derive_stage(d->options, "points of H", &since);
    return CUZK_OK;
}

/* snarkjs: T = coset's transform after the inverse one, so LD = (inverse transform)(shift^i / n x transform of H). */
static cuzk_status lagrange_snarkjs(struct task *t, const struct derivation *d,
                                    const struct derived_points *p)
{
    const struct domain *domain = &d->key->domain;
    const struct transform first = { .name = "transform 1 of 2 (LD)" },
                           second = { .name = "transform 2 of 2 (LD)",
                                      .passes_before = domain->log2 + 1,
                                      .inverse = true,
                                      .scale = &domain->size_inv,
                                      .step = &domain->shift };

    TRY(begin_vector(t, d, 0, p->ld));
    TRY(transform(t, d, &first, p->ld));
    return transform(t, d, &second, p->ld);
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
    const struct transform ld = { .name = "transform 1 of 2 (LD)",
                                  .inverse = true,
                                  .scale = &scale,
                                  .step = &one },
                           lc = { .name = "transform 2 of 2 (Lc)",
                                  .vector = 1,
                                  .inverse = true,
                                  .scale = &scale,
                                  .step = &domain->shift_inv };
    TRY(begin_vector(t, d, 0, p->ld));
    TRY(transform(t, d, &ld, p->ld));
    TRY(begin_vector(t, d, 1, p->lc));
    return transform(t, d, &lc, p->lc);
}

/* -- C into L ------------------------------------------------------------------------------------------------------------ */

/* L of the key, infinity for the inputs. */
static cuzk_status copy_l(struct task *t, const struct groth16_key *key, uint8_t *out)
{
    const size_t point = key->curve->g1.aff_bytes;
    const uint64_t inputs = key->public_count + 1;

    task_progress(t, "points of L", 0, 1);
    memset(out, 0, inputs * point);
    if (key->encoded[QUERY_L])
        return groth16_key_points(t, key, QUERY_L, 0, key->variable_count - inputs, out + inputs * point);
    memcpy(out + inputs * point, key->point[QUERY_L].data, (key->variable_count - inputs) * point);
    return CUZK_OK;
}

/* -- all of it ----------------------------------------------------------------------------------------------------------- */

cuzk_status groth16_derive_points(struct derived_points *out, struct task *t, const struct groth16_key *key,
                                  struct derive_work *work, const struct groth16_derive_options *options,
                                  const struct backend *backend, struct device *device)
{
    struct derivation d = {
        .key = key, .backend = backend, .device = device, .work = work, .options = options
    };
    uint64_t since;
    cuzk_status status;

    TRY(circuit_of(&d.circuit, t, key));
    TRY(backend->stream_open(&d.stream, t, device));
    if (key->layout == GROTH16_ZKEY)
        TRY_GOTO(out, lagrange_snarkjs(t, &d, out));
    else
        TRY_GOTO(out, lagrange_bellman(t, &d, out));
    since = clock_now_ns();
    TRY_GOTO(out, copy_l(t, key, out->l));
    derive_stage(options, "points of L", &since);
    TRY_GOTO(out, derive_fold(t, key, &d.circuit, out->ld, out->l, options));
out:
    backend->stream_close(d.stream);
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

/* -- the file ------------------------------------------------------------------------------------------------------------ */

/* Memory of its own, the key's and the new file's pages aside. */
static cuzk_status memory_allows(struct task *t, const struct groth16_key *key)
{
    const uint64_t ld = arena_round(key->domain.size * key->curve->g1.aff_bytes),
                   check = groth16_derive_check_bytes(key),
                   fold = 8 * (key->variable_count + 1); /* and what derive_fold counts */

    return hostmem_allows(t, key->file.path, ld + (check > fold ? check : fold), "deriving this key");
}

/* Points, check and header of the file that is open for them. */
static cuzk_status fill_file(struct task *t, const struct groth16_key *key, struct new_file *file, void *ld,
                             const struct derived_shape *shape, const struct derived_layout *at,
                             struct derive_work *work, const struct groth16_derive_options *options,
                             const struct backend *backend, struct device *device)
{
    struct derived_points points = { file->data + at->offset[DERIVED_IC], NULL, ld };
    uint8_t digest[SHA256_BYTES];
    uint64_t since;

    if (at->count[DERIVED_H] != 0) points.lc = file->data + at->offset[DERIVED_H];
    TRY(groth16_derive_points(&points, t, key, work, options, backend, device));
    const cuzk_status checked = groth16_derive_check(t, key, &points, options, backend, device);
    if (checked == CUZK_KEY_INVALID) derive_work_remove(work); /* what it holds may be why */
    TRY(checked);
    since = clock_now_ns();
    task_progress(t, "digests", 0, 1);
    TRY(derive_work_key_digest(work, t, digest));
    TRY(groth16_derived_finish(t, file->data, shape, key->file.bytes, digest));
    derive_stage(options, "digests", &since);
    return CUZK_OK;
}

cuzk_status groth16_derive(struct task *t, const struct groth16_key *key, const char *path,
                           const struct groth16_derive_options *options, const struct backend *backend,
                           struct device *device)
{
    const struct derived_shape shape = { key->curve, key->domain.convention, key->domain.log2,
                                         key->variable_count, key->public_count + 1 };
    const bool snarkjs = key->layout == GROTH16_ZKEY;
    char beside[ERROR_PATH_BYTES + sizeof DERIVED_SUFFIX];
    const size_t ld_bytes = key->domain.size * key->curve->g1.aff_bytes;
    struct constraints circuit;
    struct derived_layout at;
    struct new_file file = { 0 };
    struct arena memory = { 0 };
    struct derive_work work = { .fd = -1 };
    struct group_ntt_plan plan;
    uint64_t since;
    void *ld;
    cuzk_status status;

    TRY(circuit_of(&circuit, t, key));
    if (path == NULL) {
        snprintf(beside, sizeof beside, "%s" DERIVED_SUFFIX, key->file.path);
        path = beside;
    }
    derived_layout_plan(&at, &shape);
    TRY(memory_allows(t, key));
    TRY_GOTO(out, backend->group_ntt_plan(&plan, t, device, &key->domain, false, NULL, NULL));
    TRY_GOTO(out, arena_open(&memory, t, arena_round(ld_bytes), ARENA_PLAIN));
    TRY_GOTO(out, arena_take(&memory, t, &ld, ld_bytes));
    TRY_GOTO(out, new_file_open(&file, t, path, at.file_bytes, 0600));
    derive_work_open(&work, t, key, path, snarkjs ? 1 : 2, plan.pass_count * (snarkjs ? 2 : 1), plan.steps,
                     options);
    TRY_GOTO(out, fill_file(t, key, &file, ld, &shape, &at, &work, options, backend, device));
    since = clock_now_ns();
    task_progress(t, "writing", 0, 1);
    TRY_GOTO(out, new_file_commit(t, (struct new_file *const[]){ &file }, 1));
    derive_stage(options, "writing", &since);
    derive_work_finish(&work, t);
    remember(path);
out:
    derive_work_close(&work);
    new_file_discard(&file);
    arena_close(&memory);
    return status;
}
