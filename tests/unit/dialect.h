/* One digest of arithmetic, computed by a C11 and by a C++17 translation unit. */
#ifndef CUZK_TESTS_DIALECT_H
#define CUZK_TESTS_DIALECT_H

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif
uint64_t dialect_c(void);
uint64_t dialect_cxx(void);
#if defined(__cplusplus)
}
#endif

#endif
