/* The second story of this source: which part runs where, and what happens when it comes back.
 *
 *   core_schedule    order the jobs; for every idle lane find the first part that may start (split.c), admit its memory (admit.c),
 *                    start it; load and evict keys on the way
 *   core_part_ended  give the memory back; done, or another attempt, or the job's end; what the lane is to be thought of
 *
 * Memory rule.  Jobs are asked in order.  The first one whose memory is not there blocks all behind it, so what comes back is
 * its; except that a part which holds memory already (it is synthesised) may always go on to its proof, evicting whatever is idle, and that a job which only
 * waits for its key, whose bytes are taken, blocks nobody.  A part is synthesised ahead only if what lasts (keys in use,
 * carries) leaves room for the largest proof among the carried parts: so one of them can always finish.  The block that a lane keeps for its
 * next proof is in the ledger and goes back, before any key, when somebody else needs it: it never blocks.
 *
 * Batches.  On a device whose circuit has them, parts that nobody has synthesised are proved together.  A batch that fails as a whole for
 * no fault of the request costs its parts nothing: they go on by themselves, and so do all parts of the circuit for an hour.  Where
 * a part by itself has no room beside what batches keep, the key is loaded anew, the other way, when nobody uses it. */
#include "engine/core_inside.h"
#include "engine/split.h"
#include <stdio.h>
#include <string.h>

#define RETEST_NS     (10ull * 1000000000)
#define BACK_OFF_NS   (100ull * 1000000)
#define STOP_GRACE_NS (CORE_STOP_GRACE_MS * 1000000ull)
#define BATCH_PAUSE_NS (3600ull * 1000000000)

static const struct bytes no_bytes;

/* -- starting ----------------------------------------------------------------------------------------------------------- */

/* What is to run next on a lane. */
struct stage {
    unsigned part;
    bool synthesis;
    unsigned batch[JOB_BATCH_MOST], batch_count; /* parts that are proved together; 0: `part` by itself */
};

/* What a stage takes on a lane.  A payload that is only on disk is read for the run; only the first stage sees it.  copies: into
 * the memory of a device's process; what synthesis leaves is copied too, and counted in the circuit's bytes. */
static struct bytes stage_bytes(const struct job *j, const struct stage *s, const struct lane *l, bool copies)
{
    const bool together = s->batch_count > 0, has_synthesis = j->circuit->kind->has_synthesis;
    struct bytes need = together       ? j->circuit->batch.run_bytes
                        : s->synthesis ? j->circuit->synthesis_bytes
                                       : j->circuit->prove_bytes;
    const uint64_t device = need.of[BYTES_DEVICE];

    need.of[BYTES_DEVICE] = 0;
    need.of[BYTES_DEVICE + l->device] = device;

    if (j->payload == NULL && (together || s->synthesis == has_synthesis))
        need.of[BYTES_HEAP] += j->payload_bytes;
    if (copies && (together || !has_synthesis)) need.of[BYTES_HEAP] += j->payload_bytes;
    return need;
}

/* Bytes that stay taken when all that runs has ended, if a part of circuit `added` is carried besides. */
static void lasting_bytes(const struct engine_core *c, unsigned added, struct bytes *lasting,
                          struct bytes *reserve)
{
    *lasting = c->fixed;
    *reserve = no_bytes;
    bytes_add(lasting, &c->carried);
    bytes_add(lasting, &c->stuck);
    bytes_add(lasting, &c->store.keys[added].circuit->carry_bytes);
    for (unsigned i = 0; i < c->store.count; i++) {
        const struct stored_key *k = &c->store.keys[i];
        if (c->carried_parts[i] == 0 && i != added) continue;
        bytes_add(lasting, key_store_wants(k));
        bytes_max(reserve, &k->circuit->prove_bytes);
    }
}

static bool anything_runs(const struct engine_core *c)
{
    for (uint32_t i = 0; i < c->lanes.count; i++)
        if (c->lanes.lanes[i].state == LANE_BUSY) return true;
    return false;
}

static void evict(struct engine_core *c, struct stored_key *k)
{
    key_store_begin_evict(&c->store, k);
    k->was_loaded = true;
    c->counters.evictions++;
    core_do_key(c, ACT_FREE_KEY, k);
}

/* -- what lanes keep ---------------------------------------------------------------------------------------------------- */

static void lane_give(struct engine_core *c, uint32_t lane)
{
    c->lanes.lanes[lane].giving = true;
    core_do_lane(c, ACT_GIVE, lane);
}

void core_lane_gave(struct engine_core *c, uint32_t lane)
{
    struct lane *l = &c->lanes.lanes[lane];
    const struct bytes back = { .of[BYTES_HEAP] = l->kept };

    budget_give(&c->budget, &back);
    l->kept = 0;
    l->giving = false;
}

uint64_t core_giving_bytes(const struct engine_core *c)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < c->lanes.count; i++)
        if (c->lanes.lanes[i].giving) bytes += c->lanes.lanes[i].kept;
    return bytes;
}

/* Whether the lane may be told to give back what it keeps. */
static bool can_give(const struct lane *l)
{
    return l->kept > 0 && !l->giving && (l->state == LANE_IDLE || l->state == LANE_QUARANTINED || l->state == LANE_CLOSED);
}

