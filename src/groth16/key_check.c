/* Everything that can be checked about a proving key without its secrets. */
#include "groth16/key_check.h"
#include "base/rng.h"
#include "groth16/chunks.h"
#include "pairing/pairing.h"
#include <stdlib.h>
#include <string.h>

#define CHECK_CHUNK  256                 /* points: some milliseconds of subgroup checks */
#define WEIGHT_CHUNK ((uint64_t)1 << 16) /* points of B weighted at once */

/* -- every point ------------------------------------------------------------------------------------------------------- */

struct section {
    const struct groth16_key *key;
    const char *name;
    enum group_id group;
    const struct span *encoded; /* in the file */
    uint64_t count;
};

static cuzk_status check_points(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct section *s = context;
    const struct group *g = s->key->curve->group[s->group];
    struct g_aff point;

    for (uint64_t i = begin; i < end; i++) {
        if (s->key->layout == GROTH16_BELLMAN) {
            TRY(filparams_point(&s->key->params, t, &point, s->encoded, s->group, s->name, i, true));
        } else {
            const uint8_t *at = s->encoded->data + i * g->aff_bytes;
            TRY(zkey_point_verdict(&s->key->zkey, t, s->name, at, i, g->aff_check(at, true)));
        }
    }
    return CUZK_OK;
}

static cuzk_status check_section(struct task *t, const struct section *s)
{
    const cuzk_status status =
        chunks_run(t, s->name, s->count, CHECK_CHUNK, check_points, (void *)(uintptr_t)s);

    /* The formats speak of malformed files; here the file is well formed and the key is not valid. */
    if (status != CUZK_MALFORMED) return status;
    if (t->error.status == CUZK_MALFORMED) t->error.status = CUZK_KEY_INVALID;
    return CUZK_KEY_INVALID;
}

static void sections_of(struct section out[QUERY_COUNT], const struct groth16_key *key)
{
    static const char *const zkey_name[QUERY_COUNT] = { "A", "B1", "B2", "C", "H" };
    static const char *const bellman_name[QUERY_COUNT] = { "a", "b_g1", "b_g2", "l", "h" };
    const struct zkey *z = &key->zkey;
    const struct filparams *p = &key->params;
    const struct span *const in_zkey[QUERY_COUNT] = { &z->a, &z->b1, &z->b2, &z->c, &z->h };
    const struct span *const in_params[QUERY_COUNT] = { &p->a, &p->b_g1, &p->b_g2, &p->l, &p->h };
    const bool zkey = key->layout == GROTH16_ZKEY;

    for (int q = 0; q < QUERY_COUNT; q++) {
        out[q].key = key;
        out[q].name = zkey ? zkey_name[q] : bellman_name[q];
        out[q].group = q == QUERY_B2 ? GROUP_G2 : GROUP_G1;
        out[q].encoded = zkey ? in_zkey[q] : in_params[q];
        out[q].count =
            out[q].encoded->size / (zkey ? key->curve->group[out[q].group]->aff_bytes
                                         : key->curve->group[out[q].group]->encoded_bytes(ENCODING_ZCASH));
    }
}

/* -- a derived key's points ---------------------------------------------------------------------------------------------- */

struct derived_run {
    const struct groth16_key *key;
    enum derived_part part;
};

static cuzk_status check_derived_points(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct derived_run *d = context;
    const struct group *g = &d->key->curve->g1;
    const struct span points = d->key->derived.part[d->part];

    for (uint64_t i = begin; i < end; i++) {
        const enum point_check verdict = g->aff_check(points.data + i * g->aff_bytes, true);
        if (verdict == POINT_OK) continue;
        const cuzk_status status =
            FAIL(t, CUZK_KEY_INVALID, "point %llu of the derived key's %s %s", (unsigned long long)i,
                 derived_part_name(d->part), point_check_text(verdict));
        task_fail_place(t, d->key->derived_file.path,
                        d->key->derived.layout.offset[d->part] + i * g->aff_bytes, derived_part_name(d->part),
                        "make it again: cuzk key derive");
        return status;
    }
    return CUZK_OK;
}

static cuzk_status check_derived(struct task *t, const struct groth16_key *key)
{
    for (enum derived_part part = 0; part < DERIVED_PARTS; part++) {
        struct derived_run d = { key, part };
        TRY(chunks_run(t, "derived key", key->derived.layout.count[part], CHECK_CHUNK, check_derived_points,
                       &d));
    }
    return CUZK_OK;
}

