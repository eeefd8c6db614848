/* The book on the lanes: what each one does, what it holds, and how often it was wrong.  Pure; lane_thread.c has the threads. */
#ifndef CUZK_ENGINE_LANE_H
#define CUZK_ENGINE_LANE_H

#include "engine/job.h"

#define LANE_STRIKES_KEPT 16
enum { LANE_SYNTHESISES = 1, LANE_PROVES = 2 };

struct lane {
    enum lane_state state;
    unsigned stages; /* what it can do: LANE_ bits */
    unsigned device; /* whose memory its parts take */
    /* BUSY and STUCK */
    struct job *job;
    unsigned part; /* of a batch the first */
    bool synthesis;
    unsigned batch[JOB_BATCH_MOST], batch_count; /* parts that are proved together; 0: `part` by itself */
    bool detached;              /* the part was taken from it: what it brings is thrown away */
    uint64_t start_ns, stop_ns; /* stop_ns: when it was told to stop, 0: it was not */
    uint64_t watch_ns;          /* from when on its time is, the watchdog's and the job's; 0: the run waits for its turn */
    bool stopped_by_watchdog;
    struct bytes held; /* taken for this run, and what the lane kept before it */
    void *carry;       /* detached: owned, freed when it returns */

    /* The block of a proof, of the heap, which the lane keeps for its next one: first touches of fresh memory are slow.  In the ledger as the
     * lane's; while it is BUSY or STUCK in `held`, and `keeps` is what stays with it from there. */
    uint64_t kept, keeps;
    bool giving; /* it has been told to give kept back, and has not yet: it gets no orders */

    uint64_t strike_ns[LANE_STRIKES_KEPT]; /* the latest, a ring */
    unsigned strike_count;                 /* ever */
    uint64_t test_ns;                      /* QUARANTINED: when to test again */
};

struct lane_book {
    struct lane *lanes;
    uint32_t count;
    unsigned strikes_most; /* at most LANE_STRIKES_KEPT */
};

cuzk_status lane_book_init(struct lane_book *b, struct task *t, uint32_t count,
                           unsigned strikes_most) MUST_CHECK;
void lane_book_fini(struct lane_book *b);

bool lane_book_other_open(const struct lane_book *b, uint32_t lane); /* another one may work, now or later */
bool lane_book_any_open(const struct lane_book *b);
/** Notes a fault of the lane.  true: it has had its strikes_most in the last hour, and is to be closed. */
bool lane_strike(struct lane_book *b, uint32_t lane, uint64_t now_ns);
unsigned lane_strikes(const struct lane *l, uint64_t now_ns); /* in the last hour */

#endif
