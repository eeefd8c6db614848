/* The settings of glibc's allocator that the daemon wants.  glibc's own, which follow the sizes that are freed, end up with a heap a thread
 * that shrinks and grows with every request. */
#include "server/heap.h"
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#define HUGE_PAGE_BYTES ((uintptr_t)2 << 20)
#define FIRST_BYTES     (1 << 20) /* more than is free in a new heap, less than HEAP_BLOCK_BYTES */

void heap_settle(void)
{
#if defined(__GLIBC__)
    const uintptr_t before = (uintptr_t)sbrk(0);
    if (!mallopt(M_ARENA_MAX, 1) || !mallopt(M_MMAP_THRESHOLD, HEAP_BLOCK_BYTES) || !mallopt(M_TOP_PAD, HEAP_KEPT_BYTES) ||
        !mallopt(M_TRIM_THRESHOLD, HEAP_KEPT_BYTES + FIRST_BYTES))
        return;
    void *volatile first = malloc(FIRST_BYTES); /* the heap grows by that and what it is to keep */
    free(first);
    const uintptr_t begin = (before + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1), end = (uintptr_t)sbrk(0) & ~(HUGE_PAGE_BYTES - 1);
    if (before != UINTPTR_MAX && end > begin) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* advice */
#endif
}
