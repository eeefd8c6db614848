/* A kind with synthesis and many parts through the real threads: carries, parts on several lanes, wrong parts, a payload that is only
 * on disk, resumption with the parts that the journal has; parts that are proved together, here and in a device's process.  The "proof" of a
 * part is a digest; no curve is involved. */
#include "support/cm.h"
#include "base/log.h"
#include "engine/engine.h"
#include "engine/job_kind.h"
#include "hash/sha256.h"
#include "support/prng.h"
#include "support/temp_folder.h"
#include <pthread.h>
#include <signal.h>

#define PARTS 10

static struct temp_folder folder;
static atomic_uint carries, keys, synthesised, proved, wrong;
static atomic_uint wrong_in, work_us, loads,
    cut_after; /* cut_after: proofs until somebody cuts the key's file; 0: nobody does */
static atomic_bool key_is_cut;

/* -- the kind ----------------------------------------------------------------------------------------------------------- */

static cuzk_status parts_measure(struct task *t, struct circuit *c, const struct place *place)
{
    (void)t;
    (void)place;
    c->key_bytes.of[BYTES_HEAP] = 1000;
    c->synthesis_bytes.of[BYTES_HEAP] = 500;
    c->carry_bytes.of[BYTES_HEAP] = 400;
    c->prove_bytes.of[BYTES_HEAP] = 300;
    return CUZK_OK;
}

static cuzk_status parts_load(struct task *t, void **key, struct bytes *bytes, const struct circuit *c)
{
    (void)t;
    *bytes = c->key_bytes;
    *key = malloc(1);
    atomic_fetch_add(&keys, 1);
    atomic_fetch_add(&loads, 1);
    atomic_store(&key_is_cut, false); /* the file is there again */
    return CUZK_OK;
}

static void parts_unload(void *key)
{
    free(key);
    atomic_fetch_sub(&keys, 1);
}

static cuzk_status parts_validate(struct task *t, unsigned *part_count, const struct circuit *c,
                                  struct span parameters, struct span payload)
{
    (void)c;
    (void)parameters;
    if (payload.size == 0) return FAIL(t, CUZK_MALFORMED, "an empty payload");
    *part_count = PARTS;
    return CUZK_OK;
}

static void digest_of(uint8_t out[32], struct span payload, unsigned part)
{
    struct sha256 h;

    sha256_init(&h);
    sha256_update(&h, &part, sizeof part);
    sha256_update(&h, payload.data, payload.size);
    sha256_final(&h, out);
}

static cuzk_status parts_synthesise(struct task *t, void **carry, const struct part_input *in)
{
    (void)t;
    *carry = malloc(32);
    if (*carry == NULL) abort();
    digest_of(*carry, in->payload, in->part);
    atomic_fetch_add(&carries, 1);
    atomic_fetch_add(&synthesised, 1);
    usleep(atomic_load(&work_us));
    return CUZK_OK;
}

static void parts_carry_free(void *carry)
{
    free(carry);
    atomic_fetch_sub(&carries, 1);
}

static cuzk_status parts_prove(struct task *t, struct part_output *out, const struct part_input *in,
                               void *carry, const struct place *place, const struct bytes *granted)
{
    (void)place;
    if (in->payload.size != 0 || granted->of[BYTES_HEAP] < 300)
        return FAIL(t, CUZK_INTERNAL, "not what was agreed");
    for (unsigned i = 0; i < 10; i++) {
        usleep(atomic_load(&work_us) / 10);
        TRY(task_poll(t));
    }
    out->proof = malloc(32);
    if (out->proof == NULL) abort();
    memcpy(out->proof, carry, 32);
    out->proof_bytes = 32;
    const unsigned n = atomic_fetch_add(&proved, 1) + 1, every = atomic_load(&wrong_in);
    if (every != 0 && n % every == 0) {
        out->proof[7] ^= 1;
        atomic_fetch_add(&wrong, 1);
    }
    if (n == atomic_load(&cut_after)) atomic_store(&key_is_cut, true);
    if (atomic_load(&key_is_cut)) out->proof[9] ^= 1;
    return CUZK_OK;
}

