/* A PoRep circuit in the form in which set-up, key and prover take circuits. */
#ifndef CUZK_FILECOIN_POREP_BIND_H
#define CUZK_FILECOIN_POREP_BIND_H

#include "circuits/porep/porep.h"
#include "groth16/constraints.h"

struct porep_binding {
    struct porep_circuit circuit;
    struct constraints constraints; /* whose circuit is the one above: neither may move */
};

/** Cost  0.1 s.  Out: to be ended with porep_unbind, also on failure. */
cuzk_status porep_bind(struct porep_binding *out, struct task *t, const struct porep_shape *shape) MUST_CHECK;
void porep_unbind(struct porep_binding *b); /* legal on a zeroed one */

#endif
