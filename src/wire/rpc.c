/* The server's side of the transport, on gRPC core's C surface.
 *
 * A call's events come as tags from the completion queue, each holding a reference to the call.  RECV_CLOSE is a batch of its own,
 * started first and always.  Connections come from listener.c. */
#include "wire/rpc.h"
#include "base/log.h"
#include "wire/listener.h"
#include "wire/rpc_core.h"
#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/slice_buffer.h>
#include <grpc/support/time.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IO_THREADS        2
#define ACCEPTS_POSTED    64
#define STREAMS_MOST      1024  /* calls at once on one connection */
#define KEEPALIVE_MS      60000 /* a dead peer is found after this and the next */
#define KEEPALIVE_WAIT_MS 60000 /* a client on a machine without a free CPU is not dead */
#define TRIM_BYTES        (32 << 20)
#define PING_LEAST_MS     10000 /* clients may ask for a sign of life this often */
#define SURPLUS_LIFE_MS   1000  /* of a connection above the limit, whose calls are refused */

enum tag_kind { TAG_NEW, TAG_RECEIVED, TAG_CLOSED, TAG_SENT, TAG_DONE, TAG_STOPPED, TAG_COUNT };
struct tag {
    enum tag_kind kind;
    struct rpc_call *call;
};

struct rpc_call {
    struct tag tags[TAG_COUNT];
    struct rpc_server *server;
    const struct rpc_method *method;
    bool surplus; /* on a connection above the limit */
    grpc_call *call;
    grpc_call_details details;
    grpc_metadata_array metadata;
    grpc_byte_buffer *message;
    grpc_slice piece; /* that rpc_message_next gave last */
    bool has_piece;
    size_t freed_bytes; /* of pieces, since the allocator was last told to give memory back */
    int closed_badly;
    atomic_int references; /* one a tag in flight, one a holder */
    void *state;
    void (*free_state)(void *state);
    struct rpc_call *next_work;

    pthread_mutex_t lock;          /* of what follows */
    bool handled, gone, told_gone; /* gone is told once, after the first request has been handled */
    bool finished, initial_sent, receiving, half_closed, sending;
    grpc_byte_buffer *waiting; /* the next message of a stream */
};

struct rpc_server {
    grpc_server *server, *refuser; /* refuser: has the connections above the limit */
    grpc_completion_queue *queue;
    grpc_server_credentials *credentials;
    struct listener *listener;
    const struct rpc_method *methods;
    size_t method_count;
    void *context;
    unsigned worker_count;
    pthread_t io[IO_THREADS], *workers;
    unsigned io_running, workers_running, connection_most;
    atomic_bool stopping;
    atomic_uint handed; /* operations given to gRPC: orders our writes before them and our reads after their events */
    struct tag stopped;

    pthread_mutex_t lock;
    pthread_cond_t changed, work_came;
    struct rpc_call *first_work, **last_work; /* heavy calls that wait for a worker */
    bool no_more_work;
    unsigned over; /* servers that have ended, of two */
};

const char *rpc_code_name(int code)
{
    static const char *const names[] = {
        "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
        "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
        "DATA_LOSS", "UNAUTHENTICATED"
    };
    return code >= 0 && (size_t)code < ARRAY_COUNT(names) ? names[code] : "UNKNOWN";
}

/* -- life of a call ------------------------------------------------------------------------------------------------------ */

/* The pieces of a large message are small blocks, which the C library would keep: a request of 200 MB would leave its size behind in
 * the resident set, beside its copy, uncounted by any budget. */
static void count_freed(struct rpc_call *c, size_t bytes)
{
    c->freed_bytes += bytes;
    if (c->freed_bytes < TRIM_BYTES) return;
    malloc_trim(0);
    c->freed_bytes = 0;
}

static void drop_piece(struct rpc_call *c)
{
    if (!c->has_piece) return;
    const size_t bytes = GRPC_SLICE_LENGTH(c->piece);
    rpc_drop_received(c->piece);
    c->has_piece = false;
    count_freed(c, bytes);
}

void rpc_message_drop(struct rpc_call *c)
{
    drop_piece(c);
    if (!c->message) return;
    const size_t bytes = grpc_byte_buffer_length(c->message);
    grpc_byte_buffer_destroy(c->message);
    c->message = NULL;
    count_freed(c, bytes);
}

void rpc_hold(struct rpc_call *c) { atomic_fetch_add(&c->references, 1); }

