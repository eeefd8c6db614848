/* A world for the engine's core. */
#include "world.h"
#include "base/status.h"
#include "engine/split.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct world *current; /* for the fake kind, which has no context */
static uint64_t current_seed;

static void check(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "seed %llu, step %llu, %.3f s: %s\n", (unsigned long long)current_seed,
            (unsigned long long)(current ? current->steps : 0), current ? (double)current->now_ns * 1e-9 : 0,
            what);
    abort();
}

static bool one_in(struct world *w, unsigned n)
{
    return n != 0 && !w->healthy && prng_below(&w->random, n) == 0;
}

/* -- the fake kind ------------------------------------------------------------------------------------------------------ */

static void fake_carry_free(void *carry)
{
    current->carries--;
    free(carry);
}

/* The parts' proofs, 16 bytes each, one after another. */
static cuzk_status fake_assemble(struct task *t, struct part_output *out, const struct circuit *c,
                                 const struct part_output *parts, unsigned part_count)
{
    (void)t;
    (void)c;
    out->proof = malloc(16 * part_count);
    check(out->proof != NULL, "memory");
    for (unsigned i = 0; i < part_count; i++) memcpy(out->proof + 16 * i, parts[i].proof, 16);
    out->proof_bytes = 16 * part_count;
    return CUZK_OK;
}

static const struct job_kind fake_plain = { .name = "plain",
                                            .assemble = fake_assemble,
                                            .carry_free = fake_carry_free };
static const struct job_kind fake_staged = {
    .name = "staged", .has_synthesis = true, .assemble = fake_assemble, .carry_free = fake_carry_free
};

static void fake_proof(struct part_output *out, uint64_t content, uint64_t part)
{
    out->proof = malloc(16);
    check(out->proof != NULL, "memory");
    memcpy(out->proof, &content, 8);
    memcpy(out->proof + 8, &part, 8);
    out->proof_bytes = 16;
}

/* -- things that will happen -------------------------------------------------------------------------------------------- */

static struct happening *happen(struct world *w, uint64_t after_ns, const struct event *e)
{
    if (w->pending_count == w->pending_capacity) {
        w->pending_capacity = 2 * w->pending_capacity + 16;
        w->pending = realloc(w->pending, w->pending_capacity * sizeof *w->pending);
        check(w->pending != NULL, "memory");
    }
    struct happening *h = &w->pending[w->pending_count++];
    memset(h, 0, sizeof *h);
    h->at_ns = w->now_ns + after_ns;
    h->order = w->next_order++;
    h->event = *e;
    return h;
}

static const struct error fault = { .status = CUZK_INTERNAL, .text = "a fault of the test" };

static struct client_job *client_of(struct world *w, const char *id)
{
    for (size_t i = 0; i < w->job_count; i++)
        if (strcmp(w->jobs[i].id, id) == 0) return &w->jobs[i];
    return NULL;
}

static uint64_t content_of(const struct job *j)
{
    uint64_t content;
    memcpy(&content, j->digest, sizeof content);
    return content;
}

/* A lane that was given up holds the key, which then cannot be loaded another way. */
static bool held_by_stuck(const struct engine_core *c, uint32_t circuit)
{
    for (uint32_t i = 0; i < c->lanes.count; i++)
        if (c->lanes.lanes[i].state == LANE_STUCK && c->lanes.lanes[i].job != NULL &&
            c->lanes.lanes[i].job->circuit_index == circuit)
            return true;
    return false;
}

/* No lower class starts while an urgent job whose key is there could use the lane. */
static void check_urgent(struct world *w, const struct action *a)
{
    const struct engine_core *c = &w->core;

    if (queue_class(&c->queue, a->job, w->now_ns) == JOB_CRITICAL ||
        c->carried_parts[a->job->circuit_index] > 0)
        return;
    for (size_t i = 0; i < c->queue.count; i++) {
        const struct job *j = c->queue.jobs[i];
        unsigned part;
        bool synthesis;
        const struct stored_key *key = &c->store.keys[j->circuit_index];
        if (j->priority != JOB_CRITICAL || key->state != KEY_RESIDENT || key->lost) continue;
        if (key->circuit->batch.parts_most != 0 && !key->circuit->batch.beside &&
            held_by_stuck(c, j->circuit_index))
            continue;
        unsigned parts[JOB_BATCH_MOST];
        bool wait = false;
        if (w->now_ns >= key->singly_until_ns) (void)split_batch(j, &c->lanes, a->lane, w->now_ns, parts, &wait);
        check(wait || !split_next(j, &c->lanes, a->lane, w->now_ns, &part, &synthesis),
              "lower work starts before urgent work");
    }
}

