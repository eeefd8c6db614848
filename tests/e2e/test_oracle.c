/* The prover against the oracle, byte for byte: both curves, both key layouts, domains from 2 to 2^13 (2^18 with --slow).
 *
 * Use: test_oracle [BACKEND] [--slow].  Keys are made on the CPU, proofs on BACKEND (default: cpu too). */
#include "support/cm.h"
#include "groth16/prove_blinded.h"
#include "groth16/prove_verified.h"
#include "support/oracle.h"
#include "support/proving.h"

static struct proving proving;
static const struct backend *prover;
static struct device *device; /* of prover */
static bool slow;

static int open_proving(void **state)
{
    (void)state;
    const struct device_options options = { 0 };
    struct task t;

    proving_open(&proving, "cpu");
    proving_task(&t, &proving);
    proving_must(&t, prover->open(&device, &t, &options), "the prover's device");
    return 0;
}

static int close_proving(void **state)
{
    (void)state;
    prover->close(device);
    proving_close(&proving);
    return 0;
}

/* Rows in all of a domain of 2^log2, publics and the constant included: filled to the brim, or not. */
static void compare(const struct curve *c, enum root_convention layout, unsigned log2, uint32_t publics,
                    bool full)
{
    const uint32_t most = (1u << log2) - publics - 1,
                   least = (1u << log2) / 2 > publics ? (1u << log2) / 2 - publics : 0;
    struct random_circuit_options o = { c, most, publics, layout == ROOT_SNARKJS };
    struct groth16_timings timings = { 0 };
    struct groth16_proof proof, expected;
    struct groth16_verifier verifier;
    struct groth16_blinding blinding;
    struct random_circuit circuit;
    struct groth16_plan plan;
    struct trapdoor secrets;
    struct r1cs_file parsed;
    struct task t;

    if (!full) o.constraints = least + (uint32_t)prng_below(&proving.random, most - least + 1);
    if (o.constraints == 0) o.constraints = 1;
    random_circuit_make(&circuit, &proving.random, &o);
    proving_circuit(&parsed, &circuit);
    proving_secrets(&secrets, &proving, c, layout);
    proving_blinding(&blinding, &proving, c);
    struct groth16_key *key = proving_key(&proving, &circuit, &secrets, "oracle");
    assert_int_equal(key->domain.log2, log2);
    assert_int_equal(key->row_count, o.constraints + publics + 1);

    proving_task(&t, &proving);
    proving_must(&t, groth16_prove_plan(&plan, &t, key, prover, device), "plan");
    proving_must(&t, groth16_prove_blinded(&t, &proof, key, &plan, &circuit.witness, &blinding), "prover");
    proving_must(&t, oracle_prove(&t, &expected, &secrets, &parsed, &circuit.witness, &blinding), "oracle");
    if (!oracle_equal(&proof, &expected))
        fail_msg("%s %s 2^%u publics %u constraints %u: the prover's bytes are not the oracle's", c->name,
                 layout == ROOT_SNARKJS ? "zkey" : "bellman", log2, publics, o.constraints);

    /* And with randomness of its own it verifies, differently each time. */
    groth16_verifier_init(&verifier, &key->vk);
    proving_must(&t, groth16_prove_verified(&t, &proof, key, &plan, &verifier, &circuit.witness, &timings),
                 "verified prover");
    proving_must(&t, groth16_prove_verified(&t, &expected, key, &plan, &verifier, &circuit.witness, &timings),
                 "verified prover");
    assert_false(oracle_equal(&proof, &expected));
    groth16_key_unref(key);
    random_circuit_fini(&circuit);
}

static void all_sizes(const struct curve *c, enum root_convention layout)
{
    if (slow) {
        for (unsigned log2 = 14; log2 <= 18; log2++) compare(c, layout, log2, 5, log2 == 17);
        return;
    }
    compare(c, layout, 1, 0, true); /* one constraint, no public input: the smallest domain */
    for (unsigned log2 = 4; log2 <= 9; log2++) {
        compare(c, layout, log2, 0, false);
        compare(c, layout, log2, 7, true);
        compare(c, layout, log2, 1 + (uint32_t)prng_below(&proving.random, 7), false);
    }
    if (strcmp(prover->name, "blind") == 0) return; /* the CPU's operations; of that size is no matter */
    for (unsigned log2 = 10; log2 <= 13; log2++) compare(c, layout, log2, 3, log2 % 2 == 0);
}

static void bn254_zkey(void **state)
{
    (void)state;
    all_sizes(&curve_bn254, ROOT_SNARKJS);
}

static void bls12_381_zkey(void **state)
{
    (void)state;
    all_sizes(&curve_bls12_381, ROOT_SNARKJS);
}

static void bls12_381_bellman(void **state)
{
    (void)state;
    all_sizes(&curve_bls12_381, ROOT_BELLMAN);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bn254_zkey),
        cmocka_unit_test(bls12_381_zkey),
        cmocka_unit_test(bls12_381_bellman),
    };

    prover = proving_backend(argc, argv, &slow);
    if (prover == NULL) return 77;
    return cmocka_run_group_tests(tests, open_proving, close_proving);
}
