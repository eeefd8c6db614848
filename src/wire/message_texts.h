/* Texts of a request, before protobuf-c makes C strings of them: such a string ends at the first NUL, so "small\0er" would be "small". */
#ifndef CUZK_WIRE_MESSAGE_TEXTS_H
#define CUZK_WIRE_MESSAGE_TEXTS_H

#include "base/span.h"
#include "base/task.h"
#include <protobuf-c/protobuf-c.h>

/** Whether every text of the message, and of the messages in it, is one line of UTF-8 without control characters (as proto3 and the
 * log want it).  Errors  CUZK_INVALID_ARGUMENT names the field; CUZK_MALFORMED: not a message. */
cuzk_status message_check_texts(struct task *t, const ProtobufCMessageDescriptor *type,
                                struct span message) MUST_CHECK;

#endif
