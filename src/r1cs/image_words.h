/* What the words of a circuit image's arrays mean: references, rows, steps.  Plain integers, for C and for kernels. */
#ifndef CUZK_R1CS_IMAGE_WORDS_H
#define CUZK_R1CS_IMAGE_WORDS_H

#include <stdint.h>

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
    uint32_t rotate; /* XOR, AND: a's in the low byte, b's in the next; n < 32 rotates, 32 + n shifts right */
    uint32_t negate;
    uint64_t mask; /* lanes that are variables of their own */
};
#define NUMBER_IMPORT 0x80000000u /* number i of the caller's list instead of one of the template's own */
enum { MAX_NUMBER_IMPORTS = 16, PACK_WORDS = 48 /* at most, in one public input: the levels of a tree */ };

/* The arguments of STEP_CALL start with these.  An independent call's numbers and statement lie behind the circuit's own, in the
 * order of the calls. */
enum call_argument { CALL_RESULTS, CALL_AUX, CALL_INPUT, CALL_WORDS };

/* -- laid out for a device: image_flat.h -- */

/* Where a value stands in a witness whose bits and numbers are apart: kind, index.  The bit of an aux, by the aux; a number or an input,
 * by its place in its array; the constant 1. */
enum {
    PLACE_BIT = REF_LOCAL,
    PLACE_NUMBER = REF_IMPORT,
    PLACE_INPUT = REF_INPUT,
    PLACE_ONE = REF_ONE,
    PLACE_KIND = REF_KIND
};
#define PLACE_INDEX REF_INDEX

/* In flat->rows a reference that may be to a number (in a pair, the three of a PICK, an argument of a CALL) and is REF_LOCAL has this bit
 * set if it is to one, and then the index is that of the number among the instance's. */
#define FLAT_NUMBER REF_NOT

struct flat_instance {
    uint32_t aux, input, row, number; /* its first of each in the circuit */
    uint32_t import;                  /* its first in flat->imports */
    uint32_t template_id;
};

/* A row that a template has itself. */
struct flat_row {
    uint32_t entry; /* in flat->rows */
    uint32_t lane;  /* which of the entry's rows */
};

/* Such rows without a call between them. */
struct flat_segment {
    uint32_t first; /* in flat->directory */
    uint32_t count;
    uint32_t row; /* of the first, from the template's */
};

struct flat_template {
    uint32_t first_instance, instance_count;
    uint32_t first_row, row_count; /* in flat->directory */
    uint32_t first_segment, segment_count;
};

#endif
