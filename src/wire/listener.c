/* Listening sockets, and the thread that accepts connections up to a limit.
 *
 * gRPC core's own listener never accepts again after it has once run out of descriptors, and cannot count connections; so cuzk
 * accepts and hands over connected sockets.  Core closes them without telling, so a slot is free again when its descriptor no
 * longer names the socket that was put there (checked only when all slots are taken).  Connections above the limit are handed over as
 * surplus, so that their calls can be answered; what comes above that is closed at once. */
#include "wire/listener.h"
#include "base/log.h"
#include "base/thread.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKETS_MOST 16
#define BACKLOG      512
#define PAUSE_MS     100 /* after running out of descriptors */
#define SURPLUS_MOST 64

struct slot {
    int fd;
    ino_t inode;
};
struct slot_table {
    struct slot *slots;
    unsigned count, most;
};

struct listener {
    int sockets[SOCKETS_MOST];
    char paths[SOCKETS_MOST][ADDRESS_BYTES]; /* of unix sockets, else empty */
    size_t socket_count;
    int stop_fd;
    struct slot_table slots, surplus;
    bool full_logged;
    listener_accepted *accepted;
    void *context;
    pthread_t thread;
    bool running;
};

cuzk_status listener_create(struct listener **out, struct task *t, unsigned connection_most,
                            listener_accepted *accepted, void *context)
{
    struct listener *l = calloc(1, sizeof *l);
    struct slot *slots = calloc(connection_most, sizeof *slots),
                *surplus = calloc(SURPLUS_MOST, sizeof *surplus);
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!l || !slots || !surplus || stop_fd < 0) {
        free(l);
        free(slots);
        free(surplus);
        if (stop_fd >= 0) close(stop_fd);
        return FAIL(t, CUZK_NO_MEMORY, "no memory or descriptor for a listener of %u connections",
                    connection_most);
    }
    l->slots = (struct slot_table){ slots, 0, connection_most };
    l->surplus = (struct slot_table){ surplus, 0, SURPLUS_MOST };
    l->stop_fd = stop_fd;
    l->accepted = accepted;
    l->context = context;
    *out = l;
    return CUZK_OK;
}

static cuzk_status fail_address(struct task *t, const char *address, const char *what, int error)
{
    FAIL(t, CUZK_IO, "cannot listen at %s: %s: %s", address, what, strerror(error));
    task_fail_errno(t, error);
    if (error == EADDRINUSE)
        task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL,
                        "another process listens there: stop it, or choose another address with --listen");
    return CUZK_IO;
}

static void add_socket(struct listener *l, int fd, const char *path)
{
    l->sockets[l->socket_count] = fd;
    snprintf(l->paths[l->socket_count], ADDRESS_BYTES, "%s", path);
    l->socket_count++;
}

static cuzk_status add_unix(struct listener *l, struct task *t, const struct address *a, const char *address)
{
    struct sockaddr_un name;
    memset(&name, 0, sizeof name);
    name.sun_family = AF_UNIX;
    memcpy(name.sun_path, a->host, strlen(a->host));
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return fail_address(t, address, "socket", errno);
    struct stat st;
    if (!lstat(a->host, &st) && S_ISSOCK(st.st_mode)) {
        const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (probe >= 0 && connect(probe, (struct sockaddr *)&name, sizeof name) < 0 && errno == ECONNREFUSED)
            unlink(a->host);
        if (probe >= 0) close(probe);
    }
    /* The mode is set on the descriptor before the name exists, so that there is no moment when others may connect. */
    if (fchmod(fd, 0660) < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) < 0 ||
        chmod(a->host, 0660) < 0 || listen(fd, BACKLOG) < 0) {
        const int error = errno;
        close(fd);
        return fail_address(t, address, "bind", error);
    }
    add_socket(l, fd, a->host);
    return CUZK_OK;
}

