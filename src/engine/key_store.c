/* The states of the keys, and which one goes first. */
#include "engine/key_store.h"
#include <stdio.h>
#include <stdlib.h>

const char *key_state_name(enum key_state s)
{
    static const char *const name[] = { "cold", "loading", "resident", "evicting" };
    return name[s];
}

static void must_be(const struct stored_key *k, bool right, const char *what)
{
    if (right) return;
    fprintf(stderr, "cuzk: key %s: %s while %s with %u references\n", k->circuit->name, what,
            key_state_name(k->state), k->references);
    abort();
}

cuzk_status key_store_init(struct key_store *s, struct task *t, struct circuit *circuits, size_t count)
{
    static const struct key_store empty;

    *s = empty;
    s->keys = calloc(count + 1, sizeof *s->keys);
    if (s->keys == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a table of %zu keys", count);
    s->count = count;
    for (size_t i = 0; i < count; i++) s->keys[i].circuit = &circuits[i];
    return CUZK_OK;
}

void key_store_fini(struct key_store *s)
{
    free(s->keys);
    s->keys = NULL;
}

void key_store_unref(struct stored_key *k, uint64_t now_ns)
{
    must_be(k, k->references > 0, "unreferenced");
    if (--k->references == 0) k->idle_since_ns = now_ns;
}

bool key_store_begin_load(struct stored_key *k, struct budget *b, uint64_t now_ns)
{
    must_be(k, k->state == KEY_COLD, "loaded");
    if (!budget_take(b, key_store_wants(k))) return false;
    k->bytes = *key_store_wants(k);
    k->state = KEY_LOADING;
    k->load_start_ns = now_ns;
    return true;
}

void key_store_loaded(struct stored_key *k, struct budget *b, void *key, const struct bytes *bytes,
                      uint64_t now_ns)
{
    struct bytes rest;

    must_be(k, k->state == KEY_LOADING && bytes_lacking(bytes, &k->bytes) < 0, "said to be loaded");
    for (int i = 0; i < BYTES_KINDS; i++) rest.of[i] = k->bytes.of[i] - bytes->of[i];
    budget_give(b, &rest);
    k->bytes = *bytes;
    k->key = key;
    k->state = KEY_RESIDENT;
    k->failures = 0;
    k->idle_since_ns = now_ns;
    k->load_ms = (now_ns - k->load_start_ns) / 1000000;
}

static void to_cold(struct stored_key *k, struct budget *b)
{
    static const struct bytes none;

    budget_give(b, &k->bytes);
    k->bytes = none;
    k->key = NULL;
    k->lost = false;
    k->state = KEY_COLD;
}

void key_store_load_failed(struct stored_key *k, struct budget *b, uint64_t retry_ns)
{
    must_be(k, k->state == KEY_LOADING, "said to have failed");
    to_cold(k, b);
    k->failures++;
    k->retry_ns = retry_ns;
}

void key_store_begin_evict(struct key_store *s, struct stored_key *k)
{
    must_be(k, k->state == KEY_RESIDENT && k->references == 0, "evicted");
    k->state = KEY_EVICTING;
    bytes_add(&s->evicting, &k->bytes);
}

void key_store_evicted(struct key_store *s, struct stored_key *k, struct budget *b)
{
    must_be(k, k->state == KEY_EVICTING, "said to be evicted");
    for (int i = 0; i < BYTES_KINDS; i++) s->evicting.of[i] -= k->bytes.of[i];
    to_cold(k, b);
}

struct stored_key *key_store_victim(struct key_store *s, const struct stored_key *keep, uint32_t rank,
                                    uint64_t min_idle_ns, uint64_t now_ns)
{
    struct stored_key *victim = NULL;

    for (size_t i = 0; i < s->count; i++) {
        struct stored_key *k = &s->keys[i];
        if (k == keep || k->state != KEY_RESIDENT || k->references > 0) continue;
        if (k->wanted_rank < rank || now_ns - k->idle_since_ns < min_idle_ns) continue;
        if (victim == NULL || k->idle_since_ns < victim->idle_since_ns) victim = k;
    }
    return victim;
}
