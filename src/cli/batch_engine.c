/* The lines of a batch through an engine whose device has a process of its own. */
#include "cli/batch_engine.h"
#include "base/log.h"
#include "base/mapfile.h"
#include "cli/cli.h"
#include "engine/engine.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_MS      100 /* at Ctrl-C while a proof is awaited */
#define CLOSE_MS     1000
#define PINNED_BYTES ((uint64_t)64 << 20) /* of transfers to a card */

bool batch_engine_possible(void) { return true; }

int batch_engine_device_main(int argc, char **argv) { return engine_device_main(argc, argv); }

struct batch_engine {
    struct engine *engine;
    double timeout_ms;
};

/* -- life --------------------------------------------------------------------------------------------------------------- */

/* The end of a long path says more than its beginning; the number keeps names apart. */
static void name_keys(struct batch_engine_key *keys, size_t count)
{
    enum { TAIL = 40 };

    for (size_t i = 0; i < count; i++) {
        const size_t bytes = strlen(keys[i].path);
        const char *const tail = bytes <= TAIL ? keys[i].path : keys[i].path + bytes - TAIL;
        snprintf(keys[i].name, sizeof keys[i].name, "%zu: %.*s", i + 1, (int)TAIL, tail);
    }
}

static cuzk_status open_engine(struct engine **out, struct task *t, const struct batch_options *o,
                               const struct engine_circuit *circuits, size_t count)
{
    const unsigned device = cli.device != CLI_NO_DEVICE ? (unsigned)cli.device : 0;
    struct engine_options e = ENGINE_DEFAULTS;

    e.circuits = circuits;
    e.circuit_count = count;
    e.backend = cli_backend();
    e.devices = &device;
    e.device_count = 1;
    e.lane_count = o->lanes;
    e.threads = (unsigned)cli.threads;
    if (cli_on_card()) {
        e.device_bytes = cli.device_mib << 20;
        e.pinned_bytes = PINNED_BYTES;
    }
    e.process = ENGINE_PROCESS_ALWAYS;
    e.watchdog_ms = o->watchdog_ms;
    e.lane_strikes_most = 0; /* a witness that satisfies nothing closes no lane: others wait */
    return engine_open(out, t, &e);
}

cuzk_status batch_engine_open(struct batch_engine **out, struct task *t, const struct batch_options *o,
                              struct batch_engine_key *keys, size_t key_count)
{
    static const enum engine_key_mode modes[] = { [CUZK_KEY_AUTO] = ENGINE_KEY_AUTO,
                                                  [CUZK_KEY_ORIGINAL] = ENGINE_KEY_ORIGINAL,
                                                  [CUZK_KEY_DERIVED] = ENGINE_KEY_DERIVED };
    struct engine_circuit *const circuits = calloc(key_count + 1, sizeof *circuits);
    struct batch_engine *const e = calloc(1, sizeof *e);
    cuzk_status status = CUZK_OK;

    if (circuits == NULL || e == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory for a table of keys");
        goto out;
    }
    name_keys(keys, key_count);
    for (size_t i = 0; i < key_count; i++)
        circuits[i] = (struct engine_circuit){ .name = keys[i].name,
                                               .kind = &kind_circom,
                                               .key_path = keys[i].path,
                                               .r1cs_path = o->r1cs_path,
                                               .key_mode = modes[o->key_mode],
                                               .optional = true };
    log_setup(o->timing ? LOG_INFO : cli.quiet ? LOG_ERROR : LOG_WARN, LOG_TEXT);
    e->timeout_ms = o->timeout_ms;
    status = open_engine(&e->engine, t, o, circuits, key_count);
out:
    free(circuits);
    if (status == CUZK_OK)
        *out = e;
    else
        free(e);
    return status;
}

cuzk_status batch_engine_could_prove(const struct batch_engine *e, struct task *t,
                                     const struct batch_engine_key *key, uint64_t witness_bytes)
{
    return engine_could_run(e->engine, t, key->name, witness_bytes);
}

struct looking {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool told;
    struct batch_engine_counts counts;
};

static void looked(void *context, const struct engine_view *v)
{
    struct looking *const l = context;

    pthread_mutex_lock(&l->lock);
    l->counts.restarts = v->counters.device_restarts;
    l->counts.retries = v->counters.retries;
    l->told = true;
    pthread_cond_signal(&l->cond);
    pthread_mutex_unlock(&l->lock);
}

void batch_engine_close(struct batch_engine *e, struct batch_engine_counts *out)
{
    struct looking l = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

    memset(out, 0, sizeof *out);
    if (e == NULL) return;
    engine_look(e->engine, looked, &l);
    pthread_mutex_lock(&l.lock);
    while (!l.told) pthread_cond_wait(&l.cond, &l.lock);
    pthread_mutex_unlock(&l.lock);
    *out = l.counts;
    engine_close(e->engine, CLOSE_MS);
    free(e);
}

