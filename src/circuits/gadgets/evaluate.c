/* Rows on values: a row of bits costs a few loads; only general rows meet field arithmetic. */
#include "circuits/gadgets/evaluate.h"
#include "r1cs/instance.h"

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
    fe_t *a, *b;   /* the next row's; NULL: check only */
    fe_t small[5]; /* -2 ... 2 */
    uint64_t row, bad_row;
};

/* count <= 64 bits of the witness from aux on. */
static inline uint64_t load_bits(const struct assignment *w, uint32_t aux, unsigned count)
{
    const unsigned shift = aux % 64;
    uint64_t v = w->bits[aux / 64] >> shift;
    if (shift != 0) v |= w->bits[aux / 64 + 1] << (64 - shift);
    return count < 64 ? v & (((uint64_t)1 << count) - 1) : v;
}

/* The values of count <= 64 successive references, one a bit. */
static inline uint64_t lanes_of(const struct evaluator *e, const struct instance *at, uint32_t ref,
                                unsigned count)
{
    const uint64_t ones = count < 64 ? ((uint64_t)1 << count) - 1 : UINT64_MAX,
                   negate = ref & REF_NOT ? ones : 0;
    uint64_t v = 0;
    if ((ref & REF_KIND) == REF_LOCAL) return load_bits(e->w, at->aux + (ref & REF_INDEX), count) ^ negate;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t var = instance_var(at, ref + i);
        v |= (uint64_t)(var & VAR_AUX ? assignment_bit(e->w, var & ~VAR_AUX) : 1) << i;
    }
    return v ^ negate;
}

/* Every second bit of v: a0b0c0.. -> abc.. */
static inline uint64_t even_bits(uint64_t v)
{
    v &= 0x5555555555555555u;
    v = (v | v >> 1) & 0x3333333333333333u;
    v = (v | v >> 2) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v >> 4) & 0x00ff00ff00ff00ffu;
    v = (v | v >> 8) & 0x0000ffff0000ffffu;
    return (v | v >> 16) & 0x00000000ffffffffu;
}

static inline void write_row(struct evaluator *e, const fe_t *a, const fe_t *b)
{
    *e->a++ = *a;
    *e->b++ = *b;
}

static inline void write_small(struct evaluator *e, int a, int b)
{
    write_row(e, &e->small[a + 2], &e->small[b + 2]);
}

/* wrong: a bit for each of the next rows that does not hold, stride rows apart. */
static inline void note_wrong(struct evaluator *e, uint64_t wrong, unsigned stride)
{
    if (wrong != 0 && e->bad_row == NO_ROW) e->bad_row = e->row + stride * (unsigned)__builtin_ctzll(wrong);
}

static inline void put(struct evaluator *e, const fe_t *a, const fe_t *b, bool holds)
{
    note_wrong(e, !holds, 1);
    if (e->a != NULL) write_row(e, a, b);
    e->row++;
}

static void eval_bits(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const uint32_t count = p[0] >> 8;
    for (uint32_t i = 0; i < count && e->a != NULL; i += 64) { /* nothing to check: a bit is a bit */
        const unsigned n = count - i < 64 ? count - i : 64;
        uint64_t v = lanes_of(e, at, p[1] + i, n);
        for (unsigned j = 0; j < n; j++, v >>= 1) write_small(e, 1 - (int)(v & 1), (int)(v & 1));
    }
    e->row += count;
}

static inline int bit(uint64_t v, unsigned i) { return (int)(v >> i & 1); }

static void eval_xor(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const uint32_t count = p[0] >> 8;
    for (uint32_t i = 0; i < count; i += 64) {
        const unsigned n = count - i < 64 ? count - i : 64;
        const uint64_t x = lanes_of(e, at, p[1] + i, n), y = lanes_of(e, at, p[2] + i, n);
        if (e->a == NULL) note_wrong(e, x ^ y ^ lanes_of(e, at, p[3] + i, n), 1);
        for (unsigned j = 0; j < n && e->a != NULL; j++) write_small(e, 2 * bit(x, j), bit(y, j));
        e->row += n;
    }
}

