/* Words on the device: their operations, the bits that these emit, and word functions.  Included by image_assign.cu alone. */

DEVICE uint32_t turned(uint32_t x, uint32_t r)
{
    if (r >= 32) return x >> (r - 32);
    return r == 0 ? x : x >> r | x << (32 - r);
}

/* Bits of v under mask, moved together.  The mask is the same for a warp. */
DEVICE uint64_t compact(uint64_t v, uint64_t mask)
{
    if ((mask & (mask + 1)) == 0) return v & mask;
    uint64_t out = 0;
    for (uint32_t at = 0; mask != 0;) {
        const uint32_t gap = (uint32_t)__ffsll((long long)mask) - 1;
        mask >>= gap;
        v >>= gap;
        const uint32_t run = (uint32_t)__ffsll((long long)~mask) - 1; /* below 64: a mask of ones has returned, or lost a gap */
        out |= (v & (((uint64_t)1 << run) - 1)) << at;
        at += run;
        mask >>= run;
        v >>= run;
    }
    return out;
}

/* abc.. -> a0b0c0.. */
DEVICE uint64_t spread(uint32_t x)
{
    uint64_t v = x;
    v = (v | v << 16) & 0x0000ffff0000ffffu;
    v = (v | v << 8) & 0x00ff00ff00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v << 2) & 0x3333333333333333u;
    return (v | v << 1) & 0x5555555555555555u;
}

/* The result of XOR, AND, CH or MAJ, and the bits that it emits. */
DEVICE uint32_t word_result(uint32_t code, uint32_t rotate_a, uint32_t rotate_b, bool nor, uint32_t a, uint32_t b, uint32_t c,
                            uint32_t negate, uint64_t mask, uint64_t *bits)
{
    const uint32_t x = turned(a, rotate_a), y = turned(b, rotate_b);
    uint32_t v;
    switch (code) {
    case STEP_XOR: v = x ^ y; break;
    case STEP_AND: v = (nor ? ~x & ~y : x & y) & 1; break;
    case STEP_CH: v = (x & y) | (~x & c); break;
    default: {
        const uint32_t both = b & c;
        v = both | (a & (b | c));
        *bits = compact(spread(v ^ negate) | spread(both) << 1, mask);
        return v;
    }
    }
    *bits = compact(v ^ negate, mask);
    return v;
}

/* Sets up to 64 bits at an aux, beside others that set theirs. */
DEVICE void emit(uint32_t *bits, uint32_t aux, uint64_t v)
{
    uint32_t *to = bits + (aux >> 5);
    const uint32_t shift = aux & 31;
    const uint64_t low = v << shift;
    const uint32_t high = shift ? (uint32_t)(v >> (64 - shift)) : 0;
    if ((uint32_t)low) atomicOr(to, (uint32_t)low);
    if (low >> 32) atomicOr(to + 1, (uint32_t)(low >> 32));
    if (high) atomicOr(to + 2, high);
}

/* Appends bits at the running aux.  Its first and last word may be others' too. */
struct bit_writer {
    uint32_t *next;
    uint64_t pending;
    uint32_t fill; /* bits of pending, below 32 */
    bool shared;   /* *next is not its own */
};

DEVICE void writer_start(struct bit_writer *w, uint32_t *bits, uint32_t aux)
{
    w->next = bits + (aux >> 5);
    w->pending = 0;
    w->fill = aux & 31;
    w->shared = true;
}

/* count 0..32; v has no bits above. */
DEVICE void push32(struct bit_writer *w, uint32_t v, uint32_t count)
{
    w->pending |= (uint64_t)v << w->fill;
    w->fill += count;
    if (w->fill < 32) return;
    if (w->shared) atomicOr(w->next, (uint32_t)w->pending);
    else *w->next = (uint32_t)w->pending;
    w->shared = false;
    w->next++;
    w->pending >>= 32;
    w->fill -= 32;
}

DEVICE void push(struct bit_writer *w, uint64_t v, uint32_t count)
{
    push32(w, (uint32_t)v, count < 32 ? count : 32);
    if (count > 32) push32(w, (uint32_t)(v >> 32), count - 32);
}

DEVICE void writer_end(struct bit_writer *w)
{
    if (w->fill) atomicOr(w->next, (uint32_t)w->pending);
}

/* -- functions -- */

/* A word_op as 8-byte words, which all lanes of a warp load at once. */
struct packed_op {
    uint2 in01, in23, head, constant, mask;
};
DEVICE struct packed_op load_op(const struct word_op *from)
{
    const uint2 *p = (const uint2 *)from;
    struct packed_op o;
    o.in01 = __ldg(p);
    o.in23 = __ldg(p + 1);
    o.head = __ldg(p + 2);
    o.constant = __ldg(p + 3);
    o.mask = __ldg(p + 4);
    return o;
}

/* Runs a function on registers that stand `stride` apart and hold its arguments, and emits its bits.  The program is the same for
 * the lanes of a warp, so that its branches do not part them; each operation is loaded while the one before runs. */
DEVICE void run_function(const struct assign_tables *m, const struct word_function *f, uint32_t *registers, uint32_t stride,
                         struct bit_writer *w)
{
    const struct word_op *op = m->word_ops + f->first_op, *end = op + f->op_count;
    if (op == end) return;
    struct packed_op o = load_op(op);
    while (op < end) {
        const struct packed_op now = o;
        if (++op < end) o = load_op(op);
        const uint32_t dst = now.head.x & 0xffff, code = now.head.x >> 16 & 0xff, count = now.head.x >> 24;
        const uint32_t in[8] = { now.in01.x & 0xffff, now.in01.x >> 16, now.in01.y & 0xffff, now.in01.y >> 16,
                                 now.in23.x & 0xffff, now.in23.x >> 16, now.in23.y & 0xffff, now.in23.y >> 16 };
        uint32_t v;
        uint64_t bits = 0;
        if (code == STEP_ADD) {
            const uint32_t summands = now.head.y >> 16 & 0xff;
            bits = (uint64_t)now.constant.y << 32 | now.constant.x;
            UNROLL for (uint32_t i = 0; i < 8; i++)
                if (i < summands) bits += registers[in[i] * stride];
            v = (uint32_t)bits;
        } else if (code == STEP_CONST) {
            v = now.constant.x;
        } else if (code == STEP_BSWAP) {
            v = __byte_perm(registers[in[0] * stride], 0, 0x0123);
        } else {
            const uint64_t mask = (uint64_t)now.mask.y << 32 | now.mask.x;
            v = word_result(code, now.head.y & 0xff, now.head.y >> 8 & 0xff, now.head.y >> 24 != 0, registers[in[0] * stride],
                            registers[in[1] * stride], registers[in[2] * stride], now.constant.x, mask, &bits);
        }
        registers[dst * stride] = v;
        push(w, bits, count);
    }
}
