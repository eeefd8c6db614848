/* The methods of cuzkd: requests to the engine, and its answers back.  docs/wire.md tables which cause becomes which answer. */
#ifndef CUZK_SERVER_SERVICE_H
#define CUZK_SERVER_SERVICE_H

#include "engine/engine.h"
#include "server/health.h"
#include "wire/rpc.h"
#include <protobuf-c/protobuf-c.h>

struct service;

cuzk_status service_create(struct service **out, struct task *t, struct engine *engine) MUST_CHECK;
void service_destroy(struct service *s); /* NULL is legal; no call may be left */

/** Circom jobs may name a file of this folder instead of sending a witness; before the first call.
 * In      most_bytes  the largest file that is taken
 * Errors  those of witness_folder_open */
cuzk_status service_take_files(struct service *s, struct task *t, const char *folder, uint64_t most_bytes) MUST_CHECK;

/* The table for rpc_server_open, with the service as its context. */
extern const struct rpc_method service_methods[];
extern const size_t service_method_count;

/** No new jobs from here on: they are UNAVAILABLE, and health says NOT_SERVING.  Everything else goes on. */
void service_drain(struct service *s);
/** Nothing reaches the engine any more, so that it may be closed; calls that wait there are still answered. */
void service_detach(struct service *s);

/* -- shared by the files of the methods ---------------------------------------------------------------------------------- */

/** The engine, for one call to it, then service_leave.  NULL: it is closing; the call has been finished. */
struct engine *service_enter(struct service *s, struct rpc_call *call);
void service_leave(struct service *s);
bool service_is_draining(struct service *s);
struct health *service_health(struct service *s);
const struct witness_folder *service_files(const struct service *s);

/** The call's whole message, unpacked; NULL: it is not one, and the call has been finished.  Free it with protobuf_c_message_free_unpacked. */
ProtobufCMessage *service_read(struct rpc_call *call, const ProtobufCMessageDescriptor *descriptor);
void service_answer(struct rpc_call *call, const ProtobufCMessage *answer);
void service_fail(struct rpc_call *call, cuzk_status status, const char *text);
void service_fail_task(struct rpc_call *call, const struct task *t);
/** For protobuf-c's fields, which are not const. */
char *service_text(const char *text);

void service_submit(struct rpc_call *call, void *context); /* service_prove.c */
void service_prove(struct rpc_call *call, void *context);
void service_await(struct rpc_call *call, void *context);
void service_await_gone(struct rpc_call *call, void *context);
void service_status(struct rpc_call *call, void *context); /* service_look.c */
void service_metrics(struct rpc_call *call, void *context);

#endif
