/* Server reflection, from the descriptors that protoc wrote when cuzkd was built.
 *
 * Protocol: grpc/reflection/v1/reflection.proto.  The descriptors are a FileDescriptorSet (google/protobuf/descriptor.proto); of it
 * only names are read here, and files are sent as they are. */
#include "server/reflection.h"
#include "server/service.h"
#include "wire/wire_read.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES    256
#define FILES_MOST    16
#define SERVICES_MOST 16

/* Field numbers of descriptor.proto. */
enum { SET_FILE = 1 };
enum {
    FILE_NAME = 1,
    FILE_PACKAGE = 2,
    FILE_DEPENDENCY = 3,
    FILE_MESSAGE = 4,
    FILE_ENUM = 5,
    FILE_SERVICE = 6
};
enum {
    MESSAGE_NAME = 1,
    MESSAGE_NESTED = 3,
    MESSAGE_ENUM = 4,
    ENUM_NAME = 1,
    SERVICE_NAME = 1,
    SERVICE_METHOD = 2,
    METHOD_NAME = 1
};

__asm__(".pushsection .rodata\n"
        "reflection_set: .incbin \"" CUZK_DESCRIPTORS "\"\n"
        "reflection_set_end: .byte 0\n"
        ".popsection\n");
extern const uint8_t reflection_set[], reflection_set_end[];

static bool no_more(void *context, struct span *piece)
{
    (void)context;
    (void)piece;
    return false;
}

/* Steps over the length-delimited fields of a message; false: the end.  The set is protoc's own, so it is well formed. */
struct walk {
    struct task t;
    struct wire_reader r;
    struct span message;
};

static void walk_init(struct walk *w, struct span message)
{
    task_init(&w->t);
    w->message = message;
    wire_reader_init(&w->r, no_more, NULL, message.size);
    w->r.piece = message;
}

static bool walk_next(struct walk *w, uint32_t *field, struct span *value)
{
    for (;;) {
        enum wire_type type;
        uint64_t bytes;
        if (wire_field(&w->t, &w->r, w->message.size, field, &type) != CUZK_OK || *field == 0) return false;
        if (type == WIRE_BYTES) {
            if (wire_length(&w->t, &w->r, w->message.size, &bytes) != CUZK_OK) return false;
            *value = span_of(w->message.data + w->r.offset, (size_t)bytes);
            return wire_copy(&w->t, &w->r, NULL, bytes) == CUZK_OK;
        }
        if (wire_skip(&w->t, &w->r, w->message.size, type) != CUZK_OK) return false;
    }
}

/* The field's first value; empty if it is absent. */
static struct span get(struct span message, uint32_t wanted)
{
    struct walk w;
    uint32_t field;
    struct span value;
    walk_init(&w, message);
    while (walk_next(&w, &field, &value))
        if (field == wanted) return value;
    return span_of(NULL, 0);
}

static bool span_is(struct span s, const char *text)
{
    return s.size == strlen(text) && !memcmp(s.data, text, s.size);
}

static struct span descriptors(void)
{
    return span_of(reflection_set, (size_t)(reflection_set_end - reflection_set));
}

/* Whether symbol is prefix.name, or lies inside it: then *rest is what follows the dot, else "". */
static bool begins(const char *symbol, struct span name, const char **rest)
{
    if (strlen(symbol) < name.size || memcmp(symbol, name.data, name.size)) return false;
    const char *after = symbol + name.size;
    if (*after && *after != '.') return false;
    *rest = *after ? after + 1 : after;
    return true;
}

static bool message_has(struct span message, const char *symbol)
{
    const char *rest;
    if (!begins(symbol, get(message, MESSAGE_NAME), &rest)) return false;
    if (!*rest) return true;
    struct walk w;
    uint32_t field;
    struct span value;
    walk_init(&w, message);
    while (walk_next(&w, &field, &value)) {
        if (field == MESSAGE_NESTED && message_has(value, rest)) return true;
        if (field == MESSAGE_ENUM && span_is(get(value, ENUM_NAME), rest)) return true;
    }
    return false;
}

static bool service_has(struct span service, const char *symbol)
{
    const char *rest;
    if (!begins(symbol, get(service, SERVICE_NAME), &rest)) return false;
    if (!*rest) return true;
    struct walk w;
    uint32_t field;
    struct span value;
    walk_init(&w, service);
    while (walk_next(&w, &field, &value))
        if (field == SERVICE_METHOD && span_is(get(value, METHOD_NAME), rest)) return true;
    return false;
}

static bool file_has(struct span file, const char *symbol)
{
    const char *rest;
    if (!begins(symbol, get(file, FILE_PACKAGE), &rest) || !*rest) return false;
    struct walk w;
    uint32_t field;
    struct span value;
    walk_init(&w, file);
    while (walk_next(&w, &field, &value)) {
        if (field == FILE_MESSAGE && message_has(value, rest)) return true;
        if (field == FILE_ENUM && span_is(get(value, ENUM_NAME), rest)) return true;
        if (field == FILE_SERVICE && service_has(value, rest)) return true;
    }
    return false;
}

static bool file_is(struct span file, const char *name) { return span_is(get(file, FILE_NAME), name); }

