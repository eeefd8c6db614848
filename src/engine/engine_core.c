/* The engine as a state machine: the step, the clock, the end.  core_jobs.c has the jobs, core_askers.c those who ask, schedule.c
 * lanes, parts and memory. */
#include "engine/core_inside.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHELF_LOOK_NS (1000ull * 1000000) /* when the oldest result cannot be forgotten yet */

/* -- acting ------------------------------------------------------------------------------------------------------------- */

void core_due(struct engine_core *c, uint64_t at_ns)
{
    if (at_ns < c->due_ns) c->due_ns = at_ns;
}

static void act(struct engine_core *c, const struct action *a) { c->act(c->act_context, a); }

void core_note(struct engine_core *c, enum log_level level, const struct job *j, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const struct action a = {
        .kind = ACT_NOTE, .level = level, .text = text, .job = (struct job *)(uintptr_t)j
    };
    act(c, &a);
}

void core_do_job(struct engine_core *c, enum action_kind kind, struct job *j)
{
    const struct action a = { .kind = kind, .job = j };
    act(c, &a);
}

void core_do_lane(struct engine_core *c, enum action_kind kind, uint32_t lane)
{
    const struct action a = { .kind = kind, .lane = lane };
    act(c, &a);
}

void core_do_key(struct engine_core *c, enum action_kind kind, struct stored_key *k)
{
    const struct action a = { .kind = kind, .key = k };
    act(c, &a);
}

void core_tell(struct engine_core *c, struct waiter *w, const struct job_answer *answer)
{
    const struct action a = { .kind = ACT_TELL, .waiter = w, .answer = answer };
    act(c, &a);
}

/* An answer that is about no job at hand. */
void core_tell_status(struct engine_core *c, struct waiter *w, const char *id, cuzk_status status,
                      const char *text)
{
    struct job_answer answer = { .status = status, .error_text = text };

    snprintf(answer.job_id, sizeof answer.job_id, "%s", id);
    core_tell(c, w, &answer);
}

void core_tell_key(struct engine_core *c, struct waiter *w, cuzk_status status, const char *text,
                   const struct key_answer *more)
{
    struct key_answer answer = more != NULL ? *more : (struct key_answer){ .load_ms = 0 };
    const struct action a = { .kind = ACT_TELL_KEY, .waiter = w, .key_answer = &answer };

    answer.status = status;
    answer.error_text = text;
    act(c, &a);
}

/* -- time --------------------------------------------------------------------------------------------------------------- */

static void tick(struct engine_core *c, uint64_t now_ns)
{
    struct job *older, *j;

    c->due_ns = UINT64_MAX;
    core_watch_lanes(c, now_ns);
    for (j = c->newest; j != NULL; j = older) {
        older = j->older;
        if (j->waiters != NULL) core_expire_waiters(c, j, now_ns);
        if (j->dirty && (j->record & RECORD_END) == 0) core_record(c, j, RECORD_END);
        if (j->expire_ns == 0 || j->state == JOB_ACCEPTING || core_job_over(j)) continue;
        if (j->expire_ns <= now_ns) {
            const struct error e = { .status = CUZK_DEADLINE,
                                     .text = "the job was not done in the time given to it" };
            core_finish(c, j, JOB_FAILED, CUZK_DEADLINE, &e, now_ns);
        } else {
            core_due(c, j->expire_ns);
        }
    }
    while (c->shelf.oldest != NULL && !c->shelf.oldest->dirty && c->shelf.oldest->settled &&
           (j = result_forget(&c->shelf, c->options.result_most, c->options.result_keep_ns, now_ns)) != NULL)
        core_forget(c, j);
    if (c->shelf.oldest != NULL) {
        const uint64_t keep_until = c->shelf.oldest->end_ns + c->options.result_keep_ns;
        core_due(c, keep_until > now_ns ? keep_until : now_ns + SHELF_LOOK_NS);
    }
    for (size_t i = 0; i < c->store.count; i++)
        if (c->store.keys[i].state == KEY_COLD && c->store.keys[i].retry_ns > now_ns)
            core_due(c, c->store.keys[i].retry_ns);
}

/* -- closing ------------------------------------------------------------------------------------------------------------ */

