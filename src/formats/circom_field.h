/* n8 and prime: how the headers of .r1cs and .wtns name their field. */
#ifndef CUZK_FORMATS_CIRCOM_FIELD_H
#define CUZK_FORMATS_CIRCOM_FIELD_H

#include "base/span.h"
#include "base/task.h"
#include "curve/curve.h"

/** In      head: the header section, which begins with them, and has rest bytes behind them; at: its offset in the file.
 *  Out     the curve whose scalars they are
 *  Errors  CUZK_UNSUPPORTED: the prime is another curve's that circom knows, which is named; CUZK_MALFORMED: no such prime */
cuzk_status circom_field_parse(const struct curve **out, struct task *t, const char *path, struct span head,
                               size_t rest, uint64_t at) MUST_CHECK;

#endif
