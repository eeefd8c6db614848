/* Storage of vanilla proofs and the names of their places. */
#include "formats/c1.h"
#include "formats/c1bincode.h"
#include "formats/c1json.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>

void c1_init(struct c1 *c) { memset(c, 0, sizeof *c); }

static size_t challenges_of(const struct c1 *c, unsigned partitions)
{
    return (size_t)partitions * c->shape->challenges;
}

static void release(void *p, size_t bytes)
{
    if (p != NULL) wipe(p, bytes);
    free(p);
}

void c1_fini(struct c1 *c)
{
    if (c->shape != NULL) {
        const size_t n = challenges_of(c, c->capacity);
        release(c->numbers, n * porep_challenge_numbers(c->shape) * sizeof *c->numbers);
        release(c->words, n * porep_challenge_words(c->shape) * sizeof *c->words);
        release(c->extra, n * sizeof *c->extra);
    }
    memset(c, 0, sizeof *c);
}

/* Moves an array into one of new_bytes; the old one is wiped. */
static bool enlarge(void *array, size_t old_bytes, size_t new_bytes)
{
    void **p = array, *fresh = calloc(1, new_bytes);
    if (fresh == NULL) return false;
    if (old_bytes != 0) memcpy(fresh, *p, old_bytes);
    release(*p, old_bytes);
    *p = fresh;
    return true;
}

/* Room for how many partitions is made where there was room for so many. */
static unsigned next_capacity(const struct porep_shape *s, unsigned capacity)
{
    return capacity == 0 ? s->partitions : capacity < 63 ? 2 * capacity : POREP_MAX_PARTITIONS;
}

uint64_t c1_bytes_most(const struct porep_shape *s)
{
    const uint64_t each =
        s->challenges * (porep_challenge_numbers(s) * sizeof(bls12_381_fr_int) +
                         porep_challenge_words(s) * sizeof(uint32_t) + sizeof(struct c1_extra));
    const unsigned most = s->partitions > s->ni_partitions ? s->partitions : s->ni_partitions;
    unsigned before = 0, capacity = 0;
    while (capacity < most) {
        before = capacity;
        capacity = next_capacity(s, capacity);
    }
    return each * (before + capacity); /* both are there while one is copied into the other */
}

cuzk_status c1_add_partition(struct c1 *c, struct task *t)
{
    if (c->partitions == POREP_MAX_PARTITIONS)
        return FAIL(t, CUZK_MALFORMED, "more than %d partitions", POREP_MAX_PARTITIONS);
    if (c->partitions == c->capacity) {
        const unsigned wanted = next_capacity(c->shape, c->capacity);
        const size_t old = challenges_of(c, c->capacity), n = challenges_of(c, wanted);
        const size_t numbers = porep_challenge_numbers(c->shape) * sizeof *c->numbers;
        const size_t words = porep_challenge_words(c->shape) * sizeof *c->words;
        /* capacity says what is wiped at the end, so it grows only when all three have grown */
        if (!enlarge(&c->numbers, old * numbers, n * numbers) ||
            !enlarge(&c->words, old * words, n * words) ||
            !enlarge(&c->extra, old * sizeof *c->extra, n * sizeof *c->extra))
            return FAIL(t, CUZK_NO_MEMORY, "no memory for %u partitions", wanted);
        c->capacity = wanted;
    }
    c->partitions++;
    return CUZK_OK;
}

unsigned c1_levels(const struct porep_shape *s, unsigned merkle)
{
    return merkle == C1_MERKLE_D ? s->nodes_log2 : s->tree_levels;
}

unsigned c1_arity(const struct porep_shape *s, unsigned merkle, unsigned level)
{
    return merkle == C1_MERKLE_D ? 2 : s->tree[level];
}

static size_t place_index(const struct c1 *c, unsigned partition, unsigned challenge)
{
    return (size_t)partition * c->shape->challenges + challenge;
}

bls12_381_fr_int *c1_numbers(const struct c1 *c, unsigned partition, unsigned challenge)
{
    return c->numbers + place_index(c, partition, challenge) * porep_challenge_numbers(c->shape);
}

uint32_t *c1_words(const struct c1 *c, unsigned partition, unsigned challenge)
{
    return c->words + place_index(c, partition, challenge) * porep_challenge_words(c->shape);
}

