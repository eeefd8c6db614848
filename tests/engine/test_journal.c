/* The journal on a real disk: what is written is there after a restart, whole transactions only; payload files; a full disk. */
#include "support/cm.h"
#include "engine/journal.h"
#include "engine/payload_file.h"
#include "hash/sha256.h"
#include "support/prng.h"
#include "support/temp_folder.h"
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct temp_folder folder;
static struct prng rng;
static const struct job_kind kind = { .name = "circom" };
static struct circuit circuits[1] = { { .kind = &kind } };
static char circuit_name[] = "multiplier";

static struct journal *open_journal(void)
{
    struct journal *j = NULL;
    struct task t;

    task_init(&t);
    if (journal_open(&j, &t, folder.path) != CUZK_OK) {
        fprintf(stderr, "%s\n", t.error.text);
        fail();
    }
    return j;
}

static struct job *new_job(const char *id, unsigned parts)
{
    struct job *j;
    struct task t;

    task_init(&t);
    assert_int_equal(job_create(&j, &t, &circuits[0], parts, span_of("params", 6)), CUZK_OK);
    snprintf(j->id, sizeof j->id, "%s", id);
    snprintf(j->request_id, sizeof j->request_id, "porep-1000-1");
    j->priority = JOB_HIGH;
    j->durable = true;
    j->accepted_unix_ms = journal_unix_ms();
    j->expire_unix_ms = j->accepted_unix_ms + 100000;
    j->payload_bytes = 1 + prng_below(&rng, 100000);
    j->payload = malloc(j->payload_bytes);
    assert_non_null(j->payload);
    prng_bytes(&rng, j->payload, j->payload_bytes);
    sha256_of(j->payload_digest, j->payload, j->payload_bytes);
    prng_bytes(&rng, j->digest, sizeof j->digest);
    task_init(&t);
    assert_int_equal(payload_file_write(&t, folder.path, j), CUZK_OK);
    return j;
}

static void must(cuzk_status status, const struct task *t)
{
    if (status != CUZK_OK) fprintf(stderr, "%s\n", t->error.text);
    assert_int_equal(status, CUZK_OK);
}

static void output(struct part_output *o, const char *proof, const char *text)
{
    o->proof = (uint8_t *)strdup(proof);
    o->proof_bytes = strlen(proof);
    o->text = text != NULL ? strdup(text) : NULL;
    o->text_bytes = text != NULL ? strlen(text) : 0;
}

static struct job *found[64];
static size_t found_count;

static cuzk_status keep(void *context, struct task *t, struct job *j)
{
    (void)context;
    (void)t;
    found[found_count++] = j;
    return CUZK_OK;
}

static void load(struct journal *j)
{
    struct task t;

    found_count = 0;
    task_init(&t);
    must(journal_load(j, &t, circuits, 1, 1000000000000000u, keep, NULL), &t);
}

static void drop_found(void)
{
    while (found_count > 0) job_destroy(found[--found_count]);
}