static cuzk_status parts_key_intact(struct task *t, const void *key)
{
    (void)key;
    return atomic_load(&key_is_cut) ? FAIL(t, CUZK_IO, "the key was cut short") : CUZK_OK;
}

static cuzk_status parts_verify(struct task *t, struct part_output *out, const struct part_input *in,
                                void *carry)
{
    (void)in;
    return memcmp(out->proof, carry, 32) == 0 ? CUZK_OK : FAIL(t, CUZK_PROOF_INVALID, "wrong");
}

static cuzk_status parts_assemble(struct task *t, struct part_output *out, const struct circuit *c,
                                  const struct part_output *parts, unsigned part_count)
{
    (void)t;
    (void)c;
    out->proof = malloc(32 * part_count);
    if (out->proof == NULL) abort();
    for (unsigned i = 0; i < part_count; i++) memcpy(out->proof + 32 * i, parts[i].proof, 32);
    out->proof_bytes = 32 * part_count;
    return CUZK_OK;
}

static const struct job_kind kind_parts = {
    .name = "parts",
    .durable = true,
    .has_synthesis = true,
    .measure = parts_measure,
    .load = parts_load,
    .unload = parts_unload,
    .validate = parts_validate,
    .synthesise = parts_synthesise,
    .carry_free = parts_carry_free,
    .prove = parts_prove,
    .verify = parts_verify,
    .key_intact = parts_key_intact,
    .assemble = parts_assemble,
};
/* -- parts together ----------------------------------------------------------------------------------------------------- */

/* What a batch does, in whichever process it runs: the value of this variable.
 *     lost    says that the device is lost               kill    ends the process
 *     bad     says that part 4 is wrong                  wait    until it is cancelled
 *     wrong   a proof of part 2 that does not verify     leave   makes none of part 3
 *     full    there is no memory                         cut     finds that the key's file has changed, again and again */
#define BATCH_DOES "CUZK_TEST_BATCH"

static bool does(const char *what)
{
    const char *text = getenv(BATCH_DOES);

    return text != NULL && strcmp(text, what) == 0;
}

static atomic_uint batches, largest, smallest;

static cuzk_status group_measure(struct task *t, struct circuit *c, const struct place *place)
{
    TRY(parts_measure(t, c, place));
    c->batch.parts_most = JOB_BATCH_MOST;
    c->batch.beside = strcmp(c->name, "group") == 0;
    c->batch.key_bytes = c->key_bytes;
    c->batch.key_bytes.of[BYTES_HEAP] += 50;
    c->batch.run_bytes.of[BYTES_HEAP] = 700;
    return CUZK_OK;
}

static cuzk_status group_load(struct task *t, void **key, struct bytes *bytes, const struct circuit *c)
{
    TRY(parts_load(t, key, bytes, c));
    memset(bytes, 0, sizeof *bytes);
    bytes->of[BYTES_HEAP] = 1000;
    return CUZK_OK;
}

static cuzk_status group_key_intact(struct task *t, const void *key)
{
    (void)key;
    return does("cut") ? FAIL(t, CUZK_IO, "the key was cut short") : CUZK_OK;
}

static uint64_t group_key_mark(const void *key)
{
    (void)key;
    return 5;
}

static size_t group_carry_size(const void *carry)
{
    (void)carry;
    return 32;
}

static void group_carry_write(uint8_t *out, const void *carry) { memcpy(out, carry, 32); }

static cuzk_status group_carry_view(struct task *t, void **carry, const void *key, struct span bytes)
{
    (void)key;
    *carry = malloc(32);
    if (*carry == NULL || bytes.size != 32) return FAIL(t, CUZK_MISMATCH, "%zu bytes of a carry", bytes.size);
    memcpy(*carry, bytes.data, 32);
    atomic_fetch_add(&carries, 1);
    return CUZK_OK;
}

static void note_size(unsigned count)
{
    atomic_fetch_add(&batches, 1);
    if (count > atomic_load(&largest)) atomic_store(&largest, count);
    if (count < atomic_load(&smallest)) atomic_store(&smallest, count);
}

