/* Reads the wire format of Protocol Buffers from a message that lies in pieces. */
#include "wire/wire_read.h"
#include "base/utf8.h"
#include <string.h>

#define VARINT_BYTES_MOST 10

void wire_reader_init(struct wire_reader *r, bool (*next)(void *context, struct span *piece), void *context,
                      uint64_t bytes)
{
    memset(r, 0, sizeof *r);
    r->next = next;
    r->context = context;
    r->left = bytes;
}

static cuzk_status fail_here(struct task *t, const struct wire_reader *r, const char *what)
{
    FAIL(t, CUZK_MALFORMED, "the request is not a Protocol Buffers message of this service: %s at byte %llu",
         what, (unsigned long long)r->offset);
    task_fail_place(t, NULL, r->offset, NULL, "compare the client's .proto with proto/cuzk/v1/proving.proto");
    return CUZK_MALFORMED;
}

/* How many contiguous bytes there are; 0: the message is over. */
static size_t fill(struct wire_reader *r)
{
    while (r->piece.size == 0 && r->left > 0)
        if (!r->next(r->context, &r->piece)) r->left = 0;
    return r->piece.size < r->left ? r->piece.size : (size_t)r->left;
}

static void advance(struct wire_reader *r, size_t bytes)
{
    r->piece.data += bytes;
    r->piece.size -= bytes;
    r->offset += bytes;
    r->left -= bytes;
}

cuzk_status wire_copy(struct task *t, struct wire_reader *r, uint8_t *out, uint64_t bytes)
{
    while (bytes > 0) {
        size_t n = fill(r);
        if (n == 0) return fail_here(t, r, "it ends inside a field");
        if (n > bytes) n = (size_t)bytes;
        if (out) {
            memcpy(out, r->piece.data, n);
            out += n;
        }
        advance(r, n);
        bytes -= n;
    }
    return CUZK_OK;
}

cuzk_status wire_varint(struct task *t, struct wire_reader *r, uint64_t end, uint64_t *value)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < VARINT_BYTES_MOST; i++) {
        uint8_t byte;
        if (r->offset >= end) return fail_here(t, r, "a number has no end");
        TRY(wire_copy(t, r, &byte, 1));
        if (i == VARINT_BYTES_MOST - 1 && byte > 1) break;
        v |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (!(byte & 0x80)) {
            *value = v;
            return CUZK_OK;
        }
    }
    return fail_here(t, r, "a number has more than 64 bits");
}

cuzk_status wire_field(struct task *t, struct wire_reader *r, uint64_t end, uint32_t *field,
                       enum wire_type *type)
{
    *field = 0;
    *type = WIRE_VARINT;
    if (r->offset == end) return CUZK_OK;
    uint64_t key;
    TRY(wire_varint(t, r, end, &key));
    if (key >> 3 == 0 || key >> 3 > 0x1fffffff) return fail_here(t, r, "a field has an impossible number");
    if ((key & 7) != WIRE_VARINT && (key & 7) != WIRE_FIXED64 && (key & 7) != WIRE_BYTES &&
        (key & 7) != WIRE_FIXED32)
        return fail_here(t, r, "a field has an unknown wire type");
    *field = (uint32_t)(key >> 3);
    *type = (enum wire_type)(key & 7);
    return CUZK_OK;
}

cuzk_status wire_length(struct task *t, struct wire_reader *r, uint64_t end, uint64_t *bytes)
{
    TRY(wire_varint(t, r, end, bytes));
    return *bytes > end - r->offset ? fail_here(t, r, "a field is longer than what is left") : CUZK_OK;
}

cuzk_status wire_skip(struct task *t, struct wire_reader *r, uint64_t end, enum wire_type type)
{
    uint64_t n = type == WIRE_FIXED64 ? 8 : 4;
    if (type == WIRE_VARINT) return wire_varint(t, r, end, &n);
    if (type == WIRE_BYTES) {
        TRY(wire_length(t, r, end, &n));
    } else if (n > end - r->offset) {
        return fail_here(t, r, "a field is longer than what is left");
    }
    return wire_copy(t, r, NULL, n);
}

cuzk_status wire_check_text(struct task *t, const char *field, const uint8_t *text, size_t bytes)
{
    const size_t plain = utf8_plain_bytes(text, bytes);
    if (plain == bytes) return CUZK_OK;
    if (text[plain] < 0x20 || text[plain] == 0x7f)
        FAIL(t, CUZK_INVALID_ARGUMENT, "%s has a control character at byte %zu", field, plain);
    else
        FAIL(t, CUZK_INVALID_ARGUMENT, "%s is not UTF-8 at byte %zu", field, plain);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, field, NULL);
    return CUZK_INVALID_ARGUMENT;
}