/* What the lane has in its hands during the run is in the ledger: its block, and what the stage takes beside it. */
static void check_block(struct world *w, const struct action *a)
{
    const struct lane *l = &w->core.lanes.lanes[a->lane];
    const struct circuit *c = a->job->circuit;
    uint64_t *block = &w->lane_block[a->lane], rest = a->synthesis ? c->synthesis_bytes.of[BYTES_HEAP] : c->prove_bytes.of[BYTES_HEAP];

    check(!l->giving, "a lane that gives its block back gets a part");
    if (!a->synthesis) {
        if (*block >= c->block_bytes && c->block_bytes > 0) w->reuses++;
        if (l->keeps > 0) {
            check(l->keeps >= c->block_bytes && l->keeps <= w->o.keep_most_bytes, "a block that does not fit");
            rest -= c->block_bytes;
        }
        *block = l->keeps;
    }
    check(*block == l->keeps, "a lane keeps what the core does not know of");
    check(l->held.of[BYTES_HEAP] >= rest + *block, "a lane has more than the ledger says");
}

/* Between runs too. */
static void check_blocks(const struct world *w)
{
    for (uint32_t i = 0; i < w->core.lanes.count; i++) {
        const struct lane *l = &w->core.lanes.lanes[i];
        const bool works = l->state == LANE_BUSY || l->state == LANE_STUCK;
        check(w->lane_block[i] <= (works ? l->held.of[BYTES_HEAP] : l->kept), "a lane's block is not in the ledger");
    }
}

/* A key is loaded one way at a time, and a device has one batch of a circuit. */
static void check_way(struct world *w, const struct action *a)
{
    const struct lane *l = &w->core.lanes.lanes[a->lane];
    const struct stored_key *k = &w->core.store.keys[a->job->circuit_index];
    const struct circuit *c = a->job->circuit;

    if (l->batch_count == 0) {
        check(c->batch.parts_most == 0 || c->batch.beside || k->singly || a->job->parts[a->part].carry != NULL,
              "a part by itself runs on a key that is loaded for batches");
        return;
    }
    check(!k->singly && l->batch_count <= c->batch.parts_most, "a batch on a key that is loaded for parts by themselves");
    check(l->held.of[BYTES_HEAP] >= c->batch.run_bytes.of[BYTES_HEAP], "a batch has more than the ledger says");
    check(w->lane_block[a->lane] == l->keeps, "a lane keeps what the core does not know of");
    for (unsigned i = 0; i < l->batch_count; i++)
        check(a->job->parts[l->batch[i]].state == PART_PROVING && !a->job->parts[l->batch[i]].singly, "a part in a batch");
    for (uint32_t i = 0; i < w->core.lanes.count; i++) {
        const struct lane *other = &w->core.lanes.lanes[i];
        check(i == a->lane || other->job == NULL || other->batch_count == 0 || other->job->circuit != c, "two batches at once");
    }
}

/* What a batch brings: each of its proofs, but for a wrong one and one that it could not make now and then. */
static void fake_batch(struct world *w, const struct action *a, struct event *e)
{
    const struct lane *l = &w->core.lanes.lanes[a->lane];

    w->batches++;
    e->outputs = w->lane_outputs[a->lane];
    memset(e->outputs, 0, sizeof w->lane_outputs[0]);
    if (e->outcome != PART_RAN) return;
    for (unsigned i = 0; i < l->batch_count; i++) {
        if (one_in(w, w->o.fault_in)) continue;
        if (one_in(w, w->o.wrong_in)) e->wrong |= 1u << i;
        fake_proof(&e->outputs[i], content_of(a->job), l->batch[i]);
        w->batched += !(e->wrong >> i & 1);
        w->wrong_runs += e->wrong >> i & 1;
    }
}

