/* The engine as a state machine: events and a clock in, actions out; no thread, no file, no time of its own.
 *
 * engine.c feeds it from the mailbox and carries the actions out; tests/sim does the same with fake lanes, a fake journal and a seed. */
#ifndef CUZK_ENGINE_ENGINE_CORE_H
#define CUZK_ENGINE_ENGINE_CORE_H

#include "engine/admit.h"
#include "engine/budget.h"
#include "engine/job.h"
#include "engine/key_store.h"
#include "engine/lane.h"
#include "engine/queue.h"
#include "engine/result.h"

/* -- actions ------------------------------------------------------------------------------------------------------------ */

enum action_kind {
    ACT_RUN,      /* lane, job, part, synthesis: answer with EVENT_PART_ENDED */
    ACT_STOP,     /* lane: set its cancel flag */
    ACT_TEST,     /* lane: answer with EVENT_LANE_TESTED */
    ACT_GIVE,     /* lane: free the block that it keeps; answer with EVENT_LANE_GAVE */
    ACT_LOAD,     /* key: answer with EVENT_KEY_LOADED */
    ACT_FREE_KEY, /* key: answer with EVENT_KEY_FREED */
    ACT_RECORD, /* job: write what job->record says, then EVENT_JOURNALED; may be asked for more before that */
    ACT_DROP_PAYLOAD, /* job: delete its payload file */
    ACT_DESTROY,      /* job: delete its payload file, destroy it; it is in no table any more */
    ACT_TELL,         /* waiter, answer: call it, free it */
    ACT_TELL_KEY,     /* waiter, key_answer */
    ACT_NOTE,         /* level, text, job or NULL: for the log */
};

struct action {
    enum action_kind kind;
    uint32_t lane;
    struct job *job;
    unsigned part;
    bool synthesis;
    struct stored_key *key;
    struct waiter *waiter;
    const struct job_answer *answer;
    const struct key_answer *key_answer;
    int level; /* enum log_level */
    const char *text;
};
/** Called by core_step; must not call back into the core. */
typedef void core_act(void *context, const struct action *a);

/* -- events ------------------------------------------------------------------------------------------------------------- */

enum event_kind {
    EVENT_SUBMIT,         /* job (owned from here), waiter */
    EVENT_RESUME,         /* job, from the journal: ended, or with some parts done */
    EVENT_JOURNALED,      /* job, records (the bits, which are out of job->record by now), status, error, input_lost */
    EVENT_JOURNAL_LOOKED, /* status, error: whether the journal could be written; while journal_broken, whether it has been */
    EVENT_AWAIT,          /* id, waiter */
    EVENT_LEAVE,          /* id, told and context of the waiter that leaves */
    EVENT_CANCEL,         /* id, waiter */
    EVENT_PRELOAD,        /* circuit, waiter */
    EVENT_EVICT,          /* circuit, waiter */
    EVENT_PART_BEGUN,     /* lane; if options.take_turns: it has its turn, or waits for others there still; its time begins anew with each */
    EVENT_PART_ENDED,     /* lane, outcome, error, output, carry */
    EVENT_LANE_TESTED,    /* lane, status */
    EVENT_LANE_GAVE,      /* lane */
    EVENT_KEY_LOADED,     /* key, status, error, loaded, bytes */
    EVENT_KEY_FREED,      /* key */
    EVENT_TICK,           /* time has passed */
    EVENT_DRAIN,          /* take no more; start no job that has not started */
    EVENT_HALT,           /* and stop what runs */
};

enum part_outcome {
    PART_RAN,
    PART_WRONG /* did not verify, nobody knows why */,
    PART_DEVICE_GONE /* with its process, which may have been another part's doing: nobody is blamed */,
    PART_KEY_LOST /* the files of the key have changed while it was in use: nobody else's fault */,
    PART_FAILED /* error says why */
};