/* Of all lanes, or of all but one, whose block is what is asked for. */
static uint64_t can_give_bytes(const struct engine_core *c, uint32_t but)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < c->lanes.count; i++)
        if (i != but && can_give(&c->lanes.lanes[i])) bytes += c->lanes.lanes[i].kept;
    return bytes;
}

#define NO_LANE UINT32_MAX

/* Tells one lane to give, the last that would be fed. */
static void give_one(struct engine_core *c, uint32_t but)
{
    for (uint32_t i = c->lanes.count; i-- > 0;)
        if (i != but && can_give(&c->lanes.lanes[i])) {
            lane_give(c, i);
            return;
        }
}

/* The block that the lane has while it runs such a stage and afterwards; 0: none stays. */
static uint64_t keeps_after(const struct engine_core *c, const struct lane *l, const struct circuit *circuit, bool synthesis)
{
    const uint64_t block = !synthesis && circuit->block_bytes > l->kept ? circuit->block_bytes : l->kept;

    return block <= c->options.keep_most_bytes ? block : 0;
}

/* Of what a stage needs, what the lane has already. */
static uint64_t reused(const struct lane *l, const struct circuit *circuit, bool synthesis)
{
    if (synthesis) return 0;
    return l->kept < circuit->block_bytes ? l->kept : circuit->block_bytes;
}

/* Asks until the answer is neither "give" nor "evict".  but: the lane whose block is not asked for, or NO_LANE. */
static enum admit_verdict admit(struct engine_core *c, struct admit_request *r, bool key_alone, uint32_t but)
{
    for (;;) {
        struct stored_key *victim = NULL;
        r->giving = core_giving_bytes(c);
        r->kept = can_give_bytes(c, but);
        const enum admit_verdict v = key_alone ? admit_key(&victim, &c->budget, &c->store, r)
                                               : admit_part(&victim, &c->budget, &c->store, r);
        if (v == ADMIT_GIVE)
            give_one(c, but);
        else if (v == ADMIT_EVICT)
            evict(c, victim);
        else
            return v;
    }
}

static void load(struct engine_core *c, struct stored_key *k, uint64_t now_ns)
{
    if (!key_store_begin_load(k, &c->budget, now_ns)) return; /* cannot be: it was admitted */
    c->counters.key_loads++;
    core_do_key(c, ACT_LOAD, k);
}

/* Of what is given to a part: a batch has it for each of its own. */
static uint64_t limit_ns(const struct lane *l, uint64_t part_ns)
{
    const uint64_t parts = l->batch_count > 0 ? l->batch_count : 1;

    return part_ns < UINT64_MAX / 4 / parts ? part_ns * parts : UINT64_MAX / 4;
}

/* What ends first: the watchdog's time, or that of the job for one of its parts. */
static void watch(struct engine_core *c, const struct lane *l)
{
    if (l->watch_ns == 0) return;
    if (c->options.watchdog_ns != 0) core_due(c, l->watch_ns + limit_ns(l, c->options.watchdog_ns));
    if (l->job->part_ns != 0) core_due(c, l->watch_ns + limit_ns(l, l->job->part_ns));
}

static void part_start(struct engine_core *c, uint32_t lane, struct job *j, const struct stage *s,
                       const struct bytes *need, uint64_t now_ns)
{
    struct lane *l = &c->lanes.lanes[lane];
    const bool synthesis = s->synthesis;
    const unsigned runs = s->batch_count > 0 ? s->batch_count : 1;

    if (j->parts[s->part].state == PART_WAITING)
        key_store_ref(&c->store.keys[j->circuit_index]); /* a READY part has kept its reference; a batch has one for all */
    if (synthesis) {
        bytes_add(&c->carried, &j->circuit->carry_bytes);
        c->carried_parts[j->circuit_index]++;
    }
    l->batch_count = s->batch_count;
    for (unsigned i = 0; i < runs; i++) {
        const unsigned part = s->batch_count > 0 ? s->batch[i] : s->part;
        l->batch[i] = part;
        j->parts[part].lane = lane;
        job_part_move(j, part, synthesis ? PART_SYNTHESISING : PART_PROVING);
    }
    if (j->state == JOB_QUEUED) job_move(j, JOB_STARTED);
    if (j->first_start_ns == 0) j->first_start_ns = now_ns;
    if (j->key_since_ns != 0) j->key_ns += now_ns - j->key_since_ns;
    j->key_since_ns = 0;
    j->in_flight++;
    j->attempts += runs;
    c->counters.attempts += runs;
    l->state = LANE_BUSY;
    l->job = j;
    l->part = s->part;
    l->synthesis = synthesis;
    l->detached = l->stopped_by_watchdog = false;
    l->start_ns = now_ns;
    l->watch_ns = c->options.take_turns && !synthesis ? 0 : now_ns;
    l->stop_ns = 0;
    l->held = *need;
    l->held.of[BYTES_HEAP] += l->kept;
    l->keeps = keeps_after(c, l, j->circuit, synthesis || s->batch_count > 0);
    l->kept = 0;
    watch(c, l);
    const struct action a = { .kind = ACT_RUN, .lane = lane, .job = j, .part = s->part, .synthesis = synthesis };
    c->act(c->act_context, &a);
}