static void run_part(struct world *w, const struct action *a)
{
    const bool together = w->core.lanes.lanes[a->lane].batch_count > 0;
    struct event e = { .kind = EVENT_PART_ENDED, .lane = a->lane, .outcome = PART_RAN };
    uint64_t took_ns = w->o.fixed_part_ns ? w->o.part_ns_most : 1 + prng_below(&w->random, w->o.part_ns_most);
    struct client_job *j = client_of(w, a->job->id);
    bool hangs = one_in(w, w->o.hang_in);

    check(w->core.lanes.lanes[a->lane].state == LANE_BUSY && w->core.lanes.lanes[a->lane].job == a->job,
          "a lane's record");
    check(w->core.store.keys[a->job->circuit_index].state == KEY_RESIDENT, "a part runs without its key");
    check(!w->core.store.keys[a->job->circuit_index].lost ||
              w->core.store.keys[a->job->circuit_index].references > 0,
          "a part runs with a key that is lost");
    check(!w->core.store.keys[a->job->circuit_index].lost || a->job->parts[a->part].carry != NULL,
          "a part begins with a key that is lost");
    if (w->check_urgent) check_urgent(w, a);
    if (!together) check_block(w, a);
    check_way(w, a);
    if (j != NULL && j->start_ns == 0) j->start_ns = w->now_ns;
    w->runs++;
    if (!together && one_in(w, w->o.wrong_in) && !a->synthesis) {
        e.outcome = PART_WRONG;
        e.status = CUZK_PROOF_INVALID;
        w->wrong_runs++;
    } else if (one_in(w, w->o.key_lost_in)) {
        e.outcome = PART_KEY_LOST;
        e.status = CUZK_IO;
        e.error = &fault;
    } else if (one_in(w, w->o.fault_in)) {
        static const cuzk_status kinds[] = { CUZK_DEVICE_LOST, CUZK_NO_MEMORY, CUZK_INTERNAL,
                                             CUZK_UNSATISFIED, CUZK_IO };
        e.outcome = PART_FAILED;
        e.status = kinds[prng_below(&w->random, ARRAY_COUNT(kinds))];
        if (e.status == CUZK_DEVICE_LOST && !a->synthesis && !a->job->parts[a->part].was_lost)
            e.outcome = PART_DEVICE_GONE; /* beside others, which happens to a part once: then it is alone */
        e.error = &fault;
    } else if (together) {
        e.outcome = PART_RAN; /* what it brings is below */
    } else if (a->synthesis) {
        e.carry = malloc(1);
        check(e.carry != NULL, "memory");
        w->carries++;
    } else {
        fake_proof(&e.output, content_of(a->job), a->part);
    }
    if (together) fake_batch(w, a, &e);
    if (hangs) took_ns = 400 * SECOND + prng_below(&w->random, 1000 * SECOND);
    const uint64_t run = w->lane_run[a->lane] = ++w->next_run;
    w->lane_began_ns[a->lane] = w->now_ns;
    if (w->o.take_turns && !a->synthesis) {
        const struct event begun = { .kind = EVENT_PART_BEGUN, .lane = a->lane };
        const uint64_t waits_ns = 1 + prng_below(&w->random, 300 * SECOND);
        w->lane_began_ns[a->lane] = 0;
        took_ns += waits_ns;
        happen(w, waits_ns, &begun)->run = run;
        if (prng_below(&w->random, 2) == 0) { /* there it waits for others once more */
            const uint64_t more_ns = 1 + prng_below(&w->random, 20 * SECOND);
            took_ns += more_ns;
            happen(w, waits_ns + more_ns, &begun)->run = run;
        }
    }
    struct happening *h = happen(w, took_ns, &e);
    h->run = run;
    h->ignores_stop = hangs && prng_below(&w->random, 2) == 0;
}

static void drop_event(struct event *e)
{
    if (e->carry != NULL) fake_carry_free(e->carry);
    part_output_free(&e->output);
    for (unsigned i = 0; e->outputs != NULL && i < JOB_BATCH_MOST; i++) part_output_free(&e->outputs[i]);
    e->carry = NULL;
    e->wrong = 0;
}

