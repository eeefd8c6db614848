/* The primes that circom compiles for. */
#include "formats/circom_field.h"
#include "base/bytes.h"
#include "formats/fail_at.h"
#include <inttypes.h>
#include <string.h>

#define OURS_BYTES 32

/* circom's --prime names but bn128 and bls12381 (docs.circom.io, "Compilation flags"), little-endian. */
static const struct {
    const char *name;
    size_t bytes;
    uint64_t words[4];
} others[] = {
    { "bls12377", 32, { 0x0a11800000000001, 0x59aa76fed0000001, 0x60b44d1e5c37b001, 0x12ab655e9a2ca556 } },
    { "goldilocks", 8, { 0xffffffff00000001 } },
    { "grumpkin", 32, { 0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d, 0x30644e72e131a029 } },
    { "pallas", 32, { 0x992d30ed00000001, 0x224698fc094cf91b, 0x0000000000000000, 0x4000000000000000 } },
    { "vesta", 32, { 0x8c46eb2100000001, 0x224698fc0994a8dd, 0x0000000000000000, 0x4000000000000000 } },
    { "secq256r1", 32, { 0xffffffffffffffff, 0x00000000ffffffff, 0x0000000000000000, 0xffffffff00000001 } },
};

static const char *other_name(struct span prime)
{
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        size_t same = 0;
        while (same < prime.size && same < others[i].bytes &&
               prime.data[same] == (uint8_t)(others[i].words[same / 8] >> (same % 8 * 8)))
            same++;
        if (same == prime.size && same == others[i].bytes) return others[i].name;
    }
    return NULL;
}

cuzk_status circom_field_parse(const struct curve **out, struct task *t, const char *path, struct span head,
                               size_t rest, uint64_t at)
{
    *out = NULL;
    if (head.size < 4)
        return FAIL_AT(t, path, at - 8, "header", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "the header section has %zu bytes", head.size);
    const uint32_t width = load_le32(head.data);
    const struct span prime = span_of(head.data + 4, width < head.size - 4 ? width : head.size - 4);
    /* Only in a header of its length: goldilocks is the low half of other primes. */
    const char *name = head.size == 4 + (size_t)width + rest ? other_name(prime) : NULL;
    if (name != NULL)
        return FAIL_AT(t, path, at + 4, "prime", "Compile the circuit for bn128 or bls12381.",
                       CUZK_UNSUPPORTED, "the prime is that of %s; cuzk has BN254 and BLS12-381", name);
    if (width != OURS_BYTES)
        return FAIL_AT(t, path, at, "n8", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "numbers of %" PRIu32 " bytes; those of BN254 and BLS12-381 have %d", width,
                       OURS_BYTES);
    if (prime.size == OURS_BYTES) *out = curve_by_fr_modulus(prime);
    if (*out == NULL)
        return FAIL_AT(
            t, path, at + 4, "prime", ADVICE_DAMAGED, CUZK_MALFORMED,
            "the prime is the scalar field of neither BN254 nor BLS12-381, nor of another curve that "
            "circom knows");
    return CUZK_OK;
}
