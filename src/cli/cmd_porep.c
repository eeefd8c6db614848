/* cuzk porep prove | verify | publics | inspect: Filecoin's proof of replication from the output of Commit Phase 1. */
#include "cli/cli.h"
#include "base/clock.h"
#include "base/mapfile.h"
#include "cuzk/cuzk_filecoin.h"
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PROOF_BYTES (126 * CUZK_FILECOIN_PROOF_BYTES)
#define NO_NUMBER        UINT64_MAX

static const char hex_digits[] = "0123456789abcdef";

static const char *to_hex(char out[65], const unsigned char bytes[32])
{
    for (int i = 0; i < 32; i++) {
        out[2 * i] = hex_digits[bytes[i] >> 4];
        out[2 * i + 1] = hex_digits[bytes[i] & 15];
    }
    out[64] = '\0';
    return out;
}

static cuzk_status from_hex(struct task *t, unsigned char out[32], const char *option, const char *text)
{
    if (text == NULL)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%s is missing (or give --c1, which holds it)", option);
    if (strncmp(text, "0x", 2) == 0) text += 2;
    for (int i = 0; i < 64; i++) {
        const char *digit =
            isxdigit((unsigned char)text[i]) ? strchr(hex_digits, tolower((unsigned char)text[i])) : NULL;
        if (digit == NULL || (i == 63 && text[64] != '\0'))
            return FAIL(t, CUZK_INVALID_ARGUMENT, "%s takes 64 hex digits", option);
        const unsigned char value = (unsigned char)(digit - hex_digits);
        out[i / 2] = (unsigned char)(i % 2 == 0 ? value << 4 : out[i / 2] | value);
    }
    return CUZK_OK;
}

/* -- prove ------------------------------------------------------------------------------------------------------------- */

static const char prove_help[] = "Proves a sector's replication (Commit Phase 2) from C1, the output of "
                                 "Commit Phase 1: JSON, JSON in Curio's wrapper, or bincode.\n"
                                 "Every partition is proved and then verified against public inputs derived "
                                 "from --miner, --sector and the header of C1; only\n"
                                 "then is PROOF written: 192 bytes a partition.  What is wrong with the "
                                 "vanilla proofs is said before anything is proved.\n"
                                 "\n"
                                 "The parameters stand in a folder under the names that lotus fetch-params "
                                 "gives them; it is only read.  Each stage of each\n"
                                 "partition is timed on standard error (CUZK_TIMING).";

static void print_stage(void *context, unsigned partition, const char *stage, double ms)
{
    const uint64_t *sector = context;

    if (!cli.quiet)
        fprintf(stderr, "CUZK_TIMING: job=porep-%llu part=%u stage=%s ms=%.1f\n", (unsigned long long)*sector,
                partition, stage, ms);
}

static void report_proof(const cuzk_c1_info *info, const cuzk_porep_key_info *key, const char *path,
                         double ms)
{
    if (cli_is_stdout(path)) return;
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:o, s:s, s:i, s:s, s:b, s:b, s:I, s:f}", "status", "OK", "proof",
                                 cli_json_text(path), "proof_type", info->proof_type, "partitions",
                                 (int)info->partitions, "key_mode", key->mode, "verified", 1,
                                 "development_key", key->development, "memory_bytes",
                                 (json_int_t)(key->shared_bytes + key->proof_bytes), "prove_ms", ms));
    else if (!cli.quiet)
        printf("%s: %u partition%s of %s proved and verified in %.1f s\n", path, info->partitions,
               info->partitions == 1 ? "" : "s", info->proof_type, ms * 1e-3);
}