static void stop_lane(struct world *w, uint32_t lane)
{
    for (size_t i = 0; i < w->pending_count; i++) {
        struct happening *h = &w->pending[i];
        if (h->event.kind != EVENT_PART_ENDED || h->event.lane != lane || h->run != w->lane_run[lane] ||
            h->ignores_stop)
            continue;
        const uint64_t soon_ns = w->now_ns + 1 + prng_below(&w->random, SECOND / 10);
        if (h->at_ns <= soon_ns) return;
        h->at_ns = soon_ns;
        drop_event(&h->event);
        h->event.outcome = PART_FAILED;
        h->event.status = CUZK_CANCELLED;
        h->event.error = &fault;
    }
}

/* -- answers ------------------------------------------------------------------------------------------------------------ */

static struct waiter *waiter_new(struct world *w, void *context)
{
    struct waiter *x = calloc(1, sizeof *x);
    size_t i = 0;

    check(x != NULL, "memory");
    x->context = context;
    while (w->live[i] != NULL) check(++i < ARRAY_COUNT(w->live), "too many waiters");
    w->live[i] = x;
    w->waiters++;
    return x;
}

static void waiter_free(struct world *w, struct waiter *x)
{
    size_t i = 0;

    while (w->live[i] != x) check(++i < ARRAY_COUNT(w->live), "a waiter is told twice");
    w->live[i] = NULL;
    w->waiters--;
    free(x);
}

static void check_proof(struct world *w, const struct client_job *j, struct span proof)
{
    const struct job *job = core_find(&w->core, j->id);

    check(job != NULL && proof.size == 16 * job->part_count, "a proof's length");
    for (uint64_t i = 0; i < job->part_count; i++) {
        check(memcmp(proof.data + 16 * i, &j->content, 8) == 0, "a proof of another job's content");
        check(memcmp(proof.data + 16 * i + 8, &i, 8) == 0, "a part in another's place");
    }
}

static void hear(struct world *w, const struct action *a)
{
    const struct job_answer *answer = a->answer;
    struct client_job *j = a->waiter->context;
    const bool of_submit = a->waiter->of_submit;

    waiter_free(w, a->waiter);
    if (of_submit) {
        check(!j->answered, "a submit answered twice");
        j->answered = true;
        j->refusal = answer->status;
        j->accepted = answer->status == CUZK_OK;
        memcpy(j->id, answer->job_id, sizeof j->id);
    }
    if (answer->end == JOB_UNFINISHED) return;
    check(j->end == JOB_UNFINISHED || j->end == answer->end, "two ends of one job");
    j->end = answer->end;
    if (answer->end == JOB_DONE) check_proof(w, j, answer->proof);
}

static void on_act(void *context, const struct action *a)
{
    struct world *w = context;
    struct event e = { .kind = EVENT_TICK };

    switch (a->kind) {
    case ACT_RUN:
        run_part(w, a);
        break;
    case ACT_STOP:
        check(!w->core.lanes.lanes[a->lane].stopped_by_watchdog ||
                  (w->lane_began_ns[a->lane] != 0 &&
                   w->now_ns - w->lane_began_ns[a->lane] >=
                       w->o.watchdog_ns * (w->core.lanes.lanes[a->lane].batch_count > 0 ? w->core.lanes.lanes[a->lane].batch_count : 1)),
              "a part is stopped before it has had its time");
        stop_lane(w, a->lane);
        break;
    case ACT_TEST:
        e.kind = EVENT_LANE_TESTED;
        e.lane = a->lane;
        e.status = one_in(w, w->o.test_fault_in) ? CUZK_DEVICE_LOST : CUZK_OK;
        e.error = &fault;
        happen(w, 1 + prng_below(&w->random, SECOND), &e);
        break;
    case ACT_GIVE:
        check(w->core.lanes.lanes[a->lane].kept > 0, "a lane is asked for what it has not");
        w->gives++;
        e.kind = EVENT_LANE_GAVE;
        e.lane = a->lane;
        happen(w, 1 + prng_below(&w->random, SECOND / 10), &e);
        break;
    case ACT_LOAD:
        e.kind = EVENT_KEY_LOADED;
        e.key = a->key;
        e.loaded = w;
        e.bytes = *key_store_wants(a->key);
        w->swaps += a->key->singly;
        e.bytes.of[BYTES_HEAP] -= prng_below(&w->random, 1 + e.bytes.of[BYTES_HEAP] / 10);
        e.error = &fault;
        if (one_in(w, w->o.load_fault_in))
            e.status = prng_below(&w->random, 2) == 0 ? CUZK_IO : CUZK_MALFORMED;
        happen(w, 1 + prng_below(&w->random, 5 * SECOND), &e);
        break;
    case ACT_FREE_KEY:
        e.kind = EVENT_KEY_FREED;
        e.key = a->key;
        happen(w, 1 + prng_below(&w->random, SECOND / 10), &e);
        break;
    case ACT_RECORD:
        for (size_t i = 0; i < w->record_count; i++)
            if (w->record[i] == a->job) return;
        check(w->record_count < ARRAY_COUNT(w->record), "too many records");
        w->record[w->record_count++] = a->job;
        break;
    case ACT_DROP_PAYLOAD:
        break;
    case ACT_DESTROY:
        check(a->job->waiters == NULL && a->job->in_flight == 0, "a job in use is destroyed");
        w->destroy[w->destroy_count++] = a->job; /* not inside the core's step */
        break;
    case ACT_TELL:
        hear(w, a);
        break;
    case ACT_TELL_KEY:
        waiter_free(w, a->waiter);
        break;
    case ACT_NOTE:
        break;
    }
}

