/* The engine's shell: threads, files and callbacks around the core, which decides everything.
 *
 * The second story of this source.  A request comes in through engine_submit (any thread: validate, digest, write the payload),
 * becomes an event in the mailbox, and then, on the engine's thread:
 *
 *     mailbox -> core_step (engine_core.c: jobs, waiters, keys; schedule.c: lanes, parts, memory)
 *             -> actions: orders to lanes and to the loader (lane_thread.c), records for the journal, answers for callbacks
 *             -> after a batch of events one transaction (journal.c), and what waited for it is told to the core
 *
 * so an answer that a job is accepted, or done, leaves only when the journal has it.  engine_open.c begins and ends all this. */
#include "engine/engine.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine_inside.h"
#include "engine/engine_view.h"
#include "engine/payload_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MOST    256                 /* events between two transactions */
#define LOOK_EVERY_NS (2ull * 1000000000) /* at the journal's files, which somebody may delete */
#define LOOK_INPUTS   256                 /* and the inputs of so many jobs */
#define HALT_GRACE_NS \
    (90ull * 1000000000) /* for lanes to stop when the engine is closed: more than the core's own patience */

/* -- actions ------------------------------------------------------------------------------------------------------------ */

static void push(struct job **list, struct job *j)
{
    j->journal_next = *list;
    *list = j;
}

static void note(const struct action *a)
{
    struct task t;

    task_init(&t);
    t.tag = a->job != NULL ? a->job->id : NULL;
    log_line(&t, (enum log_level)a->level, "%s", a->text);
}

/* Before anybody is told what may have changed it: whoever knows that there is room again is not refused. */
static void publish_full(struct engine *e)
{
    atomic_store(&e->full, core_full(&e->core));
    atomic_store(&e->queue_full, core_queue_full(&e->core));
}

void engine_act(void *context, const struct action *a)
{
    struct engine *e = context;
    const size_t key = a->key != NULL ? (size_t)(a->key - e->core.store.keys) : 0;

    switch (a->kind) {
    case ACT_RUN:
        lane_thread_run(&e->lanes[a->lane], &e->core.lanes.lanes[a->lane], e->core.store.keys[a->job->circuit_index].key);
        break;
    case ACT_STOP:
        lane_thread_stop(&e->lanes[a->lane]);
        break;
    case ACT_TEST:
        lane_thread_test(&e->lanes[a->lane]);
        if (e->core.halted) lane_thread_stop(&e->lanes[a->lane]);
        break;
    case ACT_GIVE:
        lane_thread_give(&e->lanes[a->lane]);
        break;
    case ACT_LOAD:
        loader_order(&e->loader, key, ORDER_LOAD, a->key);
        break;
    case ACT_FREE_KEY:
        loader_order(&e->loader, key, ORDER_UNLOAD, a->key);
        break;
    case ACT_RECORD:
        if (a->job->in_records) break;
        a->job->in_records = true;
        push(&e->records, a->job);
        break;
    case ACT_DROP_PAYLOAD:
        if (e->journal != NULL) payload_file_remove(journal_folder(e->journal), a->job);
        break;
    case ACT_DESTROY:
        if (a->job->durable && e->journal != NULL && !a->job->settled)
            payload_file_remove(journal_folder(e->journal), a->job);
        push(&e->destroys, a->job);
        break;
    case ACT_TELL:
        publish_full(e);
        ((job_told *)a->waiter->told)(a->waiter->context, a->answer);
        free(a->waiter->ended); /* refused */
        free(a->waiter);
        break;
    case ACT_TELL_KEY:
        ((key_told *)a->waiter->told)(a->waiter->context, a->key_answer);
        free(a->waiter);
        break;
    case ACT_NOTE:
        note(a);
        break;
    }
}

/* -- the journal -------------------------------------------------------------------------------------------------------- */

static cuzk_status write_job(struct engine *e, struct task *t, struct job *j)
{
    if (j->record & RECORD_ACCEPT) TRY(journal_accept(e->journal, t, j));
    if (j->record & RECORD_PARTS) TRY(journal_parts(e->journal, t, j));
    if (j->record & RECORD_END) TRY(journal_end(e->journal, t, j));
    if (j->record & RECORD_FORGET) TRY(journal_forget(e->journal, t, j));
    return CUZK_OK;
}

