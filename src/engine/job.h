/* One job: what was asked, its parts, and what became of it.  job.c draws its states. */
#ifndef CUZK_ENGINE_JOB_H
#define CUZK_ENGINE_JOB_H

#include "engine/engine.h"
#include "engine/job_kind.h"

#define JOB_DIGEST_BYTES 32
#define JOB_NO_LANE      UINT32_MAX
#define JOB_TEXT_BYTES   1400

enum job_state { JOB_ACCEPTING, JOB_QUEUED, JOB_STARTED, JOB_RECORDING, JOB_ENDED };

typedef void told_any(void);

/* Somebody who wants to know; made by the caller's thread, owned by the job (or by the core) until told. */
struct waiter {
    struct waiter *next;
    told_any *told;         /* a job_told or key_told; the core only compares it and */
    void *context;          /* this */
    uint64_t deadline_ns;   /* 0: none */
    bool of_submit, joined; /* told when the job is accepted, not when it ends */
    struct waiter *ended;   /* of_submit: owned; waits for the end once the job is accepted.  NULL: nobody will */
};

struct part {
    enum part_state state;
    unsigned attempts;      /* ended without a verified proof */
    bool was_lost; /* with a device's process, beside others: it runs alone there from now on, so that the next end has one cause */
    bool singly; /* a batch that proved others has not proved it: by itself from now on */
    uint64_t not_before_ns; /* back-off */
    uint32_t lane;          /* where it runs, or where it last failed; JOB_NO_LANE */
    uint32_t suspects[8]; /* lanes whose proof of this part did not verify: to blame once another one does */
    unsigned suspect_count;
    void *carry;               /* what synthesis left; its bytes are in the ledger while it is here */
    struct part_output output; /* PART_DONE */
    uint64_t synthesis_ns, prove_ns;
    bool unrecorded; /* done, and not in the journal yet */
};

enum job_record {
    RECORD_NOTHING = 0,
    RECORD_ACCEPT = 1,
    RECORD_PARTS = 2,
    RECORD_END = 4,
    RECORD_FORGET = 8
};

struct job {
    char id[JOB_ID_BYTES], request_id[REQUEST_ID_BYTES];
    uint8_t digest[JOB_DIGEST_BYTES]; /* of kind, circuit, parameters and payload: what a request is; zero where nobody asks */
    uint8_t payload_digest[JOB_DIGEST_BYTES];
    struct circuit *circuit; /* NULL: ended, and its circuit is no longer configured */
    unsigned circuit_index;
    char kind_name[ENGINE_NAME_BYTES];
    enum job_priority priority;
    uint8_t *parameters;
    size_t parameter_bytes;
    uint8_t *payload; /* NULL: on disk only, or released */
    size_t payload_bytes;
    bool payload_counted; /* in the payloads' account */
    bool durable;
    bool unwritten; /* durable, but the queue was full when it came: its payload was not written, and it can only join */
    uint64_t accepted_unix_ms, deadline_unix_ms, expire_unix_ms; /* what a restart needs */
    uint64_t part_ns; /* what a run of a part may take; 0: anything */

    /* -- the core's -- */
    enum job_state state;
    uint64_t sequence;                                                                /* order of arrival */
    uint64_t submit_ns, deadline_ns, expire_ns, first_start_ns, key_since_ns, end_ns; /* expire 0: never */
    bool has_deadline; /* deadline_ns was asked for */
    unsigned part_count, parts_done, in_flight, attempts;
    struct part *parts;
    uint64_t key_ns; /* waited for its key */
    enum job_end end;
    cuzk_status status;
    char error_text[JOB_TEXT_BYTES];
    struct part_output result;
    double synthesis_ms_before, prove_ms_before; /* of the parts' timings, kept when the parts go */
    struct waiter *waiters;
    bool had_waiter;
    unsigned record;   /* enum job_record: what the journal has been asked to write */
    bool dirty;        /* its end could not be written yet */
    bool recorded;     /* the journal has a row */
    bool forgotten;    /* out of the tables: destroyed once the journal has heard of it */
    bool settled;      /* ended, and its inputs are freed */
    bool suspended;    /* left for the next start */
    bool was_running;  /* when it was cancelled */
    bool cancel_asked; /* before the journal had it */

    struct job *next_by_id, *next_by_request; /* buckets */
    struct job *newer, *older;                /* all jobs, by arrival */
    bool in_records;                          /* the shell's: in its list of what is to be written */
    struct job *journal_next, *shelf_next;
};

/** A job with part_count empty parts, on the submitter's thread.  CUZK_NO_MEMORY.  Takes nothing over on failure. */
cuzk_status job_create(struct job **out, struct task *t, struct circuit *c, unsigned part_count,
                       struct span parameters) MUST_CHECK;
void job_destroy(
    struct job *j); /* NULL is legal; payload and results are wiped and freed; no waiter may be left */

/** Moves a part along one of the drawn arrows; aborts on any other. */
void job_part_move(struct job *j, unsigned part, enum part_state to);
void job_move(struct job *j, enum job_state to);

/** The parts' outputs and carries, and the payload in memory, are wiped and freed. */
void job_release_inputs(struct job *j);
void job_timings(const struct job *j, uint64_t now_ns, struct job_timings *out);
void job_error(struct job *j, cuzk_status status, const struct error *e);

#endif