/* Lets go of jobs at the end: durable ones are left to the journal, others end. */
static void let_go(struct engine_core *c, bool started_too, uint64_t now_ns)
{
    struct job *older;

    for (struct job *j = c->newest; j != NULL; j = older) {
        older = j->older;
        if (core_job_over(j) || j->state == JOB_ACCEPTING || (j->state == JOB_STARTED && !started_too))
            continue;
        if (!j->durable) {
            core_finish(c, j, JOB_CANCELLED, CUZK_CANCELLED, NULL, now_ns);
            continue;
        }
        struct job_answer answer = { .status = CUZK_DEVICE_UNAVAILABLE };
        answer.error_text = "the engine is closing; the job is kept and goes on at the next start";
        memcpy(answer.job_id, j->id, sizeof answer.job_id);
        j->suspended = true;
        queue_drop(&c->queue, j);
        core_stop_parts(c, j, now_ns);
        core_tell_waiters(c, j, &answer);
    }
}

/* -- the step ----------------------------------------------------------------------------------------------------------- */

void core_step(struct engine_core *c, const struct event *e, uint64_t now_ns)
{
    switch (e->kind) {
    case EVENT_SUBMIT:
        core_submit(c, e->job, e->waiter, now_ns);
        break;
    case EVENT_RESUME:
        core_resume(c, e->job, now_ns);
        break;
    case EVENT_JOURNALED:
        core_journaled(c, e, now_ns);
        if ((e->records & RECORD_ACCEPT) && e->status == CUZK_OK && e->job->cancel_asked)
            core_finish(c, e->job, JOB_CANCELLED, CUZK_CANCELLED, NULL, now_ns);
        break;
    case EVENT_JOURNAL_LOOKED:
        core_journal_state(c, NULL, e->status == CUZK_OK, e->error);
        break;
    case EVENT_AWAIT:
        core_await(c, e->id, e->waiter, now_ns);
        break;
    case EVENT_LEAVE:
        core_leave(c, e, now_ns);
        break;
    case EVENT_CANCEL:
        core_cancel(c, e->id, e->waiter, now_ns);
        break;
    case EVENT_PRELOAD:
        core_preload(c, e->circuit, e->waiter);
        break;
    case EVENT_EVICT:
        core_evict(c, e->circuit, e->waiter);
        break;
    case EVENT_PART_BEGUN:
        core_part_begun(c, e->lane, now_ns);
        break;
    case EVENT_PART_ENDED:
        core_part_ended(c, e, now_ns);
        break;
    case EVENT_LANE_TESTED:
        core_lane_tested(c, e, now_ns);
        break;
    case EVENT_LANE_GAVE:
        core_lane_gave(c, e->lane);
        break;
    case EVENT_KEY_LOADED:
        core_key_loaded(c, e, now_ns);
        break;
    case EVENT_KEY_FREED:
        core_key_freed(c, e->key);
        break;
    case EVENT_TICK:
        break;
    case EVENT_HALT:
        c->halted = true; /* fall through */
    case EVENT_DRAIN:
        c->draining = true;
        break;
    }
    if (c->due_ns <= now_ns) tick(c, now_ns);
    if (c->draining) let_go(c, c->halted, now_ns);
    core_schedule(c, now_ns);
}

uint64_t core_due_ns(const struct engine_core *c) { return c->due_ns; }

bool core_quiet(const struct engine_core *c)
{
    for (uint32_t i = 0; i < c->lanes.count; i++)
        if (c->lanes.lanes[i].state == LANE_BUSY || c->lanes.lanes[i].state == LANE_TESTING || c->lanes.lanes[i].giving)
            return false;
    for (size_t i = 0; i < c->store.count; i++)
        if (c->store.keys[i].state == KEY_LOADING || c->store.keys[i].state == KEY_EVICTING) return false;
    for (const struct job *j = c->newest; j != NULL; j = j->older)
        if (j->record != RECORD_NOTHING) return false;
    return true;
}

bool core_drained(const struct engine_core *c)
{
    for (const struct job *j = c->newest; j != NULL; j = j->older)
        if (j->state == JOB_ACCEPTING || j->state == JOB_RECORDING ||
            (j->state == JOB_STARTED && !j->suspended))
            return false;
    return true;
}

