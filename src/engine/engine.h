/* The engine: jobs in, verified proofs out; one thread that owns the queue, the budget, the key store and the job table.
 *
 * Every call here may be made from any thread.  A call puts a message into the engine's mailbox and returns; the answer comes
 * through a callback on the engine's thread, which must be short, must not block and must not call engine_close.  The *_wait
 * forms wait for that callback.  docs/memory.md says who owns which bytes; job.c draws the states of a job. */
#ifndef CUZK_ENGINE_ENGINE_H
#define CUZK_ENGINE_ENGINE_H

#include "base/span.h"
#include "base/task.h"

struct engine;
struct job_kind;

#define JOB_ID_BYTES      33 /* 32 hexadecimal digits and NUL; random, never made of content */
#define REQUEST_ID_BYTES  256
#define ENGINE_NAME_BYTES 64 /* of a circuit or a kind, NUL included */

/* Numbers as on the wire. */
enum job_priority { JOB_LOW = 1, JOB_NORMAL = 2, JOB_HIGH = 3, JOB_CRITICAL = 4 };

/* -- opening ------------------------------------------------------------------------------------------------------------ */

/* The kinds of this build. */
extern const struct job_kind
    kind_circom, /* "circom": one proof from a .zkey (or .params and .r1cs) and the bytes of a .wtns */
    kind_porep;  /* "porep": 192 bytes a partition from the output of Commit Phase 1 (JSON, Curio's wrapper, bincode) */
const struct job_kind *job_kind_by_name(const char *name); /* NULL: not in this build */

/* Which form of a key proves: its derived form if it lies beside the key and nothing is wrong with it; the key as it is; the derived form or none. */
enum engine_key_mode { ENGINE_KEY_AUTO, ENGINE_KEY_ORIGINAL, ENGINE_KEY_DERIVED };

/* Whether each device is driven by a process of its own (engine/device_process.h): one that has memory of its own; every one; none. */
enum engine_process { ENGINE_PROCESS_AUTO, ENGINE_PROCESS_ALWAYS, ENGINE_PROCESS_NEVER };
/** First thing in the main of a program whose engine is not told NEVER: such a process is the program started again.  The exit code if this
 * is one, which has then come to its end; -1: it is not. */
int engine_device_main(int argc, char **argv);

/* A circuit that jobs may name.  Texts are copied. */
struct engine_circuit {
    const char *name; /* "porep-32g", or any name for a circom key */
    const struct job_kind *kind;
    const char *key_path;  /* a file; porep: the folder with the parameters */
    const char *r1cs_path; /* NULL: none */
    enum engine_key_mode key_mode;
    bool preload;          /* loaded at start; the first jobs need not wait */
    bool optional;         /* left out with a warning if its files are not usable */
};

/** The folder of Filecoin's parameters when none is configured: $FIL_PROOFS_PARAMETER_CACHE, else the usual one. */
const char *engine_parameter_folder(void);
#define ENGINE_FOUND_MOST 16
/** The circuits whose parameters a folder holds: "porep-2k" ... "porep-64g".
 * Out     names live for ever; key_path is folder itself
 * Errors  CUZK_NOT_FOUND, CUZK_IO: the folder */
cuzk_status engine_find_circuits(struct engine_circuit out[ENGINE_FOUND_MOST], size_t *count, struct task *t,
                                 const char *folder) MUST_CHECK;

struct engine_options {
    const struct engine_circuit *circuits;
    size_t circuit_count;

    const char *backend;     /* "cpu" */
    const unsigned *devices; /* their indices; NULL: 0 */
    size_t device_count;     /* 0: one; at most ENGINE_DEVICES_MOST.  They are taken to be equal: the smallest one's memory counts for each */
    unsigned lane_count;     /* parts that run at the same time, in turn on each device; 0: one a device */
    bool batches_never;  /* parts of one job are never proved together on a device */
    unsigned threads;    /* workers that all lanes share; 0: one a usable CPU */

    uint64_t
        heap_bytes; /* all that the engine may take of the host; 0: cgroup limit or MemTotal, less margin_bytes */
    uint64_t margin_bytes; /* taken off an automatic budget; ENGINE_DEFAULTS: an eighth of it */
    uint64_t pinned_bytes; /* of heap_bytes, taken at the start for the devices' transfers; 0: none.  For backends with memory of their own */
    uint64_t device_bytes; /* of each device's memory; 0: all that is free */
    enum engine_process process;
    const char *process_program; /* what is started for it; NULL: this program */

