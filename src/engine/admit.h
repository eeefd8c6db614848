/* Whether a part may take its memory now.  Pure: the core does what is decided. */
#ifndef CUZK_ENGINE_ADMIT_H
#define CUZK_ENGINE_ADMIT_H

#include "engine/budget.h"
#include "engine/key_store.h"

enum admit_verdict {
    ADMIT_GO,    /* take the bytes and run */
    ADMIT_LOAD,  /* the key is cold and there is room: load it */
    ADMIT_KEY,   /* the key is on its way; others may go meanwhile */
    ADMIT_GIVE,  /* lanes have to give back what they keep; then ask again */
    ADMIT_EVICT, /* *victim has to go first; then ask again */
    ADMIT_WAIT,  /* memory has to come back first: nobody behind may take any */
};

struct admit_request {
    const struct bytes *need; /* the stage's own bytes, all or nothing */
    struct stored_key *key;   /* that it works with */
    uint32_t rank;            /* its job's place in the order */
    bool holds;               /* it has its reference to the key from an earlier stage */
    bool impatient;           /* evict young keys too: urgent, or nothing runs that will give memory back */
    /* A stage that leaves bytes behind must leave room for what uses them: of all that is not lasting (keys in use, carries, this
     * stage's carry included), at least `reserve`.  NULL: leaves nothing behind. */
    const struct bytes *lasting, *reserve;
    uint64_t giving, kept; /* heap bytes of lanes: on their way back, and that would come back if they were asked for */
    uint64_t min_idle_ns, now_ns;
};

enum admit_verdict admit_part(struct stored_key **victim, const struct budget *b, struct key_store *s,
                              const struct admit_request *r);
/** The same for a key alone (preload). */
enum admit_verdict admit_key(struct stored_key **victim, const struct budget *b, struct key_store *s,
                             const struct admit_request *r);

#endif
