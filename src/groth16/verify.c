/* Verification of Groth16 proofs (J. Groth, "On the size of pairing-based non-interactive arguments", ePrint 2016/260), one by one
 * and batched with random weights (M. Bellare, J. Garay, T. Rabin, "Fast batch verification for modular exponentiation and digital
 * signatures", EUROCRYPT 1998: the small exponents test). */
#include "groth16/verify.h"
#include "base/bytes.h"
#include "base/rng.h"
#include <stdlib.h>
#include <string.h>

enum {
    WEIGHT_BITS = 128,
    SCALAR_BITS = 256,
    BUCKET_MOST_BITS = 6, /* 63 buckets on the stack, 18 KiB */
};

/* ---- sums of multiples of points ---- */

static unsigned digit_of(const struct fr_int *k, unsigned at, unsigned bits)
{
    uint64_t d = k->w[at / 64] >> (at % 64);
    if (at % 64 + bits > 64 && at / 64 < 3) d |= k->w[at / 64 + 1] << (64 - at % 64);
    return (unsigned)(d & ((1u << bits) - 1));
}

/* out = sum k[i] base[i], every k[i] below 2^bits: buckets (Pippenger) of a size for tens to hundreds of points. */
static void sum_of_multiples(const struct group *g, struct g_jac *out, const struct g_aff *base,
                             size_t base_stride, const struct fr_int *k, size_t count, unsigned bits)
{
    struct g_jac bucket[(1u << BUCKET_MOST_BITS) - 1], running, sum;
    const unsigned width = count < 8     ? 2
                           : count < 32  ? 3
                           : count < 100 ? 4
                           : count < 300 ? 5
                                         : BUCKET_MOST_BITS;
    const unsigned buckets = (1u << width) - 1;

    g->jac_set_inf(out);
    for (unsigned window = (bits + width - 1) / width; window-- > 0;) {
        for (unsigned i = 0; i < width && !g->jac_is_inf(out); i++) g->jac_dbl(out, out);
        for (unsigned b = 0; b < buckets; b++) g->jac_set_inf(&bucket[b]);
        for (size_t i = 0; i < count; i++) {
            const unsigned d = digit_of(&k[i], window * width, width);
            if (d != 0)
                g->jac_add_aff(&bucket[d - 1], &bucket[d - 1], (const uint8_t *)base + i * base_stride);
        }
        g->jac_set_inf(&running);
        g->jac_set_inf(&sum);
        for (unsigned b = buckets; b-- > 0;) {
            g->jac_add(&running, &running, &bucket[b]);
            g->jac_add(&sum, &sum, &running);
        }
        g->jac_add(out, out, &sum);
    }
}

static void negate(const struct group *g, struct g_aff *r, const struct g_aff *p)
{
    struct g_jac j;
    g->jac_from_aff(&j, p);
    g->jac_neg(&j, &j);
    memset(r, 0, sizeof *r);
    g->jac_to_aff(r, &j);
}

/* ---- what is checked of a proof before any pairing ---- */

static cuzk_status check_input_count(struct task *t, const struct groth16_verifier *v, size_t input_count)
{
    if (input_count == groth16_vk_input_count(v->vk)) return CUZK_OK;
    return FAIL(t, CUZK_INVALID_ARGUMENT, "%zu public inputs were given, the verifying key takes %zu",
                input_count, groth16_vk_input_count(v->vk));
}

static cuzk_status check_point(struct task *t, const struct group *g, const struct g_aff *p, const char *name)
{
    const enum point_check found = g->aff_check(p, true);
    cuzk_status status;

    if (found == POINT_OK) return CUZK_OK;
    status = FAIL(t, CUZK_PROOF_INVALID, "point %s of the proof %s", name, point_check_text(found));
    task_fail_place(t, NULL, ERROR_NO_OFFSET, name, NULL);
    return status;
}

static cuzk_status check_proof(struct task *t, const struct groth16_verifier *v,
                               const struct groth16_proof *proof, const struct fr_int *inputs,
                               size_t input_count, enum groth16_trust trust)
{
    const struct curve *c = v->vk->curve;

    if (proof->curve != c)
        return FAIL(t, CUZK_MISMATCH, "the proof is on curve %s, the verifying key on %s", proof->curve->name,
                    c->name);
    for (size_t i = 0; i < input_count; i++) {
        cuzk_status status;
        if (c->fr.int_is_canonical(&inputs[i])) continue;
        status = FAIL(t, CUZK_INVALID_ARGUMENT,
                      "public input %zu is not below the order r of the scalar field", i);
        task_fail_place(
            t, NULL, ERROR_NO_OFFSET, NULL,
            "reduce it before use: a verifier that accepts x and x + r can be shown one proof twice");
        return status;
    }
    if (trust == GROTH16_POINTS_UNCHECKED) {
        TRY(check_point(t, &c->g1, &proof->a, "A"));
        TRY(check_point(t, &c->g2, &proof->b, "B"));
        TRY(check_point(t, &c->g1, &proof->c, "C"));
    }
    return CUZK_OK;
}

