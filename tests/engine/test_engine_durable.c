/* Durable jobs through orderly ends: results answered after a restart, a drain that leaves work for later, a disk that is full for a
 * while. */
#include "support/cm.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine_keys.h"
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

static struct test_keys keys;
static char data_folder[PATH_MAX];

static struct engine *open_engine(void)
{
    struct engine_options o = ENGINE_DEFAULTS;
    struct engine *e = NULL;
    struct task t;

    o.circuits = keys.circuit;
    o.circuit_count = KEYS;
    o.threads = 1;
    o.heap_bytes = 512u << 20;
    o.data_folder = data_folder;
    task_init(&t);
    if (engine_open(&e, &t, &o) != CUZK_OK) {
        fprintf(stderr, "%s\n", t.error.text);
        abort();
    }
    return e;
}

static cuzk_status submit(struct engine *e, const char *id, int key, int durable, struct job_answer *out)
{
    struct engine_request r = { .request_id = id, .circuit = keys.key[key].name, .durable = durable };
    struct task t;

    r.payload = test_wtns(&keys.key[key], false, &r.payload_bytes);
    task_init(&t);
    return engine_submit_wait(e, &t, &r, out);
}

static void accepted(struct engine *e, const char *id, int key, int durable, struct job_answer *out)
{
    assert_int_equal(submit(e, id, key, durable, out), CUZK_OK);
    assert_int_equal(out->status, CUZK_OK);
    job_answer_free(out);
}

static void must_be_done(struct engine *e, const char *job_id, int key)
{
    struct job_answer a;

    engine_await_wait(e, job_id, 0, &a);
    test_must_be_right(&keys.key[key], &a);
    job_answer_free(&a);
}

static void results_outlive_the_process(void **state)
{
    struct engine *e = open_engine();
    struct job_answer durable, other, again;
    (void)state;

    accepted(e, "a", 0, 1, &durable);
    accepted(e, "b", 1, 0,
             &other); /* circom jobs are not durable unless asked for: the payload is a witness */
    must_be_done(e, durable.job_id, 0);
    must_be_done(e, other.job_id, 1);
    engine_close(e, 1000);

    e = open_engine();
    must_be_done(e, durable.job_id, 0);
    accepted(e, "a", 0, 1, &again); /* the same request joins the result */
    assert_true(again.joined);
    assert_string_equal(again.job_id, durable.job_id);
    accepted(e, "a", 1, 1, &again); /* the same id with another payload does not */
    assert_false(again.joined);
    must_be_done(e, again.job_id, 1);
    struct job_answer a;
    engine_await_wait(e, other.job_id, 0, &a);
    assert_int_equal(a.status, CUZK_NOT_FOUND);
    job_answer_free(&a);
    engine_close(e, 1000);
}

struct told {
    atomic_uint done, unfinished, other;
};
static void count(void *context, const struct job_answer *a)
{
    struct told *n = context;

    if (a->end == JOB_DONE)
        atomic_fetch_add(&n->done, 1);
    else if (a->end == JOB_UNFINISHED && a->status == CUZK_DEVICE_UNAVAILABLE)
        atomic_fetch_add(&n->unfinished, 1);
    else
        atomic_fetch_add(&n->other, 1);
}

static void a_drain_leaves_work_for_later(void **state)
{
    enum { N = 20 };
    struct engine *e = open_engine();
    char id[N][JOB_ID_BYTES];
    struct told n = { 0, 0, 0 };
    (void)state;

    for (int i = 0; i < N; i++) {
        char request[16];
        struct job_answer a;
        snprintf(request, sizeof request, "drain-%d", i);
        accepted(e, request, 2, 1, &a);
        memcpy(id[i], a.job_id, JOB_ID_BYTES);
        engine_await(e, a.job_id, 0, count, &n);
    }
    engine_close(e, 0);
    assert_int_equal(n.done + n.unfinished, N); /* every waiter is told, once */
    assert_int_equal(n.other, 0);
    assert_true(n.unfinished > 0);
    e = open_engine();
    for (int i = 0; i < N; i++) must_be_done(e, id[i], 2);
    engine_close(e, 1000);
    printf("closed with %u of %d jobs done; the others were done after the restart\n", n.done, N);
}

static void broken(void *context, const struct engine_view *v)
{
    atomic_store((atomic_int *)context, 1 + v->journal_broken);
}

static bool journal_is_broken(struct engine *e)
{
    atomic_int seen = 0;

    engine_look(e, broken, &seen);
    while (atomic_load(&seen) == 0) usleep(1000);
    return atomic_load(&seen) == 2;
}