    unsigned queue_most; /* jobs accepted and not finished; one more is QUEUE_FULL */
    uint64_t
        queue_most_bytes;    /* their payloads in memory; reserved in the heap budget.  0: a quarter of it */
    unsigned result_most;    /* finished jobs that are remembered; the oldest is forgotten first */
    uint64_t result_keep_ms; /* and how long */

    uint64_t ageing_ms;       /* a job that waited this long counts one class higher, and so on */
    uint64_t group_window_ms; /* how much later a job of a resident circuit may have come to go first */
    uint64_t
        evict_idle_ms;    /* an unused key younger than this is evicted only if nothing else can make room */
    uint64_t watchdog_ms; /* a part that runs longer is stopped, and its lane tested; parts that are proved together have it for each.
                           * 0: none */
    uint64_t job_ttl_ms;  /* a job older than this ends with DEADLINE.  0: never */
    bool cancel_when_alone; /* a job whose last waiter has left (engine_leave) is cancelled */

    unsigned attempts_most;     /* of one part */
    unsigned lane_strikes_most; /* in an hour; then the lane is closed */

    const char *data_folder; /* of the journal and the payloads; NULL: nothing is durable */
};
#define ENGINE_DEVICES_MOST 16
/* What is not set otherwise.  Every number can be lowered for tests. */
#define ENGINE_DEFAULTS                                                                                    \
    {                                                                                                      \
        .backend = "cpu", .lane_count = 1, .margin_bytes = UINT64_MAX, .queue_most = 1024,                 \
        .result_most = 4096, .result_keep_ms = 24 * 3600 * 1000u, .ageing_ms = 600 * 1000u,                \
        .group_window_ms = 60 * 1000u, .evict_idle_ms = 300 * 1000u, .watchdog_ms = 0, .attempts_most = 3, \
        .lane_strikes_most = 3, .process = ENGINE_PROCESS_NEVER                                                                             \
    }

/** Starts the threads, measures every circuit (opens its key once), opens the journal, resumes what it holds, and begins to preload.
 * Errors  CUZK_NOT_FOUND, CUZK_MALFORMED and other errors of a circuit's files; CUZK_IO: the journal (another process has it, or the
 *         disk); CUZK_DEVICE_UNAVAILABLE; CUZK_TOO_LARGE: a budget smaller than its fixed parts; CUZK_INVALID_ARGUMENT names the
 *         option.  A circuit that is larger than the budget is a warning here and an error at submit. */
cuzk_status engine_open(struct engine **out, struct task *t, const struct engine_options *o) MUST_CHECK;

/** Stops taking work.  Jobs that run are finished up to timeout_ms (0: stopped at once); what is durable and unfinished stays in the
 * journal and is resumed by the next engine_open; other jobs end CANCELLED.  All waiters are answered.  NULL is legal. */
void engine_close(struct engine *e, uint64_t timeout_ms);

/* -- jobs --------------------------------------------------------------------------------------------------------------- */

struct job_answer;
/** The answer and all that it points to live until the callback returns.  Thread  the engine's. */
typedef void job_told(void *context, const struct job_answer *answer);

struct engine_request {
    const char *request_id; /* the client's own; "" or NULL: never joined */
    const char *circuit;
    enum job_priority priority; /* 0: NORMAL */
    struct span
        parameters; /* the kind's small parameters (sector, miner, ...), at most ENGINE_PARAMETERS_MOST; copied */
    uint8_t *
        payload; /* from malloc; owned by the engine from this call on, whatever it returns; wiped and freed */
    size_t payload_bytes;
    uint64_t deadline_ms; /* from now; orders the job within its class.  0: none */
    uint64_t ttl_ms;      /* from now; the job then ends with DEADLINE.  0: the engine's job_ttl_ms */
    uint64_t part_ms;     /* from when a run of a part has its turn on its device (a synthesis: from its beginning); if it takes longer the job
                           * ends with DEADLINE; parts that are proved together have it for each.  0: no limit.  Only with durable -1 */
    int durable;          /* 1: survives a crash; 0: the kind's own rule; -1: never written to disk */
    /* NULL, or told of the job's end with the same context: an engine_await that begins with the acceptance, so that the job is not without
     * a waiter in between (cancel_when_alone).  Never called if the submit is refused. */
    job_told *ended;
};
#define ENGINE_PARAMETERS_MOST 4096

