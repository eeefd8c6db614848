/* The process of a device.  A thread a channel answers one request after another; the first thread watches the control socket, and ends
 * the process when the engine's end of it is gone, whatever the others are doing. */
#include "engine/device_child.h"
#include "base/bytes.h"
#include "base/log.h"
#include "base/mapguard.h"
#include "base/pool.h"
#include "base/thread.h"
#include "engine/device_message.h"
#include "engine/job_kind.h"
#include "engine/engine.h"
#include "engine/lane_test.h"
#include "groth16/prove_lanes.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOK_MS       50 /* at the cancel flag while somebody else loads */
#define CIRCUITS_MOST 1024

/* A key, as loaded here. */
struct slot {
    bool busy; /* somebody loads or unloads it */
    void *key; /* NULL: none */
    unsigned users;
    uint64_t mark; /* of the engine's key for which it was loaded */
    struct circuit circuit;
    char name[ENGINE_NAME_BYTES], key_path[PATH_MAX], r1cs_path[PATH_MAX];
};

struct child {
    int control;
    const struct backend *backend;
    struct device *device;
    struct pool *pool;
    struct device_shared *shared;
    size_t slot_count;
    struct slot *slots;
    pthread_mutex_t lock; /* of the slots, and of lanes */
    pthread_cond_t changed;
    struct lanes *lanes; /* NULL before a circuit whose proofs go through them is seen */
    atomic_uint busy; /* channels that have a request */
    unsigned channel_count;
    struct channel {
        struct child *child;
        unsigned index;
        int socket;
        pthread_t thread;
        bool running;
    } channels[DEVICE_CHANNELS];
};

/* -- keys ---------------------------------------------------------------------------------------------------------------- */

/* A circuit in a request.  Its texts are in texts, a slot of nobody's. */
static cuzk_status get_circuit(struct child *c, struct task *t, struct device_message *m, struct slot *texts,
                               size_t *index)
{
    struct circuit *k = &texts->circuit;
    char kind[ENGINE_NAME_BYTES];

    memset(k, 0, sizeof *k);
    *index = device_message_get(m);
    device_message_get_text(m, texts->name, sizeof texts->name);
    device_message_get_text(m, kind, sizeof kind);
    device_message_get_text(m, texts->key_path, sizeof texts->key_path);
    const bool has_r1cs = device_message_get_text(m, texts->r1cs_path, sizeof texts->r1cs_path) != NULL;
    k->key_mode = (enum groth16_key_mode)device_message_get(m);
    k->table_id = (unsigned)device_message_get(m);
    k->note = device_message_get(m);
    k->batch.parts_most = (unsigned)device_message_get(m);
    k->batch.beside = device_message_get(m) != 0;
    k->batch.device_bytes = device_message_get(m);
    k->batch.host_bytes = device_message_get(m);
    k->name = texts->name;
    k->key_path = texts->key_path;
    k->r1cs_path = has_r1cs ? texts->r1cs_path : NULL;
    k->kind = job_kind_by_name(kind);
    if (m->broken || *index >= c->slot_count || k->kind == NULL)
        return FAIL(t, CUZK_INTERNAL, "the device's process does not know the circuit of a request");
    return CUZK_OK;
}

static void copy_circuit(struct slot *to, const struct slot *from)
{
    memcpy(to->name, from->name, sizeof to->name);
    memcpy(to->key_path, from->key_path, sizeof to->key_path);
    memcpy(to->r1cs_path, from->r1cs_path, sizeof to->r1cs_path);
    to->circuit = from->circuit;
    to->circuit.name = to->name;
    to->circuit.key_path = to->key_path;
    to->circuit.r1cs_path = from->circuit.r1cs_path != NULL ? to->r1cs_path : NULL;
}

/* Locked. */
static void wait_changed(struct child *c)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += LOOK_MS * 1000000L;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&c->changed, &c->lock, &at);
}

/* Locked and busy; lets go of the lock meanwhile. */
static void unload(struct child *c, struct slot *s)
{
    pthread_mutex_unlock(&c->lock);
    s->circuit.kind->unload(s->key);
    pthread_mutex_lock(&c->lock);
    s->key = NULL;
}

static cuzk_status load(struct child *c, struct task *t, struct slot *s, uint64_t mark)
{
    struct bytes bytes;
    void *key = NULL;

    pthread_mutex_unlock(&c->lock);
    const cuzk_status status = s->circuit.kind->load(t, &key, &bytes, &s->circuit);
    pthread_mutex_lock(&c->lock);
    if (status != CUZK_OK) return status;
    s->key = key;
    s->mark = mark;
    return CUZK_OK;
}

