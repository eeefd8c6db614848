/* Transforms and the quotient, in neutral names.  How a transform is cut: poly/ntt_plan.h.
 *
 * Takes  FE  prefix of the scalar field, with poly/butterfly.inc.h. */
#include "field/fe_names.h"

#define SCALE_LOG2 8 /* powers that are tabled on the stack when a vector is scaled */

enum ntt_direction { NTT_FORWARD, NTT_INVERSE };

struct ntt_run {
    fe_t *x;
    unsigned log2;
    const fe_t *table;
    unsigned table_log2;
    enum ntt_direction direction;
    fe_t root;      /* of order 2^log2, of this direction: for levels without a table */
    unsigned level; /* of the pass being run */
    /* scaling by scale_first * scale^i between an inverse and a forward transform */
    bool scales;
    fe_t scale, scale_first;
    fe_t scale_block[1 << SCALE_LOG2]; /* scale_step^(bit-reversed i) */
};

static void fe_pow_u64(fe_t *r, const fe_t *a, uint64_t e) { fe_pow(r, a, &e, 1); }

static inline uint64_t bit_reverse(uint64_t i, unsigned bits)
{
    uint64_t r = 0;
    for (unsigned b = 0; b < bits; b++) r |= ((i >> b) & 1) << (bits - 1 - b);
    return r;
}

/* -- butterflies of a range of one sub-transform x of length 2^level -- */

/* Levels level and level - 1, j in [j0, j1), twiddles from the table. */
static inline __attribute__((always_inline)) void dif4_range(fe_t *x, unsigned level, uint64_t j0,
                                                             uint64_t j1, const fe_t *table, bool inverse)
{
    const uint64_t quarter = (uint64_t)1 << (level - 2);
    const fe_t *w1 = table + 2 * quarter, *w2 = table + quarter;
    fe_t *a0 = x, *a1 = x + quarter, *a2 = a1 + quarter, *a3 = a2 + quarter;
    if (j0 == 0) { /* w^0 = 1; the fourth root stays */
        CAT(FE, _dif2_one)(a0, a2);
        if (inverse)
            CAT(FE, _dif2_neg)(a1, a3, &w1[quarter]);
        else
            CAT(FE, _dif2)(a1, a3, &w1[quarter]);
        CAT(FE, _dif2_one)(a0, a1);
        CAT(FE, _dif2_one)(a2, a3);
        j0 = 1;
    }
    for (uint64_t j = j0; j < j1; j++) {
        if (inverse)
            CAT(FE, _dif4_neg)
            (&a0[j], &a1[j], &a2[j], &a3[j], &w1[2 * quarter - j], &w1[quarter - j], &w2[quarter - j]);
        else
            CAT(FE, _dif4)(&a0[j], &a1[j], &a2[j], &a3[j], &w1[j], &w1[j + quarter], &w2[j]);
    }
}

static void dif4_table(fe_t *x, unsigned level, uint64_t j0, uint64_t j1, const fe_t *table,
                       enum ntt_direction direction)
{
    if (direction == NTT_INVERSE)
        dif4_range(x, level, j0, j1, table, true);
    else
        dif4_range(x, level, j0, j1, table, false);
}

static void dif2_table(fe_t *x, unsigned level, uint64_t j0, uint64_t j1, const fe_t *table,
                       enum ntt_direction direction)
{
    const uint64_t half = (uint64_t)1 << (level - 1);
    const fe_t *w = table + half;
    if (j0 == 0) {
        CAT(FE, _dif2_one)(&x[0], &x[half]);
        j0 = 1;
    }
    for (uint64_t j = j0; j < j1; j++) {
        if (direction == NTT_INVERSE)
            CAT(FE, _dif2_neg)(&x[j], &x[j + half], &w[half - j]);
        else
            CAT(FE, _dif2)(&x[j], &x[j + half], &w[j]);
    }
}

