/* Decimal and hexadecimal text of integers of a few words. */
#include "formats/decimal.h"
#include <string.h>

#define CHUNK        UINT64_C(10000000000000000000) /* 10^19, the largest power of ten in a word */
#define CHUNK_DIGITS 19
#define MOST_WORDS   6

size_t decimal_write(char out[DECIMAL_MOST_DIGITS], const uint64_t *words, size_t word_count)
{
    uint64_t rest[MOST_WORDS] = { 0 };
    char reversed[DECIMAL_MOST_DIGITS + CHUNK_DIGITS];
    size_t digits = 0;
    memcpy(rest, words, word_count * sizeof *words);
    size_t top = word_count;
    while (top > 0 && rest[top - 1] == 0) top--;
    while (top > 0) {
        uint64_t remainder = 0;
        for (size_t i = top; i-- > 0;) {
            unsigned __int128 v = (unsigned __int128)remainder << 64 | rest[i];
            rest[i] = (uint64_t)(v / CHUNK);
            remainder = (uint64_t)(v % CHUNK);
        }
        while (top > 0 && rest[top - 1] == 0) top--;
        /* The last chunk has no leading zeros, the others have all their digits. */
        for (int d = 0; d < CHUNK_DIGITS && (top > 0 || remainder != 0); d++) {
            reversed[digits++] = (char)('0' + remainder % 10);
            remainder /= 10;
        }
    }
    if (digits == 0) reversed[digits++] = '0';
    for (size_t i = 0; i < digits; i++) out[i] = reversed[digits - 1 - i];
    return digits;
}

/* words = words * factor + addend; false if that does not fit. */
static bool multiply_add(uint64_t *words, size_t word_count, uint64_t factor, uint64_t addend)
{
    uint64_t carry = addend;
    for (size_t i = 0; i < word_count; i++) {
        unsigned __int128 v = (unsigned __int128)words[i] * factor + carry;
        words[i] = (uint64_t)v;
        carry = (uint64_t)(v >> 64);
    }
    return carry == 0;
}

static int digit_value(char c, unsigned base)
{
    int v = -1;
    if (c >= '0' && c <= '9')
        v = c - '0';
    else if (c >= 'a' && c <= 'f')
        v = c - 'a' + 10;
    else if (c >= 'A' && c <= 'F')
        v = c - 'A' + 10;
    return v < (int)base ? v : -1;
}

enum decimal_verdict decimal_read(uint64_t *words, size_t word_count, const char *text, size_t size)
{
    unsigned base = 10;
    memset(words, 0, word_count * sizeof *words);
    if (size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
        size -= 2;
    }
    if (size == 0) return DECIMAL_NOT_A_NUMBER;
    bool fits = true;
    for (size_t i = 0; i < size; i++) {
        int v = digit_value(text[i], base);
        if (v < 0) return DECIMAL_NOT_A_NUMBER;
        if (fits) fits = multiply_add(words, word_count, base, (uint64_t)v);
    }
    return fits ? DECIMAL_OK : DECIMAL_TOO_LARGE;
}