/* -- B in G1 and in G2 ------------------------------------------------------------------------------------------------- */

struct decoded {
    const struct section *section;
    uint64_t first;
    uint8_t *out;
};

static cuzk_status decode_points(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct decoded *d = context;
    const struct section *s = d->section;
    const struct group *g = s->key->curve->group[s->group];
    struct g_aff point;

    for (uint64_t i = begin; i < end; i++) {
        TRY(filparams_point(&s->key->params, t, &point, s->encoded, s->group, s->name, d->first + i, false));
        memcpy(d->out + i * g->aff_bytes, &point, g->aff_bytes);
    }
    return CUZK_OK;
}

struct weighing {
    const struct backend *backend;
    struct device *device;
    struct stream *stream;
    uint8_t *points;        /* WEIGHT_CHUNK of G2: bellman's, decoded */
    struct fr_int *weights; /* WEIGHT_CHUNK */
    void *workspace;
    size_t workspace_bytes;
};

/* sum += weights . points[first, first + count) */
static cuzk_status weigh(struct task *t, struct weighing *w, struct g_jac *sum, const struct section *s,
                         uint64_t first, uint64_t count)
{
    const struct curve *c = s->key->curve;
    const struct group *g = c->group[s->group];
    struct span points = span_of(s->encoded->data + first * g->aff_bytes, count * g->aff_bytes);
    struct msm_plan plan;
    struct g_jac part;

    if (s->key->layout == GROTH16_BELLMAN) {
        struct decoded d = { s, first, w->points };
        TRY(chunks_run(t, NULL, count, CHECK_CHUNK, decode_points, &d));
        points = span_of(w->points, count * g->aff_bytes);
    }
    TRY(w->backend->msm_plan(&plan, t, w->device, c, s->group, count));
    if (plan.workspace_bytes > w->workspace_bytes) {
        free(w->workspace);
        w->workspace_bytes = 0;
        if (posix_memalign(&w->workspace, 4096, plan.workspace_bytes) != 0) {
            w->workspace = NULL;
            return FAIL(t, CUZK_NO_MEMORY, "no memory for the sums of B (%zu bytes)", plan.workspace_bytes);
        }
        w->workspace_bytes = plan.workspace_bytes;
    }
    const struct buffer on = buffer_borrow(w->device, points);
    const struct buffer by = buffer_borrow(w->device, span_of(w->weights, count * sizeof *w->weights));
    struct buffer workspace = buffer_borrow(w->device, span_of(w->workspace, w->workspace_bytes));
    TRY(w->backend->msm(w->stream, t, &plan, &part, &on, 0, &by, 0, NULL, &workspace));
    TRY(w->backend->stream_sync(w->stream, t));
    g->jac_add(sum, sum, &part);
    return CUZK_OK;
}

/* Whether the two lists are the same multiples of the two generators: with random 128-bit weights k, e(sum k B1, G2) =
 * e(G1, sum k B2).  Lists that differ pass with probability at most 2^-128. */
static cuzk_status check_same_multiples(struct task *t, struct weighing *w, const struct section *b1,
                                        const struct section *b2)
{
    const struct curve *c = b1->key->curve;
    struct g_jac sum1, sum2;
    struct g_aff g1[2], g2[2];

    c->g1.jac_set_inf(&sum1);
    c->g2.jac_set_inf(&sum2);
    for (uint64_t first = 0; first < b1->count; first += WEIGHT_CHUNK) {
        const uint64_t count = b1->count - first < WEIGHT_CHUNK ? b1->count - first : WEIGHT_CHUNK;
        task_progress(t, "B1 against B2", first, b1->count);
        TRY(task_poll(t));
        TRY(rng_bytes(t, w->weights, count * sizeof *w->weights));
        for (uint64_t i = 0; i < count; i++) w->weights[i].w[2] = w->weights[i].w[3] = 0;
        TRY(weigh(t, w, &sum1, b1, first, count));
        TRY(weigh(t, w, &sum2, b2, first, count));
    }
    c->g1.jac_neg(&sum1, &sum1);
    c->g1.jac_to_aff(&g1[0], &sum1);
    g2[0] = c->g2.generator;
    g1[1] = c->g1.generator;
    c->g2.jac_to_aff(&g2[1], &sum2);
    if (pairing_product_is_one(c, g1, g2, 2)) return CUZK_OK;
    const cuzk_status status = FAIL(
        t, CUZK_KEY_INVALID, "the points of B in G1 and in G2 are not the same multiples of the generators");
    task_fail_place(t, b1->key->file.path, ERROR_NO_OFFSET, "B", "fetch the key again");
    return status;
}

