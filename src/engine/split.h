/* A job's parts over the lanes: which part may start next on a lane. */
#ifndef CUZK_ENGINE_SPLIT_H
#define CUZK_ENGINE_SPLIT_H

#include "engine/job.h"
#include "engine/lane.h"

/** In      lane   index into b: idle
 * Out     *part  the part; *synthesis whether it is to be synthesised (else proved)
 * A part that only waits for its proof goes first, since it holds memory.  A part does not return to the lane where it just failed
 * while another lane is open.  false: none may start now. */
bool split_next(const struct job *j, const struct lane_book *b, uint32_t lane, uint64_t now_ns,
                unsigned *part, bool *synthesis);

/** Parts of j that a lane may prove together now: of those that are neither synthesised nor to be tried by themselves, as many as make batches
 * of about equal size on all devices.
 * Out     parts  JOB_BATCH_MOST places
 *         *wait  a batch on this circuit is under way on the lane's device, and the job is to wait for its end
 * Returns their number; 0: none */
unsigned split_batch(const struct job *j, const struct lane_book *b, uint32_t lane, uint64_t now_ns,
                     unsigned *parts, bool *wait);

/** When the next part that is held back may start; UINT64_MAX: none is. */
uint64_t split_next_ns(const struct job *j, uint64_t now_ns);

#endif
