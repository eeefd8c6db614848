/* Fuzzes the decoder of 192-byte proofs: what is accepted has one encoding only. */
#include "formats/proof_codec.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proof_points proofs[4];
    uint8_t again[PROOF_BYTES];
    struct task t;
    size_t count = size / PROOF_BYTES < ARRAY_COUNT(proofs) ? size / PROOF_BYTES : ARRAY_COUNT(proofs);
    task_init(&t);
    if (!fuzz_ok(&t, proof_decode(proofs, &t, FUZZ_PATH, span_of(data, size), count))) return 0;
    for (size_t i = 0; i < count; i++) {
        proof_encode(again, &proofs[i]);
        if (memcmp(again, data + PROOF_BYTES * i, PROOF_BYTES) != 0) abort();
    }
    return 0;
}
