/* The keys of all circuits: cold -> loading -> resident -> evicting -> cold.  Pure: what it decides, the core has done. */
#ifndef CUZK_ENGINE_KEY_STORE_H
#define CUZK_ENGINE_KEY_STORE_H

#include "engine/engine.h"
#include "engine/job.h"

#define KEY_UNWANTED UINT32_MAX

struct stored_key {
    struct circuit *circuit;
    enum key_state state;
    void *key;           /* RESIDENT, EVICTING */
    struct bytes bytes;  /* taken from the ledger: from LOADING until it is cold again */
    unsigned references; /* parts in flight, and parts that wait between synthesis and proof */
    uint64_t load_start_ns, idle_since_ns, load_ms;
    uint64_t retry_ns; /* after a failed load: not before */
    unsigned failures; /* loads failed in a row */
    uint32_t
        wanted_rank; /* place in the queue's order of the first job that wants it; set by each pass of the scheduler */
    struct waiter *preloads, *evicts;
    bool was_loaded; /* when the eviction was asked for */
    bool lost;       /* RESIDENT: its files have changed under it, or it is wanted the other way; no part begins with it, and it goes when
                      * none is left */
    bool singly;              /* loaded, or to be, for parts by themselves, though its circuit has batches */
    uint64_t singly_until_ns; /* no batch before: one has failed */
};

/* What it takes at most, loaded the way it is wanted. */
static inline const struct bytes *key_store_wants(const struct stored_key *k)
{
    return k->circuit->batch.parts_most != 0 && !k->singly ? &k->circuit->batch.key_bytes : &k->circuit->key_bytes;
}

struct key_store {
    struct stored_key *keys; /* one a circuit, in the same order */
    size_t count;
    struct bytes evicting; /* on their way back */
};

cuzk_status key_store_init(struct key_store *s, struct task *t, struct circuit *circuits,
                           size_t count) MUST_CHECK;
void key_store_fini(struct key_store *s); /* all cold */

static inline void key_store_ref(struct stored_key *k) { k->references++; }
void key_store_unref(struct stored_key *k, uint64_t now_ns);

/** COLD -> LOADING: takes the key's bytes from b.  false: no room. */
bool key_store_begin_load(struct stored_key *k, struct budget *b, uint64_t now_ns);
/** LOADING -> RESIDENT; bytes, at most those taken, are what it really is. */
void key_store_loaded(struct stored_key *k, struct budget *b, void *key, const struct bytes *bytes,
                      uint64_t now_ns);
/** LOADING -> COLD. */
void key_store_load_failed(struct stored_key *k, struct budget *b, uint64_t retry_ns);
/** RESIDENT and not referenced -> EVICTING. */
void key_store_begin_evict(struct key_store *s, struct stored_key *k);
/** EVICTING -> COLD. */
void key_store_evicted(struct key_store *s, struct stored_key *k, struct budget *b);

/** The least recently used key that may go for a job of this rank: resident, not referenced, not wanted by an earlier job, idle for
 * at least min_idle_ns.  NULL: none. */
struct stored_key *key_store_victim(struct key_store *s, const struct stored_key *keep, uint32_t rank,
                                    uint64_t min_idle_ns, uint64_t now_ns);

#endif
