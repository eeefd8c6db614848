/* The CPU backend with a call that fails: for tests of what happens above when a device fails. */
#ifndef CUZK_BACKEND_FAULT_FAULT_BACKEND_H
#define CUZK_BACKEND_FAULT_FAULT_BACKEND_H

#include "backend/backend.h"

extern const struct backend backend_fault;

/** The n-th fallible call from now on (0: the next one), on any device and thread, returns status; those before and after it work.
 * The count starts anew. */
void fault_arm(uint64_t n, cuzk_status status);

/** From now on every n-th fallible call returns status (n 0: none), and every wrong_n-th multi-scalar multiplication gives a point of
 * the group that is not the sum (0: none). */
void fault_every(uint64_t n, cuzk_status status, uint64_t wrong_n);

/** Lets every call work.  Returns the number of calls since fault_arm: a sweep over n ends when it is not above n. */
uint64_t fault_disarm(void);

#endif
