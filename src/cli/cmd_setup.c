/* cuzk setup --dev: a development key from a circuit. */
#include "cli/cli.h"
#include "cuzk/cuzk_setup.h"
#include "base/clock.h"
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Makes a proving key for the circuit in R1CS, alone and at once, with fresh secrets that are wiped afterwards.  INSECURE by\n"
    "design: whoever ran this could have kept the secrets and can then forge proofs.  For development, tests and benchmarks\n"
    "only; a key that anybody else has to trust comes from a ceremony.  --dev says that you know.";

int cmd_setup(int argc, char **argv)
{
    const char *r1cs_path = NULL, *key_path = NULL, *layout = "zkey", *vk_path = NULL, *trapdoor_path = NULL;
    bool dev = false;
    const struct option_row options[] = {
        { "--dev", OPTION_FLAG, &dev, 0, 0, NULL, "required: this key is for development only" },
        { "--layout", OPTION_TEXT, &layout, 0, 0, "L", "zkey (default) or bellman (.params, BLS12-381)" },
        { "--vkey", OPTION_TEXT, &vk_path, 0, 0, "FILE", "also write the verification key" },
        { "--trapdoor", OPTION_TEXT, &trapdoor_path, 0, 0, "FILE", "also write the secrets themselves (mode 0600): for tests" },
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = {
        { "R1CS", &r1cs_path, false, "the circuit: .r1cs" },
        { "KEY", &key_path, false, "where the key goes" },
    };
    if (args_want_help(argc, argv)) {
        args_print_help("setup", help, options, ARRAY_COUNT(options), operands, ARRAY_COUNT(operands));
        return 0;
    }
    struct task t;
    task_init(&t);
    if (args_parse(&t, argc, argv, options, ARRAY_COUNT(options), operands, ARRAY_COUNT(operands)) != CUZK_OK) return cli_fail_task(&t);
    cuzk_setup_options setup = CUZK_SETUP_OPTIONS_INIT;
    if (!strcmp(layout, "bellman")) {
        setup.layout = CUZK_LAYOUT_BELLMAN;
    } else if (strcmp(layout, "zkey")) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "--layout takes zkey or bellman, not '%s'", layout);
        return cli_fail_task(&t);
    }
    if (!dev) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "cuzk makes development keys only, and wants to hear it: add --dev");
        task_fail_place(&t, NULL, ERROR_NO_OFFSET, NULL, "for a key that others trust, run a ceremony (snarkjs powersoftau, groth16 setup, zkey contribute)");
        return cli_fail_task(&t);
    }
    setup.vk_path = vk_path;
    setup.trapdoor_path = trapdoor_path;

    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;
    cuzk_watch watch = cli_watch();
    int exit_code = 0;
    if (!cli_context(&context, &exit_code)) return exit_code;
    const uint64_t start = clock_now_ns();
    if (cuzk_setup_dev(context, r1cs_path, key_path, &setup, &watch, &error) != CUZK_OK) {
        exit_code = cli_fail(&error);
    } else {
        /* said even with --quiet: a development key must not pass for a real one */
        fprintf(stderr, "cuzk: warning: %s is an INSECURE DEVELOPMENT KEY: whoever made it can forge proofs%s%s\n", key_path,
                trapdoor_path ? "; its secrets are in " : "", trapdoor_path ? trapdoor_path : "");
        if (cli.json)
            cli_print_json(json_pack("{s:s, s:s, s:s, s:b, s:f}", "status", "OK", "key", key_path, "layout", layout, "insecure", 1, "setup_ms",
                                     clock_ms_since(start)));
        else if (!cli.quiet)
            printf("%s made in %.1f s\n", key_path, clock_ms_since(start) * 1e-3);
    }
    cuzk_context_destroy(context);
    return exit_code;
}
