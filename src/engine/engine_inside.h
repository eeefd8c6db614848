/* The engine's insides, for engine.c (its thread), engine_open.c (its beginning and end) and engine_calls.c
 * (everybody else's). */
#ifndef CUZK_ENGINE_ENGINE_INSIDE_H
#define CUZK_ENGINE_ENGINE_INSIDE_H

#include "base/mailbox.h"
#include "base/pool.h"
#include "engine/device_process.h"
#include "engine/engine_core.h"
#include "engine/journal.h"
#include "engine/lane_thread.h"
#include <pthread.h>

#define MS 1000000ull /* nanoseconds */

/* Of the block that a lane keeps for its next proof.  To take a larger one anew is nothing beside the proof, and to give it back takes time. */
#define LANE_KEEP_MOST_BYTES (64ull << 20)

/* A circuit that need not be there, and is not served. */
struct unserved {
    char *name;
    struct error why;
};

struct engine {
    struct engine_core core;
    struct mailbox mailbox;
    pthread_t thread;
    bool thread_runs;
    struct circuit *circuits;
    size_t circuit_count;
    struct unserved *unserved; /* room for as many as there were circuits */
    size_t unserved_count;
    const struct backend *backend;
    struct device *devices[ENGINE_DEVICES_MOST];              /* opened here, */
    struct device_process *processes[ENGINE_DEVICES_MOST]; /* or each in a process of its own */
    bool apart; /* the latter */
    size_t device_count;
    struct pool *pool;
    struct lane_thread *lanes;
    uint32_t lane_count;
    struct loader loader;
    struct journal *journal; /* NULL: nothing is durable */
    uint64_t job_ttl_ms;
    /* As of the latest answer, for everybody's reading: no more jobs fit; and of these, there are as many as may wait. */
    atomic_bool full, queue_full;
    atomic_ullong refused_early; /* for queue_full, and not in the counters yet */
    /* the engine's thread's own */
    struct job *records;  /* linked by journal_next */
    struct job *destroys; /* likewise, once they are in no other list */
    uint64_t look_ns;     /* when the journal's files are looked at next */
    uint64_t look_below;  /* jobs of a smaller sequence have their turn then; 0: all */
    struct envelope close;
    uint64_t close_timeout_ns;
    uint64_t close_ns; /* when to stop what runs; 0: not closing */
};

struct client_message {
    struct envelope envelope;
    struct waiter *waiter;
    char text[ENGINE_NAME_BYTES > JOB_ID_BYTES ? ENGINE_NAME_BYTES : JOB_ID_BYTES];
    view_told *look;
    void *look_context;
};

/* -- engine.c, on the engine's thread, or on the opener's where that never started -- */
void *engine_main(void *engine);                       /* until it is closed and everything has stopped */
void engine_act(void *engine, const struct action *a); /* carries out what the core wants */
void engine_flush(struct engine *e);                   /* the journal, and what waited for it */
void engine_begin_close(struct engine *e);

/** CUZK_INVALID_ARGUMENT: name and why make a sentence. */
cuzk_status engine_bad_option(struct task *t, const char *name, const char *why);

#endif