/* Parts of this circuit are proved by themselves for a while. */
static void batch_pause(struct engine_core *c, struct stored_key *key, const struct job *j, const char *why, uint64_t now_ns)
{
    key->singly_until_ns = now_ns + BATCH_PAUSE_NS;
    core_note(c, LOG_WARN, j, "parts on circuit %s are proved by themselves for an hour: %s", key->circuit->name, why);
}

static bool stage_next(const struct engine_core *c, const struct job *j, uint32_t lane, uint64_t now_ns, struct stage *out)
{
    bool wait = false;

    memset(out, 0, sizeof *out);
    if (now_ns >= c->store.keys[j->circuit_index].singly_until_ns)
        out->batch_count = split_batch(j, &c->lanes, lane, now_ns, out->batch, &wait);
    out->part = out->batch[0];
    if (out->batch_count > 0) return true;
    return !wait && split_next(j, &c->lanes, lane, now_ns, &out->part, &out->synthesis);
}

/* A lane that was given up holds the key, and may hold it for ever. */
static bool held_by_stuck(const struct engine_core *c, const struct stored_key *key)
{
    for (uint32_t i = 0; i < c->lanes.count; i++) {
        const struct lane *l = &c->lanes.lanes[i];
        if (l->state == LANE_STUCK && l->job != NULL && &c->store.keys[l->job->circuit_index] == key) return true;
    }
    return false;
}

/* Whether the key is loaded, or will be, the way that a stage wants it; if not, it goes when nobody uses it any more. */
static bool key_in_way(struct engine_core *c, struct stored_key *key, const struct stage *s, bool holds)
{
    const bool singly = s->batch_count == 0;

    if (holds || key->circuit->batch.parts_most == 0 || (singly && key->circuit->batch.beside)) return true;
    if (key->singly == singly) return true;
    if (key->state == KEY_RESIDENT && held_by_stuck(c, key)) return false;
    if (key->state == KEY_RESIDENT) key->lost = true;
    if (key->state == KEY_RESIDENT && key->references == 0) evict(c, key);
    if (key->state == KEY_COLD) key->singly = singly;
    return key->state == KEY_COLD;
}

/* No memory comes back by itself: nothing runs, is tested, loaded or given back. */
static bool nothing_returns(const struct engine_core *c)
{
    for (uint32_t i = 0; i < c->lanes.count; i++)
        if (c->lanes.lanes[i].state == LANE_TESTING) return false;
    for (size_t i = 0; i < c->store.count; i++)
        if (c->store.keys[i].state == KEY_LOADING) return false;
    return !anything_runs(c) && memcmp(&c->store.evicting, &no_bytes, sizeof no_bytes) == 0 && core_giving_bytes(c) == 0;
}

/* Starts the first part in order that may run on the lane, or the first batch.  *blocked: some job in this pass waits for memory, so later ones take none. */
static void lane_feed(struct engine_core *c, uint32_t lane, bool *blocked, size_t *blocked_at,
                      uint64_t now_ns)
{
    const struct lane *l = &c->lanes.lanes[lane];

    for (size_t rank = 0; rank < c->queue.count && !l->giving; rank++) {
        struct job *j = c->queue.jobs[rank];
        struct stored_key *key = &c->store.keys[j->circuit_index];
        struct stage s;

        if (!stage_next(c, j, lane, now_ns, &s)) continue;
        const bool holds = j->parts[s.part].state == PART_READY;
        if (*blocked && rank >= *blocked_at && !holds) continue;
        if (!key_in_way(c, key, &s, holds)) continue;
        const bool no_block = s.synthesis || s.batch_count > 0;
        struct bytes need = stage_bytes(j, &s, l, c->options.copies_inputs);
        need.of[BYTES_HEAP] -= reused(l, j->circuit, no_block);
        struct bytes lasting, reserve;
        struct admit_request r = { .need = &need,
                                   .key = key,
                                   .rank = holds ? 0 : (uint32_t)rank,
                                   .holds = holds,
                                   .min_idle_ns = c->options.evict_idle_ns,
                                   .now_ns = now_ns };
        r.impatient = queue_class(&c->queue, j, now_ns) == JOB_CRITICAL || !anything_runs(c);
        if (s.synthesis) {
            lasting_bytes(c, j->circuit_index, &lasting, &reserve);
            r.lasting = &lasting;
            r.reserve = &reserve;
        }
        /* its own block is no room for what will work in it */
        switch (admit(c, &r, false, l->kept > reused(l, j->circuit, no_block) ? NO_LANE : lane)) {
        case ADMIT_GO:
            if (!budget_take(&c->budget, &need)) return; /* cannot be: it was admitted */
            part_start(c, lane, j, &s, &need, now_ns);
            return;
        case ADMIT_LOAD:
            load(c, key, now_ns);
            if (j->key_since_ns == 0) j->key_since_ns = now_ns;
            break;
        case ADMIT_KEY:
            if (j->key_since_ns == 0) j->key_since_ns = now_ns;
            if (key->state == KEY_COLD) core_due(c, key->retry_ns);
            break;
        case ADMIT_WAIT:
        case ADMIT_GIVE:
        case ADMIT_EVICT:
            if (s.batch_count > 0 && nothing_returns(c)) { /* asked again at once, and then for a part by itself */
                batch_pause(c, key, j, "there is no room for a batch", now_ns);
                core_due(c, now_ns);
            }
            if (!*blocked || rank < *blocked_at) {
                *blocked = true;
                *blocked_at = rank;
            }
            break;
        }
    }
}