static void dit4_table(fe_t *x, unsigned level, uint64_t j0, uint64_t j1, const fe_t *table)
{
    const uint64_t quarter = (uint64_t)1 << (level - 2);
    const fe_t *w1 = table + 2 * quarter, *w2 = table + quarter;
    fe_t *a0 = x, *a1 = x + quarter, *a2 = a1 + quarter, *a3 = a2 + quarter;
    if (j0 == 0) {
        CAT(FE, _dif2_one)(a0, a1);
        CAT(FE, _dif2_one)(a2, a3);
        CAT(FE, _dif2_one)(a0, a2);
        CAT(FE, _dit2)(a1, a3, &w1[quarter]);
        j0 = 1;
    }
    for (uint64_t j = j0; j < j1; j++)
        CAT(FE, _dit4)(&a0[j], &a1[j], &a2[j], &a3[j], &w1[j], &w1[j + quarter], &w2[j]);
}

static void dit2_table(fe_t *x, unsigned level, uint64_t j0, uint64_t j1, const fe_t *table)
{
    const uint64_t half = (uint64_t)1 << (level - 1);
    for (uint64_t j = j0; j < j1; j++) CAT(FE, _dit2)(&x[j], &x[j + half], &table[half + j]);
}

/* The same four with the twiddles computed: w runs through powers of root, of order 2^level. */
static void pass4_computed(fe_t *x, unsigned level, uint64_t j0, uint64_t j1, const fe_t *root, bool in_time)
{
    const uint64_t quarter = (uint64_t)1 << (level - 2);
    fe_t w, wq, w2, fourth;
    fe_pow_u64(&w, root, j0);
    fe_pow_u64(&fourth, root, quarter);
    for (uint64_t j = j0; j < j1; j++) {
        fe_mul(&wq, &w, &fourth);
        fe_sqr(&w2, &w);
        if (in_time)
            CAT(FE, _dit4)(&x[j], &x[j + quarter], &x[j + 2 * quarter], &x[j + 3 * quarter], &w, &wq, &w2);
        else
            CAT(FE, _dif4)(&x[j], &x[j + quarter], &x[j + 2 * quarter], &x[j + 3 * quarter], &w, &wq, &w2);
        fe_mul(&w, &w, root);
    }
}

static void pass2_computed(fe_t *x, unsigned level, uint64_t j0, uint64_t j1, const fe_t *root, bool in_time)
{
    const uint64_t half = (uint64_t)1 << (level - 1);
    fe_t w;
    fe_pow_u64(&w, root, j0);
    for (uint64_t j = j0; j < j1; j++) {
        if (in_time)
            CAT(FE, _dit2)(&x[j], &x[j + half], &w);
        else
            CAT(FE, _dif2)(&x[j], &x[j + half], &w);
        fe_mul(&w, &w, root);
    }
}

/* -- one block, in cache -- */

static void dif_block(fe_t *x, unsigned log2, const fe_t *table, enum ntt_direction direction)
{
    const fe_t *const end = x + ((uint64_t)1 << log2);
    unsigned level = log2;
    if (level & 1) {
        dif2_table(x, level, 0, (uint64_t)1 << (level - 1), table, direction);
        level--;
    }
    for (; level > 0; level -= 2)
        for (fe_t *s = x; s < end; s += (uint64_t)1 << level)
            dif4_table(s, level, 0, (uint64_t)1 << (level - 2), table, direction);
}

static void dit_block(fe_t *x, unsigned log2, const fe_t *table)
{
    const fe_t *const end = x + ((uint64_t)1 << log2);
    unsigned level = 2;
    for (; level <= log2; level += 2)
        for (fe_t *s = x; s < end; s += (uint64_t)1 << level)
            dit4_table(s, level, 0, (uint64_t)1 << (level - 2), table);
    if (log2 & 1) dit2_table(x, log2, 0, (uint64_t)1 << (log2 - 1), table);
}

