/* The order of a scope's operations: which chains of them can run side by side, and when.
 *
 * Keys are the long operations, and those that need the results of more than one key.  Any other operation needs one key at most: it
 * belongs to that key's small change, or to the prologue if it needs none.  A key that needs one other, which nothing else needs, goes on
 * with its strand; other keys begin one.  A strand's wave is as late as those that need it allow, so that the many that nothing needs
 * run together with the last. */
#include "r1cs/image_program_inside.h"

#include "hash/poseidon.h"

#define KEY_NONE UINT32_MAX

/* What is found out about an operation, by its place in the program. */
struct node {
    uint32_t key;   /* that it needs, itself if it is one; KEY_NONE: the prologue's */
    uint32_t level; /* among what belongs to its key, 0 for the key; in the prologue */
    uint32_t strand;
    /* of keys */
    uint32_t needs_count, needs; /* other keys, the last one */
    uint32_t needed_count;       /* by other keys */
    uint32_t seen;               /* the last key that needed it */
};

struct strand {
    uint32_t first;  /* its first key */
    uint32_t height; /* of strands that wait for it, one behind the other */
};

struct order {
    struct program_maker *mk;
    struct program_body *b;
    struct node *nodes;
    struct strand *strands;
    uint32_t strand_count;
    uint32_t *needs; /* of one operation */
    size_t needs_count, needs_capacity;
};

/* -- what an operation needs -- */

static cuzk_status add_need(struct order *o, uint32_t writer)
{
    TRY(maker_room(o->mk, &o->needs, &o->needs_capacity, o->needs_count + 1, sizeof *o->needs));
    o->needs[o->needs_count++] = writer;
    return CUZK_OK;
}

static cuzk_status need_word(struct order *o, uint32_t reg) { return add_need(o, o->b->words[reg].writer); }

static cuzk_status need_number(struct order *o, uint32_t slot)
{
    return slot & NUMBER_IMPORT ? CUZK_OK : add_need(o, o->b->number_writer[slot]);
}

/* Fills o->needs with the operations whose results op reads. */
static cuzk_status find_needs(struct order *o, const struct program_op *op)
{
    const struct image_program *p = o->mk->out;
    const struct step *s = &op->s;
    const uint32_t count = s->code == STEP_CALL ? p->functions[s->b].argument_count : s->count;
    o->needs_count = 0;
    switch (s->code) {
    case STEP_CH:
    case STEP_MAJ:
        TRY(need_word(o, s->c)); /* fall through */
    case STEP_XOR:
    case STEP_AND:
        TRY(need_word(o, s->b)); /* fall through */
    case STEP_BSWAP:
        return need_word(o, s->a);
    case STEP_ADD:
    case STEP_PACK:
    case STEP_PACK_INPUT:
    case STEP_CALL:
        for (uint32_t i = 0; i < count; i++)
            TRY(need_word(o, p->arguments[s->a + i] & (s->code == STEP_PACK_INPUT ? 0xffffffu : UINT32_MAX)));
        return CUZK_OK;
    case STEP_POSEIDON:
        for (uint32_t i = 0; i < s->count; i++) TRY(need_number(o, p->arguments[s->a + i]));
        return CUZK_OK;
    case STEP_PICK:
        TRY(need_word(o, s->dst)); /* fall through */
    case STEP_SUM:
        TRY(need_number(o, s->b)); /* fall through */
    case STEP_TO_BITS:
    case STEP_INPUT:
        return need_number(o, s->a);
    default:
        return CUZK_OK; /* CONST, SOURCE, INDEX, IMPORT */
    }
}

/* -- keys and strands -- */

static void classify(struct order *o, uint32_t index)
{
    const struct program_op *op = &o->mk->out->ops[o->b->first_op + index];
    struct node *n = &o->nodes[index];
    uint32_t key = KEY_NONE;
    bool several = false;
    for (size_t i = 0; i < o->needs_count; i++) {
        const uint32_t k = o->nodes[o->needs[i]].key;
        if (k == KEY_NONE) continue;
        several |= key != KEY_NONE && key != k;
        key = k;
    }
    n->seen = KEY_NONE;
    if (!several && !program_op_is_long(op)) {
        n->key = key;
        n->level = 0;
        for (size_t i = 0; i < o->needs_count; i++) {
            const struct node *from = &o->nodes[o->needs[i]];
            if (from->key == key && from->level > n->level) n->level = from->level;
        }
        n->level++;
        return;
    }
    n->key = index;
    n->level = 0;
    for (size_t i = 0; i < o->needs_count; i++) {
        const uint32_t k = o->nodes[o->needs[i]].key;
        if (k == KEY_NONE || o->nodes[k].seen == index) continue;
        o->nodes[k].seen = index;
        o->nodes[k].needed_count++;
        n->needs_count++;
        n->needs = k;
    }
}

static cuzk_status make_strands(struct order *o)
{
    for (uint32_t i = 0; i < o->b->op_count; i++) {
        TRY(find_needs(o, &o->mk->out->ops[o->b->first_op + i]));
        classify(o, i);
    }
    for (uint32_t i = 0; i < o->b->op_count; i++) {
        struct node *n = &o->nodes[i];
        if (n->key != i) continue;
        if (n->needs_count == 1 && o->nodes[n->needs].needed_count == 1) {
            n->strand = o->nodes[n->needs].strand;
            continue;
        }
        n->strand = o->strand_count;
        o->strands[o->strand_count++] = (struct strand){ i, 0 };
    }
    return CUZK_OK;
}

