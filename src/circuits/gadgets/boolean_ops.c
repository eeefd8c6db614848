/* Booleans and 32-bit words: folding of constants, rows, and the step that computes a word's new variables. */
#include "circuits/gadgets/builder_inside.h"

#define FE bls12_381_fr
#include "field/fe_names.h"

static bool is_constant(uint32_t ref) { return (ref & REF_KIND) == REF_ONE; }

static uint32_t allocate(struct builder *b) { return REF_LOCAL | builder_frame(b)->aux_count++; }

static void row(struct builder *b, enum row_class class, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3)
{
    const uint32_t refs[4] = { r0, r1, r2, r3 };
    builder_row_run(b, class, refs, class == ROW_XOR || class == ROW_AND ? 3 : 4, class == ROW_MAJ ? 2 : 1);
}

/* The variable of an operation on one lane, if it took one. */
struct lane_result {
    uint32_t ref;
    bool fresh;
};

static struct lane_result folded(uint32_t ref)
{
    struct lane_result r = { ref, false };
    return r;
}

static struct lane_result bit_xor(struct builder *b, uint32_t x, uint32_t y)
{
    if (x == REF_FALSE) return folded(y);
    if (y == REF_FALSE) return folded(x);
    if (x == REF_TRUE) return folded(y ^ REF_NOT);
    if (y == REF_TRUE) return folded(x ^ REF_NOT);
    const uint32_t negated = (x ^ y) & REF_NOT;
    const bool swap = negated && (x & REF_NOT); /* mixed: the positive operand comes first */
    const uint32_t p = (swap ? y : x) & ~REF_NOT, q = (swap ? x : y) & ~REF_NOT;
    struct lane_result r = { allocate(b), true };
    row(b, ROW_XOR, p, q, r.ref, 0);
    r.ref |= negated;
    return r;
}

static struct lane_result bit_and(struct builder *b, uint32_t x, uint32_t y)
{
    if (x == REF_FALSE || y == REF_FALSE) return folded(REF_FALSE);
    if (x == REF_TRUE) return folded(y);
    if (y == REF_TRUE) return folded(x);
    const bool swap = (x & REF_NOT) && !(y & REF_NOT);
    struct lane_result r = { allocate(b), true };
    row(b, ROW_AND, swap ? y : x, swap ? x : y, r.ref, 0);
    return r;
}

static struct lane_result negate(struct lane_result r)
{
    r.ref ^= REF_NOT;
    return r;
}

static struct lane_result bit_ch(struct builder *b, uint32_t x, uint32_t y, uint32_t z)
{
    if (is_constant(x) && is_constant(y) && is_constant(z)) return folded(x == REF_TRUE ? y : z);
    if (x == REF_FALSE) return folded(z);
    if (y == REF_FALSE) return bit_and(b, x ^ REF_NOT, z);
    if (z == REF_FALSE) return bit_and(b, x, y);
    if (z == REF_TRUE) return negate(bit_and(b, x, y ^ REF_NOT));
    if (y == REF_TRUE) return negate(bit_and(b, x ^ REF_NOT, z ^ REF_NOT));
    struct lane_result r = { allocate(b), true };
    row(b, ROW_CH, x, y, z, r.ref);
    return r;
}

/* both: the second variable, y and z, which the general case allocates after the result. */
static struct lane_result bit_maj(struct builder *b, uint32_t x, uint32_t y, uint32_t z, bool *both)
{
    *both = false;
    if (is_constant(x) && is_constant(y) && is_constant(z)) {
        const int ones = (x == REF_TRUE) + (y == REF_TRUE) + (z == REF_TRUE);
        return folded(ones >= 2 ? REF_TRUE : REF_FALSE);
    }
    if (x == REF_FALSE) return bit_and(b, y, z);
    if (y == REF_FALSE) return bit_and(b, x, z);
    if (z == REF_FALSE) return bit_and(b, x, y);
    if (z == REF_TRUE) return negate(bit_and(b, x ^ REF_NOT, y ^ REF_NOT));
    if (y == REF_TRUE) return negate(bit_and(b, x ^ REF_NOT, z ^ REF_NOT));
    if (x == REF_TRUE) return negate(bit_and(b, y ^ REF_NOT, z ^ REF_NOT));
    struct lane_result r = { allocate(b), true };
    (void)allocate(b);
    row(b, ROW_MAJ, x, y, z, r.ref);
    *both = true;
    return r;
}

/* -- words -- */

void word_constant(struct word *out, uint32_t value)
{
    for (unsigned i = 0; i < 32; i++) out->lane[i] = value >> i & 1 ? REF_TRUE : REF_FALSE;
    out->reg = WORD_CONSTANT;
}

static bool word_is_constant(const struct word *w)
{
    bool constant = true;
    for (unsigned i = 0; i < 32; i++) constant = constant && is_constant(w->lane[i]);
    return constant;
}

static uint32_t constant_value(const struct word *w)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < 32; i++) v |= (uint32_t)(w->lane[i] == REF_TRUE) << i;
    return v;
}