static int run_prove(const char *c1_path, const char *proof_path, const char *folder, uint64_t miner,
                     uint64_t sector, uint64_t timeout_ms, cuzk_key_mode mode)
{
    unsigned char proofs[MOST_PROOF_BYTES];
    char beside[PATH_MAX];
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_c1_info info = CUZK_C1_INFO_INIT;
    cuzk_porep_key_info key_info = CUZK_POREP_KEY_INFO_INIT;
    cuzk_porep_key_options key_options = CUZK_POREP_KEY_OPTIONS_INIT;
    cuzk_porep_request request = CUZK_POREP_REQUEST_INIT;
    cuzk_context *context = NULL;
    cuzk_porep_key *key = NULL;
    cuzk_c1 *c1 = NULL;
    cuzk_watch watch = cli_watch();
    int exit_code = 0;
    struct task t;
    uint64_t start;

    task_init(&t);
    watch.timeout_ms = (double)timeout_ms;
    key_options.folder = folder;
    key_options.mode = mode;
    request.miner = miner;
    request.sector = sector;
    request.stage = print_stage;
    request.stage_context = &sector;
    if (!cli_context(&context, &exit_code)) return exit_code;
    if (cuzk_c1_open(&c1, c1_path, &error) != CUZK_OK) goto failed;
    cuzk_c1_describe(c1, &info);
    start = clock_now_ns();
    const uint64_t begun = start;
    const double all_ms = watch.timeout_ms; /* for all calls together */
    if (cuzk_porep_key_open(&key, context, info.sector_bytes, &key_options, &watch, &error) != CUZK_OK)
        goto failed;
    print_stage(&sector, 0, "parameters", clock_ms_since(start));
    cuzk_porep_key_describe(key, &key_info);
    const char *const outputs[] = { proof_path },
                      *const inputs[] = { key_info.params_path, cli_derived_beside(beside, key_info.params_path) };
    if (cli_files_apart(&t, outputs, ARRAY_COUNT(outputs), inputs, ARRAY_COUNT(inputs)) != CUZK_OK) {
        exit_code = cli_fail_task(&t);
        goto out;
    }
    if (key_info.development)
        cli_warn("the parameters are development keys: no chain accepts the proof, and it proves nothing to "
                 "anybody");
    else if (!key_info.checked)
        cli_warn("nothing vouches for %s: put parameters.json beside it, or run 'cuzk check' on it once",
                 key_info.params_path);
    if (key_info.derived_refused != NULL)
        cli_warn("the derived key beside %s is not used: %s", key_info.params_path, key_info.derived_refused);
    if (all_ms > 0) watch.timeout_ms = fmax(all_ms - clock_ms_since(begun), 1e-3);
    start = clock_now_ns();
    cuzk_status status = cuzk_porep_prove(proofs, sizeof proofs, context, key, c1, &request, &watch, &error);
    if (status != CUZK_OK && mode == CUZK_KEY_AUTO && cli_error_of_derived(&error)) {
        const cuzk_error why = error;
        cuzk_porep_key_close(key);
        key = NULL;
        if (all_ms > 0) watch.timeout_ms = fmax(all_ms - clock_ms_since(begun), 1e-3);
        status = cuzk_porep_key_open(&key, context, info.sector_bytes, &key_options, &watch, &error);
        if (status != CUZK_OK) goto failed;
        cuzk_porep_key_describe(key, &key_info);
        error = why;
        status = why.status;
        if (key_info.derived_refused != NULL) { /* it was found sound before, and taken for that */
            cli_warn("%s; proved again with the key itself", why.text);
            if (all_ms > 0) watch.timeout_ms = fmax(all_ms - clock_ms_since(begun), 1e-3);
            status = cuzk_porep_prove(proofs, sizeof proofs, context, key, c1, &request, &watch, &error);
        }
    }
    if (status != CUZK_OK) goto failed;
    if (mapfile_write(&t, proof_path, proofs, cuzk_porep_proof_bytes(c1), 0644) != CUZK_OK)
        exit_code = cli_fail_task(&t);
    else
        report_proof(&info, &key_info, proof_path, clock_ms_since(start));
    goto out;
failed:
    exit_code = cli_fail(&error);
out:
    cuzk_porep_key_close(key);
    cuzk_c1_close(c1);
    cuzk_context_destroy(context);
    return exit_code;
}