/* A strand's first key is the only one that needs others, all of them in strands that began earlier. */
static cuzk_status make_heights(struct order *o, uint32_t *highest)
{
    *highest = 0;
    for (uint32_t s = o->strand_count; s-- > 0;) {
        const uint32_t height = o->strands[s].height;
        if (height > *highest) *highest = height;
        TRY(find_needs(o, &o->mk->out->ops[o->b->first_op + o->strands[s].first]));
        for (size_t i = 0; i < o->needs_count; i++) {
            const uint32_t k = o->nodes[o->needs[i]].key;
            if (k != KEY_NONE && o->strands[o->nodes[k].strand].height <= height)
                o->strands[o->nodes[k].strand].height = height + 1;
        }
    }
    return CUZK_OK;
}

/* -- the order -- */

struct place {
    uint32_t strand; /* 0: the prologue, then the strands */
    uint32_t key, level, code, index;
};

static int compare_places(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    if (a->strand != b->strand) return a->strand < b->strand ? -1 : 1;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->level != b->level) return a->level < b->level ? -1 : 1;
    if (a->code != b->code) return a->code < b->code ? -1 : 1; /* lanes beside each other do the same */
    return a->index < b->index ? -1 : 1;
}

/* In microseconds, about. */
static uint32_t group_cost(const struct program_op *op)
{
    return op->s.code == STEP_POSEIDON ? 80 : op->s.code == STEP_CALL ? 3 : 1;
}

static cuzk_status begin_strand(struct order *o, uint32_t strand, uint32_t highest)
{
    struct image_program *p = o->mk->out;
    struct program_strand s = { .first_group = (uint32_t)p->group_count };
    if (strand > 0) s.wave = 1 + highest - o->strands[strand - 1].height;
    TRY(MAKER_ROOM(o->mk, strand, 1));
    p->strands[p->strand_count++] = s;
    o->b->strand_count++;
    return CUZK_OK;
}

static cuzk_status lay_out(struct order *o, const struct place *places, const struct program_op *ops,
                           uint32_t highest)
{
    struct image_program *p = o->mk->out;
    struct program_body *b = o->b;
    b->first_strand = (uint32_t)p->strand_count;
    for (uint32_t i = 0; i < b->op_count; i++) {
        const struct place *at = &places[i];
        const bool new_strand = i == 0 || at->strand != at[-1].strand;
        if (new_strand) TRY(begin_strand(o, at->strand, highest));
        struct program_strand *s = &p->strands[p->strand_count - 1];
        if (new_strand || at->key != at[-1].key || at->level != at[-1].level) {
            TRY(MAKER_ROOM(o->mk, group, 1));
            p->groups[p->group_count++] = (struct program_group){ b->first_op + i, 0 };
            s->group_count++;
            s->cost += group_cost(&ops[at->index]);
        }
        p->groups[p->group_count - 1].op_count++;
        p->ops[b->first_op + i] = ops[at->index];
        b->wave[at->index] = s->wave;
    }
    return CUZK_OK;
}

static cuzk_status put_in_order(struct order *o, struct place *places, struct program_op *ops)
{
    struct program_body *b = o->b;
    uint32_t highest;
    TRY(make_strands(o));
    TRY(make_heights(o, &highest));
    b->wave_count = o->strand_count == 0 ? 1 : highest + 2;
    for (uint32_t i = 0; i < b->op_count; i++) {
        const struct node *n = &o->nodes[i];
        const bool prologue = n->key == KEY_NONE;
        places[i] = (struct place){ prologue ? 0 : 1 + o->nodes[n->key].strand, prologue ? 0 : n->key,
                                    n->level, o->mk->out->ops[b->first_op + i].s.code, i };
    }
    if (b->op_count == 0) return CUZK_OK;
    memcpy(ops, o->mk->out->ops + b->first_op, b->op_count * sizeof *ops);
    qsort(places, b->op_count, sizeof *places, compare_places);
    return lay_out(o, places, ops, highest);
}

cuzk_status program_order(struct program_maker *mk, struct program_body *b)
{
    const size_t n = (size_t)b->op_count + 1;
    struct order o = { .mk = mk, .b = b };
    struct place *places = malloc(n * sizeof *places);
    struct program_op *ops = malloc(n * sizeof *ops);
    b->wave = calloc(n, sizeof *b->wave);
    o.nodes = calloc(n, sizeof *o.nodes);
    o.strands = malloc(n * sizeof *o.strands);
    cuzk_status status =
        places == NULL || ops == NULL || b->wave == NULL || o.nodes == NULL || o.strands == NULL
            ? FAIL(mk->task, CUZK_NO_MEMORY, "no memory for the programs of circuit %s", mk->image->name)
            : put_in_order(&o, places, ops);
    free(places);
    free(ops);
    free(o.nodes);
    free(o.strands);
    free(o.needs);
    return status;
}
