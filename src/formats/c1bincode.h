/* C1 output as bincode: fixed-width little-endian integers, vectors with a u64 count, enums with a u32 index. */
#ifndef CUZK_FORMATS_C1BINCODE_H
#define CUZK_FORMATS_C1BINCODE_H

#include "formats/c1.h"

/** Fills an initialised c1.  The C2Input wrapper (a u32 0 in front; prover id and sector number behind) is recognised.
 * Errors  CUZK_MALFORMED with the offset. */
cuzk_status c1bincode_read(struct c1 *c, struct task *t, struct span file) MUST_CHECK;

#endif
