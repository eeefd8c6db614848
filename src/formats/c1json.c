/* What the values of a C1 output mean: a table of members, and events of the scanner against it. */
#include "formats/c1json_inside.h"

#include <stdio.h>

struct member {
    enum node parent;
    const char *name;
    enum node node;
    enum use use;
    bool required;
};

static const struct member members[] = {
    { N_ROOT, "registered_proof", N_TEXT, U_NONE, true },
    { N_ROOT, "vanilla_proofs", N_VANILLA, U_NONE, true },
    { N_ROOT, "comm_r", N_HASH, U_COMM_R, true },
    { N_ROOT, "comm_d", N_HASH, U_COMM_D, true },
    { N_ROOT, "replica_id", N_HASH, U_REPLICA_ID, true },
    { N_ROOT, "seed", N_HASH, U_SEED, true },
    { N_ROOT, "ticket", N_HASH, U_TICKET, true },
    { N_ROOT, "Phase1Out", N_BASE64, U_NONE, false },
    { N_ROOT, "SectorNum", N_NUMBER, U_SECTOR, false },
    { N_ROOT, "SectorSize", N_NUMBER, U_SIZE, false },
    { N_PROOF, "comm_d_proofs", N_MERKLE, U_D, true },
    { N_PROOF, "comm_r_last_proof", N_MERKLE, U_R, true },
    { N_PROOF, "replica_column_proofs", N_COLUMNS, U_NONE, true },
    { N_PROOF, "labeling_proofs", N_LABELS, U_NONE, true },
    { N_PROOF, "encoding_proof", N_LABEL, U_ENCODING, true },
    { N_MERKLE, "data", N_DATA, U_NONE, true },
    { N_DATA, "Single", N_VARIANT, U_SINGLE, false },
    { N_DATA, "Sub", N_VARIANT, U_SUB, false },
    { N_DATA, "Top", N_VARIANT, U_TOP, false },
    { N_VARIANT, "root", N_HASH, U_ROOT, true },
    { N_VARIANT, "leaf", N_HASH, U_LEAF, true },
    { N_VARIANT, "path", N_PATH, U_BASE_PATH, false },
    { N_VARIANT, "base_proof", N_PATH, U_BASE_PATH, false },
    { N_VARIANT, "sub_proof", N_PATH, U_SUB_PATH, false },
    { N_VARIANT, "top_proof", N_PATH, U_TOP_PATH, false },
    { N_PATH, "path", N_LEVELS, U_NONE, true },
    { N_LEVEL, "hashes", N_HASHES, U_NONE, true },
    { N_LEVEL, "index", N_NUMBER, U_INDEX, true },
    { N_COLUMNS, "c_x", N_COLUMN_PROOF, U_C, true },
    { N_COLUMNS, "drg_parents", N_COLUMN_PROOFS, U_DRG, true },
    { N_COLUMNS, "exp_parents", N_COLUMN_PROOFS, U_EXP, true },
    { N_COLUMN_PROOF, "column", N_COLUMN, U_NONE, true },
    { N_COLUMN_PROOF, "inclusion_proof", N_MERKLE, U_NONE, true },
    { N_COLUMN, "index", N_NUMBER, U_COLUMN_INDEX, true },
    { N_COLUMN, "rows", N_ROWS, U_NONE, true },
    { N_LABEL, "parents", N_PARENTS, U_NONE, true },
    { N_LABEL, "layer_index", N_NUMBER, U_LAYER, true },
    { N_LABEL, "node", N_NUMBER, U_NODE, true },
};

cuzk_status c1json_fail(struct c1json *j, struct task *t, const char *why)
{
    char where[96] = "", inside[80] = "";
    if (j->c->partitions != 0 && j->depth > 3)
        snprintf(where, sizeof where, " (partition %u, challenge %u)", j->place.partition,
                 j->place.challenge);
    if (j->decoding) /* offsets count decoded bytes, not the file's */
        snprintf(inside, sizeof inside, " in Phase1Out, byte %llu of what it decodes to",
                 (unsigned long long)j->offset);
    const cuzk_status status = FAIL(t, CUZK_MALFORMED, "C1 JSON%s%s: %s", inside, where, why);
    j->text[j->text_length] = '\0'; /* a name that was not read to its end */
    task_fail_place(t, j->c->path[0] ? j->c->path : NULL, j->decoding ? ERROR_NO_OFFSET : j->offset,
                    j->text_is_key && j->text_length ? j->text : NULL, NULL);
    return status;
}

