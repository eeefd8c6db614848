/* Those who ask the core: waiters for jobs, and for keys. */
#include "engine/core_inside.h"
#include <stdio.h>
#include <string.h>

#define LOAD_TRIES       3
#define LOAD_BACK_OFF_NS (1000ull * 1000000)

/* -- waiters ------------------------------------------------------------------------------------------------------------ */

void core_await(struct engine_core *c, const char *id, struct waiter *w, uint64_t now_ns)
{
    struct job *j = core_find(c, id);
    struct job_answer answer;

    if (j == NULL) {
        core_tell_status(c, w, id, CUZK_NOT_FOUND, "no such job, or its result is no longer kept");
        return;
    }
    if (j->state == JOB_ENDED) {
        result_answer(&answer, j, now_ns);
        core_tell(c, w, &answer);
        return;
    }
    if (j->suspended) {
        core_tell_status(c, w, id, CUZK_DEVICE_UNAVAILABLE,
                         "the engine is closing; the job is kept and goes on at the next start");
        return;
    }
    w->next = j->waiters;
    j->waiters = w;
    j->had_waiter = true;
    if (w->deadline_ns != 0) core_due(c, w->deadline_ns);
}

static bool anybody_waits(const struct job *j)
{
    for (const struct waiter *w = j->waiters; w != NULL; w = w->next)
        if (!w->of_submit || w->ended != NULL) return true;
    return false;
}

void core_leave(struct engine_core *c, const struct event *e, uint64_t now_ns)
{
    struct job *j = core_find(c, e->id);
    struct waiter **at = j != NULL ? &j->waiters : NULL;

    while (at != NULL && *at != NULL && ((*at)->told != e->told || (*at)->context != e->context))
        at = &(*at)->next;
    if (at == NULL || *at == NULL) return;
    struct waiter *w = *at;
    *at = w->next;
    core_tell_status(c, w, e->id, CUZK_CANCELLED, "the waiter has left");
    if (c->options.cancel_when_alone && j->state != JOB_ACCEPTING && !anybody_waits(j))
        core_finish(c, j, JOB_CANCELLED, CUZK_CANCELLED, NULL, now_ns);
}

void core_cancel(struct engine_core *c, const char *id, struct waiter *w, uint64_t now_ns)
{
    struct job *j = core_find(c, id);

    if (j != NULL && j->state == JOB_ACCEPTING) {
        j->cancel_asked = true;
    } else if (j != NULL && !core_job_over(j)) {
        w->next = j->waiters;
        j->waiters = w;
        core_finish(c, j, JOB_CANCELLED, CUZK_CANCELLED, NULL, now_ns);
        return;
    }
    core_await(c, id, w, now_ns);
}

/* Waiters whose time is up. */
void core_expire_waiters(struct engine_core *c, struct job *j, uint64_t now_ns)
{
    struct waiter **at = &j->waiters;

    while (*at != NULL) {
        struct waiter *w = *at;
        if (w->deadline_ns == 0 || w->deadline_ns > now_ns) {
            if (w->deadline_ns != 0) core_due(c, w->deadline_ns);
            at = &w->next;
            continue;
        }
        *at = w->next;
        core_tell_status(c, w, j->id, CUZK_DEADLINE,
                         "the job has not ended in the time that the waiter gave it");
    }
}

/* -- keys --------------------------------------------------------------------------------------------------------------- */

static struct stored_key *find_key(struct engine_core *c, const char *circuit)
{
    for (size_t i = 0; i < c->store.count; i++)
        if (strcmp(c->store.keys[i].circuit->name, circuit) == 0) return &c->store.keys[i];
    return NULL;
}

static void tell_key_list(struct engine_core *c, struct waiter **list, cuzk_status status, const char *text,
                          const struct key_answer *more)
{
    while (*list != NULL) {
        struct waiter *w = *list;
        *list = w->next;
        core_tell_key(c, w, status, text, more);
    }
}

void core_refuse_preload(struct engine_core *c, struct stored_key *k)
{
    tell_key_list(c, &k->preloads, CUZK_NO_MEMORY, "there is no room for the key beside those in use", NULL);
}

void core_preload(struct engine_core *c, const char *circuit, struct waiter *w)
{
    struct stored_key *k = find_key(c, circuit);
    const struct key_answer loaded = { .was_loaded = true };

    if (k == NULL) {
        core_tell_key(c, w, CUZK_NOT_FOUND, "no such circuit is configured", NULL);
    } else if (k->state == KEY_RESIDENT) {
        core_tell_key(c, w, CUZK_OK, "", &loaded);
    } else {
        w->next = k->preloads;
        k->preloads = w;
    }
}

void core_evict(struct engine_core *c, const char *circuit, struct waiter *w)
{
    struct stored_key *k = find_key(c, circuit);

    if (k == NULL) {
        core_tell_key(c, w, CUZK_NOT_FOUND, "no such circuit is configured", NULL);
    } else if (k->state == KEY_COLD) {
        core_tell_key(c, w, CUZK_OK, "", NULL);
    } else if (k->state == KEY_LOADING || k->references > 0) {
        core_tell_key(c, w, CUZK_QUEUE_FULL, "the key is in use", NULL);
    } else {
        w->next = k->evicts;
        k->evicts = w;
        if (k->state == KEY_EVICTING) return;
        key_store_begin_evict(&c->store, k);
        c->counters.evictions++;
        core_do_key(c, ACT_FREE_KEY, k);
    }
}

void core_key_loaded(struct engine_core *c, const struct event *e, uint64_t now_ns)
{
    struct stored_key *k = e->key;

    if (e->status == CUZK_OK) {
        struct key_answer answer = { .was_loaded = false };
        key_store_loaded(k, &c->budget, e->loaded, &e->bytes, now_ns);
        answer.load_ms = k->load_ms;
        core_note(c, LOG_INFO, NULL, "key %s is loaded: %llu bytes in %llu ms", k->circuit->name,
                  (unsigned long long)k->bytes.of[BYTES_HEAP], (unsigned long long)k->load_ms);
        tell_key_list(c, &k->preloads, CUZK_OK, "", &answer);
        return;
    }
    if (e->status == CUZK_CANCELLED) { /* the engine is closing: no job has failed for it */
        key_store_load_failed(k, &c->budget, now_ns);
        return;
    }
    c->counters.key_load_failures++;
    key_store_load_failed(k, &c->budget, now_ns + (LOAD_BACK_OFF_NS << k->failures));
    core_note(c, LOG_ERROR, NULL, "key %s cannot be loaded: %s", k->circuit->name, e->error->text);
    if (status_retry_class(e->status) == RETRY_LATER && k->failures < LOAD_TRIES) {
        core_due(c, k->retry_ns);
        return;
    }
    k->failures = 0;
    k->retry_ns = 0; /* a later job tries again */
    tell_key_list(c, &k->preloads, e->status, e->error->text, NULL);
    core_fail_unfinished(c, k->circuit, e->status, e->error, now_ns);
}

void core_key_freed(struct engine_core *c, struct stored_key *k)
{
    const struct key_answer answer = { .was_loaded = true, .freed_bytes = k->bytes.of[BYTES_HEAP] };

    key_store_evicted(&c->store, k, &c->budget);
    tell_key_list(c, &k->evicts, CUZK_OK, "", &answer);
}
