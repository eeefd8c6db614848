/* cuzk verify: is this proof valid? */
#include "cli/cli.h"
#include "base/clock.h"
#include <stdio.h>

static const char help[] =
    "Checks PROOF against VKEY for the public inputs in PUBLIC.  Exit code 0: valid; 1: not valid; anything "
    "else: a file could\n"
    "not be used.  A public input that is not below the field's modulus makes a proof invalid, as on chain.\n"
    "\n"
    "VKEY is snarkjs's verification_key.json or a bellman .vk file; PROOF is what prove writes in any "
    "--format.";

int cmd_verify(int argc, char **argv)
{
    const char *vk_path = "verification_key.json", *public_path = "public.json", *proof_path = "proof.json";
    const struct option_row options[] = { CLI_COMMON_OPTIONS };
    const struct operand_row operands[] = {
        { "VKEY", &vk_path, false, "verification key: .json or .vk" },
        { "PUBLIC", &public_path, false, "public inputs: public.json" },
        { "PROOF", &proof_path, false, "the proof" },
    };
    struct task t;
    const int over = cli_begin(&t, argc, argv, "verify", help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;

    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_vk *vk = NULL;
    cuzk_publics *publics = NULL;
    cuzk_proof *proof = NULL;
    int exit_code = 0;
    uint64_t start;
    if (cuzk_vk_open(&vk, vk_path, &error) != CUZK_OK) goto failed;
    if (cuzk_publics_open(&publics, public_path, &error) != CUZK_OK) goto failed;
    if (cuzk_proof_open(&proof, proof_path, &error) != CUZK_OK) goto failed;
    start = clock_now_ns();
    if (cuzk_verify(vk, publics, proof, &error) != CUZK_OK) goto failed;
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:b, s:s, s:I, s:f}", "status", "OK", "valid", 1, "curve",
                                 cuzk_vk_curve(vk), "publics", (json_int_t)cuzk_vk_publics(vk), "verify_ms",
                                 clock_ms_since(start)));
    else if (!cli.quiet)
        printf("valid: %s is a proof for %s under %s\n", proof_path, public_path, vk_path);
    goto out;
failed:
    exit_code = cli_fail(&error);
out:
    cuzk_proof_close(proof);
    cuzk_publics_close(publics);
    cuzk_vk_close(vk);
    return exit_code;
}
