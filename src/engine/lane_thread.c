/* Lanes and the loader. */
#include "engine/lane_thread.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/thread.h"
#include "engine/lane_test.h"
#include "engine/payload_file.h"
#include <stdlib.h>

static cuzk_status start(struct task *t, pthread_t *thread, const char *name, void *(*run)(void *),
                         void *context)
{
    const int why = thread_start(thread, name, run, context);
    if (why == 0) return CUZK_OK;
    FAIL(t, CUZK_NO_MEMORY, "a thread cannot be started: %s", strerror(why));
    task_fail_errno(t, why);
    return CUZK_NO_MEMORY;
}

static void answer_status(struct envelope *a, cuzk_status status, const struct task *t)
{
    a->event.status = status;
    a->error = t->error;
    a->event.error = &a->error;
}

/* -- lanes -------------------------------------------------------------------------------------------------------------- */

static void block_give(struct lane_thread *l)
{
    if (l->block.data != NULL) l->place.backend->buffer_give(&l->block);
    l->place.block = NULL;
}

/* The block that the order says; all that the ledger has for this run includes it, so the one before goes first. */
static cuzk_status block_take(struct lane_thread *l, struct task *t)
{
    if (l->block.bytes != l->keeps) block_give(l);
    if (l->block.bytes == l->keeps) return CUZK_OK;
    TRY(l->place.backend->buffer_take(&l->block, t, l->place.device, MEM_HEAP, l->keeps, BUFFER_SECRET));
    l->place.block = &l->block;
    return CUZK_OK;
}

/* What is said while the engine has not heard the last one need not be: another follows, or the last one says it. */
static void begins(void *context)
{
    struct lane_thread *l = context;

    if (atomic_exchange(&l->begun_unread, true)) return;
    memset(&l->begun.event, 0, sizeof l->begun.event);
    l->begun.event.kind = EVENT_PART_BEGUN;
    l->begun.event.lane = l->index;
    mailbox_send(l->engine, &l->begun.link);
}

/* The part, or all parts of a batch. */
static cuzk_status prove_apart(struct lane_thread *l, struct task *t, const struct part_input *in, struct event *e)
{
    struct device_run run = { .channel = l->channel,
                              .circuit_index = l->job->circuit_index,
                              .key_mark = in->circuit->kind->key_mark(in->key),
                              .begins = begins,
                              .context = l,
                              .alone = l->alone };

    const cuzk_status status =
        l->batch_count > 0
            ? device_process_prove_parts(l->process, t, l->outputs, &run, in, l->batch, l->batch_count, &l->granted)
            : device_process_prove(l->process, t, &e->output, &run, in, l->carry, &l->granted);
    if (status == CUZK_OK) return status;
    if (run.key_changed) e->outcome = PART_KEY_LOST;
    if (run.loss == DEVICE_LOSS_SHARED) e->outcome = PART_DEVICE_GONE;
    return status;
}

static cuzk_status prove_and_verify(struct lane_thread *l, struct task *t, const struct part_input *in,
                                    struct event *e)
{
    const struct job_kind *kind = in->circuit->kind;

    TRY(block_take(l, t));
    l->used_bytes = l->block.bytes < in->circuit->block_bytes ? l->block.bytes : in->circuit->block_bytes;
    if (l->process == NULL)
        TRY(kind->prove(t, &e->output, in, l->carry, &l->place, &l->granted));
    else
        TRY(prove_apart(l, t, in, e));
    const cuzk_status status = kind->verify(t, &e->output, in, l->carry);
    if (status == CUZK_PROOF_INVALID) e->outcome = PART_WRONG;
    if (status == CUZK_OK && l->carry != NULL) {
        kind->carry_free(l->carry);
        e->carry_freed = true;
    }
    return status;
}

static cuzk_status prove_batch(struct lane_thread *l, struct task *t, const struct part_input *in, struct event *e)
{
    const struct job_kind *kind = in->circuit->kind;

    if (l->process == NULL)
        TRY(kind->prove_parts(t, l->outputs, in, l->batch, l->batch_count, &l->place, &l->granted));
    else
        TRY(prove_apart(l, t, in, e));
    return kind->verify_parts(t, &e->wrong, l->outputs, in, l->batch, l->batch_count);
}

static cuzk_status run_part(struct lane_thread *l, struct task *t, struct event *e)
{
    const struct job *j = l->job;
    const bool wants_payload = l->batch_count > 0 || l->synthesis == j->circuit->kind->has_synthesis;
    struct part_input in = {
        .circuit = j->circuit, .key = l->key, .part = l->part, .part_count = j->part_count
    };
    uint8_t *read = NULL;
    cuzk_status status = CUZK_OK;

    in.parameters = span_of(j->parameters, j->parameter_bytes);
    if (wants_payload && j->payload != NULL) {
        in.payload = span_of(j->payload, j->payload_bytes);
    } else if (wants_payload) {
        TRY(payload_file_read(t, &read, l->data_folder, j));
        in.payload = span_of(read, j->payload_bytes);
    }
    if (l->batch_count > 0)
        status = prove_batch(l, t, &in, e);
    else if (l->synthesis)
        status = j->circuit->kind->synthesise(t, &e->carry, &in);
    else
        status = prove_and_verify(l, t, &in, e);
    if (read != NULL) wipe(read, j->payload_bytes);
    free(read);
    return status;
}