static int porep_prove(int argc, char **argv)
{
    const char *c1_path = NULL, *proof_path = NULL, *folder = NULL;
    uint64_t miner = NO_NUMBER, sector = NO_NUMBER, timeout_ms = 0;
    const struct option_row options[] = {
        { "--miner", OPTION_COUNT, &miner, 0, UINT64_MAX - 1, "N", "the miner's actor id (1000 for f01000)" },
        { "--sector", OPTION_COUNT, &sector, 0, UINT64_MAX - 1, "N", "the sector's number" },
        { "--params", OPTION_TEXT, &folder, 0, 0, "DIR",
          "parameters (default $FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters)" },
        { "-o", OPTION_TEXT, &proof_path, 0, 0, "PROOF", "where the proof goes; - is standard output" },
        { "--timeout-ms", OPTION_COUNT, &timeout_ms, 1, 864000000, "N", "give up after N milliseconds" },
        CLI_KEY_MODE_OPTION,
        CLI_DEVICE_OPTIONS,
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = { { "C1", &c1_path, false, "output of Commit Phase 1" } };
    cuzk_key_mode mode;
    struct task t;

    if (args_want_help(argc, argv)) {
        args_print_help("porep prove", prove_help, options, ARRAY_COUNT(options), operands,
                        ARRAY_COUNT(operands));
        return 0;
    }
    task_init(&t);
    if (args_parse(&t, argc, argv, options, ARRAY_COUNT(options), operands, ARRAY_COUNT(operands)) != CUZK_OK)
        return cli_fail_task(&t);
    if (miner == NO_NUMBER || sector == NO_NUMBER || proof_path == NULL) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "%s is missing",
             miner == NO_NUMBER    ? "--miner N"
             : sector == NO_NUMBER ? "--sector N"
                                   : "-o PROOF");
        task_fail_place(&t, NULL, ERROR_NO_OFFSET, NULL,
                        "cuzk porep prove C1 --miner N --sector N --params DIR -o PROOF");
        return cli_fail_task(&t);
    }
    const char *const outputs[] = { proof_path }, *const inputs[] = { c1_path };
    if (cli_files_apart(&t, outputs, 1, inputs, 1) != CUZK_OK ||
        mapfile_check_writable(&t, proof_path) != CUZK_OK || cli_key_mode(&t, &mode) != CUZK_OK)
        return cli_fail_task(&t);
    return run_prove(c1_path, proof_path, folder, miner, sector, timeout_ms, mode);
}

/* -- verify ------------------------------------------------------------------------------------------------------------ */

static const char verify_help[] =
    "Checks PROOF (192 bytes a partition) against the public data of a sector: proof type, miner, sector, "
    "ticket, seed, comm_r, comm_d.\n"
    "Values are hex, 32 bytes each; --c1 takes those that are left out from the header of a C1 output.  The "
    "public inputs are derived\n"
    "here.  Exit code 0: valid; 1: not valid; anything else: a file could not be used.";

struct verify_options {
    const char *proof_path, *c1_path, *folder, *vk_path, *type, *prover_id, *ticket, *seed, *comm_r, *comm_d,
        *porep_id;
    uint64_t miner, sector;
};

/* What was left out comes from the header of a C1 output. */
static int statement_from_c1(struct verify_options *o, char hex[4][65])
{
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_c1_info info = CUZK_C1_INFO_INIT;
    cuzk_c1 *c1 = NULL;

    if (cuzk_c1_open(&c1, o->c1_path, &error) != CUZK_OK) return cli_fail(&error);
    cuzk_c1_describe(c1, &info);
    if (o->type == NULL) o->type = info.proof_type;
    if (o->ticket == NULL) o->ticket = to_hex(hex[0], info.ticket);
    if (o->seed == NULL) o->seed = to_hex(hex[1], info.seed);
    if (o->comm_r == NULL) o->comm_r = to_hex(hex[2], info.comm_r);
    if (o->comm_d == NULL) o->comm_d = to_hex(hex[3], info.comm_d);
    cuzk_c1_close(c1);
    return 0;
}

