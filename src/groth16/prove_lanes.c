/* Several proofs at a time on one device: who holds its memory, and who computes. */
#include "groth16/prove_lanes.h"
#include "base/clock.h"
#include "groth16/key_device.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POLL_NS 20000000L /* between two looks at a waiting proof's cancel flag */

struct slot {
    struct stream *stream;
    const struct groth16_key *key; /* whose tables a computing stream has: compared only */
    bool taken;
};

struct lanes {
    const struct backend *backend;
    struct device *device;
    struct lanes_options options;
    uint64_t stream_bytes;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t moved; /* the line, or memory */
    struct prove_lane *first;
    uint64_t gives; /* of memory, counted */
    uint64_t used_bytes;
    struct lanes_report report;
    struct slot copies[LANES_MOST_AT_ONCE], compute[LANES_MOST_AT_ONCE];
};

/* -- the line ---------------------------------------------------------------------------------------------------------- */

static unsigned position(const struct lanes *l, const struct prove_lane *lane)
{
    unsigned n = 0;

    for (const struct prove_lane *p = l->first; p != lane; p = p->next) n++;
    return n;
}

/* Whether all before it hold their memory. */
static bool is_next_for_memory(const struct lanes *l, const struct prove_lane *lane)
{
    const struct prove_lane *p = l->first;

    while (p != lane && p->has_memory) p = p->next;
    return p == lane;
}

/* Under the lock, which it gives up for a moment; what is waited for is to be looked at again afterwards. */
static cuzk_status wait_for_a_move(struct prove_lane *lane, struct task *t)
{
    struct lanes *const l = lane->lanes;
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += POLL_NS;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&l->moved, &l->lock, &until);
    const unsigned before = position(l, lane);
    pthread_mutex_unlock(&l->lock);
    task_progress(t, LANES_WAITING, 0, before);
    pthread_mutex_lock(&l->lock);
    return task_poll(t);
}

/* Under the lock, as all that wait.  Until it is among the first `places` of the line. */
static cuzk_status wait_until_first(struct prove_lane *lane, struct task *t, unsigned places)
{
    struct lanes *const l = lane->lanes;
    const uint64_t since = clock_now_ns();
    cuzk_status status = CUZK_OK;

    while (status == CUZK_OK && position(l, lane) >= places) status = wait_for_a_move(lane, t);
    lane->wait_ms += clock_ms_since(since);
    return status;
}

/* Until all before it hold their memory. */
static cuzk_status wait_until_next_for_memory(struct prove_lane *lane, struct task *t)
{
    struct lanes *const l = lane->lanes;
    const uint64_t since = clock_now_ns();
    cuzk_status status = CUZK_OK;

    while (status == CUZK_OK && !is_next_for_memory(l, lane)) status = wait_for_a_move(lane, t);
    lane->wait_ms += clock_ms_since(since);
    return status;
}

/* Until somebody has given memory back since gives was read, or nobody is before it who could. */
static cuzk_status wait_for_memory(struct prove_lane *lane, struct task *t, uint64_t gives)
{
    struct lanes *const l = lane->lanes;
    const uint64_t since = clock_now_ns();
    cuzk_status status = CUZK_OK;

    while (status == CUZK_OK && l->gives == gives && l->first != lane) status = wait_for_a_move(lane, t);
    lane->wait_ms += clock_ms_since(since);
    return status;
}

/* -- streams ----------------------------------------------------------------------------------------------------------- */

/* A free one, if there is one with the key's tables that one.  There are as many as may ask. */
static unsigned choose(struct slot *slots, unsigned count, const struct groth16_key *key)
{
    unsigned chosen = count;

    for (unsigned i = 0; i < count; i++) {
        if (slots[i].taken) continue;
        if (chosen == count || slots[i].key == key) chosen = i;
    }
    slots[chosen].taken = true;
    slots[chosen].key = key;
    return chosen;
}

static cuzk_status open_compute(struct lanes *l, struct task *t, struct slot *s)
{
    return s->stream != NULL ? CUZK_OK : l->backend->stream_open(&s->stream, t, l->device);
}

/* After a failure nobody knows what a stream still holds, results that would be written to a frame that is gone among it: a new one.
 * Under the lock, so that nobody takes the memory that it gives back; nothing is under way on it any more (end_compute). */
static void renew(struct lanes *l, struct slot *s)
{
    struct task quiet;

    task_init(&quiet);
    l->backend->stream_close(s->stream);
    s->stream = NULL;
    s->key = NULL;
    (void)!open_compute(l, &quiet, s); /* if not now, then with the next proof that gets this place */
}

/* -- a proof ----------------------------------------------------------------------------------------------------------- */