/* -- stepping ----------------------------------------------------------------------------------------------------------- */

static struct row *row_of(struct world *w, const char *id)
{
    for (size_t i = 0; i < WORLD_JOBS; i++)
        if (w->rows[i].used && strcmp(w->rows[i].id, id) == 0) return &w->rows[i];
    return NULL;
}

static void write_row(struct world *w, const struct job *j, unsigned what)
{
    struct row *r = row_of(w, j->id);

    if (what & RECORD_ACCEPT) {
        check(r == NULL, "a job is recorded twice");
        for (r = w->rows; r->used; r++) check(r + 1 < w->rows + WORLD_JOBS, "rows");
        memset(r, 0, sizeof *r);
        r->used = true;
        memcpy(r->id, j->id, sizeof r->id);
        memcpy(r->request_id, j->request_id, sizeof r->request_id - 1);
        memcpy(r->digest, j->digest, sizeof r->digest);
        r->circuit = j->circuit_index;
        r->part_count = j->part_count;
        r->payload_bytes = j->payload_bytes;
        r->priority = j->priority;
        r->content = content_of(j);
        r->expire_ns = j->expire_ns;
    }
    if (what & RECORD_FORGET) {
        if (r != NULL) r->used = false;
        return;
    }
    check(r != NULL, "an unknown job is recorded");
    if (what & RECORD_PARTS)
        for (unsigned i = 0; i < j->part_count; i++) r->part_done[i] = j->parts[i].state == PART_DONE;
    if (what & RECORD_END) {
        check(r->end == JOB_UNFINISHED || r->end == j->end, "two ends in the journal");
        r->end = j->end;
        r->status = j->status;
        struct client_job *client = client_of(w, j->id);
        if (client != NULL) client->ends++;
    }
}

static void step(struct world *w, const struct event *e);

static void flush(struct world *w)
{
    while (w->destroy_count > 0) job_destroy(w->destroy[--w->destroy_count]);
    while (w->record_count > 0) {
        struct job *j = w->record[--w->record_count];
        struct event e = { .kind = EVENT_JOURNALED, .job = j, .records = j->record, .error = &fault };
        const bool was_broken = w->core.journal_broken;
        const uint64_t failures = w->core.counters.journal_failures;
        e.input_lost = (e.records & RECORD_ACCEPT) && one_in(w, w->o.input_loss_in);
        e.status = e.input_lost || one_in(w, w->o.disk_fault_in) ? CUZK_IO : CUZK_OK;
        if (e.status == CUZK_OK) write_row(w, j, e.records);
        j->record = RECORD_NOTHING;
        if (w->crash_at_step != 0 &&
            w->steps + 1 >= w->crash_at_step) { /* the journal has it, the engine has not heard */
            w->record[w->record_count++] = j;
            return;
        }
        step(w, &e);
        check(!e.input_lost || (w->core.journal_broken == was_broken && w->core.counters.journal_failures == failures),
              "an input that is lost is taken for a fault of the journal");
    }
}

static void step(struct world *w, const struct event *e)
{
    w->steps++;
    if (e->kind == EVENT_PART_BEGUN) w->lane_began_ns[e->lane] = w->now_ns;
    if (e->kind == EVENT_PART_ENDED) w->lane_run[e->lane] = 0;
    if (e->kind == EVENT_LANE_GAVE) w->lane_block[e->lane] = 0;
    core_step(&w->core, e, w->now_ns);
    core_audit(&w->core);
    check_blocks(w);
}

