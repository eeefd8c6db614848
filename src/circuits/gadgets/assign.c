/* The interpreter of witness programs. */
#include "circuits/gadgets/assign.h"
#include "hash/poseidon.h"

#include "base/pool.h"

#include <stdatomic.h>
#include <stdlib.h>

#define FE bls12_381_fr
#include "field/fe_names.h"

/* Appends bits at the running aux; parts share the word at their border, so the first and last of a writer are combined. */
struct bit_writer {
    _Atomic uint64_t *next;
    uint64_t pending;
    unsigned fill; /* bits of pending, those before the start included */
    bool inside;   /* *next belongs to this writer alone */
};

struct run {
    const struct circuit_image *image;
    struct bit_writer out;
    uint64_t *bits;  /* of the circuit */
    fe_int *numbers; /* where the next one goes */
    const fe_int *source_numbers;
    const uint32_t *source_words;
    fe_int *inputs; /* of the circuit */
    bool bad_number, bad_index;
};

struct scope {
    uint32_t *words;
    fe_int *numbers; /* its own */
    const fe_int *imports[MAX_NUMBER_IMPORTS];
    uint32_t first_input;
};

static void writer_start(struct bit_writer *w, uint64_t *bits, uint64_t aux)
{
    w->next = (_Atomic uint64_t *)bits + aux / 64;
    w->pending = 0;
    w->fill = (unsigned)(aux % 64);
    w->inside = w->fill == 0;
}

static inline void writer_flush(struct bit_writer *w)
{
    if (w->inside)
        atomic_store_explicit(w->next, w->pending, memory_order_relaxed);
    else
        atomic_fetch_or_explicit(w->next, w->pending, memory_order_relaxed);
    w->next++;
    w->inside = true;
}

/* count 0..64; v has no bits above. */
static inline void push(struct bit_writer *w, uint64_t v, unsigned count)
{
    w->pending |= v << w->fill;
    if (w->fill + count < 64) {
        w->fill += count;
        return;
    }
    writer_flush(w);
    const unsigned written = 64 - w->fill;
    w->pending = written < 64 ? v >> written : 0;
    w->fill = count - written;
}

static void writer_end(struct bit_writer *w)
{
    w->inside = false;
    if (w->fill != 0) writer_flush(w);
}

static inline uint32_t rotate(uint32_t x, uint32_t r)
{
    if (r >= 32) return x >> (r - 32);
    return r == 0 ? x : x >> r | x << (32 - r);
}

/* Bits of v under mask, moved together. */
static inline uint64_t compact(uint64_t v, uint64_t mask)
{
    uint64_t out = 0;
    unsigned at = 0;
    if ((mask & (mask + 1)) == 0) return v & mask;
    while (mask != 0) {
        const unsigned gap = (unsigned)__builtin_ctzll(mask);
        mask >>= gap;
        v >>= gap;
        const unsigned run = mask == UINT64_MAX ? 64 : (unsigned)__builtin_ctzll(~mask);
        const uint64_t ones = run == 64 ? UINT64_MAX : ((uint64_t)1 << run) - 1;
        out |= (v & ones) << at;
        at += run;
        if (run == 64) break;
        mask >>= run;
        v >>= run;
    }
    return out;
}

/* abc.. -> a0b0c0.. */
static inline uint64_t spread(uint32_t x)
{
    uint64_t v = x;
    v = (v | v << 16) & 0x0000ffff0000ffffu;
    v = (v | v << 8) & 0x00ff00ff00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v << 2) & 0x3333333333333333u;
    return (v | v << 1) & 0x5555555555555555u;
}

static inline const fe_int *number(const struct scope *at, uint32_t slot)
{
    return slot & NUMBER_IMPORT ? at->imports[slot & ~NUMBER_IMPORT] : &at->numbers[slot];
}

static inline fe_int *new_number(struct run *r)
{
    push(&r->out, 0, 1);
    return r->numbers++;
}

static void step_to_bits(struct run *r, const struct scope *at, const struct step *s)
{
    const fe_int *v = number(at, s->a);
    for (int i = 0; i < 4; i++) {
        at->words[s->dst + 2 * i] = (uint32_t)v->l[i];
        at->words[s->dst + 2 * i + 1] = (uint32_t)(v->l[i] >> 32);
        push(&r->out, v->l[i], i < 3 ? 64 : 63);
    }
}