cuzk_status prove_lane_enter(struct prove_lane *out, struct task *t, struct lanes *lanes,
                             const struct backend *backend, struct device *device,
                             const struct groth16_key *key)
{
    memset(out, 0, sizeof *out);
    out->lanes = lanes;
    out->backend = backend;
    out->device = device;
    out->key = key;
    if (lanes == NULL) {
        const cuzk_status status = key_device_stream_take(&out->compute, t, key, backend, device);
        out->copies = out->compute;
        return status;
    }
    pthread_mutex_lock(&lanes->lock);
    struct prove_lane **end = &lanes->first;
    while (*end != NULL) end = &(*end)->next;
    *end = out;
    const cuzk_status status = wait_until_first(out, t, lanes->options.lanes);
    if (status == CUZK_OK) {
        out->copies_slot = choose(lanes->copies, lanes->options.lanes, NULL);
        out->copies = lanes->copies[out->copies_slot].stream;
    }
    pthread_mutex_unlock(&lanes->lock);
    return status;
}

/* take's first error alone is the proof's: that there was no room at first is none. */
static cuzk_status try_to_take(struct prove_lane *lane, struct task *t, prove_lane_taker *take, void *context,
                               bool last_chance)
{
    const struct error before = t->error;
    const cuzk_status status = take(context, t, lane);

    if (status == CUZK_NO_MEMORY && !last_chance) t->error = before;
    return status;
}

cuzk_status prove_lane_lease(struct prove_lane *lane, struct task *t, prove_lane_taker *take, void *context)
{
    struct lanes *const l = lane->lanes;
    cuzk_status status;

    if (l == NULL) return take(context, t, lane);
    const uint64_t since = clock_now_ns();
    pthread_mutex_lock(&l->lock);
    TRY_GOTO(out, wait_until_next_for_memory(lane, t));
    for (;;) {
        const bool last_chance = l->first == lane;
        const uint64_t gives = l->gives;
        pthread_mutex_unlock(&l->lock);
        status = try_to_take(lane, t, take, context, last_chance);
        pthread_mutex_lock(&l->lock);
        if (status != CUZK_NO_MEMORY || last_chance) break;
        lane->skipped = true;
        TRY_GOTO(out, wait_for_memory(lane, t, gives));
    }
    lane->has_memory = status == CUZK_OK;
    lane->skipped = lane->skipped && position(l, lane) < l->options.computing;
    l->report.skipped += lane->skipped && status == CUZK_OK;
    pthread_cond_broadcast(&l->moved); /* the next may try */
out:
    pthread_mutex_unlock(&l->lock);
    lane->alloc_ms = clock_ms_since(since);
    return status;
}

static cuzk_status too_large(struct task *t, size_t bytes, uint64_t limit)
{
    const cuzk_status status =
        FAIL(t, CUZK_TOO_LARGE, "a proof on this key takes %zu bytes; all proofs together may take %llu",
             bytes, (unsigned long long)limit);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "memory_bytes",
                    "raise the limit, or use a machine with more memory");
    return status;
}

cuzk_status prove_lane_block(struct prove_lane *lane, struct task *t, size_t bytes)
{
    struct lanes *const l = lane->lanes;

    if (l == NULL)
        return lane->backend->buffer_take(&lane->block, t, lane->device, MEM_DEVICE, bytes, BUFFER_SECRET);
    const uint64_t limit = l->options.memory_bytes;
    if (limit != 0 && bytes > limit) return too_large(t, bytes, limit);
    pthread_mutex_lock(&l->lock);
    const cuzk_status status =
        limit != 0 && l->used_bytes > limit - bytes
            ? FAIL(t, CUZK_NO_MEMORY, "no room for a proof of %zu bytes beside those that run", bytes)
            : l->backend->buffer_take(&lane->block, t, l->device, MEM_DEVICE, bytes, BUFFER_SECRET);
    if (status == CUZK_OK) l->used_bytes += lane->leased_bytes = bytes;
    if (l->used_bytes > l->report.peak_bytes) l->report.peak_bytes = l->used_bytes;
    pthread_mutex_unlock(&l->lock);
    return status;
}

cuzk_status prove_lane_turn(struct prove_lane *lane, struct task *t)
{
    struct lanes *const l = lane->lanes;
    cuzk_status status = CUZK_OK;

    if (l == NULL) return CUZK_OK;
    if (lane->compute == NULL) {
        pthread_mutex_lock(&l->lock);
        status = wait_until_first(lane, t, l->options.computing);
        if (status == CUZK_OK) {
            lane->compute_slot = choose(l->compute, l->options.computing, lane->key);
            struct slot *const s = &l->compute[lane->compute_slot];
            status = open_compute(l, t, s);
            if (status == CUZK_OK)
                lane->compute = s->stream;
            else
                s->taken = false;
        }
        pthread_mutex_unlock(&l->lock);
    }
    return status == CUZK_OK ? l->backend->stream_wait(lane->compute, t, lane->copies) : status;
}

static void leave_alone(struct prove_lane *lane, cuzk_status status)
{
    if (lane->compute != NULL && status == CUZK_OK)
        key_device_stream_give(lane->key, lane->backend, lane->device, lane->compute);
    else if (lane->compute != NULL)
        lane->backend->stream_close(lane->compute); /* waits for what is under way in the block */
    lane->backend->buffer_give(&lane->block);
}

/* Nothing is under way on it afterwards, and its stages are wiped. */
static cuzk_status end_copies(struct prove_lane *lane, struct task *t, cuzk_status status)
{
    if (lane->copies == NULL) return status;
    if (status == CUZK_OK) return lane->backend->stream_sync(lane->copies, t);
    backend_settle(lane->backend, lane->copies);
    return status;
}

