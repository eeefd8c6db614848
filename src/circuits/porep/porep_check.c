/* Checks of a C1 output that need no proof; each failure names its place. */
#include "circuits/porep/porep.h"
#include "circuits/porep/porep_tree.h"

#include "base/pool.h"
#include "hash/poseidon.h"

#include <stdio.h>
#include <stdlib.h>

#define FE bls12_381_fr
#include "field/fe_names.h"

struct check {
    const struct c1 *c1;
    unsigned first; /* partition */
    struct porep_public public;
    struct porep_graph graph;
    const atomic_bool *cancel;
    struct task *tasks; /* one for each challenge: the first error in order wins */
};

static const char advice[] =
    "run Commit Phase 1 again, with this sector's seed, from its undamaged sealed files";

static cuzk_status fail(const struct check *k, struct task *t, enum c1_item item, const struct c1_place *p,
                        const char *why)
{
    const cuzk_status status = c1_fail(k->c1, t, CUZK_MISMATCH, item, p, why);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL, advice);
    return status;
}

static cuzk_status check_path(const struct check *k, struct task *t, struct c1_place *p, unsigned merkle,
                              const fe_int *leaf, uint64_t node)
{
    const struct c1 *c1 = k->c1;
    const struct porep_shape *s = c1->shape;
    const struct c1_extra *x = c1_extra_of(c1, p->partition, p->challenge);
    fe_int current = *leaf, root, given;
    p->merkle = merkle;
    words_from_le(given.l, x->leaf[merkle], 4);
    words_from_le(root.l, x->root[merkle], 4);
    if (memcmp(&given, leaf, sizeof given) != 0)
        return fail(k, t, C1_LEAF, p,
                    merkle == C1_MERKLE_R ? "it is not the last label plus the data"
                                          : "it is not the hash of the column");
    for (p->level = 0; p->level < c1_levels(s, merkle); p->level++) {
        const unsigned arity = c1_arity(s, merkle, p->level), index = *c1_index(c1, p);
        fe_int children[8];
        p->sibling = 0;
        if (index != node % arity) return fail(k, t, C1_INDEX, p, "the index is not that of the node");
        const fe_int *siblings = c1_sibling(c1, p);
        for (unsigned i = 0; i < arity; i++)
            children[i] = i == index ? current : siblings[i < index ? i : i - 1];
        porep_tree_parent(merkle == C1_MERKLE_D ? TREE_SHA256 : TREE_POSEIDON, &current, children, arity);
        node /= arity;
    }
    if (memcmp(&current, &root, sizeof root) != 0)
        return fail(k, t, C1_ROOT, p, "the path does not lead to it");
    return CUZK_OK;
}

static cuzk_status check_roots(const struct check *k, struct task *t, struct c1_place *p)
{
    const struct c1 *c1 = k->c1;
    const struct c1_extra *x = c1_extra_of(c1, p->partition, p->challenge), *first = c1_extra_of(c1, 0, 0);
    for (p->merkle = 0; p->merkle < C1_MERKLE_COUNT; p->merkle++) {
        const uint8_t *expected = p->merkle == C1_MERKLE_D   ? c1->comm_d
                                  : p->merkle == C1_MERKLE_R ? first->root[C1_MERKLE_R]
                                                             : first->root[C1_MERKLE_C];
        if (memcmp(x->root[p->merkle], expected, 32) != 0)
            return fail(k, t, C1_ROOT, p,
                        p->merkle == C1_MERKLE_D ? "it is not comm_d" : "the proofs do not agree on it");
    }
    return CUZK_OK;
}

/* A parent's column against its path, and the column's number against the graph. */
static cuzk_status check_parent(const struct check *k, struct task *t, struct c1_place *p, unsigned i,
                                uint32_t node)
{
    const struct c1 *c1 = k->c1;
    const struct porep_shape *s = c1->shape;
    fe_int hash;
    p->merkle = C1_MERKLE_PARENT + i;
    if (c1_extra_of(c1, p->partition, p->challenge)->column_index[p->merkle] != node)
        return fail(k, t, C1_COLUMN_ROW, p, "the column is not of the node that the graph has as parent");
    poseidon_node(poseidon_constants(s->layers), &hash,
                  c1_numbers(c1, p->partition, p->challenge) + porep_at_column(s, i));
    return check_path(k, t, p, C1_MERKLE_PARENT + i, &hash, node);
}