static void step_pack(struct run *r, const struct scope *at, const struct step *s)
{
    const uint32_t *registers = r->image->arguments + s->a;
    fe_int v;
    memset(&v, 0, sizeof v);
    for (uint32_t i = 0; i < s->count && i < 8; i++)
        v.l[i / 2] |= (uint64_t)at->words[registers[i]] << 32 * (i % 2);
    for (unsigned i = 0; i < 4; i++)
        if (s->c < 64 * (i + 1)) v.l[i] &= s->c > 64 * i ? ((uint64_t)1 << (s->c - 64 * i)) - 1 : 0;
    *new_number(r) = v;
}

static void step_pack_input(struct run *r, const struct scope *at, const struct step *s)
{
    const uint32_t *arguments = r->image->arguments + s->a;
    fe_int v;
    unsigned fill = 0;
    memset(&v, 0, sizeof v);
    for (uint32_t i = 0; i < s->count; i++) {
        const unsigned width = arguments[i] >> 24;
        const uint64_t bits = at->words[arguments[i] & 0xffffff] & (((uint64_t)1 << width) - 1);
        v.l[fill / 64 & 3] |= bits << fill % 64;
        if (fill % 64 + width > 64) v.l[(fill / 64 + 1) & 3] |= bits >> (64 - fill % 64);
        fill += width;
    }
    r->inputs[at->first_input + s->dst] = v;
}

static void step_sum(struct run *r, const struct scope *at, const struct step *s)
{
    fe_t x, y; /* addition modulo r is the same on plain integers */
    memcpy(&x, number(at, s->a), sizeof x);
    memcpy(&y, number(at, s->b), sizeof y);
    fe_add(&x, &x, &y);
    memcpy(new_number(r), &x, sizeof x);
}

static void step_poseidon(struct run *r, const struct scope *at, const struct step *s)
{
    const uint32_t *slots = r->image->arguments + s->a;
    const struct poseidon_constants *p = poseidon_constants(s->count);
    fe_int in[POSEIDON_MAX_WIDTH];
    for (uint32_t i = 0; i < s->count; i++) in[i] = *number(at, slots[i]);
    poseidon_trace(p, r->numbers, in, poseidon_tag(s->count));
    r->numbers += p->trace_count;
    for (unsigned left = p->trace_count; left > 0;) {
        const unsigned n = left < 64 ? left : 64;
        push(&r->out, 0, n);
        left -= n;
    }
}

static void step_source(struct run *r)
{
    const fe_int v = *r->source_numbers++;
    if (!fe_int_is_canonical(&v)) r->bad_number = true;
    *new_number(r) = v;
}

static void step_index(struct run *r, const struct scope *at, const struct step *s)
{
    const uint32_t v = *r->source_words++;
    if (s->count < 32 && v >> s->count != 0) r->bad_index = true;
    at->words[s->dst] = v;
    push(&r->out, s->count < 32 ? v & ((1u << s->count) - 1) : v, s->count);
}

static void run_template(struct run *r, const struct circuit_template *c, struct scope *at);

/* Fills the callee's registers, numbers and inputs from a call's arguments. */
static void enter(struct scope *inside, const struct scope *at, const struct circuit_image *m,
                  const struct step *s, uint32_t *words)
{
    const struct circuit_template *callee = &m->templates[s->a];
    const uint32_t *arguments = m->arguments + s->b,
                   numbers = callee->import_count - 32 * callee->word_imports;
    inside->words = words;
    inside->first_input = at->first_input + arguments[CALL_INPUT];
    arguments += CALL_WORDS;
    for (uint32_t i = 0; i < callee->word_imports; i++) words[i] = at->words[*arguments++];
    for (uint32_t i = 0; i < numbers; i++) inside->imports[i] = number(at, *arguments++);
}

static void step_call(struct run *r, const struct scope *at, const struct circuit_template *caller,
                      const struct step *s)
{
    const struct circuit_image *m = r->image;
    const struct circuit_template *callee = &m->templates[s->a];
    const uint32_t *arguments = m->arguments + s->b, results = arguments[CALL_RESULTS];
    struct scope inside;
    enter(&inside, at, m, s, at->words + caller->word_count);
    inside.numbers = r->numbers;
    run_template(r, callee, &inside);
    arguments += CALL_WORDS + callee->word_imports + (callee->import_count - 32 * callee->word_imports);
    for (uint32_t i = 0; i < results; i++) at->words[s->dst + i] = inside.words[arguments[i]];
}

