/* What a sector size means for Filecoin's PoRep: graph, trees, partitions; and the registered seal proofs. */
#ifndef CUZK_FORMATS_POREP_SHAPE_H
#define CUZK_FORMATS_POREP_SHAPE_H

#include "base/dialect.h"

#define POREP_DRG_PARENTS       6
#define POREP_EXP_PARENTS       8
#define POREP_PARENTS           14 /* of a node, 6 in the same layer and 8 in the one before */
#define POREP_LABEL_PARENTS     37 /* after repetition */
#define POREP_MAX_LAYERS        11
#define POREP_MAX_TREE_LEVELS   12
#define POREP_MAX_BINARY_LEVELS 31
#define POREP_MAX_CHALLENGES    18  /* in a partition */
#define POREP_MAX_PARTITIONS    126 /* non-interactive, 32 and 64 GiB */

struct porep_shape {
    const char *name; /* "32GiB" */
    uint64_t sector_bytes;
    uint64_t nodes;      /* of 32 bytes */
    unsigned nodes_log2; /* levels of tree D */
    unsigned layers;
    unsigned partitions;                 /* interactive and synthetic */
    unsigned challenges;                 /* in a partition */
    unsigned ni_partitions;              /* non-interactive */
    unsigned sub, top;                   /* arities of the levels above the base trees, 0: none */
    unsigned base_levels;                /* of arity 8 */
    unsigned tree_levels;                /* of trees C and R in all */
    uint8_t tree[POREP_MAX_TREE_LEVELS]; /* their arities, leaf level first */
};

enum porep_feature { POREP_INTERACTIVE, POREP_SYNTHETIC, POREP_NON_INTERACTIVE };

struct registered_proof {
    unsigned number;  /* 0..19 */
    const char *name; /* "StackedDrg32GiBV1_1" */
    const struct porep_shape *shape;
    bool legacy_graph; /* API 1.0: other order and width of parents */
    enum porep_feature feature;
};

/** The five real sizes and the small test-only ones (4KiB, 16KiB, 32KiB, 16MiB, 1GiB).  By name or by bytes; NULL: none. */
const struct porep_shape *porep_shape_by_name(const char *name);
const struct porep_shape *porep_shape_by_bytes(uint64_t sector_bytes);

#define REGISTERED_PROOF_COUNT 20
const struct registered_proof *registered_proof_by_number(unsigned number); /* NULL: none */
const struct registered_proof *registered_proof_by_name(const char *name, size_t length);

static inline unsigned registered_proof_partitions(const struct registered_proof *r)
{
    return r->feature == POREP_NON_INTERACTIVE ? r->shape->ni_partitions : r->shape->partitions;
}

/** 32 bytes: the number, nonce 0. */
void registered_proof_porep_id(const struct registered_proof *r, uint8_t out[32]);

/* -- the statement of a partition, flat: what the circuit reads, in its order -- */
/* Numbers of one challenge: leaf; siblings of the tree D path; for each parent its column and the siblings of its path; siblings of
 * the tree R path; of the tree C path.  Words: the index of each level of these paths (32-bit each), the challenge's number
 * (low, high) standing between the parents and the tree R path. */
static inline unsigned porep_path_siblings(const struct porep_shape *s)
{
    unsigned n = 0;
    for (unsigned i = 0; i < s->tree_levels; i++) n += s->tree[i] - 1u;
    return n;
}
static inline unsigned porep_at_leaf(void) { return 0; }
static inline unsigned porep_at_d_path(void) { return 1; }
static inline unsigned porep_at_column(const struct porep_shape *s, unsigned parent)
{
    return 1 + s->nodes_log2 + parent * (s->layers + porep_path_siblings(s));
}
static inline unsigned porep_at_parent_path(const struct porep_shape *s, unsigned parent)
{
    return porep_at_column(s, parent) + s->layers;
}
static inline unsigned porep_at_r_path(const struct porep_shape *s)
{
    return porep_at_column(s, POREP_PARENTS);
}
static inline unsigned porep_at_c_path(const struct porep_shape *s)
{
    return porep_at_r_path(s) + porep_path_siblings(s);
}
static inline unsigned porep_challenge_numbers(const struct porep_shape *s)
{
    return porep_at_c_path(s) + porep_path_siblings(s);
}

static inline unsigned porep_at_d_index(void) { return 0; }
static inline unsigned porep_at_parent_index(const struct porep_shape *s, unsigned parent)
{
    return s->nodes_log2 + parent * s->tree_levels;
}
static inline unsigned porep_at_challenge(const struct porep_shape *s)
{
    return porep_at_parent_index(s, POREP_PARENTS);
}
static inline unsigned porep_at_r_index(const struct porep_shape *s) { return porep_at_challenge(s) + 2; }
static inline unsigned porep_at_c_index(const struct porep_shape *s)
{
    return porep_at_r_index(s) + s->tree_levels;
}
static inline unsigned porep_challenge_words(const struct porep_shape *s)
{
    return porep_at_c_index(s) + s->tree_levels;
}

/* Numbers of the header, before the first challenge. */
enum { POREP_REPLICA_ID, POREP_COMM_D, POREP_COMM_R, POREP_COMM_R_LAST, POREP_COMM_C, POREP_HEADER_NUMBERS };

#endif