uint32_t word_register(struct builder *b, struct word *w)
{
    if (w->reg != WORD_CONSTANT) return w->reg;
    if (!word_is_constant(w)) builder_fail(b, "a word has no register");
    const struct step s = { .code = STEP_CONST,
                            .dst = builder_frame(b)->word_count++,
                            .a = constant_value(w) };
    builder_step(b, &s, NULL, 0);
    w->reg = s.dst;
    return s.dst;
}

static uint32_t register_of(struct builder *b, const struct word *w)
{
    struct word copy = *w;
    return word_register(b, &copy);
}

static uint32_t lane(const struct word *w, unsigned i, unsigned rotate)
{
    if (rotate < WORD_SHIFT) return w->lane[(i + rotate) % 32];
    return i + rotate - WORD_SHIFT < 32 ? w->lane[i + rotate - WORD_SHIFT] : REF_FALSE;
}

/* Gives the word a register and records the step that fills it, unless every lane is a constant. */
static void finish(struct builder *b, struct word *out, struct step *s)
{
    struct frame *f = builder_frame(b);
    if (word_is_constant(out)) {
        out->reg = WORD_CONSTANT;
        return;
    }
    out->reg = s->dst = f->word_count++;
    s->count = (uint32_t)__builtin_popcountll(s->mask);
    f->emitted += s->count;
    builder_step(b, s, NULL, 0);
}

static void note(struct step *s, struct lane_result r, unsigned mask_bit, unsigned i)
{
    if (!r.fresh) return;
    s->mask |= (uint64_t)1 << mask_bit;
    if (r.ref & REF_NOT) s->negate |= 1u << i;
}

void word_xor(struct builder *b, struct word *out, const struct word *x, unsigned rotate_x,
              const struct word *y, unsigned rotate_y)
{
    struct step s = { .code = STEP_XOR, .rotate = rotate_x | rotate_y << 8 };
    struct word r;
    for (unsigned i = 0; i < 32; i++) {
        const struct lane_result l = bit_xor(b, lane(x, i, rotate_x), lane(y, i, rotate_y));
        r.lane[i] = l.ref;
        note(&s, l, i, i);
    }
    if (!word_is_constant(&r)) {
        s.a = register_of(b, x);
        s.b = register_of(b, y);
    }
    finish(b, &r, &s);
    *out = r;
}

void word_ch(struct builder *b, struct word *out, const struct word *x, const struct word *y,
             const struct word *z)
{
    struct step s = { .code = STEP_CH };
    struct word r;
    for (unsigned i = 0; i < 32; i++) {
        const struct lane_result l = bit_ch(b, x->lane[i], y->lane[i], z->lane[i]);
        r.lane[i] = l.ref;
        note(&s, l, i, i);
    }
    if (!word_is_constant(&r)) {
        s.a = register_of(b, x);
        s.b = register_of(b, y);
        s.c = register_of(b, z);
    }
    finish(b, &r, &s);
    *out = r;
}

void word_maj(struct builder *b, struct word *out, const struct word *x, const struct word *y,
              const struct word *z)
{
    struct step s = { .code = STEP_MAJ };
    struct word r;
    for (unsigned i = 0; i < 32; i++) {
        bool both;
        const struct lane_result l = bit_maj(b, x->lane[i], y->lane[i], z->lane[i], &both);
        r.lane[i] = l.ref;
        note(&s, l, 2 * i, i);
        if (both) s.mask |= (uint64_t)2 << 2 * i;
    }
    if (!word_is_constant(&r)) {
        s.a = register_of(b, x);
        s.b = register_of(b, y);
        s.c = register_of(b, z);
    }
    finish(b, &r, &s);
    *out = r;
}

void word_and_lanes(struct builder *b, struct word *out, const struct word *x, unsigned i, unsigned j,
                    bool negated)
{
    const uint32_t flip = negated ? REF_NOT : 0;
    struct step s = { .code = STEP_AND, .rotate = i | j << 8, .c = negated };
    struct word r;
    word_constant(&r, 0);
    const struct lane_result l = bit_and(b, x->lane[i] ^ flip, x->lane[j] ^ flip);
    r.lane[0] = l.ref;
    if (!l.fresh) builder_fail(b, "constant index bits");
    note(&s, l, 0, 0);
    s.a = s.b = register_of(b, x);
    finish(b, &r, &s);
    *out = r;
}

void word_bswap(struct builder *b, struct word *out, const struct word *x)
{
    struct word r;
    for (unsigned i = 0; i < 32; i++) r.lane[i] = x->lane[i ^ 24];
    r.reg = WORD_CONSTANT;
    if (!word_is_constant(x)) {
        struct step s = { .code = STEP_BSWAP, .a = register_of(b, x) };
        finish(b, &r, &s);
    }
    *out = r;
}

/* -- bits of their own -- */

