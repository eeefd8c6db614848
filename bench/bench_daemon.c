/* What the daemon adds to a proof: the same proofs by cuzk_prove here and by Prove through a running cuzkd, in turn.
 *
 *     bench_daemon ADDRESS CIRCUIT KEY.zkey WITNESS.wtns ROUNDS THREADS PID [NAME]
 *
 * The daemon (process PID) serves KEY as CIRCUIT, with as many threads (0: all).  With NAME, what WITNESS.wtns is called in the daemon's
 * witness_folder, the name is sent instead of the bytes.  Both have the key resident and verify each proof.
 * Printed: the medians and the least, the median of the differences of neighbours with its quartiles, and the daemon's own times for the parts of its way;
 * and the same of CPU time and page faults (of daemon and client together), which other work on the machine changes less. */
#include "cuzk/cuzk.h"
#include "base/clock.h"
#include "base/mapfile.h"
#include "wire/rpc_client.h"
#include "wire/rpc_core.h"
#include "cuzk/v1/proving.pb-c.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define ROUNDS_MOST 10000

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* The value that quarters / 4 of them are below. */
static double quartile(const double *values, size_t count, size_t quarters)
{
    static double sorted[ROUNDS_MOST];

    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, compare);
    return sorted[count * quarters / 4];
}

static double median(const double *values, size_t count) { return quartile(values, count, 2); }

static void stop(const char *what, const char *text)
{
    fprintf(stderr, "bench_daemon: %s: %s\n", what, text);
    exit(1);
}