/* The core is told how the writing of what j asked for went.  input_lost: that, and no fault of the journal. */
static void tell_journaled(struct engine *e, struct job *j, cuzk_status status, const struct error *why, bool input_lost)
{
    const struct event told = {
        .kind = EVENT_JOURNALED, .job = j, .records = j->record, .status = status, .error = why, .input_lost = input_lost
    };

    j->record = RECORD_NOTHING;
    j->in_records = false;
    for (unsigned i = 0; status == CUZK_OK && i < j->part_count; i++) j->parts[i].unrecorded = false;
    core_step(&e->core, &told, clock_now_ns());
}

/* Takes new jobs whose input has gone from the list and refuses them: the others are not to fail with them.  Where the journal's own files
 * have gone the input is not the matter. */
static struct job *refuse_inputless(struct engine *e, struct job *list)
{
    struct job *left = NULL, *next;

    for (struct job *j = list; j != NULL; j = next) {
        struct task t, quiet;
        next = j->journal_next;
        task_init(&t);
        task_init(&quiet);
        if ((j->record & RECORD_ACCEPT) && payload_file_check(&t, journal_folder(e->journal), j) != CUZK_OK &&
            journal_check(e->journal, &quiet) == CUZK_OK)
            tell_journaled(e, j, t.error.status, &t.error, true);
        else
            push(&left, j);
    }
    return left;
}

static cuzk_status write_list(struct engine *e, struct task *t, struct job *list)
{
    TRY(journal_begin(e->journal, t));
    for (struct job *j = list; j != NULL; j = j->journal_next) TRY(write_job(e, t, j));
    return journal_commit(e->journal, t);
}

/* Writes what has been asked for, all in one transaction, and tells the core how it went; until nothing more is asked. */
void engine_flush(struct engine *e)
{
    while (e->records != NULL) {
        struct job *list = e->records, *next;
        struct task t;

        e->records = NULL;
        list = refuse_inputless(e, list);
        if (list == NULL) continue;
        task_init(&t);
        const cuzk_status status = write_list(e, &t, list);
        if (status != CUZK_OK) journal_rollback(e->journal);
        for (struct job *j = list; j != NULL; j = next) {
            next = j->journal_next;
            tell_journaled(e, j, status, &t.error, false);
        }
    }
    while (e->destroys != NULL) {
        struct job *j = e->destroys;
        e->destroys = j->journal_next;
        job_destroy(j);
    }
}

/* An input that has vanished is written again while it is in memory: the job was promised to survive. */
static void look_at_input(struct engine *e, const struct job *j)
{
    struct task t;

    task_init(&t);
    if (payload_file_check(&t, journal_folder(e->journal), j) == CUZK_OK) return;
    const char *lost = t.error.text;
    struct task again;
    task_init(&again);
    again.tag = j->id;
    if (j->payload != NULL && payload_file_write(&again, journal_folder(e->journal), j) == CUZK_OK)
        log_line(&again, LOG_ERROR, "%s: %s; it has been written again: %s", t.error.path, lost,
                 t.error.advice);
    else
        log_line(&again, LOG_ERROR, "%s: %s, and cannot be written again: a crash would lose the job; %s",
                 t.error.path, lost, t.error.advice);
}

/* Files of the journal that have gone are noticed within seconds, not at the next submit.  A journal that could not be written is tried:
 * that its files are there does not say that the disk has room. */
static void look_at_journal(struct engine *e)
{
    const uint64_t now_ns = clock_now_ns();
    struct task t;
    unsigned looked = 0;

    if (e->journal == NULL || now_ns < e->look_ns) return;
    e->look_ns = now_ns + LOOK_EVERY_NS;
    task_init(&t);
    const cuzk_status status = e->core.journal_broken ? journal_try(e->journal, &t) : journal_check(e->journal, &t);
    const struct event found = { .kind = EVENT_JOURNAL_LOOKED, .status = status, .error = &t.error };
    core_step(&e->core, &found, now_ns);
    const struct job *j = e->core.newest;
    for (; status == CUZK_OK && j != NULL && looked < LOOK_INPUTS; j = j->older) {
        if (e->look_below != 0 && j->sequence >= e->look_below) continue;
        if (!j->durable || !j->recorded || (j->state != JOB_QUEUED && j->state != JOB_STARTED)) continue;
        look_at_input(e, j);
        looked++;
    }
    e->look_below = j != NULL ? j->sequence + 1 : 0;
}

