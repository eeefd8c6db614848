/* cuzk plan: what will proofs on this key take? */
#include "cli/cli.h"
#include <stdio.h>

static const char help[] =
    "Tells the memory that a key and each proof on it will take.  The figures are not "
    "estimates beside the code: the prover\n"
    "executes this very plan.  Beside them the time that a proof will take there, predicted from rates that "
    "were measured before; without\n"
    "--device and --backend, the device that 'cuzk prove' would choose.";

int cmd_plan(int argc, char **argv)
{
    const char *key_path = NULL, *r1cs_path = NULL;
    const struct option_row options[] = {
        { "--r1cs", OPTION_TEXT, &r1cs_path, 0, 0, "FILE",
          "the circuit's constraints (needed with .params)" },
        CLI_KEY_MODE_OPTION,
        CLI_DEVICE_OPTIONS,
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = { { "KEY", &key_path, false, "proving key: .zkey or .params" } };
    struct task t;
    const int over = cli_begin(&t, argc, argv, "plan", help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;

    cuzk_error error = CUZK_ERROR_INIT;
    struct cli_key k = { NULL, NULL, NULL };
    cuzk_prediction predicted;
    cuzk_key_options key_options = CUZK_KEY_OPTIONS_INIT;
    cuzk_plan plan = CUZK_PLAN_INIT;
    cuzk_device_info device = CUZK_DEVICE_INFO_INIT;
    int exit_code = 0;
    key_options.r1cs_path = r1cs_path;
    if (cli_key_mode(&t, &key_options.mode) != CUZK_OK) return cli_fail_task(&t);

    if (!cli_key_open(&k, key_path, &key_options, 1, 1, &exit_code)) goto out;
    if (cuzk_key_plan(&plan, k.context, k.key, &error) != CUZK_OK) goto failed;
    cuzk_context_device(k.context, &device);
    cli_predict(&predicted, k.key);
    if (cli.json)
        cli_print_json(json_pack(
            "{s:s, s:o, s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f}",
            "status", "OK", "key", cli_json_text(key_path), "backend", device.backend, "variant",
            device.variant, "threads", (int)device.threads, "memory_bytes", (json_int_t)device.memory_bytes,
            "file_bytes", (json_int_t)plan.file_bytes, "key_bytes", (json_int_t)plan.key_bytes, "proof_bytes",
            (json_int_t)plan.proof_bytes, "a_bytes", (json_int_t)plan.a_bytes, "b_bytes",
            (json_int_t)plan.b_bytes, "witness_bytes", (json_int_t)plan.witness_bytes, "workspace_bytes",
            (json_int_t)plan.workspace_bytes, "resident_bytes", (json_int_t)plan.resident_bytes,
            "predicted_open_ms", predicted.open_ms, "predicted_key_ms", predicted.key_ms,
            "predicted_proof_ms", predicted.proof_ms, "predicted_steady_ms", predicted.steady_ms));
    else
        printf("on %s (%s, %s, %u threads, %s)\n"
               "  key        %s on the heap, %s mapped from the file\n"
               "  each proof %s: a %s, b %s, workspace %s; beside it its witness, %s\n",
               device.backend, device.name, device.variant, device.threads, cli_bytes(device.memory_bytes),
               cli_bytes(plan.key_bytes), cli_bytes(plan.file_bytes), cli_bytes(plan.proof_bytes),
               cli_bytes(plan.a_bytes), cli_bytes(plan.b_bytes), cli_bytes(plan.workspace_bytes),
               cli_bytes(plan.witness_bytes));
    if (!cli.json && plan.resident_bytes > 0)
        printf("  resident   %s: the key on the card, from its first proof on\n",
               cli_bytes(plan.resident_bytes));
    if (!cli.json)
        printf("  predicted  %.1f ms a proof alone, one every %.1f ms when several are under way; before the "
               "first one %.0f "
               "ms for the device and %.0f ms for the key\n",
               predicted.proof_ms, predicted.steady_ms, predicted.open_ms, predicted.key_ms);
    goto out;
failed:
    exit_code = cli_fail(&error);
out:
    cli_key_close(&k);
    return exit_code;
}