/* CPU time of a process so far. */
static double cpu_ms(clockid_t clock)
{
    struct timespec t;

    if (clock_gettime(clock, &t) != 0) stop("the daemon's process", "is gone");
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Page faults so far that read nothing: here, or of the process whose /proc/PID/stat is at path. */
static double faults(const char *path)
{
    struct rusage own;
    unsigned long count = 0;

    if (path == NULL) return getrusage(RUSAGE_SELF, &own) == 0 ? (double)own.ru_minflt : 0;
    FILE *f = fopen(path, "re");
    if (f == NULL || fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %lu", &count) != 1) stop(path, "cannot be read");
    fclose(f);
    return (double)count;
}

/* What has been spent, here and by the daemon. */
struct spent {
    double cpu, daemon_cpu, faults, daemon_faults;
};

static struct spent spent_now(clockid_t daemon, const char *path)
{
    return (struct spent){ cpu_ms(CLOCK_PROCESS_CPUTIME_ID), cpu_ms(daemon), faults(NULL), faults(path) };
}

struct direct {
    cuzk_context *context;
    cuzk_key *key;
};

static void direct_open(struct direct *d, const char *key_path, unsigned threads)
{
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context_options options = CUZK_CONTEXT_OPTIONS_INIT;

    options.threads = threads;
    if (cuzk_context_create(&d->context, &options, &error) != CUZK_OK) stop("context", error.text);
    if (cuzk_key_open(&d->key, d->context, key_path, NULL, &error) != CUZK_OK) stop(key_path, error.text);
}

/* From the bytes of a .wtns file to a proof's two texts, as the daemon does it. */
static double direct_prove(const struct direct *d, struct span wtns)
{
    const uint64_t start_ns = clock_now_ns();
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_witness *witness = NULL;
    cuzk_publics *publics = NULL;
    cuzk_proof *proof = NULL;
    char text[4096];

    if (cuzk_witness_from_memory(&witness, wtns.data, wtns.size, &error) != CUZK_OK ||
        cuzk_prove(&proof, &publics, d->context, d->key, witness, NULL, &error) != CUZK_OK)
        stop("cuzk_prove", error.text);
    (void)cuzk_proof_encode(proof, CUZK_RAW, text, sizeof text);
    (void)cuzk_proof_encode(proof, CUZK_JSON, text, sizeof text);
    (void)cuzk_publics_encode(publics, text, sizeof text);
    const double ms = clock_ms_since(start_ns);
    cuzk_proof_close(proof);
    cuzk_publics_close(publics);
    cuzk_witness_close(witness);
    return ms;
}

struct times {
    double all, queue, prove, total;
};

static struct times daemon_prove(struct rpc_client *client, const char *circuit, struct span wtns,
                                 const char *name)
{
    const uint64_t start_ns = clock_now_ns();
    Cuzk__V1__SubmitProofRequest submit = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    Cuzk__V1__ProveRequest request = CUZK__V1__PROVE_REQUEST__INIT;
    struct times t = { 0 };
    uint8_t *answer = NULL;
    size_t answer_bytes = 0;
    struct task task;
    int code;

    submit.circuit = (char *)(uintptr_t)circuit;
    if (name != NULL) {
        submit.witness_file = (char *)(uintptr_t)name;
    } else {
        submit.witness.data = (uint8_t *)(uintptr_t)wtns.data;
        submit.witness.len = wtns.size;
    }
    request.submit = &submit;
    task_init(&task);
    if (rpc_client_call(client, &task, &answer, &answer_bytes, &code, "/cuzk.v1.ProvingEngine/Prove",
                        &request.base, 0) != CUZK_OK)
        stop("Prove", task.error.text);
    t.all = clock_ms_since(start_ns);
    Cuzk__V1__ProveResponse *r = cuzk__v1__prove_response__unpack(NULL, answer_bytes, answer);
    if (r == NULL || r->result == NULL ||
        r->result->status != CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED)
        stop("Prove", r != NULL && r->result != NULL ? r->result->error_message : "not an answer");
    t.queue = (double)r->result->queue_wait_ms;
    t.prove = (double)r->result->gpu_compute_ms;
    t.total = (double)r->result->total_ms;
    cuzk__v1__prove_response__free_unpacked(r, NULL);
    free(answer);
    return t;
}

int main(int argc, char **argv)
{
    static double direct[ROUNDS_MOST], daemon[ROUNDS_MOST], more[ROUNDS_MOST], inside[ROUNDS_MOST], prove[ROUNDS_MOST],
        direct_cpu[ROUNDS_MOST], daemon_cpu[ROUNDS_MOST], direct_faults[ROUNDS_MOST], daemon_faults[ROUNDS_MOST];
    const char *const name = argc > 8 ? argv[8] : NULL;
    const size_t rounds = argc > 5 ? (size_t)strtoul(argv[5], NULL, 10) : 0;
    char stat_path[64];
    clockid_t other;
    struct rpc_client *client = NULL;
    struct mapfile wtns;
    struct direct d = { 0 };
    struct task t;

    if (argc < 8 || argc > 9 || rounds < 1 || rounds > ROUNDS_MOST ||
        clock_getcpuclockid((pid_t)strtoul(argv[7], NULL, 10), &other) != 0) {
        fprintf(stderr, "usage: bench_daemon ADDRESS CIRCUIT KEY.zkey WITNESS.wtns ROUNDS THREADS PID\n");
        return 2;
    }
    snprintf(stat_path, sizeof stat_path, "/proc/%.20s/stat", argv[7]);
    task_init(&t);
    rpc_core_init();
    if (mapfile_open(&wtns, &t, argv[4]) != CUZK_OK || rpc_client_open(&client, &t, argv[1]) != CUZK_OK)
        stop(argv[4], t.error.text);
    direct_open(&d, argv[3], (unsigned)strtoul(argv[6], NULL, 10));
    for (int i = 0; i < 2; i++) { /* both load what they keep */
        direct_prove(&d, wtns.bytes);
        daemon_prove(client, argv[2], wtns.bytes, name);
    }
    for (size_t i = 0; i < rounds; i++) {
        struct times s = { 0 };
        for (size_t turn = 0; turn < 2; turn++) { /* who is first changes */
            const struct spent before = spent_now(other, stat_path);
            if (turn == i % 2)
                direct[i] = direct_prove(&d, wtns.bytes);
            else
                s = daemon_prove(client, argv[2], wtns.bytes, name);
            const struct spent after = spent_now(other, stat_path);
            if (turn == i % 2) {
                direct_cpu[i] = after.cpu - before.cpu;
                direct_faults[i] = after.faults - before.faults;
            } else {
                daemon_cpu[i] = after.cpu - before.cpu + after.daemon_cpu - before.daemon_cpu;
                daemon_faults[i] = after.faults - before.faults + after.daemon_faults - before.daemon_faults;
            }
        }
        daemon[i] = s.all;
        inside[i] = s.total;
        prove[i] = s.prove;
        more[i] = daemon[i] - direct[i];
    }
    printf("{\"bench\":\"daemon\",\"rounds\":%zu,\"witness\":\"%s\",\"witness_bytes\":%zu,\"direct_ms\":%.2f,\"daemon_ms\":%.2f,"
           "\"direct_least_ms\":%.2f,\"daemon_least_ms\":%.2f,"
           "\"median_difference_ms\":%.2f,\"quartiles_ms\":[%.2f,%.2f],\"daemon_job_ms\":%.0f,\"daemon_part_ms\":%.0f,"
           "\"direct_cpu_ms\":%.2f,\"daemon_cpu_ms\":%.2f,\"direct_faults\":%.0f,\"daemon_faults\":%.0f}\n",
           rounds, name != NULL ? "by name" : "sent", wtns.bytes.size, median(direct, rounds), median(daemon, rounds),
           quartile(direct, rounds, 0), quartile(daemon, rounds, 0), median(more, rounds),
           quartile(more, rounds, 1), quartile(more, rounds, 3), median(inside, rounds), median(prove, rounds), median(direct_cpu, rounds),
           median(daemon_cpu, rounds), median(direct_faults, rounds), median(daemon_faults, rounds));
    cuzk_key_close(d.key);
    cuzk_context_destroy(d.context);
    rpc_client_close(client);
    rpc_core_fini();
    mapfile_close(&wtns);
    return 0;
}
