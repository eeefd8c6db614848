/* Development keys: a key for a circuit from toxic waste that this process knows.  Not for production.
 *
 * The scalars are setup_scalars.c's, the points setup_points.c's; here they become files. */
#include "groth16/setup.h"
#include "base/bytes.h"
#include "formats/snarkjs_json.h"
#include "formats/zkey_layout.h"
#include "groth16/chunks.h"
#include "groth16/key_derived.h"
#include "groth16/new_file.h"
#include "groth16/setup_points.h"
#include <stdlib.h>
#include <string.h>

#define ENCODE_CHUNK 4096 /* points: about a millisecond */

struct setup {
    struct setup_scalars scalars;
    struct setup_points points;
    struct setup_vk vk;
    struct new_file file, derived;
    struct new_file *target; /* of the two the one that is being filled, and how points stand in it */
    enum point_encoding encoding;
};

cuzk_status groth16_setup_draw(struct task *t, struct trapdoor *out, const struct curve *c,
                               enum root_convention layout)
{
    struct fr_int *const secret[] = { &out->tau, &out->alpha, &out->beta, &out->gamma, &out->delta };
    struct fr drawn;
    cuzk_status status = CUZK_OK;

    out->curve = c;
    out->layout = layout;
    for (size_t i = 0; i < ARRAY_COUNT(secret); i++) {
        TRY_GOTO(out, curve_random_scalar(c, t, &drawn));
        c->fr.to_int(secret[i], &drawn);
    }
    if (layout == ROOT_SNARKJS) {
        c->fr.from_u64(&drawn, 1);
        c->fr.to_int(&out->gamma, &drawn);
    }
out:
    wipe(&drawn, sizeof drawn);
    if (status != CUZK_OK) wipe(out, sizeof *out);
    return status;
}

/* -- the verifying key ------------------------------------------------------------------------------------------------- */

static void multiple_of_generator(const struct group *g, struct g_aff *out, const struct fr_int *k)
{
    struct g_jac p;

    g->jac_from_aff(&p, &g->generator);
    g->jac_mul(&p, &p, k);
    g->jac_to_aff(out, &p);
}

cuzk_status setup_vk_make(struct setup_vk *out, struct task *t, const struct setup_scalars *s,
                          const struct trapdoor *secrets)
{
    const struct curve *c = s->curve;
    const size_t bytes = s->inputs * sizeof(struct fr_int);
    struct fr_int *const scalars = malloc(bytes);

    memset(out, 0, sizeof *out);
    out->points.curve = c;
    out->points.ic_count = s->inputs;
    out->points.ic = calloc(s->inputs, sizeof *out->points.ic);
    if (scalars == NULL || out->points.ic == NULL) {
        free(scalars);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for %llu points", (unsigned long long)s->inputs);
    }
    multiple_of_generator(&c->g1, &out->points.alpha1, &secrets->alpha);
    multiple_of_generator(&c->g1, &out->beta1, &secrets->beta);
    multiple_of_generator(&c->g2, &out->points.beta2, &secrets->beta);
    multiple_of_generator(&c->g2, &out->points.gamma2, &secrets->gamma);
    multiple_of_generator(&c->g1, &out->delta1, &secrets->delta);
    multiple_of_generator(&c->g2, &out->points.delta2, &secrets->delta);
    const cuzk_status status = setup_scalars_make(s, t, scalars, SETUP_IC, 0, s->inputs);
    for (uint64_t i = 0; i < s->inputs && status == CUZK_OK; i++)
        multiple_of_generator(&c->g1, &out->points.ic[i], &scalars[i]);
    wipe(scalars, bytes);
    free(scalars);
    return status;
}

void setup_vk_fini(struct setup_vk *vk) { vk_points_fini(&vk->points); }

/* -- points into the file ---------------------------------------------------------------------------------------------- */

struct encoding {
    const struct setup *setup;
    const struct group *group;
    const char *query;
    uint64_t offset; /* in the file */
    const uint8_t *points;
    uint64_t begin;
    size_t encoded_bytes;
};

static cuzk_status refuse_infinity(struct task *t, const struct encoding *e)
{
    const cuzk_status status = FAIL(t, CUZK_UNSUPPORTED,
                                    "a variable of the circuit occurs in no constraint; bellman's layout has "
                                    "no place for its point");
    task_fail_place(t, e->setup->scalars.circuit->name, ERROR_NO_OFFSET, e->query,
                    "remove the unused signal, or make a .zkey");
    return status;
}

static cuzk_status encode_points(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct encoding *e = context;
    uint8_t *out = e->setup->target->data + e->offset + (e->begin + begin) * e->encoded_bytes;
    struct g_aff point;

    for (uint64_t i = begin; i < end; i++, out += e->encoded_bytes) {
        const uint8_t *from = e->points + i * e->group->aff_bytes;
        if (e->setup->encoding == ENCODING_ZCASH && e->group->aff_is_inf(from)) return refuse_infinity(t, e);
        memcpy(&point, from, e->group->aff_bytes);
        e->group->encode(out, &point, e->setup->encoding);
    }
    return CUZK_OK;
}

