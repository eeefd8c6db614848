/* UTF-8, as far as texts from outside need it. */
#ifndef CUZK_BASE_UTF8_H
#define CUZK_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/** Bytes of the sequence at s, of which left bytes are there (SIZE_MAX: they end with '\0'); 0: not one, as overlong forms and surrogates
 * are not. */
static inline size_t utf8_length(const uint8_t *s, size_t left)
{
    if (s[0] < 0x80) return 1;
    const size_t n = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
                     : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                   : 0;
    if (n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    const int overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    const int outside = (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90);
    return overlong || outside ? 0 : n;
}

/** Where a text of so many bytes stops being one line of UTF-8 without control characters; bytes: nowhere. */
static inline size_t utf8_plain_bytes(const uint8_t *s, size_t bytes)
{
    for (size_t i = 0, n; i < bytes; i += n) {
        n = utf8_length(s + i, bytes - i);
        if (n == 0 || s[i] < 0x20 || s[i] == 0x7f) return i;
    }
    return bytes;
}

#endif