struct event {
    enum event_kind kind;
    struct job *job;
    struct waiter *waiter;
    const char *id, *circuit;
    told_any *told;
    void *context;
    unsigned records;
    cuzk_status status;
    uint32_t lane;
    enum part_outcome outcome;
    const struct error *error; /* status != OK */
    bool input_lost;           /* JOURNALED: the new job's input has gone; the journal is as it was */
    struct part_output output; /* PART_RAN, proved: owned from here */
    struct part_output *outputs; /* PART_RAN, of a batch: what they hold is owned from here; without a proof: not proved */
    unsigned wrong;              /* of these, a bit for each that did not verify */
    void *carry;               /* PART_RAN, synthesised: owned from here */
    bool carry_freed;          /* PART_RAN, proved: the lane has freed the part's carry */
    struct stored_key *key;
    void *loaded;
    struct bytes bytes;
};

/* -- the core ----------------------------------------------------------------------------------------------------------- */

#define CORE_BUCKETS 4096
#define CORE_KINDS   16
#define CORE_STOP_GRACE_MS 60000 /* how long a lane that is told to stop may take at most; a watchdog's time if that is less */

struct core_options {
    unsigned queue_most, result_most, attempts_most;
    uint64_t payload_bytes; /* of all queued payloads */
    uint64_t result_keep_ns, ageing_ns, group_window_ns, evict_idle_ns, watchdog_ns;
    bool cancel_when_alone;
    unsigned strikes_most;
    uint64_t keep_most_bytes; /* a larger block is not kept by a lane */
    bool take_turns;       /* a proof waits for its turn in a device's process, and says when it begins; its time is from then */
    bool copies_inputs;    /* a device's process has what a proof is made from once more */
    unsigned device_count; /* lane i is on device i % device_count; 0: as 1 */
};

struct engine_core {
    struct core_options options;
    core_act *act;
    void *act_context;

    struct budget budget;
    struct bytes fixed;   /* taken at start: payloads' account, devices' tables */
    struct bytes carried; /* of parts between synthesis and the end of their proof */
    struct bytes stuck;   /* held by lanes that do not answer */
    struct key_store store;
    unsigned *carried_parts; /* by circuit */
    bool *resident;          /* by circuit; scratch of the scheduler */
    struct lane_book lanes;
    struct queue queue;
    struct result_shelf shelf; /* ended jobs, by their end */

    struct job *by_id[CORE_BUCKETS], *by_request[CORE_BUCKETS];
    struct job *newest;
    uint64_t next_sequence;
    unsigned unfinished; /* jobs */
    uint64_t payload_used, payload_peak;

    struct engine_counters counters;
    struct kind_view kinds[CORE_KINDS];
    size_t kind_count;
    uint64_t start_ns, due_ns; /* when a tick has something to do, at the latest */
    bool draining, halted, journal_broken;
};

/** total: the whole budget; fixed: taken from it at once. */
cuzk_status core_init(struct engine_core *c, struct task *t, const struct core_options *o,
                      struct circuit *circuits, size_t circuit_count, uint32_t lane_count,
                      const struct bytes *total, const struct bytes *fixed, core_act *act, void *act_context,
                      uint64_t now_ns) MUST_CHECK;
/** After everything in flight has come back.  Destroys the jobs (their files stay); resident keys must have been unloaded. */
void core_fini(struct engine_core *c);

/** Takes event in at time now_ns, which never goes back, and acts. */
void core_step(struct engine_core *c, const struct event *event, uint64_t now_ns);
/** When to step with EVENT_TICK if nothing else happens. */
uint64_t core_due_ns(const struct engine_core *c);
/** Nothing runs, loads or is being written. */
bool core_quiet(const struct engine_core *c);
/** No started job is unfinished: a drain has come to its end. */
bool core_drained(const struct engine_core *c);

/** The queue takes no further job of any size. */
bool core_full(const struct engine_core *c);
bool core_queue_full(const struct engine_core *c); /* because of their number */

struct job *core_find(const struct engine_core *c, const char *id); /* NULL: none */
/** What a job on circuit takes at most, its key and a payload of so many bytes included. */
void core_job_bytes(struct bytes *out, const struct circuit *circuit);
/** Whether a job could run at all, everything else being idle; of nothing that changes after core_init.  Errors  CUZK_TOO_LARGE */
cuzk_status core_could_ever_run(const struct engine_core *c, struct task *t, const struct circuit *circuit,
                                size_t payload_bytes, bool durable) MUST_CHECK;
/** Checks what must always hold (sums in the ledger, counts); aborts with a text.  For tests; linear. */
void core_audit(const struct engine_core *c);

#endif
