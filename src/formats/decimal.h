/* Exact conversion between decimal or hexadecimal text and integers of 256 and 384 bits. */
#ifndef CUZK_FORMATS_DECIMAL_H
#define CUZK_FORMATS_DECIMAL_H

#include "base/span.h"

#define DECIMAL_MOST_DIGITS 116 /* of 2^384 - 1 */

/** Writes the integer of `words` little-endian 64-bit words (1 to 6); returns the number of digits.  No zero byte is added. */
size_t decimal_write(char out[DECIMAL_MOST_DIGITS], const uint64_t *words, size_t word_count);

enum decimal_verdict { DECIMAL_OK, DECIMAL_NOT_A_NUMBER, DECIMAL_TOO_LARGE };
/** Reads decimal digits, or hexadecimal ones after 0x, filling word_count words.  Leading zeros are accepted, signs and spaces not. */
enum decimal_verdict decimal_read(uint64_t *words, size_t word_count, const char *text,
                                  size_t size) MUST_CHECK;

#endif
