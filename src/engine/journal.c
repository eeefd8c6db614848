/* The journal's SQL. */
#include "engine/journal.h"
#include "base/log.h"
#include "engine/journal_watch.h"
#include "engine/payload_file.h"
#include "hash/sha256.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JOURNAL_VERSION 2
#define RESULT_PART     UINT32_MAX /* in a seal: the whole job's output */

enum statement {
    S_BEGIN,
    S_COMMIT,
    S_ACCEPT,
    S_PART,
    S_END,
    S_FORGET,
    S_FORGET_PARTS,
    S_LOAD,
    S_LOAD_PARTS,
    S_PENDING,
    S_TRY,
    S_TRIED,
    S_COUNT
};

static const char *const sql[S_COUNT] = {
    [S_BEGIN] = "BEGIN IMMEDIATE",
    [S_COMMIT] = "COMMIT",
    [S_ACCEPT] = "INSERT INTO jobs (id, request_id, digest, payload_digest, payload_bytes, kind, circuit, "
                 "parameters, priority, part_count,"
                 " accepted_ms, deadline_ms, expire_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
                 "?11, ?12, ?13)",
    [S_PART] = "INSERT OR REPLACE INTO parts (id, part, proof, text, seal) VALUES (?1, ?2, ?3, ?4, ?5)",
    [S_END] = "UPDATE jobs SET end = ?2, status = ?3, error_text = ?4, proof = ?5, text = ?6, ended_ms = ?7, "
              "attempts = ?8, queue_ms = ?9,"
              " key_ms = ?10, synthesis_ms = ?11, prove_ms = ?12, total_ms = ?13, seal = ?14 WHERE id = ?1",
    [S_FORGET] = "DELETE FROM jobs WHERE id = ?1",
    [S_FORGET_PARTS] = "DELETE FROM parts WHERE id = ?1",
    [S_LOAD] = "SELECT id, request_id, digest, payload_digest, payload_bytes, kind, circuit, parameters, "
               "priority, part_count, accepted_ms,"
               " deadline_ms, expire_ms, end, status, error_text, proof, text, ended_ms, attempts, queue_ms, "
               "key_ms, synthesis_ms,"
               " prove_ms, total_ms, seal FROM jobs ORDER BY rowid",
    [S_LOAD_PARTS] = "SELECT part, proof, text, seal FROM parts WHERE id = ?1",
    [S_PENDING] = "SELECT 1 FROM jobs WHERE id = ?1 AND end = 0",
    [S_TRY] = "INSERT OR REPLACE INTO parts (id, part, proof, seal) VALUES ('', 0, zeroblob(1024), x'')",
    [S_TRIED] = "DELETE FROM parts WHERE id = ''",
};

static const char schema[] = "CREATE TABLE IF NOT EXISTS jobs ("
                             " id TEXT NOT NULL UNIQUE, request_id TEXT NOT NULL, digest BLOB NOT NULL, "
                             "payload_digest BLOB NOT NULL, payload_bytes INTEGER NOT NULL,"
                             " kind TEXT NOT NULL, circuit TEXT NOT NULL, parameters BLOB NOT NULL, priority "
                             "INTEGER NOT NULL, part_count INTEGER NOT NULL,"
                             " accepted_ms INTEGER NOT NULL, deadline_ms INTEGER NOT NULL, expire_ms INTEGER "
                             "NOT NULL,"                        /* Unix time; 0: none */
                             " end INTEGER NOT NULL DEFAULT 0," /* enum job_end */
                             " status INTEGER NOT NULL DEFAULT 0, error_text TEXT NOT NULL DEFAULT '', proof "
                             "BLOB, text BLOB,"
                             " ended_ms INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, "
                             "queue_ms REAL NOT NULL DEFAULT 0,"
                             " key_ms REAL NOT NULL DEFAULT 0, synthesis_ms REAL NOT NULL DEFAULT 0, "
                             "prove_ms REAL NOT NULL DEFAULT 0,"
                             " total_ms REAL NOT NULL DEFAULT 0, seal BLOB) STRICT;"
                             "CREATE TABLE IF NOT EXISTS parts (id TEXT NOT NULL, part INTEGER NOT NULL, "
                             "proof BLOB NOT NULL, text BLOB, seal BLOB NOT NULL, PRIMARY KEY (id, part))"
                             " STRICT;";

