/* Lets the n-th allocation of a program fail, for sweeps: n = 0, 1, 2, ... until the operation passes untouched.
 *
 * Use: declare the program with cuzk_fail_test (tests/CMakeLists.txt) in place of cuzk_test.  malloc, calloc, realloc, aligned_alloc, posix_memalign, mmap and mremap of the program's own
 * code are then counted; the C library's inner calls are not.  Frees are never touched.  One thread arms at a time; a
 * failure hits whichever thread makes that call. */
#ifndef CUZK_TESTS_ALLOC_FAIL_H
#define CUZK_TESTS_ALLOC_FAIL_H

#include "base/dialect.h"

/* The n-th call from now on (0: the next one) fails, and only that one. */
void alloc_fail_arm(size_t n);

/* Stops counting.  Whether the armed failure was reached. */
bool alloc_fail_disarm(void);

#endif
