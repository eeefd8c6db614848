/* cuzk bench prove: proofs a second and latency over lanes. */
#include "cli/cli.h"
#include "base/clock.h"
#include "cuzk/cuzk_bench.h"
#include "cuzk/cuzk_setup.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char help[] = "Proves --count times over --lanes lanes, each proof verified, and prints proofs "
                           "a second, latency, where the time of a proof goes and\n"
                           "what memory was taken.  Every lane makes one proof first that is not counted: it "
                           "uploads the key and touches its pages.\n"
                           "Without KEY and WITNESS the circuit is made: --log2 K rows on --curve C, with a "
                           "development key, in a folder that is removed again.\n"
                           "Compare figures of one run only: machines share cores and change clocks.";

enum { STAGES = 8 };
static const char *const stage_names[STAGES] = { "wait_ms",     "upload_ms",   "prep_msm_ms",  "ntt_msm_h_ms",
                                                 "tail_msm_ms", "b_g2_msm_ms", "gpu_total_ms", "latency_ms" };
static const char *const stage_texts[STAGES] = { "for memory and for its turn",
                                                 "witness checked and staged",
                                                 "constraints",
                                                 "quotient, MSM H",
                                                 "MSM A, B1, L",
                                                 "MSM B2",
                                                 "constraints to the last sum",
                                                 "from the call to the verified proof" };

struct bench {
    unsigned lanes, count;
    cuzk_context *context;
    const cuzk_key *key;
    const cuzk_witness *witness;
    cuzk_watch watch;
    pthread_mutex_t lock; /* of all below */
    unsigned next;
    bool failed, timing;
    cuzk_error error;
    double *ms; /* stage by stage, count each */
};

static void stages_of(double out[STAGES], const cuzk_proof *proof, double latency_ms)
{
    cuzk_timings tm = CUZK_TIMINGS_INIT;

    cuzk_proof_timings(proof, &tm);
    out[0] = tm.wait_ms;
    out[1] = tm.witness_ms - tm.wait_ms;
    out[2] = tm.eval_ms;
    out[3] = tm.quotient_ms + tm.msm_ms[4];
    out[4] = tm.msm_ms[0] + tm.msm_ms[1] + tm.msm_ms[3];
    out[5] = tm.msm_ms[2];
    out[6] = out[2] + out[3] + out[4] + out[5];
    out[7] = latency_ms;
}

static void *lane(void *argument)
{
    struct bench *const b = argument;

    for (bool more = true; more;) {
        pthread_mutex_lock(&b->lock);
        const unsigned at = b->failed ? b->count : b->next;
        if (at < b->count) b->next++;
        pthread_mutex_unlock(&b->lock);
        if (at == b->count) return NULL;
        const uint64_t start = clock_now_ns();
        cuzk_error error = CUZK_ERROR_INIT;
        cuzk_proof *proof = NULL;
        double stages[STAGES];
        more = cuzk_prove(&proof, NULL, b->context, b->key, b->witness, &b->watch, &error) == CUZK_OK;
        if (more) stages_of(stages, proof, clock_ms_since(start));
        if (more && b->timing) cli_print_timing(proof);
        cuzk_proof_close(proof);
        pthread_mutex_lock(&b->lock);
        if (!more && !b->failed) b->error = error;
        b->failed = b->failed || !more;
        for (unsigned s = 0; more && s < STAGES; s++) b->ms[s * (size_t)b->count + at] = stages[s];
        pthread_mutex_unlock(&b->lock);
    }
    return NULL;
}

