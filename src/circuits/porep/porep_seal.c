/* The two generators: every node of a small sector, or only the nodes that a large sector's proofs open. */
#include "circuits/porep/porep_seal.h"

#include "base/bytes.h"
#include "base/pool.h"
#include "circuits/porep/porep_sector.h"
#include "hash/poseidon.h"

#include <stdlib.h>

#define FE bls12_381_fr
#include "field/fe_names.h"

#define LARGEST_WHOLE ((uint64_t)16 << 20)
#define BATCH         256

static cuzk_status no_memory(struct task *t, const struct porep_shape *s)
{
    return FAIL(t, CUZK_NO_MEMORY, "no memory to seal a sector of %s", s->name);
}

static void column_hash(fe_int *out, const uint8_t (*column)[32], unsigned layers)
{
    fe_int in[POREP_MAX_LAYERS];
    for (unsigned i = 0; i < layers; i++) words_from_le(in[i].l, column[i], 4);
    poseidon_node(poseidon_constants(layers), out, in);
}

/* The replica: the last label plus the data. */
static void encode(fe_int *out, const uint8_t label[32], const fe_int *data)
{
    fe_t x, y; /* addition modulo r is the same on plain integers */
    words_from_le(x.l, label, 4);
    memcpy(&y, data, sizeof y);
    fe_add(&x, &x, &y);
    memcpy(out, &x, sizeof *out);
}

/* -- whole -- */

static const uint8_t (*whole_column(const struct porep_sector *s, uint64_t node))[32]
{
    return (const uint8_t(*)[32])s->columns + node * s->shape->layers;
}

struct leaves {
    const struct porep_sector *s;
    const uint64_t *index; /* NULL: all nodes */
    uint64_t count;
    fe_int *c, *r;
};

static void leaf_batch(void *context, size_t batch, unsigned worker)
{
    const struct leaves *l = context;
    const unsigned layers = l->s->shape->layers;
    const uint64_t end = (batch + 1) * BATCH < l->count ? (batch + 1) * BATCH : l->count;
    (void)worker;
    for (uint64_t i = batch * BATCH; i < end; i++) {
        const uint64_t node = l->index == NULL ? i : l->index[i];
        const uint8_t(*column)[32] = l->s->column(l->s, node);
        column_hash(&l->c[i], column, layers);
        encode(&l->r[i], column[layers - 1], porep_tree_node(&l->s->d, 0, node));
    }
}

static uint64_t *copy_index(const uint64_t *index, uint64_t count)
{
    uint64_t *copy = malloc(count * sizeof *copy);
    if (copy != NULL) memcpy(copy, index, count * sizeof *copy);
    return copy;
}

/* Trees C and R over the given nodes (index NULL: all), then comm_r. */
static cuzk_status build_trees(struct porep_sector *s, struct task *t, const uint64_t *index, uint64_t count)
{
    struct leaves l = { .s = s, .index = index, .count = count };
    uint64_t *c_index = NULL, *r_index = NULL;
    l.c = malloc(count * sizeof *l.c);
    l.r = malloc(count * sizeof *l.r);
    if (index != NULL) {
        c_index = copy_index(index, count);
        r_index = copy_index(index, count);
    }
    if (l.c == NULL || l.r == NULL || (index != NULL && (c_index == NULL || r_index == NULL))) {
        free(l.c);
        free(l.r);
        free(c_index);
        free(r_index);
        return no_memory(t, s->shape);
    }
    pool_run(t->pool, (size_t)((count + BATCH - 1) / BATCH), leaf_batch, &l);
    cuzk_status status =
        porep_tree_build(&s->c, t, TREE_POSEIDON, s->shape->tree, s->shape->tree_levels, l.c, c_index, count);
    if (status != CUZK_OK) {
        free(l.r);
        free(r_index);
        return status;
    }
    TRY(porep_tree_build(&s->r, t, TREE_POSEIDON, s->shape->tree, s->shape->tree_levels, l.r, r_index,
                         count));
    porep_sector_comm_r(s);
    return CUZK_OK;
}

static const uint8_t binary[POREP_MAX_BINARY_LEVELS] = { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
                                                         2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 };

/* Random data of a period, and the tree over it. */
static cuzk_status build_data(struct porep_sector *s, struct task *t, uint64_t period)
{
    fe_int *data = malloc(period * sizeof *data);
    if (data == NULL) return no_memory(t, s->shape);
    for (uint64_t i = 0; i < period; i++) {
        uint8_t bytes[32];
        porep_sector_random(s->request, SECTOR_DATA, i, 0, bytes);
        words_from_le(data[i].l, bytes, 4);
    }
    TRY(porep_tree_build(&s->d, t, TREE_SHA256, binary, s->shape->nodes_log2, data, NULL, period));
    porep_sector_ids(s);
    return CUZK_OK;
}

/* Layer after layer, node after node: a label needs its predecessors. */
static cuzk_status label_all(struct porep_sector *s, struct task *t)
{
    const uint64_t nodes = s->shape->nodes;
    uint32_t(*parents)[POREP_PARENTS] = malloc(nodes * sizeof *parents);
    cuzk_status status = CUZK_OK;
    s->columns = calloc(nodes * s->shape->layers, 32);
    if (parents == NULL || s->columns == NULL) status = no_memory(t, s->shape);
    for (uint64_t v = 0; v < nodes && status == CUZK_OK; v++) porep_graph_parents(&s->graph, parents[v], v);
    for (unsigned layer = 1; layer <= s->shape->layers && status == CUZK_OK; layer++)
        for (uint64_t v = 0; v < nodes && status == CUZK_OK; v++) {
            uint8_t(*column)[32] = (uint8_t(*)[32])s->columns + v * s->shape->layers;
            porep_sector_label(s, column[layer - 1], layer, v, parents[v]);
            if (v % 4096 == 0) status = task_poll(t);
        }
    free(parents);
    return status;
}

