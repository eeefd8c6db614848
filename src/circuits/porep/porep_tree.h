/* Merkle trees of a generated sector: whole, periodic, or a few paths in an otherwise uniform tree. */
#ifndef CUZK_CIRCUITS_POREP_POREP_TREE_H
#define CUZK_CIRCUITS_POREP_POREP_TREE_H

#include "base/task.h"
#include "field/bls12_381_fields.h"

#define POREP_TREE_LEVELS 32 /* the leaves included */

enum porep_tree_hash { TREE_SHA256, TREE_POSEIDON };

/* Level l has nodes value[0..count); node i of it is value[i % count] where index is NULL, else the one whose index is i, and
 * fallback where there is none. */
struct porep_tree_level {
    bls12_381_fr_int *value;
    uint64_t *index; /* ascending; NULL: whole or periodic */
    uint64_t count;
    bls12_381_fr_int fallback;
};
struct porep_tree {
    enum porep_tree_hash hash;
    unsigned levels;      /* of hashes */
    const uint8_t *arity; /* of each, leaf level first; borrowed */
    struct porep_tree_level level[POREP_TREE_LEVELS];
};

/** Hashes upwards from leaves, which the tree takes over (malloc'ed, also on failure); in parallel on the task's pool.
 * In  index  NULL, or the ascending places of the leaves in a tree that is zero elsewhere; taken over too
 *     count  without index: divides into the arities, or is the period of the leaves */
cuzk_status porep_tree_build(struct porep_tree *out, struct task *t, enum porep_tree_hash hash,
                             const uint8_t *arity, unsigned levels, bls12_381_fr_int *leaves, uint64_t *index,
                             uint64_t count) MUST_CHECK;
void porep_tree_fini(struct porep_tree *tree);
const bls12_381_fr_int *porep_tree_node(const struct porep_tree *tree, unsigned level, uint64_t i);
static inline const bls12_381_fr_int *porep_tree_root(const struct porep_tree *tree)
{
    return porep_tree_node(tree, tree->levels, 0);
}

/** The parent of arity children.  SHA-256 trees are binary. */
void porep_tree_parent(enum porep_tree_hash hash, bls12_381_fr_int *out, const bls12_381_fr_int *children,
                       unsigned arity);

#endif