/* All of count proofs.  Out: milliseconds from the first start to the last end.  false: b->error tells why. */
static bool run(struct bench *b, double *ms)
{
    pthread_t thread[CUZK_LANES_MOST];
    unsigned started = 0;
    const uint64_t start = clock_now_ns();

    b->next = 0;
    while (started + 1 < b->lanes && pthread_create(&thread[started], NULL, lane, b) == 0) started++;
    lane(b);
    for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
    *ms = clock_ms_since(start);
    return !b->failed;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(struct bench *b, double ms)
{
    cuzk_device_info device = CUZK_DEVICE_INFO_INIT;
    cuzk_lanes_info lanes = CUZK_LANES_INFO_INIT;
    cuzk_key_info key = CUZK_KEY_INFO_INIT;
    cuzk_plan plan = CUZK_PLAN_INIT;
    double median[STAGES];
    struct rusage usage;
    json_t *const rows = json_array();

    cuzk_context_device(b->context, &device);
    cuzk_context_lanes(b->context, &lanes);
    cuzk_key_describe(b->key, &key);
    if (cuzk_key_plan(&plan, b->context, b->key, NULL) != CUZK_OK) memset(&plan, 0, sizeof plan);
    getrusage(RUSAGE_SELF, &usage);
    const uint64_t host_peak = (uint64_t)usage.ru_maxrss << 10,
                   device_peak = lanes.peak_bytes + lanes.stream_bytes + plan.resident_bytes;
    const double per_second = 1e3 * b->count / ms;
    if (!cli.json)
        printf("%s, %s, %s, domain %llu, key %s\n%u proofs over %u lanes (%u computing), all verified: %.2f "
               "a second\n"
               "%-13s %10s %10s %10s\n",
               device.name, device.variant, key.curve, (unsigned long long)key.domain_size, key.mode,
               b->count, b->lanes, lanes.computing, per_second, "", "median", "least", "most");
    for (unsigned s = 0; s < STAGES; s++) {
        double *const v = b->ms + s * (size_t)b->count;
        qsort(v, b->count, sizeof *v, by_value);
        median[s] = (v[(b->count - 1) / 2] + v[b->count / 2]) / 2;
        json_array_append_new(rows, json_pack("{s:s, s:f, s:f, s:f}", "stage", stage_names[s], "median_ms",
                                              median[s], "least_ms", v[0], "most_ms", v[b->count - 1]));
        if (!cli.json)
            printf("%-13s %10.2f %10.2f %10.2f   %s\n", stage_names[s], median[s], v[0], v[b->count - 1],
                   stage_texts[s]);
    }
    if (cli.json) {
        cli_print_json(json_pack(
            "{s:s, s:s, s:s, s:s, s:I, s:i, s:i, s:i, s:I, s:f, s:f, s:o, s:I, s:I, s:I}", "status", "OK",
            "device", device.name, "curve", key.curve, "key_mode", key.mode, "domain",
            (json_int_t)key.domain_size, "lanes", (int)b->lanes, "computing", (int)lanes.computing, "count",
            (int)b->count, "staged_late", (json_int_t)lanes.staged_late, "ms", ms, "proofs_per_second",
            per_second, "stages", rows, "peak_bytes", (json_int_t)device_peak, "key_bytes",
            (json_int_t)plan.resident_bytes, "host_peak_bytes", (json_int_t)host_peak));
        return;
    }
    json_decref(rows);
    printf("memory        proofs %s at once, streams %s, key %s: %s of the device; host %s\n",
           cli_bytes(lanes.peak_bytes), cli_bytes(lanes.stream_bytes), cli_bytes(plan.resident_bytes),
           cli_bytes(device_peak), cli_bytes(host_peak));
    printf("CUZK_TIMING: prestage_setup=%s domain=%llu lanes=%u skip_vram=%llu",
           lanes.staged_late == 0 ? "ok" : "skip_vram", (unsigned long long)key.domain_size, b->lanes,
           (unsigned long long)lanes.staged_late);
    for (unsigned s = 0; s < STAGES; s++) printf(" %s=%.2f", stage_names[s], median[s]);
    putchar('\n');
}

/* -- a circuit of its own ---------------------------------------------------------------------------------------------- */

struct made {
    char folder[PATH_MAX - 16], r1cs[PATH_MAX], key[PATH_MAX], witness[PATH_MAX];
};

static void unmake(const struct made *m)
{
    if (m->folder[0] == '\0') return;
    (void)unlink(m->r1cs);
    (void)unlink(m->key);
    (void)unlink(m->witness);
    (void)rmdir(m->folder);
}

static bool make(struct made *m, cuzk_context *context, const char *curve, unsigned log2,
                 const cuzk_watch *watch, cuzk_error *error)
{
    const char *const temporary = getenv("TMPDIR");
    cuzk_setup_options options = CUZK_SETUP_OPTIONS_INIT;

    snprintf(m->folder, sizeof m->folder, "%s/cuzk-bench-XXXXXX", temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(m->folder) == NULL) {
        snprintf(error->text, sizeof error->text, "no folder for a circuit could be made as %.300s",
                 m->folder);
        error->status = CUZK_IO;
        m->folder[0] = '\0';
        return false;
    }
    snprintf(m->r1cs, sizeof m->r1cs, "%s/c.r1cs", m->folder);
    snprintf(m->key, sizeof m->key, "%s/k.zkey", m->folder);
    snprintf(m->witness, sizeof m->witness, "%s/w.wtns", m->folder);
    return cuzk_bench_circuit(curve, log2, m->r1cs, m->witness, error) == CUZK_OK &&
           cuzk_setup_dev(context, m->r1cs, m->key, &options, watch, error) == CUZK_OK;
}

/* -- the command ------------------------------------------------------------------------------------------------------- */

struct subject {
    const char *key_path, *witness_path, *r1cs_path; /* key_path NULL: made */
    const char *curve;
    unsigned log2;
};

/* The circuit and its key, on the device that is named; else on the CPU: which one proves is not known before. */
static bool make_first(struct made *m, const struct subject *what, const cuzk_watch *watch, int *exit_code)
{
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;

    if (!(cli_device_is_named() ? cli_context(&context, exit_code) : cli_context_on_cpu(&context, exit_code)))
        return false;
    const bool made = make(m, context, what->curve, what->log2, watch, &error);
    if (!made) *exit_code = cli_fail(&error);
    cuzk_context_destroy(context);
    return made;
}

static int bench(struct bench *b, const struct subject *what)
{
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
    cuzk_witness *witness = NULL;
    struct cli_key k = { NULL, NULL, NULL };
    struct made made = { "", "", "", "" };
    const unsigned count = b->count;
    int exit_code = 0;
    double ms;

    const bool own = what->key_path == NULL;
    options.r1cs_path = what->r1cs_path;
    cli.lanes = b->lanes;
    if (own && !make_first(&made, what, &b->watch, &exit_code)) goto out;
    if (!cli_key_open(&k, own ? made.key : what->key_path, &options, b->count, b->lanes, &exit_code))
        goto out;
    if (cuzk_witness_open(&witness, own ? made.witness : what->witness_path, &b->error) != CUZK_OK)
        goto failed;
    b->context = k.context;
    b->key = k.key;
    b->witness = witness;
    b->watch.progress = NULL; /* one thread may report at a time */
    b->count = b->lanes;
    if (!run(b, &ms)) goto failed;
    b->count = count;
    if (!run(b, &ms)) goto failed;
    report(b, ms);
    goto out;
failed:
    exit_code = cli_fail(&b->error);
out:
    cuzk_witness_close(witness);
    cli_key_close(&k);
    unmake(&made);
    return exit_code;
}

int cmd_bench_prove(int argc, char **argv)
{
    struct subject what = { .curve = "bn254" };
    struct bench b = { .error = CUZK_ERROR_INIT };
    uint64_t lanes = CLI_LANES, count = 20, log2 = 16;
    const struct option_row options[] = {
        { "--lanes", OPTION_COUNT, &lanes, 1, CUZK_LANES_MOST, "N", "proofs under way at once (default 3)" },
        { "--count", OPTION_COUNT, &count, 1, 1000000, "M", "counted proofs (default 20)" },
        { "--curve", OPTION_TEXT, &what.curve, 0, 0, "C",
          "of a circuit that is made: bn254 (default) or bls12_381" },
        { "--log2", OPTION_COUNT, &log2, 3, CUZK_BENCH_CIRCUIT_LOG2_MOST, "K",
          "rows of a circuit that is made: 2^K (default 16)" },
        { "--r1cs", OPTION_TEXT, &what.r1cs_path, 0, 0, "FILE",
          "the circuit's constraints (needed with .params)" },
        { "--timing", OPTION_FLAG, &b.timing, 0, 0, NULL,
          "a CUZK_TIMING line for each proof on standard error" },
        CLI_DEVICE_OPTIONS,
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = {
        { "KEY", &what.key_path, true, "proving key; leave out to have a circuit made" },
        { "WITNESS", &what.witness_path, true, "its witness" },
    };
    struct task t;

    const int over = cli_begin(&t, argc, argv, "bench prove", help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;
    if (what.key_path != NULL && what.witness_path == NULL) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "WITNESS is missing: proofs on %s need one", what.key_path);
        return cli_fail_task(&t);
    }
    static const char *const of_made[] = { "--curve", "--log2", NULL }, *const of_given[] = { "--r1cs", NULL };
    if ((what.key_path != NULL ? args_refuse(&t, of_made, "with KEY: it is of a circuit that is made", "leave KEY out")
                               : args_refuse(&t, of_given, "without KEY", "give KEY and WITNESS")) != CUZK_OK)
        return cli_fail_task(&t);
    b.watch = cli_watch();
    what.log2 = (unsigned)log2;
    b.lanes = (unsigned)lanes;
    b.count = (unsigned)count;
    b.ms = calloc((count > lanes ? count : lanes) * STAGES, sizeof *b.ms);
    if (b.ms == NULL) {
        FAIL(&t, CUZK_NO_MEMORY, "no memory for the times of %u proofs", b.count);
        return cli_fail_task(&t);
    }
    pthread_mutex_init(&b.lock, NULL);
    const int exit_code = bench(&b, &what);
    pthread_mutex_destroy(&b.lock);
    free(b.ms);
    return exit_code;
}