static cuzk_status another_key(struct task *t, const struct slot *s)
{
    FAIL(t, CUZK_MISMATCH, "the key of %s is not the one that was loaded before", s->name);
    task_fail_place(t, s->key_path, ERROR_NO_OFFSET, NULL, "do not change key files while the daemon runs");
    return CUZK_MISMATCH;
}

/* The key of a request, loaded if it is not here, or for another one of the engine's; a user's from here on.  *changed: what lies in the
 * file now is not the engine's key. */
static cuzk_status slot_take(struct slot **out, struct child *c, struct task *t, size_t index,
                             const struct slot *wanted, uint64_t mark, bool *changed)
{
    struct slot *s = &c->slots[index];
    cuzk_status status = CUZK_OK;

    pthread_mutex_lock(&c->lock);
    while (s->busy || (s->key != NULL && s->mark != mark && s->users > 0)) {
        status = task_poll(t);
        if (status != CUZK_OK) goto out;
        task_progress(t, LANES_WAITING, 0, 0);
        wait_changed(c);
    }
    s->busy = true;
    if (s->key != NULL && s->mark != mark) unload(c, s);
    if (s->key == NULL) {
        copy_circuit(s, wanted);
        status = load(c, t, s, mark);
    }
    if (status == CUZK_OK && s->circuit.kind->key_mark(s->key) != mark) {
        *changed = true;
        status = another_key(t, s);
    }
    if (status == CUZK_OK) s->users++;
    s->busy = false;
    *out = s;
out:
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return status;
}