/* ---- one proof ---- */

void groth16_verifier_init(struct groth16_verifier *v, const struct groth16_vk *vk)
{
    v->vk = vk;
    negate(&vk->curve->g2, &v->gamma2_neg, &vk->gamma2);
    negate(&vk->curve->g2, &v->delta2_neg, &vk->delta2);
    pairing_prepare(vk->curve, &v->gamma_lines, &v->gamma2_neg);
    pairing_prepare(vk->curve, &v->delta_lines, &v->delta2_neg);
    pairing_product(vk->curve, &v->alpha_beta, &vk->alpha1, &vk->beta2, 1);
}

/* acc = ic[0] + sum input[i] ic[i + 1] */
static void sum_inputs(const struct groth16_verifier *v, struct g_aff *acc, const struct fr_int *inputs,
                       size_t input_count)
{
    const struct group *g = &v->vk->curve->g1;
    const struct g_aff *ic = v->vk->ic;
    struct g_jac sum;

    if (input_count == 1) { /* fewer additions than buckets take */
        g->jac_from_aff(&sum, &ic[1]);
        g->jac_mul(&sum, &sum, &inputs[0]);
    } else {
        sum_of_multiples(g, &sum, ic + 1, sizeof *ic, inputs, input_count, SCALAR_BITS);
    }
    g->jac_add_aff(&sum, &sum, &ic[0]);
    g->jac_to_aff(acc, &sum);
}

/* e(A, B) e(acc, -gamma) e(C, -delta) = e(alpha, beta) */
static bool equation_holds(const struct groth16_verifier *v, const struct groth16_proof *proof,
                           const struct fr_int *inputs, size_t input_count)
{
    const struct curve *c = v->vk->curve;
    const struct g_aff g2[3] = { proof->b, v->gamma2_neg, v->delta2_neg };
    const struct pairing_lines *const lines[3] = { NULL, &v->gamma_lines, &v->delta_lines };
    struct g_aff g1[3] = { proof->a, proof->a, proof->c };
    struct gt product;

    sum_inputs(v, &g1[1], inputs, input_count);
    pairing_miller(c, &product, g1, g2, lines, 3);
    pairing_finish(c, &product, &product);
    return gt_eq(c, &product, &v->alpha_beta);
}

static cuzk_status equation_fails(struct task *t)
{
    return FAIL(t, CUZK_PROOF_INVALID,
                "the proof does not satisfy the verification equation for these public inputs");
}

cuzk_status groth16_verify(struct task *t, const struct groth16_verifier *v,
                           const struct groth16_proof *proof, const struct fr_int *inputs, size_t input_count,
                           enum groth16_trust trust)
{
    TRY(check_input_count(t, v, input_count));
    TRY(check_proof(t, v, proof, inputs, input_count, trust));
    return equation_holds(v, proof, inputs, input_count) ? CUZK_OK : equation_fails(t);
}

/* ---- one proof, in parts ---- */

void groth16_ahead_init(struct groth16_ahead *out, const struct groth16_verifier *v,
                        const struct fr_int *inputs, size_t input_count)
{
    memset(out, 0, sizeof *out);
    out->v = v;
    out->inputs = inputs;
    out->input_count = input_count;
}

void groth16_ahead_inputs(struct groth16_ahead *ahead)
{
    const struct groth16_verifier *v = ahead->v;
    const struct curve *c = v->vk->curve;

    if (ahead->input_count != groth16_vk_input_count(v->vk)) return;
    for (size_t i = 0; i < ahead->input_count; i++)
        if (!c->fr.int_is_canonical(&ahead->inputs[i])) return;
    sum_inputs(v, &ahead->acc, ahead->inputs, ahead->input_count);
    ahead->has_acc = true;
}

void groth16_ahead_pair_inputs(struct groth16_ahead *ahead)
{
    const struct groth16_verifier *v = ahead->v;
    const struct pairing_lines *const lines = &v->gamma_lines;

    if (!ahead->has_acc) return;
    pairing_miller(v->vk->curve, &ahead->inputs_value, &ahead->acc, &v->gamma2_neg, &lines, 1);
    ahead->has_inputs = true;
}

void groth16_ahead_points(struct groth16_ahead *ahead, const struct g_aff *a, const struct g_aff *b)
{
    ahead->a = *a;
    ahead->b = *b;
    ahead->has_checked = ahead->has_ab = false;
}

void groth16_ahead_check(struct groth16_ahead *ahead)
{
    const struct curve *c = ahead->v->vk->curve;

    ahead->has_checked =
        c->g1.aff_check(&ahead->a, true) == POINT_OK && c->g2.aff_check(&ahead->b, true) == POINT_OK;
}

