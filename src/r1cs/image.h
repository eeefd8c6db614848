/* A circuit as data: recorded templates and the instances of them that make up the whole, instead of three matrices.
 *
 * A template is what a gadget did once: a stream of rows over relative variables, and a program that computes the values of the
 * variables that it allocates.  circuits/gadgets records both with the same calls (builder.h).  A template may call others, so an
 * image is a tree; its last template is the circuit.  Three interpreters run over it there: expand.h (rows, one by one, as the
 * definition has them), assign.h (the witness) and evaluate.h (A.w and B.w).  Everything is an array of plain integers, so that a
 * backend can run it too. */
#ifndef CUZK_R1CS_IMAGE_H
#define CUZK_R1CS_IMAGE_H

#include "base/span.h"
#include "base/task.h"
#include "field/bls12_381_fields.h"

/* A variable or Boolean as a template sees it: kind, negation, index.  Constant 1 is ONE, constant 0 is its negation. */
enum {
    REF_LOCAL = 0u << 30,
    REF_IMPORT = 1u << 30,
    REF_INPUT = 2u << 30,
    REF_ONE = 3u << 30,
    REF_KIND = 3u << 30
};
#define REF_NOT   (1u << 29)
#define REF_INDEX (REF_NOT - 1)
#define REF_TRUE  ((uint32_t)REF_ONE)
#define REF_FALSE (REF_ONE | REF_NOT)

/* The same in the whole circuit: the index, with bit 31 set for an auxiliary variable.  Input 0 is the constant 1. */
#define VAR_AUX 0x80000000u

/* One entry of a row stream: class | count << 8, then its words.  <A> * <B> = <C>.  An entry stands for count successive rows
 * (ROW_MAJ: pairs of rows), whose references grow by one from row to row: a word's 32 lanes are one entry or a few.
 *
 *   BITS     v        (1 - v) * v = 0
 *   XOR      p q c    2p * q = p + q - c
 *   AND      a b c    a * b = c, a and b Booleans
 *   CH       a b c r  (b - c) * a = r - c, Booleans
 *   MAJ      a b c r  with t = r + 1, which grow by two: b * c = t, a negated b behind a plain c; (2t - b - c) * a = t - r
 *   PICK     s a b c  (b - a) * s = b - c, s a Boolean; count is 1
 *   SUMS     numbers of A's runs, A's pairs and C's runs, then these: sum * 1 = sum; count is 1
 *   GENERAL  numbers of A's, B's and C's pairs, then these, sorted and merged within the template; count is 1
 *   CALL     template, first aux, first input, first row, then a ref for each of its imports; count 1: independent of its
 *            siblings, so that all such may run at once; else 0
 *   TRAIL    v, an input's number: v * 0 = 0
 *
 * A run is a ref and count | stride << 8 | shift << 16: variables ref, ref + stride, ... times 2^shift, 2^(shift + 1), ...
 * A pair is a ref and a coefficient. */
enum row_class {
    ROW_BITS,
    ROW_XOR,
    ROW_AND,
    ROW_CH,
    ROW_MAJ,
    ROW_PICK,
    ROW_SUMS,
    ROW_GENERAL,
    ROW_CALL,
    ROW_TRAIL,
    ROW_CLASS_COUNT
};
#define RUN_COUNT(run)  ((run)&0xff)
#define RUN_STRIDE(run) ((run) >> 8 & 0xff)
#define RUN_SHIFT(run)  ((run) >> 16)

/* One step of a witness program.  Words are 32-bit registers of the running template, numbers are field elements in the order in
 * which the circuit allocates them.  To emit is to append bits to the bitmap of all variables.  "Arguments at x": count entries
 * of image->arguments from there.
 *
 *   CONST       word dst = a
 *   BSWAP       word dst = bytes of word a reversed
 *   XOR         dst = a ^ b, each rotated or shifted; emits dst ^ negate under mask, count bits
 *   AND         dst = lowest bit of a & b, each rotated, or of ~a & ~b if c is 1; emits it
 *   CH          dst = a ? b : c; emits as XOR
 *   MAJ         dst = majority of a, b, c; emits dst ^ negate and b & c, interleaved, under mask, count bits
 *   ADD         dst = low word of the sum of words (arguments at a) and of the constant negate << 32 | c; emits b bits of it
 *   SOURCE      number = the next one of the statement
 *   INDEX       dst = the next word of the statement; emits its count low bits
 *   TO_BITS     dst .. dst + 7 = number a, little-endian; emits 255 bits
 *   PACK        number = low c bits of words, little-endian (arguments at a)
 *   SUM         number = number a + number b
 *   PICK        number = bit c of word dst ? number a : number b
 *   POSEIDON    numbers = the trace of Poseidon over numbers (arguments at a)
 *   INPUT       public input dst of the template = number a
 *   PACK_INPUT  public input dst = runs of bits, lowest first (arguments at a: register, width in the top byte)
 *   CALL        template a (arguments at b: enum call_argument, words in, numbers in, its result registers, which go to dst ..);
 *               count 1: independent of its siblings */
