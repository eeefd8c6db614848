/* See oracle_sums.h. */
#include "support/oracle_sums.h"
#include "base/bytes.h"
#include "groth16/chunks.h"
#include <pthread.h>
#include <string.h>

enum { VARIABLES_CHUNK = 1 << 16 };

struct dot {
    const struct setup_scalars *scalars;
    const struct assignment *w;
    const struct aux_map *map;
    pthread_mutex_t lock;
    struct fr sum[2], publics[3]; /* of all variables in A and B; of the inputs in A, B and C */
};

/* Adds a variable's value times at to sum. */
static void add(const struct scalar_field *f, struct fr *sum, const struct fr_int *value, const struct fr *at)
{
    struct fr x;

    if ((value->w[0] | value->w[1] | value->w[2] | value->w[3]) == 0) return;
    if (value->w[0] == 1 && (value->w[1] | value->w[2] | value->w[3]) == 0) {
        f->add(sum, sum, at);
        return;
    }
    f->from_int(&x, value);
    f->mul(&x, &x, at);
    f->add(sum, sum, &x);
}

static cuzk_status dot_part(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    struct dot *d = context;
    const struct setup_scalars *s = d->scalars;
    const struct scalar_field *f = &s->curve->fr;
    struct fr sum[2], publics[3];
    bls12_381_fr_int plain;
    struct fr_int value;

    (void)t;
    memset(sum, 0, sizeof sum);
    memset(publics, 0, sizeof publics);
    for (uint64_t v = begin; v < end; v++) {
        const bool input = v < s->inputs;
        assignment_value(d->w, d->map, &plain, input ? (uint32_t)v : (uint32_t)(v - s->inputs) | VAR_AUX);
        memcpy(&value, &plain, sizeof value);
        for (int side = 0; side < 2; side++) add(f, &sum[side], &value, &s->at_tau[side][v]);
        for (int side = 0; side < 3 && input; side++) add(f, &publics[side], &value, &s->at_tau[side][v]);
    }
    pthread_mutex_lock(&d->lock);
    for (int side = 0; side < 2; side++) f->add(&d->sum[side], &d->sum[side], &sum[side]);
    for (int side = 0; side < 3; side++) f->add(&d->publics[side], &d->publics[side], &publics[side]);
    pthread_mutex_unlock(&d->lock);
    return CUZK_OK;
}

static void point(struct g_aff *out, const struct curve *c, enum group_id g, const struct fr *multiple)
{
    const struct group *group = c->group[g];
    struct fr_int k;
    struct g_jac p;

    c->fr.to_int(&k, multiple);
    group->jac_from_aff(&p, &group->generator);
    group->jac_mul(&p, &p, &k);
    memset(out, 0, sizeof *out);
    group->jac_to_aff(out, &p);
}

/* (A B + beta A + alpha B - publics) / delta, publics = beta A + alpha B + C of the inputs. */
static void rest(struct fr *out, const struct dot *d, const struct trapdoor *secrets)
{
    const struct scalar_field *f = &d->scalars->curve->fr;
    struct fr alpha, beta, delta, x;

    f->from_int(&alpha, &secrets->alpha);
    f->from_int(&beta, &secrets->beta);
    f->from_int(&delta, &secrets->delta);
    f->mul(out, &d->sum[0], &d->sum[1]);
    f->sub(&x, &d->sum[0], &d->publics[0]);
    f->mul(&x, &x, &beta);
    f->add(out, out, &x);
    f->sub(&x, &d->sum[1], &d->publics[1]);
    f->mul(&x, &x, &alpha);
    f->add(out, out, &x);
    f->sub(out, out, &d->publics[2]);
    f->inv(&x, &delta);
    f->mul(out, out, &x);
}

cuzk_status oracle_sums(struct task *t, struct oracle_sums *out, const struct setup_scalars *s,
                        const struct trapdoor *secrets, const struct assignment *w, const struct aux_map *map)
{
    struct dot d = { .scalars = s, .w = w, .map = map };
    struct fr lh;

    if (pthread_mutex_init(&d.lock, NULL) != 0) return FAIL(t, CUZK_NO_MEMORY, "no mutex for an oracle");
    const cuzk_status status = chunks_run(t, NULL, s->variables, VARIABLES_CHUNK, dot_part, &d);
    pthread_mutex_destroy(&d.lock);
    if (status != CUZK_OK) return status;
    rest(&lh, &d, secrets);
    point(&out->a, s->curve, GROUP_G1, &d.sum[0]);
    point(&out->b1, s->curve, GROUP_G1, &d.sum[1]);
    point(&out->b2, s->curve, GROUP_G2, &d.sum[1]);
    point(&out->lh, s->curve, GROUP_G1, &lh);
    return CUZK_OK;
}
