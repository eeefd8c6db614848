/* What survives a crash: accepted jobs, their finished parts and their results, in SQLite (WAL, synchronous=FULL).
 *
 * One folder holds journal.sqlite and payloads/ (payload_file.h).  One process at a time has it.  All calls but journal_open and
 * journal_close come from the engine's thread. */
#ifndef CUZK_ENGINE_JOURNAL_H
#define CUZK_ENGINE_JOURNAL_H

#include "engine/job.h"

struct journal;

/** Makes the folder (0700) and the file (0600) if there are none.
 * Errors  CUZK_IO: the disk, or another process has the journal, which is named; CUZK_MALFORMED: damaged, or no journal of ours;
 *         CUZK_UNSUPPORTED: a journal of another version. */
cuzk_status journal_open(struct journal **out, struct task *t, const char *folder) MUST_CHECK;
void journal_close(struct journal *j); /* NULL is legal */
const char *journal_folder(const struct journal *j);

/** Whether what is written to the journal would be there after a crash: CUZK_IO where its files have been deleted, replaced or cut
 * short since they were opened (journal_watch.h).  Begin and commit look, too: nothing is called written that is not. */
cuzk_status journal_check(struct journal *j, struct task *t) MUST_CHECK;

/** One transaction: begin, any number of records, commit.  After any error journal_rollback, and the next begin tries anew.  A commit
 * that SQLite has made but whose files had gone by then fails: the next transaction first deletes the jobs that this one accepted
 * (journal_close makes one for that), in case the files come back.  Only if they come back after the process has ended is a refused
 * job there.  Errors  CUZK_IO with SQLite's words (disk full, ...).  Cost  one fsync a commit. */
cuzk_status journal_begin(struct journal *j, struct task *t) MUST_CHECK;
/** The caller has seen the job's payload file (payload_file_check).  CUZK_NO_MEMORY, too. */
cuzk_status journal_accept(struct journal *j, struct task *t, const struct job *job) MUST_CHECK;
cuzk_status journal_parts(struct journal *j, struct task *t,
                          struct job *job) MUST_CHECK; /* those unrecorded */
cuzk_status journal_end(struct journal *j, struct task *t, const struct job *job) MUST_CHECK;
cuzk_status journal_forget(struct journal *j, struct task *t, const struct job *job) MUST_CHECK;
cuzk_status journal_commit(struct journal *j, struct task *t) MUST_CHECK;
void journal_rollback(struct journal *j);
/** A transaction that leaves nothing: whether the journal can be written again. */
cuzk_status journal_try(struct journal *j, struct task *t) MUST_CHECK;

/** Every job in it, in order of acceptance, ready for EVENT_RESUME; visit owns them.  A job whose circuit is not among circuits comes
 * ended, FAILED.  Payload files of no unfinished job are deleted. */
typedef cuzk_status journal_visit(void *context, struct task *t, struct job *job);
cuzk_status journal_load(struct journal *j, struct task *t, struct circuit *circuits, size_t circuit_count,
                         uint64_t now_ns, journal_visit *visit, void *context) MUST_CHECK;

uint64_t journal_unix_ms(void); /* CLOCK_REALTIME */

#endif
