/* The circuits whose keys lie in a parameter folder, under the names that jobs have for them. */
#ifndef CUZK_ENGINE_PARAM_CIRCUITS_H
#define CUZK_ENGINE_PARAM_CIRCUITS_H

#include "engine/job_kind.h"

struct param_circuit {
    const char *name; /* "porep-32g" */
    const struct job_kind *kind;
    uint64_t sector_bytes;
};
#define PARAM_CIRCUIT_COUNT 5
extern const struct param_circuit param_circuits[PARAM_CIRCUIT_COUNT];

#endif
