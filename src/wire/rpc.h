/* The server's side of the transport: calls in, answers out.  Only src/wire knows gRPC core (docs/decisions/0005).
 *
 * A call is handled by the methods table: `request` gets each message, on a worker thread if the method is heavy and on an
 * input/output thread if not; it must not wait for long there.  The answer may come from any thread, later. */
#ifndef CUZK_WIRE_RPC_H
#define CUZK_WIRE_RPC_H

#include "base/span.h"
#include "base/task.h"

struct rpc_server;
struct rpc_call;

/* Status codes of gRPC (grpc.io, status codes). */
enum rpc_code {
    RPC_OK = 0,
    RPC_CANCELLED = 1,
    RPC_UNKNOWN = 2,
    RPC_INVALID_ARGUMENT = 3,
    RPC_DEADLINE_EXCEEDED = 4,
    RPC_NOT_FOUND = 5,
    RPC_RESOURCE_EXHAUSTED = 8,
    RPC_UNIMPLEMENTED = 12,
    RPC_INTERNAL = 13,
    RPC_UNAVAILABLE = 14,
};
const char *rpc_code_name(int code); /* "RESOURCE_EXHAUSTED" */

struct rpc_method {
    const char *path; /* "/cuzk.v1.ProvingEngine/Prove" */
    bool heavy;
    bool stream; /* messages go both ways until the client closes its side, or for as long as stays is set */
    bool stays;
    void (*request)(struct rpc_call *call, void *context);
    /* The client has cancelled, is gone, or its deadline has passed: at most once, after request has returned.  NULL: ignored. */
    void (*gone)(struct rpc_call *call, void *context);
};

struct rpc_options {
    uint64_t message_most_bytes; /* of one message; more is RESOURCE_EXHAUSTED */
    uint64_t flight_most_bytes;  /* of all messages that are being received */
    unsigned connection_most;    /* calls on further connections are RESOURCE_EXHAUSTED */
    unsigned worker_count; /* threads for heavy methods */
};

/** In      methods, count, context  borrowed until rpc_server_close; context is handed to request and gone */
cuzk_status rpc_server_open(struct rpc_server **out, struct task *t, const struct rpc_options *o,
                            const struct rpc_method *methods, size_t count, void *context) MUST_CHECK;
/** Adds a place to listen at: "host:port" (port 0: a free one) or "unix:///path".  Out  bound: the place with its port.
 * Errors  CUZK_INVALID_ARGUMENT: not an address; CUZK_IO: it is taken, or not allowed. */
cuzk_status rpc_server_listen(struct rpc_server *s, struct task *t, const char *address, char *bound,
                              size_t bound_bytes) MUST_CHECK;
cuzk_status rpc_server_start(struct rpc_server *s, struct task *t) MUST_CHECK;
/** Takes no connections and calls any more; calls that are not answered after grace_ms are cancelled.  Returns when all are over. */
void rpc_server_stop(struct rpc_server *s, uint64_t grace_ms);
void rpc_server_close(struct rpc_server *s); /* NULL is legal; stopped */

/* -- calls --------------------------------------------------------------------------------------------------------------- */

/** The next piece of the request's message; the piece before it is freed.  false: the message is over.  Thread  request's. */
bool rpc_message_next(struct rpc_call *c, struct span *piece);
uint64_t rpc_message_bytes(const struct rpc_call *c); /* that rpc_message_next has not given yet */
void rpc_message_drop(struct rpc_call *c);            /* frees what is left of the message */

/** Milliseconds until the client's deadline, at least 1; 0: it has none. */
uint64_t rpc_deadline_ms(const struct rpc_call *c);

/* Something of the method's own, freed with the call. */
void rpc_set_state(struct rpc_call *c, void *state, void (*free_state)(void *state));
void *rpc_state(const struct rpc_call *c);

/** Keeps the call alive until rpc_release, though it may be over. */
void rpc_hold(struct rpc_call *c);
void rpc_release(struct rpc_call *c);

/* Each of these may be called from any thread.  After the first finish, further ones do nothing. */
void rpc_finish(struct rpc_call *c, struct span message); /* OK, with this message */
void rpc_finish_error(struct rpc_call *c, int code, const char *text);
/** A message of a stream.  While one is on its way the latest further one waits, those between are dropped. */
void rpc_send(struct rpc_call *c, struct span message);

#endif
