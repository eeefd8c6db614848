/* The PoRep circuit of a sector size, recorded. */
#ifndef CUZK_CIRCUITS_POREP_POREP_CIRCUIT_H
#define CUZK_CIRCUITS_POREP_POREP_CIRCUIT_H

#include "r1cs/image.h"
#include "formats/porep_shape.h"

/** Records the circuit of one partition.  challenges: as the shape has it, or fewer or more for tests.
 * Out     the image, to be ended with image_fini
 * Errors  CUZK_NO_MEMORY
 * Cost    about 0.1 s; 10 MB for 32 GiB. */
cuzk_status porep_circuit_record(struct circuit_image *out, struct task *t, const struct porep_shape *shape,
                                 unsigned challenges) MUST_CHECK;

#endif
