/* The memory of keys that have passed their check: one note a key. */
#include "base/filenote.h"
#include "groth16/key_check.h"
#include "groth16/key_derived.h"
#include "hash/sha256.h"
#include <stdio.h>

void groth16_key_remember(const struct groth16_key *key)
{
    char text[8 + 2 * SHA256_BYTES], note[DERIVED_NOTE_BYTES];
    uint8_t digest[SHA256_BYTES];

    sha256_of(digest, key->file.bytes.data, key->file.bytes.size);
    int n = snprintf(text, sizeof text, "sha256 ");
    for (int i = 0; i < SHA256_BYTES; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%02x", digest[i]);
    filenote_write(&key->file, "checked", text);
    if (key->h_mode != H_LAGRANGE_4) return;
    derived_note(note, &key->derived);
    filenote_write(&key->derived_file, "checked", note);
}

bool groth16_key_is_known(const struct groth16_key *key)
{
    char note[DERIVED_NOTE_BYTES];

    if (!filenote_holds(&key->file, "checked", NULL)) return false;
    if (key->h_mode != H_LAGRANGE_4) return true;
    derived_note(note, &key->derived);
    return filenote_holds(&key->derived_file, "checked", note);
}
