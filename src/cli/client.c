/* cuzk-client: the commands that speak to a cuzkd.  A program of its own, which cuzk starts, so that proving needs no gRPC.
 *
 * usage: cuzk-client COMMAND arguments, as cuzk COMMAND arguments. */
#include "cli/client.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct client client;

bool client_begin(struct task *t, int *exit_code, int argc, char **argv, const char *help,
                  const struct option_row *options, size_t option_count, const struct operand_row *operands,
                  size_t operand_count)
{
    *exit_code = cli_begin(t, argc, argv, argv[0], help, options, option_count, operands, operand_count);
    if (*exit_code >= 0) return false;
    *exit_code = 0;
    if (rpc_client_open(&client.rpc, t, client.address) != CUZK_OK) {
        *exit_code = cli_fail_task(t);
        return false;
    }
    t->cancel = cli_cancelled();
    return true;
}

int client_end(const struct task *t, cuzk_status status)
{
    rpc_client_close(client.rpc);
    return status == CUZK_OK ? 0 : cli_fail_task(t);
}

cuzk_status client_call(struct task *t, ProtobufCMessage **answer, const char *method,
                        const ProtobufCMessage *request, const ProtobufCMessageDescriptor *answer_type)
{
    char path[96];
    uint8_t *bytes;
    size_t size;
    int code;
    *answer = NULL;
    snprintf(path, sizeof path, "/cuzk.v1.ProvingEngine/%s", method);
    const cuzk_status status =
        rpc_client_call(client.rpc, t, &bytes, &size, &code, path, request,
                        client.timeout_ms ? client.timeout_ms + 1000 : 0); /* the daemon's own answer comes first */
    if (status == CUZK_DEVICE_UNAVAILABLE && !rpc_client_connected(client.rpc))
        task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL,
                        "if no cuzkd listens there, start one, or name the address that it says at its start");
    TRY(status);
    *answer = protobuf_c_message_unpack(answer_type, NULL, size, bytes);
    free(bytes);
    return *answer ? CUZK_OK
                   : FAIL(t, CUZK_MALFORMED, "the answer of %s is not a message of this method", method);
}

/* -- status -------------------------------------------------------------------------------------------------------------- */

static const char *tier_name(Cuzk__V1__SRSStatus__Tier tier)
{
    return tier == CUZK__V1__SRSSTATUS__TIER__HOT    ? "loaded"
           : tier == CUZK__V1__SRSSTATUS__TIER__COLD ? "on disk"
                                                     : "moving";
}

static void print_status(const Cuzk__V1__GetStatusResponse *s)
{
    printf("up %" PRIu64 " s%s, %" PRIu64 " proofs, %" PRIu64 " failed, memory %s of %s\n", s->uptime_seconds,
           s->draining ? ", draining" : "", s->total_proofs_completed, s->total_proofs_failed,
           cli_bytes(s->memory_bytes), cli_bytes(s->memory_limit_bytes));
    for (size_t i = 0; i < s->n_gpus; i++)
        printf("lane %u   %-12s %s%s%s\n", s->gpus[i]->ordinal, s->gpus[i]->state, s->gpus[i]->name,
               s->gpus[i]->current_job_id[0] ? ", job " : "", s->gpus[i]->current_job_id);
    for (size_t i = 0; i < s->n_loaded_srs; i++)
        printf("key      %-12s %s, %s, %u in use\n", tier_name(s->loaded_srs[i]->tier),
               s->loaded_srs[i]->circuit_id, cli_bytes(s->loaded_srs[i]->size_bytes),
               s->loaded_srs[i]->ref_count);
    for (size_t i = 0; i < s->n_queues; i++)
        printf("queue    %-12s %u waiting, %u running\n", s->queues[i]->proof_kind, s->queues[i]->pending,
               s->queues[i]->in_progress);
    for (size_t i = 0; i < s->n_jobs; i++)
        printf("job      %-12s %s %s, %u of %u parts, %.1f s\n", s->jobs[i]->started ? "proving" : "waiting",
               s->jobs[i]->job_id, s->jobs[i]->circuit_id, s->jobs[i]->partitions_done,
               s->jobs[i]->total_partitions, (double)s->jobs[i]->age_ms / 1000);
}

