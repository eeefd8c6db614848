/* cuzk prove --batch: many proofs from a list, several of them under way at once.
 *
 * Lines of one key are proved together, by as many threads as there are lanes; keys come one after another, in the order of their
 * first lines, so that one key at a time takes memory. */
#include "cli/batch.h"
#include "base/clock.h"
#include "base/mapfile.h"
#include "cli/batch_list.h"
#include "cli/cli.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct batch {
    const struct batch_options *options;
    struct batch_list list;
    cuzk_context *context;
    cuzk_watch watch;
    const cuzk_key *key; /* of the lines that are being proved */
    size_t *index;       /* of these lines, */
    size_t index_count, index_next;
    bool *begun;          /* of each line of the list */
    pthread_mutex_t lock; /* of index_next, and of all below and what is printed */
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

static void line_proved(struct batch *b, size_t i, const cuzk_proof *proof, double ms)
{
    const struct batch_line *const l = &b->list.line[i];
    cuzk_timings tm = CUZK_TIMINGS_INIT;

    cuzk_proof_timings(proof, &tm);
    pthread_mutex_lock(&b->lock);
    b->took_ms[b->proved++] = ms;
    if (cli.json)
        cli_print_json(json_pack("{s:i, s:s, s:o, s:o, s:b, s:f, s:f}", "line", (int)l->number, "status",
                                 "OK", "proof", cli_json_text(l->proof), "public",
                                 l->publics != NULL ? cli_json_text(l->publics) : json_null(), "verified", 1,
                                 "prove_ms", tm.total_ms, "ms", ms));
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
        cli_print_json(json_pack("{s:s, s:I, s:I, s:I, s:i, s:f, s:f, s:f}", "status",
                                 cuzk_status_name(b->failed > 0 ? b->first_status
                                                  : left > 0    ? CUZK_CANCELLED
                                                                : CUZK_OK),
                                 "proved", (json_int_t)b->proved, "failed", (json_int_t)b->failed, "left",
                                 (json_int_t)left, "lanes", (int)b->options->lanes, "ms", ms,
                                 "proofs_per_second", per_second, "median_ms", median));
    else if (!cli.quiet)
        printf("%zu of %zu proofs made and verified in %.1f ms over %u lanes: %.2f a second, median %.1f ms; "
               "%zu failed, "
               "%zu not begun\n",
               b->proved, b->list.count, ms, b->options->lanes, per_second, median, b->failed, left);
}

/* -- lines ------------------------------------------------------------------------------------------------------------- */

static cuzk_status check_outputs(const struct batch_line *l, cuzk_error *error)
{
    const char *const outputs[] = { l->proof, l->publics };
    struct task t;

    task_init(&t);
    for (size_t i = 0; i < ARRAY_COUNT(outputs); i++) {
        if (outputs[i] == NULL || mapfile_check_writable(&t, outputs[i]) == CUZK_OK) continue;
        error->status = t.error.status;
        snprintf(error->text, sizeof error->text, "%s", t.error.text);
        snprintf(error->advice, sizeof error->advice, "%s", t.error.advice);
        snprintf(error->path, sizeof error->path, "%s", t.error.path);
        return error->status;
    }
    return CUZK_OK;
}

static void prove_line(struct batch *b, size_t i)
{
    const struct batch_line *const l = &b->list.line[i];
    const uint64_t start = clock_now_ns();
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_witness *witness = NULL;
    cuzk_publics *publics = NULL;
    cuzk_proof *proof = NULL;

    cuzk_status status = check_outputs(l, &error);
    if (status == CUZK_OK) status = cuzk_witness_open(&witness, l->witness, &error);
    if (status == CUZK_OK)
        status = cuzk_prove(&proof, &publics, b->context, b->key, witness, &b->watch, &error);
    /* The proof goes last: where it stands, its public inputs stand too. */
    if (status == CUZK_OK && l->publics != NULL) status = cuzk_publics_save(publics, l->publics, &error);
    if (status == CUZK_OK) status = cuzk_proof_save(proof, l->proof, b->options->encoding, &error);
    if (status == CUZK_OK)
        line_proved(b, i, proof, clock_ms_since(start));
    else
        line_failed(b, i, &error);
    cuzk_publics_close(publics);
    cuzk_proof_close(proof);
    cuzk_witness_close(witness);
}

/* A lane: lines one after another until none is left, or somebody wants all to stop. */
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

/* The calling thread is a lane too, so that there is one whatever happens. */
static void run_lanes(struct batch *b)
{
    pthread_t thread[CUZK_LANES_MOST];
    unsigned started = 0;

    b->index_next = 0;
    while (started + 1 < b->options->lanes && started + 1 < b->index_count &&
           pthread_create(&thread[started], NULL, lane, b) == 0)
        started++;
    lane(b);
    for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
}

static void warn_of_key(const cuzk_key *key, const char *path)
{
    cuzk_key_info info = CUZK_KEY_INFO_INIT;

    cuzk_key_describe(key, &info);
    if (!info.checked)
        cli_warn("the points of %s have not been checked; run 'cuzk check %s' once (it is remembered)", path,
                 path);
    if (info.derived_refused != NULL)
        cli_warn("the derived key beside %s is not used: %s", path, info.derived_refused);
}

/* All lines of the key of line `first`. */
static void prove_key(struct batch *b, size_t first)
{
    const char *const path = b->list.line[first].key;
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_key *key = NULL;

    b->index_count = 0;
    for (size_t i = first; i < b->list.count; i++) {
        if (b->begun[i] || strcmp(b->list.line[i].key, path) != 0) continue;
        b->begun[i] = true;
        b->index[b->index_count++] = i;
    }
    options.r1cs_path = b->options->r1cs_path;
    options.mode = b->options->key_mode;
    if (cuzk_key_open(&key, b->context, path, &options, &error) != CUZK_OK) {
        for (size_t i = 0; i < b->index_count; i++) line_failed(b, b->index[i], &error);
        return;
    }
    warn_of_key(key, path);
    b->key = key;
    run_lanes(b);
    cuzk_key_close(key);
}

static cuzk_status read_list(struct batch *b, struct task *t)
{
    TRY(batch_list_read(&b->list, t, b->options->list_path));
    b->index = calloc(b->list.count, sizeof *b->index);
    b->begun = calloc(b->list.count, sizeof *b->begun);
    b->took_ms = calloc(b->list.count, sizeof *b->took_ms);
    if (b->index != NULL && b->begun != NULL && b->took_ms != NULL) return CUZK_OK;
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
    cli.lanes = o->lanes;
    if (!cli_context(&b.context, &exit_code)) goto out;
    b.watch.timeout_ms = o->timeout_ms;
    b.watch.progress = NULL; /* one thread may report at a time */
    const uint64_t start = clock_now_ns();
    for (size_t i = 0; i < b.list.count && !is_cancelled(&b); i++)
        if (!b.begun[i]) prove_key(&b, i);
    summary(&b, clock_ms_since(start));
    if (b.failed > 0)
        exit_code = cuzk_status_exit_code(b.first_status);
    else if (b.proved < b.list.count)
        exit_code = cuzk_status_exit_code(CUZK_CANCELLED);
out:
    cuzk_context_destroy(b.context);
    batch_list_free(&b.list);
    free(b.index);
    free(b.begun);
    free(b.took_ms);
    pthread_mutex_destroy(&b.lock);
    return exit_code;
}
