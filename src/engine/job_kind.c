/* The kinds of this build. */
#include "engine/engine.h"
#include "engine/job_kind.h"
#include <string.h>

#define TABLE_MOST_BYTES (64ull << 20) /* backend/cpu: a device's tables of one curve and convention */

const struct job_kind *job_kind_by_name(const char *name)
{
    static const struct job_kind *const kinds[] = { &kind_circom, &kind_porep };

    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

void kind_table(struct circuit *c, const struct groth16_key *key)
{
    const uint64_t bytes = 64 * key->domain.size;

    c->table_id = 2 * ((unsigned)key->curve->id - 1) + (unsigned)key->layout;
    c->table_bytes = bytes < TABLE_MOST_BYTES ? bytes : TABLE_MOST_BYTES;
}
