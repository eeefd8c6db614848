/* Whole proofs of a circuit that is an image on a device that evaluates it, for fixed (r, s): the bytes of the oracle and of the CPU, with
 * the key's points resident, sent by every proof, and without the witness's 32-byte values.
 *
 * On the emulated device, or as test_image_proof_cuda on a GPU. */
#include "support/cm.h"
#include "groth16/prove_blinded.h"
#include "groth16/prove_verified.h"
#include "groth16/setup.h"
#include "support/oracle.h"
#include "support/proving.h"
#include "support/small_image.h"
#if defined(CUZK_CUDA_EMULATED)
#include "cuda_host.h"
#endif

struct made {
    struct proving proving; /* on the CPU: set-up, and what to compare with */
    struct small_image small;
    struct trapdoor secrets;
    struct groth16_key *key;
    struct groth16_blinding blinding;
    struct groth16_proof expected;
};
static struct made m;

static int open_all(void **state)
{
    char params[PATH_MAX];
    struct groth16_plan plan;
    struct groth16_proof proof;
    struct task t;

    (void)state;
    proving_open(&m.proving, "cpu");
    small_image_open(&m.small, &m.proving.random);
    proving_task(&t, &m.proving);
    temp_folder_path(params, &m.proving.folder, "small.params");
    proving_secrets(&m.secrets, &m.proving, &curve_bls12_381, ROOT_BELLMAN);
    proving_must(&t,
                 groth16_setup_constraints(&t, &m.small.constraints, &m.secrets,
                                           &(struct groth16_setup_paths){ .key = params }, m.proving.backend,
                                           m.proving.device),
                 "set-up");
    proving_must(&t, groth16_key_open_circuit(&m.key, &t, params, &m.small.constraints), "key");
    proving_blinding(&m.blinding, &m.proving, &curve_bls12_381);
    proving_must(&t,
                 oracle_prove_constraints(&t, &m.expected, &m.secrets, &m.small.constraints, &m.small.witness,
                                          &m.blinding),
                 "oracle");
    proving_must(&t, groth16_prove_plan(&plan, &t, m.key, m.proving.backend, m.proving.device),
                 "plan on the CPU");
    assert_false(plan.on_image);
    proving_must(&t, groth16_prove_blinded(&t, &proof, m.key, &plan, &m.small.witness, &m.blinding),
                 "prover on the CPU");
    assert_true(oracle_equal(&proof, &m.expected));
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    groth16_key_unref(m.key);
    small_image_close(&m.small);
    proving_close(&m.proving);
    return 0;
}

/* A device of so much memory; 0: a gigabyte. */
struct place {
    const struct backend *backend;
    struct device *device;
    struct task t;
};

static void place_open(struct place *p, uint64_t memory_bytes)
{
    const struct device_options o = { .memory_bytes = memory_bytes != 0 ? memory_bytes : (uint64_t)1 << 30 };

    proving_task(&p->t, &m.proving);
    p->backend = backend_by_name("cuda");
    proving_must(&p->t, p->backend->open(&p->device, &p->t, &o), "device");
}

/* The key goes first: what it has on the device is given back with its last reference. */
static void place_close(struct place *p)
{
    char params[PATH_MAX];

    groth16_key_unref(m.key);
    p->backend->close(p->device);
    temp_folder_path(params, &m.proving.folder, "small.params");
    proving_must(&p->t, groth16_key_open_circuit(&m.key, &p->t, params, &m.small.constraints), "key again");
}

static void assert_proof(struct place *p, const struct groth16_plan *plan, const struct witness *w)
{
    struct groth16_proof proof;

    proving_must(&p->t, groth16_prove_blinded(&p->t, &proof, m.key, plan, w, &m.blinding), "prover");
    assert_true(oracle_equal(&proof, &m.expected));
}

static void with_the_key_resident(void **state)
{
    struct witness apart = m.small.witness;
    struct groth16_timings timings = { 0 };
    struct groth16_verifier verifier;
    struct groth16_proof proof;
    struct groth16_plan plan;
    struct place p;

    (void)state;
    place_open(&p, 0);
    proving_must(&p.t, groth16_prove_plan(&plan, &p.t, m.key, p.backend, p.device), "plan");
    assert_true(plan.on_image && plan.residence.points);
    assert_proof(&p, &plan, &m.small.witness);
    apart.values = span_of(NULL, 0);
    groth16_verifier_init(&verifier, &m.key->vk); /* and with fresh randomness */
    proving_must(&p.t, groth16_prove_verified(&p.t, &proof, m.key, &plan, &verifier, &apart, &timings),
                 "verified prover");
    assert_false(oracle_equal(&proof, &m.expected));
    assert_proof(&p, &plan, &apart);
    place_close(&p);
}

