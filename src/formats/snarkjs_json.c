/* Reads proof.json, public.json and verification_key.json. */
#include "formats/snarkjs_json.h"
#include "formats/fail_at.h"
#include "formats/json_value.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FP_WORDS         6
#define FR_WORDS         4
#define PROOF_MOST_BYTES (1u << 20)
#define Q_NAME           "the base field's prime q"
#define R_NAME           "the scalar field's prime r"

/* What every reader of a value needs to know. */
struct source {
    struct task *task;
    const char *path;
    const struct curve *curve;
};

static const char *wrong_shape(const struct group *g)
{
    return g->id == GROUP_G1 ? "an array [x, y, \"1\"]" : "an array [[x0, x1], [y0, y1], [\"1\", \"0\"]]";
}

/* One coordinate: a number, or in G2 an array of two. */
static cuzk_status read_coordinate(const struct source *s, struct fp_int *out, const json_t *value,
                                   const struct group *g, const char *name, unsigned index)
{
    char place[64];
    if (g->id == GROUP_G1) {
        snprintf(place, sizeof place, "%s[%u]", name, index);
        return json_value_number(out->w, s->task, s->path, value, FP_WORDS, s->curve->fp_modulus.w, Q_NAME,
                                 place);
    }
    if (!json_is_array(value) || json_array_size(value) != 2)
        return FAIL_AT(s->task, s->path, ERROR_NO_OFFSET, name, ADVICE_DAMAGED, CUZK_MALFORMED,
                       "%s is not %s", name, wrong_shape(g));
    for (unsigned k = 0; k < 2; k++) {
        snprintf(place, sizeof place, "%s[%u][%u]", name, index, k);
        TRY(json_value_number(out[k].w, s->task, s->path, json_array_get(value, k), FP_WORDS,
                              s->curve->fp_modulus.w, Q_NAME, place));
    }
    return CUZK_OK;
}

static bool is_small(const struct fp_int *v, unsigned count, uint64_t value)
{
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < FP_WORDS; i++)
            if (v[k].w[i] != (k == 0 && i == 0 ? value : 0)) return false;
    return true;
}

/* Projective as written: z is one, or zero for infinity, which then has x = 0 and y = 1 (snarkjs) or 0. */
static cuzk_status read_point(const struct source *s, struct g_aff *out, const json_t *value,
                              const struct group *g, const char *name)
{
    if (value == NULL)
        return FAIL_AT(s->task, s->path, ERROR_NO_OFFSET, name, NULL, CUZK_MALFORMED, "%s is missing", name);
    if (!json_is_array(value) || json_array_size(value) != 3)
        return FAIL_AT(s->task, s->path, ERROR_NO_OFFSET, name, ADVICE_DAMAGED, CUZK_MALFORMED,
                       "%s is not %s", name, wrong_shape(g));
    const unsigned degree = g->id == GROUP_G1 ? 1 : 2;
    struct fp_int xyz[3 * 2];
    for (unsigned i = 0; i < 3; i++)
        TRY(read_coordinate(s, xyz + degree * i, json_array_get(value, i), g, name, i));

    const struct fp_int *x = xyz, *y = xyz + degree, *z = xyz + 2 * degree;
    const bool x_is_zero = is_small(x, degree, 0);
    if (is_small(z, degree, 0)) {
        if (!x_is_zero || !(is_small(y, degree, 1) || is_small(y, degree, 0)))
            return FAIL_AT(s->task, s->path, ERROR_NO_OFFSET, name, ADVICE_DAMAGED, CUZK_MALFORMED,
                           "%s has z = 0, but is not infinity as it is written (x = 0, y = 1)", name);
        memset(out, 0, sizeof *out);
        return CUZK_OK;
    }
    if (!is_small(z, degree, 1))
        return FAIL_AT(s->task, s->path, ERROR_NO_OFFSET, name, "Write affine coordinates.", CUZK_MALFORMED,
                       "%s is not affine: its third coordinate is neither 1 nor 0", name);
    enum point_check check =
        x_is_zero && is_small(y, degree, 0) ? POINT_NOT_ON_CURVE : g->from_plain(out, xyz, true);
    if (check != POINT_OK)
        return FAIL_AT(s->task, s->path, ERROR_NO_OFFSET, name, ADVICE_DAMAGED, CUZK_MALFORMED, "%s %s", name,
                       point_check_text(check));
    return CUZK_OK;
}

static cuzk_status check_protocol(struct task *t, const char *path, const json_t *root)
{
    const json_t *value = json_object_get(root, "protocol");
    if (value == NULL) return CUZK_OK;
    const char *name = json_string_value(value);
    if (name != NULL && strcmp(name, "groth16") == 0) return CUZK_OK;
    return FAIL_AT(t, path, ERROR_NO_OFFSET, "protocol", "cuzk knows Groth16 only.", CUZK_UNSUPPORTED,
                   "the protocol is %.40s, not groth16", name != NULL ? name : "not a string");
}

/* NULL in *out: the text does not say. */
static cuzk_status read_curve(struct task *t, const char *path, const json_t *root, const struct curve **out)
{
    const json_t *value = json_object_get(root, "curve");
    *out = NULL;
    if (value == NULL) return CUZK_OK;
    const char *name = json_string_value(value);
    if (name != NULL) *out = curve_by_name(name);
    if (*out == NULL)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, "curve", "Supported are bn128 and bls12381.",
                       CUZK_UNSUPPORTED, "the curve is %.40s, which is not supported",
                       name != NULL ? name : "not a string");
    return CUZK_OK;
}