static cuzk_status group_prove_parts(struct task *t, struct part_output *out, const struct part_input *in,
                                     const unsigned *parts, unsigned count, const struct place *place,
                                     const struct bytes *granted)
{
    (void)place;
    note_size(count);
    if (granted->of[BYTES_HEAP] < 700 || in->payload.size == 0) return FAIL(t, CUZK_INTERNAL, "not what was agreed");
    if (does("lost")) return FAIL(t, CUZK_DEVICE_LOST, "it fell off the bus");
    if (does("cut")) return FAIL(t, CUZK_IO, "no such bytes");
    if (does("full")) return FAIL(t, CUZK_NO_MEMORY, "somebody else has it");
    if (does("bad")) return FAIL(t, CUZK_MALFORMED, "part 4 is no number");
    if (does("kill")) kill(getpid(), SIGKILL);
    while (does("wait")) {
        TRY(task_poll(t));
        usleep(1000);
    }
    usleep(atomic_load(&work_us));
    for (unsigned i = 0; i < count; i++) {
        if (parts[i] == 3 && does("leave")) continue;
        out[i].proof = malloc(32);
        if (out[i].proof == NULL) abort();
        out[i].proof_bytes = 32;
        digest_of(out[i].proof, in->payload, parts[i]);
        if (parts[i] == 2 && does("wrong")) out[i].proof[7] ^= 1;
    }
    return CUZK_OK;
}

static cuzk_status group_verify_parts(struct task *t, unsigned *bad, const struct part_output *out,
                                      const struct part_input *in, const unsigned *parts, unsigned count)
{
    uint8_t expected[32];

    (void)t;
    *bad = 0;
    for (unsigned i = 0; i < count; i++) {
        digest_of(expected, in->payload, parts[i]);
        if (out[i].proof != NULL && (out[i].proof_bytes != 32 || memcmp(out[i].proof, expected, 32) != 0)) *bad |= 1u << i;
    }
    return CUZK_OK;
}

static const struct job_kind kind_group = {
    .name = "group",
    .has_synthesis = true,
    .measure = group_measure,
    .load = group_load,
    .unload = parts_unload,
    .validate = parts_validate,
    .synthesise = parts_synthesise,
    .carry_free = parts_carry_free,
    .carry_size = group_carry_size,
    .carry_write = group_carry_write,
    .carry_view = group_carry_view,
    .prove = parts_prove,
    .verify = parts_verify,
    .prove_parts = group_prove_parts,
    .verify_parts = group_verify_parts,
    .key_intact = group_key_intact,
    .key_mark = group_key_mark,
    .assemble = parts_assemble,
};

const struct job_kind *__wrap_job_kind_by_name(const char *name);
const struct job_kind *__wrap_job_kind_by_name(const char *name) { return strcmp(name, "group") == 0 ? &kind_group : NULL; }

static const struct engine_circuit circuit = {
    .name = "parts-10", .kind = &kind_parts, .key_path = "no file", .preload = true
};

/* -- the tests ---------------------------------------------------------------------------------------------------------- */

static struct engine *open_engine(unsigned lanes, bool durable)
{
    struct engine_options o = ENGINE_DEFAULTS;
    struct engine *e = NULL;
    struct task t;

    o.circuits = &circuit;
    o.circuit_count = 1;
    o.lane_count = lanes;
    o.threads = 1;
    o.queue_most_bytes = 1000000;
    o.heap_bytes = o.queue_most_bytes + 1000 + 400 * 6 + 500 * 4 +
                   100000; /* room for a few parts at a time, and a payload */
    o.cancel_when_alone = true;
    o.lane_strikes_most = 0; /* wrong parts by the dozen must not close lanes here */
    if (durable) o.data_folder = folder.path;
    task_init(&t);
    if (engine_open(&e, &t, &o) != CUZK_OK) {
        fprintf(stderr, "%s\n", t.error.text);
        abort();
    }
    return e;
}

/* The payload of job number n: its bytes are n, n, n, ... */
static void submit(struct engine *e, unsigned n, enum job_priority p, struct job_answer *a)
{
    struct engine_request r = {
        .request_id = "", .circuit = circuit.name, .priority = p, .payload_bytes = 1000 + n
    };
    struct task t;

    r.payload = malloc(r.payload_bytes);
    if (r.payload == NULL) abort();
    memset(r.payload, (int)(n & 0xff), r.payload_bytes);
    task_init(&t);
    assert_int_equal(engine_submit_wait(e, &t, &r, a), CUZK_OK);
    assert_int_equal(a->status, CUZK_OK);
    job_answer_free(a);
}

