/* The scanner: characters to events, events against a table of members, values to their places.
 *
 * 37 MB for a 32 GiB sector; nearly all of it is arrays of byte values, which have a loop of their own. */
#include "formats/c1json.h"

#include "base/bytes.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_DEPTH 64
#define TEXT_BYTES 64
#define CHUNK 49152 /* of decoded base64 */

/* What a value is. */
enum node {
    N_SKIP, N_ROOT, N_VANILLA, N_PARTITIONS, N_PARTITION, N_PROOF, N_MERKLE, N_DATA, N_VARIANT, N_PATH, N_LEVELS, N_LEVEL, N_HASHES,
    N_COLUMNS, N_COLUMN_PROOFS, N_COLUMN_PROOF, N_COLUMN, N_ROWS, N_LABELS, N_LABEL, N_PARENTS,
    N_HASH,                                     /* an array of 32 byte values */
    N_NUMBER, N_TEXT, N_BASE64,
};

/* What a hash, a number or a text is for; also the extra knowledge that a member carries downwards. */
enum use {
    U_NONE, U_COMM_R, U_COMM_D, U_REPLICA_ID, U_SEED, U_TICKET, U_ROOT, U_LEAF, U_SIBLING, U_ROW, U_LABEL_PARENT, /* hashes */
    U_INDEX, U_COLUMN_INDEX, U_LAYER, U_NODE, U_SECTOR, U_SIZE,                                                   /* numbers */
    U_D, U_R, U_C, U_DRG, U_EXP, U_ENCODING, U_SINGLE, U_SUB, U_TOP, U_BASE_PATH, U_SUB_PATH, U_TOP_PATH,          /* selectors */
};

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

struct level {
    enum node node;
    enum use use;
    bool object;
    uint32_t count;   /* elements so far */
    uint64_t seen;    /* members, by their place in the table */
};

enum lexer { L_VALUE, L_FIRST, L_KEY, L_FIRST_KEY, L_COLON, L_AFTER, L_STRING, L_NUMBER, L_LITERAL, L_END };

struct c1json {
    struct c1 *c;
    struct c1json *inside;      /* of Phase1Out */
    uint64_t offset;
    enum lexer state;
    struct level stack[MAX_DEPTH];
    unsigned depth;
    enum node next;             /* what the value to come is */
    enum use next_use;
    /* the scalar being read */
    char text[TEXT_BYTES];
    unsigned text_length;
    bool text_long, text_is_key, escape;
    uint64_t number;
    unsigned digits;
    uint8_t hash[32];
    enum use hash_use;
    /* where we are */
    struct c1_place place;
    unsigned first_level, variant_paths;
    bool wrapped, decoding;
    EVP_ENCODE_CTX *base64;
    uint8_t *decoded;
};

static cuzk_status fail(struct c1json *j, struct task *t, const char *why)
{
    char where[96] = "";
    if (j->c->partitions != 0 && j->depth > 3)
        snprintf(where, sizeof where, " (partition %u, challenge %u)", j->place.partition, j->place.challenge);
    const cuzk_status status = FAIL(t, CUZK_MALFORMED, "C1 JSON%s: %s", where, why);
    task_fail_place(t, j->c->path[0] ? j->c->path : NULL, j->offset, j->text_is_key && j->text_length ? j->text : NULL, NULL);
    return status;
}

/* -- events -- */

static cuzk_status check_count(struct c1json *j, struct task *t, uint32_t count, uint32_t expected, const char *what)
{
    char why[128];
    if (count == expected) return CUZK_OK;
    snprintf(why, sizeof why, "%s has %u elements; a sector of %s has %u", what, count, j->c->shape->name, expected);
    return fail(j, t, why);
}

static struct c1_extra *extra(struct c1json *j) { return c1_extra_of(j->c, j->place.partition, j->place.challenge); }

