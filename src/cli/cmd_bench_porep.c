/* cuzk bench porep: how long does a PoRep proof take on these cards, and where does its time go? */
#include "cli/cli.h"
#include "cuzk/cuzk_bench.h"
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Makes vanilla proofs of sectors that never were (sparse), proves them --proofs "
    "times with development or real "
    "parameters, and verifies every\n"
    "proof's bytes against inputs derived from the vanilla proofs' header.  Witness, "
    "constraints, quotient and sums are "
    "the card's; the statement\n"
    "is all that goes there.  Prints seconds a proof, where the last proof's time "
    "went on the card, the card's idle "
    "share, and bytes.\n"
    "With --dev-key no parameters are needed: an INSECURE development key is made "
    "from a fresh secret straight in the "
    "cards' memory, in the\n"
    "form that --key-mode names (derived by default).\n"
    "With --plan nothing is proved: what a batch takes of cards of 139, 80, 64, 48, 24 "
    "and 16 GiB, of this one, and of one with --as-if MIB.\n"
    "Plans are made for the kind of the card that is there and by the key's own counts, so both are needed for --plan as well.";

struct wanted {
    uint64_t sector_bytes;
    const char *folder;
    cuzk_key_mode mode;
    bool dev_key, plan;
};

static void print_span(void *context, const cuzk_porep_bench_span *s)
{
    (void)context;
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:s, s:i, s:f, s:f}", "stage", s->stage,
                                 s->is_sweep ? "sweep" : "partition", (int)s->partition, "begin_ms",
                                 s->begin_ms, "end_ms", s->end_ms));
    else
        printf("  %-9s %2u  %-12s %10.3f %10.3f %10.3f\n", s->is_sweep ? "sweep" : "partition", s->partition,
               s->stage, s->begin_ms, s->end_ms, s->end_ms - s->begin_ms);
}

static void print_dev_key(const cuzk_porep_dev_key *k, cuzk_key_mode mode)
{
    if (cli.json) {
        cli_print_json(json_pack("{s:s, s:i, s:s, s:f, s:f, s:I, s:I}", "key", "development", "insecure", 1,
                                 "mode", mode == CUZK_KEY_ORIGINAL ? "original" : "derived", "circuit_s",
                                 k->circuit_s, "scalars_s", k->scalars_s, "host_bytes",
                                 (json_int_t)k->host_bytes, "host_peak_bytes",
                                 (json_int_t)k->host_peak_bytes));
        return;
    }
    printf("INSECURE DEVELOPMENT KEY, made here from a secret that this process knew: its proofs convince "
           "nobody\n"
           "  circuit              %.3f s\n"
           "  scalars, on the host %.3f s; %s kept, %s at most so far\n",
           k->circuit_s, k->scalars_s, cli_bytes(k->host_bytes), cli_bytes(k->host_peak_bytes));
    fflush(stdout);
}

static void print_points(const cuzk_porep_bench *r)
{
    printf("  its points           A %.3f, B1 %.3f, B2 %.3f, L %.3f, H %.3f s; the host at work %.3f s of "
           "them\n",
           r->points_s[0], r->points_s[1], r->points_s[2], r->points_s[3], r->points_s[4], r->points_host_s);
}

/* Seconds of the multiplier alone for a proof on an H200 at 1,980 MHz, by the products counted for docs/performance.md: a sum of 2^27
 * points of G1 531 ms, a transform of 2^27 31 ms, and of half the bits of a bitmap 11 ms for 2^26 points of G1, 7 ms for 2^24 of G2. */
static double floor_s(const cuzk_porep_bench *r)
{
    const double mega = 1 << 20, g1_bits = (double)(r->points[0] + r->points[1] + r->points[3]) / mega,
                 ms = (double)r->points[4] / mega / 128 * 531 +
                      r->transforms * (double)r->domain_size / mega / 128 * 31 + g1_bits / 64 * 11 +
                      (double)r->points[2] / mega / 16 * 7;

    return r->partitions * ms * 1e-3;
}

static json_t *figures_json(const cuzk_porep_bench *r)
{
    return json_pack("{s:f, s:f, s:f, s:I, s:I, s:I, s:[I, I], s:[I, I]}", "single_s", r->single_s, "gap_ms",
                     r->gap_ms, "floor_h200_s", floor_s(r), "load_host_peak_bytes",
                     (json_int_t)r->load_host_peak_bytes, "group_peak_bytes", (json_int_t)r->group_peak_bytes,
                     "pinned_bytes", (json_int_t)r->pinned_bytes, "host_bytes", (json_int_t)r->host_bytes[0],
                     (json_int_t)r->host_bytes[1], "device_bytes", (json_int_t)r->device_bytes[0],
                     (json_int_t)r->device_bytes[1]);
}

