/* Which parts of one block of memory are taken: first fit, neighbours joined.  Knows offsets only, never touches the memory. */
#ifndef CUZK_BACKEND_CUDA_BLOCK_LIST_H
#define CUZK_BACKEND_CUDA_BLOCK_LIST_H

#include "base/task.h"

enum { BLOCK_ALIGN = 256, BLOCKS_MAX = 1024 };

struct block_list {
    const char *name;   /* "device memory", for errors */
    uint64_t bytes;
    size_t count;       /* taken blocks, by offset */
    struct { uint64_t offset, bytes; } taken[BLOCKS_MAX];
};

void block_list_init(struct block_list *l, const char *name, uint64_t bytes);

/** Errors  CUZK_NO_MEMORY  no gap is large enough now      CUZK_TOO_LARGE  larger than the whole block */
cuzk_status block_take(struct block_list *l, struct task *t, uint64_t *offset, uint64_t bytes) MUST_CHECK;

/** offset as block_take gave it.  Returns the block's bytes. */
uint64_t block_give(struct block_list *l, uint64_t offset);

uint64_t block_list_used(const struct block_list *l); /* bytes */

#endif
