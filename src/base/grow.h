/* Growing arrays while something is recorded or parsed. */
#ifndef CUZK_BASE_GROW_H
#define CUZK_BASE_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct words32 {
    uint32_t *data;
    size_t count, capacity;
};

/** Makes room for need elements of the given size behind *data; false: no memory, nothing changed. */
static inline bool grow(void *data, size_t *capacity, size_t need, size_t element_bytes)
{
    void **p = data;
    if (need <= *capacity) return true;
    size_t wanted = *capacity < 64 ? 64 : *capacity * 2;
    if (wanted < need) wanted = need;
    void *fresh = realloc(*p, wanted * element_bytes);
    if (fresh == NULL) return false;
    *p = fresh;
    *capacity = wanted;
    return true;
}

#endif
