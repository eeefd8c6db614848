/* cuzk gen: vanilla proofs for people without a sector, circuits for people without one. */
#include "cli/cli.h"
#include "base/clock.h"
#include "base/mapfile.h"
#include "cuzk/cuzk_bench.h"
#include "cuzk/cuzk_filecoin.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "Writes the output of Commit Phase 1 for a sector of random data.  2 KiB and 8 "
                           "MiB sectors are sealed, natively; larger ones take\n"
                           "--sparse: a C1 that satisfies the circuit although no such sector exists (random "
                           "on the opened paths, nothing elsewhere).  The same\n"
                           "--seed gives the same file.  For tests and benchmarks.";

/* "StackedDrg2KiBV1_1" */
static cuzk_status proof_type_of(struct task *t, char *out, size_t bytes, const char *size,
                                 const char *feature)
{
    static const struct {
        const char *name, *suffix;
    } features[] = {
        { "v1", "V1" },
        { "v1_1", "V1_1" },
        { "synthetic", "V1_1_Feat_SyntheticPoRep" },
        { "ni", "V1_2_Feat_NonInteractivePoRep" },
    };
    const char *sector = cuzk_sector_name(cuzk_sector_bytes(size));

    if (sector == NULL)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "--size takes 2KiB, 8MiB, 512MiB, 32GiB or 64GiB, not '%s'",
                    size);
    for (size_t i = 0; i < ARRAY_COUNT(features); i++) {
        if (strcmp(features[i].name, feature) != 0) continue;
        snprintf(out, bytes, "StackedDrg%s%s", sector, features[i].suffix);
        return CUZK_OK;
    }
    return FAIL(t, CUZK_INVALID_ARGUMENT, "--variant takes v1, v1_1, synthetic or ni, not '%s'", feature);
}

static int run(const cuzk_c1_options *o, const char *path, bool wrapped)
{
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;
    cuzk_c1 *c1 = NULL;
    const cuzk_watch watch = cli_watch();
    int exit_code = 0;

    if (!cli_context(&context, &exit_code)) return exit_code;
    const uint64_t start = clock_now_ns();
    if (cuzk_c1_generate(&c1, context, o, &watch, &error) != CUZK_OK ||
        cuzk_c1_save(c1, path, wrapped, &error) != CUZK_OK)
        exit_code = cli_fail(&error);
    else if (cli.json && !cli_is_stdout(path))
        cli_print_json(json_pack("{s:s, s:o, s:s, s:b, s:f}", "status", "OK", "c1", cli_json_text(path),
                                 "proof_type", o->proof_type, "sparse", o->sparse, "ms",
                                 clock_ms_since(start)));
    else if (!cli.quiet && !cli_is_stdout(path))
        printf("%s: %s, miner %llu, sector %llu, made in %.1f s\n", path, o->proof_type,
               (unsigned long long)o->miner, (unsigned long long)o->sector, clock_ms_since(start) * 1e-3);
    cuzk_c1_close(c1);
    cuzk_context_destroy(context);
    return exit_code;
}

static int gen_c1(int argc, char **argv)
{
    const char *size = NULL, *path = NULL, *variant = "v1_1";
    bool sparse = false, wrapped = false;
    cuzk_c1_options c1 = CUZK_C1_OPTIONS_INIT;
    const struct option_row options[] = {
        { "--size", OPTION_TEXT, &size, 0, 0, "SIZE", "2KiB, 8MiB, 512MiB, 32GiB or 64GiB" },
        { "--sparse", OPTION_FLAG, &sparse, 0, 0, NULL,
          "only what the proof opens: for sizes that cannot be sealed here" },
        { "--seed", OPTION_COUNT, &c1.seed, 0, UINT64_MAX, "S",
          "everything random follows from it (default 0)" },
        { "--miner", OPTION_COUNT, &c1.miner, 0, UINT64_MAX - 1, "N", "the miner's actor id (default 1000)" },
        { "--sector", OPTION_COUNT, &c1.sector, 0, UINT64_MAX - 1, "N", "the sector's number (default 1)" },
        { "--variant", OPTION_TEXT, &variant, 0, 0, "V", "v1, v1_1 (default), synthetic, ni" },
        { "--wrapped", OPTION_FLAG, &wrapped, 0, 0, NULL, "in the wrapper that Curio sends" },
        { "-o", OPTION_TEXT, &path, 0, 0, "FILE", "where it goes; - is standard output" },
        CLI_COMMON_OPTIONS,
    };
    char proof_type[64];
    struct task t;

    const int over = cli_begin(&t, argc, argv, "gen c1", help, options, ARRAY_COUNT(options), NULL, 0);
    if (over >= 0) return over;
    if (size == NULL || path == NULL) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "%s is missing", size == NULL ? "--size SIZE" : "-o FILE");
        return cli_fail_task(&t);
    }
    if (proof_type_of(&t, proof_type, sizeof proof_type, size, variant) != CUZK_OK) return cli_fail_task(&t);
    if (mapfile_check_writable(&t, path) != CUZK_OK) return cli_fail_task(&t); /* before the work */
    c1.proof_type = proof_type;
    c1.sparse = sparse;
    return run(&c1, path, wrapped);
}

