/* The CPU backend as if its memory were a GPU's: for tests of what happens above when operations cannot read the host's.
 *
 * Buffers of kind MEM_DEVICE have addresses at which the processor traps; operations refuse operands of any other kind.  Every call
 * goes through the fault backend, so fault_arm works here too. */
#ifndef CUZK_BACKEND_FAULT_BLIND_BACKEND_H
#define CUZK_BACKEND_FAULT_BLIND_BACKEND_H

#include "backend/backend.h"

extern const struct backend backend_blind;

/** Bytes in MEM_DEVICE buffers that are taken now; and bytes uploaded into such buffers since the program started. */
uint64_t blind_bytes_taken(void);
uint64_t blind_bytes_uploaded(void);

#endif