/* -- events -- */

static cuzk_status check_count(struct c1json *j, struct task *t, uint32_t count, uint32_t expected,
                               const char *what)
{
    char why[128];
    if (count == expected) return CUZK_OK;
    snprintf(why, sizeof why, "%s has %u elements; a sector of %s has %u", what, count, j->c->shape->name,
             expected);
    return c1json_fail(j, t, why);
}

static struct c1_extra *extra(struct c1json *j)
{
    return c1_extra_of(j->c, j->place.partition, j->place.challenge);
}

/* An array or object ends: everything that it must hold was there. */
static cuzk_status leave(struct c1json *j, struct task *t, const struct level *l)
{
    const struct porep_shape *s = j->c->shape;
    const unsigned levels = s == NULL ? 0 : c1_levels(s, j->place.merkle);
    for (size_t i = 0; i < ARRAY_COUNT(members) && l->object; i++)
        if (members[i].parent == l->node && members[i].required && !(l->seen >> i & 1) &&
            !(l->node == N_ROOT && j->wrapped)) {
            char why[96];
            snprintf(why, sizeof why, "member \"%s\" is missing", members[i].name);
            return c1json_fail(j, t, why);
        }
    switch (l->node) {
    case N_ROOT:
        for (size_t i = 0; i < ARRAY_COUNT(members) && j->wrapped; i++)
            if (members[i].parent == N_ROOT && members[i].required && (l->seen >> i & 1)) {
                char why[96];
                snprintf(why, sizeof why, "both Phase1Out and \"%s\": a wrapper or a C1 output, not both",
                         members[i].name);
                return c1json_fail(j, t, why);
            }
        return CUZK_OK;
    case N_VANILLA:
        return l->count == 1 ? CUZK_OK : c1json_fail(j, t, "vanilla_proofs must have exactly one member");
    case N_DATA:
        return l->count == 1 ? CUZK_OK : c1json_fail(j, t, "a Merkle proof must be Single, Sub or Top");
    case N_PARTITION:
        return check_count(j, t, l->count, s->challenges, "a partition");
    case N_VARIANT: {
        const unsigned expected = j->place.merkle == C1_MERKLE_D ? 1 : 1u + (s->sub != 0) + (s->top != 0);
        return j->variant_paths == (1u << expected) - 1
                   ? CUZK_OK
                   : c1json_fail(j, t, "the Merkle proof is not of the kind that this sector size has");
    }
    case N_LEVELS: {
        const unsigned base = j->place.merkle == C1_MERKLE_D ? levels : s->base_levels;
        return check_count(j, t, l->count, j->first_level == 0 ? base : 1, "a path");
    }
    case N_HASHES:
        return check_count(j, t, l->count, c1_arity(s, j->place.merkle, j->place.level) - 1, "hashes");
    case N_COLUMN_PROOFS:
        return check_count(j, t, l->count, l->use == U_DRG ? POREP_DRG_PARENTS : POREP_EXP_PARENTS,
                           "the parents");
    case N_ROWS:
        return check_count(j, t, l->count, s->layers, "rows");
    case N_LABELS:
        return check_count(j, t, l->count, s->layers, "labeling_proofs");
    case N_PARENTS:
        return check_count(j, t, l->count, POREP_LABEL_PARENTS, "parents");
    default:
        return CUZK_OK;
    }
}