static void load_preloads(struct engine_core *c, uint64_t now_ns)
{
    for (size_t i = 0; i < c->store.count; i++) {
        struct stored_key *k = &c->store.keys[i];
        struct admit_request r = {
            .key = k, .rank = KEY_UNWANTED, .min_idle_ns = c->options.evict_idle_ns, .now_ns = now_ns
        };
        if (k->preloads == NULL || k->state != KEY_COLD) continue;
        switch (admit(c, &r, true, NO_LANE)) {
        case ADMIT_LOAD:
            load(c, k, now_ns);
            break;
        case ADMIT_KEY:
            core_due(c, k->retry_ns);
            break;
        default:
            if (memcmp(&c->store.evicting, &no_bytes, sizeof no_bytes) == 0 && core_giving_bytes(c) == 0)
                core_refuse_preload(c, k);
        }
    }
}

void core_schedule(struct engine_core *c, uint64_t now_ns)
{
    bool blocked = false;
    size_t blocked_at = 0;

    if (c->halted) return;
    for (uint32_t lane = 0; lane < c->lanes.count; lane++)
        if (c->lanes.lanes[lane].state == LANE_CLOSED && can_give(&c->lanes.lanes[lane])) lane_give(c, lane);
    queue_order(&c->queue, now_ns);
    for (size_t i = 0; i < c->store.count; i++) {
        c->resident[i] = c->store.keys[i].state == KEY_RESIDENT;
        c->store.keys[i].wanted_rank = KEY_UNWANTED;
        if (c->resident[i] && c->store.keys[i].lost && c->store.keys[i].references == 0)
            evict(c, &c->store.keys[i]);
    }
    queue_group(&c->queue, c->resident, c->options.group_window_ns, now_ns);
    for (size_t rank = c->queue.count; rank-- > 0;)
        c->store.keys[c->queue.jobs[rank]->circuit_index].wanted_rank = (uint32_t)rank;
    for (uint32_t lane = 0; lane < c->lanes.count; lane++)
        if (c->lanes.lanes[lane].state == LANE_IDLE) lane_feed(c, lane, &blocked, &blocked_at, now_ns);
    if (!blocked) load_preloads(c, now_ns);
    for (size_t i = 0; i < c->queue.count; i++) {
        const uint64_t next = split_next_ns(c->queue.jobs[i], now_ns);
        if (next != UINT64_MAX) core_due(c, next);
    }
}

/* -- giving back -------------------------------------------------------------------------------------------------------- */

/* A part no longer stands between synthesis and proof. */
static void carry_ends(struct engine_core *c, struct job *j)
{
    for (int k = 0; k < BYTES_KINDS; k++) c->carried.of[k] -= j->circuit->carry_bytes.of[k];
    c->carried_parts[j->circuit_index]--;
}

/* How long a lane may take to stop: a watchdog's time, a minute at most. */
static uint64_t stop_grace_ns(const struct engine_core *c)
{
    const uint64_t limit = c->options.watchdog_ns;

    return limit != 0 && limit < STOP_GRACE_NS ? limit : STOP_GRACE_NS;
}

/* Gives up what a READY part holds. */
static void carry_drop(struct engine_core *c, struct job *j, struct part *p, uint64_t now_ns)
{
    j->circuit->kind->carry_free(p->carry);
    p->carry = NULL;
    budget_give(&c->budget, &j->circuit->carry_bytes);
    carry_ends(c, j);
    key_store_unref(&c->store.keys[j->circuit_index], now_ns);
}

static struct bytes minus(struct bytes a, const struct bytes *b)
{
    for (int k = 0; k < BYTES_KINDS; k++) a.of[k] -= b->of[k];
    return a;
}

void core_stop_parts(struct engine_core *c, struct job *j, uint64_t now_ns)
{
    for (uint32_t i = 0; i < c->lanes.count; i++) {
        struct lane *l = &c->lanes.lanes[i];
        if (l->state != LANE_BUSY || l->stop_ns != 0 || l->job != j) continue;
        l->stop_ns = now_ns;
        core_due(c, now_ns + stop_grace_ns(c));
        core_do_lane(c, ACT_STOP, i);
    }
    for (unsigned i = 0; i < j->part_count; i++)
        if (j->parts[i].state == PART_READY && j->parts[i].carry != NULL)
            carry_drop(c, j, &j->parts[i], now_ns);
}

/* -- lanes -------------------------------------------------------------------------------------------------------------- */

