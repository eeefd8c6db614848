/* What sealed and sparse sectors have in common: ids, and the opening of challenges. */
#include "circuits/porep/porep_sector.h"

#include "hash/poseidon.h"
#include "hash/sha256.h"

#include <stdlib.h>

void porep_sector_random(const struct porep_seal_request *r, uint32_t what, uint64_t i, uint32_t j,
                         uint8_t out[32])
{
    uint8_t message[24];
    store_le64(message, r->seed);
    store_le32(message + 8, what);
    store_le64(message + 12, i);
    store_le32(message + 20, j);
    sha256_of(out, message, sizeof message);
    sha256_trim(out);
}

void porep_sector_ids(struct porep_sector *s)
{
    uint8_t seed[32], comm_d[32], replica_id[32];
    const uint8_t zero[32] = { 0 };
    words_to_le(comm_d, porep_tree_root(&s->d)->l, 4);
    registered_proof_porep_id(s->request->proof, s->porep_id);
    porep_graph_init(&s->graph, s->porep_id, s->shape->nodes, s->request->proof->legacy_graph);
    porep_prover_id(s->prover_id, s->request->miner);
    porep_sector_random(s->request, SECTOR_TICKET, 0, 0, s->ticket);
    porep_sector_random(s->request, SECTOR_SEED, 0, 0, seed);
    porep_replica_id(replica_id, s->prover_id, s->request->sector, s->ticket, comm_d, s->porep_id);
    porep_public_init(&s->public, s->request->proof, replica_id, comm_d, zero, seed);
}

void porep_sector_comm_r(struct porep_sector *s)
{
    const bls12_381_fr_int roots[2] = { *porep_tree_root(&s->c), *porep_tree_root(&s->r) };
    bls12_381_fr_int comm_r;
    poseidon_node(poseidon_constants(2), &comm_r, roots);
    words_to_le(s->public.comm_r, comm_r.l, 4);
}

void porep_sector_fini(struct porep_sector *s)
{
    porep_tree_fini(&s->d);
    porep_tree_fini(&s->c);
    porep_tree_fini(&s->r);
    free(s->columns);
    memset(s, 0, sizeof *s);
}

void porep_sector_label(const struct porep_sector *s, uint8_t out[32], unsigned layer, uint64_t node,
                        const uint32_t parents[POREP_PARENTS])
{
    uint8_t labels[POREP_PARENTS][32];
    const unsigned count = layer == 1 ? POREP_DRG_PARENTS : POREP_PARENTS;
    for (unsigned i = 0; i < count && node != 0; i++)
        memcpy(labels[i], s->column(s, parents[i])[i < POREP_DRG_PARENTS ? layer - 1 : layer - 2], 32);
    porep_label(out, s->public.replica_id, layer, node, node == 0 ? NULL : (const uint8_t(*)[32])labels);
}

static cuzk_status put_number(struct c1 *c, struct task *t, enum c1_item item, const struct c1_place *p,
                              const bls12_381_fr_int *v)
{
    uint8_t bytes[32];
    words_to_le(bytes, v->l, 4);
    return c1_put_hash(c, t, item, p, bytes);
}

static cuzk_status open_path(const struct porep_tree *tree, struct task *t, struct c1 *c,
                             const struct c1_place *where, uint64_t node)
{
    struct c1_place p = *where;
    TRY(put_number(c, t, C1_ROOT, &p, porep_tree_root(tree)));
    TRY(put_number(c, t, C1_LEAF, &p, porep_tree_node(tree, 0, node)));
    for (p.level = 0; p.level < tree->levels; p.level++) {
        const unsigned arity = tree->arity[p.level];
        const uint64_t first = node - node % arity;
        p.sibling = 0;
        TRY(c1_put_index(c, t, &p, node % arity));
        for (unsigned i = 0; i < arity; i++) {
            if (first + i == node) continue;
            TRY(put_number(c, t, C1_SIBLING, &p, porep_tree_node(tree, p.level, first + i)));
            p.sibling++;
        }
        node /= arity;
    }
    return CUZK_OK;
}

static cuzk_status open_column(const struct porep_sector *s, struct task *t, struct c1 *c, struct c1_place *p,
                               unsigned merkle, uint64_t node)
{
    p->merkle = merkle;
    c1_extra_of(c, p->partition, p->challenge)->column_index[merkle] = (uint32_t)node;
    for (p->row = 0; p->row < s->shape->layers; p->row++)
        TRY(c1_put_hash(c, t, C1_COLUMN_ROW, p, s->column(s, node)[p->row]));
    p->row = 0;
    return open_path(&s->c, t, c, p, node);
}

static cuzk_status open_labels(const struct porep_sector *s, struct task *t, struct c1 *c, struct c1_place *p,
                               uint64_t node, const uint32_t parents[POREP_PARENTS])
{
    struct c1_extra *x = c1_extra_of(c, p->partition, p->challenge);
    for (p->label = 0; p->label <= s->shape->layers; p->label++) {
        const unsigned layer = p->label < s->shape->layers ? p->label + 1 : s->shape->layers;
        x->label_layer[p->label] = layer;
        x->label_node[p->label] = node;
        for (p->parent = 0; p->parent < POREP_LABEL_PARENTS; p->parent++) {
            const unsigned i = porep_label_parent(layer, p->parent);
            TRY(c1_put_hash(c, t, C1_LABEL_PARENT, p,
                            s->column(s, parents[i])[i < POREP_DRG_PARENTS ? layer - 1 : layer - 2]));
        }
    }
    return CUZK_OK;
}

static cuzk_status open_challenge(const struct porep_sector *s, struct task *t, struct c1 *c,
                                  unsigned partition, unsigned challenge, uint64_t node)
{
    struct c1_place p = { .partition = partition, .challenge = challenge };
    uint32_t parents[POREP_PARENTS];
    porep_graph_parents(&s->graph, parents, node);
    p.merkle = C1_MERKLE_D;
    TRY(open_path(&s->d, t, c, &p, node));
    p.merkle = C1_MERKLE_R;
    TRY(open_path(&s->r, t, c, &p, node));
    TRY(open_column(s, t, c, &p, C1_MERKLE_C, node));
    for (unsigned i = 0; i < POREP_PARENTS; i++)
        TRY(open_column(s, t, c, &p, C1_MERKLE_PARENT + i, parents[i]));
    return open_labels(s, t, c, &p, node, parents);
}

cuzk_status porep_sector_open(const struct porep_sector *s, struct task *t, struct c1 *c)
{
    c1_init(c);
    c->proof = s->request->proof;
    c->shape = s->shape;
    for (unsigned k = 0; k < registered_proof_partitions(c->proof); k++) {
        uint64_t nodes[POREP_MAX_CHALLENGES];
        TRY(task_poll(t));
        TRY(c1_add_partition(c, t));
        porep_challenges(&s->public, k, nodes);
        for (unsigned i = 0; i < s->shape->challenges; i++) TRY(open_challenge(s, t, c, k, i, nodes[i]));
    }
    memcpy(c->comm_r, s->public.comm_r, 32);
    memcpy(c->comm_d, s->public.comm_d, 32);
    memcpy(c->replica_id, s->public.replica_id, 32);
    memcpy(c->seed, s->public.seed, 32);
    memcpy(c->ticket, s->ticket, 32);
    memcpy(c->prover_id, s->prover_id, 32);
    c->sector_number = s->request->sector;
    c->sector_bytes = s->shape->sector_bytes;
    c->has_sector = c->has_prover = true;
    return c1_complete(c, t);
}