void batch_engine_drop(struct batch_engine *e, const struct batch_engine_key *key)
{
    struct key_answer answer;

    engine_evict_wait(e->engine, key->name,
                      &answer); /* if it cannot be now, the next key makes room for itself */
}

/* -- a proof ------------------------------------------------------------------------------------------------------------ */

static cuzk_status read_witness(struct engine_request *r, struct task *t, const char *path)
{
    struct mapfile file = { 0 };

    TRY(mapfile_open(&file, t, path));
    r->payload = malloc(file.bytes.size + 1);
    r->payload_bytes = file.bytes.size;
    if (r->payload != NULL && file.bytes.size != 0) memcpy(r->payload, file.bytes.data, file.bytes.size);
    mapfile_close(&file);
    if (r->payload != NULL) return CUZK_OK;
    return FAIL(t, CUZK_NO_MEMORY, "no memory for a witness of %zu bytes", r->payload_bytes);
}

static bool is_cancelled(const cuzk_watch *watch)
{
    return __atomic_load_n(watch->cancel, __ATOMIC_RELAXED) != 0;
}

/* Waits while the witnesses under way leave no room for another: each that ends makes some. */
static cuzk_status submit(struct batch_engine *e, struct task *t, struct engine_request *r, struct job_answer *a,
                          const char *witness_path, const cuzk_watch *watch)
{
    for (;;) {
        const struct timespec look = { 0, LOOK_MS * 1000000L };

        TRY(read_witness(r, t, witness_path)); /* the engine has taken the last one */
        TRY(engine_submit_wait(e->engine, t, r, a));
        if (a->status != CUZK_QUEUE_FULL || is_cancelled(watch)) return CUZK_OK;
        job_answer_free(a);
        nanosleep(&look, NULL);
    }
}

/* Until the job has ended; it is cancelled if somebody wants all to stop. */
static void await(struct batch_engine *e, const char *id, struct job_answer *a, const cuzk_watch *watch)
{
    bool told = false;

    for (;;) {
        engine_await_wait(e->engine, id, LOOK_MS, a);
        if (a->end != JOB_UNFINISHED || a->status != CUZK_DEADLINE) return;
        job_answer_free(a);
        if (told || !is_cancelled(watch)) continue;
        engine_cancel_wait(e->engine, id, a);
        job_answer_free(a);
        told = true;
    }
}

/* The proof's bytes, and the inputs out of {"proof":..,"publicSignals":[..]}. */
static cuzk_status take(struct batch_made *made, struct task *t, const struct job_answer *a,
                        cuzk_error *error)
{
    made->prove_ms = a->timings.prove_ms;
    if (cuzk_proof_from_memory(&made->proof, a->proof.data, a->proof.size, error) != CUZK_OK)
        return error->status;
    json_t *const both = json_loadb((const char *)a->text.data, a->text.size, 0, NULL);
    char *const inputs = json_dumps(json_object_get(both, "publicSignals"), JSON_COMPACT);
    json_decref(both);
    if (inputs == NULL) {
        FAIL(t, CUZK_NO_MEMORY, "no memory for public inputs");
        return cli_error_of(error, t);
    }
    const cuzk_status status = cuzk_publics_from_memory(&made->publics, inputs, strlen(inputs), error);
    free(inputs);
    return status;
}

cuzk_status batch_engine_prove(struct batch_engine *e, struct batch_made *made,
                               const struct batch_engine_key *key, const char *witness_path,
                               const cuzk_watch *watch, cuzk_error *error)
{
    struct engine_request r = { .circuit = key->name, .durable = -1, .part_ms = (uint64_t)e->timeout_ms };
    struct job_answer a;
    struct task t;

    memset(made, 0, sizeof *made);
    task_init(&t);
    if (submit(e, &t, &r, &a, witness_path, watch) != CUZK_OK) return cli_error_of(error, &t);
    cuzk_status status = a.status;
    if (status == CUZK_OK) {
        char id[JOB_ID_BYTES];
        memcpy(id, a.job_id, sizeof id);
        job_answer_free(&a);
        await(e, id, &a, watch);
        status = a.end == JOB_DONE ? CUZK_OK : a.status != CUZK_OK ? a.status : CUZK_CANCELLED;
    }
    if (status == CUZK_OK) {
        status = take(made, &t, &a, error);
    } else {
        error->status = status;
        snprintf(error->text, sizeof error->text, "%s", a.error_text != NULL ? a.error_text : "");
        snprintf(error->path, sizeof error->path, "%s", witness_path);
    }
    job_answer_free(&a);
    return status;
}
