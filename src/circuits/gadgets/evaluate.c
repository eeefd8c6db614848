/* Rows on values: a row of bits costs a few loads; only general rows meet field arithmetic. */
#include "circuits/gadgets/evaluate.h"
#include "circuits/gadgets/instance.h"

#include "base/pool.h"

#include <stdatomic.h>
#include <stdlib.h>

#define FE bls12_381_fr
#include "field/fe_names.h"

#define NO_ROW UINT64_MAX

struct evaluator {
    const struct circuit_image *image;
    const struct assignment *w;
    const struct aux_map *map;
    fe_t *a, *b;      /* the next row's; NULL: check only */
    fe_t small[4];    /* -1, 0, 1, 2 */
    uint64_t row, bad_row;
};

static inline uint32_t bit_of(const struct evaluator *e, const struct instance *at, uint32_t ref)
{
    const uint32_t negate = (ref & REF_NOT) != 0, var = instance_var(at, ref);
    const uint32_t v = var & VAR_AUX ? assignment_bit(e->w, var & ~VAR_AUX) : 1;
    return v ^ negate;
}

static inline void put(struct evaluator *e, const fe_t *a, const fe_t *b, bool holds)
{
    if (e->a != NULL) {
        *e->a++ = *a;
        *e->b++ = *b;
    } else if (!holds && e->bad_row == NO_ROW) {
        e->bad_row = e->row;
    }
    e->row++;
}

static inline void put_small(struct evaluator *e, int a, int b, bool holds) { put(e, &e->small[a + 1], &e->small[b + 1], holds); }

static void eval_bits(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const uint32_t first = instance_var(at, p[1]) & ~VAR_AUX, count = p[0] >> 8;
    if (e->a == NULL) { /* a bit is a bit */
        e->row += count;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const int v = assignment_bit(e->w, first + i);
        put_small(e, 1 - v, v, true);
    }
}

static inline void eval_xor(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const int x = (int)bit_of(e, at, p[1]), y = (int)bit_of(e, at, p[2]);
    put_small(e, 2 * x, y, (uint32_t)(x ^ y) == bit_of(e, at, p[3]));
}

static inline void eval_and(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const int x = (int)bit_of(e, at, p[1]), y = (int)bit_of(e, at, p[2]);
    put_small(e, x, y, (uint32_t)(x & y) == bit_of(e, at, p[3]));
}

static inline void eval_ch(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const int x = (int)bit_of(e, at, p[1]), y = (int)bit_of(e, at, p[2]), z = (int)bit_of(e, at, p[3]);
    put_small(e, y - z, x, (y - z) * x == (int)bit_of(e, at, p[4]) - z);
}

static inline void eval_maj(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const int x = (int)bit_of(e, at, p[1]), y = (int)bit_of(e, at, p[2]), z = (int)bit_of(e, at, p[3]);
    const int both = (int)bit_of(e, at, p[4]), a = 2 * both - y - z;
    const bool holds = a * x == both - (int)bit_of(e, at, p[5]);
    if (a >= -1 && a <= 2) {
        put_small(e, a, x, holds);
    } else { /* -2: the two variables contradict each other */
        fe_t two;
        fe_neg(&two, &e->small[3]);
        put(e, &two, &e->small[x + 1], holds);
    }
}

static void value_of(const struct evaluator *e, const struct instance *at, fe_t *out, uint32_t ref)
{
    fe_int v;
    assignment_value(e->w, e->map, &v, instance_var(at, ref));
    fe_from_int(out, &v);
}

static void eval_pick(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const uint32_t s = bit_of(e, at, p[1]);
    fe_t x, y, z;
    value_of(e, at, &x, p[2]);
    value_of(e, at, &y, p[3]);
    bool holds = true;
    if (e->a == NULL) {
        value_of(e, at, &z, p[4]);
        holds = fe_eq(&z, s ? &x : &y);
    }
    fe_sub(&y, &y, &x);
    put(e, &y, &e->small[s + 1], holds);
}