static void must_be_done(struct engine *e, const char *id, unsigned n)
{
    uint8_t payload[4096], expected[32];
    struct job_answer a;

    engine_await_wait(e, id, 0, &a);
    if (a.end != JOB_DONE) fprintf(stderr, "%d %s\n", a.status, a.error_text);
    assert_int_equal(a.end, JOB_DONE);
    assert_int_equal(a.proof.size, 32 * PARTS);
    memset(payload, (int)(n & 0xff), 1000 + n);
    for (unsigned i = 0; i < PARTS; i++) {
        digest_of(expected, span_of(payload, 1000 + n), i);
        assert_memory_equal(a.proof.data + 32 * i, expected, 32);
    }
    job_answer_free(&a);
}

static void many_jobs_of_many_parts(void **state)
{
    enum { N = 60 };
    struct engine *e = open_engine(4, false);
    char id[N][JOB_ID_BYTES];
    struct job_answer a;
    (void)state;

    atomic_store(&wrong_in, 40);
    atomic_store(&work_us, 200);
    for (unsigned i = 0; i < N; i++) {
        submit(e, i, 1 + i % 4, &a);
        memcpy(id[i], a.job_id, JOB_ID_BYTES);
    }
    for (unsigned i = 0; i < N; i++) must_be_done(e, id[i], i);
    engine_close(e, 1000);
    printf("%u jobs of %u parts: %u proofs of parts, %u of them wrong and thrown away\n", N, PARTS,
           atomic_load(&proved), atomic_load(&wrong));
    assert_true(atomic_load(&wrong) > 0);
    assert_int_equal(atomic_load(&proved), N * PARTS + atomic_load(&wrong));
    assert_int_equal(atomic_load(&synthesised), N * PARTS); /* another attempt uses the carry again */
    assert_int_equal(atomic_load(&carries), 0);
    assert_int_equal(atomic_load(&keys), 0);
    atomic_store(&wrong_in, 0);
}

struct seen {
    struct engine_counters counters;
    atomic_bool done;
};

static void on_seen(void *context, const struct engine_view *v)
{
    struct seen *s = context;

    s->counters = v->counters;
    atomic_store(&s->done, true);
}

/* A key whose file is cut while parts are under way: loaded again when nobody holds it, all jobs end well, no lane is blamed. */
static void a_key_that_is_cut_is_loaded_again(void **state)
{
    enum { N = 8 };
    struct engine *e;
    char id[N][JOB_ID_BYTES];
    struct seen seen = { .done = false };
    struct job_answer a;
    (void)state;

    atomic_store(&work_us, 2000);
    atomic_store(&proved, 0);
    atomic_store(&loads, 0);
    atomic_store(&cut_after, 25);
    e = open_engine(3, false);
    for (unsigned i = 0; i < N; i++) {
        submit(e, i, JOB_NORMAL, &a);
        memcpy(id[i], a.job_id, JOB_ID_BYTES);
    }
    for (unsigned i = 0; i < N; i++) must_be_done(e, id[i], i);
    engine_look(e, on_seen, &seen);
    while (!atomic_load(&seen.done)) usleep(1000);
    assert_int_equal(seen.counters.quarantines, 0);
    assert_int_equal(seen.counters.verify_failures, 0);
    assert_true(seen.counters.retries >= 1);
    engine_close(e, 1000);
    assert_int_equal(atomic_load(&loads), 2);
    assert_int_equal(atomic_load(&carries), 0);
    assert_int_equal(atomic_load(&keys), 0);
    atomic_store(&cut_after, 0);
}