static cuzk_status write_chunk(void *context, struct task *t, const uint8_t *points, uint64_t begin,
                               uint64_t count)
{
    struct encoding *e = context;

    e->points = points;
    e->begin = begin;
    TRY(chunks_run(t, NULL, count, ENCODE_CHUNK, encode_points, e));
    new_file_written(e->setup->target, e->offset + begin * e->encoded_bytes, count * e->encoded_bytes);
    return CUZK_OK;
}

static cuzk_status write_points(struct task *t, struct setup *s, const char *name, enum setup_query q,
                                enum group_id g, uint64_t offset)
{
    const struct group *const group = s->scalars.curve->group[g];
    struct encoding e = { .setup = s, .group = group, .query = name, .offset = offset };

    e.encoded_bytes = group->encoded_bytes(s->encoding);
    return setup_points_make(&s->points, t, name, q, g, 0, setup_scalars_count(&s->scalars, q), write_chunk,
                             &e);
}

/* -- the two files ----------------------------------------------------------------------------------------------------- */

struct coefficients {
    const struct curve *curve;
    uint8_t *out;
};

static cuzk_status write_coefficient(void *context, struct task *t, const struct constraint_term *term)
{
    struct coefficients *c = context;
    const struct zkey_coef coef = {
        .matrix = term->side, .row = (uint32_t)term->row, .wire = term->variable, .value = term->coefficient
    };

    (void)t;
    if (term->side == R1CS_C) return CUZK_OK;
    zkey_coef_write(c->out, c->curve, &coef);
    c->out += ZKEY_COEF_BYTES;
    return CUZK_OK;
}

static cuzk_status write_coefficients(struct task *t, const struct setup_scalars *s, uint8_t *out)
{
    const struct constraints *circuit = s->circuit;
    struct coefficients c = { s->curve, out };
    struct constraint_term binding = { .side = R1CS_A };

    TRY(circuit->walk(circuit->circuit, t, write_coefficient, &c));
    s->curve->fr.from_u64(&binding.coefficient, 1);
    for (uint64_t i = 0; i < s->inputs; i++) {
        binding.row = circuit->row_count + i;
        binding.variable = (uint32_t)i;
        TRY(write_coefficient(&c, t, &binding));
    }
    return CUZK_OK;
}

static uint8_t *put_point(uint8_t *at, const struct group *g, const struct g_aff *p)
{
    g->encode(at, p, ENCODING_MONT_LE);
    return at + g->aff_bytes;
}

static cuzk_status write_zkey(struct task *t, struct setup *s, const char *key_path)
{
    const struct setup_scalars *const from = &s->scalars;
    const struct group *g1 = &from->curve->g1, *g2 = &from->curve->g2;
    const struct zkey_shape shape = { from->curve, (uint32_t)from->variables, (uint32_t)from->inputs - 1,
                                      from->domain.size, from->coefficients };
    struct zkey_layout at;

    if (from->coefficients > UINT32_MAX)
        return FAIL(t, CUZK_TOO_LARGE, "%llu coefficients; a .zkey holds at most 2^32 - 1",
                    (unsigned long long)from->coefficients);
    zkey_layout_plan(&at, &shape);
    TRY(new_file_open(&s->file, t, key_path, at.file_bytes, 0644));
    s->target = &s->file;
    s->encoding = ENCODING_MONT_LE;
    zkey_layout_write(s->file.data, &at, &shape);
    uint8_t *head = s->file.data + at.header_points;
    head = put_point(head, g1, &s->vk.points.alpha1);
    head = put_point(head, g1, &s->vk.beta1);
    head = put_point(head, g2, &s->vk.points.beta2);
    head = put_point(head, g2, &s->vk.points.gamma2);
    head = put_point(head, g1, &s->vk.delta1);
    put_point(head, g2, &s->vk.points.delta2);
    /* The circuit hash stays zero: it binds a ceremony's transcript, and this key has none. */
    TRY(write_coefficients(t, from, s->file.data + at.coefs));
    TRY(write_points(t, s, "IC", SETUP_IC, GROUP_G1, at.ic));
    TRY(write_points(t, s, "H", SETUP_H, GROUP_G1, at.h));
    TRY(write_points(t, s, "C", SETUP_L, GROUP_G1, at.c));
    TRY(write_points(t, s, "A", SETUP_A, GROUP_G1, at.a));
    TRY(write_points(t, s, "B1", SETUP_B, GROUP_G1, at.b1));
    return write_points(t, s, "B2", SETUP_B, GROUP_G2, at.b2);
}

