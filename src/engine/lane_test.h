/* A lane's self-test: does the device still compute what it should? */
#ifndef CUZK_ENGINE_LANE_TEST_H
#define CUZK_ENGINE_LANE_TEST_H

#include "engine/job_kind.h"

/** Multi-scalar multiplications in both groups of both curves against sums known beforehand, and a transform of either convention
 * against its definition, all on fresh random numbers.
 * Errors  CUZK_DEVICE_LOST: a wrong result (it is named); those of the backend.  Cost  tens of milliseconds, a few MiB. */
cuzk_status lane_test(struct task *t, const struct place *place) MUST_CHECK;

#endif
