/* cuzk inspect: what is this file? */
#include "cli/cli.h"
#include <stdio.h>

static const char help[] =
    "Tells what FILE is: its kind, curve, protocol and counts, from its contents alone (names do not "
    "matter).  Knows .zkey,\n"
    ".wtns, .r1cs, .ptau, .params, .vk, snarkjs's JSON files, proofs of 192 bytes and trapdoors.";

int cmd_inspect(int argc, char **argv)
{
    const char *path = NULL;
    const struct option_row options[] = { CLI_COMMON_OPTIONS };
    const struct operand_row operands[] = { { "FILE", &path, false, "any file" } };
    struct task t;
    const int over = cli_begin(&t, argc, argv, "inspect", help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;

    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_file_info info;
    info.size = sizeof info;
    if (cuzk_inspect(&info, path, &error) != CUZK_OK) return cli_fail(&error);
    if (cli.json) {
        json_t *o = json_pack("{s:s, s:o, s:s, s:I}", "status", "OK", "path", cli_json_text(path), "kind",
                              info.kind_name, "bytes", (json_int_t)info.bytes);
        if (info.curve[0]) json_object_set_new(o, "curve", json_string(info.curve));
        if (info.protocol[0]) json_object_set_new(o, "protocol", json_string(info.protocol));
        json_t *counts = json_object();
        for (unsigned i = 0; i < info.count_count; i++)
            json_object_set_new(counts, info.counts[i].name, json_integer((json_int_t)info.counts[i].value));
        json_object_set_new(o, "counts", counts);
        cli_print_json(o);
        return 0;
    }
    printf("%s\n  %-14s %s (%llu bytes)\n", info.kind_name, "size", cli_bytes(info.bytes),
           (unsigned long long)info.bytes);
    if (info.protocol[0]) printf("  %-14s %s\n", "protocol", info.protocol);
    if (info.curve[0]) printf("  %-14s %s\n", "curve", info.curve);
    for (unsigned i = 0; i < info.count_count; i++)
        printf("  %-14s %llu\n", info.counts[i].name, (unsigned long long)info.counts[i].value);
    return 0;
}
