/* How a transform is cut into passes over memory. */
#include "poly/ntt_plan.h"

void ntt_plan(struct ntt_plan *out, unsigned log2)
{
    out->log2 = log2;
    out->block_log2 = log2 < NTT_BLOCK_LOG2 ? log2 : NTT_BLOCK_LOG2;
    out->table_log2 = log2 < NTT_TABLE_LOG2 ? log2 : NTT_TABLE_LOG2;
    out->block_count = (uint64_t)1 << (log2 - out->block_log2);
    out->table_bytes = (size_t)32 << out->table_log2;
}