/* Closed in the middle of a job, at once: the parts that were done are not done again. */
static void parts_are_resumed(void **state)
{
    enum { N = 6 };
    struct engine *e = open_engine(2, true);
    char id[N][JOB_ID_BYTES];
    struct job_answer a;
    (void)state;

    atomic_store(&work_us, 4000);
    atomic_store(&proved, 0);
    for (unsigned i = 0; i < N; i++) {
        submit(e, i, JOB_NORMAL, &a);
        memcpy(id[i], a.job_id, JOB_ID_BYTES);
    }
    usleep(100000);
    engine_close(e, 0);
    const unsigned before = atomic_load(&proved);
    assert_int_equal(atomic_load(&carries), 0);
    e = open_engine(2, true);
    for (unsigned i = 0; i < N; i++) must_be_done(e, id[i], i);
    engine_close(e, 1000);
    const unsigned all = atomic_load(&proved);
    printf("%u parts proved before the restart, %u in all, of %u\n", before, all, N * PARTS);
    assert_true(before > 0 && before < N * PARTS);
    assert_true(all >= N * PARTS &&
                all <= N * PARTS + 2); /* what ran while it was stopped may count twice: one a lane */
    assert_int_equal(atomic_load(&carries), 0);
}

struct told {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    unsigned count;
    cuzk_status status;
    enum job_end end;
};

static void on_told(void *context, const struct job_answer *a)
{
    struct told *t = context;

    pthread_mutex_lock(&t->lock);
    t->count++;
    t->status = a->status;
    t->end = a->end;
    pthread_cond_signal(&t->cond);
    pthread_mutex_unlock(&t->lock);
}

/* The last waiter leaves: the job is cancelled while its parts run, and all it held comes back. */
static void nobody_waits_any_more(void **state)
{
    struct engine *e = open_engine(2, false);
    struct told t = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
    struct job_answer a, b;
    (void)state;

    atomic_store(&work_us, 20000);
    submit(e, 1, JOB_LOW, &a);
    engine_await(e, a.job_id, 0, on_told, &t);
    usleep(30000);
    engine_leave(e, a.job_id, on_told, &t);
    pthread_mutex_lock(&t.lock);
    while (t.count == 0) pthread_cond_wait(&t.cond, &t.lock);
    pthread_mutex_unlock(&t.lock);
    assert_int_equal(t.status, CUZK_CANCELLED);
    assert_int_equal(t.end, JOB_UNFINISHED);
    engine_await_wait(e, a.job_id, 0, &b);
    assert_int_equal(b.end, JOB_CANCELLED);
    assert_true(b.was_running);
    job_answer_free(&b);
    atomic_store(&work_us, 100);
    submit(e, 2, JOB_LOW, &a);
    must_be_done(e, a.job_id, 2);
    engine_close(e, 1000);
    assert_int_equal(t.count, 1);
    assert_int_equal(atomic_load(&carries), 0);
}

static uint8_t *payload_of(unsigned n)
{
    uint8_t *payload = malloc(1000 + n);

    if (payload == NULL) abort();
    memset(payload, (int)(n & 0xff), 1000 + n);
    return payload;
}

struct both {
    struct told accepted, ended;
    char id[JOB_ID_BYTES];
};

static void told_accepted(void *context, const struct job_answer *a)
{
    struct both *b = context;

    memcpy(b->id, a->job_id, sizeof b->id);
    on_told(&b->accepted, a);
}

static void told_ended(void *context, const struct job_answer *a)
{
    on_told(&((struct both *)context)->ended, a);
}

