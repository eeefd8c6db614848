/* cuzk vkey: the verification key of a proving key. */
#include "cli/cli.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "Writes the verification key of KEY: snarkjs's verification_key.json, or with "
                           "--format bellman a .vk file.";

int cmd_vkey(int argc, char **argv)
{
    const char *key_path = NULL, *out_path = "verification_key.json", *format = "json", *r1cs_path = NULL;
    char beside[PATH_MAX];
    const struct option_row options[] = {
        { "--format", OPTION_TEXT, &format, 0, 0, "F", "json (default) or bellman (BLS12-381)" },
        { "--r1cs", OPTION_TEXT, &r1cs_path, 0, 0, "FILE",
          "with .params: also compare with the circuit's constraints" },
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = {
        { "KEY", &key_path, false, "proving key: .zkey or .params" },
        { "VKEY", &out_path, true,
          "where the key goes (default verification_key.json; - is standard output)" },
    };
    struct task t;
    const int over = cli_begin(&t, argc, argv, "vkey", help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;
    if (strcmp(format, "json") && strcmp(format, "bellman")) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "--format takes json or bellman, not '%s'", format);
        return cli_fail_task(&t);
    }
    const char *const outputs[] = { out_path }, *const inputs[] = { key_path, r1cs_path, cli_derived_beside(beside, key_path) };
    if (cli_files_apart(&t, outputs, ARRAY_COUNT(outputs), inputs, ARRAY_COUNT(inputs)) != CUZK_OK)
        return cli_fail_task(&t);

    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;
    cuzk_key *key = NULL;
    cuzk_vk *vk = NULL;
    cuzk_key_options key_options = CUZK_KEY_OPTIONS_INIT;
    int exit_code = 0;
    key_options.r1cs_path = r1cs_path;
    if (!cli_context(&context, &exit_code)) return exit_code;
    if (cuzk_key_open(&key, context, key_path, &key_options, &error) != CUZK_OK ||
        cuzk_vk_from_key(&vk, key, &error) != CUZK_OK ||
        cuzk_vk_save(vk, out_path, strcmp(format, "json") ? CUZK_BELLMAN : CUZK_JSON, &error) != CUZK_OK)
        exit_code = cli_fail(&error);
    else if (cli.json && !cli_is_stdout(out_path))
        cli_print_json(json_pack("{s:s, s:o, s:s, s:I}", "status", "OK", "vkey", cli_json_text(out_path),
                                 "curve", cuzk_vk_curve(vk), "publics", (json_int_t)cuzk_vk_publics(vk)));
    cuzk_vk_close(vk);
    cuzk_key_close(key);
    cuzk_context_destroy(context);
    return exit_code;
}
