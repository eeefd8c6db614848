/* A process of its own for a device, and what the engine asks of it.
 *
 * A kernel that traps, or that never ends, takes the whole context of a device with it, and a crash in native code its whole process: so
 * this process and not the engine's opens the device.  It is this program started again (device_child.c).  When it ends, or is ended
 * because it does not answer, the next request starts another one; keys are loaded there again by the first proofs that want them.
 * docs/daemon.md tells the whole story.
 *
 * Each lane has a channel, a socket of its own, on which one request is under way at a time; so a lane waits for nobody's answer but
 * its own.  To be told to stop is a flag in a page that both have mapped.  One thread of the engine's starts the process and waits for its end.
 *
 * Nothing that comes from there is believed: lengths are checked, results are copied before they are looked at, and the engine verifies
 * the proof. */
#ifndef CUZK_ENGINE_DEVICE_PROCESS_H
#define CUZK_ENGINE_DEVICE_PROCESS_H

#include "engine/engine.h"
#include "engine/job_kind.h"

struct device_process;

struct device_process_options {
    const char *program; /* NULL: this one, whose main begins with engine_device_main */
    const char *backend;
    struct device_options device;
    unsigned threads;    /* of its workers; 0: one a usable CPU */
    unsigned lane_count; /* channels 0 ... lane_count - 1; channel lane_count is for measuring and for keys */
    size_t circuit_count; /* indices of circuits are below it */
    uint64_t grace_ms; /* how long an answer may take once the task is cancelled; then the process is ended */
    uint64_t test_ms, load_ms; /* how long a self-test may take, and to measure a circuit or load a key at most; 0: the two below */
};
#define DEVICE_TEST_MS         60000   /* it takes tens of milliseconds */
#define DEVICE_LOAD_MS         1800000 /* hundreds of gigabytes from a slow disk */
#define DEVICE_LOAD_LEAST_MS   60000   /* a key of no size, on a busy machine */
#define DEVICE_LOAD_GIB_MS     20000   /* and a GiB of it: 54 MB/s, a slow disk */

/** Starts it, and waits until the device is open there.
 * Errors  CUZK_DEVICE_UNAVAILABLE: it cannot be started, or ends before it is ready (the text says how); those of opening the device. */
cuzk_status device_process_open(struct device_process **out, struct task *t,
                                const struct device_process_options *o) MUST_CHECK;
/** The engine ends: what is told to stop is waited for DEVICE_END_MS at most, since its work is lost anyway.  NULL is legal.  Thread  any. */
void device_process_hurry(struct device_process *p);
#define DEVICE_END_MS 2000
/** Nothing may be under way.  NULL is legal. */
void device_process_close(struct device_process *p);

void device_process_info(const struct device_process *p, struct device_info *out); /* as of the first start */
uint64_t device_process_restarts(struct device_process *p);                        /* Thread  any */

/** Fills what c->kind->measure fills, as measured there.  index: any below circuit_count. */
cuzk_status device_process_measure(struct device_process *p, struct task *t, struct circuit *c,
                                   size_t index) MUST_CHECK;
/** Loads the key there too, unless no process runs.  A process that takes longer than DEVICE_LOAD_LEAST_MS and DEVICE_LOAD_GIB_MS for each GiB that
 * the key takes of the heap (its files included), or than load_ms, is ended, and the first proof loads the key.
 * mark: what job_kind.key_mark says of the engine's own. */
cuzk_status device_process_load(struct device_process *p, struct task *t, const struct circuit *c,
                                size_t index, uint64_t mark) MUST_CHECK;
void device_process_unload(struct device_process *p, size_t index); /* returns when its memory is free */

/* What a failed run is to be thought of. */
enum device_loss {
    DEVICE_LOSS_NONE,  /* the process has answered: the error is the run's own */
    DEVICE_LOSS_OWN,   /* it ended while nothing else ran there, or because this run did not answer */
    DEVICE_LOSS_SHARED /* it ended, and another run may be at fault */
};

struct device_run {
    unsigned channel;
    size_t circuit_index;
    uint64_t key_mark;
    void (*begins)(void *context); /* called once it has its turn, in a process that runs, and again while it waits there for others that
                                    * come forward: its time begins anew with each call; NULL: not */
    void *context;
    bool alone;            /* nothing else runs in the process meanwhile: then its end has one cause */
    enum device_loss loss; /* out */
    bool key_changed;      /* out: the files of the key are no longer those of the engine's key */
};

/** job_kind.prove there.  carry NULL if there is none; then the payload goes.  Start and loading included where it is needed.
 * Errors  CUZK_DEVICE_LOST with the cause; CUZK_CANCELLED; what the kind says. */
cuzk_status device_process_prove(struct device_process *p, struct task *t, struct part_output *out,
                                 struct device_run *run, const struct part_input *in, const void *carry,
                                 const struct bytes *granted) MUST_CHECK;
/** job_kind.prove_parts there.  Out  out: as there, zeroed before */
cuzk_status device_process_prove_parts(struct device_process *p, struct task *t, struct part_output *out,
                                       struct device_run *run, const struct part_input *in, const unsigned *parts,
                                       unsigned count, const struct bytes *granted) MUST_CHECK;
/** lane_test there, which may not take longer than test_ms.  An end that may be another run's fault is tried again, and an end while it ran alone once: somebody may have killed it. */
cuzk_status device_process_test(struct device_process *p, struct task *t, unsigned channel) MUST_CHECK;

#endif
