/* How much memory this process may use, and how much it uses. */
#ifndef CUZK_BASE_HOSTMEM_H
#define CUZK_BASE_HOSTMEM_H

#include "base/task.h"

/** Bytes that this process may use: the smallest control group limit, else the machine's MemTotal, whichever is less.
 * 0: unknown (no /proc).  A configured budget goes before this number. */
uint64_t hostmem_limit_bytes(void);

/** Refuses what cannot fit, before the pages are touched and the kernel ends the process.  The counts of a file can ask for more
 * memory than the file has bytes.
 * In      path  the file whose counts ask; NULL: none
 *         what  takes the bytes: "setting up this circuit"
 * Errors  CUZK_TOO_LARGE with both numbers. */
cuzk_status hostmem_allows(struct task *t, const char *path, uint64_t bytes, const char *what) MUST_CHECK;

uint64_t hostmem_rss_bytes(void);      /* resident now; 0: unknown */
uint64_t hostmem_peak_rss_bytes(void); /* largest resident size so far; 0: unknown */
/** From here on that is the largest since now.  false: the kernel cannot (proc(5), clear_refs); nothing has changed. */
bool hostmem_peak_reset(void);
/** The most that the process's control group took since it began, pages of files included (memory.peak); 0: unknown. */
uint64_t hostmem_group_peak_bytes(void);

#endif