struct c1_extra *c1_extra_of(const struct c1 *c, unsigned partition, unsigned challenge)
{
    return c->extra + place_index(c, partition, challenge);
}

uint64_t c1_challenge(const struct c1 *c, unsigned partition, unsigned challenge)
{
    const uint32_t *w = c1_words(c, partition, challenge) + porep_at_challenge(c->shape);
    return w[0] | (uint64_t)w[1] << 32;
}

bls12_381_fr_int *c1_sibling(const struct c1 *c, const struct c1_place *p)
{
    const struct porep_shape *s = c->shape;
    unsigned at = p->sibling;
    switch (p->merkle) {
    case C1_MERKLE_D:
        at += porep_at_d_path();
        break;
    case C1_MERKLE_R:
        at += porep_at_r_path(s);
        break;
    case C1_MERKLE_C:
        at += porep_at_c_path(s);
        break;
    default:
        at += porep_at_parent_path(s, p->merkle - C1_MERKLE_PARENT);
    }
    for (unsigned l = 0; l < p->level; l++) at += c1_arity(s, p->merkle, l) - 1;
    return c1_numbers(c, p->partition, p->challenge) + at;
}

uint32_t *c1_index(const struct c1 *c, const struct c1_place *p)
{
    const struct porep_shape *s = c->shape;
    unsigned at = p->level;
    switch (p->merkle) {
    case C1_MERKLE_D:
        at += porep_at_d_index();
        break;
    case C1_MERKLE_R:
        at += porep_at_r_index(s);
        break;
    case C1_MERKLE_C:
        at += porep_at_c_index(s);
        break;
    default:
        at += porep_at_parent_index(s, p->merkle - C1_MERKLE_PARENT);
    }
    return c1_words(c, p->partition, p->challenge) + at;
}

void c1_place_text(char *text, size_t bytes, enum c1_item item, const struct c1_place *p)
{
    char proof[32] = "comm_d proof", rest[48] = "";
    if (p->merkle == C1_MERKLE_R) snprintf(proof, sizeof proof, "comm_r_last proof");
    if (p->merkle == C1_MERKLE_C) snprintf(proof, sizeof proof, "column c_x");
    if (p->merkle >= C1_MERKLE_PARENT) {
        const unsigned i = p->merkle - C1_MERKLE_PARENT;
        const bool drg = i < POREP_DRG_PARENTS;
        snprintf(proof, sizeof proof, "%s parent %u", drg ? "drg" : "exp", drg ? i : i - POREP_DRG_PARENTS);
    }
    switch (item) {
    case C1_ROOT:
        snprintf(rest, sizeof rest, ", root");
        break;
    case C1_LEAF:
        snprintf(rest, sizeof rest, ", leaf");
        break;
    case C1_SIBLING:
        snprintf(rest, sizeof rest, ", path level %u, hash %u", p->level, p->sibling);
        break;
    case C1_INDEX:
        snprintf(rest, sizeof rest, ", path level %u, index", p->level);
        break;
    case C1_COLUMN_ROW:
        snprintf(rest, sizeof rest, ", column row %u", p->row);
        break;
    default:
        snprintf(proof, sizeof proof, "labeling proof %u", p->label);
        snprintf(rest, sizeof rest, ", parent %u", p->parent);
    }
    snprintf(text, bytes, "partition %u, challenge %u, %s%s", p->partition, p->challenge, proof, rest);
}

cuzk_status c1_fail(const struct c1 *c, struct task *t, cuzk_status status, enum c1_item item,
                    const struct c1_place *p, const char *why)
{
    char place[160];
    c1_place_text(place, sizeof place, item, p);
    status = FAIL(t, status, "%s: %s", place, why);
    task_fail_place(t, c->path[0] ? c->path : NULL, ERROR_NO_OFFSET, NULL, NULL);
    return status;
}