/* The sums over the witness in two: a backend that claims that this always pays. */
static void with_split_sums(void **state)
{
    struct backend eager = *backend_by_name("cuda");
    struct groth16_plan plan;
    struct place p;

    (void)state;
    eager.call_cost = 0;
    eager.value_cost = 1000;
    place_open(&p, 0);
    proving_must(&p.t, groth16_prove_plan(&plan, &p.t, m.key, &eager, p.device), "plan");
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) assert_int_equal(plan.split[q].split, q != QUERY_H);
    assert_proof(&p, &plan, &m.small.witness);
    place_close(&p);
}

static void with_points_sent_by_every_proof(void **state)
{
    struct groth16_plan whole, plan;
    struct device_info info;
    struct place p;

    (void)state;
    place_open(&p, 0);
    proving_must(&p.t, groth16_prove_plan(&whole, &p.t, m.key, p.backend, p.device), "plan");
    p.backend->info(p.device, &info);
    for (plan = whole; plan.residence.points;) { /* first without tables of multiples, then without the points */
        p.backend->close(p.device);
        place_open(&p, plan.key_bytes + plan.block_bytes + info.stream_bytes - 1);
        proving_must(&p.t, groth16_prove_plan(&plan, &p.t, m.key, p.backend, p.device),
                     "plan without the points");
        assert_true(plan.on_image);
    }
    assert_true(plan.key_bytes < whole.key_bytes);
    for (int i = 0; i < 2; i++) assert_proof(&p, &plan, &m.small.witness);
    place_close(&p);
}

/* A bit that is another one: no proof, and the row's number; numbers that are none: no proof. */
static void wrong_witnesses_are_found(void **state)
{
    struct assignment *const w = &m.small.assignment;
    const uint32_t aux = 20; /* of the word that the parts share */
    struct groth16_timings timings = { 0 };
    struct groth16_verifier verifier;
    struct groth16_proof proof;
    struct groth16_plan plan;
    struct place p;

    (void)state;
    place_open(&p, 0);
    groth16_verifier_init(&verifier, &m.key->vk);
    proving_must(&p.t, groth16_prove_plan(&plan, &p.t, m.key, p.backend, p.device), "plan");
    assert_int_equal(aux_map_find(&m.small.map, aux), AUX_IS_BIT);
    w->bits[0] ^= 1u << aux;
    assert_int_equal(
        groth16_prove_verified(&p.t, &proof, m.key, &plan, &verifier, &m.small.witness, &timings),
        CUZK_UNSATISFIED);
    assert_non_null(strstr(p.t.error.text, "row"));
    w->bits[0] ^= 1u << aux;

    const bls12_381_fr_int number = w->numbers[3];
    memcpy(&w->numbers[3], &curve_bls12_381.fr.modulus, sizeof number);
    proving_task(&p.t, &m.proving);
    assert_int_equal(groth16_prove_blinded(&p.t, &proof, m.key, &plan, &m.small.witness, &m.blinding),
                     CUZK_MALFORMED);
    w->numbers[3] = number;
    w->inputs[0].l[0] = 2;
    proving_task(&p.t, &m.proving);
    assert_int_equal(groth16_prove_blinded(&p.t, &proof, m.key, &plan, &m.small.witness, &m.blinding),
                     CUZK_MALFORMED);
    w->inputs[0].l[0] = 1;
    proving_task(&p.t, &m.proving);
    place_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_the_key_resident),
        cmocka_unit_test(with_split_sums),
        cmocka_unit_test(with_points_sent_by_every_proof),
        cmocka_unit_test(wrong_witnesses_are_found),
    };
    const struct backend *b = backend_by_name("cuda");
    struct task t;
    size_t count = 0;

#if defined(CUZK_CUDA_EMULATED)
    struct cuda_host_config c = cuda_host_default();
    c.sm_count = 1; /* sums are planned with the fewest additions */
    cuda_host_configure(&c);
#endif
    task_init(&t);
    if (b == NULL || b->probe(&t, NULL, 0, &count) != CUZK_OK || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, open_all, close_all);
}
