/* Which device works: --backend and --device, or a choice by what the proofs will take. */
#include "cli/cli.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MOST = 16 };

static bool is_auto(void) { return cli.device_text != NULL && strcmp(cli.device_text, "auto") == 0; }

const char *cli_backend(void)
{
    if (cli.backend != NULL) return cli.backend;
    return cli.device != CLI_NO_DEVICE ? "cuda" : "cpu";
}

bool cli_device_is_named(void) { return cli.backend != NULL || (cli.device_text != NULL && !is_auto()); }

bool cli_on_card(void) { return strcmp(cli_backend(), "cuda") == 0; }

static cuzk_status read_number(struct task *t)
{
    char *end;

    errno = 0;
    const unsigned long long n = strtoull(cli.device_text, &end, 10);
    if (errno != 0 || cli.device_text[0] < '0' || cli.device_text[0] > '9' || *end != '\0' || n > 1023)
        return FAIL(t, CUZK_INVALID_ARGUMENT,
                    "--device takes auto, cpu, or a whole number from 0 to 1023, not '%s'", cli.device_text);
    cli.device = n;
    return CUZK_OK;
}

cuzk_status cli_read_device(struct task *t)
{
    if (cli.device_text != NULL && strcmp(cli.device_text, "cpu") == 0) {
        if (cli.backend != NULL && strcmp(cli.backend, "cpu") != 0)
            return FAIL(t, CUZK_INVALID_ARGUMENT, "--device cpu and --backend %s are two devices",
                        cli.backend);
        cli.backend = "cpu";
    } else if (cli.device_text != NULL && !is_auto()) {
        TRY(read_number(t));
    }
    if (is_auto() && cli.backend != NULL) {
        FAIL(t, CUZK_INVALID_ARGUMENT, "--device auto chooses between devices, and --backend %s has chosen", cli.backend);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, "--device", "leave one of them out");
        return CUZK_INVALID_ARGUMENT;
    }
    if (cli.device_mib != 0 && !cli_on_card() && !is_auto())
        return FAIL(t, CUZK_INVALID_ARGUMENT,
                    "--device-memory is for a card: name one with --device, or say --backend cuda");
    return CUZK_OK;
}

/* -- a choice ------------------------------------------------------------------------------------------------------------ */

/* All that so many proofs take on a device, from the start of the program on. */
static double total_ms(const cuzk_prediction *p, size_t proofs, unsigned lanes)
{
    const double each = lanes > 1 ? p->steady_ms : p->proof_ms;

    return p->open_ms + p->key_ms + p->proof_ms + (double)(proofs - 1) * each;
}

static bool find_device(cuzk_device_info *out, const char *backend, size_t index)
{
    cuzk_device_info found[DEVICES_MOST] = { CUZK_DEVICE_INFO_INIT };
    cuzk_error error = CUZK_ERROR_INIT;
    size_t count = 0;

    if (cuzk_backend_targets(backend) == NULL ||
        cuzk_devices(found, DEVICES_MOST, &count, backend, &error) != CUZK_OK || index >= count ||
        index >= DEVICES_MOST)
        return false;
    *out = found[index];
    if (strcmp(backend, "cpu") == 0 && cli.threads != 0) out->threads = (unsigned)cli.threads;
    return true;
}

void cli_predict(cuzk_prediction *out, const cuzk_key *key)
{
    const cuzk_prediction none = CUZK_PREDICTION_INIT;
    cuzk_device_info device = CUZK_DEVICE_INFO_INIT;
    cuzk_error error = CUZK_ERROR_INIT;

    *out = none;
    if (find_device(&device, cli_backend(), cli.device != CLI_NO_DEVICE ? cli.device : 0) &&
        cuzk_key_predict(out, key, &device, &error) != CUZK_OK)
        *out = none;
}

bool cli_may_choose_device(void)
{
    cuzk_device_info card = CUZK_DEVICE_INFO_INIT;

    if (cli_device_is_named()) return false;
    cli.device_chosen = true;
    if (find_device(&card, "cuda", 0)) return true;
    if (is_auto() && !cli.quiet)
        fprintf(stderr, "cuzk: device cpu: no card that this program can use ('cuzk devices' tells)\n");
    return false;
}

