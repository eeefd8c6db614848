/* Writes proof.json, public.json and verification_key.json as snarkjs does. */
#include "formats/decimal.h"
#include "formats/snarkjs_json.h"
#include "pairing/pairing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_text_fini(struct json_text *text)
{
    free(text->data);
    memset(text, 0, sizeof *text);
}

/* Values one below another, each on its own line behind as many spaces as it is deep; a comma before all but the first of a level. */
struct writer {
    char *data;
    size_t size, capacity;
    unsigned depth;
    bool first;  /* the next value is the first of its level */
    bool failed; /* no memory */
};

static void put(struct writer *w, const char *text, size_t bytes)
{
    if (w->failed) return;
    if (bytes > w->capacity - w->size) {
        size_t capacity = 2 * (w->size + bytes) + 512;
        char *data = realloc(w->data, capacity);
        if (data == NULL) {
            w->failed = true;
            return;
        }
        w->data = data;
        w->capacity = capacity;
    }
    memcpy(w->data + w->size, text, bytes);
    w->size += bytes;
}

static void put_line(struct writer *w)
{
    put(w, "\n", 1);
    for (unsigned i = 0; i < w->depth; i++) put(w, " ", 1);
}

/* Before a value: comma and line break as needed, and the key (NULL in arrays). */
static void begin(struct writer *w, const char *key)
{
    if (w->depth > 0) {
        if (!w->first) put(w, ",", 1);
        put_line(w);
    }
    w->first = false;
    if (key != NULL) {
        put(w, "\"", 1);
        put(w, key, strlen(key));
        put(w, "\": ", 3);
    }
}

static void open_level(struct writer *w, const char *key, char bracket)
{
    begin(w, key);
    put(w, &bracket, 1);
    w->depth++;
    w->first = true;
}

static void close_level(struct writer *w, char bracket)
{
    w->depth--;
    put_line(w);
    put(w, &bracket, 1);
    w->first = false;
}

static void put_string(struct writer *w, const char *key, const char *text, size_t bytes)
{
    begin(w, key);
    put(w, "\"", 1);
    put(w, text, bytes);
    put(w, "\"", 1);
}

static void put_number(struct writer *w, const uint64_t *words, size_t word_count)
{
    char digits[DECIMAL_MOST_DIGITS];
    put_string(w, NULL, digits, decimal_write(digits, words, word_count));
}

static void put_fp2(struct writer *w, const struct fp_int c[2])
{
    open_level(w, NULL, '[');
    put_number(w, c[0].w, 6);
    put_number(w, c[1].w, 6);
    close_level(w, ']');
}

/* x, y, z with z = 1; infinity is 0, 1, 0. */
static void put_point(struct writer *w, const char *key, const struct group *g, const struct g_aff *p)
{
    struct fp_int xyz[3 * 2];
    const unsigned degree = g->id == GROUP_G1 ? 1 : 2;
    memset(xyz, 0, sizeof xyz);
    if (g->aff_is_inf(p->w)) {
        xyz[degree].w[0] = 1;
    } else {
        g->to_plain(xyz, p);
        xyz[2 * degree].w[0] = 1;
    }
    open_level(w, key, '[');
    for (unsigned i = 0; i < 3; i++) {
        if (degree == 1)
            put_number(w, xyz[i].w, 6);
        else
            put_fp2(w, xyz + 2 * i);
    }
    close_level(w, ']');
}

static cuzk_status finish(struct writer *w, struct task *t, struct json_text *out)
{
    if (w->failed) {
        free(w->data);
        memset(out, 0, sizeof *out);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for a JSON text beyond %zu bytes", w->size);
    }
    out->data = w->data;
    out->size = w->size;
    return CUZK_OK;
}

cuzk_status snarkjs_proof_write(struct task *t, struct json_text *out, const struct curve *c,
                                const struct proof_points *proof)
{
    struct writer w = { 0 };
    open_level(&w, NULL, '{');
    put_point(&w, "pi_a", &c->g1, &proof->a);
    put_point(&w, "pi_b", &c->g2, &proof->b);
    put_point(&w, "pi_c", &c->g1, &proof->c);
    put_string(&w, "protocol", "groth16", 7);
    put_string(&w, "curve", c->snarkjs_name, strlen(c->snarkjs_name));
    close_level(&w, '}');
    return finish(&w, t, out);
}

cuzk_status snarkjs_public_write(struct task *t, struct json_text *out, const struct fr_int *values,
                                 uint64_t count)
{
    struct writer w = { 0 };
    open_level(&w, NULL, '[');
    for (uint64_t i = 0; i < count; i++) put_number(&w, values[i].w, 4);
    close_level(&w, ']');
    return finish(&w, t, out);
}

static void put_alphabeta(struct writer *w, const struct vk_points *vk)
{
    struct gt value;
    struct fp_int c[12];
    pairing_product(vk->curve, &value, &vk->alpha1, &vk->beta2, 1);
    gt_to_plain(vk->curve, c, &value);
    open_level(w, "vk_alphabeta_12", '[');
    for (unsigned half = 0; half < 2; half++) {
        open_level(w, NULL, '[');
        for (unsigned k = 0; k < 3; k++) put_fp2(w, c + 6 * half + 2 * k);
        close_level(w, ']');
    }
    close_level(w, ']');
}

cuzk_status snarkjs_vk_write(struct task *t, struct json_text *out, const struct vk_points *vk)
{
    const struct curve *c = vk->curve;
    char number[24];
    struct writer w = { 0 };
    open_level(&w, NULL, '{');
    put_string(&w, "protocol", "groth16", 7);
    put_string(&w, "curve", c->snarkjs_name, strlen(c->snarkjs_name));
    begin(&w, "nPublic");
    put(&w, number, (size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)(vk->ic_count - 1)));
    put_point(&w, "vk_alpha_1", &c->g1, &vk->alpha1);
    put_point(&w, "vk_beta_2", &c->g2, &vk->beta2);
    put_point(&w, "vk_gamma_2", &c->g2, &vk->gamma2);
    put_point(&w, "vk_delta_2", &c->g2, &vk->delta2);
    put_alphabeta(&w, vk);
    open_level(&w, "IC", '[');
    for (uint64_t i = 0; i < vk->ic_count; i++) put_point(&w, NULL, &c->g1, &vk->ic[i]);
    close_level(&w, ']');
    close_level(&w, '}');
    return finish(&w, t, out);
}