/* An independent call of the circuit itself: run_part fills its variables. */
static void skip_part(struct run *r, const struct step *s)
{
    writer_end(&r->out);
    writer_start(&r->out, r->bits,
                 (uint64_t)r->image->arguments[s->b + CALL_AUX] + r->image->templates[s->a].aux_count);
}

static inline void step_word(struct run *r, const struct scope *at, const struct step *s)
{
    uint32_t *w = at->words;
    const uint32_t x = rotate(w[s->a], s->rotate & 0xff), y = rotate(w[s->b], s->rotate >> 8);
    uint32_t v;
    switch (s->code) {
    case STEP_XOR:
        v = x ^ y;
        break;
    case STEP_AND:
        v = (s->c ? ~x & ~y : x & y) & 1;
        break;
    default:
        v = (x & y) | (~x & w[s->c]);
        break; /* STEP_CH */
    }
    w[s->dst] = v;
    push(&r->out, compact(v ^ s->negate, s->mask), s->count);
}

static inline void step_maj(struct run *r, const struct scope *at, const struct step *s)
{
    uint32_t *w = at->words;
    const uint32_t x = w[s->a], y = w[s->b], z = w[s->c], both = y & z, v = both | (x & (y | z));
    w[s->dst] = v;
    push(&r->out, compact(spread(v ^ s->negate) | spread(both) << 1, s->mask), s->count);
}

static inline void step_add(struct run *r, const struct scope *at, const struct step *s)
{
    const uint32_t *registers = r->image->arguments + s->a;
    uint64_t sum = (uint64_t)s->negate << 32 | s->c;
    for (uint32_t i = 0; i < s->count; i++) sum += at->words[registers[i]];
    at->words[s->dst] = (uint32_t)sum;
    push(&r->out, sum, s->b);
}

static void run_template(struct run *r, const struct circuit_template *c, struct scope *at)
{
    const struct step *end = r->image->steps + c->steps_end;
    for (const struct step *s = r->image->steps + c->steps_begin; s < end; s++) {
        switch (s->code) {
        case STEP_CONST:
            at->words[s->dst] = s->a;
            break;
        case STEP_BSWAP:
            at->words[s->dst] = __builtin_bswap32(at->words[s->a]);
            break;
        case STEP_XOR:
        case STEP_AND:
        case STEP_CH:
            step_word(r, at, s);
            break;
        case STEP_MAJ:
            step_maj(r, at, s);
            break;
        case STEP_ADD:
            step_add(r, at, s);
            break;
        case STEP_SOURCE:
            step_source(r);
            break;
        case STEP_INDEX:
            step_index(r, at, s);
            break;
        case STEP_TO_BITS:
            step_to_bits(r, at, s);
            break;
        case STEP_PACK:
            step_pack(r, at, s);
            break;
        case STEP_SUM:
            step_sum(r, at, s);
            break;
        case STEP_PICK: {
            const fe_int *v = number(at, at->words[s->dst] >> s->c & 1 ? s->a : s->b);
            *new_number(r) = *v;
            break;
        }
        case STEP_POSEIDON:
            step_poseidon(r, at, s);
            break;
        case STEP_INPUT:
            r->inputs[at->first_input + s->dst] = *number(at, s->a);
            break;
        case STEP_PACK_INPUT:
            step_pack_input(r, at, s);
            break;
        default:
            if (s->count == 0)
                step_call(r, at, c, s);
            else
                skip_part(r, s);
        }
    }
}

struct parts_run {
    const struct circuit_image *image;
    struct assignment *a;
    const struct statement *statement;
    const struct scope *outer;
    _Atomic bool bad_number, bad_index;
};

static void run_part(void *context, size_t index, unsigned worker)
{
    struct parts_run *all = context;
    const struct circuit_image *m = all->image;
    const struct circuit_part *p = &m->parts[index];
    const struct circuit_template *c = &m->templates[p->template_id];
    struct run r = { .image = m,
                     .numbers = all->a->numbers + p->first_number,
                     .inputs = all->a->inputs,
                     .source_numbers = all->statement->part_numbers +
                                       (p->first_source_number - image_circuit(m)->source_numbers),
                     .source_words = all->statement->part_words +
                                     (p->first_source_word - image_circuit(m)->source_words) };
    struct scope inside;
    enter(&inside, all->outer, m, &m->steps[p->step],
          all->a->registers + (1 + worker) * (size_t)image_circuit(m)->depth_words);
    inside.numbers = r.numbers;
    writer_start(&r.out, all->a->bits, p->first_aux);
    run_template(&r, c, &inside);
    writer_end(&r.out);
    if (r.bad_number) all->bad_number = true;
    if (r.bad_index) all->bad_index = true;
}