struct journal {
    sqlite3 *db;
    sqlite3_stmt *statement[S_COUNT];
    bool open_transaction;
    struct journal_watch watch;
    /* Jobs that the open transaction accepts, behind those of transactions that were committed to files that had gone by then: what was
     * refused must not be there at the next start. */
    char (*accepted)[JOB_ID_BYTES];
    size_t refused, accepted_count, accepted_room;
    char folder[PATH_MAX];
};

uint64_t journal_unix_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

const char *journal_folder(const struct journal *j) { return j->folder; }

/* What to do about SQLite's error. */
static const char *advice_for(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        return "make room on the disk: new durable jobs are taken again as soon as the journal can be "
               "written";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return "the file is damaged, or is not cuzkd's: put a copy of the folder back, or move "
               "journal.sqlite* away and start again "
               "with a new journal; jobs and results that only the old one has must be sent again, their inputs are kept in payloads.unknown";
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
        return "let cuzkd's user write to the folder and all that is in it, or name another folder with "
               "[jobs] data";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "one process has a data folder: end the other, or name another folder with [jobs] data or "
               "--data";
    default:
        return "look at the disk and at the system's log";
    }
}

static cuzk_status fail(struct journal *j, struct task *t, const char *what)
{
    const int code = sqlite3_errcode(j->db), kind = code & 0xff;
    const bool damaged = kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT;
    const cuzk_status status =
        FAIL(t, damaged ? CUZK_MALFORMED : CUZK_IO, "the journal: %s: %s", what, sqlite3_errmsg(j->db));

    task_fail_place(t, j->folder, ERROR_NO_OFFSET, NULL, advice_for(code));
    return status;
}

/* -- opening ------------------------------------------------------------------------------------------------------------ */

static cuzk_status make_folder(struct task *t, const char *path)
{
    struct stat st;

    if (mkdir(path, 0700) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return CUZK_OK;
    const int why = errno;
    FAIL(t, CUZK_IO, "the folder cannot be made: %s", strerror(why));
    task_fail_place(t, path, ERROR_NO_OFFSET, NULL, advice_for(SQLITE_CANTOPEN));
    task_fail_errno(t, why);
    return CUZK_IO;
}

static void path_in(char out[PATH_MAX + 32], const struct journal *j, const char *name)
{
    snprintf(out, PATH_MAX + 32, "%s/%s", j->folder, name);
}

/* The process that has a lock on the file; 0: none, or nobody knows.  Not while this process has it open in SQLite: closing the
 * descriptor would drop SQLite's own locks. */
static pid_t lock_holder(const char *path)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const bool held = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0;

    if (fd >= 0) close(fd);
    return held ? lock.l_pid : 0;
}

static cuzk_status run(struct journal *j, struct task *t, const char *text)
{
    return sqlite3_exec(j->db, text, NULL, NULL, NULL) == SQLITE_OK ? CUZK_OK
                                                                    : fail(j, t, "cannot be opened");
}

/* Takes the lock for as long as the journal is open. */
static cuzk_status take_lock(struct journal *j, struct task *t)
{
    char path[PATH_MAX + 32], who[32] = "";

    int code = sqlite3_exec(
        j->db,
        "PRAGMA busy_timeout = 2000; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; "
        "PRAGMA synchronous = FULL; BEGIN EXCLUSIVE; COMMIT",
        NULL, NULL, NULL);
    if (code == SQLITE_OK) return CUZK_OK;
    if ((code & 0xff) != SQLITE_BUSY && (code & 0xff) != SQLITE_LOCKED) return fail(j, t, "cannot be opened");
    sqlite3_close(j->db);
    j->db = NULL;
    path_in(path, j, "journal.sqlite");
    const pid_t holder = lock_holder(path);
    if (holder != 0) snprintf(who, sizeof who, " (%ld)", (long)holder);
    FAIL(t, CUZK_IO, "another process%s has the journal of this folder", who);
    task_fail_place(t, j->folder, ERROR_NO_OFFSET, NULL, advice_for(SQLITE_BUSY));
    return CUZK_IO;
}

