/* cuzk prove: witness and key in, verified proof out. */
#include "base/clock.h"
#include "cli/cli.h"
#include "base/mapfile.h"
#include "cli/batch.h"
#include <math.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Proves that WITNESS satisfies the circuit of KEY.  The proof is verified before "
    "anything is written; a witness that does\n"
    "not satisfy the circuit gives an error and no file.  Randomness is fresh from "
    "the operating system, so two runs give two\n"
    "different proofs of the same statement.\n"
    "\n"
    "KEY is a Groth16 .zkey (snarkjs, either curve) or bellman parameters (.params); "
    "the latter need the constraints: --r1cs.\n"
    "PROOF and PUBLIC are what snarkjs writes: any snarkjs verifier takes them.\n"
    "\n"
    "--batch LIST proves many: each line of LIST is KEY WITNESS PROOF [PUBLIC], apart by blanks or "
    "tabs, a name with blanks between\n"
    "double quotes; lines that begin with # say nothing.  --lanes of them are under way at once, "
    "lines of one key together, keys one\n"
    "after another.  A line that fails is named and costs no other; the exit code is 0, or that of "
    "the first line of LIST that failed.\n"
    "A card is driven by a process of its own: where a kernel traps or never ends, another process "
    "is started and what is\n"
    "unfinished is proved again with fresh randomness, each line three times at most; how often is "
    "said at the end.\n"
    "\n"
    "Without --device and --backend a card or the CPU is chosen by the key's size (the first key's of "
    "a LIST), and said.";

static bool parse_encoding(struct task *t, const char *text, cuzk_encoding *out)
{
    if (!strcmp(text, "json"))
        *out = CUZK_JSON;
    else if (!strcmp(text, "compressed"))
        *out = CUZK_COMPRESSED;
    else if (!strcmp(text, "raw"))
        *out = CUZK_RAW;
    else {
        FAIL(t, CUZK_INVALID_ARGUMENT, "--format takes json, compressed or raw, not '%s'", text);
        return false;
    }
    return true;
}

static bool parse_process(struct task *t, const char *text, enum batch_process *out)
{
    static const char *const words[] = { "auto", "always", "never" };

    for (unsigned i = 0; i < ARRAY_COUNT(words); i++)
        if (strcmp(words[i], text) == 0) {
            *out = (enum batch_process)i;
            return true;
        }
    FAIL(t, CUZK_INVALID_ARGUMENT, "--process takes auto, always or never, not '%s'", text);
    return false;
}

/* What is said of a batch where there is none, and of a process of the device's own where there is none. */
static cuzk_status check_batch_options(struct task *t, bool batch, enum batch_process process)
{
    static const char *const of_batch[] = { "--lanes", "--process", "--watchdog-ms", NULL },
                             *const of_process[] = { "--watchdog-ms", NULL };

    if (!batch) return args_refuse(t, of_batch, "without --batch", "give the proofs as --batch LIST");
    return process == BATCH_PROCESS_NEVER ? args_refuse(t, of_process, "with --process never", "say --process always")
                                          : CUZK_OK;
}

/* One proof has its operands, a batch has none. */
static bool check_operands(struct task *t, const char *list_path, const char *key_path,
                           const char *witness_path)
{
    if (list_path == NULL && key_path != NULL && witness_path != NULL) return true;
    if (list_path != NULL && key_path == NULL) return true;
    if (list_path != NULL) {
        FAIL(t, CUZK_INVALID_ARGUMENT, "unexpected argument '%s': the lines of --batch %s say what is proved",
             key_path, list_path);
        return false;
    }
    FAIL(t, CUZK_INVALID_ARGUMENT, "%s",
         key_path == NULL ? "KEY is missing: proving key: .zkey or .params"
                          : "WITNESS is missing: witness: .wtns");
    task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL, "cuzk prove --help shows the whole form");
    return false;
}