/* -- passes over the whole vector -- */

/* Task index: a run of butterflies of one sub-transform.  span: butterflies of a sub-transform. */
static void pass_place(const struct ntt_run *n, size_t index, uint64_t span, fe_t **x, uint64_t *j0,
                       uint64_t *j1)
{
    const uint64_t piece = span < (1u << NTT_PIECE_LOG2) ? span : 1u << NTT_PIECE_LOG2, pieces = span / piece;
    *x = n->x + ((index / pieces) << n->level);
    *j0 = (index % pieces) * piece;
    *j1 = *j0 + piece;
}

static size_t pass_tasks(const struct ntt_run *n, uint64_t span)
{
    const uint64_t piece = span < (1u << NTT_PIECE_LOG2) ? span : 1u << NTT_PIECE_LOG2;
    return (size_t)((span / piece) << (n->log2 - n->level));
}

static void level_root(const struct ntt_run *n, fe_t *r)
{
    *r = n->root;
    for (unsigned l = n->log2; l > n->level; l--) fe_sqr(r, r);
}

static void dif4_pass(void *context, size_t index, unsigned slot)
{
    const struct ntt_run *n = (const struct ntt_run *)context;
    fe_t *x, root;
    uint64_t j0, j1;
    (void)slot;
    pass_place(n, index, (uint64_t)1 << (n->level - 2), &x, &j0, &j1);
    if (n->level <= n->table_log2) {
        dif4_table(x, n->level, j0, j1, n->table, n->direction);
    } else {
        level_root(n, &root);
        pass4_computed(x, n->level, j0, j1, &root, false);
    }
}

static void dif2_pass(void *context, size_t index, unsigned slot)
{
    const struct ntt_run *n = (const struct ntt_run *)context;
    fe_t *x, root;
    uint64_t j0, j1;
    (void)slot;
    pass_place(n, index, (uint64_t)1 << (n->level - 1), &x, &j0, &j1);
    if (n->level <= n->table_log2) {
        dif2_table(x, n->level, j0, j1, n->table, n->direction);
    } else {
        level_root(n, &root);
        pass2_computed(x, n->level, j0, j1, &root, false);
    }
}

static void dit4_pass(void *context, size_t index, unsigned slot)
{
    const struct ntt_run *n = (const struct ntt_run *)context;
    fe_t *x, root;
    uint64_t j0, j1;
    (void)slot;
    pass_place(n, index, (uint64_t)1 << (n->level - 2), &x, &j0, &j1);
    if (n->level <= n->table_log2) {
        dit4_table(x, n->level, j0, j1, n->table);
    } else {
        level_root(n, &root);
        pass4_computed(x, n->level, j0, j1, &root, true);
    }
}

static void dit2_pass(void *context, size_t index, unsigned slot)
{
    const struct ntt_run *n = (const struct ntt_run *)context;
    fe_t *x, root;
    uint64_t j0, j1;
    (void)slot;
    pass_place(n, index, (uint64_t)1 << (n->level - 1), &x, &j0, &j1);
    if (n->level <= n->table_log2) {
        dit2_table(x, n->level, j0, j1, n->table);
    } else {
        level_root(n, &root);
        pass2_computed(x, n->level, j0, j1, &root, true);
    }
}

/* x[i] *= scale_first * scale^(bit-reversed i) over count elements from i = first, a multiple of a power of two that is >= count or of
 * the stack table's size. */
static void scale_reversed(const struct ntt_run *n, fe_t *x, uint64_t first, uint64_t count)
{
    const unsigned low = n->log2 < SCALE_LOG2 ? n->log2 : SCALE_LOG2;
    for (uint64_t i = 0; i < count; i += (uint64_t)1 << low) {
        fe_t high, t;
        fe_pow_u64(&high, &n->scale, bit_reverse((first + i) >> low, n->log2 - low));
        fe_mul(&high, &high, &n->scale_first);
        for (uint64_t j = 0; j < (uint64_t)1 << low; j++) {
            fe_mul(&t, &x[i + j], &high);
            fe_mul(&x[i + j], &t, &n->scale_block[j]);
        }
    }
}