/* One number of the database; -1: it cannot be read. */
static int number_of(struct journal *j, const char *text)
{
    sqlite3_stmt *s = NULL;
    const bool ok =
        sqlite3_prepare_v2(j->db, text, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
    const int number = ok ? sqlite3_column_int(s, 0) : -1;

    sqlite3_finalize(s);
    return number;
}

/* A new journal beside inputs: they are those of jobs that another one knew. */
static cuzk_status keep_unknown(const struct journal *j, struct task *t)
{
    unsigned moved;

    TRY(payload_file_set_aside(t, j->folder, &moved));
    if (moved > 0)
        log_line(t, LOG_WARN,
                 "the journal in %s is new, and %u inputs of jobs lay there that it does not know: they are in payloads.unknown there now; to have "
                 "those jobs put their journal back and the inputs into payloads, else delete them",
                 j->folder, moved);
    return CUZK_OK;
}

static cuzk_status check_version(struct journal *j, struct task *t)
{
    const int version = number_of(j, "PRAGMA user_version"),
              objects = number_of(j, "SELECT count(*) FROM sqlite_schema");
    char path[PATH_MAX + 32], set[64];

    path_in(path, j, "journal.sqlite");
    if (version < 0 || objects < 0) return fail(j, t, "its head cannot be read");
    if (version == 0 && objects != 0) {
        FAIL(t, CUZK_MALFORMED, "this is a SQLite database of something else, and no journal of cuzkd");
        task_fail_place(t, path, ERROR_NO_OFFSET, "user_version",
                        "name a folder of cuzkd's own with [jobs] data or --data");
        return CUZK_MALFORMED;
    }
    if (version != 0 && version != JOURNAL_VERSION) { /* 0: a new one */
        const bool newer = version > JOURNAL_VERSION;
        FAIL(t, CUZK_UNSUPPORTED, "the journal is of version %d, of a%s cuzkd; this one knows version %d",
             version, newer ? " newer" : "n older", JOURNAL_VERSION);
        task_fail_place(
            t, path, ERROR_NO_OFFSET, "user_version",
            newer ? "start the cuzkd that wrote it, or a newer one; or name another folder with [jobs] data"
                  : "let the cuzkd that wrote it finish its jobs, then move the folder away, or name another "
                    "with "
                    "[jobs] data");
        return CUZK_UNSUPPORTED;
    }
    if (version == 0) TRY(keep_unknown(j, t));
    snprintf(set, sizeof set, "PRAGMA user_version = %d", JOURNAL_VERSION);
    return run(j, t, set);
}

/* A journal whose tables are not those of its version. */
static cuzk_status prepare(struct journal *j, struct task *t)
{
    for (int i = 0; i < S_COUNT; i++) {
        const int code =
            sqlite3_prepare_v3(j->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &j->statement[i], NULL);
        if (code == SQLITE_OK) continue;
        if (code != SQLITE_ERROR) return fail(j, t, "its tables cannot be read");
        FAIL(t, CUZK_MALFORMED, "the journal's tables are not those of version %d: %s", JOURNAL_VERSION,
             sqlite3_errmsg(j->db));
        task_fail_place(t, j->folder, ERROR_NO_OFFSET, NULL, advice_for(SQLITE_CORRUPT));
        return CUZK_MALFORMED;
    }
    return CUZK_OK;
}

static cuzk_status open_database(struct journal *j, struct task *t)
{
    char path[PATH_MAX + 32];

    path_in(path, j, "payloads");
    TRY(make_folder(t, j->folder));
    TRY(make_folder(t, path));
    path_in(path, j, "journal.sqlite");
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600); /* SQLite would make it readable by all */
    if (fd < 0) {
        const int why = errno;
        FAIL(t, CUZK_IO, "the journal cannot be opened or made: %s", strerror(why));
        task_fail_place(t, path, ERROR_NO_OFFSET, NULL, advice_for(SQLITE_CANTOPEN));
        task_fail_errno(t, why);
        return CUZK_IO;
    }
    close(fd);
    if (sqlite3_open_v2(path, &j->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return fail(j, t, "cannot be opened");
    TRY(take_lock(j, t));
    TRY(check_version(j, t));
    TRY(run(j, t, schema));
    TRY(prepare(j, t));
    return journal_watch_begin(&j->watch, t, j->folder);
}

cuzk_status journal_open(struct journal **out, struct task *t, const char *folder)
{
    struct journal *j = calloc(1, sizeof *j);

    if (j == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for the journal");
    snprintf(j->folder, sizeof j->folder, "%s", folder);
    const cuzk_status status = open_database(j, t);
    if (status == CUZK_OK)
        *out = j;
    else
        journal_close(j);
    return status;
}

static void forget_refused_at_last(struct journal *j)
{
    struct task quiet;

    task_init(&quiet);
    if (journal_begin(j, &quiet) != CUZK_OK || journal_commit(j, &quiet) != CUZK_OK) journal_rollback(j);
}

void journal_close(struct journal *j)
{
    if (j == NULL) return;
    if (j->refused > 0) forget_refused_at_last(j);
    free(j->accepted);
    for (int i = 0; i < S_COUNT; i++) sqlite3_finalize(j->statement[i]);
    sqlite3_close(j->db);
    free(j);
}

/* -- writing ------------------------------------------------------------------------------------------------------------ */

static void bind_blob(sqlite3_stmt *s, int at, const void *data, size_t bytes)
{
    if (data == NULL)
        sqlite3_bind_zeroblob(s, at, 0);
    else
        sqlite3_bind_blob64(s, at, data, bytes, SQLITE_STATIC);
}

/* Runs a statement that gives no rows. */
static cuzk_status finish(struct journal *j, struct task *t, enum statement which, const char *what)
{
    sqlite3_stmt *s = j->statement[which];
    const bool ok = sqlite3_step(s) == SQLITE_DONE;
    const cuzk_status status = ok ? CUZK_OK : fail(j, t, what);

    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return status;
}

cuzk_status journal_check(struct journal *j, struct task *t) { return journal_watch_check(&j->watch, t); }

/* A job of which there is nothing but its acceptance. */
static cuzk_status forget(struct journal *j, struct task *t, const char *id)
{
    sqlite3_bind_text(j->statement[S_FORGET], 1, id, -1, SQLITE_STATIC);
    return finish(j, t, S_FORGET, "a job cannot be deleted");
}

cuzk_status journal_begin(struct journal *j, struct task *t)
{
    TRY(journal_check(j, t));
    TRY(finish(j, t, S_BEGIN, "a transaction cannot begin"));
    j->open_transaction = true;
    for (size_t i = 0; i < j->refused; i++) TRY(forget(j, t, j->accepted[i]));
    return CUZK_OK;
}

cuzk_status journal_commit(struct journal *j, struct task *t)
{
    TRY(finish(j, t, S_COMMIT, "a transaction cannot be committed"));
    j->open_transaction = false;
    const cuzk_status status = journal_check(j, t); /* it may have gone where nobody will find it, or only for now */
    if (status == CUZK_OK) j->accepted_count = 0;
    j->refused = j->accepted_count;
    return status;
}

/* Writes, so that a full disk is noticed, and takes away again what the next commit would find. */
cuzk_status journal_try(struct journal *j, struct task *t)
{
    cuzk_status status;

    TRY_GOTO(out, journal_begin(j, t));
    TRY_GOTO(out, finish(j, t, S_TRY, "it cannot be written"));
    TRY_GOTO(out, finish(j, t, S_TRIED, "it cannot be written"));
    TRY_GOTO(out, journal_commit(j, t));
    return CUZK_OK;
out:
    journal_rollback(j);
    return status;
}

void journal_rollback(struct journal *j)
{
    if (j->open_transaction && sqlite3_get_autocommit(j->db) == 0)
        sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
    j->open_transaction = false;
    j->accepted_count = j->refused;
}

static cuzk_status remember_accepted(struct journal *j, struct task *t, const struct job *job)
{
    if (j->accepted_count == j->accepted_room) {
        const size_t room = 2 * j->accepted_room + 64;
        void *const larger = realloc(j->accepted, room * sizeof *j->accepted);
        if (larger == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a transaction of %zu jobs", room);
        j->accepted = larger;
        j->accepted_room = room;
    }
    memcpy(j->accepted[j->accepted_count++], job->id, sizeof job->id);
    return CUZK_OK;
}

cuzk_status journal_accept(struct journal *j, struct task *t, const struct job *job)
{
    sqlite3_stmt *s = j->statement[S_ACCEPT];

    TRY(remember_accepted(j, t, job));
    sqlite3_bind_text(s, 1, job->id, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, job->request_id, -1, SQLITE_STATIC);
    bind_blob(s, 3, job->digest, sizeof job->digest);
    bind_blob(s, 4, job->payload_digest, sizeof job->payload_digest);
    sqlite3_bind_int64(s, 5, (sqlite3_int64)job->payload_bytes);
    sqlite3_bind_text(s, 6, job->kind_name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 7, job->circuit->name, -1, SQLITE_STATIC);
    bind_blob(s, 8, job->parameters, job->parameter_bytes);
    sqlite3_bind_int(s, 9, (int)job->priority);
    sqlite3_bind_int64(s, 10, job->part_count);
    sqlite3_bind_int64(s, 11, (sqlite3_int64)job->accepted_unix_ms);
    sqlite3_bind_int64(s, 12, (sqlite3_int64)job->deadline_unix_ms);
    sqlite3_bind_int64(s, 13, (sqlite3_int64)job->expire_unix_ms);
    return finish(j, t, S_ACCEPT, "a job cannot be written");
}

/* Over what leaves later without being verified again: a damaged file must not turn into a proof. */
static void seal_of(uint8_t out[SHA256_BYTES], const struct job *job, uint32_t part,
                    const struct part_output *o)
{
    const uint64_t head[2] = { part, o->proof_bytes };
    struct sha256 s;

    sha256_init(&s);
    sha256_update(&s, job->id, sizeof job->id);
    sha256_update(&s, head, sizeof head);
    if (o->proof_bytes > 0) sha256_update(&s, o->proof, o->proof_bytes);
    if (o->text_bytes > 0) sha256_update(&s, o->text, o->text_bytes);
    sha256_final(&s, out);
}

cuzk_status journal_parts(struct journal *j, struct task *t, struct job *job)
{
    sqlite3_stmt *s = j->statement[S_PART];
    uint8_t seal[SHA256_BYTES];

    for (unsigned i = 0; i < job->part_count; i++) {
        const struct part *p = &job->parts[i];
        if (!p->unrecorded || p->output.proof == NULL) continue;
        sqlite3_bind_text(s, 1, job->id, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 2, i);
        bind_blob(s, 3, p->output.proof, p->output.proof_bytes);
        bind_blob(s, 4, p->output.text, p->output.text_bytes);
        seal_of(seal, job, i, &p->output);
        bind_blob(s, 5, seal, sizeof seal);
        TRY(finish(j, t, S_PART, "a part cannot be written"));
    }
    return CUZK_OK;
}

cuzk_status journal_end(struct journal *j, struct task *t, const struct job *job)
{
    sqlite3_stmt *s = j->statement[S_END];
    struct job_timings timings;
    uint8_t seal[SHA256_BYTES];

    job_timings(job, job->end_ns, &timings);
    seal_of(seal, job, RESULT_PART, &job->result);
    sqlite3_bind_text(s, 1, job->id, -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 2, (int)job->end);
    sqlite3_bind_int(s, 3, (int)job->status);
    sqlite3_bind_text(s, 4, job->error_text, -1, SQLITE_STATIC);
    bind_blob(s, 5, job->result.proof, job->result.proof_bytes);
    bind_blob(s, 6, job->result.text, job->result.text_bytes);
    sqlite3_bind_int64(s, 7, (sqlite3_int64)journal_unix_ms());
    sqlite3_bind_int64(s, 8, job->attempts);
    sqlite3_bind_double(s, 9, timings.queue_ms);
    sqlite3_bind_double(s, 10, timings.key_ms);
    sqlite3_bind_double(s, 11, timings.synthesis_ms);
    sqlite3_bind_double(s, 12, timings.prove_ms);
    sqlite3_bind_double(s, 13, timings.total_ms);
    bind_blob(s, 14, seal, sizeof seal);
    TRY(finish(j, t, S_END, "a result cannot be written"));
    sqlite3_bind_text(j->statement[S_FORGET_PARTS], 1, job->id, -1, SQLITE_STATIC);
    return finish(j, t, S_FORGET_PARTS, "a result cannot be written");
}

cuzk_status journal_forget(struct journal *j, struct task *t, const struct job *job) { return forget(j, t, job->id); }

/* -- reading ------------------------------------------------------------------------------------------------------------ */

static void column_text(char *out, size_t capacity, sqlite3_stmt *s, int at)
{
    const unsigned char *text = sqlite3_column_text(s, at);

    snprintf(out, capacity, "%s", text != NULL ? (const char *)text : "");
}

static void column_digest(uint8_t out[JOB_DIGEST_BYTES], sqlite3_stmt *s, int at)
{
    const void *data = sqlite3_column_blob(s, at);

    memset(out, 0, JOB_DIGEST_BYTES);
    if (data != NULL && sqlite3_column_bytes(s, at) == JOB_DIGEST_BYTES) memcpy(out, data, JOB_DIGEST_BYTES);
}

static cuzk_status column_output(struct task *t, struct part_output *out, sqlite3_stmt *s, int proof_at,
                                 int text_at)
{
    const void *proof = sqlite3_column_blob(s, proof_at), *text = sqlite3_column_blob(s, text_at);

    out->proof_bytes = (size_t)sqlite3_column_bytes(s, proof_at);
    out->text_bytes = (size_t)sqlite3_column_bytes(s, text_at);
    out->proof = malloc(out->proof_bytes + 1);
    out->text = out->text_bytes > 0 ? malloc(out->text_bytes) : NULL;
    if (out->proof == NULL || (out->text == NULL && out->text_bytes > 0)) {
        part_output_free(out);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for a result");
    }
    if (out->proof_bytes > 0) memcpy(out->proof, proof, out->proof_bytes);
    if (out->text_bytes > 0) memcpy(out->text, text, out->text_bytes);
    return CUZK_OK;
}

/* Whether an output is the one that was written for this place. */
static bool is_sealed(sqlite3_stmt *s, int seal_at, const struct job *job, uint32_t part,
                      const struct part_output *o)
{
    uint8_t expected[SHA256_BYTES];
    const void *seal = sqlite3_column_blob(s, seal_at);

    seal_of(expected, job, part, o);
    return seal != NULL && sqlite3_column_bytes(s, seal_at) == SHA256_BYTES &&
           memcmp(seal, expected, sizeof expected) == 0;
}

/* Unix time as the engine's time, which may have begun later. */
static uint64_t engine_time(uint64_t unix_ms, uint64_t now_ns, uint64_t now_unix_ms)
{
    if (unix_ms >= now_unix_ms) return now_ns + (unix_ms - now_unix_ms) * 1000000u;
    const uint64_t ago_ns = (now_unix_ms - unix_ms) * 1000000u;
    return ago_ns < now_ns ? now_ns - ago_ns : 1;
}

static cuzk_status load_parts(struct journal *j, struct task *t, struct job *job)
{
    sqlite3_stmt *s = j->statement[S_LOAD_PARTS];
    cuzk_status status = CUZK_OK;
    int row;

    sqlite3_bind_text(s, 1, job->id, -1, SQLITE_STATIC);
    while ((row = sqlite3_step(s)) == SQLITE_ROW && status == CUZK_OK) {
        const sqlite3_int64 part = sqlite3_column_int64(s, 0);
        if (part < 0 || part >= job->part_count) continue;
        struct part_output *const output = &job->parts[part].output;
        status = column_output(t, output, s, 1, 2);
        if (status != CUZK_OK) break;
        if (is_sealed(s, 3, job, (uint32_t)part, output)) {
            job_part_move(job, (unsigned)part, PART_DONE);
        } else {
            log_line(t, LOG_ERROR, "the journal: part %u of job %s is damaged; it is proved again",
                     (unsigned)part, job->id);
            part_output_free(output);
        }
    }
    if (status == CUZK_OK && row != SQLITE_DONE) status = fail(j, t, "parts cannot be read");
    sqlite3_reset(s);
    return status;
}

static cuzk_status load_end(struct task *t, struct job *job, sqlite3_stmt *s, uint64_t now_ns,
                            uint64_t now_unix_ms)
{
    job->status = (cuzk_status)sqlite3_column_int(s, 14);
    column_text(job->error_text, sizeof job->error_text, s, 15);
    job->end_ns = engine_time((uint64_t)sqlite3_column_int64(s, 18), now_ns, now_unix_ms);
    job->attempts = (unsigned)sqlite3_column_int64(s, 19);
    const uint64_t total_ns = (uint64_t)(sqlite3_column_double(s, 24) * 1e6),
                   queue_ns = (uint64_t)(sqlite3_column_double(s, 20) * 1e6);
    job->submit_ns = total_ns < job->end_ns ? job->end_ns - total_ns : 1;
    job->first_start_ns = job->submit_ns + queue_ns < job->end_ns ? job->submit_ns + queue_ns : job->end_ns;
    job->key_ns = (uint64_t)(sqlite3_column_double(s, 21) * 1e6);
    job->synthesis_ms_before = sqlite3_column_double(s, 22);
    job->prove_ms_before = sqlite3_column_double(s, 23);
    if (job->end != JOB_DONE) return CUZK_OK;
    TRY(column_output(t, &job->result, s, 16, 17));
    if (is_sealed(s, 25, job, RESULT_PART, &job->result)) return CUZK_OK;
    log_line(t, LOG_ERROR, "the journal: the result of job %s is damaged", job->id);
    part_output_free(&job->result);
    job->end = JOB_FAILED;
    job->status = CUZK_MALFORMED;
    snprintf(job->error_text, sizeof job->error_text,
             "the journal's copy of the proof is damaged, so it does not leave; submit the job again");
    return CUZK_OK;
}

static struct circuit *circuit_named(struct circuit *circuits, size_t count, const char *name,
                                     const char *kind)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(circuits[i].name, name) == 0 && strcmp(circuits[i].kind->name, kind) == 0)
            return &circuits[i];
    return NULL;
}

static cuzk_status load_job(struct journal *j, struct task *t, struct job **out, struct circuit *circuits,
                            size_t circuit_count, uint64_t now_ns)
{
    sqlite3_stmt *s = j->statement[S_LOAD];
    const uint64_t now_unix_ms = journal_unix_ms();
    char name[ENGINE_NAME_BYTES], kind[ENGINE_NAME_BYTES];
    const sqlite3_int64 parts = sqlite3_column_int64(s, 9);
    const void *parameters = sqlite3_column_blob(s, 7);
    struct job *job = NULL;
    cuzk_status status;

    column_text(kind, sizeof kind, s, 5);
    column_text(name, sizeof name, s, 6);
    const int end = sqlite3_column_int(s, 13);
    const sqlite3_int64 payload_bytes = sqlite3_column_int64(s, 4);
    if (parts < 1 || parts > JOB_PARTS_MOST)
        return FAIL(t, CUZK_MALFORMED, "the journal: a job of %lld parts", (long long)parts);
    if (end < JOB_UNFINISHED || end > JOB_CANCELLED || payload_bytes < 0)
        return FAIL(t, CUZK_MALFORMED, "the journal: a job that ended as %d, with an input of %lld bytes",
                    end, (long long)payload_bytes);
    struct circuit *c = circuit_named(circuits, circuit_count, name, kind);
    TRY(job_create(&job, t, c, (unsigned)parts, span_of(parameters, (size_t)sqlite3_column_bytes(s, 7))));
    memcpy(job->kind_name, kind, sizeof job->kind_name);
    column_text(job->id, sizeof job->id, s, 0);
    column_text(job->request_id, sizeof job->request_id, s, 1);
    column_digest(job->digest, s, 2);
    column_digest(job->payload_digest, s, 3);
    job->payload_bytes = (size_t)payload_bytes;
    job->priority = (enum job_priority)sqlite3_column_int(s, 8);
    job->accepted_unix_ms = (uint64_t)sqlite3_column_int64(s, 10);
    job->deadline_unix_ms = (uint64_t)sqlite3_column_int64(s, 11);
    job->expire_unix_ms = (uint64_t)sqlite3_column_int64(s, 12);
    job->submit_ns = engine_time(job->accepted_unix_ms, now_ns, now_unix_ms);
    job->has_deadline = job->deadline_unix_ms != 0;
    if (job->has_deadline) job->deadline_ns = engine_time(job->deadline_unix_ms, now_ns, now_unix_ms);
    if (job->expire_unix_ms != 0) job->expire_ns = engine_time(job->expire_unix_ms, now_ns, now_unix_ms);
    job->durable = true;
    job->end = (enum job_end)end;
    if (job->end != JOB_UNFINISHED) {
        TRY_GOTO(out, load_end(t, job, s, now_ns, now_unix_ms));
    } else if (c != NULL) {
        job->circuit_index = (unsigned)(c - circuits);
        TRY_GOTO(out, load_parts(j, t, job));
    } else {
        job->end = JOB_FAILED;
        job->end_ns = now_ns;
        job->status = CUZK_NOT_FOUND;
        snprintf(job->error_text, sizeof job->error_text, "circuit %s is no longer configured", name);
    }
    *out = job;
    return CUZK_OK;
out:
    job_destroy(job);
    return status;
}

static bool is_pending(void *context, const char *job_id)
{
    struct journal *j = context;
    sqlite3_stmt *s = j->statement[S_PENDING];

    sqlite3_bind_text(s, 1, job_id, -1, SQLITE_STATIC);
    const int row = sqlite3_step(s);
    sqlite3_reset(s);
    return row != SQLITE_DONE; /* an error keeps the file */
}

cuzk_status journal_load(struct journal *j, struct task *t, struct circuit *circuits, size_t circuit_count,
                         uint64_t now_ns, journal_visit *visit, void *context)
{
    sqlite3_stmt *s = j->statement[S_LOAD];
    cuzk_status status = CUZK_OK;
    int row;

    while ((row = sqlite3_step(s)) == SQLITE_ROW && status == CUZK_OK) {
        struct job *job = NULL;
        status = load_job(j, t, &job, circuits, circuit_count, now_ns);
        if (status == CUZK_OK) status = visit(context, t, job);
    }
    if (status == CUZK_OK && row != SQLITE_DONE) status = fail(j, t, "jobs cannot be read");
    sqlite3_reset(s);
    if (status == CUZK_OK) payload_file_sweep(j->folder, is_pending, j);
    return status;
}