static void round_trip(void **state)
{
    struct journal *j = open_journal();
    struct job *a = new_job("aaaa", 3), *b = new_job("bbbb", 1), *c = new_job("cccc", 1);
    struct task t;
    (void)state;

    task_init(&t);
    must(journal_begin(j, &t), &t);
    must(journal_accept(j, &t, a), &t);
    must(journal_accept(j, &t, b), &t);
    must(journal_commit(j, &t), &t);
    must(journal_begin(j, &t), &t);
    must(journal_accept(j, &t, c), &t); /* not committed */
    journal_rollback(j);
    a->parts[1].unrecorded = true;
    output(&a->parts[1].output, "proof of part 1", NULL);
    b->end = JOB_DONE;
    b->end_ns = 5000000;
    b->attempts = 2;
    output(&b->result, "the proof", "{\"proof\":1}");
    must(journal_begin(j, &t), &t);
    must(journal_parts(j, &t, a), &t);
    must(journal_end(j, &t, b), &t);
    must(journal_commit(j, &t), &t);
    journal_close(j);

    j = open_journal();
    load(j);
    assert_int_equal(found_count, 2);
    assert_string_equal(found[0]->id, "aaaa");
    assert_string_equal(found[0]->request_id, "porep-1000-1");
    assert_memory_equal(found[0]->digest, a->digest, sizeof a->digest);
    assert_int_equal(found[0]->priority, JOB_HIGH);
    assert_int_equal(found[0]->parameter_bytes, 6);
    assert_memory_equal(found[0]->parameters, "params", 6);
    assert_int_equal(found[0]->end, JOB_UNFINISHED);
    assert_int_equal(found[0]->parts_done, 1);
    assert_memory_equal(found[0]->parts[1].output.proof, "proof of part 1", 15);
    assert_int_not_equal(found[0]->expire_ns, 0);
    uint8_t *data = NULL;
    must(payload_file_read(&t, &data, folder.path, found[0]), &t);
    assert_memory_equal(data, a->payload, a->payload_bytes);
    free(data);
    assert_int_equal(found[1]->end, JOB_DONE);
    assert_int_equal(found[1]->result.proof_bytes, 9);
    assert_memory_equal(found[1]->result.proof, "the proof", 9);
    assert_memory_equal(found[1]->result.text, "{\"proof\":1}", 11);
    assert_int_equal(found[1]->attempts, 2);
    task_init(&t);
    assert_int_equal(payload_file_read(&t, &data, folder.path, b), CUZK_NOT_FOUND); /* swept: b has ended */

    must(journal_begin(j, &t), &t);
    must(journal_forget(j, &t, a), &t);
    must(journal_forget(j, &t, b), &t);
    must(journal_commit(j, &t), &t);
    drop_found();
    load(j);
    assert_int_equal(found_count, 0);
    journal_close(j);
    job_destroy(a);
    job_destroy(b);
    job_destroy(c);
}