/* The node's labels from its parents' columns, against its own column and the labeling proofs. */
static cuzk_status check_labels(const struct check *k, struct task *t, struct c1_place *p, uint64_t node)
{
    const struct c1 *c1 = k->c1;
    const struct porep_shape *s = c1->shape;
    const struct c1_extra *x = c1_extra_of(c1, p->partition, p->challenge);
    const fe_int *numbers = c1_numbers(c1, p->partition, p->challenge);
    for (p->label = 0; p->label <= s->layers; p->label++) {
        const unsigned layer = p->label < s->layers ? p->label + 1 : s->layers;
        uint8_t parents[POREP_PARENTS][32] = { { 0 } }, label[32];
        for (unsigned i = 0; i < (layer == 1 ? POREP_DRG_PARENTS : POREP_PARENTS); i++)
            words_to_le(parents[i],
                        numbers[porep_at_column(s, i) + (i < POREP_DRG_PARENTS ? layer - 1 : layer - 2)].l,
                        4);
        p->parent = 0;
        if (x->label_node[p->label] != node || x->label_layer[p->label] != layer)
            return fail(k, t, C1_LABEL_PARENT, p, "the proof is of another node or layer");
        for (; p->parent < POREP_LABEL_PARENTS; p->parent++)
            if (memcmp(x->label_parents[p->label][p->parent], parents[porep_label_parent(layer, p->parent)],
                       32) != 0)
                return fail(k, t, C1_LABEL_PARENT, p, "it is not the label in the parent's column");
        porep_label(label, c1->replica_id, layer, node, (const uint8_t(*)[32])parents);
        p->merkle = C1_MERKLE_C;
        p->row = layer - 1;
        if (memcmp(label, x->column[layer - 1], 32) != 0)
            return fail(k, t, C1_COLUMN_ROW, p, "it is not the label that replica id and parents give");
    }
    return CUZK_OK;
}

static cuzk_status check_own(const struct check *k, struct task *t, struct c1_place *p, uint64_t node)
{
    const struct c1 *c1 = k->c1;
    const struct porep_shape *s = c1->shape;
    const struct c1_extra *x = c1_extra_of(c1, p->partition, p->challenge);
    const fe_int *leaf = c1_numbers(c1, p->partition, p->challenge) + porep_at_leaf();
    fe_int column[POREP_MAX_LAYERS], hash, replica;
    fe_t sum, data;
    p->merkle = C1_MERKLE_C;
    p->row = 0;
    if (x->column_index[C1_MERKLE_C] != node)
        return fail(k, t, C1_COLUMN_ROW, p, "the column is not of the challenged node");
    for (unsigned i = 0; i < s->layers; i++) words_from_le(column[i].l, x->column[i], 4);
    poseidon_node(poseidon_constants(s->layers), &hash, column);
    TRY(check_path(k, t, p, C1_MERKLE_C, &hash, node));
    memcpy(&sum, &column[s->layers - 1], sizeof sum);
    memcpy(&data, leaf, sizeof data);
    fe_add(&sum, &sum, &data); /* modulo r, the same on plain integers */
    memcpy(&replica, &sum, sizeof replica);
    TRY(check_path(k, t, p, C1_MERKLE_R, &replica, node));
    return check_path(k, t, p, C1_MERKLE_D, leaf, node);
}

static cuzk_status check_challenge(const struct check *k, struct task *t, unsigned partition,
                                   unsigned challenge)
{
    const struct c1 *c1 = k->c1;
    struct c1_place p = { .partition = partition, .challenge = challenge };
    uint64_t nodes[POREP_MAX_CHALLENGES];
    uint32_t parents[POREP_PARENTS];
    porep_challenges(&k->public, partition, nodes);
    const uint64_t node = nodes[challenge];
    if (c1_challenge(c1, partition, challenge) != node) {
        char why[160];
        snprintf(why, sizeof why, "node %llu is challenged, but replica id and seed demand node %llu",
                 (unsigned long long)c1_challenge(c1, partition, challenge), (unsigned long long)node);
        return fail(k, t, C1_LABEL_PARENT, &p, why);
    }
    porep_graph_parents(&k->graph, parents, node);
    TRY(check_roots(k, t, &p));
    for (unsigned i = 0; i < POREP_PARENTS; i++) TRY(check_parent(k, t, &p, i, parents[i]));
    TRY(check_labels(k, t, &p, node));
    return check_own(k, t, &p, node);
}