static void scale_prepare(struct ntt_run *n, const fe_t *scale, const fe_t *first)
{
    const unsigned low = n->log2 < SCALE_LOG2 ? n->log2 : SCALE_LOG2;
    fe_t step, power;
    n->scales = true;
    n->scale = *scale;
    n->scale_first = *first;
    fe_pow_u64(&step, scale, (uint64_t)1 << (n->log2 - low));
    fe_set_one(&power);
    for (uint64_t j = 0; j < (uint64_t)1 << low; j++) {
        n->scale_block[bit_reverse(j, low)] = power;
        fe_mul(&power, &power, &step);
    }
}

static void dif_blocks(void *context, size_t index, unsigned slot)
{
    const struct ntt_run *n = (const struct ntt_run *)context;
    const unsigned log2 = n->log2 < NTT_BLOCK_LOG2 ? n->log2 : NTT_BLOCK_LOG2;
    const uint64_t first = (uint64_t)index << log2;
    (void)slot;
    dif_block(n->x + first, log2, n->table, n->direction);
    if (n->scales) scale_reversed(n, n->x + first, first, (uint64_t)1 << log2);
}

/* Last levels of an inverse transform, scaling, first levels of a forward one, on a block that stays in cache. */
static void turn_blocks(void *context, size_t index, unsigned slot)
{
    const struct ntt_run *n = (const struct ntt_run *)context;
    const unsigned log2 = n->log2 < NTT_BLOCK_LOG2 ? n->log2 : NTT_BLOCK_LOG2;
    dif_blocks(context, index, slot);
    dit_block(n->x + ((uint64_t)index << log2), log2, n->table);
}

/* Natural to bit-reversed order; the block levels by `blocks`. */
static cuzk_status dif_all(const struct cpu_team *team, struct ntt_run *n, cpu_body *blocks)
{
    const unsigned block = n->log2 < NTT_BLOCK_LOG2 ? n->log2 : NTT_BLOCK_LOG2;
    n->level = n->log2;
    if ((n->log2 - block) & 1) {
        TRY(cpu_run(team, pass_tasks(n, (uint64_t)1 << (n->level - 1)), dif2_pass, n));
        n->level--;
    }
    for (; n->level > block; n->level -= 2)
        TRY(cpu_run(team, pass_tasks(n, (uint64_t)1 << (n->level - 2)), dif4_pass, n));
    return cpu_run(team, (size_t)1 << (n->log2 - block), blocks, n);
}

/* The levels of decimation in time above the block. */
static cuzk_status dit_top(const struct cpu_team *team, struct ntt_run *n)
{
    const unsigned block = n->log2 < NTT_BLOCK_LOG2 ? n->log2 : NTT_BLOCK_LOG2;
    for (n->level = block + 2; n->level <= n->log2; n->level += 2)
        TRY(cpu_run(team, pass_tasks(n, (uint64_t)1 << (n->level - 2)), dit4_pass, n));
    if ((n->log2 - block) & 1) {
        n->level = n->log2;
        TRY(cpu_run(team, pass_tasks(n, (uint64_t)1 << (n->level - 1)), dit2_pass, n));
    }
    return CUZK_OK;
}

static void fe_of_fr(fe_t *r, const struct fr *a) { memcpy(r->l, a->w, sizeof r->l); }

static void ntt_run_init(struct ntt_run *n, const struct domain *d, const struct fr *table,
                         unsigned table_log2, struct fr *x, enum ntt_direction direction)
{
    n->x = (fe_t *)(void *)x;
    n->log2 = d->log2;
    n->table = (const fe_t *)(const void *)table;
    n->table_log2 = table_log2;
    n->direction = direction;
    fe_of_fr(&n->root, direction == NTT_INVERSE ? &d->omega_inv : &d->omega);
    n->scales = false;
}