static void wait_told(struct told *t)
{
    pthread_mutex_lock(&t->lock);
    while (t->count == 0) pthread_cond_wait(&t->cond, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

/* Who submits and waits in one (engine_request.ended) is a waiter from the acceptance on: a job that he has just joined is not cancelled
 * because the one before him leaves.  Told twice, in this order; joining a result, at once. */
static void who_joins_waits_at_once(void **state)
{
    struct engine *e = open_engine(2, false);
    struct both b[3];
    struct task t;
    (void)state;

    atomic_store(&work_us, 5000);
    for (int i = 0; i < 3; i++) {
        struct engine_request r = { .request_id = "one", .circuit = circuit.name, .ended = told_ended };
        const struct told told = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
        b[i] = (struct both){ .accepted = told, .ended = told };
        r.payload = payload_of(9);
        r.payload_bytes = 1009;
        task_init(&t);
        assert_int_equal(engine_submit(e, &t, &r, told_accepted, &b[i]), CUZK_OK);
        if (i == 0) wait_told(&b[0].accepted);
        if (i == 1) {
            engine_leave(e, b[0].id, told_ended, &b[0]);
            wait_told(&b[1].ended);
        }
    }
    wait_told(&b[2].ended);
    assert_int_equal(b[0].ended.status, CUZK_CANCELLED); /* the waiter, not the job */
    assert_int_equal(b[0].ended.end, JOB_UNFINISHED);
    assert_int_equal(b[1].ended.end, JOB_DONE);
    assert_int_equal(b[2].ended.end, JOB_DONE);
    assert_string_equal(b[0].id, b[1].id);
    assert_string_equal(b[0].id, b[2].id);
    /* the last one leaves */
    struct engine_request r = { .request_id = "two", .circuit = circuit.name, .ended = told_ended };
    r.payload = payload_of(10);
    r.payload_bytes = 1010;
    b[0].accepted.count = b[0].ended.count = 0;
    task_init(&t);
    assert_int_equal(engine_submit(e, &t, &r, told_accepted, &b[0]), CUZK_OK);
    wait_told(&b[0].accepted);
    engine_leave(e, b[0].id, told_ended, &b[0]);
    struct job_answer a;
    engine_await_wait(e, b[0].id, 0, &a);
    assert_int_equal(a.end, JOB_CANCELLED);
    job_answer_free(&a);
    engine_close(e, 1000);
    assert_int_equal(b[0].ended.count, 1);
    assert_int_equal(b[1].ended.count, 1);
    assert_int_equal(b[2].accepted.count, 1);
    assert_int_equal(b[2].ended.count, 1);
    atomic_store(&work_us, 100);
}

/* -- parts that are proved together ------------------------------------------------------------------------------------- */

static const struct engine_circuit group = { .name = "group", .kind = &kind_group, .key_path = "no file" },
                                   swap = { .name = "swap", .kind = &kind_group, .key_path = "no file" };

/* A case: where, and what the batches do. */
struct group_case {
    const struct engine_circuit *circuit;
    bool apart;
    unsigned devices, lanes;
    const char *does;
};

static struct engine *open_group(const struct group_case *g)
{
    static const unsigned cpus[2]; /* opened twice, one is two devices */
    struct engine_options o = ENGINE_DEFAULTS;
    struct engine *e = NULL;
    struct task t;

    o.circuits = g->circuit;
    o.circuit_count = 1;
    o.devices = cpus;
    o.device_count = g->devices;
    o.lane_count = g->lanes;
    o.threads = 1;
    o.queue_most_bytes = 1000000;
    o.heap_bytes = o.queue_most_bytes + 200000;
    o.process = g->apart ? ENGINE_PROCESS_ALWAYS : ENGINE_PROCESS_NEVER;
    if (g->does != NULL)
        setenv(BATCH_DOES, g->does, 1);
    else
        unsetenv(BATCH_DOES);
    atomic_store(&batches, 0);
    atomic_store(&largest, 0);
    atomic_store(&smallest, PARTS);
    atomic_store(&synthesised, 0);
    atomic_store(&loads, 0);
    atomic_store(&work_us, 1000);
    task_init(&t);
    if (engine_open(&e, &t, &o) != CUZK_OK) fail_msg("%s", t.error.text);
    return e;
}

static void submit_group(struct engine *e, const struct group_case *g, unsigned n, uint64_t ttl_ms, char id[JOB_ID_BYTES])
{
    struct engine_request r = { .circuit = g->circuit->name, .payload = payload_of(n), .payload_bytes = 1000 + n, .ttl_ms = ttl_ms };
    struct job_answer a;
    struct task t;

    task_init(&t);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_OK);
    assert_int_equal(a.status, CUZK_OK);
    memcpy(id, a.job_id, JOB_ID_BYTES);
    job_answer_free(&a);
}

static struct engine_counters counters_of(struct engine *e)
{
    struct seen seen = { .done = false };

    engine_look(e, on_seen, &seen);
    while (!atomic_load(&seen.done)) usleep(1000);
    return seen.counters;
}

static void on_key(void *context, const struct engine_view *v)
{
    atomic_store((atomic_ullong *)context, v->keys[0].bytes);
}

/* What the ledger has for the key. */
static uint64_t key_bytes_of(struct engine *e)
{
    atomic_ullong bytes = 0;

    engine_look(e, on_key, &bytes);
    while (atomic_load(&bytes) == 0) usleep(1000);
    return atomic_load(&bytes);
}

struct lane_seen {
    const char *id;
    bool works;
    atomic_bool done;
};

static void on_lane(void *context, const struct engine_view *v)
{
    struct lane_seen *s = context;

    s->works = v->lanes[0].state == LANE_BUSY && strcmp(v->lanes[0].job_id, s->id) == 0;
    atomic_store(&s->done, true);
}

/* Until the first lane works for the job. */
static void wait_for_lane(struct engine *e, const char *id)
{
    for (bool works = false; !works; usleep(1000)) {
        struct lane_seen seen = { .id = id };
        engine_look(e, on_lane, &seen);
        while (!atomic_load(&seen.done)) usleep(1000);
        works = seen.works;
    }
}

static void close_group(struct engine *e)
{
    engine_close(e, 1000);
    unsetenv(BATCH_DOES);
    assert_int_equal(atomic_load(&carries), 0);
    assert_int_equal(atomic_load(&keys), 0);
}

/* All parts of a job in one batch on a device, and in equal ones on several; nothing is synthesised. */
static void parts_are_proved_together(void **state)
{
    const struct group_case cases[] = { { &group, false, 1, 1, NULL }, { &swap, false, 1, 2, NULL },  { &group, false, 2, 2, NULL },
                                        { &swap, false, 2, 4, NULL },  { &group, true, 1, 1, NULL }, { &swap, true, 2, 2, NULL } };
    (void)state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct group_case *g = &cases[i];
        struct engine *e = open_group(g);
        char id[2][JOB_ID_BYTES];
        for (unsigned k = 0; k < 2; k++) submit_group(e, g, k, 0, id[k]);
        for (unsigned k = 0; k < 2; k++) must_be_done(e, id[k], k);
        const struct engine_counters c = counters_of(e);
        assert_int_equal(c.attempts, 2 * PARTS);
        assert_int_equal(c.retries, 0);
        assert_int_equal(atomic_load(&synthesised), 0);
        if (!g->apart) {
            assert_int_equal(atomic_load(&batches), 2 * g->devices);
            assert_int_equal(atomic_load(&largest), PARTS / g->devices);
            assert_int_equal(atomic_load(&smallest), PARTS / g->devices);
        }
        assert_int_equal(atomic_load(&loads), 1);
        assert_int_equal(key_bytes_of(e), 1050); /* with what batches keep */
        close_group(e);
    }
}

