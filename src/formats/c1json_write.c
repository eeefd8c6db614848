/* Writes a C1 output as JSON, in the order of members that the original has. */
#include "formats/c1json.h"

#include "base/bytes.h"

#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct text {
    char *data;
    size_t size, capacity;
    bool failed;
};

static bool room(struct text *o, size_t more)
{
    if (o->size + more > o->capacity) {
        const size_t wanted = 2 * o->capacity + more + 4096;
        char *fresh = realloc(o->data, wanted);
        if (fresh == NULL) o->failed = true;
        if (fresh == NULL) return false;
        o->data = fresh;
        o->capacity = wanted;
    }
    return !o->failed;
}

static void print(struct text *o, const char *format, ...) PRINTF_LIKE(2, 3);
static void print(struct text *o, const char *format, ...)
{
    va_list list;
    if (!room(o, 256)) return;
    va_start(list, format);
    o->size += (size_t)vsnprintf(o->data + o->size, 256, format, list);
    va_end(list);
}

static void hash(struct text *o, const uint8_t h[32])
{
    if (!room(o, 160)) return;
    for (int i = 0; i < 32; i++) {
        const unsigned v = h[i];
        o->data[o->size++] = i == 0 ? '[' : ',';
        if (v >= 100) o->data[o->size++] = (char)('0' + v / 100);
        if (v >= 10) o->data[o->size++] = (char)('0' + v / 10 % 10);
        o->data[o->size++] = (char)('0' + v % 10);
    }
    o->data[o->size++] = ']';
}

static void hash_of(struct text *o, const bls12_381_fr_int *v)
{
    uint8_t bytes[32];
    words_to_le(bytes, v->l, 4);
    hash(o, bytes);
}

static void levels(struct text *o, const struct c1 *c, struct c1_place *p, const char *name, unsigned first,
                   unsigned count)
{
    print(o, "\"%s\":{\"path\":[", name);
    for (p->level = first; p->level < first + count; p->level++) {
        print(o, "%s{\"hashes\":[", p->level == first ? "" : ",");
        for (p->sibling = 0; p->sibling < c1_arity(c->shape, p->merkle, p->level) - 1; p->sibling++) {
            if (p->sibling != 0) print(o, ",");
            hash_of(o, c1_sibling(c, p));
        }
        p->sibling = 0;
        print(o, "],\"index\":%u}", *c1_index(c, p));
    }
    print(o, "]}");
}

static void root_and_leaf(struct text *o, const struct c1_extra *x, unsigned merkle)
{
    print(o, "\"root\":");
    hash(o, x->root[merkle]);
    print(o, ",\"leaf\":");
    hash(o, x->leaf[merkle]);
}

static void merkle(struct text *o, const struct c1 *c, struct c1_place *p, unsigned which)
{
    const struct porep_shape *s = c->shape;
    const struct c1_extra *x = c1_extra_of(c, p->partition, p->challenge);
    p->merkle = which;
    if (which == C1_MERKLE_D || s->sub == 0) {
        print(o, "{\"data\":{\"Single\":{");
        root_and_leaf(o, x, which);
        print(o, ",");
        levels(o, c, p, "path", 0, c1_levels(s, which));
    } else {
        print(o, "{\"data\":{\"%s\":{", s->top ? "Top" : "Sub");
        levels(o, c, p, "base_proof", 0, s->base_levels);
        print(o, ",");
        levels(o, c, p, "sub_proof", s->base_levels, 1);
        print(o, ",");
        if (s->top) levels(o, c, p, "top_proof", s->base_levels + 1, 1);
        if (s->top) print(o, ",");
        root_and_leaf(o, x, which);
    }
    print(o, "}}}");
}

static void column(struct text *o, const struct c1 *c, struct c1_place *p, unsigned which)
{
    const struct c1_extra *x = c1_extra_of(c, p->partition, p->challenge);
    print(o, "{\"column\":{\"index\":%u,\"rows\":[", x->column_index[which]);
    for (unsigned i = 0; i < c->shape->layers; i++) {
        if (i != 0) print(o, ",");
        if (which == C1_MERKLE_C)
            hash(o, x->column[i]);
        else
            hash_of(o, c1_numbers(c, p->partition, p->challenge) +
                           porep_at_column(c->shape, which - C1_MERKLE_PARENT) + i);
    }
    print(o, "],\"_h\":null},\"inclusion_proof\":");
    merkle(o, c, p, which);
    print(o, "}");
}