static void full_disk(void **state)
{
    enum { N = 8 };
    struct engine *e = open_engine();
    char id[N][JOB_ID_BYTES];
    struct rlimit before, none;
    struct job_answer a;
    (void)state;

    for (int i = 0; i < N; i++) {
        accepted(e, "", 2, 1, &a);
        memcpy(id[i], a.job_id, JOB_ID_BYTES);
    }
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 4096; /* no file may grow beyond it: EFBIG */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    for (int i = 0; i < N; i++) must_be_done(e, id[i], 2); /* the old is finished */
    const bool was_broken = journal_is_broken(e);
    bool stayed = true;
    for (int i = 0; i < 50; i++) { /* through a look at the files, which are all there */
        stayed = stayed && journal_is_broken(e);
        usleep(50000);
    }
    const cuzk_status refused = submit(e, "", 2, 1, &a); /* the new is refused */
    accepted(e, "", 0, 0, &a);                           /* unless it needs no disk */
    must_be_done(e, a.job_id, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(was_broken);
    assert_true(stayed);
    assert_int_equal(refused, CUZK_IO);
    for (int i = 0; i < 100 && journal_is_broken(e); i++) usleep(100000);
    assert_false(journal_is_broken(e)); /* the ends were written after all */
    accepted(e, "", 1, 1, &a);
    must_be_done(e, a.job_id, 1);
    engine_close(e, 1000);
    e = open_engine();
    for (int i = 0; i < N; i++) must_be_done(e, id[i], 2);
    engine_close(e, 0);
}

/* Deletes inputs as they come. */
static void *delete_inputs(void *stop)
{
    char payloads[PATH_MAX + 16];

    snprintf(payloads, sizeof payloads, "%s/payloads", data_folder);
    while (!atomic_load((atomic_bool *)stop)) {
        DIR *d = opendir(payloads);
        struct dirent *entry;
        while (d != NULL && (entry = readdir(d)) != NULL)
            if (strlen(entry->d_name) == 64 + JOB_ID_BYTES) /* a digest, a dot, an id: none that is being written */
                (void)!unlinkat(dirfd(d), entry->d_name, 0);
        if (d != NULL) closedir(d);
    }
    return NULL;
}

/* A new job whose input vanishes before it is accepted is refused; the journal is not thought to be broken. */
static void an_input_vanishes(void **state)
{
    struct engine *e = open_engine();
    atomic_bool stop = false;
    unsigned refused = 0, broken = 0;
    pthread_t thread;
    struct job_answer a;
    (void)state;

    assert_int_equal(pthread_create(&thread, NULL, delete_inputs, &stop), 0);
    for (int i = 0; i < 300 && refused < 3; i++) {
        assert_int_equal(submit(e, "", 0, 1, &a), CUZK_OK); /* the input is written */
        if (a.status != CUZK_OK) {
            assert_int_equal(a.status, CUZK_IO);
            refused++;
            broken += journal_is_broken(e);
        } else {
            must_be_done(e, a.job_id, 0);
        }
        job_answer_free(&a);
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    printf("%u jobs refused whose inputs had vanished%s\n", refused, refused == 0 ? ": skipped, the deleting was never in time" : "");
    assert_int_equal(broken, 0);
    engine_close(e, 1000);
}

/* A request that a full queue will refuse does not cost the disk a file (here: there is no folder for it). */
static void a_full_queue_writes_no_payload(void **state)
{
    struct engine_options o = ENGINE_DEFAULTS;
    char payloads[PATH_MAX + 16], away[PATH_MAX + 16];
    struct engine *e = NULL;
    struct job_answer a;
    struct task t;
    (void)state;

    o.circuits = keys.circuit;
    o.circuit_count = KEYS;
    o.threads = 1;
    o.queue_most = 1;
    o.heap_bytes = 512u << 20;
    o.data_folder = data_folder;
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_OK);
    snprintf(payloads, sizeof payloads, "%s/payloads", data_folder);
    snprintf(away, sizeof away, "%s/away", data_folder);
    int full = 0, io = 0;
    for (int i = 0; i < 200 && full == 0; i++) {
        accepted(e, "", 2, 1, &a);
        usleep(1000); /* the engine's thread says that it is full after it has told so */
        assert_int_equal(rename(payloads, away), 0);
        const cuzk_status status = submit(e, "", 2, 1, &a);
        if (status == CUZK_OK) {
            full += a.status == CUZK_QUEUE_FULL;
            job_answer_free(&a);
        } else {
            io += status == CUZK_IO; /* the first job had ended: it would have been taken */
        }
        assert_int_equal(rename(away, payloads), 0);
        do {
            assert_int_equal(submit(e, "", 0, 0, &a), CUZK_OK);
            job_answer_free(&a);
        } while (a.status == CUZK_QUEUE_FULL);
        must_be_done(e, a.job_id, 0);
    }
    printf("a full queue: %d refused without a file, %d tried to write one\n", full, io);
    assert_true(full > 0);
    engine_close(e, 1000);
}

static int open_keys(void **state)
{
    (void)state;
    log_setup(LOG_ERROR, LOG_TEXT);
    test_keys_open(&keys, 200);
    temp_folder_path(data_folder, &keys.proving.folder, "data");
    return 0;
}

static int close_keys(void **state)
{
    (void)state;
    test_keys_close(&keys);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_outlive_the_process),
        cmocka_unit_test(a_drain_leaves_work_for_later),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(an_input_vanishes),
        cmocka_unit_test(a_full_queue_writes_no_payload),
    };
    return cmocka_run_group_tests(tests, open_keys, close_keys);
}