/* A key whose files have changed explains any failure. */
static void blame_key(const struct lane_thread *l, struct task *t, struct event *e, cuzk_status *status)
{
    struct task asked;

    if (*status == CUZK_CANCELLED || l->key == NULL) return;
    task_init(&asked);
    const cuzk_status intact = l->job->circuit->kind->key_intact(&asked, l->key);
    if (intact == CUZK_OK) return;
    t->error = asked.error;
    e->outcome = PART_KEY_LOST;
    *status = intact;
}

static void run(struct lane_thread *l)
{
    struct event *e = &l->answer.event;
    const uint64_t start_ns = clock_now_ns();
    struct task t;

    task_init(&t);
    t.pool = l->pool;
    t.cancel = &l->cancel;
    t.tag = l->job->id;
    memset(e, 0, sizeof *e);
    e->kind = EVENT_PART_ENDED;
    e->lane = l->index;
    e->outcome = PART_FAILED;
    e->outputs = l->batch_count > 0 ? l->outputs : NULL;
    cuzk_status status = run_part(l, &t, e);
    if (status == CUZK_OK) {
        e->outcome = PART_RAN;
    } else {
        part_output_free(&e->output); /* no wrong byte leaves the lane */
        for (unsigned i = 0; i < l->batch_count; i++) part_output_free(&l->outputs[i]);
        blame_key(l, &t, e, &status);
    }
    if (l->block.bytes > l->keeps) block_give(l); /* a run that has not come to its block: what the lane is said to keep, no more */
    if (l->batch_count > 0)
        log_info(&t, "CUZK_TIMING: job=%s part=%u parts=%u stage=batch ms=%.1f device=%s status=%s", l->job->id, l->part,
                 l->batch_count, clock_ms_since(start_ns), l->device_name, status_name(status));
    else
        log_info(&t, "CUZK_TIMING: job=%s part=%u stage=%s ms=%.1f device=%s status=%s", l->job->id, l->part,
                 l->synthesis ? "synthesis" : "prove", clock_ms_since(start_ns), l->device_name, status_name(status));
    answer_status(&l->answer, status, &t);
}

static void test(struct lane_thread *l)
{
    struct event *e = &l->answer.event;
    struct task t;

    task_init(&t);
    t.pool = l->pool;
    t.cancel = &l->cancel;
    memset(e, 0, sizeof *e);
    e->kind = EVENT_LANE_TESTED;
    e->lane = l->index;
    answer_status(&l->answer,
                  l->process == NULL ? lane_test(&t, &l->place) : device_process_test(l->process, &t, l->channel), &t);
}

static void give(struct lane_thread *l)
{
    struct event *e = &l->answer.event;

    block_give(l);
    memset(e, 0, sizeof *e);
    e->kind = EVENT_LANE_GAVE;
    e->lane = l->index;
}

static void *lane_main(void *context)
{
    struct lane_thread *l = context;

    for (;;) {
        mailbox_take(&l->orders, -1);
        switch (l->kind) {
        case ORDER_RUN:
            run(l);
            break;
        case ORDER_TEST:
            test(l);
            break;
        case ORDER_GIVE:
            give(l);
            break;
        default:
            block_give(l);
            return NULL;
        }
        mailbox_send(l->engine, &l->answer.link);
        /* The answer need not wait for that; the next order does. */
        if (l->block.data != NULL) wipe(l->block.data, l->used_bytes);
        l->used_bytes = 0;
    }
}

cuzk_status lane_thread_start(struct lane_thread *l, struct task *t)
{
    atomic_init(&l->cancel, false);
    atomic_init(&l->begun_unread, false);
    TRY(mailbox_init(&l->orders, t));
    const cuzk_status status = start(t, &l->thread, "cuzk-lane", lane_main, l);
    l->running = status == CUZK_OK;
    if (!l->running) mailbox_fini(&l->orders);
    return status;
}

void lane_thread_run(struct lane_thread *l, const struct lane *what, void *key)
{
    l->kind = ORDER_RUN;
    l->job = what->job;
    l->part = what->part;
    l->synthesis = what->synthesis;
    memcpy(l->batch, what->batch, sizeof l->batch);
    l->batch_count = what->batch_count;
    l->key = key;
    l->carry = what->job->parts[what->part].carry;
    l->granted = what->held;
    l->keeps = what->keeps;
    l->alone = what->job->parts[what->part].was_lost;
    atomic_store(&l->cancel, false);
    mailbox_send(&l->orders, &l->order);
}

void lane_thread_test(struct lane_thread *l)
{
    l->kind = ORDER_TEST;
    atomic_store(&l->cancel, false);
    mailbox_send(&l->orders, &l->order);
}

void lane_thread_give(struct lane_thread *l)
{
    l->kind = ORDER_GIVE;
    mailbox_send(&l->orders, &l->order);
}