static const char circuit_help[] = "Writes BASE.r1cs, a circuit that fills a domain of 2^K rows (each the "
                                   "square of a full-size value), and BASE.wtns, a\n"
                                   "random witness of it: to make a development key from (cuzk setup --dev), "
                                   "and to time proofs.  Full-size values are the\n"
                                   "hard case: circuits of hashes are mostly bits, and faster.";

static int gen_circuit(int argc, char **argv)
{
    const char *base = NULL, *curve = "bn254";
    uint64_t log2 = 0;
    const struct option_row options[] = {
        { "--curve", OPTION_TEXT, &curve, 0, 0, "C", "bn254 (default) or bls12_381" },
        { "--log2", OPTION_COUNT, &log2, 3, CUZK_BENCH_CIRCUIT_LOG2_MOST, "K", "rows: 2^K" },
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = { { "BASE", &base, false, "the files' name without its ending" } };
    char r1cs[PATH_MAX], wtns[PATH_MAX];
    cuzk_error error = CUZK_ERROR_INIT;
    struct task t;

    const int over = cli_begin(&t, argc, argv, "gen circuit", circuit_help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;
    if (log2 == 0 || (strcmp(curve, "bn254") != 0 && strcmp(curve, "bls12_381") != 0)) {
        if (log2 == 0)
            FAIL(&t, CUZK_INVALID_ARGUMENT, "--log2 K is missing");
        else
            FAIL(&t, CUZK_INVALID_ARGUMENT, "--curve takes bn254 or bls12_381, not '%s'", curve);
        return cli_fail_task(&t);
    }
    if ((size_t)snprintf(r1cs, sizeof r1cs, "%s.r1cs", base) >= sizeof r1cs) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "the name is too long");
        return cli_fail_task(&t);
    }
    snprintf(wtns, sizeof wtns, "%s.wtns", base);
    if (mapfile_check_writable(&t, r1cs) != CUZK_OK || mapfile_check_writable(&t, wtns) != CUZK_OK)
        return cli_fail_task(&t); /* before the work */
    const uint64_t start = clock_now_ns();
    if (cuzk_bench_circuit(curve, (unsigned)log2, r1cs, wtns, &error) != CUZK_OK) return cli_fail(&error);
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:o, s:o, s:s, s:i, s:f}", "status", "OK", "r1cs",
                                 cli_json_text(r1cs), "wtns", cli_json_text(wtns), "curve", curve, "log2",
                                 (int)log2, "ms", clock_ms_since(start)));
    else if (!cli.quiet)
        printf("%s and %s: %s, domain 2^%u, made in %.1f s\n", r1cs, wtns, curve, (unsigned)log2,
               clock_ms_since(start) * 1e-3);
    return 0;
}

static const struct command commands[] = {
    { "c1", "the output of Commit Phase 1 for a random sector", gen_c1 },
    { "circuit", "a circuit of a wanted size and a witness", gen_circuit },
};

int cmd_gen(int argc, char **argv)
{
    return cli_subcommand("gen", "Makes inputs for trying out.", commands, ARRAY_COUNT(commands), argc, argv);
}
