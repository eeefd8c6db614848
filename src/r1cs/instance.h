/* One instance of a template: what its relative references mean in the whole circuit. */
#ifndef CUZK_R1CS_INSTANCE_H
#define CUZK_R1CS_INSTANCE_H

#include "r1cs/image.h"

struct instance {
    uint32_t aux, input;     /* its first of each */
    const uint32_t *imports; /* variables of the circuit */
    uint32_t *room;          /* for the imports of its calls: depth_imports of them */
};

static inline uint32_t instance_var(const struct instance *at, uint32_t ref)
{
    switch (ref & REF_KIND) {
    case REF_LOCAL:
        return (at->aux + (ref & REF_INDEX)) | VAR_AUX;
    case REF_IMPORT:
        return at->imports[ref & REF_INDEX];
    case REF_INPUT:
        return at->input + (ref & REF_INDEX);
    default:
        return 0; /* the constant 1 */
    }
}

/** The instance that the ROW_CALL entry p of outer makes. */
static inline void instance_enter(struct instance *inside, const struct instance *outer,
                                  const struct circuit_template *callee, const uint32_t *p)
{
    inside->aux = outer->aux + p[2];
    inside->input = outer->input + p[3];
    for (uint32_t i = 0; i < callee->import_count; i++) outer->room[i] = instance_var(outer, p[5 + i]);
    inside->imports = outer->room;
    inside->room = outer->room + callee->import_count;
}

#endif