static void files_are_private(void **state)
{
    struct journal *j = open_journal();
    struct job *a = new_job("dddd", 1);
    struct stat st;
    char path[PATH_MAX], hex[65];
    uint8_t *data;
    struct task t;
    (void)state;

    task_init(&t);
    for (int i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", a->payload_digest[i]);
    assert_true(snprintf(path, sizeof path, "%s/payloads/%s.dddd", folder.path, hex) < (int)sizeof path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    temp_folder_path(path, &folder, "payloads");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    temp_folder_path(path, &folder, "journal.sqlite");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(snprintf(path, sizeof path, "%s/payloads/%s.dddd", folder.path, hex) < (int)sizeof path);
    FILE *f = fopen(path, "r+"); /* a changed payload is not used */
    assert_non_null(f);
    fputc(a->payload[0] ^ 1, f);
    fclose(f);
    assert_int_equal(payload_file_read(&t, &data, folder.path, a), CUZK_MALFORMED);
    payload_file_remove(folder.path, a);
    assert_int_equal(access(path, F_OK), -1);
    job_destroy(a);
    journal_close(j);
}

static void edit(const char *sql)
{
    char path[PATH_MAX];
    sqlite3 *db = NULL;

    temp_folder_path(path, &folder, "journal.sqlite");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_changes(db), 1);
    sqlite3_close(db);
}

/* Loads the journal after an edit; one job is in it. */
static struct journal *reopen(const char *sql)
{
    edit(sql);
    struct journal *j = open_journal();
    load(j);
    assert_int_equal(found_count, 1);
    return j;
}

/* What is not as it was written does not leave as a proof: a part is proved again, a result has failed. */
static void altered_outputs(void **state)
{
    static const char *const parts[] = { "UPDATE parts SET proof = x'0011' WHERE id = '7777'",
                                         "UPDATE parts SET part = 0 WHERE id = '7777'",
                                         "UPDATE parts SET text = x'31' WHERE id = '7777'",
                                         "UPDATE parts SET seal = x'00' WHERE id = '7777'",
                                         "UPDATE parts SET seal = zeroblob(32) WHERE id = '7777'" };
    static const char *const results[] = { "UPDATE jobs SET proof = x''", "UPDATE jobs SET proof = NULL",
                                           "UPDATE jobs SET text = x'31'", "UPDATE jobs SET seal = NULL" };
    struct task t;
    (void)state;

    task_init(&t);
    for (size_t i = 0; i < ARRAY_COUNT(parts) + ARRAY_COUNT(results); i++) {
        const bool of_part = i < ARRAY_COUNT(parts);
        struct journal *j = open_journal();
        struct job *a = new_job("7777", 3);
        must(journal_begin(j, &t), &t);
        must(journal_accept(j, &t, a), &t);
        if (of_part) {
            a->parts[1].unrecorded = true;
            output(&a->parts[1].output, "proof of part 1", "text");
            must(journal_parts(j, &t, a), &t);
        } else {
            a->end = JOB_DONE;
            a->end_ns = 5000000;
            output(&a->result, "the proof", "text");
            must(journal_end(j, &t, a), &t);
        }
        must(journal_commit(j, &t), &t);
        journal_close(j);
        j = reopen(of_part ? parts[i] : results[i - ARRAY_COUNT(parts)]);
        if (of_part) {
            assert_int_equal(found[0]->end, JOB_UNFINISHED);
            assert_int_equal(found[0]->parts_done, 0);
        } else {
            assert_int_equal(found[0]->end, JOB_FAILED);
            assert_int_equal(found[0]->status, CUZK_MALFORMED);
            assert_null(found[0]->result.proof);
            assert_non_null(strstr(found[0]->error_text, "damaged"));
        }
        a->end = JOB_CANCELLED; /* its parts go with its end */
        must(journal_begin(j, &t), &t);
        must(journal_end(j, &t, a), &t);
        must(journal_forget(j, &t, a), &t);
        must(journal_commit(j, &t), &t);
        drop_found();
        journal_close(j);
        job_destroy(a);
    }
}

/* Values that no journal of ours has are refused, with what they are. */
static void impossible_values(void **state)
{
    static const char *const edits[] = { "UPDATE jobs SET end = 9", "UPDATE jobs SET end = -1",
                                         "UPDATE jobs SET part_count = 0",
                                         "UPDATE jobs SET payload_bytes = -5" };
    struct task t;
    (void)state;

    for (size_t i = 0; i < ARRAY_COUNT(edits); i++) {
        struct journal *j = open_journal();
        struct job *a = new_job("8888", 1);
        task_init(&t);
        must(journal_begin(j, &t), &t);
        must(journal_accept(j, &t, a), &t);
        must(journal_commit(j, &t), &t);
        journal_close(j);
        edit(edits[i]);
        j = open_journal();
        found_count = 0;
        assert_int_equal(journal_load(j, &t, circuits, 1, 1000000000000000u, keep, NULL), CUZK_MALFORMED);
        assert_non_null(strstr(t.error.text, "the journal"));
        task_init(&t);
        must(journal_begin(j, &t), &t);
        must(journal_forget(j, &t, a), &t);
        must(journal_commit(j, &t), &t);
        journal_close(j);
        job_destroy(a);
    }
}

/* Another process cannot have it at the same time. */
static void one_process_at_a_time(void **state)
{
    struct journal *j = open_journal();
    int status;
    (void)state;

    const pid_t child = fork();
    if (child == 0) {
        struct journal *second = NULL;
        struct task t;
        task_init(&t);
        char holder[64];
        snprintf(holder, sizeof holder, "another process (%ld) has", (long)getppid());
        const bool refused =
            journal_open(&second, &t, folder.path) == CUZK_IO && strstr(t.error.text, holder) != NULL;
        _exit(refused && strstr(t.error.advice, "[jobs] data") != NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    journal_close(j);
}

/* No byte can be written: CUZK_IO, and the journal works again afterwards, without the lost transaction. */
static void full_disk(void **state)
{
    struct journal *j = open_journal();
    struct job *a = new_job("eeee", 1), *b = new_job("ffff", 1);
    struct rlimit before, none;
    struct task t;
    (void)state;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 1; /* write(2) beyond it: EFBIG, as ENOSPC for SQLite */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    task_init(&t);
    cuzk_status status = journal_begin(j, &t);
    if (status == CUZK_OK) status = journal_accept(j, &t, a);
    if (status == CUZK_OK) status = journal_commit(j, &t);
    journal_rollback(j);
    const cuzk_status tried = journal_try(j, &t);
    const int restored = setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(restored, 0);
    assert_int_equal(status, CUZK_IO);
    assert_int_equal(tried, CUZK_IO);
    task_init(&t);
    must(journal_try(j, &t), &t);
    must(journal_begin(j, &t), &t);
    must(journal_accept(j, &t, b), &t);
    must(journal_commit(j, &t), &t);
    load(j);
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0]->id, "ffff");
    must(journal_begin(j, &t), &t);
    must(journal_forget(j, &t, b), &t);
    must(journal_commit(j, &t), &t);
    drop_found();
    journal_close(j);
    job_destroy(a);
    job_destroy(b);
}

/* -- files that are not what they were ----------------------------------------------------------------------------------- */

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static cuzk_status accept_one(struct journal *j, struct task *t, const char *id)
{
    struct job *a = new_job(id, 1);
    cuzk_status status = journal_begin(j, t);

    if (status == CUZK_OK) status = journal_accept(j, t, a);
    if (status == CUZK_OK) status = journal_commit(j, t);
    if (status != CUZK_OK) journal_rollback(j);
    job_destroy(a);
    return status;
}

/* A file or folder that is moved away, replaced, or cut: nothing is accepted, until it is there again. */
static void files_that_go(void **state)
{
    static const char *const names[] = { "journal.sqlite", "journal.sqlite-wal", "payloads", "" };
    struct journal *j = open_journal();
    (void)state;

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        char path[PATH_MAX], away[PATH_MAX + 8], id[8];
        struct task t;
        snprintf(id, sizeof id, "g%zu", i);
        task_init(&t);
        must(accept_one(j, &t, id), &t);
        if (names[i][0] != '\0')
            temp_folder_path(path, &folder, names[i]);
        else
            snprintf(path, sizeof path, "%s", folder.path);
        snprintf(away, sizeof away, "%s.away", path);
        assert_int_equal(rename(path, away), 0);
        assert_int_equal(journal_check(j, &t), CUZK_IO);
        assert_non_null(strstr(t.error.text, "deleted or moved away"));
        assert_string_equal(t.error.path, path);
        assert_true(t.error.advice[0] != '\0');
        task_init(&t);
        assert_int_equal(journal_begin(j, &t), CUZK_IO);
        if (i < 2) { /* another file in its place */
            write_text(path, "not this one");
            task_init(&t);
            assert_int_equal(journal_check(j, &t), CUZK_IO);
            assert_non_null(strstr(t.error.text, "replaced"));
            assert_int_equal(unlink(path), 0);
        }
        assert_int_equal(rename(away, path), 0);
        task_init(&t);
        must(journal_check(j, &t), &t);
        snprintf(id, sizeof id, "h%zu", i);
        must(accept_one(j, &t, id), &t);
    }
    load(j);
    assert_int_equal(found_count, 2 * ARRAY_COUNT(names));
    drop_found();
    journal_close(j);
}

