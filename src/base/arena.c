/* One mapped block from which allocations are carved by moving a mark.
 *
 * AddressSanitizer sees everything that is not taken as poisoned: the slack behind an allocation, the red zone after it, and
 * all that a reset gave back. */
#include "base/arena.h"
#include "base/bytes.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#if ARENA_RED_ZONE > 0
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)   ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)0)
#endif

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

static size_t page_round(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) & ~(page - 1);
}

/* A mapping of bytes (whole pages) that starts at a huge page border if it can hold one. */
static void *map_block(size_t bytes)
{
    bool huge = bytes >= HUGE_PAGE_BYTES;
    size_t mapped = huge ? bytes + HUGE_PAGE_BYTES : bytes;
    uint8_t *p = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (!huge) return p;
    size_t before = -(uintptr_t)p & (HUGE_PAGE_BYTES - 1);
    if (before > 0) munmap(p, before);
    if (before < HUGE_PAGE_BYTES) munmap(p + before + bytes, HUGE_PAGE_BYTES - before);
    p += before;
    madvise(p, bytes, MADV_HUGEPAGE); /* advice: a kernel without huge pages works too */
    return p;
}

cuzk_status arena_open(struct arena *a, struct task *t, size_t capacity, unsigned flags)
{
    memset(a, 0, sizeof *a);
    a->flags = flags;
    if (capacity == 0) return CUZK_OK;
    void *block = NULL;
    errno = ENOMEM;
    if (capacity <= SIZE_MAX / 2) block = map_block(page_round(capacity));
    if (block == NULL) {
        int why = errno;
        FAIL(t, CUZK_NO_MEMORY, "%zu bytes of memory could not be had: %s", capacity, strerror(why));
        task_fail_errno(t, why);
        return CUZK_NO_MEMORY;
    }
    if (flags & ARENA_SECRET) madvise(block, page_round(capacity), MADV_DONTDUMP);
    a->base = block;
    a->capacity = page_round(capacity);
    ASAN_POISON_MEMORY_REGION(a->base, a->capacity);
    return CUZK_OK;
}

cuzk_status arena_take(struct arena *a, struct task *t, void **out, size_t bytes)
{
    *out = NULL;
    size_t left = a->capacity - a->used;
    if (bytes > left || arena_round(bytes) > left)
        return FAIL(t, CUZK_INTERNAL, "an arena of %zu bytes, %zu of them in use, was asked for %zu",
                    a->capacity, a->used, bytes);
    *out = a->base + a->used;
    ASAN_UNPOISON_MEMORY_REGION(*out, bytes);
    a->used += arena_round(bytes);
    if (a->used > a->peak) a->peak = a->used;
    return CUZK_OK;
}

void arena_reset(struct arena *a, size_t mark)
{
    if (mark >= a->used) return;
    if (a->flags & ARENA_SECRET) {
        ASAN_UNPOISON_MEMORY_REGION(a->base + mark, a->used - mark);
        wipe(a->base + mark, a->used - mark);
    }
    ASAN_POISON_MEMORY_REGION(a->base + mark, a->used - mark);
    a->used = mark;
}

void arena_close(struct arena *a)
{
    if (a->base != NULL) {
        arena_reset(a, 0);
        ASAN_UNPOISON_MEMORY_REGION(a->base, a->capacity);
        munmap(a->base, a->capacity);
    }
    memset(a, 0, sizeof *a);
}
