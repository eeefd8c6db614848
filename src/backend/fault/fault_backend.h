/* The CPU backend with a call that fails: for tests of what happens above when a device fails. */
#ifndef CUZK_BACKEND_FAULT_FAULT_BACKEND_H
#define CUZK_BACKEND_FAULT_FAULT_BACKEND_H

#include "backend/backend.h"

extern const struct backend backend_fault;

/** The n-th fallible call from now on (0: the next one), on any device and thread, returns status; those before and after it work.
 * The count starts anew. */
void fault_arm(uint64_t n, cuzk_status status);

/** Lets every call work.  Returns the number of calls since fault_arm: a sweep over n ends when it is not above n. */
uint64_t fault_disarm(void);

#endif