/* -- twiddle tables -- */

struct table_run {
    fe_t *table;
    unsigned log2;
    fe_t root;
};

#define TABLE_PIECE_LOG2 12

static void table_top(void *context, size_t index, unsigned slot)
{
    const struct table_run *r = (const struct table_run *)context;
    const uint64_t half = (uint64_t)1 << (r->log2 - 1), first = (uint64_t)index << TABLE_PIECE_LOG2;
    const uint64_t last = half - first < (1u << TABLE_PIECE_LOG2) ? half : first + (1u << TABLE_PIECE_LOG2);
    fe_t w;
    (void)slot;
    fe_pow_u64(&w, &r->root, first);
    for (uint64_t j = first; j < last; j++) {
        r->table[half + j] = w;
        fe_mul(&w, &w, &r->root);
    }
}

static cuzk_status ntt_table(const struct cpu_team *team, struct fr *table, unsigned log2,
                             const struct fr *root)
{
    struct table_run r;
    r.table = (fe_t *)(void *)table;
    r.log2 = log2;
    fe_of_fr(&r.root, root);
    fe_set_one(&r.table[0]); /* entry 0 belongs to no level */
    if (log2 == 0) return CUZK_OK;
    const uint64_t half = (uint64_t)1 << (log2 - 1);
    TRY(cpu_run(team, (size_t)((half + (1u << TABLE_PIECE_LOG2) - 1) >> TABLE_PIECE_LOG2), table_top, &r));
    for (uint64_t h = half / 2; h > 0; h /= 2) /* the powers of a square are every other power */
        for (uint64_t j = 0; j < h; j++) r.table[h + j] = r.table[2 * h + 2 * j];
    return CUZK_OK;
}

/* -- natural order to natural order -- */

struct order_run {
    const struct ntt_run *n;
    fe_t scale, step; /* multiplied in: scale * step^i */
};

#define ORDER_PIECE_LOG2 10

static void swap_reversed(void *context, size_t index, unsigned slot)
{
    const struct ntt_run *n = (const struct ntt_run *)context;
    const uint64_t size = (uint64_t)1 << n->log2, first = (uint64_t)index << ORDER_PIECE_LOG2;
    const uint64_t last = size - first < (1u << ORDER_PIECE_LOG2) ? size : first + (1u << ORDER_PIECE_LOG2);
    (void)slot;
    for (uint64_t i = first; i < last; i++) {
        const uint64_t j = bit_reverse(i, n->log2);
        if (i < j) {
            const fe_t t = n->x[i];
            n->x[i] = n->x[j];
            n->x[j] = t;
        }
    }
}

/* x[i] *= scale * step^i */
static void scale_natural(void *context, size_t index, unsigned slot)
{
    const struct order_run *o = (const struct order_run *)context;
    const uint64_t size = (uint64_t)1 << o->n->log2, first = (uint64_t)index << ORDER_PIECE_LOG2;
    const uint64_t last = size - first < (1u << ORDER_PIECE_LOG2) ? size : first + (1u << ORDER_PIECE_LOG2);
    fe_t w;
    (void)slot;
    fe_pow_u64(&w, &o->step, first);
    fe_mul(&w, &w, &o->scale);
    for (uint64_t i = first; i < last; i++) {
        fe_mul(&o->n->x[i], &o->n->x[i], &w);
        fe_mul(&w, &w, &o->step);
    }
}

static size_t order_tasks(unsigned log2)
{
    return log2 < ORDER_PIECE_LOG2 ? 1 : (size_t)1 << (log2 - ORDER_PIECE_LOG2);
}

