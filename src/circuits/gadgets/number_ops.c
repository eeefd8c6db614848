/* Field elements: allocation, sums, choices, decomposition into bits, packing, public inputs. */
#include "circuits/gadgets/builder_inside.h"

#define FE bls12_381_fr
#include "field/fe_names.h"

struct number builder_number(struct builder *b)
{
    struct frame *f = builder_frame(b);
    struct number n = { REF_LOCAL | f->aux_count, f->number_slots++ };
    if (builder_room(b, &f->numbers.data, &f->numbers.capacity, f->numbers.count + 1,
                     sizeof *f->numbers.data))
        f->numbers.data[f->numbers.count++] = f->aux_count;
    f->aux_count++;
    return n;
}

static uint32_t new_input(struct builder *b) { return REF_INPUT | builder_frame(b)->input_count++; }

/* Row (sum of terms) * 1 = c. */
static void row_sum(struct builder *b, struct lc *sum, uint32_t c)
{
    struct lc one = { 0 }, result = { 0 };
    lc_add(b, &one, REF_ONE, &b->power[0]);
    lc_add(b, &result, c, &b->power[0]);
    builder_row(b, sum, &one, &result);
    lc_fini(&one);
    lc_fini(&result);
}

struct number number_source(struct builder *b)
{
    const struct step s = { .code = STEP_SOURCE };
    builder_step(b, &s, NULL, 0);
    builder_frame(b)->source_numbers++;
    return builder_number(b);
}

struct number number_sum(struct builder *b, struct number x, struct number y)
{
    const struct step s = { .code = STEP_SUM, .a = x.slot, .b = y.slot };
    struct lc sum = { 0 };
    builder_step(b, &s, NULL, 0);
    const struct number n = builder_number(b);
    lc_add(b, &sum, x.ref, &b->power[0]);
    lc_add(b, &sum, y.ref, &b->power[0]);
    row_sum(b, &sum, n.ref);
    lc_fini(&sum);
    return n;
}

struct number number_pick(struct builder *b, const struct word *w, unsigned lane, struct number x,
                          struct number y)
{
    const struct step s = { .code = STEP_PICK, .dst = w->reg, .a = x.slot, .b = y.slot, .c = lane };
    builder_step(b, &s, NULL, 0);
    const struct number n = builder_number(b);
    const uint32_t words[5] = { ROW_PICK | 1u << 8, w->lane[lane], x.ref, y.ref, n.ref };
    builder_row_words(b, words, 5, 1);
    return n;
}

void number_input(struct builder *b, struct number x)
{
    const uint32_t input = new_input(b);
    const struct step s = { .code = STEP_INPUT, .dst = input & REF_INDEX, .a = x.slot };
    struct lc sum = { 0 };
    builder_step(b, &s, NULL, 0);
    lc_add(b, &sum, input, &b->power[0]);
    row_sum(b, &sum, x.ref);
    lc_fini(&sum);
}

void number_equal(struct builder *b, struct number x, struct number y)
{
    struct lc sum = { 0 };
    lc_add(b, &sum, x.ref, &b->power[0]);
    row_sum(b, &sum, y.ref);
    lc_fini(&sum);
}

void number_bits(struct builder *b, struct number x, struct word out[8])
{
    struct frame *f = builder_frame(b);
    const struct step s = { .code = STEP_TO_BITS, .dst = f->word_count, .a = x.slot };
    struct lc none = { 0 }, empty = { 0 }, sum = { 0 };
    uint32_t bits[256];
    fe_t minus;
    f->word_count += 8;
    builder_step(b, &s, NULL, 0);
    builder_new_bits(b, bits, 255);
    bits[255] = REF_FALSE;
    for (unsigned i = 0; i < 255; i++) lc_add(b, &sum, bits[i], &b->power[i]);
    fe_neg(&minus, &b->power[0]);
    lc_add(b, &sum, x.ref, &minus);
    builder_row(b, &none, &empty, &sum);
    lc_fini(&sum);
    for (unsigned w = 0; w < 8; w++) {
        memcpy(out[w].lane, bits + 32 * w, sizeof out[w].lane);
        out[w].reg = s.dst + w;
    }
}

/* The terms of the low bits of words, and the words' registers. */
static bool gather(struct builder *b, const struct word *words, size_t count, unsigned bits,
                   uint32_t *registers, struct lc *sum)
{
    if (count > PACK_WORDS || bits > 254 || bits > 32 * count) {
        builder_fail(b, "more bits than a field element holds");
        return false;
    }
    for (size_t w = 0; w < count; w++) {
        struct word copy = words[w];
        registers[w] = word_register(b, &copy);
    }
    for (unsigned i = 0; i < bits; i++) lc_add(b, sum, words[i / 32].lane[i % 32], &b->power[i]);
    return true;
}

struct number number_pack(struct builder *b, const struct word *words, size_t count, unsigned bits)
{
    uint32_t registers[PACK_WORDS];
    struct lc sum = { 0 };
    struct number n = { 0, 0 };
    if (!gather(b, words, count, bits, registers, &sum)) return n;
    const struct step s = { .code = STEP_PACK, .count = (uint32_t)count, .c = bits };
    builder_step(b, &s, registers, count);
    n = builder_number(b);
    row_sum(b, &sum, n.ref);
    lc_fini(&sum);
    return n;
}

void words_input(struct builder *b, const struct word *words, const uint8_t *widths, size_t count)
{
    uint32_t registers[PACK_WORDS];
    struct lc sum = { 0 };
    unsigned at = 0;
    if (count > PACK_WORDS) {
        builder_fail(b, "more words than a public input packs");
        return;
    }
    for (size_t w = 0; w < count; w++) {
        struct word copy = words[w];
        registers[w] = word_register(b, &copy) | (uint32_t)widths[w] << 24;
        for (unsigned i = 0; i < widths[w]; i++) lc_add(b, &sum, words[w].lane[i], &b->power[at++]);
    }
    if (at > 253) builder_fail(b, "a public input of more than 253 bits");
    const uint32_t input = new_input(b);
    const struct step s = { .code = STEP_PACK_INPUT, .count = (uint32_t)count, .dst = input & REF_INDEX };
    builder_step(b, &s, registers, count);
    row_sum(b, &sum, input);
    lc_fini(&sum);
}
