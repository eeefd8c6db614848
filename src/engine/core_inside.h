/* What the files of the core use of each other. */
#ifndef CUZK_ENGINE_CORE_INSIDE_H
#define CUZK_ENGINE_CORE_INSIDE_H

#include "base/log.h"
#include "base/status.h"
#include "engine/engine_core.h"

/* -- engine_core.c -- */
void core_due(struct engine_core *c, uint64_t at_ns); /* a tick has something to do then */
void core_note(struct engine_core *c, enum log_level level, const struct job *j, const char *format, ...)
    PRINTF_LIKE(4, 5);
void core_do_job(struct engine_core *c, enum action_kind kind, struct job *j);
void core_do_lane(struct engine_core *c, enum action_kind kind, uint32_t lane);
void core_do_key(struct engine_core *c, enum action_kind kind, struct stored_key *k);
void core_tell(struct engine_core *c, struct waiter *w, const struct job_answer *answer);
/** An answer that is about no job at hand. */
void core_tell_status(struct engine_core *c, struct waiter *w, const char *id, cuzk_status status,
                      const char *text);
void core_tell_key(struct engine_core *c, struct waiter *w, cuzk_status status, const char *text,
                   const struct key_answer *more);

/* -- core_jobs.c -- */
void core_submit(struct engine_core *c, struct job *j, struct waiter *w, uint64_t now_ns);
void core_resume(struct engine_core *c, struct job *j, uint64_t now_ns);
void core_journaled(struct engine_core *c, const struct event *e, uint64_t now_ns);
/** The journal can be written, or not (why: NULL, or what is known); j: the job that found out, or NULL. */
void core_journal_state(struct engine_core *c, const struct job *j, bool ok, const struct error *why);
void core_record(struct engine_core *c, struct job *j, enum job_record what); /* asks the journal */
void core_tell_waiters(struct engine_core *c, struct job *j,
                       const struct job_answer *answer); /* all of them */
void core_drop(struct engine_core *c, struct job *j);    /* out of the tables */
void core_forget(struct engine_core *c, struct job *j);  /* and out of the journal, and destroyed */
/** The job is over for the core: nothing of it is started or retried any more. */
static inline bool core_job_over(const struct job *j) { return j->state >= JOB_RECORDING || j->suspended; }
/** Ends a job (once: later calls do nothing).  error NULL: done, or the status alone says it. */
void core_finish(struct engine_core *c, struct job *j, enum job_end end, cuzk_status status,
                 const struct error *error, uint64_t now_ns);
/** Frees what an ended job no longer needs, once nothing of it is in flight. */
void core_settle(struct engine_core *c, struct job *j);
/** A part is done: records it, and if it was the last one ends the job. */
void core_part_done(struct engine_core *c, struct job *j, unsigned part, uint64_t now_ns);
/** only NULL: of every circuit. */
void core_fail_unfinished(struct engine_core *c, const struct circuit *only, cuzk_status status,
                          const struct error *error, uint64_t now_ns);

/* -- core_askers.c -- */
void core_await(struct engine_core *c, const char *id, struct waiter *w, uint64_t now_ns);
void core_leave(struct engine_core *c, const struct event *e, uint64_t now_ns);
void core_cancel(struct engine_core *c, const char *id, struct waiter *w, uint64_t now_ns);
void core_expire_waiters(struct engine_core *c, struct job *j, uint64_t now_ns);
void core_preload(struct engine_core *c, const char *circuit, struct waiter *w);
void core_evict(struct engine_core *c, const char *circuit, struct waiter *w);
void core_key_loaded(struct engine_core *c, const struct event *e, uint64_t now_ns);
void core_key_freed(struct engine_core *c, struct stored_key *k);
/** There is no room for a key that was asked for: its askers are told. */
void core_refuse_preload(struct engine_core *c, struct stored_key *k);

/* -- schedule.c -- */
void core_schedule(struct engine_core *c, uint64_t now_ns);
void core_part_begun(struct engine_core *c, uint32_t lane, uint64_t now_ns);
void core_part_ended(struct engine_core *c, const struct event *e, uint64_t now_ns);
void core_lane_tested(struct engine_core *c, const struct event *e, uint64_t now_ns);
void core_lane_gave(struct engine_core *c, uint32_t lane);
uint64_t core_giving_bytes(const struct engine_core *c); /* of the heap, on their way back from lanes */
void core_watch_lanes(struct engine_core *c, uint64_t now_ns);
/** Tells the lanes that run parts of j to stop, and gives back what waiting parts of it hold. */
void core_stop_parts(struct engine_core *c, struct job *j, uint64_t now_ns);

#endif
