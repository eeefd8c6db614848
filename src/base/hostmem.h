/* How much memory this process may use, and how much it uses. */
#ifndef CUZK_BASE_HOSTMEM_H
#define CUZK_BASE_HOSTMEM_H

#include "base/dialect.h"

/** Bytes that this process may use: the smallest control group limit, else the machine's MemTotal, whichever is less.
 * 0: unknown (no /proc).  A configured budget goes before this number. */
uint64_t hostmem_limit_bytes(void);

uint64_t hostmem_rss_bytes(void);      /* resident now; 0: unknown */
uint64_t hostmem_peak_rss_bytes(void); /* largest resident size so far; 0: unknown */

#endif