/* Gone between the record and its commit: that is not called written. */
static void gone_before_commit(void **state)
{
    struct journal *j = open_journal();
    struct job *a = new_job("c1", 1);
    char path[PATH_MAX], away[PATH_MAX + 8];
    struct task t;
    (void)state;

    temp_folder_path(path, &folder, "journal.sqlite-wal");
    snprintf(away, sizeof away, "%s.away", path);
    task_init(&t);
    must(journal_begin(j, &t), &t);
    must(journal_accept(j, &t, a), &t);
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(journal_commit(j, &t), CUZK_IO);
    assert_int_equal(rename(away, path), 0);
    assert_int_equal(truncate(path, 0), 0);
    task_init(&t);
    assert_int_equal(journal_check(j, &t), CUZK_IO);
    assert_non_null(strstr(t.error.text, "cut short"));
    journal_close(j);
    job_destroy(a);
}

/* Gone when it was committed, and back later: what was refused is not there at the next start, however the journal goes on. */
static void refused_stays_refused(void **state)
{
    enum { NEXT_JOB, NEXT_TRY, NEXT_CLOSE, WAYS };
    char path[PATH_MAX], away[PATH_MAX + 8];
    (void)state;

    temp_folder_path(path, &folder, "payloads");
    snprintf(away, sizeof away, "%s.away", path);
    for (int way = 0; way < WAYS; way++) {
        struct journal *j = open_journal();
        struct job *a = new_job("r0", 1), *b = new_job("r1", 1), *kept = new_job("r2", 1);
        struct task t;
        task_init(&t);
        must(journal_begin(j, &t), &t);
        must(journal_accept(j, &t, kept), &t);
        must(journal_commit(j, &t), &t);
        must(journal_begin(j, &t), &t);
        must(journal_accept(j, &t, a), &t);
        must(journal_accept(j, &t, b), &t);
        assert_int_equal(rename(path, away), 0);
        assert_int_equal(journal_commit(j, &t), CUZK_IO);
        journal_rollback(j);
        task_init(&t);
        assert_int_equal(journal_try(j, &t), CUZK_IO);
        assert_int_equal(rename(away, path), 0);
        task_init(&t);
        if (way == NEXT_JOB) must(accept_one(j, &t, "r3"), &t);
        if (way == NEXT_TRY) must(journal_try(j, &t), &t);
        journal_close(j);
        j = open_journal();
        load(j);
        assert_int_equal(found_count, way == NEXT_JOB ? 2 : 1);
        assert_string_equal(found[0]->id, "r2");
        assert_int_equal(payload_file_check(&t, folder.path, a), CUZK_IO); /* swept */
        must(payload_file_check(&t, folder.path, kept), &t);
        must(journal_begin(j, &t), &t);
        for (size_t i = 0; i < found_count; i++) must(journal_forget(j, &t, found[i]), &t);
        must(journal_commit(j, &t), &t);
        drop_found();
        journal_close(j);
        job_destroy(a);
        job_destroy(b);
        job_destroy(kept);
    }
}

