/* cuzk-porep-oracle: a sector's proof with drawn r and s, by development parameters as they are and in their derived form, one proof at a
 * time and through the batch prover, in arenas of the sizes that are given; all compared with the oracle, byte for byte.
 *
 *     cuzk-porep-oracle [--backend NAME] [--device-memory MIB,...] SIZE PARAMS TRAPDOOR C1 MINER SECTOR
 *
 * Exit code 0: equal; 1: not; 2: could not be tried. */
#include "base/pool.h"
#include "base/status.h"
#include "circuits/porep/porep_seal.h"
#include "filecoin/porep_prover.h"
#include "groth16/prove_blinded.h"
#include "support/arena_list.h"
#include "support/oracle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trial {
    const struct porep_shape *shape;
    const char *params;
    uint64_t miner, sector;
    const struct backend *backend;
    struct arena_list arenas;
    struct porep_binding binding;
    struct c1 c1;
    struct porep_public public;
    struct assignment assignment;
    bls12_381_fr_int *values;
    struct witness w;
    struct groth16_blinding blinding;
    struct groth16_proof expected;
};

static cuzk_status read_c1(struct trial *a, struct task *t, const char *path)
{
    struct porep_statement statement;
    struct mapfile file = { 0 };
    cuzk_status status;

    TRY_GOTO(out, mapfile_open(&file, t, path));
    TRY_GOTO(out, c1_read(&a->c1, t, file.bytes, path));
    TRY_GOTO(out, porep_check(&a->c1, t));
    porep_proof_statement(&statement, &a->c1, a->miner, a->sector);
    porep_proof_derive(&a->public, &statement);
out:
    mapfile_close(&file);
    return status;
}

