/* The tables of sector sizes and registered proofs. */
#include "formats/porep_shape.h"

#include "base/bytes.h"

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)
#define GIB(n) ((uint64_t)(n) << 30)

/* name, bytes, nodes, log2, layers, partitions, challenges, non-interactive partitions, sub, top, base levels, levels, arities */
static const struct porep_shape shapes[] = {
    { "2KiB", KIB(2), 1u << 6, 6, 2, 1, 2, 13, 0, 0, 2, 2, { 8, 8 } },
    { "8MiB", MIB(8), 1u << 18, 18, 2, 1, 2, 13, 0, 0, 6, 6, { 8, 8, 8, 8, 8, 8 } },
    { "512MiB", MIB(512), 1u << 24, 24, 2, 1, 2, 13, 0, 0, 8, 8, { 8, 8, 8, 8, 8, 8, 8, 8 } },
    { "32GiB", GIB(32), 1u << 30, 30, 11, 10, 18, 126, 8, 0, 9, 10, { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 } },
    { "64GiB", GIB(64), 1u << 31, 31, 11, 10, 18, 126, 8, 2, 9, 11, { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 2 } },
    { "4KiB", KIB(4), 1u << 7, 7, 2, 1, 2, 13, 2, 0, 2, 3, { 8, 8, 2 } },
    { "16KiB", KIB(16), 1u << 9, 9, 2, 1, 2, 13, 8, 0, 2, 3, { 8, 8, 8 } },
    { "32KiB", KIB(32), 1u << 10, 10, 2, 1, 2, 13, 8, 2, 2, 4, { 8, 8, 8, 2 } },
    { "16MiB", MIB(16), 1u << 19, 19, 2, 1, 2, 13, 2, 0, 6, 7, { 8, 8, 8, 8, 8, 8, 2 } },
    { "1GiB", GIB(1), 1u << 25, 25, 2, 1, 2, 13, 2, 0, 8, 9, { 8, 8, 8, 8, 8, 8, 8, 8, 2 } },
};

const struct porep_shape *porep_shape_by_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        if (strcmp(shapes[i].name, name) == 0) return &shapes[i];
    return NULL;
}

const struct porep_shape *porep_shape_by_bytes(uint64_t sector_bytes)
{
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        if (shapes[i].sector_bytes == sector_bytes) return &shapes[i];
    return NULL;
}

#define GROUP(first, suffix, legacy, feature)                                  \
    { first + 0, "StackedDrg2KiB" suffix, &shapes[0], legacy, feature },       \
        { first + 1, "StackedDrg8MiB" suffix, &shapes[1], legacy, feature },   \
        { first + 2, "StackedDrg512MiB" suffix, &shapes[2], legacy, feature }, \
        { first + 3, "StackedDrg32GiB" suffix, &shapes[3], legacy, feature },  \
    {                                                                          \
        first + 4, "StackedDrg64GiB" suffix, &shapes[4], legacy, feature       \
    }

static const struct registered_proof proofs[REGISTERED_PROOF_COUNT] = {
    GROUP(0, "V1", true, POREP_INTERACTIVE),
    GROUP(5, "V1_1", false, POREP_INTERACTIVE),
    GROUP(10, "V1_1_Feat_SyntheticPoRep", false, POREP_SYNTHETIC),
    GROUP(15, "V1_2_Feat_NonInteractivePoRep", false, POREP_NON_INTERACTIVE),
};

const struct registered_proof *registered_proof_by_number(unsigned number)
{
    return number < REGISTERED_PROOF_COUNT ? &proofs[number] : NULL;
}

const struct registered_proof *registered_proof_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < REGISTERED_PROOF_COUNT; i++)
        if (strlen(proofs[i].name) == length && memcmp(proofs[i].name, name, length) == 0) return &proofs[i];
    return NULL;
}

void registered_proof_porep_id(const struct registered_proof *r, uint8_t out[32])
{
    memset(out, 0, 32);
    store_le64(out, r->number);
}
