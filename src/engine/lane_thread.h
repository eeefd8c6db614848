/* The threads beside the engine's: one a lane, which runs parts and tests, and one that loads and unloads keys.
 *
 * Each takes orders from its mailbox and answers into the engine's with an event.  One order at a time is under way for a lane, and
 * for a key, so the messages are members here and nothing is allocated. */
#ifndef CUZK_ENGINE_LANE_THREAD_H
#define CUZK_ENGINE_LANE_THREAD_H

#include "base/mailbox.h"
#include "engine/device_process.h"
#include "engine/engine_core.h"
#include <pthread.h>

/* What comes into the engine's mailbox: first member of everything that is sent there. */
enum envelope_kind { ENVELOPE_EVENT, ENVELOPE_LOOK, ENVELOPE_CLOSE };
struct envelope {
    struct message link;
    enum envelope_kind kind;
    bool owned; /* to be freed once it has been read */
    struct event event;
    struct error error; /* what event.error points to */
};

enum order_kind { ORDER_RUN, ORDER_TEST, ORDER_GIVE, ORDER_LOAD, ORDER_UNLOAD, ORDER_QUIT };

struct lane_thread {
    pthread_t thread;
    bool running;
    uint32_t index;
    struct mailbox orders, *engine;
    struct message order;
    enum order_kind kind;
    struct place place;             /* where proofs are made, */
    struct device_process *process; /* or where, on this */
    unsigned channel;
    struct pool *pool;
    const char *data_folder; /* NULL: every payload is in memory */
    char device_name[96];
    atomic_bool cancel;
    /* ORDER_RUN */
    struct job *job; /* only what does not change while it is in flight is read */
    unsigned part;
    bool synthesis;
    unsigned batch[JOB_BATCH_MOST], batch_count; /* parts that are proved together; 0: `part` by itself */
    void *key, *carry;
    struct bytes granted;
    uint64_t keeps; /* bytes that `block` is to have, for this run and until the next */
    bool alone; /* in the process */
    struct envelope begun, answer; /* begun, if at all, has been read when answer is */
    atomic_bool begun_unread;      /* it is on its way: not to be written */
    struct part_output outputs[JOB_BATCH_MOST]; /* of a batch: what the answer points to */
    /* the thread's own */
    struct buffer block; /* wiped after each run */
    size_t used_bytes;   /* of it, by the run that has just ended */
};

cuzk_status lane_thread_start(struct lane_thread *l,
                              struct task *t) MUST_CHECK; /* the fields above `cancel` are set */
/** Runs what the core's lane says.  Thread  the engine's, as all below. */
void lane_thread_run(struct lane_thread *l, const struct lane *what, void *key);
void lane_thread_test(struct lane_thread *l);
void lane_thread_give(struct lane_thread *l); /* the block that it keeps */
void lane_thread_begun_read(struct lane_thread *l); /* `begun` may be sent again */
void lane_thread_stop(struct lane_thread *l); /* sets the cancel flag of what runs */
void lane_thread_join(struct lane_thread *l); /* legal on a zeroed one */

struct key_order {
    struct message link;
    enum order_kind kind;
    struct stored_key *key;
    struct envelope answer;
};

struct loader {
    pthread_t thread;
    bool running;
    struct mailbox orders, *engine;
    struct pool *pool;
    size_t device_count;
    struct device_process *const *processes; /* of the devices; NULL: none has one */
    struct key_order *of_key; /* one a key */
    atomic_bool cancel;
    struct key_order quit;
};

cuzk_status loader_start(struct loader *l, struct task *t, struct mailbox *engine, struct pool *pool,
                         size_t key_count, size_t device_count, struct device_process *const *processes) MUST_CHECK;
void loader_order(struct loader *l, size_t index, enum order_kind kind, struct stored_key *key);
void loader_stop(struct loader *l); /* what it loads, and all that it is told to load from here on, ends with CUZK_CANCELLED */
void loader_join(struct loader *l);

#endif