/* A batch that fails for the device's sake: each part by itself, and so those of later jobs; nothing is lost, and the lane works on. */
static void a_failed_batch_costs_nothing(void **state)
{
    const struct group_case cases[] = { { &group, false, 1, 1, "lost" }, { &swap, false, 1, 1, "lost" }, { &swap, false, 1, 2, "full" },
                                        { &group, true, 1, 1, "lost" },  { &swap, true, 1, 1, "kill" } };
    (void)state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct group_case *g = &cases[i];
        const bool full = strcmp(g->does, "full") == 0;
        struct engine *e = open_group(g);
        char id[JOB_ID_BYTES];
        for (unsigned k = 0; k < 2; k++) {
            submit_group(e, g, k, 0, id);
            must_be_done(e, id, k);
        }
        const struct engine_counters c = counters_of(e);
        assert_int_equal(c.attempts, 2 * PARTS + 2 * PARTS + PARTS); /* synthesis, proof, and the batch */
        assert_int_equal(c.retries, PARTS);
        assert_int_equal(c.lane_failures, full ? 0 : 1);
        assert_int_equal(c.quarantines, full ? 0 : 1);
        assert_int_equal(c.device_restarts, g->apart ? 1 : 0);
        assert_int_equal(atomic_load(&synthesised), 2 * PARTS);
        assert_int_equal(atomic_load(&loads), g->circuit == &swap ? 2 : 1); /* the other way */
        assert_int_equal(key_bytes_of(e), g->circuit == &swap ? 1000 : 1050);
        close_group(e);
    }
}