static cuzk_status check_b(struct task *t, const struct section *b1, const struct section *b2,
                           const struct backend *backend, struct device *device)
{
    struct weighing w = { .backend = backend, .device = device };
    cuzk_status status = CUZK_OK;

    if (!backend->reads_host_memory)
        return FAIL(t, CUZK_UNSUPPORTED, "the %s backend does not check keys; cpu does", backend->name);
    w.points = malloc(WEIGHT_CHUNK * b1->key->curve->g2.aff_bytes);
    w.weights = malloc(WEIGHT_CHUNK * sizeof *w.weights);
    if (w.points == NULL || w.weights == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory to weigh the points of B");
        goto out;
    }
    TRY_GOTO(out, backend->stream_open(&w.stream, t, device));
    TRY_GOTO(out, check_same_multiples(t, &w, b1, b2));
out:
    if (w.stream != NULL) backend->stream_close(w.stream);
    free(w.workspace);
    free(w.weights);
    free(w.points);
    return status;
}

/* -- the verifying key ------------------------------------------------------------------------------------------------- */

static cuzk_status differs(struct task *t, const struct groth16_key *key, const char *what)
{
    const cuzk_status status =
        FAIL(t, CUZK_MISMATCH,
             "%s of the key is not that of the verifying key: they are of different circuits or "
             "ceremonies",
             what);
    task_fail_place(t, key->file.path, ERROR_NO_OFFSET, what,
                    "export the verifying key from this key and compare");
    return status;
}

cuzk_status groth16_key_compare_vk(struct task *t, const struct groth16_key *key,
                                   const struct groth16_vk *expected)
{
    const struct groth16_vk *vk = &key->vk;
    const size_t g1 = key->curve->g1.aff_bytes, g2 = key->curve->g2.aff_bytes;

    if (expected->curve != key->curve) return differs(t, key, "curve");
    if (expected->ic_count != vk->ic_count) return differs(t, key, "number of public inputs");
    if (memcmp(&expected->alpha1, &vk->alpha1, g1) != 0) return differs(t, key, "alpha1");
    if (memcmp(&expected->beta2, &vk->beta2, g2) != 0) return differs(t, key, "beta2");
    if (memcmp(&expected->gamma2, &vk->gamma2, g2) != 0) return differs(t, key, "gamma2");
    if (memcmp(&expected->delta2, &vk->delta2, g2) != 0) return differs(t, key, "delta2");
    for (size_t i = 0; i < vk->ic_count; i++)
        if (memcmp(&expected->ic[i], &vk->ic[i], g1) != 0) return differs(t, key, "IC");
    return CUZK_OK;
}

cuzk_status groth16_key_check(struct task *t, const struct groth16_key *key,
                              const struct groth16_vk *expected, const struct backend *backend,
                              struct device *device)
{
    struct section sections[QUERY_COUNT];

    TRY(groth16_vk_check(t, &key->vk)); /* beta and delta in both groups, IC, infinities */
    if (key->layout == GROTH16_ZKEY &&
        memcmp(&key->vk.gamma2, &key->curve->g2.generator, key->curve->g2.aff_bytes) != 0) {
        const cuzk_status status =
            FAIL(t, CUZK_KEY_INVALID, "gamma2 is not the generator of G2, as it is in every .zkey");
        task_fail_place(t, key->file.path, ERROR_NO_OFFSET, "gamma2", NULL);
        return status;
    }
    if (expected != NULL) TRY(groth16_key_compare_vk(t, key, expected));
    sections_of(sections, key);
    for (int q = 0; q < QUERY_COUNT; q++) TRY(check_section(t, &sections[q]));
    if (key->h_mode == H_LAGRANGE_4) TRY(check_derived(t, key));
    return check_b(t, &sections[QUERY_B1], &sections[QUERY_B2], backend, device);
}

cuzk_status groth16_key_check_files(struct task *t, const struct groth16_key *key)
{
    TRY(mapfile_check(t, &key->file));
    TRY(mapfile_check(t, &key->derived_file));
    return mapfile_check(t, &key->r1cs);
}
