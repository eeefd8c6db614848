/* Building a constraint matrix, and the definition of a row's product with a witness.
 *
 * The dictionary is kept unique by an open-addressing table of indices while the matrix is built. */
#include "r1cs/csr.h"

#include "base/rng.h"
#include "r1cs/witness.h"

#include <stdlib.h>
#include <string.h>

struct csr_builder {
    const struct curve *curve;
    struct csr m;
    uint64_t *fill;      /* next free entry of each row; takes the counts first */
    uint32_t *slots;     /* 1 + index into the dictionary; 0: free */
    uint64_t slot_count; /* a power of two, at least twice the dictionary */
    uint32_t dictionary_capacity;
    uint64_t hash_key[2]; /* random, so that a hostile key cannot choose coefficients that collide */
};

static uint64_t value_hash(const struct csr_builder *b, const struct fr *v)
{
    uint64_t h = b->hash_key[0];
    for (int i = 0; i < 4; i++) {
        h = (h ^ v->w[i]) * (b->hash_key[1] | 1);
        h ^= h >> 32;
    }
    return h;
}

static bool value_same(const struct fr *a, const struct fr *b)
{
    return memcmp(a->w, b->w, sizeof a->w) == 0;
}

/* The slot that holds value, or the free one where it belongs. */
static uint64_t slot_of(const struct csr_builder *b, const struct fr *value)
{
    uint64_t i = value_hash(b, value) & (b->slot_count - 1);
    while (b->slots[i] != 0 && !value_same(&b->m.dictionary[b->slots[i] - 1], value))
        i = (i + 1) & (b->slot_count - 1);
    return i;
}

static cuzk_status dictionary_grow(struct csr_builder *b, struct task *t)
{
    const uint32_t capacity = b->dictionary_capacity ? 2 * b->dictionary_capacity : 1024;
    const uint64_t slot_count = 4 * (uint64_t)capacity;
    struct fr *dictionary = realloc(b->m.dictionary, capacity * sizeof *dictionary);
    if (dictionary) b->m.dictionary = dictionary;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    if (!dictionary || !slots) {
        free(slots);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for %u different coefficients", capacity);
    }
    free(b->slots);
    b->slots = slots;
    b->slot_count = slot_count;
    b->dictionary_capacity = capacity;
    for (uint32_t i = 0; i < b->m.dictionary_count; i++) b->slots[slot_of(b, &dictionary[i])] = i + 1;
    return CUZK_OK;
}

static cuzk_status dictionary_index(struct csr_builder *b, struct task *t, const struct fr *value,
                                    uint32_t *out)
{
    uint64_t slot = b->slot_count ? slot_of(b, value) : 0;
    if (b->slot_count == 0 || b->slots[slot] == 0) {
        if (b->m.dictionary_count == b->dictionary_capacity) {
            if (b->dictionary_capacity >= UINT32_MAX / 4)
                return FAIL(t, CUZK_TOO_LARGE, "more than 2^30 different coefficients");
            TRY(dictionary_grow(b, t));
        }
        slot = slot_of(b, value);
        b->m.dictionary[b->m.dictionary_count] = *value;
        b->slots[slot] = ++b->m.dictionary_count;
    }
    *out = b->slots[slot] - 1;
    return CUZK_OK;
}

