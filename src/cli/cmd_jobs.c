/* cuzk submit, await, cancel: jobs on a cuzkd. */
#include "cli/client.h"
#include "base/clock.h"
#include "base/mapfile.h"
#include "cuzk/cuzk_filecoin.h"
#include "formats/c1.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS 500   /* between two looks at a job's progress */
#define LOG_MS  10000 /* between two lines about it in a file, if nothing changes */

static const char submit_help[] =
    "Gives cuzkd a job: the witness of a circuit that its configuration names, or, for porep-2k ... "
    "porep-64g, "
    "the\noutput of Commit Phase 1 (porep: of whatever size the file is).  Prints the job's id and ends; "
    "with "
    "--wait, or where PROOF is given, it waits\nfor the end and writes the proof.  A job goes on when this "
    "program is "
    "stopped; cuzk await takes it up.\n\n"
    "  cuzk submit 127.0.0.1:9820 membership witness.wtns proof.json public.json\n"
    "  cuzk submit 127.0.0.1:9820 porep c1.json porep.proof --miner 1000 --sector 1\n";
static const char await_help[] = "Waits for a job and writes its proof: as snarkjs does, PROOF and PUBLIC; "
                                 "of PoRep, 192 bytes a partition "
                                 "to PROOF.";
static const char cancel_help[] = "Ends a job without a proof.  One that has ended before is left as it is, and it is said how it ended.";

/* -- the end of a job ---------------------------------------------------------------------------------------------------- */

static cuzk_status status_named(const char *name)
{
    for (int s = 0; s <= CUZK_INTERNAL; s++)
        if (!strcmp(cuzk_status_name((cuzk_status)s), name)) return (cuzk_status)s;
    return CUZK_INTERNAL;
}

/* One member of {"proof":..., "publicSignals":[...]} as an output, whose data is the caller's to free. */
static cuzk_status take_member(struct mapfile_output *out, struct task *t, const json_t *result, const char *member,
                               const char *path)
{
    const json_t *const value = json_object_get(result, member);
    char *text = value != NULL ? json_dumps(value, JSON_INDENT(1) | JSON_ENCODE_ANY) : NULL;

    if (text == NULL) return FAIL(t, CUZK_MALFORMED, "the result has no %s", member);
    size_t bytes = strlen(text);
    if (cli_is_stdout(path)) { /* another may follow: the NUL's place is the line's end */
        text[bytes++] = '\n';
    }
    *out = (struct mapfile_output){ path, text, bytes, 0644 };
    return CUZK_OK;
}

/* Both or none.  A kind without JSON gives the proof's bytes. */
static cuzk_status write_result(struct task *t, const Cuzk__V1__AwaitProofResponse *r, const char *proof_path,
                                const char *public_path)
{
    struct mapfile_output outputs[2] = { { NULL, NULL, 0, 0 }, { NULL, NULL, 0, 0 } };
    cuzk_status status = CUZK_OK;
    size_t n = 0;

    if (!proof_path) return CUZK_OK;
    if (!r->result_json[0] && public_path)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "the job is one whose result is bytes alone: give no PUBLIC");
    if (!r->result_json[0]) return mapfile_write(t, proof_path, r->proof.data, r->proof.len, 0644);
    json_t *result = json_loads(r->result_json, 0, NULL);
    if (!result) return FAIL(t, CUZK_MALFORMED, "the result is not JSON");
    if (public_path) TRY_GOTO(out, take_member(&outputs[n++], t, result, "publicSignals", public_path));
    TRY_GOTO(out, take_member(&outputs[n++], t, result, "proof", proof_path));
    status = mapfile_write_together(t, outputs, n);
out:
    for (size_t i = 0; i < ARRAY_COUNT(outputs); i++) free((void *)(uintptr_t)outputs[i].data);
    json_decref(result);
    return status;
}