/* After a failure: waits for the device before the line is locked, which others look at while they wait. */
static void end_compute(struct prove_lane *lane, cuzk_status status)
{
    if (lane->compute != NULL && status != CUZK_OK) backend_settle(lane->backend, lane->compute);
}

cuzk_status prove_lane_leave(struct prove_lane *lane, struct task *t, cuzk_status status)
{
    struct lanes *const l = lane->lanes;
    const uint64_t since = clock_now_ns();

    if (l == NULL) {
        leave_alone(lane, status);
        lane->release_ms = clock_ms_since(since);
        return status;
    }
    status = end_copies(lane, t, status);
    end_compute(lane, status);
    pthread_mutex_lock(&l->lock);
    if (lane->compute != NULL && status != CUZK_OK) renew(l, &l->compute[lane->compute_slot]);
    pthread_mutex_unlock(&l->lock);
    l->backend->buffer_give(&lane->block);
    pthread_mutex_lock(&l->lock);
    if (lane->compute != NULL) l->compute[lane->compute_slot].taken = false;
    if (lane->copies != NULL) l->copies[lane->copies_slot].taken = false;
    struct prove_lane **at = &l->first;
    while (*at != lane) at = &(*at)->next;
    *at = lane->next;
    l->used_bytes -= lane->leased_bytes;
    l->gives++;
    l->report.proofs += status == CUZK_OK;
    l->report.failed += status != CUZK_OK;
    pthread_cond_broadcast(&l->moved);
    pthread_mutex_unlock(&l->lock);
    lane->release_ms = clock_ms_since(since);
    return status;
}

/* -- all of them ------------------------------------------------------------------------------------------------------- */

uint64_t lanes_stream_bytes(const struct lanes *l) { return l->options.computing * l->stream_bytes; }
unsigned lanes_computing(const struct lanes *l) { return l->options.computing; }
unsigned lanes_count(const struct lanes *l) { return l->options.lanes; }

void lanes_report(struct lanes *l, struct lanes_report *out)
{
    pthread_mutex_lock(&l->lock);
    *out = l->report;
    for (const struct prove_lane *p = l->first; p != NULL; p = p->next) out->waiting++;
    pthread_mutex_unlock(&l->lock);
}

/* Streams that compute hold memory, which no proof must miss. */
static unsigned computing_of(const struct lanes *l, const struct device_info *info)
{
    const struct lanes_options *const o = &l->options;

    if (o->computing != 0) return o->computing;
    if (info->stream_bytes == 0) return o->lanes;
    uint64_t most = info->memory_bytes / 8 / info->stream_bytes;
    if (most > LANES_STREAMS_MOST - o->lanes) most = LANES_STREAMS_MOST - o->lanes;
    return most == 0 ? 1 : most < o->lanes ? (unsigned)most : o->lanes;
}

static cuzk_status open_streams(struct lanes *l, struct task *t)
{
    for (unsigned i = 0; i < l->options.lanes; i++)
        TRY(l->backend->copies_open(&l->copies[i].stream, t, l->device));
    for (unsigned i = 0; i < l->options.computing; i++) TRY(open_compute(l, t, &l->compute[i]));
    return CUZK_OK;
}

static bool locks_make(struct lanes *l)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes) != 0) return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    bool made = pthread_mutex_init(&l->lock, NULL) == 0;
    if (made && pthread_cond_init(&l->moved, &attributes) != 0) {
        pthread_mutex_destroy(&l->lock);
        made = false;
    }
    pthread_condattr_destroy(&attributes);
    return made;
}

cuzk_status lanes_create(struct lanes **out, struct task *t, const struct backend *backend,
                         struct device *device, const struct lanes_options *o)
{
    struct device_info info;

    if (o->lanes < 1 || o->lanes > LANES_MOST_AT_ONCE || o->computing > o->lanes)
        return FAIL(t, CUZK_INVALID_ARGUMENT,
                    "%u lanes, %u of them computing: it has to be 1 to %d, and no more", o->lanes,
                    o->computing, LANES_MOST_AT_ONCE);
    struct lanes *const l = calloc(1, sizeof *l);
    if (l == NULL || !locks_make(l)) {
        free(l);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for lanes");
    }
    l->backend = backend;
    l->device = device;
    l->options = *o;
    backend->info(device, &info);
    l->options.computing = computing_of(l, &info);
    l->stream_bytes = info.stream_bytes;
    const cuzk_status status = open_streams(l, t);
    if (status == CUZK_OK)
        *out = l;
    else
        lanes_destroy(l);
    return status;
}

void lanes_destroy(struct lanes *l)
{
    if (l == NULL) return;
    for (unsigned i = 0; i < LANES_MOST_AT_ONCE; i++) {
        if (l->compute[i].stream != NULL) l->backend->stream_close(l->compute[i].stream);
        if (l->copies[i].stream != NULL) l->backend->stream_close(l->copies[i].stream);
    }
    pthread_cond_destroy(&l->moved);
    pthread_mutex_destroy(&l->lock);
    free(l);
}
