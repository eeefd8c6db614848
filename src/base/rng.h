/* Randomness from the operating system: for secrets.  Tests that need repeatable numbers have their own (tests/support/prng.h). */
#ifndef CUZK_BASE_RNG_H
#define CUZK_BASE_RNG_H

#include "base/task.h"

/** Fills out from getrandom(2); never returns fewer bytes.  CUZK_IO if the system has no entropy source. */
cuzk_status rng_bytes(struct task *t, void *out, size_t bytes) MUST_CHECK;

#endif
