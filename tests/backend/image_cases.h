/* Evaluating circuit images, on every backend that does: against image_evaluate and the definition. */
#ifndef CUZK_TESTS_IMAGE_CASES_H
#define CUZK_TESTS_IMAGE_CASES_H

#include "backend/backend.h"

/** Runs all cases on one device; slow: a whole 2 KiB partition as well.  Returns the number of failed ones. */
int image_cases_run(const struct backend *b, const struct device_options *options, bool slow);

#endif