static void step_and_flush(struct world *w, const struct event *e)
{
    step(w, e);
    flush(w);
    if (w->crash_at_step != 0 && w->steps + 1 >= w->crash_at_step) {
        w->crash_at_step = 0;
        world_crash(w);
    }
}

bool world_run(struct world *w, uint64_t until_ns)
{
    for (;;) {
        size_t first = 0;
        const uint64_t due_ns = core_due_ns(&w->core);
        const struct event tick = { .kind = EVENT_TICK };

        for (size_t i = 1; i < w->pending_count; i++) {
            const struct happening *a = &w->pending[i], *b = &w->pending[first];
            if (a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->order < b->order)) first = i;
        }
        const uint64_t next_ns = w->pending_count > 0 ? w->pending[first].at_ns : UINT64_MAX;
        if (next_ns == UINT64_MAX && due_ns == UINT64_MAX) return false;
        if ((next_ns < due_ns ? next_ns : due_ns) > until_ns) {
            w->now_ns = until_ns;
            return true;
        }
        if (due_ns < next_ns) {
            if (due_ns > w->now_ns) w->now_ns = due_ns;
            step_and_flush(w, &tick);
            continue;
        }
        struct happening h = w->pending[first];
        w->pending[first] = w->pending[--w->pending_count];
        if (h.event.kind == EVENT_PART_BEGUN && h.run != w->lane_run[h.event.lane]) continue; /* stopped while it waited */
        w->now_ns = h.at_ns;
        step_and_flush(w, &h.event);
    }
}

/* -- the client --------------------------------------------------------------------------------------------------------- */

struct client_job *world_submit(struct world *w, unsigned circuit, enum job_priority p, bool durable,
                                uint64_t ttl_ns, uint64_t deadline_ns, int like, bool same_content)
{
    struct client_job *c = &w->jobs[w->job_count];
    struct event e = { .kind = EVENT_SUBMIT };
    const unsigned parts = w->part_counts[circuit];
    struct job *j;
    struct task t;

    if (w->job_count == WORLD_JOBS) return NULL;
    w->job_count++;
    memset(c, 0, sizeof *c);
    c->used = true;
    c->durable = durable;
    c->circuit = circuit;
    c->priority = p;
    c->submit_ns = w->now_ns;
    c->content = like >= 0 && same_content ? w->jobs[like].content : prng_u64(&w->random);
    if (like >= 0)
        memcpy(c->request_id, w->jobs[like].request_id, sizeof c->request_id);
    else
        snprintf(c->request_id, sizeof c->request_id, "r%zu", w->job_count);
    task_init(&t);
    check(job_create(&j, &t, &w->circuits[circuit], parts, span_of(NULL, 0)) == CUZK_OK, "memory");
    snprintf(j->id, sizeof j->id, "%016llx%016llx", (unsigned long long)prng_u64(&w->random),
             (unsigned long long)prng_u64(&w->random));
    memcpy(c->id, j->id, sizeof c->id);
    snprintf(j->request_id, sizeof j->request_id, "%s", c->request_id);
    memcpy(j->digest, &c->content, 8);
    j->digest[8] = (uint8_t)circuit;
    j->circuit_index = circuit;
    j->priority = p;
    j->payload_bytes = 1 + prng_below(&w->random, 1000);
    j->payload = malloc(j->payload_bytes);
    j->durable = durable;
    j->expire_ns = ttl_ns != 0 ? w->now_ns + ttl_ns : 0;
    j->has_deadline = deadline_ns != 0;
    j->deadline_ns = w->now_ns + deadline_ns;
    e.job = j;
    e.waiter = waiter_new(w, c);
    step_and_flush(w, &e);
    return c;
}

void world_await(struct world *w, struct client_job *j, uint64_t timeout_ns)
{
    struct event e = { .kind = EVENT_AWAIT, .id = j->id, .waiter = waiter_new(w, j) };

    e.waiter->deadline_ns = timeout_ns != 0 ? w->now_ns + timeout_ns : 0;
    step_and_flush(w, &e);
}