static cuzk_status ntt_natural(const struct cpu_team *team, const struct domain *d, const struct fr *table,
                               unsigned table_log2, struct fr *data, bool inverse, bool coset)
{
    struct ntt_run n;
    struct order_run o;
    ntt_run_init(&n, d, table, table_log2, data, inverse ? NTT_INVERSE : NTT_FORWARD);
    o.n = &n;
    if (coset && !inverse) {
        fe_set_one(&o.scale);
        fe_of_fr(&o.step, &d->shift);
        TRY(cpu_run(team, order_tasks(n.log2), scale_natural, &o));
    }
    TRY(dif_all(team, &n, dif_blocks));
    TRY(cpu_run(team, order_tasks(n.log2), swap_reversed, &n));
    if (inverse) {
        fe_of_fr(&o.scale, &d->size_inv);
        if (coset)
            fe_of_fr(&o.step, &d->shift_inv);
        else
            fe_set_one(&o.step);
        TRY(cpu_run(team, order_tasks(n.log2), scale_natural, &o));
    }
    return CUZK_OK;
}

/* -- quotient -- */

struct quotient_run {
    fe_t *a, *b, *c;
    uint8_t *scalars;
    uint64_t size;
    unsigned log2;
    fe_t z_inv;
};

#define QUOTIENT_PIECE 1024

static void quotient_product(void *context, size_t index, unsigned slot)
{
    const struct quotient_run *q = (const struct quotient_run *)context;
    const uint64_t first = (uint64_t)index * QUOTIENT_PIECE,
                   last = q->size - first < QUOTIENT_PIECE ? q->size : first + QUOTIENT_PIECE;
    (void)slot;
    for (uint64_t i = first; i < last; i++) fe_mul(&q->c[i], &q->a[i], &q->b[i]);
}

static void quotient_lagrange(void *context, size_t index, unsigned slot)
{
    const struct quotient_run *q = (const struct quotient_run *)context;
    const uint64_t first = (uint64_t)index * QUOTIENT_PIECE,
                   last = q->size - first < QUOTIENT_PIECE ? q->size : first + QUOTIENT_PIECE;
    (void)slot;
    for (uint64_t i = first; i < last; i++) {
        fe_t e;
        fe_int plain;
        fe_mul(&e, &q->a[i], &q->b[i]);
        fe_sub(&e, &e, &q->c[i]);
        fe_to_int(&plain, &e);
        fe_store_int(q->scalars + 32 * i, &plain);
    }
}

static void quotient_coset(void *context, size_t index, unsigned slot)
{
    const struct quotient_run *q = (const struct quotient_run *)context;
    const uint64_t first = (uint64_t)index * QUOTIENT_PIECE,
                   last = q->size - first < QUOTIENT_PIECE ? q->size : first + QUOTIENT_PIECE;
    (void)slot;
    for (uint64_t i = first; i < last; i++) {
        fe_t e;
        fe_int plain;
        fe_mul(&e, &q->a[i], &q->b[i]);
        fe_to_int(&plain, &e);
        fe_store_int(q->scalars + 32 * i, &plain);
    }
}

static void quotient_multiply(void *context, size_t index, unsigned slot)
{
    const struct quotient_run *q = (const struct quotient_run *)context;
    const uint64_t first = (uint64_t)index * QUOTIENT_PIECE,
                   last = q->size - first < QUOTIENT_PIECE ? q->size : first + QUOTIENT_PIECE;
    (void)slot;
    for (uint64_t i = first; i < last; i++) fe_mul(&q->a[i], &q->a[i], &q->b[i]);
}

static void quotient_divide(void *context, size_t index, unsigned slot)
{
    const struct quotient_run *q = (const struct quotient_run *)context;
    const uint64_t first = (uint64_t)index * QUOTIENT_PIECE,
                   last = q->size - first < QUOTIENT_PIECE ? q->size : first + QUOTIENT_PIECE;
    (void)slot;
    for (uint64_t i = first; i < last; i++) {
        fe_sub(&q->c[i], &q->a[i], &q->c[i]);
        fe_mul(&q->c[i], &q->c[i], &q->z_inv);
    }
}

