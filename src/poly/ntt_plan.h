/* How a transform is cut into passes over memory, and which twiddle factors it reads.
 *
 * Levels are numbered by the log2 of the sub-transform's length l: level l joins two halves of 2^(l-1).  Decimation in frequency
 * runs from level log2 down to 1 (natural to bit-reversed order), decimation in time from 1 up (bit-reversed to natural).  The
 * levels up to block_log2 touch one contiguous block at a time and run together inside a cache; those above run as passes over
 * the whole vector, two levels a pass.
 *
 * Twiddle table: entry 2^(l-1) + j holds (root of order 2^l)^j, j < 2^(l-1), so that each level reads contiguously and a table
 * serves every smaller domain of its convention.  Levels above table_log2 compute theirs as they go. */
#ifndef CUZK_POLY_NTT_PLAN_H
#define CUZK_POLY_NTT_PLAN_H

#include "poly/domain.h"

#define NTT_BLOCK_LOG2 12 /* 128 KiB of elements: half of the smallest second-level cache in use */
#define NTT_TABLE_LOG2 20 /* 32 MiB a table */
#define NTT_PIECE_LOG2 10 /* butterflies of a pass that run as one task */

struct ntt_plan {
    unsigned log2;
    unsigned block_log2; /* levels that run inside a cache */
    unsigned table_log2; /* levels with a table */
    uint64_t block_count;
    size_t table_bytes; /* elements of 32 bytes */
};

void ntt_plan(struct ntt_plan *out, unsigned log2);

#endif
