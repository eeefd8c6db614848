/* Small notes about files, kept in the user's cache folder: that a file has passed a check that takes long.
 *
 * A note belongs to one file and one kind of check.  It is forgotten when the file's size, time or inode changes.  It lies in
 * $XDG_CACHE_HOME/cuzk (or ~/.cache/cuzk), mode 0600; notes of other users, or that others may write, say nothing.  A cache that cannot be
 * read or written is as one without notes. */
#ifndef CUZK_BASE_FILENOTE_H
#define CUZK_BASE_FILENOTE_H

#include "base/mapfile.h"

/** In  kind  "checked";  text  what is noted, one line; f a mapped file (nothing is noted of a pipe). */
void filenote_write(const struct mapfile *f, const char *kind, const char *text);
/** Whether there is a note; with text (not NULL), whether it is that very text.  Cost  constant. */
bool filenote_holds(const struct mapfile *f, const char *kind, const char *text);
/** The file is not what was noted after all. */
void filenote_forget(const struct mapfile *f, const char *kind);

#endif
