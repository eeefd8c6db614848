/* One compression of SHA-256 (FIPS 180-4, 6.2.2) on words, for hosts and devices. */
#ifndef CUZK_HASH_SHA256_COMPRESS_H
#define CUZK_HASH_SHA256_COMPRESS_H

#include "base/dialect.h"

DEV_FN uint32_t sha256_rotate(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

/** state = compress(block, state); block is destroyed.  k: the 64 round constants. */
DEV_FN void sha256_compress(uint32_t state[8], uint32_t w[16], const uint32_t *k)
{
    uint32_t s[8];
    UNROLL for (int i = 0; i < 8; i++) s[i] = state[i];
    UNROLL for (int i = 0; i < 64; i++)
    {
        if (i >= 16) {
            const uint32_t x = w[(i + 1) % 16], y = w[(i + 14) % 16];
            w[i % 16] += (sha256_rotate(x, 7) ^ sha256_rotate(x, 18) ^ x >> 3) + w[(i + 9) % 16] +
                         (sha256_rotate(y, 17) ^ sha256_rotate(y, 19) ^ y >> 10);
        }
        const uint32_t a = s[0], e = s[4];
        const uint32_t t1 = s[7] + (sha256_rotate(e, 6) ^ sha256_rotate(e, 11) ^ sha256_rotate(e, 25)) +
                            ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i % 16];
        const uint32_t t2 = (sha256_rotate(a, 2) ^ sha256_rotate(a, 13) ^ sha256_rotate(a, 22)) +
                            ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        UNROLL for (int j = 7; j > 0; j--) s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    UNROLL for (int i = 0; i < 8; i++) state[i] += s[i];
}

#endif