/* An array or object ends: everything that it must hold was there. */
static cuzk_status leave(struct c1json *j, struct task *t, const struct level *l)
{
    const struct porep_shape *s = j->c->shape;
    const unsigned levels = s == NULL ? 0 : c1_levels(s, j->place.merkle);
    for (size_t i = 0; i < ARRAY_COUNT(members) && l->object; i++)
        if (members[i].parent == l->node && members[i].required && !(l->seen >> i & 1) && !(l->node == N_ROOT && j->wrapped)) {
            char why[96];
            snprintf(why, sizeof why, "member \"%s\" is missing", members[i].name);
            return fail(j, t, why);
        }
    switch (l->node) {
    case N_VANILLA: return l->count == 1 ? CUZK_OK : fail(j, t, "vanilla_proofs must have exactly one member");
    case N_DATA: return l->count == 1 ? CUZK_OK : fail(j, t, "a Merkle proof must be Single, Sub or Top");
    case N_PARTITION: return check_count(j, t, l->count, s->challenges, "a partition");
    case N_VARIANT: {
        const unsigned expected = j->place.merkle == C1_MERKLE_D ? 1 : 1u + (s->sub != 0) + (s->top != 0);
        return j->variant_paths == (1u << expected) - 1 ? CUZK_OK : fail(j, t, "the Merkle proof is not of the kind that this sector size has");
    }
    case N_LEVELS: {
        const unsigned base = j->place.merkle == C1_MERKLE_D ? levels : s->base_levels;
        return check_count(j, t, l->count, j->first_level == 0 ? base : 1, "a path");
    }
    case N_HASHES: return check_count(j, t, l->count, c1_arity(s, j->place.merkle, j->place.level) - 1, "hashes");
    case N_COLUMN_PROOFS: return check_count(j, t, l->count, l->use == U_DRG ? POREP_DRG_PARENTS : POREP_EXP_PARENTS, "the parents");
    case N_ROWS: return check_count(j, t, l->count, s->layers, "rows");
    case N_LABELS: return check_count(j, t, l->count, s->layers, "labeling_proofs");
    case N_PARENTS: return check_count(j, t, l->count, POREP_LABEL_PARENTS, "parents");
    default: return CUZK_OK;
    }
}

/* The next element of an array: what it is, and where that puts us. */
static cuzk_status element(struct c1json *j, struct task *t)
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
        if (i >= s->challenges) return fail(j, t, "a partition with too many challenges");
        j->place.challenge = i;
        return CUZK_OK;
    case N_LEVELS:
        j->next = N_LEVEL;
        if (j->first_level + i >= c1_levels(s, j->place.merkle)) return fail(j, t, "a path with too many levels");
        j->place.level = j->first_level + i;
        return CUZK_OK;
    case N_HASHES:
        j->next = N_HASH;
        j->next_use = U_SIBLING;
        j->place.sibling = i;
        if (i >= c1_arity(s, j->place.merkle, j->place.level) - 1) return fail(j, t, "a path level with too many hashes");
        return CUZK_OK;
    case N_COLUMN_PROOFS:
        j->next = N_COLUMN_PROOF;
        if (i >= (l->use == U_DRG ? POREP_DRG_PARENTS : POREP_EXP_PARENTS)) return fail(j, t, "too many parents");
        j->place.merkle = C1_MERKLE_PARENT + i + (l->use == U_DRG ? 0 : POREP_DRG_PARENTS);
        return CUZK_OK;
    case N_ROWS:
        j->next = N_HASH;
        j->next_use = U_ROW;
        j->place.row = i;
        return i < s->layers ? CUZK_OK : fail(j, t, "a column with too many rows");
    case N_LABELS:
        j->next = N_LABEL;
        j->place.label = i;
        return i < s->layers ? CUZK_OK : fail(j, t, "too many labeling_proofs");
    case N_PARENTS:
        j->next = N_HASH;
        j->next_use = U_LABEL_PARENT;
        j->place.parent = i;
        return i < POREP_LABEL_PARENTS ? CUZK_OK : fail(j, t, "too many label parents");
    default: return CUZK_OK;
    }
}

