/* Bounded loading of small JSON texts, and numbers inside them: what the readers of proofs and keys share. */
#ifndef CUZK_FORMATS_JSON_VALUE_H
#define CUZK_FORMATS_JSON_VALUE_H

#include "base/span.h"
#include "base/task.h"
#include "formats/identify.h"
#include <jansson.h>

#define JSON_VALUE_MOST_DEPTH 16

/** Parses text whose outermost value must be of type top (JSON_OBJECT or JSON_ARRAY).  *out is released with json_decref.
 * Zero bytes at the end are ignored (an old prover writes them); integers of any length are kept exactly (as strings).
 * Errors  CUZK_TOO_LARGE (beyond most_bytes or the depth), CUZK_MALFORMED with line and column; another kind of file is named. */
cuzk_status json_value_load(json_t **out, struct task *t, const char *path, struct span text,
                            size_t most_bytes, json_type top, enum file_kind wanted) MUST_CHECK;

/** A non-negative integer, written as a number or as a decimal or 0x string, that fits into word_count words and lies below
 * modulus (as many words).  name: for messages; modulus_name: "the scalar field's prime r".  NULL value: "is missing". */
cuzk_status json_value_number(uint64_t *words, struct task *t, const char *path, const json_t *value,
                              size_t word_count, const uint64_t *modulus, const char *modulus_name,
                              const char *name) MUST_CHECK;

#endif