static void report(const cuzk_key *key, const cuzk_proof *proof, const char *proof_path,
                   const char *public_path)
{
    cuzk_timings tm = CUZK_TIMINGS_INIT;
    cuzk_key_info info = CUZK_KEY_INFO_INIT;
    cuzk_proof_timings(proof, &tm);
    cuzk_key_describe(key, &info);
    if (cli_is_stdout(proof_path) || cli_is_stdout(public_path)) return;
    if (cli.json) {
        cli_print_json(json_pack(
            "{s:s, s:o, s:o, s:s, s:I, s:s, s:b, s:{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}}",
            "status", "OK", "proof", cli_json_text(proof_path), "public", cli_json_text(public_path), "curve",
            info.curve, "domain", (json_int_t)info.domain_size, "key_mode", info.mode, "verified", 1,
            "timings_ms", "witness", tm.witness_ms, "eval", tm.eval_ms, "quotient", tm.quotient_ms, "msm_a",
            tm.msm_ms[0], "msm_b1", tm.msm_ms[1], "msm_b2", tm.msm_ms[2], "msm_l", tm.msm_ms[3], "msm_h",
            tm.msm_ms[4], "assemble", tm.assemble_ms, "verify", tm.verify_ms, "total", tm.total_ms));
        return;
    }
    if (cli.quiet) return;
    printf("proved and verified in %.1f ms (%s, domain %llu, key %s): constraints %.1f, quotient %.1f, MSM A "
           "%.1f B1 "
           "%.1f B2 %.1f L %.1f H %.1f, "
           "verification %.1f\n",
           tm.total_ms, info.curve, (unsigned long long)info.domain_size, info.mode, tm.eval_ms,
           tm.quotient_ms, tm.msm_ms[0], tm.msm_ms[1], tm.msm_ms[2], tm.msm_ms[3], tm.msm_ms[4],
           tm.verify_ms);
}