/* The only member of vanilla_proofs names the sector size. */
static cuzk_status vanilla_member(struct c1json *j, struct task *t)
{
    const struct registered_proof *r = registered_proof_by_name(j->text, j->text_length);
    if (r == NULL || r->number >= 5) return fail(j, t, "vanilla_proofs is of no known sector size");
    if (j->c->shape != NULL) return fail(j, t, "vanilla_proofs has two members");
    j->c->shape = r->shape;
    j->stack[j->depth - 1].count++;
    j->next = N_PARTITIONS;
    j->next_use = U_NONE;
    return CUZK_OK;
}

static cuzk_status select_member(struct c1json *j, struct task *t, enum use use)
{
    switch (use) {
    case U_D: j->place.merkle = C1_MERKLE_D; break;
    case U_R: j->place.merkle = C1_MERKLE_R; break;
    case U_C: j->place.merkle = C1_MERKLE_C; break;
    case U_ENCODING: j->place.label = j->c->shape->layers; break;
    case U_SINGLE: case U_SUB: case U_TOP: {
        const struct porep_shape *s = j->c->shape;
        const bool single = j->place.merkle == C1_MERKLE_D || s->sub == 0;
        if (use != (single ? U_SINGLE : s->top == 0 ? U_SUB : U_TOP))
            return fail(j, t, "the Merkle proof is not of the kind that this sector size has");
        j->stack[j->depth - 1].count++;
        j->variant_paths = 0;
        break;
    }
    case U_BASE_PATH:
        j->first_level = 0;
        j->variant_paths |= 1;
        break;
    case U_SUB_PATH: case U_TOP_PATH:
        if (j->place.merkle == C1_MERKLE_D || (use == U_SUB_PATH ? j->c->shape->sub : j->c->shape->top) == 0)
            return fail(j, t, "the Merkle proof is not of the kind that this sector size has");
        j->first_level = j->c->shape->base_levels + (use == U_TOP_PATH);
        j->variant_paths |= use == U_SUB_PATH ? 2 : 4;
        break;
    default: break;
    }
    return CUZK_OK;
}

static cuzk_status key(struct c1json *j, struct task *t)
{
    struct level *l = &j->stack[j->depth - 1];
    j->next = N_SKIP;
    j->next_use = U_NONE;
    if (l->node == N_VANILLA) return vanilla_member(j, t);
    for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
        if (members[i].parent != l->node || j->text_long || strcmp(members[i].name, j->text) != 0) continue;
        if (l->seen >> i & 1) return fail(j, t, "a member occurs twice");
        if (members[i].node == N_BASE64 && j->decoding) return fail(j, t, "Phase1Out inside Phase1Out");
        l->seen |= (uint64_t)1 << i;
        j->next = members[i].node;
        j->next_use = members[i].use;
        return select_member(j, t, members[i].use);
    }
    return CUZK_OK;
}

static cuzk_status begin(struct c1json *j, struct task *t, bool object)
{
    static const bool is_array[] = { [N_PARTITIONS] = true, [N_PARTITION] = true, [N_LEVELS] = true, [N_HASHES] = true,
                                     [N_COLUMN_PROOFS] = true, [N_ROWS] = true, [N_LABELS] = true, [N_PARENTS] = true,
                                     [N_HASH] = true };
    if (j->depth == MAX_DEPTH) return fail(j, t, "nested too deeply");
    if (j->next >= N_NUMBER || (j->next != N_SKIP && object == is_array[j->next])) return fail(j, t, "a value of the wrong kind");
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
    case U_COMM_R: memcpy(c->comm_r, j->hash, 32); return CUZK_OK;
    case U_COMM_D: memcpy(c->comm_d, j->hash, 32); return CUZK_OK;
    case U_REPLICA_ID: memcpy(c->replica_id, j->hash, 32); return CUZK_OK;
    case U_SEED: memcpy(c->seed, j->hash, 32); return CUZK_OK;
    case U_TICKET: memcpy(c->ticket, j->hash, 32); return CUZK_OK;
    case U_ROOT: return c1_put_hash(c, t, C1_ROOT, &j->place, j->hash);
    case U_LEAF: return c1_put_hash(c, t, C1_LEAF, &j->place, j->hash);
    case U_ROW: return c1_put_hash(c, t, C1_COLUMN_ROW, &j->place, j->hash);
    case U_LABEL_PARENT: return c1_put_hash(c, t, C1_LABEL_PARENT, &j->place, j->hash);
    default: return c1_put_hash(c, t, C1_SIBLING, &j->place, j->hash);
    }
}

