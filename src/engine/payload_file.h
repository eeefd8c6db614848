/* Payloads of durable jobs on disk: FOLDER/payloads/SHA256.JOB, mode 0600, deleted when the job has ended.  The job's id in the name
 * keeps two jobs with the same payload apart.  Thread  any. */
#ifndef CUZK_ENGINE_PAYLOAD_FILE_H
#define CUZK_ENGINE_PAYLOAD_FILE_H

#include "engine/job.h"

/** Whole and synced, or not at all.  CUZK_IO. */
cuzk_status payload_file_write(struct task *t, const char *folder, const struct job *job) MUST_CHECK;
/** Whether the file is there, with its length; CUZK_IO.  Cost  one stat(2). */
cuzk_status payload_file_check(struct task *t, const char *folder, const struct job *job) MUST_CHECK;
/** Out  *data of job->payload_bytes bytes, from malloc; checked against the digest.  CUZK_NOT_FOUND, CUZK_IO, CUZK_MALFORMED (changed). */
cuzk_status payload_file_read(struct task *t, uint8_t **data, const char *folder,
                              const struct job *job) MUST_CHECK;
void payload_file_remove(const char *folder, const struct job *job);

/** Moves all payload files to FOLDER/payloads.unknown, where nobody removes them: those of jobs of a journal that is gone.
 * Out     *moved files
 * Errors  CUZK_IO: a file cannot be moved; it and those after it stay where they are */
cuzk_status payload_file_set_aside(struct task *t, const char *folder, unsigned *moved) MUST_CHECK;

/** Removes every payload file for whose job id keep says false. */
void payload_file_sweep(const char *folder, bool (*keep)(void *context, const char *job_id), void *context);

#endif
