/* cuzk circuit info | check: the built-in circuits, counted and hashed. */
#include "cli/cli.h"
#include "base/clock.h"
#include "cuzk/cuzk_filecoin.h"
#include <stdio.h>

static const char info_help[] = "Counts a built-in circuit row by row: variables, rows, non-zeros, how many "
                                "variables the key's queries hold.";
static const char check_help[] =
    "Expands a built-in circuit row by row and hashes every row, index and coefficient.  Where the digest of "
    "the original's own rows is\n"
    "known (2 KiB and 32 GiB) it is compared.  The 32 GiB circuit has 130 million rows: some minutes.";

static void print_json(const cuzk_circuit_info *c, const char *digest, double ms)
{
    json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:f}",
                          "status", "OK", "circuit", c->name, "inputs", (json_int_t)c->inputs, "aux",
                          (json_int_t)c->aux, "rows", (json_int_t)c->rows, "entries_a",
                          (json_int_t)c->entries_a, "entries_b", (json_int_t)c->entries_b, "entries_c",
                          (json_int_t)c->entries_c, "dense_a", (json_int_t)c->dense_a, "dense_b",
                          (json_int_t)c->dense_b, "dense_b_inputs", (json_int_t)c->dense_b_inputs, "domain",
                          (json_int_t)c->domain_size, "image_bytes", (json_int_t)c->image_bytes, "templates",
                          (json_int_t)c->templates, "reference", c->has_reference, "ms", ms);
    if (c->has_digest) json_object_set_new(o, "digest", json_string(digest));
    cli_print_json(o);
}

static void print_text(const cuzk_circuit_info *c, const char *digest, double ms)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        { "inputs", c->inputs },
        { "aux", c->aux },
        { "rows", c->rows },
        { "domain", c->domain_size },
        { "non-zeros A", c->entries_a },
        { "non-zeros B", c->entries_b },
        { "non-zeros C", c->entries_c },
        { "aux in A", c->dense_a },
        { "aux in B", c->dense_b },
        { "inputs in B", c->dense_b_inputs },
        { "templates", c->templates },
    };

    printf("%s\n", c->name);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        printf("  %-14s %llu\n", rows[i].name, (unsigned long long)rows[i].value);
    printf("  %-14s %s (%llu bytes)\n", "image", cli_bytes(c->image_bytes),
           (unsigned long long)c->image_bytes);
    if (c->has_digest) printf("  %-14s %s\n", "digest", digest);
    printf("  %-14s %s\n", "reference",
           c->has_reference ? c->has_digest ? "counts and digest agree" : "counts agree" : "none known");
    printf("  (%.1f s)\n", ms * 1e-3);
}

static int run(const char *command, const char *help, bool digest, int argc, char **argv)
{
    const char *name = NULL;
    const struct option_row options[] = { CLI_COMMON_OPTIONS };
    const struct operand_row operands[] = { { "CIRCUIT", &name, false,
                                              "porep-2k, porep-8m, porep-512m, porep-32g, porep-64g" } };
    cuzk_circuit_info info = CUZK_CIRCUIT_INFO_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;
    char hex[65] = "";
    int exit_code = 0;
    struct task t;

    const int over = cli_begin(&t, argc, argv, command, help, options, ARRAY_COUNT(options), operands,
                               ARRAY_COUNT(operands));
    if (over >= 0) return over;
    const cuzk_watch watch = cli_watch();
    if (!cli_context(&context, &exit_code)) return exit_code;
    const uint64_t start = clock_now_ns();
    if (cuzk_circuit_describe(&info, context, name, digest, &watch, &error) != CUZK_OK) {
        exit_code = cli_fail(&error);
    } else {
        for (int i = 0; i < 32 && info.has_digest; i++) snprintf(hex + 2 * i, 3, "%02x", info.digest[i]);
        if (cli.json)
            print_json(&info, hex, clock_ms_since(start));
        else
            print_text(&info, hex, clock_ms_since(start));
    }
    cuzk_context_destroy(context);
    return exit_code;
}

static int circuit_info(int argc, char **argv) { return run("circuit info", info_help, false, argc, argv); }
static int circuit_check(int argc, char **argv) { return run("circuit check", check_help, true, argc, argv); }

static const struct command commands[] = {
    { "info", "count rows, variables and non-zeros", circuit_info },
    { "check", "hash every row, and compare with the original's", circuit_check },
};

int cmd_circuit(int argc, char **argv)
{
    return cli_subcommand("circuit", "The circuits that cuzk brings along.", commands, ARRAY_COUNT(commands),
                          argc, argv);
}