static void print_figures(const cuzk_porep_bench *r, const cuzk_porep_bench_options *o)
{
    const double each = (r->steady_s > 0 ? r->steady_s : r->single_s) * o->devices;

    printf(
        "  longest gap          %.3f ms between two kernels\n"
        "  multiplier           %.2f s a proof on an H200 at 1980 MHz, as counted: %.0f %% of the time\n"
        "  host                 %s at most until the key was there, %s since; control group %s; pinned %s\n"
        "  after proof 1, %-4u  host %s, %s; card at most %s, %s\n",
        r->gap_ms, floor_s(r), each > 0 ? 100 * floor_s(r) / each : 0, cli_bytes(r->load_host_peak_bytes),
        cli_bytes(r->host_peak_bytes), r->group_peak_bytes != 0 ? cli_bytes(r->group_peak_bytes) : "unknown",
        cli_bytes(r->pinned_bytes), r->proofs + 1, cli_bytes(r->host_bytes[0]), cli_bytes(r->host_bytes[1]),
        cli_bytes(r->device_bytes[0]), cli_bytes(r->device_bytes[1]));
}

static void print_result(const cuzk_porep_bench *r, const cuzk_porep_bench_options *o)
{
    if (cli.json) {
        cli_print_json(json_pack(
            "{s:s, s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:[f, f, f, f, f], s:f, s:o}",
            "status", "OK", "proofs", (int)r->proofs, "partitions", (int)r->partitions, "lanes",
            (int)o->lanes, "devices", (int)o->devices, "load_s", r->load_s, "first_s", r->first_s, "steady_s",
            r->steady_s, "idle_share", r->idle_share, "sent_bytes", (json_int_t)r->sent_bytes,
            "received_bytes", (json_int_t)r->received_bytes, "device_peak_bytes",
            (json_int_t)r->device_peak_bytes, "host_peak_bytes", (json_int_t)r->host_peak_bytes, "points_s",
            r->points_s[0], r->points_s[1], r->points_s[2], r->points_s[3], r->points_s[4], "points_host_s",
            r->points_host_s, "figures", figures_json(r)));
        return;
    }
    printf("%u proofs of %u partitions, all verified; %u lanes on each of %u devices\n"
           "  key to the card      %.3f s, once\n",
           r->proofs, r->partitions, o->lanes, o->devices, r->load_s);
    if (r->points_s[4] > 0) print_points(r);
    printf("  first proof          %.3f s\n", r->first_s);
    if (r->steady_s > 0)
        printf("  %s %.3f s\n", o->lanes == 1 ? "each one after it   " : "a proof, on average ", r->steady_s);
    printf("  a proof alone, warm  %.3f s\n", r->single_s);
    if (r->idle_share >= 0) printf("  card idle            %.2f %%\n", 100 * r->idle_share);
    printf("  bytes of a proof     %s to the card, %s back\n"
           "  peak                 %s of the card, %s of the host\n",
           cli_bytes(r->sent_bytes), cli_bytes(r->received_bytes), cli_bytes(r->device_peak_bytes),
           cli_bytes(r->host_peak_bytes));
    print_figures(r, o);
}

/* Which points stay on the card, why these, and what the others cost.  The link is one of the fifth generation, as it is specified: a
 * prediction. */
#define LINK_BYTES_S 50e9

static void print_sent(const cuzk_porep_bench_plan *p)
{
    static const char *const names[] = { "A", "B1", "B2", "L", "H" };

    printf("    points that stay there:");
    for (int q = 0; q < 5; q++) printf(" %s %.1f %%%s", names[q], 100 * p->kept_share[q], q < 4 ? "," : "\n");
    printf(
        "    (of H as many as there is room for, since every partition reads it; then of the others, which "
        "all "
        "partitions of a sweep read together)\n"
        "    %s sent a batch under the sums, through two places of %s: %.2f s at 50 GB/s (predicted); %s of "
        "locked host memory\n",
        cli_bytes(p->sent_bytes), cli_bytes(p->place_bytes), (double)p->sent_bytes / LINK_BYTES_S,
        cli_bytes(p->locked_bytes));
}