static void lane_close(struct engine_core *c, uint32_t lane, uint64_t now_ns)
{
    struct error e = { .text = "every lane is closed: each failed too often within an hour",
                       .advice = "look for the first failure in "
                                 "the log; restart after the hardware has been looked at" };

    c->lanes.lanes[lane].state = LANE_CLOSED;
    c->counters.lanes_closed++;
    core_note(c, LOG_ERROR, NULL, "lane %u is closed after %u faults within an hour", lane,
              lane_strikes(&c->lanes.lanes[lane], now_ns));
    if (!lane_book_any_open(&c->lanes)) core_fail_unfinished(c, NULL, CUZK_DEVICE_UNAVAILABLE, &e, now_ns);
}

static bool lane_spent(const struct engine_core *c, const struct lane *l, uint64_t now_ns)
{
    return c->lanes.strikes_most != 0 && lane_strikes(l, now_ns) >= c->lanes.strikes_most;
}

static void lane_to_test(struct engine_core *c, uint32_t lane)
{
    c->lanes.lanes[lane].state = LANE_TESTING;
    core_do_lane(c, ACT_TEST, lane);
}

/* A lane gave a wrong or no result: no work until its self-test has passed.  strike: it is known to be at fault. */
static void lane_quarantine(struct engine_core *c, uint32_t lane, bool strike, uint64_t now_ns)
{
    c->counters.quarantines++;
    if (strike && lane_strike(&c->lanes, lane, now_ns))
        lane_close(c, lane, now_ns);
    else
        lane_to_test(c, lane);
}

void core_lane_tested(struct engine_core *c, const struct event *e, uint64_t now_ns)
{
    struct lane *l = &c->lanes.lanes[e->lane];

    if (e->status == CUZK_OK && !lane_spent(c, l, now_ns)) {
        l->state = LANE_IDLE;
        return;
    }
    if (e->status != CUZK_OK && e->status != CUZK_CANCELLED) { /* cancelled: the engine is closing, and nothing is known of the lane */
        c->counters.lane_failures++;
        core_note(c, LOG_ERROR, NULL, "lane %u fails its self-test: %s", e->lane,
                  e->error != NULL ? e->error->text : "");
        lane_strike(&c->lanes, e->lane, now_ns);
    }
    if (lane_spent(c, l, now_ns)) {
        lane_close(c, e->lane, now_ns);
        return;
    }
    l->state = LANE_QUARANTINED;
    l->test_ns = now_ns + RETEST_NS;
    core_due(c, l->test_ns);
}

/* A proof of this part verified: whoever's did not was wrong. */
static void blame_suspects(struct engine_core *c, struct part *p, uint64_t now_ns)
{
    for (unsigned i = 0; i < p->suspect_count; i++) {
        const uint32_t lane = p->suspects[i];
        if (lane_strike(&c->lanes, lane, now_ns) && c->lanes.lanes[lane].state == LANE_IDLE)
            lane_close(c, lane, now_ns);
    }
    p->suspect_count = 0;
}

/* -- coming back -------------------------------------------------------------------------------------------------------- */

/* To where it can be tried again, its carry with it. */
static void part_back(struct job *j, unsigned part)
{
    const struct part *p = &j->parts[part];

    job_part_move(j, part, p->state == PART_PROVING && p->carry != NULL ? PART_READY : PART_WAITING);
}

/* Counts a failed attempt of a part that is back: another one, or the job's end. */
static void part_again(struct engine_core *c, struct job *j, unsigned part, cuzk_status status,
                       const struct error *why, uint64_t now_ns)
{
    struct part *p = &j->parts[part];

    if (core_job_over(j)) return;
    p->attempts++;
    if (p->attempts >= c->options.attempts_most) {
        core_finish(c, j, JOB_FAILED, status, why, now_ns);
        return;
    }
    c->counters.retries++;
    if (status_retry_class(status) == RETRY_LATER) p->not_before_ns = now_ns + (BACK_OFF_NS << p->attempts);
    core_note(c, LOG_WARN, j, "part %u fails on lane %u and is tried again (attempt %u of %u): %s", part,
              p->lane, p->attempts + 1, c->options.attempts_most,
              why != NULL ? why->text : status_text(status));
}

/* A lane that was given up comes back after all. */
static void detached_back(struct engine_core *c, struct lane *l, uint32_t lane, uint64_t now_ns)
{
    struct job *j = l->job;
    struct bytes back = l->held;

    if (l->carry != NULL) j->circuit->kind->carry_free(l->carry);
    l->carry = NULL;
    c->stuck = minus(c->stuck, &l->held);
    back.of[BYTES_HEAP] -= l->keeps;
    budget_give(&c->budget, &back);
    l->held = no_bytes;
    l->kept = l->keeps;
    l->detached = false;
    key_store_unref(&c->store.keys[j->circuit_index], now_ns);
    j->in_flight--;
    l->job = NULL;
    l->batch_count = 0;
    core_note(c, LOG_WARN, j, "lane %u answers again; what it brings comes too late", lane);
    if (lane_spent(c, l, now_ns))
        lane_close(c, lane, now_ns);
    else
        lane_to_test(c, lane);
    core_settle(c, j);
}

static void synthesised(struct job *j, unsigned part, void *carry, uint64_t took_ns)
{
    struct part *p = &j->parts[part];

    p->carry = carry;
    p->synthesis_ns += took_ns;
    p->lane = JOB_NO_LANE;
    job_part_move(j, part, PART_READY);
}