static cuzk_status fill_statement(struct task *t, cuzk_porep_statement *s, const struct verify_options *o,
                                  unsigned char porep_id[32])
{
    if (o->type == NULL)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "--type is missing (or give --c1, which holds it)");
    if (cuzk_porep_partitions(o->type) == 0) {
        const cuzk_status status = FAIL(t, CUZK_INVALID_ARGUMENT, "there is no proof type '%s'", o->type);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, "--type", "proof types are named like StackedDrg32GiBV1_1");
        return status;
    }
    if (o->miner == NO_NUMBER && o->prover_id == NULL)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "--miner N is missing");
    if (o->sector == NO_NUMBER) return FAIL(t, CUZK_INVALID_ARGUMENT, "--sector N is missing");
    if (o->miner != NO_NUMBER && o->prover_id != NULL)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "--miner and --prover-id exclude each other");
    s->proof_type = o->type;
    s->sector = o->sector;
    if (o->prover_id != NULL)
        TRY(from_hex(t, s->prover_id, "--prover-id", o->prover_id));
    else
        cuzk_prover_id(s->prover_id, o->miner);
    TRY(from_hex(t, s->ticket, "--ticket", o->ticket));
    TRY(from_hex(t, s->seed, "--seed", o->seed));
    TRY(from_hex(t, s->comm_r, "--comm-r", o->comm_r));
    TRY(from_hex(t, s->comm_d, "--comm-d", o->comm_d));
    if (o->porep_id == NULL) return CUZK_OK;
    s->porep_id = porep_id;
    return from_hex(t, porep_id, "--porep-id", o->porep_id);
}

/* The sector size inside a proof type's name, so that parameters can be found. */
static uint64_t sector_bytes_of(const char *type)
{
    static const char *const sizes[] = { "2KiB", "8MiB", "512MiB", "32GiB", "64GiB" };

    for (size_t i = ARRAY_COUNT(sizes); i-- > 0;)
        if (strncmp(type, "StackedDrg", 10) == 0 && strncmp(type + 10, sizes[i], strlen(sizes[i])) == 0)
            return cuzk_sector_bytes(sizes[i]);
    return 0;
}

static int run_verify(const struct verify_options *o, const cuzk_porep_statement *s)
{
    cuzk_error error = CUZK_ERROR_INIT;
    struct mapfile proof = { 0 };
    cuzk_vk *vk = NULL;
    int exit_code = 0;
    struct task t;
    cuzk_status status;

    task_init(&t);
    status = o->vk_path != NULL ? cuzk_vk_open(&vk, o->vk_path, &error)
                                : cuzk_porep_vk_open(&vk, sector_bytes_of(s->proof_type), o->folder, &error);
    if (status != CUZK_OK) return cli_fail(&error);
    if (mapfile_open(&proof, &t, o->proof_path) != CUZK_OK) {
        exit_code = cli_fail_task(&t);
        goto out;
    }
    const uint64_t start = clock_now_ns();
    if (cuzk_porep_verify(vk, s, proof.bytes.data, proof.bytes.size, &error) != CUZK_OK) {
        exit_code = cli_fail(&error);
        goto out;
    }
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:b, s:s, s:i, s:f}", "status", "OK", "valid", 1, "proof_type",
                                 s->proof_type, "partitions", (int)cuzk_porep_partitions(s->proof_type),
                                 "verify_ms", clock_ms_since(start)));
    else if (!cli.quiet)
        printf("valid: %s proves the replication of sector %llu (%s)\n", o->proof_path,
               (unsigned long long)s->sector, s->proof_type);
out:
    mapfile_close(&proof);
    cuzk_vk_close(vk);
    return exit_code;
}