static void print_plan(const cuzk_porep_bench_plan *p, uint64_t memory_bytes)
{
    if (cli.json)
        cli_print_json(json_pack(
            "{s:I, s:I, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
            "s:[f, f, f, f, f]}",
            "memory_bytes", (json_int_t)memory_bytes, "total_bytes", (json_int_t)p->total_bytes, "partitions",
            (int)p->partitions, "sweep", (int)p->sweep, "slots", (int)p->slots, "lanes", (int)p->lanes,
            "key_bytes", (json_int_t)p->key_bytes, "kept_bytes", (json_int_t)p->kept_bytes, "vector_bytes",
            (json_int_t)p->vector_bytes, "front_bytes", (json_int_t)p->front_bytes, "back_bytes",
            (json_int_t)p->back_bytes, "block_bytes", (json_int_t)p->block_bytes, "pinned_bytes",
            (json_int_t)p->pinned_bytes, "place_bytes", (json_int_t)p->place_bytes, "sent_bytes",
            (json_int_t)p->sent_bytes, "locked_bytes", (json_int_t)p->locked_bytes, "kept_share",
            p->kept_share[0], p->kept_share[1], p->kept_share[2], p->kept_share[3], p->kept_share[4]));
    else {
        printf("%s: %s in all: key %s, and %u lanes with %u partitions, %u to a sweep:\n",
               cli_bytes(memory_bytes), cli_bytes(p->total_bytes), cli_bytes(p->key_bytes), p->lanes,
               p->partitions, p->sweep);
        printf("    %s each: witnesses %s, %u vectors of %s, workspaces %s and %s%s; %s pinned\n",
               cli_bytes(p->block_bytes), cli_bytes(p->kept_bytes), p->slots + 1, cli_bytes(p->vector_bytes),
               cli_bytes(p->front_bytes), cli_bytes(p->back_bytes),
               p->slots == 1 ? " (over the last vector and the other)" : "", cli_bytes(p->pinned_bytes));
        if (p->place_bytes != 0) print_sent(p);
    }
}

/* Cards without room are told with both numbers, and are no failure of the command. */
static int plan_cards(cuzk_context *context, const cuzk_porep_key *key, cuzk_porep_bench_options *o)
{
    const uint64_t as_if = o->memory_bytes;
    uint64_t bytes[] = { 139, 80, 64, 48, 24, 16, 0, as_if };
    cuzk_device_info device = CUZK_DEVICE_INFO_INIT;
    const size_t cards = ARRAY_COUNT(bytes) - 2;

    cuzk_context_device(context, &device);
    for (size_t i = 0; i < cards; i++) bytes[i] <<= 30;
    bytes[cards] = device.memory_bytes;
    for (size_t i = 0; i < cards + 1 + (as_if != 0); i++) {
        cuzk_porep_bench_plan plan = CUZK_POREP_BENCH_PLAN_INIT;
        cuzk_error error = CUZK_ERROR_INIT;
        o->memory_bytes = bytes[i];
        if (cuzk_bench_porep_plan(&plan, context, key, o, &error) == CUZK_OK)
            print_plan(&plan, o->memory_bytes);
        else if (error.status != CUZK_TOO_LARGE)
            return cli_fail(&error);
        else if (cli.json)
            cli_print_json(
                json_pack("{s:I, s:s}", "memory_bytes", (json_int_t)o->memory_bytes, "refused", error.text));
        else
            printf("%s: %s\n", cli_bytes(o->memory_bytes), error.text);
    }
    return 0;
}

/* The key that proofs are made on: parameters, or one without files. */
static cuzk_status open_key(cuzk_porep_key **key, cuzk_context *context, const struct wanted *w,
                            const cuzk_watch *watch, cuzk_error *error)
{
    cuzk_porep_key_options key_options = CUZK_POREP_KEY_OPTIONS_INIT;
    cuzk_porep_dev_key made = CUZK_POREP_DEV_KEY_INIT;

    key_options.folder = w->folder;
    key_options.mode = w->mode;
    if (!w->dev_key) return cuzk_porep_key_open(key, context, w->sector_bytes, &key_options, watch, error);
    cli_warn("the proofs of this bench are made under an INSECURE DEVELOPMENT KEY");
    const cuzk_status status = cuzk_porep_key_make_dev(key, context, w->sector_bytes,
                                                       w->mode != CUZK_KEY_ORIGINAL, &made, watch, error);
    if (status == CUZK_OK) print_dev_key(&made, w->mode);
    return status;
}

