/* ChaCha's block function (Bernstein, "ChaCha, a variant of Salsa20", 2008). */
#include "hash/chacha.h"

static inline uint32_t rotl(uint32_t x, unsigned n) { return x << n | x >> (32 - n); }

static inline void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
    *a += *b;
    *d = rotl(*d ^ *a, 16);
    *c += *d;
    *b = rotl(*b ^ *c, 12);
    *a += *b;
    *d = rotl(*d ^ *a, 8);
    *c += *d;
    *b = rotl(*b ^ *c, 7);
}

void chacha_block(uint32_t out[16], const uint32_t key[8], const uint32_t tail[4], unsigned rounds)
{
    uint32_t start[16] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 }, x[16];
    for (int i = 0; i < 8; i++) start[4 + i] = key[i];
    for (int i = 0; i < 4; i++) start[12 + i] = tail[i];
    for (int i = 0; i < 16; i++) x[i] = start[i];
    for (unsigned r = 0; r < rounds; r += 2) {
        for (int i = 0; i < 4; i++) quarter_round(&x[i], &x[4 + i], &x[8 + i], &x[12 + i]);
        for (int i = 0; i < 4; i++)
            quarter_round(&x[i], &x[4 + (i + 1) % 4], &x[8 + (i + 2) % 4], &x[12 + (i + 3) % 4]);
    }
    for (int i = 0; i < 16; i++) out[i] = x[i] + start[i];
}
