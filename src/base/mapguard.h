/* Mapped files that are cut short while they are in use.  Reading what is gone raises SIGBUS, which would end the process and with it
 * every job that has nothing to do with the file; a process that has called mapguard_start reads zeros there instead, and the mapping
 * is marked, so that whoever uses it finds out (mapfile_check).
 *
 * Only programs start it: a library leaves its host's signals alone. */
#ifndef CUZK_BASE_MAPGUARD_H
#define CUZK_BASE_MAPGUARD_H

#include <stdbool.h>
#include <stddef.h>

/** Takes over SIGBUS.  Before the first thread starts. */
void mapguard_start(void);

/** Watches a mapping of a file, path for mapguard_lost.  Returns what the other calls take; 0, which they accept too: not watched (not started, or too many). */
unsigned mapguard_add(const void *begin, size_t bytes, const char *path);
/** Before the mapping goes. */
void mapguard_remove(unsigned guard);
/** Whether some of it was gone when it was read. */
bool mapguard_hit(unsigned guard);

/** The first file of which something was gone, in the life of the process; NULL: none. */
const char *mapguard_lost(void);

#endif