/* The parameters of a job of Filecoin's kinds: these fields, little-endian, hashes of 32 bytes; what a kind has no use for is zero. */
enum {
    FILECOIN_AT_REGISTERED_PROOF = 0, /* 0: not said */
    FILECOIN_AT_SECTOR = 8,
    FILECOIN_AT_MINER = 16,
    FILECOIN_AT_PARTITION = 24,
    FILECOIN_AT_RANDOMNESS = 32,
    FILECOIN_AT_COMM_R_OLD = 64,
    FILECOIN_AT_COMM_R_NEW = 96,
    FILECOIN_AT_COMM_D_NEW = 128,
    FILECOIN_PARAMETERS_BYTES = 160
};

enum job_end { JOB_UNFINISHED, JOB_DONE, JOB_FAILED, JOB_CANCELLED };

struct job_timings {
    double queue_ms, key_ms, synthesis_ms, prove_ms,
        total_ms; /* parts that ran side by side are added up; total is wall time */
};

struct job_answer {
    char job_id[JOB_ID_BYTES];
    cuzk_status
        status; /* of a submit: whether it was accepted; of an await: JOB_FAILED's cause, else OK.  An await that
                                   * timed out: CUZK_DEADLINE with end JOB_UNFINISHED.  NOT_FOUND: no such job (any more).
                                   * DEVICE_UNAVAILABLE: the engine is closing, and the job goes on at the next start */
    const char *error_text;  /* "" if none; what and why, and what to do */
    bool joined;             /* submit: an earlier job with the same request id and payload */
    unsigned queue_position; /* submit: jobs ahead */
    enum job_end end;
    struct span proof; /* JOB_DONE: the kind's proof bytes (circom: the three points, CUZK_RAW) */
    struct span
        text; /* JOB_DONE: the kind's text (circom: {"proof":..,"publicSignals":[..]}); may be empty */
    struct job_timings timings;
    unsigned attempts; /* runs of parts, failed ones included */
    bool was_running;  /* cancel: a part of it ran */
};

/** Validates, digests and (if durable) writes the payload on the calling thread, then hands the job to the engine.
 * Out     told is called exactly once if CUZK_OK is returned, else never; before the call returns, on the caller's thread, if there are as many
 *         jobs as may wait and the request has no id: that refusal waits for nobody, and nothing is validated
 * Errors  CUZK_NOT_FOUND (circuit), what the kind's validation says, CUZK_IO (disk).  Those of admission come to told: CUZK_QUEUE_FULL,
 *         CUZK_TOO_LARGE (both numbers are named), CUZK_DEVICE_UNAVAILABLE (every lane is closed, or the engine is closing), CUZK_IO (the
 *         journal).
 * Cost    one SHA-256 of the payload if it has a request id or is durable, and one fsync if durable. */
cuzk_status engine_submit(struct engine *e, struct task *t, const struct engine_request *r, job_told *told,
                          void *context) MUST_CHECK;

/** Whether a job that is not durable could run on a circuit, everything else being idle: what engine_submit would refuse for good.
 * Errors  CUZK_NOT_FOUND: no such circuit; CUZK_TOO_LARGE (both numbers are named); why one that is optional is not served */
cuzk_status engine_could_run(const struct engine *e, struct task *t, const char *circuit,
                             size_t payload_bytes) MUST_CHECK;

/** told once: when the job has ended, when timeout_ms has passed (0: never), or when (told, context) leaves.  Where there is no memory
 * for the message it is told so before the call returns, on the caller's thread. */
void engine_await(struct engine *e, const char *job_id, uint64_t timeout_ms, job_told *told, void *context);
/** The waiter's client is gone: told is called with CUZK_CANCELLED, end JOB_UNFINISHED, unless it has been called already. */
void engine_leave(struct engine *e, const char *job_id, job_told *told, void *context);
void engine_cancel(struct engine *e, const char *job_id, job_told *told, void *context);