/* c in bit-reversed order to scalars in natural order */
static void quotient_reorder(void *context, size_t index, unsigned slot)
{
    const struct quotient_run *q = (const struct quotient_run *)context;
    const uint64_t first = (uint64_t)index * QUOTIENT_PIECE,
                   last = q->size - first < QUOTIENT_PIECE ? q->size : first + QUOTIENT_PIECE;
    (void)slot;
    for (uint64_t i = first; i < last; i++) {
        fe_int plain;
        fe_to_int(&plain, &q->c[bit_reverse(i, q->log2)]);
        fe_store_int(q->scalars + 32 * i, &plain);
    }
}

static cuzk_status quotient_run(const struct cpu_team *team, const struct quotient_plan *p,
                                const struct fr *table, unsigned table_log2, uint8_t *scalars, struct fr *a,
                                struct fr *b, struct fr *c)
{
    const struct domain *d = &p->domain;
    struct quotient_run q;
    struct ntt_run n;
    q.a = (fe_t *)(void *)a;
    q.b = (fe_t *)(void *)b;
    q.c = (fe_t *)(void *)c;
    q.scalars = scalars;
    q.size = d->size;
    q.log2 = d->log2;
    fe_of_fr(&q.z_inv, &d->z_coset_inv);
    const size_t tasks = (size_t)((d->size + QUOTIENT_PIECE - 1) / QUOTIENT_PIECE);
    /* A and B go to the coset; C, which has their product's values on the domain, only where it is subtracted there. */
    const int transformed = p->mode == QUOTIENT_ODD_COSET_LAGRANGE ? 3 : 2;
    if (p->mode != QUOTIENT_COSET_PRODUCT) TRY(cpu_run(team, tasks, quotient_product, &q));

    struct fr *const vectors[3] = { a, b, c };
    fe_t shift, size_inv;
    fe_of_fr(&shift, &d->shift);
    fe_of_fr(&size_inv, &d->size_inv);
    for (int i = 0; i < transformed; i++) { /* values on the domain -> values on its coset */
        ntt_run_init(&n, d, table, table_log2, vectors[i], NTT_INVERSE);
        scale_prepare(&n, &shift, &size_inv);
        TRY(dif_all(team, &n, turn_blocks));
        fe_of_fr(&n.root, &d->omega);
        TRY(dit_top(team, &n));
        task_progress(team->task, "quotient", (uint64_t)i + 1, (uint64_t)transformed);
    }
    if (p->mode == QUOTIENT_COSET_PRODUCT) return cpu_run(team, tasks, quotient_coset, &q);
    if (p->mode == QUOTIENT_ODD_COSET_LAGRANGE) return cpu_run(team, tasks, quotient_lagrange, &q);

    /* On the coset A B is C + (shift^n - 1) H, of degree below n: its coefficients, less those of C. */
    TRY(cpu_run(team, tasks, quotient_multiply, &q));
    fe_of_fr(&shift, &d->shift_inv);
    ntt_run_init(&n, d, table, table_log2, a, NTT_INVERSE);
    scale_prepare(&n, &shift, &size_inv);
    TRY(dif_all(team, &n, dif_blocks));
    fe_set_one(&shift);
    ntt_run_init(&n, d, table, table_log2, c, NTT_INVERSE);
    scale_prepare(&n, &shift, &size_inv);
    TRY(dif_all(team, &n, dif_blocks));
    TRY(cpu_run(team, tasks, quotient_divide, &q));
    return cpu_run(team, tasks, quotient_reorder, &q);
}

#include "field/fe_unnames.h"
#undef SCALE_LOG2
#undef TABLE_PIECE_LOG2
#undef ORDER_PIECE_LOG2
#undef QUOTIENT_PIECE
