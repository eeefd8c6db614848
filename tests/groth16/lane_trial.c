/* Many proofs at a time, over lanes. */
#include "groth16/lane_trial.h"
#include "groth16/prove_blinded.h"
#include "support/oracle.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void open_key(struct lane_trial *m)
{
    m->key = proving_key(&m->proving, &m->circuit, &m->secrets, "lanes");
}

void lane_trial_open(struct lane_trial *m, const struct curve *c, uint32_t constraints)
{
    const struct random_circuit_options o = { c, constraints, 2, true };
    struct task t;

    proving_open(&m->proving, "cpu");
    random_circuit_make(&m->circuit, &m->proving.random, &o);
    proving_circuit(&m->parsed, &m->circuit);
    proving_secrets(&m->secrets, &m->proving, c, ROOT_SNARKJS);
    proving_blinding(&m->blinding, &m->proving, c);
    open_key(m);
    task_init(&t);
    proving_must(&t,
                 oracle_prove(&t, &m->expected, &m->secrets, &m->parsed, &m->circuit.witness, &m->blinding),
                 "oracle");
}

void lane_trial_close(struct lane_trial *m)
{
    groth16_key_unref(m->key);
    random_circuit_fini(&m->circuit);
    proving_close(&m->proving);
}

void lane_trial_key_again(struct lane_trial *m)
{
    groth16_key_unref(m->key);
    open_key(m);
}

struct trial_thread {
    struct lane_trial *m;
    struct lane_run *r;
    struct lanes *lanes;
    const struct backend *backend;
    struct device *device;
    atomic_uint *next, *right, *failed;
};

/* cmocka's assertions belong to the main thread: here what is wrong ends the program. */
static void *prove_some(void *argument)
{
    const struct trial_thread *const a = argument;
    struct groth16_proof proof;
    struct groth16_plan plan;
    struct task t;

    while (atomic_fetch_add(a->next, 1) < a->r->proofs) {
        proving_task(&t, &a->m->proving);
        cuzk_status status = groth16_prove_plan_on(&plan, &t, a->m->key, a->backend, a->device, a->lanes);
        if (status == CUZK_OK)
            status =
                groth16_prove_blinded(&t, &proof, a->m->key, &plan, &a->m->circuit.witness, &a->m->blinding);
        if (status != CUZK_OK) {
            if (!a->r->may_fail) proving_must(&t, status, "proof over lanes");
            atomic_fetch_add(a->failed, 1);
            continue;
        }
        if (!oracle_equal(&proof, &a->m->expected)) {
            fprintf(stderr, "a proof over lanes is not the oracle's\n");
            abort();
        }
        atomic_fetch_add(a->right, 1);
    }
    return NULL;
}

void lane_trial_run(struct lane_trial *m, struct lane_run *r, const struct backend *backend,
                    struct device *device)
{
    enum { THREADS_MOST = 16 };
    pthread_t thread[THREADS_MOST];
    atomic_uint next = 0, right = 0, failed = 0;
    struct lanes *lanes;
    struct task t;

    task_init(&t);
    proving_must(&t, lanes_create(&lanes, &t, backend, device, &r->options), "lanes");
    struct trial_thread a = { m, r, lanes, backend, device, &next, &right, &failed };
    if (r->threads > THREADS_MOST) abort();
    for (unsigned i = 0; i < r->threads; i++)
        if (pthread_create(&thread[i], NULL, prove_some, &a) != 0) abort();
    for (unsigned i = 0; i < r->threads; i++) pthread_join(thread[i], NULL);
    lanes_report(lanes, &r->report);
    lanes_destroy(lanes);
    r->right = right;
    r->failed = failed;
}
