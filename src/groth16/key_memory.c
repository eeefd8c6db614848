/* The memory of keys that have passed their check: one note a key. */
#include "base/filenote.h"
#include "groth16/key_check.h"
#include "hash/sha256.h"
#include <stdio.h>

void groth16_key_remember(const struct groth16_key *key)
{
    char text[8 + 2 * SHA256_BYTES];
    uint8_t digest[SHA256_BYTES];

    sha256_of(digest, key->file.bytes.data, key->file.bytes.size);
    int n = snprintf(text, sizeof text, "sha256 ");
    for (int i = 0; i < SHA256_BYTES; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%02x", digest[i]);
    filenote_write(&key->file, "checked", text);
}

bool groth16_key_is_known(const struct groth16_key *key)
{
    return filenote_holds(&key->file, "checked", NULL);
}