static cuzk_status read_proof(struct proof_points *out, struct task *t, const char *path, const json_t *root,
                              const struct curve *expected)
{
    struct source s = { .task = t, .path = path };
    TRY(check_protocol(t, path, root));
    TRY(read_curve(t, path, root, &s.curve));
    if (s.curve == NULL) s.curve = expected;
    if (s.curve == NULL)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, "curve",
                       "Add \"curve\": \"bn128\" or \"bls12381\", or give the key.", CUZK_MALFORMED,
                       "the proof does not name its curve");
    if (expected != NULL && s.curve != expected)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, "curve",
                       "Use the verification key of the circuit that was proved.", CUZK_MISMATCH,
                       "the proof is over %s, but the key over %s", s.curve->snarkjs_name,
                       expected->snarkjs_name);
    TRY(read_point(&s, &out->a, json_object_get(root, "pi_a"), &s.curve->g1, "pi_a"));
    TRY(read_point(&s, &out->b, json_object_get(root, "pi_b"), &s.curve->g2, "pi_b"));
    return read_point(&s, &out->c, json_object_get(root, "pi_c"), &s.curve->g1, "pi_c");
}

cuzk_status snarkjs_proof_read(struct proof_points *out, struct task *t, const char *path, struct span text,
                               const struct curve *expected)
{
    json_t *root;
    memset(out, 0, sizeof *out);
    TRY(json_value_load(&root, t, path, text, PROOF_MOST_BYTES, JSON_OBJECT, FILE_PROOF_JSON));
    cuzk_status status = read_proof(out, t, path, root, expected);
    json_decref(root);
    return status;
}

cuzk_status snarkjs_public_read(struct public_values *out, struct task *t, const char *path, struct span text,
                                const struct curve *c)
{
    static const uint64_t any[FR_WORDS] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
    const uint64_t *modulus = c != NULL ? c->fr.modulus.w : any;
    cuzk_status status = CUZK_OK;
    json_t *root;
    memset(out, 0, sizeof *out);
    TRY(json_value_load(&root, t, path, text, SNARKJS_JSON_MOST_BYTES, JSON_ARRAY, FILE_PUBLIC_JSON));
    size_t count = json_array_size(root);
    if (count > 0) {
        out->value = calloc(count, sizeof *out->value);
        if (out->value == NULL) {
            status = FAIL_AT(t, path, ERROR_NO_OFFSET, NULL, NULL, CUZK_NO_MEMORY,
                             "no memory for %zu public signals", count);
            goto out;
        }
    }
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        char name[48];
        snprintf(name, sizeof name, "public signal %zu", i);
        TRY_GOTO(out, json_value_number(out->value[i].w, t, path, json_array_get(root, i), FR_WORDS, modulus,
                                        c != NULL ? R_NAME : "2^256 - 1", name));
    }
out:
    if (status != CUZK_OK) public_values_fini(out);
    json_decref(root);
    return status;
}

static cuzk_status read_key_point(const struct source *s, struct g_aff *out, const json_t *root,
                                  const struct group *g, const char *name)
{
    TRY(read_point(s, out, json_object_get(root, name), g, name));
    if (g->aff_is_inf(out->w))
        return FAIL_AT(s->task, s->path, ERROR_NO_OFFSET, name,
                       "Do not use this key: whoever made it could forge proofs.", CUZK_KEY_INVALID,
                       "%s is the point at infinity", name);
    return CUZK_OK;
}

static cuzk_status read_vk(struct vk_points *out, struct task *t, const char *path, const json_t *root)
{
    struct source s = { .task = t, .path = path };
    TRY(check_protocol(t, path, root));
    TRY(read_curve(t, path, root, &s.curve));
    if (s.curve == NULL) s.curve = &curve_bn254;
    out->curve = s.curve;
    TRY(read_key_point(&s, &out->alpha1, root, &s.curve->g1, "vk_alpha_1"));
    TRY(read_key_point(&s, &out->beta2, root, &s.curve->g2, "vk_beta_2"));
    TRY(read_key_point(&s, &out->gamma2, root, &s.curve->g2, "vk_gamma_2"));
    TRY(read_key_point(&s, &out->delta2, root, &s.curve->g2, "vk_delta_2"));

    const json_t *ic = json_object_get(root, "IC");
    if (!json_is_array(ic) || json_array_size(ic) == 0)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, "IC", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "IC is not an array of points");
    size_t count = json_array_size(ic);
    uint64_t stated[1];
    static const uint64_t most[1] = { UINT32_MAX };
    TRY(json_value_number(stated, t, path, json_object_get(root, "nPublic"), 1, most, "2^32 - 1", "nPublic"));
    if (stated[0] + 1 != count)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, "nPublic", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "nPublic is %" PRIu64 ", but IC has %zu points instead of %" PRIu64, stated[0], count,
                       stated[0] + 1);
    out->ic = calloc(count, sizeof *out->ic);
    if (out->ic == NULL)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, NULL, NULL, CUZK_NO_MEMORY, "no memory for %zu points",
                       count);
    out->ic_count = count;
    for (size_t i = 0; i < count; i++) {
        char name[48];
        snprintf(name, sizeof name, "IC[%zu]", i);
        TRY(read_point(&s, &out->ic[i], json_array_get(ic, i), &s.curve->g1, name));
    }
    return CUZK_OK;
}

cuzk_status snarkjs_vk_read(struct vk_points *out, struct task *t, const char *path, struct span text)
{
    json_t *root;
    memset(out, 0, sizeof *out);
    TRY(json_value_load(&root, t, path, text, SNARKJS_JSON_MOST_BYTES, JSON_OBJECT, FILE_VK_JSON));
    cuzk_status status = read_vk(out, t, path, root);
    if (status != CUZK_OK) vk_points_fini(out);
    json_decref(root);
    return status;
}
