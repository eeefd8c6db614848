/* .wtns files (version 1 and 2) as a witness. */
#ifndef CUZK_FORMATS_WTNS_H
#define CUZK_FORMATS_WTNS_H

#include "r1cs/witness.h"

/** Reads and checks a witness file; out->values is a view into file, which holds secrets.
 * Errors  CUZK_MALFORMED: wrong lengths, a value >= r or value 0 not 1, with its offset.  CUZK_UNSUPPORTED: another field.
 * Thread  any.  Cost  one comparison a value. */
cuzk_status wtns_parse(struct witness *out, struct task *t, const char *path, struct span file) MUST_CHECK;

/** The same without a look at the values, which whoever uses them checks, or has checked.  Cost  none. */
cuzk_status wtns_view(struct witness *out, struct task *t, const char *path, struct span file) MUST_CHECK;

#endif