/* The next element of an array: what it is, and where that puts us. */
cuzk_status c1json_element(struct c1json *j, struct task *t)
{
    struct level *l = &j->stack[j->depth - 1];
    const struct porep_shape *s = j->c->shape;
    const uint32_t i = l->count++;
    j->next = N_SKIP;
    j->next_use = U_NONE;
    switch (l->node) {
    case N_PARTITIONS:
        j->next = N_PARTITION;
        TRY(task_poll(t));
        TRY(c1_add_partition(j->c, t));
        j->place.partition = i;
        j->place.challenge = 0;
        return CUZK_OK;
    case N_PARTITION:
        j->next = N_PROOF;
        if (i >= s->challenges) return c1json_fail(j, t, "a partition with too many challenges");
        j->place.challenge = i;
        return CUZK_OK;
    case N_LEVELS:
        j->next = N_LEVEL;
        if (j->first_level + i >= c1_levels(s, j->place.merkle))
            return c1json_fail(j, t, "a path with too many levels");
        j->place.level = j->first_level + i;
        return CUZK_OK;
    case N_HASHES:
        j->next = N_HASH;
        j->next_use = U_SIBLING;
        j->place.sibling = i;
        if (i >= c1_arity(s, j->place.merkle, j->place.level) - 1)
            return c1json_fail(j, t, "a path level with too many hashes");
        return CUZK_OK;
    case N_COLUMN_PROOFS:
        j->next = N_COLUMN_PROOF;
        if (i >= (l->use == U_DRG ? POREP_DRG_PARENTS : POREP_EXP_PARENTS))
            return c1json_fail(j, t, "too many parents");
        j->place.merkle = C1_MERKLE_PARENT + i + (l->use == U_DRG ? 0 : POREP_DRG_PARENTS);
        return CUZK_OK;
    case N_ROWS:
        j->next = N_HASH;
        j->next_use = U_ROW;
        j->place.row = i;
        return i < s->layers ? CUZK_OK : c1json_fail(j, t, "a column with too many rows");
    case N_LABELS:
        j->next = N_LABEL;
        j->place.label = i;
        return i < s->layers ? CUZK_OK : c1json_fail(j, t, "too many labeling_proofs");
    case N_PARENTS:
        j->next = N_HASH;
        j->next_use = U_LABEL_PARENT;
        j->place.parent = i;
        return i < POREP_LABEL_PARENTS ? CUZK_OK : c1json_fail(j, t, "too many label parents");
    default:
        return CUZK_OK;
    }
}

/* The only member of vanilla_proofs names the sector size. */
static cuzk_status vanilla_member(struct c1json *j, struct task *t)
{
    const struct registered_proof *r = registered_proof_by_name(j->text, j->text_length);
    if (r == NULL || r->number >= 5) return c1json_fail(j, t, "vanilla_proofs is of no known sector size");
    if (j->c->shape != NULL) return c1json_fail(j, t, "vanilla_proofs has two members");
    j->c->shape = r->shape;
    j->stack[j->depth - 1].count++;
    j->next = N_PARTITIONS;
    j->next_use = U_NONE;
    return CUZK_OK;
}

static cuzk_status select_member(struct c1json *j, struct task *t, enum use use)
{
    switch (use) {
    case U_D:
        j->place.merkle = C1_MERKLE_D;
        break;
    case U_R:
        j->place.merkle = C1_MERKLE_R;
        break;
    case U_C:
        j->place.merkle = C1_MERKLE_C;
        break;
    case U_ENCODING:
        j->place.label = j->c->shape->layers;
        break;
    case U_SINGLE:
    case U_SUB:
    case U_TOP: {
        const struct porep_shape *s = j->c->shape;
        const bool single = j->place.merkle == C1_MERKLE_D || s->sub == 0;
        if (use != (single ? U_SINGLE : s->top == 0 ? U_SUB : U_TOP))
            return c1json_fail(j, t, "the Merkle proof is not of the kind that this sector size has");
        j->stack[j->depth - 1].count++;
        j->variant_paths = 0;
        break;
    }
    case U_BASE_PATH:
        j->first_level = 0;
        j->variant_paths |= 1;
        break;
    case U_SUB_PATH:
    case U_TOP_PATH:
        if (j->place.merkle == C1_MERKLE_D || (use == U_SUB_PATH ? j->c->shape->sub : j->c->shape->top) == 0)
            return c1json_fail(j, t, "the Merkle proof is not of the kind that this sector size has");
        j->first_level = j->c->shape->base_levels + (use == U_TOP_PATH);
        j->variant_paths |= use == U_SUB_PATH ? 2 : 4;
        break;
    default:
        break;
    }
    return CUZK_OK;
}

cuzk_status c1json_key(struct c1json *j, struct task *t)
{
    struct level *l = &j->stack[j->depth - 1];
    j->next = N_SKIP;
    j->next_use = U_NONE;
    if (l->node == N_VANILLA) return vanilla_member(j, t);
    for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
        if (members[i].parent != l->node || j->text_long || strcmp(members[i].name, j->text) != 0) continue;
        if (l->seen >> i & 1) return c1json_fail(j, t, "a member occurs twice");
        if (members[i].node == N_BASE64 && j->decoding)
            return c1json_fail(j, t, "Phase1Out inside Phase1Out");
        l->seen |= (uint64_t)1 << i;
        j->next = members[i].node;
        j->next_use = members[i].use;
        return select_member(j, t, members[i].use);
    }
    return CUZK_OK;
}