static void slot_give(struct child *c, struct slot *s)
{
    pthread_mutex_lock(&c->lock);
    s->users--;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void slot_drop(struct child *c, struct slot *s)
{
    pthread_mutex_lock(&c->lock);
    while (s->busy || s->users > 0) wait_changed(c);
    s->busy = true;
    if (s->key != NULL) unload(c, s);
    s->busy = false;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* The lanes' streams hold memory of the device for good, which devices that prove other kinds alone need not miss. */
static cuzk_status place_for(struct place *out, struct child *c, struct task *t, const struct job_kind *kind)
{
    const unsigned lanes = c->channel_count - 1;
    const struct lanes_options o = { .lanes = lanes < LANES_MOST_AT_ONCE ? lanes : LANES_MOST_AT_ONCE };
    struct device_info info;
    cuzk_status status = CUZK_OK;

    *out = (struct place){ .backend = c->backend, .device = c->device };
    c->backend->info(c->device, &info);
    out->spoken_for = info.stream_bytes * (lanes + PLACE_IDLE_STREAMS);
    if (!kind->in_lanes || c->backend->reads_host_memory || lanes == 0) return CUZK_OK;
    pthread_mutex_lock(&c->lock);
    if (c->lanes == NULL) status = lanes_create(&c->lanes, t, c->backend, c->device, &o);
    out->lanes = c->lanes;
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* -- requests ------------------------------------------------------------------------------------------------------------ */

static void put_bytes(struct device_message *m, const struct bytes *b)
{
    for (int i = 0; i < BYTES_KINDS; i++) device_message_put(m, b->of[i]);
}

static void answer(struct device_message *m, const struct task *t, cuzk_status status)
{
    struct error e = t->error;

    e.status = status;
    device_message_begin(m, m->kind | DEVICE_ANSWER, m->number);
    device_message_put_error(m, &e);
}

static cuzk_status incomplete(struct task *t, const struct device_message *m)
{
    if (device_message_done(m)) return CUZK_OK;
    return FAIL(t, CUZK_INTERNAL, "the device's process does not understand a request");
}

static void measure(struct child *c, struct task *t, struct device_message *m, struct slot *wanted)
{
    struct place place;
    struct circuit *k = &wanted->circuit;
    size_t index;

    cuzk_status status = get_circuit(c, t, m, wanted, &index);
    if (status == CUZK_OK) status = incomplete(t, m);
    if (status == CUZK_OK) status = place_for(&place, c, t, k->kind);
    if (status == CUZK_OK) status = k->kind->measure(t, k, &place);
    answer(m, t, status);
    if (status != CUZK_OK) return;
    put_bytes(m, &k->key_bytes);
    put_bytes(m, &k->synthesis_bytes);
    put_bytes(m, &k->carry_bytes);
    put_bytes(m, &k->prove_bytes);
    device_message_put(m, k->key_own_bytes);
    device_message_put(m, (uint64_t)k->key_mode);
    device_message_put(m, k->table_id);
    device_message_put(m, k->table_bytes);
    device_message_put(m, k->note);
    device_message_put(m, k->batch.parts_most);
    device_message_put(m, k->batch.beside);
    put_bytes(m, &k->batch.key_bytes);
    put_bytes(m, &k->batch.run_bytes);
    device_message_put(m, k->batch.own_bytes);
    device_message_put(m, k->batch.device_bytes);
    device_message_put(m, k->batch.host_bytes);
}

static void load_key(struct child *c, struct task *t, struct device_message *m, struct slot *wanted)
{
    struct slot *s = NULL;
    bool changed = false;
    size_t index;

    cuzk_status status = get_circuit(c, t, m, wanted, &index);
    const uint64_t mark = device_message_get(m);
    if (status == CUZK_OK) status = incomplete(t, m);
    if (status == CUZK_OK) status = slot_take(&s, c, t, index, wanted, mark, &changed);
    if (status == CUZK_OK) slot_give(c, s);
    answer(m, t, status);
}

static void unload_key(struct child *c, struct task *t, struct device_message *m)
{
    const size_t index = device_message_get(m);
    cuzk_status status = incomplete(t, m);

    if (status == CUZK_OK && index < c->slot_count) slot_drop(c, &c->slots[index]);
    answer(m, t, status);
}

/* Everything of a request for a proof. */
struct order {
    struct slot *wanted;
    size_t index;
    uint64_t mark;
    struct part_input in;
    struct bytes granted;
    bool carried;
    struct device_blob input;
    unsigned parts[JOB_BATCH_MOST], count; /* of DEVICE_PROVE_PARTS */
};

static cuzk_status get_order(struct child *c, struct task *t, struct device_message *m, struct order *o)
{
    TRY(get_circuit(c, t, m, o->wanted, &o->index));
    o->mark = device_message_get(m);
    o->in.part = (unsigned)device_message_get(m);
    o->in.part_count = (unsigned)device_message_get(m);
    for (int i = 0; i < BYTES_KINDS; i++) o->granted.of[i] = device_message_get(m);
    o->in.parameters = device_message_get_octets(m); /* stays in m, which is not written before the answer */
    o->carried = device_message_get(m) != 0;
    const uint64_t bytes = device_message_get(m);
    const int fd = device_message_take_fd(m);
    if (fd < 0) return incomplete(t, m);
    TRY(device_blob_map(&o->input, t, fd, bytes));
    if (m->kind != DEVICE_PROVE_PARTS) return incomplete(t, m);
    o->count = (unsigned)device_message_get(m);
    if (o->count > JOB_BATCH_MOST) return FAIL(t, CUZK_INTERNAL, "a batch of %u parts", o->count);
    for (unsigned i = 0; i < o->count; i++) o->parts[i] = (unsigned)device_message_get(m);
    return incomplete(t, m);
}

static cuzk_status prove_with(struct child *c, struct task *t, struct part_output *out, struct order *o,
                              struct slot *s)
{
    struct place place;
    const struct job_kind *kind = s->circuit.kind;
    const struct span input = span_of(o->input.data, o->input.bytes);
    void *carry = NULL;

    TRY(place_for(&place, c, t, kind));
    o->in.circuit = &s->circuit;
    o->in.key = s->key;
    if (o->count > 0) {
        o->in.circuit = &o->wanted->circuit; /* as measured; the slot's may have been loaded before that */
        o->in.payload = input;
        return kind->prove_parts(t, out, &o->in, o->parts, o->count, &place, &o->granted);
    }
    if (o->carried != kind->has_synthesis)
        return FAIL(t, CUZK_INTERNAL, "a part of kind %s comes without what its synthesis left", kind->name);
    if (o->carried)
        TRY(kind->carry_view(t, &carry, s->key, input));
    else
        o->in.payload = input;
    const cuzk_status status = kind->prove(t, out, &o->in, carry, &place, &o->granted);
    if (carry != NULL) kind->carry_free(carry);
    return status;
}

/* One proof, or those of a batch. */
static cuzk_status put_outputs(struct device_message *m, struct task *t, struct device_blob *b,
                               const struct part_output *out, unsigned count)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < count; i++) bytes += out[i].proof_bytes;
    TRY(device_blob_create(b, t, bytes));
    answer(m, t, CUZK_OK);
    device_message_put(m, 0);
    bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        if (out[i].proof_bytes != 0) memcpy(b->data + bytes, out[i].proof, out[i].proof_bytes);
        bytes += out[i].proof_bytes;
        device_message_put(m, out[i].proof_bytes);
    }
    device_message_put_fd(m, b->fd);
    return CUZK_OK;
}

