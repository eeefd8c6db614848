/* cuzk prove --batch: many proofs from a list, several of them under way at once.
 *
 * Lines of one key are proved together, by as many threads as there are lanes; keys come one after another, in the order of their
 * first lines, so that one key at a time takes memory.  Proofs are made in this process, or (batch_engine.h) in one of the device's own. */
#include "cli/batch.h"
#include "base/clock.h"
#include "base/mapfile.h"
#include "cli/batch_engine.h"
#include "cli/batch_list.h"
#include "cli/cli.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct batch {
    const struct batch_options *options;
    struct batch_list list;
    cuzk_context *context;
    cuzk_watch watch;
    bool apart_wanted, apart_used; /* a process of the device's own; lines were proved, or tried, there */
    struct batch_engine *engine;    /* NULL: proofs are made in this process */
    struct batch_engine_key *apart; /* the keys that the engine has */
    size_t apart_count;
    struct batch_engine_counts counts;
    unsigned threads;    /* that bring lines */
    const cuzk_key *key; /* of the lines that are being proved; with an engine the other one */
    const struct batch_engine_key *key_apart;
    size_t *index; /* of these lines, */
    size_t index_count, index_next;
    bool *begun, *again;  /* of each line of the list; again: it was put back once */
    pthread_mutex_t lock; /* of index_next, and of all below and what is printed */
    size_t put_back; /* lines of this key that wait for it to be opened anew */
    size_t proved, failed;
    double *took_ms;     /* of the proved ones */
    size_t first_failed; /* line index */
    cuzk_status first_status;
};

static bool is_cancelled(const struct batch *b)
{
    return __atomic_load_n(b->watch.cancel, __ATOMIC_RELAXED) != 0;
}

/* -- results ----------------------------------------------------------------------------------------------------------- */

static void line_failed(struct batch *b, size_t i, const cuzk_error *error)
{
    pthread_mutex_lock(&b->lock);
    if (b->failed++ == 0 || i < b->first_failed) {
        b->first_failed = i;
        b->first_status = error->status;
    }
    cli_fail_line(error, b->list.line[i].number);
    pthread_mutex_unlock(&b->lock);
}