static void proved(struct engine_core *c, struct job *j, unsigned part, const struct event *e,
                   uint64_t took_ns, uint64_t now_ns)
{
    struct part *p = &j->parts[part];

    p->output = e->output;
    p->prove_ns += took_ns;
    c->counters.prove_ms += (double)took_ns * 1e-6;
    job_part_move(j, part, PART_DONE);
    core_part_done(c, j, part, now_ns);
    blame_suspects(c, p, now_ns);
}

/* The end of a run that brought nothing usable: what the lane, the part and the job are to be thought of. */
static void run_failed(struct engine_core *c, uint32_t lane, struct job *j, unsigned part,
                       const struct event *e, uint64_t now_ns)
{
    struct lane *l = &c->lanes.lanes[lane];
    struct part *p = &j->parts[part];
    cuzk_status status = e->status;
    struct error why = e->error != NULL ? *e->error : (struct error){ .status = status };

    part_back(j, part);
    if (e->outcome == PART_KEY_LOST) {
        c->store.keys[j->circuit_index].lost = true;
        core_note(c, LOG_ERROR, j, "part %u: %s; the key of %s is loaded again", part, why.text,
                  j->circuit->name);
        part_again(c, j, part, status, &why, now_ns);
        return;
    }
    if (e->outcome == PART_DEVICE_GONE && !l->stopped_by_watchdog) {
        p->was_lost = true;
        c->counters.retries++;
        core_note(c, LOG_WARN, j, "part %u was lost on lane %u and is tried again, alone there: %s", part, lane, why.text);
        lane_quarantine(c, lane, false, now_ns);
        return;
    }
    if (e->outcome == PART_WRONG) {
        c->counters.verify_failures++;
        if (p->suspect_count < ARRAY_COUNT(p->suspects)) p->suspects[p->suspect_count++] = lane;
        snprintf(why.text, sizeof why.text,
                 "%u proofs made from these inputs do not verify: the witness does not satisfy the circuit, "
                 "or the "
                 "key is damaged",
                 p->attempts + 1);
        snprintf(why.advice, sizeof why.advice,
                 "compute the witness again with the circuit of this key; check the key");
        core_note(c, LOG_ERROR, j, "part %u: a proof made on lane %u does not verify and is thrown away",
                  part, lane);
        lane_quarantine(c, lane, false, now_ns);
        part_again(c, j, part, CUZK_UNSATISFIED, &why, now_ns);
        return;
    }
    if (l->stopped_by_watchdog) {
        status = CUZK_DEADLINE;
        snprintf(why.text, sizeof why.text, "part %u ran longer than the watchdog allows (%llu ms)", part,
                 (unsigned long long)(c->options.watchdog_ns / 1000000));
        why.advice[0] = '\0';
    }
    const enum status_retry class = status_retry_class(status);
    if (l->stopped_by_watchdog || class == RETRY_ELSEWHERE || class == RETRY_BUG) {
        c->counters.lane_failures++;
        lane_quarantine(c, lane, true, now_ns);
        part_again(c, j, part, status, &why, now_ns);
    } else if (class == RETRY_LATER) {
        part_again(c, j, part, status, &why, now_ns);
    } else {
        core_finish(c, j, JOB_FAILED, status, &why, now_ns); /* the request itself is at fault */
    }
}

/* -- the end of a batch ------------------------------------------------------------------------------------------------- */

/* To where parts can be tried again: no attempt of any. */
static void batch_back(struct lane *l, struct job *j)
{
    for (unsigned i = 0; i < l->batch_count; i++) part_back(j, l->batch[i]);
}

/* Whether a batch has failed for what was asked; everything else is for parts by themselves to find out. */
static bool of_request(cuzk_status s)
{
    return s == CUZK_INVALID_ARGUMENT || s == CUZK_MALFORMED || s == CUZK_MISMATCH || s == CUZK_UNSATISFIED;
}

/* A batch that brought nothing: as run_failed, but that no part of it is blamed. */
static void batch_failed(struct engine_core *c, uint32_t lane, struct job *j, const struct event *e, uint64_t now_ns)
{
    struct lane *l = &c->lanes.lanes[lane];
    struct stored_key *key = &c->store.keys[j->circuit_index];
    const char *text = l->stopped_by_watchdog ? "a batch ran longer than the watchdog allows"
                       : e->error != NULL     ? e->error->text
                                              : status_text(e->status);
    const enum status_retry class = status_retry_class(e->status);
    const bool gone = e->outcome == PART_DEVICE_GONE && !l->stopped_by_watchdog;

    if (e->outcome == PART_KEY_LOST) {
        key->lost = true;
        core_note(c, LOG_ERROR, j, "%s; the key of %s is loaded again", text, j->circuit->name);
        for (unsigned i = 0; i < l->batch_count; i++) {
            part_back(j, l->batch[i]);
            part_again(c, j, l->batch[i], e->status, e->error, now_ns);
        }
        return;
    }
    batch_back(l, j);
    if (!l->stopped_by_watchdog && !gone && of_request(e->status)) {
        core_finish(c, j, JOB_FAILED, e->status, e->error, now_ns);
        return;
    }
    c->counters.retries += l->batch_count;
    for (unsigned i = 0; gone && i < l->batch_count; i++) j->parts[l->batch[i]].was_lost = true;
    if (gone) {
        core_note(c, LOG_WARN, j, "%u parts were lost on lane %u and are tried again, each alone there: %s", l->batch_count, lane, text);
        if (!key->circuit->batch.beside) batch_pause(c, key, j, text, now_ns); /* or jobs behind this one would load the key for batches again and again */
        lane_quarantine(c, lane, false, now_ns);
        return;
    }
    batch_pause(c, key, j, text, now_ns);
    if (l->stopped_by_watchdog || class == RETRY_ELSEWHERE || class == RETRY_BUG) {
        c->counters.lane_failures++;
        lane_quarantine(c, lane, true, now_ns);
    }
}

