/* Small development keys and witnesses for tests of the whole engine, and the check of what comes out. */
#ifndef CUZK_TESTS_ENGINE_KEYS_H
#define CUZK_TESTS_ENGINE_KEYS_H

#include "engine/engine.h"
#include "groth16/verify.h"
#include "support/proving.h"

#define KEYS 3

struct test_key {
    char name[16], key_path[PATH_MAX], r1cs_path[PATH_MAX];
    struct random_circuit circuit;
    struct groth16_key *key; /* opened beside the engine's, for checking */
    struct groth16_verifier verifier;
};

struct test_keys {
    struct proving proving;
    struct test_key key[KEYS]; /* BN254 zkey, BLS12-381 zkey, BLS12-381 bellman */
    struct engine_circuit circuit[KEYS];
};

void test_keys_open(struct test_keys *k, uint32_t constraints);
void test_keys_close(struct test_keys *k);

/** The bytes of a .wtns file of key's circuit, from malloc; wrong: one that does not satisfy it. */
uint8_t *test_wtns(const struct test_key *key, bool wrong, size_t *bytes);

/** Verifies an answer's proof bytes against the witness's public values; aborts with a text if it is not right. */
void test_must_be_right(const struct test_key *key, const struct job_answer *a);

#endif