static void check_body(void *context, size_t index, unsigned worker)
{
    const struct check *k = context;
    const unsigned challenges = k->c1->shape->challenges;
    (void)worker;
    if (k->cancel != NULL && atomic_load(k->cancel)) return;
    (void)check_challenge(k, &k->tasks[index], k->first + (unsigned)(index / challenges),
                          (unsigned)(index % challenges)); /* kept in the task */
}

/* Fields that all partitions share. */
static cuzk_status check_head(const struct c1 *c1, struct task *t)
{
    const struct {
        const char *name;
        const uint8_t *value;
        bool number;
    } fields[] = {
        { "comm_r", c1->comm_r, true },
        { "comm_d", c1->comm_d, true },
        { "replica_id", c1->replica_id, true },
        { "seed", c1->seed, false },
    };
    static const uint8_t zero[32];
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
        fe_int v;
        const char *why = NULL;
        words_from_le(v.l, fields[i].value, 4);
        if (memcmp(fields[i].value, zero, 32) == 0) why = "is zero";
        if (fields[i].number && !fe_int_is_canonical(&v)) why = "is not below the field's modulus";
        if (why == NULL) continue;
        const cuzk_status status = FAIL(t, CUZK_MALFORMED, "%s %s", fields[i].name, why);
        task_fail_place(t, c1->path[0] ? c1->path : NULL, ERROR_NO_OFFSET, fields[i].name, advice);
        return status;
    }
    const struct c1_extra *x = c1_extra_of(c1, 0, 0);
    fe_int roots[2], comm_r, given;
    words_from_le(roots[0].l, x->root[C1_MERKLE_C], 4);
    words_from_le(roots[1].l, x->root[C1_MERKLE_R], 4);
    words_from_le(given.l, c1->comm_r, 4);
    poseidon_node(poseidon_constants(2), &comm_r, roots);
    if (memcmp(&comm_r, &given, sizeof given) == 0) return CUZK_OK;
    const cuzk_status status = FAIL(
        t, CUZK_MISMATCH, "comm_r is not the hash of the roots of trees C and R in partition 0, challenge 0");
    task_fail_place(t, c1->path[0] ? c1->path : NULL, ERROR_NO_OFFSET, "comm_r", advice);
    return status;
}

/* Partitions first, first + 1, ... (count of them). */
static cuzk_status check_partitions(const struct c1 *c1, struct task *t, unsigned first, unsigned partitions)
{
    struct check k = { .c1 = c1, .first = first, .cancel = t->cancel };
    const size_t count = (size_t)partitions * c1->shape->challenges;
    cuzk_status status = CUZK_OK;
    TRY(check_head(c1, t));
    porep_public_of(&k.public, c1);
    porep_graph_init(&k.graph, k.public.porep_id, c1->shape->nodes, k.public.legacy_graph);
    k.tasks = malloc(count * sizeof *k.tasks);
    if (k.tasks == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to check %zu challenges", count);
    for (size_t i = 0; i < count; i++) task_init(&k.tasks[i]);
    pool_run(t->pool, count, check_body, &k);
    for (size_t i = 0; i < count && status == CUZK_OK; i++) {
        status = k.tasks[i].error.status;
        if (status != CUZK_OK && t->error.status == CUZK_OK) t->error = k.tasks[i].error;
    }
    free(k.tasks);
    return status != CUZK_OK ? status : task_poll(t);
}

cuzk_status porep_check(const struct c1 *c1, struct task *t)
{
    return check_partitions(c1, t, 0, c1->partitions);
}

cuzk_status porep_check_partition(const struct c1 *c1, struct task *t, unsigned partition)
{
    if (partition >= c1->partitions)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "partition %u of %u", partition, c1->partitions);
    return check_partitions(c1, t, partition, 1);
}