void world_cancel(struct world *w, struct client_job *j)
{
    const struct event e = { .kind = EVENT_CANCEL, .id = j->id, .waiter = waiter_new(w, j) };

    j->cancelled = true;
    step_and_flush(w, &e);
}

void world_key(struct world *w, bool preload, unsigned circuit)
{
    const struct event e = { .kind = preload ? EVENT_PRELOAD : EVENT_EVICT,
                             .circuit = w->names[circuit],
                             .waiter = waiter_new(w, NULL) };

    step_and_flush(w, &e);
}

/* -- life and death ----------------------------------------------------------------------------------------------------- */

/* A circuit may have batches, which take room of their own. */
static void draw_batches(const struct world *w, struct circuit *c, struct prng *p)
{
    const uint64_t room = w->o.heap_bytes - w->o.payload_bytes - 1000;
    const uint64_t part = c->carry_bytes.of[BYTES_HEAP] + c->prove_bytes.of[BYTES_HEAP] + c->synthesis_bytes.of[BYTES_HEAP];

    c->batch.parts_most = (unsigned)prng_below(p, 5);
    c->batch.key_bytes.of[BYTES_HEAP] = c->key_bytes.of[BYTES_HEAP] + prng_below(p, 40000);
    c->batch.run_bytes.of[BYTES_HEAP] = prng_below(p, 60000);
    c->batch.beside = prng_below(p, 2) == 0 && c->batch.key_bytes.of[BYTES_HEAP] + part <= room;
    if (c->batch.key_bytes.of[BYTES_HEAP] + c->batch.run_bytes.of[BYTES_HEAP] > room) c->batch.parts_most = 0;
}

static void core_open(struct world *w)
{
    const struct core_options o = {
        .queue_most = w->o.queue_most,
        .result_most = WORLD_JOBS,
        .attempts_most = 3,
        .payload_bytes = w->o.payload_bytes,
        .result_keep_ns = w->o.keep_ns,
        .ageing_ns = w->o.ageing_ns,
        .group_window_ns = w->o.group_window_ns,
        .evict_idle_ns = w->o.evict_idle_ns,
        .watchdog_ns = w->o.watchdog_ns,
        .cancel_when_alone = false,
        .strikes_most = 3,
        .keep_most_bytes = w->o.keep_most_bytes,
        .take_turns = w->o.take_turns,
    };
    struct bytes total = { { 0 } }, fixed = { { 0 } };
    struct task t;

    task_init(&t);
    total.of[BYTES_HEAP] = w->o.heap_bytes;
    fixed.of[BYTES_HEAP] = w->o.payload_bytes;
    check(core_init(&w->core, &t, &o, w->circuits, w->o.circuits, w->o.lanes, &total, &fixed, on_act, w,
                    w->now_ns) == CUZK_OK,
          "core");
}

void world_open(struct world *w, uint64_t seed, const struct world_options *o)
{
    struct prng blocks, batches;

    memset(w, 0, sizeof *w);
    current = w;
    current_seed = seed;
    prng_seed(&w->random, seed);
    prng_seed(&blocks, seed ^ 0xb10c);
    prng_seed(&batches, seed ^ 0xba7c4);
    w->o = *o;
    w->now_ns = SECOND;
    for (unsigned i = 0; i < o->circuits; i++) {
        struct circuit *c = &w->circuits[i];
        const bool staged = i % 2 == 1;
        snprintf(w->names[i], sizeof w->names[i], "circuit-%u", i % 10);
        c->name = w->names[i];
        c->kind = staged ? &fake_staged : &fake_plain;
        w->part_counts[i] = 1 + (unsigned)prng_below(&w->random, staged ? 6 : 3);
        c->key_bytes.of[BYTES_HEAP] = 10000 + prng_below(&w->random, 100000);
        c->prove_bytes.of[BYTES_HEAP] = 1000 + prng_below(&w->random, 50000);
        c->block_bytes = prng_below(&blocks, 4) == 0 ? 0 : prng_below(&blocks, c->prove_bytes.of[BYTES_HEAP] + 1);
        if (staged) {
            c->carry_bytes.of[BYTES_HEAP] = 100 + prng_below(&w->random, 30000);
            c->synthesis_bytes.of[BYTES_HEAP] = c->carry_bytes.of[BYTES_HEAP] + prng_below(&w->random, 10000);
        }
        if (o->batches) draw_batches(w, c, &batches);
    }
    core_open(w);
}

