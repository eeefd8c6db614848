/* The client's side of the transport, on gRPC core's C surface. */
#include "wire/rpc_client.h"
#include "base/clock.h"
#include "wire/address.h"
#include "wire/rpc.h"
#include "wire/rpc_core.h"
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice_buffer.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MOST_BYTES (256 << 20)
#define POLL_MS            100 /* how soon a cancel is seen */
#define LENT_LEAST_BYTES   65536 /* of a field that is not copied */
#define LENT_MS            1000  /* for what is lent to come back after an error, */
#define LENT_ANSWERED_MS   10000 /* and after an answer: of a server that goes by the protocol a moment is enough */

struct rpc_client {
    grpc_channel *channel;
    grpc_completion_queue *queue;
    bool stuck;       /* a call is, which core does not end */
    atomic_uint lent; /* fields that gRPC core reads where they lie */
    char target[ADDRESS_BYTES + 16];
};

cuzk_status rpc_client_open(struct rpc_client **out, struct task *t, const char *target)
{
    struct address a;
    TRY(address_parse(&a, t, target));
    struct rpc_client *c = calloc(1, sizeof *c);
    if (!c) return FAIL(t, CUZK_NO_MEMORY, "no memory for a client");
    snprintf(c->target, sizeof c->target, "%s%s", a.is_unix ? "unix:" : "", a.is_unix ? a.host : target);
    rpc_core_init();
    grpc_arg args[] = {
        { .type = GRPC_ARG_INTEGER,
          .key = (char *)(uintptr_t)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
          .value.integer = MESSAGE_MOST_BYTES },
        { .type = GRPC_ARG_INTEGER,
          .key = (char *)(uintptr_t)GRPC_ARG_MAX_SEND_MESSAGE_LENGTH,
          .value.integer = MESSAGE_MOST_BYTES },
        { .type = GRPC_ARG_INTEGER,
          .key = (char *)(uintptr_t)GRPC_ARG_ENABLE_HTTP_PROXY,
          .value.integer = 0 },
    };
    const grpc_channel_args all = { .num_args = ARRAY_COUNT(args), .args = args };
    grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
    c->channel = grpc_channel_create(c->target, credentials, &all);
    grpc_channel_credentials_release(credentials);
    c->queue = grpc_completion_queue_create_for_next(NULL);
    *out = c;
    return CUZK_OK;
}

bool rpc_client_connected(const struct rpc_client *c)
{
    return grpc_channel_check_connectivity_state(c->channel, 0) == GRPC_CHANNEL_READY;
}

void rpc_client_close(struct rpc_client *c)
{
    if (!c) return;
    grpc_channel_destroy(c->channel);
    if (c->stuck) return; /* core still has its address, and what it was lent: as long as the process */
    grpc_completion_queue_shutdown(c->queue);
    while (grpc_completion_queue_next(c->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).type !=
           GRPC_QUEUE_SHUTDOWN)
        continue;
    grpc_completion_queue_destroy(c->queue);
    rpc_core_fini();
    free(c);
}

static cuzk_status status_of_code(int code)
{
    switch (code) {
    case RPC_OK:
        return CUZK_OK;
    case RPC_CANCELLED:
        return CUZK_CANCELLED;
    case RPC_INVALID_ARGUMENT:
        return CUZK_INVALID_ARGUMENT;
    case RPC_DEADLINE_EXCEEDED:
        return CUZK_DEADLINE;
    case RPC_NOT_FOUND:
        return CUZK_NOT_FOUND;
    case RPC_RESOURCE_EXHAUSTED:
        return CUZK_QUEUE_FULL;
    case RPC_UNIMPLEMENTED:
        return CUZK_UNSUPPORTED;
    case RPC_UNAVAILABLE:
        return CUZK_DEVICE_UNAVAILABLE;
    default:
        return CUZK_INTERNAL;
    }
}

