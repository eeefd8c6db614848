/* The kinds of this build. */
#include "engine/engine.h"
#include "engine/job_kind.h"
#include <string.h>

const struct job_kind *job_kind_by_name(const char *name)
{
    static const struct job_kind *const kinds[] = { &kind_circom };

    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}
