/* Records gadgets: every call appends the rows of the constraint system and the step that computes the values, together.
 *
 * This is the one place where a variable is allocated, so constraints and witness cannot be written apart.  Order and folding of
 * constants follow bellperson's gadgets exactly (docs: the statement of the circuit, sections 3.1 to 3.8).
 * Errors are sticky: the first one (memory, or a misuse) is kept, later calls do nothing harmful, builder_finish returns it. */
#ifndef CUZK_CIRCUITS_GADGETS_BUILDER_H
#define CUZK_CIRCUITS_GADGETS_BUILDER_H

#include "base/grow.h"
#include "r1cs/image.h"

struct builder;

/* A field element that is a variable: how rows and how steps name it. */
struct number {
    uint32_t ref;
    uint32_t slot;
};

/* Up to 32 Booleans, least significant first, and the register that holds their values. */
struct word {
    uint32_t lane[32];
    uint32_t reg; /* WORD_CONSTANT: all lanes are constants and no register is needed yet */
};
#define WORD_CONSTANT UINT32_MAX
#define WORD_SHIFT    32 /* added to a rotation count: shift, filling with constant 0 */

/* A linear combination under construction: terms may repeat until it is used. */
struct term {
    uint32_t ref;
    bls12_381_fr_t k;
};
struct lc {
    struct term *terms;
    size_t count, capacity;
};

cuzk_status builder_create(struct builder **out, struct task *t, const char *name) MUST_CHECK;
/** Ends the outermost template, adds the trailing rows (one an input) and hands the image over.  b is destroyed either way. */
cuzk_status builder_finish(struct builder *b, struct circuit_image *out) MUST_CHECK;
cuzk_status builder_status(const struct builder *b);
void builder_fail(struct builder *b, const char *why); /* CUZK_INTERNAL: a gadget was misused */

/* -- templates -- */
/* What makes two recordings the same: the gadget and the constants among the lanes of its arguments. */
struct template_key {
    char name[24];
    const struct word *words;
    size_t word_count;
    size_t number_count;
};
/** Looks the template up, or begins its recording.  True: record its body now with the arguments in words and numbers (arrays of the
 * key's sizes, filled here as imports), then call template_end, which gives the id; false: it is there already, as id. */
bool template_begin(struct builder *b, uint32_t *id, const struct template_key *key, struct word *words,
                    struct number *numbers);
/** outs: result words, whose registers a call copies back.  Returns the template's id. */
uint32_t template_end(struct builder *b, const struct word *outs, size_t out_count);
/** Instantiates it here, with arguments that have the key's constants.  outs: its result words in the caller's terms; last (may be
 * NULL): the last number that it allocates, a Poseidon's result.  independent: see image.h; only the circuit itself may. */
void template_call(struct builder *b, uint32_t id, const struct word *words, const struct number *numbers,
                   struct word *outs, struct number *last, bool independent);

/* -- numbers -- */
struct number number_source(struct builder *b); /* the statement's next number */
struct number number_sum(struct builder *b, struct number x, struct number y); /* + row (x + y) * 1 = it */
struct number number_pick(struct builder *b, const struct word *w, unsigned lane, struct number x,
                          struct number y); /* lane ? x : y */
struct number number_pack(struct builder *b, const struct word *words, size_t count, unsigned bits);
void number_input(struct builder *b, struct number x); /* a public input that equals x */
void number_equal(struct builder *b, struct number x, struct number y);
void number_bits(struct builder *b, struct number x, struct word out[8]); /* 255 bits, then a constant 0 */
/** A public input made of the low widths[i] bits of each word in turn, lowest first; fewer than 254 in all. */
void words_input(struct builder *b, const struct word *words, const uint8_t *widths, size_t count);

/* -- words -- */
void word_constant(struct word *out, uint32_t value);
void word_index(struct builder *b, struct word *out,
                unsigned bits); /* bits of the statement's next word, each booleanity checked */
void word_bswap(struct builder *b, struct word *out, const struct word *x);
void word_xor(struct builder *b, struct word *out, const struct word *x, unsigned rotate_x,
              const struct word *y, unsigned rotate_y);
void word_ch(struct builder *b, struct word *out, const struct word *x, const struct word *y,
             const struct word *z);
void word_maj(struct builder *b, struct word *out, const struct word *x, const struct word *y,
              const struct word *z);
/** One lane: x[i] and x[j], or (not x[i]) and (not x[j]). */
void word_and_lanes(struct builder *b, struct word *out, const struct word *x, unsigned i, unsigned j,
                    bool negated);

/* -- sums modulo 2^32, their equalities packed into as few rows as fit 254 bits -- */
struct multi_eq {
    unsigned used;              /* bits */
    struct words32 left, right; /* runs */
    struct lc pairs;            /* of the left side: negated lanes */
    bls12_381_fr_t constant;    /* of the left side */
};
void word_add(struct builder *b, struct multi_eq *m, struct word *out, const struct word *const *operands,
              size_t count);
void multi_eq_close(struct builder *b, struct multi_eq *m); /* the row that is still open, if any */
void multi_eq_fini(struct multi_eq *m);

/* -- for gadgets that bring their own values (Poseidon) -- */
struct number builder_number(struct builder *b); /* allocates; the caller records the step */
void builder_step(struct builder *b, const struct step *s, const uint32_t *arguments, size_t count);
void builder_row(struct builder *b, struct lc *a, struct lc *bb, struct lc *c); /* empties all three */
void lc_add(struct builder *b, struct lc *lc, uint32_t ref, const bls12_381_fr_t *k);
void lc_fini(struct lc *lc);

#endif