void builder_new_bits(struct builder *b, uint32_t *refs, unsigned count)
{
    struct frame *f = builder_frame(b);
    const uint32_t words[2] = { ROW_BITS | count << 8, REF_LOCAL | f->aux_count };
    builder_row_words(b, words, 2, count);
    for (unsigned i = 0; i < count; i++) refs[i] = allocate(b);
    f->emitted += count;
}

void word_index(struct builder *b, struct word *out, unsigned bits)
{
    struct frame *f = builder_frame(b);
    const struct step s = { .code = STEP_INDEX, .dst = f->word_count++, .count = bits };
    word_constant(out, 0);
    builder_new_bits(b, out->lane, bits);
    out->reg = s.dst;
    builder_step(b, &s, NULL, 0);
    f->source_words++;
}

/* -- sums -- */

#define CAPACITY_BITS 254

void multi_eq_close(struct builder *b, struct multi_eq *m)
{
    if (m->used != 0) {
        if (!fe_is_zero(&m->constant)) lc_add(b, &m->pairs, REF_ONE, &m->constant);
        lc_merge(&m->pairs);
        const uint32_t head[4] = { ROW_SUMS | 1u << 8, (uint32_t)m->left.count / 2, (uint32_t)m->pairs.count,
                                   (uint32_t)m->right.count / 2 };
        builder_row_words(b, head, 4, 1);
        builder_row_words(b, m->left.data, m->left.count, 0);
        for (size_t i = 0; i < m->pairs.count; i++) {
            const uint32_t pair[2] = { m->pairs.terms[i].ref, builder_coefficient(b, &m->pairs.terms[i].k) };
            builder_row_words(b, pair, 2, 0);
        }
        builder_row_words(b, m->right.data, m->right.count, 0);
    }
    m->left.count = m->right.count = m->pairs.count = 0;
    m->used = 0;
    fe_set_zero(&m->constant);
}

void multi_eq_fini(struct multi_eq *m)
{
    free(m->left.data);
    free(m->right.data);
    lc_fini(&m->pairs);
}

static void add_run(struct builder *b, struct words32 *runs, uint32_t ref, unsigned count, unsigned stride,
                    unsigned shift)
{
    if (!builder_room(b, &runs->data, &runs->capacity, runs->count + 2, sizeof *runs->data)) return;
    runs->data[runs->count++] = ref;
    runs->data[runs->count++] = count | stride << 8 | shift << 16;
}

static bool is_plain(uint32_t ref) { return !is_constant(ref) && !(ref & REF_NOT); }

/* A word times 2^shift: constants together, negated lanes one by one, the others in runs of growing references. */
static void add_lanes(struct builder *b, struct multi_eq *m, const uint32_t *lanes, unsigned count,
                      unsigned shift)
{
    for (unsigned i = 0; i < count;) {
        fe_t minus;
        if (!is_plain(lanes[i])) {
            if (lanes[i] != REF_FALSE) fe_add(&m->constant, &m->constant, &b->power[shift + i]);
            fe_neg(&minus, &b->power[shift + i]);
            if (!is_constant(lanes[i])) lc_add(b, &m->pairs, lanes[i] & ~REF_NOT, &minus);
            i++;
            continue;
        }
        unsigned n = 1;
        uint32_t stride = i + 1 < count && is_plain(lanes[i + 1]) ? lanes[i + 1] - lanes[i] : 1;
        if (stride != 2) stride = 1;
        while (i + n < count && lanes[i + n] == lanes[i] + n * stride) n++;
        add_run(b, &m->left, lanes[i], n, stride, shift + i);
        i += n;
    }
}

void word_add(struct builder *b, struct multi_eq *m, struct word *out, const struct word *const *operands,
              size_t count)
{
    struct frame *f = builder_frame(b);
    uint32_t registers[8], bits[36], variable = 0;
    uint64_t constant = 0;
    if (count > 8) {
        builder_fail(b, "a sum of more than 8 words");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (word_is_constant(operands[i]))
            constant += constant_value(operands[i]);
        else
            registers[variable++] = register_of(b, operands[i]);
    }
    if (variable == 0) {
        word_constant(out, (uint32_t)constant);
        return;
    }
    const unsigned n = 64 - (unsigned)__builtin_clzll(count * 0xffffffffull);
    struct step s = { .code = STEP_ADD, .count = variable, .b = n };
    /* A sum of constants may exceed 32 bits; two operands hold it in 33, so it travels as one more pair of words. */
    s.c = (uint32_t)constant;
    s.negate = (uint32_t)(constant >> 32);
    builder_new_bits(b, bits, n);
    if (m->used + n >= CAPACITY_BITS) multi_eq_close(b, m);
    for (size_t i = 0; i < count; i++) add_lanes(b, m, operands[i]->lane, 32, m->used);
    add_run(b, &m->right, bits[0], n, 1, m->used);
    m->used += n;
    struct word r;
    memcpy(r.lane, bits, sizeof r.lane);
    r.reg = s.dst = f->word_count++;
    builder_step(b, &s, registers, variable);
    *out = r;
}
