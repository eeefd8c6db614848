/* cuzk bench: how fast is this machine, on a key of yours or on single operations? */
#include "cli/cli.h"
#include "cuzk/cuzk_bench.h"
#include "base/clock.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "With KEY and WITNESS: opens the key once, proves --runs times (each proof verified) and prints the stages' medians.\n"
    "Without: times the operations of which proofs are made at 2^log2 random elements; every result is checked.\n"
    "With the word prove: proofs a second over lanes, and memory; see 'cuzk bench prove --help'.\n"
    "With the word porep: whole PoRep proofs on a card; see 'cuzk bench porep --help'.\n"
    "With the word interlock: what sharing a card between lanes costs; see 'cuzk bench interlock --help'.\n"
    "Compare figures of one run only: machines share cores and change clocks.";

#define STAGES 10
static const char *const stage_names[STAGES] = { "witness", "constraints", "quotient", "MSM A", "MSM B1", "MSM B2", "MSM L", "MSM H", "verification", "total" };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void stages_of(const cuzk_proof *proof, double out[STAGES])
{
    cuzk_timings tm = CUZK_TIMINGS_INIT;
    cuzk_proof_timings(proof, &tm);
    out[0] = tm.witness_ms;
    out[1] = tm.eval_ms;
    out[2] = tm.quotient_ms;
    for (int i = 0; i < 5; i++) out[3 + i] = tm.msm_ms[i];
    out[8] = tm.verify_ms;
    out[9] = tm.total_ms;
}

/* Proofs at once: as many threads, each making `runs` of them. */
struct together {
    cuzk_context *context;
    const cuzk_key *key;
    const cuzk_witness *witness;
    const cuzk_watch *watch;
    unsigned runs;
    bool failed;
    cuzk_error error;
};

static void *prove_in_turn(void *argument)
{
    struct together *g = argument;
    for (unsigned i = 0; i < g->runs && !g->failed; i++) {
        cuzk_proof *proof = NULL;
        g->failed = cuzk_prove(&proof, NULL, g->context, g->key, g->witness, g->watch, &g->error) != CUZK_OK;
        cuzk_proof_close(proof);
    }
    return NULL;
}

enum { AT_ONCE_MOST = 64 };

/* Out: milliseconds from the first start to the last end, for count * runs proofs.  false: *error tells why. */
static bool prove_together(double *ms, cuzk_error *error, const struct together *shared, unsigned count)
{
    struct together each[AT_ONCE_MOST];
    pthread_t thread[AT_ONCE_MOST];
    unsigned started = 0;
    bool failed = false;
    const uint64_t start = clock_now_ns();
    for (; started < count; started++) {
        each[started] = *shared;
        if (pthread_create(&thread[started], NULL, prove_in_turn, &each[started]) == 0) continue;
        snprintf(error->text, sizeof error->text, "no thread for proof %u of %u at once", started + 1, count);
        error->status = CUZK_NO_MEMORY;
        failed = true;
        break;
    }
    for (unsigned i = 0; i < started; i++) {
        pthread_join(thread[i], NULL);
        if (!failed && each[i].failed) *error = each[i].error;
        failed = failed || each[i].failed;
    }
    *ms = clock_ms_since(start);
    return !failed;
}

static int bench_proofs(const char *key_path, const char *witness_path, const char *r1cs_path, unsigned runs, unsigned at_once)
{
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;
    cuzk_key *key = NULL;
    cuzk_witness *witness = NULL;
    cuzk_key_options key_options = CUZK_KEY_OPTIONS_INIT;
    cuzk_key_info info = CUZK_KEY_INFO_INIT;
    cuzk_device_info device = CUZK_DEVICE_INFO_INIT;
    cuzk_watch watch = cli_watch();
    int exit_code = 0;
    double *ms = calloc((size_t)runs * STAGES, sizeof *ms); /* stage by stage */
    key_options.r1cs_path = r1cs_path;
    if (!ms) {
        struct task t;
        task_init(&t);
        FAIL(&t, CUZK_NO_MEMORY, "%u runs are more than memory holds", runs);
        return cli_fail_task(&t);
    }

    if (at_once > 1) cli.lanes = at_once < CUZK_LANES_MOST ? at_once : CUZK_LANES_MOST;
    if (!cli_context(&context, &exit_code)) goto out;
    const uint64_t start = clock_now_ns();
    if (cuzk_key_open(&key, context, key_path, &key_options, &error) != CUZK_OK) goto failed;
    const double open_ms = clock_ms_since(start);
    if (cuzk_witness_open(&witness, witness_path, &error) != CUZK_OK) goto failed;
    for (unsigned i = 0; i <= runs; i++) { /* the first is not counted: it touches the key's pages */
        cuzk_proof *proof = NULL;
        double stages[STAGES];
        if (cuzk_prove(&proof, NULL, context, key, witness, &watch, &error) != CUZK_OK) goto failed;
        stages_of(proof, stages);
        for (int s = 0; i > 0 && s < STAGES; s++) ms[(size_t)s * runs + i - 1] = stages[s];
        cuzk_proof_close(proof);
    }
    watch.progress = NULL; /* one thread may report at a time */
    const struct together shared = { .context = context, .key = key, .witness = witness, .watch = &watch, .runs = runs, .error = CUZK_ERROR_INIT };
    double together_ms = 0;
    if (at_once > 1 && !prove_together(&together_ms, &error, &shared, at_once)) goto failed;
    const double per_second = at_once > 1 ? 1e3 * at_once * runs / together_ms : 0;
    cuzk_key_describe(key, &info);
    cuzk_context_device(context, &device);
    json_t *rows = json_array();
    if (!cli.json)
        printf("%s, %s, %u threads, %s; domain %llu, key opened in %.1f ms; %u proofs, all verified\n%-14s %10s %10s %10s\n", device.name,
               device.variant, device.threads, info.curve, (unsigned long long)info.domain_size, open_ms, runs, "ms", "median",
               "least", "most");
    for (int s = 0; s < STAGES; s++) {
        double *v = ms + (size_t)s * runs;
        qsort(v, runs, sizeof *v, by_value);
        const double median = (v[(runs - 1) / 2] + v[runs / 2]) / 2;
        if (cli.json)
            json_array_append_new(rows, json_pack("{s:s, s:f, s:f, s:f}", "stage", stage_names[s], "median_ms", median, "least_ms", v[0],
                                                  "most_ms", v[runs - 1]));
        else
            printf("%-14s %10.2f %10.2f %10.2f\n", stage_names[s], median, v[0], v[runs - 1]);
    }
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:s, s:s, s:i, s:s, s:I, s:f, s:i, s:o, s:i, s:f}", "status", "OK", "device", device.name, "variant", device.variant, "threads",
                                 (int)device.threads, "curve", info.curve, "domain", (json_int_t)info.domain_size, "open_ms", open_ms, "runs",
                                 (int)runs, "stages", rows, "at_once", (int)at_once, "proofs_per_second", per_second));
    else
        json_decref(rows);
    if (!cli.json && at_once > 1)
        printf("%u at once: %.2f proofs a second (%u proofs in %.1f ms)\n", at_once, per_second, at_once * runs, together_ms);
    goto out;
