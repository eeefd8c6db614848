/* cuzk-oracle: proves with drawn r and s, by the key as it is and by the derived form that it makes, in arenas of the sizes that are
 * given, and compares all with the oracle, byte for byte; for keys whose trapdoor is not known, with the CPU's proof.
 *
 *     cuzk-oracle [--backend NAME] [--device-memory MIB,...] KEY CIRCUIT.r1cs WITNESS.wtns [TRAPDOOR]
 *
 * CIRCUIT - : it is not at hand, so there is no derived form.  Exit code 0: equal; 1: not; 2: could not be tried. */
#include "base/status.h"
#include "formats/wtns.h"
#include "groth16/derive.h"
#include "groth16/key_derived.h"
#include "groth16/prove_blinded.h"
#include "support/arena_list.h"
#include "support/oracle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trial {
    const char *key, *r1cs, *wtns, *trapdoor; /* r1cs, trapdoor: NULL */
    const struct backend *backend;
    struct arena_list arenas;
    char derived[32];
    struct witness w;
    struct groth16_blinding blinding;
    struct groth16_proof expected;
};

/* A proof by the key as it is, or in its derived form. */
static cuzk_status prove(struct task *t, struct groth16_proof *out, bool *resident, const struct trial *a,
                         bool derived, const struct backend *backend, struct device *device)
{
    struct groth16_key *key = NULL;
    struct groth16_plan plan;
    cuzk_status status;

    TRY_GOTO(out, groth16_key_open(&key, t, a->key, a->r1cs));
    if (derived) TRY_GOTO(out, groth16_key_use_derived(key, t, a->derived));
    TRY_GOTO(out, groth16_prove_plan(&plan, t, key, backend, device));
    *resident = plan.residence.points;
    TRY_GOTO(out, groth16_prove_blinded(t, out, key, &plan, &a->w, &a->blinding));
out:
    groth16_key_unref(key);
    return status;
}

static cuzk_status expect_the_oracles(struct trial *a, struct task *t)
{
    struct mapfile r1cs = { 0 }, text = { 0 };
    struct r1cs_file circuit;
    struct trapdoor secrets;
    cuzk_status status;

    TRY_GOTO(out, mapfile_open(&r1cs, t, a->r1cs));
    TRY_GOTO(out, r1cs_file_parse(&circuit, t, a->r1cs, r1cs.bytes));
    TRY_GOTO(out, mapfile_open(&text, t, a->trapdoor));
    TRY_GOTO(out, trapdoor_file_read(&secrets, t, a->trapdoor, text.bytes));
    TRY_GOTO(out, oracle_prove(t, &a->expected, &secrets, &circuit, &a->w, &a->blinding));
out:
    mapfile_close(&text);
    mapfile_close(&r1cs);
    return status;
}

static cuzk_status expect_the_cpus(struct trial *a, struct task *t)
{
    const struct backend *const cpu = backend_by_name("cpu");
    const struct device_options options = { 0 };
    struct device *device;
    bool resident;

    TRY(cpu->open(&device, t, &options));
    const cuzk_status status = prove(t, &a->expected, &resident, a, false, cpu, device);
    cpu->close(device);
    return status;
}

static cuzk_status derive(struct trial *a, struct task *t, struct device *device)
{
    struct groth16_key *key = NULL;
    cuzk_status status;

    TRY_GOTO(out, groth16_key_open(&key, t, a->key, a->r1cs));
    TRY_GOTO(out, groth16_derive(t, key, a->derived, NULL, a->backend, device));
out:
    groth16_key_unref(key);
    return status;
}

/* What "stream" is for this key. */
static cuzk_status settle_arena(struct trial *a, struct task *t, unsigned n)
{
    struct groth16_key *key = NULL;
    cuzk_status status;

    if (a->arenas.bytes[n] != ARENA_STREAM) return CUZK_OK;
    TRY_GOTO(out, groth16_key_open(&key, t, a->key, a->r1cs));
    TRY_GOTO(out, arena_that_streams(&a->arenas.bytes[n], t, key, a->backend));
out:
    groth16_key_unref(key);
    return status;
}