static cuzk_status report_end(struct task *t, const Cuzk__V1__AwaitProofResponse *r, const char *proof_path,
                              const char *public_path)
{
    switch (r->status) {
    case CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED:
        break;
    case CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED:
        return FAIL(t, status_named(r->error_code), "the job failed: %s", r->error_message);
    case CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED:
        return FAIL(t, CUZK_CANCELLED, "the job was cancelled");
    default:
        return FAIL(t, CUZK_DEADLINE, "the job %s is not finished yet", r->job_id);
    }
    TRY(write_result(t, r, proof_path, public_path));
    if (cli.json) {
        cli_print_json(json_pack("{s:s, s:s, s:I, s:{s:I, s:I, s:I, s:I, s:I}}", "status", "OK", "job",
                                 r->job_id, "attempts", (json_int_t)r->attempts, "timings_ms", "queue",
                                 (json_int_t)r->queue_wait_ms, "key", (json_int_t)r->srs_load_ms, "synthesis",
                                 (json_int_t)r->synthesis_ms, "prove", (json_int_t)r->gpu_compute_ms, "total",
                                 (json_int_t)r->total_ms));
    } else if (!cli.quiet) {
        printf("job %s: proved and verified in %" PRIu64 " ms (waited %" PRIu64 ", key %" PRIu64
               ", synthesis %" PRIu64 ", proving %" PRIu64 ")\n",
               r->job_id, r->total_ms, r->queue_wait_ms, r->srs_load_ms, r->synthesis_ms, r->gpu_compute_ms);
    }
    return CUZK_OK;
}

/* What was shown last, so that a log gets a line when something has changed, and one every few seconds. */
struct shown {
    uint64_t at_ns;
    unsigned parts_done;
    bool started;
};

/* One line on standard error: what the job does now. */
static void show_job(const char *job_id, struct shown *last)
{
    struct task t;
    ProtobufCMessage *answer;
    Cuzk__V1__GetStatusRequest q = CUZK__V1__GET_STATUS_REQUEST__INIT;
    task_init(&t);
    if (client_call(&t, &answer, "GetStatus", &q.base, &cuzk__v1__get_status_response__descriptor) != CUZK_OK)
        return;
    const Cuzk__V1__GetStatusResponse *s = (const void *)answer;
    const bool terminal = isatty(STDERR_FILENO);
    for (size_t i = 0; i < s->n_jobs; i++) {
        const Cuzk__V1__JobStatus *j = s->jobs[i];
        if (strcmp(j->job_id, job_id)) continue;
        if (!terminal && last->at_ns && last->parts_done == j->partitions_done &&
            last->started == j->started && clock_ms_since(last->at_ns) < LOG_MS)
            continue;
        *last = (struct shown){ clock_now_ns(), j->partitions_done, j->started != 0 };
        fprintf(stderr, "%s: %s, %u of %u parts, %.1f s%s", j->circuit_id, j->started ? "proving" : "waiting",
                j->partitions_done, j->total_partitions, (double)j->age_ms / 1000,
                terminal ? "\033[K\r" : "\n");
    }
    protobuf_c_message_free_unpacked(answer, NULL);
}

/* Out  answer  the job's end; TIMEOUT if --timeout-ms is over */
static cuzk_status wait_job(struct task *t, ProtobufCMessage **answer, const char *job_id)
{
    const uint64_t start_ns = clock_now_ns();
    struct shown last = { .at_ns = 0 };
    for (;;) {
        Cuzk__V1__AwaitProofRequest q = CUZK__V1__AWAIT_PROOF_REQUEST__INIT;
        const uint64_t spent_ms = (uint64_t)clock_ms_since(start_ns);
        const bool over = client.timeout_ms && spent_ms + LOOK_MS >= client.timeout_ms;
        q.job_id = (char *)(uintptr_t)job_id;
        q.timeout_ms = !over ? LOOK_MS : client.timeout_ms > spent_ms ? client.timeout_ms - spent_ms : 1;
        TRY(client_call(t, answer, "AwaitProof", &q.base, &cuzk__v1__await_proof_response__descriptor));
        const Cuzk__V1__AwaitProofResponse *r = (const void *)*answer;
        if (over || r->status != CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT) return CUZK_OK;
        protobuf_c_message_free_unpacked(*answer, NULL);
        *answer = NULL;
        if (!cli.quiet) show_job(job_id, &last);
    }
}

static cuzk_status wait_and_report(struct task *t, const char *job_id, const char *proof_path,
                                   const char *public_path)
{
    ProtobufCMessage *answer = NULL;
    TRY(wait_job(t, &answer, job_id));
    const cuzk_status status = report_end(t, (const void *)answer, proof_path, public_path);
    protobuf_c_message_free_unpacked(answer, NULL);
    return status;
}