void rpc_release(struct rpc_call *c)
{
    if (atomic_fetch_sub(&c->references, 1) != 1) return;
    if (c->free_state) c->free_state(c->state);
    rpc_message_drop(c);
    if (c->waiting) grpc_byte_buffer_destroy(c->waiting);
    grpc_metadata_array_destroy(&c->metadata);
    grpc_call_details_destroy(&c->details);
    if (c->call) grpc_call_unref(c->call);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static bool start(struct rpc_call *c, const grpc_op *ops, size_t count, enum tag_kind kind)
{
    rpc_hold(c); /* before the call: the event may come before it returns */
    atomic_fetch_add(&c->server->handed, 1);
    if (grpc_call_start_batch(c->call, ops, count, &c->tags[kind], NULL) == GRPC_CALL_OK) return true;
    rpc_release(c);
    return false;
}

static void post_accept(struct rpc_server *s, bool surplus)
{
    struct rpc_call *c = calloc(1, sizeof *c);
    if (!c) {
        log_warn(NULL, "no memory to accept a call");
        return;
    }
    for (int k = 0; k < TAG_COUNT; k++) c->tags[k] = (struct tag){ (enum tag_kind)k, c };
    c->server = s;
    c->surplus = surplus;
    atomic_init(&c->references, 1);
    pthread_mutex_init(&c->lock, NULL);
    grpc_call_details_init(&c->details);
    grpc_metadata_array_init(&c->metadata);
    atomic_fetch_add(&s->handed, 1);
    if (grpc_server_request_call(surplus ? s->refuser : s->server, &c->call, &c->details, &c->metadata, s->queue, s->queue,
                                 &c->tags[TAG_NEW]) != GRPC_CALL_OK) {
        c->call = NULL;
        rpc_release(c);
    }
}

void rpc_set_state(struct rpc_call *c, void *state, void (*free_state)(void *state))
{
    c->state = state;
    c->free_state = free_state;
}

void *rpc_state(const struct rpc_call *c) { return c->state; }

uint64_t rpc_deadline_ms(const struct rpc_call *c)
{
    if (gpr_time_cmp(c->details.deadline, gpr_inf_future(c->details.deadline.clock_type)) == 0) return 0;
    const int64_t left =
        gpr_time_to_millis(gpr_time_sub(c->details.deadline, gpr_now(c->details.deadline.clock_type)));
    return left > 1 ? (uint64_t)left : 1;
}

/* -- messages ------------------------------------------------------------------------------------------------------------ */

uint64_t rpc_message_bytes(const struct rpc_call *c)
{
    return c->message ? grpc_byte_buffer_length(c->message) : 0;
}

bool rpc_message_next(struct rpc_call *c, struct span *piece)
{
    drop_piece(c);
    while (c->message && c->message->data.raw.slice_buffer.count > 0) {
        c->piece = grpc_slice_buffer_take_first(&c->message->data.raw.slice_buffer);
        c->has_piece = true;
        *piece = span_of(GRPC_SLICE_START_PTR(c->piece), GRPC_SLICE_LENGTH(c->piece));
        if (piece->size > 0) return true;
        drop_piece(c);
    }
    return false;
}

static grpc_byte_buffer *buffer_of(struct span message)
{
    grpc_slice slice = grpc_slice_from_copied_buffer((const char *)message.data, message.size);
    grpc_byte_buffer *b = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return b;
}

/* Initial metadata goes with whatever is sent first.  Caller holds the lock. */
static size_t put_initial(struct rpc_call *c, grpc_op *op)
{
    if (c->initial_sent) return 0;
    c->initial_sent = true;
    op->op = GRPC_OP_SEND_INITIAL_METADATA;
    return 1;
}

static void finish(struct rpc_call *c, grpc_byte_buffer *message, int code, const char *text)
{
    grpc_op ops[3];
    memset(ops, 0, sizeof ops);
    pthread_mutex_lock(&c->lock);
    if (!c->finished) {
        c->finished = true;
        size_t n = put_initial(c, ops);
        if (message) {
            ops[n].op = GRPC_OP_SEND_MESSAGE;
            ops[n++].data.send_message.send_message = message;
        }
        grpc_slice details = grpc_slice_from_copied_string(text);
        ops[n].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
        ops[n].data.send_status_from_server.status = (grpc_status_code)code;
        ops[n++].data.send_status_from_server.status_details = &details;
        start(c, ops, n, TAG_DONE);
        grpc_slice_unref(details);
    }
    pthread_mutex_unlock(&c->lock);
    if (message) grpc_byte_buffer_destroy(message);
}

void rpc_finish(struct rpc_call *c, struct span message) { finish(c, buffer_of(message), RPC_OK, ""); }
void rpc_finish_error(struct rpc_call *c, int code, const char *text) { finish(c, NULL, code, text); }

/* Caller holds the lock; takes over the message. */
static void send_now(struct rpc_call *c, grpc_byte_buffer *message)
{
    grpc_op ops[2];
    memset(ops, 0, sizeof ops);
    size_t n = put_initial(c, ops);
    ops[n].op = GRPC_OP_SEND_MESSAGE;
    ops[n++].data.send_message.send_message = message;
    c->sending = start(c, ops, n, TAG_SENT);
    grpc_byte_buffer_destroy(message);
}

void rpc_send(struct rpc_call *c, struct span message)
{
    grpc_byte_buffer *b = buffer_of(message);
    pthread_mutex_lock(&c->lock);
    if (c->finished) {
        grpc_byte_buffer_destroy(b);
    } else if (c->sending) {
        if (c->waiting) grpc_byte_buffer_destroy(c->waiting);
        c->waiting = b;
    } else {
        send_now(c, b);
    }
    pthread_mutex_unlock(&c->lock);
}

/* Caller holds the lock. */
static void receive(struct rpc_call *c)
{
    if (c->receiving || c->half_closed || c->finished) return;
    grpc_op op;
    memset(&op, 0, sizeof op);
    op.op = GRPC_OP_RECV_MESSAGE;
    op.data.recv_message.recv_message = &c->message;
    c->receiving = start(c, &op, 1, TAG_RECEIVED);
}

/* -- events -------------------------------------------------------------------------------------------------------------- */

static void tell_gone(struct rpc_call *c)
{
    pthread_mutex_lock(&c->lock);
    const bool tell = c->gone && c->handled && !c->told_gone;
    if (tell) c->told_gone = true;
    pthread_mutex_unlock(&c->lock);
    if (tell && c->method->gone) c->method->gone(c, c->server->context);
}

static void handle(struct rpc_call *c)
{
    pthread_mutex_lock(&c->lock);
    const bool gone = c->gone;
    pthread_mutex_unlock(&c->lock);
    if (gone) {
        rpc_finish_error(c, RPC_CANCELLED, "the client has gone");
        rpc_message_drop(c);
        return;
    }
    c->method->request(c, c->server->context);
    rpc_message_drop(c);
    pthread_mutex_lock(&c->lock);
    c->handled = true;
    pthread_mutex_unlock(&c->lock);
    tell_gone(c);
}

static void *work_thread(void *context)
{
    struct rpc_server *s = context;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        while (!s->first_work && !s->no_more_work) pthread_cond_wait(&s->work_came, &s->lock);
        struct rpc_call *c = s->first_work;
        if (c) {
            s->first_work = c->next_work;
            if (!s->first_work) s->last_work = &s->first_work;
        }
        pthread_mutex_unlock(&s->lock);
        if (!c) return NULL;
        handle(c);
        rpc_release(c);
    }
}