/* An input that has gone is named. */
static void input_is_gone(void **state)
{
    struct journal *j = open_journal(); /* its folder */
    struct job *a = new_job("c2", 1);
    struct task t;
    (void)state;

    task_init(&t);
    must(payload_file_check(&t, folder.path, a), &t);
    payload_file_remove(folder.path, a);
    assert_int_equal(payload_file_check(&t, folder.path, a), CUZK_IO);
    assert_non_null(strstr(t.error.text, "no longer on the disk"));
    assert_non_null(strstr(t.error.path, "c2"));
    journal_close(j);
    job_destroy(a);
}

/* What is no journal of ours says what it is and what to do. */
static void not_our_journal(void **state)
{
    static const struct {
        const char *sql; /* NULL: garbage */
        cuzk_status status;
        const char *text, *advice;
    } cases[] = {
        { NULL, CUZK_MALFORMED, "not a database", "move journal.sqlite* away" },
        { "PRAGMA user_version = 99", CUZK_UNSUPPORTED,
          "version 99, of a newer cuzkd; this one knows version 2", "newer one" },
        { "PRAGMA user_version = 1", CUZK_UNSUPPORTED, "version 1, of an older cuzkd", "finish its jobs" },
        { "CREATE TABLE songs (name TEXT)", CUZK_MALFORMED, "of something else", "[jobs] data" },
        { "CREATE TABLE jobs (name TEXT); PRAGMA user_version = 2", CUZK_MALFORMED, "tables are not those",
          "put a copy" },
    };
    (void)state;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct temp_folder other;
        struct journal *j = NULL;
        char path[PATH_MAX];
        struct task t;
        temp_folder_create(&other);
        temp_folder_path(path, &other, "journal.sqlite");
        if (cases[i].sql == NULL) {
            write_text(path, "this is no database, whatever its name says, and longer than a head of a "
                             "hundred bytes is, so that "
                             "SQLite looks at it");
        } else {
            sqlite3 *db = NULL;
            assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
            assert_int_equal(sqlite3_exec(db, cases[i].sql, NULL, NULL, NULL), SQLITE_OK);
            sqlite3_close(db);
        }
        task_init(&t);
        assert_int_equal(journal_open(&j, &t, other.path), cases[i].status);
        if (strstr(t.error.text, cases[i].text) == NULL || strstr(t.error.advice, cases[i].advice) == NULL)
            fail_msg("%s; %s", t.error.text, t.error.advice);
        assert_non_null(strstr(t.error.path, other.path));
        temp_folder_remove(&other);
    }
}

