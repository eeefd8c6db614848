/* kill -9 at random moments of a run of durable jobs in a child process, again and again: in the end every result is there, once, and
 * verifies.
 *
 *     test_engine_kill [JOBS [KILLS]]     (100, 20)
 *
 * The child appends the id of each accepted job to a file and syncs it, after the engine has said "accepted". */
#include "support/cm.h"
#include "base/log.h"
#include "engine_keys.h"
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

static struct test_keys keys;
static unsigned jobs = 100, kills = 20;
static char data_folder[PATH_MAX], accepted_path[PATH_MAX];

static struct engine *open_engine(void)
{
    struct engine_options o = ENGINE_DEFAULTS;
    struct engine *e = NULL;
    struct task t;

    o.circuits = keys.circuit;
    o.circuit_count = KEYS;
    o.lane_count = 2;
    o.threads = 2;
    o.heap_bytes = 512u << 20;
    o.data_folder = data_folder;
    task_init(&t);
    if (engine_open(&e, &t, &o) == CUZK_OK) return e;
    fprintf(stderr, "%s\n", t.error.text);
    abort();
}

static struct engine_request request_of(unsigned i, char id[32])
{
    struct engine_request r = { .circuit = keys.key[i % KEYS].name, .durable = 1 };

    snprintf(id, 32, "job-%u", i);
    r.request_id = id;
    r.payload = test_wtns(&keys.key[i % KEYS], false, &r.payload_bytes);
    return r;
}

/* Hands in every job (again: those that are known are joined), and waits for all. */
static void child_main(void)
{
    struct engine *e = open_engine();
    const int fd = open(accepted_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    char(*id)[JOB_ID_BYTES] = calloc(jobs, sizeof *id);

    if (fd < 0 || id == NULL) abort();
    for (unsigned i = 0; i < jobs; i++) {
        char name[32], line[64];
        struct engine_request r = request_of(i, name);
        struct job_answer a;
        struct task t;
        task_init(&t);
        if (engine_submit_wait(e, &t, &r, &a) != CUZK_OK || a.status != CUZK_OK) {
            fprintf(stderr, "%s %s\n", t.error.text, a.error_text);
            abort();
        }
        const int length = snprintf(line, sizeof line, "%u %s\n", i, a.job_id);
        if (write(fd, line, (size_t)length) != length || fsync(fd) != 0) abort();
        memcpy(id[i], a.job_id, JOB_ID_BYTES);
        job_answer_free(&a);
    }
    for (unsigned i = 0; i < jobs; i++) {
        struct job_answer a;
        engine_await_wait(e, id[i], 0, &a);
        job_answer_free(&a);
    }
    _exit(0); /* as abruptly as a kill */
}

/* Starts a child; kills it after ms (0: lets it finish).  Whether it finished. */
static bool child_run(unsigned ms)
{
    int status;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) child_main();
    if (ms > 0) {
        usleep(ms * 1000);
        kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) {
        assert_int_equal(WEXITSTATUS(status), 0);
        return true;
    }
    assert_int_equal(WTERMSIG(status), SIGKILL);
    return false;
}

static unsigned rows(void)
{
    char path[PATH_MAX + 32];
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    unsigned count = 0;

    snprintf(path, sizeof path, "%s/journal.sqlite", data_folder);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(s, 0), "ok");
    sqlite3_finalize(s);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM jobs", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    count = (unsigned)sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return count;
}

static unsigned files_left(void)
{
    char command[PATH_MAX + 64];
    unsigned count = 99;

    snprintf(command, sizeof command, "ls '%s/payloads' | wc -l", data_folder);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    assert_int_equal(fscanf(p, "%u", &count), 1);
    pclose(p);
    return count;
}

static void nothing_is_lost(void **state)
{
    unsigned killed = 0, lines = 0;
    (void)state;

    for (unsigned i = 0; i < kills; i++)
        killed += !child_run(5 + (unsigned)prng_below(&keys.proving.random, 400));
    assert_true(child_run(0));
    /* every id that was ever called accepted has its result, and it is the right one */
    struct engine *e = open_engine();
    FILE *f = fopen(accepted_path, "r");
    assert_non_null(f);
    char id[64];
    unsigned number;
    char(*known)[JOB_ID_BYTES] = calloc(jobs, sizeof *known);
    assert_non_null(known);
    while (fscanf(f, "%u %63s", &number, id) == 2) {
        struct job_answer a;
        lines++;
        assert_true(number < jobs);
        if (known[number][0] != '\0')
            assert_string_equal(known[number], id); /* one job for one request, through all restarts */
        snprintf(known[number], JOB_ID_BYTES, "%.32s", id);
        engine_await_wait(e, id, 1, &a);
        test_must_be_right(&keys.key[number % KEYS], &a);
        job_answer_free(&a);
    }
    fclose(f);
    engine_close(e, 0);
    for (unsigned i = 0; i < jobs; i++) assert_int_equal(strlen(known[i]), 32);
    free(known);
    assert_int_equal(rows(), jobs);
    assert_int_equal(files_left(), 0);
    printf("%u of %u starts killed; %u jobs accepted %u times; %u results, each once, each verified\n",
           killed, kills, jobs, lines, jobs);
}

static int open_keys(void **state)
{
    (void)state;
    log_setup(LOG_ERROR, LOG_TEXT);
    test_keys_open(&keys, 400);
    temp_folder_path(data_folder, &keys.proving.folder, "data");
    temp_folder_path(accepted_path, &keys.proving.folder, "accepted");
    /* the children must not inherit threads: the pool that made the keys goes */
    pool_destroy(keys.proving.pool);
    keys.proving.pool = NULL;
    return 0;
}

static int close_keys(void **state)
{
    (void)state;
    test_keys_close(&keys);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_is_lost) };

    if (argc > 1) jobs = (unsigned)strtoul(argv[1], NULL, 0);
    if (argc > 2) kills = (unsigned)strtoul(argv[2], NULL, 0);
    return cmocka_run_group_tests(tests, open_keys, close_keys);
}
