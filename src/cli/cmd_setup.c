/* cuzk setup --dev: a development key from a circuit. */
#include "cli/cli.h"
#include "base/clock.h"
#include "base/mapfile.h"
#include "cuzk/cuzk_filecoin.h"
#include "cuzk/cuzk_setup.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "Makes a proving key for the circuit in R1CS, alone and at once, with fresh secrets that are wiped "
    "afterwards.  INSECURE by\n"
    "design: whoever ran this could have kept the secrets and can then forge proofs.  For development, tests "
    "and benchmarks\n"
    "only; a key that anybody else has to trust comes from a ceremony.  --dev says that you know.\n"
    "\n"
    "Instead of R1CS the name of a built-in circuit (porep-2k, porep-8m, ...) makes Filecoin parameters: KEY "
    "is then a folder of their\n"
    "own, into which a .params and a .vk go under their real names.  porep-2k takes 1.1 GB of disk, porep-8m "
    "1.4 GB,\n"
    "porep-32g 47.4 GB and 17 GB of memory.  With --backend cuda the points are made on the card.";

struct setup_request {
    const char *circuit, *key, *trapdoor;
    bool derived;
    cuzk_setup_options options;
};

static bool is_built_in(const char *circuit)
{
    return strncmp(circuit, "porep-", 6) == 0 && cuzk_sector_bytes(circuit) != 0;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static cuzk_status make(cuzk_context *context, const struct setup_request *r, cuzk_error *error)
{
    const cuzk_watch watch = cli_watch();

    if (is_built_in(r->circuit))
        return cuzk_porep_setup_dev(context, cuzk_sector_bytes(r->circuit), r->key, r->trapdoor, r->derived,
                                    &watch, error);
    return cuzk_setup_dev(context, r->circuit, r->key, &r->options, &watch, error);
}

int cmd_setup(int argc, char **argv)
{
    const char *r1cs_path = NULL, *key_path = NULL, *layout = NULL, *vk_path = NULL, *trapdoor_path = NULL;
    char derived_path[PATH_MAX];
    bool dev = false, derived = false;
    const struct option_row options[] = {
        { "--dev", OPTION_FLAG, &dev, 0, 0, NULL, "required: this key is for development only" },
        { "--layout", OPTION_TEXT, &layout, 0, 0, "L", "zkey (default) or bellman (.params, BLS12-381)" },
        { "--vkey", OPTION_TEXT, &vk_path, 0, 0, "FILE", "also write the verification key" },
        { "--trapdoor", OPTION_TEXT, &trapdoor_path, 0, 0, "FILE",
          "also write the secrets themselves (mode 0600): for tests" },
        { "--derived", OPTION_FLAG, &derived, 0, 0, NULL,
          "also write the derived form, KEY.derived: proofs take fewer transforms" },
        CLI_DEVICE_OPTIONS,
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = {
        { "R1CS", &r1cs_path, false,
          "the circuit: .r1cs, or porep-2k, porep-8m, porep-512m, porep-32g, porep-64g" },
        { "KEY", &key_path, false, "where the key goes; for a built-in circuit a folder" },
    };
    struct task t;
    const int over = cli_begin(&t, argc, argv, "setup", help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;
    const bool built_in = is_built_in(r1cs_path);
    if (built_in && (vk_path != NULL || (layout != NULL && strcmp(layout, "bellman")))) {
        FAIL(&t, CUZK_INVALID_ARGUMENT,
             "%s goes with an R1CS file: %s always makes a .params and a .vk in its folder",
             vk_path != NULL ? "--vkey" : "--layout zkey", r1cs_path);
        return cli_fail_task(&t);
    }
    if (layout == NULL) layout = built_in ? "bellman" : "zkey";
    cuzk_setup_options setup = CUZK_SETUP_OPTIONS_INIT;
    if (!strcmp(layout, "bellman")) {
        setup.layout = CUZK_LAYOUT_BELLMAN;
    } else if (strcmp(layout, "zkey")) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "--layout takes zkey or bellman, not '%s'", layout);
        return cli_fail_task(&t);
    }
    if (!dev) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "cuzk makes development keys only, and wants to hear it: add --dev");
        task_fail_place(&t, NULL, ERROR_NO_OFFSET, NULL,
                        "for a key that others trust, run a ceremony (snarkjs powersoftau, groth16 setup, "
                        "zkey contribute)");
        return cli_fail_task(&t);
    }
    setup.vk_path = vk_path;
    setup.trapdoor_path = trapdoor_path;
    if (derived && !built_in) {
        snprintf(derived_path, sizeof derived_path, "%s.derived", key_path);
        setup.derived_path = derived_path;
    }
    const char *const outputs[] = { key_path, vk_path, trapdoor_path, setup.derived_path },
                      *const inputs[] = { r1cs_path };
    if (cli_files_apart(&t, outputs, ARRAY_COUNT(outputs), inputs, ARRAY_COUNT(inputs)) != CUZK_OK)
        return cli_fail_task(&t);
    for (size_t i = built_in; i < ARRAY_COUNT(outputs); i++) /* before the work; what is wrong with a folder is said with it */
        if (outputs[i] != NULL && !is_folder(outputs[i]) && mapfile_check_writable(&t, outputs[i]) != CUZK_OK)
            return cli_fail_task(&t);

    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;
    const struct setup_request request = { r1cs_path, key_path, trapdoor_path, derived, setup };
    int exit_code = 0;
    if (!cli_context(&context, &exit_code)) return exit_code;
    const uint64_t start = clock_now_ns();
    if (make(context, &request, &error) != CUZK_OK) {
        exit_code = cli_fail(&error);
    } else {
        /* said even with --quiet: a development key must not pass for a real one */
        fprintf(stderr,
                "cuzk: warning: %s is an INSECURE DEVELOPMENT KEY: whoever made it can forge proofs%s%s\n",
                key_path, trapdoor_path ? "; its secrets are in " : "", trapdoor_path ? trapdoor_path : "");
        if (cli.json)
            cli_print_json(json_pack("{s:s, s:o, s:s, s:b, s:f}", "status", "OK", "key",
                                     cli_json_text(key_path), "layout", layout, "insecure", 1, "setup_ms",
                                     clock_ms_since(start)));
        else if (!cli.quiet)
            printf("%s made in %.1f s\n", key_path, clock_ms_since(start) * 1e-3);
    }
    cuzk_context_destroy(context);
    return exit_code;
}