static json_t *json_status(const Cuzk__V1__GetStatusResponse *s)
{
    json_t *lanes = json_array(), *keys = json_array(), *queues = json_array(), *jobs = json_array();
    for (size_t i = 0; i < s->n_gpus; i++)
        json_array_append_new(lanes, json_pack("{s:s, s:s, s:s}", "state", s->gpus[i]->state, "device",
                                               s->gpus[i]->name, "job", s->gpus[i]->current_job_id));
    for (size_t i = 0; i < s->n_loaded_srs; i++)
        json_array_append_new(keys, json_pack("{s:s, s:s, s:I, s:i}", "circuit", s->loaded_srs[i]->circuit_id,
                                              "state", tier_name(s->loaded_srs[i]->tier), "bytes",
                                              (json_int_t)s->loaded_srs[i]->size_bytes, "references",
                                              (int)s->loaded_srs[i]->ref_count));
    for (size_t i = 0; i < s->n_queues; i++)
        json_array_append_new(queues, json_pack("{s:s, s:i, s:i}", "kind", s->queues[i]->proof_kind,
                                                "pending", (int)s->queues[i]->pending, "running",
                                                (int)s->queues[i]->in_progress));
    for (size_t i = 0; i < s->n_jobs; i++)
        json_array_append_new(
            jobs, json_pack("{s:s, s:s, s:b, s:i, s:i, s:I}", "job", s->jobs[i]->job_id, "circuit",
                            s->jobs[i]->circuit_id, "started", (int)s->jobs[i]->started, "parts",
                            (int)s->jobs[i]->total_partitions, "parts_done", (int)s->jobs[i]->partitions_done,
                            "age_ms", (json_int_t)s->jobs[i]->age_ms));
    return json_pack("{s:s, s:I, s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "status", "OK",
                     "uptime_seconds", (json_int_t)s->uptime_seconds, "draining", (int)s->draining, "proofs",
                     (json_int_t)s->total_proofs_completed, "failed", (json_int_t)s->total_proofs_failed,
                     "memory_bytes", (json_int_t)s->memory_bytes, "memory_limit_bytes",
                     (json_int_t)s->memory_limit_bytes, "lanes", lanes, "keys", keys, "queues", queues,
                     "jobs", jobs);
}

static cuzk_status show_metrics(struct task *t)
{
    Cuzk__V1__GetMetricsRequest q = CUZK__V1__GET_METRICS_REQUEST__INIT;
    ProtobufCMessage *answer;
    TRY(client_call(t, &answer, "GetMetrics", &q.base, &cuzk__v1__get_metrics_response__descriptor));
    const char *const text = ((const Cuzk__V1__GetMetricsResponse *)(const void *)answer)->prometheus_text;
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:s}", "status", "OK", "metrics", text));
    else
        fputs(text, stdout);
    protobuf_c_message_free_unpacked(answer, NULL);
    return CUZK_OK;
}

static cuzk_status show_status(struct task *t)
{
    Cuzk__V1__GetStatusRequest q = CUZK__V1__GET_STATUS_REQUEST__INIT;
    ProtobufCMessage *answer;
    TRY(client_call(t, &answer, "GetStatus", &q.base, &cuzk__v1__get_status_response__descriptor));
    if (cli.json)
        cli_print_json(json_status((const void *)answer));
    else
        print_status((const void *)answer);
    protobuf_c_message_free_unpacked(answer, NULL);
    return CUZK_OK;
}

int cmd_status(int argc, char **argv)
{
    bool metrics = false;
    const struct option_row options[] = {
        { "--metrics", OPTION_FLAG, &metrics, 0, 0, NULL,
          "the counters and gauges, as Prometheus reads them" },
        CLIENT_OPTIONS,
    };
    const struct operand_row operands[] = { CLIENT_ADDRESS };
    struct task t;
    int exit_code;
    if (!client_begin(&t, &exit_code, argc, argv,
                      "Shows what a cuzkd does: its lanes, keys, queues and jobs.", options,
                      ARRAY_COUNT(options), operands, ARRAY_COUNT(operands)))
        return exit_code;
    return client_end(&t, metrics ? show_metrics(&t) : show_status(&t));
}