cuzk_status csr_builder_create(struct csr_builder **out, struct task *t, const struct curve *c,
                               uint64_t row_count, uint64_t column_count)
{
    cuzk_status status = CUZK_OK;
    *out = NULL;
    struct csr_builder *b = calloc(1, sizeof *b);
    if (!b) return FAIL(t, CUZK_NO_MEMORY, "no memory for a matrix builder");
    b->curve = c;
    b->m.row_count = row_count;
    b->m.column_count = column_count;
    if (row_count >= UINT64_MAX / 16 || column_count > UINT32_MAX) {
        status = FAIL(t, CUZK_TOO_LARGE, "a matrix of %llu rows and %llu columns",
                      (unsigned long long)row_count, (unsigned long long)column_count);
        goto out;
    }
    b->m.row_start = calloc(row_count + 1, sizeof *b->m.row_start);
    b->fill = calloc(row_count + 1, sizeof *b->fill);
    if (!b->m.row_start || !b->fill) {
        status =
            FAIL(t, CUZK_NO_MEMORY, "no memory for a matrix of %llu rows", (unsigned long long)row_count);
        goto out;
    }
    TRY_GOTO(out, rng_bytes(t, b->hash_key, sizeof b->hash_key));
    struct fr one, minus_one;
    uint32_t index;
    c->fr.from_u64(&one, 1);
    c->fr.neg(&minus_one, &one);
    TRY_GOTO(out, dictionary_index(b, t, &one, &index));
    TRY_GOTO(out, dictionary_index(b, t, &minus_one, &index));
    *out = b;
    return CUZK_OK;
out:
    csr_builder_destroy(b);
    return status;
}

void csr_builder_count(struct csr_builder *b, uint64_t row) { b->fill[row]++; }

cuzk_status csr_builder_ready(struct csr_builder *b, struct task *t)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < b->m.row_count; i++) {
        b->m.row_start[i] = at;
        at += b->fill[i];
        b->fill[i] = b->m.row_start[i];
    }
    b->m.row_start[b->m.row_count] = at;
    b->m.entry_count = at;
    b->m.column = malloc((at + 1) * sizeof *b->m.column);
    b->m.coefficient = malloc((at + 1) * sizeof *b->m.coefficient);
    if (!b->m.column || !b->m.coefficient)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for %llu coefficients", (unsigned long long)at);
    return CUZK_OK;
}

cuzk_status csr_builder_place(struct csr_builder *b, struct task *t, uint64_t row, uint32_t column,
                              const struct fr *value)
{
    if (row >= b->m.row_count || column >= b->m.column_count)
        return FAIL(
            t, CUZK_MALFORMED,
            "coefficient at row %llu, column %u lies outside the matrix of %llu rows and %llu columns",
            (unsigned long long)row, column, (unsigned long long)b->m.row_count,
            (unsigned long long)b->m.column_count);
    const uint64_t at = b->fill[row];
    if (at == b->m.row_start[row + 1])
        return FAIL(t, CUZK_INTERNAL, "row %llu has more coefficients than were counted",
                    (unsigned long long)row);
    uint32_t index = 0;
    if (value_same(value, &b->m.dictionary[1]))
        index = 1;
    else if (!value_same(value, &b->m.dictionary[0]))
        TRY(dictionary_index(b, t, value, &index));
    b->m.column[at] = column;
    b->m.coefficient[at] = index;
    b->fill[row] = at + 1;
    return CUZK_OK;
}

void csr_builder_finish(struct csr_builder *b, struct csr *out)
{
    *out = b->m;
    memset(&b->m, 0, sizeof b->m);
    csr_builder_destroy(b);
}

void csr_builder_destroy(struct csr_builder *b)
{
    if (!b) return;
    csr_fini(&b->m);
    free(b->fill);
    free(b->slots);
    free(b);
}

void csr_fini(struct csr *m)
{
    free(m->row_start);
    free(m->column);
    free(m->coefficient);
    free(m->dictionary);
    memset(m, 0, sizeof *m);
}

uint64_t csr_bytes(const struct csr *m)
{
    return (m->row_count + 1) * sizeof *m->row_start +
           m->entry_count * (sizeof *m->column + sizeof *m->coefficient) +
           m->dictionary_count * sizeof *m->dictionary;
}

void csr_row_dot(const struct csr *m, const struct curve *c, uint64_t row, const struct witness *w,
                 struct fr *out)
{
    c->fr.from_u64(out, 0);
    for (uint64_t i = m->row_start[row]; i < m->row_start[row + 1]; i++) {
        struct fr_int plain;
        struct fr v;
        witness_get(w, &plain, m->column[i]);
        c->fr.from_int(&v, &plain);
        c->fr.mul(&v, &v, &m->dictionary[m->coefficient[i]]);
        c->fr.add(out, out, &v);
    }
}
