/* Development keys without a file. */
#include "groth16/key_secret.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "groth16/key_device.h"
#include "groth16/setup_points.h"
#include <stdlib.h>
#include <string.h>

struct key_secret {
    struct setup_scalars scalars;
    bool forgotten;
    struct key_secret_times times;
    const struct backend *backend;
    struct device *device;
};

static enum setup_query query_of(const struct groth16_key *key, enum groth16_query q)
{
    const bool derived = key->h_mode == H_LAGRANGE_4;
    const enum setup_query all[QUERY_COUNT] = {
        [QUERY_A] = SETUP_A,
        [QUERY_B1] = SETUP_B,
        [QUERY_B2] = SETUP_B,
        [QUERY_L] = derived ? SETUP_L_DERIVED : SETUP_L,
        [QUERY_H] = derived ? SETUP_H_COSET : SETUP_H,
    };
    return all[q];
}

static enum group_id group_of(enum groth16_query q) { return q == QUERY_B2 ? GROUP_G2 : GROUP_G1; }

static cuzk_status need_secret(struct task *t, const struct groth16_key *key)
{
    if (!key->secret->forgotten) return CUZK_OK;
    return FAIL(
        t, CUZK_UNSUPPORTED,
        "the secret of this development key is gone: its points are on the devices that it was made for, "
        "and nowhere else");
}

struct copying {
    uint8_t *out; /* of the next chunk */
    size_t point_bytes;
};

static cuzk_status copy_chunk(void *context, struct task *t, const uint8_t *points, uint64_t begin,
                              uint64_t count)
{
    struct copying *c = context;

    (void)t;
    (void)begin;
    memcpy(c->out, points, count * c->point_bytes);
    c->out += count * c->point_bytes;
    return CUZK_OK;
}

cuzk_status key_secret_points(struct task *t, const struct groth16_key *key, enum groth16_query q,
                              uint64_t first, uint64_t count, uint8_t *out)
{
    const struct key_secret *s = key->secret;
    struct copying c = { out, key->curve->group[group_of(q)]->aff_bytes };
    struct setup_points p;

    if (count == 0) return CUZK_OK;
    TRY(need_secret(t, key));
    cuzk_status status = setup_points_init(&p, t, &s->scalars, s->backend, s->device, count, true);
    if (status == CUZK_OK)
        status = setup_points_make(&p, t, "key", query_of(key, q), group_of(q), first, count, copy_chunk, &c);
    setup_points_fini(&p);
    return status;
}

cuzk_status key_secret_fill(struct task *t, const struct groth16_key *key, const struct backend *backend,
                            struct stream *stream, struct buffer *to, enum groth16_query q, uint64_t first,
                            uint64_t count)
{
    struct key_secret_times *const times = &key->secret->times;
    struct setup_points p;

    if (count == 0) return CUZK_OK;
    TRY(need_secret(t, key));
    TRY(backend->stream_sync(stream, t));
    const uint64_t begin_ns = clock_now_ns();
    cuzk_status status = setup_points_init(&p, t, &key->secret->scalars, backend, to->device, count, false);
    if (status == CUZK_OK)
        status = setup_points_fill(&p, t, "key", query_of(key, q), group_of(q), first, count, to, 0);
    if (q == 0) times->host_ms = 0; /* another device */
    times->host_ms += p.host_ms;
    setup_points_fini(&p);
    times->points_ms[q] = clock_ms_since(begin_ns);
    return status;
}

/* -- life -------------------------------------------------------------------------------------------------------------- */

static cuzk_status make_vk(struct groth16_key *key, struct task *t, const struct trapdoor *secrets)
{
    struct setup_vk made;
    cuzk_status status = setup_vk_make(&made, t, &key->secret->scalars, secrets);
    const struct groth16_vk_points points = {
        .alpha1 = &made.points.alpha1,
        .beta1 = &made.beta1,
        .beta2 = &made.points.beta2,
        .gamma2 = &made.points.gamma2,
        .delta1 = &made.delta1,
        .delta2 = &made.points.delta2,
        .ic = made.points.ic,
        .ic_stride = sizeof *made.points.ic,
        .ic_count = made.points.ic_count,
    };

    if (status == CUZK_OK) status = groth16_vk_init(t, &key->vk, key->curve, &points);
    setup_vk_fini(&made);
    return status;
}

static cuzk_status make(struct groth16_key *key, struct task *t, const struct trapdoor *secrets)
{
    struct setup_scalars *const s = &key->secret->scalars;

    TRY(key_devices_create(&key->devices, t));
    TRY(setup_scalars_init(s, t, key->constraints, secrets));
    key->curve = s->curve;
    key->domain = s->domain;
    key->variable_count = s->variables;
    key->public_count = s->inputs - 1;
    key->row_count = key->constraints->row_count + s->inputs;
    key->density_a = s->dense[0];
    key->density_b = s->dense[1];
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) {
        key->point_count[q] = setup_scalars_count(s, query_of(key, q));
        key->encoded[q] = true;
    }
    TRY(make_vk(key, t, secrets));
    key->heap_bytes = s->arena.capacity + (s->dense_count[0] + s->dense_count[1]) * sizeof *s->dense[0] +
                      key->vk.ic_count * sizeof(struct g_aff);
    key->can_prove = true;
    return CUZK_OK;
}

cuzk_status groth16_key_from_secret(struct groth16_key **out, struct task *t,
                                    const struct constraints *circuit, const struct trapdoor *secrets,
                                    bool derived, const struct backend *backend, struct device *device)
{
    if (secrets->layout != ROOT_BELLMAN)
        return FAIL(t, CUZK_UNSUPPORTED, "keys without a file are made in bellman's layout only");
    struct groth16_key *const key = calloc(1, sizeof *key);
    struct key_secret *const secret = calloc(1, sizeof *secret);

    if (key == NULL || secret == NULL) {
        free(key);
        free(secret);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for a key");
    }
    atomic_init(&key->references, 1);
    secret->backend = backend;
    secret->device = device;
    key->secret = secret;
    key->layout = GROTH16_BELLMAN;
    key->h_mode = derived ? H_LAGRANGE_4 : H_MONOMIAL_6;
    key->constraints = circuit;
    const cuzk_status status = make(key, t, secrets);
    if (status != CUZK_OK) {
        groth16_key_unref(key);
        return status;
    }
    *out = key;
    return CUZK_OK;
}

void groth16_key_secret_times(const struct groth16_key *key, struct key_secret_times *out)
{
    const struct key_secret_times none = { { 0 }, 0 };

    *out = key->secret != NULL ? key->secret->times : none;
}

const struct setup_scalars *groth16_key_scalars(const struct groth16_key *key)
{
    return key->secret != NULL && !key->secret->forgotten ? &key->secret->scalars : NULL;
}

void groth16_key_forget_secret(struct groth16_key *key)
{
    if (key->secret == NULL || key->secret->forgotten) return;
    key->heap_bytes -= key->secret->scalars.arena.capacity;
    setup_scalars_forget(&key->secret->scalars);
    key->secret->forgotten = true;
}

void key_secret_close(struct groth16_key *key)
{
    if (key->secret == NULL) return;
    setup_scalars_fini(&key->secret->scalars);
    free(key->secret);
    key->secret = NULL;
    key->density_a = key->density_b = NULL; /* were the scalars' */
}