static void eval_and(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const uint32_t count = p[0] >> 8;
    for (uint32_t i = 0; i < count; i += 64) {
        const unsigned n = count - i < 64 ? count - i : 64;
        const uint64_t x = lanes_of(e, at, p[1] + i, n), y = lanes_of(e, at, p[2] + i, n);
        if (e->a == NULL) note_wrong(e, (x & y) ^ lanes_of(e, at, p[3] + i, n), 1);
        for (unsigned j = 0; j < n && e->a != NULL; j++) write_small(e, bit(x, j), bit(y, j));
        e->row += n;
    }
}

static void eval_ch(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const uint32_t count = p[0] >> 8;
    for (uint32_t i = 0; i < count; i += 64) {
        const unsigned n = count - i < 64 ? count - i : 64;
        const uint64_t x = lanes_of(e, at, p[1] + i, n), y = lanes_of(e, at, p[2] + i, n),
                       z = lanes_of(e, at, p[3] + i, n);
        if (e->a == NULL) note_wrong(e, ((x & y) | (~x & z)) ^ lanes_of(e, at, p[4] + i, n), 1);
        for (unsigned j = 0; j < n && e->a != NULL; j++) write_small(e, bit(y, j) - bit(z, j), bit(x, j));
        e->row += n;
    }
}