enum step_code {
    STEP_CONST,
    STEP_BSWAP,
    STEP_XOR,
    STEP_AND,
    STEP_CH,
    STEP_MAJ,
    STEP_ADD,
    STEP_SOURCE,
    STEP_INDEX,
    STEP_TO_BITS,
    STEP_PACK,
    STEP_SUM,
    STEP_PICK,
    STEP_POSEIDON,
    STEP_INPUT,
    STEP_PACK_INPUT,
    STEP_CALL,
    STEP_CODE_COUNT
};
struct step {
    uint32_t code, count;
    uint32_t dst, a, b, c;
    uint32_t rotate; /* of a in the low byte, of b in the next: n < 32 rotates right, 32 + n shifts right */
    uint32_t negate;
    uint64_t mask; /* lanes that are variables of their own */
};
#define NUMBER_IMPORT 0x80000000u /* number i of the caller's list instead of one of the template's own */
enum { MAX_NUMBER_IMPORTS = 16, PACK_WORDS = 48 /* at most, in one public input: the levels of a tree */ };

/* The arguments of STEP_CALL start with these.  An independent call's numbers and statement lie behind the circuit's own, in the
 * order of the calls. */
enum call_argument { CALL_RESULTS, CALL_AUX, CALL_INPUT, CALL_WORDS };

/* An independent call of the circuit: a range of rows and variables that can be worked on alone. */
struct circuit_part {
    uint32_t template_id;
    uint64_t row_entry; /* of its ROW_CALL in image->rows */
    uint64_t step;      /* of its STEP_CALL in image->steps */
    uint32_t first_aux, first_input, first_row, first_number, first_source_number, first_source_word;
};

struct circuit_template {
    char name[24];
    uint32_t aux_count, input_count, row_count; /* calls included */
    uint32_t number_count; /* aux that are field elements rather than bits; independent calls excluded */
    uint32_t import_count; /* variables bound by the caller */
    uint32_t word_count;   /* registers */
    uint32_t source_numbers, source_words; /* what it reads of the statement; independent calls excluded */
    uint32_t word_imports;                 /* registers that the caller fills */
    uint32_t depth_words;                  /* registers of the deepest chain of calls, its own included */
    uint32_t depth_imports;                /* imports likewise */
    uint64_t rows_begin, rows_end;         /* in image->rows */
    uint64_t steps_begin, steps_end;       /* in image->steps */
    uint64_t numbers_begin;                /* in image->number_aux: which of its aux are numbers, ascending */
};

struct circuit_image {
    char name[32]; /* "porep-32GiB" */
    struct circuit_template *templates;
    uint32_t template_count; /* the last one is the circuit */
    uint32_t *rows;
    uint64_t rows_size;
    struct step *steps;
    uint64_t steps_size;
    uint32_t *arguments; /* of steps */
    uint64_t arguments_size;
    uint32_t *number_aux;
    uint64_t number_aux_size;
    bls12_381_fr_t *coefficients; /* dictionary, Montgomery form: 1, -1, then 2, 4, ... 2^253, then others */
    uint32_t coefficient_count;
    /* Derived from the above when an image is built or loaded. */
    struct circuit_part *parts;
    uint32_t part_count;
    uint32_t number_total, source_number_total, source_word_total; /* parts included */
};
enum { COEFFICIENT_ONE = 0, COEFFICIENT_MINUS_ONE = 1, COEFFICIENT_TWO = 2, COEFFICIENT_BITS = 254 };
static inline uint32_t coefficient_power(unsigned shift)
{
    return shift == 0 ? COEFFICIENT_ONE : shift + 1;
} /* of 2^shift */

static inline const struct circuit_template *image_circuit(const struct circuit_image *m)
{
    return &m->templates[m->template_count - 1];
}

void image_fini(struct circuit_image *m); /* legal on a zeroed one */
uint64_t image_bytes(const struct circuit_image *m);

/** Fills what is derived.  The arrays must be sound: image_load checks them first.  CUZK_NO_MEMORY, CUZK_MALFORMED. */
cuzk_status image_derive(struct circuit_image *m, struct task *t) MUST_CHECK;

/** Everything in one block of bytes with version and SHA-256, and back.  out is malloc'ed.
 * Errors of load  CUZK_MALFORMED (short, wrong magic, digest or any index out of range, with the offset), CUZK_UNSUPPORTED (another
 * version): no image that loads can make an interpreter leave its arrays. */
cuzk_status image_save(const struct circuit_image *m, struct task *t, uint8_t **out,
                       size_t *bytes) MUST_CHECK;
cuzk_status image_load(struct circuit_image *out, struct task *t, struct span file) MUST_CHECK;

/* How many stream words one entry takes; used by every walk over a row stream. */
static inline uint64_t row_entry_words(const struct circuit_image *m, const uint32_t *entry)
{
    static const uint8_t fixed[ROW_CLASS_COUNT] = { 2, 4, 4, 5, 5, 5, 4, 4, 5, 2 };
    const uint32_t class = entry[0] & 0xff;
    uint64_t words = fixed[class];
    if (class == ROW_SUMS || class == ROW_GENERAL) words += 2 * ((uint64_t)entry[1] + entry[2] + entry[3]);
    if (class == ROW_CALL) words += m->templates[entry[1]].import_count;
    return words;
}

#endif