/* Forms that wait.  The answer is a copy: free it with job_answer_free.  Not from a callback. */
cuzk_status engine_submit_wait(struct engine *e, struct task *t, const struct engine_request *r,
                               struct job_answer *out) MUST_CHECK;
void engine_await_wait(struct engine *e, const char *job_id, uint64_t timeout_ms, struct job_answer *out);
void engine_cancel_wait(struct engine *e, const char *job_id, struct job_answer *out);
void job_answer_free(struct job_answer *a);

/* -- keys --------------------------------------------------------------------------------------------------------------- */

struct key_answer {
    cuzk_status status; /* NOT_FOUND: no such circuit.  QUEUE_FULL on evict: in use */
    const char *error_text;
    bool was_loaded; /* before the call */
    uint64_t load_ms, freed_bytes;
};
typedef void key_told(void *context, const struct key_answer *answer);
void engine_preload(struct engine *e, const char *circuit, key_told *told, void *context);
void engine_evict(struct engine *e, const char *circuit, key_told *told, void *context);
/** error_text is "" in a waited answer: the status tells. */
void engine_preload_wait(struct engine *e, const char *circuit, struct key_answer *out);
void engine_evict_wait(struct engine *e, const char *circuit, struct key_answer *out);

/* -- looking in --------------------------------------------------------------------------------------------------------- */

enum key_state { KEY_COLD, KEY_LOADING, KEY_RESIDENT, KEY_EVICTING };
enum lane_state { LANE_IDLE, LANE_BUSY, LANE_TESTING, LANE_QUARANTINED, LANE_STUCK, LANE_CLOSED };
enum part_state { PART_WAITING, PART_SYNTHESISING, PART_READY, PART_PROVING, PART_DONE };
const char *lane_state_name(enum lane_state s);
const char *key_state_name(enum key_state s);
const char *part_state_name(enum part_state s);

struct bytes_view {
    uint64_t total, used, peak;
};

struct lane_view {
    enum lane_state state;
    char device[96];       /* "cpu-0: AMD EPYC ..." */
    unsigned device_index; /* in engine_view.devices */
    char job_id[JOB_ID_BYTES], kind[ENGINE_NAME_BYTES];
    unsigned part, strikes;
    uint64_t busy_ms;
};
struct key_view {
    char circuit[ENGINE_NAME_BYTES], kind[ENGINE_NAME_BYTES];
    enum key_state state;
    uint64_t bytes;      /* that it takes, or would take */
    unsigned references; /* parts in flight */
    uint64_t idle_ms;
};
struct part_view {
    enum part_state state;
    uint64_t synthesis_ms, prove_ms;
};
struct job_view { /* jobs not finished yet */
    char job_id[JOB_ID_BYTES], circuit[ENGINE_NAME_BYTES], kind[ENGINE_NAME_BYTES];
    enum job_priority priority;
    uint64_t age_ms;
    bool started;
    unsigned part_count, parts_done;
    const struct part_view *parts;
};
struct kind_view {
    char kind[ENGINE_NAME_BYTES];
    unsigned pending, running; /* jobs */
    uint64_t done, failed;
};
struct engine_counters {
    uint64_t accepted, joined, refused_full, refused_large, refused_other;
    uint64_t done, failed, cancelled, expired;
    uint64_t late; /* done, but after their deadline */
    uint64_t attempts, retries, verify_failures, lane_failures, watchdog_stops, quarantines, lanes_closed;
    uint64_t key_loads, key_load_failures, evictions;
    uint64_t journal_failures, resumed;
    uint64_t device_restarts; /* processes of devices, started again */
    double prove_ms; /* of all parts */
};
struct engine_view {
    uint64_t uptime_ms;
    struct bytes_view heap, pinned, payloads;
    struct bytes_view devices[ENGINE_DEVICES_MOST]; /* device_count of them; total 0: it works in the host's memory */
    size_t device_count;
    const struct lane_view *lanes;
    size_t lane_count;
    const struct key_view *keys;
    size_t key_count;
    const struct job_view *jobs;
    size_t job_count;
    const struct kind_view *kinds;
    size_t kind_count;
    struct engine_counters counters;
    bool journal_broken; /* durable jobs are refused */
};
typedef void view_told(void *context, const struct engine_view *view);
/** The view lives until told returns. */
void engine_look(struct engine *e, view_told *told, void *context);

#endif