static void give_to_worker(struct rpc_call *c)
{
    struct rpc_server *s = c->server;
    rpc_hold(c);
    pthread_mutex_lock(&s->lock);
    c->next_work = NULL;
    *s->last_work = c;
    s->last_work = &c->next_work;
    pthread_cond_signal(&s->work_came);
    pthread_mutex_unlock(&s->lock);
}

static void on_new(struct rpc_call *c)
{
    struct rpc_server *s = c->server;
    if (!atomic_load(&s->stopping)) post_accept(s, c->surplus);
    grpc_op op;
    memset(&op, 0, sizeof op);
    op.op = GRPC_OP_RECV_CLOSE_ON_SERVER;
    op.data.recv_close_on_server.cancelled = &c->closed_badly;
    start(c, &op, 1, TAG_CLOSED);
    if (c->surplus) {
        char text[96];
        snprintf(text, sizeof text, "there are %u connections already; [limits] connections of cuzkd", s->connection_most);
        rpc_finish_error(c, RPC_RESOURCE_EXHAUSTED, text);
        return;
    }
    for (size_t i = 0; i < s->method_count && !c->method; i++)
        if (!grpc_slice_str_cmp(c->details.method, s->methods[i].path)) c->method = &s->methods[i];
    if (!c->method) {
        rpc_finish_error(c, RPC_UNIMPLEMENTED,
                         "cuzkd has no such method; server reflection lists those that it has");
        return;
    }
    pthread_mutex_lock(&c->lock);
    receive(c);
    pthread_mutex_unlock(&c->lock);
}

