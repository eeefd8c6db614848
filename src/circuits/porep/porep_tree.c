/* Building the levels of a generated sector's trees. */
#include "circuits/porep/porep_tree.h"

#include "base/bytes.h"
#include "base/pool.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"

#include <stdlib.h>

#define MAX_ARITY 8
#define BATCH     64 /* nodes that a worker takes at a time */

void porep_tree_parent(enum porep_tree_hash hash, bls12_381_fr_int *out, const bls12_381_fr_int *children,
                       unsigned arity)
{
    if (hash == TREE_POSEIDON) {
        poseidon_node(poseidon_constants(arity), out, children);
        return;
    }
    uint8_t bytes[64], digest[32];
    words_to_le(bytes, children[0].l, 4);
    words_to_le(bytes + 32, children[1].l, 4);
    sha256_of(digest, bytes, sizeof bytes);
    sha256_trim(digest);
    words_from_le(out->l, digest, 4);
}

const bls12_381_fr_int *porep_tree_node(const struct porep_tree *tree, unsigned level, uint64_t i)
{
    const struct porep_tree_level *l = &tree->level[level];
    if (l->index == NULL) return &l->value[i % l->count];
    uint64_t low = 0, high = l->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (l->index[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->count && l->index[low] == i ? &l->value[low] : &l->fallback;
}

struct build {
    struct porep_tree *tree;
    unsigned level; /* the one being made */
};

static void build_batch(void *context, size_t batch, unsigned worker)
{
    const struct build *b = context;
    struct porep_tree_level *l = &b->tree->level[b->level];
    const unsigned arity = b->tree->arity[b->level - 1];
    const uint64_t end = (batch + 1) * BATCH < l->count ? (batch + 1) * BATCH : l->count;
    (void)worker;
    for (uint64_t i = batch * BATCH; i < end; i++) {
        bls12_381_fr_int children[MAX_ARITY];
        const uint64_t node = l->index == NULL ? i : l->index[i];
        for (unsigned c = 0; c < arity; c++)
            children[c] = *porep_tree_node(b->tree, b->level - 1, node * arity + c);
        porep_tree_parent(b->tree->hash, &l->value[i], children, arity);
    }
}

/* Room for the next level and, in a sparse tree, which nodes of it there are. */
static bool open_level(struct porep_tree_level *l, const struct porep_tree_level *below, unsigned arity)
{
    l->count = below->count % arity == 0 ? below->count / arity : 1;
    if (below->index != NULL) {
        l->index = malloc(below->count * sizeof *l->index);
        if (l->index == NULL) return false;
        l->count = 0;
        for (uint64_t i = 0; i < below->count; i++)
            if (l->count == 0 || l->index[l->count - 1] != below->index[i] / arity)
                l->index[l->count++] = below->index[i] / arity;
    }
    l->value = malloc(l->count * sizeof *l->value);
    return l->value != NULL;
}

cuzk_status porep_tree_build(struct porep_tree *out, struct task *t, enum porep_tree_hash hash,
                             const uint8_t *arity, unsigned levels, bls12_381_fr_int *leaves, uint64_t *index,
                             uint64_t count)
{
    memset(out, 0, sizeof *out);
    out->hash = hash;
    out->levels = levels;
    out->arity = arity;
    out->level[0].value = leaves;
    out->level[0].index = index;
    out->level[0].count = count;
    for (unsigned i = 1; i <= levels; i++) {
        struct porep_tree_level *l = &out->level[i], *below = &out->level[i - 1];
        struct build b = { out, i };
        cuzk_status status = task_poll(t);
        if (status == CUZK_OK && !open_level(l, below, arity[i - 1]))
            status =
                FAIL(t, CUZK_NO_MEMORY, "no memory for a tree of %llu leaves", (unsigned long long)count);
        if (status != CUZK_OK) {
            porep_tree_fini(out);
            return status;
        }
        bls12_381_fr_int same[MAX_ARITY];
        for (unsigned c = 0; c < arity[i - 1]; c++) same[c] = below->fallback;
        if (index != NULL) porep_tree_parent(hash, &l->fallback, same, arity[i - 1]);
        pool_run(t->pool, (size_t)((l->count + BATCH - 1) / BATCH), build_batch, &b);
    }
    return CUZK_OK;
}

void porep_tree_fini(struct porep_tree *tree)
{
    for (unsigned i = 0; i < POREP_TREE_LEVELS; i++) {
        free(tree->level[i].value);
        free(tree->level[i].index);
    }
    memset(tree, 0, sizeof *tree);
}
