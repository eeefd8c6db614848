/* cuzk-oracle: proves with drawn r and s, by the key as it is and by the derived form that it makes, and compares with the oracle, byte for
 * byte; for keys whose trapdoor is not known, the two with each other.
 *
 *     cuzk-oracle [--backend NAME] KEY CIRCUIT.r1cs WITNESS.wtns [TRAPDOOR]      exit code 0: equal; 1: not; 2: could not be tried */
#include "base/status.h"
#include "formats/wtns.h"
#include "groth16/derive.h"
#include "groth16/key_derived.h"
#include "groth16/prove_blinded.h"
#include "support/oracle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int explain(const struct task *t)
{
    fprintf(stderr, "cuzk-oracle: %s: %s (%s)\n", status_name(t->error.status), t->error.text, t->error.path);
    return 2;
}

/* A proof by the key in the form of the file derived, or as it is (NULL). */
static cuzk_status prove(struct task *t, struct groth16_proof *out, char **path, const char *derived,
                         const struct witness *w, const struct groth16_blinding *blinding,
                         const struct backend *backend, struct device *device)
{
    struct groth16_key *key = NULL;
    struct groth16_plan plan;
    cuzk_status status;

    TRY_GOTO(out, groth16_key_open(&key, t, path[0], path[1]));
    if (derived != NULL) TRY_GOTO(out, groth16_key_use_derived(key, t, derived));
    TRY_GOTO(out, groth16_prove_plan(&plan, t, key, backend, device));
    TRY_GOTO(out, groth16_prove_blinded(t, out, key, &plan, w, blinding));
out:
    groth16_key_unref(key);
    return status;
}

static cuzk_status compare(struct task *t, bool *equal, const char *backend_name, char **path,
                           bool has_trapdoor)
{
    char derived[] = "/tmp/cuzk-oracle-XXXXXX";
    const int fd = mkstemp(derived);
    const struct backend *backend = backend_by_name(backend_name);
    struct mapfile r1cs = { 0 }, wtns = { 0 }, text = { 0 };
    struct device_options options = { 0 };
    struct groth16_proof proof, by_derived, expected;
    struct groth16_blinding blinding;
    struct groth16_key *key = NULL;
    struct device *device = NULL;
    struct r1cs_file circuit;
    struct trapdoor secrets;
    struct witness w;
    cuzk_status status;

    if (backend == NULL) return FAIL(t, CUZK_UNSUPPORTED, "this build has no backend '%s'", backend_name);
    TRY_GOTO(out, backend->open(&device, t, &options));
    TRY_GOTO(out, groth16_key_open(&key, t, path[0], path[1]));
    TRY_GOTO(out, mapfile_open(&r1cs, t, path[1]));
    TRY_GOTO(out, r1cs_file_parse(&circuit, t, path[1], r1cs.bytes));
    TRY_GOTO(out, mapfile_open(&wtns, t, path[2]));
    TRY_GOTO(out, wtns_parse(&w, t, path[2], wtns.bytes));
    TRY_GOTO(out, assemble_draw(t, &blinding, circuit.curve));
    TRY_GOTO(out, groth16_derive(t, key, derived, backend, device));
    TRY_GOTO(out, prove(t, &proof, path, NULL, &w, &blinding, backend, device));
    TRY_GOTO(out, prove(t, &by_derived, path, derived, &w, &blinding, backend, device));
    *equal = oracle_equal(&proof, &by_derived);
    if (has_trapdoor) {
        TRY_GOTO(out, mapfile_open(&text, t, path[3]));
        TRY_GOTO(out, trapdoor_file_read(&secrets, t, path[3], text.bytes));
        TRY_GOTO(out, oracle_prove(t, &expected, &secrets, &circuit, &w, &blinding));
        *equal = *equal && oracle_equal(&proof, &expected);
    }
    printf("%s, domain 2^%u, %s: %s\n", circuit.curve->name, key->domain.log2, backend_name,
           *equal ? "equal" : "DIFFERENT");
out:
    if (fd >= 0) close(fd);
    unlink(derived);
    groth16_key_unref(key);
    mapfile_close(&text);
    mapfile_close(&wtns);
    mapfile_close(&r1cs);
    if (device != NULL) backend->close(device);
    return status;
}

int main(int argc, char **argv)
{
    const char *backend = "cpu";
    bool equal = false;
    struct task t;
    int first = 1;

    if (argc > 2 && strcmp(argv[1], "--backend") == 0) {
        backend = argv[2];
        first = 3;
    }
    if (argc - first != 3 && argc - first != 4) {
        fprintf(stderr, "usage: cuzk-oracle [--backend NAME] KEY CIRCUIT.r1cs WITNESS.wtns [TRAPDOOR]\n");
        return 2;
    }
    task_init(&t);
    if (compare(&t, &equal, backend, argv + first, argc - first == 4) != CUZK_OK) return explain(&t);
    return equal ? 0 : 1;
}