cuzk_status c1json_begin(struct c1json *j, struct task *t, bool object)
{
    static const bool is_array[] = { [N_PARTITIONS] = true, [N_PARTITION] = true,     [N_LEVELS] = true,
                                     [N_HASHES] = true,     [N_COLUMN_PROOFS] = true, [N_ROWS] = true,
                                     [N_LABELS] = true,     [N_PARENTS] = true,       [N_HASH] = true };
    if (j->depth == C1JSON_DEPTH) return c1json_fail(j, t, "nested too deeply");
    if (j->next >= N_NUMBER || (j->next != N_SKIP && object == is_array[j->next]))
        return c1json_fail(j, t, "a value of the wrong kind");
    struct level *l = &j->stack[j->depth++];
    memset(l, 0, sizeof *l);
    l->node = j->next;
    l->use = j->next_use;
    l->object = object;
    if (l->node == N_HASH) j->hash_use = l->use;
    j->state = object ? L_FIRST_KEY : L_FIRST;
    return CUZK_OK;
}

static cuzk_status hash_done(struct c1json *j, struct task *t)
{
    struct c1 *c = j->c;
    switch (j->hash_use) {
    case U_COMM_R:
        memcpy(c->comm_r, j->hash, 32);
        return CUZK_OK;
    case U_COMM_D:
        memcpy(c->comm_d, j->hash, 32);
        return CUZK_OK;
    case U_REPLICA_ID:
        memcpy(c->replica_id, j->hash, 32);
        return CUZK_OK;
    case U_SEED:
        memcpy(c->seed, j->hash, 32);
        return CUZK_OK;
    case U_TICKET:
        memcpy(c->ticket, j->hash, 32);
        return CUZK_OK;
    case U_ROOT:
        return c1_put_hash(c, t, C1_ROOT, &j->place, j->hash);
    case U_LEAF:
        return c1_put_hash(c, t, C1_LEAF, &j->place, j->hash);
    case U_ROW:
        return c1_put_hash(c, t, C1_COLUMN_ROW, &j->place, j->hash);
    case U_LABEL_PARENT:
        return c1_put_hash(c, t, C1_LABEL_PARENT, &j->place, j->hash);
    default:
        return c1_put_hash(c, t, C1_SIBLING, &j->place, j->hash);
    }
}

cuzk_status c1json_end(struct c1json *j, struct task *t, bool object)
{
    const struct level *l = &j->stack[j->depth - 1];
    if (l->object != object)
        return c1json_fail(j, t, object ? "'}' closes an array" : "']' closes an object");
    if (l->node == N_HASH) {
        if (l->count != 32) return c1json_fail(j, t, "a hash has not 32 bytes");
        TRY(hash_done(j, t));
    } else {
        TRY(leave(j, t, l));
    }
    j->depth--;
    j->state = j->depth == 0 ? L_END : L_AFTER;
    return CUZK_OK;
}

cuzk_status c1json_number(struct c1json *j, struct task *t)
{
    struct level *l = &j->stack[j->depth - 1];
    if (l->node == N_HASH && !l->object) {
        if (l->count > 32 || j->number > 255) return c1json_fail(j, t, "a hash is 32 values from 0 to 255");
        j->hash[l->count - 1] = (uint8_t)j->number;
        return CUZK_OK;
    }
    if (j->next == N_SKIP) return CUZK_OK;
    if (j->next != N_NUMBER) return c1json_fail(j, t, "a number where none belongs");
    switch (j->next_use) {
    case U_INDEX:
        return c1_put_index(j->c, t, &j->place, j->number);
    case U_SECTOR:
        j->c->sector_number = j->number;
        j->c->has_sector = true;
        return CUZK_OK;
    case U_SIZE:
        j->c->sector_bytes = j->number;
        return CUZK_OK;
    case U_NODE:
        extra(j)->label_node[j->place.label] = j->number;
        return CUZK_OK;
    default:
        break;
    }
    if (j->number > UINT32_MAX) return c1json_fail(j, t, "a number that exceeds 32 bits");
    if (j->next_use == U_COLUMN_INDEX) extra(j)->column_index[j->place.merkle] = (uint32_t)j->number;
    if (j->next_use == U_LAYER) extra(j)->label_layer[j->place.label] = (uint32_t)j->number;
    return CUZK_OK;
}
