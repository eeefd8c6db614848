/* SHA-256 where only the digest is needed (OpenSSL's, which uses the processor's SHA instructions). */
#ifndef CUZK_HASH_SHA256_H
#define CUZK_HASH_SHA256_H

#include "base/span.h"

#define SHA256_BYTES 32

struct sha256 {
    uint64_t state[16]; /* OpenSSL's own context, its layout known to sha256.c only */
};

void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *data, size_t bytes);
void sha256_final(struct sha256 *s, uint8_t out[SHA256_BYTES]);
void sha256_of(uint8_t out[SHA256_BYTES], const void *data, size_t bytes);

/** Clears the two top bits of the last byte, so that the digest is a little-endian integer below 2^254: Filecoin's way to make
 * a field element of a digest. */
static inline void sha256_trim(uint8_t digest[SHA256_BYTES]) { digest[31] &= 0x3f; }

/* The constants of FIPS 180-4, for circuits and kernels that need the inside. */
extern const uint32_t sha256_round_constants[64];
extern const uint32_t sha256_initial_state[8];

#endif
