/* A device, workers and a folder for tests that make keys and proofs. */
#ifndef CUZK_TESTS_PROVING_H
#define CUZK_TESTS_PROVING_H

#include "backend/backend.h"
#include "base/mapfile.h"
#include "base/pool.h"
#include "formats/r1cs_file.h"
#include "formats/trapdoor_file.h"
#include "groth16/prove.h"
#include "support/prng.h"
#include "support/random_circuit.h"
#include "support/temp_folder.h"

struct proving {
    const struct backend *backend;
    struct device *device;
    struct pool *pool;
    struct prng random;
    struct temp_folder folder;
};

/** The arguments [BACKEND] [--slow] of a test program.  NULL: that backend has no device here; it has been said, and the program is skipped. */
const struct backend *proving_backend(int argc, char **argv, bool *slow);

/* Every function here prints the error and aborts if it fails. */
void proving_open(struct proving *p, const char *backend);
void proving_close(struct proving *p);
void proving_task(struct task *t, const struct proving *p);
void proving_must(const struct task *t, cuzk_status status, const char *what);

/** Secrets from the test's own generator: repeatable. */
void proving_secrets(struct trapdoor *out, struct proving *p, const struct curve *c,
                     enum root_convention layout);
void proving_blinding(struct groth16_blinding *out, struct proving *p, const struct curve *c);

/** Writes name.r1cs and the key of circuit under secrets (name.zkey or name.params) into the folder, and opens the key. */
struct groth16_key *proving_key(struct proving *p, const struct random_circuit *circuit,
                                const struct trapdoor *secrets, const char *name);
/** A key from its file, and a circuit's or NULL. */
struct groth16_key *proving_key_open(struct proving *p, const char *key_path, const char *r1cs_path);
/** All bytes of a file; to be freed. */
uint8_t *proving_read_file(const char *path, size_t *bytes);
/** The circuit as a parsed file over its bytes in memory. */
void proving_circuit(struct r1cs_file *out, const struct random_circuit *circuit);

/** One on the CPU for all tests of a program: set-up and tear-down of a cmocka group. */
extern struct proving cpu_proving;
int cpu_proving_open(void **state), cpu_proving_close(void **state);

#endif
