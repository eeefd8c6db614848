/* Monotonic time and the name of a stage's duration. */
#ifndef CUZK_BASE_CLOCK_H
#define CUZK_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_now_ns(void); /* CLOCK_MONOTONIC */
static inline double clock_ms_since(uint64_t start_ns) { return (double)(clock_now_ns() - start_ns) * 1e-6; }

#endif