/* Rows of every command that takes a statement. */
#define STATEMENT_OPTIONS(o)                                                                           \
    { "--type", OPTION_TEXT, &(o).type, 0, 0, "NAME", "registered proof: StackedDrg32GiBV1_1, ..." },  \
        { "--miner", OPTION_COUNT, &(o).miner, 0, UINT64_MAX - 1, "N", "the miner's actor id" },       \
        { "--prover-id",                                                                               \
          OPTION_TEXT,                                                                                 \
          &(o).prover_id,                                                                              \
          0,                                                                                           \
          0,                                                                                           \
          "HEX",                                                                                       \
          "instead of --miner: the 32 bytes themselves" },                                             \
        { "--sector", OPTION_COUNT, &(o).sector, 0, UINT64_MAX - 1, "N", "the sector's number" },      \
        { "--ticket", OPTION_TEXT, &(o).ticket, 0, 0, "HEX", "sealing ticket" },                       \
        { "--seed", OPTION_TEXT, &(o).seed, 0, 0, "HEX", "interactive seed" },                         \
        { "--comm-r", OPTION_TEXT, &(o).comm_r, 0, 0, "HEX", "replica commitment" },                   \
        { "--comm-d", OPTION_TEXT, &(o).comm_d, 0, 0, "HEX", "data commitment" },                      \
        { "--porep-id", OPTION_TEXT, &(o).porep_id, 0, 0, "HEX", "instead of the proof type's own" },  \
    {                                                                                                  \
        "--c1", OPTION_TEXT, &(o).c1_path, 0, 0, "C1", "take what is left out from this file's header" \
    }

/* The statement that the options make, or the exit code. */
static int take_statement(cuzk_porep_statement *s, struct verify_options *o, unsigned char porep_id[32])
{
    char hex[4][65];
    struct task t;

    task_init(&t);
    if (o->c1_path != NULL) {
        const int exit_code = statement_from_c1(o, hex);
        if (exit_code != 0) return exit_code;
    }
    return fill_statement(&t, s, o, porep_id) == CUZK_OK ? 0 : cli_fail_task(&t);
}

static int porep_verify(int argc, char **argv)
{
    struct verify_options o = { .miner = NO_NUMBER, .sector = NO_NUMBER };
    const struct option_row options[] = {
        STATEMENT_OPTIONS(o),
        { "--params", OPTION_TEXT, &o.folder, 0, 0, "DIR",
          "folder with the .vk (default as in porep prove)" },
        { "--vk", OPTION_TEXT, &o.vk_path, 0, 0, "FILE", "instead of --params: the verifying key itself" },
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = { { "PROOF", &o.proof_path, false, "192 bytes a partition" } };
    cuzk_porep_statement statement = CUZK_POREP_STATEMENT_INIT;
    unsigned char porep_id[32];
    struct task t;

    if (args_want_help(argc, argv)) {
        args_print_help("porep verify", verify_help, options, ARRAY_COUNT(options), operands,
                        ARRAY_COUNT(operands));
        return 0;
    }
    task_init(&t);
    if (args_parse(&t, argc, argv, options, ARRAY_COUNT(options), operands, ARRAY_COUNT(operands)) != CUZK_OK)
        return cli_fail_task(&t);
    if (o.folder != NULL && o.vk_path != NULL) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "--params and --vk exclude each other");
        return cli_fail_task(&t);
    }
    const int exit_code = take_statement(&statement, &o, porep_id);
    return exit_code != 0 ? exit_code : run_verify(&o, &statement);
}

/* -- publics ----------------------------------------------------------------------------------------------------------- */

static const char publics_help[] = "Writes the public inputs of a partition as snarkjs's public.json: what a "
                                   "verifier derives from the public data of a sector.";

