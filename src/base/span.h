/* A view of bytes that somebody else owns. */
#ifndef CUZK_BASE_SPAN_H
#define CUZK_BASE_SPAN_H

#include "base/dialect.h"

struct span {
    const uint8_t *data; /* borrowed; no alignment is promised */
    size_t size;         /* bytes */
};

static inline struct span span_of(const void *data, size_t size)
{
    struct span s;
    s.data = (const uint8_t *)data;
    s.size = size;
    return s;
}

/** Whether [offset, offset + bytes) lies inside s; safe against overflow. */
static inline bool span_holds(struct span s, uint64_t offset, uint64_t bytes)
{
    return offset <= s.size && bytes <= s.size - offset;
}

#endif