static struct span find_file(bool (*matches)(struct span file, const char *text), const char *text)
{
    struct walk w;
    uint32_t field;
    struct span file;
    walk_init(&w, descriptors());
    while (walk_next(&w, &field, &file))
        if (field == SET_FILE && matches(file, text)) return file;
    return span_of(NULL, 0);
}

/* A file and what it imports, itself first; each once. */
static size_t with_imports(ProtobufCBinaryData out[FILES_MOST], struct span file)
{
    size_t count = 1;
    out[0] = (ProtobufCBinaryData){ file.size, (uint8_t *)(uintptr_t)file.data };
    for (size_t i = 0; i < count; i++) {
        struct walk w;
        uint32_t field;
        struct span value;
        walk_init(&w, span_of(out[i].data, out[i].len));
        while (walk_next(&w, &field, &value)) {
            char name[NAME_BYTES];
            if (field != FILE_DEPENDENCY || value.size >= sizeof name) continue;
            memcpy(name, value.data, value.size);
            name[value.size] = '\0';
            const struct span import = find_file(file_is, name);
            bool known = import.size == 0 || count == FILES_MOST;
            for (size_t j = 0; j < count; j++) known = known || out[j].data == import.data;
            if (!known)
                out[count++] = (ProtobufCBinaryData){ import.size, (uint8_t *)(uintptr_t)import.data };
        }
    }
    return count;
}

typedef Grpc__Reflection__V1__ServerReflectionRequest request_t;
typedef Grpc__Reflection__V1__ServerReflectionResponse response_t;

static void send(struct rpc_call *call, const response_t *r)
{
    const size_t size = grpc__reflection__v1__server_reflection_response__get_packed_size(r);
    uint8_t *bytes = malloc(size + 1);
    if (!bytes) {
        service_fail(call, CUZK_NO_MEMORY, "no memory for the answer");
        return;
    }
    rpc_send(call, span_of(bytes, grpc__reflection__v1__server_reflection_response__pack(r, bytes)));
    free(bytes);
}

static void send_error(struct rpc_call *call, response_t *r, int code, const char *text)
{
    Grpc__Reflection__V1__ErrorResponse e = GRPC__REFLECTION__V1__ERROR_RESPONSE__INIT;
    e.error_code = code;
    e.error_message = service_text(text);
    r->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE;
    r->error_response = &e;
    send(call, r);
}

static void send_file(struct rpc_call *call, response_t *r, struct span file)
{
    if (file.size == 0) {
        send_error(call, r, RPC_NOT_FOUND, "cuzkd knows no such file or symbol");
        return;
    }
    ProtobufCBinaryData files[FILES_MOST];
    Grpc__Reflection__V1__FileDescriptorResponse f = GRPC__REFLECTION__V1__FILE_DESCRIPTOR_RESPONSE__INIT;
    f.n_file_descriptor_proto = with_imports(files, file);
    f.file_descriptor_proto = files;
    r->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE;
    r->file_descriptor_response = &f;
    send(call, r);
}

static void send_services(struct rpc_call *call, response_t *r)
{
    char names[SERVICES_MOST][NAME_BYTES];
    Grpc__Reflection__V1__ServiceResponse services[SERVICES_MOST], *at[SERVICES_MOST];
    Grpc__Reflection__V1__ListServiceResponse l = GRPC__REFLECTION__V1__LIST_SERVICE_RESPONSE__INIT;
    struct walk files;
    uint32_t field;
    struct span file;
    size_t count = 0;
    walk_init(&files, descriptors());
    while (walk_next(&files, &field, &file)) {
        const struct span package = get(file, FILE_PACKAGE);
        struct walk w;
        struct span value;
        walk_init(&w, file);
        while (walk_next(&w, &field, &value)) {
            if (field != FILE_SERVICE || count == SERVICES_MOST) continue;
            const struct span name = get(value, SERVICE_NAME);
            snprintf(names[count], NAME_BYTES, "%.*s.%.*s", (int)package.size, (const char *)package.data,
                     (int)name.size, (const char *)name.data);
            grpc__reflection__v1__service_response__init(&services[count]);
            services[count].name = names[count];
            at[count] = &services[count];
            count++;
        }
    }
    l.n_service = count;
    l.service = at;
    r->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_LIST_SERVICES_RESPONSE;
    r->list_services_response = &l;
    send(call, r);
}

void reflection_request(struct rpc_call *call, void *context)
{
    (void)context;
    request_t *q = (void *)service_read(call, &grpc__reflection__v1__server_reflection_request__descriptor);
    if (!q) return;
    response_t r = GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__INIT;
    r.valid_host = q->host;
    r.original_request = q;
    switch (q->message_request_case) {
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
        send_file(call, &r, find_file(file_is, q->file_by_filename));
        break;
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
        send_file(call, &r, find_file(file_has, q->file_containing_symbol));
        break;
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES:
        send_services(call, &r);
        break;
    default:
        send_error(call, &r, RPC_UNIMPLEMENTED, "the messages of cuzkd have no extensions");
        break;
    }
    grpc__reflection__v1__server_reflection_request__free_unpacked(q, NULL);
}
