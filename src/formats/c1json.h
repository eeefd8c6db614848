/* C1 output as JSON, plain or as base64 in the member Phase1Out of a wrapper: a push scanner with bounded memory and depth. */
#ifndef CUZK_FORMATS_C1JSON_H
#define CUZK_FORMATS_C1JSON_H

#include "formats/c1.h"

struct c1json;

/** Scans into an initialised c1, in pieces of any size: create, push ..., finish, destroy.  Any order of members, unknown ones are
 * skipped; numbers are unsigned integers of at most 20 digits, depth is at most 64, member names of interest are short.
 * Errors  CUZK_MALFORMED with the offset (in the message where it counts decoded base64) and the field's place. */
cuzk_status c1json_create(struct c1json **out, struct task *t, struct c1 *c) MUST_CHECK;
cuzk_status c1json_push(struct c1json *j, struct task *t, const void *data, size_t bytes) MUST_CHECK;
cuzk_status c1json_finish(struct c1json *j, struct task *t) MUST_CHECK;
void c1json_destroy(struct c1json *j); /* NULL is legal */

cuzk_status c1json_read(struct c1 *c, struct task *t, struct span file) MUST_CHECK;

/** The JSON of a C1 output, complete and consistent members assumed; sector_bytes and number as in the wrapper if wrapped is set.
 * out is malloc'ed. */
cuzk_status c1json_write(const struct c1 *c, struct task *t, bool wrapped, uint8_t **out,
                         size_t *bytes) MUST_CHECK;

#endif
