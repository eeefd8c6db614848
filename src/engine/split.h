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

/** When the next part that is held back may start; UINT64_MAX: none is. */
uint64_t split_next_ns(const struct job *j, uint64_t now_ns);

#endif
