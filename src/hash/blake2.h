/* BLAKE2b with a key and a length of choice (libb2; OpenSSL's ignores the length). */
#ifndef CUZK_HASH_BLAKE2_H
#define CUZK_HASH_BLAKE2_H

#include "base/span.h"

/** out_bytes 1..64; key may be empty (NULL, 0), at most 64 bytes.  Cannot fail for such lengths. */
void blake2b_of(void *out, size_t out_bytes, const void *key, size_t key_bytes, const void *data,
                size_t bytes);

#endif