cuzk_status c1_put_hash(struct c1 *c, struct task *t, enum c1_item item, const struct c1_place *p,
                        const uint8_t hash[32])
{
    struct c1_extra *x = c1_extra_of(c, p->partition, p->challenge);
    bls12_381_fr_int *number = NULL, value;
    words_from_le(value.l, hash, 4);
    switch (item) {
    case C1_ROOT:
        memcpy(x->root[p->merkle], hash, 32);
        break;
    case C1_LEAF:
        memcpy(x->leaf[p->merkle], hash, 32);
        if (p->merkle == C1_MERKLE_D) number = c1_numbers(c, p->partition, p->challenge) + porep_at_leaf();
        break;
    case C1_SIBLING:
        number = c1_sibling(c, p);
        break;
    case C1_COLUMN_ROW:
        if (p->merkle == C1_MERKLE_C)
            memcpy(x->column[p->row], hash, 32);
        else
            number = c1_numbers(c, p->partition, p->challenge) +
                     porep_at_column(c->shape, p->merkle - C1_MERKLE_PARENT) + p->row;
        break;
    case C1_INDEX: /* no hash: c1_put_index */
        break;
    case C1_LABEL_PARENT:
        memcpy(x->label_parents[p->label][p->parent], hash, 32);
        break;
    }
    if (!bls12_381_fr_int_is_canonical(&value))
        return c1_fail(c, t, CUZK_MALFORMED, item, p, "the hash is not below the field's modulus");
    if (number != NULL) *number = value;
    return CUZK_OK;
}

cuzk_status c1_put_index(struct c1 *c, struct task *t, const struct c1_place *p, uint64_t index)
{
    if (index >= c1_arity(c->shape, p->merkle, p->level))
        return c1_fail(c, t, CUZK_MALFORMED, C1_INDEX, p, "the index is not below the tree's arity");
    *c1_index(c, p) = (uint32_t)index;
    return CUZK_OK;
}

cuzk_status c1_complete(struct c1 *c, struct task *t)
{
    cuzk_status status = CUZK_OK;
    if (c->proof->shape != c->shape)
        status = FAIL(t, CUZK_MISMATCH, "registered_proof is %s, but the vanilla proofs are of a %s sector",
                      c->proof->name, c->shape->name);
    else if (c->partitions != registered_proof_partitions(c->proof))
        status = FAIL(t, CUZK_MALFORMED, "vanilla_proofs holds %u partitions; %s has %u", c->partitions,
                      c->proof->name, registered_proof_partitions(c->proof));
    else if (c->sector_bytes != 0 && c->sector_bytes != c->shape->sector_bytes)
        status = FAIL(t, CUZK_MISMATCH, "SectorSize is %llu, but the vanilla proofs are of a %s sector",
                      (unsigned long long)c->sector_bytes, c->shape->name);
    else
        for (unsigned k = 0; k < c->partitions; k++)
            for (unsigned i = 0; i < c->shape->challenges; i++) {
                const uint64_t node = c1_extra_of(c, k, i)->label_node[0];
                uint32_t *w = c1_words(c, k, i) + porep_at_challenge(c->shape);
                w[0] = (uint32_t)node;
                w[1] = (uint32_t)(node >> 32);
            }
    if (status != CUZK_OK) task_fail_place(t, c->path[0] ? c->path : NULL, ERROR_NO_OFFSET, NULL, NULL);
    return status;
}

/* What stands in a C1 output's place when something went wrong before. */
static cuzk_status refuse_debris(struct task *t, struct span file, size_t text_at, const char *path)
{
    static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
    const char *what = NULL;
    if (text_at == file.size)
        what = "is empty";
    else if (file.data[text_at] == '<')
        what = "is an HTML page: a server's answer was saved in its place";
    else if (file.size > sizeof mark && memcmp(file.data, mark, sizeof mark) == 0)
        what = "begins with a byte order mark, which JSON has not";
    else if (file.size < 20) /* the head of a bincode */
        what = "is neither JSON nor bincode of a C1 output";
    if (what == NULL) return CUZK_OK;
    cuzk_status status = FAIL(t, CUZK_MALFORMED, "the file %s", what);
    task_fail_place(t, path, text_at, NULL, NULL);
    return status;
}

cuzk_status c1_read(struct c1 *out, struct task *t, struct span file, const char *path)
{
    size_t at = 0;
    while (at < file.size && (file.data[at] == ' ' || (file.data[at] >= '\t' && file.data[at] <= '\r'))) at++;
    c1_init(out);
    if (path != NULL) snprintf(out->path, sizeof out->path, "%s", path);
    const bool json = at < file.size && file.data[at] == '{';
    cuzk_status status = json ? CUZK_OK : refuse_debris(t, file, at, path);
    if (status == CUZK_OK) status = json ? c1json_read(out, t, file) : c1bincode_read(out, t, file);
    if (status != CUZK_OK) c1_fini(out);
    return status;
}
