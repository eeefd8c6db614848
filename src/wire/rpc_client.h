/* The client's side of the transport: one unary call at a time, on the caller's thread. */
#ifndef CUZK_WIRE_RPC_CLIENT_H
#define CUZK_WIRE_RPC_CLIENT_H

#include "base/span.h"
#include "base/task.h"
#include <protobuf-c/protobuf-c.h>

struct rpc_client;

/** In  target  "host:port" or "unix:///path".  Does not connect yet.  CUZK_INVALID_ARGUMENT: not an address. */
cuzk_status rpc_client_open(struct rpc_client **out, struct task *t, const char *target) MUST_CHECK;
void rpc_client_close(struct rpc_client *c); /* NULL is legal */

/** In      path        "/cuzk.v1.ProvingEngine/GetStatus"
 *          request     its bytes fields of 64 KiB and more are sent from where they lie: after an error they have to stay there as long as
 *                      the process, for a server that has stopped reading in the middle holds them
 *          timeout_ms  0: none; t->cancel is honoured
 * Out     answer      from malloc
 *         code        of gRPC: RPC_OK, or what the error was made of
 * Errors  CUZK_MALFORMED: no answer of the method, or one that came before the request was read, which then was not for some seconds;
 *         the status that stands for the server's code, with its text; CUZK_DEVICE_UNAVAILABLE also if nobody answers there;
 *         CUZK_DEADLINE, CUZK_CANCELLED */
cuzk_status rpc_client_call(struct rpc_client *c, struct task *t, uint8_t **answer, size_t *answer_bytes,
                            int *code, const char *path, const ProtobufCMessage *request, uint64_t timeout_ms) MUST_CHECK;
/** Whether there is a connection now: after a call, whether what it ended with came from the server. */
bool rpc_client_connected(const struct rpc_client *c);

#endif
