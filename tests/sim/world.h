/* A world for the engine's core: fake lanes, loaders and a fake journal, a clock that jumps, all from one seed. */
#ifndef CUZK_TESTS_WORLD_H
#define CUZK_TESTS_WORLD_H

#include "engine/engine_core.h"
#include "support/prng.h"

#define WORLD_CIRCUITS 4
#define WORLD_JOBS     512
#define SECOND         1000000000ull

/* What the client knows of one job that it handed in. */
struct client_job {
    bool used, durable, cancelled, answered, accepted, lost;
    char id[JOB_ID_BYTES], request_id[32];
    uint64_t content; /* what its payload says */
    unsigned circuit;
    enum job_priority priority;
    uint64_t submit_ns, start_ns;
    enum job_end end; /* first heard */
    unsigned ends;    /* times that an end was seen to happen */
    cuzk_status refusal;
};

/* What the fake journal holds of a job. */
struct row {
    bool used;
    char id[JOB_ID_BYTES], request_id[32];
    uint8_t digest[JOB_DIGEST_BYTES];
    unsigned circuit, part_count;
    size_t payload_bytes;
    enum job_priority priority;
    bool part_done[8];
    enum job_end end;
    cuzk_status status;
    uint64_t content, expire_ns;
};

struct happening {
    uint64_t at_ns, order;
    struct event event;
    uint64_t run; /* lane events: which run they end */
    uint64_t content;
    bool ignores_stop;
};

struct world_options {
    unsigned lanes, circuits, queue_most;
    uint64_t keep_most_bytes; /* of a lane's block */
    bool take_turns;
    bool batches; /* some circuits have them */
    uint64_t payload_bytes, heap_bytes, watchdog_ns, ageing_ns, group_window_ns, evict_idle_ns, keep_ns;
    unsigned fault_in; /* one run in so many fails; 0: none */
    unsigned wrong_in, hang_in, load_fault_in, disk_fault_in, input_loss_in, test_fault_in, lose_in, key_lost_in;
    uint64_t part_ns_most;
    bool fixed_part_ns;
};

struct world {
    struct prng random;
    struct world_options o;
    struct engine_core core;
    struct circuit circuits[WORLD_CIRCUITS];
    char names[WORLD_CIRCUITS][16];
    unsigned part_counts[WORLD_CIRCUITS];
    uint64_t now_ns, next_order, next_run, steps;
    uint64_t crash_at_step; /* 0: never */
    bool healthy;           /* no more faults: the end of a run */
    bool check_urgent;
    struct happening *pending;
    size_t pending_count, pending_capacity;
    uint64_t lane_run[16], lane_began_ns[16]; /* 0: it waits */
    uint64_t lane_block[16]; /* bytes that the fake lane has, between runs too */
    struct part_output lane_outputs[16][JOB_BATCH_MOST]; /* of the batch that a lane runs */
    uint64_t batches, batched, swaps; /* batches; parts that they proved; keys loaded for parts by themselves where that is another way */
    uint64_t reuses, gives;  /* runs in a block that was there; blocks given back */
    struct job *record[WORLD_JOBS * 2], *destroy[WORLD_JOBS * 2];
    size_t record_count, destroy_count;
    struct row rows[WORLD_JOBS];
    struct client_job jobs[WORLD_JOBS];
    size_t job_count;
    size_t waiters, carries; /* alive */
    struct waiter *live[4 * WORLD_JOBS];
    uint64_t runs, wrong_runs, crashes;
};

void world_open(struct world *w, uint64_t seed, const struct world_options *o);
void world_close(struct world *w);
/** Hands in a new job, or again one that was handed in (like >= 0: same request id; same_content: and same payload). */
struct client_job *world_submit(struct world *w, unsigned circuit, enum job_priority p, bool durable,
                                uint64_t ttl_ns, uint64_t deadline_ns, int like, bool same_content);
void world_cancel(struct world *w, struct client_job *j);
void world_await(struct world *w, struct client_job *j, uint64_t timeout_ns);
void world_key(struct world *w, bool preload, unsigned circuit);
/** Runs what happens until the clock shows until_ns, or (false) nothing can happen any more. */
bool world_run(struct world *w, uint64_t until_ns);
/** The power goes: memory is lost, the journal is not; the core starts again. */
void world_crash(struct world *w);
/** Every accepted job has ended, once, and with the right proof; aborts if not. */
void world_check_end(struct world *w);

#endif
