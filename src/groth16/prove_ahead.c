/* What of a proof and of its verification does not read the last sums: the host does it while the device works on them. */
#include "base/bytes.h"
#include "base/pool.h"
#include "groth16/prove_inside.h"
#include "groth16/verify.h"
#include <string.h>

enum ahead_step {
    BLIND_A,
    BLIND_B1,
    BLIND_B2,
    BLIND_C,
    INPUTS,
    PAIR_INPUTS,
    ADD_A,
    ADD_B1,
    ADD_B2,
    CHECK,
    PAIR,
    ADD_C,
    STEP_COUNT,
};

#define BIT(i) (1u << (i))

#define STEPS_SIDE_BY_SIDE 4 /* threads; with fewer, a wait takes two steps a thread */

/* A row's step follows these steps and sums. */
static const struct ahead_row {
    unsigned steps, sums;
} rows[STEP_COUNT] = {
    [PAIR_INPUTS] = { BIT(INPUTS), 0 },
    [ADD_A] = { BIT(BLIND_A), BIT(QUERY_A) },
    [ADD_B1] = { BIT(BLIND_B1), BIT(QUERY_B1) },
    [ADD_B2] = { BIT(BLIND_B2) | BIT(ADD_A), BIT(QUERY_B2) },
    [CHECK] = { BIT(ADD_B2), 0 },
    [PAIR] = { BIT(ADD_B2), 0 },
    [ADD_C] = { BIT(ADD_A) | BIT(ADD_B1) | BIT(BLIND_C), BIT(QUERY_L) | BIT(QUERY_H) },
};

static void verification_step(struct groth16_ahead *v, const struct groth16_proof *proof,
                              enum ahead_step step)
{
    if (v == NULL) return;
    if (step == INPUTS) groth16_ahead_inputs(v);
    if (step == PAIR_INPUTS) groth16_ahead_pair_inputs(v);
    if (step == ADD_B2) groth16_ahead_points(v, &proof->a, &proof->b);
    if (step == CHECK) groth16_ahead_check(v);
    if (step == PAIR) groth16_ahead_ab(v);
}

static void do_step(struct prove_ahead *a, enum ahead_step step)
{
    const struct g_jac *const sums = a->sums;

    switch (step) {
    case BLIND_A:
        assembly_blind_a(&a->assembly);
        break;
    case BLIND_B1:
        assembly_blind_b1(&a->assembly);
        break;
    case BLIND_B2:
        assembly_blind_b2(&a->assembly);
        break;
    case BLIND_C:
        assembly_blind_c(&a->assembly);
        break;
    case ADD_A:
        assembly_a(&a->assembly, a->proof, &sums[QUERY_A]);
        break;
    case ADD_B1:
        assembly_b1(&a->assembly, &sums[QUERY_B1]);
        break;
    case ADD_B2:
        assembly_b2(&a->assembly, a->proof, &sums[QUERY_B2]);
        break;
    case ADD_C:
        assembly_c(&a->assembly, a->proof, &sums[QUERY_L], &sums[QUERY_H]);
        break;
    default:
        break; /* of the verification alone */
    }
    verification_step(a->verification, a->proof, step);
}

void prove_ahead_start(struct prove_ahead *out, struct groth16_proof *proof, const struct groth16_key *key,
                       const struct groth16_blinding *blinding, struct groth16_ahead *verification,
                       const struct g_jac sums[QUERY_COUNT])
{
    memset(out, 0, sizeof *out);
    assembly_start(&out->assembly, key, blinding);
    out->proof = proof;
    out->verification = verification;
    out->sums = sums;
}

/* Steps that can be done now, side by side. */
struct ready {
    struct prove_ahead *ahead;
    enum ahead_step step[STEP_COUNT];
    unsigned count;
};

static void ready_steps(struct ready *out, struct prove_ahead *ahead, unsigned most)
{
    out->ahead = ahead;
    out->count = 0;
    for (enum ahead_step i = 0; i < STEP_COUNT && out->count < most; i++) {
        const bool follows =
            (rows[i].steps & ~ahead->steps_done) == 0 && (rows[i].sums & ~ahead->sums_there) == 0;
        if (follows && (ahead->steps_done & BIT(i)) == 0) out->step[out->count++] = i;
    }
}

static void run_one(void *context, size_t index, unsigned worker)
{
    const struct ready *const r = context;

    (void)worker;
    do_step(r->ahead, r->step[index]);
}

static bool run_ready(struct prove_ahead *ahead, struct pool *pool, unsigned most)
{
    struct ready r;

    ready_steps(&r, ahead, most);
    pool_run(pool, r.count, run_one, &r);
    for (unsigned i = 0; i < r.count; i++) ahead->steps_done |= BIT(r.step[i]);
    return r.count != 0;
}

/* No step after another one, which the device would outwait: those are for the next wait. */
void prove_ahead_step(struct prove_ahead *ahead, struct task *t)
{
    const unsigned width = pool_width(t->pool);

    if (ahead != NULL) (void)run_ready(ahead, t->pool, width < STEPS_SIDE_BY_SIDE ? 2 * width : STEP_COUNT);
}

void prove_ahead_sum(struct prove_ahead *ahead, enum groth16_query q)
{
    if (ahead != NULL) ahead->sums_there |= BIT(q);
}

void prove_ahead_end(struct prove_ahead *ahead, struct task *t)
{
    while (run_ready(ahead, t->pool, STEP_COUNT)) continue;
}

void prove_ahead_wipe(struct prove_ahead *ahead) { wipe(ahead, sizeof *ahead); }