/* -- the commands -------------------------------------------------------------------------------------------------------- */

static cuzk_status parse_priority(struct task *t, const char *text, Cuzk__V1__Priority *out)
{
    static const char *const names[] = { "low", "normal", "high", "critical" };
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (strcmp(text, names[i])) continue;
        *out = (Cuzk__V1__Priority)(i + CUZK__V1__PRIORITY__LOW);
        return CUZK_OK;
    }
    return FAIL(t, CUZK_INVALID_ARGUMENT, "--priority is low, normal, high or critical, not '%s'", text);
}

/* -- PoRep: what the file says need not be said again -------------------------------------------------------------------- */

struct porep_arguments {
    uint64_t miner, sector;
};
#define NOT_GIVEN UINT64_MAX

static bool is_porep(const char *circuit)
{
    return !strcmp(circuit, "porep") || !strncmp(circuit, "porep-", strlen("porep-"));
}

/* The actor id of a prover id: unsigned LEB128, zeros behind. */
static bool miner_of(uint64_t *out, const uint8_t prover_id[32])
{
    unsigned i = 0;
    for (*out = 0; i < 9; i++) {
        *out |= (uint64_t)(prover_id[i] & 0x7f) << (7 * i);
        if (!(prover_id[i] & 0x80)) break;
    }
    for (unsigned k = i + 1; k < 32; k++)
        if (prover_id[k]) return false;
    return i < 9;
}

static cuzk_status fill_from_file(struct task *t, Cuzk__V1__SubmitProofRequest *q, const struct c1 *c1,
                                  const char *circuit, const struct porep_arguments *a)
{
    const uint64_t named = !strcmp(circuit, "porep") ? c1->shape->sector_bytes : cuzk_sector_bytes(circuit);
    if (named == 0)
        return FAIL(
            t, CUZK_INVALID_ARGUMENT,
            "there is no circuit %s; there are porep-2k, porep-8m, porep-512m, porep-32g and porep-64g",
            circuit);
    q->proof_kind = CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT;
    q->sector_size = named;
    q->registered_proof = c1->proof->number;
    q->sector_number = a->sector;
    q->miner_id = a->miner;
    if (a->sector == NOT_GIVEN && !c1->has_sector)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "--sector N is missing: the file does not say its sector");
    if (a->sector == NOT_GIVEN) q->sector_number = c1->sector_number;
    if (a->miner == NOT_GIVEN && (!c1->has_prover || !miner_of(&q->miner_id, c1->prover_id)))
        return FAIL(t, CUZK_INVALID_ARGUMENT, "--miner N is missing: the file does not say its miner");
    return CUZK_OK;
}

static cuzk_status no_porep_arguments(struct task *t, const char *circuit, const struct porep_arguments *a)
{
    if (a->miner == NOT_GIVEN && a->sector == NOT_GIVEN) return CUZK_OK;
    FAIL(t, CUZK_INVALID_ARGUMENT, "--miner and --sector belong to PoRep jobs, not to circuit %s", circuit);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL, "leave them out, or name porep as CIRCUIT");
    return CUZK_INVALID_ARGUMENT;
}

static cuzk_status take_input(struct task *t, Cuzk__V1__SubmitProofRequest *q, const char *circuit,
                              const struct mapfile *input, const struct porep_arguments *a)
{
    ProtobufCBinaryData *payload = is_porep(circuit) ? &q->vanilla_proof : &q->witness;
    payload->data = (uint8_t *)(uintptr_t)input->bytes.data;
    payload->len = input->bytes.size;
    if (is_porep(circuit)) {
        struct c1 c1;
        TRY(c1_read(&c1, t, input->bytes, input->path));
        const cuzk_status status = fill_from_file(t, q, &c1, circuit, a);
        c1_fini(&c1);
        return status;
    }
    TRY(no_porep_arguments(t, circuit, a));
    q->circuit = (char *)(uintptr_t)circuit;
    return CUZK_OK;
}

static cuzk_status name_input(struct task *t, Cuzk__V1__SubmitProofRequest *q, const char *circuit,
                              const char *name)
{
    if (is_porep(circuit))
        return FAIL(t, CUZK_INVALID_ARGUMENT, "--by-name is for circom jobs; a PoRep job's INPUT is sent");
    q->circuit = (char *)(uintptr_t)circuit;
    q->witness_file = (char *)(uintptr_t)name;
    return CUZK_OK;
}