static void circuit_is_gone(void **state)
{
    struct journal *j = open_journal();
    struct job *a = new_job("9999", 1);
    struct task t;
    (void)state;

    task_init(&t);
    must(journal_begin(j, &t), &t);
    must(journal_accept(j, &t, a), &t);
    must(journal_commit(j, &t), &t);
    circuits[0].name = (char[]){ "other" };
    load(j);
    circuits[0].name = circuit_name;
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0]->end, JOB_FAILED);
    assert_int_equal(found[0]->status, CUZK_NOT_FOUND);
    assert_non_null(strstr(found[0]->error_text, "multiplier"));
    drop_found();
    must(journal_begin(j, &t), &t);
    must(journal_forget(j, &t, a), &t);
    must(journal_commit(j, &t), &t);
    journal_close(j);
    job_destroy(a);
}

/* A new journal beside the inputs of another one's jobs: they are set aside, not removed. */
static void inputs_of_another_journal(void **state)
{
    char path[PATH_MAX], aside[PATH_MAX];
    struct journal *j = open_journal();
    struct job *a = new_job("aaaa", 1);
    uint8_t *data = NULL;
    struct task t;
    (void)state;

    task_init(&t);
    must(journal_begin(j, &t), &t);
    must(journal_accept(j, &t, a), &t);
    must(journal_commit(j, &t), &t);
    journal_close(j);
    static const char *const files[] = { "journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm" };
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        temp_folder_path(path, &folder, files[i]);
        unlink(path);
    }
    j = open_journal();
    load(j);
    assert_int_equal(found_count, 0);
    assert_int_equal(payload_file_read(&t, &data, folder.path, a), CUZK_NOT_FOUND);
    journal_close(j);
    temp_folder_path(path, &folder, "payloads");
    temp_folder_path(aside, &folder, "payloads.unknown");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rename(aside, path), 0);
    must(payload_file_read(&t, &data, folder.path, a), &t);
    assert_memory_equal(data, a->payload, a->payload_bytes);
    free(data);
    job_destroy(a);
}

static int begin(void **state)
{
    (void)state;
    prng_init(&rng);
    return 0;
}

static int open_folder(void **state)
{
    (void)state;
    temp_folder_create(&folder);
    circuits[0].name = circuit_name;
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    temp_folder_remove(&folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(round_trip, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(files_are_private, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(altered_outputs, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(impossible_values, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(one_process_at_a_time, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(full_disk, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(files_that_go, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(gone_before_commit, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(refused_stays_refused, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(input_is_gone, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(not_our_journal, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(circuit_is_gone, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(inputs_of_another_journal, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
