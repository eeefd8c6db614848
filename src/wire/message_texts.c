/* Walks a message by its descriptor. */
#include "wire/message_texts.h"
#include "wire/wire_read.h"

#define DEPTH_MOST \
    8 /* of messages in messages; protobuf-c recurses as deep as they are, so deeper ones are refused first */

static bool no_more(void *context, struct span *piece)
{
    (void)context;
    (void)piece;
    return false;
}

static cuzk_status check(struct task *t, const ProtobufCMessageDescriptor *type, struct span message,
                         unsigned depth)
{
    struct wire_reader r;
    if (depth == DEPTH_MOST)
        return FAIL(t, CUZK_MALFORMED, "the request has messages in messages without end");
    wire_reader_init(&r, no_more, NULL, message.size);
    r.piece = message;
    for (;;) {
        uint32_t number;
        enum wire_type wire;
        uint64_t bytes;
        TRY(wire_field(t, &r, message.size, &number, &wire));
        if (number == 0) return CUZK_OK;
        if (wire != WIRE_BYTES) {
            TRY(wire_skip(t, &r, message.size, wire));
            continue;
        }
        TRY(wire_length(t, &r, message.size, &bytes));
        const struct span value = span_of(message.data + r.offset, (size_t)bytes);
        TRY(wire_copy(t, &r, NULL, bytes));
        const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(type, number);
        if (f && f->type == PROTOBUF_C_TYPE_STRING) TRY(wire_check_text(t, f->name, value.data, value.size));
        if (f && f->type == PROTOBUF_C_TYPE_MESSAGE) TRY(check(t, f->descriptor, value, depth + 1));
    }
}

cuzk_status message_check_texts(struct task *t, const ProtobufCMessageDescriptor *type, struct span message)
{
    return check(t, type, message, 0);
}