/* -- life --------------------------------------------------------------------------------------------------------------- */

cuzk_status core_init(struct engine_core *c, struct task *t, const struct core_options *o,
                      struct circuit *circuits, size_t circuit_count, uint32_t lane_count,
                      const struct bytes *total, const struct bytes *fixed, core_act *on_act,
                      void *act_context, uint64_t now_ns)
{
    memset(c, 0, sizeof *c);
    c->options = *o;
    c->act = on_act;
    c->act_context = act_context;
    c->start_ns = now_ns;
    c->due_ns = UINT64_MAX;
    c->fixed = *fixed;
    budget_init(&c->budget, total);
    if (!budget_take(&c->budget, fixed))
        return FAIL(t, CUZK_TOO_LARGE,
                    "payloads and devices' tables take %llu bytes of heap; the whole budget is %llu",
                    (unsigned long long)fixed->of[BYTES_HEAP], (unsigned long long)total->of[BYTES_HEAP]);
    TRY(key_store_init(&c->store, t, circuits, circuit_count));
    TRY(lane_book_init(&c->lanes, t, lane_count, o->strikes_most));
    for (uint32_t i = 0; o->device_count != 0 && i < lane_count; i++)
        c->lanes.lanes[i].device = i % o->device_count;
    TRY(queue_init(&c->queue, t, o->queue_most, o->ageing_ns));
    c->carried_parts = calloc(circuit_count + 1, sizeof *c->carried_parts);
    c->resident = calloc(circuit_count + 1, sizeof *c->resident);
    if (c->carried_parts == NULL || c->resident == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for a table of circuits");
    return CUZK_OK;
}

void core_fini(struct engine_core *c)
{
    while (c->newest != NULL) {
        struct job *j = c->newest;
        core_drop(c, j);
        job_destroy(j);
    }
    free(c->carried_parts);
    free(c->resident);
    key_store_fini(&c->store);
    lane_book_fini(&c->lanes);
    queue_fini(&c->queue);
}

/* -- the audit ---------------------------------------------------------------------------------------------------------- */

static void must(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "cuzk: the engine's books do not agree: %s\n", what);
    abort();
}

void core_audit(const struct engine_core *c)
{
    struct bytes sum = c->fixed;
    uint64_t payloads = 0;
    unsigned unfinished = 0, references = 0, expected = 0;

    bytes_add(&sum, &c->carried);
    for (size_t i = 0; i < c->store.count; i++) {
        bytes_add(&sum, &c->store.keys[i].bytes);
        references += c->store.keys[i].references;
    }
    for (uint32_t i = 0; i < c->lanes.count; i++) {
        const struct lane *l = &c->lanes.lanes[i];
        sum.of[BYTES_HEAP] += l->kept;
        if (l->state != LANE_BUSY && l->state != LANE_STUCK) continue;
        must(l->kept == 0 && !l->giving, "a lane that works has a block beside what it holds");
        bytes_add(&sum, &l->held);
        expected++;
        /* a run of synthesis holds its carry's bytes in `held`, and they count as carried too */
        if (l->state == LANE_BUSY && l->synthesis)
            for (int k = 0; k < BYTES_KINDS; k++) sum.of[k] -= l->job->circuit->carry_bytes.of[k];
    }
    for (const struct job *j = c->newest; j != NULL; j = j->older) {
        unfinished += j->state < JOB_RECORDING;
        if (j->payload_counted) payloads += j->payload_bytes;
        for (unsigned p = 0; p < j->part_count; p++)
            expected += j->parts[p].state == PART_READY && j->parts[p].carry != NULL;
    }
    must(memcmp(&sum, &c->budget.used, sizeof sum) == 0, "the ledger is not the sum of what is held");
    must(bytes_lacking(&c->budget.used, &c->budget.total) < 0, "more is taken than there is");
    must(bytes_lacking(&c->budget.peak, &c->budget.total) < 0, "more was taken than there is");
    must(payloads == c->payload_used && payloads <= c->options.payload_bytes, "the payloads' account");
    must(unfinished == c->unfinished, "the count of unfinished jobs");
    must(references == expected, "the keys' references");
}
