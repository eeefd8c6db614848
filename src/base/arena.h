/* A bump allocator over one block: what a plan computed is taken once, carved, and given back whole. */
#ifndef CUZK_BASE_ARENA_H
#define CUZK_BASE_ARENA_H

#include "base/task.h"

#define ARENA_ALIGN 256 /* of every allocation; a multiple of a cache line and of the device's transaction */

#if defined(SANITIZE_ADDRESS)
#define ARENA_RED_ZONE ARENA_ALIGN /* poisoned bytes behind every allocation */
#else
#define ARENA_RED_ZONE 0
#endif

enum arena_flags {
    ARENA_PLAIN = 0,
    ARENA_SECRET = 1, /* wiped when given back or reset; excluded from core dumps */
};

struct arena {
    uint8_t *base;
    size_t capacity, used, peak; /* bytes */
    unsigned flags;
};

/** Bytes that an allocation takes inside an arena; plans add these up. */
static inline size_t arena_round(size_t bytes)
{
    return ((bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1)) + ARENA_RED_ZONE;
}

/** Takes capacity bytes from the system (large blocks with transparent huge pages).  CUZK_NO_MEMORY names the number. */
cuzk_status arena_open(struct arena *a, struct task *t, size_t capacity, unsigned flags) MUST_CHECK;
void arena_close(struct arena *a); /* legal on a zeroed or closed arena */

/** ARENA_ALIGN-aligned, not zeroed (red zones between allocations under ASan).  CUZK_INTERNAL if the plan was too small. */
cuzk_status arena_take(struct arena *a, struct task *t, void **out, size_t bytes) MUST_CHECK;

static inline size_t arena_mark(const struct arena *a) { return a->used; }
void arena_reset(struct arena *a, size_t mark); /* gives back all that was taken since mark */

#endif
