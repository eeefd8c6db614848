/* Messages between the engine and a device's process, and blobs. */
#include "engine/device_message.h"
#include "base/bytes.h"
#include "base/status.h"
#include "base/utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION    1
#define MAGIC      0x6d7a7563u /* "cuzm" */
#define HEAD_BYTES 24
#define NO_TEXT    UINT64_MAX
#define SEALS      (F_SEAL_SHRINK | F_SEAL_GROW)

/* -- writing ------------------------------------------------------------------------------------------------------------ */

void device_message_begin(struct device_message *m, uint32_t kind, uint64_t number)
{
    m->kind = kind;
    m->number = number;
    m->size = m->at = 0;
    m->broken = false;
    m->fd_count = 0;
}

void device_message_put_octets(struct device_message *m, const void *data, size_t bytes)
{
    device_message_put(m, bytes);
    if (m->broken || bytes > sizeof m->bytes - m->size) {
        m->broken = true;
        return;
    }
    if (bytes != 0) memcpy(m->bytes + m->size, data, bytes);
    m->size += bytes;
}

void device_message_put(struct device_message *m, uint64_t value)
{
    if (m->broken || sizeof value > sizeof m->bytes - m->size) {
        m->broken = true;
        return;
    }
    store_le64(m->bytes + m->size, value);
    m->size += sizeof value;
}

void device_message_put_text(struct device_message *m, const char *text)
{
    if (text == NULL)
        device_message_put(m, NO_TEXT);
    else
        device_message_put_octets(m, text, strlen(text));
}

void device_message_put_fd(struct device_message *m, int fd)
{
    if (m->fd_count == ARRAY_COUNT(m->fds))
        m->broken = true;
    else
        m->fds[m->fd_count++] = fd;
}

void device_message_put_error(struct device_message *m, const struct error *e)
{
    device_message_put(m, e->status);
    device_message_put(m, e->offset);
    device_message_put(m, (uint64_t)e->sys_errno);
    device_message_put_text(m, e->text);
    device_message_put_text(m, e->advice);
    device_message_put_text(m, e->path);
    device_message_put_text(m, e->field);
}

/* -- reading ------------------------------------------------------------------------------------------------------------ */

uint64_t device_message_get(struct device_message *m)
{
    if (m->broken || m->size - m->at < 8) {
        m->broken = true;
        return 0;
    }
    m->at += 8;
    return load_le64(m->bytes + m->at - 8);
}

struct span device_message_get_octets(struct device_message *m)
{
    const uint64_t bytes = device_message_get(m);

    if (m->broken || bytes > m->size - m->at) {
        m->broken = true;
        return span_of(NULL, 0);
    }
    m->at += bytes;
    return span_of(m->bytes + m->at - bytes, bytes);
}

const char *device_message_get_text(struct device_message *m, char *out, size_t bytes)
{
    out[0] = '\0';
    if (!m->broken && m->size - m->at >= 8 && load_le64(m->bytes + m->at) == NO_TEXT) {
        m->at += 8;
        return NULL;
    }
    const struct span s = device_message_get_octets(m);
    if (m->broken || s.size >= bytes || (s.size != 0 && memchr(s.data, '\0', s.size) != NULL)) {
        m->broken = true;
        return out;
    }
    if (s.size != 0) memcpy(out, s.data, s.size);
    out[s.size] = '\0';
    return out;
}

int device_message_take_fd(struct device_message *m)
{
    if (m->fd_count == 0) {
        m->broken = true;
        return -1;
    }
    const int fd = m->fds[0];
    m->fd_count--;
    memmove(m->fds, m->fds + 1, m->fd_count * sizeof *m->fds);
    return fd;
}

/* A line for logs and clients, whatever was sent. */
static void get_line(struct device_message *m, char *out, size_t bytes)
{
    device_message_get_text(m, out, bytes);
    const size_t length = strlen(out);
    for (size_t at; (at = utf8_plain_bytes((uint8_t *)out, length)) < length;) out[at] = '?';
}

void device_message_get_error(struct device_message *m, struct error *e)
{
    memset(e, 0, sizeof *e);
    const uint64_t status = device_message_get(m);
    e->offset = device_message_get(m);
    e->sys_errno = (int)device_message_get(m);
    get_line(m, e->text, sizeof e->text);
    get_line(m, e->advice, sizeof e->advice);
    get_line(m, e->path, sizeof e->path);
    get_line(m, e->field, sizeof e->field);
    if (status > CUZK_INTERNAL) m->broken = true;
    e->status = m->broken ? CUZK_DEVICE_LOST : (cuzk_status)status;
}

bool device_message_done(const struct device_message *m)
{
    return !m->broken && m->at == m->size && m->fd_count == 0;
}

void device_message_drop(struct device_message *m)
{
    for (unsigned i = 0; i < m->fd_count; i++) close(m->fds[i]);
    m->fd_count = 0;
}

/* -- sockets ------------------------------------------------------------------------------------------------------------ */

union control {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(sizeof(int) * DEVICE_MESSAGE_FDS)];
};

int device_message_send(const struct device_message *m, int socket)
{
    uint8_t head[HEAD_BYTES];
    union control control;
    struct iovec parts[] = { { head, sizeof head }, { (void *)(uintptr_t)m->bytes, m->size } };
    struct msghdr h = { .msg_iov = parts, .msg_iovlen = ARRAY_COUNT(parts) };

    if (m->broken) return EMSGSIZE;
    store_le32(head, MAGIC);
    store_le32(head + 4, VERSION);
    store_le32(head + 8, m->kind);
    store_le32(head + 12, (uint32_t)m->size);
    store_le64(head + 16, m->number);
    if (m->fd_count != 0) {
        memset(&control, 0, sizeof control);
        h.msg_control = &control;
        h.msg_controllen = CMSG_SPACE(sizeof(int) * m->fd_count);
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * m->fd_count);
        memcpy(CMSG_DATA(c), m->fds, sizeof(int) * m->fd_count);
    }
    for (;;) {
        if (sendmsg(socket, &h, MSG_NOSIGNAL) >= 0) return 0;
        if (errno != EINTR) return errno == ECONNRESET ? EPIPE : errno;
    }
}

