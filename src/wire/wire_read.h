/* Reads the wire format of Protocol Buffers from a message that lies in pieces, each of which may be freed when it has been read.
 *
 * Format: protobuf.dev, "Encoding".  A message of 200 MB is read with one copy of its large field and nothing else. */
#ifndef CUZK_WIRE_WIRE_READ_H
#define CUZK_WIRE_WIRE_READ_H

#include "base/span.h"
#include "base/task.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_reader {
    bool (*next)(void *context, struct span *piece); /* false: no more */
    void *context;
    struct span piece; /* what is left of the current one */
    uint64_t offset;   /* bytes read */
    uint64_t left;     /* bytes of the message not read yet, whatever the pieces hold */
};

/** In  bytes  of the whole message; next must give as many. */
void wire_reader_init(struct wire_reader *r, bool (*next)(void *context, struct span *piece), void *context,
                      uint64_t bytes);

/* Errors of all that follows: CUZK_MALFORMED with the offset. */

/** end: the offset where the (sub)message ends.  *field 0: it has ended. */
cuzk_status wire_field(struct task *t, struct wire_reader *r, uint64_t end, uint32_t *field,
                       enum wire_type *type) MUST_CHECK;
cuzk_status wire_varint(struct task *t, struct wire_reader *r, uint64_t end, uint64_t *value) MUST_CHECK;
/** The length of a WIRE_BYTES field: it ends at or before end. */
cuzk_status wire_length(struct task *t, struct wire_reader *r, uint64_t end, uint64_t *bytes) MUST_CHECK;
cuzk_status wire_copy(struct task *t, struct wire_reader *r, uint8_t *out, uint64_t bytes) MUST_CHECK;
/** Passes over the value of a field that is not known. */
cuzk_status wire_skip(struct task *t, struct wire_reader *r, uint64_t end, enum wire_type type) MUST_CHECK;

/** Whether a field's text is one line of UTF-8 without control characters, as proto3 and the log want it.
 * Errors  CUZK_INVALID_ARGUMENT names the field and the byte */
cuzk_status wire_check_text(struct task *t, const char *field, const uint8_t *text, size_t bytes) MUST_CHECK;

#endif