static int porep_publics(int argc, char **argv)
{
    struct verify_options o = { .miner = NO_NUMBER, .sector = NO_NUMBER };
    const char *path = NULL;
    uint64_t partition = 0;
    const struct option_row options[] = {
        STATEMENT_OPTIONS(o),
        { "--partition", OPTION_COUNT, &partition, 0, 125, "N", "which partition (default 0)" },
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = { { "PUBLIC", &path, false,
                                              "where they go; - is standard output" } };
    cuzk_porep_statement statement = CUZK_POREP_STATEMENT_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_publics *publics = NULL;
    unsigned char porep_id[32];
    struct task t;

    if (args_want_help(argc, argv)) {
        args_print_help("porep publics", publics_help, options, ARRAY_COUNT(options), operands,
                        ARRAY_COUNT(operands));
        return 0;
    }
    task_init(&t);
    if (args_parse(&t, argc, argv, options, ARRAY_COUNT(options), operands, ARRAY_COUNT(operands)) != CUZK_OK)
        return cli_fail_task(&t);
    const char *const outputs[] = { path }, *const inputs[] = { o.c1_path };
    if (cli_files_apart(&t, outputs, 1, inputs, 1) != CUZK_OK) return cli_fail_task(&t);
    int exit_code = take_statement(&statement, &o, porep_id);
    if (exit_code != 0) return exit_code;
    cuzk_status status = cuzk_porep_publics(&publics, &statement, (unsigned)partition, &error);
    if (status == CUZK_OK) status = cuzk_publics_save(publics, path, &error);
    if (status != CUZK_OK)
        exit_code = cli_fail(&error);
    else if (cli.json && !cli_is_stdout(path))
        cli_print_json(json_pack("{s:s, s:o, s:s, s:i}", "status", "OK", "public", cli_json_text(path),
                                 "proof_type", statement.proof_type, "partition", (int)partition));
    cuzk_publics_close(publics);
    return exit_code;
}

/* -- inspect ----------------------------------------------------------------------------------------------------------- */

static const char inspect_help[] = "Tells what C1 holds: proof type, partitions, commitments.  --check "
                                   "examines all of it without proving: challenges, parents, labels,\n"
                                   "columns, every path; with --miner and --sector the replica id too.  "
                                   "--public writes the public inputs of a partition, as they\n"
                                   "follow from --miner, --sector and the header.";

static int print_info(const cuzk_c1_info *info, bool checked, bool identity)
{
    char hex[6][65];
    const char *const comm_r = to_hex(hex[0], info->comm_r), *const comm_d = to_hex(hex[1], info->comm_d);
    const char *const replica_id = to_hex(hex[2], info->replica_id), *const seed = to_hex(hex[3], info->seed);
    const char *const ticket = to_hex(hex[4], info->ticket), *const prover_id =
                                                                 to_hex(hex[5], info->prover_id);

    if (cli.json) {
        json_t *o = json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:s}", "status", "OK",
                              "proof_type", info->proof_type, "sector_size", info->sector_name, "partitions",
                              (int)info->partitions, "challenges", (int)info->challenges, "comm_r", comm_r,
                              "comm_d", comm_d, "replica_id", replica_id, "seed", seed, "ticket", ticket);
        if (info->has_sector) json_object_set_new(o, "sector", json_integer((json_int_t)info->sector));
        if (info->has_prover) json_object_set_new(o, "prover_id", json_string(prover_id));
        if (checked) json_object_set_new(o, "checked", json_true());
        if (checked) json_object_set_new(o, "replica_id_checked", json_boolean(identity));
        cli_print_json(o);
        return 0;
    }
    printf("PoRep vanilla proofs: %s\n  %-12s %s\n  %-12s %u of %u challenges each\n", info->proof_type,
           "sector size", info->sector_name, "partitions", info->partitions, info->challenges);
    printf("  %-12s %s\n  %-12s %s\n  %-12s %s\n  %-12s %s\n  %-12s %s\n", "comm_r", comm_r, "comm_d", comm_d,
           "replica_id", replica_id, "seed", seed, "ticket", ticket);
    if (info->has_sector) printf("  %-12s %llu\n", "sector", (unsigned long long)info->sector);
    if (info->has_prover) printf("  %-12s %s\n", "prover_id", prover_id);
    if (checked) puts("  every challenge, parent, label, column and path is right");
    if (checked)
        puts(identity ? "  the replica id is that of this miner and sector"
                      : "  the replica id was not compared: that takes --miner and --sector");
    return 0;
}

static cuzk_status save_publics(const cuzk_c1 *c1, uint64_t miner, uint64_t sector, uint64_t partition,
                                const char *path, cuzk_error *error)
{
    cuzk_porep_statement statement = CUZK_POREP_STATEMENT_INIT;
    cuzk_publics *publics = NULL;

    cuzk_c1_statement(c1, miner, sector, &statement);
    cuzk_status status = cuzk_porep_publics(&publics, &statement, (unsigned)partition, error);
    if (status == CUZK_OK) status = cuzk_publics_save(publics, path, error);
    cuzk_publics_close(publics);
    return status;
}