static cuzk_status submit(struct task *t, Cuzk__V1__SubmitProofRequest *q, const char *circuit,
                          const char *input_path, bool by_name, const struct porep_arguments *porep,
                          bool wait, const char *proof_path, const char *public_path)
{
    struct mapfile input = { 0 };
    ProtobufCMessage *answer = NULL;
    cuzk_status status;
    if (by_name) {
        TRY_GOTO(out, name_input(t, q, circuit, input_path));
        TRY_GOTO(out, no_porep_arguments(t, circuit, porep));
    } else {
        TRY_GOTO(out, mapfile_open(&input, t, input_path));
        TRY_GOTO(out, take_input(t, q, circuit, &input, porep));
    }
    TRY_GOTO(out,
             client_call(t, &answer, "SubmitProof", &q->base, &cuzk__v1__submit_proof_response__descriptor));
    const Cuzk__V1__SubmitProofResponse *r = (const void *)answer;
    if (wait) {
        status = wait_and_report(t, r->job_id, proof_path, public_path);
        if (status == CUZK_IO) cli_warn("the job is %s: cuzk await takes its result up", r->job_id);
        if (status != CUZK_OK) goto out;
    } else if (cli.json) {
        cli_print_json(json_pack("{s:s, s:s, s:I, s:b}", "status", "OK", "job", r->job_id, "jobs_ahead",
                                 (json_int_t)r->queue_position, "joined", (int)r->joined));
    } else {
        printf("%s\n", r->job_id);
    }
out:
    if (answer) protobuf_c_message_free_unpacked(answer, NULL);
    if (answer) mapfile_close(&input); /* else the call may hold it still, and the process ends */
    return status;
}

/* Before anything is sent: what comes back has a place of its own to go to. */
static cuzk_status check_outputs(struct task *t, const char *proof, const char *public_inputs, const char *input)
{
    const char *const outputs[] = { proof, public_inputs }, *const inputs[] = { input };

    TRY(cli_files_apart(t, outputs, ARRAY_COUNT(outputs), inputs, ARRAY_COUNT(inputs)));
    for (size_t i = 0; i < ARRAY_COUNT(outputs); i++)
        if (outputs[i] != NULL && strcmp(outputs[i], "-") != 0) TRY(mapfile_check_writable(t, outputs[i]));
    return CUZK_OK;
}

int cmd_submit(int argc, char **argv)
{
    const char *circuit = NULL, *input = NULL, *proof = NULL, *public_inputs = NULL, *priority = "normal",
               *request_id = "";
    bool wait = false, durable = false, by_name = false;
    uint64_t deadline_ms = 0;
    struct porep_arguments porep = { NOT_GIVEN, NOT_GIVEN };
    const struct option_row options[] = {
        { "--wait", OPTION_FLAG, &wait, 0, 0, NULL, "wait for the end" },
        { "--by-name", OPTION_FLAG, &by_name, 0, 0, NULL,
          "INPUT is a file's name within the daemon's [jobs] witness_folder, and is not sent" },
        { "--miner", OPTION_COUNT, &porep.miner, 0, NOT_GIVEN - 1, "N",
          "PoRep: the miner's actor id, if the file does not say it" },
        { "--sector", OPTION_COUNT, &porep.sector, 0, NOT_GIVEN - 1, "N",
          "PoRep: the sector's number, if the file does not say it" },
        { "--priority", OPTION_TEXT, &priority, 0, 0, "P", "low, normal (default), high or critical" },
        { "--request-id", OPTION_TEXT, &request_id, 0, 0, "ID",
          "your own name: the same name and input again give the same job" },
        { "--deadline-ms", OPTION_COUNT, &deadline_ms, 1, 604800000, "N",
          "when it is needed, from now: orders it among its like" },
        { "--durable", OPTION_FLAG, &durable, 0, 0, NULL,
          "keep the witness on the daemon's disk until the end: survives a crash (PoRep jobs always do)" },
        CLIENT_OPTIONS,
    };
    const struct operand_row operands[] = {
        CLIENT_ADDRESS,
        { "CIRCUIT", &circuit, false,
          "its name in the daemon's [circuits], or porep, porep-2k ... porep-64g" },
        { "INPUT", &input, false,
          "witness: .wtns; PoRep: Commit Phase 1's output, JSON, wrapped, or bincode" },
        { "PROOF", &proof, true, "where the proof goes; - is standard output" },
        { "PUBLIC", &public_inputs, true, "where the public inputs go (not PoRep)" },
    };
    struct task t;
    int exit_code;
    if (!client_begin(&t, &exit_code, argc, argv, submit_help, options, ARRAY_COUNT(options), operands,
                      ARRAY_COUNT(operands)))
        return exit_code;
    Cuzk__V1__SubmitProofRequest q = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    q.request_id = (char *)(uintptr_t)request_id;
    q.deadline_ms = deadline_ms;
    q.durable = durable ? CUZK__V1__DURABLE__DURABLE_YES : CUZK__V1__DURABLE__DURABLE_BY_KIND;
    cuzk_status status = parse_priority(&t, priority, &q.priority);
    if (status == CUZK_OK && is_porep(circuit) && public_inputs)
        status = FAIL(&t, CUZK_INVALID_ARGUMENT,
                      "a PoRep job gives no PUBLIC: cuzk porep inspect --public writes them");
    if (status == CUZK_OK) status = check_outputs(&t, proof, public_inputs, by_name ? NULL : input);
    if (status == CUZK_OK)
        status = submit(&t, &q, circuit, input, by_name, &porep, wait || proof, proof, public_inputs);
    return client_end(&t, status);
}