static int run(const struct wanted *w, cuzk_porep_bench_options *o)
{
    cuzk_porep_bench result = CUZK_POREP_BENCH_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;
    cuzk_porep_key *key = NULL;
    cuzk_watch watch = cli_watch();
    int exit_code = 0;

    if (!cli_context(&context, &exit_code)) return exit_code;
    if (open_key(&key, context, w, &watch, &error) != CUZK_OK) goto failed;
    if (w->plan) {
        exit_code = plan_cards(context, key, o);
        goto out;
    }
    if (cuzk_bench_porep(&result, context, key, o, print_span, NULL, &watch, &error) != CUZK_OK) goto failed;
    print_result(&result, o);
    goto out;
failed:
    exit_code = cli_fail(&error);
out:
    cuzk_porep_key_close(key);
    cuzk_context_destroy(context);
    return exit_code;
}

int cmd_bench_porep(int argc, char **argv)
{
    struct wanted w = { 0 };
    const char *size = NULL;
    uint64_t proofs = 2, partitions = 0, lanes = 1, devices = 1, sweep = 0, memory_mib = 0;
    bool check_rows = false;
    const struct option_row options[] = {
        { "--size", OPTION_TEXT, &size, 0, 0, "SIZE", "sector size: 2KiB, 8MiB, 512MiB, 32GiB, 64GiB" },
        { "--params", OPTION_TEXT, &w.folder, 0, 0, "DIR",
          "parameters (default $FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters)" },
        { "--dev-key", OPTION_FLAG, &w.dev_key, 0, 0, NULL,
          "an insecure key made from a fresh secret on the card, instead of parameters" },
        { "--proofs", OPTION_COUNT, &proofs, 1, 1000, "N", "how many, one after another (default 2)" },
        { "--partitions", OPTION_COUNT, &partitions, 1, 126, "K", "of each proof (default: all)" },
        { "--lanes", OPTION_COUNT, &lanes, 1, 4, "N", "batches at the same time on a card (default 1)" },
        { "--devices", OPTION_COUNT, &devices, 1, 8, "N",
          "cards, from --device on, over which partitions go in turn (default 1)" },
        { "--sweep", OPTION_COUNT, &sweep, 1, 16, "K",
          "partitions that share a walk over the points (default: all)" },
        { "--check-rows", OPTION_FLAG, &check_rows, 0, 0, NULL, "every row of the circuit is checked too" },
        { "--plan", OPTION_FLAG, &w.plan, 0, 0, NULL, "only tell what a batch takes of cards" },
        { "--as-if", OPTION_COUNT, &memory_mib, 1, 1 << 24, "MIB", "plan batches as if the card had so many MiB; with --plan a row for them" },
        CLI_KEY_MODE_OPTION,
        CLI_DEVICE_OPTIONS,
        CLI_COMMON_OPTIONS,
    };
    cuzk_porep_bench_options o = CUZK_POREP_BENCH_OPTIONS_INIT;
    struct task t;

    if (args_want_help(argc, argv)) {
        args_print_help("bench porep", help, options, ARRAY_COUNT(options), NULL, 0);
        return 0;
    }
    task_init(&t);
    if (args_parse(&t, argc, argv, options, ARRAY_COUNT(options), NULL, 0) != CUZK_OK)
        return cli_fail_task(&t);
    if (size == NULL || cuzk_sector_bytes(size) == 0) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, size == NULL ? "--size is missing" : "there is no sector size '%s'",
             size);
        task_fail_place(&t, NULL, ERROR_NO_OFFSET, "--size",
                        "cuzk bench porep --size 2KiB --params DIR --device 0");
        return cli_fail_task(&t);
    }
    if (w.dev_key && w.folder != NULL) {
        FAIL(&t, CUZK_INVALID_ARGUMENT, "--dev-key makes a key of its own; --params names another");
        task_fail_place(&t, NULL, ERROR_NO_OFFSET, "--dev-key", NULL);
        return cli_fail_task(&t);
    }
    static const char *const of_proofs[] = { "--proofs", NULL };
    if (w.plan && args_refuse(&t, of_proofs, "with --plan, which proves nothing", "leave --plan out") != CUZK_OK)
        return cli_fail_task(&t);
    if (cli_key_mode(&t, &w.mode) != CUZK_OK) return cli_fail_task(&t);
    w.sector_bytes = cuzk_sector_bytes(size);
    o.proofs = (unsigned)proofs;
    o.partitions = (unsigned)partitions;
    o.lanes = (unsigned)lanes;
    o.devices = (unsigned)devices;
    o.sweep = (unsigned)sweep;
    o.check_rows = check_rows;
    o.memory_bytes = memory_mib << 20;
    return run(&w, &o);
}
