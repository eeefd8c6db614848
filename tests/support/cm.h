/* cmocka with the headers that it wants before itself. */
#ifndef CUZK_TESTS_CM_H
#define CUZK_TESTS_CM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#endif
