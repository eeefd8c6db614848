// The C++17 half of test_dialect.c; also what nvcc compiles there.
#include "unit/dialect.h"

#include "unit/dialect.inc.h"

uint64_t dialect_cxx(void) { return dialect_digest(); }