/* All forms of the key in one arena; the first arena makes the derived one. */
static cuzk_status try_arena(struct trial *a, struct task *t, unsigned n, bool *equal)
{
    struct groth16_proof proof;
    struct device *device;
    bool resident;
    cuzk_status status = CUZK_OK;

    TRY(settle_arena(a, t, n));
    if (a->arenas.bytes[n] == ARENA_STREAM) {
        printf("%s, %s: no arena in which a proof fits and the key does not\n", a->w.curve->name,
               a->backend->name);
        return CUZK_OK;
    }
    const struct device_options options = { .memory_bytes = a->arenas.bytes[n] };
    TRY(a->backend->open(&device, t, &options));
    if (a->r1cs != NULL && n == 0) TRY_GOTO(out, derive(a, t, device));
    printf("%s, %s", a->w.curve->name, a->backend->name);
    arena_list_print(a->arenas.bytes[n]);
    for (int derived = 0; derived <= (a->r1cs != NULL); derived++) {
        TRY_GOTO(out, prove(t, &proof, &resident, a, derived, a->backend, device));
        const bool same = oracle_equal(&proof, &a->expected);
        printf(", %s%s %s", derived ? "derived" : "original",
               a->backend->reads_host_memory ? ""
               : resident                    ? " resident"
                                             : " streamed",
               same ? "equal" : "DIFFERENT");
        *equal = *equal && same;
    }
out:
    putchar('\n');
    fflush(stdout);
    a->backend->close(device);
    return status;
}

static cuzk_status compare(struct trial *a, struct task *t, bool *equal)
{
    const int fd = mkstemp(a->derived);
    struct mapfile wtns = { 0 };
    cuzk_status status;

    TRY_GOTO(out, mapfile_open(&wtns, t, a->wtns));
    TRY_GOTO(out, wtns_parse(&a->w, t, a->wtns, wtns.bytes));
    TRY_GOTO(out, assemble_draw(t, &a->blinding, a->w.curve));
    TRY_GOTO(out, a->trapdoor != NULL ? expect_the_oracles(a, t) : expect_the_cpus(a, t));
    *equal = true;
    for (unsigned i = 0; i < a->arenas.count; i++) TRY_GOTO(out, try_arena(a, t, i, equal));
out:
    if (fd >= 0) close(fd);
    unlink(a->derived);
    mapfile_close(&wtns);
    return status;
}

static int usage(void)
{
    fprintf(stderr, "usage: cuzk-oracle [--backend NAME] [--device-memory MIB,...] KEY CIRCUIT.r1cs "
                    "WITNESS.wtns [TRAPDOOR]\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct trial a = { .arenas = { .count = 1 }, .derived = "/tmp/cuzk-oracle-XXXXXX" };
    const char *backend = "cpu";
    bool equal = false;
    struct task t;

    const int first = trial_options_read(&backend, &a.arenas, argc, argv);
    if (first == 0 || (argc - first != 3 && argc - first != 4)) return usage();
    a.key = argv[first];
    a.r1cs = strcmp(argv[first + 1], "-") != 0 ? argv[first + 1] : NULL;
    a.wtns = argv[first + 2];
    a.trapdoor = argc - first == 4 ? argv[first + 3] : NULL;
    if (a.trapdoor != NULL && a.r1cs == NULL) return usage();
    task_init(&t);
    a.backend = backend_by_name(backend);
    if (a.backend == NULL) {
        FAIL(&t, CUZK_UNSUPPORTED, "this build has no backend '%s'", backend);
        return trial_explain("cuzk-oracle", &t);
    }
    if (compare(&a, &t, &equal) != CUZK_OK) return trial_explain("cuzk-oracle", &t);
    return equal ? 0 : 1;
}