static cuzk_status end(struct c1json *j, struct task *t, bool object)
{
    const struct level *l = &j->stack[j->depth - 1];
    if (l->object != object) return fail(j, t, object ? "'}' closes an array" : "']' closes an object");
    if (l->node == N_HASH) {
        if (l->count != 32) return fail(j, t, "a hash has not 32 bytes");
        TRY(hash_done(j, t));
    } else {
        TRY(leave(j, t, l));
    }
    j->depth--;
    j->state = j->depth == 0 ? L_END : L_AFTER;
    return CUZK_OK;
}

static cuzk_status number(struct c1json *j, struct task *t)
{
    struct level *l = &j->stack[j->depth - 1];
    if (l->node == N_HASH && !l->object) {
        if (l->count > 32 || j->number > 255) return fail(j, t, "a hash is 32 values from 0 to 255");
        j->hash[l->count - 1] = (uint8_t)j->number;
        return CUZK_OK;
    }
    if (j->next == N_SKIP) return CUZK_OK;
    if (j->next != N_NUMBER) return fail(j, t, "a number where none belongs");
    switch (j->next_use) {
    case U_INDEX: return c1_put_index(j->c, t, &j->place, j->number);
    case U_SECTOR:
        j->c->sector_number = j->number;
        j->c->has_sector = true;
        return CUZK_OK;
    case U_SIZE: j->c->sector_bytes = j->number; return CUZK_OK;
    case U_NODE: extra(j)->label_node[j->place.label] = j->number; return CUZK_OK;
    default: break;
    }
    if (j->number > UINT32_MAX) return fail(j, t, "a number that exceeds 32 bits");
    if (j->next_use == U_COLUMN_INDEX) extra(j)->column_index[j->place.merkle] = (uint32_t)j->number;
    if (j->next_use == U_LAYER) extra(j)->label_layer[j->place.label] = (uint32_t)j->number;
    return CUZK_OK;
}

/* -- base64 -- */

static cuzk_status decode(struct c1json *j, struct task *t, const uint8_t *p, size_t n)
{
    while (n > 0) {
        const size_t piece = n < CHUNK ? n : CHUNK;
        int out = 0;
        if (EVP_DecodeUpdate(j->base64, j->decoded, &out, p, (int)piece) < 0) return fail(j, t, "Phase1Out is not base64");
        TRY(c1json_push(j->inside, t, j->decoded, (size_t)out));
        p += piece;
        n -= piece;
    }
    return CUZK_OK;
}

