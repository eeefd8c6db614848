/* Witnesses of circuit images made by a backend: against image_assign, bit for bit. */
#ifndef CUZK_TESTS_ASSIGN_CASES_H
#define CUZK_TESTS_ASSIGN_CASES_H

#include "backend/backend.h"

/* Makes the n-th call of the device's runtime from now fail with an error's code; NULL: it cannot be made to. */
extern void (*assign_cases_fail_call)(unsigned long n, int code);

/** Runs all cases on one device; slow: partitions of 8 MiB and 32 GiB as well.  Returns the number of failed ones. */
int assign_cases_run(const struct backend *b, const struct device_options *options, bool slow);

#endif