/* -- keys ---------------------------------------------------------------------------------------------------------------- */

static cuzk_status preload(struct task *t, const char *circuit)
{
    Cuzk__V1__PreloadSrsRequest q = CUZK__V1__PRELOAD_SRS_REQUEST__INIT;
    ProtobufCMessage *answer;
    q.circuit_id = (char *)(uintptr_t)circuit;
    TRY(client_call(t, &answer, "PreloadSRS", &q.base, &cuzk__v1__preload_srs_response__descriptor));
    const Cuzk__V1__PreloadSrsResponse *r = (const void *)answer;
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:b, s:I}", "status", "OK", "already_loaded", (int)r->already_loaded,
                                 "load_ms", (json_int_t)r->load_time_ms));
    else if (!cli.quiet && r->already_loaded)
        printf("%s was loaded already\n", circuit);
    else if (!cli.quiet)
        printf("%s loaded in %" PRIu64 " ms\n", circuit, r->load_time_ms);
    protobuf_c_message_free_unpacked(answer, NULL);
    return CUZK_OK;
}

static cuzk_status evict(struct task *t, const char *circuit)
{
    Cuzk__V1__EvictSrsRequest q = CUZK__V1__EVICT_SRS_REQUEST__INIT;
    ProtobufCMessage *answer;
    q.circuit_id = (char *)(uintptr_t)circuit;
    TRY(client_call(t, &answer, "EvictSRS", &q.base, &cuzk__v1__evict_srs_response__descriptor));
    const Cuzk__V1__EvictSrsResponse *r = (const void *)answer;
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:b, s:I}", "status", "OK", "was_loaded", (int)r->was_loaded,
                                 "freed_bytes", (json_int_t)r->freed_bytes));
    else if (!cli.quiet && !r->was_loaded)
        printf("%s was not loaded\n", circuit);
    else if (!cli.quiet)
        printf("%s evicted, %s freed\n", circuit, cli_bytes(r->freed_bytes));
    protobuf_c_message_free_unpacked(answer, NULL);
    return CUZK_OK;
}

static int key_command(int argc, char **argv, const char *help,
                       cuzk_status (*act)(struct task *t, const char *circuit))
{
    const char *circuit = NULL;
    const struct option_row options[] = { CLIENT_OPTIONS };
    const struct operand_row operands[] = {
        CLIENT_ADDRESS, { "CIRCUIT", &circuit, false, "its name in the daemon's [circuits]" }
    };
    struct task t;
    int exit_code;
    if (!client_begin(&t, &exit_code, argc, argv, help, options, ARRAY_COUNT(options), operands,
                      ARRAY_COUNT(operands)))
        return exit_code;
    return client_end(&t, act(&t, circuit));
}

int cmd_preload(int argc, char **argv)
{
    return key_command(argc, argv, "Loads a circuit's key, so that its next job need not wait.", preload);
}
int cmd_evict(int argc, char **argv)
{
    return key_command(argc, argv, "Gives the memory of an unused key back.", evict);
}

int main(int argc, char **argv)
{
    static const struct command commands[] = {
        { "submit", "", cmd_submit }, { "await", "", cmd_await },     { "cancel", "", cmd_cancel },
        { "status", "", cmd_status }, { "preload", "", cmd_preload }, { "evict", "", cmd_evict },
    };
    cli_handle_signals();
    for (size_t i = 0; argc > 1 && i < ARRAY_COUNT(commands); i++)
        if (!strcmp(argv[1], commands[i].name)) return commands[i].run(argc - 1, argv + 1);
    fputs("cuzk-client is started by cuzk: cuzk submit | await | cancel | status | preload | evict\n",
          stderr);
    return cuzk_status_exit_code(CUZK_INVALID_ARGUMENT);
}