/* What is in memory is gone; freed here so that the leak checker sees the core's own leaks. */
static void memory_lost(struct world *w)
{
    for (size_t i = 0; i < w->pending_count; i++) drop_event(&w->pending[i].event);
    w->pending_count = 0;
    memset(w->lane_block, 0, sizeof w->lane_block);
    while (w->destroy_count > 0) job_destroy(w->destroy[--w->destroy_count]);
    for (size_t i = 0; i < w->record_count; i++)
        if (w->record[i]->forgotten) job_destroy(w->record[i]);
    w->record_count = 0;
    for (uint32_t i = 0; i < w->core.lanes.count; i++)
        if (w->core.lanes.lanes[i].carry != NULL) fake_carry_free(w->core.lanes.lanes[i].carry);
    core_fini(&w->core);
    for (size_t i = 0; i < ARRAY_COUNT(w->live); i++) {
        free(w->live[i]);
        w->live[i] = NULL;
    }
    w->waiters = 0;
}

void world_crash(struct world *w)
{
    w->crashes++;
    for (size_t i = 0; i < w->job_count; i++) {
        struct client_job *j = &w->jobs[i];
        const struct job *job = core_find(&w->core, j->id);
        const struct row *r = row_of(w, j->id);
        if (r == NULL || j->end == JOB_UNFINISHED || r->end == j->end) continue;
        check(job != NULL && job->dirty,
              "an end was told before the journal had it, and the disk was not at fault");
        j->end = JOB_UNFINISHED; /* it is done again */
    }
    memory_lost(w);
    for (size_t i = 0; i < w->job_count; i++) {
        struct client_job *j = &w->jobs[i];
        if (!j->durable || !j->accepted)
            j->lost = true; /* may be there all the same, if the answer was lost */
    }
    core_open(w);
    for (size_t i = 0; i < WORLD_JOBS; i++) {
        const struct row *r = &w->rows[i];
        struct event e = { .kind = EVENT_RESUME };
        struct job *j;
        struct task t;

        if (!r->used) continue;
        task_init(&t);
        check(job_create(&j, &t, &w->circuits[r->circuit], r->part_count, span_of(NULL, 0)) == CUZK_OK,
              "memory");
        memcpy(j->id, r->id, sizeof j->id);
        snprintf(j->request_id, sizeof j->request_id, "%s", r->request_id);
        memcpy(j->digest, r->digest, sizeof j->digest);
        j->circuit_index = r->circuit;
        j->priority = r->priority;
        j->payload_bytes = r->payload_bytes;
        j->durable = true;
        j->expire_ns = r->expire_ns;
        j->end = r->end;
        j->end_ns = w->now_ns;
        j->status = r->status;
        for (unsigned p = 0; p < r->part_count; p++) {
            if (r->end != JOB_DONE && !r->part_done[p]) continue;
            fake_proof(&j->parts[p].output, r->content, p);
            if (r->end == JOB_UNFINISHED) job_part_move(j, p, PART_DONE);
        }
        if (r->end == JOB_DONE) check(result_assemble(&t, j) == CUZK_OK, "memory");
        e.job = j;
        step(w, &e);
        flush(w);
    }
}

void world_check_end(struct world *w)
{
    char text[200];

    for (size_t i = 0; i < w->job_count; i++) {
        struct client_job *j = &w->jobs[i];
        if (!j->accepted || j->lost) continue;
        const struct job *job = core_find(&w->core, j->id);
        snprintf(text, sizeof text, "job %s (client's %zu) is gone", j->id, i);
        check(job != NULL, text);
        snprintf(text, sizeof text, "job %s (client's %zu) never ends: state %d, %u of %u parts", j->id, i,
                 job->state, job->parts_done, job->part_count);
        check(job->state == JOB_ENDED, text);
        check(j->end == JOB_UNFINISHED || j->end == job->end, "the client was told another end");
        if (job->end == JOB_DONE) check_proof(w, j, span_of(job->result.proof, job->result.proof_bytes));
    }
}

void world_close(struct world *w)
{
    memory_lost(w);
    check(w->carries == 0, "a carry is never freed");
    free(w->pending);
    current = NULL;
}