/* Each part of a batch that brought something: done, or by itself from now on. */
static void batch_proved(struct engine_core *c, uint32_t lane, struct job *j, const struct event *e, uint64_t took_ns, uint64_t now_ns)
{
    struct lane *l = &c->lanes.lanes[lane];
    struct stored_key *key = &c->store.keys[j->circuit_index];
    const unsigned count = l->batch_count;

    for (unsigned i = 0; i < count; i++) {
        struct part *p = &j->parts[l->batch[i]];
        const bool wrong = e->wrong >> i & 1;
        if (e->outputs[i].proof != NULL && !wrong) continue;
        part_output_free(&e->outputs[i]);
        part_back(j, l->batch[i]);
        p->singly = true;
        c->counters.retries++;
        if (!wrong) continue;
        c->counters.verify_failures++;
        if (p->suspect_count < ARRAY_COUNT(p->suspects)) p->suspects[p->suspect_count++] = lane;
        core_note(c, LOG_ERROR, j, "part %u: a proof made in a batch on lane %u does not verify and is thrown away", l->batch[i], lane);
    }
    unsigned made = 0;
    for (unsigned i = 0; i < count; i++) {
        struct event one = { .output = e->outputs[i] };
        if (one.output.proof == NULL) continue;
        made++;
        memset(&e->outputs[i], 0, sizeof e->outputs[i]);
        proved(c, j, l->batch[i], &one, took_ns / count, now_ns);
    }
    if (made == 0 || (made < count && !key->circuit->batch.beside))
        batch_pause(c, key, j, made == 0 ? "a batch brought no proof" : "a part of a batch has to be tried alone, for which the key is loaded another way", now_ns);
    if (e->wrong != 0 && l->state == LANE_IDLE) lane_quarantine(c, lane, false, now_ns);
}

static void outputs_free(const struct lane *l, const struct event *e)
{
    for (unsigned i = 0; e->outputs != NULL && i < l->batch_count; i++) part_output_free(&e->outputs[i]);
}

/* What the lane held has been given back; it keeps its scratch. */
static void lane_leaves(struct lane *l, struct job *j)
{
    l->held = no_bytes;
    l->kept = l->keeps;
    l->job = NULL;
    l->state = LANE_IDLE;
    j->in_flight--;
}

static void batch_ended(struct engine_core *c, const struct event *e, uint64_t now_ns)
{
    struct lane *l = &c->lanes.lanes[e->lane];
    struct job *j = l->job;
    const uint64_t took_ns = now_ns - l->start_ns;
    const bool over = core_job_over(j), ran = e->outcome == PART_RAN;
    struct bytes back = l->held;

    back.of[BYTES_HEAP] -= l->keeps;
    budget_give(&c->budget, &back);
    key_store_unref(&c->store.keys[j->circuit_index], now_ns);
    lane_leaves(l, j);
    if (over) {
        outputs_free(l, e);
        if (!ran && status_retry_class(e->status) >= RETRY_ELSEWHERE) lane_quarantine(c, e->lane, false, now_ns);
    } else if (!ran) {
        batch_failed(c, e->lane, j, e, now_ns);
    } else {
        batch_proved(c, e->lane, j, e, took_ns, now_ns);
    }
    l->batch_count = 0;
    if (l->state == LANE_IDLE && lane_spent(c, l, now_ns)) lane_close(c, e->lane, now_ns);
    core_settle(c, j);
}

void core_part_begun(struct engine_core *c, uint32_t lane, uint64_t now_ns)
{
    struct lane *l = &c->lanes.lanes[lane];

    l->watch_ns = now_ns; /* given up meanwhile: of no consequence */
    if (l->state == LANE_BUSY) watch(c, l);
}