/* -- the thread --------------------------------------------------------------------------------------------------------- */

void engine_begin_close(struct engine *e)
{
    const struct event drain = { .kind = EVENT_DRAIN };
    const uint64_t now_ns = clock_now_ns();

    core_step(&e->core, &drain, now_ns);
    e->close_ns = now_ns + e->close_timeout_ns;
}

static void read_envelope(struct engine *e, struct envelope *m)
{
    struct client_message *client = (struct client_message *)(void *)m;
    bool begun;
    unsigned lane;

    switch (m->kind) {
    case ENVELOPE_EVENT:
        /* read before: with the step a lane whose answer this is may get its next order, and write in it */
        begun = m->event.kind == EVENT_PART_BEGUN;
        lane = m->event.lane;
        core_step(&e->core, &m->event, clock_now_ns());
        if (begun) lane_thread_begun_read(&e->lanes[lane]);
        break;
    case ENVELOPE_LOOK:
        e->core.counters.refused_full += atomic_exchange(&e->refused_early, 0);
        e->core.counters.device_restarts = 0;
        for (size_t i = 0; e->apart && i < e->device_count; i++)
            e->core.counters.device_restarts += device_process_restarts(e->processes[i]);
        engine_view_tell(&e->core, e->lanes, client->look, client->look_context, clock_now_ns());
        break;
    case ENVELOPE_CLOSE:
        engine_begin_close(e);
        break;
    }
    if (m->owned) free(client);
}

static int wait_ms(const struct engine *e)
{
    const uint64_t now_ns = clock_now_ns();
    uint64_t due_ns = core_due_ns(&e->core);

    if (e->journal != NULL && e->look_ns < due_ns) due_ns = e->look_ns;
    if (e->close_ns != 0 && now_ns + 20 * MS < due_ns) due_ns = now_ns + 20 * MS;
    if (due_ns == UINT64_MAX) return -1;
    if (due_ns <= now_ns) return 0;
    const uint64_t ms = (due_ns - now_ns) / MS + 1;
    return ms < 1000000 ? (int)ms : 1000000;
}

/* Parts are the core's to stop; none is waited for long. */
static void stop_tests_and_loads(struct engine *e)
{
    for (uint32_t i = 0; i < e->core.lanes.count; i++)
        if (e->core.lanes.lanes[i].state == LANE_TESTING) lane_thread_stop(&e->lanes[i]);
    loader_stop(&e->loader);
    for (size_t i = 0; i < ARRAY_COUNT(e->processes); i++) device_process_hurry(e->processes[i]);
}

/* Whether the engine has come to its end.  Stops what runs when the time to finish is over. */
static bool closing_done(struct engine *e)
{
    const struct event halt = { .kind = EVENT_HALT };
    const uint64_t now_ns = clock_now_ns();

    if (e->close_ns == 0) return false;
    if (!e->core.halted && (core_drained(&e->core) || now_ns >= e->close_ns)) {
        core_step(&e->core, &halt, now_ns);
        stop_tests_and_loads(e);
        engine_flush(e);
        e->close_ns = now_ns;
    }
    return e->core.halted && (core_quiet(&e->core) || now_ns >= e->close_ns + HALT_GRACE_NS);
}

void *engine_main(void *context)
{
    const struct event tick = { .kind = EVENT_TICK };
    struct engine *e = context;

    engine_flush(e);
    while (!closing_done(e)) {
        struct message *m = mailbox_take(&e->mailbox, wait_ms(e));
        for (int i = 0; m != NULL; i++) {
            read_envelope(e, (struct envelope *)(void *)m);
            m = i < BATCH_MOST ? mailbox_take(&e->mailbox, 0) : NULL;
        }
        if (core_due_ns(&e->core) <= clock_now_ns()) core_step(&e->core, &tick, clock_now_ns());
        look_at_journal(e);
        engine_flush(e);
        publish_full(e);
    }
    for (struct message *m; (m = mailbox_take(&e->mailbox, 0)) != NULL;)
        read_envelope(e, (struct envelope *)(void *)m);
    engine_flush(e);
    return NULL;
}
