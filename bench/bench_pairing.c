/* Times pairings and verifications on both curves: milliseconds of this thread's CPU time, the least of many runs.
 *
 *     bench_pairing [inputs]      public inputs of the verified statements (default 8) */
#include "groth16/verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 100, BATCH = 64, BATCH_ROUNDS = 7 };

static void random_point(const struct curve *c, struct task *t, const struct group *g, struct g_aff *out)
{
    struct fr x;
    struct fr_int k;
    struct g_jac p;
    if (curve_random_scalar(c, t, &x) != CUZK_OK) exit(1);
    c->fr.to_int(&k, &x);
    g->jac_from_aff(&p, &g->generator);
    g->jac_mul(&p, &p, &k);
    memset(out, 0, sizeof *out);
    g->jac_to_aff(out, &p);
}

/* A true statement without a circuit: with known logarithms C = (ab - alpha beta - acc gamma) / delta. */
struct statement {
    struct groth16_vk vk;
    struct groth16_proof proof;
    struct fr_int *inputs;
};

static void point_of(const struct curve *c, const struct group *g, struct g_aff *out, const struct fr *x)
{
    struct fr_int k;
    struct g_jac p;
    c->fr.to_int(&k, x);
    g->jac_from_aff(&p, &g->generator);
    g->jac_mul(&p, &p, &k);
    memset(out, 0, sizeof *out);
    g->jac_to_aff(out, &p);
}

static void statement_make(struct statement *s, struct task *t, const struct curve *c, size_t inputs)
{
    const struct scalar_field *f = &c->fr;
    struct fr a, b, alpha, beta, gamma, delta, acc, x, y;
    struct fr *secrets[] = { &a, &b, &alpha, &beta, &gamma, &delta, &acc };
    struct g_aff alpha1, beta2, gamma2, delta2, *ic = calloc(inputs + 1, sizeof *ic);

    s->inputs = calloc(inputs + 1, sizeof *s->inputs);
    if (ic == NULL || s->inputs == NULL) exit(1);
    for (size_t i = 0; i < ARRAY_COUNT(secrets); i++)
        if (curve_random_scalar(c, t, secrets[i]) != CUZK_OK) exit(1);
    point_of(c, &c->g1, &ic[0], &acc);
    for (size_t i = 0; i < inputs; i++) {
        if (curve_random_scalar(c, t, &x) != CUZK_OK || curve_random_scalar(c, t, &y) != CUZK_OK) exit(1);
        point_of(c, &c->g1, &ic[i + 1], &x);
        f->to_int(&s->inputs[i], &y);
        f->mul(&x, &x, &y);
        f->add(&acc, &acc, &x);
    }
    point_of(c, &c->g1, &alpha1, &alpha);
    point_of(c, &c->g2, &beta2, &beta);
    point_of(c, &c->g2, &gamma2, &gamma);
    point_of(c, &c->g2, &delta2, &delta);
    const struct groth16_vk_points points = { .alpha1 = &alpha1,
                                              .beta2 = &beta2,
                                              .gamma2 = &gamma2,
                                              .delta2 = &delta2,
                                              .ic = ic,
                                              .ic_stride = sizeof *ic,
                                              .ic_count = inputs + 1 };
    if (groth16_vk_init(t, &s->vk, c, &points) != CUZK_OK) exit(1);
    free(ic);

    s->proof.curve = c;
    point_of(c, &c->g1, &s->proof.a, &a);
    point_of(c, &c->g2, &s->proof.b, &b);
    f->mul(&x, &a, &b);
    f->mul(&y, &alpha, &beta);
    f->sub(&x, &x, &y);
    f->mul(&y, &acc, &gamma);
    f->sub(&x, &x, &y);
    f->inv(&y, &delta);
    f->mul(&x, &x, &y);
    point_of(c, &c->g1, &s->proof.c, &x);
}

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* The least of many single runs: what other load on the machine disturbs least. */
#define BEST_OF(best_ms, rounds, body)                      \
    do {                                                    \
        (best_ms) = 1e9;                                    \
        for (int round_ = 0; round_ < (rounds); round_++) { \
            const double start_ = cpu_ms();                 \
            body;                                           \
            const double ms_ = cpu_ms() - start_;           \
            if (ms_ < (best_ms)) (best_ms) = ms_;           \
        }                                                   \
    } while (0)

static void require(struct task *t, cuzk_status status)
{
    if (status == CUZK_OK) return;
    fprintf(stderr, "bench_pairing: %s\n", t->error.text);
    exit(1);
}

static void bench_curve(const struct curve *c, size_t inputs)
{
    static struct groth16_proof proofs[BATCH];
    struct groth16_verifier verifier;
    struct statement s;
    struct task t;
    struct g_aff p[4], q[4];
    struct gt e;
    double one, four, checked, unchecked, batch;

    task_init(&t);
    for (int i = 0; i < 4; i++) {
        random_point(c, &t, &c->g1, &p[i]);
        random_point(c, &t, &c->g2, &q[i]);
    }
    BEST_OF(one, ROUNDS, pairing_product(c, &e, p, q, 1));
    BEST_OF(four, ROUNDS, pairing_product(c, &e, p, q, 4));

    statement_make(&s, &t, c, inputs);
    groth16_verifier_init(&verifier, &s.vk);
    BEST_OF(checked, ROUNDS,
            require(&t, groth16_verify(&t, &verifier, &s.proof, s.inputs, inputs, GROTH16_POINTS_CHECKED)));
    BEST_OF(unchecked, ROUNDS,
            require(&t, groth16_verify(&t, &verifier, &s.proof, s.inputs, inputs, GROTH16_POINTS_UNCHECKED)));

    struct fr_int *all = calloc(BATCH * inputs + 1, sizeof *all);
    if (all == NULL) exit(1);
    for (size_t i = 0; i < BATCH; i++) {
        proofs[i] = s.proof;
        memcpy(all + i * inputs, s.inputs, inputs * sizeof *all);
    }
    BEST_OF(batch, BATCH_ROUNDS,
            require(&t, groth16_verify_batch(&t, &verifier, proofs, all, inputs, BATCH,
                                             GROTH16_POINTS_UNCHECKED)));
    printf("%-10s pairing %.3f ms, product of 4 %.3f ms; verify (%zu inputs) %.3f ms, with point checks %.3f "
           "ms; "
           "batch of %d %.3f ms a proof\n",
           c->name, one, four, inputs, checked, unchecked, BATCH, batch / BATCH);
    free(all);
    free(s.inputs);
    groth16_vk_fini(&s.vk);
}

int main(int argc, char **argv)
{
    const size_t inputs = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 8;
    bench_curve(&curve_bn254, inputs);
    bench_curve(&curve_bls12_381, inputs);
    return 0;
}