void core_part_ended(struct engine_core *c, const struct event *e, uint64_t now_ns)
{
    struct lane *l = &c->lanes.lanes[e->lane];
    struct job *j = l->job;
    const unsigned part = l->part;
    struct part *p = &j->parts[part];
    struct part_output output = e->output;
    const bool synthesis = l->synthesis, ran = e->outcome == PART_RAN;

    if (e->carry_freed) *(l->detached ? &l->carry : &p->carry) = NULL;
    if (l->detached) {
        if (e->carry != NULL) j->circuit->kind->carry_free(e->carry);
        part_output_free(&output);
        outputs_free(l, e);
        detached_back(c, l, e->lane, now_ns);
        return;
    }
    if (l->batch_count > 0) {
        batch_ended(c, e, now_ns);
        return;
    }
    const uint64_t took_ns = now_ns - l->start_ns;
    const bool over = core_job_over(j);
    const bool keeps_carry =
        !over && (synthesis ? ran : !ran && p->carry != NULL && e->outcome != PART_KEY_LOST);
    struct bytes back = l->held;
    back.of[BYTES_HEAP] -= l->keeps;
    if (synthesis && keeps_carry) back = minus(back, &j->circuit->carry_bytes);
    if (!synthesis && !keeps_carry && j->circuit->kind->has_synthesis)
        bytes_add(&back, &j->circuit->carry_bytes);
    budget_give(&c->budget, &back);
    if (!keeps_carry) {
        if (j->circuit->kind->has_synthesis) carry_ends(c, j);
        key_store_unref(&c->store.keys[j->circuit_index], now_ns);
    }
    lane_leaves(l, j);
    if (!keeps_carry && p->carry != NULL) {
        j->circuit->kind->carry_free(p->carry);
        p->carry = NULL;
    }
    if (over) {
        if (e->carry != NULL) j->circuit->kind->carry_free(e->carry);
        part_output_free(&output);
        if (!ran && l->state == LANE_IDLE &&
            (e->outcome == PART_WRONG || status_retry_class(e->status) >= RETRY_ELSEWHERE))
            lane_quarantine(c, e->lane, false, now_ns);
    } else if (!ran) {
        run_failed(c, e->lane, j, part, e, now_ns);
    } else if (synthesis) {
        synthesised(j, part, e->carry, took_ns);
    } else {
        proved(c, j, part, e, took_ns, now_ns);
    }
    if (l->state == LANE_IDLE && lane_spent(c, l, now_ns)) lane_close(c, e->lane, now_ns);
    core_settle(c, j);
}

/* -- the watchdog ------------------------------------------------------------------------------------------------------- */

/* A lane that does not stop is given up; what it works on is tried elsewhere, what it holds stays in the ledger. */
static void lane_give_up(struct engine_core *c, uint32_t lane, uint64_t now_ns)
{
    struct lane *l = &c->lanes.lanes[lane];
    struct job *j = l->job;
    struct part *p = &j->parts[l->part];
    struct error why = { .status = CUZK_DEADLINE, .text = "a lane does not answer", .advice = "" };

    l->state = LANE_STUCK;
    l->detached = true;
    c->counters.lane_failures++;
    lane_strike(&c->lanes, lane, now_ns);
    if (j->circuit->kind->has_synthesis && l->batch_count == 0) {
        if (!l->synthesis) bytes_add(&l->held, &j->circuit->carry_bytes);
        carry_ends(c, j);
        l->carry = p->carry;
        p->carry = NULL;
    }
    bytes_add(&c->stuck, &l->held);
    core_note(c, LOG_ERROR, j, "lane %u does not stop; it is given up with the memory it holds", lane);
    if (core_job_over(j)) return;
    if (l->batch_count > 0) {
        batch_back(l, j);
        /* where the key would have to be loaded another way it cannot be, since the lane holds it: other devices go on with batches */
        if (j->circuit->batch.beside) batch_pause(c, &c->store.keys[j->circuit_index], j, why.text, now_ns);
        return;
    }
    part_back(j, l->part);
    part_again(c, j, l->part, CUZK_DEADLINE, &why, now_ns);
}

/* A part that has had its time is told to stop: the watchdog's, after which it is tried again, or the job's, which ends then. */
static void watch_part(struct engine_core *c, uint32_t lane, uint64_t now_ns)
{
    static const struct error late = { .status = CUZK_DEADLINE,
                                       .text = "it was not done in the time given to it from the beginning of its work on" };
    struct lane *l = &c->lanes.lanes[lane];
    const uint64_t limit = c->options.watchdog_ns, took_ns = now_ns - l->watch_ns;

    if (l->watch_ns == 0) return;
    if (l->job->part_ns != 0 && took_ns >= limit_ns(l, l->job->part_ns)) {
        core_finish(c, l->job, JOB_FAILED, CUZK_DEADLINE, &late, now_ns);
    } else if (limit != 0 && took_ns >= limit_ns(l, limit)) {
        l->stop_ns = now_ns;
        l->stopped_by_watchdog = true;
        c->counters.watchdog_stops++;
        core_do_lane(c, ACT_STOP, lane);
        core_due(c, now_ns + stop_grace_ns(c));
    } else {
        watch(c, l);
    }
}

void core_watch_lanes(struct engine_core *c, uint64_t now_ns)
{
    const uint64_t grace = stop_grace_ns(c);

    for (uint32_t i = 0; i < c->lanes.count; i++) {
        struct lane *l = &c->lanes.lanes[i];
        if (l->state == LANE_QUARANTINED && l->test_ns <= now_ns && !l->giving) lane_to_test(c, i);
        if (l->state == LANE_QUARANTINED) core_due(c, l->test_ns);
        if (l->state != LANE_BUSY) continue;
        if (l->stop_ns != 0) {
            if (now_ns - l->stop_ns >= grace)
                lane_give_up(c, i, now_ns);
            else
                core_due(c, l->stop_ns + grace);
        } else {
            watch_part(c, i, now_ns);
        }
    }
}