static void prove(struct child *c, struct task *t, struct device_message *m, struct slot *wanted,
                  struct device_blob *result)
{
    struct order o = { .wanted = wanted, .input = DEVICE_NO_BLOB };
    struct part_output out[JOB_BATCH_MOST] = { { .proof = NULL } };
    struct slot *s = NULL;
    bool changed = false;

    cuzk_status status = get_order(c, t, m, &o);
    if (status == CUZK_OK) status = slot_take(&s, c, t, o.index, wanted, o.mark, &changed);
    if (status == CUZK_OK) {
        status = prove_with(c, t, out, &o, s);
        slot_give(c, s);
    }
    device_blob_close(&o.input, false); /* the engine wipes it */
    if (status == CUZK_OK) status = put_outputs(m, t, result, out, o.count > 0 ? o.count : 1);
    for (unsigned i = 0; i < JOB_BATCH_MOST; i++) part_output_free(&out[i]);
    if (status == CUZK_OK) return;
    answer(m, t, status);
    device_message_put(m, changed);
}

static void test(struct child *c, struct task *t, struct device_message *m)
{
    const struct place place = { .backend = c->backend, .device = c->device };

    cuzk_status status = incomplete(t, m);
    if (status == CUZK_OK) status = lane_test(t, &place);
    answer(m, t, status);
}

/* -- channels ------------------------------------------------------------------------------------------------------------ */

/* A progress hook: what waits for others is not stuck. */
static void note_wait(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    if (strcmp(what, LANES_WAITING) == 0) atomic_fetch_add((atomic_uint *)context, 1);
}

/* One request and its answer. */
static int serve(struct channel *h, struct device_message *m, struct slot *wanted)
{
    struct child *c = h->child;
    struct device_blob result = DEVICE_NO_BLOB;
    struct task t;

    task_init(&t);
    t.pool = c->pool;
    t.cancel = &c->shared->cancel[h->index];
    t.progress = note_wait;
    t.progress_context = &c->shared->waits[h->index];
    switch (m->kind) {
    case DEVICE_MEASURE:
        measure(c, &t, m, wanted);
        break;
    case DEVICE_LOAD:
        load_key(c, &t, m, wanted);
        break;
    case DEVICE_UNLOAD:
        unload_key(c, &t, m);
        break;
    case DEVICE_PROVE:
    case DEVICE_PROVE_PARTS:
        prove(c, &t, m, wanted, &result);
        break;
    case DEVICE_TEST:
        test(c, &t, m);
        break;
    default:
        device_message_drop(m);
        return EPROTO;
    }
    const int why = device_message_send(m, h->socket);
    device_blob_close(&result, false);
    return why;
}

static void *channel_main(void *context)
{
    struct channel *h = context;
    struct device_message *m = malloc(sizeof *m);
    struct slot *wanted = malloc(sizeof *wanted);

    while (m != NULL && wanted != NULL && device_message_receive(m, h->socket) == 0) {
        atomic_fetch_add(&h->child->busy, 1);
        const int why = serve(h, m, wanted);
        atomic_fetch_sub(&h->child->busy, 1);
        if (why != 0) break;
    }
    shutdown(h->socket, SHUT_RDWR); /* the engine sees that nobody listens any more */
    free(wanted);
    free(m);
    return NULL;
}

/* -- the beginning ------------------------------------------------------------------------------------------------------- */

static cuzk_status open_device(struct child *c, struct task *t, const char *name,
                               const struct device_options *o)
{
    c->backend = backend_by_name(name);
    if (c->backend == NULL) return FAIL(t, CUZK_DEVICE_UNAVAILABLE, "backend %s is not in this build", name);
    TRY(pool_create(&c->pool, t, o->threads));
    t->pool = c->pool;
    return c->backend->open(&c->device, t, o);
}

static cuzk_status start_channels(struct child *c, struct task *t)
{
    for (unsigned i = 0; i < c->channel_count; i++) {
        struct channel *h = &c->channels[i];
        const int why = thread_start(&h->thread, "cuzk-channel", channel_main, h);
        if (why != 0) return FAIL(t, CUZK_NO_MEMORY, "a thread cannot be started: %s", strerror(why));
        h->running = true;
    }
    return CUZK_OK;
}

