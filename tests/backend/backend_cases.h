/* One list of cases for every backend: each operation against its definition. */
#ifndef CUZK_TESTS_BACKEND_CASES_H
#define CUZK_TESTS_BACKEND_CASES_H

#include "backend/backend.h"

/** Runs all cases on one device; slow: the large sizes as well.  Returns the number of failed ones. */
int backend_cases_run(const char *backend, enum mem_kind kind, const struct device_options *options,
                      bool slow);

#endif