static void on_received(struct rpc_call *c, bool success)
{
    pthread_mutex_lock(&c->lock);
    c->receiving = false;
    const bool ended = !success || !c->message;
    if (ended) c->half_closed = true;
    pthread_mutex_unlock(&c->lock);
    if (!ended) {
        if (c->method->heavy)
            give_to_worker(c);
        else
            handle(c);
    } else if (!c->method->stream) {
        rpc_finish_error(c, RPC_INVALID_ARGUMENT, "the call has no message");
    } else if (!c->method->stays) {
        rpc_finish_error(c, RPC_OK, "");
    }
}

static void on_sent(struct rpc_call *c)
{
    pthread_mutex_lock(&c->lock);
    c->sending = false;
    grpc_byte_buffer *waiting = c->waiting;
    c->waiting = NULL;
    if (waiting && !c->finished)
        send_now(c, waiting);
    else if (waiting)
        grpc_byte_buffer_destroy(waiting);
    if (!c->sending) receive(c);
    pthread_mutex_unlock(&c->lock);
}

static void on_closed(struct rpc_call *c)
{
    if (!c->closed_badly) return;
    pthread_mutex_lock(&c->lock);
    c->gone = true;
    pthread_mutex_unlock(&c->lock);
    tell_gone(c);
    if (c->method && c->method->stream) rpc_finish_error(c, RPC_CANCELLED, "");
}