/* A call is two batches, told apart by their tags: what it sends may be stuck, behind a server that does not read, when it has its answer
 * or has been cancelled. */
static void *sending(grpc_call *call) { return (char *)call + 1; }
static void *receiving(grpc_call *call) { return call; }

/* Until the answer is there; a cancelled call ends with RPC_CANCELLED.  *sent: whether the other batch is over. */
static void wait_answer(struct rpc_client *c, bool *sent, const struct task *t, grpc_call *call)
{
    bool cancelled = false;
    for (;;) {
        const grpc_event e = grpc_completion_queue_next(
            c->queue, gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(POLL_MS, GPR_TIMESPAN)),
            NULL);
        if (e.type == GRPC_OP_COMPLETE && e.tag == sending(call)) *sent = true;
        if (e.type == GRPC_OP_COMPLETE && e.tag == receiving(call)) return;
        if (!cancelled && t->cancel && atomic_load(t->cancel)) {
            cancelled = true;
            grpc_call_cancel(call, NULL);
        }
    }
}

static cuzk_status copy_answer(struct task *t, uint8_t **answer, size_t *answer_bytes, grpc_byte_buffer *from)
{
    grpc_byte_buffer_reader reader;
    if (!grpc_byte_buffer_reader_init(&reader, from))
        return FAIL(t, CUZK_MALFORMED, "the answer cannot be read");
    grpc_slice all = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    *answer_bytes = GRPC_SLICE_LENGTH(all);
    *answer = malloc(*answer_bytes + 1); /* never 0 */
    if (*answer) memcpy(*answer, GRPC_SLICE_START_PTR(all), *answer_bytes);
    grpc_slice_unref(all);
    return *answer ? CUZK_OK : FAIL(t, CUZK_NO_MEMORY, "no memory for an answer of %zu bytes", *answer_bytes);
}

/* A message as it is packed, piece by piece: a copy of a large field would cost more than sending it. */
struct outgoing {
    ProtobufCBuffer base;
    struct rpc_client *client;
    grpc_slice_buffer pieces;
};

static void given_back(void *client) { atomic_fetch_sub(&((struct rpc_client *)client)->lent, 1); }

static void append(ProtobufCBuffer *buffer, size_t bytes, const uint8_t *data)
{
    struct outgoing *o = (struct outgoing *)(void *)buffer;
    if (bytes == 0) return;
    if (bytes < LENT_LEAST_BYTES) {
        grpc_slice_buffer_add(&o->pieces, grpc_slice_from_copied_buffer((const char *)data, bytes));
        return;
    }
    atomic_fetch_add(&o->client->lent, 1);
    grpc_slice_buffer_add(&o->pieces, grpc_slice_new_with_user_data((void *)(uintptr_t)data, bytes, given_back, o->client));
}

static grpc_byte_buffer *outgoing_of(struct rpc_client *c, const ProtobufCMessage *request)
{
    struct outgoing o = { .base = { .append = append }, .client = c };
    grpc_slice_buffer_init(&o.pieces);
    protobuf_c_message_pack_to_buffer(request, &o.base);
    grpc_byte_buffer *b = grpc_raw_byte_buffer_create(o.pieces.slices, o.pieces.count);
    grpc_slice_buffer_destroy(&o.pieces);
    return b;
}

/* Until all is sent and nothing is lent: at once when the server has read the request, or has closed the call.  One that does neither is waited
 * for a while; if it has answered, so that there is an answer to lose, longer, but not beyond a cancel.  Returns whether all is back. */
static bool take_back(struct rpc_client *c, bool *sent, grpc_byte_buffer *message, const struct task *t, grpc_call *call,
                      bool answered)
{
    const uint64_t since_ns = clock_now_ns();
    const double most_ms = answered ? LENT_ANSWERED_MS : LENT_MS;

    while (clock_ms_since(since_ns) < most_ms && !(answered && t->cancel && atomic_load(t->cancel))) {
        if (*sent && atomic_load(&c->lent) == 0) return true;
        const grpc_event e = grpc_completion_queue_next(
            c->queue, gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(1, GPR_TIMESPAN)), NULL);
        if (e.type != GRPC_OP_COMPLETE || e.tag != sending(call)) continue;
        *sent = true;
        grpc_byte_buffer_destroy(message); /* which has references of its own */
    }
    return false;
}