static cuzk_status write_params(struct task *t, struct setup *s, const char *key_path)
{
    const struct setup_scalars *const from = &s->scalars;
    const struct filparams_shape shape = { from->inputs, (uint32_t)setup_scalars_count(from, SETUP_H),
                                           (uint32_t)setup_scalars_count(from, SETUP_L),
                                           (uint32_t)from->dense_count[0], (uint32_t)from->dense_count[1] };
    struct filparams_layout at;

    filparams_layout_plan(&at, &shape);
    TRY(new_file_open(&s->file, t, key_path, at.file_bytes, 0644));
    s->target = &s->file;
    s->encoding = ENCODING_ZCASH;
    filparams_layout_write(s->file.data, &at, &shape);
    filvk_write(s->file.data, &s->vk.points, &s->vk.beta1, &s->vk.delta1);
    TRY(write_points(t, s, "h", SETUP_H, GROUP_G1, at.h));
    TRY(write_points(t, s, "l", SETUP_L, GROUP_G1, at.l));
    TRY(write_points(t, s, "a", SETUP_A, GROUP_G1, at.a));
    TRY(write_points(t, s, "b_g1", SETUP_B, GROUP_G1, at.b_g1));
    return write_points(t, s, "b_g2", SETUP_B, GROUP_G2, at.b_g2);
}

/* The derived form of the key that has just been written: what groth16_derive makes from a key, here from its secrets.  (For bellman's H other
 * points that serve as well: what stands for the coefficient that is always zero is free.) */
static cuzk_status write_derived(struct task *t, struct setup *s, const char *path)
{
    const struct setup_scalars *const from = &s->scalars;
    const struct derived_shape shape = { from->curve, from->layout, from->domain.log2, from->variables,
                                         from->inputs };
    struct derived_layout at;

    derived_layout_plan(&at, &shape);
    TRY(new_file_open(&s->derived, t, path, at.file_bytes, 0600));
    s->target = &s->derived;
    s->encoding = ENCODING_MONT_LE;
    TRY(write_points(t, s, "derived L", SETUP_L_DERIVED, GROUP_G1, at.offset[DERIVED_IC]));
    if (at.count[DERIVED_H] != 0) /* else the key's own H serves */
        TRY(write_points(t, s, "derived H", SETUP_H_COSET, GROUP_G1, at.offset[DERIVED_H]));
    return groth16_derived_finish(t, s->derived.data, &shape, span_of(s->file.data, s->file.size), NULL);
}

static cuzk_status write_vk(struct task *t, const struct setup *s, const char *vk_path)
{
    struct json_text text = { 0 };
    cuzk_status status;

    if (s->scalars.layout == ROOT_SNARKJS) {
        TRY(snarkjs_vk_write(t, &text, &s->vk.points));
        status = mapfile_write(t, vk_path, text.data, text.size, 0644);
        json_text_fini(&text);
        return status;
    }
    uint8_t *bytes = malloc(filvk_file_bytes(s->vk.points.ic_count));
    if (bytes == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for the verifying key");
    filvk_write(bytes, &s->vk.points, &s->vk.beta1, &s->vk.delta1);
    status = mapfile_write(t, vk_path, bytes, filvk_file_bytes(s->vk.points.ic_count), 0644);
    free(bytes);
    return status;
}

/* -- the whole --------------------------------------------------------------------------------------------------------- */

cuzk_status groth16_setup_write(struct task *t, const struct r1cs_file *circuit,
                                const struct trapdoor *secrets, const struct groth16_setup_paths *paths,
                                const struct backend *backend, struct device *device)
{
    struct constraints constraints;

    constraints_of_r1cs(&constraints, circuit);
    return groth16_setup_constraints(t, &constraints, secrets, paths, backend, device);
}

cuzk_status groth16_setup_constraints(struct task *t, const struct constraints *circuit,
                                      const struct trapdoor *secrets, const struct groth16_setup_paths *paths,
                                      const struct backend *backend, struct device *device)
{
    struct setup s;
    cuzk_status status;

    memset(&s, 0, sizeof s);
    TRY_GOTO(out, setup_scalars_init(&s.scalars, t, circuit, secrets));
    TRY_GOTO(out, setup_points_init(&s.points, t, &s.scalars, backend, device, UINT64_MAX, true));
    TRY_GOTO(out, setup_vk_make(&s.vk, t, &s.scalars, secrets));
    if (s.scalars.layout == ROOT_SNARKJS)
        TRY_GOTO(out, write_zkey(t, &s, paths->key));
    else
        TRY_GOTO(out, write_params(t, &s, paths->key));
    if (paths->derived != NULL) TRY_GOTO(out, write_derived(t, &s, paths->derived));
    /* The key and its derived form go last, together: where they stand, the verifying key stands too. */
    if (paths->vk != NULL) TRY_GOTO(out, write_vk(t, &s, paths->vk));
    status = new_file_commit(t, (struct new_file *const[]){ &s.file, &s.derived }, paths->derived != NULL ? 2 : 1);
out:
    setup_points_fini(&s.points);
    new_file_discard(&s.derived);
    new_file_discard(&s.file);
    setup_vk_fini(&s.vk);
    setup_scalars_fini(&s.scalars);
    return status;
}