/* Pairs of rows: y * z = both, then (2 both - y - z) * x = both - r. */
static void eval_maj(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const uint32_t count = p[0] >> 8;
    const bool swap = (p[2] & REF_NOT) && !(p[3] & REF_NOT);
    for (uint32_t i = 0; i < count; i += 32) {
        const unsigned n = count - i < 32 ? count - i : 32;
        const uint64_t x = lanes_of(e, at, p[1] + i, n), y = lanes_of(e, at, p[2] + i, n),
                       z = lanes_of(e, at, p[3] + i, n);
        const uint64_t pairs = lanes_of(e, at, p[4] + 2 * i, 2 * n), r = even_bits(pairs),
                       both = even_bits(pairs >> 1);
        if (e->a == NULL) {
            const uint64_t first = (y & z) ^ both, second = ~first & (both ^ r ^ (x & (y ^ z)));
            const unsigned at_first = first != 0 ? 2 * (unsigned)__builtin_ctzll(first) : UINT32_MAX;
            const unsigned at_second = second != 0 ? 2 * (unsigned)__builtin_ctzll(second) + 1 : UINT32_MAX;
            if (first != 0 || second != 0)
                note_wrong(e, (uint64_t)1 << (at_first < at_second ? at_first : at_second), 1);
        }
        for (unsigned j = 0; j < n && e->a != NULL; j++) {
            write_small(e, bit(swap ? z : y, j), bit(swap ? y : z, j));
            write_small(e, 2 * bit(both, j) - bit(y, j) - bit(z, j), bit(x, j));
        }
        e->row += 2 * n;
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
    const unsigned s = (unsigned)lanes_of(e, at, p[1], 1);
    fe_t x, y, z;
    bool holds = true;
    value_of(e, at, &x, p[2]);
    value_of(e, at, &y, p[3]);
    if (e->a == NULL) {
        value_of(e, at, &z, p[4]);
        holds = fe_eq(&z, s ? &x : &y);
    }
    fe_sub(&y, &y, &x);
    put(e, &y, &e->small[s + 2], holds);
}

/* A sum of elements without reduction. */
struct wide_sum {
    uint64_t l[5];
};

static inline void wide_add(struct wide_sum *s, const fe_t *k)
{
    unsigned __int128 c = 0;
    for (int i = 0; i < 4; i++) {
        c += (unsigned __int128)s->l[i] + k->l[i];
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
    fe_from_int(&low, &plain);   /* low * R mod r */
    fe_mul(&low, &low, &one);    /* low mod r */
    fe_from_u64(&high, s->l[4]); /* high * 2^256 mod r, which is what its place is worth */
    fe_add(r, &low, &high);
}

/* A sum of products without reduction: half the work of reducing each. */
struct wide_dot {
    uint64_t l[9];
};

static inline void wide_multiply_add(struct wide_dot *s, const fe_t *x, const fe_int *y)
{
    for (int i = 0; i < 4; i++) {
        unsigned __int128 c = 0;
        for (int j = 0; j < 4; j++) {
            c += (unsigned __int128)x->l[i] * y->l[j] + s->l[i + j];
            s->l[i + j] = (uint64_t)c;
            c >>= 64;
        }
        for (int j = i + 4; j < 9; j++) {
            c += s->l[j];
            s->l[j] = (uint64_t)c;
            c >>= 64;
        }
    }
}

/* The sum divided by R, modulo r: the upper part as it stands and the lower part by one Montgomery multiplication. */
static void wide_dot_reduce(fe_t *r, const struct wide_dot *s)
{
    const uint64_t one_words[4] = { 1, 0, 0, 0 };
    struct wide_sum upper;
    fe_t low, one;
    memcpy(&low, s->l, sizeof low);
    memcpy(&one, one_words, sizeof one);
    memcpy(&upper, s->l + 4, sizeof upper);
    fe_mul(&low, &one, &low);
    wide_reduce(r, &upper);
    fe_add(r, r, &low);
}

/* first_number: where the instance's numbers begin if all its variables are numbers, else AUX_IS_BIT. */
static void dot(const struct evaluator *e, const struct instance *at, uint32_t first_number, fe_t *out,
                const uint32_t *pairs, uint32_t count)
{
    struct wide_sum bits = { { 0 } };
    struct wide_dot numbers = { { 0 } };
    bool any_number = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t ref = pairs[2 * i], var = instance_var(at, ref);
        const fe_t *k = &e->image->coefficients[pairs[2 * i + 1]];
        const fe_int *v = &e->w->inputs[var & VAR_AUX ? 0 : var];
        if (first_number != AUX_IS_BIT && (ref & REF_KIND) == REF_LOCAL) {
            v = &e->w->numbers[first_number + (ref & REF_INDEX)];
        } else if (var == 0) {
            wide_add(&bits, k);
            continue;
        } else if (var & VAR_AUX) {
            const uint32_t slot = aux_map_find(e->map, var & ~VAR_AUX);
            if (slot == AUX_IS_BIT) {
                if (assignment_bit(e->w, var & ~VAR_AUX)) wide_add(&bits, k);
                continue;
            }
            v = &e->w->numbers[slot];
        }
        wide_multiply_add(&numbers, k, v); /* Montgomery times plain, divided by R: plain */
        any_number = true;
    }
    wide_reduce(out, &bits);
    if (any_number) {
        fe_t sum;
        fe_int plain;
        wide_dot_reduce(&sum, &numbers);
        memcpy(&plain, &sum, sizeof plain);
        fe_from_int(&sum, &plain);
        fe_add(out, out, &sum);
    }
}

/* The sum of runs: a plain integer below 2^256, since each run ends below 2^254. */
static void runs_value(const struct evaluator *e, const struct instance *at, fe_t *out, const uint32_t *run,
                       uint32_t count)
{
    fe_int sum;
    memset(&sum, 0, sizeof sum);
    for (; count > 0; count--, run += 2) {
        const unsigned n = RUN_COUNT(run[1]), shift = RUN_SHIFT(run[1]), word = shift / 64;
        uint64_t v;
        if (RUN_STRIDE(run[1]) == 2) {
            v = even_bits(lanes_of(e, at, run[0], n > 32 ? 64 : 2 * n - 1));
            if (n > 32) v |= even_bits(lanes_of(e, at, run[0] + 64, 2 * (n - 32) - 1)) << 32;
        } else {
            v = lanes_of(e, at, run[0], n);
        }
        unsigned __int128 c = (unsigned __int128)v << shift % 64;
        for (unsigned i = word; i < 4; i++) {
            const unsigned __int128 s = (unsigned __int128)sum.l[i] + (uint64_t)c;
            sum.l[i] = (uint64_t)s;
            c = (c >> 64) + (uint64_t)(s >> 64);
        }
    }
    fe_from_int(out, &sum);
}

static void eval_sums(struct evaluator *e, const struct instance *at, const uint32_t *p)
{
    const uint32_t *pairs = p + 4 + 2 * (size_t)p[1];
    fe_t a, c;
    bool holds = true;
    runs_value(e, at, &a, p + 4, p[1]);
    if (p[2] != 0) {
        dot(e, at, AUX_IS_BIT, &c, pairs, p[2]);
        fe_add(&a, &a, &c);
    }
    if (e->a == NULL) {
        runs_value(e, at, &c, pairs + 2 * (size_t)p[2], p[3]);
        holds = fe_eq(&a, &c);
    }
    put(e, &a, &e->small[3], holds);
}

static void eval_general(struct evaluator *e, const struct instance *at, uint32_t first_number,
                         const uint32_t *p)
{
    const uint32_t *pairs = p + 4;
    fe_t a, b, c, product;
    bool holds = true;
    dot(e, at, first_number, &a, pairs, p[1]);
    pairs += 2 * (size_t)p[1];
    dot(e, at, first_number, &b, pairs, p[2]);
    if (e->a == NULL) {
        dot(e, at, first_number, &c, pairs + 2 * (size_t)p[2], p[3]);
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
        put(e, &v, &e->small[2], true);
    }
}

static void eval_template(struct evaluator *e, const struct circuit_template *c, const struct instance *at)
{
    const struct circuit_image *m = e->image;
    const bool all_numbers = c->aux_count != 0 && c->number_count == c->aux_count;
    const uint32_t first_number = all_numbers ? aux_map_find(e->map, at->aux) : AUX_IS_BIT;
    for (uint64_t i = c->rows_begin; i < c->rows_end; i += row_entry_words(m, m->rows + i)) {
        const uint32_t *p = m->rows + i;
        switch (p[0] & 0xff) {
        case ROW_BITS:
            eval_bits(e, at, p);
            break;
        case ROW_XOR:
            eval_xor(e, at, p);
            break;
        case ROW_AND:
            eval_and(e, at, p);
            break;
        case ROW_CH:
            eval_ch(e, at, p);
            break;
        case ROW_MAJ:
            eval_maj(e, at, p);
            break;
        case ROW_PICK:
            eval_pick(e, at, p);
            break;
        case ROW_SUMS:
            eval_sums(e, at, p);
            break;
        case ROW_GENERAL:
            eval_general(e, at, first_number, p);
            break;
        case ROW_TRAIL:
            eval_trail(e, at, p);
            break;
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
    struct evaluator e = {
        .image = m, .w = all->w, .map = all->map, .a = all->a, .b = all->b, .bad_row = NO_ROW
    };
    struct instance whole = { 0, 0, NULL, all->imports + (size_t)worker * (c->depth_imports + 1) };
    if (all->cancel != NULL && atomic_load(all->cancel)) return;
    fe_set_zero(&e.small[2]);
    fe_set_one(&e.small[3]);
    fe_dbl(&e.small[4], &e.small[3]);
    fe_neg(&e.small[1], &e.small[3]);
    fe_neg(&e.small[0], &e.small[4]);
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
    all->imports =
        malloc((size_t)pool_width(t->pool) * (image_circuit(m)->depth_imports + 1) * sizeof *all->imports);
    if (all->imports == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to evaluate circuit %s", m->name);
    all->cancel = t->cancel;
    atomic_init(&all->bad_row, NO_ROW);
    pool_run(t->pool, m->part_count + (size_t)1, evaluate_one, all);
    free(all->imports);
    return task_poll(t);
}

cuzk_status image_evaluate(const struct circuit_image *m, struct task *t, fe_t *a, fe_t *b,
                           const struct assignment *w, const struct aux_map *map)
{
    struct evaluation all = { .image = m, .w = w, .map = map, .a = a, .b = b };
    return evaluate_all(&all, t);
}

cuzk_status image_check(const struct circuit_image *m, struct task *t, const struct assignment *w,
                        const struct aux_map *map)
{
    struct evaluation all = { .image = m, .w = w, .map = map };
    TRY(evaluate_all(&all, t));
    const uint64_t bad = atomic_load(&all.bad_row);
    if (bad != NO_ROW)
        return FAIL(t, CUZK_UNSATISFIED, "row %llu of circuit %s does not hold", (unsigned long long)bad,
                    m->name);
    return CUZK_OK;
}
