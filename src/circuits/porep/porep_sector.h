/* A sector of the generator as its openings see it, whole or sparse. */
#ifndef CUZK_CIRCUITS_POREP_POREP_SECTOR_H
#define CUZK_CIRCUITS_POREP_POREP_SECTOR_H

#include "circuits/porep/porep_inputs.h"
#include "circuits/porep/porep_seal.h"
#include "circuits/porep/porep_tree.h"

struct porep_sector {
    const struct porep_shape *shape;
    struct porep_graph graph;
    struct porep_public public;
    uint8_t porep_id[32], prover_id[32], ticket[32];
    const struct porep_seal_request *request;
    struct porep_tree d, c, r;
    void *columns;
    /* A node's labels, layer 1 first: shape->layers values. */
    const uint8_t (*(*column)(const struct porep_sector *s, uint64_t node))[32];
};

/** Bytes of the deterministic stream that everything random comes from: SHA-256(request seed, what, i, j); trimmed, so below 2^254. */
void porep_sector_random(const struct porep_seal_request *r, uint32_t what, uint64_t i, uint32_t j,
                         uint8_t out[32]);
enum { SECTOR_DATA, SECTOR_LABEL, SECTOR_TICKET, SECTOR_SEED };

/** The ids of a sector whose tree D is built. */
void porep_sector_ids(struct porep_sector *s);
/** comm_r from trees C and R. */
void porep_sector_comm_r(struct porep_sector *s);
/** Opens all challenges of all partitions. */
cuzk_status porep_sector_open(const struct porep_sector *s, struct task *t, struct c1 *out) MUST_CHECK;
void porep_sector_fini(struct porep_sector *s);

/** The label of a node in a layer (from 1) from the columns of its parents. */
void porep_sector_label(const struct porep_sector *s, uint8_t out[32], unsigned layer, uint64_t node,
                        const uint32_t parents[POREP_PARENTS]);

#endif