static cuzk_status take_hello(struct child *c, struct task *t, struct device_message *m)
{
    struct device_options o = { .index = 0 };
    struct device_blob page;
    char version[64], name[64];

    if (m->kind != DEVICE_HELLO) return FAIL(t, CUZK_INTERNAL, "the first message is no greeting");
    device_message_get_text(m, version, sizeof version);
    device_message_get_text(m, name, sizeof name);
    o.index = (unsigned)device_message_get(m);
    o.memory_bytes = device_message_get(m);
    o.pinned_bytes = device_message_get(m);
    o.threads = (unsigned)device_message_get(m);
    const uint64_t channels = device_message_get(m), circuits = device_message_get(m),
                   level = device_message_get(m), format = device_message_get(m);
    if (m->broken || strcmp(version, CUZK_VERSION) != 0 || channels == 0 || channels > DEVICE_CHANNELS ||
        m->fd_count != channels + 1 || circuits > CIRCUITS_MOST || level > LOG_DEBUG || format > LOG_JSON)
        return FAIL(t, CUZK_INTERNAL, "the greeting is not one of cuzk " CUZK_VERSION);
    log_setup((enum log_level)level, (enum log_format)format);
    TRY(device_blob_map(&page, t, device_message_take_fd(m), sizeof *c->shared));
    c->shared = (struct device_shared *)(void *)page.data; /* for good */
    close(page.fd);
    c->channel_count = (unsigned)channels;
    for (unsigned i = 0; i < c->channel_count; i++)
        c->channels[i] = (struct channel){ .child = c, .index = i, .socket = device_message_take_fd(m) };
    c->slot_count = circuits;
    c->slots = calloc(circuits + 1, sizeof *c->slots);
    if (c->slots == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a table of keys");
    TRY(open_device(c, t, name, &o));
    return start_channels(c, t);
}

static int say_ready(struct child *c, struct device_message *m, const struct task *t, cuzk_status status)
{
    struct device_info info = { .index = 0 };

    m->kind = DEVICE_HELLO;
    m->number = 0;
    answer(m, t, status);
    if (status == CUZK_OK) {
        c->backend->info(c->device, &info);
        device_message_put_text(m, info.backend);
        device_message_put(m, info.index);
        device_message_put_text(m, info.name);
        device_message_put_text(m, info.variant);
        device_message_put(m, info.memory_bytes);
        device_message_put(m, info.unit_count);
        device_message_put(m, info.stream_bytes);
    }
    return device_message_send(m, c->control);
}

/* -- the end ------------------------------------------------------------------------------------------------------------- */

/* Nothing runs: everything is given back in order. */
static void end(struct child *c)
{
    for (unsigned i = 0; i < c->channel_count; i++) {
        struct channel *h = &c->channels[i];
        shutdown(h->socket, SHUT_RDWR);
        if (h->running) pthread_join(h->thread, NULL);
        close(h->socket);
    }
    for (size_t i = 0; c->slots != NULL && i < c->slot_count; i++)
        if (c->slots[i].key != NULL) c->slots[i].circuit.kind->unload(c->slots[i].key);
    free(c->slots);
    lanes_destroy(c->lanes);
    if (c->device != NULL) c->backend->close(c->device);
    pool_destroy(c->pool);
}

static bool is_socket(int fd)
{
    int type = 0;
    socklen_t bytes = sizeof type;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET;
}

static void settle_signals(void)
{
    static const int ours[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    sigset_t blocked;

    sigemptyset(&blocked);
    for (size_t i = 0; i < ARRAY_COUNT(ours); i++) sigaddset(&blocked, ours[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGPIPE, SIG_IGN);
    prctl(
        PR_SET_PDEATHSIG,
        SIGKILL); /* the thread that started it lives as long as the engine; a stopped process ends so too */
    prctl(PR_SET_NAME, "cuzk-device");
    mapguard_start();
}

static int run(int control)
{
    static struct child child;
    static struct device_message m;
    pthread_condattr_t monotonic;
    struct task t;

    task_init(&t);
    child.control = control;
    pthread_mutex_init(&child.lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&child.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (device_message_receive(&m, control) != 0) return 1;
    const cuzk_status status = take_hello(&child, &t, &m);
    device_message_drop(&m);
    const int why = say_ready(&child, &m, &t, status);
    if (status == CUZK_OK && why == 0)
        while (device_message_receive(&m, control) == EPROTO)
            continue;                            /* nothing is said here any more; until the engine is gone */
    if (atomic_load(&child.busy) != 0) _exit(0); /* for nobody */
    end(&child);
    return status == CUZK_OK ? 0 : 1;
}

int engine_device_main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], DEVICE_CHILD_ARGUMENT) != 0) return -1;
    const int control = argc == 3 ? (int)strtol(argv[2], NULL, 10) : -1;
    if (control <= STDERR_FILENO || !is_socket(control)) {
        fprintf(stderr, DEVICE_CHILD_ARGUMENT " is for an engine that starts the process of a device\n");
        return 2;
    }
    settle_signals();
    return run(control);
}