static cuzk_status decode_begin(struct c1json *j, struct task *t)
{
    j->wrapped = true;
    TRY(c1json_create(&j->inside, t, j->c));
    j->inside->decoding = true;
    j->base64 = EVP_ENCODE_CTX_new();
    j->decoded = malloc(CHUNK + 64);
    if (j->base64 == NULL || j->decoded == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to decode Phase1Out");
    EVP_DecodeInit(j->base64);
    return CUZK_OK;
}

static cuzk_status decode_end(struct c1json *j, struct task *t)
{
    int out = 0;
    if (EVP_DecodeFinal(j->base64, j->decoded, &out) < 0) return fail(j, t, "Phase1Out ends within a group of base64");
    TRY(c1json_push(j->inside, t, j->decoded, (size_t)out));
    return c1json_finish(j->inside, t);
}

/* -- characters -- */

static cuzk_status string_done(struct c1json *j, struct task *t)
{
    j->text[j->text_length] = '\0';
    if (j->text_is_key) {
        j->state = L_COLON;
        return key(j, t);
    }
    j->state = L_AFTER;
    if (j->next == N_BASE64) return decode_end(j, t);
    if (j->next == N_TEXT) {
        j->c->proof = j->text_long ? NULL : registered_proof_by_name(j->text, j->text_length);
        if (j->c->proof == NULL) return fail(j, t, "registered_proof is not the name of a seal proof");
        return CUZK_OK;
    }
    return j->next == N_SKIP ? CUZK_OK : fail(j, t, "a string where none belongs");
}

/* The rest of a string; *at moves to behind what was taken. */
static cuzk_status string_more(struct c1json *j, struct task *t, const uint8_t *p, size_t size, size_t *at)
{
    const bool base64 = !j->text_is_key && j->next == N_BASE64;
    while (*at < size && j->state == L_STRING) {
        size_t run = *at;
        while (!j->escape && base64 && run < size && p[run] != '"' && p[run] != '\\') run++;
        if (run > *at) {
            TRY(decode(j, t, p + *at, run - *at));
            *at = run;
            continue;
        }
        uint8_t ch = p[(*at)++];
        if (!j->escape && ch == '"') return string_done(j, t);
        if (!j->escape && ch == '\\') {
            j->escape = true;
            continue;
        }
        if (!j->escape && ch < 0x20) return fail(j, t, "a control character in a string");
        if (j->escape) {
            j->escape = false;
            if (base64) {
                if (ch == 'n' || ch == 'r') continue; /* line breaks */
                if (ch != '/') return fail(j, t, "Phase1Out is not base64");
                TRY(decode(j, t, &ch, 1));
                continue;
            }
            if (ch == 'u') ch = '?'; /* no name of interest has one */
        }
        if (j->text_length + 1 < TEXT_BYTES)
            j->text[j->text_length++] = (char)ch;
        else
            j->text_long = true;
    }
    return CUZK_OK;
}

static cuzk_status start_value(struct c1json *j, struct task *t, uint8_t ch)
{
    if (j->depth == 0 && ch != '{') return fail(j, t, "an object was expected");
    if (j->depth > 0 && !j->stack[j->depth - 1].object) {
        struct level *l = &j->stack[j->depth - 1];
        if (l->node == N_HASH) {
            l->count++;
            j->next = N_SKIP;
            if (ch < '0' || ch > '9') return fail(j, t, "a hash is 32 values from 0 to 255");
        } else {
            TRY(element(j, t));
        }
    }
    if (ch == '{' || ch == '[') return begin(j, t, ch == '{');
    if (ch == '"') {
        j->state = L_STRING;
        j->text_length = 0;
        j->text_long = j->escape = j->text_is_key = false;
        return j->next == N_BASE64 ? decode_begin(j, t) : CUZK_OK;
    }
    if (ch >= '0' && ch <= '9') {
        j->state = L_NUMBER;
        j->number = (uint64_t)(ch - '0');
        j->digits = 1;
        return CUZK_OK;
    }
    if (j->next != N_SKIP || !((ch >= 'a' && ch <= 'z') || ch == '-')) return fail(j, t, "a value of the wrong kind");
    j->state = L_LITERAL;
    return CUZK_OK;
}

static cuzk_status digit(struct c1json *j, struct task *t, unsigned d)
{
    if (++j->digits > 20 || j->number > (UINT64_MAX - d) / 10) return j->next == N_SKIP ? CUZK_OK : fail(j, t, "a number that exceeds 64 bits");
    j->number = 10 * j->number + d;
    return CUZK_OK;
}

static bool part_of_literal(uint8_t ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') || ch == '+' || ch == '-' || ch == '.' || ch == 'E';
}

/* One character outside strings, numbers and literals. */
static cuzk_status structure(struct c1json *j, struct task *t, uint8_t ch)
{
    if (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r') return CUZK_OK;
    switch (j->state) {
    case L_FIRST:
        if (ch == ']') return end(j, t, false);
        return start_value(j, t, ch);
    case L_VALUE: return start_value(j, t, ch);
    case L_FIRST_KEY:
        if (ch == '}') return end(j, t, true);
        /* fall through */
    case L_KEY:
        if (ch != '"') return fail(j, t, "a member's name was expected");
        j->state = L_STRING;
        j->text_length = 0;
        j->text_long = j->escape = false;
        j->text_is_key = true;
        return CUZK_OK;
    case L_COLON:
        j->state = L_VALUE;
        return ch == ':' ? CUZK_OK : fail(j, t, "':' was expected");
    case L_AFTER:
        if (ch == ',') {
            j->state = j->stack[j->depth - 1].object ? L_KEY : L_VALUE;
            return CUZK_OK;
        }
        if (ch == ']' || ch == '}') return end(j, t, ch == '}');
        return fail(j, t, "',' or the end of the array or object was expected");
    default: return fail(j, t, "text behind the end");
    }
}

static cuzk_status scalar(struct c1json *j, struct task *t, uint8_t ch)
{
    if (j->state == L_NUMBER) {
        if (ch >= '0' && ch <= '9') return digit(j, t, (unsigned)(ch - '0'));
        if (part_of_literal(ch)) {
            if (j->next != N_SKIP || j->stack[j->depth - 1].node == N_HASH) return fail(j, t, "only unsigned integers belong here");
            j->state = L_LITERAL;
            return CUZK_OK;
        }
        j->state = L_AFTER;
        TRY(number(j, t));
    } else {
        if (part_of_literal(ch)) return CUZK_OK;
        j->state = L_AFTER;
    }
    return structure(j, t, ch);
}

/* The inner loop: byte values, within a hash, with no white space. */
static size_t hash_bytes(struct c1json *j, const uint8_t *p, size_t size)
{
    struct level *l = &j->stack[j->depth - 1];
    size_t at = 0;
    while (l->count < 32 && at + 4 < size) {
        unsigned v = p[at] - (unsigned)'0', n = 1;
        if (v > 9) break;
        for (; n < 3 && (unsigned)(p[at + n] - '0') <= 9; n++) v = 10 * v + (p[at + n] - (unsigned)'0');
        if (p[at + n] != ',' || v > 255) break;
        j->hash[l->count++] = (uint8_t)v;
        at += n + 1;
    }
    return at;
}

cuzk_status c1json_push(struct c1json *j, struct task *t, const void *data, size_t size)
{
    const uint8_t *p = data;
    size_t at = 0;
    while (at < size) {
        const size_t before = at;
        if (j->state == L_STRING) {
            TRY(string_more(j, t, p, size, &at));
        } else {
            if ((j->state == L_VALUE || j->state == L_FIRST) && j->depth > 0 && j->stack[j->depth - 1].node == N_HASH) {
                at += hash_bytes(j, p + at, size - at);
                if (at > before) {
                    j->state = L_VALUE;
                    j->offset += at - before;
                    continue;
                }
            }
            const uint8_t ch = p[at++];
            if (j->state == L_NUMBER || j->state == L_LITERAL)
                TRY(scalar(j, t, ch));
            else
                TRY(structure(j, t, ch));
        }
        j->offset += at - before;
    }
    return CUZK_OK;
}

cuzk_status c1json_create(struct c1json **out, struct task *t, struct c1 *c)
{
    struct c1json *j = calloc(1, sizeof *j);
    *out = j;
    if (j == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to read a C1 output");
    j->c = c;
    j->state = L_VALUE;
    j->next = N_ROOT;
    return CUZK_OK;
}

cuzk_status c1json_finish(struct c1json *j, struct task *t)
{
    if (j->state != L_END) return fail(j, t, "the text ends before its end");
    if (j->decoding) return CUZK_OK;
    if (j->c->proof == NULL || j->c->shape == NULL) return fail(j, t, "neither a C1 output nor a wrapper of one");
    return c1_complete(j->c, t);
}

void c1json_destroy(struct c1json *j)
{
    if (j == NULL) return;
    c1json_destroy(j->inside);
    if (j->base64 != NULL) EVP_ENCODE_CTX_free(j->base64);
    if (j->decoded != NULL) wipe(j->decoded, CHUNK + 64);
    free(j->decoded);
    wipe(j, sizeof *j);
    free(j);
}

cuzk_status c1json_read(struct c1 *c, struct task *t, struct span file)
{
    struct c1json *j;
    cuzk_status status = c1json_create(&j, t, c);
    if (status == CUZK_OK) status = c1json_push(j, t, file.data, file.size);
    if (status == CUZK_OK) status = c1json_finish(j, t);
    c1json_destroy(j);
    return status;
}
