/* BLAKE2b through libb2. */
#include "hash/blake2.h"

#include <blake2.h>

void blake2b_of(void *out, size_t out_bytes, const void *key, size_t key_bytes, const void *data,
                size_t bytes)
{
    (void)blake2b(out, data, key, out_bytes, bytes,
                  key_bytes); /* fails on lengths outside the contract only */
}