failed:
    exit_code = cli_fail(&error);
out:
    free(ms);
    cuzk_witness_close(witness);
    cuzk_key_close(key);
    cuzk_context_destroy(context);
    return exit_code;
}

static void print_row(void *context, const cuzk_bench_row *row)
{
    (void)context;
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:s, s:I, s:i, s:f, s:f, s:f}", "operation", row->operation, "curve", row->curve, "count",
                                 (json_int_t)row->count, "runs", (int)row->runs, "median_ms", row->median_ms, "least_ms", row->least_ms, "most_ms",
                                 row->most_ms));
    else
        printf("%-28s %10llu %12.3f %12.3f %12.3f %12.1f\n", row->operation, (unsigned long long)row->count, row->median_ms,
               row->least_ms, row->most_ms, row->median_ms * 1e6 / (double)row->count);
    fflush(stdout);
}

static int bench_operations(const char *curve, unsigned log2, unsigned runs)
{
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;
    cuzk_device_info device = CUZK_DEVICE_INFO_INIT;
    cuzk_watch watch = cli_watch();
    int exit_code = 0;
    if (!cli_context(&context, &exit_code)) return exit_code;
    cuzk_context_device(context, &device);
    if (!cli.json)
        printf("%s, %s, %u threads, %s\n%-28s %10s %12s %12s %12s %12s\n", device.name, device.variant, device.threads, curve, "operation",
               "count", "median ms", "least ms", "most ms", "ns each");
    if (cuzk_bench_operations(context, curve, log2, runs, print_row, NULL, &watch, &error) != CUZK_OK) exit_code = cli_fail(&error);
    cuzk_context_destroy(context);
    return exit_code;
}

int cmd_bench(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "interlock") == 0) return cmd_interlock(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "prove") == 0) return cmd_bench_prove(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "porep") == 0) return cmd_bench_porep(argc - 1, argv + 1);
    const char *key_path = NULL, *witness_path = NULL, *r1cs_path = NULL, *curve = "bn254";
    uint64_t runs = 5, log2 = 16, at_once = 1;
    const struct option_row options[] = {
        { "--runs", OPTION_COUNT, &runs, 1, 1000, "N", "counted runs (default 5), after one that is not counted" },
        { "--at-once", OPTION_COUNT, &at_once, 1, AT_ONCE_MOST, "N", "then --runs proofs on each of N threads, for proofs a second" },
        { "--curve", OPTION_TEXT, &curve, 0, 0, "C", "of the operations: bn254 (default) or bls12_381" },
        { "--log2", OPTION_COUNT, &log2, 1, 26, "K", "operations at 2^K elements (default 16)" },
        { "--r1cs", OPTION_TEXT, &r1cs_path, 0, 0, "FILE", "the circuit's constraints (needed with .params)" },
        CLI_DEVICE_OPTIONS,
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = {
        { "KEY", &key_path, true, "proving key; leave out to time operations" },
        { "WITNESS", &witness_path, true, "its witness" },
    };
    struct task t;
    const int over = cli_begin(&t, argc, argv, "bench", help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;
    if (key_path && !witness_path) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "WITNESS is missing: proofs on %s need one", key_path);
        return cli_fail_task(&t);
    }
    static const char *const of_operations[] = { "--curve", "--log2", NULL }, *const of_proofs[] = { "--at-once", "--r1cs", NULL };
    if ((key_path != NULL ? args_refuse(&t, of_operations, "with KEY: it is of single operations", "leave KEY out")
                          : args_refuse(&t, of_proofs, "without KEY", "give KEY and WITNESS")) != CUZK_OK)
        return cli_fail_task(&t);
    return key_path ? bench_proofs(key_path, witness_path, r1cs_path, (unsigned)runs, (unsigned)at_once)
                    : bench_operations(curve, (unsigned)log2, (unsigned)runs);
}