int cmd_await(int argc, char **argv)
{
    const char *job = NULL, *proof = NULL, *public_inputs = NULL;
    const struct option_row options[] = { CLIENT_OPTIONS };
    const struct operand_row operands[] = {
        CLIENT_ADDRESS,
        { "JOB", &job, false, "the id that cuzk submit printed" },
        { "PROOF", &proof, true, "where the proof goes; - is standard output" },
        { "PUBLIC", &public_inputs, true, "where the public inputs go" },
    };
    struct task t;
    int exit_code;
    if (!client_begin(&t, &exit_code, argc, argv, await_help, options, ARRAY_COUNT(options), operands,
                      ARRAY_COUNT(operands)))
        return exit_code;
    cuzk_status status = check_outputs(&t, proof, public_inputs, NULL);
    if (status == CUZK_OK) status = wait_and_report(&t, job, proof, public_inputs);
    return client_end(&t, status);
}

/* What has ended before cannot be cancelled any more. */
static void report_cancel(const Cuzk__V1__CancelProofResponse *r, const char *job)
{
    const bool was_running = r->was_running != 0;
    const char *const ended = r->ended == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED ? "completed"
                              : r->ended == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED  ? "failed"
                                                                                            : NULL;

    if (cli.json)
        cli_print_json(json_pack("{s:s, s:s, s:b, s:b, s:s?}", "status", "OK", "job", job, "cancelled", ended == NULL,
                                 "was_running", (int)was_running, "ended_before", ended));
    else if (cli.quiet)
        return;
    else if (ended != NULL)
        printf("not cancelled: the job had %s before; cuzk await tells its result\n", ended);
    else
        printf("cancelled; it %s\n", was_running ? "was running" : "was not running");
}

int cmd_cancel(int argc, char **argv)
{
    const char *job = NULL;
    const struct option_row options[] = { CLIENT_OPTIONS };
    const struct operand_row operands[] = { CLIENT_ADDRESS,
                                            { "JOB", &job, false, "the id that cuzk submit printed" } };
    struct task t;
    int exit_code;
    if (!client_begin(&t, &exit_code, argc, argv, cancel_help, options, ARRAY_COUNT(options), operands,
                      ARRAY_COUNT(operands)))
        return exit_code;
    ProtobufCMessage *answer;
    Cuzk__V1__CancelProofRequest q = CUZK__V1__CANCEL_PROOF_REQUEST__INIT;
    q.job_id = (char *)(uintptr_t)job;
    const cuzk_status status =
        client_call(&t, &answer, "CancelProof", &q.base, &cuzk__v1__cancel_proof_response__descriptor);
    if (status == CUZK_OK) {
        report_cancel((const void *)answer, job);
        protobuf_c_message_free_unpacked(answer, NULL);
    }
    return client_end(&t, status);
}