static void take_fds(struct device_message *m, struct msghdr *h)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c != NULL; c = CMSG_NXTHDR(h, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (m->fd_count < ARRAY_COUNT(m->fds))
                m->fds[m->fd_count++] = fd;
            else
                close(fd);
        }
    }
}

int device_message_receive(struct device_message *m, int socket)
{
    uint8_t head[HEAD_BYTES];
    union control control;
    struct iovec parts[] = { { head, sizeof head }, { m->bytes, sizeof m->bytes } };
    struct msghdr h = { .msg_iov = parts,
                        .msg_iovlen = ARRAY_COUNT(parts),
                        .msg_control = &control,
                        .msg_controllen = sizeof control };
    ssize_t got;

    device_message_begin(m, 0, 0);
    do got = recvmsg(socket, &h, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0) return errno == ECONNRESET ? EPIPE : errno;
    take_fds(m, &h);
    const bool whole = (h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    if (got == 0 || !whole || got < HEAD_BYTES || load_le32(head) != MAGIC ||
        load_le32(head + 4) != VERSION || load_le32(head + 12) != (size_t)got - HEAD_BYTES) {
        device_message_drop(m);
        m->broken = true;
        return got == 0 ? EPIPE : EPROTO;
    }
    m->kind = load_le32(head + 8);
    m->number = load_le64(head + 16);
    m->size = (size_t)got - HEAD_BYTES;
    return 0;
}

/* -- blobs -------------------------------------------------------------------------------------------------------------- */

static cuzk_status no_blob(struct device_blob *b, struct task *t, const char *what, int why, size_t bytes)
{
    const cuzk_status status = why == EMFILE || why == ENFILE ? CUZK_IO : CUZK_NO_MEMORY;

    device_blob_close(b, false);
    FAIL(t, status, "%s of %zu bytes for a device's process: %s", what, bytes, strerror(why));
    task_fail_errno(t, why);
    return status;
}

cuzk_status device_blob_create(struct device_blob *b, struct task *t, size_t bytes)
{
    *b = DEVICE_NO_BLOB;
    b->fd = memfd_create("cuzk", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (b->fd < 0) return no_blob(b, t, "no shared memory", errno, bytes);
    if (bytes == 0) return CUZK_OK;
    const int why = posix_fallocate(b->fd, 0, (off_t)bytes);
    if (why != 0) return no_blob(b, t, "no shared memory", why, bytes);
    void *const data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
    if (data == MAP_FAILED) return no_blob(b, t, "no mapping", errno, bytes);
    (void)madvise(data, bytes, MADV_DONTDUMP); /* a witness is not for a core file */
    b->data = data;
    b->bytes = bytes;
    if (fcntl(b->fd, F_ADD_SEALS, SEALS) != 0) return no_blob(b, t, "no seal", errno, bytes);
    return CUZK_OK;
}

static bool is_blob(int fd, size_t bytes)
{
    struct stat st;
    const int seals =
        fcntl(fd, F_GET_SEALS); /* only memory has seals: reading it does not wait for anybody */

    if (fd < 0 || fstat(fd, &st) != 0) return false;
    if (bytes == 0) return st.st_size == 0;
    return seals >= 0 && (seals & SEALS) == SEALS && (uint64_t)st.st_size == bytes;
}

cuzk_status device_blob_map(struct device_blob *b, struct task *t, int fd, size_t bytes)
{
    *b = DEVICE_NO_BLOB;
    b->fd = fd;
    if (!is_blob(fd, bytes)) {
        device_blob_close(b, false);
        return FAIL(t, CUZK_DEVICE_LOST, "what came is not a sealed piece of memory of %zu bytes", bytes);
    }
    if (bytes == 0) return CUZK_OK;
    void *const data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) return no_blob(b, t, "no mapping", errno, bytes);
    (void)madvise(data, bytes, MADV_DONTDUMP); /* a witness is not for a core file */
    b->data = data;
    b->bytes = bytes;
    return CUZK_OK;
}

cuzk_status device_blob_read(struct task *t, uint8_t **out, int fd, size_t bytes)
{
    cuzk_status status = CUZK_OK;
    size_t done = 0;

    *out = NULL;
    if (!is_blob(fd, bytes))
        status = FAIL(t, CUZK_DEVICE_LOST, "what came is not a sealed piece of memory of %zu bytes", bytes);
    if (status == CUZK_OK && (*out = malloc(bytes + 1)) == NULL)
        status = FAIL(t, CUZK_NO_MEMORY, "no memory for a result of %zu bytes", bytes);
    while (status == CUZK_OK && done < bytes) {
        const ssize_t got = pread(fd, *out + done, bytes - done, (off_t)done);
        if (got > 0)
            done += (size_t)got;
        else if (got == 0 || errno != EINTR)
            status = FAIL(t, CUZK_DEVICE_LOST, "a result of %zu bytes cannot be read", bytes);
    }
    if (status != CUZK_OK) {
        free(*out);
        *out = NULL;
    }
    if (fd >= 0) close(fd);
    return status;
}

void device_blob_close(struct device_blob *b, bool secret)
{
    if (b->data != NULL) {
        if (secret) wipe(b->data, b->bytes);
        munmap(b->data, b->bytes);
    }
    if (b->fd >= 0) close(b->fd);
    *b = DEVICE_NO_BLOB;
}