cuzk_status rpc_client_call(struct rpc_client *c, struct task *t, uint8_t **answer, size_t *answer_bytes,
                            int *code, const char *path, const ProtobufCMessage *request, uint64_t timeout_ms)
{
    grpc_slice method = grpc_slice_from_copied_string(path);
    const gpr_timespec deadline = timeout_ms
                                      ? gpr_time_add(gpr_now(GPR_CLOCK_REALTIME),
                                                     gpr_time_from_millis((int64_t)timeout_ms, GPR_TIMESPAN))
                                      : gpr_inf_future(GPR_CLOCK_REALTIME);
    grpc_call *call = grpc_channel_create_call(c->channel, NULL, GRPC_PROPAGATE_DEFAULTS, c->queue, method,
                                               NULL, deadline, NULL);
    grpc_slice_unref(method);

    grpc_byte_buffer *sent = outgoing_of(c, request), *received = NULL;
    grpc_metadata_array initial, trailing;
    grpc_metadata_array_init(&initial);
    grpc_metadata_array_init(&trailing);
    grpc_status_code status_code = GRPC_STATUS_UNKNOWN;
    grpc_slice details = grpc_empty_slice();

    grpc_op ops[6];
    memset(ops, 0, sizeof ops);
    ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
    ops[1].op = GRPC_OP_SEND_MESSAGE;
    ops[1].data.send_message.send_message = sent;
    ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
    ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &initial;
    ops[4].op = GRPC_OP_RECV_MESSAGE;
    ops[4].data.recv_message.recv_message = &received;
    ops[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
    ops[5].data.recv_status_on_client.trailing_metadata = &trailing;
    ops[5].data.recv_status_on_client.status = &status_code;
    ops[5].data.recv_status_on_client.status_details = &details;

    cuzk_status status = CUZK_OK;
    *answer = NULL;
    *answer_bytes = 0;
    bool all_sent = grpc_call_start_batch(call, ops, 3, sending(call), NULL) != GRPC_CALL_OK;
    if (all_sent || grpc_call_start_batch(call, ops + 3, ARRAY_COUNT(ops) - 3, receiving(call), NULL) != GRPC_CALL_OK) {
        status = FAIL(t, CUZK_INTERNAL, "gRPC core refuses the call");
        grpc_call_cancel(call, NULL);
    } else {
        wait_answer(c, &all_sent, t, call);
        if (status_code != GRPC_STATUS_OK) {
            status = FAIL(t, status_of_code((int)status_code), "%s: %s: %.*s", c->target,
                          rpc_code_name((int)status_code), (int)GRPC_SLICE_LENGTH(details),
                          (const char *)GRPC_SLICE_START_PTR(details));
        } else if (!received) {
            status = FAIL(t, CUZK_MALFORMED, "%s: an answer without a message", c->target);
        } else {
            status = copy_answer(t, answer, answer_bytes, received);
        }
    }
    *code = (int)status_code;
    if (received) grpc_byte_buffer_destroy(received);
    grpc_metadata_array_destroy(&initial);
    grpc_metadata_array_destroy(&trailing);
    rpc_drop_received(details);
    if (all_sent) grpc_byte_buffer_destroy(sent);
    const bool whole = take_back(c, &all_sent, sent, t, call, status == CUZK_OK);
    grpc_call_unref(call);
    c->stuck |= !whole;
    if (whole || status != CUZK_OK) return status;
    free(*answer);
    *answer = NULL;
    return FAIL(t, CUZK_MALFORMED, "%s: it answered, and then did not read the request to its end", c->target);
}
