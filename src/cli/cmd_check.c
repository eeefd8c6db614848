/* cuzk check: is every point of this key sound? */
#include "cli/cli.h"
#include "base/clock.h"
#include <stdio.h>

static const char help[] =
    "Checks everything about a proving key that can be checked without its secrets: every point is on its "
    "curve and in the\n"
    "subgroup, the copies of beta, delta and B in G1 and G2 agree, and, with --vkey, the key belongs to that "
    "verification key.\n"
    "A success is remembered by the file's digest and identity, so that prove stops warning.\n"
    "\n"
    "What no check can tell is whether somebody knows the key's trapdoor: only its ceremony's transcript "
    "can.";

int cmd_check(int argc, char **argv)
{
    const char *key_path = NULL, *vk_path = NULL, *r1cs_path = NULL;
    bool forget = false;
    const struct option_row options[] = {
        { "--vkey", OPTION_TEXT, &vk_path, 0, 0, "FILE",
          "a verification key that the key has to agree with" },
        { "--r1cs", OPTION_TEXT, &r1cs_path, 0, 0, "FILE",
          "with .params: also compare with the circuit's constraints" },
        { "--no-remember", OPTION_FLAG, &forget, 0, 0, NULL, "do not note the result" },
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = { { "KEY", &key_path, false, "proving key: .zkey or .params" } };
    struct task t;
    const int over = cli_begin(&t, argc, argv, "check", help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;

    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;
    cuzk_key *key = NULL;
    cuzk_vk *vk = NULL;
    cuzk_key_options key_options = CUZK_KEY_OPTIONS_INIT;
    cuzk_check_options check_options = CUZK_CHECK_OPTIONS_INIT;
    cuzk_key_info info = CUZK_KEY_INFO_INIT;
    cuzk_watch watch = cli_watch();
    int exit_code = 0;
    uint64_t start, points;
    key_options.r1cs_path = r1cs_path;
    check_options.remember = !forget;

    if (!cli_context(&context, &exit_code)) return exit_code;
    if (cuzk_key_open(&key, context, key_path, &key_options, &error) != CUZK_OK) goto failed;
    if (vk_path && cuzk_vk_open(&vk, vk_path, &error) != CUZK_OK) goto failed;
    check_options.vk = vk;
    start = clock_now_ns();
    if (cuzk_key_check(context, key, &check_options, &watch, &error) != CUZK_OK) goto failed;
    cuzk_key_describe(key, &info);
    points = info.points_a + 2 * info.points_b + info.points_l + info.points_h + info.points_ic;
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f}", "status", "OK", "key",
                                 cli_json_text(key_path), "layout", info.layout, "curve", info.curve,
                                 "points_a", (json_int_t)info.points_a, "points_b", (json_int_t)info.points_b,
                                 "points_l", (json_int_t)info.points_l, "points_h", (json_int_t)info.points_h,
                                 "points_ic", (json_int_t)info.points_ic, "check_ms", clock_ms_since(start)));
    else if (!cli.quiet)
        printf("%s: sound.  %llu points of %s checked in %.0f ms (a %llu, b %llu twice, l %llu, h %llu, ic "
               "%llu)\n",
               key_path, (unsigned long long)points, info.curve, clock_ms_since(start),
               (unsigned long long)info.points_a, (unsigned long long)info.points_b,
               (unsigned long long)info.points_l, (unsigned long long)info.points_h,
               (unsigned long long)info.points_ic);
    goto out;
failed:
    exit_code = cli_fail(&error);
out:
    cuzk_vk_close(vk);
    cuzk_key_close(key);
    cuzk_context_destroy(context);
    return exit_code;
}
