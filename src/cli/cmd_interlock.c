/* cuzk bench interlock: what does it cost to share this card between lanes, with locks and without? */
#include "cli/cli.h"
#include "cuzk/cuzk_bench.h"
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Runs lanes over synthetic partitions (three vectors uploaded; kernels over all three, then over one) "
    "under four protocols\n"
    "with the same kernels and bytes: one lock; two locks, memory and compute, as published; the same with a "
    "device synchronise;\n"
    "this engine's arena and events.  Then the table of CUDA calls that wait for, or stall, a running kernel "
    "on this card and driver.\n"
    "The rows' ratios are what counts.  Nothing else should run on the card meanwhile.";

static void print_protocol(void *context, const cuzk_interlock_row *r)
{
    double *two_locks = context;
    if (!strcmp(r->protocol, "two locks")) *two_locks = r->partitions_per_second;
    if (cli.json) {
        cli_print_json(json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:i, s:i}", "protocol", r->protocol,
                                 "seconds", r->seconds, "partitions_per_second", r->partitions_per_second,
                                 "idle_share", r->idle_share, "memory_wait_ms", r->memory_wait_ms,
                                 "compute_wait_ms", r->compute_wait_ms, "no_memory", (int)r->no_memory,
                                 "skipped_prestage", (int)r->skipped_prestage));
        return;
    }
    printf("%-30s %9.2f %9.3f %8.1f %% %10.1f %10.1f %8u %8u", r->protocol, r->seconds,
           r->partitions_per_second, 100 * r->idle_share, r->memory_wait_ms, r->compute_wait_ms, r->no_memory,
           r->skipped_prestage);
    if (*two_locks > 0) printf(" %7.2f", r->partitions_per_second / *two_locks);
    putchar('\n');
    fflush(stdout);
}

static void print_call(void *context, const cuzk_call_row *r)
{
    (void)context;
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:f, s:f, s:f, s:f, s:b, s:b}", "call", r->call, "alone_ms",
                                 r->alone_ms, "beside_ms", r->beside_ms, "kernel_ms", r->kernel_ms,
                                 "launch_ms", r->launch_ms, "waits", r->waits, "stalls", r->stalls));
    else
        printf("%-34s %10.3f %10.3f %10.3f   %s%s\n", r->call, r->alone_ms, r->beside_ms, r->launch_ms,
               r->waits ? "waits for the kernel" : "",
               r->stalls ? (r->waits ? ", stalls launches" : "stalls launches") : "");
    fflush(stdout);
}

int cmd_interlock(int argc, char **argv)
{
    uint64_t lanes = 3, partitions = 12, memory_mib = 0, partition_mib = 12288, compute_ms = 400, device = 0;
    bool calls_only = false;
    const struct option_row options[] = {
        { "--device", OPTION_COUNT, &device, 0, 1023, "N", "card N of 'cuzk devices' (default 0)" },
        { "--lanes", OPTION_COUNT, &lanes, 1, 16, "N", "threads that bring partitions (default 3)" },
        { "--partitions", OPTION_COUNT, &partitions, 1, 10000, "N", "of all lanes together (default 12)" },
        { "--memory-mib", OPTION_COUNT, &memory_mib, 1, 1 << 24, "N",
          "as if the card had no more than so many MiB (default: all that is free)" },
        { "--partition-mib", OPTION_COUNT, &partition_mib, 1, 1 << 20, "N",
          "uploaded for each partition (default 12288: a PoRep's)" },
        { "--compute-ms", OPTION_COUNT, &compute_ms, 1, 100000, "N",
          "of a partition's kernels, alone on the card (default 400)" },
        { "--calls", OPTION_FLAG, &calls_only, 0, 0, NULL, "only the table of calls" },
        CLI_COMMON_OPTIONS,
    };
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_watch watch = cli_watch();
    struct task t;
    const int over = cli_begin(&t, argc, argv, "bench interlock", help, options, ARRAY_COUNT(options), NULL, 0);
    if (over >= 0) return over;
    static const char *const of_protocols[] = { "--lanes",         "--partitions", "--memory-mib",
                                                "--partition-mib", "--compute-ms", NULL };
    if (calls_only && args_refuse(&t, of_protocols, "with --calls", "leave --calls out") != CUZK_OK)
        return cli_fail_task(&t);
    if (!calls_only) {
        cuzk_interlock_options o = CUZK_INTERLOCK_OPTIONS_INIT;
        double two_locks = 0;
        o.device = (unsigned)device;
        o.lanes = (unsigned)lanes;
        o.partitions = (unsigned)partitions;
        o.memory_bytes = memory_mib << 20;
        o.partition_bytes = partition_mib << 20;
        o.compute_ms = (double)compute_ms;
        if (!cli.json)
            printf(
                "%u lanes, %u partitions of %s, kernels of %u ms\n%-30s %9s %9s %10s %10s %10s %8s %8s %7s\n",
                o.lanes, o.partitions, cli_bytes(o.partition_bytes), (unsigned)compute_ms, "protocol",
                "seconds", "a second", "idle", "memory ms", "compute ms", "no room", "late", "ratio");
        if (cuzk_bench_interlock(&o, print_protocol, &two_locks, &watch, &error) != CUZK_OK)
            return cli_fail(&error);
    }
    if (!cli.json) printf("\n%-34s %10s %10s %10s\n", "call", "alone ms", "beside ms", "launch ms");
    if (cuzk_bench_calls((unsigned)device, print_call, NULL, &watch, &error) != CUZK_OK)
        return cli_fail(&error);
    return 0;
}