cuzk_status porep_seal(struct c1 *out, struct task *t, const struct porep_seal_request *r)
{
    struct porep_sector s = { .shape = r->proof->shape, .request = r, .column = whole_column };
    cuzk_status status;
    c1_init(out);
    if (s.shape->sector_bytes > LARGEST_WHOLE) {
        FAIL(t, CUZK_UNSUPPORTED,
             "sectors above 16 MiB are not sealed whole; the sparse form gives vanilla proofs of any size");
        task_fail_place(t, NULL, ERROR_NO_OFFSET, "size", "ask for the sparse form: cuzk gen c1 --sparse");
        return CUZK_UNSUPPORTED;
    }
    TRY_GOTO(out, build_data(&s, t, s.shape->nodes));
    TRY_GOTO(out, label_all(&s, t));
    TRY_GOTO(out, build_trees(&s, t, NULL, s.shape->nodes));
    status = porep_sector_open(&s, t, out);
out:
    porep_sector_fini(&s);
    if (status != CUZK_OK) c1_fini(out);
    return status;
}

/* -- sparse -- */

/* The nodes that are opened anywhere, ascending, and their columns. */
struct opened {
    uint64_t count;
    uint64_t *node;
    uint8_t *challenged; /* 1: a challenge, 0: only a parent of one */
    uint8_t (*column)[POREP_MAX_LAYERS][32];
};

static uint64_t find_opened(const struct opened *o, uint64_t node)
{
    uint64_t low = 0, high = o->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (o->node[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const uint8_t (*sparse_column(const struct porep_sector *s, uint64_t node))[32]
{
    const struct opened *o = s->columns;
    return (const uint8_t(*)[32])o->column[find_opened(o, node)];
}

static int compare_nodes(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* All challenges and their parents. */
static cuzk_status collect(struct porep_sector *s, struct task *t, struct opened *o)
{
    const unsigned partitions = registered_proof_partitions(s->request->proof);
    const size_t most = (size_t)partitions * s->shape->challenges * (1 + POREP_PARENTS);
    o->node = malloc(most * sizeof *o->node);
    o->challenged = calloc(most, 1);
    o->column = malloc(most * sizeof *o->column);
    if (o->node == NULL || o->challenged == NULL || o->column == NULL) return no_memory(t, s->shape);
    uint64_t nodes[POREP_MAX_CHALLENGES];
    for (unsigned k = 0; k < partitions; k++) {
        porep_challenges(&s->public, k, nodes);
        for (unsigned i = 0; i < s->shape->challenges; i++) {
            uint32_t parents[POREP_PARENTS];
            porep_graph_parents(&s->graph, parents, nodes[i]);
            o->node[o->count++] = nodes[i];
            for (unsigned j = 0; j < POREP_PARENTS; j++) o->node[o->count++] = parents[j];
        }
    }
    qsort(o->node, o->count, sizeof *o->node, compare_nodes);
    uint64_t n = 0;
    for (uint64_t i = 0; i < o->count; i++)
        if (i == 0 || o->node[i] != o->node[i - 1]) o->node[n++] = o->node[i];
    o->count = n;
    for (unsigned k = 0; k < partitions; k++) {
        porep_challenges(&s->public, k, nodes);
        for (unsigned i = 0; i < s->shape->challenges; i++) o->challenged[find_opened(o, nodes[i])] = 1;
    }
    return CUZK_OK;
}

/* Random columns, but a challenge's from its parents'.  Layer by layer in ascending order: DRG parents are lower nodes of the same
 * layer, expander parents are of the layer before. */
static void label_opened(const struct porep_sector *s, const struct opened *o)
{
    for (unsigned layer = 1; layer <= s->shape->layers; layer++)
        for (uint64_t i = 0; i < o->count; i++) {
            uint32_t parents[POREP_PARENTS];
            if (!o->challenged[i]) {
                porep_sector_random(s->request, SECTOR_LABEL, o->node[i], layer, o->column[i][layer - 1]);
                continue;
            }
            porep_graph_parents(&s->graph, parents, o->node[i]);
            porep_sector_label(s, o->column[i][layer - 1], layer, o->node[i], parents);
        }
}

#define SPARSE_PERIOD 1024 /* leaves of tree D: its ten lowest levels are random */

cuzk_status porep_seal_sparse(struct c1 *out, struct task *t, const struct porep_seal_request *r)
{
    struct opened o = { 0 };
    struct porep_sector s = { .shape = r->proof->shape, .request = r, .column = sparse_column };
    cuzk_status status;
    c1_init(out);
    if (r->proof->feature != POREP_INTERACTIVE)
        return FAIL(t, CUZK_UNSUPPORTED,
                    "the challenges of %s depend on comm_r, which a sparse sector cannot know before",
                    r->proof->name);
    s.columns = &o;
    TRY_GOTO(out, build_data(&s, t, s.shape->nodes < SPARSE_PERIOD ? s.shape->nodes : SPARSE_PERIOD));
    TRY_GOTO(out, collect(&s, t, &o));
    label_opened(&s, &o);
    TRY_GOTO(out, build_trees(&s, t, o.node, o.count));
    status = porep_sector_open(&s, t, out);
out:
    s.columns = NULL;
    free(o.node);
    free(o.challenged);
    free(o.column);
    porep_sector_fini(&s);
    if (status != CUZK_OK) c1_fini(out);
    return status;
}
