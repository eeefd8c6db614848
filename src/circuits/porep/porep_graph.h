/* StackedDrg's graph: who a node's parents are, and what its label is. */
#ifndef CUZK_CIRCUITS_POREP_POREP_GRAPH_H
#define CUZK_CIRCUITS_POREP_POREP_GRAPH_H

#include "formats/porep_shape.h"

struct porep_graph {
    uint64_t nodes;
    bool legacy;         /* API 1.0 */
    uint32_t drg_key[8]; /* the last word is replaced by the node */
    uint64_t feistel_key[3];
    unsigned half_bits; /* of the permutation's halves */
};

void porep_graph_init(struct porep_graph *g, const uint8_t porep_id[32], uint64_t nodes, bool legacy);

/** The 6 parents in the same layer, then the 8 in the one before.  Cost: about 5 us, most of it BLAKE2b. */
void porep_graph_parents(const struct porep_graph *g, uint32_t out[POREP_PARENTS], uint64_t node);

/** SHA-256 over replica id, layer (from 1), node and the parents' labels repeated to 37, trimmed to 254 bits.
 * In  parents  labels of the 6 DRG parents in this layer, then of the 8 expander parents in the layer before (not read in layer 1).
 *              NULL for node 0, which has none */
void porep_label(uint8_t out[32], const uint8_t replica_id[32], uint32_t layer, uint64_t node,
                 const uint8_t (*parents)[32]);
/** Which of the 14 parents stands at place i of the 37 in a layer. */
static inline unsigned porep_label_parent(unsigned layer, unsigned i)
{
    return i % (layer == 1 ? POREP_DRG_PARENTS : POREP_PARENTS);
}

#endif