void cli_choose_device(const cuzk_key *key, size_t proofs, unsigned lanes)
{
    cuzk_prediction on_cpu = CUZK_PREDICTION_INIT, on_card = CUZK_PREDICTION_INIT;
    cuzk_device_info cpu = CUZK_DEVICE_INFO_INIT, card = CUZK_DEVICE_INFO_INIT;
    cuzk_error error = CUZK_ERROR_INIT;

    if (!find_device(&cpu, "cpu", 0) || !find_device(&card, "cuda", 0)) return;
    if (cuzk_key_predict(&on_cpu, key, &cpu, &error) != CUZK_OK ||
        cuzk_key_predict(&on_card, key, &card, &error) != CUZK_OK)
        return;
    const double cpu_ms = total_ms(&on_cpu, proofs, lanes), card_ms = total_ms(&on_card, proofs, lanes);
    if (card_ms < cpu_ms) cli.device = 0;
    if (cli.quiet) return;
    fprintf(stderr,
            "cuzk: device %s: %zu proof%s predicted in %.0f ms on card 0 (%s; %.0f of them to open it and "
            "load the key) "
            "and %.0f ms on the CPU (%u threads); --device names another\n",
            card_ms < cpu_ms ? "0" : "cpu", proofs, proofs == 1 ? "" : "s", card_ms, card.name,
            on_card.open_ms + on_card.key_ms, cpu_ms, cpu.threads);
}

bool cli_card_takes(cuzk_context **out, const cuzk_key *key)
{
    cuzk_plan plan = CUZK_PLAN_INIT;
    cuzk_error error = CUZK_ERROR_INIT;

    if (cli_context_try(out, &error) == CUZK_OK && cuzk_key_plan(&plan, *out, key, &error) == CUZK_OK)
        return true;
    cuzk_context_destroy(*out);
    *out = NULL;
    cli.device = CLI_NO_DEVICE;
    if (!cli.quiet) fprintf(stderr, "cuzk: device cpu: card 0 does not take it: %s\n", error.text);
    return false;
}

bool cli_key_open(struct cli_key *out, const char *path, const cuzk_key_options *options, size_t proofs,
                  unsigned lanes, int *exit_code)
{
    cuzk_error error = CUZK_ERROR_INIT;

    if (cli_may_choose_device()) {
        if (!cli_context_on_cpu(&out->on_cpu, exit_code)) return false;
        if (cuzk_key_open(&out->key, out->on_cpu, path, options, &error) != CUZK_OK) goto failed;
        cli_choose_device(out->key, proofs, lanes);
        return (cli_on_card() && cli_card_takes(&out->context, out->key)) || cli_context(&out->context, exit_code);
    }
    if (!cli_context(&out->context, exit_code)) return false;
    if (cuzk_key_open(&out->key, out->context, path, options, &error) == CUZK_OK) return true;
failed:
    *exit_code = cli_fail(&error);
    return false;
}

cuzk_status cli_check_encoding(struct task *t, const cuzk_key *key, cuzk_encoding encoding)
{
    cuzk_key_info info = CUZK_KEY_INFO_INIT;

    cuzk_key_describe(key, &info);
    if (encoding != CUZK_COMPRESSED || strcmp(info.curve, "bls12_381") == 0) return CUZK_OK;
    FAIL(t, CUZK_UNSUPPORTED, "proofs over %s have no compressed form", info.curve);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "--format", "say --format raw, or json");
    return CUZK_UNSUPPORTED;
}

void cli_warn_of_key(const cuzk_key *key, const char *path)
{
    cuzk_key_info info = CUZK_KEY_INFO_INIT;

    cuzk_key_describe(key, &info);
    if (!info.checked)
        cli_warn("the points of %s have not been checked; run 'cuzk check %s' once (it is remembered)", path,
                 path);
    if (info.derived_refused != NULL)
        cli_warn("the derived key beside %s is not used: %s", path, info.derived_refused);
}

bool cli_error_of_derived(const cuzk_error *why)
{
    static const char end[] = ".derived";
    const size_t n = strlen(why->path), k = sizeof end - 1;

    if (why->status != CUZK_KEY_INVALID) return false;
    if (n == sizeof why->path - 1 /* cut short */ || (n > k && strcmp(why->path + n - k, end) == 0)) return true;
    return strstr(why->text, end) != NULL; /* a batch's place is its line's witness */
}

bool cli_derived_is_lost(cuzk_context *context, const char *path, const cuzk_key_options *options,
                         const cuzk_error *why)
{
    cuzk_key_info info = CUZK_KEY_INFO_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_key *key = NULL;

    if (options->mode != CUZK_KEY_AUTO || !cli_error_of_derived(why)) return false;
    if (cuzk_key_open(&key, context, path, options, &error) != CUZK_OK) return false;
    cuzk_key_describe(key, &info);
    const bool lost = info.derived_refused != NULL;
    cuzk_key_close(key);
    if (lost) cli_warn("%s; what failed on it is proved again with the key itself", why->text);
    return lost;
}

void cli_key_close(struct cli_key *k)
{
    cuzk_key_close(k->key);
    cuzk_context_destroy(k->context);
    cuzk_context_destroy(k->on_cpu);
}

void cli_print_timing(const cuzk_proof *proof)
{
    char line[CUZK_TIMING_LINE_BYTES];

    fprintf(stderr, "CUZK_TIMING: %s\n", cuzk_proof_timing_line(proof, line, sizeof line));
}