cuzk_status image_assign(const struct circuit_image *m, struct task *t, struct assignment *a,
                         const struct statement *s)
{
    struct run r = { .image = m,
                     .bits = a->bits,
                     .numbers = a->numbers,
                     .inputs = a->inputs,
                     .source_numbers = s->own_numbers,
                     .source_words = s->own_words };
    struct scope outer = { .words = a->registers, .numbers = a->numbers, .first_input = 0 };
    if (pool_width(t->pool) > a->width)
        return FAIL(t, CUZK_INTERNAL, "the witness has scratch for %u workers only", a->width);
    TRY(task_poll(t));
    memset(a->bits, 0, a->bits_bytes);
    memset(a->inputs, 0, a->inputs_bytes);
    a->inputs[0].l[0] = 1;
    writer_start(&r.out, a->bits, 0);
    run_template(&r, image_circuit(m), &outer);
    writer_end(&r.out);
    struct parts_run parts = { .image = m, .a = a, .statement = s, .outer = &outer };
    parts.bad_number = r.bad_number;
    parts.bad_index = r.bad_index;
    pool_run(t->pool, m->part_count, run_part, &parts);
    if (parts.bad_number)
        return FAIL(t, CUZK_MALFORMED, "a number of the statement is not below the field's modulus");
    if (parts.bad_index)
        return FAIL(t, CUZK_MALFORMED, "an index of the statement exceeds its level's arity");
    return CUZK_OK;
}

static void size_up(struct assignment *a, const struct circuit_image *m, unsigned width)
{
    const struct circuit_template *c = image_circuit(m);

    a->width = width;
    a->bits_bytes = ((size_t)c->aux_count / 64 + 2) * sizeof *a->bits;
    a->numbers_bytes = (m->number_total + (size_t)1) * sizeof *a->numbers;
    a->inputs_bytes = c->input_count * sizeof *a->inputs;
    a->registers_bytes = (size_t)(1 + a->width) * c->depth_words * sizeof *a->registers;
}

static size_t total(const struct assignment *a)
{
    return a->bits_bytes + a->numbers_bytes + a->inputs_bytes + a->registers_bytes;
}

size_t assignment_bytes(const struct circuit_image *m, unsigned width)
{
    struct assignment a;

    size_up(&a, m, width);
    return total(&a);
}

cuzk_status assignment_create(struct assignment *a, struct task *t, const struct circuit_image *m)
{
    memset(a, 0, sizeof *a);
    size_up(a, m, pool_width(t->pool));
    a->bits = malloc(a->bits_bytes);
    a->numbers = malloc(a->numbers_bytes);
    a->inputs = malloc(a->inputs_bytes);
    a->registers = malloc(a->registers_bytes);
    if (a->bits != NULL && a->numbers != NULL && a->inputs != NULL && a->registers != NULL) return CUZK_OK;
    const size_t bytes = total(a);
    assignment_fini(a);
    return FAIL(t, CUZK_NO_MEMORY, "no memory for the witness of %s: %zu bytes", m->name, bytes);
}

cuzk_status assignment_view(struct assignment *a, struct task *t, const struct circuit_image *m, struct span bytes)
{
    uint8_t *at = (uint8_t *)(uintptr_t)bytes.data;

    memset(a, 0, sizeof *a);
    size_up(a, m, 0);
    a->registers_bytes = 0;
    if (bytes.size != total(a))
        return FAIL(t, CUZK_MISMATCH, "a witness of %s has %zu bytes, not %zu", m->name, total(a), bytes.size);
    a->inputs = (bls12_381_fr_int *)(void *)at;
    a->numbers = (bls12_381_fr_int *)(void *)(at + a->inputs_bytes);
    a->bits = (uint64_t *)(void *)(at + a->inputs_bytes + a->numbers_bytes);
    return CUZK_OK;
}

static void release(void *p, size_t bytes)
{
    if (p != NULL) wipe(p, bytes);
    free(p);
}

void assignment_fini(struct assignment *a)
{
    release(a->bits, a->bits_bytes);
    release(a->numbers, a->numbers_bytes);
    release(a->inputs, a->inputs_bytes);
    release(a->registers, a->registers_bytes);
    memset(a, 0, sizeof *a);
}
