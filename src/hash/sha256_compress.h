/* One compression of SHA-256 (FIPS 180-4, 6.2.2) on words, for hosts and devices. */
#ifndef CUZK_HASH_SHA256_COMPRESS_H
#define CUZK_HASH_SHA256_COMPRESS_H

#include "base/dialect.h"

#define SHA256_ROUND_CONSTANTS                                                                              \
    {                                                                                                       \
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,     \
            0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, \
            0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, \
            0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, \
            0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, \
            0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, \
            0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, \
            0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2  \
    }

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
