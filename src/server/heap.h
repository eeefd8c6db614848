/* How the C library's heap of the daemon behaves. */
#ifndef CUZK_SERVER_HEAP_H
#define CUZK_SERVER_HEAP_H

/** Keeps up to HEAP_KEPT_BYTES of what has been freed, on huge pages where the system has them, instead of giving it to the system and taking it
 * again with every request: requests of 2 MB come and go in pieces, and a page that is touched for the first time, or for the first time in
 * half a second, costs microseconds in a virtual machine.  Larger blocks go back at once.
 * Thread  the first one, before there are others.  Does nothing under another allocator than glibc's. */
void heap_settle(void);

#define HEAP_KEPT_BYTES  (16 << 20)
#define HEAP_BLOCK_BYTES (4 << 20) /* blocks from here on are mappings of their own */

#endif