static void label(struct text *o, const struct c1_extra *x, unsigned which)
{
    print(o, "{\"parents\":[");
    for (unsigned i = 0; i < POREP_LABEL_PARENTS; i++) {
        if (i != 0) print(o, ",");
        hash(o, x->label_parents[which][i]);
    }
    print(o, "],\"layer_index\":%u,\"node\":%llu}", x->label_layer[which],
          (unsigned long long)x->label_node[which]);
}

static void proof(struct text *o, const struct c1 *c, struct c1_place *p)
{
    const struct c1_extra *x = c1_extra_of(c, p->partition, p->challenge);
    print(o, "{\"comm_d_proofs\":");
    merkle(o, c, p, C1_MERKLE_D);
    print(o, ",\"comm_r_last_proof\":");
    merkle(o, c, p, C1_MERKLE_R);
    print(o, ",\"replica_column_proofs\":{\"c_x\":");
    column(o, c, p, C1_MERKLE_C);
    for (unsigned i = 0; i < POREP_PARENTS; i++) {
        print(o, i == 0 ? ",\"drg_parents\":[" : i == POREP_DRG_PARENTS ? "],\"exp_parents\":[" : ",");
        column(o, c, p, C1_MERKLE_PARENT + i);
    }
    print(o, "]},\"labeling_proofs\":[");
    for (unsigned i = 0; i < c->shape->layers; i++) {
        if (i != 0) print(o, ",");
        label(o, x, i);
    }
    print(o, "],\"encoding_proof\":");
    label(o, x, c->shape->layers);
    print(o, "}");
}

static void body(struct text *o, const struct c1 *c)
{
    const char *const names[5] = { "comm_r", "comm_d", "replica_id", "seed", "ticket" };
    const uint8_t *const values[5] = { c->comm_r, c->comm_d, c->replica_id, c->seed, c->ticket };
    print(o, "{\"registered_proof\":\"%s\",\"vanilla_proofs\":{\"StackedDrg%sV1\":[", c->proof->name,
          c->shape->name);
    for (unsigned k = 0; k < c->partitions; k++) {
        print(o, k == 0 ? "[" : ",[");
        for (unsigned i = 0; i < c->shape->challenges; i++) {
            struct c1_place p = { .partition = k, .challenge = i };
            if (i != 0) print(o, ",");
            proof(o, c, &p);
        }
        print(o, "]");
    }
    print(o, "]}");
    for (int i = 0; i < 5; i++) {
        print(o, ",\"%s\":", names[i]);
        hash(o, values[i]);
    }
    print(o, "}");
}

cuzk_status c1json_write(const struct c1 *c, struct task *t, bool wrapped, uint8_t **out, size_t *bytes)
{
    struct text inner = { 0 }, outer = { 0 }, *result = &inner;
    body(&inner, c);
    if (wrapped && !inner.failed) {
        print(&outer, "{\"SectorNum\":%llu,\"Phase1Out\":\"", (unsigned long long)c->sector_number);
        if (room(&outer, inner.size / 3 * 4 + 8))
            outer.size += (size_t)EVP_EncodeBlock((uint8_t *)outer.data + outer.size,
                                                  (const uint8_t *)inner.data, (int)inner.size);
        print(&outer, "\",\"SectorSize\":%llu}", (unsigned long long)c->shape->sector_bytes);
        outer.failed = outer.failed || inner.failed;
        wipe(inner.data, inner.size);
        free(inner.data);
        result = &outer;
    }
    *out = (uint8_t *)result->data;
    *bytes = result->size;
    if (!result->failed) return CUZK_OK;
    free(result->data);
    *out = NULL;
    *bytes = 0;
    return FAIL(t, CUZK_NO_MEMORY, "no memory to write a C1 output");
}