/* A sum of coefficients without reduction: bits select them, 2^64 of them fit. */
struct wide_sum {
    uint64_t l[5];
};

static inline void wide_add(struct wide_sum *s, const fe_t *k, uint64_t mask)
{
    unsigned __int128 c = 0;
    for (int i = 0; i < 4; i++) {
        c += (unsigned __int128)s->l[i] + (k->l[i] & mask);
        s->l[i] = (uint64_t)c;
        c >>= 64;
    }
    s->l[4] += (uint64_t)c;
}

static void wide_reduce(fe_t *r, const struct wide_sum *s)
{
    const uint64_t one_words[4] = { 1, 0, 0, 0 };
    fe_t low, high, one;
    fe_int plain;
    memcpy(&plain, s->l, sizeof plain);
    memcpy(&one, one_words, sizeof one);
    fe_from_int(&low, &plain);      /* low * R mod r */
    fe_mul(&low, &low, &one);       /* low mod r */
    fe_from_u64(&high, s->l[4]);    /* high * 2^256 mod r, which is what its place is worth */
    fe_add(r, &low, &high);
}

static void dot(const struct evaluator *e, const struct instance *at, fe_t *out, const uint32_t *pairs, uint32_t count)
{
    struct wide_sum bits = { { 0 } };
    fe_t numbers, product;
    bool any_number = false;
    fe_set_zero(&numbers);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t var = instance_var(at, pairs[2 * i]);
        const fe_t *k = &e->image->coefficients[pairs[2 * i + 1]];
        uint32_t slot = AUX_IS_BIT;
        fe_t v;
        if (var == 0) {
            wide_add(&bits, k, UINT64_MAX);
            continue;
        }
        if (var & VAR_AUX) {
            slot = aux_map_find(e->map, var & ~VAR_AUX);
            if (slot == AUX_IS_BIT) {
                wide_add(&bits, k, (uint64_t)0 - assignment_bit(e->w, var & ~VAR_AUX));
                continue;
            }
            memcpy(&v, &e->w->numbers[slot], sizeof v);
        } else {
            memcpy(&v, &e->w->inputs[var], sizeof v);
        }
        fe_mul(&product, k, &v); /* Montgomery times plain: plain */
        fe_add(&numbers, &numbers, &product);
        any_number = true;
    }
    wide_reduce(out, &bits);
    if (any_number) {
        fe_int plain;
        memcpy(&plain, &numbers, sizeof plain);
        fe_from_int(&product, &plain);
        fe_add(out, out, &product);
    }
}

static void eval_general(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const uint32_t *pairs = p + 4;
    fe_t a, b, c, product;
    bool holds = true;
    dot(e, at, &a, pairs, p[1]);
    pairs += 2 * (size_t)p[1];
    dot(e, at, &b, pairs, p[2]);
    if (e->a == NULL) {
        dot(e, at, &c, pairs + 2 * (size_t)p[2], p[3]);
        fe_mul(&product, &a, &b);
        holds = fe_eq(&product, &c);
    }
    put(e, &a, &b, holds);
}

static void eval_trail(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    for (uint32_t i = 0; i < p[0] >> 8; i++) {
        fe_t v;
        fe_from_int(&v, &e->w->inputs[at->input + p[1] + i]);
        put(e, &v, &e->small[1], true);
    }
}