static int porep_inspect(int argc, char **argv)
{
    const char *c1_path = NULL, *public_path = NULL;
    uint64_t miner = NO_NUMBER, sector = NO_NUMBER, partition = 0;
    bool check = false;
    const struct option_row options[] = {
        { "--check", OPTION_FLAG, &check, 0, 0, NULL,
          "examine everything that needs no proof; with --miner and --sector the replica id too" },
        { "--public", OPTION_TEXT, &public_path, 0, 0, "FILE",
          "write a partition's public inputs; needs --miner and --sector" },
        { "--miner", OPTION_COUNT, &miner, 0, UINT64_MAX - 1, "N", "the miner's actor id" },
        { "--sector", OPTION_COUNT, &sector, 0, UINT64_MAX - 1, "N", "the sector's number" },
        { "--partition", OPTION_COUNT, &partition, 0, 125, "N", "which partition (default 0)" },
        CLI_COMMON_OPTIONS,
    };
    const struct operand_row operands[] = { { "C1", &c1_path, false, "output of Commit Phase 1" } };
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_c1_info info = CUZK_C1_INFO_INIT;
    cuzk_context *context = NULL;
    cuzk_c1 *c1 = NULL;
    cuzk_watch watch;
    int exit_code = 0;
    struct task t;

    if (args_want_help(argc, argv)) {
        args_print_help("porep inspect", inspect_help, options, ARRAY_COUNT(options), operands,
                        ARRAY_COUNT(operands));
        return 0;
    }
    task_init(&t);
    if (args_parse(&t, argc, argv, options, ARRAY_COUNT(options), operands, ARRAY_COUNT(operands)) != CUZK_OK)
        return cli_fail_task(&t);
    if (public_path != NULL && (miner == NO_NUMBER || sector == NO_NUMBER)) {
        FAIL(&t, CUZK_INVALID_ARGUMENT,
             "--public needs --miner and --sector: the public inputs depend on both");
        return cli_fail_task(&t);
    }
    if ((miner == NO_NUMBER) != (sector == NO_NUMBER)) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "--miner and --sector go together: the replica id depends on both");
        return cli_fail_task(&t);
    }
    static const char *const of_public[] = { "--partition", NULL };
    if (public_path == NULL && args_refuse(&t, of_public, "without --public", "add --public FILE") != CUZK_OK)
        return cli_fail_task(&t);
    if (miner != NO_NUMBER && !check && public_path == NULL) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "--miner and --sector go with --check or --public");
        return cli_fail_task(&t);
    }
    const char *const outputs[] = { public_path }, *const inputs[] = { c1_path };
    if (cli_files_apart(&t, outputs, 1, inputs, 1) != CUZK_OK) return cli_fail_task(&t);
    watch = cli_watch();
    if (!cli_context(&context, &exit_code)) return exit_code;
    if (cuzk_c1_open(&c1, c1_path, &error) != CUZK_OK) goto failed;
    if (check && miner != NO_NUMBER && sector != NO_NUMBER &&
        cuzk_c1_check_identity(c1, miner, sector, &error) != CUZK_OK)
        goto failed;
    if (check && cuzk_c1_check(context, c1, &watch, &error) != CUZK_OK) goto failed;
    if (public_path != NULL && save_publics(c1, miner, sector, partition, public_path, &error) != CUZK_OK)
        goto failed;
    cuzk_c1_describe(c1, &info);
    if (public_path == NULL || !cli_is_stdout(public_path))
        exit_code = print_info(&info, check, check && miner != NO_NUMBER);
    goto out;
failed:
    exit_code = cli_fail(&error);
out:
    cuzk_c1_close(c1);
    cuzk_context_destroy(context);
    return exit_code;
}

static const struct command commands[] = {
    { "prove", "prove a sector's replication from the output of Commit Phase 1", porep_prove },
    { "verify", "check a proof against a sector's public data", porep_verify },
    { "publics", "write the public inputs that a sector's public data give", porep_publics },
    { "inspect", "tell what a C1 output holds, and whether it is right", porep_inspect },
};

int cmd_porep(int argc, char **argv)
{
    static const char text[] = "Filecoin's proof of replication: Commit Phase 2 and what goes with it.";

    return cli_subcommand("porep", text, commands, ARRAY_COUNT(commands), argc, argv);
}