/* Of points that may turn out to be none of the curve: then it counts for nothing. */
void groth16_ahead_ab(struct groth16_ahead *ahead)
{
    pairing_miller(ahead->v->vk->curve, &ahead->ab_value, &ahead->a, &ahead->b, NULL, 1);
    ahead->has_ab = true;
}

/* Whether all but C has been seen to. */
static bool is_ahead_of(const struct groth16_ahead *ahead, const struct groth16_proof *proof)
{
    return ahead->has_inputs && ahead->has_checked && ahead->has_ab && proof->curve == ahead->v->vk->curve &&
           memcmp(&ahead->a, &proof->a, sizeof proof->a) == 0 &&
           memcmp(&ahead->b, &proof->b, sizeof proof->b) == 0;
}

cuzk_status groth16_verify_rest(struct task *t, const struct groth16_ahead *ahead,
                                const struct groth16_proof *proof)
{
    const struct groth16_verifier *v = ahead->v;
    const struct curve *c = v->vk->curve;
    const struct pairing_lines *const lines = &v->delta_lines;
    struct gt product;

    if (!is_ahead_of(ahead, proof))
        return groth16_verify(t, v, proof, ahead->inputs, ahead->input_count, GROTH16_POINTS_UNCHECKED);
    TRY(check_point(t, &c->g1, &proof->c, "C"));
    pairing_miller(c, &product, &proof->c, &v->delta2_neg, &lines, 1);
    gt_mul(c, &product, &product, &ahead->ab_value);
    gt_mul(c, &product, &product, &ahead->inputs_value);
    pairing_finish(c, &product, &product);
    return gt_eq(c, &product, &v->alpha_beta) ? CUZK_OK : equation_fails(t);
}

/* ---- many proofs ---- */

/* What a batch of up to count proofs works in; made once, used for every part of it. */
struct batch {
    const struct groth16_verifier *v;
    const struct groth16_proof *proofs;
    const struct fr_int *inputs; /* inputs_each a proof */
    size_t inputs_each;
    const bool *skip;      /* proofs that are known to be bad; NULL: none */
    struct fr_int *weight; /* count */
    struct g_aff *g1, *g2; /* count + 3: the pairs to be multiplied */
    struct g_aff *c_point; /* count */
    struct fr *ic_sum;     /* inputs_each + 1: weighted sums of the inputs, Montgomery */
    struct fr_int *ic_weight;
};

static void batch_fini(struct batch *b)
{
    free(b->weight);
    free(b->g1);
    free(b->g2);
    free(b->c_point);
    free(b->ic_sum);
    free(b->ic_weight);
}

static cuzk_status batch_init(struct task *t, struct batch *b, size_t count)
{
    b->weight = calloc(count, sizeof *b->weight);
    b->g1 = calloc(count + 3, sizeof *b->g1);
    b->g2 = calloc(count + 3, sizeof *b->g2);
    b->c_point = calloc(count, sizeof *b->c_point);
    b->ic_sum = calloc(b->inputs_each + 1, sizeof *b->ic_sum);
    b->ic_weight = calloc(b->inputs_each + 1, sizeof *b->ic_weight);
    if (b->weight != NULL && b->g1 != NULL && b->g2 != NULL && b->c_point != NULL && b->ic_sum != NULL &&
        b->ic_weight != NULL)
        return CUZK_OK;
    batch_fini(b);
    return FAIL(t, CUZK_NO_MEMORY, "no memory to verify %zu proofs at once", count);
}

/* holds: whether the proofs of [first, end) that are not skipped satisfy the weighted product of their equations,
 *   prod e(w_i A_i, B_i) e(sum w_i acc_i, -gamma) e(sum w_i C_i, -delta) e(-(sum w_i) alpha, beta) = 1. */