/* The witness of partition 0. */
static cuzk_status assign(struct trial *a, struct task *t)
{
    TRY(porep_bind(&a->binding, t, a->shape));
    TRY(assignment_create(&a->assignment, t, &a->binding.circuit.image));
    TRY(porep_assign(&a->binding.circuit, t, &a->assignment, &a->c1, 0));
    a->w.curve = &curve_bls12_381;
    a->w.count = a->binding.constraints.variable_count;
    a->values = calloc(a->w.count, sizeof *a->values);
    if (a->values == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a witness");
    porep_witness(&a->binding.circuit, &a->assignment, a->values);
    a->w.values = span_of(a->values, a->w.count * sizeof *a->values);
    a->w.assignment = &a->assignment;
    return CUZK_OK;
}

static cuzk_status expect_the_oracles(struct trial *a, struct task *t, const char *trapdoor)
{
    struct mapfile text = { 0 };
    struct trapdoor secrets;
    cuzk_status status;

    TRY_GOTO(out, mapfile_open(&text, t, trapdoor));
    TRY_GOTO(out, trapdoor_file_read(&secrets, t, trapdoor, text.bytes));
    TRY_GOTO(out, oracle_prove_constraints(t, &a->expected, &secrets, &a->binding.constraints, &a->w,
                                           &a->blinding));
out:
    mapfile_close(&text);
    return status;
}

static void tell(const struct trial *a, const struct groth16_proof *proof, const char *how, bool *equal)
{
    const bool same = oracle_equal(proof, &a->expected);

    printf(", %s %s", how, same ? "equal" : "DIFFERENT");
    *equal = *equal && same;
}

static cuzk_status prove_alone(struct trial *a, struct task *t, const struct porep_key *key,
                               struct device *device, bool *equal)
{
    struct groth16_proof proof;
    struct groth16_plan plan;

    TRY(groth16_prove_plan(&plan, t, key->key, a->backend, device));
    TRY(groth16_prove_blinded(t, &proof, key->key, &plan, &a->w, &a->blinding));
    tell(a, &proof,
         a->backend->reads_host_memory ? "alone"
         : plan.residence.points       ? "alone, resident"
                                       : "alone, streamed",
         equal);
    return CUZK_OK;
}

static cuzk_status prove_in_a_batch(struct trial *a, struct task *t, const struct porep_key *key,
                                    struct device *device, bool *equal)
{
    const struct batch_limits limits = { .partitions = 1 };
    const struct porep_share share = { 0, 1, 1 };
    struct porep_prover *prover = calloc(1, sizeof *prover);
    struct groth16_proof proof;
    cuzk_status status;

    if (prover == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a batch");
    struct task own = *t;
    status = porep_prover_open(prover, &own, key, a->backend, device, &limits);
    if (status == CUZK_TOO_LARGE) { /* single proofs are made there all the same */
        printf(", no room for a batch");
        status = CUZK_OK;
        goto out;
    }
    t->error = own.error;
    if (status != CUZK_OK) goto out;
    TRY_GOTO(out, porep_prover_begin(prover, t, &a->c1, &a->public, &share, NULL));
    TRY_GOTO(out, prove_batch_wait(prover->batch, t));
    const struct g_jac *const sums = prove_batch_sums(prover->batch, 0);
    if (sums == NULL) {
        status = FAIL(t, CUZK_INTERNAL, "the batch has no sums of the partition");
        goto out;
    }
    assemble(&proof, key->key, sums, &a->blinding);
    tell(a, &proof, "in a batch", equal);
out:
    porep_prover_close(prover);
    free(prover);
    return status;
}

static cuzk_status try_mode(struct trial *a, struct task *t, enum groth16_key_mode mode, uint64_t arena_bytes,
                            bool *equal)
{
    struct device_options options = { .memory_bytes = arena_bytes, .pinned_bytes = (size_t)64 << 20 };
    struct porep_key *key = calloc(1, sizeof *key);
    struct device *device = NULL;
    cuzk_status status;

    if (key == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a key");
    TRY_GOTO(out, porep_key_open(key, t, a->shape, a->params, mode, 0));
    if (arena_bytes == ARENA_STREAM)
        TRY_GOTO(out, arena_that_streams(&options.memory_bytes, t, key->key, a->backend));
    if (options.memory_bytes == ARENA_STREAM) {
        status = FAIL(t, CUZK_TOO_LARGE, "there is no arena in which a proof fits and the key does not");
        goto out;
    }
    TRY_GOTO(out, a->backend->open(&device, t, &options));
    printf("porep %s, %s", a->shape->name, a->backend->name);
    arena_list_print(options.memory_bytes);
    printf(", %s", mode == KEY_MODE_DERIVED ? "derived" : "original");
    TRY_GOTO(out, prove_alone(a, t, key, device, equal));
    if (porep_prover_possible(a->backend)) TRY_GOTO(out, prove_in_a_batch(a, t, key, device, equal));
out:
    putchar('\n');
    fflush(stdout);
    porep_key_close(key);
    free(key);
    if (device != NULL) a->backend->close(device);
    return status;
}

static bool has_derived(struct trial *a, struct task *t)
{
    char path[PATH_MAX];

    if (params_path(path, t, a->params, a->shape, ".params" DERIVED_SUFFIX) != CUZK_OK) return false;
    return access(path, R_OK) == 0;
}

static cuzk_status compare(struct trial *a, struct task *t, const char *trapdoor, const char *c1, bool *equal)
{
    TRY(read_c1(a, t, c1));
    TRY(assign(a, t));
    TRY(assemble_draw(t, &a->blinding, &curve_bls12_381));
    TRY(expect_the_oracles(a, t, trapdoor));
    *equal = true;
    const bool derived = has_derived(a, t);
    for (unsigned i = 0; i < a->arenas.count; i++) {
        TRY(try_mode(a, t, KEY_MODE_ORIGINAL, a->arenas.bytes[i], equal));
        if (derived) TRY(try_mode(a, t, KEY_MODE_DERIVED, a->arenas.bytes[i], equal));
    }
    return CUZK_OK;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: cuzk-porep-oracle [--backend NAME] [--device-memory MIB,...] SIZE PARAMS TRAPDOOR "
            "C1 MINER SECTOR\n");
    return 2;
}

int main(int argc, char **argv)
{
    static struct trial a = { .arenas = { .count = 1 } };
    const char *backend = "cpu";
    bool equal = false;
    struct task t;

    const int first = trial_options_read(&backend, &a.arenas, argc, argv);
    if (first == 0 || argc - first != 6) return usage();
    a.shape = porep_shape_by_name(argv[first]);
    a.params = argv[first + 1];
    a.miner = strtoull(argv[first + 4], NULL, 10);
    a.sector = strtoull(argv[first + 5], NULL, 10);
    a.backend = backend_by_name(backend);
    task_init(&t);
    if (a.shape == NULL || a.backend == NULL) {
        FAIL(&t, CUZK_UNSUPPORTED, "there is no sector size '%s', or no backend '%s' in this build",
             argv[first], backend);
        return trial_explain("cuzk-porep-oracle", &t);
    }
    if (pool_create(&t.pool, &t, 0) != CUZK_OK) return trial_explain("cuzk-porep-oracle", &t);
    if (compare(&a, &t, argv[first + 2], argv[first + 3], &equal) != CUZK_OK) return trial_explain("cuzk-porep-oracle", &t);
    free(a.values);
    assignment_fini(&a.assignment);
    c1_fini(&a.c1);
    porep_unbind(&a.binding);
    pool_destroy(t.pool);
    return equal ? 0 : 1;
}