static cuzk_status add_tcp(struct listener *l, struct task *t, const struct address *a, const char *address,
                           char *bound, size_t bound_bytes)
{
    struct addrinfo hints, *found = NULL;
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    const int rc = getaddrinfo(a->host, a->port, &hints, &found);
    if (rc) return FAIL(t, CUZK_IO, "cannot listen at %s: %s", address, gai_strerror(rc));
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    const int on = 1;
    struct sockaddr_storage name;
    socklen_t name_bytes = sizeof name;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&name, &name_bytes) < 0)
        error = errno;
    freeaddrinfo(found);
    if (error) {
        if (fd >= 0) close(fd);
        return fail_address(t, address, "bind", error);
    }
    char host[64], port[8];
    if (!getnameinfo((struct sockaddr *)&name, name_bytes, host, sizeof host, port, sizeof port,
                     NI_NUMERICHOST | NI_NUMERICSERV))
        snprintf(bound, bound_bytes, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
    add_socket(l, fd, "");
    return CUZK_OK;
}

cuzk_status listener_add(struct listener *l, struct task *t, const char *address, char *bound,
                         size_t bound_bytes)
{
    struct address a;
    TRY(address_parse(&a, t, address));
    if (l->socket_count == SOCKETS_MOST)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "more than %d addresses to listen at", SOCKETS_MOST);
    snprintf(bound, bound_bytes, "%s", address);
    return a.is_unix ? add_unix(l, t, &a, address) : add_tcp(l, t, &a, address, bound, bound_bytes);
}

/* Frees the slots of connections that have ended. */
static void sweep(struct slot_table *t)
{
    for (unsigned i = 0; i < t->count;) {
        struct stat st;
        if (!fstat(t->slots[i].fd, &st) && S_ISSOCK(st.st_mode) && st.st_ino == t->slots[i].inode) {
            i++;
        } else {
            t->slots[i] = t->slots[--t->count];
        }
    }
}

/* false: there is no slot. */
static bool take_slot(struct slot_table *t, int fd, ino_t inode)
{
    if (t->count == t->most) sweep(t);
    if (t->count == t->most) return false;
    t->slots[t->count++] = (struct slot){ fd, inode };
    return true;
}

/* false: no descriptors. */
static bool accept_one(struct listener *l, int socket_fd)
{
    const int fd = accept4(socket_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return true;
        log_warn(NULL, "cannot accept a connection: %s", strerror(errno));
        return false;
    }
    struct stat st;
    if (fstat(fd, &st) < 0) {
        close(fd);
        return true;
    }
    const bool surplus = !take_slot(&l->slots, fd, st.st_ino);
    if (surplus && !l->full_logged)
        log_warn(NULL, "calls on further connections are refused: there are %u ([limits] connections)",
                 l->slots.most);
    l->full_logged = surplus;
    if (surplus && !take_slot(&l->surplus, fd, st.st_ino)) {
        close(fd);
        return true;
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* fails on a unix socket, which has no delay */
    l->accepted(l->context, fd, surplus);
    return true;
}

static void *listen_thread(void *context)
{
    struct listener *l = context;
    struct pollfd fds[SOCKETS_MOST + 1];
    for (size_t i = 0; i < l->socket_count; i++)
        fds[i] = (struct pollfd){ .fd = l->sockets[i], .events = POLLIN };
    fds[l->socket_count] = (struct pollfd){ .fd = l->stop_fd, .events = POLLIN };
    for (;;) {
        if (poll(fds, l->socket_count + 1, -1) < 0) continue;
        if (fds[l->socket_count].revents) return NULL;
        bool ok = true;
        for (size_t i = 0; i < l->socket_count; i++)
            if (fds[i].revents) ok = accept_one(l, l->sockets[i]) && ok;
        if (!ok) poll(&fds[l->socket_count], 1, PAUSE_MS);
    }
}

cuzk_status listener_start(struct listener *l, struct task *t)
{
    const int error = thread_start(&l->thread, "cuzk-listen", listen_thread, l);
    if (error) return FAIL(t, CUZK_NO_MEMORY, "cannot start the listener's thread: %s", strerror(error));
    l->running = true;
    return CUZK_OK;
}

void listener_stop(struct listener *l)
{
    if (l->running) {
        const uint64_t one = 1;
        while (write(l->stop_fd, &one, sizeof one) < 0 && errno == EINTR) continue;
        pthread_join(l->thread, NULL);
        l->running = false;
    }
    for (size_t i = 0; i < l->socket_count; i++) {
        close(l->sockets[i]);
        if (l->paths[i][0]) unlink(l->paths[i]);
    }
    l->socket_count = 0;
}

void listener_destroy(struct listener *l)
{
    if (!l) return;
    listener_stop(l);
    close(l->stop_fd);
    free(l->slots.slots);
    free(l->surplus.slots);
    free(l);
}