static cuzk_status batch_holds(struct task *t, const struct batch *b, bool *holds, size_t first, size_t end)
{
    const struct groth16_vk *vk = b->v->vk;
    const struct curve *c = vk->curve;
    const struct scalar_field *f = &c->fr;
    const struct group *g = &c->g1;
    struct g_jac p;
    size_t used = 0;

    memset(b->ic_sum, 0, (b->inputs_each + 1) * sizeof *b->ic_sum); /* zero in Montgomery form too */
    for (size_t i = first; i < end; i++) {
        uint8_t random[WEIGHT_BITS / 8];
        struct fr w, x;

        if (b->skip != NULL && b->skip[i]) continue;
        TRY(task_poll(t));
        TRY(rng_bytes(t, random, sizeof random));
        struct fr_int *weight = &b->weight[used];
        memset(weight, 0, sizeof *weight);
        words_from_le(weight->w, random, WEIGHT_BITS / 64);

        g->jac_from_aff(&p, &b->proofs[i].a);
        g->jac_mul(&p, &p, weight);
        g->jac_to_aff(&b->g1[used], &p);
        b->g2[used] = b->proofs[i].b;
        b->c_point[used] = b->proofs[i].c;

        f->from_int(&w, weight);
        f->add(&b->ic_sum[0], &b->ic_sum[0], &w);
        for (size_t j = 0; j < b->inputs_each; j++) {
            f->from_int(&x, &b->inputs[i * b->inputs_each + j]);
            f->mul(&x, &x, &w);
            f->add(&b->ic_sum[j + 1], &b->ic_sum[j + 1], &x);
        }
        used++;
    }
    for (size_t j = 0; j <= b->inputs_each; j++) f->to_int(&b->ic_weight[j], &b->ic_sum[j]);

    sum_of_multiples(g, &p, vk->ic, sizeof *vk->ic, b->ic_weight, b->inputs_each + 1, SCALAR_BITS);
    g->jac_to_aff(&b->g1[used], &p);
    b->g2[used] = b->v->gamma2_neg;
    sum_of_multiples(g, &p, b->c_point, sizeof *b->c_point, b->weight, used, WEIGHT_BITS);
    g->jac_to_aff(&b->g1[used + 1], &p);
    b->g2[used + 1] = b->v->delta2_neg;
    g->jac_from_aff(&p, &vk->alpha1);
    g->jac_neg(&p, &p);
    g->jac_mul(&p, &p, &b->ic_weight[0]); /* the weights' sum mod r */
    g->jac_to_aff(&b->g1[used + 2], &p);
    b->g2[used + 2] = vk->beta2;

    *holds = pairing_product_is_one(c, b->g1, b->g2, used + 3);
    return CUZK_OK;
}

cuzk_status groth16_verify_batch(struct task *t, const struct groth16_verifier *v,
                                 const struct groth16_proof *proofs, const struct fr_int *inputs,
                                 size_t inputs_each, size_t count, enum groth16_trust trust)
{
    struct batch b = { .v = v, .proofs = proofs, .inputs = inputs, .inputs_each = inputs_each };
    bool holds = false;
    cuzk_status status;

    TRY(check_input_count(t, v, inputs_each));
    if (count == 0) return CUZK_OK;
    for (size_t i = 0; i < count; i++) {
        TRY(task_poll(t));
        TRY(check_proof(t, v, &proofs[i], inputs + i * inputs_each, inputs_each, trust));
    }
    TRY(batch_init(t, &b, count));
    status = batch_holds(t, &b, &holds, 0, count);
    batch_fini(&b);
    if (status != CUZK_OK || holds) return status;
    return FAIL(t, CUZK_PROOF_INVALID,
                "at least one of %zu proofs does not satisfy the verification equation", count);
}

/* Marks the bad proofs of [first, end), halving it as long as the product over a part fails.  Depth log2(count). */
static cuzk_status find_bad(struct task *t, const struct batch *b, bool *bad, size_t first, size_t end)
{
    bool holds;

    TRY(batch_holds(t, b, &holds, first, end));
    if (holds) return CUZK_OK;
    if (end - first == 1) {
        bad[first] = true;
        return CUZK_OK;
    }
    const size_t middle = first + (end - first) / 2;
    TRY(find_bad(t, b, bad, first, middle));
    return find_bad(t, b, bad, middle, end);
}

cuzk_status groth16_verify_each(struct task *t, const struct groth16_verifier *v, bool *bad,
                                const struct groth16_proof *proofs, const struct fr_int *inputs,
                                size_t inputs_each, size_t count, enum groth16_trust trust)
{
    struct batch b = { .v = v, .proofs = proofs, .inputs = inputs, .inputs_each = inputs_each, .skip = bad };
    struct task quiet; /* takes the reason why one proof is bad, which is not this task's failure yet */
    cuzk_status status = CUZK_OK;
    size_t bad_count = 0, first_bad = 0;

    TRY(check_input_count(t, v, inputs_each));
    if (count == 0) return CUZK_OK;
    for (size_t i = 0; i < count; i++) {
        TRY(task_poll(t));
        task_init(&quiet);
        bad[i] = check_proof(&quiet, v, &proofs[i], inputs + i * inputs_each, inputs_each, trust) != CUZK_OK;
    }
    TRY(batch_init(t, &b, count));
    status = find_bad(t, &b, bad, 0, count);
    batch_fini(&b);
    if (status != CUZK_OK) return status;

    for (size_t i = count; i-- > 0;)
        if (bad[i]) {
            bad_count++;
            first_bad = i;
        }
    if (bad_count == 0) return CUZK_OK;
    return FAIL(t, CUZK_PROOF_INVALID, "%zu of %zu proofs are not valid; the first of them is number %zu",
                bad_count, count, first_bad);
}
