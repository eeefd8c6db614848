/* The arithmetic's headers mean the same in C11 as in C++17 (test_dialect.cc) and, where nvcc is, in CUDA's dialect. */
#include "support/cm.h"

#include "unit/dialect.h"

#include "unit/dialect.inc.h"

#include <stdio.h>
#include <stdlib.h>

uint64_t dialect_c(void) { return dialect_digest(); }

static void same_in_both(void **state)
{
    (void)state;
    assert_true(dialect_c() != 0);
    assert_true(dialect_c() == dialect_cxx());
}

/* nvcc's front end over the same text, without a device. */
static void compiles_as_cuda(void **state)
{
    (void)state;
    if (system("command -v nvcc >/dev/null 2>&1 || test -x /usr/local/cuda/bin/nvcc") != 0) {
        printf("skipped: no nvcc\n");
        skip();
    }
    const int rc = system("PATH=\"$PATH:/usr/local/cuda/bin\" nvcc -Werror all-warnings -std=c++17 -x cu --cuda -D_GNU_SOURCE -I" CUZK_SOURCE_DIR "/src -I" CUZK_SOURCE_DIR
                          "/include -I" CUZK_SOURCE_DIR "/tests -o /dev/null " CUZK_SOURCE_DIR "/tests/unit/test_dialect.cc");
    assert_int_equal(rc, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_in_both), cmocka_unit_test(compiles_as_cuda) };
    return cmocka_run_group_tests_name("dialect", tests, NULL, NULL);
}