void lane_thread_begun_read(struct lane_thread *l) { atomic_store(&l->begun_unread, false); }

void lane_thread_stop(struct lane_thread *l) { atomic_store(&l->cancel, true); }

void lane_thread_join(struct lane_thread *l)
{
    if (!l->running) return;
    l->kind = ORDER_QUIT;
    mailbox_send(&l->orders, &l->order);
    pthread_join(l->thread, NULL);
    mailbox_fini(&l->orders);
    l->running = false;
}

/* -- the loader --------------------------------------------------------------------------------------------------------- */

static void unload(const struct loader *l, const struct key_order *o, void *key)
{
    for (size_t i = 0; l->processes != NULL && i < l->device_count; i++)
        device_process_unload(l->processes[i], (size_t)(o - l->of_key));
    o->key->circuit->kind->unload(key);
}

static void load(const struct loader *l, struct key_order *o)
{
    const struct circuit *c = o->key->circuit;
    const struct bytes *wants = key_store_wants(o->key); /* LOADING: the engine leaves it alone */
    struct event *e = &o->answer.event;
    struct task t;

    task_init(&t);
    t.pool = l->pool;
    t.cancel = &l->cancel;
    t.tag = c->name;
    e->kind = EVENT_KEY_LOADED;
    cuzk_status status = c->kind->load(&t, &e->loaded, &e->bytes, c);
    /* A device has its copy from the first proof there on; its room is the key's from now on. */
    for (size_t i = 0; i < l->device_count; i++)
        e->bytes.of[BYTES_DEVICE + i] = wants->of[BYTES_DEVICE + i];
    if (l->processes != NULL) e->bytes.of[BYTES_HEAP] += l->device_count * c->key_own_bytes;
    if (status == CUZK_OK) { /* what batches will keep there, and what they do not need */
        e->bytes.of[BYTES_HEAP] += wants->of[BYTES_HEAP];
        e->bytes.of[BYTES_HEAP] -= c->key_bytes.of[BYTES_HEAP];
    }
    const int k = status == CUZK_OK ? bytes_lacking(&e->bytes, wants) : -1;
    if (k >= 0) { /* the file has changed since it was measured */
        c->kind->unload(e->loaded);
        status = FAIL(&t, CUZK_MISMATCH,
                      "the key of %s takes %llu bytes of %s; it took %llu when the engine started", c->name,
                      (unsigned long long)e->bytes.of[k], bytes_kind_name(k),
                      (unsigned long long)wants->of[k]);
        task_fail_place(&t, c->key_path, ERROR_NO_OFFSET, NULL,
                        "do not change key files while the engine runs; restart it");
    }
    for (size_t i = 0; status == CUZK_OK && l->processes != NULL && i < l->device_count; i++) {
        status = device_process_load(l->processes[i], &t, c, (size_t)(o - l->of_key), c->kind->key_mark(e->loaded));
        if (status != CUZK_OK) unload(l, o, e->loaded);
    }
    answer_status(&o->answer, status, &t);
}

static void *loader_main(void *context)
{
    struct loader *l = context;

    for (;;) {
        struct key_order *o = (struct key_order *)(void *)mailbox_take(&l->orders, -1);
        if (o->kind == ORDER_QUIT) return NULL;
        memset(&o->answer.event, 0, sizeof o->answer.event);
        o->answer.event.key = o->key;
        if (o->kind == ORDER_LOAD) {
            load(l, o);
        } else {
            o->answer.event.kind = EVENT_KEY_FREED;
            unload(l, o, o->key->key); /* EVICTING: the engine leaves it alone */
        }
        mailbox_send(l->engine, &o->answer.link);
    }
}

cuzk_status loader_start(struct loader *l, struct task *t, struct mailbox *engine, struct pool *pool,
                         size_t key_count, size_t device_count, struct device_process *const *processes)
{
    l->engine = engine;
    l->pool = pool;
    l->device_count = device_count;
    l->processes = processes;
    atomic_init(&l->cancel, false);
    l->of_key = calloc(key_count + 1, sizeof *l->of_key);
    if (l->of_key == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for the loader's orders");
    cuzk_status status = mailbox_init(&l->orders, t);
    if (status == CUZK_OK) {
        status = start(t, &l->thread, "cuzk-loader", loader_main, l);
        if (status != CUZK_OK) mailbox_fini(&l->orders);
    }
    l->running = status == CUZK_OK;
    if (!l->running) {
        free(l->of_key);
        l->of_key = NULL;
    }
    return status;
}

void loader_order(struct loader *l, size_t index, enum order_kind kind, struct stored_key *key)
{
    struct key_order *o = &l->of_key[index];

    o->kind = kind;
    o->key = key;
    mailbox_send(&l->orders, &o->link);
}

void loader_stop(struct loader *l) { atomic_store(&l->cancel, true); }

void loader_join(struct loader *l)
{
    if (!l->running) return;
    l->quit.kind = ORDER_QUIT;
    mailbox_send(&l->orders, &l->quit.link);
    pthread_join(l->thread, NULL);
    mailbox_fini(&l->orders);
    free(l->of_key);
    l->of_key = NULL;
    l->running = false;
}