static void line_proved(struct batch *b, size_t i, double prove_ms, double ms)
{
    const struct batch_line *const l = &b->list.line[i];

    pthread_mutex_lock(&b->lock);
    b->took_ms[b->proved++] = ms;
    if (cli.json)
        cli_print_json(json_pack("{s:i, s:s, s:o, s:o, s:b, s:f, s:f}", "line", (int)l->number, "status",
                                 "OK", "proof", cli_json_text(l->proof), "public",
                                 l->publics != NULL ? cli_json_text(l->publics) : json_null(), "verified", 1,
                                 "prove_ms", prove_ms, "ms", ms));
    else if (!cli.quiet)
        printf("line %u: %s: proved and verified in %.1f ms\n", l->number, l->proof, ms);
    pthread_mutex_unlock(&b->lock);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summary(struct batch *b, double ms)
{
    const size_t left = b->list.count - b->proved - b->failed;
    const double per_second = ms > 0 ? 1e3 * (double)b->proved / ms : 0;
    double median = 0;

    qsort(b->took_ms, b->proved, sizeof *b->took_ms, by_value);
    if (b->proved > 0) median = (b->took_ms[(b->proved - 1) / 2] + b->took_ms[b->proved / 2]) / 2;
    if (cli.json)
        cli_print_json(json_pack("{s:s, s:I, s:I, s:I, s:i, s:f, s:f, s:f, s:b, s:I, s:I}", "status",
                                 cuzk_status_name(b->failed > 0 ? b->first_status
                                                  : left > 0    ? CUZK_CANCELLED
                                                                : CUZK_OK),
                                 "proved", (json_int_t)b->proved, "failed", (json_int_t)b->failed, "left",
                                 (json_int_t)left, "lanes", (int)b->options->lanes, "ms", ms,
                                 "proofs_per_second", per_second, "median_ms", median, "own_process",
                                 b->apart_used, "restarts", (json_int_t)b->counts.restarts, "retries",
                                 (json_int_t)b->counts.retries));
    else if (!cli.quiet)
        printf("%zu of %zu proofs made and verified in %.1f ms over %u lanes: %.2f a second, median %.1f ms; "
               "%zu failed, "
               "%zu not begun\n",
               b->proved, b->list.count, ms, b->options->lanes, per_second, median, b->failed, left);
    if (!cli.json && b->counts.restarts > 0) /* said with --quiet too */
        fprintf(stderr,
                "cuzk: warning: the device's process was started again %llu times; %llu proofs were tried "
                "again\n",
                (unsigned long long)b->counts.restarts, (unsigned long long)b->counts.retries);
}

/* -- lines ------------------------------------------------------------------------------------------------------------- */

static cuzk_status check_outputs(const struct batch_line *l, cuzk_error *error)
{
    const char *const outputs[] = { l->proof, l->publics };
    struct task t;

    task_init(&t);
    for (size_t i = 0; i < ARRAY_COUNT(outputs); i++) {
        if (outputs[i] == NULL || mapfile_check_writable(&t, outputs[i]) == CUZK_OK) continue;
        return cli_error_of(error, &t);
    }
    return CUZK_OK;
}

/* In this process. */
static cuzk_status prove_here(struct batch *b, struct batch_made *made, const char *witness_path,
                              cuzk_error *error)
{
    cuzk_witness *witness = NULL;
    cuzk_timings tm = CUZK_TIMINGS_INIT;

    cuzk_status status = cuzk_witness_open(&witness, witness_path, error);
    if (status == CUZK_OK)
        status = cuzk_prove(&made->proof, &made->publics, b->context, b->key, witness, &b->watch, error);
    if (status == CUZK_OK) {
        cuzk_proof_timings(made->proof, &tm);
        made->prove_ms = tm.total_ms;
        if (b->options->timing) cli_print_timing(made->proof);
    }
    cuzk_witness_close(witness);
    return status;
}

static cuzk_status prove(struct batch *b, struct batch_made *made, const char *witness_path,
                         cuzk_error *error)
{
    return b->engine == NULL
               ? prove_here(b, made, witness_path, error)
               : batch_engine_prove(b->engine, made, b->key_apart, witness_path, &b->watch, error);
}

static void key_options(cuzk_key_options *out, const struct batch *b)
{
    out->r1cs_path = b->options->r1cs_path;
    out->mode = b->options->key_mode;
}

/* A line whose key's derived form has turned out to be damaged waits for the key itself, once. */
static bool put_back(struct batch *b, size_t i, const cuzk_error *error)
{
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;

    key_options(&options, b);
    if (b->again[i] || !cli_derived_is_lost(b->context, b->list.line[i].key, &options, error)) return false;
    pthread_mutex_lock(&b->lock);
    b->again[i] = true;
    b->begun[i] = false;
    b->put_back++;
    pthread_mutex_unlock(&b->lock);
    return true;
}

static cuzk_status save(const struct batch *b, const struct batch_made *made, const struct batch_line *l,
                        cuzk_error *error)
{
    const cuzk_encoding encoding = b->options->encoding;

    return l->publics == NULL ? cuzk_proof_save(made->proof, l->proof, encoding, error)
                              : cuzk_proof_save_both(made->proof, l->proof, encoding, made->publics, l->publics, error);
}

static void prove_line(struct batch *b, size_t i)
{
    const struct batch_line *const l = &b->list.line[i];
    const uint64_t start = clock_now_ns();
    cuzk_error error = CUZK_ERROR_INIT;
    struct batch_made made = { NULL, NULL, 0 };

    cuzk_status status = check_outputs(l, &error);
    if (status == CUZK_OK) status = prove(b, &made, l->witness, &error);
    if (status == CUZK_OK) status = save(b, &made, l, &error);
    if (status == CUZK_OK)
        line_proved(b, i, made.prove_ms, clock_ms_since(start));
    else if (!put_back(b, i, &error))
        line_failed(b, i, &error);
    cuzk_publics_close(made.publics);
    cuzk_proof_close(made.proof);
}

/* A thread: lines one after another until none is left, or somebody wants all to stop. */
static void *lane(void *argument)
{
    struct batch *const b = argument;

    for (;;) {
        pthread_mutex_lock(&b->lock);
        const size_t at =
            b->index_next < b->index_count && !is_cancelled(b) ? b->index_next++ : b->index_count;
        pthread_mutex_unlock(&b->lock);
        if (at == b->index_count) return NULL;
        prove_line(b, b->index[at]);
    }
}

/* The calling thread is one too, so that there is one whatever happens. */
static void run_lanes(struct batch *b)
{
    pthread_t thread[2 * CUZK_LANES_MOST];
    unsigned started = 0;

    b->index_next = 0;
    while (started + 1 < b->threads && started + 1 < b->index_count &&
           pthread_create(&thread[started], NULL, lane, b) == 0)
        started++;
    lane(b);
    for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
}

/* The lines of the key of line `first` that nobody has begun. */
static void gather(struct batch *b, size_t first)
{
    b->index_count = 0;
    for (size_t i = first; i < b->list.count; i++) {
        if (b->begun[i] || strcmp(b->list.line[i].key, b->list.line[first].key) != 0) continue;
        b->begun[i] = true;
        b->index[b->index_count++] = i;
    }
}

static cuzk_status open_key(struct batch *b, cuzk_key **out, const char *path, cuzk_error *error)
{
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
    struct task t;

    key_options(&options, b);
    if (cuzk_key_open(out, b->context, path, &options, error) != CUZK_OK) return error->status;
    task_init(&t);
    if (cli_check_encoding(&t, *out, b->options->encoding) != CUZK_OK) {
        cuzk_key_close(*out);
        *out = NULL;
        return cli_error_of(error, &t);
    }
    cli_warn_of_key(*out, path);
    return CUZK_OK;
}

static void all_failed(struct batch *b, const cuzk_error *error)
{
    for (size_t i = 0; i < b->index_count; i++) line_failed(b, b->index[i], error);
}

/* All lines of the key of line `first`. */
static void prove_key(struct batch *b, size_t first)
{
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_key *key = NULL;

    do {
        gather(b, first);
        b->put_back = 0;
        if (open_key(b, &key, b->list.line[first].key, &error) != CUZK_OK) {
            all_failed(b, &error);
            return;
        }
        b->key = key;
        run_lanes(b);
        cuzk_key_close(key);
    } while (b->put_back > 0 && !is_cancelled(b));
}

static void prove_here_all(struct batch *b)
{
    b->threads = b->options->lanes;
    for (size_t i = 0; i < b->list.count && !is_cancelled(b); i++)
        if (!b->begun[i]) prove_key(b, i);
}

/* -- through an engine --------------------------------------------------------------------------------------------------- */

/* Lines whose key cannot be opened fail; the other keys are the engine's. */
static void sort_keys(struct batch *b)
{
    for (size_t i = 0; i < b->list.count; i++) {
        const char *const path = b->list.line[i].key;
        cuzk_error error = CUZK_ERROR_INIT;
        cuzk_key *key = NULL;
        size_t k = 0;
        while (k < b->apart_count && strcmp(b->apart[k].path, path) != 0) k++;
        if (b->begun[i] || k < b->apart_count) continue;
        if (open_key(b, &key, path, &error) == CUZK_OK) {
            b->apart[b->apart_count++].path = path;
        } else {
            gather(b, i);
            all_failed(b, &error);
        }
        cuzk_key_close(key);
    }
}

static size_t first_line(const struct batch *b, const char *path)
{
    size_t i = 0;

    while (strcmp(b->list.line[i].key, path) != 0) i++;
    return i;
}

static void say_left_here(const char *path, const struct task *t)
{
    if (!cli.quiet)
        fprintf(stderr, "cuzk: %s: proved without a process of the device's own: %s\n", path,
                t->error.text);
}

static uint64_t largest_witness(const struct batch *b)
{
    uint64_t most = 0;

    for (size_t i = 0; i < b->index_count; i++) {
        struct stat s;
        if (stat(b->list.line[b->index[i]].witness, &s) == 0 && (uint64_t)s.st_size > most)
            most = (uint64_t)s.st_size;
    }
    return most;
}

/* Whether the lines of `index` are left to this process: nobody asked for another, and that one has not the memory, since it holds keys and
 * witnesses once more.  They are as if nobody had begun them, then. */
static bool is_left_here(struct batch *b, const struct batch_engine_key *key)
{
    struct task t;

    task_init(&t);
    if (b->options->process != BATCH_PROCESS_AUTO ||
        batch_engine_could_prove(b->engine, &t, key, largest_witness(b)) == CUZK_OK)
        return false;
    for (size_t i = 0; i < b->index_count; i++) b->begun[b->index[i]] = false;
    say_left_here(key->path, &t);
    return true;
}

/* A process that was asked for and does not serve the key: its lines fail for the reason that they would fail for here. */
static bool fail_unserved(struct batch *b, const struct batch_engine_key *key)
{
    cuzk_error error = CUZK_ERROR_INIT;
    struct task t;

    task_init(&t);
    const cuzk_status status = batch_engine_could_prove(b->engine, &t, key, 0);
    if (status == CUZK_OK || status == CUZK_TOO_LARGE) return false; /* the latter is each line's own */
    (void)cli_error_of(&error, &t);
    all_failed(b, &error);
    return true;
}

/* What the engine did not take, once its device is free.  If it is not, these lines fail, and what has been proved stands. */
static void prove_left_here(struct batch *b)
{
    cuzk_context *on_device = NULL;
    cuzk_error error = CUZK_ERROR_INIT;

    if (cli_context_try(&on_device, &error) == CUZK_OK) {
        cuzk_context_destroy(b->context);
        b->context = on_device;
        prove_here_all(b);
        return;
    }
    for (size_t i = 0; i < b->list.count; i++) {
        if (b->begun[i]) continue;
        gather(b, i);
        all_failed(b, &error);
    }
}

/* *none: nobody asked for an engine, and there is not the memory for one: all is left to this process. */
static cuzk_status open_engine(struct batch *b, struct task *t, bool *none)
{
    const cuzk_status status = batch_engine_open(&b->engine, t, b->options, b->apart, b->apart_count);

    *none = status == CUZK_TOO_LARGE && b->options->process == BATCH_PROCESS_AUTO;
    if (!*none) return status;
    for (size_t k = 0; k < b->apart_count; k++) say_left_here(b->apart[k].path, t);
    return CUZK_OK;
}

static cuzk_status prove_apart_all(struct batch *b, struct task *t)
{
    bool none, some_left = false;

    b->apart = calloc(b->list.count, sizeof *b->apart);
    if (b->apart == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a list of keys");
    sort_keys(b);
    if (b->apart_count == 0) return CUZK_OK;
    TRY(open_engine(b, t, &none));
    if (none) {
        prove_left_here(b);
        return CUZK_OK;
    }
    b->threads = 2 * b->options->lanes; /* some read and write files while others wait for their proofs */
    for (size_t k = 0; k < b->apart_count && !is_cancelled(b); k++) {
        b->key_apart = &b->apart[k];
        gather(b, first_line(b, b->apart[k].path));
        if (is_left_here(b, b->key_apart)) {
            some_left = true;
            continue;
        }
        if (fail_unserved(b, b->key_apart)) continue;
        b->put_back = 0;
        b->apart_used = true;
        run_lanes(b);
        some_left |= b->put_back > 0; /* the engine keeps to the form that it has measured */
        batch_engine_drop(b->engine, b->key_apart);
    }
    batch_engine_close(b->engine, &b->counts);
    b->engine = NULL;
    if (some_left && !is_cancelled(b)) prove_left_here(b);
    return CUZK_OK;
}

/* By the first key; what is wrong with it is said when its lines come. */
static void choose_device(struct batch *b)
{
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL, *card = NULL;
    cuzk_key *key = NULL;
    int exit_code;

    key_options(&options, b);
    if (b->list.count == 0 || !cli_context_on_cpu(&context, &exit_code)) return;
    if (cuzk_key_open(&key, context, b->list.line[0].key, &options, &error) == CUZK_OK) {
        cli_choose_device(key, b->list.count, b->options->lanes);
        if (cli_on_card() && cli_card_takes(&card, key)) cuzk_context_destroy(card);
    }
    cuzk_key_close(key);
    cuzk_context_destroy(context);
}

/* Whether a process of its own drives the device. */
static bool is_apart(const struct batch_options *o)
{
    return o->process == BATCH_PROCESS_ALWAYS ||
           (o->process == BATCH_PROCESS_AUTO && batch_engine_possible() && cli_on_card());
}

static cuzk_status read_list(struct batch *b, struct task *t)
{
    TRY(batch_list_read(&b->list, t, b->options->list_path, b->options->r1cs_path));
    b->index = calloc(b->list.count, sizeof *b->index);
    b->begun = calloc(b->list.count, sizeof *b->begun);
    b->again = calloc(b->list.count, sizeof *b->again);
    b->took_ms = calloc(b->list.count, sizeof *b->took_ms);
    if (b->index != NULL && b->begun != NULL && b->again != NULL && b->took_ms != NULL) return CUZK_OK;
    return FAIL(t, CUZK_NO_MEMORY, "no memory for a list of %zu lines", b->list.count);
}

int batch_run(const struct batch_options *o)
{
    struct batch b = { .options = o, .watch = cli_watch() };
    struct task t;
    int exit_code = 0;

    task_init(&t);
    pthread_mutex_init(&b.lock, NULL);
    if (read_list(&b, &t) != CUZK_OK) {
        exit_code = cli_fail_task(&t);
        goto out;
    }
    if (cli_read_device(&t) != CUZK_OK) {
        exit_code = cli_fail_task(&t);
        goto out;
    }
    if (cli_may_choose_device()) choose_device(&b);
    b.apart_wanted = is_apart(o);
    cli.lanes = o->lanes;
    if (!(b.apart_wanted ? cli_context_on_cpu(&b.context, &exit_code) : cli_context(&b.context, &exit_code)))
        goto out;
    b.watch.timeout_ms = o->timeout_ms;
    b.watch.progress = NULL; /* one thread may report at a time */
    const uint64_t start = clock_now_ns();
    if (!b.apart_wanted) {
        prove_here_all(&b);
    } else if (prove_apart_all(&b, &t) != CUZK_OK) {
        exit_code = cli_fail_task(&t);
        goto out;
    }
    summary(&b, clock_ms_since(start));
    if (b.failed > 0)
        exit_code = cuzk_status_exit_code(b.first_status);
    else if (b.proved < b.list.count)
        exit_code = cuzk_status_exit_code(CUZK_CANCELLED);
out:
    cuzk_context_destroy(b.context);
    free(b.apart);
    batch_list_free(&b.list);
    free(b.index);
    free(b.begun);
    free(b.again);
    free(b.took_ms);
    pthread_mutex_destroy(&b.lock);
    return exit_code;
}