int cmd_prove(int argc, char **argv)
{
    const char *key_path = NULL, *witness_path = NULL, *proof_path = "proof.json",
               *public_path = "public.json";
    const char *r1cs_path = NULL, *format = "json", *list_path = NULL;
    const char *process = "auto";
    char beside[PATH_MAX];
    uint64_t timeout_ms = 0, lanes = CLI_LANES, watchdog_ms = BATCH_WATCHDOG_MS;
    bool timing = false;
    const struct option_row options[] = {
        { "--r1cs", OPTION_TEXT, &r1cs_path, 0, 0, "FILE",
          "the circuit's constraints: needed with .params, and names an unsatisfied row" },
        { "--format", OPTION_TEXT, &format, 0, 0, "F",
          "of PROOF: json (default), compressed (192 bytes, BLS12-381), raw" },
        { "--timeout-ms", OPTION_COUNT, &timeout_ms, 1, 86400000, "N",
          "give up after N milliseconds; of a batch each line has its own, from when its proof is begun" },
        { "--batch", OPTION_TEXT, &list_path, 0, 0, "LIST",
          "prove every line of LIST (- is standard input)" },
        { "--lanes", OPTION_COUNT, &lanes, 1, CUZK_LANES_MOST, "N",
          "proofs of a batch under way at once (default 3)" },
        { "--process", OPTION_TEXT, &process, 0, 0, "W",
          "a batch's device in a process of its own: auto (default: a card is), always, never" },
        { "--watchdog-ms", OPTION_COUNT, &watchdog_ms, 1000, 86400000, "N",
          "what computes longer there is stuck, and is tried again (default 120000)" },
        { "--timing", OPTION_FLAG, &timing, 0, 0, NULL,
          "a CUZK_TIMING line for each proof on standard error" },
        CLI_KEY_MODE_OPTION,
        CLI_DEVICE_OPTIONS,
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = {
        { "KEY", &key_path, true, "proving key: .zkey or .params" },
        { "WITNESS", &witness_path, true, "witness: .wtns" },
        { "PROOF", &proof_path, true, "where the proof goes (default proof.json; - is standard output)" },
        { "PUBLIC", &public_path, true, "where the public inputs go (default public.json)" },
    };
    struct task t;
    cuzk_encoding encoding = CUZK_JSON;
    cuzk_key_mode key_mode = CUZK_KEY_AUTO;
    enum batch_process batch_process = BATCH_PROCESS_AUTO;
    const int over = cli_begin(&t, argc, argv, "prove", help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;
    if (!parse_encoding(&t, format, &encoding) || cli_key_mode(&t, &key_mode) != CUZK_OK ||
        !parse_process(&t, process, &batch_process) ||
        check_batch_options(&t, list_path != NULL, batch_process) != CUZK_OK || !check_operands(&t, list_path, key_path, witness_path))
        return cli_fail_task(&t);
    if (list_path != NULL) {
        const struct batch_options o = { list_path,     r1cs_path,       encoding,
                                         key_mode,      (unsigned)lanes, (double)timeout_ms,
                                         batch_process, watchdog_ms,     timing };
        return batch_run(&o);
    }
    const char *const outputs[] = { proof_path, public_path },
                      *const inputs[] = { key_path, witness_path, r1cs_path, cli_derived_beside(beside, key_path) };
    if (cli_files_apart(&t, outputs, ARRAY_COUNT(outputs), inputs, ARRAY_COUNT(inputs)) != CUZK_OK)
        return cli_fail_task(&t);
    for (size_t i = 0; i < ARRAY_COUNT(outputs); i++) /* before the work */
        if (mapfile_check_writable(&t, outputs[i]) != CUZK_OK) return cli_fail_task(&t);

    cuzk_error error = CUZK_ERROR_INIT;
    struct cli_key k = { NULL, NULL, NULL };
    cuzk_witness *witness = NULL;
    cuzk_proof *proof = NULL;
    cuzk_publics *publics = NULL;
    cuzk_key_options key_options = CUZK_KEY_OPTIONS_INIT;
    cuzk_watch watch = cli_watch();
    int exit_code = 0;
    key_options.r1cs_path = r1cs_path;
    key_options.mode = key_mode;
    watch.timeout_ms = (double)timeout_ms;

    if (!cli_key_open(&k, key_path, &key_options, 1, 1, &exit_code)) goto out;
    if (cli_check_encoding(&t, k.key, encoding) != CUZK_OK) {
        exit_code = cli_fail_task(&t);
        goto out;
    }
    if (cuzk_witness_open(&witness, witness_path, &error) != CUZK_OK) goto failed;
    cli_warn_of_key(k.key, key_path);
    const uint64_t begun = clock_now_ns();
    cuzk_status status = cuzk_prove(&proof, &publics, k.context, k.key, witness, &watch, &error);
    if (status != CUZK_OK && cli_derived_is_lost(k.context, key_path, &key_options, &error)) {
        cuzk_key_close(k.key);
        k.key = NULL;
        status = cuzk_key_open(&k.key, k.context, key_path, &key_options, &error);
        if (watch.timeout_ms > 0) watch.timeout_ms = fmax(watch.timeout_ms - clock_ms_since(begun), 1e-3);
        if (status == CUZK_OK)
            status = cuzk_prove(&proof, &publics, k.context, k.key, witness, &watch, &error);
    }
    if (status != CUZK_OK) goto failed;
    if (cuzk_proof_save_both(proof, proof_path, encoding, publics, public_path, &error) != CUZK_OK) goto failed;
    if (timing) cli_print_timing(proof);
    report(k.key, proof, proof_path, public_path);
    goto out;
failed:
    exit_code = cli_fail(&error);
out:
    cuzk_publics_close(publics);
    cuzk_proof_close(proof);
    cuzk_witness_close(witness);
    cli_key_close(&k);
    return exit_code;
}
