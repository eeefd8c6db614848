/* cuzk key: the derived form of a proving key. */
#include "cli/cli.h"
#include "base/clock.h"
#include "base/mapfile.h"
#include "cuzk/cuzk_filecoin.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char derive_help[] = "Makes the derived form of KEY: H in Lagrange form on the coset, and the "
                                  "circuit's matrix C folded into L.  Proofs are the same "
                                  "bytes\n"
                                  "with four transforms instead of six.  It is a cache: made once, checked "
                                  "against KEY with fresh randomness, bound to it by its "
                                  "SHA-256,\n"
                                  "readable by its owner alone.  prove, porep prove and cuzkd take "
                                  "KEY.derived by themselves (--key-mode says otherwise).\n"
                                  "\n"
                                  "A long derivation leaves checkpoints in KEY.derived.work and goes on "
                                  "from the last one when it is called again, on a card or on "
                                  "the CPU.\n"
                                  "\n"
                                  "KEY is a .zkey or a .params with the circuit's .r1cs, or a built-in "
                                  "circuit (porep-2k, ...), whose parameters stand in DIR.";

struct opened {
    cuzk_key *key;
    cuzk_porep_key *porep;
    const char *path; /* of the key's file */
};

/* What the library tells meanwhile.  A stage that took long is told at once; the times of all stand in the result. */
#define TOLD_MS 1000.0

static void told_note(void *context, const char *text)
{
    (void)context;
    if (!cli.quiet) fprintf(stderr, "%scuzk: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", text);
}

static void told_stage(void *context, const char *stage, double ms)
{
    json_t *const stages = context, *const before = json_object_get(stages, stage);
    char text[128];

    json_object_set_new(stages, stage, json_real(ms + (before != NULL ? json_real_value(before) : 0)));
    if (ms < TOLD_MS) return;
    snprintf(text, sizeof text, "%s: %.1f s", stage, ms * 1e-3);
    told_note(NULL, text);
}

static void print_stages(json_t *stages)
{
    const char *stage, *before = "  ";
    json_t *ms;

    json_object_foreach(stages, stage, ms)
    {
        printf("%s%s %.1f s", before, stage, json_real_value(ms) * 1e-3);
        before = ", ";
    }
    putchar('\n');
}

static bool is_built_in(const char *key)
{
    return strncmp(key, "porep-", 6) == 0 && cuzk_sector_bytes(key) != 0;
}

static cuzk_status open_key(struct opened *o, cuzk_context *context, const char *key, const char *r1cs,
                            const char *folder, const cuzk_watch *watch, cuzk_error *error)
{
    cuzk_porep_key_options porep = CUZK_POREP_KEY_OPTIONS_INIT;
    cuzk_porep_key_info info = CUZK_POREP_KEY_INFO_INIT;
    cuzk_key_options plain = CUZK_KEY_OPTIONS_INIT;

    o->path = key;
    plain.mode = porep.mode = CUZK_KEY_ORIGINAL;
    plain.r1cs_path = r1cs;
    porep.folder = folder;
    if (!is_built_in(key)) return cuzk_key_open(&o->key, context, key, &plain, error);
    const cuzk_status status =
        cuzk_porep_key_open(&o->porep, context, cuzk_sector_bytes(key), &porep, watch, error);
    if (status != CUZK_OK) return status;
    cuzk_porep_key_describe(o->porep, &info);
    o->path = info.params_path;
    return CUZK_OK;
}

static cuzk_status check_output(struct task *t, const char *out_path, const char *key_path, const char *r1cs_path)
{
    const char *const outputs[] = { out_path }, *const inputs[] = { key_path, r1cs_path };

    TRY(cli_files_apart(t, outputs, ARRAY_COUNT(outputs), inputs, ARRAY_COUNT(inputs)));
    return out_path != NULL ? mapfile_check_writable(t, out_path) : CUZK_OK; /* before the work */
}

