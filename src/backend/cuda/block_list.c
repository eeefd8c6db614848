/* Which parts of one block of memory are taken: first fit, neighbours joined. */
#include "backend/cuda/block_list.h"

#include <string.h>

void block_list_init(struct block_list *l, const char *name, uint64_t bytes)
{
    memset(l, 0, sizeof *l);
    l->name = name;
    l->bytes = bytes;
}

cuzk_status block_take(struct block_list *l, struct task *t, uint64_t *offset, uint64_t bytes)
{
    const uint64_t want = (bytes ? bytes + BLOCK_ALIGN - 1 : BLOCK_ALIGN) & ~(uint64_t)(BLOCK_ALIGN - 1);
    if (want < bytes || want > l->bytes)
        return FAIL(t, CUZK_TOO_LARGE, "%llu bytes of %s are needed, and there are %llu in all", (unsigned long long)bytes, l->name,
                    (unsigned long long)l->bytes);
    uint64_t at = 0;
    size_t i = 0;
    for (; i < l->count; i++) {
        if (l->taken[i].offset - at >= want) break;
        at = l->taken[i].offset + l->taken[i].bytes;
    }
    if ((i == l->count && l->bytes - at < want) || l->count == BLOCKS_MAX)
        return FAIL(t, CUZK_NO_MEMORY, "%llu bytes of %s are needed; %llu of %llu are taken", (unsigned long long)bytes, l->name,
                    (unsigned long long)block_list_used(l), (unsigned long long)l->bytes);
    memmove(&l->taken[i + 1], &l->taken[i], (l->count - i) * sizeof l->taken[0]);
    l->taken[i].offset = at;
    l->taken[i].bytes = want;
    l->count++;
    *offset = at;
    return CUZK_OK;
}

uint64_t block_give(struct block_list *l, uint64_t offset)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->taken[i].offset == offset) {
            const uint64_t bytes = l->taken[i].bytes;
            l->count--;
            memmove(&l->taken[i], &l->taken[i + 1], (l->count - i) * sizeof l->taken[0]);
            return bytes;
        }
    return 0;
}

uint64_t block_list_used(const struct block_list *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < l->count; i++) sum += l->taken[i].bytes;
    return sum;
}