static void eval_template(struct evaluator *e, const struct circuit_template *c, const struct instance *at)
{
    const struct circuit_image *m = e->image;
    for (uint64_t i = c->rows_begin; i < c->rows_end; i += row_entry_words(m, m->rows + i)) {
        const uint32_t *p = m->rows + i;
        switch (p[0] & 0xff) {
        case ROW_BITS: eval_bits(e, at, p); break;
        case ROW_XOR: eval_xor(e, at, p); break;
        case ROW_AND: eval_and(e, at, p); break;
        case ROW_CH: eval_ch(e, at, p); break;
        case ROW_MAJ: eval_maj(e, at, p); break;
        case ROW_PICK: eval_pick(e, at, p); break;
        case ROW_GENERAL: eval_general(e, at, p); break;
        case ROW_TRAIL: eval_trail(e, at, p); break;
        default: {
            const struct circuit_template *callee = &m->templates[p[1]];
            struct instance inside;
            if (p[0] >> 8 != 0) { /* a part, which is worked on by itself */
                if (e->a != NULL) {
                    e->a += callee->row_count;
                    e->b += callee->row_count;
                }
                e->row += callee->row_count;
                break;
            }
            instance_enter(&inside, at, callee, p);
            eval_template(e, callee, &inside);
        }
        }
    }
}

struct evaluation {
    const struct circuit_image *image;
    const struct assignment *w;
    const struct aux_map *map;
    fe_t *a, *b;
    uint32_t *imports; /* depth_imports for each worker */
    const atomic_bool *cancel;
    _Atomic uint64_t bad_row;
};

/* Index 0 is the circuit's own rows, the others are its parts. */
static void evaluate_one(void *context, size_t index, unsigned worker)
{
    struct evaluation *all = context;
    const struct circuit_image *m = all->image;
    const struct circuit_template *c = image_circuit(m);
    struct evaluator e = { .image = m, .w = all->w, .map = all->map, .a = all->a, .b = all->b, .bad_row = NO_ROW };
    struct instance whole = { 0, 0, NULL, all->imports + (size_t)worker * (c->depth_imports + 1) };
    if (all->cancel != NULL && atomic_load(all->cancel)) return;
    fe_set_zero(&e.small[1]);
    fe_set_one(&e.small[2]);
    fe_neg(&e.small[0], &e.small[2]);
    fe_dbl(&e.small[3], &e.small[2]);
    if (index == 0) {
        eval_template(&e, c, &whole);
    } else {
        const struct circuit_part *p = &m->parts[index - 1];
        struct instance inside;
        e.row = p->first_row;
        if (e.a != NULL) {
            e.a += p->first_row;
            e.b += p->first_row;
        }
        instance_enter(&inside, &whole, &m->templates[p->template_id], m->rows + p->row_entry);
        eval_template(&e, &m->templates[p->template_id], &inside);
    }
    uint64_t seen = atomic_load(&all->bad_row);
    while (e.bad_row < seen && !atomic_compare_exchange_weak(&all->bad_row, &seen, e.bad_row)) continue;
}

static cuzk_status evaluate_all(struct evaluation *all, struct task *t)
{
    const struct circuit_image *m = all->image;
    TRY(task_poll(t));
    all->imports = malloc((size_t)pool_width(t->pool) * (image_circuit(m)->depth_imports + 1) * sizeof *all->imports);
    if (all->imports == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to evaluate circuit %s", m->name);
    all->cancel = t->cancel;
    atomic_init(&all->bad_row, NO_ROW);
    pool_run(t->pool, m->part_count + (size_t)1, evaluate_one, all);
    free(all->imports);
    return task_poll(t);
}

cuzk_status image_evaluate(const struct circuit_image *m, struct task *t, fe_t *a, fe_t *b, const struct assignment *w,
                           const struct aux_map *map)
{
    struct evaluation all = { .image = m, .w = w, .map = map, .a = a, .b = b };
    return evaluate_all(&all, t);
}

cuzk_status image_check(const struct circuit_image *m, struct task *t, const struct assignment *w, const struct aux_map *map)
{
    struct evaluation all = { .image = m, .w = w, .map = map };
    TRY(evaluate_all(&all, t));
    const uint64_t bad = atomic_load(&all.bad_row);
    if (bad != NO_ROW) return FAIL(t, CUZK_UNSATISFIED, "row %llu of circuit %s does not hold", (unsigned long long)bad, m->name);
    return CUZK_OK;
}
