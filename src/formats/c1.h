/* A PoRep's vanilla proofs (the output of Commit Phase 1) in memory: what the circuit reads, flat and in its order, and the rest that
 * is there to be checked.  Filled by c1json.h and c1bincode.h, or by a generator. */
#ifndef CUZK_FORMATS_C1_H
#define CUZK_FORMATS_C1_H

#include "base/span.h"
#include "base/task.h"
#include "field/bls12_381_fields.h"
#include "formats/porep_shape.h"

/* The Merkle proofs of one challenge. */
enum c1_merkle {
    C1_MERKLE_D,
    C1_MERKLE_R,
    C1_MERKLE_C,
    C1_MERKLE_PARENT,
    C1_MERKLE_COUNT = C1_MERKLE_PARENT + POREP_PARENTS
};

/* What a proof holds beside the circuit's statement. */
struct c1_extra {
    uint8_t root[C1_MERKLE_COUNT][32], leaf[C1_MERKLE_COUNT][32];
    uint8_t column[POREP_MAX_LAYERS][32];       /* of the challenged node itself */
    uint32_t column_index[C1_MERKLE_COUNT];     /* of the columns; D and R have none */
    uint32_t label_layer[POREP_MAX_LAYERS + 1]; /* the last is the encoding proof */
    uint64_t label_node[POREP_MAX_LAYERS + 1];
    uint8_t label_parents[POREP_MAX_LAYERS + 1][POREP_LABEL_PARENTS][32];
};

struct c1 {
    const struct registered_proof *proof;
    const struct porep_shape *shape;
    unsigned partitions; /* in the file; challenges in each: shape->challenges */
    uint8_t comm_r[32], comm_d[32], replica_id[32], seed[32], ticket[32];
    bls12_381_fr_int *numbers; /* partitions * challenges * porep_challenge_numbers(shape) */
    uint32_t *words;           /* likewise, porep_challenge_words */
    struct c1_extra *extra;    /* partitions * challenges */
    unsigned capacity;         /* partitions that there is room for */
    /* Of the wrapper around it, where there is one. */
    bool has_sector, has_prover;
    uint64_t sector_number, sector_bytes;
    uint8_t prover_id[32];
    char path[ERROR_PATH_BYTES]; /* of the file, for messages; may be empty */
};

void c1_init(struct c1 *c);
void c1_fini(struct c1 *c); /* wipes the vanilla proofs */
/** Room for one more partition; the first call needs shape.  CUZK_MALFORMED beyond POREP_MAX_PARTITIONS. */
cuzk_status c1_add_partition(struct c1 *c, struct task *t) MUST_CHECK;

/** Heap that reading a C1 output of this size takes at most, of whichever proof type: 24 MB for 32 GiB interactive would do with 11, but
 * non-interactive proofs have more partitions. */
uint64_t c1_bytes_most(const struct porep_shape *shape);

/* A hash of the file, or a level's index: which, and where. */
enum c1_item { C1_ROOT, C1_LEAF, C1_SIBLING, C1_INDEX, C1_COLUMN_ROW, C1_LABEL_PARENT };
struct c1_place {
    unsigned partition, challenge;
    unsigned merkle;         /* enum c1_merkle, + i for parent i */
    unsigned level, sibling; /* of C1_SIBLING; level of C1_INDEX */
    unsigned row;            /* of C1_COLUMN_ROW: layer - 1 */
    unsigned label, parent;  /* of C1_LABEL_PARENT */
};
unsigned c1_levels(const struct porep_shape *s, unsigned merkle);
unsigned c1_arity(const struct porep_shape *s, unsigned merkle, unsigned level);

/** Where the statement's numbers and words of one challenge stand. */
bls12_381_fr_int *c1_numbers(const struct c1 *c, unsigned partition, unsigned challenge);
uint32_t *c1_words(const struct c1 *c, unsigned partition, unsigned challenge);
struct c1_extra *c1_extra_of(const struct c1 *c, unsigned partition, unsigned challenge);
/** The challenged node, as the statement has it. */
uint64_t c1_challenge(const struct c1 *c, unsigned partition, unsigned challenge);
bls12_381_fr_int *c1_sibling(const struct c1 *c, const struct c1_place *p);
uint32_t *c1_index(const struct c1 *c, const struct c1_place *p);

/** Stores a hash.  CUZK_MALFORMED if the circuit reads it and it is not below the field's modulus; the error names the place. */
cuzk_status c1_put_hash(struct c1 *c, struct task *t, enum c1_item item, const struct c1_place *p,
                        const uint8_t hash[32]) MUST_CHECK;
/** Stores the index of a level.  CUZK_MALFORMED if it is not below the arity. */
cuzk_status c1_put_index(struct c1 *c, struct task *t, const struct c1_place *p, uint64_t index) MUST_CHECK;
/** "partition 3, challenge 7, DRG parent 2, path level 4" into text; for messages. */
void c1_place_text(char *text, size_t bytes, enum c1_item item, const struct c1_place *p);
/** FAIL with the file, the place and a reason. */
cuzk_status c1_fail(const struct c1 *c, struct task *t, cuzk_status status, enum c1_item item,
                    const struct c1_place *p, const char *why);

/** Ends a reading: the proof type must agree with the vanilla proofs' size and count. */
cuzk_status c1_complete(struct c1 *c, struct task *t) MUST_CHECK;

/** Reads a C1 output of any form (plain JSON, JSON with base64 in Phase1Out, bincode with or without the C2Input wrapper).
 * path is for messages only. */
cuzk_status c1_read(struct c1 *out, struct task *t, struct span file, const char *path) MUST_CHECK;

#endif