static int key_derive(int argc, char **argv)
{
    const char *key_path = NULL, *r1cs_path = NULL, *folder = NULL, *out_path = NULL;
    cuzk_derive_options how = CUZK_DERIVE_OPTIONS_INIT;
    uint64_t seconds = (uint64_t)how.checkpoint_seconds;
    bool none = false;
    const struct option_row options[] = {
        { "--r1cs", OPTION_TEXT, &r1cs_path, 0, 0, "FILE",
          "the circuit's constraints: a key does not hold its matrix C" },
        { "--params", OPTION_TEXT, &folder, 0, 0, "DIR",
          "of a built-in circuit's parameters (default $FIL_PROOFS_PARAMETER_CACHE, else "
          "/var/tmp/filecoin-proof-parameters)" },
        { "--out", OPTION_TEXT, &out_path, 0, 0, "FILE",
          "where it goes (default KEY.derived, where it is found)" },
        { "--checkpoint", OPTION_COUNT, &seconds, 0, 1000000, "S",
          "seconds of work that are worth one (default 60; 0: after every pass)" },
        { "--no-checkpoints", OPTION_FLAG, &none, 0, 0, NULL, "leave none, and go on from none" },
        CLI_DEVICE_OPTIONS,
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = { { "KEY", &key_path, false,
                                              "proving key: .zkey, .params, or porep-2k, ..." } };
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;
    struct opened opened = { NULL, NULL, NULL };
    char beside[PATH_MAX];
    json_t *stages = NULL;
    int exit_code = 0;
    struct task t;

    const int over = cli_begin(&t, argc, argv, "key derive", derive_help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;
    static const char *const of_file[] = { "--r1cs", NULL }, *const of_built_in[] = { "--params", NULL },
                             *const of_checkpoints[] = { "--checkpoint", NULL };
    if ((is_built_in(key_path) ? args_refuse(&t, of_file, "with a built-in circuit", "name a key's file as KEY")
                               : args_refuse(&t, of_built_in, "with a key's file", "name a built-in circuit as KEY")) != CUZK_OK ||
        (none && args_refuse(&t, of_checkpoints, "with --no-checkpoints", "leave --no-checkpoints out") != CUZK_OK))
        return cli_fail_task(&t);
    if (!is_built_in(key_path) && out_path == NULL) out_path = cli_derived_beside(beside, key_path);
    if (check_output(&t, out_path, key_path, r1cs_path) != CUZK_OK) return cli_fail_task(&t);
    const cuzk_watch watch = cli_watch();
    if (!cli_context(&context, &exit_code)) return exit_code;
    if (open_key(&opened, context, key_path, r1cs_path, folder, &watch, &error) != CUZK_OK) goto failed;
    if (out_path == NULL) out_path = cli_derived_beside(beside, opened.path);
    if (check_output(&t, out_path, opened.path, r1cs_path) != CUZK_OK) {
        exit_code = cli_fail_task(&t);
        goto out;
    }
    how.checkpoint_seconds = none ? -1 : (int64_t)seconds;
    how.stage = told_stage;
    how.note = told_note;
    how.context = stages = json_object();
    if (stages == NULL) goto no_memory;
    const uint64_t start = clock_now_ns();
    const cuzk_status status =
        opened.porep != NULL ? cuzk_porep_key_derive(context, opened.porep, out_path, &how, &watch, &error)
                             : cuzk_key_derive(context, opened.key, out_path, &how, &watch, &error);
    if (status != CUZK_OK) goto failed;
    if (cli.json) {
        cli_print_json(json_pack("{s:s, s:o, s:o, s:f, s:O}", "status", "OK", "key",
                                 cli_json_text(opened.path), "derived", cli_json_text(out_path), "derive_ms",
                                 clock_ms_since(start), "stages_ms", stages));
    } else if (!cli.quiet) {
        printf("%s: made and checked in %.1f s\n", out_path, clock_ms_since(start) * 1e-3);
        print_stages(stages);
    }
    goto out;
no_memory:
    FAIL(&t, CUZK_NO_MEMORY, "no memory for a few numbers");
    exit_code = cli_fail_task(&t);
    goto out;
failed:
    exit_code = cli_fail(&error);
out:
    json_decref(stages);
    cuzk_key_close(opened.key);
    cuzk_porep_key_close(opened.porep);
    cuzk_context_destroy(context);
    return exit_code;
}

int cmd_key(int argc, char **argv)
{
    static const struct command commands[] = { { "derive", "make a key's derived form", key_derive } };

    return cli_subcommand("key", "Proving keys in another form.", commands, ARRAY_COUNT(commands), argc,
                          argv);
}