/* A proof that does not verify, and one that was not made, cost an attempt of these parts alone. */
static void parts_of_a_batch_that_are_not_there(void **state)
{
    const struct group_case cases[] = {
        { &group, false, 1, 1, "wrong" }, { &swap, true, 1, 1, "wrong" }, { &swap, false, 1, 1, "leave" }, { &group, true, 1, 1, "leave" }
    };
    (void)state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct group_case *g = &cases[i];
        const bool false_one = strcmp(g->does, "wrong") == 0;
        struct engine *e = open_group(g);
        char id[JOB_ID_BYTES];
        submit_group(e, g, 7, 0, id);
        must_be_done(e, id, 7);
        const struct engine_counters c = counters_of(e);
        assert_int_equal(c.attempts, PARTS + 2);
        assert_int_equal(c.retries, 1);
        assert_int_equal(c.verify_failures, false_one ? 1 : 0);
        assert_int_equal(c.quarantines, false_one ? 1 : 0);
        assert_int_equal(atomic_load(&synthesised), 1);
        close_group(e);
    }
}

/* What is wrong with the request ends the job; a cancel and a deadline end it in the middle of a batch, and the device goes on. */
static void jobs_end_within_a_batch(void **state)
{
    const struct group_case cases[] = { { &group, false, 1, 1, NULL }, { &swap, true, 1, 1, NULL } };
    struct job_answer a;
    (void)state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct group_case *g = &cases[i];
        struct engine *e = open_group(g);
        char id[JOB_ID_BYTES];
        if (!g->apart) { /* what a process is to do is known when it starts */
            setenv(BATCH_DOES, "bad", 1);
            submit_group(e, g, 1, 0, id);
            engine_await_wait(e, id, 0, &a);
            assert_int_equal(a.end, JOB_FAILED);
            assert_int_equal(a.status, CUZK_MALFORMED);
            assert_non_null(strstr(a.error_text, "part 4 is no number"));
            job_answer_free(&a);
            setenv(BATCH_DOES, "cut", 1);
            submit_group(e, g, 1, 0, id);
            engine_await_wait(e, id, 0, &a);
            assert_int_equal(a.end, JOB_FAILED);
            assert_int_equal(a.status, CUZK_IO);
            assert_int_equal(a.attempts, 3 * PARTS);
            job_answer_free(&a);
        }
        close_group(e);
        const struct group_case waits = { g->circuit, g->apart, 1, 1, "wait" };
        e = open_group(&waits);
        submit_group(e, g, 2, 50, id);
        engine_await_wait(e, id, 0, &a);
        assert_int_equal(a.end, JOB_FAILED);
        assert_int_equal(a.status, CUZK_DEADLINE);
        job_answer_free(&a);
        submit_group(e, g, 3, 0, id);
        wait_for_lane(e, id);
        usleep(5000); /* into the batch, most likely */
        engine_cancel_wait(e, id, &a);
        job_answer_free(&a);
        engine_await_wait(e, id, 0, &a);
        assert_int_equal(a.end, JOB_CANCELLED);
        assert_true(a.was_running);
        job_answer_free(&a);
        assert_int_equal(counters_of(e).device_restarts, 0); /* it stops when it is told to */
        if (!g->apart) {
            unsetenv(BATCH_DOES);
            submit_group(e, g, 4, 0, id);
            must_be_done(e, id, 4);
            assert_int_equal(atomic_load(&synthesised), 0);
        }
        close_group(e);
    }
}

static int open_folder(void **state)
{
    (void)state;
    log_setup(LOG_ERROR, LOG_TEXT);
    temp_folder_create(&folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    temp_folder_remove(&folder);
    return 0;
}

int main(int argc, char **argv)
{
    const int child = engine_device_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_jobs_of_many_parts), cmocka_unit_test(a_key_that_is_cut_is_loaded_again),
        cmocka_unit_test(parts_are_resumed),       cmocka_unit_test(nobody_waits_any_more),
        cmocka_unit_test(who_joins_waits_at_once), cmocka_unit_test(parts_are_proved_together),
        cmocka_unit_test(a_failed_batch_costs_nothing), cmocka_unit_test(parts_of_a_batch_that_are_not_there),
        cmocka_unit_test(jobs_end_within_a_batch),
    };
    if (child >= 0) return child;
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