static void on_stopped(struct rpc_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->over++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void *io_thread(void *context)
{
    struct rpc_server *s = context;
    for (;;) {
        const grpc_event event =
            grpc_completion_queue_next(s->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        if (event.type == GRPC_QUEUE_SHUTDOWN) return NULL;
        (void)atomic_load(&s->handed); /* gRPC's own ordering is real, but ThreadSanitizer cannot see into it */
        struct tag *tag = event.tag;
        struct rpc_call *c = tag->call;
        switch (tag->kind) {
        case TAG_NEW:
            if (event.success)
                on_new(c);
            else
                c->call = NULL; /* the server is stopping */
            break;
        case TAG_RECEIVED:
            on_received(c, event.success);
            break;
        case TAG_CLOSED:
            on_closed(c);
            break;
        case TAG_SENT:
            on_sent(c);
            break;
        case TAG_STOPPED:
            on_stopped(s);
            break;
        case TAG_DONE:
        case TAG_COUNT:
            break;
        }
        if (c) rpc_release(c);
    }
}

/* -- the server ---------------------------------------------------------------------------------------------------------- */

static void accepted(void *context, int fd, bool surplus)
{
    struct rpc_server *s = context;
    grpc_server_add_channel_from_fd(surplus ? s->refuser : s->server, fd, s->credentials);
}

static grpc_server *create_server(struct rpc_server *s, grpc_arg *args, size_t count)
{
    const grpc_channel_args all = { .num_args = count, .args = args };
    grpc_server *server = grpc_server_create(&all, NULL);
    grpc_server_register_completion_queue(server, s->queue, NULL);
    return server;
}

static void create_core(struct rpc_server *s, const struct rpc_options *o)
{
    grpc_resource_quota *quota = grpc_resource_quota_create("calls");
    grpc_resource_quota_resize(quota, (size_t)o->flight_most_bytes);
    grpc_arg args[] = {
        { .type = GRPC_ARG_INTEGER,
          .key = (char *)(uintptr_t)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
          .value.integer = (int)o->message_most_bytes },
        { .type = GRPC_ARG_INTEGER,
          .key = (char *)(uintptr_t)GRPC_ARG_MAX_SEND_MESSAGE_LENGTH,
          .value.integer = (int)o->message_most_bytes },
        { .type = GRPC_ARG_INTEGER,
          .key = (char *)(uintptr_t)GRPC_ARG_MAX_CONCURRENT_STREAMS,
          .value.integer = STREAMS_MOST },
        { .type = GRPC_ARG_INTEGER,
          .key = (char *)(uintptr_t)GRPC_ARG_KEEPALIVE_TIME_MS,
          .value.integer = KEEPALIVE_MS },
        { .type = GRPC_ARG_INTEGER,
          .key = (char *)(uintptr_t)GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
          .value.integer = KEEPALIVE_WAIT_MS },
        { .type = GRPC_ARG_INTEGER,
          .key = (char *)(uintptr_t)GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS,
          .value.integer = 1 },
        { .type = GRPC_ARG_INTEGER,
          .key = (char *)(uintptr_t)GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
          .value.integer = PING_LEAST_MS },
        { .type = GRPC_ARG_POINTER,
          .key = (char *)(uintptr_t)GRPC_ARG_RESOURCE_QUOTA,
          .value.pointer = { .p = quota, .vtable = grpc_resource_quota_arg_vtable() } },
        { .type = GRPC_ARG_INTEGER, /* this one and what follows: of the refuser alone */
          .key = (char *)(uintptr_t)GRPC_ARG_MAX_CONNECTION_AGE_MS,
          .value.integer = SURPLUS_LIFE_MS },
        { .type = GRPC_ARG_INTEGER,
          .key = (char *)(uintptr_t)GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
          .value.integer = SURPLUS_LIFE_MS },
    };
    s->queue = grpc_completion_queue_create_for_next(NULL);
    s->server = create_server(s, args, ARRAY_COUNT(args) - 2);
    s->refuser = create_server(s, args, ARRAY_COUNT(args));
    s->credentials = grpc_insecure_server_credentials_create();
    grpc_resource_quota_unref(quota);
}

cuzk_status rpc_server_open(struct rpc_server **out, struct task *t, const struct rpc_options *o,
                            const struct rpc_method *methods, size_t count, void *context)
{
    struct rpc_server *s = calloc(1, sizeof *s);
    if (!s) return FAIL(t, CUZK_NO_MEMORY, "no memory for a server");
    s->workers = calloc(o->worker_count, sizeof *s->workers);
    if (!s->workers || listener_create(&s->listener, t, o->connection_most, accepted, s) != CUZK_OK) {
        free(s->workers);
        free(s);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for a server");
    }
    s->methods = methods;
    s->method_count = count;
    s->context = context;
    s->worker_count = o->worker_count;
    s->connection_most = o->connection_most;
    s->stopped = (struct tag){ TAG_STOPPED, NULL };
    s->last_work = &s->first_work;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    pthread_cond_init(&s->work_came, NULL);
    rpc_core_init();
    create_core(s, o);
    *out = s;
    return CUZK_OK;
}

cuzk_status rpc_server_listen(struct rpc_server *s, struct task *t, const char *address, char *bound,
                              size_t bound_bytes)
{
    return listener_add(s->listener, t, address, bound, bound_bytes);
}

cuzk_status rpc_server_start(struct rpc_server *s, struct task *t)
{
    grpc_server_start(s->server);
    grpc_server_start(s->refuser);
    for (int i = 0; i < ACCEPTS_POSTED; i++) post_accept(s, false);
    post_accept(s, true);
    while (s->io_running < IO_THREADS && !pthread_create(&s->io[s->io_running], NULL, io_thread, s))
        s->io_running++;
    while (s->workers_running < s->worker_count &&
           !pthread_create(&s->workers[s->workers_running], NULL, work_thread, s))
        s->workers_running++;
    if (s->io_running < IO_THREADS || s->workers_running < s->worker_count)
        return FAIL(t, CUZK_NO_MEMORY, "cannot start the server's %u threads", IO_THREADS + s->worker_count);
    return listener_start(s->listener, t);
}

static bool wait_all_over(struct rpc_server *s, uint64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(ms / 1000);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&s->lock);
    while (s->over < 2 && !pthread_cond_timedwait(&s->changed, &s->lock, &until)) continue;
    const bool over = s->over == 2;
    pthread_mutex_unlock(&s->lock);
    return over;
}

void rpc_server_stop(struct rpc_server *s, uint64_t grace_ms)
{
    atomic_store(&s->stopping, true);
    listener_stop(s->listener);
    grpc_server_shutdown_and_notify(s->server, s->queue, &s->stopped);
    grpc_server_shutdown_and_notify(s->refuser, s->queue, &s->stopped);
    for (uint64_t ms = grace_ms; s->io_running && !wait_all_over(s, ms); ms = 1000) {
        grpc_server_cancel_all_calls(s->server);
        grpc_server_cancel_all_calls(s->refuser);
    }
    pthread_mutex_lock(&s->lock);
    s->no_more_work = true;
    pthread_cond_broadcast(&s->work_came);
    pthread_mutex_unlock(&s->lock);
    for (unsigned i = 0; i < s->workers_running; i++) pthread_join(s->workers[i], NULL);
    grpc_completion_queue_shutdown(s->queue);
    if (!s->io_running) io_thread(s); /* never started: this thread takes what is in the queue */
    for (unsigned i = 0; i < s->io_running; i++) pthread_join(s->io[i], NULL);
}

void rpc_server_close(struct rpc_server *s)
{
    if (!s) return;
    listener_destroy(s->listener);
    grpc_server_destroy(s->server);
    grpc_server_destroy(s->refuser);
    grpc_completion_queue_destroy(s->queue);
    grpc_server_credentials_release(s->credentials);
    rpc_core_fini();
    pthread_cond_destroy(&s->changed);
    pthread_cond_destroy(&s->work_came);
    pthread_mutex_destroy(&s->lock);
    free(s->workers);
    free(s);
}
